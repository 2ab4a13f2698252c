"""Many orders of a program's threads, in search of one that changes what it does.

A program without races does the same in each order. `explore` runs one in several schedules (see
`engine.schedule`), compares its results and what was found in its kernels with those of a plain run, and
takes delays away from the first schedule that differs while it still does.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import device_reset, found
from .devices.context import Context
from .engine import POLICIES, Delay, Schedule, settings
from .engine import schedule as engine_schedule
from .handles import every
from .options import RECORD, SCHEDULE_LOG, variable
from .refused import Refused
from .streams.faults import Faults

_MOST_TRIES = 40
"""Runs that are spent on taking delays away."""

Run = Callable[["Schedule | None"], "tuple[Any, dict[Delay, str]]"]
"""Runs the program: what it did, to be compared, and the delays that there were."""


@dataclass(frozen=True)
class Exploration:
    """What `explore` came to."""

    runs: int
    """How often the program ran, without those that took delays away."""
    schedule: str | None = None
    """The first schedule in which the program does something else, with as few delays as were found; None: in
    all of them it does the same.
    """
    expected: Any = None
    """What it does without a schedule, and in that one: its result, or the exception, and its findings."""
    observed: Any = None
    delays: dict[str, str] = field(default_factory=dict)
    """Which warp waits, and before which line of the source it does."""

    def __str__(self) -> str:
        if self.schedule is None:
            return f"the same in each of {self.runs} runs"
        lines = [f"the order of threads decides: the schedule {self.schedule!r} makes a difference"]
        one, other = (getattr(each, "value", None) for each in (self.observed, self.expected))
        if isinstance(one, np.ndarray) and isinstance(other, np.ndarray) and _are_alike(one, other):
            places = np.argwhere(_bits(one) != _bits(other))
            if len(places):
                first = tuple(map(int, places[0]))
                what = f"    {len(places)} of {one.size} elements differ"
                lines.append(f"{what}, the first at {list(first)}: {one[first]}, not {other[first]}")
            lines += [f"    {text}" for text in self.observed.findings if text not in self.expected.findings]
        else:
            lines += ["with it", _shown(self.observed), "without it", _shown(self.expected)]
        policy = self.schedule.partition("+")[0].partition(":")[0]
        lines.append(f"one warp ran at a time, {_ORDERS[policy]}")
        lines += [f"    {warp} waited before {line}" for warp, line in self.delays.items()]
        return "\n".join(lines)


def _are_alike(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> bool:
    return (one.dtype, one.shape) == (other.dtype, other.shape)


def _bits(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Its elements, to be compared by their bits."""
    return np.ascontiguousarray(array).view(f"V{array.itemsize}").reshape(array.shape)


_ORDERS = {
    "first": "the first that can run",
    "last": "the last that can run",
    "turns": "by turns",
    "random": "with delays at random",
}


def explore(program: Callable[[], Any], seeds: int | Iterable[int] = 16) -> Exploration:
    """See `simulator.explore`."""
    before, mode, prints = found.all_of_them(), found.mode(), found.prints()
    wanted, reports = settings.current.schedule, Faults.prints

    def run(schedule: Schedule | None) -> tuple[Any, dict[Delay, str]]:
        found.forget()
        engine_schedule.begin_again()
        settings.current.schedule = schedule
        try:
            result: Any = program()
            _finish()
        except Exception as error:
            result = error
        told = {found.report_of(one).splitlines()[0] for one in found.all_of_them()}
        if device_reset.has_fault():
            device_reset.reset()
        return Outcome(result, sorted(map(_without_addresses, told))), engine_schedule.delays()

    found.set_mode(RECORD)
    found.set_prints(False)
    Faults.prints = False
    try:
        return _explored(run, schedules(seeds))
    finally:
        settings.current.schedule = wanted
        found.set_mode(mode)
        found.set_prints(prints)
        Faults.prints = reports
        found.forget()
        found.add(tuple(before))


def _finish() -> None:
    """Wait for what the program has launched. Raises RuntimeError for a fault that it has not heard of."""
    for context in every(Context):
        try:
            context.finish()
        except Refused as refused:
            raise RuntimeError(f"{refused.status}: {refused.reason.partition(chr(10))[0]}") from None


def _without_addresses(text: str) -> str:
    """A report, to be compared with that of another run."""
    return re.sub(r"\b0x[0-9a-f]+", "0x...", text)


@dataclass
class Outcome:
    """What a function returned or raised, and the first lines of what was found in its kernels."""

    value: Any
    findings: list[str]

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Outcome) and self.findings == other.findings and _same(self.value, other.value)
        )

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        value = (
            f"{type(self.value).__name__}: {self.value}"
            if isinstance(self.value, Exception)
            else repr(self.value)
        )
        return "\n".join([value, *self.findings])


