"""Events of devices and of the system, as NVML records them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

from ... import nvml
from ..._ffi.owning import Owning
from ..ownership.owned import Ownership
from .choices import EventType, SystemEventType, known, mask
from .initialise import initialise
from .readings import Listed, Reading

T = TypeVar("T")

_owning = Owning(vars(nvml), nvml.libnvml)
_SLICE_MS = 200
"""How long one wait inside NVML is, so that Ctrl-C ends it."""


def _wait(wait: Callable[[int], T], timeout_ms: int) -> T:
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
        return EventData(_wait(lambda left: nvml.event_set_wait_v2(self._set, left), timeout_ms))


class EventData(Reading):
    """An event of a device."""

    def __init__(self, event_data: Any) -> None:
        super().__init__(event_data)

    def __repr__(self) -> str:
        return f"EventData({self.event_type!r})"

    @property
    def device(self) -> Any:
        """The device that it happened to."""
        from .device import Device

        return Device._of(self._struct.device_)

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


class SystemEvent(Reading):
    """An event of the system."""

    @property
    def event_type(self) -> SystemEventType:
        """What happened."""
        return known(SystemEventType, self._struct.event_type)

    @property
    def gpu_id(self) -> int:
        """The address of the device that it happened to: domain, bus and number in one."""
        return int(self._struct.gpu_id)

    @property
    def device(self) -> Any:
        """That device. Raises NotFoundError if it is no longer there."""
        from .device import Device

        gpu = self.gpu_id
        return Device(pci_bus_id=f"{gpu >> 16:08X}:{gpu >> 8 & 0xFF:02X}:{gpu & 0xFF:02X}.0")

    def __repr__(self) -> str:
        return f"SystemEvent({self.event_type!r}, gpu_id={self.gpu_id:#x})"


class SystemEvents(Listed):
    """Events of the system."""

    def __init__(self, event_data: list[Any]) -> None:
        super().__init__(event_data)
        self._items = [SystemEvent(event) for event in event_data]


class RegisteredSystemEvents:
    """The events of the system that are recorded since it was made, by `register_events`."""

    def __init__(self, events: SystemEventType | str | list[SystemEventType | str]) -> None:
        wanted = mask(SystemEventType, events)
        initialise()
        request = nvml.nvmlSystemEventSetCreateRequest_t()
        self._ownership = Ownership(_free_system_events, request)
        nvml.check_status(nvml.nvmlSystemEventSetCreate(request)[0])
        self._set = int(request.set)
        nvml.system_register_events(wanted, self._set)

    def wait(self, timeout_ms: int = 0, buffer_size: int = 1) -> SystemEvents:
        """The next events, `buffer_size` at most. Raises TimeoutError, that of NVML, after `timeout_ms`
        milliseconds, 0 for no end.

        Source: nvmlSystemEventSetWait.
        """
        events = _wait(lambda left: nvml.system_event_set_wait(self._set, left, buffer_size), timeout_ms)
        return SystemEvents(events)


def _free_system_events(request: nvml.nvmlSystemEventSetCreateRequest_t) -> None:
    """Free the set that NVML wrote to `request`, if it did."""
    if request.set:
        nvml.system_event_set_free(int(request.set))


def register_events(
    events: SystemEventType | str | list[SystemEventType | str],
) -> RegisteredSystemEvents:
    """Record events of the system from now on; `wait` of what it returns tells them.

    Source: nvmlSystemRegisterEvents.
    """
    return RegisteredSystemEvents(events)
