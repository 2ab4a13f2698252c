"""Contexts, and the stack of them that each thread has."""

from __future__ import annotations

import itertools
import math
import threading
from typing import Any

from ..._types.driver.enums import CUctx_flags, CUfunc_cache, CUlimit
from .. import record
from ..addresses import Pointer
from ..callbacks import per_thread
from ..fresh_devices import forgotten
from ..handles import Object, every, find, was_reset
from ..library import provides
from ..refused import Refused, invalid
from ..streams import order
from ..streams.faults import Faults
from ..streams.threads import guard
from ..streams.work import Queue, Work
from . import device as devices

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..streams.event import Event
    from ..streams.stream import Stream

SCHED = int(CUctx_flags.CU_CTX_SCHED_MASK)
FLAGS = int(CUctx_flags.CU_CTX_FLAGS_MASK)
API_VERSION = 3020  # the API of cuMemAlloc_v2 and its kin

LIMITS = {
    CUlimit.CU_LIMIT_STACK_SIZE: 1024,
    CUlimit.CU_LIMIT_PRINTF_FIFO_SIZE: 1 << 20,
    CUlimit.CU_LIMIT_MALLOC_HEAP_SIZE: 8 << 20,
    CUlimit.CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH: 2,
    CUlimit.CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT: 2048,
    CUlimit.CU_LIMIT_MAX_L2_FETCH_GRANULARITY: 64,
    CUlimit.CU_LIMIT_PERSISTING_L2_CACHE_SIZE: 0,
}

_ids = itertools.count(1)
_LONGEST_END = 60.0
"""Seconds that a checked program waits at its end for each stream."""


at_end: list[Callable[[Context], object]] = []
"""What else the end of a context means: entered by modules that know contexts; the last is called first."""


class Context(Object, Faults):
    """One context, its streams and what it owns."""

    noun = "context"
    stream: type[Stream]
    """The class of its streams, which its module enters."""

    def __init__(self, device: devices.Device, flags: int, is_primary: bool = False) -> None:
        super().__init__()
        Faults.__init__(self)
        self.device = device
        self.flags = flags
        self.is_primary = is_primary
        self.retained = 0
        self.attached = 0  # how often cuCtxAttach has it
        self.id = next(_ids)
        self.limits = dict(LIMITS)
        self.cache_config = int(CUfunc_cache.CU_FUNC_CACHE_PREFER_NONE)
        self.peers: set[Context] = set()
        self.legacy = self.stream(self, 0, 0, handle=1)
        self.streams: list[Stream] = []
        self._own: dict[int, Stream] = {}
        self.parts: list[Context] = []  # contexts with some of the multiprocessors

    @property
    def root(self) -> Context:
        """The context that memory and modules belong to, and faults."""
        return self

    def own_stream(self) -> Any:
        """The default stream of the thread that asks."""
        thread = threading.get_ident()
        if thread not in self._own:
            self._own[thread] = self.stream(self, 0, 0, handle=2)
        return self._own[thread]

    @property
    def all_streams(self) -> list[Any]:
        """Every stream, the default ones and those of its parts too."""
        parts = [stream for part in list(self.parts) for stream in part.all_streams]
        return [self.legacy, *self._own.values(), *self.streams, *parts]

    def busy_queues(self) -> list[Queue]:
        """The queues that have work: those of all streams, also of streams that were destroyed."""
        with guard:
            return list(self.busy)

    def pending(self) -> list[Work]:
        """The newest work of each stream, where it is not done."""
        return [last for queue in self.busy_queues() if (last := queue.last) is not None]

    def drain(self, seconds: float = math.inf) -> None:
        """Wait for all work, of destroyed streams too, for each stream's at most so long."""
        for work in self.pending():
            work.wait(seconds)
        order.program_waited_for_all()

    def finish(self) -> None:
        """Wait for all work, for a call that releases what that may use. Raises Refused."""
        self.drain()
        self.check()

    def once_idle(self, action: Callable[[], Any]) -> None:
        """Do it once the work that there is now is done, also after a fault; without a wait for that."""
        Queue(self.root, self).submit(action, self.pending(), soon=True, is_bookkeeping=True)

    def check(self) -> None:
        """Raise the fault that the context has, if any."""
        error = self.root.error
        if error is not None:
            raise Refused(error.status, error.reason)

    def synchronize(self) -> None:
        """Wait for everything. Raises Refused."""
        captures = [current for stream in list(self.all_streams) if (current := stream.capture) is not None]
        for capture in captures:
            capture.invalidate()
        if captures:
            raise Refused(
                "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "a stream of the context is being captured"
            )
        self.finish()

    def record(self, event: Event) -> None:
        """Have `event` stand for all that is in its streams."""
        record = event.begin()
        newest = [stream.queue.newest for stream in self.all_streams]
        works = [work for work in newest if work is not None]
        record.work = self.own_stream().queue.submit(record.stamp, [*self.pending(), *works], soon=True)
        event.put(record)

    def wait(self, event: Event) -> None:
        """Have all that comes wait for `event`."""
        works = event.works
        is_needed = any(not work.done or work.turn is not None for work in works)
        for stream in self.all_streams if is_needed else ():
            stream.queue.submit(None, works, soon=True)

    def destroy(self) -> None:
        """End all that the context owns."""
        self.drain()
        for action in reversed(at_end):
            action(self)
        for obj in every(OfContext):
            if obj.context is self:
                obj.forget()
        for stream in list(self.streams):
            stream.forget()
        self.forget()


