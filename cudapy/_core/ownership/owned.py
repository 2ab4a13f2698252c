"""Who releases what, and when: the one mechanism of every class that owns something of CUDA's.

An `Ownership` holds a plain function and the handles it takes, and calls it once: at `close`, or when nothing
refers to the ownership any more, in whatever thread that happens. Buffers and events, of which there are
many, are their own owners and keep the same rules.

- The context in which the thing was made is entered for the call, if the driver asks for one, and the
  caller's is left as found.
- `close` raises what CUDA says. The garbage collector cannot: there sys.unraisablehook gets a failure, each
  kind once. That the context is gone, lost to a fault or shutting down is no failure: so is all that was in
  it.
- In a process forked from the one that made the thing, nothing is done: it is the parent's.
- At interpreter exit nothing is done: the driver frees what a process leaves behind, and may have shut down
  before Python gets there. Nothing of cudapy asks for another policy.
- What cannot be released now is deferred: see `deferred`.

A `__del__` costs less than a weak reference and a set of those still owed. What speaks against it is met: it
reads nothing but its own object and its `Process`, which says at exit that it is too late, before modules are
taken apart; as the garbage collector finalizes a cycle in any order, what others need for their release, a
`Prerequisite`, is given back when it is done; and Ctrl-C, which would be lost in it, is raised behind it, see
`_ffi.interrupts`.

Ctrl-C may come behind any call, that of a C function too: then what it returned is lost. So the owner of a
thing is there before the call that makes it, which writes into a handle that the owner has, and what is still
to be given back is noted where it is until it was.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable
from typing import Any

from ..._errors import CUDAError
from ..._ffi.handles import Handle
from ..._ffi.interrupts import finalizer
from ...driver import CUresult
from ..context.current import with_context
from ..not_copyable import NotCopyable
from .deferred import CONTEXT_LOST, deferred

RETRY_LATER = {CUresult.CUDA_ERROR_NOT_PERMITTED, *range(900, 909)}
"""Not now: in a function that a stream calls, which must not call CUDA; or CUDA_ERROR_STREAM_CAPTURE_*."""
_after_capture = deferred.after_capture


class Process:
    """This process, between the start of the interpreter or a fork and its exit."""

    __slots__ = ("alive",)

    def __init__(self) -> None:
        self.alive = True


process = Process()
"""The one that runs; another one after a fork, so ask for `owned.process`."""


_reported: set[tuple[str, str]] = set()


def finalize(error: Exception) -> None:
    """Raise what a `__del__` met, for Python to hand it to sys.unraisablehook, unless its kind was before."""
    if not isinstance(error, CUDAError):
        raise error
    kind = (error.function, error.name)
    if kind not in _reported:
        _reported.add(kind)
        raise error


class Ownership(NotCopyable):
    """One thing of CUDA's, given back once by `release(*handles)` in `context` (0: it needs none).

    Where the first handle is a `Handle`, that is what says whether anything is owed: C writes into it as it
    makes the thing, which may be after the ownership was made, and `release` leaves 0 there once it has given
    the thing back. So whatever moment Ctrl-C comes at, it is given back, and once.
    """

    __slots__ = ("_process", "_what", "is_shared")

    def __init__(self, release: Callable[..., object], *handles: object, context: int = 0) -> None:
        self.is_shared = False
        self._process = process
        self._what = (context, release, handles)
        if _after_capture:
            deferred.retry()

    def close(self) -> None:
        """Give it back now, unless that was done or others share it. Raises CUDAError."""
        if not self.is_shared:
            self._release()

    def share(self) -> None:
        """Let several have it: it is given back when the last of them lets go of it."""
        self.is_shared = True

    @staticmethod
    def take_over(owner: Any, release: Callable[..., object], *handles: object) -> None:
        """Give `owner`, a Buffer or an Event, an Ownership of what it owes itself, or is to owe."""
        since = owner._process or process
        owner._ownership = ownership = _new(Ownership)
        ownership.is_shared = False
        ownership._what = (0, release, handles)
        ownership._process, owner._process = since, None  # no Ctrl-C comes between

    def _release(self) -> None:
        """If interrupted, it is yet to be done."""
        try:
            if not self._process.alive:
                return
            what = self._what
            del self._what  # of two threads one gets past here
        except AttributeError:  # or it was interrupted before it owned anything
            return
        try:
            release(*what)
        except Exception:
            raise
        except BaseException:
            if isinstance(what[2][0], Handle):
                self._what = what
            raise

    def change(self, *rest: object) -> None:
        """Have the same first handle released with other ones behind it."""
        context, release, (first, *_) = self._what
        self._what = (context, release, (first, *rest))

    def forget(self) -> bool:
        """Leave it to somebody else; False if it was given back already."""
        try:
            del self._what
        except AttributeError:
            return False
        return True

    __del__ = finalizer(_release, finalize)


class Prerequisite(Ownership):
    """An Ownership of what other things need for their release: a stream, a pool.

    The garbage collector finalizes in any order. So this is given back when it is done: `_rest` does so,
    which goes with the memory of this object, and that is kept by what still needs the stream or the pool.
    """

    __slots__ = ("_rest",)
    _rest: Ownership

    @finalizer
    def __del__(self) -> None:
        try:
            if not self._process.alive:
                return
            rest = _new(Ownership)
            rest._process = self._process
            what = self._what
            del self._what
        except AttributeError:  # it was given back, or never was an owner
            return
        rest._what = what  # no call since: Ctrl-C does not come between
        self._rest = rest


_new = object.__new__


def release(context: int, function: Callable[..., object], handles: tuple[object, ...]) -> None:
    """`function(*handles)`, in `context` if need be, or later. Raises CUDAError, unless all is lost."""
    if isinstance(handles[0], Handle) and not handles[0].value:
        return
    try:
        try:
            function(*handles)
        except CUDAError as error:
            if error.code != CUresult.CUDA_ERROR_INVALID_CONTEXT or not context:
                raise
            with_context(context, function, *handles)
    except CUDAError as error:
        ours = type(error.code) is CUresult  # the numbers of other libraries mean other things
        if ours and error.code in RETRY_LATER:
            deferred.after_capture.append(_again(context, function, handles))
        elif ours and error.code == CUresult.CUDA_ERROR_NOT_READY:
            deferred.after_work.append(_again(context, function, handles))
        elif not ours or error.code not in CONTEXT_LOST:
            raise


def _again(context: int, release: Callable[..., object], handles: tuple[object, ...]) -> Ownership:
    """An Ownership, without another try."""
    ownership = _new(Ownership)
    ownership._process = process
    ownership._what = (context, release, handles)
    return ownership


def _end() -> None:
    """Give nothing back any more, of what there is now or will be."""
    process.alive = False
    deferred.clear()


def _begin_again() -> None:
    """Give nothing back of what there is now: it is the parent's."""
    global process
    _end()
    process = Process()


atexit.register(_end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_again)
