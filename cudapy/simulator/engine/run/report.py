"""What a fault says: the kernel, the line, the thread, the address, and what lies near it."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from ..fault import Fault

if TYPE_CHECKING:
    from ..aliases import U64, Bools, Lanes
    from ..compile.function import CompiledFunction
    from ..kernel import Kernel
    from ..memory import Memory
    from ..ptx.syntax import Instruction
    from .threads import Threads

NULL = 1 << 16  # an address below is a null pointer and an offset
FAR = 1 << 24  # bytes from an allocation at which an address has nothing to do with it


class Reporter:
    """Raises the faults of a batch's threads."""

    def __init__(self, threads: Threads, memory: Memory, kernel: Kernel) -> None:
        self.function = kernel.compiled
        """The function that runs."""
        self.kernel_name = kernel.name
        self._threads, self._memory = threads, memory

    def where(self, number: int) -> str:
        """The function and lines of one of the instructions of the function that runs."""
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
        numbers = self._threads.numbers(lanes)
        bad = np.broadcast_to(bad, numbers.shape)
        first = int(np.argmax(bad))
        text = [what + (f" of {size} bytes" if size else ""), f"    {self.where(number)}"]
        guilty = f"    by {self._threads.name(int(numbers[first]))}"
        others = int(np.count_nonzero(bad)) - 1
        text.append(guilty + (f" and {others} more of {len(numbers)} in this instruction" if others else ""))
        if address is not None:
            one = int(np.broadcast_to(address, numbers.shape)[first])
            text.append(f"    address {one:#x}")
            more = more or self._near(one)
        if more:
            text.append(f"    {more}")
        if self.function.instructions[number].location is None:
            text.append("    compile with lineinfo=True to see the line of the source")
        raise Fault(status, "\n".join(text))

    def _near(self, address: int) -> str:
        if address < NULL:
            return f"{address} bytes past a null pointer" if address else "a null pointer"
        released = self._memory.released(address)
        if released is not None:
            return (
                f"in {released.kind} memory of {released.size} bytes at {released.address:#x} {released.fate}"
            )
        near = self._memory.nearest(address)
        if near is None:
            return f"{_mapped(address)}; there is no allocation"
        if min(abs(address - near.address), abs(address - near.end)) > FAR:
            return f"{_mapped(address)}; no allocation is near"
        if address < near.address:
            place = f"{near.address - address} bytes before"
        elif address >= near.end:
            place = f"{address - near.end} bytes past the end of"
        else:
            place = f"at offset {address - near.address} of"
        return f"{place} {near.kind} memory of {near.size} bytes at {near.address:#x}"


def threads(count: int, what: str) -> str:
    """How many threads do what: 64 threads wait, 1 thread waits. `what` begins with the verb of several."""
    verb, space, rest = what.partition(" ")
    if count == 1:
        verb = "is" if verb == "are" else f"{verb}s"
    return f"{count} thread{'s' * (count != 1)} {verb}{space}{rest}"


def place_of(kernel_name: str, function: CompiledFunction, instruction: Instruction) -> str:
    """Where an instruction stands: kernel, source line, PTX line and text."""
    text = f"in {kernel_name}"
    if function.name != kernel_name:
        text += f", in {function.name}"
    if instruction.location is not None:
        text += f", {_from_here(instruction.location.file)}:{instruction.location.line}"
    return f"{text}, PTX line {instruction.line}: {instruction.text}"


def _from_here(file: str) -> str:
    """The path of a file as it was given: NVRTC puts the working directory in front of it."""
    with contextlib.suppress(OSError):
        return file.removeprefix(os.path.join(os.getcwd(), ""))
    return file


def _mapped(address: int) -> str:
    """Whether it is memory of this process, which kernels cannot use as it is."""
    with contextlib.suppress(OSError), open("/proc/self/maps") as file:
        for line in file:
            low, _, high = line.partition(" ")[0].partition("-")
            if int(low, 16) <= address < int(high, 16):
                return "host memory, such as a NumPy array's, which kernels cannot use"
    return "an address without memory"
