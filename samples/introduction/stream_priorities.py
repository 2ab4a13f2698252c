"""StreamPriorities: work that may overtake other work.

    python samples/introduction/stream_priorities.py

Where blocks of several kernels wait for a multiprocessor, those of the stream with the highest priority come
first; blocks that run already are not stopped. A lower number is a higher priority. Events say what each
stream took, from a start that both waited for.
"""

from __future__ import annotations

import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Device, EventOptions, LaunchConfig, Program, StreamOptions, launch
from cudapy.driver import checked as cu

KERNEL = """
extern "C" __global__ void work(unsigned *numbers, int rounds)
{
    size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    unsigned x = i;
    for (int round = 0; round < rounds; ++round)
        x = x * 1664525 + 1013904223;
    numbers[i] = x;
}
"""
THREADS = 256


def expected(count: int, rounds: int) -> np.ndarray:
    """`rounds` steps at once: they are one multiplication and one addition as well."""
    factor, summand = 1, 0
    for _ in range(rounds):
        factor, summand = factor * 1664525 % 2**32, (summand * 1664525 + 1013904223) % 2**32
    numbers: np.ndarray = np.arange(count, dtype=np.uint32) * np.uint32(factor) + np.uint32(summand)
    return numbers


def main() -> int:
    blocks, rounds = (64, 20) if simulator.stand_in() else (1 << 14, 2000)
    device = Device()
    device.set_current()
    low, high = cu.cuCtxGetStreamPriorityRange()
    if low == high:
        print("WAIVED: this device knows no priorities")
        return 77
    kernel = Program(KERNEL, "c++").compile("cubin").get_kernel("work")
    streams = {
        name: device.create_stream(StreamOptions(priority=p)) for name, p in (("low", low), ("high", high))
    }
    right = [stream.priority for stream in streams.values()] == [low, high]

    count = blocks * THREADS
    timed = EventOptions(timing_enabled=True)
    buffers = {name: device.allocate(4 * count, stream=stream) for name, stream in streams.items()}
    config = LaunchConfig(grid=blocks, block=THREADS)
    for name, stream in streams.items():  # the first launches load the code
        launch(stream, config, kernel, buffers[name], 1)
    device.sync()

    start = streams["low"].record(options=timed)
    streams["high"].wait(start)
    ends = {}
    for name, stream in streams.items():  # the low one has the device first
        for _ in range(4):
            launch(stream, config, kernel, buffers[name], rounds)
        ends[name] = stream.record(options=timed)
    device.sync()

    print(f"priorities of streams are {low}, the lowest, to {high}")
    for name, end in ends.items():
        print(f"{name:5} priority: done after {end - start:.3f} ms")
    for name, stream in streams.items():
        found = np.empty(count, np.uint32)
        buffers[name].copy_to(found, stream=stream)
        stream.sync()
        right = right and np.array_equal(found, expected(count, rounds))
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
