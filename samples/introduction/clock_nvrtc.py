"""clock_nvrtc: how long each block of a kernel takes, by the clock of its multiprocessor.

    python samples/introduction/clock_nvrtc.py

Every block reads clock64() before and after it finds the least of its numbers, a reduction in shared
memory. The difference counts cycles of the multiprocessor, which other blocks share: it is no time of day,
but it compares.
"""

from __future__ import annotations

import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Device, LaunchConfig, Program, launch

KERNEL = """
extern "C" __global__ void timed_minimum(const float *input, float *output, long long *cycles)
{
    extern __shared__ float shared[];
    unsigned i = threadIdx.x;
    long long start = clock64();

    shared[i] = input[i];
    shared[i + blockDim.x] = input[i + blockDim.x];
    for (unsigned half = blockDim.x; half > 0; half /= 2) {
        __syncthreads();
        if (i < half && shared[i + half] < shared[i])
            shared[i] = shared[i + half];
    }
    if (i == 0)
        output[blockIdx.x] = shared[0];
    __syncthreads();
    if (i == 0)
        cycles[blockIdx.x] = clock64() - start;
}
"""
BLOCKS, THREADS = 64, 256


def main() -> int:
    simulator.stand_in()
    device = Device()
    device.set_current()
    stream = device.create_stream()
    kernel = Program(KERNEL, "c++").compile("cubin").get_kernel("timed_minimum")

    numbers = np.random.default_rng(0).permutation(2 * THREADS).astype(np.float32) + 7
    least, cycles = np.empty(BLOCKS, np.float32), np.empty(BLOCKS, np.int64)
    d_numbers, d_least, d_cycles = (
        device.allocate(a.nbytes, stream=stream) for a in (numbers, least, cycles)
    )
    d_numbers.copy_from(numbers, stream=stream)
    config = LaunchConfig(grid=BLOCKS, block=THREADS, shmem_size=numbers.nbytes)
    launch(stream, config, kernel, d_numbers, d_least, d_cycles)
    d_least.copy_to(least, stream=stream)
    d_cycles.copy_to(cycles, stream=stream)
    stream.sync()

    right = bool((least == numbers.min()).all() and (cycles > 0).all())
    print(f"cycles of {BLOCKS} blocks: median {np.median(cycles):.0f}, {cycles.min()} to {cycles.max()}")
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
