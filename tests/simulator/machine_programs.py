"""Random programs for the simulator's two kinds of code, and what comes out of each."""

from __future__ import annotations

import itertools
import random
import re
from typing import Any, NamedTuple

import numpy as np

from cudapy.simulator.engine import settings
from cudapy.simulator.engine.fault import Fault
from cudapy.simulator.engine.module import Module
from cudapy.simulator.engine.ptx.types import TYPES

from .inputs import operand
from .machine import Machine
from .machine_forms import DECLARED, HEAD, Form, forms

SIZES = {letter: max(TYPES[kind].size, 1) for letter, kind in DECLARED.items()}
OWN, ROOM, TILE, TABLE = 256, 64, 32, 64
"""Bytes that each thread has in global memory, in local and in shared memory; and of the constants."""
THREADS = (1, 31, 32, 33, 64, 100, 128)
ACCESSED = ("b8", "u8", "s8", "b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64")
ATOMICS = [
    *(f"{op}.{kind}" for op in ("and", "or", "xor") for kind in ("b32", "b64")),
    *(f"{op}.{kind}" for op in ("min", "max") for kind in ("u32", "s32", "u64", "s64")),
    *(f"add.{kind}" for kind in ("u32", "s32", "u64", "f32", "f64")),
    "exch.b32", "exch.b64", "inc.u32",
]  # fmt: skip
OTHERS = """
popc.b32 r, r
clz.b64 r, d
bfe.u32 r, r, r, r
prmt.b32 r, r, r, r
add.rz.f32 f, f, f
fma.rm.f64 g, g, g, g
cvt.rn.f16.f32 h, f
cvt.f32.f16 f, h
add.f16 h, h, h
mul24.lo.s32 r, r, r
div.s64 d, d, d
testp.finite.f32 p, f
copysign.f32 f, f, f
mov.b64 {r, r}, d
mov.b64 d, {r, r}
mov.b32 {h, h}, r
mov.b32 r, {h, h}
mov.b32 f, r
mov.b32 r, f
mov.f32 f, f
mov.b64 g, d
mov.b64 d, g
mov.u32 r, %laneid
mov.u32 r, %lanemask_lt
mov.u32 r, %ctaid.x
mov.u32 r, %nctaid.x
mov.u32 r, %warpid
""".strip().splitlines()
_SUMS = ("add.u32", "max.s32", "xor.b32")
"""What all blocks do to one number each."""


class Program(NamedTuple):
    text: str
    blocks: int
    threads: int
    values: Any
    """What each thread begins with: its registers' bits."""
    batch: int
    """Threads that run side by side."""


