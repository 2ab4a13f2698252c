"""Special registers.

Source: PTX ISA, "Special Registers".
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from .threads import cached

if TYPE_CHECKING:
    from ..aliases import U32, Array
    from .batch import Launch
    from .threads import Threads

_AXES = "xyz"
_EPOCH = time.time_ns() - time.perf_counter_ns()
"""What %globaltimer counts from; the host's own clock may be set back."""


class SpecialRegisters:
    """The special registers of a batch's threads."""

    def __init__(self, threads: Threads, launch: Launch) -> None:
        self._threads, self._launch = threads, launch
        self._values: dict[str, Array | np.generic] = {}

    def read(self, name: str) -> Array | np.generic:
        """An array over all lanes, or what all of them have."""
        if name.startswith("%clock"):
            ticks = time.perf_counter_ns()  # a clock of 1 GHz: loops that wait for it end
            return (
                np.uint64(ticks)
                if name == "%clock64"
                else np.uint32((ticks >> 32 if name.endswith("_hi") else ticks) & 0xFFFFFFFF)
            )
        if name.startswith("%globaltimer"):
            now = _EPOCH + time.perf_counter_ns()
            return (
                np.uint64(now)
                if name == "%globaltimer"
                else np.uint32((now >> 32 if name.endswith("_hi") else now) & 0xFFFFFFFF)
            )
        value = self._values.get(name)
        if value is None:
            value = self._values[name] = self._value(name)
        return value

    def _value(self, name: str) -> Array | np.generic:
        threads, launch = self._threads, self._launch
        base, _, axis = name[1:].partition(".")
        if axis:
            return self._axis(base, _AXES.index(axis))
        key = (name, *threads.key)
        if base == "laneid":
            return cached(
                key, lambda: self._tiled(np.arange(threads.per_block, dtype=np.uint32) & np.uint32(31))
            )
        if base == "warpid":
            return cached(
                key, lambda: self._tiled(np.arange(threads.per_block, dtype=np.uint32) >> np.uint32(5))
            )
        if base.startswith("lanemask_"):
            return cached(key, lambda: self._lane_mask(base[-2:]))
        if base == "cluster_ctarank":
            x, y, z = (self._axis("cluster_ctaid", axis) for axis in range(3))
            return x + np.uint32(threads.cluster[0]) * (y + np.uint32(threads.cluster[1]) * z)
        if base == "smid":
            numbers = (threads.block_numbers % launch.device.multiprocessors).astype(np.uint32)
            return np.repeat(numbers, threads.per_block)
        if base == "is_explicit_cluster":
            return np.bool_(launch.is_clustered)
        whole = {
            "nwarpid": -(-threads.per_block // 32),
            "nsmid": launch.device.multiprocessors,
            "gridid": 1,
            "dynamic_smem_size": launch.dynamic_size,
            "total_smem_size": launch.user_shared_size,
            "aggr_smem_size": launch.shared_size,
            "envreg1": launch.workspace >> 32,
            "envreg2": launch.workspace & 0xFFFFFFFF,
            "cluster_nctarank": threads.cluster_size,
            "reserved_smem_offset_begin": launch.reserved,
            "reserved_smem_offset_end": launch.reserved + launch.kernel.reserved_size,
            "reserved_smem_offset_cap": launch.kernel.reserved_size,
            "reserved_smem_offset_0": launch.reserved,
            "reserved_smem_offset_1": launch.reserved + launch.kernel.reserved_size // 2,
            "current_graph_exec": launch.device.answers.graph(),
        }[base]
        return np.uint64(whole) if base in ("gridid", "current_graph_exec") else np.uint32(whole)

    def _axis(self, base: str, axis: int) -> Array | np.uint32:
        threads = self._threads
        grid, block, cluster = threads.grid, threads.block, threads.cluster
        if base == "ntid":
            return np.uint32(block[axis])
        if base == "nctaid":
            return np.uint32(grid[axis])
        if base == "cluster_nctaid":
            return np.uint32(cluster[axis])
        if base == "nclusterid":
            return np.uint32(grid[axis] // cluster[axis])
        if base == "tid":
            if block[axis] == 1:
                return np.uint32(0)
            step = (1, block[0], block[0] * block[1])[axis]
            return cached(
                ("tid", axis, threads.block_count, block),
                lambda: self._tiled((np.arange(threads.per_block) // step % block[axis]).astype(np.uint32)),
            )
        if grid[axis] == 1:
            return np.uint32(0)
        step = (1, grid[0], grid[0] * grid[1])[axis]
        numbers = threads.block_numbers // step % grid[axis]
        if base == "clusterid":
            numbers = numbers // cluster[axis]
        elif base == "cluster_ctaid":
            numbers = numbers % cluster[axis]
        numbers = numbers.astype(np.uint32)
        return numbers[0] if (numbers == numbers[0]).all() else np.repeat(numbers, threads.per_block)

    def _tiled(self, one: U32) -> U32:
        return np.tile(one, self._threads.block_count)

    def _lane_mask(self, relation: str) -> U32:
        places = np.arange(self._threads.per_block, dtype=np.uint32) & np.uint32(31)
        own_bit = self._tiled(np.uint32(1) << places)
        below = own_bit - np.uint32(1)
        return {"eq": own_bit, "lt": below, "le": below | own_bit, "gt": ~(below | own_bit), "ge": ~below}[
            relation
        ]
