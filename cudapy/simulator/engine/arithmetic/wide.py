"""128 bits: kept as complex numbers, which nobody computes with, and taken apart into words of 64."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .arrays import u8

if TYPE_CHECKING:
    from ..aliases import Array

c16 = np.dtype("c16")


def join128(low: Array, high: Array) -> Array:
    words = np.stack(np.broadcast_arrays(low, high), -1)
    return words.view(c16)[..., 0][()]


def halves128(x: Array) -> tuple[Array, Array]:
    """The lower and the upper word."""
    words = np.ascontiguousarray(x).reshape(-1).view(u8).reshape(-1, 2)
    return (words[:, 0], words[:, 1]) if x.ndim else (words[0, 0], words[0, 1])
