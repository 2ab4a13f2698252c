"""What strong accesses pass on: who reads a flag, or finds the phase of an mbarrier over, knows what those
who wrote it or arrived there have released.

Source: PTX ISA, "Memory Consistency Model": "Release and Acquire Patterns", "Synchronizes"; "mbarrier".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..access import READ, WRITE
from .clocks import CLUSTER, CTA, GPU
from .launch_order import Location

if TYPE_CHECKING:
    from collections.abc import Hashable

    from ..aliases import I64
    from .access_sites import Site
    from .clocks import HappensBefore
    from .launch_order import LaunchOrder
    from .seen_access import SeenAccess
    from .threads import Threads


class StrongAccesses:
    """Those of a batch; `first_block` is the position of its first block in the launch."""

    def __init__(
        self, threads: Threads, order: LaunchOrder, happens: HappensBefore, first_block: int
    ) -> None:
        self._threads, self._order, self._happens = threads, order, happens
        self._first_block = first_block

    def _location(self, key: Hashable) -> Location:
        location = self._order.locations.get(key)
        if location is None:
            location = self._order.locations[key] = Location()
        return location

    def pass_on(self, seen: SeenAccess, site: Site, memory: Hashable, start: I64) -> None:
        """Lanes access a place each, which starts at an offset in some memory."""
        order, happens = self._order, self._happens
        if not site.scope or site.instruction.name == "mbarrier":
            return
        if seen.mode == READ:
            if not order.locations:
                return
        elif not (site.releases or order.locations or happens.has_fences):
            return
        for lane, offset in zip(seen.lanes.tolist(), start.tolist(), strict=True):
            key = memory, offset
            location = order.locations.get(key)
            if location is not None and seen.mode != WRITE:
                self._take(lane, location, site)
            if seen.mode != READ:
                self._give(lane, key, location, site)

    def _take(self, lane: int, location: Location, site: Site) -> None:
        happens, block = self._happens, self._happens.block_of(lane)
        numbers = {
            CTA: location.in_block.get(block, 0),
            CLUSTER: location.in_cluster.get(block // self._threads.cluster_size, 0),
            GPU: location.everywhere,
        }
        known = [(scope, number) for scope, number in numbers.items() if number]
        if not site.acquires:
            for scope, number in known:
                happens.acquire_by_fence(lane, number, scope)
        elif number := self._order.clocks.join(number for scope, number in known if scope <= site.scope):
            happens.acquire(lane, number)

    def _give(self, lane: int, key: Hashable, location: Location | None, site: Site) -> None:
        happens, join = self._happens, self._order.clocks.join
        if site.releases:
            numbers = {level: happens.release(lane) for level in (site.scope,)}
        else:
            numbers = {level: happens.released(lane, level) for level in range(CTA, site.scope + 1)}
        if not any(numbers.values()):
            if location is not None and site.mode == WRITE:
                del self._order.locations[key]
            return
        if location is None or site.mode == WRITE:
            location = self._order.locations[key] = Location()
        block = happens.block_of(lane)
        cluster = block // self._threads.cluster_size
        location.in_block[block] = join([location.in_block.get(block, 0), *numbers.values()])
        wide = [number for level, number in numbers.items() if level >= CLUSTER]
        if wide:
            location.in_cluster[cluster] = join([location.in_cluster.get(cluster, 0), *wide])
        location.everywhere = join([location.everywhere, numbers.get(GPU, 0)])

    def arrived(self, words: I64, odd: I64, lanes: I64) -> None:
        """Lanes arrived at phases of mbarriers, which releases what they have done."""
        for word, parity, lane in zip(words.tolist(), odd.tolist(), lanes.tolist(), strict=True):
            location = self._location(("mbarrier", self._first_block, word, parity))
            location.everywhere = self._order.clocks.join([location.everywhere, self._happens.release(lane)])

    def waited(self, words: I64, odd: I64, lanes: I64) -> None:
        """Lanes found phases of mbarriers over, which acquires what was released there."""
        for word, parity, lane in zip(words.tolist(), odd.tolist(), lanes.tolist(), strict=True):
            location = self._order.locations.get(("mbarrier", self._first_block, word, parity))
            if location is not None and location.everywhere:
                self._happens.acquire(lane, location.everywhere)
