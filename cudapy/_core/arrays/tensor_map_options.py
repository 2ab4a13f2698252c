"""How a tensor map describes a tensor: the choices of the driver, and the rules of the hardware.

Source: CUDA Driver API, "Tensor Map Object Management".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any, TypeVar

from ... import driver
from ..._ffi.dlpack import BFLOAT, FLOAT, INT, UINT
from ..._ffi.integers import exact_int
from ..._ffi.shown import shown
from ..options import known_names
from . import element_types
from .element_types import Element

if TYPE_CHECKING:
    from .strided import StridedMemoryView

E = TypeVar("E", bound=IntEnum)


class TensorMapDataType(IntEnum):
    """The type of an element, as CUtensorMapDataType has it."""

    UINT8 = 0
    UINT16 = 1
    UINT32 = 2
    INT32 = 3
    UINT64 = 4
    INT64 = 5
    FLOAT16 = 6
    FLOAT32 = 7
    FLOAT64 = 8
    BFLOAT16 = 9
    FLOAT32_FTZ = 10
    TFLOAT32 = 11
    TFLOAT32_FTZ = 12


class TensorMapInterleave(IntEnum):
    """How channels lie: side by side, or in slices of 16 or 32 bytes. Source: CUtensorMapInterleave."""

    NONE = 0
    INTERLEAVE_16B = 1
    INTERLEAVE_32B = 2


class TensorMapSwizzle(IntEnum):
    """How rows of so many bytes are mixed in shared memory, against bank conflicts.

    Source: CUtensorMapSwizzle.
    """

    NONE = 0
    SWIZZLE_32B = 1
    SWIZZLE_64B = 2
    SWIZZLE_128B = 3


class TensorMapL2Promotion(IntEnum):
    """How many bytes the L2 cache reads at once, at least. Source: CUtensorMapL2promotion."""

    NONE = 0
    L2_64B = 1
    L2_128B = 2
    L2_256B = 3


class TensorMapOOBFill(IntEnum):
    """What comes from outside of the tensor: zeros, or a NaN that an `fma` with `.oob` counts as zero.

    Source: CUtensorMapFloatOOBfill.
    """

    NONE = 0
    NAN_REQUEST_ZERO_FMA = 1


class TensorMapIm2ColWideMode(IntEnum):
    """Along which axis pixels are taken: W, or W in runs of 128. Source: CUtensorMapIm2ColWideMode."""

    W = 0
    W128 = 1


SIZES = {
    **dict.fromkeys((TensorMapDataType.UINT8,), 1),
    **dict.fromkeys((TensorMapDataType.UINT16, TensorMapDataType.FLOAT16, TensorMapDataType.BFLOAT16), 2),
    **dict.fromkeys((TensorMapDataType.UINT32, TensorMapDataType.INT32, TensorMapDataType.FLOAT32), 4),
    **dict.fromkeys(
        (TensorMapDataType.FLOAT32_FTZ, TensorMapDataType.TFLOAT32, TensorMapDataType.TFLOAT32_FTZ), 4
    ),
    **dict.fromkeys((TensorMapDataType.UINT64, TensorMapDataType.INT64, TensorMapDataType.FLOAT64), 8),
}
"""The bytes of an element."""
_OF_ELEMENTS = {
    Element(UINT, 8): TensorMapDataType.UINT8,
    Element(UINT, 16): TensorMapDataType.UINT16,
    Element(UINT, 32): TensorMapDataType.UINT32,
    Element(INT, 32): TensorMapDataType.INT32,
    Element(UINT, 64): TensorMapDataType.UINT64,
    Element(INT, 64): TensorMapDataType.INT64,
    Element(FLOAT, 16): TensorMapDataType.FLOAT16,
    Element(FLOAT, 32): TensorMapDataType.FLOAT32,
    Element(FLOAT, 64): TensorMapDataType.FLOAT64,
    Element(BFLOAT, 16): TensorMapDataType.BFLOAT16,
}
_TWINS = {
    TensorMapDataType: "CUtensorMapDataType",
    TensorMapInterleave: "CUtensorMapInterleave",
    TensorMapSwizzle: "CUtensorMapSwizzle",
    TensorMapL2Promotion: "CUtensorMapL2promotion",
    TensorMapOOBFill: "CUtensorMapFloatOOBfill",
    TensorMapIm2ColWideMode: "CUtensorMapIm2ColWideMode",
}
"""The enums of the driver with the same values."""


def member(cls: type[E], value: Any, what: str) -> E:
    """A member of `cls`, or of the driver's enum with the same values. Raises TypeError and ValueError."""
    twin = getattr(driver, _TWINS[cls])
    if not isinstance(value, (cls, twin)):
        raise TypeError(f"{what} must be a member of {cls.__name__}, not {shown(value)}")
    try:
        return cls(int(value))
    except ValueError:
        raise ValueError(f"{what} = {shown(value)} is none of {cls.__name__}") from None


