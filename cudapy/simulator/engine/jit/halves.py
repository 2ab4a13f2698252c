"""16-bit floats: f16 and bf16, kept as their bits in words, and pairs of them.

They are computed in binary32, which has the exact result or that rounded to odd, and rounded once.
Source: S. Boldo, G. Melquiond, "Emulation of FMA and correctly rounded sums", IEEE Trans. Computers 57
(2008).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..arithmetic import convert
from ..arithmetic.half import Cases, Flags, rounded_once
from ..arithmetic.select import combine_pairs, join_truth
from ..ptx.types import TYPES
from . import floats
from .lanes import INFINITY16, NAN16, Unsupported
from .terms import Term, primitive, share

if TYPE_CHECKING:
    from collections.abc import Callable

share(combine_pairs, join_truth)
positive, *_ = share(convert.positive, convert.limited, convert.to_tf32)
_LEAST16, _LARGE16 = np.uint32(0x38800000), np.uint32(0x477FF000)
"""As binary32: the smallest normal number of f16, and the first that is rounded to infinity."""
_INFINITY = np.uint32(0x7F800000)
_HALF = np.float32(0.5)


def single(a: Term) -> Term:
    """An f16 as binary32."""
    word = Term(a.lanes, a.value, TYPES["u32"])
    magnitude = (word & 0x7FFF) << 13
    scaled = (magnitude.view("f4") * np.float32(2.0**112)).view("u4")
    special = (word & INFINITY16) == INFINITY16
    return (special.choose(magnitude | _INFINITY, scaled) | (word & 0x8000) << 16).view("f4")


def _rounded16(x: Term) -> tuple[Term, Term, Term]:
    """The bits of the nearest f16 to the size of a binary32 number, its sign, and its bits without that."""
    bits = x.view("u4")
    size = bits & np.uint32(0x7FFFFFFF)
    normal = size + np.uint32(0xC8000FFF) + (size >> 13 & 1) >> 13
    small = (size.view("f4") + _HALF).view("u4") - np.uint32(0x3F000000)
    result = (size < _LEAST16).choose(small, normal)
    return (size < _LARGE16).choose(result, size.constant(INFINITY16)), bits >> 16 & 0x8000, size


def _narrow16(x: Term) -> Term:
    """A binary32 number, exact or rounded to odd, as the bits of an f16; NaN becomes 0x7fff."""
    result, sign, size = _rounded16(x)
    return (size > _INFINITY).choose(size.constant(NAN16), result | sign)


def _narrow_bfloat(x: Term) -> Term:
    bits = x.view("u4")
    nearest = bits + 0x7FFF + (bits >> 16 & 1) >> 16
    return x.is_nan().choose(bits.constant(NAN16), nearest)


def to_half_kept(x: Term) -> Term:
    """Binary32 to nearest as f16, whose NaN have the upper bits of those, as in NumPy."""
    result, sign, size = _rounded16(x)
    payload = size >> 13 & 0x3FF
    nan = (payload == 0).choose(payload.constant(1), payload) | INFINITY16
    return Term(x.lanes, ((size > _INFINITY).choose(nan, result) | sign).value, TYPES["f16"])


def to_odd32(x: Term) -> Term:
    """A binary64 number as binary32 rounded to odd."""
    lanes = x.lanes
    nearest = Term(lanes, lanes.singles_of(x.value), TYPES["f32"])
    back = Term(lanes, lanes.doubles_of(nearest.value), TYPES["f64"])
    bits = nearest.view("u4") - (back.magnitude() > x.magnitude()).astype("u4")
    return (bits | back.compare(x, "ne").astype("u4")).view("f4")


def _wide(x: Term) -> Term:
    return Term(x.lanes, x.lanes.doubles_of(x.value), TYPES["f64"])


def _odd_sum(a: Term, b: Term) -> Term:
    """The sum of binary64 numbers rounded to odd. Source: D. Knuth, TAOCP 2, 4.2.2, for the error."""
    total = a.each("addpd", b)
    part = total.each("subpd", a)
    error = a.each("subpd", total.each("subpd", part)).each("addpd", b.each("subpd", part))
    zero = total.constant(np.float64(0))
    bits = total.view("u8")
    away = ~((error > zero) ^ (total > zero))
    is_exact = (bits & 1) == 1
    inexact = error.compare(zero, "ne") & (total.magnitude() < np.float64(np.inf)) & ~is_exact
    return inexact.choose(away.choose(bits + 1, bits - 1), bits).view("f8")


def _product(a: Term, b: Term) -> Term:
    """Of 16-bit numbers: exact in binary64."""
    return to_odd32(_wide(a).each("mulpd", _wide(b)))


def _fused(a: Term, b: Term, c: Term) -> Term:
    return to_odd32(_odd_sum(_wide(a).each("mulpd", _wide(b)), _wide(c)))


_OPERATIONS: dict[str, Callable[..., Term]] = {
    "add": lambda a, b: a + b,  # binary32 has twice the digits and two, so that rounding twice is once
    "sub": lambda a, b: a - b,
    "mul": _product,
    "fma": _fused,
    "min": floats.minimum,
    "max": floats.maximum,
    "neg": lambda a: -a,
    "abs": Term.magnitude,
}


class _Format(NamedTuple):
    widen: Callable[[Term], Term]
    narrow: Callable[[Term], Term]
    least: float
    """The smallest normal number."""


_F16 = _Format(single, _narrow16, 2.0**-14)
_BF16 = _Format(lambda a: (Term(a.lanes, a.value, TYPES["u32"]) << 16).view("f4"), _narrow_bfloat, 2.0**-126)
FORMATS = {"f16": _F16, "f16x2": _F16, "bf16": _BF16, "bf16x2": _BF16}


def _halves(a: Term) -> tuple[Term, Term]:
    word = Term(a.lanes, a.value, TYPES["u32"])
    return word & 0xFFFF, word >> 16


def _below(x: Term, limit: float) -> Term:
    """Numbers whose size is below a limit become zeros of their sign."""
    return (x.magnitude() < np.float32(limit)).choose(x & x.sign_bit(), x)


_CASES = Cases(
    below=_below,
    by_size=lambda operation, a, b: floats.with_sign(a ^ b, operation(a.magnitude(), b.magnitude())),
    spread_nan=floats.spread_nan,
    saturate=floats.saturate,
    positive=positive,
)


@primitive()
def compute(
    name: str,
    kind: str,
    *operands: Term,
    ftz: bool = False,
    sat: bool = False,
    relu: bool = False,
    nan: bool = False,
    xorsign: bool = False,
) -> Term:
    operation = _OPERATIONS.get(name)
    if operation is None:
        raise Unsupported
    form = FORMATS[kind]

    flags = Flags(ftz, sat, relu, nan, xorsign)

    def of_one(*values: Term) -> Term:
        result: Term = rounded_once(_CASES, form, operation, values, flags)
        return result

    if not kind.endswith("x2"):
        return operands[0].of(of_one(*operands).value)
    pairs = [_halves(one) for one in operands]
    low, high = (of_one(*values) for values in zip(*pairs, strict=True))
    return join(low, high)


@primitive()
def join(low: Term, high: Term) -> Term:
    """Two halves in a word."""
    low, high = (Term(one.lanes, one.value, TYPES["u32"]) for one in (low, high))
    return low | high << 16


@primitive()
def bfloat_to_single(a: Term) -> Term:
    return _BF16.widen(a)


@primitive()
def to_half(x: Term, rnd: str | None, relu: bool = False) -> Term:
    if rnd not in (None, "rn") or x.kind.name != "f32":
        raise Unsupported
    return Term(x.lanes, _narrow16(positive(x) if relu else x).value, TYPES["u16"])


@primitive()
def to_bfloat16(x: Term, rnd: str | None, relu: bool = False) -> Term:
    if rnd not in (None, "rn") or x.kind.size == 8:
        raise Unsupported
    x = single(x) if x.kind.size == 2 else x
    return Term(x.lanes, _narrow_bfloat(positive(x) if relu else x).value, TYPES["u16"])


@primitive()
def flush16(x: Term) -> Term:
    word = Term(x.lanes, x.value, TYPES["u32"])
    flushed = ((word & 0x7FFF) < 0x400).choose(word & 0x8000, word)
    return Term(x.lanes, flushed.value, x.kind)


@primitive()
def relate(x: Term, y: Term, relation: str) -> Term:
    x, y = (single(one) if one.kind.name == "f16" else one for one in (x, y))
    return x.compare(y, relation)


@primitive()
def compare_pairs(a: Term, b: Term, relation: str, kind: str, ftz: bool) -> tuple[Term, ...]:
    """The relation of the lower and of the upper halves."""
    form = FORMATS[kind]
    results = []
    for pair in zip(_halves(a), _halves(b), strict=True):
        x, y = (form.widen(one) for one in pair)
        if ftz:
            x, y = _below(x, form.least), _below(y, form.least)
        results.append(x.compare(y, relation))
    return tuple(results)
