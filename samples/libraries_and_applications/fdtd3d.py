"""FDTD3d: a stencil of radius 4 in three dimensions, plane by plane.

    python samples/libraries_and_applications/fdtd3d.py

Each point becomes a weighted sum of itself and of four neighbours in each of the six directions. A thread
goes through all planes of its column: what lies before and behind it in the column it keeps in registers, and
only the plane in the middle goes through shared memory, so that each point is read once from memory and not
25 times.
"""

from __future__ import annotations

import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Device, LaunchConfig, Program, ProgramOptions, launch
from cudapy.driver import checked as cu

KERNEL = """
const int RADIUS = 4, ACROSS = 32, DOWN = 8;
__constant__ float weights[RADIUS + 1];

// The volume has a frame of RADIUS on all sides, which stays as it is. Sizes are those of the inside.
extern "C" __global__ void step(const float *input, float *output, int width, int height, int depth)
{
    __shared__ float tile[DOWN + 2 * RADIUS][ACROSS + 2 * RADIUS];
    int row = width + 2 * RADIUS, plane = row * (height + 2 * RADIUS);
    int x = blockIdx.x * ACROSS + threadIdx.x, y = blockIdx.y * DOWN + threadIdx.y;
    bool inside = x < width && y < height;
    int i = (min(y, height - 1) + RADIUS) * row + min(x, width - 1) + RADIUS;  // in plane 0 of the frame
    float before[RADIUS], behind[RADIUS + 1];  // behind[0] is the point itself
    for (int k = 0; k < RADIUS; ++k)
        before[k] = input[i + (RADIUS - 1 - k) * plane];
    for (int k = 0; k <= RADIUS; ++k)
        behind[k] = input[i + (RADIUS + k) * plane];
    int tx = threadIdx.x + RADIUS, ty = threadIdx.y + RADIUS;
    for (int z = 0; z < depth; ++z) {
        const float *middle = input + (z + RADIUS) * plane;
        __syncthreads();
        for (int v = threadIdx.y; v < DOWN + 2 * RADIUS; v += DOWN)
            for (int u = threadIdx.x; u < ACROSS + 2 * RADIUS; u += ACROSS) {
                int from_x = min(int(blockIdx.x) * ACROSS + u, row - 1);
                int from_y = min(int(blockIdx.y) * DOWN + v, height + 2 * RADIUS - 1);
                tile[v][u] = middle[from_y * row + from_x];
            }
        __syncthreads();
        float sum = weights[0] * behind[0];
        for (int k = 1; k <= RADIUS; ++k)
            sum += weights[k] * (before[k - 1] + behind[k] + tile[ty - k][tx] + tile[ty + k][tx]
                                 + tile[ty][tx - k] + tile[ty][tx + k]);
        if (inside)
            output[i + (z + RADIUS) * plane] = sum;
        for (int k = RADIUS - 1; k > 0; --k)
            before[k] = before[k - 1];
        before[0] = behind[0];
        for (int k = 0; k < RADIUS; ++k)
            behind[k] = behind[k + 1];
        if (z + 1 < depth)
            behind[RADIUS] = input[i + (z + 2 * RADIUS + 1) * plane];
    }
}
"""
RADIUS, ACROSS, DOWN = 4, 32, 8
WIDTH, HEIGHT, DEPTH, STEPS = 60, 44, 24, 3
INSIDE = slice(RADIUS, -RADIUS)


def on_the_host(volume: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The same sums in the same order."""
    now: np.ndarray = volume.copy()
    following: np.ndarray = volume.copy()

    def moved(axis: int, by: int) -> np.ndarray:
        where = [INSIDE] * 3
        where[axis] = slice(RADIUS + by, now.shape[axis] - RADIUS + by)
        part: np.ndarray = now[tuple(where)]
        return part

    for _ in range(STEPS):
        total = weights[0] * now[INSIDE, INSIDE, INSIDE]
        for k in range(1, RADIUS + 1):
            around = moved(0, -k) + moved(0, k) + moved(1, -k) + moved(1, k) + moved(2, -k) + moved(2, k)
            total = total + weights[k] * around
        following[INSIDE, INSIDE, INSIDE] = total
        now, following = following, now
    return now


def main() -> int:
    simulator.stand_in()
    device = Device()
    device.set_current()
    stream = device.create_stream()
    # Without fused multiplications each operation rounds as NumPy's does: the volumes are equal.
    program = Program(KERNEL, "c++", ProgramOptions(fma=False))
    code = program.compile("cubin", name_expressions=["weights"])
    step = code.get_kernel("step")

    weights = np.array([0.4, 0.05, 0.03, 0.015, 0.005], np.float32)
    address, _ = cu.cuLibraryGetGlobal(code.handle, code.symbol_mapping["weights"])
    cu.cuMemcpyHtoDAsync(address, weights, weights.nbytes, stream.handle)
    shape = DEPTH + 2 * RADIUS, HEIGHT + 2 * RADIUS, WIDTH + 2 * RADIUS
    volume = np.random.default_rng(0).random(shape, dtype=np.float32)
    now, following = (device.allocate(volume.nbytes, stream=stream) for _ in range(2))
    now.copy_from(volume, stream=stream)
    following.copy_from(volume, stream=stream)  # with the frame
    config = LaunchConfig(
        grid=((WIDTH + ACROSS - 1) // ACROSS, (HEIGHT + DOWN - 1) // DOWN), block=(ACROSS, DOWN)
    )
    for _ in range(STEPS):
        launch(stream, config, step, now, following, WIDTH, HEIGHT, DEPTH)
        now, following = following, now
    found = np.empty_like(volume)
    now.copy_to(found, stream=stream)
    stream.sync()

    right = np.array_equal(found, on_the_host(volume, weights))
    print(f"{WIDTH} x {HEIGHT} x {DEPTH} points, {STEPS} steps with {6 * RADIUS + 1} points each")
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
