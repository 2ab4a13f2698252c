"""Arrays of pointers to values: the `kernelParams` of a launch, from ((values...), (ctypes types...))."""

from __future__ import annotations

import ctypes
import struct

from .codegen import function_of_object
from .codes import struct_code
from .handles import Handle
from .packed_launch import Layout, launch_function
from .scalars import AGGREGATES, SimpleData
from .shown import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_fillers: dict[tuple[Any, ...], Any] = {}
MOST_PACKERS = 1024
"""How many lists of types are remembered. A program that makes types for ever has no end of them."""

SLOT = 8
"""Bytes of each value, with zeros behind it: what C reads if the parameter is wider than the value's type."""
_KINDS = "?cubBhHiIlLqQfdPz"
"""What ctypes calls the scalars that may be arguments."""


def pack_pointers(value: tuple[Any, Any], what: str) -> Any:
    """The array of pointers to `values`, each stored as the type beside it: ((values...), (types...)).

    The types are the scalars of ctypes: c_bool, c_char (a byte, or a number up to 255), c_wchar, the
    integers, c_float, c_double and c_void_p. c_void_p takes an address, a handle (its value is the argument;
    of one made with `_ptr` that address) and an object with `getPtr()`, a struct or an array (its address is
    the argument). The type None stands
    for an object that is passed as it is: one with `getPtr()`, a ctypes instance, or an enum member. The
    array and the copies of the values live in one block, alive as long as the result; what is given by its
    address is not kept alive.
    """
    values, types = value
    if len(values) != len(types):
        raise ValueError(f"{what}: {len(values)} values for {len(types)} types")
    types = tuple(types)
    if not types:
        return None
    try:
        fill, layout = _fillers[types]
    except KeyError:
        if len(_fillers) >= MOST_PACKERS:
            _fillers.clear()
        fill, layout = _fillers[types] = _filler(types, what)
    block = layout.block()
    table = ctypes.addressof(block)
    try:
        fill(block, table, *values)
    except (struct.error, TypeError, OverflowError, AttributeError):
        plain = [_plain(v, t, f"{what}[{i}]") for i, (v, t) in enumerate(zip(values, types, strict=True))]
        fill(block, table, *plain)
    return block


def _filler(types: tuple[Any, ...], what: str) -> tuple[Any, Layout]:
    """What packs as many values as `types` into a block at an address, and where they lie in it."""
    lines, layout, scope = _packing(types, what)
    source = f"def fill(block, table, {', '.join(_names(types))}):\n    " + "\n    ".join(lines)
    return function_of_object("fill", source, "cudapy kernelParams", scope), layout


def _names(types: tuple[Any, ...]) -> list[str]:
    return [f"v{i}" for i in range(len(types))]


def _packing(types: tuple[Any, ...], what: str) -> tuple[list[str], Layout, dict[str, Any]]:
    """The lines that pack values of these types into a `block`, or a view of it, whose address is `table`.

    And where they lie in it, and what the lines need.
    """
    stored = [
        _stored(cls, name, f"{what}[{i}]")
        for i, (cls, name) in enumerate(zip(types, _names(types), strict=True))
    ]
    layout = Layout([code for code, _ in stored], [SLOT * i for i in range(len(types))])
    packed = [text for _, text in stored if text]
    lines = [f"pack_into(block, {layout.base}, {', '.join(packed)})"] if packed else []
    for i in (i for i, cls in enumerate(types) if cls is None):
        found = f"as_it_is(v{i}, table + {layout.base + SLOT * i})"
        address = f"addressof(v{i}) if type(v{i}) in plain else {found}"
        lines.append(f"put(block, {8 * i}, {address})")
    scope: dict[str, Any] = {
        "addressof": ctypes.addressof,
        "as_address": _address,
        "as_it_is": _as_it_is,
        "plain": _plain_types,
        "pack_into": layout.struct.pack_into,
        "put": struct.Struct("=Q").pack_into,
    }
    return lines, layout, scope


def _stored(cls: Any, name: str, what: str) -> tuple[str, str]:
    """How `struct` packs an argument of a type, and the text that makes what it packs of the value `name`.

    "": nothing is packed, but there is room.
    """
    if cls is None:
        return f"{SLOT}x", ""
    kind = getattr(cls, "_type_", None)
    if not isinstance(kind, str) or kind not in _KINDS:
        raise TypeError(f"{what}: {cls!r} is not the ctypes type of a kernel argument")
    text = name
    if kind == "u":
        text = f"ord('' + {name})"  # a str, not bytes
    elif kind in "Pz":
        value = f"{name}.value if getattr({name}, '_is_view', 0) is False else as_address({name})"
        text = f"{name} if type({name}) is int else {value}"
    return struct_code(cls), text


