"""What the code of a region is told of a batch's race detector, for `races`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import layout
from .layout import LANES, address_of
from .races import CHUNK, EXCHANGED, MET, SHADOW, TIME

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..aliases import I64, U64, Lanes
    from ..memory import Snapshot
    from ..run.batch import Batch
    from ..run.shadow import Shadow
    from .layout import RegionMemory
    from .region import Region


class RaceTables:
    """Of any lanes, in chunks, or of the warps of whole blocks, each of which runs in a memory of a ring.

    are_warps: whether chunks are those.
    """

    def __init__(self, region: Region, batch: Batch, ring: list[RegionMemory], are_warps: bool) -> None:
        assert batch.races is not None
        self._region, self._detector, self._ring = region, batch.races, ring
        self._per_block = batch.threads.per_block
        self._warps = -(-self._per_block // LANES)
        self._snapshot: Snapshot | None = None
        self._known: object = None
        self._numbers: I64 = np.empty(0, np.int64)
        self._are_warps = are_warps
        self._began = 0
        self._is_plain = True
        """Whether what the code knows of the order has been all since lanes began to run."""
        self._chunks: U64 = np.empty((0, CHUNK // 8), np.uint64)
        self._shared: U64 = np.zeros(SHADOW // 8, np.uint64)
        self._allocations: U64 = np.zeros((1, SHADOW // 8), np.uint64)
        self._strong = np.empty(0, np.uint8)
        self._shared_start = address_of(batch.shared.data)
        for offset, number, mode in region.sites:
            site = self._detector.site(region.function.compiled, number, mode) + 1
            for memory in ring:
                memory.bytes[offset : offset + 4].view(np.int32)[0] = site

    def begin(self, count: int, lanes: Lanes, snapshot: Snapshot | None) -> None:
        """So many lanes begin to run."""
        step = self._per_block if self._are_warps else LANES
        self._numbers = np.arange(0, count, step) if lanes is None else lanes[::step]
        if self._are_warps:
            self._numbers = (self._numbers[:, None] + np.arange(0, self._per_block, LANES)).reshape(-1)
        self._began = self._detector.time
        self._detector.refine_shared(self._region.least_shared)
        self._set(layout.SHARED_SHADOW, address_of(self._shared))
        self.update(snapshot, is_new=True)

    def follow(self, chunk: int) -> None:
        """Python is to make an access for a chunk: tell the detector what ordered its block, or its warp."""
        together = self._warps if self._are_warps else 1
        self._tell(np.arange(together) + chunk // together * together)

    def end_blocks(self, chunks: Iterable[int]) -> None:
        """Whole blocks have run, but for those of chunks, which go on elsewhere."""
        if self._ring[0].get(layout.RACE_TIME) == self._began:
            return  # nothing has ordered threads
        blocks = np.unique(np.fromiter(chunks, np.int64) // self._warps)[:, None] * self._warps
        times = self._tell((blocks + np.arange(self._warps)).reshape(-1))[:: self._warps]
        firsts = self._numbers[blocks[times > self._began]]
        if len(firsts):
            self._detector.met((firsts + np.arange(self._per_block)).reshape(-1))

    def end_lanes(self) -> None:
        """Lanes have left the region."""
        if self._ring[0].get(layout.RACE_TIME) > self._began:
            self._tell(np.arange(len(self._numbers)))

    def update(self, snapshot: Snapshot | None, is_new: bool = False) -> None:
        """Python has made an access meanwhile."""
        detector = self._detector
        known = detector.state, snapshot
        if known == self._known and not is_new:
            return
        self._known = known
        if is_new:
            self._chunks = detector.chunks(self._numbers)
        self._is_plain = detector.is_plain and (is_new or self._is_plain)
        self._set(layout.RACE_TIME, detector.time)
        self._set(layout.CHUNK_ORDERS, address_of(self._chunks) if self._is_plain else 0)
        self._strong = detector.strong_sites()
        self._set(layout.STRONG, address_of(self._strong))
        self._shared[:] = _described(detector.shared_shadow, self._shared_start, True)
        if snapshot is None:
            return
        if snapshot is not self._snapshot:
            self._snapshot = snapshot
            self._allocations = np.zeros((len(snapshot.allocations), SHADOW // 8), np.uint64)
            self._set(layout.SHADOWS, address_of(self._allocations))
        addresses = np.fromiter(detector.shadows, np.uint64, len(detector.shadows))
        places = np.searchsorted(snapshot.starts, addresses).tolist()
        for (address, shadow), place in zip(detector.shadows.items(), places, strict=True):
            if place < len(snapshot.allocations) and snapshot.allocations[place].address == address:
                self._allocations[place] = _described(shadow, address, False)

    # Inside.

    def _set(self, field: int, value: int) -> None:
        for memory in self._ring:
            memory.set(field, value)

    def _tell(self, which: I64) -> I64:
        """Tell the detector about chunks that are warps. Returns the times of their blocks' last barriers."""
        chunks, memory = self._chunks[which].view(np.int64), self._ring[0]
        times: I64 = chunks[:, TIME // 8]
        if memory.get(layout.ALIGNED):
            of_warps = chunks[:, MET // 8], chunks[:, EXCHANGED // 8]
            now = memory.get(layout.RACE_TIME)
            self._detector.met_meanwhile(self._numbers[which], times, *of_warps, now)
        return times


def _described(shadow: Shadow, start: int, is_of_blocks: bool) -> list[int]:
    """Where the parts of a shadow lie, of memory that starts at an address. is_of_blocks: no block accesses
    what another one does.
    """
    shift = shadow.granularity.bit_length() - 1
    return [*shadow.addresses(), start, shift, address_of(shadow.written), is_of_blocks]
