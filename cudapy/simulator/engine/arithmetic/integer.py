"""Integer instructions.

Source: PTX ISA, "Integer Arithmetic Instructions".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .arrays import SIGNED, UNSIGNED, arrays, i4, i8, u1, u4, u8

if TYPE_CHECKING:
    from ..aliases import Array, DType

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


def width_of(a: Array) -> int:
    """The bits of each item."""
    return int(a.dtype.itemsize * 8)


def unsigned(a: Array) -> Array:
    """The same bits, unsigned."""
    return a.view(UNSIGNED[a.dtype.itemsize])


def multiply_high(a: Array, b: Array) -> Array:
    """The upper half of the product."""
    width = width_of(a)
    if width < 64:
        wide = (SIGNED if a.dtype.kind == "i" else UNSIGNED)[width // 4]
        return (a.astype(wide) * b.astype(wide) >> wide.type(width)).astype(a.dtype)
    x, y = a.view(u8), b.view(u8)
    x0, x1, y0, y1 = x & _LOW, x >> _HALF, y & _LOW, y >> _HALF
    middle = x1 * y0 + (x0 * y0 >> _HALF)
    high = x1 * y1 + (middle >> _HALF) + (((middle & _LOW) + x0 * y1) >> _HALF)
    if a.dtype.kind == "u":
        return high
    zero = np.uint64(0)
    return (high - np.where(a < 0, y, zero) - np.where(b < 0, x, zero))[()].view(i8)


def saturated(x: Array, dtype: DType) -> Array:
    """A wide integer into a narrower type, clamped."""
    limits = np.iinfo(dtype)
    low = limits.min if x.dtype.kind == "i" else 0
    return np.clip(x, x.dtype.type(low), x.dtype.type(limits.max)).astype(dtype)


def add_saturated(a: Array, b: Array) -> Array:
    return saturated(a.astype(i8) + b.astype(i8), i4)


def subtract_saturated(a: Array, b: Array) -> Array:
    return saturated(a.astype(i8) - b.astype(i8), i4)


def divide(a: Array, b: Array) -> Array:
    """Truncated quotient; all bits set where the divisor is 0."""
    one = b.dtype.type(1)
    by_zero = b == 0
    safe = np.where(by_zero, one, b)[()]
    if a.dtype.kind == "u":
        quotient = a // safe
    else:
        magnitude = unsigned(np.abs(a)) // unsigned(np.abs(safe))
        quotient = np.where((a < 0) ^ (safe < 0), -magnitude.view(a.dtype), magnitude.view(a.dtype))[()]
    return np.where(by_zero, ~a.dtype.type(0), quotient)[()]


def remainder(a: Array, b: Array) -> Array:
    """What truncated division leaves; all bits set where the divisor is 0."""
    return np.where(b == 0, ~a.dtype.type(0), a - divide(a, b) * b)[()]


def absolute_difference(a: Array, b: Array) -> Array:
    return np.where(a < b, b - a, a - b)[()]


def low24(a: Array) -> Array:
    """The lowest 24 bits as a 64-bit number."""
    if a.dtype.kind == "u":
        return (a & np.uint32(0xFFFFFF)).astype(u8)
    return (a << np.int32(8) >> np.int32(8)).astype(i8)


def _fields(a: Array, dtype: DType) -> Array:
    return np.ascontiguousarray(a).view(dtype).reshape(len(a), -1).astype(i8)


@arrays
def dot4(a: Array, b: Array, c: Array, types: str) -> Array:
    """c + the sum of four products of bytes; `types` is "us" if `a` is unsigned and `b` signed, and so on."""
    x = _fields(a, SIGNED[1] if types[0] == "s" else u1)
    y = _fields(b, SIGNED[1] if types[1] == "s" else u1)
    return ((x * y).sum(1) + c.astype(i8)).astype(u8).astype(u4)


@arrays
def dot2(a: Array, b: Array, c: Array, types: str, high: bool) -> Array:
    """c + the sum of two products: the halves of `a` with the low or high two bytes of `b`."""
    x = _fields(a, SIGNED[2] if types[0] == "s" else UNSIGNED[2])
    y = (
        _fields(b, SIGNED[1] if types[1] == "s" else u1)[:, 2:]
        if high
        else _fields(b, SIGNED[1] if types[1] == "s" else u1)[:, :2]
    )
    return ((x * y).sum(1) + c.astype(i8)).astype(u8).astype(u4)


_OF_PAIRS = {"add": np.add, "min": np.minimum, "max": np.maximum}


@arrays
def of_pairs(a: Array, b: Array, name: str, signed: bool, relu: bool = False) -> Array:
    """add, min or max of the two halves of words."""
    x, y = (np.ascontiguousarray(one).view(SIGNED[2] if signed else UNSIGNED[2]) for one in (a, b))
    result = _OF_PAIRS[name](x, y)
    return (np.maximum(result, 0) if relu else result).view(u4)


def add_carry(a: Array, b: Array, carry: Array) -> tuple[Array, Array]:
    """The sum with a carry of 0 or 1, and the carry out."""
    total = a + b
    out = total < a
    result = total + carry.astype(a.dtype)
    return result, (out | (result < total)).astype(u4)


def subtract_carry(a: Array, b: Array, carry: Array) -> tuple[Array, Array]:
    """a + ~b + carry, and the carry out: of a difference, 1 where nothing is borrowed."""
    return add_carry(a, ~b, carry)
