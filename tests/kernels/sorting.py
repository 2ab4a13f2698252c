"""Sorting, merging, searching, hashing."""

from __future__ import annotations

import numpy as np

from .kernel import Run, kernel
from .values import f32, f64, floats, i16, i32, integers, same, u8, u16, u32, u64, zeros


@kernel(
    r"""
template <typename T, bool DOWN> __device__ void sort(T *x, int n)
{
    extern __shared__ char memory[];
    T *s = (T *)memory;
    for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = x[blockIdx.x * n + i];
    for (int size = 2; size <= n; size *= 2)
        for (int step = size / 2; step; step /= 2) {
            __syncthreads();
            for (int i = threadIdx.x; i < n / 2; i += blockDim.x) {
                int a = 2 * i - (i & (step - 1)), b = a + step;
                bool up = ((a & size) == 0) != DOWN;
                if ((s[a] > s[b]) == up) { T t = s[a]; s[a] = s[b]; s[b] = t; }
            }
        }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) x[blockIdx.x * n + i] = s[i];
}
extern "C" __global__ void up(double *x, int n) { sort<double, false>(x, n); }
extern "C" __global__ void down(short *x, int n) { sort<short, true>(x, n); }
""",
    after="Batcher, Sorting Networks and Their Applications (1968): bitonic",
    against="numpy.sort",
)
def sort_bitonic(run: Run) -> None:
    """Doubles up and shorts down, more items than threads."""
    for n in (2, 64, 512):
        x = floats((3, n), f64)
        want = np.sort(x, axis=1)
        run("up", 3, 96, x, n, shared=8 * n)
        same(x, want)
    y = integers(-300, 300, (2, 256), i16)
    want = np.sort(y, axis=1)[:, ::-1].copy()
    run("down", 2, 40, y, 256, shared=512)
    same(y, want)


@kernel(
    r"""
extern "C" __global__ void warp_sort(unsigned *keys, unsigned *values)
{
    int lane = threadIdx.x, i = blockIdx.x * 32 + lane;
    unsigned key = keys[i], value = values[i];
    #pragma unroll
    for (int size = 2; size <= 32; size <<= 1)
        #pragma unroll
        for (int step = size >> 1; step; step >>= 1) {
            unsigned other = __shfl_xor_sync(~0u, key, step), v = __shfl_xor_sync(~0u, value, step);
            bool lower = !(lane & step), up = !(lane & size);
            bool swap = lower == up ? other < key : other > key;
            key = swap ? other : key;
            value = swap ? v : value;
        }
    keys[i] = key;
    values[i] = value;
}
""",
    after="Batcher (1968); Demouth, Shuffle: Tips and Tricks (2013)",
    against="numpy.argsort",
)
def sort_in_a_warp(run: Run) -> None:
    """Keys with values in registers, all exchanges by shuffles."""
    keys = np.random.default_rng(0).permutation(32 * 20).astype(u32).reshape(20, 32)
    values = np.arange(640, dtype=u32).reshape(20, 32)
    order = keys.argsort(axis=1)
    want = np.take_along_axis(keys, order, 1), np.take_along_axis(values, order, 1)
    run("warp_sort", 20, 32, keys, values)
    same(keys, want[0])
    same(values, want[1])


