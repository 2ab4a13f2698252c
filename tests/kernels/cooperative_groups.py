"""Cooperative groups: tiles, partitions, collectives, grids and clusters."""

from __future__ import annotations

import numpy as np

from .kernel import Run, kernel
from .values import f32, f64, floats, i32, integers, near, same, u32, zeros

GROUPS = r"""
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
template <int SIZE> __device__ void tile(const int *in, int *out)
{
    auto group = cg::tiled_partition<SIZE>(cg::this_thread_block());
    int i = cg::this_grid().thread_rank(), n = cg::this_grid().size(), v = in[i];
    out[i] = cg::reduce(group, v, cg::plus<int>());
    out[n + i] = cg::reduce(group, v, cg::less<int>());
    out[2 * n + i] = cg::reduce(group, v, cg::bit_xor<int>());
    out[3 * n + i] = cg::inclusive_scan(group, v, cg::greater<int>());
    out[4 * n + i] = cg::exclusive_scan(group, v);
    out[5 * n + i] = group.shfl(v, group.size() - 1) + group.shfl_up(v, 1) * group.shfl_down(v,
        1) - group.shfl_xor(v, group.size() / 2);
    out[6 * n + i] = group.meta_group_rank() * 1000 + group.meta_group_size() + group.any(v > 90)
        + 2 * group.all(v > -90);
    out[7 * n + i] = group.ballot(v & 1) ^ group.match_any(v % 3);
}
extern "C" __global__ void tile_1(const int *in, int *out) { tile<1>(in, out); }
extern "C" __global__ void tile_4(const int *in, int *out) { tile<4>(in, out); }
extern "C" __global__ void tile_32(const int *in, int *out) { tile<32>(in, out); }
struct Wide { double a; float b; int c; };
extern "C" __global__ void wide(const Wide *in, Wide *out)
{
    auto group = cg::tiled_partition<8>(cg::this_thread_block());
    Wide mine = in[threadIdx.x];
    out[threadIdx.x] = cg::reduce(group, mine, [](Wide x, Wide y) {
        return Wide{x.a + y.a, fmaxf(x.b, y.b), x.c ^ y.c}; });
    Wide turned = group.shfl(mine, group.thread_rank() + 3);
    out[64 + threadIdx.x] = turned;
}
extern "C" __global__ void coalesced(const int *in, int *counters, int *out)
{
    int i = cg::this_thread_block().thread_rank(), v = in[i];
    out[i] = -1;
    if (v % 3 == 1) {
        auto active = cg::coalesced_threads();
        int first = 0;
        if (active.thread_rank() == 0) first = atomicAdd(counters, active.size());
        out[i] = active.shfl(first, 0) + active.thread_rank() + 1000 * cg::reduce(active, v, cg::plus<int>());
    } else if (v % 3 == 2) {
        auto active = cg::coalesced_threads();
        out[i] = cg::inclusive_scan(active, v, cg::plus<int>()) + 7 * active.num_threads()
            + active.shfl_down(v, 1) * 0;
    }
}
extern "C" __global__ void labelled(const int *in, int *out)
{
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int v = in[threadIdx.x];
    auto same = cg::labeled_partition(warp, v % 5);
    out[threadIdx.x] = same.size() * 100 + same.thread_rank() + 10000 * cg::reduce(same, v,
        cg::greater<int>());
    auto half = cg::binary_partition(warp, v > 0);
    out[96 + threadIdx.x] = half.size() * 100 + half.thread_rank();
    auto quarter = cg::tiled_partition<8>(warp);
    out[192 + threadIdx.x] = cg::reduce(cg::labeled_partition(quarter, v & 1), v, cg::plus<int>());
}
extern "C" __global__ void large(const int *in, int *out)
{
    __shared__ cg::block_tile_memory<256> memory;
    auto block = cg::this_thread_block(memory);
    auto group = cg::tiled_partition<128>(block);
    int v = in[block.thread_rank()];
    int sum = cg::reduce(group, v, cg::plus<int>());
    int scan = cg::inclusive_scan(group, v, cg::plus<int>());
    out[threadIdx.x] = sum;
    out[256 + threadIdx.x] = scan;
    group.sync();
    out[512 + threadIdx.x] = group.shfl(v, 100) + group.any(v == in[0]) + group.num_threads();
}
extern "C" __global__ void invoked(int *out)
{
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<16>(block);
    __shared__ int written;
    if (threadIdx.x == 0) written = 0;
    block.sync();
    cg::invoke_one(tile, [&] { atomicAdd(&written, 1); });
    int v = cg::invoke_one_broadcast(tile, [&] { return (int)tile.meta_group_rank() * 11; });
    auto token = block.barrier_arrive();
    out[threadIdx.x] = v;
    block.barrier_wait(cuda::std::move(token));
    out[64 + threadIdx.x] = written;
    auto dims = block.dim_threads();
    auto where = block.thread_index();
    out[128 + block.thread_rank()] = where.x + dims.x * (where.y + dims.y * where.z) - block.thread_rank();
}
extern "C" __global__ void updates(const int *in, int *totals, int *places)
{
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    __shared__ cuda::atomic<int, cuda::thread_scope_block> sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    cg::reduce_update_async(tile, sum, in[threadIdx.x], cg::plus<int>());
    __syncthreads();
    int place = cg::exclusive_scan_update(tile, sum, in[threadIdx.x] & 7, cg::plus<int>());
    places[threadIdx.x] = place;
    __syncthreads();
    if (threadIdx.x == 0) *totals = sum;
}
extern "C" __global__ void grid_wide(float *a, float *b, int side, int steps)
{
    auto grid = cg::this_grid();
    for (int s = 0; s < steps; ++s) {
        for (int i = grid.thread_rank(); i < side * side; i += grid.num_threads()) {
            int y = i / side, x = i % side;
            b[i] = y && x && y < side - 1 && x < side - 1 ? 0.25f * (a[i - 1] + a[i + 1] + a[i - side]
                + a[i + side]) : a[i];
        }
        auto token = grid.barrier_arrive();
        float *swap = a; a = b; b = swap;
        grid.barrier_wait(cuda::std::move(token));
    }
}
extern "C" __global__ void __cluster_dims__(4, 1, 1) cluster(const int *in, int *out)
{
    __shared__ int bins[16];
    auto all = cg::this_cluster();
    if (threadIdx.x < 16) bins[threadIdx.x] = 0;
    all.sync();
    for (int i = all.thread_rank(); i < 1000; i += all.num_threads()) {
        int value = in[blockIdx.x / 4 * 1000 + i];
        int *there = all.map_shared_rank(bins, value / 16);
        atomicAdd(there + value % 16, 1);
    }
    all.sync();
    if (threadIdx.x < 16) out[blockIdx.x * 16 + threadIdx.x] = bins[threadIdx.x];
    if (threadIdx.x == 20) out[gridDim.x * 16 + blockIdx.x] = all.block_rank() * 10
        + all.query_shared_rank(all.map_shared_rank(bins, 2));
    all.sync();
}
"""
GUIDE = "CUDA C++ Programming Guide, Cooperative Groups"


