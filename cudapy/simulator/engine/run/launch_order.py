"""What the race detectors of a launch's batches have in common: clocks, shadows, and what flags pass on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .access_sites import site_of
from .clocks import Clocks
from .shadow import WIDEST, Shadow

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from ..compile.function import CompiledFunction
    from ..kernel import Kernel
    from ..memory import Allocation, Memory
    from .access_sites import Site


class Location:
    """What the last write of a place passes on to those who read it: clocks by the scope of the release."""

    def __init__(self) -> None:
        self.everywhere = 0
        self.in_cluster: dict[int, int] = {}
        self.in_block: dict[int, int] = {}


class LaunchOrder:
    """What the batches of a launch have in common."""

    def __init__(self, threads_of_block: int) -> None:
        self.clocks = Clocks(threads_of_block)
        self.shadows: dict[int, Shadow] = {}
        """By the address of the allocation."""
        self.locations: dict[Hashable, Location] = {}
        self.changes = 0
        """How often a shadow was added or refined."""
        self.sites: list[Site] = []
        self._numbers: dict[tuple[int, int, int], int] = {}

    def site(self, function: CompiledFunction, number: int, mode: int) -> int:
        key = (id(function), number, mode)
        site = self._numbers.get(key)
        if site is None:
            site = self._numbers[key] = len(self.sites)
            self.sites.append(site_of(function, number, mode))
        return site

    def shadow(self, allocation: Allocation, part: int) -> Shadow:
        """That of an allocation of which parts of so many bytes are accessed now."""
        while allocation.address & (part - 1):  # a part starts at a multiple of its size in the allocation
            part //= 2
        shadow = self.shadows.get(allocation.address)
        if shadow is None:
            shadow = self.shadows[allocation.address] = Shadow.blank(allocation.size + WIDEST, part)
            self.changes += 1
        elif part < shadow.granularity:
            shadow.refine(part)
            self.changes += 1
        return shadow

    def close(self) -> None:
        """The launch is over, and nobody asks for what it has accessed any more."""
        for shadow in self.shadows.values():
            shadow.leave()
        self.shadows.clear()

    def expect(self, kernel: Kernel, parameters: bytes, memory: Memory) -> None:
        """Have shadows of the allocations that parameters point to, where those of earlier launches did."""
        for offset, allocation in _pointed(kernel, parameters, memory):
            if offset in kernel.parts_accessed:
                self.shadow(allocation, kernel.parts_accessed[offset])

    def remember(self, kernel: Kernel, parameters: bytes, memory: Memory) -> None:
        """Note for launches to come which parameters pointed to what the kernel has accessed."""
        for offset, allocation in _pointed(kernel, parameters, memory):
            shadow = self.shadows.get(allocation.address)
            if shadow is not None:
                kernel.parts_accessed[offset] = shadow.granularity


def is_constant(allocation: Allocation) -> bool:
    """Whether kernels only read it.

    Source: PTX ISA, "State Spaces".
    """
    return allocation.kind.startswith("constant") or allocation.kind == "parameters"


def _pointed(kernel: Kernel, parameters: bytes, memory: Memory) -> Iterator[tuple[int, Allocation]]:
    """The offsets of parameters that may be pointers, and the allocations that they point to."""
    for offset, size in kernel.parameters:
        if size == 8:
            allocation = memory.find(int.from_bytes(parameters[offset : offset + size], "little"))
            if allocation is not None and not is_constant(allocation):
                yield offset, allocation
