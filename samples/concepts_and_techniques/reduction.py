"""reduction: the sum of many numbers, in three ways.

    python samples/concepts_and_techniques/reduction.py

A tree of additions needs a barrier at each level; within a warp, shuffles need none. The fastest kernel
lets each thread add many numbers of its own first: the memory is then what takes the time.
"""

from __future__ import annotations

import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Device, EventOptions, LaunchConfig, Program, launch

KERNEL = """
// Half of the threads add the numbers of the other half; then half of those; and so on.
extern "C" __global__ void tree(const int *input, int *sums, int n)
{
    extern __shared__ int shared[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    shared[threadIdx.x] = i < n ? input[i] : 0;
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            shared[threadIdx.x] += shared[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        atomicAdd(sums, shared[0]);
}

// The threads of a warp read each other's registers: no shared memory, no barrier.
__device__ int warp_sum(int value)
{
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_down_sync(~0u, value, offset);
    return value;
}

extern "C" __global__ void warps(const int *input, int *sums, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = warp_sum(i < n ? input[i] : 0);
    if (threadIdx.x % 32 == 0)
        atomicAdd(sums, sum);
}

// Every thread adds numbers a whole grid apart before it meets the others.
extern "C" __global__ void strided(const int *input, int *sums, int n)
{
    int sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += input[i];
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0)
        atomicAdd(sums, sum);
}
"""
N = (1 << 22) + 12345
THREADS = 256


def main() -> int:
    simulated = simulator.stand_in()
    device = Device()
    device.set_current()
    stream = device.create_stream()
    code = Program(KERNEL, "c++").compile("cubin")

    numbers = np.random.default_rng(0).integers(-100, 100, N, dtype=np.int32)
    data = device.allocate(numbers.nbytes, stream=stream)
    total = device.allocate(4, stream=stream)
    data.copy_from(numbers, stream=stream)
    all_blocks = (N + THREADS - 1) // THREADS
    few_blocks = 4 * device.properties.multiprocessor_count
    timed = EventOptions(timing_enabled=True)

    right = True
    for name, blocks in (("tree", all_blocks), ("warps", all_blocks), ("strided", few_blocks)):
        kernel = code.get_kernel(name)
        config = LaunchConfig(grid=blocks, block=THREADS, shmem_size=4 * THREADS if name == "tree" else 0)
        for _ in range(2):  # the first launch also loads the code; the second is timed
            total.fill(0, stream=stream)
            start = stream.record(options=timed)
            launch(stream, config, kernel, data, total, N)
            end = stream.record(options=timed)
        found = np.empty(1, np.int32)
        total.copy_to(found, stream=stream)
        stream.sync()
        same = int(found[0]) == int(numbers.sum())
        rate = numbers.nbytes / ((end - start) * 1e-3) / 1e9
        speed = "" if simulated else f"{(end - start) * 1000:8.1f} us {rate:8.1f} GB/s  "
        print(f"{name:8} {speed}{'ok' if same else 'wrong'}")
        right = right and same
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
