"""Contexts: the driver's state for one device in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...driver import CUcontext, checked
from ..closable import Closable
from .current import initialise, owning, with_context

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..device.device import Device
    from ..streams.stream import Stream, StreamOptions

primaries: dict[int, Context] = {}
"""The primary contexts that were retained, by device."""

_retained: dict[int, CUcontext] = {}
retained_contexts: set[int] = set()
"""The same as numbers: contexts that stay as long as the process, so what is made in them may be kept."""


class Context(Closable):
    """A context of the driver. `Device.context` gives one; this class makes none.

    The primary context of a device is shared by all of the process, other libraries included, and stays
    retained until the process ends, also when a Context of it is closed.
    """

    __slots__ = ("_handle",)

    def __init__(self, handle: CUcontext) -> None:
        self._handle = handle
        self._ownership = None

    @property
    def handle(self) -> CUcontext | None:
        """The CUcontext; None once it is closed."""
        try:
            return self._handle
        except RuntimeError:
            return None

    @property
    def device(self) -> Device:
        """The device that it belongs to. Source: cuCtxGetDevice."""
        from ..device.device import Device

        return Device(int(with_context(int(self._handle), checked.cuCtxGetDevice)))

    @property
    def is_green(self) -> bool:
        """False: it has all of the device."""
        return False

    def create_stream(self, options: StreamOptions | Mapping[str, Any] | None = None) -> Stream:
        """A new stream in this context."""
        from ..streams.stream import Stream

        context = int(self._handle)
        return with_context(context, Stream._new, context, options)

    def close(self) -> None:
        """Let go of the context; closing it again does nothing. RuntimeError if it is the current one."""
        if not self.is_closed and self._handle == checked.cuCtxGetCurrent():
            raise RuntimeError(
                f"{self!r} is the current context: make another one current before you close it"
            )
        super().close()

    def __eq__(self, other: object) -> bool:
        return self.handle == other.handle if isinstance(other, Context) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.handle)

    def __repr__(self) -> str:
        return "<Context, closed>" if self.is_closed else f"<Context {int(self._handle):#x}>"


def primary(device_id: int) -> Context:
    """The primary context of a device, retained for good. Source: cuDevicePrimaryCtxRetain."""
    if device_id not in primaries:
        cell = _retained.setdefault(device_id, CUcontext())
        if not cell.value:
            owning.cuDevicePrimaryCtxRetain(cell, device_id)
        retained_contexts.add(cell.value)
        primaries[device_id] = Context(cell)
    return primaries[device_id]


def context_of(device_id: int = 0) -> int:
    """The current context; without one, as where a pickle is read first of all, that of the device."""
    initialise()
    return int(checked.cuCtxGetCurrent()) or int(primary(max(device_id, 0))._handle)
