"""Values between blocks, functions and memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cudapy.simulator.engine import settings
from cudapy.simulator.engine.fault import Fault
from cudapy.simulator.engine.module import Module

from .machine import Machine


@pytest.fixture(autouse=True)
def end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A label that leads elsewhere may make a loop: the kernel is a fault then."""
    monkeypatch.setattr(settings, "current", settings.Settings(timeout=60))


HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"


def run(body: str, *inputs: Any, functions: str = "") -> Any:
    """The 32 words that a kernel writes: %r0 of each thread, where %a and %b are words of the inputs."""
    machine = Machine()
    text = (
        HEAD
        + functions
        + """.visible .entry k(.param .u64 out, .param .u64 in0, .param .u64 in1)
{
    .reg .b32 %r<9>, %a, %b; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .pred %p<9>; .reg .b16 %h<9>;
    mov.u32 %r1, %tid.x; mul.wide.u32 %rd1, %r1, 4;
    ld.param.u64 %rd2, [in0]; add.u64 %rd2, %rd2, %rd1; ld.global.b32 %a, [%rd2];
    ld.param.u64 %rd3, [in1]; add.u64 %rd3, %rd3, %rd1; ld.global.b32 %b, [%rd3];
"""
        + body
        + """
    ld.param.u64 %rd4, [out]; add.u64 %rd4, %rd4, %rd1; st.global.b32 [%rd4], %r0;
    ret;
}
"""
    )
    nothing = np.zeros(32, np.uint32)
    arrays = [machine.array(np.resize(one, 32)) for one in (*inputs, nothing, nothing)[:2]]
    out = machine.zeros(32, np.uint32)
    machine.run(Module(text, machine.memory), "k", 1, 32, out, *arrays)
    return out.get()


def test_a_nan_has_the_bits_of_the_hardware_behind_a_branch_too() -> None:
    infinity = np.array([np.inf], np.float32).view(np.uint32)
    body = """
    mov.b32 %f1, %a; setp.eq.u32 %p1, %r1, 0; @%p1 bra DONE;
    sub.f32 %f1, %f1, %f1;
DONE:
    mov.b32 %r0, %f1;
"""
    found = run(body, infinity)
    assert found[0] == infinity[0]
    assert (found[1:] == 0x7FFFFFFF).all()


def test_a_nan_that_was_loaded_keeps_its_bits() -> None:
    given = np.array([0x7F812345, 0xFFC00001], np.uint32)
    body = "setp.eq.u32 %p1, 1, 1; mov.b32 %f1, %a; selp.f32 %f2, %f1, 0f00000000, %p1; mov.b32 %r0, %f2;"
    assert np.array_equal(run(body, given), np.resize(given, 32))


def test_a_register_that_was_copied_does_not_change_with_its_source() -> None:
    body = """
    mov.u32 %r0, %a; mov.u32 %r2, %r0;
    setp.lt.u32 %p1, %r1, 16; @%p1 bra LOW;
    add.u32 %r0, %r0, 100;
LOW:
    setp.lt.u32 %p2, %r1, 8; @%p2 bra LOWER;
    add.u32 %r2, %r2, 1000;
LOWER:
    mul.lo.u32 %r2, %r2, 10000; add.u32 %r0, %r0, %r2;
"""
    a, thread = np.arange(32, dtype=np.uint32), np.arange(32)
    expected = np.where(thread < 16, a, a + 100) + np.where(thread < 8, a, a + 1000) * 10000
    assert np.array_equal(run(body, a), expected)


