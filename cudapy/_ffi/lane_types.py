"""What the machine code of the fast lane knows of a function's arguments and results."""

from __future__ import annotations

import ctypes

from .enums import Enum
from .handles import Callback, Handle, Int, Pointer, UInt, UInt64
from .lazy_types import find
from .parameters import is_in_out, public_name, type_of
from .prototypes import parameters as parameters_of
from .scalars import AGGREGATES, SCALARS, SimpleData

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, TypeAlias

    from .library import Declaration
    from .prototypes import CParameter

MOST_PARAMETERS = 16
MOST_RESULTS = 3

MOST_ITEMS = 64  # of all arrays

INTEGER, NONE, ENUM, BYTES, PLACE, NARROW, SLOT, OBJECT, ARRAY, VALUE, ADDRESS, CONSTANT, SAME, UNSEEN = (
    1 << i for i in range(14)
)
"""INTEGER, NONE: may be an int, None. Objects of the class are ints (ENUM), or bytes, or ctypes objects,
passed by their address (PLACE) or by their value, of four bytes (NARROW) or eight; or they have such an
object in a slot (SLOT). OBJECT: any object, which C does not get. ARRAY: a list or tuple of ints up to
`limit` and handles, of which C gets the address. VALUE: a struct that C gets in as many words as it has.
ADDRESS: an int is an address. CONSTANT: C gets the `limit`, whatever the object is. SAME: the object at that
address. UNSEEN: C does not get it. Where an int may be, a member of any enum of ours may be as well.
"""
RESULTS = (
    "handle 8", "signed 4", "unsigned 8", "enum", "handle 4", "unsigned 4", "signed 8", "bool", "float 4",
    "float 8", "text", "of thread", "struct", "spare struct", "chars",
)  # fmt: skip
"""What a result is made of. of thread: an item of a table, in one thread, or what a function of the number
returns; spare: from a list of those that are aligned; chars: bytes, as many as there is
room for; both of these and a struct are made before C is called.
"""
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
"""What C writes: a place, the index of one of RESULTS, the class, the place of the number of chars.

CHOSEN has the results by attribute for the class, and the place of the attribute for that number.
"""


def argument(
    slot: int, kind: int, cls: Any = None, limit: int = 0, *,
    size: int = 0, inside: int = 0, place: int = 0, step: int = 8, width: int = 0, less: int = 0,
) -> Argument:  # fmt: skip
    """An argument: of an object of its own, unless the step to the next one is 0."""
    return kind, cls, limit, 8 * slot, inside, 8 * size, place, step, width, less


def result(slot: int, kind: str, cls: Any = None, count: int = 0) -> Result:
    """A result of one of RESULTS."""
    return 8 * slot, RESULTS.index(kind), cls, 8 * count


def described(
    declaration: Declaration,
    inputs: tuple[str, ...],
    scope: dict[str, Any],
    twins: Mapping[type, Any] | None = None,
) -> tuple[list[Argument], list[Result]] | None:
    """The arguments in the order of Python, and the results; None if one of them is of another kind.

    twins: the classes that a face has for those of C. It has ints for handles, and str for texts, too.
    """
    library = declaration.library
    if (
        not declaration.prototype.startswith(f"{library.status} ")
        or declaration.keeps
        or declaration.frees
        or declaration.whole
    ):
        return None
    parameters, variants = parameters_of(declaration.prototype), declaration.variants
    annotated = {**declaration.sizes, **variants} if variants else declaration.sizes
    classes: list[Any] = [SCALARS.get(p.type) or scope.get(p.type) or type_of(p, scope) for p in parameters]
    values = [
        None if p.stars else _values[cls] if cls in _values else _look_at(cls)
        for p, cls in zip(parameters, classes, strict=True)
    ]
    slots: Sequence[int] | None = range(len(parameters))
    if _STRUCT in values:
        slots = _slots(classes, values)
    if slots is None or len(slots) > MOST_PARAMETERS:
        return None
    reader: _Reader | None = None
    arguments: dict[str, Argument] = {}
    results: list[Result] = []
    for parameter, cls, value, slot in zip(parameters, classes, values, slots, strict=True):
        name = parameter.name
        if name in inputs and not parameter.stars:
            if value is None or (value is _STRUCT and twins and cls in twins):
                return None
            kind, beside, limit = value
            if kind == VALUE:
                arguments[name] = argument(slot, VALUE, cls, width=ctypes.sizeof(cls))
                continue
            if twins and kind & ENUM:
                beside = twins.get(cls, cls)
            arguments[name] = kind, beside, limit, 8 * slot, 0, 0, 0, 8, 0, 0
        elif name in inputs or (annotated and parameter.c_name in annotated):
            reader = reader or _Reader(
                declaration, dict(zip(parameters, slots, strict=True)), inputs, scope, twins
            )
            if name in inputs:
                passed = reader.argument(parameter, cls, slot)
                if passed is None:
                    return None
                arguments[name] = passed
            else:
                output = reader.output(parameter, cls, slot)
                if output is None:
                    return None
                results.append(output)
        else:
            made = _result(slot, parameter, cls, twins)
            if made is None:
                return None
            results.append(made)
    if len(results) > (MOST_RESULTS if library.pending is None else 0):
        return None
    return [arguments[name] for name in inputs], results


