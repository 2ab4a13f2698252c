"""simpleP2P: one device reads the memory of another.

    python samples/introduction/simple_p2p.py

With peer access a kernel uses addresses of another device as if they were its own, and copies between the
two do not go through the host. Needs two devices that can reach each other.
"""

from __future__ import annotations

import os
import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Device, EventOptions, LaunchConfig, Program, launch
from cudapy.driver import checked as cu

KERNEL = """
extern "C" __global__ void twice(const float *input, float *output)
{
    size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    output[i] = 2 * input[i];
}
"""
N = 1 << 24
THREADS = 256
COPIES = 20


def main() -> int:
    os.environ.setdefault("CUDAPY_SIMULATOR_DEVICES", "2")  # where the simulator stands in, there are two
    simulated = simulator.stand_in()
    devices = Device.get_all_devices()
    pairs = [
        (a, b)
        for a in devices
        for b in devices
        if a is not b and a.can_access_peer(b) and b.can_access_peer(a)
    ]
    if not pairs:
        print(f"WAIVED: needs two devices that can reach each other; there is {len(devices)}")
        return 77
    first, second = pairs[0]

    kernels, streams, memory = [], [], []
    for device in (first, second):
        device.set_current()
        kernels.append(Program(KERNEL, "c++").compile("cubin").get_kernel("twice"))
        streams.append(device.create_stream())
        memory.append(int(cu.cuMemAlloc(4 * N)))
    for device, other in ((first, second), (second, first)):
        device.set_current()
        cu.cuCtxEnablePeerAccess(other.context.handle, 0)

    numbers = np.random.default_rng(0).random(N, dtype=np.float32)
    found = np.empty_like(numbers)
    config = LaunchConfig(grid=N // THREADS, block=THREADS)
    first.set_current()
    cu.cuMemcpyHtoDAsync(memory[0], numbers, numbers.nbytes, streams[0].handle)
    timed = EventOptions(timing_enabled=True)
    start = streams[0].record(options=timed)
    for _ in range(COPIES):
        cu.cuMemcpyAsync(memory[1], memory[0], numbers.nbytes, streams[0].handle)
    end = streams[0].record(options=timed)
    streams[0].sync()
    rate = COPIES * numbers.nbytes / ((end - start) * 1e-3) / 1e9

    launch(streams[0], config, kernels[0], memory[1], memory[0])  # reads the memory of the other device
    streams[0].sync()
    second.set_current()
    launch(streams[1], config, kernels[1], memory[0], memory[1])  # and the other reads this one's
    streams[1].sync()
    cu.cuMemcpyDtoH(found, memory[1], found.nbytes)

    for device, pointer in zip((first, second), memory, strict=True):
        device.set_current()
        cu.cuMemFree(pointer)
    right = np.array_equal(found, 4 * numbers)
    speed = "" if simulated else f": {rate:.1f} GB/s"
    print(f"device {first.device_id} to {second.device_id}{speed}")
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
