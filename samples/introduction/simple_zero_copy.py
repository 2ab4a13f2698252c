"""simpleZeroCopy: a kernel that works on the host's own memory.

    python samples/introduction/simple_zero_copy.py

Page-locked memory has one address for host and device. The kernel reads and writes it over the bus, nothing
is copied before or after: right for data that is used once, wrong for data that is used often.
"""

from __future__ import annotations

import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch

KERNEL = """
extern "C" __global__ void vector_add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}
"""
N = 1 << 20
THREADS = 256


def main() -> int:
    simulator.stand_in()
    device = Device()
    device.set_current()
    if not device.properties.can_map_host_memory:
        print("WAIVED: this device cannot use host memory")
        return 77
    stream = device.create_stream()
    kernel = Program(KERNEL, "c++").compile("cubin").get_kernel("vector_add")

    pinned = LegacyPinnedMemoryResource()
    buffers = [pinned.allocate(4 * N) for _ in range(3)]
    a, b, c = (np.from_dlpack(buffer).view(np.float32) for buffer in buffers)  # the same bytes, as arrays
    generator = np.random.default_rng(0)
    a[:] = generator.random(N, dtype=np.float32)
    b[:] = generator.random(N, dtype=np.float32)

    launch(stream, LaunchConfig(grid=(N + THREADS - 1) // THREADS, block=THREADS), kernel, *buffers, N)
    stream.sync()  # before this the host must not look

    right = np.array_equal(c, a + b)
    print(f"{N} sums in the host's memory, nothing copied: {'PASS' if right else 'FAIL'}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
