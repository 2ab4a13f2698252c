"""Atomics and reductions. Threads take turns in the order of their numbers.

Source: PTX ISA, "Parallel Synchronization and Communication Instructions: atom, red".
"""

from typing import Any

from .accesses import SHARED, atomic_of
from .rule import Rule, rule

_HEAD = f"[.order:relaxed|acquire|release|acq_rel][.scope:cta|cluster|gpu|sys][.space:global|{SHARED}]"
_TAIL = "[.hint:L2::cache_hint]"


def _rules(name: str) -> list[Rule]:
    operands = "d a b" if name == "atom" else ""
    more: dict[str, Any] = {"effect": "atomic", "describe": atomic_of, "has_effect": True, "copies": True}
    rules = [
        rule(f"{name}{_HEAD}.<op:add>{_TAIL}.<T:u32|s32|u64|f32|f64>", operands, **more),
        rule(f"{name}{_HEAD}.<op:add>.noftz{_TAIL}.<T:f16|f16x2|bf16|bf16x2>", operands, **more),
        rule(f"{name}{_HEAD}.<op:and|or|xor>{_TAIL}.<T:b32|b64>", operands, **more),
        rule(f"{name}{_HEAD}.<op:min|max>{_TAIL}.<T:u32|s32|u64|s64>", operands, **more),
        rule(f"{name}{_HEAD}.<op:inc|dec>{_TAIL}.<T:u32>", operands, **more),
    ]
    head = f"{name}[.order:relaxed|acquire|release|acq_rel][.scope:cta|cluster|gpu|sys][.space:global]"
    more |= {"since": 90}
    rules += [
        rule(f"{head}.<op:add>{_TAIL}.<vector:v2|v4>.<T:f32>", operands, **more),
        rule(f"{head}.<op:add|min|max>.noftz{_TAIL}.<vector:v2|v4|v8>.<T:f16|bf16>", operands, **more),
        rule(f"{head}.<op:add|min|max>.noftz{_TAIL}.<vector:v2|v4>.<T:f16x2|bf16x2>", operands, **more),
        rule(f"{name}{_HEAD}.<op:cas|exch>{_TAIL}.<T:b128>", operands, **more),
    ]
    del more["since"]
    if name == "red":
        rules.pop()
    if name == "atom":
        rules.append(rule(f"{name}{_HEAD}.<op:exch>{_TAIL}.<T:b32|b64>", operands, **more))
        rules.append(rule(f"{name}{_HEAD}.<op:cas>{_TAIL}.<T:b16|b32|b64>", operands, **more))
    return rules


RULES = [*_rules("atom"), *_rules("red")]
