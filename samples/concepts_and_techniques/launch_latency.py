"""launch latency: what it costs the host to start a kernel that does nothing.

    python samples/concepts_and_techniques/launch_latency.py

Each way of launching is called many times in a row; the time for one call is what the host spends. The last
figure is the time until the kernel has run and the host knows it. `nox -s bench` measures this properly,
next to C++.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from statistics import median
from time import perf_counter

import numpy as np

from cudapy import simulator
from cudapy.core import Device, LaunchConfig, Program, launch, prepare
from cudapy.driver import checked as cu

KERNEL = """
extern "C" __global__ void count(unsigned *launches) { atomicAdd(launches, 1); }
"""
CALLS, ROUNDS = 100, 11


def microseconds(call: Callable[[], object], drain: Callable[[], object]) -> float:
    """The median over rounds of the time of one call."""
    times = []
    for _ in range(ROUNDS):
        start = perf_counter()
        for _ in range(CALLS):
            call()
        times.append((perf_counter() - start) / CALLS)
        drain()
    return 1e6 * median(times)


def main() -> int:
    simulator.stand_in()
    device = Device()
    device.set_current()
    stream = device.create_stream()
    kernel = Program(KERNEL, "c++").compile("cubin").get_kernel("count")
    launches = device.allocate(4, stream=stream)
    launches.fill(0, stream=stream)

    config = LaunchConfig(grid=1, block=1)
    run = prepare(stream, config, kernel, launches)
    function, handle = int(cu.cuKernelGetFunction(kernel.handle)), int(stream.handle)
    argument = np.array([launches.handle], np.uint64)
    pointers = np.array([argument.ctypes.data], np.uint64).ctypes
    ways: dict[str, Callable[[], object]] = {
        "core.launch": lambda: launch(stream, config, kernel, launches),
        "core.prepare": lambda: run(launches),
        "cuLaunchKernel": lambda: cu.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, handle, pointers.data, 0),
    }
    for name, way in ways.items():
        print(f"{name:16} {microseconds(way, stream.sync):8.2f} us")

    def there_and_back() -> None:
        run(launches)
        stream.sync()

    print(f"{'until it has run':16} {microseconds(there_and_back, stream.sync):8.2f} us")
    found = np.empty(1, np.uint32)
    launches.copy_to(found, stream=stream)
    stream.sync()
    right = int(found[0]) == (len(ways) + 1) * CALLS * ROUNDS
    print(f"{found[0]} launches")
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
