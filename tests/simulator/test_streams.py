"""Accesses of whole vectors in machine code give what NumPy gives, wherever the addresses lie."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cudapy.simulator.engine import settings
from cudapy.simulator.engine.fault import Fault
from cudapy.simulator.engine.jit import processor
from cudapy.simulator.engine.jit.strides import Strides
from cudapy.simulator.engine.jit.vectors import Vectors
from cudapy.simulator.engine.module import Module
from cudapy.simulator.engine.ptx.syntax import Register

from .machine import Machine

pytestmark = pytest.mark.skipif(
    not processor.is_supported(), reason="there is machine code for x86-64 with AVX2 alone"
)
KERNEL = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y, .param .u32 first)
{{
.reg .b64 %a, %c, %x, %y, %o; .reg .b32 %f, %g, %h, %t, %r, %w, %i, %b, %m, %n, %s, %q;
.reg {register} %v, %u; .reg .pred %p;
.shared .align 8 .b8 tile[2048];
ld.param.u64 %a, [x];
ld.param.u64 %c, [y];
ld.param.u32 %f, [first];
mov.u32 %t, %tid.x;
mov.u32 %r, %tid.y;
mov.u32 %w, %ntid.x;
mad.lo.u32 %g, %r, %w, %f;
add.u32 %i, %g, %t;
mul.wide.{index} %o, %i, {size};
add.u64 %x, %a, %o;
add.u64 %y, %c, %o;
{body}
ret;
}}
"""
COPY = "ld.global.{kind} %v, [%x];\nst.global.{kind} [%y], %v;"
AHEAD = "ld.global.{kind} %v, [%x+{size}];\nst.global.{kind} [%x], %v;"
BEHIND = "ld.global.{kind} %v, [%x];\nst.global.{kind} [%x+{size}], %v;\nst.global.{kind} [%y], %v;"
THROUGH = "ld.global.{kind} %v, [%x];\nst.global.{kind} [%y], %v;\nld.global.{kind} %u, [%y+{size}];\n" + (
    "st.global.{kind} [%x], %u;"
)
SHARED = """
mul.lo.u32 %n, %t, {size};
shl.b32 %m, %r, 8;
mov.u32 %b, tile;
add.u32 %q, %m, %b;
add.u32 %s, %n, %q;
ld.global.{kind} %v, [%x];
st.shared.{kind} [%s], %v;
bar.sync 0;
add.u32 %h, %t, 1;
add.u32 %h, %h, %t;
add.u32 %h, %h, %r;
ld.shared.{kind} %v, [%s+{size}];
ld.shared.{kind} %u, [%q];
st.global.{kind} [%x], %v;
st.global.{kind} [%y], %u;
"""
PART = "setp.lt.u32 %p, %t, 13;\n@%p bra over;\n" + COPY + "\nover:"
PROGRAMS = {
    "copy": COPY,
    "ahead": AHEAD,
    "behind": BEHIND,
    "through": THROUGH,
    "shared": SHARED,
    "part": PART,
}
RACES = ("ahead", "behind", "through")
KINDS = {"u8": "u1", "s8": "i1", "u16": "u2", "s16": "i2", "u32": "u4", "f32": "f4", "b64": "u8", "f64": "f8"}


def text_of(body: str, kind: str, index: str = "u32") -> str:
    size = np.dtype(KINDS[kind]).itemsize
    bits = f".{'f' if kind[0] == 'f' else 'b'}{max(8 * size, 32 if kind[0] == 'f' else 16)}"
    return KERNEL.format(body=body.format(kind=kind, size=size), register=bits, size=size, index=index)


def ran(
    text: str, kind: str, block: Any, first: int = 0, before: int = 0, times: int = 1
) -> tuple[Any, Any, str]:
    """What memory holds afterwards, and the fault. before: bytes that pointers lie behind the start; times:
    launches, of which the first one finds the allocations.
    """
    dtype, machine = np.dtype(KINDS[kind]), Machine()
    data = np.random.default_rng(3).integers(0, 256, 600 * dtype.itemsize, np.uint8).view(dtype)
    x, y = machine.array(data), machine.array(data[::-1].copy())
    pointers = (np.uint64(one.address + before) for one in (x, y))
    try:
        loaded, arguments = Module(text, machine.memory), (*pointers, np.uint32(first % (1 << 32)))
        for number in range(times):
            x.set(np.roll(data, number))
            machine.run(loaded, "k", 1, block, *arguments)
        fault = ""
    except Fault as error:
        fault = "\n".join(str(error).splitlines()[:3])
    return x.get().tobytes(), y.get().tobytes(), fault


def both(monkeypatch: pytest.MonkeyPatch, *arguments: Any) -> tuple[Any, Any, str]:
    """The same on NumPy and in machine code."""
    results = []
    for mode in ("never", "always"):
        monkeypatch.setattr(settings.current, "machine_code", mode)
        results.append(ran(*arguments))
    assert results[0] == results[1]
    return results[0]


