"""Moves, addresses and parameters.

Source: PTX ISA, "Data Movement and Conversion Instructions".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..address_spaces import SPACES
from ..compile.operands import LONG, WORD
from ..compile.parameters import parameter_items
from ..ptx.syntax import Instruction, Operand, Register, Vector
from ..ptx.types import BITS, TYPES
from .lanes import Lanes, Unsupported

if TYPE_CHECKING:
    from ..instructions.accesses import MemoryAccess


def _two(instruction: Instruction) -> tuple[Operand, Operand]:
    """Its operands. Raises Unsupported unless there are two."""
    if len(instruction.operands) != 2:
        raise Unsupported
    first, second = instruction.operands
    return first, second


def move(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    kind = TYPES[groups["T"]]
    target, source = _two(instruction)
    if kind.size == 16:
        raise Unsupported
    if isinstance(target, Vector):
        if kind.size != 8 or len(target.items) != 2:
            raise Unsupported
        value = lanes.read(source, LONG)
        for item, half in zip(target.items, (lanes.low_words(value), lanes.high_words(value)), strict=True):
            lanes.write(item, half, WORD)
        return
    if isinstance(source, Vector):
        if kind.size != 8 or len(source.items) != 2:
            raise Unsupported
        low, high = (lanes.read(item, WORD) for item in source.items)
        lanes.write(target, lanes.words(low, high), TYPES["b64"])
        return
    registers = lanes.function.registers
    if (
        isinstance(source, Register)
        and isinstance(target, Register)
        and source.name in registers
        and target.name in registers
        and registers[source.name].size == registers[target.name].size < 16
        and registers[source.name].kind != "p"
    ):
        lanes.set(target.name, *lanes.value(source.name))
        return
    nan = kind.name == "f32" and lanes.has_nan(source)
    lanes.write(target, lanes.read(source, kind), kind, nan)


def convert_address(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    space, _, part = groups["space"].partition("::")
    base = SPACES.get("cluster" if part == "cluster" else space, 0)
    target, source = _two(instruction)
    value = lanes.read(source, LONG)
    if space == "param" and not groups.get("to"):  # whole from 32 bits, as Batch.whole_parameter_address
        start = lanes.at(lanes.context.input("L.parameter_base()", LONG), True)
        low = lanes.each("pand", lanes.each("psubq", value, start), lanes.constant(0xFFFFFFFF, 8))
        value = lanes.each("paddq", start, low)
    elif base:
        value = lanes.each("psubq" if groups.get("to") else "paddq", value, lanes.constant(base, 8))
    lanes.write(target, value, LONG)


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


def store_parameter(lanes: Lanes, access: MemoryAccess) -> None:
    """st.param, into registers."""
    bits = TYPES[BITS[access.kind.size]]
    for source, slots, part, _ in parameter_items(lanes.function, access):
        if part.size != bits.size:
            raise Unsupported
        lanes.write(slots[0], lanes.read(source, bits), bits)
