"""Inputs of kernels, the same in each run, and the number formats that NumPy has not."""

from __future__ import annotations

from typing import Any

import numpy as np

f16, f32, f64 = np.float16, np.float32, np.float64
i8, u8, i16, u16, i32, u32, i64, u64 = (
    np.dtype(c).type for c in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")
)
Array = np.ndarray[Any, Any]


def integers(low: int, high: int, shape: Any, dtype: Any = i32, seed: int = 0) -> Array:
    """Random integers from `low` up to, without, `high`."""
    return np.random.default_rng(seed).integers(low, high, shape).astype(dtype)


def floats(shape: Any, dtype: Any = f32, low: float = -1, high: float = 1, seed: int = 0) -> Array:
    """Random numbers between `low` and `high`."""
    return np.random.default_rng(seed).uniform(low, high, shape).astype(dtype)


def zeros(shape: Any, dtype: Any = f32) -> Array:
    """What a kernel is to write, or to add to."""
    return np.zeros(shape, dtype)


def to_bf16(values: Array) -> Array:
    """The bits of bfloat16, rounded to nearest even."""
    bits = np.asarray(values, f32).view(u32).astype(u64)
    return ((bits + 0x7FFF + (bits >> u64(16) & u64(1))) >> u64(16)).astype(u16)


def from_bf16(bits: Array) -> Array:
    """The values of bits of bfloat16."""
    return (bits.astype(u32) << u32(16)).view(f32)


def e4m3_values() -> Array:
    """The values of the 256 bytes of e4m3 (OCP 8-bit Floating Point Specification): 0x7f and 0xff are NaN."""
    byte = np.arange(256)
    exponent, fraction = byte >> 3 & 15, byte & 7
    value = np.where(
        exponent == 0, fraction * 2.0**-9, (1 + fraction / 8) * 2.0 ** (exponent.astype(f64) - 7)
    )
    value = np.where(byte & 127 == 127, np.nan, value)
    return np.where(byte & 128, -value, value).astype(f32)


def e5m2_values() -> Array:
    """The values of the 256 bytes of e5m2: the upper halves of binary16."""
    return (np.arange(256, dtype=u16) << u16(8)).view(f16).astype(f32)


def same(got: Array, want: Any) -> None:
    """Equal, item by item; NaNs are equal."""
    np.testing.assert_array_equal(got, want)


def near(got: Array, want: Any, relative: float = 1e-5, absolute: float = 1e-6) -> None:
    """As close as is asked for; neither is NaN where the other is not."""
    np.testing.assert_allclose(got, want, rtol=relative, atol=absolute)
