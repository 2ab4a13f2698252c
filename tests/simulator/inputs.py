"""Operands of the differential tests: the same on every machine, with no random generator but integer
arithmetic.

The first rows pair every special value with every other one; of the rest a quarter each are random bits,
moderate numbers, numbers with few bits (halfway cases), and numbers close to the first operand.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from cudapy.simulator.engine.ptx.types import TYPES

ROWS = 1 << 16

_INTEGERS = [
    0,
    1,
    2,
    3,
    4,
    7,
    8,
    15,
    16,
    23,
    24,
    31,
    32,
    33,
    47,
    63,
    64,
    65,
    100,
    127,
    128,
    129,
    255,
    256,
    257,
    32767,
    32768,
    65535,
    65536,
    0x7FFFFF,
    0x800000,
    0xFFFFFF,
    0x1000000,
    0x12345678,
    0x7FFFFFFE,
    0x7FFFFFFF,
    0x80000000,
    0x80000001,
    0xFFFFFFFE,
    0xFFFFFFFF,
    0x100000000,
    0x7FFFFFFFFFFFFFFF,
    0x8000000000000000,
    0x8000000000000001,
    0xFFFFFFFFFFFFFFFE,
    0xFFFFFFFFFFFFFFFF,
    0xAAAAAAAAAAAAAAAA,
    0x5555555555555555,
    0xFFFFFF80,
    0xFFFF8000,
    0xFFFFFFFFFFFFFF80,
    0x0123456789ABCDEF,
]
_FORMATS = {2: (5, 10), 4: (8, 23), 8: (11, 52)}
_BFLOAT = (8, 7)


def splitmix(seed: int, count: int = ROWS) -> Any:
    """`count` well mixed 64-bit numbers. Source: G. Steele, D. Lea, C. Flood, OOPSLA 2014."""
    z = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(
        seed * 0x5851F42D4C957F2D % 2**64
    )
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def _float_specials(exponent_bits: int, mantissa_bits: int) -> list[int]:
    bias = (1 << (exponent_bits - 1)) - 1
    one, least = bias << mantissa_bits, 1 << mantissa_bits
    infinity = ((1 << exponent_bits) - 1) << mantissa_bits
    half_bit = 1 << (mantissa_bits - 1)
    positive = [
        0,
        1,
        2,
        3,
        least - 1,
        least,
        least + 1,
        one - 1,
        one,
        one + 1,
        one + half_bit,
        one + least,
        one - least,
        one + 2 * least,
        one + 2 * least + half_bit,
        infinity - 1,
        infinity - 2,
        infinity,
        infinity + half_bit,
        infinity + 1,
        infinity + 2 * half_bit - 1,
        one + 3 * least + 3,
    ]
    for power in (7, 8, 15, 16, 23, 24, 31, 32, 52, 53, 63, 64):
        if power < bias:
            positive += [one + (power << mantissa_bits), one + (power << mantissa_bits) - 1]
    sign = 1 << (exponent_bits + mantissa_bits)
    return [bits for value in positive for bits in (value, value | sign)]


def _specials(name: str) -> list[int]:
    kind = TYPES[name]
    if name in ("bf16", "bf16x2"):
        return _float_specials(*_BFLOAT)
    if name in ("f16", "f16x2"):
        return _float_specials(*_FORMATS[2])
    if kind.kind == "f":
        return _float_specials(*_FORMATS[kind.size])
    return _INTEGERS


@functools.cache
def operand(name: str, place: int) -> Any:
    """The values of operand number `place` of type `name`, as uint64 bits."""
    kind = TYPES[name]
    if name in ("f16x2", "bf16x2"):
        half = name[:-2]
        low, high = operand(half, place), operand(half, place + 3)
        return low | np.roll(high, 17) << np.uint64(16)
    bits = 8 * kind.size
    mask = np.uint64((1 << bits) - 1)
    noise, shape = splitmix(place * 2 + 1), splitmix(place * 2 + 2)
    quarter = np.arange(ROWS) % 4
    if kind.kind in "fx":
        exponent_bits, mantissa_bits = _BFLOAT if name == "bf16" else _FORMATS[kind.size]
        bias = (1 << (exponent_bits - 1)) - 1
        spread = np.uint64(min(24, bias // 2))
        exponent = shape % (spread + spread) + np.uint64(bias) - spread
        sign = (shape >> np.uint64(40) & np.uint64(1)) << np.uint64(bits - 1)
        mantissa = noise & np.uint64((1 << mantissa_bits) - 1)
        moderate = sign | exponent << np.uint64(mantissa_bits) | mantissa
        cut = np.uint64(mantissa_bits // 2 + 1)
        round_ones = moderate >> cut << cut
    else:
        moderate = noise >> (shape % np.uint64(64))
        round_ones = (shape % np.uint64(200) - np.uint64(100)) & mask
    values = np.where(quarter == 0, noise, np.where(quarter == 1, moderate, round_ones))
    if place:
        near = operand(name, 0) ^ (noise & (shape >> np.uint64(8)) & np.uint64(7))
        near ^= (shape & np.uint64(1)) << np.uint64(bits - 1)
        values = np.where(quarter == 3, near, values)
    values &= mask
    specials = np.array(_specials(name), np.uint64) & mask
    count = len(specials)
    rows = np.arange(count * count)
    turns = {0: rows % count, 1: rows // count}.get(place, (rows * 7 + rows // count * 3 + place) % count)
    values[: len(rows)] = specials[turns][: len(values)]
    return values
