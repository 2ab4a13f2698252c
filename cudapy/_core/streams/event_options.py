"""How events are made."""

from __future__ import annotations

from dataclasses import dataclass

from ...driver import CUevent_flags


@dataclass(init=False)
class EventOptions:
    """Options for an event.

    timing_enabled (or enable_timing): whether `end - start` works. blocking_sync (or busy_waited_sync):
    whether `sync` yields the CPU at once instead of polling first. ipc_enabled: whether
    another process can open it; such an event has no timing.
    """

    timing_enabled: bool
    blocking_sync: bool
    ipc_enabled: bool

    def __init__(
        self,
        timing_enabled: bool = False,
        blocking_sync: bool = False,
        ipc_enabled: bool = False,
        *,
        enable_timing: bool = False,
        busy_waited_sync: bool = False,
    ) -> None:
        self.timing_enabled = bool(timing_enabled or enable_timing)
        self.blocking_sync = bool(blocking_sync or busy_waited_sync)
        self.ipc_enabled = bool(ipc_enabled)

    @property
    def flags(self) -> int:
        """The CUevent_flags of cuEventCreate. Raises TypeError for an event that cannot be."""
        if self.timing_enabled and self.ipc_enabled:
            raise TypeError("an event with ipc_enabled cannot have timing_enabled")
        timing = 0 if self.timing_enabled else _DISABLE_TIMING
        return timing | _BLOCKING_SYNC * self.blocking_sync | _INTERPROCESS * self.ipc_enabled


_DISABLE_TIMING = int(CUevent_flags.CU_EVENT_DISABLE_TIMING)  # numbers: members are slow to combine
_BLOCKING_SYNC = int(CUevent_flags.CU_EVENT_BLOCKING_SYNC)
_INTERPROCESS = int(CUevent_flags.CU_EVENT_INTERPROCESS)
