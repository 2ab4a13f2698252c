"""Shared memory: that of a lane's own block, and of the other blocks of its cluster.

Source: PTX ISA, "Cluster of Cooperative Thread Arrays", "mapa", "getctarank".
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from .. import fault
from ..access import ATOMIC, READ, Access
from ..addresses import LOCAL, RANK, SHARED, round_up
from ..classes import UNINITIALIZED
from ..memory import POISON
from ..undefined_bits import UndefinedBits, distance
from .local import refuse
from .seen_access import Contents
from .threads import cached

if TYPE_CHECKING:
    from ..access import Places
    from ..aliases import I64, U8, U32, U64, Array, Bools, DType, Lanes
    from .race_detector import RaceDetector
    from .report import Reporter
    from .threads import Threads
    from .undefined import UndefinedBytes

_ALIGN = 16
_RANK = np.uint64(RANK)
_OFFSET = np.uint64((1 << RANK) - 1)
_RANKS = 255
"""All ranks that an address may have."""
_WRAP = {4: 0xFFFFFFFF, 8: 0xFFFFFFFFFFFFFFFF}


def stride_of(size: int) -> int:
    """How far apart the shared memories of two blocks of `size` bytes lie."""
    return round_up(size, _ALIGN)


class Near:
    """Addresses near which one block of code accesses shared memory several times, at constant distances.

    What all of these accesses need is computed with the first of them.
    """

    __slots__ = ("a", "bits", "high", "low", "places")

    def __init__(self, a: U32 | U64) -> None:
        self.a = a
        self.places: dict[np.uint64, I64] = {}
        """The items at the addresses, by the logarithm of an item's bytes."""
        self.bits = 0
        """The bits that any of the addresses has."""
        self.low = self.high = -1

    def at(self, distance: int) -> U64:
        """The addresses so far away, which wrap around."""
        moved = self.a + self.a.dtype.type(distance & _WRAP[self.a.dtype.itemsize])
        return moved.astype(np.uint64)


