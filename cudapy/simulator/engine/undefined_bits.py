"""The undefined bits of some memory, and how far it is known that there are none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from .aliases import U8

UNDEFINED = 0xFF
"""A byte of which all bits are undefined."""
_PART = 1 << 16
"""Bytes that are looked at together."""


class UndefinedBits:
    """A byte for each byte of memory: a bit is 1 where nobody wrote that of the memory."""

    def __init__(self, size: int) -> None:
        self._bits: U8 = np.full(size, UNDEFINED, np.uint8)
        self._defined = 0
        """So many bytes, from the start on, have no undefined bit."""
        self.begins: Callable[[], object] | None = None
        """To be called where there may be some, and there were none."""

    @property
    def has_any(self) -> bool:
        """Whether there may be some: False once all bytes are known to have none."""
        return self._defined < len(self._bits)

    @property
    def address(self) -> int:
        """Where they lie in this process."""
        return int(self._bits.ctypes.data)

    def seen(self) -> U8:
        """To look at, or to define bytes."""
        return self._bits

    def changing(self) -> U8:
        """To have others, at any place, before the next `look`."""
        had_none, self._defined = not self.has_any, 0
        if had_none and self.begins is not None:
            self.begins()
        return self._bits

    def define(self, start: int, end: int) -> None:
        """Bytes were written."""
        self._bits[start:end] = 0
        if start <= self._defined < end:
            self._defined = end

    def look(self, most: int) -> int:
        """Look whether further bytes are defined, at `most` of them. Returns at how many."""
        begin = self._defined
        end = min(begin + most, len(self._bits))
        while self._defined < end:
            after = min(self._defined + _PART, end)
            if self._bits[self._defined : after].any():
                return after - begin
            self._defined = after
        return end - begin


def distance(undefined: UndefinedBits | None, memory: U8) -> int:
    """How far behind memory its undefined bits lie in this process; 0 if there are none."""
    if undefined is None or not undefined.has_any:
        return 0
    return undefined.address - int(memory.ctypes.data)
