"""Contexts: the driver's state for one device in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._ffi.handles import maker
from ..._ffi.library import SymbolNotFound
from ..._process.resets import in_reset
from ...driver import CU_STREAM_LEGACY, CUcontext, checked
from ..closable import SlotClosable
from ..upward import upward
from .current import current_context, initialise, owning, with_context
from .green import green_contexts, green_owner, kept_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..device.device import Device
    from ..streams.stream import Stream, StreamOptions
    from .resources import DeviceResources

primaries: dict[int, Context] = {}
"""The primary contexts that were retained, by device."""

_null = maker(CUcontext)
_retained: dict[int, CUcontext] = {}
retained_contexts: dict[int, int] = {}
"""Contexts, as numbers, that stay as long as the process, so that what is made in them may be kept; and the
devices that they belong to.
"""
for _contexts in (primaries, _retained, retained_contexts, green_contexts):
    in_reset(_contexts.clear)


class Context(SlotClosable):
    """A context: `Device.context` returns one, `Device.create_context` creates a green one.

    The whole process shares a device's primary context, other libraries included. It stays retained until the
    process ends, even if its Context is closed.

    A green context owns some of the device's multiprocessors, and shares the memory of the primary context.
    It is destroyed once no open Context and no stream, event, buffer or graph created in it is left.
    """

    __slots__ = ("_handle",)

    def __init__(self, handle: CUcontext) -> None:
        self._handle = handle
        self._ownership = None

    @classmethod
    def _of(cls, context: int) -> Context:
        """The context with this number, kept if it is a green one."""
        self = cls(_null())
        self._handle.value = context
        self._ownership = green_owner(context)
        return self

    @property
    def handle(self) -> CUcontext | None:
        """The CUcontext; None once it is closed."""
        try:
            return self._handle
        except RuntimeError:
            return None

    @property
    def device(self) -> Device:
        """The device that it belongs to. Source: cuCtxGetDevice; it is known of a primary context."""
        context = self._handle.value
        ordinal = retained_contexts.get(context)
        if ordinal is None:
            ordinal = int(with_context(context, checked.cuCtxGetDevice))
        return upward.device(ordinal)

    @property
    def is_green(self) -> bool:
        """Whether it is a green context. Source: cuStreamGetCtx_v2 (CUDA 12.5)."""
        context = int(self._handle)
        try:
            _, green = with_context(context, checked.cuStreamGetCtx_v2, CU_STREAM_LEGACY)
        except SymbolNotFound:
            return green_owner(context) is not None
        return bool(green)

    @property
    def resources(self) -> DeviceResources:
        """The device resources that it may use: all of them, except in a green context."""
        from .resources import context_resources

        return context_resources(int(self.device), kept_number(int(self._handle)))

    def create_stream(self, options: StreamOptions | Mapping[str, Any] | None = None) -> Stream:
        """Create a stream, which keeps this context alive. In a green context it must be nonblocking."""
        context = int(self._handle)
        return with_context(context, upward.stream._new, context, options)

    def close(self) -> None:
        """Release the context; closing it again does nothing. Raises RuntimeError if it is current."""
        if not self.is_closed and self._handle.value == current_context():
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
        retained_contexts[cell.value] = device_id
        primaries[device_id] = Context(cell)
    return primaries[device_id]


def context_of(device_id: int = 0) -> int:
    """The current context; without one, as where a pickle is read first of all, that of the device."""
    initialise()
    return current_context() or int(primary(max(device_id, 0))._handle)
