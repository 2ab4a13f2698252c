"""Binary32 and binary64, rounded to nearest.

Source: PTX ISA, "Floating Point Instructions".
"""

from __future__ import annotations

from ..ptx.syntax import Instruction, Operand
from ..ptx.types import TYPES, Type
from .lanes import NAN, SIGN32, SIGN64, Lanes, Unsupported, Value

COMPARED = {
    "eq": 0x00, "lt": 0x11, "le": 0x12, "gt": 0x1E, "ge": 0x1D, "ne": 0x0C, "equ": 0x08, "neu": 0x04,
    "ltu": 0x19, "leu": 0x1A, "gtu": 0x16, "geu": 0x15, "num": 0x07, "nan": 0x03,
}  # fmt: skip
"""The number with which cmpps is told the relation."""


def kind_of(groups: dict[str, str]) -> Type:
    kind = TYPES[groups["T"]]
    if kind.kind == "x" or kind.size == 16 or kind.name in ("f16", "tf32"):
        raise Unsupported
    return kind


def refuse(groups: dict[str, str], instruction: Instruction, *names: str) -> None:
    if any(groups.get(name) for name in names) or any(f".{name}" in instruction.opcode for name in names):
        raise Unsupported


def _require(groups: dict[str, str]) -> bool:
    """Whether subnormal numbers are flushed; Unsupported but for rounding to nearest."""
    if (groups.get("rnd") or "rn") != "rn":
        raise Unsupported
    return bool(groups.get("ftz"))


def _finish(lanes: Lanes, target: Operand, value: Value, kind: Type, groups: dict[str, str]) -> None:
    if groups.get("ftz") and kind.size == 4:
        value = lanes.flushed(value)
    if groups.get("sat"):
        if kind.size == 8:
            raise Unsupported
        value = lanes.saturated(value)
    lanes.write(target, value, kind, nan=kind.size == 4)


def _operands(lanes: Lanes, instruction: Instruction, groups: dict[str, str], kind: Type) -> list[Value]:
    flushes = groups.get("ftz") and kind.size == 4
    values = [lanes.read(one, kind) for one in instruction.operands[1:]]
    return [lanes.flushed(one) for one in values] if flushes else values


def add(lanes: Lanes, instruction: Instruction, groups: dict[str, str], kind: Type) -> None:
    _require(groups)
    a, b = _operands(lanes, instruction, groups, kind)
    if kind.size == 4:
        result = lanes.each(f"{instruction.name}ps", a, b)
    elif instruction.name == "add":
        result = lanes.each("addpd", b, a)  # of two NaN the second one is chosen
    else:
        result = _nan64(lanes, lanes.each("subpd", a, b), a, b, a)
    _finish(lanes, instruction.operands[0], result, kind, groups)


def _nan64(lanes: Lanes, result: Value, a: Value, b: Value, c: Value) -> Value:
    return tuple(lanes.code.nan64(*each) for each in zip(result, a, b, c, strict=True))


def multiply(lanes: Lanes, instruction: Instruction, groups: dict[str, str], kind: Type) -> None:
    """mul, mad and fma."""
    flushes = _require(groups)
    a, b, *more = _operands(lanes, instruction, groups, kind)
    if kind.size == 8:
        if more:
            result = tuple(
                lanes.code.fused("fmadd213pd", x, y, z) for x, y, z in zip(a, b, more[0], strict=True)
            )
            result = _nan64(lanes, result, a, b, more[0])
        else:
            result = lanes.each("mulpd", b, a)
    else:
        if more:
            result = (lanes.code.fused("fmadd213ps", a[0], b[0], more[0][0]),)
        else:
            result = lanes.each("mulps", a, b)
        if flushes:
            result = (lanes.code.settled(result[0], a[0], b[0], more[0][0] if more else None),)
    _finish(lanes, instruction.operands[0], result, kind, groups)


