"""jacobiCudaGraphs: a linear system, solved by launching one graph again and again.

    python samples/cuda_features/jacobi_cuda_graphs.py

Jacobi's method computes all unknowns anew from those of the step before, until they hardly change. Two steps,
there and back, and the copy of the change to the host are recorded once as a graph; each round is one launch
of it, however many nodes it has.
"""

from __future__ import annotations

import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch

KERNEL = """
// A block for each unknown: (b - the other columns times x) / the diagonal. Adds |new - old| to `change`.
extern "C" __global__ void step(const float *matrix, const double *b, const double *x, double *next,
                                double *change, int n)
{
    __shared__ double sums[128];
    int row = blockIdx.x;
    double sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        if (i != row)
            sum += matrix[row * n + i] * x[i];
    sums[threadIdx.x] = sum;
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    if (threadIdx.x == 0) {
        double value = (b[row] - sums[0]) / matrix[row * n + row];
        next[row] = value;
        atomicAdd(change, fabs(value - x[row]));
    }
}
"""
N, THREADS = 128, 128
ENOUGH, MOST = 1e-10, 100


def main() -> int:
    simulator.stand_in()
    device = Device()
    device.set_current()
    stream = device.create_stream()
    step = Program(KERNEL, "c++").compile("cubin").get_kernel("step")

    generator = np.random.default_rng(0)
    matrix = generator.random((N, N), dtype=np.float32)
    matrix[np.diag_indices(N)] += N  # the diagonal outweighs its row, or the method does not converge
    b = generator.random(N)
    d_matrix, d_b = device.allocate(matrix.nbytes, stream=stream), device.allocate(b.nbytes, stream=stream)
    here, there = (device.allocate(b.nbytes, stream=stream) for _ in range(2))
    d_change = device.allocate(8, stream=stream)
    d_matrix.copy_from(matrix, stream=stream)
    d_b.copy_from(b, stream=stream)
    here.fill(0, stream=stream)
    host = LegacyPinnedMemoryResource().allocate(8)
    change = np.from_dlpack(host).view(np.float64)
    stream.sync()

    config = LaunchConfig(grid=N, block=THREADS)
    builder = device.create_graph_builder().begin_building()
    launch(builder, config, step, d_matrix, d_b, here, there, d_change, N)
    d_change.fill(0, stream=builder)  # the change of the second step counts
    launch(builder, config, step, d_matrix, d_b, there, here, d_change, N)
    d_change.copy_to(host, stream=builder)
    graph = builder.end_building().complete()

    d_change.fill(0, stream=stream)
    launches = 0
    change[0] = np.inf
    while change[0] >= ENOUGH and launches < MOST:
        graph.launch(stream)
        stream.sync()
        launches += 1
    x = np.empty_like(b)
    here.copy_to(x, stream=stream)
    stream.sync()

    error = float(np.abs(matrix.astype(np.float64) @ x - b).max())
    right = error < 1e-9
    print(f"{N} unknowns after {2 * launches} steps and {launches} launches, off by {error:.1e}")
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