@pytest.mark.parametrize("rows", [(64, 1), (16, 4), (12, 8), (4, 8), (40, 1), (32, 1), (16, 2)], ids=str)
@pytest.mark.parametrize("program", PROGRAMS)
def test_what_numpy_gives(program: str, rows: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Of blocks that are whole warps, and whose rows are narrower; and not."""
    if program in RACES and rows[0] * rows[1] > 32:
        rows = 8, 4  # what one warp writes and another reads has no order
    for kind in KINDS if program == "copy" else ("s8", "u32", "f64"):
        fault = both(monkeypatch, text_of(PROGRAMS[program], kind), kind, (*rows, 1))[2]
        assert not fault, kind


@pytest.mark.parametrize("index", ["u32", "s32"])
@pytest.mark.parametrize("first", [-16, -4, -1])
def test_numbers_that_wrap_around(first: int, index: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Within a part of a warp, and between two."""
    fault = both(monkeypatch, text_of(COPY, "u32", index), "u32", (32, 1, 1), first, 64)[2]
    assert bool(fault) == (index == "u32")


@pytest.mark.parametrize(
    ("first", "before"), [(569, 0), (568, 4), (575, 4), (599, 0), (600, 0), (0, 1), (0, 2), (1 << 20, 0)]
)
def test_addresses_that_are_wrong(first: int, before: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the end of the allocation, beyond it, and misaligned: what is stored up to there, and the report;
    of the first warp, and of the one behind it.
    """
    text = text_of(COPY, "u32")
    assert both(monkeypatch, text, "u32", (32, 1, 1), first, before)[2]
    reports = []
    for mode in ("never", "always"):
        monkeypatch.setattr(settings.current, "machine_code", mode)
        fault = ran(text, "u32", (64, 1, 1), first - 32, before)[2]
        reports.append(fault.partition(" and ")[0])  # without how many are like it of those that run at once
    assert reports[0] == reports[1]
    assert reports[0]


def test_the_last_bytes_of_an_allocation(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not both(monkeypatch, text_of(COPY, "u32"), "u32", (32, 1, 1), 568)[2]


@pytest.mark.parametrize("block", [(64, 1, 1), (16, 4, 1)], ids=str)
@pytest.mark.parametrize("program", ["copy", "shared"])
def test_streams_are_used(program: str, block: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of those that store zeros, zeros are seen, but of the first warp: it finds the allocation."""
    monkeypatch.setattr(settings.current, "machine_code", "always")
    text = text_of(PROGRAMS[program], "f32")
    right = ran(text, "f32", block)
    store = Vectors.store_beside
    monkeypatch.setattr(
        Vectors, "store_beside", lambda self, pointer, at, a: store(self, pointer, at, self.op("pxor", a, a))
    )
    y = np.frombuffer(ran(text, "f32", block)[1], np.float32)
    assert not y[32:64].any() and y[64:].tobytes() == right[1][256:]


def test_strides() -> None:
    text = text_of(SHARED, "f32")
    strides = Strides(
        step
        for block in Module(text, Machine().memory).functions["k"].kernel.compiled.blocks
        for step in block.steps
    )
    wanted = {"%t": 1, "%r": 0, "%i": 1, "%o": 4, "%x": 4, "%q": 0, "%s": 4, "%v": None, "%nothing": None}
    assert {name: strides.of(Register(name)) for name in wanted} == wanted


IN_PLACE = "ld.global.{kind} %v, [%x];\nadd.{kind} %v, %v, %v;\nst.global.{kind} [%x], %v;"
ONE_ARRAY = """
sub.u64 %y, %x, {apart};
ld.global.u32 %v, [%x];
add.u32 %u, %v, 1;
st.global.u32 [%y], %u;
add.u64 %o, %o, %a;
st.global.u32 [%o+1792], %v;
"""


@pytest.mark.parametrize("rows", [(32, 1), (8, 4)], ids=str)
@pytest.mark.parametrize("apart", [0, 4, 28, 32, 96, 124, 128, -4, -28, -32, -124, -128, -1024])
def test_loads_and_stores_of_one_allocation(
    apart: int, rows: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All lanes load before any stores, however the parts of a warp lie; what was loaded is still there."""
    text = text_of(ONE_ARRAY.replace("{apart}", str(apart)), "u32")
    assert not both(monkeypatch, text, "u32", (*rows, 1), 64, 0, 2)[2]


@pytest.mark.parametrize("block", [(64, 1, 1), (16, 4, 1)], ids=str)
def test_stores_where_it_was_loaded(block: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not both(monkeypatch, text_of(IN_PLACE, "u32"), "u32", block, 0, 0, 2)[2]
