"""PyTorch on the simulator, where it is installed with CUDA: `tests/clients`."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "clients"

pytestmark = pytest.mark.thorough


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program under `python -m cudapy.simulator`. Skips the test without a PyTorch for CUDA."""
    if importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed")
    if "+cpu" in importlib.metadata.version("torch"):
        pytest.skip("this torch is built without CUDA")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CUDAPY")}
    environment["PYTHONPATH"] = str(FOLDER.parents[1])
    command = [sys.executable, "-W", "ignore", "-m", "cudapy.simulator", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)


@pytest.mark.parametrize("devices", [1, 2])
def test_semantics(devices: int) -> None:
    done = run("--devices", str(devices), str(FOLDER / "others" / "torch_semantics.py"))
    assert done.returncode == 0, done.stderr[-3000:]


def test_training() -> None:
    done = run(str(FOLDER / "others" / "torch_training.py"))
    assert done.returncode == 0, done.stderr[-3000:]


def test_operators() -> None:
    """A few of PyTorch's database, quickly: equal on both devices."""
    names = ("addmm", "cumsum", "index_put", "linalg.svd", "nn.functional.conv2d", "sort", "where")
    done = run("-m", "tests.clients.torch_operators", "--samples", "3", *names)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
