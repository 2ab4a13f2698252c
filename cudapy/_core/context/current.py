"""What is current: CUDA in this process, a context and a capture mode in this thread."""

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any, TypeVar

from ... import driver
from ..._ffi.convert import word
from ..._ffi.library import SymbolNotFound
from ..._ffi.owning import Owning
from ..._ffi.results import output_slots, storage
from ..._ffi.status_calls import give_lane, status_call
from ..._process import forks
from ..._process.interrupt_safe import unchecked_entry
from ...driver import CUcontext, CUresult, CUstreamCaptureMode, checked

T = TypeVar("T")

RELAXED = int(CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED)
_Mode = storage(CUstreamCaptureMode)
_take, _give, _new = output_slots(CUstreamCaptureMode, _Mode)
_take_context, _give_context, _new_context = output_slots(CUcontext, CUcontext)
_, _popped = _new_context()  # where contexts go that nobody asks for
owning = Owning(vars(driver), driver.libcuda)
"""The functions of the driver that make something for an owner that is there before, or release it."""
c_function = cache(driver.libcuda.symbol)
"""A C function of the driver itself, where what the driver's Python functions check costs too much."""


@cache
def status_function(symbol: str, *takes: type) -> Any:
    """Like `c_function`, for one whose parameters are handles and numbers of these types."""
    return status_call(driver.libcuda.symbol(symbol), *takes)


@cache
def filling_function(symbol: str, cls: type, *takes: type) -> Any:
    """Like `status_function`, for one that fills a `cls`, which it takes first, as itself."""
    return status_call(driver.libcuda.symbol(symbol), *takes, fills=cls)


def current_context() -> int:
    """The number of the current context; 0: there is none. Raises CUDAError. Source: cuCtxGetCurrent."""
    number_lane(current_context, "cuCtxGetCurrent", "unsigned 8", no_context)
    try:
        context, reference = cell = _take_context()
    except IndexError:
        context, reference = cell = _new_context()
    status = c_function("cuCtxGetCurrent")(reference)
    number: int = context.value
    _give_context(cell)
    return no_context(status) if status else number


def no_context(status: int) -> int:
    """Raise what a status of cuCtxGetCurrent says."""
    raise driver.libcuda.error("cuCtxGetCurrent", CUresult(status), {})


@cache
def number_lane(function: Any, symbol: str, kind: str, failed: Callable[[int], Any]) -> None:
    """Have a function return the one number that a C function writes, without a step of Python.

    A function does this as it is called; with a lane, it is not called any more.
    """
    give_lane(function, c_function(symbol), (), failed, gives=(0, kind))


started: list[None] = []
"""Empty until cuInit succeeded in this process: hot paths ask before they call `initialise`."""
when_prepared: list[Callable[[], object]] = []
"""What gives lanes to functions of core as the usual ones of the driver get theirs."""
_is_forked = False  # whether it did in a parent


@forks.in_child
def _leave_to_parent() -> None:
    global _is_forked
    _is_forked = bool(started) or _is_forked
    started.clear()


def initialise() -> None:
    """Start CUDA in this process, unless that was done. Source: cuInit.

    Raises CUDAError in a process forked from one that has used CUDA, pathfinder.LibraryNotFound without a
    driver.
    """
    if started:
        return
    if _is_forked:
        raise driver.libcuda.error("cuInit", CUresult.CUDA_ERROR_NOT_INITIALIZED, {})
    checked.cuInit(0)
    started.append(None)
    if driver.libcuda.prepare():
        for function in when_prepared:
            with suppress(SymbolNotFound):  # whoever calls it hears of that
                function()


def with_context(context: int, function: Callable[..., T], *args: Any) -> T:
    """`function(*args)` with `context` current, and the caller's afterwards as it was; 0: none is needed.

    Source: cuCtxPushCurrent, cuCtxPopCurrent; neither is called if the context is current already.
    """
    if not context or current_context() == context:
        return function(*args)
    with _Pushed(context):
        return function(*args)


class _Pushed:
    """`with _Pushed(context):` makes it current, and what was before again, however it ends."""

    __slots__ = ("_context", "_is_pushed")

    def __init__(self, context: int) -> None:
        self._context = context
        self._is_pushed = False

    @unchecked_entry
    def __enter__(self) -> None:
        try:
            (status,) = map(c_function("cuCtxPushCurrent_v2"), (word(self._context),))
            if not status:
                self._is_pushed = True  # one step: interrupt_safe
                return
        except BaseException:  # the `try`: see interrupt_safe
            raise
        raise driver.libcuda.error("cuCtxPushCurrent", CUresult(status), {"ctx": self._context})

    @unchecked_entry
    def __exit__(self, *exception: object) -> None:
        status = 0
        try:
            if self._is_pushed:
                (status,) = map(c_function("cuCtxPopCurrent_v2"), (_popped,))
                self._is_pushed = False  # one step: interrupt_safe
        except BaseException:
            self.__exit__()
            raise
        if status:
            raise driver.libcuda.error("cuCtxPopCurrent", CUresult(status), {})


_EXCHANGE = "cuThreadExchangeStreamCaptureMode"
_exchanges: Any = None  # that function, once it was asked for


def _exchanger() -> Any:
    global _exchanges
    _exchanges = filling_function(_EXCHANGE, _Mode)
    return _exchanges


when_prepared.append(_exchanger)


class RelaxedCaptureMode:
    """`with RelaxedCaptureMode():` lets this thread make calls that else would spoil a capture under way.

    For what is freed whenever the garbage collector runs. Source: cuThreadExchangeStreamCaptureMode.
    """

    __slots__ = ("_mode", "_reference")

    @unchecked_entry
    def __enter__(self) -> None:
        try:
            self._mode, self._reference = _take()
        except IndexError:
            self._mode, self._reference = _new()
        self._mode.value = RELAXED
        try:
            status = (_exchanges or _exchanger())(self._mode)
        except BaseException:
            self.__exit__()
            raise
        if status:
            self.__exit__()
            raise driver.libcuda.error(_EXCHANGE, CUresult(status), {})

    @unchecked_entry
    def __exit__(self, *exception: object) -> None:
        try:
            status = 0
            if self._mode.value != RELAXED:  # the mode that was there before
                status = (_exchanges or _exchanger())(self._mode)
        except Exception:
            raise
        except BaseException:
            self.__exit__()
            raise
        if status:
            raise driver.libcuda.error(_EXCHANGE, CUresult(status), {})
        _give((self._mode, self._reference))
