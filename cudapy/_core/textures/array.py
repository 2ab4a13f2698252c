"""Arrays in the layout of textures: copied to and from, never addressed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..._ffi.buffers import start_of
from ...driver import CUDA_MEMCPY3D, CUarray, CUdeviceptr, CUmemorytype, checked
from ..closable import Closable
from ..context.current import RelaxedCaptureMode, owning, with_context
from ..context.green import kept_number
from ..memory.array_protocols import host_bytes
from ..memory.buffer import Buffer
from ..options import accepted, known_names
from ..ownership.deferred import deferred
from ..ownership.keep_alive import keep_alive_for_graph, keep_alive_for_work
from ..ownership.owned import Ownership
from ..streams.order import queue
from ..streams.stream import Stream
from .choices import ArrayFormatType
from .elements import Shape, shape_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..device.device import Device
    from ..streams.stream import IsStreamType


@known_names
@dataclass
class OpaqueArrayOptions:
    """What `Device.create_opaque_array` makes.

    shape: (width,), (width, height) or (width, height, depth), in elements. format: of a channel, as an
    ArrayFormatType, its text or a NumPy dtype. num_channels: of an element, 1, 2 or 4. is_surface_load_store:
    whether kernels may write it, through a SurfaceObject. Raises TypeError and ValueError for others.
    """

    shape: tuple[int, ...]
    format: Any
    num_channels: int
    is_surface_load_store: bool = False

    def __post_init__(self) -> None:
        self.shape, (self.format, self.num_channels), self.is_surface_load_store = shape_of(self)


class OpaqueArray(Closable):
    """Device memory in an order that the device chose, for textures and surfaces: `create_opaque_array`.

    Kernels use it through a TextureObject or a SurfaceObject, and `copy_from` and `copy_to` are the way of
    the host: it has no address, so no other library sees it. Given back with its last reference or by
    `close`, once no object uses it that was made of it, and the work that the device has is done.
    Source: cuArray3DCreate, cuArrayDestroy.
    """

    __slots__ = ("_device_id", "_handle", "_mipmapped_array", "_shape")
    _device_id: int
    _handle: CUarray
    _mipmapped_array: object  # what owns a level of it, kept alive
    _shape: Shape

    def __init__(self) -> None:
        raise TypeError("an OpaqueArray comes from dev.create_opaque_array() or get_level()")

    @classmethod
    def _of(cls, handle: CUarray, device_id: int, shape: Shape, ownership: Ownership | None) -> OpaqueArray:
        array = cls.__new__(cls)
        array._handle, array._device_id, array._shape = handle, device_id, shape
        array._ownership, array._mipmapped_array = ownership, None
        return array

    @classmethod
    def _new(cls, context: int, options: OpaqueArrayOptions | Mapping[str, Any]) -> OpaqueArray:
        """A new array in `context`, which is current."""
        shape = shape_of(accepted(OpaqueArrayOptions, options))
        deferred.drain()
        handle = CUarray()
        ownership = Ownership(destroy_in_context, handle, kept_number(context), owning.cuArrayDestroy)
        owning.cuArray3DCreate(handle, shape.descriptor())
        return cls._of(handle, int(checked.cuCtxGetDevice()), shape, ownership)

    def close(self) -> None:
        """Give the array back, unless an object that was made of it uses it; closing again does nothing."""
        super().close()
        self._mipmapped_array = None

    def _retain(self) -> object:
        """What keeps the memory: its own owner, or that of all levels."""
        self._handle  # noqa: B018  # raises what a closed array has to say
        if self._ownership is None:
            return self._mipmapped_array
        self._ownership.share()
        return self._ownership

    def copy_from(self, src: Any, *, stream: Stream | IsStreamType | None = None) -> None:
        """Copy the whole array from `src` in `stream`.

        src: a Buffer or a contiguous host array (numpy, bytes) of at least `size_bytes` bytes, of which the
        first are copied; rows of `shape[0]` elements follow each other, then slices of `shape[1]` rows. It is
        kept alive until the copy is done. Source: cuMemcpy3DAsync.
        """
        call = self._call()
        call.dstArray = self._handle
        call.dstMemoryType = CUmemorytype.CU_MEMORYTYPE_ARRAY
        call.srcPitch, call.srcHeight = call.WidthInBytes, call.Height
        if isinstance(src, Buffer):
            call.srcDevice = CUdeviceptr(src._address)
            self._check_size(src._size, "copy_from: src")
            call.srcMemoryType = CUmemorytype.CU_MEMORYTYPE_UNIFIED
        else:
            host = host_bytes(src, "copy_from: src")
            self._check_size(host.nbytes, "copy_from: src")
            call.srcHost = start_of(host, True, "copy_from: src")
            call.srcMemoryType = CUmemorytype.CU_MEMORYTYPE_HOST
        self._enqueue(call, Stream._accept(stream), src)

    def copy_to(self, dst: Any, *, stream: Stream | IsStreamType | None = None) -> Any:
        """Copy the whole array into `dst` in `stream`, and return `dst`.

        dst: a Buffer or a writable, contiguous host array of at least `size_bytes` bytes, of which the first
        are written, in the order that `copy_from` has. A host array may be read after `stream.sync()`.
        Source: cuMemcpy3DAsync.
        """
        call = self._call()
        call.srcArray = self._handle
        call.srcMemoryType = CUmemorytype.CU_MEMORYTYPE_ARRAY
        call.dstPitch, call.dstHeight = call.WidthInBytes, call.Height
        if isinstance(dst, Buffer):
            call.dstDevice = CUdeviceptr(dst._address)
            self._check_size(dst._size, "copy_to: dst")
            call.dstMemoryType = CUmemorytype.CU_MEMORYTYPE_UNIFIED
        else:
            host = host_bytes(dst, "copy_to: dst")
            self._check_size(host.nbytes, "copy_to: dst")
            call.dstHost = start_of(host, False, "copy_to: dst")
            call.dstMemoryType = CUmemorytype.CU_MEMORYTYPE_HOST
        self._enqueue(call, Stream._accept(stream), dst)
        return dst

    def _call(self) -> CUDA_MEMCPY3D:
        """A copy of all of it, whose sides are yet to be named."""
        width, height, depth = (*self._shape.extents, 1, 1)[:3]
        return CUDA_MEMCPY3D(WidthInBytes=width * self.element_bytes, Height=height, Depth=depth)

    def _check_size(self, size: int, what: str) -> None:
        if size < self.size_bytes:
            raise ValueError(f"{what} has {size} bytes, the array has {self.size_bytes}")

    def _enqueue(self, call: CUDA_MEMCPY3D, stream: Stream, other: object) -> None:
        queue(stream, checked.cuMemcpy3DAsync, call)
        if stream._owner is None or not keep_alive_for_graph(stream._owner, self, other):
            keep_alive_for_work(stream, self._retain(), other)  # though it is closed in the meantime

    # -- what it is -------------------------------------------------------------------------------

    @property
    def handle(self) -> int:
        """The CUarray; 0 once it is closed."""
        return 0 if self.is_closed else self._handle.value

    @property
    def shape(self) -> tuple[int, ...]:
        """(width,), (width, height) or (width, height, depth), in elements."""
        return self._shape.extents

    @property
    def format(self) -> ArrayFormatType:
        """The type of a channel."""
        return self._shape.elements.format

    @property
    def num_channels(self) -> int:
        """The channels of an element."""
        return self._shape.elements.num_channels

    @property
    def element_bytes(self) -> int:
        """The bytes of an element."""
        return self._shape.elements.size

    @property
    def size_bytes(self) -> int:
        """The bytes of all elements."""
        return self._shape.size

    @property
    def is_surface_load_store(self) -> bool:
        """Whether kernels may write it, through a SurfaceObject."""
        return self._shape.is_surface_load_store

    @property
    def device(self) -> Device:
        """The device that has it."""
        from ..device.device import Device

        return Device(self._device_id)

    def __repr__(self) -> str:
        state = ", closed" if self.is_closed else ""
        return f"<OpaqueArray, {self._shape}{state}>"


def destroy_in_context(cell: Any, context: int, destroy: Callable[[Any], object]) -> None:
    """Destroy what `cell` has in the context that it was made in, without harm to a capture under way."""
    with_context(context, _destroy, destroy, cell)


def _destroy(destroy: Callable[[Any], object], cell: Any) -> None:
    with RelaxedCaptureMode():
        destroy(cell)
