"""Some blocks of a grid that run side by side: their threads are the lanes of arrays."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from .. import checks, fault
from ..addresses import round_up
from ..schedule import LaunchSchedule
from .atomic import Atomics
from .bulk import Bulk
from .children import Children
from .global_memory import GlobalMemory
from .launch_order import LaunchOrder
from .local import LocalMemory
from .matrix import Matrices
from .mbarrier import Mbarriers
from .multimem import Multimem
from .polls import Polls
from .race_detector import RaceDetector
from .report import Findings, Reporter
from .shared import SharedMemory, stride_of
from .spaces import Spaces
from .special import SpecialRegisters
from .tensor import Tensors
from .texturing import Textures
from .threads import Threads
from .undefined import UndefinedBytes
from .warp import Warps
from .warpgroup import Warpgroups
from .watchdog import Watchdog

if TYPE_CHECKING:
    from ..aliases import U32, U64, Dim3, DType, Lanes
    from ..back_ends import BackEnd
    from ..device import Device
    from ..kernel import Kernel
    from ..settings import Settings


_NOT_COOPERATIVE = (
    "the kernel asks for what only a cooperative launch has, as grid.sync() does: "
    "LaunchConfig(is_cooperative=True)"
)


class Batch:
    """`block_count` blocks of a launch from `first_block` on, and what their threads have.

    What only some kernels use is made when it is used. No member refers to the batch, so all goes with it.
    """

    def __init__(self, launch: Launch, first_block: int, block_count: int) -> None:
        self.launch, self.device = launch, launch.device
        self.shared_address = launch.kernel.shared_address
        self.threads = Threads(launch.grid, launch.block, launch.cluster, first_block, block_count)
        self.first_block = first_block
        self.errors: dict[int, int] = {}
        """The last cudaError_t of the Runtime API in kernels, by lane."""

    @cached_property
    def report(self) -> Reporter:
        launch = self.launch
        return Reporter(self.threads, launch.device.memory, launch.kernel, launch.findings, launch.parameters)

    @cached_property
    def polls(self) -> Polls:
        return Polls()

    @cached_property
    def races(self) -> RaceDetector | None:
        """Looks for races; None if nobody asked."""
        if checks.RACES not in self.launch.checks:
            return None
        stride = stride_of(self.launch.shared_size)
        if not self.launch.order.shadows:
            self.launch.order.expect(self.launch.kernel, self.launch.parameters, self.device.memory)
        return RaceDetector(self.threads, self.report, self.launch.order, stride, self.first_block)

    @cached_property
    def undefined(self) -> UndefinedBytes:
        """Follows undefined bytes, where memory has a shadow that tells of them."""
        return UndefinedBytes(self.threads, self.report, checks.UNDEFINED in self.launch.checks)

    @cached_property
    def special(self) -> SpecialRegisters:
        return SpecialRegisters(self.threads, self.launch)

    @cached_property
    def warps(self) -> Warps:
        return Warps(self.threads, self.races)

    @cached_property
    def global_memory(self) -> GlobalMemory:
        return GlobalMemory(self.threads, self.report, self.device, self.races, self.undefined)

    @cached_property
    def shared(self) -> SharedMemory:
        return SharedMemory(self.threads, self.report, self.races, self.undefined, self.launch.shared_size)

    @cached_property
    def local(self) -> LocalMemory:
        return LocalMemory(self.threads, self.report, self.device.stack_size, self.undefined)

    @cached_property
    def spaces(self) -> Spaces:
        return Spaces(self.threads, self.global_memory, self.shared, self.local, self.undefined)

    @cached_property
    def atomics(self) -> Atomics:
        return Atomics(self.threads, self.shared)

    @cached_property
    def multimem(self) -> Multimem:
        return Multimem(self.threads, self.report, self.global_memory, self.atomics)

    @cached_property
    def mbarriers(self) -> Mbarriers:
        return Mbarriers(self.threads, self.report, self.spaces, self.races, self.polls)

    @cached_property
    def bulk(self) -> Bulk:
        return Bulk(self.threads, self.report, self.spaces, self.mbarriers, self.races)

    @cached_property
    def tensors(self) -> Tensors:
        return Tensors(self.report, self.spaces, self.bulk)

    @cached_property
    def matrices(self) -> Matrices:
        return Matrices(self.threads, self.report, self.spaces)

    @cached_property
    def warpgroups(self) -> Warpgroups:
        return Warpgroups(self.threads, self.report, self.matrices, self.shared, self.races)

    @cached_property
    def textures(self) -> Textures:
        return Textures(self.threads, self.report, self.device, self.races)

    def parameter(self, name: str, offset: int, dtype: DType) -> np.generic:
        """A parameter of the kernel, or a part of it."""
        start = self.launch.kernel.parameter_offsets[name] + offset
        value: np.generic = np.frombuffer(self.launch.parameters, dtype, 1, start)[0]
        return value

    def parameter_address(self, name: str) -> np.uint64:
        """Where a parameter of the kernel lies in memory."""
        return np.uint64(self.launch.parameter_memory() + self.launch.kernel.parameter_offsets[name])

    def parameter_base(self) -> np.uint64:
        """Where the parameters of the kernel lie in memory."""
        return np.uint64(self.launch.parameter_memory())

    def whole_parameter_address(self, a: U64) -> U64:
        """Addresses of parameters from their lower 32 bits, in which code with short pointers holds them."""
        base = self.parameter_base()
        return base + ((a - base) & np.uint64(0xFFFFFFFF))

    def sleep(self, nanoseconds: U32) -> None:
        """nanosleep: it may be shorter than asked for, and here never is longer than a millisecond."""
        time.sleep(min(int(nanoseconds.max()), 1_000_000) * 1e-9)

    def fence(self, scope: str, lanes: Lanes) -> None:
        """fence and membar: memory is always as if they were made; the race detector needs them."""
        if self.races is not None:
            self.races.fence(scope, lanes)

    def trap(self, name: str, lanes: Lanes, number: int) -> NoReturn:
        what = "A trap" if name == "trap" else "A breakpoint with no debugger"
        function = self.launch.kernel.compiled
        asks = any("%envreg" in each.text for each in function.instructions)
        more = _NOT_COOPERATIVE if asks and not self.launch.workspace else ""
        self.report.fail(fault.LAUNCH_FAILED, what, number, lanes, True, more=more)


@dataclass
class Counters:
    """What one launch did, with all that its kernel launched, counted."""

    batches: int = 0
    """Batches of blocks that ran side by side."""
    numpy_runs: int = 0
    """How often NumPy ran a basic block for a group of threads."""
    region_runs: int = 0
    """How often another back end took over a group of threads, each time for one basic block or more."""


class Launch:
    """A launch: what all its batches have in common."""

    def __init__(
        self,
        kernel: Kernel,
        device: Device,
        grid: Dim3,
        block: Dim3,
        cluster: Dim3 | None,
        parameters: bytes,
        dynamic_size: int,
        settings: Settings,
        back_end: BackEnd | None = None,
        is_eager: bool = False,
    ) -> None:
        self.kernel, self.device = kernel, device
        self.grid, self.block = grid, block
        self.is_clustered = cluster is not None
        self.cluster = cluster or (1, 1, 1)
        self.parameters = parameters
        self.back_end, self.is_eager = back_end, is_eager
        self.settings, self.checks = settings, checks.wanted(settings)
        wanted = settings.schedule
        self.schedule = None if wanted is None else LaunchSchedule(wanted, kernel.name)
        self.dynamic_size = dynamic_size
        self.user_shared_size = kernel.shared_size + dynamic_size
        """Bytes of a block's shared memory that are its own."""
        self.reserved = round_up(self.user_shared_size, 128)
        """Where its reserved shared memory starts."""
        takes = kernel.reserved_size
        self.shared_size = self.reserved + takes if takes else self.user_shared_size
        """Bytes of a block's shared memory."""
        self.threads = block[0] * block[1] * block[2]
        self.workspace = 0
        self.findings = Findings(settings.classes)
        self.output: list[str] = []
        """What kernels print."""
        self.counters = Counters()
        self.children = Children(device.memory)
        self.watchdog = Watchdog(device.is_interrupted, settings.timeout)
        self.left_to_python: set[object] = set()
        """Regions of a back end that spent most of their time on accesses that are left to Python: to
        another device's memory, for example. NumPy makes those for all lanes at once.
        """
        self.by_lanes: set[object] = set()
        """Regions of a back end in which whole blocks seldom run to their ends."""
        self._parameter_memory = 0

    @cached_property
    def order(self) -> LaunchOrder:
        """For the race detector."""
        return LaunchOrder(self.threads)

    def parameter_memory(self) -> int:
        """The address of the parameters; memory is only made for kernels that ask for it."""
        if not self._parameter_memory:
            self._parameter_memory = self.device.memory.allocate(max(len(self.parameters), 1), "parameters")
            allocation = self.device.memory.find(self._parameter_memory)
            assert allocation is not None
            allocation.data[: len(self.parameters)] = np.frombuffer(self.parameters, np.uint8)
            self.device.memory.written(self._parameter_memory, len(self.parameters))
        return self._parameter_memory

    def close(self) -> None:
        for address in (self._parameter_memory, self.workspace):
            if address:
                self.device.memory.release(address)
        self.children.close()
