"""Events: points in a stream that can be waited for, and timed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from ... import driver
from ..._bindings.errors import CUDAError
from ..._ffi.handles import maker
from ..._ffi.shown import shown, type_name
from ..._ffi.status_calls import UNSIGNED, Asked, Constant, Goes, InSlot, Makes, give_lane
from ..._process.resets import in_reset
from ...driver import CUevent, CUipcEventHandle, CUresult, checked
from ..closable import Closable, Elsewhere
from ..context.context import Context, context_of, retained_contexts
from ..context.current import (
    c_function,
    current_context,
    filling_function,
    no_context,
    owning,
    status_function,
    with_context,
)
from ..context.green import green_contexts, green_number, kept_number
from ..options import accepted
from ..ownership import owned
from ..ownership.deferred import deferred
from ..ownership.owned import Owned, Release, Spare, give_release_lane, own_finalizer, template
from ..upward import upward
from .event_options import EventOptions
from .waiting import RECORDED, SPIN, give_wait_lane, synchronizing, wait

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..device.device import Device


_DEFAULT = EventOptions()
_DEFAULT_FLAGS = _DEFAULT.flags
_object = object.__new__
_after_capture = deferred.after_capture
_null = maker(CUevent)

_NO_TIME = {
    CUresult.CUDA_ERROR_NOT_READY: "The work before an event still runs. Hint: call sync() on the later one.",
    CUresult.CUDA_ERROR_INVALID_HANDLE: (
        "An event has no time. Hint: record both on one device, with EventOptions(timing_enabled=True)."
    ),
}


@dataclass(frozen=True)
class IPCEventDescriptor:
    """What another process opens an event with: `Event.from_ipc_descriptor`. Can be pickled."""

    reserved: bytes
    is_blocking_sync: bool


_spare: dict[tuple[int, int], Spare] = {}
"""Events that nobody has any more, by context and flags; for contexts that last."""
in_reset(_spare.clear)


if TYPE_CHECKING:
    _Called = property
else:

    class _Called(property):
        """A property whose function is called: CPython 3.14 runs the code of others', and not their lanes."""