class OfContext(Object):
    """What ends with its context: an event or a module."""

    context: Context


class _Stack(threading.local):
    def __init__(self) -> None:
        self.contexts: list[Context] = []


_stack = _Stack()


@forgotten
def _forget() -> None:
    """In every thread."""
    global _stack
    _stack = _Stack()


def get(handle: int) -> Context:
    """The context with this handle. Raises Refused."""
    return find(handle, Context, "CUDA_ERROR_INVALID_CONTEXT")


def top() -> Context | None:
    """The current context, even if it was destroyed."""
    return _stack.contexts[-1] if _stack.contexts else None


def current(*, faulty: bool = False) -> Context:
    """The current context. Raises Refused if there is none, or unless `faulty` if it has a fault."""
    context = top()
    if context is None:
        since = ": that of before simulator.reset() is gone" if was_reset() else ""
        raise Refused("CUDA_ERROR_INVALID_CONTEXT", f"no context is current on this thread{since}")
    if find_or_none(context) is None:
        raise Refused("CUDA_ERROR_CONTEXT_IS_DESTROYED", "the current context was destroyed")
    if not faulty:
        context.check()
    return context


def owner() -> Context:
    """The context that what is made now belongs to: the current one, or that of which it is a part.

    Raises Refused.
    """
    return current().root


def find_or_none(context: Context) -> Context | None:
    """`context`, unless it was destroyed."""
    try:
        return find(context.handle, Context)
    except Refused:
        return None


def given(handle: int) -> Context:
    """The context with this handle; the current one for 0."""
    return get(handle) if handle else current()


def default_stream() -> Any:
    """What the stream 0 is for the function that runs."""
    context = current()
    return context.own_stream() if per_thread.default else context.legacy


def make_current(context: Context) -> None:
    """What cudaSetDevice does: a context in the place of the current one."""
    if _stack.contexts:
        _stack.contexts.pop()
    _stack.contexts.append(context)


# -- Created contexts --------------------------------------------------------------------------------------


@provides("driver", "cuCtxCreate", "cuCtxCreate_v2")
def cuCtxCreate_v2(flags: int, dev: int) -> int:
    context = Context(devices.device(dev), checked_flags(flags))
    _stack.contexts.append(context)
    return context.handle


@provides("driver")
def cuCtxCreate_v3(paramsArray: Pointer, numParams: int, flags: int, dev: int) -> int:
    if numParams:
        raise Refused("CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY", "the simulator has no execution affinity")
    return cuCtxCreate_v2(flags, dev)


@provides("driver")
def cuCtxCreate_v4(ctxCreateParams: Pointer, flags: int, dev: int) -> int:
    if ctxCreateParams and (ctxCreateParams[0].numExecAffinityParams or _raw(ctxCreateParams[0].cigParams)):
        raise Refused("CUDA_ERROR_NOT_SUPPORTED", "the simulator has no execution affinity and no graphics")
    return cuCtxCreate_v2(flags, dev)


def _raw(value: Any) -> bool:
    return value not in (None, 0, [])


def checked_flags(flags: int) -> int:
    if flags & ~FLAGS:
        raise invalid(f"unknown context flags {flags & ~FLAGS:#x}")
    return flags


@provides("driver", "cuCtxDestroy", "cuCtxDestroy_v2")
def cuCtxDestroy_v2(ctx: int) -> None:
    context = get(ctx)
    if context.is_primary:
        raise Refused("CUDA_ERROR_INVALID_CONTEXT", "a primary context is released, not destroyed")
    context.destroy()
    if top() is context:
        _stack.contexts.pop()


# -- The stack of a thread ---------------------------------------------------------------------------------


@provides("driver", "cuCtxPushCurrent", "cuCtxPushCurrent_v2")
def cuCtxPushCurrent_v2(ctx: int) -> None:
    _stack.contexts.append(get(ctx))


@provides("driver", "cuCtxPopCurrent", "cuCtxPopCurrent_v2")
def cuCtxPopCurrent_v2() -> int:
    if not _stack.contexts:
        raise Refused("CUDA_ERROR_INVALID_CONTEXT", "no context is current on this thread")
    return _stack.contexts.pop().handle


@provides("driver")
def cuCtxSetCurrent(ctx: int) -> None:
    context = get(ctx) if ctx else None
    if _stack.contexts:
        _stack.contexts.pop()
    if context is not None:
        _stack.contexts.append(context)


@provides("driver")
def cuCtxGetCurrent() -> int:
    context = top()
    return context.handle if context else 0


# -- What a context says of itself -------------------------------------------------------------------------


@provides("driver")
def cuCtxGetDevice() -> int:
    return current(faulty=True).device.ordinal


@provides("driver")
def cuCtxGetDevice_v2(ctx: int) -> int:
    return given(ctx).device.ordinal


@provides("driver")
def cuCtxGetId(ctx: int) -> int:
    return given(ctx).id


@provides("driver")
def cuCtxGetApiVersion(ctx: int) -> int:
    given(ctx)
    return API_VERSION


@provides("driver")
def cuCtxSynchronize() -> None:
    current().synchronize()


@provides("driver")
def cuCtxSynchronize_v2(ctx: int) -> None:
    given(ctx).synchronize()


def finish_if_checked() -> None:
    """At the end of a program whose findings are recorded: wait for what it has launched."""
    if record.is_recorded():
        for context in every(Context):
            context.drain(_LONGEST_END)
