"""The rows that a test measures: what the fixture `turns` is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

import pytest

from .facts import reason
from .record import Record
from .rounds import Contender, Loop, Timed, interleave
from .twin import Case

Made = TypeVar("Made")
RECORDS = pytest.StashKey[list[Record]]()
"""The rows of all tests of a run."""


def ready(
    rivals: Mapping[str, Callable[[], Made]], why: Callable[[Exception], str] = reason
) -> tuple[dict[str, Made], dict[str, str]]:
    """The rivals that can take part, and for the others why they cannot."""
    contenders: dict[str, Made] = {}
    missing: dict[str, str] = {}
    for who, make in rivals.items():
        try:
            contenders[who] = make()
        except Exception as error:
            missing[who] = why(error)
    return contenders, missing


class Rows:
    """Takes the rows of a test."""

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self.request = request
        self.quick: bool = request.config.getoption("--turns-quick")

    def rounds(self, full: int) -> int:
        """How many rounds to run, where `full` is enough for a record."""
        return max(5, full // 5) if self.quick else full

    def add(self, record: Record) -> None:
        """Put a row in the report."""
        record.test = self.request.node.nodeid
        self.request.config.stash[RECORDS].append(record)

    def __call__(
        self,
        name: str,
        subject: Mapping[str, Contender | Callable[[], object]],
        rivals: Mapping[str, Callable[[], Contender | Callable[[], object]]] | None = None,
        *,
        rounds: int = 101,
        group: str = "",
    ) -> Record:
        """Time a subject and its rivals in turns, and put the row in the report.

        subject: one function under its name, `{"mine": function}`: it is called in a loop, as timeit does,
        unless it is a `Timed`, such as a `Loop`, a `Program` or the case of a `Twin`. rivals: what makes each
        of the others; a rival whose making raises is absent, and the report says why. group: the table,
        the name of the test's file by default.
        """
        contenders, missing = ready(rivals or {})
        everyone = {who: _contender(each) for who, each in {**subject, **contenders}.items()}
        times = interleave(everyone, self.rounds(rounds))
        record = Record(group or Path(self.request.node.fspath).stem, name, times, missing=missing)
        self.add(record)
        return record


def _contender(function: Contender | Callable[[], object]) -> Contender:
    if isinstance(function, Timed | Case):
        return function
    return Loop("function()", {"function": function}, 1, is_failure=None)
