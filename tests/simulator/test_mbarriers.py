"""Barriers in shared memory: what they count, who waits for ever, and what is no use of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cudapy.simulator.engine import fault, settings
from cudapy.simulator.engine.fault import Fault

from .machine import Machine

i32, u32 = np.int32, np.uint32


SOURCE = r"""
typedef unsigned long long Word;
__device__ unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void init(Word *b, unsigned n)
{ asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(at(b)), "r"(n) : "memory"); }
__device__ Word arrive(Word *b)
{
    Word token;
    asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(token) : "r"(at(b)) : "memory");
    return token;
}
__device__ Word arrive_many(Word *b, unsigned n)
{
    Word token;
    asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 %0, [%1], %2;"
                 : "=l"(token) : "r"(at(b)), "r"(n) : "memory");
    return token;
}
__device__ unsigned pending(Word token)
{
    unsigned n;
    asm("mbarrier.pending_count.b64 %0, %1;" : "=r"(n) : "l"(token));
    return n;
}
__device__ bool test(Word *b, Word token)
{
    unsigned over;
    asm volatile("{ .reg .pred p; mbarrier.test_wait.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(over) : "r"(at(b)), "l"(token) : "memory");
    return over;
}
__device__ bool parity(Word *b, unsigned odd)
{
    unsigned over;
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%1], %2, 0x989680;"
                 " selp.u32 %0, 1, 0, p; }" : "=r"(over) : "r"(at(b)), "r"(odd) : "memory");
    return over;
}
__device__ void wait(Word *b, unsigned odd) { while (!parity(b, odd)); }
#define ON(b, what, n) asm volatile("mbarrier." what " [%0], %1;" :: "r"(at(&b)), "r"(n) : "memory")

extern "C" __global__ void counts(unsigned *out)
{
    __shared__ Word b;
    init(&b, 5);
    Word first = arrive(&b), second = arrive_many(&b, 2);
    out[0] = pending(first);
    out[1] = pending(second);
    Word third;
    asm volatile("mbarrier.arrive.noComplete.shared.b64 %0, [%1], 1;" : "=l"(third) : "r"(at(&b)) : "memory");
    out[2] = pending(third);
    out[3] = test(&b, first);
    out[4] = parity(&b, 0) + 10 * parity(&b, 1);  // phase 0 is not over, the one before it is
    Word last;
    asm volatile("mbarrier.arrive_drop.shared::cta.b64 %0, [%1];" : "=l"(last) : "r"(at(&b)) : "memory");
    out[5] = test(&b, first) + 10 * test(&b, last);
    out[6] = pending(arrive(&b));  // one was dropped
    arrive_many(&b, 3);
    out[7] = parity(&b, 1) + 10 * parity(&b, 0);
}
extern "C" __global__ void bytes(unsigned *out)
{
    __shared__ Word b;
    init(&b, 1);
    asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], 48;"
                 :: "r"(at(&b)) : "memory");
    out[0] = parity(&b, 0);
    ON(b, "complete_tx.relaxed.cta.shared::cta.b64", 32);
    out[1] = parity(&b, 0);
    ON(b, "expect_tx.relaxed.cta.shared::cta.b64", 16);
    ON(b, "complete_tx.relaxed.cta.shared::cta.b64", 16);
    out[2] = parity(&b, 0);
    ON(b, "complete_tx.relaxed.cta.shared::cta.b64", 16);
    out[3] = parity(&b, 0);
    ON(b, "complete_tx.relaxed.cta.shared::cta.b64", 8);  // before they are expected
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 8;" :: "r"(at(&b)) : "memory");
    out[4] = parity(&b, 1);
}
extern "C" __global__ void pipeline(const int *in, int *out, int rounds)
{
    __shared__ int stage[2][32];
    __shared__ Word full[2], empty[2];
    int t = threadIdx.x % 32;
    if (threadIdx.x == 0)
        for (int i = 0; i < 2; ++i) init(&full[i], 32), init(&empty[i], 32);
    __syncthreads();
    for (int i = 0; i < rounds; ++i) {
        int s = i % 2, odd = i / 2 % 2;
        if (threadIdx.x < 32) {
            wait(&empty[s], odd ^ 1);
            stage[s][t] = in[i * 32 + t] * 2;
            arrive(&full[s]);
        } else {
            wait(&full[s], odd);
            out[i * 32 + t] = stage[s][31 - t];
            arrive(&empty[s]);
        }
    }
}
extern "C" __global__ void copied(const int *in, int *out)
{
    __shared__ int s[64];
    __shared__ Word b;
    int t = threadIdx.x;
    if (t == 0) init(&b, 64);
    __syncthreads();
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(at(&s[t])), "l"(in + t) : "memory");
    if (t < 32) {
        asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" :: "r"(at(&b)) : "memory");
    } else {
        asm volatile("cp.async.mbarrier.arrive.shared::cta.b64 [%0];" :: "r"(at(&b)) : "memory");
        arrive(&b);
    }
    wait(&b, 0);
    out[t] = s[63 - t];
    __syncthreads();
    if (t == 0) out[64] = pending(arrive(&b));  // of the next phase
}
extern "C" __global__ void of_another(unsigned *out)
{
    __shared__ Word b;
    __shared__ unsigned s[32];
    unsigned rank = blockIdx.x % 2, t = threadIdx.x, far;
    if (t == 0) init(&b, 32);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(far) : "r"(at(&s[t])), "r"(rank ^ 1));
    asm volatile("st.shared::cluster.u32 [%0], %1;" :: "r"(far), "r"(100 * blockIdx.x + t) : "memory");
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(far) : "r"(at(&b)), "r"(rank ^ 1));
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(far) : "memory");
    wait(&b, 0);
    out[blockIdx.x * 32 + t] = s[31 - t];
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
}

