"""Races between operations of streams, and between nodes of a graph: kernels, copies and fills that touch the
same bytes, one of them to write, and that nothing orders. And memory that a stream allocates or frees, where
nothing orders that with its use in another one.

Each allocation remembers what has accessed it, until all that may come is known to come later. What the host
reads and writes by itself is not seen.
"""

from __future__ import annotations

import bisect
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..._ffi.mangled import readable_in
from .. import found
from ..engine import (
    LIFETIME,
    STREAM,
    AllocatedMemory,
    Allocation,
    Finding,
    OtherAccess,
    Place,
    Ranges,
    settings,
)
from ..options import RAISE
from ..refused import Refused
from ..streams.faults import turn_here
from ..streams.order import Step, settled, step_of
from ..streams.threads import guard
from .allocations import table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..calling import CallSite
    from ..engine import LaunchAccesses
    from ..streams.order import Turn

_NOTHING = "no event or synchronization orders the two"
_MOST, _NEAR = 256, 8
"""Accesses of a stream that an allocation remembers, and after how many it looks at all of them again."""


class _Access(NamedTuple):
    """What an operation did with ranges of an allocation."""

    step: Step
    allocation: Allocation
    ranges: Ranges
    is_write: bool
    is_strong: bool
    place: Callable[[int], Place]
    """Of a range, by its number."""
    launch: LaunchAccesses | None = None
    is_allocation: bool = False
    """The stream allocates the memory."""

    @property
    def verb(self) -> str:
        return "atomic" if self.is_strong and self.is_write else "write" if self.is_write else "read"

    def covers(self, other: _Access) -> bool:
        """Whether what races with the other one races with this as well, if it comes later."""
        if (other.is_write and not self.is_write) or (self.is_strong and not other.is_strong):
            return False
        mine, its = self.ranges, other.ranges
        return mine.is_dense and mine.start <= its.start and its.end <= mine.end

    def overlap(self, other: _Access) -> tuple[int, int, int, int] | None:
        """The first bytes of both: where they start and end, and the numbers of the two ranges."""
        (starts, ends), (others, their_ends) = ((one.ranges.starts, one.ranges.ends) for one in (self, other))
        its = np.searchsorted(their_ends, starts, "right")
        near = np.minimum(its, len(others) - 1)
        common = np.flatnonzero((its < len(others)) & (others[near] < ends))
        if not len(common):
            return None
        mine, theirs = int(common[0]), int(its[common[0]])
        start = max(starts[mine], others[theirs])
        return int(start), int(min(ends[mine], their_ends[theirs])), mine, theirs


def copied(sources: list[int], targets: list[int], size: int) -> None:
    """The work of this thread has copied rows of `size` bytes; or filled them, if there are no sources.

    Raises Refused for a race, unless findings are recorded.
    """
    turn = turn_here()
    if turn is None:
        return
    step, accesses = step_of(turn), list[_Access]()
    for rows, is_write in ((sources, False), (targets, True)):
        allocation = table.find(rows[0]) if rows else None
        if allocation is not None:
            starts = np.array(rows, np.int64) - allocation.address
            place = partial(_call, turn.call.place)
            ranges = Ranges.of(starts, starts + size)
            accesses.append(_Access(step, allocation, ranges, is_write, False, place))
    _enter(accesses)


def computed(call: CallSite, ranges: list[tuple[int, Any, Any, bool]]) -> None:
    """The work of this thread has done what a call of a framework asked for. Raises Refused as `copied`.

    ranges: (address, starts, ends, whether it is written) each: from an address on, sorted and apart.
    """
    turn = turn_here()
    if turn is None:
        return
    step, accesses = step_of(turn), list[_Access]()
    if not step.path:
        turn.call = call
    for address, starts, ends, is_write in ranges:
        allocation = table.find(address)
        if allocation is not None:
            offset = address - allocation.address
            all_of_it = Ranges.of(starts + offset, ends + offset)
            accesses.append(_Access(step, allocation, all_of_it, is_write, False, partial(_call, call.place)))
    _enter(accesses)


def launched(grids: list[LaunchAccesses]) -> None:
    """The work of this thread has run a kernel, and grids that it launched. Raises Refused as `copied`."""
    turn = turn_here()
    if turn is None or not grids:
        return
    if any(grid.has_order for grid in grids):
        turn.learn()
    step, accesses = step_of(turn), list[_Access]()
    for grid in grids:
        for one in grid.accessed:
            allocation = table.find(one.allocation)
            if allocation is not None and allocation.address == one.allocation:
                place = partial(_instruction, grid, one.ranges)
                access = _Access(step, allocation, one.ranges, one.is_write, one.is_strong, place, grid)
                accesses.append(access)
    _enter(accesses)


