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


PEER = importlib.util.find_spec("cuda") and importlib.util.find_spec("cuda.bindings")


@pytest.mark.parametrize("program", sorted(path.stem for path in FOLDER.glob("*.py")))
def test_program(program: str) -> None:
    packages = ["cudapy", "bindings"] if PEER and program not in OURS else ["cudapy"]
    command = [sys.executable, str(FOLDER.parent / "run_program.py")]
    running = [
        subprocess.Popen(
            [*command, package, str(FOLDER / f"{program}.py")],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for package in packages
    ]
    printed = []
    for package, process in zip(packages, running, strict=True):
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, f"on {package}: {out[-1000:]}{err[-3000:]}"
        printed.append(out)
    assert printed[0].strip()
    assert printed[0] == printed[-1]
