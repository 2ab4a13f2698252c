"""cooperative grid sync: all blocks of a grid wait for each other.

    python samples/cuda_features/cooperative_grid_sync.py

A cooperative launch guarantees that all blocks run at the same time. Then grid.sync() is possible, and a
kernel can do many steps that each need all of the last one: here Jacobi's method on a line, without a
launch for each step.
"""

from __future__ import annotations

import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Device, LaunchConfig, Program, launch
from cudapy.driver import checked as cu

KERNEL = """
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// Each inner point becomes the mean of its neighbours, `steps` times; the ends stay as they are.
extern "C" __global__ void relax(double *u, double *v, int n, int steps)
{
    cg::grid_group grid = cg::this_grid();
    for (int step = 0; step < steps; ++step) {
        for (int i = grid.thread_rank(); i < n; i += grid.size())
            v[i] = i == 0 || i == n - 1 ? u[i] : 0.5 * (u[i - 1] + u[i + 1]);
        grid.sync();  // all of v is there
        double *swap = u;
        u = v, v = swap;
    }
}
"""
N, STEPS, THREADS = 2000, 101, 128


def main() -> int:
    simulator.stand_in()
    device = Device()
    device.set_current()
    if not device.properties.cooperative_launch:
        print("WAIVED: this device has no cooperative launches")
        return 77
    stream = device.create_stream()
    kernel = Program(KERNEL, "c++").compile("cubin").get_kernel("relax")

    # No more blocks than fit at the same time, or the launch is refused.
    each = cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(int(kernel.handle), THREADS, 0)
    blocks = min(each * device.properties.multiprocessor_count, (N + THREADS - 1) // THREADS)
    line = np.random.default_rng(0).random(N)
    u, v = (device.allocate(line.nbytes, stream=stream) for _ in range(2))
    u.copy_from(line, stream=stream)
    launch(stream, LaunchConfig(grid=blocks, block=THREADS, is_cooperative=True), kernel, u, v, N, STEPS)
    found = np.empty_like(line)
    (v if STEPS % 2 else u).copy_to(found, stream=stream)
    stream.sync()

    expected = line.copy()
    for _ in range(STEPS):
        expected[1:-1] = 0.5 * (expected[:-2] + expected[2:])
    right = np.array_equal(found, expected)
    print(f"{STEPS} steps on {N} points, {blocks} blocks, one launch")
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
