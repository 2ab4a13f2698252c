"""Textures: how kernels sample arrays and memory."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from ..._ffi.integers import exact_int
from ..._ffi.shown import shown
from ...driver import (
    CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION,
    CU_TRSF_NORMALIZED_COORDINATES,
    CU_TRSF_READ_AS_INTEGER,
    CU_TRSF_SEAMLESS_CUBEMAP,
    CU_TRSF_SRGB,
    CUDA_TEXTURE_DESC,
    CUaddress_mode,
    CUfilter_mode,
    CUtexObject,
)
from ..context.current import owning
from ..options import Choice, accepted, known_names
from .bindless import BindlessObject
from .choices import AddressModeType, ArrayFormatType, FilterModeType, ReadModeType
from .elements import Elements
from .resource import ResourceDescriptor, required

C = TypeVar("C", bound=Choice)

MAX_ANISOTROPY = 16
_FLOATS = (ArrayFormatType.FLOAT16, ArrayFormatType.FLOAT32)
_PROMOTED = (ArrayFormatType.UINT8, ArrayFormatType.UINT16, ArrayFormatType.INT8, ArrayFormatType.INT16)


@known_names
@dataclass
class TextureObjectOptions:
    """How a texture is sampled. Source: CUDA_TEXTURE_DESC.

    address_mode: what is outside: an AddressModeType or its text, for all axes, or a tuple of 1 to 3, the
    last of which is for the axes that it does not have. filter_mode: what is between elements. read_mode:
    what a kernel gets of integers. normalized_coords: whether coordinates go from 0 to 1 along each axis
    rather than from 0 to the extent. srgb: whether channels of uint8 are made linear as they are read, all
    but the fourth. disable_trilinear_optimization: whether levels are always blended exactly.
    seamless_cubemap: whether a filter goes from face to face of a cubemap. max_anisotropy: 0 to 16.
    mipmap_filter_mode: what is between levels. mipmap_level_bias: is added to the level.
    min_mipmap_level_clamp, max_mipmap_level_clamp: the levels that are used, and 0.0 both: level 0 alone.
    border_color: the four channels of BORDER; None: zeros.
    """

    address_mode: AddressModeType | str | tuple[AddressModeType | str, ...] = AddressModeType.CLAMP
    filter_mode: FilterModeType | str = FilterModeType.POINT
    read_mode: ReadModeType | str = ReadModeType.ELEMENT_TYPE
    normalized_coords: bool = False
    srgb: bool = False
    disable_trilinear_optimization: bool = False
    seamless_cubemap: bool = False
    max_anisotropy: int = 0
    mipmap_filter_mode: FilterModeType | str = FilterModeType.POINT
    mipmap_level_bias: float = 0.0
    min_mipmap_level_clamp: float = 0.0
    max_mipmap_level_clamp: float = 0.0
    border_color: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        self.filter_mode = _choice(FilterModeType, self.filter_mode, "filter_mode")
        self.mipmap_filter_mode = _choice(FilterModeType, self.mipmap_filter_mode, "mipmap_filter_mode")
        self.read_mode = _choice(ReadModeType, self.read_mode, "read_mode")
        self._descriptor()  # what cannot be is an error here

    def _descriptor(self) -> CUDA_TEXTURE_DESC:
        """The options for C, but for what depends on the elements. Raises TypeError and ValueError."""
        flags = 0
        for name, bit in _FLAGS.items():
            value = getattr(self, name)
            if type(value).__name__ not in ("bool", "bool_"):
                raise TypeError(f"{name} must be a bool, not {shown(value)}")
            flags |= bit * bool(value)
        anisotropy = exact_int(self.max_anisotropy, "max_anisotropy")
        if not 0 <= anisotropy <= MAX_ANISOTROPY:
            raise ValueError(f"max_anisotropy must be 0 to {MAX_ANISOTROPY}, not {anisotropy}")
        levels = self.min_mipmap_level_clamp, self.max_mipmap_level_clamp
        if _real(levels[0], "min_mipmap_level_clamp") > _real(levels[1], "max_mipmap_level_clamp"):
            raise ValueError(
                f"min_mipmap_level_clamp = {levels[0]} is above max_mipmap_level_clamp = {levels[1]}"
            )
        return CUDA_TEXTURE_DESC(
            addressMode=[CUaddress_mode[f"CU_TR_ADDRESS_MODE_{mode.name}"] for mode in self._address_modes()],
            filterMode=_cu_filter(self.filter_mode, "filter_mode"),
            flags=flags,
            maxAnisotropy=anisotropy,
            mipmapFilterMode=_cu_filter(self.mipmap_filter_mode, "mipmap_filter_mode"),
            mipmapLevelBias=_real(self.mipmap_level_bias, "mipmap_level_bias"),
            minMipmapLevelClamp=float(levels[0]),
            maxMipmapLevelClamp=float(levels[1]),
            borderColor=self._border(),
        )

    def _address_modes(self) -> list[AddressModeType]:
        """The modes of three axes."""
        given: Any = self.address_mode
        if isinstance(given, str) or not isinstance(given, Sequence):
            given = [given]
        if not 1 <= len(given) <= 3:
            raise ValueError(f"address_mode must be one mode, or 1 to 3 in a tuple, not {len(given)}")
        modes = [_choice(AddressModeType, mode, "address_mode") for mode in given]
        return [*modes, *modes[-1:] * 2][:3]

    def _border(self) -> list[float]:
        color = self.border_color
        if color is None:
            return [0.0] * 4
        if isinstance(color, (str, bytes)) or not hasattr(color, "__len__") or len(color) != 4:
            raise ValueError(f"border_color must be a tuple of 4 floats, or None, not {shown(color)}")
        return [_real(channel, "border_color") for channel in color]

    def _for_elements(self, read: Elements) -> CUDA_TEXTURE_DESC:
        """The options for C, of a texture of such elements. Raises ValueError for what they do not allow."""
        desc, mode = self._descriptor(), _choice(ReadModeType, self.read_mode, "read_mode")
        is_float = read.format in _FLOATS
        if mode is ReadModeType.ELEMENT_TYPE and not is_float:
            desc.flags |= CU_TRSF_READ_AS_INTEGER
        is_promoted = mode is ReadModeType.NORMALIZED_FLOAT and read.format in _PROMOTED
        filters = desc.filterMode, desc.mipmapFilterMode
        if CUfilter_mode.CU_TR_FILTER_MODE_LINEAR in filters and not (is_float or is_promoted):
            raise ValueError(
                f"a linear filter needs floats: {read.format} is read as {mode}"
                + (
                    "; 8 and 16 bits can be read as normalized_float"
                    if mode is ReadModeType.ELEMENT_TYPE
                    else ""
                )
            )
        if self.srgb and read.format is not ArrayFormatType.UINT8:
            raise ValueError(f"srgb is for channels of uint8, not of {read.format}")
        return desc


_FLAGS = {
    "normalized_coords": CU_TRSF_NORMALIZED_COORDINATES,
    "srgb": CU_TRSF_SRGB,
    "disable_trilinear_optimization": CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION,
    "seamless_cubemap": CU_TRSF_SEAMLESS_CUBEMAP,
}


def _choice(cls: type[C], value: Any, what: str) -> C:
    try:
        return cls(value)
    except ValueError as error:
        raise ValueError(f"{what}: {error}") from None


def _cu_filter(mode: Any, what: str) -> CUfilter_mode:
    return CUfilter_mode[f"CU_TR_FILTER_MODE_{_choice(FilterModeType, mode, what).name}"]


def _real(value: Any, what: str) -> float:
    if isinstance(value, (str, bytes)) or not hasattr(type(value), "__float__"):
        raise TypeError(f"{what} must be a float, not {shown(value)}")
    if not math.isfinite(number := float(value)):
        raise ValueError(f"{what} must be finite, not {number}")
    return number


class TextureObject(BindlessObject):
    """Memory that kernels sample by `tex2D`, `tex1Dfetch` and their siblings.

    `Device.create_texture_object` makes one of a ResourceDescriptor; `launch` takes it for a
    `cudaTextureObject_t`. The array or Buffer stays as long as it, closed or not.
    Source: cuTexObjectCreate, cuTexObjectDestroy.
    """

    __slots__ = ("_options",)
    _options: TextureObjectOptions

    def __init__(self) -> None:
        raise TypeError("a TextureObject comes from dev.create_texture_object()")

    @classmethod
    def _new(
        cls,
        context: int,
        resource: ResourceDescriptor,
        options: TextureObjectOptions | Mapping[str, Any] | None,
    ) -> TextureObject:
        """A new texture in `context`, which is current."""
        chosen = accepted(TextureObjectOptions, {} if options is None else options)
        rules = chosen._for_elements(required(resource)._read_as)
        texture = cls.__new__(cls)
        texture._options = chosen
        handle = CUtexObject()
        texture._own(context, handle, owning.cuTexObjectDestroy, resource)
        owning.cuTexObjectCreate(handle, resource._descriptor(texture._device_id), rules, None)
        return texture

    @property
    def options(self) -> TextureObjectOptions:
        """How it is sampled."""
        return self._options
