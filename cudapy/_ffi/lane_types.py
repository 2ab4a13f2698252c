"""What the machine code of the fast lane knows of a function's arguments and results."""

from __future__ import annotations

import ctypes
import re

from .enums import Enum
from .handles import Callback, Handle
from .lazy_types import find
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

MOST_ITEMS = 64  # of all arrays

INTEGER, NONE, ENUM, BYTES, PLACE, NARROW, SLOT, OBJECT, ARRAY, VALUE, ADDRESS = (1 << i for i in range(11))
"""INTEGER, NONE: may be an int, None. Objects of the class are ints (ENUM), or bytes, or ctypes objects,
passed by their address (PLACE) or by their value, of four bytes (NARROW) or eight; or they have such an
object in a slot (SLOT). OBJECT: any object, which C does not get. ARRAY: a list or tuple of ints up to
`limit` and handles, of which C gets the address. VALUE: a struct that C gets in as many words as it has.
ADDRESS: an int is an address. Where an int may be, a member of any enum of ours may be as well.
"""
RESULTS = (
    "unsigned 4", "unsigned 8", "signed 4", "signed 8", "float 4", "float 8", "text", "enum", "handle 4",
    "handle 8", "struct", "spare struct", "chars",
)  # fmt: skip
"""What a result is made of. spare: from a list of those that are aligned; chars: bytes, as many as there is
room for; both of these and a struct are made before C is called.
"""


class Argument:
    """A parameter of Python. slot: its place among those of C; limit: the highest int; cls: beside int.

    size: of bytes: the slot of the number that they must have at least, and 1; 0: of any number.
    inside: where in an object is the handle that C gets, whose class is the `limit`.
    place: where in an owner that is made the object goes, if it does.
    width: the bytes of an item of an array, whose class is `cls`, or those of a struct.
    less: what is taken from the number that says the size.
    is_last: whether the next Argument is of another object; else C gets more of this one.
    """

    __slots__ = ("cls", "inside", "is_last", "kind", "less", "limit", "place", "size", "slot", "width")

    def __init__(self, slot: int, kind: int, cls: Any = None, limit: int = 0, size: int = 0) -> None:
        self.slot, self.kind, self.cls, self.limit, self.size = slot, kind, cls, limit, size
        self.inside = self.place = self.width = self.less = 0
        self.is_last = True


class Result:
    """What C writes. kind: one of RESULTS; cls: of an enum, a handle or a struct; count: the slot of the
    number of chars.
    """

    __slots__ = ("cls", "count", "kind", "slot")

    def __init__(self, slot: int, kind: str, cls: Any = None) -> None:
        self.slot, self.kind, self.cls, self.count = slot, kind, cls, 0


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
    if (
        prototype.returns != library.status
        or len(prototype.parameters) > MOST_PARAMETERS
        or declaration.keeps
        or declaration.frees
        or declaration.variants
        or declaration.whole
    ):
        return None
    slots = _slots(prototype.parameters, scope)
    if slots is None:
        return None
    reader = _Reader(declaration, dict(zip(prototype.parameters, slots, strict=True)), inputs, scope, twins)
    arguments: dict[str, Argument] = {}
    results: list[Result] = []
    for parameter in prototype.parameters:
        if parameter.name in inputs:
            argument = reader.argument(parameter)
            if argument is None:
                return None
            arguments[parameter.name] = argument
        else:
            result = reader.result(parameter)
            if result is None:
                return None
            results.append(result)
    most = MOST_RESULTS if library.pending is None else 0
    if any(result.kind == "chars" for result in results):
        most = min(most, 1)
    if len(results) > most:
        return None
    return [arguments[name] for name in inputs], results


