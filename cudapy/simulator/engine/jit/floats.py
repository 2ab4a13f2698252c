"""Binary32 and binary64.

Source: PTX ISA, "Floating Point Instructions".
"""

from typing import Any

import numpy as np

from ..arithmetic import floating, select
from ..ptx.types import TYPES
from .lanes import INFINITY16, NAN, ONE16, Unsupported
from .terms import Term, primitive, share

share(floating.subtract32, floating.of_three, floating.is_kind, select.xor_sign)
_QUIET = 1 << 51


def _with_nan(result: Term, a: Term, b: Term, c: Term) -> Term:
    """A binary64 result; where it is NaN, the first of `b`, `c` and `a` that is one, quiet."""
    parts = zip(result.value, a.value, b.value, c.value, strict=True)
    return result.of(tuple(result.lanes.code.nan64(*each) for each in parts))


def _flush_least(result: Term, a: Term, b: Term, c: Term | None) -> Term:
    """As `Vectors.flush_least`."""
    code = result.lanes.code
    return result.of((code.flush_least(result.value[0], a.value[0], b.value[0], c.value[0] if c else None),))


@primitive()
def canonicalize_nan(x: Term) -> Term:
    return x.of(x.lanes.canonical(x.value, x.kind.size))


@primitive()
def canonicalize_nan64(x: Term) -> Term:
    quiet = x.of(x.lanes.each("por", x.value, x.lanes.constant(_QUIET, 8)))
    return x.is_nan().choose(quiet, x)


@primitive()
def flush(x: Term) -> Term:
    return x.of(x.lanes.flushed(x.value))


@primitive()
def saturate(x: Term) -> Term:
    if x.kind.size == 8:
        raise Unsupported
    if x.kind.size == 2:  # negative numbers and NaN are above infinity, as words
        word = Term(x.lanes, x.value, TYPES["u32"])
        one, zero = word.constant(ONE16), word.constant(0)
        clamped = (word > INFINITY16).choose(zero, (word < one).choose(word, one))
        return Term(x.lanes, clamped.value, x.kind)
    return x.of(x.lanes.saturated(x.value))


@primitive()
def add32(a: Term, b: Term, rnd: str | None = None) -> Term:
    with a.lanes.rounding(rnd):
        return a + b


def _require_nearest(rnd: str | None) -> None:
    """Of a result that is flushed it matters how it was rounded."""
    if (rnd or "rn") != "rn":
        raise Unsupported


@primitive()
def multiply32(a: Term, b: Term, rnd: str | None = None, ftz: bool = False) -> Term:
    with a.lanes.rounding(rnd):
        result = a * b
    if not ftz:
        return result
    _require_nearest(rnd)
    return _flush_least(result, a, b, None)


@primitive()
def fma32(a: Term, b: Term, c: Term, rnd: str | None = None, ftz: bool = False) -> Term:
    with a.lanes.rounding(rnd):
        result = a.of((a.lanes.code.fused("fmadd213ps", a.value[0], b.value[0], c.value[0]),))
    if not ftz:
        return result
    _require_nearest(rnd)
    return _flush_least(result, a, b, c)


@primitive()
def divide32(a: Any, b: Term, rnd: str | None = None, ftz: bool = False) -> Term:
    if ftz:
        raise Unsupported
    with b.lanes.rounding(rnd):
        return b.constant(a) / b


@primitive()
def add64(a: Term, b: Term, rnd: str | None = None) -> Term:
    with a.lanes.rounding(rnd):
        return b.each("addpd", a)  # of two NaN the second one is chosen


@primitive()
def subtract64(a: Term, b: Term, rnd: str | None = None) -> Term:
    with a.lanes.rounding(rnd):
        result = a.each("subpd", b)
    return _with_nan(result, a, b, a)


@primitive()
def multiply64(a: Term, b: Term, rnd: str | None = None) -> Term:
    with a.lanes.rounding(rnd):
        return b.each("mulpd", a)


@primitive()
def fma64(a: Term, b: Term, c: Term, mode: str | None = None) -> Term:
    parts = zip(a.value, b.value, c.value, strict=True)
    with a.lanes.rounding(mode):
        result = a.of(tuple(a.lanes.code.fused("fmadd213pd", x, y, z) for x, y, z in parts))
    return _with_nan(result, a, b, c)


@primitive()
def divide64(a: Any, b: Term, rnd: str | None = None) -> Term:
    with b.lanes.rounding(rnd):
        return b.constant(a).each("divpd", b)


@primitive("root32", "root64", "np.sqrt")
def root(a: Term, rnd: str | None = None) -> Term:
    with a.lanes.rounding(rnd):
        return a.of(a.lanes.one(a.named("sqrt"), a.value))


@primitive()
def inverse_root(a: Term) -> Term:
    lanes = a.lanes
    wide = lanes.doubles_of(a.value) if a.kind.size == 4 else a.value
    result = lanes.each("divpd", lanes.number64(1.0), lanes.one("sqrtpd", wide))
    return a.of(lanes.singles_of(result) if a.kind.size == 4 else result)


@primitive()
def divide_approximately(a: Term, b: Term) -> Term:
    size = b.magnitude()
    lost = (size > np.float32(2.0**126)) & (size < np.float32(np.inf))
    return lost.choose(a * (b & b.sign_bit()), a / b)


def _extreme(name: str, a: Term, b: Term) -> Term:
    """-0 is before +0; of a number and NaN the number."""
    result = a.each(a.named(name), b)
    result = b.is_nan().choose(a, result)
    return (a == b).choose(a | b if name == "min" else a & b, result)


def spread_nan(a: Term, b: Term, result: Term) -> Term:
    """NaN where either operand is one."""
    return a.compare(b, "nan").choose(a.constant(np.uint32(NAN).view(np.float32)), result)


@primitive()
def minimum(a: Term, b: Term, nan: bool = False) -> Term:
    result = _extreme("min", a, b)
    return spread_nan(a, b, result) if nan else result


@primitive()
def maximum(a: Term, b: Term, nan: bool = False) -> Term:
    result = _extreme("max", a, b)
    return spread_nan(a, b, result) if nan else result


@primitive()
def minimum64(a: Term, b: Term) -> Term:
    return _with_nan(_extreme("min", a, b), a, b, a)


@primitive()
def maximum64(a: Term, b: Term) -> Term:
    return _with_nan(_extreme("max", a, b), a, b, a)


@primitive()
def with_sign(a: Term, b: Any) -> Term:
    return a.constant(b).magnitude() | (a & a.sign_bit())


@primitive()
def compare(a: Term, b: Term, relation: str) -> Term:
    return a.compare(b, relation)


@primitive()
def of_singles(function: Any, *pairs: Term, mode: str, flushes: bool) -> Term:
    """Of both binary32 numbers in words of 64 bits."""
    more = (flushes,) if function in (multiply32, fma32) else ()
    lanes, kind = pairs[0].lanes, TYPES["f32"]
    results = []
    for half in (lanes.low_words, lanes.high_words):
        numbers = [Term(lanes, half(one.value), kind) for one in pairs]
        if flushes:
            numbers = [flush(one) for one in numbers]
        result = canonicalize_nan(function(*numbers, mode, *more))
        results.append(flush(result) if flushes else result)
    return pairs[0].of(lanes.words(results[0].value, results[1].value))
