"""Systems that evolve, searches through combinations, and geometry."""

from __future__ import annotations

import itertools
import math

import numpy as np

from .kernel import Run, kernel
from .values import Array, f32, f64, floats, i32, i64, integers, near, same, u8, u32, u64, zeros


@kernel(
    r"""
extern "C" __global__ void queens(int n, unsigned long long *count)
{
    unsigned all = (1u << n) - 1, columns[16], left[16], right[16], free[16];
    int a = blockIdx.x, b = threadIdx.x;
    if (b >= n || abs(a - b) < 2) return;
    unsigned p = 1u << a, q = 1u << b;
    int depth = 0;
    columns[0] = p | q;
    left[0] = (p << 2 | q << 1) & all;
    right[0] = p >> 2 | q >> 1;
    free[0] = all & ~(columns[0] | left[0] | right[0]);
    unsigned long long found = 0;
    while (depth >= 0) {
        if (!free[depth]) { --depth; continue; }
        unsigned bit = free[depth] & -free[depth];
        free[depth] ^= bit;
        if (depth == n - 3) { ++found; continue; }
        columns[depth + 1] = columns[depth] | bit;
        left[depth + 1] = (left[depth] | bit) << 1 & all;
        right[depth + 1] = (right[depth] | bit) >> 1;
        ++depth;
        free[depth] = all & ~(columns[depth] | left[depth] | right[depth]);
    }
    atomicAdd(count, found);
}
""",
    after="Dijkstra, Notes on Structured Programming (1972); Richards, Backtracking by Bit Sets (1997)",
    against="OEIS A000170",
)
def queens_backtracking(run: Run) -> None:
    """Stacks in local memory whose depth differs by thread."""
    for n, want in ((5, 10), (6, 4), (8, 92)):
        count = zeros(1, u64)
        run("queens", n, 32, n, count)
        same(count, [want])


@kernel(
    r"""
extern "C" __global__ void knapsack(const int *weight, const int *value, int items, int *best, int room)
{
    extern __shared__ int rows[];
    int *now = rows, *next = rows + room + 1;
    for (int w = threadIdx.x; w <= room; w += blockDim.x) now[w] = 0;
    for (int i = 0; i < items; ++i) {
        __syncthreads();
        for (int w = threadIdx.x; w <= room; w += blockDim.x)
            next[w] = w >= weight[i] ? max(now[w], now[w - weight[i]] + value[i]) : now[w];
        int *t = now; now = next; next = t;
    }
    __syncthreads();
    if (!threadIdx.x) *best = now[room];
}
""",
    after="Bellman, Dynamic Programming (1957): the knapsack",
    against="all subsets",
)
def knapsack_table(run: Run) -> None:
    """Two rows by turns in dynamic shared memory."""
    weight, value, best = integers(1, 30, 12), integers(1, 99, 12, seed=1), zeros(1, i32)
    run("knapsack", 1, 64, weight, value, 12, best, 90, shared=8 * 91)
    chosen = np.array(list(itertools.product((0, 1), repeat=12)))
    same(best, [(chosen @ value)[chosen @ weight <= 90].max()])


@kernel(
    r"""
extern "C" __global__ void permutation(unsigned long long first, int n, int count, unsigned char *out)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= count) return;
    unsigned long long rank = first + t, f = 1, left = (1ull << 4 * n) - 1 & 0xFEDCBA9876543210ull;
    for (int i = 2; i < n; ++i) f *= i;
    for (int i = 0; i < n; ++i) {
        int k = rank / f;
        rank %= f;
        if (i < n - 1) f /= n - 1 - i;
        out[t * n + i] = left >> 4 * k & 15;
        unsigned long long low = left & ((1ull << 4 * k) - 1);
        left = low | left >> 4 * (k + 1) << 4 * k;
    }
}
""",
    after="Lehmer, Teaching Combinatorial Tricks to a Computer (1960)",
    against="itertools.permutations",
)
def permutations_by_rank(run: Run) -> None:
    """Digits of the factorial system; a list of 4-bit numbers in a 64-bit word."""
    out = zeros((5040, 7), u8)
    run("permutation", 40, 128, u64(0), 7, 5040, out)
    same(out, np.array(list(itertools.permutations(range(7)))))


