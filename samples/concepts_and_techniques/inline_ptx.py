"""inlinePTX: an instruction that C++ has no word for.

    python samples/concepts_and_techniques/inline_ptx.py

asm() puts PTX among the C++. Here it reads %laneid, the number of a thread within its warp, and finds with
lop3, in one instruction, the bits that at least two of three inputs have.
"""

from __future__ import annotations

import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Device, LaunchConfig, Program, launch

KERNEL = """
extern "C" __global__ void lanes(unsigned *lane, unsigned *majority, const unsigned *a, const unsigned *b,
                                 const unsigned *c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned number, most;
    asm("mov.u32 %0, %%laneid;" : "=r"(number));
    // Any function of three bits is one instruction: 0xE8 is the truth table of the majority.
    asm("lop3.b32 %0, %1, %2, %3, 0xE8;" : "=r"(most) : "r"(a[i]), "r"(b[i]), "r"(c[i]));
    lane[i] = number;
    majority[i] = most;
}
"""
BLOCKS, THREADS = 4, 96
N = BLOCKS * THREADS


def main() -> int:
    simulator.stand_in()
    device = Device()
    device.set_current()
    stream = device.create_stream()
    kernel = Program(KERNEL, "c++").compile("cubin").get_kernel("lanes")

    generator = np.random.default_rng(0)
    inputs = [generator.integers(0, 1 << 32, N, dtype=np.uint32) for _ in range(3)]
    buffers = [device.allocate(4 * N, stream=stream) for _ in range(5)]
    for buffer, array in zip(buffers[2:], inputs, strict=True):
        buffer.copy_from(array, stream=stream)
    launch(stream, LaunchConfig(grid=BLOCKS, block=THREADS), kernel, *buffers)
    lane, majority = np.empty(N, np.uint32), np.empty(N, np.uint32)
    buffers[0].copy_to(lane, stream=stream)
    buffers[1].copy_to(majority, stream=stream)
    stream.sync()

    a, b, c = inputs
    right = np.array_equal(lane, np.arange(N) % THREADS % 32) and np.array_equal(
        majority, a & b | a & c | b & c
    )
    print(f"{N} threads asked for their lanes and a majority")
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
