"""Accesses to memory as the race detector sees them: who, where, and what is read or stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..access import WRITE

if TYPE_CHECKING:
    from ..access import Access
    from ..aliases import I64, U8, U64, Array, Bools
    from ..fault import Value
    from .access_sites import Site


class Contents(NamedTuple):
    """What is there, and what an instruction is about to store: threads that write what is there already do
    no harm.
    """

    memory: U8
    start: I64
    """Where each lane accesses it."""
    values: tuple[Array, ...]
    """What is stored; nothing for loads and atomics."""

    def stored(self, position: int) -> Value:
        """What a lane stores."""
        numbers = [(value[position] if value.ndim else value).item() for value in self.values]
        return numbers[0] if len(numbers) == 1 else tuple(numbers)

    def there(self, position: int, access: Access) -> Value:
        """What lies where a lane accesses memory."""
        start = int(self.start[position])
        numbers = self.memory[start : start + access.size].view(access.dtype).tolist()
        return numbers[0] if len(numbers) == 1 else tuple(numbers)

    def differ(self, first: I64, second: I64) -> Bools:
        """Whether lanes at two positions store different values."""
        different = np.zeros(len(first), bool)
        for value in self.values:
            if value.ndim:
                bits = value.view(f"u{value.itemsize}")
                different |= bits[first] != bits[second]
        return different

    def changes(self, positions: I64) -> Bools:
        """Whether lanes at positions store something else than what is there."""
        changed, start = np.zeros(len(positions), bool), self.start[positions]
        for value in self.values:
            size = value.itemsize
            new = np.broadcast_to(value, self.start.shape)[positions]
            old = self.memory[start[:, None] + np.arange(size)]
            changed |= (np.ascontiguousarray(new).view(np.uint8).reshape(-1, size) != old).any(1)
            start = start + size
        return changed


class SeenAccess(NamedTuple):
    """Accesses of lanes by one instruction; for a copy each byte has its lane."""

    space: str
    lanes: I64
    number: int
    mode: int
    a: U64
    size: int
    contents: Contents | None = None
    access: Access | None = None
    """None for a copy."""

    @property
    def stored(self) -> Contents | None:
        """What is stored, and what is there, if both are numbers of each lane."""
        return self.contents if self.contents is not None and self.contents.values else None

    def value(self, position: int) -> Value:
        """What a lane reads, writes, or finds before its atomic operation."""
        if self.contents is None or self.access is None:
            return None
        if self.mode == WRITE and self.contents.values:
            return self.contents.stored(position)
        return None if self.mode == WRITE else self.contents.there(position, self.access)

    def value_there(self, position: int, other: Site) -> Value:
        """What is there now, if the other instruction accesses as many bytes as this one."""
        if self.contents is None or self.access is None or other.size != self.size:
            return None
        return self.contents.there(position, self.access)
