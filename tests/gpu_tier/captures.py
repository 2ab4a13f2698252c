"""Garbage that is collected while a stream captures, by the capturing thread and by another."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from cudapy import driver
from cudapy.core import (
    DeviceMemoryResource,
    DeviceMemoryResourceOptions,
    Event,
    LegacyPinnedMemoryResource,
    ObjectCode,
    PinnedMemoryResource,
    graph,
)

from .bench import Bench, content
from .figures import Figure, judged
from .scale import Scale

NODES = 2
WORDS = 64


def collections(scale: Scale) -> Iterator[Figure]:
    """In each mode: the capture is whole, its graph has what was captured alone, and it computes right."""
    bench = Bench()
    for mode in driver.CUstreamCaptureMode:
        for collector in ("the capturing thread", "another thread"):
            rounds, wrong = scale.of(300, 5), []
            for number in range(rounds):
                try:
                    _collect(bench, mode, collector == "another thread", number)
                except Exception as error:
                    wrong.append(f"round {number}: {type(error).__name__}: {str(error)[:300]}")
            name = mode.name.removeprefix("CU_STREAM_CAPTURE_MODE_").lower()
            what = f"collected by {collector} in a {name} capture"
            whole = f"{rounds - len(wrong)} whole"
            yield judged(what, f"{rounds} of {rounds} whole", whole, not wrong, "; ".join(wrong[:3]))
    gc.collect()
    bench.device.create_event()
    bench.device.sync()
    left = bench.device.memory_resource.attributes.used_mem_current  # type: ignore[attr-defined]
    yield judged("memory of the pool that is left in use", "0 bytes", f"{left} bytes", not left)


def _collect(bench: Bench, mode: Any, elsewhere: bool, number: int) -> None:
    """One capture in which garbage of every kind is collected."""
    stream, target = bench.device.create_stream(), bench.words(WORDS)
    own = bench.device.allocate(4 * WORDS, stream)
    bench.stream.sync()
    garbage = _garbage(bench, stream)
    bench.kernel("add")
    driver.checked.cuStreamBeginCapture(stream.handle, mode)
    try:
        target.fill(1, stream=stream)
        garbage.append(garbage)
        del garbage
        if elsewhere:
            thread = threading.Thread(target=gc.collect)
            thread.start()
            thread.join()
        else:
            gc.collect()
        target.fill(number % 256, stream=stream)
    finally:
        captured = driver.checked.cuStreamEndCapture(stream.handle)
    nodes = len(driver.checked.cuGraphGetNodes(captured, 10)[0])
    executable = driver.checked.cuGraphInstantiate(captured, 0)
    driver.checked.cuGraphLaunch(executable, stream.handle)
    found = content(target, stream)
    driver.checked.cuGraphExecDestroy(executable)
    driver.checked.cuGraphDestroy(captured)
    own.close()
    assert nodes == NODES, f"the graph has {nodes} nodes, not {NODES}"
    expected = np.full(4 * WORDS, number % 256, np.uint8).view(np.int32)
    assert (found == expected).all(), f"the graph wrote {found[:4]}"


def _garbage(bench: Bench, captured: Any) -> list[Any]:
    """Something of every kind, some of it in the stream that will be captured."""
    device, stream, other = bench.device, bench.stream, device_stream(bench)
    pool = DeviceMemoryResource(device, DeviceMemoryResourceOptions())
    pinned = LegacyPinnedMemoryResource()
    definition = graph.GraphDefinition()
    definition.empty()
    made = [
        device.allocate(4096, captured),
        device.allocate(4096, stream),
        device.allocate(4096, other),
        device.allocate(4096),
        pool.allocate(4096, stream=other),
        PinnedMemoryResource().allocate(4096, stream=other),
        pinned.allocate(4096),
        pinned.allocate(4096, stream=other),
        ObjectCode.from_cubin(bench.code.code).get_kernel("nothing"),
        definition,
        definition.instantiate(),
        Event(),
        other.record(),
        device.create_stream(),
        other,
        pool,
    ]
    made[1].copy_from(pinned.allocate(4096), stream=stream)
    return made


def device_stream(bench: Bench) -> Any:
    """A stream of its own, with work."""
    made = bench.device.create_stream()
    bench.device.allocate(64, made).fill(1, stream=made)
    return made
