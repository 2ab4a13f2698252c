"""Each instruction with machine code, and random programs: they give what NumPy gives."""

from __future__ import annotations

import ctypes
import os

import numpy as np
import pytest

from cudapy.simulator.engine import settings
from cudapy.simulator.engine.jit import processor
from cudapy.simulator.engine.module import Module
from tests.budget import MORE
from tests.tiers import first

from .columns import Column, grouped, module
from .inputs import operand
from .machine import Machine
from .machine_emulator import EMULATED
from .machine_forms import Form, forms
from .machine_programs import Loaded, difference, program

pytestmark = pytest.mark.skipif(
    not processor.is_supported(), reason="there is machine code for x86-64 with AVX2 alone"
)
ROWS = 3072
"""Of the operands: every pair of special numbers, and others."""
_LETTERS = "abce"


def _column(form: Form) -> Column:
    operands = [f"%{letter}" for letter, _ in zip(_LETTERS, form.types[1:], strict=False)]
    if form.opcode.startswith("lop3"):
        return Column(form.opcode, f"{form.opcode} %z, %a, %b, %c, 0x2D;", form.types[1:4], form.types[0])
    return Column(form.opcode, f"{form.opcode} %z, {', '.join(operands)};", form.types[1:], form.types[0])


def _groups() -> list[list[Column]]:
    """All but cvta.param, whose result depends on where a launch has its parameters."""
    return grouped([_column(form) for form in forms() if form.opcode != "cvta.param.u64"])


@pytest.mark.parametrize("part", first(4, range(8)))
def test_each_instruction(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    groups = _groups()[part::8]
    results = []
    machine = Machine()
    code = Module(module(groups), machine.memory)
    scratch = machine.zeros(ROWS, np.uint64)
    for value in ("never", "always"):
        monkeypatch.setattr(settings.current, "machine_code", value)
        scratch.set(np.zeros(ROWS, np.uint64))
        for number, columns in enumerate(groups):
            out = machine.zeros((len(columns), ROWS), np.uint64)
            given = [machine.array(operand(kind, i)[:ROWS]) for i, kind in enumerate(columns[0].operands)]
            machine.run(code, f"k{number}", ROWS // 32, 32, out, np.uint64(ROWS), scratch, *given)
            results.append(out.get())
    half = len(groups)
    differ = [
        column.name
        for columns, expected, got in zip(groups, results[:half], results[half:], strict=True)
        for place, column in enumerate(columns)
        if not np.array_equal(expected[place], got[place])
    ]
    assert differ == []


def test_there_is_machine_code_for_most_of_what_compilers_write() -> None:
    names = {form.opcode for form in forms()}
    assert len(names) > 1200
    assert {"add.s32", "mad.lo.s32", "fma.rn.f32", "fma.rn.f64", "setp.lt.and.f32", "selp.b64"} <= names


@pytest.mark.parametrize("start", first(1, range(0, 190 * MORE, 10)))
def test_random_programs(start: int) -> None:
    """Guards, branches, loops, calls, memory of all spaces, atomics, what a warp does together, registers of
    all widths, few or many of them; one in five with addresses that may be wrong.
    """
    wrong = {}
    for number in range(start, start + 10):
        text = difference(Loaded(program(number, wild=number % 5 == 0)))
        if text:
            wrong[number] = text
    assert wrong == {}


def test_a_fault_of_another_order_is_no_difference() -> None:
    """Where diverged threads fail in two places, which is first depends on the order in which they run."""
    faults: dict[tuple[str, int | None], str] = {("never", None): "first", ("never", 7): "second"}

    class Fails:
        def run(self, machine_code: str, seed: int | None = None) -> tuple[list[int], str]:
            return [], faults.get((machine_code, seed), "first")

    for found, says in (("first", ""), ("second", ""), ("third", "first but in machine code third")):
        faults["always", None] = found
        assert difference(Fails()) == says


@pytest.mark.skipif(EMULATED, reason="code for AArch64 lies in files of memory, one each")
def test_a_forked_process_has_code_of_its_own() -> None:
    start = processor.place_code(b"\x90" * 64)
    child = os.fork()
    if not child:
        processor.place_code(b"\xcc" * 64)
        os._exit(0)
    os.waitpid(child, 0)
    assert processor.place_code(b"") == start + 64
    assert ctypes.string_at(start + 64, 64) == bytes(64)
