"""simpleAtomicIntrinsics: the atomic functions, one after the other.

    python samples/introduction/simple_atomic_intrinsics.py

All threads work on the same few numbers. An atomic operation reads, computes and writes as one step:
nothing is lost, whatever the order.
"""

from __future__ import annotations

import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Device, LaunchConfig, Program, launch

KERNEL = """
extern "C" __global__ void atomics(int *numbers)
{
    unsigned thread = blockDim.x * blockIdx.x + threadIdx.x;
    atomicAdd(&numbers[0], 10);
    atomicSub(&numbers[1], 10);
    atomicExch(&numbers[2], thread);
    atomicMax(&numbers[3], thread);
    atomicMin(&numbers[4], thread);
    atomicInc((unsigned *)&numbers[5], 17);
    atomicDec((unsigned *)&numbers[6], 137);
    atomicCAS(&numbers[7], thread - 1, thread);
    atomicAnd(&numbers[8], 2 * thread + 7);
    atomicOr(&numbers[9], 1 << (thread % 31));
    atomicXor(&numbers[10], thread);
}
"""
BLOCKS, THREADS = 64, 256
TOTAL = BLOCKS * THREADS


def expected(start: np.ndarray) -> list[range | int]:
    """What each number must be; a range where it depends on who came last."""
    threads = np.arange(TOTAL, dtype=np.int64)
    return [
        int(start[0]) + 10 * TOTAL,
        int(start[1]) - 10 * TOTAL,
        range(TOTAL),
        TOTAL - 1,
        0,
        TOTAL % 18,  # counts 0 .. 17, and again
        (-TOTAL) % 138,  # counts 137 .. 0, and again
        range(TOTAL),
        int(start[8] & np.bitwise_and.reduce(2 * threads + 7)),
        int(start[9] | np.bitwise_or.reduce(1 << threads % 31)),
        int(start[10] ^ np.bitwise_xor.reduce(threads)),
    ]


def main() -> int:
    simulator.stand_in()
    device = Device()
    device.set_current()
    stream = device.create_stream()
    kernel = Program(KERNEL, "c++").compile("cubin").get_kernel("atomics")

    start = np.zeros(11, np.int32)
    start[8] = start[10] = 0xFF
    numbers = device.allocate(start.nbytes, stream=stream)
    numbers.copy_from(start, stream=stream)
    launch(stream, LaunchConfig(grid=BLOCKS, block=THREADS), kernel, numbers)
    found = np.empty_like(start)
    numbers.copy_to(found, stream=stream)
    stream.sync()

    right = True
    for i, (value, want) in enumerate(zip(found.tolist(), expected(start), strict=True)):
        if value != want and not (isinstance(want, range) and value in want):
            print(f"number {i} is {value}, expected {want}")
            right = False
    print(f"11 atomic functions, {TOTAL} threads: {'PASS' if right else 'FAIL'}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
