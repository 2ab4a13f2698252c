"""A region, run for whole blocks of a batch, each to its end or until NumPy has to go on with it.

Nothing is kept for each thread: what threads differ in is their place in the block, and what the block has.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..ptx.types import TYPES
from ..run.special import ByBlock, ByThread
from . import layout
from .layout import LANES
from .library import routines
from .run import Copy, Run, table_of
from .workers import RingWorker, WarpWorker, split

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ..aliases import I64, Array, Lanes
    from ..ptx.types import Type
    from ..run.batch import Batch
    from ..run.frame import Frame
    from .region import Region
    from .workers import Chunks

_MANY_STUCK = 256
"""Chunks that NumPy goes on with, after which others do not begin so."""


class _Plan(NamedTuple):
    """How blocks run from one of their code on."""

    entry: int
    is_lasting: bool
    """Whether it is the same when all blocks enter there again."""
    keeps: object
    """What has to stay while they run."""


class BlockRun(Run):
    """Of whole blocks, whose chunks are warps."""

    are_blocks = True

    def __init__(self, region: Region, memories: int) -> None:
        self._has_ring = region.has_barriers
        self.worker = RingWorker if self._has_ring else WarpWorker
        super().__init__(region, memories)
        self._per_block = self._warps = 0
        """The threads of a block, and its warps; the last one may have fewer lanes."""
        known = routines()
        self._set_warps(range(memories))
        self._set(layout.ALIGNED, 1)
        self._set(layout.CALM, 1)
        self._set(layout.ROUTINES + 8 * layout.EXIT, known.exit_whole)
        finish = known.finish_in_ring if self._has_ring else known.finish_warp
        self._set(layout.ROUTINES + 8 * layout.FINISH, finish)

    @staticmethod
    def memories(region: Region, warps: int) -> int:
        """How many memories a run takes for blocks of so many warps."""
        return warps if region.has_barriers else 1

    def _begin_order(self) -> None:
        was_drawn = self._random is not None
        super()._begin_order()
        if self._has_ring and (self._random is not None or was_drawn):
            warps = [*range(len(self._warp_order))]
            if self._random is not None:
                self._random.shuffle(warps)
            self._set_warps(warps)

    def _set_warps(self, warps: Iterable[int]) -> None:
        self._warp_order = tuple(warps)
        for memory, warp in zip(self._workers[0].ring, self._warp_order, strict=True):
            memory.set(layout.WARP, warp)

    def begin(self, batch: Batch) -> None:
        super().begin(batch)
        per_block = batch.threads.per_block
        if per_block != self._per_block:
            self._per_block, self._warps = per_block, -(-per_block // LANES)
            self._set(layout.WARPS, self._warps)
            self._set(layout.LAST_CHUNK, self._warps - 1 if per_block % LANES else -1)
        if self._takes_shared:
            addresses = batch.shared.addresses_of_blocks()
            self._set(layout.SHARED_SIZE, batch.shared.size)
            self._forget(-1)
            self._bring(
                ByBlock(addresses) if len(addresses) > 1 else addresses[0],
                layout.SHARED_BASE,
                TYPES["u64"],
                -1,
            )

    def _look_at_memory(self) -> None:
        super()._look_at_memory()
        self._set(layout.FIRST_UNDEFINED, self._memory.get(layout.SHARED_UNDEFINED))

    def run(
        self, frame: Frame, lanes: Lanes, entry: int, look: Callable[[int, Lanes], None]
    ) -> tuple[I64 | int, bool]:
        region = self._region
        count = self._batch.threads.count if lanes is None else len(lanes)
        plan = self._plan
        if plan is None or not plan.is_lasting or lanes is not None or plan.entry != entry:
            plan = self._plan = self._planned(frame, lanes, entry)
        self._look_at_memory()
        if self._races is not None:
            self._races.begin(count, lanes, self._snapshot)
        for worker in self._workers:
            worker.begin(plan.keeps)
        not_begun = self._go(count // self._batch.threads.per_block * self._warps, lanes, look)
        if self._races is not None:
            self._races.end_blocks(one.chunk for worker in self._workers for one in worker.stuck)
        if not not_begun and not any(one.stuck for one in self._workers):
            return region.block_at(region.end), True
        places = np.full(count, region.end, np.uint32)
        self._merge(frame, lanes, places, (), not_begun)
        if self._has_too_many_stuck:
            self._batch.launch.by_lanes.add(region)
        return region.blocks_at(places), False

    # Inside.

    def _planned(self, frame: Frame, lanes: Lanes, entry: int) -> _Plan:
        batch, region = self._batch, self._region
        per_block = batch.threads.per_block
        blocks = None if lanes is None else lanes[::per_block] // per_block
        brought, _, _ = region.registers_at(entry)
        padded = self._padded(batch.threads.numbers(lanes)) if per_block % LANES else lanes
        of_blocks, of_warps = [], []
        for one in itertools.chain(*self._varying):
            if one.field == layout.BLOCK:
                of_blocks.append(one if blocks is None else one._replace(array=one.array.take(blocks)))
            else:
                of_warps.append(one)
        for register in brought:
            self._copy(of_warps, frame[register.slot], register.location, padded, register.stays)
        if self._takes_local:
            self._copy(of_warps, batch.local.addresses(), layout.LOCAL_BASE, padded, True)
        tables = table_of(of_warps), table_of(of_blocks)
        self._set(layout.INS, tables[0][0], len(of_warps))
        self._set(layout.BLOCK_INS, tables[1][0], len(of_blocks))
        self._set(layout.ENTRY, region.place(entry))
        for memory in self._workers[0].ring:
            last = memory.array(layout.LAST_PLACE)
            last[:] = layout.NOWHERE
            last[: per_block % LANES] = region.place(entry)
        is_lasting = lanes is None and not (brought or self._takes_local)
        return _Plan(entry, is_lasting, tables)

    def _first_lane(self, chunk: int) -> int:
        block, warp = divmod(chunk, self._warps)
        return block * self._batch.threads.per_block + warp * LANES

    def _split(self, chunks: int, count: int, lanes: Lanes) -> list[Chunks]:
        return split(chunks, count, None, self._warps)

    def _padded(self, values: Array) -> Array:
        """A value of each thread of blocks; the last one of a block again, up to a whole warp."""
        per_block = self._batch.threads.per_block
        if per_block % LANES == 0:
            return values
        return np.pad(values.reshape(-1, per_block), ((0, 0), (0, -per_block % LANES)), "edge").reshape(-1)

    @property
    def _has_too_many_stuck(self) -> bool:
        return sum(len(one.stuck) for one in self._workers) > _MANY_STUCK

    def _bring(self, value: Any, location: int, kind: Type, group: int) -> None:
        if not isinstance(value, (ByBlock, ByThread)):
            self._fill(value.astype(kind.code), location)
            return
        values = value.values.astype(kind.code, copy=False)
        values = values if isinstance(value, ByBlock) else self._padded(values)
        size, is_wide = values.itemsize, kind.size == 8
        if isinstance(value, ByBlock):
            alike = layout.ALIKE_WIDE if is_wide else layout.ALIKE
            self._vary(group, Copy(values, size, location, alike, layout.BLOCK))
        elif self._has_ring:
            rows = values.reshape(-1, LANES)
            for memory, warp in zip(self._workers[0].ring, self._warp_order, strict=True):
                memory.array(location, size)[:] = rows[warp]
        else:
            as_it_is = layout.AS_WIDE if is_wide else layout.AS_IT_IS
            self._vary(group, Copy(values, size * LANES, location, as_it_is, layout.WARP))
