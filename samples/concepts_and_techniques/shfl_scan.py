"""shfl_scan: running sums within warps, by shuffles.

    python samples/concepts_and_techniques/shfl_scan.py

__shfl_up_sync gives each thread of a warp the value of the one `offset` below it. Five steps scan 32
numbers without shared memory; the sums of the warps are scanned the same way by the first warp of the
block. Here each row of an image becomes the running sum of its bytes, half of an integral image.
"""

from __future__ import annotations

import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Device, LaunchConfig, Program, launch

KERNEL = """
__device__ int warp_scan(int value)
{
    for (int offset = 1; offset < 32; offset *= 2) {
        int left = __shfl_up_sync(~0u, value, offset);
        if (threadIdx.x % 32 >= offset)
            value += left;
    }
    return value;
}

// One row a block, one pixel a thread.
extern "C" __global__ void scan_rows(const unsigned char *image, int *sums)
{
    __shared__ int warp_sums[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x, warp = threadIdx.x / 32;
    int value = warp_scan(image[i]);
    if (threadIdx.x % 32 == 31)
        warp_sums[warp] = value;
    __syncthreads();
    if (warp == 0)
        warp_sums[threadIdx.x] = warp_scan(threadIdx.x < blockDim.x / 32 ? warp_sums[threadIdx.x] : 0);
    __syncthreads();
    sums[i] = value + (warp > 0 ? warp_sums[warp - 1] : 0);
}
"""
WIDTH, HEIGHT = 960, 270  # a multiple of 32, at most 1024


def main() -> int:
    simulator.stand_in()
    device = Device()
    device.set_current()
    stream = device.create_stream()
    kernel = Program(KERNEL, "c++").compile("cubin").get_kernel("scan_rows")

    image = np.random.default_rng(0).integers(0, 256, (HEIGHT, WIDTH), dtype=np.uint8)
    d_image = device.allocate(image.nbytes, stream=stream)
    d_sums = device.allocate(4 * image.size, stream=stream)
    d_image.copy_from(image, stream=stream)
    launch(stream, LaunchConfig(grid=HEIGHT, block=WIDTH), kernel, d_image, d_sums)
    sums = np.empty(image.shape, np.int32)
    d_sums.copy_to(sums, stream=stream)
    stream.sync()

    right = np.array_equal(sums, np.cumsum(image, axis=1, dtype=np.int32))
    print(f"the running sums of {HEIGHT} rows of {WIDTH} pixels")
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
