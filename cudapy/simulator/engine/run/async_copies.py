"""Bytes of shared memory that `cp.async` of a thread has begun to copy, and that it has not waited for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..aliases import I32, I64, Bools

_NOBODY = -1


class AsyncCopies:
    """For each of `size` parts of memory the lane that copied there last, and in which of its groups."""

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
