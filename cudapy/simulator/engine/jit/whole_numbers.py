"""Whole numbers, bits, comparisons and selection; of floats as `floats` has it.

Source: PTX ISA, "Integer Arithmetic Instructions", "Logic and Shift Instructions", "Comparison and Selection
Instructions".
"""

from __future__ import annotations

from ..ptx.syntax import Instruction, Integer, Pair, Register, Sink
from ..ptx.types import TYPES, Type, wider
from . import floats
from .lanes import PRED, SIGN32, SIGN64, U32, Lanes, Unsupported, Value

_WAYS = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}


def _pick(kind: Type, name: str) -> str:
    """The name of a packed operation on 32 or 64 bits."""
    return name + ("q" if kind.size == 8 else "d")


def _product(lanes: Lanes, a: Value, b: Value, kind: Type) -> Value:
    if kind.size < 8:
        return lanes.each("pmulld", a, b)
    low = lanes.each("pmuludq", a, b)
    first = lanes.each("pmuludq", lanes.shifted("psrlq", a, 32), b)
    second = lanes.each("pmuludq", a, lanes.shifted("psrlq", b, 32))
    return lanes.each("paddq", low, lanes.shifted("psllq", lanes.each("paddq", first, second), 32))


def _wide_product(lanes: Lanes, a: Value, b: Value, kind: Type) -> Value:
    """64 bits of 32, or 32 of 16."""
    if kind.size == 2:
        return lanes.each("pmulld", a, b)
    signed = kind.kind == "s"
    name = "pmuldq" if signed else "pmuludq"
    return lanes.each(name, lanes.widened(a, signed), lanes.widened(b, signed))


