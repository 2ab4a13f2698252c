"""The bookkeeping of the benchmark: what is kept of several runs, and what counts as slower."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmark import baseline
from benchmark.document import Document, merged
from benchmark.record import CUDAPY, Record

MACHINE = {"GPU": "NVIDIA H200", "CPU": "a CPU, 16 cores", "date": "2026-01-02"}


def document(ratio: float, name: str = "a row", rival: str = "C++", **machine: str) -> Document:
    """A run of one row, in which cudapy takes `ratio` times as long as its rival."""
    times = {CUDAPY: [ratio * 1e-6] * 3, rival: [1e-6] * 3}
    return Document(MACHINE | machine, [Record("launch", name, times, test="t::" + name)], {})


def saved(*ratios: float) -> baseline.Baseline:
    return baseline.of([document(ratio) for ratio in ratios])


@pytest.mark.parametrize(
    ("before", "now", "is_worse"),
    [
        ((1.20, 1.22, 1.24), (1.20, 1.22, 1.24), False),
        ((1.20, 1.22, 1.24), (1.25, 1.26, 1.26), False),  # within the margin
        ((1.20, 1.22, 1.24), (1.32, 1.34, 1.36), True),
        ((1.20, 1.38, 1.40), (1.32, 1.34, 1.36), True),  # what disturbed the baseline hides nothing
        ((1.20, 1.22, 1.24), (1.24, 1.50, 1.90), False),  # nor does it seem slower if disturbed itself
        ((1.20, 1.22, 1.24), (0.90, 0.90, 0.90), False),
    ],
)
def test_what_is_worse(before: tuple[float, ...], now: tuple[float, ...], is_worse: bool) -> None:
    assert saved(*before).worse(saved(*now)) == ({"launch: a row"} if is_worse else set())


def test_a_row_is_worse_if_it_is_so_for_all_that_it_is_compared_with() -> None:
    def run(to_cpp: float, to_ctypes: float) -> Document:
        times = {CUDAPY: [1e-6] * 3, "C++": [1e-6 / to_cpp] * 3, "plain ctypes": [1e-6 / to_ctypes] * 3}
        return Document(MACHINE, [Record("launch", "a row", times)], {})

    before = baseline.of([run(1.3, 1.1)] * 3)
    assert before.worse(baseline.of([run(1.5, 1.1)] * 3)) == set()
    assert before.worse(baseline.of([run(1.3, 1.3)] * 3)) == set()
    now = baseline.of([run(1.43, 1.21)] * 3)
    assert before.worse(now) == {"launch: a row"}
    assert "/ C++: 1.300 (to 1.300) became 1.430" in before.text(now, {"launch: a row"})


def test_what_was_not_compared_with_the_same_is_not_worse() -> None:
    by_hand = baseline.of([document(9.0, rival="plain ctypes")])
    assert saved(1.0).worse(by_hand) == set()
    other = baseline.of([document(1.0, "another row")])
    assert "not measured this time: launch: a row" in saved(1.0).text(other, ())


def test_another_machine_is_no_comparison() -> None:
    with pytest.raises(baseline.Unfit, match="another GPU: NVIDIA H200, not NVIDIA H100"):
        saved(1.0).worse(baseline.of([document(1.0, GPU="NVIDIA H100")]))


def test_save_and_load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(baseline, "FOLDER", tmp_path)
    baseline.save("first", [document(1.5), document(1.7)])
    found = baseline.load("first")
    assert dict(found.rows) == {"launch: a row": {"C++": [1.5, 1.7]}}
    baseline.save("older", [document(1.0, date="2025-01-01")])
    baseline.save("other", [document(1.0, GPU="another")])
    assert [b.machine["date"] for b in baseline.history(MACHINE)] == ["2025-01-01", "2026-01-02"]
    with pytest.raises(baseline.Unfit, match="there is no baseline 'none'; there is: first, older, other"):
        baseline.load("none")
    for name in ("../first", "", "a/b"):
        with pytest.raises(baseline.Unfit, match="is not the name of a file"):
            baseline.load(name)


def test_runs_are_joined(tmp_path: Path) -> None:
    for i, run in enumerate((document(2.0), document(4.0), document(1.0, "other"))):
        run.write(tmp_path / f"{i}.json")
    runs = [Document.read(tmp_path / f"{i}.json") for i in range(3)]
    joined = merged(runs)
    assert [(r.name, len(r.times[CUDAPY])) for r in joined.records] == [("a row", 6), ("other", 3)]
    assert joined.records[0].ratios()["C++"].median == pytest.approx(3.0)
    assert baseline.tests(runs, {"launch: other"}) == ["t::other"]
