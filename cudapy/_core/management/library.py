"""The releases of the driver and of NVML, and the processes of the machine."""

from __future__ import annotations

from ... import nvml
from .initialise import initialise


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
