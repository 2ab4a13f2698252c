"""Fixtures, options and the report of the benchmark."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import pytest

from . import machine, report
from .document import Document
from .gpu import Gpu
from .progress import Progress
from .record import CUDAPY, Record
from .timing import Contender, Timed, Turns, undisturbed
from .twin import Twin

Rivals = Mapping[str, Callable[[], Contender]]
"""What makes each rival; what it raises is why that one is absent."""

RECORDS = pytest.StashKey[list[Record]]()
PROGRESS = pytest.StashKey[Progress]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("cudapy's benchmark")
    group.addoption("--quick", action="store_true", help="a fifth of the rounds, for a quick look")
    group.addoption("--raw", type=Path, metavar="PATH", help="write what was found there; print no report")
    group.addoption(
        "--progress",
        action="store_true",
        help="say each test and the time that is left, by what --expect, an earlier file of --raw, has of it",
    )
    group.addoption("--expect", type=Path, metavar="PATH")
    group.addoption(
        "--only", action="append", default=[], metavar="TEST", help="run this test; may be repeated"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.stash[RECORDS] = []
    earlier = config.getoption("--expect")
    config.stash[PROGRESS] = Progress(config, Document.read(earlier).seconds if earlier else {})
    if config.getoption("--progress"):
        config.pluginmanager.register(config.stash[PROGRESS], "cudapy-progress")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if only := config.getoption("--only"):
        items[:] = [item for item in items if item.nodeid in only]
    for item in items:  # what other packages warn of is not the subject here
        item.add_marker(pytest.mark.filterwarnings("default"))


@pytest.hookimpl(optionalhook=True)
def pytest_benchmark_update_machine_info(machine_info: dict[str, Any]) -> None:
    machine_info["cudapy"] = machine.describe()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    records = config.stash[RECORDS]
    skipped = {
        item.nodeid.rpartition("/")[2]: str(item.longrepr[2]).removeprefix("Skipped: ")
        for item in terminalreporter.stats.get("skipped", [])
    }
    if not records and not skipped:
        return
    facts = machine.describe()
    if path := config.getoption("--raw"):
        Document(facts, records, skipped, config.stash[PROGRESS].remaining.taken).write(path)
    else:
        terminalreporter.section("cudapy's benchmark")
        terminalreporter.write_line(report.text(facts, records, skipped))


Made = TypeVar("Made")


def ready(rivals: Mapping[str, Callable[[], Made]]) -> tuple[dict[str, Made], dict[str, str]]:
    """The rivals that can take part, and for the others why they cannot."""
    contenders: dict[str, Made] = {}
    missing: dict[str, str] = {}
    for who, make in rivals.items():
        try:
            contenders[who] = make()
        except Exception as error:
            missing[who] = machine.reason(error)
    return contenders, missing


class Rows:
    """Takes the rows of a test."""

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self.request = request
        self.quick: bool = request.config.getoption("--quick")

    def rounds(self, full: int) -> int:
        """How many rounds to run, where `full` is enough for a record."""
        return max(5, full // 5) if self.quick else full

    def add(self, record: Record) -> None:
        """Put a line in the report."""
        record.test = self.request.node.nodeid
        self.request.config.stash[RECORDS].append(record)


class Race(Rows):
    """Runs cudapy as a row of pytest-benchmark, and its rivals in the same rounds."""

    def __init__(self, request: pytest.FixtureRequest, benchmark: Any) -> None:
        super().__init__(request)
        self.benchmark = benchmark

    def __call__(
        self,
        group: str,
        name: str,
        mine: Timed,
        rivals: Rivals,
        rounds: int = 201,
        baseline: str | None = None,
    ) -> None:
        """Time `mine` and its rivals in turns, `rounds` times; one of the rivals may be the `baseline`."""
        contenders, missing = ready(rivals)
        benchmark = self.benchmark
        benchmark.group = group
        benchmark.name = name
        turns = Turns(contenders)

        def setup() -> None:
            turns.round()
            mine.prepare()

        with undisturbed():
            benchmark.pedantic(mine.batch, setup=setup, rounds=self.rounds(rounds), warmup_rounds=1)
        mine.drain()
        if benchmark.disabled:
            return
        sample = benchmark.stats.stats.data
        sample[:] = times_a_call = [seconds / mine.calls for seconds in sample]  # not those of a batch
        times = {CUDAPY: list(times_a_call)}
        times |= {who: seconds[1:] for who, seconds in turns.times.items()}
        record = Record(group, name, times, baseline=baseline, missing=missing)
        benchmark.extra_info["calls"] = mine.calls
        benchmark.extra_info["ratios"] = {who: ratio.median for who, ratio in record.ratios().items()}
        self.add(record)


@pytest.fixture
def race(request: pytest.FixtureRequest, benchmark: Any) -> Race:
    """What runs a comparison, a benchmark of pytest-benchmark."""
    return Race(request, benchmark)


@pytest.fixture
def rows(request: pytest.FixtureRequest) -> Rows:
    """What takes rows that pytest-benchmark does not time: of other processes, or of the device."""
    return Rows(request)


@pytest.fixture(scope="session")
def gpu() -> Gpu:
    """The GPU, or a skip that says why there is none."""
    try:
        return Gpu()
    except RuntimeError as error:
        pytest.skip(f"no GPU: {machine.reason(error)}")


@pytest.fixture(scope="session")
def twin(gpu: Gpu) -> Callable[[str, int], Contender]:
    """What makes a C++ contender: `twin(case, calls)`; it raises why there is none."""
    running: list[Twin] = []

    def contender(case: str, calls: int) -> Contender:
        if not running:
            running.append(Twin("launch.cpp", str(gpu.cubin_file)))
        return running[0].contender(case, calls)

    return contender
