"""Where threads wait for each other: barriers of blocks and clusters, and what is said when nobody comes."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NoReturn, TypeAlias

import numpy as np

from .. import fault
from ..classes import BARRIER, COUNT
from ..fault import Fault
from .arguments import function_number
from .barrier import Barriers, Released, Waiting
from .cluster import ClusterBarriers, WaitingAtCluster
from .report import place_of, threads

if TYPE_CHECKING:
    from ..aliases import I64, Array, Bools, Lanes
    from ..compile.function import CompiledFunction
    from ..compile.graph import Block
    from ..ptx.syntax import Instruction
    from .barrier import Mismatch
    from .batch import Batch
    from .groups import Groups, Key

_PATIENCE = 1024
"""After so many unsuccessful polls, and nothing else, all are taken to wait for ever."""


Arrival: TypeAlias = "tuple[Array, Array | None, Bools | None]"
"""The number of a barrier, for how many threads it is, and a predicate to be reduced; None: all, and none."""


def is_aligned(instruction: Instruction) -> bool:
    """Whether all threads of a warp have to run the same barrier instruction."""
    return instruction.name == "bar" or ".aligned" in instruction.opcode


class BarrierSync:
    """Lets groups of a batch wait for others, and says when nobody can come."""

    def __init__(self, batch: Batch, groups: Groups) -> None:
        self._batch, self._groups = batch, groups
        self._threads, self._kernel = batch.threads, batch.launch.kernel
        self._barriers = Barriers(batch.threads)
        self._cluster_barriers: ClusterBarriers | None = None  # once somebody arrives

    @cached_property
    def _left_early(self) -> I64:
        """Of each block a lane that was at a barrier of all and exited, or -1."""
        return np.full(self._threads.block_count, -1)

    @property
    def is_idle(self) -> bool:
        """Nobody waits for anybody."""
        return not self._groups.masked and not self._barriers.everybody() and not self._at_cluster_barrier

    @property
    def _at_cluster_barrier(self) -> list[WaitingAtCluster]:
        """The threads that wait for their clusters."""
        return self._cluster_barriers.waiting if self._cluster_barriers is not None else []

    def left(self, lanes: Lanes) -> None:
        """Lanes have exited: barriers may be complete without them."""
        if self._batch.polls.unproductive:
            self._batch.polls.something_happened()
        races = self._batch.races
        if races is not None:
            if races.have_met is not None:
                numbers = self._threads.numbers(lanes)
                early = numbers[races.have_met[numbers]]
                self._left_early[self._threads.blocks[early]] = early
            races.left(lanes)
        if not self._barriers.is_idle:
            self._release()
        if self._cluster_barriers is not None:
            self._cluster_barriers.exited(self._threads.numbers(lanes))
            self._release_clusters(self._cluster_barriers)

    def arrive(
        self,
        following: Key,
        function: CompiledFunction,
        block: Block,
        lanes: Lanes,
        result: Arrival,
    ) -> None:
        """Lanes have come to the barrier of their block that `block` ends with."""
        number, count, predicate = result
        simple = count is None and not number.ndim and predicate is None
        if simple and lanes is None and self._barriers.is_idle and block.info.action == "sync":
            if self._batch.races is not None:
                self._batch.races.meet_all(np.arange(self._threads.block_count))
                self._batch.races.met(None)
            self._groups.add(following, None)
            return
        numbers = self._threads.numbers(lanes)
        which = np.broadcast_to(number, numbers.shape)
        wanted = np.broadcast_to(0 if count is None else count, numbers.shape)
        truth = None if predicate is None else np.broadcast_to(predicate, numbers.shape)
        for one in np.unique(which):
            for expected in np.unique(wanted[which == one]):
                chosen = (which == one) & (wanted == expected)
                chosen_truth = None if truth is None else truth[chosen]
                waiting = Waiting(block.info, following, numbers[chosen], chosen_truth, function)
                if self._batch.races is not None and is_aligned(waiting.info.instruction):
                    self._check_convergence(int(one), waiting, block)
                if block.info.action == "arrive" and self._batch.races is not None:
                    self._batch.races.arrive(int(one), waiting.lanes)
                mismatch = self._barriers.arrive(int(one), int(expected), waiting)
                if mismatch is not None and self._batch.races is not None:
                    self._tell_of_count(int(one), mismatch, waiting, block)
        if block.info.action == "arrive":
            self._groups.add(following, lanes)
        self._release()

    def _check_convergence(self, barrier: int, waiting: Waiting, block: Block) -> None:
        """Report those of a warp of which others wait for the same barrier at another instruction."""
        warps, here = self._threads.warps, waiting.info.instruction
        for number, other in self._barriers.everybody():
            if number != barrier or other.info.instruction is here or not is_aligned(other.info.instruction):
                continue
            bad = np.isin(warps[waiting.lanes], warps[other.lanes])
            if bad.any():
                there = place_of(self._kernel.name, other.function, other.info.instruction)
                more = f"others of the warp wait {there}; all of a warp come to the same bar.sync"
                text = f"A barrier ({barrier}) in divergent code"
                where = function_number(waiting.function, block)
                self._batch.report.find(BARRIER, text, where, waiting.lanes, bad, more=more)

    def _tell_of_count(self, barrier: int, mismatch: Mismatch, waiting: Waiting, block: Block) -> None:
        """Report threads that disagree on for how many a barrier is."""
        bad = mismatch.blocks[self._threads.blocks[waiting.lanes]]
        expected, other = mismatch.expected, mismatch.other
        more = f"these wait for {expected} threads, others at the same barrier for {other}"
        if mismatch.are_more:
            more = f"it is for {expected} threads, and {other} have come"
        text = f"A barrier ({barrier}) with mismatched counts"
        where = function_number(waiting.function, block)
        self._batch.report.find(COUNT, text, where, waiting.lanes, bad, more=more)

    def _release(self) -> None:
        released = self._barriers.release()
        races = self._batch.races
        if races is not None:
            for one in released:
                if one.is_for_all:
                    races.met(one.lanes)
                    self._check_completeness(one)
            for barrier in dict.fromkeys(one.barrier for one in released):
                lanes = np.concatenate([one.lanes for one in released if one.barrier == barrier])
                races.meet(barrier, lanes)
        for one in released:
            if one.slot is not None and one.result is not None:
                self._groups.frame(one.key).merge(one.slot, one.result, one.lanes)
            self._groups.add(one.key, one.lanes)

    def _check_completeness(self, released: Released) -> None:
        """Report a barrier of all threads without some that were at an earlier one, and have exited."""
        lanes, function = released.lanes, released.waiting.function
        missing = self._left_early[self._threads.blocks[lanes]]
        bad = missing >= 0
        if bad.any():
            more = (
                f"{self._threads.name(int(missing[bad][0]))} was at an earlier barrier, and has exited since"
            )
            where = function.number(released.waiting.info.instruction)
            report = self._batch.report
            report.function = function
            text = f"A barrier ({released.barrier}) that not all threads of the block reach"
            report.find(BARRIER, text, where, lanes, bad, more=more)

    def arrive_at_cluster(
        self, following: Key, function: CompiledFunction, block: Block, lanes: Lanes
    ) -> None:
        """Lanes have come to an arrival at the barrier of their cluster, or to a wait there."""
        threads, barriers = self._batch.threads, self._cluster_barriers
        if barriers is None:
            barriers = ClusterBarriers(threads.blocks, threads.cluster_size, threads.live)
            self._cluster_barriers = barriers
        numbers = threads.numbers(lanes)
        if block.info.action == "arrive":
            bad = barriers.arrive(numbers)
            text = "A second arrival at the barrier of the cluster, with no wait between"
        else:
            waiting = WaitingAtCluster(following, numbers, function, block.info.instruction)
            bad = barriers.wait(waiting)
            text = "A wait at the barrier of the cluster without an arrival"
        if bad.any():
            number = function_number(function, block)
            self._batch.report.fail(fault.LAUNCH_FAILED, text, number, numbers, bad)
        if block.info.action == "arrive":
            self._groups.add(following, lanes)
        self._release_clusters(barriers)

    def _release_clusters(self, barriers: ClusterBarriers) -> None:
        released, complete = barriers.release()
        if self._batch.races is not None and len(complete):
            self._batch.races.meet_clusters(complete)
        for key, lanes in released:
            self._groups.add(key, lanes)

    def look_for_deadlock(self, ran: Block) -> None:
        """After a block in which polls were unsuccessful: does everybody wait?"""
        polls = self._batch.polls
        if not ran.is_idle:
            polls.something_happened()
        elif polls.unproductive > _PATIENCE:
            all_lanes = [waiting.lanes for _, waiting in self._barriers.everybody()]
            all_lanes += [one.lanes for one in self._at_cluster_barrier]
            all_lanes += [lanes for groups in self._groups.masked.values() for lanes in groups]
            if len(np.unique(np.concatenate([polls.lanes(), *all_lanes]))) == int(self._threads.live.sum()):
                self.deadlock(self._batch.mbarriers.who_asks())

    def check_progress(self) -> None:
        """Say that all threads wait, if they seem to; raise Fault for a kernel that is to end."""
        watchdog = self._batch.launch.watchdog
        places = {key: self._looks_at(key) for key in self._groups.ready}
        looks = all(place is not None for place in places.values())
        if why := watchdog.why_over:
            head = f"{self._kernel.name} {why}"
            raise Fault(fault.LAUNCH_TIMEOUT, "\n".join([head, *self._where_all_are(places)]))
        if watchdog.should_say(looks, int(self._threads.live.sum())):
            head = f"{self._kernel.name} has run for {watchdog.seconds:.0f} s, and its threads only look at "
            head += "memory that none of them changes"
            last = "    CUDAPY_SIMULATOR_TIMEOUT=seconds or Ctrl-C in a wait ends such kernels"
            self._batch.device.notify("\n".join([head, *self._where_all_are(places), last]))

    def _looks_at(self, key: Key) -> Instruction | None:
        """What the threads of a group wait with, if they are in a loop that waits."""
        return self._groups.functions[key.function].waiting_loops.get(key.block)

    def _where_all_are(self, places: dict[Key, Instruction | None]) -> list[str]:
        """Lines that say of each group of threads where it is."""
        lines = []
        for key, place in places.items():
            function = self._groups.functions[key.function]
            steps = function.blocks[key.block].steps
            instruction = place or (steps[0].instruction if steps else None)
            lanes = np.concatenate([self._threads.numbers(one) for one in self._groups.ready[key]])
            if instruction is not None:
                lines.append(self._are_at(lanes, function, instruction, "are at"))
        return [*lines, *self._who_waits()]

    def _are_at(self, lanes: I64, function: CompiledFunction, instruction: Instruction, what: str) -> str:
        first = self._threads.name(int(lanes.min()))
        where = place_of(self._kernel.name, function, instruction)
        return f"    {threads(len(lanes), what)}, the first is {first}\n        {where}"

    def deadlock(self, more: list[str]) -> NoReturn:
        """Say who waits for what; `more` are those that ask again and again."""
        lines = self._who_waits()
        if self._barriers.everybody():
            more = [*more, "    each waits for threads that never come: look for a barrier in a branch"]
        text = f"Deadlock in {self._kernel.name}: no thread can run\n" + "\n".join([*lines, *more])
        raise Fault(fault.LAUNCH_TIMEOUT, text)

    def _who_waits(self) -> list[str]:
        """Lines that say who waits for which barrier."""
        lines = []
        for number, waiting in self._barriers.everybody():
            lines.append(
                self._waits(waiting.lanes, waiting.function, waiting.info.instruction, f"barrier {number}")
            )
        for member in self._at_cluster_barrier:
            what = "the barrier of their cluster"
            lines.append(self._waits(member.lanes, member.function, member.instruction, what))
        for key, groups in self._groups.masked.items():
            function = self._groups.functions[key.function]
            first = function.blocks[key.block].steps[0].instruction
            lines.append(self._waits(np.concatenate(groups), function, first, "the rest of its warp's mask"))
        return lines

    def _waits(self, lanes: I64, function: CompiledFunction, instruction: Instruction, what: str) -> str:
        return self._are_at(lanes, function, instruction, f"wait for {what}")
