"""Regions, run for lanes of a batch."""

from __future__ import annotations

import ctypes
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import coverage
from ..access import READ, WRITE, put
from ..checks import BOUNDS, UNDEFINED
from . import layout
from .layout import LANES
from .library import routines
from .races import RaceTables

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..aliases import I64, U32, Array, Lanes
    from ..memory import Snapshot
    from ..run.batch import Batch
    from ..run.frame import Frame
    from .accesses import MemoryStep
    from .region import Carried, Region

_BUDGET = 20_000
"""Blocks, of 32 lanes each, that run before the code yields to other groups: some milliseconds."""
_ACCESS_COST = 100
"""How many blocks take as long as an access that is left to Python."""
_MANY_ACCESSES = 100
"""How many accesses are left to Python before their share of a region's time is measured."""
_ENTER = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)  # keeps the GIL
_UNSIGNED = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
_ALIGN = 64
_ALL = 0xFFFFFFFF


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
            run = self._runs[region] = _Run(region, self._batch)
        blocks, have_left = run.run(frame, lanes, entry, look)
        return blocks, have_left, run.has_effects


class _Run:
    def __init__(self, region: Region, batch: Batch) -> None:
        self._region, self._batch = region, batch
        size = len(region.image)
        unaligned = np.empty(size + _ALIGN, np.uint8)
        start = -unaligned.ctypes.data % _ALIGN
        self._memory = unaligned[start : start + size]
        self._memory[:] = region.image
        self._address = int(self._memory.ctypes.data)
        self._fields = self._memory[: layout.PLACE].view(np.int64)
        enter, self._start, addresses = routines()
        self._enter = _ENTER(enter)
        first = layout.ROUTINES // 8
        self._fields[first : first + len(addresses)] = addresses
        self._set(layout.TABLE, _address(region.table))
        self._snapshot: Snapshot | None = None
        self._varying: list[tuple[Array, int]] = []
        """Inputs that are not the same in all lanes, and their locations."""
        for value, (location, kind) in zip(region.read_inputs(batch), region.inputs, strict=True):
            value = value.astype(kind.code, copy=False) if value.ndim else value.astype(kind.code)
            self._bring(value, location)
        self._takes_shared = bool(region.uses & {"shared", "generic"})
        self._takes_local = bool(region.uses & {"local", "generic"})
        self._takes_global = bool(region.uses & {"global", "const", "generic"})
        self._races: RaceTables | None = None
        if region.sites:
            self._races = RaceTables(region, batch, self._fields, self._memory)
        if self._takes_shared:
            self._set(layout.SHARED_SIZE, batch.shared.size)
            self._set(layout.SHARED_UNDEFINED, batch.shared.shadow_distance)
            self._bring(batch.shared.addresses(), layout.SHARED_BASE)

    @property
    def has_effects(self) -> bool:
        """Whether the last run did anything that other threads may wait for."""
        return bool(self._fields[layout.EFFECTS >> 3])

    def run(
        self, frame: Frame, lanes: Lanes, entry: int, look: Callable[[int, Lanes], None]
    ) -> tuple[I64 | int, bool]:
        batch, region = self._batch, self._region
        count = batch.threads.count if lanes is None else len(lanes)
        padded = lanes
        if count % LANES:
            numbers = batch.threads.numbers(lanes)
            padded = np.concatenate([numbers, np.repeat(numbers[-1:], LANES - count % LANES)])
        chunks = -(-count // LANES)
        brought, changed = region.registers_at(entry)
        ins: list[tuple[Array, int, int, int]] = []
        for one in brought:
            self._copy(ins, frame[one.slot], one.location, padded, one.stays or chunks == 1)
        for value, location in self._varying:
            self._copy(ins, value, location, padded, True)
        if self._takes_local:
            self._set(layout.LOCAL_SIZE, batch.local.size)
            self._set(layout.LOCAL_UNDEFINED, batch.local.shadow_distance)
            self._copy(ins, batch.local.addresses(), layout.LOCAL_BASE, padded, True)
        if self._takes_global:
            self._remember_allocations()
        if self._races is not None:
            firsts = np.arange(0, count, LANES) if lanes is None else lanes[::LANES]
            self._races.begin(firsts, self._snapshot)
        results = [np.empty(chunks * LANES, one.dtype) for one in changed]
        places = np.empty(chunks * LANES, np.uint32)
        self._set(layout.RESUME, self._start)
        self._set(layout.CHUNK, 0)
        self._set(layout.EFFECTS, 0)
        self._set(layout.CHUNKS, chunks)
        self._set(layout.ENTRY, region.place(entry))
        self._set(layout.PLACES, _address(places))
        outs = [
            (result, one.dtype.itemsize * LANES, one.location, _kind(one.dtype))
            for result, one in zip(results, changed, strict=True)
        ]
        kept = [self._table(layout.INS, ins), self._table(layout.OUTS, outs)]
        last = self._array(layout.LAST_PLACE)
        last[:] = region.place(entry)
        if count % LANES:
            last[count % LANES :] = layout.NOWHERE
        self._set(layout.ALIGNED, int(self._are_warps(lanes, count)))
        try:
            status = self._go(lanes, look)
        finally:
            if region.counts:
                self._count()
        del kept
        if status:
            is_begun = status != layout.BETWEEN
            return self._give_up(frame, lanes, entry, count, is_begun, places, changed, results), False
        for one, result in zip(changed, results, strict=True):
            if lanes is None:
                frame[one.slot] = _shared_by_all(result[:count])
            else:
                frame.merge(one.slot, result[:count], lanes)
        if lanes is None:
            frame.owned.clear()
        place = _shared_by_all(places[:count])
        return region.blocks_at(place) if place.ndim else region.block_at(int(place)), True

    # Inside.

    def _count(self) -> None:
        """Add what the code has counted to the coverage of the kernel."""
        kernel, function = self._batch.launch.kernel, self._region.function.compiled
        counts, number = coverage.counts(kernel), kernel.function_number(function.name)
        for block, offset in self._region.counts.items():
            memory = self._memory[offset : offset + 16].view(np.int64)
            ran, taken = memory.tolist()
            counts.ran(number, block, ran)
            if function.blocks[block].end == "branch" and not function.blocks[block].is_certain:
                counts.branched(number, block, taken, ran - taken)
            memory[:] = 0

    def _are_warps(self, lanes: Lanes, count: int) -> bool:
        """Whether each chunk of lanes, which are in order, is a whole warp."""
        if self._batch.threads.per_block % LANES or count % LANES:
            return False
        if lanes is None:
            return True
        rows = lanes.reshape(-1, LANES)
        return bool(((rows[:, 0] % LANES == 0) & (rows[:, -1] - rows[:, 0] == LANES - 1)).all())

    def _give_up(
        self,
        frame: Frame,
        lanes: Lanes,
        entry: int,
        count: int,
        is_begun: bool,
        places: U32,
        changed: list[Carried],
        results: list[Array],
    ) -> I64:
        """Have those go on elsewhere that are in the region still: others may be what they wait for. If the
        chunk at hand `is_begun`, its lanes are no longer where they entered.
        """
        region, numbers = self._region, self._batch.threads.numbers(lanes)
        done = int(self._fields[layout.CHUNK >> 3]) * LANES
        for one, result in zip(changed, results, strict=True):
            if done:
                frame.merge(one.slot, result[:done], numbers[:done])
        some = min(LANES, count - done) if is_begun else 0
        places[done:count] = int(self._fields[layout.ENTRY >> 3])
        places[done : done + some] = self._array(layout.PLACE)[:some]
        blocks = region.blocks_at(places[:count])
        for one in region.live_at({*blocks[done : done + some].tolist()}, entry):
            bits, dtype = self._array(one.location, one.dtype.itemsize)[:some], one.dtype
            value = bits != 0 if dtype.kind == "b" else bits.astype(_UNSIGNED[dtype.itemsize]).view(dtype)
            frame.merge(one.slot, value, numbers[done : done + some])
        return blocks

    def _array(self, offset: int, size: int = 4) -> Array:
        """A location or another array of all lanes, of numbers of `size` bytes."""
        wide = size == 8
        memory = self._memory[offset : offset + (layout.WIDE if wide else layout.NARROW)]
        return memory.view(np.uint64 if wide else np.uint32)

    def _set(self, field: int, value: int) -> None:
        self._fields[field >> 3] = value

    def _bring(self, value: Array, location: int) -> None:
        """Have an input in its location, from now on or with each run."""
        if value.ndim:
            self._varying.append((value, location))
        else:
            self._fill(value, location)

    def _fill(self, value: Array, location: int) -> None:
        """Put what all lanes share into a location."""
        size = value.dtype.itemsize
        is_bool = value.dtype.kind == "b"
        self._array(location, size)[:] = _ALL * bool(value) if is_bool else value.view(_UNSIGNED[size])

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
            self._fill(value, location)
        else:
            copies.append((np.full(LANES, value), 0, location, kind))

    def _table(self, field: int, copies: list[tuple[Array, int, int, int]]) -> object:
        """Tell the code what to copy. Returns what has to stay while it runs."""
        self._set(field + 8, len(copies))
        if not copies:
            return None
        table = np.array([(_address(array), *rest) for array, *rest in copies], np.int64)
        self._set(field, _address(table))
        return table, copies

    def _remember_allocations(self) -> None:
        device = self._batch.device
        is_followed = UNDEFINED in self._region.checks
        snapshot = device.memory.snapshot(device.origin, is_followed)
        if snapshot is not self._snapshot:
            self._snapshot = snapshot  # which keeps the memory
            self._set(layout.UNDEFINED, _address(snapshot.shadows if is_followed else snapshot.starts))
            self._set(layout.STARTS, _address(snapshot.starts))
            self._set(layout.ENDS, _address(snapshot.ends))
            self._set(layout.ALLOCATIONS, len(snapshot.starts))
            for offset in self._region.found:
                self._memory[offset : offset + layout.FOUND] = 0

    def _go(self, lanes: Lanes, look: Callable[[int, Lanes], None]) -> int:
        """0 if all lanes have left the region; else why the code came back: it has run the same lanes for
        quite a while, or mostly waited for accesses.
        """
        before, left_to_python, spent, begun = -1, 0, 0.0, time.perf_counter()
        self._set(layout.BUDGET, _BUDGET)
        while True:
            status = self._enter(self._address)
            if status == layout.ACCESSES:
                step = self._region.left_to_python[int(self._fields[layout.WHICH >> 3]) & 0xFFFFFFFF].step
                started = time.perf_counter()
                self._access(step, lanes)
                if self._races is not None:
                    self._races.update(self._snapshot)
                spent += time.perf_counter() - started
                left_to_python += 1
                self._fields[layout.BUDGET >> 3] -= _ACCESS_COST
                continue
            if left_to_python > _MANY_ACCESSES and 2 * spent > time.perf_counter() - begun:
                self._batch.launch.left_to_python.add(self._region)
                return status
            if not status:
                return 0
            look(self._block_at_hand(), lanes)
            if self._takes_global:
                self._remember_allocations()
                if self._races is not None:
                    self._races.update(self._snapshot)
            chunk = int(self._fields[layout.CHUNK >> 3])
            if chunk == before:
                return status
            before = chunk
            self._set(layout.BUDGET, _BUDGET)

    def _access(self, step: MemoryStep, lanes: Lanes) -> None:
        """Make an access that the code left to Python. Raises Fault."""
        batch, positions = self._batch, np.flatnonzero(self._array(layout.MASK))
        numbers = positions + int(self._fields[layout.CHUNK >> 3]) * LANES
        if lanes is not None:
            numbers = lanes[numbers]
        asked = layout.ASKED if self._region.checks > {BOUNDS} else layout.ADDRESS
        a, access = self._array(asked, 8)[positions], step.access
        size = access.dtype.itemsize
        unsigned = np.dtype(_UNSIGNED[size])
        items = [self._array(offset, size) for offset in step.items]
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
            return
        for number, (item, value) in enumerate(zip(items, values, strict=True)):
            if access.mode == READ:
                item[positions] = array.take(index + number).view(unsigned)
            else:
                put(array, index + number, value)

    def _block_at_hand(self) -> int:
        first, numbers = int(self._array(layout.PLACE).min()), self._region.numbers
        return numbers[first] if first < len(numbers) else numbers[0]


def _address(array: Array) -> int:
    address: int = array.__array_interface__["data"][0]
    return address


def _shared_by_all(array: Array) -> Array:
    """The one value of an array that has nothing else; else the array."""
    bits = array.view(_UNSIGNED[array.dtype.itemsize])
    if bits[0] != bits[-1] or np.count_nonzero(bits != bits[0]):
        return array
    value: Array = array[0]
    return value


def _kind(dtype: np.dtype[Any]) -> int:
    if dtype.kind == "b":
        return layout.AS_BOOL
    return {1: layout.AS_BYTE, 2: layout.AS_HALF, 4: layout.AS_IT_IS, 8: layout.AS_WIDE}[dtype.itemsize]
