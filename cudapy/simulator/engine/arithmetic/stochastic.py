"""Stochastic rounding: away from zero where what is cut off and random bits give a carry.

The manual says how many random bits a number has, and in which half they are. That two of four numbers have
theirs in reverse order is what others have measured on a B200; the order of bytes for 4 bits is assumed.
A positive number's code is its place among the numbers of its format.
Source: PTX ISA, "cvt", ".rs".
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

from .arrays import arrays, f2, f8, u2, u4
from .half import join
from .rounding import bfloat_to_single
from .small import FLOATS

if TYPE_CHECKING:
    from ..aliases import Array

_RANDOM = {"f16": 13, "bf16": 16, "e2m1": 8}
"""Random bits of a number; 16 of the others."""


@functools.cache
def _numbers(name: str) -> Array:
    """The finite numbers of a format from 0 on, and what would come next."""
    if name == "f16":
        numbers = np.arange(0x7C00, dtype=u2).view(f2).astype(f8)
    elif name == "bf16":
        numbers = bfloat_to_single(np.arange(0x7F80, dtype=u2)).astype(f8)
    else:
        form = FLOATS[name]
        numbers = form.numbers[: form.sign]
        numbers = numbers[np.isfinite(numbers)]
    return np.append(numbers, 2 * numbers[-1] - numbers[-2])


def _rounded(x: Array, random: Array, name: str, clips: bool, finite: bool) -> Array:
    """The codes of binary32 numbers; `random` has the bits of each as a whole number."""
    numbers, wide = _numbers(name), x.astype(f8)
    size = np.abs(wide)
    last = len(numbers) - 1  # the code of infinity, where there is one
    code = np.clip(np.searchsorted(numbers, size, "right") - 1, 0, last - 1)
    step = numbers[code + 1] - numbers[code]
    carries = (size - numbers[code]) / step + random / 2.0 ** _RANDOM.get(name, 16) >= 1
    code = np.where(size >= numbers[last], last, code + carries)
    code = np.minimum(code, last - 1) if finite else code
    if name in FLOATS:
        sign, nan = FLOATS[name].sign, FLOATS[name].nan
    else:
        sign, nan = 0x8000, 0x7FFF
    code = np.where(np.signbit(x), 0 if clips else code | sign, code)
    return np.where(np.isnan(x), nan, code)


@arrays
def stochastic_pair(high: Array, low: Array, bits: Array, name: str, clips: bool, finite: bool) -> Array:
    """Two binary32 numbers as f16 or bf16 in a word, each with random bits from its half of `bits`."""
    mask = np.uint32((1 << _RANDOM[name]) - 1)
    with np.errstate(all="ignore"):
        upper = _rounded(high, bits >> np.uint32(16) & mask, name, clips, finite)
        lower = _rounded(low, bits & mask, name, clips, finite)
    return join(lower, upper)


def _reversed(bits: Array) -> Array:
    """16 bits in the opposite order."""
    places = np.arange(16, dtype=u4)
    return ((bits[:, None] >> places & np.uint32(1)) << places[::-1]).sum(1)


@arrays
def stochastic_four(a: Array, b: Array, e: Array, f: Array, bits: Array, name: str, clips: bool) -> Array:
    """Four binary32 numbers as numbers of a small format, `a` uppermost, clamped to what is finite.

    Of 8 and 6 bits each, `f` and `e` share the lower half of `bits`, `b` and `a` the upper one; of 4 bits
    each, there is a byte for each.
    """
    if name == "e2m1":
        random = [bits >> np.uint32(8 * place) & np.uint32(255) for place in range(4)]
        width, kind = 4, u2
    else:
        low, high = bits & np.uint32(0xFFFF), bits >> np.uint32(16)
        random = [low, _reversed(low), high, _reversed(high)]
        width, kind = 8, u4
    total = np.zeros(len(bits), np.int64)
    with np.errstate(all="ignore"):
        for place, (x, own) in enumerate(zip((f, e, b, a), random, strict=True)):
            total |= _rounded(x, own, name, clips, True) << width * place
    return total.astype(kind)
