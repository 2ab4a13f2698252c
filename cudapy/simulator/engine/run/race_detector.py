"""Looks for what goes wrong only sometimes: races in shared memory, and reads of what nobody wrote.

For each byte of shared memory it remembers who wrote and who read it last, and after which barriers. Two
accesses of different threads, one of them a write, are a race if no barrier of their block (or of their warp,
for threads of one) lies between them. Barriers of a part of a block count as barriers of all of it. Bytes
that no access has told apart are remembered together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, NoReturn

import numpy as np

from .. import fault, settings
from ..access import ATOMIC, READ, WRITE
from .async_copies import AsyncCopies
from .pending import Pending

if TYPE_CHECKING:
    from ..access import Access
    from ..aliases import I32, I64, U64, Bools, Lanes
    from .report import Reporter
    from .threads import Threads

_NOBODY = -1
_WIDEST = 16
"""Bytes that may be remembered together: the shared memory of a block is a multiple of them."""


class RaceDetector:
    """What was seen of the shared memory of a batch: `size` bytes of each block, `stride` bytes apart."""

    def __init__(self, threads: Threads, report: Reporter, size: int, stride: int) -> None:
        self._threads, self._report = threads, report
        self._shared_size, self._shared_stride = size, stride
        self._granularity = _WIDEST  # all accesses so far touched whole grains of so many bytes
        size = threads.block_count * stride // _WIDEST
        self._races = settings.current.check_races
        self._written: Bools | None = None
        if settings.current.check_uninitialized:
            self._written = np.zeros(size, bool)
        if self._races:
            self._writer = _Last(size)
            self._lowest_reader, self._highest_reader = _Last(size), _Last(size)
            self._was_atomic: Bools = np.zeros(size, bool)
        self._pending: Pending | None = None  # once a bulk copy was made
        self._copies: AsyncCopies | None = None  # once cp.async was
        self._cluster_size = threads.cluster_size
        self._block_time = np.ones(threads.block_count, np.int32)
        self._cluster_time = np.ones(threads.block_count // threads.cluster_size, np.int32)
        self._warp_time = np.ones(threads.warp_count, np.int32)

    def synchronized_blocks(self, blocks: I64) -> None:
        self._block_time[blocks] += 1

    def waited(self, blocks: I64, phases: I64) -> None:
        """Threads of blocks found phases of barriers in shared memory over (2 * place + parity)."""
        self.synchronized_blocks(blocks)
        if self._cluster_size > 1:
            self._cluster_time[np.unique(blocks // self._cluster_size)] += 1
        if self._pending is not None:
            self._pending.over(phases)

    def synchronized_clusters(self, clusters: I64) -> None:
        self._cluster_time[clusters] += 1
        self._block_time.reshape(-1, self._cluster_size)[clusters] += 1

    def synchronized_warps(self, warps: I64) -> None:
        self._warp_time[warps] += 1

    def shared(self, offset: I64, a: U64, access: Access, lanes: Lanes) -> None:
        """An access at `offset` of the batch's shared memory."""
        self._refine(access.size)
        numbers = self._threads.numbers(lanes)
        start = np.broadcast_to(offset, numbers.shape) // self._granularity
        seen, now = _SharedAccess(lanes, access.number, access.mode, a, access.size), self._now(numbers)
        for step in range(access.size // self._granularity):
            self._see(seen, start + step, now)

    def copied(self, places: I64, lane: int, number: int, mode: int, phase: int | None) -> None:
        """A copy that a lane started touches bytes; `phase` says when those that it writes are there."""
        self._refine(1)
        a = places[:1].astype(np.uint64) % np.uint64(self._shared_stride)
        seen = _SharedAccess(np.array([lane]), number, mode, a, len(places), True)
        self._see(seen, places, self._now(np.full(len(places), lane)))
        if self._races and phase is not None:
            self._holding().write(places, phase, mode == ATOMIC)

    def began(self, offset: I64, size: int, lanes: Lanes) -> None:
        """cp.async: lanes begin to copy `size` bytes to an offset of the shared memory of the batch."""
        if not self._races:
            return
        if self._copies is None:
            self._copies = AsyncCopies(self._threads.count, len(self._was_atomic))
        numbers = self._threads.numbers(lanes)
        start = np.broadcast_to(offset, numbers.shape) // self._granularity
        for step in range(size // self._granularity):
            self._copies.began(start + step, numbers)

    def commit_copies(self, lanes: Lanes) -> None:
        """cp.async.commit_group"""
        if self._copies is not None:
            self._copies.commit(self._threads.numbers(lanes))

    def wait_for_copies(self, lanes: Lanes, max_pending: int) -> None:
        """cp.async.wait_group"""
        if self._copies is not None:
            self._copies.wait(self._threads.numbers(lanes), max_pending)

    def reads(self, lane: int, places: I64) -> None:
        """A copy of the lane's group reads bytes, until the group was waited for."""
        if self._races:
            self._holding().read(lane, places)

    def commit(self, lanes: list[int]) -> None:
        if self._pending is not None:
            self._pending.commit(lanes)

    def wait_groups(self, lanes: list[int], max_pending: int) -> None:
        if self._pending is not None:
            self._pending.wait(lanes, max_pending)

    def _holding(self) -> Pending:
        if self._pending is None:
            self._refine(1)
            self._pending = Pending(self._threads.block_count * self._shared_stride)
        return self._pending

    def _refine(self, size: int) -> None:
        """From now on there are accesses of `size` bytes, at multiples of it."""
        times = self._granularity // size
        if times <= 1:
            return
        self._granularity = size
        if self._written is not None:
            self._written = self._written.repeat(times)
            blocks = self._written.reshape(len(self._block_time), -1)
            blocks[:, -(-self._shared_size // size) :] = True  # behind it there is nothing to write
        if self._races:
            self._was_atomic = self._was_atomic.repeat(times)
            for seen in (self._writer, self._lowest_reader, self._highest_reader):
                seen.repeat(times)
            if self._copies is not None:
                self._copies.repeat(times)

    def _now(self, lane: I64) -> _Now:
        threads = self._threads
        block, warp = threads.blocks[lane], threads.warps[lane]
        alone = self._cluster_size == 1
        return _Now(
            lane,
            warp,
            block,
            threads.warps,
            threads.blocks,
            self._block_time[block],
            self._warp_time[warp],
            None if alone else self._cluster_time[block // self._cluster_size],
        )

    def _see(self, seen: _SharedAccess, place: I64, now: _Now) -> None:
        """An access to one grain by each lane, or to several by one lane."""
        if self._written is not None:
            if seen.mode == WRITE:
                self._written[place] = True
            elif not self._written[place].all():
                text = "Read of __shared__ memory that nobody wrote"
                self._fail(seen, text, ~self._written[place], "of the block's shared memory")
        if self._races:
            if self._pending is not None:
                conflicts = self._pending.conflicts(
                    place, seen.mode == READ, seen.is_copy and seen.mode == ATOMIC
                )
                if conflicts.any():
                    text = "Race in __shared__ memory (with an asynchronous copy)"
                    self._fail(seen, text, conflicts, "nobody has waited for the copy")
            if self._copies is not None:
                pending = self._copies.pending(place)
                if pending.any():
                    text = "Race in __shared__ memory (with cp.async)"
                    more = (
                        "the thread that copies has not waited (cp.async.wait_group, __pipeline_wait_prior)"
                    )
                    self._fail(seen, text, pending, more)
            self._race(seen, place, now)

    def _race(self, seen: _SharedAccess, place: I64, now: _Now) -> None:
        mode = seen.mode
        hazard, other = self._writer.unordered(place, now)
        kind = "read after write" if mode == READ else "write after write"
        if mode == ATOMIC:
            hazard &= ~self._was_atomic[place]
        if mode != READ:
            for readers in (self._lowest_reader, self._highest_reader):
                if not hazard.any():
                    hazard, other = readers.unordered(place, now)
                    kind = "write after read"
        if not hazard.any() and mode == WRITE and not (place[1:] > place[:-1]).all():
            ordered = np.sort(place)
            if (ordered[1:] == ordered[:-1]).any():
                _, index, counts = np.unique(place, return_inverse=True, return_counts=True)
                hazard, kind = counts[index] > 1, "write by several threads at once"
                other = _partner(now.lane, index)
        if hazard.any():
            one = int(np.argmax(hazard))
            partner = self._threads.name(int(other[one]))
            text = f"Race in __shared__ memory ({kind})"
            more = f"the other is {partner}; no barrier lies between them"
            self._fail(seen, text, hazard, more)
        if mode == READ:
            self._lowest_reader.see(place, now, np.minimum)
            self._highest_reader.see(place, now, np.maximum)
        else:
            self._writer.see(place, now, None)
            self._was_atomic[place] = mode == ATOMIC

    def _fail(self, seen: _SharedAccess, text: str, bad: Bools, more: str) -> NoReturn:
        """Raise the Fault; `bad` is for each lane, or for each byte that one lane touches."""
        whole = len(self._threads.numbers(seen.lanes)) != len(bad)
        guilty = True if whole else bad
        self._report.fail(fault.LAUNCH_FAILED, text, seen.number, seen.lanes, guilty, seen.a, seen.size, more)


class _SharedAccess(NamedTuple):
    """An instruction that accesses shared memory, for reports."""

    lanes: Lanes
    number: int
    mode: int
    a: U64
    size: int
    is_copy: bool = False


class _Now(NamedTuple):
    """The lanes of an access, their warps and blocks, those of every lane, and the times of the accesses'
    blocks, warps and clusters; no times of clusters where these are single blocks.
    """

    lane: I64
    warp: I64
    block: I64
    warps: I64
    blocks: I64
    block_time: I32
    warp_time: I32
    cluster_time: I32 | None


class _Last:
    """For each grain one lane that accessed it, and when: by the barriers of its block, and of its warp."""

    def __init__(self, size: int) -> None:
        self._lane: I64 = np.full(size, _NOBODY, np.int64)
        self._block_time: I32 = np.zeros(size, np.int32)
        self._warp_time: I32 = np.zeros(size, np.int32)
        self._cluster_time: I32 = np.zeros(size, np.int32)

    def repeat(self, times: int) -> None:
        """There are `times` as many grains, and what was seen of one was seen of all its parts."""
        self._lane, self._block_time = self._lane.repeat(times), self._block_time.repeat(times)
        self._warp_time, self._cluster_time = self._warp_time.repeat(times), self._cluster_time.repeat(times)

    def unordered(self, place: I64, now: _Now) -> tuple[Bools, I64]:
        """Which accesses no barrier lies before, since another lane's; and these lanes."""
        other = self._lane[place]
        recent = ~self._is_old(place, now) & (other != _NOBODY) & (other != now.lane)
        if recent.any():
            same_warp = now.warps[other] == now.warp
            recent &= ~(same_warp & (self._warp_time[place] != now.warp_time))
        return recent, other

    def _is_old(self, place: I64, now: _Now) -> Bools:
        """Whether a barrier of the block, or of the cluster for lanes of another block, lies between."""
        old_in_block = self._block_time[place] != now.block_time
        if now.cluster_time is None:
            return old_in_block
        same_block = now.blocks[self._lane[place]] == now.block
        return np.where(same_block, old_in_block, self._cluster_time[place] != now.cluster_time)

    def see(self, place: I64, now: _Now, choose: np.ufunc | None) -> None:
        """Remember the last lane of each grain, or since its last barrier the one that `choose` takes."""
        if choose is None:
            self._lane[place] = now.lane
            chosen: Bools | slice = slice(None)
        else:
            old = self._is_old(place, now)
            self._lane[place[old]] = now.lane[old]
            choose.at(self._lane, place, now.lane)
            chosen = self._lane[place] == now.lane
        where = place[chosen]
        self._block_time[where] = now.block_time[chosen]
        self._warp_time[where] = now.warp_time[chosen]
        if now.cluster_time is not None:
            self._cluster_time[where] = now.cluster_time[chosen]


def _partner(lane: I64, index: I64) -> I64:
    """For each lane another one that writes the same byte; `index` numbers the bytes."""
    last = np.zeros(int(index.max()) + 1, lane.dtype)
    first = np.zeros_like(last)
    last[index] = lane
    first[index[::-1]] = lane[::-1]
    return np.where(last[index] == lane, first[index], last[index])
