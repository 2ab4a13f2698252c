"""Whose turn it is: kernels of several streams run by turns, so that one may wait for what another writes."""

from __future__ import annotations

import threading
import time
from collections import deque

from .faults import Ended

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .faults import Faults

SLICE = 0.002  # seconds for a kernel, if others wait


class KernelTimeSlices:
    """`with time_slices:` around a kernel. In between, its `pause` lets another run that waits."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[threading.Lock] = deque()
        self._is_taken = False
        self._since = 0.0

    def __enter__(self) -> None:
        with self._lock:
            if self._is_taken:
                turn = self._queue()
            else:
                self._is_taken, turn = True, None
        if turn is not None:
            turn.acquire()
        self._since = time.perf_counter()

    def __exit__(self, *exception: object) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft().release()
                return
            self._is_taken = False

    def pause_of(self, faults: Faults) -> Callable[[], None]:
        """What a kernel whose faults go there calls between two of its blocks.

        It waits for its next turn if others wait and this one was long; and it raises Ended after a fault.
        """
        waiting = self._waiting

        def pause() -> None:
            if waiting and time.perf_counter() - self._since >= SLICE:
                self._change()
            if faults.is_lost:
                raise Ended

        return pause

    def _change(self) -> None:
        """Let another run, and wait for the next turn."""
        with self._lock:
            turn = self._queue()
            self._waiting.popleft().release()
        turn.acquire()
        self._since = time.perf_counter()

    def _queue(self) -> threading.Lock:
        turn = threading.Lock()
        turn.acquire()
        self._waiting.append(turn)
        return turn