def _slots(parameters: Sequence[CParameter], scope: dict[str, Any]) -> list[int] | None:
    """Where each parameter is: the first six places are registers, then follows the stack.

    A struct is in one or two registers if these are left, otherwise on the stack, never in both. None if one
    is of another kind, or there are too many. Source: System V ABI for AMD64, 3.2.3.
    """
    registers, stack = 0, 6
    slots: list[int] = []
    for parameter in parameters:
        words = 1
        cls = None if parameter.stars else type_of(parameter, scope)
        if cls is not None and issubclass(cls, AGGREGATES):
            size = ctypes.sizeof(cls)
            if not size or size % 4 or cls._alignment_ or _has_floats(cls):
                return None
            words = -(-size // 8)
        if words <= 2 and registers + words <= 6:
            slots.append(registers)
            registers += words
        else:
            slots.append(stack)
            stack += words
    return slots if stack <= MOST_PARAMETERS else None


def _has_floats(cls: Any) -> bool:
    """Whether a struct has fields that would be in other registers."""
    if issubclass(cls, ctypes.Array):
        return _has_floats(cls._type_)
    if issubclass(cls, AGGREGATES):
        return any(_has_floats(field[1]) for field in cls._fields_)
    return getattr(cls, "_type_", None) in ("f", "d", "g")


class _Reader:
    """Reads what a declaration says of the parameters, each with its slot."""

    def __init__(
        self,
        declaration: Declaration,
        slots: Mapping[CParameter, int],
        inputs: tuple[str, ...],
        scope: dict[str, Any],
        twins: Mapping[type, Any] | None,
    ) -> None:
        self.declaration, self.slots, self.inputs, self.scope = declaration, slots, inputs, scope
        self.twins = twins
        sizes = declaration.sizes
        self.sized = {p.name: sizes[p.c_name] for p in slots if p.c_name in sizes} if sizes else {}

    def argument(self, parameter: CParameter) -> Argument | None:
        """What Python passes for a parameter."""
        cls, slot, name = type_of(parameter, self.scope), self.slots[parameter], parameter.name
        if name in self.declaration.in_place:
            return Argument(slot, PLACE, cls)
        if parameter.stars == 0:
            key = slot, cls, self.twins.get(cls) if self.twins else None
            return _VALUES[key] if key in _VALUES else _VALUES.setdefault(key, _value(*key))
        later = name in self.declaration.later
        if not later and is_in_out(parameter, cls, self.sized):
            return None
        is_struct = cls is not None and issubclass(cls, AGGREGATES)
        if is_struct and self.twins and cls in self.twins:
            return None
        if (later or parameter.stars == 2) and cls is not ctypes.c_char:
            return self._address(slot)
        if parameter.stars != 1:
            return None
        is_sized = name in self.sized
        if cls is None:
            return self._memory(parameter, is_sized)
        if is_sized:
            array = None if is_struct else _array(slot, cls)
            return array if array is not None and self._measure(array, name) else None
        if cls is ctypes.c_char:
            return Argument(slot, BYTES | NONE, bytes) if parameter.const else None
        return Argument(slot, PLACE | NONE, cls) if is_struct else None

    def _address(self, slot: int) -> Argument:
        """An address: an int, or a handle that has one."""
        cls = self.declaration.library.address
        return Argument(slot, INTEGER | NONE | ADDRESS, find(self.scope, cls) if cls else None, 2**64 - 1)

    def _memory(self, parameter: CParameter, is_sized: bool) -> Argument | None:
        """An address of memory, or bytes if C reads as many as a number says, or finds out how many."""
        if public_name(self.declaration.stub.__name__).endswith("ImportFromShareableHandle"):
            return None  # a descriptor, or the address of a handle
        memory = self._address(self.slots[parameter])
        if parameter.const and (not is_sized or self._measure(memory, parameter.name)):
            memory.kind, memory.cls = memory.kind | BYTES, bytes
        return memory

    def _measure(self, argument: Argument, name: str) -> bool:
        """Set how many bytes or items C reads, if a parameter says it: by itself, or less a number."""
        match = _MEASURES.fullmatch(str(self.sized[name]))
        if match is None:
            return False
        for parameter, slot in self.slots.items():
            if parameter.c_name == match[1] and parameter.name in self.inputs and not parameter.stars:
                argument.size, argument.less = slot + 1, int(match[2] or 0)
                return True
        return False

    def result(self, parameter: CParameter) -> Result | None:
        """What C writes for a parameter."""
        cls, slot = type_of(parameter, self.scope), self.slots[parameter]
        if parameter.name not in self.sized:
            return _result(slot, parameter, cls, self.twins)
        if cls is not ctypes.c_char or parameter.stars != 1 or self.twins is not None:
            return None
        chars, room = Result(slot, "chars"), Argument(slot, BYTES)
        if not self._measure(room, parameter.name) or room.less:
            return None
        chars.count = room.size - 1
        return chars


_MEASURES = re.compile(r"(\w+)(?: - (\d+))?")


def _array(slot: int, cls: Any) -> Argument | None:
    """An array of a class of numbers or handles."""
    if issubclass(cls, Enum):
        cls = ctypes.c_int
    item = _value(slot, cls, None)
    if item is None or ctypes.sizeof(cls) not in (4, 8):
        return None
    array = Argument(slot, ARRAY | NONE, cls, item.limit)
    array.width = ctypes.sizeof(cls)
    return array


_VALUES: dict[tuple[int, Any, Any], Argument | None] = {}
"""What `_value` has returned: a header has few classes of parameters."""


def _value(slot: int, cls: Any, twin: Any) -> Argument | None:
    """A parameter that C gets by its value; None for what a lane does not take. twin: of an enum, if any."""
    if cls is None:
        return None
    if issubclass(cls, AGGREGATES):
        struct = Argument(slot, VALUE, cls)
        struct.width = ctypes.sizeof(cls)
        return struct if twin is None else None
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
    if cls is None:
        return None
    if issubclass(cls, AGGREGATES):
        if stars != 1 or cls._version_ or (twins and cls in twins):
            return None
        return Result(slot, "spare struct" if cls._alignment_ else "struct", cls)
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
