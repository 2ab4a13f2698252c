"""Some blocks of a grid that run side by side: their threads are the lanes of arrays."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from .. import fault, settings
from ..memory import POISON
from .cluster import in_clusters
from .special import cached
from .texturing import Texturing
from .warp import Warps
from .warpgroup import Warpgroups
from .watch import Watch

if TYPE_CHECKING:
    from ..compile.function import CompiledFunction
    from ..device import Device
    from ..kernel import Kernel

_ALIGN = 16
_LOCAL_STEP = 256


class Batch(Warps, Warpgroups, Texturing):
    """`block_count` blocks of a launch from `first_block` on, and what their threads have."""

    def __init__(self, launch: Launch, first_block: int, block_count: int) -> None:
        self.launch = launch
        self.device = launch.device
        self.memory = launch.device.memory
        self.kernel_name = launch.kernel.name
        self.grid, self.block, self.cluster = launch.grid, launch.block, launch.cluster
        self.workspace = launch.workspace
        self.is_clustered = launch.is_clustered
        self.cluster_size = launch.cluster[0] * launch.cluster[1] * launch.cluster[2]
        self.block_count = block_count
        self.block_numbers = in_clusters(
            np.arange(first_block, first_block + block_count), launch.grid, launch.cluster
        )
        self.live = np.full(block_count, launch.threads, np.int64)
        self.threads = launch.threads
        self.count = count = block_count * self.threads
        self.static_size, self.dynamic_size = launch.kernel.shared_size, launch.dynamic_size
        self.shared_address = launch.kernel.shared_address
        self.function: CompiledFunction = launch.kernel.compiled
        self._specials: dict[str, Any] = {}
        key = (block_count, self.threads)
        self.all_lanes = cached(("lanes", *key), lambda: np.arange(count))
        self.blocks = cached(("blocks", *key), lambda: np.repeat(np.arange(block_count), self.threads))
        self.set_up_warps()
        self.shared_size = self.static_size + self.dynamic_size
        self.shared_stride = -(-self.shared_size // _ALIGN) * _ALIGN
        self.shared = np.full(block_count * self.shared_stride, POISON, np.uint8)
        self.shared_base = cached(
            ("shared", *key, self.shared_stride), lambda: self.blocks.astype(np.int64) * self.shared_stride
        )
        self._shared_views: dict[Any, Any] = {}
        self.set_up_mbarriers()
        self.local = np.empty(0, np.uint8)
        self.local_stride = 0
        self.local_base: Any = None
        self.local_written: Any = None
        checks = settings.current
        self.watch = Watch(self) if checks.check_races or checks.check_uninitialized else None

    def parameter(self, name: str, offset: int, dtype: Any) -> Any:
        """A parameter of the kernel, or a part of it."""
        start = self.launch.kernel.parameter_offsets[name] + offset
        return np.frombuffer(self.launch.parameters, dtype, 1, start)[0]

    def parameter_address(self, name: str) -> Any:
        """Where a parameter of the kernel lies in memory."""
        return np.uint64(self.launch.parameter_memory() + self.launch.kernel.parameter_offsets[name])

    def reserve_local(self, size: int) -> None:
        """Have at least `size` bytes of local memory for each thread."""
        if size <= self.local_stride:
            return
        stride = max(-(-size // _LOCAL_STEP) * _LOCAL_STEP, 2 * self.local_stride)
        grown = np.full((self.count, stride), POISON, np.uint8)
        grown[:, : self.local_stride] = self.local.reshape(self.count, self.local_stride)
        if settings.current.check_uninitialized:
            written = np.zeros((self.count, stride), bool)
            if self.local_written is not None:
                written[:, : self.local_stride] = self.local_written.reshape(self.count, self.local_stride)
            self.local_written = written.reshape(-1)
        self.local, self.local_stride = grown.reshape(-1), stride
        self.local_base = self.all_lanes * stride

    def grown_stack(self, start: Any, size: Any, lanes: Any, number: int) -> Any:
        """alloca: the end of `size` bytes of local memory from `start` on."""
        end = start + size
        bad = (end < start) | (end > np.uint64(self.device.stack_size))
        if bad.any():
            more = f"a stack has {self.device.stack_size} bytes"
            self.fail(fault.HARDWARE_STACK_ERROR, "Stack overflow", number, lanes, bad, size, more=more)
        self.reserve_local(int(end.max()))
        return end

    def sleep(self, nanoseconds: Any) -> None:
        """nanosleep: it may be shorter than asked for, and here never is longer than a millisecond."""
        time.sleep(min(int(nanoseconds.max()), 1_000_000) * 1e-9)

    def trap(self, name: str, lanes: Any, number: int) -> NoReturn:
        what = "A trap" if name == "trap" else "A breakpoint with no debugger"
        self.fail(fault.LAUNCH_FAILED, what, number, lanes, np.ones(len(self.numbers(lanes)), bool))


class Launch:
    """A launch: what all its batches have in common."""

    def __init__(
        self,
        kernel: Kernel,
        device: Device,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        cluster: tuple[int, int, int] | None,
        parameters: bytes,
        dynamic_size: int,
    ) -> None:
        self.kernel, self.device = kernel, device
        self.grid, self.block = grid, block
        self.is_clustered = cluster is not None
        self.cluster = cluster or (1, 1, 1)
        self.parameters = parameters
        self.dynamic_size = dynamic_size
        self.threads = block[0] * block[1] * block[2]
        self.workspace = 0
        self.output: list[str] = []
        """What kernels print."""
        self._parameter_memory = 0

    def parameter_memory(self) -> int:
        """The address of the parameters; memory is only made for kernels that ask for it."""
        if not self._parameter_memory:
            self._parameter_memory = self.device.memory.allocate(max(len(self.parameters), 1), "parameters")
            found = self.device.memory.find(self._parameter_memory)
            assert found is not None
            found.data[: len(self.parameters)] = np.frombuffer(self.parameters, np.uint8)
            self.device.memory.written(self._parameter_memory, len(self.parameters))
        return self._parameter_memory

    def close(self) -> None:
        for address in (self._parameter_memory, self.workspace):
            if address:
                self.device.memory.release(address)
