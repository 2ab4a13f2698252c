"""Rounds of contenders in turns, and the statistics of a sample.

A contender is a callable that runs one batch and returns the seconds that one call took. Contenders take
turns, round by round, so that whatever drifts (clocks, caches, neighbours) drifts for all of them; a ratio is
taken in each round. Their median is what is reported, with its confidence interval.
"""

from __future__ import annotations

import gc
import math
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import repeat
from statistics import quantiles
from threading import Barrier
from time import perf_counter
from typing import Any, NamedTuple

Contender = Callable[[], float]

CALLS = 200
"""Calls in a batch, the stream drained before and after."""
SHORTEST = 100e-6
"""Seconds that a batch takes at least, with more calls if need be: else it is the clock that is measured."""
RESAMPLES = 1000
"""How often a sample is drawn again, for a confidence interval."""


def calls_for(seconds: float, calls: int) -> int:
    """How many calls a batch has, of which `calls` took `seconds` each."""
    return max(calls, math.ceil(SHORTEST / max(seconds, 1e-9)))


class Spread(NamedTuple):
    """The median of a sample, and the bounds of what is said about it."""

    low: float
    median: float
    high: float

    @property
    def half(self) -> float:
        """Half of the range between the bounds."""
        return (self.high - self.low) / 2


def spread(sample: Sequence[float]) -> Spread:
    """The quartiles of `sample`; those of a single value are that value."""
    if len(sample) == 1:
        return Spread(sample[0], sample[0], sample[0])
    return Spread(*quantiles(sample, n=4, method="inclusive"))


def interval(sample: Sequence[float]) -> Spread:
    """The median of `sample`, and the bounds of 95 % of it by the bootstrap: by percentiles of its medians in
    samples of the same size, drawn from `sample` with replacement, the same ones each time.

    Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapter 13.
    """
    return _interval(tuple(sample))


@cache  # which takes milliseconds, for each of hundreds, several times
def _interval(sample: tuple[float, ...]) -> Spread:
    import numpy as np  # the programs that are measured import this file, too

    values = np.array(sample)
    drawn = np.random.default_rng(0).integers(len(values), size=(RESAMPLES, len(values)))
    low, high = np.percentile(np.median(values[drawn], axis=1), [2.5, 97.5])
    return Spread(float(low), float(np.median(values)), float(high))


def modes(sample: Sequence[float]) -> tuple[float, float, float] | None:
    """The two values that a sample gathers at, and the share of the lower one; None if there are not two.

    There are if the best split of the sorted sample has 15 % or more on either side, and the means of its
    sides are six standard deviations within the sides apart: of a normal or uniform sample, which such a
    split cuts at 2.7 or 3.5, this is not said.
    """
    values = sorted(sample)
    count = len(values)
    least = max(3, math.ceil(0.15 * count))
    if count < 10:
        return None
    total, squares = [0.0], [0.0]
    for value in values:
        total.append(total[-1] + value)
        squares.append(squares[-1] + value * value)

    def within(first: int, last: int) -> float:
        """The sum of squared distances from the mean."""
        size = last - first
        return max(0.0, squares[last] - squares[first] - (total[last] - total[first]) ** 2 / size)

    split = min(range(least, count - least + 1), key=lambda at: within(0, at) + within(at, count))
    low, high = total[split] / split, (total[count] - total[split]) / (count - split)
    deviation = math.sqrt((within(0, split) + within(split, count)) / count)
    if high - low < 6 * deviation or high - low < 0.02 * abs(low):
        return None
    return low, high, split / count


class Timed:
    """A contender whose time is that of `batch`, which is `calls` calls, between `prepare` and `drain`."""

    calls = 1

    def prepare(self) -> None:
        """What comes before a batch, and is not timed."""

    def batch(self) -> None:
        """The batch, and nothing else: this is what is timed."""
        raise NotImplementedError

    def drain(self) -> object:
        """What comes after a batch, and is not timed."""

    def __call__(self) -> float:
        self.prepare()
        start = perf_counter()
        self.batch()
        seconds = perf_counter() - start
        self.drain()
        return seconds / self.calls


def is_status_of_failure(result: object) -> bool:
    """Whether a result, or the first item of a tuple, is an int other than 0, as the statuses of C are."""
    status = result[0] if isinstance(result, tuple) and result else result
    return isinstance(status, int) and not isinstance(status, bool) and bool(status)


