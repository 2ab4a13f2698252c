"""Regions, run for lanes of a batch."""

from __future__ import annotations

import random
import time
from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..access import READ, WRITE, put
from ..checks import BOUNDS, ORDER, RACES, UNDEFINED
from . import layout
from .layout import LANES, UNSIGNED, RegionMemory, address_of
from .library import routines
from .race_tables import RaceTables
from .workers import Worker, side_by_side, split

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..aliases import I64, U32, Array, Lanes
    from ..memory import Snapshot
    from ..ptx.types import Type
    from ..run.batch import Batch
    from ..run.frame import Frame
    from .region import Carried, Region
    from .workers import Chunks, Pace

_ACCESS_COST = 100
"""How many blocks take as long as an access that is left to Python."""
_MANY_ACCESSES = 100
"""How many accesses are left to Python before their share of a region's time is measured."""
_FEW = 8
"""Chunks that no other thread helps with."""
_NONE: deque[Chunks] = deque()
_RANGES = 6
"""Of chunks, for each worker, so that they end at about the same time."""
_DRAWN_RANGES = 32
"""Of chunks, whose order a seed varies."""


class Copy(NamedTuple):
    """What is copied between an array and a location for each chunk."""

    array: Array
    step: int
    """Bytes from one to the next."""
    location: int
    kind: int
    field: int = layout.CHUNK
    """Which number they are counted by."""


