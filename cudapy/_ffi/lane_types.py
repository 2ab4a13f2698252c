"""What the machine code of the fast lane knows of a function's arguments and results."""

from __future__ import annotations

import ctypes

from .enums import Enum
from .handles import Callback, Handle
from .parameters import is_in_out, public_name, type_of
from .prototypes import parse
from .scalars import AGGREGATES, SCALARS, SimpleData

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from .library import Declaration
    from .prototypes import CParameter

MOST_PARAMETERS = 16
MOST_RESULTS = 3

INTEGER, NONE, ENUM, BYTES, PLACE, NARROW, SLOT, OBJECT = (1 << i for i in range(8))
"""INTEGER, NONE: may be an int, None. Objects of the class are ints (ENUM), or bytes, or ctypes objects,
passed by their address (PLACE) or by their value, of four bytes (NARROW) or eight; or they have such an
object in a slot (SLOT). OBJECT: any object, which C does not get.
"""
RESULTS = (
    "unsigned 4", "unsigned 8", "signed 4", "signed 8", "float 4", "float 8", "text", "enum", "handle 4",
    "handle 8",
)  # fmt: skip


class Argument:
    """A parameter of Python. slot: its place among those of C; limit: the highest int; cls: beside int.

    size: of bytes: the slot of the number that they must have at least, and 1; 0: of any number.
    inside: where in an object is the handle that C gets, whose class is the `limit`.
    place: where in an owner that is made the object goes, if it does.
    is_last: whether the next Argument is of another object; else C gets more of this one.
    """

    __slots__ = ("cls", "inside", "is_last", "kind", "limit", "place", "size", "slot")

    def __init__(self, slot: int, kind: int, cls: Any = None, limit: int = 0, size: int = 0) -> None:
        self.slot, self.kind, self.cls, self.limit, self.size = slot, kind, cls, limit, size
        self.inside = self.place = 0
        self.is_last = True


class Result:
    """What C writes. kind: one of RESULTS; cls: of an enum or a handle."""

    __slots__ = ("cls", "kind", "slot")

    def __init__(self, slot: int, kind: str, cls: Any = None) -> None:
        self.slot, self.kind, self.cls = slot, kind, cls


def described(
    declaration: Declaration,
    inputs: tuple[str, ...],
    scope: dict[str, Any],
    twins: Mapping[type, Any] | None = None,
) -> tuple[list[Argument], list[Result]] | None:
    """The arguments in the order of Python, and the results; None if one of them is of another kind.

    twins: the classes that a face has for those of C. It has ints for handles, and str for texts, too.
    """
    prototype, library = parse(declaration.prototype), declaration.library
    parameters, sizes = prototype.parameters, declaration.sizes
    if (
        prototype.returns != library.status
        or len(parameters) > MOST_PARAMETERS
        or declaration.keeps
        or declaration.frees
        or declaration.variants
        or declaration.whole
    ):
        return None
    in_place, later = declaration.in_place, declaration.later
    sized = {p.name for p in parameters if p.c_name in sizes} if sizes else ()
    addresses = (*sized, *in_place, *later)
    arguments: dict[str, Argument] = {}
    results: list[Result] = []
    for slot, parameter in enumerate(parameters):
        cls, name = type_of(parameter, scope), parameter.name
        if name not in inputs:
            result = None if name in sized else _result(slot, parameter, cls, twins)
            if result is None:
                return None
            results.append(result)
            continue
        if name in in_place:
            arguments[name] = Argument(slot, PLACE, cls)
            continue
        if parameter.stars == 0:
            key = slot, cls, twins.get(cls) if twins else None
            found = _VALUES[key] if key in _VALUES else _VALUES.setdefault(key, _value(*key))
        elif is_in_out(parameter, cls, addresses) or (cls is None and _is_os_handle(declaration)):
            return None
        else:
            address = name in later or parameter.stars == 2
            found = _pointer(slot, parameter, cls, name in sized, address, twins)
            if (
                found is not None
                and cls is None
                and parameter.stars == 1
                and parameter.const
                and name in sized
            ):
                _measure(found, sizes[parameter.c_name], parameters, inputs)
        if found is None:
            return None
        arguments[name] = found
    if len(results) > MOST_RESULTS or (results and library.pending is not None):
        return None
    return [arguments[name] for name in inputs], results


