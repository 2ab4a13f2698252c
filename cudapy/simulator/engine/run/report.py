"""What a fault says: the kernel, the line, the thread, the address, and what lies near it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ..fault import Fault

if TYPE_CHECKING:
    from ..compile.function import CompiledFunction
    from ..memory import Memory


class Reporter:
    """The part of a batch that knows which lane is which thread."""

    memory: Memory
    function: CompiledFunction
    """The function that runs."""
    kernel_name: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    block_numbers: Any
    """The number in the grid of each block."""
    block_count: int
    threads: int
    """Threads of a block."""
    count: int
    """Lanes."""
    all_lanes: Any

    def numbers(self, lanes: Any) -> Any:
        """The numbers of lanes."""
        return self.all_lanes if lanes is None else lanes

    def thread(self, lane: int) -> str:
        """Block and thread of a lane."""
        return f"{self.block_name(lane // self.threads)} thread {_place(lane % self.threads, self.block)}"

    def block_name(self, position: int) -> str:
        """A block of the batch, as the grid numbers it."""
        return f"block {_place(int(self.block_numbers[position]), self.grid)}"

    def where(self, number: int) -> str:
        """The function and lines of one of the instructions of the function that runs."""
        return place_of(self.kernel_name, self.function, self.function.instructions[number])

    def fail(
        self,
        status: int,
        what: str,
        number: int,
        lanes: Any,
        bad: Any,
        address: Any = None,
        size: int = 0,
        more: str = "",
    ) -> NoReturn:
        """Raise the Fault of an instruction; `bad` says which of `lanes` it is the fault of."""
        numbers = self.numbers(lanes)
        bad = np.broadcast_to(bad, numbers.shape)
        first = int(np.argmax(bad))
        text = [what + (f" of {size} bytes" if size else ""), f"    {self.where(number)}"]
        guilty = f"    by {self.thread(int(numbers[first]))}"
        others = int(np.count_nonzero(bad)) - 1
        text.append(guilty + (f" and {others} more of {len(numbers)} in this instruction" if others else ""))
        if address is not None:
            one = int(np.broadcast_to(address, numbers.shape)[first])
            text.append(f"    address {one:#x}")
            more = more or self._near(one, size)
        if more:
            text.append(f"    {more}")
        raise Fault(status, "\n".join(text))

    def _near(self, address: int, size: int) -> str:
        released = self.memory.released(address)
        if released is not None:
            return (
                f"in {released.kind} memory of {released.size} bytes at {released.address:#x} that was freed"
            )
        near = self.memory.nearest(address)
        if near is None:
            return "there is no allocation at all"
        if address < near.address:
            place = f"{near.address - address} bytes before"
        elif address >= near.end:
            place = f"{address - near.end} bytes past the end of"
        else:
            place = f"at offset {address - near.address} of"
        return f"{place} {near.kind} memory of {near.size} bytes at {near.address:#x}"


def place_of(kernel_name: str, function: CompiledFunction, instruction: Any) -> str:
    """Where an instruction stands: kernel, source line, PTX line and text."""
    text = f"in {kernel_name}"
    if function.name != kernel_name:
        text += f", in {function.name}"
    if instruction.location is not None:
        text += f", {instruction.location.file}:{instruction.location.line}"
    return f"{text}, PTX line {instruction.line}: {instruction.text}"


def _place(number: int, shape: tuple[int, int, int]) -> str:
    x, y, _ = shape
    return f"({number % x},{number // x % y},{number // (x * y)})"
