"""Kernels and threads side by side on the simulator: none starves, and what is there once is made once."""

from __future__ import annotations

import threading
import time
from importlib import import_module
from itertools import pairwise

import pytest

from .test_device import output

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


def test_one_kernel_at_a_time_and_all_in_turn() -> None:
    time_slices = import_module("cudapy.simulator.streams.kernel_time_slices").KernelTimeSlices()
    pause = time_slices.pause_of(import_module("cudapy.simulator.streams.faults").Faults())
    inside, most, rounds = [], [], []
    together = threading.Barrier(4)

    def kernel(name: int) -> None:
        together.wait(60)
        with time_slices:
            inside.append(name)
            for number in range(5):
                until = time.perf_counter() + 0.003  # longer than a slice
                while time.perf_counter() < until:
                    most.append(len(inside))
                rounds.append((number, name))
                inside.remove(name)
                pause()
                inside.append(name)
            inside.remove(name)

    threads = [threading.Thread(target=kernel, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(rounds) == 20 and max(most) == 1
    changes = sum(one[1] != following[1] for one, following in pairwise(rounds))
    assert changes > 5  # without turns it would be three


SLOW = """
import threading, time
from cudapy import simulator
simulator.enable(devices=2)
from cudapy import driver
from cudapy.simulator import handles
from cudapy.simulator.devices import device
cu = driver.checked
made = handles.Object.__init__

def slowly(self):
    time.sleep(0.01)  # whoever looks now finds nothing yet
    made(self)

class Slow(device.Device):
    used = 0

    @property
    def used_memory(self):
        value = self.used
        time.sleep(0.0001)
        return value

    @used_memory.setter
    def used_memory(self, value):
        self.used = value

def together(work):
    gate, failures = threading.Barrier(6), []
    def run():
        try:
            gate.wait(60)
            work()
        except BaseException as error:
            failures.append(error)
    threads = [threading.Thread(target=run) for _ in range(6)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    return failures
"""


def test_what_is_there_once_is_made_once() -> None:
    code = (
        SLOW
        + """
PTX = b".version 8.0\\n.target sm_80\\n.address_size 64\\n.visible .entry k() { ret; }"
handles.Object.__init__ = slowly
counts, seen = set(), set()

def start():
    cu.cuInit(0)
    counts.add(cu.cuDeviceGetCount())

failures = together(start)
cu.cuCtxPushCurrent(cu.cuDevicePrimaryCtxRetain(0))
library = cu.cuLibraryLoadData(PTX, [], [], 0, [], [], 0)

def look():
    context = cu.cuDevicePrimaryCtxRetain(1)
    cu.cuCtxPushCurrent(context)
    kernel = cu.cuLibraryGetKernel(library, b"k")
    things = context, kernel, cu.cuKernelGetFunction(kernel), cu.cuDeviceGetDefaultMemPool(1)
    seen.add(tuple(map(int, things)))

failures += together(look)
print(counts, len(seen), failures)
"""
    )
    assert output(code) == "{2} 1 []\n"


def test_memory_is_counted_by_all_threads() -> None:
    code = (
        SLOW
        + """
device.Device = Slow
cu.cuInit(0)
context = cu.cuDevicePrimaryCtxRetain(0)
cu.cuCtxPushCurrent(context)

def work():
    cu.cuCtxPushCurrent(context)
    stream = cu.cuStreamCreate(1)
    for _ in range(20):
        plain, pooled = cu.cuMemAlloc(1000), cu.cuMemAllocAsync(1000, stream)
        cu.cuMemFreeAsync(pooled, stream)
        cu.cuMemFree(plain)
    cu.cuStreamSynchronize(stream)

failures = together(work)
cu.cuMemPoolTrimTo(cu.cuDeviceGetDefaultMemPool(0), 0)
free, total = cu.cuMemGetInfo()
print(total - free, failures)
"""
    )
    assert output(code) == "0 []\n"
