"""What is told of a race: its class, both accesses, what does not order them, and what would."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..access import ATOMIC, READ, VERBS, WRITE
from ..classes import ACQUIRE, COPY, EQUAL, FENCE, MIXED, PROXY, RACE, READONLY, SCOPE, VOLATILE, WARP
from ..fault import OtherAccess
from .access_sites import are_of_an_update, may_synchronise
from .report import place_of
from .unfinished_stores import NEVER

if TYPE_CHECKING:
    from ..aliases import I64, Bools
    from ..fault import Value
    from .access_sites import Site
    from .clocks import HappensBefore
    from .launch_order import LaunchOrder
    from .report import Reporter
    from .seen_access import SeenAccess
    from .threads import Threads

_ALIAS = (
    "const __restrict__ and __ldg() promise that no thread writes it while the kernel runs: the value may be"
    " that of before"
)
_NOT_COHERENT = (
    "what the same kernel writes, by whatever thread, is not there for textures and surfaces: another launch"
    " may read it"
)
_PROXIES = (
    "asynchronous copies and wgmma read by another proxy than threads write: fence.proxy.async after the"
    " write, and before the barrier, would order them"
)
_NOT_FINISHED = (
    "nobody has waited for all of the asynchronous copy that writes it (cp.async.bulk.wait_group, which"
    " .read is not enough for)"
)
_UPDATE = (
    "several threads read it, and write what they make of that: an atomic operation, such as atomicAdd,"
    " would do both at once"
)


class RaceReport:
    """Tells what the race detector of a batch has found."""

    def __init__(
        self, threads: Threads, report: Reporter, order: LaunchOrder, happens: HappensBefore
    ) -> None:
        self._threads, self._report = threads, report
        self._order, self._happens = order, happens

    def race(
        self,
        seen: SeenAccess,
        mine: Site,
        theirs: Site,
        positions: I64,
        threads: I64,
        times: I64,
        are_equal: bool = False,
        value: Value = None,
    ) -> None:
        """Report a race of lanes at positions with other threads' accesses.

        are_equal: what is written is there already.
        value: what the first of the other threads has read or written, if that is known.
        """
        modes = theirs.mode, mine.mode
        same = theirs is mine and not times.any()
        if same:
            what = f"{VERBS[mine.mode]} by several threads at once"
        elif modes == (READ, WRITE):
            what = "write after read"
        else:
            what = f"{VERBS[mine.mode]} after {VERBS[theirs.mode]}"
        lane, thread, time = int(seen.lanes[int(positions[0])]), int(threads[0]), int(times[0])
        kind = self._class(mine, theirs, lane, thread, time)
        if time == NEVER:
            kind, why = COPY, _NOT_FINISHED
        elif kind in (RACE, WARP) and not self._has_flags and are_of_an_update(mine, theirs):
            kind, why = RACE, _UPDATE
        else:
            why = self._why(kind, lane, thread)
        why = "the values are equal" if are_equal else why
        other = self._other(theirs, thread, same, value)
        bad = np.zeros(len(seen.lanes), bool)
        bad[positions] = True
        text = f"Race in __{seen.space}__ memory ({what})"
        self.find(EQUAL if are_equal else kind, seen, text, bad, why, other)

    @property
    def _has_flags(self) -> bool:
        """Whether threads may order each other by strong accesses and fences, as with a lock."""
        return bool(self._order.locations) or self._happens.has_fences

    def _class(self, mine: Site, theirs: Site, lane: int, thread: int, time: int) -> str:
        """The class of a race: see `classes`."""
        if time and self._happens.would_know(lane, thread, time):
            return ACQUIRE if mine.scope and theirs.scope else FENCE
        if may_synchronise(mine, theirs):
            return SCOPE
        if {mine.mode, theirs.mode} == {READ, ATOMIC}:
            return MIXED
        if time and self._happens.are_of_one_warp(lane, thread):
            return WARP
        return VOLATILE if mine.is_volatile or theirs.is_volatile else RACE

    def _why(self, kind: str, lane: int, thread: int) -> str:
        """What does not order two accesses, and what would."""
        if kind == SCOPE:
            text = "the scope of one of the accesses does not include the other thread"
            return f"{text}: that of the device does (no _block, .gpu)"
        if kind in (FENCE, ACQUIRE):
            text = "this thread has read a flag, but made no fence (acquire) for both threads after it"
            return f"{text}: __threadfence() or ld.acquire would order the accesses"
        if kind == MIXED:
            return "no barrier lies between them: a relaxed read (ld.relaxed) would not race"
        if kind == WARP:
            return "no barrier lies between them: __syncwarp() would order them"
        if self._has_flags:
            text = "no barrier of both threads, and no release that the other acquires, lies between them"
            return f"{text}: __threadfence() before the flag is set, and after it was read, would order them"
        if self._happens.block_of(lane) == thread // self._threads.per_block:
            return "no barrier lies between them: __syncthreads() would order them"
        text = "no barrier lies between them: threads of two blocks"
        return f"{text}, which a flag with fences orders, a barrier of the grid, or another launch"

    def find(
        self, kind: str, seen: SeenAccess, text: str, bad: Bools, more: str, other: OtherAccess | None = None
    ) -> None:
        if seen.access is None:
            lanes, guilty = seen.lanes[:1], np.ones(1, bool)
        else:
            lanes, guilty = seen.lanes, bad
        verb, value = VERBS[seen.mode], seen.value(int(np.argmax(bad)))
        self._report.find(
            kind, text, seen.number, lanes, guilty, seen.a, seen.size, more, other, verb=verb, value=value
        )

    def read_as_unwritten(self, seen: SeenAccess, mine: Site, theirs: Site, bad: Bools, writer: int) -> None:
        """Report lanes that read, as what the kernel does not write, what a thread has written."""
        value = seen.value_there(int(np.argmax(bad)), theirs)
        is_texture = mine.instruction.name != "ld"
        how, why = ("by a texture or surface", _NOT_COHERENT) if is_texture else ("as read-only", _ALIAS)
        text = f"Read of what the kernel has written, {how}"
        self.find(READONLY, seen, text, bad, why, self._other(theirs, writer, value=value))

    def read_by_other_proxy(self, seen: SeenAccess, theirs: Site, bad: Bools, writer: int) -> None:
        """Report that a copy reads what a thread has written, with no proxy fence between."""
        text = f"Race in __{seen.space}__ memory (asynchronous read after {VERBS[theirs.mode]})"
        self.find(PROXY, seen, text, bad, _PROXIES, self._other(theirs, writer))

    def _other(self, theirs: Site, thread: int, is_same: bool = False, value: Value = None) -> OtherAccess:
        """The access of another thread of the launch."""
        place = place_of(self._report.kernel_name, theirs.function, theirs.instruction)
        return OtherAccess(place, VERBS[theirs.mode], *self._threads.of_launch(thread), is_same, value)
