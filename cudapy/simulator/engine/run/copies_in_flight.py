"""Asynchronous copies that nobody has waited for: what accesses to their shared memory are races."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..access import ATOMIC, READ
from ..classes import COPY
from .pending import AsyncCopies, Pending
from .unfinished_stores import UnfinishedStores

if TYPE_CHECKING:
    from ..aliases import I64
    from .race_report import RaceReport
    from .seen_access import SeenAccess
    from .shadow import Shadow
    from .threads import Threads
    from .unfinished_stores import Store


class CopiesInFlight:
    """Those of a batch, with `size` bytes of shared memory in the parts of a shadow."""

    def __init__(self, threads: Threads, report: RaceReport, shadow: Shadow, size: int) -> None:
        self._threads, self._report = threads, report
        self._shadow, self._size = shadow, size
        self._bulk: Pending | None = None  # once one was made
        self._stores = UnfinishedStores()
        self._products: Pending | None = None  # once wgmma has read shared memory
        self._per_thread: AsyncCopies | None = None  # once cp.async was

    @property
    def exist(self) -> bool:
        """Whether there was one so far."""
        return any(one is not None for one in (self._bulk, self._per_thread, self._products))

    def refine(self, part: int) -> None:
        """From now on there are accesses of `part` bytes to shared memory, at multiples of it."""
        times = self._shadow.granularity // part
        if times > 1:
            self._shadow.refine(part)
            if self._per_thread is not None:
                self._per_thread.repeat(times)

    def look(self, seen: SeenAccess, places: I64) -> None:
        """Report accesses to what copies have not finished."""
        if self._bulk is not None:
            reduces = seen.access is None and seen.mode == ATOMIC
            conflicts = self._bulk.conflicts(places, seen.mode == READ, reduces)
            if conflicts.any():
                text = "Race in __shared__ memory (with an asynchronous copy)"
                self._report.find(COPY, seen, text, conflicts, "nobody has waited for the copy")
        if self._products is not None:
            conflicts = self._products.conflicts(places, seen.mode == READ, False)
            if conflicts.any():
                text = "Race in __shared__ memory (with wgmma)"
                more = "nobody has waited for the product that reads it (wgmma.wait_group)"
                self._report.find(COPY, seen, text, conflicts, more)
        if self._per_thread is not None:
            pending = self._per_thread.pending(places)
            if pending.any():
                text = "Race in __shared__ memory (with cp.async)"
                more = "the thread that copies has not waited (cp.async.wait_group, __pipeline_wait_prior)"
                self._report.find(COPY, seen, text, pending, more)

    # cp.async

    def began(self, offset: I64, size: int, lanes: I64) -> None:
        """Lanes begin to copy `size` bytes to an offset of the shared memory of the batch."""
        part = self._shadow.granularity
        if self._per_thread is None:
            self._per_thread = AsyncCopies(self._threads.count, self._size // part)
        start = np.broadcast_to(offset, lanes.shape) // part
        for step in range(size // part):
            self._per_thread.began(start + step, lanes)

    def commit(self, lanes: I64) -> None:
        """cp.async.commit_group"""
        if self._per_thread is not None:
            self._per_thread.commit(lanes)

    def wait(self, lanes: I64, max_pending: int) -> None:
        """cp.async.wait_group"""
        if self._per_thread is not None:
            self._per_thread.wait(lanes, max_pending)

    # Bulk and tensor copies

    def reads(self, lane: int, places: I64) -> None:
        """A copy of the lane's group reads bytes, until the group was waited for."""
        self._of_bytes().read(lane, places)

    def writes(self, places: I64, phase: int, reduces: bool) -> None:
        """A copy writes bytes, or combines them, until somebody finds the phase of its mbarrier over."""
        self._of_bytes().write(places, phase, reduces)

    def over(self, phases: I64) -> None:
        """Somebody found phases of mbarriers over."""
        if self._bulk is not None:
            self._bulk.over(phases)

    def stores(self, lane: int, store: Store) -> None:
        """A copy of the lane's group writes global memory, until all of the group was waited for."""
        self._stores.began(lane, store)

    def commit_bulk(self, lanes: list[int]) -> None:
        """cp.async.bulk.commit_group"""
        if self._bulk is not None:
            self._bulk.commit(lanes)
            self._stores.commit(lanes)

    def wait_bulk(self, lanes: list[int], max_pending: int, finished_at: int | None) -> None:
        """cp.async.bulk.wait_group; `finished_at`: the time, or None with .read."""
        if self._bulk is not None:
            self._bulk.wait(lanes, max_pending)
            if finished_at is not None:
                self._stores.wait(lanes, max_pending, finished_at)

    def _of_bytes(self) -> Pending:
        if self._bulk is None:
            self.refine(1)
            self._bulk = Pending(self._size)
        return self._bulk

    # wgmma

    def multiplies(self, lane: int, places: I64) -> None:
        """A product of the lane's group reads bytes, until the group was waited for."""
        if self._products is None:
            self._products = Pending(self._size)
        self._products.read(lane, places)

    def commit_products(self, lanes: list[int]) -> None:
        """wgmma.commit_group"""
        if self._products is not None:
            self._products.commit(lanes)

    def wait_products(self, lanes: list[int], max_pending: int) -> None:
        """wgmma.wait_group"""
        if self._products is not None:
            self._products.wait(lanes, max_pending)
