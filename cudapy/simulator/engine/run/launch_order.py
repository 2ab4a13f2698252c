"""What the race detectors of a launch's batches have in common: clocks, shadows, and what flags pass on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .access_sites import site_of
from .clocks import Clocks

if TYPE_CHECKING:
    from collections.abc import Hashable

    from ..compile.function import CompiledFunction
    from .access_sites import Site
    from .shadow import Shadow


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
            self.sites.append(site_of(function, function.instructions[number], mode))
        return site
