"""What a fault says: the kernel, the line, the thread, the address, and what lies near it."""

from __future__ import annotations

import contextlib
import os
from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from ..classes import EQUAL, FAULT
from ..fault import AllocatedMemory, Fault, Finding, OtherAccess, Place

if TYPE_CHECKING:
    from collections.abc import Hashable

    from ..aliases import U64, Bools, Lanes
    from ..compile.function import CompiledFunction
    from ..fault import Value
    from ..kernel import Kernel
    from ..memory import Memory
    from ..ptx.syntax import Instruction
    from .threads import Threads

MOST = 100
"""Findings of a launch that are reported."""
NULL = 1 << 16  # an address below is a null pointer and an offset
FAR = 1 << 24  # bytes from an allocation at which an address has nothing to do with it


class Findings:
    """What was found in a launch and did not end it: each once for its place, with how often it was found.

    classes: those that are reported.
    """

    def __init__(self, classes: frozenset[str]) -> None:
        self.classes = classes
        self._found: dict[Hashable, Finding] = {}
        self._times: dict[Hashable, int] = {}

    def is_new(self, key: Hashable) -> bool:
        """Whether it is the first finding of its place, and is to be added; it is counted if it is not."""
        times = self._times.get(key, 0)
        self._times[key] = times + 1
        return not times and len(self._found) < MOST

    def add(self, key: Hashable, finding: Finding) -> None:
        self._found[key] = finding

    def all(self) -> tuple[Finding, ...]:
        return tuple(replace(one, times=self._times[key]) for key, one in self._found.items())


