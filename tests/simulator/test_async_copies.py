"""cp.async with the check of races on: who reads what nobody has waited for gets a report, others none."""

from __future__ import annotations

import numpy as np
import pytest

from cudapy.simulator.engine import settings
from cudapy.simulator.engine.fault import Fault

from .machine import Machine

i32 = np.int32
SOURCE = r"""
__device__ unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void bring(int *to, const int *from)
{ asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(at(to)), "l"(from)); }
__device__ void bring16(int *to, const int *from)
{ asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(at(to)), "l"(from)); }
#define COMMIT asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(n) asm volatile("cp.async.wait_group " #n ";" ::: "memory")
extern "C" __global__ void once(const int *in, int *out, int how)
{
    __shared__ __align__(16) int s[64];
    int t = threadIdx.x;
    bring(s + t, in + t);
    if (how == 0) asm volatile("cp.async.wait_all;" ::: "memory");
    if (how == 1) { COMMIT; WAIT(0); }
    if (how == 2) COMMIT;
    if (how == 3) { COMMIT; WAIT(1); }
    if (how == 4) { WAIT(0); }
    if (how == 5) { s[t] = 1; COMMIT; WAIT(0); }
    if (how == 6) { COMMIT; if (t != 9) WAIT(0); }
    __syncthreads();
    out[t] = s[63 - t];
}
extern "C" __global__ void stages(const int *in, int *out, int steps)
{
    __shared__ __align__(16) int s[3][256];
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < 2; ++i) { bring16(s[i] + 4 * t, in + 256 * i + 4 * t); COMMIT; }
    for (int i = 0; i < steps; ++i) {
        WAIT(1);
        __syncthreads();
        if (i + 2 < steps) bring16(s[(i + 2) % 3] + 4 * t, in + 256 * (i + 2) + 4 * t);
        COMMIT;
        for (int k = 0; k < 4; ++k) sum += s[i % 3][(4 * t + k + 77) % 256];
    }
    out[t] = sum;
}
extern "C" __global__ void barrier(const int *in, int *out)
{
    __shared__ __align__(16) int s[64];
    __shared__ unsigned long long b;
    int t = threadIdx.x;
    unsigned over = 0;
    if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" :: "r"(at(&b)) : "memory");
    __syncthreads();
    bring(s + t, in + t);
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" :: "r"(at(&b)) : "memory");
    while (!over)
        asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0;"
                     " selp.u32 %0, 1, 0, p; }" : "=r"(over) : "r"(at(&b)) : "memory");
    out[t] = s[63 - t];
}
"""


def once(machine: Machine, how: int) -> None:
    values = np.arange(64, dtype=i32) * 3
    out = machine.zeros(64, i32)
    machine.run(machine.load(SOURCE, 90), "once", 1, 64, machine.array(values), out, i32(how))
    assert np.array_equal(out.get(), values[::-1])


@pytest.mark.parametrize("how", [0, 1])
def test_who_waits_may_read(machine: Machine, how: int) -> None:
    once(machine, how)


@pytest.mark.parametrize("how", [2, 3, 4, 6])
def test_who_does_not_wait_gets_a_report(machine: Machine, how: int) -> None:
    with pytest.raises(Fault, match=r"Race in __shared__ memory \(with cp.async\)") as caught:
        once(machine, how)
    assert "the thread that copies has not waited (cp.async.wait_group" in caught.value.report
    assert ("by block (0,0,0) thread (54,0,0)\n" in caught.value.report) == (how == 6), "of thread 9"


def test_a_write_of_what_is_being_copied(machine: Machine) -> None:
    with pytest.raises(Fault, match=r"Race in __shared__ memory \(with cp.async\)"):
        once(machine, 5)


def test_without_the_check_copies_are_made_at_once(machine: Machine) -> None:
    settings.current.check_races = False
    once(machine, 2)


def test_stages(machine: Machine) -> None:
    values = np.random.default_rng(1).integers(0, 1000, (6, 256)).astype(i32)
    out = machine.zeros(64, i32)
    machine.run(machine.load(SOURCE, 90), "stages", 1, 64, machine.array(values), out, i32(6))
    assert np.array_equal(out.get(), np.roll(values.sum(0), -77).reshape(64, 4).sum(1))


def test_copies_that_a_barrier_counts(machine: Machine) -> None:
    values = np.arange(64, dtype=i32)
    out = machine.zeros(64, i32)
    machine.run(machine.load(SOURCE, 90), "barrier", 1, 64, machine.array(values), out)
    assert np.array_equal(out.get(), values[::-1])
