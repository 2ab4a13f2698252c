"""One rank of several processes: `python -m tests.gpu_tier.nccl_rank small|full`, as a launcher starts it.

The last line that it prints is JSON: what was right, and how long calls and transfers took.
"""

from __future__ import annotations

import ctypes
import json
import os
import statistics
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from cudapy.core.utils import StridedMemoryView

from cudapy import nccl, pathfinder
from cudapy.core import Communicator

from . import nccl_torch
from .nccl import every
from .nccl_cases import Ranks

FLOAT, SUM = 7, 0
PYTORCH = float(os.environ.get("TIER_TORCH_SECONDS", "100"))
"""Seconds that the comparison with PyTorch may take."""


def plain(comm: Communicator, stream: Any) -> Callable[[Any, int], None]:
    """ncclAllReduce by ctypes alone, its arguments made before."""
    library = pathfinder.load("nccl").handle
    function, handle = library.ncclAllReduce, ctypes.c_void_p(int(comm.handle))
    on = ctypes.c_void_p(int(stream.handle))

    def call(buffer: Any, count: int) -> None:
        address = ctypes.c_void_p(int(buffer.handle))
        function(address, address, ctypes.c_size_t(count), FLOAT, SUM, handle, on)

    return call


def host_times(call: Callable[[], None], stream: Any, rounds: int, batch: int) -> float:
    """Median microseconds of a call, in batches."""
    found = []
    for _ in range(rounds):
        stream.sync()
        start = time.perf_counter()
        for _ in range(batch):
            call()
        found.append((time.perf_counter() - start) / batch)
        stream.sync()
    return 1e6 * statistics.median(found)


def gigabytes(call: Callable[[], None], stream: Any, size: int, ranks: int, rounds: int) -> float:
    """Bus bandwidth of an all_reduce of `size` bytes, in 10^9 bytes a second, by events."""
    from cudapy.core import EventOptions

    best = 0.0
    call()
    for _ in range(rounds):
        start = stream.record(options=EventOptions(timing_enabled=True))
        call()
        end = stream.record(options=EventOptions(timing_enabled=True))
        end.sync()
        best = max(best, size * 2 * (ranks - 1) / ranks / ((end - start) * 1e6))
    return best


def speed(comm: Communicator, small: bool) -> dict[str, tuple[str, str, bool]]:
    """What was measured, what was asked for, whether it is so."""
    stream = comm.device.create_stream()
    batch, rounds, size = (3, 2, 1 << 12) if small else (100, 30, 1 << 30)
    little = comm.device.allocate(64, stream)
    view = StridedMemoryView.from_buffer(little, (16,), dtype="float32")
    much = comm.device.allocate(size, stream)
    by_ctypes = plain(comm, stream)
    ways: dict[str, Callable[[], None]] = {
        "ctypes": lambda: by_ctypes(little, 16),
        "nccl.ncclAllReduce": lambda: _tuple(comm, little, stream),
        "Communicator.all_reduce of a Buffer": lambda: comm.all_reduce(
            little, dtype="float32", stream=stream
        ),
        "Communicator.all_reduce of a view": lambda: comm.all_reduce(view, stream=stream),
    }
    for way in ways.values():
        way()
    times = {name: host_times(way, stream, rounds, batch) for name, way in ways.items()}
    found = {
        f"host time of {name}": (
            f"{took:.2f} us",
            "",
            True,
        )
        for name, took in times.items()
    }
    whole = {
        "ctypes": lambda: by_ctypes(much, size // 4),
        "core": lambda: comm.all_reduce(much, dtype="float32", stream=stream),
    }
    rates = {name: gigabytes(way, stream, size, comm.size, 2 if small else 10) for name, way in whole.items()}
    ratio = rates["core"] / rates["ctypes"] if rates["ctypes"] else 1.0
    found[f"bus bandwidth of all_reduce, {size} bytes"] = (
        f"{rates['core']:.1f} GB/s, {ratio:.3f} of ctypes",
        "at least 0.98 of ctypes",
        ratio >= 0.98,
    )
    return found


def _tuple(comm: Communicator, buffer: Any, stream: Any) -> None:
    address = int(buffer.handle)
    nccl.ncclAllReduce(address, address, 16, FLOAT, SUM, comm.handle, int(stream.handle))


def main(size: str) -> int:
    comm = Communicator.from_environment(timeout=120)
    comm.device.set_current()
    found = {"cases": every(Ranks([comm]), size == "small"), "speed": speed(comm, size == "small")}

    def hangs() -> None:
        """A rank of PyTorch's may have failed, for which the others would wait: the other figures count."""
        why = f"it did not end in {PYTORCH:g} s"
        print(
            json.dumps({**found, "speed": {**found["speed"], "torch.distributed": (why, "", True)}}),  # type: ignore[dict-item]
            flush=True,
        )
        os._exit(0)

    timer = threading.Timer(PYTORCH, hangs)
    timer.daemon = True
    timer.start()
    peer = nccl_torch.beside(comm, size == "small")
    timer.cancel()
    found["speed"].update(peer)  # type: ignore[attr-defined]
    comm.close()
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
