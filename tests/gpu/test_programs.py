"""Programs written for `cuda.bindings` run on cudapy as they are, and print what they print there."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cudapy import simulator
from tests import warm

pytestmark = pytest.mark.gpu

FOLDER = Path(__file__).parent / "programs"
OURS = {"managed_12"}
"""Programs in the form of CUDA 12, which the peer of CUDA 13 does not take."""


PEER = importlib.util.find_spec("cuda") and importlib.util.find_spec("cuda.bindings")


def run(package: str, program: str) -> str:
    command = [str(FOLDER.parent / "run_program.py"), package, str(FOLDER / f"{program}.py")]
    if simulator.is_enabled():
        done = warm.run(command, env=os.environ, ends_at_once=True)
    else:
        done = subprocess.run([sys.executable, *command], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"on {package}: {done.stdout[-1000:]}{done.stderr[-3000:]}"
    return done.stdout


@pytest.mark.parametrize("program", sorted(path.stem for path in FOLDER.glob("*.py")))
def test_program(program: str) -> None:
    compared = PEER and program not in OURS and not simulator.is_enabled()
    packages = ["cudapy", "bindings"] if compared else ["cudapy"]
    with ThreadPoolExecutor() as pool:
        printed = list(pool.map(lambda package: run(package, program), packages))
    assert printed[0].strip()
    assert printed[0] == printed[-1]
