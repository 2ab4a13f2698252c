"""Integer instructions.

Source: PTX ISA, "Integer Arithmetic Instructions".
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

import numpy as np

from .arrays import SIGNED, UNSIGNED, choose, i4, i8, u4, u8

if TYPE_CHECKING:
    from ..aliases import Array, DType, Function

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


def clamped_where(overflow: Array, result: Array, a: Array) -> Array:
    """The largest number of the sign of `a` where `overflow` is negative."""
    return choose(overflow < 0, a >> 31 ^ 0x7FFFFFFF, result)


def add_saturated(a: Array, b: Array) -> Array:
    total = a + b
    return clamped_where((a ^ total) & (b ^ total), total, a)


def subtract_saturated(a: Array, b: Array) -> Array:
    difference = a - b
    return clamped_where((a ^ b) & (a ^ difference), difference, a)


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
    return choose(b == 0, ~(b ^ b), a - divide(a, b) * b)


def absolute_difference(a: Array, b: Array) -> Array:
    return np.maximum(a, b) - np.minimum(a, b)


def low24(a: Array) -> Array:
    """The lowest 24 bits as a 64-bit number."""
    if a.dtype.kind == "u":
        return (a & np.uint32(0xFFFFFF)).astype(u8)
    return (a << np.int32(8) >> np.int32(8)).astype(i8)


def word_parts(a: Array, bits: int, signed: bool, places: range) -> list[Array]:
    """Some of the bytes or halves of words, extended to 32 bits."""
    words = a.view(i4 if signed else u4)
    return [words << 32 - bits * (place + 1) >> 32 - bits for place in places]


def sum_products(a: list[Array], b: list[Array], c: Array) -> Array:
    total = c.view(u4)
    for x, y in zip(a, b, strict=True):
        total = total + x.view(u4) * y.view(u4)
    return total


def dot4(a: Array, b: Array, c: Array, types: str) -> Array:
    """c + the sum of four products of bytes; `types` is "us" if `a` is unsigned and `b` signed, and so on."""
    return sum_products(
        word_parts(a, 8, types[0] == "s", range(4)), word_parts(b, 8, types[1] == "s", range(4)), c
    )


def dot2(a: Array, b: Array, c: Array, types: str, high: bool) -> Array:
    """c + the sum of two products: the halves of `a` with the low or high two bytes of `b`."""
    places = range(2, 4) if high else range(2)
    return sum_products(
        word_parts(a, 16, types[0] == "s", range(2)), word_parts(b, 8, types[1] == "s", places), c
    )


def of_pairs(a: Array, b: Array, name: str, signed: bool, relu: bool = False) -> Array:
    """add, min or max of the two halves of words."""
    operations: dict[str, Function] = {"add": operator.add, "min": np.minimum, "max": np.maximum}
    halves = [word_parts(one, 16, signed, range(2)) for one in (a, b)]
    results = [operations[name](x, y) for x, y in zip(*halves, strict=True)]
    low, high = (np.maximum(one, 0) if relu else one for one in results)
    return (low.view(u4) & 0xFFFF) | high.view(u4) << 16


def add_carry(a: Array, b: Array, carry: Array) -> tuple[Array, Array]:
    """The sum with a carry of 0 or 1, and the carry out."""
    total = a + b
    out = total < a
    result = total + carry.astype(a.dtype)
    return result, (out | (result < total)).astype(u4)


def subtract_carry(a: Array, b: Array, carry: Array) -> tuple[Array, Array]:
    """a + ~b + carry, and the carry out: of a difference, 1 where nothing is borrowed."""
    return add_carry(a, ~b, carry)
