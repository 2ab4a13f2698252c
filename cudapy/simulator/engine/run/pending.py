"""Bytes of shared memory that asynchronous copies hold, until somebody has waited for these."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..aliases import I64, Bools


class Pending:
    """For each byte what a copy that touches it is waited for by: a phase of a barrier, or a group of copies.

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
