"""The GPU tier works: its tests on the simulator, in small; its scheduler with tests of every ending."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from . import tier_fakes
from .gpu_tier import report, schedule
from .gpu_tier.figures import FAILED, NOT_RUN, OK, TOLD, Figure
from .gpu_tier.plan import PLAN, Task, chosen
from .gpu_tier.sanitizer import compute_sanitizer

REPOSITORY = Path(__file__).parents[1]
posix = pytest.mark.skipif(
    sys.platform == "win32", reason="processes are killed in groups, as POSIX has them"
)
NOT_ON_THE_SIMULATOR = {("sanitizer", "memcheck"), ("sanitizer", "leak check")}
MAY_BE_MISSING = {"cuFile", "20 x Linker", "5 x Linker, linked", "20 x things of the Runtime API"}


def tier(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.gpu_tier", *arguments],
        cwd=REPOSITORY,
        env={**os.environ, "CUDAPY_DRIVER": "simulator", **environment},
        capture_output=True,
        text=True,
        timeout=1200,
    )


@pytest.mark.thorough
@posix
@pytest.mark.usefixtures("nvrtc")
def test_all_of_it_on_the_simulator(tmp_path: Path) -> None:
    once = [test.name for test in PLAN if not test.name.startswith("torture-") or test.share[0] == 0]
    patience = ["--patience", "5", "--seconds", "1100"]
    arguments = ["--small", "--json", str(tmp_path / "figures.json"), *patience, *once]
    done = tier(*arguments, CUDAPY_SIMULATOR_DEVICES="3")
    assert done.returncode == 0, f"{done.stdout[-12000:]}\n{done.stderr[-2000:]}"
    found = json.loads((tmp_path / "figures.json").read_text())
    assert [test["name"] for test in found["tests"]] == once
    assert "3 x cudapy simulator" in found["device"] and found["small"] is True
    figures = [(test["name"], figure) for test in found["tests"] for figure in test["figures"]]
    assert all(figure["measured"] for _, figure in figures if figure["verdict"] == OK)
    left = {(name, figure["what"]) for name, figure in figures if figure["verdict"] == NOT_RUN}
    assert {each for each in left if each[1] not in MAY_BE_MISSING} == NOT_ON_THE_SIMULATOR
    assert all(figure["why"] for _, figure in figures if figure["verdict"] == NOT_RUN)
    assert ("peers", "6 right") in {(name, figure["measured"]) for name, figure in figures}
    for name, figure in figures:
        assert name in done.stdout and figure["what"] in done.stdout and figure["verdict"] in done.stdout


PYTORCH = """
import numpy, os, sys, time, types
from contextlib import nullcontext
from cudapy.core import Device

class Tensor:
    def __init__(self, count):
        self.buffer = Device().allocate(4 * count)
        self.buffer.fill(0, stream=Device().default_stream)
        self.__cuda_array_interface__ = {
            "shape": (count,), "typestr": "<f4", "data": (int(self.buffer.handle), False), "version": 3
        }

def init_process_group(backend, init_method, rank, world_size, timeout, device_id):
    assert backend == "nccl" and init_method.startswith("tcp://127.0.0.1:") and world_size == 2
    assert device_id == ("cuda", rank)
    if rank and "RANK 1 FAILS" in os.environ:
        raise ValueError("no group")
    time.sleep(600 if "RANK 1 FAILS" in os.environ else 0)
    if "ALL FAIL" in os.environ:
        raise RuntimeError("no\\ngroup")

