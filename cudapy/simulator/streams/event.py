"""Events: points in a stream to wait for and to time."""

import time
from typing import Any

from ..devices.context import OfContext, owner
from ..refused import Refused
from .capturing import forbid
from .work import Work

EXTERNAL = 1  # CU_EVENT_RECORD_EXTERNAL, CU_EVENT_WAIT_EXTERNAL


class Record:
    """One time that an event was recorded."""

    def __init__(self) -> None:
        self.work: Any = None
        self.time: float | None = None

    def stamp(self) -> None:
        """The stream has come here."""
        self.time = time.perf_counter()


class Event(OfContext):
    """An event; `record` is the newest one, `captured` where a capture recorded it instead."""

    noun = "event"

    def __init__(self, flags: int) -> None:
        super().__init__()
        self.context = owner()
        self.flags = flags
        self._record: Record | None = None
        self.captured: Any = None

    @property
    def record(self) -> Record | None:
        """The newest record."""
        return self._record

    def begin(self) -> Record:
        """A record that is to come: `put` it once its work is known."""
        return Record()

    def put(self, record: Record) -> None:
        """From now on it is the newest one."""
        self._record = record

    @property
    def is_done(self) -> bool:
        """Whether the work before the newest record is done."""
        return not self.after

    @property
    def works(self) -> tuple[Work, ...]:
        """The work that it stands for, done or not."""
        record = self.record
        return () if record is None or record.work is None else (record.work,)

    @property
    def after(self) -> tuple[Work, ...]:
        """What something waits for that waits for the event."""
        return tuple(work for work in self.works if not work.done)

    def check(self) -> None:
        """Raise what a query or a wait raises in a capture or after a fault."""
        if self.captured is not None:
            self.captured.capture.invalidate()
            raise Refused("CUDA_ERROR_CAPTURED_EVENT", "the event was recorded in a capture")
        forbid()
        self.context.check()
