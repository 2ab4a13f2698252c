"""The sizes of C's types."""

from __future__ import annotations

import ctypes


def sizeof(objType: type) -> int:
    """The size in bytes that a class, of a struct, handle or enum, has in C. Raises TypeError for others."""
    from .results import storage  # an import of a module of functions does not need it

    try:
        return ctypes.sizeof(storage(objType))
    except TypeError:
        raise TypeError(f"sizeof takes a struct, handle or enum class, not {objType!r}") from None
