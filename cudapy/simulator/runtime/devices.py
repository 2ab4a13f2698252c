"""The Runtime API's devices."""

from __future__ import annotations

import re

from ..._types.driver.enums import CUdevice_attribute as Attribute
from ..._types.runtime.structs import cudaDeviceProp
from ..addresses import Pointer
from ..devices import context as contexts
from ..devices import device as devices
from ..devices.peers import cuCtxDisablePeerAccess, cuCtxEnablePeerAccess
from ..devices.primary import (
    cuDevicePrimaryCtxReset_v2,
    cuDevicePrimaryCtxSetFlags_v2,
    forget_retained,
    retained,
)
from ..library import provides
from ..refused import invalid
from .calls import of_thread


@provides("runtime")
def cudaSetDevice(device: int) -> None:
    context = retained(devices.device(device).ordinal)
    of_thread.device = device
    contexts.make_current(context)


@provides("runtime")
def cudaInitDevice(device: int, deviceFlags: int, flags: int) -> None:
    retained(devices.device(device).ordinal)


@provides("runtime")
def cudaGetDevice() -> int:
    return contexts.current(faulty=True).device.ordinal


@provides("runtime")
def cudaSetValidDevices(device_arr: Pointer, length: int) -> None:
    for i in range(length):
        devices.device(device_arr[i])


@provides("runtime")
def cudaChooseDevice(prop: Pointer) -> int:
    if not prop:
        raise invalid("prop is NULL")
    return 0  # they are all alike


@provides("runtime")
def cudaSetDeviceFlags(flags: int) -> None:
    cuDevicePrimaryCtxSetFlags_v2(contexts.current().device.ordinal, flags)


@provides("runtime")
def cudaGetDeviceFlags() -> int:
    return contexts.current().flags | 8  # cudaDeviceMapHost: always


@provides("runtime", "cudaDeviceReset", "cudaThreadExit")
def cudaDeviceReset() -> None:
    context = contexts.top()
    this_device = devices.device(of_thread.device) if context is None else context.device
    forget_retained(this_device.ordinal)
    cuDevicePrimaryCtxReset_v2(this_device.ordinal)


@provides("runtime")
def cudaDeviceEnablePeerAccess(peerDevice: int, flags: int) -> None:
    cuCtxEnablePeerAccess(retained(devices.device(peerDevice).ordinal).handle, flags)


@provides("runtime")
def cudaDeviceDisablePeerAccess(peerDevice: int) -> None:
    cuCtxDisablePeerAccess(retained(devices.device(peerDevice).ordinal).handle)


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
    "ipcEventSupported": "IPC_EVENT_SUPPORTED",
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
    this_device = devices.device(device)
    properties = cudaDeviceProp(name=devices.NAME, totalGlobalMem=this_device.total_memory)
    properties.uuid.bytes = this_device.uuid
    for field, name in PROPERTIES.items():
        setattr(properties, field, this_device[Attribute[f"CU_DEVICE_ATTRIBUTE_{name}"]])
    for field, prefix in (("maxThreadsDim", "MAX_BLOCK_DIM_"), ("maxGridSize", "MAX_GRID_DIM_")):
        setattr(
            properties,
            field,
            [this_device[Attribute[f"CU_DEVICE_ATTRIBUTE_{prefix}{axis}"]] for axis in "XYZ"],
        )
    for field in filter(EXTENT.match, dir(properties)):
        sizes = [this_device[name] for name in _extents(field)]
        setattr(properties, field, sizes if len(sizes) > 1 else sizes[0])
    return properties


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
