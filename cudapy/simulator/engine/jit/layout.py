"""Where a region's code finds what it needs: offsets in bytes from the address in rbx.

A chunk of 32 lanes runs at a time. Each register of PTX has a location of 32 times 4 bytes, or 8 for 64 bits.
Numbers of 16 and 8 bits have zeros above, a predicate is all ones where it holds.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from ..addresses import LOCAL, SHARED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..aliases import U8, Array

LANES = 32
NARROW, WIDE = 4 * LANES, 8 * LANES
"""Bytes of the locations of 32 and of 64 bits."""

_fields = itertools.count(0, 8)
RESUME = next(_fields)
"""Where the code goes on."""
CHUNK, END_CHUNK = next(_fields), next(_fields)
"""The chunk at hand, and the one to stop before."""
BUDGET, EFFECTS, EARLY = next(_fields), next(_fields), next(_fields)
"""Blocks left before the code gives the chunk at hand up. EFFECTS is 1 once a block had an effect that
another thread may be waiting for, EARLY once lanes left before a block: see OUT_ALL.
"""
TURN = next(_fields)
"""Blocks left before the code comes back between two chunks."""
TABLE = next(_fields)
"""The addresses of the code of the region's blocks."""
UNFINISHED = next(_fields)
"""The lanes of the chunk that are in the region, a bit each."""
ACTIVE = next(_fields)
"""The threads that run the block at hand."""
ROW = next(_fields)
"""The bytes of an access whose addresses lie beside each other in all lanes, or, with `HALVES` added, in each
half of them; or `SAME`; else 0.
"""
VOTES = next(_fields)
"""The bits of a warp's vote."""
WHICH = next(_fields)
"""The number of the access that the code did not make itself."""
INS, IN_COUNT, OUTS, OUT_COUNT, OUT_ALL = (next(_fields) for _ in range(5))
"""Tables of what is copied before and after each chunk, with entries of `COPY` bytes. Lanes that leave before
a block, which few do, need the entries from OUT_COUNT to OUT_ALL, too.
"""
ENTRY, PLACES, LAST_CHUNK, ALIGNED = (next(_fields) for _ in range(4))
"""The block where lanes enter; an array for where each has left the region, 4 bytes each; the chunk that may
have fewer lanes, the last one, or the warp of each block that has; and 1 if no chunk has lanes of two warps.
"""
SHARED_SIZE, LOCAL_SIZE = next(_fields), next(_fields)
"""The bytes of a block's shared memory, of a thread's local memory."""
STARTS, ENDS, ALLOCATIONS = next(_fields), next(_fields), next(_fields)
"""Arrays of the first and of the end addresses of allocations, sorted, and how many there are."""
WARP, WARPS, BLOCK, BLOCK_DUE = (next(_fields) for _ in range(4))
"""Where chunks are the warps of whole blocks: which one of its block the chunk at hand is, how many there
are, its block, and whether the inputs that blocks have are to be copied.
"""
BLOCK_INS, BLOCK_IN_COUNT = next(_fields), next(_fields)
"""A table of these inputs."""
RING, LEADER, CURRENT, LEFT_IN_RING = (next(_fields) for _ in range(4))
"""Of the memories in which the warps of a block run: the address of the next one, and of the first; which has
the address of the one that came back last, and how many warps have not ended.
"""
STATE = next(_fields)
"""Of a warp of a ring: one of `NOT_BEGUN` and what follows there."""
AFTER, BARRIER_AT = next(_fields), next(_fields)
"""Where a warp that waits at a barrier goes on, and the number in PLACE of the barrier."""
MARK, PHASE_TURN = next(_fields), next(_fields)
"""BUDGET when the first warp went on last, and how much it may take until others are to run."""
CHUNK_ORDERS, SHADOWS, SHARED_SHADOW, STRONG = (next(_fields) for _ in range(4))
"""For the check for races: what orders each chunk, 0 if that takes more; descriptions of the shadows of
allocations, and of shared memory; a byte for each site, 1 for strong accesses of the scope of all threads.
"""

