"""Operands of instructions, read."""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING

from .syntax import (
    Address,
    Bracket,
    Float,
    Integer,
    Negation,
    Operand,
    Pair,
    PTXError,
    Register,
    Sink,
    Special,
    Symbol,
    Vector,
)

if TYPE_CHECKING:
    from collections.abc import Callable

_INTEGER = re.compile(r"([+-]?)(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)U?$")
_BITS = re.compile(r"(-?)0([fFdD])([0-9a-fA-F]{8}(?:[0-9a-fA-F]{8})?)$")
_DECIMAL = re.compile(r"-?\d+\.\d*(?:[eE][-+]?\d+)?$")
_SUM = re.compile(r"\s*([%\w$.]+)(?:\s*([+-])\s*(-?\w+))?\s*$")
_NAME = re.compile(r"[%\w$.]+$")
_LONGEST = 80
"""Digits of a number, with zeros in front."""


def split(text: str) -> list[str]:
    """The parts of a list, cut at the commas outside of brackets."""
    if not any(mark in text for mark in "[{("):
        return [part.strip() for part in text.split(",")] if text else []
    parts, depth, start = [], 0, 0
    for place, mark in enumerate(text):
        if mark in "[{(":
            depth += 1
        elif mark in "]})":
            depth -= 1
        elif mark == "," and not depth:
            parts.append(text[start:place].strip())
            start = place + 1
    return [*parts, text[start:].strip()]


def integer(text: str) -> int | None:
    """The value of an integer literal. PTX has hexadecimal, octal, binary and decimal ones, of 64 bits.

    Raises PTXError.
    """
    match = _INTEGER.match(text)
    if match is None:
        return None
    sign, digits = match.groups()
    octal = len(digits) > 1 and digits.isdigit() and digits[0] == "0"
    if len(digits) > _LONGEST:
        raise PTXError(f"a number of {len(digits)} digits is larger than 64 bits")
    try:
        value = int(digits, 8 if octal else 0)
    except ValueError:
        raise PTXError(f"{digits} is not an octal number") from None
    if value >> 64:
        raise PTXError(f"{digits} is larger than 64 bits")
    return -value if sign == "-" else value


def count(text: str) -> int:
    """A decimal number of a declaration, of 64 bits. Raises PTXError."""
    if len(text) > _LONGEST or int(text) >> 64:
        raise PTXError(f"{text[:24]}{'...' * (len(text) > 24)} is larger than 64 bits")
    return int(text)


def literal(text: str) -> Integer | Float | None:
    """A number, or None if `text` is none."""
    value = integer(text)
    if value is not None:
        return Integer(value)
    match = _BITS.match(text)
    if match is not None:
        sign, kind, digits = match.groups()
        size = 4 if kind in "fF" else 8
        bits = int(digits, 16) ^ (1 << (8 * size - 1) if sign else 0)
        return Float(bits, size, struct.unpack("<f" if size == 4 else "<d", bits.to_bytes(size, "little"))[0])
    if _DECIMAL.match(text):
        number = float(text)
        return Float(int.from_bytes(struct.pack("<d", number), "little"), 8, number)
    return Integer(32) if text == "WARP_SZ" else None


class OperandReader:
    """Reads the operands of one function: `register` says what a name is in the scope that it stands in."""

    def __init__(self, register: Callable[[str], Operand]) -> None:
        self._name = register

    def read(self, text: str) -> Operand:
        """Raises PTXError."""
        first = text[:1]
        if not text:
            raise PTXError("an operand is missing")
        if "|" in text and first != "!" and (first not in "[{(" or "}|" in text.replace(" ", "")):
            return self._pair(text)
        if first == "[":
            return self._bracket(text)
        if first in ("{", "("):
            return self._vector(text)
        if first == "!":
            return self._negation(text)
        if text == "_":
            return Sink()
        number = literal(text)
        return self._sum(text) if number is None else number

    def _pair(self, text: str) -> Pair:
        """One operand | another; either may be a vector."""
        one, _, two = text.rpartition("|") if text[0] in "[{(" else text.partition("|")
        if text[0] not in "[{(" and "|" in two:
            raise PTXError(f"what is the operand {text[:60]!r}?")
        return Pair(self.read(one.strip()), self.read(two.strip()))

    def _vector(self, text: str) -> Vector:
        parts = split(text[1:-1].strip())
        end = {"{": "}", "(": ")"}[text[0]]
        if text[-1] != end or any(part[:1] in ("{", "(", "[") for part in parts):
            raise PTXError(f"what is the operand {text[:60]!r}?")
        if not parts and end == "}":
            raise PTXError("a vector has at least one element")
        return Vector(tuple(self.read(part) for part in parts))

    def _negation(self, text: str) -> Negation:
        operand = self._name(text[1:].strip())
        if not isinstance(operand, Register):
            raise PTXError(f"{text} is not a predicate")
        return Negation(operand)

    def _bracket(self, text: str) -> Address | Bracket:
        if text[-1] != "]":
            raise PTXError(f"{text[:60]!r} is not an address")
        text = text[1:-1]
        parts = split(text.strip())
        if not parts or any(part[:1] == "[" for part in parts):
            raise PTXError(f"[{text[:60]}] is not an address")
        if len(parts) > 1:
            return Bracket(tuple(self.read(part) for part in parts))
        base = self._sum(parts[0])
        if isinstance(base, Symbol):
            return Address(Symbol(base.name), base.offset)
        if isinstance(base, Address):
            return base
        if isinstance(base, (Register, Special, Integer)):
            return Address(base, 0)
        raise PTXError(f"[{text}] is not an address")

    def _sum(self, text: str) -> Operand:
        """`name`, `name+4`, `%rd1+4` (an Address), or a number."""
        number = literal(text)
        if number is not None:
            return number
        match = _SUM.match(text)
        if match is None:
            raise PTXError(f"what is the operand {text[:60]!r}?")
        name, sign, more = match.groups()
        offset = 0
        if more is not None:
            value = integer(more)
            if value is None:
                raise PTXError(f"what is the operand {text[:60]!r}?")
            offset = -value if sign == "-" else value
        if not _NAME.match(name):
            raise PTXError(f"what is the operand {text[:60]!r}?")
        base = self._name(name)
        if isinstance(base, Symbol):
            return Symbol(base.name, base.offset + offset)
        return Address(base, offset) if more is not None else base  # type: ignore[arg-type]
