"""Threads that run chunks of a region side by side, each in a memory of its own.

They run only while the kernel's thread waits for them: all that is not machine code comes between two turns,
as with one worker. Lanes leave a region at the same places whoever runs them, so results are the same, too:
`Region.keeps_order` says which regions may not be split.
"""

from __future__ import annotations

import _thread
import contextlib
import ctypes
import functools
import os
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..idle_threads import IdleThreads
from . import layout
from .layout import LANES
from .library import routines

if TYPE_CHECKING:
    from collections import deque
    from collections.abc import Callable, Sequence

    from ..aliases import I64, U32, Array
    from .layout import RegionMemory
    from .region import Carried, Region

TURN = 80_000
"""Blocks, of 32 lanes each, that a worker runs before others are to run: at most some milliseconds."""
LONG_TURN = 4 * TURN
"""Where several have to come to their ends before that."""
_WORTH = 300e-6
"""Seconds of work from which on help may pay."""
_FASTER = 0.8
_MANY_STUCK = 64
"""Chunks given up, after which it is asked whether to go on so."""
_TRIED = 16
"""Runs after which the slower way is tried again."""
_ENTER_ALONE = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)  # keeps the GIL
_ENTER = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
Chunks = tuple[int, int]
"""The first one of a range, and the end."""


class Pace:
    """How long chunks take that enter a region at one block, alone and with the help of other threads."""

    def __init__(self) -> None:
        self._seconds: dict[bool, float] = {}
        """Of each chunk in the last runs, by whether it had help."""
        self._runs = 0

    @property
    def is_known(self) -> bool:
        return bool(self._seconds)

    def took(self, seconds: float, chunks: int, had_help: bool) -> None:
        new = seconds / chunks
        self._seconds[had_help] = (self._seconds.get(had_help, new) + new) / 2

    def wants_help(self, chunks: int) -> bool:
        """Whether to have help: it was clearly faster. What was slower is tried now and then."""
        alone, helped = (self._seconds.get(one, 0.0) for one in (False, True))
        if self.is_known and (alone or helped) * chunks < _WORTH:
            return False
        self._runs += 1
        was_slower = helped > _FASTER * alone > 0
        return was_slower == (self._runs % _TRIED == 0)


class Stuck(NamedTuple):
    """A chunk whose lanes were in the region for long."""

    chunk: int
    places: U32
    registers: list[tuple[Carried, Array]]
    """What they may have changed."""


@functools.cache
def entries() -> tuple[Callable[[int], int], Callable[[int], int]]:
    """How code is entered beside others, and alone."""
    enter = routines().enter
    return _ENTER(enter), _ENTER_ALONE(enter)


