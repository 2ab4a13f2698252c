"""What bulk copies have written in global memory: it is there once all of their group was waited for, and not
only what it reads.

Source: PTX ISA, "cp.async.bulk.wait_group".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from ..aliases import I64
    from .shadow import Shadow

NEVER = 0xFFFFFFFF
"""The time of a write that is not finished: nothing orders it before what other threads do."""


class Store(NamedTuple):
    """Pieces of `size` bytes of some memory that a thread has a copy write, by the instruction of a site."""

    shadow: Shadow
    offsets: I64
    size: int
    thread: int
    site: int

    def places(self) -> I64:
        """Its parts in the shadow."""
        part = self.shadow.granularity
        return (self.offsets[:, None] + np.arange(0, self.size, part)).ravel() // part

    def at(self, time: int) -> None:
        """It was made at a time, so far as nothing was written there since."""
        places = self.places()
        thread, when, _ = self.shadow.write.at(places)
        own = places[(thread == self.thread) & (when == NEVER)]
        self.shadow.write.set(own, np.full(len(own), self.thread), time, self.site)


class UnfinishedStores:
    """Those of lanes, in groups."""

    def __init__(self) -> None:
        self._open: dict[int, list[Store]] = {}
        self._groups: dict[int, list[list[Store]]] = {}

    def began(self, lane: int, store: Store) -> None:
        """A copy of the lane's open group writes."""
        self._open.setdefault(lane, []).append(store)
        store.shadow.write.set(store.places(), np.array([store.thread]), NEVER, store.site)

    def commit(self, lanes: list[int]) -> None:
        """The open groups of lanes are closed."""
        if self._open or self._groups:
            for lane in lanes:
                self._groups.setdefault(lane, []).append(self._open.pop(lane, []))

    def wait(self, lanes: list[int], max_pending: int, time: int) -> None:
        """Lanes waited for all of their groups but the last ones."""
        for lane in lanes:
            groups = self._groups.get(lane, [])
            over = max(len(groups) - max_pending, 0)
            for store in (one for group in groups[:over] for one in group):
                store.at(time)
            del groups[:over]