@kernel(
    r"""
extern "C" __global__ void boids(const float2 *x, const float2 *v, float2 *dv, int n, float reach)
{
    __shared__ float2 px[32], pv[32];
    int i = blockIdx.x * 32 + threadIdx.x;
    float2 mine = i < n ? x[i] : make_float2(0, 0), sum = {0, 0}, middle = {0, 0};
    int count = 0;
    for (int start = 0; start < n; start += 32) {
        int j = start + threadIdx.x;
        if (j < n) { px[threadIdx.x] = x[j]; pv[threadIdx.x] = v[j]; }
        __syncthreads();
        for (int k = 0; k < min(32, n - start); ++k) {
            float dx = px[k].x - mine.x, dy = px[k].y - mine.y;
            if (dx * dx + dy * dy < reach * reach) {
                ++count;
                sum.x += pv[k].x; sum.y += pv[k].y;
                middle.x += dx; middle.y += dy;
            }
        }
        __syncthreads();
    }
    if (i < n) dv[i] = make_float2(sum.x / count - v[i].x + 0.1f * middle.x / count,
                                   sum.y / count - v[i].y + 0.1f * middle.y / count);
}
""",
    after="Reynolds, Flocks, Herds, and Schools (1987)",
    against="NumPy, all pairs",
)
def flocking(run: Run) -> None:
    """Tiles of positions and speeds, branches that differ by pair."""
    x, v, dv = floats((75, 2)), floats((75, 2), seed=1), zeros((75, 2))
    run("boids", 3, 32, x, v, dv, 75, 0.5)
    d = (x[None] - x[:, None]).astype(f64)
    near_ = ((d**2).sum(2) < 0.25).astype(f64)
    count = near_.sum(1)[:, None]
    near(dv, near_ @ v / count - v + 0.1 * (near_[..., None] * d).sum(1) / count, 1e-4, 1e-5)


@kernel(
    r"""
__device__ double3 rate(double3 p)
{
    return make_double3(10 * (p.y - p.x), p.x * (28 - p.z) - p.y, p.x * p.y - 8.0 / 3 * p.z);
}
__device__ double3 along(double3 p, double3 d, double h)
{
    return make_double3(p.x + h * d.x, p.y + h * d.y, p.z + h * d.z);
}
extern "C" __global__ void lorenz(double3 *points, int n, int steps, double h)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double3 p = points[i];
    for (int s = 0; s < steps; ++s) p = along(p, rate(along(p, rate(p), h / 2)), h);
    points[i] = p;
}
""",
    after="Lorenz, Deterministic Nonperiodic Flow (1963); the midpoint rule",
    against="NumPy",
)
def lorenz_attractor(run: Run) -> None:
    """Structs of three doubles, passed and returned by value."""
    p = floats((40, 3), f64)
    want = p.copy()

    def rate(p: Array) -> Array:
        x, y, z = p.T
        return np.stack([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z], 1)

    for _ in range(50):
        want = want + 0.01 * rate(want + 0.005 * rate(want))
    run("lorenz", 2, 32, p, 40, 50, 0.01)
    near(p, want, 1e-9, 1e-9)


