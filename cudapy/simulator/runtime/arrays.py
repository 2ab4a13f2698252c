"""The Runtime API's arrays, textures and surfaces, whose channels are described by their bits."""

from typing import Any, TypeVar

from ..._types.driver.enums import CUarray_format as Format
from ..._types.driver.handles import CUarray, CUmipmappedArray
from ..._types.driver.structs import CUDA_ARRAY3D_DESCRIPTOR, CUDA_RESOURCE_DESC, CUDA_TEXTURE_DESC
from ..._types.runtime.structs import (
    cudaChannelFormatDesc,
    cudaExtent,
    cudaResourceDesc,
    cudaResourceViewDesc,
    cudaTextureDesc,
)
from ..addresses import Pointer
from ..devices.context import current
from ..devices.device import device as find_device
from ..handles import find
from ..library import provides
from ..refused import invalid, unsupported
from ..streams.operations import needed
from ..textures.array import Array, MipmappedArray, checked, find_array
from ..textures.formats import element_size
from ..textures.texture import NORMALIZED, READ_AS_INTEGER, SRGB, SurfaceObject, TextureObject

T = TypeVar("T")

SIGNED, UNSIGNED, FLOAT = range(3)  # cudaChannelFormatKind
FORMATS = {
    (8, SIGNED): Format.CU_AD_FORMAT_SIGNED_INT8,
    (16, SIGNED): Format.CU_AD_FORMAT_SIGNED_INT16,
    (32, SIGNED): Format.CU_AD_FORMAT_SIGNED_INT32,
    (8, UNSIGNED): Format.CU_AD_FORMAT_UNSIGNED_INT8,
    (16, UNSIGNED): Format.CU_AD_FORMAT_UNSIGNED_INT16,
    (32, UNSIGNED): Format.CU_AD_FORMAT_UNSIGNED_INT32,
    (16, FLOAT): Format.CU_AD_FORMAT_HALF,
    (32, FLOAT): Format.CU_AD_FORMAT_FLOAT,
}
BITS = {int(value): key for key, value in FORMATS.items()}
GATHER = 8  # cudaArrayTextureGather


def channels(desc: cudaChannelFormatDesc) -> tuple[Format, int]:
    """The format and the number of the channels. Raises Refused."""
    bits = [b for b in (desc.x, desc.y, desc.z, desc.w) if b]
    kind = FORMATS.get((desc.x, int(desc.f)))
    if kind is None or len(set(bits)) != 1:
        raise invalid(f"channels of {desc.x}, {desc.y}, {desc.z}, {desc.w} bits of kind {int(desc.f)}")
    return kind, len(bits)


def described(shape: CUDA_ARRAY3D_DESCRIPTOR) -> cudaChannelFormatDesc:
    """The channels of an array's format: the inverse of `channels`."""
    bits, kind = BITS[int(shape.Format)]
    return cudaChannelFormatDesc(
        **{name: bits for name, _ in zip("xyzw", range(shape.NumChannels), strict=False)}, f=kind
    )


def _shape(desc: Pointer, width: int, height: int, depth: int, flags: int) -> CUDA_ARRAY3D_DESCRIPTOR:
    kind, count = channels(needed(desc, "desc"))
    shape = CUDA_ARRAY3D_DESCRIPTOR(
        Width=width, Height=height, Depth=depth, Format=kind, NumChannels=count, Flags=flags
    )
    return checked(shape)


@provides("runtime")
def cudaMallocArray(desc: Pointer, width: int, height: int, flags: int) -> int:
    return Array(_shape(desc, width, height, 0, flags)).handle


@provides("runtime")
def cudaMalloc3DArray(desc: Pointer, extent: cudaExtent, flags: int) -> int:
    return Array(_shape(desc, extent.width, extent.height, extent.depth, flags)).handle


@provides("runtime")
def cudaMallocMipmappedArray(desc: Pointer, extent: cudaExtent, numLevels: int, flags: int) -> int:
    shape = _shape(desc, extent.width, extent.height, extent.depth, flags)
    most = max(shape.Width, shape.Height, shape.Depth).bit_length()
    return MipmappedArray(shape, max(1, min(numLevels, most))).handle


@provides("runtime")
def cudaArrayGetInfo(array: int) -> tuple[cudaChannelFormatDesc, cudaExtent, int]:
    shape = find_array(array).shape
    extent = cudaExtent(width=shape.Width, height=shape.Height, depth=shape.Depth)
    return described(shape), extent, shape.Flags


