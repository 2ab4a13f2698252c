"""Circles of ranks that wait for each other, in this process and among processes.

A wait stands behind others: the rank that it waits for has to end these before it can make the call. A circle
of waits that stand behind each other is a deadlock. What a process knows of its waits is its state, plain
data; processes that have waited for a moment send each other theirs, and those that they have got, so that
each sees circles over processes that it has no connection to. A state is old when it comes. But a wait goes
on until it ends for good: each wait of a circle has a time from which on it stood behind the next, and its
state one at which it still did. If a moment is in all these spans, the circle was there then, and stays. A
call may have been made and not be known yet to who waits for it: each process counts the messages of its
ranks and those that it got, and a rank counts as missing if all that it had said had come.
"""

from __future__ import annotations

import os
import threading
import time
from typing import Any, NamedTuple

from ..._process.polled import polled
from ..handles import Object, find
from ..refused import Refused
from ..streams.event import Event
from ..streams.stream import Stream
from ..streams.work import Work, waited_for
from .board import all_here, changed, issued, waits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .communicator import Communicator
    from .transfers import Together
    from .waiting import Wait

SETTLED = 0.3  # seconds in which nothing changes, after which a wait counts
AGE = 0.1  # seconds for which a state of this process is used again
RARELY = 2.0  # seconds between two messages of a process that waits for long
FORGOTTEN = 30.0  # seconds after which a state of another process is dropped


TOGETHER = "deadlock: these ranks wait for each other, and none can go on"
ALONE = "deadlock: the thread that waits makes the other ranks' calls, too: put them in one group"


class Entry(NamedTuple):
    """A wait: its line in a report, since when it is there, and which calls of which ranks it waits for."""

    line: str
    since: float
    calls: list[str]


class State(NamedTuple):
    """What a process says of its waits. behind: for a call of a rank the waits that it stands behind.

    said, heard: by rank, the messages of its own ranks, and those of others that it got.
    """

    process: str
    time: float
    entries: dict[str, Entry]
    behind: dict[str, list[tuple[str, float]]]
    said: dict[str, int]
    heard: dict[str, int]

    @classmethod
    def from_json(cls, data: Any) -> State:
        process, moment, entries, *more = data
        return cls(process, moment, {name: Entry(*entry) for name, entry in entries.items()}, *more)

    def has_heard(self, other: State, call: str) -> bool:
        """Whether all has come here that the rank of a call had said."""
        rank = call.rpartition(" ")[0]
        return other is self or self.heard.get(rank, 0) == other.said.get(rank, 0)


_states: dict[str, State] = {}
"""The newest state of each other process; guarded by `changed`."""
_circles: set[frozenset[str]] = set()
"""Circles that were found; guarded by `changed`."""
_process: tuple[int, str] = (0, "")
_own: State | None = None
_told = 0.0  # when this process sent its state


def look(wait: Wait) -> None:
    """Give a wait of this process, and all others of its circle, their report if there is a circle."""
    with changed:
        own = _state()
        circle = find_circle(_name(wait), [own, *_states.values()])
    if circle is None:
        _publish(own)
    else:
        lines = [line for entry in circle.values() for line in entry.line.splitlines()]
        text = "\n  ".join([TOGETHER if len(circle) > 1 else ALONE, *lines])
        _spread(list(circle), text)


def receive(what: str, more: Any) -> None:
    """Another process says what it knows: states, or a circle that it has found."""
    if what == "deadlock":
        _spread(*more)
        return
    with changed:
        oldest = time.monotonic() - FORGOTTEN
        for data in more:
            state = State.from_json(data)
            known = _states.get(state.process)
            if state.process != _this_process() and (known is None or known.time < state.time):
                _states[state.process] = state
        for state in list(_states.values()):
            if state.time < oldest:
                del _states[state.process]


def _spread(circle: list[str], report: str) -> None:
    """Tell other processes of a circle, and then the waits that are here: their ranks may end the process."""
    with changed:
        key = frozenset(circle)
        if key in _circles:
            return
        _circles.add(key)
    _tell("deadlock", [circle, report])
    with changed:
        for wait in waits:
            if _name(wait) in key:
                wait.deadlock = wait.deadlock or report
        changed.notify_all()


def find_circle(start: str, states: list[State]) -> dict[str, Entry] | None:
    """Waits of which each stands behind the next, the last one behind the first, at one moment."""
    state_of = {name: state for state in states for name in state.entries}
    behind = {call: (state, waits) for state in states for call, waits in state.behind.items()}
    excluded: set[str] = set()
    while True:
        path = _path(start, state_of, behind, excluded)
        if path is None:
            return None
        since = [state_of[name].entries[name].since for name, _ in path] + [since for _, since in path]
        if max(since) <= min(state_of[name].time for name, _ in path):
            return {name: state_of[name].entries[name] for name, _ in path}
        oldest = min((name for name, _ in path), key=lambda name: state_of[name].time)
        if oldest == start:
            return None
        excluded.add(oldest)  # its process has not said for long enough that it still waits


def _path(
    start: str,
    state_of: dict[str, State],
    behind: dict[str, tuple[State, list[tuple[str, float]]]],
    excluded: set[str],
) -> list[tuple[str, float]] | None:
    """A circle from `start`, each wait with the time since which it stands behind the next one."""
    if start not in state_of:
        return None
    seen = {start, *excluded}
    path: list[tuple[str, float]] = []

    def follow(name: str) -> bool:
        for call in state_of[name].entries[name].calls:
            if call not in behind or not state_of[name].has_heard(behind[call][0], call):
                continue
            for other, since in behind[call][1]:
                if other == start or (other in state_of and other not in seen):
                    seen.add(other)
                    path.append((name, since))
                    if other == start or follow(other):
                        return True
                    path.pop()
        return False

    return path if follow(start) else None


