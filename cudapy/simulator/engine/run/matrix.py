"""Matrices that the threads of a warp hold in their registers.

The parts of mma and ldmatrix lie as the manual says. Those of wmma are nobody's business but the device's:
here element n of a tile, row after row, is in thread n / (elements of a thread); registers beyond that repeat
the first.
Products are summed in binary64 (integers exactly) and rounded once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import fault
from ..arithmetic.rounding import bfloat_to_single, to_bfloat
from ..ptx.types import TYPES
from .access import READ, WRITE, Access, put

_LANES = np.arange(32)
_GROUP, _MEMBER = _LANES // 4, _LANES % 4


def _values(kind: str, registers: Any) -> Any:
    """The numbers in registers (warp, lane, register): (warp, lane, register * element)."""
    warps, lanes, _ = registers.shape
    size = TYPES[kind].size
    items = np.ascontiguousarray(registers).view(f"u{size}").reshape(warps, lanes, -1)
    if kind == "bf16":
        return bfloat_to_single(items).astype(np.float64)
    values = items.view(TYPES[kind].code)
    return values.astype(np.int64 if TYPES[kind].kind in "us" else np.float64)


def _packed(kind: str, values: Any) -> Any:
    """The reverse: registers of a type that holds such elements."""
    warps, lanes, _ = values.shape
    with np.errstate(all="ignore"):
        if kind == "bf16":
            items = to_bfloat(values)
        elif TYPES[kind].kind in "us":
            items = values.astype(np.uint64).astype(f"u{TYPES[kind].size}")
        else:
            items = values.astype(TYPES[kind].code)
    held = {"f64": "f8", "f32": "f4", "s32": "i4"}.get(kind, "u4")
    return np.ascontiguousarray(items).view(held).reshape(warps, lanes, -1)


def _places(which: str, elements: int, count: int) -> tuple[Any, Any]:
    """Row and column, by lane and element, of a part of mma; `elements` of them share a register."""
    number = np.arange(count)
    register, inner = number // elements, number % elements
    group, member = _GROUP[:, None], _MEMBER[:, None]
    if which == "a":
        return group + 8 * (register % 2), member * elements + inner + register // 2 * 4 * elements
    if which == "b":
        return member * elements + inner + register * 4 * elements, group + 0 * inner
    return group + number // 2 * 8, member * 2 + number % 2


class Matrices(Access):
    """The part of a batch that multiplies matrices. `lanes` are whole warps."""

    def _by_warp(self, values: tuple[Any, ...], lanes: Any, number: int) -> Any:
        """Registers as (warp, lane, register)."""
        total = len(self._whole_warps(lanes, number))
        stacked = np.stack([np.broadcast_to(one, (total,)) for one in values], 1)
        return stacked.reshape(-1, 32, len(values))

    def _whole_warps(self, lanes: Any, number: int) -> Any:
        numbers = self.numbers(lanes)
        if self.threads % 32:
            text = "A matrix instruction in a warp of fewer than 32 threads"
            self.fail(fault.ILLEGAL_INSTRUCTION, text, number, lanes, True)
        return numbers

    def load_rows(self, a: Any, count: int, transposed: bool, lanes: Any, number: int) -> list[Any]:
        """ldmatrix: `count` arrays of words."""
        numbers = self._whole_warps(lanes, number).reshape(-1, 32)[:, : 8 * count]
        addresses = np.broadcast_to(a, (numbers.shape[0] * 32,)).reshape(-1, 32)[:, : 8 * count]
        word = np.dtype("u4")
        array, index = self.at_shared(addresses.ravel(), word, 4, numbers.ravel(), number, READ)
        words = np.stack([array.take(index + step) for step in range(4)], 1)
        matrices = words.view(np.uint16).reshape(-1, count, 8, 8)
        if transposed:
            matrices = matrices.swapaxes(2, 3)
        pairs = np.ascontiguousarray(matrices).view(word)
        return [np.ascontiguousarray(pairs[:, one, _GROUP, _MEMBER].ravel()) for one in range(count)]

    def multiply_matrices(
        self,
        shape: tuple[int, int, int],
        kinds: tuple[str, str, str, str],
        a: tuple[Any, ...],
        b: tuple[Any, ...],
        c: tuple[Any, ...],
        count: int,
        clamps: bool,
        lanes: Any,
        number: int,
    ) -> list[Any]:
        """mma."""
        m, n, k = shape
        whole = []
        for which, kind, registers, size in (
            ("a", kinds[1], a, (m, k)),
            ("b", kinds[2], b, (k, n)),
            ("c", kinds[3], c, (m, n)),
        ):
            values = _values(kind, self._by_warp(registers, lanes, number))
            full = np.zeros((len(values), *size), values.dtype)
            rows, columns = _places(which, max(4 // TYPES[kind].size, 1), values.shape[2])
            full[:, rows, columns] = values
            whole.append(full)
        result = _product(whole, clamps)
        rows, columns = _places("d", 1, m * n // 32)
        return _columns(_packed(kinds[0], result[:, rows, columns]), count)

    def multiply_tiles(
        self,
        shape: tuple[int, int, int],
        kinds: tuple[str, str, str, str],
        a: tuple[Any, ...],
        b: tuple[Any, ...],
        c: tuple[Any, ...],
        count: int,
        clamps: bool,
        lanes: Any,
        number: int,
    ) -> list[Any]:
        """wmma.mma."""
        m, n, k = shape
        whole = []
        for kind, registers, size in ((kinds[1], a, (m, k)), (kinds[2], b, (k, n)), (kinds[3], c, (m, n))):
            values = _values(kind, self._by_warp(registers, lanes, number))
            each = size[0] * size[1] // 32
            whole.append(values[:, :, :each].reshape(-1, *size))
        result = _product(whole, clamps).reshape(-1, 32, m * n // 32)
        return _columns(_packed(kinds[0], result), count)

    def load_tile(
        self,
        a: Any,
        stride: Any,
        shape: tuple[int, int, int],
        which: str,
        is_row: bool,
        kind: str,
        space: str,
        count: int,
        lanes: Any,
        number: int,
    ) -> list[Any]:
        """wmma.load."""
        dtype, offsets = _tile(shape, which, is_row, kind, stride, self._whole_warps(lanes, number))
        numbers = self.numbers(lanes)
        values = []
        for step in range(offsets.shape[1]):
            address = a + offsets[:, step]
            array, index = getattr(self, f"at_{space}")(address, dtype, 1, numbers, number, READ)
            values.append(array.take(index))
        held = np.dtype({"f64": "u8", "f32": "u4", "s32": "u4"}.get(kind, "u4"))
        words = np.ascontiguousarray(np.stack(values, 1)).view(held)
        return _columns(
            words.reshape(-1, 32, words.shape[1]), count, {"f64": "f8", "f32": "f4", "s32": "i4"}.get(kind)
        )

    def store_tile(
        self,
        a: Any,
        stride: Any,
        shape: tuple[int, int, int],
        which: str,
        is_row: bool,
        kind: str,
        space: str,
        values: tuple[Any, ...],
        lanes: Any,
        number: int,
    ) -> None:
        """wmma.store."""
        dtype, offsets = _tile(shape, which, is_row, kind, stride, self._whole_warps(lanes, number))
        numbers = self.numbers(lanes)
        words = np.stack([np.broadcast_to(one, numbers.shape) for one in values], 1)
        items = np.ascontiguousarray(words).view(dtype)
        for step in range(offsets.shape[1]):
            address = a + offsets[:, step]
            array, index = getattr(self, f"at_{space}")(address, dtype, 1, numbers, number, WRITE)
            put(array, index, np.ascontiguousarray(items[:, step]))


def _tile(
    shape: tuple[int, int, int], which: str, is_row: bool, kind: str, stride: Any, numbers: Any
) -> tuple[Any, Any]:
    """The type of an element in memory, and where those of each lane lie, in bytes from the tile's start."""
    m, n, k = shape
    rows, columns = {"a": (m, k), "b": (k, n)}.get(which, (m, n))
    each = rows * columns // 32
    element = _LANES[:, None] * each + np.arange(each)
    row, column = element // columns, element % columns
    line = np.uint64(columns if is_row else rows) if stride is None else stride.astype(np.uint64)
    major, minor = (row, column) if is_row else (column, row)
    repeated = (len(numbers) // 32, 1)
    outer, inner = np.tile(major.astype(np.uint64), repeated), np.tile(minor.astype(np.uint64), repeated)
    lines = line[:, None] if line.ndim else line
    size = TYPES[kind].size
    return np.dtype(f"u{size}"), (outer * lines + inner) * np.uint64(size)


def _product(whole: list[Any], clamps: bool) -> Any:
    a, b, c = whole
    with np.errstate(all="ignore"):
        result = np.matmul(a, b) + c
    return np.clip(result, -(2**31), 2**31 - 1) if clamps else result


def _columns(registers: Any, count: int, held: str | None = None) -> list[Any]:
    """Each register as an array over the lanes; the first ones again for those that are more."""
    flat = registers.reshape(-1, registers.shape[2])
    arrays = [np.ascontiguousarray(flat[:, place % flat.shape[1]]) for place in range(count)]
    return [one.view(held) for one in arrays] if held else arrays
