"""Threads that wait a while for more to do: to start one takes longer than much of what they do."""

from __future__ import annotations

import _thread
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class IdleThreads:
    """Threads that end once nobody has needed them for some seconds."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._idle: list[_Thread] = []

    def start(self, action: Callable[[], Any]) -> None:
        """Have one do it. Raises RuntimeError where none can be started."""
        try:
            idle = self._idle.pop()
        except IndexError:
            _thread.start_new_thread(_Thread(self._idle, self._seconds).run, (action,))
        else:
            idle.give(action)

    def forget(self) -> None:
        """In a process that was forked: it has none of its parent's."""
        self._idle.clear()


class _Thread:
    def __init__(self, idle: list[_Thread], seconds: float) -> None:
        self._idle, self._seconds = idle, seconds
        self._turn = _thread.allocate_lock()
        self._turn.acquire()
        self._action: Callable[[], Any] | None = None

    def give(self, action: Callable[[], Any]) -> None:
        self._action = action
        self._turn.release()

    def run(self, action: Callable[[], Any]) -> None:
        """Do it, and what is given meanwhile."""
        while True:
            action()
            self._idle.append(self)
            if not self._turn.acquire(timeout=self._seconds):
                try:
                    self._idle.remove(self)
                    return
                except ValueError:  # somebody is about to give it something
                    self._turn.acquire()
            assert self._action is not None
            action, self._action = self._action, None
