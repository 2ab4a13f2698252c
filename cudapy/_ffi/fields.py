"""The fields of structs: descriptors that check what goes in and give what Python expects out.

Each is a `property` whose getter is ctypes' own where that gives the right type already, so that reading a
scalar costs what it costs in ctypes.
"""

from __future__ import annotations

import ctypes

from . import convert
from .enums import Enum
from .handles import Handle
from .scalars import AGGREGATES, SCALARS, SimpleData, char_p, void_p, void_pp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def plain(cls: Any) -> tuple[Any, Any]:
    """The storage of a field of type `cls`, and the descriptor to be made from ctypes' one."""
    if issubclass(cls, Enum):
        storage = ctypes.c_int if max(cls._values.values()) < 1 << 31 else ctypes.c_uint
        return storage, lambda raw: EnumField(raw, cls)
    if issubclass(cls, void_p):  # type: ignore[misc]
        return ctypes.c_size_t, lambda raw: (Pointers if cls is void_pp else Pointer)(raw)
    if issubclass(cls, Handle):
        return cls, lambda raw: HandleField(raw, cls)
    if issubclass(cls, (ctypes.Structure, ctypes.Union)):
        return cls, lambda raw: Nested(raw, cls)
    if cls is char_p:
        return cls, Text
    return cls, lambda raw: Scalar(raw, cls)


def annotated(c_type: str, extra: str, body: dict[str, Any], scope: dict[str, Any]) -> tuple[Any, Any]:
    """Like `plain`, for an array ("char[64]") or a pointer to structs ("T *", counted by `extra`)."""
    item, _, count = c_type.rstrip("]").partition("[")
    name = item.rstrip("* ")
    own = name == body.get("__qualname__")  # a pointer to the struct that is being declared
    cls: Any = SCALARS.get(name) or body.get(name) or scope.get(name) or (None if own else void_p)
    if not count:
        return (ctypes.c_size_t, lambda raw: Structs(raw, cls, extra)) if "*" in c_type else plain(cls)
    length = int(count)
    if "*" in item:
        return ctypes.c_size_t * length, lambda raw: Items(raw, ctypes.c_size_t, length)
    if cls in (ctypes.c_char, ctypes.c_ubyte):
        kind = Decoded if extra == "str" else Bytes
        return ctypes.c_ubyte * length, lambda raw: kind(raw, cls, length, extra == "text")
    storage = ctypes.c_int if issubclass(cls, Enum) else cls
    return storage * length, lambda raw: Items(raw, cls, length)


def keep(owner: Any, raw: Any, obj: Any) -> None:
    """Keep `thing` alive as long as the memory of `owner`, in place of what the field `raw` kept before."""
    root = owner
    while root._b_base_ is not None:
        root = root._b_base_
    try:
        kept = root._keep_
    except AttributeError:
        kept = root._keep_ = {}
    kept[ctypes.addressof(owner) - ctypes.addressof(root) + raw.offset] = obj


def kept(owner: Any, raw: Any) -> Any:
    """What `keep` keeps for the field."""
    root = owner
    while root._b_base_ is not None:
        root = root._b_base_
    at = ctypes.addressof(owner) - ctypes.addressof(root) + raw.offset
    return getattr(root, "_keep_", {}).get(at)


def copies(array: Any, owner: Any) -> list[Any]:
    """The items of an array as Python has them, none of them a view of it. Structs keep `owner` alive: what
    they point to may be its own.
    """
    cls = array._type_
    if issubclass(cls, Handle):
        return [cls(item.value) for item in array]
    if not issubclass(cls, AGGREGATES):
        return list(array)
    items = [cls.from_buffer_copy(item) for item in array]
    for item in items:
        item._keep_ = {-1: owner}
    return items


class Field(property):
    """Base: `raw` is ctypes' descriptor, `cls` the type of the value."""

    raw: Any
    cls: Any
    what = ""  # how messages call this field

    def __init__(self, raw: Any, cls: Any = None, get: Any = None) -> None:
        super().__init__(get or raw.__get__)
        self.raw = raw
        self.cls = cls

    def text(self, owner: Any) -> str:
        """What `repr` shows. Follows no pointer that may be wrong."""
        return repr(self.__get__(owner))


