"""Texture and surface references, which came before texture and surface objects: variables of modules.

PTX declares them (`.texref`, `.surfref`), and drivers of CUDA 13 have them still, but no compiler of CUDA 12
or later makes any. Kernels have the address of such a variable for a handle.
"""

from __future__ import annotations

import contextlib
import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._types.driver.enums import CUaddress_mode, CUarray_format, CUfilter_mode, CUresourcetype
from ..._types.driver.structs import CUDA_ARRAY3D_DESCRIPTOR, CUDA_RESOURCE_DESC, CUDA_TEXTURE_DESC
from ..addresses import Pointer
from ..code.module import Module, references
from ..engine import Surface, Texture
from ..handles import Object, find
from ..library import provides
from ..memory.allocations import check_range
from ..refused import Refused, invalid, unsupported
from ..streams.operations import needed
from .array import MipmappedArray, find_array
from .formats import element_size
from .texture import engine, sampling, surface, texture

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..devices.context import Context

ALIGNMENT = 512  # bytes, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT
PITCH_ALIGNMENT = 32  # bytes, CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT
OVERRIDE_FORMAT = 1  # CU_TRSA_OVERRIDE_FORMAT
LOAD_STORE = 2  # CUDA_ARRAY3D_SURFACE_LDST
NOTHING = np.zeros((0, 0, 0, 1), np.uint8)
"""What kernels see of a reference that nothing is bound to."""
ARRAY, MIPMAPPED, LINEAR, PITCHED = (
    CUresourcetype.CU_RESOURCE_TYPE_ARRAY,
    CUresourcetype.CU_RESOURCE_TYPE_MIPMAPPED_ARRAY,
    CUresourcetype.CU_RESOURCE_TYPE_LINEAR,
    CUresourcetype.CU_RESOURCE_TYPE_PITCH2D,
)


class TextureReference(Object):
    """A texture reference; it is bound to memory, an array or a mipmapped array, or to nothing."""

    noun = "texture reference"

    def __init__(self, context: Context | None = None, address: int = 0) -> None:
        super().__init__()
        self.context = context
        """The context of its module; None: `cuTexRefCreate` made it, and no kernel can use it."""
        self.address = address
        self.resource: CUDA_RESOURCE_DESC | None = None
        self.format = int(CUarray_format.CU_AD_FORMAT_FLOAT), 1
        self.address_modes = [int(CUaddress_mode.CU_TR_ADDRESS_MODE_CLAMP)] * 3
        self.filter = self.level_filter = int(CUfilter_mode.CU_TR_FILTER_MODE_POINT)
        self.level_bias = 0.0
        self.level_clamp = 0.0, 0.0
        self.anisotropy = 0
        self.border = [0.0] * 4
        self.flags = 0
        self.rebind()

    def bind(self, kind: CUresourcetype) -> Any:
        """Bind it to a resource, whose description, still empty, is returned."""
        self.resource = CUDA_RESOURCE_DESC(resType=kind)
        return self.resource.res

    def bind_array(self, kind: CUresourcetype, shape: CUDA_ARRAY3D_DESCRIPTOR, flags: int) -> Any:
        """Bind an array, whose format it takes if flags say so. Raises Refused."""
        if flags & ~OVERRIDE_FORMAT:
            raise invalid("Flags is 0 or CU_TRSA_OVERRIDE_FORMAT")
        format_ = int(shape.Format), shape.NumChannels
        if not flags and format_ != self.format:
            raise unsupported("the simulator reads no array in the format of another one")
        self.format = format_
        return self.bind(kind)

    def bound(self, *kinds: CUresourcetype) -> CUDA_RESOURCE_DESC:
        """What it is bound to, which must be of one of these kinds. Raises Refused."""
        if self.resource is None or self.resource.resType not in kinds:
            raise invalid("the texture reference is bound to nothing of this kind")
        return self.resource

    def rebind(self) -> None:
        """Have kernels access what it is bound to now. Raises Refused."""
        resource = self.resource
        if resource is not None and resource.resType == LINEAR:
            memory = resource.res.linear
            memory.format, memory.numChannels = CUarray_format(self.format[0]), self.format[1]
        if resource is None or _is_empty(resource):
            self._texture = Texture(NOTHING, 1)
        else:
            self._texture = texture(resource, CUDA_TEXTURE_DESC(), None)
        self.show()

    def show(self) -> None:
        """Have the kernels that are launched from now on sample as it says now."""
        if self.context is None:
            return
        self.context.finish()
        least, most = self.level_clamp
        rules = CUDA_TEXTURE_DESC(
            addressMode=self.address_modes,
            filterMode=self.filter,
            flags=self.flags,
            maxAnisotropy=self.anisotropy,
            mipmapFilterMode=self.level_filter,
            mipmapLevelBias=self.level_bias,
            minMipmapLevelClamp=least,
            maxMipmapLevelClamp=most,
            borderColor=self.border,
        )
        engine(self.context).textures[self.address] = dataclasses.replace(self._texture, **sampling(rules))

    def forget(self) -> None:
        super().forget()
        if self.context is not None:
            del engine(self.context).textures[self.address]


