"""Waiting for the device so that Ctrl-C still works.

To ask whether work is done, and to synchronize once it is, are two C calls. The second one does what the
first does not: it prints what kernels have printed, and lets pools release what was freed in the stream. So a
lane leaves it out where there is nothing of that: in a stream that core has for itself, since it was last
synchronized, as long as all code that core has loaded cannot print. Each stream and each event has a note of
what was queued (`status_calls.note`): memory that is allocated or freed in stream order, the wait for an
event, and the launch of a graph count; kernels, copies and recorded events do not. An event gets the note of
the stream in which it is recorded.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from ... import driver
from ..._ffi.status_calls import InSlot, Noting, give_lane, plain_copy
from ..._process.resets import resets
from ...driver import CUresult
from ..context.current import c_function
from ..ownership.captures import captures
from ..ownership.deferred import deferred

SPIN = 0.005  # seconds of asking without a pause, as the driver itself does
SLEEP = 0.02  # the longest pause, in seconds

ALWAYS = 2
"""The note of streams in which others may queue work."""

ASKED = 64
"""How often a lane asks before it leaves the wait to Python: a launch and its kernel take a few of these."""

synchronizing: set[str] = set()
"""Why all waits are to synchronize: `PRINTS`, `RECORDED`."""
PRINTS = "kernels may print"
RECORDED = "others may record an event"

_NOT_READY = int(CUresult.CUDA_ERROR_NOT_READY)
_thread = threading.get_ident
_main_thread = threading.main_thread().ident or 0


def wait(
    query: Callable[[Any], Any], synchronize: Callable[[Any], Any], handle: Any, spin: float = SPIN
) -> None:
    """Wait until the work behind `handle` is done, then raise what `synchronize` raises.

    No handler of a signal runs while a C call lasts. So the main thread waits in slices: first without a
    pause, then with pauses of 2% of the time that has passed. A simulator's call ends by itself.

    `synchronize` is called in the end all the same: only after that does a pool count as unused, and can it
    release what was freed in the order of the work.
    """
    if _thread() == _main_thread and not resets.is_possible and query(handle)[0] == _NOT_READY:
        _poll(query, handle, spin)
    synchronize(handle)
    deferred.drain()


def give_wait_lane(sync: Any, handle: InSlot, query: str, synchronize: str, parameter: str) -> None:
    """Have a method wait as `wait` does, where possible without a step of Python if the work is done soon.

    sync: its one parameter is the owner of `handle`. query, synchronize: the C functions, of which each has
    this parameter; `synchronize` is left out where it has nothing to do. Work that takes longer, and what
    waits to be released, is left to the method.
    """

    def failed(status: int, owner: Any) -> None:
        if status != _NOT_READY:
            arguments = {parameter: getattr(owner, handle.name, None)}  # closed meanwhile: None
            raise driver.libcuda.error(synchronize, CUresult(status), arguments)
        left(owner)

    left = plain_copy(sync)
    if not resets.is_possible:
        first, second = c_function(query), c_function(synchronize)
        give_lane(
            sync,
            first,
            [(0, Noting(handle))],
            failed,
            second=second,
            only_noted=[captures.may_be_active, synchronizing],
            again=(_NOT_READY, ASKED),
            empty=deferred.all,
        )


def _poll(query: Callable[[Any], Any], handle: Any, spin: float) -> None:
    """Ask until the work is done or has failed."""
    start = time.perf_counter()
    while query(handle)[0] == _NOT_READY:
        waited = time.perf_counter() - start
        if waited >= spin:
            time.sleep(min(max(waited / 50, 1e-5), SLEEP))
