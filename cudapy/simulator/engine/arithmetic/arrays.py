"""NumPy types by name, and helpers for operands that are arrays or scalars."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..aliases import I64, Array

_P = ParamSpec("_P")
_R = TypeVar("_R")
u1, u2, u4, u8 = (np.dtype(f"u{size}") for size in (1, 2, 4, 8))
i1, i2, i4, i8 = (np.dtype(f"i{size}") for size in (1, 2, 4, 8))
f2, f4, f8 = (np.dtype(f"f{size}") for size in (2, 4, 8))
b1 = np.dtype("?")

UNSIGNED = {1: u1, 2: u2, 4: u4, 8: u8}
SIGNED = {1: i1, 2: i2, 4: i4, 8: i8}
FLOATS = {2: f2, 4: f4, 8: f8}


def _converter(dtype: np.dtype[Any]) -> Callable[[Any], Any]:
    low, mask, make = int(np.iinfo(dtype).min), (1 << 8 * dtype.itemsize) - 1, dtype.type
    return lambda x: make((int(x) - low & mask) + low)


one_i1, one_i2, one_i4, one_i8, one_u1, one_u2, one_u4, one_u8 = (
    _converter(dtype) for dtype in (i1, i2, i4, i8, u1, u2, u4, u8)
)
"""One whole number as that type, modulo its range; `view` and `astype` take five times as long."""


def part(value: Array, lanes: I64) -> Array:
    """The values of some lanes; a scalar is that of all of them."""
    return value.take(lanes) if value.ndim else value


def choose(condition: Array, a: Any, b: Any) -> Array:
    """`a` where the condition holds, else `b`, bit for bit."""
    if not condition.ndim:
        return a if condition else b
    return np.where(condition, a, b)


_PIECE = 4096
"""Lanes of an operation of many steps, whose arrays of 8 bytes a lane then stay in the processor's cache."""


def in_pieces(function: Callable[..., Array], *operands: Array) -> Array:
    """`function` of arrays of one length, computed piece after piece."""
    length = len(operands[0])
    if length <= _PIECE:
        return function(*operands)
    return np.concatenate(
        [function(*[one[i : i + _PIECE] for one in operands]) for i in range(0, length, _PIECE)]
    )


def arrays(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Give `function` arrays of one length, whatever mixture of arrays and scalars comes; scalars give a
    scalar.
    """
    call: Callable[..., Any] = function

    @functools.wraps(function)
    def wrapped(*operands: Any, **options: Any) -> Any:
        length = 0
        for operand in operands:
            if operand.ndim:
                length = len(operand)
                break
        if length:
            return call(
                *[one if one.ndim else np.broadcast_to(one, (length,)) for one in operands], **options
            )
        result = call(*[one.reshape(1) for one in operands], **options)
        return tuple(one[0] for one in result) if isinstance(result, tuple) else result[0]

    return wrapped
