"""Choices of textures by name."""

from enum import auto

from ..options import Choice


class ArrayFormatType(Choice):
    """The type of a channel. Source: CUarray_format."""

    UINT8 = auto()
    UINT16 = auto()
    UINT32 = auto()
    INT8 = auto()
    INT16 = auto()
    INT32 = auto()
    FLOAT16 = auto()
    FLOAT32 = auto()


class AddressModeType(Choice):
    """What is outside of a texture. Source: CUaddress_mode.

    WRAP: the texture again. MIRROR: the texture, mirrored. CLAMP: the nearest element. BORDER: the border
    color. WRAP and MIRROR are for normalized coordinates; with others the device does what CLAMP does.
    """

    WRAP = auto()
    CLAMP = auto()
    MIRROR = auto()
    BORDER = auto()


class FilterModeType(Choice):
    """What is read between elements. Source: CUfilter_mode.

    POINT: the nearest one. LINEAR: the neighbours of all axes, weighted by their distance.
    """

    POINT = auto()
    LINEAR = auto()


class ReadModeType(Choice):
    """What a kernel gets of integers. Source: CU_TRSF_READ_AS_INTEGER.

    ELEMENT_TYPE: the integer. NORMALIZED_FLOAT: a float from 0 to 1, of signed integers from -1 to 1, where
    they have 8 or 16 bits.
    """

    ELEMENT_TYPE = auto()
    NORMALIZED_FLOAT = auto()