class Event(Closable, Owned):
    """A point in the work of a stream: `stream.record()` records one, `Device.create_event` creates one.

    `Event(options)` is created on the current device. `end - start` is the time between two events in
    milliseconds. Closed with its last reference or by `close`. Source: cuEventCreate.
    """

    __slots__ = ("_context", "_descriptor", "_open_handle", "_options")
    _vital = "_open_handle"
    synchronize = Elsewhere("sync()")
    elapsed_time = Elsewhere("end - start")
    record = Elsewhere("stream.record(event)")
    _context: int
    _descriptor: IPCEventDescriptor  # with ipc_enabled
    _open_handle: CUevent  # C writes it, and who destroys the event leaves 0 there; closed events have none
    _options: EventOptions

    def __new__(cls, options: EventOptions | Mapping[str, Any] | None = None) -> Event:
        context = current_context()
        if context:
            return cls._new(context, options)
        return upward.device().create_event(options)

    @staticmethod
    def _new(context: int, options: EventOptions | Mapping[str, Any] | None) -> Event:
        """A new event in `context`, which is current."""
        if _after_capture:
            deferred.retry()
        if options is None:
            options, flags = _DEFAULT, _DEFAULT_FLAGS
        else:
            options = accepted(EventOptions, options)
            flags = options.flags
        event = _made(flags, kept_number(context) if green_contexts else context, options)
        if options.ipc_enabled:  # now, since multiprocessing pickles in threads that have no context
            event._descriptor = event._described()
        return event

    @staticmethod
    def _to_record(context: int, options: EventOptions | Mapping[str, Any] | None) -> Event:
        """An event in `context` that is recorded at once: one that nobody has any more, or a new one.

        To make and destroy an event takes far longer than to record it.
        """
        if options is None:
            options, flags = _DEFAULT, _DEFAULT_FLAGS
        else:
            options = accepted(EventOptions, options)
            flags = options.flags
        try:
            spare = _spare[context, flags]
        except KeyError:
            if context not in retained_contexts or options.ipc_enabled:
                return with_context(context, Event._new, context, options)
            spare = _spare.setdefault((context, flags), Spare())
        event = _object(Event)
        event._context, event._options = context, options
        event._ownership = event._argument = None
        event._quick = _destroys or _destroyer()
        event._spare = spare
        try:
            event._owed = handle = spare.taken
        except IndexError:
            event._open_handle = event._owed = _null()
            event._process = owned.process
            with_context(context, _create, event._owed, flags)
            return event
        event._process = owned.process  # one step: interrupt_safe
        event._open_handle = handle
        return event

    @staticmethod
    def _of(context: int, options: EventOptions) -> Event:
        """An event that owns what is made in its handle. context: one that is kept."""
        event = _object(Event)
        event._context = context
        event._options = options
        event._ownership = event._argument = event._spare = None
        event._quick = _destroys or _destroyer()
        event._open_handle = event._owed = _null()
        event._process = owned.process
        return event

    def close(self) -> None:
        """Close the event.

        Afterwards its handle is null, using it raises RuntimeError, and closing it again does nothing.
        """
        try:
            del self._open_handle
        except AttributeError:  # it was closed before
            if not self._process.alive:
                return
        self._release(True)
        self._ownership = None

    __del__ = own_finalizer()

    @property
    def _handle(self) -> CUevent:
        """That of an open event. A `__getattr__` instead would make `is_done` a seventh slower."""
        try:
            return self._open_handle
        except AttributeError:
            raise self._closed() from None

    def _how(self) -> Release:
        return Release(green_number(self._context) if green_contexts else 0, _destroy)

    def _retain(self) -> object:
        """What the event belongs to from now on, with this object: it is destroyed once both are gone."""
        self._handle  # noqa: B018  # raises what a closed event has to say
        return self._shared()

    @property
    def handle(self) -> CUevent:
        """The CUevent, null once it is closed."""
        try:
            return self._for_others()
        except RuntimeError:
            return CUevent()

    def _for_others(self) -> CUevent:
        """The CUevent for those who may record it elsewhere than in a stream of core's."""
        handle = self._handle
        synchronizing.add(RECORDED)
        return handle

    @property
    def is_timing_enabled(self) -> bool:
        """Whether `end - start` works."""
        self._handle  # noqa: B018  # raises what a closed event has to say
        return self._options.timing_enabled

    @property
    def is_blocking_sync(self) -> bool:
        """Whether `sync` yields the CPU to others, once it has asked for some microseconds."""
        self._handle  # noqa: B018  # raises what a closed event has to say
        return self._options.blocking_sync

    @property
    def is_ipc_enabled(self) -> bool:
        """Whether another process can open it."""
        self._handle  # noqa: B018  # raises what a closed event has to say
        return self._options.ipc_enabled

    @_Called
    def is_done(self) -> bool:
        """Whether the work before it has run; True if it was never recorded. Source: cuEventQuery."""
        _give_query_lane()
        (status,) = driver.cuEventQuery(self._handle)
        return _not_done(status, self) if status else True

    def sync(self) -> None:
        """Wait until the work before it has run. Source: cuEventSynchronize; Ctrl-C ends the wait."""
        _give_sync_lane()
        spin = 0 if self._options.blocking_sync else SPIN
        wait(driver.cuEventQuery, checked.cuEventSynchronize, self._handle, spin)

    def __sub__(self, other: Event) -> float:
        """Milliseconds from `other` to this event, to about half a microsecond.

        Source: cuEventElapsedTime.
        """
        if not isinstance(other, Event):
            return NotImplemented
        try:
            return float(checked.cuEventElapsedTime(other._handle, self._handle))
        except CUDAError as error:
            if error.code not in _NO_TIME:
                raise
            message = f"cuEventElapsedTime: {error.name} ({int(error.code)}): {_NO_TIME[error.code]}"
            raise CUDAError(message, error.code, error.function) from None

    def __isub__(self, other: Event) -> float:
        """`end -= start`: `end` is the number of milliseconds then."""
        return self.__sub__(other)

    def __rsub__(self, other: Event) -> float:
        """`other - self`."""
        return other.__sub__(self) if isinstance(other, Event) else NotImplemented

    @property
    def ipc_descriptor(self) -> IPCEventDescriptor:
        """What another process opens this event with: of one that was opened, what it was opened with.

        Needs ipc_enabled. Source: cuIpcGetEventHandle.
        """
        if not self.is_ipc_enabled:
            raise RuntimeError("this Event is for one process: make it with EventOptions(ipc_enabled=True)")
        return self._descriptor

    def _described(self) -> IPCEventDescriptor:
        reserved = bytes(checked.cuIpcGetEventHandle(self._for_others()).reserved)
        return IPCEventDescriptor(reserved, self._options.blocking_sync)

    def get_ipc_descriptor(self) -> IPCEventDescriptor:
        """The same as `ipc_descriptor`."""
        return self.ipc_descriptor

    @classmethod
    def from_ipc_descriptor(cls, ipc_descriptor: IPCEventDescriptor) -> Event:
        """Open an event of another process in the current context. Source: cuIpcOpenEventHandle."""
        if not isinstance(ipc_descriptor, IPCEventDescriptor):
            raise TypeError(f"an event is opened by its ipc_descriptor, not by {type_name(ipc_descriptor)}")
        wanted = len(CUipcEventHandle().reserved)
        if not isinstance(ipc_descriptor.reserved, bytes) or len(ipc_descriptor.reserved) != wanted:
            found = shown(ipc_descriptor.reserved)
            raise ValueError(f"an ipc_descriptor of an event has {wanted} bytes, this one has {found}")
        handle = CUipcEventHandle(reserved=ipc_descriptor.reserved)
        options = EventOptions(blocking_sync=ipc_descriptor.is_blocking_sync, ipc_enabled=True)
        context = current_context()
        event = Event._of(kept_number(context), options)
        owning.cuIpcOpenEventHandle(event._for_others(), handle)
        event._descriptor = ipc_descriptor
        return event

    def __reduce__(self) -> tuple[Any, ...]:
        if not self.is_ipc_enabled:
            return super().__reduce__()
        return _reopen, (self.ipc_descriptor, self.device.device_id)

    @property
    def context(self) -> Context:
        """The context it was created in."""
        self._handle  # noqa: B018  # raises what a closed event has to say
        return Context._of(self._context)

    @property
    def device(self) -> Device:
        """The device it was created on."""
        return self.context.device

    def __eq__(self, other: object) -> bool:
        return self._number() == other._number() if isinstance(other, Event) else NotImplemented

    def __hash__(self) -> int:
        return hash((Event, self._number()))

    def _number(self) -> int:
        """That of its handle; 0 once it is closed."""
        return 0 if self.is_closed else int(self._handle)

    def __repr__(self) -> str:
        return "<Event, closed>" if self.is_closed else f"<Event {int(self._handle):#x}>"


