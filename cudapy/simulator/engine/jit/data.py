"""Moves, addresses and parameters.

Source: PTX ISA, "Data Movement and Conversion Instructions".
"""

from __future__ import annotations

from ..ptx.syntax import Address, Instruction, Register, Symbol, Vector
from ..ptx.types import BITS, TYPES
from ..run.layout import SPACES
from .lanes import U32, U64, Lanes, Unsupported


def move(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    kind = TYPES[groups["T"]]
    target, source = instruction.operands
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
    registers = lanes.around.registers
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
    lanes.write(target, lanes.read(source, kind), kind, lanes.has_nan(source) and kind.name == "f32")


def convert_address(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    space, _, part = groups["space"].partition("::")
    base = SPACES.get("cluster" if part == "cluster" else space, 0)
    target, source = instruction.operands
    value = lanes.read(source, U64)
    if space == "param" and not groups.get("to"):  # whole from 32 bits, as Batch.whole_parameter_address
        start = lanes.at(lanes.around.input("L.parameter_base()", U64), True)
        low = lanes.each("pand", lanes.each("psubq", value, start), lanes.constant(0xFFFFFFFF, 8))
        value = lanes.each("paddq", start, low)
    elif base:
        value = lanes.each("psubq" if groups.get("to") else "paddq", value, lanes.constant(base, 8))
    lanes.write(target, value, U64)


def load_parameter(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    """ld.param: what all threads have, or a register of the function."""
    kind = TYPES[groups["T"]]
    target, address = instruction.operands
    if not isinstance(address, Address) or not isinstance(address.base, Symbol):
        raise Unsupported
    items = target.items if isinstance(target, Vector) else (target,)
    for number, item in enumerate(items):
        name, offset = address.base.name, address.base.offset + address.offset + number * kind.size
        expression = lanes.around.parameter(name, offset, kind)
        if expression is not None:
            value = lanes.at(lanes.around.input(expression, kind), kind.size == 8)
            if kind.size < 4:
                value = lanes.extended(value, kind)
            lanes.write(item, value, kind)
        elif lanes.around.part_size(name, offset) != kind.size or kind.kind == "p":
            raise Unsupported
        else:
            nan = kind.name == "f32" and lanes.value(f"{name}+{offset}")[1]
            lanes.write(item, lanes.read(Register(f"{name}+{offset}"), kind), kind, nan)


def store_parameter(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    """st.param, into registers."""
    kind = TYPES[groups["T"]]
    address, source = instruction.operands
    if not isinstance(address, Address) or not isinstance(address.base, Symbol):
        raise Unsupported
    items = source.items if isinstance(source, Vector) else (source,)
    for number, item in enumerate(items):
        name, offset = address.base.name, address.base.offset + address.offset + number * kind.size
        if lanes.around.part_size(name, offset) != kind.size:
            raise Unsupported
        bits = TYPES[BITS[kind.size]]
        lanes.write(Register(f"{name}+{offset}"), lanes.read(item, bits), bits)
