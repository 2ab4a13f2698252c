"""Clusters: blocks that run side by side, and their barriers.

Source: PTX ISA, "Cluster of Cooperative Thread Arrays", "barrier.cluster".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from ..aliases import I64, Bools, Dim3
    from ..compile.function import CompiledFunction
    from ..ptx.syntax import Instruction
    from .groups import Key


def in_clusters(places: I64, grid: Dim3, cluster: Dim3) -> I64:
    """The numbers in the grid of blocks that are counted cluster by cluster."""
    if cluster[1] == cluster[2] == 1:
        return places
    size = cluster[0] * cluster[1] * cluster[2]
    which, rank = places // size, places % size
    number = np.zeros_like(places)
    step, clusters, blocks = 1, 1, 1
    for all_blocks, of_cluster in zip(grid, cluster, strict=True):
        coordinate = which // clusters % (all_blocks // of_cluster) * of_cluster + rank // blocks % of_cluster
        number = number + step * coordinate
        step, clusters, blocks = step * all_blocks, clusters * (all_blocks // of_cluster), blocks * of_cluster
    return number


class WaitingAtCluster(NamedTuple):
    """Lanes that wait for the rest of their cluster."""

    key: Key
    """The group that they will be in afterwards."""
    lanes: I64
    function: CompiledFunction
    instruction: Instruction


class ClusterBarriers:
    """The barrier of each cluster of a batch: all threads that have not exited arrive, and wait later."""

    def __init__(self, blocks: I64, size: int, live: I64) -> None:
        self._clusters = blocks // size  # of each lane
        self._size = size
        self._live = live  # threads of each block that have not exited
        self._counts = np.zeros(len(live) // size, np.int64)
        self._phases = np.zeros(len(live) // size, np.int64)
        self._arrived_in = np.full(len(blocks), -1, np.int64)  # the phase of an arrival not waited for
        self.waiting: list[WaitingAtCluster] = []

    def arrive(self, lanes: I64) -> Bools:
        """Returns which lanes must not: they have arrived, and not waited."""
        twice = self._arrived_in[lanes] >= 0
        clusters = self._clusters[lanes]
        self._arrived_in[lanes] = self._phases[clusters]
        self._counts += np.bincount(clusters, minlength=len(self._counts))
        return twice

    def wait(self, waiting: WaitingAtCluster) -> Bools:
        """Returns which lanes must not: they have not arrived."""
        unprepared = self._arrived_in[waiting.lanes] < 0
        self.waiting.append(waiting)
        return unprepared

    def exited(self, lanes: I64) -> None:
        """Threads that arrived and exit are no longer counted."""
        clusters = self._clusters[lanes]
        counted = self._arrived_in[lanes] == self._phases[clusters]
        self._counts -= np.bincount(clusters[counted], minlength=len(self._counts))

    def release(self) -> tuple[list[tuple[Key, I64]], I64]:
        """Groups and lanes that need wait no longer; and the clusters whose barrier is complete now."""
        live = self._live.reshape(-1, self._size).sum(1)
        complete = (self._counts > 0) & (self._counts >= live)
        self._phases[complete] += 1
        self._counts[complete] = 0
        released, still_waiting = [], []
        for waiting in self.waiting:
            over = self._arrived_in[waiting.lanes] < self._phases[self._clusters[waiting.lanes]]
            if over.any():
                continuing = waiting.lanes[over]
                self._arrived_in[continuing] = -1
                released.append((waiting.key, continuing))
            if not over.all():
                still_waiting.append(waiting._replace(lanes=waiting.lanes[~over]))
        self.waiting = still_waiting
        return released, np.flatnonzero(complete)
