"""Machine code on several threads: results, findings and faults are those of one."""

from __future__ import annotations

import dataclasses
import os
import re
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cudapy.simulator.engine import coverage, launch, settings
from cudapy.simulator.engine.fault import Fault
from cudapy.simulator.engine.idle_threads import IdleThreads
from cudapy.simulator.engine.jit import layout, processor, run
from cudapy.simulator.engine.jit.workers import Pace, side_by_side, split
from cudapy.simulator.engine.memory import Memory
from cudapy.simulator.engine.module import Module

from .machine import Machine

pytestmark = pytest.mark.skipif(
    not processor.is_supported(), reason="there is machine code for x86-64 with AVX2 alone"
)
ROOT = Path(__file__).parents[2]
HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
INDEX = """
mov.u32 %t, %tid.x;
mov.u32 %i, %ctaid.x;
mov.u32 %n, %ntid.x;
mad.lo.u32 %i, %i, %n, %t;
"""


@pytest.fixture
def helped(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], list[int]]:
    """Has all regions run by so many threads; returns a list of how many ran side by side each time."""
    counts: list[int] = []

    def counted(actions: Any) -> None:
        counts.append(len(actions))
        side_by_side(actions)

    monkeypatch.setattr(Pace, "wants_help", lambda self, chunks: True)
    monkeypatch.setattr(Pace, "is_known", True)
    monkeypatch.setattr(run, "side_by_side", counted)
    monkeypatch.setattr(settings.current, "machine_code", "always")

    def set_count(count: int) -> list[int]:
        monkeypatch.setattr(settings.current, "workers", count)
        counts.clear()
        return counts

    return set_count


def kernel(body: str, registers: str = "", parameters: int = 2) -> str:
    """PTX of a kernel `k`: %i is the thread in the grid, %t in its block, %a0 ... are addresses given."""
    given = ", ".join(f".param .u64 p{number}" for number in range(parameters))
    loads = "\n".join(f"ld.param.u64 %a{number}, [p{number}];" for number in range(parameters))
    return f"""{HEAD}
.visible .entry k({given})
{{
.reg .b64 %a<{parameters + 1}>, %o; .reg .b32 %t, %i, %n, %v, %w, %d; .reg .pred %p; {registers}
{INDEX}{loads}
{body}
ret;
}}
"""


MIXED = kernel(
    """
mul.wide.u32 %o, %i, 4;
add.u64 %o, %a0, %o;
ld.global.u32 %v, [%o];
mov.b32 %n, 0;
and.b32 %w, %i, 63;
again:
mad.lo.u32 %v, %v, 1664525, 1013904223;
add.u32 %n, %n, 1;
setp.lt.u32 %p, %n, %w;
@%p bra again;
st.global.u32 [%o], %v;
and.b32 %n, %v, 7;
mul.wide.u32 %o, %n, 4;
add.u64 %o, %a1, %o;
red.global.add.u32 [%o], %v;
atom.global.max.s32 %d, [%o+32], %v;
red.global.min.u32 [%o+64], %v;
red.global.xor.b32 [%o+96], %v;
mov.b32 %n, 1023;
st.shared.u32 [own], %n;
bar.sync 0;
red.shared.add.u32 [own], %v;
red.shared.min.u32 [own+4], %v;
red.shared.max.s32 [own+8], %v;
bar.sync 0;
ld.shared.u32 %n, [own];
red.global.or.b32 [%o+128], %n;
""",
    ".shared .align 4 .b8 own[12];",
)


def test_results_are_those_of_one(helped: Any) -> None:
    results = []
    for count in (1, 2, 4):
        counts, machine = helped(count), Machine()
        data = machine.array(np.arange(64 * 256, dtype=np.uint32))
        sums = machine.array(np.full(40, 1 << 30, np.uint32))
        machine.run(Module(MIXED, machine.memory), "k", 64, 256, data, sums)
        assert max(counts, default=1) == count
        results.append((data.get().tobytes(), sums.get().tobytes()))
    assert results[0] == results[1] == results[2]


FLOATS = "mul.wide.u32 %o, %i, 4; add.u64 %o, %a0, %o; ld.global.f32 %f, [%o]; {}"
TICKET = (
    "atom.global.add.u32 %d, [%a1], 1; mul.wide.u32 %o, %i, 4; add.u64 %o, %a0, %o; st.global.u32 [%o], %d;"
)


