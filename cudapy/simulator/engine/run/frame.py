"""The registers of one function at one depth of calls, for all threads of a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..aliases import I64, Array


class Frame(list["Array"]):
    """A register is an array over all lanes, or a scalar that all lanes share.

    Arrays are shared between registers and with caches, so they are changed in place only if they were made
    here for that ("owned"), which no longer holds once a block ran for all lanes and may have given them to
    others.
    """

    __slots__ = ("lanes", "owned")

    def __init__(self, initial: list[Array], count: int) -> None:
        super().__init__(initial)
        self.lanes = count
        self.owned: set[int] = set()

    def merge(self, slot: int, value: Array | np.generic, lanes: I64) -> None:
        """Set a register of some lanes."""
        if slot not in self.owned:
            old = self[slot]
            if old.ndim:
                fresh = old.copy()
            else:
                fresh = np.empty(self.lanes, value.dtype)
                fresh.fill(old)
            self[slot] = fresh
            self.owned.add(slot)
        self[slot][lanes] = value
