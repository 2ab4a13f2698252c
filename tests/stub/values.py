"""Arguments for every declared function, and the bytes that C must get for them.

Nothing here asks cudapy how it converts: integers are packed by `struct` under the format that their C type
has, structs are blocks of bytes. A style says which values: "typical" uses every byte of a number, so that a
lost half shows; "zero" is 0, None and empty lists; "high" and "low" are the limits of each type.
"""

from __future__ import annotations

import array
import ctypes
import hashlib
import struct
from typing import Any, NamedTuple

from . import module
from .build import (
    COPIED,
    RETURNED,
    Parameter,
    is_aggregate,
    number_of,
    parameters,
    pattern,
    returns_text,
    struct_of,
    variant_size,
)

STYLES = ("typical", "zero", "high", "low")
BIG = 70_000
"""A count of outputs that needs more than 16 bits."""

_FORMATS = {
    "char": "b", "signed char": "b", "unsigned char": "B", "short": "h", "unsigned short": "H", "int": "i",
    "unsigned int": "I", "unsigned": "I", "long": "l", "unsigned long": "L", "long long": "q",
    "unsigned long long": "Q", "size_t": "Q", "ssize_t": "q", "off_t": "l", "bool": "?", "float": "f",
    "double": "d",
}  # fmt: skip

enums, handles = module("_ffi.enums"), module("_ffi.handles")
DESCRIPTORS = ("osHandle", "shareableHandle", "handle")
"""A `void *` that is a file descriptor, in the functions that import shared memory: None is refused there."""
callback_type = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_callbacks = [callback_type(lambda _: None) for _ in range(4)]


class Index:
    """An integer by `__index__` alone."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


class Input(NamedTuple):
    """A value for a parameter, and what C must see.

    raw: the argument's bytes; None: the address of memory that cudapy makes, anything but null.
    memory: the bytes behind a pointer; None: null, or of a size that only the caller knows.
    """

    value: Any
    raw: bytes | None
    memory: bytes | None = None
    count: int = 0  # type: ignore[assignment]  # the number, where the parameter is a count


def distinct(name: str, size: int) -> bytes:
    """`size` bytes that belong to `name`, none of them 0, the last one (the sign) below 0x80."""
    made = b""
    while len(made) < size:
        made += hashlib.sha256(f"{name} {len(made)}".encode()).digest()
    return bytes(b % 127 + 1 for b in made[:size])


def format_of(p: Parameter, cls: Any = None) -> str:
    """The `struct` format of one item of a parameter's base type."""
    cls = cls or p.cls
    if cls is None or cls is handles.Callback:
        return "Q"
    if cls is bool:
        return "B"
    if issubclass(cls, enums.Enum):
        return "i" if max(cls._by_value, default=0) < 1 << 31 else "I"
    if issubclass(cls, handles.Handle):
        for base, code in ((handles.Int, "i"), (handles.UInt, "I")):
            if issubclass(cls, base):
                return code
        return "Q"
    by_class = {
        ctypes.c_int: "i",
        ctypes.c_size_t: "Q",
        ctypes.c_ulonglong: "Q",
        ctypes.c_uint: "I",
        ctypes.c_ubyte: "B",
    }
    return _FORMATS.get(p.c.type) or by_class[cls]


def number(name: str, code: str, style: str) -> Any:
    """A value of a scalar type."""
    if code == "?":
        return int(style != "zero")
    size, floating = struct.calcsize(code), code in "fd"
    if style == "typical":
        data = distinct(name, size)
        return data[0] + 0.5 if floating else struct.unpack(code, data)[0]
    if style == "zero":
        return 0.0 if floating else 0
    if style == "high":
        return 2.0**127 if floating else (1 << 8 * size - code.islower()) - 1
    return -(2.0**127) if floating else -(1 << 8 * size - 1) if code.islower() else 1


class Case(NamedTuple):
    """A call of a function: the inputs by C name, in C's order, and the value of each count."""

    function: Any
    style: str
    found: list[Parameter]
    inputs: dict[str, Input]
    counts: dict[str, int]
    key: Any

    def arguments(self) -> list[Any]:
        """The values, in the order of the Python signature."""
        by_name = {p.c.name: self.inputs[p.c.c_name].value for p in self.found if p.c.c_name in self.inputs}
        return [by_name[name] for name in self.function.__declaration__.inputs]


def case(function: Any, style: str, key: Any = None) -> Case:
    """The call of `function` in `style`. `key` is the attribute, for a function with `variants`."""
    found = parameters(function)
    symbol = function.__name__
    made = Case(function, style, found, {}, {}, key)
    for order, p in enumerate(p for p in found if p.counts and p.role != "output"):
        made.counts[p.c.c_name] = _count(p, order, style)
    for p in found:
        if p.role != "output":
            made.inputs[p.c.c_name] = _input(f"{symbol}.{p.c.c_name}", p, made)
    return made


def length(p: Parameter, counts: dict[str, int]) -> int:
    """How many items the array `p` has."""
    n = eval(p.count, {}, counts)
    return max(0, int(n))


