"""The checks in machine code: what they find and count is what NumPy finds and counts."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any

import numpy as np
import pytest

from cudapy.simulator.engine import Fault, coverage, launch, settings
from cudapy.simulator.engine.checks import BOUNDS, UNDEFINED
from cudapy.simulator.engine.jit import processor
from cudapy.simulator.engine.jit.phases import calm_blocks
from cudapy.simulator.engine.module import Module

from .machine import Machine
from .machine_programs import Loaded, program

pytestmark = pytest.mark.skipif(
    not processor.is_supported(), reason="there is machine code for x86-64 with AVX2 alone"
)


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The settings, which a test may change."""
    current = dataclasses.replace(settings.current)
    monkeypatch.setattr(settings, "current", current)
    coverage.reset()
    yield current
    coverage.reset()


@pytest.mark.parametrize("seed", range(400, 404))
def test_coverage_of_random_programs(seed: int, checks: Any) -> None:
    checks.coverage = True
    found = []
    for value in ("never", "always"):
        coverage.reset()
        _, failed = Loaded(program(seed)).run(value)
        (counts,) = coverage.report()
        assert failed is None
        found.append((counts.lines(), counts.branches()))
    assert found[0] == found[1]


@pytest.mark.parametrize("seed", range(500, 504))
@pytest.mark.parametrize("names", [("check_races",), ("check_races", "check_uninitialized", "coverage")])
def test_checks_of_random_programs(seed: int, names: tuple[str, ...], checks: Any) -> None:
    for name in names:
        setattr(checks, name, True)
    one = Loaded(program(seed))
    (never, failed), (always, fails) = (one.run(value) for value in ("never", "always"))
    assert failed == fails
    assert all(np.array_equal(*both) for both in zip(never, always, strict=True))


STEPS = r"""
extern "C" __global__ void steps(float *out, const float *in, int distance, int wrong, int n)
{
    __shared__ float tile[128];
    __shared__ float4 wide[128];
    __shared__ int sum;
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    tile[t] = in[i];
    if (t == 0) sum = 0;
    wide[t] = make_float4(t, i, 1, 2);
    __syncthreads();
    for (int k = 0; k < n; ++k) {
        float a = tile[(t * 5 + k) & 127] + wide[(t + k) & 127].x;
        a += tile[k] - tile[(t + 32 * k) & 127] - tile[64] + tile[t & 96];  // one place, or a row
        __syncthreads();
        if (k == wrong) tile[(t + distance) & 127] = t;    // of several threads, if distance is 128 - t
        tile[t] = a;
        atomicAdd(&sum, t);
        __syncthreads();
    }
    out[i] = tile[t ^ 1] + sum + wide[t ^ 3].w;
}
"""


def steps(distance: int, wrong: int) -> tuple[Any, str]:
    """What `STEPS` leaves, and what is found."""
    machine, i32, f32 = Machine(), np.int32, np.float32
    out, given = machine.zeros(256, f32), machine.array(np.arange(256, dtype=f32))
    report = ""
    try:
        machine.run(machine.load(STEPS), "steps", 2, 128, out, given, i32(distance), i32(wrong), i32(20))
    except Fault as found:
        report = found.report
    return out.get(), report


@pytest.mark.parametrize(("distance", "wrong"), [(0, 5), (1, 5), (32, 19), (1, 20)])
def test_an_access_that_races_is_left_to_the_detector(distance: int, wrong: int, checks: Any) -> None:
    checks.check_races = True
    checks.machine_code = "never"
    expected, finding = steps(distance, wrong)
    assert bool(finding) == (distance > 0 and wrong < 20)
    checks.machine_code = "always"
    got, found = steps(distance, wrong)
    assert found.partition("(")[0] == finding.partition("(")[0]
    assert finding or np.array_equal(expected, got)


HOLES = r"""
struct Mixed { char flag; int value; };
extern "C" __global__ void holes(Mixed *out, const Mixed *in, int *sums, int hole, int n)
{
    __shared__ int tile[64];
    __shared__ int4 wide[64];
    int t = threadIdx.x, sum = 0;
    out[t] = in[t];                                 // with its padding, which nobody wrote
    if (t != hole) { tile[t] = t; wide[t] = make_int4(1, 2, 3, 4); }
    __syncthreads();
    for (int k = 0; k < n; ++k) {
        int4 one = wide[(t + k) & 63];
        sum = sum * 3 + tile[(t * 3 + k) & 63] + one.y;
        if (sum > 1 << 20) sum >>= 3;               // here it matters
    }
    sums[t] = sum;
}
"""


