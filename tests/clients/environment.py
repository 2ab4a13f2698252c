"""What a client finds around it: the bindings that it is to run on, and what it takes to get there."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np

REPOSITORY = Path(__file__).parents[2]
SITE = Path(__file__).parent / "site"  # sitecustomize.py, and the plugin for numba-cuda's tests
BINDINGS = ("nvidia", "cudapy")


def environment(bindings: str, folder: Path, *paths: Path) -> dict[str, str]:
    """The variables of a process whose `import cuda.bindings` means that of "nvidia" or of "cudapy".

    folder: an empty one, which stays until the process ends. paths: where Python looks for modules, too.
    """
    chosen = {
        **os.environ,
        "CLIENTS_BINDINGS": bindings,
        "PYTHONPATH": _joined("PYTHONPATH", *paths, SITE, REPOSITORY),
        "NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS": "0",
        "NUMBA_CUDA_WARN_ON_IMPLICIT_COPY": "0",
    }
    if os.environ.get("CUDAPY_DRIVER") == "simulator" and sys.platform == "linux":
        _provide_libcuda(folder)
        chosen["LD_LIBRARY_PATH"] = _joined("LD_LIBRARY_PATH", folder)
    return chosen


def _joined(variable: str, *paths: Path) -> str:
    """These paths before those that the variable has."""
    return os.pathsep.join([*map(str, paths), *filter(None, [os.environ.get(variable)])])


def _provide_libcuda(folder: Path) -> None:
    """A library named libcuda.so: numba-cuda wants to know that there is one, and calls none of it."""
    link = folder / "libcuda.so"
    if not link.is_symlink():
        link.symlink_to(np._core._multiarray_umath.__file__)
