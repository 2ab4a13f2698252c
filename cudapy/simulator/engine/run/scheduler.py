"""Which threads run next.

Threads at the same place form a group, keyed by depth of calls, block and function; the deepest call and, in
it, the block nearest to the function's start runs first. So threads that took different ways reconverge where
these join. Now and then another group has its turn: a loop that waits for others ends.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from .. import coverage, settings
from .barrier_sync import BarrierSync
from .calls import Calls
from .frame import part
from .groups import Groups, Key

if TYPE_CHECKING:
    from ..aliases import I64, U32, Bools, Lanes
    from ..compile.function import CompiledFunction
    from ..compile.graph import Block
    from .batch import Batch
    from .frame import Frame

_LOOK = 63
"""After so many blocks and one it is seen whether the kernel takes too long."""
_PATIENCE = 256
"""After so many blocks another group has its turn."""


class Scheduler:
    """Runs a batch to its end."""

    def __init__(self, batch: Batch) -> None:
        self.batch, self._threads = batch, batch.threads
        self._kernel = batch.launch.kernel
        self._functions = self._kernel.functions
        self._groups = Groups(self._functions, self._threads.count)
        self._calls = Calls(batch, self._groups)
        self._barriers = BarrierSync(batch, self._groups)
        seed = settings.current.seed
        self._random = None if seed is None else random.Random(seed)
        self._steps = 0
        self._resting: set[Key] = set()
        self._counts = coverage.counts(self._kernel) if settings.current.coverage else None
        if self._functions[0].local_size:
            batch.local.reserve(self._functions[0].local_size)

    def run(self) -> None:
        """Raises Fault."""
        batch, groups, ready = self.batch, self._groups, self._groups.ready
        count, report, polls = self._threads.count, batch.report, batch.polls
        pause, watchdog, turns = batch.device.pause, batch.launch.watchdog, 0
        alone: Key | None = None  # the one group that runs, which is not in `ready` then
        lanes: Lanes = None
        while True:
            if pause is not None:
                pause()
            turns += 1
            if not turns & _LOOK and watchdog.is_due:
                if alone is not None:
                    groups.add(alone, lanes)
                    alone = None
                self._barriers.watch()
            if not ready and alone is None:
                if self._barriers.is_idle:
                    return
                self._barriers.deadlock([])
            if alone is None:
                key = self._choose()
                lanes = _merged(ready.pop(key), count)
            else:
                key, alone = alone, None
            function = report.function = self._functions[key.function]
            block = function.blocks[key.block]
            frame = groups.frame(key)
            if block.convergence_mask is not None and lanes is not None:
                lanes = self._reconverge(key, block.convergence_mask, frame, lanes)
                if lanes is not None and not len(lanes):
                    continue
            if block.yields:
                self._resting.add(key)
            result = block.run(batch, frame, lanes)
            if self._counts is not None:
                self._counts.ran(key.function, key.block, count if lanes is None else len(lanes))
            if polls.unproductive:
                self._barriers.look_for_deadlock(block)
            if not ready and self._counts is None:
                alone = _next_of_all(key, block, result)
            if alone is None:
                self._finish(key, function, block, frame, lanes, result)

    def _choose(self) -> Key:
        ready = self._groups.ready
        if len(ready) == 1:
            return next(iter(ready))
        self._steps += 1
        if self._random is not None and self._random.random() < 0.5:
            return self._random.choice(list(ready))
        if self._steps % _PATIENCE == 0:
            keys = list(ready)
            return keys[self._steps // _PATIENCE % len(keys)]
        if self._resting:
            fresh = [key for key in ready if key not in self._resting]
            if fresh:
                return min(fresh)
            self._resting.clear()
        return min(ready)

    def _reconverge(
        self, key: Key, convergence_mask: int | tuple[str, int], frame: Frame, lanes: I64
    ) -> Lanes:
        """Those of `lanes`, and of those that wait already, that have their warp's mask complete."""
        gated = self._groups.gated.pop(key, None)
        if gated is not None:
            together = _merged([*gated, lanes], self._threads.count)
            if together is None:
                return None
            lanes = together
        mask = (
            part(frame[convergence_mask[1]], lanes)
            if isinstance(convergence_mask, tuple)
            else np.uint32(convergence_mask)
        )
        complete = self.batch.warps.gathered(mask, lanes)
        if complete.all():
            return lanes
        self._groups.gated[key] = [lanes[~complete]]
        return lanes[complete]

    def _finish(
        self, key: Key, function: CompiledFunction, block: Block, frame: Frame, lanes: Lanes, result: Any
    ) -> None:
        kind = block.end
        following = Key(key.depth, key.block + 1, key.function)
        if kind == "next":
            self._groups.add(following, lanes)
        elif kind in ("branch", "return", "exit"):
            yes, no = self._split(lanes, result)
            if self._counts is not None and kind == "branch" and not block.is_certain:
                self._counts.branched(key.function, key.block, _size(yes, self.batch), _size(no, self.batch))
            if no is not _NOBODY:
                self._groups.add(following, no)
            if yes is _NOBODY:
                return
            if kind == "branch":
                self._groups.add(Key(key.depth, block.targets[0], key.function), yes)
            elif kind == "return" and key.depth:
                self._calls.return_(key, function, frame, yes)
            else:
                self._exit(yes)
        elif kind == "switch":
            self._switch(key, block, lanes, result)
        elif kind == "barrier":
            self._barriers.arrive(following, function, block, lanes, result)
        elif kind == "cluster":
            self._barriers.arrive_at_cluster(following, function, block, lanes)
        else:
            self._calls.call(key, function, block, frame, lanes, result)

    def _split(self, lanes: Lanes, condition: Bools | Literal[True]) -> tuple[Lanes, Lanes]:
        if condition is True or (not condition.ndim and condition):
            return lanes, _NOBODY
        if not condition.ndim:
            return _NOBODY, lanes
        count = int(np.count_nonzero(condition))
        if count == len(condition):
            return lanes, _NOBODY
        if not count:
            return _NOBODY, lanes
        numbers = self._threads.numbers(lanes)
        return numbers[condition], numbers[~condition]

    def _switch(self, key: Key, block: Block, lanes: Lanes, place: U32) -> None:
        if not place.ndim:
            self._groups.add(Key(key.depth, block.targets[int(place)], key.function), lanes)
            return
        numbers = self._threads.numbers(lanes)
        for one in np.unique(place):
            self._groups.add(Key(key.depth, block.targets[int(one)], key.function), numbers[place == one])

    def _exit(self, lanes: Lanes) -> None:
        threads = self._threads
        numbers = threads.numbers(lanes)
        if lanes is None:  # there is nobody left in any warp
            threads.live[:] = 0
        else:
            threads.live -= np.bincount(threads.blocks[numbers], minlength=len(threads.live))
            self.batch.warps.exited(lanes)
        self._barriers.left(numbers)
        self._groups.open_gates()


