"""Loads and stores that there is machine code for.

Source: PTX ISA, "ld", "st".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ptx.syntax import Vector
from ..ptx.types import TYPES, Type
from . import layout
from .semantics import Lanes, Unsupported

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
    groups = step.match.groups
    space, kind = groups.get("space") or "", TYPES[groups["T"]]
    if space not in CHECKS or groups.get("order", "") not in _KNOWN_ORDERS or kind.size > 8:
        raise Unsupported
    if (groups.get("cop") or "") not in _KNOWN_CACHES:
        raise Unsupported
    count = int((groups.get("vector") or "v1")[1:])
    data = step.instruction.operands[0 if step.instruction.name == "ld" else 1]
    items = data.items if isinstance(data, Vector) else (data,)
    if len(items) != count:
        raise Unsupported
    return space, kind, count


def is_access(step: Step) -> bool:
    """Whether it is a load or store of memory."""
    return step.instruction.name in ("ld", "st") and not (step.match.groups.get("space") or "").startswith(
        "param"
    )


def access_address(lanes: Lanes, step: Step) -> tuple[int, ...]:
    """The addresses of a load or store."""
    return lanes.address(step.instruction.operands[1 if step.instruction.name == "ld" else 0])
