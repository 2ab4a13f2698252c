"""Regions, run for lanes of a batch."""

from __future__ import annotations

import itertools
import time
from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import coverage
from ..access import READ, WRITE, put
from ..checks import BOUNDS, UNDEFINED
from . import layout
from .layout import LANES, UNSIGNED, RegionMemory
from .library import routines
from .races import RaceTables
from .workers import Worker, side_by_side, split

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..aliases import I64, U32, Array, Lanes
    from ..memory import Snapshot
    from ..run.batch import Batch
    from ..run.frame import Frame
    from .region import Carried, Region
    from .workers import Chunks, Pace, Stuck

_ACCESS_COST = 100
"""How many blocks take as long as an access that is left to Python."""
_MANY_ACCESSES = 100
"""How many accesses are left to Python before their share of a region's time is measured."""
_FEW = 8
"""Chunks that no other thread helps with."""
_AT_REST = 4
"""Memories of a region that are kept for batches to come."""
_NONE: deque[Chunks] = deque()
_RANGES = 6
"""Of chunks, for each worker, so that they end at about the same time."""


class MachineRuns:
    """The regions of a batch's functions, with memory to run in."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        self._runs: dict[Region, _Run] = {}

    def run(
        self, region: Region, frame: Frame, lanes: Lanes, entry: int, look: Callable[[int, Lanes], None]
    ) -> tuple[I64 | int, bool, bool]:
        """Run lanes from a block on until they have left the region, or for a while. Returns the block that
        each or all are at, whether all have left it, and whether they did anything that others may wait for.

        look: what is called now and then, with the block at hand, to let others run. Raises Fault.
        """
        run = self._runs.get(region)
        if run is None:
            try:
                run = region.at_rest.pop()  # by one thread alone
            except IndexError:
                run = _Run(region)
            self._runs[region] = run
            run.begin(self._batch)
        blocks, have_left = run.run(frame, lanes, entry, look)
        return blocks, have_left, run.has_effects

    def end(self) -> None:
        """All threads of the batch have exited: others may have the memory."""
        for region, run in self._runs.items():
            run.end()
            if len(region.at_rest) < _AT_REST:
                region.at_rest.append(run)
        self._runs.clear()


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


class _Run:
    """A region with memory to run in, for one batch after the other."""

    _batch: Batch

    def __init__(self, region: Region) -> None:
        self._region = region
        memory = self._memory = RegionMemory(region.image)
        self._workers = [Worker(region, memory)]
        """Those that have been needed so far. The first one runs in the thread of the kernel."""
        _, _, addresses = routines()
        memory.set_all(layout.ROUTINES, addresses)
        memory.set(layout.TABLE, _address(region.table))
        self._snapshot: Snapshot | None = None
        self._known_snapshot = 0
        """The number of the one that the memory has, though nothing keeps it between batches."""
        self._known: list[object] = [None for _ in region.inputs]
        """What each kind of inputs, which the memory has, depends on."""
        self._varying: list[list[tuple[Array, int]]] = [[] for _ in (*region.inputs, layout.SHARED_BASE)]
        """Inputs that are not the same in all lanes, and their locations."""
        self._plan: _Plan | None = None
        """The last one, which the memory has."""
        self._takes_shared = bool(region.uses & {"shared", "generic"})
        self._takes_local = bool(region.uses & {"local", "generic"})
        self._takes_global = bool(region.uses & {"global", "const", "generic"})
        self._races: RaceTables | None = None

    def begin(self, batch: Batch) -> None:
        """Lanes of a batch are to run."""
        self._batch, memory, region = batch, self._memory, self._region
        depends = batch.threads.shape, batch.launch.parameters, None
        for i, (inputs, known) in enumerate(zip(region.inputs, depends, strict=True)):
            if known is None or self._known[i] != known:
                self._known[i] = known
                self._forget(i)
                self._plan = self._plan if i else None
                for value, (location, kind) in zip(inputs.read(batch), inputs.places, strict=True):
                    value = value.astype(kind.code, copy=False) if value.ndim else value.astype(kind.code)
                    self._bring(value, location, i)
        if region.sites:
            self._races = RaceTables(region, batch, memory.fields, memory.bytes)
        if self._takes_shared:
            memory.set(layout.SHARED_SIZE, batch.shared.size)
            self._forget(-1)
            self._bring(batch.shared.addresses(), layout.SHARED_BASE, -1)

    def end(self) -> None:
        """They have run: keep nothing of the batch."""
        del self._batch
        if self._races is not None:
            self._known_snapshot = 0  # accesses remember where the shadows of allocations are described
        self._races = self._snapshot = None

    @property
    def has_effects(self) -> bool:
        """Whether the last run did anything that other threads may wait for."""
        return any(one.memory.get(layout.EFFECTS) for one in self._workers)

    def run(
        self, frame: Frame, lanes: Lanes, entry: int, look: Callable[[int, Lanes], None]
    ) -> tuple[I64 | int, bool]:
        batch, region = self._batch, self._region
        count = batch.threads.count if lanes is None else len(lanes)
        plan = self._plan
        if plan is None or not plan.is_lasting or lanes is not None or plan.entry != entry:
            plan = self._plan = self._planned(frame, lanes, entry, count)
        self._look_at_memory(lanes, count)
        for worker in self._workers:
            worker.begin(plan.keeps)
        try:
            not_begun = self._go(plan.chunks, lanes, look)
        finally:
            if region.counts:
                self._count()
        changed, places, results = plan.changed, plan.places, plan.results
        if any(one.memory.get(layout.EARLY) for one in self._workers):
            changed = changed + plan.early
        stuck = [one for worker in self._workers for one in worker.stuck]
        if stuck or not_begun:
            left = list(zip(changed, results, strict=False))
            self._merge(frame, lanes, count, places, left, stuck, not_begun)
            return region.blocks_at(places[:count]), False
        for one, result in zip(changed, results, strict=False):
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
        """Plan how lanes run from a block on, and tell the code."""
        batch, region, memory = self._batch, self._region, self._memory
        padded = lanes
        if count % LANES:
            numbers = batch.threads.numbers(lanes)
            padded = np.concatenate([numbers, np.repeat(numbers[-1:], LANES - count % LANES)])
        chunks = -(-count // LANES)
        brought, changed, early = region.registers_at(entry)
        ins: list[tuple[Array, int, int, int]] = []
        for one in brought:
            self._copy(ins, frame[one.slot], one.location, padded, one.stays or chunks == 1)
        for value, location in itertools.chain(*self._varying):
            self._copy(ins, value, location, padded, True)
        if self._takes_local:
            self._copy(ins, batch.local.addresses(), layout.LOCAL_BASE, padded, True)
        results = [np.empty(chunks * LANES, one.dtype) for one in (*changed, *early)]
        places = np.empty(chunks * LANES, np.uint32)
        outs = [
            (result, one.dtype.itemsize * LANES, one.location, _kind(one.dtype))
            for result, one in zip(results, (*changed, *early), strict=True)
        ]
        start, tables = region.place(entry), [_table(ins), _table(outs)]
        (in_table, _), (out_table, _) = tables
        is_aligned = self._are_warps(lanes, count)
        memory.set_all(
            layout.INS,
            (
                *(in_table, len(ins), out_table, len(changed), len(outs)),
                *(start, _address(places), chunks - 1, is_aligned),
            ),
        )
        last = memory.array(layout.LAST_PLACE)
        last[:] = start
        if count % LANES:
            last[count % LANES :] = layout.NOWHERE
        is_lasting = lanes is None and not (brought or results or self._takes_local)
        return _Plan(entry, chunks, changed, early, results, places, is_lasting, tables)

    def _look_at_memory(self, lanes: Lanes, count: int) -> None:
        """Tell the code of the memory that there is now."""
        batch, memory = self._batch, self._memory
        if self._takes_shared:
            memory.set(layout.SHARED_UNDEFINED, batch.shared.look_for_undefined())
        if self._takes_local:
            memory.set(layout.LOCAL_SIZE, batch.local.size)
            memory.set(layout.LOCAL_UNDEFINED, batch.local.shadow_distance)
        if self._takes_global:
            self._remember_allocations(self._workers[:1])
        if self._races is not None:
            firsts = np.arange(0, count, LANES) if lanes is None else lanes[::LANES]
            self._races.begin(firsts, self._snapshot)

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

    def _merge(
        self,
        frame: Frame,
        lanes: Lanes,
        count: int,
        places: U32,
        results: list[tuple[Carried, Array]],
        stuck: list[Stuck],
        not_begun: list[Chunks],
    ) -> None:
        """Have those go on elsewhere that are in the region still: others may be what they wait for."""
        numbers = self._batch.threads.numbers(lanes)
        have_left = np.ones(count, bool)
        for first, end in not_begun:
            have_left[first * LANES : end * LANES] = False
            places[first * LANES : end * LANES] = self._memory.get(layout.ENTRY)
        for chunk, here, _ in stuck:
            have_left[chunk * LANES :][: len(here)] = False
            places[chunk * LANES :][: len(here)] = here
        for one, result in results:
            frame.merge(one.slot, result[:count][have_left], numbers[have_left])
        for chunk, here, registers in stuck:
            for one, value in registers:
                frame.merge(one.slot, value, numbers[chunk * LANES :][: len(here)])

    def _forget(self, group: int) -> None:
        """Inputs that were brought are others from now on."""
        if self._varying[group]:
            self._varying[group] = []
            self._plan = None

    def _bring(self, value: Array, location: int, group: int) -> None:
        """Have an input in its location, from now on or with each run."""
        if value.ndim:
            self._varying[group].append((value, location))
            self._plan = None
        else:
            self._memory.fill(value, location)

    def _copy(
        self,
        copies: list[tuple[Array, int, int, int]],
        value: Array,
        location: int,
        padded: Lanes,
        stays: bool,
    ) -> None:
        """Have a register in its location: at once, or chunk after chunk."""
        kind = _kind(value.dtype)
        if value.ndim:
            array = value if padded is None else value.take(padded)
            copies.append((np.ascontiguousarray(array), array.dtype.itemsize * LANES, location, kind))
        elif stays:
            self._memory.fill(value, location)
        else:
            copies.append((np.full(LANES, value), 0, location, kind))

    def _remember_allocations(self, workers: Sequence[Worker]) -> None:
        device = self._batch.device
        is_followed = UNDEFINED in self._region.checks
        snapshot = device.memory.snapshot(device.origin, is_followed)
        self._snapshot = snapshot  # which keeps the memory
        if snapshot.number != self._known_snapshot:
            self._known_snapshot = snapshot.number
            shadows = _address(snapshot.shadows if is_followed else snapshot.starts)
            starts, ends = _address(snapshot.starts), _address(snapshot.ends)
            for memory in (one.memory for one in workers):
                memory.set(layout.UNDEFINED, shadows)
                memory.set_all(layout.STARTS, (starts, ends, len(snapshot.starts)))
                for offset in self._region.found:
                    memory.bytes[offset : offset + layout.FOUND] = 0

    def _go(self, chunks: int, lanes: Lanes, look: Callable[[int, Lanes], None]) -> list[Chunks]:
        """Run all chunks, by turns. Returns those that did not begin, as others mostly waited for accesses
        that are left to Python.
        """
        ranges, workers = deque([(0, chunks)]), self._workers[:1]
        if chunks <= _FEW:
            workers[0].run(ranges, True)
            if workers[0].status == layout.DONE:
                return []
        pace = self._region.paces[self._memory.get(layout.ENTRY)]
        if ranges and self._may_help(pace, chunks):
            workers, ranges = self._shared_out(chunks, lanes)
        begun, spent, accesses, gives_up = time.perf_counter(), 0.0, 0, False
        while True:
            unfinished = [one for one in workers if one.status != layout.DONE]
            if not unfinished and (gives_up or not ranges):
                break
            if gives_up or any(one.status == layout.ACCESSES for one in unfinished):
                # by one worker after the other: reports and faults come in the order of chunks
                first = min(unfinished, key=lambda one: one.chunk)
                if first.status == layout.ACCESSES:
                    started = time.perf_counter()
                    self._access(first.memory, lanes)
                    accesses, spent = accesses + 1, spent + time.perf_counter() - started
                first.run(_NONE, True)
                if first.status == layout.ACCESSES:
                    continue
                if accesses > _MANY_ACCESSES and 2 * spent > time.perf_counter() - begun and not gives_up:
                    gives_up = True
                    self._batch.launch.left_to_python.add(self._region)
                    ranges.extend(rest for one in unfinished for rest in one.stop_soon())
            else:
                idle = [one for one in workers if one.status == layout.DONE][: len(ranges)]
                running = (unfinished + idle)[: len(workers) if pace.is_known else 1]
                if len(running) > 1:
                    side_by_side([partial(one.run, ranges, False) for one in running])
                else:
                    running[0].run(ranges, True)
                if not pace.is_known:
                    pace.took(time.perf_counter() - begun, max(workers[0].chunk, 1), False)
            if any(one.status == layout.BETWEEN for one in workers):
                look(self._block_at_hand(), lanes)
                if self._takes_global:
                    self._remember_allocations(workers)
                    if self._races is not None:
                        self._races.update(self._snapshot)
        pace.took(time.perf_counter() - begun, chunks, len(workers) > 1)
        return [*ranges]

    def _may_help(self, pace: Pace, chunks: int) -> bool:
        """Whether other threads run some of so many chunks."""
        is_wanted = self._batch.launch.settings.workers > 1 and not self._region.keeps_order
        return is_wanted and pace.wants_help(chunks)

    def _shared_out(self, chunks: int, lanes: Lanes) -> tuple[list[Worker], deque[Chunks]]:
        """The workers for so many chunks, and the ranges that they take."""
        count, threads = self._batch.launch.settings.workers, self._batch.threads
        step, uneven = divmod(threads.per_block, LANES)
        blocks = None if lanes is None and not uneven else threads.blocks[threads.numbers(lanes)]
        ranges = deque(split(chunks, _RANGES * count, blocks, step))
        count = min(count, len(ranges))
        first = self._memory.bytes
        while len(self._workers) < count:
            self._workers.append(Worker(self._region, RegionMemory(first)))
            self._workers[-1].begin(self._workers[0].keeps)
        for one in self._workers[1:count]:
            one.memory.bytes[:] = first
        return self._workers[:count], ranges

    def _access(self, memory: RegionMemory, lanes: Lanes) -> None:
        """Make an access that the code left to Python. Raises Fault."""
        step = self._region.left_to_python[memory.get(layout.WHICH) & 0xFFFFFFFF].step
        batch, positions = self._batch, np.flatnonzero(memory.array(layout.MASK))
        memory.set(layout.BUDGET, memory.get(layout.BUDGET) - _ACCESS_COST)
        numbers = positions + memory.get(layout.CHUNK) * LANES
        if lanes is not None:
            numbers = lanes[numbers]
        asked = layout.ASKED if self._region.checks > {BOUNDS} else layout.ADDRESS
        a, access = memory.array(asked, 8)[positions], step.access
        size = access.dtype.itemsize
        unsigned = np.dtype(UNSIGNED[size])
        items = [memory.array(offset, size) for offset in step.items]
        values = [one[positions].astype(unsigned).view(access.dtype) for one in items]
        stored = values if access.mode == WRITE else []
        if step.operation is not None:
            batch.undefined.masking(step.operation[0], (values[0],), numbers)
        array, index = batch.spaces.at(step.space, a, access, numbers, *stored)
        if step.operation is not None:
            batch.undefined.masked()
            old = batch.atomics.apply(*step.operation, array, index, values[0], None, numbers, True)
            assert old is not None
            items[1][positions] = old.view(unsigned)
        else:
            for number, (item, value) in enumerate(zip(items, values, strict=True)):
                if access.mode == READ:
                    item[positions] = array.take(index + number).view(unsigned)
                else:
                    put(array, index + number, value)
        if self._races is not None:
            self._races.update(self._snapshot)

    def _block_at_hand(self) -> int:
        first, numbers = int(self._memory.array(layout.PLACE).min()), self._region.numbers
        return numbers[first] if first < len(numbers) else numbers[0]


def _address(array: Array) -> int:
    address: int = array.__array_interface__["data"][0]
    return address


def _table(copies: list[tuple[Array, int, int, int]]) -> tuple[int, object]:
    """The address of a table of what the code is to copy, and what has to stay while it does."""
    if not copies:
        return 0, None
    table = np.array([(_address(array), *rest) for array, *rest in copies], np.int64)
    return _address(table), (table, copies)


def _shared_by_all(array: Array) -> Array:
    """The one value of an array that has nothing else; else the array."""
    bits = array.view(UNSIGNED[array.dtype.itemsize])
    if bits[0] != bits[-1] or np.count_nonzero(bits != bits[0]):
        return array
    value: Array = array[0]
    return value


def _kind(dtype: np.dtype[Any]) -> int:
    if dtype.kind == "b":
        return layout.AS_BOOL
    return {1: layout.AS_BYTE, 2: layout.AS_HALF, 4: layout.AS_IT_IS, 8: layout.AS_WIDE}[dtype.itemsize]
