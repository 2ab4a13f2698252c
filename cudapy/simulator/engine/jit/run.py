"""Regions, run for lanes of a batch."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import settings
from ..run.access import READ, put
from . import layout
from .layout import LANES
from .library import routines

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..aliases import I64, U32, Array, Lanes
    from ..memory import Snapshot
    from ..run.batch import Batch
    from ..run.frame import Frame
    from .region import MemoryStep, Region

_BUDGET = 20_000
"""Blocks, of 32 lanes each, that run before others have their turn: some milliseconds."""
_ENTER = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)  # keeps the GIL
_UNSIGNED = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
_ALIGN = 64


def is_allowed() -> bool:
    """Whether nothing is asked for that only the other code finds out."""
    current = settings.current
    return (
        current.machine_code != "never"
        and current.seed is None
        and not (current.check_races or current.check_uninitialized or current.coverage)
    )


class Copy(NamedTuple):
    """An array that is copied to a home or from one, chunk after chunk."""

    array: Array
    step: int
    home: int
    kind: int


class MachineRuns:
    """The regions of a batch's functions, with memory to run in."""

    def __init__(self, batch: Batch, look: Callable[[int, Lanes], None]) -> None:
        self._batch, self._look = batch, look
        self._runs: dict[Region, _Run] = {}

    def run(self, region: Region, frame: Frame, lanes: Lanes, entry: int) -> U32:
        """Run lanes from a block on until they have left the region. Returns the number of the exit of each.

        Raises Fault.
        """
        run = self._runs.get(region)
        if run is None:
            run = self._runs[region] = _Run(region, self._batch, self._look)
        return run.run(frame, lanes, entry)