@kernel(
    r"""
extern "C" __global__ void count(const unsigned *keys, unsigned *counts, int n, int shift)
{
    __shared__ unsigned bins[16];
    if (threadIdx.x < 16) bins[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(bins + (keys[i] >> shift & 15), 1);
    __syncthreads();
    if (threadIdx.x < 16) counts[threadIdx.x * gridDim.x + blockIdx.x] = bins[threadIdx.x];
}
extern "C" __global__ void prefix(unsigned *counts, int n)
{
    __shared__ unsigned sums[1024];
    unsigned mine = threadIdx.x < n ? counts[threadIdx.x] : 0;
    sums[threadIdx.x] = mine;
    for (int d = 1; d < blockDim.x; d *= 2) {
        __syncthreads();
        unsigned add = threadIdx.x >= d ? sums[threadIdx.x - d] : 0;
        __syncthreads();
        sums[threadIdx.x] += add;
    }
    if (threadIdx.x < n) counts[threadIdx.x] = sums[threadIdx.x] - mine;
}
extern "C" __global__ void scatter(const unsigned *keys, const unsigned short *values, unsigned *keys_out,
                                   unsigned short *values_out, const unsigned *offsets, int n, int shift)
{
    __shared__ unsigned short ranks[16][8];
    int i = blockIdx.x * 256 + threadIdx.x, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int b = threadIdx.x; b < 128; b += 256) ranks[b / 8][b % 8] = 0;
    __syncthreads();
    unsigned key = i < n ? keys[i] : ~0u, digit = i < n ? key >> shift & 15 : 16;
    unsigned peers = __match_any_sync(~0u, digit), before = __popc(peers & ((1u << lane) - 1));
    if (digit < 16 && before == 0) ranks[digit][warp] = __popc(peers);
    __syncthreads();
    if (i < n) {
        unsigned rank = before;
        for (int w = 0; w < warp; ++w) rank += ranks[digit][w];
        unsigned to = offsets[digit * gridDim.x + blockIdx.x] + rank;
        keys_out[to] = key;
        values_out[to] = values[i];
    }
}
""",
    after="Satish, Harris, Garland, Designing Efficient Sorting Algorithms for Manycore GPUs (2009)",
    against="numpy.argsort, stable",
)
def sort_radix(run: Run) -> None:
    """Least digit first, four bits a pass, in three kernels, stable: keys that are equal keep their order."""
    n, blocks = 3333, 14
    keys, values = integers(0, 5000, n, u32) * u32(858993), np.arange(n, dtype=u16)
    order = keys.argsort(kind="stable")
    want = keys[order], values[order]
    for shift in range(0, 32, 4):
        counts, out, moved = zeros(16 * blocks, u32), zeros(n, u32), zeros(n, u16)
        run("count", blocks, 256, keys, counts, n, shift)
        run("prefix", 1, 256, counts, 16 * blocks)
        run("scatter", blocks, 256, keys, values, out, moved, counts, n, shift)
        keys, values = out, moved
    same(keys, want[0])
    same(values, want[1])


@kernel(
    r"""
extern "C" __global__ void split_sort(unsigned char *x, int n)
{
    __shared__ unsigned char s[2][512];
    __shared__ int zeros[512];
    int t = threadIdx.x, from = 0;
    s[0][t] = t < n ? x[t] : 255;
    for (int bit = 0; bit < 8; ++bit, from ^= 1) {
        __syncthreads();
        int zero = !(s[from][t] >> bit & 1);
        zeros[t] = zero;
        __syncthreads();
        for (int d = 1; d < 512; d *= 2) {
            int add = t >= d ? zeros[t - d] : 0;
            __syncthreads();
            zeros[t] += add;
            __syncthreads();
        }
        int before = zeros[t] - zero, all = zeros[511];
        s[from ^ 1][zero ? before : all + t - before] = s[from][t];
    }
    __syncthreads();
    if (t < n) x[t] = s[from][t];
}
""",
    after="Blelloch, Prefix Sums and Their Applications (1990): split",
    against="numpy.sort",
)
def sort_by_splits(run: Run) -> None:
    """Bytes, one bit after the other, in two buffers of shared memory."""
    x = integers(0, 256, 500, u8)
    want = np.sort(x)
    run("split_sort", 1, 512, x, 500)
    same(x, want)


