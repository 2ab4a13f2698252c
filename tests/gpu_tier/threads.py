"""Launches from many threads at once."""

from __future__ import annotations

from collections.abc import Iterator

from cudapy.core import Device, LaunchConfig, launch, prepare
from tests.threads import at_once

from .bench import Bench, content
from .figures import Figure, judged
from .scale import Scale

THREADS = 16


def exact_launches(scale: Scale) -> Iterator[Figure]:
    """Every thread launches into a stream of its own: none is lost, doubled, or given another's arguments."""
    bench, count = Bench(), scale.of(10_000, 50)
    kernel, config = bench.kernel("count"), LaunchConfig(grid=1, block=1)
    shared = bench.words(1)
    bench.stream.sync()
    found: dict[int, int] = {}
    wrong: list[BaseException] = []

    def work(number: int) -> None:
        try:
            device = Device(0)
            device.set_current()
            stream = device.create_stream()
            own = bench.words(1, stream)
            if number % 2:
                for _ in range(count):
                    launch(stream, config, kernel, own, shared)
            else:
                prepared = prepare(stream, config, kernel, own, shared)
                for _ in range(count):
                    prepared(own, shared)
            found[number] = int(content(own, stream)[0])
        except BaseException as error:
            wrong.append(error)

    at_once(work, THREADS, interval=1e-5)
    exact = sum(each == count for each in found.values())
    total = int(content(shared, bench.stream)[0])
    asked = f"{THREADS} of {THREADS} threads exact"
    yield judged(
        f"{THREADS} x {count:,} launches", asked, f"{exact} exact", exact == THREADS and not wrong, str(wrong)
    )
    what = "launches that all threads counted together"
    yield judged(what, f"{THREADS * count:,}", f"{total:,}", total == THREADS * count)
