"""What is current: CUDA in this process, a context and a capture mode in this thread."""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Callable
from typing import Any, TypeVar

from .._errors import CUDAError
from ..driver import CUresult, CUstreamCaptureMode, checked, libcuda

T = TypeVar("T")

_process = 0  # the one in which cuInit succeeded; 0: none yet


def initialise() -> None:
    """Start CUDA in this process, unless that was done. Source: cuInit.

    Raises CUDAError in a process forked from one that has used CUDA, pathfinder.LibraryNotFound without a
    driver.
    """
    global _process
    process = os.getpid()
    if _process == process:
        return
    if _process:
        raise CUDAError(
            f"cuInit: process {_process} used CUDA before it forked this one ({process}), and a fork "
            "inherits nothing of CUDA that works. Hint: start the processes that use CUDA with "
            "multiprocessing.get_context('spawn'), or fork before the first use of CUDA",
            CUresult.CUDA_ERROR_NOT_INITIALIZED,
            "cuInit",
        )
    checked.cuInit(0)
    _process = process


def within(context: int, function: Callable[..., T], *args: Any) -> T:
    """`function(*args)` with `context` current, and the caller's afterwards as it was; 0: none is needed.

    Source: cuCtxPushCurrent, cuCtxPopCurrent; neither is called if the context is current already.
    """
    if not context or checked.cuCtxGetCurrent().value == context:
        return function(*args)
    checked.cuCtxPushCurrent(context)
    try:
        return function(*args)
    finally:
        checked.cuCtxPopCurrent()


_Mode: Any = ctypes.c_int * 1
_RELAXED = int(CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED)


class Uncaptured:
    """`with Uncaptured():` lets this thread make calls that would otherwise spoil a capture under way.

    For what is freed whenever the garbage collector runs. Source: cuThreadExchangeStreamCaptureMode, which
    exchanges the number in a cell with the thread's: calling it again undoes that.
    """

    __slots__ = ("_mode",)

    def __enter__(self) -> None:
        self._mode = _Mode(_RELAXED)
        _exchange(self._mode)

    def __exit__(self, *exception: object) -> None:
        _exchange(self._mode)


def _exchange(mode: Any) -> None:
    if status := _function()(mode):
        raise libcuda.error("cuThreadExchangeStreamCaptureMode", CUresult(status), {})


@functools.cache
def _function() -> Any:
    return libcuda.symbol("cuThreadExchangeStreamCaptureMode")
