"""Parameters of functions: each is kept as the parts that it is read and written in."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, NamedTuple

from ..access import READ
from ..ptx.syntax import Address, FunctionText, PTXError, Register, Symbol, Vector
from ..ptx.types import BITS, TYPES, Type

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..instructions.accesses import MemoryAccess
    from ..ptx.syntax import Instruction, Operand
    from .function import FunctionCompiler

ParamSlots = dict[int, int]
"""The size of the part at each offset, in bytes."""


def find_param_slots(function: FunctionText) -> dict[str, ParamSlots]:
    """The parts of the parameters, results and `.param` variables of a function; not of a kernel's own."""
    names = {
        variable.name: variable.size for variable in function.variables.values() if variable.space == "param"
    }
    names.update({variable.name: variable.size for variable in function.prototype.results})
    if not function.is_entry:
        names.update({variable.name: variable.size for variable in function.prototype.parameters})
    accesses: dict[str, set[tuple[int, int]]] = {name: set() for name in names}
    for instruction in function.instructions:
        for name, offset, size in _accesses(instruction):
            if name in accesses:
                accesses[name].add((offset, size))
    return {name: _parts(sorted(found)) for name, found in accesses.items()}


def _parts(accesses: list[tuple[int, int]]) -> ParamSlots:
    """The parts of a variable with accesses at these offsets, of these sizes: equal ones if some overlap."""
    if any(offset + size > after for (offset, size), (after, _) in itertools.pairwise(accesses)):
        step = math.gcd(8, *itertools.chain(*accesses))
        return dict.fromkeys(range(0, max(map(sum, accesses)), step), step)
    return dict(accesses)


def _accesses(instruction: Instruction) -> Iterator[tuple[str, int, int]]:
    name, *modifiers = instruction.opcode.split(".")
    if name not in ("ld", "st") or len(instruction.operands) < 2:
        return
    if not any(one.startswith("param") for one in modifiers):
        return
    address, data = instruction.operands[name == "ld"], instruction.operands[name != "ld"]
    kind = next((TYPES[one] for one in modifiers if one in TYPES), None)
    if not isinstance(address, Address) or not isinstance(address.base, Symbol) or kind is None:
        return
    for number in range(len(data.items) if isinstance(data, Vector) else 1):
        yield address.base.name, address.base.offset + address.offset + number * kind.size, kind.size


class ParameterItem(NamedTuple):
    """A part of a parameter that an instruction loads or stores."""

    operand: Operand
    """Where it goes, or comes from."""
    slots: tuple[Register, ...]
    """The registers that hold it, the lowest bytes first."""
    part: Type
    """The type of each of them."""
    expression: str
    """Where there are none: the same for all threads, a parameter of the kernel."""


def parameter_items(function: FunctionCompiler, access: MemoryAccess) -> Iterator[ParameterItem]:
    """The items of an access to a parameter. Raises PTXError."""
    variable, size = access.variable, access.kind.size
    assert variable is not None
    name = variable.name
    slots = function.compiled.param_slots.get(name)
    for number, operand in enumerate(access.items):
        offset = variable.offset + number * size
        if slots is None:
            _require_parameter(function, access, name, offset)
            expression = f"L.parameter({name!r}, {offset}, {access.kind.code})"
            yield ParameterItem(operand, (), access.kind, expression)
        else:
            steps = range(offset, offset + size, slots[offset])
            registers = tuple(Register(f"{name}+{step}") for step in steps)
            yield ParameterItem(operand, registers, TYPES[BITS[slots[offset]]], "")


def _require_parameter(function: FunctionCompiler, access: MemoryAccess, name: str, offset: int) -> None:
    """Whether a kernel has a parameter with a value there, to be read. Raises PTXError."""
    if access.mode != READ:
        raise PTXError(f"{name} is not a .param variable that can be written")
    sizes = {one.name: one.size for one in function.text.prototype.parameters}
    if name not in sizes:
        raise PTXError(f"{name} is not a parameter of {function.text.name}")
    if not 0 <= offset <= sizes[name] - access.kind.size:
        raise PTXError(f"{name} has {sizes[name]} bytes, none of them {access.kind.size} at {offset}")
