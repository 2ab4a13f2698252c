"""No garbage collection while the simulator is at work.

A driver in C makes no garbage. This one does, and were the collector to run then, finalizers of the program
would call a driver that is in the middle of something: wait for the very work that their own thread does.
A thread that works for the program, such as that of a stream, is at work as long as it has anything to do.
"""

from __future__ import annotations

import gc
import threading
import time

from .._process import forks

PAUSE = 1e-5  # seconds
PATIENCE = 0.05  # seconds


class GcPause:
    """`with gc_pause:` around what the simulator does, in any thread, also within another.

    Since Python 3.12 the collector may run behind any call, that of `gc.enable` for one, and what it
    finalizes comes by here again. So nothing is called while the lock is held. A thread that enables the
    collector makes those wait that have come since, and finalizes nothing meanwhile if it can: not for long,
    as what it finalizes may wait for a lock that one of them holds. Then they go on: it has enabled the
    collector by now, or will not any more.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._count = 0  # of those at work
        self._was_enabled = False
        self._enabling = 0  # the thread that enables the collector; 0: none

    def __enter__(self) -> None:
        me = threading.get_ident()
        with self._lock:
            self._count += 1
            if self._enabling == me:
                self._enabling = 0
        if self._enabling:
            self._wait()
        if gc.isenabled():
            self._was_enabled = True
            gc.disable()

    def _wait(self) -> None:
        """Until no thread enables the collector."""
        until = time.monotonic() + PATIENCE
        while self._enabling:
            if time.monotonic() > until:
                self._take_over()
            time.sleep(PAUSE)

    def __exit__(self, *exception: object) -> None:
        me = threading.get_ident()
        with self._lock:
            if self._count:  # else this thread was forked meanwhile
                self._count -= 1
            last = self._was_enabled and not self._count and not self._enabling
            if last:
                self._enabling = me
                self._was_enabled = False
        if last:
            if self._enabling == me:  # the GIL lets no other thread run between this and the next call
                gc.enable()
            if self._enabling == me:  # nothing in between makes anything, so the collector does not run there
                self._enabling = 0

    def _take_over(self) -> None:
        """Whoever is last to leave enables the collector, and not the thread that was about to."""
        with self._lock:
            if self._enabling:
                self._enabling = 0
                self._was_enabled = True

    def forked(self) -> None:
        """In a child, which has one thread: those of the parent that were at work are not there."""
        rests = self._was_enabled
        self.__init__()  # type: ignore[misc]
        if rests:
            gc.enable()


gc_pause = GcPause()
forks.in_child(gc_pause.forked)
