"""Runs the files of tests/alone/, each in a process of its own.

nvJitLink (12.9 to 13.5) spoils memory when links fail in more than one thread of a process: core has one
thread for it (cudapy/_core/compile/linker_thread.py), and the tests of the raw functions another.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
FILES = sorted((HERE / "alone").glob("test_*.py"))


@pytest.mark.thorough
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file(path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-n",
        "0",
        "--tb=short",
        "-p",
        "no:cacheprovider",
        str(path),
    ]
    done = subprocess.run(command, cwd=HERE.parent, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, f"{done.stdout[-20000:]}\n{done.stderr[-2000:]}"
    assert re.search(r"\d+ (passed|skipped)", done.stdout)
