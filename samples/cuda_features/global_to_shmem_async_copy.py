"""globalToShmemAsyncCopy: a matrix product whose next tiles are on their way while it computes.

    python samples/cuda_features/global_to_shmem_async_copy.py

From compute capability 8.0 on, a thread can send bytes from memory to shared memory without holding them in
a register, and do something else until they arrive. Two pairs of tiles: one is computed with, the other is
filled.
"""

from __future__ import annotations

import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Device, LaunchConfig, Program, launch

KERNEL = """
#include <cuda_pipeline.h>

const int TILE = 16;

extern "C" __global__ void matrix_mul(const float *A, const float *B, float *C, int inner, int width)
{
    __shared__ float a[2][TILE][TILE], b[2][TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    int tiles = inner / TILE;

    auto fetch = [&](int tile) {
        __pipeline_memcpy_async(&a[tile % 2][y][x], &A[row * inner + tile * TILE + x], sizeof(float));
        __pipeline_memcpy_async(&b[tile % 2][y][x], &B[(tile * TILE + y) * width + column], sizeof(float));
        __pipeline_commit();
    };

    fetch(0);
    float sum = 0;
    for (int tile = 0; tile < tiles; ++tile) {
        if (tile + 1 < tiles) {
            fetch(tile + 1);
            __pipeline_wait_prior(1);  // all but the newest have arrived
        } else {
            __pipeline_wait_prior(0);
        }
        __syncthreads();  // those of the other threads, too
        for (int i = 0; i < TILE; ++i)
            sum += a[tile % 2][y][i] * b[tile % 2][i][x];
        __syncthreads();  // nobody needs this pair any more
    }
    C[row * width + column] = sum;
}
"""
TILE = 16
HEIGHT, INNER, WIDTH = 128, 256, 192


def main() -> int:
    simulator.stand_in()
    device = Device()
    device.set_current()
    if device.compute_capability < (8, 0):
        print("WAIVED: needs compute capability 8.0")
        return 77
    stream = device.create_stream()
    kernel = Program(KERNEL, "c++").compile("cubin").get_kernel("matrix_mul")

    generator = np.random.default_rng(0)
    a = generator.random((HEIGHT, INNER), dtype=np.float32)
    b = generator.random((INNER, WIDTH), dtype=np.float32)
    c = np.empty((HEIGHT, WIDTH), np.float32)
    d_a, d_b, d_c = (device.allocate(m.nbytes, stream=stream) for m in (a, b, c))
    d_a.copy_from(a, stream=stream)
    d_b.copy_from(b, stream=stream)
    config = LaunchConfig(grid=(WIDTH // TILE, HEIGHT // TILE), block=(TILE, TILE))
    launch(stream, config, kernel, d_a, d_b, d_c, INNER, WIDTH)
    d_c.copy_to(c, stream=stream)
    stream.sync()

    exact = a.astype(np.float64) @ b.astype(np.float64)
    bound = INNER * np.finfo(np.float32).eps * exact  # all numbers are positive
    right = bool((np.abs(c - exact) <= bound).all())
    print(f"{HEIGHT} x {INNER} times {INNER} x {WIDTH}, tiles copied two deep")
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
