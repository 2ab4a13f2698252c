"""Arrays in the layout of textures: copied to and from, never addressed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..._ffi.buffers import start_of
from ...driver import CUDA_MEMCPY3D, CUarray, CUdeviceptr, CUmemorytype, checked
from ..context.current import RelaxedCaptureMode, owning, with_context
from ..context.green import kept_number
from ..memory.buffer import Buffer
from ..memory.host_arrays import host_bytes
from ..options import accepted, known_names
from ..ownership.deferred import deferred
from ..ownership.keep_alive import keep_alive_for_graph, keep_alive_for_work
from ..ownership.owned import Ownership
from ..streams.order import queue
from ..streams.stream import Stream
from .element_array import ElementArray
from .elements import Shape, shape_of

if TYPE_CHECKING:
    from collections.abc import Callable

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


class OpaqueArray(ElementArray):
    """Device memory in an order that the device chose, for textures and surfaces: `create_opaque_array`.

    Kernels use it through a TextureObject or a SurfaceObject, and `copy_from` and `copy_to` are the way of
    the host: it has no address, so no other library sees it. Given back with its last reference or by
    `close`, once no object uses it that was made of it, and the work that the device has is done.
    Source: cuArray3DCreate, cuArrayDestroy.
    """

    __slots__ = ("_mipmapped_array",)
    _handle: CUarray
    _mipmapped_array: object  # what owns a level of it, kept alive

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
        self._ownership.mark_shared()
        return self._ownership

    def copy_from(self, src: Any, *, stream: Stream | IsStreamType | None = None) -> None:
        """Copy the whole array from `src` in `stream`.

        src: a Buffer or a contiguous host array (numpy, bytes) of at least `size_bytes` bytes, of which the
        first are copied; rows of `shape[0]` elements follow each other, then slices of `shape[1]` rows. It is
        kept alive until the copy is done. Source: cuMemcpy3DAsync.
        """
        self._copy(src, Stream._accept(stream), to_array=True)

    def copy_to(self, dst: Any, *, stream: Stream | IsStreamType | None = None) -> Any:
        """Copy the whole array into `dst` in `stream`, and return `dst`.

        dst: a Buffer or a writable, contiguous host array of at least `size_bytes` bytes, of which the first
        are written, in the order that `copy_from` has. A host array may be read after `stream.sync()`.
        Source: cuMemcpy3DAsync.
        """
        self._copy(dst, Stream._accept(stream), to_array=False)
        return dst

    def _copy(self, other: Any, stream: Stream, to_array: bool) -> None:
        """Copy all of it from or to `other`, which is linear memory."""
        array, linear, what = ("dst", "src", "copy_from: src") if to_array else ("src", "dst", "copy_to: dst")
        width, height, depth = (*self._shape.extents, 1, 1)[:3]
        row = width * self.element_bytes
        fields: dict[str, Any] = {
            f"{array}Array": self._handle,
            f"{array}MemoryType": CUmemorytype.CU_MEMORYTYPE_ARRAY,
            f"{linear}Pitch": row,
            f"{linear}Height": height,
        }
        if isinstance(other, Buffer):
            fields[f"{linear}Device"] = CUdeviceptr(other._address)
            self._check_size(other._size, what)
            fields[f"{linear}MemoryType"] = CUmemorytype.CU_MEMORYTYPE_UNIFIED
        else:
            host = host_bytes(other, what)
            self._check_size(host.nbytes, what)
            fields[f"{linear}Host"] = start_of(host, to_array, what)
            fields[f"{linear}MemoryType"] = CUmemorytype.CU_MEMORYTYPE_HOST
        call = CUDA_MEMCPY3D(WidthInBytes=row, Height=height, Depth=depth, **fields)
        queue(stream, checked.cuMemcpy3DAsync, call)
        if stream._owner is None or not keep_alive_for_graph(stream._owner, self, other):
            keep_alive_for_work(stream, self._retain(), other)  # though it is closed in the meantime

    def _check_size(self, size: int, what: str) -> None:
        if size < self.size_bytes:
            raise ValueError(f"{what} has {size} bytes, the array has {self.size_bytes}")

    # -- what it is -------------------------------------------------------------------------------

    @property
    def element_bytes(self) -> int:
        """The bytes of an element."""
        return self._shape.elements.size

    @property
    def size_bytes(self) -> int:
        """The bytes of all elements."""
        return self._shape.size

    def __repr__(self) -> str:
        state = ", closed" if self.is_closed else ""
        return f"<OpaqueArray, {self._shape}{state}>"


def destroy_in_context(cell: Any, context: int, destroy: Callable[[Any], object]) -> None:
    """Destroy what `cell` has in the context that it was made in, without harm to a capture under way."""
    with_context(context, _destroy, destroy, cell)


def _destroy(destroy: Callable[[Any], object], cell: Any) -> None:
    with RelaxedCaptureMode():
        destroy(cell)
