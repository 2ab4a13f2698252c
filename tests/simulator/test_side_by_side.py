"""Kernels and threads side by side on the simulator: none starves, and what is there once is made once."""

from __future__ import annotations

import pytest

from .test_device import PREPARE, output

pytestmark = pytest.mark.usefixtures("nvrtc")

KERNELS = '''
import sys
import numpy as np
from cudapy.core import Device, LaunchConfig, Program, launch
device = Device(); device.set_current()
SOURCE = """
extern "C" __global__ void ping(volatile int *turn, int rounds, int me)
{
    for (int i = 0; i < rounds; i++) {
        while (turn[0] != 2 * i + me) { }
        turn[0] = 2 * i + me + 1;
    }
}
extern "C" __global__ void count(int *n, int rounds) { for (int i = 0; i < rounds; i++) atomicAdd(n, 1); }
"""
code = Program(SOURCE, "c++").compile("cubin")
streams = [device.create_stream() for _ in range(3)]
memory = device.allocate(64, streams[0])
memory.fill(0, stream=streams[0]); streams[0].sync()
found = np.zeros(16, np.int32)
'''


def test_kernels_wait_for_each_other() -> None:
    code = (
        KERNELS
        + """
interval = sys.getswitchinterval()
for me in (1, 0):  # the first one waits for the second
    launch(streams[me], LaunchConfig(grid=1, block=1), code.get_kernel("ping"), memory, 5, me)
for stream in streams: stream.sync()
memory.copy_to(found, stream=streams[0]); streams[0].sync()
print(found[0], sys.getswitchinterval() == interval)
"""
    )
    assert output(code) == "10 True\n"


def test_atomics_of_kernels_side_by_side_are_all_counted() -> None:
    code = (
        KERNELS
        + """
for stream in streams * 2:
    launch(stream, LaunchConfig(grid=40, block=1000), code.get_kernel("count"), memory, 30)
for stream in streams: stream.sync()
memory.copy_to(found, stream=streams[0]); streams[0].sync()
print(found[0])
"""
    )
    assert output(code) == f"{6 * 40 * 1000 * 30}\n"


def test_threads_get_the_same_things_and_leave_nothing() -> None:
    code = (
        PREPARE.replace("context = driver.checked.cuCtxCreate(0, 0)", "")
        + """
import sys, threading
cu = driver.checked
PTX = b".version 8.0\\n.target sm_80\\n.address_size 64\\n.visible .entry k() { ret; }"
together = threading.Barrier(8)
sys.setswitchinterval(1e-6)
context = cu.cuDevicePrimaryCtxRetain(0)
cu.cuCtxPushCurrent(context)
library = cu.cuLibraryLoadData(PTX, [], [], 0, [], [], 0)
seen, failures = [], []

def work():
    try:
        together.wait(60)
        mine = cu.cuDevicePrimaryCtxRetain(1)
        cu.cuCtxPushCurrent(mine)
        kernel = cu.cuLibraryGetKernel(library, b"k")
        things = [mine, kernel, cu.cuKernelGetFunction(kernel), cu.cuDeviceGetDefaultMemPool(1)]
        seen.append(tuple(map(int, things)))
        stream = cu.cuStreamCreate(1)
        for i in range(60):
            plain, pooled = cu.cuMemAlloc(1000), cu.cuMemAllocAsync(1000, stream)
            cu.cuMemsetD8Async(pooled, i, 1000, stream)
            cu.cuMemFreeAsync(pooled, stream)
            cu.cuMemFree(plain)
        cu.cuStreamSynchronize(stream)
        cu.cuStreamDestroy(stream)
    except BaseException as error:
        failures.append(error)

threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(len(set(seen)), len(seen), failures)
cu.cuCtxPushCurrent(seen[0][0])
cu.cuMemPoolTrimTo(seen[0][3], 0)
free, total = cu.cuMemGetInfo()
print(total - free)
"""
    )
    assert output(code, CUDAPY_SIMULATOR_DEVICES="2") == "1 8 []\n0\n"
