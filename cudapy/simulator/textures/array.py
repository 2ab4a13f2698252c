"""Arrays: device memory laid out for textures and surfaces."""

from __future__ import annotations

from typing import Any

from ..._types.driver.structs import CUDA_ARRAY3D_DESCRIPTOR, CUDA_ARRAY_DESCRIPTOR
from ..addresses import Pointer
from ..devices.context import current, owner
from ..handles import Object, find
from ..library import provides
from ..memory.allocations import allocate, blocks, release
from ..refused import Refused, invalid, unsupported
from ..streams.capturing import forbid
from ..streams.operations import needed
from .formats import element_size

LAYERED, SURFACE, CUBEMAP, GATHER = 1, 2, 4, 8  # CUDA_ARRAY3D_*
FLAGS = LAYERED | SURFACE | CUBEMAP | GATHER


class Array(Object):
    """An array, or one level of a mipmapped one: rows of `pitch` bytes, `rows` of them in a layer."""

    noun = "array"
    level = 0  # of a copy's parameters

    def __init__(self, shape: CUDA_ARRAY3D_DESCRIPTOR, owner: MipmappedArray | None = None) -> None:
        super().__init__()
        self.context = current().root
        self.shape = shape
        self.owner = owner
        self.element_size = element_size(int(shape.Format), shape.NumChannels)
        self.pitch = shape.Width * self.element_size
        self.rows = max(1, shape.Height)
        self.layers = max(1, shape.Depth)
        self.address = allocate(self.pitch * self.rows * self.layers, "array", self.context)

    def forget(self) -> None:
        super().forget()
        block = blocks.at(self.address)
        if block is not None:
            release(block)


class MipmappedArray(Object):
    """An array with smaller ones of itself."""

    noun = "mipmapped array"

    def __init__(self, shape: CUDA_ARRAY3D_DESCRIPTOR, count: int) -> None:
        super().__init__()
        self.shape = shape
        self.levels = [Array(_level(shape, i), self) for i in range(count)]

    def forget(self) -> None:
        super().forget()
        for level in self.levels:
            level.forget()


def _level(shape: CUDA_ARRAY3D_DESCRIPTOR, level: int) -> CUDA_ARRAY3D_DESCRIPTOR:
    level_shape = CUDA_ARRAY3D_DESCRIPTOR.from_buffer_copy(shape)
    level_shape.Width = max(1, shape.Width >> level)
    level_shape.Height = shape.Height and max(1, shape.Height >> level)
    if not shape.Flags & (LAYERED | CUBEMAP):
        level_shape.Depth = shape.Depth and max(1, shape.Depth >> level)
    return level_shape


def find_array(handle: int) -> Array:
    """The array with this handle. Raises Refused."""
    return find(handle, Array)


def checked(shape: CUDA_ARRAY3D_DESCRIPTOR) -> CUDA_ARRAY3D_DESCRIPTOR:
    """A description of an array, copied. Raises Refused."""
    if shape.Flags & ~FLAGS:
        raise unsupported(f"the simulator has no arrays with the flags {shape.Flags & ~FLAGS:#x}")
    element_size(int(shape.Format), shape.NumChannels)
    if not shape.Width or (shape.Depth and not shape.Height and not shape.Flags & LAYERED):
        raise invalid(f"no array is {shape.Width} x {shape.Height} x {shape.Depth}")
    if shape.Flags & CUBEMAP:
        layered = bool(shape.Flags & LAYERED)
        if shape.Width != shape.Height or (shape.Depth % 6 if layered else shape.Depth != 6):
            raise invalid("a cubemap has square faces, six of them, or six for each layer")
    return CUDA_ARRAY3D_DESCRIPTOR.from_buffer_copy(shape)


@provides("driver")
def cuArrayCreate_v2(pAllocateArray: Pointer) -> int:
    owner()
    forbid()
    flat = needed(pAllocateArray, "pAllocateArray")
    shape = CUDA_ARRAY3D_DESCRIPTOR(
        Width=flat.Width, Height=flat.Height, Format=flat.Format, NumChannels=flat.NumChannels
    )
    return Array(checked(shape)).handle


@provides("driver")
def cuArray3DCreate_v2(pAllocateArray: Pointer) -> int:
    owner()
    forbid()
    return Array(checked(needed(pAllocateArray, "pAllocateArray"))).handle


@provides("driver")
def cuArrayGetDescriptor_v2(hArray: int) -> CUDA_ARRAY_DESCRIPTOR:
    shape = find_array(hArray).shape
    return CUDA_ARRAY_DESCRIPTOR(
        Width=shape.Width, Height=shape.Height, Format=shape.Format, NumChannels=shape.NumChannels
    )


@provides("driver")
def cuArray3DGetDescriptor_v2(hArray: int) -> CUDA_ARRAY3D_DESCRIPTOR:
    return find_array(hArray).shape


@provides("driver")
def cuArrayGetPlane(hArray: int, planeIdx: int) -> int:
    find_array(hArray)
    raise invalid("the array has one plane: it is of no format with more")


@provides("driver")
def cuArrayDestroy(hArray: int) -> None:
    gone = find_array(hArray)
    if gone.owner is not None:
        raise Refused("CUDA_ERROR_INVALID_HANDLE", "a level goes with its mipmapped array")
    forbid()
    gone.context.finish()
    gone.forget()


@provides("driver")
def cuMipmappedArrayCreate(pMipmappedArrayDesc: Pointer, numMipmapLevels: int) -> int:
    owner()
    forbid()
    shape = checked(needed(pMipmappedArrayDesc, "pMipmappedArrayDesc"))
    most = max(shape.Width, shape.Height, 0 if shape.Flags & LAYERED else shape.Depth).bit_length()
    if not numMipmapLevels:
        raise invalid("a mipmapped array has at least one level")
    return MipmappedArray(shape, min(numMipmapLevels, most)).handle


@provides("driver")
def cuMipmappedArrayGetLevel(hMipmappedArray: int, level: int) -> int:
    levels = find(hMipmappedArray, MipmappedArray).levels
    if level >= len(levels):
        raise invalid(f"the mipmapped array has {len(levels)} levels, no number {level}")
    return levels[level].handle


@provides("driver")
def cuMipmappedArrayDestroy(hMipmappedArray: int) -> None:
    gone = find(hMipmappedArray, MipmappedArray)
    forbid()
    gone.levels[0].context.finish()
    gone.forget()


@provides("driver", "cuArrayGetSparseProperties")
def cuArrayGetSparseProperties(array: int) -> Any:
    find_array(array)
    raise invalid("the array is not sparse")
