"""Parts of matrices in the registers of a warp: as numbers, as bits, and where they lie."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arithmetic.rounding import bfloat_to_single, to_bfloat
from ..arithmetic.small import FLOATS
from ..ptx.types import TYPES

HELD = {"f64": "f8", "f32": "f4", "s32": "i4"}
"""The NumPy type of a register that holds one element; others hold several in a word."""
LANES = np.arange(32)
GROUP, MEMBER = LANES // 4, LANES % 4


def unpacked(kind: str, registers: Any) -> Any:
    """The numbers in registers (warp, lane, register): (warp, lane, register * element)."""
    warps, lanes, _ = registers.shape
    if kind in FLOATS:
        return FLOATS[kind].numbers[np.ascontiguousarray(registers).view(np.uint8).reshape(warps, lanes, -1)]
    size = TYPES[kind].size
    items = np.ascontiguousarray(registers).view(f"u{size}").reshape(warps, lanes, -1)
    if kind == "bf16":
        return bfloat_to_single(items).astype(np.float64)
    numbers = items.view(TYPES[kind].code)
    return numbers.astype(np.int64 if TYPES[kind].kind in "us" else np.float64)


def packed(kind: str, values: Any) -> Any:
    """The reverse: registers of a type that holds such elements."""
    warps, lanes, _ = values.shape
    with np.errstate(all="ignore"):
        if kind == "bf16":
            items = to_bfloat(values)
        elif TYPES[kind].kind in "us":
            items = values.astype(np.uint64).astype(f"u{TYPES[kind].size}")
        else:
            items = values.astype(TYPES[kind].code)
    return np.ascontiguousarray(items).view(HELD.get(kind, "u4")).reshape(warps, lanes, -1)


def positions(which: str, elements: int, count: int) -> tuple[Any, Any]:
    """Row and column, by lane and element, of a part of mma; `elements` of them share a register."""
    number = np.arange(count)
    register, inner = number // elements, number % elements
    group, member = GROUP[:, None], MEMBER[:, None]
    if which == "a":
        return group + 8 * (register % 2), member * elements + inner + register // 2 * 4 * elements
    if which == "b":
        return member * elements + inner + register * 4 * elements, group + 0 * inner
    return group + number // 2 * 8, member * 2 + number % 2


def product(whole: list[Any], clamps: bool) -> Any:
    a, b, c = whole
    with np.errstate(all="ignore"):
        result = np.matmul(a, b) + c
    return np.clip(result, -(2**31), 2**31 - 1) if clamps else result


def by_register(registers: Any, count: int, held: str | None = None) -> list[Any]:
    """Each register as an array over the lanes; the first ones again for those that are more."""
    flat = registers.reshape(-1, registers.shape[2])
    arrays = [np.ascontiguousarray(flat[:, place % flat.shape[1]]) for place in range(count)]
    return [one.view(held) for one in arrays] if held else arrays
