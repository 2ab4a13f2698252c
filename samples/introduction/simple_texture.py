"""simpleTexture: an image that is turned, by reading between its pixels.

    python samples/introduction/simple_texture.py [--save simple_texture.png]

A texture is read at any place: the texture unit mixes the four pixels around it, and says what is outside of
the image, here the other side again. The weights have 8 bits behind the point, so that results are off by a
part of the difference between neighbours.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Device, LaunchConfig, Program, launch, texture

KERNEL = """
extern "C" __global__ void turn(float *output, int width, int height, float angle, cudaTextureObject_t image)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float u = (x + 0.5f) / width - 0.5f, v = (y + 0.5f) / height - 0.5f;  // from the middle
    float s = sinf(angle), c = cosf(angle);
    output[y * width + x] = tex2D<float>(image, u * c - v * s + 0.5f, v * c + u * s + 0.5f);
}
"""
WIDTH = HEIGHT = 256
ANGLE = 0.5


def picture() -> np.ndarray:
    """Rings and a board of squares, 0 to 1."""
    y, x = (np.mgrid[:HEIGHT, :WIDTH] + 0.5) / WIDTH - 0.5
    rings = 0.5 + 0.5 * np.cos(60 * np.hypot(x, y))
    board = (np.floor(8 * x) + np.floor(8 * y)) % 2
    image: np.ndarray = (0.7 * rings + 0.3 * board).astype(np.float32)
    return image


def on_the_host(image: np.ndarray) -> np.ndarray:
    """The same with exact weights."""
    y, x = (np.mgrid[:HEIGHT, :WIDTH] + 0.5) / [[[HEIGHT]], [[WIDTH]]] - 0.5
    s, c = np.sin(ANGLE), np.cos(ANGLE)
    u, v = (x * c - y * s + 0.5) * WIDTH - 0.5, (y * c + x * s + 0.5) * HEIGHT - 0.5
    left, top = np.floor(u).astype(int), np.floor(v).astype(int)
    right, bottom = (left + 1) % WIDTH, (top + 1) % HEIGHT
    a, b = u - left, v - top
    left, top = left % WIDTH, top % HEIGHT
    above = (1 - a) * image[top, left] + a * image[top, right]
    below = (1 - a) * image[bottom, left] + a * image[bottom, right]
    turned: np.ndarray = (1 - b) * above + b * below
    return turned


def main() -> int:
    parser = argparse.ArgumentParser(description="An image that is turned.")
    parser.add_argument("--save", metavar="PNG", help="write the picture there (needs Pillow)")
    chosen = parser.parse_args()
    if chosen.save and not importlib.util.find_spec("PIL"):
        parser.error("--save needs Pillow: pip install pillow")
    simulator.stand_in()
    device = Device()
    device.set_current()
    stream = device.create_stream()
    kernel = Program(KERNEL, "c++").compile("cubin").get_kernel("turn")

    image = picture()
    array = device.create_opaque_array(texture.OpaqueArrayOptions((WIDTH, HEIGHT), "float32", 1))
    array.copy_from(image, stream=stream)
    wrapped = device.create_texture_object(
        resource=texture.ResourceDescriptor.from_opaque_array(array),
        options=texture.TextureObjectOptions("wrap", filter_mode="linear", normalized_coords=True),
    )

    output = device.allocate(image.nbytes, stream=stream)
    config = LaunchConfig(grid=(WIDTH // 16, HEIGHT // 16), block=(16, 16))
    launch(stream, config, kernel, output, WIDTH, HEIGHT, ANGLE, wrapped)
    turned = np.empty_like(image)
    output.copy_to(turned, stream=stream)
    stream.sync()

    if chosen.save:
        from PIL import Image

        both = np.hstack([image, np.ones((HEIGHT, 8), np.float32), turned])
        Image.fromarray((255 * both.clip(0, 1)).astype(np.uint8)).save(chosen.save)
        print(f"written to {chosen.save}")
    error = float(np.abs(turned - on_the_host(image)).max())
    right = error < 2 / 256
    print(f"{WIDTH} x {HEIGHT} pixels, turned by {ANGLE} radians, off by {error:.4f}")
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