@pytest.mark.parametrize("hole", [100, 0, 63])
def test_lanes_that_load_undefined_bytes_leave(hole: int, checks: Any) -> None:
    checks.check_uninitialized = checks.coverage = True
    found: list[Any] = []
    for value in ("never", "always"):
        checks.machine_code = value
        coverage.reset()
        machine, i32 = Machine(), np.int32
        given, out = machine.memory.allocate(512), machine.memory.allocate(512)
        sums = machine.memory.allocate(256)
        for t in range(64):
            machine.memory.written(given + 8 * t, 1)
            machine.memory.written(given + 8 * t + 4, 4)
        report = ""
        try:
            addresses = [np.uint64(one) for one in (out, given, sums)]
            machine.run(machine.load(HOLES), "holes", 1, 64, *addresses, i32(hole), i32(10))
        except Fault as fault:
            report = str([one.what + str(one.place) for one in fault.findings])
        allocations = [machine.memory.find(one) for one in (out, sums)]
        left = [(one.data.copy(), one.undefined.seen().copy()) for one in allocations]
        (counts,) = coverage.report()
        found.append((report, left, counts.lines(), counts.branches()))
    (report, left, *counts), (reported, leaves, *counted) = found
    assert report == reported and bool(report) == (hole < 64)
    assert counts == counted
    for (data, undefined), (others, theirs) in zip(left, leaves, strict=True):
        assert np.array_equal(undefined, theirs) and np.array_equal(data[undefined == 0], others[theirs == 0])


RUNS = """
.visible .entry runs(.param .u64 x, .param .u64 y, .param .u64 z)
{
    .reg .pred %p; .reg .b32 %r<9>; .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    ld.param.u64 %rd3, [z];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd4, %r1, 4;
    add.u64 %rd5, %rd1, %rd4;
    add.u64 %rd6, %rd2, %rd4;
    add.u64 %rd7, %rd3, %rd4;
    mov.u32 %r2, 1;
    mov.u32 %r3, 0;
again:
    ld.global.u32 %r4, [%rd5];
    ld.global.u32 %r5, [%rd6];
    mad.lo.u32 %r2, %r4, %r5, %r2;
    st.global.u32 [%rd7], %r2;
    ld.global.u32 %r6, [%rd7];
    add.u32 %r6, %r6, %r4;
    ld.global.u32 %r7, [%rd5+256];
    mad.lo.u32 %r2, %r6, %r7, %r5;
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p, %r3, 3;
    @%p bra again;
    st.global.u32 [%rd7+256], %r2;
    ret;
}
"""


@pytest.mark.parametrize("hole", [None, (0, 37), (1, 5), (0, 90)])
def test_loads_beside_each_other_are_one_stream(hole: Any, checks: Any) -> None:
    checks.check_uninitialized = True
    found: list[Any] = []
    text = ".version 8.0\n.target sm_80\n.address_size 64\n" + RUNS
    for value in ("never", "always"):
        checks.machine_code = value
        memory = Machine().memory
        x, y, z = (memory.allocate(512) for _ in range(3))
        for number, (address, count) in enumerate(((x, 128), (y, 64))):
            allocation = memory.find(address)
            assert allocation is not None
            allocation.data.view(np.uint32)[:] = np.arange(128) * (7, 11)[number]
            for place in range(count):
                if (number, place) != hole:
                    memory.written(address + 4 * place, 4)
        function, report = Module(text, memory).functions["runs"], ""
        try:
            launch(function, 1, 64, (x, y, z))
        except Fault as fault:
            report = str([one.what + str(one.place) for one in fault.findings])
        written = memory.find(z)
        assert written is not None
        found.append((report, written.data.copy(), written.undefined.seen().copy()))
    (report, data, undefined), (reported, others, theirs) = found
    assert report == reported and bool(report) == (hole is not None)
    assert np.array_equal(undefined, theirs) and np.array_equal(data[undefined == 0], others[theirs == 0])
    if hole is None:
        region = function.kernel.compiled.code.region(0, 64, frozenset({BOUNDS, UNDEFINED}), True)
        runs = [[one.text for one in part.instructions] for part in region.parts if part.steps]
        loads = [sum(one.startswith("ld.global") for one in run) for run in runs]
        assert sorted(loads)[-2:] == [2, 2]


