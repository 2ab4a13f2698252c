"""CUB's primitives of a block and of a warp, in one source: its headers take NVRTC a second."""

from __future__ import annotations

import numpy as np

from .kernel import Run, kernel
from .values import f32, f64, floats, i16, i32, integers, same, u8, u32, u64, zeros

CODE = r"""
#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_rank.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_run_length_decode.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_shuffle.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_exchange.cuh>
#include <cub/warp/warp_load.cuh>
#include <cub/warp/warp_merge_sort.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
#include <cub/warp/warp_store.cuh>
using namespace cub;

struct Larger { template <typename T> __device__ T operator()(T a, T b) const { return a < b ? b : a; } };
struct Less { template <typename T> __device__ bool operator()(T a, T b) const { return a < b; } };

template <typename T, int SIZE, BlockReduceAlgorithm HOW> __device__ void reduce(const T *in, T *out,
    int valid)
{
    using Reduce = BlockReduce<T, SIZE, HOW>;
    __shared__ typename Reduce::TempStorage storage;
    T mine = in[blockIdx.x * SIZE + threadIdx.x];
    T sum = Reduce(storage).Sum(mine);
    __syncthreads();
    T part = Reduce(storage).Sum(mine, valid);
    __syncthreads();
    T most = Reduce(storage).Reduce(mine, Larger(), valid);
    if (!threadIdx.x) { out[3 * blockIdx.x] = sum; out[3 * blockIdx.x + 1] = part;
        out[3 * blockIdx.x + 2] = most; }
}
extern "C" __global__ void reduce_raking(const int *in, int *out, int valid)
{
    reduce<int, 100, BLOCK_REDUCE_RAKING>(in, out, valid);
}
extern "C" __global__ void reduce_commutative(const double *in, double *out, int valid)
{
    reduce<double, 128, BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>(in, out, valid);
}
extern "C" __global__ void reduce_warps(const long long *in, long long *out, int valid)
{
    reduce<long long, 96, BLOCK_REDUCE_WARP_REDUCTIONS>(in, out, valid);
}
template <typename T, int SIZE, int EACH, BlockScanAlgorithm HOW> __device__ void scan(const T *in,
    T *out, T *total)
{
    using Load = BlockLoad<T, SIZE, EACH, BLOCK_LOAD_TRANSPOSE>;
    using Store = BlockStore<T, SIZE, EACH, BLOCK_STORE_WARP_TRANSPOSE>;
    using Scan = BlockScan<T, SIZE, HOW>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Scan::TempStorage scan;
        typename Store::TempStorage store;
    } shared;
    T items[EACH], all;
    Load(shared.load).Load(in, items);
    __syncthreads();
    Scan(shared.scan).ExclusiveSum(items, items, all);
    __syncthreads();
    Store(shared.store).Store(out, items);
    if (threadIdx.x == SIZE - 1) *total = all;
}
extern "C" __global__ void scan_raking(const int *in, int *out, int *total)
{
    scan<int, 64, 5, BLOCK_SCAN_RAKING>(in, out, total);
}
extern "C" __global__ void scan_warps(const short *in, short *out, short *total)
{
    scan<short, 128, 3, BLOCK_SCAN_WARP_SCANS>(in, out, total);
}
extern "C" __global__ void scan_memoize(const double *in, double *out, double *total)
{
    scan<double, 32, 7, BLOCK_SCAN_RAKING_MEMOIZE>(in, out, total);
}
struct Carry {
    int running;
    __device__ int operator()(int sum) { int old = running; running = max(running, sum); return old; }
};
extern "C" __global__ void scan_tiles(const int *in, int *out, int tiles)
{
    using Scan = BlockScan<int, 64>;
    __shared__ typename Scan::TempStorage storage;
    Carry carry{-1000};
    for (int t = 0; t < tiles; ++t) {
        int value = in[t * 64 + threadIdx.x];
        Scan(storage).InclusiveScan(value, value, Larger(), carry);
        out[t * 64 + threadIdx.x] = value;
        __syncthreads();
    }
}
template <typename Key, typename Value, int SIZE, int EACH> __device__ void radix(Key *keys,
    Value *values, bool down, int begin, int end)
{
    using Sort = BlockRadixSort<Key, SIZE, EACH, Value>;
    __shared__ typename Sort::TempStorage storage;
    Key k[EACH];
    Value v[EACH];
    LoadDirectBlocked(threadIdx.x, keys, k);
    LoadDirectBlocked(threadIdx.x, values, v);
    if (down) Sort(storage).SortDescending(k, v, begin, end);
        else Sort(storage).SortBlockedToStriped(k, v, begin, end);
    if (down) { StoreDirectBlocked(threadIdx.x, keys, k); StoreDirectBlocked(threadIdx.x, values, v); }
    else { StoreDirectStriped<SIZE>(threadIdx.x, keys, k); StoreDirectStriped<SIZE>(threadIdx.x, values, v); }
}
extern "C" __global__ void radix_floats(float *keys, unsigned char *values, int down)
{
    radix<float, unsigned char, 64, 3>(keys, values, down, 0, 32);
}
extern "C" __global__ void radix_longs(unsigned long long *keys, double *values, int down)
{
    radix<unsigned long long, double, 96, 2>(keys, values, down, 8, 44);
}
extern "C" __global__ void merge_sort(int *keys, short *values, int valid)
{
    using Sort = BlockMergeSort<int, 128, 3, short>;
    __shared__ typename Sort::TempStorage storage;
    int k[3];
    short v[3];
    LoadDirectBlocked(threadIdx.x, keys, k);
    LoadDirectBlocked(threadIdx.x, values, v);
    Sort(storage).StableSort(k, v, Less(), valid, 1 << 30);
    StoreDirectBlocked(threadIdx.x, keys, k);
    StoreDirectBlocked(threadIdx.x, values, v);
}
template <BlockHistogramAlgorithm HOW> __device__ void histogram(const unsigned char *in, unsigned *out)
{
    using Histogram = BlockHistogram<unsigned char, 96, 4, 50, HOW>;
    __shared__ typename Histogram::TempStorage storage;
    __shared__ unsigned bins[50];
    unsigned char items[4];
    LoadDirectStriped<96>(threadIdx.x, in, items);
    Histogram(storage).Histogram(items, bins);
    __syncthreads();
    if (threadIdx.x < 50) out[threadIdx.x] = bins[threadIdx.x];
}
extern "C" __global__ void histogram_atomic(const unsigned char *in, unsigned *out) {
    histogram<BLOCK_HISTO_ATOMIC>(in, out); }
extern "C" __global__ void histogram_sort(const unsigned char *in, unsigned *out) {
    histogram<BLOCK_HISTO_SORT>(in, out); }
struct Differ { __device__ bool operator()(int a, int b) const { return a != b; } };
struct Minus { __device__ int operator()(int a, int b) const { return a - b; } };
extern "C" __global__ void neighbours(const int *in, int *heads, int *tails, int *left, int *right)
{
    using Discontinuity = BlockDiscontinuity<int, 64>;
    using Difference = BlockAdjacentDifference<int, 64>;
    __shared__ union { typename Discontinuity::TempStorage flags;
        typename Difference::TempStorage difference; } shared;
    int items[3], a[3], b[3];
    LoadDirectBlocked(threadIdx.x, in, items);
    Discontinuity(shared.flags).FlagHeadsAndTails(a, b, items, Differ());
    StoreDirectBlocked(threadIdx.x, heads, a);
    StoreDirectBlocked(threadIdx.x, tails, b);
    __syncthreads();
    Difference(shared.difference).SubtractLeft(items, a, Minus(), 100);
    __syncthreads();
    Difference(shared.difference).SubtractRight(items, b, Minus());
    StoreDirectBlocked(threadIdx.x, left, a);
    StoreDirectBlocked(threadIdx.x, right, b);
}
extern "C" __global__ void exchange(const short *in, short *striped, short *scattered, const int *ranks)
{
    using Exchange = BlockExchange<short, 64, 4>;
    __shared__ typename Exchange::TempStorage storage;
    short items[4], out[4];
    int to[4];
    LoadDirectBlocked(threadIdx.x, in, items);
    LoadDirectBlocked(threadIdx.x, ranks, to);
    Exchange(storage).BlockedToStriped(items, out);
    StoreDirectBlocked(threadIdx.x, striped, out);
    __syncthreads();
    Exchange(storage).ScatterToBlocked(items, out, to);
    StoreDirectBlocked(threadIdx.x, scattered, out);
}
extern "C" __global__ void shuffled(const int *in, int *out)
{
    using Shuffle = BlockShuffle<int, 64>;
    __shared__ typename Shuffle::TempStorage storage;
    int mine = in[threadIdx.x], other = -1;
    Shuffle(storage).Offset(mine, other, 5);
    out[threadIdx.x] = other;
    __syncthreads();
    Shuffle(storage).Rotate(mine, other, 63);
    out[64 + threadIdx.x] = other;
    __syncthreads();
    int items[2] = {mine, -mine}, up[2] = {0, 0}, last;
    Shuffle(storage).Up(items, up, last);
    out[128 + 2 * threadIdx.x] = up[0];
    out[129 + 2 * threadIdx.x] = up[1];
    if (threadIdx.x == 3) out[256] = last;
}
extern "C" __global__ void decode(const unsigned *values, const unsigned *lengths, unsigned *out,
    unsigned *total)
{
    using Decode = BlockRunLengthDecode<unsigned, 32, 2, 3>;
    __shared__ typename Decode::TempStorage storage;
    unsigned v[2], l[2], size = 0, items[3];
    LoadDirectBlocked(threadIdx.x, values, v);
    LoadDirectBlocked(threadIdx.x, lengths, l);
    Decode decoder(storage, v, l, size);
    for (unsigned done = 0; done < size; done += 96) {
        decoder.RunLengthDecode(items, done);
        StoreDirectBlocked(threadIdx.x, out + done, items, min(96u, size - done));
        __syncthreads();
    }
    if (!threadIdx.x) *total = size;
}
template <int LANES> __device__ void warps(const int *in, int *sums, int *heads, int *scans)
{
    using Reduce = WarpReduce<int, LANES>;
    using Scan = WarpScan<int, LANES>;
    __shared__ typename Reduce::TempStorage reduce[64 / LANES];
    __shared__ typename Scan::TempStorage scan[64 / LANES];
    int t = threadIdx.x, group = t / LANES, mine = in[t], all;
    int sum = Reduce(reduce[group]).Sum(mine);
    if (t % LANES == 0) sums[group] = sum;
    __syncwarp();
    int head = Reduce(reduce[group]).HeadSegmentedSum(mine, mine % 3 == 0);
    heads[t] = head;
    int inclusive, exclusive;
    Scan(scan[group]).Scan(mine, inclusive, exclusive, 0, [](int a, int b) { return a + b; });
    __syncwarp();
    Scan(scan[group]).InclusiveScan(mine, all, Larger());
    scans[t] = inclusive;
    scans[64 + t] = exclusive;
    scans[128 + t] = all;
}
extern "C" __global__ void warps_32(const int *in, int *sums, int *heads, int *scans) {
    warps<32>(in, sums, heads, scans); }
extern "C" __global__ void warps_8(const int *in, int *sums, int *heads, int *scans) {
    warps<8>(in, sums, heads, scans); }
extern "C" __global__ void warp_sort(const float *in, float *out)
{
    using Load = WarpLoad<float, 5, WARP_LOAD_TRANSPOSE, 16>;
    using Sort = WarpMergeSort<float, 5, 16>;
    using Store = WarpStore<float, 5, WARP_STORE_TRANSPOSE, 16>;
    __shared__ union { typename Load::TempStorage l; typename Sort::TempStorage m;
        typename Store::TempStorage s; } shared[4];
    int group = threadIdx.x / 16;
    float items[5];
    Load(shared[group].l).Load(in + group * 80, items);
    __syncwarp();
    Sort(shared[group].m).Sort(items, Less());
    __syncwarp();
    Store(shared[group].s).Store(out + group * 80, items);
}
extern "C" __global__ void loads(const unsigned char *in, unsigned char *out, int valid)
{
    using Load = BlockLoad<unsigned char, 64, 8, BLOCK_LOAD_VECTORIZE>;
    using Guarded = BlockLoad<unsigned char, 64, 8, BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED>;
    using Store = BlockStore<unsigned char, 64, 8, BLOCK_STORE_STRIPED>;
    __shared__ typename Guarded::TempStorage guarded;
    unsigned char items[8];
    Load().Load(in, items);
    BlockStore<unsigned char, 64, 8, BLOCK_STORE_VECTORIZE>().Store(out, items);
    Guarded(guarded).Load(in, items, valid, 99);
    Store().Store(out + 512, items);
}
"""
DOCUMENTED = "CUB, Block-wide and Warp-wide Collectives"
MERRILL = "Merrill and Grimshaw, High Performance and Scalable Radix Sorting (2011)"


