"""matrixMul: a matrix product, tile by tile through shared memory.

    python samples/introduction/matrix_mul.py

Each block computes a tile of C. It brings one tile of A and one of B at a time into shared memory, where
every number is read as many times as the tile is wide: the traffic to memory falls by that factor.
"""

from __future__ import annotations

import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Device, EventOptions, LaunchConfig, Program, launch

KERNEL = """
template <int TILE>
__global__ void matrix_mul(const float *A, const float *B, float *C, int inner, int width)
{
    __shared__ float a[TILE][TILE], b[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < inner; k += TILE) {
        a[threadIdx.y][threadIdx.x] = A[row * inner + k + threadIdx.x];
        b[threadIdx.y][threadIdx.x] = B[(k + threadIdx.y) * width + column];
        __syncthreads();  // both tiles are there
        for (int i = 0; i < TILE; ++i)
            sum += a[threadIdx.y][i] * b[i][threadIdx.x];
        __syncthreads();  // nobody needs them any more
    }
    C[row * width + column] = sum;
}
"""
TILE = 16
HEIGHT, INNER, WIDTH = 160, 320, 240  # multiples of TILE


def main() -> int:
    simulated = simulator.stand_in()
    device = Device()
    device.set_current()
    stream = device.create_stream()
    name = f"matrix_mul<{TILE}>"
    kernel = Program(KERNEL, "c++").compile("cubin", name_expressions=[name]).get_kernel(name)

    generator = np.random.default_rng(0)
    a = generator.random((HEIGHT, INNER), dtype=np.float32)
    b = generator.random((INNER, WIDTH), dtype=np.float32)
    c = np.empty((HEIGHT, WIDTH), np.float32)
    d_a, d_b, d_c = (device.allocate(m.nbytes, stream=stream) for m in (a, b, c))
    d_a.copy_from(a, stream=stream)
    d_b.copy_from(b, stream=stream)

    config = LaunchConfig(grid=(WIDTH // TILE, HEIGHT // TILE), block=(TILE, TILE))
    launch(stream, config, kernel, d_a, d_b, d_c, INNER, WIDTH)  # the first launch also loads the code
    timed = EventOptions(timing_enabled=True)
    start = stream.record(options=timed)
    launch(stream, config, kernel, d_a, d_b, d_c, INNER, WIDTH)
    end = stream.record(options=timed)
    d_c.copy_to(c, stream=stream)
    stream.sync()

    # A sum of `INNER` products, each step rounded: the error is at most that many units in the last place.
    exact = a.astype(np.float64) @ b.astype(np.float64)
    bound = INNER * np.finfo(np.float32).eps * (np.abs(a).astype(np.float64) @ np.abs(b))
    right = bool((np.abs(c - exact) <= bound).all())
    rate = 2 * HEIGHT * INNER * WIDTH / ((end - start) * 1e-3) / 1e9
    speed = "" if simulated else f": {(end - start) * 1000:.1f} us, {rate:.1f} GFLOP/s"
    print(f"{HEIGHT} x {INNER} times {INNER} x {WIDTH}{speed}")
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
