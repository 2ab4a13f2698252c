"""What cudapy itself costs in a call: the same calls against a libcuda that does nothing. Needs no GPU."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from .conftest import Race
from .record import Record
from .timing import ROOT
from .twin import Absent, null_libcuda

GROUP = "overhead, on a null libcuda"


@pytest.mark.parametrize("layer", ["driver", "core"])
def test_overhead(race: Race, layer: str) -> None:
    pytest.importorskip(f"cudapy.{layer}", exc_type=ImportError)
    try:
        folder = null_libcuda()
    except Absent as error:
        pytest.skip(f"no null libcuda: {error}")
    others = [path for path in os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep) if path]
    done = subprocess.run(
        [sys.executable, "-m", "benchmark.overhead", layer, str(race.rounds(301))],
        env={**os.environ, "LD_LIBRARY_PATH": os.pathsep.join([str(folder), *others])},
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert not done.returncode, done.stderr
    for name, times, missing in json.loads(done.stdout):
        race.add(Record(GROUP, name, times, missing=missing))
