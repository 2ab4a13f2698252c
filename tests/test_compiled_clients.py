"""NVIDIA's compiled packages, as they come, on the simulator's libcuda.so.1: `nox -s compiled`."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "clients"
EXITS = int(os.environ.get("COMPILED_EXITS", "8"))

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(
        Path("/dev/nvidiactl").exists(),
        reason="this machine has a driver, which packages may open by another name than libcuda.so.1",
    ),
]

COMPILED = sorted(path for path in (FOLDER / "compiled").glob("*.py"))
NUMBA = [FOLDER / "programs" / f"numba_{name}.py" for name in ("together", "functions", "linking", "faults")]
"""numba_arrays calls Stream.add_callback, which over NVIDIA's bindings fails in numba-cuda 0.30.4 itself."""


def need(package: str) -> None:
    """Skip the test where a package is not installed."""
    if importlib.util.find_spec(package.partition(".")[0]) is None or not importlib.util.find_spec(package):
        pytest.skip(f"{package} is not installed")


def run(program: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run a program under `python -m cudapy.simulator`."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CUDAPY")}
    command = [sys.executable, "-W", "ignore", "-m", "cudapy.simulator", *options, str(program)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)


@pytest.mark.parametrize("program", COMPILED, ids=lambda path: path.stem)
def test_cuda_core(program: Path) -> None:
    need("cuda.core")
    done = run(program)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr[-3000:]


@pytest.mark.parametrize("program", NUMBA, ids=lambda path: path.stem)
def test_numba(program: Path) -> None:
    need("numba_cuda")
    done = run(program)
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-3000:]


def test_exits_with_live_objects() -> None:
    """COMPILED_EXITS of them: none crashes, none says anything."""
    need("cuda.core")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        ends = list(pool.map(lambda _: run(FOLDER / "compiled" / "core_exit.py"), range(EXITS)))
    assert {(end.returncode, end.stdout, end.stderr) for end in ends} == {(0, "", "")}
