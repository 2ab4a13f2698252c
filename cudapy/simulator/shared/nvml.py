"""The simulator's libnvidia-ml.so.1, for programs that ask NVML before they ask CUDA."""

from __future__ import annotations

from typing import Any

from ... import nvml
from ..entry_points import declared
from ..process import nvml_table
from .loaded import SharedLibrary
from .shutdown import answer

SONAME, ALIASES = "libnvidia-ml.so.1", ("libnvidia-ml.so",)
UNINITIALIZED, UNKNOWN = 1, 999  # of nvmlReturn_t


def functions() -> dict[str, int]:
    """What NVML exports, and what that is when Python ends."""
    return {name: 0 if name == "nvmlShutdown" else answer(name, UNINITIALIZED) for name in declared(nvml)}


def open_nvml() -> SharedLibrary:
    """Open it. Raises RuntimeError as SharedLibrary does."""
    return SharedLibrary(SONAME, functions(), _resolve, UNKNOWN, ALIASES)


def _resolve(symbol: str) -> Any:
    return nvml_table().callback(symbol)
