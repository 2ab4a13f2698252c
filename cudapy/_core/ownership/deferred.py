"""Releases that have to wait, and objects that the device still uses.

What cannot be released because a stream is capturing, or in a function that a stream calls, is tried again
when something is next made, such as the graph in the end, or waited for. What is not ready, because work has
yet to end, is tried again when something was waited for.
"""

from collections import deque
from collections.abc import Callable
from typing import Protocol

from ..._bindings.errors import STICKY, CUDAError
from ...driver import CUresult
from ..context.current import RelaxedCaptureMode

CONTEXT_LOST = STICKY | {CUresult.CUDA_ERROR_DEINITIALIZED, CUresult.CUDA_ERROR_CONTEXT_IS_DESTROYED}
_NO_ANSWER = {CUresult.CUDA_ERROR_INVALID_HANDLE, CUresult.CUDA_ERROR_CAPTURED_EVENT}


class Finishing(Protocol):
    """Something that knows whether it is done: an Event."""

    @property
    def is_done(self) -> bool: ...


class DeferredReleases:
    """The queues of a process. An object is released by dropping the last reference, which is in a queue."""

    def __init__(self) -> None:
        self.after_capture: deque[object] = deque()
        self.after_work: deque[object] = deque()
        self.after_waiting: list[Callable[[], None]] = []
        """What else is to be done whenever something was waited for."""
        self._in_use: deque[tuple[Finishing, tuple[object, ...]]] = deque()
        self.all = (self.after_capture, self.after_work, self.after_waiting, self._in_use)
        """There is nothing to `drain` while all of these are empty."""

    def retry(self, queue: deque[object] | None = None) -> None:
        """Release what had to wait, by default for the end of a capture; what still has to, waits on."""
        waiting = self.after_capture if queue is None else queue
        for _ in range(len(waiting)):
            try:
                waiting.popleft()  # its last reference; and if it is too early, it gets in line again
            except IndexError:  # another thread was here
                return

    def keep_alive_until(self, done: Finishing, *objects: object) -> None:
        """Keep `objects` alive until `done.is_done`, for work that CUDA has yet to do with their memory.

        What was kept before and is not used any more is released. Not what waits for another reason: its
        release may wait for the device, which a call that only queues work does not.
        """
        self._release_unused()
        self._in_use.append((done, objects))

    def drain(self) -> None:
        """Release what can be by now. Called whenever something was waited for, or is made."""
        if self.after_capture:
            self.retry()
        if self.after_work:
            self.retry(self.after_work)
        for function in self.after_waiting:
            function()
        if self._in_use:
            self._release_unused()

    def _release_unused(self) -> None:
        """Release what was kept for work that is done."""
        with RelaxedCaptureMode():
            for _ in range(len(self._in_use)):
                try:
                    done, objects = self._in_use.popleft()
                except IndexError:  # another thread was here
                    return
                try:
                    if not done.is_done:
                        self._in_use.append((done, objects))
                except CUDAError as error:
                    if error.code not in CONTEXT_LOST | _NO_ANSWER:  # a lost context uses nothing any more
                        self._in_use.append((done, objects))

    def clear(self) -> None:
        """Drop all of it: the process ends, or is a fork, in which none of it is to be released."""
        self.after_capture.clear()
        self.after_work.clear()
        self._in_use.clear()


deferred = DeferredReleases()
