"""The order that a program gives to what its streams do, whatever the order in which that ran.

Each work of a stream has a turn, with a vector clock: up to which number it knows the works of each stream.
It knows those before it in its stream, what it waits for, and what the program had waited for when it was
queued. The program counts as one, whatever its threads: how they wait for each other is not seen.

What is not seen must not look like a missing order. So the program knows what was done before a host
function is called, which may tell it; and what waits for a value in memory knows everything that is done.

Source: FastTrack (Flanagan and Freund, 2009), with works in the place of accesses.
"""

from __future__ import annotations

import contextlib
import itertools
import threading
from typing import Any, NamedTuple

from ..calling import CallSite, call_site
from ..engine import LIFETIME, STREAM, settings
from ..fresh_devices import forgotten
from ..memory.pages import Sharing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

Clock = dict[int, int]
"""Up to which number the works of each line are known. Never changed once it is made."""
_numbers, _serials = itertools.count(1), itertools.count(1)


def is_on() -> bool:
    """Whether what streams do is compared; not once other processes may order what this one does."""
    current = settings.current
    return current.check_races and bool({STREAM, LIFETIME} & current.classes) and not Sharing.is_shared


def _joined(*clocks: Clock) -> Clock:
    result: Clock = {}
    for clock in clocks:
        for line, number in clock.items():
            if number > result.get(line, 0):
                result[line] = number
    return result


class _Program:
    """known: what it has waited for. done: what has ended. unfinished: what is queued."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.known: Clock = {}
        self.done: Clock = {}
        self.unfinished: set[Turn] = set()
        self.has_streams = False

    def learn(self, clock: Clock) -> None:
        with self.lock:
            self.known = _joined(self.known, clock)


_program = _Program()


@forgotten
def _forget() -> None:
    global _program
    _program = _Program()


class Line:
    """The works of a stream, one after the other."""

    def __init__(self, name: str) -> None:
        self.number = next(_numbers)
        self.name = name
        self.newest: Turn | None = None

    def next(self, after: Iterable[Turn | None]) -> Turn:
        """The turn of a work that comes now, and waits for others."""
        before = [turn for turn in (self.newest, *after) if turn is not None]
        self.newest = turn = Turn(self, before)
        return turn


class Turn:
    """A work of a stream. call: what queued it. serial: its number among the works of all streams."""

    def __init__(self, line: Line, before: list[Turn]) -> None:
        self.line = line
        self.number: int = 1 if line.newest is None else line.newest.number + 1
        self.serial = next(_serials)
        self.call: CallSite = call_site()
        self._before = before
        self.clock = _program.known
        """What was done before it, by the order of the program."""
        _program.unfinished.add(self)

    def begin(self) -> None:
        """What it waits for is done."""
        known = [self.clock, *(turn.clock for turn in self._before)]
        self.clock = _joined(*known, {self.line.number: self.number})
        self._before = []

    def end(self) -> None:
        """It is done."""
        program = _program
        with program.lock:
            program.done = _joined(program.done, {self.line.number: self.number})
            program.unfinished.discard(self)

    def knows(self, other: Turn) -> bool:
        """Whether another work was done before it, by the order of the program."""
        return _knows(self.clock, other)

    def learn(self, other: Turn | None = None) -> None:
        """It has waited for another work; None: for what is not known, which may be anything that is done."""
        self.clock = _joined(self.clock, _program.done if other is None else other.clock)

    def tell_program(self) -> None:
        """The program has waited for it, unless `unseen`."""
        if not _here.is_unseen:
            _program.learn(self.clock)

    def learn_from_program(self) -> None:
        """What the program knows by now was done before what comes after it."""
        self.clock = _joined(self.clock, _program.known)


def settled() -> Clock:
    """Up to which number all that comes, and all that is queued, knows the works of each line."""
    program = _program
    with program.lock:
        clocks = {id(turn.clock): turn.clock for turn in program.unfinished}.values()
        return {
            line: min([number, *(clock.get(line, 0) for clock in clocks)])
            for line, number in program.known.items()
        }


def _knows(clock: Clock, turn: Turn) -> bool:
    return clock.get(turn.line.number, 0) >= turn.number


def program_waited_for_all() -> None:
    """The program has waited for everything that is done."""
    _program.learn(_program.done)


@contextlib.contextmanager
def unseen() -> Iterator[None]:
    """What this thread waits for is none of the program's waits: it gives no order."""
    before, _here.is_unseen = _here.is_unseen, True
    try:
        yield
    finally:
        _here.is_unseen = before


def stream_exists() -> None:
    """There is more than the default stream, or a graph."""
    _program.has_streams = True


def may_race() -> bool:
    """Whether anything may run beside other work."""
    return is_on() and _program.has_streams


# -- Graphs ------------------------------------------------------------------------------------------------


class _NodeRun(NamedTuple):
    """A node of a graph that runs: its number, and a bit for each node before it."""

    run: object
    number: int
    before: int


class _Here(threading.local):
    path: tuple[_NodeRun, ...] = ()
    is_unseen = False


_here = _Here()


class Step(NamedTuple):
    """A work, or what runs in it as a node of a graph, of a graph in that, and so on."""

    turn: Turn
    path: tuple[_NodeRun, ...]

    def comes_before(self, other: Step) -> bool:
        """Whether everything orders it before another one, which has run after it."""
        if self.turn is not other.turn:
            return other.turn.knows(self.turn)
        for mine, its in zip(self.path, other.path, strict=False):
            if mine.run is not its.run:
                return True  # runs of graphs in one work follow each other
            if mine.number != its.number:
                return bool(its.before >> mine.number & 1)
        return True


def step_of(turn: Turn) -> Step:
    """What this thread is in the middle of, in a work that it does."""
    return Step(turn, _here.path)


def nodes_of(after: Mapping[Any, Iterable[Any]]) -> Callable[[Any], contextlib.AbstractContextManager[None]]:
    """For a run of a graph: what to enter while each of its nodes runs, in the order in which they do.

    after: the nodes that each one follows.
    """
    if not is_on():
        return lambda _: contextlib.nullcontext()
    run, known = object(), dict[Any, tuple[int, int]]()

    @contextlib.contextmanager
    def running(node: Any) -> Iterator[None]:
        before = 0
        for number, earlier in (known[one] for one in after[node]):
            before |= earlier | 1 << number
        known[node] = len(known), before
        outer, _here.path = _here.path, (*_here.path, _NodeRun(run, *known[node]))
        try:
            yield
        finally:
            _here.path = outer

    return running
