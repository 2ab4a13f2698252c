"""What a client finds around it: the bindings that it is to run on, and what it takes to get there."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np

REPOSITORY = Path(__file__).parents[2]
SITE = Path(__file__).parent / "site"  # sitecustomize.py, and the plugin for numba-cuda's tests
BINDINGS = ("nvidia", "cudapy")


def environment(bindings: str, folder: Path) -> dict[str, str]:
    """The variables of a process whose `import cuda.bindings` means "nvidia" or "cudapy".

    folder: an empty one, which has to stay until the process ends.
    """
    paths = [str(SITE), str(REPOSITORY), *filter(None, [os.environ.get("PYTHONPATH")])]
    chosen = {
        **os.environ,
        "CLIENTS_BINDINGS": bindings,
        "PYTHONPATH": os.pathsep.join(paths),
        "NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS": "0",
        "NUMBA_CUDA_WARN_ON_IMPLICIT_COPY": "0",
    }
    if os.environ.get("CUDAPY_DRIVER") == "simulator" and sys.platform == "linux":
        _provide_libcuda(folder)
        libraries = [str(folder), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
        chosen["LD_LIBRARY_PATH"] = os.pathsep.join(libraries)
    return chosen


def _provide_libcuda(folder: Path) -> None:
    """A library named libcuda.so, of which numba-cuda wants to know that it can be opened; it calls none of it."""
    link = folder / "libcuda.so"
    if not link.is_symlink():
        link.symlink_to(np._core._multiarray_umath.__file__)
