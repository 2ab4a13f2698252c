"""Kernels that look for ever at memory that nobody changes, and those that run for too long.

The first are said on stderr, once: that may be a spin lock or a barrier of a program's own that is right, and
slow. The second, if a limit is set, are faults, and so are those that Ctrl-C ends.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from .. import settings

if TYPE_CHECKING:
    from collections.abc import Callable

PATIENCE = 5.0
"""Seconds in which all threads only look at memory, after which that is said."""
_BETWEEN = 0.1
"""Seconds between two looks at the threads."""


class Watchdog:
    """Of one launch."""

    def __init__(self, is_interrupted: Callable[[], bool]) -> None:
        self._is_interrupted = is_interrupted
        self._start = self._next = time.monotonic()
        self._only_looking = self._start
        """Since when."""
        self._live = -1
        self._is_said = False

    @property
    def is_due(self) -> bool:
        """Whether it is time to look at the threads."""
        now = time.monotonic()
        if now < self._next:
            return False
        self._next = now + _BETWEEN
        return True

    @property
    def why_over(self) -> str:
        """What ends the launch, for a report: its time is over, or Ctrl-C came; "" while it may go on."""
        limit = settings.current.timeout
        if self._is_interrupted():
            return f"was interrupted from the keyboard after {self.seconds:.0f} s"
        if limit and self.seconds > limit:
            return f"has run for {self.seconds:.0f} s, longer than the limit of {limit:g} s"
        return ""

    @property
    def seconds(self) -> float:
        """Since the launch began."""
        return time.monotonic() - self._start

    def should_say(self, looks: bool, live: int) -> bool:
        """Whether that all threads wait is to be said now.

        looks: all that run do nothing but look at memory; live: how many threads have not ended.
        """
        now = time.monotonic()
        if not looks or live != self._live:
            self._only_looking, self._live = now, live
            return False
        if self._is_said or now - self._only_looking < PATIENCE:
            return False
        self._is_said = True
        return True
