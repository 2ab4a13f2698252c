"""The pytest plugin: the fixture `turns`, options, and the report at the end."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from . import report
from .document import Document
from .facts import facts
from .progress import Progress
from .rows import RECORDS, Rows
from .sides import MEASURED

PROGRESS = pytest.StashKey[Progress]()
FACTS = pytest.StashKey[dict[str, str]]()


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
        "--turns-so-far", type=Path, metavar="PATH", help="write there after each test what was found by then"
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
    if path := config.getoption("--turns-so-far"):
        config.pluginmanager.register(SoFar(config, path), "turns-so-far")


class SoFar:
    """A plugin of pytest that writes what was found by the end of each test: no row is lost with a run."""

    def __init__(self, config: pytest.Config, path: Path) -> None:
        self.config, self.path = config, path
        self.rows: list[str] = []

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logfinish(self) -> None:
        new = self.config.stash[RECORDS][len(self.rows) :]
        if new:
            self.rows += [json.dumps(record.as_json()) for record in new]
            found(self.config).write_at_once(self.path, self.rows)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if only := config.getoption("--turns-only"):
        items[:] = [item for item in items if item.nodeid in only]


@pytest.hookimpl(trylast=True)
def pytest_turns_facts(config: pytest.Config) -> dict[str, str]:
    return facts(Path(os.environ.get(MEASURED) or config.rootpath))


@pytest.hookimpl(trylast=True)
def pytest_turns_labels() -> report.Labels:
    return report.Labels()


def found(config: pytest.Config) -> Document:
    """What the tests that have run have found."""
    terminal: Any = config.pluginmanager.get_plugin("terminalreporter")
    skipped = {
        item.nodeid.rpartition("/")[2]: str(item.longrepr[2]).removeprefix("Skipped: ")
        for item in terminal.stats.get("skipped", [])
    }
    if FACTS not in config.stash:
        config.stash[FACTS] = config.hook.pytest_turns_facts(config=config)
    read_on, records = config.stash[FACTS], config.stash[RECORDS]
    return Document(read_on, records, skipped, config.stash[PROGRESS].remaining.taken)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    whole = found(config)
    if not whole.records and not whole.skipped:
        return
    if path := config.getoption("--turns-raw"):
        whole.write(path)
    elif whole.records:
        labels = config.hook.pytest_turns_labels(config=config)
        terminalreporter.section("measured in turns")
        terminalreporter.write_line(report.text(whole.machine, whole.records, whole.skipped, labels))


@pytest.fixture
def turns(request: pytest.FixtureRequest) -> Rows:
    """Times contenders in turns: `turns("name", {"mine": function}, {"theirs": lambda: other})`."""
    return Rows(request)
