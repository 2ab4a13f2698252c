"""What runs on streams, in what order.

A stream has a `Queue`. Its work runs in order: on the thread that queues it where nothing is before it and it
ends soon (copies, fills, events), else on a thread that the queue starts and that ends when it has been idle.
So kernels and host functions run beside the program, as they do on hardware; streams run beside each other.
"""

from __future__ import annotations

import sys
import threading
import traceback
from collections import deque
from typing import Any

from ..collection import at_work
from ..log import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

IDLE = 0.2  # seconds after which the thread of a queue ends

progress = threading.Condition()
"""Notified whenever work ends; its lock guards all queues."""


def beside(action: Callable[[], Any], name: str) -> threading.Thread | None:
    """The thread that does it; None where no more can be started: at the end of Python 3.12.0 and 3.12.1."""
    try:
        thread = threading.Thread(target=action, name=name, daemon=True)
        thread.start()
    except RuntimeError:
        return None
    return thread


class Work:
    """One thing to do, once all of `after` is done."""

    __slots__ = ("action", "after", "done")

    def __init__(self, action: Callable[[], Any] | None, after: Iterable[Work] = ()) -> None:
        self.action = action
        self.after = tuple(after)
        self.done = False

    def wait(self) -> None:
        """Block until it is done."""
        with progress:
            progress.wait_for(lambda: self.done)


class Faults:
    """What keeps a fault for good, as a context does."""

    error: Refused | None = None
    prints = True  # whether reports go to stderr too

    def fail(self, status: str, report: str) -> None:
        """From now on every call fails with `status`, for the reason in the report; that is printed too."""
        with progress:
            if self.error is not None:
                return
            self.error = Refused(status, report)
        if Faults.prints:
            print(f"cudapy simulator: {report}", file=sys.stderr, flush=True)


class Queue:
    """Work in order. A fault in it goes to `owner`, and what comes later is left out."""

    def __init__(self, owner: Faults) -> None:
        self._owner = owner
        self._pending: deque[Work] = deque()
        self._running: Work | None = None
        self._thread: threading.Thread | None = None
        self._last: Work | None = None

    @property
    def last(self) -> Work | None:
        """The newest work, unless it is done."""
        last = self._last
        return None if last is None or last.done else last

    def submit(
        self, action: Callable[[], Any] | None, after: Iterable[Work] = (), soon: bool = False
    ) -> Work:
        """Queue one thing to do. `soon`: it ends soon, and may as well run at once."""
        work = Work(action)
        with progress:
            work.after = tuple(other for other in after if not other.done)
            self._last = work
            at_once = soon and self._running is None and not self._pending and not work.after
            if at_once:
                self._running = work
            else:
                self._pending.append(work)
                if self._thread is None:
                    self._thread = beside(self._work, "cudapy stream")
                else:
                    progress.notify_all()
        if at_once:
            self._run(work)
        if self._pending and self._thread is None:
            self._work_here()
        return work

    def _work_here(self) -> None:
        """Do what is pending, unless something runs: whoever runs that goes on with the rest."""
        while True:
            with progress:
                if self._thread is not None or self._running is not None or not self._pending:
                    return
                work = self._next()
            self._run(work)

    def _work(self) -> None:
        while True:
            with progress:
                ready = progress.wait_for(lambda: self._pending and self._running is None, IDLE)
                if not ready:
                    if self._running is None and not self._pending:
                        self._thread = None
                        return
                    continue
                work = self._next()
            self._run(work)

    def _next(self) -> Work:
        work = self._running = self._pending.popleft()
        while not all(other.done for other in work.after):
            progress.wait()
        return work

    def _run(self, work: Work) -> None:
        try:
            if work.action is not None and self._owner.error is None:
                with at_work:
                    work.action()
        except Refused as refused:
            self._owner.fail(
                refused.status, refused.reason
            )  # a fault: what a call refuses, it refuses at once
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            traceback.print_exception(error)
            self._owner.fail(
                "CUDA_ERROR_UNKNOWN", f"a mistake in the simulator: {type(error).__name__}: {error}"
            )
        finally:
            with progress:
                work.done = True
                work.action = None
                work.after = ()
                self._running = None
                progress.notify_all()