class Worker:
    """Runs chunks in one memory."""

    def __init__(self, region: Region, ring: list[RegionMemory]) -> None:
        self._region, self.ring = region, ring
        self.memory = self._leader = ring[0]
        """That of the chunk at hand, and that which has what concerns all."""
        self._enter, self._enter_alone = entries()
        self.status = layout.DONE
        """Why the code came back."""
        self.stuck: list[Stuck] = []
        self.keeps: object = None
        """What has to stay while the code runs."""

    @property
    def chunk(self) -> int:
        """The one at hand."""
        return self.memory.get(layout.CHUNK)

    def begin(self, keeps: object) -> None:
        self.status, self.keeps = layout.DONE, keeps
        self.stuck.clear()
        for memory in self.ring:
            memory.set_all(layout.BUDGET, (layout.CHUNK_BLOCKS, 0, 0))

    @property
    def has_effects(self) -> bool:
        """Whether the last run did anything that other threads may wait for."""
        return any(one.get(layout.EFFECTS) for one in self.ring)

    def run(self, ranges: deque[Chunks], is_alone: bool) -> None:
        """Run the chunks at hand, and those of one range after the other, for a turn or until an access is
        left to Python.

        is_alone: no other worker runs, and no other thread of Python is to run.
        """
        enter = self._enter_alone if is_alone else self._enter
        if self.status != layout.ACCESSES:
            turn = TURN if is_alone else LONG_TURN
            self._leader.set(layout.TURN, turn)
            self._leader.set(layout.PHASE_TURN, turn // len(self.ring))
        while True:
            if self.status == layout.DONE:
                try:
                    first, end = ranges.popleft()
                except IndexError:
                    return
                self._leader.set(layout.END_CHUNK, end)
                self._take(first)
            self.status = enter(self.memory.address)
            if len(self.ring) > 1:
                distance = self._leader.get(layout.CURRENT) - self._leader.address
                self.memory = self.ring[distance // len(self.memory.bytes)]
            if self.status == layout.PAUSED:
                self._leave_chunk()
                self.status = layout.BETWEEN
                if len(self.stuck) % _MANY_STUCK == 0:
                    return
            elif self.status != layout.DONE:
                return

    def stop_soon(self) -> list[Chunks]:
        """Have it end with the chunk at hand, if that has begun. Returns those that it leaves."""
        is_begun, end = self.status == layout.ACCESSES, self._leader.get(layout.END_CHUNK)
        is_begun |= self.status == layout.BETWEEN and self._has_begun
        rest = (self._following if is_begun else self.chunk), end
        if is_begun:
            self._leader.set(layout.END_CHUNK, rest[0])
        elif self.status == layout.BETWEEN:
            self.status = layout.DONE
        return [rest] if rest[0] < end else []

    # Inside.

    @property
    def _has_begun(self) -> bool:
        """Whether chunks have not come to their ends when others are to run."""
        return False

    @property
    def _following(self) -> int:
        """The first chunk behind those that come to their ends together with the one at hand."""
        return self.chunk + 1

    def _take(self, first: int) -> None:
        self.memory.set(layout.CHUNK, first)
        self.memory.set(layout.RESUME, routines().starts.chunk)

    def _leave_chunk(self) -> None:
        """Have its lanes go on elsewhere; the next chunk comes."""
        self._keep(self.memory, self.chunk, self.memory.array(layout.PLACE).copy())
        self._take(self._following)

    def _keep(self, memory: RegionMemory, chunk: int, places: U32) -> None:
        """Keep where the lanes of a chunk are, and what they have."""
        region, here = self._region, places[places != layout.NOWHERE]
        live = region.live_at({*region.blocks_at(here).tolist()}, region.block_at(memory.get(layout.ENTRY)))
        registers = [(one, memory.registers(one.location, one.dtype, len(here))) for one in live]
        self.stuck.append(Stuck(chunk, here, registers))


class WarpWorker(Worker):
    """Runs the warps of whole blocks, one after the other."""

    def _take(self, first: int) -> None:
        memory = self.memory
        block, warp = divmod(first, memory.get(layout.WARPS))
        memory.set(layout.CHUNK, first)
        memory.set(layout.BLOCK, block)
        memory.set(layout.WARP, warp)
        memory.set(layout.BLOCK_DUE, 1)
        memory.set(layout.RESUME, routines().starts.warp)


class RingWorker(Worker):
    """Runs all warps of a block by turns, each in a memory of its own."""

    @property
    def _has_begun(self) -> bool:
        return any(one.get(layout.STATE) for one in self.ring)

    @property
    def _following(self) -> int:
        return (self.memory.get(layout.BLOCK) + 1) * len(self.ring)

    def _take(self, first: int) -> None:
        starts, block = routines().starts, first // len(self.ring)
        for memory in self.ring:
            memory.set(layout.CHUNK, first + memory.get(layout.WARP))
            memory.set(layout.BLOCK, block)
            memory.set(layout.STATE, layout.NOT_BEGUN)
            memory.set(layout.BUDGET, layout.CHUNK_BLOCKS)
            memory.set(layout.RESUME, starts.in_ring)
        self.memory = self._leader
        self._leader.set(layout.RESUME, starts.block)

    def _leave_chunk(self) -> None:
        """As the block's barriers are no longer here, all of it goes on elsewhere."""
        following = self._following
        first, is_released = following - len(self.ring), False
        for memory in self.ring:  # behind the one at hand they wait for their turn alone
            state, warp = memory.get(layout.STATE), memory.get(layout.WARP)
            places = memory.array(layout.PLACE).copy()
            if state == layout.NOT_BEGUN:
                if warp == memory.get(layout.LAST_CHUNK):
                    places = memory.array(layout.LAST_PLACE).copy()
                else:
                    places[:] = memory.get(layout.ENTRY)
                self.stuck.append(Stuck(first + warp, places[places != layout.NOWHERE], []))
                continue
            if state == layout.FINISHED:
                places[places != layout.NOWHERE] = self._region.end
            elif state == layout.WAITING:
                barrier = memory.get(layout.BARRIER_AT)
                if is_released:
                    barrier = self._region.place(self._region.block_at(barrier) + 1)
                bits = np.array([memory.get(layout.ACTIVE)], "<i8").view(np.uint8)[:4]
                places[np.unpackbits(bits, bitorder="little") != 0] = barrier
            is_released |= memory is self.memory and state == layout.RUNNING
            self._keep(memory, first + warp, places)
        self._take(following)


class _Job:
    """What another thread does for this one, unless this one is done before it begins."""

    def __init__(self, action: Callable[[], None]) -> None:
        self._action = action
        self._begun: dict[str, bool] = {}
        """Set once, by the thread that is faster: whether it is done at all."""
        self._is_over = False
        self._running = _thread.allocate_lock()
        self._running.acquire()
        self._error: BaseException | None = None

    def do(self) -> None:
        if self._begun.setdefault("", True):
            try:
                self._action()
            except BaseException as error:
                self._error = error
            self._is_over = True
            self._running.release()

    def end(self) -> None:
        """Wait for it, or see that it does not begin. Raises what it raised. May be called again if Ctrl-C
        ended it.
        """
        if self._begun.setdefault("", False):
            while not self._is_over:
                self._running.acquire()
            if self._error is not None:
                raise self._error


_idle = IdleThreads(0.05)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.forget)


def side_by_side(actions: Sequence[Callable[[], None]]) -> None:
    """Do the first in this thread, and those of the others that threads begin meanwhile. Returns once all
    have ended, whatever comes between, and raises what one raised.
    """
    jobs = [_Job(action) for action in actions[1:]]
    raised: BaseException | None = None
    try:
        with contextlib.suppress(RuntimeError):  # at the end of the process no thread can be started
            for job in jobs:
                _idle.start(job.do)
        actions[0]()
    except BaseException as error:
        raised = error
    for job in jobs:
        while True:
            try:
                job.end()
                break
            except KeyboardInterrupt as error:  # they use memory of this run
                raised = error
            except BaseException as error:
                raised = raised or error
                break
    if raised is not None:
        raise raised


def split(chunks: int, count: int, blocks: I64 | None, step: int) -> list[Chunks]:
    """About `count` ranges of chunks, none of which ends within a block.

    blocks: the block of each lane, if chunks are not whole parts of blocks; else `step` chunks are one.
    """
    if blocks is None:
        size = -(-chunks // (count * step)) * step
        return [(first, min(first + size, chunks)) for first in range(0, chunks, size)]
    size = -(-chunks // count)
    ends = (blocks[LANES - 1 : -1 : LANES] != blocks[LANES::LANES]).nonzero()[0] + 1
    ranges, first = [], 0
    for end in [*ends.tolist(), chunks]:
        if end - first >= size or end == chunks:
            ranges.append((first, end))
            first = end
    return ranges