def test_a_result_stays_when_some_threads_call_again() -> None:
    """It was put together by threads that had diverged, and was then given to all of them as it was."""
    functions = """
.func (.param .b32 z) f(.param .b32 x)
{
    .reg .b32 %r; .reg .pred %p;
    ld.param.b32 %r, [x];
    setp.lt.u32 %p, %r, 16; @%p bra SMALL;
    add.u32 %r, %r, 1000; st.param.b32 [z], %r;
    bra END;
SMALL:
    st.param.b32 [z], %r;
END:
    ret;
}
"""
    body = """
    { .param .b32 x; .param .b32 z; st.param.b32 [x], %a; call (z), f, (x); ld.param.b32 %r0, [z]; }
    setp.lt.u32 %p1, %r1, 8; @%p1 bra OVER;
    add.u32 %r2, %a, 100;
    { .param .b32 x; .param .b32 z; st.param.b32 [x], %r2; call (z), f, (x); ld.param.b32 %r3, [z]; }
OVER:
"""
    a = np.arange(32, dtype=np.uint32)
    assert np.array_equal(run(body, a, functions=functions), np.where(a < 16, a, a + 1000))


def test_parameters_are_read_in_other_parts_than_they_were_written_in() -> None:
    functions = """
.func (.param .align 8 .b8 result[8]) f(.param .align 8 .b8 given[8])
{
    .reg .b32 %r<3>; .reg .b16 %h<3>;
    ld.param.u16 %h1, [given+2]; ld.param.b32 %r1, [given+4];
    mov.b32 %r2, {%h1, %h1};
    st.param.v2.b32 [result], {%r1, %r2};
    ret;
}
"""
    body = """
    {
    .param .align 8 .b8 p[8]; .param .align 8 .b8 q[8];
    mov.b64 %rd5, {%a, %b}; st.param.b64 [p], %rd5;
    call (q), f, (p);
    ld.param.b64 %rd6, [q];
    }
    mov.b64 {%r2, %r3}, %rd6; xor.b32 %r0, %r2, %r3;
"""
    a, b = np.arange(32, dtype=np.uint32) * 0x10001, np.arange(32, dtype=np.uint32) * 7
    upper = a >> 16
    assert np.array_equal(run(body, a, b, functions=functions), b ^ (upper | upper << 16))


def test_labels_and_registers_of_inner_scopes() -> None:
    part = """{
        .reg .b32 %t; mov.u32 %t, 1; setp.lt.u32 %p1, %r1, 3; @%p1 bra OUT;
        add.u32 %t, %t, 1;
    OUT:
        add.u32 %r0, %r0, %t;
    }"""
    found = run(f"mov.u32 %r0, 0; {part} {part}")
    assert found.tolist() == [2] * 3 + [4] * 29


def test_a_name_is_another_register_in_another_scope() -> None:
    body = """
    .reg .b32 %t, %u<8>; mov.u32 %t, 5; mov.u32 %r0, %r1;
    { add.u32 %t, %t, 1; .reg .b64 %t; mov.u64 %t, 7; cvt.u32.u64 %r2, %t; add.u32 %r0, %r0, %r2; }
    { mov.u32 %u7, 0; .reg .b64 %u<9>; mov.u64 %u7, 9; cvt.u32.u64 %r2, %u7; add.u32 %r0, %r0, %r2; }
    { .reg .b32 %t, %u<8>; mov.u32 %t, 3; add.u32 %u7, %t, 1; add.u32 %r0, %r0, %u7; }
    add.u32 %r0, %r0, %t;
"""
    assert run(body).tolist() == [n + 7 + 9 + 4 + 6 for n in range(32)]


def test_a_table_of_labels() -> None:
    body = """
    and.b32 %r2, %r1, 3;
    TABLE: .branchtargets ONE, TWO, THREE, TWO;
    brx.idx %r2, TABLE;
ONE: mov.u32 %r0, 1; bra DONE;
TWO: mov.u32 %r0, 2; bra DONE;
THREE: mov.u32 %r0, 3;
DONE:
"""
    assert run(body).tolist() == [1, 2, 3, 2] * 8


