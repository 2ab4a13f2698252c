"""What an array has: elements of 1, 2 or 4 channels of one format, along 1 to 3 axes."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

from ..._ffi.integers import exact_int
from ..._ffi.shown import shown
from ...driver import CUDA_ARRAY3D_DESCRIPTOR, CUDA_ARRAY3D_SURFACE_LDST, CUarray_format
from .choices import ArrayFormatType

FORMATS = {
    ArrayFormatType.UINT8: (CUarray_format.CU_AD_FORMAT_UNSIGNED_INT8, 1),
    ArrayFormatType.UINT16: (CUarray_format.CU_AD_FORMAT_UNSIGNED_INT16, 2),
    ArrayFormatType.UINT32: (CUarray_format.CU_AD_FORMAT_UNSIGNED_INT32, 4),
    ArrayFormatType.INT8: (CUarray_format.CU_AD_FORMAT_SIGNED_INT8, 1),
    ArrayFormatType.INT16: (CUarray_format.CU_AD_FORMAT_SIGNED_INT16, 2),
    ArrayFormatType.INT32: (CUarray_format.CU_AD_FORMAT_SIGNED_INT32, 4),
    ArrayFormatType.FLOAT16: (CUarray_format.CU_AD_FORMAT_HALF, 2),
    ArrayFormatType.FLOAT32: (CUarray_format.CU_AD_FORMAT_FLOAT, 4),
}
"""What CUDA calls a format, and the bytes of a channel."""


class Elements(NamedTuple):
    """The elements of an array, or of memory that is read like one."""

    format: ArrayFormatType
    num_channels: int

    @property
    def size(self) -> int:
        """Bytes of an element."""
        return FORMATS[self.format][1] * self.num_channels

    @property
    def cu_format(self) -> CUarray_format:
        """What CUDA calls the format of a channel."""
        return FORMATS[self.format][0]


def elements(pformat: Any, num_channels: Any) -> Elements:
    """Elements of a format, which is a member, its text or a NumPy dtype. Raises ValueError, TypeError."""
    return Elements(array_format(pformat), _channels(num_channels))


def array_format(pformat: Any) -> ArrayFormatType:
    """The format that is meant. Raises ValueError for what is none."""
    if isinstance(pformat, str):
        return ArrayFormatType(pformat)
    import numpy

    try:
        dtype = numpy.dtype(pformat)
    except TypeError:
        raise ValueError(f"format must be an ArrayFormatType or a dtype, not {shown(pformat)}") from None
    if pformat is None or not dtype.isnative:
        raise ValueError(f"format must be an ArrayFormatType or a native dtype, not {shown(pformat)}")
    return ArrayFormatType(dtype.name)


def _channels(num_channels: Any) -> int:
    if type(num_channels).__name__ in ("bool", "bool_"):
        raise TypeError("num_channels is a number, not a bool")
    number = exact_int(num_channels, "num_channels")
    if number not in (1, 2, 4):
        raise ValueError(f"num_channels must be 1, 2 or 4, not {number}")
    return number


def _extents(shape: Any) -> tuple[int, ...]:
    """(width,), (width, height) or (width, height, depth), as a tuple. Raises TypeError, ValueError."""
    if isinstance(shape, (str, bytes)) or not (isinstance(shape, Sequence) or hasattr(shape, "__array__")):
        raise TypeError(f"shape must be a tuple of 1 to 3 ints, not {shown(shape)}")
    extents = tuple(exact_int(extent, "an extent in shape") for extent in shape)
    if not 1 <= len(extents) <= 3:
        raise ValueError(f"shape must have 1 to 3 extents, not {len(extents)}")
    if min(extents) < 1:
        raise ValueError(f"shape = {extents}: each extent must be at least 1")
    return extents


def _flag(value: Any, what: str) -> bool:
    """A bool. Raises TypeError for what is none."""
    if type(value).__name__ not in ("bool", "bool_"):
        raise TypeError(f"{what} must be a bool, not {shown(value)}")
    return bool(value)


class Shape(NamedTuple):
    """What an array is made of."""

    extents: tuple[int, ...]  # width, height, depth: as many as it has axes
    elements: Elements
    is_surface_load_store: bool

    @property
    def size(self) -> int:
        """Bytes of all elements."""
        return prod(self.extents) * self.elements.size

    def level(self, level: int) -> Shape:
        """The shape of a level of a mipmapped array: each extent is halved that often."""
        return self._replace(extents=tuple(max(1, extent >> level) for extent in self.extents))

    def descriptor(self) -> CUDA_ARRAY3D_DESCRIPTOR:
        """The shape for C, which has 0 for the axes that there are not."""
        width, height, depth = (*self.extents, 0, 0)[:3]
        return CUDA_ARRAY3D_DESCRIPTOR(
            Width=width,
            Height=height,
            Depth=depth,
            Format=self.elements.cu_format,
            NumChannels=self.elements.num_channels,
            Flags=CUDA_ARRAY3D_SURFACE_LDST if self.is_surface_load_store else 0,
        )

    def __repr__(self) -> str:
        axes = " x ".join(map(str, self.extents))
        channels = self.elements.num_channels
        return f"{axes} {self.elements.format}" + (f" of {channels} channels" if channels > 1 else "")


def shape_of(options: Any) -> Shape:
    """What an OpaqueArrayOptions, or a MipmappedArrayOptions of its level 0, describes.

    Raises TypeError and ValueError.
    """
    return Shape(
        _extents(options.shape),
        elements(options.format, options.num_channels),
        _flag(options.is_surface_load_store, "is_surface_load_store"),
    )
