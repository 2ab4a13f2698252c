"""What the GPU tests of core share: kernels, work that takes time, processes of their own."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from cudapy import driver
from cudapy.core import (
    Device,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    launch,
)

ROOT = Path(__file__).parents[2]

KERNELS = """
extern "C" __global__ void axpy(float a, const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}
extern "C" __global__ void spin(long long cycles) {
    long long start = clock64();
    while (clock64() - start < cycles) { }
}
extern "C" __global__ void wait_for(const volatile int *flag) {
    while (!*flag) { }
}
extern "C" __global__ void shared(int *out) {
    extern __shared__ int room[];
    room[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = room[blockDim.x - 1 - threadIdx.x];
}
template <typename T> __global__ void add_one(T *x) { x[threadIdx.x] += 1; }
"""


def spin(code, stream, milliseconds):
    """Keep `stream` busy."""
    cycles = int(milliseconds * Device().properties.clock_rate)
    launch(stream, LaunchConfig(grid=1, block=1), code.get_kernel("spin"), cycles)


@contextmanager
def busy(code, stream):
    """`stream` has work that is not done before the end of the block, however long that takes."""
    flag = LegacyPinnedMemoryResource().allocate(4)
    word = ctypes.c_int.from_address(int(flag.handle))
    word.value = 0
    launch(stream, LaunchConfig(grid=1, block=1), code.get_kernel("wait_for"), flag)
    try:
        yield
    finally:
        word.value = 1
        stream.sync()
        flag.close()


def content(buffer, dtype, stream):
    found = np.empty(buffer.size // np.dtype(dtype).itemsize, dtype)
    buffer.copy_to(found, stream=stream)
    stream.sync()
    return found


def current():
    return int(driver.checked.cuCtxGetCurrent())


def run(source, **environment):
    """Run Python code in a process of its own."""
    prelude = (
        "from cudapy.core import *\n"
        "dev = Device(0); dev.set_current(); s = dev.create_stream()\n"
        "def start(body, *args):\n"
        "    code = 'extern \"C\" __global__ void k(int *p) {' + body + '}'\n"
        "    kernel = Program(code, 'c++').compile('cubin').get_kernel('k')\n"
        "    launch(s, LaunchConfig(grid=1, block=1), kernel, *args)\n"
        "    return kernel\n"
    )
    return subprocess.Popen(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", prelude + source],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