@kernel(
    r"""
extern "C" __global__ void assign(const float *points, const float *centres, int *which, float *sums,
    int *counts, int n, int k)
{
    __shared__ float part[8 * 2];
    __shared__ int number[8];
    if (threadIdx.x < k) { part[2 * threadIdx.x] = part[2 * threadIdx.x + 1] = 0; number[threadIdx.x] = 0; }
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int best = 0;
        float least = 1e30f;
        for (int c = 0; c < k; ++c) {
            float dx = points[2 * i] - centres[2 * c], dy = points[2 * i + 1] - centres[2 * c + 1];
            float d = dx * dx + dy * dy;
            if (d < least) { least = d; best = c; }
        }
        which[i] = best;
        atomicAdd(&part[2 * best], points[2 * i]);
        atomicAdd(&part[2 * best + 1], points[2 * i + 1]);
        atomicAdd(&number[best], 1);
    }
    __syncthreads();
    if (threadIdx.x < k) {
        atomicAdd(&sums[2 * threadIdx.x], part[2 * threadIdx.x]);
        atomicAdd(&sums[2 * threadIdx.x + 1], part[2 * threadIdx.x + 1]);
        atomicAdd(&counts[threadIdx.x], number[threadIdx.x]);
    }
}
""",
    after="Lloyd, Least Squares Quantization in PCM (1957)",
    against="NumPy",
)
def k_means_step(run: Run) -> None:
    """Sums in shared memory first, then in global memory."""
    points, centres = integers(-50, 50, (200, 2), f32), integers(-50, 50, (5, 2), f32, seed=1) + f32(0.25)
    which, sums, counts = zeros(200, i32), zeros((5, 2)), zeros(5, i32)
    run("assign", 4, 64, points, centres, which, sums, counts, 200, 5)
    want = ((points[:, None] - centres) ** 2).sum(2).argmin(1)
    same(which, want)
    same(counts, np.bincount(want, minlength=5))
    same(sums, [points[want == c].sum(0) for c in range(5)])


@kernel(
    r"""
extern "C" __global__ void inside(const float2 *polygon, int corners, const float2 *points, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float2 p = points[i];
    bool in = false;
    for (int a = 0, b = corners - 1; a < corners; b = a++)
        if ((polygon[a].y > p.y) != (polygon[b].y > p.y)) {
            float slope = (polygon[b].x - polygon[a].x) / (polygon[b].y - polygon[a].y);
            if (p.x < slope * (p.y - polygon[a].y) + polygon[a].x) in = !in;
        }
    out[i] = in;
}
""",
    after="Shimrat, Algorithm 112: Position of Point Relative to Polygon (1962)",
    against="sums of angles",
)
def point_in_polygon(run: Run) -> None:
    """Conditions with side effects in loops with two counters."""
    angle = np.linspace(0, 2 * np.pi, 9)[:-1]
    polygon = (np.stack([np.cos(angle), np.sin(angle)], 1) * floats((8, 1), f64, 0.4, 1)).astype(f32)
    points, out = floats((300, 2)), zeros(300, i32)
    run("inside", 3, 128, polygon, 8, points, out, 300)
    z = polygon.astype(f64) @ [1, 1j] - (points.astype(f64) @ [1, 1j])[:, None]
    turns = np.angle(np.roll(z, -1, 1) / z).sum(1) / (2 * np.pi)
    same(out, np.abs(turns) > 0.5)


@kernel(
    r"""
extern "C" __global__ void closest(const int2 *p, int n, unsigned long long *best)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned least = ~0u, other = 0;
    for (int j = 0; j < n; ++j) {
        if (i >= n || i == j) continue;
        int dx = p[i].x - p[j].x, dy = p[i].y - p[j].y;
        unsigned d = dx * dx + dy * dy;
        if (d < least) { least = d; other = j; }
    }
    unsigned smallest = __reduce_min_sync(~0u, least);
    unsigned who = __ballot_sync(~0u, least == smallest);
    if ((threadIdx.x & 31) == __ffs(who) - 1 && i < n)
        atomicMin(best, (unsigned long long)least << 32 | min(i, (int)other) << 16 | max(i, (int)other));
}
""",
    after="Shamos and Hoey, Closest-point Problems (1975): the pairs compared",
    against="NumPy, all pairs",
)
def closest_pair(run: Run) -> None:
    """redux and ballot find the warp's best, 64-bit atomicMin the grid's."""
    p = integers(0, 3000, (150, 2))
    best = np.full(1, 2**64 - 1, u64)
    run("closest", 5, 32, p, 150, best)
    d = ((p[:, None].astype(i64) - p) ** 2).sum(2)
    d[np.tril_indices(150)] = 1 << 40
    i, j = np.unravel_index(d.argmin(), d.shape)
    same(best, np.array([int(d[i, j]) << 32 | int(i) << 16 | int(j)], u64))


