"""Races in machine code: the findings are those of NumPy, if that runs the warps in the same order.

Machine code runs a block's warps one after the other up to its next barrier, as the schedule "first" does.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from cudapy.simulator.engine import launch, settings
from cudapy.simulator.engine.fault import Finding
from cudapy.simulator.engine.jit import processor
from cudapy.simulator.engine.jit.block_run import BlockRun
from cudapy.simulator.engine.jit.workers import Pace
from cudapy.simulator.engine.module import Module
from cudapy.simulator.engine.run.batch import Counters
from cudapy.simulator.engine.run.warp_order import WarpOrder
from cudapy.simulator.engine.schedule import FIRST, Schedule

from .machine import Machine
from .test_workers import kernel

pytestmark = pytest.mark.skipif(
    not processor.is_supported(), reason="there is machine code for x86-64 with AVX2 alone"
)
OWN = """
.reg .f32 %f;
.reg .b32 %s, %tiles, %x, %mask, %left, %b; .reg .pred %q; .reg .b64 %place; .shared .align 4 .b8 tile[4096];
"""
BEGIN = "mov.u32 %b, %ctaid.x; mov.u32 %tiles, tile; mov.b32 %v, %t; mov.b32 %mask, -1;"
SHUFFLE = "shfl.sync.{mode}.b32 %x, %v, {lane}, 31, -1; add.u32 %v, %v, %x;"
VOTE = "setp.gt.u32 %q, %v, 9; vote.sync.ballot.b32 %x, %q, -1; add.u32 %v, %v, %x;"
END = "mul.wide.u32 %o, %i, 4; add.u64 %o, %o, %a0; st.global.u32 [%o], %v;"
AGAIN = "sub.u32 %left, %left, 1; setp.ne.u32 %q, %left, 0; @%q bra again;"


class Writer:
    """Writes a kernel of random accesses, with what orders some of them."""

    def __init__(self, seed: int, between: str = "") -> None:
        self.chance = chance = random.Random(seed)
        self.is_whole = chance.random() < 0.85
        self.threads = chance.choice((32, 64, 96, 128) if self.is_whole else (16, 48, 100))
        self.blocks = chance.choice((1, 2, 3))
        lines = [BEGIN]
        is_tame, is_loop = chance.random() < 0.6, chance.random() < 0.4
        if is_loop:
            lines.append("mov.b32 %left, 2;\nagain:")
        for _ in range(chance.randrange(3, 10)):
            lines += self.access()
            if is_tame or chance.random() < 0.7:
                lines.append(self.order())
            if is_tame and chance.random() < 0.5:
                lines.append("bar.sync 0;")
            if chance.random() < 0.3:
                lines.append(between)
        if is_loop:
            lines.append(AGAIN)
        self.text = kernel("\n".join([*lines, END]), OWN)

    @property
    def sizes(self) -> tuple[int, int]:
        """Numbers in each array."""
        return self.blocks * self.threads, 1 << 14

    def access(self) -> list[str]:
        chance, lines = self.chance, ["shl.b32 %s, %t, 2;"]
        how = chance.random()
        if 0.5 < how < 0.8:
            other = chance.choice((1, 2, 16, 31, 32, 33))
            lines = [f"xor.b32 %s, %t, {other}; and.b32 %s, %s, 127; shl.b32 %s, %s, 2;"]
        elif how > 0.8:
            lines = [f"{chance.choice(('shr.u32 %s, %t, 1', 'shr.u32 %s, %t, 5', 'and.b32 %s, %t, 15'))};"]
            lines.append("shl.b32 %s, %s, 2;")
        lines.append(f"add.u32 %s, %s, {chance.choice((0, 0, 0, 512, 1024))};")
        space, place = "shared", "%s"
        if chance.random() < 0.7:
            lines.append("add.u32 %s, %s, %tiles;")
        else:
            space, place = "global", "%place"
            lines.append("cvt.u64.u32 %place, %s; add.u64 %place, %place, %a1;")
            if chance.random() < 0.8:
                lines.append("mul.wide.u32 %o, %b, 2048; add.u64 %place, %place, %o;")
        guard = ""
        if chance.random() < 0.15:
            which, number = chance.choice(("lt", "ge", "eq")), chance.choice((1, 5, 16, 32, 40))
            lines.append(f"setp.{which}.u32 %q, %t, {number};")
            guard = "@%q "
        what = chance.random()
        if what < 0.4:
            lines.append(f"{guard}st.{space}.u32 [{place}], {chance.choice(('%v', '%t', '7'))};")
        elif what < 0.8:
            lines.append(f"{guard}ld.{space}.u32 %x, [{place}]; add.u32 %v, %v, %x;")
        else:
            lines.append(f"{guard}red.{space}.add.u32 [{place}], 1;")
        return lines

    def order(self) -> str:
        chance, how = self.chance, self.chance.random()
        if how < 0.3 or not self.is_whole:  # what a shuffle gives of threads that are not there is undefined
            return "bar.sync 0;"
        if how < 0.6:
            return f"bar.warp.sync {chance.choice(('-1', '-1', '%mask'))};"
        if how < 0.85:
            mode, lane = chance.choice(("bfly", "down", "idx")), chance.randrange(32)
            return SHUFFLE.format(mode=mode, lane=lane)
        return VOTE


class Runner:
    """Runs kernels with checks, and has what they left and what was found."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        monkeypatch.setattr(settings.current, "check_races", True)

    def run(self, kernel: Writer, **more: Any) -> tuple[list[bytes], set[Any], Counters]:
        for name, value in more.items():
            self._monkeypatch.setattr(settings.current, name, value)
        found: list[Finding] = []
        machine = Machine(record=found.extend)
        arrays = [machine.zeros(size, "u4") for size in kernel.sizes]
        function = Module(kernel.text, machine.memory).functions["k"]
        places = [one.address for one in arrays]
        counters = launch(function, kernel.blocks, kernel.threads, places, device=machine.device)
        return [one.get().tobytes() for one in arrays], {*map(_described, found)}, counters