@pytest.mark.parametrize(
    ("body", "most"),
    [
        (FLOATS.format("red.global.add.f32 [%a1], %f;"), 1),
        (FLOATS.format("atom.global.add.f32 %g, [%a1], %f;"), 1),
        (TICKET, 1),
        (TICKET.replace("st.global.u32 [%o], %d", "st.global.u32 [%o], %i"), 4),
    ],
    ids=["sum of floats", "sum of floats, atom", "old value", "no old value"],
)
def test_what_depends_on_the_order_of_blocks_keeps_it(body: str, most: int, helped: Any) -> None:
    results = []
    for count in (1, 4):
        counts, machine = helped(count), Machine()
        data = machine.array(np.random.default_rng(3).random(32 * 64, np.float32))
        out = machine.zeros(1, np.uint32)
        machine.run(Module(kernel(body, ".reg .f32 %f, %g;"), machine.memory), "k", 32, 64, data, out)
        results.append((data.get().tobytes(), out.get().tobytes()))
    assert results[0] == results[1]
    assert max(counts, default=1) == most


SHARED = kernel(
    """
mov.u32 %w, %laneid;
cvt.rn.f32.u32 %f, %i;
mul.f32 %f, %f, 0f3DCCCCCD;
atom.shared.add.f32 %g, [sum], %f;
bar.sync 0;
ld.shared.f32 %f, [sum];
add.f32 %f, %f, %g;
mul.wide.u32 %o, %i, 4;
add.u64 %o, %a0, %o;
st.global.f32 [%o], %f;
""",
    ".reg .f32 %f, %g; .shared .align 4 .f32 sum;",
    1,
)


@pytest.mark.parametrize("block", [64, 48, 200])
def test_a_block_is_one_workers(block: int, helped: Any) -> None:
    """Sums of floats in shared memory, whose old values are used; warps of 16 lanes are parts of chunks."""
    results = []
    for count in (1, 4):
        counts, machine = helped(count), Machine()
        out = machine.zeros(21 * block, np.float32)
        machine.run(Module(SHARED, machine.memory), "k", 21, block, out)
        results.append(out.get().tobytes())
    assert max(counts) == 4
    assert results[0] == results[1]


LATE = kernel(
    """
mul.wide.u32 %o, %i, 4;
add.u64 %o, %a0, %o;
ld.global.u32 %v, [%o];
add.u32 %v, %v, 1;
st.global.u32 [%o], %v;
""",
    "",
    1,
)


@pytest.mark.parametrize("checks", [{}, {"check_uninitialized": True}, {"coverage": True}])
def test_the_first_fault_is_reported(checks: dict[str, bool], helped: Any) -> None:
    """Of the last 20 blocks all are out of bounds."""
    texts = []
    for count in (1, 2, 4):
        helped(count)
        machine = Machine()
        data = machine.zeros(44 * 64 + 5, np.uint32)
        chosen = settings.Settings(machine_code="always", workers=count, **checks)
        with pytest.raises(Fault) as caught:
            machine.run(Module(LATE, machine.memory), "k", 64, 64, data, settings=chosen)
        details = caught.value.details
        assert details is not None
        texts.append((details.block, details.thread, details.count))
    assert texts == [((44, 0, 0), (5, 0, 0), 27)] * 3


def test_a_warp_that_runs_for_long_leaves_where_it_does_alone(helped: Any) -> None:
    """Every 16th warp has more steps than a chunk may take: it comes back into the region, and ends there."""
    body = f"""
shr.u32 %w, %i, 5;
and.b32 %w, %w, 15;
setp.eq.u32 %p, %w, 3;
selp.b32 %w, {layout.CHUNK_BLOCKS + 99}, 5, %p;
mov.b32 %v, %i;
mov.b32 %n, 0;
again:
mad.lo.u32 %v, %v, 1664525, 1013904223;
add.u32 %n, %n, 1;
setp.lt.u32 %p, %n, %w;
@%p bra again;
mul.wide.u32 %o, %i, 4;
add.u64 %o, %a0, %o;
st.global.u32 [%o], %v;
"""
    results = []
    for count in (1, 4):
        helped(count)
        machine = Machine()
        out = machine.zeros(32 * 64, np.uint32)
        machine.run(Module(kernel(body, "", 1), machine.memory), "k", 16, 128, out)
        results.append(out.get().tobytes())
    assert results[0] == results[1]
    value = np.uint32(96)
    with np.errstate(over="ignore"):
        for _ in range(layout.CHUNK_BLOCKS + 99):
            value = value * np.uint32(1664525) + np.uint32(1013904223)
    assert np.frombuffer(results[0], np.uint32)[96] == value


