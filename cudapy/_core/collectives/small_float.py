"""Numbers as the floats of 8 and 16 bits that NumPy has no type for."""

import math
from typing import NamedTuple

from ...nccl import ncclDataType_t as DataType


class Format(NamedTuple):
    """Bits of the exponent and the fraction, the bias, and the pattern of the largest number."""

    exponent: int
    fraction: int
    bias: int
    largest: int


FORMATS = {
    DataType.ncclBfloat16: Format(8, 7, 127, 0x7F7F),
    DataType.ncclFloat8e4m3: Format(4, 3, 7, 0x7E),
    DataType.ncclFloat8e5m2: Format(5, 2, 15, 0x7B),
}


def pattern(value: float, form: Format) -> int:
    """The bits of the nearest float, of two the even one. Raises OverflowError, ValueError for a NaN."""
    sign = int(math.copysign(1.0, value) < 0) << form.exponent + form.fraction
    if math.isnan(value):
        raise ValueError("a NaN is not a factor")
    least = 1 - form.bias  # the exponent of the smallest normal number, and of those below
    exponent = max(math.frexp(value)[1] - 1, least) if value and math.isfinite(value) else least
    if math.isinf(value):
        raise OverflowError(f"{value} does not fit {form.exponent + form.fraction + 1} bits")
    units = round(math.ldexp(abs(value), form.fraction - exponent))  # Python rounds to even
    bits = units + ((exponent - least) << form.fraction)  # a carry goes into the exponent
    if bits > form.largest:
        raise OverflowError(f"{value} does not fit {form.exponent + form.fraction + 1} bits")
    return sign | bits