def _described(one: Finding) -> tuple[Any, ...]:
    """What does not depend on addresses, and on how many threads run side by side."""
    other = one.other and (one.other.place, one.other.block, one.other.thread, one.other.verb)
    return one.kind, one.what, one.place, one.block, one.thread, one.value, other


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch) -> Runner:
    return Runner(monkeypatch)


def _compare(one: Writer, runner: Runner) -> tuple[bool, bool]:
    """Whether there were findings, and whether all ran in machine code."""
    schedule = Schedule(FIRST)
    memory, findings, _ = runner.run(one, machine_code="never", schedule=schedule)
    own, own_findings, counters = runner.run(one, machine_code="always", schedule=None, workers=1)
    assert own == memory, one.text
    assert own_findings == findings, one.text
    return bool(findings), counters.numpy_runs == 0


def test_findings_are_those_of_the_same_order(runner: Runner) -> None:
    outcomes = [_compare(Writer(seed), runner) for seed in range(24)]
    assert {*outcomes} == {(True, True), (False, True)}


class Drawn:
    """Has NumPy run the warps of a launch with a schedule in the order that machine code has drawn."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.order: list[int] = []
        drawn = BlockRun._ranges

        def recorded(run: BlockRun, chunks: int) -> Any:
            ranges = drawn(run, chunks)
            by_turns = run._warp_order if len(run._warp_order) > 1 else (0,)
            for first, end in ranges:
                blocks = range(first, end, len(by_turns))
                self.order += [block + warp for block in blocks for warp in by_turns]
            return ranges

        monkeypatch.setattr(BlockRun, "_ranges", recorded)
        monkeypatch.setattr(WarpOrder, "_by_policy", lambda one, warps: min(warps, key=self.order.index))


def _compare_drawn(one: Writer, order: int, runner: Runner, drawn: Drawn) -> bool:
    """Whether warps ran in another order than without a seed."""
    drawn.order.clear()
    memory, findings, counters = runner.run(one, machine_code="always", schedule=None, seed=order)
    assert counters.numpy_runs == 0
    own, own_findings, _ = runner.run(one, machine_code="never", schedule=Schedule(FIRST), seed=None)
    assert own == memory, one.text
    assert own_findings == findings, one.text
    return drawn.order != sorted(drawn.order)


def test_findings_are_those_of_the_order_that_is_drawn(
    runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = Drawn(monkeypatch)
    outcomes = [_compare_drawn(Writer(seed), seed, runner, drawn) for seed in range(10)]
    assert any(outcomes)


@pytest.mark.parametrize("seed", range(200, 212))
def test_a_warp_that_leaves_machine_code_now_and_then(seed: int, runner: Runner) -> None:
    one = Writer(seed, "ex2.approx.f32 %f, %f;")  # which there is none for
    one.blocks, one.threads = 1, 32
    _compare(one, runner)


@pytest.mark.parametrize("order", [None, 3])
def test_workers_find_the_same(order: int | None, runner: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Pace, "wants_help", lambda self, chunks: True)
    monkeypatch.setattr(Pace, "is_known", True)
    for checks in (False, True):
        monkeypatch.setattr(settings.current, "check_uninitialized", checks)
        for seed in range(30, 36):
            one = Writer(seed)
            ran = [
                runner.run(one, machine_code="always", seed=order, workers=count)[:2] for count in (1, 2, 16)
            ]
            assert ran[0] == ran[1] == ran[2], seed


def test_what_warps_order_is_not_left_to_the_detector(runner: Runner, left_to_python: list[str]) -> None:
    one = Writer(0)
    one.blocks, one.threads = 2, 64
    begin = "mov.b32 %left, 4; shl.b32 %s, %t, 2; xor.b32 %b, %s, 4; add.u32 %s, %s, %tiles;"
    begin += "add.u32 %b, %b, %tiles;\nagain:\nst.shared.u32 [%s], %v; bar.warp.sync -1;"
    read = f"ld.shared.u32 %x, [%b]; add.u32 %v, %v, %x; {SHUFFLE.format(mode='bfly', lane=3)}"
    one.text = kernel("\n".join([BEGIN, begin, read, "bar.warp.sync %mask;", AGAIN, END]), OWN)
    _, findings, counters = runner.run(one, machine_code="always")
    assert not findings and counters.numpy_runs == 0
    assert left_to_python == ["global"]  # which makes a shadow


@pytest.mark.parametrize("mask", ["0xffff", "%mask"])
def test_parts_of_warps_are_left_to_numpy(mask: str, runner: Runner) -> None:
    """What only they order, and threads outside of the mask that they give."""
    one = Writer(0)
    one.blocks, one.threads = 2, 64
    exchange = "st.shared.u32 [%s], %v; MEET ld.shared.u32 %x, [%s+4]; add.u32 %v, %v, %x;"
    half = exchange.replace("MEET", f"bar.warp.sync {mask};")
    body = f"mov.b32 %mask, 0xffff; shl.b32 %s, %t, 2; add.u32 %s, %s, %tiles; {half}"
    one.text = kernel("\n".join([BEGIN, body, END]), OWN)
    _, findings, _ = runner.run(one, machine_code="never")
    _, own, counters = runner.run(one, machine_code="always")
    assert own == findings
    assert {first for first, *_ in own} == {"mask", "race"}
    assert counters.numpy_runs == 2


def test_a_block_that_comes_back_after_others_wrote(runner: Runner) -> None:
    """Its last write came later, by the detector's time, than those of a block that met at no barrier."""
    one = Writer(0)
    one.blocks, one.threads = 2, 64
    begin = "shl.b32 %s, %t, 2; add.u32 %s, %s, %tiles; and.b32 %w, %t, 31; setp.eq.u32 %p, %b, 0;"
    write = "@!%p st.shared.u32 [%s], %v;\nbar.sync 0;\n@!%p bra on;"
    write += "setp.lt.u32 %q, %t, 32; @%q st.shared.u32 [%s], %v;"
    leave = "setp.lt.u32 %q, %w, 16; selp.b32 %mask, 0xffff, 0xffff0000, %q;"
    leave += "vote.sync.any.pred %q, %q, %mask;\non:"
    steps = "add.u32 %v, %v, 1; xor.b32 %v, %v, 5;" * 4
    read = "xor.b32 %x, %t, 32; shl.b32 %x, %x, 2; add.u32 %x, %x, %tiles; ld.shared.u32 %x, [%x];"
    one.text = kernel("\n".join([BEGIN, begin, write, leave, steps, read, "add.u32 %v, %v, %x;", END]), OWN)
    _, findings, _ = runner.run(one, machine_code="never")
    _, own, counters = runner.run(one, machine_code="always")
    assert len(findings) == 1 and own == findings
    assert counters.region_runs > 1


@pytest.mark.thorough
@pytest.mark.parametrize("part", range(3))
def test_more_findings_are_those_of_the_same_order(part: int, runner: Runner) -> None:
    for seed in range(100 + 40 * part, 140 + 40 * part):
        _compare(Writer(seed), runner)


@pytest.mark.thorough
def test_more_findings_are_those_of_the_order_that_is_drawn(
    runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = Drawn(monkeypatch)
    for seed in range(220, 280):
        _compare_drawn(Writer(seed), seed, runner, drawn)
