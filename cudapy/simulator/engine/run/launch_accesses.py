"""Which bytes a grid has read and written, as the race detector has seen it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..access import READ
from .clocks import GPU
from .report import place_of

if TYPE_CHECKING:
    from ..aliases import I64
    from ..fault import Place
    from ..kernel import Kernel
    from .race_detector import LaunchOrder, Site


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
    sites: I64
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
    reads = np.array([site.mode == READ for site in order.sites], bool)
    for address, shadow in order.shadows.items():
        runs = [record.runs() for record in (shadow.write, shadow.first_read, shadow.last_read)]
        for is_strong in (False, True):
            for is_write, records in ((True, runs[:1]), (False, runs[1:])):
                for starts, ends, numbers in records:
                    chosen = (strong[numbers] == is_strong) & (reads[numbers] != is_write)
                    if chosen.any():
                        first, last = (part[chosen] * shadow.granularity for part in (starts, ends))
                        one = Accessed(address, first, last, is_write, is_strong, numbers[chosen])
                        accessed.append(one)
    sites = order.sites
    has_order = bool(order.locations) or any(one.polls or one.acquires or one.releases for one in sites)
    opcodes = [one.instruction.opcode for one in sites if one.scope]
    talks = any(".sys" in opcode or ".volatile" in opcode for opcode in opcodes)
    return LaunchAccesses(kernel.name, accessed, sites, has_order, talks)
