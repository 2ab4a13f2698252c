"""asyncAPI: what the host can do while the device works.

    python samples/introduction/async_api.py

Copies and launches return at once. Events are marks in the stream: the host counts until the last one is
reached, and the time between two of them is the device's own.
"""

from __future__ import annotations

import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Device, EventOptions, LaunchConfig, LegacyPinnedMemoryResource, Program, launch

KERNEL = """
extern "C" __global__ void increment(int *data, int value)
{
    data[blockIdx.x * blockDim.x + threadIdx.x] += value;
}
"""
N = 1 << 22
THREADS = 512
VALUE = 26


def main() -> int:
    simulator.stand_in()
    device = Device()
    device.set_current()
    stream = device.create_stream()
    kernel = Program(KERNEL, "c++").compile("cubin").get_kernel("increment")

    buffer = LegacyPinnedMemoryResource().allocate(4 * N)  # page-locked, or the host would wait for copies
    host = np.from_dlpack(buffer).view(np.int32)
    host[:] = 0
    data = device.allocate(4 * N, stream=stream)
    data.copy_from(buffer, stream=stream)

    config = LaunchConfig(grid=N // THREADS, block=THREADS)
    launch(stream, config, kernel, data, VALUE)  # the first launch loads the code, for which the host waits
    stream.sync()

    timed = EventOptions(timing_enabled=True)
    start = stream.record(options=timed)
    data.copy_from(buffer, stream=stream)
    launch(stream, config, kernel, data, VALUE)
    data.copy_to(buffer, stream=stream)
    end = stream.record(options=timed)

    count = 0
    while not end.is_done:  # here the host could do its own work
        count += 1

    right = bool((host == VALUE).all())
    print(f"the device was busy for {end - start:.2f} ms; the host asked {count} times whether it was done")
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
