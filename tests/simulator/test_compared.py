"""Every opcode of the instruction tables is compared with an H200, or not_compared.txt says why not.

Modifiers that change no result, such as orders, scopes and hints of caches, make no opcode of their own here.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

import pytest

from cudapy import nvjitlink, pathfinder
from cudapy.simulator.engine import instructions
from cudapy.simulator.engine.instructions.rule import rule
from cudapy.simulator.engine.ptx.parser import parse

from .assembled import assemble
from .columns import Column, all_columns, grouped, module
from .reference import legal_columns

LIST = Path(__file__).parent / "not_compared.txt"
NO_PTX = "No PTX"
"""What the reason begins with of opcodes that an assembler must refuse."""
_WITHOUT_RESULT = re.compile(r"\[\.(?:order|scope|hint|prefetch|cop|l1|l2)\b[^\]]*\]")


def opcodes_of(pattern: str) -> set[str]:
    """What a pattern of a table stands for."""
    return set(rule(_WITHOUT_RESULT.sub("", pattern)).opcodes())


@functools.cache
def opcodes() -> set[str]:
    """Of all tables."""
    return {one for table in instructions.TABLES for line in table.RULES for one in opcodes_of(line.pattern)}


@functools.cache
def compared() -> set[str]:
    """Opcodes that a column has, alone or among others."""
    functions = parse(module(grouped(legal_columns()))).functions.values()
    return {instruction.opcode for function in functions for instruction in function.instructions}


@functools.cache
def listed() -> list[tuple[str, str, set[str]]]:
    """Of each line of the list the reason that stands over it, the pattern, and its opcodes."""
    reason, lines = "", []
    for line in LIST.read_text().replace("|\n  ", "|").splitlines():
        if line.startswith("# "):
            reason = line[2:]
        elif line:
            lines.append((reason, line, opcodes_of(line)))
    return lines


def test_every_opcode_is_compared_or_listed() -> None:
    excused = {one for _, _, some in listed() for one in some}
    assert sorted(opcodes() - compared() - excused) == []


def test_what_is_listed_is_there_and_not_compared() -> None:
    assert [line for _, line, some in listed() if not some <= opcodes()] == []
    assert [line for _, line, some in listed() if some <= compared()] == []
    assert [line for reason, line, _ in listed() if not reason.endswith(".")] == []


def is_accepted(column: Column) -> bool:
    """Whether nvJitLink assembles a column for an H200."""
    try:
        assemble(module([[column]], "sm_90a"), "sm_90a")
    except nvjitlink.nvJitLinkError:
        return False
    return True


@pytest.mark.thorough
def test_an_assembler_refuses_what_is_listed_as_no_ptx() -> None:
    try:
        pathfinder.load("nvJitLink")
    except pathfinder.LibraryNotFound as error:
        pytest.skip(str(error).splitlines()[0])
    names = {one for reason, _, some in listed() if reason.startswith(NO_PTX) for one in some}
    columns = {column.name: column for column in all_columns() if column.name in names}
    assert len(columns) > 900
    assert [name for name, column in columns.items() if is_accepted(column)] == []
    assert is_accepted(next(column for column in legal_columns() if column.name == "add.u32"))