@kernel(CODE, after=DOCUMENTED + ": BlockReduce", against="numpy.sum, numpy.max")
def cub_block_reduce(run: Run) -> None:
    """All three algorithms, of 100, 128 and 96 threads, whole and of a part."""
    for name, size, kind in (
        ("reduce_raking", 100, i32),
        ("reduce_commutative", 128, f64),
        ("reduce_warps", 96, "i8"),
    ):
        x, out = integers(-(10**6), 10**6, (3, size), kind), zeros((3, 3), kind)
        for valid in (1, 33, 70, size):
            run(name, 3, size, x, out, valid)
            same(out, np.stack([x.sum(1), x[:, :valid].sum(1), x[:, :valid].max(1)], 1))


@kernel(CODE, after=DOCUMENTED + ": BlockScan, BlockLoad, BlockStore", against="numpy.cumsum")
def cub_block_scan(run: Run) -> None:
    """All three algorithms, several items a thread; loads and stores that transpose."""
    for name, size, each, kind in (
        ("scan_raking", 64, 5, i32),
        ("scan_warps", 128, 3, i16),
        ("scan_memoize", 32, 7, f64),
    ):
        x = integers(-20, 20, size * each, kind)
        out, total = np.empty_like(x), zeros(1, kind)
        run(name, 1, size, x, out, total)
        same(out, np.cumsum(x) - x)
        same(total, x.sum())


