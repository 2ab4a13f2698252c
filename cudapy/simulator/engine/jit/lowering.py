"""Machine code of instructions: of rules that are expressions, their text, evaluated over terms.

An instruction of which `PRIMITIVES` lacks a function is Unsupported, and runs on the NumPy engine.
"""

from __future__ import annotations

import ast
import functools
from types import CodeType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arithmetic import arrays
from ..ptx.syntax import Integer
from ..ptx.types import Type
from . import accesses, conversions, data, floats, halves, integers, warp_operations  # noqa: F401 (they register primitives)
from .lanes import Lanes, Unsupported
from .primitive import PRIMITIVES
from .terms import Term

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..instructions import Match
    from ..instructions.accesses import MemoryAccess
    from ..ptx.syntax import Instruction

_NUMBERS = {
    f"np.{name}": getattr(np, name) for name in ("float32", "float64", "uint16", "uint32", "uint64", "int32")
}
"""What expressions make constants with."""
_SCOPE: dict[str, Any] = {name: value for name, value in vars(arrays).items() if isinstance(value, np.dtype)}
_SCOPE["bool"] = bool


class _Compiled:
    """An expression, and the functions that it names."""

    def __init__(self, text: str) -> None:
        tree = ast.parse(text, mode="eval")
        self.code: CodeType = compile(tree, "<rule>", "eval")
        names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
        self.names = {node.id for node in names} - {"np"}
        self.numpy = {
            f"np.{node.attr}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "np"
        }


_compiled = functools.cache(_Compiled)


@functools.cache
def _scope() -> dict[str, Any]:
    of_numpy = {name: value for name, value in (_NUMBERS | PRIMITIVES).items() if name.startswith("np.")}
    functions = {name: value for name, value in PRIMITIVES.items() if not name.startswith("np.")}
    numpy = SimpleNamespace(**{name.removeprefix("np."): value for name, value in of_numpy.items()})
    return _SCOPE | functions | {"np": numpy}


def _evaluate(text: str, names: dict[str, Any]) -> Any:
    """The value of an expression over terms. Raises Unsupported if there is no such function."""
    compiled, scope = _compiled(text), _scope()
    if not compiled.names <= names.keys() | scope.keys():
        raise Unsupported
    if not compiled.numpy <= _NUMBERS.keys() | PRIMITIVES.keys():
        raise Unsupported
    return eval(compiled.code, scope | {"__builtins__": {}}, names)


_DESCRIBED: dict[str, Callable[[Lanes, MemoryAccess], None]] = {
    "load": accesses.load, "store": accesses.store, "atomic": accesses.atomic,
}  # fmt: skip
"""What rules without an expression do, from descriptions."""
_EFFECTS: dict[str, Callable[[Lanes, Instruction, dict[str, str]], None]] = {
    "move": data.move,
    "convert_address": data.convert_address,
    "nothing": lambda lanes, instruction, groups: None,
    "active": warp_operations.active,
    "shuffle": warp_operations.shuffle,
    "vote": warp_operations.vote,
    "synchronize": lambda lanes, instruction, groups: None,
}
"""The same, from operands."""


def lower(lanes: Lanes, instruction: Instruction, match: Match) -> None:
    """Add the steps of an instruction. Raises Unsupported, and PTXError."""
    rule, groups = match
    lanes.guard = None
    truth = lanes.truth(instruction)
    lanes.guard = None if truth is None else truth[0]
    if rule.expression:
        _lower(lanes, instruction, match)
    elif rule.describe is not None and rule.effect in _DESCRIBED:
        _DESCRIBED[rule.effect](lanes, rule.describe(instruction, groups))
    elif rule.effect in _EFFECTS:
        _EFFECTS[rule.effect](lanes, instruction, groups)
    else:
        raise Unsupported
    lanes.guard = None


def _lower(lanes: Lanes, instruction: Instruction, match: Match) -> None:
    rule, groups = match
    expression, slots, destination, operands, constants = rule.reading(instruction, groups)
    names: dict[str, Any] = {
        name: np.dtype(value.code) if isinstance(value, Type) else value for name, value in constants.items()
    }
    kinds = [rule.slot_type(slot, groups) for slot in slots]
    if any(kind.size == 16 for kind in kinds):
        raise Unsupported
    floats_read = [one for one, kind in zip(operands, kinds, strict=True) if kind.kind == "f"]
    has_nan = [lanes.has_nan(one) for one in floats_read]
    is_canonical = rule.canonicalizes(groups, has_nan)
    for slot, operand, kind in zip(slots, operands, kinds, strict=True):
        if slot.is_literal and isinstance(operand, Integer):
            names[slot.name] = operand.value
            continue
        term = Term(lanes, lanes.read(operand, kind), kind)
        if is_canonical and kind.name in ("f16", "f32") and lanes.has_nan(operand):
            term = floats.canonicalize_nan(term)
        if groups.get("ftz") and kind.name == "f32" and not rule.copies:
            term = floats.flush(term)
        names[slot.name] = term.astype(names["W"]) if slot.is_widened else term
    unspecified_nan = (bool(floats_read) and not rule.copies) or (any(has_nan) and not is_canonical)

    def evaluate(text: str, d: Term) -> Any:
        return _evaluate(text, names | {"d": d})

    result = _evaluate(expression, names)
    for operand, value, kind in rule.outputs(destination, groups, result, evaluate):
        if not isinstance(value, Term) or value.kind.size != kind.size:
            raise Unsupported
        lanes.write(operand, value.value, kind, unspecified_nan and kind.code in ("f4", "f2"))
