"""A rule added to a table is all that an instruction takes, on NumPy and in machine code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from cudapy.simulator.engine import instructions, settings
from cudapy.simulator.engine.compile.function import FunctionCompiler
from cudapy.simulator.engine.compile.graph import Step
from cudapy.simulator.engine.instructions import integer
from cudapy.simulator.engine.instructions.rule import Rule, rule
from cudapy.simulator.engine.jit import processor, supported
from cudapy.simulator.engine.module import Module
from cudapy.simulator.engine.ptx.parser import parse

from .columns import Column, grouped, module
from .machine import Machine

if TYPE_CHECKING:
    from collections.abc import Iterator

FIRST = np.arange(-40, 24, dtype=np.int32)
SECOND = np.full(64, 7, np.int32)


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Rule]]:
    """A table that rules can be added to."""
    rules = list(integer.RULES)
    monkeypatch.setattr(integer, "RULES", rules)
    yield rules
    monkeypatch.undo()
    instructions.read_again()


def _run(opcode: str, monkeypatch: pytest.MonkeyPatch) -> list[np.ndarray]:
    """What it makes of FIRST and SECOND on NumPy, and in machine code where there is some."""
    instructions.read_again()
    groups = grouped([Column(opcode, f"{opcode} %z, %a, %b;", ("s32", "s32"), "s32")])
    results = []
    for setting in ("never", "always"):
        monkeypatch.setattr(settings.current, "machine_code", setting)
        machine = Machine()
        code = Module(module(groups), machine.memory)
        out, scratch = machine.zeros((1, 64), np.uint64), machine.zeros(64, np.uint64)
        given = [machine.array(one.astype(np.uint64)) for one in (FIRST, SECOND)]
        machine.run(code, "k0", 2, 32, out, np.uint64(64), scratch, *given)
        results.append(out.get()[0].astype(np.int32))
    return results


def _has_machine_code(opcode: str) -> bool:
    text = ".version 8.8\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n.reg .s32 %r<3>;\n"
    parsed = parse(f"{text}{opcode} %r0, %r1, %r2;\nret;\n}}\n").functions["k"]
    instruction = parsed.instructions[0]
    step = Step(instruction, instructions.find(instruction))
    return supported.is_supported(step, FunctionCompiler(parsed, 90, lambda _: None))


@pytest.mark.skipif(not processor.is_supported(), reason="there is machine code for x86-64 with AVX2 alone")
def test_a_rule_is_all_that_an_instruction_takes(tables: list[Rule], monkeypatch: pytest.MonkeyPatch) -> None:
    tables.append(rule("min.odd[.twice].<T:s32>", "d a b", "np.minimum(a, b) + i4.type(3 if twice else 1)"))
    least = np.minimum(FIRST, SECOND)
    for opcode, expected in (("min.odd.s32", least + 1), ("min.odd.twice.s32", least + 3)):
        for result in _run(opcode, monkeypatch):
            np.testing.assert_array_equal(result, expected)
        assert _has_machine_code(opcode)


def test_a_function_that_machine_code_lacks_leaves_it_to_numpy(
    tables: list[Rule], monkeypatch: pytest.MonkeyPatch
) -> None:
    tables.append(rule("gcd.<T:s32>", "d a b", "np.gcd(a, b)"))
    for result in _run("gcd.s32", monkeypatch):
        np.testing.assert_array_equal(result, np.gcd(FIRST, SECOND))
    assert not _has_machine_code("gcd.s32")


@pytest.mark.parametrize(("mode", "is_in_machine_code"), [("vote('ballot'", True), ("redux('or'", False)])
def test_an_effect_is_a_function_of_a_part_of_the_batch(
    mode: str, is_in_machine_code: bool, tables: list[Rule], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Machine code has votes, and no reductions."""
    given = "a < b" if is_in_machine_code else "(a < b).astype(u4) << np.uint32(4)"
    text = f"warps.{mode}, {given}, np.uint32(0xffffffff), lanes).astype(i4)"
    opcode = f"low.{mode[:4]}.s32"
    tables.append(rule(f"low.{mode[:4]}.<T:s32>", "d a b", text, has_effect=True, convergence_mask="all"))
    expected = 2**32 - 1 if is_in_machine_code else 1 << 4
    for result in _run(opcode, monkeypatch):
        assert result[:32].astype(np.uint32).tolist() == [expected] * 32
    assert _has_machine_code(opcode) == is_in_machine_code


