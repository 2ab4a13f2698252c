"""Programs written for `cuda.bindings` run on cudapy as they are, and print what they print there."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.gpu

FOLDER = Path(__file__).parent / "programs"
OURS = {"managed_12"}
"""Programs in the form of CUDA 12, which the peer of CUDA 13 does not take."""


def run(package: str, program: str) -> str:
    command = [sys.executable, str(FOLDER.parent / "run_program.py"), package, str(FOLDER / f"{program}.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"on {package}: {done.stdout[-1000:]}{done.stderr[-3000:]}"
    return done.stdout


def has_peer() -> bool:
    return (
        importlib.util.find_spec("cuda") is not None and importlib.util.find_spec("cuda.bindings") is not None
    )


@pytest.mark.parametrize("program", sorted(path.stem for path in FOLDER.glob("*.py")))
def test_program(program: str) -> None:
    printed = run("cudapy", program)
    assert printed.strip()
    if program not in OURS and has_peer():
        assert printed == run("bindings", program)
