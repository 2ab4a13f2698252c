"""Planted faults are found and said where they are; the clean versions are silent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from cudapy.simulator.coverage import KernelCoverage
from cudapy.simulator.engine import coverage, fault, settings
from cudapy.simulator.engine.fault import Fault
from cudapy.simulator.engine.memory import Memory
from cudapy.simulator.engine.module import Module, PTXError

from .machine import Machine, ptx

i32 = np.int32


@pytest.fixture
def machine(nvrtc: ModuleType) -> Machine:
    return Machine()


@pytest.fixture
def checks() -> Iterator[settings.Settings]:
    """The settings, which go back afterwards."""
    before = settings.current
    settings.current = settings.Settings(check_races=True, check_uninitialized=True)
    yield settings.current
    settings.current = before
    coverage.reset()


def line_of(source: str, mark: str) -> int:
    return next(number for number, line in enumerate(source.splitlines(), 1) if mark in line)


BOUNDS = r"""
extern "C" __global__ void fill(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n)
        x[i] = i;  // one too many
}
extern "C" __global__ void misaligned(char *x) { *(int *)(x + threadIdx.x) = 1; }
extern "C" __global__ void past_shared(int *x)
{
    extern __shared__ int s[];
    s[threadIdx.x] = 1;
    x[threadIdx.x] = s[threadIdx.x];
}
extern "C" __global__ void deep(int *x, int n)
{
    int a[64];
    for (int k = 0; k < 64; ++k) a[k] = x[k];
    x[0] = a[n];
}
"""


def test_out_of_bounds_by_one(machine: Machine) -> None:
    x = machine.zeros(100, i32)
    with pytest.raises(Fault) as found:
        machine.run(machine.load(BOUNDS), "fill", 2, 64, x, i32(100))
    report = found.value.report
    assert found.value.status == fault.ILLEGAL_ADDRESS
    assert report.startswith("Invalid __global__ write of 4 bytes")
    assert "in fill" in report
    assert f"program.cu:{line_of(BOUNDS, 'one too many')}" in report
    assert "st.global.u32" in report
    assert "block (1,0,0) thread (36,0,0)" in report
    assert f"{x.address + 400:#x}" in report
    assert "0 bytes past the end of device memory of 400 bytes" in report
    machine.run(machine.load(BOUNDS), "fill", 2, 64, x, i32(99))
    assert np.array_equal(x.get(), np.arange(100))


def test_misaligned(machine: Machine) -> None:
    x = machine.zeros(100, i32)
    with pytest.raises(Fault, match="Misaligned __global__ write of 4 bytes") as found:
        machine.run(machine.load(BOUNDS), "misaligned", 1, 8, x)
    assert found.value.status == fault.MISALIGNED_ADDRESS
    assert "thread (1,0,0) and 5 more of 8" in found.value.report
    machine.run(machine.load(BOUNDS), "misaligned", 1, 1, x)


def test_past_the_end_of_shared_memory(machine: Machine) -> None:
    x = machine.zeros(64, i32)
    with pytest.raises(Fault, match="Invalid __shared__ write of 4 bytes") as found:
        machine.run(machine.load(BOUNDS), "past_shared", 1, 64, x, shared=252)
    assert found.value.status == fault.ILLEGAL_ADDRESS
    assert "thread (63,0,0)" in found.value.report
    assert "252 bytes" in found.value.report
    machine.run(machine.load(BOUNDS), "past_shared", 1, 64, x, shared=256)


QUAD = r"""
extern "C" __global__ void quad(int *out, int at)
{
    extern __shared__ __align__(16) int s[];
    for (int i = 0; i < 7; ++i) s[i] = i;
    int a, b, c, d, where = (int)__cvta_generic_to_shared(s + at);
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(where));
    out[0] = a + b + c;
}
extern "C" __global__ void quad_written()
{
    extern __shared__ __align__(16) int4 t[];
    t[1] = make_int4(1, 2, 3, 4);
}
"""


def test_a_vector_read_may_end_behind_shared_memory(machine: Machine) -> None:
    out, module = machine.zeros(1, i32), machine.load(QUAD)
    machine.run(module, "quad", 1, 1, out, i32(4), shared=28)  # 4, 5, 6 and what a compiler does not use
    assert out.get().tolist() == [15]
    with pytest.raises(Fault, match="Invalid __shared__ read of 16 bytes"):
        machine.run(module, "quad", 1, 1, out, i32(8), shared=28)
    with pytest.raises(Fault, match="Invalid __shared__ write of 16 bytes"):
        machine.run(module, "quad_written", 1, 1, shared=28)


def test_past_the_end_of_local_memory(machine: Machine) -> None:
    x = machine.zeros(64, i32)
    with pytest.raises(Fault, match="Invalid __local__ read"):
        machine.run(machine.load(BOUNDS), "deep", 1, 1, x, i32(4096))
    machine.run(machine.load(BOUNDS), "deep", 1, 1, x, i32(63))


def test_use_after_free(machine: Machine) -> None:
    x = machine.zeros(100, i32)
    module = machine.load(BOUNDS)
    x.free()
    with pytest.raises(Fault, match=r"in device memory of 400 bytes at 0x[0-9a-f]+ that was freed"):
        machine.run(module, "fill", 1, 32, x, i32(10))


def test_null(machine: Machine) -> None:
    with pytest.raises(Fault, match=r"address 0x0\n"):
        machine.run(machine.load(BOUNDS), "fill", 1, 1, np.uint64(0), i32(10))


SHARED = r"""
extern "C" __global__ void reversed(int *out)
{
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = t;
    BARRIER
    out[t] = s[255 - t];  // of another thread
}
extern "C" __global__ void together(int *out)
{
    __shared__ int s;
    if (threadIdx.x < WRITERS) s = threadIdx.x;  // who is last?
    __syncthreads();
    out[threadIdx.x] = s;
}
extern "C" __global__ void neighbours(int *out)
{
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = t;
    WARP_BARRIER
    out[t] = s[t ^ 1];
}
extern "C" __global__ void overwritten(int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    int x = s[63 - t];
    BARRIER
    s[t] = x;  // others may not have read
    out[t] = s[t];
}
extern "C" __global__ void read_by_all(int *out)
{
    __shared__ int s;
    int t = threadIdx.x;
    if (!t) s = 5;
    __syncthreads();
    out[t] = s;
    BARRIER
    if (t == WHO) s = out[t];  // others may not have read
}
extern "C" __global__ void counted(int *out)
{
    __shared__ int s;
    if (!threadIdx.x) s = 0;
    __syncthreads();
    atomicAdd(&s, 1);
    atomicMax(&s, 1);
    __syncthreads();
    out[threadIdx.x] = s;
}
"""


def shared(
    machine: Machine, barrier: str = "", writers: int = 1, warp_barrier: str = "", who: int = 0
) -> Module:
    source = SHARED.replace("WARP_BARRIER", warp_barrier).replace("BARRIER", barrier).replace("WHO", str(who))
    return machine.load(source.replace("WRITERS", str(writers)))


@pytest.mark.parametrize("name, threads", [("reversed", 256), ("overwritten", 64)])
def test_missing_barrier(checks: Any, machine: Machine, name: str, threads: int) -> None:
    out = machine.zeros(threads, i32)
    with pytest.raises(Fault, match="Race in __shared__ memory") as found:
        machine.run(shared(machine), name, 1, threads, out)
    assert "the other is block (0,0,0) thread (" in found.value.report
    machine.run(shared(machine, "__syncthreads();"), name, 1, threads, out)
    assert np.array_equal(out.get(), np.arange(threads)[::-1])


@pytest.mark.parametrize("who", [0, 31, 63])
def test_a_write_where_all_have_read(checks: Any, machine: Machine, who: int) -> None:
    out = machine.zeros(64, i32)
    with pytest.raises(Fault, match="write after read"):
        machine.run(shared(machine, who=who), "read_by_all", 1, 64, out)
    machine.run(shared(machine, "__syncthreads();", who=who), "read_by_all", 1, 64, out)


def test_races_are_not_looked_for_unless_asked(machine: Machine) -> None:
    machine.run(shared(machine), "reversed", 1, 256, machine.zeros(256, i32))


def test_two_writers(checks: Any, machine: Machine) -> None:
    out = machine.zeros(64, i32)
    with pytest.raises(Fault, match="write by several threads at once"):
        machine.run(shared(machine, writers=2), "together", 1, 64, out)
    machine.run(shared(machine), "together", 1, 64, out)


def test_missing_warp_barrier(checks: Any, machine: Machine) -> None:
    out = machine.zeros(32, i32)
    with pytest.raises(Fault, match="Race"):
        machine.run(shared(machine), "neighbours", 1, 32, out)
    machine.run(shared(machine, warp_barrier="__syncwarp();"), "neighbours", 1, 32, out)


def test_atomics_are_no_race(checks: Any, machine: Machine) -> None:
    out = machine.zeros(64, i32)
    machine.run(shared(machine), "counted", 3, 64, out)
    assert (out.get() == 64).all()


WIDTHS = r"""
extern "C" __global__ void bytes_of_all(int *out)
{
    __shared__ int4 s[64];
    int t = threadIdx.x;
    s[t] = make_int4(0, 0, 0, 0);
    __syncthreads();
    for (int i = 0; i < 16; ++i) ((char *)s)[64 * i + t] = 1;  // four of each, by four threads
    BARRIER
    int4 x = s[t];
    out[t] = x.x + x.y + x.z + x.w;
}
extern "C" __global__ void a_byte_of_another(int *out)
{
    __shared__ int4 s[64];
    int t = threadIdx.x;
    s[t] = make_int4(t, t, t, t);
    if (t == 40) ((char *)s)[BYTE] = 1;
    __syncthreads();
    out[t] = s[t].w;
}
extern "C" __global__ void all_but_a_byte(int *out)
{
    __shared__ __align__(16) char s[64];
    int t = threadIdx.x;
    if (t != BYTE) s[t] = 1;
    __syncthreads();
    int a = ((int *)s)[t % 16];
    int b = ((int4 *)s)[t % 4].x;
    out[t] = a + b;
}
extern "C" __global__ void all_but_one(int *out)
{
    __shared__ int4 s[64];
    int t = threadIdx.x;
    if (t != BYTE / 16) s[t] = make_int4(t, t, t, t);
    __syncthreads();
    out[t] = ((char *)s)[16 * t + BYTE % 16];
}
extern "C" __global__ void wide_copy(const int4 *in, int4 *out) { out[threadIdx.x] = in[threadIdx.x]; }
"""


def widths(machine: Machine, barrier: str = "", byte: int = -1) -> Module:
    return machine.load(WIDTHS.replace("BARRIER", barrier).replace("BYTE", str(byte)))


def test_accesses_of_several_widths(checks: Any, machine: Machine) -> None:
    out = machine.zeros(64, i32)
    machine.run(widths(machine, "__syncthreads();"), "bytes_of_all", 2, 64, out)
    assert (out.get() == 4 * 0x01010101).all()
    with pytest.raises(Fault, match="read after write"):
        machine.run(widths(machine), "bytes_of_all", 2, 64, out)


@pytest.mark.parametrize("byte", [0, 15, 16 * 63 + 12])
def test_a_byte_of_a_wide_access(checks: Any, machine: Machine, byte: int) -> None:
    out = machine.zeros(64, i32)
    with pytest.raises(Fault, match="write after write") as found:
        machine.run(widths(machine, byte=byte), "a_byte_of_another", 1, 64, out)
    assert f"the other is block (0,0,0) thread ({byte // 16},0,0)" in found.value.report
    machine.run(widths(machine, byte=16 * 40 + byte % 16), "a_byte_of_another", 1, 64, out)


@pytest.mark.parametrize("name, per_thread", [("all_but_a_byte", 4), ("all_but_one", 16)])
@pytest.mark.parametrize("byte", [0, 31, 63])
def test_a_byte_that_nobody_wrote(
    checks: Any, machine: Machine, name: str, per_thread: int, byte: int
) -> None:
    out = machine.zeros(64, i32)
    with pytest.raises(Fault, match="Read of __shared__ memory that nobody wrote") as found:
        machine.run(widths(machine, byte=byte), name, 1, 64, out)
    assert f"thread ({byte // per_thread},0,0)" in found.value.report
    machine.run(widths(machine, byte=2000), name, 1, 64, out)


@pytest.mark.parametrize("size", [64, 63])
def test_a_byte_of_global_memory_that_nobody_wrote(checks: Any, machine: Machine, size: int) -> None:
    """Of memory whose size is no multiple of eight, too."""
    fresh, copy = machine.memory.allocate(size), machine.memory.allocate(size)
    module, out = machine.load(UNWRITTEN.replace("WRITTEN", "64")), machine.zeros(64, i32)
    machine.memory.written(fresh, 45)
    machine.memory.written(fresh + 46, 2)
    machine.run(widths(machine), "wide_copy", 1, 3, np.uint64(fresh), np.uint64(copy))  # is of no use yet
    with pytest.raises(Fault, match=r"nobody wrote") as found:
        machine.run(module, "plus_one", 1, 48, np.uint64(copy), out)
    assert "thread (45,0,0)" in found.value.report
    machine.memory.written(fresh + 45, 1)
    machine.run(widths(machine), "wide_copy", 1, 3, np.uint64(fresh), np.uint64(copy))
    machine.run(module, "plus_one", 1, 48, np.uint64(copy), out)


UNWRITTEN = r"""
extern "C" __global__ void shared_sum(int *out)
{
    __shared__ int s[64];
    if (threadIdx.x < WRITTEN) s[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}
extern "C" __global__ void copy(const int *in, int *out) { out[threadIdx.x] = in[threadIdx.x]; }
extern "C" __global__ void plus_one(const char *in, int *out) { out[threadIdx.x] = in[threadIdx.x] + 1; }
"""


def test_unwritten_shared_memory(checks: Any, machine: Machine) -> None:
    out = machine.zeros(64, i32)
    with pytest.raises(Fault, match="Read of __shared__ memory that nobody wrote") as found:
        machine.run(machine.load(UNWRITTEN.replace("WRITTEN", "63")), "shared_sum", 1, 64, out)
    assert "thread (63,0,0)" in found.value.report
    machine.run(machine.load(UNWRITTEN.replace("WRITTEN", "64")), "shared_sum", 1, 64, out)


def test_what_is_behind_shared_memory_is_not_unwritten(checks: Any, machine: Machine) -> None:
    out, module = machine.zeros(1, i32), machine.load(QUAD)
    machine.run(module, "quad", 1, 1, out, i32(4), shared=28)


def test_unwritten_global_memory(checks: Any, machine: Machine) -> None:
    module, out = machine.load(UNWRITTEN.replace("WRITTEN", "64")), machine.zeros(64, i32)
    fresh = machine.memory.allocate(256)
    with pytest.raises(Fault, match="Read of __global__ device memory that nobody wrote"):
        machine.run(module, "copy", 1, 64, np.uint64(fresh), out)
    machine.memory.written(fresh, 252)
    with pytest.raises(Fault, match=r"thread \(63,0,0\)"):
        machine.run(module, "copy", 1, 64, np.uint64(fresh), out)
    machine.run(module, "copy", 1, 63, np.uint64(fresh), out)


INLINED = r"""
#include <cuda/atomic>
__device__ __forceinline__ void helper(int *p) { *p = 1; }  // the program's own
extern "C" __global__ void header(int *p)
{
    cuda::atomic_ref<int> one(p[threadIdx.x]);
    one.store(5);  // a header's
}
extern "C" __global__ void own(int *p)
{
    helper(p + threadIdx.x);
}
"""


@pytest.mark.parametrize(
    ("name", "mark", "inlined"), [("header", "// a header's", True), ("own", "// the program's", False)]
)
def test_the_line_of_inlined_code(machine: Machine, name: str, mark: str, inlined: bool) -> None:
    """That of the program, not of a header; in its own inlined functions the line there."""
    with pytest.raises(Fault) as found:
        machine.run(machine.load(INLINED), name, 1, 8, machine.zeros(4, i32))
    assert found.value.details is not None
    place = found.value.details.place
    assert (place.line, bool(place.inlined)) == (line_of(INLINED, mark), inlined)


STOPS = r"""
extern "C" __device__ void __assertfail(const char *, const char *file, unsigned line, const char *, size_t);
#define assert(e) ((e) ? (void)0 : __assertfail(#e, __FILE__, __LINE__, __func__, 1))
extern "C" __global__ void lonely(int *out)
{
    if (threadIdx.x == 3) asm volatile("bar.sync 1, 64;");  // nobody else comes
    else __syncthreads();
    out[threadIdx.x] = 1;
}
extern "C" __global__ void unmet(int *out)
{
    if (threadIdx.x < 16) out[threadIdx.x] = __shfl_sync(~0u, threadIdx.x, 0);
    else __syncthreads();
}
extern "C" __global__ void trapped(int n) { if (threadIdx.x == n) __trap(); }
extern "C" __global__ void asserted(int n) { assert(threadIdx.x != n); }
__device__ __noinline__ int down(int n, int *x)
{
    int a[32];
    a[n & 31] = x[0];
    int r = n ? down(n - 1, x) : 0;
    x[n & 1] = r;
    return a[r & 31] + n;
}
extern "C" __global__ void descend(int *x, int n) { x[0] = down(n, x); }
"""


def test_barrier_deadlock_says_who_waits(machine: Machine) -> None:
    with pytest.raises(Fault, match="Deadlock in lonely") as found:
        machine.run(machine.load(STOPS), "lonely", 1, 32, machine.zeros(32, i32))
    report = found.value.report
    assert "31 threads wait for barrier 0, the first is block (0,0,0) thread (0,0,0)" in report
    assert "1 thread waits for barrier 1, the first is block (0,0,0) thread (3,0,0)" in report
    assert f"program.cu:{line_of(STOPS, 'nobody else comes')}" in report
    assert report.endswith("    each waits for threads that never come: look for a barrier in a branch")


def test_a_warp_that_never_comes_together(machine: Machine) -> None:
    with pytest.raises(Fault, match="16 threads wait for the rest of its warp's mask"):
        machine.run(machine.load(STOPS), "unmet", 1, 32, machine.zeros(32, i32))


def test_trap(machine: Machine) -> None:
    with pytest.raises(Fault, match=r"A trap\n.*trapped.*\n.*thread \(5,0,0\)") as found:
        machine.run(machine.load(STOPS), "trapped", 1, 32, i32(5))
    assert found.value.status == fault.LAUNCH_FAILED
    machine.run(machine.load(STOPS), "trapped", 1, 32, i32(32))


def test_a_grid_that_synchronises_needs_a_cooperative_launch(machine: Machine) -> None:
    source = """#define _CG_LIMIT_INCLUDED_DEPENDENCIES  // without libcu++, which takes a second
    #include <cooperative_groups.h>
    extern "C" __global__ void k() { cooperative_groups::this_grid().sync(); }"""
    with pytest.raises(Fault, match=r"A trap\n.*\n.*\n.*: LaunchConfig\(is_cooperative=True\)") as found:
        machine.run(machine.load(source), "k", 1, 32)
    assert found.value.status == fault.LAUNCH_FAILED


def test_assert(machine: Machine, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(Fault) as found:
        machine.run(machine.load(STOPS), "asserted", 1, 32, i32(5))
    assert found.value.status == fault.ASSERT
    said = capfd.readouterr().err
    assert "block: [0,0,0], thread: [5,0,0] Assertion `threadIdx.x != n` failed." in said
    machine.run(machine.load(STOPS), "asserted", 1, 32, i32(32))


def test_stack_overflow(machine: Machine) -> None:
    x = machine.zeros(2, i32)
    machine.run(machine.load(STOPS), "descend", 1, 1, x, i32(20))
    with pytest.raises(
        Fault, match=r"Stack overflow\n.*in descend, in _Z4down.*\n.*\n.*calls are open"
    ) as found:
        machine.run(machine.load(STOPS), "descend", 1, 1, x, i32(100_000))
    assert found.value.status == fault.HARDWARE_STACK_ERROR


def test_what_is_not_supported_fails_when_loaded() -> None:
    text = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k()
{
    .reg .b32 %r<3>;
    wobble.sync.u32 %r1, %r2;
}
"""
    with pytest.raises(
        PTXError, match=r"line 7: wobble.sync.u32 %r1, %r2: the simulator does not support this"
    ):
        Module(text, Memory())
    with pytest.raises(PTXError, match=r"line 7: add.u33 .* it has add.<T:integers>"):
        Module(text.replace("wobble.sync.u32 %r1, %r2", "add.u33 %r1, %r2, %r2"), Memory())
    with pytest.raises(PTXError, match=r"line 7: .*%q is not a register"):
        Module(text.replace("wobble.sync.u32 %r1, %r2", "add.u32 %r1, %r2, %q"), Memory())


BRANCHES = r"""
extern "C" __global__ void sort_out(int *x)
{
    int i = threadIdx.x;
    if (x[i] > 10) {
        x[i] = atomicAdd(x + 64, 1);   // 3 of 32
    } else if (x[i] < -100) {
        x[i] = atomicAdd(x + 65, 2);   // nobody
    }
}
"""


def test_coverage_of_lines_and_branches(checks: Any, machine: Machine) -> None:
    checks.coverage = True
    values = np.zeros(66, i32)
    values[:3] = 11
    machine.run(machine.load(BRANCHES), "sort_out", 1, 32, machine.array(values))
    (counts,) = coverage.report()
    lines = {line: count for (file, line), count in counts.lines().items() if file.endswith("program.cu")}
    assert lines[line_of(BRANCHES, "3 of 32")] == 3
    assert lines[line_of(BRANCHES, "nobody")] == 0
    assert lines[line_of(BRANCHES, "threadIdx")] == 32
    assert {tuple(sorted(both)) for both in counts.branches().values()} == {(3, 29), (0, 29)}
    table = KernelCoverage(counts)._repr_html_()
    assert table.startswith("<table><caption>sort_out</caption>")
    assert f"program.cu:{line_of(BRANCHES, '3 of 32')}</td><td>3</td></tr>" in table
    unreached = re.findall(r'<tr style="color: #d33"><td>[^<]*?program.cu:(\d+)</td><td>0</td></tr>', table)
    assert unreached == [str(line_of(BRANCHES, "nobody"))]


ORDER = r"""
extern "C" __global__ void order(int *count, int *out)
{
    int t = threadIdx.x, mine = -1;
    if (t & 1) mine = atomicAdd(count, 1); else mine = atomicMax(count, 0);
    out[t] = mine;
}
"""


def test_a_seed_varies_the_schedule(machine: Machine) -> None:
    module = machine.load(ORDER)
    seen = set()
    before = settings.current
    try:
        for seed in range(16):
            settings.current = settings.Settings(seed=seed)
            out = machine.zeros(32, i32)
            machine.run(module, "order", 1, 32, machine.zeros(1, i32), out)
            assert out.get()[1::2].tolist() == list(range(16))
            assert set(out.get()[::2].tolist()) in ({0}, {16})
            seen.add(out.get().tobytes())
    finally:
        settings.current = before
    assert len(seen) == 2


def test_the_report_names_the_ptx_line(machine: Machine) -> None:
    text = ptx(BOUNDS)
    with pytest.raises(Fault) as found:
        machine.run(Module(text, machine.memory), "fill", 1, 32, machine.zeros(1, i32), i32(8))
    number = int(found.value.report.split("PTX line ")[1].split(":")[0])
    assert "st.global.u32" in text.splitlines()[number - 1]


def test_small_memory_that_is_released_is_not_kept_for_good() -> None:
    """It counts for more than its bytes: a program that allocates a lot of it would grow otherwise."""
    memory = Memory()
    addresses = [memory.allocate(1) for _ in range(20_000)]
    for address in addresses:
        memory.release(address)
    assert memory.released(addresses[0]) is None and memory.released(addresses[-1]) is not None
