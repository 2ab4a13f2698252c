"""Which threads run next.

Threads at the same place form a group, keyed by depth of calls, block and function; the deepest call and, in
it, the block nearest to the function's start runs first. So threads that diverged reconverge where their
paths join. Now and then another group has its turn, so that a loop that waits for other threads ends.
"""

from __future__ import annotations

import functools
import random
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from .. import coverage
from ..arithmetic.arrays import part
from ..checks import COVERAGE
from ..classes import MASK
from .barrier_sync import BarrierSync
from .calls import Calls
from .groups import Groups, Key, Place, frame_of_kernel
from .meeting import Meeting, operation
from .warp_order import WarpOrder

if TYPE_CHECKING:
    from collections.abc import Hashable

    from ..aliases import I64, U32, Bools, Lanes
    from ..back_ends import Runner
    from ..compile.graph import Block
    from .batch import Batch
    from .frame import Frame
    from .warp import Warps

_BEGIN = Key(0, 0, 0)
_LOOK = 63
"""A mask: the watchdog is checked every 64 blocks."""
_PATIENCE = 256
"""Every so many blocks another group has its turn."""


def run(batch: Batch) -> None:
    """Run a batch to its end. Raises Fault.

    A back end may run all of its blocks to theirs: then nobody schedules anything.
    """
    launch, kernel = batch.launch, batch.launch.kernel.compiled
    frame = frame_of_kernel(kernel, batch.threads.count)
    if kernel.local_size:
        batch.local.reserve(kernel.local_size)
    runner = None if launch.back_end is None else launch.back_end.runner(batch)
    scheduler = functools.cache(lambda: Scheduler(batch, runner, frame))
    if runner is None or not runner.may_run_all():
        scheduler().run()
        return
    if batch.device.pause is not None:
        batch.device.pause()
    launch.counters.region_runs += 1
    blocks = runner.run_all(frame, lambda block, lanes: scheduler().look(block, lanes))
    if blocks is None:
        runner.end()
    else:
        scheduler().go_on(blocks)


