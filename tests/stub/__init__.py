"""A stub libcuda that records what it is called with, and the copy of cudapy that the tests call it through.

Functions rewrite themselves at their first call, and that binds them to the library they found. So the tests
on the stub import a second copy of the package, from the same files, under another name: the GPU tests, which
call `cudapy.driver`, share nothing with it.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

REPOSITORY = Path(__file__).parents[2]
NAME = "cudapy_stubbed"


def vendored(name: str = NAME, folder: Path = REPOSITORY / "cudapy") -> ModuleType:
    """The package in `folder`, imported as `name`: what vendoring cudapy comes to."""
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(
            name, folder / "__init__.py", submodule_search_locations=[str(folder)]
        )
        assert spec is not None and spec.loader is not None
        sys.modules[name] = package = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(package)
    return sys.modules[name]


def module(name: str) -> ModuleType:
    """A module of the second copy: `module("driver")`, `module("_ffi.enums")`."""
    vendored()
    return importlib.import_module(f"{NAME}.{name}")


def python(code: str, *arguments: Any, flags: tuple[str, ...] = (), **environment: str) -> Any:
    """Run Python code in a process of its own, at the root of the repository."""
    command = [sys.executable, *flags, "-c", code, *map(str, arguments)]
    environ = {**os.environ, **environment}
    return subprocess.run(command, cwd=REPOSITORY, env=environ, capture_output=True, text=True, timeout=120)


def load(path: str | Path) -> ctypes.CDLL:
    """Open the library at `path`, and make it what the copy's driver functions find."""
    library = ctypes.CDLL(str(path))
    module("driver").libcuda.load = lambda: library
    return library
