"""Atomics and reductions. Threads take turns in the order of their numbers.

Source: PTX ISA, "Parallel Synchronization and Communication Instructions: atom, red".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..access import ATOMIC
from ..ptx.syntax import PTXError, Register
from ..ptx.types import TYPES
from .data import SHARED, place, space_of
from .rule import Rule, rule

if TYPE_CHECKING:
    from ..compile.block import BlockWriter
    from ..ptx.syntax import Instruction, Operand

_HEAD = f"[.order:relaxed|acquire|release|acq_rel][.scope:cta|cluster|gpu|sys][.space:global|{SHARED}]"
_TAIL = "[.hint:L2::cache_hint]"


def _atomic(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    """Both: a reduction is an atomic whose old value nobody reads."""
    kind = TYPES[groups["T"]]
    operands = instruction.operands
    target = operands[0] if instruction.name == "atom" else None
    address, *sources = operands[1:] if target is not None else operands
    if groups.get("vector"):
        _vector(writer, groups, target, address, sources[0])
        return
    values = [writer.canonicalized(source, kind) for source in sources[: 2 if groups["op"] == "cas" else 1]]
    array, index = place(writer, address, space_of(groups), kind, 1, ATOMIC)
    is_used = isinstance(target, Register) and writer.function.is_read(target.name)
    swap = values[1] if len(values) == 2 else "None"
    arguments = f"{array}, {index}, {values[0]}, {swap}, I, {is_used}"
    call = f"L.atomics.apply({groups['op']!r}, {groups['T']!r}, {arguments})"
    if is_used and target is not None:
        writer.write(target, call, kind)
    else:
        writer.line(call)


def _vector(
    writer: BlockWriter, groups: dict[str, str], target: Operand | None, address: Operand, source: Operand
) -> None:
    """Several places beside each other, each an atomic of its own."""
    kind = TYPES[groups["T"]]
    items = writer.items(source)
    targets = writer.items(target) if target is not None else (None,) * len(items)
    if not len(targets) == len(items) == int(groups["vector"][1]):
        raise PTXError(f"{groups['vector'][1]} registers are expected")
    values = [writer.canonicalized(item, kind) for item in items]
    array, index = place(writer, address, space_of(groups), kind, len(items), ATOMIC)
    for number, (one, value) in enumerate(zip(targets, values, strict=True)):
        arguments = f"{array}, {index} + {number}, {value}, None, I, {one is not None}"
        call = f"L.atomics.apply({groups['op']!r}, {groups['T']!r}, {arguments})"
        if one is None:
            writer.line(call)
        else:
            writer.write(one, call, kind)


def _rules(name: str) -> list[Rule]:
    operands = "d a b" if name == "atom" else ""
    effect = "atomic" if name == "atom" else "reduction"
    more: dict[str, Any] = {"emit": _atomic, "effect": effect, "has_effect": True, "copies": True}
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
