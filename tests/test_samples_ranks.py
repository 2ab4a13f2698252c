"""The samples that run over ranks, with several simulated ranks, a process for each."""

from __future__ import annotations

import importlib.util
import os
import re
from pathlib import Path

import pytest

from samples.__main__ import Sample, samples

from . import warm

OVER_RANKS = [sample for sample in samples() if sample.name.endswith("_ranks")]

SMALL = {
    "saxpy_ranks": ["--elements", "20000"],
    "sort_ranks": ["--keys", "200"],
    "train_ranks": ["--batch", "100"],
    "wave_ranks": ["--steps", "4"],
    "matrix_mul_ranks": ["--size", "128"],
}
TIME = re.compile(r"the slowest of (\d+) took \d+\.\d{3} ms")
FORKS = """
import argparse, importlib.util, os, runpy, sys
import cudapy.nccl
from cudapy import simulator
from cudapy.core import Communicator, Program
if sys.argv[1] == "gpu":
    simulator.stand_in = lambda: False  # the sample takes the device for a GPU
size, path = int(sys.argv[2]), sys.argv[3]
sys.argv = sys.argv[3:]
ranks = []
for rank in range(size):
    pid = os.fork()
    if not pid:
        os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(size))
        runpy.run_path(path, run_name="__main__")  # ends with sys.exit
    ranks.append(pid)
sys.exit(max(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) % 256 for pid in ranks))
"""
"""As `python -m cudapy ranks` does, in forks of a process that has imported all: a rank starts at once."""


def over(sample: Sample, ranks: int, cache: Path, *arguments: str, on: str = "simulator") -> str:
    """What a sample prints that is right over so many ranks. They meet at a port of their own.

    on: "gpu" lets it think that the device is a GPU, where it warms up, measures, and prints times.
    """
    environment = {
        **os.environ,
        "CUDAPY_DRIVER": "simulator",
        "OPENBLAS_NUM_THREADS": "1",
        "CUDAPY_CACHE": "1",  # one of them compiles
        "CUDAPY_CACHE_DIR": str(cache),
        "CUDAPY_SIMULATOR_COLLECTIVE_TIMEOUT": "60",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(warm.free_port()),
    }
    done = warm.run(
        ["-c", FORKS, on, str(ranks), str(sample.path), *arguments], env=environment, ends_at_once=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_there_are_some() -> None:
    names = {"saxpy_ranks", "train_ranks", "wave_ranks", "matrix_mul_ranks", "sort_ranks"}
    assert {sample.name for sample in OVER_RANKS} == names


@pytest.mark.thorough
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.usefixtures("nvrtc")
@pytest.mark.parametrize("sample", OVER_RANKS, ids=lambda sample: sample.name)
def test_with_several_ranks_the_result_is_right(sample: Sample, tmp_path: Path) -> None:
    """And they draw a chart, where there is Matplotlib."""
    chart = tmp_path / "chart.png"
    draws = ["--save", str(chart)] if importlib.util.find_spec("matplotlib") else []
    for ranks in (2, 4, 8):
        text = over(
            sample, ranks, tmp_path / "cache", *SMALL.get(sample.name, []), *(draws if ranks == 2 else [])
        )
        assert f"{ranks} rank(s)" in text
        assert text.endswith("PASS\n")
        assert "took" not in text  # no time of the simulator's
    if draws:
        assert chart.read_bytes().startswith(b"\x89PNG\r\n")


GPU = {
    **SMALL,
    "wave_ranks": ["--width", "9", "--planes", "60", "--steps", "1"],
    "saxpy_ranks": ["--elements", "999"],
}


@pytest.mark.thorough
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.usefixtures("nvrtc")
@pytest.mark.parametrize("sample", OVER_RANKS, ids=lambda sample: sample.name)
def test_on_a_gpu_it_warms_up_and_prints_the_time_of_the_slowest_rank(sample: Sample, tmp_path: Path) -> None:
    """The wave is checked on the part of space that it can have reached."""
    text = over(sample, 2, tmp_path / "cache", *GPU[sample.name], on="gpu")
    assert TIME.findall(text) == (["1", "2"] if sample.name == "saxpy_ranks" else ["2"])
    assert text.endswith("PASS\n")


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("saxpy_ranks", ["--elements", "0"]),
        ("sort_ranks", ["--keys", "0"]),
        ("train_ranks", ["--batch", "0"]),
        ("wave_ranks", ["--planes", "4"]),
        ("wave_ranks", ["--steps", "-1"]),
        ("matrix_mul_ranks", ["--size", "24"]),
        ("matrix_mul_ranks", ["--size", "0"]),
    ],
)
def test_a_size_that_it_cannot_have_is_refused(name: str, arguments: list[str]) -> None:
    sample = next(sample for sample in OVER_RANKS if sample.name == name)
    environment = {**os.environ, "CUDAPY_DRIVER": "simulator"}
    done = warm.run([str(sample.path), *arguments], env=environment, ends_at_once=True)
    assert done.returncode == 2
    assert f"{arguments[0]} must be " in done.stderr
