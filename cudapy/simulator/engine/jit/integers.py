"""Whole numbers and bits.

Source: PTX ISA, "Integer Arithmetic Instructions", "Logic and Shift Instructions".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arithmetic.bits import PERMUTATIONS
from ..arithmetic.integer import add_carry, low24, subtract_carry
from ..compile.operands import WORD
from ..ptx.types import TYPES
from .lanes import Unsupported, Value
from .primitive import primitive, share
from .terms import Term

share(add_carry, low24, subtract_carry)


@primitive()
def choose(condition: Term, a: Term, b: Term) -> Term:
    return condition.choose(a, b)


def _extreme(name: str, a: Any, b: Any) -> Term:
    a, b = (a, a.constant(b)) if isinstance(a, Term) else (b.constant(a), b)
    if a.kind.kind not in "usb":
        raise Unsupported
    if a.kind.size == 8:
        return (a > b if name == "max" else a < b).choose(a, b)
    return a.each(f"p{name}{'s' if a.is_signed else 'u'}d", b)


@primitive("np.minimum")
def minimum(a: Any, b: Any) -> Term:
    return _extreme("min", a, b)


@primitive("np.maximum")
def maximum(a: Any, b: Any) -> Term:
    return _extreme("max", a, b)


@primitive("np.abs")
def absolute(a: Term) -> Term:
    """Of floats, too."""
    if a.is_float:
        return a.magnitude()
    if a.kind.size < 8:
        return a.of(a.lanes.one("pabsd", a.value))
    negative = a.of(a.lanes.negative(a.value))
    return (a ^ negative) - negative


@primitive()
def multiply_high(a: Term, b: Term) -> Term:
    lanes = a.lanes
    if a.kind.size == 2:
        return a.of(lanes.shifted("psrad", lanes.each("pmulld", a.value, b.value), 16))
    if a.kind.size == 4:
        wide = "i8" if a.is_signed else "u8"
        return a.of(lanes.high_words((a.astype(wide) * b.astype(wide)).value))
    return a.of(_high_product64(a, b))


def _high_product64(a: Term, b: Term) -> Value:
    lanes = a.lanes
    mask = lanes.constant(0xFFFFFFFF, 8)
    x1, y1 = lanes.shifted("psrlq", a.value, 32), lanes.shifted("psrlq", b.value, 32)
    lowest = lanes.shifted("psrlq", lanes.each("pmuludq", a.value, b.value), 32)
    middle = lanes.each("paddq", lanes.each("pmuludq", x1, b.value), lowest)
    other = lanes.each("paddq", lanes.each("pand", middle, mask), lanes.each("pmuludq", a.value, y1))
    high = lanes.each("paddq", lanes.each("pmuludq", x1, y1), lanes.shifted("psrlq", middle, 32))
    high = lanes.each("paddq", high, lanes.shifted("psrlq", other, 32))
    if a.is_signed:
        for one, factor in ((a, b), (b, a)):
            part = lanes.each("pand", lanes.negative(one.value), factor.value)
            high = lanes.each("psubq", high, part)
    return high


@primitive()
def absolute_difference(a: Term, b: Term) -> Term:
    return maximum(a, b) - minimum(a, b)


def _clamp_where(overflow: Term, sum_: Term, a: Term) -> Term:
    """The largest number of the sign of `a` where the sign of `overflow` is set."""
    largest = (a >> 31) ^ 0x7FFFFFFF
    return a.of(a.lanes.choose(overflow.value[0], largest.value, sum_.value))


@primitive()
def add_saturated(a: Term, b: Term) -> Term:
    total = a + b
    return _clamp_where((a ^ total) & (b ^ total), total, a)


@primitive()
def subtract_saturated(a: Term, b: Term) -> Term:
    difference = a - b
    return _clamp_where((a ^ b) & (a ^ difference), difference, a)


@primitive()
def divide(a: Term, b: Term) -> Term:
    """In binary64, which has each quotient of 32 bits exactly enough to truncate it."""
    return _quotient(a, b) | _by_zero(b)


@primitive()
def remainder(a: Term, b: Term) -> Term:
    return (a - _quotient(a, b) * b) | _by_zero(b)


def _by_zero(b: Term) -> Term:
    """All bits set where a divisor is zero."""
    return b.of((b == 0).value)


def _quotient(a: Term, b: Term) -> Term:
    if a.kind.size == 8:
        raise Unsupported
    lanes = a.lanes
    ratio = lanes.each("divpd", lanes.doubles(a.value, a.is_signed), lanes.doubles(b.value, a.is_signed))
    return a.of(lanes.whole(ratio, a.is_signed))


# Shifts.


@primitive()
def shift_left(a: Term, n: Term) -> Term:
    return a << n


@primitive()
def shift_right(a: Term, n: Term) -> Term:
    return a >> n


@primitive()
def funnel_left(a: Term, b: Term, n: Term) -> Term:
    return b << n | a >> a.constant(32) - n


@primitive()
def funnel_right(a: Term, b: Term, n: Term) -> Term:
    return a >> n | b << b.constant(32) - n


# Bits.


@primitive()
def count_ones(a: Term) -> Term:
    """In words, which are added in pairs for 64 bits. Source: H. Warren, Hacker's Delight, 5-1."""
    lanes = a.lanes
    halves = [Term(lanes, (one,), WORD) for one in a.value]
    counts = []
    for x in halves:
        x = x - (x >> 1 & 0x55555555)
        x = (x & 0x33333333) + (x >> 2 & 0x33333333)
        x = x + (x >> 4) & 0x0F0F0F0F
        counts.append(x * 0x01010101 >> 24)
    value = tuple(one.value[0] for one in counts)
    if len(value) == 1:
        return Term(lanes, value, WORD)
    return Term(lanes, lanes.low_words(value), WORD) + Term(lanes, lanes.high_words(value), WORD)