# -- This process -------------------------------------------------------------------------------------------


def _this_process() -> str:
    global _process
    if _process[0] != os.getpid():  # a forked child is another one
        _process = os.getpid(), f"{os.getpid()}-{os.urandom(4).hex()}"
    return _process[1]


def _name(wait: Wait) -> str:
    return f"{_this_process()}-{wait.number}"


def _call(comm: Communicator, rank: int, in_program: bool) -> str:
    """The next call of a rank: one that its program makes there and then, or one in a stream."""
    return f"{_rank(comm, rank)} {'program' if in_program else 'stream'}"


def _rank(comm: Communicator, rank: int) -> str:
    return f"{comm.clique.key.hex()} {rank}"


def _state() -> State:
    """The state of this process; for those that have `changed`."""
    global _own

    now = time.monotonic()
    if _own is not None and _own.process == _this_process() and now - _own.time < AGE:
        return _own
    entries = {}
    for wait in waits:
        if now - wait.since <= SETTLED:
            continue
        try:
            calls = [_call(wait.comm, rank, wait.in_program) for rank in wait.missing()]
            entries[_name(wait)] = Entry(wait.line(), wait.since, calls)
        except Refused:  # the ranks make different calls: whoever waits says so itself
            continue
    behind = {
        _call(comm, comm.rank, in_program): [(_name(wait), since) for wait, since in found]
        for comm in all_here()
        for in_program in (False, True)
        if (found := _behind(comm, in_program))
    }
    said, heard = (
        {_rank(comm, rank): count for comm in all_here() for rank, count in getattr(comm.board, name).items()}
        for name in ("said", "heard")
    )
    _own = State(_this_process(), now, entries, behind, said, heard)
    return _own


def _behind(comm: Communicator, in_program: bool) -> list[tuple[Wait, float]]:
    """The waits that a rank's next call stands behind, and since when."""

    def waits_of(operations: list[Together], since: float = 0.0) -> list[tuple[Wait, float]]:
        comms = {each for operation in operations for each in operation.comms}
        found = [wait for wait in waits if wait.comm in comms and not wait.in_program]
        return [(wait, max(since, wait.since)) for wait in found]

    if not in_program:
        running = [each for each in issued if comm in each.comms and each.is_running]
        queued = comm.queued()
        if queued is not None:
            return waits_of(running) + waits_of(comm.held_up_by(queued), queued.since)
        if running or comm.is_captured:  # the call may be in a graph that has been launched
            return waits_of(running)
    # The program has yet to make the call: what does the thread wait for that makes it?
    thread = _only_thread()
    found = [
        (wait, wait.since) for wait in waits if wait.in_program and (wait.comm is comm or thread is not None)
    ]
    for work, since in () if thread is None else _waited_for(thread):
        running = [each for each in issued if each.work is not None and work.comes_behind(each.work)]
        found += waits_of(running, since)
    return found


def is_awaited(comm: Communicator) -> bool:
    """Whether the program has waited for a moment for a call of this rank that runs, or asks for its end."""
    with changed:
        running = [each.work for each in issued if comm in each.comms and each.is_running]
    settled = time.monotonic() - SETTLED
    threads = {*list(waited_for), *list(polled)}
    awaited = [work for thread in threads for work, since in _waited_for(thread) if since < settled]
    works = [work for queue in comm.context.root.busy_queues() for work in queue.works()]
    awaited += [work for work in works if work.is_asked_for(SETTLED)]
    return any(work.comes_behind(each) for each in running if each is not None for work in awaited)


def _waited_for(thread: int) -> list[tuple[Work, float]]:
    """The work that a thread waits for, in a call or by asking again and again, and since when."""
    in_call, asked = waited_for.get(thread), polled.get(thread)
    if in_call is not None:
        return [in_call]
    if asked is None:
        return []
    handle, since = asked
    try:
        awaited = find(int(handle), Object)
    except Refused:  # a default stream, or one that is gone
        return []
    if isinstance(awaited, Event):
        return [(work, since) for work in awaited.after]
    last = awaited.queue.last if isinstance(awaited, Stream) else None
    return [] if last is None else [(last, since)]


def _only_thread() -> int | None:
    """The thread of a program that has one; of others nobody knows which one makes the next call."""
    threads = [each for each in threading.enumerate() if not each.name.startswith("cudapy NCCL")]
    return threads[0].ident if len(threads) == 1 else None


def _publish(own: State) -> None:
    """Send what this process knows, if it has not for a while."""
    global _told
    now = time.monotonic()
    longest = max((now - entry.since for entry in own.entries.values()), default=0.0)
    with changed:
        if now - _told < min(max(SETTLED, longest / 10), RARELY):
            return
        _told = now
        states = [own, *(state for state in _states.values() if now - state.time < 2 * RARELY)]
    _tell("waits", states)


def _tell(what: str, more: Any) -> None:
    """Send it to all processes that share a communicator with this one. Not with `changed`: it may block."""
    with changed:
        boards = list(dict.fromkeys(comm.board for comm in all_here()))
    for board in boards:
        tell = board.tell
        if tell is not None:
            tell(what, None, -1, more)
