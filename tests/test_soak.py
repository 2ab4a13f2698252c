"""The soak finds what grows, and what does not grow passes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
PLANTED = """
import os, sys
from tests import soak
kept = []
def planted(bench, choose):
    kept.append((bench.device.create_stream(), bench.device.allocate(64, bench.stream), b"x" * (4 << 20)))
    os.dup(0)
    print("Exception ignored", file=sys.stderr)
sys.exit(soak.main(sys.argv[1:], planted))
"""
pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc"),
    pytest.mark.usefixtures("nvrtc"),
]


def soak(*command: str) -> subprocess.CompletedProcess[str]:
    """Some seconds of it, on the simulator."""
    return subprocess.run(
        [sys.executable, *command, "4", "--seed", "1"],
        cwd=REPOSITORY,
        env={**os.environ, "CUDAPY_DRIVER": "simulator"},
        capture_output=True,
        text=True,
        timeout=600,
    )


def test_nothing_grows() -> None:
    done = soak("-m", "tests.soak")
    assert done.returncode == 0 and "FAILED" not in done.stdout, f"{done.stdout}\n{done.stderr}"
    assert "kinds of work, seed 1" in done.stdout and "rounds" in done.stdout and done.stderr == ""


def test_what_grows_is_named() -> None:
    done = soak("-c", PLANTED)
    said = [line.removeprefix("FAILED: ") for line in done.stdout.splitlines() if line.startswith("FAILED: ")]
    found = {line.partition(" grew ")[0].partition(" wrote ")[0] for line in said}
    grown = {"RSS", "descriptors", "stream", "device memory", "something"}
    assert found == grown and done.returncode == 1, f"{done.stdout}\n{done.stderr}"
