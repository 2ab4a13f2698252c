"""Numbers that people pass where C takes an integer."""

from __future__ import annotations

import operator
import sys

from .shown import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def as_int(value: Any, what: str) -> int:
    """`value` as a plain int: anything with `__index__`, or a number that `int()` takes.

    A number that is not whole loses its fraction, as in C, with a RuntimeWarning at the caller's line. `what`
    names the parameter or field for the messages. Raises TypeError for text and for what is not a number,
    ValueError for NaN, OverflowError for infinity.
    """
    number = _integer(value, what)
    if _has_fraction(value, number):
        import warnings

        warnings.warn(
            f"{what} is an integer: the fraction of the {type(value).__name__} given is dropped",
            RuntimeWarning,
            stacklevel=_level_of_caller(),
        )
    return number


def exact_int(value: Any, what: str) -> int:
    """An address or an ordinal as an int: a number that is not whole is a TypeError."""
    number = _integer(value, what)
    if _has_fraction(value, number):
        raise TypeError(f"{what} must be a whole number, not {shown(value)}")
    return number


def _integer(value: Any, what: str) -> int:
    if type(value).__name__ in ("bool_", "bool"):  # NumPy's, which it is about to forbid as an index
        return int(bool(value))
    try:
        return int(operator.index(value))  # int(): an enum or NumPy subclass becomes a plain int
    except TypeError:
        if isinstance(value, (str, bytes, bytearray)) or not any(hasattr(type(value), n) for n in _TO_INT):
            raise TypeError(f"{what} must be an integer, not {shown(value)}") from None
    try:
        return int(value)
    except (ValueError, OverflowError) as error:
        raise type(error)(f"{what} must be an integer, not {shown(value)}") from None


_TO_INT = ("__int__", "__trunc__")
"""What `int()` asks for; Fraction has had the first since Python 3.11."""


def _has_fraction(value: Any, number: int) -> bool:
    return number is not value and hasattr(type(value), "__float__") and bool(number != value)


def _level_of_caller() -> int:
    """The `stacklevel` with which the caller of this function warns about the line that called the package.

    Python shows a warning once for each line and text, so the text names no value.
    """
    package = __name__.removesuffix("_ffi.integers")
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(package):
        level, frame = level + 1, frame.f_back
    return level