def _count(p: Parameter, order: int, style: str) -> int:
    if style == "typical":
        return 3 + order
    if style == "zero":
        return 0
    if p.role == "in out":
        return 5
    if style == "high":
        return BIG if p.counts == "output" else number("", format_of(p), "high")
    return 2 if p.counts == "output" else 3 + order


def _input(name: str, p: Parameter, made: Case) -> Input:
    style = made.style
    if p.variants:
        return _variant(name, p, made)
    if p.c.c_name in made.counts:
        n = made.counts[p.c.c_name]
        raw = struct.pack(format_of(p), n)
        value: Any = Index(n) if style == "low" else n
        return Input(value, None, raw, n) if p.c.stars else Input(value, raw, None, n)
    for other in made.found:
        if other.variants and other.variants[0] == p.c.name:
            return Input(made.key, struct.pack("i", int(made.key)))
    if p.role in ("in out", "in place"):
        return _referenced(name, p, style)
    if not p.c.stars:
        return _by_value(name, p, style)
    if p.count:
        return _sized(name, p, made)
    return _pointer(name, p, style)


def _by_value(name: str, p: Parameter, style: str) -> Input:
    if is_aggregate(p.cls):
        instance, data = _struct(name, p.cls, style)
        return Input(instance, data)
    value = number(name, format_of(p), style)
    raw = struct.pack(format_of(p), value)
    if issubclass(p.cls, enums.Enum) and style == "typical" and len(p.cls):
        value = list(p.cls)[-1]
        raw = struct.pack(format_of(p), value)
    elif issubclass(p.cls, handles.Callback) and style == "typical":
        value = _callbacks[p.index % 4]
        raw = struct.pack("Q", ctypes.cast(value, ctypes.c_void_p).value)
    elif issubclass(p.cls, handles.Handle):
        value = {"typical": p.cls(value), "zero": None, "high": value, "low": Index(value)}[style]
    elif not issubclass(p.cls, (ctypes.c_float, ctypes.c_double)) and style == "low":
        value = Index(value)
    return Input(value, raw)


def _referenced(name: str, p: Parameter, style: str) -> Input:
    """A scalar or handle that C takes by address: what lies there when C is called."""
    value = number(name, format_of(p), style)
    memory = struct.pack(format_of(p), value)
    if p.role == "in place" or issubclass(p.cls, handles.Handle):
        value = p.cls(value) if style != "low" else Index(value)
    return Input(value, None, memory)


def _pointer(name: str, p: Parameter, style: str) -> Input:
    """A pointer to one thing, or to memory of a size that only the caller knows."""
    if style == "zero":
        return Input(0 if p.c.c_name in DESCRIPTORS else None, bytes(8))
    if is_aggregate(p.cls) and p.c.stars == 1:
        instance, data = _struct(name, p.cls, style)
        return Input(instance, None, data)
    if p.cls is ctypes.c_char and p.c.const:
        text = distinct(name, 11)
        return Input(bytearray(text) if style == "low" else text, None, text + b"\0")
    if style == "low":
        buffer = bytearray(8)
        return Input(buffer, struct.pack("Q", address(buffer)))
    value = number(name, "Q", style)
    return Input(value, struct.pack("Q", value))


def _sized(name: str, p: Parameter, made: Case) -> Input:
    """An array, or memory whose size is a parameter."""
    counted = {c.c.c_name for c in made.found if c.counts and c.c.stars == 0 and c.c.c_name in made.counts}
    if made.style == "high" and any(made.counts[c] > 9 for c in counted if c in p.count):
        return Input(None, bytes(8))
    n = length(p, made.counts)
    if not n:
        return Input(None, bytes(8))
    if p.c.stars == 1 and p.cls in (None, ctypes.c_char):
        data = distinct(name, n)
        value: Any = bytearray(data)
        if made.style == "low":
            value = data if p.c.const else memoryview(value)
        return Input(value, None, data)
    if is_aggregate(p.cls):
        items, datas = zip(*[_struct(f"{name}[{i}]", p.cls, made.style) for i in range(n)], strict=True)
        return Input(items if made.style == "low" else list(items), None, b"".join(datas))
    if p.cls is ctypes.c_char:
        texts = [distinct(f"{name}[{i}]", 9) for i in range(n)]  # `bytes`, of which C gets the addresses
        places = [ctypes.cast(ctypes.c_char_p(text), ctypes.c_void_p).value for text in texts]
        return Input(tuple(texts) if made.style == "low" else texts, None, struct.pack(f"{n}Q", *places))
    code = "Q" if p.c.stars == 2 else format_of(p)
    style = "typical" if made.style == "low" else made.style
    numbers = [number(f"{name}[{i}]", code, style) for i in range(n)]
    data = struct.pack(f"{n}{code}", *numbers)
    if made.style == "low":
        return Input(array.array(code.replace("q", "l").replace("Q", "L"), numbers), None, data)
    values = list(numbers)
    if p.c.stars == 1 and issubclass(p.cls, handles.Handle):
        values[0] = p.cls(values[0])
    return Input(values, None, data)


