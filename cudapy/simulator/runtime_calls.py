"""The Runtime API on top of the simulated driver: devices, errors, and the functions that are the driver's.

The real libcudart looks for the real libcuda. Here most functions are those of the driver under another name:
the same parameters, laid out the same way. The others are in the files beside this one.
"""

from __future__ import annotations

import ctypes
import re
import threading
from typing import Any

from .._types.driver.enums import CUdevice_attribute as Attribute
from .._types.meanings import CUDAERROR
from .._types.runtime.enums import cudaError_t
from .._types.runtime.structs import cudaDeviceProp
from . import context as contexts
from . import device as devices
from .library import Table, number, provided, provides, text
from .log import Refused, invalid

TWINS = {
    "cudaDestroySurfaceObject": "cuSurfObjectDestroy",
    "cudaDestroyTextureObject": "cuTexObjectDestroy",
    "cudaEventCreateWithFlags": "cuEventCreate",
    "cudaFree": "cuMemFree_v2",
    "cudaFreeArray": "cuArrayDestroy",
    "cudaFreeAsync": "cuMemFreeAsync",
    "cudaFreeHost": "cuMemFreeHost",
    "cudaFreeMipmappedArray": "cuMipmappedArrayDestroy",
    "cudaGetDeviceCount": "cuDeviceGetCount",
    "cudaGetMipmappedArrayLevel": "cuMipmappedArrayGetLevel",
    "cudaGetTextureObjectResourceViewDesc": "cuTexObjectGetResourceViewDesc",
    "cudaGraphInstantiate": "cuGraphInstantiateWithFlags",
    "cudaHostAlloc": "cuMemHostAlloc",
    "cudaHostGetDevicePointer": "cuMemHostGetDevicePointer_v2",
    "cudaHostGetFlags": "cuMemHostGetFlags",
    "cudaHostRegister": "cuMemHostRegister_v2",
    "cudaHostUnregister": "cuMemHostUnregister",
    "cudaMalloc": "cuMemAlloc_v2",
    "cudaMallocAsync": "cuMemAllocAsync",
    "cudaMallocFromPoolAsync": "cuMemAllocFromPoolAsync",
    "cudaMallocHost": "cuMemAllocHost_v2",
    "cudaMallocManaged": "cuMemAllocManaged",
    "cudaRuntimeGetVersion": "cuDriverGetVersion",
    "cudaStreamCreateWithFlags": "cuStreamCreate",
    "cudaThreadGetCacheConfig": "cuCtxGetCacheConfig",
    "cudaThreadGetLimit": "cuCtxGetLimit",
    "cudaThreadSetCacheConfig": "cuCtxSetCacheConfig",
    "cudaThreadSetLimit": "cuCtxSetLimit",
    "cudaThreadSynchronize": "cuCtxSynchronize",
}
"""What is another function of the driver than its name says."""

DIFFERENT = ("cudaMemcpy3DParms", "cudaMemcpy3DPeerParms", "cudaGraphNodeParams")
"""Structs that are laid out in another way than those of the driver."""

WITHOUT_CONTEXT = frozenset(
    {
        "cudaDriverGetVersion",
        "cudaGetErrorName",
        "cudaGetErrorString",
        "cudaGetLastError",
        "cudaPeekAtLastError",
        "cudaRuntimeGetVersion",
        "cudaGetDeviceCount",
        "cudaSetDevice",
        "cudaInitDevice",
        "cudaSetValidDevices",
        "cudaDeviceReset",
        "cudaThreadExit",
        "cudaCreateChannelDesc",
    }
)
"""The functions that do not make the primary context of a device."""


class _Thread(threading.local):
    error = 0
    device = 0


_thread = _Thread()


def twin(driver: Table, table: Table, symbol: str) -> tuple[Table, str] | None:
    """The function of the driver that a function of the runtime is, if there is one."""
    mine = table._prototypes[symbol].parameters
    base = symbol.removeprefix("cuda")
    names = [f"cu{base}", f"cu{base}_v2", f"cu{base}_v3", f"cuCtx{base.removeprefix('Device')}"]
    for name in [TWINS[symbol]] if symbol in TWINS else names:
        prototype = driver._prototypes.get(name)
        if prototype is None or name not in provided["driver"] or len(prototype.parameters) != len(mine):
            continue
        widths = [_width(driver.storage(p)) for p in prototype.parameters]
        same = widths == [_width(table.storage(p)) for p in mine]
        if same and not any(p.type in DIFFERENT for p in mine):
            return driver, name
    return None


def _width(cls: Any) -> int:
    """The bytes of a parameter: a pointer and a 64-bit number travel alike."""
    return ctypes.sizeof(cls)


