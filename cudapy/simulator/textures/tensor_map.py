"""Tensor maps: what the program says of a tensor, checked and packed for bulk copies.

Source: CUDA Driver API, "Tensor Map Object Management".
"""

import ctypes
from typing import Any, NamedTuple

from ..._types.driver.enums import CUtensorMapDataType as DataType
from ..._types.driver.enums import CUtensorMapFloatOOBfill as Fill
from ..._types.driver.enums import CUtensorMapInterleave as Interleave
from ..._types.driver.enums import CUtensorMapL2promotion as Promotion
from ..._types.driver.enums import CUtensorMapSwizzle as Swizzle
from ..._types.driver.structs import CUtensorMap
from ..addresses import Pointer, pointed
from ..engine import TensorMap
from ..library import provides
from ..refused import invalid, unsupported

_ALIGN = 16  # bytes, of addresses, strides, and rows of boxes
_LONGEST = 1 << 32  # elements of a dimension
_FURTHEST = 1 << 40  # bytes of a stride
_LARGEST_BOX = 256  # elements of a dimension
_LARGEST_STEP = 8
_MOST_PIXELS = 1024
_CORNERS = {3: 1 << 15, 4: 1 << 7, 5: 1 << 4}  # of windows: corners are -limit .. limit - 1, by rank
_SWIZZLES = {
    Swizzle.CU_TENSOR_MAP_SWIZZLE_NONE: 0,
    Swizzle.CU_TENSOR_MAP_SWIZZLE_32B: 32,
    Swizzle.CU_TENSOR_MAP_SWIZZLE_64B: 64,
    Swizzle.CU_TENSOR_MAP_SWIZZLE_128B: 128,
}
_FLOATS = ("f16", "f32", "f64", "bf16")


class _Layout(NamedTuple):
    """What both kinds of maps are told."""

    data_type: int
    rank: int
    address: int | None
    sizes: Any
    strides: Any
    steps: Any
    interleave: int
    swizzle: int
    promotion: int
    fill: int


def _member(enum: Any, value: int) -> Any:
    if value not in list(enum):
        raise invalid(f"{value} is not a {enum.__name__}")
    return enum(value)


def _items(name: str, pointer: Any, count: int) -> tuple[int, ...]:
    """The array behind a pointer, of which ctypes does not see that it is NULL."""
    if not pointer:
        raise invalid(f"{name} is NULL")
    return tuple(pointer[:count])


def _within(name: str, values: tuple[int, ...], low: int, high: int) -> tuple[int, ...]:
    for i, value in enumerate(values):
        if not low <= value <= high:
            raise invalid(f"{name}[{i}] is {value}: it must be {low} .. {high}")
    return values


def _swizzle(told: _Layout) -> int:
    """The bytes of rows that are swizzled; 0 without."""
    interleave, swizzle = _member(Interleave, told.interleave), _member(Swizzle, told.swizzle)
    if interleave != Interleave.CU_TENSOR_MAP_INTERLEAVE_NONE and told.rank < 3:
        raise invalid("interleaved tensors have 3 dimensions or more")
    if interleave == Interleave.CU_TENSOR_MAP_INTERLEAVE_32B and swizzle != Swizzle.CU_TENSOR_MAP_SWIZZLE_32B:
        raise invalid("tensors that are interleaved by 32 bytes need CU_TENSOR_MAP_SWIZZLE_32B")
    if interleave != Interleave.CU_TENSOR_MAP_INTERLEAVE_NONE:
        raise unsupported(f"the simulator has no {interleave.name}")
    if swizzle not in _SWIZZLES:
        raise unsupported(f"the simulator has no {swizzle.name}")
    return _SWIZZLES[swizzle]