def test_an_address_of_32_bits_wraps() -> None:
    body = """
    .shared .align 4 .b8 line[128]; .local .align 4 .b8 own[8];
    mov.u32 %r2, line; mov.u32 %r3, own; shl.b32 %r4, %r1, 2; add.u32 %r2, %r2, %r4;
    sub.u32 %r2, %r2, 200; sub.u32 %r3, %r3, 16;
    st.shared.b32 [%r2+200], %a; st.local.b32 [%r3+20], %b;
    ld.shared.b32 %r5, [%r2+200]; ld.local.b32 %r6, [%r3+20]; sub.u32 %r0, %r5, %r6;
"""
    a, b = np.arange(32, dtype=np.uint32) * 9, np.arange(32, dtype=np.uint32)
    assert np.array_equal(run(body, a, b), a - b)


CALLS = """
.func nothing(.param .b32 given) { ret; }
.func (.param .b32 result) more(.param .b32 given)
{ .reg .b32 %x; ld.param.b32 %x, [given]; add.u32 %x, %x, 1; st.param.b32 [result], %x; ret; }
"""


@pytest.mark.parametrize("direct", [True, False])
def test_a_call_that_expects_another_number_of_results(direct: bool) -> None:
    head = "mov.u64 %rd5, {0}; P: .callprototype {1} _ (.param .b32 _);"
    one, none = "(.param .b32 _)", ""
    calls = [
        "call (q), nothing, (p);" if direct else f"{head.format('nothing', one)} call (q), %rd5, (p), P;",
        "call more, (p);" if direct else f"{head.format('more', none)} call %rd5, (p), P;",
        "call (q), more, (p);",
    ]
    scopes = [
        f"{{ .param .b32 p; .param .b32 q; st.param.b32 [p], %a; {call} ld.param.b32 %r0, [q]; }}"
        for call in calls
    ]
    a = np.arange(32, dtype=np.uint32)
    assert np.array_equal(run("\n".join(scopes), a, functions=CALLS), a + 1)


def test_a_modifier_may_stand_behind_the_types() -> None:
    body = "max.s32.relu %r2, %a, %b; min.relu.s32 %r3, %a, %b; sub.u32 %r0, %r2, %r3;"
    a, b = np.arange(-16, 16, dtype=np.int32), np.arange(16, -16, -1, dtype=np.int32)
    expected = np.maximum(np.maximum(a, b), 0) - np.maximum(np.minimum(a, b), 0)
    assert np.array_equal(run(body, a.view(np.uint32), b.view(np.uint32)).view(np.int32), expected)


def test_a_modifier_may_stand_anywhere_in_accesses_of_parameters() -> None:
    functions = """
.func (.param .b32 z) f(.param .b32 x)
{ .reg .b32 %r; ld.weak.param.b32 %r, [x]; st.param.b32.weak [z], %r; ret; }
"""
    body = "{ .param .b32 x; .param .b32 z; st.weak.param.b32 [x], %a; call (z), f, (x); "
    body += "ld.param.b32.weak %r0, [z]; }"
    a = np.arange(32, dtype=np.uint32)
    assert np.array_equal(run(body, a, functions=functions), a)


def test_sync_may_stand_behind_the_mode() -> None:
    """As CUB writes it; ptxas takes it."""
    body = """
    setp.lt.u32 %p1, %a, 5; vote.ballot.sync.b32 %r2, %p1, -1; shfl.idx.sync.b32 %r3, %a, 7, 31, -1;
    vote.any.sync.pred %p1, %p1, -1; selp.b32 %r0, 1, 0, %p1; shl.b32 %r3, %r3, 8; add.u32 %r2, %r2, %r3;
    shl.b32 %r0, %r0, 16; add.u32 %r0, %r0, %r2;
"""
    assert (run(body, np.arange(32, dtype=np.uint32)) == (1 << 16) + (7 << 8) + 31).all()


def test_the_shape_may_stand_behind_the_count() -> None:
    """As CUTLASS and TileLang write it."""
    body = """
    .shared .align 16 .b8 s[512];
    mov.u32 %r1, s; shl.b32 %r2, %a, 4; add.u32 %r1, %r1, %r2;
    stmatrix.sync.aligned.x2.m8n8.shared.b16 [%r1], {%a, %b}; bar.warp.sync -1;
    ldmatrix.sync.aligned.x2.trans.m8n8.shared.b16 {%r3, %r4}, [%r1]; bar.warp.sync -1;
    stmatrix.sync.aligned.x2.trans.m8n8.shared.b16 [%r1], {%r3, %r4}; bar.warp.sync -1;
    ldmatrix.sync.aligned.x2.m8n8.shared.b16 {%r3, %r4}, [%r1]; sub.u32 %r0, %r4, %r3;
"""
    a = np.arange(32, dtype=np.uint32)
    assert np.array_equal(run(body, a, a + 7), np.full(32, 7, np.uint32))