def before(symbol: str) -> None:
    """What every function begins with: the device of the thread is there, and its primary context current."""
    if not devices.devices:
        devices.cuInit(0)
    context = contexts.top()
    if symbol not in WITHOUT_CONTEXT and (context is None or contexts.find_or_none(context) is None):
        contexts.make_current(contexts.retained(_thread.device))


def failed(refused: Refused) -> int:
    """The status of a failure: the codes of the driver and the runtime are the same numbers."""
    if refused.status != "CUDA_ERROR_NOT_READY":
        _thread.error = refused.code
    return refused.code


# -- Errors ------------------------------------------------------------------------------------------------


@provides("runtime")
def cudaGetLastError() -> None:
    code, _thread.error = _thread.error, 0
    _raise(code)


@provides("runtime")
def cudaPeekAtLastError() -> None:
    _raise(_thread.error)


def _raise(code: int) -> None:
    context = contexts.top()
    if not code and context is not None and context.error is not None:
        code = context.error.code
    if code:
        raise Status(code)


class Status(Refused):
    """A status that is told again: nothing new went wrong."""

    def __init__(self, code: int) -> None:
        super().__init__("CUDA_ERROR_NOT_READY")
        self._code = code

    @property
    def code(self) -> int:
        return self._code


@provides("runtime")
def cudaGetErrorName(error: int) -> int:
    name = cudaError_t(error).name
    return text(name.encode() if name in CUDAERROR else b"unrecognized error code")


@provides("runtime")
def cudaGetErrorString(error: int) -> int:
    found = CUDAERROR.get(cudaError_t(error).name)
    return text(found[0].encode() if found else b"unrecognized error code")


# -- Devices -----------------------------------------------------------------------------------------------


@provides("runtime")
def cudaSetDevice(device: int) -> None:
    context = contexts.retained(devices.device(device).ordinal)
    _thread.device = device
    contexts.make_current(context)


@provides("runtime")
def cudaInitDevice(device: int, deviceFlags: int, flags: int) -> None:
    contexts.retained(devices.device(device).ordinal)


@provides("runtime")
def cudaGetDevice() -> int:
    return contexts.current(faulty=True).device.ordinal


@provides("runtime")
def cudaSetValidDevices(device_arr: Any, length: int) -> None:
    for i in range(length):
        devices.device(device_arr[i])


@provides("runtime")
def cudaChooseDevice(prop: Any) -> int:
    if not prop:
        raise invalid("prop is NULL")
    return 0  # they are all alike


@provides("runtime")
def cudaSetDeviceFlags(flags: int) -> None:
    contexts.cuDevicePrimaryCtxSetFlags_v2(contexts.current().device.ordinal, flags)


@provides("runtime")
def cudaGetDeviceFlags() -> int:
    return contexts.current().flags | 8  # cudaDeviceMapHost: always


@provides("runtime", "cudaDeviceReset", "cudaThreadExit")
def cudaDeviceReset() -> None:
    context = contexts.top()
    on = devices.device(_thread.device) if context is None else context.device
    contexts.forget_retained(on.ordinal)
    contexts.cuDevicePrimaryCtxReset_v2(on.ordinal)


@provides("runtime")
def cudaDeviceEnablePeerAccess(peerDevice: int, flags: int) -> None:
    contexts.cuCtxEnablePeerAccess(contexts.retained(devices.device(peerDevice).ordinal).handle, flags)


@provides("runtime")
def cudaDeviceDisablePeerAccess(peerDevice: int) -> None:
    contexts.cuCtxDisablePeerAccess(contexts.retained(devices.device(peerDevice).ordinal).handle)


