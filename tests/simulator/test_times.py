"""What `python -m tests.simulator.times` prints of other simulators."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest

from .times import _scaled, numba_times

PYTHON = """#!/bin/sh
echo '{"saxpy": [8.0, 4.0], "'$NUMBA_ENABLE_CUDASIM $*'": [1.0, 1]}'
"""


def test_another_python_measures_numba(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text(PYTHON)
    python.chmod(0o755)
    assert numba_times(os.fspath(python), "--cpu") == {
        "saxpy": [8.0, 4.0],
        "1 -m tests.simulator.times_numba --cpu": [1.0, 1],
    }


@pytest.mark.skipif(importlib.util.find_spec("numba_cuda") is not None, reason="numba-cuda is installed")
def test_nothing_of_numba_where_it_is_not_installed() -> None:
    assert numba_times(sys.executable) == {}


def test_a_scaled_time_says_so() -> None:
    assert _scaled(8.0, 4.0) == "8.0 s (2.0 s x 4)"
    assert _scaled(0.015, 1) == "15 ms"
