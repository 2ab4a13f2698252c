"""What the tests of graphs share."""

from __future__ import annotations

import gc
import time

import numpy as np
import pytest
from cudapy.core.graph import Graph, GraphBuilder, GraphDefinition

from cudapy._core.ownership import user_objects
from cudapy.core import Device, LaunchConfig, Program

from .core_kernels import content as content

SOURCE = r"""
#if __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1203
extern "C" __device__ __cudart_builtin__ void CUDARTAPI cudaGraphSetConditional(
    cudaGraphConditionalHandle handle, unsigned int value);
extern "C" __global__ void decide(cudaGraphConditionalHandle handle, unsigned int value)
{
    cudaGraphSetConditional(handle, value);
}
extern "C" __global__ void count_down(cudaGraphConditionalHandle handle, int *left)
{
    cudaGraphSetConditional(handle, --*left > 0);
}
#endif
extern "C" __global__ void add(int *x, int value) { x[blockIdx.x * blockDim.x + threadIdx.x] += value; }
extern "C" __global__ void times(int *x, int value) { x[blockIdx.x * blockDim.x + threadIdx.x] *= value; }
extern "C" __global__ void nothing() { }
extern "C" __global__ void meet(int *arrived, int *out)  // every block waits for all others
{
    atomicAdd(arrived, 1);
    while (atomicAdd(arrived, 0) < (int)gridDim.x);
    out[blockIdx.x] = 1;
}
extern "C" __global__ void cluster_size(unsigned *out)
{
    unsigned size;
    asm volatile("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(size));
    out[blockIdx.x] = size;
}
"""
ONE = LaunchConfig(grid=1, block=32)


@pytest.fixture(scope="module", autouse=True)
def nothing_is_left():
    """After all tests of a file no graph holds anything, but those that are values of fixtures, with the two
    children that such a graph has at most.
    """
    yield
    device = Device(0)
    device.set_current()
    for _ in range(200):
        gc.collect()
        device.sync()
        # By type: objects of other libraries may mind to be asked for their class.
        alive = sum(type(thing) in (GraphDefinition, Graph, GraphBuilder) for thing in gc.get_objects())
        if len(user_objects._objects) <= 3 * alive:
            return
        time.sleep(0.01)
    raise AssertionError(
        f"{len(user_objects._objects)} graphs hold {list(user_objects._objects.values())[:20]}, {alive} live"
    )


@pytest.fixture(scope="session")
def kernels():
    Device(0).set_current()
    return Program(SOURCE, "c++").compile("cubin")


@pytest.fixture
def add(kernels):
    return kernels.get_kernel("add")


@pytest.fixture
def times(kernels):
    return kernels.get_kernel("times")


def zeros(device, stream, count):
    """`count` words of device memory, all 0."""
    buffer = device.allocate(4 * count, stream)
    buffer.fill(0, stream=stream)
    stream.sync()
    return buffer


def words(buffer, stream):
    """The different words in a buffer."""
    return sorted(set(content(buffer, np.int32, stream).tolist()))


def wait_for(condition) -> bool:
    """Whether it comes true, with no more calls of CUDA's than it makes."""
    for _ in range(2000):
        if condition():
            return True
        time.sleep(0.005)
    return False
