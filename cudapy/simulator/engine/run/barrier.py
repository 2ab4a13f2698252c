"""Barriers of blocks: who waits, and who is let go.

Source: PTX ISA, "bar, barrier".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from ..aliases import I64, Array, Bools
    from ..compile.function import CompiledFunction
    from ..instructions.control import BarrierInfo
    from .groups import Key
    from .threads import Threads


class Waiting(NamedTuple):
    """Lanes that wait for the same barrier at the same place."""

    info: BarrierInfo
    key: Key
    """The group that they will be in afterwards."""
    lanes: I64
    predicate: Bools | None
    function: CompiledFunction


class Released(NamedTuple):
    """The threads of `waiting` that go on."""

    waiting: Waiting
    barrier: int
    is_for_all: bool
    """It is for all threads of the block."""
    key: Key
    lanes: I64
    result: Array | None
    """What a reduction gives each of them; None without one."""
    slot: int | None


class Mismatch(NamedTuple):
    """What is wrong with how many threads come to a barrier."""

    blocks: Bools
    """Whose threads they are."""
    expected: int
    """How many those who come now wait for, in the first of these blocks,"""
    other: int
    """and others there; or how many have come by now."""
    are_more: bool
    """More have come than they wait for."""


class Barriers:
    """The sixteen barriers of each block of a batch."""

    def __init__(self, threads: Threads) -> None:
        self._threads = threads
        self._live = threads.live
        self._waiting: dict[int, list[Waiting]] = {}
        self._arrived: dict[int, I64] = {}
        self._expected: dict[int, I64] = {}

    @property
    def is_idle(self) -> bool:
        return not self._waiting and not self._arrived

    def everybody(self) -> list[tuple[int, Waiting]]:
        """All that wait, and for which barrier."""
        return [(number, one) for number, group in self._waiting.items() for one in group]

    def arrive(self, number: int, expected: int, waiting: Waiting) -> Mismatch | None:
        """Lanes come to a barrier; `expected` is how many threads it is for (0: all of the block). Returns
        what does not fit to those that have come before.
        """
        arrived = np.bincount(self._threads.blocks[waiting.lanes], minlength=len(self._live))
        counts = self._arrived.setdefault(number, np.zeros(len(self._live), np.int64))
        wanted = self._expected.setdefault(number, np.zeros(len(self._live), np.int64))
        mismatch = self._mismatch(counts, wanted, arrived, expected)
        counts += arrived
        wanted[arrived > 0] = expected
        if waiting.info.action != "arrive":
            self._waiting.setdefault(number, []).append(waiting)
        return mismatch

    def _mismatch(self, counts: I64, wanted: I64, arrived: I64, expected: int) -> Mismatch | None:
        """Whether threads of a block disagree on how many a barrier is for, or more come than it is for.

        Source: PTX ISA, "bar, barrier": all threads of a barrier give the same count.
        """
        needed = np.where(wanted > 0, wanted, self._live)
        mine = np.where(expected > 0, expected, self._live)
        other = (arrived > 0) & (counts > 0) & (needed != mine)
        more = (arrived > 0) & (counts + arrived > mine)
        for bad, total in ((other, needed), (more, counts + arrived)):
            if bad.any():
                block = int(np.argmax(bad))
                return Mismatch(bad, int(mine[block]), int(total[block]), bad is more)
        return None

    def release(self) -> list[Released]:
        """Let those go whose barrier is complete."""
        released: list[Released] = []
        for number in list(self._arrived):
            counts = self._arrived[number]
            needed = np.where(self._expected[number] > 0, self._expected[number], self._live)
            done = (counts > 0) & (counts >= needed)
            if not done.any():
                continue
            counts[done] = 0
            is_for_all = self._expected[number] == 0
            if not counts.any():
                del self._arrived[number], self._expected[number]
            released += self._release_groups(number, done, is_for_all)
        return released

    def _release_groups(self, number: int, done: Bools, is_for_all: Bools) -> list[Released]:
        groups = self._waiting.pop(number, [])
        totals = self._totals(groups, done)
        released, waiting = [], []
        for one in groups:
            blocks = self._threads.blocks[one.lanes]
            chosen = done[blocks]
            if chosen.any():
                result = None
                if one.info.operation:
                    yes, all_of_them = totals[0][blocks[chosen]], totals[1][blocks[chosen]]
                    result = {"popc": yes.astype(np.uint32), "and": yes == all_of_them, "or": yes > 0}[
                        one.info.operation
                    ]
                lanes, whole = one.lanes[chosen], bool(is_for_all[blocks[chosen]].all())
                released.append(Released(one, number, whole, one.key, lanes, result, one.info.slot))
            if not chosen.all():
                predicate = one.predicate[~chosen] if one.predicate is not None else None
                waiting.append(one._replace(lanes=one.lanes[~chosen], predicate=predicate))
        if waiting:
            self._waiting[number] = waiting
        return released

    def _totals(self, groups: list[Waiting], done: Bools) -> tuple[I64, I64]:
        """For each block: how many of a reduction's predicates hold, and how many there are."""
        yes, every = np.zeros(len(self._live), np.int64), np.zeros(len(self._live), np.int64)
        for one in groups:
            if one.predicate is not None:
                blocks = self._threads.blocks[one.lanes]
                yes += np.bincount(blocks[one.predicate], minlength=len(self._live))
                every += np.bincount(blocks, minlength=len(self._live))
        return yes, every