def _variant(name: str, p: Parameter, made: Case) -> Input:
    """The value of an attribute, of the type that the attribute has."""
    cls = p.variants[1][made.key]  # type: ignore[index]
    if is_aggregate(cls):
        instance, data = _struct(name, cls, "typical")
        return Input(instance, None, data)
    code = format_of(p, cls)
    value = 1 if cls is bool else number(name, code, "typical")
    return Input(value, None, struct.pack(code, value))


def _struct(name: str, cls: Any, style: str) -> tuple[Any, bytes]:
    """An instance of a struct all of whose bytes are known."""
    size = ctypes.sizeof(cls)
    data = {"zero": bytes(size), "high": b"\xff" * size}.get(style) or distinct(name, size)
    instance = cls()
    ctypes.memmove(ctypes.addressof(instance), data, size)
    return instance, data


def address(buffer: Any) -> int:
    """Where a writable buffer lies."""
    return ctypes.addressof((ctypes.c_char * len(buffer)).from_buffer(buffer))


# -- what comes back -------------------------------------------------------------------------------------


class Typed(NamedTuple):
    """A result of type `cls` whose bytes in C are `data`."""

    cls: Any
    data: bytes


def results(made: Case, wide: bool) -> list[Any]:
    """What the call must return after the status: a `Typed`, a list of them, or the value itself."""
    found = [_result(p, made, wide) for p in made.found if p.role in ("output", "in out")]
    struct = struct_of(made.function)
    if struct is not None:
        found.append(Typed(struct, pattern(len(made.found), ctypes.sizeof(struct))))
    if number_of(made.function) is not None:
        found.append(RETURNED)
    return [*found, b"returned as text"] if returns_text(made.function) else found


def _result(p: Parameter, made: Case, wide: bool) -> Any:
    if p.variants:
        cls = p.variants[1][made.key]
        return Typed(cls, pattern(p.index, variant_size(cls)))
    if p.role == "in out" and p.counts:
        before = made.counts[p.c.c_name]
        return Typed(p.cls, pattern(p.index, ctypes.sizeof(p.cls))) if wide else max(0, before - 1)
    if p.c.stars == 3:
        return [f"{p.c.c_name} as text".encode()] * COPIED
    if p.c.stars == 2 and p.role == "output":
        if p.count:
            return _items(p, COPIED)
        if p.cls is not None and issubclass(p.cls, handles.Handle):
            return Typed(p.cls, pattern(p.index, 8))
        text = p.cls is ctypes.c_char
        return f"{p.c.c_name} as text".encode() if text else int.from_bytes(pattern(p.index, 8), "little")
    if p.counts == "own":
        return COPIED
    if p.count:
        n = length(p, made.counts)
        counter = next((c for c in made.found if c.c.c_name == p.count), None)
        if counter is not None and counter.role == "in out" and not wide:
            n = max(0, n - 1)
        return pattern(p.index, n) if p.cls is ctypes.c_char else _items(p, n)
    return Typed(p.cls, pattern(p.index, size_of(p.cls)))


def size_of(cls: Any) -> int:
    return 4 if issubclass(cls, enums.Enum) else ctypes.sizeof(cls)


class Row(NamedTuple):
    """A list of values of one C type, as the bytes of all of them."""

    cls: Any
    data: bytes


def _items(p: Parameter, n: int) -> Row:
    return Row(p.cls, pattern(p.index, n * size_of(p.cls)))


def _same_row(have: Any, expected: Row) -> bool:
    """Whether a list is what it must be; the longest have thousands of integers."""
    cls, data = expected
    size = size_of(cls)
    if type(have) is not list or len(have) * size != len(data):
        return False
    if (
        cls in (bool, ctypes.c_bool)
        or is_aggregate(cls)
        or issubclass(cls, (ctypes.c_float, ctypes.c_double))
    ):
        items = (data[i : i + size] for i in range(0, len(data), size))
        return all(same(one, Typed(cls, item)) for one, item in zip(have, items, strict=True))
    own_class = issubclass(cls, (enums.Enum, handles.Handle))
    numbers = struct.unpack(f"<{len(have)}{dict(zip((1, 2, 4, 8), 'BHIQ', strict=True))[size]}", data)
    return {*map(type, have)} <= {cls if own_class else int} and tuple(map(int, have)) == numbers


def same(have: Any, expected: Any) -> bool:
    """Whether a result is what it must be, type included."""
    if isinstance(expected, Row):
        return _same_row(have, expected)
    if isinstance(expected, list):
        return type(have) is list and len(have) == len(expected) and all(map(same, have, expected))
    if not isinstance(expected, Typed):
        return type(have) is type(expected) and have == expected
    cls, data = expected
    if cls in (bool, ctypes.c_bool):
        return have is True
    if is_aggregate(cls):
        return type(have) is cls and bytes(have) == data
    if issubclass(cls, (ctypes.c_float, ctypes.c_double)):
        return type(have) is float and struct.pack(cls._type_, have) == data
    own_class = issubclass(cls, (enums.Enum, handles.Handle))
    return type(have) is (cls if own_class else int) and int(have) == int.from_bytes(data, "little")
