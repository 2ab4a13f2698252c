"""Ctrl-C during a function of the simulated driver: deferred until it returns, as from a driver in C.

Meanwhile the main thread's handler of SIGINT is one that notes it. What waits for work looks for that, and
has the program's own handler decide: see `leave`. Otherwise that is called as soon as Python is back in the
program.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal` makes enums of what it takes and returns
import _thread
import sys
import threading
from collections import deque
from functools import partial

from .._process import forks
from .._process.interrupt_safe import later, unchecked_entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any, TypeVar

    F = TypeVar("F", bound=Callable[..., Any])


class Left(KeyboardInterrupt):
    """A wait was left. Whoever called the function that waits gets no more than the end of the call."""


class _State:
    """What there is of it in this process."""

    main = threading.main_thread().ident
    is_held = False
    handler: Any = None  # the program's, from just before it is replaced


class _Noted(list):  # type: ignore[type-arg]
    """Numbers of signals. `sink.all = noted.again` has them come once more: steps in C alone."""

    again = property(partial(map, _thread.interrupt_main))


class _Sink(deque):  # type: ignore[type-arg]
    all = property(None, deque.extend)


class _Nothing:
    """Stands for `later` where nothing is to be raised."""

    noted = armed = None


_WRAPPER = "undisturbed_call"
_sink, _nothing = _Sink(maxlen=0), _Nothing()
_noted = _Noted()
errors: list[BaseException] = []
"""What was raised all the same, to be raised behind the call."""


def _note(number: int, _: object) -> None:
    """The handler meanwhile."""
    _noted.append(number)


def has_come() -> bool:
    """Whether Ctrl-C came, and nobody has been told of it."""
    return bool(_noted) and threading.get_ident() == _State.main


def leave(first: Callable[[], object] | None = None) -> None:
    """In a wait of the main thread: call the program's handler if Ctrl-C came. Else the wait goes on.

    It also goes on if the handler returns. What the handler raises is raised behind the call of the program:
    then this calls `first`, and raises Left. No lock is held meanwhile: the handler is the program's.
    """
    if not has_come():
        return
    try:
        while _noted:
            _State.handler(_noted.pop(0), _frame_of_program())
    except BaseException as error:
        errors.append(error.with_traceback(None))
        if first is not None:
            first()
        raise Left from None


def _frame_of_program() -> FrameType | None:
    """Where the program called the function that waits; None where that was no function of Python."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_code.co_name != _WRAPPER:
        frame = frame.f_back
    return None if frame is None else frame.f_back


def undisturbed(function: F) -> F:
    """`function`, with Ctrl-C deferred until it returns."""

    @unchecked_entry
    def undisturbed_call(*arguments: Any, **named: Any) -> Any:
        try:
            handler = _hold()
        except BaseException as error:
            handler = _hold_in_spite_of(error)
        if handler is None:
            return function(*arguments, **named)
        try:
            return function(*arguments, **named)
        finally:
            _State.is_held = False
            late: Any = later if errors else _nothing
            late.noted = errors[-1] if errors else None
            del errors[:]
            try:
                _restore(handler)
            except BaseException as error:
                late = later
                late.noted = error
                try:
                    _restore(handler)  # if that was the handler of another signal
                except BaseException as another:
                    late.noted = another
            _sink.all = _noted.again  # from here on Python does not look, CPython 3.10 included
            del _noted[:]
            late.armed  # noqa: B018

    return undisturbed_call  # type: ignore[return-value]


def _hold() -> Any:
    """The program's handler, which is replaced; False if it is not Python's; None if nothing is to do."""
    if _thread.get_ident() != _State.main or _State.is_held:
        return None
    handler = _signal.getsignal(2)
    if handler is _note:  # it was replaced, and then the handler of another signal raised something
        handler = _State.handler
    elif callable(handler):
        _State.handler = handler
        _signal.signal(2, _note)
    else:
        handler = False
    _State.is_held = True
    return handler


@unchecked_entry
def _hold_in_spite_of(error: BaseException) -> Any:
    """Like `_hold`, where `error` came first. Raises it in other threads."""
    try:
        if _thread.get_ident() != _State.main:
            raise error
        errors.append(error)
        return _hold()
    except BaseException as another:
        if another is error:
            raise
        return _hold_in_spite_of(another)


def _restore(handler: Any) -> None:
    """Raises what the program's handler does, which may be called at once."""
    if handler and _signal.getsignal(2) is _note:
        _signal.signal(2, handler)


@forks.in_child
def _forked() -> None:
    _State.main, _State.is_held = threading.main_thread().ident, False
