"""Shadow memory: who accessed each part of some memory last, for the race detector.

Source: HiRace (Jacobson et al., 2024), for parts that are refined as soon as smaller accesses come.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..aliases import I32, I64, U8, U64, Array

WIDEST = 16
ROW = 16
BAND = 16
"""Rows."""
OPEN = np.uint64(0xFFFFFFFFFFFFFFFF)
_NEXT_LANES = np.arange(ROW, dtype=np.uint64) << np.uint64(32)
_NEXT_ROWS = np.arange(BAND, dtype=np.uint64)
_MOST_KEPT = 8192
"""Rows."""
STRETCH = 256
"""Rows that are noted together."""
_MOST_BLANK, _MOST_ROWS = 8, 1 << 24
"""Shadows that wait for another launch, and rows of theirs that take memory."""
_TIME_BITS = np.uint64(32)
_TIME = np.uint64(0xFFFFFFFF)
_COUNT_BITS = np.uint64(32)
_SITE = np.uint64(0xFFFFFFFF)
_NEXT_ROW = np.uint64(ROW << 32)
_NONE = np.empty(0, np.int64)


class Record:
    """For each part of memory a thread that accessed it, when, and the site of the access, counted from 1: 0
    stands for nobody.

    There are rows of `ROW` parts. What half a warp did to one is kept once: the epoch of the
    first lane, and the site. Parts have their own once a row is `OPEN`, as one is accessed by itself.
    `BAND` rows are a band. What consecutive threads did to its first rows, at one time and by one site, is
    kept once: the epoch of the first lane, the site, and in the bits above that, how many rows. Rows have
    their own once a band is `OPEN`, and are 0 before that.
    `touched` has a 1 for each `STRETCH` of rows of which one may be something else than 0.
    """

    def __init__(self, size: int) -> None:
        self._begin(-(-size // (ROW * BAND)) * BAND)

    def _begin(self, rows: int) -> None:
        self._allocate(rows)
        self._rows: U64 = np.zeros((rows, 2), np.uint64)  # the system's zeros
        self._bands: U64 = np.zeros((rows // BAND, 2), np.uint64)
        self._touched: U8 = np.zeros(-(-rows // STRETCH), np.uint8)
        self.most = 0
        """Rows, or bands that were never open, that launches have touched."""

    def _allocate(self, rows: int) -> None:
        self._epoch: U64 = np.empty((rows, ROW), np.uint64)  # a thread's number and one, and a time; or 0
        self._site: I32 = np.empty((rows, ROW), np.int32)
        self._addresses: tuple[int, ...] = ()

    def repeat(self, times: int) -> None:
        """There are `times` as many parts, and what was seen of one was seen of all its parts."""
        near = _hull(self._touched)
        bands = np.flatnonzero(self._bands_of(near)[:, 0]) + near.start // BAND
        self._open_bands(bands)
        rows = np.flatnonzero(self._rows[near, 0]) + near.start
        self._open(rows * ROW)
        epoch, site = self._epoch[rows], self._site[rows]
        old, touched = self._rows, self._touched
        self._begin(len(old) * times)
        self._bands.reshape(-1, times, 2)[bands] = OPEN
        self._touched[:] = touched.repeat(times)[: len(self._touched)]
        self._rows.reshape(-1, times, 2)[near] = old[near, None]
        self._epoch.reshape(-1, times * ROW)[rows] = epoch.repeat(times, 1)
        self._site.reshape(-1, times * ROW)[rows] = site.repeat(times, 1)

    def _open(self, places: I64) -> None:
        """Have parts of their own in the rows of places."""
        rows = places // ROW
        closed = rows[self._rows[rows, 0] != OPEN]
        if len(closed):
            self._open_bands(np.unique(closed // BAND))
            epoch, site = self._rows[closed].T[..., None]
            self._epoch[closed] = np.where(epoch == 0, epoch, epoch + _NEXT_LANES)
            self._site[closed] = site
            self._rows[closed, 0] = OPEN
            self._touched[closed // STRETCH] = 1

    def _open_bands(self, bands: I64) -> None:
        """Have rows of their own in bands."""
        closed = bands[self._bands[bands, 0] != OPEN]
        epoch, found = self._bands[closed].T[..., None]
        is_used = found >> _COUNT_BITS > _NEXT_ROWS
        rows = self._rows.reshape(-1, BAND, 2)
        rows[closed, :, 0] = np.where(is_used, epoch + _NEXT_ROWS * _NEXT_ROW, 0)
        rows[closed, :, 1] = np.where(is_used, found & _SITE, 0)
        self._bands[closed] = OPEN
        self._touched[closed * BAND // STRETCH] = 1

    def _bands_of(self, rows: slice) -> U64:
        """Those of a `_hull`."""
        return self._bands[rows.start // BAND : rows.stop // BAND]

    def addresses(self) -> tuple[int, ...]:
        """Where its epochs, sites, rows, what was touched, and bands lie in this process. Rows have epochs
        and sites, 8 bytes each; bands have a count in the upper half of that.
        """
        if not self._addresses:
            arrays = self._epoch, self._site, self._rows, self._touched, self._bands
            self._addresses = tuple(one.__array_interface__["data"][0] for one in arrays)
        return self._addresses

    def others(self, places: I64, threads: I64) -> I64:
        """The positions of places that another thread accessed last."""
        self._open(places)
        epoch = self._epoch.reshape(-1)[places]
        return np.flatnonzero((epoch != 0) & (epoch >> _TIME_BITS != (threads + 1).view(np.uint64)))

    def at(self, places: I64) -> tuple[I64, I64, I64]:
        """The threads, times and sites of places that have some."""
        self._open(places)
        epoch = self._epoch.reshape(-1)[places]
        threads = (epoch >> _TIME_BITS).view(np.int64) - 1
        return threads, (epoch & _TIME).view(np.int64), self._site.reshape(-1)[places].astype(np.int64) - 1

    def runs(self, site_count: int) -> Runs:
        """Stretches of parts that one of so many sites has accessed."""
        near = _hull(self._touched)
        bands = self._bands_of(near)
        first, count = near.start * ROW, _rows_of_one_site(bands)
        if count:
            return Runs(bands[:1, 1].astype(np.int32), _NONE, self._site[:0], first, count * ROW)
        rows, parts = self._rows[near], ROW
        sites, site = rows[:, 1].astype(np.int32), self._site[near]
        (closed,) = (bands[:, 0] != OPEN).nonzero()
        if len(closed):
            found = bands[closed, 1, None]
            sites.reshape(-1, BAND)[closed] = np.where(found >> _COUNT_BITS > _NEXT_ROWS, found & _SITE, 0)
        (opened,) = (rows[:, 0] == OPEN).nonzero()
        if len(rows) > _MOST_KEPT and not len(opened):
            unused = int((sites[: -STRETCH - 1 : -1] != 0).argmax())
            whole = sites[: len(rows) - unused]
            if (whole == whole[0]).all():
                sites, site, parts = whole[:1], site[:1], len(whole) * ROW
        own: Array = site.take(opened, 0) if len(opened) < len(sites) else site
        return Runs(sites, opened, own.astype(np.uint8 if site_count < 256 else np.int32), first, parts)

    def clear(self) -> None:
        """Have nobody accessed anything."""
        near = _hull(self._touched)
        bands = self._bands_of(near)
        count = len(bands)
        if (bands[:, 0] == OPEN).any():
            count = near.stop - near.start
            if count > _MOST_KEPT:
                self._allocate(len(self._rows))  # parts of their own may take much more memory
            self._rows[near] = 0
        bands[:] = self._touched[:] = 0
        self.most = max(self.most, count)

    def set(self, places: I64, threads: I64, time: int, site: int) -> None:
        """The last of several accesses to a place stays."""
        self._open(places)
        self._epoch.reshape(-1)[places] = (threads + 1).view(np.uint64) << _TIME_BITS | np.uint64(time)
        self._site.reshape(-1)[places] = site + 1


class Runs:
    """Stretches of parts that one site has accessed. They are found when somebody asks for them, unless they
    are of so many parts that what they are found by is not to be kept. `first`: the number of the first part;
    `parts`: how many each of `sites` has accessed.
    """

    def __init__(self, sites: I32, opened: I64, own: Array, first: int, parts: int) -> None:
        sites[opened] = 0
        (closed,) = sites.nonzero()
        bounds = [(int(row) * parts, (int(row) + 1) * parts) for row in (*closed[:1], *closed[-1:])]
        touched = own != 0
        count = np.count_nonzero(touched)
        if count:
            found = touched.tobytes()
            both = found.find(1), found.rfind(1)
            places = [int(opened[place // ROW]) * ROW + place % ROW for place in both]
            bounds.append((places[0], places[1] + 1))
        self.exist = bool(bounds)
        """Whether anything was accessed."""
        self.start = first + min((start for start, _ in bounds), default=0)
        """Before the first stretch; `end` is behind the last."""
        self.end = first + max((end for _, end in bounds), default=0)
        self.is_dense = self.end - self.start == len(closed) * parts + count
        """Whether there is nothing between them."""
        self._sites, self._opened, self._own, self._first, self._parts = sites, opened, own, first, parts
        if len(sites) > _MOST_KEPT:
            _ = self.found
            self._sites, self._opened, self._own = sites[:0], opened[:0], own[:0]

    @cached_property
    def found(self) -> tuple[I64, I64, I64]:
        """Where they begin and end, in parts, and the sites."""
        sites, opened, own = self._sites, self._opened, self._own
        if 2 * len(opened) > len(sites):
            rows = sites.repeat(ROW).reshape(-1, ROW)
            rows[opened] = own
            parts = rows.reshape(-1)
            starts = _changes(parts)
            found = parts[starts]
        else:
            own = own.astype(np.int32)
            first, last = sites.copy(), sites.copy()
            first[opened], last[opened] = own[:, 0], own[:, -1]
            row, place = np.nonzero(own[:, 1:] != own[:, :-1])
            whole = _changes(first, last)
            starts = np.concatenate([whole * self._parts, opened[row] * ROW + place + 1])
            order = np.argsort(starts, kind="stable")
            starts, found = starts[order], np.concatenate([first[whole], own[row, place + 1]])[order]
        ends = np.append(starts[1:], len(sites) * self._parts)
        touched, before = np.flatnonzero(found), self._first
        return starts[touched] + before, ends[touched] + before, found[touched].astype(np.int64) - 1


def _changes(first: Array, last: Array | None = None) -> I64:
    """Where stretches of one number begin; `first` and `last` of each place, if these may differ."""
    before = first if last is None else last
    return np.concatenate([np.zeros(len(first[:1]), np.int64), np.flatnonzero(first[1:] != before[:-1]) + 1])


def _rows_of_one_site(bands: U64) -> int:
    """How many rows from the first on have been accessed, if one site has accessed all that were, and none is
    open; else 0.
    """
    found = bands[:, 1]
    used = int(np.count_nonzero(found))
    if not used or found[0] >> _COUNT_BITS > BAND:
        return 0
    last, whole = found[used - 1], (found[0] & _SITE) | np.uint64(BAND << 32)
    count = int(last >> _COUNT_BITS)
    is_one = count <= BAND and (last ^ whole) & _SITE == 0 and bool((found[: used - 1] == whole).all())
    return (used - 1) * BAND + count if is_one else 0


def _hull(touched: U8) -> slice:
    """The rows from the first that was touched to the last."""
    found = touched.tobytes()
    return slice(max(found.find(1), 0) * STRETCH, (found.rfind(1) + 1) * STRETCH)


class Shadow:
    """The last write of each part of some memory, and two reads: one that nothing orders before those after
    it, and the last; no last one means that it is the first one.
    """

    def __init__(self, size: int, granularity: int = WIDEST) -> None:
        self.granularity = granularity
        """Bytes of a part: all accesses so far touched whole parts."""
        self._size, count = size, -(-size // granularity)
        self.write, self.first_read, self.last_read = self._records = [Record(count) for _ in range(3)]
        self.written: I64 = np.zeros(1, np.int64)
        """The time of the last write; 0: there was none."""

    @classmethod
    def blank(cls, size: int, granularity: int) -> Shadow:
        """One of memory that nobody has accessed: that of another launch, if one waits."""
        for shadow in reversed([*_blank]):
            if (shadow._size, shadow.granularity) == (size, granularity):
                try:
                    _blank.remove(shadow)
                except ValueError:  # another thread has taken it
                    continue
                return shadow
        return cls(size, granularity)

    def leave(self) -> None:
        """Its launch is over: have it wait for another one, unless that takes much memory."""
        for record in self._records:
            record.clear()
        self.written[0] = 0
        _blank.append(self)
        del _blank[:-_MOST_BLANK]
        while sum(record.most for shadow in [*_blank] for record in shadow._records) > _MOST_ROWS:
            del _blank[:1]

    def addresses(self) -> list[int]:
        """Those of the write, the first and the last read."""
        return [one for record in self._records for one in record.addresses()]

    def refine(self, size: int) -> None:
        """From now on there are accesses of `size` bytes, at multiples of it."""
        times = self.granularity // size
        if times > 1:
            self.granularity = size
            for record in self._records:
                record.repeat(times)


_blank: list[Shadow] = []
"""Those that wait. Lists are safe for threads where each use of one is a single step."""