_NOBODY: I64 = np.empty(0, np.int64)
"""Told from other arrays by what it is."""
_SPARSE = 64
"""Sorting is quicker than a look at every lane where fewer than one in so many are in the groups."""


def _merged(groups: list[Lanes], count: int) -> Lanes:
    """The lanes of groups that share none, in order; None if they are all `count` of the batch."""
    if len(groups) == 1:
        lanes = groups[0]
        return None if lanes is None or len(lanes) == count else lanes
    several = cast("list[I64]", groups)  # the lanes of all are in one group
    total = sum(map(len, several))
    if total == count:
        return None
    if total * _SPARSE < count:
        return np.sort(np.concatenate(several))
    present = np.zeros(count, bool)
    for lanes in several:
        present[lanes] = True
    return np.flatnonzero(present)


def _next_of_all(key: Key, block: Block, result: Any) -> Key | None:
    """Where a group goes on that stays together; None if it may not, or if more is to be done there."""
    if block.end == "next":
        return Key(key.depth, key.block + 1, key.function)
    if block.end != "branch":
        return None
    if result is True:
        return Key(key.depth, block.targets[0], key.function)
    if not result.ndim:
        taken = bool(result)
    else:
        count = int(np.count_nonzero(result))
        if 0 < count < len(result):
            return None
        taken = count > 0
    return Key(key.depth, block.targets[0] if taken else key.block + 1, key.function)


def _size(lanes: Lanes, batch: Batch) -> int:
    return 0 if lanes is _NOBODY else batch.threads.count if lanes is None else len(lanes)