class Loop(Timed):
    """A Python statement, run `calls` times in a loop, the way timeit does it.

    statement: one line; the names in it that `scope` has are local variables of the loop, as in a function
    that a person would write. calls: those of a batch, or more if that would be shorter than SHORTEST.
    drain: waits until the device has nothing left to do; it is called before the batch, after a warm-up of a
    quarter as many calls, and after it. is_failure: whether what the statement yields, or `err` after it,
    means that it failed; None: nothing does.
    """

    def __init__(
        self,
        statement: str,
        scope: Mapping[str, Any],
        calls: int = CALLS,
        drain: Callable[[], object] = int,
        is_failure: Callable[[Any], bool] | None = is_status_of_failure,
    ) -> None:
        self.statement = statement
        self.is_failure = is_failure
        self.scope = dict(scope)
        self.calls = calls
        self.drain = drain  # type: ignore[method-assign]
        known = [name for name in compile(statement, "<statement>", "exec").co_names if name in scope]
        source = f"def loop({', '.join(['times', *(f'{name}={name}' for name in known)])}):\n"
        source += f"    for _ in times: {statement}"
        made: dict[str, Any] = {}
        exec(compile(source, f"<{statement}>", "exec"), self.scope, made)
        self._loop = made["loop"]
        self._try()
        while (wanted := calls_for(self(), self.calls)) > 1.1 * self.calls:
            self.calls = wanted

    def _try(self) -> None:
        """Run the statement once. RuntimeError if it fails."""
        names = dict(self.scope)
        try:
            result = eval(self.statement, names)
        except SyntaxError:  # not an expression
            exec(self.statement, names)
            result = names.get("err")
        if self.is_failure is not None and self.is_failure(result):
            raise RuntimeError(f"{self.statement} failed with {result!r}")
        self.drain()

    def prepare(self) -> None:
        self._loop(repeat(None, self.calls // 4 + 1))
        self.drain()

    def batch(self) -> None:
        self._loop(repeat(None, self.calls))


class Threads(Timed):
    """Loops that run at once, each in a thread of its own, which `enter` has made ready."""

    def __init__(self, loops: Sequence[Loop], enter: Callable[[], object]) -> None:
        self.loops = loops
        self.calls = sum(loop.calls for loop in loops)
        self.pool = ThreadPoolExecutor(len(loops), initializer=enter)
        self.together = Barrier(len(loops))
        self.prepare()

    def _each(self, run: Callable[[Loop], None]) -> None:
        def started_together(loop: Loop) -> None:
            self.together.wait()  # so that no thread takes two
            run(loop)

        list(self.pool.map(started_together, self.loops))

    def prepare(self) -> None:
        self._each(Loop.prepare)

    def batch(self) -> None:
        self._each(Loop.batch)

    def drain(self) -> None:
        for loop in self.loops:
            loop.drain()


class Program(Timed):
    """A whole process, from start to exit.

    environment: its variables; None for those of this process. folder: where it starts, here by default.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str] | None = None,
        folder: str | os.PathLike[str] | None = None,
    ) -> None:
        self.command = command
        self.folder = folder
        self.environment = dict(os.environ if environment is None else environment)
        self.batch()

    def batch(self) -> None:
        self.output()

    def output(self) -> str:
        """Run it; what it prints."""
        done = subprocess.run(
            self.command, cwd=self.folder, env=self.environment, capture_output=True, text=True
        )
        if done.returncode:
            last = (done.stderr or done.stdout).strip().splitlines()[-1:]
            raise RuntimeError(f"exit code {done.returncode}: {''.join(last)}")
        return done.stdout


@contextmanager
def undisturbed() -> Iterator[None]:
    """Without the garbage collector, which would visit one contender and not the other."""
    gc.collect()
    gc.freeze()
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
        gc.unfreeze()


class Turns:
    """Lets contenders take turns, another one first in each round, and keeps their times."""

    def __init__(self, contenders: Mapping[str, Contender]) -> None:
        self.contenders = list(contenders.items())
        self.times: dict[str, list[float]] = {name: [] for name in contenders}

    def round(self) -> None:
        """One turn for each."""
        for name, contender in self.contenders:
            self.times[name].append(contender())
        self.contenders = self.contenders[1:] + self.contenders[:1]


def interleave(contenders: Mapping[str, Contender], rounds: int) -> dict[str, list[float]]:
    """The seconds of a call in each of `rounds` rounds, for each contender; a first round is not counted."""
    turns = Turns(contenders)
    with undisturbed():
        for _ in range(rounds + 1):
            turns.round()
    return {name: times[1:] for name, times in turns.times.items()}
