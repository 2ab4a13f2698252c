"""What a figure was read on."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Callable
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path

import cudapy
from cudapy import pathfinder
from cudapy.driver import checked
from cudapy.nvrtc import checked as nvrtc

DISTRIBUTIONS = ("numpy", "cuda-bindings", "cuda-core", "cupy-cuda12x", "cupy-cuda13x", "pytest-benchmark")


def describe() -> dict[str, str]:
    """The machine and the versions that matter, in the order of the report."""
    return {
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "GPU": _or_reason(_gpu),
        "driver": _or_reason(_driver),
        "NVRTC": _or_reason(_nvrtc),
        "CPU": f"{_cpu()}, {os.cpu_count()} cores",
        "system": platform.platform(),
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
        "cudapy": cudapy.__version__,
        **{name: version for name in DISTRIBUTIONS if (version := _version(name))},
    }


def reason(error: Exception) -> str:
    """What an exception says, in a line."""
    return (str(error).splitlines() or [type(error).__name__])[0].removesuffix(". Places tried:")


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


def _nvrtc() -> str:
    major, minor = nvrtc.nvrtcVersion()
    return f"{major}.{minor}, {pathfinder.load('nvrtc').found_by}"


def _cpu() -> str:
    try:
        named = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        named = None
    return named[1] if named else platform.processor() or platform.machine()


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""
