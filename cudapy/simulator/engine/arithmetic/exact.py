"""Binary64 operations on Python integers: for the few operands where floating-point tricks fail."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..aliases import Array

_LEAST = -1074
"""The exponent of the last bit of the smallest numbers."""
_LARGEST = (1 << 53) - 1, 971


def rounded(mantissa: int, exponent: int, rnd: str | None) -> float:
    """mantissa * 2**exponent, not 0, in binary64."""
    negative = mantissa < 0
    magnitude = abs(mantissa)
    drop = max(magnitude.bit_length() - 53, _LEAST - exponent)
    if drop > 0:
        kept, rest = magnitude >> drop, magnitude & ((1 << drop) - 1)
        half = 1 << (drop - 1)
        away = rnd == ("rm" if negative else "rp")
        to_nearest = rest > half or (rest == half and bool(kept & 1))
        up = to_nearest if rnd in (None, "rn") else bool(rest) and away
        magnitude, exponent = kept + int(up), exponent + drop
    if magnitude.bit_length() + exponent > 1024:
        outward = rnd in (None, "rn") or rnd == ("rm" if negative else "rp")
        value = math.inf if outward else math.ldexp(*_LARGEST)
    else:
        value = math.ldexp(magnitude, exponent)
    return -value if negative else value


def parts(x: float) -> tuple[int, int]:
    """A finite number as an integer and a power of two."""
    mantissa, exponent = math.frexp(x)
    return int(math.ldexp(mantissa, 53)), exponent - 53


def fma(a: float, b: float, c: float, rnd: str | None) -> float:
    (ma, ea), (mb, eb), (mc, ec) = parts(a), parts(b), parts(c)
    mantissa, exponent = ma * mb, ea + eb
    if mc:
        least = min(exponent, ec)
        mantissa, exponent = (mantissa << (exponent - least)) + (mc << (ec - least)), least
    if not mantissa:
        negative = math.copysign(1, a) * math.copysign(1, b) < 0
        same = negative == (math.copysign(1, c) < 0)
        return -0.0 if (same and negative) or (not same and rnd == "rm") else 0.0
    return rounded(mantissa, exponent, rnd)


def multiply(a: float, b: float, rnd: str | None) -> float:
    (ma, ea), (mb, eb) = parts(a), parts(b)
    return rounded(ma * mb, ea + eb, rnd) if ma and mb else a * b


def divide(a: float, b: float, rnd: str | None) -> float:
    (ma, ea), (mb, eb) = parts(a), parts(b)
    if not ma or not mb:
        return float(np.float64(a) / np.float64(b))
    quotient, rest = divmod(abs(ma) << 66, abs(mb))
    mantissa = quotient << 1 | (rest != 0)
    return rounded(-mantissa if (ma < 0) != (mb < 0) else mantissa, ea - eb - 67, rnd)


def root(a: float, rnd: str | None) -> float:
    mantissa, exponent = parts(a)
    if mantissa <= 0:
        return float(np.sqrt(np.float64(a)))
    shift = 120 + (exponent & 1)
    whole = mantissa << shift
    result = math.isqrt(whole)
    return rounded(result << 1 | (result * result != whole), (exponent - shift) // 2 - 1, rnd)


def each(function: Callable[..., float], rnd: str | None, *operands: Array) -> Array:
    """`function` of each row of finite operands."""
    return np.array(
        [function(*row, rnd) for row in zip(*[one.tolist() for one in operands], strict=True)], "f8"
    )
