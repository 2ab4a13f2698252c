"""Captures: whether one may be under way, which of them a stream is in, and what is done all the same.

What the driver calls unsafe (to free, to destroy pools and executable graphs, to ask for an event's end)
invalidates captures by the mere attempt: those of the same thread, and in the mode "global" those of all
threads. In a stream that captures, memory can be freed that the capture allocates, and no other. Finalizers
cannot choose when they run, so they ask here first.

To ask the driver costs as much as to free. So that is done while `captures.may_be_active`: while core
captures; for good, once others asked for a function that begins captures, or for a stream's handle; and while
the garbage collector is at work, which interrupts any thread.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ... import driver
from ..._bindings.errors import CUDAError
from ..._ffi.library import Checked, Library, settled
from ..._ffi.results import output_slots, storage
from ..._ffi.status_calls import give_lane
from ..._process import forks
from ..._process.interrupt_safe import unchecked_entry
from ..._process.resets import in_reset
from ...driver import CUgraph, CUresult, CUstreamCaptureStatus
from ..context.current import RelaxedCaptureMode, c_function, owning

if TYPE_CHECKING:
    from ...driver import CUstream
    from ..memory.pointer import Address
    from ..streams.stream import Stream

T = TypeVar("T")

_INVALIDATED = int(CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_INVALIDATED)
_IMPLICIT = int(CUresult.CUDA_ERROR_STREAM_CAPTURE_IMPLICIT)
_take, _give, _new = output_slots(CUstreamCaptureStatus, storage(CUstreamCaptureStatus))


_BEGINNINGS = (
    "cuStreamBeginCapture_v2",
    "cuStreamBeginCaptureToGraph",
    "cuStreamBeginRecaptureToGraph",
    "cudaStreamBeginCapture",
    "cudaStreamBeginCaptureToGraph",
    "cudaStreamBeginRecaptureToGraph",
)
_SHARED = "a stream is known to others"

checked = Checked(vars(driver), driver.libcuda)
"""The functions of the driver for core's own captures, whose end is known: not the face that others use."""


class Reasons(set[object]):
    """Why a capture may be under way: true unless it is empty.

    The garbage collector sets its attributes `start` and `stop` to what it tells of a collection: names and
    numbers, of which the names are in here meanwhile. All of that is C: see `interrupt_safe`.
    """

    start = property(None, set.update)
    stop = property(None, set.difference_update)


class Captures:
    """What core knows of the captures in this process.

    There is no lock, for which a finalizer would wait: it may have interrupted whoever holds what the other
    needs.
    """

    def __init__(self) -> None:
        self.may_be_active = Reasons()
        self.freeing: list[object] = []
        """Not empty between asking about a stream and freeing in it: no capture of core's begins then."""
        self.beginning: list[object] = []
        """Not empty while a capture of core's begins: nothing is freed then, but put off."""
        if hasattr(gc, "callbacks"):  # PyPy interrupts nobody in order to finalize
            gc.callbacks.append(partial(setattr, self.may_be_active))
        for symbol in _BEGINNINGS:
            Library.observe(symbol, self.may_be_active)
        self.graphs: dict[int, Any] = {}
        """What owns the graphs of core's captures that are under way, by their numbers."""
        for list_ in (self.freeing, self.beginning):  # other threads were at it, which a child has not
            forks.in_child(list_.clear)

    def begin(self, capture: object, function: str, *args: Any) -> None:
        """Begin a capture by this function of the driver; it may be active until `end(capture)`."""
        try:
            self.beginning.append(capture)  # inside: interrupt_safe
            while self.freeing:
                time.sleep(0)
            known = self.may_be_active.copy()
            begins = settled(getattr(checked, function))
            self._forget(function, known)
            stream, graph, was_capturing = args[0], CUgraph(), state(args[0])
            try:
                self.may_be_active.add(capture)
                begins(*args)
                self._forget(function, known)  # in a call that its fast lane left to Python
            except BaseException:
                self._give_up(stream, graph, capture, was_capturing, function == "cuStreamBeginCapture")
                raise
        finally:
            self.beginning.pop()

    def _forget(self, function: str, known: set[object]) -> None:
        """Forget that `function` was asked for, unless it is in `known`: it was by core alone."""
        for name in self.may_be_active - known:
            if str(name).startswith(function):
                self.may_be_active.discard(name)

    @unchecked_entry
    def _give_up(
        self, stream: CUstream, graph: CUgraph, capture: object, was_capturing: int, owns: bool
    ) -> None:
        """End a capture that did not begin, or whose beginning was interrupted as it returned. graph: where
        the unfinished graph goes, which is destroyed if the capture `owns` it.
        """
        try:  # to the end: interrupt_safe
            try:
                if not was_capturing and state(stream):
                    owning.cuStreamEndCapture(graph, stream)
            except CUDAError:  # the capture was invalidated, and has ended
                pass
            if owns and graph.value:
                owning.cuGraphDestroy(graph)
            self.end(capture)
        except Exception:
            raise
        except BaseException:
            self._give_up(stream, graph, capture, was_capturing, owns)
            raise

    def is_begun(self, capture: object) -> bool:
        """Whether it has begun, and is not over."""
        return capture in self.may_be_active

    def end(self, capture: Any) -> None:
        """It is over."""
        self.graphs.pop(capture.capture, None)
        self.may_be_active.discard(capture)

    def mark_shared(self) -> None:
        """A stream is known to others, who may capture it."""
        self.may_be_active.add(_SHARED)

    def relaxed(self, function: Callable[..., T], *args: Any) -> T:
        """`function(*args)`, without harm to a capture under way."""
        if not self.may_be_active:
            return function(*args)
        with RelaxedCaptureMode():
            return function(*args)

    @unchecked_entry
    def free_outside(self, free: Callable[..., int], cell: Address, handle: CUstream) -> int:
        """`free(cell, handle)`, a C function, without harm to any capture; its status. With 0, `cell` is 0.

        Another status than 0 as well if it has to be done in another way, as the stream captures.
        """
        try:
            self.freeing.append(handle)  # inside: interrupt_safe
            if self.beginning or state(handle):
                return CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
            with RelaxedCaptureMode():
                (status,) = map(free, (cell,), (handle,))  # one step: interrupt_safe
                if not status:
                    cell.value = 0
                return status
        except CUDAError as error:
            return int(error.code) if cell.value else 0  # it is freed, whatever failed afterwards
        finally:
            self.freeing.pop()