extern "C" __global__ void forever(int *out)
{
    __shared__ Word a, b;
    if (threadIdx.x == 0) init(&a, 96), init(&b, 1);
    __syncthreads();
    if (threadIdx.x < 32) {
        wait(&a, 0);
    } else if (threadIdx.x < 64) {
        arrive(&a);
        wait(&a, 0);
    } else if (threadIdx.x < 96) {
        if (threadIdx.x == 64)
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 512;" :: "r"(at(&b)) : "memory");
        while (!parity(&b, 0)) __nanosleep(1);
    } else {
        asm volatile("barrier.sync 5, 64;");
    }
    out[threadIdx.x] = 1;
}
extern "C" __global__ void busy_forever(unsigned *out)
{
    __shared__ Word b;
    unsigned random = threadIdx.x;
    if (threadIdx.x == 0) init(&b, 1);
    __syncthreads();
    while (!parity(&b, 0))
#pragma unroll 1
        for (int i = 0; i < 8; ++i) random ^= random << 13, random ^= random >> 17, random ^= random << 5;
    out[threadIdx.x] = random;
}
extern "C" __global__ void late(int *out)
{
    __shared__ Word b;
    if (threadIdx.x == 0) init(&b, 1);
    __syncthreads();
    if (threadIdx.x < 32) {
        wait(&b, 0);
    } else {
#pragma unroll 1
        for (int i = 0; i < 2500; ++i) __nanosleep(0);
        if (threadIdx.x == 32) arrive(&b);
    }
    out[threadIdx.x] = 1;
}
extern "C" __global__ void impatient(int *out)
{
    __shared__ Word b;
    init(&b, 1);
    long long sum = 0;
    for (int i = 0; i < 2000 && !parity(&b, 0); ++i) sum += clock64();
    out[0] = sum != 0;
}
extern "C" __global__ void wrong(int how)
{
    __shared__ Word b[2];
    b[0] = b[1] = 0;
    if (how != 0) init(&b[0], how == 1 ? 0 : how == 6 ? 1 << 20 : 2);
    if (how == 0) arrive(&b[1]);
    if (how == 2) arrive_many(&b[0], 3);
    if (how == 3) {
        arrive(&b[0]);
        asm volatile("mbarrier.arrive.noComplete.shared.b64 _, [%0], 1;" :: "r"(at(b)) : "memory");
    }
    if (how == 4) {
        asm volatile("mbarrier.inval.shared::cta.b64 [%0];" :: "r"(at(b)) : "memory");
        parity(b, 0);
    }
    if (how == 5) ON(b[0], "expect_tx.relaxed.cta.shared::cta.b64", 1 << 20);
    if (how == 7) init((Word *)((char *)b + 4), 1);
}
extern "C" __global__ void elsewhere(Word *out)
{ asm volatile("{ .reg .b64 t; mbarrier.arrive.b64 t, [%0]; }" :: "l"(out) : "memory"); }
extern "C" __global__ void unordered(int *out)
{
    __shared__ Word b;
    if (threadIdx.x == 0) init(&b, 64);
    arrive(&b);  // the barrier may not be there yet
}
"""


def run(machine: Machine, name: str, blocks: int, threads: int, *arguments: Any, **more: Any) -> None:
    machine.run(machine.load(SOURCE, 90), name, blocks, threads, *arguments, **more)


def test_what_arrivals_count(machine: Machine) -> None:
    out = machine.zeros(8, u32)
    run(machine, "counts", 1, 1, out)
    assert out.get().tolist() == [5, 4, 2, 0, 10, 11, 4, 1]


def test_bytes_that_are_awaited(machine: Machine) -> None:
    out = machine.zeros(5, u32)
    run(machine, "bytes", 1, 1, out)
    assert out.get().tolist() == [0, 0, 0, 1, 1]


@pytest.mark.parametrize("seed", [None, 1, 2])
def test_a_pipeline(machine: Machine, seed: int | None) -> None:
    settings.current.seed = seed
    data, out = np.arange(7 * 32, dtype=i32).reshape(7, 32), machine.zeros((7, 32), i32)
    run(machine, "pipeline", 1, 64, machine.array(data), out, i32(7))
    assert np.array_equal(out.get(), 2 * data[:, ::-1])


def test_arrivals_of_copies(machine: Machine) -> None:
    data, out = np.arange(64, dtype=i32), machine.zeros(65, i32)
    run(machine, "copied", 1, 64, machine.array(data), out)
    assert np.array_equal(out.get(), [*data[::-1], 64])


def test_the_barrier_of_another_block(machine: Machine) -> None:
    out = machine.zeros((4, 32), u32)
    run(machine, "of_another", 4, 32, out, cluster=(2, 1, 1))
    assert np.array_equal(out.get(), [100 * (block ^ 1) + np.arange(32)[::-1] for block in range(4)])


def test_who_waits_for_ever(machine: Machine) -> None:
    settings.current = settings.Settings()  # quicker
    with pytest.raises(Fault, match="Deadlock in forever: no thread can run") as found:
        run(machine, "forever", 2, 128, machine.zeros(128, i32))
    report = found.value.report
    assert found.value.status == fault.LAUNCH_TIMEOUT
    assert report.count("64 of 96 arrivals and 0 bytes are missing") >= 2  # of two blocks
    assert report.count("32 threads wait for the mbarrier at ") >= 2
    assert report.count("0 of 1 arrivals and 512 bytes are missing") == 2
    assert "in the shared memory of block (1,0,0), the first is block (1,0,0) thread (64,0,0)" in report
    assert "mbarrier.try_wait.parity" in report and "program.cu:" in report
    assert "64 threads wait for barrier 5, the first is block (0,0,0) thread (96,0,0)" in report


@pytest.mark.parametrize("machine_code", ["never", "auto", "always"])
def test_who_waits_for_ever_and_computes_meanwhile(machine: Machine, machine_code: str) -> None:
    settings.current = settings.Settings(machine_code=machine_code)
    with pytest.raises(Fault, match="Deadlock in busy_forever: no thread can run"):
        run(machine, "busy_forever", 1, 64, machine.zeros(64, u32))


def test_somebody_comes_late(machine: Machine) -> None:
    settings.current = settings.Settings()  # quicker
    out = machine.zeros(64, i32)
    run(machine, "late", 1, 64, out)
    assert out.get().all()


def test_a_wait_that_looks_at_the_clock_is_no_deadlock(machine: Machine) -> None:
    settings.current = settings.Settings()  # quicker
    out = machine.zeros(1, i32)
    run(machine, "impatient", 1, 1, out)
    assert out.get()[0] == 1


@pytest.mark.parametrize(
    "how, text",
    [
        (0, "What is not an mbarrier: mbarrier.init did not come before"),
        (1, "An mbarrier for 1 .. 1048575 arrivals is possible"),
        (2, "3 arrivals where 2 of 2 are missing"),
        (3, "noComplete, but the arrival completes the phase"),
        (4, "What is not an mbarrier"),
        (5, "at most 1048575 can be"),
        (6, "An mbarrier for 1 .. 1048575 arrivals is possible"),
        (7, "Misaligned __shared__ write"),
    ],
)
def test_what_is_no_use(machine: Machine, how: int, text: str) -> None:
    with pytest.raises(Fault) as found:
        run(machine, "wrong", 1, 1, i32(how))
    assert text in found.value.report
    assert "in wrong" in found.value.report and "thread (0,0,0)" in found.value.report


def test_a_barrier_outside_of_shared_memory(machine: Machine) -> None:
    with pytest.raises(Fault, match="An mbarrier outside of shared memory") as found:
        run(machine, "elsewhere", 1, 1, machine.zeros(1, np.uint64))
    assert found.value.status == fault.INVALID_ADDRESS_SPACE


def test_an_arrival_before_all_know_the_barrier(machine: Machine) -> None:
    with pytest.raises(Fault, match="Race in __shared__ memory"):
        run(machine, "unordered", 1, 64, machine.zeros(1, i32))
