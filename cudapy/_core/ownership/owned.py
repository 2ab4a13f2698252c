"""Who releases what, and when: the one mechanism of every class that owns something of CUDA's.

What is `Owned` has the handle of one thing and knows how to release it. That is done once: at `close`, or
when nothing refers to the owner any more, in whatever thread that happens. Buffers and events, of which there
are many, are their own owners. Other classes have an `Ownership`, and so has what several share, such as the
program and a graph.

- The context in which the thing was made is entered for the call, if the driver asks for one, and the
  caller's is left as found.
- `close` raises what CUDA says. The garbage collector cannot: there sys.unraisablehook gets a failure, each
  kind once. A context that is gone, lost to a fault or shutting down is not a failure: so is all that was in
  it. Nor is it one for the garbage collector that somebody else destroyed the object, or reset the context.
- In a process forked from the one that made the thing, nothing is done: it is the parent's. Nor is it where
  the devices were replaced since.
- At interpreter exit nothing is done: the driver frees what a process leaves behind, and may have shut down
  before Python gets there. Nothing of cudapy asks for another policy.
- What cannot be released now is deferred: see `deferred`.

A `__del__` costs less than a weak reference and a set of those still owed. What speaks against it is met: it
reads nothing but its own object and its `Process`, which says at exit that it is too late, before modules are
taken apart; as the garbage collector finalizes a cycle in any order, what others need for their release, a
`Prerequisite`, is given back when it is done; and Ctrl-C, which would be lost in it, is raised after it:
`interrupt_safe` has the rules, by which the owner of an object is also there before the object.
"""

from __future__ import annotations

import atexit
import gc
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ..._bindings.errors import CUDAError
from ..._ffi.handles import Handle
from ..._ffi.status_calls import InSlot, Noted, Releases, give_lane, plain_copy
from ..._process import forks
from ..._process.interrupt_safe import finalizer, finish, later, unchecked_entry
from ..._process.resets import in_reset
from ...driver import CUresult, cuCtxGetDevice
from ..closable import Owner
from ..context.current import with_context
from .captures import captures
from .deferred import CONTEXT_LOST, deferred

RETRY_LATER = {CUresult.CUDA_ERROR_NOT_PERMITTED, *range(900, 909)}
"""Not now: in a function that a stream calls, which must not call CUDA; or CUDA_ERROR_STREAM_CAPTURE_*."""
_after_capture = deferred.after_capture


class Process:
    """This process with its devices, between the start of the interpreter, a fork or a reset, and its end."""

    __slots__ = ("alive",)

    def __init__(self) -> None:
        self.alive = True


process = Process()
"""The one that runs; another one after a fork or a reset, so ask for `owned.process`."""


_reported: set[tuple[str, str]] = set()


def finalize(error: Exception) -> None:
    """Raise what a `__del__` met, for Python to hand it to sys.unraisablehook, unless its kind was before."""
    if not isinstance(error, CUDAError):
        raise error
    if type(error.code) is CUresult and _is_gone(error):
        return
    kind = (error.function, error.name)
    if kind not in _reported:
        _reported.add(kind)
        raise error


def _is_gone(error: CUDAError) -> bool:
    """Whether `error` says that the thing is not there any more, most often as its context was reset.

    An unknown handle may also be that of the stream in which memory is freed. So the current context is
    asked: it remains current when it is reset.
    """
    if error.code == CUresult.CUDA_ERROR_INVALID_CONTEXT:
        return True
    if error.code == CUresult.CUDA_ERROR_INVALID_HANDLE and error.function.endswith(("Destroy", "Unload")):
        return True
    if error.code not in (CUresult.CUDA_ERROR_INVALID_HANDLE, CUresult.CUDA_ERROR_INVALID_VALUE):
        return False
    status, _ = cuCtxGetDevice()
    return status == CUresult.CUDA_ERROR_INVALID_CONTEXT or status in CONTEXT_LOST


class Release(NamedTuple):
    """How a thing is released: `function(handle, *arguments)`, in `context`; 0: it needs none."""

    context: int
    function: Callable[..., object]
    arguments: tuple[Any, ...] = ()


