"""Which lines and branches of the kernels of this process ran, by the names of their source."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from .._ffi.mangled import readable
from .engine import coverage, fault

if TYPE_CHECKING:
    from .engine import Counts


class KernelCoverage:
    """How many threads ran each line of a kernel and of what it calls. Jupyter shows a table."""

    def __init__(self, counts: Counts) -> None:
        self._counts = counts

    @property
    def kernel(self) -> str:
        """The kernel's name, as in its source: `fill<float>`."""
        return readable(self._counts.kernel.name)

    def lines(self) -> dict[tuple[str, int], int]:
        """Threads that ran each (file, line); without `lineinfo` lines of the PTX, with "" for the file."""
        return self._counts.lines()

    def branches(self) -> dict[tuple[str, int], tuple[int, int]]:
        """For each branch, by function and line of the PTX: threads that took it, and that did not."""
        return {(readable(name), line): ways for (name, line), ways in self._counts.branches().items()}

    def _repr_html_(self) -> str:
        """A row for each line, those that no thread ran in red."""
        red = {True: ' style="color: #d33"', False: ""}
        rows = "".join(
            f"<tr{red[threads == 0]}><td>{escape(fault.relative(file))}:{line}</td><td>{threads:,}</td></tr>"
            for (file, line), threads in sorted(self.lines().items())
        )
        head = "<tr><th>line</th><th>threads</th></tr>"
        return f"<table><caption>{escape(self.kernel)}</caption>{head}{rows}</table>"


def report() -> list[KernelCoverage]:
    """Of every kernel that ran, in the order of first launches."""
    return [KernelCoverage(counts) for counts in coverage.report()]