class Writer:
    """Writes a program; `counts`: how many registers there are of each letter.

    wild: some addresses are wrong.
    """

    def __init__(self, chance: random.Random, counts: dict[str, int], threads: int, wild: bool) -> None:
        self.chance, self.counts, self.threads, self.wild = chance, counts, threads, wild
        self.lines: list[str] = []
        self._labels = 0
        self._depth = 0

    def _any(self, letter: str) -> str:
        return f"%{letter}{self.chance.randrange(self.counts[letter])}"

    def _label(self) -> str:
        self._labels += 1
        return f"$L{self._labels}"

    def _guard(self) -> str:
        return self.chance.choice(("", "", "", f"@{self._any('p')} ", f"@!{self._any('p')} "))

    def step(self) -> None:
        chance = self.chance
        if chance.random() < 0.2 and not self.wild:
            opcode, _, operands = chance.choice(OTHERS).partition(" ")
            operands = re.sub(r"(?<![%.\w])[hrdfgp](?!\w)", lambda one: self._any(one[0]), operands)
            self.lines.append(f"{self._guard()}{opcode} {operands};")
            return
        name = chance.choice(sorted(_by_name()))
        self.lines.append(self._guard() + chance.choice(_by_name()[name]).text(chance, self.counts))

    def swap(self) -> None:
        letter = self.chance.choice("hrdfgp")
        names = self.chance.sample(range(self.counts[letter]), self.chance.choice((2, 3)))
        kind = DECLARED[letter]
        self.lines.append(f"mov.{kind} %{letter}t, %{letter}{names[0]};")
        for to, from_ in itertools.pairwise(names):
            self.lines.append(f"mov.{kind} %{letter}{to}, %{letter}{from_};")
        self.lines.append(f"mov.{kind} %{letter}{names[-1]}, %{letter}t;")

    def _place(self, size: int) -> tuple[str, str]:
        """An address of the thread's own memory, for `size` bytes: its space, and what stands in brackets."""
        chance = self.chance
        space, base, room = chance.choice(
            (
                ("global", "%own", OWN), ("global", "%twin", OWN), ("shared", "%tile", TILE),
                ("local", "%room", ROOM), ("", "%own", OWN), ("", "%gtile", TILE), ("", "%groom", ROOM),
                ("", "%mixed", TILE), ("", "%mixed", TILE), ("global", "%either", OWN),
            )
        )  # fmt: skip
        if base == "%mixed":
            choice = chance.sample(("%own", "%gtile", "%groom", "%twin"), 2)
            self.lines.append(f"selp.b64 %mixed, {choice[0]}, {choice[1]}, {self._any('p')};")
        elif base == "%either":
            self.lines.append(f"selp.b64 %either, %own, %twin, {self._any('p')};")
        offset = chance.randrange(room // size) * size
        if self.wild and chance.random() < 0.1:
            offset += chance.choice((1, 2, 4, 1 << 30))
        if chance.random() < 0.4:
            self.lines.append(f"and.b32 %index, {self._any('r')}, {room // size - 1};")
            self.lines.append(f"mad.wide.u32 %place, %index, {size}, {base};")
            return space, "%place"
        if base == "%tile" and chance.random() < 0.5:
            base = "%tile32"
        return space, f"{base}+{offset}"

    def _data(self, kind: str, is_target: bool) -> str:
        size = TYPES[kind].size
        letters = {1: "hhrd", 2: "hhrd", 4: "rrffd", 8: "dg"}[size]
        if not is_target and self.chance.random() < 0.1:  # a number
            return {"f32": "0f7FC12345", "f64": "0d3FF8000000000000"}.get(kind, "77")
        return self._any(self.chance.choice(letters))

    def access(self) -> None:
        chance = self.chance
        kind, count = chance.choice(ACCESSED), chance.choice((1, 1, 1, 2, 4))
        size = TYPES[kind].size
        if chance.random() < 0.15:
            self.lines.append(
                f"ld.const.{kind} {self._data(kind, True)}, [table+{size * chance.randrange(4)}];"
            )
            return
        if size * count > 16:
            count = 2
        space, place = self._place(size * count)
        what, is_load = chance.choice((("ld", True), ("st", False)))
        items = [self._data(kind, is_load) for _ in range(count)]
        data = items[0] if count == 1 else "{" + ", ".join(items) + "}"
        opcode = ".".join(one for one in (what, space, f"v{count}" if count > 1 else "", kind) if one)
        operands = f"{data}, [{place}]" if is_load else f"[{place}], {data}"
        self.lines.append(f"{self._guard()}{opcode} {operands};")

    def atomic(self) -> None:
        chance, op = self.chance, self.chance.choice(ATOMICS[: -3 if self.wild else None])
        kind = op.rpartition(".")[2]
        space, place = self._place(TYPES[kind].size)
        if space == "local" or "room" in place or "mixed" in place or (place == "%place" and not space):
            space, place = "global", "%own"
        where, data = f".{space}" if space else "", self._data(kind, False)
        if chance.random() < 0.5 or op.startswith("exch"):
            self.lines.append(f"{self._guard()}atom{where}.{op} {self._data(kind, True)}, [{place}], {data};")
        else:
            self.lines.append(f"{self._guard()}red{where}.{op} [{place}], {data};")

    def block(self) -> None:
        for _ in range(self.chance.randrange(2, 8)):
            what = self.chance.random()
            if what < 0.65 or self._depth == 3:
                self.step()
            elif what < 0.8:
                self.access()
            elif what < 0.84:
                self.atomic()
            elif what < 0.88:
                self.swap()
            elif what < 0.9:
                self.call()
            elif what < 0.96:
                self.branch()
            else:
                self.loop()

    def call(self) -> None:
        if self.wild:
            return
        self.lines.append(
            "{ .param .b32 a; .param .b64 b; .param .f32 c; .param .b32 z;"
            f" st.param.b32 [a], {self._any('r')}; st.param.b64 [b], {self._any('d')};"
            f" st.param.f32 [c], {self._any('f')}; call (z), helper, (a, b, c);"
            f" ld.param.b32 {self._any(self.chance.choice('rf'))}, [z]; }}"
        )

    def branch(self) -> None:
        start, end = self._label(), self._label()
        self.lines.append(f"@{self.chance.choice(('', '!'))}{self._any('p')} bra {start};")
        self._nested()
        self.lines.append(f"bra {end};")
        if self.chance.random() < 0.1:
            self.lines.append(f"@{self._any('p')} bra $end;")
        self.lines.append(f"{start}:")
        self._nested()
        self.lines.append(f"{end}:")

    def loop(self) -> None:
        label, count = self._label(), f"%count{self._depth}"
        self.lines += [f"and.b32 {count}, {self._any('r')}, 3;", f"{label}:"]
        self._nested()
        if self.chance.random() < 0.5:
            self.swap()
        self.lines += [
            f"setp.eq.u32 %pt, {count}, 0;",
            f"sub.u32 {count}, {count}, 1;",
            f"@!%pt bra {label};",
        ]

    def _nested(self) -> None:
        self._depth += 1
        self.block()
        self._depth -= 1

    def together(self) -> None:
        """A barrier, and what other threads have left in shared memory."""
        chance = self.chance
        operation = chance.randrange(3)  # each has a number for itself: together their order would matter
        self.lines += [
            "bar.sync 0;",
            f"xor.b32 %index, %me, {chance.choice((1, 2, 16))};",
            f"rem.u32 %index, %index, {self.threads};",
            f"mad.lo.u32 %index, %index, {TILE}, %tiles;",
            f"ld.shared.b32 {self._any('r')}, [%index+{4 * chance.randrange(TILE // 4)}];",
            "bar.sync 0;",
            f"red.global.{_SUMS[operation]} [%sums+{4 * operation}], {self._any('r')};",
        ]
        if self.threads % 32 == 0:
            mode, clamp = chance.choice(("up", "down", "bfly", "idx")), chance.choice((31, 0, 0x181F, 0x1007))
            what, r, p, q = self._any(chance.choice("rf")), self._any("r"), self._any("p"), self._any("p")
            vote = chance.choice(("all", "any", "uni"))
            self.lines += [
                f"shfl.sync.{mode}.b32 {r}|{p}, {what}, {self._any('r')}, {clamp}, -1;",
                f"vote.sync.ballot.b32 {self._any('r')}, {self._any('p')}, -1;",
                f"vote.sync.{vote}.pred {q}, !{self._any('p')}, -1;",
            ]


_names: dict[str, list[Form]] = {}


def _by_name() -> dict[str, list[Form]]:
    if not _names:
        for form in forms():
            name = form.opcode.partition(".")[0]
            if not form.opcode.startswith(("div.full", "cvta")):
                _names.setdefault(name, []).append(form)
    return _names


def _declared(counts: dict[str, int]) -> str:
    return "".join(f".reg .{kind} %{one}<{counts[one]}>, %{one}t;\n" for one, kind in DECLARED.items())


def program(seed: int, wild: bool = False) -> Program:
    """The program of a number; wild: of one warp, with some addresses that are wrong."""
    chance = random.Random(seed)
    if chance.random() < 0.15:
        counts = {"h": 24, "r": 60, "d": 40, "f": 40, "g": 30, "p": 12}
    else:
        counts = {"h": 5, "r": 8, "d": 6, "f": 6, "g": 5, "p": 5}
    threads, blocks = chance.choice(THREADS), chance.choice((1, 1, 2, 3, 5))
    if wild:
        threads, blocks = min(threads, 32), 1
    writer = Writer(chance, counts, threads, wild)
    helper = Writer(chance, counts, threads, False)
    helper._depth = 2
    helper.call = helper.step  # type: ignore[method-assign]
    helper.access = helper.atomic = helper.step  # type: ignore[method-assign]
    helper.block()
    helper_lines = "\n".join(helper.lines).replace("$end", "$helper_end").replace("$L", "$H")
    for _ in range(chance.choice((1, 2, 3))):
        writer.block()
        if not wild:
            writer.together()
    names = [f"{one}{i}" for one in "dgrfhp" for i in range(counts[one])]
    loads, stores, offset = [], [], 0
    for name in names:
        size = SIZES[name[0]]
        if name[0] == "p":
            loads.append(
                f"ld.global.u8 %rt, [%in+{offset}]; and.b32 %rt, %rt, 1; setp.ne.u32 %{name}, %rt, 0;"
            )
            stores.append(f"selp.u32 %rt, 1, 0, %{name}; st.global.u8 [%out+{offset}], %rt;")
        else:
            loads.append(f"ld.global.b{8 * size} %{name}, [%in+{offset}];")
            stores.append(f"st.global.b{8 * size} [%out+{offset}], %{name};")
        offset += size
    offset = -(-offset // 8) * 8
    if chance.random() < 0.5:  # so that registers come from elsewhere at first, too
        loads.insert(chance.randrange(len(loads)), "popc.b32 %rt, %me;")
    fills = "".join(f"st.shared.b64 [%tile+{8 * i}], %d{i % 5}; " for i in range(TILE // 8))
    fills += "".join(f"st.local.b64 [%room+{8 * i}], %d{i % 5}; " for i in range(ROOM // 8))
    gathers = "".join(
        f"ld.shared.b64 %dt, [%tile+{8 * i}]; st.global.b64 [%out+{offset + 8 * i}], %dt; "
        for i in range(TILE // 8)
    )
    gathers += "".join(
        f"ld.local.b64 %dt, [%room+{8 * i}]; st.global.b64 [%out+{offset + TILE + 8 * i}], %dt; "
        for i in range(ROOM // 8)
    )
    words = (offset + TILE + ROOM) // 8
    table = ", ".join(str(chance.getrandbits(8)) for _ in range(TABLE))
    text = f"""{HEAD}
.const .align 16 .b8 table[{TABLE}] = {{{table}}};
.func (.param .b32 z) helper(.param .b32 a, .param .b64 b, .param .f32 c)
{{
{_declared(counts)}.reg .b32 %count2, %count3, %index;
ld.param.b32 %r0, [a]; ld.param.b64 %d0, [b]; ld.param.f32 %f0, [c];
{"".join(f"cvt.u16.u32 %h{i}, %r0; " for i in range(counts["h"]))}
{"".join(f"mov.b32 %r{i}, %r0; " for i in range(1, counts["r"]))}
{"".join(f"mov.b64 %d{i}, %d0; " for i in range(1, counts["d"]))}
{"".join(f"mov.f32 %f{i}, %f0; " for i in range(1, counts["f"]))}
{"".join(f"mov.b64 %g{i}, %d0; " for i in range(counts["g"]))}
{"".join(f"setp.ne.u32 %p{i}, %r0, {i}; " for i in range(counts["p"]))}
{helper_lines}
$helper_end:
mov.b32 %rt, %f1; xor.b32 %rt, %rt, %r1; cvt.u32.u64 %r0, %d1; xor.b32 %rt, %rt, %r0;
st.param.b32 [z], %rt;
ret;
}}
.visible .entry k(.param .u64 in, .param .u64 out, .param .u64 own, .param .u64 twin, .param .u64 sums)
{{
{_declared(counts)}.reg .b32 %me, %index, %count0, %count1, %count2, %count3, %n, %tile32, %tiles;
.reg .b64 %in, %out, %own, %twin, %sums, %tile, %gtile, %room, %groom, %mixed, %either, %place;
.shared .align 16 .b8 tile[{TILE * threads}];
.local .align 16 .b8 room[{ROOM}];
mov.u32 %me, %tid.x;
mov.u32 %index, %ctaid.x;
mov.u32 %n, %ntid.x;
mad.lo.u32 %index, %index, %n, %me;
ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; ld.param.u64 %own, [own]; ld.param.u64 %twin, [twin];
ld.param.u64 %sums, [sums];
mad.wide.u32 %in, %index, {8 * words}, %in;
mad.wide.u32 %out, %index, {8 * words}, %out;
mad.wide.u32 %own, %index, {OWN}, %own;
mad.wide.u32 %twin, %index, {OWN}, %twin;
mov.u32 %tiles, tile;
mad.lo.u32 %tile32, %me, {TILE}, %tiles;
cvt.u64.u32 %tile, %tile32;
cvta.shared.u64 %gtile, %tile;
mov.u64 %room, room;
cvta.local.u64 %groom, %room;
{chr(10).join(loads)}
{fills}
{chr(10).join(writer.lines)}
$end:
{chr(10).join(stores)}
{gathers}
ret;
}}
"""
    return Program(text, blocks, threads, _values(seed, blocks * threads, words), chance.choice((32768, 32)))


def _values(seed: int, threads: int, words: int) -> Any:
    """Bits of registers: random ones, and special numbers of all types."""
    noise = np.random.default_rng(seed)
    bits = noise.integers(0, 1 << 64, (threads, words), np.uint64)
    wide = np.concatenate([operand(kind, 0)[:2000] for kind in ("f64", "s64")])
    narrow = np.concatenate([operand(kind, 0)[:2000] for kind in ("f32", "s32")])
    small = noise.integers(-4, 5, (threads, words)).astype(np.int64).view(np.uint64)
    pairs = noise.choice(narrow, (threads, words)) | noise.choice(narrow, (threads, words)) << np.uint64(32)
    return np.choose(
        noise.integers(0, 4, (threads, words)), [bits, noise.choice(wide, (threads, words)), pairs, small]
    )


class Loaded:
    """A program on a machine, to be run again and again with the same values at the same addresses."""

    def __init__(self, one: Program) -> None:
        self.program, self._machine = one, Machine()
        self._code = Module(one.text, self._machine.memory)
        count = one.blocks * one.threads
        own, twin = (np.arange(count * OWN // 8, dtype=np.uint64) * np.uint64(k) for k in (3, 5))
        self._values = [one.values, np.zeros_like(one.values), own, twin, np.zeros(2, np.uint64)]
        self._arrays = [self._machine.array(values) for values in self._values]

    def run(self, machine_code: str, seed: int | None = None) -> tuple[list[Any], tuple[Any, ...] | None]:
        """What it leaves in memory, and how it fails, if it does. seed: of the order of its threads."""
        for array, values in zip(self._arrays, self._values, strict=True):
            array.set(values)
        current, one = settings.current, self.program
        before = current.machine_code, current.batch, current.seed
        current.machine_code, current.batch, current.seed = machine_code, one.batch, seed
        fault = None
        try:
            self._machine.run(self._code, "k", one.blocks, one.threads, *self._arrays)
        except Fault as error:
            fault = error.status, str(error).splitlines()[:2]
        finally:
            current.machine_code, current.batch, current.seed = before
        return [array.get() for array in self._arrays[1:]], fault


_ORDERS = 200
"""In which diverged threads run on NumPy until one of their faults is the one that is looked for."""


def difference(one: Loaded) -> str:
    """How machine code differs from NumPy; "" if it does not.

    Threads that have diverged may run in another order: of a program that fails, the fault and its
    instruction are compared, but not how many threads were there, nor what others have done before. Where
    several threads fail, the fault is one that NumPy meets, too, in some order.
    """
    (never, failed), (always, fails) = (one.run(value) for value in ("never", "always"))
    if failed != fails:
        in_order = (one.run("never", seed)[1] for seed in range(_ORDERS) if failed and fails)
        if any(other == fails for other in in_order):
            return ""
        return f"{failed} but in machine code {fails}"
    if failed:
        return ""
    for name, expected, got in zip(("out", "own", "twin", "sums"), never, always, strict=True):
        if not np.array_equal(expected, got):
            places = np.argwhere(expected != got)
            first = tuple(places[0])
            words = f"{expected[first]:#x} but {got[first]:#x}"
            return f"{name}: {len(places)} words differ, first at {places[0].tolist()}: {words}"
    return ""
