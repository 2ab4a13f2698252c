"""Which PTX a driver knows, and a device runs.

Source: PTX ISA, "Release Notes" (the ISA version of each CUDA release), ".target"; CUDA C++ Programming
Guide, "Feature Availability" (architecture- and family-specific features).
"""

import re

from ..._ffi import elf
from ..devices.device import Hardware
from ..entry_points import Release
from ..refused import Refused

_VERSION = re.compile(rb"^[ \t]*\.version\s+(\d{1,3})\.(\d{1,3})", re.MULTILINE)
_TARGET = re.compile(rb"^[ \t]*\.target\s+sm_(\d{2,4})([af]?)\b", re.MULTILINE)
_NEWEST = {(12, 6): (8, 5), (12, 7): (8, 6), (12, 8): (8, 7), (12, 9): (8, 8)}
"""The PTX of CUDA releases whose minor version is not that of their PTX."""


def check_version(ptx: bytes) -> None:
    """Raise Refused for PTX that came after the driver's CUDA."""
    match = _VERSION.search(ptx)
    major, minor = Release.number // 1000, Release.number % 1000 // 10
    newest = _NEWEST.get((major, minor), (major - 4, minor))
    if match is not None and (int(match[1]), int(match[2])) > newest:
        raise Refused(
            "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
            f"this is PTX {int(match[1])}.{int(match[2])}; a driver of CUDA {major}.{minor} knows PTX up to "
            f"{newest[0]}.{newest[1]}: load the cubin instead, or use an older compiler",
        )


def check_cubin(cubin: bytes) -> None:
    """Raise Refused for a cubin of other devices: one for 8.6 runs on 8.6 and 8.9, not on 8.0 and 9.0.

    Source: NVIDIA CUDA Compiler Driver NVCC, "Binary Compatibility".
    """
    number = elf.compute_capability(cubin)
    if number and not runs_cubin(number):
        major, minor = Hardware.compute_capability
        raise Refused(
            "CUDA_ERROR_NO_BINARY_FOR_GPU",
            f"this cubin is for sm_{number}, and the device has compute capability {major}.{minor}: compile"
            " for it, or to PTX",
        )


def runs_cubin(number: int) -> bool:
    """Whether the device runs machine code for a compute capability, 86 for 8.6."""
    major, minor = Hardware.compute_capability
    return number // 10 == major and number % 10 <= minor


def check_target(ptx: bytes) -> None:
    """Raise Refused for PTX for newer devices, or for others only: sm_90a is for 9.0, sm_100f for 10.x."""
    match = _TARGET.search(ptx)
    if match is None:
        return
    (major, minor), number, suffix = Hardware.compute_capability, int(match[1]), match[2].decode()
    have = 10 * major + minor
    runs = {"a": have == number, "f": have >= number and have // 10 == number // 10}.get(
        suffix, have >= number
    )
    if not runs:
        raise Refused(
            "CUDA_ERROR_INVALID_PTX",
            f"this is PTX for sm_{number}{suffix}, and the device has compute capability {major}.{minor}",
        )
