"""Special registers.

Source: PTX ISA, "Special Registers".
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .threads import cached

if TYPE_CHECKING:
    from ..aliases import I64, U32, Array
    from .batch import Launch
    from .threads import Threads

_AXES = "xyz"
_EPOCH = time.time_ns() - time.perf_counter_ns()
"""What %globaltimer counts from; the host's own clock may be set back."""


class ByBlock(NamedTuple):
    """What all threads of a block have: a value for each block of the batch."""

    values: Array


class ByThread(NamedTuple):
    """What a thread has in every block: a value for each thread of one."""

    key: object
    """What it depends on."""
    values: Array


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
            value = self._values[name] = self.spread(self.parts(name))
        return value

    def spread(self, parts: ByBlock | ByThread | np.generic) -> Array | np.generic:
        """An array over all lanes, or what all of them have."""
        threads = self._threads
        threads.has_arrays |= isinstance(parts, (ByBlock, ByThread))
        if isinstance(parts, ByBlock):
            return np.repeat(parts.values, threads.per_block)
        if isinstance(parts, ByThread):
            values = parts.values
            return cached(
                ("tiled", parts.key, threads.block_count), lambda: np.tile(values, threads.block_count)
            )
        return parts

    def parts(self, name: str) -> ByBlock | ByThread | np.generic:
        """What a register that does not change is made of."""
        threads, launch = self._threads, self._launch
        base, _, axis = name[1:].partition(".")
        if axis:
            return self._axis(base, _AXES.index(axis))
        if base in ("laneid", "warpid") or base.startswith("lanemask_"):
            key = name, threads.per_block
            return ByThread(key, cached(key, lambda: self._in_warps(base)))
        if base == "cluster_ctarank":
            x, y, z = (self._numbers("cluster_ctaid", axis) for axis in range(3))
            return _by_block(x + threads.cluster[0] * (y + threads.cluster[1] * z))
        if base == "smid":
            return _by_block(threads.block_numbers % launch.device.multiprocessors)
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

    def _axis(self, base: str, axis: int) -> ByBlock | ByThread | np.generic:
        threads = self._threads
        block = threads.block
        sizes = {"ntid": block, "nctaid": threads.grid, "cluster_nctaid": threads.cluster}.get(base)
        if sizes is not None:
            return np.uint32(sizes[axis])
        if base == "nclusterid":
            return np.uint32(threads.grid[axis] // threads.cluster[axis])
        if base != "tid":
            return _by_block(self._numbers(base, axis))
        if block[axis] == 1:
            return np.uint32(0)
        step, key = (1, block[0], block[0] * block[1])[axis], ("tid", axis, block)

        def numbers() -> U32:
            return (np.arange(threads.per_block) // step % block[axis]).astype(np.uint32)

        return ByThread(key, cached(key, numbers))

    def _numbers(self, base: str, axis: int) -> I64:
        """A coordinate of each block in the grid or in its cluster, or of its cluster in the grid."""
        threads = self._threads
        step = (1, threads.grid[0], threads.grid[0] * threads.grid[1])[axis]
        numbers = threads.block_numbers // step % threads.grid[axis]
        if base == "ctaid":
            return numbers
        size = threads.cluster[axis]
        return numbers // size if base == "clusterid" else numbers % size

    def _in_warps(self, base: str) -> U32:
        """%laneid, %warpid or a mask, of the threads of a block."""
        numbers = np.arange(self._threads.per_block, dtype=np.uint32)
        if base == "warpid":
            return numbers >> np.uint32(5)
        places = numbers & np.uint32(31)
        if base == "laneid":
            return places
        own_bit = np.uint32(1) << places
        below = own_bit - np.uint32(1)
        return {"eq": own_bit, "lt": below, "le": below | own_bit, "gt": ~(below | own_bit), "ge": ~below}[
            base[-2:]
        ]


def _by_block(numbers: I64) -> ByBlock | np.generic:
    values = numbers.astype(np.uint32)
    first: np.generic = values[0]
    return first if (values == first).all() else ByBlock(values)
