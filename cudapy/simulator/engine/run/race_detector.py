"""Looks for data races: accesses of two threads to a byte, one of them a write, that nothing orders.

Two accesses are ordered by what `clocks` knows: barriers, for their participants; fences and strong accesses.
Two strong accesses do not race if the scope of each includes the other's thread.

Source: PTX ISA, "Memory Consistency Model".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..access import ATOMIC, READ, WRITE
from ..classes import READONLY
from .access_sites import is_generic, may_synchronise
from .clocks import CLUSTER, GPU, SCOPES, HappensBefore
from .copies_in_flight import CopiesInFlight
from .launch_order import is_constant
from .race_report import RaceReport
from .seen_access import Contents, SeenAccess
from .shadow import WIDEST, Record, Shadow
from .shared_lifetimes import SharedLifetimes
from .strong_accesses import StrongAccesses
from .unfinished_stores import Store

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from ..access import Access
    from ..aliases import I64, U8, U64, Array, Bools, Lanes
    from ..compile.function import CompiledFunction
    from ..memory import Allocation, Memory
    from .access_sites import Site
    from .launch_order import LaunchOrder
    from .report import Reporter
    from .threads import Threads

_OF_MAPS = ("tensormap.", "cp.async.bulk.tensor.", "cp.reduce.async.bulk.tensor.")
"""What begins the opcodes that read or write tensor maps in global memory."""
_WARP, _WARPGROUP = 32, 128


class RaceDetector:
    """What was seen of a batch's global memory and of its shared memory, `stride` bytes of each block."""

    def __init__(
        self, threads: Threads, report: Reporter, order: LaunchOrder, stride: int, first_block: int
    ) -> None:
        self._threads, self._report, self._order = threads, report, order
        self._shared_stride = stride
        self._first_block = first_block
        self._happens = HappensBefore(threads, order.clocks, first_block)
        self._shared = Shadow(threads.block_count * stride)
        self._races = RaceReport(threads, report, order, self._happens)
        self._strong = StrongAccesses(threads, order, self._happens, first_block)
        self._copies = CopiesInFlight(threads, self._races, self._shared, threads.block_count * stride)
        self._products: dict[int, int] = {}  # clocks of warpgroups: what they have done before a commit
        self._lifetimes = SharedLifetimes(threads, report, order, self._happens, self._shared, stride)
        self.have_met: Bools | None = None
        """Lanes that were at a barrier of all threads of their block; None: none was."""

    # What a back end needs that enters accesses itself.

    @property
    def is_plain(self) -> bool:
        """Whether an access is ordered by the barriers of whole blocks alone, as far as threads of the batch
        are ordered at all.
        """
        return self._happens.is_plain and not self._copies.exist and not self._order.locations

    @property
    def state(self) -> Hashable:
        """Changes with everything that `chunks`, `strong_sites` and shadows depend on."""
        order = self._order
        return order.changes, order.clocks.time, len(order.sites), self._shared.granularity, self.is_plain

    @property
    def shared_shadow(self) -> Shadow:
        return self._shared

    @property
    def shadows(self) -> dict[int, Shadow]:
        """Those of allocations, by their addresses."""
        return self._order.shadows

    def refine_shared(self, size: int) -> None:
        """There will be accesses of `size` bytes to shared memory."""
        self._copies.refine(size)

    def site(self, function: CompiledFunction, number: int, mode: int) -> int:
        """The number by which shadows know an instruction."""
        return self._order.site(function, number, mode)

    @property
    def sites(self) -> list[Site]:
        """Those of the launch so far, by their numbers."""
        return self._order.sites

    @property
    def first_thread(self) -> int:
        """The number in the launch of the batch's first thread."""
        return self._first_block * self._threads.per_block

    def strong_sites(self) -> U8:
        """For each site, counted from 1, whether it is a strong access whose scope includes all threads."""
        return np.array([False, *(one.scope >= GPU for one in self._order.sites)], np.uint8)

    def chunks(self, lanes: I64) -> U64:
        """For each of the lanes its epoch now, the time before which all accesses of its block are ordered
        before its own, its block's first thread, counted from 1 as in epochs, the threads of a block, the
        time before which accesses of its warp are, and room for when that has exchanged values.
        """
        thread, time, first, warp_time = self._happens.epochs(lanes)
        chunks = np.zeros((len(lanes), 8), np.int64)
        chunks[:, 0] = (thread + 1 << 32) | self._happens.time
        np.maximum(time, 1, out=chunks[:, 1])
        np.add(first, 1, out=chunks[:, 2])
        chunks[:, 3] = self._threads.per_block
        chunks[:, 4] = warp_time
        return chunks.view(np.uint64)

    @property
    def time(self) -> int:
        return self._happens.time

    def met_meanwhile(self, firsts: I64, times: I64, met: I64, exchanged: I64, now: int) -> None:
        """For each of the warps with these first lanes: when all threads of its block met last, and when its
        own met, and exchanged values. A back end has counted the time, while the order was plain.
        """
        self._happens.met_meanwhile(firsts, times, met, exchanged, now)

    # What orders threads.

    def met(self, lanes: Lanes) -> None:
        """Lanes were at a barrier of all threads of their blocks."""
        if self.have_met is None:
            self.have_met = np.zeros(self._threads.count, bool)
        self.have_met[slice(None) if lanes is None else lanes] = True

    def meet_all(self, blocks: I64) -> None:
        """All threads of blocks met at a barrier."""
        self._happens.meet_all(blocks)

    def arrive(self, barrier: int, lanes: I64) -> None:
        """bar.arrive."""
        self._happens.arrive(barrier, lanes)

    def meet(self, barrier: int, lanes: I64) -> None:
        """Lanes go on after a barrier of their blocks."""
        self._happens.meet(barrier, lanes, self._threads.live)

    def meet_clusters(self, clusters: I64) -> None:
        self._happens.meet_clusters(clusters)

    def meet_warps(self, lanes: Lanes, mask: Array, alive: I64) -> None:
        """bar.warp.sync; `alive`: for each lane the lanes of its warp that run."""
        numbers = self._threads.numbers(lanes)
        self._happens.meet_warps(numbers, np.broadcast_to(mask, numbers.shape).astype(np.int64), alive)

    def exchange(self, lanes: Lanes) -> None:
        """A shuffle or vote."""
        self._happens.exchange(self._threads.numbers(lanes))

    def fence(self, scope: str, lanes: Lanes) -> None:
        """fence and membar, or a proxy fence, whose `scope` begins with "async"."""
        numbers = self._threads.numbers(lanes)
        if scope.startswith("async"):
            self._happens.fence_proxies(numbers)
        else:
            self._happens.fence(SCOPES[scope], numbers)

    def arrived(self, words: I64, odd: I64, lanes: I64) -> None:
        """Lanes arrived at phases of mbarriers."""
        self._strong.arrived(words, odd, lanes)

    def waited(self, words: I64, odd: I64, lanes: I64) -> None:
        """Lanes found phases of mbarriers over."""
        self._strong.waited(words, odd, lanes)
        self._copies.over(np.unique(2 * words + odd))

    def left(self, lanes: Lanes) -> None:
        """Lanes have exited."""
        if self._threads.cluster_size > 1:
            self._lifetimes.left(self._threads.numbers(lanes))

    # Accesses.

    def shared(self, a: U64, access: Access, lanes: Lanes, contents: Contents) -> None:
        """An access to the batch's shared memory."""
        self._copies.refine(access.size)
        numbers = self._threads.numbers(lanes)
        start = contents.start
        seen = SeenAccess("shared", numbers, access.number, access.mode, a, access.size, contents, access)
        places = start // self._shared.granularity
        for step in range(max(access.size // self._shared.granularity, 1)):
            self._copies.look(seen, places + step)
        self._see(self._shared, seen, places, max(access.size // self._shared.granularity, 1))
        self._pass_on(seen, ("shared", self._first_block), start)

    def in_global(
        self, allocation: Allocation, a: U64, access: Access, lanes: Lanes, values: tuple[Array, ...] = ()
    ) -> None:
        """An access to an allocation."""
        instruction = self._report.function.instructions[access.number]
        if instruction.opcode.startswith(_OF_MAPS):  # ordered by proxy fences, which are not looked at
            return
        numbers = self._threads.numbers(lanes)
        if is_constant(allocation):
            if access.mode != READ:
                are_parameters = allocation.kind == "parameters"
                text = f"Write to {'the parameters of a kernel' if are_parameters else '__constant__ memory'}"
                self._report.find(READONLY, text, access.number, numbers, True, a, access.size)
            return
        start = (np.broadcast_to(a, numbers.shape) - np.uint64(allocation.address)).view(np.int64)
        shadow = self._order.shadow(allocation, min(access.size, WIDEST))
        contents = Contents(allocation.data, start, values)
        seen = SeenAccess("global", numbers, access.number, access.mode, a, access.size, contents, access)
        self._see(shadow, seen, start // shadow.granularity, access.size // shadow.granularity)
        self._pass_on(seen, allocation.address, start)

    def _pass_on(self, seen: SeenAccess, memory: Hashable, start: I64) -> None:
        site = self._order.site(self._report.function, seen.number, seen.mode)
        self._strong.pass_on(seen, self._order.sites[site], memory, start)

    def in_array(
        self,
        memory: Memory,
        array: Array,
        where: tuple[Array, Array, Array],
        byte: Array | int,
        access: Access,
        numbers: I64,
        values: tuple[Array, ...] = (),
    ) -> None:
        """Lanes access elements of the memory of a texture or surface, at a byte in each of them.

        array: as `Texture.data`. where: z, y and x of each lane.
        """
        allocation = memory.find(array.ctypes.data)
        if allocation is None:
            return
        first = array.ctypes.data - allocation.address
        start: I64 = np.broadcast_to(np.asarray(byte, np.int64) + first, numbers.shape)
        for index, step in zip(where, array.strides, strict=False):
            start = start + index * step
        part = min(access.size & -access.size, WIDEST)
        while (int(np.bitwise_or.reduce(start)) | allocation.address) & (part - 1):
            part //= 2
        shadow = self._order.shadow(allocation, part)
        a, contents = (
            start.view(np.uint64) + np.uint64(allocation.address),
            Contents(allocation.data, start, values),
        )
        seen = SeenAccess("global", numbers, access.number, access.mode, a, access.size, contents, access)
        self._see(shadow, seen, start // shadow.granularity, access.size // shadow.granularity)

    def copied(self, places: I64, lane: int, number: int, mode: int, phase: int | None) -> None:
        """A copy that a lane started touches bytes; `phase` says when those that it writes are there."""
        self._copies.refine(1)
        a = places[:1].astype(np.uint64) % np.uint64(self._shared_stride)
        lanes = np.full(len(places), lane)
        seen = SeenAccess("shared", lanes, number, mode, a, len(places))
        self._copies.look(seen, places)
        self._see(self._shared, seen, places, 1)
        if phase is not None:
            self._copies.writes(places, phase, mode == ATOMIC)
        elif mode == READ:
            self._require_proxy_fence(self._shared, seen, places)

    def copied_in_global(
        self, allocation: Allocation, offsets: I64, size: int, lane: int, number: int, mode: int
    ) -> None:
        """A copy that a lane started touches pieces of `size` bytes of an allocation, at offsets in it."""
        total = len(offsets) * size
        whole = np.unique(offsets // WIDEST)
        if len(whole) * WIDEST == total:  # what it touches consists of the widest parts
            offsets, size = whole * WIDEST, WIDEST
        part = size
        while int(np.bitwise_or.reduce(offsets)) & (part - 1):
            part //= 2
        shadow, thread = self._order.shadow(allocation, part), int(self._happens.thread(np.array([lane]))[0])
        site = self._order.site(self._report.function, number, mode)
        store = Store(shadow, offsets, size, thread, site)
        places = np.unique(store.places())
        a = offsets[:1].astype(np.uint64) + np.uint64(allocation.address)
        seen = SeenAccess("global", np.full(len(places), lane), number, mode, a, total)
        self._see(shadow, seen, places, 1)
        if mode == READ:
            self._require_proxy_fence(shadow, seen, places)
        else:
            self._copies.stores(lane, store)

    def _see(self, shadow: Shadow, seen: SeenAccess, start: I64, steps: int) -> None:
        site = self._order.site(self._report.function, seen.number, seen.mode)
        threads, time = self._happens.thread(seen.lanes), self._happens.time
        for step in range(steps):
            places = start + step if step else start
            if self._order.sites[site].is_read_only:
                self._require_unwritten(shadow.write, seen, site, places)
            self._compare(shadow, shadow.write, seen, site, places, threads)
            if seen.mode == READ:
                self._add_reads(shadow, seen, site, places, threads)
                continue
            for reads in (shadow.first_read, shadow.last_read):
                self._compare(shadow, reads, seen, site, places, threads)
            if len(places) > 1 and seen.access is not None and (seen.mode == WRITE or self._is_narrow(site)):
                self._compare_with_itself(seen, site, places)
            shadow.write.set(places, threads, time, site)
            shadow.written[0] = time

    def _require_unwritten(self, writes: Record, seen: SeenAccess, site: int, places: I64) -> None:
        """Report reads of what the kernel has written, whoever did it, and with whatever barrier between.

        Source: PTX ISA, "ld.global.nc"; CUDA C++ Programming Guide, "__restrict__", "__ldg()".
        """
        thread, _, sites = writes.at(places)
        bad = thread >= 0
        if bad.any():
            first = int(np.argmax(bad))
            theirs = self._order.sites[int(sites[first])]
            self._races.read_as_unwritten(seen, self._order.sites[site], theirs, bad, int(thread[first]))

    def _require_proxy_fence(self, shadow: Shadow, seen: SeenAccess, places: I64) -> None:
        """Report asynchronous reads of what threads have written, with no proxy fence between.

        Source: PTX ISA, "Proxies", "membar, fence", "Async Proxy".
        """
        thread, when, sites = shadow.write.at(places)
        are_threads = np.array([is_generic(one.instruction.opcode) for one in self._order.sites])
        written = np.flatnonzero(thread >= 0)
        written = written[are_threads[sites[written]]]
        missing = written[~self._happens.are_proxied(thread[written], when[written])]
        if len(missing):
            first = int(missing[0])
            bad = np.zeros(len(places), bool)
            bad[missing] = True
            theirs = self._order.sites[int(sites[first])]
            self._races.read_by_other_proxy(seen, theirs, bad, int(thread[first]))

    def _add_reads(self, shadow: Shadow, seen: SeenAccess, site: int, places: I64, threads: I64) -> None:
        time = self._happens.time
        reads = shadow.first_read
        others = reads.others(places, threads)
        chosen, lanes = places, threads
        if len(others):
            thread, when, _ = reads.at(places[others])
            concurrent = others[~self._happens.ordered(seen.lanes[others], thread, when)]
            if len(concurrent):
                keep = np.ones(len(places), bool)
                keep[concurrent] = False
                chosen, lanes = places[keep], threads[keep]
        reads.set(chosen[::-1], lanes[::-1], time, site)
        shadow.last_read.set(places, threads, time, site)

    def _compare(
        self, shadow: Shadow, record: Record, seen: SeenAccess, site: int, places: I64, threads: I64
    ) -> None:
        """Report accesses of a record that race with those of now."""
        others = record.others(places, threads)
        if not len(others):
            return
        thread, when, sites = record.at(places[others])
        are_reads = record is not shadow.write
        bad = ~self._happens.ordered(seen.lanes[others], thread, when, are_reads)
        if not bad.any():
            return
        mine = self._order.sites[site]
        for one in np.unique(sites[bad]).tolist():
            theirs = self._order.sites[one]
            chosen = np.flatnonzero(bad & (sites == one))
            if may_synchronise(mine, theirs):
                chosen = self._outside(chosen, min(mine.scope, theirs.scope), seen.lanes[others], thread)
            elif mine.scope and theirs.scope:
                chosen = chosen[~self._are_polled(shadow, places[others[chosen]])]
            if seen.stored is not None and theirs.mode == WRITE and len(chosen):
                changes = seen.stored.changes(others[chosen])
                equal, chosen = chosen[~changes], chosen[changes]
                if len(equal):
                    self._races.race(
                        seen, mine, theirs, others[equal], thread[equal], when[equal], are_equal=True
                    )
            for part in self._by_knowledge(mine, theirs, chosen, seen.lanes[others], thread, when):
                first, value = others[part[:1]], None
                if not are_reads or not self._is_changed(shadow, places[first], when[part[0]]):
                    value = seen.value_there(int(first[0]), theirs)
                self._races.race(seen, mine, theirs, others[part], thread[part], when[part], value=value)

    def _are_polled(self, shadow: Shadow, places: I64) -> Bools:
        """Whether a thread waits in a loop for what is written there: it is a flag, then, to all."""
        polls = np.array([False, *(one.polls for one in self._order.sites)])
        result: Bools = polls[shadow.first_read.at(places)[2] + 1] | polls[shadow.last_read.at(places)[2] + 1]
        return result

    def _is_changed(self, shadow: Shadow, place: I64, time: int) -> bool:
        """Whether a place may have been written since a time."""
        writer, when, _ = shadow.write.at(place)
        return bool(writer[0] >= 0 and when[0] >= time)

    def _outside(self, chosen: I64, scope: int, lanes: I64, thread: I64) -> I64:
        """Of pairs of strong accesses those that are not in each other's scopes."""
        if scope >= GPU:
            return chosen[:0]
        size = self._threads.cluster_size if scope == CLUSTER else 1
        mine = (self._threads.blocks[lanes[chosen]] + self._first_block) // size
        return chosen[mine != thread[chosen] // self._threads.per_block // size]

    def _by_knowledge(
        self, mine: Site, theirs: Site, chosen: I64, lanes: I64, thread: I64, when: I64
    ) -> Iterator[I64]:
        """Pairs of accesses in parts of one class each: of strong ones those whose second thread has read a
        flag, and the others.
        """
        if mine.scope and theirs.scope:
            triples = zip(lanes[chosen].tolist(), thread[chosen].tolist(), when[chosen].tolist(), strict=True)
            knows = np.array([self._happens.would_know(*triple) for triple in triples], bool)
            parts = [chosen[knows], chosen[~knows]]
        else:
            parts = [chosen]
        return (part for part in parts if len(part))

    def _is_narrow(self, site: int) -> bool:
        """Whether it is a strong access whose scope does not include all threads."""
        return 0 < self._order.sites[site].scope < GPU

    def _compare_with_itself(self, seen: SeenAccess, site: int, places: I64) -> None:
        """Report threads that write different values to one place with the same instruction."""
        mine = self._order.sites[site]
        scope = mine.scope if may_synchronise(mine, mine) else 0
        if scope >= GPU or (places[1:] > places[:-1]).all():
            return
        order = np.argsort(places, kind="stable")
        same = np.flatnonzero(places[order][1:] == places[order][:-1])
        first, second = order[same], order[same + 1]
        if scope:
            pairs = self._outside(
                np.arange(len(same)), scope, seen.lanes[second], self._happens.thread(seen.lanes[first])
            )
            first, second = first[pairs], second[pairs]
        if not len(first):
            return
        different = np.ones(len(first), bool) if seen.stored is None else seen.stored.differ(first, second)
        other = self._happens.thread(seen.lanes[first])
        for chosen in (different, ~different):
            if chosen.any():
                times = np.zeros(np.count_nonzero(chosen), np.int64)
                are_equal = chosen is not different
                value = seen.value(int(first[chosen][0])) if seen.mode == WRITE else None
                self._races.race(seen, mine, mine, second[chosen], other[chosen], times, are_equal, value)

    # Asynchronous copies.

    def began(self, offset: I64, size: int, lanes: Lanes) -> None:
        """cp.async: lanes begin to copy `size` bytes to an offset of the shared memory of the batch."""
        self._copies.began(offset, size, self._threads.numbers(lanes))

    def commit_copies(self, lanes: Lanes) -> None:
        """cp.async.commit_group"""
        self._copies.commit(self._threads.numbers(lanes))

    def wait_for_copies(self, lanes: Lanes, max_pending: int) -> None:
        """cp.async.wait_group"""
        self._copies.wait(self._threads.numbers(lanes), max_pending)

    def reads(self, lane: int, places: I64) -> None:
        """A copy of the lane's group reads bytes, until the group was waited for."""
        self._copies.reads(lane, places)

    def commit(self, lanes: list[int]) -> None:
        """cp.async.bulk.commit_group"""
        self._copies.commit_bulk(lanes)

    def wait_groups(self, lanes: list[int], max_pending: int, for_reads: bool) -> None:
        """cp.async.bulk.wait_group; `for_reads`: with .read"""
        self._copies.wait_bulk(lanes, max_pending, None if for_reads else self._happens.time)

    def multiplies(self, lane: int, places: I64) -> None:
        """wgmma.mma_async reads bytes of shared memory, for the lane's warp."""
        self._copies.multiplies(lane, places)

    def commit_products(self, lanes: Lanes) -> None:
        """wgmma.commit_group"""
        firsts = self._threads.numbers(lanes)[::_WARP]
        self._copies.commit_products(firsts.tolist())
        for lane in firsts.tolist():
            known = self._products.get(lane // _WARPGROUP, 0), self._happens.release(lane)
            self._products[lane // _WARPGROUP] = self._order.clocks.join(known)

    def wait_for_products(self, lanes: Lanes, max_pending: int) -> None:
        """wgmma.wait_group: groups are those of a warpgroup, so that one warp may wait for all of it, as
        CUTLASS does.

        Source: PTX ISA, "wgmma.commit_group".
        """
        numbers = self._threads.numbers(lanes)
        for group in np.unique(numbers // _WARPGROUP).tolist():
            warps = range(group * _WARPGROUP, (group + 1) * _WARPGROUP, _WARP)
            self._copies.wait_products([*warps], max_pending)
            if number := self._products.get(group):
                self._happens.acquire_all(numbers[numbers // _WARPGROUP == group], number)
