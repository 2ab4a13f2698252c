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

TURN = 20_000
"""Blocks, of 32 lanes each, that a worker runs before others are to run: at most some milliseconds."""
LONG_TURN = 10 * TURN
"""Where several have to come to their ends before that."""
_WORTH = 300e-6
"""Seconds of work from which on help may pay."""
_FASTER = 0.8
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
def _entries() -> tuple[int, Callable[[int], int], Callable[[int], int]]:
    """Where chunks start, and how code is entered beside others, and alone."""
    enter, start, _ = routines()
    return start, _ENTER(enter), _ENTER_ALONE(enter)


class Worker:
    """Runs chunks in one memory."""

    def __init__(self, region: Region, memory: RegionMemory) -> None:
        self._region, self.memory = region, memory
        self._start, self._enter, self._enter_alone = _entries()
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
        """All lanes of a run are to come."""
        self.status, self.keeps = layout.DONE, keeps
        self.stuck.clear()
        self.memory.set_all(layout.BUDGET, (layout.CHUNK_BLOCKS, 0, 0))

    def run(self, ranges: deque[Chunks], is_alone: bool) -> None:
        """Run the chunks at hand, and those of one range after the other, for a turn or until an access is
        left to Python.

        is_alone: no other worker runs, and no other thread of Python is to run.
        """
        memory, enter = self.memory, self._enter_alone if is_alone else self._enter
        if self.status != layout.ACCESSES:
            memory.set(layout.TURN, TURN if is_alone else LONG_TURN)
        while True:
            if self.status == layout.DONE:
                try:
                    first, end = ranges.popleft()
                except IndexError:
                    return
                memory.set(layout.RESUME, self._start)
                memory.set(layout.CHUNK, first)
                memory.set(layout.END_CHUNK, end)
            self.status = enter(memory.address)
            if self.status == layout.PAUSED:
                self._leave_chunk()
            elif self.status != layout.DONE:
                return

    def stop_soon(self) -> list[Chunks]:
        """Have it end with the chunk at hand, if that has begun. Returns those that it leaves."""
        is_begun, end = self.status == layout.ACCESSES, self.memory.get(layout.END_CHUNK)
        rest = self.chunk + is_begun, end
        if is_begun:
            self.memory.set(layout.END_CHUNK, rest[0])
        elif self.status == layout.BETWEEN:
            self.status = layout.DONE
        return [rest] if rest[0] < end else []

    def _leave_chunk(self) -> None:
        """Have its lanes go on elsewhere; the next chunk comes."""
        memory, region, chunk = self.memory, self._region, self.chunk
        places = memory.array(layout.PLACE).copy()
        here = places[places != layout.NOWHERE]
        live = region.live_at({*region.blocks_at(here).tolist()}, region.block_at(memory.get(layout.ENTRY)))
        registers = [(one, memory.registers(one.location, one.dtype, len(here))) for one in live]
        self.stuck.append(Stuck(chunk, here, registers))
        memory.set(layout.CHUNK, chunk + 1)
        memory.set(layout.RESUME, self._start)
        self.status = layout.BETWEEN


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
