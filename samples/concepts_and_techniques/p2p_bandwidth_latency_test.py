"""p2pBandwidthLatencyTest: how fast each device reaches each other one.

    python samples/concepts_and_techniques/p2p_bandwidth_latency_test.py

Copies of every ordered pair of devices, first through the host's memory, then directly where they are peers:
large ones for the bandwidth, and copies of four bytes for the latency. The bytes that arrive are compared; on
the simulator that is all.
"""

from __future__ import annotations

import os
import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Device, EventOptions, Stream
from cudapy.driver import checked as cu

SIZE = 32 << 20
COPIES, SMALL_COPIES = 10, 1000


def microseconds(
    stream: Stream, target: tuple[Device, int], source: tuple[Device, int], size: int, count: int
) -> float:
    """The time of a copy, of `count` in a row."""
    timed = EventOptions(timing_enabled=True)
    arguments = target[1], target[0].context.handle, source[1], source[0].context.handle, size, stream.handle
    cu.cuMemcpyPeerAsync(*arguments)
    start = stream.record(options=timed)
    for _ in range(count):
        cu.cuMemcpyPeerAsync(*arguments)
    end = stream.record(options=timed)
    end.sync()
    return (end - start) * 1000 / count


def show(title: str, table: list[list[float]]) -> None:
    print(title)
    print("   from/to" + "".join(f"{column:9}" for column in range(len(table))))
    for row, values in enumerate(table):
        print(f"{row:10}" + "".join(f"{value:9.2f}" for value in values))


def main() -> int:
    os.environ.setdefault("CUDAPY_SIMULATOR_DEVICES", "3")  # where the simulator stands in
    simulated = simulator.stand_in()
    devices = Device.get_all_devices()
    size = 1 << 16 if simulated else SIZE
    streams, memory = [], []
    for device in devices:
        device.set_current()
        streams.append(device.create_stream())
        memory.append([int(cu.cuMemAlloc(size)) for _ in range(2)])  # two: a device also copies to itself
    generator = np.random.default_rng(0)
    data = [generator.integers(0, 256, size, dtype=np.uint8) for _ in devices]

    pairs = [(a, b) for a in devices for b in devices if a is not b and a.can_access_peer(b)]
    right = True
    for directly in (False, True) if pairs else (False,):
        if directly:
            for a, b in pairs:
                a.set_current()
                cu.cuCtxEnablePeerAccess(b.context.handle, 0)
        rates, latencies = [], []
        for i, source in enumerate(devices):
            source.set_current()
            rates.append([0.0] * len(devices))
            latencies.append([0.0] * len(devices))
            for j, target in enumerate(devices):
                cu.cuMemcpyHtoD(memory[i][0], data[i], size)
                ends = (target, memory[j][1]), (source, memory[i][0])
                rates[i][j] = size / microseconds(streams[i], *ends, size, 1 if simulated else COPIES) / 1000
                latencies[i][j] = microseconds(streams[i], *ends, 4, 1 if simulated else SMALL_COPIES)
                back = np.empty_like(data[i])
                cu.cuMemcpyDtoH(back, memory[j][1], size)
                right = right and np.array_equal(back, data[i])
        how = "directly between peers" if directly else "through the host"
        print(f"{len(devices)} device(s), {len(devices) ** 2} pairs, {how}")
        if not simulated:
            show("GB/s", rates)
            show("microseconds of a copy of 4 bytes", latencies)

    for device, pointers in zip(devices, memory, strict=True):
        device.set_current()
        for pointer in pointers:
            cu.cuMemFree(pointer)
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
