"""Copies that go on beside the kernel: cp.async, bulk copies with mbarriers, clusters."""

from __future__ import annotations

import numpy as np

from .kernel import Run, kernel
from .values import f32, floats, i32, integers, near, same, u8, zeros

STAGES = r"""
template <int BYTES> __device__ void copy(void *to, const void *from, int valid)
{
    unsigned where = __cvta_generic_to_shared(to);
    if constexpr (BYTES == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(where), "l"(from),
            "r"(valid) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" :: "r"(where), "l"(from),
            "n"(BYTES), "r"(valid) : "memory");
}
#define COMMIT asm volatile("cp.async.commit_group;" ::: "memory")
template <int LEFT> __device__ void wait()
{
    asm volatile("cp.async.wait_group %0;" :: "n"(LEFT) : "memory");
}
// a product of matrices in tiles of 16, three stages ahead
extern "C" __global__ void product(const float *a, const float *b, float *c, int n, int k)
{
    __shared__ alignas(16) float left[3][16][16], right[3][16][16];
    int t = threadIdx.x, row = t / 16, column = t % 16, tiles = k / 16;
    auto fetch = [&](int tile) {
        if (tile < tiles && t < 64)
            copy<16>(&left[tile % 3][t / 4][t % 4 * 4], a + (blockIdx.y * 16 + t / 4) * k + tile * 16
                + t % 4 * 4, 16);
        else if (tile < tiles && t < 128) {
            int u = t - 64;
            copy<16>(&right[tile % 3][u / 4][u % 4 * 4], b + (tile * 16 + u / 4) * n + blockIdx.x * 16
                + u % 4 * 4, 16);
        }
        COMMIT;
    };
    float sum = 0;
    fetch(0);
    fetch(1);
    for (int tile = 0; tile < tiles; ++tile) {
        wait<1>();
        __syncthreads();
        fetch(tile + 2);
        for (int i = 0; i < 16; ++i) sum += left[tile % 3][row][i] * right[tile % 3][i][column];
    }
    c[(blockIdx.y * 16 + row) * n + blockIdx.x * 16 + column] = sum;
}
extern "C" __global__ void partial(const unsigned char *in, unsigned char *out, int n)
{
    __shared__ alignas(16) unsigned char s[3][512];
    int t = threadIdx.x;
    for (int i = t; i < 1536; i += 32) (&s[0][0])[i] = 255;
    __syncwarp();
    copy<16>(&s[0][16 * t], in + 16 * t, min(max(n - 16 * t, 0), 16));  // the rest of the 16 is zero
    copy<8>(&s[1][8 * t], in + 8 * t, min(max(n - 8 * t, 0), 8));
    copy<4>(&s[2][4 * t], in + 4 * t, min(max(n - 4 * t, 0), 4));
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncwarp();
    for (int i = t; i < 1536; i += 32) out[i] = (&s[0][0])[i];
}
extern "C" __global__ void arrive(const int *in, int *out)
{
    __shared__ int s[96];
    __shared__ unsigned long long bar;
    unsigned where = __cvta_generic_to_shared(&bar);
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(where),
        "r"(blockDim.x) : "memory");
    __syncthreads();
    for (int round = 0; round < 3; ++round) {
        copy<4>(s + (threadIdx.x + round) % 96, in + round * 96 + threadIdx.x, 4);
        asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" :: "r"(where) : "memory");
        int done = 0;
        while (!done)
            asm volatile("{\n"
                ".reg .pred p;\n"
                "mbarrier.test_wait.parity.shared.b64 p, [%1], %2;\n"
                "selp.b32 %0, 1, 0, p;\n"
                "}"
                         : "=r"(done) : "r"(where), "r"(round & 1) : "memory");
        out[round * 96 + threadIdx.x] = s[95 - threadIdx.x];
        __syncthreads();
    }
}
"""
ISA = "PTX ISA, Data Movement: Asynchronous Copies"


