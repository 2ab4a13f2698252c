"""The memory that the code of a region runs in: `layout` says where things lie."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import layout

if TYPE_CHECKING:
    from ..aliases import Array

UNSIGNED = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
_ALIGN = 64
_ALL = 0xFFFFFFFF


class RegionMemory:
    """One for each thread that runs chunks of a region."""

    def __init__(self, image: np.ndarray[Any, np.dtype[np.uint8]]) -> None:
        size = len(image)
        unaligned = np.empty(size + _ALIGN, np.uint8)
        start = -unaligned.ctypes.data % _ALIGN
        self.bytes = unaligned[start : start + size]
        self.bytes[:] = image
        self.address = int(self.bytes.ctypes.data)
        self.fields = self.bytes[: layout.PLACE].view(np.int64)

    def get(self, field: int) -> int:
        return int(self.fields[field >> 3])

    def set(self, field: int, value: int) -> None:
        self.fields[field >> 3] = value

    def array(self, offset: int, size: int = 4) -> Array:
        """A location or another array of all lanes, of numbers of `size` bytes."""
        wide = size == 8
        memory = self.bytes[offset : offset + (layout.WIDE if wide else layout.NARROW)]
        return memory.view(np.uint64 if wide else np.uint32)

    def fill(self, value: Array, location: int) -> None:
        """Put what all lanes share into a location."""
        size = value.dtype.itemsize
        is_bool = value.dtype.kind == "b"
        self.array(location, size)[:] = _ALL * bool(value) if is_bool else value.view(UNSIGNED[size])

    def registers(self, location: int, dtype: np.dtype[Any], count: int) -> Array:
        """A copy of the first lanes of a location, as registers are kept in frames."""
        bits = self.array(location, dtype.itemsize)[:count]
        return bits != 0 if dtype.kind == "b" else bits.astype(UNSIGNED[dtype.itemsize]).view(dtype)
