"""Conversions.

Source: PTX ISA, "Data Movement and Conversion Instructions: cvt".
"""

from typing import Any

import numpy as np

from ..ptx.types import TYPES
from . import halves
from .lanes import Unsupported
from .terms import Term, primitive, type_of

_ROUNDED = {"rni": 8, "rmi": 9, "rpi": 10, "rzi": 11}
"""The immediate operand of roundps for a way of rounding to whole numbers."""


def _widened(x: Term) -> Term:
    """A float as binary64."""
    if x.kind.size == 8:
        return x
    if x.kind.size == 2:
        x = halves.single(x)
    return Term(x.lanes, x.lanes.doubles_of(x.value), TYPES["f64"])


@primitive()
def round_to_integer(x: Term, mode: str) -> Term:
    if x.kind.size == 2:
        return halves.to_half_kept(round_to_integer(halves.single(x), mode))
    return x.of(x.lanes.one(x.named("round"), x.value, _ROUNDED[mode]))


@primitive()
def float_to_integer(x: Term, mode: str, dtype: Any) -> Term:
    target = type_of(dtype)
    if target.size == 8:
        raise Unsupported
    lanes, wide, limits = x.lanes, _widened(x), np.iinfo(dtype)
    clamped = lanes.each("maxpd", round_to_integer(wide, mode).value, lanes.number64(float(limits.min)))
    clamped = lanes.each("minpd", clamped, lanes.number64(float(limits.max)))
    result = Term(lanes, lanes.whole(clamped, target.kind == "s"), target)
    nothing = 0
    if x.kind.size == 8:
        nothing = (1 << (8 * target.size - 1)) if target.kind == "u" else int(limits.min)
    return wide.is_nan().choose(result.constant(nothing), result)


@primitive()
def integer_to_float(x: Term, dtype: Any, rnd: str) -> Term:
    target, lanes = type_of(dtype), x.lanes
    if x.kind.size == 8 or (rnd != "rn" and target.size == 2):
        raise Unsupported
    signed = x.is_signed or x.kind.size < 4
    if target.size != 4:
        exact = Term(lanes, lanes.doubles(x.value, signed), TYPES["f64"])
        return exact if target.size == 8 else halves.to_half_kept(halves.to_odd32(exact))
    if signed:
        with lanes.rounding(rnd):
            return Term(lanes, lanes.one("cvtdq2ps", x.value), target)
    wide = lanes.doubles(x.value, False)
    with lanes.rounding(rnd):
        return Term(lanes, lanes.singles_of(wide), target)


@primitive()
def float_to_float(x: Term, dtype: Any, rnd: str | None) -> Term:
    target = type_of(dtype)
    if target.size == x.kind.size:
        return x
    if target.size == 8:
        return _widened(x)
    if x.kind.size == 8 and target.size == 4:
        with x.lanes.rounding(rnd):
            return Term(x.lanes, x.lanes.singles_of(x.value), target)
    if x.kind.size == 4 and rnd in (None, "rn"):
        return halves.to_half_kept(x)
    if x.kind.size == 2:
        return halves.single(x)
    raise Unsupported


@primitive()
def integer_to_bfloat(x: Term, rnd: str) -> Term:
    if x.kind.size == 8 or rnd != "rn":
        raise Unsupported
    wide = Term(x.lanes, x.lanes.doubles(x.value, x.is_signed or x.kind.size < 4), TYPES["f64"])
    return halves.to_bfloat16(halves.to_odd32(wide), rnd)
