"""Python values on their way into C: each function here accepts what is right and says what is wrong.

The generated functions test for the one common type in line and come here for everything else, so these
may take their time. `what` names the function and the parameter, for the message.
"""

from __future__ import annotations

import ctypes
import struct
import sys

from .buffers import address_of
from .enums import Enum
from .handles import Callback, Handle
from .integers import as_int
from .pointers import pack_pointers
from .scalars import AGGREGATES, SimpleData
from .shown import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

DESTINATIONS = frozenset({"dst", "dstHost"})  # what the headers call memory of the caller that a copy fills
word = ctypes.c_void_p.from_param  # how ctypes takes a pointer or a 64-bit number fastest


def integer(value: Any, low: int, high: int, what: str) -> int:
    """`value` as an int within `low` .. `high`: an int, an enum member, a ctypes or NumPy integer; any other
    number without its fraction, with a warning.
    """
    if isinstance(value, SimpleData) and not isinstance(value, Handle):
        value = value.value
    try:
        number = value if type(value) is int else as_int(value, what)
    except TypeError:
        raise TypeError(f"{what} must be an integer, not {kind(value)}") from None
    if not low <= number <= high:
        raise OverflowError(f"{what} = {number} is outside {low} .. {high}")
    return number


def real(value: Any, code: str, what: str) -> Any:
    """`value` as a C float (`code` "f") or double ("d"). Raises OverflowError rather than send infinity."""
    if isinstance(value, SimpleData):
        value = value.value
    try:
        struct.pack("=" + code, value)  # without "=" what is too large becomes infinity
    except struct.error:
        raise TypeError(f"{what} must be a number, not {kind(value)}") from None
    except OverflowError:
        raise OverflowError(f"{what} = {shown(value)} does not fit a C float") from None
    return ctypes.c_float(value) if code == "f" else ctypes.c_double(value)


def handle(value: Any, cls: type[Handle], what: str) -> Handle:
    """`value` as a `cls`: the class or its twin of the other API, an int, None (the null handle)."""
    if isinstance(value, cls):
        return value
    if type(value) is int:
        number: Handle = type.__call__(cls)
        number.value = value
        if number.value == value:
            return number
    try:
        return cls(0 if value is None else value)
    except (TypeError, ValueError, OverflowError) as error:
        raise type(error)(f"{what}: {error}") from None


def callback(value: Any, cls: type[Callback], what: str) -> Callback:
    """`value` as a C function pointer: a `cls`, a ctypes function object, an address, None."""
    return value if isinstance(value, cls) else handle(value, cls, what)  # type: ignore[return-value]


def pointer(value: Any, size: int | None, const: bool, what: str) -> Any:
    """`value` as a `void *`: an int, None, a handle or any contiguous buffer of at least `size` bytes."""
    if value is None:
        return None
    if isinstance(value, str):
        raise TypeError(f"{what} must be an address or a buffer, not str: use .encode() for bytes")
    if isinstance(value, bool):
        raise TypeError(f"{what} must be an address or a buffer, not bool")
    if isinstance(value, (*AGGREGATES, ctypes.Array)):
        measure(what, ctypes.sizeof(value), size)
        return ctypes.byref(value)
    if isinstance(value, (int, Handle)) or (is_numpy_scalar(value) and hasattr(value, "__index__")):
        return ctypes.c_void_p(integer(value, 0, 2**64 - 1, what))
    if type(value).__name__ == "CArgObject":  # ctypes.byref(...)
        return value
    if hasattr(value, "__index__") and not hasattr(value, "__array_interface__"):
        return ctypes.c_void_p(integer(value, 0, 2**64 - 1, what))
    data, length = address_of(value, const, what)
    measure(what, length, size)
    return data


def destination(value: Any, size: int | None, what: str) -> Any:
    """`value` as a `void *` that a copy writes to: as `pointer` takes it, except bytes, a constant."""
    if isinstance(value, bytes):
        raise TypeError(f"{what} is written to, and bytes cannot change: use a bytearray or a NumPy array")
    return pointer(value, size, False, what)


