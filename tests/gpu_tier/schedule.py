"""Runs tests, each in a process of its own, side by side as far as there are cores; ends those that hang."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from .figures import FAILED, Figure
from .plan import Task

REPOSITORY = Path(__file__).parents[2]
GRACE = 5.0  # seconds between the stacks of a hung test and its end
TICK = 0.05


@dataclass
class Outcome:
    """What came of a test. log: what it wrote to stdout and stderr, which matters if it failed."""

    test: Task
    seconds: float = 0.0
    figures: list[Figure] = field(default_factory=list)
    log: str = ""


class Running:
    """The process of a test."""

    def __init__(self, test: Task, folder: Path, size: str, workers: int) -> None:
        self.test = test
        self.results, self.log = folder / f"{test.name}.jsonl", folder / f"{test.name}.log"
        self.results.touch()
        command = [sys.executable, "-W", "ignore::DeprecationWarning", "-m", f"{__package__}.one", test.name]
        command += [test.function, str(self.results), str(test.limit), size, str(workers)]
        command += [str(number) for number in test.share]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                command,
                cwd=REPOSITORY,
                env={**os.environ, "CUDAPY_CACHE": "0"},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.began = time.monotonic()

    def overdue(self) -> bool:
        """Whether it has had its time, and some more to say what it is doing."""
        return time.monotonic() - self.began > self.test.limit + GRACE

    def end(self) -> None:
        """Kill it and what it has started."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def outcome(self, why: str = "") -> Outcome:
        """What it found; `why` it did not end by itself."""
        self.end()  # what it started and left behind
        lines = self.results.read_text(encoding="utf-8").splitlines()
        figures = [Figure(**json.loads(line)) for line in lines]
        code = self.process.returncode
        if why:
            figures.append(Figure(self.test.name, f"ends within {self.test.limit:.0f} s", "", FAILED, why))
        elif code < 0 or (code and not any(figure.verdict == FAILED for figure in figures)):
            died = f"died of {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
            figures.append(Figure(self.test.name, "exit code 0", died, FAILED, "see its log"))
        elif not figures:
            figures.append(Figure(self.test.name, "figures", "none", FAILED, "it found nothing out"))
        log = self.log.read_text(encoding="utf-8", errors="replace")
        return Outcome(self.test, time.monotonic() - self.began, figures, log)


def run(
    tests: Sequence[Task],
    folder: Path,
    *,
    size: str,
    cores: int,
    seconds: float,
    ended: Callable[[Outcome], None] = lambda outcome: None,
) -> list[Outcome]:
    """The outcomes of tests, in their order.

    Those that are to be alone run at the end, one after the other. After `seconds` what still runs is killed
    and what has not begun fails. ended: called whenever one ends.
    """
    began = time.monotonic()
    waiting = sorted(tests, key=lambda test: test.alone)
    running: list[Running] = []
    outcomes: dict[str, Outcome] = {}

    def keep(outcome: Outcome) -> None:
        outcomes[outcome.test.name] = outcome
        ended(outcome)

    try:
        while waiting or running:
            late = time.monotonic() - began > seconds
            for one in list(running):
                if one.process.poll() is not None:
                    running.remove(one)
                    keep(one.outcome())
                elif one.overdue() or late:
                    running.remove(one)
                    why = f"no time was left of {seconds:.0f} s" if late else "it hung: see its log for where"
                    keep(one.outcome(why))
            while waiting and not late:
                test, busy = waiting[0], sum(min(one.test.cores, cores) for one in running)
                if running and (test.alone or running[0].test.alone or busy + min(test.cores, cores) > cores):
                    break
                running.append(Running(waiting.pop(0), folder, size, min(test.cores, cores)))
            if late:
                for test in waiting:
                    why = f"it was not begun: no time was left of {seconds:.0f} s"
                    keep(Outcome(test, 0.0, [Figure(test.name, "", "", FAILED, why)]))
                waiting.clear()
            time.sleep(TICK)
    finally:
        for one in running:
            one.end()
    return [outcomes[test.name] for test in tests]
