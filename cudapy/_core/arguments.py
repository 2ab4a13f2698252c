"""Kernel arguments on their way to the device: what each Python type is in memory.

A parameter's size comes from the kernel itself where the driver tells it (CUDA 12.4 and newer), so that a
Python float is a `float` or a `double` as the kernel has it, and a value of the wrong size is an error.
"""

from __future__ import annotations

import struct
import sys
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from .._ffi.codes import SIGNED, UNSIGNED, code_of
from .buffer import Buffer

if TYPE_CHECKING:
    from collections.abc import Sequence

FLOATS = {2: "e", 4: "f", 8: "d"}


class Encoding(NamedTuple):
    """How a value is packed: the `struct` codes, their size in bytes, and the expressions that fill them."""

    codes: str
    size: int
    expressions: tuple[str, ...] = ("{0}",)
    has_type: bool = False  # whether it is right for values of the same type alone, whatever the codes are

    @property
    def is_strict(self) -> bool:
        """Whether it would take values of another type, and get them wrong, as these codes do with an int."""
        return self.has_type or self.codes[-1] in "efd?"

    @property
    def is_plain(self) -> bool:
        """Whether the value is packed as it is, and refused if that is wrong."""
        return self.expressions == ("{0}",) and not self.is_strict


def encoding(value: Any, size: int | None) -> Encoding:
    """How values of this type go into a parameter of `size` bytes (None: unknown).

    Raises TypeError for what is not a kernel argument, or does not fit the parameter.
    """
    cls = type(value)
    if cls is float:
        codes = FLOATS.get(size or 8)
        return _fit(Encoding(codes or "d", size if codes and size else 8), size)
    if isinstance(value, Buffer):
        return _fit(Encoding("Q", 8, ("{0}._address",)), size)
    if cls is bool:
        return _fit(Encoding(SIGNED.get(size or 1, "b"), size if size in SIGNED else 1), size)
    if isinstance(value, int):
        return _fit(Encoding(SIGNED.get(size or 8, "q"), size if size in SIGNED else 8), size)
    if value is None:
        return _fit(Encoding("8x", 8, (), True), size)
    if cls is complex:
        code = "f" if size == 8 else "d"
        return _fit(Encoding(2 * code, 8 if size == 8 else 16, ("{0}.real", "{0}.imag")), size)
    of_c = code_of(value)
    if of_c is not None:
        code, width, expression = of_c
        return _fit(Encoding(code, width, (expression,), code[-1] == "s"), size)
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.generic):
        return _fit(_numpy_scalar(value), size)
    if hasattr(cls, "__cuda_array_interface__"):
        return _fit(Encoding("Q", 8, ("{0}.__cuda_array_interface__['data'][0]",), True), size)
    if numpy is not None and isinstance(value, numpy.ndarray):
        raise TypeError(
            "a NumPy array lies in host memory: copy it to a Buffer, or pass a scalar such as x[0]"
        )
    if isinstance(value, bytes):
        return _fit(_bytes("{0}", len(value)), size)
    raise TypeError(f"a {cls.__name__} is not a kernel argument")


def _numpy_scalar(value: Any) -> Encoding:
    kind, width = value.dtype.kind, value.dtype.itemsize
    if kind in "OU":
        raise TypeError(f"a {type(value).__name__} is not a kernel argument")
    if kind == "c":
        code = {8: "f", 16: "d"}[width]
        return Encoding(2 * code, width, ("{0}.real", "{0}.imag"))
    table = {"i": SIGNED, "u": UNSIGNED, "f": FLOATS, "b": {1: "?"}}.get(kind, {})
    if width in table:
        return Encoding(table[width], width)
    return _bytes("{0}.tobytes()", width)


def _bytes(expression: str, width: int) -> Encoding:
    return Encoding(f"{width}s", width, (f"whole({expression}, {width})",), True)


def whole(data: bytes, size: int) -> bytes:
    """`data`, which has to have `size` bytes: `struct` would cut it, or add to it."""
    if len(data) != size:
        raise TypeError(f"it takes {len(data)} bytes, not {size}")
    return data


def _fit(made: Encoding, size: int | None) -> Encoding:
    if size is not None and made.size != size:
        raise TypeError(f"it takes {made.size} bytes, the kernel's parameter has {size}")
    return made


def encode(value: Any, size: int | None) -> bytes:
    """The bytes of one argument. Raises TypeError, or OverflowError for an integer that does not fit."""
    made = encoding(value, size)
    scope = {"value": value, "whole": whole}
    try:
        fields = [eval(expression.format("value"), scope) for expression in made.expressions]
    except AttributeError as error:  # an array that is not on a device, say
        raise TypeError(str(error)) from None
    except LookupError as error:
        raise TypeError(f"the __cuda_array_interface__ of a {type(value).__name__} has no {error}") from None
    try:
        return struct.pack("=" + made.codes, *fields)
    except struct.error:
        if type(value) is Buffer:
            value.handle  # noqa: B018  # raises what a closed buffer has to say
        if made.codes in SIGNED.values() and isinstance(value, int):
            try:
                return value.to_bytes(made.size, sys.byteorder, signed=False)
            except OverflowError:
                raise OverflowError(f"{value} does not fit the {made.size} bytes of the parameter") from None
        raise TypeError(f"{value!r} cannot be packed as {made.codes!r}") from None
    except OverflowError:
        raise OverflowError(f"{value!r} does not fit a {made.size}-byte float") from None


def layout(encodings: list[Encoding], parameters: Sequence[tuple[int, int]] | None) -> list[int]:
    """The offset of each argument: as the kernel has it, or by C's rule of natural alignment."""
    if parameters is not None:
        return [offset for offset, _ in parameters]
    offsets, end = [], 0
    for made in encodings:
        alignment = min(made.size, 16) if made.codes[-1] != "s" else 8
        end = -(-end // alignment) * alignment
        offsets.append(end)
        end += made.size
    return offsets


def packed_format(encodings: list[Encoding], offsets: list[int]) -> str:
    """The `struct` format of the values, with the gaps that the kernel has between them."""
    pieces, end = [], 0
    for made, offset in zip(encodings, offsets, strict=True):
        pieces += [f"{offset - end}x"] * (offset > end) + [made.codes]
        end = offset + made.size
    runs = [(piece, len(list(same))) for piece, same in groupby(pieces)]
    return "=" + "".join(f"{n}{piece}" if len(piece) == 1 else piece * n for piece, n in runs)
