"""Bits, comparisons and selections.

Source: PTX ISA, "Logic and Shift Instructions", "Comparison and Selection Instructions".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ptx.syntax import Pair
from ..ptx.types import TYPES
from .rule import Rule, rule

if TYPE_CHECKING:
    from ..compile.block import BlockWriter
    from ..ptx.syntax import Instruction

_COMBINE = {"and": "&", "or": "|", "xor": "^"}
_COMPARED = "b16|b32|b64|integers"
_RELATIONS = "eq|ne|lt|le|gt|ge|lo|ls|hi|hs"
_ORDERED, _UNORDERED = "eq|lt|le|gt|ge", "ne|equ|neu|ltu|leu|gtu|geu|num|nan"
_FLOAT_RELATIONS = f"{_ORDERED}|{_UNORDERED}"
_COMBINED = "[.combine:and|or|xor]"


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


def _comparisons(name: str, more: str, destination: str, then: str = "", types: str = "") -> list[Rule]:
    """setp, or set to a type: the rules for each kind of numbers that may be compared."""
    rules = []
    for relations, operand_types, expression in (
        (f"{_RELATIONS}>{_COMBINED}", _COMPARED, "a {relation} b"),
        (f"{_ORDERED}>{_COMBINED}[.ftz]", "f32|f64", "a {relation} b"),
        (f"{_UNORDERED}>{_COMBINED}[.ftz]", "f32|f64", "compare(a, b, relation)"),
        (
            f"{_FLOAT_RELATIONS}>{_COMBINED}[.ftz]",
            "f16",
            "relate(flush16(a) if ftz else a, flush16(b) if ftz else b, relation)",
        ),
        (
            f"{_FLOAT_RELATIONS}>{_COMBINED}[.ftz]",
            "bf16",
            "relate(bfloat_to_single(a), bfloat_to_single(b), relation)",
        ),
    ):
        chosen = "|".join(one for one in operand_types.split("|") if not types or one in types.split("|"))
        if chosen:
            pattern = f"{name}.<relation:{relations}{more}.<T:{chosen}>"
            second = "" if then else "~d"
            rules.append(rule(pattern, f"d:{destination} a b", expression, then=then, second=second))
    return rules


RULES = [
    rule("and.<T:pred|bits>", "d a b", "a & b", wraps=True),
    rule("or.<T:pred|bits>", "d a b", "a | b", wraps=True),
    rule("xor.<T:pred|bits>", "d a b", "a ^ b", wraps=True),
    rule("not.<T:pred|bits>", "d a", "~a", wraps=True),
    rule("cnot.<T:bits>", "d a", "(a == 0).astype(T)"),
    rule("lop3.<T:b32>", "d a b c e:number", "logic3(a, b, c, e)"),
    rule("lop3.<combine:or|and>.<T:b32>", "d a b c e:number", "logic3(a, b, c, e)", second="d != 0"),
    rule("shl.<T:bits>", "d a b:u32", "shift_left(a, b)", literal="a << b", wraps=True),
    rule("shr.<T:bits|integers>", "d a b:u32", "shift_right(a, b)", literal="a >> b"),
    rule("shf.l.clamp.<T:b32>", "d a b c", "funnel_left(a, b, np.minimum(c, np.uint32(32)))"),
    rule("shf.l.wrap.<T:b32>", "d a b c", "funnel_left(a, b, c & np.uint32(31))"),
    rule("shf.r.clamp.<T:b32>", "d a b c", "funnel_right(a, b, np.minimum(c, np.uint32(32)))"),
    rule("shf.r.wrap.<T:b32>", "d a b c", "funnel_right(a, b, c & np.uint32(31))"),
    rule("prmt.<T:b32>", "d a b c", "permute(a, b, c)"),
    rule("prmt.<T:b32>.<mode:f4e|b4e|rc8|ecl|ecr|rc16>", "d a b c", "permute_mode(a, b, c, mode)"),
    *_comparisons("setp", "", "pred"),
    rule(
        f"setp.<relation:{_FLOAT_RELATIONS}>[.combine:and|or|xor][.ftz].<T:f16x2|bf16x2>",
        "d:pred a b",
        emit=_packed_compare,
    ),
    *_comparisons("set", ".<E:u32|s32>", "s32", "-d.astype(i4)"),
    *_comparisons("set", ".f32", "f32", "d.astype(f4)", types="b16|b32|b64|integers|f32|f64"),
    *_comparisons("set", ".f16", "u16", "d.astype(u2) * np.uint16(0x3C00)", types="f16|bf16"),
    *_comparisons("set", ".bf16", "u16", "d.astype(u2) * np.uint16(0x3F80)", types="f16|bf16"),
    *_comparisons("set", ".<E:u16|s16>", "E", "(-d.astype(i2)).view(D)", types="f16|bf16"),
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
    rule("selp.<T:bits|integers|f32|f64>", "d a b c:pred", "choose(c, a, b)", copies=True),
    rule("slct.<T:bits|integers|f32|f64>.s32", "d a b c:s32", "choose(c >= 0, a, b)", copies=True),
    rule(
        "slct[.ftz].<T:bits|integers|f32|f64>.f32",
        "d a b c:f32",
        "choose((flush(c) if ftz else c) >= 0, a, b)",
        copies=True,
    ),
]
