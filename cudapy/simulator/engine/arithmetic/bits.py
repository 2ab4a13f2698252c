"""Bits of integers: shifts, fields, permutations.

Source: PTX ISA, "Logic and Shift Instructions", "Integer Arithmetic Instructions".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .arrays import arrays, choose, i4, i8, u1, u4, u8
from .integer import unsigned, width_of

if TYPE_CHECKING:
    from ..aliases import Array, DType


def shift_left(a: Array, n: Array) -> Array:
    width = np.uint32(width_of(a))
    if not n.ndim:
        return a << a.dtype.type(n) if n < width else a ^ a
    return np.where(n < width, a << np.minimum(n, width - np.uint32(1)).astype(a.dtype), a.dtype.type(0))[()]


def shift_right(a: Array, n: Array) -> Array:
    width = np.uint32(width_of(a))
    shifted = a >> np.minimum(n, width - np.uint32(1)).astype(a.dtype)
    if a.dtype.kind == "i" or (not n.ndim and n < width):
        return shifted
    return np.where(n < width, shifted, a.dtype.type(0))[()]


def funnel_left(a: Array, b: Array, n: Array) -> Array:
    """The upper word of (b, a) << n, n from 0 to 32."""
    return shift_left(b, n) | shift_right(a, 32 - n)


def funnel_right(a: Array, b: Array, n: Array) -> Array:
    """The lower word of (b, a) >> n, n from 0 to 32."""
    return shift_right(a, n) | shift_left(b, 32 - n)


def count_ones(a: Array) -> Array:
    return np.bitwise_count(a).astype(u4)


def leading_zeros(a: Array) -> Array:
    step = 1
    while step < width_of(a):
        a = a | a >> step
        step *= 2
    return count_ones(~a)


def find_leading(a: Array, from_top: bool) -> Array:
    """The place of the leading one, of negative numbers the leading zero; -1 where there is none."""
    width = width_of(a)
    if a.dtype.kind == "i":
        a = unsigned(a ^ a >> width - 1)
    zeros = leading_zeros(a)
    place = zeros if from_top else width - 1 - zeros
    return choose(zeros == width, ~(zeros ^ zeros), place)


@arrays
def reverse_bits(a: Array) -> Array:
    raw_bytes = np.ascontiguousarray(a).view(u1).reshape(-1, a.dtype.itemsize)[:, ::-1]
    reversed_bytes = raw_bytes.astype(u8) * np.uint64(0x0202020202) & np.uint64(0x010884422010)
    return np.ascontiguousarray((reversed_bytes % np.uint64(1023)).astype(u1)).view(a.dtype).reshape(-1)


def low_bits(length: Array, dtype: DType) -> Array:
    """The lowest `length` bits; all of them from the width on."""
    return shift_left(dtype.type(1), length) - 1


def field_place(number: Array, width: int) -> Array:
    """A position or length: of words the lowest 8 bits count, of double words all, clamped."""
    return number & 0xFF if width == 32 else np.minimum(number, 0xFF)


def extract_field(a: Array, position: Array, length: Array) -> Array:
    """`length` bits from `position`, extended by the field's sign if `a` is signed (the top bit past the
    end).
    """
    width, bits = width_of(a), unsigned(a)
    position, length = field_place(position, width), field_place(length, width)
    field = shift_right(bits, position) & low_bits(length, bits.dtype)
    if a.dtype.kind == "u":
        return field
    last = np.minimum(position + length - 1, width - 1)  # wraps for length 0, used below
    sign = shift_right(bits, last) & 1
    kept = np.minimum(length, np.maximum((width - position).view(i4), 0).view(u4))
    filled = field | ~low_bits(kept, bits.dtype) & -sign
    return choose(length == 0, filled ^ filled, filled).view(a.dtype)


def insert_field(a: Array, b: Array, position: Array, length: Array) -> Array:
    """`b` with `length` bits from `position` on taken from `a`."""
    width = width_of(a)
    position, length = field_place(position, width), field_place(length, width)
    mask = shift_left(low_bits(length, a.dtype), position)
    return (b & ~mask) | (shift_left(a, position) & mask)


def bit_mask(position: Array, length: Array, wraps: bool) -> Array:
    """`length` ones from `position` on. Clamped, or counted modulo 32."""
    if wraps:
        position, length = position & 31, length & 31
    return shift_left(low_bits(length, u4), position)


def extend_field(a: Array, length: Array, wraps: bool) -> Array:
    """The lowest `length` bits of a word, extended to 32 by zero or by its sign."""
    length = length & 31 if wraps else np.minimum(length, 32)
    mask = low_bits(length, u4)
    field = unsigned(a) & mask
    if a.dtype.kind == "u":
        return field
    sign = shift_right(unsigned(a), np.maximum(length, 1) - 1) & 1
    filled = field | ~mask & -sign
    return choose(length == 0, filled ^ filled, filled).view(a.dtype)


def permute(a: Array, b: Array, selector: Array) -> Array:
    """Each byte of the result is one of the eight of (b, a), or its sign, as a nibble of `selector` says."""
    result: Array = a ^ a
    for place in range(4):
        choice = selector >> 4 * place
        byte = shift_right(choose((choice & 4) == 0, a, b), (choice & 3) << 3) & 0xFF
        filled = choose((choice & 8) == 0, byte, -(byte >> 7) & 0xFF)
        result = result | filled << 8 * place
    return result


PERMUTATIONS = {
    "f4e": (0x3210, 0x4321, 0x5432, 0x6543),
    "b4e": (0x5670, 0x6701, 0x7012, 0x0123),
    "rc8": (0x0000, 0x1111, 0x2222, 0x3333),
    "ecl": (0x3210, 0x3211, 0x3222, 0x3333),
    "ecr": (0x0000, 0x1110, 0x2210, 0x3210),
    "rc16": (0x1010, 0x3232, 0x1010, 0x3232),
}
"""The selectors of a mode of prmt."""


def permute_mode(a: Array, b: Array, c: Array, mode: str) -> Array:
    """`permute` with one of the named selections, chosen by the two lowest bits of `c`."""
    first, *others = PERMUTATIONS[mode]
    selector: Array = (c ^ c) | first
    for place, other in enumerate(others, 1):
        selector = choose((c & 3) == place, np.uint32(other), selector)
    return permute(a, b, selector)


def logic3(a: Array, b: Array, c: Array, table: Array) -> Array:
    """Array function of three bits: bit 4a + 2b + c of `table`."""
    lookup = int(table)
    result = a ^ a
    for row in range(8):
        if lookup >> row & 1:
            term = (a if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c)
            result = result | term
    return result


@arrays
def find_nth(mask: Array, base: Array, offset: Array) -> Array:
    """The place of the n-th bit set from `base` on, up (n > 0) or down (n < 0); base itself for n = 0."""
    bits = (mask[:, None] >> np.arange(32, dtype=u4) & np.uint32(1)).astype(i4)
    place = np.arange(32)
    count = offset.view(i4)
    start = base.astype(i8)[:, None]
    up = np.where(place >= start, bits, 0)
    down = np.where(place <= start, bits, 0)
    rank_up = np.cumsum(up, 1)
    rank_down = np.cumsum(down[:, ::-1], 1)[:, ::-1]
    hit = np.where(
        (count > 0)[:, None],
        (up == 1) & (rank_up == count[:, None]),
        np.where(
            (count < 0)[:, None], (down == 1) & (rank_down == -count[:, None].astype(i8)), place == start
        ),
    )
    hit &= (count != 0)[:, None] | (bits == 1)
    position = np.where(hit.any(1) & (base < np.uint32(32)), hit.argmax(1), 0xFFFFFFFF)
    return np.where(offset.view(u4) == np.uint32(0x80000000), 0, position).astype(u4)


c16 = np.dtype("c16")
"""128 bits: kept as complex numbers, which nobody computes with, and taken apart into words of 64."""


def join128(low: Array, high: Array) -> Array:
    words = np.stack(np.broadcast_arrays(low, high), -1)
    return words.view(c16)[..., 0][()]


def halves128(x: Array) -> tuple[Array, Array]:
    """The lower and the upper word."""
    words = np.ascontiguousarray(x).reshape(-1).view(u8).reshape(-1, 2)
    return (words[:, 0], words[:, 1]) if x.ndim else (words[0, 0], words[0, 1])
