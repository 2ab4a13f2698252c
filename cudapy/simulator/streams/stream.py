"""Streams: queues of work, what orders them, the functions of the host that they call."""

from __future__ import annotations

import contextlib
import itertools
from typing import Any

from ..._types.driver.enums import CUlaunchAttributeID as Attribute
from ..._types.driver.structs import CUstreamAttrValue
from ..addresses import require_code
from ..devices.context import Context, current, default_stream
from ..handles import Object, find
from ..library import provides
from ..memory.allocations import find as find_block
from ..refused import Refused, invalid
from . import order
from .capturing import forbid, implicit
from .faults import in_program
from .operations import STREAM_CALLBACK, HostCall, Operation
from .work import Queue, Work

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ..devices.device import Device

LEAST, GREATEST = 0, -5
NON_BLOCKING = 1
LEGACY, PER_THREAD = 1, 2
_ids = itertools.count(1)
once_waited: list[Callable[[Device], object]] = []
"""What follows a wait for a stream of a device, entered by modules that know streams."""


class Stream(Object):
    """A stream; `handle` 1 is the legacy default stream of a context, 2 that of a thread.

    capture: the capture that it takes part in, if any.
    """

    noun = "stream"

    def __init__(self, context: Context, flags: int, priority: int, handle: int = 0) -> None:
        if handle:
            self.handle = handle
        else:
            super().__init__()
        self.context = context
        self.flags = flags
        self.priority = min(LEAST, max(GREATEST, priority))
        self.id = next(_ids)
        self.queue = Queue(context.root, context, not flags & NON_BLOCKING, order.Line(self.name))
        self.before_legacy: set[Queue] = set()  # those with works that the next one in this waits for
        if handle != LEGACY:
            order.stream_exists()
        self.capture: Any = None
        self.attributes: dict[Attribute, CUstreamAttrValue] = {}

    @property
    def name(self) -> str:
        """As reports name it."""
        of_handle = {LEGACY: "the default stream", PER_THREAD: "the default stream of a thread"}
        return of_handle.get(self.handle) or f"stream {self.handle:#x}"

    @property
    def is_legacy(self) -> bool:
        return self.handle == LEGACY

    def submit(
        self,
        action: Callable[[], Any] | None,
        after: Iterable[Work] = (),
        soon: bool = False,
        is_bookkeeping: bool = False,
        deferred: Callable[[], Callable[[], Any]] | None = None,
        in_wait: bool = False,
    ) -> Work:
        """Queue work as `Queue.submit` does, in the order that the default stream demands."""
        others, legacy = list(after), self.context.legacy
        if self.is_legacy:
            blocking = [q for q in self.context.busy_queues() if q.is_blocking and q is not self.queue]
            blocking += self.before_legacy.difference(blocking)
            self.before_legacy.clear()
            others += [last for q in blocking if (last := q.newest) is not None]
        elif not self.flags & NON_BLOCKING:
            if (last := legacy.queue.newest) is not None:
                others.append(last)
            if order.is_on():
                legacy.before_legacy.add(self.queue)
        return self.queue.submit(action, others, soon, is_bookkeeping, deferred, in_wait)

    def add(self, operation: Operation, deferred: Callable[[], Operation] | None = None) -> Work | None:
        """Queue an operation; or, in a capture, make it a node, and return None.

        deferred: makes the operation to queue instead, if this one cannot run at once.
        """
        if self.capture is not None:
            self.capture.add(self, operation)
            return None
        if self.is_legacy:
            implicit(self.context)
        instead = None if deferred is None else lambda: deferred().run
        return self.submit(
            operation.run, (), operation.soon, operation.is_bookkeeping, instead, operation.in_wait
        )

    def add_uncapturable(
        self,
        action: Callable[[], Any] | None,
        what: str,
        soon: bool = False,
        is_bookkeeping: bool = False,
    ) -> Work:
        """Queue what no graph has a node for. Raises Refused in a capture, which it invalidates."""
        if self.capture is not None:
            self.capture.invalidate()
            raise Refused("CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", f"{what} cannot be captured")
        if self.is_legacy:
            implicit(self.context)
        return self.submit(action, (), soon, is_bookkeeping)

    def wait(self) -> None:
        """Block until all that was queued is done."""
        if self.is_legacy:
            self.submit(None, soon=True)
        last = self.queue.newest
        if last is not None:
            last.wait()

    def is_done(self) -> bool:
        """Whether all that was queued is done."""
        if self.is_legacy:
            self.submit(None, soon=True)
        last, newest = self.queue.last, self.queue.newest
        if last is not None:
            last.pause()
        if self.queue.last is not None:
            return False
        if newest is not None:
            newest.tell_program()
        return True

    def forget(self) -> None:
        super().forget()
        with contextlib.suppress(ValueError):  # another thread was first
            self.context.streams.remove(self)

    def check(self) -> None:
        """Raise what a wait for the stream raises in a capture or after a fault."""
        if self.capture is not None:
            self.capture.invalidate()
            raise Refused("CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "the stream is being captured")
        if self.is_legacy:
            implicit(self.context)
        forbid()
        self.context.check()


Context.stream = Stream


def stream(handle: int) -> Stream:
    """The stream with this handle; 0, 1 and 2 are default streams of the current context. Raises Refused."""
    if handle == 0:
        return default_stream()  # type: ignore[no-any-return]
    if handle == LEGACY:
        return current().legacy
    if handle == PER_THREAD:
        return current().own_stream()  # type: ignore[no-any-return]
    in_stream = find(handle, Stream)
    in_stream.context.check()
    return in_stream


@provides("driver")
def cuStreamCreate(Flags: int) -> int:
    return cuStreamCreateWithPriority(Flags, LEAST)


@provides("driver")
def cuStreamCreateWithPriority(flags: int, priority: int) -> int:
    if flags & ~NON_BLOCKING:
        raise invalid(f"unknown stream flags {flags & ~NON_BLOCKING:#x}")
    context = current()
    created = Stream(context, flags, priority)
    context.streams.append(created)
    return created.handle


@provides("driver", "cuStreamDestroy", "cuStreamDestroy_v2")
def cuStreamDestroy_v2(hStream: int) -> None:
    if hStream in (0, LEGACY, PER_THREAD):
        raise Refused("CUDA_ERROR_INVALID_HANDLE", "a default stream cannot be destroyed")
    gone = find(hStream, Stream)
    if gone.capture is not None:
        gone.capture.lose(gone)
    gone.forget()  # what is queued still runs


@provides("driver")
def cuStreamGetPriority(hStream: int) -> int:
    return stream(hStream).priority


@provides("driver")
def cuStreamGetFlags(hStream: int) -> int:
    return stream(hStream).flags


@provides("driver")
def cuStreamGetId(hStream: int) -> int:
    return stream(hStream).id


@provides("driver")
def cuStreamGetDevice(hStream: int) -> int:
    return stream(hStream).context.device.ordinal


@provides("driver")
def cuStreamGetCtx(hStream: int) -> int:
    return stream(hStream).context.handle


@provides("driver")
def cuStreamQuery(hStream: int) -> None:
    in_stream = stream(hStream)
    in_stream.check()
    if not in_stream.is_done():
        raise Refused("CUDA_ERROR_NOT_READY")


@provides("driver")
def cuStreamSynchronize(hStream: int) -> None:
    in_stream = stream(hStream)
    in_stream.check()
    in_stream.wait()
    in_stream.context.check()
    for action in once_waited:
        action(in_stream.context.device)


# -- Host functions ----------------------------------------------------------------------------------------


@provides("driver")
def cuLaunchHostFunc(hStream: int, fn: int, userData: int | None) -> None:
    stream(hStream).add(HostCall(fn, userData))


@provides("driver")
def cuLaunchHostFunc_v2(hStream: int, fn: int, userData: int | None, syncMode: int) -> None:
    if syncMode not in (0, 1):
        raise invalid(f"{syncMode} is not a CUhostTaskSyncMode")
    cuLaunchHostFunc(hStream, fn, userData)


@provides("driver")
def cuStreamAddCallback(hStream: int, callback: int, userData: int | None, flags: int) -> None:
    in_stream = stream(hStream)
    require_code(callback, "the callback")
    if flags:
        raise invalid(f"flags must be 0, not {flags}")
    root = in_stream.context.root

    def call() -> None:
        with in_program():
            STREAM_CALLBACK(callback)(hStream, root.error.code if root.error is not None else 0, userData)

    in_stream.add_uncapturable(call, "a callback with a status", is_bookkeeping=True)


@provides("driver")
def cuStreamAttachMemAsync(hStream: int, dptr: int, length: int, flags: int) -> None:
    in_stream = stream(hStream)
    if not (find_block(dptr).is_managed or find_block(dptr).is_host):
        raise invalid(f"{dptr:#x} is not managed memory")
    # The host may touch managed memory at any time here.
    in_stream.add_uncapturable(None, "the attachment of managed memory", soon=True)