@provides("runtime")
def cudaGetChannelDesc(array: int) -> cudaChannelFormatDesc:
    return described(find_array(array).shape)


@provides("runtime")
def cudaCreateChannelDesc(x: int, y: int, z: int, w: int, f: int) -> cudaChannelFormatDesc:
    return cudaChannelFormatDesc(x=x, y=y, z=z, w=w, f=f)


@provides("runtime")
def cudaDeviceGetTexture1DLinearMaxWidth(fmtDesc: Pointer, device: int) -> int:
    kind, count = channels(needed(fmtDesc, "fmtDesc"))
    return (1 << 28) // element_size(int(kind), count) if find_device(device) else 0


def _resource(desc: cudaResourceDesc) -> CUDA_RESOURCE_DESC:
    params = CUDA_RESOURCE_DESC(resType=int(desc.resType))
    if desc.resType == 0:
        params.res.array.hArray = CUarray(int(desc.res.array.array))
    elif desc.resType == 1:
        params.res.mipmap.hMipmappedArray = CUmipmappedArray(int(desc.res.mipmap.mipmap))
    elif desc.resType == 2:
        line, to = desc.res.linear, params.res.linear
        to.devPtr, to.sizeInBytes = line.devPtr, line.sizeInBytes
        to.format, to.numChannels = channels(line.desc)
    elif desc.resType == 3:
        plane, pitched = desc.res.pitch2D, params.res.pitch2D
        pitched.devPtr, pitched.width, pitched.height = plane.devPtr, plane.width, plane.height
        pitched.pitchInBytes = plane.pitchInBytes
        pitched.format, pitched.numChannels = channels(plane.desc)
    else:
        raise invalid(f"{int(desc.resType)} is not a cudaResourceType")
    return params


def _rules(desc: cudaTextureDesc) -> CUDA_TEXTURE_DESC:
    flags = (NORMALIZED if desc.normalizedCoords else 0) | (SRGB if desc.sRGB else 0)
    if desc.readMode == 0:  # cudaReadModeElementType
        flags |= READ_AS_INTEGER
    return CUDA_TEXTURE_DESC(
        addressMode=[int(mode) for mode in desc.addressMode],
        filterMode=int(desc.filterMode),
        flags=flags,
        maxAnisotropy=desc.maxAnisotropy,
        mipmapFilterMode=int(desc.mipmapFilterMode),
        mipmapLevelBias=desc.mipmapLevelBias,
        minMipmapLevelClamp=desc.minMipmapLevelClamp,
        maxMipmapLevelClamp=desc.maxMipmapLevelClamp,
        borderColor=list(desc.borderColor),
    )


@provides("runtime")
def cudaCreateTextureObject(pResDesc: Pointer, pTexDesc: Pointer, pResViewDesc: Pointer) -> int:
    current()
    resource, rules = needed(pResDesc, "pResDesc"), needed(pTexDesc, "pTexDesc")
    view = cudaResourceViewDesc.from_buffer_copy(pResViewDesc[0]) if pResViewDesc else None
    texture = TextureObject(_resource(resource), _rules(rules), view)
    texture.told = cudaResourceDesc.from_buffer_copy(resource), cudaTextureDesc.from_buffer_copy(rules)
    return texture.handle


def _texture(handle: int) -> TextureObject:
    return find(handle, TextureObject, "CUDA_ERROR_INVALID_VALUE")


def _told(what: T | None) -> T:
    if what is None:
        raise unsupported("the object was made by a function of the driver, which alone describes it")
    return what


@provides("runtime")
def cudaGetTextureObjectResourceDesc(texObject: int) -> cudaResourceDesc:
    return _told(_texture(texObject).told)[0]


@provides("runtime")
def cudaGetTextureObjectTextureDesc(texObject: int) -> cudaTextureDesc:
    return _told(_texture(texObject).told)[1]


@provides("runtime")
def cudaGetTextureObjectResourceViewDesc(texObject: int) -> Any:
    view = _texture(texObject).view
    if view is None:
        raise invalid("the texture object was made without a view")
    return view


@provides("runtime")
def cudaCreateSurfaceObject(pResDesc: Pointer) -> int:
    current()
    resource = needed(pResDesc, "pResDesc")
    surface = SurfaceObject(_resource(resource))
    surface.told = cudaResourceDesc.from_buffer_copy(resource)
    return surface.handle


@provides("runtime")
def cudaGetSurfaceObjectResourceDesc(surfObject: int) -> cudaResourceDesc:
    return _told(find(surfObject, SurfaceObject, "CUDA_ERROR_INVALID_VALUE").told)
