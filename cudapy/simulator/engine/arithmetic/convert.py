"""Conversions between types.

Source: PTX ISA, "Data Movement and Conversion Instructions: cvt".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .arrays import arrays, choose, f2, f4, f8, u2, u4, u8
from .double import canonicalize_nan64
from .floating import with_sign
from .rounding import narrow, single_to_bfloat, step, to_bfloat, to_odd, two_sum

if TYPE_CHECKING:
    from ..aliases import Array, DType

_TO_INTEGER = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}


def round_to_integer(x: Array, mode: str) -> Array:
    """A float as the float of a whole number, rounded as `mode` (rni, rzi, rmi, rpi) says."""
    return _TO_INTEGER[mode](x)


@arrays
def float_to_integer(x: Array, mode: str, dtype: DType) -> Array:
    """Clamped to the range of `dtype`."""
    whole = _TO_INTEGER[mode](x.astype(f8))
    limits = np.iinfo(dtype)
    above, below, bad = whole >= float(limits.max), whole <= float(limits.min), np.isnan(x)
    result = np.where(above | below | bad, 0.0, whole).astype(dtype)
    result[above] = limits.max
    result[below] = limits.min
    if dtype.itemsize == 8 or x.dtype.itemsize == 8:
        result[bad] = (1 << (8 * dtype.itemsize - 1)) if dtype.kind == "u" else limits.min
    return result


def integer_to_float(x: Array, dtype: DType, rnd: str) -> Array:
    """Rounded once, in any mode."""
    if x.dtype.itemsize < 8:
        wide = x.astype(f8)
        return wide if dtype is f8 else narrow(wide, dtype, rnd)
    high = (x >> x.dtype.type(32)).astype(f8) * 2.0**32
    low = (x.view(u8) & np.uint64(0xFFFFFFFF)).astype(f8)
    s, error = two_sum(high, low)
    return step(s, error, rnd) if dtype is f8 else narrow(to_odd(s, error), dtype, rnd)


def integer_to_bfloat(x: Array, rnd: str) -> Array:
    if x.dtype.itemsize < 8:
        return to_bfloat(x.astype(f8), rnd)
    high = (x >> x.dtype.type(32)).astype(f8) * 2.0**32
    low = (x.view(u8) & np.uint64(0xFFFFFFFF)).astype(f8)
    return to_bfloat(to_odd(*two_sum(high, low)), rnd)


def float_to_float(x: Array, dtype: DType, rnd: str | None) -> Array:
    if dtype.itemsize >= x.dtype.itemsize:
        return canonicalize_nan64(x.astype(dtype)) if dtype == f8 else x.astype(dtype)
    result = x.astype(dtype) if rnd in (None, "rn") else narrow(x.astype(f8), dtype, rnd)
    if x.dtype != f8:
        return result
    if dtype == f4:
        return np.where(np.isnan(x), result.view(u4) | np.uint32(1 << 22), result.view(u4))[()].view(f4)
    bits = x.view(u8)
    payload = (
        (bits >> np.uint64(48) & np.uint64(0x8000))
        | (bits >> np.uint64(42) & np.uint64(0x3FF))
        | np.uint64(0x7E00)
    )
    return np.where(np.isnan(x), payload.astype(u2), result.view(u2))[()].view(f2)


def to_bfloat16(x: Array, rnd: str | None, relu: bool = False) -> Array:
    if relu:
        x = positive(x)
    if x.dtype == f4:
        return single_to_bfloat(x, rnd)
    payload = (x.astype(f4).view(u4) >> np.uint32(16)).astype(u2) if x.dtype == f8 else np.uint16(0x7FFF)
    return np.where(np.isnan(x), payload, to_bfloat(x.astype(f8), rnd))[()]


def to_half(x: Array, rnd: str | None, relu: bool = False) -> Array:
    """As the bits of an f16; NaN becomes 0x7fff."""
    if relu:
        x = positive(x)
    half = x.astype(f2) if rnd in (None, "rn") else narrow(x.astype(f8), f2, rnd)
    return np.where(np.isnan(x), np.uint16(0x7FFF), half.view(u2))[()]


LARGEST = {
    "f16": np.float32(65504),
    "bf16": np.uint32(0x7F7F0000).view(f4),
    "tf32": np.uint32(0x7F7FE000).view(f4),
}
"""The largest finite number of a format."""


def limited(x: Array, name: str) -> Array:
    """.satfinite: binary32 numbers no larger than what is finite in a format; NaN stays."""
    largest = LARGEST[name.removesuffix("x2")]
    return choose(np.abs(x) > largest, with_sign(x, largest), x)


def positive(x: Array) -> Array:
    """.relu: negative numbers and -0 become 0; NaN stays."""
    zero = x.dtype.type(0)
    return choose(x <= zero, zero, x)


def to_tf32(x: Array, rnd: str, clips: bool = False, finite: bool = False) -> Array:
    """Binary32 with 10 bits behind the point; ties away from zero (rna), to even (rn), or cut (rz)."""
    if clips:
        x = positive(x)
    if finite:
        x = limited(x, "tf32")
    bits = x.view(u4)
    if rnd == "rna":
        bits = bits + 0x1000
    elif rnd == "rn":
        bits = bits + 0xFFF + (bits >> 13 & 1)
    nan = x.view(u4) & 0xFFFFE000 if rnd == "rna" else np.uint32(0x7FFFE000)
    return choose(x != x, nan, bits & 0xFFFFE000).view(f4)
