"""Texture and surface objects: how kernels see arrays and memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..._types.driver.enums import CUfilter_mode, CUresourcetype
from ..._types.driver.structs import CUDA_RESOURCE_DESC, CUDA_RESOURCE_VIEW_DESC, CUDA_TEXTURE_DESC
from ..addresses import Pointer
from ..code.engine_devices import engine_device
from ..devices.context import owner
from ..engine import Surface, Texture
from ..handles import Object, find
from ..library import provides
from ..memory.allocations import check_range
from ..memory.copies import bytes_at
from ..refused import invalid
from ..streams.operations import needed
from .array import CUBEMAP, LAYERED, Array, MipmappedArray, find_array
from .formats import channel, element_size

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..._types.runtime.structs import cudaResourceDesc, cudaResourceViewDesc, cudaTextureDesc
    from ..devices.context import Context
    from ..engine import Device as Engine

READ_AS_INTEGER, NORMALIZED, SRGB = 1, 2, 16  # CU_TRSF_*
LINEAR = int(CUfilter_mode.CU_TR_FILTER_MODE_LINEAR)


class TextureObject(Object):
    """A texture object and what it was made from."""

    noun = "texture object"
    told: tuple[cudaResourceDesc, cudaTextureDesc] | None = None  # what the Runtime API made it of

    def __init__(
        self,
        resource: CUDA_RESOURCE_DESC,
        rules: CUDA_TEXTURE_DESC,
        view: CUDA_RESOURCE_VIEW_DESC | cudaResourceViewDesc | None,
    ) -> None:
        super().__init__()
        self.context = owner()
        self.resource = resource
        self.rules = rules
        self.view = view
        engine(self.context).textures[self.handle] = texture(resource, rules, view)

    def forget(self) -> None:
        super().forget()
        del engine(self.context).textures[self.handle]


class SurfaceObject(Object):
    """A surface object and what it was made from."""

    noun = "surface object"
    told: cudaResourceDesc | None = None

    def __init__(self, resource: CUDA_RESOURCE_DESC) -> None:
        super().__init__()
        self.context = owner()
        self.resource = resource
        if resource.resType != CUresourcetype.CU_RESOURCE_TYPE_ARRAY:
            raise invalid("a surface is an array")
        engine(self.context).surfaces[self.handle] = surface(int(resource.res.array.hArray))

    def forget(self) -> None:
        super().forget()
        del engine(self.context).surfaces[self.handle]


def engine(context: Context) -> Engine:
    """The device that kernels of a context run on."""
    return engine_device(context.device)


def memory_view(
    address: int, dtype: str, layers: int, rows: int, width: int, channels: int, pitch: int = 0
) -> NDArray[Any]:
    """Memory as an array of (layers, rows, width, channels); rows begin every `pitch` bytes."""
    item = int(dtype[1])
    line = pitch or width * channels * item
    size = (layers * rows - 1) * line + width * channels * item
    flat = bytes_at(address, size)
    shape = (layers, rows, width, channels)
    strides = (rows * line, line, channels * item, item)
    return np.ndarray(shape, dtype, flat, strides=strides)


def _of_array(array: Array) -> NDArray[Any]:
    shape = array.shape
    return memory_view(
        array.address, channel(int(shape.Format)), array.layers, array.rows, shape.Width, shape.NumChannels
    )


def _kind(array: Array) -> tuple[int, bool, bool]:
    """The dimensions of an array, and whether it has layers or is a cubemap."""
    flags = array.shape.Flags
    layered, cubemap = bool(flags & LAYERED), bool(flags & CUBEMAP)
    if array.shape.Depth and not layered and not cubemap:
        return 3, False, False
    return 2 if array.shape.Height else 1, layered, cubemap


def surface(handle: int) -> Surface:
    """An array, as surface instructions access it. Raises Refused."""
    array = find_array(handle)
    data = memory_view(array.address, "u1", array.layers, array.rows, array.shape.Width, array.element_size)
    return Surface(data, *_kind(array))


def texture(
    resource: CUDA_RESOURCE_DESC,
    rules: CUDA_TEXTURE_DESC,
    view: CUDA_RESOURCE_VIEW_DESC | cudaResourceViewDesc | None,
) -> Texture:
    """A resource, as texture instructions access it. Raises Refused."""
    kind = int(resource.resType)
    if kind == CUresourcetype.CU_RESOURCE_TYPE_ARRAY:
        levels = [find_array(int(resource.res.array.hArray))]
    elif kind == CUresourcetype.CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        levels = find(int(resource.res.mipmap.hMipmappedArray), MipmappedArray).levels
        if view is not None and (view.firstMipmapLevel or view.lastMipmapLevel):
            levels = levels[view.firstMipmapLevel : view.lastMipmapLevel + 1]
    elif kind == CUresourcetype.CU_RESOURCE_TYPE_LINEAR:
        return Texture(_line(resource.res.linear), 1, is_linear=True, **sampling(rules))
    elif kind == CUresourcetype.CU_RESOURCE_TYPE_PITCH2D:
        return Texture(_plane(resource.res.pitch2D), 2, **sampling(rules))
    else:
        raise invalid(f"{kind} is not a CUresourcetype")
    data, *others = map(_of_array, levels)
    dimensions, is_layered, is_cubemap = _kind(levels[0])
    return Texture(
        data,
        dimensions,
        is_layered=is_layered,
        is_cubemap=is_cubemap,
        levels=tuple(others),
        **sampling(rules),
    )


def _line(line: Any) -> Any:
    """The elements of linear memory. Raises Refused."""
    count = line.sizeInBytes // element_size(int(line.format), line.numChannels)
    check_range(int(line.devPtr), line.sizeInBytes)
    return memory_view(int(line.devPtr), channel(int(line.format)), 1, 1, count, line.numChannels)


def _plane(plane: Any) -> Any:
    """The elements of rows in memory. Raises Refused."""
    width = plane.width * element_size(int(plane.format), plane.numChannels)
    if plane.pitchInBytes % 32 or plane.pitchInBytes < width:
        raise invalid(
            f"a pitch of {plane.pitchInBytes} bytes is not a multiple of 32, or less than the width"
        )
    check_range(int(plane.devPtr), (plane.height - 1) * plane.pitchInBytes + width)
    return memory_view(
        int(plane.devPtr),
        channel(int(plane.format)),
        1,
        plane.height,
        plane.width,
        plane.numChannels,
        plane.pitchInBytes,
    )


def sampling(rules: CUDA_TEXTURE_DESC) -> dict[str, Any]:
    """How a texture is sampled: what `Texture` has of it."""
    return {
        "address_modes": tuple(int(mode) for mode in rules.addressMode),
        "has_linear_filter": rules.filterMode == LINEAR,
        "is_normalized": bool(rules.flags & NORMALIZED),
        "reads_integers": bool(rules.flags & READ_AS_INTEGER),
        "is_srgb": bool(rules.flags & SRGB),
        "border": tuple(rules.borderColor),
        "level_bias": rules.mipmapLevelBias,
        "level_clamp": (rules.minMipmapLevelClamp, rules.maxMipmapLevelClamp),
        "has_linear_levels": rules.mipmapFilterMode == LINEAR,
    }


@provides("driver")
def cuTexObjectCreate(pResDesc: Pointer, pTexDesc: Pointer, pResViewDesc: Pointer) -> int:
    owner()
    resource = CUDA_RESOURCE_DESC.from_buffer_copy(needed(pResDesc, "pResDesc"))
    rules = CUDA_TEXTURE_DESC.from_buffer_copy(needed(pTexDesc, "pTexDesc"))
    view = CUDA_RESOURCE_VIEW_DESC.from_buffer_copy(pResViewDesc[0]) if pResViewDesc else None
    return TextureObject(resource, rules, view).handle


@provides("driver")
def cuTexObjectDestroy(texObject: int) -> None:
    gone = _texture_object(texObject)
    gone.context.finish()
    gone.forget()


def _texture_object(handle: int) -> TextureObject:
    return find(handle, TextureObject, "CUDA_ERROR_INVALID_VALUE")


@provides("driver")
def cuTexObjectGetResourceDesc(texObject: int) -> CUDA_RESOURCE_DESC:
    return _texture_object(texObject).resource


@provides("driver")
def cuTexObjectGetTextureDesc(texObject: int) -> CUDA_TEXTURE_DESC:
    return _texture_object(texObject).rules


@provides("driver")
def cuTexObjectGetResourceViewDesc(texObject: int) -> Any:
    view = _texture_object(texObject).view
    if view is None:
        raise invalid("the texture object was made without a view")
    return view


@provides("driver")
def cuSurfObjectCreate(pResDesc: Pointer) -> int:
    owner()
    return SurfaceObject(CUDA_RESOURCE_DESC.from_buffer_copy(needed(pResDesc, "pResDesc"))).handle


@provides("driver")
def cuSurfObjectDestroy(surfObject: int) -> None:
    gone = find(surfObject, SurfaceObject, "CUDA_ERROR_INVALID_VALUE")
    gone.context.finish()
    gone.forget()


@provides("driver")
def cuSurfObjectGetResourceDesc(surfObject: int) -> CUDA_RESOURCE_DESC:
    return find(surfObject, SurfaceObject, "CUDA_ERROR_INVALID_VALUE").resource
