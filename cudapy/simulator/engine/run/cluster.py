"""Clusters: blocks that run side by side and reach each other's shared memory.

Source: PTX ISA, "Cluster of Cooperative Thread Arrays", "mapa", "getctarank", "barrier.cluster".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import fault
from . import layout
from .access import VERBS, Access

if TYPE_CHECKING:
    from ..compile.function import CompiledFunction
    from ..ptx.syntax import Instruction

_RANK = np.uint64(layout.RANK)
_OFFSET = np.uint64((1 << layout.RANK) - 1)
_RANKS = 255
"""All ranks that an address may have."""


def in_clusters(places: Any, grid: tuple[int, int, int], cluster: tuple[int, int, int]) -> Any:
    """The numbers in the grid of blocks that are counted cluster by cluster."""
    if cluster[1] == cluster[2] == 1:
        return places
    size = cluster[0] * cluster[1] * cluster[2]
    which, rank = places // size, places % size
    number, step, clusters, blocks = 0, 1, 1, 1
    for all_blocks, of_cluster in zip(grid, cluster, strict=True):
        coordinate = which // clusters % (all_blocks // of_cluster) * of_cluster + rank // blocks % of_cluster
        number = number + step * coordinate
        step, clusters, blocks = step * all_blocks, clusters * (all_blocks // of_cluster), blocks * of_cluster
    return number


class Clusters(Access):
    """The part of a batch that knows its clusters; the blocks of one lie side by side."""

    cluster_size: int
    """Blocks."""
    blocks: Any
    live: Any
    """The threads of each block that have not exited."""

    def own_ranks(self, lanes: Any) -> Any:
        """The rank of each lane's block in its cluster."""
        return self.blocks[self.numbers(lanes)] % self.cluster_size

    def is_own(self, a: Any, lanes: Any) -> Any:
        rank = (a >> _RANK & np.uint64(_RANKS)).astype(np.int64)
        return (rank == 0) | (rank == self.own_ranks(lanes) + 1)

    def at_cluster(
        self, a: Any, dtype: Any, count: int, lanes: Any, number: int, mode: int
    ) -> tuple[Any, Any]:
        size = dtype.itemsize * count
        if not int(a.max()) >> layout.RANK:
            return self.at_shared(a, dtype, count, lanes, number, mode)
        numbers = self.numbers(lanes)
        offset = self.offsets_in_cluster(np.broadcast_to(a, numbers.shape), size, numbers, number, mode)
        if self.watch is not None:
            self.watch.shared(self, offset, a, size, numbers, number, mode)
        return self.shared_view(dtype), offset >> np.int64(dtype.itemsize.bit_length() - 1)

    def offsets_in_cluster(
        self, a: Any, size: int, numbers: Any, number: int, mode: int, align: int = 0
    ) -> Any:
        """Where shared addresses lie in the memory of the batch; `align` is `size` if 0. Raises Fault."""
        blocks = self.blocks_of(a, numbers, number, mode)
        inside = a & _OFFSET
        what = f"__shared__ {VERBS[mode]}"
        outside = inside + np.uint64(size) > np.uint64(self.shared_size)
        if outside.any():
            more = f"the block's __shared__ memory has {self.shared_size} bytes"
            text = f"Invalid {what}"
            self.fail(fault.ILLEGAL_ADDRESS, text, number, numbers, outside, a, size, more)
        crooked = inside & np.uint64((align or size) - 1) != 0
        if crooked.any():
            text = f"Misaligned {what}"
            self.fail(fault.MISALIGNED_ADDRESS, text, number, numbers, crooked, a, size, "in shared memory")
        return inside.view(np.int64) + blocks * self.shared_stride

    def blocks_of(self, a: Any, numbers: Any, number: int, mode: int) -> Any:
        """The blocks of the batch that shared addresses are of. Raises Fault for those that do not run."""
        rank = (a >> _RANK).astype(np.int64) - 1
        own = self.blocks[numbers]
        missing = rank >= self.cluster_size
        what = f"__shared__ {VERBS[mode]}"
        if missing.any():
            more = f"the cluster has {self.cluster_size} blocks"
            self.fail(fault.ILLEGAL_ADDRESS, f"Invalid {what}", number, numbers, missing, a, more=more)
        blocks = np.where(rank < 0, own, own - own % self.cluster_size + rank)
        gone = self.live[blocks] == 0
        if gone.any():
            text = f"Invalid {what} in a block that has exited"
            more = "blocks of a cluster wait for each other before they exit"
            self.fail(fault.ILLEGAL_ADDRESS, text, number, numbers, gone, a, more=more)
        return blocks

    def map_to_rank(self, a: Any, rank: Any, is_generic: bool, lanes: Any, number: int) -> Any:
        """mapa: the address of the same variable in another block of the cluster."""
        wide = a.astype(np.uint64)
        bad = rank.astype(np.int64) >= self.cluster_size
        if np.any(bad):
            text = f"mapa to a block that is not there: the cluster has {self.cluster_size}"
            self.fail(fault.ILLEGAL_ADDRESS, text, number, lanes, bad)
        if is_generic:
            self._check_window(wide, "mapa", lanes, number)
        window = np.uint64(layout.SHARED if is_generic else 0)
        mapped = window + ((rank.astype(np.uint64) + np.uint64(1)) << _RANK) + (wide & _OFFSET)
        return mapped.astype(a.dtype)

    def rank_of(self, a: Any, is_generic: bool, lanes: Any, number: int) -> Any:
        """getctarank: the rank of the block that an address of shared memory is of."""
        wide = a.astype(np.uint64)
        if is_generic:
            self._check_window(wide, "getctarank", lanes, number)
        rank = (wide >> _RANK & np.uint64(_RANKS)).astype(np.int64)
        return np.where(rank == 0, self.own_ranks(lanes), rank - 1).astype(np.uint32)

    def _check_window(self, a: Any, name: str, lanes: Any, number: int) -> None:
        outside = (a < np.uint64(layout.SHARED)) | (a >= np.uint64(layout.LOCAL))
        if np.any(outside):
            text = f"{name} of an address outside of shared memory"
            self.fail(fault.INVALID_ADDRESS_SPACE, text, number, lanes, outside, a)


