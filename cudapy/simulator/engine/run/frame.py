"""The registers of one function at one depth of calls, for all threads of a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .undefined import spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..aliases import I64, Array, Lanes
    from .undefined import Undefined


class Frame(list["Array"]):
    """A register is an array over all lanes, or a scalar that all lanes share.

    Arrays are shared between registers and with caches, so they are changed in place only if they were made
    here for that ("owned"), which no longer holds once a block ran for all lanes and may have given them to
    others.
    """

    __slots__ = ("lanes", "owned", "undefined")

    def __init__(self, initial: list[Array], count: int) -> None:
        super().__init__(initial)
        self.lanes = count
        self.owned: set[int] = set()
        self.undefined: dict[int, Undefined] = {}
        """The undefined bits of registers that have some, over all lanes."""

    def set(self, slot: int, value: Array, lanes: Lanes) -> None:
        """Set a register, which others may have from now on if it is of all lanes; its bits are defined."""
        if lanes is not None:
            self.merge(slot, value, lanes)
            return
        self[slot] = value
        self.owned.clear()
        self.undefined.pop(slot, None)

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
        if self.undefined:
            self.set_undefined(((slot, None),), lanes)

    def get_undefined(self, slots: tuple[int, ...], lanes: Lanes) -> list[Undefined | None]:
        """The undefined bits of registers, of some lanes."""
        known = [self.undefined.get(slot) for slot in slots]
        if lanes is None:
            return known
        return [None if one is None else one.of(lanes) for one in known]

    def set_undefined(self, values: Sequence[tuple[int, Undefined | None]], lanes: Lanes) -> None:
        """Set the undefined bits of registers, of some lanes; None: all are defined."""
        for slot, value in values:
            old = self.undefined.get(slot)
            if value is None and old is None:
                continue
            if lanes is not None:
                value = spread(value, old, lanes, self.lanes)
            if value is None:
                self.undefined.pop(slot, None)
            else:
                self.undefined[slot] = value
