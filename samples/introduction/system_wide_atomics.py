"""systemWideAtomics: atomic operations that host and devices see alike.

    python samples/introduction/system_wide_atomics.py

The functions that end in _system are atomic for all of the machine, those without for one device. Here all
threads of a grid work on ten numbers in managed memory, which the host reads back without a copy. Each
result is known beforehand, whatever the order of the threads was.
"""

from __future__ import annotations

import ctypes
import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Device, LaunchConfig, Program, launch
from cudapy.driver import CUmemAttach_flags
from cudapy.driver import checked as cu

KERNEL = """
extern "C" __global__ void atomics(int *numbers)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd_system(&numbers[0], 10);
    atomicExch_system(&numbers[1], thread);
    atomicMax_system(&numbers[2], thread);
    atomicMin_system(&numbers[3], thread);
    atomicInc_system((unsigned *)&numbers[4], 17);
    atomicDec_system((unsigned *)&numbers[5], 137);
    atomicCAS_system(&numbers[6], thread - 1, thread);
    atomicAnd_system(&numbers[7], 2 * thread + 7);
    atomicOr_system(&numbers[8], 1 << (thread % 31));
    atomicXor_system(&numbers[9], thread);
}
"""
BLOCKS, THREADS = 64, 256
TOTAL = BLOCKS * THREADS


def expected(before: np.ndarray) -> dict[int, int]:
    """What must have come out where only one value is possible."""
    threads = np.arange(TOTAL, dtype=np.int32)
    increments, down = 0, 0
    for _ in range(TOTAL):
        increments = 0 if increments >= 17 else increments + 1
        down = 137 if down == 0 or down > 137 else down - 1
    return {
        0: int(before[0]) + 10 * TOTAL,
        2: TOTAL - 1,
        3: 0,
        4: increments,
        5: down,
        7: int(np.bitwise_and.reduce(2 * threads + 7) & before[7]),
        8: int(np.bitwise_or.reduce(1 << (threads % 31))),
        9: int(np.bitwise_xor.reduce(threads)),
    }


def main() -> int:
    simulator.stand_in()
    device = Device()
    device.set_current()
    if not device.properties.managed_memory:
        print("WAIVED: this device has no managed memory")
        return 77
    stream = device.create_stream()
    kernel = Program(KERNEL, "c++").compile("cubin").get_kernel("atomics")

    address = int(cu.cuMemAllocManaged(40, CUmemAttach_flags.CU_MEM_ATTACH_GLOBAL.value))
    numbers = np.ctypeslib.as_array((ctypes.c_int * 10).from_address(address))  # no copy
    numbers[:] = 0
    numbers[7] = 0xFF
    before = numbers.copy()
    launch(stream, LaunchConfig(grid=BLOCKS, block=THREADS), kernel, address)
    stream.sync()
    after = numbers.copy()
    cu.cuMemFree(address)

    wrong = {i: (int(after[i]), value) for i, value in expected(before).items() if after[i] != value}
    if not 0 <= after[1] < TOTAL:
        wrong[1] = (int(after[1]), TOTAL - 1)  # any thread may have been the last to exchange
    if not 0 <= after[6] < TOTAL:
        wrong[6] = (int(after[6]), TOTAL - 1)  # as far as consecutive threads came one after the other
    for i, (found, value) in wrong.items():
        print(f"number {i} is {found}, expected {value}")
    print(f"10 atomic operations by {TOTAL} threads: {'FAIL' if wrong else 'PASS'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
