"""Waiting for other ranks, and saying so: who waits for whom, where no end is to be seen.

`deadlocks` finds those that wait for each other.

What a rank does with others is a generator, a task, that yields a `Wait` wherever it has to wait. Tasks of
one call of the program, or of one group, go on side by side.
"""

from __future__ import annotations

import itertools
import os
import time

from ..interrupts import leave
from ..refused import Refused
from ..stderr import say
from ..streams.faults import go_on
from . import deadlocks
from .board import changed, waits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from .communicator import Communicator

    Task = Generator["Wait", None, None]

SLICE = 0.05  # seconds between two looks at what may never come
PATIENCE = 5.0  # seconds after which a wait is reported
WATCHED = 2.0  # seconds for which a program that has asked for errors counts as one that asks again
LOST = 10.0  # seconds after which a wait for a rank that has gone fails, if the program has not aborted it
VARIABLE = "CUDAPY_SIMULATOR_COLLECTIVE_TIMEOUT"
LIMIT = 120.0  # seconds after which any wait fails; the variable has another number, 0 for none


class Ended(Exception):
    """The communicator was aborted, or its device has a fault: a task comes to nothing."""


class Wait:
    """What a task waits for: until nothing of `missing()` is left, whose ranks only become fewer."""

    _numbers = itertools.count()

    def __init__(self, comm: Communicator, what: str, missing: Callable[[], list[int]], verb: str) -> None:
        self.comm = comm
        self.what = what
        self.missing = missing
        self.verb = verb  # what the others have yet to do
        self.since = time.monotonic()
        self.number = next(self._numbers)
        self.in_program = False  # whether a call of the program waits, and not one in a stream
        self.is_reported = False
        self.lost = 0.0  # when it was seen that a rank has gone
        self.deadlock = ""  # the report, once it is one

    def line(self) -> str:
        """One line of a report."""
        ranks = self.missing()
        others = ", ".join(map(str, ranks)) or "none"
        text = (
            f"{self.comm.name} waits in {self.what} for rank{'s'[: len(ranks) != 1]} {others} to {self.verb}"
        )
        return "\n".join([text, *(f"  {self.comm.about(rank)}" for rank in ranks[:8])])


def drive(tasks: list[Task], in_program: bool, fail: Callable[[str], Exception]) -> None:
    """Have all tasks run to their ends.

    in_program: whether a thread of the program waits, which Ctrl-C ends. fail: makes the exception for a
    wait that has no end. Raises that, `Ended`, and what tasks raise.
    """
    pending: list[tuple[Task, Wait]] = []
    try:
        for task in tasks:
            _advance(task, in_program, pending)
        while pending:
            with changed:
                ready = [entry for entry in pending if not entry[1].missing()]
                if not ready:
                    changed.wait(SLICE)
            if not ready:
                for _, wait in pending:
                    _look(wait, fail)
                if in_program:
                    leave()
            for entry in ready:
                pending.remove(entry)
                _forget(entry[1])
                _advance(entry[0], in_program, pending)
    finally:
        for task, wait in pending:
            _forget(wait)
            task.close()


def _advance(task: Task, in_program: bool, pending: list[tuple[Task, Wait]]) -> None:
    try:
        wait = next(task)
    except StopIteration:
        return
    wait.in_program = in_program
    with changed:
        waits.append(wait)
    pending.append((task, wait))


def _forget(wait: Wait) -> None:
    with changed:
        if wait in waits:
            waits.remove(wait)


def _limit() -> float:
    text = os.environ.get(VARIABLE)
    return float(text) if text else LIMIT


def _look(wait: Wait, fail: Callable[[str], Exception]) -> None:
    """Raise what ends a wait without an end; report one that lasts."""
    comm = wait.comm
    if comm.is_aborted or comm.context.root.is_lost:
        raise Ended
    if not wait.in_program:
        go_on(wait.line(), waits=True)
    lasted = time.monotonic() - wait.since
    with changed:
        missing = wait.missing()
        gone = [rank for rank in missing if rank in comm.board.gone]
    if not missing:
        return
    if lasted > deadlocks.SETTLED and not wait.deadlock:
        deadlocks.look(wait)
    if wait.deadlock:
        raise fail(wait.deadlock)
    if gone:
        _look_for_end(wait, fail)
    limit = _limit()
    if limit and lasted > limit:
        raise fail(f"{wait.line()}\n  and has waited for {lasted:.0f} s")
    if (gone or lasted > PATIENCE) and not wait.is_reported:
        wait.is_reported = True
        say(wait.line())


def _look_for_end(wait: Wait, fail: Callable[[str], Exception]) -> None:
    """Raise what ends a wait for a rank that has gone: at once where the program waits, too.

    A program that asks for errors, as PyTorch's watchdog does, gets time to abort: its device goes on then.
    """
    comm, now = wait.comm, time.monotonic()
    comm.note_error("ncclRemoteError", wait.line())
    if wait.in_program:
        raise Refused("ncclRemoteError", wait.line())
    wait.lost = wait.lost or now
    watches = comm.is_told or now - comm.asked < WATCHED
    if now - wait.lost > LOST or (not watches and deadlocks.is_awaited(comm)):
        raise fail(wait.line())


def refused(status: str) -> Callable[[str], Exception]:
    """What makes the exception of a wait in a call of the program."""
    return lambda report: Refused(status, report)
