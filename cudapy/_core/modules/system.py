"""What the whole machine has. The names of `cudapy.core.system`.

The driver answers two functions; NVML all others, which are loaded when they are asked for.
"""

from __future__ import annotations

import importlib

from ..._bindings.errors import CUDAError
from ..._types import nvml_errors as _errors
from ...driver import CUresult, checked
from ..context.current import initialise
from . import system_exceptions, system_typing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..._types.nvml_errors import *
    from ...nvml import NvmlError
    from ..management.device import Device, NvlinkInfo, get_p2p_status, get_topology_common_ancestor
    from ..management.library import (
        get_driver_branch,
        get_kernel_mode_driver_version,
        get_nvml_version,
        get_process_name,
    )
    from ..management.system_events import register_events

exceptions, typing = system_exceptions, system_typing
__path__: list[str] = []  # for imports it is a package: `typing` and `exceptions` are modules below it

CUDA_BINDINGS_NVML_IS_COMPATIBLE = True
"""Whether there are the names that ask NVML."""


def get_num_devices() -> int:
    """How many devices this process sees; 0 if the driver has none. Source: cuDeviceGetCount."""
    try:
        initialise()
        return checked.cuDeviceGetCount()
    except CUDAError as error:
        if error.code != CUresult.CUDA_ERROR_NO_DEVICE:
            raise
        return 0


def get_user_mode_driver_version() -> tuple[int, int]:
    """The newest CUDA that the driver knows: (13, 0) for CUDA 13.0. Source: cuDriverGetVersion."""
    version = checked.cuDriverGetVersion()
    return version // 1000, version % 1000 // 10


_FROM = {
    "Device": "..management.device",
    "NvlinkInfo": "..management.device",
    "get_p2p_status": "..management.device",
    "get_topology_common_ancestor": "..management.device",
    "register_events": "..management.system_events",
    "get_driver_branch": "..management.library",
    "get_kernel_mode_driver_version": "..management.library",
    "get_nvml_version": "..management.library",
    "get_process_name": "..management.library",
    **dict.fromkeys(system_exceptions.__all__, "...nvml"),
}
"""Where the names are that ask NVML."""

__all__ = [
    "CUDA_BINDINGS_NVML_IS_COMPATIBLE",
    "Device",
    "NvlinkInfo",
    "NvmlError",
    "get_driver_branch",
    "get_kernel_mode_driver_version",
    "get_num_devices",
    "get_nvml_version",
    "get_p2p_status",
    "get_process_name",
    "get_topology_common_ancestor",
    "get_user_mode_driver_version",
    "register_events",
]
__all__ += _errors.__all__


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name == "driver_version":  # the name before 1.0
            return get_user_mode_driver_version()
        if name not in _FROM:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(importlib.import_module(_FROM[name], __package__), name)
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
