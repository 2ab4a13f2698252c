"""What the driver has of events: made, recorded, waited for and timed."""

from ..._types.driver.enums import CUevent_flags
from ..devices.context import given
from ..handles import find
from ..library import provides
from ..memory.pages import IS_SUPPORTED
from ..refused import Refused, invalid, unsupported
from .event import Event
from .operations import EventRecord, EventWait
from .shared_event import made
from .stream import stream

EXTERNAL = 1  # CU_EVENT_RECORD_EXTERNAL, CU_EVENT_WAIT_EXTERNAL


@provides("driver")
def cuEventCreate(Flags: int) -> int:
    flags = _checked(Flags)
    event = made(flags) if flags & CUevent_flags.CU_EVENT_INTERPROCESS else Event(flags)
    return event.handle


def _checked(flags: int) -> int:
    known = (
        CUevent_flags.CU_EVENT_BLOCKING_SYNC
        | CUevent_flags.CU_EVENT_DISABLE_TIMING
        | CUevent_flags.CU_EVENT_INTERPROCESS
    )
    if flags & ~known:
        raise invalid(f"unknown event flags {flags & ~known:#x}")
    if flags & CUevent_flags.CU_EVENT_INTERPROCESS:
        if not flags & CUevent_flags.CU_EVENT_DISABLE_TIMING:
            raise invalid("an event for other processes has no timing: CU_EVENT_DISABLE_TIMING is missing")
        if not IS_SUPPORTED:
            raise unsupported("the simulator has events for other processes on Linux alone")
    return flags


@provides("driver", "cuEventDestroy", "cuEventDestroy_v2")
def cuEventDestroy_v2(hEvent: int) -> None:
    find(hEvent, Event).forget()


@provides("driver")
def cuEventRecord(hEvent: int, hStream: int) -> None:
    cuEventRecordWithFlags(hEvent, hStream, 0)


@provides("driver")
def cuEventRecordWithFlags(hEvent: int, hStream: int, flags: int) -> None:
    if flags & ~EXTERNAL:
        raise invalid(f"unknown flags {flags & ~EXTERNAL:#x}")
    event, in_stream = find(hEvent, Event), stream(hStream)
    if in_stream.capture is not None and not flags & EXTERNAL:
        event.captured = in_stream.capture.here(in_stream)
        return
    if in_stream.capture is not None:
        in_stream.add(EventRecord(event))
        return
    event.captured = None
    record = event.begin()
    record.work = in_stream.submit(record.stamp, soon=True)
    event.put(record)


@provides("driver")
def cuStreamWaitEvent(hStream: int, hEvent: int, Flags: int) -> None:
    if Flags & ~EXTERNAL:
        raise invalid(f"unknown flags {Flags & ~EXTERNAL:#x}")
    event, in_stream = find(hEvent, Event), stream(hStream)
    if Flags & EXTERNAL and in_stream.capture is not None:
        in_stream.add(EventWait(event))
    elif event.captured is not None:
        event.captured.join(in_stream)
    elif in_stream.capture is not None:
        in_stream.capture.invalidate()
        raise Refused("CUDA_ERROR_STREAM_CAPTURE_ISOLATION", "the event was recorded outside the capture")
    else:
        works = event.works
        if any(not work.done or work.turn is not None for work in works):
            in_stream.submit(None, works)


@provides("driver")
def cuEventQuery(hEvent: int) -> None:
    event = find(hEvent, Event)
    event.check()
    works = event.works
    for work in works:
        if not work.done:
            work.pause()
    if not event.is_done:
        raise Refused("CUDA_ERROR_NOT_READY")
    for work in works:
        work.tell_program()


@provides("driver")
def cuEventSynchronize(hEvent: int) -> None:
    event = find(hEvent, Event)
    event.check()
    for work in event.works:
        work.wait()
    event.check()


@provides("driver", "cuEventElapsedTime", "cuEventElapsedTime_v2")
def cuEventElapsedTime_v2(hStart: int, hEnd: int) -> float:
    start, end = find(hStart, Event), find(hEnd, Event)
    for event in (start, end):
        event.check()
        if event.flags & CUevent_flags.CU_EVENT_DISABLE_TIMING:
            raise Refused("CUDA_ERROR_INVALID_HANDLE", "the event was created with CU_EVENT_DISABLE_TIMING")
        if event.record is None:
            raise Refused("CUDA_ERROR_INVALID_HANDLE", "the event was never recorded")
    if not (start.is_done and end.is_done):
        raise Refused("CUDA_ERROR_NOT_READY")
    if start.record is None or end.record is None or start.record.time is None or end.record.time is None:
        raise Refused(
            "CUDA_ERROR_INVALID_HANDLE", "the work before the event was left out because of a fault"
        )
    for work in (*start.works, *end.works):
        work.tell_program()
    return 1000 * (end.record.time - start.record.time)


@provides("driver")
def cuCtxRecordEvent(hCtx: int, hEvent: int) -> None:
    given(hCtx).record(find(hEvent, Event))


@provides("driver")
def cuCtxWaitEvent(hCtx: int, hEvent: int) -> None:
    given(hCtx).wait(find(hEvent, Event))
