"""Run a program that was written for `cuda.bindings`, on it or on cudapy:

    python tests/gpu/run_program.py cudapy|bindings PROGRAM [ARGUMENT...]

Not a letter of the program changes: on cudapy, what it imports as `cuda.bindings.driver` is `cudapy.driver`.
"""

from __future__ import annotations

import importlib
import os
import runpy
import sys
from pathlib import Path
from types import ModuleType

MODULES = ("driver", "nvfatbin", "nvjitlink", "nvrtc", "nvvm", "runtime")


def stand_in() -> None:
    """Have `cuda.bindings` be cudapy."""
    sys.path.insert(0, str(Path(__file__).parents[2]))
    for name in ("cuda", "cuda.bindings"):
        sys.modules[name] = ModuleType(name)
        sys.modules[name].__path__ = []
    for name in MODULES:
        module = importlib.import_module(f"cudapy.{name}")
        sys.modules[f"cuda.bindings.{name}"] = module
        setattr(sys.modules["cuda.bindings"], name, module)


if __name__ == "__main__":
    package, program, *arguments = sys.argv[1:]
    os.environ["RUN_AGAIN"] = "|".join([sys.executable, __file__, package, program])
    if package == "cudapy":
        stand_in()
    sys.argv = [program, *arguments]
    runpy.run_path(program, run_name="__main__")
