"""Mandelbrot: for how long z = z * z + c stays small, for each pixel c.

    python samples/concepts_and_techniques/mandelbrot.py [--save mandelbrot.png]

A thread for each pixel; neighbours take different numbers of steps, and a warp takes as many as its slowest
thread.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Device, LaunchConfig, Program, ProgramOptions, launch

KERNEL = """
extern "C" __global__ void mandelbrot(int *steps, int width, int height, double left, double top, double step,
                                      int limit)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= height)
        return;
    double a = left + column * step, b = top - row * step, x = 0, y = 0;
    int n = 0;
    while (n < limit && x * x + y * y <= 4) {
        double next = x * x - y * y + a;
        y = 2 * x * y + b;
        x = next;
        ++n;
    }
    steps[row * width + column] = n;
}
"""
WIDTH, HEIGHT = 750, 500
LEFT, TOP, STEP = -2.45, 1.2, 2.4 / HEIGHT
LIMIT = 256
COLOURS = (0, 7, 40), (20, 60, 150), (110, 180, 235), (250, 250, 235), (255, 180, 40), (100, 30, 10)
"""Of pixels that leave at once to those that take `LIMIT` steps, in equal parts of the logarithm."""


def on_the_host() -> np.ndarray:
    """The same for all pixels at once, in the same order of operations."""
    a = np.broadcast_to(LEFT + np.arange(WIDTH) * STEP, (HEIGHT, WIDTH))
    b = np.broadcast_to((TOP - np.arange(HEIGHT) * STEP)[:, None], (HEIGHT, WIDTH))
    x, y, steps = np.zeros_like(a), np.zeros_like(a), np.zeros(a.shape, np.int32)
    for _ in range(LIMIT):
        small = x * x + y * y <= 4
        if not small.any():
            break
        steps += small
        x, y = np.where(small, x * x - y * y + a, x), np.where(small, 2 * x * y + b, y)
    return steps


def main() -> int:
    parser = argparse.ArgumentParser(description="The Mandelbrot set.")
    parser.add_argument("--save", metavar="PNG", help="write the picture there (needs Pillow)")
    chosen = parser.parse_args()
    if chosen.save and not importlib.util.find_spec("PIL"):
        parser.error("--save needs Pillow: pip install pillow")
    simulator.stand_in()
    device = Device()
    device.set_current()
    stream = device.create_stream()
    # Without fused multiplications each operation rounds as NumPy's does: the pictures are equal.
    kernel = Program(KERNEL, "c++", ProgramOptions(fma=False)).compile("cubin").get_kernel("mandelbrot")

    data = device.allocate(4 * WIDTH * HEIGHT, stream=stream)
    config = LaunchConfig(grid=((WIDTH + 15) // 16, (HEIGHT + 15) // 16), block=(16, 16))
    launch(stream, config, kernel, data, WIDTH, HEIGHT, LEFT, TOP, STEP, LIMIT)
    steps = np.empty((HEIGHT, WIDTH), np.int32)
    data.copy_to(steps, stream=stream)
    stream.sync()

    if chosen.save:
        from PIL import Image

        place, stops = np.log(steps) / np.log(LIMIT), np.linspace(0, 1, len(COLOURS))
        colours = np.stack([np.interp(place, stops, channel) for channel in zip(*COLOURS, strict=True)], -1)
        colours[steps == LIMIT] = 0
        Image.fromarray(colours.astype(np.uint8)).save(chosen.save)
        print(f"written to {chosen.save}")
    right = np.array_equal(steps, on_the_host())
    inside = np.count_nonzero(steps == LIMIT) / steps.size
    print(f"{WIDTH} x {HEIGHT} pixels, {inside:.1%} in the set")
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
