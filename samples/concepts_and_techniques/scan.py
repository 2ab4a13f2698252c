"""scan: the running sum of an array that is longer than a block.

    python samples/concepts_and_techniques/scan.py

A block scans its part in shared memory. The sums of the parts are scanned the same way, by the same kernel,
and then added to the parts: three launches for up to a block's square of numbers.
"""

from __future__ import annotations

import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Device, LaunchConfig, Program, launch

KERNEL = """
// The inclusive scan of each block's numbers, and the sum of each block.
extern "C" __global__ void scan_blocks(const unsigned *input, unsigned *output, unsigned *sums, int n)
{
    extern __shared__ unsigned shared[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned value = i < n ? input[i] : 0;
    shared[threadIdx.x] = value;
    for (int offset = 1; offset < blockDim.x; offset *= 2) {  // Hillis and Steele, 1986
        __syncthreads();
        unsigned left = threadIdx.x >= offset ? shared[threadIdx.x - offset] : 0;
        __syncthreads();  // all have read before anybody writes
        value += left;
        shared[threadIdx.x] = value;
    }
    if (i < n)
        output[i] = value;
    if (threadIdx.x == blockDim.x - 1)
        sums[blockIdx.x] = value;
}

// What the blocks before this one have in all.
extern "C" __global__ void add_sums(unsigned *output, const unsigned *sums, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (blockIdx.x > 0 && i < n)
        output[i] += sums[blockIdx.x - 1];
}
"""
N = 200_000
THREADS = 512


def main() -> int:
    simulator.stand_in()
    device = Device()
    device.set_current()
    stream = device.create_stream()
    code = Program(KERNEL, "c++").compile("cubin")
    scan_blocks, add_sums = code.get_kernel("scan_blocks"), code.get_kernel("add_sums")

    numbers = np.random.default_rng(0).integers(0, 1000, N, dtype=np.uint32)
    blocks = (N + THREADS - 1) // THREADS
    d_input, d_output = (device.allocate(numbers.nbytes, stream=stream) for _ in range(2))
    d_sums, d_total = device.allocate(4 * blocks, stream=stream), device.allocate(4, stream=stream)
    d_input.copy_from(numbers, stream=stream)

    parts = LaunchConfig(grid=blocks, block=THREADS, shmem_size=4 * THREADS)
    whole = LaunchConfig(grid=1, block=THREADS, shmem_size=4 * THREADS)
    launch(stream, parts, scan_blocks, d_input, d_output, d_sums, N)
    launch(stream, whole, scan_blocks, d_sums, d_sums, d_total, blocks)
    launch(stream, parts, add_sums, d_output, d_sums, N)
    found = np.empty_like(numbers)
    d_output.copy_to(found, stream=stream)
    stream.sync()

    right = np.array_equal(found, np.cumsum(numbers, dtype=np.uint32))
    print(f"the running sum of {N} numbers in {blocks} parts")
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
