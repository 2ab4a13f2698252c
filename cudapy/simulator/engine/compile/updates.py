"""Reads, changes and writes of one place, such as `bins[i]++`, in which other threads may come between."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ptx.syntax import Address, Register
from .graph import read_registers, registers_of

if TYPE_CHECKING:
    from .graph import Block


def updates(blocks: list[Block]) -> dict[int, int]:
    """For the PTX line of each load and store of an update, the line of its store.

    It is one if the value that is stored depends on what was loaded from the same address, in code without
    branches in between.
    """
    found: dict[int, int] = {}
    targets = {target for block in blocks for target in block.targets}
    loads: dict[str, set[tuple[Address, int]]] = {}
    """For each register the loads that it depends on: from where, and their lines."""
    ended = True
    for block in blocks:
        if ended or block.index in targets:
            loads = {}
        ended = block.end != "next"
        for step in block.steps:
            instruction = step.instruction
            first, *others = instruction.operands or (None,)
            if instruction.name == "st" and isinstance(first, Address):
                names = {name for operand in others for name in registers_of(operand)}
                for address, line in set().union(*(loads.get(name, ()) for name in names)):
                    if address == first:
                        found[line] = found[instruction.line] = instruction.line
                continue
            if instruction.name == "ld" and isinstance(others[0], Address):
                read = {(others[0], instruction.line)}
            else:
                read = set().union(*(loads.get(name, ()) for name in read_registers(instruction)))
            written = () if isinstance(first, Address) else registers_of(first)
            loads |= dict.fromkeys(written, read)
            changed = {Register(name) for name in written}
            loads = {
                name: {one for one in known if one[0].base not in changed} for name, known in loads.items()
            }
    return found
