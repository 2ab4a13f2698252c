"""No garbage collection while the simulator is at work.

A driver in C makes no garbage. This one does, and were the collector to run then, finalizers of the program
would call a driver that is in the middle of something: wait for the very work that their own thread does.
"""

from __future__ import annotations

import gc
import threading


class AtWork:
    """`with at_work:` around what the simulator does, in any thread, also within another."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0
        self._was_enabled = False

    def __enter__(self) -> None:
        with self._lock:
            if not self._count:
                self._was_enabled = gc.isenabled()
                gc.disable()
            self._count += 1

    def __exit__(self, *exception: object) -> None:
        with self._lock:
            self._count -= 1
            if not self._count and self._was_enabled:
                gc.enable()


at_work = AtWork()