@kernel(CODE, after=DOCUMENTED + ": BlockScan with a prefix callback", against="numpy.maximum.accumulate")
def cub_block_scan_of_tiles(run: Run) -> None:
    """One tile after the other; a functor with a state carries the prefix."""
    x = integers(-1000, 1000, 5 * 64)
    out = np.empty_like(x)
    run("scan_tiles", 1, 64, x, out, 5)
    same(out, np.maximum.accumulate(x))


@kernel(CODE, after=MERRILL + "; " + DOCUMENTED + ": BlockRadixSort", against="numpy.argsort, stable")
def cub_block_radix_sort(run: Run) -> None:
    """Floats with bytes, and bits 8 to 44 of 64-bit keys with doubles, up and down."""
    for down in (0, 1):
        keys, values = integers(-60, 60, 192, f32), np.arange(192, dtype=u8)
        order = (-keys if down else keys).argsort(kind="stable")
        want = keys[order], values[order]
        run("radix_floats", 1, 64, keys, values, down)
        same(keys, want[0])
        same(values, want[1])
        longs = np.random.default_rng(1).integers(0, 2**63, 192).astype(u64) & u64(0x70000F00F000FF)
        numbers, part = floats(192, f64), (longs >> u64(8) & u64(2**36 - 1)).astype("i8")
        order = (-part if down else part).argsort(kind="stable")
        want = longs[order], numbers[order]
        run("radix_longs", 1, 96, longs, numbers, down)
        same(longs, want[0])
        same(numbers, want[1])


