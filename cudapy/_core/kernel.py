"""Kernels: functions that the device runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from .. import driver
from .._ffi.library import SymbolNotFound
from ..driver import CUfunction, CUfunction_attribute, CUkernel, CUlibrary, checked
from .unique import Unique

if TYPE_CHECKING:
    from collections.abc import Callable

    from .device import Device
    from .launch_config import LaunchConfig
    from .module import ObjectCode
    from .stream import IsStreamType, Stream


class ParamInfo(NamedTuple):
    """Where a parameter lies among the arguments of a kernel, in bytes."""

    offset: int
    size: int


class Kernel(Unique):
    """A function that `launch` runs, in any context of any device: what `ObjectCode.get_kernel` gives.

    Source: cuLibraryGetKernel.
    """

    __slots__ = ("_function", "_handle", "_launch", "_module", "_packers", "_parameters_found", "name")

    def __init__(self, handle: CUkernel, name: str, module: ObjectCode | None) -> None:
        self._handle = handle
        self._function = CUfunction(int(handle))  # the driver takes one for the other
        self._module = module  # kept alive, as it owns the code
        self._packers: dict[Any, Any] = {}  # what `launch` has written for this kernel
        self._launch: Any = _first_launch
        self._parameters_found: list[ParamInfo] | None = None
        self.name = name

    @staticmethod
    def from_handle(handle: int | CUkernel, mod: ObjectCode | None = None) -> Kernel:
        """The kernel at an address; `mod` is kept alive, else whoever made it must.

        Source: cuKernelGetName.
        """
        kernel = CUkernel(int(handle))
        return Kernel(kernel, kernel_name(kernel), mod)

    @property
    def handle(self) -> CUkernel:
        """The CUkernel."""
        return self._handle

    @property
    def attributes(self) -> KernelAttributes:
        """What it needs and may be given, on the current device; `attributes[device]` for another."""
        return KernelAttributes(self)

    @property
    def occupancy(self) -> KernelOccupancy:
        """How much of it the current device can run at once."""
        return KernelOccupancy(self)

    @property
    def num_arguments(self) -> int:
        """How many arguments it takes. Needs CUDA 12.4."""
        return len(self.arguments_info)

    @property
    def arguments_info(self) -> list[ParamInfo]:
        """The offset and size of each argument, in bytes. Needs CUDA 12.4. Source: cuKernelGetParamInfo."""
        if self._parameters is None:
            checked.cuKernelGetParamInfo(self._handle, 0)  # raises SymbolNotFound
        return list(self._parameters or ())

    @property
    def _parameters(self) -> list[ParamInfo] | None:
        """The same, but None where the driver cannot tell."""
        if self._parameters_found is None:
            found: list[ParamInfo] = []
            try:
                status, *where = driver.cuKernelGetParamInfo(self._handle, 0)
                while not status:
                    found.append(ParamInfo(*where))
                    status, *where = driver.cuKernelGetParamInfo(self._handle, len(found))
            except SymbolNotFound:
                return None
            if status != driver.CUresult.CUDA_ERROR_INVALID_VALUE:  # there is none of this index
                arguments = {"kernel": self._handle, "paramIndex": len(found)}
                raise driver.libcuda.error("cuKernelGetParamInfo", status, arguments)
            self._parameters_found = found
        return self._parameters_found

    def __eq__(self, other: object) -> bool:
        return self._handle == other._handle if isinstance(other, Kernel) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._handle)

    def __repr__(self) -> str:
        return f"<Kernel {self.name}>"


def _first_launch(*how: Any) -> None:
    from .launch import dispatch  # which imports this file

    dispatch(*how)


def kernel_name(kernel: CUkernel) -> str:
    """The (mangled) name of a kernel, or "" where the driver cannot tell.

    Source: cuKernelGetName, CUDA 12.3.
    """
    try:
        status, name = driver.cuKernelGetName(kernel)
    except SymbolNotFound:
        return ""
    return "" if status else name.decode()


def kernel_names(library: CUlibrary) -> list[str]:
    """The names of all kernels of a library, or [] where the driver cannot tell.

    Source: cuLibraryEnumerateKernels, CUDA 12.4.
    """
    try:
        count = checked.cuLibraryGetKernelCount(library)
        kernels = checked.cuLibraryEnumerateKernels(count, library) if count else []
    except SymbolNotFound:
        return []
    return sorted(filter(None, map(kernel_name, kernels)))


class Count(int):
    """A number that can be called as well, and then gives itself: `num_regs` was `num_regs()` once."""

    def __call__(self) -> int:
        return int(self)


class _Attribute:
    """A CUfunction_attribute: asked for when it is read, set when it is assigned to."""

    kind: type[int] = Count

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @property
    def attribute(self) -> CUfunction_attribute:
        return CUfunction_attribute[f"CU_FUNC_ATTRIBUTE_{self.name.upper()}"]

    def __get__(self, of: KernelAttributes | None, owner: type) -> Any:
        if of is None:
            return self
        return self.kind(checked.cuKernelGetAttribute(self.attribute, of._kernel._handle, of._device()))

    def __set__(self, of: KernelAttributes, value: int) -> None:
        checked.cuKernelSetAttribute(self.attribute, value, of._kernel._handle, of._device())


class _Flag(_Attribute):
    """One that is true or false."""

    kind = bool


class KernelAttributes(Unique):
    """What a kernel needs and may be given on a device. Sizes are in bytes.

    The names are those of CUfunction_attribute in lower case, without CU_FUNC_ATTRIBUTE_. Those that the
    driver lets be changed may be set, e.g. `max_dynamic_shared_size_bytes`, which a launch with more than 48
    KB of dynamic shared memory needs. Source: cuKernelGetAttribute, cuKernelSetAttribute.
    """

    __slots__ = ("_device_id", "_kernel")

    max_threads_per_block = _Attribute()
    shared_size_bytes = _Attribute()
    const_size_bytes = _Attribute()
    local_size_bytes = _Attribute()
    num_regs = _Attribute()
    ptx_version = _Attribute()
    binary_version = _Attribute()
    cache_mode_ca = _Flag()
    max_dynamic_shared_size_bytes = _Attribute()
    preferred_shared_memory_carveout = _Attribute()
    cluster_size_must_be_set = _Flag()
    required_cluster_width = _Attribute()
    required_cluster_height = _Attribute()
    required_cluster_depth = _Attribute()
    non_portable_cluster_size_allowed = _Flag()
    cluster_scheduling_policy_preference = _Attribute()

    def __init__(self, kernel: Kernel, device_id: int | None = None) -> None:
        self._kernel = kernel  # not its handle alone: that is good as long as the kernel is
        self._device_id = device_id

    def __getitem__(self, device: Device | int) -> KernelAttributes:
        """The attributes on another device."""
        return KernelAttributes(self._kernel, int(device))

    def _device(self) -> int:
        from .device import Device

        return Device().device_id if self._device_id is None else self._device_id

    def __repr__(self) -> str:
        where = "the current device" if self._device_id is None else f"device {self._device_id}"
        return f"<KernelAttributes on {where}>"


class MaxPotentialBlockSize(NamedTuple):
    """The launch that fills a device."""

    min_grid_size: int
    max_block_size: int


class KernelOccupancy(Unique):
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
        found = checked.cuOccupancyMaxPotentialBlockSize(self._function, function, size, block_size_limit)
        return MaxPotentialBlockSize(*found)

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
        return int(checked.cuOccupancyMaxPotentialClusterSize(self._function, _c_launch(config, stream)))

    def max_active_clusters(
        self, config: LaunchConfig, *, stream: Stream | IsStreamType | None = None
    ) -> int:
        """How many clusters of this launch the device runs at once. Source: cuOccupancyMaxActiveClusters."""
        return int(checked.cuOccupancyMaxActiveClusters(self._function, _c_launch(config, stream)))


def _c_launch(config: LaunchConfig, stream: Stream | IsStreamType | None) -> driver.CUlaunchConfig:
    from .launch_config import LaunchConfig, c_config
    from .stream import Stream

    if not isinstance(config, LaunchConfig):
        raise TypeError(f"the occupancy of clusters is that of a LaunchConfig, not {type(config).__name__}")
    made: driver.CUlaunchConfig = driver.CUlaunchConfig.from_buffer_copy(
        c_config(config, int(Stream._accept(stream)._handle))
    )
    return made