class SurfaceReference(Object):
    """A surface reference of a module; it is bound to an array or to nothing."""

    noun = "surface reference"

    def __init__(self, context: Context, address: int) -> None:
        super().__init__()
        self.context, self.address = context, address
        self.array = 0
        engine(context).surfaces[address] = Surface(NOTHING, 1)

    def bind(self, array: int) -> None:
        """Raises Refused."""
        if not find_array(array).shape.Flags & LOAD_STORE:
            raise invalid("the array was made without CUDA_ARRAY3D_SURFACE_LDST")
        self.context.finish()
        engine(self.context).surfaces[self.address] = surface(array)
        self.array = array

    def forget(self) -> None:
        super().forget()
        del engine(self.context).surfaces[self.address]


references.update({"texture": TextureReference, "surface": SurfaceReference})


@provides("driver")
def cuModuleGetTexRef(hmod: int, name: bytes | None) -> int:
    return find(hmod, Module).reference(name, TextureReference)


@provides("driver")
def cuModuleGetSurfRef(hmod: int, name: bytes | None) -> int:
    return find(hmod, Module).reference(name, SurfaceReference)


def _is_empty(resource: CUDA_RESOURCE_DESC) -> bool:
    """Whether it is memory without elements."""
    if resource.resType == LINEAR:
        return not resource.res.linear.sizeInBytes
    plane = resource.res.pitch2D
    return resource.resType == PITCHED and not (plane.width and plane.height)


def _reference(handle: int) -> TextureReference:
    return find(handle, TextureReference, "CUDA_ERROR_INVALID_VALUE")


@contextlib.contextmanager
def _changed(handle: int) -> Iterator[TextureReference]:
    """A texture reference that is to sample in another way."""
    reference = _reference(handle)
    yield reference
    reference.show()


@contextlib.contextmanager
def _rebound(handle: int) -> Iterator[TextureReference]:
    """A texture reference that is bound in between. What cannot be bound leaves it as it was."""
    reference = _reference(handle)
    before = reference.resource, reference.format
    yield reference
    try:
        reference.rebind()
    except Refused:
        reference.resource, reference.format = before
        raise


def _one_of(value: int, cls: Any) -> int:
    if not any(value == known for known in cls):
        raise invalid(f"{value} is not a {cls.__name__}")
    return value


def _dimension(dim: int) -> int:
    if not 0 <= dim < 3:
        raise invalid(f"dimensions are 0, 1 and 2, not {dim}")
    return dim


@provides("driver")
def cuTexRefCreate() -> int:
    return TextureReference().handle


@provides("driver")
def cuTexRefDestroy(hTexRef: int) -> None:
    reference = _reference(hTexRef)
    if reference.context is None:  # a module keeps its own
        reference.forget()


@provides("driver")
def cuTexRefSetArray(hTexRef: int, hArray: int, Flags: int) -> None:
    shape = find_array(hArray).shape
    with _rebound(hTexRef) as reference:
        reference.bind_array(ARRAY, shape, Flags).array.hArray = hArray


@provides("driver")
def cuTexRefGetArray(hTexRef: int) -> int:
    return int(_reference(hTexRef).bound(ARRAY).res.array.hArray)


@provides("driver")
def cuTexRefSetMipmappedArray(hTexRef: int, hMipmappedArray: int, Flags: int) -> None:
    shape = find(hMipmappedArray, MipmappedArray).shape
    with _rebound(hTexRef) as reference:
        reference.bind_array(MIPMAPPED, shape, Flags).mipmap.hMipmappedArray = hMipmappedArray


@provides("driver")
def cuTexRefGetMipmappedArray(hTexRef: int) -> int:
    return int(_reference(hTexRef).bound(MIPMAPPED).res.mipmap.hMipmappedArray)


@provides("driver")
def cuTexRefSetAddress_v2(hTexRef: int, dptr: int, numbytes: int) -> int:
    if not dptr:
        with _rebound(hTexRef) as reference:
            reference.bind(LINEAR)  # of no bytes
        return 0
    check_range(dptr, numbytes)
    offset = dptr % ALIGNMENT
    with _rebound(hTexRef) as reference:
        memory = reference.bind(LINEAR).linear
        memory.devPtr, memory.sizeInBytes = dptr - offset, numbytes + offset
    return offset


@provides("driver", "cuTexRefSetAddress2D_v3", "cuTexRefSetAddress2D_v2")
def cuTexRefSetAddress2D_v3(hTexRef: int, desc: Pointer, dptr: int, Pitch: int) -> None:
    shape = needed(desc, "desc")
    width = shape.Width * element_size(int(shape.Format), shape.NumChannels)
    if dptr % ALIGNMENT or Pitch % PITCH_ALIGNMENT or Pitch < width:
        raise invalid(
            f"{dptr:#x} is not a multiple of {ALIGNMENT}, or a pitch of {Pitch} bytes is not a multiple of"
            f" {PITCH_ALIGNMENT} or less than {width}"
        )
    if width and shape.Height:
        check_range(dptr, (shape.Height - 1) * Pitch + width)
    with _rebound(hTexRef) as reference:
        plane = reference.bind(PITCHED).pitch2D
        plane.devPtr, plane.pitchInBytes = dptr, Pitch
        plane.width, plane.height = shape.Width, shape.Height
        plane.format, plane.numChannels = reference.format = int(shape.Format), shape.NumChannels


