"""The programs of docs/launchers.md, on the simulator, each where its packages are installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BLOCKS = re.findall(r"^```py\n(.*?)^```$", (ROOT / "docs/launchers.md").read_text(), re.MULTILINE | re.DOTALL)


def printed(tmp_path: Path, package: str, *launcher: str) -> str:
    """What the program that imports a package prints."""
    (block,) = [block for block in BLOCKS if re.search(rf"^(import|from) {package}\b", block, re.MULTILINE)]
    (tmp_path / "program.py").write_text(block)
    environment = {**os.environ, "CUDAPY_DRIVER": "simulator", "PYTHONPATH": str(ROOT)}
    command = [*launcher, sys.executable, str(tmp_path / "program.py")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.thorough
@pytest.mark.usefixtures("nvrtc")
def test_mpi_adds_up_buffers(tmp_path: Path) -> None:
    pytest.importorskip("mpi4py", reason="mpi4py is not installed")
    beside = Path(sys.executable).with_name("mpiexec")
    mpiexec = str(beside) if beside.exists() else shutil.which("mpiexec")
    if mpiexec is None:
        pytest.skip("there is no mpiexec")
    text = printed(tmp_path, "mpi4py", mpiexec, "-n", "3")  # of all ranks at once
    assert sorted(re.findall(r"rank \d of 3: 6\.0", text)) == [f"rank {rank} of 3: 6.0" for rank in range(3)]


@pytest.mark.thorough
@pytest.mark.parametrize("package", ["ray", "distributed"])
def test_actors_and_workers_are_ranks(package: str, tmp_path: Path) -> None:
    pytest.importorskip(package, reason=f"{package} is not installed")
    assert "[3.0, 3.0]" in printed(tmp_path, package)
