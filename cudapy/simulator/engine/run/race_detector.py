"""Looks for data races: accesses of two threads to a byte, one of them a write, that nothing orders.

Two accesses are ordered by what `clocks` knows: barriers, for their participants; fences and strong accesses.
Two strong accesses do not race if the scope of each includes the other's thread.

Source: PTX ISA, "Memory Consistency Model".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..access import ATOMIC, READ, VERBS, WRITE
from ..classes import (
    ACQUIRE,
    COPY,
    EQUAL,
    FENCE,
    LIFETIME,
    MIXED,
    PROXY,
    RACE,
    READONLY,
    SCOPE,
    VOLATILE,
    WARP,
)
from ..fault import OtherAccess, block_name
from ..ptx.types import TYPES
from .async_copies import AsyncCopies
from .clocks import CLUSTER, CTA, GPU, SCOPES, Clocks, HappensBefore
from .pending import Pending
from .report import place_of
from .shadow import WIDEST, Record, Shadow

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from ..access import Access
    from ..aliases import I64, U8, U64, Array, Bools, Lanes
    from ..compile.function import CompiledFunction
    from ..fault import Value
    from ..memory import Allocation, Memory
    from ..ptx.syntax import Instruction
    from .report import Reporter
    from .threads import Threads

_ORDERS = ("relaxed", "acquire", "release", "acq_rel", "volatile")
_OF_MAPS = ("tensormap.", "cp.async.bulk.tensor.", "cp.reduce.async.bulk.tensor.")
"""What begins the opcodes that read or write tensor maps in global memory."""
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
_UPDATE = (
    "several threads read it, and write what they make of that: an atomic operation, such as atomicAdd,"
    " would do both at once"
)


class Site(NamedTuple):
    """An instruction that accesses memory."""

    function: CompiledFunction
    instruction: Instruction
    mode: int
    scope: int
    """Of a strong access; 0 for a weak one."""
    acquires: bool
    releases: bool
    polls: bool
    """Whether it waits, in a loop, for what another thread writes."""
    is_read_only: bool
    """Whether it reads what the kernel does not write, as in `ld.global.nc`, or by a texture."""
    size: int
    """Bytes that each thread accesses; 0 if that is not a number of its own."""

    @property
    def is_volatile(self) -> bool:
        return ".volatile" in self.instruction.opcode


def _site(function: CompiledFunction, instruction: Instruction, mode: int) -> Site:
    name, *modifiers = instruction.opcode.replace("::", "_").split(".")
    order = next((one for one in modifiers if one in _ORDERS), "")
    if name in ("atom", "red", "multimem") and not order:
        order = "relaxed"
    scope = next((SCOPES[one] for one in modifiers if one in SCOPES), GPU)
    if name == "mbarrier":
        order, scope = "" if modifiers[0] in ("init", "inval") else "relaxed", GPU
    acquires, releases = order in ("acquire", "acq_rel"), order in ("release", "acq_rel")
    scope = scope if order or mode == ATOMIC else 0
    polls = instruction.line in function.polls
    size = _size(name, modifiers)
    is_read_only = "nc" in modifiers or name in ("tex", "tld4", "suld")
    return Site(function, instruction, mode, scope, acquires, releases, polls, is_read_only, size)


def _size(name: str, modifiers: list[str]) -> int:
    """Bytes of a load, store or atomic."""
    type_ = TYPES.get(modifiers[-1]) if name in ("ld", "ldu", "st", "atom", "red") else None
    items = next((int(one[1:]) for one in modifiers if one in ("v2", "v4", "v8")), 1)
    return 0 if type_ is None else items * np.dtype(type_.code).itemsize


def is_generic(opcode: str) -> bool:
    """Whether an instruction writes by the generic proxy, as threads do, and not by the asynchronous one."""
    name, _, rest = opcode.partition(".")
    is_copy = ".bulk" in opcode or (name in ("st", "red") and rest.startswith("async"))
    return name not in ("mbarrier", "wgmma") and not is_copy


def _synchronise(mine: Site, theirs: Site) -> bool:
    """Whether two accesses may be of a flag or a counter: strong ones. PTX has volatile accesses for strong;
    C++ does not order them, so that they are taken for a flag only if one of the threads polls it.
    """
    is_data = (mine.is_volatile or theirs.is_volatile) and not (mine.polls or theirs.polls)
    return bool(mine.scope and theirs.scope) and not is_data


def _are_of_an_update(mine: Site, theirs: Site) -> bool:
    """Whether two threads read a place, change what they read and write it there, by the same lines."""
    update = mine.function.updates.get(mine.instruction.line)
    is_same = mine.function is theirs.function
    return is_same and update is not None and update == theirs.function.updates.get(theirs.instruction.line)


class _Location:
    """What the last write of a place passes on to those who read it: clocks by the scope of the release."""

    def __init__(self) -> None:
        self.everywhere = 0
        self.in_cluster: dict[int, int] = {}
        self.in_block: dict[int, int] = {}


class Contents(NamedTuple):
    """What is there, and what an instruction is about to store: threads that write what is there already do
    no harm.
    """

    memory: U8
    start: I64
    """Where each lane accesses it."""
    values: tuple[Array, ...]
    """What is stored; nothing for loads and atomics."""

    def stored(self, position: int) -> Value:
        """What a lane stores."""
        numbers = [(value[position] if value.ndim else value).item() for value in self.values]
        return numbers[0] if len(numbers) == 1 else tuple(numbers)

    def there(self, position: int, access: Access) -> Value:
        """What lies where a lane accesses memory."""
        start = int(self.start[position])
        numbers = self.memory[start : start + access.size].view(access.dtype).tolist()
        return numbers[0] if len(numbers) == 1 else tuple(numbers)

    def differ(self, first: I64, second: I64) -> Bools:
        """Whether lanes at two positions store different values."""
        different = np.zeros(len(first), bool)
        for value in self.values:
            if value.ndim:
                bits = value.view(f"u{value.itemsize}")
                different |= bits[first] != bits[second]
        return different

    def changes(self, positions: I64) -> Bools:
        """Whether lanes at positions store something else than what is there."""
        changed, start = np.zeros(len(positions), bool), self.start[positions]
        for value in self.values:
            size = value.itemsize
            new = np.broadcast_to(value, self.start.shape)[positions]
            old = self.memory[start[:, None] + np.arange(size)]
            changed |= (np.ascontiguousarray(new).view(np.uint8).reshape(-1, size) != old).any(1)
            start = start + size
        return changed


class LaunchOrder:
    """What the batches of a launch have in common."""

    def __init__(self, threads_of_block: int) -> None:
        self.clocks = Clocks(threads_of_block)
        self.shadows: dict[int, Shadow] = {}
        """By the address of the allocation."""
        self.locations: dict[Hashable, _Location] = {}
        self.changes = 0
        """How often a shadow was added or refined."""
        self.sites: list[Site] = []
        self._numbers: dict[tuple[int, int, int], int] = {}

    def site(self, function: CompiledFunction, number: int, mode: int) -> int:
        key = (id(function), number, mode)
        site = self._numbers.get(key)
        if site is None:
            site = self._numbers[key] = len(self.sites)
            self.sites.append(_site(function, function.instructions[number], mode))
        return site


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
        self._pending: Pending | None = None  # once a bulk copy was made
        self._copies: AsyncCopies | None = None  # once cp.async was

    # What a back end needs that enters accesses itself.

    @property
    def is_plain(self) -> bool:
        """Whether an access is ordered by the barriers of whole blocks alone, as far as threads of the batch
        are ordered at all.
        """
        has_copies = self._pending is not None or self._copies is not None
        return self._happens.is_plain and not has_copies and not self._order.locations

    @property
    def state(self) -> Hashable:
        """Changes with everything that `chunks`, `strong_sites` and shadows depend on."""
        order = self._order
        return order.changes, order.clocks.time, len(order.sites), self._shared.granularity, self.is_plain

    @property
    def shared_shadow(self) -> Shadow:
        return self._shared

    def shadow(self, allocation: Allocation) -> Shadow | None:
        """That of an allocation, if anything has accessed it."""
        return self._order.shadows.get(allocation.address)

    def refine_shared(self, size: int) -> None:
        """There will be accesses of `size` bytes to shared memory."""
        self._refine(size)

    def site(self, function: CompiledFunction, number: int, mode: int) -> int:
        """The number by which shadows know an instruction."""
        return self._order.site(function, number, mode)

    def strong_sites(self) -> U8:
        """For each site, counted from 1, whether it is a strong access whose scope includes all threads."""
        return np.array([False, *(one.scope >= GPU for one in self._order.sites)], np.uint8)

    def chunks(self, lanes: I64) -> U64:
        """For each of the lanes its epoch now, the time before which all accesses of its block are ordered
        before its own, its block's first thread, counted from 1 as in epochs, and the threads of a block.
        """
        thread, time, first = self._happens.epochs(lanes)
        now, of_block = self._happens.time, np.full_like(thread, self._threads.per_block)
        columns = (thread + 1 << 32) | now, np.maximum(time, 1), first + 1, of_block
        return np.ascontiguousarray(np.stack(columns, 1)).view(np.uint64)

    # What orders threads.

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
        """Lanes arrived at phases of mbarriers, which releases what they have done."""
        for word, parity, lane in zip(words.tolist(), odd.tolist(), lanes.tolist(), strict=True):
            location = self._location(("mbarrier", self._first_block, word, parity))
            location.everywhere = self._order.clocks.join([location.everywhere, self._happens.release(lane)])

    def waited(self, words: I64, odd: I64, lanes: I64) -> None:
        """Lanes found phases of mbarriers over, which acquires what was released there."""
        for word, parity, lane in zip(words.tolist(), odd.tolist(), lanes.tolist(), strict=True):
            location = self._order.locations.get(("mbarrier", self._first_block, word, parity))
            if location is not None and location.everywhere:
                self._happens.acquire(lane, location.everywhere)
        if self._pending is not None:
            self._pending.over(np.unique(2 * words + odd))

    # Accesses.

    def shared(self, a: U64, access: Access, lanes: Lanes, contents: Contents) -> None:
        """An access to the batch's shared memory."""
        self._refine(access.size)
        numbers = self._threads.numbers(lanes)
        start = contents.start
        seen = _Seen("shared", numbers, access.number, access.mode, a, access.size, contents, access)
        places = start // self._shared.granularity
        for step in range(max(access.size // self._shared.granularity, 1)):
            self._see_copies(seen, places + step)
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
        is_constant = allocation.kind.startswith("constant")
        if is_constant or allocation.kind == "parameters":  # kernels only read it: PTX ISA, "State Spaces"
            if access.mode != READ:
                text = f"Write to {'__constant__ memory' if is_constant else 'the parameters of a kernel'}"
                self._report.find(READONLY, text, access.number, numbers, True, a, access.size)
            return
        start = (np.broadcast_to(a, numbers.shape) - np.uint64(allocation.address)).view(np.int64)
        size = access.size
        while allocation.address & (size - 1):  # a part starts at a multiple of its size in the allocation
            size //= 2
        size = min(size, WIDEST)
        shadow = self._shadow(allocation, size)
        contents = Contents(allocation.data, start, values)
        seen = _Seen("global", numbers, access.number, access.mode, a, access.size, contents, access)
        self._see(shadow, seen, start // shadow.granularity, access.size // shadow.granularity)
        self._pass_on(seen, allocation.address, start)

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
        shadow = self._shadow(allocation, part)
        a, contents = (
            start.view(np.uint64) + np.uint64(allocation.address),
            Contents(allocation.data, start, values),
        )
        seen = _Seen("global", numbers, access.number, access.mode, a, access.size, contents, access)
        self._see(shadow, seen, start // shadow.granularity, access.size // shadow.granularity)

    def _shadow(self, allocation: Allocation, part: int) -> Shadow:
        """That of an allocation of which parts of so many bytes are accessed now."""
        shadow = self._order.shadows.get(allocation.address)
        if shadow is None:
            shadow = self._order.shadows[allocation.address] = Shadow(allocation.size + WIDEST, part)
            self._order.changes += 1
        elif part < shadow.granularity:
            shadow.refine(part)
            self._order.changes += 1
        return shadow

    def copied(self, places: I64, lane: int, number: int, mode: int, phase: int | None) -> None:
        """A copy that a lane started touches bytes; `phase` says when those that it writes are there."""
        self._refine(1)
        a = places[:1].astype(np.uint64) % np.uint64(self._shared_stride)
        lanes = np.full(len(places), lane)
        seen = _Seen("shared", lanes, number, mode, a, len(places))
        self._see_copies(seen, places)
        self._see(self._shared, seen, places, 1)
        if phase is not None:
            self._holding().write(places, phase, mode == ATOMIC)
        elif mode == READ:
            self._require_proxy_fence(self._shared, seen, places)

    def read_by_copy(self, allocation: Allocation, offsets: I64, lane: int, number: int) -> None:
        """A copy that a lane started reads bytes of an allocation, at offsets in it."""
        shadow = self._order.shadows.get(allocation.address)
        if shadow is not None:
            places = np.unique(offsets // shadow.granularity)
            a = offsets[:1].astype(np.uint64) + np.uint64(allocation.address)
            seen = _Seen("global", np.full(len(places), lane), number, READ, a, len(offsets))
            self._require_proxy_fence(shadow, seen, places)

    def _see(self, shadow: Shadow, seen: _Seen, start: I64, steps: int) -> None:
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

    def _require_unwritten(self, writes: Record, seen: _Seen, site: int, places: I64) -> None:
        """Report reads of what the kernel has written, whoever did it, and with whatever barrier between.

        Source: PTX ISA, "ld.global.nc"; CUDA C++ Programming Guide, "__restrict__", "__ldg()".
        """
        thread, _, sites = writes.at(places)
        bad = thread >= 0
        if bad.any():
            first = int(np.argmax(bad))
            theirs = self._order.sites[int(sites[first])]
            place = place_of(self._report.kernel_name, theirs.function, theirs.instruction)
            writer = self._threads.of_launch(int(thread[first]))
            value = seen.value_there(first, theirs)
            other = OtherAccess(place, VERBS[theirs.mode], *writer, value=value)
            is_texture = self._order.sites[site].instruction.name != "ld"
            how, why = ("by a texture or surface", _NOT_COHERENT) if is_texture else ("as read-only", _ALIAS)
            self._find(READONLY, seen, f"Read of what the kernel has written, {how}", bad, why, other)

    def _require_proxy_fence(self, shadow: Shadow, seen: _Seen, places: I64) -> None:
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
            theirs = self._order.sites[int(sites[first])]
            place = place_of(self._report.kernel_name, theirs.function, theirs.instruction)
            other = OtherAccess(place, VERBS[theirs.mode], *self._threads.of_launch(int(thread[first])))
            text = f"Race in __{seen.space}__ memory (asynchronous read after {VERBS[theirs.mode]})"
            bad = np.zeros(len(places), bool)
            bad[missing] = True
            self._find(PROXY, seen, text, bad, _PROXIES, other)

    def _add_reads(self, shadow: Shadow, seen: _Seen, site: int, places: I64, threads: I64) -> None:
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
        self, shadow: Shadow, record: Record, seen: _Seen, site: int, places: I64, threads: I64
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
            if _synchronise(mine, theirs):
                chosen = self._outside(chosen, min(mine.scope, theirs.scope), seen.lanes[others], thread)
            if seen.stored is not None and theirs.mode == WRITE and len(chosen):
                changes = seen.stored.changes(others[chosen])
                equal, chosen = chosen[~changes], chosen[changes]
                if len(equal):
                    self._tell(seen, mine, theirs, others[equal], thread[equal], when[equal], are_equal=True)
            for part in self._by_knowledge(mine, theirs, chosen, seen.lanes[others], thread, when):
                first, value = others[part[:1]], None
                if not are_reads or not self._is_changed(shadow, places[first], when[part[0]]):
                    value = seen.value_there(int(first[0]), theirs)
                self._tell(seen, mine, theirs, others[part], thread[part], when[part], value=value)

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

    def _compare_with_itself(self, seen: _Seen, site: int, places: I64) -> None:
        """Report threads that write different values to one place with the same instruction."""
        mine = self._order.sites[site]
        scope = mine.scope if _synchronise(mine, mine) else 0
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
                self._tell(seen, mine, mine, second[chosen], other[chosen], times, are_equal, value)

    # The end of shared memory.

    def left(self, lanes: I64) -> None:
        """Lanes have exited: the shared memory of blocks of which no thread is left is gone.

        Source: CUDA C++ Programming Guide, "Distributed Shared Memory".
        """
        if self._threads.cluster_size > 1:
            for block in np.unique(self._threads.blocks[lanes]).tolist():
                if not self._threads.live[block]:
                    self._gone(block)

    def _gone(self, block: int) -> None:
        """Report an access by another block of the cluster that nothing orders before the exit of a thread
        of this one. Asynchronous copies are not looked at: their barriers tell nobody who made them.
        """
        happens, sites, shadow = self._happens, self._order.sites, self._shared
        own = np.arange(block * self._threads.per_block, (block + 1) * self._threads.per_block)
        first, end = (where * self._shared_stride // shadow.granularity for where in (block, block + 1))
        for record in (shadow.write, shadow.first_read, shadow.last_read):
            thread, when, numbers = record.at(np.arange(first, end))
            which = np.flatnonzero((thread >= 0) & ~np.isin(thread, happens.thread(own)))
            are_copies = ["async" in sites[one].instruction.opcode for one in numbers[which].tolist()]
            which = which[~np.array(are_copies, bool)]
            for lane in own.tolist():
                which = which[~happens.ordered(np.full(len(which), lane), thread[which], when[which])]
                if not len(which):
                    break
            else:
                place = int(which[0])
                self._tell_of_exit(block, place, sites[int(numbers[place])], int(thread[place]))
                return

    def _tell_of_exit(self, block: int, place: int, access: Site, thread: int) -> None:
        """Report an access of a thread to the memory of a block that may have exited."""
        start, per_block = int(self._happens.thread(np.zeros(1, np.int64))[0]), self._threads.per_block
        name = block_name(self._threads.of_launch(start + block * per_block)[0])
        self._report.find(
            LIFETIME,
            f"{VERBS[access.mode].capitalize()} of __shared__ memory of a block that may have exited",
            access.function.instructions.index(access.instruction),
            np.array([thread - start]),
            True,
            np.array([place * self._shared.granularity], np.uint64),
            more=f"nothing orders it before {name} exits: cluster.sync() at the end would",
            function=access.function,
        )

    # What is passed on by strong accesses.

    def _location(self, key: Hashable) -> _Location:
        location = self._order.locations.get(key)
        if location is None:
            location = self._order.locations[key] = _Location()
        return location

    def _pass_on(self, seen: _Seen, memory: Hashable, start: I64) -> None:
        """Strong accesses: who reads knows what those who wrote have released."""
        order, happens = self._order, self._happens
        site = order.sites[order.site(self._report.function, seen.number, seen.mode)]
        if not site.scope or site.instruction.name == "mbarrier":
            return
        if seen.mode == READ:
            if not order.locations:
                return
        elif not (site.releases or order.locations or happens.has_fences):
            return
        for lane, offset in zip(seen.lanes.tolist(), start.tolist(), strict=True):
            key = memory, offset
            location = order.locations.get(key)
            if location is not None and seen.mode != WRITE:
                self._take(lane, location, site)
            if seen.mode != READ:
                self._give(lane, key, location, site)

    def _take(self, lane: int, location: _Location, site: Site) -> None:
        happens, block = self._happens, self._happens.block_of(lane)
        numbers = {
            CTA: location.in_block.get(block, 0),
            CLUSTER: location.in_cluster.get(block // self._threads.cluster_size, 0),
            GPU: location.everywhere,
        }
        known = [(scope, number) for scope, number in numbers.items() if number]
        if not site.acquires:
            for scope, number in known:
                happens.acquire_by_fence(lane, number, scope)
        elif number := self._order.clocks.join(number for scope, number in known if scope <= site.scope):
            happens.acquire(lane, number)

    def _give(self, lane: int, key: Hashable, location: _Location | None, site: Site) -> None:
        happens, join = self._happens, self._order.clocks.join
        if site.releases:
            numbers = {level: happens.release(lane) for level in (site.scope,)}
        else:
            numbers = {level: happens.released(lane, level) for level in range(CTA, site.scope + 1)}
        if not any(numbers.values()):
            if location is not None and site.mode == WRITE:
                del self._order.locations[key]
            return
        if location is None or site.mode == WRITE:
            location = self._order.locations[key] = _Location()
        block = happens.block_of(lane)
        cluster = block // self._threads.cluster_size
        location.in_block[block] = join([location.in_block.get(block, 0), *numbers.values()])
        wide = [number for level, number in numbers.items() if level >= CLUSTER]
        if wide:
            location.in_cluster[cluster] = join([location.in_cluster.get(cluster, 0), *wide])
        location.everywhere = join([location.everywhere, numbers.get(GPU, 0)])

    # What is told.

    def _tell(
        self,
        seen: _Seen,
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
        if kind in (RACE, WARP) and not self._has_flags and _are_of_an_update(mine, theirs):
            kind, why = RACE, _UPDATE
        else:
            why = self._why(kind, lane, thread)
        why = "the values are equal" if are_equal else why
        place = place_of(self._report.kernel_name, theirs.function, theirs.instruction)
        other = OtherAccess(place, VERBS[theirs.mode], *self._threads.of_launch(thread), same, value)
        bad = np.zeros(len(seen.lanes), bool)
        bad[positions] = True
        text = f"Race in __{seen.space}__ memory ({what})"
        self._find(EQUAL if are_equal else kind, seen, text, bad, why, other)

    @property
    def _has_flags(self) -> bool:
        """Whether threads may order each other by strong accesses and fences, as with a lock."""
        return bool(self._order.locations) or self._happens.has_fences

    def _class(self, mine: Site, theirs: Site, lane: int, thread: int, time: int) -> str:
        """The class of a race: see `classes`."""
        if time and self._happens.would_know(lane, thread, time):
            return ACQUIRE if mine.scope and theirs.scope else FENCE
        if _synchronise(mine, theirs):
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

    def _find(
        self, kind: str, seen: _Seen, text: str, bad: Bools, more: str, other: OtherAccess | None = None
    ) -> None:
        if seen.access is None:
            lanes, guilty = seen.lanes[:1], np.ones(1, bool)
        else:
            lanes, guilty = seen.lanes, bad
        verb, value = VERBS[seen.mode], seen.value(int(np.argmax(bad)))
        self._report.find(
            kind, text, seen.number, lanes, guilty, seen.a, seen.size, more, other, verb=verb, value=value
        )

    # Asynchronous copies.

    def _see_copies(self, seen: _Seen, places: I64) -> None:
        """Report accesses to what asynchronous copies have not finished."""
        if self._pending is not None:
            conflicts = self._pending.conflicts(
                places, seen.mode == READ, seen.access is None and seen.mode == ATOMIC
            )
            if conflicts.any():
                text = "Race in __shared__ memory (with an asynchronous copy)"
                self._find(COPY, seen, text, conflicts, "nobody has waited for the copy")
        if self._copies is not None:
            pending = self._copies.pending(places)
            if pending.any():
                text = "Race in __shared__ memory (with cp.async)"
                more = "the thread that copies has not waited (cp.async.wait_group, __pipeline_wait_prior)"
                self._find(COPY, seen, text, pending, more)

    def began(self, offset: I64, size: int, lanes: Lanes) -> None:
        """cp.async: lanes begin to copy `size` bytes to an offset of the shared memory of the batch."""
        if self._copies is None:
            parts = self._threads.block_count * self._shared_stride // self._shared.granularity
            self._copies = AsyncCopies(self._threads.count, parts)
        numbers = self._threads.numbers(lanes)
        start = np.broadcast_to(offset, numbers.shape) // self._shared.granularity
        for step in range(size // self._shared.granularity):
            self._copies.began(start + step, numbers)

    def commit_copies(self, lanes: Lanes) -> None:
        """cp.async.commit_group"""
        if self._copies is not None:
            self._copies.commit(self._threads.numbers(lanes))

    def wait_for_copies(self, lanes: Lanes, max_pending: int) -> None:
        """cp.async.wait_group"""
        if self._copies is not None:
            self._copies.wait(self._threads.numbers(lanes), max_pending)

    def reads(self, lane: int, places: I64) -> None:
        """A copy of the lane's group reads bytes, until the group was waited for."""
        self._holding().read(lane, places)

    def commit(self, lanes: list[int]) -> None:
        if self._pending is not None:
            self._pending.commit(lanes)

    def wait_groups(self, lanes: list[int], max_pending: int) -> None:
        if self._pending is not None:
            self._pending.wait(lanes, max_pending)

    def _holding(self) -> Pending:
        if self._pending is None:
            self._refine(1)
            self._pending = Pending(self._threads.block_count * self._shared_stride)
        return self._pending

    def _refine(self, size: int) -> None:
        times = self._shared.granularity // size
        if times > 1:
            self._shared.refine(size)
            if self._copies is not None:
                self._copies.repeat(times)


class _Seen(NamedTuple):
    """Accesses of lanes by one instruction; for a copy each byte has its lane."""

    space: str
    lanes: I64
    number: int
    mode: int
    a: U64
    size: int
    contents: Contents | None = None
    access: Access | None = None
    """None for a copy."""

    @property
    def stored(self) -> Contents | None:
        """What is stored, and what is there, if both are numbers of each lane."""
        return self.contents if self.contents is not None and self.contents.values else None

    def value(self, position: int) -> Value:
        """What a lane reads, writes, or finds before its atomic operation."""
        if self.contents is None or self.access is None:
            return None
        if self.mode == WRITE and self.contents.values:
            return self.contents.stored(position)
        return None if self.mode == WRITE else self.contents.there(position, self.access)

    def value_there(self, position: int, other: Site) -> Value:
        """What is there now, if the other instruction accesses as many bytes as this one."""
        if self.contents is None or self.access is None or other.size != self.size:
            return None
        return self.contents.there(position, self.access)
