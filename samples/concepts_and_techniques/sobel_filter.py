"""SobelFilter: the edges of an image.

    python samples/concepts_and_techniques/sobel_filter.py [--save sobel_filter.png]

Two filters of 3 x 3 estimate how much the brightness changes along x and along y. A block brings its pixels
and a frame of one around them into shared memory once, where nine threads read each of them.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Device, LaunchConfig, Program, launch

KERNEL = """
const int TILE = 16;

// Pixels outside of the image are those of its edge.
extern "C" __global__ void sobel(const unsigned char *image, unsigned char *edges, int width, int height)
{
    __shared__ unsigned char tile[TILE + 2][TILE + 2];
    int left = blockIdx.x * TILE - 1, top = blockIdx.y * TILE - 1;
    for (int i = threadIdx.y * TILE + threadIdx.x; i < (TILE + 2) * (TILE + 2); i += TILE * TILE) {
        int x = min(max(left + i % (TILE + 2), 0), width - 1);
        int y = min(max(top + i / (TILE + 2), 0), height - 1);
        tile[i / (TILE + 2)][i % (TILE + 2)] = image[y * width + x];
    }
    __syncthreads();
    int x = left + 1 + threadIdx.x, y = top + 1 + threadIdx.y;
    if (x >= width || y >= height)
        return;
    auto at = [&](int dx, int dy) { return (int)tile[threadIdx.y + 1 + dy][threadIdx.x + 1 + dx]; };
    int along_x = at(1, -1) + 2 * at(1, 0) + at(1, 1) - at(-1, -1) - 2 * at(-1, 0) - at(-1, 1);
    int along_y = at(-1, 1) + 2 * at(0, 1) + at(1, 1) - at(-1, -1) - 2 * at(0, -1) - at(1, -1);
    edges[y * width + x] = min((abs(along_x) + abs(along_y)) / 2, 255);
}
"""
WIDTH, HEIGHT = 360, 240
TILE = 16


def picture() -> np.ndarray:
    """Balls before one another, lit from the upper left, in front of a floor of squares."""
    y, x = np.mgrid[:HEIGHT, :WIDTH].astype(np.float64)
    depth = 1 / np.maximum(y - 0.45 * HEIGHT, 1)
    board = (np.floor((x - WIDTH / 2) * depth * 3) + np.floor(400 * depth)) % 2
    image = np.where(y > 0.5 * HEIGHT, 70 + 90 * board, 200 - 0.4 * y)
    for cx, cy, radius in ((100, 120, 70), (190, 150, 55), (275, 110, 48)):
        u, v = (x - cx) / radius, (y - cy) / radius
        w = np.sqrt(np.maximum(1 - u * u - v * v, 0))
        light = np.maximum((-u - v + 1.4 * w) / 2, 0.08)
        image = np.where(u * u + v * v < 1, 255 * light, image)
    pixels: np.ndarray = image.clip(0, 255).astype(np.uint8)
    return pixels


def on_the_host(image: np.ndarray) -> np.ndarray:
    p = np.pad(image.astype(int), 1, mode="edge")
    right, left = (p[:-2, i:][:, :WIDTH] + 2 * p[1:-1, i:][:, :WIDTH] + p[2:, i:][:, :WIDTH] for i in (2, 0))
    below, above = (p[i:, :-2][:HEIGHT] + 2 * p[i:, 1:-1][:HEIGHT] + p[i:, 2:][:HEIGHT] for i in (2, 0))
    edges: np.ndarray = np.minimum((np.abs(right - left) + np.abs(below - above)) // 2, 255).astype(np.uint8)
    return edges


def main() -> int:
    parser = argparse.ArgumentParser(description="The edges of an image.")
    parser.add_argument("--save", metavar="PNG", help="write the picture there (needs Pillow)")
    chosen = parser.parse_args()
    if chosen.save and not importlib.util.find_spec("PIL"):
        parser.error("--save needs Pillow: pip install pillow")
    simulator.stand_in()
    device = Device()
    device.set_current()
    stream = device.create_stream()
    kernel = Program(KERNEL, "c++").compile("cubin").get_kernel("sobel")

    image = picture()
    edges = np.empty_like(image)
    d_image, d_edges = (device.allocate(image.nbytes, stream=stream) for _ in range(2))
    d_image.copy_from(image, stream=stream)
    config = LaunchConfig(grid=((WIDTH + TILE - 1) // TILE, (HEIGHT + TILE - 1) // TILE), block=(TILE, TILE))
    launch(stream, config, kernel, d_image, d_edges, WIDTH, HEIGHT)
    d_edges.copy_to(edges, stream=stream)
    stream.sync()

    if chosen.save:
        from PIL import Image

        Image.fromarray(np.hstack([image, 255 - edges])).save(chosen.save)
        print(f"written to {chosen.save}")
    right = np.array_equal(edges, on_the_host(image))
    print(f"{WIDTH} x {HEIGHT} pixels, {np.count_nonzero(edges > 64)} of them at an edge")
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
