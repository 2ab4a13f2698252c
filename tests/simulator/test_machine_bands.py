"""Accesses that machine code enters for a whole warp, or for all warps of a block, at once: what the race
detector knows afterwards, and finds, is what NumPy finds where it runs warps in the same order.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from cudapy.simulator.engine import grids, settings
from cudapy.simulator.engine.access import WRITE
from cudapy.simulator.engine.jit import processor
from cudapy.simulator.engine.run.launch_order import LaunchOrder
from cudapy.simulator.engine.schedule import FIRST, Schedule

from .test_machine_races import Runner
from .test_workers import kernel

pytestmark = pytest.mark.skipif(
    not processor.is_supported(), reason="there is machine code for x86-64 with AVX2 alone"
)
OWN = ".reg .b32 %b, %j, %x, %y, %k; .reg .b64 %q, %z; .reg .f32 %f<3>;"
FAR = 60000
BEGIN = f"""
mov.u32 %b, %ctaid.x; mov.b32 %v, %i; cvt.u64.u32 %z, %i;
ld.global.u32 %x, [%a0+{FAR}]; ld.global.u32 %x, [%a1+{FAR}];
"""
"""Those that are first to an allocation are made by Python, which leaves no band of it closed."""
INDEX = {
    "grid": "mov.b32 %j, %i;",
    "block": "mov.b32 %j, %t;",
    "blocks from behind": "sub.u32 %j, {last}, %b; mad.lo.u32 %j, %j, {threads}, %t;",
    "warps from behind": "xor.b32 %j, %i, 96;",
    "two warps": "and.b32 %j, %i, 63;",
    "one block": "mov.b32 %j, %t; setp.ne.u32 %p, %b, 1;",
    "some warps": "mov.b32 %j, %i; and.b32 %x, %t, 96; setp.eq.u32 %p, %x, 32;",
}
AGAIN = "sub.u32 %k, %k, 1; setp.ne.u32 %p, %k, 0; @%p bra again;"
OWN_PLACE = "mul.wide.u32 %q, %i, 4; add.u64 %q, %q, %a1;"
OTHERS = "ex2.approx.f32 %f0, %f0;"
"""There is no machine code for it: all warps come to it before one goes on."""
LOAD, STORE = "ld.global.u32 %x, [%q]; add.u32 %v, %v, %x;", "st.global.u32 [%q], %v;"


class Writer:
    """Writes a kernel of accesses to two arrays, each by whole warps."""

    sizes = 1 << 14, 1 << 14

    def __init__(self, seed: int) -> None:
        chance = self._chance = random.Random(seed)
        self.threads, self.blocks = chance.choice((32, 64, 128, 256, 288)), chance.choice((1, 2, 3, 5))
        self._offsets = chance.choice(((0,), (0, 0, 32), (0, 256, 1024), (0, 16, 32, 1, 480)))
        self._indices = chance.choice((("grid",), ("grid", "block"), (*INDEX,)))
        self._is_mixed = chance.random() < 0.15
        lines, is_loop = [BEGIN, "mov.b32 %k, 2;", "again:"], chance.random() < 0.3
        for _ in range(chance.randrange(2, 7)):
            lines += self._access()
            if chance.random() < 0.25:
                lines.append("bar.sync 0;")
        if is_loop:
            lines.append(AGAIN)
        self.text = kernel("\n".join(lines), OWN)

    def _access(self) -> list[str]:
        chance = self._chance
        how, offset, array = chance.choice(self._indices), chance.choice(self._offsets), chance.randrange(2)
        size = chance.choice((1, 8)) if self._is_mixed and chance.random() < 0.3 else 4
        place, is_guarded = f"[%q+{size * offset}]", how in ("one block", "some warps")
        lines = [INDEX[how].format(last=self.blocks - 1, threads=self.threads)]
        lines.append(f"mul.wide.u32 %q, %j, {size}; add.u64 %q, %q, %a{array};")
        kind, what = {1: "u8", 4: "u32", 8: "u64"}[size], chance.random()
        register = "%z" if size == 8 else "%x"
        over = f"over{chance.randrange(1 << 40)}"
        if is_guarded:
            lines.append(f"@%p bra {over};")
        if what < 0.45:
            lines.append(f"ld.global.{kind} {register}, {place};")
        elif what < 0.6:
            lines.append(f"ld.global.nc.{kind} {register}, {place};")
        else:
            value = "%z" if size == 8 else chance.choice(("%v", "%v", "7"))
            lines.append(f"st.global.{kind} {place}, {value};")
        if what < 0.6 and size < 8:
            lines.append("add.u32 %v, %v, %x;")
        if is_guarded:
            lines.append(f"{over}:")
        return lines


class Known:
    """What is known of launches' accesses when they end."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.last: set[Any] = set()
        close = LaunchOrder.close

        def noted(order: LaunchOrder) -> None:
            self.last = {*_stretches(order)}
            close(order)

        monkeypatch.setattr(LaunchOrder, "close", noted)