def _same(one: Any, other: Any) -> bool:
    """Whether two results are equal: arrays by their bits, sequences and dicts by their items."""
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        one, other = np.asarray(one), np.asarray(other)
        return _are_alike(one, other) and one.tobytes() == other.tobytes()
    if isinstance(one, Exception):
        return type(one) is type(other) and _without_addresses(str(one)) == _without_addresses(str(other))
    if isinstance(one, (tuple, list)) and type(one) is type(other):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    return bool(one == other)


def schedules(seeds: int | Iterable[int]) -> list[Schedule]:
    """Each policy without delays, and random ones: so many in all, or of these seeds. Raises ValueError."""
    plain = [Schedule(policy) for policy in POLICIES]
    if isinstance(seeds, int):
        if seeds < 1:
            raise ValueError(f"explore takes a number of schedules from 1 on, not {seeds}")
        return (plain + [Schedule.random(seed) for seed in range(seeds)])[:seeds]
    return [*plain, *map(Schedule.random, seeds)]


def _explored(run: Run, wanted: list[Schedule]) -> Exploration:
    expected, _ = run(None)
    for i, schedule in enumerate(wanted):
        observed, delays = run(schedule)
        if observed == expected:
            continue
        if delays:
            fewest, observed, delays = _with_fewest(run, schedule, delays, expected, observed)
        else:
            fewest = schedule
        shown = {f"warp {one.warp} of {one.kernel}#{one.launch}": line for one, line in delays.items()}
        return Exploration(i + 2, str(fewest), expected, observed, shown)
    return Exploration(len(wanted) + 1, expected=expected)


def _with_fewest(
    run: Run, schedule: Schedule, delays: dict[Delay, str], expected: Any, observed: Any
) -> tuple[Schedule, Any, dict[Delay, str]]:
    """The schedule with as few of its delays as still differ, what it gives, and these delays."""
    kept, shown, tries = sorted(delays), schedule, 0
    size = len(kept)
    while size and tries < _MOST_TRIES:
        start = 0
        while start < len(kept) and tries < _MOST_TRIES:
            fewer = kept[:start] + kept[start + size :]
            tries += 1
            outcome, _ = run(schedule.with_delays(fewer))
            if outcome == expected:
                start += size
            else:
                kept, shown, observed = fewer, schedule.with_delays(fewer), outcome
        size = min(size // 2, len(kept))
    return shown, observed, {one: delays[one] for one in kept}


def _shown(outcome: object) -> str:
    return "\n".join(f"    {line}" for line in str(outcome).splitlines())


# -- Programs ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Ending:
    """How a process ended, what it printed, and the first lines of what was found."""

    code: int
    printed: str
    findings: tuple[str, ...]

    def __str__(self) -> str:
        lines = self.printed.splitlines()
        more = [] if len(lines) <= _LINES else [f"... {len(lines) - _LINES} more lines"]
        return "\n".join([f"exit code {self.code}", *lines[:_LINES], *more, *self.findings])


_LINES = 10


def explore_command(arguments: list[str], count: int, *, say: Callable[[str], object]) -> bool:
    """Run `python -m cudapy.simulator ARGUMENTS` in several schedules, each in a process of its own.

    What the plain run prints is printed. Returns whether a schedule was found in which the program does
    something else, which `say` gets.
    """
    with tempfile.TemporaryDirectory(prefix="cudapy-") as folder:

        def run(schedule: Schedule | None) -> tuple[Any, dict[Delay, str]]:
            findings, log = (os.path.join(folder, name) for name in ("findings", "log"))
            for path in (findings, log):
                if os.path.exists(path):
                    os.remove(path)
            environment = {**os.environ, SCHEDULE_LOG: log}
            environment.pop(variable("schedule"), None)
            command = [sys.executable, "-m", __package__, "--json", findings, "--error-exitcode", "0"]
            if schedule is not None:
                environment[variable("schedule")] = str(schedule)
            done = subprocess.run(
                [*command, *arguments],
                env=environment,
                stdout=subprocess.PIPE,
                check=False,
                stderr=None if schedule is None else subprocess.DEVNULL,
            )
            printed = done.stdout.decode(errors="replace")
            if schedule is None:
                print(printed, end="", flush=True)
            told = tuple(sorted({_without_addresses(one["message"]) for one in _read(findings, [])}))
            delays = {Delay.parse(text): line for text, line in _read(log, {}).items()}
            return _Ending(done.returncode, printed, told), delays

        explored = _explored(run, schedules(count))
    say(str(explored))
    if explored.schedule is not None:
        command = ["python", "-m", str(__package__), "--schedule", explored.schedule, *arguments]
        say(f"to see it again: {shlex.join(command)}")
    return explored.schedule is not None


def _read(path: str, otherwise: Any) -> Any:
    try:
        with open(path) as file:
            return json.load(file)
    except FileNotFoundError:  # the process did not come to its end
        return otherwise
