"""Bulk copies: bytes between global and shared memory and between blocks, and who may touch them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cudapy.simulator.engine import fault
from cudapy.simulator.engine.fault import Fault
from cudapy.simulator.engine.memory import Memory
from cudapy.simulator.engine.module import Module, PTXError

from .machine import Machine

f16, f32, i32, u32, u64 = np.float16, np.float32, np.int32, np.uint32, np.uint64


SOURCE = r"""
typedef unsigned long long Word;
__device__ unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ unsigned in_block(const void *p, unsigned rank)
{
    unsigned far;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(far) : "r"(at(p)), "r"(rank));
    return far;
}
__device__ void init(Word *b, unsigned n)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1; fence.mbarrier_init.release.cluster;"
                 :: "r"(at(b)), "r"(n) : "memory");
}
__device__ void expect(Word *b, unsigned n)
{ asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(at(b)), "r"(n) : "memory"); }
__device__ void wait(Word *b, unsigned odd)
{
    unsigned over = 0;
    while (!over)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;"
                     " selp.u32 %0, 1, 0, p; }" : "=r"(over) : "r"(at(b)), "r"(odd) : "memory");
}
__device__ void meet() { asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory"); }
__device__ void fetch(void *to, const void *from, unsigned n, Word *b)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 :: "r"(at(to)), "l"(from), "r"(n), "r"(at(b)) : "memory");
}
__device__ void send(void *to, const void *from, unsigned n)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                 :: "l"(to), "r"(at(from)), "r"(n) : "memory");
}
#define COMMIT asm volatile("cp.async.bulk.commit_group;" ::: "memory")
#define WAIT(n) asm volatile("cp.async.bulk.wait_group.read " #n ";" ::: "memory")

extern "C" __global__ void there_and_back(const int *in, int *out)
{
    __shared__ alignas(16) int s[2][64];
    __shared__ Word b[2];
    int t = threadIdx.x;
    in += blockIdx.x * 256, out += blockIdx.x * 256;
    if (t == 0) init(&b[0], 1), init(&b[1], 1);
    __syncthreads();
    for (int i = 0; i < 4; ++i) {
        int k = i % 2;
        if (t == 0) {
            WAIT(1);  // the group that read this part before
            expect(&b[k], 256);
            fetch(s[k], in + i * 64, 256, &b[k]);
        }
        wait(&b[k], i / 2);
        s[k][t] += 1000;
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if (t == 0) { send(out + i * 64, s[k], 256); COMMIT; }
    }
    if (t == 0) WAIT(0);
}
extern "C" __global__ void to_all(const int *in, int *out, unsigned short mask)
{
    __shared__ alignas(16) int s[32];
    __shared__ Word b;
    int t = threadIdx.x;
    bool gets = mask >> blockIdx.x & 1;
    s[t] = -1;
    if (t == 0) { init(&b, 1); if (gets) expect(&b, 128); }
    meet();
    if (blockIdx.x == 1 && t == 0)
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
                     ".L2::cache_hint [%0], [%1], 128, [%2], %3, %4;"
                     :: "r"(at(s)), "l"(in), "r"(at(&b)), "h"(mask), "l"(0ull) : "memory");
    if (gets) wait(&b, 0);
    out[blockIdx.x * 32 + t] = s[t];
    meet();
}
extern "C" __global__ void to_the_next(int *out, unsigned *counted)
{
    __shared__ alignas(16) int s[32], sum[32];
    __shared__ alignas(16) unsigned single[4];
    __shared__ unsigned count;
    __shared__ Word b;
    unsigned t = threadIdx.x, rank = blockIdx.x, next = (rank + 1) % 3;
    s[t] = 100 * rank + t;
    sum[t] = 7;
    if (t == 0) count = 5;
    if (t == 0) init(&b, 1), expect(&b, 128 + 16 + 32 * 4);
    meet();
    if (t == 0) {
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.s32"
                     " [%0], [%1], 128, [%2];"
                     :: "r"(in_block(sum, next)), "r"(at(s)), "r"(in_block(&b, next)) : "memory");
        asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 [%0], {%1, %2}, [%3];"
                     :: "r"(in_block(single, next)), "l"(1ull << 32 | rank), "l"(5ull << 32 | 2),
                        "r"(in_block(&b, next)) : "memory");
    }
    __syncwarp();
    asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32"
                 " [%0], %1, [%2];"
                 :: "r"(in_block(&count, next)), "r"(t), "r"(in_block(&b, next)) : "memory");
    wait(&b, 0);
    out[rank * 32 + t] = sum[t];
    if (t < 4) counted[rank * 4 + t] = single[t] + (t == 3) * count;
    meet();
}
#define REDUCED(name, type, how)                                                                      \
    extern "C" __global__ void name(type *out, const type *in)                                         \
    {                                                                                                  \
        __shared__ alignas(16) type s[64];                                                             \
        s[threadIdx.x] = in[threadIdx.x];                                                              \
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");                                   \
        __syncthreads();                                                                               \
        if (threadIdx.x == 0)                                                                          \
            asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group." how " [%0], [%1], %2;"  \
                         " cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"                    \
                         :: "l"(out), "r"(at(s)), "r"((unsigned)sizeof s) : "memory");                 \
    }