def integers(values: Any, what: str) -> tuple[int, ...]:
    """A tuple of ints. Raises TypeError for what is none."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Sequence):
        raise TypeError(f"{what} must be a tuple of ints, not {shown(values)}")
    return tuple(exact_int(value, f"an item of {what}") for value in values)


def within(value: int, low: int, high: int, what: str) -> int:
    """`value`. Raises ValueError if it is not from `low` to `high`."""
    if not low <= value <= high:
        raise ValueError(f"{what} must be {low} to {high}, not {value}")
    return value


@known_names
@dataclass
class TensorMapDescriptorOptions:
    """How `StridedMemoryView.as_tensor_map` describes a tensor.

    box_dim: the extents of the box that is copied at a time, in elements, in the order of the tensor's shape.
    element_strides: along each axis, of how many elements one is copied, 1 to 8; None: each. data_type: a
    NumPy dtype of the same size, or a TensorMapDataType, if it is not that of the tensor. The others are
    members of the enum that their default is of. Raises TypeError for what is none.
    """

    box_dim: tuple[int, ...]
    element_strides: tuple[int, ...] | None = None
    data_type: Any = None
    interleave: TensorMapInterleave = TensorMapInterleave.NONE
    swizzle: TensorMapSwizzle = TensorMapSwizzle.NONE
    l2_promotion: TensorMapL2Promotion = TensorMapL2Promotion.NONE
    oob_fill: TensorMapOOBFill = TensorMapOOBFill.NONE

    def __post_init__(self) -> None:
        self.box_dim = integers(self.box_dim, "box_dim")
        if self.element_strides is not None:
            self.element_strides = integers(self.element_strides, "element_strides")
        if self.data_type is not None:
            self.data_type = _given_type(self.data_type)
        self.interleave = member(TensorMapInterleave, self.interleave, "interleave")
        self.swizzle = member(TensorMapSwizzle, self.swizzle, "swizzle")
        self.l2_promotion = member(TensorMapL2Promotion, self.l2_promotion, "l2_promotion")
        self.oob_fill = member(TensorMapOOBFill, self.oob_fill, "oob_fill")


def data_type_of(view: StridedMemoryView, given: Any) -> TensorMapDataType:
    """The type of the elements of `view`, or the one that is `given`. Raises TypeError and ValueError."""
    if given is None:
        element = view._element
        if element is None:
            raise ValueError("the elements have no type that a tensor map knows: name it by data_type")
        data_type = _OF_ELEMENTS.get(element)
        if data_type is None:
            what = view._known_dtype() or element
            raise ValueError(f"a tensor map has no {what}: name another type of this size by data_type")
    else:
        data_type = _given_type(given)
    size, itemsize = SIZES[data_type], view.layout.itemsize
    if size != itemsize:
        raise ValueError(f"data_type {data_type.name} has {size} bytes, the elements have {itemsize}")
    return data_type


def _given_type(given: Any) -> TensorMapDataType:
    if isinstance(given, (TensorMapDataType, driver.CUtensorMapDataType)):
        return member(TensorMapDataType, given, "data_type")
    import numpy

    try:
        dtype = numpy.dtype(given)
    except TypeError:
        raise TypeError(f"data_type must be a dtype or a TensorMapDataType, not {shown(given)}") from None
    element = element_types.of(dtype)
    if element not in _OF_ELEMENTS:
        raise ValueError(f"a tensor map has no {dtype}: data_type must be one of {_names()}")
    return _OF_ELEMENTS[element]


def _names() -> str:
    return ", ".join(data_type.name.lower() for data_type in _OF_ELEMENTS.values())
