"""Matrices that the threads of a warp hold in their registers.

The parts of mma and ldmatrix lie as the manual says. Those of wmma are nobody's business but the device's:
here element n of a tile, row after row, is in thread n / (elements of a thread); registers beyond that repeat
the first.
Products are summed in binary64 (integers exactly) and rounded once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import fault
from ..access import READ, WRITE, accessed, put
from ..arithmetic.fragments import (
    GROUP,
    LANES,
    MEMBER,
    REGISTER_DTYPES,
    SMALL,
    by_register,
    elements,
    kept_columns,
    packed,
    placed,
    positions,
    product,
    sparse_product,
    unpacked,
)
from ..ptx.types import TYPES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..access import Places
    from ..aliases import I64, U32, U64, Array, Lanes
    from ..instructions.forms import MatrixProduct, Tile
    from .report import Reporter
    from .spaces import Spaces
    from .threads import Threads

_WORD = np.dtype("u4")


class Matrices:
    """The matrices of a batch's warps. `lanes` are whole warps."""

    def __init__(self, threads: Threads, report: Reporter, spaces: Spaces) -> None:
        self._threads, self._report, self._spaces = threads, report, spaces

    def by_warp(self, values: tuple[Array, ...], lanes: Lanes, number: int) -> Array:
        """Registers as (warp, lane, register)."""
        total = len(self.whole_warps(lanes, number))
        stacked = np.stack([np.broadcast_to(one, (total,)) for one in values], 1)
        return stacked.reshape(-1, 32, len(values))

    def whole_warps(self, lanes: Lanes, number: int) -> I64:
        numbers = self._threads.numbers(lanes)
        if self._threads.per_block % 32:
            text = "A matrix instruction in a warp of fewer than 32 threads"
            self._report.fail(fault.ILLEGAL_INSTRUCTION, text, number, lanes, True)
        return numbers

    def load_rows(
        self, a: U64, count: int, space: str, transposed: bool, lanes: Lanes, number: int
    ) -> list[Array]:
        """ldmatrix: `count` arrays of words."""
        array, index = self._rows(a, count, space, lanes, number, READ)
        words = np.stack([array.take(index + step) for step in range(4)], 1)
        matrices: Array = words.view(np.uint16).reshape(-1, count, 8, 8)
        if transposed:
            matrices = matrices.swapaxes(2, 3)
        pairs = np.ascontiguousarray(matrices).view(_WORD)
        return [np.ascontiguousarray(pairs[:, one, GROUP, MEMBER].ravel()) for one in range(count)]

    def store_rows(
        self, a: U64, values: tuple[Array, ...], space: str, transposed: bool, lanes: Lanes, number: int
    ) -> None:
        """stmatrix: the words of each lane to rows that lanes say."""
        pairs = self.by_warp(values, lanes, number).swapaxes(1, 2).reshape(-1, len(values), 8, 4)
        matrices = np.ascontiguousarray(pairs).view(np.uint16)
        if transposed:
            matrices = matrices.swapaxes(2, 3)
        rows = np.ascontiguousarray(matrices).view(_WORD).reshape(-1, 4)
        words = [np.ascontiguousarray(rows[:, step]) for step in range(4)]
        array, index = self._rows(a, len(values), space, lanes, number, WRITE, *words)
        for step, word in enumerate(words):
            put(array, index + step, word)

    def _rows(
        self, a: U64, count: int, space: str, lanes: Lanes, number: int, mode: int, *words: Array
    ) -> Places:
        """Where the rows of `count` matrices lie: eight addresses of each, of the first lanes of a warp.

        words: what is to be stored there.
        """
        numbers = self.whole_warps(lanes, number).reshape(-1, 32)[:, : 8 * count]
        addresses = np.broadcast_to(a, (numbers.shape[0] * 32,)).reshape(-1, 32)[:, : 8 * count]
        access = accessed(_WORD, 4, number, mode)
        return self._spaces.at(space, addresses.ravel(), access, numbers.ravel(), *words)

    def multiply(
        self,
        form: MatrixProduct,
        parts: tuple[tuple[Array, ...], ...],
        lanes: Lanes,
        number: int,
    ) -> list[Array]:
        """mma and wmma.mma. `parts`: the registers of a, b and c."""
        (m, n, k), kinds, is_tiled = form.shape, form.kinds, form.is_tiled
        whole: list[Array] = []
        for which, kind, registers, size in zip(
            "abc", kinds[1:], parts, ((m, k), (k, n), (m, n)), strict=True
        ):
            values = unpacked(kind, self.by_warp(registers, lanes, number))
            if is_tiled and kind in SMALL and which == "b":  # words lie along the sum
                words = values.reshape(-1, k // elements(kind), n, elements(kind))
                whole.append(words.swapaxes(2, 3).reshape(-1, k, n))
                continue
            if is_tiled:
                whole.append(values[:, :, : size[0] * size[1] // 32].reshape(-1, *size))
                continue
            whole.append(placed(which, kind, values, size))
        result = product(whole, form.clamps, form.bits)
        if is_tiled:
            return by_register(packed(kinds[0], result.reshape(-1, 32, m * n // 32)), form.registers)
        rows, columns = positions("d", 1, m * n // 32)
        return by_register(packed(kinds[0], result[:, rows, columns]), form.registers)

    def multiply_sparse(
        self,
        form: MatrixProduct,
        parts: tuple[tuple[Array, ...], ...],
        metadata: U32,
        lanes: Lanes,
        number: int,
    ) -> list[Array]:
        """mma.sp. `parts`: the registers of a, which is half of it, b and c."""
        (m, n, k), kinds = form.shape, form.kinds
        a, b, c = (
            placed(which, kind, unpacked(kind, self.by_warp(registers, lanes, number)), size)
            for which, kind, registers, size in zip(
                "abc", kinds[1:], parts, ((m, k // 2), (k, n), (m, n)), strict=True
            )
        )
        words = self.by_warp((metadata,), lanes, number)[:, :, 0]
        result = sparse_product(a, b, c, kept_columns(kinds[1], k, words, form.selector), form.clamps)
        rows, columns = positions("d", 1, m * n // 32)
        return by_register(packed(kinds[0], result[:, rows, columns]), form.registers)

    def load_tile(
        self,
        tile: Tile,
        a: U64,
        stride: U32 | None,
        lanes: Lanes,
        number: int,
    ) -> list[Array]:
        """wmma.load."""
        if tile.kind in SMALL:  # whole words, along the sum
            each = elements(tile.kind)
            tile = tile._replace(shape=(*tile.shape[:2], tile.shape[2] // each), kind="b32")
            stride = None if stride is None else stride // np.uint32(each)
        places = self._places(tile, a, stride, lanes, number, READ)
        values = np.stack([array.take(index) for array, index in places], 1)
        words = np.ascontiguousarray(values).view("u8" if tile.kind == "f64" else "u4")
        items = words.reshape(-1, 32, words.shape[1])
        return by_register(items, tile.registers, REGISTER_DTYPES.get(tile.kind))

    def store_tile(
        self,
        tile: Tile,
        a: U64,
        stride: U32 | None,
        values: tuple[Array, ...],
        lanes: Lanes,
        number: int,
    ) -> None:
        """wmma.store."""
        words = self.by_warp(values, lanes, number).reshape(-1, len(values))
        items = np.ascontiguousarray(words).view(f"u{TYPES[tile.kind].size}")
        places = self._places(tile, a, stride, lanes, number, WRITE)
        for step, (array, index) in enumerate(places):
            put(array, index, np.ascontiguousarray(items[:, step]))

    def _places(
        self, tile: Tile, a: U64, stride: U32 | None, lanes: Lanes, number: int, mode: int
    ) -> Iterator[Places]:
        """Where the elements of a tile lie that each lane holds, one after the other."""
        numbers = self.whole_warps(lanes, number)
        offsets = _offsets(tile, stride, numbers)
        access = accessed(np.dtype(f"u{TYPES[tile.kind].size}"), 1, number, mode)
        for step in range(offsets.shape[1]):
            yield self._spaces.at(tile.space, a + offsets[:, step], access, numbers)


def _offsets(tile: Tile, stride: U32 | None, numbers: I64) -> U64:
    """Where the elements of each lane lie, in bytes from the tile's start."""
    m, n, k = tile.shape
    rows, columns = {"a": (m, k), "b": (k, n)}.get(tile.which, (m, n))
    each = rows * columns // 32
    element = LANES[:, None] * each + np.arange(each)
    row, column = element // columns, element % columns
    leading = (columns if tile.is_row else rows) if stride is None else stride
    line: U64 = np.asarray(leading).astype(np.uint64)
    major, minor = (row, column) if tile.is_row else (column, row)
    repeated = (len(numbers) // 32, 1)
    outer, inner = np.tile(major.astype(np.uint64), repeated), np.tile(minor.astype(np.uint64), repeated)
    lines = line[:, None] if line.ndim else line
    return (outer * lines + inner) * np.uint64(TYPES[tile.kind].size)