class Owned(Owner):
    """What owns one thing of CUDA's, and releases it once: an `Ownership`, or a class of which there is much.

    Where the handle is a `Handle`, that is what says whether anything is owed: C writes into it as it makes
    the thing, which may be after its owner was made, and whoever releases the thing leaves 0 there.
    """

    __slots__ = ("_argument", "_owed", "_process", "_quick", "_spare")
    _owed: Any  # the handle
    _process: Process  # where it is owed; NOWHERE: nothing is owed, or no more
    # The fast path, if there is one:
    _quick: Callable[..., int] | None  # the C function to try first,
    _argument: (
        Any  # and the stream that it takes behind the handle; None: it takes none, and harms no capture
    )
    _spare: Spare | None  # where the handle goes instead, if there is room

    def _how(self) -> Release:
        """How it is released otherwise."""
        raise NotImplementedError

    @unchecked_entry
    def _release(self, raises: bool = False) -> None:
        """Release it, unless that was done; if interrupted, it is yet to be done.

        raises: whether what comes meanwhile is raised, as `close` does, and not as a `__del__` has to.
        """
        try:
            owed = None
            try:
                owed, self._process = self._process, NOWHERE  # of two threads one gets it
            except AttributeError:  # interrupted before it owned anything
                return
            if not owed.alive:
                return
            handle, quick, spare = self._owed, self._quick, self._spare
            if spare is not None and handle and len(spare) < SPARE:
                spare.given = handle  # one step with the return: interrupt_safe
                return
            if quick is not None and handle:
                argument, process = self._argument, owed
                if argument is None:
                    owed = None  # what is interrupted as it returns is done
                    if not quick(handle):
                        handle.value = 0  # which a program may have
                        return
                elif captures.may_be_active:
                    if not captures.free_outside(quick, handle, argument):
                        return
                else:
                    owed = None
                    if not quick(handle, argument):
                        return
                owed = process
            release(handle, self._how())
        except BaseException as error:
            try:
                self._failed(error, owed, raises)
            finally:
                if not raises:
                    later.armed  # noqa: B018  # here, as nothing is called after it

    __del__ = _release

    @unchecked_entry
    def _failed(self, error: BaseException, owed: Process | None, raises: bool) -> None:
        """Raise `error`, which came while this was released, or tell of it as a `__del__` can.

        owed: where it is yet to be done, if it is: then an interrupted release is.
        """
        try:
            if owed is not None:
                self._process = owed  # first of all, as this may be interrupted, too
            if isinstance(error, Exception) or not isinstance(self._owed, Handle):
                self._process = NOWHERE
            if raises:
                raise error
            if not isinstance(error, Exception):
                finish(_finish, self, error)
            else:
                finalize(error)
        except Exception as another:
            if raises or another is error:
                raise
            finalize(another)
        except BaseException as again:  # again, before anything was done about the first
            if raises or again is error:
                raise
            finish(_finish, self, again)
        finally:
            del error  # which has this frame

    def _hand_over(self) -> None:
        """Have `self._ownership` own it from now on."""
        heir = _new(Ownership)
        heir._begin(self._owed, self._how(), self._quick, self._argument, self._spare)
        self._ownership = heir
        heir._process, self._process = self._process, NOWHERE  # one step: interrupt_safe

    def _shared(self) -> Ownership | None:
        """What owns it from now on, for this object and others: it is released once all of them are gone."""
        with _sharing:
            if self._process.alive:
                self._hand_over()
        if self._ownership is not None:
            self._ownership.mark_shared()
        return self._ownership


_sharing = threading.Lock()  # two graphs may be the first to use an object at the same time


def _finish(owner: Owned) -> None:
    owner._release(True)


def own_finalizer() -> Any:
    """A `__del__` of its own for a class of owners, which may get a lane."""
    return plain_copy(Owned.__del__)


_templates: list[Owned] = []
_states: list[Callable[[object], None]] = []


def give_release_lane(
    function: Any,
    c_function: Any,
    handles: Sequence[InSlot | Noted],
    slots: Mapping[str, object],
    gone: str = "",
    empty: Sequence[Any] = (),
    optional: int = 0,
) -> None:
    """Have a method that releases an owner do so without a step of Python, where that is possible.

    function: `close` or `__del__`; it does what is left to it, and what the C function refuses to do.
    handles: what C gets, of which the first is what is owned. slots: what the owner's have for that; the C
    function is all that releases it then. gone: the slot that has nothing afterwards. empty: containers that
    have to be empty. optional: how many more parameters it has.
    """
    raises = function.__name__ == "close"

    @unchecked_entry
    def refused(status: int, owner: Owned, *_: None) -> None:
        try:
            owner._quick, owner._process = None, process
            owner._release(raises)
        except BaseException:  # the `try`: see interrupt_safe
            raise

    takes = [(place, handle) for place, handle in enumerate(handles)]
    required = {"_process": process, **slots}
    releases = Releases(required, NOWHERE, gone)
    _states.append(
        give_lane(function, c_function, takes, refused, empty=empty, releases=releases, optional=optional)
    )
    _states[-1](process if process.alive else None)


