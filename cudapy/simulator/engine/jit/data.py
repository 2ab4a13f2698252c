"""Moves, addresses and parameters.

Source: PTX ISA, "Data Movement and Conversion Instructions".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..address_spaces import SPACES
from ..ptx.syntax import Address, Instruction, Operand, Register, Symbol, Vector
from ..ptx.types import BITS, TYPES, Type
from .lanes import U32, U64, Lanes, Unsupported

if TYPE_CHECKING:
    from collections.abc import Iterator


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
        value = lanes.read(source, U64)
        for item, half in zip(target.items, (lanes.low_words(value), lanes.high_words(value)), strict=True):
            lanes.write(item, half, U32)
        return
    if isinstance(source, Vector):
        if kind.size != 8 or len(source.items) != 2:
            raise Unsupported
        low, high = (lanes.read(item, U32) for item in source.items)
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
    value = lanes.read(source, U64)
    if space == "param" and not groups.get("to"):  # whole from 32 bits, as Batch.whole_parameter_address
        start = lanes.at(lanes.context.input("L.parameter_base()", U64), True)
        low = lanes.each("pand", lanes.each("psubq", value, start), lanes.constant(0xFFFFFFFF, 8))
        value = lanes.each("paddq", start, low)
    elif base:
        value = lanes.each("psubq" if groups.get("to") else "paddq", value, lanes.constant(base, 8))
    lanes.write(target, value, U64)


def load_parameter(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    """ld.param: what all threads have, or a register of the function."""
    kind = TYPES[groups["T"]]
    target, address = _two(instruction)
    for item, name, offset in _parts(address, target, kind):
        expression = _expression(lanes, name, offset, kind)
        if expression is not None:
            value = lanes.at(lanes.context.input(expression, kind), kind.size == 8)
            if kind.size < 4:
                value = lanes.extended(value, kind)
            lanes.write(item, value, kind)
        elif _slot_size(lanes, name, offset) != kind.size or kind.kind == "p":
            raise Unsupported
        else:
            nan = kind.name == "f32" and lanes.value(f"{name}+{offset}")[1]
            lanes.write(item, lanes.read(Register(f"{name}+{offset}"), kind), kind, nan)


def store_parameter(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    """st.param, into registers."""
    kind = TYPES[groups["T"]]
    address, source = _two(instruction)
    for item, name, offset in _parts(address, source, kind):
        if _slot_size(lanes, name, offset) != kind.size:
            raise Unsupported
        bits = TYPES[BITS[kind.size]]
        lanes.write(Register(f"{name}+{offset}"), lanes.read(item, bits), bits)


def _slot_size(lanes: Lanes, name: str, offset: int) -> int | None:
    """The size of the part of a parameter that is kept in a register there."""
    return lanes.function.compiled.param_slots.get(name, {}).get(offset)


def _parts(address: Operand, data: Operand, kind: Type) -> Iterator[tuple[Operand, str, int]]:
    """What is loaded or stored, each with the parameter and the offset in it. Raises Unsupported."""
    if not isinstance(address, Address) or not isinstance(address.base, Symbol):
        raise Unsupported
    start = address.base.offset + address.offset
    for number, item in enumerate(data.items if isinstance(data, Vector) else (data,)):
        yield item, address.base.name, start + number * kind.size


def _expression(lanes: Lanes, name: str, offset: int, kind: Type) -> str | None:
    """The expression of a kernel's parameter; None if its parts are registers. Raises Unsupported."""
    function = lanes.function
    if name in function.compiled.param_slots:
        return None
    sizes = {one.name: one.size for one in function.text.prototype.parameters}
    if name not in sizes or not 0 <= offset <= sizes[name] - kind.size or kind.size > 8:
        raise Unsupported
    return f"L.parameter({name!r}, {offset}, {kind.code})"
