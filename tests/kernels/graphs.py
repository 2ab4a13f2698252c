"""Graphs, dynamic programming, text, codes."""

from __future__ import annotations

import binascii
import hashlib
import zlib

import numpy as np

from .kernel import Run, kernel
from .values import i32, integers, near, same, u8, u32, u64, zeros


def random_graph(nodes: int, edges: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Starts of rows, columns, and the matrix, of a directed graph."""
    random = np.random.default_rng(seed)
    matrix = np.zeros((nodes, nodes), bool)
    matrix[random.integers(0, nodes, edges), random.integers(0, nodes, edges)] = True
    np.fill_diagonal(matrix, False)
    return np.r_[0, matrix.sum(1).cumsum()].astype(i32), np.nonzero(matrix)[1].astype(i32), matrix


@kernel(
    r"""
extern "C" __global__ void level(const int *starts, const int *edges, int *distance, const int *queue,
    int *next, int *counts, int now)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= counts[0]) return;
    int node = queue[i];
    for (int e = starts[node]; e < starts[node + 1]; ++e)
        if (distance[edges[e]] < 0 && atomicCAS(distance + edges[e], -1, now + 1) == -1)
            next[atomicAdd(counts + 1, 1)] = edges[e];
}
extern "C" __global__ void pull(const int *starts, const int *edges, int *distance, int *changed,
    int now, int n)
{
    int node = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (node >= n || distance[node] >= 0) return;
    bool found = false;
    for (int e = starts[node] + lane; !__any_sync(~0u, found) && __any_sync(~0u, e < starts[node + 1]);
        e += 32)
        found = e < starts[node + 1] && distance[edges[e]] == now;
    if (__any_sync(~0u, found) && lane == 0) { distance[node] = now + 1; *changed = 1; }
}
""",
    after="Harish and Narayanan (2007); Merrill, Garland, Grimshaw (2012); Beamer (2012): from the bottom up",
    against="breadth-first search in Python",
)
def breadth_first_search(run: Run) -> None:
    """By queues with atomics, and backwards by warps that stop early."""
    starts, edges, matrix = random_graph(150, 260)
    want, frontier = np.full(150, -1, i32), [0]
    want[0] = 0
    while frontier:
        seen = [v for u in frontier for v in np.flatnonzero(matrix[u])]
        level = want[frontier[0]] + 1
        frontier = sorted({v for v in seen if want[v] < 0})
        want[frontier] = level
    distance, queue = np.full(150, -1, i32), zeros(150, i32)
    distance[0] = 0
    counts, now = np.array([1, 0], i32), 0
    while counts[0]:
        following = zeros(150, i32)
        run("level", 3, 64, starts, edges, distance, queue, following, counts, now)
        queue, now, counts = following, now + 1, np.array([counts[1], 0], i32)
    same(distance, want)
    back, sources = np.r_[0, matrix.sum(0).cumsum()].astype(i32), np.nonzero(matrix.T)[1].astype(i32)
    distance[1:] = -1
    for now in range(150):
        changed = zeros(1, i32)
        run("pull", 150 // 2, 64, back, sources, distance, changed, now, 150)
        if not changed[0]:
            break
    same(distance, want)


@kernel(
    r"""
