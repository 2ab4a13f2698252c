"""A libcuda.so.1 for Triton's driver, which looks for it among the system's files, and links C with it."""

import atexit
import os
import shutil
import tempfile
from typing import Any

VARIABLE = "TRITON_LIBCUDA_PATH"


def provide(triton: Any) -> None:
    """Have Triton, which was just imported, find a libcuda.so.1, also in processes that this one starts."""
    from .written import write_for_linkers

    if not os.environ.get(VARIABLE):
        folder = tempfile.mkdtemp(prefix="cudapy-")
        atexit.register(_remove, folder, os.getpid())
        write_for_linkers(folder)
        os.environ[VARIABLE] = folder


def _remove(folder: str, process: int) -> None:
    """At the end of the process that made it, not of its forks."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)
