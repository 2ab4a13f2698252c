"""printf of kernels: what C's printf makes of a format and its arguments.

Source: CUDA C++ Programming Guide, "Formatted Output"; ISO C 7.21.6.1, and glibc where that leaves it open.
"""

from __future__ import annotations

import math
import re
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_FORMAT = re.compile(r"%([-+ #0]*)(\*|\d*)(?:\.(\*|\d*))?(hh|h|ll|l|z|j|t|L)?([diouxXcsfFeEgGaAp%])")
_EIGHT = ("l", "ll", "z", "j", "t")
_WIDEST = 1 << 20
"""Most characters of a field: more is a mistake in a program."""
_FRACTION = 52


def _converted(
    take: Callable[[int], bytes], flags: str, digits: int | None, length: str | None, kind: str
) -> tuple[str, str]:
    """The next argument, but for strings: its sign, and what follows."""
    if kind == "c":
        return "", chr(take(4)[0])
    if kind == "p":
        address = struct.unpack("<Q", take(8))[0]
        return "", f"{address:#x}" if address else "(nil)"
    if kind in "fFeEgGaA":
        (real,) = struct.unpack("<d", take(8))
        return _float(real, flags, digits, kind)
    value = int.from_bytes(take(8 if length in _EIGHT else 4), "little")
    bits = {"hh": 8, "h": 16}.get(length or "", 64 if length in _EIGHT else 32)
    return _integer(value & (1 << bits) - 1, bits, flags, digits, kind)


def formatted(
    text: str, take: Callable[[int], bytes], string: Callable[[int, int | None], str]
) -> tuple[str, int]:
    """printf: `take(size)` gives the bytes of the next argument, `string` the text at an address, so many
    bytes of it at most. Returns what is printed, and how many arguments were converted.
    """
    count = 0

    def convert(specifier: re.Match[str]) -> str:
        nonlocal count
        flags, width, precision, length, kind = specifier.groups()
        if kind == "%":
            return "%"
        if width == "*":
            (number,) = struct.unpack("<i", take(4))
            flags, width = flags + "-" * (number < 0), str(abs(number))
        if precision == "*":
            (number,) = struct.unpack("<i", take(4))
            precision = None if number < 0 else str(number)
        count += 1
        digits = None if precision is None else min(int(precision or 0), _WIDEST)
        if kind == "s":
            address = struct.unpack("<Q", take(8))[0]
            sign, body = "", string(address, digits) if address else "(null)"[:digits]
        else:
            sign, body = _converted(take, flags, digits, length, kind)
        is_number = kind not in "scp" and body[:3].lower() not in ("nan", "inf")
        if kind in "diouxX" and digits is not None:
            is_number = False  # no zeros are put in front of what has as many digits as it was told
        return _padded(sign, body, flags, min(int(width or 0), _WIDEST), is_number)

    return _FORMAT.sub(convert, text), count


def _padded(sign: str, body: str, flags: str, width: int, is_number: bool) -> str:
    missing = " " * (width - len(sign) - len(body))
    if "-" in flags:
        return sign + body + missing
    if "0" in flags and is_number:
        return sign + missing.replace(" ", "0") + body
    return missing + sign + body


def _sign(negative: bool, flags: str) -> str:
    return "-" if negative else "+" if "+" in flags else " " if " " in flags else ""


def _integer(value: int, bits: int, flags: str, digits: int | None, kind: str) -> tuple[str, str]:
    """The sign or base, and the digits."""
    negative = kind in "di" and value >> bits - 1 == 1
    value = (1 << bits) - value if negative else value
    text = format(value, {"o": "o", "x": "x", "X": "X"}.get(kind, "d"))
    text = ("" if not value and digits == 0 else text).rjust(digits or 0, "0")
    if kind in "di":
        return _sign(negative, flags), text
    if "#" in flags and kind == "o" and text[:1] != "0":
        return "", "0" + text
    return ("0" + kind if "#" in flags and kind in "xX" and value else ""), text


def _float(value: float, flags: str, digits: int | None, kind: str) -> tuple[str, str]:
    """The sign, with 0x behind it of a hexadecimal number, and the rest."""
    sign = _sign(math.copysign(1, value) < 0, flags)
    size = abs(value)
    if not math.isfinite(size):
        body = "nan" if math.isnan(size) else "inf"
        return sign, body.upper() if kind.isupper() else body
    if kind in "aA":
        body = _hexadecimal(size, digits, "#" in flags)
        sign += "0x"
        return (sign.upper(), body.upper()) if kind == "A" else (sign, body)
    rule = "%" + "#" * ("#" in flags) + ("" if digits is None else f".{digits}") + kind
    return sign, rule % size


def _hexadecimal(size: float, digits: int | None, has_point: bool) -> str:
    bits = struct.unpack("<Q", struct.pack("<d", size))[0]
    exponent, fraction = bits >> _FRACTION, bits & (1 << _FRACTION) - 1
    whole = (1 << _FRACTION) * bool(exponent) | fraction
    power = (exponent or 1) - 1023 if size else 0
    if digits is not None and digits < _FRACTION // 4:
        cut = _FRACTION - 4 * digits
        rest, whole = whole & (1 << cut) - 1, whole >> cut
        whole += rest > 1 << cut - 1 or (rest == 1 << cut - 1 and whole & 1)
        whole <<= cut
    text = f"{whole & (1 << _FRACTION) - 1:013x}"
    text = text.rstrip("0") if digits is None else text[:digits].ljust(digits, "0")
    point = "." if text or has_point else ""
    return f"{whole >> _FRACTION}{point}{text}p{power:+d}"