extern "C" __global__ void bellman_ford(const int *from, const int *to, const int *weights,
    int *distance, int *changed, int edges)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= edges || distance[from[e]] == 0x7fffffff) return;
    int d = distance[from[e]] + weights[e];
    if (d < atomicMin(distance + to[e], d)) *changed = 1;
}
extern "C" __global__ void floyd(int *d, int n)
{
    extern __shared__ int s[];
    for (int i = threadIdx.x; i < n * n; i += blockDim.x) s[i] = d[i];
    for (int k = 0; k < n; ++k) {
        __syncthreads();
        for (int i = threadIdx.x; i < n * n; i += blockDim.x) {
            int through = s[i / n * n + k] + s[k * n + i % n];
            if (through < s[i]) s[i] = through;
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n * n; i += blockDim.x) d[i] = s[i];
}
""",
    after="Bellman (1958), Ford (1956); Floyd (1962), Warshall (1962)",
    against="the recurrence in NumPy",
)
def shortest_paths(run: Run) -> None:
    """Edges in parallel with atomicMin until nothing changes; all pairs in shared memory."""
    n = 40
    _, _, matrix = random_graph(n, 220)
    source, target = (one.astype(i32) for one in np.nonzero(matrix))
    weights, far = integers(1, 50, len(source)), 10**8
    want = np.full((n, n), far)
    want[source, target] = weights
    np.fill_diagonal(want, 0)
    direct = want.astype(i32)
    for k in range(n):
        want = np.minimum(want, want[:, k : k + 1] + want[k])
    run("floyd", 1, 128, direct, n, shared=4 * n * n)
    same(direct, want)
    distance, changed = np.full(n, 2**31 - 1, i32), np.ones(1, i32)
    distance[3] = 0
    while changed[0]:
        changed[0] = 0
        run("bellman_ford", 4, 64, source, target, weights, distance, changed, len(source))
    same(np.where(distance == 2**31 - 1, far, distance), want[3])


@kernel(
    r"""
__device__ int find(volatile int *parent, int x)
{
    int p = parent[x];
    while (p != parent[p]) { parent[x] = parent[p]; x = p; p = parent[x]; }
    return p;
}
extern "C" __global__ void join(int *parent, const int2 *edges, int count)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= count) return;
    int a = edges[e].x, b = edges[e].y;
    for (;;) {
        a = find(parent, a);
        b = find(parent, b);
        if (a == b) break;
        int high = max(a, b), low = min(a, b);
        if (atomicCAS(parent + high, high, low) == high) break;
    }
}
extern "C" __global__ void flatten(int *parent, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) parent[i] = find(parent, i);
}
extern "C" __global__ void rank(const int *starts, const int *edges, const float *in, float *out, int n)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= n) return;
    int degree = starts[node + 1] - starts[node];
    for (int e = starts[node]; e < starts[node + 1]; ++e) atomicAdd(out + edges[e],
        0.85f * in[node] / degree);
    atomicAdd(out + node, 0.15f / n);
}
extern "C" __global__ void triangles(const int *starts, const int *edges, unsigned long long *count, int n)
{
    int u = blockIdx.x;
    unsigned mine = 0;
    for (int e = starts[u] + threadIdx.x; e < starts[u + 1]; e += blockDim.x) {
        int v = edges[e];
        for (int a = starts[u], b = starts[v]; a < starts[u + 1] && b < starts[v + 1];) {
            int x = edges[a], y = edges[b];
            mine += x == y;
            a += x <= y;
            b += y <= x;
        }
    }
    mine = __reduce_add_sync(~0u, mine);
    if (threadIdx.x == 0 && mine) atomicAdd(count, (unsigned long long)mine);
}
extern "C" __global__ void colour(const int *starts, const int *edges, const int *priority, int *colours,
    int *left, int n)
{
    int u = blockIdx.x * blockDim.x + threadIdx.x;
    if (u >= n || colours[u] >= 0) return;
    unsigned long long used = 0;
    for (int e = starts[u]; e < starts[u + 1]; ++e) {
        int v = edges[e], c = *(volatile int *)(colours + v);
        if (c >= 0) used |= 1ull << c;
        else if (priority[v] > priority[u]) { atomicAdd(left, 1); return; }
    }
    colours[u] = __ffsll(~used) - 1;
}
""",
    after="Jaiganesh, Burtscher (2018); Page et al. (1999); Green et al. (2014); Jones, Plassmann (1993)",
    against="NumPy on the matrix",
)
def graph_properties(run: Run) -> None:
    """Union and find by compare and swap, page rank, triangles by merging, colouring by priorities."""
    n = 120
    _, _, matrix = random_graph(n, 130)
    sides = np.ascontiguousarray(np.argwhere(matrix), i32)
    parent = np.arange(n, dtype=i32)
    run("join", 3, 64, parent, sides, len(sides))
    run("flatten", 2, 64, parent, n)
    reach = np.eye(n, dtype=i32) | matrix | matrix.T
    for _ in range(7):
        reach = (reach @ reach > 0).astype(i32)
    same(parent, reach.argmax(1))
    starts, edges, matrix = random_graph(n, 2000, seed=1)
    ranks = np.full(n, 1 / n, np.float32)
    want, flow = ranks.astype(np.float64), matrix / matrix.sum(1, keepdims=True)
    for _ in range(5):
        new = zeros(n)
        run("rank", 2, 64, starts, edges, ranks, new, n)
        ranks, want = new, 0.15 / n + 0.85 * want @ flow
    near(ranks, want, 1e-5)
    both = matrix | matrix.T
    starts, edges = np.r_[0, both.sum(1).cumsum()].astype(i32), np.nonzero(both)[1].astype(i32)
    count, wide = zeros(1, u64), both.astype(np.int64)
    run("triangles", n, 32, starts, edges, count, n)
    assert count[0] == np.trace(wide @ wide @ wide)
    _, _, thin = random_graph(n, 300, seed=2)
    thin |= thin.T
    starts, edges = np.r_[0, thin.sum(1).cumsum()].astype(i32), np.nonzero(thin)[1].astype(i32)
    colours, priority = np.full(n, -1, i32), np.random.default_rng(0).permutation(n).astype(i32)
    for _ in range(n):
        left = zeros(1, i32)
        run("colour", 2, 64, starts, edges, priority, colours, left, n)
        if not left[0]:
            break
    assert colours.min() == 0 and not (thin & (colours[:, None] == colours)).any()


@kernel(
    r"""