def _slots(classes: Sequence[Any], values: Sequence[_Value | None]) -> list[int] | None:
    """Where each parameter is: the first six places are registers, then follows the stack.

    A struct is in one or two registers if these are left, otherwise on the stack, never in both. None if one
    is of another kind, or there are too many. Source: System V ABI for AMD64, 3.2.3.
    """
    registers, stack = 0, 6
    slots: list[int] = []
    for cls, value in zip(classes, values, strict=True):
        words = 1
        if value is _STRUCT:
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
    """Reads what a declaration says of the parameters that are pointers, each with its slot."""

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

    def argument(self, parameter: CParameter, cls: Any, slot: int) -> Argument | None:
        """What Python passes for a parameter."""
        name = parameter.name
        if parameter.c_name in self.declaration.variants:
            return None
        if name in self.declaration.in_place:
            return argument(slot, PLACE, cls)
        later = name in self.declaration.later
        if not later and is_in_out(parameter, cls, self.sized):
            return None
        is_struct = cls is not None and issubclass(cls, AGGREGATES)
        if is_struct and self.twins and cls in self.twins:
            return None
        if (later or parameter.stars == 2) and cls is not ctypes.c_char:
            return argument(slot, INTEGER | NONE | ADDRESS, self.address(), 2**64 - 1)
        if parameter.stars != 1:
            return None
        if cls is None:
            return self.memory(parameter, slot)
        if name in self.sized:
            return None if is_struct else self.array(parameter, cls, slot)
        if cls is ctypes.c_char:
            return argument(slot, BYTES | NONE, bytes) if parameter.const else None
        return argument(slot, PLACE | NONE, cls) if is_struct else None

    def address(self) -> Any:
        """The class of the handles that are addresses of memory."""
        cls = self.declaration.library.address
        return find(self.scope, cls) if cls else None

    def memory(self, parameter: CParameter, slot: int) -> Argument | None:
        """An address of memory, or bytes if C reads as many as a number says, or finds out how many."""
        if public_name(self.declaration.stub.__name__).endswith("ImportFromShareableHandle"):
            return None  # a descriptor, or the address of a handle
        kind, cls, (size, less) = INTEGER | NONE | ADDRESS, self.address(), (0, 0)
        if parameter.const and parameter.name in self.sized:
            size, less = self.measure(parameter)
        if parameter.const and (size or parameter.name not in self.sized):
            kind, cls = kind | BYTES, bytes
        return argument(slot, kind, cls, 2**64 - 1, size=size, less=less)

    def array(self, parameter: CParameter, cls: Any, slot: int) -> Argument | None:
        """An array of a class of numbers or handles."""
        if issubclass(cls, Enum):
            cls = ctypes.c_int
        item, width = _values[cls] if cls in _values else _look_at(cls), ctypes.sizeof(cls)
        size, less = self.measure(parameter)
        if item is None or width not in (4, 8) or not size:
            return None
        return argument(slot, ARRAY | NONE, cls, item[2], size=size, width=width, less=less)

    def measure(self, parameter: CParameter) -> tuple[int, int]:
        """How many bytes or items C reads or writes, if a parameter says it, by itself or less a number.

        Returns its slot, and 1, and the number; 0, 0 if there is none.
        """
        name, _, less = str(self.sized[parameter.name]).partition(" - ")
        for other, slot in self.slots.items():
            if other.c_name == name and other.name in self.inputs and not other.stars:
                return slot + 1, int(less or 0)
        return 0, 0

    def output(self, parameter: CParameter, cls: Any, slot: int) -> Result | None:
        """The only result: bytes, as many as there is room for, or what an attribute decides."""
        if len(self.slots) - len(self.inputs) > 1 or self.twins is not None:
            return None
        if parameter.c_name in self.declaration.variants:
            key, table = self.declaration.variants[parameter.c_name]
            place = next(at for other, at in self.slots.items() if other.c_name == key)
            return 8 * slot, CHOSEN, _variants(slot, find(self.scope, table)), 8 * place
        if cls is not ctypes.c_char or parameter.stars != 1:
            return None
        size, less = self.measure(parameter)
        return result(slot, "chars", None, size - 1) if size and not less else None


