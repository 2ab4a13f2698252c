"""Kernels: their parameters and attributes."""

import re
from typing import Any

from ..._types.driver.enums import CUdevice_attribute as OfDevice
from ..._types.driver.enums import CUfunction_attribute as Attribute
from ..devices.context import current
from ..devices.device import device
from ..handles import find
from ..immortal import text
from ..library import provides
from ..refused import Refused, invalid
from .kernel_library import Kernel, function
from .module import OnDevice


@provides("driver")
def cuKernelGetFunction(kernel: int) -> int:
    return find(kernel, Kernel).function(current()).handle


@provides("driver")
def cuKernelGetLibrary(kernel: int) -> int:
    return find(kernel, Kernel).library.handle


@provides("driver")
def cuKernelGetName(hfunc: int) -> int:
    if not hfunc:
        raise invalid("the kernel is NULL")
    return text(find(hfunc, Kernel).name.encode())


@provides("driver")
def cuKernelGetParamInfo(kernel: int, paramIndex: int) -> tuple[int, int]:
    of = find(kernel, Kernel)
    current()
    return parameter(of.kernel, paramIndex)


@provides("driver")
def cuKernelGetParamCount(kernel: int) -> int:
    return len(find(kernel, Kernel).kernel.parameters)


@provides("driver")
def cuKernelGetAttribute(attrib: int, kernel: int, dev: int) -> int:
    return get(find(kernel, Kernel).on(device(dev)), attrib)


@provides("driver")
def cuKernelSetAttribute(attrib: int, val: int, kernel: int, dev: int) -> None:
    put(find(kernel, Kernel).on(device(dev)), attrib, val)


@provides("driver")
def cuKernelSetCacheConfig(kernel: int, config: int, dev: int) -> None:
    find(kernel, Kernel)
    device(dev)


def parameter(kernel: Any, index: int) -> tuple[int, int]:
    """The offset and the size of a parameter."""
    if not 0 <= index < len(kernel.parameters):
        raise invalid(f"{kernel.name} has {len(kernel.parameters)} parameters, no number {index}")
    parameter: tuple[int, int] = kernel.parameters[index]
    return parameter


def get(of: OnDevice, attrib: int) -> int:
    """An attribute."""
    name = Attribute(attrib)
    if name in of.set:
        return of.set[name]
    if of.compiled_attributes is None:
        of.compiled_attributes = _compiled_attributes(of)
    if name not in of.compiled_attributes:
        raise invalid(f"{attrib} is not an attribute of a function")
    return of.compiled_attributes[name]


def _compiled_attributes(of: OnDevice) -> dict[Attribute, int]:
    """The attributes that a kernel has where none are set."""
    kernel, device = of.kernel, of.device
    major, minor = (
        device[OfDevice.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR],
        device[OfDevice.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR],
    )
    target = re.search(rb"\.target\s+(?:sm|compute)_(\d+)", of.source.ptx)
    return {
        Attribute.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: min(kernel.max_threads or 1024, 1024),
        Attribute.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: kernel.shared_size,
        Attribute.CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: kernel.const_size,
        Attribute.CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: kernel.local_size,
        Attribute.CU_FUNC_ATTRIBUTE_NUM_REGS: of.registers,
        Attribute.CU_FUNC_ATTRIBUTE_PTX_VERSION: int(target[1]) if target else 10 * major + minor,
        Attribute.CU_FUNC_ATTRIBUTE_BINARY_VERSION: 10 * major + minor,
        Attribute.CU_FUNC_ATTRIBUTE_CACHE_MODE_CA: 0,
        Attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: (48 << 10) - kernel.shared_size,
        Attribute.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: -1,
        Attribute.CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET: int(kernel.needs_cluster),
        Attribute.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH: (kernel.cluster or (0, 0, 0))[0],
        Attribute.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT: (kernel.cluster or (0, 0, 0))[1],
        Attribute.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: (kernel.cluster or (0, 0, 0))[2],
        Attribute.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: 0,
        Attribute.CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: 0,
    }


_CLUSTER = (
    Attribute.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH,
    Attribute.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT,
    Attribute.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH,
)


def required_cluster(of: OnDevice) -> tuple[int, int, int] | None:
    """The size of clusters that a kernel was compiled for, or that its attributes were set to.

    Raises Refused.
    """
    if of.set.keys().isdisjoint(_CLUSTER):
        return of.kernel.cluster
    if of.set.keys().isdisjoint(_CLUSTER):
        return of.kernel.cluster
    width, height, depth = (get(of, name) for name in _CLUSTER)
    if not width and not height and not depth:
        return None
    if not width or not height or not depth:
        size = (width, height, depth)
        raise invalid(f"{of.kernel.name}: clusters of {size}: all of them must be set, or none")
    return width, height, depth


def put(of: OnDevice, attrib: int, value: int) -> None:
    """Set an attribute."""
    name = Attribute(attrib)
    if name == Attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        largest = of.device[OfDevice.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN]
        if not 0 <= value <= largest - of.kernel.shared_size:
            raise invalid(
                f"{of.kernel.name} can have 0 .. {largest - of.kernel.shared_size} dynamic bytes, not {value}"
            )
    elif name == Attribute.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        if not -1 <= value <= 100:
            raise invalid(f"a carveout is -1 .. 100, not {value}")
    elif name not in (
        Attribute.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
        Attribute.CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
        *_CLUSTER,
    ):
        raise invalid(f"{name.name} cannot be set")
    if name in _CLUSTER and of.kernel.cluster is not None:
        reason = f"{of.kernel.name} was compiled for clusters of {of.kernel.cluster}"
        raise Refused("CUDA_ERROR_NOT_PERMITTED", reason)
    if name in _CLUSTER and value < 0:
        raise invalid(f"{name.name} cannot be {value}")
    of.set[name] = value
    of.possible = None


@provides("driver")
def cuFuncGetAttribute(attrib: int, hfunc: int) -> int:
    return get(function(hfunc).on_device, attrib)


@provides("driver")
def cuFuncSetAttribute(hfunc: int, attrib: int, value: int) -> None:
    put(function(hfunc).on_device, attrib, value)


@provides("driver")
def cuFuncSetCacheConfig(hfunc: int, config: int) -> None:
    function(hfunc)  # there are no caches
    if config not in range(4):
        raise invalid(f"{config} is not a CUfunc_cache")


@provides("driver")
def cuFuncSetSharedMemConfig(hfunc: int, config: int) -> None:
    function(hfunc)


@provides("driver")
def cuFuncGetModule(hfunc: int) -> int:
    return function(hfunc).module.handle


@provides("driver")
def cuFuncGetName(hfunc: int) -> int:
    if not hfunc:
        raise invalid("the function is NULL")
    return text(function(hfunc).name.encode())


@provides("driver")
def cuFuncGetParamCount(func: int) -> int:
    return len(function(func).kernel.parameters)


@provides("driver")
def cuFuncGetParamInfo(func: int, paramIndex: int) -> tuple[int, int]:
    return parameter(function(func).kernel, paramIndex)


@provides("driver")
def cuFuncIsLoaded(function: int) -> int:
    from .kernel_library import function as find_function

    find_function(function)
    return 1  # CU_FUNCTION_LOADING_STATE_LOADED


@provides("driver")
def cuFuncLoad(function: int) -> None:
    from .kernel_library import function as find_function

    find_function(function)