@primitive()
def leading_zeros(a: Term) -> Term:
    width = a.width
    step = 1
    while step < width:
        a = a | a >> step
        step *= 2
    return count_ones(~a)


@primitive()
def find_leading(a: Term, from_top: bool) -> Term:
    if a.is_signed:
        sign = a >> a.width - 1
        a = (a ^ sign).view(f"u{a.kind.size}")
    width = a.width
    zeros = leading_zeros(a)
    place = zeros if from_top else zeros.constant(width - 1) - zeros
    return (zeros == width).choose(zeros.constant(-1), place)


@primitive()
def reverse_bits(a: Term) -> Term:
    step = 1
    while step < a.width:
        block = (1 << step) - 1
        mask = sum(block << place for place in range(0, a.width, 2 * step))
        a = (a & mask) << step | (a >> step & mask)
        step *= 2
    return a


def _mask(length: Term, like: Term) -> Term:
    """The lowest `length` bits of a number like another; all of them from its width on."""
    one = Term(like.lanes, like.lanes.constant(1, like.kind.size), TYPES[f"u{like.width}"])
    return (one << length) - 1


def _place(number: Term, width: int) -> Term:
    """A position or length: of words the lowest 8 bits count, of double words all, clamped."""
    return number & 0xFF if width == 32 else minimum(number, 0xFF)


def _unsigned(a: Term) -> Term:
    return a.view(f"u{a.kind.size}")


@primitive()
def extract_field(a: Term, position: Term, length: Term) -> Term:
    position, length = _place(position, a.width), _place(length, a.width)
    mask = _mask(length, a)
    field = _unsigned(a) >> position & mask
    if not a.is_signed:
        return field
    last = minimum(position + length - 1, a.width - 1)
    sign = _unsigned(a) >> last & 1
    rest = maximum((position.constant(a.width) - position).view("i4"), 0).view("u4")
    kept = ~_mask(minimum(length, rest), a)
    filled = field | (kept & -sign)
    return (length == 0).choose(filled.constant(0), filled).view(f"i{a.kind.size}")


@primitive()
def insert_field(a: Term, b: Term, position: Term, length: Term) -> Term:
    position, length = _place(position, a.width), _place(length, a.width)
    mask = _mask(length, a) << position
    return (b & ~mask) | (a << position & mask)


