"""The Runtime API's devices."""

import re
from typing import TypeVar

from ..._types.driver.enums import CUdevice_attribute as Attribute
from ..._types.runtime.structs import cudaDeviceProp, cudaDeviceProp_12
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

P = TypeVar("P", cudaDeviceProp, cudaDeviceProp_12)


@provides("runtime")
def cudaSetDevice(device: int) -> None:
    context = retained(devices.device(device).ordinal)
    of_thread().device = device
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
    this_device = devices.device(of_thread().device) if context is None else context.device
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
    "ECCEnabled": "ECC_ENABLED",
    "tccDriver": "TCC_DRIVER",
    "memoryBusWidth": "GLOBAL_MEMORY_BUS_WIDTH",
    "l2CacheSize": "L2_CACHE_SIZE",
    "persistingL2CacheMaxSize": "MAX_PERSISTING_L2_CACHE_SIZE",
    "globalL1CacheSupported": "GLOBAL_L1_CACHE_SUPPORTED",
    "localL1CacheSupported": "LOCAL_L1_CACHE_SUPPORTED",
    "isMultiGpuBoard": "MULTI_GPU_BOARD",
    "hostNativeAtomicSupported": "HOST_NATIVE_ATOMIC_SUPPORTED",
    "pageableMemoryAccess": "PAGEABLE_MEMORY_ACCESS",
    "computePreemptionSupported": "COMPUTE_PREEMPTION_SUPPORTED",
    "pageableMemoryAccessUsesHostPageTables": "PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES",
    "accessPolicyMaxWindowSize": "MAX_ACCESS_POLICY_WINDOW_SIZE",
    "sparseCudaArraySupported": "SPARSE_CUDA_ARRAY_SUPPORTED",
    "hostRegisterReadOnlySupported": "READ_ONLY_HOST_REGISTER_SUPPORTED",
    "timelineSemaphoreInteropSupported": "TIMELINE_SEMAPHORE_INTEROP_SUPPORTED",
    "gpuDirectRDMASupported": "GPU_DIRECT_RDMA_SUPPORTED",
    "gpuDirectRDMAFlushWritesOptions": "GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS",
    "gpuDirectRDMAWritesOrdering": "GPU_DIRECT_RDMA_WRITES_ORDERING",
    "deferredMappingCudaArraySupported": "DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED",
    "unifiedFunctionPointers": "UNIFIED_FUNCTION_POINTERS",
    "deviceNumaConfig": "NUMA_CONFIG",
    "mpsEnabled": "MPS_ENABLED",
    "gpuPciDeviceID": "GPU_PCI_DEVICE_ID",
    "gpuPciSubsystemID": "GPU_PCI_SUBSYSTEM_ID",
    "hostNumaMultinodeIpcSupported": "HOST_NUMA_MULTINODE_IPC_SUPPORTED",
    "clockRate": "CLOCK_RATE",
    "memoryClockRate": "MEMORY_CLOCK_RATE",
    "deviceOverlap": "GPU_OVERLAP",
    "kernelExecTimeoutEnabled": "KERNEL_EXEC_TIMEOUT",
    "computeMode": "COMPUTE_MODE",
    "singleToDoublePrecisionPerfRatio": "SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO",
    "cooperativeMultiDeviceLaunch": "COOPERATIVE_MULTI_DEVICE_LAUNCH",
}
"""The fields of cudaDeviceProp that are one attribute each; some are in one of its two layouts."""


@provides("runtime")
def cudaGetDeviceProperties(device: int) -> cudaDeviceProp:
    return properties(devices.device(device), cudaDeviceProp)


def properties(device: devices.Device, layout: type[P]) -> P:
    """What a device has, in the layout of a CUDA major."""
    found = layout(name=devices.NAME, totalGlobalMem=device.total_memory)
    found.uuid.bytes = device.uuid
    for field, name in PROPERTIES.items():
        if hasattr(layout, field):
            setattr(found, field, device[Attribute[f"CU_DEVICE_ATTRIBUTE_{name}"]])
    for field, prefix in (("maxThreadsDim", "MAX_BLOCK_DIM_"), ("maxGridSize", "MAX_GRID_DIM_")):
        setattr(found, field, [device[Attribute[f"CU_DEVICE_ATTRIBUTE_{prefix}{axis}"]] for axis in "XYZ"])
    for field in filter(EXTENT.match, dir(layout)):
        sizes = [device[name] for name in _extents(field)]
        setattr(found, field, sizes if len(sizes) > 1 else sizes[0])
    return found


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
