"""Things of every class, made and given back many times: what is left of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from . import things
from .bench import Bench
from .figures import FAILED, OK, Figure, not_run
from .machine import MIB, Holdings, holdings
from .scale import Scale

CYCLES = 10_000
DEVICE, RESIDENT = 2 * MIB, MIB
LOOSE = 32 * MIB  # RSS on the simulator, where NumPy has the memory of the device
TRIES = 3


def of_core(scale: Scale) -> Iterator[Figure]:
    """The classes of core that own something on the device."""
    yield from _all(things.of_core, scale)


def of_driver_and_runtime(scale: Scale) -> Iterator[Figure]:
    """The same by functions alone: contexts, arrays, textures; and the Runtime API."""
    yield from _all(things.of_driver, scale)
    yield from _all(things.of_runtime, scale)


def of_compilers(scale: Scale) -> Iterator[Figure]:
    """Programs and linkers, which are of the host; the memory of the device is not asked about."""
    yield from _all(things.of_compilers, scale, on_device=False)


def _all(
    find: Callable[[Bench], list[things.Thing]], scale: Scale, on_device: bool = True
) -> Iterator[Figure]:
    bench = Bench()
    for thing in find(bench):
        asked = f"device {DEVICE // MIB} MiB, " * on_device + f"RSS {RESIDENT // MIB} MiB, descriptors +0"
        what = f"{thing.cycles(scale):,} x {thing.name}"
        if thing.missing:
            yield not_run(what, asked, thing.missing)
            continue
        yield _kept(what, asked, thing, bench, scale, on_device)


def _kept(what: str, asked: str, thing: things.Thing, bench: Bench, scale: Scale, on_device: bool) -> Figure:
    """What is kept after many cycles.

    What grows once is a cache and what grows each time is a leak: so what has grown is tried again, at most
    TRIES times in all, and the last time counts.
    """
    count = thing.cycles(scale)
    below = _grown(thing.below, bench, count) if thing.below else Holdings(0, 0, 0)
    note = f"; the driver alone RSS {below.resident / MIB:+.2f} MiB" if thing.below else ""
    most = below.resident + (LOOSE if scale.simulated and on_device else RESIDENT)
    _repeat(thing.once, bench, max(count // 10, 5))
    kept, seconds, flat = Holdings(0, 0, 0), 0.0, False
    for _ in range(TRIES):
        began = time.perf_counter()
        kept = _grown(thing.once, bench, count)
        seconds = time.perf_counter() - began
        flat = kept.resident <= most and kept.descriptors <= 0 and not (on_device and kept.device > DEVICE)
        if flat:
            break
    said = f"{kept if on_device else kept.of_the_host}, {seconds:.1f} s{note}"
    if flat:
        return Figure(what, asked, said, OK)
    return Figure(what, asked, said, FAILED, f"it grows each of {TRIES} times")


def _grown(once: Callable[[], None], bench: Bench, count: int) -> Holdings:
    before = holdings()
    _repeat(once, bench, count)
    return holdings() - before


def _repeat(once: Callable[[], None], bench: Bench, count: int) -> None:
    for number in range(count):
        once()
        if number % 100 == 99:
            bench.stream.sync()  # what waits to be freed in its order
