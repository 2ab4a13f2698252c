"""An hour of everything, in a random order, in one process: nothing grows.

    python -m tests.soak [SECONDS] [--seed SEED]

Runs what the GPU tier makes and gives back, in the main thread or in several at once, on the GPU, or on the
simulator where there is none; there the scenarios of tests/reliability as well. Exit code 1: something grew,
which a table of the samples shows, or something failed, or wrote to stderr.
"""

from __future__ import annotations

import argparse
import faulthandler
import functools
import gc
import io
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, redirect_stderr
from dataclasses import dataclass

from cudapy import driver, pathfinder, simulator
from cudapy._core.streams import event
from cudapy.core import Device, GraphMemoryResource

from .gpu_tier import scenarios, things
from .gpu_tier.bench import Bench
from .gpu_tier.machine import MIB, Holdings, holdings
from .gpu_tier.torture import torture  # type: ignore[attr-defined]
from .reliability.scenarios import SCENARIOS as OF_CORE
from .reliability.world import World, world
from .threads import at_once

Work = Callable[[Bench, random.Random], object]
RESIDENT, DEVICE = 32 * MIB, 8 * MIB
"""How much memory may grow; nothing else may."""
SAMPLES = 40
WARM = 0.25
"""The part of the time that passes before the first sample."""
TOGETHER = (1, 1, 2, 4)
"""How many threads work at once, in a round."""
HANGS = 300
"""Seconds after which a round is taken to hang: the stack of every thread is printed, and that is the end."""


@dataclass(frozen=True)
class Piece:
    """Something to do. alone: not while other threads work."""

    name: str
    work: Work
    alone: bool = False


@dataclass(frozen=True)
class Sample:
    """What there was after so many seconds."""

    seconds: float
    held: Holdings
    threads: int
    objects: Counter[str]

    @property
    def amounts(self) -> dict[str, int]:
        """All that is judged, by name."""
        found = {"RSS": self.held.resident, "descriptors": self.held.descriptors, "threads": self.threads}
        if not simulator.is_enabled():
            found["memory of the GPU"] = self.held.device
        return {**found, **self.objects}

    def changed(self, before: Sample) -> str:
        """The kinds of simulated objects of which there are more, or fewer."""
        counts = {name: self.objects[name] - before.objects[name] for name in self.objects | before.objects}
        return ", ".join(f"{more:+} {name}" for name, more in counts.items() if more)

    def __str__(self) -> str:
        return (
            f"{self.seconds:9.1f} {self.held.resident / MIB:9.1f} {self.held.device / MIB:11.1f} "
            f"{self.held.descriptors:12} {self.threads:8} {sum(self.objects.values()):8}"
        )


HEADING = "  seconds   RSS MiB  device MiB  descriptors  threads  objects"
LIMITS = {"RSS": RESIDENT, "memory of the GPU": DEVICE}