def test_what_barriers_order_is_not_left_to_the_detector(checks: Any, left_to_python: list[str]) -> None:
    checks.check_races, checks.check_uninitialized, checks.machine_code = True, True, "always"
    _, found = steps(0, 20)
    assert not found and left_to_python.count("shared") == 0
    assert left_to_python.count("global") <= 4  # the first accesses of an allocation make its shadow


PATTERNS = r"""
extern "C" __global__ void patterns(int *data, char *small, const int *plan, int n)
{
    __shared__ int tile[192];
    int t = threadIdx.x, sum = 0;
    for (int k = 0; k < n; ++k) {
        int how = plan[4 * k], where = plan[4 * k + 1], does = plan[4 * k + 2], i;
        if (how == 0) i = t + where;                       // a row, or parts of two
        else if (how == 1) i = t / 2 + where;
        else if (how == 2) i = where;
        else if (how == 3) i = (t * 2 + where) % 64;
        else if (how == 4) i = t ^ (where & 63);
        else if (how == 5) i = (t & 15) + where;
        else if (how == 6) i = (t & 7) + (t >> 4) * 16 + where;
        else i = (t & 15) + (t >> 4) * 32 + where;         // two rows of half a warp
        if (!(does & 8) || (t + where) % 64 < 41) {
            int which = does & 7, j = i + 192 * blockIdx.x;
            if (which == 0) sum += tile[i];
            else if (which == 1) tile[i] = t;
            else if (which == 2) atomicAdd(&tile[i], 1);
            else if (which == 3) sum += data[j];
            else if (which == 4) data[j] = t;
            else if (which == 5) atomicAdd(&data[j], 1);
            else if (which == 6) sum += small[j];
            else small[j] = t;
        }
        if (plan[4 * k + 3]) __syncthreads();
    }
    data[400 + 64 * blockIdx.x + t] = sum;
}
"""


def patterns(seed: int) -> tuple[Any, set[tuple[str, str]]]:
    """What accesses in random patterns leave, and the races that are found; with an even seed there is none.

    A barrier lies between all of them then, and threads of a warp write different places.
    """
    random, is_clean, i32 = np.random.default_rng(seed), seed % 2 == 0, np.int32
    plan = [
        (
            random.choice([0, 4, 7]) if is_clean and does & 7 in (1, 4, 7) else random.integers(8),
            random.choice([0, 0, 32, 64, 1, 5, 70]),
            does,
            is_clean or random.random() < 0.9,
        )
        for does in random.integers(16, size=25).tolist()
    ]
    machine, found = Machine(), set()
    data, small = machine.zeros(600, i32), machine.zeros(600, np.int8)
    given = machine.array(np.array(plan, i32))
    try:
        machine.run(machine.load(PATTERNS), "patterns", 2, 64, data, small, given, i32(len(plan)))
    except Fault as fault:
        found = {(one.what, str(one.place)) for one in fault.findings}
    return data.get(), found


@pytest.mark.parametrize("seed", range(6))
def test_rows_are_known_as_their_parts_are(seed: int, checks: Any) -> None:
    checks.check_races = True
    checks.machine_code = "never"
    expected, findings = patterns(seed)
    checks.machine_code = "always"
    got, found = patterns(seed)
    assert bool(findings) == bool(found) == (seed % 2 == 1)
    assert findings or np.array_equal(expected, got)


LATER = r"""
extern "C" __global__ void later(int *data, int *out)
{
    int t = threadIdx.x + 16 * threadIdx.y, i = threadIdx.x + 64 * threadIdx.y, value = data[i];
    if (blockIdx.x == 0) {
        __nanosleep(1);  // not in machine code: the other block comes first
        data[i] = value + 1;
    }
    out[t + 32 * blockIdx.x] = value;
}
"""


@pytest.mark.parametrize("machine_code", ["never", "always"])
def test_the_last_read_of_a_row_is_known_where_the_first_is_ordered(machine_code: str, checks: Any) -> None:
    checks.check_races, checks.machine_code = True, machine_code
    machine, i32 = Machine(), np.int32
    data, out = machine.zeros(128, i32), machine.zeros(64, i32)
    with pytest.raises(Fault) as raised:
        machine.run(machine.load(LATER), "later", 2, (16, 2), data, out)
    (finding,) = raised.value.findings
    assert "write after read" in finding.what and finding.other is not None
    assert finding.other.block == (1, 0, 0)


