"""Numbers that people pass where C takes an integer."""

from __future__ import annotations

import operator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


_EXACT = 1 << 53  # the floats beyond are not all the whole numbers


def whole(value: Any) -> int:
    """`value` as a plain int: anything with `__index__`, or with an `__int__` that loses nothing, as of 4.0.

    Raises TypeError for text and for what is no number, no whole one, or a float too large to be exact.
    """
    if type(value).__name__ in ("bool_", "bool"):  # NumPy's, which it is about to forbid as an index
        return int(bool(value))
    try:
        return int(operator.index(value))  # int(): an enum or NumPy subclass becomes a plain int
    except TypeError:
        if isinstance(value, (str, bytes, bytearray)) or not hasattr(type(value), "__int__"):
            raise
    try:
        number = int(value)
    except (ValueError, OverflowError):  # infinity and NaN
        raise TypeError(f"{value!r} is not a whole number") from None
    if hasattr(type(value), "__float__") and (number != value or abs(number) > _EXACT):
        raise TypeError(f"{value!r} is not a whole number")
    return number