def test_accesses_that_are_left_to_python(helped: Any) -> None:
    """Each thread reads what its address says; those of every fifth warp lie in several allocations."""
    body = """
mul.wide.u32 %o, %i, 8;
add.u64 %o, %a0, %o;
ld.global.u64 %o, [%o];
ld.global.u32 %v, [%o];
add.u32 %v, %v, 7;
st.global.u32 [%o], %v;
"""
    for count in (1, 3):
        helped(count)
        machine = Machine()
        many = [machine.array(np.arange(64 * 128, dtype=np.uint32)) for _ in range(2)]
        i = np.arange(64 * 128)
        which = np.where(i // 32 % 5 == 2, i % 2, 0)
        table = np.array([one.address for one in many], np.uint64)[which] + 4 * i.astype(np.uint64)
        machine.run(Module(kernel(body, "", 1), machine.memory), "k", 64, 128, machine.array(table))
        for number, one in enumerate(many):
            np.testing.assert_array_equal(one.get(), i + 7 * (which == number))


def test_checks_that_need_the_order_have_one_worker(helped: Any) -> None:
    counts, machine = helped(4), Machine()
    data = machine.zeros(64 * 64, np.uint32)
    chosen = settings.Settings(machine_code="always", workers=4, check_races=True)
    machine.run(Module(LATE, machine.memory), "k", 64, 64, data, settings=chosen)
    assert not counts


RACES = """
.visible .entry k(.param .u64 data, .param .u64 fresh)
{
.reg .b32 %i, %n, %t, %v, %w;
.reg .b64 %a, %o, %f;
.reg .pred %p;
.shared .align 4 .b8 tile[256];
ld.param.u64 %a, [data];
ld.param.u64 %f, [fresh];
mov.u32 %t, %tid.x;
mov.u32 %i, %ctaid.x;
mov.u32 %n, %ntid.x;
mad.lo.u32 %i, %i, %n, %t;
xor.b32 %v, %t, 32;
shl.b32 %v, %v, 2;
shl.b32 %w, %t, 2;
mov.u32 %n, tile;
add.u32 %v, %v, %n;
add.u32 %w, %w, %n;
st.shared.u32 [%w], %i;
ld.shared.u32 %v, [%v];
mul.wide.u32 %o, %t, 4;
add.u64 %o, %a, %o;
st.global.u32 [%o], %i;
mul.wide.u32 %o, %i, 4;
add.u64 %f, %f, %o;
ld.global.u32 %w, [%f];
setp.eq.u32 %p, %w, 7;
@%p add.u32 %v, %v, 1;
add.u64 %o, %a, %o;
st.global.u32 [%o+256], %v;
ret;
}
"""


def test_findings_are_those_of_one_worker(helped: Any) -> None:
    """Races in shared and in global memory, and bytes that nobody wrote, of many blocks."""
    found = []
    for count in (1, 2, 16):
        helped(count)
        chosen = settings.Settings(
            machine_code="always", workers=count, check_races=True, check_uninitialized=True
        )
        memory = Memory(chosen)
        data, fresh = (memory.allocate(65 * 64 * 4) for _ in range(2))
        module = Module(HEAD + RACES, memory)
        with pytest.raises(Fault) as caught:
            launch(module.functions["k"], 64, 64, (np.uint64(data), np.uint64(fresh)), settings=chosen)
        findings = caught.value.findings
        found.append(
            [
                dataclasses.replace(one, address=0, allocation=None, note=re.sub("0x[0-9a-f]+", "", one.note))
                for one in findings
            ]
        )
    assert {one.kind for one in found[0]} == {"race", "uninitialized"}
    assert found[0] == found[1] == found[2]


def test_coverage_counts_all_threads(helped: Any) -> None:
    counted = []
    for count in (1, 4):
        helped(count)
        machine = Machine()
        data, sums = machine.zeros(64 * 64, np.uint32), machine.zeros(40, np.uint32)
        module = Module(MIXED, machine.memory)
        chosen = settings.Settings(machine_code="always", workers=count, coverage=True)
        machine.run(module, "k", 64, 64, data, sums, settings=chosen)
        counts = coverage.counts(module.functions["k"].kernel)
        counted.append((dict(counts.lines()), dict(counts.branches())))
    assert counted[0] == counted[1]


@pytest.mark.parametrize("chunks", [1, 7, 64, 1000])
@pytest.mark.parametrize("step", [1, 2, 32])
def test_ranges_are_whole_blocks(chunks: int, step: int) -> None:
    for ranges in (split(chunks, 5, None, step), split(chunks, 5, np.arange(chunks * 32) // (32 * step), 0)):
        assert [first for first, _ in ranges] == [0, *(end for _, end in ranges[:-1])]
        assert ranges[-1][1] == chunks
        assert all(first % step == 0 for first, _ in ranges)
        assert len(ranges) <= 5


def test_all_end_before_the_call_does() -> None:
    """Whatever one of them raises."""
    began, done = threading.Event(), []

    def slow() -> None:
        began.set()
        threading.Event().wait(0.05)
        done.append(1)

    def fails() -> None:
        assert began.wait(60)
        raise ValueError("one")

    with pytest.raises(ValueError, match="one"):
        side_by_side([fails, slow])
    assert done == [1]


def test_what_no_thread_has_begun_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first action has done all that there is to do."""
    taken: list[Any] = []
    monkeypatch.setattr(IdleThreads, "start", lambda self, action: taken.append(action))
    side_by_side([lambda: None, lambda: taken.append("ran")])
    (action,) = taken
    action()  # the thread comes late
    assert taken == [action]


def test_help_is_asked_for_where_it_pays() -> None:
    pace = Pace()
    assert pace.wants_help(1), "nothing is known yet"
    pace.took(1e-3, 10, False)
    assert not pace.wants_help(1), "too short"
    assert pace.wants_help(10)
    pace.took(0.99e-3, 10, True)
    tried = [pace.wants_help(10) for _ in range(32)]
    assert sum(tried) == 2, "it was no faster: it is tried now and then"
    for _ in range(5):
        pace.took(0.5e-3, 10, True)
    assert sum(pace.wants_help(10) for _ in range(32)) == 30


ENDLESS = kernel("again:\nadd.u32 %v, %v, %i;\nsetp.ne.u32 %p, %i, 9999999;\n@%p bra again;\n", "", 1)


PROGRAM = """
import os, signal, sys, threading, time
import numpy as np
from tests.simulator.test_workers import ENDLESS, MIXED, Machine, Module, Pace, settings

Pace.wants_help, Pace.is_known = lambda self, chunks: True, True
settings.current.machine_code, settings.current.workers = "always", 4

def run(text, *sizes):
    machine = Machine()
    arrays = [machine.zeros(size, np.uint32) for size in sizes]
    machine.run(Module(text, machine.memory), "k", 64, 64, *arrays)
    return [one.get().tolist() for one in arrays]

"""


def _printed(program: str) -> str:
    code = PROGRAM + textwrap.dedent(program)
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, cwd=ROOT)
    assert not ran.returncode, ran.stderr
    return ran.stdout


@pytest.mark.thorough
def test_ctrl_c_in_the_kernels_own_thread() -> None:
    program = """
    from cudapy.simulator.engine.run.scheduler import Scheduler

    looks = []

    def press():  # again, if Python lost it in a callback
        time.sleep(0.05)
        while True:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(10)

    def looked(*arguments, look=Scheduler.look):  # between two turns of machine code
        looks.append(arguments)
        if len(looks) == 2:
            threading.Thread(target=press, daemon=True).start()
        look(*arguments)

    run(MIXED, 64 * 64, 40)
    np.unique([])  # imports are over: Python loses Ctrl-C in the callbacks of their locks
    Scheduler.look = looked
    try:
        run(ENDLESS, 64 * 64)
    except KeyboardInterrupt:
        print("interrupted")
    """
    assert _printed(program) == "interrupted\n"


@pytest.mark.thorough
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_process_has_threads_of_its_own() -> None:
    program = """
    expected = run(MIXED, 64 * 64, 40)
    child = os.fork()
    if not child:
        os._exit(run(MIXED, 64 * 64, 40) != expected)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    assert _printed(program) == "0\n"