class _Run:
    def __init__(self, region: Region, batch: Batch, look: Callable[[int, Lanes], None]) -> None:
        self._region, self._batch, self._look = region, batch, look
        size = len(region.image)
        room = np.empty(size + _ALIGN, np.uint8)
        start = -room.ctypes.data % _ALIGN
        self._memory = room[start : start + size]
        self._memory[:] = region.image
        self._address = int(self._memory.ctypes.data)
        self._fields = self._memory[: layout.PLACE].view(np.int64)
        enter, self._start, addresses = routines()
        self._enter = _ENTER(enter)
        first = layout.ROUTINES // 8
        self._fields[first : first + len(addresses)] = addresses
        self._set(layout.TABLE, _address(region.table))
        self._snapshot: Snapshot | None = None
        self._inputs: list[tuple[Array, int, int]] = []
        self._is_read = False
        if region.uses & {"shared", "shared::cta", ""}:
            self._set(layout.SHARED_SIZE, batch.shared.size)

    def run(self, frame: Frame, lanes: Lanes, entry: int) -> U32:
        batch, region = self._batch, self._region
        count = batch.threads.count if lanes is None else len(lanes)
        chunks = -(-count // LANES)
        padded = lanes
        if count % LANES:
            numbers = batch.threads.numbers(lanes)
            padded = np.concatenate([numbers, np.repeat(numbers[-1:], LANES - count % LANES)])
        brought, changed = region.registers_at(entry)
        copies = [self._copy_in(*one, padded) for one in self._all_inputs()]
        for name in brought:
            value = frame[region.slot(name)]
            copies.append(self._copy_in(value, region.homes[name], value.dtype.itemsize, padded))
        copies += self._bases(padded)
        results = []
        for name in changed:
            dtype = region.dtype(name)
            array = np.empty(chunks * LANES, dtype)
            results.append(Copy(array, dtype.itemsize * LANES, region.homes[name], _kind(dtype)))
        places = np.empty(chunks * LANES, np.uint32)
        self._prepare(copies, results, places, chunks, count, region.place(entry))
        self._go(lanes)
        for name, result in zip(changed, results, strict=True):
            array = result.array[:count]
            if lanes is None:
                frame[region.slot(name)] = _shared_by_all(array)
            else:
                frame.merge(region.slot(name), array, lanes)
        if lanes is None:
            frame.owned.clear()
        return places[:count] & np.uint32(layout.LEFT - 1)

    # Inside.

    def _set(self, field: int, value: int) -> None:
        self._fields[field >> 3] = value

    def _all_inputs(self) -> list[tuple[Array, int, int]]:
        if not self._is_read:
            for value, (home, kind) in zip(
                self._region.read_inputs(self._batch), self._region.inputs, strict=True
            ):
                self._inputs.append((value.astype(kind.code), home, kind.size))
            self._is_read = True
        return self._inputs

    def _copy_in(self, value: Array, home: int, size: int, padded: Lanes) -> Copy:
        kind = _kind(value.dtype)
        if not value.ndim:
            return Copy(np.full(LANES, value), 0, home, kind)
        array = value if padded is None else value.take(padded)
        return Copy(np.ascontiguousarray(array), size * LANES, home, kind)

    def _bases(self, padded: Lanes) -> list[Copy]:
        """The addresses of lanes' own memory."""
        batch, uses, copies = self._batch, self._region.uses, []
        if uses & {"shared", "shared::cta", ""}:
            copies.append(self._copy_in(batch.shared.addresses(), layout.SHARED_BASE, 8, padded))
        if uses & {"local", ""}:
            self._set(layout.LOCAL_SIZE, batch.local.size)
            copies.append(self._copy_in(batch.local.addresses(), layout.LOCAL_BASE, 8, padded))
        if uses & {"global", "const", ""}:
            snapshot = batch.device.memory.snapshot()
            if snapshot is not self._snapshot:
                self._snapshot = snapshot  # which keeps the memory
                self._set(layout.STARTS, _address(snapshot.starts))
                self._set(layout.ENDS, _address(snapshot.ends))
                self._set(layout.ALLOCATIONS, len(snapshot.starts))
                for offset in self._region.found:
                    self._memory[offset : offset + 16] = 0
        return copies

    def _prepare(
        self, copies: list[Copy], results: list[Copy], places: U32, chunks: int, count: int, entry: int
    ) -> None:
        self._set(layout.RESUME, self._start)
        self._set(layout.CHUNK, 0)
        self._set(layout.CHUNKS, chunks)
        self._set(layout.ENTRY, entry)
        self._set(layout.PLACES, _address(places))
        self._tables = []
        for field, one in ((layout.INS, copies), (layout.OUTS, results)):
            table = np.array([(_address(copy.array), *copy[1:]) for copy in one] or [(0,) * 4], np.int64)
            self._tables.append(table)
            self._set(field, _address(table))
            self._set(field + 8, len(one))
        last = self._memory[layout.LAST_PLACE : layout.LAST_PLACE + layout.NARROW].view(np.uint32)
        last[:] = entry
        if count % LANES:
            last[count % LANES :] = layout.NOWHERE
        self._kept = copies, results

    def _go(self, lanes: Lanes) -> None:
        while True:
            self._set(layout.BUDGET, _BUDGET)
            status = self._enter(self._address)
            if not status:
                return
            if status == layout.ACCESSES:
                step = self._region.accesses[int(self._fields[layout.WHICH >> 3]) & 0xFFFFFFFF]
                self._access(step, lanes)
            else:
                self._pause(lanes)

    def _positions(self) -> I64:
        """The places of the active lanes in their chunk."""
        mask = self._memory[layout.MASK : layout.MASK + layout.NARROW].view(np.uint32)
        return np.flatnonzero(mask)

    def _access(self, step: MemoryStep, lanes: Lanes) -> None:
        """Make an access that the code left to Python. Raises Fault."""
        batch, positions = self._batch, self._positions()
        numbers = positions + int(self._fields[layout.CHUNK >> 3]) * LANES
        if lanes is not None:
            numbers = lanes[numbers]
        a = self._memory[layout.ADDRESS : layout.ADDRESS + layout.WIDE].view(np.uint64)[positions]
        access = step.access
        space = "generic" if not step.space else step.space.partition("::")[0]
        array, index = batch.spaces.at("global" if space == "const" else space, a, access, numbers)
        unsigned = np.dtype(_UNSIGNED[access.dtype.itemsize])
        lane = np.dtype(np.uint64 if access.dtype.itemsize == 8 else np.uint32)
        for number, offset in enumerate(step.items):
            home = self._memory[offset : offset + LANES * lane.itemsize].view(lane)
            if access.mode == READ:
                home[positions] = array.take(index + number).view(unsigned)
            else:
                put(array, index + number, home[positions].astype(unsigned).view(access.dtype))

    def _pause(self, lanes: Lanes) -> None:
        places = self._memory[layout.PLACE : layout.PLACE + layout.NARROW].view(np.uint32)
        first = int(places.min())
        numbers = self._region.numbers
        self._look(numbers[first] if first < len(numbers) else numbers[0], lanes)


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


