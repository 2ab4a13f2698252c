"""The model of latency and bandwidth: what it fits, says and refuses."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from benchmark import scaling
from benchmark.scaling import Point

from . import warm

ALPHA, BETA = 5e-6, 1 / 300e9
SIZES = 8, 1 << 16, 1 << 24, 1 << 30


def by_hand(model: str, ranks: int, size: int) -> float:
    """In a ring every rank sends N - 1 parts twice, in a tree of log N levels all of it, up and down."""
    if model == "ring":
        return sum(ALPHA + BETA * size / ranks for _ in range(2 * (ranks - 1)))
    levels = 0
    while 1 << levels < ranks:
        levels += 1
    return 2 * levels * ALPHA + (2 * size * BETA if levels else 0)


@pytest.mark.parametrize("model", ["ring", "tree"])
@pytest.mark.parametrize("ranks", [(2,), (2, 4, 8)])
def test_points_of_a_model_give_its_latency_and_bandwidth(model: str, ranks: tuple[int, ...]) -> None:
    points = [Point(n, size, by_hand(model, n, size)) for n in ranks for size in SIZES]
    fit = scaling.fitted(model, points)
    assert (fit.alpha, fit.beta) == (pytest.approx(ALPHA), pytest.approx(BETA))
    assert fit.error < 1e-9
    for n in (1, 2, 3, 16):
        assert fit.seconds(n, 1 << 20) == pytest.approx(by_hand(model, n, 1 << 20), abs=1e-18)


def test_the_wrong_model_is_further_off() -> None:
    points = [Point(n, size, by_hand("ring", n, size)) for n in (2, 8) for size in SIZES]
    assert scaling.fitted("tree", points).error > 0.1


def test_neither_is_negative() -> None:
    """Times that fall with the size: no bandwidth explains them."""
    fit = scaling.fitted("ring", [Point(2, 8, 3e-6), Point(2, 1 << 20, 1e-6)])
    assert fit.alpha > 0 and fit.beta == 0


def test_the_report_says_what_cannot_be_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "points.csv"
    lines = [f"2,{size},{by_hand('ring', 2, size)!r}" for size in SIZES]
    file.write_text("\n".join(["ranks,bytes,seconds", *lines]) + "\n")
    assert scaling.main(["fit", str(file)]) == 0
    text = capsys.readouterr().out
    assert "ring          5.00            300.0            0%" in text
    assert "they do not tell a ring from a tree" in text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the first line must be ranks,bytes,seconds"),
        ("ranks,bytes,seconds\n2,8\n", "line 2: '2,8' is no point"),
        ("ranks,bytes,seconds\n2,8,nan\n", "line 2: '2,8,nan' is no point"),
        ("ranks,bytes,seconds\n2,8,1e-6\n", "points of two sizes at least"),
        ("ranks,bytes,seconds\n1,8,1e-6\n1,64,1e-6\n", "two ranks or more"),
    ],
)
def test_what_is_refused(text: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "points.csv"
    file.write_text(text)
    assert scaling.main(["fit", str(file)]) == 1
    assert words in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="NCCL is for Linux")
def test_measuring_adds_points(tmp_path: Path) -> None:
    """On the simulator, by default, small ones."""
    file = tmp_path / "points.csv"
    code = f"""
from benchmark import scaling
scaling.main(["measure", {str(file)!r}, "--largest", "64", "--repeats", "1"])
scaling.main(["measure", {str(file)!r}])
"""
    done = warm.run(["-c", code], env={**os.environ, "CUDAPY_DRIVER": "simulator"}, ends_at_once=True)
    assert done.returncode == 0, done.stderr
    assert "no times of a GPU" in done.stdout
    assert [point[:2] for point in scaling.read(file)] == [
        (1, size) for size in (8, 64, 8, 64, 512, 4096, 32768)
    ]


@pytest.mark.parametrize("given", [["--repeats", "0"], ["--largest", "0"]])
def test_what_cannot_be_measured(given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        scaling.main(["measure", "points.csv", *given])
    assert "--repeats must be 1 or more, --largest 8 or more" in capsys.readouterr().err


def test_the_times_of_the_samples_are_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    """Work that is shared is done in half the time at best, work for each rank in the same time."""

    def run(name: str, ranks: int) -> tuple[float | None, str]:
        return (8.0 / ranks, "") if scaling.SHARED[name] else (5.0, "")

    assert scaling.times([1, 2, 4], run) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "| sample | 1 GPU | 2 GPUs | 4 GPUs | 1 : 2 | 1 : 4 | ideal |"
    assert lines[1] == "|---|---|---|---|---|---|---|"
    assert "| saxpy_ranks | 5.00 ms | 5.00 ms | 5.00 ms | 1.00 | 1.00 | 1, 1 |" in lines
    assert "| train_ranks | 8.00 ms | 4.00 ms | 2.00 ms | 2.00 | 4.00 | 2, 4 |" in lines
    assert len(lines) == 2 + len(scaling.SHARED)


def test_a_sample_without_a_time_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    def run(name: str, ranks: int) -> tuple[float | None, str]:
        return (None, "FAIL\n") if name == "sort_ranks" and ranks == 2 else (5.0, "PASS\n")

    assert scaling.times([1, 2], run) == 1
    captured = capsys.readouterr()
    assert "| sort_ranks | 5.00 ms |  |  | 1 |" in captured.out
    assert captured.err == "sort_ranks with 2 rank(s) printed no time:\nFAIL\n"


@pytest.mark.thorough
@pytest.mark.usefixtures("nvrtc")
def test_the_simulator_gives_no_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """And the samples are where they are looked for."""
    monkeypatch.setenv("CUDAPY_DRIVER", "simulator")
    for name in scaling.SHARED:
        time, text = scaling.in_ranks(name, 1)
        assert time is None
        assert text.endswith("PASS\n")