def test_rules_are_the_same_for_every_back_end() -> None:
    """Expressions and descriptions; only how blocks end is code, which is the scheduler's business."""
    rules = [one for table in instructions.TABLES for one in table.RULES]
    assert sum(bool(one.expression) for one in rules) >= 387
    assert sum(one.ends_block for one in rules) == 13
    assert all(bool(one.expression) + bool(one.effect) + one.ends_block == 1 for one in rules)


WITH_CODE = """
shfl.sync.bfly.b32 %r0, %r1, 1, 31, 0xffffffff; shfl.sync.down.b32 %r0|%p0, %r1, %r2, 31, -1;
shfl.sync.idx.b32 %r0, %r1, %r2, %r3, -1; vote.sync.any.pred %p0, %p1, -1;
vote.sync.ballot.b32 %r0, %p1, %r2; activemask.b32 %r0; bar.warp.sync -1; fence.acq_rel.gpu; membar.cta;
mov.b64 {%r0, %r1}, %d0; cvta.shared.u64 %d0, %d1; cvta.to.global.u64 %d0, %d1;
add.cc.u32 %r0, %r1, %r2; madc.hi.u64 %d0, %d1, %d1, %d0; ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%d0];
st.shared.u8 [%r0], %r1; ld.u64 %d0, [%d1+8]; atom.global.add.f32 %f0, [%d0], %f0;
red.shared.max.s32 [%r0], %r1; createpolicy.fractional.L2::evict_last.b64 %d0, 0f3F800000;
setp.lt.u32 %p0|%p1, %r0, %r1;
"""
WITHOUT = """
match.any.sync.b32 %r0, %r1, -1; redux.sync.add.u32 %r0, %r1, -1; ld.volatile.u32 %r0, [%d0];
atom.cas.b32 %r0, [%d0], %r1, %r2; ld.shared::cluster.u32 %r0, [%r1]; trap; isspacep.shared %p0, %d0;
mov.b64 {%h0, %h1, %h2, %h3}, %d0;
"""


@pytest.mark.parametrize(("text", "is_in_machine_code"), [(WITH_CODE, True), (WITHOUT, False)])
def test_which_effects_have_machine_code(text: str, is_in_machine_code: bool) -> None:
    """Others run on NumPy, which no result tells."""
    declared = ".reg .b16 %h<4>; .reg .b32 %r<4>; .reg .f32 %f<1>; .reg .b64 %d<2>; .reg .pred %p<2>;"
    head = ".version 8.8\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n"
    parsed = parse(f"{head}{declared}\n{text}\nret;\n}}\n").functions["k"]
    function = FunctionCompiler(parsed, 90, lambda _: None)
    steps = [Step(one, instructions.find(one)) for one in parsed.instructions[:-1]]
    assert len(steps) > 7
    others = [
        one.instruction.text for one in steps if supported.is_supported(one, function) != is_in_machine_code
    ]
    assert others == []


def test_what_a_pattern_stands_for() -> None:
    """Of two choices one may begin with the other; what may be left out may be what follows."""
    one = rule("odd[.ftz].<T:f16|f16x2>[.a:b|bc].<U:bits>", "d a", "a")
    assert one.groups("odd.f16x2.b32") == {"ftz": "", "T": "f16x2", "a": "", "U": "b32"}
    assert one.groups("odd.ftz.f16.bc.b16") == {"ftz": "ftz", "T": "f16", "a": "bc", "U": "b16"}
    for other in ("odd.f16", "odd.f16.b32.", "odd.f16.b32\n", "odd.f16.ftz.b32", "odd.f16.b.bc.b16"):
        assert one.groups(other) is None
    opcodes = list(one.opcodes())
    assert opcodes[0] == "odd.f16.b16" and len(set(opcodes)) == 2 * 2 * 3 * 3
    assert all(one.groups(opcode) for opcode in opcodes) and one.name == "odd"
