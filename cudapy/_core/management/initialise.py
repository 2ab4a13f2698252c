"""NVML, initialised once in each process."""

from __future__ import annotations

import os
import threading

from ... import nvml
from ..._process import forks

_lock = threading.Lock()
_process = 0


def initialise() -> None:
    """Make sure that NVML is initialised, in a process that was forked, too. Source: nvmlInit_v2.

    Raises NvmlError, and LibraryNotFound where there is no NVML.
    """
    global _process
    if _process != os.getpid():
        with _lock:
            if _process != os.getpid():
                nvml.init_v2()
                _process = os.getpid()


@forks.in_child
def _unlock() -> None:
    """In a process that was forked while another thread held it."""
    global _lock
    _lock = threading.Lock()
