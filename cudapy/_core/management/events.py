"""Events of devices, as NVML records them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

from ... import nvml
from ..._ffi.owning import Owning
from ..ownership.owned import Ownership
from ..upward import upward
from .choices import EventType, known, mask
from .readings import Reading

T = TypeVar("T")

_owning = Owning(vars(nvml), nvml.libnvml)
_SLICE_MS = 200
"""How long one wait inside NVML is, so that Ctrl-C ends it."""


def wait_for(wait: Callable[[int], T], timeout_ms: int) -> T:
    """What `wait(milliseconds)` returns before `timeout_ms` are over, 0 for no end. Raises TimeoutError."""
    end = time.monotonic() + timeout_ms / 1000
    while True:
        left = max(0, round((end - time.monotonic()) * 1000)) if timeout_ms else _SLICE_MS
        try:
            return wait(min(left, _SLICE_MS))
        except nvml.NvmlTimeoutError:
            if timeout_ms and time.monotonic() >= end:
                raise


class DeviceEvents:
    """The events of a device that are recorded since it was made, by `Device.register_events`."""

    def __init__(self, device_handle: int, events: EventType | str | list[EventType | str]) -> None:
        wanted = mask(EventType, events)
        event_set = nvml.nvmlEventSet_t()
        self._ownership = Ownership(_owning.nvmlEventSetFree, event_set)
        _owning.nvmlEventSetCreate(event_set)
        self._set = int(event_set)
        nvml.device_register_events(device_handle, wanted, self._set)

    def wait(self, timeout_ms: int = 0) -> EventData:
        """The next event. Raises TimeoutError, that of NVML, after `timeout_ms` milliseconds, 0 for no end.

        Source: nvmlEventSetWait_v2.
        """
        return EventData(wait_for(lambda left: nvml.event_set_wait_v2(self._set, left), timeout_ms))


class EventData(Reading):
    """An event of a device."""

    def __init__(self, event_data: Any) -> None:
        super().__init__(event_data)

    def __repr__(self) -> str:
        return f"EventData({self.event_type!r})"

    @property
    def device(self) -> Any:
        """The device that it happened to."""
        return upward.system_device._of(self._struct.device_)

    @property
    def event_type(self) -> EventType:
        """What happened."""
        return known(EventType, self._struct.event_type)

    def _of_xid(self, name: str) -> int:
        if self.event_type is not EventType.XID_CRITICAL_ERROR:
            raise ValueError(f"{name} is there for XID_CRITICAL_ERROR alone, not for {self.event_type.name}")
        return int(getattr(self._struct, name))

    @property
    def event_data(self) -> int:
        """The number of an Xid error. Raises ValueError for other events."""
        return self._of_xid("event_data")

    @property
    def gpu_instance_id(self) -> int:
        """The GPU instance of an Xid error, 2**32 - 1 without MIG. Raises ValueError for other events."""
        return self._of_xid("gpu_instance_id")

    @property
    def compute_instance_id(self) -> int:
        """The compute instance of an Xid error, 2**32 - 1 without MIG. Raises ValueError for other events."""
        return self._of_xid("compute_instance_id")
