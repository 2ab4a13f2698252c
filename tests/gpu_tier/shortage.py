"""Memory that there is not."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from typing import Any

from cudapy import driver
from cudapy.core import (
    Buffer,
    CUDAError,
    DeviceMemoryResource,
    DeviceMemoryResourceOptions,
    LegacyPinnedMemoryResource,
    PinnedMemoryResource,
)

from .bench import Bench
from .figures import Figure, judged
from .machine import MIB
from .scale import Scale

PEBIBYTE = 1 << 50  # of the host: more than addresses reach, so that nothing is ever filled


def shortage_of(ask: Callable[[], object]) -> str:
    """ "" if asking is a MemoryError that says out of memory; what it is instead."""
    try:
        ask()
    except MemoryError as error:
        named = isinstance(error, CUDAError) and error.name == "CUDA_ERROR_OUT_OF_MEMORY"
        return "" if named else f"{type(error).__name__}: {error}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "it was granted"


def of_memory(scale: Scale) -> Iterator[Figure]:
    """All of the device is asked for, piece by piece; memory of the host all at once."""
    bench = Bench()
    device, stream = bench.device, bench.stream
    device.sync()
    free, _ = driver.checked.cuMemGetInfo()
    kept: list[Any] = []

    def fill(take: Callable[[int], Any]) -> Callable[[], None]:
        def go() -> None:
            size = scale.of(1024, 16) * MIB
            while size >= MIB:
                try:
                    kept.append(take(size))
                except MemoryError:
                    if size == MIB:
                        raise
                    size //= 2

        return go

    def give_back() -> None:
        while kept:
            thing = kept.pop()
            if not isinstance(thing, Buffer):
                driver.checked.cuMemFree(thing)

    # The simulator's memory is the host's: there a pool of 64 MiB is what is filled.
    options = DeviceMemoryResourceOptions(max_size=64 * MIB if scale.simulated else 0)
    pool = DeviceMemoryResource(device, options)
    synchronous = driver.checked.cuMemAlloc
    ways: dict[str, tuple[Callable[[], object], str]] = {
        "asynchronously": (fill(lambda size: pool.allocate(size, stream=stream)), "until there is none"),
        "synchronously": (
            (lambda: synchronous(2 * free)) if scale.simulated else fill(synchronous),
            "at once" if scale.simulated else "until there is none",
        ),
        "asynchronously, at once": (lambda: device.allocate(2 * free, stream), "twice what is free"),
        "page-locked": (lambda: LegacyPinnedMemoryResource().allocate(PEBIBYTE), "a pebibyte"),
        "page-locked, asynchronously": (
            lambda: PinnedMemoryResource().allocate(PEBIBYTE, stream=stream),
            "a pebibyte",
        ),
    }
    for how, (ask, much) in ways.items():
        wrong = shortage_of(ask)
        held = len(kept)
        give_back()
        gc.collect()
        stream.sync()
        pool.trim()
        device.memory_resource.trim()  # type: ignore[attr-defined]
        device.sync()
        yield judged(
            f"memory asked for {how}, {much}",
            "MemoryError",
            wrong or f"MemoryError after {held}",
            not wrong,
            wrong,
        )
        now, _ = driver.checked.cuMemGetInfo()
        most = scale.of(int(0.99 * free), 16 * MIB)
        again = shortage_of(lambda: driver.checked.cuMemFree(synchronous(most)))  # noqa: B023
        usable = again == "it was granted"
        yield judged(
            f"and afterwards, {how}",
            "99 % reusable",
            f"{100 * now / free:.2f} % free",
            usable and now >= 0.99 * free,
            again,
        )