#define LONG 64
extern "C" __global__ void smith_waterman(const char *a, const char *b, int *best, int na, int nb)
{
    // antidiagonals: a thread has a row, three diagonals in shared memory
    __shared__ int h[3][LONG + 1];
    int i = threadIdx.x, most = 0;
    for (int d = 0; d < 3; ++d) { h[d][i + 1] = 0; if (i == 0) h[d][0] = 0; }
    for (int d = 0; d < na + nb - 1; ++d) {
        __syncthreads();
        int j = d - i, now = d % 3, before = (d + 2) % 3, older = (d + 1) % 3, value = 0;
        bool inside = i < na && j >= 0 && j < nb;
        if (inside) {
            int match = h[older][i] + (a[blockIdx.x * na + i] == b[j] ? 3 : -2);
            value = max(max(0, j ? match : (a[blockIdx.x * na + i] == b[j] ? 3 : -2)), max(h[before][i] ,
                j ? h[before][i + 1] : 0) - 1);
            most = max(most, value);
        }
        h[now][i + 1] = inside ? value : 0;
    }
    most = __reduce_max_sync(~0u, most);
    if (i % 32 == 0) atomicMax(best + blockIdx.x, most);
}
extern "C" __global__ void edit(const char *a, const char *b, int *out, int na, int nb)
{
    // Myers: a column of the table in two words
    const char *word = a + threadIdx.x * na;
    unsigned long long plus = ~0ull, minus = 0, top = 1ull << (na - 1);
    int score = na;
    for (int j = 0; j < nb; ++j) {
        unsigned long long equal = 0;
        for (int i = 0; i < na; ++i) equal |= (unsigned long long)(word[i] == b[j]) << i;
        unsigned long long x = equal | minus, d = (((x & plus) + plus) ^ plus) | x,
            hp = minus | ~(d | plus), hm = plus & d;
        score += !!(hp & top) - !!(hm & top);
        hp = hp << 1 | 1;
        hm <<= 1;
        plus = hm | ~(d | hp);
        minus = hp & d;
    }
    out[threadIdx.x] = score;
}
extern "C" __global__ void knapsack(const int *weights, const int *values, int *best, int items, int room)
{
    extern __shared__ int table[];
    for (int c = threadIdx.x; c <= room; c += blockDim.x) table[c] = 0;
    int *from = table, *to = table + room + 1;
    for (int k = 0; k < items; ++k) {
        __syncthreads();
        for (int c = threadIdx.x; c <= room; c += blockDim.x)
            to[c] = c >= weights[k] ? max(from[c], from[c - weights[k]] + values[k]) : from[c];
        int *swap = from; from = to; to = swap;
    }
    __syncthreads();
    if (threadIdx.x == 0) *best = from[room];
}
""",
    after="Smith and Waterman (1981); Myers, A Fast Bit-vector Algorithm (1999); Bellman (1957): knapsacks",
    against="the tables in Python",
)
def dynamic_programming(run: Run) -> None:
    """Antidiagonals in shared memory, a column of a table in two 64-bit words, two rows by turns."""
    a, b = integers(97, 101, (6, 40), u8), integers(97, 101, 50, u8, seed=1)
    best, distances = zeros(6, i32), zeros(6, i32)
    run("smith_waterman", 6, 64, a, b, best, 40, 50)
    run("edit", 1, 6, a, b, distances, 40, 50)
    for row, score, distance in zip(a, best, distances, strict=True):
        h, d = np.zeros((41, 51), int), np.zeros((41, 51), int)
        d[:, 0], d[0] = np.arange(41), np.arange(51)
        for i in range(1, 41):
            for j in range(1, 51):
                equal = row[i - 1] == b[j - 1]
                h[i, j] = max(0, h[i - 1, j - 1] + (3 if equal else -2), h[i - 1, j] - 1, h[i, j - 1] - 1)
                d[i, j] = min(d[i - 1, j - 1] + (not equal), d[i - 1, j] + 1, d[i, j - 1] + 1)
        assert (score, distance) == (h.max(), d[40, 50])
    weights, values, got = integers(1, 30, 25), integers(1, 99, 25, seed=1), zeros(1, i32)
    run("knapsack", 1, 64, weights, values, got, 25, 150, shared=2 * 151 * 4)
    table = np.zeros(151, int)
    for w, v in zip(weights, values, strict=True):
        table[w:] = np.maximum(table[w:], table[: 151 - w] + v)
    assert got[0] == table[150]


@kernel(
    r"""
