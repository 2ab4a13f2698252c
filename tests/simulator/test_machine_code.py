"""Machine code gives what NumPy gives, bit for bit, wherever threads go."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cudapy.simulator.engine import settings
from cudapy.simulator.engine.fault import Fault
from cudapy.simulator.engine.jit import processor
from cudapy.simulator.engine.module import Module

from .columns import Column
from .machine import Machine
from .machine_emulator import EMULATED
from .reference import digest, simulated
from .test_differential import GROUPS, stored

pytestmark = pytest.mark.skipif(
    not processor.is_supported(), reason="there is machine code for x86-64 with AVX2 alone"
)
EXACT = [[one for one in columns if not one.is_approximate] for columns in GROUPS]
HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"


@pytest.fixture
def mode(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Sets when machine code runs."""

    def set_mode(value: str) -> None:
        monkeypatch.setattr(settings.current, "machine_code", value)

    return set_mode


@pytest.mark.thorough
@pytest.mark.parametrize("columns", [one for one in EXACT if one], ids=lambda columns: columns[0].name)
def test_what_an_h200_computes(columns: list[Column], mode: Any) -> None:
    mode("always")
    results = simulated(columns)
    assert [
        one.name for one in columns if digest(one, results[one.name]) != stored()["exact"][one.name]
    ] == []


BY_POINTER = f"""{HEAD}
.visible .entry k(.param .u64 table, .param .u64 out)
{{
.reg .b64 %a, %b; .reg .b32 %t, %v;
mov.u32 %t, %tid.x;
ld.param.u64 %a, [table];
ld.param.u64 %b, [out];
mad.wide.u32 %a, %t, 8, %a;
mad.wide.u32 %b, %t, 4, %b;
ld.global.u64 %a, [%a];
ld.u32 %v, [%a];
add.u32 %v, %v, 1;
st.u32 [%a], %v;
st.global.u32 [%b], %v;
ret;
}}
"""


def test_a_warp_in_several_allocations(mode: Any) -> None:
    mode("always")
    machine = Machine()
    many = [machine.array(np.arange(i, i + 8, dtype=np.uint32)) for i in range(5)]
    table = machine.array(np.array([many[t % 5].address + 4 * (t % 8) for t in range(40)], np.uint64))
    out = machine.zeros(40, np.uint32)
    machine.run(Module(BY_POINTER, machine.memory), "k", 1, 40, table, out)
    np.testing.assert_array_equal(out.get(), [t % 5 + t % 8 + 1 for t in range(40)])


def test_more_values_at_once_than_registers(mode: Any) -> None:
    """Each is computed before any is used, and in the end all are: 200 vectors have to lie somewhere."""
    count = 200
    lines = [f"mul.lo.u32 %v{i}, %v, {2 * i + 3};" for i in range(count)]
    lines += [f"mad.lo.u32 %sum, %sum, 5, %v{i};" for i in reversed(range(count))]
    text = BY_POINTER.replace(
        "add.u32 %v, %v, 1;", "mov.b32 %sum, 0; " + " ".join(lines) + " mov.b32 %v, %sum;"
    )
    text = text.replace(".reg .b32 %t, %v;", f".reg .b32 %t, %v, %sum, %v<{count}>;")
    mode("always")
    machine = Machine()
    many = [machine.array(np.array([7 * t + 1], np.uint32)) for t in range(32)]
    out, expected = machine.zeros(32, np.uint32), np.zeros(32, np.uint32)
    table = machine.array(np.array([one.address for one in many], np.uint64))
    machine.run(Module(text, machine.memory), "k", 1, 32, table, out)
    for i in reversed(range(count)):
        expected = expected * np.uint32(5) + (np.arange(32, dtype=np.uint32) * 7 + 1) * np.uint32(2 * i + 3)
    np.testing.assert_array_equal(out.get(), expected)


@pytest.mark.parametrize("wrong", [12, (1 << 40) + 4, (1 << 60) + 4, (1 << 61) + 64, 2])
def test_faults_say_the_same(wrong: int, mode: Any) -> None:
    """Of a null pointer, of what is nowhere, of shared and local memory that is not there, and misaligned."""
    texts = []
    for one in ("never", "always"):
        mode(one)
        machine = Machine()
        good = machine.array(np.zeros(64, np.uint32))
        addresses = np.full(32, good.address, np.uint64)
        addresses[9] = good.address + wrong if wrong == 2 else wrong
        table, out = machine.array(addresses), machine.zeros(32, np.uint32)
        with pytest.raises(Fault) as caught:
            machine.run(Module(BY_POINTER, machine.memory), "k", 1, 32, table, out)
        texts.append((caught.value.status, str(caught.value).splitlines()[:3]))
        assert not good.get().any(), "an instruction that fails stores nothing"
    assert texts[0] == texts[1]


