"""simpleCubemapTexture: six faces, looked up by direction.

    python samples/introduction/simple_cubemap_texture.py

A cubemap is six square images on the faces of a cube. A fetch names a direction (x, y, z) from the centre,
and the texture unit finds the face and the place on it. The kernel asks for the middle of every texel and
writes its value times -1 plus the number of the face.
"""

from __future__ import annotations

import ctypes
import sys

import numpy as np

from cudapy import runtime, simulator
from cudapy.core import Device, LaunchConfig, Program, launch
from cudapy.runtime import checked as cuda

KERNEL = """
extern "C" __global__ void transform(float *output, int width, cudaTextureObject_t texture)
{
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= width)
        return;
    float u = (x + 0.5f) / width * 2 - 1, v = (y + 0.5f) / width * 2 - 1;  // -1 .. 1 on each face
    for (unsigned face = 0; face < 6; ++face) {
        float3 to;
        switch (face) {
            case 0: to = make_float3(1, -v, -u); break;
            case 1: to = make_float3(-1, -v, u); break;
            case 2: to = make_float3(u, 1, v); break;
            case 3: to = make_float3(u, -1, -v); break;
            case 4: to = make_float3(u, -v, 1); break;
            default: to = make_float3(-u, -v, -1);
        }
        output[(face * width + y) * width + x] = -texCubemap<float>(texture, to.x, to.y, to.z) + face;
    }
}
"""
WIDTH = 64
BLOCK = 16


def main() -> int:
    simulator.stand_in()
    device = Device()
    device.set_current()
    stream = device.create_stream()
    kernel = Program(KERNEL, "c++").compile("cubin").get_kernel("transform")

    # An array has the layout that the texture unit likes best; what it is nobody but CUDA knows.
    channel = cuda.cudaCreateChannelDesc(
        32, 0, 0, 0, runtime.cudaChannelFormatKind.cudaChannelFormatKindFloat
    )
    extent = runtime.make_cudaExtent(WIDTH, WIDTH, 6)
    array = cuda.cudaMalloc3DArray(channel, extent, runtime.cudaArrayCubemap)
    faces = np.random.default_rng(0).random((6, WIDTH, WIDTH), dtype=np.float32)
    copy = runtime.cudaMemcpy3DParms()
    copy.srcPtr = runtime.make_cudaPitchedPtr(faces.ctypes.data, WIDTH * 4, WIDTH, WIDTH)
    copy.dstArray = array
    copy.extent = extent
    copy.kind = runtime.cudaMemcpyKind.cudaMemcpyHostToDevice
    cuda.cudaMemcpy3D(copy)

    resource = runtime.cudaResourceDesc()
    resource.resType = runtime.cudaResourceType.cudaResourceTypeArray
    resource.res.array.array = array
    how = runtime.cudaTextureDesc()
    how.normalizedCoords = 1
    how.filterMode = runtime.cudaTextureFilterMode.cudaFilterModePoint
    how.addressMode = [runtime.cudaTextureAddressMode.cudaAddressModeClamp] * 3
    how.readMode = runtime.cudaTextureReadMode.cudaReadModeElementType
    texture = cuda.cudaCreateTextureObject(resource, how, None)

    output = device.allocate(faces.nbytes, stream=stream)
    blocks = WIDTH // BLOCK
    config = LaunchConfig(grid=(blocks, blocks), block=(BLOCK, BLOCK))
    launch(stream, config, kernel, output, WIDTH, ctypes.c_ulonglong(int(texture)))
    found = np.empty_like(faces)
    output.copy_to(found, stream=stream)
    stream.sync()
    cuda.cudaDestroyTextureObject(texture)
    cuda.cudaFreeArray(array)

    expected = -faces + np.arange(6, dtype=np.float32)[:, None, None]
    right = np.array_equal(found, expected)
    print(f"six faces of {WIDTH} x {WIDTH} texels: {'PASS' if right else 'FAIL'}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