class Scalar(Field):
    """A number."""

    def __set__(self, owner: Any, value: Any) -> None:
        cls = self.cls
        if cls in (ctypes.c_float, ctypes.c_double):
            value = convert.real(value, cls._type_, self.what).value
        elif cls is not ctypes.c_bool:
            value = convert.integer(value, *convert.limits(cls), self.what)
        self.raw.__set__(owner, value)


class EnumField(Field):
    """An enum: a member when read, a member or an int when set."""

    def __init__(self, raw: Any, cls: Any) -> None:
        read = raw.__get__
        super().__init__(raw, cls, lambda owner: cls(read(owner)))

    def __set__(self, owner: Any, value: Any) -> None:
        self.raw.__set__(owner, convert.integer(value, -(1 << 31), (1 << 32) - 1, self.what))


class HandleField(Field):
    """A handle: a view of the field when read; None, an int or a handle when set."""

    def __set__(self, owner: Any, value: Any) -> None:
        self.raw.__set__(owner, convert.handle(value, self.cls, self.what))


class Nested(Field):
    """A struct or union inside: a view when read, copied when set."""

    def __set__(self, owner: Any, value: Any) -> None:
        self.raw.__set__(owner, convert.by_value(value, self.cls, self.what))
        keep(owner, self.raw, value)


class Text(Field):
    """`const char *`: bytes or None."""

    def __set__(self, owner: Any, value: Any) -> None:
        value = convert.text(value, self.what)
        self.raw.__set__(owner, value)
        keep(owner, self.raw, value)

    def text(self, owner: Any) -> str:
        at = ctypes.c_size_t.from_address(ctypes.addressof(owner) + self.raw.offset)
        value = kept(owner, self.raw)
        ours = (
            isinstance(value, bytes)
            and at.value == ctypes.cast(ctypes.c_char_p(value), ctypes.c_void_p).value
        )
        return repr(value) if ours else f"{at.value:#x}"


class Pointer(Field):
    """`void *`: an address when read; an int, None, a handle, a struct or a buffer when set."""

    def convert(self, value: Any) -> Any:
        if self.what.rpartition(".")[2] in convert.DESTINATIONS:
            return convert.destination(value, None, self.what)
        return convert.pointer(value, None, True, self.what)

    def text(self, owner: Any) -> str:
        return f"{self.raw.__get__(owner):#x}"

    def __set__(self, owner: Any, value: Any) -> None:
        if type(value) is not int:
            kept = self.convert(value)
            keep(owner, self.raw, (kept, value))
            value = 0 if kept is None else ctypes.cast(kept, ctypes.c_void_p).value or 0
        self.raw.__set__(owner, convert.integer(value, 0, (1 << 64) - 1, self.what))


class Pointers(Pointer):
    """`void **`: as `Pointer`, and the ((values...), (types...)) of kernel arguments."""

    def convert(self, value: Any) -> Any:
        return convert.pointers(value, None, self.what)

    def text(self, owner: Any) -> str:
        return str(self.raw.__get__(owner))