def test_clocks_never_go_back(monkeypatch: pytest.MonkeyPatch) -> None:
    body = """
    mov.u64 %rd5, %globaltimer; mov.u64 %rd6, %clock64; nanosleep.u32 1;
    mov.u64 %rd7, %globaltimer; mov.u64 %rd8, %clock64;
    sub.u64 %rd7, %rd7, %rd5; sub.u64 %rd8, %rd8, %rd6;
    setp.gt.s64 %p1, %rd7, 0; setp.gt.and.s64 %p1, %rd8, 0, %p1; selp.b32 %r0, 1, 0, %p1;
"""
    host = iter(range(10**18, 0, -(10**9)))  # the host's clock is set back again and again
    monkeypatch.setattr("time.time_ns", lambda: next(host))
    assert (run(body) == 1).all()


STACKS = """
.func (.param .b32 result) sum(.param .b32 given)
{
    .reg .b32 %n, %i, %s, %x; .reg .b64 %p, %q, %t; .reg .pred %c; .local .align 4 .b8 own[8];
    ld.param.b32 %n, [given]; mov.u32 %s, 0;
    setp.lt.u32 %c, %n, 1; @%c bra DONE;
    st.local.b32 [own], %n; mul.wide.u32 %t, %n, 4; alloca.u64 %p, %t, 16; mov.u32 %i, 0; mov.u64 %q, %p;
FILL: st.local.b32 [%q], %i; add.u64 %q, %q, 4; add.u32 %i, %i, 1; setp.lt.u32 %c, %i, %n; @%c bra FILL;
    sub.u32 %x, %n, 1;
    { .param .b32 a; .param .b32 b; st.param.b32 [a], %x; call (b), sum, (a); ld.param.b32 %s, [b]; }
ADD: sub.u64 %q, %q, 4; ld.local.b32 %x, [%q]; add.u32 %s, %s, %x; setp.gt.u64 %c, %q, %p; @%c bra ADD;
    and.b64 %t, %p, 15; cvt.u32.u64 %x, %t; add.u32 %s, %s, %x;
DONE: st.param.b32 [result], %s; ret;
}
"""


def test_memory_of_a_size_that_is_known_late() -> None:
    body = """
    .local .align 4 .b8 mine[4]; .reg .b64 %s;
    st.local.b32 [mine], 77; stacksave.u64 %s;
    mov.u64 %rd5, 100; alloca.u64 %rd6, %rd5, 4; st.local.b32 [%rd6], 5;
    stackrestore.u64 %s; alloca.u64 %rd7, %rd5, 4; setp.ne.u64 %p1, %rd6, %rd7;
    { .param .b32 a; .param .b32 b; st.param.b32 [a], %a; call (b), sum, (a); ld.param.b32 %r0, [b]; }
    ld.local.b32 %r2, [%rd7]; ld.local.b32 %r3, [mine]; add.u32 %r0, %r0, %r2; sub.u32 %r0, %r0, %r3;
    @%p1 mov.u32 %r0, 0;
"""
    n = np.arange(32, dtype=np.uint32) % 9
    total = np.array([sum(k * (k - 1) // 2 for k in range(one + 1)) for one in n.tolist()])
    assert np.array_equal(run(body, n, functions=STACKS).view(np.int32), total + 5 - 77)
    with pytest.raises(Fault, match=r"Stack overflow(.|\n)*alloca.u64 %rd6, %rd5"):
        run("mov.u64 %rd5, -8; alloca.u64 %rd6, %rd5;")