_Value: TypeAlias = "tuple[int, Any, int]"
_STRUCT: _Value = (VALUE, None, 0)
_scalars: list[Any] = [*SCALARS.values()]
_CODES: dict[Any, str] = {cls: cls._type_ for cls in _scalars}
_BASES: dict[Any, _Value | None] = {
    **dict.fromkeys(AGGREGATES, _STRUCT),
    Callback: None,
    **{cls: (INTEGER | NONE, cls, 2**64 - 1) for cls in (Pointer, UInt64)},
    UInt: (INTEGER | NONE | NARROW, UInt, 2**32 - 1),
    Int: (INTEGER | NONE | NARROW, Int, 2**31 - 1),
    Enum: (INTEGER | ENUM, Enum, 2**32 - 1),
    **{
        cls: (INTEGER, None, 2 ** (8 * ctypes.sizeof(cls) - (code in "bhilq")) - 1)
        for cls, code in _CODES.items()
        if code in "bBhHiIlLqQ"
    },
}
_values: dict[type | None, _Value | None] = {None: None}
"""What a lane takes of a parameter that C gets by its value: the kind, the class beside int, the highest int.
None: no lane takes it.
"""


def _look_at(cls: type) -> _Value | None:
    """What is in `_values` of a class, by the first of its bases that is known."""
    value = next((_BASES[base] for base in cls.__mro__ if base in _BASES), None)
    if value is not None and value[1] is not None:
        value = value[0], cls, value[2]
    _values[cls] = value
    return value


_NUMBERS = {
    **dict.fromkeys("ilq", "signed"),
    **dict.fromkeys("ILQ", "unsigned"),
    **dict.fromkeys("fd", "float"),
}


def _result(slot: int, parameter: CParameter, cls: Any, twins: Mapping[type, Any] | None) -> Result | None:
    stars = parameter.stars
    if stars == 2 and cls is ctypes.c_char:
        return result(slot, "text") if twins is None else None
    if stars == 2 and (cls is None or parameter.type in SCALARS):
        return result(slot, "unsigned 8")
    if cls is None:
        return None
    if issubclass(cls, AGGREGATES):
        if stars != 1 or cls._version_ or (twins and cls in twins):
            return None
        return result(slot, "spare struct" if cls._alignment_ else "struct", cls)
    if stars != 1 and (parameter.type == cls.__name__ or not issubclass(cls, Handle)):
        return None
    return _of_class(slot, cls, twins)


def _of_class(slot: int, cls: Any, twins: Mapping[type, Any] | None = None) -> Result | None:
    """A result of a class of numbers or handles, or an enum."""
    if issubclass(cls, Handle):
        width = ctypes.sizeof(cls)
        if width not in (4, 8):
            return None
        if twins is None:
            return result(slot, f"handle {width}", cls)
    elif issubclass(cls, Enum):
        return result(slot, "enum", twins.get(cls, cls) if twins else cls)
    number = _NUMBERS.get(cls._type_)
    return result(slot, f"{number} {ctypes.sizeof(cls)}") if number else None


def _variants(slot: int, table: Mapping[Any, Any]) -> dict[int, Result | None]:
    """The results by attribute. table: their types, as `results.Variants` has them; no lane makes structs."""
    return {
        int(key): result(slot, "bool") if cls is bool else None if type(cls) is str else _of_class(slot, cls)
        for key, cls in table.items()
    }


def is_plain_storage(cls: Any) -> bool:
    """Whether the storage of a ctypes class is what C takes of its objects, byte by byte."""
    if issubclass(cls, SimpleData):
        is_as_it_is = cls._type_ in _AS_THEY_ARE and cls.value is SimpleData.value
        return is_as_it_is and getattr(cls, "__ctype_be__", None) is not cls
    return issubclass(cls, (*AGGREGATES, ctypes.Array)) and not hasattr(cls, "__bytes__")


_AS_THEY_ARE = frozenset("bBhHiIlLqQfdPzZ")
"""Codes of ctypes: not of a bool, of which any byte but 0 is true, and not of what no device has."""
