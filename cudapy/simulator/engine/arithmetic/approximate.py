"""The approximate instructions. The hardware looks values up and interpolates; here they are rounded
correctly, so the results differ in the last bits: docs/simulator.md says by how many units in the last
place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .arrays import f8, u8
from .floating import flush, multiply32

if TYPE_CHECKING:
    from ..aliases import Array, Function


def _wide(function: Function) -> Function:
    def approximate(x: Array) -> Array:
        return function(x.astype(f8)).astype(x.dtype)

    return approximate


exp2 = _wide(np.exp2)
log2 = _wide(np.log2)
tanh = _wide(np.tanh)
inverse_root = _wide(lambda x: 1.0 / np.sqrt(x))


def divide_approximately(a: Array, b: Array) -> Array:
    """a times 1/b, which is 0 for |b| above 2**126."""
    lost = np.isfinite(b) & (np.abs(b) > np.float32(2.0**126))
    return np.where(lost, a * np.copysign(np.float32(0), b), a / b)[()]


def _turns(x: Array) -> Array:
    """An angle in turns, as the hardware reduces it: one multiplication, rounded toward zero."""
    turns = multiply32(x, np.float32(1 / (2 * np.pi)), "rz").astype(f8)
    return 2 * np.pi * np.fmod(turns, 1.0)


def sine(x: Array) -> Array:
    return np.sin(_turns(flush(x))).astype(x.dtype)


def cosine(x: Array) -> Array:
    return np.cos(_turns(flush(x))).astype(x.dtype)


def truncated64(x: Array) -> Array:
    """A binary64 number with its lower word cleared: what the approximate binary64 instructions take and
    give.
    """
    return (x.view(u8) & np.uint64(0xFFFFFFFF00000000)).view(f8)


def reciprocal64(x: Array) -> Array:
    """rcp.approx.ftz.f64: the upper word of 1/x, subnormal numbers taken and given as 0."""
    return _upper_word(1.0 / _flushed64(truncated64(x)))


def inverse_root64(x: Array) -> Array:
    """rsqrt.approx.ftz.f64."""
    return _upper_word(1.0 / np.sqrt(_flushed64(truncated64(x))))


def _upper_word(x: Array) -> Array:
    """Rounded to the upper word, which is all ones but the sign of a NaN."""
    near = truncated64((x.view(u8) + np.uint64(1 << 31)).view(f8))
    near = np.where(np.isfinite(x), near, x)
    return _flushed64(np.where(np.isnan(x), np.uint64(0x7FFFFFFF00000000), near.view(u8))[()].view(f8))


def _flushed64(x: Array) -> Array:
    return np.where(np.abs(x) < np.finfo(f8).tiny, np.copysign(0.0, x), x)[()]
