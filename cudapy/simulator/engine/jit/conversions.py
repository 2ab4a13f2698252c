"""Conversions.

Source: PTX ISA, "Data Movement and Conversion Instructions: cvt".
"""

from __future__ import annotations

import numpy as np

from ..ptx.syntax import Instruction
from ..ptx.types import TYPES, Type
from . import floats
from .lanes import Lanes, Unsupported, Value

_ROUNDED = {"rni": 8, "rmi": 9, "rpi": 10, "rzi": 11}


def convert(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    """cvt"""
    source, target = TYPES[groups["S"]], TYPES[groups["D"]]
    if len(instruction.operands) != 2:
        raise Unsupported
    floats.refuse(groups, instruction, "ftz", "relu", "satfinite")
    if any(kind.kind in "fx" and kind.name not in ("f32", "f64") for kind in (source, target)):
        raise Unsupported
    destination, x = instruction.operands
    way = groups.get("way") or ""
    value, nan = lanes.read(x, source), lanes.has_nan(x) if source.name == "f32" else False
    if target.kind != "f":
        lanes.write(destination, _whole(lanes, value, source, target, groups), target)
        return
    if source.kind != "f":
        value, nan = _from_whole(lanes, value, source, target, way), False
    elif source.size == target.size:
        if way:
            value = lanes.one("roundpd" if source.size == 8 else "roundps", value, _ROUNDED[way])
            nan = source.size == 4
    elif target.size == 8:
        value, nan = lanes.doubles_of(lanes.canonical(value) if nan else value), False
    elif way == "rn":
        value = lanes.singles_of(value)
    else:
        raise Unsupported
    if groups.get("sat"):
        if target.size == 8:
            raise Unsupported
        value = lanes.saturated(value)
    lanes.write(destination, value, target, nan)


def _whole(lanes: Lanes, value: Value, source: Type, target: Type, groups: dict[str, str]) -> Value:
    """To a whole number."""
    if source.kind == "f":
        return _cut(lanes, value, source, target, groups.get("way") or "")
    if groups.get("sat"):
        raise Unsupported
    if source.size == 8 and target.size < 8:
        return lanes.low_words(value)
    return lanes.widened(value, source.kind == "s") if target.size == 8 and source.size < 8 else value


def _from_whole(lanes: Lanes, value: Value, source: Type, target: Type, way: str) -> Value:
    if source.size == 8 or way != "rn":
        raise Unsupported
    signed = source.kind == "s" or source.size < 4
    if target.size == 8:
        return lanes.doubles(value, signed)
    return lanes.one("cvtdq2ps", value) if signed else lanes.singles_of(lanes.doubles(value, False))


def _cut(lanes: Lanes, value: Value, source: Type, target: Type, way: str) -> Value:
    """Clamped to the range of the target."""
    if target.size == 8:
        raise Unsupported
    wide = lanes.doubles_of(value) if source.size == 4 else value
    rounded = lanes.one("roundpd", wide, _ROUNDED[way])
    limits = np.iinfo(target.code)
    clamped = lanes.each("maxpd", rounded, lanes.number64(float(limits.min)))
    clamped = lanes.each("minpd", clamped, lanes.number64(float(limits.max)))
    result = lanes.whole(clamped, target.kind == "s")
    bad = lanes.low_words(lanes.each("cmppd", wide, wide, 3))
    nothing = 0
    if source.size == 8:
        nothing = (1 << (8 * target.size - 1)) if target.kind == "u" else int(limits.min)
    return lanes.choose(bad[0], lanes.constant(nothing, 4), result)
