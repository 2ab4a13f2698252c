"""Parts of matrices in the registers of a warp: as numbers, as bits, and where they lie."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..ptx.types import TYPES
from .rounding import bfloat_to_single, to_bfloat
from .small import FLOATS

if TYPE_CHECKING:
    from ..aliases import I64, U32, Array

REGISTER_DTYPES = {"f64": "f8", "f32": "f4", "s32": "i4"}
"""The NumPy type of a register that holds one element; others hold several in a word."""
LANES = np.arange(32)
GROUP, MEMBER = LANES // 4, LANES % 4


SMALL = {"e4m3": 8, "e5m2": 8, "s4": 4, "u4": 4, "b1": 1}
"""The bits of elements that are not a type of PTX of their own."""


def elements(kind: str) -> int:
    """How many elements a register holds."""
    return 32 // SMALL[kind] if kind in SMALL else max(4 // TYPES[kind].size, 1)


def _parts(words: U32, bits: int, signed: bool) -> I64:
    """The integers of `bits` bits in words (warp, lane, register), from the lowest on."""
    shifts = np.arange(0, 32, bits)
    parts = (words[..., None].astype(np.int64) >> shifts) & (1 << bits) - 1
    if signed:
        parts = (parts ^ 1 << bits - 1) - (1 << bits - 1)
    return parts.reshape(*words.shape[:2], -1)


def unpacked(kind: str, registers: Array) -> Array:
    """The numbers in registers (warp, lane, register): (warp, lane, register * element)."""
    warps, lanes, _ = registers.shape
    if kind in FLOATS:
        return FLOATS[kind].numbers[np.ascontiguousarray(registers).view(np.uint8).reshape(warps, lanes, -1)]
    if kind in SMALL:
        return _parts(registers, SMALL[kind], kind[0] == "s")
    size = TYPES[kind].size
    items = np.ascontiguousarray(registers).view(f"u{size}").reshape(warps, lanes, -1)
    if kind == "bf16":
        return bfloat_to_single(items).astype(np.float64)
    numbers = items.view(TYPES[kind].code)
    return numbers.astype(np.int64 if TYPES[kind].kind in "us" else np.float64)


def packed(kind: str, values: Array) -> Array:
    """The reverse: registers of a type that holds such elements."""
    warps, lanes, _ = values.shape
    with np.errstate(all="ignore"):
        if kind == "bf16":
            items = to_bfloat(values)
        elif TYPES[kind].kind in "us":
            items = values.astype(np.uint64).astype(f"u{TYPES[kind].size}")
        else:
            items = values.astype(TYPES[kind].code)
    return np.ascontiguousarray(items).view(REGISTER_DTYPES.get(kind, "u4")).reshape(warps, lanes, -1)


def positions(which: str, elements: int, count: int) -> tuple[I64, I64]:
    """Row and column, by lane and element, of a part of mma; `elements` of them share a register."""
    number = np.arange(count)
    register, inner = number // elements, number % elements
    group, member = GROUP[:, None], MEMBER[:, None]
    if which == "a":
        return group + 8 * (register % 2), member * elements + inner + register // 2 * 4 * elements
    if which == "b":
        return member * elements + inner + register * 4 * elements, group + 0 * inner
    return group + number // 2 * 8, member * 2 + number % 2


def placed(which: str, kind: str, values: Array, size: tuple[int, int]) -> Array:
    """The whole matrices (warp, row, column) of parts of mma."""
    full = np.zeros((len(values), *size), values.dtype)
    rows, columns = positions(which, elements(kind), values.shape[2])
    full[:, rows, columns] = values
    return full


def kept_columns(kind: str, depth: int, words: U32, selector: int) -> I64:
    """Of sparse matrices of 16 rows and `depth` columns which columns are kept: (warp, row, kept column).

    `words` (warp, lane) have four bits for each four columns: the numbers of the two of them that are kept.
    Columns of 4 bits count by twos, those of tf32 by halves. `selector` says which threads of four have them.
    """
    columns = {"tf32": 2, "s4": 8, "u4": 8}.get(kind, 4)  # that four bits speak of
    nibbles = words.reshape(-1, 8, 4)[..., None] >> np.arange(0, 32, 4, dtype=np.uint32) & 15
    each = 4 if kind in ("f16", "bf16", "tf32") else 8  # a word is of two rows, or two words are
    threads = depth // columns // 4  # that say it, of each four
    chosen = nibbles[:, :, selector * threads : (selector + 1) * threads]
    rows = chosen.reshape(len(words), 8, -1, 2, each).transpose(0, 3, 1, 2, 4)  # the second is eight below
    selectors = rows.reshape(len(words), 16, -1).astype(np.int64)
    low, high = selectors & 3, selectors >> 2
    if columns == 2:
        places = (high >> 1)[..., None]
    elif columns == 8:
        places = np.stack([2 * low, 2 * low + 1, 2 * high, 2 * high + 1], 3)
    else:
        places = np.stack([low, high], 3)
    starts = columns * np.arange(selectors.shape[2])
    return (places + starts[:, None]).reshape(len(words), 16, -1)


def sparse_product(a: Array, b: Array, c: Array, columns: I64, clamps: bool) -> Array:
    """a * b + c, where a has the kept columns of each row."""
    with np.errstate(all="ignore"):
        rows = [
            np.matmul(a[:, row, None], np.take_along_axis(b, columns[:, row, :, None], 1))[:, 0]
            for row in range(a.shape[1])
        ]
        return clamped(np.stack(rows, 1) + c, clamps)


def clamped(result: Array, clamps: bool) -> Array:
    """.satfinite"""
    return np.clip(result, -(2**31), 2**31 - 1) if clamps else result


def product(whole: list[Array], clamps: bool, bits: str = "") -> Array:
    """a * b + c; of bits the number of ones in the sums' terms, which are a and b, or a xor b."""
    a, b, c = whole
    with np.errstate(all="ignore"):
        result = np.matmul(a, b)
        if bits == "xor":
            result = a.sum(2)[:, :, None] + b.sum(1)[:, None, :] - 2 * result
        return clamped(result + c, clamps)


def by_register(registers: Array, count: int, code: str | None = None) -> list[Array]:
    """Each register as an array over the lanes; the first ones again for those that are more."""
    flat = registers.reshape(-1, registers.shape[2])
    arrays = [np.ascontiguousarray(flat[:, place % flat.shape[1]]) for place in range(count)]
    return [one.view(code) for one in arrays] if code else arrays
