"""Texture references, which came before texture objects: what a program sets, and asks for again.

No compiler of CUDA 12 or later makes kernels that use them, so no module has any.
"""

from __future__ import annotations

from typing import Any

from ..._types.driver.enums import CUaddress_mode, CUarray_format, CUfilter_mode
from ..addresses import Pointer
from ..handles import Object, find
from ..library import provides
from ..memory.allocations import check_range
from ..refused import invalid
from ..streams.operations import needed
from .array import MipmappedArray, element_size, find_array

ALIGNMENT = 512  # bytes, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT
PITCH_ALIGNMENT = 32  # bytes, CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT
OVERRIDE_FORMAT = 1  # CU_TRSA_OVERRIDE_FORMAT


class TextureReference(Object):
    """A texture reference; it is bound to an address, an array or a mipmapped array, or to nothing."""

    noun = "texture reference"

    def __init__(self) -> None:
        super().__init__()
        self.bound: tuple[str, int] = ("", 0)
        self.format = int(CUarray_format.CU_AD_FORMAT_UNSIGNED_INT8), 1
        self.address_modes = [int(CUaddress_mode.CU_TR_ADDRESS_MODE_WRAP)] * 3
        self.filter = self.level_filter = int(CUfilter_mode.CU_TR_FILTER_MODE_POINT)
        self.level_bias = 0.0
        self.level_clamp = 0.0, 0.0
        self.anisotropy = 1
        self.border = [0.0] * 4
        self.flags = 0

    def what(self, kind: str) -> int:
        """What it is bound to, which must be of this kind. Raises Refused."""
        if self.bound[0] != kind:
            raise invalid(f"the texture reference is bound to no {kind}")
        return self.bound[1]


def _reference(handle: int) -> TextureReference:
    return find(handle, TextureReference, "CUDA_ERROR_INVALID_VALUE")


def _one_of(value: int, cls: Any) -> int:
    if not any(value == known for known in cls):
        raise invalid(f"{value} is no {cls.__name__}")
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
    _reference(hTexRef).forget()


@provides("driver")
def cuTexRefSetArray(hTexRef: int, hArray: int, Flags: int) -> None:
    reference, shape = _reference(hTexRef), find_array(hArray).shape
    if Flags != OVERRIDE_FORMAT:
        raise invalid("Flags must be CU_TRSA_OVERRIDE_FORMAT")
    reference.bound = "array", hArray
    reference.format = int(shape.Format), shape.NumChannels


@provides("driver")
def cuTexRefGetArray(hTexRef: int) -> int:
    return _reference(hTexRef).what("array")


@provides("driver")
def cuTexRefSetMipmappedArray(hTexRef: int, hMipmappedArray: int, Flags: int) -> None:
    reference, shape = _reference(hTexRef), find(hMipmappedArray, MipmappedArray).shape
    if Flags != OVERRIDE_FORMAT:
        raise invalid("Flags must be CU_TRSA_OVERRIDE_FORMAT")
    reference.bound = "mipmapped array", hMipmappedArray
    reference.format = int(shape.Format), shape.NumChannels


@provides("driver")
def cuTexRefGetMipmappedArray(hTexRef: int) -> int:
    return _reference(hTexRef).what("mipmapped array")


@provides("driver")
def cuTexRefSetAddress_v2(hTexRef: int, dptr: int, numbytes: int) -> int:
    reference = _reference(hTexRef)
    if not dptr:
        reference.bound = "", 0
        return 0
    check_range(dptr, numbytes)
    offset = dptr % ALIGNMENT
    reference.bound = "address", dptr - offset
    return offset


