"""Rounding in each of the four modes of PTX: rn, rz, rm, rp.

A result that binary64 cannot hold is kept as binary64 rounded to odd (the last bit says that something was
lost); rounding that once more to at most 51 bits gives what rounding the exact result would.
Source: S. Boldo, G. Melquiond, "Emulation of FMA and correctly rounded sums", IEEE Trans. Computers 57
(2008).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .arrays import f4, f8, u2, u4, u8

if TYPE_CHECKING:
    from ..aliases import Array, DType

_ONE = np.uint64(1)


def two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """The rounded sum and its exact error. Source: D. Knuth, TAOCP 2, 4.2.2."""
    s = a + b
    bb = s - a
    return s, (a - (s - bb)) + (b - bb)


def to_odd(s: Array, error: Array) -> Array:
    """s + error rounded to odd; s is that sum rounded to nearest."""
    bits = s.view(u8)
    inexact = (error != 0) & np.isfinite(s) & (bits & _ONE == 0)
    away = (error > 0) == (s > 0)
    return np.where(inexact, np.where(away, bits + _ONE, bits - _ONE), bits)[()].view(f8)


def step(r: Array, error: Array, rnd: str | None) -> Array:
    """The result `r` to nearest, whose exact value lies on the side of `error`, in another mode."""
    infinity = r.dtype.type(np.inf)
    if rnd in (None, "rn"):
        return r
    if rnd == "rm":
        return np.where(error < 0, np.nextafter(r, -infinity), r)[()]
    if rnd == "rp":
        return np.where(error > 0, np.nextafter(r, infinity), r)[()]
    inward = ((r > 0) & (error < 0)) | ((r < 0) & (error > 0))
    return np.where(inward, np.nextafter(r, r.dtype.type(0)), r)[()]


def narrow(x: Array, dtype: DType, rnd: str | None = "rn") -> Array:
    """A binary64 value, exact or rounded to odd, in a narrower format."""
    r = x.astype(dtype)
    if rnd in (None, "rn"):
        return r
    wide = r.astype(f8)
    return step(r, np.where(wide == x, 0.0, np.where(wide > x, -1.0, 1.0)), rnd)


def bfloat_to_single(a: Array) -> Array:
    return (a.astype(u4) << np.uint32(16)).view(f4)


def single_to_odd(x: Array) -> Array:
    """A binary64 value, exact or rounded to odd, as binary32 rounded to odd."""
    toward_zero = narrow(x, f4, "rz")
    lost = (toward_zero.astype(f8) != x) & ~np.isnan(x)
    return np.where(lost, toward_zero.view(u4) | np.uint32(1), toward_zero.view(u4))[()].view(f4)


def single_to_bfloat(x: Array, rnd: str | None = "rn") -> Array:
    """Binary32 (exact, or rounded to odd) as bfloat16; NaN becomes 0x7fff."""
    bits = x.view(u4)
    if rnd in (None, "rn"):
        even = bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
        rounded = (even >> np.uint32(16)).astype(u2)
    else:
        outward = {"rz": False, "rm": np.signbit(x), "rp": ~np.signbit(x)}[rnd]
        up = outward & ((bits & np.uint32(0xFFFF)) != 0) & np.isfinite(x)
        rounded = ((bits >> np.uint32(16)) + up).astype(u2)
    return np.where(np.isnan(x), np.uint16(0x7FFF), rounded)[()]


def to_bfloat(x: Array, rnd: str | None = "rn") -> Array:
    """A binary64 value, exact or rounded to odd, as bfloat16."""
    return single_to_bfloat(single_to_odd(x), rnd)
