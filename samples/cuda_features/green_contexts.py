"""Green contexts: work that must be quick has multiprocessors that long work cannot take.

    python samples/cuda_features/green_contexts.py

A long kernel keeps every multiprocessor busy that it may use. A short one that comes later waits for a place,
whatever its priority, as blocks that run are not stopped. With a green context for each, they have different
multiprocessors: the short one runs at once. Each block notes which multiprocessor it ran on.
"""

from __future__ import annotations

import sys

import numpy as np

from cudapy import simulator
from cudapy.core import (
    ContextOptions,
    CUDAError,
    Device,
    EventOptions,
    Kernel,
    LaunchConfig,
    Program,
    SMResourceOptions,
    Stream,
    launch,
)

KERNEL = """
extern "C" __global__ void work(unsigned *numbers, unsigned *where, int rounds)
{
    size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    unsigned x = i, multiprocessor;
    for (int round = 0; round < rounds; ++round)
        x = x * 1664525 + 1013904223;
    numbers[i] = x;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
    if (threadIdx.x == 0)
        where[blockIdx.x] = multiprocessor;
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


class Task:
    """A kernel of so many blocks, each of so many rounds, in a stream."""

    def __init__(self, kernel: Kernel, stream: Stream, blocks: int, rounds: int) -> None:
        self.kernel, self.stream, self.blocks, self.rounds = kernel, stream, blocks, rounds
        self.numbers = stream.device.allocate(4 * blocks * THREADS, stream)
        self.where = stream.device.allocate(4 * blocks, stream)
        self.run(0)  # the first launch loads the code
        stream.sync()

    def run(self, rounds: int) -> None:
        config = LaunchConfig(grid=self.blocks, block=THREADS)
        launch(self.stream, config, self.kernel, self.numbers, self.where, rounds)

    def is_right(self) -> bool:
        found = np.empty(self.blocks * THREADS, np.uint32)
        self.numbers.copy_to(found, stream=self.stream)
        self.stream.sync()
        return np.array_equal(found, expected(found.size, self.rounds))

    def multiprocessors(self) -> int:
        """How many it ran on."""
        found = np.empty(self.blocks, np.uint32)
        self.where.copy_to(found, stream=self.stream)
        self.stream.sync()
        return len(set(found))


def latency(urgent: Task, long: Task) -> float:
    """Milliseconds from the launch of the urgent task, behind the long one, to its end."""
    timed = EventOptions(timing_enabled=True)
    long.run(long.rounds)
    start = urgent.stream.record(options=timed)
    urgent.run(urgent.rounds)
    end = urgent.stream.record(options=timed)
    end.sync()
    long.stream.sync()
    return end - start


def main() -> int:
    is_simulated = simulator.stand_in()
    device = Device()
    device.set_current()
    try:
        everything = device.resources.sm
        few = 2 if is_simulated else 16
        (some,), rest = everything.split(SMResourceOptions(count=few))
        contexts = [device.create_context(ContextOptions([part])) for part in (some, rest)]
    except (RuntimeError, CUDAError) as error:
        print(f"WAIVED: no green contexts here: {str(error).splitlines()[0]}")
        return 77
    print(f"multiprocessors: {some.sm_count} for urgent work, {rest.sm_count} for long work")

    kernel = Program(KERNEL, "c++").compile("cubin").get_kernel("work")
    blocks, rounds = (32, 20) if is_simulated else (everything.sm_count * 64, 200_000)
    right = True
    for name, (quick, slow) in {
        "one context": (device.create_stream(), device.create_stream()),
        "green contexts": (contexts[0].create_stream(), contexts[1].create_stream()),
    }.items():
        urgent = Task(kernel, quick, some.sm_count, 10)
        long = Task(kernel, slow, blocks, rounds)
        took = latency(urgent, long)
        used = urgent.multiprocessors(), long.multiprocessors()
        print(
            f"{name}: urgent work on {used[0]} multiprocessors, long work on {used[1]}"
            + ("" if is_simulated else f"; urgent work is done after {took:.3f} ms")
        )
        right = right and urgent.is_right() and long.is_right()
        right = right and used[0] <= quick.resources.sm.sm_count and used[1] <= slow.resources.sm.sm_count
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