@provides("driver", "cuTexRefSetAddress2D_v3", "cuTexRefSetAddress2D_v2")
def cuTexRefSetAddress2D_v3(hTexRef: int, desc: Pointer, dptr: int, Pitch: int) -> None:
    reference, shape = _reference(hTexRef), needed(desc, "desc")
    width = shape.Width * element_size(int(shape.Format), shape.NumChannels)
    if dptr % ALIGNMENT or Pitch % PITCH_ALIGNMENT or Pitch < width:
        raise invalid(
            f"{dptr:#x} is no multiple of {ALIGNMENT}, or a pitch of {Pitch} bytes is no multiple of"
            f" {PITCH_ALIGNMENT} or less than {width}"
        )
    check_range(dptr, (shape.Height - 1) * Pitch + width)
    reference.bound = "address", dptr
    reference.format = int(shape.Format), shape.NumChannels


@provides("driver")
def cuTexRefGetAddress_v2(hTexRef: int) -> int:
    return _reference(hTexRef).what("address")


@provides("driver")
def cuTexRefSetFormat(hTexRef: int, fmt: int, NumPackedComponents: int) -> None:
    reference = _reference(hTexRef)
    element_size(fmt, NumPackedComponents)
    reference.format = fmt, NumPackedComponents


@provides("driver")
def cuTexRefGetFormat(hTexRef: int) -> tuple[int, int]:
    return _reference(hTexRef).format


@provides("driver")
def cuTexRefSetAddressMode(hTexRef: int, dim: int, am: int) -> None:
    _reference(hTexRef).address_modes[_dimension(dim)] = _one_of(am, CUaddress_mode)


@provides("driver")
def cuTexRefGetAddressMode(hTexRef: int, dim: int) -> int:
    return _reference(hTexRef).address_modes[_dimension(dim)]


@provides("driver")
def cuTexRefSetFilterMode(hTexRef: int, fm: int) -> None:
    _reference(hTexRef).filter = _one_of(fm, CUfilter_mode)


@provides("driver")
def cuTexRefGetFilterMode(hTexRef: int) -> int:
    return _reference(hTexRef).filter


@provides("driver")
def cuTexRefSetMipmapFilterMode(hTexRef: int, fm: int) -> None:
    _reference(hTexRef).level_filter = _one_of(fm, CUfilter_mode)


@provides("driver")
def cuTexRefGetMipmapFilterMode(hTexRef: int) -> int:
    return _reference(hTexRef).level_filter


@provides("driver")
def cuTexRefSetMipmapLevelBias(hTexRef: int, bias: float) -> None:
    _reference(hTexRef).level_bias = bias


@provides("driver")
def cuTexRefGetMipmapLevelBias(hTexRef: int) -> float:
    return _reference(hTexRef).level_bias


@provides("driver")
def cuTexRefSetMipmapLevelClamp(hTexRef: int, minMipmapLevelClamp: float, maxMipmapLevelClamp: float) -> None:
    _reference(hTexRef).level_clamp = minMipmapLevelClamp, maxMipmapLevelClamp


@provides("driver")
def cuTexRefGetMipmapLevelClamp(hTexRef: int) -> tuple[float, float]:
    return _reference(hTexRef).level_clamp


@provides("driver")
def cuTexRefSetMaxAnisotropy(hTexRef: int, maxAniso: int) -> None:
    _reference(hTexRef).anisotropy = maxAniso


@provides("driver")
def cuTexRefGetMaxAnisotropy(hTexRef: int) -> int:
    return _reference(hTexRef).anisotropy


@provides("driver")
def cuTexRefSetBorderColor(hTexRef: int, pBorderColor: Pointer) -> None:
    reference = _reference(hTexRef)
    needed(pBorderColor, "pBorderColor")
    reference.border = [pBorderColor[i] for i in range(4)]


@provides("driver")
def cuTexRefGetBorderColor(pBorderColor: Pointer, hTexRef: int) -> None:
    border = _reference(hTexRef).border
    needed(pBorderColor, "pBorderColor")
    for i in range(4):
        pBorderColor[i] = border[i]


@provides("driver")
def cuTexRefSetFlags(hTexRef: int, Flags: int) -> None:
    _reference(hTexRef).flags = Flags


@provides("driver")
def cuTexRefGetFlags(hTexRef: int) -> int:
    return _reference(hTexRef).flags