class Structs(Field):
    """A pointer to `count` items, or to one: a list of copies when read; a list, a struct or None when set.

    The memory behind it is never shorter than the count says: what a list lacks is zero. A field whose name
    ends in `_out` is an array that C makes: before it does, there are `count` null handles to read.
    """

    def __init__(self, raw: Any, cls: Any, count: str) -> None:
        super().__init__(raw, cls, self.read)
        self.count = count

    def own(self, owner: Any) -> Any:
        """The array made of the list that the field was set to; None for a pointer from elsewhere."""
        array = kept(owner, self.raw)
        address = self.raw.__get__(owner)
        return array if address and array is not None and ctypes.addressof(array) == address else None

    def read(self, owner: Any) -> Any:
        address = self.raw.__get__(owner)
        count = getattr(owner, self.count) if self.count else 1
        array = self.own(owner)
        if array is not None:
            return copies(array, owner)[: len(array.keep)]
        if address:
            return copies((self.cls * count).from_address(address), owner)
        return [self.cls() for _ in range(count)] if self.what.endswith("_out") else []

    def __set__(self, owner: Any, value: Any) -> None:
        if isinstance(value, self.cls):
            value = [value]
        if value is None or not len(value):
            self.raw.__set__(owner, 0)
            keep(owner, self.raw, None)
            return
        self.hold(owner, list(value), getattr(owner, self.count) if self.count else 0)

    def hold(self, owner: Any, values: list[Any], count: int) -> None:
        """Point the field to an array of `values`, and of zeros up to `count`."""
        items = [convert.element(v, self.cls, f"{self.what}[{i}]") for i, v in enumerate(values)]
        array = (self.cls * max(len(items), count))(*items)
        array.keep = values
        keep(owner, self.raw, array)
        self.raw.__set__(owner, ctypes.addressof(array))

    def grow(self, owner: Any, count: int) -> None:
        """Make sure that the array, if it is ours, holds `count` structs."""
        array = self.own(owner)
        if array is not None and len(array) < count:
            self.hold(owner, list(array)[: len(array.keep)], count)

    def text(self, owner: Any) -> str:
        address = self.raw.__get__(owner)
        if not address and self.cls.__base__ is SimpleData:
            return "0"
        return repr(self.read(owner)) if not address or self.own(owner) is not None else f"{address:#x}"


class Count(Scalar):
    """The number of structs that `lists` point to."""

    lists: tuple[Structs, ...]

    def __set__(self, owner: Any, value: Any) -> None:
        before = self.raw.__get__(owner)
        super().__set__(owner, value)
        try:
            for field in self.lists:
                field.grow(owner, self.raw.__get__(owner))
        except MemoryError:
            self.raw.__set__(owner, before)
            raise


class Bytes(Field):
    """`char[n]`: bytes. Text ends at its NUL, anything else has all n bytes; what is set is padded with 0.

    A list may be set, too: of numbers up to 255, and from -128 where the items are `char` and not unsigned.
    """

    def __init__(self, raw: Any, item: Any, length: int, text: bool) -> None:
        read = raw.__get__
        super().__init__(
            raw,
            bytes,
            (lambda owner: bytes(read(owner)).split(b"\0")[0]) if text else lambda o: bytes(read(o)),
        )
        self.low = -128 if item is ctypes.c_char else 0
        self.length = length

    def __set__(self, owner: Any, value: Any) -> None:
        if isinstance(value, (list, tuple)):
            data = bytes(
                convert.integer(item, self.low, 255, f"{self.what}[{i}]") & 255
                for i, item in enumerate(value)
            )
        else:
            try:
                data = bytes(memoryview(value))
            except TypeError:
                raise TypeError(f"{self.what} must be bytes, not {type(value).__name__}") from None
        if len(data) > self.length:
            raise ValueError(f"{self.what} holds {self.length} bytes, not {len(data)}")
        ctypes.memmove(self.raw.__get__(owner), data.ljust(self.length, b"\0"), self.length)


class Decoded(Bytes):
    """`char[n]` that is a str in Python, up to its NUL."""

    def __init__(self, raw: Any, item: Any, length: int, text: bool) -> None:
        super().__init__(raw, item, length, text)
        read = raw.__get__
        property.__init__(self, lambda owner: bytes(read(owner)).split(b"\0")[0].decode("utf-8", "replace"))

    def __set__(self, owner: Any, value: Any) -> None:
        super().__set__(owner, value.encode() if isinstance(value, str) else value)


class Items(Field):
    """`T[n]`: a list when read, of copies; a list of at most n items when set; the rest becomes 0."""

    def __init__(self, raw: Any, cls: Any, length: int) -> None:
        read = raw.__get__
        as_enum = issubclass(cls, Enum)
        super().__init__(
            raw,
            cls,
            (lambda owner: [cls(item) for item in read(owner)])
            if as_enum
            else lambda owner: copies(read(owner), owner),
        )
        self.item = ctypes.c_int if as_enum else cls
        self.length = length

    def __set__(self, owner: Any, value: Any) -> None:
        if len(value) > self.length:
            raise ValueError(f"{self.what} holds {self.length} items, not {len(value)}")
        items = [convert.element(v, self.item, f"{self.what}[{i}]") for i, v in enumerate(value)]
        self.raw.__set__(owner, (self.item * self.length)(*items))