REDUCED(add_u32, unsigned, "add.u32")
REDUCED(add_f32, float, "add.f32")
REDUCED(add_f16, unsigned short, "add.noftz.f16")
REDUCED(max_f16, unsigned short, "max.f16")
REDUCED(min_s64, long long, "min.s64")
REDUCED(xor_b64, Word, "xor.b64")
REDUCED(inc_u32, unsigned, "inc.u32")

extern "C" __global__ void wrong(int *in, int n, int how)
{
    __shared__ alignas(16) int s[64];
    __shared__ Word b;
    s[0] = s[1] = s[2] = s[3] = 1;
    init(&b, 1);
    expect(&b, 64);
    if (how == 0) fetch(s, in, n, &b);
    if (how == 1) fetch(s, (char *)in + 8, 16, &b);
    if (how == 2) fetch((char *)s + 4, in, 16, &b);
    if (how == 3) fetch(s, in, 24, &b);
    if (how == 4) fetch(s + 56, in, 64, &b);
    if (how == 5) fetch(s + 4, in, 16, (Word *)s);
    if (how == 6) fetch(s, in, 16, &b), in[0] = s[0];
    if (how == 7) { send(in, s, 16); COMMIT; s[0] = 2; }
    if (how == 8) { send(in, s, 16); COMMIT; send(in + 4, s, 16); COMMIT; WAIT(1); s[3] = 2; }
    if (how == 9) {
        fetch(s, in, 64, &b);
        wait(&b, 0);
        in[0] = s[0];
        send(in, s, 16);
        COMMIT;
        WAIT(0);
        s[0] = 2;
    }
    if (how == 10) send(in, s, 32);
    if (how == 11) fetch(s, in, 16, &b), fetch(s, in, 32, &b);
}
extern "C" __global__ void too_many(int *in)
{
    __shared__ alignas(16) int s[4];
    __shared__ Word b;
    init(&b, 1);
    meet();
    if (blockIdx.x == 0)
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
                     " [%0], [%1], 16, [%2], %3;"
                     :: "r"(at(s)), "l"(in), "r"(at(&b)), "h"((short)5) : "memory");
    meet();
}
extern "C" __global__ void two_blocks(int *in)
{
    __shared__ alignas(16) int s[4];
    __shared__ Word b;
    init(&b, 1);
    meet();
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 16, [%2];"
                 :: "r"(in_block(s, 1 - blockIdx.x)), "l"(in), "r"(at(&b)) : "memory");
    meet();
}
"""


def run(machine: Machine, name: str, blocks: int, threads: int, *arguments: Any, **more: Any) -> None:
    machine.run(machine.load(SOURCE, 90), name, blocks, threads, *arguments, **more)


def test_there_and_back(machine: Machine) -> None:
    data, out = np.arange(3 * 256, dtype=i32), machine.zeros(3 * 256, i32)
    run(machine, "there_and_back", 3, 64, machine.array(data), out)
    assert np.array_equal(out.get(), data + 1000)


@pytest.mark.parametrize("mask", [0b1011, 0b0010, 0b1101])
def test_copies_to_several_blocks(machine: Machine, mask: int) -> None:
    data, out = np.arange(32, dtype=i32), machine.zeros((4, 32), i32)
    run(machine, "to_all", 4, 32, machine.array(data), out, np.uint16(mask), cluster=(4, 1, 1))
    assert np.array_equal(out.get(), [data if mask >> rank & 1 else 0 * data - 1 for rank in range(4)])


def test_copies_reductions_and_stores_to_another_block(machine: Machine) -> None:
    out, counted = machine.zeros((3, 32), i32), machine.zeros((3, 4), u32)
    run(machine, "to_the_next", 3, 32, out, counted, cluster=(3, 1, 1))
    before = np.array([[2], [0], [1]])
    assert np.array_equal(out.get(), 7 + 100 * before + np.arange(32))
    assert np.array_equal(counted.get(), np.hstack([before, [[1, 2, 5 + 5 + 496]] * 3]))


REDUCTIONS = [
    ("add_u32", u32, lambda a, b: a + b),
    ("add_f32", f32, lambda a, b: a + b),
    ("add_f16", f16, lambda a, b: a + b),
    ("max_f16", f16, np.maximum),
    ("min_s64", np.int64, np.minimum),
    ("xor_b64", u64, np.bitwise_xor),
    ("inc_u32", u32, lambda a, b: np.where(a >= b, 0, a + 1)),
]
"""Kernel, type of the elements, and what becomes of old and new ones."""


@pytest.mark.parametrize("name, dtype, expected", REDUCTIONS)
def test_reductions_in_global_memory(machine: Machine, name: str, dtype: Any, expected: Any) -> None:
    random = np.random.default_rng(1)
    low = 0 if np.dtype(dtype).kind == "u" else -20
    a, b = (random.integers(low, 90, 64).astype(dtype) for _ in range(2))
    out = machine.array(a)
    run(machine, name, 1, 64, out, machine.array(b))
    assert np.array_equal(out.get(), expected(a, b).astype(dtype))


@pytest.mark.parametrize(
    "how, text, status",
    [
        (0, "Invalid __global__ bulk read of 272 bytes", fault.ILLEGAL_ADDRESS),
        (1, "Misaligned __global__ bulk read of 16 bytes", fault.MISALIGNED_ADDRESS),
        (2, "Misaligned __shared__ write of 16 bytes", fault.MISALIGNED_ADDRESS),
        (3, "A bulk copy of 24 bytes: these must be a multiple of 16", fault.MISALIGNED_ADDRESS),
        (4, "Invalid __shared__ write of 64 bytes", fault.ILLEGAL_ADDRESS),
        (5, "What is not an mbarrier", fault.LAUNCH_FAILED),
        (6, "Race in __shared__ memory (with an asynchronous copy)", fault.LAUNCH_FAILED),
        (7, "Race in __shared__ memory (with an asynchronous copy)", fault.LAUNCH_FAILED),
        (8, "Race in __shared__ memory (with an asynchronous copy)", fault.LAUNCH_FAILED),
        (10, "Read of __shared__ memory that nobody wrote", fault.LAUNCH_FAILED),
        (11, "Race in __shared__ memory (with an asynchronous copy)", fault.LAUNCH_FAILED),
    ],
)
def test_what_is_wrong(machine: Machine, how: int, text: str, status: int) -> None:
    data = machine.zeros(64, i32)
    with pytest.raises(Fault) as found:
        run(machine, "wrong", 1, 1, data, i32(272), i32(how))
    assert text in found.value.report
    assert found.value.status == status
    assert "in wrong" in found.value.report and "program.cu:" in found.value.report
    assert "by block (0,0,0) thread (0,0,0)\n" in found.value.report + "\n"


def test_what_was_waited_for_is_free(machine: Machine) -> None:
    data = machine.array(np.arange(64, dtype=i32) + 5)
    run(machine, "wrong", 1, 1, data, i32(64), i32(9))
    assert data.get()[:5].tolist() == [5, 6, 7, 8, 9]


def test_a_mask_of_blocks_that_are_not_there(machine: Machine) -> None:
    with pytest.raises(Fault, match="A copy to the blocks 0x5 of a cluster of 2"):
        run(machine, "too_many", 2, 1, machine.zeros(4, i32), cluster=(2, 1, 1))


def test_a_barrier_of_another_block(machine: Machine) -> None:
    with pytest.raises(Fault, match="A bulk copy to one block with an mbarrier of another"):
        run(machine, "two_blocks", 2, 1, machine.zeros(4, i32), cluster=(2, 1, 1))


def test_the_forms_of_the_c_plus_plus_library(machine: Machine) -> None:
    source = r"""