def template(cls: type[Owned], **slots: Any) -> Any:
    """An owner of nothing, of which machine code makes copies that own something: see `status_calls.Makes`.

    slots: what all of them have in these; the others are left empty.
    """
    owner = _new(cls)
    for name, value in slots.items():
        setattr(owner, name, value)
    owner._process = process
    _templates.append(owner)
    return owner


class Ownership(Owned):
    """One thing of CUDA's, released by `function(handle, *rest)` in `context` (0: it needs none).

    quick: a C function of the handle to try first.
    """

    __slots__ = ("how", "is_shared")
    how: Release

    def __init__(
        self,
        function: Callable[..., object],
        handle: object,
        *rest: object,
        context: int = 0,
        quick: Callable[..., int] | None = None,
    ) -> None:
        self._begin(handle, Release(context, function, rest), quick)
        self._process = process
        if _after_capture:
            deferred.retry()

    def _begin(
        self,
        handle: object,
        how: Release,
        quick: Callable[..., int] | None = None,
        argument: object = None,
        spare: Spare | None = None,
    ) -> None:
        """Have everything but a process: until it has one, it owes nothing."""
        self.is_shared, self.how = False, how
        self._quick, self._argument, self._spare = quick, argument, spare
        self._owed = handle

    def _how(self) -> Release:
        return self.how

    def close(self) -> None:
        """Release it now, unless that was done or others share it. Raises CUDAError."""
        if not self.is_shared:
            self._release(True)

    def mark_shared(self) -> None:
        """Let several have it: it is released when the last of them lets go of it."""
        self.is_shared = True

    def change(self, how: Release, quick: Callable[..., int] | None, argument: object) -> None:
        """Have the same handle released in another way."""
        self.how, self._quick, self._argument = how, quick, argument  # one step: interrupt_safe

    def forget(self) -> bool:
        """Leave it to somebody else; False if it was released already."""
        process, self._process = self._process, NOWHERE
        return process is not NOWHERE


_IN_ORDER = hasattr(gc, "callbacks")
"""Whether objects are finalized after those that refer to them, unless the garbage collector is at work."""


class Prerequisite(Ownership):
    """An Ownership of what other things need for their release: a stream, a pool.

    The garbage collector finalizes in any order. So what it comes by is released when it is done: by an heir,
    which goes with the memory of this object, and that is kept by what still needs the stream or the pool.
    """

    __slots__ = ()

    def _hand_over_at_end(self) -> None:
        """If interrupted, it is yet to be done."""
        try:
            if not self._process.alive:
                return
            if captures.may_be_active:  # it may be in a capture
                self._quick = None
            elif _IN_ORDER:  # the garbage collector is not at work
                self._release()
                return
            self._hand_over()
        except AttributeError:  # it never was an owner
            return

    __del__ = finalizer(_hand_over_at_end)  # type: ignore[assignment]


class Spare(list[Any]):
    """Handles to use again. `taken` pops one, `given` appends one: each is one step (`interrupt_safe`)."""

    taken = property(list.pop)
    given = property(None, list.append)


SPARE = 32
"""How many handles of a kind are kept to be used again."""

_new = object.__new__
NOWHERE = Process()
NOWHERE.alive = False


def release(handle: object, how: Release) -> None:
    """Do so as `how` says, in the context if need be, or later. Raises CUDAError, unless all is lost."""
    if isinstance(handle, Handle) and not handle.value:
        return
    context, function, arguments = how
    try:
        try:
            function(handle, *arguments)
        except CUDAError as error:
            if error.code != CUresult.CUDA_ERROR_INVALID_CONTEXT or not context:
                raise
            with_context(context, function, handle, *arguments)
    except CUDAError as error:
        ours = type(error.code) is CUresult  # the numbers of other libraries mean other things
        if ours and error.code in RETRY_LATER:
            deferred.after_capture.append(_again(handle, how))
        elif ours and error.code == CUresult.CUDA_ERROR_NOT_READY:
            deferred.after_work.append(_again(handle, how))
        elif not ours or error.code not in CONTEXT_LOST:
            raise


def _again(handle: object, how: Release) -> Ownership:
    """An Ownership, without another try."""
    ownership = _new(Ownership)
    ownership._begin(handle, how)
    ownership._process = process
    return ownership


def _end() -> None:
    """Give nothing back any more, of what there is now or will be."""
    process.alive = False
    for require in _states:
        require(None)
    deferred.clear()


@in_reset
@forks.in_child
def _begin_again() -> None:
    """Give nothing back of what there is now: it is the parent's, or went with the devices."""
    global process
    _end()
    process = Process()
    for owner in _templates:
        owner._process = process
    for require in _states:
        require(process)


atexit.register(_end)
