"""What the functions share that are written by hand in more than one module."""

from __future__ import annotations

import ctypes

from .convert import integer, kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def listed(value: Any, what: str) -> list[Any]:
    """The items of a list, a tuple or an array. Raises TypeError for what has none."""
    try:
        if not isinstance(value, (str, bytes, bytearray)):
            len(value)  # a ctypes pointer has no length, and an iterator over it no end
            return list(value)
    except (TypeError, NotImplementedError):  # the latter from a memoryview of several dimensions
        pass
    raise TypeError(f"{what} must be a list, not {kind(value)}") from None


def fill(call: Callable[[Any], tuple[Any]], entries: Any, cls: Any, what: str) -> tuple[Any]:
    """Have `call` write to an array of the structs `entries`, a list or one of them, and copy it back."""
    entries = [entries] if isinstance(entries, cls) else listed(entries, what)
    for i, entry in enumerate(entries):
        if not isinstance(entry, cls):
            raise TypeError(f"{what}[{i}] must be a {cls.__name__}, not {kind(entry)}")
    filled = (cls * len(entries))(*entries)
    status = call(filled)
    for entry, new in zip(entries, filled, strict=True):
        ctypes.memmove(entry.getPtr(), new.getPtr(), ctypes.sizeof(new))
    return status


def range_storage(size: Any, what: str) -> Any:
    """Where an attribute of a managed range is written, of `size` bytes: as many ints."""
    return (ctypes.c_int * max(1, (integer(size, 0, 1 << 20, what) + 3) // 4))()
