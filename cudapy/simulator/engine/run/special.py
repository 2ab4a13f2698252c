"""Special registers.

Source: PTX ISA, "Special Registers".
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from .report import Reporter

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..device import Device

_AXES = "xyz"
_EPOCH = time.time_ns() - time.perf_counter_ns()
"""What %globaltimer counts from; the host's own clock may be set back."""
_cache: dict[Any, Any] = {}


def cached(key: Any, make: Callable[[], Any]) -> Any:
    """Arrays that depend on the shape of a batch alone."""
    found = _cache.get(key)
    if found is None:
        if len(_cache) > 128:
            _cache.clear()
        found = _cache[key] = make()
    return found


class Specials(Reporter):
    """The part of a batch that knows its special registers."""

    device: Device
    cluster: tuple[int, int, int]
    is_clustered: bool
    """The launch or the kernel says how large clusters are."""
    dynamic_size: int
    static_size: int
    _specials: dict[str, Any]
    workspace: int
    """Address of the memory that grid barriers count in."""

    def special(self, name: str) -> Any:
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
        value = self._specials.get(name)
        if value is None:
            value = self._specials[name] = self._special(name)
        return value

    def _special(self, name: str) -> Any:
        base, _, axis = name[1:].partition(".")
        if axis:
            return self._axis(base, _AXES.index(axis))
        key = (name, self.block_count, self.threads)
        if base == "laneid":
            return cached(key, lambda: self._tiled(np.arange(self.threads, dtype=np.uint32) & np.uint32(31)))
        if base == "warpid":
            return cached(key, lambda: self._tiled(np.arange(self.threads, dtype=np.uint32) >> np.uint32(5)))
        if base.startswith("lanemask_"):
            return cached(key, lambda: self._lane_mask(base[-2:]))
        if base == "cluster_ctarank":
            x, y, z = (self._axis("cluster_ctaid", axis) for axis in range(3))
            return x + np.uint32(self.cluster[0]) * (y + np.uint32(self.cluster[1]) * z)
        if base == "smid":
            numbers = (self.block_numbers % self.device.multiprocessors).astype(np.uint32)
            return np.repeat(numbers, self.threads)
        if base == "is_explicit_cluster":
            return np.bool_(self.is_clustered)
        whole = {
            "nwarpid": -(-self.threads // 32),
            "nsmid": self.device.multiprocessors,
            "gridid": 1,
            "dynamic_smem_size": self.dynamic_size,
            "total_smem_size": self.static_size + self.dynamic_size,
            "aggr_smem_size": self.static_size + self.dynamic_size,
            "envreg1": self.workspace >> 32,
            "envreg2": self.workspace & 0xFFFFFFFF,
            "cluster_nctarank": self.cluster[0] * self.cluster[1] * self.cluster[2],
            "reserved_smem_offset_begin": 0,
            "reserved_smem_offset_end": 0,
            "current_graph_exec": 0,
        }[base]
        return np.uint64(whole) if base in ("gridid", "current_graph_exec") else np.uint32(whole)

    def _axis(self, base: str, axis: int) -> Any:
        grid, block = self.grid, self.block
        if base == "ntid":
            return np.uint32(block[axis])
        if base == "nctaid":
            return np.uint32(grid[axis])
        if base == "cluster_nctaid":
            return np.uint32(self.cluster[axis])
        if base == "nclusterid":
            return np.uint32(grid[axis] // self.cluster[axis])
        if base == "tid":
            if block[axis] == 1:
                return np.uint32(0)
            step = (1, block[0], block[0] * block[1])[axis]
            return cached(
                ("tid", axis, self.block_count, block),
                lambda: self._tiled((np.arange(self.threads) // step % block[axis]).astype(np.uint32)),
            )
        step = (1, grid[0], grid[0] * grid[1])[axis]
        numbers = self.block_numbers // step % grid[axis]
        if base == "clusterid":
            numbers = numbers // self.cluster[axis]
        elif base == "cluster_ctaid":
            numbers = numbers % self.cluster[axis]
        numbers = numbers.astype(np.uint32)
        return numbers[0] if (numbers == numbers[0]).all() else np.repeat(numbers, self.threads)

    def _tiled(self, one: Any) -> Any:
        return np.tile(one, self.block_count)

    def _lane_mask(self, relation: str) -> Any:
        own = np.uint32(1) << self.special("%laneid")
        below = own - np.uint32(1)
        return {"eq": own, "lt": below, "le": below | own, "gt": ~(below | own), "ge": ~below}[relation]


NAMES = frozenset(
    [
        f"%{base}.{axis}"
        for base in (
            "tid",
            "ntid",
            "ctaid",
            "nctaid",
            "clusterid",
            "nclusterid",
            "cluster_ctaid",
            "cluster_nctaid",
        )
        for axis in _AXES
    ]
    + [f"%lanemask_{relation}" for relation in ("eq", "lt", "le", "gt", "ge")]
    + [
        "%laneid",
        "%warpid",
        "%nwarpid",
        "%smid",
        "%nsmid",
        "%gridid",
        "%clock",
        "%clock_hi",
        "%clock64",
        "%globaltimer",
        "%globaltimer_lo",
        "%globaltimer_hi",
        "%dynamic_smem_size",
        "%total_smem_size",
        "%aggr_smem_size",
        "%envreg1",
        "%envreg2",
        "%cluster_ctarank",
        "%cluster_nctarank",
        "%is_explicit_cluster",
        "%current_graph_exec",
        "%reserved_smem_offset_begin",
        "%reserved_smem_offset_end",
    ]
)
"""The special registers that there are."""
