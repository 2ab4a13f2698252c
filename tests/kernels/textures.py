"""Textures and surfaces."""

from __future__ import annotations

from typing import Any

import numpy as np

from cudapy.core import texture

from .kernel import Run, kernel
from .values import Array, f32, floats, i32, integers, near, same, u8, zeros

CODE = r"""
extern "C" __global__ void turn(cudaTextureObject_t image, float *out, int w, int h, float s, float c)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= w) return;
    float u = (x + 0.5f) / w - 0.5f, v = (y + 0.5f) / h - 0.5f;
    out[y * w + x] = tex2D<float>(image, u * c - v * s + 0.5f, u * s + v * c + 0.5f);
}
extern "C" __global__ void fetch(cudaTextureObject_t image, uchar4 *out, int w, int dx, int dy)
{
    int x = threadIdx.x, y = blockIdx.x;
    out[y * w + x] = tex2D<uchar4>(image, x + dx, y + dy);
}
extern "C" __global__ void bicubic(cudaTextureObject_t image, float *out, int n, float zoom)
{
    int i = threadIdx.x, j = blockIdx.x;
    float x = i * zoom, y = j * zoom, px = floorf(x - 0.5f), py = floorf(y - 0.5f), fx = x - 0.5f - px,
        fy = y - 0.5f - py;
    auto weights = [](float t, float *w) {
        w[0] = ((-t + 3) * t - 3) * t / 6 + 1.0f / 6;
        w[1] = (3 * t - 6) * t * t / 6 + 4.0f / 6;
        w[2] = ((-3 * t + 3) * t + 3) * t / 6 + 1.0f / 6;
        w[3] = t * t * t / 6;
    };
    float wx[4], wy[4], sum = 0;
    weights(fx, wx);
    weights(fy, wy);
    for (int b = 0; b < 4; ++b)
        for (int a = 0; a < 4; ++a) sum += wx[a] * wy[b] * tex2D<float>(image, px - 1 + a + 0.5f, py - 1
            + b + 0.5f);
    out[j * n + i] = sum;
}
"""


def image_texture(run: Run, image: Array, kind: str, channels: int, mode: str, **options: Any) -> Any:
    """An array in device memory with a texture object of it."""
    height, width = image.shape[:2]
    array = run.device.create_opaque_array(texture.OpaqueArrayOptions((width, height), kind, channels))
    array.copy_from(image, stream=run.stream)
    resource = texture.ResourceDescriptor.from_opaque_array(array)
    return run.device.create_texture_object(
        resource=resource, options=texture.TextureObjectOptions(mode, **options)
    )


@kernel(CODE, after="CUDA C++ Programming Guide, Texture Functions", against="NumPy indices that wrap")
def texture_turned(run: Run) -> None:
    """A quarter turn with normalized coordinates, exact at the middle of texels."""
    image = floats((16, 16))
    turned = image_texture(run, image, "float32", 1, "wrap", normalized_coords=True)
    out = zeros((16, 16))
    run("turn", (1, 16), 16, turned, out, 16, 16, 1.0, 0.0)
    same(out, image[:, ::-1].T)


@kernel(CODE, after="CUDA C++ Programming Guide, Texture Functions", against="numpy.pad")
def texture_edges(run: Run) -> None:
    """Four bytes a texel, points outside: the edge, and the border of zeros."""
    image = integers(0, 256, (9, 13, 4), u8)
    for mode in ("clamp", "border"):
        object_ = image_texture(run, image, "uint8", 4, mode)
        padded = np.pad(image, ((20, 20), (20, 20), (0, 0)), "edge" if mode == "clamp" else "constant")
        for dx, dy in ((0, 0), (-3, 4), (15, -12)):
            out = zeros((9, 13, 4), u8)
            run("fetch", 9, 13, object_, out, 13, dx, dy)
            same(out, padded[20 + dy : 29 + dy, 20 + dx : 33 + dx])


@kernel(
    CODE,
    after="Sigg and Hadwiger, Fast Third-Order Texture Filtering (2005)",
    against="cubic B-splines in numpy.float64",
)
def texture_bicubic(run: Run) -> None:
    """Sixteen fetches a pixel, edges clamped."""
    image, out, zoom = floats((11, 11)), zeros((20, 20)), 0.53
    run("bicubic", 20, 20, image_texture(run, image, "float32", 1, "clamp"), out, 20, zoom)
    at = np.arange(20, dtype=f32) * f32(zoom)
    first = np.floor(at - f32(0.5))
    t = (at - f32(0.5) - first).astype(float)
    weights = np.stack([(1 - t) ** 3, 3 * t**3 - 6 * t**2 + 4, -3 * t**3 + 3 * t**2 + 3 * t + 1, t**3]) / 6
    matrix = np.zeros((20, 11))
    for k in range(4):
        np.add.at(matrix, (np.arange(20), np.clip(first.astype(i32) - 1 + k, 0, 10)), weights[k])
    near(out, matrix @ image @ matrix.T, 1e-4, 1e-5)
