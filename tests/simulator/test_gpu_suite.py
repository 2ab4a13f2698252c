"""The GPU tests, on the simulator: a process has one driver, so each group runs in a process of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
FILES = sorted((REPOSITORY / "tests" / "gpu").glob("test_*.py"))
GROUPS = sorted({re.split("[_.]", path.name)[1] for path in FILES})


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.usefixtures("nvrtc")
def test_a_group(group: str) -> None:
    files = [str(path) for path in FILES if re.split("[_.]", path.name)[1] == group]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider", *files],
        cwd=REPOSITORY,
        env={**os.environ, "CUDAPY_DRIVER": "simulator", "CUDAPY_SIMULATOR_DEVICES": "2"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout[-20000:]}\n{done.stderr[-2000:]}"
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed and int(passed[1]) > 20
