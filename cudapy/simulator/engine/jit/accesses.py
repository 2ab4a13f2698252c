"""Loads and stores that there is machine code for.

Source: PTX ISA, "ld", "st".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ptx.syntax import Vector
from ..ptx.types import TYPES, Type
from . import layout
from .lanes import Lanes, Unsupported, require_operands

if TYPE_CHECKING:
    from ..compile.graph import Step

CHECKS = {
    "global": layout.CHECK_GLOBAL,
    "const": layout.CHECK_GLOBAL,
    "shared": layout.CHECK_SHARED,
    "shared::cta": layout.CHECK_SHARED,
    "local": layout.CHECK_LOCAL,
    "": layout.CHECK_GENERIC,
}
"""The spaces of loads and stores, and what looks whether their addresses are good."""
_KNOWN_ORDERS, _KNOWN_CACHES = ("", "weak"), ("", "ca", "cs", "lu", "wb", "wt")
"""Other loads may wait for what other threads write."""


def access_of(step: Step) -> tuple[str, Type, int]:
    """The space, type and number of items of a load or store. Raises Unsupported."""
    require_operands(step.instruction, 2)
    groups = step.match.groups
    space, kind = groups.get("space") or "", TYPES[groups["T"]]
    if space not in CHECKS or groups.get("order", "") not in _KNOWN_ORDERS or kind.size > 8:
        raise Unsupported
    if (groups.get("cop") or "") not in _KNOWN_CACHES:
        raise Unsupported
    count = int((groups.get("vector") or "v1")[1:])
    data = step.instruction.operands[0 if is_load(step) else 1]
    items = data.items if isinstance(data, Vector) else (data,)
    if len(items) != count:
        raise Unsupported
    return space, kind, count


_ATOMIC = ("add", "and", "or", "xor", "min", "max")


def atomic_of(step: Step) -> tuple[str, Type, str]:
    """The space, type and operation of an atomic. Raises Unsupported."""
    require_operands(step.instruction, 3 if gives_old(step) else 2)
    groups = step.match.groups
    space, kind, op = groups.get("space") or "", TYPES[groups["T"]], groups["op"]
    if space not in CHECKS or space == "const" or groups.get("vector") or op not in _ATOMIC:
        raise Unsupported
    if kind.name not in ("u32", "s32", "b32", "u64", "s64", "b64", "f32", "f64"):
        raise Unsupported
    if kind.kind == "f" and not space:  # memory of each kind adds in its own way
        raise Unsupported
    return space, kind, op


def is_atomic(step: Step) -> bool:
    """Whether it is an atomic or a reduction."""
    return step.match.rule.effect in ("atomic", "reduction")


def gives_old(step: Step) -> bool:
    """Whether it is an atomic with a destination."""
    return step.match.rule.effect == "atomic"


def is_load(step: Step) -> bool:
    return step.match.rule.effect == "load"


def is_access(step: Step) -> bool:
    """Whether it is a load or store of memory."""
    space = step.match.groups.get("space") or ""
    return step.match.rule.effect in ("load", "store") and not space.startswith("param")


def access_address(lanes: Lanes, step: Step) -> tuple[int, ...]:
    """The addresses of an access."""
    return lanes.address(step.instruction.operands[1 if is_load(step) or gives_old(step) else 0])
