"""Values as error messages show them: what they are, at a bounded cost, without the data of the host."""

from __future__ import annotations

import ctypes
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PACKAGE = __name__.partition("._ffi")[0]
_SIMPLE: Any = ctypes.c_int.__base__
TEXT = 48  # characters of a name that are shown whole
BITS = 256  # of an int
ITEMS = 4  # of a list


def shown(value: Any, limit: int = 60) -> str:
    """`value` on one line for a message: numbers, names and handles as they are, memory by its kind and size.

    Never raises, whatever the repr of a stranger does.
    """
    try:
        text = " ".join(_summary(value).split())
    except Exception:
        text = f"<{type(value).__name__}>"
    return text if len(text) <= limit else f"{text[: limit - 20]} ... {text[-14:]}"


def _summary(value: Any) -> str:
    cls = type(value)
    if isinstance(value, (bytes, str)):
        is_name = len(value) <= TEXT and (isinstance(value, str) or value.rstrip(b"\0").isascii())
        if is_name and (value if isinstance(value, str) else value.rstrip(b"\0").decode()).isprintable():
            return repr(value)
        return f"<{cls.__name__} of {len(value)} {'characters' if isinstance(value, str) else 'bytes'}>"
    if isinstance(value, (bytearray, memoryview)):
        return f"<{cls.__name__} of {len(value) if isinstance(value, bytearray) else value.nbytes} bytes>"
    if isinstance(value, (list, tuple)):
        items = [f"<{type(i).__name__}>" if isinstance(i, (list, tuple)) else shown(i) for i in value[:ITEMS]]
        items += [f"... {len(value)} items"] * (len(value) > ITEMS)
        return f"[{', '.join(items)}]" if isinstance(value, list) else f"({', '.join(items)})"
    if isinstance(value, int) and value.bit_length() > BITS:
        return f"<{cls.__name__} of {value.bit_length()} bits>"
    if isinstance(value, (ctypes.Structure, ctypes.Union, ctypes.Array)):
        return f"<{cls.__name__} of {ctypes.sizeof(value)} bytes>"
    if value is None or isinstance(value, (int, float, complex, type, _SIMPLE)):
        return repr(value)
    if hasattr(cls, "dtype") and hasattr(cls, "shape"):
        return f"<{cls.__name__} {value.shape} {value.dtype}>" if value.shape else repr(value)
    if cls.__module__.partition(".")[0] == _PACKAGE.partition(".")[0]:
        return repr(value)
    return f"<{cls.__name__}>"


def type_name(value: Any) -> str:
    """The name of the class of `value`, for a message that ends with it.

    Of a class of another copy of this package in the process, which has the same name, it says so, and what
    to do.
    """
    cls = type(value)
    name = _namesake(cls)
    if name is None:
        return cls.__name__
    copy, ours = name
    expected = _public(_PACKAGE, ours)
    way = (
        f", which {expected}.from_handle makes of the other's handle" if hasattr(ours, "from_handle") else ""
    )
    return f"{_public(copy, cls)}, where {expected} is expected: take one of the same copy of cudapy{way}"


def _namesake(cls: type[Any]) -> tuple[str, type[Any]] | None:
    """The name of the other copy of this package that `cls` is of, and the class of that name here."""
    parts = cls.__module__.split(".")
    for i in range(1, len(parts)):
        copy, here = ".".join(parts[:i]), ".".join((_PACKAGE, *parts[i:]))
        ours = getattr(sys.modules.get(here), cls.__name__, None)
        if copy != _PACKAGE and isinstance(ours, type) and ours.__module__ == here:
            return copy, ours
    return None


def _public(package: str, cls: type[Any]) -> str:
    """Where programs find a class of this package, or of the copy that is called `package`."""
    inside = cls.__module__.removeprefix(f"{package}.").split(".")
    module = inside[1] if inside[0] == "_types" else inside[0]
    if module == "_core":
        modules = ["core", "core.utils", "core.graph", "core.texture", "core.system"]
        public = ((name, sys.modules.get(f"{package}.{name}")) for name in modules)
        having = (name for name, found in public if cls.__name__ in getattr(found, "__all__", ()))
        module = next(having, "core")
    return f"{package}.{module}.{cls.__name__}"
