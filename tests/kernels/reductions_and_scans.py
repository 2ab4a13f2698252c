"""Reductions, scans, histograms and compaction."""

from __future__ import annotations

import numpy as np

from .kernel import Run, kernel
from .values import f32, f64, floats, i32, i64, integers, near, same, u8, u16, u32, u64, zeros

HARRIS = "Harris, Optimizing Parallel Reduction in CUDA (2007)"
BLELLOCH = "Blelloch, Prefix Sums and Their Applications (1990)"


@kernel(
    r"""
extern "C" __global__ void interleaved(const int *in, int *out, unsigned n)
{
    extern __shared__ int part[];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    part[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned step = 1; step < blockDim.x; step *= 2) {
        if (t % (2 * step) == 0 && t + step < blockDim.x) part[t] += part[t + step];
        __syncthreads();
    }
    if (!t) out[blockIdx.x] = part[0];
}
""",
    after=HARRIS,
    against="numpy.sum of slices",
)
def reduce_interleaved(run: Run) -> None:
    """Sums of blocks whose size is no power of two, with divergent interleaved addresses."""
    for block in (1, 31, 96, 250):
        x = integers(-1000, 1000, 1777)
        sums = zeros(-(-len(x) // block), i32)
        run("interleaved", len(sums), block, x, sums, len(x), shared=4 * block)
        same(sums, np.add.reduceat(x, np.arange(0, len(x), block)))


@kernel(
    r"""
template <typename T, typename F> __device__ T across_warp(T value, F f)
{
    for (int mask = 16; mask; mask /= 2) value = f(value, (T)__shfl_xor_sync(0xffffffff, value, mask));
    return value;
}
struct Least { template <typename T> __device__ T operator()(T a, T b) const { return b < a ? b : a; } };
struct Xor { template <typename T> __device__ T operator()(T a, T b) const { return a ^ b; } };
struct Product { template <typename T> __device__ T operator()(T a, T b) const { return a * b; } };
template <typename T, typename F> __device__ void reduce(const T *in, T *out, int n, T neutral, F f)
{
    __shared__ T warps[32];
    T value = neutral;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
        i += gridDim.x * blockDim.x) value = f(value, in[i]);
    value = across_warp(value, f);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x < 32) {
        value = across_warp(threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : neutral, f);
        if (!threadIdx.x) out[blockIdx.x] = value;
    }
}
extern "C" __global__ void least(const double *in, double *out, int n) { reduce(in, out, n, 1e300, Least()); }
extern "C" __global__ void bits(const unsigned long long *in, unsigned long long *out, int n)
{
    reduce(in, out, n, 0ull, Xor());
}
extern "C" __global__ void product(const unsigned short *in, unsigned short *out, int n)
{
    reduce<unsigned short>(in, out, n, 1, Product());
}
extern "C" __global__ void bytes(const signed char *in, signed char *out, int n)
{
    reduce<signed char>(in, out, n, 127, Least());
}
""",
    after="Luitjens, Faster Parallel Reductions on Kepler (2014)",
    against="numpy.min, bitwise_xor.reduce, prod",
)
def reduce_with_functors(run: Run) -> None:
    """Warp shuffles of 1, 2 and 8 bytes in a template with functors, by loops with the stride of the grid."""
    x = floats(3001, f64)
    out = zeros(3)
    out = zeros(3, f64)
    run("least", 3, 128, x, out, len(x))
    assert out.min() == x.min()
    y = np.random.default_rng(1).integers(0, 2**64, 3001, u64)
    bits = zeros(2, u64)
    run("bits", 2, 96, y, bits, len(y))
    assert bits[0] ^ bits[1] == np.bitwise_xor.reduce(y)
    odd = (2 * integers(0, 2**15, 501) + 1).astype(u16)
    product = zeros(1, u16)
    run("product", 1, 64, odd, product, len(odd))
    same(product, np.multiply.reduce(odd, dtype=u16))
    small = integers(-100, 100, 999, np.int8)
    least = zeros(1, np.int8)
    run("bytes", 1, 32, small, least, len(small))
    same(least, small.min())


@kernel(
    r"""
__device__ unsigned arrived = 0;
extern "C" __global__ void total(const float4 *in, volatile double *parts, double *out, int n)
{
    __shared__ double part[256];
    __shared__ bool last;
    double sum = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
        float4 v = in[i];
        sum += (double)v.x + v.y + ((double)v.z + v.w);
    }
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 128; half; half >>= 1) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = part[0];
        __threadfence();
        last = atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        sum = 0;
        for (int i = 0; i < gridDim.x; ++i) sum += parts[i];
        *out = sum;
    }
}
""",
    after="CUDA C++ Programming Guide, Memory Fence Functions",
    against="numpy.sum",
)
def reduce_last_block(run: Run) -> None:
    """The block that comes last, by atomicInc that wraps, adds the sums of all: twice, with no reset."""
    for seed in (1, 2):
        x = integers(-4096, 4096, 4 * 5003, f32, seed)
        out = zeros(1, f64)
        run("total", 7, 256, x, zeros(7, f64), out, 5003)
        same(out, x.sum(dtype=f64))


@kernel(
    r"""
#define SIZE 512
extern "C" __global__ void blelloch(const int *in, int *out, int *sums)
{
    __shared__ int tree[SIZE + (SIZE >> 5)];
    auto at = [](int i) { return i + (i >> 5); };  // one word in 33 is left out, so that banks differ
    int t = threadIdx.x, first = blockIdx.x * SIZE, step = 1;
    tree[at(t)] = in[first + t];
    tree[at(t + SIZE / 2)] = in[first + t + SIZE / 2];
    for (int d = SIZE / 2; d > 0; d >>= 1, step *= 2) {
        __syncthreads();
        if (t < d) tree[at(step * (2 * t + 2) - 1)] += tree[at(step * (2 * t + 1) - 1)];
    }
    if (t == 0) {
        sums[blockIdx.x] = tree[at(SIZE - 1)];
        tree[at(SIZE - 1)] = 0;
    }
    for (int d = 1; d < SIZE; d *= 2) {
        step >>= 1;
        __syncthreads();
        if (t < d) {
            int left = at(step * (2 * t + 1) - 1), right = at(step * (2 * t + 2) - 1), old = tree[left];
            tree[left] = tree[right];
            tree[right] += old;
        }
    }
    __syncthreads();
    out[first + t] = tree[at(t)];
    out[first + t + SIZE / 2] = tree[at(t + SIZE / 2)];
}
""",
    after=BLELLOCH,
    against="numpy.cumsum",
)
def scan_blelloch(run: Run) -> None:
    """Exclusive scans of blocks by a tree in padded shared memory."""
    x = integers(-9, 10, (5, 512))
    out, sums = np.empty_like(x), zeros(5, i32)
    run("blelloch", 5, 256, x, out, sums)
    same(out, np.cumsum(x, axis=1) - x)
    same(sums, x.sum(axis=1))


@kernel(
    r"""
extern "C" __global__ void hillis(const float *in, float *out, int n)
{
    extern __shared__ float both[];
    int t = threadIdx.x;
    float *from = both, *to = both + n;
    from[t] = in[blockIdx.x * n + t];
    __syncthreads();
    for (int step = 1; step < n; step *= 2) {
        to[t] = t >= step ? fmaxf(from[t], from[t - step]) : from[t];
        __syncthreads();
        float *swap = from; from = to; to = swap;
    }
    out[blockIdx.x * n + t] = from[t];
}
""",
    after="Hillis and Steele, Data Parallel Algorithms (1986)",
    against="numpy.maximum.accumulate",
)
def scan_hillis_steele(run: Run) -> None:
    """Running maxima by two buffers in dynamic shared memory, sizes that are no powers of two."""
    for n in (1, 2, 33, 300):
        x = floats((3, n))
        out = np.empty_like(x)
        run("hillis", 3, n, x, out, n, shared=8 * n)
        same(out, np.maximum.accumulate(x, axis=1))


@kernel(
    r"""
#define READY 2
#define PARTIAL 1
// a state: flag in the upper word, value in the lower one;
// tiles are given out in the order in which blocks start
__device__ unsigned ticket;
__device__ unsigned long long states[256];
extern "C" __global__ void clear() { states[threadIdx.x] = 0; ticket = 0; }
extern "C" __global__ void lookback(const unsigned *in, unsigned *out, int n)
{
    __shared__ unsigned warps[8], tile, before;
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    if (threadIdx.x == 0) tile = atomicAdd(&ticket, 1);
    __syncthreads();
    int i = tile * 256 + threadIdx.x;
    unsigned value = i < n ? in[i] : 0, sum = value;
    for (int d = 1; d < 32; d *= 2) {
        unsigned other = __shfl_up_sync(~0u, sum, d);
        if (lane >= d) sum += other;
    }
    if (lane == 31) warps[warp] = sum;
    __syncthreads();
    unsigned below = 0, all = 0;
    for (int w = 0; w < 8; ++w) {
        if (w < warp) below += warps[w];
        all += warps[w];
    }
    if (warp == 0) {
        if (lane == 0) {
            unsigned long long state = (unsigned long long)(tile ? PARTIAL : READY) << 32 | all;
            atomicExch(&states[tile], state);
        }
        unsigned prefix = 0;
        for (int first = (int)tile - 1; first >= 0; first -= 32) {
            int from = first - lane;
            unsigned long long state = (unsigned long long)READY << 32;
            if (from >= 0)
                do state = *(volatile unsigned long long *)&states[from]; while (!(state >> 32));
            unsigned done = __ballot_sync(~0u, state >> 32 == READY);
            int stop = done ? __ffs(done) - 1 : 31;
            unsigned part = lane <= stop ? (unsigned)state : 0;
            prefix += __reduce_add_sync(~0u, part);
            if (done) break;
        }
        if (lane == 0) {
            before = prefix;
            __threadfence();
            if (tile) atomicExch(&states[tile], (unsigned long long)READY << 32 | (prefix + all));
        }
    }
    __syncthreads();
    if (i < n) out[i] = before + below + sum;
}
""",
    after="Merrill and Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back (2016)",
    against="numpy.cumsum modulo 2^32",
)
def scan_decoupled_lookback(run: Run) -> None:
    """One pass over 40 tiles: a block waits for the states of those before it, a warp of them at a time."""
    x = integers(0, 2**32, 40 * 256 - 77, u32)
    out = np.empty_like(x)
    run("clear", 1, 256)
    run("lookback", 40, 256, x, out, len(x))
    same(out, np.cumsum(x, dtype=u32))


@kernel(
    r"""
__device__ volatile int turn;
extern "C" __global__ void reset() { turn = 0; }
extern "C" __global__ void chained(const long long *in, long long *out, volatile long long *carry)
{
    __shared__ long long base;
    __shared__ long long part[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    part[t] = in[i];
    __syncthreads();
    if (t == 0) {
        for (int k = 1; k < 64; ++k) part[k] += part[k - 1];
        while (turn != blockIdx.x) __nanosleep(100);
        base = blockIdx.x ? carry[blockIdx.x - 1] : 0;
        carry[blockIdx.x] = base + part[63];
        __threadfence();
        turn = blockIdx.x + 1;
    }
    __syncthreads();
    out[i] = base + part[t];
}
""",
    after="Yan, Long, Zhang, StreamScan (2013)",
    against="numpy.cumsum",
)
def scan_chained(run: Run) -> None:
    """Blocks that wait for their turn, one after the other, and hand on the sum."""
    x = np.random.default_rng(0).integers(-(2**40), 2**40, 25 * 64)
    out = np.empty_like(x)
    run("reset", 1, 1)
    run("chained", 25, 64, x, out, zeros(25, i64))
    same(out, np.cumsum(x))


@kernel(
    r"""
struct Pair { float value; int head; };
__device__ Pair combine(Pair a, Pair b) { return {b.head ? b.value : a.value + b.value, a.head | b.head}; }
extern "C" __global__ void segmented(const float *in, const unsigned char *heads, float *out, int n)
{
    __shared__ Pair ends[32];
    int t = threadIdx.x, lane = t & 31, warp = t / 32;
    Pair mine = t < n ? Pair{in[t], heads[t]} : Pair{0, 0};
    for (int d = 1; d < 32; d <<= 1) {
        Pair other{__shfl_up_sync(~0u, mine.value, d), __shfl_up_sync(~0u, mine.head, d)};
        if (lane >= d) mine = combine(other, mine);
    }
    if (lane == 31) ends[warp] = mine;
    __syncthreads();
    Pair before{0, 0};
    for (int w = 0; w < warp; ++w) before = combine(before, ends[w]);
    if (warp) mine = combine(before, mine);
    if (t < n) out[t] = mine.value;
}
""",
    after="Sengupta, Harris, Zhang, Owens, Scan Primitives for GPU Computing (2007)",
    against="numpy.cumsum of each segment",
)
def scan_segmented(run: Run) -> None:
    """Sums that start anew at flags, of pairs in structs."""
    x = integers(-50, 50, 700, f32)
    heads = (np.random.default_rng(3).random(700) < 0.05).astype(u8)
    out = np.empty_like(x)
    run("segmented", 1, 704, x, heads, out, 700)
    same(out, np.concatenate([np.cumsum(part) for part in np.split(x, np.flatnonzero(heads))]))


@kernel(
    r"""
extern "C" __global__ void compact(const int *in, int *out, int *count, int n)
{
    for (int base = blockIdx.x * blockDim.x; base < n; base += gridDim.x * blockDim.x) {
        int i = base + threadIdx.x;
        bool keep = i < n && in[i] % 3 == 0;
        if (!keep) continue;
        unsigned active = __activemask();
        int lane, leader = __ffs(active) - 1, at;
        asm("mov.u32 %0, %%laneid;" : "=r"(lane));
        if (lane == leader) at = atomicAdd(count, __popc(active));
        at = __shfl_sync(active, at, leader) + __popc(active & ((1u << lane) - 1));
        out[at] = in[i];
    }
}
""",
    after="Adinetz, CUDA Pro Tip: Optimized Filtering with Warp-Aggregated Atomics (2014)",
    against="numpy boolean index",
)
def compact_aggregated_atomics(run: Run) -> None:
    """One atomic for the threads of a warp that are active, found by __activemask in divergent code."""
    x = integers(-1000, 1000, 5000)
    out, count = np.full_like(x, 7777), zeros(1, i32)
    run("compact", 4, 224, x, out, count, len(x))
    kept = x[x % 3 == 0]
    assert count[0] == len(kept)
    same(np.sort(out[: len(kept)]), np.sort(kept))
    assert (out[len(kept) :] == 7777).all()


@kernel(
    r"""
extern "C" __global__ void ordered(const short *in, short *out, int *flags, int n)
{
    __shared__ int warp_base[33];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    bool keep = t < n && in[t] > 0;
    unsigned mask = __ballot_sync(~0u, keep), below;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
    if (lane == 0) warp_base[warp + 1] = __popc(mask);
    if (t == 0) warp_base[0] = 0;
    __syncthreads();
    if (t == 0) for (int w = 0; w < blockDim.x / 32; ++w) warp_base[w + 1] += warp_base[w];
    int all = __syncthreads_count(keep), any = __syncthreads_or(t == n + 5),
        every = __syncthreads_and(t < 2000);
    if (keep) out[warp_base[warp] + __popc(mask & below)] = in[t];
    if (t == blockDim.x - 1) { flags[0] = all; flags[1] = any; flags[2] = every; }
}
""",
    after="Billeter, Olsson, Assarsson, Efficient Stream Compaction (2009)",
    against="numpy boolean index",
)
def compact_ordered(run: Run) -> None:
    """Stable compaction by ballots, with barriers that count, and, or."""
    x = integers(-100, 100, 777, np.int16)
    out, flags = zeros(777, np.int16), np.full(3, -1, i32)
    run("ordered", 1, 800, x, out, flags, len(x))
    kept = x[x > 0]
    same(out[: len(kept)], kept)
    assert flags[0] == len(kept) and flags[1] != 0 and flags[2] != 0


@kernel(
    r"""
extern "C" __global__ void bins256(const uchar4 *in, unsigned *out, int n)
{
    __shared__ unsigned char warps[4][256];  // counters of bytes, four in a word that is added to
    unsigned *words = (unsigned *)warps;
    for (int i = threadIdx.x; i < 256; i += 128) words[i] = 0;
    __syncthreads();
    int warp = threadIdx.x / 32, i = blockIdx.x * 128 + threadIdx.x;
    if (i < n) {
        uchar4 v = in[i];
        unsigned char bytes[4] = {v.x, v.y, v.z, v.w};
        for (int k = 0; k < 4; ++k) atomicAdd(words + warp * 64 + bytes[k] / 4, 1u << 8 * (bytes[k] % 4));
    }
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += 128) {
        unsigned sum = warps[0][b] + warps[1][b] + warps[2][b] + warps[3][b];
        if (sum) atomicAdd(out + b, sum);
    }
}
""",
    after="Podlozhnyuk, Histogram calculation in CUDA (2007)",
    against="numpy.bincount",
)
def histogram_byte_counters(run: Run) -> None:
    """256 bins, with counters of a byte in shared memory, one set for each warp."""
    x = (np.random.default_rng(0).normal(128, 60, 4 * 1003).clip(0, 255)).astype(u8)
    out = zeros(256, u32)
    run("bins256", -(-1003 // 128), 128, x, out, 1003)
    same(out, np.bincount(x, minlength=256))


@kernel(
    r"""
extern "C" __global__ void matched(const unsigned long long *keys, unsigned *bins, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned valid = __ballot_sync(~0u, i < n);
    if (i >= n) return;
    unsigned peers = __match_any_sync(valid, keys[i]);
    int lane = threadIdx.x & 31;
    if (lane == 31 - __clz(peers)) atomicAdd(bins + keys[i] % 13, __popc(peers));
    int uniform;
    unsigned all = __match_all_sync(valid, keys[i] >> 60, &uniform);
    if (lane == 0) atomicAdd(bins + 13, uniform ? __popc(all) : 0);
}
""",
    after="CUDA C++ Programming Guide, Warp Match Functions",
    against="numpy.bincount",
)
def histogram_matched(run: Run) -> None:
    """Threads of a warp with equal 64-bit keys find each other by match; a part of a warp at the end."""
    keys = integers(0, 13, 1000, u64) + u64(13 << 33)
    bins = zeros(14, u32)
    run("matched", 8, 128, keys, bins, len(keys))
    same(bins[:13], np.bincount((keys % u64(13)).astype(i64), minlength=13))
    assert bins[13] == 1000


@kernel(
    r"""
__device__ float atomicMaxFloat(float *address, float value)
{
    int *bits = (int *)address, old = *bits, seen;
    do {
        seen = old;
        if (__int_as_float(seen) >= value) break;
        old = atomicCAS(bits, seen, __float_as_int(value));
    } while (seen != old);
    return __int_as_float(old);
}
extern "C" __global__ void weighted(const float *x, const float *w, double *sums, float *most,
    unsigned short *cells, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        int bin = min(max(__float2int_rd(x[i] * 10.0f), 0), 9);
        atomicAdd(&sums[bin], (double)w[i]);
        atomicMaxFloat(&most[bin], w[i]);
        unsigned short old = cells[bin], seen;
        do { seen = old; old = atomicCAS(&cells[bin], seen, (unsigned short)(seen ^ (i & 0xffff)));
            } while (seen != old);
    }
}
""",
    after="CUDA C++ Programming Guide, Atomic Functions (any operation by compare and swap)",
    against="numpy.bincount, maximum.at, bitwise_xor.at",
)
def histogram_weighted(run: Run) -> None:
    """Sums in binary64, greatest floats and 16-bit words by compare and swap."""
    x, w = floats(2500, low=0), integers(0, 1000, 2500, f32, seed=2)
    sums, most, cells = zeros(10, f64), zeros(10), zeros(10, u16)
    run("weighted", 5, 160, x, w, sums, most, cells, len(x))
    bins = np.clip(np.floor(x * f32(10)).astype(int), 0, 9)
    same(sums, np.bincount(bins, w, 10))
    want = zeros(10)
    np.maximum.at(want, bins, w)
    same(most, want)
    words = zeros(10, u16)
    np.bitwise_xor.at(words, bins, np.arange(2500).astype(u16))
    same(cells, words)


@kernel(
    r"""
extern "C" __global__ void kahan(const float *x, float *out, int n)
{
    float sum = 0, lost = 0;
    for (int i = threadIdx.x; i < n; i += 32) {
        float y = __fsub_rn(x[i], lost), t = __fadd_rn(sum, y);
        lost = __fsub_rn(__fsub_rn(t, sum), y);
        sum = t;
    }
    float naive = 0;
    for (int i = threadIdx.x; i < n; i += 32) naive = __fadd_rn(naive, x[i]);
    out[threadIdx.x] = sum;
    out[threadIdx.x + 32] = naive;
}
""",
    after="Kahan, Further Remarks on Reducing Truncation Errors (1965)",
    against="the same steps in numpy.float32",
)
def sum_kahan(run: Run) -> None:
    """Compensated sums, whose steps no compiler may contract: equal bit for bit."""
    x = floats((300, 32), low=0, high=1e4)
    out = zeros((2, 32))
    run("kahan", 1, 32, x, out, x.size)
    total, lost, naive = zeros(32), zeros(32), zeros(32)
    for row in x:
        y = row - lost
        t = total + y
        lost = (t - total) - y
        total = t
        naive = naive + row
    same(out, [total, naive])


@kernel(
    r"""
struct Moments { double n, mean, m2; };
__device__ Moments merge(Moments a, Moments b)
{
    double n = a.n + b.n, delta = b.mean - a.mean;
    if (n == 0) return a;
    return {n, a.mean + delta * b.n / n, a.m2 + b.m2 + delta * delta * a.n * b.n / n};
}
extern "C" __global__ void moments(const float *x, Moments *out, int n)
{
    __shared__ Moments part[96];
    Moments mine{};
    for (int i = threadIdx.x; i < n; i += 96) {
        double delta = x[i] - mine.mean;
        mine.n += 1;
        mine.mean += delta / mine.n;
        mine.m2 += delta * (x[i] - mine.mean);
    }
    part[threadIdx.x] = mine;
    __syncthreads();
    for (int count = 96; count > 1;) {
        int half = (count + 1) / 2;
        if (threadIdx.x + half < count) part[threadIdx.x] = merge(part[threadIdx.x], part[threadIdx.x
            + half]);
        __syncthreads();
        count = half;
    }
    if (threadIdx.x == 0) *out = part[0];
}
""",
    after="Chan, Golub, LeVeque, Updating Formulae for Computing Sample Variances (1979); Welford (1962)",
    against="numpy.mean, numpy.var",
)
def variance_welford(run: Run) -> None:
    """Count, mean and variance in one pass; structs of 24 bytes in shared memory, 96 threads."""
    x = floats(5000) + f32(1000)
    out = zeros(3, f64)
    run("moments", 1, 96, x, out, len(x))
    near(out, [5000, x.mean(dtype=f64), x.var(dtype=f64) * 5000], 1e-10)


@kernel(
    r"""
extern "C" __global__ void __launch_bounds__(128, 4) most(const float *x, int *where, float *value, int n)
{
    unsigned long long best = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        unsigned bits = __float_as_uint(x[blockIdx.x * n + i]);
        bits ^= (int)bits < 0 ? ~0u : 0x80000000u;  // in the order of floats
        unsigned long long key = (unsigned long long)bits << 32 | (unsigned)~i;  // the first of equal ones
        best = max(best, key);
    }
    __shared__ unsigned long long shared_best;
    if (!threadIdx.x) shared_best = 0;
    __syncthreads();
    atomicMax(&shared_best, best);
    __syncthreads();
    if (!threadIdx.x) {
        where[blockIdx.x] = ~(int)shared_best;
        unsigned bits = shared_best >> 32;
        value[blockIdx.x] = __uint_as_float(bits ^ ((int)bits < 0 ? 0x80000000u : ~0u));
    }
}
""",
    after="Herf, Radix Tricks (2001): floats in the order of integers",
    against="numpy.argmax",
)
def argmax_packed(run: Run) -> None:
    """The first of the greatest, by 64-bit atomicMax of keys made of a float and its place."""
    x = (integers(-8, 8, (6, 1001)) - 9).astype(f32)
    where, value = zeros(6, i32), zeros(6)
    run("most", 6, 128, x, where, value, 1001)
    same(where, x.argmax(axis=1))
    same(value, x.max(axis=1))


@kernel(
    r"""
extern "C" __global__ void running(const int *in, int *values, int *counts, int *length, int n)
{
    extern __shared__ int heads[];
    int t = threadIdx.x;
    heads[t] = t < n && (t == 0 || in[t] != in[t - 1]);
    __syncthreads();
    for (int step = 1; step < blockDim.x; step *= 2) {
        int add = t >= step ? heads[t - step] : 0;
        __syncthreads();
        heads[t] += add;
        __syncthreads();
    }
    if (t < n) {
        int run = heads[t] - 1;
        if (t == 0 || heads[t - 1] != heads[t]) values[run] = in[t];
        atomicAdd(counts + run, 1);
        if (t == n - 1) *length = heads[t];
    }
}
""",
    after="Balevic, Parallel Variable-Length Encoding on GPGPUs (2009)",
    against="numpy.diff, numpy.flatnonzero",
)
def run_length_encoding(run: Run) -> None:
    """Runs of equal numbers: a scan of their heads in place."""
    x = np.repeat(integers(0, 5, 150), integers(1, 9, 150, seed=4))[:600]
    values, counts, length = zeros(600, i32), zeros(600, i32), zeros(1, i32)
    run("running", 1, 608, x, values, counts, length, len(x), shared=608 * 4)
    starts = np.flatnonzero(np.r_[True, np.diff(x) != 0])
    assert length[0] == len(starts)
    same(values[: len(starts)], x[starts])
    same(counts[: len(starts)], np.diff(np.r_[starts, len(x)]))