class SharedMemory:
    """The shared memory of a batch, block after block, of which each has `size` bytes."""

    def __init__(
        self,
        threads: Threads,
        report: Reporter,
        races: RaceDetector | None,
        undefined: UndefinedBytes,
        size: int,
    ) -> None:
        self._threads, self._report, self.races = threads, report, races
        self._undefined = undefined
        self.size, self.stride = size, stride_of(size)
        self.data: U8 = np.full(threads.block_count * self.stride, POISON, np.uint8)
        self.shadow: UndefinedBits | None = None
        """The undefined bits of each byte, if these are looked for."""
        if undefined.is_wanted:
            self.shadow = UndefinedBits(len(self.data))
            self.shadow.seen().reshape(threads.block_count, -1)[:, size:] = 0  # nothing can be written there
        self.is_checked = races is not None or self.shadow is not None
        self._views: dict[DType, Array] = {}

    @cached_property
    def _base(self) -> U64 | None:
        """Where that of each lane's block starts; None if there is one block."""
        threads, stride = self._threads, np.uint64(self.stride)
        if threads.block_count == 1:
            return None
        key = ("shared", *threads.key, self.stride)
        base: U64 = cached(key, lambda: threads.blocks.astype(np.uint64) * stride)
        return base

    def look_for_undefined(self) -> int:
        """How far behind the memory its undefined bits lie in this process; 0: there are none."""
        if self.shadow is not None:
            self.shadow.look(len(self.data))
        return distance(self.shadow, self.data)

    def addresses(self) -> U64:
        """Where that of each lane's block lies in this process."""
        start = np.array(self.data.__array_interface__["data"][0], np.uint64)
        return start if self._base is None else self._base + start

    def addresses_of_blocks(self) -> U64:
        """Where that of each block lies in this process."""
        start = np.uint64(self.data.__array_interface__["data"][0])
        return np.arange(self._threads.block_count, dtype=np.uint64) * np.uint64(self.stride) + start

    def view(self, dtype: DType) -> Array:
        """The shared memory of all blocks as an array of `dtype`."""
        view = self._views.get(dtype)
        if view is None:
            view = self._views[dtype] = self.data.view(dtype)
        return view

    def at(self, a: U64, access: Access, lanes: Lanes, *values: Array) -> Places:
        """The places of addresses in lanes' own blocks; `values` are to be stored there. Raises Fault."""
        high = bits = int(np.bitwise_or.reduce(a) if a.ndim else a)
        if a.ndim and not self._is_inside(high, 0, access):
            high = int(np.maximum.reduce(a))
        if not self._is_inside(high, bits, access):
            if high >> RANK and self.is_own(a, lanes).all():
                return self.at_cluster(a, access, lanes, *values)
            hint = "; the address is of another block of the cluster, which takes shared::cluster"
            is_other = (np.atleast_1d(a) >> _RANK).any()
            refuse(self._report, "block", "__shared__", a, access, self.size, lanes, hint if is_other else "")
        offset = a
        if self._base is not None:
            offset = a + (self._base if lanes is None else self._base.take(lanes))
        if self.is_checked:
            self._check(offset.view(np.int64), a, access, lanes, values)
        elif self._base is not None:
            return self.view(access.dtype), np.right_shift(offset, access.shift, offset).view(np.int64)
        return self.view(access.dtype), (offset >> access.shift).view(np.int64)

    def load(self, a: U64, access: Access, lanes: Lanes) -> list[Array]:
        """What lies at addresses in lanes' own blocks, item after item. Raises Fault."""
        threads = self._threads
        is_plain = lanes is None and not self.is_checked and threads.block_count > 1
        if a.ndim or not is_plain or not self._is_inside(int(a), int(a), access):
            array, index = self.at(a, access, lanes)
            return [array.take(index + step if step else index) for step in range(access.items)]
        of_blocks = self.view(access.dtype).reshape(threads.block_count, -1)
        first = int(a) >> int(access.shift)
        return [of_blocks[:, first + step].repeat(threads.per_block) for step in range(access.items)]

    def near(self, a: U32 | U64) -> Near:
        """What `load_near` and `at_near` are asked with for addresses that lie near these."""
        return Near(a)

    def load_near(self, near: Near, distance: int, access: Access, lanes: Lanes) -> list[Array]:
        """As `load`, at the addresses so far from those of `near`. Raises Fault."""
        places = self._places_near(near, distance, access, lanes)
        if places is None:
            return self.load(near.at(distance), access, lanes)
        array, index = places
        return [(array[step:] if step else array).take(index) for step in range(access.items)]

    def at_near(self, near: Near, distance: int, access: Access, lanes: Lanes, *values: Array) -> Places:
        """As `at`, at the addresses so far from those of `near`. Raises Fault."""
        places = self._places_near(near, distance, access, lanes)
        return places or self.at(near.at(distance), access, lanes, *values)

    def _places_near(
        self, near: Near, distance: int, access: Access, lanes: Lanes
    ) -> tuple[Array, I64] | None:
        """The places of addresses; None if more is to be checked."""
        a = near.a
        if self.is_checked or not a.ndim:
            return None
        if near.low < 0:
            near.low, near.high = int(np.minimum.reduce(a)), int(np.maximum.reduce(a))
            near.bits = int(np.bitwise_or.reduce(a))
        if near.low + distance < 0 or not self._is_inside(near.high + distance, near.bits | distance, access):
            return None
        index = near.places.get(access.shift)
        if index is None:
            index = (a >> a.dtype.type(access.shift)).astype(np.int64)
            if self._base is not None:
                first = self._first_items(access.shift)
                index = np.add(index, first if lanes is None else first.take(lanes), index)
            near.places[access.shift] = index
        step = distance >> int(access.shift)
        view = self.view(access.dtype)
        return (view[step:], index) if step >= 0 else (view, index + step)

    def _first_items(self, shift: np.uint64) -> I64:
        """The first item of each lane's block."""
        key = ("first items", *self._threads.key, self.stride, shift)
        return cached(key, lambda: self._threads.blocks * (self.stride >> int(shift)))

    def _is_inside(self, high: int, bits: int, access: Access) -> bool:
        """Whether addresses up to `high` are of the block; `bits` are those that any of them has."""
        # a compiler makes vectors of reads, the last of which may end behind what the block has
        last = high if access.items > 1 and access.mode == READ else high + access.size - 1
        return last < self.size and not bits & (access.size - 1)

    def _check(
        self, offset: I64, a: U64, access: Access, lanes: Lanes, values: tuple[Array, ...] = ()
    ) -> None:
        """Look for races and unwritten memory in an access at `offset` of the batch's shared memory."""
        if self.shadow is not None:
            self._undefined.access(self.shadow, offset, a, access, lanes, "__shared__ memory")
        if self.races is not None:
            start = np.broadcast_to(offset, self._threads.numbers(lanes).shape)
            self.races.shared(a, access, lanes, Contents(self.data, start, values))

    def undefined(self, start: int, size: int) -> U8 | None:
        """The undefined bits of bytes of the batch's memory, if these are looked for."""
        return None if self.shadow is None else self.shadow.seen()[start : start + size].copy()

    def copied(
        self,
        places: I64,
        lane: int,
        number: int,
        mode: int,
        phase: int | None,
        undefined: U8 | None = None,
    ) -> None:
        """A copy that a lane started touches bytes; `phase` says when those that it writes are there.

        undefined: the undefined bits of what it writes; None: all is defined.
        """
        if self.shadow is not None:
            if mode == ATOMIC and self.shadow.seen()[places].any():
                a = places[:1].astype(np.uint64) % np.uint64(self.stride)
                text = "Read of __shared__ memory that nobody wrote"
                self._report.find(UNINITIALIZED, text, number, np.array([lane]), True, a, len(places))
            if mode != READ:
                self.shadow.changing()[places] = 0 if undefined is None else undefined
        if self.races is not None:
            self.races.copied(places, lane, number, mode, phase)

    def at_cluster(self, a: U64, access: Access, lanes: Lanes, *values: Array) -> Places:
        """The places of addresses in any block of lanes' clusters. Raises Fault."""
        if not int(a.max()) >> RANK:
            return self.at(a, access, lanes, *values)
        numbers = self._threads.numbers(lanes)
        offset = self.offsets(np.broadcast_to(a, numbers.shape), numbers, access)
        if self.is_checked:
            self._check(offset, a, access, numbers, values)
        return self.view(access.dtype), offset >> access.shift.view(np.int64)

    def is_own(self, a: U64, lanes: Lanes) -> Bools:
        """Whether addresses are of the lane's own block."""
        rank = (a >> _RANK & np.uint64(_RANKS)).astype(np.int64)
        return (rank == 0) | (rank == self._threads.own_ranks(lanes) + 1)

    def offsets(self, a: U64, numbers: I64, access: Access, align: int = 0) -> I64:
        """Where addresses of any block of the cluster lie in the batch's memory; `align` is the access's size
        if 0. Raises Fault.
        """
        blocks = self._blocks_of(a, numbers, access)
        inside, size = a & _OFFSET, access.size
        what = f"__shared__ {access.verb}"
        outside = inside + np.uint64(size) > np.uint64(self.size)
        if outside.any():
            more = f"the block's __shared__ memory has {self.size} bytes"
            text = f"Invalid {what}"
            self._report.fail(fault.ILLEGAL_ADDRESS, text, access.number, numbers, outside, a, size, more)
        misaligned = inside & np.uint64((align or size) - 1) != 0
        if misaligned.any():
            text, more = f"Misaligned {what}", "in shared memory"
            self._report.fail(
                fault.MISALIGNED_ADDRESS, text, access.number, numbers, misaligned, a, size, more
            )
        return inside.view(np.int64) + blocks * self.stride

    def _blocks_of(self, a: U64, numbers: I64, access: Access) -> I64:
        """The blocks of the batch that addresses are of. Raises Fault for those that do not run."""
        threads = self._threads
        rank = (a >> _RANK).astype(np.int64) - 1
        own_blocks = threads.blocks[numbers]
        missing = rank >= threads.cluster_size
        what = f"__shared__ {access.verb}"
        if missing.any():
            more = f"the cluster has {threads.cluster_size} blocks"
            text = f"Invalid {what}"
            self._report.fail(fault.ILLEGAL_ADDRESS, text, access.number, numbers, missing, a, more=more)
        blocks = np.where(rank < 0, own_blocks, own_blocks - own_blocks % threads.cluster_size + rank)
        exited = threads.live[blocks] == 0
        if exited.any():
            text = f"Invalid {what} in a block that has exited"
            more = "blocks of a cluster wait for each other before they exit"
            self._report.fail(fault.ILLEGAL_ADDRESS, text, access.number, numbers, exited, a, more=more)
        return blocks

    def map_to_rank(self, a: Array, rank: Array, is_generic: bool, lanes: Lanes, number: int) -> Array:
        """mapa: the address of the same variable in another block of the cluster."""
        wide = a.astype(np.uint64)
        size = self._threads.cluster_size
        bad = rank.astype(np.int64) >= size
        if np.any(bad):
            text = f"mapa to a block that is not there: the cluster has {size}"
            self._report.fail(fault.ILLEGAL_ADDRESS, text, number, lanes, bad)
        if is_generic:
            self._check_window(wide, "mapa", lanes, number)
        window = np.uint64(SHARED if is_generic else 0)
        mapped = window + ((rank.astype(np.uint64) + np.uint64(1)) << _RANK) + (wide & _OFFSET)
        return mapped.astype(a.dtype)

    def rank_of(self, a: Array, is_generic: bool, lanes: Lanes, number: int) -> Array:
        """getctarank: the rank of the block that an address of shared memory is of."""
        wide = a.astype(np.uint64)
        if is_generic:
            self._check_window(wide, "getctarank", lanes, number)
        rank = (wide >> _RANK & np.uint64(_RANKS)).astype(np.int64)
        return np.where(rank == 0, self._threads.own_ranks(lanes), rank - 1).astype(np.uint32)

    def _check_window(self, a: U64, name: str, lanes: Lanes, number: int) -> None:
        outside = (a < np.uint64(SHARED)) | (a >= np.uint64(LOCAL))
        if np.any(outside):
            text = f"{name} of an address outside of shared memory"
            self._report.fail(fault.INVALID_ADDRESS_SPACE, text, number, lanes, outside, a)
