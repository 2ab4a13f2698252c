"""Which bytes a grid has read and written, as the race detector has seen it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .clocks import GPU
from .report import place_of

if TYPE_CHECKING:
    from ..aliases import I32, I64
    from ..fault import Place
    from ..kernel import Kernel
    from .access_sites import Site
    from .launch_order import LaunchOrder


class Accessed(NamedTuple):
    """Ranges of an allocation, sorted and apart, that instructions have read or written."""

    allocation: int
    """Its address."""
    starts: I64
    """Where each range starts, in the allocation."""
    ends: I64
    is_write: bool
    is_strong: bool
    """By accesses that race with no strong ones: atomics of the whole device's scope, for example."""
    sites: I32 | I64
    """For each range, the site of the instruction."""


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
        runs = [record.runs() for record in records]
        for is_strong in kinds:
            for place, (starts, ends, sites) in enumerate(runs):
                chosen = strong[sites] == is_strong if len(kinds) > 1 else slice(None)
                first, last, numbers = starts[chosen], ends[chosen], sites[chosen]
                if len(numbers):
                    size = shadow.granularity
                    accessed.append(
                        Accessed(address, first * size, last * size, not place, is_strong, numbers)
                    )
    waits = any(one.polls or one.acquires or one.releases for one in order.sites)
    opcodes = [one.instruction.opcode for one in order.sites if one.scope]
    talks = any(".sys" in opcode or ".volatile" in opcode for opcode in opcodes)
    return LaunchAccesses(kernel.name, accessed, order.sites, bool(order.locations) or waits, talks)
