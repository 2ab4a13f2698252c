"""Choosing between values, and comparing pairs of 16-bit numbers."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

import numpy as np

from .arrays import u4
from .floating import compare, with_sign
from .half import FORMATS, join, pairs
from .integer import saturated

if TYPE_CHECKING:
    from ..aliases import Array, DType, Function


def clamp(x: Array, dtype: DType) -> Array:
    """An integer clamped to the range of `dtype`, in its own type."""
    limits, own = np.iinfo(dtype), np.iinfo(x.dtype)
    low, high = max(limits.min, own.min), min(limits.max, own.max)
    return (
        saturated(x, x.dtype)
        if (low, high) == (own.min, own.max)
        else np.clip(x, x.dtype.type(low), x.dtype.type(high))
    )


def xor_sign(function: Function, a: Array, b: Array, nan: bool) -> Array:
    """min or max of the magnitudes, with the product of the signs."""
    return with_sign((a.view(u4) ^ b.view(u4)).view(a.dtype), function(np.abs(a), np.abs(b), nan))


def compare_pairs(a: Array, b: Array, relation: str, kind: str, ftz: bool) -> tuple[Array, Array]:
    """The relation of the lower and of the upper halves."""
    form = FORMATS[kind]
    x, y = form.widen(pairs(a)), form.widen(pairs(b))
    if ftz:
        x, y = (np.where(np.abs(one) < form.least, 0.0, one) for one in (x, y))
    result = relate(x, y, relation)
    if a.ndim or b.ndim:
        return result[:, 0], result[:, 1]
    return result[0, 0], result[0, 1]


_COMBINE: dict[str, Function] = {
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
}


def combine_pairs(both: tuple[Array, Array], other: Array, how: str) -> tuple[Array, Array]:
    """Two predicates, each combined with a third one."""
    combine = _COMBINE[how]
    return combine(both[0], other), combine(both[1], other)


_ORDERED = {"eq": np.equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal}


def relate(x: Array, y: Array, relation: str) -> Array:
    """Array relation of floats."""
    return _ORDERED[relation](x, y) if relation in _ORDERED else compare(x, y, relation)


def join_truth(low: Array, high: Array, kind: str) -> Array:
    """set of pairs: 1.0 or all ones in each half, or all ones in the word if both hold."""
    if kind == "f16x2":
        return join(low.astype(u4) * np.uint32(0x3C00), high.astype(u4) * np.uint32(0x3C00))
    if kind == "bf16x2":
        return join(low.astype(u4) * np.uint32(0x3F80), high.astype(u4) * np.uint32(0x3F80))
    return join(low.astype(u4) * np.uint32(0xFFFF), high.astype(u4) * np.uint32(0xFFFF))