#include <cuda/barrier>
#include <cuda/ptx>
extern "C" __global__ void k(int *x)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ alignas(128) int s[64];
    int t = threadIdx.x;
    if (t == 0) {
        init(&bar, blockDim.x);
        cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
    }
    __syncthreads();
    cuda::barrier<cuda::thread_scope_block>::arrival_token token;
    if (t == 0) {
        cuda::ptx::cp_async_bulk(cuda::ptx::space_cluster, cuda::ptx::space_global, s, x, 256,
                                 cuda::device::barrier_native_handle(bar));
        token = cuda::device::barrier_arrive_tx(bar, 1, 256);
    } else {
        token = bar.arrive();
    }
    bar.wait(std::move(token));
    s[t] *= 3;
    cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
    __syncthreads();
    if (t == 0) {
        cuda::ptx::cp_async_bulk(cuda::ptx::space_global, cuda::ptx::space_shared, x, s, 256);
        cuda::ptx::cp_async_bulk_commit_group();
        cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<0>{});
    }
}
"""
    x = machine.array(np.arange(64, dtype=i32))
    machine.run(machine.load(source, 90), "k", 1, 64, x)
    assert np.array_equal(x.get(), 3 * np.arange(64))


@pytest.mark.parametrize(
    "old, new, text",
    [
        (".bulk_group [%rd1]", ".bulk_group.cp_mask [%rd1]", "cp.async.bulk"),
        ("], %r2, [%r1];", "], %r2, [%r1], %rs1;", "operands are expected"),
    ],
)
def test_what_there_is_not_is_named(old: str, new: str, text: str) -> None:
    whole = """.version 8.3\n.target sm_90\n.address_size 64\n.visible .entry k()
{ .reg .b32 %r<4>; .reg .b16 %rs<2>; .reg .b64 %rd<4>;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], %r2, [%r1];
cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], %r2;
ret; }"""
    Module(whole, Memory())
    with pytest.raises(PTXError, match=rf"line \d: .*{text}"):
        Module(whole.replace(old, new), Memory())