@kernel(STAGES, after=ISA + ", cp.async.wait_group", against="numpy @")
def copies_in_three_stages(run: Run) -> None:
    """A product of matrices whose tiles come two stages ahead."""
    a, b, c = integers(-4, 5, (32, 80), f32), integers(-4, 5, (80, 48), f32), zeros((32, 48))
    run("product", (3, 2), 256, a, b, c, 48, 80)
    same(c, a @ b)


@kernel(STAGES, after=ISA + ", src-size", against="NumPy")
def copies_with_zeros(run: Run) -> None:
    """Copies of 16, 8 and 4 bytes of which only the first are read."""
    x = integers(1, 255, 512, u8)
    for n in (512, 203, 64, 0):
        out = zeros(1536, u8)
        run("partial", 1, 32, x, out, n)
        want = np.full((3, 512), 255, u8)
        for row, each in zip(want, (16, 8, 4), strict=True):
            row[: 32 * each] = np.where(np.arange(32 * each) < n, x[: 32 * each], 0)
        same(out, want.ravel())


@kernel(STAGES, after=ISA + ", cp.async.mbarrier.arrive.noinc", against="NumPy")
def copies_that_arrive(run: Run) -> None:
    """An mbarrier counts the copies of three rounds, waits by parity."""
    x, out = integers(0, 999, (3, 96)), zeros((3, 96), i32)
    run("arrive", 1, 96, x, out)
    same(out, [np.roll(row, r)[::-1] for r, row in enumerate(x)])


BULK = r"""
__device__ unsigned at(const void *p) { return __cvta_generic_to_shared(p); }
__device__ void wait(unsigned bar, int parity)
{
    int done = 0;
    while (!done)
        asm volatile("{\n"
            ".reg .pred p;\n"
            "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
            "selp.b32 %0, 1, 0, p;\n"
            "}"
                     : "=r"(done) : "r"(bar), "r"(parity) : "memory");
}
extern "C" __global__ void bulk(const int *in, int *out, int *sums, int tiles)
{
    __shared__ alignas(128) int s[2][256];
    __shared__ unsigned long long full[2];
    if (threadIdx.x < 2) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(at(full
        + threadIdx.x)) : "memory");
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    auto load = [&](int tile) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 1024;" :: "r"(at(full
            + tile % 2)) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
            "[%0], [%1], 1024, [%2];"
                     :: "r"(at(s[tile % 2])), "l"(in + tile * 256), "r"(at(full + tile % 2)) : "memory");
    };
    if (threadIdx.x == 0) { load(0); if (tiles > 1) load(1); }
    for (int t = 0; t < tiles; ++t) {
        wait(at(full + t % 2), t / 2 & 1);
        for (int i = threadIdx.x; i < 256; i += blockDim.x) s[t % 2][i] = s[t % 2][i] * 2 + t;
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if (threadIdx.x == 0) {
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 1024;" :: "l"(out
                + t * 256), "r"(at(s[t % 2])) : "memory");
            asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], 1024;"
                :: "l"(sums), "r"(at(s[t % 2])) : "memory");
            asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;" ::: "memory");
            if (t + 2 < tiles) load(t + 2);
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
extern "C" __global__ void __cluster_dims__(2, 1, 1) ring(const float *in, float *out)
{
    __shared__ alignas(16) float mine[64], received[64];
    __shared__ unsigned long long bar;
    unsigned rank, other, far_data, far_bar;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    other = rank ^ 1;
    mine[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(at(&bar)) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 256;" :: "r"(at(&bar)) : "memory");
    }
    asm volatile("fence.proxy.async;\nfence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(far_data) : "r"(at(received)), "r"(other));
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(far_bar) : "r"(at(&bar)), "r"(other));
    if (threadIdx.x == 0)
        asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
            "[%0], [%1], 256, [%2];"
                     :: "r"(far_data), "r"(at(mine)), "r"(far_bar) : "memory");
    wait(at(&bar), 0);
    out[blockIdx.x * 64 + threadIdx.x] = received[63 - threadIdx.x] + mine[threadIdx.x];
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}
extern "C" __global__ void __cluster_dims__(4, 1, 1) cast(const int *in, int *out)
{
    __shared__ alignas(128) int s[64];
    __shared__ unsigned long long bar;
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n"
            "fence.mbarrier_init.release.cluster;" :: "r"(at(&bar)) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(at(&bar)),
            "r"(rank == 2 ? 0 : 256) : "memory");
    }
    for (int i = threadIdx.x; i < 64; i += 32) s[i] = -1;
    asm volatile("fence.proxy.async;\n"
        "barrier.cluster.arrive.aligned;\n"
        "barrier.cluster.wait.aligned;" ::: "memory");
    if (threadIdx.x == 0 && rank == 1)
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
            "[%0], [%1], 256, [%2], %3;"
                     :: "r"(at(s)), "l"(in), "r"(at(&bar)), "h"((unsigned short)0xb) : "memory");
    wait(at(&bar), 0);
    for (int i = threadIdx.x; i < 64; i += 32) out[rank * 64 + i] = s[i];
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}
"""


