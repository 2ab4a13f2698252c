"""vectorAdd: c = a + b, the smallest whole CUDA program.

    python samples/introduction/vector_add.py

Compile, copy to the device, launch, copy back, compare: every other sample is this one with something
changed.
"""

from __future__ import annotations

import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Device, LaunchConfig, Program, launch

KERNEL = """
extern "C" __global__ void vector_add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}
"""
N = 50_000
THREADS = 256


def main() -> int:
    simulator.stand_in()
    device = Device()
    device.set_current()
    stream = device.create_stream()
    kernel = Program(KERNEL, "c++").compile("cubin").get_kernel("vector_add")

    generator = np.random.default_rng(0)
    a = generator.random(N, dtype=np.float32)
    b = generator.random(N, dtype=np.float32)
    c = np.empty_like(a)

    d_a, d_b, d_c = (device.allocate(a.nbytes, stream=stream) for _ in range(3))
    d_a.copy_from(a, stream=stream)
    d_b.copy_from(b, stream=stream)
    blocks = (N + THREADS - 1) // THREADS  # the last block has threads to spare: hence `if (i < n)`
    launch(stream, LaunchConfig(grid=blocks, block=THREADS), kernel, d_a, d_b, d_c, N)
    d_c.copy_to(c, stream=stream)
    stream.sync()  # all of the above was only queued; now it is done

    right = np.array_equal(c, a + b)
    print(f"{device.name}: {N} sums in {blocks} blocks of {THREADS} threads: {'PASS' if right else 'FAIL'}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
