"""Who gives back what, and when: the one mechanism of every class that owns something of CUDA's.

An `Ownership` holds a plain function and the handles it takes, and calls it once: at `close`, or when nothing
refers to the ownership any more, in whatever thread that happens.

- The context in which the thing was made is entered for the call, and the caller's is left as found.
- `close` raises what CUDA says. The garbage collector cannot: there sys.unraisablehook gets a failure, each
  kind once. That the context is gone, lost to a fault or shutting down is no failure: so is all that was in
  it.
- In a process forked from the one that made the thing, nothing is done: it is the parent's.
- At interpreter exit nothing is done: the driver frees what a process leaves behind, and may have shut down
  before Python gets there. Nothing of cudapy asks for another policy.
- What cannot be given back because a stream is capturing waits, and is tried again when something is next
  made.
"""

from __future__ import annotations

import atexit
import os
import weakref
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from .._errors import STICKY, CUDAError
from ..driver import CUresult
from .current import Uncaptured, within

GONE = STICKY | {CUresult.CUDA_ERROR_DEINITIALIZED, CUresult.CUDA_ERROR_CONTEXT_IS_DESTROYED}
CAPTURING = range(900, 909)  # CUDA_ERROR_STREAM_CAPTURE_*: not now, but later

Release = tuple[int, Callable[..., object], tuple[object, ...]]  # context, function, arguments


class Ownership:
    """One thing of CUDA's, given back once by `release(*handles)` in `context` (0: it needs none)."""

    __slots__ = ("__weakref__", "_last")

    def __init__(self, release: Callable[..., object], *handles: object, context: int = 0) -> None:
        if _postponed:
            retry()
        self._last = _Last(self, _gone)
        self._last.what = (context, release, handles)
        _owned.add(self._last)

    def close(self) -> None:
        """Give it back now, unless that was done. Raises CUDAError."""
        if self.forget():
            _give_back(self._last.what)

    def forget(self) -> bool:
        """Leave it to somebody else; False if it was given back already."""
        try:
            _owned.remove(self._last)
        except KeyError:
            return False
        return True


class _Last(weakref.ref[Ownership]):
    """What is to be done when an ownership is gone: weakref.finalize, at a third of its cost."""

    __slots__ = ("what",)
    what: Release


_owned: set[_Last] = set()
_postponed: deque[Release] = deque()
_reported: set[tuple[str, str]] = set()


def _gone(last: _Last) -> None:
    """Called with the last reference to an ownership, or by the garbage collector."""
    try:
        _owned.remove(last)
    except KeyError:
        return
    _give_back_last(last.what)


def _give_back(what: Release) -> None:
    context, release, handles = what
    try:
        within(context, release, *handles)
    except CUDAError as error:
        if error.code in CAPTURING:
            _postponed.append(what)
        elif error.code not in GONE:
            raise


def _give_back_last(what: Release) -> None:
    """The same where nobody can catch an exception: Python hands it to sys.unraisablehook."""
    try:
        _give_back(what)
    except CUDAError as error:
        kind = (error.function, error.name)
        if kind not in _reported:
            _reported.add(kind)
            raise


def retry() -> None:
    """Give back what had to wait for the end of a capture; what still has to, waits on."""
    for _ in range(len(_postponed)):
        try:
            what = _postponed.popleft()
        except IndexError:  # another thread was here
            return
        _give_back_last(what)


Self = TypeVar("Self", bound="Closable")


class Closable:
    """Base of what can be closed. A closed object lacks its `_vital` attribute, and says so when asked.

    So an object in use is never tested for being open: that costs nothing until it matters.
    """

    __slots__ = ("__weakref__", "_ownership")
    _vital = "_handle"
    _ownership: Ownership | None  # None: what it stands for belongs to somebody else

    def close(self) -> None:
        """Give back what this object owns.

        Using it afterwards is a RuntimeError, closing it again does nothing.
        """
        try:
            delattr(self, self._vital)
        except AttributeError:
            return
        ownership, self._ownership = self._ownership, None
        if ownership is not None:
            ownership.close()

    @property
    def is_closed(self) -> bool:
        """Whether `close` was called."""
        try:
            object.__getattribute__(self, self._vital)
        except AttributeError:
            return True
        return False

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name == self._vital:
                raise RuntimeError(f"this {type(self).__name__} is closed")
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


class Finishing(Protocol):
    """Something that knows whether it is done: an Event."""

    @property
    def is_done(self) -> bool: ...


_in_use: deque[tuple[Finishing, tuple[object, ...]]] = deque()
after_waiting: list[Callable[[], None]] = []
"""What else is to be done whenever something was waited for."""


def keep_until(done: Finishing, *things: object) -> None:
    """Keep `things` alive until `done.is_done`, for work that CUDA has yet to do with their memory."""
    let_go()
    _in_use.append((done, things))


def let_go() -> None:
    """Drop what CUDA has done with. Called whenever something was waited for, or is to be kept."""
    for function in after_waiting:
        function()
    if not _in_use:
        return
    with Uncaptured():
        for _ in range(len(_in_use)):
            try:
                done, things = _in_use.popleft()
            except IndexError:  # another thread was here
                return
            try:
                if not done.is_done:
                    _in_use.append((done, things))
            except CUDAError:  # a lost context does nothing with anything any more
                continue


def _disown() -> None:
    """Give nothing back any more of what there is now."""
    _owned.clear()
    _postponed.clear()
    _in_use.clear()


atexit.register(_disown)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_disown)
