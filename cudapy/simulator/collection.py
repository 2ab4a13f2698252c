"""No garbage collection while the simulator is at work.

A driver in C makes no garbage. This one does, and were the collector to run then, finalizers of the program
would call a driver that is in the middle of something: wait for the very work that their own thread does.
"""

from __future__ import annotations

import gc
import threading
import time

PAUSE = 1e-5  # seconds
PATIENCE = 0.05  # seconds: by then the collector is enabled, and whoever comes rests it again


class AtWork:
    """`with at_work:` around what the simulator does, in any thread, also within another.

    Since Python 3.12 the collector may run behind any call, that of `gc.enable` for one, and what it
    finalizes comes by here again. So nothing is called while the lock is held. A thread that enables the
    collector makes those wait that have come since, and finalizes nothing meanwhile if it can: not for long,
    as what it finalizes may wait for a lock that one of them holds.
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
        until = time.monotonic() + PATIENCE
        while self._enabling and time.monotonic() < until:
            time.sleep(PAUSE)
        if gc.isenabled():
            self._was_enabled = True
            gc.disable()

    def __exit__(self, *exception: object) -> None:
        me = threading.get_ident()
        with self._lock:
            self._count -= 1
            last = self._was_enabled and not self._count and not self._enabling
            if last:
                self._was_enabled = False
                self._enabling = me
        if last:
            gc.enable()
            if self._enabling == me:  # nothing in between makes anything, so the collector does not run there
                self._enabling = 0


at_work = AtWork()
