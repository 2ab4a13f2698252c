"""Types of elements: what NCCL calls those of NumPy, of DLPack and of ml_dtypes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..._ffi.dlpack import BFLOAT, BOOL, COMPLEX, FLOAT, INT, UINT
from ...nccl import ncclDataType_t as DataType
from ..arrays import element_types

if TYPE_CHECKING:
    from ..arrays.element_types import Element

_NAMED = {
    (INT, 8): DataType.ncclInt8,
    (UINT, 8): DataType.ncclUint8,
    (INT, 32): DataType.ncclInt32,
    (UINT, 32): DataType.ncclUint32,
    (INT, 64): DataType.ncclInt64,
    (UINT, 64): DataType.ncclUint64,
    (FLOAT, 16): DataType.ncclFloat16,
    (FLOAT, 32): DataType.ncclFloat32,
    (FLOAT, 64): DataType.ncclFloat64,
    (BFLOAT, 16): DataType.ncclBfloat16,
    (10, 8): DataType.ncclFloat8e4m3,  # what DLPack and ml_dtypes call float8_e4m3fn
    (12, 8): DataType.ncclFloat8e5m2,
}
SIZES = {data_type: bits // 8 for (_, bits), data_type in _NAMED.items()}
"""Bytes of an element."""
ELEMENTS = {data_type: (code, bits) for (code, bits), data_type in _NAMED.items()}
"""What DLPack calls each: a kind of number, and its bits."""


class Kind(NamedTuple):
    """How NCCL sees an element: `parts` numbers of `data_type`; None: it can only be copied, as bytes."""

    itemsize: int
    data_type: DataType | None
    parts: int = 1
    name: str = ""


BYTES = Kind(1, None, 1, "bytes")
"""What memory without a type of elements has."""
_known: dict[Any, Kind] = {}
_elements: dict[tuple[Element, str], Kind] = {}


def kind_of(dtype: Any) -> Kind:
    """The kind of what a program calls a type: of NumPy, by name, or an ncclDataType_t. Raises TypeError."""
    try:
        return _known[dtype]
    except KeyError:
        kind = _known[dtype] = _find(dtype)
        return kind
    except TypeError:  # a description of a type that is no key, such as a list
        return _find(dtype)


def _find(dtype: Any) -> Kind:
    if isinstance(dtype, DataType):
        if dtype not in SIZES:
            raise TypeError(f"{dtype!r} is not a type of elements")
        return Kind(SIZES[dtype], dtype, 1, dtype.name)
    import numpy

    if isinstance(dtype, str) and dtype in element_types.NARROW:
        code, bits = element_types.NARROW[dtype]
        return kind_of_element(element_types.Element(code, bits), dtype)
    numpy_type = numpy.dtype(dtype)
    element = element_types.of(numpy_type)
    if element is None or not numpy_type.itemsize:
        raise TypeError(f"{numpy_type} is not a type of numbers in this machine's byte order")
    return kind_of_element(element, numpy_type.name)


def kind_of_element(element: Element, name: str = "") -> Kind:
    """The kind of what DLPack describes."""
    try:
        return _elements[element, name]
    except KeyError:
        kind = _elements[element, name] = _kind(element, name)
        return kind


def _kind(element: Element, name: str) -> Kind:
    code, bits, lanes = element
    name = name or str(element)
    if code == COMPLEX:
        part = _NAMED.get((FLOAT, bits // 2))
        return Kind(element.size, part, 2 * lanes, name)
    if code == BOOL:
        return Kind(element.size, None, 1, name)
    return Kind(element.size, _NAMED.get((code, bits)), lanes, name)