def os_handle(value: Any, what: str) -> Any:
    """`value` as the `void *` that is a descriptor, or points to a handle: None would be descriptor 0."""
    if value is None:
        raise TypeError(f"{what} must be a descriptor or a handle, not None, which C takes for descriptor 0")
    return pointer(value, None, False, what)


def text(value: Any, what: str) -> Any:
    """`value` as a `const char *`: bytes, bytearray, None."""
    if value is None or isinstance(value, bytes):
        return value
    if isinstance(value, str):
        raise TypeError(f"{what} must be bytes, not str: use .encode()")
    if isinstance(value, (bytearray, memoryview)):
        return bytes(value)
    raise TypeError(f"{what} must be bytes, not {kind(value)}")


def texts(value: Any, size: int | None, what: str) -> Any:
    """`value` as a `const char **`: a list of bytes, None."""
    if value is None:
        return None
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"{what} must be a list of bytes, not {kind(value)}")
    value = tuple(value)  # what is measured is what is converted, though an item may change the list
    measure(what, len(value), size, "item")
    items = [text(item, f"{what}[{i}]") for i, item in enumerate(value)]
    return (ctypes.c_char_p * len(items))(*items) if items else None


def reference(value: Any, cls: Any, what: str) -> Any:
    """`value` as a pointer to one struct: an instance of `cls`, or None."""
    if value is None:
        return None
    if isinstance(value, cls):
        return ctypes.byref(value)
    raise TypeError(f"{what} must be a {cls.__name__}, not {kind(value)}")


def address(struct: Any) -> Any:
    """What C takes for the address of `struct`: kept, since it takes time to make and does not change."""
    struct._at_ = word(ctypes.addressof(struct))
    return struct._at_


def by_value(value: Any, cls: Any, what: str) -> Any:
    """`value` as a struct that C takes by value."""
    if not isinstance(value, cls):
        raise TypeError(f"{what} must be a {cls.__name__}, not {kind(value)}")
    return value


def array(value: Any, cls: Any, size: int | None, what: str) -> Any:
    """`value` as a pointer to `size` items of `cls`: a list or tuple, one struct or handle, a buffer, None.

    None and an empty list are the null pointer. A list of fewer items than `size` is a ValueError.
    """
    if value is None:
        return None
    if isinstance(value, Handle) and issubclass(cls, Handle):
        value = [value]
    if not isinstance(value, (list, tuple)):
        if isinstance(value, AGGREGATES):
            measure(what, 1, size, "item")
            return reference(value, cls, what)
        if isinstance(value, ctypes.Array):
            measure(what, ctypes.sizeof(value), size and size * ctypes.sizeof(cls))
            return value
        if isinstance(value, (str, int)) or is_numpy_scalar(value):
            raise TypeError(f"{what} must be a list of {type_name(cls)}, not {kind(value)}")
        data, length = address_of(value, True, what)
        measure(what, length, size and size * ctypes.sizeof(cls))
        return data
    value = tuple(value)
    measure(what, len(value), size, "item")
    if not value:
        return None
    items, kinds = cls * len(value), {*map(type, value)}
    if kinds == {cls}:
        return items(*value)
    if kinds == {int} and issubclass(cls, SimpleData) and cls._type_ in "bBhHiIlLqQ":
        try:
            return items.from_buffer_copy(struct.pack(f"{len(value)}{cls._type_}", *value))
        except struct.error:  # a number that does not fit: `element` says which
            pass
    return items(*[element(item, cls, f"{what}[{i}]") for i, item in enumerate(value)])


def element(value: Any, cls: Any, what: str) -> Any:
    """One item of an array of `cls`."""
    if issubclass(cls, AGGREGATES):
        return by_value(value, cls, what)
    if issubclass(cls, Handle):
        return handle(value, cls, what)
    if cls in (ctypes.c_float, ctypes.c_double):
        return real(value, cls._type_, what)
    return integer(value, *limits(cls), what)


