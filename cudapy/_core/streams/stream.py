"""Streams: queues of work that a device runs in order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

from ... import driver
from ..._ffi.handles import maker
from ..._ffi.integers import exact_int
from ..._ffi.shown import type_name
from ..._ffi.status_calls import (
    SIGNED,
    UNSIGNED,
    Asked,
    Constant,
    Goes,
    InSlot,
    Makes,
    Noted,
    Noting,
    give_lane,
    note,
)
from ..._process import environment
from ...driver import CUevent, CUstream, CUstream_flags, checked
from ..closable import SlotClosable
from ..context.context import Context
from ..context.current import (
    c_function,
    current_context,
    filling_function,
    no_context,
    owning,
    status_function,
)
from ..context.green import green_contexts, green_number, kept_number
from ..options import accepted
from ..ownership import owned
from ..ownership.captures import capture_of, captures, too_early
from ..ownership.deferred import deferred
from ..ownership.graph_references import is_builder
from ..ownership.owned import Ownership, Prerequisite, Release, give_release_lane, template
from ..upward import upward
from .event import EVENT, Event
from .event_options import EventOptions
from .waiting import ALWAYS, give_wait_lane, wait

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..context.resources import DeviceResources
    from ..device.device import Device
    from ..graph.builder import GraphBuilder


@dataclass
class StreamOptions:
    """Options for a stream.

    nonblocking: whether it runs in parallel with the legacy default stream instead of synchronizing with it.
    priority: a lower number is served first; None is the device's default, 0.
    """

    nonblocking: bool = True
    priority: int | None = None


_NON_BLOCKING = int(CUstream_flags.CU_STREAM_NON_BLOCKING)
_null = maker(CUstream)
_object = object.__new__
_after_capture = deferred.after_capture


@runtime_checkable
class IsStreamType(Protocol):
    """Anything that says which stream it stands for, as streams of other libraries do."""

    def __cuda_stream__(self) -> tuple[int, int]:
        """(0, the address of the CUstream): the version of this protocol, and the stream."""
        ...


class Stream(SlotClosable):
    """A queue of work that the device runs in order, in parallel with other streams.

    `Stream(options)` is created on the current device, `Device.create_stream` on any device; `from_handle`
    wraps one of another library. Closed with its last reference or by `close`; work that is already queued
    still runs. Source: cuStreamCreateWithPriority.
    """

    __slots__ = ("_address", "_context", "_handle", "_owner", "_twin")
    _elsewhere: ClassVar = {"synchronize": "sync()", "wait_event": "wait(event)"}
    _address: int  # the handle's number; that of all closed streams is CLOSED
    _context: int  # 0: ask the driver
    _handle: CUstream  # that of the ownership: 0 once the stream is destroyed
    _owner: object  # whoever has the stream, kept alive
    _twin: Stream | None

    def __new__(cls, options: StreamOptions | Mapping[str, Any] | None = None) -> Stream:
        context = current_context()
        if context:
            return cls._new(context, options)
        return upward.device().create_stream(options=options)

    @staticmethod
    def _new(context: int, options: StreamOptions | Mapping[str, Any] | None = None) -> Stream:
        """A new stream in `context`, which is current."""
        if _after_capture:
            deferred.retry()
        if options is None:
            return Stream._made(context, _NON_BLOCKING, 0)
        options = accepted(StreamOptions, options)
        priority = options.priority or 0
        if priority:  # the driver would take the nearest one it has, and not say so
            lowest, highest = checked.cuCtxGetStreamPriorityRange()
            if not highest <= priority <= lowest:
                raise ValueError(f"StreamOptions: priority = {priority} is outside {highest} .. {lowest}")
        return Stream._made(context, _NON_BLOCKING if options.nonblocking else 0, priority)

    @staticmethod
    def _made(context: int, flags: int, priority: int) -> Stream:
        green = green_number(context) if green_contexts else 0
        ownership = _created(flags, priority)
        if not flags:  # it waits for the default stream, in which others may do anything
            note(ownership._owed, ALWAYS)
        if green:
            ownership.how = Release(green, _destroy)
        return Stream._of(ownership._owed, green or context, ownership)

    @staticmethod
    def _of(
        handle: CUstream, context: int = 0, ownership: Ownership | None = None, owner: object = None
    ) -> Stream:
        stream = object.__new__(Stream)
        stream._handle = handle
        stream._address = handle.value
        stream._context = context
        stream._ownership = ownership
        stream._owner = owner
        stream._twin = None
        return stream

    @staticmethod
    def from_handle(handle: int | CUstream) -> Stream:
        """Wrap the stream at this address. Its owner must not destroy it while it is used here."""
        stream = Stream._of(CUstream(exact_int(handle, "Stream.from_handle: handle, an address,")))
        captures.mark_shared()
        return stream

    @staticmethod
    def _accept(stream: Stream | IsStreamType | None) -> Stream:
        """The Stream that is meant: by itself, by its `__cuda_stream__`, by None (the default stream)."""
        if isinstance(stream, Stream):
            return stream
        if stream is None:
            return default_stream()
        try:
            protocol: Any = stream.__cuda_stream__
        except AttributeError:
            instead = (
                f": LEGACY_DEFAULT_STREAM, or Stream.from_handle({stream})" if isinstance(stream, int) else ""
            )
            raise TypeError(
                f"a stream must be a Stream or have __cuda_stream__(), not {type_name(stream)}{instead}"
            ) from None
        # The first libraries that had it have it as an attribute.
        said = protocol() if callable(protocol) else protocol
        if not isinstance(said, (tuple, list)) or len(said) != 2 or said[0] != 0:
            name = type(stream).__name__
            raise TypeError(f"{name}.__cuda_stream__ must say (0, the stream's address), not {said!r}")
        accepted = Stream._of(CUstream(exact_int(said[1], "the address in __cuda_stream__")), owner=stream)
        if not is_builder(stream):
            captures.mark_shared()
            return accepted
        within = stream.stream._for_deallocation()
        accepted._twin = within  # what is to be freed in it keeps the stream, and not the builder
        return accepted

    def _for_deallocation(self) -> Stream:
        """This stream for those who need it beyond `close`: the buffers that are freed in it."""
        if self._address in DEFAULT_ADDRESSES:
            return self
        if self._twin is None:
            if green_contexts and not self._context:
                self._asked_context()  # what is freed in a stream of somebody else's keeps its context, too
            self._twin = Stream._of(self._handle, self._context, self._ownership, self._owner)
        return self._twin

    def close(self) -> None:
        """Close the stream. It is destroyed once no buffer is left that will be freed in it.

        Work that is already queued still runs. Using a closed stream raises RuntimeError; closing it
        again, or closing a default stream, does nothing.
        """
        if 0 <= self._address <= 2:  # DEFAULT_ADDRESSES
            return
        try:
            del self._handle
        except AttributeError:
            return
        self._address, self._context = CLOSED, 0
        self._ownership = self._owner = self._twin = None

    @property
    def handle(self) -> CUstream:
        """The CUstream, null once it is closed. Whoever has it may capture the stream, which core looks for
        from now on.
        """
        handle: CUstream = _null()
        try:
            handle.value = self._handle.value  # not what becomes 0, which is the default stream
        except RuntimeError:
            return handle
        captures.mark_shared()
        return handle

    def __cuda_stream__(self) -> tuple[int, int]:
        captures.mark_shared()
        return 0, int(self._handle)

    @property
    def is_nonblocking(self) -> bool:
        """Whether it does not synchronize with the legacy default stream. Source: cuStreamGetFlags."""
        return bool(checked.cuStreamGetFlags(self._handle) & CUstream_flags.CU_STREAM_NON_BLOCKING)

    @property
    def priority(self) -> int:
        """A lower number is served first. Source: cuStreamGetPriority."""
        return checked.cuStreamGetPriority(self._handle)

    def sync(self) -> None:
        """Wait until all its work has run. Source: cuStreamSynchronize; Ctrl-C ends the wait."""
        _give_sync_lane()
        wait(driver.cuStreamQuery, checked.cuStreamSynchronize, self._handle)

    def record(
        self, event: Event | None = None, options: EventOptions | Mapping[str, Any] | None = None
    ) -> Event:
        """Record the current end of the stream's work in `event`, or in a new one.

        Source: cuEventRecord.
        """
        handle = self._handle
        if event is None:
            event = Event._to_record(self._context or self._asked_context(), options)
        try:
            err = (_record or _recording())(event._handle, handle)  # itself, without a layer between
        except AttributeError:
            raise TypeError(f"record() takes an Event, not {type_name(event)}") from None
        if err:
            raise _not_recorded(err, self, event)
        return event

    def wait(self, event_or_stream: Event | Stream | IsStreamType) -> None:
        """Make later work wait for an event, or for the work queued so far in another stream.

        The caller does not wait. Source: cuStreamWaitEvent.
        """
        if isinstance(event_or_stream, Event):
            _give_wait_lane()
            handle = self._handle
            checked.cuStreamWaitEvent(handle, event_or_stream._handle, 0)
            note(handle)
        else:
            with Stream._accept(event_or_stream).record() as event:
                self.wait(event)

    def create_graph_builder(self) -> GraphBuilder:
        """Create a graph builder, which records the work in this stream while it builds."""
        self._handle  # noqa: B018  # raises what a closed stream has to say
        return upward.graph_builder._in(self)

    def _asked_context(self) -> int:
        context = checked.cuStreamGetCtx(self._handle).value
        if self._address not in DEFAULT_ADDRESSES:
            self._context = context = kept_number(context)
        return context

    @property
    def context(self) -> Context:
        """The context it was created in; for a default stream, the current one. Source: cuStreamGetCtx."""
        self._handle  # noqa: B018  # raises what a closed stream has to say
        return Context._of(self._context or self._asked_context())

    @property
    def resources(self) -> DeviceResources:
        """The device resources of its context."""
        return self.context.resources

    @property
    def device(self) -> Device:
        """The device that runs its work."""
        return self.context.device

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Stream):
            return NotImplemented
        return self is other or self._address == other._address

    def __hash__(self) -> int:
        return hash(self._address)

    def __repr__(self) -> str:
        if self is LEGACY_DEFAULT_STREAM or self is PER_THREAD_DEFAULT_STREAM:
            return "LEGACY_DEFAULT_STREAM" if self is LEGACY_DEFAULT_STREAM else "PER_THREAD_DEFAULT_STREAM"
        return "<Stream, closed>" if self.is_closed else f"<Stream {int(self._handle):#x}>"


upward.stream = Stream


_record: Any = None  # cuEventRecord, once it was asked for


def _recording() -> Any:
    global _record
    _record = status_function("cuEventRecord", Noted(CUevent), Noting(CUstream))

    def failed(status: int, stream: Stream, event: Event, *_: None) -> None:
        raise _not_recorded(status, stream, event)

    takes = (1, Noting(_HANDLE)), (0, Noted(EVENT))
    give_lane(Stream.record, c_function("cuEventRecord"), takes, failed, returned=2, optional=1)
    return _record


def _not_recorded(status: int, stream: Stream, event: Event) -> Exception:
    arguments = {"hEvent": event._handle, "hStream": stream._handle}
    return driver.libcuda.error("cuEventRecord", driver.CUresult(status), arguments)


@cache
def _give_sync_lane() -> None:
    """At the first call; one with a lane does not come here any more, unless there is more to do."""
    for stream in LEGACY_DEFAULT_STREAM, PER_THREAD_DEFAULT_STREAM:
        note(stream._handle, ALWAYS)
    give_wait_lane(Stream.sync, _HANDLE, "cuStreamQuery", "cuStreamSynchronize", "hStream")


@cache
def _give_wait_lane() -> None:
    """At the first call with an event; one with a lane does not come here any more."""

    def failed(status: int, stream: Stream, event: Event) -> None:
        arguments = {"hStream": stream._handle, "hEvent": event._handle, "Flags": 0}
        raise driver.libcuda.error("cuStreamWaitEvent", driver.CUresult(status), arguments)

    takes = (
        (0, Noted(_HANDLE._replace(more=True))),
        (2, Constant(0)),
        (1, EVENT),
    )
    give_lane(Stream.wait, c_function("cuStreamWaitEvent"), takes, failed)


_HANDLE = InSlot(Stream, "_handle", CUstream)


_destroys: Any = None  # cuStreamDestroy
_creates: Any = None  # cuStreamCreateWithPriority


def _created(flags: int, priority: int) -> Prerequisite:
    """What owns a new stream. Source: cuStreamCreateWithPriority, in the current context."""
    if _creates is None:
        _give_lanes()
    ownership = _object(Prerequisite)
    ownership._begin(_null(), _RELEASE, _destroys)
    ownership._process = owned.process
    if status := _creates(ownership._owed, flags, priority):
        ownership._owed.value = 0
        _not_created(status, flags, priority)
    return ownership


def _slots() -> dict[str, Any]:
    """What the owner of a stream has as long as nothing is done with it but to destroy it at the end."""
    global _destroys
    if _destroys is None:
        _destroys = status_function("cuStreamDestroy_v2", CUstream)
    return {"_quick": _destroys, "_argument": None, "_spare": None}


@cache
def _template() -> Prerequisite:
    owner: Prerequisite = template(Prerequisite, is_shared=False, how=_RELEASE, **_slots())
    return owner


def _not_created(status: int, flags: int, priority: int) -> None:
    arguments = {"flags": flags, "priority": priority}
    raise driver.libcuda.error("cuStreamCreateWithPriority", driver.CUresult(status), arguments)


def _give_lanes() -> None:
    """Have streams made and destroyed without a step of Python, where that is possible."""
    global _creates
    symbol, destroy = "cuStreamCreateWithPriority", "cuStreamDestroy_v2"
    _creates = filling_function(symbol, CUstream, UNSIGNED, SIGNED)
    slots = _slots()
    makes = Makes(_template(), CUstream, ("_owed",))
    give_lane(_created, c_function(symbol), [(1, UNSIGNED), (2, SIGNED)], _not_created, makes=makes)
    owed, may_be_active = [InSlot(Prerequisite, "_owed", CUstream)], [captures.may_be_active]
    give_release_lane(Prerequisite.__del__, c_function(destroy), owed, slots, empty=may_be_active)


def give_lane_of_default(function: Any, current: InSlot, context: Goes) -> None:
    """Have a method that creates a stream without options do so without a step of Python, where possible.

    current: the handle of the context, if that is the current one; context: what goes into the stream of it.
    """

    def not_made(status: int, *_: object) -> None:
        _not_created(status, _NON_BLOCKING, 0)

    stream = _object(Stream)
    stream._owner = stream._twin = None
    makes = Makes(_template(), CUstream, ("_owed",), "_address", stream, "_ownership", "_handle")
    takes = (1, Constant(_NON_BLOCKING, more=True)), (2, Constant(0, more=True)), (0, context)
    give_lane(
        function,
        c_function("cuStreamCreateWithPriority"),
        takes,
        not_made,
        makes=makes,
        asked=Asked(c_function("cuCtxGetCurrent"), current, no_context),
        empty=[_after_capture, green_contexts],
        optional=2,
    )


def _destroy(handle: CUstream) -> None:
    if captures.may_be_active and capture_of(handle):
        raise too_early("a Stream cannot be destroyed, which is what its last reference does,")
    owning.cuStreamDestroy(handle)  # of no capture, so it harms none


_RELEASE = Release(0, _destroy)


LEGACY_DEFAULT_STREAM = Stream._of(CUstream(1))
"""The default stream that all threads share; blocking streams wait for it, and it for them.

CU_STREAM_LEGACY.
"""

PER_THREAD_DEFAULT_STREAM = Stream._of(CUstream(2))
"""The default stream that the calling thread has to itself. CU_STREAM_PER_THREAD."""

LEGACY_DEFAULT_STREAM._twin = LEGACY_DEFAULT_STREAM  # it is there for good

DEFAULT_ADDRESSES = (0, 1, 2)
"""What default streams have for an address: 0 is one of the two, as the caller's build has it."""


CLOSED = -1
"""What closed streams have for one."""


def default_stream() -> Stream:
    """LEGACY_DEFAULT_STREAM; with CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM=1 PER_THREAD_DEFAULT_STREAM."""
    return PER_THREAD_DEFAULT_STREAM if environment.PER_THREAD_DEFAULT_STREAM else LEGACY_DEFAULT_STREAM


def deallocation_stream(stream: Stream | None) -> Stream | None:
    """The stream in which memory of `stream` is freed."""
    if stream is PER_THREAD_DEFAULT_STREAM:
        # Whichever thread frees the memory has a stream of its own of that name; this one waits for all.
        return LEGACY_DEFAULT_STREAM
    return None if stream is None else stream._for_deallocation()
