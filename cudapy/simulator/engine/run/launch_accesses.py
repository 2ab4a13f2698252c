"""Which bytes a grid has read and written, as the race detector has seen it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .clocks import GPU
from .report import place_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..aliases import I64, Bools
    from ..fault import Place
    from ..kernel import Kernel
    from .access_sites import Site
    from .launch_order import LaunchOrder
    from .shadow import Runs


class Ranges:
    """Ranges of an allocation, sorted and apart, that instructions have accessed. They are found when
    somebody asks: what is ordered is not compared.
    """

    def __init__(
        self, start: int, end: int, is_dense: bool, find: Callable[[], tuple[I64, I64, I64]]
    ) -> None:
        self.start, self.end = start, end
        """Where the first starts, and the last ends."""
        self.is_dense = is_dense
        """Whether there is nothing between them."""
        self._find = find

    @classmethod
    def of(cls, starts: I64, ends: I64, sites: I64 | None = None) -> Ranges:
        """Those that are known, and the sites if there are any."""
        is_dense = bool((ends[:-1] == starts[1:]).all())
        known = starts, ends, np.empty(0, np.int64) if sites is None else sites
        return cls(int(starts[0]), int(ends[-1]), is_dense, lambda: known)

    @cached_property
    def _found(self) -> tuple[I64, I64, I64]:
        return self._find()

    @property
    def starts(self) -> I64:
        """Where each starts, in the allocation."""
        return self._found[0]

    @property
    def ends(self) -> I64:
        return self._found[1]

    @property
    def sites(self) -> I64:
        """For each, the site of the instruction."""
        return self._found[2]


class Accessed(NamedTuple):
    """What a grid has read or written of an allocation."""

    allocation: int
    """Its address."""
    ranges: Ranges
    is_write: bool
    is_strong: bool
    """By accesses that race with no strong ones: atomics of the whole device's scope, for example."""


class LaunchAccesses(NamedTuple):
    """All accesses of a grid."""

    kernel: str
    accessed: list[Accessed]
    sites: list[Site]
    has_order: bool
    """Whether its threads wait for what other threads write, or let others wait for them."""
    talks_to_host: bool
    """Whether it has accesses of the system's scope, or volatile ones, as the host can wait for."""

    def place(self, site: int) -> Place:
        """The instruction of a site."""
        return place_of(self.kernel, self.sites[site].function, self.sites[site].instruction)


def accesses_of(kernel: Kernel, order: LaunchOrder) -> LaunchAccesses:
    """What a grid that has run accessed in global memory."""
    accessed = []
    strong = np.array([site.scope >= GPU for site in order.sites], bool)
    kinds = (False, True) if strong.any() else (False,)
    for address, shadow in order.shadows.items():
        # every part that was read has both reads: only where some are strong these may be of two kinds
        records = [shadow.write, shadow.first_read, shadow.last_read][: len(kinds) + 1]
        for place, record in enumerate(records):
            runs = record.runs(len(order.sites))
            if runs.exist:
                for is_strong in kinds:
                    ranges = _ranges(runs, shadow.granularity, strong == is_strong)
                    if ranges is not None:
                        accessed.append(Accessed(address, ranges, not place, is_strong))
    waits = any(one.polls or one.acquires or one.releases for one in order.sites)
    opcodes = [one.instruction.opcode for one in order.sites if one.scope]
    talks = any(".sys" in opcode or ".volatile" in opcode for opcode in opcodes)
    return LaunchAccesses(kernel.name, accessed, order.sites, bool(order.locations) or waits, talks)


def _ranges(runs: Runs, size: int, chosen: Bools) -> Ranges | None:
    """What chosen sites have accessed, in parts of so many bytes; None if that is nothing."""

    def find() -> tuple[I64, I64, I64]:
        starts, ends, sites = runs.found
        if not chosen.all():
            starts, ends, sites = (one[chosen[sites]] for one in (starts, ends, sites))
        return starts * size, ends * size, sites

    if chosen.all():
        return Ranges(runs.start * size, runs.end * size, runs.is_dense, find)
    found = find()
    return Ranges.of(*found) if len(found[0]) else None
