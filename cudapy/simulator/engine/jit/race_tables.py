"""What the code of a region is told of a batch's race detector, for `races`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import layout
from .layout import LANES, address_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..aliases import I64, U64, Lanes
    from ..memory import Snapshot
    from ..run.access_sites import Site
    from ..run.batch import Batch
    from ..run.race_detector import RaceDetector
    from ..run.shadow import Shadow
    from .layout import RegionMemory
    from .region import Region

# Of a shadow, 8 bytes each.
RECORDS = WRITES, FIRST_READS, LAST_READS = 0, 40, 80
START, SHIFT, WRITTEN, OF_BLOCKS = range(120, 152, 8)
SITES, ROWS, TOUCHED, BANDS = 8, 16, 24, 32
"""Of a record, behind its epochs."""
SHADOW = 256
"""Bytes of the description of a shadow."""
ENTRY = 16
"""Bytes of a row, and of a band: an epoch and a site."""

# Of a chunk: the epoch of its first lane, the time of its block's last barrier, the number of its block's
# first thread and one, the threads of a block, and when its warp last met and exchanged values.
OWN, TIME, BLOCK, COUNT, MET, EXCHANGED = range(0, 48, 8)
CHUNK = 64
_MOST_KEPT = 1 << 17
"""Chunks."""


class RaceTables:
    """Of any lanes, in chunks, or of the warps of whole blocks, each of which runs in a memory of a ring; for
    one batch after the other.

    are_warps: whether chunks are those.
    """

    _detector: RaceDetector

    def __init__(self, region: Region, ring: list[RegionMemory], are_warps: bool) -> None:
        self._region, self._ring, self._are_warps = region, ring, are_warps
        self._takes_shared = bool(region.uses & {"shared", "generic"})
        self._per_block = self._warps = 0
        self._known: object = None
        self._began = 0
        self._is_plain = True
        """Whether what the code knows of the order has been all since lanes began to run."""
        self._numbers: I64 = np.empty(0, np.int64)
        self._chunks: U64 = np.empty((0, CHUNK // 8), np.uint64)
        self._fresh: object = None
        """What the chunks depend on where nothing had ordered threads, and the code nothing to note there.
        The numbers of threads are those of `_first`.
        """
        self._first = 0
        """The number of the batch's first thread."""
        self._shared: U64 = np.zeros(SHADOW // 8, np.uint64)
        self._set(layout.SHARED_SHADOW, address_of(self._shared))
        self._snapshot = 0
        """The number of that whose allocations are described."""
        self._allocations: U64 = np.zeros((1, SHADOW // 8), np.uint64)
        self._sites: list[Site] = []
        """Those of the launch, as far as the code knows them."""
        self._numbers_of_sites: list[int] = []
        self._strong = np.empty(0, np.uint8)

    def enter(self, batch: Batch) -> None:
        """Lanes of a batch are to run."""
        assert batch.races is not None
        region, self._detector, self._known = self._region, batch.races, None
        if batch.threads.per_block != self._per_block:
            self._per_block, self._warps = batch.threads.per_block, -(-batch.threads.per_block // LANES)
        if self._takes_shared:
            self._shared_start = address_of(batch.shared.data)
        self._allocations[:] = 0
        sites = [self._detector.site(region.function.compiled, *rest) + 1 for _, *rest in region.sites]
        if sites != self._numbers_of_sites:
            self._numbers_of_sites = sites
            for (offset, *_), site in zip(region.sites, sites, strict=True):
                for memory in self._ring:
                    memory.bytes[offset : offset + 4].view(np.int32)[0] = site

    def leave(self) -> None:
        """They have run: keep nothing of the batch."""
        del self._detector
        if len(self._numbers) > _MOST_KEPT:
            self._numbers, self._chunks, self._fresh = self._numbers[:0], self._chunks[:0], None

    def begin(self, count: int, lanes: Lanes, snapshot: Snapshot | None) -> None:
        """So many lanes begin to run."""
        time, fresh = self._detector.time, None
        first = self._detector.first_thread
        if time == 1 and lanes is None:
            fresh = count, self._per_block
        if fresh is None or fresh != self._fresh or self._ring[0].get(layout.RACE_TIME) != time:
            step = self._per_block if self._are_warps else LANES
            self._numbers = np.arange(0, count, step) if lanes is None else lanes[::step]
            if self._are_warps:
                self._numbers = (self._numbers[:, None] + np.arange(0, self._per_block, LANES)).reshape(-1)
            self._chunks = self._detector.chunks(self._numbers)
            self._fresh = fresh
        elif first != self._first:
            chunks, more = self._chunks.view(np.int64), first - self._first
            chunks[:, OWN // 8] += more << 32
            chunks[:, BLOCK // 8] += more
        self._began, self._first = time, first
        if self._takes_shared:
            self._detector.refine_shared(self._region.least_shared)
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
        self._is_plain = detector.is_plain and (is_new or self._is_plain)
        self._set(layout.RACE_TIME, detector.time)
        self._set(layout.CHUNK_ORDERS, address_of(self._chunks) if self._is_plain else 0)
        if detector.sites != self._sites:
            self._sites = [*detector.sites]
            self._strong = detector.strong_sites()
            self._set(layout.STRONG, address_of(self._strong))
        if self._takes_shared:
            _describe(self._shared, detector.shared_shadow, self._shared_start, True)
        if snapshot is None:
            return
        if snapshot.number != self._snapshot:
            self._snapshot = snapshot.number
            self._allocations = np.zeros((len(snapshot.allocations), SHADOW // 8), np.uint64)
            self._set(layout.SHADOWS, address_of(self._allocations))
        addresses = np.fromiter(detector.shadows, np.uint64, len(detector.shadows))
        places = np.searchsorted(snapshot.starts, addresses).tolist()
        for (address, shadow), place in zip(detector.shadows.items(), places, strict=True):
            if place < len(snapshot.allocations) and snapshot.allocations[place].address == address:
                _describe(self._allocations[place], shadow, address, False)

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


def _describe(target: U64, shadow: Shadow, start: int, is_of_blocks: bool) -> None:
    """Where the parts of a shadow lie, of memory that starts at an address. is_of_blocks: no block accesses
    what another one does.
    """
    shift = shadow.granularity.bit_length() - 1
    found = *shadow.addresses(), start, shift, address_of(shadow.written), is_of_blocks
    target[: len(found)] = found
