"""Accesses to multicast memory.

Source: PTX ISA, "multimem.ld_reduce, multimem.st, multimem.red". Of the types and vectors, those that ptxas
takes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..access import ATOMIC, READ, WRITE
from ..ptx.types import TYPES
from .data import asked, parts
from .rule import Rule, rule

if TYPE_CHECKING:
    from ..compile.block import BlockWriter
    from ..ptx.syntax import Instruction

_MODES = {"ld_reduce": READ, "st": WRITE, "red": ATOMIC}


def _multimem(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    what, kind = groups["what"], TYPES[groups["T"]]
    first, second = instruction.operands
    address, data = (second, first) if what == "ld_reduce" else (first, second)
    items = parts(writer, data, groups)
    values = [] if what == "ld_reduce" else [writer.canonicalized(item, kind) for item in items]
    where, access = asked(writer, address, kind, len(items), _MODES[what])
    copies = writer.let(f"L.multimem.at({where}, {access}, I)")
    how = f"{groups.get('op')!r}, {groups['T']!r}"
    for number, item in enumerate(items):
        if what == "ld_reduce":
            call = f"L.multimem.load({copies}, {number}, {how}, {groups.get('precision')!r})"
            writer.write(item, call, kind)
        elif what == "st":
            writer.line(f"L.multimem.store({copies}, {number}, {values[number]}, I)")
        else:
            writer.line(f"L.multimem.red({copies}, {number}, {how}, {values[number]}, I)")


def _rules(what: str, orders: str) -> list[Rule]:
    head = f"multimem.<what:{what}>[.order:{orders}][.scope:cta|cluster|gpu|sys][.space:global]"
    operands = "d a" if what == "ld_reduce" else "a"
    add, extreme, bits, any_of = ".<op:add>", ".<op:min|max>", ".<op:and|or|xor>", ".<op:add|min|max>"
    half, small = "[.precision:acc::f32]", "[.precision:acc::f16]"
    if what == "st":
        forms = [".<T:b32|b64|u32|u64|s32|s64|f64>", "[.vector:v2|v4].<T:f32>"]
        add = any_of = ""
    else:
        forms = [
            f"{add}.<T:u32|s32|u64|f64>",
            f"{extreme}.<T:u32|s32|u64|s64>",
            f"{bits}.<T:b32|b64>",
            f"{add}[.vector:v2|v4].<T:f32>",
        ]
    vectors = (".<vector:v2|v4|v8>.<T:f16|bf16>", ".<vector:v2|v4>.<T:f16x2|bf16x2>")
    alone = ".<T:f16x2|bf16x2>"
    if what == "ld_reduce":
        forms += [op + form for form in (*vectors, alone) for op in (add + half, extreme)]
    else:
        forms += [any_of + form for form in vectors] + [add + alone]
    rules = [(form, 90) for form in forms]
    if what != "red":
        small_forms = (
            ".<vector:v4|v8>.<T:e4m3|e5m2>",
            ".<vector:v2|v4|v8>.<T:e4m3x2|e5m2x2>",
            "[.vector:v2|v4].<T:e4m3x4|e5m2x4>",
        )
        ops = (add + small, extreme) if what == "ld_reduce" else ("",)
        rules += [(op + form, 100) for form in small_forms for op in ops]
    return [
        rule(head + form, operands, emit=_multimem, has_effect=True, copies=True, since=since)
        for form, since in rules
    ]


RULES = [
    *_rules("ld_reduce", "weak|relaxed|acquire"),
    *_rules("st", "weak|relaxed|release"),
    *_rules("red", "relaxed|release"),
]
