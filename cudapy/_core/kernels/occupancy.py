"""How much of a kernel a device runs at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ... import driver
from ..._ffi.shown import type_name
from ...driver import CUfunction, checked
from ..closable import NotCopyable
from ..streams.stream import IsStreamType, Stream
from .launch_config import LaunchConfig, c_config

if TYPE_CHECKING:
    from collections.abc import Callable

    from .kernel import Kernel


class MaxPotentialBlockSize(NamedTuple):
    """The launch that fills a device."""

    min_grid_size: int
    max_block_size: int


class KernelOccupancy(NotCopyable):
    """How much of a kernel the current device can run at once."""

    __slots__ = ("_kernel",)

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel

    @property
    def _function(self) -> CUfunction:
        return self._kernel._function

    def max_active_blocks_per_multiprocessor(
        self, block_size: int, dynamic_shared_memory_size: int = 0
    ) -> int:
        """How many blocks of so many threads and bytes of dynamic shared memory a multiprocessor runs.

        Source: cuOccupancyMaxActiveBlocksPerMultiprocessor.
        """
        return int(
            checked.cuOccupancyMaxActiveBlocksPerMultiprocessor(
                self._function, block_size, dynamic_shared_memory_size
            )
        )

    def max_potential_block_size(
        self,
        dynamic_shared_memory_needed: int | driver.CUoccupancyB2DSize | Callable[[int], int] = 0,
        block_size_limit: int = 0,
    ) -> MaxPotentialBlockSize:
        """The block size that gives the most threads at once, and how many blocks fill the device.

        dynamic_shared_memory_needed: bytes for each block, or a function of the block size: a ctypes one of
        type `CFUNCTYPE(c_size_t, c_int)` or a CUoccupancyB2DSize. block_size_limit: 0 means none. Source:
        cuOccupancyMaxPotentialBlockSize.
        """
        size: Any = dynamic_shared_memory_needed
        is_function = callable(size) or isinstance(size, driver.CUoccupancyB2DSize)
        function, size = (size, 0) if is_function else (None, size)
        result = checked.cuOccupancyMaxPotentialBlockSize(self._function, function, size, block_size_limit)
        return MaxPotentialBlockSize(*result)

    def available_dynamic_shared_memory_per_block(
        self, num_blocks_per_multiprocessor: int, block_size: int
    ) -> int:
        """The bytes of dynamic shared memory left for each block if so many run on a multiprocessor.

        Source: cuOccupancyAvailableDynamicSMemPerBlock.
        """
        return int(
            checked.cuOccupancyAvailableDynamicSMemPerBlock(
                self._function, num_blocks_per_multiprocessor, block_size
            )
        )

    def max_potential_cluster_size(
        self, config: LaunchConfig, *, stream: Stream | IsStreamType | None = None
    ) -> int:
        """The most blocks that a cluster of this launch can have.

        Source: cuOccupancyMaxPotentialClusterSize.
        """
        return checked.cuOccupancyMaxPotentialClusterSize(self._function, _c_launch(config, stream))

    def max_active_clusters(
        self, config: LaunchConfig, *, stream: Stream | IsStreamType | None = None
    ) -> int:
        """How many clusters of this launch the device runs at once. Source: cuOccupancyMaxActiveClusters."""
        return checked.cuOccupancyMaxActiveClusters(self._function, _c_launch(config, stream))


def _c_launch(config: LaunchConfig, stream: Stream | IsStreamType | None) -> driver.CUlaunchConfig:
    if not isinstance(config, LaunchConfig):
        raise TypeError(f"the occupancy of clusters is that of a LaunchConfig, not {type_name(config)}")
    return driver.CUlaunchConfig.from_buffer_copy(c_config(config, int(Stream._accept(stream)._handle)))
