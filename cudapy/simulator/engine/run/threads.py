"""The threads of a batch, as lanes."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..fault import block_name, thread_name
from .cluster import in_clusters

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..aliases import I64, Dim3, Lanes

_T = TypeVar("_T")
_MOST_CACHED = 128
_cache: dict[object, Any] = {}


def cached(key: object, make: Callable[[], _T]) -> _T:
    """Arrays that depend on the shape of a batch alone; nobody changes them."""
    value = _cache.get(key)
    if value is None:
        if len(_cache) > _MOST_CACHED:
            _cache.clear()
        value = _cache[key] = make()
    return value


class Threads:
    """`block_count` blocks of a grid from `first_block` on. A lane is a thread, numbered through the batch.

    Blocks are counted cluster by cluster, and so are those of a cluster beside each other.
    """

    def __init__(self, grid: Dim3, block: Dim3, cluster: Dim3, first_block: int, block_count: int) -> None:
        self.grid, self.block, self.cluster = grid, block, cluster
        self.shape = grid, block, cluster, first_block, block_count
        """Batches of one shape differ in nothing here but in who has exited."""
        self.cluster_size = cluster[0] * cluster[1] * cluster[2]
        self.block_count = block_count
        self.per_block = per_block = block[0] * block[1] * block[2]
        self.count = block_count * per_block
        self.key = (block_count, per_block)
        """What arrays of the same shape are cached by."""
        self.warp_count = -(-per_block // 32) * block_count
        self.has_arrays = False
        """Whether somebody needed something for each lane."""

    @cached_property
    def block_numbers(self) -> I64:
        """The number in the grid of each block."""
        grid, _, cluster, first, count = self.shape
        return in_clusters(np.arange(first, first + count), grid, cluster)

    @cached_property
    def live(self) -> I64:
        """The threads of each block that have not exited."""
        return np.full(self.block_count, self.per_block, np.int64)

    @property
    def all_lanes(self) -> I64:
        return self._arrays[0]

    @property
    def blocks(self) -> I64:
        """The block of each lane, counted from the batch's first."""
        return self._arrays[1]

    @property
    def warps(self) -> I64:
        """The warp of each lane, counted through the batch."""
        return self._arrays[2]

    def numbers(self, lanes: Lanes) -> I64:
        """The numbers of lanes."""
        return self.all_lanes if lanes is None else lanes

    def name(self, lane: int) -> str:
        """Block and thread of a lane, for reports."""
        return thread_name(*self.indices(lane))

    def indices(self, lane: int) -> tuple[Dim3, Dim3]:
        """blockIdx and threadIdx of a lane."""
        block = int(self.block_numbers[lane // self.per_block])
        return _index(block, self.grid), _index(lane % self.per_block, self.block)

    def of_launch(self, number: int) -> tuple[Dim3, Dim3]:
        """blockIdx and threadIdx of a thread by its number in the launch, of another batch, too."""
        position = np.array([number // self.per_block])
        block = int(in_clusters(position, self.grid, self.cluster)[0])
        return _index(block, self.grid), _index(number % self.per_block, self.block)

    def block_name(self, position: int) -> str:
        """A block of the batch, as the grid numbers it."""
        return block_name(_index(int(self.block_numbers[position]), self.grid))

    def own_ranks(self, lanes: Lanes) -> I64:
        """The rank of each lane's block in its cluster."""
        return self.blocks[self.numbers(lanes)] % self.cluster_size

    @cached_property
    def _arrays(self) -> tuple[I64, I64, I64]:
        self.has_arrays = True
        arrays: tuple[I64, I64, I64] = cached(self.key, self._numbered)
        return arrays

    def _numbered(self) -> tuple[I64, I64, I64]:
        within, blocks = np.arange(self.per_block) // 32, np.arange(self.block_count)
        warps = (blocks[:, None] * (within[-1] + 1) + within).reshape(-1)
        return np.arange(self.count), np.repeat(blocks, self.per_block), warps


def _index(number: int, shape: Dim3) -> Dim3:
    x, y, _ = shape
    return number % x, number // x % y, number // (x * y)
