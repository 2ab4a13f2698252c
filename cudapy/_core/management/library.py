"""NVML, initialised once in each process; the releases of the driver and of NVML, and the processes."""

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


def _numbers(release: str) -> tuple[int, ...]:
    """(580, 65, 6) for "580.65.06"."""
    return tuple(int(part) for part in release.split("."))


def get_kernel_mode_driver_version() -> tuple[int, ...]:
    """The release of the driver, such as (580, 65, 6). Source: nvmlSystemGetDriverVersion."""
    initialise()
    return _numbers(nvml.system_get_driver_version())


def get_driver_branch() -> str:
    """The branch of the driver, such as "r580_00". Source: nvmlSystemGetDriverBranch."""
    initialise()
    return nvml.system_get_driver_branch()


def get_nvml_version() -> tuple[int, ...]:
    """The release of NVML, such as (13, 580, 65, 6). Source: nvmlSystemGetNVMLVersion."""
    initialise()
    return _numbers(nvml.system_get_nvml_version())


def get_process_name(pid: int) -> str:
    """The name of a process, with its path and arguments. Source: nvmlSystemGetProcessName."""
    initialise()
    return nvml.system_get_process_name(pid)
