"""What the first calls of functions compile and import."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import cudapy
from cudapy._ffi import lanes
from cudapy._ffi.functions import HELPERS

CODE = """
import ctypes, sys
from cudapy import driver
compiled = []
sys.addaudithook(lambda event, args: compiled.append(args) if event == "compile" else None)
driver.libcuda.load = lambda: library
library = ctypes.CDLL(sys.argv[1])
driver.cuCtxGetCurrent()
driver.cuCtxGetCurrent.__declaration__.install()
del compiled[:]
{calls}
print(len(compiled), *sorted(name for name in sys.modules if "_types.driver" in name))
"""


def after(calls: str, stub_path: Path, **variables: str) -> list[str]:
    """How many texts calls compiled in a fresh process, and the modules with types that were imported.

    Without a fast lane, so that calls need a function, unless the variables have it.
    """
    command = [sys.executable, "-c", CODE.format(calls=calls), str(stub_path)]
    environment = {**os.environ, "CUDAPY_FAST_LANE": "0", **variables}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_the_fast_lane_compiles_nothing(stub_path: Path) -> None:
    """But for calls that it leaves to Python, such as those with an int of a derived class."""
    if lanes.why_not():
        pytest.skip(f"no fast lane: {lanes.why_not()}")
    calls = "driver.cuStreamSynchronize({0}); driver.checked.cuStreamSynchronize({0})"
    count, *_ = after(calls.format("0"), stub_path, CUDAPY_FAST_LANE="1")
    assert count == "0"
    count, *_ = after(calls.format("type('', (int,), {})()"), stub_path, CUDAPY_FAST_LANE="1")
    assert count == "2"


def test_a_second_launch_makes_no_structs(stub_path: Path) -> None:
    """It goes through cuLaunchKernelEx, whose CUlaunchConfig is packed as bytes."""
    launch = "driver.cuLaunchKernel(driver.CUfunction(1), 1, 1, 1, 32, 1, 1, 0, stream, 0, 0);"
    calls = f"stream = driver.CUstream(2); {launch * 4}"
    _, *imported = after(calls, stub_path)
    assert imported and not [name for name in imported if name.endswith(".structs")]


MODULES = [*Path(cudapy.__file__).parent.glob("*.py")]
DECLARING = sorted(path for path in MODULES if "_ffi.library import" in path.read_text())


@pytest.mark.parametrize("path", DECLARING, ids=lambda path: path.stem)
def test_modules_have_no_names_of_helpers(path: Path) -> None:
    """The first function that is written puts these into the namespace of its module."""
    names = {
        name.id if isinstance(name, ast.Name) else name.name
        for each in ast.parse(path.read_text()).body
        for name in (each.targets if isinstance(each, ast.Assign) else [each])
        if isinstance(name, (ast.Name, ast.FunctionDef, ast.ClassDef))
    }
    assert not names & HELPERS.keys()
