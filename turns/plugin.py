"""The pytest plugin: the fixture `turns`, options, and the report at the end."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from . import report
from .document import Document
from .facts import facts
from .progress import Progress
from .rows import RECORDS, Rows
from .sides import MEASURED

PROGRESS = pytest.StashKey[Progress]()


class Hooks:
    """What other plugins and conftest.py may add."""

    @pytest.hookspec(firstresult=True)
    def pytest_turns_facts(self, config: pytest.Config) -> dict[str, str] | None:
        """What figures are read on, in the order of the report: the machine, versions, `commit`."""

    @pytest.hookspec(firstresult=True)
    def pytest_turns_labels(self, config: pytest.Config) -> report.Labels | None:
        """The order of the tables and of the columns of the report."""


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.add_hookspecs(Hooks)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("turns", "measurements in turns")
    group.addoption("--turns-quick", action="store_true", help="a fifth of the rounds, for a quick look")
    group.addoption(
        "--turns-raw", type=Path, metavar="PATH", help="write what was found there; print no report"
    )
    group.addoption(
        "--turns-progress",
        action="store_true",
        help="say each test and the time left, by what --turns-expect, a file of --turns-raw, has of it",
    )
    group.addoption("--turns-expect", type=Path, metavar="PATH")
    group.addoption(
        "--turns-only", action="append", default=[], metavar="TEST", help="run this test; may be repeated"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "gate: of the rows that matter most, which `--gate` measures alone")
    config.stash[RECORDS] = []
    earlier = config.getoption("--turns-expect")
    config.stash[PROGRESS] = Progress(config, Document.read(earlier).seconds if earlier else {})
    if config.getoption("--turns-progress"):
        config.pluginmanager.register(config.stash[PROGRESS], "turns-progress")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if only := config.getoption("--turns-only"):
        items[:] = [item for item in items if item.nodeid in only]


@pytest.hookimpl(trylast=True)
def pytest_turns_facts(config: pytest.Config) -> dict[str, str]:
    return facts(Path(os.environ.get(MEASURED) or config.rootpath))


@pytest.hookimpl(trylast=True)
def pytest_turns_labels() -> report.Labels:
    return report.Labels()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    records = config.stash[RECORDS]
    skipped = {
        item.nodeid.rpartition("/")[2]: str(item.longrepr[2]).removeprefix("Skipped: ")
        for item in terminalreporter.stats.get("skipped", [])
    }
    if not records and not skipped:
        return
    read_on = config.hook.pytest_turns_facts(config=config)
    if path := config.getoption("--turns-raw"):
        Document(read_on, records, skipped, config.stash[PROGRESS].remaining.taken).write(path)
    elif records:
        labels = config.hook.pytest_turns_labels(config=config)
        terminalreporter.section("measured in turns")
        terminalreporter.write_line(report.text(read_on, records, skipped, labels))


@pytest.fixture
def turns(request: pytest.FixtureRequest) -> Rows:
    """Times contenders in turns: `turns("name", {"mine": function}, {"theirs": lambda: other})`."""
    return Rows(request)
