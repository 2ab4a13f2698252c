"""vectorAddMMAP: memory whose address range and whose physical memory are two things.

    python samples/introduction/vector_add_mmap.py

cuMemAlloc does four things at once. Here they are one by one: reserve addresses, create physical memory,
map one at the other, and say who may use it. Two pieces of physical memory, on as many devices as can reach
each other, lie side by side in one range, and the kernel sees one array.
"""

from __future__ import annotations

import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Buffer, Device, LaunchConfig, Program, launch
from cudapy.driver import (
    CUmemAccess_flags,
    CUmemAccessDesc,
    CUmemAllocationGranularity_flags,
    CUmemAllocationProp,
    CUmemAllocationType,
    CUmemLocationType,
)
from cudapy.driver import checked as cu

KERNEL = """
extern "C" __global__ void vector_add(const float *a, const float *b, float *c, size_t n)
{
    size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}
"""
THREADS = 256


def properties(device: int) -> CUmemAllocationProp:
    """Page-locked memory of a device."""
    wanted = CUmemAllocationProp()
    wanted.type = CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    wanted.location.type = CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    wanted.location.id = device
    return wanted


def granularity(device: int) -> int:
    """The size of the pieces in which a device hands out memory, in bytes."""
    minimum = CUmemAllocationGranularity_flags.CU_MEM_ALLOC_GRANULARITY_MINIMUM
    return cu.cuMemGetAllocationGranularity(properties(device), minimum)


class Mapping:
    """An address range with physical memory of several devices behind it, piece by piece."""

    def __init__(self, piece: int, devices: list[int]) -> None:
        self.piece = piece
        self.size = piece * len(devices)
        self.address = int(cu.cuMemAddressReserve(self.size, 0, 0, 0))
        for i, device in enumerate(devices):
            handle = cu.cuMemCreate(piece, properties(device), 0)
            cu.cuMemMap(self.address + i * piece, piece, 0, handle, 0)
            cu.cuMemRelease(handle)  # the mapping keeps the memory from now on
        access = CUmemAccessDesc()
        access.location.type = CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
        access.location.id = 0
        access.flags = CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
        cu.cuMemSetAccess(self.address, self.size, [access], 1)

    def close(self) -> None:
        """Take it apart, in the reverse order."""
        cu.cuMemUnmap(self.address, self.size)
        cu.cuMemAddressFree(self.address, self.size)


def main() -> int:
    simulator.stand_in()
    device = Device(0)
    device.set_current()
    if not device.properties.virtual_memory_management_supported:
        print("WAIVED: this device has no virtual memory management")
        return 77
    others = [
        other.device_id
        for other in Device.get_all_devices()[1:]
        if other.properties.virtual_memory_management_supported and device.can_access_peer(other)
    ]
    devices = [0, *(others or [0])[:1]]
    piece = max(granularity(device_id) for device_id in devices)
    a, b, c = (Mapping(piece, devices) for _ in range(3))
    n = a.size // 4

    stream = device.create_stream()
    kernel = Program(KERNEL, "c++").compile("cubin").get_kernel("vector_add")
    generator = np.random.default_rng(0)
    h_a, h_b = generator.random(n, dtype=np.float32), generator.random(n, dtype=np.float32)
    h_c = np.empty_like(h_a)
    d_a, d_b, d_c = (Buffer.from_handle(mapping.address, mapping.size) for mapping in (a, b, c))
    d_a.copy_from(h_a, stream=stream)
    d_b.copy_from(h_b, stream=stream)
    launch(stream, LaunchConfig(grid=(n + THREADS - 1) // THREADS, block=THREADS), kernel, d_a, d_b, d_c, n)
    d_c.copy_to(h_c, stream=stream)
    stream.sync()
    for mapping in (a, b, c):
        mapping.close()

    right = np.array_equal(h_c, h_a + h_b)
    print(f"{n} sums over pieces of {piece} bytes on devices {devices}: {'PASS' if right else 'FAIL'}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
