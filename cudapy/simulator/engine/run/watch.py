"""Looks for what goes wrong only sometimes: races in shared memory, and reads of what nobody wrote.

For each byte of shared memory it remembers who wrote and who read it last, and after which barriers. Two
accesses of different threads, one of them a write, are a race if no barrier of their block (or of their warp,
for threads of one) lies between them. Barriers of a part of a block count as barriers of all of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from .. import fault, settings
from .pending import Pending

if TYPE_CHECKING:
    from .batch import Batch

READ, WRITE, ATOMIC = 0, 1, 2
_NOBODY = -1


class Watch:
    """What was seen of the shared memory of a batch."""

    def __init__(self, batch: Batch) -> None:
        size = len(batch.shared)
        self._races = settings.current.check_races
        self._written: Any = np.zeros(size, bool) if settings.current.check_uninitialized else None
        if self._races:
            self._writer = _Seen(size)
            self._lowest_reader, self._highest_reader = _Seen(size), _Seen(size)
            self._was_atomic = np.zeros(size, bool)
        self._pending: Pending | None = None  # once a copy was made
        self._block_time = np.ones(batch.block_count, np.int32)
        self._cluster_time = np.ones(batch.block_count // batch.cluster_size, np.int32)
        self._cluster_size = batch.cluster_size
        self._warp_time = np.ones(batch.warp_count, np.int32)

    def synchronized_blocks(self, blocks: Any) -> None:
        self._block_time[blocks] += 1

    def waited(self, blocks: Any, phases: Any) -> None:
        """Threads of blocks found phases of barriers in shared memory over (2 * place + parity)."""
        self.synchronized_blocks(blocks)
        if self._cluster_size > 1:
            self._cluster_time[np.unique(blocks // self._cluster_size)] += 1
        if self._pending is not None:
            self._pending.over(phases)

    def synchronized_clusters(self, clusters: Any) -> None:
        self._cluster_time[clusters] += 1
        self._block_time.reshape(-1, self._cluster_size)[clusters] += 1

    def synchronized_warps(self, warps: Any) -> None:
        self._warp_time[warps] += 1

    def shared(
        self, batch: Batch, offset: Any, a: Any, size: int, lanes: Any, number: int, mode: int
    ) -> None:
        """An access of `size` bytes at `offset` of the batch's shared memory."""
        numbers = batch.numbers(lanes)
        start = np.broadcast_to(offset, numbers.shape)
        seen = _Access(batch, lanes, number, mode, a, size)
        for step in range(size):
            self._see(seen, start + step, numbers)

    def copied(self, batch: Batch, places: Any, lane: int, number: int, mode: int, phase: int | None) -> None:
        """A copy that a lane started touches bytes; `phase` says when those that it writes are there."""
        a = places[:1].astype(np.uint64) % np.uint64(batch.shared_stride)
        seen = _Access(batch, np.array([lane]), number, mode, a, len(places), True)
        self._see(seen, places, np.full(len(places), lane))
        if self._races and phase is not None:
            self._holding(batch).write(places, phase, mode == ATOMIC)

    def reads(self, batch: Batch, lane: int, places: Any) -> None:
        """A copy of the lane's group reads bytes, until the group was waited for."""
        if self._races:
            self._holding(batch).read(lane, places)

    def commit(self, lanes: list[int]) -> None:
        if self._pending is not None:
            self._pending.commit(lanes)

    def wait_groups(self, lanes: list[int], left: int) -> None:
        if self._pending is not None:
            self._pending.wait(lanes, left)

    def _holding(self, batch: Batch) -> Pending:
        if self._pending is None:
            self._pending = Pending(len(batch.shared))
        return self._pending

    def _see(self, seen: _Access, place: Any, lane: Any) -> None:
        """An access to one byte by each of `lane`, or to several by one lane."""
        if self._written is not None:
            if seen.mode == WRITE:
                self._written[place] = True
            elif not self._written[place].all():
                text = "Read of __shared__ memory that nobody wrote"
                seen.fail(text, ~self._written[place], "of the block's shared memory")
        if self._races:
            if self._pending is not None:
                held = self._pending.conflicts(place, seen.mode == READ, seen.is_copy and seen.mode == ATOMIC)
                if held.any():
                    text = "Race in __shared__ memory (with an asynchronous copy)"
                    seen.fail(text, held, "nobody has waited for the copy")
            self._race(seen, place, lane)

    def _race(self, seen: _Access, place: Any, lane: Any) -> None:
        batch, mode = seen.batch, seen.mode
        block = batch.blocks[lane]
        now = _Now(
            lane,
            batch.warps,
            batch.blocks,
            self._block_time[block],
            self._warp_time[batch.warps[lane]],
            self._cluster_time[block // self._cluster_size],
        )
        hazard, other = self._writer.unordered(place, now)
        kind = "read after write" if mode == READ else "write after write"
        if mode == ATOMIC:
            hazard &= ~self._was_atomic[place]
        if mode != READ:
            for readers in (self._lowest_reader, self._highest_reader):
                if not hazard.any():
                    hazard, other = readers.unordered(place, now)
                    kind = "write after read"
        if not hazard.any() and mode == WRITE:
            ordered = np.sort(place)
            if (ordered[1:] == ordered[:-1]).any():
                _, index, counts = np.unique(place, return_inverse=True, return_counts=True)
                hazard, kind = counts[index] > 1, "write by several threads at once"
                other = _partner(lane, index)
        if hazard.any():
            one = int(np.argmax(hazard))
            partner = batch.thread(int(other[one]))
            text = f"Race in __shared__ memory ({kind})"
            more = f"the other is {partner}; no barrier lies between them"
            seen.fail(text, hazard, more)
        if mode == READ:
            self._lowest_reader.see(place, now, np.minimum)
            self._highest_reader.see(place, now, np.maximum)
        else:
            self._writer.see(place, now, None)
            self._was_atomic[place] = mode == ATOMIC


class _Access(NamedTuple):
    """An instruction that accesses shared memory, for reports."""

    batch: Batch
    lanes: Any
    number: int
    mode: int
    a: Any
    size: int
    is_copy: bool = False

    def fail(self, text: str, bad: Any, more: str) -> NoReturn:
        """Raise the Fault; `bad` is for each lane, or for each byte that one lane touches."""
        whole = len(self.batch.numbers(self.lanes)) != len(bad)
        guilty = True if whole else bad
        self.batch.fail(fault.LAUNCH_FAILED, text, self.number, self.lanes, guilty, self.a, self.size, more)


class _Now(NamedTuple):
    """The lanes of an access, warp and block of every lane, and the times of the accesses' blocks, warps and
    clusters.
    """

    lane: Any
    warps: Any
    blocks: Any
    block_time: Any
    warp_time: Any
    cluster_time: Any


class _Seen:
    """For each byte one lane that accessed it, and when: by the barriers of its block, and of its warp."""

    def __init__(self, size: int) -> None:
        self._lane = np.full(size, _NOBODY, np.int64)
        self._block_time = np.zeros(size, np.int32)
        self._warp_time = np.zeros(size, np.int32)
        self._cluster_time = np.zeros(size, np.int32)

    def unordered(self, place: Any, now: _Now) -> tuple[Any, Any]:
        """Which accesses no barrier lies before, since another lane's; and these lanes."""
        other = self._lane[place]
        same_warp = now.warps[np.maximum(other, 0)] == now.warps[now.lane]
        after_warp_barrier = same_warp & (self._warp_time[place] != now.warp_time)
        recent = ~self._is_old(place, now) & ~after_warp_barrier
        return recent & (other != _NOBODY) & (other != now.lane), other

    def _is_old(self, place: Any, now: _Now) -> Any:
        """Whether a barrier of the block, or of the cluster for lanes of another block, lies between."""
        same_block = now.blocks[np.maximum(self._lane[place], 0)] == now.blocks[now.lane]
        old_in_block = self._block_time[place] != now.block_time
        return np.where(same_block, old_in_block, self._cluster_time[place] != now.cluster_time)

    def see(self, place: Any, now: _Now, choose: Any) -> None:
        """Remember the last lane of each byte, or since its last barrier the one that `choose` takes."""
        if choose is None:
            self._lane[place] = now.lane
            chosen: Any = slice(None)
        else:
            old = self._is_old(place, now)
            self._lane[place[old]] = now.lane[old]
            choose.at(self._lane, place, now.lane)
            chosen = self._lane[place] == now.lane
        self._block_time[place[chosen]] = now.block_time[chosen]
        self._warp_time[place[chosen]] = now.warp_time[chosen]
        self._cluster_time[place[chosen]] = now.cluster_time[chosen]


def _partner(lane: Any, index: Any) -> Any:
    """For each lane another one that writes the same byte; `index` numbers the bytes."""
    last = np.zeros(int(index.max()) + 1, lane.dtype)
    first = np.zeros_like(last)
    last[index] = lane
    first[index[::-1]] = lane[::-1]
    return np.where(last[index] == lane, first[index], last[index])
