"""A region, run for any lanes of a batch: 32 of them are a chunk."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import coverage
from ..ptx.types import TYPES
from . import layout
from .layout import LANES, UNSIGNED, address_of
from .run import Copy, Run, kind_of, table_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..aliases import I64, U32, Array, Lanes
    from ..ptx.types import Type
    from ..run.batch import Batch
    from ..run.frame import Frame
    from .region import Carried


class _Plan(NamedTuple):
    """How lanes run from a block on."""

    entry: int
    chunks: int
    changed: list[Carried]
    """What they may have changed; and, in `early`, what they may besides if some leave early."""
    early: list[Carried]
    results: list[Array]
    """Of both."""
    places: U32
    """Where they leave the region."""
    is_lasting: bool
    """Whether it is the same when all lanes enter there again."""
    keeps: object
    """What has to stay while they run."""


class LaneRun(Run):
    """Of any lanes, 32 of which are a chunk."""

    def begin(self, batch: Batch) -> None:
        super().begin(batch)
        batch.threads.has_arrays = True
        if self._takes_shared:
            self._set(layout.SHARED_SIZE, batch.shared.size)
            self._forget(-1)
            self._bring(batch.shared.addresses(), layout.SHARED_BASE, TYPES["u64"], -1)

    def run(
        self, frame: Frame, lanes: Lanes, entry: int, look: Callable[[int, Lanes], None]
    ) -> tuple[I64 | int, bool]:
        batch, region = self._batch, self._region
        count = batch.threads.count if lanes is None else len(lanes)
        plan = self._plan
        if plan is None or not plan.is_lasting or lanes is not None or plan.entry != entry:
            plan = self._plan = self._planned(frame, lanes, entry, count)
        self._look_at_memory()
        if self._races is not None:
            self._races.begin(count, lanes, self._snapshot)
        for worker in self._workers:
            worker.begin(plan.keeps)
        try:
            not_begun = self._go(plan.chunks, lanes, look)
        finally:
            if region.counts:
                self._count()
        if self._races is not None:
            self._races.end_lanes()
        changed, places, results = plan.changed, plan.places, plan.results
        if any(one.memory.get(layout.EARLY) for one in self._workers):
            changed = changed + plan.early
        left = list(zip(changed, results, strict=False))
        if self._merge(frame, lanes, places[:count], left, not_begun):
            return region.blocks_at(places[:count]), False
        for one, result in left:
            if lanes is None:
                frame[one.slot] = _shared_by_all(result[:count])
            else:
                frame.merge(one.slot, result[:count], lanes)
        if lanes is None:
            frame.owned.clear()
        place = _shared_by_all(places[:count])
        return region.blocks_at(place) if place.ndim else region.block_at(int(place)), True

    # Inside.

    def _planned(self, frame: Frame, lanes: Lanes, entry: int, count: int) -> _Plan:
        batch, region, memory = self._batch, self._region, self._memory
        padded = lanes
        if count % LANES:
            numbers = batch.threads.numbers(lanes)
            padded = np.concatenate([numbers, np.repeat(numbers[-1:], LANES - count % LANES)])
        chunks = -(-count // LANES)
        brought, changed, early = region.registers_at(entry)
        ins: list[Copy] = []
        for one in brought:
            self._copy(ins, frame[one.slot], one.location, padded, one.stays or chunks == 1)
        for value, location in itertools.chain(*self._varying):
            self._copy(ins, value, location, padded, True)
        if self._takes_local:
            self._copy(ins, batch.local.addresses(), layout.LOCAL_BASE, padded, True)
        results = [np.empty(chunks * LANES, one.dtype) for one in (*changed, *early)]
        places = np.empty(chunks * LANES, np.uint32)
        outs = [
            Copy(result, one.dtype.itemsize * LANES, one.location, kind_of(one.dtype))
            for result, one in zip(results, (*changed, *early), strict=True)
        ]
        start, tables = region.place(entry), [table_of(ins), table_of(outs)]
        (in_table, _), (out_table, _) = tables
        self._set(layout.INS, in_table, len(ins), out_table, len(changed), len(outs))
        self._set(layout.ENTRY, start, address_of(places), chunks - 1, self._are_warps(lanes, count))
        last = memory.array(layout.LAST_PLACE)
        last[:] = start
        if count % LANES:
            last[count % LANES :] = layout.NOWHERE
        is_lasting = lanes is None and not (brought or results or self._takes_local)
        return _Plan(entry, chunks, changed, early, results, places, is_lasting, tables)

    def _bring(self, value: Any, location: int, kind: Type, group: int) -> None:
        value = self._batch.special.spread(value)
        value = value.astype(kind.code, copy=False) if value.ndim else value.astype(kind.code)
        if value.ndim:
            self._vary(group, (value, location))
        else:
            self._fill(value, location)

    def _count(self) -> None:
        """Add what the code has counted to the coverage of the kernel."""
        kernel, function = self._batch.launch.kernel, self._region.function.compiled
        counts, number = coverage.counts(kernel), kernel.function_number(function.name)
        for block, offset in self._region.counts.items():
            counted = [one.memory.bytes[offset : offset + 16].view(np.int64) for one in self._workers]
            ran, taken = np.add.reduce(counted).tolist()
            counts.ran(number, block, ran)
            if function.blocks[block].end == "branch" and not function.blocks[block].is_certain:
                counts.branched(number, block, taken, ran - taken)
            for memory in counted:
                memory[:] = 0

    def _are_warps(self, lanes: Lanes, count: int) -> bool:
        """Whether each chunk of lanes, which are in order, is a whole warp."""
        if self._batch.threads.per_block % LANES or count % LANES:
            return False
        if lanes is None:
            return True
        rows = lanes.reshape(-1, LANES)
        return bool(((rows[:, 0] % LANES == 0) & (rows[:, -1] - rows[:, 0] == LANES - 1)).all())


def _shared_by_all(array: Array) -> Array:
    """The one value of an array that has nothing else; else the array."""
    bits = array.view(UNSIGNED[array.dtype.itemsize])
    if bits[0] != bits[-1] or np.count_nonzero(bits != bits[0]):
        return array
    value: Array = array[0]
    return value
