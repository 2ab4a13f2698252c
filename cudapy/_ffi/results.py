"""What comes back from C: the storage that outputs are written to, and Python values out of it."""

from __future__ import annotations

import ctypes
import operator

from . import convert
from .enums import Enum
from .handles import Handle, maker
from .lazy_types import find
from .scalars import SimpleData

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

_ones: dict[Any, Any] = {}


def storage(cls: Any) -> Any:
    """The ctypes class in which C keeps a `cls`: an enum is an int."""
    return ctypes.c_int if issubclass(cls, Enum) else cls


def one(cls: Any) -> Any:
    """The array of one `cls`, under a name of its own."""
    if cls not in _ones:
        _ones[cls] = type(f"{cls.__name__}_1", (cls * 1,), {})
    return _ones[cls]


def room(count: int) -> Any:
    """Zeros that C fills: bytes that nobody else has. Memory that C does not write to is never touched.

    PyPy gives C a copy of bytes: there it is an array.
    """
    return bytes(count) if hasattr(ctypes, "pythonapi") else (ctypes.c_char * count)()


_output_slots: dict[Any, Any] = {}


def output_slots(cls: Any, kind: Any) -> Any:
    """Storage for one `cls`, a `kind` of ctypes, that calls reuse: (take, give, new).

    take() is a cell, (the ctypes object, what C takes for its address), or an IndexError when all are in use,
    which new() helps out of; give(cell) puts it back. Lists do either in one step, whatever the threads.
    """
    free: list[Any] = []

    def new() -> tuple[Any, Any]:
        item = kind()
        return item, ctypes.byref(item)

    return _output_slots.setdefault(cls, (free.pop, free.append, new))


_kept: dict[tuple[str, int], Any] = {}


def keep(handle: Any, *objects: Any) -> None:
    """Keep arguments alive that C uses as long as `handle` lives."""
    _kept[type(handle).__name__, handle.value] = objects


def released(handle: Any) -> tuple[Any, ...]:
    """Take back what was kept for a handle, before another thread is given a new one of this value."""
    objects: tuple[Any, ...] = _kept.pop((type(handle).__name__, handle.value), ())
    return objects


def items(array: Any, count: int, cls: Any) -> list[Any]:
    """The first `count` items of an output array, as a list."""
    if not count:
        return []
    values = array[:count]
    return [cls._by_value[item] for item in values] if issubclass(cls, Enum) else list(values)


def copies(address: int | None, cls: Any, count: int) -> list[Any]:
    """`count` items copied from memory that belongs to the library."""
    if not address or not count:
        return []
    array = (storage(cls) * count)()
    ctypes.memmove(array, address, ctypes.sizeof(array))
    return items(array, count, cls)


def needs(size: Callable[..., tuple[Any, ...]], handle: Any) -> int:
    """How many bytes a buffer must have; 0 where there is nothing to write, and the library will say why."""
    return size(handle)[1] or 0


def whole(function: Callable[..., tuple[Any, ...]], arguments: tuple[Any, ...], at: int) -> tuple[Any, ...]:
    """The result of `function`, whose last parameter is how many items there is room for, with room for all.

    at: where the result has how many there are, also where the room was too small. There may be more of them
    by the time that it is called again: then it is asked once more.
    """
    room = 0
    values = function(*arguments, room)
    for _ in range(16):
        if values[at] is None or values[at] <= room:
            break
        room = values[at]
        values = function(*arguments, room)
    return values


class Variants(dict):  # type: ignore[type-arg]
    """The types behind a `void *`, by attribute; each is a tuple of functions (take, give, new, get, put).

    The first three are those of `output_slots`, for zeroed storage; get(storage) is the Python value in it;
    put(value, what) is storage that holds `value`.
    `table` has the types: a ctypes scalar, an enum, a handle; bool, of any width; a struct by its name in the
    module with namespace `scope`, so that structs are made for nobody who asks for numbers.
    Raises ValueError for an attribute that is not in the table.
    """

    def __init__(self, table: Mapping[Any, Any], what: str, scope: dict[str, Any]) -> None:
        self.table, self.what, self.scope = table, what, scope

    def __missing__(self, attribute: Any) -> Any:
        try:
            cls = self.table[attribute]
        except KeyError:
            raise ValueError(f"{self.what}: the type of attribute {attribute!r} is not known") from None
        return self.setdefault(attribute, _variant(find(self.scope, cls) if type(cls) is str else cls))


def _variant(cls: Any) -> tuple[Callable[..., Any], ...]:
    kind = ctypes.c_uint64 if cls is bool else storage(cls)
    if kind.__base__ is not SimpleData:  # the result is the storage
        make = maker(kind) if issubclass(kind, Handle) else kind

        def new() -> tuple[Any, Any]:
            item = make()
            return item, ctypes.byref(item)

        return new, _let_be, new, _let_be, lambda value, what: convert.element(value, kind, what)
    get: Any = operator.attrgetter("value")
    if cls is bool:

        def get(item: Any) -> bool:
            value, item.value = item.value, 0  # C may write fewer bytes the next time
            return bool(value)

    elif cls is not kind:
        members = cls._by_value

        def get(item: Any) -> Any:
            return members[item.value]

    return *output_slots(cls, kind), get, lambda value, what: kind(convert.element(value, kind, what))


def _let_be(storage: Any) -> Any:
    return storage