SHARED_UNDEFINED, LOCAL_UNDEFINED, UNDEFINED = (next(_fields) for _ in range(3))
"""For undefined bytes: how far behind shared and local memory their shadows lie, and an array of this for
allocations; 0: there is none.
"""
FIRST_UNDEFINED, DEFINED = next(_fields), next(_fields)
"""Of the warps of a ring: what SHARED_UNDEFINED is when a block begins. The first one has how many bytes of
the block's shared memory are known to be defined.
"""
RACE_TIME = next(_fields)
"""The first one of a ring has the time of the race detector, which grows with each barrier."""
CALM = next(_fields)
"""1 if reads of shared memory race with nothing where `phases` says so."""
OUT_NOW = next(_fields)
"""How many entries of OUTS the chunk at hand copies."""
DRAWS, DRAWN = next(_fields), next(_fields)
"""Where a seed varies the order: a byte for each number in PLACE, 1 if diverged lanes there may run before
others, and the state of the generator. DRAWS is 0 without a seed.
"""

ROUTINES = next(_fields)
"""The addresses of the routines that all code shares."""
(
    LEAVE,  # go back to Python, with what is in eax
    SCHEDULE,  # run the block that comes first of those that lanes are at
    GO_ON,  # active lanes go to block eax
    DIVERGE,  # they go to block eax where CONDITION holds, else to edx
    EXIT,  # they leave the region by exit eax
    FINISH,  # all lanes of the chunk have left
    BARRIER,  # they wait at the barrier eax of their block, and go on at rdx
    GIVE_UP,  # lanes are at block eax, and NumPy is to go on with the chunk
    FLUSH_LEAST,  # see `Vectors.flush_least`; MOVED: the result, a, b, c
    CHECK_GLOBAL,  # whether ADDRESS can be accessed: r8 bytes, rdx: what was found before. eax is 0 if so
    CHECK_SHARED,
    CHECK_LOCAL,
    CHECK_GENERIC,
    LOAD,  # and for 2, 4 and 8 bytes: from ADDRESS + r8 to the array at rdi
    STORE,  # the same, from the array at rdi
    RACE_READ,  # and writes, atomics and reads of what nothing writes: see `races`
) = (*range(14), 17, 21)
RACE_ROW = RACE_READ + 4
"""The same for a whole warp from address rsi on, but for atomics: see `race_bands`."""
SWITCH = RACE_ROW + 3
"""Active lanes go to the blocks that CONDITION chooses of those at rdi; the last one has number edx."""
ROUTINE_COUNT = SWITCH + 1
FOUND_SHADOW, FOUND_UNDEFINED = 16, 24
FOUND = 32
"""Bytes of what an access of global memory remembers: the address and size of an allocation, what describes
its shadow for races, and how far behind it its shadow for undefined bytes lies.
"""
PLACE = 704
"""The block of each lane; another number for those that have left, `NOWHERE` for those that are not there."""
LAST_PLACE = PLACE + NARROW
"""What it is at first in the last chunk."""
MASK = LAST_PLACE + NARROW
"""All ones in the lanes of ACTIVE."""
SHARED_BASE, LOCAL_BASE = MASK + NARROW, MASK + NARROW + WIDE
"""The addresses of each lane's shared and local memory."""
ADDRESS = LOCAL_BASE + WIDE
"""The addresses of an access: those of this process once they were checked."""
ASKED = ADDRESS + WIDE
"""Where more than bounds is checked, the addresses that the kernel has."""
VALUES = ASKED + WIDE
"""What it stores, up to eight items."""
LOADED = VALUES + 8 * WIDE
"""What it loads, where that does not go to the locations of registers as it is."""
GIVEN = LOADED + 8 * WIDE
"""What lanes give each other."""
MOVED = GIVEN + NARROW
"""Scratch memory of the routines."""
CONDITION = MOVED + WIDE
"""What a branch depends on."""
STEPS = CONDITION + NARROW
"""Multiples of 1, 2, 4, 8 and more, for each lane."""
STEP_COUNT = 6
LANE = STEPS + STEP_COUNT * WIDE
"""The number of each lane in its chunk."""
LEAST = LANE + NARROW
"""Twice the bits of the least normal number of binary32, whose sign is lost so."""
TINY = LEAST + 8
"""What is nearer to zero than this is subnormal, even if it is rounded to 24 bits; in binary64."""
SHARED_WINDOW, LOCAL_WINDOW = TINY + 8, TINY + 16
"""Where they lie among generic addresses."""
END = LOCAL_WINDOW + 8
"""Constants follow, then locations."""

SAME = -1
"""In ROW: all lanes access the same."""
HALVES = 64
LEFT = 1 << 16
"""Added to the number of an exit in PLACE."""
NOWHERE = 0xFFFFFFFF

