"""What `struct` calls the objects of ctypes."""

from __future__ import annotations

import ctypes

from .handles import Handle
from .scalars import AGGREGATES, SimpleData

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SIGNED = {1: "b", 2: "h", 4: "i", 8: "q"}
UNSIGNED = {1: "B", 2: "H", 4: "I", 8: "Q"}

_BLOCKS = (*AGGREGATES, ctypes.Array)


def struct_code(cls: Any) -> str:
    """The code of a scalar class of ctypes; "" for a long double, which neither `struct` nor a device has.

    Integers and pointers have that of their width, whatever the platform calls a `long`.
    """
    kind: str = cls._type_
    if kind in "fd?c":
        return kind
    return "" if kind == "g" else (SIGNED if kind in "bhilq" else UNSIGNED)[ctypes.sizeof(cls)]


def code_of(value: Any) -> tuple[str, int, str] | None:
    """The code, the bytes, and the expression of `{0}` that `struct` packs; None for no object of ctypes.

    A null pointer, which ctypes has as None, is 0.
    """
    if isinstance(value, SimpleData):
        width, kind = ctypes.sizeof(value), value._type_
        if isinstance(value, Handle):
            return UNSIGNED[width], width, "{0}.value"
        code = struct_code(type(value))
        if not code:
            return None
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