__version__ = "9.9"
float32 = "float32"
device = lambda kind, number: (kind, number)
zeros = lambda count, dtype, device: Tensor(count)
cuda = types.SimpleNamespace(
    set_device=lambda device: None, stream=nullcontext, ExternalStream=lambda handle, device: None,
    nccl=types.SimpleNamespace(version=lambda: (2, 30, 7)),
)
distributed = types.ModuleType("torch.distributed")
distributed.is_available = lambda: True
distributed.is_nccl_available = lambda: "WITHOUT NCCL" not in os.environ
distributed.init_process_group = init_process_group
distributed.destroy_process_group = lambda: None
distributed.all_reduce = lambda tensor: None
sys.modules["torch.distributed"] = distributed
"""
"""What the tier uses of PyTorch, without its work."""


@pytest.mark.thorough
@posix
@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("", "PyTorch 9.9, built for NCCL 2.30.7"),
        ("WITHOUT NCCL", "PyTorch 9.9 is without NCCL"),
        ("ALL FAIL", "RuntimeError: no"),
        ("RANK 1 FAILS", "it did not end in 3 s"),
        ("IMPORT FAILS", "OSError: libtorch"),
    ],
)
def test_all_reduce_is_measured_beside_pytorch(case: str, words: str, tmp_path: Path) -> None:
    """Without it, or if it fails, that is a figure, and no failure."""
    (tmp_path / "torch.py").write_text('raise OSError("libtorch")' if case == "IMPORT FAILS" else PYTORCH)
    environment = {"PYTHONPATH": str(tmp_path), "TIER_TORCH_SECONDS": "60", case or "_": "1"}
    if case == "RANK 1 FAILS":
        environment["TIER_TORCH_SECONDS"] = "3"
    arguments = "--small", "nccl-processes", "--json", str(tmp_path / "figures.json")
    done = tier(*arguments, CUDAPY_SIMULATOR_DEVICES="2", **environment)
    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads((tmp_path / "figures.json").read_text())["tests"][0]["figures"]
    found = {figure["what"].removeprefix("2 processes: "): figure["measured"] for figure in figures}
    assert found["torch.distributed"].startswith(words)
    compared = [name for name in found if name.endswith("in turns with PyTorch")]
    assert len(compared) == (3 if not case else 0)
    for name in compared:
        assert "torch.distributed" in found[name]


@posix
@pytest.mark.usefixtures("nvrtc")
def test_one_device_has_no_pairs() -> None:
    done = tier("--small", "peers", CUDAPY_SIMULATOR_DEVICES="1")
    assert done.returncode == 0
    assert (
        "not run: peers: copies between 1 GPUs: GPU 0 is the only one; GPU 1 to 7 are absent" in done.stdout
    )


def test_no_device_is_said() -> None:
    done = tier("--small", CUDAPY_DRIVER="", CUDAPY_LIBCUDA="", CUDA_VISIBLE_DEVICES="-1")
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("no GPU: ") and "CUDAPY_DRIVER=simulator" in done.stderr


def test_a_test_that_there_is_not_is_said() -> None:
    done = tier("tortures")
    assert done.returncode == 2 and "there is no test 'tortures'" in done.stderr


def test_names_choose() -> None:
    assert chosen([]) == list(PLAN)
    assert [test.name for test in chosen(["peers", "exit"])] == ["exit", "peers"]
    assert [test.share for test in chosen(["torture"])] == [(i, 6) for i in range(6)]
    assert [test.name for test in chosen(["cycles"])] == ["cycles", "cycles-below"]
    assert len({test.name for test in PLAN}) == len(PLAN)
    with pytest.raises(KeyError):
        chosen(["cycle"])


# -- The scheduler -----------------------------------------------------------------------------------------


def fake(function: str, name: str = "", **options) -> Task:
    return Task(name or function, f"{tier_fakes.__name__}:{function}", options.pop("limit", 60.0), **options)


def verdicts(outcome: schedule.Outcome) -> list[str]:
    return [figure.verdict for figure in outcome.figures]


def run(tmp_path: Path, *tests: Task, **options) -> list[schedule.Outcome]:
    options = {"size": "small", "cores": 8, "seconds": 60.0, **options}
    return schedule.run(tests, tmp_path, **options)


@posix
def test_what_a_test_is_told(tmp_path: Path) -> None:
    one, other = run(tmp_path, fake("passes", "a", cores=3, share=(1, 3)), fake("passes", "b", cores=99))
    assert [figure.measured for figure in one.figures] == ["small", "[1, 4]", "3"]
    assert [figure.measured for figure in other.figures] == ["small", "[0, 1, 2, 3, 4, 5, 6]", "8"]
    assert verdicts(one) == [OK] * 3 and one.seconds > 0
    (full,) = run(tmp_path, fake("passes", "c"), size="full")
    assert full.figures[0].measured == "full"


@posix
def test_every_bad_end_is_a_failure(tmp_path: Path) -> None:
    names = ("fails", "raises", "crashes", "leaves_early", "finds_nothing")
    failed, raised, crashed, left, nothing = run(tmp_path, *map(fake, names))
    assert [(f.measured, f.verdict, f.why) for f in failed.figures] == [
        ("1", OK, ""),
        ("2", FAILED, "it is 2"),
    ]
    assert verdicts(raised) == [OK, FAILED] and raised.figures[1].why == "ValueError: no more of that"
    assert verdicts(crashed) == [OK, FAILED] and "SIGSEGV" in crashed.figures[1].measured
    assert "Segmentation fault" in crashed.log and "in crashes" in crashed.log
    assert verdicts(left) == [OK, FAILED] and left.figures[1].measured == "exit code 3"
    assert verdicts(nothing) == [FAILED]
    said = report.logs([failed, raised, crashed])
    assert "---- raises ----" in said and "no more of that" in said and "fails" not in said.split("raises")[0]


@posix
@pytest.mark.thorough
def test_what_hangs_is_killed_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule, "GRACE", 1.0)
    (hung,) = run(tmp_path, fake("hangs", limit=2.0))
    assert verdicts(hung) == [OK, FAILED] and "hung" in hung.figures[1].why
    assert "in a_place_to_hang" in hung.log and "in hangs" in hung.log
    child = Path("/proc", hung.figures[0].measured, "stat")
    deadline = time.monotonic() + 30
    while child.exists() and child.read_text().rpartition(")")[2].split()[0] != "Z":
        assert time.monotonic() < deadline, "what it had started runs on"
        time.sleep(0.05)


@posix
@pytest.mark.thorough
def test_the_time_of_all_is_kept(tmp_path: Path) -> None:
    hung, never = run(tmp_path, fake("hangs", cores=8), fake("passes", cores=8), seconds=2.0)
    assert verdicts(hung)[-1] == FAILED and "no time was left" in hung.figures[-1].why
    assert verdicts(never) == [FAILED] and "not begun" in never.figures[0].why


@posix
@pytest.mark.thorough
def test_who_runs_beside_whom(tmp_path: Path) -> None:
    ended: list[str] = []
    tests = [
        fake("waits", "lonely", alone=True),
        fake("waits", "alone", cores=4, alone=True),
        fake("waits", "wide", cores=2),
        fake("waits", "narrow"),
        fake("waits", "late"),
    ]
    outcomes = run(tmp_path, *tests, cores=3, ended=lambda outcome: ended.append(outcome.test.name))
    assert [outcome.test for outcome in outcomes] == tests
    assert sorted(ended) == sorted(test.name for test in tests) and set(ended[3:]) == {"lonely", "alone"}
    times = {o.test.name: [float(figure.measured) for figure in o.figures] for o in outcomes}
    for name in ("lonely", "alone"):
        for other in times.keys() - {name}:
            assert times[name][0] >= times[other][1] or times[other][0] >= times[name][1], (name, other)
    assert times["late"][0] >= min(times["wide"][1], times["narrow"][1]), "three cores were busy"


# -- The report --------------------------------------------------------------------------------------------


def test_the_table() -> None:
    figures = [
        Figure("what", "1", "1", OK),
        Figure("more", "2", "3", FAILED, "it is 3"),
        Figure("absent", "4", "", NOT_RUN, "no GPU 4"),
        Figure("rules", "", "5 of 6", TOLD, "the sixth"),
    ]
    outcomes = [schedule.Outcome(Task("one", "m:f", 1.0), 1.5, figures)]
    lines = report.table(outcomes).splitlines()
    assert [line.split() for line in lines[2:6]] == [
        ["one", "what", "1", "1", "ok"],
        ["one", "more", "2", "3", "FAILED"],
        ["one", "absent", "4", "not", "run"],
        ["one", "rules", "5", "of", "6", "told"],
    ]
    assert lines[6:] == [
        "FAILED: one: more: it is 3",
        "not run: one: absent: no GPU 4",
        "told: one: rules: the sixth",
    ]
    assert report.summary(outcomes) == "1 ok, 1 FAILED, 1 not run, 1 told"
    assert report.as_json(outcomes, {"device": "d"}) == {
        "device": "d",
        "tests": [{"name": "one", "seconds": 1.5, "figures": [figure.as_dict() for figure in figures]}],
    }


def test_the_sanitizer_of_the_wheel_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("tests.gpu_tier.sanitizer.PLACES", ())
    monkeypatch.setattr(sys, "path", ["", str(tmp_path)])
    assert compute_sanitizer() is None
    tool = tmp_path / "nvidia" / "cu13" / "bin" / "compute-sanitizer"
    tool.parent.mkdir(parents=True)
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    assert compute_sanitizer() == str(tool)
