"""simpleSurfaceWrite: an array that one kernel writes and another one samples.

    python samples/introduction/simple_surface_write.py

A surface writes to a CUDA array, whose layout nobody but the device knows, at whole pixels; x is counted in
bytes. A texture then reads the same array, here with its rows from the bottom to the top.
"""

from __future__ import annotations

import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Device, LaunchConfig, Program, launch, texture

KERNEL = """
extern "C" __global__ void write(const float *image, cudaSurfaceObject_t surface, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        surf2Dwrite(image[y * width + x], surface, x * 4, y);
}

extern "C" __global__ void read(cudaTextureObject_t texture, float *image, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        image[y * width + x] = tex2D<float>(texture, x, height - 1 - y);
}
"""
WIDTH, HEIGHT = 250, 130  # not whole blocks


def main() -> int:
    simulator.stand_in()
    device = Device()
    device.set_current()
    stream = device.create_stream()
    code = Program(KERNEL, "c++").compile("cubin")

    options = texture.OpaqueArrayOptions((WIDTH, HEIGHT), "float32", 1, is_surface_load_store=True)
    resource = texture.ResourceDescriptor.from_opaque_array(device.create_opaque_array(options))
    surface = device.create_surface_object(resource=resource)
    sampled = device.create_texture_object(resource=resource)

    image = np.random.default_rng(0).random((HEIGHT, WIDTH), dtype=np.float32)
    d_image, d_found = (device.allocate(image.nbytes, stream=stream) for _ in range(2))
    d_image.copy_from(image, stream=stream)
    config = LaunchConfig(grid=((WIDTH + 15) // 16, (HEIGHT + 15) // 16), block=(16, 16))
    launch(stream, config, code.get_kernel("write"), d_image, surface, WIDTH, HEIGHT)
    launch(stream, config, code.get_kernel("read"), sampled, d_found, WIDTH, HEIGHT)
    found = np.empty_like(image)
    d_found.copy_to(found, stream=stream)
    stream.sync()

    right = np.array_equal(found, image[::-1])
    print(f"{WIDTH} x {HEIGHT} pixels through a surface and a texture")
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