def _common(told: _Layout, row: int, what: str, box: tuple[int, ...], **more: Any) -> TensorMap:
    """Check what both kinds have in common, once the rank is known to be right; `row`: elements of `what`."""
    data_type, fill = _member(DataType, told.data_type), _member(Fill, told.fill)
    _member(Promotion, told.promotion)
    width = _swizzle(told)
    if int(data_type) >= len(TensorMap.elements):
        raise unsupported(f"the simulator has no tensors of {data_type.name}")
    kind, size = list(TensorMap.elements.items())[int(data_type)]
    if fill != Fill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE and kind not in _FLOATS:
        raise invalid(f"what is outside of a tensor of {data_type.name} cannot be NaN")
    _check_address(told.address)
    sizes = _within("globalDim", _items("globalDim", told.sizes, told.rank), 1, _LONGEST)
    if not told.strides:
        raise invalid("globalStrides is null, which is refused for rank 1 too")
    strides = tuple(told.strides[: told.rank - 1])
    for i, stride in enumerate(_within("globalStrides", strides, 0, _FURTHEST - 1)):
        if stride % _ALIGN:
            raise invalid(f"globalStrides[{i}] is {stride}: no multiple of {_ALIGN}")
    steps = _within("elementStrides", _items("elementStrides", told.steps, told.rank), 1, _LARGEST_STEP)
    if row * size % _ALIGN:
        raise invalid(f"{what} has {row * size} bytes, no multiple of {_ALIGN}")
    if width and row * size > width:
        raise invalid(f"{what} has {row * size} bytes, more than the {width} of its swizzle")
    return TensorMap(
        kind,
        told.address or 0,
        sizes,
        strides,
        steps,
        box,
        width,
        fill != Fill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
        **more,
    )


def _check_address(address: int | None) -> None:
    if not address or address % _ALIGN:
        raise invalid(f"the address {address or 0:#x} must be a multiple of {_ALIGN}, and not 0")


def _made(tensor: TensorMap) -> CUtensorMap:
    return CUtensorMap.from_buffer_copy(tensor.pack())


@provides("driver")
def cuTensorMapEncodeTiled(
    tensorDataType: int,
    tensorRank: int,
    globalAddress: int | None,
    globalDim: Pointer,
    globalStrides: Pointer,
    boxDim: Pointer,
    elementStrides: Pointer,
    interleave: int,
    swizzle: int,
    l2Promotion: int,
    oobFill: int,
) -> CUtensorMap:
    told = _Layout(
        tensorDataType,
        tensorRank,
        globalAddress,
        globalDim,
        globalStrides,
        elementStrides,
        interleave,
        swizzle,
        l2Promotion,
        oobFill,
    )
    if not 1 <= tensorRank <= 5:
        raise invalid(f"a tensor of rank {tensorRank}: it must be 1 .. 5")
    box = _within("boxDim", _items("boxDim", boxDim, tensorRank), 1, _LARGEST_BOX)
    return _made(_common(told, box[0], "a row of the box", box))


@provides("driver")
def cuTensorMapEncodeIm2col(
    tensorDataType: int,
    tensorRank: int,
    globalAddress: int | None,
    globalDim: Pointer,
    globalStrides: Pointer,
    pixelBoxLowerCorner: Pointer,
    pixelBoxUpperCorner: Pointer,
    channelsPerPixel: int,
    pixelsPerColumn: int,
    elementStrides: Pointer,
    interleave: int,
    swizzle: int,
    l2Promotion: int,
    oobFill: int,
) -> CUtensorMap:
    told = _Layout(
        tensorDataType,
        tensorRank,
        globalAddress,
        globalDim,
        globalStrides,
        elementStrides,
        interleave,
        swizzle,
        l2Promotion,
        oobFill,
    )
    if tensorRank not in _CORNERS:
        raise invalid(f"a tensor of rank {tensorRank}: it must be 3 .. 5")
    limit = _CORNERS[tensorRank]
    lower = _items("pixelBoxLowerCorner", pixelBoxLowerCorner, tensorRank - 2)
    _within("pixelBoxLowerCorner", lower, -limit, limit - 1)
    upper = _items("pixelBoxUpperCorner", pixelBoxUpperCorner, tensorRank - 2)
    _within("pixelBoxUpperCorner", upper, -limit, limit - 1)
    _within("channelsPerPixel", (channelsPerPixel,), 1, _LARGEST_BOX)
    _within("pixelsPerColumn", (pixelsPerColumn,), 1, _MOST_PIXELS)
    for i, (low, high) in enumerate(zip(lower, upper, strict=True)):
        if globalDim[i + 1] + high <= low:
            raise invalid(f"the box of pixels is empty in dimension {i + 1}: {low} .. {high} from its end")
    box = channelsPerPixel, pixelsPerColumn
    return _made(_common(told, channelsPerPixel, "a pixel", box, lower=lower, upper=upper))


@provides("driver")
def cuTensorMapReplaceAddress(tensorMap: Pointer, globalAddress: int | None) -> None:
    data = ctypes.string_at(pointed(tensorMap), ctypes.sizeof(CUtensorMap))
    try:
        old = TensorMap.unpack(data)
    except ValueError as error:
        raise invalid(str(error)) from None
    _check_address(globalAddress)
    tensorMap[0] = _made(TensorMap(**{**vars(old), "address": globalAddress}))
