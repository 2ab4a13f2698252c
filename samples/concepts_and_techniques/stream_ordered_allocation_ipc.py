"""streamOrderedAllocationIPC: memory of one pool, used by several processes.

    python samples/concepts_and_techniques/stream_ordered_allocation_ipc.py

A pool that is made to be shared is a file descriptor, which travels through a socket; each allocation in it
is 64 bytes more. Another process imports the pool once and then as many allocations as it is told of, and
frees them, in its stream, before their owner does.
"""

from __future__ import annotations

import multiprocessing
import os
import socket
import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Device, LaunchConfig, Program, launch
from cudapy.driver import (
    CUdevice_attribute,
    CUmemAccess_flags,
    CUmemAccessDesc,
    CUmemAllocationHandleType,
    CUmemAllocationType,
    CUmemLocation,
    CUmemLocationType,
    CUmemPoolProps,
    CUmemPoolPtrExportData,
)
from cudapy.driver import checked as cu

KERNEL = """
extern "C" __global__ void scale(int *data, int factor, int offset)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] = factor * data[i] + offset;
}
"""
CHILDREN = 3
N = 4096
THREADS = 256
FILE = CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR


def child(number: int, link: socket.socket) -> None:
    """Work on the allocation that comes through `link`: `(number + 2) * data + number`."""
    simulator.stand_in()
    device = Device()
    device.set_current()
    stream = device.create_stream()
    kernel = Program(KERNEL, "c++").compile("cubin").get_kernel("scale")

    with link:
        exported, (descriptor,), _, _ = socket.recv_fds(link, 64, 1)
    pool = cu.cuMemPoolImportFromShareableHandle(descriptor, FILE, 0)
    os.close(descriptor)
    access = CUmemAccessDesc(
        location=CUmemLocation(type=CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE, id=device.device_id),
        flags=CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
    )
    cu.cuMemPoolSetAccess(pool, [access], 1)
    data = int(cu.cuMemPoolImportPointer(pool, CUmemPoolPtrExportData(reserved=exported)))
    launch(stream, LaunchConfig(grid=N // THREADS, block=THREADS), kernel, data, number + 2, number)
    cu.cuMemFreeAsync(data, stream.handle)  # ends the use of it here; the owner still has it
    stream.sync()
    cu.cuMemPoolDestroy(pool)


def main() -> int:
    simulator.stand_in()
    device = Device()
    device.set_current()
    supported = CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES
    if not cu.cuDeviceGetAttribute(supported, device.device_id) & FILE:
        print("WAIVED: the pools of this device cannot be shared as file descriptors")
        return 77
    stream = device.create_stream()
    pool = cu.cuMemPoolCreate(
        CUmemPoolProps(
            allocType=CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED,
            handleTypes=FILE,
            location=CUmemLocation(type=CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE, id=device.device_id),
        )
    )
    numbers = np.arange(N, dtype=np.int32)
    pointers = [int(cu.cuMemAllocFromPoolAsync(numbers.nbytes, pool, stream.handle)) for _ in range(CHILDREN)]
    for pointer in pointers:
        cu.cuMemcpyHtoDAsync(pointer, numbers, numbers.nbytes, stream.handle)
    stream.sync()  # streams of other processes do not wait for this one

    context = multiprocessing.get_context("spawn")  # a fork would inherit a CUDA that does not work there
    descriptor = cu.cuMemPoolExportToShareableHandle(pool, FILE, 0)
    children = []
    for i, pointer in enumerate(pointers):
        exported = bytes(cu.cuMemPoolExportPointer(pointer).reserved)
        here, there = socket.socketpair()
        with here, there:
            process = context.Process(target=child, args=(i, there))
            process.start()
            socket.send_fds(here, [exported], [descriptor])
        children.append(process)
    os.close(descriptor)
    for process in children:
        process.join()

    right = all(process.exitcode == 0 for process in children)
    for i, pointer in enumerate(pointers):
        found = np.empty_like(numbers)
        cu.cuMemcpyDtoHAsync(found, pointer, found.nbytes, stream.handle)
        cu.cuMemFreeAsync(pointer, stream.handle)
        stream.sync()
        right = right and np.array_equal(found, (i + 2) * numbers + i)
    cu.cuMemPoolDestroy(pool)
    print(f"{CHILDREN} processes on {CHILDREN} allocations of one pool")
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
