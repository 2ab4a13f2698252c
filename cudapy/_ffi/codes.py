"""What `struct` calls the objects of ctypes."""

from __future__ import annotations

import ctypes

from .convert import AGGREGATES, SimpleData
from .handles import Handle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SIGNED = {1: "b", 2: "h", 4: "i", 8: "q"}
UNSIGNED = {1: "B", 2: "H", 4: "I", 8: "Q"}

_BLOCKS = (*AGGREGATES, ctypes.Array)


def code_of(value: Any) -> tuple[str, int, str] | None:
    """The code, the bytes, and the expression of `{0}` that `struct` packs; None for no object of ctypes.

    Integers and pointers have the code of their width, whatever the platform calls a `long`. A null pointer,
    which ctypes has as None, is 0.
    """
    if isinstance(value, SimpleData):
        width, kind = ctypes.sizeof(value), value._type_
        if isinstance(value, Handle):
            return UNSIGNED[width], width, "{0}.value"
        if kind == "g":  # a long double, which neither `struct` nor a device has
            return None
        code = kind if kind in "fd?c" else (SIGNED if kind in "bhilq" else UNSIGNED)[width]
        expression = "({0}.value or 0)" if kind in "PzZ" else "{0}.value"
        if kind == "f":
            expression = "(v if (v := {0}.value) == v else unusual())"  # a NaN would lose bits
        if kind == "u":
            expression = "ord('' + {0}.value)"  # a str, not the bytes that a c_char has
        return code, width, expression
    if isinstance(value, _BLOCKS):
        width = ctypes.sizeof(value)
        return f"{width}s", width, "bytes({0})"
    return None
