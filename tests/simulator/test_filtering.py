"""The comparison of texture filters with a GPU's: what it stores is small, and what it finds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

REPOSITORY = Path(__file__).parents[2]


def filtering(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "tests.simulator.filtering", *arguments],
        cwd=REPOSITORY,
        env={**os.environ, "CUDAPY_DRIVER": "simulator"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.thorough
def test_what_is_stored_and_compared(tmp_path: Path) -> None:
    stored = tmp_path / "stored.npz"
    assert filtering(str(stored)) == ""
    assert stored.stat().st_size < 12 << 20
    found = dict(np.load(stored))
    assert len(found) == 3 * 2 * 4 * 2 * 2 and {array.shape for array in found.values()} == {(8192, 4)}
    name = "3d floats mode0 linear1 normalized1"
    found[name][5] += np.float32(0.5)
    np.savez_compressed(stored, **found)
    lines = filtering("unused", str(stored)).splitlines()
    apart = [line for line in lines if line.endswith("1e-6") and "at most 0 apart, 0 rows" not in line]
    assert apart == [f"{name}: at most 0.5 apart, 1 rows more than 1e-6"]
