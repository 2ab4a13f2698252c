"""simpleStreams: copies and kernels that overlap.

    python samples/introduction/simple_streams.py

What is queued in one stream runs in order; streams among themselves do not wait. Here an array goes through
a kernel and back to the host, once whole in one stream, once in pieces, each in a stream of its own: while
one piece is copied, the next is computed. Only page-locked host memory is copied while the host goes on.
"""

from __future__ import annotations

import sys

import numpy as np

from cudapy import simulator
from cudapy.core import (
    Device,
    EventOptions,
    Kernel,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Program,
    Stream,
    launch,
)
from cudapy.driver import checked as cu

KERNEL = """
// Steps of a generator of random numbers, each of which needs the one before.
extern "C" __global__ void fill(unsigned *data, unsigned first, unsigned factor, unsigned value, int rounds)
{
    unsigned i = first + blockIdx.x * blockDim.x + threadIdx.x, x = i;
    for (int round = 0; round < rounds; ++round)
        x = factor * x + value;
    data[i] = x;
}
"""
N = 1 << 21
STREAMS = 4
THREADS = 256
FACTOR, VALUE = 1664525, 1013904223
TIMED = EventOptions(timing_enabled=True)


def expected(rounds: int) -> np.ndarray:
    """All rounds in one: again a multiple of i and a constant, modulo 2**32."""
    factor, value = 1, 0
    for _ in range(rounds):
        factor, value = FACTOR * factor % 2**32, (FACTOR * value + VALUE) % 2**32
    numbers: np.ndarray = np.arange(N, dtype=np.uint32) * np.uint32(factor) + np.uint32(value)
    return numbers


def run(kernel: Kernel, streams: list[Stream], data: int, host: int, rounds: int) -> float:
    """Compute and copy back, a piece in each stream. Milliseconds from the first call to the last result."""
    piece = N // len(streams)
    start = streams[0].record(options=TIMED)
    for stream in streams[1:]:
        stream.wait(start)
    for i, stream in enumerate(streams):
        config = LaunchConfig(grid=piece // THREADS, block=THREADS)
        launch(stream, config, kernel, data, i * piece, FACTOR, VALUE, rounds)
        cu.cuMemcpyDtoHAsync(host + 4 * i * piece, data + 4 * i * piece, 4 * piece, stream.handle)
    for stream in streams[1:]:
        streams[0].wait(stream.record())  # the first stream goes on when all others are done
    end = streams[0].record(options=TIMED)
    end.sync()
    return end - start


def main() -> int:
    rounds = 10 if simulator.stand_in() else 1000
    device = Device()
    device.set_current()
    kernel = Program(KERNEL, "c++").compile("cubin").get_kernel("fill")
    streams = [device.create_stream() for _ in range(STREAMS)]
    host = LegacyPinnedMemoryResource().allocate(4 * N)
    result = np.from_dlpack(host).view(np.uint32)
    data = device.allocate(4 * N, stream=streams[0])
    streams[0].sync()

    right = True
    for used in (streams[:1], streams):
        run(kernel, used, data.handle, host.handle, rounds)  # once to warm up
        result[:] = 0
        time = run(kernel, used, data.handle, host.handle, rounds)
        right = right and np.array_equal(result, expected(rounds))
        print(f"{len(used)} stream(s): {time:.3f} ms")
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
