"""bandwidthTest: how fast bytes get from one place to another.

    python samples/concepts_and_techniques/bandwidth.py

Copies from the host to the device, back, and within the device, timed by events. The host's memory is page-
locked, or not: then the driver copies it to memory that is, piece by piece.
"""

from __future__ import annotations

import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Device, EventOptions, LegacyPinnedMemoryResource, Stream
from cudapy.driver import checked as cu

SIZE = 32 << 20
COPIES = 10


def rate(stream: Stream, target: int, source: int) -> float:
    """Gigabytes per second (1e9 bytes) of a copy."""
    timed = EventOptions(timing_enabled=True)
    cu.cuMemcpyAsync(target, source, SIZE, stream.handle)
    start = stream.record(options=timed)
    for _ in range(COPIES):
        cu.cuMemcpyAsync(target, source, SIZE, stream.handle)
    end = stream.record(options=timed)
    end.sync()
    return COPIES * SIZE / ((end - start) * 1e-3) / 1e9


def main() -> int:
    simulator.stand_in()
    device = Device()
    device.set_current()
    stream = device.create_stream()
    data = np.random.default_rng(0).integers(0, 256, SIZE, dtype=np.uint8)
    back = np.empty_like(data)
    pinned = LegacyPinnedMemoryResource().allocate(SIZE)
    first, second = (device.allocate(SIZE, stream=stream) for _ in range(2))
    stream.sync()

    print(f"{device.name}, {SIZE >> 20} MiB a copy")
    print(f"host to device, pageable     {rate(stream, first.handle, data.ctypes.data):8.1f} GB/s")
    within = 2 * rate(stream, second.handle, first.handle)
    print(f"within the device            {within:8.1f} GB/s read and written")
    print(f"device to host, pageable     {rate(stream, back.ctypes.data, second.handle):8.1f} GB/s")
    print(f"device to host, page-locked  {rate(stream, pinned.handle, second.handle):8.1f} GB/s")
    print(f"host to device, page-locked  {rate(stream, first.handle, pinned.handle):8.1f} GB/s")

    right = np.array_equal(back, data)  # it has been everywhere
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