def allocated(address: int) -> None:
    """The work of this thread has allocated memory, which did not exist before."""
    turn, allocation = turn_here(), table.find(address)
    if turn is not None and allocation is not None:
        step, place = step_of(turn), partial(_call, turn.call.place)
        ranges = Ranges.of(np.zeros(1, np.int64), np.array([allocation.size]))
        access = _Access(step, allocation, ranges, True, False, place, is_allocation=True)
        allocation.accesses = {turn.line.number: [access]}


def freed(allocation: Allocation) -> None:
    """The work of this thread has freed memory. Raises Refused as `copied`."""
    turn = turn_here()
    if turn is None:
        return
    step = step_of(turn)
    with guard:
        accesses: list[_Access] = [one for known in allocation.accesses.values() for one in known]
    for other in accesses:
        is_silent = other.launch is not None and other.launch.talks_to_host
        if not is_silent and not other.step.comes_before(step):
            _tell([_freed_early(turn, allocation, other)])
            return


def _freed_early(turn: Turn, allocation: Allocation, other: _Access) -> Finding:
    theirs = other.step.turn
    why = f"an event behind the use, for which {turn.line.name} waits before it frees, would"
    return _of_lifetime(
        "Free of memory that another stream may still use",
        turn.call.place,
        allocation,
        f"freed {_between(turn, theirs, 'used')}\n    {_NOTHING}: {why}",
        OtherAccess(other.place(0), other.verb, None, None),
    )


def _used_early(mine: _Access, other: _Access) -> Finding:
    """The use of memory that is not ordered behind its allocation."""
    turn, theirs = mine.step.turn, other.step.turn
    why = f"an event behind the allocation, for which {turn.line.name} waits, would"
    return _of_lifetime(
        f"Use of memory that another stream may not have allocated yet ({mine.verb})",
        mine.place(0),
        mine.allocation,
        f"used {_between(turn, theirs, 'allocated')}\n    {_NOTHING}: {why}",
    )


def _between(turn: Turn, theirs: Turn, what: str) -> str:
    if turn is theirs:
        return f"in a graph in {turn.line.name}, launched by {_caller(turn.call)}, and {what} there"
    mine, others = _caller(turn.call), _caller(theirs.call)
    return f"in {turn.line.name}, queued by {mine}, and {what} in {theirs.line.name}, by {others}"


def _of_lifetime(
    what: str, place: Place, allocation: Allocation, note: str, other: OtherAccess | None = None
) -> Finding:
    return Finding(
        kind=LIFETIME,
        what=what,
        place=place,
        block=None,
        thread=None,
        count=1,
        running=1,
        address=allocation.address,
        size=allocation.size,
        note=note,
        other=other,
        allocation=_described(allocation),
    )


def _described(one: Allocation) -> AllocatedMemory:
    return AllocatedMemory(one.kind, one.address, one.size, one.place)


def _call(place: Place, _: int) -> Place:
    return place


def _instruction(grid: LaunchAccesses, ranges: Ranges, number: int) -> Place:
    return grid.place(int(ranges.sites[number]))


def _enter(accesses: list[_Access]) -> None:
    """Have their allocations remember accesses of one operation, and report races with those before."""
    races = list[tuple[_Access, _Access]]()
    with guard:
        for mine in accesses:
            races += [(mine, other) for other in _unordered(mine) if _may_race(mine, other)]
        for mine in accesses:
            _remember(mine)
    strong = [pair for pair in races if pair[0].is_strong and pair[1].is_strong and _orders(*pair)]
    races = sorted(map(_in_order, races), key=_weight)
    step = accesses[0].step if accesses else None
    told = {_others(pair, step) for pair in strong if pair[0].overlap(pair[1]) is not None}
    findings = list[Finding]()
    for pair in races:
        finding = None
        allocation = next((one for one in pair if one.is_allocation), None)
        if allocation is not None:
            finding = _used_early(pair[pair[0] is allocation], allocation)
        elif not (pair[0].is_strong and pair[1].is_strong) and _others(pair, step) not in told:
            finding = _finding(*pair)
        if finding is not None:
            findings.append(finding)
            told.add(_others(pair, step))
    _tell(findings)


