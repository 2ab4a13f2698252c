"""Structs of a raising face of which a program makes arrays, as `cuda.bindings` does: `IOParams(4)`."""

from __future__ import annotations

import ctypes

from .integers import exact_int
from .structs import Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class FaceStruct(Struct):
    """A struct: `Class()`, or with its fields as keywords. `Class(n)`, n > 1, is an array of n of them: a
    ctypes array whose items are views.

    Both have `ptr`, the address.
    """

    if not TYPE_CHECKING:

        def __new__(cls, size=1, **values):
            if type(size) is int and size == 1:
                return super().__new__(cls)
            if values:
                raise TypeError(f"an array of {cls.__name__} takes no fields: set those of its items")
            return array(cls, size)

        def __init__(self, size=1, **values):
            super().__init__(**values)

    @property
    def ptr(self) -> int:
        """The address of the struct."""
        return ctypes.addressof(self)


def array(cls: Any, size: int) -> Any:
    """An array of `size` structs, all zero."""
    what = f"the size of an array of {cls.__name__}"
    try:
        size = exact_int(size, what)
    except TypeError:
        raise TypeError(f"{what} must be an integer, not {size!r}") from None
    if size < 1:
        raise ValueError(f"an array of {cls.__name__} has one item or more, not {size}")
    made = type(f"{cls.__name__}_{size}", (cls * size,), {"ptr": property(ctypes.addressof)})
    return made()
