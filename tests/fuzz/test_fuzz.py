"""A few items of each fuzzer, and that the runner sees what they are for."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import sys
from types import ModuleType

import pytest

from cudapy._ffi.lanes import why_not
from tests.budget import MORE
from tests.warm import REPOSITORY

from . import lifetimes, programs, ptx, runner, warps

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="items run in processes that are forked")

needs_lanes = pytest.mark.skipif(bool(why_not()), reason=f"no fast lane: {why_not()}")
needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc to compile a stub with")


class Bad:
    """Of eight items one is wrong, one a signal, one endless, one the last before its process is spent."""

    at_once = 8
    is_spent = False

    def item(self, number: int) -> str:
        assert number != 1, "item 1"
        if number == 2:
            ctypes.string_at(8)
        if number == 3:
            self.is_spent = True
        while number == 5:
            pass
        if number == 6:
            return "like item 3" if self.is_spent else "in another process"
        return "fine"


def test_the_runner_reports_each_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "CPU", 0.3)
    run = runner.Runner(Bad, 2)
    assert run.run(0, 8) == 8
    assert run.outcomes == {"fine": 4, "in another process": 1}
    said = {number: text.partition("\n")[0] for number, text in run.wrong}
    assert said == {1: "item 1", 2: "ended by SIGSEGV", 5: "takes too long"}


def processes() -> int:
    return max((os.cpu_count() or 2) // 2, 1)


@pytest.mark.thorough
def test_ptx(nvrtc: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ptx, "FAMILIES", ())
    ptx.corpus.cache_clear()
    ptx.prepare()
    run = runner.Runner(ptx.Fuzzer, processes())
    run.run(0, 300 * MORE)
    assert not run.wrong and run.outcomes["refused"] and run.outcomes["ran"]


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("g++") is None, reason="there is no g++ to compare with")
@pytest.mark.parametrize("kind", [programs, warps], ids=["programs", "warps"])
def test_programs(nvrtc: ModuleType, kind: ModuleType) -> None:
    count = 4 * MORE
    run = runner.Runner(kind.Fuzzer, processes())
    run.run(0, count)
    assert run.outcomes == {"equal": count}, run.wrong


@pytest.mark.thorough
def test_lifetimes() -> None:
    run = runner.Runner(lifetimes.Fuzzer, processes())
    run.run(0, 60 * MORE)
    assert not run.wrong and run.outcomes["with a fault"] and run.outcomes["without a fault"]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("kind", "count", "outcomes"),
    [
        ("calls", 1000, 3),
        pytest.param("lanes", 1000, 3, marks=[needs_lanes, needs_gcc]),
        pytest.param("core_lanes", 50, 1, marks=needs_lanes),
    ],
)
def test_calls(kind: str, count: int, outcomes: int) -> None:
    """By the command: in a process that has opened no other library before."""
    count *= MORE
    command = ["-m", "tests.fuzz", kind, "--count", str(count), "--processes", str(processes())]
    run = subprocess.run([sys.executable, *command], cwd=REPOSITORY, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    said = re.fullmatch(rf"{count} items in \d+ s: (.*); 0 wrong\n", run.stdout)
    assert said and len(said[1].split(", ")) >= outcomes, run.stdout
