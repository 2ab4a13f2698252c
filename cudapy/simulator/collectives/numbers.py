"""The types of NCCL's elements as NumPy has them, and what reduces them.

The small floats, for which NumPy has no type, are reduced as float32 and rounded once, to the nearest even.
Float16 is as well. Integers wrap around, as on a device.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

from ..._types.nccl import ncclDataType_t as DataType
from ..._types.nccl import ncclRedOp_t as RedOp

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..engine import U8, Array

_PLAIN = {
    DataType.ncclInt8: np.int8,
    DataType.ncclUint8: np.uint8,
    DataType.ncclInt32: np.int32,
    DataType.ncclUint32: np.uint32,
    DataType.ncclInt64: np.int64,
    DataType.ncclUint64: np.uint64,
    DataType.ncclFloat16: np.float16,
    DataType.ncclFloat32: np.float32,
    DataType.ncclFloat64: np.float64,
}
_CODED = {
    DataType.ncclBfloat16: np.uint16,
    DataType.ncclFloat8e4m3: np.uint8,
    DataType.ncclFloat8e5m2: np.uint8,
}
SIZES = {kind: np.dtype(cls).itemsize for kind, cls in {**_PLAIN, **_CODED}.items()}
"""Bytes of an element, by type."""
PREMULTIPLIED = "premultiplied sum"
"""The operator of ncclRedOpCreatePreMulSum."""
OPERATORS = {
    int(RedOp.ncclSum): "sum",
    int(RedOp.ncclProd): "prod",
    int(RedOp.ncclMax): "max",
    int(RedOp.ncclMin): "min",
    int(RedOp.ncclAvg): "avg",
}
_FUNCTIONS: dict[str, Callable[..., Array]] = {
    "sum": np.add,
    "avg": np.add,
    PREMULTIPLIED: np.add,
    "prod": np.multiply,
    "max": np.fmax,  # of a number and a NaN it is the number, as on a device
    "min": np.fmin,
}


def name_of(data_type: int) -> str:
    """What a report calls a type."""
    return DataType(data_type).name.removeprefix("nccl").lower()


def decoded(raw: U8, data_type: int) -> Array:
    """Elements, given as an array of bytes, as numbers to reckon with."""
    kind = DataType(data_type)
    if kind in _PLAIN:
        numbers = raw.view(_PLAIN[kind])
        return numbers.astype(np.float32) if kind == DataType.ncclFloat16 else numbers
    if kind == DataType.ncclBfloat16:
        return (raw.view(np.uint16).astype(np.uint32) << np.uint32(16)).view(np.float32)
    return _values(kind)[raw]


def encoded(numbers: Array, data_type: int) -> U8:
    """The bytes of numbers as elements."""
    kind = DataType(data_type)
    if kind in _PLAIN:
        with np.errstate(over="ignore"):
            return np.ascontiguousarray(numbers.astype(_PLAIN[kind])).view(np.uint8)
    if kind == DataType.ncclBfloat16:
        bits = np.ascontiguousarray(numbers, np.float32).view(np.uint32)
        rounded = (bits + (np.uint32(0x7FFF) + (bits >> np.uint32(16) & np.uint32(1)))) >> np.uint32(16)
        quiet = np.where(np.isnan(numbers), np.uint32(0x7FFF), rounded)
        return np.ascontiguousarray(quiet.astype(np.uint16)).view(np.uint8)
    return _nearest(np.asarray(numbers, np.float32), kind)


@functools.cache
def _values(kind: DataType) -> Array:
    """The value of each of the 256 floats of 8 bits, of type E4M3 (without infinities) or E5M2."""
    mantissa, bias = (3, 7) if kind == DataType.ncclFloat8e4m3 else (2, 15)
    codes = np.arange(256)
    exponent, fraction = codes >> mantissa & ((1 << 7 - mantissa) - 1), codes & ((1 << mantissa) - 1)
    normal = np.ldexp(1 + fraction / (1 << mantissa), exponent - bias)
    values = np.where(exponent == 0, np.ldexp(fraction / (1 << mantissa), 1 - bias), normal)
    if kind == DataType.ncclFloat8e4m3:
        values[codes & 0x7F == 0x7F] = np.nan
    else:
        values[exponent == 31] = np.where(fraction[exponent == 31], np.nan, np.inf)
    return np.where(codes & 0x80, -values, values).astype(np.float32)


def _nearest(numbers: Array, kind: DataType) -> U8:
    """The codes of the nearest floats of 8 bits, of two the even one; the largest for what is more."""
    values = _values(kind)
    largest = 0x7E if kind == DataType.ncclFloat8e4m3 else 0x7B
    known = values[: largest + 1].astype(np.float64)  # ascending
    size = np.minimum(np.abs(numbers.astype(np.float64)), known[-1])
    high = np.clip(np.searchsorted(known, size), 1, largest)
    low = high - 1
    to_low, to_high = size - known[low], known[high] - size
    code = np.where((to_high < to_low) | ((to_high == to_low) & (high % 2 == 0)), high, low)
    code = np.where(np.isnan(numbers), 0x7F, code)
    return np.where(np.signbit(numbers), code | 0x80, code).astype(np.uint8)


def reduced(parts: list[U8], data_type: int, operator: str) -> U8:
    """The elements, arrays of bytes of one rank each, reduced in the order of ranks: as bytes."""
    function = _FUNCTIONS[operator]
    numbers = [decoded(part, data_type) for part in parts]
    with np.errstate(all="ignore"):
        total = numbers[0] if len(numbers) > 1 else numbers[0].copy()
        for other in numbers[1:]:
            total = function(total, other)
        if operator == "avg":
            total = _divided(total, len(numbers))
    return encoded(total, data_type)


def _divided(total: Array, count: int) -> Array:
    """Integers towards zero, as C divides."""
    divisor: Array = np.asarray(count, total.dtype)
    if total.dtype.kind == "f":
        return np.divide(total, divisor)
    quotient: Array = np.abs(total) // divisor
    return np.where(total < 0, -quotient, quotient).astype(total.dtype)


def scaled(part: U8, data_type: int, scalar: U8) -> U8:
    """Elements times one of them, all as bytes."""
    with np.errstate(all="ignore"):
        return encoded(decoded(part, data_type) * decoded(scalar, data_type)[0], data_type)