def _destroy(handle: CUevent) -> None:
    owning.cuEventDestroy(handle)  # which harms no capture


_destroys: Any = None  # cuEventDestroy, once it was asked for
_creates: Any = None  # cuEventCreate


def _destroyer() -> Any:
    global _destroys
    _destroys = status_function("cuEventDestroy_v2", CUevent)
    return _destroys


def _made(flags: int, context: int, options: EventOptions) -> Event:
    """A new event in `context`, which is current. Source: cuEventCreate."""
    event = Event._of(context, options)
    if status := (_creates or _creator())(event._owed, flags):
        event._owed.value = 0
        raise _not_created(status, flags)
    return event


def _create(handle: CUevent, flags: int) -> None:
    """Source: cuEventCreate, without what the driver's Python function checks."""
    if status := (_creates or _creator())(handle, flags):
        handle.value = 0
        raise _not_created(status, flags)


def _creator() -> Any:
    global _creates
    _creates = filling_function("cuEventCreate", CUevent, UNSIGNED)
    _give_lanes()
    return _creates


def _not_created(status: int, flags: int) -> CUDAError:
    return driver.libcuda.error("cuEventCreate", CUresult(status), {"Flags": flags})  # type: ignore[return-value]


def _give_lanes() -> None:
    """Have events made, asked and waited for without a step of Python, where that is possible."""

    def not_made(status: int, flags: int, *_: object) -> None:
        raise _not_created(status, flags)

    made = Makes(_template(), CUevent, ("_open_handle", "_owed"))
    takes = (1, UNSIGNED), (0, Goes("_context")), (0, Goes("_options"))
    give_lane(_made, c_function("cuEventCreate"), takes, not_made, makes=made)
    destroy, owed, not_kept = (
        c_function("cuEventDestroy_v2"),
        [InSlot(Event, "_owed", CUevent)],
        {"_spare": None},
    )
    give_release_lane(Event.close, destroy, owed, not_kept, gone="_open_handle")
    give_release_lane(Event.__del__, destroy, owed, not_kept)


def _template(**slots: Any) -> Event:
    nothing = dict.fromkeys(("_ownership", "_argument", "_spare"))
    event: Event = template(Event, _quick=_destroys or _destroyer(), **nothing, **slots)
    return event


def give_lane_of_default(function: Any, current: InSlot, context: Goes) -> None:
    """Have a method that creates an event without options do so without a step of Python, where possible.

    current: the handle of the context, if that is the current one; context: what goes into the event of it.
    """

    def not_made(status: int, *_: object) -> None:
        raise _not_created(status, _DEFAULT_FLAGS)

    makes = Makes(_template(_options=_DEFAULT), CUevent, ("_open_handle", "_owed"))
    takes = (1, Constant(_DEFAULT_FLAGS, more=True)), (0, context)
    give_lane(
        function,
        c_function("cuEventCreate"),
        takes,
        not_made,
        makes=makes,
        asked=Asked(c_function("cuCtxGetCurrent"), current, no_context),
        empty=[_after_capture, green_contexts],
        optional=1,
    )


@cache
def _give_query_lane() -> None:
    """At the first call; one with a lane does not come here any more."""
    is_done: Any = Event.is_done
    give_lane(is_done.fget, c_function("cuEventQuery"), [(0, EVENT)], _not_done, ok=True)


def _not_done(status: int, event: Event) -> bool:
    if status != CUresult.CUDA_ERROR_NOT_READY:
        raise driver.libcuda.error("cuEventQuery", CUresult(status), {"hEvent": event._handle})
    return False


@cache
def _give_sync_lane() -> None:
    """At the first call; one with a lane does not come here any more, unless there is more to do."""
    give_wait_lane(Event.sync, EVENT, "cuEventQuery", "cuEventSynchronize", "hEvent")


EVENT = InSlot(Event, "_open_handle", CUevent)
"""An event, as a parameter of lanes."""


def _reopen(descriptor: IPCEventDescriptor, device_id: int) -> Event:
    """An event out of a pickle."""
    return with_context(context_of(device_id), Event.from_ipc_descriptor, descriptor)
