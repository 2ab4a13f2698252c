"""16-bit floating point: f16, bf16, and pairs of them in a word.

Both formats are computed in binary64 and rounded once, so an operation here is a function of binary64 values
that gives the exact result, or that rounded to odd.
Source: PTX ISA, "Half Precision Floating Point Instructions".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .arrays import f2, f8, u2, u4
from .floating import maximum, minimum
from .rounding import bfloat_to_single, to_bfloat, to_odd, two_sum

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..aliases import Array

_NAN = np.uint16(0x7FFF)


class Format(NamedTuple):
    """How a 16-bit format becomes binary64 and comes back; values are uint16."""

    widen: Callable[[Array], Array]
    narrow: Callable[[Array], Array]
    least: float
    """The smallest normal number."""


def _narrow16(x: Array) -> Array:
    return np.where(np.isnan(x), _NAN, x.astype(f2).view(u2))[()]


F16 = Format(lambda a: a.view(f2).astype(f8), _narrow16, 2.0**-14)
BF16 = Format(lambda a: bfloat_to_single(a).astype(f8), to_bfloat, 2.0**-126)
FORMATS = {"f16": F16, "f16x2": F16, "bf16": BF16, "bf16x2": BF16}


def _add(a: Array, b: Array) -> Array:
    return to_odd(*two_sum(a, b))


OPERATIONS: dict[str, Callable[..., Array]] = {
    "add": _add,
    "sub": lambda a, b: _add(a, -b),
    "mul": np.multiply,
    "fma": lambda a, b, c: _add(a * b, c),
    "min": minimum,
    "max": maximum,
    "neg": np.negative,
    "abs": np.abs,
    "ex2": np.exp2,
    "tanh": np.tanh,
}


def pairs(a: Array) -> Array:
    """The two halves of each word, one row a word."""
    return np.ascontiguousarray(a).reshape(-1, 1).view(u2)


def compute(
    name: str,
    kind: str,
    *operands: Array,
    ftz: bool = False,
    sat: bool = False,
    relu: bool = False,
    nan: bool = False,
    xorsign: bool = False,
) -> Array:
    """The operation `name` on values of type `kind` ("f16", "bf16x2" ...) kept as uint16, or uint32 for
    pairs.
    """
    form = FORMATS[kind]
    packed = kind.endswith("x2")
    halves = [pairs(one) if packed else one.view(u2) for one in operands]
    wide = [form.widen(one) for one in halves]
    if ftz:
        wide = [np.where(np.abs(x) < form.least, np.copysign(0.0, x), x) for x in wide]
    if xorsign:
        sign = np.signbit(wide[0]) ^ np.signbit(wide[1])
        exact = np.copysign(OPERATIONS[name](*[np.abs(x) for x in wide]), np.where(sign, -1.0, 1.0))
    else:
        exact = OPERATIONS[name](*wide)
    if nan:
        exact = np.where(np.isnan(wide[0]) | np.isnan(wide[1]), np.nan, exact)
    if sat:
        exact = np.where(exact > 0, np.where(exact < 1, exact, 1.0), 0.0)
    if ftz:  # what would be tiny with any exponent, after it is rounded to 11 bits
        exact = np.where(np.abs(exact) < form.least * (1 - 2.0**-12), np.copysign(0.0, exact), exact)
    if relu:
        exact = np.where(np.isnan(exact), exact, np.where(exact > 0, exact, 0.0))
    result = form.narrow(np.asarray(exact))
    if not packed:
        return result[()]
    words = np.ascontiguousarray(result).view(u4)[:, 0]
    return words if any(one.ndim for one in operands) else words[0]


def join(low: Array, high: Array) -> Array:
    """Two halves in a word."""
    return low.astype(u4) | high.astype(u4) << np.uint32(16)
