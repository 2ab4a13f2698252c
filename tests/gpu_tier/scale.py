"""How much of everything a test does."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Scale:
    """small: few rounds, to see that the tests work. workers: how many processes a test may start at once.

    share: the part of a test that is split into several, such as (0, 8).
    """

    small: bool
    workers: int
    share: tuple[int, int] = (0, 1)

    def of(self, full: T, small: T) -> T:
        """The one of the two that fits."""
        return small if self.small else full

    def part(self, count: int) -> range:
        """What this part does of `count` things."""
        return range(self.share[0], count, self.share[1])

    @property
    def simulated(self) -> bool:
        """Whether the device is the simulator."""
        return os.environ.get("CUDAPY_DRIVER") == "simulator"
