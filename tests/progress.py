"""What runs, where tests run side by side: a line for each file that is done, in place of dots.

    tests/test_errors.py                       45 passed             1.2 s  [ 35%]

On a terminal the last line names the tests that are running. A test that fails is named at once.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from typing import Any

import pytest


class Progress:
    """Writes through pytest's terminal reporter."""

    def __init__(self, reporter: Any) -> None:
        self._write = reporter.write_line
        self._rewrite = reporter.rewrite if reporter.isatty else None
        self._width: int = reporter._tw.fullwidth - 1
        self._left: Counter[str] = Counter()  # tests of each file that have not ended
        self._results: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._seconds: Counter[str] = Counter()  # of each file's tests, whichever worker ran them
        self._running: dict[str, float] = {}
        self._total = self._ended = 0

    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        if not self._total:  # every worker collects the same tests
            self._total = len(ids)
            self._left.update(map(_file, ids))

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """The outcomes that pytest counts, without the letters that it prints."""
        if hasattr(report, "wasxfail") or (report.passed and report.when != "call"):
            return None
        category = "error" if report.failed and report.when != "call" else report.outcome
        return category, "", category.upper()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._running[nodeid] = time.monotonic()
        self._show()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        file = _file(report.nodeid)
        self._seconds[file] += report.duration  # type: ignore[assignment]
        if report.when == "call" or report.outcome != "passed":
            self._results[file][report.outcome] += 1
        if report.failed:
            self._line(f"FAILED {report.nodeid}")

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self._running.pop(nodeid, None)
        self._ended += 1
        file = _file(nodeid)
        self._left[file] -= 1
        if not self._left[file]:
            results = ", ".join(f"{count} {name}" for name, count in sorted(self._results[file].items()))
            done = 100 * self._ended // max(self._total, 1)
            self._line(f"{file:50} {results:28} {self._seconds[file]:6.1f} s  [{done:3}%]")

    def _line(self, text: str) -> None:
        if self._rewrite is not None:
            self._rewrite("", erase=True)
        self._write(text)
        self._show()

    def _show(self) -> None:
        if self._rewrite is not None:
            longest = sorted(self._running, key=self._running.__getitem__)
            text = f"{self._ended}/{self._total}  " + "  ".join(map(_short, longest))
            self._rewrite(text[: self._width], erase=True)


def _file(nodeid: str) -> str:
    return nodeid.partition("::")[0]


def _short(nodeid: str) -> str:
    return nodeid.removeprefix("tests/")
