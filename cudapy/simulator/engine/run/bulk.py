"""Bulk copies: one thread has memory copied, and a barrier in shared memory counts the bytes that came.

They are made at once. With the checks on, what they write or read is theirs until somebody has waited.

Source: PTX ISA, "cp.async.bulk", "cp.reduce.async.bulk", "st.async", "red.async".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import fault
from ..access import ATOMIC, READ, VERBS, WRITE, accessed
from ..classes import UNINITIALIZED
from ..ptx.types import TYPES
from ..undefined_bits import UNDEFINED
from .atomic import combiner

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..aliases import I64, U8, U32, U64, Array, Lanes
    from ..instructions.forms import BulkCopy
    from ..memory import Allocation
    from .mbarrier import Mbarriers
    from .race_detector import RaceDetector
    from .report import Reporter
    from .spaces import Spaces
    from .threads import Threads

_ALIGN = 16
_WHOLE = 16
"""Bytes that are not all padding."""
_WORD, _BYTE = np.dtype("u8"), np.dtype("u1")


class Target(NamedTuple):
    """Where one copy goes in the batch's shared memory, and the barrier that counts it (a place of words)."""

    start: int
    barrier: int


class Bulk:
    """The bulk copies of a batch, and what those of tensors have in common with them."""

    def __init__(
        self,
        threads: Threads,
        report: Reporter,
        spaces: Spaces,
        mbarriers: Mbarriers,
        races: RaceDetector | None,
    ) -> None:
        self._threads, self._report = threads, report
        self._global, self._shared = spaces.global_memory, spaces.shared
        self._mbarriers, self._races = mbarriers, races

    def copy(
        self,
        form: BulkCopy,
        lanes: Lanes,
        number: int,
        *,
        target: U64,
        source: U64,
        size: U32,
        barrier: U64 | None,
        mask: Array | None,
    ) -> None:
        """cp.async.bulk and cp.reduce.async.bulk, lane after lane.

        barrier: the address of one; None where a group of copies is waited for.
        mask: the ranks of the blocks that get it; None for that of the target alone.
        """
        reduction = form.reduction
        for lane, *one in self.each(lanes, target, source, size, barrier, mask):
            to, start, count, word, ranks = one
            if count % _ALIGN:
                text = f"A bulk copy of {count} bytes: these must be a multiple of {_ALIGN}"
                self._report.fail(fault.MISALIGNED_ADDRESS, text, number, np.array([lane]), True)
            if not count:
                continue
            data, undefined, first = self._source(form.source, lane, start, count, number)
            if reduction is not None or form.target == "global":
                memory = "__global__" if form.source == "global" else "__shared__"
                self.check_defined(undefined, memory, lane, start, number, 0 if reduction else _WHOLE)
            if form.target == "global":
                self._to_global(data, undefined, lane, to, number, reduction)
                self.grouped(lane, first + np.arange(count))
                continue
            for place in self.targets(lane, to, word, ranks, count, _ALIGN, form.target, number):
                places = place.start + np.arange(count)
                self.held(places, lane, number, place.barrier, reduction is not None, undefined)
                _move(self._shared.data[place.start : place.start + count], data, reduction, False)
                self.completed(place.barrier, count, lane, number)

    def each(self, lanes: Lanes, *operands: Array | None) -> Iterator[tuple[Any, ...]]:
        """Lane after lane with its operands as numbers; None stays None."""
        numbers = self._threads.numbers(lanes)
        columns = [
            [None] * len(numbers) if one is None else np.broadcast_to(one, numbers.shape).tolist()
            for one in operands
        ]
        return zip(numbers.tolist(), *columns, strict=True)

    def targets(
        self,
        lane: int,
        address: int,
        barrier: int,
        ranks: int | None,
        count: int,
        align: int,
        space: str,
        number: int,
    ) -> list[Target]:
        """Where a copy to shared memory goes, and its barriers: in one block, or in those of a mask."""
        start = self.shared_start(lane, address, count, align, space, number, WRITE)
        word = self._barrier_of(lane, barrier, number)
        if ranks is None:
            if start // self._shared.stride != word * 8 // self._shared.stride:
                text = "A bulk copy to one block with an mbarrier of another"
                self._report.fail(fault.LAUNCH_FAILED, text, number, np.array([lane]), True)
            return [Target(start, word)]
        own_block = int(self._threads.blocks[lane])
        first = own_block - own_block % self._threads.cluster_size
        if ranks >> self._threads.cluster_size or not ranks:
            text = f"A copy to the blocks {ranks:#x} of a cluster of {self._threads.cluster_size}"
            self._report.fail(fault.ILLEGAL_ADDRESS, text, number, np.array([lane]), True)
        targets = []
        for rank in range(self._threads.cluster_size):
            if ranks >> rank & 1:
                away = (first + rank - own_block) * self._shared.stride
                self.check_is_there(first + rank, lane, number)
                targets.append(Target(start + away, word + away // 8))
        for place in targets:
            self.check_is_barrier(place.barrier, lane, number)
        return targets

    def check_is_there(self, block: int, lane: int, number: int) -> None:
        """Raises Fault for a block that has exited."""
        if not self._threads.live[block]:
            text = "A copy to a block that has exited"
            self._report.fail(fault.ILLEGAL_ADDRESS, text, number, np.array([lane]), True)

    def check_is_barrier(self, word: int, lane: int, number: int) -> None:
        """Raises Fault for a word that is not a barrier."""
        if not self._mbarriers.is_barrier(word):
            text = "A copy to several blocks, of which one has no mbarrier at that place"
            self._report.fail(fault.LAUNCH_FAILED, text, number, np.array([lane]), True)

    def _barrier_of(self, lane: int, address: int, number: int) -> int:
        index = self._mbarriers.at(np.array([address], np.uint64), "cluster", np.array([lane]), number)
        return int(index.item())

    def completed(self, word: int, count: int, lane: int, number: int) -> None:
        """`count` bytes that a barrier waits for came."""
        self._mbarriers.change("complete_tx", np.array([word]), count, True, np.array([lane]), number)

    def check_defined(
        self, undefined: Array | None, memory: str, lane: int, address: int, number: int, whole: int = 0
    ) -> None:
        """Report undefined bytes that are reduced, or stored in global memory.

        whole: so many together are reported, where parts may be padding; 0: any.
        """
        if undefined is None or not undefined.any():
            return
        pieces = undefined.view(np.uint8).reshape(-1, whole or 1)
        if not whole or (pieces == UNDEFINED).all(1).any():
            text = f"Read of {memory} memory that nobody wrote"
            self._report.find(
                UNINITIALIZED, text, number, np.array([lane]), True, np.uint64(address), undefined.nbytes
            )

    def _source(
        self, memory: str, lane: int, address: int, size: int, number: int
    ) -> tuple[U8, U8 | None, int]:
        """The bytes to copy, their undefined bits, and where they begin in shared memory."""
        if memory == "global":
            return *self._global_bytes(lane, address, size, number, READ), 0
        first = self.shared_start(lane, address, size, _ALIGN, memory, number, READ)
        self.seen(first + np.arange(size), lane, number)
        return self._shared.data[first : first + size], self._shared.undefined(first, size), first

    def _to_global(
        self,
        data: U8,
        undefined: U8 | None,
        lane: int,
        address: int,
        number: int,
        reduction: tuple[str, str] | None,
    ) -> None:
        """Write bytes, or combine them with what is there."""
        reduces = reduction is not None
        target, shadow = self._global_bytes(lane, address, len(data), number, WRITE, reduces)
        if reduces:
            self.check_defined(shadow, "__global__", lane, address, number)
        if shadow is not None:
            shadow[:] = 0 if undefined is None or reduces else undefined
        _move(target, data, reduction, True)

    def _global_bytes(
        self, lane: int, address: int, size: int, number: int, mode: int, reduces: bool = False
    ) -> tuple[U8, U8 | None]:
        """A range of global memory as bytes, and its undefined bits if these are looked for. Raises Fault."""
        one, what = np.array([lane]), f"__global__ bulk {VERBS[mode]}"
        if address % _ALIGN:
            text = f"Misaligned {what}"
            self._report.fail(fault.MISALIGNED_ADDRESS, text, number, one, True, np.uint64(address), size)
        allocation = self._global.allocations.find(address)
        if allocation is None or address + size > allocation.end:
            text = f"Invalid {what}"
            self._report.fail(fault.ILLEGAL_ADDRESS, text, number, one, True, np.uint64(address), size)
        offset, access = address - allocation.address, accessed(_BYTE, size, number, mode)
        self._global.check_reach(allocation, np.array([address], np.uint64), access, one)
        pieces = offset + np.arange(0, size, _ALIGN)
        self.seen_in_global(allocation, pieces, _ALIGN, lane, number, ATOMIC if reduces else mode)
        data, undefined = allocation.data[offset : offset + size], allocation.undefined
        if undefined is None:
            return data, None
        bits = undefined.seen() if mode == READ else undefined.changing()
        return data, bits[offset : offset + size]

    def shared_start(
        self, lane: int, address: int, size: int, align: int, space: str, number: int, mode: int
    ) -> int:
        """Where a range starts in the batch's shared memory. Raises Fault."""
        one, a = np.array([lane]), np.array([address], np.uint64)
        if space == "shared" and not self._shared.is_own(a, one).all():
            text = f"Invalid __shared__ bulk {VERBS[mode]}"
            more = "the address is of another block of the cluster"
            self._report.fail(fault.ILLEGAL_ADDRESS, text, number, one, True, a, size, more)
        return int(self._shared.offsets(a, one, accessed(_BYTE, size, number, mode), align)[0])

    def seen(self, places: I64, lane: int, number: int) -> None:
        """Tell the checks of the bytes that a copy reads."""
        if self._shared.is_checked:
            self._shared.copied(places, lane, number, READ, None)

    def seen_in_global(
        self, allocation: Allocation, offsets: I64, size: int, lane: int, number: int, mode: int
    ) -> None:
        """Tell the checks of pieces of `size` bytes of an allocation that a copy accesses."""
        if self._races is not None:
            self._races.copied_in_global(allocation, offsets, size, lane, number, mode)

    def held(
        self,
        places: I64,
        lane: int,
        number: int,
        barrier: int,
        reduces: bool = False,
        undefined: U8 | None = None,
    ) -> None:
        """Tell the checks of the bytes that a copy writes: they are there once its phase is over.

        undefined: their undefined bits.
        """
        if self._shared.is_checked:
            odd = int(self._shared.view(_WORD)[barrier] >> np.uint64(63))
            mode = ATOMIC if reduces else WRITE
            self._shared.copied(places, lane, number, mode, 2 * barrier + odd, undefined)

    # Groups of copies out of shared memory.

    def grouped(self, lane: int, places: I64) -> None:
        """A copy out of shared memory was started: it is of the lane's open group."""
        if self._races is not None:
            self._races.reads(lane, places)

    def commit(self, lanes: Lanes) -> None:
        if self._races is not None:
            self._races.commit(self._threads.numbers(lanes).tolist())

    def wait(self, max_pending: int, what: str | None, lanes: Lanes) -> None:
        """cp.async.bulk.wait_group: all but the last `max_pending` groups are over; `what` may be "read"."""
        if self._races is not None:
            self._races.wait_groups(self._threads.numbers(lanes).tolist(), max_pending, what == "read")

    # Stores of single values.

    def store_async(
        self,
        a: U64,
        values: tuple[Array, ...],
        operation: str,
        kind: str,
        barrier: U64,
        lanes: Lanes,
        number: int,
    ) -> None:
        """st.async and red.async: each lane stores, and its barrier counts the bytes."""
        dtype = np.dtype(TYPES[kind].code)
        numbers = self._threads.numbers(lanes)
        count = dtype.itemsize * len(values)
        a = np.broadcast_to(a, numbers.shape)
        words = np.broadcast_to(self._mbarriers.at(barrier, "cluster", lanes, number), numbers.shape)
        starts = self._shared.offsets(a, numbers, accessed(dtype, len(values), number, WRITE))
        apart = starts // self._shared.stride != words * 8 // self._shared.stride
        if apart.any():
            text = "A store to one block with an mbarrier of another"
            self._report.fail(fault.LAUNCH_FAILED, text, number, numbers, apart)
        for position, (lane, start, word) in enumerate(
            zip(numbers.tolist(), starts.tolist(), words.tolist(), strict=True)
        ):
            stored = [np.broadcast_to(value, numbers.shape)[position] for value in values]
            self.held(start + np.arange(count), lane, number, word, bool(operation))
            place = self._shared.data[start : start + count]
            _move(
                place, np.array(stored, dtype).view(np.uint8), (operation, kind) if operation else None, False
            )
            self.completed(word, count, lane, number)


def _move(target: U8, data: U8, reduction: tuple[str, str] | None, is_global: bool) -> None:
    """Copy bytes, or combine them with what is there."""
    if reduction is None:
        target[:] = data
        return
    operation, kind = reduction
    dtype = np.dtype(TYPES[kind].code)
    with np.errstate(all="ignore"):
        combined = combine(target.view(dtype), data.view(dtype), operation, kind, is_global)
    target.view(dtype)[:] = combined


def combine(old: Array, new: Array, operation: str, kind: str, is_global: bool) -> Array:
    """A reduction of elements, as the atomics do it."""
    if is_global and operation == "add" and kind in ("f32", "f64"):
        kind = f"global {kind}"
    return combiner(operation, kind)(old, new)
