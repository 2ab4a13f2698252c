"""conjugateGradientMultiBlockCG: a linear system, solved in one launch.

    python samples/libraries_and_applications/conjugate_gradient_multi_block_cg.py

The method of conjugate gradients needs sums over all numbers in each step. With a cooperative launch all
blocks meet at grid.sync(), so the whole iteration is one kernel, and nothing comes back to the host but the
solution. The matrix is sparse: its rows lie one after the other (CSR).
"""

from __future__ import annotations

import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Device, LaunchConfig, Program, launch
from cudapy.driver import checked as cu

KERNEL = """
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

// *sum += the scalar product of a and b, for which *sum was 0
__device__ void dot(const double *a, const double *b, int n, double *sum, cg::grid_group grid)
{
    double mine = 0;
    for (int i = grid.thread_rank(); i < n; i += grid.size())
        mine += a[i] * b[i];
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    mine = cg::reduce(warp, mine, cg::plus<double>());
    if (warp.thread_rank() == 0)
        atomicAdd(sum, mine);
    grid.sync();
}

extern "C" __global__ void solve(const int *rows, const int *columns, const double *values, int n, double *x,
                                 double *r, double *p, double *q, double *sums, int limit, double tolerance,
                                 int *steps)
{
    cg::grid_group grid = cg::this_grid();
    int first = grid.thread_rank(), stride = grid.size();
    // x = 0, so that r, the right side, is what is left; p is the first direction
    for (int i = first; i < n; i += stride)
        x[i] = 0, p[i] = r[i];
    grid.sync();
    dot(r, r, n, &sums[0], grid);
    double rho = sums[0];
    int step = 0;
    while (step < limit && rho > tolerance * tolerance) {
        double *sum = sums + 1 + 2 * step++;  // two new ones, which are 0, in each step
        for (int i = first; i < n; i += stride) {
            double product = 0;
            for (int k = rows[i]; k < rows[i + 1]; ++k)
                product += values[k] * p[columns[k]];
            q[i] = product;
        }
        grid.sync();
        dot(p, q, n, &sum[0], grid);
        double alpha = rho / sum[0];
        for (int i = first; i < n; i += stride)
            x[i] += alpha * p[i], r[i] -= alpha * q[i];
        grid.sync();
        dot(r, r, n, &sum[1], grid);
        double beta = sum[1] / rho;
        rho = sum[1];
        for (int i = first; i < n; i += stride)
            p[i] = r[i] + beta * p[i];
        grid.sync();
    }
    if (first == 0)
        *steps = step;
}
"""
N, LIMIT, TOLERANCE, THREADS = 4096, 200, 1e-9, 128


def main() -> int:
    simulator.stand_in()
    device = Device()
    device.set_current()
    if not device.properties.cooperative_launch or device.compute_capability < (6, 0):
        print("WAIVED: needs cooperative launches, and atomic additions of double")
        return 77
    stream = device.create_stream()
    kernel = Program(KERNEL, "c++").compile("cubin").get_kernel("solve")

    # Tridiagonal, symmetric and, as the diagonal dominates, positive definite.
    generator = np.random.default_rng(0)
    off = generator.random(N - 1)
    diagonal = 10 + generator.random(N)
    row = np.arange(N)
    entries = np.concatenate([row, row[:-1], row[1:]]), np.concatenate([row, row[1:], row[:-1]])
    order = np.lexsort(entries[::-1])
    values = np.concatenate([diagonal, off, off])[order]
    columns = entries[1][order].astype(np.int32)
    rows = np.searchsorted(entries[0][order], np.arange(N + 1)).astype(np.int32)
    b = generator.random(N)

    host = (rows, columns, values, b)
    d_rows, d_columns, d_values, r = (device.allocate(a.nbytes, stream=stream) for a in host)
    for buffer, array in zip((d_rows, d_columns, d_values, r), host, strict=True):
        buffer.copy_from(array, stream=stream)
    x, p, q = (device.allocate(b.nbytes, stream=stream) for _ in range(3))
    sums, steps = device.allocate(8 * (1 + 2 * LIMIT), stream=stream), device.allocate(4, stream=stream)
    sums.fill(0, stream=stream)

    each = cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(int(kernel.handle), THREADS, 0)
    blocks = min(each * device.properties.multiprocessor_count, N // THREADS)
    config = LaunchConfig(grid=blocks, block=THREADS, is_cooperative=True)
    arguments = (d_rows, d_columns, d_values, N, x, r, p, q, sums, LIMIT, TOLERANCE, steps)
    launch(stream, config, kernel, *arguments)
    found, count = np.empty(N), np.empty(1, np.int32)
    x.copy_to(found, stream=stream)
    steps.copy_to(count, stream=stream)
    stream.sync()

    product = diagonal * found
    product[:-1] += off * found[1:]
    product[1:] += off * found[:-1]
    left = float(np.linalg.norm(product - b))
    right = left < 1e-8 and 0 < count[0] < LIMIT
    print(f"{N} unknowns, {count[0]} steps in {blocks} blocks and one launch; what is left: {left:.1e}")
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
