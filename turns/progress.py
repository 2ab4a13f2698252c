"""Which row is measured, and how long the rest takes: what is shown while tests measure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from statistics import mean
from time import monotonic
from typing import Any

import pytest


class Remaining:
    """Seconds until the last of these tests is done.

    known: what a test took in an earlier process. A test that is not known takes as long as those of its
    function did in this one, else as those did that are on the GPU as it is, or are not; else as all did.
    """

    def __init__(
        self, tests: Sequence[str], known: Mapping[str, float], on_gpu: Collection[str] = ()
    ) -> None:
        self.left = list(tests)
        self.on_gpu = on_gpu
        self.known = known
        self.taken: dict[str, float] = {}

    def done(self, test: str, seconds: float) -> None:
        """Note what a test took."""
        self.left.remove(test)
        self.taken[test] = seconds

    def seconds(self) -> float | None:
        """The estimate; None as long as there is nothing to make one of."""
        if not self.taken and not self.known:
            return None
        alike: dict[str, list[float]] = defaultdict(list)
        for test, seconds in (self.taken or self.known).items():
            for kind in self._kinds(test):
                alike[kind].append(seconds)

        def expected(test: str) -> float:
            return mean(next(alike[kind] for kind in self._kinds(test) if kind in alike))

        return sum(self.known.get(test, expected(test)) for test in self.left)

    def _kinds(self, test: str) -> tuple[str, str, str]:
        """What it has in common with others, the closest first."""
        return test.partition("[")[0], "on the GPU" if test in self.on_gpu else "on the host", "all"


def text(number: int, count: int, test: str, seconds: float | None) -> str:
    """A line: "12 of 80  test_launch.py::test_graph  1 min 5 s left"."""
    left = "" if seconds is None else f"  {clock(seconds)} left"
    return f"{number:>{len(str(count))}} of {count}  {test.rpartition('/')[2]}{left}"


def clock(seconds: float) -> str:
    """Seconds as people say them: "40 s", "2 min 5 s"."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


class Progress:
    """A plugin of pytest that says each test as it starts, in place of pytest's dots."""

    def __init__(self, config: pytest.Config, known: Mapping[str, float]) -> None:
        self.config = config  # whose terminal is made after this is
        self.known = known
        self.remaining = Remaining([], known)
        self.count = 0
        self.started = 0.0
        self.clock: Callable[[], float] = monotonic

    @property
    def terminal(self) -> Any:
        """The reporter of pytest."""
        return self.config.pluginmanager.get_plugin("terminalreporter")

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        on_gpu = {item.nodeid for item in session.items if item.get_closest_marker("gpu")}
        self.remaining = Remaining([item.nodeid for item in session.items], self.known, on_gpu)
        self.count = len(session.items)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.started = self.clock()
        number = self.count - len(self.remaining.left) + 1
        line = text(number, self.count, nodeid, self.remaining.seconds())
        if self.terminal.isatty:
            self.terminal.rewrite(line, erase=True)
        else:
            self.terminal.write_line(line)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.remaining.done(nodeid, self.clock() - self.started)

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        if report.failed:
            return None
        return "skipped" if report.skipped else "passed" if report.when == "call" else "", "", ""

    def pytest_sessionfinish(self) -> None:
        if self.terminal.isatty:
            self.terminal.rewrite("", erase=True)
