"""Shadow memory: who accessed each part of some memory last, for the race detector.

Source: HiRace (Jacobson et al., 2024), for parts that are refined as soon as smaller accesses come.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..aliases import I64, U64

WIDEST = 16
_TIME_BITS = np.uint64(32)
_TIME = np.uint64(0xFFFFFFFF)


class Record:
    """For each part of memory a thread that accessed it, when, and the site of the access."""

    def __init__(self, size: int) -> None:
        self._epoch: U64 = np.zeros(
            size, np.uint64
        )  # a thread's number and one, and a time; the system's zeros
        self._site: np.ndarray[tuple[int], np.dtype[np.int32]] = np.zeros(size, np.int32)

    def repeat(self, times: int) -> None:
        """There are `times` as many parts, and what was seen of one was seen of all its parts."""
        self._epoch, self._site = self._epoch.repeat(times), self._site.repeat(times)

    def addresses(self) -> tuple[int, int]:
        """Where its epochs and its sites lie in this process."""
        return self._epoch.ctypes.data, self._site.ctypes.data

    def others(self, places: I64, threads: I64) -> I64:
        """The positions of places that another thread accessed last."""
        epoch = self._epoch[places]
        return np.flatnonzero((epoch != 0) & (epoch >> _TIME_BITS != (threads + 1).view(np.uint64)))

    def at(self, places: I64) -> tuple[I64, I64, I64]:
        """The threads, times and sites of places that have some."""
        epoch = self._epoch[places]
        threads = (epoch >> _TIME_BITS).view(np.int64) - 1
        return threads, (epoch & _TIME).view(np.int64), self._site[places].astype(np.int64)

    def set(self, places: I64, threads: I64, time: int, site: int) -> None:
        """The last of several accesses to a place stays."""
        self._epoch[places] = (threads + 1).view(np.uint64) << _TIME_BITS | np.uint64(time)
        self._site[places] = site


class Shadow:
    """The last write of each part of some memory, and two reads: one that nothing orders before those after
    it, and the last.
    """

    def __init__(self, size: int, granularity: int = WIDEST) -> None:
        self.granularity = granularity
        """Bytes of a part: all accesses so far touched whole parts."""
        count = -(-size // granularity)
        self.write, self.first_read, self.last_read = Record(count), Record(count), Record(count)

    def addresses(self) -> list[int]:
        """Where the epochs and sites of the write, the first and the last read lie in this process."""
        return [one for record in (self.write, self.first_read, self.last_read) for one in record.addresses()]

    def refine(self, size: int) -> None:
        """From now on there are accesses of `size` bytes, at multiples of it."""
        times = self.granularity // size
        if times > 1:
            self.granularity = size
            for record in (self.write, self.first_read, self.last_read):
                record.repeat(times)
