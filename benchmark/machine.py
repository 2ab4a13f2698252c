"""What a figure was read on."""

from __future__ import annotations

import platform
import re
from collections.abc import Callable
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path

import cudapy
from cudapy import nvml, pathfinder
from cudapy.driver import checked
from cudapy.nvrtc import checked as nvrtc
from turns import facts
from turns.facts import commit, cpu

DISTRIBUTIONS = ("numpy", "cuda-bindings", "cuda-core", "cupy-cuda12x", "cupy-cuda13x", "pytest-benchmark")


def describe() -> dict[str, str]:
    """The machine and the versions that matter, in the order of the report."""
    return {
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "GPU": _or_reason(_gpu),
        "driver": _or_reason(_driver),
        "NVRTC": _or_reason(_nvrtc),
        "clocks": _or_reason(_clocks),
        "CPU": cpu(),
        "system": platform.platform(),
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
        "cudapy": cudapy.__version__,
        "commit": commit(Path(cudapy.__file__).parent),
        **{name: version for name in DISTRIBUTIONS if (version := _version(name))},
    }


def reason(error: Exception) -> str:
    """What an exception says, in a line."""
    return facts.reason(error).removesuffix(". Places tried:")


def _or_reason(read: Callable[[], str]) -> str:
    try:
        return read()
    except RuntimeError as error:
        return f"none: {reason(error)}"


def _gpu() -> str:
    checked.cuInit(0)
    return bytes(checked.cuDeviceGetName(256, checked.cuDeviceGet(0))).split(b"\0")[0].decode()


def _driver() -> str:
    path = pathfinder.load("cuda").path
    cuda = checked.cuDriverGetVersion()
    number = re.search(r"\.so\.(\d+\.[\d.]+)$", path)
    return f"{number[1] + ', ' if number else ''}CUDA {cuda // 1000}.{cuda % 1000 // 10}"


def _clocks() -> str:
    """Of the device's multiprocessors and memory, and the most that they can be. Source: NVML."""
    nvml.init_v2()
    device = nvml.device_get_handle_by_index_v2(0)
    kinds = nvml.ClockType.CLOCK_SM, nvml.ClockType.CLOCK_MEM
    now = [nvml.device_get_clock_info(device, kind) for kind in kinds]
    most = [nvml.device_get_max_clock_info(device, kind) for kind in kinds]
    return f"SM {now[0]} of {most[0]} MHz, memory {now[1]} of {most[1]} MHz"


def _nvrtc() -> str:
    major, minor = nvrtc.nvrtcVersion()
    return f"{major}.{minor}, {pathfinder.load('nvrtc').found_by}"


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""
