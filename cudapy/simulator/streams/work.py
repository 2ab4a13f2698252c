"""What runs on streams, in what order.

A stream has a `Queue`. Its work runs in order: on the thread that queues it where nothing is before it and it
ends soon (copies, fills, events), else on a thread that the queue has until nothing is left. So kernels and
host functions run beside the program, as they do on hardware; streams run beside each other. A queue in which
only kernels are pending has its thread a little later: most programs wait for a kernel at once, and a thread
that waits runs it faster than two that give each other the GIL.

What the garbage collector finalizes waits for streams, in whatever thread the collector runs. In one that has
work to do, it would wait for itself. So a thread counts as at work from before its first work is there until
it has none left, and none is given to it later: whoever starts it counts for it until it counts for itself.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from typing import Any

from ..gc_pause import gc_pause
from ..interrupts import has_come, leave
from ..refused import Refused
from ..stderr import say_mistake
from . import order
from .faults import Ended, Faults, faults_here, go_on, here, may_wait, turn_here
from .threads import SLICE, beside, guard, progress, starter, switching, wait_until

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

PAUSE = 0.0005  # seconds
AGAIN = 1.0  # seconds between two questions of a program that asks again and again

waited_for: dict[int, tuple[Work, float]] = {}
"""What a call of a thread of the program waits for, by the thread's number, and since when."""


class Work:
    """One thing to do, once all of `after` is done.

    owner: where its faults go.
    is_bookkeeping: it is done in a lost context as well.
    in_wait: a thread that waits for it may do it.
    turn: its place in the order that the program gives, if that is looked at.
    """

    __slots__ = (
        "action",
        "after",
        "asked",
        "asked_since",
        "counts",
        "done",
        "in_wait",
        "is_bookkeeping",
        "is_queued",
        "owner",
        "turn",
    )

    def __init__(
        self, owner: Faults, action: Callable[[], Any] | None, is_bookkeeping: bool, in_wait: bool = False
    ) -> None:
        self.owner = owner
        self.action = action
        self.is_bookkeeping = is_bookkeeping
        self.in_wait = in_wait
        self.is_queued = False  # it did not run at once
        self.after: tuple[Work, ...] = ()
        self.counts = False  # as one that runs
        self.asked = self.asked_since = 0.0  # when calls last asked whether it is done, again and again since
        self.done = False
        self.turn: order.Turn | None = None

    @classmethod
    def point(cls) -> Work:
        """Stands for what this thread has done so far of its work: it is done, and waits know its order."""
        work = cls(faults_here(), None, True)
        work.done = True
        work.turn = turn_here()
        return work

    @property
    def is_over(self) -> bool:
        """Whether no call waits for it any more: it is done, or its context has a fault."""
        return self.done or self.owner.error is not None

    def may_run(self) -> bool:
        """Whether it is done at all, now that its turn has come."""
        if not self.counts:
            self.owner.await_error()
        return self.counts or self.is_bookkeeping

    def wait(self, seconds: float = math.inf) -> None:
        """Block until it is over, or so long, for a call of the program. Raises Refused within work.

        In slices, so that Ctrl-C ends it, and with it the kernels that it waits for: raises Left.
        """
        if not self.is_over:
            may_wait()
            me = threading.get_ident()
            waited_for[me] = self, time.monotonic()
            try:
                if (queue := self._queue()) is not None:
                    queue.run_before(self)
                if not self.is_over:
                    starter.start_all()
                while not self._is_over_within(SLICE) and time.monotonic() - waited_for[me][1] < seconds:
                    leave(self._interrupt)
            finally:
                waited_for.pop(me, None)
        self.tell_program()

    def tell_program(self) -> None:
        """The program knows that it is done, if it is."""
        if self.done and self.turn is not None:
            self.turn.tell_program()

    def _is_over_within(self, seconds: float) -> bool:
        with guard:
            return progress.wait_for(lambda: self.is_over, seconds)

    def _interrupt(self) -> None:
        """End the kernels and other waits that keep this from being done, with a fault that says where they
        were. What a function of the program keeps goes on. Another Ctrl-C ends the wait for their ends.
        """
        with guard:
            owners = self._waits_for()
            for owner in owners:
                owner.interrupt()
        try:
            while not self._is_over_within(SLICE) and any(owner.running for owner in owners):
                if has_come():
                    break
        finally:
            for owner in owners:
                owner.interruption = None
        for owner in owners:
            owner.show()

    def _queue(self) -> Queue | None:
        """The queue that it is in, if it is not done."""
        with guard:
            return next((queue for queue in self.owner.busy if queue.has(self)), None)

    def _waits_for(self) -> list[Faults]:
        """The owners of work that has to be done before this; with `guard` locked."""
        owners = [self.owner]
        for owner in owners:
            for other in owner.waits_for():
                if other not in owners:
                    owners.append(other)
        return owners

    def comes_behind(self, other: Work) -> bool:
        """Whether it is done only after `other`: is that, follows it in a queue, or waits for such work."""
        with guard:
            waits_for, new = {self}, [self]
            while new and other not in waits_for:
                work = new.pop()
                works = next((queue.works_to(work) for queue in work.owner.busy if queue.has(work)), [])
                found = {*works, *(each for work in works for each in work.after)} - waits_for
                new += found.difference(works)
                waits_for |= found
            return other in waits_for

    def is_asked_for(self, seconds: float) -> bool:
        """Whether calls have asked for so long, again and again, whether it is done."""
        now = time.monotonic()
        return now - self.asked < AGAIN and now - self.asked_since > seconds

    def pause(self) -> None:
        """Block until it is done, but for no longer than a thread of Python is let run while others wait.

        For a call that asks whether it is done: a program that asks again and again would else keep the GIL
        from the thread that does the work.
        """
        with guard:
            now = time.monotonic()
            if now - self.asked > AGAIN:
                self.asked_since = now
            self.asked = now
            if not self.done:
                starter.start_all()
                progress.wait(PAUSE)

    def follow(self) -> None:
        """Block until it is done, for work that comes behind it. Raises Ended."""
        owner = faults_here()
        with guard:
            starter.start_all()
            wait_until(lambda: self.done or owner.is_lost or owner.interruption is not None)
        if (turn := turn_here()) is not None and self.turn is not None:
            turn.learn(self.turn)
        go_on("a wait for an event", waits=True)


