"""What ends work before its time: a fault, which its context keeps, and Ctrl-C; and how work learns of it.

A fault ends all work of its context: kernels end between two of their blocks, what is queued is left out,
and no call waits any more. The fault shows once nothing of the context runs, so what a program releases for
it is not in use. Host functions are the program's own: one that runs goes on.
"""

from __future__ import annotations

import contextlib
import threading
import time

from .. import found
from ..engine import fault
from ..interrupts import Left, leave
from ..log import log
from ..refused import Refused
from .threads import guard, progress, wait_until

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from . import order
    from .work import Queue, Work

PATIENCE = 0.1, 3.0  # seconds of the processor and by the clock; see `_Interruption`


class _Here(threading.local):
    """The work that this thread is in the middle of; and where faults of what it does go.

    in_wait: it does what it waits for. left: what ended that wait.
    """

    work: Work | None = None
    owner: Faults | None = None
    in_wait = False
    left: Left | None = None


here = _Here()


def may_wait() -> None:
    """Raise Refused in the middle of work: what a host function waits for may be what waits for it."""
    if here.work is not None:
        raise Refused(
            "CUDA_ERROR_NOT_PERMITTED",
            "a host function must not call CUDA: the work that it waits for may wait for it",
        )


class Ended(Exception):
    """Work ends before its time: its context is lost."""


def go_on(what: str = "", waits: bool = False) -> None:
    """Raise Ended if the work that this thread does is of a context that is lost; Refused if Ctrl-C is to end
    `what` it does. waits: see `is_interrupted`.
    """
    owner = here.owner
    if owner is not None and owner.is_lost:
        raise Ended
    if what and owner is not None and is_interrupted(waits):
        raise Refused("CUDA_ERROR_LAUNCH_TIMEOUT", f"{what} was interrupted from the keyboard")


def is_interrupted(waits: bool = False) -> bool:
    """Whether Ctrl-C is to end what this thread does, now. waits: it does nothing that comes to an end."""
    owner = here.owner
    if owner is None:
        return False
    if here.in_wait:
        try:
            leave(owner.interrupt)
        except Left as left:
            here.left = left
    interruption = owner.interruption
    return interruption is not None and (waits or interruption.is_impatient)


def work_here() -> Work | None:
    """The work that this thread is in the middle of."""
    return here.work


def turn_here() -> order.Turn | None:
    """The turn of that work, if orders are looked at."""
    return None if here.work is None else here.work.turn


def learn_here() -> None:
    """That work has waited for what only runs say, such as a value in memory."""
    turn = turn_here()
    if turn is not None:
        turn.learn()


def faults_here() -> Faults:
    """Where faults of the work that this thread does go."""
    return here.owner or Faults()


@contextlib.contextmanager
def in_program() -> Iterator[None]:
    """While work calls a function of the program: no fault waits for that. Raises Ended after one."""
    owner = here.owner
    if owner is None:
        yield
        return
    turn = turn_here()
    if turn is not None:
        turn.tell_program()
    owner.leave()
    try:
        yield
    finally:
        owner.enter()
        if turn is not None:
            turn.learn_from_program()
    go_on()


class _Interruption:
    """Ctrl-C, which ends work. What will be done in a moment comes to its end before, and no context is lost
    for it: that moment is of processor time, since the machine may be busy.
    """

    def __init__(self) -> None:
        self._processor, self._clock = time.process_time(), time.monotonic()

    @property
    def is_impatient(self) -> bool:
        processor, clock = PATIENCE
        return time.process_time() - self._processor > processor or time.monotonic() - self._clock > clock


class Faults:
    """What keeps a fault for good, as a context does, and what ends with it."""

    error: Refused | None = None
    prints = True  # whether reports that the program does not read go to stderr

    def __init__(self) -> None:
        self.busy: set[Queue] = set()  # the queues that have work, also of streams that were destroyed
        self.is_lost = False  # there is a fault, which shows once what runs has ended
        self.interruption: _Interruption | None = None  # Ctrl-C, which is to end what runs
        self.running = 0  # of its works, without those in a function of the program

    def fail(self, status: str, report: str) -> None:
        """End what runs. From then on every call fails with `status`, for the reason in the report."""
        with guard:
            if self.is_lost:
                return
            # who sees the error, and ends for it, finds the report in its place
            for one in report.split(fault.BETWEEN):
                found.note(one, status)
            log.report(report, Faults.prints)
            self.lose(Refused(status, report))

    def lose(self, error: Refused) -> None:
        """End what runs. From then on every call fails with this error."""
        with guard:
            self.is_lost = True
            progress.notify_all()
            wait_until(lambda: not self.running)
            self.error = error
            progress.notify_all()

    def end(self, error: Refused) -> None:
        """End what runs, as `lose` does, if it has no fault yet."""
        with guard:
            if not self.is_lost:
                self.lose(error)
        self.await_error()

    def await_error(self) -> None:
        """Block until the fault shows, if there is one; not in work that has to end first."""
        if self.is_lost and here.owner is not self:
            with guard:
                wait_until(lambda: self.error is not None or not self.is_lost)

    def waits_for(self) -> set[Faults]:
        """The owners of work that is to be done before some of this; with `guard` locked."""
        return {after.owner for queue in self.busy for after in queue.waits_for()}

    def show(self) -> None:
        """Print the fault, if there is one."""
        if self.error is not None:
            log.show(self.error.reason)

    def revive(self) -> None:
        """A fault that a test wanted is over."""
        self.error, self.is_lost = None, False

    def interrupt(self) -> None:
        """End what runs, as Ctrl-C does."""
        self.interruption = _Interruption()

    def enter(self) -> None:
        """One of its works goes on, after a function of the program."""
        with guard:
            self.running += 1

    def leave(self) -> None:
        """One runs no more, or is in a function of the program."""
        with guard:
            self.running -= 1
            if self.is_lost:
                progress.notify_all()
