"""16-bit floating point: f16, bf16, and pairs of them in a word.

Both formats are computed in binary64 and rounded once, so an operation here is a function of binary64 values
that gives the exact result, or that rounded to odd.
Source: PTX ISA, "Half Precision Floating Point Instructions".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .arrays import f2, f8, u2, u4
from .floating import maximum, minimum
from .rounding import bfloat_to_single, to_bfloat, to_odd, two_sum

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..aliases import Array

_NAN = np.uint16(0x7FFF)


class Format(NamedTuple):
    """How a 16-bit format becomes binary64 and comes back; values are uint16."""

    widen: Callable[[Array], Array]
    narrow: Callable[[Array], Array]
    least: float
    """The smallest normal number."""


def _narrow16(x: Array) -> Array:
    return np.where(np.isnan(x), _NAN, np.asarray(x).astype(f2).view(u2))[()]


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


class Flags(NamedTuple):
    """What is done besides, by the modifiers .ftz, .sat, .relu, .NaN, .xorsign."""

    ftz: bool
    sat: bool
    relu: bool
    nan: bool
    xorsign: bool


class Cases(NamedTuple):
    """What these are made of, over the values of a back end: exact ones, or rounded to odd."""

    below: Callable[[Any, float], Any]
    """Numbers whose size is below a limit become zeros of their sign."""
    by_size: Callable[[Callable[..., Any], Any, Any], Any]
    """An operation on the sizes of two numbers; its sign is both of theirs, combined."""
    spread_nan: Callable[[Any, Any, Any], Any]
    """NaN if one of two is, else the third."""
    saturate: Callable[[Any], Any]
    positive: Callable[[Any], Any]
    """Negative numbers and -0 become 0; NaN stays."""


def rounded_once(
    cases: Cases, form: Any, operation: Callable[..., Any], operands: Sequence[Any], flags: Flags
) -> Any:
    """An operation on numbers of a 16-bit format, widened, with all its special cases, and rounded."""
    wide = [form.widen(one) for one in operands]
    if flags.ftz:
        wide = [cases.below(x, form.least) for x in wide]
    exact = cases.by_size(operation, *wide) if flags.xorsign else operation(*wide)
    if flags.nan:
        exact = cases.spread_nan(wide[0], wide[1], exact)
    if flags.sat:
        exact = cases.saturate(exact)
    if flags.ftz:  # what would be tiny with any exponent, after it is rounded to 11 bits
        exact = cases.below(exact, form.least * (1 - 2.0**-12))
    if flags.relu:
        exact = cases.positive(exact)
    return form.narrow(exact)


def _by_size(operation: Callable[..., Array], a: Array, b: Array) -> Array:
    sign = np.signbit(a) ^ np.signbit(b)
    return np.copysign(operation(np.abs(a), np.abs(b)), np.where(sign, -1.0, 1.0))


_CASES = Cases(
    below=lambda x, limit: np.where(np.abs(x) < limit, np.copysign(0.0, x), x),
    by_size=_by_size,
    spread_nan=lambda a, b, x: np.where(np.isnan(a) | np.isnan(b), np.nan, x),
    saturate=lambda x: np.where(x > 0, np.where(x < 1, x, 1.0), 0.0),
    positive=lambda x: np.where(np.isnan(x), x, np.where(x > 0, x, 0.0)),
)


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
    packed = kind.endswith("x2")
    halves = [pairs(one) if packed else one.view(u2) for one in operands]
    flags = Flags(ftz, sat, relu, nan, xorsign)
    result = rounded_once(_CASES, FORMATS[kind], OPERATIONS[name], halves, flags)
    if not packed:
        return result[()]
    words = np.ascontiguousarray(result).view(u4)[:, 0]
    return words if any(one.ndim for one in operands) else words[0]


def join(low: Array, high: Array) -> Array:
    """Two halves in a word."""
    return low.astype(u4) | high.astype(u4) << np.uint32(16)
