"""transpose: why the order in which memory is touched matters.

    python samples/concepts_and_techniques/transpose.py

Threads of a warp that read neighbours share one transaction. A naive transpose reads neighbours and writes
a column: a transaction for each thread. Through a tile of shared memory both sides are rows; and one more
column in the tile keeps its columns out of each other's banks.
"""

from __future__ import annotations

import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Device, EventOptions, LaunchConfig, Program, launch

KERNEL = """
const int TILE = 32, ROWS = 8;

extern "C" __global__ void naive(const float *input, float *output, int width, int height)
{
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += ROWS)
        output[x * height + y + i] = input[(y + i) * width + x];
}

template <int PADDING>
__device__ void through_tile(const float *input, float *output, int width, int height)
{
    __shared__ float tile[TILE][TILE + PADDING];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += ROWS)
        tile[threadIdx.y + i][threadIdx.x] = input[(y + i) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x, y = blockIdx.x * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += ROWS)
        output[(y + i) * height + x] = tile[threadIdx.x][threadIdx.y + i];
}

extern "C" __global__ void coalesced(const float *input, float *output, int width, int height)
{
    through_tile<0>(input, output, width, height);
}

extern "C" __global__ void no_bank_conflicts(const float *input, float *output, int width, int height)
{
    through_tile<1>(input, output, width, height);
}
"""
TILE, ROWS = 32, 8
WIDTH, HEIGHT = 1024, 512


def main() -> int:
    simulated = simulator.stand_in()
    device = Device()
    device.set_current()
    stream = device.create_stream()
    code = Program(KERNEL, "c++").compile("cubin")

    matrix = np.random.default_rng(0).random((HEIGHT, WIDTH), dtype=np.float32)
    d_input, d_output = (device.allocate(matrix.nbytes, stream=stream) for _ in range(2))
    d_input.copy_from(matrix, stream=stream)
    config = LaunchConfig(grid=(WIDTH // TILE, HEIGHT // TILE), block=(TILE, ROWS))
    timed = EventOptions(timing_enabled=True)

    right = True
    for name in ("naive", "coalesced", "no_bank_conflicts"):
        kernel = code.get_kernel(name)
        launch(stream, config, kernel, d_input, d_output, WIDTH, HEIGHT)
        d_output.fill(0, stream=stream)
        start = stream.record(options=timed)
        launch(stream, config, kernel, d_input, d_output, WIDTH, HEIGHT)
        end = stream.record(options=timed)
        found = np.empty((WIDTH, HEIGHT), np.float32)
        d_output.copy_to(found, stream=stream)
        stream.sync()
        same = np.array_equal(found, matrix.T)
        rate = 2 * matrix.nbytes / ((end - start) * 1e-3) / 1e9
        speed = "" if simulated else f"{(end - start) * 1000:8.1f} us {rate:8.1f} GB/s  "
        print(f"{name:18} {speed}{'ok' if same else 'wrong'}")
        right = right and same
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
