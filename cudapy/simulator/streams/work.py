"""What runs on streams, in what order.

A stream has a `Queue`. Its work runs in order: on the thread that queues it where nothing is before it and it
ends soon (copies, fills, events), else on a thread that the queue starts and that ends when nothing is left.
So kernels and host functions run beside the program, as they do on hardware; streams run beside each other.

What the garbage collector finalizes waits for streams, in whatever thread the collector runs. In one that has
work to do, it would wait for itself. So a thread counts as at work from before its first work is there until
it has none left, and none is given to it later: whoever starts it counts for it until it counts for itself.
"""

from __future__ import annotations

import _thread
import sys
import threading
import time
import traceback
from collections import deque
from functools import partial
from typing import Any

from .. import findings
from ..gc_pause import gc_pause
from ..interrupts import leave
from ..log import log
from ..refused import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

guard = threading.RLock()
"""Guards all queues."""

progress = threading.Condition(guard)
"""Notified whenever work ends."""

SLICE = 0.05  # seconds
PAUSE = 0.0005  # seconds


def wait_until(holds: Callable[[], bool]) -> None:
    """Block until it does, with `guard` locked."""
    progress.wait_for(holds)


waited_for: dict[int, tuple[Work, float]] = {}
"""What a call of a thread of the program waits for, by the thread's number, and since when."""


class _Here(threading.local):
    """Whether this thread is in the middle of work."""

    works = False


_here = _Here()


def _observed(trace: Any, profile: Any, action: Callable[[], Any]) -> None:
    """Do it in a new thread, which these functions are told of."""
    if trace is not None:
        sys.settrace(trace)
    if profile is not None:
        sys.setprofile(profile)
    action()


def beside(action: Callable[[], Any]) -> bool:
    """Have a thread do it. False where no more can be started: at the end of Python 3.12.0 and 3.12.1.

    A finalizer may come here while its thread is in the middle of `threading`, whose locks are not for two.
    What threading.settrace and setprofile were given holds for it, too: debuggers and coverage.py see it.
    """
    trace, profile = threading.gettrace(), threading.getprofile()
    if trace is not None or profile is not None:
        action = partial(_observed, trace, profile, action)
    try:
        if not getattr(_thread, "daemon_threads_allowed", lambda: True)():
            return False
        _thread.start_new_thread(action, ())
    except RuntimeError:
        return False
    return True


def may_wait() -> None:
    """Raise Refused in the middle of work: what a host function waits for may be what waits for it."""
    if _here.works:
        raise Refused(
            "CUDA_ERROR_NOT_PERMITTED",
            "a host function must not call CUDA: the work that it waits for may wait for it",
        )


class Work:
    """One thing to do, once all of `after` is done."""

    __slots__ = ("action", "after", "done")

    def __init__(self, action: Callable[[], Any] | None, after: Iterable[Work] = ()) -> None:
        self.action = action
        self.after = tuple(after)
        self.done = False

    def wait(self) -> None:
        """Block until it is done, for a call of the program. Raises Refused in the middle of work.

        In slices, so that Ctrl-C ends it: raises Left.
        """
        if not self.done:
            may_wait()
            me = threading.get_ident()
            waited_for[me] = self, time.monotonic()
            try:
                with guard:
                    while not progress.wait_for(lambda: self.done, SLICE):
                        leave()
            finally:
                waited_for.pop(me, None)

    def pause(self) -> None:
        """Block until it is done, but for no longer than a thread of Python is let run while others wait.

        For a call that asks whether it is done: a program that asks again and again would else keep the GIL
        from the thread that does the work.
        """
        with guard:
            if not self.done:
                progress.wait(PAUSE)

    def follow(self) -> None:
        """Block until it is done, for work that comes behind it."""
        with guard:
            wait_until(lambda: self.done)


class Faults:
    """What keeps a fault for good, as a context does."""

    error: Refused | None = None
    prints = True  # whether reports that the program does not read go to stderr

    def __init__(self) -> None:
        self.busy: set[Queue] = set()  # the queues that have work, also of streams that were destroyed

    def fail(self, status: str, report: str) -> None:
        """From now on every call fails with `status`, for the reason in the report."""
        with guard:
            if self.error is not None:
                return
            # who sees the error, and ends for it, finds the report in its place
            findings.note(findings.kind_of(report), report, status=status)
            if Faults.prints:
                log.report(report)
            self.error = Refused(status, report)


class Queue:
    """Work in order. A fault in it goes to `owner`, and what comes later is left out.

    place: the context of its stream, `owner` or a part of that.
    is_blocking: whether it takes part in the order that the legacy default stream demands.
    """

    def __init__(self, owner: Faults, place: Faults | None = None, is_blocking: bool = False) -> None:
        self._owner = owner
        self.place = place or owner
        self.is_blocking = is_blocking
        self._pending: deque[Work] = deque()
        self._running: Work | None = None
        self._has_thread = False  # that does what is pending
        self._last: Work | None = None

    @property
    def last(self) -> Work | None:
        """The newest work, unless it is done."""
        last = self._last
        return None if last is None or last.done else last

    def has(self, work: Work) -> bool:
        """Whether some work is in this queue, and is not done."""
        with guard:
            return work is self._running or work in self._pending

    def submit(
        self, action: Callable[[], Any] | None, after: Iterable[Work] = (), soon: bool = False
    ) -> Work:
        """Queue one thing to do. `soon`: it ends soon, and may as well run at once."""
        work = Work(action)
        with gc_pause:
            with guard:
                work.after = tuple(other for other in after if not other.done)
                self._last = work
                self._owner.busy.add(self)
                at_once = soon and self._running is None and not self._pending and not work.after
                starts = not at_once and not self._has_thread
                if at_once:
                    self._running = work
                else:
                    self._pending.append(work)
                if starts:
                    self._start()
            if at_once:
                self._run(work)
            elif starts:
                time.sleep(2e-5)  # lets the thread begin, which else waits for the switch interval of Python
            if self._pending and not self._has_thread:
                self._work_here()
        return work

    def _start(self) -> None:
        """Have a thread do what is pending. It counts as at work from here on, until it says otherwise."""
        gc_pause.__enter__()
        self._has_thread = beside(self._work)
        if not self._has_thread:
            gc_pause.__exit__()

    def _work_here(self) -> None:
        """Do what is pending, unless something runs: whoever runs that goes on with the rest."""
        while True:
            with guard:
                if self._has_thread or self._running is not None or not self._pending:
                    return
                work = self._next()
            self._run(work)

    def _work(self) -> None:
        try:
            while True:
                with guard:
                    wait_until(lambda: self._running is None)
                    if not self._pending:
                        self._has_thread = False
                        return
                    work = self._next()
                self._run(work)
        finally:
            gc_pause.__exit__()

    def _next(self) -> Work:
        work = self._running = self._pending.popleft()
        wait_until(lambda: all(other.done for other in work.after))
        return work

    def _run(self, work: Work) -> None:
        before, _here.works = _here.works, True
        try:
            if work.action is not None and self._owner.error is None:
                work.action()
        except Refused as refused:
            self._owner.fail(
                refused.status, refused.reason
            )  # a fault: what a call refuses, it refuses at once
        except BaseException as error:
            traceback.print_exception(error)
            self._owner.fail(
                "CUDA_ERROR_UNKNOWN", f"a mistake in the simulator: {type(error).__name__}: {error}"
            )
        finally:
            _here.works = before
            with guard:
                work.done = True
                work.action = None
                work.after = ()
                self._running = None
                if not self._pending:
                    self._owner.busy.discard(self)
                progress.notify_all()
