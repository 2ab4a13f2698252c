"""Launches of kernels."""

import ctypes
import math
from typing import Any

from ..._ffi.mangled import readable_in
from ..._types.driver.enums import CUdevice_attribute as OfDevice
from ..._types.driver.enums import CUfunction_attribute, CUlimit, CUresult
from ..._types.driver.enums import CUgraphNodeType as Type
from ..._types.driver.enums import CUlaunchAttributeID as Attribute
from ..._types.driver.handles import CUkernel
from ..._types.driver.structs import CUDA_KERNEL_NODE_PARAMS, CUlaunchAttributeValue
from ..._types.runtime.enums import cudaError_t
from .. import found
from ..addresses import Pointer
from ..devices.context import Context
from ..devices.occupancy import blocks_per_multiprocessor, largest_cluster
from ..engine import Fault, LaunchAccesses, launch
from ..handles import find
from ..library import provides
from ..memory.stream_races import launched
from ..options import RAISE
from ..refused import Refused, invalid, unsupported
from ..streams.event import Event
from ..streams.faults import faults_here, go_on, is_interrupted
from ..streams.kernel_time_slices import KernelTimeSlices
from ..streams.operations import Operation, needed
from ..streams.order import may_race
from ..streams.stream import Stream, stream
from ..streams.work import Work
from .engine_devices import engine_device
from .function import get, required_cluster
from .kernel_answers import KernelAnswers
from .kernel_library import function
from .launch_parameters import pack
from .module import Function

HINTS = (
    Attribute.CU_LAUNCH_ATTRIBUTE_IGNORE,
    Attribute.CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
    Attribute.CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY,
    Attribute.CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
    Attribute.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
    Attribute.CU_LAUNCH_ATTRIBUTE_PRIORITY,
    Attribute.CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP,
    Attribute.CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN,
    Attribute.CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION,
    Attribute.CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
)
"""Attributes that change how fast a kernel runs, and not what it computes."""

_time_slices = KernelTimeSlices()

Three = tuple[int, int, int]


def _misfit(reason: str) -> Refused:
    return Refused("CUDA_ERROR_INVALID_CLUSTER_SIZE", reason)


class ImpossibleConfiguration(Refused):
    """A launch has a grid or blocks that no device has; the runtime has a status of its own for it."""

    def __init__(self, reason: str) -> None:
        super().__init__("CUDA_ERROR_INVALID_VALUE", reason)


