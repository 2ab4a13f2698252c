"""Accesses to multicast memory.

Source: PTX ISA, "multimem.ld_reduce, multimem.st, multimem.red". Of the types and vectors, those that ptxas
takes.
"""

from typing import Any

from .accesses import load_of, store_of
from .rule import Rule, rule


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
    describe = load_of if what == "ld_reduce" else store_of
    more: dict[str, Any] = {"effect": "multimem", "describe": describe, "has_effect": True, "copies": True}
    return [rule(head + form, operands, since=since, **more) for form, since in rules]


RULES = [
    *_rules("ld_reduce", "weak|relaxed|acquire"),
    *_rules("st", "weak|relaxed|release"),
    *_rules("red", "relaxed|release"),
]