def growth(samples: list[Sample]) -> dict[str, int]:
    """What has grown beyond its limit, and by how much.

    The least of the last quarter of the samples is compared with the most of the first: what comes and goes
    is not growth.
    """
    quarter = max(len(samples) // 4, 1)
    first, last = samples[:quarter], samples[-quarter:]
    found = {}
    for name in dict.fromkeys(name for sample in samples for name in sample.amounts):
        least = min(sample.amounts.get(name, 0) for sample in last)
        more = least - max(sample.amounts.get(name, 0) for sample in first)
        if more > LIMITS.get(name, 0):
            found[name] = more
    return found


def pieces(w: World | None) -> Iterator[Piece]:
    """All that can be done here."""
    for scenario in scenarios.SCENARIOS:
        if scenario not in (scenarios.one_of_everything, scenarios.garbage):  # which follow in parts
            yield Piece(scenario.__name__, lambda bench, _, run=scenario: run(bench))  # type: ignore[misc]
    for captures in (False, True):
        name = "torture with captures" if captures else "torture"
        yield Piece(name, functools.partial(_torture, captures), alone=True)  # it changes settings of Python
    for find in (things.of_core, things.of_driver, things.of_runtime, things.of_compilers):
        yield Piece(f"things.{find.__name__}", functools.partial(_thing, find))
    if w is not None:  # whose device is current in this thread alone
        for name, scenario in OF_CORE.items():
            yield Piece(name, lambda *_, run=scenario: run(w), alone=True)


def _torture(captures: bool, bench: Bench, choose: random.Random) -> None:
    torture(bench.device, choose.randrange(1 << 30), captures)


def _thing(find: Callable[[Bench], list[things.Thing]], bench: Bench, choose: random.Random) -> None:
    thing = choose.choice([thing for thing in find(bench) if not thing.missing])
    for _ in range(choose.randrange(1, min(thing.small, 20) + 1)):
        thing.once()
    bench.stream.sync()


def sample(seconds: float, w: World | None) -> Sample:
    """What there is now, without what is kept to be used again: memory of pools, events."""
    gc.collect()
    Device(0).sync()  # after which core gives back what had to wait, for another thread's capture perhaps
    driver.checked.cuMemPoolTrimTo(driver.checked.cuDeviceGetMemPool(0), 0)
    GraphMemoryResource(0).trim()
    objects: Counter[str] = Counter()
    if w is not None:
        objects.update(simulator.alive())
        objects["event"] -= sum(map(len, event._spare.values()))
        w.settle()
        objects.update(w.alive())
    return Sample(seconds, holdings(), len(os.listdir("/proc/self/task")), objects)


def play(chosen: list[Piece], choose: random.Random, first: Bench) -> None:
    """Do these things at once, each with a stream of its own."""
    seeds = [choose.randrange(1 << 30) for _ in chosen]

    def work(number: int) -> None:
        bench = Bench()
        bench.code = first.code
        chosen[number].work(bench, random.Random(seeds[number]))
        bench.stream.sync()

    faulthandler.dump_traceback_later(HANGS, exit=True, file=sys.__stderr__)
    try:
        if len(chosen) == 1:
            work(0)
        else:
            at_once(work, len(chosen), interval=1e-4)
    except BaseException:
        print(f"FAILED: {', '.join(piece.name for piece in chosen)}", flush=True)
        raise


class Heard(io.StringIO):
    """Keeps what it passes on to the stderr of the process: of work that succeeds nothing is said."""

    def write(self, text: str) -> int:
        sys.__stderr__.write(text)
        return super().write(text)


def able(first: Bench, choose: random.Random, w: World | None) -> Iterator[Piece]:
    """Those that find the libraries that they need, each done once: what is made once is there then."""
    for piece in pieces(w):
        try:
            piece.work(first, choose)
        except pathfinder.LibraryNotFound as error:
            print(f"not run: {piece.name}: {str(error).splitlines()[0]}")
        else:
            yield piece


def soak(seconds: float, seed: int, planted: Work | None = None) -> list[Sample]:
    """Work for so long; print and return the samples, the first of them once a quarter of it is over.

    planted: what to do after every round besides.
    """
    choose, samples, rounds = random.Random(seed), [], 0
    with ExitStack() as stack:
        w = stack.enter_context(world()) if simulator.is_enabled() else None
        first = Bench()
        every = list(able(first, choose, w))
        together = [piece for piece in every if not piece.alone]
        print(f"{len(every)} kinds of work, seed {seed}\n{HEADING}", flush=True)
        began = time.monotonic()
        while len(samples) < SAMPLES:
            count = choose.choice(TOGETHER)
            play([choose.choice(every if count == 1 else together) for _ in range(count)], choose, first)
            if planted is not None:
                planted(first, choose)
            rounds += 1
            now = time.monotonic() - began
            if now >= seconds * (WARM + (1 - WARM) * len(samples) / (SAMPLES - 1)):
                samples.append(sample(now, w))
                print(samples[-1], samples[-1].changed(samples[0]), flush=True)
        faulthandler.cancel_dump_traceback_later()
    print(f"{rounds} rounds")
    return samples


def main(arguments: list[str], planted: Work | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("seconds", nargs="?", type=float, default=3600)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    asked = parser.parse_args(arguments)
    simulator.stand_in()
    with redirect_stderr(Heard()) as heard:
        samples = soak(asked.seconds, asked.seed, planted)
    grown = growth(samples)
    for name, more in grown.items():
        said = f"{more / MIB:.1f} MiB" if name in LIMITS else str(more)
        print(f"FAILED: {name} grew by {said}, seed {asked.seed}")
    if heard.getvalue():
        print(f"FAILED: something wrote to stderr, seed {asked.seed}")
    return int(bool(grown or heard.getvalue()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
