"""Schedules: in which order the warps of a kernel run.

Without one, all threads that are at the same place run together. With one, each warp runs alone, a basic
block at a time, and a policy says which is next. A delay has a warp wait before one of its blocks until no
other warp can run, or for long: a schedule with the same delays is the same order again.
"""

from __future__ import annotations

import json
import random
import threading
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

FIRST, LAST, TURNS = "first", "last", "turns"
POLICIES = FIRST, LAST, TURNS
"""Which warp is next: of those that can run, the first or the last one; or one after another."""
RANDOM = "random"
RATE = 0.125
"""How many of the steps of a random schedule are delays."""


class Delay(NamedTuple):
    """A warp waits before it runs a block."""

    kernel: str
    launch: int
    """Counts the launches of kernels of this name in the process, from 1."""
    warp: int
    """Its number in the grid, block after block."""
    step: int
    """How many basic blocks it has run before."""

    def __str__(self) -> str:
        return f"{self.kernel}#{self.launch}:{self.warp}.{self.step}"

    @classmethod
    def parse(cls, text: str) -> Delay:
        """Raises ValueError."""
        kernel, _, rest = text.rpartition("#")
        launch, _, place = rest.partition(":")
        warp, _, step = place.partition(".")
        if not kernel:
            raise ValueError
        return cls(kernel, int(launch), int(warp), int(step))


class Schedule(NamedTuple):
    """A policy with delays: those that are listed, or random ones by a seed."""

    policy: str
    delays: frozenset[Delay] = frozenset()
    seed: int | None = None

    def __str__(self) -> str:
        """What `parse` takes."""
        if self.seed is not None:
            return f"{RANDOM}:{self.seed}"
        return "+".join([self.policy, *map(str, sorted(self.delays))])

    @classmethod
    def parse(cls, text: str) -> Schedule:
        """A schedule from "first", "last", "turns" or "random:SEED", with delays behind a "+" each.

        Raises ValueError.
        """
        policy, *delays = text.split("+")
        kind, _, seed = policy.partition(":")
        try:
            if kind == RANDOM and not delays:
                return cls.random(int(seed))
            if policy in POLICIES:
                return cls(policy, frozenset(map(Delay.parse, delays)))
        except ValueError:
            pass
        known = f"{', '.join(POLICIES)}, {RANDOM}:NUMBER, or the first three with delays"
        raise ValueError(f"there is no schedule {text!r}: there is {known}")

    @classmethod
    def random(cls, seed: int) -> Schedule:
        """One with random delays; of different seeds they have different policies."""
        return cls(POLICIES[seed % len(POLICIES)], seed=seed)

    def with_delays(self, delays: Iterable[Delay]) -> Schedule:
        """The same policy with these delays alone."""
        return Schedule(self.policy, frozenset(delays))


class _Launches:
    """What there was in this process: launches by the kernel's name, and the delays of random schedules."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.begin()

    def begin(self) -> None:
        self.counts: Counter[str] = Counter()
        self.delays: dict[Delay, str] = {}


_launches = _Launches()


def begin_again() -> None:
    """Count launches from 1, and forget what was delayed."""
    with _launches.lock:
        _launches.begin()


def delays() -> dict[Delay, str]:
    """The delays that there were since then, and before which line of the source."""
    with _launches.lock:
        return dict(_launches.delays)


def write_delays(path: str) -> None:
    """Write them to a file, as JSON."""
    with open(path, "w") as file:
        json.dump({str(one): line for one, line in delays().items()}, file)


class LaunchSchedule:
    """The schedule of one launch."""

    def __init__(self, schedule: Schedule, kernel: str) -> None:
        self.policy = schedule.policy
        with _launches.lock:
            _launches.counts[kernel] += 1
            self._kernel, self._launch = kernel, _launches.counts[kernel]
        own = f"{schedule.seed} {kernel} {self._launch}"
        self._random = None if schedule.seed is None else random.Random(own)
        wanted = [one for one in schedule.delays if one.kernel == kernel and one.launch == self._launch]
        self._wanted = {(one.warp, one.step) for one in wanted}

    def is_delayed(self, warp: int, step: int) -> bool:
        """Whether a warp waits before its block number `step`. Asked once for each."""
        if self._random is None:
            return (warp, step) in self._wanted
        return self._random.random() < RATE

    def note(self, warp: int, step: int, line: str) -> None:
        """It waits, before a line of the source."""
        with _launches.lock:
            _launches.delays[Delay(self._kernel, self._launch, warp, step)] = line