class Scheduler:
    """Runs a batch to its end."""

    def __init__(self, batch: Batch, runner: Runner | None, frame: Frame) -> None:
        self.batch, self._threads = batch, batch.threads
        self._kernel = batch.launch.kernel
        self._functions = self._kernel.functions
        self._groups = Groups(self._functions, self._threads.count, frame)
        self._calls = Calls(batch, self._groups)
        self._barriers = BarrierSync(batch, self._groups)
        seed = batch.launch.settings.seed
        self._random = None if seed is None else random.Random(seed)
        self._running = _BEGIN
        """The group that a back end runs."""
        schedule = batch.launch.schedule
        self._order = (
            None if schedule is None else WarpOrder(schedule, batch.threads, self._groups, batch.first_block)
        )
        self._is_in_order = seed is None
        """Whether the group nearest to the start of the function always runs first."""
        self._runner = runner
        self._steps = 0
        self._resting: set[Key] = set()
        self._for_numpy: set[Key] = set()
        """Places where lanes have left a region before it did anything: NumPy goes on from there."""
        self._counts = coverage.counts(self._kernel) if COVERAGE in batch.launch.checks else None

    def run(self) -> None:
        """Raises Fault."""
        self._groups.add(_BEGIN, None)
        self._run()

    def go_on(self, blocks: I64) -> None:
        """Run threads that a back end has run from the beginning, from the blocks on that they are at."""
        self._came_back(_BEGIN, blocks, False, None)
        self._run()

    def _run(self) -> None:
        self._run_groups()
        if self._runner is not None:
            self._runner.end()

    def _run_groups(self) -> None:
        batch, groups, ready = self.batch, self._groups, self._groups.ready
        count, report, polls = self._threads.count, batch.report, batch.polls
        pause, watchdog, turns = batch.device.pause, batch.launch.watchdog, 0
        runner, counters = self._runner, batch.launch.counters
        here: Place | None = None  # of a group that goes on, which is not in `ready` then
        lanes: Lanes = None
        while True:
            if pause is not None:
                pause()
            turns += 1
            if not turns & _LOOK and watchdog.is_due:
                if here is not None:
                    groups.add(here.key, lanes)
                    here = None
                self._barriers.check_progress()
            if here is None:
                if not ready:
                    if self._barriers.is_idle:
                        return
                    self._barriers.deadlock([])
                key, lanes = self._take()
                here = groups.place(key)
            report.function, block = here.function, here.block
            if block.convergence_mask is not None:
                lanes = self._reconverge(here, block, block.convergence_mask, lanes)
                if lanes is not None and not len(lanes):
                    here = None
                    continue
            if block.is_entry and runner is not None:
                region = self._region(here, block, lanes)
                if region is not None:
                    counters.region_runs += 1
                    here = self._run_region(runner, region, here, lanes)
                    continue
            if block.yields:
                self._rest(here.key)
            counters.numpy_runs += 1
            result = block.run(batch, here.frame, lanes)
            if self._counts is not None:
                self._counts.ran(here.key.function, here.key.block, _size(lanes, count))
            watchdog.has_worked |= not block.only_looks
            if polls.unproductive:
                self._barriers.look_for_deadlock(block)
            here = self._go_on(here, block, lanes, result)

    def _region(self, here: Place, block: Block, lanes: Lanes) -> Hashable | None:
        """The region of a back end for a group; None if NumPy runs the block."""
        if here.key in self._for_numpy:
            self._for_numpy.discard(here.key)
            return None
        code, launch = here.function.code, self.batch.launch
        if code is None or not here.function.is_defined(block, here.frame):
            return None
        size = _size(lanes, self._threads.count)
        region = code.region(here.key.block, size, launch.checks, launch.is_eager)
        return None if region in launch.left_to_python else region

    def _run_region(self, runner: Runner, region: Hashable, here: Place, lanes: Lanes) -> Place | None:
        """Have a back end run a group from its place on. Returns what `_go_on` returns."""
        key = self._running = here.key
        blocks, have_left, has_effects = runner.run(region, here.frame, lanes, key.block, self.look)
        if has_effects:
            self.batch.polls.something_happened()
        return self._came_back(key, blocks, have_left, lanes)

    def _came_back(self, key: Key, blocks: I64 | int, have_left: bool, lanes: Lanes) -> Place | None:
        """A back end has run a group that was at `key`. Returns what `_go_on` returns."""
        if isinstance(blocks, int):
            if blocks == key.block and have_left:
                self._for_numpy.add(key)
            return self._follow(Key(key.depth, blocks, key.function), lanes)
        numbers = self._threads.numbers(lanes)
        for one in np.unique(blocks):
            following = Key(key.depth, int(one), key.function)
            self._groups.add(following, numbers[blocks == one])
            if not have_left:
                self._resting.add(following)
            if following == key:
                self._for_numpy.add(key)
        return None

    def look(self, block: int, lanes: Lanes) -> None:
        """Called now and then while a back end runs: let others run; raise Fault if the kernel takes too
        long.
        """
        batch = self.batch
        if batch.device.pause is not None:
            batch.device.pause()
        if batch.launch.watchdog.is_due:
            key = Key(self._running.depth, block, self._running.function)
            self._groups.add(key, lanes)
            self._barriers.check_progress()
            self._groups.ready[key].pop()
            if not self._groups.ready[key]:
                del self._groups.ready[key]

    def _take(self) -> tuple[Key, Lanes]:
        """The group that runs next, of those that are ready."""
        if self._order is not None:
            return self._order.take()
        ready = self._groups.ready
        key = self._choose() if len(ready) > 1 else next(iter(ready))
        return key, _merged(ready.pop(key), self._threads.count)

    def _rest(self, key: Key) -> None:
        """Let others go first: the group may wait for them."""
        if self._order is not None:
            self._order.rest()
        else:
            self._resting.add(key)

    def _choose(self) -> Key:
        ready = self._groups.ready
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
        self, here: Place, block: Block, convergence_mask: int | tuple[str, int], lanes: Lanes
    ) -> Lanes:
        """The lanes, of `lanes` and those that wait already, whose warp's mask is complete."""
        key, frame = here.key, here.frame
        if self.batch.races is not None:
            self._check_mask(block, convergence_mask, frame, lanes)
        if lanes is None:
            return None
        masked = self._groups.masked.pop(key, None)
        if masked is not None:
            joined = _merged([*masked, lanes], self._threads.count)
            if joined is None:
                return None
            lanes = joined
        complete = self.batch.warps.gathered(part(_bits(convergence_mask, frame), lanes), lanes)
        if complete.all():
            return lanes
        self._groups.masked[key] = [lanes[~complete]]
        if len(self._groups.masked) > 1:
            self._meet(operation(block.steps[0].instruction))
            self.batch.report.function = here.function
        return lanes[complete]

    def _meet(self, wanted: str) -> None:
        """Run an operation where lanes of a warp with the same mask wait for it at different instructions."""
        groups = self._groups
        places = [groups.place(key) for key in groups.masked]
        places = [one for one in places if wanted and operation(one.block.steps[0].instruction) == wanted]
        if len(places) < 2:
            return
        own = [np.concatenate(groups.masked[one.key]) for one in places]
        masks = np.concatenate([_masks(one, lanes) for one, lanes in zip(places, own, strict=True)])
        lanes, complete = np.concatenate(own), np.zeros(len(masks), bool)
        for mask in np.unique(masks):
            complete[masks == mask] = self.batch.warps.gathered(mask, lanes[masks == mask])
        parts, begin = [], 0
        for place, waiting in zip(places, own, strict=True):
            yes = complete[begin : begin + len(waiting)]
            begin += len(waiting)
            if yes.any():
                parts.append((place, waiting[yes]))
                groups.masked[place.key] = [waiting[~yes]]
            if yes.all():
                del groups.masked[place.key]
        if parts:
            self._run_together(parts)

    def _run_together(self, parts: list[tuple[Place, I64]]) -> None:
        """Run the blocks of groups that begin with the same operation, which they do together."""
        batch, counts = self.batch, self._counts
        warps, meeting = batch.warps, Meeting(batch.warps)

        def run(place: Place, lanes: I64) -> Any:
            batch.report.function = place.function
            return place.block.run(batch, place.frame, lanes)

        batch.warps = cast("Warps", meeting)
        try:
            results = meeting.run([functools.partial(run, *one) for one in parts])
        finally:
            batch.warps = warps
        for (place, lanes), result in zip(parts, results, strict=True):
            batch.launch.counters.numpy_runs += 1
            if counts is not None:
                counts.ran(place.key.function, place.key.block, len(lanes))
            following = self._go_on(place, place.block, lanes, result)
            if following is not None:
                self._groups.add(following.key, lanes)

    def _check_mask(
        self, block: Block, convergence_mask: int | tuple[str, int], frame: Frame, lanes: Lanes
    ) -> None:
        """Report threads that are not in the mask that they give a warp operation.

        Source: PTX ISA, "bar.warp.sync": its behaviour is undefined then.
        """
        if convergence_mask == 0xFFFFFFFF:
            return
        numbers = self._threads.numbers(lanes)
        mask = _bits(convergence_mask, frame)
        mask = mask if lanes is None else part(mask, lanes)
        outside = self.batch.warps.are_outside(mask, numbers)
        if outside.any():
            report = self.batch.report
            first = int(np.broadcast_to(mask, numbers.shape)[int(np.argmax(outside))])
            number = report.function.number(block.steps[0].instruction)
            text, more = "A warp operation by a thread outside of its mask", f"the mask is {first:#010x}"
            report.find(MASK, text, number, lanes, outside, more=more)

    def _go_on(self, here: Place, block: Block, lanes: Lanes, result: Any) -> Place | None:
        """The place where a group goes on, if it does not split and no other group can run; otherwise None,
        and the group is added to the others.
        """
        if block.end == "next":
            following = here.after
        elif block.end == "branch":
            if result is True:
                taken = True
            elif not result.ndim:
                taken = bool(result)
            else:
                yes = int(np.count_nonzero(result))
                if 0 < yes < len(result):
                    self._part(here, lanes, result)
                    return None
                taken = yes > 0
            if self._counts is not None and not block.is_certain:
                size = _size(lanes, self._threads.count)
                self._counts.branched(*here.key[:0:-1], *((size, 0) if taken else (0, size)))
            following = here.target if taken else here.after
        else:
            self._finish(here, block, lanes, result)
            return None
        return self._follow(following, lanes)

    def _follow(self, following: Key, lanes: Lanes) -> Place | None:
        """As `_go_on`, for a group that does not split."""
        groups = self._groups
        if self._order is None and (not groups.ready or (self._is_in_order and self._goes_first(following))):
            return groups.place(following)
        groups.add(following, lanes)
        return None

    def _goes_first(self, key: Key) -> bool:
        """Whether a group would run first if it were added to the others."""
        if self._resting or key >= min(self._groups.ready) or (self._steps + 1) % _PATIENCE == 0:
            return False
        self._steps += 1
        return True

    def _part(self, here: Place, lanes: Lanes, condition: Bools) -> None:
        """Split a group: lanes with the condition go to the branch's target, the others to the next block."""
        numbers = self._threads.all_lanes if lanes is None else lanes
        yes, no = numbers[condition], numbers[~condition]
        if self._counts is not None:
            self._counts.branched(here.key.function, here.key.block, len(yes), len(no))
        self._groups.add(here.after, no)
        self._groups.add(here.target, yes)

    def _finish(self, here: Place, block: Block, lanes: Lanes, result: Any) -> None:
        kind, key, function = block.end, here.key, here.function
        if kind in ("return", "exit"):
            yes, no = self._split(lanes, result)
            if no is not _NOBODY:
                self._groups.add(here.after, no)
            if yes is _NOBODY:
                return
            if kind == "return" and key.depth:
                self._calls.return_(key, function, here.frame, yes)
            else:
                self._exit(yes)
        elif kind == "switch":
            self._switch(key, block, lanes, result)
        elif kind == "barrier":
            self._barriers.arrive(here.after, function, block, lanes, result)
        elif kind == "cluster":
            self._barriers.arrive_at_cluster(here.after, function, block, lanes)
        else:
            self._calls.call(key, function, block, here.frame, lanes, result)

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
        if lanes is None:  # there is nobody left in any warp
            threads.live[:] = 0
        else:
            threads.live -= np.bincount(threads.blocks[lanes], minlength=len(threads.live))
            self.batch.warps.exited(lanes)
        self._barriers.left(lanes)
        self._groups.recheck_masks()


_NOBODY: I64 = np.empty(0, np.int64)
"""Compared by identity."""
_SPARSE = 64
"""If fewer than one in so many lanes are in the groups, sorting is faster than marking each lane."""


def _merged(groups: list[Lanes], count: int) -> Lanes:
    """The lanes of disjoint groups, in order; None if they are all `count` of the batch."""
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


def _size(lanes: Lanes, count: int) -> int:
    return count if lanes is None else len(lanes)


def _masks(place: Place, lanes: I64) -> U32:
    """The mask of each of `lanes` for the warp operation that a block begins with."""
    assert place.block.convergence_mask is not None
    mask = part(_bits(place.block.convergence_mask, place.frame), lanes)
    return np.broadcast_to(mask, lanes.shape)


def _bits(convergence_mask: int | tuple[str, int], frame: Frame) -> U32:
    """A mask as a number, whatever type the instruction had that wrote the register."""
    if not isinstance(convergence_mask, tuple):
        return np.asarray(convergence_mask, np.uint32)
    value = np.asarray(frame[convergence_mask[1]])
    return value.view(f"u{value.itemsize}").astype(np.uint32, copy=False)