class KernelLaunch(Operation):
    """A launch; `params` are the packed parameters of the kernel."""

    type = Type.CU_GRAPH_NODE_TYPE_KERNEL
    soon = False
    in_wait = True
    context: Context

    def __init__(
        self,
        kernel: Function,
        grid: Three,
        block: Three,
        shared: int,
        params: bytes,
        attributes: dict[Attribute, CUlaunchAttributeValue] | None = None,
    ) -> None:
        self.kernel = kernel
        self.context = kernel.context
        self.place = kernel.context  # of the stream that it is in, or of its node
        self.grid = grid
        self.block = block
        self.shared = shared
        self.params = params
        self.attributes = attributes or {}
        self.cluster: Three | None = required_cluster(kernel.on_device)
        self.is_cooperative = False
        self._events: list[Event] = []
        self._data: Any = None
        self._table: Any = None
        for name, value in self.attributes.items():
            self._take(name, value)
        self.check()

    def _take(self, name: Attribute, value: CUlaunchAttributeValue) -> None:
        if name == Attribute.CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
            self.is_cooperative = bool(value.cooperative)
        elif name == Attribute.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
            self.cluster = value.clusterDim.x, value.clusterDim.y, value.clusterDim.z
        elif name == Attribute.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
            self._events.append(find(int(value.programmaticEvent.event), Event))
        elif name == Attribute.CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
            self._events.append(find(int(value.launchCompletionEvent.event), Event))
        elif name not in HINTS:
            raise unsupported(f"the simulator has no launch attribute {name.name}")

    def put(self, name: Attribute, value: CUlaunchAttributeValue) -> None:
        """Set an attribute."""
        self._take(name, value)
        self.check()
        self.attributes = {**self.attributes, name: value}  # clones have this one

    def inherit(self, before: Operation) -> None:
        assert isinstance(before, KernelLaunch)
        for name, value in before.attributes.items():
            self.put(name, value)

    @property
    def threads_of_block(self) -> Three:
        """The block that runs: that which the kernel requires (`.reqntid`), if one thread was asked for.

        Compilers of tile kernels count on it. As seen on an NVIDIA H200 (driver 580).
        """
        required = self.kernel.kernel.required_block
        return required if required is not None and self.block == (1, 1, 1) else self.block

    def check(self) -> None:
        """Raise Refused for a launch that is not possible."""
        on_device = self.kernel.on_device
        configuration = self.grid, self.block, self.shared, self.cluster, self.is_cooperative
        if on_device.possible != configuration:
            self._check()
            on_device.possible = configuration

    def _check(self) -> None:
        self._check_dimensions()
        self._check_block()
        if self.cluster is not None:
            self._check_cluster(self.cluster)
        elif self.kernel.kernel.needs_cluster:
            raise _misfit(f"{self.kernel.name} is made for clusters: the launch must say how large they are")
        if self.is_cooperative:
            self._check_that_it_fits()

    def _check_dimensions(self) -> None:
        device = self.context.device
        for what, sizes, limit in (
            ("grid", self.grid, OfDevice.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X),
            ("block", self.block, OfDevice.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X),
        ):
            for i, size in enumerate(sizes):
                if not 0 < size <= device[OfDevice(limit + i)]:
                    raise ImpossibleConfiguration(
                        f"{what} dimensions {sizes}: number {i} must be 1 .. {device[OfDevice(limit + i)]}"
                    )

    def _check_block(self) -> None:
        """Its threads and its shared memory."""
        threads, required = math.prod(self.threads_of_block), self.kernel.kernel.required_block
        most = get(self.kernel.on_device, CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)
        if threads > 1024:
            raise ImpossibleConfiguration(
                f"block dimensions {self.block} are {threads} threads, more than 1024"
            )
        if threads > most:
            raise Refused(
                "CUDA_ERROR_INVALID_VALUE", f"{self.kernel.name} is made for blocks of {most} threads at most"
            )
        if required is not None and self.threads_of_block != required:
            raise invalid(
                f"{self.kernel.name} requires blocks of {required} (.reqntid), or (1, 1, 1) for that, "
                f"not {self.block}"
            )
        room = get(
            self.kernel.on_device, CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        )
        if self.shared > room:
            raise invalid(
                f"{self.shared} dynamic bytes of shared memory, more than the {room} of {self.kernel.name}"
            )

    def _check_that_it_fits(self) -> None:
        """All blocks of a cooperative launch run side by side."""
        fit = blocks_per_multiprocessor(self.kernel, math.prod(self.threads_of_block), self.shared)
        fit *= self.context.device[OfDevice.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT]
        blocks = math.prod(self.grid)
        if blocks > fit:
            raise Refused(
                "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
                f"{blocks} blocks, but the device has room for {fit}",
            )

    def _check_cluster(self, cluster: Three) -> None:
        if not self.context.device[OfDevice.CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH]:
            raise unsupported("clusters need compute capability 9.0")
        required = required_cluster(self.kernel.on_device)
        if any(size % part for size, part in zip(self.grid, cluster, strict=True) if part) or 0 in cluster:
            refusal = invalid if required is None else _misfit
            raise refusal(f"a grid of {self.grid} blocks does not divide into clusters of {cluster}")
        if required is not None and cluster != required:
            raise _misfit(f"{self.kernel.name} is made for clusters of {required}, not {cluster}")
        most = largest_cluster(self.kernel)
        if cluster[0] * cluster[1] * cluster[2] > most:
            raise _misfit(f"clusters of {self.kernel.name} have at most {most} blocks, not {cluster}")

    def run(self) -> None:
        go_on(self.kernel.name)
        faults = faults_here()
        whole, accesses = engine_device(self.context.device), list[LaunchAccesses]()
        device = whole.changed(
            multiprocessors=getattr(self.place, "multiprocessors", whole.multiprocessors),
            heap_size=self.context.limits[CUlimit.CU_LIMIT_MALLOC_HEAP_SIZE],
            pending_launches=self.context.limits[CUlimit.CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT],
            answers=KernelAnswers(self.kernel.module, _refusal),
            origin=self.context,
            pause=_time_slices.pause_of(faults),
            is_interrupted=is_interrupted,
            record=None if found.mode() == RAISE else found.keep_and_tell,
            accessed=accesses.append if may_race() else None,
        )
        try:
            with _time_slices:
                launch(
                    self.kernel.kernel,
                    self.grid,
                    self.threads_of_block,
                    self.params,
                    self.shared,
                    cooperative=self.is_cooperative,
                    cluster=self.cluster,
                    device=device,
                )
        except Fault as fault:
            found.add(fault.findings)
            raise Refused(CUresult(fault.status).name, readable_in(fault.report)) from None
        launched(accesses)
        for event in self._events:
            record = event.begin()
            record.work = Work.point()
            record.stamp()
            event.put(record)

    def details(self) -> list[str]:
        return [self.kernel.name, f"grid {self.grid}", f"block {self.block}", f"shared {self.shared}"]

    def added(self, work: Any) -> None:
        """The launch was queued: events of it are recorded now."""
        for event in self._events:
            record = event.begin()
            record.work = work
            event.put(record)

    def node_params(self) -> CUDA_KERNEL_NODE_PARAMS:
        """As a graph's node has it; its pointers live as long as the operation."""
        parameters = self.kernel.kernel.parameters
        if self._table is None:  # programs keep its address
            self._data = ctypes.create_string_buffer(self.params, max(1, len(self.params)))
            start = ctypes.addressof(self._data)
            addresses = [start + offset for offset, _ in parameters]
            self._table = (ctypes.c_void_p * max(1, len(parameters)))(*addresses)
        node_params = CUDA_KERNEL_NODE_PARAMS(
            func=self.kernel.handle,
            ctx=self.place.handle,
            sharedMemBytes=self.shared,
            kernelParams=ctypes.addressof(self._table) if parameters else 0,
        )
        library = self.kernel.module.library
        if library is not None and self.kernel.name in library.kernels:
            node_params.kern = CUkernel(library.kernels[self.kernel.name].handle)
        for i, letter in enumerate("XYZ"):
            setattr(node_params, "gridDim" + letter, self.grid[i])
            setattr(node_params, "blockDim" + letter, self.block[i])
        return node_params