class Queue:
    """Work in order. A fault in it goes to `owner`, and what comes later is left out.

    place: the context of its stream, `owner` or a part of that.
    is_blocking: whether it takes part in the order that the legacy default stream demands.
    line: that of its stream's turns.
    """

    def __init__(
        self,
        owner: Faults,
        place: Faults | None = None,
        is_blocking: bool = False,
        line: order.Line | None = None,
    ) -> None:
        self._owner = owner
        self._line = line
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

    @property
    def newest(self) -> Work | None:
        """The newest work, done or not."""
        return self._last

    def has(self, work: Work) -> bool:
        """Whether some work is in this queue, and is not done."""
        with guard:
            return work is self._running or work in self._pending

    def waits_for(self) -> list[Work]:
        """What is to be done before its work, in other queues; with `guard` locked."""
        works = [self._running, *self._pending] if self._running is not None else self._pending
        return [after for work in works if work is not None for after in work.after if not after.done]

    def works_to(self, work: Work) -> list[Work]:
        """Some work that is in this queue, and all that is before it."""
        with guard:
            works = self.works()
            return works[: works.index(work) + 1]

    def works(self) -> list[Work]:
        """All work that is in this queue, and is not done."""
        with guard:
            return [work for work in (self._running, *self._pending) if work is not None]

    def submit(
        self,
        action: Callable[[], Any] | None,
        after: Iterable[Work] = (),
        soon: bool = False,
        is_bookkeeping: bool = False,
        deferred: Callable[[], Callable[[], Any]] | None = None,
        in_wait: bool = False,
    ) -> Work:
        """Queue one thing to do. `soon`: it ends soon, and may as well run at once.

        deferred: called if it does not run at once; returns what to do instead of `action`.
        in_wait: a thread that waits for it may do it.
        """
        work = Work(self._owner, action, is_bookkeeping, soon or in_wait)
        with gc_pause:
            with guard:
                if self._line is not None and order.is_on():
                    after = list(after)
                    work.turn = self._line.next(other.turn for other in after)
                work.after = tuple(other for other in after if not other.done)
                at_once = soon and self._running is None and not self._pending and not work.after
                if deferred is not None and not at_once:
                    work.action = deferred()
                self._last = work
                self._owner.busy.add(self)
                starts = not at_once and not self._has_thread
                waits = starts and work.in_wait and not work.after and starter.will_start(self)
                if at_once:
                    self._begin(work)
                else:
                    self._pending.append(work)
                    work.is_queued = True
                    switching.begin()
                if starts and not waits:
                    self.start()
            if at_once:
                self._run(work)
            elif not waits and not self._has_thread:
                self._work_here()
        return work

    def start(self) -> None:
        """Have a thread do what is pending, if it has none; with `guard` locked. The thread counts as at work
        from here on, until it says otherwise.
        """
        if self._has_thread or not self._pending:
            return
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

    def run_before(self, awaited: Work) -> None:
        """Do what is pending up to some work that this thread waits for, as far as it may. The rest has a
        thread. Raises Left.
        """
        while True:
            with guard:
                if self._running is not None or not self._pending or awaited.is_over:
                    return
                work = self._pending[0]
                if not work.in_wait or not all(other.done for other in work.after):
                    self.start()
                    return
                self._next()
            here.in_wait = True
            try:
                self._run(work)
            finally:
                here.in_wait = False
                left, here.left = here.left, None
            if left is not None:
                self._owner.interruption = None
                self._owner.show()
                raise left

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
        owner = self._owner
        if work.after:
            starter.start_all()
            wait_until(lambda: all(other.done for other in work.after) or owner.is_lost)
        self._begin(work)
        return work

    def _begin(self, work: Work) -> None:
        """It is next; with `guard` locked."""
        self._running = work
        work.counts = not self._owner.is_lost
        if work.counts:
            self._owner.running += 1

    def _run(self, work: Work) -> None:
        owner, fault = self._owner, None
        before = here.work, here.owner
        here.work, here.owner = work, owner if work.counts else None
        if work.turn is not None:
            work.turn.begin()
        try:
            if work.action is not None and work.may_run():
                work.action()
        except Ended:
            pass
        except Refused as refused:
            fault = refused  # what a call refuses, it refuses at once
        except MemoryError as error:
            text = f"the host has not that much memory: {error}".rstrip(": ")
            fault = Refused("CUDA_ERROR_OUT_OF_MEMORY", text)
        except BaseException as error:
            fault = Refused("CUDA_ERROR_UNKNOWN", say_mistake("work in a stream", error))
        finally:
            here.work, here.owner = before
            if work.turn is not None:
                work.turn.end()
            if fault is not None or owner.is_lost:
                self._end_with_context(work, fault)
            with guard:
                if work.counts:
                    owner.running -= 1
                work.done = True
                if work.is_queued:
                    switching.end()
                work.action = None
                work.after = ()
                self._running = None
                if not self._pending:
                    owner.busy.discard(self)
                progress.notify_all()

    def _end_with_context(self, work: Work, fault: Refused | None) -> None:
        """Lose the context, or wait until it is lost: no wait that ends for the fault finds none."""
        if work.counts:
            work.counts = False
            self._owner.leave()
        if fault is not None:
            self._owner.fail(fault.status, fault.reason)
        self._owner.await_error()
