"""What comes back from C: the storage that outputs are written to, and Python values out of it."""

from __future__ import annotations

import ctypes

from . import convert
from .enums import Enum

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

_ones: dict[Any, Any] = {}


def storage(cls: Any) -> Any:
    """The ctypes class in which C keeps a `cls`: an enum is an int."""
    return ctypes.c_int if issubclass(cls, Enum) else cls


def sizeof(objType: type) -> int:
    """The size in bytes that a class, of a struct, handle or enum, has in C. Raises TypeError for others."""
    try:
        return ctypes.sizeof(storage(objType))
    except TypeError:
        raise TypeError(f"sizeof takes a struct, handle or enum class, not {objType!r}") from None


def one(cls: Any) -> Any:
    """The array of one `cls`, under a name of its own."""
    if cls not in _ones:
        _ones[cls] = type(f"{cls.__name__}_1", (cls * 1,), {})
    return _ones[cls]


_kept: dict[tuple[str, int], Any] = {}


def keep(handle: Any, *things: Any) -> None:
    """Keep arguments alive that C uses as long as `handle` lives."""
    _kept[type(handle).__name__, handle.value] = things


def let_go(handle: Any) -> tuple[Any, ...]:
    """Take back what was kept for a handle, before another thread is given a new one of this value."""
    things: tuple[Any, ...] = _kept.pop((type(handle).__name__, handle.value), ())
    return things


def items(array: Any, count: int, cls: Any) -> list[Any]:
    """The first `count` items of an output array, as a list."""
    if not count:
        return []
    found = array[:count]
    return [cls(item) for item in found] if issubclass(cls, Enum) else list(found)


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


class Variant:
    """The type behind a `void *`: a ctypes scalar, an enum, a handle, a struct; or bool, of any width."""

    def __init__(self, cls: Any) -> None:
        self.cls = cls
        self.storage = ctypes.c_uint64 if cls is bool else storage(cls)
        self.is_plain = cls is bool or self.storage.__base__ is convert.SimpleData

    def new(self) -> Any:
        """Zeroed storage."""
        return self.storage()

    def get(self, value: Any) -> Any:
        """The Python value in `value`, a thing that `new` made."""
        if not self.is_plain:
            return value
        return value.value if self.cls is self.storage else self.cls(value.value)

    def set(self, value: Any, what: str) -> Any:
        """Storage that holds `value`."""
        item = convert.element(value, self.storage, what)
        return self.storage(item) if self.is_plain else item


def variant(table: Mapping[Any, Any], key: Any, what: str) -> Variant:
    """The type that attribute `key` has by `table`. Raises ValueError for an attribute it does not know."""
    try:
        return Variant(table[key])
    except KeyError:
        raise ValueError(f"{what}: the type of attribute {key!r} is not known") from None
