"""Looks for what goes wrong only sometimes: races in shared memory, and reads of what nobody wrote.

For each byte of shared memory it remembers who wrote and who read it last, and after which barriers. Two
accesses of different threads, one of them a write, are a race if no barrier of their block (or of their warp,
for threads of one) lies between them. Barriers of a part of a block count as barriers of all of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import fault, settings

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
            # By byte: the lane, the time in its block, and the time in its warp.
            self._writer = np.full(size, _NOBODY, np.int32)
            self._reader = np.full(size, _NOBODY, np.int32)
            self._was_atomic = np.zeros(size, bool)
            self._write_time, self._write_warp_time = np.zeros(size, np.int32), np.zeros(size, np.int32)
            self._read_time, self._read_warp_time = np.zeros(size, np.int32), np.zeros(size, np.int32)
        self._block_time = np.ones(batch.block_count, np.int32)
        self._warp_time = np.ones(batch.warp_count, np.int32)

    def synchronized_blocks(self, blocks: Any) -> None:
        self._block_time[blocks] += 1

    def synchronized_warps(self, warps: Any) -> None:
        self._warp_time[warps] += 1

    def shared(
        self, batch: Batch, offset: Any, a: Any, size: int, lanes: Any, number: int, mode: int
    ) -> None:
        """An access of `size` bytes at `offset` of the batch's shared memory."""
        numbers = batch.numbers(lanes)
        start = np.broadcast_to(offset, numbers.shape)
        for step in range(size):
            place = start + step
            if self._written is not None:
                self._unwritten(batch, place, a, size, lanes, number, mode)
            if self._races:
                self._race(batch, place, numbers, a, size, lanes, number, mode)

    def _unwritten(
        self, batch: Batch, place: Any, a: Any, size: int, lanes: Any, number: int, mode: int
    ) -> None:
        written = self._written
        if mode == WRITE:
            written[place] = True
            return
        bad = ~written[place]
        if bad.any():
            text = "Read of __shared__ memory that nobody wrote"
            batch.fail(fault.LAUNCH_FAILED, text, number, lanes, bad, a, size, "of the block's shared memory")

    def _race(
        self, batch: Batch, place: Any, lane: Any, a: Any, size: int, lanes: Any, number: int, mode: int
    ) -> None:
        block_time, warp_time = self._block_time[batch.blocks[lane]], self._warp_time[batch.warps[lane]]
        warp = batch.warps[lane]
        writes = mode != READ

        def unordered(other: Any, time: Any, other_warp_time: Any) -> Any:
            there = other != _NOBODY
            same_warp = batch.warps[np.maximum(other, 0)] == warp
            recent = (time == block_time) & ~(same_warp & (other_warp_time != warp_time))
            return there & recent & (other != lane)

        hazard = unordered(self._writer[place], self._write_time[place], self._write_warp_time[place])
        if mode == ATOMIC:
            hazard &= ~self._was_atomic[place]
        other, kind = self._writer[place], "write" if not writes else "write after write"
        if writes and not hazard.any():
            hazard = unordered(self._reader[place], self._read_time[place], self._read_warp_time[place])
            other, kind = self._reader[place], "write after read"
        elif not writes:
            kind = "read after write"
        if not hazard.any() and mode == WRITE:
            ordered = np.sort(place)
            if (ordered[1:] == ordered[:-1]).any():
                first = np.zeros(len(place), bool)
                _, index, counts = np.unique(place, return_inverse=True, return_counts=True)
                first = counts[index] > 1
                hazard, kind = first, "write by several threads at once"
                other = self._partner(place, lane, index)
        if hazard.any():
            one = int(np.argmax(hazard))
            partner = batch.thread(int(other[one]))
            text = f"Race in __shared__ memory ({kind})"
            more = f"the other is {partner}; no barrier lies between them"
            batch.fail(fault.LAUNCH_FAILED, text, number, lanes, hazard, a, size, more)
        if writes:
            self._writer[place], self._was_atomic[place] = lane, mode == ATOMIC
            self._write_time[place], self._write_warp_time[place] = block_time, warp_time
        if mode == READ:
            self._reader[place] = lane
            self._read_time[place], self._read_warp_time[place] = block_time, warp_time

    def _partner(self, place: Any, lane: Any, index: Any) -> Any:
        """For each lane another one that writes the same byte."""
        last = np.zeros(int(index.max()) + 1, lane.dtype)
        first = np.zeros_like(last)
        last[index] = lane
        first[index[::-1]] = lane[::-1]
        return np.where(last[index] == lane, first[index], last[index])
