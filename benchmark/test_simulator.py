"""What the simulator takes for SAXPY, next to NumPy. Needs NVRTC, and no GPU."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from cudapy import pathfinder

from .conftest import Rows
from .machine import reason
from .record import Record
from .timing import MEASURED, environment

GROUP = "simulator"


def test_saxpy(rows: Rows) -> None:
    try:
        pathfinder.load("nvrtc")
    except RuntimeError as error:
        pytest.skip(reason(error))
    command = [sys.executable, "-m", "benchmark.simulated", str(rows.rounds(5))]
    done = subprocess.run(command, cwd=MEASURED, env=environment(), capture_output=True, text=True)
    assert not done.returncode, done.stderr
    for name, times in json.loads(done.stdout):
        rows.add(Record(GROUP, name, times))
