"""UnifiedMemoryStreams: memory that host and device use by turns, at the same address.

    python samples/introduction/unified_memory.py

Managed memory moves to who touches it, page by page. Of a number of tasks the host does the small ones, and
the device the large ones, each in the same array; memory that is attached to a stream is the host's again
when that stream has ended its work, whatever the others do.
"""

from __future__ import annotations

import ctypes
import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Device, LaunchConfig, Program, launch
from cudapy.driver import CUdevice_attribute, CUmemAttach_flags
from cudapy.driver import checked as cu

KERNEL = """
// y = A x for a square matrix, a row for each thread
extern "C" __global__ void multiply(const float *matrix, const float *x, float *y, int size)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= size)
        return;
    float sum = 0;
    for (int i = 0; i < size; ++i)
        sum += matrix[row * size + i] * x[i];
    y[row] = sum;
}
"""
SIZES = (24, 300, 60, 200, 8, 256)
LARGE = 100
THREADS = 64


class Task:
    """A matrix and two vectors in managed memory, which the arrays show the host."""

    def __init__(self, size: int, generator: np.random.Generator) -> None:
        flags = CUmemAttach_flags.CU_MEM_ATTACH_HOST
        self.size = size
        self.pointers = [int(cu.cuMemAllocManaged(4 * count, flags)) for count in (size * size, size, size)]
        self.matrix, self.x, self.y = (
            np.ctypeslib.as_array((ctypes.c_float * count).from_address(pointer))
            for pointer, count in zip(self.pointers, (size * size, size, size), strict=True)
        )
        self.matrix[:] = generator.random(size * size, dtype=np.float32)
        self.x[:] = generator.random(size, dtype=np.float32)
        self.y[:] = 0

    def is_right(self) -> bool:
        exact = self.matrix.reshape(self.size, self.size).astype(np.float64) @ self.x
        return bool(np.allclose(self.y, exact, rtol=1e-5))


def main() -> int:
    simulator.stand_in()
    device = Device()
    device.set_current()
    attribute = CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY
    if not cu.cuDeviceGetAttribute(attribute, device.device_id):
        print("WAIVED: this device has no managed memory")
        return 77
    streams = [device.create_stream() for _ in range(2)]
    kernel = Program(KERNEL, "c++").compile("cubin").get_kernel("multiply")

    generator = np.random.default_rng(0)
    tasks = [Task(size, generator) for size in SIZES]
    large = [task for task in tasks if task.size >= LARGE]
    for i, task in enumerate(large):
        stream = streams[i % len(streams)]
        for pointer in task.pointers:
            cu.cuStreamAttachMemAsync(stream.handle, pointer, 0, CUmemAttach_flags.CU_MEM_ATTACH_SINGLE)
        config = LaunchConfig(grid=(task.size + THREADS - 1) // THREADS, block=THREADS)
        launch(stream, config, kernel, *task.pointers, task.size)
    for task in tasks:
        if task.size < LARGE:  # the host's, which it uses while the device works
            task.y[:] = task.matrix.reshape(task.size, task.size) @ task.x
    for stream in streams:
        stream.sync()

    right = all(task.is_right() for task in tasks)
    for task in tasks:
        for pointer in task.pointers:
            cu.cuMemFree(pointer)
    print(f"{len(large)} tasks on the device, {len(tasks) - len(large)} on the host, nothing copied")
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