def divide(lanes: Lanes, instruction: Instruction, groups: dict[str, str], kind: Type) -> None:
    """div"""
    a, b = _operands(lanes, instruction, groups, kind)
    if ".approx" not in instruction.opcode and ".full" not in instruction.opcode and _require(groups):
        raise Unsupported  # of a result that is flushed it matters how it was rounded
    result = lanes.each("divpd" if kind.size == 8 else "divps", a, b)
    if ".approx" in instruction.opcode:
        size = lanes.each("pand", b, lanes.constant(NAN, 4))
        above = lanes.each("cmpps", size, lanes.number32(2.0**126), COMPARED["gt"])
        finite = lanes.each("cmpps", size, lanes.constant(0x7F800000, 4), COMPARED["lt"])
        zero = lanes.each("pand", b, lanes.constant(SIGN32, 4))
        lost = lanes.each("mulps", a, zero)
        result = lanes.choose(lanes.each("pand", above, finite)[0], lost, result)
    _finish(lanes, instruction.operands[0], result, kind, groups)


def reciprocal(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    """rcp, sqrt, rsqrt"""
    kind = kind_of(groups)
    approximate = ".approx" in instruction.opcode
    if kind.size == 8 and approximate and groups.get("ftz", "ftz" in instruction.opcode):
        raise Unsupported
    flushes = False if approximate else _require(groups)
    if flushes and instruction.name == "rcp":
        raise Unsupported
    (a,) = _operands(lanes, instruction, groups, kind)
    suffix = "pd" if kind.size == 8 else "ps"
    if instruction.name == "sqrt":
        result = lanes.one(f"sqrt{suffix}", a)
    elif instruction.name == "rcp":
        one = lanes.number64(1.0) if kind.size == 8 else lanes.number32(1.0)
        result = lanes.each(f"div{suffix}", one, a)
    else:
        wide = a if kind.size == 8 else lanes.doubles_of(a)
        result = lanes.each("divpd", lanes.number64(1.0), lanes.one("sqrtpd", wide))
        if kind.size == 4:
            result = lanes.singles_of(result)
    _finish(lanes, instruction.operands[0], result, kind, groups)


def extreme(lanes: Lanes, instruction: Instruction, groups: dict[str, str], kind: Type) -> None:
    """min and max: -0 is before +0; of a number and NaN the number, unless .NaN is said."""
    refuse(groups, instruction, "xorsign", "abs")
    if len(instruction.operands) != 3:
        raise Unsupported
    a, b = _operands(lanes, instruction, groups, kind)
    suffix = "pd" if kind.size == 8 else "ps"
    result = lanes.each(f"{instruction.name}{suffix}", a, b)
    result = lanes.choose_by(lanes.each(f"cmp{suffix}", b, b, 3), a, result)
    same = lanes.each("por" if instruction.name == "min" else "pand", a, b)
    result = lanes.choose_by(lanes.each(f"cmp{suffix}", a, b, 0), same, result)
    if kind.size == 8:
        result = _nan64(lanes, result, a, b, a)
    elif groups.get("NaN"):
        result = lanes.choose_by(lanes.each("cmpps", a, b, 3), lanes.constant(NAN, 4), result)
    _finish(lanes, instruction.operands[0], result, kind, groups)


def negate(lanes: Lanes, instruction: Instruction, groups: dict[str, str], kind: Type, a: Value) -> None:
    """neg and abs"""
    if groups.get("ftz"):
        a = lanes.flushed(a)
    size, sign = (8, SIGN64) if kind.size == 8 else (4, SIGN32)
    if instruction.name == "neg":
        result = lanes.each("pxor", a, lanes.constant(sign, size))
    else:
        result = lanes.each("pand", a, lanes.constant(sign - 1, size))
    if size == 8:
        result = lanes.choose_by(lanes.each("cmppd", a, a, 3), lanes.each("addpd", a, a), result)
    _finish(lanes, instruction.operands[0], result, kind, groups)