@kernel(CODE, after=DOCUMENTED + ": BlockMergeSort", against="numpy.argsort, stable")
def cub_block_merge_sort(run: Run) -> None:
    """Pairs, of which only the first are valid."""
    for valid in (384, 200, 1):
        keys, values = integers(0, 50, 384), np.arange(384, dtype=i16)
        order = keys[:valid].argsort(kind="stable")
        want = keys[order], values[order]
        run("merge_sort", 1, 128, keys, values, valid)
        same(keys[:valid], want[0])
        same(values[:valid], want[1])


@kernel(CODE, after=DOCUMENTED + ": BlockHistogram", against="numpy.bincount")
def cub_block_histogram(run: Run) -> None:
    """By atomics, and by sorting."""
    x = integers(0, 50, 384, u8)
    for name in ("histogram_atomic", "histogram_sort"):
        bins = zeros(50, u32)
        run(name, 1, 96, x, bins)
        same(bins, np.bincount(x, minlength=50))


@kernel(CODE, after=DOCUMENTED + ": BlockDiscontinuity, BlockAdjacentDifference", against="numpy.diff")
def cub_block_neighbours(run: Run) -> None:
    """Heads and tails of runs; differences to the left and right."""
    x = np.sort(integers(0, 40, 192))
    heads, tails, left, right = (zeros(192, i32) for _ in range(4))
    run("neighbours", 1, 64, x, heads, tails, left, right)
    changes = np.diff(x) != 0
    same(heads, np.r_[1, changes])
    same(tails, np.r_[changes, 1])
    same(left, np.diff(x, prepend=100))
    same(right, np.r_[-np.diff(x), x[-1]])


