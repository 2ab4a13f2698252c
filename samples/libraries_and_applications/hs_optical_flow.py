"""HSOpticalFlow: how the parts of an image move, from one picture to the next.

    python samples/libraries_and_applications/hs_optical_flow.py [--save hs_optical_flow.png]

The method of Horn and Schunck looks for a smooth field of motion along which brightness stays the same. It
knows small motions alone, so it begins with pictures of a quarter of the size, where all motions are small;
what it finds there is taken back from the next larger ones, and it goes on with what is left. The same
arithmetic in NumPy is the check, and so is the motion that the pictures were made with. The picture shows the
first one, and the motion: its direction as a colour.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Buffer, Device, LaunchConfig, Program, ProgramOptions, launch

KERNEL = """
__device__ int inside(int i, int size) { return min(max(i, 0), size - 1); }

// Between pixels, with those of the edge outside of the image.
__device__ float sample(const float *image, float x, float y, int width, int height)
{
    float left = floorf(x), top = floorf(y), a = x - left, b = y - top;
    int x0 = inside((int)left, width), x1 = inside((int)left + 1, width);
    int y0 = inside((int)top, height), y1 = inside((int)top + 1, height);
    float above = (1 - a) * image[y0 * width + x0] + a * image[y0 * width + x1];
    float below = (1 - a) * image[y1 * width + x0] + a * image[y1 * width + x1];
    return (1 - b) * above + b * below;
}

#define PIXEL \
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y; \
    if (x >= width || y >= height) \
        return; \
    int i = y * width + x

extern "C" __global__ void shrink(const float *image, float *half, int width, int height)
{
    PIXEL;
    const float *at = image + 4 * y * width + 2 * x;
    half[i] = 0.25f * (at[0] + at[1] + at[2 * width] + at[2 * width + 1]);
}

extern "C" __global__ void grow(const float *flow, float *twice, int width, int height)
{
    PIXEL;
    twice[i] = 2 * sample(flow, 0.5f * x - 0.25f, 0.5f * y - 0.25f, width / 2, height / 2);
}

// How the second picture, moved back by (u, v), changes along x, along y, and from the first one.
extern "C" __global__ void derive(const float *first, const float *second, const float *u, const float *v,
                                  float *ix, float *iy, float *it, int width, int height)
{
    PIXEL;
    float at_x = x + u[i], at_y = y + v[i];
    auto at = [&](float dx, float dy) { return sample(second, at_x + dx, at_y + dy, width, height); };
    ix[i] = 0.5f * (at(1, 0) - at(-1, 0));
    iy[i] = 0.5f * (at(0, 1) - at(0, -1));
    it[i] = at(0, 0) - first[i];
}

