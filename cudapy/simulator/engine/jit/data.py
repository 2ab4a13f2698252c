"""Moves, addresses and parameters.

Source: PTX ISA, "Data Movement and Conversion Instructions".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..checks import RACES
from ..compile.operands import LONG, WORD
from ..compile.parameters import parameter_items
from ..ptx.syntax import Register, Special, Vector
from ..ptx.types import BITS, TYPES, Type
from .lanes import Lanes, Unsupported
from .terms import Term, primitive

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..compile.function import FunctionCompiler
    from ..compile.graph import Step
    from ..instructions.accesses import MemoryAccess
    from ..instructions.data import Move
    from ..ptx.syntax import Operand

FIXED = ("%tid.", "%ntid.", "%ctaid.", "%nctaid.", "%laneid")
"""How the names of special registers begin that the shape of a batch says."""


def move(lanes: Lanes, what: Move) -> None:
    kind, target, source, part = what
    if kind.size == 16 or (part is not None and (kind.size != 8 or part.size != 4)):
        raise Unsupported
    if isinstance(target, Vector):
        value = lanes.read(source, LONG)
        for item, half in zip(target.items, (lanes.low_words(value), lanes.high_words(value)), strict=True):
            lanes.write(item, half, WORD)
    elif isinstance(source, Vector):
        low, high = (lanes.read(item, WORD) for item in source.items)
        lanes.write(target, lanes.words(low, high), LONG)
    elif lanes.is_alike(target, source):
        assert isinstance(source, Register) and isinstance(target, Register)
        lanes.set(target.name, *lanes.value(source.name))
    else:
        nan = kind.name == "f32" and lanes.has_nan(source)
        lanes.write(target, lanes.read(source, kind), kind, nan)


@primitive("batch.whole_parameter_address")
def whole_parameter_address(a: Term) -> Term:
    """As `Batch.whole_parameter_address`: from 32 bits."""
    base = Term(a.lanes, a.lanes.address_of("L.parameter_base()"), LONG)
    return base + (a - base & 0xFFFFFFFF)


@primitive("batch.fence")
def fence(scope: str, lanes: Lanes) -> None:
    """Memory is as if there were one, if the processor's stores are seen in their order."""
    if not lanes.context.out.IN_ORDER:
        raise Unsupported
    lanes.require_unchecked(RACES)


def load_parameter(lanes: Lanes, access: MemoryAccess) -> None:
    """ld.param: what all threads have, or a register of the function."""
    kind = access.kind
    for target, slots, part, expression in parameter_items(lanes.function, access):
        if expression:
            if kind.size > 8:
                raise Unsupported
            value = lanes.at(lanes.context.input(expression, kind), kind.size == 8)
            if kind.size < 4:
                value = lanes.extended(value, kind)
            lanes.write(target, value, kind)
        elif part.size != kind.size:
            raise Unsupported
        else:
            nan = kind.name == "f32" and lanes.has_nan(slots[0])
            lanes.write(target, lanes.read(slots[0], kind), kind, nan)


def given_by(function: FunctionCompiler, step: Step) -> Iterator[tuple[str, str, Type]]:
    """Registers that an instruction sets to inputs of a region, as they are: with the expression that Python
    reads, and its type.
    """
    instruction, rule = step.instruction, step.match.rule
    if instruction.guard is not None:
        return
    if instruction.opcode in ("mov.u32", "mov.b32", "mov.s32"):
        target, source = instruction.operands
        if isinstance(source, Special) and source.name.startswith(FIXED) and _has_size(function, target, 4):
            assert isinstance(target, Register)
            yield target.name, f"L.special.parts({source.name!r})", WORD
    elif rule.effect == "load":
        access = rule.description(instruction, step.match.groups)
        if access.is_of_parameter and access.kind.size in (4, 8):
            for target, _, kind, expression in parameter_items(function, access):
                if expression and isinstance(target, Register) and _has_size(function, target, kind.size):
                    yield target.name, expression, kind


def _has_size(function: FunctionCompiler, operand: Operand, size: int) -> bool:
    declared = function.registers.get(operand.name) if isinstance(operand, Register) else None
    return declared is not None and declared.kind != "p" and declared.size == size


def store_parameter(lanes: Lanes, access: MemoryAccess) -> None:
    """st.param, into registers."""
    bits = TYPES[BITS[access.kind.size]]
    for source, slots, part, _ in parameter_items(lanes.function, access):
        if part.size != bits.size:
            raise Unsupported
        lanes.write(slots[0], lanes.read(source, bits), bits)
