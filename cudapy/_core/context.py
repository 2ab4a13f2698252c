"""Contexts: the driver's state for one device in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..driver import CUcontext, checked
from .current import within
from .lifetime import Unique

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .device import Device
    from .stream import Stream, StreamOptions

primaries: dict[int, Context] = {}
"""The primary contexts that were retained, by device."""

lasting: set[int] = set()
"""The same as numbers: contexts that stay as long as the process, so what is made in them may be kept."""


class Context(Unique):
    """A context of the driver. `Device.context` gives one; this class makes none.

    The primary context of a device is shared by all of the process, other libraries included, and stays
    retained until the process ends.
    """

    __slots__ = ("_handle",)

    def __init__(self, handle: CUcontext) -> None:
        self._handle = handle

    @property
    def handle(self) -> CUcontext:
        """The CUcontext."""
        return self._handle

    @property
    def device(self) -> Device:
        """The device that it belongs to. Source: cuCtxGetDevice."""
        from .device import Device

        return Device(int(within(int(self._handle), checked.cuCtxGetDevice)))

    @property
    def is_closed(self) -> bool:
        """False: a primary context is there as long as the process."""
        return False

    @property
    def is_green(self) -> bool:
        """False: it has all of the device."""
        return False

    def create_stream(self, options: StreamOptions | Mapping[str, Any] | None = None) -> Stream:
        """A new stream in this context."""
        from .stream import Stream

        context = int(self._handle)
        return within(context, Stream._new, context, options)

    def close(self) -> None:
        """Nothing to do: a primary context belongs to all of the process."""

    def __eq__(self, other: object) -> bool:
        return self._handle == other._handle if isinstance(other, Context) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._handle)

    def __repr__(self) -> str:
        return f"<Context {int(self._handle):#x}>"


def primary(device_id: int) -> Context:
    """The primary context of a device, retained for good. Source: cuDevicePrimaryCtxRetain."""
    if device_id not in primaries:
        primaries[device_id] = Context(checked.cuDevicePrimaryCtxRetain(device_id))
        lasting.add(int(primaries[device_id].handle))
    return primaries[device_id]