__constant__ unsigned k[64];
__device__ unsigned turn(unsigned x, int n) { return __funnelshift_r(x, x, n); }
extern "C" __global__ void sha256(const unsigned char *messages, unsigned *out, int length)
{
    const unsigned char *message = messages + threadIdx.x * length;
    unsigned h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab,
        0x5be0cd19};
    int blocks = (length + 8) / 64 + 1;
    for (int b = 0; b < blocks; ++b) {
        unsigned w[64];
        for (int i = 0; i < 16; ++i) {
            unsigned word = 0;
            for (int j = 0; j < 4; ++j) {
                int at = b * 64 + i * 4 + j;
                word = word << 8 | (at < length ? message[at] : at == length ? 0x80 : 0);
            }
            w[i] = b == blocks - 1 && i == 15 ? length * 8 : word;
        }
        for (int i = 16; i < 64; ++i) {
            unsigned x = w[i - 15], y = w[i - 2];
            w[i] = w[i - 16] + (turn(x, 7) ^ turn(x, 18) ^ x >> 3) + w[i - 7] + (turn(y, 17) ^ turn(y,
                19) ^ y >> 10);
        }
        unsigned s[8];
        for (int i = 0; i < 8; ++i) s[i] = h[i];
        #pragma unroll 8
        for (int i = 0; i < 64; ++i) {
            unsigned e = s[4], a = s[0];
            unsigned t = s[7] + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & s[5]) ^ (~e & s[6]))
                + k[i] + w[i];
            unsigned u = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
            for (int j = 7; j > 0; --j) s[j] = s[j - 1];
            s[4] += t;
            s[0] = t + u;
        }
        for (int i = 0; i < 8; ++i) h[i] += s[i];
    }
    for (int i = 0; i < 8; ++i) out[threadIdx.x * 8 + i] = __byte_perm(h[i], 0, 0x0123);
}
extern "C" __global__ void crc(const unsigned char *data, unsigned *out, int length)
{
    __shared__ unsigned table[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) {
        unsigned c = i;
        for (int b = 0; b < 8; ++b) c = c & 1 ? 0xEDB88320u ^ c >> 1 : c >> 1;
        table[i] = c;
    }
    __syncthreads();
    unsigned c = ~0u, a = 1, b = 0;
    for (int i = 0; i < length; ++i) {
        unsigned char v = data[threadIdx.x * length + i];
        c = table[(c ^ v) & 255] ^ c >> 8;
        a = (a + v) % 65521;
        b = (b + a) % 65521;
    }
    out[2 * threadIdx.x] = ~c;
    out[2 * threadIdx.x + 1] = b << 16 | a;
}
extern "C" __global__ void hex(const unsigned char *data, ushort2 *out, int *spaces, int n)
{
    const char digits[] = "0123456789abcdef";
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 2) return;
    unsigned char a = data[2 * i], b = data[2 * i + 1];
    out[i] = make_ushort2(digits[a >> 4] | digits[a & 15] << 8, digits[b >> 4] | digits[b & 15] << 8);
    unsigned both = a | b << 8, equal = __vcmpeq4(both, 0x20202020u) & 0xffff;
    if (equal) atomicAdd(spaces, __popc(equal) / 8);
}
""",
    after="FIPS 180-4; ISO 3309 (CRC-32); Deutsch, RFC 1950 (Adler-32)",
    against="hashlib, zlib, binascii",
)
def checksums(run: Run) -> None:
    """SHA-256 of messages around the ends of blocks, CRC-32 by a shared table, Adler-32, hexadecimals."""
    primes = [p for p in range(2, 312) if all(p % q for q in range(2, p))]
    roots = []
    for p in primes[:64]:  # 32 bits behind the point of the cube root
        root = round((p << 96) ** (1 / 3))
        while root**3 > p << 96:
            root -= 1
        while (root + 1) ** 3 <= p << 96:
            root += 1
        roots.append(root & 0xFFFFFFFF)
    run.assign("k", np.array(roots, u32))
    for length in (0, 3, 55, 56, 64, 130):
        data, out = integers(0, 256, (9, max(length, 1)), u8), zeros((9, 8), u32)
        run("sha256", 1, 9, data, out, length)
        message = data if length else data[:, :0]
        assert [row.tobytes() for row in out] == [hashlib.sha256(row.tobytes()).digest() for row in message]
    data, out = integers(0, 256, (20, 77), u8), zeros((20, 2), u32)
    run("crc", 1, 20, data, out, 77)
    same(out, [[zlib.crc32(row.tobytes()), zlib.adler32(row.tobytes())] for row in data])
    text, digits, spaces = integers(28, 36, 200, u8), zeros(400, u8), zeros(1, i32)
    run("hex", 1, 128, text, digits, spaces, 200)
    assert digits.tobytes() == binascii.hexlify(text.tobytes()) and spaces[0] == (text == 32).sum()
