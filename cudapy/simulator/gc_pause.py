"""No garbage collection while the simulator is at work.

A driver in C makes no garbage. This one does, and were the collector to run then, finalizers of the program
would call a driver that is in the middle of something: wait for the very work that their own thread does.
A thread that works for the program, such as that of a stream, is at work as long as it has anything to do.
What calls from C does the same in machine code, around all that is Python: see `shared.machine_code`.
"""

import ctypes
import gc
import threading
import time

from .._process import forks

PAUSE = 1e-5  # seconds
PATIENCE = 0.05  # seconds


class Words(ctypes.Structure):
    """What machine code changes, too, with the GIL held: `shared.machine_code.PAUSE`."""

    _fields_ = [(name, ctypes.c_int64) for name in ("calls", "working", "was_enabled")]


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
        self.words = Words()
        self._enabling = 0  # the thread that enables the collector; 0: none

    def __enter__(self) -> None:
        me = threading.get_ident()
        with self._lock:
            self.words.working += 1
            if self._enabling == me:
                self._enabling = 0
        if self._enabling:
            self._wait()
        if gc.isenabled():
            self.words.was_enabled = 1
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
            words = self.words
            if words.working:  # else this thread was forked meanwhile
                words.working -= 1
            last = words.was_enabled and not words.working and not words.calls and not self._enabling
            if last:
                self._enabling = me
                words.was_enabled = 0
        if last:
            if words.calls:  # the last of them enables it
                words.was_enabled = 1
            elif self._enabling == me:  # the GIL lets no other thread run between this and the next call
                gc.enable()
            if self._enabling == me:  # nothing in between makes anything, so the collector does not run there
                self._enabling = 0

    def _take_over(self) -> None:
        """Whoever is last to leave enables the collector, and not the thread that was about to."""
        with self._lock:
            if self._enabling:
                self._enabling = 0
                self.words.was_enabled = 1

    def forked(self) -> None:
        """In a child, which has one thread: those of the parent that were at work are not there."""
        self._lock = threading.RLock()
        self._enabling = 0
        rests = self.words.was_enabled
        ctypes.memset(ctypes.byref(self.words), 0, ctypes.sizeof(Words))
        if rests:
            gc.enable()


gc_pause = GcPause()
forks.in_child(gc_pause.forked)
