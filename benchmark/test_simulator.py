"""What the simulator takes for SAXPY, next to NumPy. Needs NVRTC, and no GPU."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from cudapy import pathfinder
from turns.record import Record
from turns.rows import Rows

from .machine import reason
from .measured import MEASURED, environment

GROUP = "simulator"


def test_saxpy(turns: Rows) -> None:
    try:
        pathfinder.load("nvrtc")
    except RuntimeError as error:
        pytest.skip(reason(error))
    command = [sys.executable, "-m", "benchmark.simulated", str(turns.rounds(5))]
    done = subprocess.run(command, cwd=MEASURED, env=environment(), capture_output=True, text=True)
    assert not done.returncode, done.stderr
    for name, times in json.loads(done.stdout):
        turns.add(Record(GROUP, name, times))
