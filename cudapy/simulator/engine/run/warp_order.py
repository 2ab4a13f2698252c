"""One warp at a time, in the order of a schedule."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from ..schedule import FIRST, LAST
from .groups import Key
from .report import place_of

if TYPE_CHECKING:
    from ..aliases import I64, Lanes
    from ..schedule import LaunchSchedule
    from .groups import Groups
    from .threads import Threads

_LONG = 64
"""A warp that waits is let run again after so many steps of each other warp: they may wait for it."""
_MANY = 64
"""Steps in a row after which a warp lets each other have as many: it may be in a loop that waits for them."""
_OTHER = 16
"""Steps after which other threads of a warp that diverged have their turn: they may wait for each other."""


class WarpOrder:
    """Which warp of a batch runs next, and where."""

    def __init__(self, schedule: LaunchSchedule, threads: Threads, groups: Groups, first_block: int) -> None:
        self._schedule, self._groups = schedule, groups
        self._warps, self._all = threads.warps, threads.all_lanes
        self._first = first_block * (threads.warp_count // max(threads.block_count, 1))
        self._steps: Counter[int] = Counter()
        self._diverged: Counter[int] = Counter()
        self._asked: dict[int, int] = {}
        self._aside: dict[int, int] = {}
        """Warps that wait, and the turn from which on they do not."""
        self._turn = self._count = 0
        self._last, self._in_a_row = -1, 0

    def take(self) -> tuple[Key, I64]:
        """Take the group that runs next from those that are ready: threads of one warp."""
        places = self._places()
        self._count = len(places)
        warp = self._choose(places)
        keys = sorted(places[warp])
        self._diverged[warp] = self._diverged[warp] + 1 if len(keys) > 1 else 0
        key = keys[self._diverged[warp] // _OTHER % len(keys)]
        ready = self._groups.ready
        own = [lanes for lanes in ready[key] if lanes is not None and self._warps[lanes[0]] == warp]
        others = [lanes for lanes in ready[key] if lanes is not None and self._warps[lanes[0]] != warp]
        if others:
            ready[key] = list(others)
        else:
            del ready[key]
        self._steps[warp] += 1
        self._turn += 1
        return key, own[0] if len(own) == 1 else np.sort(np.concatenate(own))

    def rest(self) -> None:
        """The warp that ran last waits for others."""
        self._put_aside(self._last, self._count)

    def _places(self) -> dict[int, set[Key]]:
        """The warps that can run, and the groups that they have threads in."""
        places: dict[int, set[Key]] = {}
        ready = self._groups.ready
        for key, arrays in ready.items():
            split = [part for lanes in arrays for part in self._by_warp(lanes)]
            ready[key] = list(split)
            for lanes in split:
                places.setdefault(int(self._warps[lanes[0]]), set()).add(key)
        return places

    def _by_warp(self, lanes: Lanes) -> list[I64]:
        numbers = self._all if lanes is None else lanes
        warps = self._warps[numbers]
        if warps[0] == warps[-1]:
            return [numbers]
        return np.split(numbers, np.flatnonzero(np.diff(warps)) + 1)

    def _choose(self, places: dict[int, set[Key]]) -> int:
        while True:
            awake = [warp for warp in places if self._aside.get(warp, 0) <= self._turn]
            if not awake:
                self._aside.clear()
                awake = list(places)
            warp = self._by_policy(awake)
            if len(awake) == 1:
                break
            step = self._steps[warp]
            if self._in_a_row >= _MANY and warp == self._last:
                self._put_aside(warp, _MANY * len(places))
            elif self._asked.get(warp) != step and self._is_delayed(warp, step, min(places[warp])):
                self._put_aside(warp, _LONG * len(places))
            else:
                break
        self._in_a_row = self._in_a_row + 1 if warp == self._last else 1
        self._last = warp
        return warp

    def _by_policy(self, warps: list[int]) -> int:
        policy = self._schedule.policy
        if policy == FIRST:
            return min(warps)
        if policy == LAST:
            return max(warps)
        return min(warps, key=lambda warp: (self._steps[warp], warp))

    def _is_delayed(self, warp: int, step: int, key: Key) -> bool:
        self._asked[warp] = step
        number = self._first + warp
        if not self._schedule.is_delayed(number, step):
            return False
        function = self._groups.functions[key.function]
        steps = function.blocks[key.block].steps
        place = place_of("", function, steps[0].instruction) if steps else None
        if place is None:
            line = f"the end of {function.name}"
        elif place.line is None:
            line = f"PTX line {place.ptx_line} of {function.name}"
        else:
            line = str(place.shown_line)
        self._schedule.note(number, step, line)
        return True

    def _put_aside(self, warp: int, turns: int) -> None:
        """Have a warp wait for so many steps of others, or until none can run."""
        self._aside[warp] = self._turn + turns + 1
        self._in_a_row = 0
