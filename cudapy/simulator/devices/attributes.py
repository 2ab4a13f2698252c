"""The attributes of a simulated device.

The limits are those of the compute capability (CUDA C++ Programming Guide, "Compute Capabilities"), the
features are what the simulator has, and what only hardware has (caches, buses) is 0.
"""

import sys

from ..._types.driver.enums import CUdevice_attribute as Attribute

MULTIPROCESSORS = 4  # few: a grid that synchronizes has all of its blocks in flight

SHARED_PER_MULTIPROCESSOR = {
    75: 64,
    80: 164,
    86: 100,
    87: 164,
    89: 100,
    90: 228,
    100: 228,
    103: 228,
    120: 100,
    121: 100,
}
"""KiB for each compute capability; a block may have 1 KiB less by opting in, all of it on 7.5."""

_LIMITS = {
    "MAX_THREADS_PER_BLOCK": 1024,
    "MAX_BLOCK_DIM_X": 1024,
    "MAX_BLOCK_DIM_Y": 1024,
    "MAX_BLOCK_DIM_Z": 64,
    "MAX_GRID_DIM_X": 2**31 - 1,
    "MAX_GRID_DIM_Y": 65535,
    "MAX_GRID_DIM_Z": 65535,
    "MAX_SHARED_MEMORY_PER_BLOCK": 48 << 10,
    "TOTAL_CONSTANT_MEMORY": 64 << 10,
    "WARP_SIZE": 32,
    "MAX_PITCH": 2**31 - 1,
    "MAX_REGISTERS_PER_BLOCK": 65536,
    "MAX_REGISTERS_PER_MULTIPROCESSOR": 65536,
    "TEXTURE_ALIGNMENT": 512,
    "SURFACE_ALIGNMENT": 512,
    "TEXTURE_PITCH_ALIGNMENT": 32,
    "MULTIPROCESSOR_COUNT": MULTIPROCESSORS,
    "MAXIMUM_TEXTURE1D_WIDTH": 131072,
    "MAXIMUM_TEXTURE2D_WIDTH": 131072,
    "MAXIMUM_TEXTURE2D_HEIGHT": 65536,
    "MAXIMUM_TEXTURE3D_WIDTH": 16384,
    "MAXIMUM_TEXTURE3D_HEIGHT": 16384,
    "MAXIMUM_TEXTURE3D_DEPTH": 16384,
    "MAXIMUM_TEXTURE2D_LAYERED_WIDTH": 32768,
    "MAXIMUM_TEXTURE2D_LAYERED_HEIGHT": 32768,
    "MAXIMUM_TEXTURE2D_LAYERED_LAYERS": 2048,
    "MAXIMUM_TEXTURE1D_LAYERED_WIDTH": 32768,
    "MAXIMUM_TEXTURE1D_LAYERED_LAYERS": 2048,
    "MAXIMUM_TEXTURE2D_GATHER_WIDTH": 32768,
    "MAXIMUM_TEXTURE2D_GATHER_HEIGHT": 32768,
    "MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE": 8192,
    "MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE": 8192,
    "MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE": 32768,
    "MAXIMUM_TEXTURECUBEMAP_WIDTH": 32768,
    "MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH": 32768,
    "MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS": 2046,
    "MAXIMUM_SURFACE1D_WIDTH": 32768,
    "MAXIMUM_SURFACE2D_WIDTH": 131072,
    "MAXIMUM_SURFACE2D_HEIGHT": 65536,
    "MAXIMUM_SURFACE3D_WIDTH": 16384,
    "MAXIMUM_SURFACE3D_HEIGHT": 16384,
    "MAXIMUM_SURFACE3D_DEPTH": 16384,
    "MAXIMUM_SURFACE1D_LAYERED_WIDTH": 32768,
    "MAXIMUM_SURFACE1D_LAYERED_LAYERS": 2048,
    "MAXIMUM_SURFACE2D_LAYERED_WIDTH": 32768,
    "MAXIMUM_SURFACE2D_LAYERED_HEIGHT": 32768,
    "MAXIMUM_SURFACE2D_LAYERED_LAYERS": 2048,
    "MAXIMUM_SURFACECUBEMAP_WIDTH": 32768,
    "MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH": 32768,
    "MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS": 2046,
    "MAXIMUM_TEXTURE1D_LINEAR_WIDTH": 1 << 28,
    "MAXIMUM_TEXTURE2D_LINEAR_WIDTH": 131072,
    "MAXIMUM_TEXTURE2D_LINEAR_HEIGHT": 65000,
    "MAXIMUM_TEXTURE2D_LINEAR_PITCH": 2097120,
    "MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH": 32768,
    "MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT": 32768,
    "MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH": 32768,
    "CLOCK_RATE": 1_000_000,  # kHz: clock64 counts the nanoseconds of the host
    "PCI_DOMAIN_ID": 0xFFFF,
    "NUMA_ID": -1,
    "HOST_NUMA_ID": 0,
    "SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO": 1,
    "MEM_SYNC_DOMAIN_COUNT": 1,
}