@primitive()
def bit_mask(position: Term, length: Term, wraps: bool) -> Term:
    if wraps:
        position, length = position & 31, length & 31
    return _mask(length, position) << position


@primitive()
def extend_field(a: Term, length: Term, wraps: bool) -> Term:
    length = length & 31 if wraps else minimum(length, 32)
    mask = _mask(length, a)
    field = _unsigned(a) & mask
    if not a.is_signed:
        return field
    sign = _unsigned(a) >> maximum(length, 1) - 1 & 1
    filled = field | (~mask & -sign)
    return (length == 0).choose(filled.constant(0), filled).view("i4")


@primitive()
def permute(a: Term, b: Term, selector: Term) -> Term:
    result = a.constant(0)
    for place in range(4):
        choice = selector >> 4 * place
        byte = ((choice & 4) == 0).choose(a, b) >> ((choice & 3) << 3) & 0xFF
        filled = ((choice & 8) == 0).choose(byte, -(byte >> 7) & 0xFF)
        result = result | filled << 8 * place
    return result


@primitive()
def permute_mode(a: Term, b: Term, c: Term, mode: str) -> Term:
    first, *others = PERMUTATIONS[mode]
    place, selector = c & 3, c.constant(first)
    for number, other in enumerate(others, 1):
        selector = (place == number).choose(c.constant(other), selector)
    return permute(a, b, selector)


@primitive()
def logic3(a: Term, b: Term, c: Term, table: int) -> Term:
    """By the third operand one of two functions of the others, each of these by the second one of two."""

    def of_one(yes: bool, no: bool) -> Term:
        if yes == no:
            return a.constant(-1 if yes else 0)
        return a if yes else ~a

    def chosen(mask: Term, yes: Term, no: Term) -> Term:
        return yes if yes.value == no.value else no ^ ((yes ^ no) & mask)

    def of_two(last: int) -> Term:
        def entry(first: int, second: int) -> bool:
            return bool(table >> (first << 2 | second << 1 | last) & 1)

        yes, no = (of_one(entry(1, second), entry(0, second)) for second in (1, 0))
        return chosen(b, yes, no)

    return chosen(c, of_two(1), of_two(0))


def _parts(a: Term, bits: int, signed: bool, places: range) -> list[Term]:
    """Some of the bytes or halves of words, extended to 32 bits."""
    words = a.view("i4" if signed else "u4")
    return [words << 32 - bits * (place + 1) >> 32 - bits for place in places]


@primitive()
def dot4(a: Term, b: Term, c: Term, types: str) -> Term:
    """c + the sum of four products of bytes."""
    return _dot(_parts(a, 8, types[0] == "s", range(4)), _parts(b, 8, types[1] == "s", range(4)), c)


@primitive()
def dot2(a: Term, b: Term, c: Term, types: str, high: bool) -> Term:
    """c + the sum of two products: the halves of `a` with two bytes of `b`."""
    places = range(2, 4) if high else range(2)
    return _dot(_parts(a, 16, types[0] == "s", range(2)), _parts(b, 8, types[1] == "s", places), c)


def _dot(a: list[Term], b: list[Term], c: Term) -> Term:
    total = c.view("u4")
    for x, y in zip(a, b, strict=True):
        total = total + x * y
    return total


@primitive()
def of_pairs(a: Term, b: Term, name: str, signed: bool, relu: bool = False) -> Term:
    """add, min or max of the two halves of words."""
    operation = {"add": Term.__add__, "min": minimum, "max": maximum}[name]
    halves = [_parts(one, 16, signed, range(2)) for one in (a, b)]
    results = [operation(x, y) for x, y in zip(*halves, strict=True)]
    low, high = (maximum(one, 0) if relu else one for one in results)
    return (low.view("u4") & 0xFFFF) | high.view("u4") << 16


@primitive()
def clamp(a: Term, dtype: Any) -> Term:
    """A whole number clamped to the range of `dtype`, in its own type."""
    limits, own = np.iinfo(dtype), np.iinfo(a.kind.code)
    low, high = max(limits.min, own.min), min(limits.max, own.max)
    if low > own.min:
        a = maximum(a, low)
    return minimum(a, high) if high < own.max else a