class PackedLaunches(dict):  # type: ignore[type-arg]
    """By types: a function that launches ((values...), these types), written when it is needed.

    Each takes what `call` takes: cuLaunchKernel, which gets the address of the pointers. `otherwise`, which
    takes the same, is for types and values that are not packed in line.
    """

    def __init__(self, call: Any, otherwise: Any) -> None:
        self._call, self._otherwise = call, otherwise

    def __missing__(self, types: Any) -> Any:
        if len(self) >= MOST_PACKERS:
            self.clear()
        self[types] = written = self._written(types)
        return written

    def _written(self, types: Any) -> Any:
        if not types:
            return self._otherwise
        try:
            lines, layout, scope = _packing(types, "")
        except TypeError:
            return self._otherwise  # which says what is wrong

        def make() -> tuple[Any, int]:
            block = layout.block()
            return memoryview(block).cast("B"), ctypes.addressof(block)

        scope.update(call=self._call, otherwise=self._otherwise, make=make)
        shape = "f, gx, gy, gz, bx, by, bz, shared, stream"
        return launch_function(
            "values with their types",
            scope,
            f"{shape}, given, extra",
            before=[],
            slot="block, table",
            packing=[f"{', '.join(_names(types))}, = given[0]", *lines],
            otherwise=[f"return otherwise({shape}, given, extra)"],
            call=[f"err = call({shape}, table, extra)"],
            after=["return err"],
        )


_plain_types: set[Any] = set()
"""Classes of ctypes without `getPtr`, of which arguments of type None were."""


def _as_it_is(value: Any, slot: int) -> int:
    """Where an argument of type None lies: the slot, where its value is put, if it is an enum member."""
    if isinstance(value, int):
        ctypes.memmove(slot, struct.pack("=i", value), 4)
        return slot
    get_ptr = getattr(value, "getPtr", None)
    if get_ptr is not None:
        return get_ptr()  # type: ignore[no-any-return]
    if isinstance(value, (*AGGREGATES, ctypes.Array, SimpleData)):
        if len(_plain_types) >= MOST_PACKERS:
            _plain_types.clear()
        _plain_types.add(type(value))
        return ctypes.addressof(value)
    wrong = f"the type None takes an object with getPtr(), a ctypes.Structure or an enum, not {shown(value)}"
    if hasattr(type(value), "handle"):
        wrong += ": give its .handle, and ctypes.c_void_p for its type"
    raise TypeError(wrong)


def _address(value: Any) -> Any:
    """An argument of type `void *` as the number that C receives; as it is if it may be one already."""
    if isinstance(value, Handle):
        return value.getPtr() if value._is_view else value.value
    if value is None:
        return 0
    get_ptr = getattr(value, "getPtr", None)
    if get_ptr is not None:
        return int(value) if hasattr(type(value), "__int__") else get_ptr()  # a handle is its value
    if isinstance(value, (*AGGREGATES, ctypes.Array)):
        return ctypes.addressof(value)
    return value


def _plain(value: Any, cls: Any, what: str) -> Any:
    """`value` as `struct` takes it for `cls`, or the error that says why not."""
    if cls is None:
        if not isinstance(value, int):
            try:
                struct.pack("=Q", _as_it_is(value, 0))
            except (TypeError, struct.error) as error:
                raise TypeError(f"{what}: {error}") from None
            return value
        cls = ctypes.c_int
    if isinstance(value, SimpleData) and not hasattr(value, "getPtr"):
        value = 0 if value.value is None else value.value
    kind, fits = cls._type_, value
    if kind in "Pz":
        value = fits = _address(value)
    elif kind == "c" and isinstance(value, int) and 0 <= value <= 255:
        value = fits = bytes([value])
    elif kind == "u":
        fits = ord(value) if isinstance(value, str) and len(value) == 1 else None
    try:
        struct.pack("=" + struct_code(cls), fits)
    except (struct.error, TypeError, OverflowError) as error:
        a_number = isinstance(value, int) if kind in "cu" else hasattr(value, "__index__")
        too_large = isinstance(error, OverflowError) or (a_number and kind != "u")
        wrong = OverflowError if too_large else TypeError
        raise wrong(f"{what} = {shown(value)} does not fit {cls.__name__}") from None
    return value
