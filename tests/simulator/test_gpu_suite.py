"""The GPU tests, on the simulator: a process has one driver, so they run in processes of their own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
GROUPS = r"test_(core_memory|core|driver|programs|runtime)"


def run(files: list[str]) -> subprocess.CompletedProcess[str]:
    alone = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_XDIST")}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider", *files],
        cwd=REPOSITORY,
        env={**alone, "CUDAPY_DRIVER": "simulator", "CUDAPY_SIMULATOR_DEVICES": "2"},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )


@pytest.mark.usefixtures("nvrtc")
def test_the_gpu_tests_pass() -> None:
    groups: dict[str, list[str]] = {}
    for path in sorted((REPOSITORY / "tests" / "gpu").glob("test_*.py")):
        group = re.match(GROUPS, path.name)
        assert group, f"{path.name} is in no group"
        groups.setdefault(group[1], []).append(str(path))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        ended = list(pool.map(run, groups.values()))
    wrong = [f"{done.stdout[-20000:]}\n{done.stderr[-2000:]}" for done in ended if done.returncode]
    assert not wrong, "\n\n".join(wrong)
    for done in ended:
        passed = re.search(r"(\d+) passed", done.stdout)
        assert passed and int(passed[1]) > 20