_FEATURES = (
    "CAN_MAP_HOST_MEMORY",
    "CAN_USE_64_BIT_STREAM_MEM_OPS",
    "CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM",
    "CAN_USE_STREAM_WAIT_VALUE_NOR",
    "CONCURRENT_KERNELS",
    "CONCURRENT_MANAGED_ACCESS",
    "COOPERATIVE_LAUNCH",
    "DIRECT_MANAGED_MEM_ACCESS_FROM_HOST",
    "GPU_OVERLAP",
    "ASYNC_ENGINE_COUNT",
    "HOST_MEMORY_POOLS_SUPPORTED",
    "HOST_REGISTER_SUPPORTED",
    "INTEGRATED",
    "MANAGED_MEMORY",
    "MEMORY_POOLS_SUPPORTED",
    "STREAM_PRIORITIES_SUPPORTED",
    "UNIFIED_ADDRESSING",
)


def attributes(ordinal: int, compute_capability: tuple[int, int]) -> dict[int, int]:
    """The value of every attribute, up to those of CUDA 13.0, by its number."""
    major, minor = compute_capability
    shared = SHARED_PER_MULTIPROCESSOR[10 * major + minor] << 10
    reserved = 1024 if major >= 8 else 0
    values = {
        **_LIMITS,
        **dict.fromkeys(_FEATURES, 1),
        "CLUSTER_LAUNCH": int(major >= 9),
        "TENSOR_MAP_ACCESS_SUPPORTED": int(major >= 9),
        "COMPUTE_CAPABILITY_MAJOR": major,
        "COMPUTE_CAPABILITY_MINOR": minor,
        "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR": shared,
        "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": shared - reserved,
        "RESERVED_SHARED_MEMORY_PER_BLOCK": reserved,
        "MAX_THREADS_PER_MULTIPROCESSOR": {75: 1024, 80: 2048, 90: 2048, 100: 2048, 103: 2048}.get(
            10 * major + minor, 1536
        ),
        "MAX_BLOCKS_PER_MULTIPROCESSOR": {75: 16, 86: 16, 87: 16, 89: 24, 120: 24, 121: 24}.get(
            10 * major + minor, 32
        ),
        "VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED": int(sys.platform == "linux"),  # anonymous files of the host,
        "IPC_EVENT_SUPPORTED": int(sys.platform == "linux"),  # see `pages`
        "MEMPOOL_SUPPORTED_HANDLE_TYPES": int(sys.platform == "linux"),
        "HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED": int(sys.platform == "linux"),  # see `virtual`
        "MULTICAST_SUPPORTED": int(sys.platform == "linux" and major in (9, 10)),  # see `multicast`
        "MULTI_GPU_BOARD_GROUP_ID": ordinal,
        "PCI_BUS_ID": ordinal,
    }
    prefix = "CU_DEVICE_ATTRIBUTE_"
    unknown = {prefix + name for name in values} - set(Attribute.__members__)
    if unknown:
        raise LookupError(f"no such attributes: {sorted(unknown)}")
    last = Attribute.CU_DEVICE_ATTRIBUTE_HOST_MEMORY_POOLS_SUPPORTED
    table = {int(member): 0 for member in Attribute if member <= last}
    return table | {int(Attribute[prefix + name]): value for name, value in values.items()}
