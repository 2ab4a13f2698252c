"""Types of array elements: NumPy's, and what DLPack calls them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..._ffi.dlpack import BFLOAT, BOOL, COMPLEX, FLOAT, INT, UINT

if TYPE_CHECKING:
    import numpy

_CODES = {"i": INT, "u": UINT, "f": FLOAT, "c": COMPLEX, "b": BOOL}
_KINDS = {INT: "i", UINT: "u", FLOAT: "f", COMPLEX: "c", BOOL: "b"}
NARROW = {  # of the package ml_dtypes: DLPack code, bits
    "bfloat16": (BFLOAT, 16),
    "float8_e3m4": (7, 8),
    "float8_e4m3": (8, 8),
    "float8_e4m3b11fnuz": (9, 8),
    "float8_e4m3fn": (10, 8),
    "float8_e4m3fnuz": (11, 8),
    "float8_e5m2": (12, 8),
    "float8_e5m2fnuz": (13, 8),
    "float8_e8m0fnu": (14, 8),
}


class Element(NamedTuple):
    """DLDataType: a kind of number, the bits of one, how many there are in an element."""

    code: int
    bits: int
    lanes: int = 1

    @property
    def size(self) -> int:
        """Bytes of an element."""
        if self.bits * self.lanes % 8:
            raise BufferError(f"elements of {self.bits} bits are not whole bytes")
        return self.bits * self.lanes // 8


def of(dtype: numpy.dtype[Any]) -> Element | None:
    """What DLPack calls it; None for structs, strings, dates and other things that it has no name for."""
    if dtype.name in NARROW:
        return Element(*NARROW[dtype.name])
    if not dtype.isnative or dtype.kind not in _CODES:
        return None
    return Element(_CODES[dtype.kind], 8 * dtype.itemsize)


def dtype(element: Element) -> numpy.dtype[Any]:
    """The type that NumPy has for it, by itself or from ml_dtypes. Raises NotImplementedError."""
    import numpy

    if element.lanes == 1 and element.code in _KINDS:
        kind = "?" if element.code == BOOL else f"{_KINDS[element.code]}{element.size}"
        try:
            return numpy.dtype(kind)
        except TypeError:
            raise NotImplementedError(f"NumPy has no type for {element}") from None
    for name, (code, bits) in NARROW.items():
        if element == (code, bits, 1):
            try:
                return numpy.dtype(name)
            except TypeError:
                raise NotImplementedError(f"NumPy has no {name}: import ml_dtypes, which adds it") from None
    raise NotImplementedError(f"NumPy has no type for {element}")
