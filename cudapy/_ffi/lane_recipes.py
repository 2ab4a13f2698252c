"""What the fast lane knows of declared functions: read once, by `python -m tests.lane_recipes`.

That command writes `_types/lanes.py`. A library has four things there: the kinds of parameters, a recipe for
each function, in the order of the declarations, a checksum of these, and a character for the place of each
function that programs call most. A recipe has a letter for each
parameter, in the order of C: one of LETTERS for each kind with each class. The classes are not written: what
the prototype says is read when a letter is used first. Behind a colon there are words of the function's table
that do not follow from these, in pairs of characters: which one, and what it is.
"""

from __future__ import annotations

import ctypes
import struct

from .enums import Enum
from .handles import Handle
from .lane_types import (
    ADDRESS,
    ARRAY,
    BYTES,
    CHOSEN,
    ENUM,
    INTEGER,
    MOST_PARAMETERS,
    NARROW,
    NONE,
    PLACE,
    RESULTS,
    VALUE,
)
from .lazy_types import find
from .scalars import SCALARS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, TypeAlias

    from .library import Declaration

NO_LANE = "-"
ZERO = 0xC0
"""The character for 0 among the words behind a colon."""
LETTERS = "".join(
    [chr(code) for code in (*range(0x23, 0x7F), *range(0xC0, 0x250)) if chr(code) not in "-:\\"]
)
_PRIME = (1 << 30) - 35
ARGUMENTS = {
    **{
        letter: (INTEGER, 2**bits - 1) for letter, bits in zip("bkwduj", (8, 15, 16, 31, 32, 63), strict=True)
    },
    "q": (INTEGER, 2**64 - 1),
    "h": (INTEGER | NONE, 2**64 - 1),
    "n": (INTEGER | NONE | NARROW, 2**32 - 1),
    "i": (INTEGER | NONE | NARROW, 2**31 - 1),
    "e": (INTEGER | ENUM, 2**32 - 1),
    "a": (INTEGER | NONE | ADDRESS, 2**64 - 1),
    "m": (INTEGER | NONE | ADDRESS | BYTES, 2**64 - 1),
    "t": (BYTES | NONE, 0),
    "s": (PLACE | NONE, 0),
    "p": (PLACE, 0),
    "v": (VALUE, 0),
    "x": (ARRAY | NONE, 2**64 - 1),
    "y": (ARRAY | NONE, 2**32 - 1),
    "z": (ARRAY | NONE, 2**31 - 1),
    "o": (ARRAY | NONE, 0),
}
"""Letters of the kinds of arguments: what they are, and the highest number."""
ARRAYS = "xyz"
_TEXT, _CHARS, _ENUM, _BOOL, _HANDLE_4, _HANDLE_8, _STRUCT, _SPARE = map(
    RESULTS.index, ("text", "chars", "enum", "bool", "handle 4", "handle 8", "struct", "spare struct")
)
OF_RESULT, OF_ATTRIBUTE = -1, -2
_before, _behind, _words = (struct.Struct(f"{count}Q").pack for count in (3, 6, 5))
SLOTS = [struct.pack("Q", 8 * slot) for slot in range(MOST_PARAMETERS)]


def result_letter(kind: int) -> str:
    """What the kind of a result is in the letters of a library."""
    return chr(ord("A") + kind)


_OF_TABLE = result_letter(CHOSEN)
WITH_CLASS = {
    *"hniespv",
    *ARRAYS,
    *map(result_letter, (_ENUM, _HANDLE_4, _HANDLE_8, _STRUCT, _SPARE, CHOSEN)),
}
"""The kinds that have a class."""


def checksum(declarations: Sequence[Declaration]) -> int:
    """A number of what is declared."""
    text = "".join([declaration.prototype for declaration in declarations])
    return int.from_bytes(text.encode(), "little") % _PRIME


class Recipes(dict):  # type: ignore[type-arg]
    """The recipes of the functions of a library, by their declarations.

    Raises RuntimeError if the declarations are not those of which the recipes are.
    """

    def __init__(
        self, declarations: Sequence[Declaration], kinds: str, recipes: str, number: int, usual: str
    ) -> None:
        written = recipes.split()
        super().__init__(zip(declarations, written))  # noqa: B905  # there may be others since
        if checksum(declarations[: len(written)]) != number:
            raise RuntimeError(
                "the fast lane has recipes of other functions: run `python -m tests.lane_recipes`"
            )
        self.kinds = dict(zip(LETTERS, kinds))  # noqa: B905  # there are more letters
        self.usual = [declarations[ord(letter) - ZERO] for letter in usual]


Row: TypeAlias = "tuple[bytes, bytes, int, Any]"
"""What a letter is: the words of an ARGUMENT before its slot, none of a RESULT; those behind it; the kind of
an argument, or OF_RESULT, or OF_ATTRIBUTE; the class that is passed, or the types by attribute.
"""


