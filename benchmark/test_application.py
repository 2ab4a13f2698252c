"""Where the time of the whole SAXPY program goes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cudapy import pathfinder
from turns.rounds import Program
from turns.rows import Rows, ready

from .application import GROUP, SIMULATED, WITHOUT_NUMPY, measure
from .gpu import Gpu
from .machine import reason
from .measured import CUDAPY, program
from .twin import build

PROGRAM = str(Path(__file__).parent / "programs" / "saxpy.py")


def python(*arguments: str, **variables: str) -> Program:
    """The program: a package, `numpy` or `array` for its data, blocks if not 32,768. It has run once."""
    return program([sys.executable, PROGRAM, *arguments], **variables)


def nvrtc() -> str:
    """The path of the compiler, or a skip that says why there is none."""
    try:
        return pathfinder.load("nvrtc").path
    except RuntimeError as error:
        pytest.skip(reason(error))


@pytest.mark.gpu
def test_application(turns: Rows, gpu: Gpu) -> None:
    library = nvrtc()
    mine = {CUDAPY: python("cudapy", "numpy"), WITHOUT_NUMPY: python("cudapy", "array")}
    rivals: dict[str, Callable[[], Program]] = {
        "C++": lambda: program([str(build("saxpy.cpp")), library]),
        "cuda.bindings": lambda: python("cuda.bindings", "numpy"),
    }
    programs, missing = ready(rivals)
    for record in measure(GROUP, mine | programs, turns.rounds(9), missing):
        turns.add(record)


def test_application_on_the_simulator(turns: Rows) -> None:
    """cudapy alone, with NumPy for the data and without: what the others need is a driver."""
    nvrtc()
    programs = {
        CUDAPY: python("cudapy", "numpy", "2048", CUDAPY_DRIVER="simulator"),
        WITHOUT_NUMPY: python("cudapy", "array", "2048", CUDAPY_DRIVER="simulator"),
    }
    for record in measure(SIMULATED, programs, 3, {}):
        turns.add(record)
