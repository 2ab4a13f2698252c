"""Lanes of a mask that come to a warp operation at different instructions do it together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cudapy.simulator.engine import settings
from cudapy.simulator.engine.fault import Fault
from cudapy.simulator.engine.module import Module

from .machine import Machine

LANES = np.arange(32)
EVEN = LANES % 2 == 0

KERNEL = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{{
    .shared .align 4 .b8 shared[384];
    .reg .pred %p<8>;
    .reg .b32 %r<16>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mul.lo.u32 %r2, %r1, 10;
    mov.u32 %r4, shared;
    mad.lo.u32 %r4, %r1, 4, %r4;
    mov.u32 %r5, shared;
    xor.b32 %r6, %r1, 1;
    mad.lo.u32 %r5, %r6, 4, %r5;
    mov.u32 %r9, -1;
    and.b32 %r7, %r1, 1;
    setp.eq.u32 %p1, %r7, 0;
    setp.lt.u32 %p2, %r1, 9;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd1, %rd1, %rd2;
    @%p1 bra EVEN;
    {odd}
    bra BOTH;
EVEN:
    {even}
BOTH:
    st.global.u32 [%rd1], %r3;
    ret;
}}
"""
EXCHANGE = "st.shared.u32 [%r4], %r2; bar.warp.sync -1; ld.shared.u32 %r3, [%r5];"
BALLOT = "vote.sync.ballot.b32 %r3, %p{}, {};"
SHUFFLED = "shfl.sync.idx.b32 %r3, %r2, {}, 31, -1;"
CASES = {
    "ballot": (BALLOT.format(2, -1), None, np.full(32, 511)),
    "a mask in a register": (BALLOT.format(2, "%r9"), BALLOT.format(2, -1), np.full(32, 511)),
    "other operands": (BALLOT.format(1, -1), BALLOT.format(2, -1), np.full(32, 0x155)),
    "shuffle": ("shfl.sync.bfly.b32 %r3, %r2, 1, 31, -1;", None, (LANES ^ 1) * 10),
    "shuffle from one": (SHUFFLED.format(4), SHUFFLED.format(7), np.where(EVEN, 70, 40)),
    "match": ("match.any.sync.b32 %r3, %r7, -1;", None, np.where(EVEN, 0x55555555, 0xAAAAAAAA)),
    "reduction": ("redux.sync.add.u32 %r3, %r2, -1;", None, np.full(32, 4960)),
    "elect": ("elect.sync %r3|%p3, -1;", None, np.zeros(32)),
    "barrier": (EXCHANGE, None, (LANES ^ 1) * 10),
    "one after another": (EXCHANGE + "redux.sync.max.u32 %r3, %r3, -1;", None, np.full(32, 310)),
}  # fmt: skip


def run(odd: str, even: str, checks: bool = False) -> Any:
    found: list[Any] = []
    machine = Machine(**({"record": found.extend} if checks else {}))
    out = machine.zeros(3 * 32, np.uint32)
    machine.run(Module(KERNEL.format(odd=odd, even=even), machine.memory), "k", 1, 96, out)
    assert not found
    return out.get().reshape(3, 32)


@pytest.mark.parametrize("checks", [False, True], ids=["plain", "checks"])
@pytest.mark.parametrize("machine_code", ["never", "always"])
def test_at_two_instructions(machine_code: str, checks: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings.current, "machine_code", machine_code)
    monkeypatch.setattr(settings.current, "check_races", checks)
    monkeypatch.setattr(settings.current, "check_uninitialized", checks)
    for name, (odd, even, expected) in CASES.items():
        found = run(odd, odd if even is None else even, checks)[0]
        assert np.array_equal(found, expected), name


@pytest.mark.parametrize(
    "even",
    [
        "redux.sync.max.u32 %r3, %r2, -1;",
        "redux.sync.add.s32 %r3, %r2, -1;",
        "mov.b32 %r9, 0x55555557; redux.sync.add.u32 %r3, %r2, %r9;",
    ],
    ids=["operation", "type", "mask"],
)
def test_others_do_not_meet(even: str) -> None:
    with pytest.raises(Fault, match="wait for the rest of its warp's mask"):
        run("redux.sync.add.u32 %r3, %r2, -1;", even)