WAITS = f"""{HEAD}
.visible .entry k(.param .u64 flag)
{{
.reg .b64 %a; .reg .b32 %t, %v; .reg .pred %p;
mov.u32 %t, %tid.x;
ld.param.u64 %a, [flag];
setp.ge.u32 %p, %t, 96;
@%p bra $set;
$again:
atom.global.add.u32 %v, [%a], 0;
setp.lt.u32 %p, %v, 32;
@%p bra $again;
bra $end;
$set:
red.global.add.u32 [%a], 1;
$end:
ret;
}}
"""


def test_threads_that_wait_for_others(mode: Any) -> None:
    """Those of a later warp, by an atomic that changes nothing."""
    mode("always")
    machine = Machine()
    flag = machine.zeros(1, np.uint32)
    machine.run(Module(WAITS, machine.memory), "k", 1, 128, flag)
    assert flag.get().tolist() == [32]


def combining(op: str, bits: int) -> str:
    """A kernel in which each thread combines a number with one of eight, in shared memory and then in global
    memory, where the first warp adds those of the block.
    """
    size, kind = bits // 8, f"u{bits}" if op == "add" else f"b{bits}"
    return f"""{HEAD}
.visible .entry k(.param .u64 values, .param .u64 sums)
{{
.reg .b64 %a, %s; .reg .b32 %t, %i, %h; .reg .b{bits} %v; .reg .pred %p;
.shared .align 8 .b8 own[{8 * size}];
mov.u32 %t, %tid.x;
ld.param.u64 %a, [values];
ld.param.u64 %s, [sums];
and.b32 %i, %t, 7;
mad.wide.u32 %s, %i, {size}, %s;
mov.u32 %h, own;
mad.lo.u32 %h, %i, {size}, %h;
mad.wide.u32 %a, %t, {size}, %a;
ld.global.u{bits} %v, [%a];
setp.gt.u32 %p, %t, 7;
@%p bra $started;
st.shared.u{bits} [%h], %v;
$started:
bar.sync 0;
red.shared.{op}.{kind} [%h], %v;
red.global.{op}.{kind} [%s], %v;
bar.sync 0;
ld.shared.u{bits} %v, [%h];
red.global.{op}.{kind} [%s+{8 * size}], %v;
ret;
}}
"""


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("op", ["add", "and", "or", "xor"])
def test_each_lane_is_combined_once(op: str, bits: int, mode: Any) -> None:
    """By warps of all lanes, and by one of twelve."""
    kind, threads = np.dtype(f"u{bits // 8}"), 76
    values = np.random.default_rng(bits).integers(0, 1 << bits, threads, kind)
    if op in ("and", "or"):  # a bit for each thread, so that none is lost among the others
        values = kind.type(1) << (np.arange(threads) // 8 * 3).astype(kind)
        values = ~values if op == "and" else values
    begin = np.full(16, -1 if op == "and" else 0).astype(kind)
    results = []
    for one in ("never", "always"):
        mode(one)
        machine = Machine()
        sums = machine.array(begin)
        machine.run(Module(combining(op, bits), machine.memory), "k", 1, threads, machine.array(values), sums)
        results.append(sums.get().tolist())
    combine = {"add": np.add, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}[op]
    assert results[1][:8] == [int(combine.reduce(values[i::8], dtype=kind)) for i in range(8)]
    assert results[0] == results[1]


TRIPLED = f"""{HEAD}
.visible .entry k(.param .u64 values)
{{
.reg .b64 %a; .reg .b32 %t, %b, %v, %i; .reg .pred %p;
mov.u32 %t, %tid.x;
mov.u32 %b, %ctaid.x;
mad.lo.u32 %t, %b, 256, %t;
ld.param.u64 %a, [values];
mad.wide.u32 %a, %t, 4, %a;
mov.u32 %i, 0;
$again:
ld.global.u32 %v, [%a];
mul.lo.u32 %v, %v, 3;
st.global.u32 [%a], %v;
add.u32 %i, %i, 1;
setp.lt.u32 %p, %i, 2;
@%p bra $again;
ret;
}}
"""


@pytest.mark.parametrize("is_granted_late", [False, True])
def test_memory_that_others_own(is_granted_late: bool, mode: Any, left_to_python: list[str]) -> None:
    """Machine code accesses what this device may touch; if it may since the kernel began, that is left to
    Python, and soon the whole kernel with it.
    """
    if EMULATED and is_granted_late:
        pytest.skip("machine code takes longer than Python in the emulator, so nothing is given up")
    mode("always")
    machine, values = Machine(), np.arange(256 * 300, dtype=np.uint32)
    answers = iter([not is_granted_late])
    machine.memory.adopt(values.ctypes.data, values.nbytes, "device", lambda _: next(answers, True))
    machine.run(Module(TRIPLED, machine.memory), "k", 300, 256, np.uint64(values.ctypes.data))
    np.testing.assert_array_equal(values, np.arange(256 * 300, dtype=np.uint32) * 9)
    assert 100 < len(left_to_python) < 1000 if is_granted_late else not left_to_python


def test_memory_of_which_access_is_taken_away(mode: Any) -> None:
    mode("always")
    machine, values = Machine(), np.ones(256, np.uint32)
    allowed = [True]
    machine.memory.adopt(values.ctypes.data, values.nbytes, "device", lambda _: allowed[0])
    module = Module(TRIPLED, machine.memory)
    machine.run(module, "k", 1, 256, np.uint64(values.ctypes.data))
    allowed[0] = False
    machine.memory.reach_changed()
    with pytest.raises(Fault, match="to which this device was given no access"):
        machine.run(module, "k", 1, 256, np.uint64(values.ctypes.data))
    assert values.tolist() == [9] * 256


def test_a_register_that_is_written_for_nobody(mode: Any) -> None:
    """On one way it is written again before it is read, on the other one it stays what it was."""
    mode("always")
    text = f"""{HEAD}
.visible .entry k(.param .u64 out)
{{
.reg .b64 %a; .reg .b32 %t, %v, %r; .reg .pred %p;
mov.u32 %t, %tid.x;
popc.b32 %r, %t;
mul.lo.u32 %v, %t, 3; add.u32 %v, %v, 1; mul.lo.u32 %v, %v, 5; add.u32 %v, %v, 2; xor.b32 %v, %v, 6;
setp.lt.u32 %p, %t, 48;
@%p bra $stays;
mov.u32 %r, 1000;
add.u32 %v, %v, 1; add.u32 %v, %v, 2; add.u32 %v, %v, 3; add.u32 %v, %v, 4; add.u32 %v, %v, 5;
popc.b32 %r, %v;
$stays:
popc.b32 %v, %r;
ld.param.u64 %a, [out];
mad.wide.u32 %a, %t, 4, %a;
st.global.u32 [%a], %v;
ret;
}}
"""
    machine = Machine()
    out = machine.zeros(96, np.uint32)
    machine.run(Module(text, machine.memory), "k", 1, 96, out)
    threads = range(96)
    values = [(((3 * t + 1) * 5 + 2) ^ 6) + 15 for t in threads]
    counts = [t.bit_count() if t < 48 else values[t].bit_count() for t in threads]
    assert out.get().tolist() == [one.bit_count() for one in counts]


def test_it_runs_once_the_kernel_is_warm(mode: Any) -> None:
    text = f"""{HEAD}
.visible .entry k(.param .u64 out, .param .u32 n)
{{
.reg .b64 %a; .reg .b32 %i, %n, %v; .reg .pred %p;
ld.param.u64 %a, [out];
ld.param.u32 %n, [n];
mov.u32 %i, 0;
mov.u32 %v, 1;
$again:
mul.lo.u32 %v, %v, 3;
add.u32 %i, %i, 1;
setp.lt.u32 %p, %i, %n;
@%p bra $again;
st.global.u32 [%a], %v;
ret;
}}
"""
    for value, count, expected in (("never", 1000, 0), ("auto", 20, 0), ("auto", 1000, 1), ("always", 20, 1)):
        mode(value)
        machine = Machine()
        out = machine.zeros(1, np.uint32)
        counters = machine.run(Module(text, machine.memory), "k", 1, 32, out, np.uint32(count))
        assert out.get().tolist() == [pow(3, count, 1 << 32)]
        assert bool(counters.region_runs) == expected


def test_when_it_runs_is_one_of_three(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(settings.MACHINE_CODE, "sometimes")
    with pytest.raises(ValueError, match="CUDAPY_SIMULATOR_MACHINE_CODE is one of auto, always, never"):
        settings.Settings()


CARRIES = f"""{HEAD}
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 out)
{{
.reg .b64 %p<3>, %o; .reg .b32 %t, %x<3>, %y<3>, %z<3>; .reg .pred %q;
ld.param.u64 %p0, [a];
ld.param.u64 %p1, [b];
ld.param.u64 %p2, [out];
mov.u32 %t, %tid.x;
mul.wide.u32 %o, %t, 12;
add.u64 %p0, %p0, %o;
add.u64 %p1, %p1, %o;
add.u64 %p2, %p2, %o;
setp.gt.u32 %q, %t, 20;
ld.global.u32 %x0, [%p0];
ld.global.u32 %y0, [%p1];
{{OP}}.cc.u32 %z0, %x0, %y0;
ld.global.u32 %x1, [%p0+4];
ld.global.u32 %y1, [%p1+4];
st.global.u32 [%p2], %z0;
@%q bra more;
{{OP}}c.cc.u32 %z1, %x1, %y1;
more:
@%q {{OP}}c.cc.u32 %z1, %x1, %y1;
ld.global.u32 %x2, [%p0+8];
ld.global.u32 %y2, [%p1+8];
st.global.u32 [%p2+4], %z1;
{{OP}}c.u32 %z2, %x2, %y2;
st.global.u32 [%p2+8], %z2;
ret;
}}
"""


@pytest.mark.parametrize("operation", ["add", "sub"])
def test_a_carry_stays_across_accesses_and_branches(operation: str, mode: Any) -> None:
    mode("always")
    chance = np.random.default_rng(5)
    a, b = (chance.integers(0, 4, (32, 3)).astype(np.uint32) * np.uint32(0x55555555) for _ in range(2))
    machine = Machine()
    code = Module(CARRIES.replace("{OP}", operation), machine.memory)
    blocks = code.functions["k"].kernel.compiled.blocks
    assert all(block.is_fast for block in blocks if block.end == "branch")
    out = machine.zeros((32, 3), np.uint32)
    machine.run(code, "k", 1, 32, machine.array(a), machine.array(b), out)

    def number(words: np.ndarray) -> int:
        return sum(int(word) << 32 * place for place, word in enumerate(words))

    sign = 1 if operation == "add" else -1
    for x, y, z in zip(a, b, out.get(), strict=True):
        assert number(z) == (number(x) + sign * number(y)) % 2**96


NEAR = f"""{HEAD}
.visible .entry k(.param .u64 places, .param .u64 data, .param .u64 out)
{{
.reg .b64 %a<3>, %o; .reg .b32 %t, %b; .reg .{{TYPE}} %v;
mov.u32 %t, %tid.x;
mov.u32 %b, %ctaid.x;
mad.lo.u32 %t, %b, 32, %t;
ld.param.u64 %a0, [places];
ld.param.u64 %a1, [data];
ld.param.u64 %a2, [out];
mad.wide.u32 %a0, %t, 4, %a0;
ld.global.u32 %b, [%a0];
mad.wide.u32 %a1, %b, {{SIZE}}, %a1;
mad.wide.u32 %a2, %t, {{SIZE}}, %a2;
ld.global.{{TYPE}} %v, [%a1];
st.global.{{TYPE}} [%a2], %v;
ret;
}}
"""


@pytest.mark.parametrize("size", [1, 2, 4, 8])
def test_lanes_that_lie_near_each_other(size: int, mode: Any) -> None:
    """Parts of a warp have one address, consecutive ones, or nearly so."""
    mode("always")
    chance, lanes = np.random.default_rng(size), np.arange(32)
    warps = [
        lanes,
        lanes * 0,
        lanes[::-1],
        lanes % 16,
        lanes // 16,
        lanes // 8,
        lanes % 8,
        lanes // 4,
        lanes * 2,
    ]
    for part in range(0, 32, 4):
        for kind in (lanes, lanes * 0 + 7, lanes % 16, lanes // 16 * 99):
            one = kind.copy()
            one[part + chance.integers(0, 4)] ^= 1
            warps.append(one)
    warps += [
        np.concatenate([chance.choice([0, 1, 2]) * lanes[:4] + chance.integers(90) for _ in range(8)])
        for _ in range(40)
    ]
    places = np.concatenate(warps).astype(np.uint32)
    data = chance.integers(0, 256, 128 * size, np.uint8).view(f"u{size}")
    machine = Machine()
    out = machine.zeros(len(places), data.dtype)
    text = NEAR.replace("{TYPE}", {1: "u8", 2: "u16", 4: "u32", 8: "u64"}[size]).replace("{SIZE}", str(size))
    if size == 1:
        text = text.replace(".reg .u8", ".reg .u16")
    code = Module(text, machine.memory)
    machine.run(code, "k", len(warps), 32, machine.array(places), machine.array(data), out)
    np.testing.assert_array_equal(out.get(), data[places])
