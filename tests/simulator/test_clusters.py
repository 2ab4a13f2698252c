"""Clusters of blocks: shared memory of others, the barrier of the cluster, and what goes wrong there."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from cudapy.simulator.engine import fault, settings
from cudapy.simulator.engine.fault import Fault
from cudapy.simulator.engine.module import PTXError

from .machine import Machine

i32, u32 = np.int32, np.uint32


PLACES = r"""
#define GET(name) ([] { unsigned v; asm("mov.u32 %0, %%" name ";" : "=r"(v)); return v; }())
extern "C" __global__ void places(unsigned *out)
{
    unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    unsigned v[15] = {
        GET("clusterid.x"), GET("clusterid.y"), GET("clusterid.z"),
        GET("nclusterid.x"), GET("nclusterid.y"), GET("nclusterid.z"),
        GET("cluster_ctaid.x"), GET("cluster_ctaid.y"), GET("cluster_ctaid.z"),
        GET("cluster_nctaid.x"), GET("cluster_nctaid.y"), GET("cluster_nctaid.z"),
        GET("cluster_ctarank"), GET("cluster_nctarank"), 0};
    asm("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }" : "=r"(v[14]));
    for (int i = 0; i < 15; ++i) out[block * 15 + i] = v[i];
}
"""


def test_where_a_block_is(machine: Machine) -> None:
    grid, cluster = (4, 6, 2), (2, 3, 1)
    out = machine.zeros((2, 6, 4, 15), u32)
    machine.run(machine.load(PLACES, 90), "places", grid, 1, out, cluster=cluster)
    z, y, x = np.indices((2, 6, 4))
    at = np.stack([x, y, z], -1)
    of = np.broadcast_to(cluster, at.shape)
    counts = np.broadcast_to(np.array(grid) // cluster, at.shape)
    rank = x % 2 + 2 * (y % 3)
    rest = np.stack([rank, np.full_like(rank, 6), np.ones_like(rank)], -1)
    assert np.array_equal(out.get(), np.concatenate([at // of, counts, at % of, of, rest], -1))


def test_without_clusters_a_block_is_one(machine: Machine) -> None:
    out = machine.zeros((3, 15), u32)
    machine.run(machine.load(PLACES, 90), "places", 3, 1, out)
    assert out.get().tolist() == [[x, 0, 0, 3, 1, 1, 0, 0, 0, 1, 1, 1, 0, 1, 0] for x in range(3)]


RING = r"""
#define _CG_LIMIT_INCLUDED_DEPENDENCIES  // without libcu++, which takes NVRTC more than a second
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(2, 2, 1) ring(const int *in, int *out)
{
    __shared__ int mine[64];
    cg::cluster_group cluster = cg::this_cluster();
    int block = blockIdx.x + gridDim.x * blockIdx.y, t = threadIdx.x;
    mine[t] = in[block * 64 + t];
    cluster.sync();
    unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
    const int *other = cluster.map_shared_rank(mine, next);
    out[block * 64 + t] = other[63 - t] + 1000 * cluster.query_shared_rank(other + t);
    cluster.sync();
}
"""


def test_the_shared_memory_of_the_next_block(machine: Machine) -> None:
    values = np.random.default_rng(1).integers(0, 1000, (4, 6, 64)).astype(i32)  # rows, columns, threads
    out = machine.zeros((4, 6, 64), i32)
    machine.run(machine.load(RING, 90), "ring", (6, 4), 64, machine.array(values), out)
    blocks = values.reshape(2, 2, 3, 2, 64).transpose(0, 2, 1, 3, 4).reshape(2, 3, 4, 64)  # by rank
    ranks = np.roll(np.arange(4), -1)
    expected = blocks[:, :, ranks, ::-1] + 1000 * ranks[:, None]
    expected = expected.reshape(2, 3, 2, 2, 64).transpose(0, 2, 1, 3, 4).reshape(4, 6, 64)
    assert np.array_equal(out.get(), expected)


def test_many_clusters_run_in_several_batches(machine: Machine) -> None:
    settings.current.batch = 400  # threads: 6 blocks of 64, one cluster of 2 x 2
    values = np.arange(16 * 64, dtype=i32).reshape(4, 4, 64)
    out = machine.zeros((4, 4, 64), i32)
    machine.run(machine.load(RING, 90), "ring", (4, 4), 64, machine.array(values), out)
    settings.current.batch = 32768
    whole = machine.zeros((4, 4, 64), i32)
    machine.run(machine.load(RING, 90), "ring", (4, 4), 64, machine.array(values), whole)
    assert np.array_equal(out.get(), whole.get())
    assert out.get()[0, 0, 0] == values[0, 1, 63] + 1000


WORDS = r"""
__device__ unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ unsigned of_rank(unsigned a, unsigned rank)
{
    unsigned mapped;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(a), "r"(rank));
    return mapped;
}
__device__ void arrive() { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); }
__device__ void wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
extern "C" __global__ void words(unsigned *out)
{
    __shared__ unsigned s[8];
    unsigned rank, t = threadIdx.x;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (t < 8) s[t] = 0;
    arrive();
    wait();
    asm volatile("red.shared::cluster.add.u32 [%0], %1;"
                 :: "r"(of_rank(at(&s[0]), t % 4)), "r"(rank + 1) : "memory");
    unsigned old;
    asm volatile("atom.relaxed.cluster.shared::cluster.max.u32 %0, [%1], %2;"
                 : "=r"(old) : "r"(of_rank(at(&s[1]), 3)), "r"(10 * rank + t) : "memory");
    if (t == 0)
        asm volatile("st.shared::cluster.v2.u32 [%0], {%1, %2};"
                     :: "r"(of_rank(at(&s[2]), (rank + 1) % 4)), "r"(rank), "r"(rank + 7) : "memory");
    unsigned own;
    unsigned long long wide;
    asm("cvta.shared::cluster.u64 %0, %1;" : "=l"(wide) : "l"((unsigned long long)of_rank(at(&s[4]), rank)));
    asm("getctarank.shared::cluster.u32 %0, %1;" : "=r"(own) : "r"(of_rank(at(s), (rank + 2) % 4)));
    unsigned inside, others;
    asm("{ .reg .pred p, q; isspacep.shared::cta p, %2; isspacep.shared::cluster q, %2;"
        " selp.u32 %0, 1, 0, p; selp.u32 %1, 1, 0, q; }" : "=r"(inside), "=r"(others) : "l"(wide));
    arrive();
    unsigned sum = own + 10 * inside + 100 * others;  // between the two, on its own
    wait();
    if (t == 0) {
        asm volatile("st.shared::cta.u32 [%0], %1;" :: "r"(of_rank(at(&s[4]), rank)), "r"(sum) : "memory");
        for (int i = 0; i < 5; ++i) out[rank * 5 + i] = s[i];
    }
}
"""


def test_stores_and_atomics_on_other_blocks(machine: Machine) -> None:
    out = machine.zeros((4, 5), u32)
    machine.run(machine.load(WORDS, 90), "words", 4, 32, out, cluster=(4, 1, 1))
    rank = np.arange(4)
    before = np.roll(rank, 1)
    expected = [np.full(4, 8 * 10), [0, 0, 0, 61], before, before + 7, (rank + 2) % 4 + 110]
    assert np.array_equal(out.get(), np.transpose(expected))


LEAVES = r"""
#define _CG_LIMIT_INCLUDED_DEPENDENCIES  // without libcu++, which takes NVRTC more than a second
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void leaves(int *out)
{
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x % 2 != blockIdx.x % 2) return;
    cluster.sync();
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
"""


def test_threads_that_have_exited_are_not_waited_for(machine: Machine) -> None:
    out = machine.zeros((2, 64), i32)
    machine.run(machine.load(LEAVES, 90), "leaves", 2, 64, out, cluster=(2, 1, 1))
    assert np.array_equal(out.get(), np.indices((2, 64)).sum(0) % 2 == 0)


FAULTS = r"""
#define _CG_LIMIT_INCLUDED_DEPENDENCIES  // without libcu++, which takes NVRTC more than a second
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
#define CLUSTER(what) asm volatile("barrier.cluster." what ";" ::: "memory")
extern "C" __global__ void past_the_end(int *out, int n)
{
    __shared__ int s[16];
    cg::cluster_group cluster = cg::this_cluster();
    s[threadIdx.x] = 1;
    cluster.sync();
    int *other = cluster.map_shared_rank(s, 1 - cluster.block_rank());
    if (threadIdx.x == 3) out[blockIdx.x] = other[n];
    cluster.sync();
}
extern "C" __global__ void nobody(int *out, int rank)
{
    __shared__ int s;
    s = 1;
    out[0] = *cg::this_cluster().map_shared_rank(&s, rank);
}
extern "C" __global__ void gone(int *out)
{
    __shared__ int s;
    cg::cluster_group cluster = cg::this_cluster();
    s = 5;
    cluster.sync();
    if (cluster.block_rank() == 1) return;
    int *other = cluster.map_shared_rank(&s, 1);
    for (volatile int i = 0; i < 3; ++i) __nanosleep(1);  // the other runs on
    out[0] = *other;
}
extern "C" __global__ void lonely(int *out)
{
    if (blockIdx.x == 0) { CLUSTER("arrive"); CLUSTER("wait"); }
    else __nanosleep(1), __syncthreads(), cg::this_thread_block().sync();
    if (blockIdx.x == 1) asm volatile("barrier.sync 3, 64;");
}
extern "C" __global__ void twice() { CLUSTER("arrive"); CLUSTER("arrive"); CLUSTER("wait"); }
extern "C" __global__ void unprepared() { CLUSTER("wait"); }
extern "C" __global__ void plain(int *out)
{
    __shared__ int s;
    s = 1;
    cg::this_cluster().sync();
    unsigned a = (unsigned)__cvta_generic_to_shared(&s), v;
    asm("mapa.shared::cluster.u32 %0, %0, %1;" : "+r"(a) : "r"(1 - blockIdx.x));
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(a));
    out[0] = v;
    cg::this_cluster().sync();
}
extern "C" __global__ void outside(int *out) { out[0] = *cg::this_cluster().map_shared_rank(out, 0); }
"""


def fail(machine: Machine, name: str, *arguments: Any, threads: int = 32) -> Fault:
    with pytest.raises(Fault) as found:
        machine.run(machine.load(FAULTS, 90), name, 2, threads, *arguments, cluster=(2, 1, 1))
    assert f"in {name}" in found.value.report or f"Deadlock in {name}" in found.value.report
    return found.value


def test_past_the_end_of_anothers_memory(machine: Machine) -> None:
    out = machine.zeros(4, i32)
    found = fail(machine, "past_the_end", out, i32(16), threads=16)
    assert found.status == fault.ILLEGAL_ADDRESS
    assert "Invalid __shared__ read of 4 bytes" in found.report
    assert "by block (0,0,0) thread (3,0,0)" in found.report
    assert "the block's __shared__ memory has 64 bytes" in found.report
    machine.run(machine.load(FAULTS, 90), "past_the_end", 2, 16, out, i32(15), cluster=(2, 1, 1))


def test_a_block_that_is_not_there(machine: Machine) -> None:
    found = fail(machine, "nobody", machine.zeros(1, i32), i32(2), threads=1)
    assert "mapa to a block that is not there: the cluster has 2" in found.report
    place = r"in nobody, (program\.cu|\S*/include/\S+):\d+, PTX line \d+"  # or a header that it includes
    assert re.search(place, found.report)
    assert "block (0,0,0) thread (0,0,0)" in found.report


def test_a_block_that_has_exited(machine: Machine) -> None:
    found = fail(machine, "gone", machine.zeros(1, i32), threads=1)
    assert "Invalid __shared__ read in a block that has exited" in found.report
    assert "block (0,0,0) thread (0,0,0)" in found.report


def test_a_cluster_that_waits_for_ever(machine: Machine) -> None:
    found = fail(machine, "lonely", machine.zeros(1, i32))
    assert found.status == fault.LAUNCH_TIMEOUT
    assert "32 threads wait for the barrier of their cluster, the first is block (0,0,0)" in found.report
    assert "barrier.cluster.wait" in found.report
    assert "32 threads wait for barrier 3, the first is block (1,0,0) thread (0,0,0)" in found.report


@pytest.mark.parametrize(
    "name, text",
    [("twice", "A second arrival at the barrier of the cluster"), ("unprepared", "without an arrival")],
)
def test_arrivals_and_waits_alternate(machine: Machine, name: str, text: str) -> None:
    found = fail(machine, name)
    assert found.status == fault.LAUNCH_FAILED
    assert text in found.report and "thread (0,0,0) and 63 more of 64" in found.report


def test_a_plain_access_is_of_the_own_block(machine: Machine) -> None:
    found = fail(machine, "plain", machine.zeros(1, i32), threads=1)
    assert "the address is of another block of the cluster, which takes shared::cluster" in found.report


def test_a_mapped_address_is_shared(machine: Machine) -> None:
    found = fail(machine, "outside", machine.zeros(1, i32), threads=1)
    assert found.status == fault.INVALID_ADDRESS_SPACE
    assert "mapa of an address outside of shared memory" in found.report


RACE = r"""
#define SYNC asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory")
extern "C" __global__ void given(int *out)
{
    __shared__ int s[32];
    int t = threadIdx.x, *other;
    s[t] = 0;
    FIRST;
    asm("mapa.u64 %0, %1, %2;" : "=l"(other) : "l"(s), "r"(1 - blockIdx.x));
    other[t] = t;
    SECOND;
    out[blockIdx.x * 32 + t] = s[t];
}
"""


@pytest.mark.parametrize("first, second", [("SYNC", "__syncthreads()"), ("__syncthreads()", "SYNC")])
def test_races_across_blocks(machine: Machine, first: str, second: str) -> None:
    out = machine.zeros((2, 32), i32)
    clean = RACE.replace("FIRST", "SYNC").replace("SECOND", "SYNC")
    machine.run(machine.load(clean, 90), "given", 2, 32, out, cluster=(2, 1, 1))
    assert np.array_equal(out.get(), [np.arange(32)] * 2)
    wrong = RACE.replace("FIRST", first).replace("SECOND", second)
    with pytest.raises(Fault, match="Race in __shared__ memory") as found:
        machine.run(machine.load(wrong, 90), "given", 2, 32, out, cluster=(2, 1, 1))
    assert "the other is block (" in found.value.report


def test_what_needs_newer_hardware_is_named(machine: Machine) -> None:
    source = """
extern "C" __global__ void k(float *x)
{ asm volatile("tcgen05.fence::before_thread_sync;" :: "l"(x) : "memory"); }
"""
    with pytest.raises(PTXError, match=r"line \d+: tcgen05\.fence.*it has no tcgen05 at all"):
        machine.load(source, 90)
