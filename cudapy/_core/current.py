"""What is current: CUDA in this process, a context and a capture mode in this thread."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

from .. import driver
from .._errors import CUDAError
from .._ffi.results import cells, storage
from ..driver import CUresult, CUstreamCaptureMode, checked

T = TypeVar("T")

RELAXED = int(CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED)
_take, _give, _new = cells(CUstreamCaptureMode, storage(CUstreamCaptureMode))
c_function = cache(driver.libcuda.symbol)
"""A C function of the driver itself, where what the driver's Python functions check costs too much."""

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


class Uncaptured:
    """`with Uncaptured():` lets this thread make calls that would otherwise spoil a capture under way.

    For what is freed whenever the garbage collector runs. Source: cuThreadExchangeStreamCaptureMode.
    """

    __slots__ = ("_cell",)

    def __enter__(self) -> None:
        try:
            mode, reference = self._cell = _take()
        except IndexError:
            mode, reference = self._cell = _new()
        mode.value = RELAXED
        self._exchange(reference)

    def __exit__(self, *exception: object) -> None:
        cell = self._cell
        self._exchange(cell[1])  # the mode that was there before
        _give(cell)

    def _exchange(self, reference: Any) -> None:
        if status := c_function("cuThreadExchangeStreamCaptureMode")(reference):
            raise driver.libcuda.error("cuThreadExchangeStreamCaptureMode", CUresult(status), {})


class OfThisProcess:
    """Base of what stands for a thing of CUDA's.

    A copy would give it back a second time, and another process has no such thing.
    """

    __slots__ = ()

    def __reduce__(self) -> Any:
        name = type(self).__name__
        raise TypeError(f"{name} objects cannot be copied or pickled: they are of this process alone")
