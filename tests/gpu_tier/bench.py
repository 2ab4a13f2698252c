"""What the tests work on: a device, a stream, kernels."""

from __future__ import annotations

import functools

import numpy as np

from cudapy.core import Buffer, Device, Kernel, ObjectCode, Program, Stream

SOURCE = """
extern "C" __global__ void nothing() { }
extern "C" __global__ void add(int *x, int value) { x[blockIdx.x * blockDim.x + threadIdx.x] += value; }
extern "C" __global__ void count(int *own, int *shared) { own[0] += 1; atomicAdd(shared, 1); }
extern "C" __global__ void nap(int times) { for (int i = 0; i < times; i++) __nanosleep(1000000); }
"""
"""nap: a kernel of `times` milliseconds at least."""


class Bench:
    """Device 0, current, with a stream; and the kernels of SOURCE."""

    def __init__(self) -> None:
        self.device = Device(0)
        self.device.set_current()
        self.stream = self.device.create_stream()

    @functools.cached_property
    def code(self) -> ObjectCode:
        """SOURCE, compiled."""
        return Program(SOURCE, "c++").compile("cubin")

    def kernel(self, name: str) -> Kernel:
        """One of SOURCE."""
        return self.code.get_kernel(name)

    def words(self, count: int, stream: Stream | None = None) -> Buffer:
        """Device memory of `count` 32-bit words, all 0."""
        buffer = self.device.allocate(4 * count, stream or self.stream)
        buffer.fill(0, stream=stream or self.stream)
        return buffer


def content(buffer: Buffer, stream: Stream) -> np.ndarray:
    """The 32-bit words in a buffer."""
    found = np.empty(buffer.size // 4, np.int32)
    buffer.copy_to(found, stream=stream)
    stream.sync()
    return found
