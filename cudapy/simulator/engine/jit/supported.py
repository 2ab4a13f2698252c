"""Which instructions there is machine code for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ptx.syntax import (
    Address,
    Integer,
    Negation,
    Operand,
    Pair,
    PTXError,
    Register,
    Special,
    Symbol,
    Vector,
)
from ..ptx.types import BITS, TYPES, Type
from .accesses import access_address, access_of, atomic_of, is_access, is_atomic
from .lanes import Lanes, Unsupported
from .lowering import lower
from .warp_operations import write_warp_operation

if TYPE_CHECKING:
    from collections.abc import Hashable

    from ..compile.function import FunctionCompiler
    from ..compile.graph import Step

_known: dict[Hashable, bool] = {}
_MOST_KNOWN = 1 << 14


def is_supported(step: Step, function: FunctionCompiler) -> bool:
    """Whether an instruction of a function can be in a region."""
    rule, instruction = step.match.rule, step.instruction
    if rule.since > function.architecture or rule.yields:
        return False
    if rule.convergence_mask and instruction.guard is not None:
        return False
    if rule.ends_block:
        return rule.effect == "branch"
    if any(isinstance(one, Symbol) for one in _parts(instruction.operands)):
        return _is_supported(step, function)
    key = (
        instruction.opcode,
        instruction.guard is not None,
        *(_sort_of(one, function) for one in instruction.operands),
    )
    known = _known.get(key)
    if known is None:
        if len(_known) > _MOST_KNOWN:
            _known.clear()
        known = _known[key] = _is_supported(step, function)
    return known


def _parts(operands: tuple[Operand, ...]) -> list[Operand]:
    parts: list[Operand] = []
    for one in operands:
        if isinstance(one, Vector):
            parts += one.items
        else:
            parts.append(one.base if isinstance(one, Address) else one)
    return parts


def _sort_of(operand: Operand, function: FunctionCompiler) -> Hashable:
    """What matters of an operand."""
    if isinstance(operand, Register):
        return function.registers.get(operand.name)
    if isinstance(operand, Vector):
        return tuple(_sort_of(one, function) for one in operand.items)
    if isinstance(operand, Pair):
        return _sort_of(operand.first, function), _sort_of(operand.second, function)
    if isinstance(operand, Negation):
        return "not", _sort_of(operand.operand, function)
    if isinstance(operand, Address):
        return "at", _sort_of(operand.base, function)
    if isinstance(operand, (Integer, Special)):
        return operand
    return type(operand).__name__


def _is_supported(step: Step, function: FunctionCompiler) -> bool:
    lanes = Lanes(_Anywhere(function))
    try:
        if is_access(step):
            access_of(step)
            access_address(lanes, step)
        elif is_atomic(step):
            atomic_of(step)
            access_address(lanes, step)
            lanes.read(step.instruction.operands[-1], TYPES[BITS[TYPES[step.match.groups["T"]].size]])
        elif step.match.rule.convergence_mask:
            write_warp_operation(lanes, step)
        else:
            lower(lanes, step.instruction, step.match)
    except (Unsupported, PTXError):  # a mistake is reported where code for NumPy is written
        return False
    return True


class _Anywhere:
    """Stands in for a region, of which no code is made."""

    def __init__(self, function: FunctionCompiler) -> None:
        self.function = function

    def location(self, name: str) -> int:
        return 0

    def constant(self, bits: int, size: int) -> int:
        return bits

    def input(self, expression: str, kind: Type) -> int:
        return 0
