"""Fixtures, options and the report of the benchmark."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from turns.record import Record
from turns.report import Labels
from turns.rounds import Contender, Timed, Turns, undisturbed
from turns.rows import Rows, ready
from turns.twin import Twin

from . import machine
from .gpu import Gpu
from .labels import LABELS
from .measured import CUDAPY
from .twin import opened

pytest_plugins = ["turns.plugin"]

Rivals = Mapping[str, Callable[[], Contender]]
"""What makes each rival; what it raises is why that one is absent."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:  # what other packages warn of is not the subject here
        item.add_marker(pytest.mark.filterwarnings("default"))


@pytest.hookimpl(optionalhook=True)
def pytest_benchmark_update_machine_info(machine_info: dict[str, Any]) -> None:
    machine_info["cudapy"] = machine.describe()


def pytest_turns_facts() -> dict[str, str]:
    return machine.describe()


def pytest_turns_labels() -> Labels:
    return LABELS


class Race:
    """Runs cudapy as a row of pytest-benchmark, and its rivals in the same rounds."""

    def __init__(self, rows: Rows, benchmark: Any) -> None:
        self.rows = rows
        self.benchmark = benchmark

    def __call__(
        self,
        group: str,
        name: str,
        mine: Timed,
        rivals: Rivals,
        rounds: int = 101,
        baseline: str | None = None,
    ) -> None:
        """Time `mine` and its rivals in turns, `rounds` times; one of the rivals may be the `baseline`."""
        contenders, missing = ready(rivals, machine.reason)
        benchmark = self.benchmark
        benchmark.group = group
        benchmark.name = name
        turns = Turns(contenders)

        def setup() -> None:
            turns.round()
            mine.prepare()

        with undisturbed():
            benchmark.pedantic(mine.batch, setup=setup, rounds=self.rows.rounds(rounds), warmup_rounds=1)
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
        self.rows.add(record)


@pytest.fixture
def race(turns: Rows, benchmark: Any) -> Race:
    """What runs a comparison, a benchmark of pytest-benchmark."""
    return Race(turns, benchmark)


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
            running.append(opened("launch.cpp", str(gpu.cubin_file)))
        return running[0].contender(case, calls)

    return contender
