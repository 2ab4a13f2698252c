"""Which instructions there is machine code for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..checks import BOUNDS
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
from .lanes import Lanes, Unsupported
from .lowering import lower
from .processor import assembler

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from ..compile.function import FunctionCompiler
    from ..compile.graph import Step
    from ..ptx.types import Type
    from .accesses import MemoryStep
    from .streams import Stream

_known: dict[Hashable, bool] = {}
_MOST_KNOWN = 1 << 14


def is_supported(
    step: Step, function: FunctionCompiler, checks: frozenset[str] = frozenset({BOUNDS})
) -> bool:
    """Whether an instruction of a function can be in a region that makes these checks."""
    rule, instruction = step.match.rule, step.instruction
    if rule.since > function.architecture or rule.yields:
        return False
    if rule.convergence_mask and instruction.guard is not None:
        return False
    if rule.ends_block:
        first = next(iter(instruction.operands), None)
        is_barrier = rule.name in ("bar", "barrier") and _is_of_all(step)
        return is_barrier or rule.name == "bra" or (rule.name == "brx" and _is_word(first, function))
    if any(isinstance(one, Symbol) for one in _parts(instruction.operands)):
        return _is_supported(step, function, checks)
    key = (
        checks,
        instruction.opcode,
        instruction.guard is not None,
        *(_sort_of(one, function) for one in instruction.operands),
    )
    known = _known.get(key)
    if known is None:
        if len(_known) > _MOST_KNOWN:
            _known.clear()
        known = _known[key] = _is_supported(step, function, checks)
    return known


def _is_of_all(step: Step) -> bool:
    """Whether a barrier is number 0 of all threads of the block, who do nothing else there."""
    groups, operands = step.match.groups, step.instruction.operands
    if groups.get("action") != "sync" or groups.get("op") or step.instruction.guard is not None:
        return False
    return not operands or (len(operands) == 1 and operands[0] == Integer(0))


def _is_word(operand: Operand | None, function: FunctionCompiler) -> bool:
    """Whether an operand is a register of 32 bits."""
    kind = function.registers.get(operand.name) if isinstance(operand, Register) else None
    return kind is not None and kind.size == 4


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


def _is_supported(step: Step, function: FunctionCompiler, checks: frozenset[str]) -> bool:
    try:
        lower(Lanes(_Anywhere(function, checks)), step.instruction, step.match)
    except (Unsupported, PTXError):  # a mistake is reported where code for NumPy is written
        return False
    return True


class _Anywhere:
    """Stands in for a region, of which no code is made."""

    number = 0
    is_calm = False
    found = 0
    stream: Stream | None = None

    def __init__(self, function: FunctionCompiler, checks: frozenset[str]) -> None:
        self.function, self.checks, self.out = function, checks, assembler()

    def location(self, name: str) -> int:
        return 0

    def constant(self, bits: int, size: int) -> int:
        return 0

    def input(self, expression: str, kind: Type) -> int:
        return 0

    def is_read(self, name: str) -> bool:
        return True

    def end_stretch(self) -> None:
        pass

    def changes(self, registers: Iterable[str]) -> None:
        pass

    def room_for_site(self, mode: int) -> int:
        return 0

    def leave_before(self) -> str | None:
        return None

    def leave_to_python(self, step: MemoryStep) -> tuple[str, str]:
        return self.out.new_label(), self.out.new_label()
