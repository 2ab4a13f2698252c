"""What stays until the process ends, which is after Python's end, for C that has its address."""

import ctypes
from typing import Any

_texts: dict[bytes, int] = {}


def keep(obj: Any) -> None:
    """Never free an object, nor what it has."""
    ctypes.pythonapi["Py_IncRef"](ctypes.py_object(obj))


def address_of(array: Any) -> int:
    """The address of an array of ctypes, which stays from now on."""
    keep(array)
    return ctypes.addressof(array)


def text(value: bytes) -> int:
    """The address of a C string."""
    found = _texts.get(value)
    if found is None:
        found = _texts.setdefault(value, address_of(ctypes.create_string_buffer(value)))
    return found
