"""Loads and stores: what an instruction asks memory for, and the places in arrays that it gets."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from .aliases import I64, Array, DType, Index

READ, WRITE, ATOMIC = 0, 1, 2
VERBS = {READ: "read", WRITE: "write", ATOMIC: "atomic"}
START = np.int64(0)
MASKING = ("and", "or", "xor")
"""Atomics that define bits one by one, or leave them undefined."""


class Access(NamedTuple):
    """An instruction that accesses memory: in each lane `size` bytes at an address that is a multiple of it.

    Known when a kernel is compiled, but for those that the engine makes itself: `accessed`.
    """

    dtype: DType
    """Of an item."""
    items: int
    """How many lie beside each other."""
    size: int
    """Bytes of all of them."""
    shift: np.uint64
    """The logarithm of an item's bytes."""
    number: int
    """The number of the instruction in its function."""
    mode: int
    """READ, WRITE or ATOMIC."""

    @property
    def verb(self) -> str:
        return VERBS[self.mode]


def accessed(dtype: DType, count: int, number: int, mode: int) -> Access:
    """An access to `count` items beside each other."""
    shift = np.uint64(dtype.itemsize.bit_length() - 1)
    return Access(dtype, count, dtype.itemsize * count, shift, number, mode)


class Scattered:
    """Memory of several kinds or allocations, seen by the lanes of one access: stands in for an array."""

    def __init__(self, count: int, dtype: DType) -> None:
        self.count = count
        self.dtype = dtype
        self.parts: list[tuple[Array, I64, I64]] = []
        """An array, places in it, and the positions of the lanes that mean them."""

    def add(self, places: Places, positions: I64) -> None:
        array, index = places
        if isinstance(array, Scattered):
            for inner, within, where in array.parts:
                self.parts.append((inner, within, positions[where]))
        else:
            self.parts.append((array, np.broadcast_to(index, positions.shape), positions))

    def take(self, step: Index) -> Array:
        """What the lanes read, `step` items on."""
        result = np.empty(self.count, self.dtype)
        for array, index, positions in self.parts:
            result[positions] = array.take(index + step)
        return result

    def put(self, step: Index, value: Array) -> None:
        for array, index, positions in self.parts:
            array[index + step] = value[positions] if value.ndim else value


Places: TypeAlias = "tuple[Array | Scattered, Index]"
"""An array, and the item in it that each lane means."""


def put(array: Array | Scattered, index: Index, value: Array) -> None:
    """Store values; of several for one place the last lane's stays."""
    if isinstance(array, Scattered):
        array.put(index, value)
    elif index.ndim or not value.ndim:
        array[index] = value
    else:
        array[index] = value[-1]
