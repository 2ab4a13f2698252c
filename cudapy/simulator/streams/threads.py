"""The threads that do the work of streams: the lock they share, when they start, and how they take turns."""

from __future__ import annotations

import _thread
import sys
import threading
import time
from functools import partial

from ..._process import forks
from ..engine import IdleThreads
from ..gc_pause import gc_pause

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .work import Queue

guard = threading.RLock()
"""Guards all queues, and what waits for their work."""

progress = threading.Condition(guard)
"""Notified whenever work ends."""

SLICE = 0.05  # seconds of a wait, between two looks for Ctrl-C
IDLE = 0.02  # seconds for which a thread waits for more work
TICK = 0.001  # seconds; a kernel that nobody waits for begins one to two of these later
SWITCH = 0.0005  # seconds for a thread of Python while there is work; see `switching`


def wait_until(holds: Callable[[], bool]) -> None:
    """Block until it does, with `guard` locked."""
    progress.wait_for(holds)


def _observed(trace: Any, profile: Any, action: Callable[[], Any]) -> None:
    """Do it in a new thread, which these functions are told of."""
    if trace is not None:
        sys.settrace(trace)
    if profile is not None:
        sys.setprofile(profile)
    action()


_idle = IdleThreads(IDLE)
forks.in_child(_idle.forget)


def beside(action: Callable[[], Any]) -> bool:
    """Have a thread do it. False where no more can be started: at the end of Python 3.12.0 and 3.12.1.

    A finalizer may come here while its thread is in the middle of `threading`, whose locks are not for two.
    What threading.settrace and setprofile were given holds for it, too: debuggers and coverage.py see it.
    """
    trace, profile = threading.gettrace(), threading.getprofile()
    try:
        if not getattr(_thread, "daemon_threads_allowed", lambda: True)():
            return False
        if trace is not None or profile is not None:
            _thread.start_new_thread(partial(_observed, trace, profile, action), ())
            return True
        _idle.start(action)
    except RuntimeError:
        return False
    return True


class _Switching:
    """How often threads of Python take turns: often while work is not done, so that it begins soon, and so
    that the program's own threads do not wait long for the GIL meanwhile. With `guard` locked.
    """

    def __init__(self) -> None:
        self._count = 0  # of works that are not done
        self._interval = 0.0  # before the first of them; 0 if it was short enough

    def forked(self) -> None:
        """In a child, which does none of the work."""
        self._count = min(self._count, 1)
        if self._count:
            self.end()

    def begin(self) -> None:
        self._count += 1
        if self._count == 1:
            interval = sys.getswitchinterval()
            self._interval = interval if interval > SWITCH else 0.0
            if self._interval:
                sys.setswitchinterval(SWITCH)

    def end(self) -> None:
        self._count = max(self._count - 1, 0)
        if not self._count and self._interval and abs(sys.getswitchinterval() - SWITCH) < 1e-6:
            sys.setswitchinterval(self._interval)


switching = _Switching()
forks.in_child(switching.forked)


class _Starter:
    """Starts the threads of queues that have waited for a while. With `guard` locked."""

    def __init__(self) -> None:
        self._new: list[Queue] = []  # since the last tick
        self._old: list[Queue] = []  # since the one before
        self._ticks = False

    def forked(self) -> None:
        """In a child, which has none of the threads."""
        self._new, self._old, self._ticks = [], [], False

    def will_start(self, queue: Queue) -> bool:
        """Whether it starts the thread of a queue after one to two ticks, if that is needed then."""
        if not self._ticks:
            self._ticks = beside(self._tick)
        if self._ticks:
            self._new.append(queue)
        return self._ticks

    def start_all(self) -> None:
        """Start them now."""
        with guard:
            queues, self._old, self._new = [*self._old, *self._new], [], []
            for queue in queues:
                queue.start()

    def _tick(self) -> None:
        """Until nothing came for a while."""
        since = 0.0
        while since < IDLE:
            time.sleep(TICK)
            since += TICK
            with gc_pause, guard:
                if self._old or self._new:
                    since = 0.0
                queues, self._old, self._new = self._old, self._new, []
                for queue in queues:
                    queue.start()
                self._ticks = since < IDLE


starter = _Starter()
forks.in_child(starter.forked)
