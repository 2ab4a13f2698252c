"""Kernels: functions that the device runs."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import ref

from ... import driver
from ..._ffi.library import SymbolNotFound
from ..._ffi.mangled import readable
from ...driver import CUfunction, CUfunction_attribute, CUkernel, CUlibrary, checked
from ..closable import NotCopyable
from ..streams.waiting import PRINTS, synchronizing
from ..upward import upward
from .parameter_kinds import Parameter

if TYPE_CHECKING:
    from ..device.device import Device
    from .object_code import ObjectCode
    from .occupancy import KernelOccupancy


NO_LANE: tuple[Any, ...] = ((1 << 63) - 1).to_bytes(8, "little"), None
"""What a kernel keeps for the fast lane if only Python can launch it: a count that no launch has."""
HOW_TO_LAUNCH = "launch(stream, LaunchConfig(grid=..., block=...), kernel, *arguments)"
"""What to write, for messages."""


class ParamInfo(NamedTuple):
    """Where a parameter lies among the arguments of a kernel, in bytes."""

    offset: int
    size: int


class Kernel(NotCopyable):
    """A kernel that `launch` runs in any context of any device, from `ObjectCode.get_kernel`.

    Source: cuLibraryGetKernel.
    """

    __slots__ = (
        "_function",
        "_handle",
        "_known",
        "_lane",
        "_launch",
        "_module",
        "_packers",
        "_parameters_known",
        "name",
    )
    _lane: tuple[Any, ...]  # for the fast lane of `launch`, once there was a launch

    def __init__(self, handle: CUkernel, name: str, module: ObjectCode | None) -> None:
        self._handle = handle
        self._function = CUfunction.from_buffer_copy(handle)  # the driver takes one for the other
        self._module = module  # kept alive, as it owns the code
        self._packers: dict[Any, Any] = {}  # what `launch` has written for this kernel, see `keep`
        self._launch: Any = upward.dispatch
        self._parameters_known: list[tuple[int, int]] | None = None
        self._known: list[Parameter] | None = None  # of each parameter, see `_signature`
        self.name = name

    @staticmethod
    def from_handle(handle: int | CUkernel, mod: ObjectCode | None = None) -> Kernel:
        """The kernel at an address. `mod` is kept alive, else the ObjectCode that the kernel is of.

        That of code which core has not loaded, or with a driver before CUDA 12.5, must be kept by its owner.
        Raises TypeError for what is not an address. Source: cuKernelGetName, cuKernelGetLibrary.
        """
        kernel = handle if isinstance(handle, CUkernel) else CUkernel(_address(handle))
        code = _loaded_from(kernel)
        if code is None:
            synchronizing.add(PRINTS)
        return Kernel(kernel, kernel_name(kernel), code if mod is None else mod)

    @property
    def handle(self) -> CUkernel:
        """The CUkernel."""
        return self._handle

    @property
    def attributes(self) -> KernelAttributes:
        """Its attributes on the current device; `attributes[device]` for another."""
        return KernelAttributes(self)

    @property
    def occupancy(self) -> KernelOccupancy:
        """Its occupancy of the current device."""
        from .occupancy import KernelOccupancy

        return KernelOccupancy(self)

    @property
    def num_arguments(self) -> int:
        """The number of arguments. Needs CUDA 12.4."""
        return len(self.arguments_info)

    @property
    def arguments_info(self) -> list[ParamInfo]:
        """The offset and size of each argument, in bytes. Needs CUDA 12.4. Source: cuKernelGetParamInfo."""
        if self._parameters is None:
            checked.cuKernelGetParamInfo(self._handle, 0)  # raises SymbolNotFound
        return [ParamInfo(*where) for where in self._parameters or ()]

    @property
    def _parameters(self) -> list[tuple[int, int]] | None:
        """The offset and size of each parameter, or None where the driver cannot tell."""
        if self._parameters_known is None:
            parameters: list[tuple[int, int]] = []
            try:
                status, offset, size = driver.cuKernelGetParamInfo(self._handle, 0)
                while not status:
                    parameters.append((offset, size))
                    status, offset, size = driver.cuKernelGetParamInfo(self._handle, len(parameters))
            except SymbolNotFound:
                return None
            if status != driver.CUresult.CUDA_ERROR_INVALID_VALUE:  # there is none of this index
                arguments = {"kernel": self._handle, "paramIndex": len(parameters)}
                raise driver.libcuda.error("cuKernelGetParamInfo", status, arguments)
            self._parameters_known = parameters
        return self._parameters_known

    def _signature(self, count: int) -> list[Parameter]:
        """What is known of each of `count` parameters, those of a launch. Raises TypeError for another count.

        The kinds are those that its code declares, where the driver does not tell other sizes.
        """
        known = self._known
        if known is None:
            sizes = self._parameters
            known = self._module._kernels().get(self.name) if self._module is not None else None
            if sizes is not None and (
                known is None or [one.size for one in known] != [size for _, size in sizes]
            ):
                known = [Parameter("", size) for _, size in sizes]
            self._known = known
        if known is None:
            return [Parameter()] * count
        if count != len(known):
            arguments = "1 argument" if len(known) == 1 else f"{len(known)} arguments"
            raise TypeError(f"{readable(self.name)} takes {arguments}, not {count}")
        return known

    if not TYPE_CHECKING:  # for which a Kernel is neither

        def __call__(self, *args: object, **kwargs: object) -> None:
            raise TypeError(f"a Kernel is not called, but launched: {HOW_TO_LAUNCH}")

        def __getitem__(self, shape: object) -> None:
            raise TypeError(f"a Kernel has no [grid, block]: {HOW_TO_LAUNCH}")

    def __eq__(self, other: object) -> bool:
        return self._handle == other._handle if isinstance(other, Kernel) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._handle)

    def __repr__(self) -> str:
        return f"<Kernel {self.name}>"


loaded: dict[int, ref[ObjectCode]] = {}
"""The code that was loaded, by the address of its CUlibrary.

No WeakValueDictionary, which has a function of Python called as its values go: see `interrupt_safe`.
"""


def _address(handle: Any) -> int:
    try:
        return operator.index(handle)
    except TypeError:
        name = type(handle).__name__
        raise TypeError(f"a kernel's handle is a CUkernel or its address as an int, not {name}") from None


def _loaded_from(kernel: CUkernel) -> ObjectCode | None:
    """The code that a kernel is of, if core has loaded it. Source: cuKernelGetLibrary, CUDA 12.5."""
    try:
        status, library = driver.cuKernelGetLibrary(kernel)
    except SymbolNotFound:
        return None
    code = None if status else loaded.get(int(library))
    return None if code is None else code()


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


class KernelAttributes(NotCopyable):
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
        return upward.device().device_id if self._device_id is None else self._device_id

    def __repr__(self) -> str:
        where = "the current device" if self._device_id is None else f"device {self._device_id}"
        return f"<KernelAttributes on {where}>"