class Reporter:
    """Raises the faults of a batch's threads."""

    def __init__(
        self, threads: Threads, memory: Memory, kernel: Kernel, findings: Findings, parameters: bytes
    ) -> None:
        self._findings, self._parameters = findings, parameters
        self.function = kernel.compiled
        """The function that runs."""
        self.kernel_name = kernel.name
        self._threads, self._memory = threads, memory

    def where(self, number: int) -> Place:
        """One of the instructions of the function that runs."""
        return place_of(self.kernel_name, self.function, self.function.instructions[number])

    def fail(
        self,
        status: int,
        what: str,
        number: int,
        lanes: Lanes,
        bad: Bools | np.bool_ | bool,
        address: U64 | np.uint64 | None = None,
        size: int = 0,
        more: str = "",
    ) -> NoReturn:
        """Raise the Fault of an instruction; `bad` says which of `lanes` it is the fault of."""
        raise Fault(status, self._report(FAULT, what, number, lanes, bad, address, size, more))

    def find(
        self,
        kind: str,
        what: str,
        number: int,
        lanes: Lanes,
        bad: Bools | np.bool_ | bool,
        address: U64 | np.uint64 | None = None,
        size: int = 0,
        more: str = "",
        other: OtherAccess | None = None,
        function: CompiledFunction | None = None,
        also: str = "",
        verb: str = "",
        value: Value = None,
    ) -> None:
        """As `fail`, for what does not end the kernel: told once for the lines of the source, and of the
        `other` access that it is about.

        kind: its class.
        function: whose instruction it is; None: of the one that runs.
        also: another hint.
        verb: what the access does with a `value`: see `Finding`.
        """
        if kind not in self._findings.classes:
            return
        function = function or self.function
        place = place_of(self.kernel_name, function, function.instructions[number])
        key = kind == EQUAL, what.partition(" (")[0], _line(place), other and _line(other.place)
        if self._findings.is_new(key):
            found = self._report(kind, what, number, lanes, bad, address, size, more, function)
            note = "\n    ".join(filter(None, (found.note, also)))
            self._findings.add(key, replace(found, note=note, other=other, verb=verb, value=value))

    def _report(
        self,
        kind: str,
        what: str,
        number: int,
        lanes: Lanes,
        bad: Bools | np.bool_ | bool,
        address: U64 | np.uint64 | None,
        size: int,
        more: str,
        function: CompiledFunction | None = None,
    ) -> Finding:
        numbers = self._threads.numbers(lanes)
        bad = np.broadcast_to(bad, numbers.shape)
        first = int(np.argmax(bad))
        block, thread = self._threads.indices(int(numbers[first]))
        one = None if address is None else int(np.broadcast_to(address, numbers.shape)[first])
        allocation = None if one is None else self._allocation(one, kind == FAULT)
        note = more or (self._near(one, allocation) if one is not None else "")
        count = int(np.count_nonzero(bad))
        function = function or self.function
        place = place_of(self.kernel_name, function, function.instructions[number])
        return Finding(
            kind, what, place, block, thread, count, len(numbers), one, size, note, allocation=allocation
        )

    def _allocation(self, address: int, may_be_near: bool) -> AllocatedMemory | None:
        """The memory that an address lies in; or did so before it was released, or lies near to."""
        if address < NULL:  # of shared or local memory, or a null pointer
            return None
        fate, memory = "", self._memory.find(address)
        if memory is None and may_be_near and (memory := self._memory.released(address)) is not None:
            fate = memory.fate
        if memory is None and may_be_near and self._host_pointer(address) is None:
            near = self._memory.nearest(address)
            if near is not None and min(abs(address - near.address), abs(address - near.end)) <= FAR:
                memory = near
        if memory is None:
            return None
        return AllocatedMemory(memory.kind, memory.address, memory.size, memory.place, fate)

    def _near(self, address: int, near: AllocatedMemory | None) -> str:
        if address < NULL:
            return f"{address} bytes past a null pointer" if address else "a null pointer"
        if near is None:
            if (pointer := self._host_pointer(address)) is not None:
                return f"the kernel was given {pointer:#x}, which is {_HOST}: copy it to a Buffer"
            missing = (
                "there is no allocation" if self._memory.nearest(address) is None else "no allocation is near"
            )
            return f"{_mapped(address)}; {missing}"
        end = near.address + near.size
        if near.fate:
            place = "in"
        elif address < near.address:
            place = f"{near.address - address} bytes before"
        elif address >= end:
            place = f"{address - end} bytes past the end of"
        else:
            place = f"at offset {address - near.address} of"
        return f"{place} {near}"

    def _host_pointer(self, address: int) -> int | None:
        """The parameter of the kernel that points to host memory, and which `address` is of; None for none.

        It is behind the pointer, and nearer to it than to memory of the device.
        """
        words = np.frombuffer(self._parameters, np.uint64, len(self._parameters) // 8).tolist()
        behind = [word for word in words if NULL <= word <= address and address - word < FAR]
        if not behind or self._memory.find(pointer := max(behind)) is not None:
            return None
        near = self._memory.nearest(address)
        if (
            near is not None
            and min(abs(address - near.address), abs(address - near.end)) <= address - pointer
        ):
            return None
        return pointer if _mapped(pointer) == _HOST else None


def _line(place: Place) -> Hashable:
    """The line of the source, or else of the PTX."""
    line = place.ptx_line if place.line is None else (place.file, place.line)
    return place.function, line


def threads(count: int, what: str) -> str:
    """How many threads do what: 64 threads wait, 1 thread waits. `what` begins with the verb of several."""
    verb, space, rest = what.partition(" ")
    if count == 1:
        verb = "is" if verb == "are" else f"{verb}s"
    return f"{count} thread{'s' * (count != 1)} {verb}{space}{rest}"


def place_of(kernel_name: str, function: CompiledFunction, instruction: Instruction) -> Place:
    """Where an instruction stands."""
    location, inlined = instruction.location, ""
    if location is not None and _is_toolkit(location.file):
        user = next((one for one in instruction.callers if not _is_toolkit(one.file)), None)
        if user is not None:
            location, inlined = user, f"{os.path.basename(location.file)}:{location.line}"
    file, line = (None, None) if location is None else (location.file, location.line)
    name = instruction.function or function.name
    return Place(kernel_name, name, instruction.text, instruction.line, file, line, inlined)


def _is_toolkit(file: str) -> bool:
    """Whether a file is a header of a toolkit or library, and not the program's own."""
    return "/include/" in file.replace("\\", "/") or file.endswith(_OF_NVRTC)


_OF_NVRTC = "__nv_nvrtc_builtin_header.h"
"""What NVRTC has instead of files."""
_HOST = "host memory, such as a NumPy array's, which kernels cannot use"


def _mapped(address: int) -> str:
    """Whether it is memory of this process, which kernels cannot use as it is."""
    with contextlib.suppress(OSError), open("/proc/self/maps") as file:
        for line in file:
            low, _, high = line.partition(" ")[0].partition("-")
            if int(low, 16) <= address < int(high, 16):
                return _HOST
    return "an address without memory"
