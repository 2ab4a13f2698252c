"""simpleOccupancy: let the driver choose the block size.

    python samples/introduction/simple_occupancy.py

Occupancy is the share of a multiprocessor's warps that have work. It depends on the block size and on what
the kernel needs of registers and shared memory: the driver knows all of it.
"""

from __future__ import annotations

import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Device, Kernel, LaunchConfig, Program, launch
from cudapy.driver import checked as cu

KERNEL = """
extern "C" __global__ void square(int *array, int count)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < count)
        array[i] *= array[i];
}
"""
COUNT = 1_000_000


def occupancy(device: Device, kernel: Kernel, block: int) -> float:
    """The share of the warps of a multiprocessor that blocks of this size keep busy."""
    blocks = cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(int(kernel.handle), block, 0)
    warp = device.properties.warp_size
    return blocks * (block // warp) / (device.properties.max_threads_per_multiprocessor // warp)


def main() -> int:
    simulator.stand_in()
    device = Device()
    device.set_current()
    stream = device.create_stream()
    kernel = Program(KERNEL, "c++").compile("cubin").get_kernel("square")
    _, suggested = cu.cuOccupancyMaxPotentialBlockSize(int(kernel.handle), None, 0, 0)

    numbers = np.arange(COUNT, dtype=np.int32) % 46340  # whose squares fit
    data = device.allocate(numbers.nbytes, stream=stream)
    shares, right = {}, True
    for block in (32, suggested):
        data.copy_from(numbers, stream=stream)
        launch(stream, LaunchConfig(grid=(COUNT + block - 1) // block, block=block), kernel, data, COUNT)
        squares = np.empty_like(numbers)
        data.copy_to(squares, stream=stream)
        stream.sync()
        right = right and np.array_equal(squares, numbers * numbers)
        shares[block] = occupancy(device, kernel, block)
        print(f"blocks of {block:4} threads: occupancy {shares[block]:.0%}")
    right = right and shares[suggested] >= shares[32]
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