AGAIN = r"""
extern "C" __global__ void move(unsigned char *to, const unsigned char *from)
{
    to[threadIdx.x] = from[threadIdx.x];
}
extern "C" __global__ void sum(int *out, const int *in)
{
    int sum = in[threadIdx.x];
    for (int i = 0; i < 9; ++i) sum = sum * 3 + in[(threadIdx.x + i) % 32];
    out[threadIdx.x] = sum;
}
"""


@pytest.mark.parametrize("by_kernel", [False, True])
def test_memory_that_is_undefined_again_after_all_was_written(by_kernel: bool, checks: Any) -> None:
    checks.check_uninitialized, checks.machine_code = True, "always"
    machine = Machine()
    memory, module = machine.memory, machine.load(AGAIN)
    given, fresh, out = memory.upload(np.arange(32, dtype=np.int32)), memory.allocate(8), memory.allocate(128)
    launch = partial(machine.run, module, "sum", 1, 32, np.uint64(out), np.uint64(given))
    launch()
    allocation = memory.find(given)
    assert allocation is not None and allocation.undefined is not None and not allocation.undefined.has_any
    launch()
    if by_kernel:
        machine.run(module, "move", 1, 8, np.uint64(given + 24), np.uint64(fresh))
    else:
        memory.copied(given + 24, fresh, 8)
    with pytest.raises(Fault) as raised:
        launch()
    (finding,) = raised.value.findings
    assert finding.place.kernel == "sum"
    memory.written(given, 128)
    launch()


def test_shared_memory_that_is_undefined_again(checks: Any) -> None:
    source = r"""
extern "C" __global__ void again(int *out, const unsigned char *fresh, int hole)
{
    __shared__ int tile[32];
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    int sum = 0;
    for (int i = 0; i < 9; ++i) sum = sum * 3 + tile[(threadIdx.x + i) % 32];
    __syncthreads();
    if (threadIdx.x < hole) ((unsigned char *)tile)[threadIdx.x] = fresh[threadIdx.x];
    __syncthreads();
    for (int i = 0; i < 9; ++i) sum = sum * 3 + tile[(threadIdx.x + i) % 32];
    out[threadIdx.x] = sum;
}
"""
    checks.check_uninitialized, checks.machine_code = True, "always"
    machine = Machine()
    module, out = machine.load(source), machine.memory.allocate(128)
    launch = partial(machine.run, module, "again", 1, 32, np.uint64(out))
    fresh = machine.memory.allocate(8)
    launch(np.uint64(fresh), np.int32(0))
    with pytest.raises(Fault) as raised:
        launch(np.uint64(fresh), np.int32(8))
    assert "__shared__" in raised.value.findings[0].what


CALM = """
.visible .entry k()
{
    .reg .pred %p; .reg .b32 %r<9>; .shared .b32 tile[64];
    mov.u32 %r1, tile;
    st.shared.b32 [%r1], 1;
    bar.sync 0;
again:
    ld.shared.b32 %r2, [%r1];
    setp.eq.u32 %p, %r2, 7;
    @%p bra writes;
    bar.sync 0;
    ld.shared.b32 %r3, [%r1];
    setp.eq.u32 %p, %r3, 9;
    @%p bra again;
    ret;
writes:
    bar.sync 0;
    WRITE
    ld.shared.b32 %r4, [%r1];
    ret;
}
"""


@pytest.mark.parametrize("write", ["st.shared.b32 [%r1], 2;", "atom.add.u32 %r5, [%r1], 1;", ""])
def test_calm_blocks_have_no_writer_up_to_the_next_barrier(write: str) -> None:
    text = ".version 8.0\n.target sm_80\n.address_size 64\n" + CALM.replace("WRITE", write)
    kernel = Module(text, Machine().memory).functions["k"].kernel.compiled
    found = calm_blocks(kernel.blocks)
    lines = {step.instruction.text: block.index in found for block in kernel.blocks for step in block.steps}
    assert [lines[f"ld.shared.b32 %r{n}, [%r1]"] for n in (2, 3, 4)] == [True, True, not write]