class Run:
    """A region with memory to run in, for one batch after the other."""

    worker: type[Worker] = Worker
    """What runs chunks."""
    are_blocks = False
    """Whether these are the warps of whole blocks."""
    _batch: Batch

    def __init__(self, region: Region, memories: int = 1) -> None:
        self._region = region
        ring = layout.ring([region.image] * memories)
        self._memory = ring[0]
        self._workers = [self.worker(region, ring)]
        """Those that have been needed so far. The first one runs in the thread of the kernel."""
        for memory in ring:
            memory.set_all(layout.ROUTINES, routines().table)
            memory.set(layout.TABLE, address_of(region.table))
        self._snapshot: Snapshot | None = None
        self._known_snapshot = 0
        """The number of the one that the memory has, though nothing keeps it between batches."""
        self._known: list[object] = [None for _ in region.inputs]
        """What each kind of inputs, which the memory has, depends on."""
        self._varying: list[list[Any]] = [[] for _ in (*region.inputs, layout.SHARED_BASE)]
        """What is to be copied of inputs that are not the same in all lanes, by their kind."""
        self._plan: Any = None
        """How lanes ran last; the memory has that."""
        self._takes_shared = bool(region.uses & {"shared", "generic"})
        self._takes_local = bool(region.uses & {"local", "generic"})
        self._takes_global = bool(region.uses & {"global", "const", "generic"})
        self._races: RaceTables | None = None
        """What the code is told for the check for races, if it makes that."""
        if RACES in region.checks:
            self._races = RaceTables(region, ring, self.are_blocks)
        self._warp_order: tuple[int, ...] = ()
        """Which warp of a block runs in each memory of a ring."""
        self._random: random.Random | None = None
        """What draws the order of chunks and diverged lanes of a batch; None: it is always the same."""

    def begin(self, batch: Batch) -> None:
        """Lanes of a batch are to run."""
        self._batch, region = batch, self._region
        if self._races is not None:
            self._races.enter(batch)
        self._begin_order()
        depends = (batch.threads.shape, self._warp_order), batch.launch.parameters, None
        for i, (inputs, known) in enumerate(zip(region.inputs, depends, strict=True)):
            if known is None or self._known[i] != known:
                self._known[i] = known
                self._forget(i)
                self._plan = self._plan if i else None
                for value, (location, kind) in zip(inputs.read(batch), inputs.places, strict=True):
                    self._bring(value, location, kind, i)

    def end(self) -> None:
        """They have run: keep nothing of the batch."""
        del self._batch
        if self._races is not None:
            self._races.leave()
        self._snapshot = None

    @property
    def has_effects(self) -> bool:
        """Whether the last run did anything that other threads may wait for."""
        return any(one.has_effects for one in self._workers)

    def run(
        self, frame: Frame, lanes: Lanes, entry: int, look: Callable[[int, Lanes], None]
    ) -> tuple[I64 | int, bool]:
        """Returns what `Runner.run` does."""
        raise NotImplementedError

    @property
    def _has_too_many_stuck(self) -> bool:
        """Whether to give up, as chunks seldom come to their ends."""
        return False

    def _begin_order(self) -> None:
        """The order in which the lanes of the batch run is drawn, if the launch has a seed."""
        batch = self._batch
        is_drawn = ORDER in batch.launch.checks
        if is_drawn or self._random is not None:
            own = f"{batch.launch.settings.seed} {batch.first_block}"
            self._random = random.Random(own) if is_drawn else None
            self._set(layout.DRAWS, address_of(self._region.draws) if is_drawn else 0)

    def _ranges(self, chunks: int) -> deque[Chunks]:
        """All chunks, in the order in which they run."""
        if self._random is None:
            return deque([(0, chunks)])
        ring = self._workers[0].ring
        for memory in ring:
            memory.set(layout.DRAWN, self._random.getrandbits(63))
        ranges = split(chunks, _DRAWN_RANGES, None, len(ring))
        self._random.shuffle(ranges)
        return deque(ranges)

    def _first_lane(self, chunk: int) -> int:
        """The position of a chunk's first lane among those that run."""
        return chunk * LANES

    def _split(self, chunks: int, count: int, lanes: Lanes) -> list[Chunks]:
        threads = self._batch.threads
        step, uneven = divmod(threads.per_block, LANES)
        blocks = None if lanes is None and not uneven else threads.blocks[threads.numbers(lanes)]
        return split(chunks, count, blocks, step)

    def _bring(self, value: Any, location: int, kind: Type, group: int) -> None:
        """Have an input of the region in its location, from now on or with each chunk or block."""
        raise NotImplementedError

    def _forget(self, group: int) -> None:
        if self._varying[group]:
            self._varying[group] = []
            self._plan = None

    def _vary(self, group: int, what: object) -> None:
        self._varying[group].append(what)
        self._plan = None

    def _fill(self, value: Array, location: int) -> None:
        for memory in self._workers[0].ring:
            memory.fill(value, location)

    def _set(self, field: int, *values: int) -> None:
        for memory in self._workers[0].ring:
            memory.set_all(field, values)

    def _merge(
        self,
        frame: Frame,
        lanes: Lanes,
        places: U32,
        results: Sequence[tuple[Carried, Array]],
        not_begun: list[Chunks],
    ) -> bool:
        """Have those go on elsewhere that are in the region still: others may be what they wait for. Returns
        whether there are any; then `places` are where all are.
        """
        stuck = [one for worker in self._workers for one in worker.stuck]
        if not stuck and not not_begun:
            return False
        numbers = self._batch.threads.numbers(lanes)
        have_left = np.ones(len(places), bool)
        for first, end in not_begun:
            begun = slice(self._first_lane(first), self._first_lane(end))
            have_left[begun] = False
            places[begun] = self._memory.get(layout.ENTRY)
        for chunk, here, _ in stuck:
            start = self._first_lane(chunk)
            have_left[start:][: len(here)] = False
            places[start:][: len(here)] = here
        for one, result in results:
            frame.merge(one.slot, result[: len(places)][have_left], numbers[have_left])
        for chunk, here, registers in stuck:
            for one, value in registers:
                frame.merge(one.slot, value, numbers[self._first_lane(chunk) :][: len(here)])
        return True

    def _copy(
        self,
        copies: list[Copy],
        value: Array,
        location: int,
        padded: Lanes,
        stays: bool,
    ) -> None:
        """Have a register in its location: at once, or chunk after chunk."""
        kind = kind_of(value.dtype)
        if value.ndim:
            array = value if padded is None else value.take(padded)
            copies.append(Copy(np.ascontiguousarray(array), array.dtype.itemsize * LANES, location, kind))
        elif stays:
            self._fill(value, location)
        else:
            copies.append(Copy(np.full(LANES, value), 0, location, kind))

    def _look_at_memory(self) -> None:
        batch = self._batch
        if self._takes_shared:
            self._set(layout.SHARED_UNDEFINED, batch.shared.look_for_undefined())
        if self._takes_local:
            self._set(layout.LOCAL_SIZE, batch.local.size)
            self._set(layout.LOCAL_UNDEFINED, batch.local.shadow_distance)
        if self._takes_global:
            self._remember_allocations(self._workers[:1])

    def _remember_allocations(self, workers: Sequence[Worker]) -> None:
        device = self._batch.device
        is_followed = UNDEFINED in self._region.checks
        snapshot = device.memory.snapshot(device.origin, is_followed)
        self._snapshot = snapshot  # which keeps the memory
        if snapshot.number != self._known_snapshot:
            self._known_snapshot = snapshot.number
            shadows = address_of(snapshot.shadows if is_followed else snapshot.starts)
            starts, ends = address_of(snapshot.starts), address_of(snapshot.ends)
            for memory in (memory for one in workers for memory in one.ring):
                memory.set(layout.UNDEFINED, shadows)
                memory.set_all(layout.STARTS, (starts, ends, len(snapshot.starts)))
                for offset in self._region.found.values():
                    memory.bytes[offset : offset + layout.FOUND] = 0

    def _go(self, chunks: int, lanes: Lanes, look: Callable[[int, Lanes], None]) -> list[Chunks]:
        """Run all chunks, by turns. Returns those that did not begin, as others mostly waited for accesses
        that are left to Python.
        """
        ranges, workers = self._ranges(chunks), self._workers[:1]
        if chunks <= _FEW:
            workers[0].run(ranges, True)
            if workers[0].status == layout.DONE:
                return []
        pace = self._region.paces[self._memory.get(layout.ENTRY)]
        if ranges and self._may_help(pace, chunks):
            workers, ranges = self._shared_out(chunks, lanes)
        begun, spent, since, accesses, gives_up = time.perf_counter(), 0.0, 0.0, 0, False
        while True:
            unfinished = [one for one in workers if one.status != layout.DONE]
            if not unfinished and (gives_up or not ranges):
                break
            if gives_up or any(one.status == layout.ACCESSES for one in unfinished):
                # by one worker after the other: reports and faults come in the order of chunks
                first = min(unfinished, key=lambda one: one.chunk)
                if first.status == layout.ACCESSES:
                    started = time.thread_time()  # other threads and programs may take most of the clock's
                    since = since or started
                    self._access(first.memory, lanes)
                    accesses, spent = accesses + 1, spent + time.thread_time() - started
                first.run(_NONE, True)
                if first.status == layout.ACCESSES:
                    continue
                is_slow = accesses > _MANY_ACCESSES and 2 * spent > time.thread_time() - since
                if is_slow and not gives_up and self._random is None:
                    gives_up = True
                    self._batch.launch.left_to_python.add(self._region)
                    ranges.extend(_stopped(unfinished))
            else:
                idle = [one for one in workers if one.status == layout.DONE][: len(ranges)]
                _run_turn((unfinished + idle)[: len(workers) if pace.is_known else 1], ranges)
                if not pace.is_known and self._random is None:
                    pace.took(time.perf_counter() - begun, max(workers[0].chunk, 1), False)
            if not gives_up and self._has_too_many_stuck:
                gives_up = True
                ranges.extend(_stopped(workers))
            if any(one.status == layout.BETWEEN for one in workers):
                look(self._block_at_hand(), lanes)
                if self._takes_global:
                    self._remember_allocations(workers)
                    if self._races is not None:
                        self._races.update(self._snapshot)
        pace.took(time.perf_counter() - begun, chunks, len(workers) > 1)
        return [*ranges]

    def _may_help(self, pace: Pace, chunks: int) -> bool:
        if self._region.keeps_order or self._random is not None:
            return False
        return self._batch.launch.settings.workers > 1 and pace.wants_help(chunks)

    def _shared_out(self, chunks: int, lanes: Lanes) -> tuple[list[Worker], deque[Chunks]]:
        """The workers for so many chunks, and the ranges that they take."""
        count = self._batch.launch.settings.workers
        ranges = deque(self._split(chunks, _RANGES * count, lanes))
        count, first = min(count, len(ranges)), self._workers[0]
        images = [memory.bytes for memory in first.ring]
        while len(self._workers) < count:
            self._workers.append(self.worker(self._region, layout.ring(images)))
            self._workers[-1].begin(first.keeps)
        for one in self._workers[1:count]:
            layout.fill_ring(one.ring, images)
        return self._workers[:count], ranges

    def _access(self, memory: RegionMemory, lanes: Lanes) -> None:
        """Make an access that the code left to Python. Raises Fault."""
        step = self._region.left_to_python[memory.get(layout.WHICH) & 0xFFFFFFFF].step
        batch, positions = self._batch, np.flatnonzero(memory.array(layout.MASK))
        memory.set(layout.BUDGET, memory.get(layout.BUDGET) - _ACCESS_COST)
        numbers = positions + self._first_lane(memory.get(layout.CHUNK))
        if lanes is not None:
            numbers = lanes[numbers]
        asked = layout.ASKED if self._region.checks > {BOUNDS} else layout.ADDRESS
        a, access = memory.array(asked, 8)[positions], step.access
        if self._races is not None:
            self._races.follow(memory.get(layout.CHUNK))
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
        first, numbers = min(self._memory.array(layout.PLACE).tolist()), self._region.numbers
        return numbers[first] if first < len(numbers) else numbers[0]


def _run_turn(workers: list[Worker], ranges: deque[Chunks]) -> None:
    if len(workers) > 1:
        side_by_side([partial(one.run, ranges, False) for one in workers])
    else:
        workers[0].run(ranges, True)


def _stopped(workers: list[Worker]) -> list[Chunks]:
    """Have workers end with what they have in hand. Returns what they leave."""
    return [rest for one in workers if one.status != layout.DONE for rest in one.stop_soon()]


def kind_of(dtype: np.dtype[Any]) -> int:
    if dtype.kind == "b":
        return layout.AS_BOOL
    return {1: layout.AS_BYTE, 2: layout.AS_HALF, 4: layout.AS_IT_IS, 8: layout.AS_WIDE}[dtype.itemsize]


def table_of(copies: list[Copy]) -> tuple[int, object]:
    """The address of a table that tells the code what to copy, and what has to stay while it runs."""
    if not copies:
        return 0, None
    table = np.array([(address_of(array), *rest) for array, *rest in copies], np.int64)
    return address_of(table), (table, copies)
