"""Bits, comparisons and selections.

Source: PTX ISA, "Logic and Shift Instructions", "Comparison and Selection Instructions".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ptx.syntax import Integer, Pair, PTXError
from ..ptx.types import TYPES
from .rule import rule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..compile.block import BlockWriter
    from ..ptx.syntax import Instruction, Operand

_PYTHON = {
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "lo": "<",
    "ls": "<=",
    "hi": ">",
    "hs": ">=",
}
_COMBINE = {"and": "&", "or": "|", "xor": "^"}
_COMPARED = "b16|b32|b64|integers"
_RELATIONS = "eq|ne|lt|le|gt|ge|lo|ls|hi|hs"
_FLOAT_RELATIONS = "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan"


def _compare(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> str:
    """The name of what a comparison gives, combined with a third operand where there is one."""
    kind = TYPES[groups["T"]]
    a, b = (writer.read(operand, kind) for operand in instruction.operands[1:3])
    relation = groups["relation"]
    if kind.kind == "f":
        if groups.get("ftz"):
            flush = "flush" if kind.name == "f32" else "flush16"
            a, b = writer.let(f"{flush}({a})"), writer.let(f"{flush}({b})")
        if relation in ("eq", "lt", "le", "gt", "ge"):
            result = writer.let(f"{a} {_PYTHON[relation]} {b}")
        else:
            result = writer.let(f"compare({a}, {b}, {relation!r})")
    elif kind.kind == "x":
        result = writer.let(f"relate(bfloat_to_single({a}), bfloat_to_single({b}), {relation!r})")
    else:
        result = writer.let(f"{a} {_PYTHON[relation]} {b}")
    if groups.get("combine"):
        if len(instruction.operands) != 4:
            raise PTXError("4 operands are expected")
        other = writer.read(instruction.operands[3], TYPES["pred"])
        return writer.let(f"{result} {_COMBINE[groups['combine']]} {other}")
    return result


def _set_predicate(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    """setp: the second destination gets the comparison's opposite, combined in the same way."""
    destination = instruction.operands[0]
    pred = TYPES["pred"]
    if not isinstance(destination, Pair):
        writer.write(destination, _compare(writer, instruction, groups), pred)
        return
    plain = _compare(writer, instruction, groups | {"combine": ""})
    opposite = writer.let(f"np.logical_not({plain})")
    if groups.get("combine"):
        other = writer.read(instruction.operands[3], pred)
        operator = _COMBINE[groups["combine"]]
        plain = writer.let(f"{plain} {operator} {other}")
        opposite = writer.let(f"{opposite} {operator} {other}")
    writer.write(destination.first, plain, pred)
    writer.write(destination.second, opposite, pred)