@kernel(GROUPS, after=GUIDE + ": tiles, reduce, scan, shuffles, votes", against="NumPy of rows", std="c++20")
def tiles(run: Run) -> None:
    """Tiles of 1, 4 and 32 threads: reductions, scans, shuffles, votes, matches."""
    v = integers(-100, 100, 192)
    for size in (1, 4, 32):
        out = zeros((8, 192), i32)
        run(f"tile_{size}", 2, 96, v, out)
        rows = v.reshape(-1, size)

        def all_of(column: np.ndarray, size: int = size) -> np.ndarray:
            return np.repeat(column, size)

        same(out[0], all_of(rows.sum(1)))
        same(out[1], all_of(rows.min(1)))
        same(out[2], all_of(np.bitwise_xor.reduce(rows, axis=1)))
        same(out[3], np.maximum.accumulate(rows, axis=1).ravel())
        same(out[4], (np.cumsum(rows, axis=1) - rows).ravel())
        lane = np.arange(size)
        up, down = rows[:, np.maximum(lane - 1, 0)], rows[:, np.minimum(lane + 1, size - 1)]
        same(out[5], (rows[:, -1:] + up * down - rows[:, lane ^ (size // 2)]).ravel())
        meta = np.tile(np.arange(96 // size), 2) * 1000 + 96 // size
        same(out[6], all_of(meta + (rows > 90).any(1) + 2 * (rows > -90).all(1)))
        ballots = ((rows & 1) << lane).sum(1)[:, None]
        thirds = np.fmod(rows, 3)
        matches = ((thirds[:, :, None] == thirds[:, None]) << lane.astype("i8")).sum(2)
        same(out[7].view(u32), (ballots ^ matches).ravel().astype(u32))


@kernel(GROUPS, after=GUIDE + ": reduce of any type", against="NumPy of rows", std="c++20")
def tiles_of_structs(run: Run) -> None:
    """Structs of 16 bytes: a reduction by a lambda, shuffles that wrap."""
    kind = np.dtype("f8,f4,i4")
    x, out = zeros(64, kind), zeros(128, kind)
    x["f0"], x["f1"], x["f2"] = integers(-9, 9, 64, f64), floats(64), integers(0, 99, 64)
    run("wide", 1, 64, x, out)
    rows = x.reshape(8, 8)
    same(out["f0"][:64], np.repeat(rows["f0"].sum(1), 8))
    same(out["f1"][:64], np.repeat(rows["f1"].max(1), 8))
    same(out["f2"][:64], np.repeat(np.bitwise_xor.reduce(rows["f2"], axis=1), 8))
    same(out[64:], np.roll(rows, -3, axis=1).ravel())


@kernel(GROUPS, after=GUIDE + ": coalesced_threads", against="NumPy of lanes", std="c++20")
def groups_coalesced(run: Run) -> None:
    """Groups of the threads that took a branch: atomics for all, reductions, scans."""
    v, counter, out = integers(0, 60, 96), zeros(1, i32), zeros(96, i32)
    run("coalesced", 1, 96, v, counter, out)
    ones = v % 3 == 1
    assert counter[0] == ones.sum()
    for warp, got in zip(v.reshape(3, 32), out.reshape(3, 32), strict=True):
        first, second = warp[warp % 3 == 1], warp[warp % 3 == 2]
        same(got[warp % 3 == 2], np.cumsum(second) + 7 * len(second))
        same(got[warp % 3 == 0], -1)
        if len(first):
            same(got[warp % 3 == 1] // 1000, first.sum())
    same(np.sort(out[ones] % 1000), np.arange(ones.sum()))


@kernel(GROUPS, after=GUIDE + ": labeled_partition, binary_partition", against="NumPy of labels", std="c++20")
def groups_labelled(run: Run) -> None:
    """Partitions of warps by a label, by a condition, and of tiles by a label."""
    v, out = integers(0, 50, 96), zeros((3, 96), i32)
    run("labelled", 1, 96, v, out)
    for w in range(0, 96, 32):
        warp = v[w : w + 32]
        for i, one in enumerate(warp):
            peers = np.flatnonzero(warp % 5 == one % 5)
            assert out[0, w + i] == len(peers) * 100 + np.searchsorted(peers, i) + 10000 * warp[peers].max()
            half = np.flatnonzero((warp > 0) == (one > 0))
            assert out[1, w + i] == len(half) * 100 + np.searchsorted(half, i)
            eight = warp[i // 8 * 8 :][:8]
            assert out[2, w + i] == eight[eight % 2 == one % 2].sum()


@kernel(GROUPS, after=GUIDE + ": tiles of several warps", against="NumPy of rows", std="c++20")
def tiles_of_several_warps(run: Run) -> None:
    """Tiles of 128 threads, which need memory of the block."""
    v, out = integers(-100, 100, (2, 128)), zeros((3, 2, 128), i32)
    run("large", 1, 256, v, out)
    same(out[0], np.repeat(v.sum(1), 128).reshape(2, 128))
    same(out[1], np.cumsum(v, axis=1))
    same(out[2][:, 0], v[:, 100] + (v == v[0, 0]).any(1) + 128)


@kernel(GROUPS, after=GUIDE + ": invoke_one, barrier_arrive", against="closed forms", std="c++20")
def groups_invoke_one(run: Run) -> None:
    """One thread of each tile does it and tells the others; a barrier in two halves."""
    out = np.full(192, -1, i32)
    run("invoked", 1, 64, out)
    same(out[:64], np.repeat(np.arange(4) * 11, 16))
    same(out[64:128], 4)
    same(out[128:], 0)


@kernel(
    GROUPS, after=GUIDE + ": reduce_update_async, exclusive_scan_update", against="numpy.sum", std="c++20"
)
def groups_update(run: Run) -> None:
    """Collectives that add to an atomic of the block."""
    v, total, places = integers(0, 100, 128), zeros(1, i32), zeros(128, i32)
    run("updates", 1, 128, v, total, places)
    assert total[0] == v.sum() + (v & 7).sum()
    for warp, got in zip(v.reshape(4, 32) & 7, places.reshape(4, 32), strict=True):
        same(got - got[0], np.cumsum(warp) - warp)
    starts = np.sort(places.reshape(4, 32)[:, 0])
    assert starts[0] == v.sum()


@kernel(
    GROUPS,
    after=GUIDE + ": grid synchronization; Jacobi's method",
    against="the same steps in numpy.float32",
    std="c++20",
)
def grid_barrier_split(run: Run) -> None:
    """A stencil of ten steps in one launch, barriers of the grid in two halves."""
    a, b = floats((29, 29)), zeros((29, 29))
    want = a.copy()
    run("grid_wide", 4, 96, a, b, 29, 10, is_cooperative=True)
    for _ in range(10):
        new = want.copy()
        left_right, above_below = want[1:-1, :-2] + want[1:-1, 2:], want[:-2, 1:-1]
        new[1:-1, 1:-1] = f32(0.25) * (left_right + above_below + want[2:, 1:-1])
        want = new
    near(a, want, 1e-5, 1e-6)


@kernel(
    GROUPS,
    after="CUDA C++ Programming Guide, Distributed Shared Memory",
    against="numpy.bincount",
    std="c++20",
    arch="sm_90",
)
def cluster_histogram(run: Run) -> None:
    """Bins spread over the shared memory of a cluster's four blocks; two clusters."""
    x, out = integers(0, 64, (2, 1000)), zeros(8 * 16 + 8, i32)
    run("cluster", 8, 64, x, out)
    same(out[:128].reshape(2, 64), [np.bincount(row, minlength=64) for row in x])
    same(out[128:], np.tile(np.arange(4) * 10 + 2, 2))
