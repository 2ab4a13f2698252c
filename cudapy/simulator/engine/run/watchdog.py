"""Kernels whose threads only read memory that no thread changes, and kernels that run for too long.

The former are reported once (`Device.notify`): it may be a spin lock or a barrier of the program's own that
is right, and slow. A kernel over the time limit, if one is set, is a fault, and so is one that Ctrl-C ends.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PATIENCE = 5.0
"""Seconds for which all threads only read memory before that is reported."""
_BETWEEN = 0.1
"""Seconds between two checks."""


class Watchdog:
    """Measures one launch."""

    def __init__(self, is_interrupted: Callable[[], bool], timeout: float) -> None:
        self._is_interrupted = is_interrupted
        self._timeout = timeout
        """Seconds; 0: no limit."""
        self._start = self._next = time.monotonic()
        self._only_looking = self._start
        """When it began that all threads only read memory."""
        self._live = -1
        self._is_said = False
        self.has_worked = False
        """Whether, since the last check, a thread did more in NumPy than look."""

    @property
    def is_due(self) -> bool:
        """Whether it is time for a check."""
        now = time.monotonic()
        if now < self._next:
            return False
        self._next = now + _BETWEEN
        return True

    @property
    def why_over(self) -> str:
        """Why the launch must end, for a report: the time limit or Ctrl-C; "" while it may go on."""
        if self._is_interrupted():
            return f"was interrupted from the keyboard after {self.seconds:.0f} s"
        if self._timeout and self.seconds > self._timeout:
            return f"has run for {self.seconds:.0f} s, longer than the limit of {self._timeout:g} s"
        return ""

    @property
    def seconds(self) -> float:
        """Since the launch began."""
        return time.monotonic() - self._start

    def should_say(self, looks: bool, live: int) -> bool:
        """Whether to report now that all threads wait.

        looks: all threads that run only read memory; live: how many threads have not ended.
        """
        now = time.monotonic()
        if not looks or self.has_worked or live != self._live:
            self._only_looking, self._live, self.has_worked = now, live, False
            return False
        if self._is_said or now - self._only_looking < PATIENCE:
            return False
        self._is_said = True
        return True
