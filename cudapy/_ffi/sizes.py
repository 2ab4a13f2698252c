"""The sizes of C's types, and multiples of them."""

from __future__ import annotations

import ctypes


def round_up(value: int, unit: int) -> int:
    """The least multiple of `unit` that is not less than `value`."""
    return -(-value // unit) * unit


def sizeof(objType: type) -> int:
    """The size in bytes that a class, of a struct, handle or enum, has in C. Raises TypeError for others."""
    from .results import storage  # an import of a module of functions does not need it

    try:
        return ctypes.sizeof(storage(objType))
    except TypeError:
        raise TypeError(f"sizeof takes a struct, handle or enum class, not {objType!r}") from None
