"""Bytes of shared memory that copies hold until somebody has waited for these: bulk copies, or `cp.async`."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..aliases import I32, I64, Bools

_NOBODY = -1


class Pending:
    """For each byte what a bulk copy of it is waited for by: a phase of a barrier, or a group of copies.

    A phase is a positive number; a group, which only reads, a negative one.
    """

    def __init__(self, size: int) -> None:
        self._holds = np.zeros(size, np.int64)
        self._reduces = np.zeros(size, bool)
        self._groups: dict[int, list[int]] = {}
        self._open: dict[int, int] = {}
        self._next = itertools.count(1)

    def conflicts(self, places: I64, reads: bool, reduces: bool) -> Bools:
        """Which bytes a copy holds, so that an access now is a race; reductions go well together."""
        holders = self._holds[places]
        if reduces:
            return (holders != 0) & ~((holders > 0) & self._reduces[places])
        return holders > 0 if reads else holders != 0

    def write(self, places: I64, phase: int, reduces: bool) -> None:
        """A copy writes bytes, or combines them; whoever finds the phase over may use them."""
        self._holds[places] = phase + 1
        self._reduces[places] = reduces

    def over(self, phases: I64) -> None:
        """Somebody found phases over."""
        self._holds[np.isin(self._holds, phases + 1)] = 0

    def read(self, lane: int, places: I64) -> None:
        """A copy of the lane's open group reads bytes."""
        group = self._open.setdefault(lane, next(self._next))
        self._holds[places] = -group

    def commit(self, lanes: list[int]) -> None:
        """The open groups of lanes are closed."""
        for lane in lanes:
            if lane in self._open:
                self._groups.setdefault(lane, []).append(self._open.pop(lane))
            else:
                self._groups.setdefault(lane, []).append(next(self._next))

    def wait(self, lanes: list[int], max_pending: int) -> None:
        """Lanes waited for all of their groups but the last ones."""
        for lane in lanes:
            groups = self._groups.get(lane, [])
            over = len(groups) - max_pending
            if over > 0:
                self._holds[np.isin(self._holds, [-group for group in groups[:over]])] = 0
                del groups[:over]


class AsyncCopies:
    """For each of `size` parts of memory the lane whose `cp.async` was there last, and which group of its."""

    def __init__(self, lanes: int, size: int) -> None:
        self._lane: I64 = np.full(size, _NOBODY, np.int64)
        self._group: I32 = np.zeros(size, np.int32)
        self._open: I32 = np.zeros(lanes, np.int32)
        """The number of a lane's open group."""
        self._over: I32 = np.zeros(lanes, np.int32)
        """The first of its groups that it has not waited for."""

    def repeat(self, times: int) -> None:
        """There are `times` as many parts."""
        self._lane, self._group = self._lane.repeat(times), self._group.repeat(times)

    def began(self, places: I64, lanes: I64) -> None:
        """Lanes copy to a part each."""
        self._lane[places], self._group[places] = lanes, self._open[lanes]

    def commit(self, lanes: I64) -> None:
        """The open groups of lanes are closed."""
        self._open[lanes] += 1

    def wait(self, lanes: I64, max_pending: int) -> None:
        """Lanes waited for all of their closed groups but the last ones."""
        self._over[lanes] = np.maximum(self._over[lanes], self._open[lanes] - max_pending)

    def pending(self, places: I64) -> Bools:
        """Which parts nobody has waited for."""
        lanes = self._lane[places]
        return (lanes != _NOBODY) & (self._group[places] >= self._over[lanes])
