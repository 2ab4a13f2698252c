"""threadFenceReduction: a sum in one launch, by the block that comes last.

    python samples/concepts_and_techniques/thread_fence_reduction.py

Blocks cannot wait for each other. But the last one to finish can know that it is the last: every block
writes its sum, makes it visible with __threadfence(), and then takes a number from an atomic counter. Who
gets the last number adds up all sums, always in the same order: the result is the same in every run.
"""

from __future__ import annotations

import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Device, LaunchConfig, Program, launch

KERNEL = """
__device__ unsigned finished = 0;

__device__ float block_sum(float value)
{
    __shared__ float shared[1024];
    shared[threadIdx.x] = value;
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            shared[threadIdx.x] += shared[threadIdx.x + half];
    }
    __syncthreads();
    return shared[0];
}

extern "C" __global__ void reduce(const float *input, int n, volatile float *sums, float *total)
{
    __shared__ bool last;
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += input[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = sum;
        __threadfence();  // whoever sees the counter grow sees the sum, too
        last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;  // and back to 0 for the next launch
    }
    __syncthreads();
    if (last) {
        sum = 0;
        for (int i = threadIdx.x; i < gridDim.x; i += blockDim.x)
            sum += sums[i];
        sum = block_sum(sum);
        if (threadIdx.x == 0)
            *total = sum;
    }
}
"""
N = 1 << 20
BLOCKS, THREADS = 64, 128


def main() -> int:
    simulator.stand_in()
    device = Device()
    device.set_current()
    stream = device.create_stream()
    kernel = Program(KERNEL, "c++").compile("cubin").get_kernel("reduce")

    numbers = np.random.default_rng(0).random(N, dtype=np.float32)
    data = device.allocate(numbers.nbytes, stream=stream)
    sums = device.allocate(4 * BLOCKS, stream=stream)
    total = device.allocate(4, stream=stream)
    data.copy_from(numbers, stream=stream)
    found = np.empty(2, np.float32)
    for i in range(2):
        launch(stream, LaunchConfig(grid=BLOCKS, block=THREADS), kernel, data, N, sums, total)
        total.copy_to(found[i : i + 1], stream=stream)
        stream.sync()

    exact = numbers.sum(dtype=np.float64)
    error = abs(float(found[0]) - exact) / exact
    right = found[0] == found[1] and error < 1e-6
    print(f"the sum of {N} numbers is {found[0]:.1f}, off by {error:.1e}, twice the same")
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
