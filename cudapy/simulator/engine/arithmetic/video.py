"""Video instructions: integers of parts of words, kept exactly, clamped, and combined with a third operand.

Source: PTX ISA, "Scalar Video Instructions", "SIMD Video Instructions".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .arrays import arrays, i8, u1, u2, u4, u8

if TYPE_CHECKING:
    from ..aliases import Array, Function

_ORDERS = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater}
_ORDERS["ge"] = np.greater_equal
_MINIMA = {"min": np.minimum, "max": np.maximum}


_USUAL = {2: ("10", "10", "32"), 4: ("3210", "3210", "7654")}
"""The lanes of the result, the first and the second operand, if an instruction does not say."""


def _average(a: Array, b: Array) -> Array:
    """Halves are rounded away from zero."""
    total = a + b
    return total + (total >= 0) >> 1


_OPERATIONS: dict[str, Function] = {
    "add": np.add,
    "sub": np.subtract,
    "absdiff": lambda a, b: np.abs(a - b),
    "avrg": _average,
    **_MINIMA,
}


def _extended(a: Array, bits: int, signed: bool) -> Array:
    """The lowest `bits` of a number, with its sign or zeros in front."""
    a = a & ((1 << bits) - 1)
    return (a ^ 1 << bits - 1) - (1 << bits - 1) if signed else a


def _place(part: str) -> tuple[int, int]:
    """Where a part such as "b3" or "h1" begins, and how many bits it has; "" is all."""
    if not part:
        return 0, 32
    bits = 8 if part[0] == "b" else 16
    return bits * int(part[1]), bits


def _clamped(x: Array, bits: int, signed: bool) -> Array:
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    return np.clip(x, low, high)


def _word(x: Array) -> Array:
    return x.astype(u8).astype(u4)


def _finish(x: Array, c: Array, part: str, signed: bool, saturates: bool, then: str) -> Array:
    """Clamp a result, and combine it with the third operand: by `then`, or put a part of it there."""
    start, bits = _place(part)
    if saturates:
        x = _clamped(x, bits, signed)
    if then:
        x, c = _extended(x, 32, signed), _extended(c.astype(i8), 32, signed)
        return _word(x + c if then == "add" else _MINIMA[then](x, c))
    if part:
        mask = (1 << bits) - 1
        return _word(c.astype(i8) & ~(mask << start) | (x & mask) << start)
    return _word(x)


@arrays
def video(
    a: Array,
    b: Array,
    c: Array,
    name: str,
    signs: str,
    parts: tuple[str, str, str],
    saturates: bool,
    then: str,
) -> Array:
    """vadd, vsub, vabsdiff, vmin, vmax, vset: `signs` of result and operands ("u" or "s"), their parts."""
    x, y = (
        _extended(one.astype(i8) >> _place(part)[0], _place(part)[1], sign == "s")
        for one, part, sign in zip((a, b), parts[1:], signs[1:], strict=True)
    )
    result = _ORDERS[name](x, y).astype(i8) if name in _ORDERS else _OPERATIONS[name](x, y)
    return _finish(result, c, parts[0], signs[0] == "s", saturates, then)


@arrays
def video_shift(
    a: Array,
    b: Array,
    c: Array,
    name: str,
    signs: str,
    parts: tuple[str, str, str],
    saturates: bool,
    wraps: bool,
    then: str,
) -> Array:
    """vshl and vshr: by at most 32, or modulo 32."""
    x, n = (
        _extended(one.astype(i8) >> _place(part)[0], _place(part)[1], sign == "s")
        for one, part, sign in zip((a, b), parts[1:], signs[1:], strict=True)
    )
    n = n & 31 if wraps else np.minimum(n, 32)
    exact = x >> n if name == "shr" else x << np.minimum(n, 30) << n - np.minimum(n, 30)
    return _finish(exact, c, parts[0], signs[0] == "s", saturates, then)


@arrays
def video_multiply_add(
    a: Array,
    b: Array,
    c: Array,
    signs: str,
    parts: tuple[str, str, str],
    saturates: bool,
    shift: int,
    more: int,
) -> Array:
    """vmad: a * b + c (+ 1), shifted right; 64 bits hold it, 128 are not needed."""
    x, y = (
        _extended(one.astype(i8) >> _place(part)[0], _place(part)[1], sign == "s")
        for one, part, sign in zip((a, b), parts[1:], signs[1:], strict=True)
    )
    signed = "s" in signs
    total = x * y + _extended(c.astype(i8), 32, signed) + more
    if not signed:  # up to 64 bits
        return _unsigned_end(total.view(u8) >> np.uint64(shift), saturates)
    return _finish(total >> shift, c, "", signs[0] == "s", saturates, "")


def _unsigned_end(total: Array, saturates: bool) -> Array:
    return (np.minimum(total, np.uint64(0xFFFFFFFF)) if saturates else total).astype(u4)


@arrays
def video_lanes(
    a: Array,
    b: Array,
    c: Array,
    name: str,
    signs: str,
    count: int,
    parts: tuple[str, str, str],
    saturates: bool = False,
    adds: bool = False,
) -> Array:
    """vadd2, vset4 ...: `count` lanes; `parts` are those that are written, and those of (b, a) that
    each of the two operands is made of, from the last to the first, as "h10"; "" are all, or its own.
    """
    usual = _USUAL[count]
    chosen = [part[1:] or whole for part, whole in zip(parts, usual, strict=True)]
    bits = 32 // count
    both = np.ascontiguousarray(np.stack([a, b], 1)).view(u2 if count == 2 else u1).astype(i8)
    x, y = (
        _extended(both[:, [int(digit) for digit in reversed(lanes)]], bits, sign == "s")
        for lanes, sign in zip(chosen[1:], signs[1:], strict=True)
    )
    result = _ORDERS[name](x, y).astype(i8) if name in _ORDERS else _OPERATIONS[name](x, y)
    if saturates:
        result = _clamped(result, bits, signs[0] == "s")
    written = np.array([str(lane) in chosen[0] for lane in range(count)])
    if adds:
        return _word(np.where(written, result, 0).sum(1) + c.astype(i8))
    old = np.ascontiguousarray(c).view(u2 if count == 2 else u1).reshape(-1, count)
    merged = np.where(written, result.astype(u8).astype(old.dtype), old)
    return np.ascontiguousarray(merged).view(u4)[:, 0]
