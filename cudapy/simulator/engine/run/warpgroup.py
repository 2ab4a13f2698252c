"""Products of matrices by four warps. Each warp makes its 16 rows of the result.

A factor in shared memory is told by a descriptor of 64 bits. It has rows of 32 bytes along the sum (K), in
parts of 16 bytes, eight rows together; or, transposed, 8 elements of a column of it in such a part.

Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions", "Matrix Descriptor".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import fault
from ..access import READ
from ..arithmetic.fragments import by_register, packed, positions, product, unpacked

if TYPE_CHECKING:
    from ..aliases import I64, U8, U64, Array, Bools, Lanes
    from ..instructions.forms import WarpgroupProduct
    from .matrix import Matrices
    from .race_detector import RaceDetector
    from .report import Reporter
    from .shared import SharedMemory
    from .threads import Threads

_PART = 16
"""Bytes that lie together, and that a swizzle moves."""
_ROW = 32
"""Bytes of a row along the sum, for all types."""
_FIELD = np.uint64(0x3FFF)
_SWIZZLES = np.array([0, 128, 64, 32])


class Warpgroups:
    """The products of a batch's warpgroups."""

    def __init__(
        self,
        threads: Threads,
        report: Reporter,
        matrices: Matrices,
        shared: SharedMemory,
        races: RaceDetector | None,
    ) -> None:
        self._threads, self._report, self._matrices = threads, report, matrices
        self._shared, self._races = shared, races

    def multiply(
        self,
        form: WarpgroupProduct,
        d: tuple[Array, ...],
        a: tuple[Array, ...] | U64,
        b: U64,
        keeps: Bools,
        lanes: Lanes,
        number: int,
    ) -> list[Array]:
        """wgmma.mma_async. `a` is registers, or a descriptor as `b` is; `keeps`: whether d is added to."""
        (_, n, k), kinds, signs, transposed, clamps = form
        numbers = self._matrices.whole_warps(lanes, number)
        if self._threads.per_block % 128:
            text = "A warpgroup instruction in a block of no whole warpgroups"
            self._report.fail(fault.ILLEGAL_INSTRUCTION, text, number, lanes, True)
        first = numbers.reshape(-1, 32)[:, 0]
        if isinstance(a, tuple):
            registers = unpacked(kinds[1], self._matrices.by_warp(a, lanes, number))
            factor_a: Array = np.zeros((len(first), 16, k), registers.dtype)
            rows, across = positions("a", registers.shape[2] // 4, registers.shape[2])
            factor_a[:, rows, across] = registers
        else:
            quarter = first % self._threads.per_block // 32 % 4
            factor_a = self._factor(
                a, kinds[1], quarter[:, None] * 16 + np.arange(16), k, transposed[0], first, number
            )
        factor_b = self._factor(b, kinds[2], np.arange(n)[None, :], k, transposed[1], first, number)
        old = unpacked(kinds[0], self._matrices.by_warp(d, lanes, number))
        index = np.arange(n // 2)
        row = np.arange(32)[:, None] // 4 + index % 4 // 2 * 8
        column = index // 4 * 8 + np.arange(32)[:, None] % 4 * 2 + index % 2
        added: Array = np.zeros((len(first), 16, n), old.dtype)
        added[:, row, column] = old
        added = np.where(np.broadcast_to(keeps, numbers.shape).reshape(-1, 32)[:, :1, None], added, 0)
        result = product([factor_a * signs[0], factor_b.swapaxes(1, 2) * signs[1], added], clamps)
        return by_register(packed(kinds[0], result[:, row, column]), len(d))

    def commit(self, lanes: Lanes) -> None:
        """wgmma.commit_group"""
        if self._races is not None:
            self._races.commit_products(lanes)

    def wait(self, max_pending: int, lanes: Lanes) -> None:
        """wgmma.wait_group: all but the last `max_pending` groups are over."""
        if self._races is not None:
            self._races.wait_for_products(lanes, max_pending)

    def _factor(
        self, descriptor: U64, kind: str, lines: I64, depth: int, is_transposed: int, first: I64, number: int
    ) -> Array:
        """A factor by warp, line (row of a, or column of b) and place along the sum."""
        total = len(first)
        word = np.broadcast_to(descriptor, (total * 32,)).reshape(-1, 32)[:, 0]
        field = [(word >> np.uint64(at) & _FIELD).astype(np.int64) * _PART for at in (0, 16, 32)]
        start, leading, stride = (one[:, None, None] for one in field)
        if (word >> np.uint64(49) & np.uint64(7)).any():
            text = "A matrix descriptor with a base offset, which the simulator does not have"
            self._report.fail(fault.ILLEGAL_INSTRUCTION, text, number, first, True)
        width = _SWIZZLES[(word >> np.uint64(62)).astype(np.int64)][:, None, None]
        size = _ROW // depth
        if is_transposed:
            line, along = lines[:, ::8, None] // 8, np.arange(depth)
            wide = np.maximum(width // _PART, 1)
            swizzled = line % wide * _PART + line // wide * leading + along % 8 * width + along // 8 * stride
            plain = line * stride + along % 8 * _PART + along // 8 * leading
        else:
            line, along = lines[:, :, None], np.arange(_ROW // _PART)
            swizzled = line % 8 * width + line // 8 * stride + along * _PART
            plain = line % 8 * _PART + line // 8 * stride + along * leading
        address = start + np.where(width > 0, swizzled, plain)
        address ^= (address >> 7 & np.maximum(width // _PART - 1, 0)) * _PART
        raw_bytes = self._parts(address, first, number)
        if is_transposed:  # (warp, part of lines, along, 8 elements) to (warp, line, along)
            items = raw_bytes.view(f"u{size}").swapaxes(2, 3).reshape(total, -1, depth)
        else:
            items = raw_bytes.reshape(total, -1, _ROW).view(f"u{size}")
        return unpacked(kind, np.ascontiguousarray(items))

    def _parts(self, address: I64, first: I64, number: int) -> U8:
        """16 bytes at each address of the shared memory of each warp's block. Raises Fault."""
        outside = (address + _PART > self._shared.size).reshape(len(first), -1)
        if outside.any():
            bad = address.reshape(len(first), -1).max(1).astype(np.uint64)
            more = f"the block's __shared__ memory has {self._shared.size} bytes"
            text = "Invalid __shared__ read of a matrix"
            self._report.fail(fault.ILLEGAL_ADDRESS, text, number, first, outside.any(1), bad, _PART, more)
        places = (address + self._threads.blocks[first][:, None, None] * self._shared.stride)[
            ..., None
        ] + np.arange(_PART)
        if self._shared.is_checked:
            for warp, lane in enumerate(first.tolist()):
                read = np.unique(places[warp])
                self._shared.copied(read, lane, number, READ, None)
                if self._races is not None:
                    self._races.multiplies(lane, read)
        return self._shared.data[places]