@provides("driver")
def cuTexRefGetAddress_v2(hTexRef: int) -> int:
    resource = _reference(hTexRef).bound(LINEAR, PITCHED)
    memory = resource.res.linear if resource.resType == LINEAR else resource.res.pitch2D
    return int(memory.devPtr)


@provides("driver")
def cuTexRefSetFormat(hTexRef: int, fmt: int, NumPackedComponents: int) -> None:
    element_size(fmt, NumPackedComponents)
    reference = _reference(hTexRef)
    if reference.resource is not None and reference.resource.resType == LINEAR:
        with _rebound(hTexRef):
            reference.format = fmt, NumPackedComponents
    else:
        reference.format = fmt, NumPackedComponents


@provides("driver")
def cuTexRefGetFormat(hTexRef: int) -> tuple[int, int]:
    return _reference(hTexRef).format


@provides("driver")
def cuTexRefSetAddressMode(hTexRef: int, dim: int, am: int) -> None:
    with _changed(hTexRef) as reference:
        reference.address_modes[_dimension(dim)] = _one_of(am, CUaddress_mode)


@provides("driver")
def cuTexRefGetAddressMode(hTexRef: int, dim: int) -> int:
    return _reference(hTexRef).address_modes[_dimension(dim)]


@provides("driver")
def cuTexRefSetFilterMode(hTexRef: int, fm: int) -> None:
    with _changed(hTexRef) as reference:
        reference.filter = _one_of(fm, CUfilter_mode)


@provides("driver")
def cuTexRefGetFilterMode(hTexRef: int) -> int:
    return _reference(hTexRef).filter


@provides("driver")
def cuTexRefSetMipmapFilterMode(hTexRef: int, fm: int) -> None:
    with _changed(hTexRef) as reference:
        reference.level_filter = _one_of(fm, CUfilter_mode)


@provides("driver")
def cuTexRefGetMipmapFilterMode(hTexRef: int) -> int:
    return _reference(hTexRef).level_filter


@provides("driver")
def cuTexRefSetMipmapLevelBias(hTexRef: int, bias: float) -> None:
    with _changed(hTexRef) as reference:
        reference.level_bias = bias


@provides("driver")
def cuTexRefGetMipmapLevelBias(hTexRef: int) -> float:
    return _reference(hTexRef).level_bias


@provides("driver")
def cuTexRefSetMipmapLevelClamp(hTexRef: int, minMipmapLevelClamp: float, maxMipmapLevelClamp: float) -> None:
    with _changed(hTexRef) as reference:
        reference.level_clamp = minMipmapLevelClamp, maxMipmapLevelClamp


@provides("driver")
def cuTexRefGetMipmapLevelClamp(hTexRef: int) -> tuple[float, float]:
    return _reference(hTexRef).level_clamp


@provides("driver")
def cuTexRefSetMaxAnisotropy(hTexRef: int, maxAniso: int) -> None:
    with _changed(hTexRef) as reference:
        reference.anisotropy = maxAniso


@provides("driver")
def cuTexRefGetMaxAnisotropy(hTexRef: int) -> int:
    return _reference(hTexRef).anisotropy


@provides("driver")
def cuTexRefSetBorderColor(hTexRef: int, pBorderColor: Pointer) -> None:
    needed(pBorderColor, "pBorderColor")
    with _changed(hTexRef) as reference:
        reference.border = [pBorderColor[i] for i in range(4)]


@provides("driver")
def cuTexRefGetBorderColor(pBorderColor: Pointer, hTexRef: int) -> None:
    border = _reference(hTexRef).border
    needed(pBorderColor, "pBorderColor")
    for i in range(4):
        pBorderColor[i] = border[i]


@provides("driver")
def cuTexRefSetFlags(hTexRef: int, Flags: int) -> None:
    with _changed(hTexRef) as reference:
        reference.flags = Flags


@provides("driver")
def cuTexRefGetFlags(hTexRef: int) -> int:
    return _reference(hTexRef).flags


# -- Surface references ------------------------------------------------------------------------------------


def _surface(handle: int) -> SurfaceReference:
    return find(handle, SurfaceReference, "CUDA_ERROR_INVALID_VALUE")


@provides("driver")
def cuSurfRefSetArray(hSurfRef: int, hArray: int, Flags: int) -> None:
    reference = _surface(hSurfRef)
    if Flags:
        raise invalid(f"Flags must be 0, not {Flags}")
    reference.bind(hArray)


@provides("driver")
def cuSurfRefGetArray(hSurfRef: int) -> int:
    reference = _surface(hSurfRef)
    if not reference.array:
        raise invalid("the surface reference is bound to no array")
    return reference.array