def _stretches(order: LaunchOrder) -> Any:
    for number, shadow in enumerate(order.shadows.values()):
        for which, record in (("write", shadow.write), ("read", shadow.first_read)):
            runs = record.runs(len(order.sites))
            found = [one.tolist() for one in runs.found]
            assert not runs.exist or (runs.start, runs.end) == (found[0][0], found[1][-1])
            for start, end, site in zip(*found, strict=True):
                one = order.sites[site]
                assert (one.mode == WRITE) == (which == "write")
                yield number, which, shadow.granularity, start, end, str(one.instruction)


def _compare(one: Any, runner: Runner, known: Known) -> str:
    """Raises AssertionError where NumPy and machine code differ. Returns what was found."""
    memory, findings, _ = runner.run(one, machine_code="never", schedule=Schedule(FIRST))
    expected = known.last
    own, own_findings, _ = runner.run(one, machine_code="always", schedule=None, workers=1)
    assert own_findings == findings, one.text
    assert known.last == expected, one.text
    assert own == memory, one.text
    return "races" if findings else "none"


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch) -> Runner:
    return Runner(monkeypatch)


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> Known:
    return Known(monkeypatch)


def test_random_kernels(runner: Runner, known: Known) -> None:
    assert {_compare(Writer(seed), runner, known) for seed in range(24)} == {"none", "races"}


AGAIN_FOR_ONE = f"setp.lt.u32 %p, %t, 32; selp.u32 %k, 2, 1, %p;\nagain: {LOAD} {OTHERS} {AGAIN}"
TWO_SITES = f"setp.lt.u32 %p, %t, 32; @%p bra first; {LOAD} bra.uni over;\nfirst: {LOAD}\nover:"

TILES = f"""
and.b32 %j, %t, 15; shr.u32 %y, %t, 4; mad.lo.u32 %j, %y, 48, %j; mad.lo.u32 %j, %b, 1024, %j;
mul.wide.u32 %o, %j, 4; add.u64 %o, %o, %a1; {(LOAD + STORE).replace("%q", "%o")}
"""
"""What eight lanes access lies so that machine code may take that for a row, but not what a warp does."""


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (AGAIN_FOR_ONE, "none"),
        (TWO_SITES, "none"),
        (TILES, "none"),
        (f"membar.gl; {LOAD} {STORE} {LOAD}", "none"),
        (f"{STORE} ld.global.nc.u32 %x, [%q];", "races"),
        (f"{STORE} {LOAD} {STORE} {LOAD}", "none"),
        (f"{LOAD} {STORE} {LOAD} bar.sync 0; {STORE}", "none"),
    ],
)
def test_threads_that_come_back(body: str, found: str, runner: Runner, known: Known) -> None:
    one: Any = Writer(0)
    one.blocks, one.threads, one.text = 2, 320, kernel(f"{BEGIN}{OWN_PLACE}{body}", OWN)
    assert _compare(one, runner, known) == found


@pytest.mark.parametrize(
    "read", ["xor.b32 %j, %i, 2112;", "setp.lt.u32 %p, %b, 40; @%p ret; bar.sync 0; sub.u32 %j, %i, 2560;"]
)
def test_batches_of_one_launch(
    read: str, runner: Runner, known: Known, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the code is told of one serves the next, whose threads have other numbers."""
    monkeypatch.setattr(grids, "_MOST", 0)
    monkeypatch.setattr(settings.current, "batch", 64)  # of 8 blocks each
    one: Any = Writer(0)
    read += "mul.wide.u32 %q, %j, 4; add.u64 %q, %q, %a1;"
    one.blocks, one.threads, one.text = 48, 64, kernel(f"{BEGIN}{OWN_PLACE}{STORE}{read}{LOAD}", OWN)
    assert _compare(one, runner, known) == "races"


@pytest.mark.thorough
@pytest.mark.parametrize("part", range(3))
def test_more_kernels(part: int, runner: Runner, known: Known) -> None:
    for seed in range(100 + 60 * part, 160 + 60 * part):
        _compare(Writer(seed), runner, known)
