"""Events of the system, as NVML records them."""

from typing import Any

from ... import nvml
from ..ownership.owned import Ownership
from .choices import SystemEventType, known, mask
from .device import Device
from .events import wait_for
from .library import initialise
from .readings import Listed, Reading


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
        events = wait_for(lambda left: nvml.system_event_set_wait(self._set, left, buffer_size), timeout_ms)
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