def _set(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    """set: all ones, or 1.0, where the comparison holds."""
    kind = TYPES[groups["D"]]
    result = _compare(writer, instruction, groups)
    if kind.kind == "f":
        writer.write(instruction.operands[0], f"{result}.astype({kind.code})", kind)
    else:
        writer.write(instruction.operands[0], f"-{result}.astype(i4)", TYPES["s32"])


def _set_half(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    """set with a 16-bit result: 1.0, or all ones."""
    kind = groups["D"]
    one = {"f16": 0x3C00, "bf16": 0x3F80}.get(kind, 0xFFFF)
    truth = _compare(writer, instruction, groups)
    result = f"{truth}.astype(u2) * {writer.constant(one, 'u2')}"
    writer.write(instruction.operands[0], result, TYPES["s16" if kind == "s16" else "u16"])


def _packed_compare(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    """setp and set of pairs of 16-bit numbers."""
    kind, word = groups["T"], TYPES["b32"]
    a, b = (writer.read(operand, word) for operand in instruction.operands[1:3])
    low, high = writer.let_pair(
        f"compare_pairs({a}, {b}, {groups['relation']!r}, {kind!r}, {bool(groups.get('ftz'))})"
    )
    destination = instruction.operands[0]
    if groups.get("combine"):
        other = writer.read(instruction.operands[3], TYPES["pred"])
        low, high = (writer.let(f"{one} {_COMBINE[groups['combine']]} {other}") for one in (low, high))
    if instruction.name == "setp":
        if isinstance(destination, Pair):
            writer.write(destination.second, high, TYPES["pred"])
            destination = destination.first
        writer.write(destination, low, TYPES["pred"])
    else:
        writer.write(destination, f"join_truth({low}, {high}, {groups['D']!r})", word)


def _logic(writer: BlockWriter, words: Sequence[Operand], table: Operand) -> str:
    """The result of lop3, whose table is a number."""
    if not isinstance(table, Integer):
        raise PTXError("the last operand is a number")
    a, b, c = (writer.read(one, TYPES["b32"]) for one in words)
    return writer.let(f"logic3({a}, {b}, {c}, {writer.read(table, TYPES['u32'])})")


def _logic3(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    destination, *words, table = instruction.operands
    writer.write(destination, _logic(writer, words, table), TYPES["b32"])


def _logic_and_predicate(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    """lop3 with a second destination: whether any bit of the first is set, combined with a predicate."""
    destination, *words, table, other = instruction.operands
    if not isinstance(destination, Pair):
        raise PTXError("two destinations are expected")
    result = _logic(writer, words, table)
    truth = f"({result} != 0) {_COMBINE[groups['combine']]} {writer.read(other, TYPES['pred'])}"
    is_set = writer.let(truth)
    writer.write(destination.first, result, TYPES["b32"])
    writer.write(destination.second, is_set, TYPES["pred"])


def _shift(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    """shl and shr."""
    destination, operand, amount = instruction.operands
    is_left = instruction.name == "shl"
    width = 8 * TYPES[groups["T"]].size
    if isinstance(amount, Integer) and 0 <= amount.value < width:
        if is_left:
            groups = writer.in_known_sign(instruction, groups)
        kind = TYPES[groups["T"]]
        by = writer.constant(amount.value, kind.code)
        expression = f"{writer.read(operand, kind)} {'<<' if is_left else '>>'} {by}"
    else:
        kind, function = TYPES[groups["T"]], "shift_left" if is_left else "shift_right"
        expression = f"{function}({writer.read(operand, kind)}, {writer.read(amount, TYPES['u32'])})"
    writer.write(destination, expression, kind)


def _shift_funnel(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    """shf: the amount is clamped to 32, or taken modulo 32."""
    a, b, n = (writer.read(operand, TYPES["b32"]) for operand in instruction.operands[1:])
    amount = f"np.minimum({n}, np.uint32(32))" if groups["mode"] == "clamp" else f"{n} & np.uint32(31)"
    name = "funnel_left" if groups["way"] == "l" else "funnel_right"
    writer.write(instruction.operands[0], f"{name}({a}, {b}, {amount})", TYPES["b32"])


RULES = [
    rule("and.<T:pred|bits>", "d a b", "a & b", wraps=True),
    rule("or.<T:pred|bits>", "d a b", "a | b", wraps=True),
    rule("xor.<T:pred|bits>", "d a b", "a ^ b", wraps=True),
    rule("not.<T:pred|bits>", "d a", "~a", wraps=True),
    rule("cnot.<T:bits>", "d a", "(a == 0).astype(T)"),
    rule("lop3.<T:b32>", "d a b c e:u32", emit=_logic3),
    rule("lop3.<combine:or|and>.<T:b32>", "d a b c e:u32 f:pred", emit=_logic_and_predicate),
    rule("shl.<T:bits>", "d a b:u32", emit=_shift, wraps=True),
    rule("shr.<T:bits|integers>", "d a b:u32", emit=_shift),
    rule("shf.<way:l|r>.<mode:clamp|wrap>.<T:b32>", "d a b c", emit=_shift_funnel),
    rule("prmt.<T:b32>", "d a b c", "permute(a, b, c)"),
    rule("prmt.<T:b32>.<mode:f4e|b4e|rc8|ecl|ecr|rc16>", "d a b c", "permute_mode(a, b, c, mode)"),
    rule(
        f"setp.<relation:{_RELATIONS}>[.combine:and|or|xor].<T:{_COMPARED}>",
        "d:pred a b",
        emit=_set_predicate,
    ),
    rule(
        f"setp.<relation:{_FLOAT_RELATIONS}>[.combine:and|or|xor][.ftz].<T:f32|f64|f16|bf16>",
        "d:pred a b",
        emit=_set_predicate,
    ),
    rule(
        f"setp.<relation:{_FLOAT_RELATIONS}>[.combine:and|or|xor][.ftz].<T:f16x2|bf16x2>",
        "d:pred a b",
        emit=_packed_compare,
    ),
    rule(
        f"set.<relation:{_RELATIONS}>[.combine:and|or|xor].<D:u32|s32|f32>.<T:{_COMPARED}>",
        "d:D a b",
        emit=_set,
    ),
    rule(
        f"set.<relation:{_FLOAT_RELATIONS}>[.combine:and|or|xor][.ftz].<D:u32|s32|f32>.<T:f32|f64>",
        "d:D a b",
        emit=_set,
    ),
    rule(
        f"set.<relation:{_FLOAT_RELATIONS}>[.combine:and|or|xor][.ftz].<D:f16x2|u32|s32>.<T:f16x2>",
        "d:b32 a b",
        emit=_packed_compare,
    ),
    rule(
        f"set.<relation:{_FLOAT_RELATIONS}>[.combine:and|or|xor][.ftz].<D:bf16x2|u32|s32>.<T:bf16x2>",
        "d:b32 a b",
        emit=_packed_compare,
    ),
    rule(
        f"set.<relation:{_FLOAT_RELATIONS}>[.combine:and|or|xor][.ftz].<D:f16|bf16|u16|s16>.<T:f16|bf16>",
        "d:D a b",
        emit=_set_half,
    ),
    rule(
        f"set.<relation:{_FLOAT_RELATIONS}>[.combine:and|or|xor][.ftz].<D:u32|s32>.<T:f16|bf16>",
        "d:D a b",
        emit=_set,
    ),
    rule("selp.<T:bits|integers|f32|f64>", "d a b c:pred", "choose(c, a, b)", copies=True),
    rule("slct.<T:bits|integers|f32|f64>.s32", "d a b c:s32", "choose(c >= 0, a, b)", copies=True),
    rule(
        "slct[.ftz].<T:bits|integers|f32|f64>.f32",
        "d a b c:f32",
        "choose((flush(c) if ftz else c) >= 0, a, b)",
        copies=True,
    ),
]
