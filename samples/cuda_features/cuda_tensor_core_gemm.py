"""cudaTensorCoreGemm: a matrix product on tensor cores.

    python samples/cuda_features/cuda_tensor_core_gemm.py

A warp multiplies tiles of 16 x 16 at once (`wmma`): it loads a fragment of each matrix, of which every thread
has a part, and adds their product to a third one. Here d = alpha a b + beta c, with 16 bits in a and b and 32
in the sums. The numbers are small integers, so that each sum is exact and the result is NumPy's.
"""

from __future__ import annotations

import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Device, LaunchConfig, Program, launch

KERNEL = """
#include <mma.h>
using namespace nvcuda;
const int TILE = 16;

// a: height x inner, b: inner x width, both by rows; a warp for each tile of d
extern "C" __global__ void multiply(const half *a, const half *b, const float *c, float *d, int width,
                                    int inner, float alpha, float beta)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize;
    wmma::fragment<wmma::matrix_a, TILE, TILE, TILE, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, TILE, TILE, TILE, half, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, TILE, TILE, TILE, float> sum, before;
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < inner; k += TILE) {
        wmma::load_matrix_sync(left, a + row * TILE * inner + k, inner);
        wmma::load_matrix_sync(right, b + k * width + column * TILE, width);
        wmma::mma_sync(sum, left, right, sum);
    }
    int at = row * TILE * width + column * TILE;
    wmma::load_matrix_sync(before, c + at, width, wmma::mem_row_major);
    for (int i = 0; i < sum.num_elements; ++i)  // of fragments of one kind a thread has the same elements
        sum.x[i] = alpha * sum.x[i] + beta * before.x[i];
    wmma::store_matrix_sync(d + at, sum, width, wmma::mem_row_major);
}
"""
TILE = 16
HEIGHT, INNER, WIDTH = 128, 192, 256
WARPS = (4, 2)
"""Across and down in a block."""
ALPHA, BETA = 2.0, -1.0


def main() -> int:
    simulator.stand_in()
    device = Device()
    device.set_current()
    stream = device.create_stream()
    kernel = Program(KERNEL, "c++").compile("cubin").get_kernel("multiply")

    generator = np.random.default_rng(0)
    a = generator.integers(-8, 9, (HEIGHT, INNER)).astype(np.float16)
    b = generator.integers(-8, 9, (INNER, WIDTH)).astype(np.float16)
    c = generator.integers(-8, 9, (HEIGHT, WIDTH)).astype(np.float32)
    d = np.empty_like(c)
    d_a, d_b, d_c, d_d = (device.allocate(m.nbytes, stream=stream) for m in (a, b, c, d))
    for buffer, matrix in ((d_a, a), (d_b, b), (d_c, c)):
        buffer.copy_from(matrix, stream=stream)
    across, down = WARPS
    grid = WIDTH // (TILE * across), HEIGHT // (TILE * down)
    config = LaunchConfig(grid=grid, block=(32 * across, down))
    launch(stream, config, kernel, d_a, d_b, d_c, d_d, WIDTH, INNER, ALPHA, BETA)
    d_d.copy_to(d, stream=stream)
    stream.sync()

    right = np.array_equal(d, ALPHA * (a.astype(np.float32) @ b.astype(np.float32)) + BETA * c)
    print(f"{HEIGHT} x {INNER} times {INNER} x {WIDTH} in tiles of {TILE}, binary16 summed in binary32")
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