COPY = 40
"""source or target, bytes from one to the next, offset of the location, kind, and the field with the number
of the one at hand, such as CHUNK: 8 bytes each.
"""
AS_IT_IS, AS_WIDE, ALIKE, ALIKE_WIDE, AS_BOOL, AS_HALF, AS_BYTE = range(7)
"""Kinds of copies: 4 bytes a lane, 8, 4 or 8 for all lanes, a bool, 2, 1."""
NOT_BEGUN, RUNNING, WAITING, FINISHED = range(4)

CHUNK_BLOCKS = 40_000
"""Blocks of 32 lanes that a chunk runs before its lanes go on elsewhere: others may be what they wait for. So
where lanes leave a region depends on nothing but what they do.
"""
DONE, PAUSED, BETWEEN, ACCESSES = range(4)
"""Why the code came back: all chunks are done; NumPy is to go on with this one; others are to run before the
next one; or an access is to be made for it.
"""

UNSIGNED = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
_ALIGN = 64
_ALL = 0xFFFFFFFF


def address_of(array: Array) -> int:
    """Where an array lies in this process."""
    address: int = array.__array_interface__["data"][0]
    return address


def image(size: int) -> U8:
    """Fresh memory for a region, with what is the same in all of them."""
    memory = np.zeros(size, np.uint8)
    for place in range(STEP_COUNT):
        start = STEPS + place * WIDE
        memory[start : start + WIDE].view(np.uint64)[:] = np.arange(LANES, dtype=np.uint64) << np.uint64(
            place
        )
    memory[LANE : LANE + NARROW].view(np.uint32)[:] = np.arange(LANES, dtype=np.uint32)
    memory[LEAST : LEAST + 4].view(np.uint32)[0] = 0x0080_0000 << 1
    memory[TINY : TINY + 8].view(np.float64)[0] = 2.0**-126 - 2.0**-151
    memory[SHARED_WINDOW : SHARED_WINDOW + 8].view(np.uint64)[0] = SHARED
    memory[LOCAL_WINDOW : LOCAL_WINDOW + 8].view(np.uint64)[0] = LOCAL
    return memory


class RegionMemory:
    """What the code of a region runs in: one for each thread of this process, or for each warp of the block
    that it runs.
    """

    def __init__(self, memory: U8) -> None:
        self.bytes = memory
        self.address = address_of(memory)
        self.fields = memory[:PLACE].view(np.int64)
        self._numbers = self.fields.data  # which is faster for one of them

    def get(self, field: int) -> int:
        number: int = self._numbers[field >> 3]
        return number

    def set(self, field: int, value: int) -> None:
        self._numbers[field >> 3] = value

    def set_all(self, first: int, values: Sequence[int]) -> None:
        """Set fields that follow each other."""
        for place, value in enumerate(values, first >> 3):
            self._numbers[place] = value

    def array(self, offset: int, size: int = 4) -> Array:
        """A location or another array of all lanes, of numbers of `size` bytes."""
        wide = size == 8
        memory = self.bytes[offset : offset + (WIDE if wide else NARROW)]
        return memory.view(np.uint64 if wide else np.uint32)

    def fill(self, value: Array, location: int) -> None:
        """Put what all lanes share into a location."""
        size = value.dtype.itemsize
        is_bool = value.dtype.kind == "b"
        self.array(location, size)[:] = _ALL * bool(value) if is_bool else value.view(UNSIGNED[size])

    def registers(self, location: int, dtype: np.dtype[Any], count: int) -> Array:
        """A copy of the first lanes of a location, as registers are kept in frames."""
        bits = self.array(location, dtype.itemsize)[:count]
        return bits != 0 if dtype.kind == "b" else bits.astype(UNSIGNED[dtype.itemsize]).view(dtype)


def ring(images: list[U8]) -> list[RegionMemory]:
    """Memories beside each other, with one image in each."""
    size, count = len(images[0]), len(images)
    unaligned = np.empty(size * count + _ALIGN, np.uint8)
    start = -address_of(unaligned) % _ALIGN
    rows = unaligned[start : start + size * count].reshape(count, size)
    memories = [RegionMemory(row) for row in rows]
    fill_ring(memories, images)
    return memories


def fill_ring(memories: list[RegionMemory], images: list[U8]) -> None:
    """Put images into memories beside each other."""
    following = [*memories[1:], memories[0]]
    for one, next_, image in zip(memories, following, images, strict=True):
        one.bytes[:] = image
        one.set(RING, next_.address)
        one.set(LEADER, memories[0].address)
        one.set(CURRENT, memories[0].address)
