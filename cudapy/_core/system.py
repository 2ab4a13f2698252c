"""What the whole machine has. The names of `cudapy.core.system`.

That part of `cuda.core.system` which the driver answers; what asks NVML is not here yet.
"""

from __future__ import annotations

from .._errors import CUDAError
from ..driver import CUresult, checked
from .current import initialise

__all__ = ["CUDA_BINDINGS_NVML_IS_COMPATIBLE", "get_num_devices", "get_user_mode_driver_version"]

CUDA_BINDINGS_NVML_IS_COMPATIBLE = False
"""Whether there are the names that ask NVML."""


def get_num_devices() -> int:
    """How many devices this process sees; 0 if the driver has none. Source: cuDeviceGetCount."""
    try:
        initialise()
        return int(checked.cuDeviceGetCount())
    except CUDAError as error:
        if error.code != CUresult.CUDA_ERROR_NO_DEVICE:
            raise
        return 0


def get_user_mode_driver_version() -> tuple[int, int]:
    """The newest CUDA that the driver knows: (13, 0) for CUDA 13.0. Source: cuDriverGetVersion."""
    version = int(checked.cuDriverGetVersion())
    return version // 1000, version % 1000 // 10