def _measure(
    argument: Argument, size: Any, parameters: Sequence[CParameter], inputs: tuple[str, ...]
) -> None:
    """Have an address take bytes, too, if there is a number that says how many C reads."""
    for slot, parameter in enumerate(parameters):
        if parameter.c_name == size and parameter.name in inputs and parameter.type in SCALARS:
            argument.kind, argument.cls, argument.size = argument.kind | BYTES, bytes, slot + 1


def _is_os_handle(declaration: Declaration) -> bool:
    return public_name(declaration.stub.__name__).endswith("ImportFromShareableHandle")


def _pointer(
    slot: int,
    parameter: CParameter,
    cls: Any,
    is_sized: bool,
    is_address: bool,
    twins: Mapping[type, Any] | None,
) -> Argument | None:
    const, is_struct = parameter.const, cls is not None and issubclass(cls, AGGREGATES)
    if is_struct and twins and cls in twins:
        return None
    if is_address and cls is not ctypes.c_char:
        return Argument(slot, INTEGER | NONE, limit=2**64 - 1)
    if cls is None and parameter.stars == 1:
        image = const and not is_sized  # of a length that C finds out
        return Argument(slot, INTEGER | NONE | (BYTES if image else 0), bytes if image else None, 2**64 - 1)
    if cls is ctypes.c_char and parameter.stars == 1 and const and not is_sized:
        return Argument(slot, BYTES | NONE, bytes)
    if is_struct and parameter.stars == 1 and not is_sized:
        return Argument(slot, PLACE | NONE, cls)
    return None


_VALUES: dict[tuple[int, Any, Any], Argument | None] = {}
"""What `_value` has returned: a header has few classes of parameters."""


def _value(slot: int, cls: Any, twin: Any) -> Argument | None:
    """A parameter that C gets by its value; None for what a lane does not take. twin: of an enum, if any."""
    if cls is None or issubclass(cls, AGGREGATES):
        return None
    if issubclass(cls, Enum):
        return Argument(slot, INTEGER | ENUM, twin or cls, 2**32 - 1)
    width = ctypes.sizeof(cls)
    highest = 2 ** (8 * width - (cls._type_ in "bhilq")) - 1
    if issubclass(cls, Handle):
        is_taken = width in (4, 8) and not issubclass(cls, Callback)
        return Argument(slot, INTEGER | NONE | NARROW * (width == 4), cls, highest) if is_taken else None
    return Argument(slot, INTEGER, limit=highest) if cls._type_ in "bBhHiIlLqQ" else None


_NUMBERS = {
    **dict.fromkeys("ilq", "signed"),
    **dict.fromkeys("ILQ", "unsigned"),
    **dict.fromkeys("fd", "float"),
}


def _result(slot: int, parameter: CParameter, cls: Any, twins: Mapping[type, Any] | None) -> Result | None:
    stars = parameter.stars
    if stars == 2 and cls is ctypes.c_char:
        return Result(slot, "text") if twins is None else None
    if stars == 2 and (cls is None or parameter.type in SCALARS):
        return Result(slot, "unsigned 8")
    if cls is None or issubclass(cls, AGGREGATES):
        return None
    if issubclass(cls, Handle):
        width = ctypes.sizeof(cls)
        if (stars != 1 and parameter.type == cls.__name__) or width not in (4, 8):
            return None
        if twins is None:
            return Result(slot, f"handle {width}", cls)
    elif stars != 1:
        return None
    elif issubclass(cls, Enum):
        return Result(slot, "enum", twins.get(cls, cls) if twins else cls)
    number = _NUMBERS.get(cls._type_)
    return Result(slot, f"{number} {ctypes.sizeof(cls)}") if number else None


def is_plain_storage(cls: Any) -> bool:
    """Whether the storage of a ctypes class is what C takes of its objects, byte by byte."""
    if issubclass(cls, SimpleData):
        is_as_it_is = cls._type_ in _AS_THEY_ARE and cls.value is SimpleData.value
        return is_as_it_is and getattr(cls, "__ctype_be__", None) is not cls
    return issubclass(cls, (*AGGREGATES, ctypes.Array)) and not hasattr(cls, "__bytes__")


_AS_THEY_ARE = frozenset("bBhHiIlLqQfdPzZ")
"""Codes of ctypes: not of a bool, of which any byte but 0 is true, and not of what no device has."""
