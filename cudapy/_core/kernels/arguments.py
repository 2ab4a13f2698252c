"""Kernel arguments on their way to the device: what each Python type is in memory.

A parameter's size comes from the kernel itself where the driver tells it (CUDA 12.4 and newer), its kind
where the code was made from PTX. So a Python number is a `float`, a `double` or an integer as the kernel has
it, and a value of the wrong size or kind is an error.
"""

from __future__ import annotations

import struct
import sys
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ..._ffi.codes import SIGNED, UNSIGNED, code_of
from ..._ffi.shown import shown
from ..._ffi.sizes import round_up
from ..arrays.array_interface import address_and_flag
from ..kernel_argument import KernelArgument
from ..memory.buffer import Buffer
from .parameter_kinds import BITS, FLOAT, INTEGER, Parameter

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")

FLOATS = {2: "e", 4: "f", 8: "d"}


class Encoding(NamedTuple):
    """How a value is packed: the `struct` codes, their size in bytes, and the expressions that fill them.

    It is for values of one type: those of another may be packed without an error, and wrong.
    """

    codes: str
    size: int
    expressions: tuple[str, ...] = ("{0}",)

    @property
    def is_plain(self) -> bool:
        """Whether the value is packed as it is."""
        return self.expressions == ("{0}",)


MOST_KEPT = 64
"""For how many types of arguments what was made is kept: a program may make types for ever."""


def keep(kept: dict[Any, Any], key: Any, made: T) -> T:
    """Keep what was made for arguments of the types in `key`; it is returned."""
    if len(kept) >= MOST_KEPT:
        kept.clear()
    kept[key] = made
    return made


_kept: dict[Any, Encoding] = {}


def encoding(value: Any, parameter: Parameter) -> Encoding:
    """How values of this type go into `parameter`. Raises as `_checked` does."""
    key = type(value), parameter.kind, parameter.size
    encoding = _kept.get(key)
    if encoding is None:
        encoding = _checked(value, parameter)
        if encoding.codes[-1] != "s":  # bytes, of which values of one type have not all as many
            keep(_kept, key, encoding)
    return encoding


def _checked(value: Any, parameter: Parameter) -> Encoding:
    """The same. Raises TypeError for what is not a kernel argument, or not one of its kind and size."""
    encoding = _encoding(value, parameter)
    if parameter.kind in (FLOAT, INTEGER) and _kind(encoding) not in ("", parameter.kind):
        raise TypeError(f"{type(value).__name__} given, {_named(parameter)} is {_type(parameter)}")
    if parameter.size is not None and encoding.size != parameter.size:
        raise TypeError(_other_size(value, encoding.size, parameter))
    return encoding


def _encoding(value: Any, parameter: Parameter) -> Encoding:
    cls, size = type(value), parameter.size
    if cls is float or (parameter.kind == FLOAT and isinstance(value, int)):
        width = size if size in FLOATS else 8
        return Encoding(FLOATS[width], width)
    if isinstance(value, Buffer):
        return Encoding("Q", 8, ("{0}._address",))
    if isinstance(value, KernelArgument):
        return Encoding(*value._encoded)
    if isinstance(value, int):
        if parameter.kind == BITS and size is not None and size < 4:
            raise TypeError(
                f"{cls.__name__} given, {_named(parameter)} is {_bytes_of(parameter)}, such as a __half: "
                f"pass a {'float, a ' * (size == 2)}NumPy scalar or bytes"
            )
        width = size if size in SIGNED else 1 if cls is bool else 8
        return Encoding(SIGNED[width], width)
    if value is None:
        return Encoding("8x", 8, ())
    if cls is complex:
        code = "f" if size == 8 else "d"
        return Encoding(2 * code, 8 if size == 8 else 16, ("{0}.real", "{0}.imag"))
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.generic):
        return _numpy_scalar(value)
    of_c = code_of(value)
    if of_c is not None:
        code, width, expression = of_c
        return Encoding(code, width, (expression,))
    if hasattr(cls, "__cuda_array_interface__") or hasattr(value, "__cuda_array_interface__"):
        return Encoding("Q", 8, ("address_of({0}.__cuda_array_interface__)",))
    if numpy is not None and isinstance(value, numpy.ndarray):
        raise TypeError(
            "a NumPy array lies in host memory: copy it to a Buffer, or pass a scalar such as x[0]"
        )
    if isinstance(value, bytes):
        return _bytes("{0}", len(value))
    hint = ": device.upload(np.array(...)) makes a Buffer of it" if isinstance(value, (list, tuple)) else ""
    raise TypeError(f"a {cls.__name__} is not a kernel argument{hint}")


def _numpy_scalar(value: Any) -> Encoding:
    dtype = value.dtype
    kind, width = dtype.kind, dtype.itemsize
    if kind in "OU":
        raise TypeError(f"a {type(value).__name__} is not a kernel argument")
    if kind in "mM":
        return Encoding("q", 8, ("{0}.view('i8')",))
    if (kind == "c" and width > 16) or (kind == "f" and width > 8):
        raise TypeError(f"a {type(value).__name__} is not a kernel argument: no device has such floats")
    if kind == "c" and width in (8, 16):
        parts = ("{0}.real", "{0}.imag")
        return Encoding("ff" if width == 8 else "dd", width, tuple(_not_nan(part) for part in parts))
    table = {"i": SIGNED, "u": UNSIGNED, "f": FLOATS, "b": {1: "?"}}.get(kind, {})
    if width in table:
        is_short = kind == "f" and width < 8
        return Encoding(table[width], width, (_not_nan("{0}"),) if is_short else ("{0}",))
    return _bytes("{0}.tobytes()", width)


