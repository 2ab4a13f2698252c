"""What `import cudapy` gives: its modules, when they are asked for, and nothing of core."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import sys
import cudapy
assert "cudapy.core" not in sys.modules
from cudapy import pathfinder
assert cudapy.nvrtc.nvrtcVersion and cudapy.core.Device is sys.modules["cudapy.core"].Device
for name, words in (
    ("Device", "Device is in cudapy.core: from cudapy.core import Device"),
    ("launch", "launch is in cudapy.core: from cudapy.core import launch"),
    ("Devise", "module 'cudapy' has no attribute 'Devise'"),
    ("laumch", "module 'cudapy' has no attribute 'laumch'"),
):
    try:
        getattr(cudapy, name)
    except AttributeError as error:
        assert str(error) == words, error
    assert not hasattr(cudapy, name)
try:
    from cudapy import launch
except ImportError as error:
    assert str(error) == "cannot import name 'launch' from 'cudapy': from cudapy.core import launch", error
try:
    from cudapy import laumch
except ImportError as error:
    assert "cannot import name 'laumch'" in str(error), error
"""


def test_modules_are_imported_when_they_are_asked_for_and_names_of_core_say_where_they_are() -> None:
    root = Path(__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, cwd=root)
    assert (done.returncode, done.stderr) == (0, "")


def test_every_module_is_one_of_them() -> None:
    import cudapy

    folder = Path(cudapy.__file__).parent
    there = {path.stem for path in folder.glob("[!_]*.py")} | {"simulator"}
    assert there == set(cudapy._MODULES)
    assert there <= set(dir(cudapy)), "by which editors and Python's suggestions go"
