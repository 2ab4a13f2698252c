"""The simulator's libcuda.so.1, as every library of this process finds it that opens it by this name."""

from __future__ import annotations

import ctypes
from functools import partial

from ..entry_points import symbols
from .loaded import SharedLibrary
from .machine_code import THREAD_STEPS
from .shutdown import answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..library import Table

SONAME, ALIASES = "libcuda.so.1", ("libcuda.so",)
DEINITIALIZED, UNKNOWN = 4, 999  # of CUresult


def functions(version: int) -> dict[str, int]:
    """What a driver of this CUDA version exports, and what that is when Python ends."""
    answers = {symbol: answer(symbol, DEINITIALIZED) for symbol in symbols(version)}
    return {**answers, **dict.fromkeys(THREAD_STEPS, 0)}


def open_driver(version: int, table: Callable[[], Table], handle: ctypes.CDLL | None) -> SharedLibrary:
    """Open it, or take the one with this handle, which was written to a file.

    table: makes, or finds, the simulated driver, at the first call of a function. Raises RuntimeError as
    SharedLibrary does.
    """
    resolver = partial(resolve, table)
    return SharedLibrary(SONAME, functions(version), resolver, UNKNOWN, ALIASES, handle=handle)


def resolve(table: Callable[[], Table], symbol: str) -> Any:
    """The C function of that name, or its address: of THREAD_STEPS, which count how often the GIL is held,
    and of what looks for its caller on the stack, where a guard would be in the way.
    """
    if symbol in THREAD_STEPS:
        from . import threads

        function = threads.STEPS[THREAD_STEPS.index(symbol)]
    else:
        function = table().callback(symbol)
    is_without_guard = symbol in (*THREAD_STEPS, "cuGetExportTable")
    return ctypes.cast(function, ctypes.c_void_p).value or 0 if is_without_guard else function
