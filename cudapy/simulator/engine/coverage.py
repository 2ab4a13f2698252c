"""Which lines and branches of kernels ran, and how often."""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .kernel import Kernel
    from .ptx.syntax import Instruction

_Key: TypeAlias = tuple[str, int, str]
"""An instruction: its function's name, its number and opcode there."""


class Counts:
    """How many threads ran each block of a kernel's functions, and which way they went."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.blocks: collections.Counter[tuple[int, int]] = collections.Counter()
        self.taken: collections.Counter[tuple[int, int]] = collections.Counter()
        self.not_taken: collections.Counter[tuple[int, int]] = collections.Counter()

    def ran(self, function: int, block: int, threads: int) -> None:
        self.blocks[function, block] += threads

    def branched(self, function: int, block: int, taken: int, not_taken: int) -> None:
        self.taken[function, block] += taken
        self.not_taken[function, block] += not_taken

    def lines(self) -> dict[tuple[str, int], int]:
        """Threads that ran each line: of the source, where the PTX says it, else of the PTX itself ("")."""
        ran: collections.Counter[_Key] = collections.Counter()
        instructions: dict[_Key, Instruction] = {}
        for key, instruction, place in self._instructions():
            instructions[key] = instruction
            ran[key] += self.blocks[place]
        entered = self._entered()
        lines: dict[tuple[str, int], int] = {}
        for key, instruction in instructions.items():
            if key[0] in entered:
                location = instruction.location or ("", instruction.line)
                lines[location[:2]] = max(lines.get(location[:2], 0), ran[key])
        return lines

    def _instructions(self) -> Iterator[tuple[_Key, Instruction, tuple[int, int]]]:
        """What was in the PTX, with its block: that of an inlined function is in several."""
        for number, function in enumerate(self.kernel.functions):
            for block in function.blocks:
                for step in block.steps:
                    one = step.instruction
                    yield (one.function or function.name, one.number, one.opcode), one, (number, block.index)

    def branches(self) -> dict[tuple[str, int], tuple[int, int]]:
        """For each conditional branch, by function and PTX line: threads that took it, and that did not."""
        sums: dict[_Key, list[int]] = {}
        lines: dict[tuple[str, int], tuple[int, int]] = {}
        entered = self._entered()
        for key, instruction, (number, index) in self._instructions():
            block = self.kernel.functions[number].blocks[index]
            is_last = block.steps[-1].instruction is instruction
            if is_last and block.end == "branch" and not block.is_certain and key[0] in entered:
                ways = sums.setdefault(key, [0, 0])
                ways[0] += self.taken[number, index]
                ways[1] += self.not_taken[number, index]
                lines[key[0], instruction.line] = ways[0], ways[1]
        return lines

    def _entered(self) -> set[str]:
        """The functions that any thread ran."""
        ran = {key[0] for key, _, place in self._instructions() if self.blocks[place]}
        return ran | {self.kernel.name}


_counts: dict[int, Counts] = {}


def counts(kernel: Kernel) -> Counts:
    """The counts of a kernel, from its first launch with `Settings.coverage` on."""
    return _counts.setdefault(id(kernel), Counts(kernel))


def report() -> list[Counts]:
    """Of every kernel that ran, in the order of first launches."""
    return list(_counts.values())


def reset() -> None:
    """Forget all counts."""
    _counts.clear()
