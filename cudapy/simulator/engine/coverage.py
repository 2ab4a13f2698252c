"""Which lines and branches of kernels ran, and how often."""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING

from .fault import relative

if TYPE_CHECKING:
    from .kernel import Kernel


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
        lines: dict[tuple[str, int], int] = {}
        for number, function in enumerate(self.kernel.functions):
            for block in function.blocks:
                for step in block.steps:
                    location = step.instruction.location
                    key = ("", step.instruction.line) if location is None else (location.file, location.line)
                    lines[key] = max(lines.get(key, 0), self.blocks[number, block.index])
        return lines

    def branches(self) -> dict[tuple[str, int], tuple[int, int]]:
        """For each conditional branch, by function and PTX line: threads that took it, and that did not."""
        return {
            (function.name, block.steps[-1].instruction.line): (
                self.taken[number, block.index],
                self.not_taken[number, block.index],
            )
            for number, function in enumerate(self.kernel.functions)
            for block in function.blocks
            if block.end == "branch" and not block.is_certain
        }

    def _repr_html_(self) -> str:
        """For Jupyter: a row for each line, those that no thread ran in red."""
        from html import escape

        colours = {True: "", False: ' style="color: #c00"'}
        rows = "".join(
            f"<tr{colours[threads > 0]}><td>{escape(relative(file))}:{line}</td><td>{threads:,}</td></tr>"
            for (file, line), threads in sorted(self.lines().items())
        )
        head = "<tr><th>line</th><th>threads</th></tr>"
        return f"<table><caption>{escape(self.kernel.name)}</caption>{head}{rows}</table>"


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
