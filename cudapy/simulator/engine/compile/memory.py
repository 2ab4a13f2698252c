"""Loads, stores and atomics on NumPy, from their descriptions: `instructions.accesses`.

The methods that are called check the addresses, and make the checks that a launch asks for: see `checks`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..access import ATOMIC, READ, WRITE
from ..ptx.syntax import PTXError, Register
from ..ptx.types import BITS, TYPES
from .parameters import parameter_items

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..instructions.accesses import MemoryAccess
    from .block import BlockWriter

_METHODS = {
    "global": "global_memory.at",
    "const": "global_memory.at",
    "param": "global_memory.at",
    "shared": "shared.at",
    "cluster": "shared.at_cluster",
    "local": "local.at",
    "generic": "spaces.at_generic",
}
"""What finds the places of addresses: see `run.spaces`."""


def load(writer: BlockWriter, access: MemoryAccess) -> None:
    if access.is_of_parameter:
        _load_parameter(writer, access)
        return
    if access.space in ("global", "const") and len(access.items) == 1:
        where = writer.address(access.address)
        arguments = ", ".join(filter(None, (where, _asked(writer, access), "I", writer.terms(where))))
        writer.write(access.items[0], f"L.global_memory.load({arguments})", access.kind)
        return
    if access.space == "shared":
        near = writer.near(access.address)
        method, where = ("load", writer.address(access.address)) if near is None else ("load_near", near)
        values = writer.let(f"L.shared.{method}({where}, {_asked(writer, access)}, I)")
        for number, item in enumerate(access.items):
            writer.write(item, f"{values}[{number}]", access.kind)
        return
    array, index = _place(writer, access)
    for number, item in enumerate(access.items):
        place = f"{index} + {number}" if number else index
        writer.write(item, f"{array}.take({place})", access.kind)


def store(writer: BlockWriter, access: MemoryAccess) -> None:
    if access.is_of_parameter:
        _store_parameter(writer, access)
        return
    values = [writer.canonicalized(item, access.kind) for item in access.items]
    if access.space in ("global", "const") and len(values) == 1:
        where = writer.address(access.address)
        terms = writer.terms(where)
        arguments = ", ".join(filter(None, (where, _asked(writer, access), values[0], "I", terms)))
        writer.line(f"L.global_memory.store({arguments})")
        return
    array, index = _place(writer, access, values)
    for number, value in enumerate(values):
        writer.line(f"put({array}, {f'{index} + {number}' if number else index}, {value})")


def atomic(writer: BlockWriter, access: MemoryAccess) -> None:
    """Items beside each other are atomics of their own."""
    if access.targets and len(access.targets) != len(access.items):
        raise PTXError(f"{len(access.items)} registers are expected")
    values = [writer.canonicalized(item, access.kind) for item in access.items]
    swap = "None" if access.swap is None else writer.canonicalized(access.swap, access.kind)
    array, index = _place(writer, access)
    for number, value in enumerate(values):
        target = access.targets[number] if access.targets else None
        is_used = isinstance(target, Register) and writer.function.is_read(target.name)
        place = f"{index} + {number}" if number else index
        arguments = (
            f"{access.operation!r}, {access.kind.name!r}, {array}, {place}, {value}, {swap}, I, {is_used}"
        )
        if target is not None and is_used:
            writer.write(target, f"L.atomics.apply({arguments})", access.kind)
        else:
            writer.line(f"L.atomics.apply({arguments})")


def multimem(writer: BlockWriter, access: MemoryAccess) -> None:
    """Loads, stores and reductions of multicast memory."""
    kind, how = access.kind, f"{access.operation!r}, {access.kind.name!r}"
    values = [] if access.mode == READ else [writer.canonicalized(item, kind) for item in access.items]
    copies = writer.let(f"L.multimem.at({writer.address(access.address)}, {_asked(writer, access)}, I)")
    for number, item in enumerate(access.items):
        if access.mode == READ:
            writer.write(item, f"L.multimem.load({copies}, {number}, {how}, {access.precision!r})", kind)
        elif access.mode == WRITE:
            writer.line(f"L.multimem.store({copies}, {number}, {values[number]}, I)")
        else:
            writer.line(f"L.multimem.red({copies}, {number}, {how}, {values[number]}, I)")


def _load_parameter(writer: BlockWriter, access: MemoryAccess) -> None:
    kind = access.kind
    for target, slots, part, expression in parameter_items(writer.function, access):
        if expression:
            writer.write(target, expression, kind)
        elif len(slots) == 1:
            if isinstance(target, Register) and writer.function.registers[target.name].size == part.size:
                writer.move(target, slots[0], part)
            else:
                writer.write(target, writer.read(slots[0], kind), kind)
        else:
            bits, terms = TYPES[BITS[kind.size]], []
            for number, slot in enumerate(slots):
                widened = f"{writer.read(slot, part)}.astype({bits.code})"
                shift = writer.constant(8 * part.size * number, bits.code)
                terms.append(f"({widened} << {shift})" if number else widened)
            writer.write(target, f"{writer.let(' | '.join(terms))}.view({kind.code})", kind)


def _store_parameter(writer: BlockWriter, access: MemoryAccess) -> None:
    bits = TYPES[BITS[access.kind.size]]
    for source, slots, part, _ in parameter_items(writer.function, access):
        value = writer.read(source, bits)
        for number, slot in enumerate(slots):
            shift = writer.constant(8 * part.size * number, bits.code)
            shifted = value if len(slots) == 1 else f"({value} >> {shift}).astype({part.code})"
            writer.write(slot, shifted, part)


def _asked(writer: BlockWriter, access: MemoryAccess) -> str:
    """The name of what memory is asked."""
    return writer.function.constant_object(access.access(writer.number))


def _place(writer: BlockWriter, access: MemoryAccess, values: Sequence[str] = ()) -> tuple[str, str]:
    """The names of an array and of the items in it that an address means; `values` are to be stored there."""
    near = writer.near(access.address) if access.space == "shared" and access.mode != ATOMIC else None
    asked = _asked(writer, access)
    if near is not None:
        return writer.let_pair(f"L.shared.at_near({', '.join([near, asked, 'I', *values])})")
    where = writer.address(access.address)
    if access.space == "param":
        where = writer.let(f"L.whole_parameter_address({where})")
    checked = () if access.space == "local" else values
    return writer.let_pair(f"L.{_METHODS[access.space]}({', '.join([where, asked, 'I', *checked])})")
