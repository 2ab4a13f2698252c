"""Machine code of instructions: of rules that are expressions, their text, evaluated over terms.

An instruction of which `PRIMITIVES` lacks a function is Unsupported, and runs on the NumPy engine.
"""

from __future__ import annotations

import ast
import collections
import functools
from types import CodeType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arithmetic import arrays
from ..compile.operands import LONG
from ..ptx.syntax import Integer
from ..ptx.types import Type
from . import (  # those that are not named register primitives
    accesses,
    conversions,  # noqa: F401
    data,
    floats,
    halves,  # noqa: F401
    integers,  # noqa: F401
    warp_operations,  # noqa: F401
)
from .lanes import Lanes, Unsupported
from .terms import PRIMITIVES, Term, bind

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..instructions import Match
    from ..instructions.rule import Slot
    from ..ptx.syntax import Instruction, Operand

_NUMBERS = {
    f"np.{name}": getattr(np, name) for name in ("float32", "float64", "uint16", "uint32", "uint64", "int32")
}
"""What expressions make constants with."""
_SCOPE: dict[str, Any] = {name: value for name, value in vars(arrays).items() if isinstance(value, np.dtype)}
_SCOPE["bool"] = bool


class _Compiled:
    """An expression, and the functions that it names: "multiply_high", "np.minimum", "warps.shuffle"."""

    def __init__(self, text: str) -> None:
        tree = ast.parse(text, mode="eval")
        self.code: CodeType = compile(tree, "<rule>", "eval")
        dotted = {
            node.value: f"{node.value.id}.{node.attr}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        }
        self.names = {
            (node.id, dotted.get(node, node.id)) for node in ast.walk(tree) if isinstance(node, ast.Name)
        }
        """Each with what it is part of."""


_compiled = functools.cache(_Compiled)


@functools.cache
def _scope() -> dict[str, Any]:
    functions, parts = dict(_SCOPE), collections.defaultdict[str, dict[str, Any]](dict)
    for name, value in (_NUMBERS | PRIMITIVES).items():
        part, _, own = name.rpartition(".")
        (parts[part] if part else functions)[own] = value
    scope = functions | {name: SimpleNamespace(**inner) for name, inner in parts.items()}
    bind(scope | {"np": SimpleNamespace(**(vars(np) | parts["np"]))})
    return scope


def _evaluate(text: str, names: dict[str, Any]) -> Any:
    """The value of an expression over terms. Raises Unsupported if there is no such function."""
    compiled, scope = _compiled(text), _scope()
    for name, whole in compiled.names:
        is_known = name in names or name in _SCOPE or whole in PRIMITIVES or whole in _NUMBERS
        if not is_known:
            raise Unsupported
    return eval(compiled.code, scope | {"__builtins__": {}}, names)


_EFFECTS: dict[str, Callable[[Lanes, Any], None]] = {
    "nothing": lambda lanes, description: None,
    "load": accesses.load,
    "store": accesses.store,
    "atomic": accesses.atomic,
    "move": data.move,
}
"""What rules without an expression do, from descriptions."""


def lower(lanes: Lanes, instruction: Instruction, match: Match) -> None:
    """Add the steps of an instruction. Raises Unsupported, and PTXError."""
    rule, groups = match
    lanes.guard = None
    truth = lanes.truth(instruction)
    lanes.guard = None if truth is None else truth[0]
    if rule.expression:
        _lower(lanes, instruction, match)
    elif rule.effect in _EFFECTS:
        _EFFECTS[rule.effect](lanes, rule.description(instruction, groups))
    else:
        raise Unsupported
    lanes.guard = None


def _lower(lanes: Lanes, instruction: Instruction, match: Match) -> None:
    rule, groups = match
    reading = rule.reading(instruction, groups)
    kinds = [rule.slot_type(slot, groups) for slot, _ in reading.operands]
    if any(kind.size == 16 for kind in kinds):
        raise Unsupported
    names: dict[str, Any] = {"lanes": lanes, "site": lanes.context.number}
    for name, constant in reading.constants.items():
        names[name] = np.dtype(constant.code) if isinstance(constant, Type) else constant
    if rule.describe is not None:
        names["form"] = rule.describe(instruction, groups)
    floats_read = [
        one for (_, one), kind in zip(reading.operands, kinds, strict=True) if one and kind.kind == "f"
    ]
    has_nan = [lanes.has_nan(one) for one in floats_read]
    is_canonical = rule.canonicalizes(groups, has_nan)

    def read(slot: Slot, operand: Operand, kind: Type) -> Any:
        if slot.is_literal and isinstance(operand, Integer):
            return operand.value
        term = Term(lanes, lanes.read(operand, kind), kind)
        term.operand = operand
        if is_canonical and kind.name in ("f16", "f32") and lanes.has_nan(operand):
            term = floats.canonicalize_nan(term)
        if groups.get("ftz") and kind.name == "f32" and not rule.copies:
            term = floats.flush(term)
        return term.astype(names["W"]) if slot.is_widened else term

    def address(operand: Operand) -> Term:
        return Term(lanes, lanes.address(operand), LONG)

    names |= rule.operand_names(reading, groups, read, address, tuple)
    unspecified_nan = not rule.has_effect and (
        (bool(floats_read) and not rule.copies) or (any(has_nan) and not is_canonical)
    )

    def evaluate(text: str, d: Any) -> Any:
        return _evaluate(text, names | {"d": d})

    result = _evaluate(reading.expression, names)
    for operand, value, kind in rule.outputs(reading.destination, groups, result, evaluate):
        if isinstance(value, np.generic):
            value = lanes.read(Integer(int(value)), kind)
        elif isinstance(value, Term) and value.kind.size == kind.size:
            value = value.value
        else:
            raise Unsupported
        lanes.write(operand, value, kind, unspecified_nan and kind.code in ("f4", "f2"))