class Rows(dict):  # type: ignore[type-arg]
    """What each letter of a library's recipes is, made when a function needs it; None: there is no lane.

    scope: the namespace of the functions. twins: the classes that a face has for those of C; it has ints for
    handles, and str for texts. address: the class of addresses of the device, if there is one. keep: the
    address of an object, kept for good. result_words: the words of a result from its kind and class.
    """

    def __init__(
        self,
        recipes: Recipes,
        status: Any,
        scope: dict[str, Any],
        twins: Mapping[type, Any] | None,
        address: str,
        keep: Callable[[Any], int],
        result_words: Callable[[int, Any], tuple[int, ...]],
    ) -> None:
        self.recipes, self.status, self._scope, self._twins = recipes, status, scope, twins
        self._address, self._keep, self._result_words = address, keep, result_words
        self._failing: dict[int, Any] = {}
        if recipes:
            self.success = status._by_value[0]
            self.only = (self.success,)
            keep(self.success)
            keep(self.only)

    def failing(self, count: int) -> Callable[..., Any]:
        """What makes the result of a failure from the status: that, and nothing for so many results."""
        if count not in self._failing:
            status, nothing = self.status, [None] * count
            self._failing[count] = lambda number, *_: (status(number), *nothing)
        failing: Callable[..., Any] = self._failing[count]
        return failing

    def passed(self, declaration: Declaration) -> list[tuple[int, Any]]:
        """The kind and the class of each argument of a function."""
        letters = self.recipes[declaration].partition(":")[0]
        return [(kind, cls) for _, _, kind, cls in map(self.__getitem__, letters) if kind >= 0]

    def make(self, letter: str, declaration: Declaration, place: int) -> Row | None:
        """What a letter is, from the first declaration that has it, as its parameter at a place."""
        kind = self.recipes.kinds[letter]
        cls = self.class_of(kind, declaration, place)
        known = ARGUMENTS.get(kind)
        made = self._argument(*known, cls) if known else self._result(ord(kind) - ord("A"), cls)
        self[letter] = made
        return made

    def cell(self, cls: Any, slot: bytes) -> tuple[bytes, bytes, bytes]:
        """The words of an argument that is a handle, which C fills."""
        return _before(PLACE, self._keep(cls), 0), slot, _behind(0, 0, 0, 8, 0, 0)

    def class_of(self, kind: str, declaration: Declaration, place: int) -> Any:
        """The class of a parameter, or the types that an attribute decides; None if its kind has none."""
        if kind not in WITH_CLASS:
            return find(self._scope, self._address) if kind == "a" and self._address else None
        text = declaration.prototype
        *before, name = text[text.index("(") + 1 : -1].split(",")[place].replace("*", " ").split()
        if kind == _OF_TABLE:
            return find(self._scope, declaration.variants[name][1])
        name = " ".join([word for word in before if word != "const"])
        cls = SCALARS.get(name) or find(self._scope, name)
        return ctypes.c_int if kind in ARRAYS and issubclass(cls, Enum) else cls

    def _twin(self, cls: Any) -> Any:
        """What a face has for a class of C; None if it has none, or there is no class."""
        return None if self._twins is None or cls is None else self._twins.get(cls)

    def _argument(self, kind: int, limit: int, cls: Any) -> Row | None:
        if kind & BYTES:
            cls = bytes
        elif (twin := self._twin(cls)) is not None:
            if not kind & ENUM:
                return None
            cls = twin
        at = 0 if cls is None else self._keep(cls)
        if kind & ARRAY:
            width = ctypes.sizeof(cls) if cls else 8
            return _before(kind, 0, limit), _behind(at, 0, 0, 8, width, 0), kind, cls
        width = ctypes.sizeof(cls) if kind & VALUE else 0
        return _before(kind, at, limit), _behind(0, 0, 0, 8, width, 0), kind, cls

    def _result(self, kind: int, cls: Any) -> Row | None:
        given = cls
        if self._twins is not None:
            twin = self._twin(cls)
            if kind in (_TEXT, _CHARS, CHOSEN) or (twin is not None and kind != _ENUM):
                return None
            cls = cls if twin is None else twin
            if kind in (_HANDLE_4, _HANDLE_8):
                kind, cls = number_of(cls), None
        words = self._result_words(kind, None if kind == CHOSEN else cls)
        of = OF_ATTRIBUTE if kind == CHOSEN else OF_RESULT
        return (b"", _words(*words), of, given) if words else None


def number_of(cls: Any) -> int:
    """Which of RESULTS a number of a ctypes class is; -1 for another one."""
    name = f"{_NUMBERS.get(cls._type_)} {ctypes.sizeof(cls)}"
    return RESULTS.index(name) if name in RESULTS else -1


def result_of(cls: Any) -> tuple[int, Any] | None:
    """Which of RESULTS a handle, an enum, a number or a bool is, and the class that the lane needs for it."""
    if cls is bool:
        return _BOOL, None
    if type(cls) is str:  # the name of a struct
        return None
    if issubclass(cls, Enum):
        return _ENUM, cls
    if issubclass(cls, Handle):
        return {4: _HANDLE_4, 8: _HANDLE_8}[ctypes.sizeof(cls)], cls
    number = number_of(cls)
    return None if number < 0 else (number, None)


_NUMBERS = {
    **dict.fromkeys("ilq", "signed"),
    **dict.fromkeys("ILQ", "unsigned"),
    **dict.fromkeys("fd", "float"),
}
