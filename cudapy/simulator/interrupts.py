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
    from collections.abc import Iterator
    from types import FrameType

AFTER = 0.005  # seconds between one look whether a call that was interrupted has ended and the next


class _Here(threading.local):
    """This thread's C functions that came to their end, and behind which `behind` has yet to be.

    They are known by the frame that called them. There are several where the garbage collector, or a handler
    of signals, calls others just then.
    """

    ended: tuple[FrameType | None, ...] = ()


here = _Here()

_waiting: list[FrameType | None] = []
"""Who made the calls that KeyboardInterrupt left, in the main thread, until it is raised anew."""


def tidy() -> None:
    """Forget the calls that it will not be behind: made through a pointer, or Ctrl-C came in between."""
    if all(frame.f_code is not behind.__code__ for frame in _stack(sys._getframe())):
        here.ended = ()


def left(call: FrameType) -> None:
    """Have KeyboardInterrupt raised anew in the main thread, once it has left `call`."""
    _waiting.append(call.f_back)
    beside(lambda: _interrupt(call))


def behind(result: Any, function: Any, arguments: tuple[Any, ...]) -> Any:
    """What ctypes calls once the C function has ended. Raises KeyboardInterrupt if that was interrupted.

    A function that has not come to its end was interrupted before its first statement, or again while it
    dealt with that: ctypes has printed so and gone on.
    """
    ended, caller = here.ended, sys._getframe().f_back
    if caller in ended:
        here.ended = ended[: ended.index(caller)]
        if caller not in _waiting:
            return result
    if threading.get_ident() == threading.main_thread().ident:
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
        is_in = call in _stack(sys._current_frames().get(main))
        time.sleep(AFTER)
        if not _waiting:
            return
    _waiting.clear()
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(main, signal.SIGINT)
    else:
        _thread.interrupt_main()


def _stack(frame: FrameType | None) -> Iterator[FrameType]:
    """A frame and those that it returns to."""
    while frame is not None:
        yield frame
        frame = frame.f_back