def _not_nan(expression: str) -> str:
    """`expression`, or Unusual for a NaN: on its way through a double it would lose bits."""
    return f"(v if (v := {expression}) == v else unusual())"


class Unusual(ValueError):
    """A value that `struct` would not pack bit for bit: `encode` does."""


def unusual() -> float:
    """Raises Unusual."""
    raise Unusual


def address_of(interface: Any) -> int:
    """The address in a `__cuda_array_interface__`. Raises TypeError and OverflowError for what is none."""
    try:
        return address_and_flag(interface["data"])[0]
    except ValueError as error:
        raise OverflowError(str(error)) from None


def _bytes(expression: str, width: int) -> Encoding:
    return Encoding(f"{width}s", width, (f"whole({expression}, {width})",))


def whole(data: bytes, size: int) -> bytes:
    """`data`, which has to have `size` bytes: `struct` would cut it, or add to it."""
    if len(data) != size:
        raise TypeError(f"it takes {len(data)} bytes, not {size}")
    return data


def _kind(encoding: Encoding) -> str:
    """What is packed: FLOAT, INTEGER, or BITS for a pair; "" for bytes, which can be anything."""
    if encoding.codes[-1] == "s":
        return ""
    if len(encoding.expressions) > 1:
        return BITS
    return FLOAT if encoding.codes in FLOATS.values() else INTEGER


def _named(parameter: Parameter) -> str:
    return f"the kernel's parameter {parameter.name}".rstrip()


def _other_size(value: Any, size: int, parameter: Parameter) -> str:
    """What is wrong with a value of `size` bytes, and which scalar of NumPy has those of the parameter."""
    given, numpy = getattr(value, "dtype", None), sys.modules.get("numpy")
    if numpy is None or given is None or given.kind not in "fiu" or parameter.kind not in (FLOAT, INTEGER):
        return f"it takes {size} bytes, {_named(parameter)} has {parameter.size}"
    named = numpy.dtype(f"{given.kind}{parameter.size}").name
    instead = (
        f"{float(value)!r} or np.{named}({value})" if given.kind == "f" else f"{value} or np.{named}({value})"
    )
    return f"{type(value).__name__} given, {_named(parameter)} is {_type(parameter)}: pass {instead}"


def _type(parameter: Parameter) -> str:
    if parameter.kind == FLOAT:
        return {2: "a half", 4: "a float", 8: "a double"}[parameter.size or 8]
    return f"an integer of {_bytes_of(parameter)}" + " or a pointer" * (parameter.size == 8)


def _bytes_of(parameter: Parameter) -> str:
    return "1 byte" if parameter.size == 1 else f"{parameter.size} bytes"


def encode(value: Any, parameter: Parameter) -> bytes:
    """The bytes of one argument. Raises TypeError, or OverflowError for an integer that does not fit."""
    encoded = _checked(value, parameter)
    scope = {"value": value, **HELPERS}
    try:
        fields = [eval(expression.format("value"), scope) for expression in encoded.expressions]
    except Unusual:
        return _bits(value)
    except AttributeError as error:  # an array that is not on a device, say
        raise TypeError(str(error)) from None
    except LookupError as error:
        raise TypeError(f"the __cuda_array_interface__ of a {type(value).__name__} has no {error}") from None
    try:
        return struct.pack("=" + encoded.codes, *fields)
    except struct.error:
        if type(value) is Buffer:
            value._address  # noqa: B018  # raises what a closed buffer has to say
        if encoded.codes in SIGNED.values() and isinstance(value, int):
            try:
                return value.to_bytes(encoded.size, sys.byteorder, signed=False)
            except OverflowError:
                what = f"{shown(value)} does not fit the {encoded.size} bytes of the parameter"
                raise OverflowError(what) from None
        if not (encoded.codes in FLOATS.values() and isinstance(value, int)):
            raise TypeError(f"{shown(value)} cannot be packed as {encoded.codes!r}") from None
    except OverflowError:
        pass
    raise OverflowError(f"{shown(value)} does not fit a {encoded.size}-byte float")


def _bits(value: Any) -> bytes:
    """The bytes of a scalar of NumPy or ctypes."""
    return bytes(value.tobytes() if hasattr(value, "tobytes") else value)


HELPERS = {"address_of": address_of, "unusual": unusual, "whole": whole}
"""What the expressions of an `Encoding` call."""

SLOT = 8
"""What a value has at least, where the kernel's parameters are not known: one may be wider than the value."""


def layout(encodings: list[Encoding], parameters: Sequence[tuple[int, int]] | None) -> list[int]:
    """The offset of each argument: as the kernel has it, or in slots of their own."""
    if parameters is not None:
        return [offset for offset, _ in parameters]
    offsets, end = [], 0
    for encoding in encodings:
        offsets.append(end)
        end += round_up(encoding.size, SLOT)
    return offsets