def is_capturing(stream: Stream) -> bool:
    """Whether what is done in `stream` goes into a graph. Source: cuStreamIsCapturing."""
    return bool(state(stream._handle))


def is_invalidated(handle: CUstream) -> bool:
    """Whether the capture that a stream is in cannot become a graph. Source: cuStreamIsCapturing."""
    return state(handle) == _INVALIDATED


def state(handle: CUstream) -> int:
    """The CUstreamCaptureStatus of a stream: 0 for one that does not capture. Source: cuStreamIsCapturing."""
    return _asked_state(handle) or 0


def _asked_state(handle: CUstream) -> int | None:
    """The state that the driver reports; None if there was no answer."""
    _give_lane()
    try:
        number, reference = cell = _take()
    except IndexError:
        number, reference = cell = _new()
    status = c_function("cuStreamIsCapturing")(handle, reference)
    status_value: int = number.value
    _give(cell)
    return _no_state(status) if status else status_value


def _no_state(status: int, handle: CUstream | None = None) -> int | None:
    """What a failure says: that of the legacy stream, a blocking one captures."""
    return _INVALIDATED if status == _IMPLICIT else None


@cache
def _give_lane() -> None:
    """At the first call; one with a lane does not come here any more."""
    takes = [(0, driver.CUstream)]
    give_lane(_asked_state, c_function("cuStreamIsCapturing"), takes, _no_state, gives=(1, "signed 4"))


OTHER = -1


class Recorded(NamedTuple):
    """The part of a capture in the life of memory: it allocates it, or is to free it."""

    capture: int
    """Its number, or OTHER."""
    graph: Any
    """The GraphOwnership of the graph that allocates it; None where nobody knows."""

    @property
    def never_was(self) -> bool:
        """Whether there is nothing to free, at an address that may be another's by now."""
        return self.graph is not None and self.graph.is_void


def recorded_in(handle: CUstream, allocates: bool, before: Recorded | None = None) -> Recorded | None:
    """The capture that a stream is in now, or else `before`; None for none.

    allocates: whether the memory is allocated in stream order, and so by the graph.
    """
    number = capture_of(handle, unknown=OTHER)
    if before is not None:
        return Recorded(number or before.capture, before.graph)
    return Recorded(number, captures.graphs.get(number) if allocates else None) if number else None


def capture_of(handle: CUstream, unknown: int = 0) -> int:
    """The number of the capture that a stream is in; 0 for none, OTHER for one that takes nothing.

    unknown: what is returned if there was no answer.

    Source: cuStreamIsCapturing, cuStreamGetCaptureInfo.
    """
    if not (now := _asked_state(handle)):
        return unknown if now is None else 0
    if now == _INVALIDATED:
        return OTHER
    status, now, number, *_ = driver.cuStreamGetCaptureInfo(handle)
    if status or now != CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_ACTIVE:
        return OTHER  # it was invalidated, or has ended, just now
    return int(number)


def too_early(what: str) -> CUDAError:
    """What is raised for what has to wait for the end of a capture."""
    return CUDAError(
        f"{what} in a stream that is being captured", CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
    )


captures = Captures()


@in_reset
def _forget() -> None:
    """The captures that were under way are no more."""
    captures.graphs.clear()
    for capture in [reason for reason in captures.may_be_active if not isinstance(reason, str)]:
        captures.may_be_active.discard(capture)
