"""Arrays of any library, by where their elements are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from ..._ffi import dlpack as dl
from ..._ffi.dlpack_table import Exchange, exchange_table
from ..._ffi.shown import type_name
from ..memory.array_protocols import device_of, export_device
from ..memory.buffer import Buffer
from ..memory.dlpack import capsule
from ..streams.stream import Stream
from ..upward import upward
from . import element_types, foreign_arrays
from .layout import StridedLayout
from .strided_copy import copy

if TYPE_CHECKING:
    import numpy

    from ..memory.resource import MemoryResource
    from ..streams.stream import IsStreamType
    from .tensor_map import TensorMapDescriptor
    from .tensor_map_options import (
        TensorMapDescriptorOptions,
        TensorMapInterleave,
        TensorMapL2Promotion,
        TensorMapOOBFill,
        TensorMapSwizzle,
    )


class StridedMemoryView:
    """An array of another library, or a Buffer, as address, shape, strides and type of its elements.

    Made by the `from_...` constructors; `StridedMemoryView(obj, stream_ptr)` is `from_any_interface`. It
    keeps the array alive.

    stream_ptr: the address of the stream that will use the memory; the array's own work so far is waited for
    in it. -1: nothing is waited for, which is up to the caller then.
    """

    __dlpack_c_exchange_api__: ClassVar[object]
    """DLPack's table of C functions, by which libraries in C take views and make them."""
    __c_dlpack_exchange_api__: ClassVar[object]
    """The table by its first name."""
    ptr: int = 0
    """The address of the first element."""
    device_id: int = 0
    """The ordinal of the device that has the memory, or can use it.

    For memory of the host alone it is -1, and 0 from `__array_interface__`, as in cuda.core.
    """
    is_device_accessible: bool = False
    """Whether kernels can access it."""
    readonly: bool = False
    """Whether it is not to be changed."""
    exporting_obj: Any = None
    """The array or Buffer that it is of."""
    _layout: StridedLayout = StridedLayout((), (), 1)
    _element: element_types.Element | None = None
    _dtype: Any = None
    _kept: object = None  # what holds the memory: the DLPack capsule, the dictionary of an array interface
    _dlpack_device: tuple[int, int] | None = None  # the device that DLPack stated
    _axes: tuple[StridedLayout, Any] | None = None  # shape and strides as int64, of this layout
    _buffer: Buffer | None = None

    def __init__(self, obj: object = None, stream_ptr: int | None = None) -> None:
        if obj is not None:
            foreign_arrays.from_any(self, obj, stream_ptr)

    @classmethod
    def from_dlpack(cls, obj: object, stream_ptr: int | None = None) -> StridedMemoryView:
        """A view of what has `__dlpack__` and `__dlpack_device__`."""
        return foreign_arrays.from_dlpack(cls(), obj, stream_ptr)

    @classmethod
    def from_cuda_array_interface(cls, obj: object, stream_ptr: int | None = None) -> StridedMemoryView:
        """A view of what has `__cuda_array_interface__`.

        Versions before 3 do not say what to wait for: the object's DLPack is used then. Raises BufferError
        for such a version without DLPack, and for what the protocol does not allow.
        """
        return foreign_arrays.from_cuda_array_interface(cls(), obj, stream_ptr)

    @classmethod
    def from_array_interface(cls, obj: object) -> StridedMemoryView:
        """A view of host memory: of what has `__array_interface__`, as NumPy's arrays and scalars do.

        That of a scalar is read-only. Raises BufferError for what the protocol does not allow.
        """
        return foreign_arrays.from_interface(cls(), obj)

    @classmethod
    def from_any_interface(cls, obj: object, stream_ptr: int | None = None) -> StridedMemoryView:
        """A view by DLPack; else by `__cuda_array_interface__`, else by `__array_interface__`.

        Raises BufferError for what has none of them.
        """
        return foreign_arrays.from_any(cls(), obj, stream_ptr)

    @classmethod
    def from_buffer(
        cls,
        buffer: Buffer,
        shape: Sequence[int] | StridedLayout,
        strides: Sequence[int] | None = None,
        *,
        itemsize: int | None = None,
        dtype: Any = None,
        is_readonly: bool = False,
    ) -> StridedMemoryView:
        """A view of a Buffer. Nothing is waited for.

        shape: that of the array, or a layout. strides: counted in elements; None: C order. itemsize: bytes of
        an element, if there is no dtype. Raises ValueError for what the buffer is too small for.
        """
        if not isinstance(buffer, Buffer):
            raise TypeError(f"from_buffer() takes a Buffer, not {type_name(buffer)}")
        if dtype is not None:
            import numpy

            dtype = numpy.dtype(dtype)
        if isinstance(shape, StridedLayout):
            layout = shape
        else:
            size = itemsize if itemsize is not None else getattr(dtype, "itemsize", None)
            if size is None:
                raise ValueError("from_buffer needs a dtype or an itemsize")
            layout = StridedLayout(shape, strides, size)
        if dtype is not None and dtype.itemsize != layout.itemsize:
            raise ValueError(
                f"elements of {layout.itemsize} bytes cannot be {dtype}, which has {dtype.itemsize}"
            )
        needed = layout.required_size_in_bytes()
        if needed > buffer._size:
            raise ValueError(f"the array needs {needed} bytes, the Buffer has {buffer._size}")
        view = cls()
        view.exporting_obj = view._buffer = buffer
        view.ptr = buffer._address + layout.slice_offset_in_bytes
        view.device_id, view.is_device_accessible = buffer.device_id, buffer.is_device_accessible
        view.readonly, view._layout, view._dtype = is_readonly, layout, dtype
        view._element = None if dtype is None else element_types.of(dtype)
        return view

    def view(self, layout: StridedLayout | None = None, dtype: Any = None) -> StridedMemoryView:
        """The same memory with another layout, another type of elements, or both."""
        view = type(self)()
        view.__dict__.update(self.__dict__)
        if dtype is not None:
            import numpy

            view._dtype = numpy.dtype(dtype)
            view._element = element_types.of(view._dtype)
            if layout is None and view._dtype.itemsize != self._layout.itemsize:
                layout = self._layout.repacked(view._dtype.itemsize, self.ptr)
        if layout is None:
            return view
        if not isinstance(layout, StridedLayout):
            raise TypeError(f"view() takes a layout such as view.layout[...], not {type_name(layout)}")
        if dtype is None and self._element is not None and layout.itemsize != self._layout.itemsize:
            raise ValueError(f"elements of {layout.itemsize} bytes need a dtype other than {self.dtype}")
        if view._dtype is not None and view._dtype.itemsize != layout.itemsize:
            raise ValueError(f"elements of {layout.itemsize} bytes cannot be {view._dtype}")
        start = self.ptr - self._layout.slice_offset_in_bytes
        had, has = self._span(self._layout), self._span(layout)
        if self._buffer is not None:
            had = (0, self._buffer._size)
        if layout.volume and (has[0] < had[0] or has[1] > had[1]):
            raise ValueError(f"{layout} reaches outside of the memory of {self!r}")
        view._layout, view.ptr = layout, start + layout.slice_offset_in_bytes
        return view

    def as_tensor_map(
        self,
        box_dim: Sequence[int] | None = None,
        *,
        options: TensorMapDescriptorOptions | Mapping[str, Any] | None = None,
        element_strides: Sequence[int] | None = None,
        data_type: Any = None,
        interleave: TensorMapInterleave | None = None,
        swizzle: TensorMapSwizzle | None = None,
        l2_promotion: TensorMapL2Promotion | None = None,
        oob_fill: TensorMapOOBFill | None = None,
    ) -> TensorMapDescriptor:
        """A tensor map, by which kernels copy boxes of `box_dim` elements to and from shared memory.

        Give the parameters, which TensorMapDescriptorOptions explains, or `options` with all of them. The
        elements follow each other along the last axis; along the others they are a multiple of 16 bytes
        apart, and the array begins at one. Raises ValueError for what the hardware cannot do, RuntimeError on
        a device below compute capability 9.0. Source: cuTensorMapEncodeTiled.
        """
        from .tensor_map import tiled

        more = {
            "element_strides": element_strides,
            "data_type": data_type,
            "interleave": interleave,
            "swizzle": swizzle,
            "l2_promotion": l2_promotion,
            "oob_fill": oob_fill,
        }
        return tiled(self, box_dim, options, more)

    @staticmethod
    def _span(layout: StridedLayout) -> tuple[int, int]:
        low, high = layout.offset_bounds
        return low * layout.itemsize, (high + 1) * layout.itemsize

    # -- copies -----------------------------------------------------------------------------------

    def copy_from(
        self,
        other: StridedMemoryView,
        stream: Stream | IsStreamType | None,
        allocator: MemoryResource | None = None,
        blocking: bool | None = None,
    ) -> None:
        """Copy the elements of `other`, of the same shape and type, in `stream`; layouts may differ.

        allocator: where device memory for an intermediate copy comes from; none is needed, so it is not used.
        blocking: whether to wait for the end; None: if one of the two is memory of the host alone.
        Source: cuMemcpyAsync, cuMemcpy3DAsync.
        """
        copy(self, other, Stream._accept(stream), blocking)

    def copy_to(
        self,
        other: StridedMemoryView,
        stream: Stream | IsStreamType | None = None,
        allocator: MemoryResource | None = None,
        blocking: bool | None = None,
    ) -> None:
        """Copy the elements to `other`: `other.copy_from(self, ...)`."""
        other.copy_from(self, stream, allocator, blocking)

    # -- what it is -------------------------------------------------------------------------------

    @property
    def size(self) -> int:
        """How many elements there are."""
        return self._layout.volume

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of the axes."""
        return self._layout.shape

    @property
    def strides(self) -> tuple[int, ...] | None:
        """The steps along the axes, counted in elements; None: C order."""
        return self._layout.strides

    @property
    def layout(self) -> StridedLayout:
        """Shape, strides and size of the elements."""
        return self._layout

    @property
    def dtype(self) -> numpy.dtype[Any] | None:
        """The type of the elements; None if that is not known.

        Raises NotImplementedError for bfloat16 and its like without the package ml_dtypes.
        """
        if self._dtype is None and self._element is not None:
            self._dtype = element_types.dtype(self._element)
        return self._dtype  # type: ignore[no-any-return]

    def _known_dtype(self) -> numpy.dtype[Any] | None:
        """`dtype`, and None for what NumPy has no name for."""
        try:
            return self.dtype
        except NotImplementedError:
            return None

    def __dlpack_device__(self) -> tuple[int, int]:
        if self._buffer is not None:
            return device_of(self._buffer)
        if self._dlpack_device is not None:
            return self._dlpack_device
        return (dl.CUDA, self.device_id) if self.is_device_accessible else (dl.CPU, 0)

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        owner: object = self
        if self._buffer is not None:
            device = export_device(self._buffer, stream, dl_device, copy)
            owner = self, self._buffer._held()
        else:
            device = self.__dlpack_device__()
            if copy or (dl_device is not None and tuple(dl_device) != device):
                raise BufferError(f"{self!r} is exported as it is: on device {device} of DLPack")
        return capsule(owner, self._described(device), max_version)

    def _described(self, device: tuple[int, int]) -> dl.Described:
        if self._element is None:
            raise BufferError("an array without a dtype cannot be exported: give it one with view(dtype=...)")
        return dl.Described(self.ptr, *device, self.shape, self._layout._steps, *self._element, self.readonly)

    def __repr__(self) -> str:
        what = self._known_dtype() or self._element
        where = f"device {self.device_id}" if self.is_device_accessible else "the host"
        return f"<StridedMemoryView {self.ptr:#x} on {where}, shape {self.shape}, {what}>"


upward.strided_view = StridedMemoryView


def _export(view: StridedMemoryView) -> Any:
    stream = -1 if view.__dlpack_device__()[0] == dl.CUDA else None  # no order is made
    return view.__dlpack__(stream=stream, max_version=dl.VERSION)


def _borrow(view: StridedMemoryView) -> tuple[dl.Described, Any]:
    said, axes = view._described(view.__dlpack_device__()), view._axes
    if axes is None or axes[0] is not view._layout:
        view._axes = axes = view._layout, dl.int64s((*said.shape, *view._layout._steps))
    return said, axes[1]


def _import(address: int) -> StridedMemoryView:
    return foreign_arrays.from_tensor(StridedMemoryView(), address)


_table = exchange_table(StridedMemoryView, Exchange(_export, _borrow, _import))
StridedMemoryView.__dlpack_c_exchange_api__ = _table
StridedMemoryView.__c_dlpack_exchange_api__ = _table