def add(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    kind = floats.kind_of(groups)
    if kind.kind == "f":
        floats.add(lanes, instruction, groups, kind)
        return
    floats.refuse(groups, instruction, "sat")
    if instruction.opcode.count(".") > 1 or len(instruction.operands) != 3:
        raise Unsupported
    target, x, y = instruction.operands
    a, b = lanes.read(x, kind), lanes.read(y, kind)
    lanes.write(target, lanes.each(_pick(kind, "p" + instruction.name), a, b), kind)


def multiply(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    """mul and mad of whole numbers."""
    kind = floats.kind_of(groups)
    if kind.kind == "f":
        floats.multiply(lanes, instruction, groups, kind)
        return
    floats.refuse(groups, instruction, "sat", "cc")
    target, x, y, *more = instruction.operands
    a, b = lanes.read(x, kind), lanes.read(y, kind)
    if ".wide" in instruction.opcode:
        result, kind = _wide_product(lanes, a, b, kind), TYPES[wider(kind.name)]
    elif ".hi" in instruction.opcode:
        if kind.size == 2:
            result = lanes.shifted("psrad", lanes.each("pmulld", a, b), 16)
        elif kind.size == 4:
            result = lanes.high_words(_wide_product(lanes, a, b, kind))
        else:
            result = _high_product64(lanes, a, b, kind.kind == "s")
    else:
        result = _product(lanes, a, b, kind)
    if more:
        result = lanes.each(_pick(kind, "padd"), result, lanes.read(more[0], kind))
    lanes.write(target, result, kind)


def _high_product64(lanes: Lanes, a: Value, b: Value, signed: bool) -> Value:
    mask = lanes.constant(0xFFFFFFFF, 8)
    x1, y1 = lanes.shifted("psrlq", a, 32), lanes.shifted("psrlq", b, 32)
    lowest = lanes.shifted("psrlq", lanes.each("pmuludq", a, b), 32)
    middle = lanes.each("paddq", lanes.each("pmuludq", x1, b), lowest)
    other = lanes.each("paddq", lanes.each("pand", middle, mask), lanes.each("pmuludq", a, y1))
    high = lanes.each("paddq", lanes.each("pmuludq", x1, y1), lanes.shifted("psrlq", middle, 32))
    high = lanes.each("paddq", high, lanes.shifted("psrlq", other, 32))
    if signed:
        for one, factor in ((a, b), (b, a)):
            high = lanes.each("psubq", high, lanes.each("pand", _negative(lanes, one), factor))
    return high


def _negative(lanes: Lanes, a: Value) -> Value:
    """The masks of negative whole numbers."""
    if len(a) == 2:
        return lanes.each("pcmpgtq", lanes.constant(0, 8), a)
    return lanes.shifted("psrad", a, 31)


def divide(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    """div and rem: in binary64, which has each quotient of 32 bits exactly enough to cut it."""
    kind = floats.kind_of(groups)
    if kind.kind == "f":
        floats.divide(lanes, instruction, groups, kind)
        return
    if kind.size == 8:
        raise Unsupported
    signed = kind.kind == "s"
    target, x, y = instruction.operands
    a, b = lanes.read(x, kind), lanes.read(y, kind)
    ratio = lanes.each("divpd", lanes.doubles(a, signed), lanes.doubles(b, signed))
    result = lanes.whole(ratio, signed)
    if instruction.name == "rem":
        result = lanes.each("psubd", a, lanes.each("pmulld", result, b))
    by_zero = lanes.each("pcmpeqd", b, lanes.constant(0, 4))
    lanes.write(target, lanes.each("por", result, by_zero), kind)


def extreme(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    """min and max."""
    kind = floats.kind_of(groups)
    if kind.kind == "f":
        floats.extreme(lanes, instruction, groups, kind)
        return
    floats.refuse(groups, instruction, "relu")
    target, x, y = instruction.operands
    a, b = lanes.read(x, kind), lanes.read(y, kind)
    if kind.size == 8:
        first, second = (a, b) if instruction.name == "max" else (b, a)
        result = lanes.choose_by(_greater(lanes, first, second, kind), a, b)
    else:
        result = lanes.each(f"p{instruction.name}{'s' if kind.kind == 's' else 'u'}d", a, b)
    lanes.write(target, result, kind)


def _greater(lanes: Lanes, a: Value, b: Value, kind: Type) -> Value:
    """The masks of a > b, of whole numbers."""
    if kind.kind != "s":
        sign = lanes.constant(SIGN64 if kind.size == 8 else SIGN32, 8 if kind.size == 8 else 4)
        a, b = lanes.each("pxor", a, sign), lanes.each("pxor", b, sign)
    return lanes.each(_pick(kind, "pcmpgt"), a, b)


def negate(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    """neg and abs."""
    kind = floats.kind_of(groups)
    target, x = instruction.operands
    a = lanes.read(x, kind)
    if kind.kind == "f":
        floats.negate(lanes, instruction, groups, kind, a)
        return
    if instruction.name == "neg":
        result = lanes.each(_pick(kind, "psub"), lanes.constant(0, max(kind.size, 4)), a)
    elif kind.size < 8:
        result = lanes.one("pabsd", a)
    else:
        negative = _negative(lanes, a)
        result = lanes.each("psubq", lanes.each("pxor", a, negative), negative)
    lanes.write(target, result, kind)


def logic(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    """and, or, xor."""
    kind = floats.kind_of(groups)
    target, x, y = instruction.operands
    lanes.write(target, lanes.each(f"p{instruction.name}", lanes.read(x, kind), lanes.read(y, kind)), kind)


def invert(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    kind = floats.kind_of(groups)
    target, x = instruction.operands
    lanes.write(target, lanes.inverted(lanes.read(x, kind)), kind)


def logic_of_three(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    """lop3: by the third operand one of two functions of the others."""
    target, x, y, z, *more = instruction.operands
    table = more[0] if len(more) == 1 else None
    if not isinstance(table, Integer) or not isinstance(target, (Register, Sink)):
        raise Unsupported
    bits = TYPES["b32"]
    a, b, c = (lanes.read(one, bits) for one in (x, y, z))

    def of_one(yes: bool, no: bool) -> Value:
        if yes == no:
            return lanes.constant(-1 if yes else 0, 4)
        return a if yes else lanes.inverted(a)

    def chosen(mask: Value, yes: Value, no: Value) -> Value:
        if yes == no:
            return yes
        return lanes.each("pxor", no, lanes.each("pand", lanes.each("pxor", yes, no), mask))

    def of_two(last: int) -> Value:
        def entry(first: int, second: int) -> bool:
            return bool(table.value >> (first << 2 | second << 1 | last) & 1)

        yes, no = (of_one(entry(1, second), entry(0, second)) for second in (1, 0))
        return chosen(b, yes, no)

    lanes.write(target, chosen(c, of_two(1), of_two(0)), bits)


def shift(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    """shl and shr: an amount beyond the width leaves nothing but the sign."""
    kind = floats.kind_of(groups)
    target, x, amount = instruction.operands
    a = lanes.read(x, kind)
    left = instruction.name == "shl"
    if isinstance(amount, Integer) and 0 <= amount.value < 8 * kind.size:
        count = amount.value
        if kind.size == 8 and not left and kind.kind == "s":
            negative = _negative(lanes, a)
            moved = lanes.shifted("psrlq", lanes.each("pxor", a, negative), count)
            result = lanes.each("pxor", moved, negative)
        else:
            name = "psll" if left else "psra" if kind.kind == "s" else "psrl"
            result = lanes.shifted(_pick(kind, name), a, count)
    else:
        count32 = lanes.read(amount, U32)
        if kind.size < 8:
            name = "psllvd" if left else "psravd" if kind.kind == "s" else "psrlvd"
            result = lanes.each(name, a, count32)
        else:
            count64 = lanes.widened(count32, False)
            if left or kind.kind != "s":
                result = lanes.each("psllvq" if left else "psrlvq", a, count64)
            else:
                negative = _negative(lanes, a)
                moved = lanes.each("psrlvq", lanes.each("pxor", a, negative), count64)
                result = lanes.each("pxor", moved, negative)
    lanes.write(target, result, kind)


def shift_funnel(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    target, *operands = instruction.operands
    a, b, n = (lanes.read(one, TYPES["b32"]) for one in operands)
    if groups["mode"] == "clamp":
        n = lanes.each("pminud", n, lanes.constant(32, 4))
    else:
        n = lanes.each("pand", n, lanes.constant(31, 4))
    rest = lanes.each("psubd", lanes.constant(32, 4), n)
    if groups["way"] == "l":
        result = lanes.each("por", lanes.each("psllvd", b, n), lanes.each("psrlvd", a, rest))
    else:
        result = lanes.each("por", lanes.each("psrlvd", a, n), lanes.each("psllvd", b, rest))
    lanes.write(target, result, TYPES["b32"])


def _relation(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> int:
    kind = floats.kind_of(groups)
    a, b = (lanes.read(one, kind) for one in instruction.operands[1:3])
    relation = groups["relation"]
    if kind.kind == "f":
        if groups.get("ftz"):
            a, b = lanes.flushed(a), lanes.flushed(b)
        masks = lanes.each("cmppd" if kind.size == 8 else "cmpps", a, b, floats.COMPARED[relation])
    else:
        relation = _WAYS.get(relation, relation)
        if relation in ("eq", "ne"):
            masks = lanes.each(_pick(kind, "pcmpeq"), a, b)
        else:
            masks = _greater(lanes, *((a, b) if relation in ("gt", "le") else (b, a)), kind)
        if relation in ("ne", "le", "ge"):
            masks = lanes.inverted(masks)
    return lanes.low_words(masks)[0] if len(masks) == 2 else masks[0]


def set_predicate(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    """setp"""
    target = instruction.operands[0]
    plain: Value = (_relation(lanes, instruction, groups),)
    results = [plain, lanes.inverted(plain)] if isinstance(target, Pair) else [plain]
    if groups.get("combine"):
        other = lanes.read(instruction.operands[3], PRED)
        results = [lanes.each(f"p{groups['combine']}", one, other) for one in results]
    targets = (target.first, target.second) if isinstance(target, Pair) else (target,)
    for one, result in zip(targets, results, strict=True):
        lanes.write(one, result, PRED)


def set_number(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    """set"""
    if groups.get("combine") or groups["D"] not in ("u32", "s32", "f32"):
        raise Unsupported
    result: Value = (_relation(lanes, instruction, groups),)
    kind = "s32"  # all ones in wider registers, too
    if groups["D"] == "f32":
        kind, result = "f32", lanes.each("pand", result, lanes.number32(1.0))
    lanes.write(instruction.operands[0], result, TYPES[kind])


def select(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    """selp"""
    kind = floats.kind_of(groups)
    target, x, y, condition = instruction.operands
    a, b = ((lanes.read(one, kind), kind.name == "f32" and lanes.has_nan(one)) for one in (x, y))
    value, nan = lanes.mixed(lanes.read(condition, PRED)[0], a, b)
    lanes.write(target, value, kind, nan)