// A step of Jacobi's method for the motion (u, v), near (u0, v0) where the derivatives were taken.
extern "C" __global__ void relax(const float *u, const float *v, const float *u0, const float *v0,
                                 const float *ix, const float *iy, const float *it, float *next_u,
                                 float *next_v, float alpha, int width, int height)
{
    PIXEL;
    int left = y * width + inside(x - 1, width), right = y * width + inside(x + 1, width);
    int above = inside(y - 1, height) * width + x, below = inside(y + 1, height) * width + x;
    float mean_u = 0.25f * (u[left] + u[right] + u[above] + u[below]);
    float mean_v = 0.25f * (v[left] + v[right] + v[above] + v[below]);
    float off = ix[i] * (mean_u - u0[i]) + iy[i] * (mean_v - v0[i]) + it[i];
    off /= alpha + ix[i] * ix[i] + iy[i] * iy[i];
    next_u[i] = mean_u - ix[i] * off;
    next_v[i] = mean_v - iy[i] * off;
}
"""
WIDTH, HEIGHT, LEVELS = 160, 120, 3
WARPS, STEPS, ALPHA = 2, 30, 0.001


def pictures() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Two pictures of a pattern that turns around the middle and grows, and its motion in x and in y."""
    y, x = np.mgrid[:HEIGHT, :WIDTH] - np.array([HEIGHT / 2, WIDTH / 2])[:, None, None]
    generator = np.random.default_rng(0)
    waves = [(*generator.normal(0, 0.15, 2), generator.uniform(0, 6)) for _ in range(24)]

    def pattern(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        total = np.sum([np.sin(a * x + b * y + c) for a, b, c in waves], axis=0)
        image: np.ndarray = (0.5 + total / 20).astype(np.float32)
        return image

    turn, growth = 0.06, 1.03
    matrix = growth * np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    back = np.linalg.inv(matrix)
    second = pattern(back[0, 0] * x + back[0, 1] * y, back[1, 0] * x + back[1, 1] * y)
    return (
        pattern(x, y),
        second,
        (matrix[0, 0] - 1) * x + matrix[0, 1] * y,
        matrix[1, 0] * x + (matrix[1, 1] - 1) * y,
    )


class OnTheHost:
    """The kernels in NumPy, in the same order of operations."""

    def shrink(self, image: np.ndarray) -> np.ndarray:
        a, b, c, d = image[::2, ::2], image[::2, 1::2], image[1::2, ::2], image[1::2, 1::2]
        half: np.ndarray = np.float32(0.25) * (a + b + c + d)
        return half

    def sample(self, image: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        left, top = np.floor(x), np.floor(y)
        a, b = x - left, y - top
        x0, x1 = (np.clip(left.astype(int) + i, 0, image.shape[1] - 1) for i in (0, 1))
        y0, y1 = (np.clip(top.astype(int) + i, 0, image.shape[0] - 1) for i in (0, 1))
        above = (1 - a) * image[y0, x0] + a * image[y0, x1]
        below = (1 - a) * image[y1, x0] + a * image[y1, x1]
        mixed: np.ndarray = (1 - b) * above + b * below
        return mixed

    def places(self, height: int, width: int) -> tuple[np.ndarray, np.ndarray]:
        rows, columns = np.arange(height, dtype=np.float32), np.arange(width, dtype=np.float32)
        x, y = np.meshgrid(columns, rows)
        return x, y

    def grow(self, flow: np.ndarray) -> np.ndarray:
        x, y = self.places(2 * flow.shape[0], 2 * flow.shape[1])
        half, quarter = np.float32(0.5), np.float32(0.25)
        twice: np.ndarray = np.float32(2) * self.sample(flow, half * x - quarter, half * y - quarter)
        return twice

    def improve(
        self, first: np.ndarray, second: np.ndarray, u: np.ndarray, v: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        x, y = self.places(*first.shape)
        at_x, at_y, half, one = x + u, y + v, np.float32(0.5), np.float32(1)
        ix = half * (self.sample(second, at_x + one, at_y) - self.sample(second, at_x - one, at_y))
        iy = half * (self.sample(second, at_x, at_y + one) - self.sample(second, at_x, at_y - one))
        it = self.sample(second, at_x, at_y) - first
        u0, v0 = u, v
        for _ in range(STEPS):
            means = []
            for field in (u, v):
                p = np.pad(field, 1, mode="edge")
                total = p[1:-1, :-2] + p[1:-1, 2:] + p[:-2, 1:-1] + p[2:, 1:-1]
                means.append(np.float32(0.25) * total)
            off = ix * (means[0] - u0) + iy * (means[1] - v0) + it
            off = off / (np.float32(ALPHA) + ix * ix + iy * iy)
            u, v = means[0] - ix * off, means[1] - iy * off
        return u, v

    def flow(self, first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, ...]:
        pyramid = [(first, second)]
        for _ in range(LEVELS - 1):
            pyramid.append((self.shrink(pyramid[-1][0]), self.shrink(pyramid[-1][1])))
        u, v = (np.zeros(pyramid[-1][0].shape, np.float32) for _ in range(2))
        for level, (a, b) in enumerate(reversed(pyramid)):
            if level:
                u, v = self.grow(u), self.grow(v)
            for _ in range(WARPS):
                u, v = self.improve(a, b, u, v)
        return u, v


def on_the_device(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, ...]:
    device = Device()
    device.set_current()
    stream = device.create_stream()
    # Without fused multiplications each operation rounds as NumPy's does: the fields are equal.
    code = Program(KERNEL, "c++", ProgramOptions(fma=False)).compile("cubin")
    kernels = {name: code.get_kernel(name) for name in ("shrink", "grow", "derive", "relax")}

    def run(name: str, level: int, *arguments: Buffer | float) -> None:
        width, height = WIDTH >> level, HEIGHT >> level
        config = LaunchConfig(grid=((width + 31) // 32, (height + 7) // 8), block=(32, 8))
        launch(stream, config, kernels[name], *arguments, width, height)

    def fields(count: int, level: int) -> list[Buffer]:
        return [
            device.allocate(4 * (WIDTH >> level) * (HEIGHT >> level), stream=stream) for _ in range(count)
        ]

    pyramid = [fields(2, level) for level in range(LEVELS)]
    for buffer, picture in zip(pyramid[0], (first, second), strict=True):
        buffer.copy_from(picture, stream=stream)
    for level in range(1, LEVELS):
        for larger, smaller in zip(pyramid[level - 1], pyramid[level], strict=True):
            run("shrink", level, larger, smaller)

    u, v = fields(2, LEVELS - 1)
    for buffer in (u, v):
        buffer.fill(0, stream=stream)
    for level in reversed(range(LEVELS)):
        if level < LEVELS - 1:
            coarse, (u, v) = (u, v), fields(2, level)
            run("grow", level, coarse[0], u)
            run("grow", level, coarse[1], v)
        ix, iy, it = fields(3, level)
        for _ in range(WARPS):
            run("derive", level, *pyramid[level], u, v, ix, iy, it)
            u0, v0, pair = u, v, (fields(2, level), fields(2, level))
            for i in range(STEPS):
                run("relax", level, u, v, u0, v0, ix, iy, it, *pair[i % 2], ALPHA)
                u, v = pair[i % 2]
    found = np.empty((2, HEIGHT, WIDTH), np.float32)
    u.copy_to(found[0], stream=stream)
    v.copy_to(found[1], stream=stream)
    stream.sync()
    return found[0], found[1]


def save(file: str, first: np.ndarray, u: np.ndarray, v: np.ndarray) -> None:
    """Write the first picture and, beside it, the motion."""
    from PIL import Image

    angle, speed = np.arctan2(v, u) / (2 * np.pi) % 1, np.hypot(u, v)
    strong = (speed / np.quantile(speed, 0.95)).clip(0, 1)
    hsv = [Image.fromarray((255 * band).astype(np.uint8)) for band in (angle, strong, np.ones_like(angle))]
    motion = np.asarray(Image.merge("HSV", hsv).convert("RGB"))
    picture = np.repeat((255 * first.clip(0, 1)).astype(np.uint8)[..., None], 3, axis=-1)
    both = Image.fromarray(np.hstack([picture, motion]))
    both.resize((2 * both.width, 2 * both.height), Image.Resampling.BICUBIC).save(file)
    print(f"written to {file}")


def main() -> int:
    parser = argparse.ArgumentParser(description="The motion between two pictures.")
    parser.add_argument("--save", metavar="PNG", help="write the picture there (needs Pillow)")
    chosen = parser.parse_args()
    if chosen.save and not importlib.util.find_spec("PIL"):
        parser.error("--save needs Pillow: pip install pillow")
    simulator.stand_in()
    first, second, true_u, true_v = pictures()
    u, v = on_the_device(first, second)
    if chosen.save:
        save(chosen.save, first, u, v)
    expected = OnTheHost().flow(first, second)
    same = np.array_equal(u, expected[0]) and np.array_equal(v, expected[1])
    off = np.hypot(u - true_u, v - true_v)[16:-16, 16:-16]
    right = same and float(off.mean()) < 0.1
    furthest = np.hypot(true_u, true_v).max()
    print(f"{WIDTH} x {HEIGHT} pixels in {LEVELS} sizes, motions of up to {furthest:.1f} pixels")
    print(f"found but for {off.mean():.3f} pixels: {'PASS' if right else 'FAIL'}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
