"""How many blocks fit a multiprocessor, by the rules of the CUDA Occupancy Calculator."""

import ctypes

from ..._ffi.sizes import round_up
from ..._types.driver.enums import CUdevice_attribute as OfDevice
from ..._types.driver.enums import CUfunction_attribute
from ..._types.driver.enums import CUlaunchAttributeID as Attribute
from ..addresses import Pointer, require_code
from ..code.function import get, required_cluster
from ..code.kernel_library import function
from ..code.module import Function
from ..library import provides
from ..refused import Refused, invalid
from ..streams.operations import needed

BLOCK_TO_SHARED = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_int)
WARP = 32
REGISTER_UNIT = 256  # registers are given out to a warp in such units,
WARP_UNIT = 4  # and to so many warps at once
SHARED_UNIT = 128  # bytes
LARGEST_CLUSTER = 8  # blocks, on every device that has clusters,
NON_PORTABLE_CLUSTER = 16  # and on those of 9.0, for kernels that ask for it
FLAGS = 1  # CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE


def blocks_per_multiprocessor(kernel: Function, threads: int, dynamic: int) -> int:
    """The most blocks of `threads` threads and `dynamic` bytes of shared memory that run at once."""
    device = kernel.context.device
    most = get(kernel.on_device, CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)
    if threads <= 0:
        raise invalid(f"a block has no {threads} threads")
    room = get(kernel.on_device, CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
    if threads > most or dynamic > room:
        return 0
    warps = round_up(threads, WARP) // WARP
    by_threads = device[OfDevice.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR] // WARP // warps
    by_blocks = device[OfDevice.CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR]
    of_warp = round_up(max(kernel.on_device.registers, 16) * WARP, REGISTER_UNIT)
    warps_fit = device[OfDevice.CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR] // of_warp
    by_registers = warps_fit // WARP_UNIT * WARP_UNIT // warps
    shared = kernel.kernel.shared_size + dynamic
    if shared > device[OfDevice.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN]:
        return 0
    shared = round_up(
        shared + device[OfDevice.CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK], SHARED_UNIT
    )
    whole = device[OfDevice.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR]
    by_shared = whole // shared if shared else by_blocks
    return min(by_threads, by_blocks, by_registers, by_shared)


def largest_cluster(kernel: Function) -> int:
    """The most blocks of a cluster."""
    if kernel.kernel.largest_cluster is not None:
        return min(kernel.kernel.largest_cluster, NON_PORTABLE_CLUSTER)
    allowed = get(kernel.on_device, CUfunction_attribute.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED)
    return NON_PORTABLE_CLUSTER if allowed else LARGEST_CLUSTER


@provides("driver")
def cuOccupancyMaxActiveBlocksPerMultiprocessor(func: int, blockSize: int, dynamicSMemSize: int) -> int:
    return blocks_per_multiprocessor(function(func), blockSize, dynamicSMemSize)


@provides("driver")
def cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    func: int, blockSize: int, dynamicSMemSize: int, flags: int
) -> int:
    if flags & ~FLAGS:
        raise invalid(f"unknown flags {flags & ~FLAGS:#x}")
    return blocks_per_multiprocessor(function(func), blockSize, dynamicSMemSize)


@provides("driver")
def cuOccupancyMaxPotentialBlockSize(
    func: int, blockSizeToDynamicSMemSize: int, dynamicSMemSize: int, blockSizeLimit: int
) -> tuple[int, int]:
    kernel = function(func)
    most = get(kernel.on_device, CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)
    limit = min(blockSizeLimit or most, most)
    shared = None
    if blockSizeToDynamicSMemSize:
        shared = BLOCK_TO_SHARED(require_code(blockSizeToDynamicSMemSize, "blockSizeToDynamicSMemSize"))
    best: tuple[int, int, int] = (0, 0, 0)  # threads at once, of a block, blocks of a multiprocessor
    size = round_up(limit, WARP)
    while size > 0:
        threads = min(size, limit)
        dynamic = shared(threads) if shared else dynamicSMemSize
        blocks = blocks_per_multiprocessor(kernel, threads, dynamic)
        if blocks * threads > best[0]:
            best = blocks * threads, threads, blocks
        size -= WARP
    if not best[0]:
        raise invalid(f"no block of {kernel.name} fits")
    count = kernel.context.device[OfDevice.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT]
    return best[2] * count, best[1]


@provides("driver")
def cuOccupancyMaxPotentialBlockSizeWithFlags(
    func: int, blockSizeToDynamicSMemSize: int, dynamicSMemSize: int, blockSizeLimit: int, flags: int
) -> tuple[int, int]:
    if flags & ~FLAGS:
        raise invalid(f"unknown flags {flags & ~FLAGS:#x}")
    return cuOccupancyMaxPotentialBlockSize(func, blockSizeToDynamicSMemSize, dynamicSMemSize, blockSizeLimit)


@provides("driver")
def cuOccupancyMaxPotentialClusterSize(func: int, config: Pointer) -> int:
    kernel, told = function(func), needed(config, "config")
    threads = told.blockDimX * told.blockDimY * told.blockDimZ
    if not blocks_per_multiprocessor(kernel, threads, told.sharedMemBytes):
        raise invalid(f"no block of {threads} threads fits a multiprocessor")
    return largest_cluster(kernel)


@provides("driver")
def cuOccupancyMaxActiveClusters(func: int, config: Pointer) -> int:
    kernel, told = function(func), needed(config, "config")
    threads = told.blockDimX * told.blockDimY * told.blockDimZ
    cluster = required_cluster(kernel.on_device)
    for a in told.attrs:
        if a.id == Attribute.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
            cluster = a.value.clusterDim.x, a.value.clusterDim.y, a.value.clusterDim.z
    if cluster is None:
        raise invalid("the configuration has no cluster dimensions")
    size = cluster[0] * cluster[1] * cluster[2]
    if not 0 < size <= largest_cluster(kernel):
        raise Refused(
            "CUDA_ERROR_INVALID_CLUSTER_SIZE",
            f"clusters of {kernel.name} have 1 .. {largest_cluster(kernel)} blocks, not {cluster}",
        )
    count = kernel.context.device[OfDevice.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT]
    blocks = count * blocks_per_multiprocessor(kernel, threads, told.sharedMemBytes)
    return int(blocks // size)


@provides("driver")
def cuOccupancyAvailableDynamicSMemPerBlock(func: int, numBlocks: int, blockSize: int) -> int:
    kernel = function(func)
    device = kernel.context.device
    if numBlocks <= 0 or blocks_per_multiprocessor(kernel, blockSize, 0) < numBlocks:
        raise invalid(f"{numBlocks} blocks of {blockSize} threads do not fit a multiprocessor")
    whole = device[OfDevice.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR] // numBlocks
    room = (
        whole // SHARED_UNIT * SHARED_UNIT
        - device[OfDevice.CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK]
    )
    most = get(kernel.on_device, CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
    return min(room - kernel.kernel.shared_size, most)