def _tell(findings: list[Finding]) -> None:
    """Keep findings of the classes that are reported. Raises Refused unless they are recorded."""
    findings = [one for one in findings if one.kind in settings.current.classes]
    if not findings:
        return
    if found.mode() != RAISE:
        found.keep_and_tell(tuple(findings))
        return
    found.add(tuple(findings))
    raise Refused("CUDA_ERROR_LAUNCH_FAILED", "\n\n".join(readable_in(str(one)) for one in findings))


def _in_order(pair: tuple[_Access, _Access]) -> tuple[_Access, _Access]:
    """The access that the program has queued later, and the other one, in whatever order they have run."""
    mine, other = pair
    return pair if mine.step.turn.serial >= other.step.turn.serial else (other, mine)


def _weight(pair: tuple[_Access, _Access]) -> tuple[bool, bool]:
    """Which race of two operations is told: of two writes, or else the read of what the other writes."""
    later, earlier = pair
    return not (later.is_write and earlier.is_write), not earlier.is_write


def _others(pair: tuple[_Access, _Access], step: Step | None) -> int:
    """A number for the operation of a pair that is not this one."""
    return next((id(one.step.turn) for one in pair if one.step is not step), 0)


def _may_race(mine: _Access, other: _Access) -> bool:
    if not (mine.is_write or other.is_write) or other.step.comes_before(mine.step):
        return False
    grids = [one.launch for one in (mine, other) if one.launch is not None]
    return not any(grid.talks_to_host for grid in grids)


def _orders(mine: _Access, other: _Access) -> bool:
    """Whether two kernels may wait for each other, by what both access with strong accesses."""
    return any(one.launch is not None and one.launch.has_order for one in (mine, other))


def _unordered(mine: _Access) -> list[_Access]:
    """Of what an allocation remembers the end that its stream's clock does not know, and what this operation
    itself has done.
    """
    turn, found = mine.step.turn, list[_Access]()
    remembered: dict[int, list[_Access]] = mine.allocation.accesses
    for line, known in remembered.items():
        first, upto = len(known), turn.clock.get(line, 0)
        while first and (known[first - 1].step.turn.number > upto or known[first - 1].step.turn is turn):
            first -= 1
        found += known[first:]
    return found


def _remember(mine: _Access) -> None:
    """Have an allocation remember an access, and forget what it covers, and what all that comes knows."""
    remembered: dict[int, list[_Access]] = mine.allocation.accesses
    for line, known in [*remembered.items()]:
        first = -_NEAR
        if len(known) % _NEAR == 0:
            first = 0
            del known[: bisect.bisect_right(known, settled().get(line, 0), key=_number)]
        if mine.ranges.is_dense:
            step, near = mine.step, known[first:]
            known[first:] = [one for one in near if not mine.covers(one) or not one.step.comes_before(step)]
        if not known:
            del remembered[line]
    known = remembered.setdefault(mine.step.turn.line.number, [])
    known.append(mine)
    del known[:-_MOST]


def _number(one: _Access) -> int:
    return one.step.turn.number


def _finding(mine: _Access, other: _Access) -> Finding | None:
    """The race of two accesses; None if they have no bytes in common."""
    common = mine.overlap(other)
    if common is None:
        return None
    start, end, number, its = common
    turn, theirs = mine.step.turn, other.step.turn
    allocation = mine.allocation
    if turn is theirs:
        between = "nodes of a graph"
        where = f"in a graph in {turn.line.name}, launched by {_caller(turn.call)}"
        why = "no edges of the graph order the two nodes: one that depends on the other would not race"
    else:
        between = "streams"
        where = (
            f"in {turn.line.name}, queued by {_caller(turn.call)};"
            f" the other in {theirs.line.name}, by {_caller(theirs.call)}"
        )
        why = (
            f"{_NOTHING}: an event that is recorded behind the other, and that"
            f" {turn.line.name} waits for, would"
        )
    what = f"Race between {between} ({mine.verb} after {other.verb})"
    of = _described(allocation)
    note = f"bytes {start} to {end - 1} of {of}\n    {where}\n    {why}"
    return Finding(
        kind=STREAM,
        what=what,
        place=mine.place(number),
        block=None,
        thread=None,
        count=1,
        running=1,
        address=allocation.address + start,
        size=end - start,
        note=note,
        other=OtherAccess(other.place(its), other.verb, None, None),
        verb=mine.verb,
        allocation=of,
    )


def _caller(call: CallSite) -> str:
    return f"{call.function}, {call.shown}" if call.file else call.function or "the program"
