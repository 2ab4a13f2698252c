"""Choices of textures by name."""

from ..choices import Choice


class ArrayFormatType(Choice):
    """The type of a channel. Source: CUarray_format."""

    UINT8 = "uint8"
    UINT16 = "uint16"
    UINT32 = "uint32"
    INT8 = "int8"
    INT16 = "int16"
    INT32 = "int32"
    FLOAT16 = "float16"
    FLOAT32 = "float32"


class AddressModeType(Choice):
    """What is outside of a texture. Source: CUaddress_mode.

    WRAP: the texture again. MIRROR: the texture, mirrored. CLAMP: the nearest element. BORDER: the border
    color. WRAP and MIRROR are for normalized coordinates; with others the device does what CLAMP does.
    """

    WRAP = "wrap"
    CLAMP = "clamp"
    MIRROR = "mirror"
    BORDER = "border"


class FilterModeType(Choice):
    """What is read between elements. Source: CUfilter_mode.

    POINT: the nearest one. LINEAR: the neighbours of all axes, weighted by their distance.
    """

    POINT = "point"
    LINEAR = "linear"


class ReadModeType(Choice):
    """What a kernel gets of integers. Source: CU_TRSF_READ_AS_INTEGER.

    ELEMENT_TYPE: the integer. NORMALIZED_FLOAT: a float from 0 to 1, of signed integers from -1 to 1, where
    they have 8 or 16 bits.
    """

    ELEMENT_TYPE = "element_type"
    NORMALIZED_FLOAT = "normalized_float"