@kernel(BULK, after=ISA + ", cp.async.bulk, cp.reduce.async.bulk", against="NumPy", arch="sm_90")
def bulk_copies(run: Run) -> None:
    """Tiles in by mbarriers that count bytes, out in groups, and added to sums in memory."""
    for tiles in (1, 5):
        x, out, sums = integers(-99, 99, (tiles, 256)), zeros((tiles, 256), i32), zeros(256, i32)
        run("bulk", 1, 96, x, out, sums, tiles)
        same(out, 2 * x + np.arange(tiles)[:, None])
        same(sums, out.sum(0))


@kernel(BULK, after=ISA + ", from one block of a cluster to another", against="NumPy", arch="sm_90")
def bulk_copies_in_a_cluster(run: Run) -> None:
    """Two blocks send each other their shared memory."""
    x, out = floats((6, 64)), zeros((6, 64))
    run("ring", 6, 64, x, out)
    same(out, x.reshape(3, 2, 64)[:, ::-1, ::-1].reshape(6, 64) + x)


@kernel(BULK, after=ISA + ", multicast", against="NumPy", arch="sm_90")
def bulk_copies_multicast(run: Run) -> None:
    """One copy into three of four blocks."""
    x, out = integers(0, 999, 64), zeros((4, 64), i32)
    run("cast", 4, 32, x, out)
    same(out, [x, x, np.full(64, -1), x])


@kernel(
    r"""
// warps in pairs by named barriers: producers arrive, consumers wait, in both directions
extern "C" __global__ void named(const float *in, float *out, int rounds)
{
    __shared__ float buffer[2][2][32];
    int pair = threadIdx.x / 64, lane = threadIdx.x % 32, consumer = threadIdx.x / 32 % 2;
    for (int r = 0; r < rounds; ++r) {
        int full = 1 + pair * 4 + r % 2, empty = 3 + pair * 4 + r % 2;
        if (!consumer) {
            if (r >= 2) asm volatile("barrier.sync %0, 64;" :: "r"(empty) : "memory");
            buffer[pair][r % 2][lane] = in[(pair * rounds + r) * 32 + lane];
            asm volatile("barrier.arrive %0, 64;" :: "r"(full) : "memory");
        } else {
            asm volatile("barrier.sync %0, 64;" :: "r"(full) : "memory");
            out[(pair * rounds + r) * 32 + lane] = buffer[pair][r % 2][31 - lane] + r;
            if (r + 2 < rounds) asm volatile("barrier.arrive %0, 64;" :: "r"(empty) : "memory");
        }
    }
}
""",
    after="Bauer, Cook, Khailany, CudaDMA (2011); PTX ISA, barrier",
    against="NumPy",
)
def warps_with_roles(run: Run) -> None:
    """Named barriers whose numbers are known at run time, arrivals without waiting."""
    x, out = floats((2, 7, 32)), zeros((2, 7, 32))
    run("named", 1, 128, x, out, 7)
    near(out, x[:, :, ::-1] + np.arange(7, dtype=f32)[:, None], 1e-6)