def pointers(value: Any, size: int | None, what: str) -> Any:
    """`value` as a `void **`: None, an address, a buffer or list of addresses, or (values, types)."""
    if type(value) is int and not value >> 64:
        return word(value) if value else None
    if value is None:
        return None
    if type(value) is tuple and len(value) == 2 and isinstance(value[0], (tuple, list)):
        return pack_pointers(value, what)
    if isinstance(value, (list, tuple)):
        value = tuple(value)
        measure(what, len(value), size, "item")
        keep = [slot(item, f"{what}[{i}]") for i, item in enumerate(value)]
        items = (ctypes.c_void_p * len(keep))(*[ctypes.cast(item, ctypes.c_void_p) for item in keep])
        items.keep = keep  # type: ignore[attr-defined]
        return items if keep else None
    return pointer(value, size and size * ctypes.sizeof(ctypes.c_void_p), True, what)


def slot(value: Any, what: str) -> Any:
    """One item of a `void **`: an address or a buffer; or, as in JIT options, a number or a list."""
    if isinstance(value, float):
        return ctypes.c_void_p(struct.unpack("I", struct.pack("f", value))[0])
    if isinstance(value, (list, tuple)):
        strings = any(isinstance(item, (bytes, bytearray, str)) for item in value)
        return texts(value, None, what) if strings else pointers(list(value), None, what)
    if isinstance(value, int) and (value < 0 or isinstance(value, bool)):
        return ctypes.c_void_p(integer(value, -(2**31), 1, what) & 0xFFFFFFFF)
    return pointer(value, None, False, what)


def measure(what: str, have: int, need: int | None, unit: str = "byte") -> None:
    """Raise ValueError when C would read or write past the end."""
    if need is not None and have < need:
        raise ValueError(f"{what} holds {have} {unit}{'s'[: have != 1]}, the call needs {need}")


def limits(cls: Any) -> tuple[int, int]:
    """The smallest and the largest value of a ctypes integer type."""
    if cls is ctypes.c_bool:
        return 0, 1
    bits = 8 * ctypes.sizeof(cls)
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if cls(-1).value < 0 else (0, (1 << bits) - 1)


def is_numpy_scalar(value: object) -> bool:
    """Whether `value` is a NumPy scalar: a number, although it has the buffer protocol as arrays do."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.generic)


# -- for functions that are written by hand ---------------------------------------------------------------


def listed(value: Any, what: str) -> list[Any]:
    """The items of a list, a tuple or an array. Raises TypeError for what has none."""
    try:
        if not isinstance(value, (str, bytes, bytearray)):
            len(value)  # a ctypes pointer has no length, and an iterator over it no end
            return list(value)
    except (TypeError, NotImplementedError):  # the latter from a memoryview of several dimensions
        pass
    raise TypeError(f"{what} must be a list, not {kind(value)}") from None


def fill(call: Callable[[Any], tuple[Any]], entries: Any, cls: Any, what: str) -> tuple[Any]:
    """Have `call` write to an array of the structs `entries`, a list or one of them, and copy it back."""
    entries = [entries] if isinstance(entries, cls) else listed(entries, what)
    for i, entry in enumerate(entries):
        if not isinstance(entry, cls):
            raise TypeError(f"{what}[{i}] must be a {cls.__name__}, not {kind(entry)}")
    filled = (cls * len(entries))(*entries)
    status = call(filled)
    for entry, new in zip(entries, filled, strict=True):
        ctypes.memmove(entry.getPtr(), new.getPtr(), ctypes.sizeof(new))
    return status


def range_storage(size: Any, what: str) -> Any:
    """Where an attribute of a managed range is written, of `size` bytes: as many ints."""
    return (ctypes.c_int * max(1, (integer(size, 0, 1 << 20, what) + 3) // 4))()


def kind(value: object) -> str:
    """What a message calls the type of `value`."""
    return type(value).__name__


def type_name(cls: Any) -> str:
    """What a message calls a C type."""
    return "integers" if not issubclass(cls, (*AGGREGATES, Handle, Enum)) else str(cls.__name__)
