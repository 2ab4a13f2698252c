"""What the machine code of the fast lane knows of a function's arguments and results."""

from __future__ import annotations

import ctypes

from .scalars import AGGREGATES, SimpleData

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

MOST_PARAMETERS = 16
MOST_RESULTS = 3

MOST_ITEMS = 64  # of all arrays

(
    INTEGER, NONE, ENUM, BYTES, PLACE, NARROW, SLOT, OBJECT, ARRAY, VALUE, ADDRESS, CONSTANT, SAME, UNSEEN,
    NOTED, NOTING,
) = (1 << i for i in range(16))  # fmt: skip
"""INTEGER, NONE: may be an int, None. Objects of the class are ints (ENUM), or bytes, or ctypes objects,
passed by their address (PLACE) or by their value, of four bytes (NARROW) or eight; or they have such an
object in a slot (SLOT). OBJECT: any object, which C does not get. ARRAY: a list or tuple of ints up to
`limit` and handles, of which C gets the address. VALUE: a struct that C gets in as many words as it has.
ADDRESS: an int is an address. CONSTANT: C gets the `limit`, whatever the object is. SAME: the object at that
address. UNSEEN: C does not get it. NOTED, NOTING: a handle that gets a note after a success, and one whose
note is read: the word behind its value. Where an int may be, a member of any enum of ours may be as well.
"""
RESULTS = (
    "handle 8", "signed 4", "unsigned 8", "enum", "handle 4", "unsigned 4", "signed 8", "bool", "float 4",
    "float 8", "text", "of thread", "struct", "spare struct", "chars",
)  # fmt: skip
"""What a result is made of. of thread: an item of a table, in one thread, or what a function of the number
returns; spare: from a list of those that are aligned; chars: bytes, as many as there is
room for; both of these and a struct are made before C is called.
"""
NUMBERS = {RESULTS.index(name) for name in RESULTS[1:10] if name not in ("enum", "handle 4")}
"""Those that the same bytes make equal, and that are made without a step of Python."""
CHOSEN = len(RESULTS)
"""The kind of a result that an attribute decides, one of the arguments."""


Argument: TypeAlias = "tuple[int, Any, int, int, int, int, int, int, int, int]"
"""A parameter of Python, in the order of `lanes.ARGUMENT`; places among the parameters of C are in bytes.

What kind it is; the class beside int, that of an array's items; the highest int; its place; where in an
object is the handle that C gets, whose class is the highest int; the place of the number that bytes must have
at least, and 8, 0: of any number; where in an owner that is made the object goes, if it does; how far the
next object is; the bytes of an item of an array, or of a struct; what is taken from the number.
"""
Result: TypeAlias = "tuple[int, int, Any, int]"
"""What C writes: a place, the index of one of RESULTS, the class, the place of the number of chars."""


def argument(
    slot: int, kind: int, cls: Any = None, limit: int = 0, *,
    size: int = 0, inside: int = 0, place: int = 0, step: int = 8, width: int = 0, less: int = 0,
) -> Argument:  # fmt: skip
    """An argument: of an object of its own, unless the step to the next one is 0."""
    return kind, cls, limit, 8 * slot, inside, 8 * size, place, step, width, less


def result(slot: int, kind: str, cls: Any = None, count: int = 0) -> Result:
    """A result of one of RESULTS."""
    return 8 * slot, RESULTS.index(kind), cls, 8 * count


def is_plain_storage(cls: Any) -> bool:
    """Whether the storage of a ctypes class is what C takes of its objects, byte by byte."""
    if issubclass(cls, SimpleData):
        is_as_it_is = cls._type_ in _AS_THEY_ARE and cls.value is SimpleData.value
        return is_as_it_is and getattr(cls, "__ctype_be__", None) is not cls
    return issubclass(cls, (*AGGREGATES, ctypes.Array)) and not hasattr(cls, "__bytes__")


_AS_THEY_ARE = frozenset("bBhHiIlLqQfdPzZ")
"""Codes of ctypes: not of a bool, of which any byte but 0 is true, and not of what no device has."""
