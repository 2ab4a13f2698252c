"""Ctrl-C while a C function that is Python inside runs.

No exception leaves a ctypes callback: what C calls catches KeyboardInterrupt, says `left` and returns a
status. Behind the call, ctypes has Python code run once more, `behind`, which raises it anew.
"""

from __future__ import annotations

import _thread
import signal
import sys
import threading
import time
from typing import Any

from .streams.work import beside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

AFTER = 0.005  # seconds between one look whether a call that was interrupted has ended and the next


class _Here(threading.local):
    """Whether the C function that ran last on this thread came to its end, and `behind` has yet to ask."""

    ended = False


here = _Here()

_waiting: list[FrameType] = []
"""The calls that KeyboardInterrupt left, in the main thread, until it is raised anew."""


def left(call: FrameType) -> None:
    """Have KeyboardInterrupt raised anew in the main thread, once it has left `call`."""
    _waiting.append(call)
    beside(lambda: _interrupt(call))


def behind(result: Any, function: Any, arguments: tuple[Any, ...]) -> Any:
    """What ctypes calls once the C function has ended. Raises KeyboardInterrupt if that was interrupted.

    A function that has not come to its end was interrupted before its first statement, or again while it
    dealt with that: ctypes has printed so and gone on.
    """
    ended, here.ended = here.ended, False
    if (_waiting or not ended) and threading.get_ident() == threading.main_thread().ident:
        _waiting.clear()
        raise KeyboardInterrupt
    return result


def _interrupt(call: FrameType) -> None:
    """Interrupt the main thread, even where it sleeps, once it has left `call` and nothing else has.

    For a program that calls through a pointer, not through ctypes: nothing of ours runs behind its call.
    """
    main = threading.main_thread().ident or 0
    is_in = True
    while is_in:
        is_in = _is_in(call, sys._current_frames().get(main))
        time.sleep(AFTER)
        if not _waiting:
            return
    _waiting.clear()
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(main, signal.SIGINT)
    else:
        _thread.interrupt_main()


def _is_in(call: FrameType, frame: FrameType | None) -> bool:
    """Whether `call` is `frame` or one of those that it returns to."""
    while frame is not None and frame is not call:
        frame = frame.f_back
    return frame is call