@kernel(
    r"""
extern "C" __global__ void order(const float2 *p, int n, const int *start, int *next, int hull)
{
    // Of each corner the point such that all others are to the left: one block a corner.
    __shared__ int best[64];
    int from = start[blockIdx.x], mine = -1;
    auto right = [&](int a, int b) {  // b is to the right of from -> a
        return (p[a].x - p[from].x) * (p[b].y - p[from].y) - (p[a].y - p[from].y) * (p[b].x - p[from].x) < 0;
    };
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        if (i != from && (mine < 0 || right(mine, i))) mine = i;
    best[threadIdx.x] = mine;
    for (int half = blockDim.x / 2; half; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) {
            int a = best[threadIdx.x], b = best[threadIdx.x + half];
            if (a < 0 || (b >= 0 && right(a, b))) best[threadIdx.x] = b;
        }
    }
    if (!threadIdx.x) next[blockIdx.x] = best[0];
}
""",
    after="Jarvis, On the Identification of the Convex Hull (1973)",
    against="Andrew's monotone chain in Python",
)
def convex_hull(run: Run) -> None:
    """The next corner from each corner: a reduction with a lambda that captures by reference."""
    p = integers(-500, 500, (90, 2), f32)

    def half(order: list[int]) -> list[int]:
        chain: list[int] = []
        for i in order:
            while len(chain) > 1:
                (ax, ay), (bx, by), (cx, cy) = p[chain[-2]], p[chain[-1]], p[i]
                if (bx - ax) * (cy - ay) - (by - ay) * (cx - ax) > 0:
                    break
                chain.pop()
            chain.append(i)
        return chain[:-1]

    order = sorted(range(90), key=lambda i: tuple(p[i]))
    hull = half(order) + half(order[::-1])
    following = zeros(len(hull), i32)
    run("order", len(hull), 64, p, 90, np.array(hull, i32), following, len(hull))
    same(following, np.roll(hull, -1))


@kernel(
    r"""
extern "C" __global__ void spread(unsigned x0, unsigned y0, unsigned *code, unsigned *x, unsigned *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    auto apart = [](unsigned v) {
        v = (v | v << 8) & 0x00FF00FF; v = (v | v << 4) & 0x0F0F0F0F;
        v = (v | v << 2) & 0x33333333; return (v | v << 1) & 0x55555555;
    };
    auto together = [](unsigned v) {
        v &= 0x55555555; v = (v | v >> 1) & 0x33333333; v = (v | v >> 2) & 0x0F0F0F0F;
        v = (v | v >> 4) & 0x00FF00FF; return (v | v >> 8) & 0xFFFF;
    };
    unsigned c = apart((x0 + i * 37) & 0xFFFF) | apart((y0 + i * 101) & 0xFFFF) << 1;
    code[i] = c;
    x[i] = together(c);
    y[i] = together(c >> 1);
}
""",
    after="Morton, A Computer Oriented Geodetic Data Base (1966)",
    against="the bits, one by one in Python",
)
def morton_codes(run: Run) -> None:
    """Bits of two numbers by turns, and back."""
    code, x, y = zeros(200, u32), zeros(200, u32), zeros(200, u32)
    run("spread", 4, 64, 65000, 3, code, x, y, 200)
    i = np.arange(200)
    same(x, (65000 + i * 37) & 0xFFFF)
    same(y, (3 + i * 101) & 0xFFFF)
    same(
        code,
        sum(
            ((x >> u32(b) & u32(1)) << u32(2 * b)) + ((y >> u32(b) & u32(1)) << u32(2 * b + 1))
            for b in range(16)
        ),
    )


