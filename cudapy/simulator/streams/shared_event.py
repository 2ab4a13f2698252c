"""Events that another process opens by a handle.

What is known of one lies in a page that the processes share: the number of its newest record and who made it,
and the newest record that is done. A process that ends takes what it has not done with it: its records count
as done then.
"""

import fcntl
import os
import struct
import threading
import time
from typing import Any

from ..._types.driver.enums import CUevent_flags
from ..._types.driver.structs import CUipcEventHandle
from ..devices.context import current
from ..fresh_devices import forgotten
from ..handles import every, find
from ..library import provides
from ..memory.pages import File, IpcHandle, Mapping, Region
from ..refused import invalid
from .event import Event, Record
from .faults import Faults
from .work import Queue

KIND = b"cudapyE"
STATE = struct.Struct("<QQQ")  # the newest record, its process, the newest record that is done
PATIENCE = 0.001  # seconds between two looks

_thread_lock = threading.Lock()
_files: list[File] = []


def _file() -> File:
    with _thread_lock:
        if not _files:
            _files.append(File("cudapy simulator: events"))
        return _files[0]


class State:
    """What processes know of an event together."""

    def __init__(self, place: Region | Mapping, descriptor: int) -> None:
        self._place = place
        self._descriptor = descriptor

    def change(self, change: Any) -> Any:
        """Replace what is known by what `change` makes of it, while nobody else does. Returns that."""
        with _thread_lock:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX)
            try:
                new = change(*STATE.unpack_from(self._place.view))
                STATE.pack_into(self._place.view, 0, *new)
            finally:
                fcntl.flock(self._descriptor, fcntl.LOCK_UN)
        return new

    def read(self) -> tuple[int, int, int]:
        """The newest record, its process, and the newest that is done."""
        values: tuple[int, int, int] = self.change(lambda *known: known)
        return values

    def release(self) -> None:
        """This process needs it no more."""
        self._place.release()


class SharedEvent(Event):
    """An event of several processes; `record` is the newest one of any of them."""

    def __init__(self, flags: int, state: State, region: Region | None = None) -> None:
        self._state = state
        self._region = region  # where this process made it
        self._known: tuple[int, Record | None] = (0, None)
        super().__init__(flags)

    @property
    def record(self) -> Record | None:
        number, process, done = self._state.read()
        if not number:
            return None
        known, record = self._known
        if known != number:
            record = Record()
            if done < number:
                record.work = Queue(Faults()).submit(lambda: self._wait_for(number, process))
            self._known = number, record
        return record

    def begin(self) -> Record:
        number = self._state.change(lambda number, _, done: (number + 1, os.getpid(), done))[0]
        record = _SharedRecord(self._state, number)
        self._known = number, record
        return record

    def put(self, record: Record) -> None:
        """`begin` has said so to all processes."""

    def _wait_for(self, number: int, process: int) -> None:
        """Wait until a record is done, or whoever made it is no more."""
        while self._state.read()[2] < number and not has_ended(process):
            time.sleep(PATIENCE)

    def ipc_handle(self) -> bytes:
        """The handle by which another process opens it. Raises Refused."""
        if self._region is None:
            raise invalid("the event is one of another process")
        return self._region.ipc_handle(KIND, self._region.size, self.context.device.index)

    def forget(self) -> None:
        super().forget()
        Queue(Faults()).submit(self._state.release, self.after, soon=True)


class _SharedRecord(Record):
    def __init__(self, state: State, number: int) -> None:
        super().__init__()
        self._state = state
        self._number = number

    def stamp(self) -> None:
        super().stamp()
        self._state.change(lambda newest, process, done: (newest, process, max(done, self._number)))


@forgotten
def _forget() -> None:
    for event in every(SharedEvent):
        event.forget()


def has_ended(process: int) -> bool:
    """Whether a process is no more, or waits for its parent to hear of its end."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] in (b"Z", b"X")
    except OSError:
        return True


def made(flags: int) -> SharedEvent:
    """A new event that other processes can open."""
    file = _file()
    region = file.take(STATE.size)
    return SharedEvent(flags, State(region, file.descriptor), region)


@provides("driver")
def cuIpcGetEventHandle(event: int) -> CUipcEventHandle:
    current()
    this_event = find(event, Event)
    if not isinstance(this_event, SharedEvent):
        raise invalid("the event was created without CU_EVENT_INTERPROCESS")
    return CUipcEventHandle(reserved=this_event.ipc_handle())


@provides("driver")
def cuIpcOpenEventHandle(handle: Any) -> int:
    current()
    ipc_handle = IpcHandle(bytes(handle.reserved), KIND)
    file = ipc_handle.open()
    try:
        mapping = ipc_handle.map(file)
    except BaseException:
        os.close(file)
        raise
    flags = CUevent_flags.CU_EVENT_INTERPROCESS | CUevent_flags.CU_EVENT_DISABLE_TIMING
    return SharedEvent(int(flags), _Opened(mapping, file)).handle


class _Opened(State):
    """What another process knows of its event."""

    def release(self) -> None:
        super().release()
        os.close(self._descriptor)