class Held(NamedTuple):
    """Lanes that wait for the rest of their cluster."""

    key: Any
    """The group that they will be in afterwards."""
    lanes: Any
    function: CompiledFunction
    instruction: Instruction


class ClusterBarriers:
    """The barrier of each cluster of a batch: all threads that have not exited arrive, and wait later."""

    def __init__(self, blocks: Any, size: int, live: Any) -> None:
        self._clusters = blocks // size  # of each lane
        self._size = size
        self._live = live  # threads of each block that have not exited
        self._counts = np.zeros(len(live) // size, np.int64)
        self._phases = np.zeros(len(live) // size, np.int64)
        self._arrived_in = np.full(len(blocks), -1, np.int64)  # the phase of an arrival not waited for
        self.waiting: list[Held] = []

    def arrive(self, lanes: Any) -> Any:
        """Returns which lanes must not: they have arrived, and not waited."""
        twice = self._arrived_in[lanes] >= 0
        clusters = self._clusters[lanes]
        self._arrived_in[lanes] = self._phases[clusters]
        self._counts += np.bincount(clusters, minlength=len(self._counts))
        return twice

    def wait(self, held: Held) -> Any:
        """Returns which lanes must not: they have not arrived."""
        unprepared = self._arrived_in[held.lanes] < 0
        self.waiting.append(held)
        return unprepared

    def exited(self, lanes: Any) -> None:
        """Those that arrived and exit are no longer counted."""
        clusters = self._clusters[lanes]
        counted = self._arrived_in[lanes] == self._phases[clusters]
        self._counts -= np.bincount(clusters[counted], minlength=len(self._counts))

    def release(self) -> tuple[list[tuple[Any, Any]], Any]:
        """Groups and lanes that need wait no longer; and the clusters whose barrier is complete now."""
        live = self._live.reshape(-1, self._size).sum(1)
        complete = (self._counts > 0) & (self._counts >= live)
        self._phases[complete] += 1
        self._counts[complete] = 0
        released, rest = [], []
        for held in self.waiting:
            over = self._arrived_in[held.lanes] < self._phases[self._clusters[held.lanes]]
            if over.any():
                gone = held.lanes[over]
                self._arrived_in[gone] = -1
                released.append((held.key, gone))
            if not over.all():
                rest.append(held._replace(lanes=held.lanes[~over]))
        self.waiting = rest
        return released, np.flatnonzero(complete)
