"""isoFDModelling: a wave, step by step.

    python samples/libraries_and_applications/iso_fd_modelling.py [--save wave.png]

The wave equation by finite differences, as seismic modelling does it: a source, a ground that is faster
below, and in each step a new field of pressure from the last two. The second derivatives are of order four
in space and two in time; the same arithmetic in NumPy is the check. The picture shows the echoes of the
surface and of the faster ground, and what goes on into it.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Device, LaunchConfig, Program, ProgramOptions, launch

KERNEL = """
// next = 2 now - before + c2 * (d2/dx2 + d2/dy2) now; a frame of two stays zero
extern "C" __global__ void advance(const double *now, double *next, const double *c2, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 2 || x >= width - 2 || y < 2 || y >= height - 2)
        return;
    int i = y * width + x;
    double middle = now[i];
    double along_x = -(now[i - 2] + now[i + 2]) + 16 * (now[i - 1] + now[i + 1]) - 30 * middle;
    double along_y = -(now[i - 2 * width] + now[i + 2 * width]) + 16 * (now[i - width] + now[i + width])
                     - 30 * middle;
    next[i] = 2 * middle - next[i] + c2[i] * (along_x + along_y);  // next still holds the field before
}

extern "C" __global__ void shake(double *field, int at, double value) { field[at] += value; }
"""
WIDTH, HEIGHT, STEPS = 240, 160, 240
SOURCE = HEIGHT // 4 * WIDTH + WIDTH // 2


def ricker(step: int) -> float:
    """The wavelet of seismologists."""
    t = ((step - 30) / 10.0) ** 2
    return float((1 - 2 * t) * np.exp(-t))


def on_the_host(c2: np.ndarray) -> np.ndarray:
    """The same in the same order of operations."""
    now, following = np.zeros((HEIGHT, WIDTH)), np.zeros((HEIGHT, WIDTH))
    for step in range(STEPS):
        n = now
        middle = n[2:-2, 2:-2]
        along_x = -(n[2:-2, :-4] + n[2:-2, 4:]) + 16 * (n[2:-2, 1:-3] + n[2:-2, 3:-1]) - 30 * middle
        along_y = -(n[:-4, 2:-2] + n[4:, 2:-2]) + 16 * (n[1:-3, 2:-2] + n[3:-1, 2:-2]) - 30 * middle
        inner = following[2:-2, 2:-2]
        inner[:] = 2 * middle - inner + c2[2:-2, 2:-2] * (along_x + along_y)
        following.flat[SOURCE] += ricker(step)
        now, following = following, now
    return now


def main() -> int:
    parser = argparse.ArgumentParser(description="A wave by finite differences.")
    parser.add_argument("--save", metavar="PNG", help="write the picture there (needs Pillow)")
    chosen = parser.parse_args()
    simulator.stand_in()
    device = Device()
    device.set_current()
    stream = device.create_stream()
    # Without fused multiplications each operation rounds as NumPy's does: the fields are equal.
    code = Program(KERNEL, "c++", ProgramOptions(fma=False)).compile("cubin")
    advance, shake = code.get_kernel("advance"), code.get_kernel("shake")

    speed = np.where(np.arange(HEIGHT)[:, None] < HEIGHT * 0.55, 0.35, 0.55)  # grid points a step
    c2 = np.broadcast_to(speed**2 / 12, (HEIGHT, WIDTH)).copy()
    now, following, d_c2 = (device.allocate(c2.nbytes, stream=stream) for _ in range(3))
    d_c2.copy_from(c2, stream=stream)
    now.fill(0, stream=stream)
    following.fill(0, stream=stream)
    config = LaunchConfig(grid=((WIDTH + 31) // 32, (HEIGHT + 7) // 8), block=(32, 8))
    one = LaunchConfig(grid=1, block=1)
    for step in range(STEPS):
        launch(stream, config, advance, now, following, d_c2, WIDTH, HEIGHT)
        launch(stream, one, shake, following, SOURCE, ricker(step))
        now, following = following, now
    field = np.empty_like(c2)
    now.copy_to(field, stream=stream)
    stream.sync()

    if chosen.save:
        from PIL import Image

        strength = np.sign(field) * np.sqrt(np.abs(field) / np.abs(field).max())  # faint echoes show, too
        red, blue = np.maximum(strength, 0)[..., None], np.maximum(-strength, 0)[..., None]
        ground = np.where(c2 > c2.min(), 0.85, 1)[..., None]
        colours = 255 * ground * (1 - red * (0.1, 0.75, 0.9) - blue * (0.9, 0.6, 0.15))
        Image.fromarray(colours.astype(np.uint8)).resize((3 * WIDTH, 3 * HEIGHT)).save(chosen.save)
        print(f"written to {chosen.save}")
    right = np.array_equal(field, on_the_host(c2)) and float(np.abs(field).max()) > 1e-3
    print(f"{WIDTH} x {HEIGHT} points, {STEPS} steps; the largest pressure is {np.abs(field).max():.4f}")
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