@kernel(
    r"""
extern "C" __global__ void hilbert(const unsigned *d, unsigned *x, unsigned *y, int order, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned t = d[i], a = 0, b = 0;
    for (unsigned s = 1; s < 1u << order; s *= 2) {
        unsigned rx = 1 & t / 2, ry = 1 & (t ^ rx);
        if (!ry) {
            if (rx) { a = s - 1 - a; b = s - 1 - b; }
            unsigned swap = a; a = b; b = swap;
        }
        a += s * rx; b += s * ry;
        t /= 4;
    }
    x[i] = a; y[i] = b;
}
""",
    after="Hilbert (1891)",
    against="the curve goes to each cell once, and always to a neighbour; its quarters are quarters",
)
def hilbert_curve(run: Run) -> None:
    """Places on a curve by their distance from its start."""
    d = np.arange(1024, dtype=u32)
    x, y = zeros(1024, u32), zeros(1024, u32)
    run("hilbert", 8, 128, d, x, y, 5, 1024)
    assert len(np.unique(x * 32 + y)) == 1024 and (x.max(), y.max()) == (31, 31)
    same(np.abs(np.diff(x.astype(int))) + np.abs(np.diff(y.astype(int))), 1)
    for quarter in range(4):
        part = slice(256 * quarter, 256 * quarter + 256)
        assert len(np.unique(x[part] // 16 * 2 + y[part] // 16)) == 1


@kernel(
    r"""
extern "C" __global__ void automaton(unsigned *row, unsigned char rule, int words, int steps)
{
    extern __shared__ unsigned s[];
    int w = threadIdx.x;
    unsigned c = row[w];
    for (int t = 0; t < steps; ++t) {
        s[w] = c;
        __syncthreads();
        unsigned l = s[(w + words - 1) % words], r = s[(w + 1) % words], out = 0;
        unsigned left = __funnelshift_l(l, c, 1), right = __funnelshift_r(c, r, 1);
        for (int k = 0; k < 8; ++k)
            if (rule >> k & 1)
                out |= (k & 4 ? left : ~left) & (k & 2 ? c : ~c) & (k & 1 ? right : ~right);
        c = out;
        __syncthreads();
    }
    row[w] = c;
}
""",
    after="Wolfram, Statistical Mechanics of Cellular Automata (1983)",
    against="a table of eight in NumPy",
)
def cellular_automaton(run: Run) -> None:
    """Cells in a ring, 32 in a word; rules that are known at run time."""
    for rule in (30, 90, 110, 184):
        row = integers(0, 1 << 32, 6, u32)
        cells = np.unpackbits(row.view(u8), bitorder="little").astype(int)
        run("automaton", 1, 6, row, u8(rule), 6, 25, shared=24)
        for _ in range(25):
            cells = rule >> (4 * np.roll(cells, 1) + 2 * cells + np.roll(cells, -1)) & 1
        same(np.unpackbits(row.view(u8), bitorder="little"), cells)


@kernel(
    r"""
extern "C" __global__ void lbm(const double *in, double *out, int w, int h, double omega)
{
    const int dx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, dy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
    const double weight[9] = {4. / 9, 1. / 9, 1. / 9, 1. / 9, 1. / 9, 1. / 36, 1. / 36, 1. / 36, 1. / 36};
    int x = threadIdx.x, y = blockIdx.x;
    double f[9], rho = 0, ux = 0, uy = 0;
    for (int k = 0; k < 9; ++k) {
        f[k] = in[(k * h + (y - dy[k] + h) % h) * w + (x - dx[k] + w) % w];
        rho += f[k]; ux += f[k] * dx[k]; uy += f[k] * dy[k];
    }
    ux /= rho; uy /= rho;
    for (int k = 0; k < 9; ++k) {
        double u = dx[k] * ux + dy[k] * uy;
        double e = weight[k] * rho * (1 + 3 * u + 4.5 * u * u - 1.5 * (ux * ux + uy * uy));
        out[(k * h + y) * w + x] = f[k] + omega * (e - f[k]);
    }
}
""",
    after="Qian, d'Humieres, Lallemand, Lattice BGK Models for Navier-Stokes Equation (1992)",
    against="NumPy rolls",
)
def lattice_boltzmann(run: Run) -> None:
    """Nine densities a cell that wander and relax; tables indexed in local or constant memory."""
    f = floats((9, 10, 24), f64, 0.5, 1)
    want, out = f.copy(), np.zeros_like(f)
    directions = [(0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)]
    weights = [4 / 9] + [1 / 9] * 4 + [1 / 36] * 4
    for _ in range(3):
        run("lbm", 10, 24, f, out, 24, 10, 0.8)
        f, out = out, f
        want = np.stack([np.roll(g, (dy, dx), (0, 1)) for g, (dx, dy) in zip(want, directions, strict=True)])
        rho = want.sum(0)
        ux, uy = (sum(g * d[axis] for g, d in zip(want, directions, strict=True)) / rho for axis in (0, 1))
        for k, ((dx, dy), weight) in enumerate(zip(directions, weights, strict=True)):
            u = dx * ux + dy * uy
            want[k] += 0.8 * (weight * rho * (1 + 3 * u + 4.5 * u * u - 1.5 * (ux**2 + uy**2)) - want[k])
    near(f, want, 1e-12, 1e-13)


@kernel(
    r"""
extern "C" __global__ void relax(double *u, const double *f, int n, int colour, double omega)
{
    int x = 1 + threadIdx.x, y = 1 + blockIdx.x;
    if ((x + y & 1) != colour) return;
    double *c = u + y * n + x;
    *c += omega * (0.25 * (c[-1] + c[1] + c[-n] + c[n] - f[y * n + x]) - *c);
}
""",
    after="Young, Iterative Methods (1950): successive over-relaxation, in two colours",
    against="numpy.linalg.solve",
)
def poisson_red_black(run: Run) -> None:
    """Over-relaxation in place, negative offsets from pointers."""
    n = 12
    f, u = zeros((n, n), f64), zeros((n, n), f64)
    f[1:-1, 1:-1] = floats((10, 10), f64)
    for step in range(64):
        run("relax", 10, 10, u, f, n, step & 1, 1.6)
    one = 2 * np.eye(10) - np.eye(10, k=1) - np.eye(10, k=-1)
    matrix = np.kron(one, np.eye(10)) + np.kron(np.eye(10), one)
    near(u[1:-1, 1:-1].ravel(), np.linalg.solve(matrix, -f[1:-1, 1:-1].ravel()), 1e-5, 1e-6)


@kernel(
    r"""
extern "C" __global__ void binomial(const float *strike, double *price, int steps, double s, double r,
    double v, double t)
{
    extern __shared__ double value[];
    double dt = t / steps, up = exp(v * sqrt(dt)), p = (exp(r * dt) - 1 / up) / (up - 1 / up);
    double disc = exp(-r * dt);
    double k = strike[blockIdx.x];
    for (int i = threadIdx.x; i <= steps; i += blockDim.x)
        value[i] = fmax(k - s * pow(up, 2 * i - steps), 0.);
    for (int level = steps - 1; level >= 0; --level) {
        for (int start = 0; start <= level; start += blockDim.x) {
            int i = start + threadIdx.x;
            __syncthreads();
            double held = i <= level ? disc * (p * value[i + 1] + (1 - p) * value[i]) : 0;
            __syncthreads();
            if (i <= level) value[i] = fmax(held, k - s * pow(up, 2 * i - level));
        }
    }
    if (!threadIdx.x) price[blockIdx.x] = value[0];
}
""",
    after="Cox, Ross, Rubinstein, Option Pricing: A Simplified Approach (1979)",
    against="NumPy, level after level",
)
def options_american(run: Run) -> None:
    """A tree that is folded in shared memory, more nodes than threads."""
    strike, price = np.array([80, 100, 125], f32), zeros(3, f64)
    run("binomial", 3, 32, strike, price, 60, 100.0, 0.05, 0.3, 1.0, shared=8 * 61)
    dt = 1 / 60
    up, disc = math.exp(0.3 * math.sqrt(dt)), math.exp(-0.05 * dt)
    p = (math.exp(0.05 * dt) - 1 / up) / (up - 1 / up)
    for k, got in zip(strike.astype(f64), price, strict=True):
        value = np.maximum(k - 100 * up ** (2.0 * np.arange(61) - 60), 0)
        for level in range(59, -1, -1):
            held = disc * (p * value[1:] + (1 - p) * value[:-1])
            value = np.maximum(held, k - 100 * up ** (2.0 * np.arange(level + 1) - level))
        near(got, value[0], 1e-9)


@kernel(
    r"""
extern "C" __global__ void escape(const double2 *c, int *steps, int n, int most)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double x = 0, y = 0;
    int k = 0;
    while (k < most) {
        double xx = __dmul_rn(x, x), yy = __dmul_rn(y, y);
        if (__dadd_rn(xx, yy) > 4) break;
        y = fabs(__dmul_rn(__dadd_rn(x, x), y));
        y = __dadd_rn(y, c[i].y);
        x = __dadd_rn(__dsub_rn(xx, yy), c[i].x);
        ++k;
    }
    steps[i] = k;
}
""",
    after="Michelitsch and Roessler, The Burning Ship (1992)",
    against="NumPy, equal step for step",
)
def fractal_burning_ship(run: Run) -> None:
    """Loops that end at another step in each thread, no contraction."""
    c, steps = floats((500, 2), f64, -2, 2), zeros(500, i32)
    run("escape", 4, 128, c, steps, 500, 60)
    x, y, want = np.zeros(500), np.zeros(500), np.zeros(500, i32)
    alive = np.ones(500, bool)
    for _ in range(60):
        xx, yy = x * x, y * y
        alive &= xx + yy <= 4
        want += alive
        y = np.where(alive, np.abs((x + x) * y) + c[:, 1], y)
        x = np.where(alive, xx - yy + c[:, 0], x)
    same(steps, want)


@kernel(
    r"""
extern "C" __global__ void distance(const char *words, const int *start, int n, const char *pattern, int m,
    int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned char row[33];
    for (int j = 0; j <= m; ++j) row[j] = j;
    for (int k = start[i]; k < start[i + 1]; ++k) {
        unsigned char corner = row[0]++;
        for (int j = 0; j < m; ++j) {
            unsigned char above = row[j + 1];
            row[j + 1] = min(min(above, row[j]) + 1, corner + (words[k] != pattern[j]));
            corner = above;
        }
    }
    out[i] = row[m];
}
""",
    after="Levenshtein (1966); Wagner and Fischer, The String-to-String Correction Problem (1974)",
    against="the recursion, in Python",
)
def edit_distance(run: Run) -> None:
    """A row of bytes in local memory; words of different lengths."""
    letters = integers(97, 100, 400, u8)
    start = np.concatenate([[0], np.cumsum(integers(0, 12, 40))]).astype(i32)
    pattern, out = integers(97, 100, 9, u8, seed=2), zeros(40, i32)
    run("distance", 2, 32, letters, start, 40, pattern, 9, out)

    def between(a: bytes, b: bytes) -> int:
        table = {(i, 0): i for i in range(len(a) + 1)} | {(0, j): j for j in range(len(b) + 1)}
        for i, j in itertools.product(range(1, len(a) + 1), range(1, len(b) + 1)):
            change = table[i - 1, j - 1] + (a[i - 1] != b[j - 1])
            table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, change)
        return table[len(a), len(b)]

    words = [letters[a:b].tobytes() for a, b in itertools.pairwise(start)]
    same(out, [between(word, pattern.tobytes()) for word in words])
