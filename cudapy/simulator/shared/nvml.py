"""The simulator's libnvidia-ml.so.1, for programs that ask NVML before they ask CUDA."""

from __future__ import annotations

from ... import nvml
from ..entry_points import declared
from .loaded import SharedLibrary
from .shutdown import answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..library import Table

SONAME, ALIASES = "libnvidia-ml.so.1", ("libnvidia-ml.so",)
UNINITIALIZED, UNKNOWN = 1, 999  # of nvmlReturn_t


def functions() -> dict[str, int]:
    """What NVML exports, and what that is when Python ends."""
    return {name: 0 if name == "nvmlShutdown" else answer(name, UNINITIALIZED) for name in declared(nvml)}


def open_nvml(table: Callable[[], Table]) -> SharedLibrary:
    """Open it.

    table: makes, or finds, the simulated NVML, at the first call of a function. Raises RuntimeError as
    SharedLibrary does.
    """
    return SharedLibrary(SONAME, functions(), lambda symbol: table().callback(symbol), UNKNOWN, ALIASES)
