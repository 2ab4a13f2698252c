"""Machine code gives what the other code gives, bit for bit, wherever threads go."""

from __future__ import annotations

import random
import re
from typing import Any

import numpy as np
import pytest

from cudapy.simulator.engine import settings
from cudapy.simulator.engine.fault import Fault
from cudapy.simulator.engine.jit import processor
from cudapy.simulator.engine.jit.run import MachineRuns
from cudapy.simulator.engine.module import Module

from .columns import Column
from .machine import Machine
from .reference import digest, simulated
from .test_differential import GROUPS, stored

pytestmark = pytest.mark.skipif(
    not processor.is_able(), reason="there is machine code for x86-64 with AVX2 alone"
)
EXACT = [[one for one in columns if not one.is_approximate] for columns in GROUPS]
TYPES = {"r": ("b32", 4, 8), "d": ("b64", 8, 5), "f": ("f32", 4, 5), "g": ("f64", 8, 4)}
"""Registers of random programs by their first letters: type, bytes, and how many there are."""
WORDS = -(-sum(size * count for _, size, count in TYPES.values()) // 8)
"""Words of 64 bits for all of them."""
COMPARED = [("r", "s32"), ("r", "u32"), ("d", "s64"), ("d", "u64"), ("f", "f32"), ("g", "f64")]
STEPS = """
[add|sub|mul.lo|min|max|div|rem|mul.hi].[s32|u32] r, r, r
[and|or|xor].b32 r, r, r
lop3.b32 r, r, r, r, n
shf.[l|r].[wrap|clamp].b32 r, r, r, r
[shl.b32|shr.u32|shr.s32] r, r, [n|r]
[shl.b64|shr.u64|shr.s64] d, d, [n|r]
[add|sub|mul.lo|mul.hi|min|max].[s|u]64 d, d, d
[and|or|xor].b64 d, d, d
mad.[lo.s32|hi.u32] r, r, r, r
mad.wide.[s|u]32 d, r, r, d
[add|sub|mul|min|max|div.rn|div.full].f32 f, f, f
[add|sub|mul|min|max].ftz.f32 f, f, f
fma.rn[|.ftz|.sat].f32 f, f, f, f
[sqrt.rn|rcp.rn|rsqrt.approx].f32 f, f
[add|sub|mul|min|max|div.rn].f64 g, g, g
fma.rn.f64 g, g, g, g
sqrt.rn.f64 g, g
[neg|abs].f32 f, f
[neg|abs].s32 r, r
[neg|abs].f64 g, g
[neg|abs].s64 d, d
not.b32 r, r
not.b64 d, d
not.pred p, p
cvt.rn.f32.[s32|u32] f, r
cvt.[rzi|rni|rmi].[s32|u32].f32 r, f
cvt.rzi.[s32|u32].f64 r, g
cvt.f64.f32 g, f
cvt.rn.f32.f64 f, g
cvt.rn.f64.[s32|u32] g, r
cvt.[rni|rpi].f32.f32 f, f
cvt.[s64.s32|u64.u32|s64.s8|u64.u16] d, r
cvt.[u32.u64|s32.s64] r, d
selp.b32 r, r, r, p
selp.f32 f, f, f, p
selp.b64 d, d, d, p
set.lt.u32.f32 r, f, f
set.lt.f32.f32 f, f, f
mov.b32 r, f
mov.b32 f, r
mov.b64 d, g
mov.b64 {r,r}, d
mov.b64 d, {r,r}
""".strip().splitlines()
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


class Writer:
    """Writes a random program: arithmetic, branches and loops that lanes take by themselves, memory."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.labels = 0

    def register(self, letter: str) -> str:
        return f"%{letter}{self.random.randrange(TYPES[letter][2])}"

    def predicate(self) -> str:
        return f"%p{self.random.randrange(4)}"

    def compare(self) -> str:
        choose, p = self.random.choice, self.predicate()
        letter, kind = choose(COMPARED)
        relations = ["eq", "ne", "lt", "le", "gt", "ge"] + (["ltu", "neu", "num"] if letter in "fg" else [])
        more = choose(["", "", ".and", ".xor"])
        last = f", {self.predicate()}" if more else ""
        operands = f"{p}, {self.register(letter)}, {self.register(letter)}{last}"
        self.lines.append(f"setp.{choose(relations)}{more}.{kind} {operands};")
        return p

    def step(self) -> None:
        """An instruction, with registers for r, d, f, g and p, a number for n."""
        guard = self.random.choice(["", "", "", f"@{self.predicate()} ", f"@!{self.predicate()} "])
        text = self.random.choice(STEPS)
        words = re.sub(r"\[([^]]*)\]", lambda one: self.random.choice(one[1].split("|")), text).split()
        for place in range(1, len(words)):
            words[place] = re.sub(r"\b[rdfgpn]\b", self._operand, words[place])
        self.lines.append(f"{guard}{' '.join(words)};")

    def _operand(self, letter: re.Match[str]) -> str:
        if letter[0] == "n":
            return str(self.random.randrange(256))
        return self.predicate() if letter[0] == "p" else self.register(letter[0])

    def access(self) -> None:
        """Of memory: where nobody else writes, by an index that lanes have computed."""
        choose, space = self.random.choice, self.random.choice(["global", "shared", "local"])
        base = {"global": "%own", "shared": "%mine", "local": "%stack"}[space]
        letter = choose("rdfg")
        kind, size, _ = TYPES[letter]
        self.lines.append(f"and.b32 %index, {self.register('r')}, {7 if size == 4 else 3};")
        self.lines.append(f"mad.wide.u32 %place, %index, {size}, {base};")
        if choose([True, False]):
            self.lines.append(f"st.{space}.{kind} [%place], {self.register(letter)};")
        else:
            self.lines.append(f"ld.{space}.{kind} {self.register(letter)}, [%place];")
            narrow = choose(["s8", "u8", "s16", "u16"])
            self.lines.append(f"ld.{space}.{narrow} {self.register(choose('rd'))}, [%place+2];")

    def block(self, depth: int) -> None:
        for _ in range(self.random.randrange(3, 9)):
            what = self.random.random()
            if what < 0.7 or depth == 3:
                self.step()
            elif what < 0.8:
                self.access()
            elif what < 0.9:
                self.branch(depth)
            else:
                self.loop(depth)

    def branch(self, depth: int) -> None:
        self.labels += 1
        label, p = f"$b{self.labels}", self.compare()
        self.lines.append(f"@{p} bra {label}_else;")
        self.block(depth + 1)
        self.lines += [f"bra {label}_end;", f"{label}_else:"]
        self.block(depth + 1)
        self.lines.append(f"{label}_end:")

    def loop(self, depth: int) -> None:
        self.labels += 1
        label = f"$l{self.labels}"
        self.lines += [f"and.b32 %count{depth}, {self.register('r')}, 3;", f"{label}:"]
        self.block(depth + 1)
        self.lines += [
            f"setp.eq.u32 %done, %count{depth}, 0;",
            f"sub.u32 %count{depth}, %count{depth}, 1;",
            f"@!%done bra {label};",
        ]

    def together(self) -> None:
        """What a warp does together, where all of it is."""
        choose = self.random.choice
        one, two, three, four, five = (self.register("r") for _ in range(5))
        p, q, s = (self.predicate() for _ in range(3))
        mode, clamp = choose(["up", "down", "bfly", "idx"]), choose([31, 0, 0x181F, 0x1007])
        self.lines += [
            f"shfl.sync.{mode}.b32 {one}|{p}, {two}, {three}, {clamp}, -1;",
            f"vote.sync.ballot.b32 {four}, {q}, -1;",
            f"vote.sync.{choose(['all', 'any', 'uni'])}.pred {s}, {p}, -1;",
            f"atom.global.{choose(['add.u32', 'min.s32', 'max.u32', 'xor.b32'])} {five}, [%count], {one};",
            "bar.sync 0;",
        ]

    def text(self, size: int) -> str:
        names = [(f"%{letter}{i}", kind) for letter, (kind, _, n) in TYPES.items() for i in range(n)]
        for _ in range(3):
            self.block(0)
            self.together()
        offset, loads, stores = 0, [], []
        for name, kind in sorted(names, key=lambda one: one[1][1:] != "64"):
            loads.append(f"ld.global.{kind} {name}, [%in+{offset}];")
            stores.append(f"st.global.{kind} [%own+{64 + offset}], {name};")
            offset += int(kind[1:]) // 8
        declared = "".join(f".reg .{kind} %{letter}<{n}>;\n" for letter, (kind, _, n) in TYPES.items())
        return f"""{HEAD}
.visible .entry k(.param .u64 in, .param .u64 out, .param .u64 count)
{{
{declared}.reg .pred %p<4>, %done;
.reg .b32 %t, %index, %count0, %count1, %count2, %n;
.reg .b64 %in, %own, %mine, %stack, %place, %count;
.shared .align 8 .b8 tile[{32 * size}];
.local .align 8 .b8 room[32];
mov.u32 %t, %tid.x;
mov.u32 %index, %ctaid.x;
mov.u32 %n, %ntid.x;
mad.lo.u32 %index, %index, %n, %t;
ld.param.u64 %in, [in];
ld.param.u64 %own, [out];
ld.param.u64 %count, [count];
mad.wide.u32 %in, %index, {8 * WORDS}, %in;
mad.wide.u32 %own, %index, {64 + 8 * WORDS}, %own;
mov.u64 %mine, tile;
mad.wide.u32 %mine, %t, 32, %mine;
mov.u64 %stack, room;
{chr(10).join(loads)}
{"".join(f"st.local.u64 [%stack+{8 * i}], %d0; st.shared.u64 [%mine+{8 * i}], %d1;" for i in range(4))}
setp.lt.s32 %p0, %r0, %r1; setp.lt.f32 %p1, %f0, %f1; setp.ne.s32 %p2, %r2, 0; not.pred %p3, %p1;
{chr(10).join(self.lines)}
{chr(10).join(stores)}
ret;
}}
"""


def operands(threads: int, seed: int) -> Any:
    """Numbers of all kinds: random bits, small ones, floats at the edges."""
    random_ = np.random.default_rng(seed)
    bits = random_.integers(0, 1 << 64, (threads, WORDS), np.uint64)
    small = random_.integers(-4, 5, (threads, WORDS)).astype(np.int64).view(np.uint64)
    edges = np.array(
        [
            0,
            1 << 63,
            0x7FF0000000000000,
            0x7FF8000000000123,
            0x3FF0000000000000,
            0x3F8000007F800001,
            1,
            0x00800000,
            0x80000000FFFFFFFF,
            0x7FFFFFFF80000001,
            0xBF80000040490FDB,
        ],
        np.uint64,
    )
    which = random_.integers(0, 3, (threads, WORDS))
    return np.where(which == 0, bits, np.where(which == 1, small, random_.choice(edges, (threads, WORDS))))


@pytest.mark.parametrize("seed", range(40))
def test_random_programs(seed: int, mode: Any) -> None:
    """Of whole and of broken warps, in one block and in several."""
    size = (32, 64, 1, 33, 100)[seed % 5]
    blocks = 1 + seed % 3
    writer = Writer(seed)
    if size % 32:  # warps that are not whole have other masks
        writer.together = lambda: writer.lines.append("bar.sync 0;")  # type: ignore[method-assign]
    text, values, results = writer.text(size), operands(blocks * size, seed), []
    for one in ("never", "always"):
        mode(one)
        machine = Machine()
        given = machine.array(values)
        out, count = (
            machine.zeros((blocks * size, 8 + WORDS), np.uint64),
            machine.array(np.array([7], np.uint64)),
        )
        machine.run(Module(text, machine.memory), "k", blocks, size, given, out, count)
        results.append((out.get(), count.get()))
    np.testing.assert_array_equal(results[1][0], results[0][0])
    np.testing.assert_array_equal(results[1][1], results[0][1])


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


def test_it_runs_once_the_kernel_is_warm(mode: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[int] = []
    run = MachineRuns.run

    def counted(self: MachineRuns, *arguments: Any) -> Any:
        runs.append(arguments[3])
        return run(self, *arguments)

    monkeypatch.setattr(MachineRuns, "run", counted)
    text = f"""{HEAD}
.visible .entry k(.param .u64 out)
{{
.reg .b64 %a; .reg .b32 %i, %v; .reg .pred %p;
ld.param.u64 %a, [out];
mov.u32 %i, 0;
mov.u32 %v, 1;
$again:
mul.lo.u32 %v, %v, 3;
add.u32 %i, %i, 1;
setp.lt.u32 %p, %i, 100;
@%p bra $again;
st.global.u32 [%a], %v;
ret;
}}
"""
    for value, expected in (("never", 0), ("auto", 1)):
        mode(value)
        machine = Machine()
        out = machine.zeros(1, np.uint32)
        machine.run(Module(text, machine.memory), "k", 1, 32, out)
        assert out.get().tolist() == [pow(3, 100, 1 << 32)]
        assert len(runs) == expected


def test_when_it_runs_is_one_of_three(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(settings.MACHINE_CODE, "sometimes")
    with pytest.raises(ValueError, match="CUDAPY_SIMULATOR_MACHINE_CODE is one of auto, always, never"):
        settings.Settings()