@kernel(
    r"""
// where the first `diagonal` of the merged items end in a
template <typename T> __device__ int merge_path(const T *a, int na, const T *b, int nb, int diagonal)
{
    int low = max(0, diagonal - nb), high = min(diagonal, na);
    while (low < high) {
        int middle = (low + high) >> 1;
        if (a[middle] <= b[diagonal - 1 - middle]) low = middle + 1; else high = middle;
    }
    return low;
}
extern "C" __global__ void merge_pass(const long long *in, long long *out, int n, int width)
{
    const int EACH = 7;
    int thread = blockIdx.x * blockDim.x + threadIdx.x, per_pair = (2 * width + EACH - 1) / EACH;
    int first = thread / per_pair * 2 * width, diagonal = thread % per_pair * EACH;
    if (first >= n) return;
    int middle = min(first + width, n), end = min(first + 2 * width, n);
    const long long *a = in + first, *b = in + middle;
    int na = middle - first, nb = end - middle;
    if (diagonal >= na + nb) return;
    int i = merge_path(a, na, b, nb, diagonal), j = diagonal - i;
    for (int k = diagonal; k < min(diagonal + EACH, na + nb); ++k)
        out[first + k] = j >= nb || (i < na && a[i] <= b[j]) ? a[i++] : b[j++];
}
""",
    after="Green, McColl, Bader, GPU Merge Path (2012)",
    against="numpy.sort",
)
def sort_merge_path(run: Run) -> None:
    """Bottom-up merge sort of 64-bit integers; each thread finds its part by a search on a diagonal."""
    n = 1500
    x = np.random.default_rng(0).integers(-(2**62), 2**62, n)
    want, width = np.sort(x), 1
    while width < n:
        out = np.empty_like(x)
        threads = -(-n // (2 * width)) * -(-2 * width // 7)
        run("merge_pass", -(-threads // 128), 128, x, out, n, width)
        x, width = out, 2 * width
    same(x, want)


@kernel(
    r"""
extern "C" __global__ void transposition(float *x, int n)
{
    extern __shared__ float s[];
    int t = threadIdx.x;
    if (2 * t < n) s[2 * t] = x[2 * t];
    if (2 * t + 1 < n) s[2 * t + 1] = x[2 * t + 1];
    for (int phase = 0;; ++phase) {
        __syncthreads();
        int a = 2 * t + (phase & 1), changed = 0;
        if (a + 1 < n && s[a] > s[a + 1]) { float swap = s[a]; s[a] = s[a + 1]; s[a + 1] = swap;
            changed = 1; }
        int now = __syncthreads_or(changed);
        // two phases without a change are the end
        if (!now && phase && !__syncthreads_or(a > 0 && a < n && s[a - 1] > s[a])) break;
    }
    if (2 * t < n) x[2 * t] = s[2 * t];
    if (2 * t + 1 < n) x[2 * t + 1] = s[2 * t + 1];
}
""",
    after="Habermann, Parallel Neighbor Sort (1972): odd-even transposition",
    against="numpy.sort",
)
def sort_odd_even(run: Run) -> None:
    """Until a barrier says that nobody changed anything."""
    x = floats(101)
    want = np.sort(x)
    run("transposition", 1, 64, x, 101, shared=404)
    same(x, want)


@kernel(
    r"""
__device__ void quicksort(int *x, int low, int high)
{
    while (low < high) {
        if (high - low < 4) {
            for (int i = low + 1; i <= high; ++i) {
                int key = x[i], j = i - 1;
                for (; j >= low && x[j] > key; --j) x[j + 1] = x[j];
                x[j + 1] = key;
            }
            return;
        }
        int pivot = x[(low + high) / 2], i = low, j = high;
        do {
            while (x[i] < pivot) ++i;
            while (x[j] > pivot) --j;
            if (i <= j) { int t = x[i]; x[i++] = x[j]; x[j--] = t; }
        } while (i <= j);
        if (j - low < high - i) { quicksort(x, low, j); low = i; }
        else { quicksort(x, i, high); high = j; }
    }
}
extern "C" __global__ void sort_rows(int *x, int n) { quicksort(x + (blockIdx.x * 32 + threadIdx.x) * n,
    0, n - 1); }
""",
    after="Hoare, Quicksort (1962); Sedgewick, Implementing Quicksort Programs (1978)",
    against="numpy.sort",
)
def sort_quicksort(run: Run) -> None:
    """Each thread sorts a row of its own: recursion and loops that diverge in every way."""
    x = integers(-100, 100, (64, 41))
    want = np.sort(x, axis=1)
    run("sort_rows", 2, 32, x, 41)
    same(x, want)


@kernel(
    r"""
extern "C" __global__ void rank_sort(const float *x, int *order, int n)
{
    extern __shared__ float tile[];
    int i = blockIdx.x * blockDim.x + threadIdx.x, rank = 0;
    float mine = i < n ? x[i] : 0;
    for (int first = 0; first < n; first += blockDim.x) {
        __syncthreads();
        tile[threadIdx.x] = first + threadIdx.x < n ? x[first + threadIdx.x] : 0;
        __syncthreads();
        for (int k = 0; k < min(blockDim.x, n - first); ++k)
            rank += tile[k] < mine || (tile[k] == mine && first + k < i);
    }
    if (i < n) order[rank] = i;
}
""",
    after="Knuth, The Art of Computer Programming 3, 5.2: sorting by counting",
    against="numpy.argsort, stable",
)
def sort_by_counting(run: Run) -> None:
    """How many are smaller, by tiles in shared memory."""
    x = integers(0, 99, 333, f32)
    order = zeros(333, i32)
    run("rank_sort", 3, 128, x, order, 333, shared=512)
    same(order, x.argsort(kind="stable"))


@kernel(
    r"""
template <typename T> struct Less { __device__ bool operator()(const T &a, const T &b) const {
    return a < b; } };
template <typename T, typename Compare = Less<T>>
__device__ int bound(const T *x, int n, T key, bool upper, Compare less = {})
{
    int base = 0;
    while (n > 0) {
        int half = n / 2;
        bool right = upper ? !less(key, x[base + half]) : less(x[base + half], key);
        if (right) { base += half + 1; n -= half + 1; } else n = half;
    }
    return base;
}
__constant__ int table[200];
extern "C" __global__ void bounds(const int *keys, int *lower, int *upper, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    lower[i] = bound(table, 200, keys[i], false);
    upper[i] = bound(table, 200, keys[i], true);
}
""",
    after="Knuth, The Art of Computer Programming 3, 6.2.1: binary search",
    against="numpy.searchsorted",
)
def search_binary(run: Run) -> None:
    """Both bounds in a table of constant memory, which threads read at different places."""
    table, keys = np.sort(integers(0, 100, 200)), integers(-5, 110, 300)
    lower, upper = zeros(300, i32), zeros(300, i32)
    run.assign("table", table)
    run("bounds", 3, 128, keys, lower, upper, 300)
    same(lower, table.searchsorted(keys, "left"))
    same(upper, table.searchsorted(keys, "right"))


@kernel(
    r"""
#define EMPTY 0xffffffffu
__device__ unsigned mix(unsigned h)
{
    h ^= h >> 16; h *= 0x85ebca6bu; h ^= h >> 13; h *= 0xc2b2ae35u; return h ^ h >> 16;
}
extern "C" __global__ void insert(unsigned long long *slots, const unsigned *keys, int n, int capacity)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (unsigned at = mix(keys[i]) % capacity;; at = at + 1 == capacity ? 0 : at + 1) {
        unsigned long long old = slots[at];
        for (;;) {
            if ((unsigned)old != EMPTY && (unsigned)old != keys[i]) break;  // another key: the next slot
            unsigned long long count = (unsigned)old == EMPTY ? 1 : (old >> 32) + 1;
            unsigned long long seen = atomicCAS(slots + at, old, count << 32 | keys[i]);
            if (seen == old) return;
            old = seen;
        }
    }
}
extern "C" __global__ void find(const unsigned long long *slots, const unsigned *keys, int *counts,
    int n, int capacity)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (unsigned at = mix(keys[i]) % capacity;; at = (at + 1) % capacity) {
        unsigned long long slot = slots[at];
        if ((unsigned)slot == keys[i]) { counts[i] = slot >> 32; return; }
        if ((unsigned)slot == EMPTY) { counts[i] = 0; return; }
    }
}
""",
    after="Alcantara et al., Real-time Parallel Hashing on the GPU (2009); MurmurHash3's finalizer",
    against="collections.Counter by numpy.unique",
)
def hash_table(run: Run) -> None:
    """Open addresses, 64-bit compare and swap of key and count, a table that is 90 % full."""
    keys = integers(0, 2**31, 300, u32)[integers(0, 300, 1000)]
    kinds, counts = np.unique(keys, return_counts=True)
    capacity = int(len(kinds) / 0.9)
    slots = np.full(capacity, 0xFFFFFFFF, u64)
    run("insert", 8, 128, slots, keys, 1000, capacity)
    queries, found = np.r_[kinds, kinds + u32(1)].astype(u32), zeros(2 * len(kinds), i32)
    run("find", -(-len(queries) // 64), 64, slots, queries, found, len(queries), capacity)
    wanted = dict(zip(kinds.tolist(), counts.tolist(), strict=True))
    same(found, [wanted.get(key, 0) for key in queries.tolist()])


@kernel(
    r"""
// the k-th smallest by bytes, from the upper one down: one block, no sorting
extern "C" __global__ void select(const float *x, float *out, int n, int k)
{
    __shared__ int bins[256];
    __shared__ unsigned prefix;
    __shared__ int rank;
    if (threadIdx.x == 0) { prefix = 0; rank = k; }
    for (int shift = 24; shift >= 0; shift -= 8) {
        bins[threadIdx.x] = 0;
        __syncthreads();
        unsigned mask = shift == 24 ? 0 : ~0u << (shift + 8);
        for (int i = threadIdx.x; i < n; i += 256) {
            unsigned key = __float_as_uint(x[i]);
            key = key & 0x80000000u ? ~key : key | 0x80000000u;
            if ((key & mask) == prefix) atomicAdd(bins + (key >> shift & 255), 1);
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            int digit = 0;
            while (rank >= bins[digit]) rank -= bins[digit++];
            prefix |= (unsigned)digit << shift;
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) *out = __uint_as_float(prefix & 0x80000000u ? prefix ^ 0x80000000u : ~prefix);
}
""",
    after="Alabi et al., Fast k-Selection Algorithms for Graphics Processing Units (2012)",
    against="numpy.partition",
)
def select_radix(run: Run) -> None:
    """The k-th smallest float, negative ones and zeros of both signs included."""
    x = np.r_[floats(900), -0.0, 0.0, np.inf, -np.inf].astype(f32)
    for k in (0, 1, 450, 903):
        out = zeros(1)
        run("select", 1, 256, x, out, len(x), k)
        same(out[0], np.sort(x)[k])


@kernel(
    r"""
#define INFINITY __int_as_float(0x7f800000)
template <int K> struct Best {
    float values[K]; int places[K];
    __device__ void add(float value, int place)
    {
        if (!(value > values[K - 1])) return;
        int i = K - 1;
        for (; i > 0 && values[i - 1] < value; --i) { values[i] = values[i - 1]; places[i] = places[i - 1]; }
        values[i] = value;
        places[i] = place;
    }
};
extern "C" __global__ void top(const float *x, float *values, int *places, int n)
{
    Best<5> best;
    for (int i = 0; i < 5; ++i) { best.values[i] = -INFINITY; best.places[i] = -1; }
    for (int i = threadIdx.x; i < n; i += 32) best.add(x[blockIdx.x * n + i], i);
    for (int rank = 0; rank < 5; ++rank) {  // the head of each lane's list competes
        float most = best.values[0];
        for (int d = 16; d; d /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, d));
        int winner = __ffs(__ballot_sync(~0u, best.values[0] == most)) - 1;
        if (threadIdx.x == winner) {
            values[blockIdx.x * 5 + rank] = best.values[0];
            places[blockIdx.x * 5 + rank] = best.places[0];
            for (int i = 0; i < 4; ++i) { best.values[i] = best.values[i + 1];
                best.places[i] = best.places[i + 1]; }
            best.values[4] = -INFINITY;
        }
        __syncwarp();
    }
}
""",
    after="Johnson, Douze, Jegou, Billion-scale Similarity Search with GPUs (2017): lists in each lane",
    against="numpy.argsort",
)
def select_top_five(run: Run) -> None:
    """Each lane keeps a list that is sorted, in local memory; the heads compete."""
    x = np.random.default_rng(0).permutation(3 * 999).astype(f32).reshape(3, 999)
    values, places = zeros((3, 5)), zeros((3, 5), i32)
    run("top", 3, 32, x, values, places, 999)
    order = np.argsort(-x, axis=1)[:, :5]
    same(places, order)
    same(values, np.take_along_axis(x, order, 1))


@kernel(
    r"""
extern "C" __global__ void intersect(const int *a, int na, const int *b, int nb, int *out, int *count)
{
    __shared__ int found;
    if (!threadIdx.x) found = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < na; i += blockDim.x) {
        int low = 0, high = nb;  // galloping, then halving
        int step = 1;
        while (step < nb && b[step] < a[i]) { low = step; step <<= 1; }
        high = min(step, nb - 1) + 1;
        while (low < high) {
            int middle = low + (high - low) / 2;
            if (b[middle] == a[i]) { out[atomicAdd(&found, 1)] = a[i]; break; }
            if (b[middle] < a[i]) low = middle + 1; else high = middle;
        }
    }
    __syncthreads();
    if (!threadIdx.x) *count = found;
}
""",
    after="Bentley and Yao, An Almost Optimal Algorithm for Unbounded Searching (1976)",
    against="numpy.intersect1d",
)
def intersect_galloping(run: Run) -> None:
    """What two sorted lists share."""
    a, b = np.unique(integers(0, 900, 300)), np.unique(integers(0, 900, 400, seed=1))
    out, count = zeros(300, i32), zeros(1, i32)
    run("intersect", 1, 96, a, len(a), b, len(b), out, count)
    want = np.intersect1d(a, b)
    assert count[0] == len(want)
    same(np.sort(out[: len(want)]), want)


@kernel(
    r"""
struct alignas(8) Record { char name[6]; unsigned short year; };
__device__ int compare(const Record &a, const Record &b)
{
    if (a.year != b.year) return a.year < b.year ? -1 : 1;
    for (int i = 0; i < 6; ++i) if (a.name[i] != b.name[i]) return a.name[i] < b.name[i] ? -1 : 1;
    return 0;
}
extern "C" __global__ void shell(Record *records, int n)
{
    Record *mine = records + (size_t)threadIdx.x * n;
    const int gaps[] = {57, 23, 10, 4, 1};
    for (int gap : gaps)
        for (int i = gap; i < n; ++i) {
            Record held = mine[i];
            int j = i;
            for (; j >= gap && compare(held, mine[j - gap]) < 0; j -= gap) mine[j] = mine[j - gap];
            mine[j] = held;
        }
}
""",
    after="Shell, A High-Speed Sorting Procedure (1959); Ciura's gaps (2001)",
    against="sorted of tuples",
)
def sort_records(run: Run) -> None:
    """Records of six letters and a year, one list for each thread."""
    kind = np.dtype([("name", "S6"), ("year", u16)])
    records = np.zeros((8, 70), kind)
    letters = integers(97, 100, (8, 70, 6), u8)
    records["name"] = np.ascontiguousarray(letters).view("S6")[..., 0]
    records["year"] = integers(2000, 2006, (8, 70), u16)
    want = [sorted(row.tolist(), key=lambda one: (one[1], one[0])) for row in records]
    run("shell", 1, 8, records, 70)
    assert [row.tolist() for row in records] == want
