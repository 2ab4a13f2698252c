"""convolutionSeparable: a filter of 17 x 17, as 17 and 17.

    python samples/concepts_and_techniques/convolution_separable.py [--save convolution_separable.png]

A filter that is the product of a row and a column costs 34 multiplications for each pixel, not 289. The
filter lies in constant memory, which a warp reads with one access when all its threads read the same word;
each block brings its pixels and those beside them into shared memory.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Device, LaunchConfig, Program, launch
from cudapy.driver import checked as cu

KERNEL = """
const int RADIUS = 8, TILE = 32;
__constant__ float weights[2 * RADIUS + 1];

// Along x, or with the parts of x and y exchanged, along y. Outside of the image there are zeros.
template <bool ALONG_X>
__device__ void convolve(const float *input, float *output, int width, int height)
{
    __shared__ float tile[TILE][TILE + 2 * RADIUS + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    int along = ALONG_X ? threadIdx.x : threadIdx.y, across = ALONG_X ? threadIdx.y : threadIdx.x;
    for (int i = along; i < TILE + 2 * RADIUS; i += TILE) {
        int from_x = ALONG_X ? x - along + i - RADIUS : x, from_y = ALONG_X ? y : y - along + i - RADIUS;
        bool inside = from_x >= 0 && from_x < width && from_y >= 0 && from_y < height;
        tile[across][i] = inside ? input[from_y * width + from_x] : 0;
    }
    __syncthreads();
    if (x >= width || y >= height)
        return;
    float sum = 0;
    for (int i = -RADIUS; i <= RADIUS; ++i)
        sum += weights[RADIUS - i] * tile[across][along + RADIUS + i];
    output[y * width + x] = sum;
}

extern "C" __global__ void rows(const float *input, float *output, int width, int height)
{
    convolve<true>(input, output, width, height);
}

extern "C" __global__ void columns(const float *input, float *output, int width, int height)
{
    convolve<false>(input, output, width, height);
}
"""
RADIUS, TILE = 8, 32
WIDTH, HEIGHT = 500, 300


def save(file: str, image: np.ndarray, found: np.ndarray) -> None:
    """Write the image and, beside it, what the filter makes of it."""
    from PIL import Image

    both = np.hstack([image / image.max(), found / found.max()])
    Image.fromarray((255 * both).astype(np.uint8)).save(file)
    print(f"written to {file}")


def main() -> int:
    parser = argparse.ArgumentParser(description="A separable filter.")
    parser.add_argument("--save", metavar="PNG", help="write the picture there (needs Pillow)")
    chosen = parser.parse_args()
    if chosen.save and not importlib.util.find_spec("PIL"):
        parser.error("--save needs Pillow: pip install pillow")
    simulator.stand_in()
    device = Device()
    device.set_current()
    stream = device.create_stream()
    code = Program(KERNEL, "c++").compile("cubin", name_expressions=["weights"])

    generator = np.random.default_rng(0)
    weights = generator.random(2 * RADIUS + 1, dtype=np.float32)
    image = generator.random((HEIGHT, WIDTH), dtype=np.float32) / 4
    rows, columns = np.ogrid[:HEIGHT, :WIDTH]
    image += 0.75 * ((rows // 30 + columns // 30) % 2)  # squares under noise
    address, size = cu.cuLibraryGetGlobal(code.handle, code.symbol_mapping["weights"])
    cu.cuMemcpyHtoDAsync(address, weights, size, stream.handle)

    d_image, d_between, d_result = (device.allocate(image.nbytes, stream=stream) for _ in range(3))
    d_image.copy_from(image, stream=stream)
    config = LaunchConfig(grid=((WIDTH + TILE - 1) // TILE, (HEIGHT + TILE - 1) // TILE), block=(TILE, TILE))
    launch(stream, config, code.get_kernel("rows"), d_image, d_between, WIDTH, HEIGHT)
    launch(stream, config, code.get_kernel("columns"), d_between, d_result, WIDTH, HEIGHT)
    between, found = np.empty_like(image), np.empty_like(image)
    d_between.copy_to(between, stream=stream)
    d_result.copy_to(found, stream=stream)
    stream.sync()

    exact, error = image.astype(np.float64), 0.0
    for axis, result in ((1, between), (0, found)):
        exact = np.apply_along_axis(np.convolve, axis, exact, weights.astype(np.float64), "same")
        error = max(error, float(np.abs(result - exact).max() / exact.max()))
    if chosen.save:
        save(chosen.save, image, found)
    right = error < 1e-6
    print(f"{WIDTH} x {HEIGHT} pixels, {2 * RADIUS + 1} weights each way, off by {error:.1e}")
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