def _refusal(kernel: Function, grid: Three, block: Three, shared: int) -> int:
    """The cudaError_t of a launch that is not possible, or 0."""
    try:
        KernelLaunch(kernel, grid, block, shared, b"")
    except ImpossibleConfiguration:
        return int(cudaError_t.cudaErrorInvalidConfiguration)
    except Refused as refused:
        return refused.code
    return 0


def attributes_of(config: Any) -> dict[Attribute, CUlaunchAttributeValue]:
    """The attributes of a CUlaunchConfig or cudaLaunchConfig_t, copied."""
    if not config.numAttrs:
        return {}
    return {
        Attribute(int(item.id)): CUlaunchAttributeValue.from_buffer_copy(
            item.value if hasattr(item, "value") else item.val
        )
        for item in config.attrs
    }


def submit(in_stream: Stream, launch: KernelLaunch) -> None:
    """Queue a launch, or capture it."""
    launch.place = in_stream.context
    work = in_stream.add(launch)
    if work is not None:
        launch.added(work)


def queue_launch(
    stream_handle: int,
    f: int,
    grid: Any,
    block: Any,
    shared: int,
    params: Any,
    extra: Any,
    attributes: Any = None,
) -> None:
    """Queue a launch in a stream. Raises Refused, for a stream that is none first."""
    in_stream, kernel = stream(stream_handle), function(f)
    submit(in_stream, KernelLaunch(kernel, grid, block, shared, pack(kernel, params, extra), attributes))


@provides("driver")
def cuLaunchKernel(
    f: int,
    gridDimX: int,
    gridDimY: int,
    gridDimZ: int,
    blockDimX: int,
    blockDimY: int,
    blockDimZ: int,
    sharedMemBytes: int,
    hStream: int,
    kernelParams: Pointer,
    extra: Pointer,
) -> None:
    grid, block = (gridDimX, gridDimY, gridDimZ), (blockDimX, blockDimY, blockDimZ)
    queue_launch(hStream, f, grid, block, sharedMemBytes, kernelParams, extra)


@provides("driver")
def cuLaunchKernelEx(config: Pointer, f: int, kernelParams: Pointer, extra: Pointer) -> None:
    told = needed(config, "config")
    grid = told.gridDimX, told.gridDimY, told.gridDimZ
    block = told.blockDimX, told.blockDimY, told.blockDimZ
    shared, attributes = told.sharedMemBytes, attributes_of(told)
    queue_launch(int(told.hStream), f, grid, block, shared, kernelParams, extra, attributes)


@provides("driver")
def cuLaunchCooperativeKernel(
    f: int,
    gridDimX: int,
    gridDimY: int,
    gridDimZ: int,
    blockDimX: int,
    blockDimY: int,
    blockDimZ: int,
    sharedMemBytes: int,
    hStream: int,
    kernelParams: Pointer,
) -> None:
    together = {Attribute.CU_LAUNCH_ATTRIBUTE_COOPERATIVE: CUlaunchAttributeValue(cooperative=1)}
    grid, block = (gridDimX, gridDimY, gridDimZ), (blockDimX, blockDimY, blockDimZ)
    queue_launch(hStream, f, grid, block, sharedMemBytes, kernelParams, None, together)