@kernel(CODE, after=DOCUMENTED + ": BlockExchange, BlockShuffle", against="numpy.reshape, numpy.roll")
def cub_block_exchange(run: Run) -> None:
    """Blocked to striped, scattered by ranks; shuffles across a block."""
    x, ranks = integers(-999, 999, 256, i16), np.random.default_rng(3).permutation(256).astype(i32)
    striped, scattered = np.empty_like(x), np.empty_like(x)
    run("exchange", 1, 64, x, striped, scattered, ranks)
    same(striped, x.reshape(4, 64).T.ravel())
    want = np.empty_like(x)
    want[ranks] = x
    same(scattered, want)
    y, out = integers(0, 999, 64), zeros(257, i32)
    run("shuffled", 1, 64, y, out)
    same(out[:59], y[5:])
    same(out[64:128], np.roll(y, -63))
    both = np.stack([y, -y], 1).ravel()
    same(out[129:256], both[:-1])
    same(out[256], both[-1])


@kernel(CODE, after=DOCUMENTED + ": BlockRunLengthDecode", against="numpy.repeat")
def cub_block_run_length_decode(run: Run) -> None:
    """Runs of different lengths, a window at a time."""
    values, lengths = integers(0, 999, 64, u32), integers(1, 12, 64, u32, seed=1)
    want = np.repeat(values, lengths)
    out, total = zeros(len(want), u32), zeros(1, u32)
    run("decode", 1, 32, values, lengths, out, total)
    same(total, len(want))
    same(out, want)


@kernel(CODE, after=DOCUMENTED + ": WarpReduce, WarpScan", against="numpy.cumsum, numpy.maximum.accumulate")
def cub_warp_reduce_and_scan(run: Run) -> None:
    """Warps of 32 and of 8 lanes; sums of segments; a lambda for an operator."""
    x = integers(-100, 100, 64)
    for lanes in (32, 8):
        sums, heads, scans = zeros(64 // lanes, i32), zeros(64, i32), zeros((3, 64), i32)
        run(f"warps_{lanes}", 1, 64, x, sums, heads, scans)
        rows = x.reshape(-1, lanes)
        same(sums, rows.sum(1))
        inclusive = np.cumsum(rows, axis=1)
        same(
            scans,
            [inclusive.ravel(), (inclusive - rows).ravel(), np.maximum.accumulate(rows, axis=1).ravel()],
        )
        for row, got in zip(rows, heads.reshape(-1, lanes), strict=True):
            starts = np.unique(np.r_[0, np.flatnonzero(row % 3 == 0)])
            same(got[starts], np.add.reduceat(row, starts))


@kernel(CODE, after=DOCUMENTED + ": WarpMergeSort, WarpLoad, WarpStore", against="numpy.sort")
def cub_warp_merge_sort(run: Run) -> None:
    """Five floats a lane in warps of 16 lanes."""
    x = floats((4, 80))
    out = np.empty_like(x)
    run("warp_sort", 1, 64, x, out)
    same(out, np.sort(x, axis=1))


@kernel(CODE, after=DOCUMENTED + ": BlockLoad", against="the same bytes")
def cub_block_load(run: Run) -> None:
    """Vectors of bytes; a part with a default for the rest, by time slices, stored in stripes."""
    x, out = integers(0, 90, 512, u8), zeros(1024, u8)
    for valid in (512, 321, 0):
        run("loads", 1, 64, x, out, valid)
        same(out[:512], x)
        items = np.where(np.arange(512) < valid, x, 99).reshape(64, 8)
        same(out[512:], items.T.ravel())
