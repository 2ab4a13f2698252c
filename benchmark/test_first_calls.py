"""What calls cost the first time in a process, each process a fresh one."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from turns.record import Record
from turns.rounds import Program
from turns.rows import Rows
from turns.twin import Absent

from . import measured
from .gpu import Gpu
from .machine import reason
from .measured import CUDAPY
from .twin import null_libcuda

GROUP = "first calls"
NULL = f"{GROUP}, on a null libcuda"
ROUNDS = 5
PACKAGES = {
    "driver": {CUDAPY: "cudapy", "cuda.bindings": "cuda.bindings"},
    "core": {CUDAPY: "cudapy", "cuda.core": "cuda"},
}


def program(*arguments: str, **variables: str) -> Program:
    """The process that measures; it has run once, so that byte code is there and one that fails does so."""
    made = measured.program([sys.executable, "-m", "benchmark.first_calls", *arguments], **variables)
    made.output()
    return made


def measure(turns: Rows, group: str, what: str, *arguments: str, **variables: str) -> None:
    """Fresh processes of each package in turn, and a row for each name that cudapy's say."""
    programs, missing = {}, {}
    for who, package in PACKAGES.get(what, {CUDAPY: "cudapy"}).items():
        try:
            programs[who] = program(what, package, *arguments, **variables)
        except RuntimeError as error:
            if who == CUDAPY:
                raise
            missing[who] = reason(error)
    found: dict[str, dict[str, list[float]]] = {}
    for _ in range(turns.rounds(ROUNDS)):
        for who, each in programs.items():
            for name, seconds in json.loads(each.output()).items():
                found.setdefault(name, {}).setdefault(who, []).append(seconds)
    for name, times in found.items():
        turns.add(Record(group, name, times, missing=missing))


@pytest.mark.gpu
@pytest.mark.parametrize("what", ["driver", "core"])
def test_on_the_gpu(turns: Rows, gpu: Gpu, what: str) -> None:
    measure(turns, GROUP, what, str(gpu.cubin_file))


@pytest.mark.parametrize("what", ["driver", "core", "all"])
def test_on_a_null_libcuda(turns: Rows, what: str, tmp_path: Path) -> None:
    try:
        folder = null_libcuda()
    except Absent as error:
        pytest.skip(f"no null libcuda: {error}")
    code = tmp_path / "no.cubin"
    code.write_bytes(b"no cubin")
    others = os.environ.get("LD_LIBRARY_PATH", "")
    paths = os.pathsep.join(filter(None, [str(folder), others]))
    measure(turns, NULL, what, str(code), LD_LIBRARY_PATH=paths)
