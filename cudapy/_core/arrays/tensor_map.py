"""Tensor maps: what the device's tensor memory accelerator is told about a tensor in global memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from ...driver import CUdevice_attribute, CUtensorMap, checked
from ..closable import NotCopyable
from ..kernel_argument import KernelArgument
from ..memory.buffer import Buffer
from ..options import accepted
from ..upward import upward
from .layout import StridedLayout
from .tensor_map_options import (
    SIZES,
    TensorMapDataType,
    TensorMapDescriptorOptions,
    TensorMapIm2ColWideMode,
    TensorMapInterleave,
    TensorMapL2Promotion,
    TensorMapOOBFill,
    TensorMapSwizzle,
    data_type_of,
    integers,
    member,
    within,
)

if TYPE_CHECKING:
    from ..device.device import Device
    from .strided import StridedMemoryView

MAX_RANK = 5
MAX_BOX = 256  # elements along an axis, and channels of a pixel
MAX_STEP = 8
MAX_PIXELS = 1024
MAX_STRIDE = 1 << 40  # bytes, exclusively
CORNERS = {3: 1 << 15, 4: 1 << 7, 5: 1 << 4}  # of a box of pixels: from -limit to limit - 1, by rank
_SUPPORTED = CUdevice_attribute.CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED
_SWIZZLED = {
    TensorMapSwizzle.SWIZZLE_32B: 32,
    TensorMapSwizzle.SWIZZLE_64B: 64,
    TensorMapSwizzle.SWIZZLE_128B: 128,
}
_FLOATS = ("FLOAT", "BFLOAT", "TFLOAT")


class Tensor(NamedTuple):
    """A tensor as the driver takes it: the fastest axis first."""

    address: int
    data_type: TensorMapDataType
    extents: list[int]
    strides: list[int]  # bytes, from the second axis on; of one axis a number that the driver wants to see
    steps: list[int]

    @property
    def rank(self) -> int:
        return len(self.extents)


class TensorMapDescriptor(KernelArgument, NotCopyable):
    """A tensor as the tensor memory accelerator sees it: `StridedMemoryView.as_tensor_map` makes one.

    `launch` takes it for a `const __grid_constant__ CUtensorMap` parameter, which is of 128 bytes and aligned
    to 64. It keeps the memory of the tensor. Axes and pixels are in the order of the tensor's shape, the
    fastest one last, and the coordinates in the kernel the other way round. Needs compute capability 9.0.
    """

    __slots__ = ("_bytes", "_kind", "_map", "_tensor", "_view")
    _encoded: ClassVar = ("128s", 128, ("{0}._value()",))
    _bytes: bytes  # those of _map, with the address in _view
    _kind: str
    _map: CUtensorMap
    _tensor: Tensor
    _view: StridedMemoryView

    def __init__(self) -> None:
        raise TypeError("a TensorMapDescriptor comes from view.as_tensor_map() or from_im2col()")

    @classmethod
    def _tiled(cls, view: StridedMemoryView, chosen: TensorMapDescriptorOptions) -> TensorMapDescriptor:
        """A map for copies of boxes."""
        described = _described(view, chosen.element_strides, chosen.data_type, 1, chosen.interleave)
        box = _of_rank(integers(chosen.box_dim, "box_dim"), described.rank, "box_dim")
        for extent in box:
            within(extent, 1, MAX_BOX, "an extent in box_dim")
        how = _how(described, chosen, box[-1], "a row of the box")
        encoded = checked.cuTensorMapEncodeTiled(
            described.data_type,
            described.rank,
            described.address,
            described.extents,
            described.strides,
            box[::-1],
            described.steps,
            *how,
        )
        return cls._of("tiled", encoded, described, view)

    @classmethod
    def from_im2col(
        cls,
        tensor: Any,
        pixel_box_lower_corner: Sequence[int],
        pixel_box_upper_corner: Sequence[int],
        channels_per_pixel: int,
        pixels_per_column: int,
        *,
        element_strides: Sequence[int] | None = None,
        data_type: Any = None,
        interleave: TensorMapInterleave = TensorMapInterleave.NONE,
        swizzle: TensorMapSwizzle = TensorMapSwizzle.NONE,
        l2_promotion: TensorMapL2Promotion = TensorMapL2Promotion.NONE,
        oob_fill: TensorMapOOBFill = TensorMapOOBFill.NONE,
    ) -> TensorMapDescriptor:
        """A map for convolutions: columns of pixels of a tensor of pictures, rows and so on; channels last.

        tensor: a StridedMemoryView of 3 to 5 axes, or an object that one can be made of; nothing is waited
        for. pixel_box_lower_corner, pixel_box_upper_corner: where the box of pixels begins and ends, as
        offsets from the first and from the last pixel, one for each axis but the first and the last.
        channels_per_pixel: 1 to 256. pixels_per_column: 1 to 1024. The others are those of
        TensorMapDescriptorOptions. Source: cuTensorMapEncodeIm2col.
        """
        view = view_of(tensor)
        chosen = _options(element_strides, data_type, interleave, swizzle, l2_promotion, oob_fill)
        described = _described(view, chosen.element_strides, chosen.data_type, 3, chosen.interleave)
        corners = []
        for what, given in (
            ("pixel_box_lower_corner", pixel_box_lower_corner),
            ("pixel_box_upper_corner", pixel_box_upper_corner),
        ):
            corner = _of_rank(integers(given, what), described.rank - 2, what)
            limit = CORNERS[described.rank]
            corners.append([within(offset, -limit, limit - 1, f"an offset in {what}") for offset in corner])
        channels, pixels = _column(channels_per_pixel, pixels_per_column)
        how = _how(described, chosen, channels, "a pixel")
        encoded = checked.cuTensorMapEncodeIm2col(
            described.data_type,
            described.rank,
            described.address,
            described.extents,
            described.strides,
            corners[0][::-1],
            corners[1][::-1],
            channels,
            pixels,
            described.steps,
            *how,
        )
        return cls._of("im2col", encoded, described, view)

    @classmethod
    def from_im2col_wide(
        cls,
        tensor: Any,
        pixel_box_lower_corner_width: int,
        pixel_box_upper_corner_width: int,
        channels_per_pixel: int,
        pixels_per_column: int,
        *,
        element_strides: Sequence[int] | None = None,
        data_type: Any = None,
        interleave: TensorMapInterleave = TensorMapInterleave.NONE,
        mode: TensorMapIm2ColWideMode = TensorMapIm2ColWideMode.W,
        swizzle: TensorMapSwizzle = TensorMapSwizzle.SWIZZLE_128B,
        l2_promotion: TensorMapL2Promotion = TensorMapL2Promotion.NONE,
        oob_fill: TensorMapOOBFill = TensorMapOOBFill.NONE,
    ) -> TensorMapDescriptor:
        """A map for convolutions whose columns go along W, the last axis but one, alone.

        pixel_box_lower_corner_width, pixel_box_upper_corner_width: where the box begins and ends along W.
        mode: how pixels are taken along it. The others are those of `from_im2col`. Needs CUDA 12.8 and
        compute capability 10.0. Source: cuTensorMapEncodeIm2colWide.
        """
        view = view_of(tensor)
        chosen = _options(element_strides, data_type, interleave, swizzle, l2_promotion, oob_fill)
        described = _described(view, chosen.element_strides, chosen.data_type, 3, chosen.interleave)
        lower, upper = integers(
            (pixel_box_lower_corner_width, pixel_box_upper_corner_width),
            "pixel_box_lower_corner_width, pixel_box_upper_corner_width",
        )
        limit = CORNERS[3]
        within(lower, -limit, limit - 1, "pixel_box_lower_corner_width")
        within(upper, -limit, limit - 1, "pixel_box_upper_corner_width")
        channels, pixels = _column(channels_per_pixel, pixels_per_column)
        lying, *how = _how(described, chosen, channels, "a pixel")
        encoded = checked.cuTensorMapEncodeIm2colWide(
            described.data_type,
            described.rank,
            described.address,
            described.extents,
            described.strides,
            lower,
            upper,
            channels,
            pixels,
            described.steps,
            lying,
            member(TensorMapIm2ColWideMode, mode, "mode"),
            *how,
        )
        return cls._of("im2col wide", encoded, described, view)

    @classmethod
    def _of(
        cls, kind: str, encoded: CUtensorMap, described: Tensor, view: StridedMemoryView
    ) -> TensorMapDescriptor:
        descriptor = cls.__new__(cls)
        descriptor._kind, descriptor._tensor = kind, described
        descriptor._map, descriptor._bytes, descriptor._view = encoded, bytes(encoded), view
        return descriptor

    def replace_address(self, tensor: Any) -> None:
        """Describe the same of other memory: that of `tensor`, which has as many bytes or more.

        tensor: a StridedMemoryView, or an object that one can be made of, at a multiple of 16 bytes. Launches
        that were made, and graphs, use the memory of before. Source: cuTensorMapReplaceAddress.
        """
        view = view_of(tensor)
        needed, available = _span(self._view.layout), _span(view.layout)
        if available < needed:
            raise ValueError(f"replace_address: the map needs {needed} bytes, the tensor has {available}")
        _aligned(view.ptr, 16)
        checked.cuTensorMapReplaceAddress(self._map, view.ptr)
        before = bytes(self._map)
        self._bytes, self._view = before, view

    def _value(self) -> bytes:
        """The 128 bytes that a kernel takes. Raises RuntimeError if the Buffer of the tensor is closed."""
        _require_open(self._view)
        return self._bytes

    def _retain(self) -> object:
        buffer = _buffer_of(self._view)
        return self._view, None if buffer is None else buffer._retain()

    @property
    def device(self) -> Device | None:
        """The device that has the tensor; None for page-locked and managed memory, which all devices use."""
        ordinal = _device_of(self._view)
        return None if ordinal is None else upward.device(ordinal)

    def __repr__(self) -> str:
        axes = " x ".join(map(str, self._tensor.extents[::-1]))
        return f"<TensorMapDescriptor, {self._kind}, {axes} {self._tensor.data_type.name}>"


def tiled(
    view: StridedMemoryView, box_dim: Any, options: Any, more: Mapping[str, Any]
) -> TensorMapDescriptor:
    """What `StridedMemoryView.as_tensor_map` makes. more: its other parameters; None: the default."""
    given = {name: value for name, value in more.items() if value is not None}
    if options is None and box_dim is None:
        raise TypeError("as_tensor_map needs a box_dim, or options")
    if options is None:
        options = {"box_dim": box_dim, **given}
    elif box_dim is not None or given:
        raise TypeError("as_tensor_map takes options, or box_dim and the others, not both")
    return TensorMapDescriptor._tiled(view_of(view), accepted(TensorMapDescriptorOptions, options))


def view_of(tensor: Any) -> StridedMemoryView:
    """`tensor` as a view. Raises BufferError, ValueError, RuntimeError for what no device can use now."""
    if isinstance(tensor, Buffer):
        tensor = upward.strided_view.from_buffer(tensor, (tensor._size,), itemsize=1)
    view = tensor if isinstance(tensor, upward.strided_view) else upward.strided_view(tensor, -1)
    _require_open(view)
    if not view.is_device_accessible:
        raise ValueError(f"{view!r} is memory of the host, which no tensor map can describe")
    return view


def _buffer_of(view: StridedMemoryView) -> Buffer | None:
    """The Buffer that a view is of, however it was made; None for arrays of other libraries."""
    return view.exporting_obj if isinstance(view.exporting_obj, Buffer) else None


def _require_open(view: StridedMemoryView) -> None:
    """Raise RuntimeError if the view is of a Buffer that is closed."""
    buffer = _buffer_of(view)
    if buffer is not None:
        buffer._address  # noqa: B018


def _device_of(view: StridedMemoryView) -> int | None:
    from ..._ffi.dlpack import CUDA

    return view.device_id if view.__dlpack_device__()[0] == CUDA else None


def _described(
    view: StridedMemoryView, steps: Any, data_type: Any, least: int, interleave: TensorMapInterleave
) -> Tensor:
    """The tensor of `view`, of at least so many axes. Raises ValueError for what the hardware cannot do."""
    device_id = _device_of(view)
    if device_id is not None and not checked.cuDeviceGetAttribute(_SUPPORTED, device_id):
        raise RuntimeError(f"device {device_id} has no tensor maps: they need compute capability 9.0")
    shape, rank = view.shape, len(view.shape)
    within(rank, least, MAX_RANK, "the number of axes")
    if 0 in shape:
        raise ValueError(f"a tensor of shape {shape} has no elements")
    chosen = data_type_of(view, data_type)
    unit = 32 if interleave is TensorMapInterleave.INTERLEAVE_32B else 16
    _aligned(view.ptr, unit)
    if interleave is not TensorMapInterleave.NONE and rank < 3:
        raise ValueError(f"interleave = {interleave.name} needs 3 axes or more, there are {rank}")
    strides = _strides(view.layout, unit)
    every = (
        (1,) * rank
        if steps is None
        else _of_rank(integers(steps, "element_strides"), rank, "element_strides")
    )
    for step in every:
        within(step, 1, MAX_STEP, "a step in element_strides")
    return Tensor(view.ptr, chosen, list(shape[::-1]), strides[::-1] or [16], list(every[::-1]))


def _strides(layout: StridedLayout, unit: int) -> list[int]:
    """The steps in bytes along all axes but the last, along which elements have to follow each other."""
    *outer, inner = layout._steps
    *extents, last = layout.shape
    if inner != 1 and last > 1:
        raise ValueError(
            "a tensor map needs elements that follow each other along the last axis: "
            f"the strides are {layout._steps}"
        )
    strides: list[int] = []
    dense = -(-last * layout.itemsize // unit) * unit  # of an axis along which nothing steps
    for extent, step in zip(extents, outer, strict=True):
        stride = step * layout.itemsize
        if extent == 1 and (stride < unit or stride % unit):
            stride = dense
        if stride < unit or stride % unit or stride >= MAX_STRIDE:
            raise ValueError(
                f"a tensor map needs strides that are multiples of {unit} bytes, and less than 2**40: "
                f"one is {stride}"
            )
        strides.append(stride)
    return strides


def _how(
    described: Tensor, chosen: TensorMapDescriptorOptions, row: int, what: str
) -> tuple[int, int, int, int]:
    """Interleave, swizzle, promotion and fill for C; `row`: elements of `what`, which is in one piece."""
    size = row * SIZES[described.data_type]
    interleave, swizzle, fill = chosen.interleave, chosen.swizzle, chosen.oob_fill
    if interleave is TensorMapInterleave.NONE and size % 16:
        raise ValueError(f"{what} has {size} bytes, which must be a multiple of 16")
    width = _SWIZZLED.get(swizzle)
    if interleave is TensorMapInterleave.NONE and width is not None and size > width:
        raise ValueError(f"{what} has {size} bytes, more than the {width} of {swizzle.name}")
    if interleave is TensorMapInterleave.INTERLEAVE_32B and swizzle is not TensorMapSwizzle.SWIZZLE_32B:
        raise ValueError(f"interleave = INTERLEAVE_32B needs swizzle = SWIZZLE_32B, not {swizzle.name}")
    if fill is not TensorMapOOBFill.NONE and not described.data_type.name.startswith(_FLOATS):
        raise ValueError(f"oob_fill = {fill.name} is for floats, not for {described.data_type.name}")
    return int(interleave), int(swizzle), int(chosen.l2_promotion), int(fill)


def _options(steps: Any, *rest: Any) -> TensorMapDescriptorOptions:
    return TensorMapDescriptorOptions((), None if steps is None else tuple(steps), *rest)


def _column(channels: Any, pixels: Any) -> tuple[int, int]:
    """The channels of a pixel, and the pixels of a column."""
    of_pixel, of_column = integers((channels, pixels), "channels_per_pixel, pixels_per_column")
    within(of_pixel, 1, MAX_BOX, "channels_per_pixel")
    within(of_column, 1, MAX_PIXELS, "pixels_per_column")
    return of_pixel, of_column


def _of_rank(values: tuple[int, ...], count: int, what: str) -> tuple[int, ...]:
    if len(values) != count:
        raise ValueError(f"{what} must have {count} items, not {len(values)}")
    return values


def _aligned(address: int, unit: int) -> None:
    if address % unit:
        raise ValueError(f"a tensor map needs a tensor at a multiple of {unit} bytes, not at {address:#x}")


def _span(layout: StridedLayout) -> int:
    """The bytes from the first element to the end of the last."""
    low, high = layout.offset_bounds
    return (high - low + 1) * layout.itemsize
