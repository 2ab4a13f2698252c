"""bandwidthTest: how fast bytes get from one place to another.

    python samples/concepts_and_techniques/bandwidth.py

Copies from the host to the device, back, and within the device, timed by events. The host's memory is
page-locked, or not: then the driver copies it to memory that is, piece by piece. On the simulator the bytes
are compared, and nothing is measured.
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
    """Gigabytes (1e9 bytes) that a copy moves in a second."""
    timed = EventOptions(timing_enabled=True)
    cu.cuMemcpyAsync(target, source, SIZE, stream.handle)
    start = stream.record(options=timed)
    for _ in range(COPIES):
        cu.cuMemcpyAsync(target, source, SIZE, stream.handle)
    end = stream.record(options=timed)
    end.sync()
    return COPIES * SIZE / ((end - start) * 1e-3) / 1e9


def main() -> int:
    simulated = simulator.stand_in()
    device = Device()
    device.set_current()
    stream = device.create_stream()
    data = np.random.default_rng(0).integers(0, 256, SIZE, dtype=np.uint8)
    back = np.empty_like(data)
    pinned = LegacyPinnedMemoryResource().allocate(SIZE)
    first, second = (device.allocate(SIZE, stream=stream) for _ in range(2))
    stream.sync()

    print(f"{device.name}, {SIZE >> 20} MiB a copy")
    for name, target, source in (
        ("host to device, pageable", first.handle, data.ctypes.data),
        ("within the device", second.handle, first.handle),
        ("device to host, pageable", back.ctypes.data, second.handle),
        ("device to host, page-locked", pinned.handle, second.handle),
        ("host to device, page-locked", first.handle, pinned.handle),
    ):
        if simulated:
            cu.cuMemcpy(target, source, SIZE)
            print(name)
        else:
            bytes_each = 2 if name == "within the device" else 1  # which are read and written
            print(f"{name:28} {bytes_each * rate(stream, target, source):8.1f} GB/s")

    right = np.array_equal(back, data)  # it has been everywhere
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
