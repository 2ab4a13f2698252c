"""Vector clocks, and which accesses of other threads happen before what a thread does now.

Time is a number that grows with each synchronization of a launch; an access has the time at which it was
made. A thread knows another one up to a time: the other's accesses before it happen before what it does now.
What is known is kept for whole blocks and warps while all of their threads meet, else for single threads.

Source: FastTrack (Flanagan and Freund, 2009), BARRACUDA (Eizenberg et al., 2017); PTX ISA, "Memory
Consistency Model".
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..aliases import I64, Bools
    from .threads import Threads

CTA, CLUSTER, GPU = 1, 2, 3
"""Scopes. That of the system counts as that of the GPU, which all threads of a launch share."""
SCOPES = {"cta": CTA, "cluster": CLUSTER, "gpu": GPU, "gl": GPU, "sys": GPU}
_MOST = 4096
"""Threads that a clock knows by themselves; more of them count as their blocks, which may hide a race."""
_BLOCK, _WARP, _THREAD = range(3)


class Clock:
    """The times up to which threads are known; never changed once it is made.

    times: by three times the number of a block, warp or thread in the grid, plus _BLOCK, _WARP or _THREAD.
    """

    def __init__(self, times: dict[int, int]) -> None:
        self.times = times
        self._sorted: tuple[I64, I64] | None = None

    def known(self, kind: int, numbers: I64) -> I64:
        """The times up to which blocks, warps or threads are known; 0 for strangers."""
        if self._sorted is None:
            keys = np.fromiter(self.times, np.int64, len(self.times))
            order = np.argsort(keys)
            self._sorted = keys[order], np.fromiter(self.times.values(), np.int64, len(keys))[order]
        keys, times = self._sorted
        wanted = 3 * numbers + kind
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[place] == wanted, times[place], 0)


class Clocks:
    """The clocks of a launch: its time, and those that its threads have, by number. Number 0 knows nobody."""

    def __init__(self, threads_of_block: int) -> None:
        self.time = 1
        self.proxied = 0
        """The number of a clock: all that came before a proxy fence."""
        self._threads_of_block = threads_of_block
        self._clocks: list[Clock | None] = [None]

    def tick(self) -> int:
        """A new time, after all accesses so far."""
        self.time += 1
        return self.time

    def get(self, number: int) -> Clock | None:
        return self._clocks[number]

    def add(self, times: dict[int, int]) -> int:
        """The number of a new clock."""
        if not times:
            return 0
        if len(times) > _MOST:
            times = self._coarse(times)
        self._clocks.append(Clock(times))
        return len(self._clocks) - 1

    def join(self, numbers: Iterable[int]) -> int:
        """The number of a clock that knows what any of these knows."""
        distinct = [number for number in dict.fromkeys(numbers) if number]
        if len(distinct) < 2:
            return distinct[0] if distinct else 0
        times: dict[int, int] = {}
        for number in distinct:
            self.merge(times, number)
        for number in distinct:
            clock = self._clocks[number]
            if clock is not None and clock.times == times:
                return number
        return self.add(times)

    def merge(self, times: dict[int, int], number: int) -> None:
        """Add what a clock knows."""
        clock = self._clocks[number]
        if clock is not None:
            for key, time in clock.times.items():
                if times.get(key, 0) < time:
                    times[key] = time

    def _coarse(self, times: dict[int, int]) -> dict[int, int]:
        coarse: dict[int, int] = {}
        for key, time in times.items():
            number, kind = divmod(key, 3)
            if kind == _THREAD:
                key = 3 * (number // self._threads_of_block) + _BLOCK
            if coarse.get(key, 0) < time:
                coarse[key] = time
        return coarse


class _Knowledge:
    """What each lane of a batch knows: times of its block and warp, its own, and the number of a clock."""

    def __init__(self, count: int) -> None:
        self.own: I64 = np.zeros(count, np.int64)
        self.block: I64 = np.zeros(count, np.int64)
        self.warp: I64 = np.zeros(count, np.int64)
        self.clock: I64 = np.zeros(count, np.int64)


class HappensBefore:
    """The order of a batch's threads; `first_block` is the position of its first block in the launch."""

    def __init__(self, threads: Threads, clocks: Clocks, first_block: int) -> None:
        self._threads, self._clocks = threads, clocks
        self._first_block = first_block
        self._first_thread = first_block * threads.per_block
        self._warps_of_block = threads.warp_count // threads.block_count
        self._first_warp = first_block * self._warps_of_block
        self._block_time: I64 = np.zeros(threads.block_count, np.int64)
        self._warp_time: I64 = np.zeros(threads.warp_count, np.int64)
        self._cluster_time: I64 = np.zeros(threads.block_count // threads.cluster_size, np.int64)
        self._lane_time: I64 | None = None  # for each lane those of its warp, once parts of warps meet
        self._unfenced: dict[int, I64] = {}  # by its scope, clocks that lanes know once they make a fence
        self._fenced: dict[int, _Knowledge] = {}  # what lanes knew at their last fence, by its scope
        self._has_clocks = False
        self._arrived: dict[tuple[int, int], list[int]] = {}  # clocks of bar.arrive, by block and barrier

    @cached_property
    def clock(self) -> I64:
        """The number of each lane's clock: what it knows beyond its block's and warp's times."""
        return np.zeros(self._threads.count, np.int64)

    @cached_property
    def _exchange_time(self) -> I64:
        """When each lane had a value of another one."""
        return np.zeros(self._threads.count, np.int64)

    @property
    def time(self) -> int:
        return self._clocks.time

    def thread(self, lanes: I64) -> I64:
        """The numbers of lanes' threads in the launch."""
        return lanes + self._first_thread

    @property
    def is_plain(self) -> bool:
        """Whether nothing but barriers of whole blocks and warps has ordered threads of the batch so far."""
        others = self._has_clocks or self._fenced or self._lane_time is not None or self._arrived
        return not others and self._threads.cluster_size == 1

    def epochs(self, lanes: I64) -> tuple[I64, I64, I64, I64]:
        """Of lanes: the numbers of their threads, the time before which all accesses of their blocks are
        known, the numbers of their blocks' first threads, and the time for their warps.
        """
        blocks, within = np.divmod(lanes, self._threads.per_block)
        first = (blocks + self._first_block) * self._threads.per_block
        warp_time = self._warp_time[blocks * self._warps_of_block + within // 32]
        return lanes + self._first_thread, self._block_time[blocks], first, warp_time

    def met_meanwhile(self, firsts: I64, times: I64, met: I64, exchanged: I64, now: int) -> None:
        """As `RaceDetector.met_meanwhile`."""
        blocks, within = np.divmod(firsts, self._threads.per_block)
        self._block_time[blocks] = times
        self._warp_time[blocks * self._warps_of_block + within // 32] = met
        some = exchanged > 0  # of whole warps
        if some.any():
            lanes = firsts[some, None] + np.arange(32)
            self._exchange_time[lanes] = np.maximum(self._exchange_time[lanes], exchanged[some, None])
        self._clocks.time = max(self._clocks.time, now)

    # Who happens before.

    def ordered(self, lane: I64, other: I64, time: I64, are_reads: bool = False) -> Bools:
        """Whether accesses of other threads, at times, happen before what lanes do now."""
        threads, of_block = self._threads, self._threads.per_block
        block = threads.blocks[lane]
        other_block = other // of_block - self._first_block
        is_near = other_block == block
        result: Bools = (other == lane + self._first_thread) | (is_near & (self._block_time[block] > time))
        if threads.cluster_size > 1:
            same = (other_block >= 0) & (other_block // threads.cluster_size == block // threads.cluster_size)
            result |= same & (self._cluster_time[block // threads.cluster_size] > time)
        rest = np.flatnonzero(~result)
        if are_reads and len(rest):
            result[rest] = self._exchanged(lane[rest], other[rest], time[rest])
            rest = rest[~result[rest]]
        if len(rest):
            result[rest] = self._ordered_by_less(lane[rest], other[rest], time[rest], is_near[rest])
        return result

    def _exchanged(self, lane: I64, other: I64, time: I64) -> Bools:
        """Whether lanes have exchanged values with others of their warps since they read."""
        other_lane = np.maximum(other - self._first_thread, 0)
        same_warp = (other >= self._first_thread) & (
            self._threads.warps[other_lane] == self._threads.warps[lane]
        )
        since = np.minimum(self._exchange_time[lane], self._exchange_time[other_lane])
        result: Bools = same_warp & (since > time)
        return result

    def _ordered_by_less(self, lane: I64, other: I64, time: I64, is_near: Bools) -> Bools:
        """As `ordered`, by what is not a barrier of the whole block."""
        threads = self._threads
        other_block = other // threads.per_block
        within = other % threads.per_block
        other_warp = other_block * self._warps_of_block + within // 32
        warp = threads.warps[lane]
        same_warp = other_warp == warp + self._first_warp
        result: Bools = same_warp & (self._warp_time[warp] > time)
        if self._lane_time is not None:
            result |= same_warp & (self._lane_time[lane, within % 32] > time)
        if self._has_clocks:
            numbers = self.clock[lane]
            for number in np.unique(numbers[~result]).tolist():
                chosen = np.flatnonzero((numbers == number) & ~result)
                result[chosen] = self._is_known(number, other[chosen], time[chosen])
        return result

    def _is_known(self, number: int, other: I64, time: I64) -> Bools:
        """Whether a clock knows what other threads did at times."""
        clock = self._clocks.get(number)
        if clock is None:
            return np.zeros(len(other), bool)
        block, within = np.divmod(other, self._threads.per_block)
        known = clock.known(_BLOCK, block)
        known = np.maximum(known, clock.known(_WARP, block * self._warps_of_block + within // 32))
        result: Bools = np.maximum(known, clock.known(_THREAD, other)) > time
        return result

    # Barriers.

    def meet_all(self, blocks: I64) -> None:
        """All threads of blocks meet."""
        self._block_time[blocks] = self._clocks.tick()
        if self._has_clocks or self._fenced:
            for block in np.asarray(blocks).tolist():
                first = block * self._threads.per_block
                self._share(np.arange(first, first + self._threads.per_block), whole=block)

    def arrive(self, barrier: int, lanes: I64) -> None:
        """bar.arrive: lanes do not wait; what they have done is known to those who do."""
        self._clocks.tick()
        for block in np.unique(self._threads.blocks[lanes]).tolist():
            chosen = lanes[self._threads.blocks[lanes] == block]
            self._arrived.setdefault((block, barrier), []).append(self._snapshot(chosen))

    def meet(self, barrier: int, lanes: I64, live: I64) -> None:
        """Lanes that waited at a barrier of their blocks go on; `live` threads of each block run."""
        blocks = self._threads.blocks[lanes]
        counts = np.bincount(blocks, minlength=len(live))
        whole = []
        for block in np.flatnonzero(counts).tolist():
            arrived = self._arrived.pop((block, barrier), [])
            if counts[block] == live[block] and not arrived:
                whole.append(block)
                continue
            self._clocks.tick()
            chosen = lanes[blocks == block]
            self._know(chosen, self._clocks.join([self._snapshot(chosen), *arrived]))
            self._share(chosen)
        if whole:
            self.meet_all(np.array(whole))

    def meet_clusters(self, clusters: I64) -> None:
        """All threads of clusters meet."""
        size = self._threads.cluster_size
        blocks = (clusters[:, None] * size + np.arange(size)).reshape(-1)
        self.meet_all(blocks)
        self._cluster_time[clusters] = self._clocks.tick()
        if self._has_clocks:
            for cluster in clusters.tolist():
                first = cluster * size * self._threads.per_block
                lanes = np.arange(first, first + size * self._threads.per_block)
                self._know(lanes, self._clocks.join(np.unique(self.clock[lanes]).tolist()))

    def meet_warps(self, lanes: I64, mask: I64, alive: I64) -> None:
        """bar.warp.sync: lanes meet those of their warp's mask; `alive` are the lanes that run, as a mask."""
        warps = self._threads.warps[lanes]
        now = self._clocks.tick()
        is_whole = mask & alive == alive
        self._warp_time[warps[is_whole]] = now
        if not is_whole.all():
            self._meet_parts(lanes[~is_whole], mask[~is_whole], now)
        if self._has_clocks or self._fenced:
            key = warps << 32 | mask
            for one in np.unique(key).tolist():
                self._share(lanes[key == one])

    def exchange(self, lanes: I64) -> None:
        """Lanes of the same warps exchange values: what they have read comes before what any of them writes
        later, and they tell each other what they have acquired from other warps. NVIDIA's cooperative groups
        rely on both. Writes are not ordered.
        """
        self._exchange_time[lanes] = self._clocks.tick()
        if self._has_clocks:
            warps = self._threads.warps[lanes]
            for one in np.unique(warps[self.clock[lanes] > 0]).tolist():
                chosen = lanes[warps == one]
                numbers = np.unique(self.clock[chosen]).tolist()
                if len(numbers) > 1:
                    self._know(chosen, self._clocks.join(numbers))

    def _meet_parts(self, lanes: I64, mask: I64, now: int) -> None:
        if self._lane_time is None:
            self._lane_time = np.zeros((self._threads.count, 32), np.int64)
        _, group = np.unique(self._threads.warps[lanes] << 32 | mask, return_inverse=True)
        known = np.zeros((int(group.max()) + 1, 32), np.int64)
        np.maximum.at(known, group, self._lane_time[lanes])
        known[group, lanes % self._threads.per_block % 32] = now
        self._lane_time[lanes] = known[group]

    def _share(self, lanes: I64, whole: int | None = None) -> None:
        """Lanes that met know each other's clocks, and what each has made a fence for."""
        if self._has_clocks:
            numbers = np.unique(self.clock[lanes]).tolist()
            if len(numbers) > 1:
                self._know(lanes, self._clocks.join(numbers))
        for fenced in self._fenced.values():
            least = int(fenced.own[lanes].min())
            if whole is not None:
                fenced.block[lanes] = max(int(fenced.block[lanes].max()), least)
            else:
                fenced.block[lanes] = fenced.block[lanes].max()
                fenced.warp[lanes] = np.maximum(fenced.warp[lanes], least)
            numbers = np.unique(fenced.clock[lanes]).tolist()
            if len(numbers) > 1:
                fenced.clock[lanes] = self._clocks.join(numbers)

    def _know(self, lanes: I64, number: int) -> None:
        self.clock[lanes] = number
        self._has_clocks = self._has_clocks or bool(number)

    def _snapshot(self, lanes: I64) -> int:
        """The number of a clock with all that any of the lanes knows, their own accesses so far among it."""
        threads, now = self._threads, self._clocks.time
        times: dict[int, int] = {}
        for number in np.unique(self.clock[lanes]).tolist():
            self._clocks.merge(times, number)
        for block in np.unique(threads.blocks[lanes]).tolist():
            _raise(times, 3 * (block + self._first_block) + _BLOCK, int(self._block_time[block]))
            if threads.cluster_size > 1:
                first = block - block % threads.cluster_size
                time = int(self._cluster_time[block // threads.cluster_size])
                for other in range(first, first + threads.cluster_size):
                    _raise(times, 3 * (other + self._first_block) + _BLOCK, time)
        warps = threads.warps[lanes]
        for warp, count in zip(*(one.tolist() for one in np.unique(warps, return_counts=True)), strict=True):
            key = 3 * (warp + self._first_warp) + _WARP
            _raise(times, key, now if count == 32 else int(self._warp_time[warp]))
            if count < 32:
                for lane in lanes[warps == warp].tolist():
                    _raise(times, 3 * (lane + self._first_thread) + _THREAD, now)
        if self._lane_time is not None:
            for lane in lanes.tolist():
                first = lane + self._first_thread - lane % threads.per_block % 32
                for place in np.flatnonzero(self._lane_time[lane]).tolist():
                    _raise(times, 3 * (first + place) + _THREAD, int(self._lane_time[lane, place]))
        return self._clocks.add(times)

    # Fences, and what a thread's strong accesses pass on.

    def fence(self, scope: int, lanes: I64) -> None:
        """A fence: what strong reads found is known, and strong writes from now on pass on what is known."""
        now = self._clocks.tick()
        for unfenced in (one for level, one in self._unfenced.items() if level <= scope):
            for lane in lanes[unfenced[lanes] > 0].tolist():
                self.acquire(lane, int(unfenced[lane]))
            unfenced[lanes] = 0
        for level in range(CTA, scope + 1):
            fenced = self._fenced.get(level)
            if fenced is None:
                fenced = self._fenced[level] = _Knowledge(self._threads.count)
            fenced.own[lanes] = now
            fenced.block[lanes] = self._block_time[self._threads.blocks[lanes]]
            fenced.warp[lanes] = self._warp_time[self._threads.warps[lanes]]
            fenced.clock[lanes] = self.clock[lanes]
            if self._lane_time is not None or self._threads.cluster_size > 1:
                for lane in lanes.tolist():
                    fenced.clock[lane] = self._snapshot(np.array([lane]))

    def fence_proxies(self, lanes: I64) -> None:
        """A proxy fence: asynchronous copies may read what lanes have written, or know of."""
        clocks = self._clocks
        clocks.tick()
        clocks.proxied = clocks.join([clocks.proxied, self._snapshot(lanes)])

    def are_proxied(self, thread: I64, time: I64) -> Bools:
        """Whether a proxy fence came after what threads did at times, whoever made it."""
        return self._is_known(self._clocks.proxied, thread, time)

    @property
    def has_fences(self) -> bool:
        return bool(self._fenced)

    def release(self, lane: int) -> int:
        """The clock that a release of a lane passes on: all that it has done and knows."""
        self._clocks.tick()
        return self._snapshot(np.array([lane]))

    def released(self, lane: int, scope: int) -> int:
        """The clock that a relaxed write of a lane passes on: what its last fence of a scope covers."""
        fenced = self._fenced.get(scope)
        if fenced is None:
            return 0
        times: dict[int, int] = {}
        self._clocks.merge(times, int(fenced.clock[lane]))
        block, warp = int(self._threads.blocks[lane]), int(self._threads.warps[lane])
        _raise(times, 3 * (block + self._first_block) + _BLOCK, int(fenced.block[lane]))
        _raise(times, 3 * (warp + self._first_warp) + _WARP, int(fenced.warp[lane]))
        _raise(times, 3 * (lane + self._first_thread) + _THREAD, int(fenced.own[lane]))
        return self._clocks.add(times)

    def acquire(self, lane: int, number: int) -> None:
        """A lane has read what came with a clock, which it knows now."""
        self._know(np.array([lane]), self._clocks.join([int(self.clock[lane]), number]))

    def acquire_all(self, lanes: I64, number: int) -> None:
        """As `acquire`, of several lanes, which do not learn of each other."""
        for known in np.unique(self.clock[lanes]).tolist():
            self._know(lanes[self.clock[lanes] == known], self._clocks.join([known, number]))

    def acquire_by_fence(self, lane: int, number: int, scope: int) -> None:
        """As `acquire`, once the lane has made a fence of such a scope, or of a wider one."""
        unfenced = self._unfenced.setdefault(scope, np.zeros(self._threads.count, np.int64))
        unfenced[lane] = self._clocks.join([int(unfenced[lane]), number])

    def would_know(self, lane: int, other: int, time: int) -> bool:
        """Whether a fence of the lane would order what another thread did at a time before it."""
        before = self.clock[lane]
        self.clock[lane] = self._clocks.join([int(one[lane]) for one in self._unfenced.values()])
        had, self._has_clocks = self._has_clocks, True
        one = np.array([lane])
        result = bool(self.ordered(one, np.array([other]), np.array([time]))[0])
        self.clock[lane], self._has_clocks = before, had
        return result

    def are_of_one_warp(self, lane: int, thread: int) -> bool:
        """Whether a lane and a thread of the launch are of one warp."""
        other = thread - self._first_thread
        return other >= 0 and bool(self._threads.warps[lane] == self._threads.warps[other])

    def block_of(self, lane: int) -> int:
        """The position in the launch of a lane's block."""
        return int(self._threads.blocks[lane]) + self._first_block


def _raise(times: dict[int, int], key: int, time: int) -> None:
    if times.get(key, 0) < time:
        times[key] = time
