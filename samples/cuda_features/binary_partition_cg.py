"""binaryPartitionCG: a warp that splits in two groups, each of which works together.

    python samples/cuda_features/binary_partition_cg.py

Cooperative groups are sets of threads with a rank and collective operations. binary_partition splits a warp
by what its threads find, here odd and even numbers; each group counts and adds for itself, and its first
thread speaks for it.
"""

from __future__ import annotations

import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Device, LaunchConfig, Program, launch

KERNEL = """
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

// results: how many are odd, their sum, the sum of the even ones
extern "C" __global__ void odd_even(const int *numbers, int *results, int n)
{
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(cg::this_thread_block());
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int number = numbers[i];
        auto group = cg::binary_partition(warp, (number & 1) == 1);
        int sum = cg::reduce(group, number, cg::plus<int>());
        if (group.thread_rank() == 0) {
            if (number & 1) {
                atomicAdd(&results[0], (int)group.size());
                atomicAdd(&results[1], sum);
            } else {
                atomicAdd(&results[2], sum);
            }
        }
        warp.sync();
    }
}
"""
N = 1 << 16  # a multiple of 32: every warp is whole
BLOCKS, THREADS = 8, 256


def main() -> int:
    simulator.stand_in()
    device = Device()
    device.set_current()
    if device.compute_capability < (8, 0):
        print("WAIVED: reductions over such groups need compute capability 8.0")
        return 77
    stream = device.create_stream()
    kernel = Program(KERNEL, "c++").compile("cubin").get_kernel("odd_even")

    numbers = np.random.default_rng(0).integers(0, 50, N, dtype=np.int32)
    d_numbers, d_results = device.allocate(numbers.nbytes, stream=stream), device.allocate(12, stream=stream)
    d_numbers.copy_from(numbers, stream=stream)
    d_results.fill(0, stream=stream)
    launch(stream, LaunchConfig(grid=BLOCKS, block=THREADS), kernel, d_numbers, d_results, N)
    results = np.empty(3, np.int32)
    d_results.copy_to(results, stream=stream)
    stream.sync()

    odd = numbers % 2 == 1
    right = results.tolist() == [odd.sum(), numbers[odd].sum(), numbers[~odd].sum()]
    print(f"of {N} numbers {results[0]} are odd; sums {results[1]} and {results[2]}")
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
