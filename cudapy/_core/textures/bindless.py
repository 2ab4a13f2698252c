"""What kernels take by its handle: texture and surface objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ... import driver
from ..._bindings.errors import CUDAError
from ...driver import CUresult, checked
from ..closable import SlotClosable
from ..context.current import RelaxedCaptureMode, with_context
from ..context.green import kept_number
from ..kernel_argument import KernelArgument
from ..ownership.captures import is_capturing, too_early
from ..ownership.deferred import deferred
from ..ownership.graph_references import is_builder
from ..ownership.owned import Ownership
from ..streams.event import Event
from ..streams.stream import DEFAULT_ADDRESSES, Stream
from ..upward import upward
from .resource import ResourceDescriptor

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..device.device import Device
    from ..streams.stream import IsStreamType

MANY = 8
"""How many streams an object notes before it looks for those whose work has ended."""
_NOT_READY = CUresult.CUDA_ERROR_NOT_READY


class BindlessObject(KernelArgument, SlotClosable):
    """Base of TextureObject and SurfaceObject: made of a ResourceDescriptor, whose memory it keeps.

    It is destroyed once the launches that it was given to have ended: CUDA does not say that it would wait.
    """

    __slots__ = ("_device_id", "_handle", "_resource", "_used_in")
    _encoded: ClassVar = ("Q", 8, ("{0}._handle.value",))
    _is_noted: ClassVar = True
    _device_id: int
    _handle: Any
    _resource: ResourceDescriptor | None  # None: it is closed
    _used_in: dict[int, Stream | Event]  # the streams of launches that it was given to, by their handles

    def _own(
        self, context: int, handle: Any, destroy: Callable[[Any], object], resource: ResourceDescriptor
    ) -> None:
        """Own what is going to be made in `handle`, of the memory of `resource`."""
        deferred.drain()
        source = resource._source
        self._handle, self._resource, self._used_in = handle, resource, {}
        self._device_id = int(checked.cuCtxGetDevice())
        kept, context = (source, source._retain()), kept_number(context)
        self._ownership = Ownership(_destroy_in_context, handle, context, destroy, self._used_in, kept)

    def _launched_in(self, stream: Stream | IsStreamType) -> None:
        """Note that a kernel in `stream` is given it. A GraphBuilder has its graph keep it."""
        if is_builder(stream):
            return
        accepted = Stream._accept(stream)
        is_kept = accepted._ownership is not None or accepted._owner is not None
        if is_kept or accepted._address in DEFAULT_ADDRESSES:  # others may be gone when that is asked for
            if accepted._address not in self._used_in and len(self._used_in) >= MANY:
                _forget_ended(self._used_in)
            self._used_in[accepted._address] = accepted

    def close(self) -> None:
        """Release it, and what it was made of. Using it afterwards is a RuntimeError."""
        super().close()
        self._resource = None

    def _retain(self) -> object:
        self._handle  # noqa: B018  # raises what a closed object has to say
        ownership: Any = self._ownership
        ownership.mark_shared()
        return ownership

    @property
    def handle(self) -> int:
        """What a kernel takes, an integer of 64 bits; 0 once it is closed."""
        return 0 if self.is_closed else int(self._handle.value)

    @property
    def resource(self) -> ResourceDescriptor | None:
        """What it was made of; None once it is closed."""
        return self._resource

    @property
    def device(self) -> Device:
        """The device whose kernels can use it."""
        return upward.device(self._device_id)

    def __repr__(self) -> str:
        name = type(self).__name__
        return f"<{name}, closed>" if self.is_closed else f"<{name} {self.handle:#x} of {self._resource!r}>"


def _forget_ended(used_in: dict[int, Stream | Event]) -> None:
    """Let go of streams that are closed, or that have no work left."""
    with RelaxedCaptureMode():
        for address, user in list(used_in.items()):
            if isinstance(user, Stream) and (user.is_closed or not _is_busy(user)):
                del used_in[address]


def _is_busy(stream: Stream) -> bool:
    """Whether there is work in it; one that captures cannot be asked, and counts as busy."""
    return is_capturing(stream) or driver.cuStreamQuery(stream._handle) == (_NOT_READY,)


def _destroy_in_context(
    cell: Any,
    context: int,
    destroy: Callable[[Any], object],
    used_in: dict[int, Stream | Event],
    kept: object,
) -> None:
    """Destroy what `cell` has. Raises CUDAError while a launch in one of `used_in` has not ended.

    kept: the memory that it reads.
    """
    with_context(context, _destroy, cell, destroy, used_in)


def _destroy(cell: Any, destroy: Callable[[Any], object], used_in: dict[int, Stream | Event]) -> None:
    with RelaxedCaptureMode():
        for address, user in list(used_in.items()):
            if isinstance(user, Stream) and not user.is_closed and _is_busy(user):
                if is_capturing(user):
                    raise too_early("what a kernel uses cannot be destroyed")
                user = used_in[address] = user.record()
            if isinstance(user, Event) and not user.is_done:
                raise CUDAError("a kernel that runs uses it", _NOT_READY)
            del used_in[address]
        destroy(cell)