PROPERTIES = {
    "sharedMemPerBlock": "MAX_SHARED_MEMORY_PER_BLOCK",
    "regsPerBlock": "MAX_REGISTERS_PER_BLOCK",
    "warpSize": "WARP_SIZE",
    "memPitch": "MAX_PITCH",
    "maxThreadsPerBlock": "MAX_THREADS_PER_BLOCK",
    "totalConstMem": "TOTAL_CONSTANT_MEMORY",
    "major": "COMPUTE_CAPABILITY_MAJOR",
    "minor": "COMPUTE_CAPABILITY_MINOR",
    "textureAlignment": "TEXTURE_ALIGNMENT",
    "texturePitchAlignment": "TEXTURE_PITCH_ALIGNMENT",
    "multiProcessorCount": "MULTIPROCESSOR_COUNT",
    "integrated": "INTEGRATED",
    "canMapHostMemory": "CAN_MAP_HOST_MEMORY",
    "surfaceAlignment": "SURFACE_ALIGNMENT",
    "concurrentKernels": "CONCURRENT_KERNELS",
    "pciBusID": "PCI_BUS_ID",
    "pciDeviceID": "PCI_DEVICE_ID",
    "pciDomainID": "PCI_DOMAIN_ID",
    "asyncEngineCount": "ASYNC_ENGINE_COUNT",
    "unifiedAddressing": "UNIFIED_ADDRESSING",
    "maxThreadsPerMultiProcessor": "MAX_THREADS_PER_MULTIPROCESSOR",
    "streamPrioritiesSupported": "STREAM_PRIORITIES_SUPPORTED",
    "sharedMemPerMultiprocessor": "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR",
    "regsPerMultiprocessor": "MAX_REGISTERS_PER_MULTIPROCESSOR",
    "managedMemory": "MANAGED_MEMORY",
    "concurrentManagedAccess": "CONCURRENT_MANAGED_ACCESS",
    "canUseHostPointerForRegisteredMem": "CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM",
    "cooperativeLaunch": "COOPERATIVE_LAUNCH",
    "sharedMemPerBlockOptin": "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN",
    "directManagedMemAccessFromHost": "DIRECT_MANAGED_MEM_ACCESS_FROM_HOST",
    "maxBlocksPerMultiProcessor": "MAX_BLOCKS_PER_MULTIPROCESSOR",
    "reservedSharedMemPerBlock": "RESERVED_SHARED_MEMORY_PER_BLOCK",
    "hostRegisterSupported": "HOST_REGISTER_SUPPORTED",
    "memoryPoolsSupported": "MEMORY_POOLS_SUPPORTED",
    "clusterLaunch": "CLUSTER_LAUNCH",
    "deviceNumaId": "NUMA_ID",
    "hostNumaId": "HOST_NUMA_ID",
    "multiGpuBoardGroupID": "MULTI_GPU_BOARD_GROUP_ID",
    "memoryPoolSupportedHandleTypes": "MEMPOOL_SUPPORTED_HANDLE_TYPES",
}
"""The fields of cudaDeviceProp that are one attribute each."""


@provides("runtime")
def cudaGetDeviceProperties(device: int) -> cudaDeviceProp:
    on = devices.device(device)
    made = cudaDeviceProp(name=devices.NAME, totalGlobalMem=on.total_memory)
    made.uuid.bytes = on.uuid
    for field, name in PROPERTIES.items():
        setattr(made, field, on[Attribute[f"CU_DEVICE_ATTRIBUTE_{name}"]])
    for field, prefix in (("maxThreadsDim", "MAX_BLOCK_DIM_"), ("maxGridSize", "MAX_GRID_DIM_")):
        setattr(made, field, [on[Attribute[f"CU_DEVICE_ATTRIBUTE_{prefix}{axis}"]] for axis in "XYZ"])
    for field in filter(EXTENT.match, dir(made)):
        sizes = [on[name] for name in _extents(field)]
        setattr(made, field, sizes if len(sizes) > 1 else sizes[0])
    return made


EXTENT = re.compile("max(Texture|Surface)(1D|2D|3D|Cubemap)(Mipmap|Linear|Gather|Alt|Layered)?$")
"""The fields of cudaDeviceProp that say how large a texture or a surface may be."""


def _extents(field: str) -> list[Attribute]:
    """The attributes behind one of them, in their order."""
    kind, shape, variant = EXTENT.match(field).groups()  # type: ignore[union-attr]
    stem = f"CU_DEVICE_ATTRIBUTE_MAXIMUM_{kind}{shape}_".upper()
    middle = {None: "", "Alt": "", "Mipmap": "MIPMAPPED_"}.get(variant, f"{variant}_".upper())
    end = "_ALTERNATE" if variant == "Alt" else ""
    names = [stem + middle + axis + end for axis in ("WIDTH", "HEIGHT", "DEPTH", "PITCH", "LAYERS")]
    return [Attribute[name] for name in names if name in Attribute.__members__]


# -- Streams and events: what has fewer parameters ---------------------------------------------------------


@provides("runtime")
def cudaStreamCreate() -> int:
    from .stream import cuStreamCreate

    return cuStreamCreate(0)


@provides("runtime")
def cudaEventCreate() -> int:
    from .event import cuEventCreate

    return cuEventCreate(0)


# -- Entry points of the driver ----------------------------------------------------------------------------


@provides("runtime")
def cudaGetDriverEntryPointByVersion(
    symbol: bytes | None, funcPtr: Any, cudaVersion: int, flags: int, driverStatus: Any
) -> None:
    from .errors import cuGetProcAddress_v2

    cuGetProcAddress_v2(symbol, funcPtr, cudaVersion, flags, driverStatus)


@provides("runtime")
def cudaGetDriverEntryPoint(symbol: bytes | None, funcPtr: Any, flags: int, driverStatus: Any) -> None:
    cudaGetDriverEntryPointByVersion(symbol, funcPtr, number("13.0"), flags, driverStatus)
