"""simpleCudaGraphs: one sum in a stream, in a graph that was recorded, and in one that was defined.

    python samples/cuda_features/simple_cuda_graphs.py [--save graph.dot]

A graph is put together once and launched with one call, however much is in it. It can be recorded from what
a stream is given, or defined node after node; both come out the same.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Device, LaunchConfig, Program, graph, launch

KERNEL = """
__device__ double block_sum(double value)
{
    __shared__ double shared[256];
    shared[threadIdx.x] = value;
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            shared[threadIdx.x] += shared[threadIdx.x + half];
    }
    __syncthreads();
    return shared[0];
}

extern "C" __global__ void reduce(const float *input, double *sums, int n)
{
    double sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += input[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = sum;
}

extern "C" __global__ void reduce_final(const double *sums, double *total, int n)
{
    double sum = block_sum(threadIdx.x < n ? sums[threadIdx.x] : 0);
    if (threadIdx.x == 0)
        *total = sum;
}
"""
N, BLOCKS, THREADS = 1 << 20, 128, 256
LAUNCHES = 3


def main() -> int:
    parser = argparse.ArgumentParser(description="CUDA graphs.")
    parser.add_argument("--save", metavar="DOT", help="write the defined graph there, for Graphviz")
    chosen = parser.parse_args()
    simulator.stand_in()
    device = Device()
    device.set_current()
    stream = device.create_stream()
    code = Program(KERNEL, "c++").compile("cubin")
    reduce, reduce_final = code.get_kernel("reduce"), code.get_kernel("reduce_final")
    many, one = LaunchConfig(grid=BLOCKS, block=THREADS), LaunchConfig(grid=1, block=THREADS)

    numbers = np.random.default_rng(0).random(N, dtype=np.float32)
    total = np.zeros(1)
    d_numbers = device.allocate(numbers.nbytes, stream=stream)
    d_sums, d_total = device.allocate(8 * BLOCKS, stream=stream), device.allocate(8, stream=stream)
    expected = numbers.sum(dtype=np.float64)
    results = {}

    d_numbers.copy_from(numbers, stream=stream)
    launch(stream, many, reduce, d_numbers, d_sums, N)
    launch(stream, one, reduce_final, d_sums, d_total, BLOCKS)
    d_total.copy_to(total, stream=stream)
    stream.sync()
    results["stream"] = total[0]

    builder = device.create_graph_builder().begin_building()
    d_numbers.copy_from(numbers, stream=builder)
    launch(builder, many, reduce, d_numbers, d_sums, N)
    launch(builder, one, reduce_final, d_sums, d_total, BLOCKS)
    d_total.copy_to(total, stream=builder)
    recorded = builder.end_building().complete()

    definition = graph.GraphDefinition()
    upload = definition.memcpy(d_numbers, numbers, numbers.nbytes)
    clear = definition.memset(d_sums, 0, d_sums.size)  # follows nothing: it may run beside the upload
    first = upload.join(clear).launch(many, reduce, d_numbers, d_sums, N)
    last = first.launch(one, reduce_final, d_sums, d_total, BLOCKS)
    last.memcpy(total, d_total, total.nbytes)
    defined = definition.instantiate()
    if chosen.save:
        definition.debug_dot_print(chosen.save)
        print(f"written to {chosen.save}")

    for name, executable in (("recorded", recorded), ("defined", defined)):
        for _ in range(LAUNCHES):
            total[0] = 0
            executable.launch(stream)
            stream.sync()
            results[f"{name} graph"] = total[0]

    for name, found in results.items():
        print(f"{name:16} {found:.6f}")
    right = all(abs(found - expected) < 1e-9 * expected for found in results.values())
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
