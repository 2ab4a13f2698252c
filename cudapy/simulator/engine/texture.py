"""Textures and surfaces: what lies behind the handles of texture and surface objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .aliases import Array


@dataclass
class Texture:
    """A texture object.

    `data` is a view of the array's memory, never a copy, shaped (depth or layers, height, width, channels);
    1D has depth and height 1, 2D depth 1; a cubemap has 6 layers, a layered cubemap 6 * n. Its dtype is that
    of a channel: int8/16/32, uint8/16/32, float16/32. Linear memory is 1D, pitched memory a strided view.
    Channels that it does not have are 0. What has no elements is 0 everywhere: a reference that nothing is
    bound to.
    """

    data: Array
    dimensions: int
    """1, 2 or 3: coordinates that are filtered and addressed."""
    is_layered: bool = False
    is_cubemap: bool = False
    is_linear: bool = False
    """cudaResourceTypeLinear: read by integer coordinate; what is outside reads as 0."""
    address_modes: tuple[int, int, int] = (1, 1, 1)
    """CUaddress_mode of each dimension: 0 wrap, 1 clamp, 2 mirror, 3 border."""
    has_linear_filter: bool = False
    is_normalized: bool = False
    """Coordinates go from 0 to 1 (CU_TRSF_NORMALIZED_COORDINATES)."""
    reads_integers: bool = False
    """Integers come as integers (CU_TRSF_READ_AS_INTEGER), else as floats from 0 or -1 to 1."""
    is_srgb: bool = False
    border: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    levels: tuple[Array, ...] = ()
    """Views of the mipmap levels after the first, each shaped as `data`."""
    level_bias: float = 0.0
    level_clamp: tuple[float, float] = (0.0, 0.0)
    has_linear_levels: bool = False


@dataclass
class Surface:
    """A surface object: `data` as in `Texture`, but of raw bytes: (depth or layers, height, width, bytes of
    an element).
    """

    data: Array
    dimensions: int
    is_layered: bool = False
    is_cubemap: bool = False
