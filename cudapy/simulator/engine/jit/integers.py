"""Whole numbers and bits.

Source: PTX ISA, "Integer Arithmetic Instructions", "Logic and Shift Instructions".
"""

from typing import Any

import numpy as np

from ..arithmetic import bits, integer
from ..compile.operands import WORD
from .lanes import Unsupported, Value
from .terms import Term, primitive, share

share(integer.add_carry, integer.subtract_carry, integer.low24, integer.absolute_difference)
share(integer.clamped_where, integer.add_saturated, integer.subtract_saturated, integer.remainder)
share(integer.word_parts, integer.sum_products, integer.dot4, integer.dot2, integer.of_pairs)
share(bits.funnel_left, bits.funnel_right, bits.leading_zeros, bits.find_leading)
share(
    bits.low_bits, bits.field_place, bits.extract_field, bits.insert_field, bits.bit_mask, bits.extend_field
)
share(bits.permute, bits.permute_mode)


@primitive()
def choose(condition: Term, a: Any, b: Any) -> Term:
    return condition.choose(*_terms(a, b))


def _terms(a: Any, b: Any) -> tuple[Term, Term]:
    """Both, if one is a number."""
    return (a, a.constant(b)) if isinstance(a, Term) else (b.constant(a), b)


def _extreme(name: str, a: Any, b: Any) -> Term:
    a, b = _terms(a, b)
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
def divide(a: Term, b: Term) -> Term:
    """In binary64, which has each quotient of 32 bits exactly enough to truncate it."""
    return _quotient(a, b) | _by_zero(b)


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
def reverse_bits(a: Term) -> Term:
    step = 1
    while step < a.width:
        block = (1 << step) - 1
        mask = sum(block << place for place in range(0, a.width, 2 * step))
        a = (a & mask) << step | (a >> step & mask)
        step *= 2
    return a


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


@primitive()
def clamp(a: Term, dtype: Any) -> Term:
    """A whole number clamped to the range of `dtype`, in its own type."""
    limits, own = np.iinfo(dtype), np.iinfo(a.kind.code)
    low, high = max(limits.min, own.min), min(limits.max, own.max)
    if low > own.min:
        a = maximum(a, low)
    return minimum(a, high) if high < own.max else a
