"""Sources of asynchronous copies that nobody refers to any more once the copy is queued."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from cudapy.core import LaunchConfig, LegacyPinnedMemoryResource, PinnedMemoryResource, launch

from .bench import Bench, content
from .figures import Figure, judged
from .scale import Scale

WORDS = 4096


def dropped_at_once(scale: Scale) -> Iterator[Figure]:
    """The stream is busy when a copy is queued, and the memory of its source is wanted by others at once."""
    bench = Bench()
    legacy, pooled = LegacyPinnedMemoryResource(), PinnedMemoryResource()

    other = bench.device.create_stream()

    def in_place(resource: Any, value: int) -> Any:
        buffer = resource.allocate(4 * WORDS, stream=other)  # where nothing delays its release
        other.sync()
        np.frombuffer(np.asarray(buffer), np.int32)[:] = value
        return buffer

    def on_device(value: int) -> Any:
        stream = bench.stream if value > 0 else other  # it is freed in this stream, in order
        buffer = bench.words(WORDS, stream)
        buffer.copy_from(np.full(WORDS, value, np.int32), stream=stream)
        return buffer

    kinds: dict[str, Callable[[int], Any]] = {
        "pinned buffers": lambda value: in_place(pooled, value),
        "pinned buffers of cuMemAllocHost": lambda value: in_place(legacy, value),
        "arrays in pinned memory": lambda value: np.asarray(in_place(pooled, value)),
        "pageable arrays": lambda value: np.full(WORDS, value, np.int32),
        "bytes": lambda value: np.full(WORDS, value, np.int32).tobytes(),
        "device buffers": lambda value: on_device(value),
    }
    kernel, one = bench.kernel("nap"), LaunchConfig(grid=1, block=1)
    target = bench.words(WORDS)
    rounds = scale.of(1_000, 12)
    for what, make in kinds.items():
        right = 0
        for value in range(1, rounds + 1):
            source = make(value)
            launch(bench.stream, one, kernel, 1)
            target.copy_from(source, stream=bench.stream)
            del source
            if value % 50 == 0:
                gc.collect()
            scribbled = [make(-value) for _ in range(2)]
            right += bool((content(target, bench.stream) == value).all())
            del scribbled
        yield judged(f"copies of {what}", f"{rounds} of {rounds}", f"{right} right", right == rounds)
