"""Floating point of 8, 6 and 4 bits, and powers of two in a byte (ue8m0).

A positive number is its own place among the numbers of its format in their order, so rounding is a search.
Source: PTX ISA, "Alternate Floating-Point Data Formats", "cvt"; OCP 8-bit Floating Point Specification 1.0,
OCP Microscaling Formats 1.0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .arrays import arrays, f4, f8, u1, u2, u4
from .half import FORMATS, pairs

if TYPE_CHECKING:
    from ..aliases import Array


class Small(NamedTuple):
    """A format: `numbers` has what each code stands for, `midpoints` what lies between the positive ones."""

    numbers: Array
    midpoints: Array
    sign: int
    """The bit of the sign."""
    nan: int
    """What NaN becomes: NaN, or the largest number of a format that has none."""


def _format(
    exponent_bits: int, fraction_bits: int, has_infinity: bool = False, has_nan: bool = False
) -> Small:
    sign = 1 << (exponent_bits + fraction_bits)
    code = np.arange(sign)
    exponent, fraction = code >> fraction_bits, (code & (1 << fraction_bits) - 1) / 2**fraction_bits
    bias = (1 << exponent_bits - 1) - 1
    positive = np.where(exponent > 0, (1 + fraction) * 2.0 ** (exponent - bias), fraction * 2.0 ** (1 - bias))
    finite = sign - (1 << fraction_bits) if has_infinity else sign - 1 if has_nan else sign
    positive[finite:] = np.nan
    if has_infinity:
        positive[finite] = np.inf
    midpoints = (positive[: finite - 1] + positive[1:finite]) / 2
    return Small(np.concatenate((positive, -positive)), midpoints, sign, sign - 1)


FLOATS = {
    "e4m3": _format(4, 3, has_nan=True),
    "e5m2": _format(5, 2, has_infinity=True, has_nan=True),
    "e3m2": _format(3, 2),
    "e2m3": _format(2, 3),
    "e2m1": _format(2, 1),
}


def narrowed(x: Array, name: str, clips: bool = False) -> Array:
    """Binary64 as codes of a format, to nearest even, clamped to what is finite."""
    form = FLOATS[name]
    size = np.abs(x)
    code = np.searchsorted(form.midpoints, size, "left")
    code += (np.searchsorted(form.midpoints, size, "right") > code) & (code & 1)
    code = np.where(np.signbit(x), np.where(clips, 0, code | form.sign), code)
    return np.where(np.isnan(x), form.nan, code)


def _joined(low: Array, high: Array, name: str) -> Array:
    """Two codes beside each other: in a byte if both have room there."""
    if name == "e2m1":
        return (low | high << 4).astype(u1)
    return (low | high << 8).astype(u2)


@arrays
def to_small(high: Array, low: Array, name: str, clips: bool = False) -> Array:
    """Two binary32 numbers in a pair."""
    return _joined(narrowed(low.astype(f8), name, clips), narrowed(high.astype(f8), name, clips), name)


@arrays
def pair_to_small(pair: Array, name: str, source: str, clips: bool = False) -> Array:
    """A pair of f16 or bf16 in a pair."""
    wide = FORMATS[source].widen(pairs(pair))
    return _joined(narrowed(wide[:, 0], name, clips), narrowed(wide[:, 1], name, clips), name)


@arrays
def from_small(pair: Array, name: str, target: str, clips: bool = False) -> Array:
    """A pair as a pair of f16 or bf16; each of its numbers is one of them."""
    width, mask = (4, 15) if name == "e2m1" else (8, 255)
    codes = np.stack([pair & pair.dtype.type(mask), pair >> pair.dtype.type(width)], 1)
    numbers = FLOATS[name].numbers
    wide = numbers[codes & (len(numbers) - 1)]
    if clips:
        wide = np.where(np.isnan(wide) | (wide > 0), wide, 0.0)
    return np.ascontiguousarray(FORMATS[target].narrow(wide)).view(u4)[:, 0]


def _power(x: Array, up: bool, finite: bool) -> Array:
    """The code of the power of two that the size of a binary32 number is, or that is next to it."""
    bits = x.view(u4) & np.uint32(0x7FFFFFFF)
    exponent, fraction = bits >> np.uint32(23), bits & np.uint32(0x7FFFFF)
    code = exponent.astype(np.int64)
    if up:  # code 0 is 2**-127, which binary32 has as a subnormal number
        code += np.where(exponent > 0, fraction > 0, fraction > 0x400000)
    code = np.where((bits > 0x7F800000), 255, np.minimum(code, 254 if finite else 255))
    return code


@arrays
def to_powers(high: Array, low: Array, mode: str, finite: bool) -> Array:
    """Two binary32 numbers as a pair of ue8m0; the sign is lost, NaN stays."""
    return _joined(_power(low, mode == "rp", finite), _power(high, mode == "rp", finite), "ue8m0")


@arrays
def pair_to_powers(pair: Array, mode: str, finite: bool) -> Array:
    """A pair of bf16 as a pair of ue8m0."""
    wide = (pairs(pair).astype(u4) << np.uint32(16)).view(f4)
    return to_powers(
        np.ascontiguousarray(wide[:, 1]), np.ascontiguousarray(wide[:, 0]), mode=mode, finite=finite
    )


@arrays
def from_powers(pair: Array) -> Array:
    """A pair of ue8m0 as a pair of bf16."""
    codes = np.stack([pair & np.uint16(255), pair >> np.uint16(8)], 1)
    bits = np.where(codes == 255, 0x7FFF, np.where(codes == 0, 0x0040, codes.astype(np.int64) << 7))
    return np.ascontiguousarray(bits.astype(u2)).view(u4)[:, 0]
