"""Numerical methods, and arithmetic of other precisions."""

from __future__ import annotations

import math

import numpy as np

from cudapy.driver import CUlimit, checked

from .kernel import Run, kernel
from .values import f32, f64, floats, i32, integers, near, same, u32, u64, zeros


@kernel(
    r"""
struct Double { float high, low; };
__device__ Double two_sum(float a, float b)
{
    float s = __fadd_rn(a, b), v = __fsub_rn(s, a);
    return {s, __fadd_rn(__fsub_rn(a, __fsub_rn(s, v)), __fsub_rn(b, v))};
}
__device__ Double operator+(Double a, Double b)
{
    Double s = two_sum(a.high, b.high);
    float low = __fadd_rn(s.low, __fadd_rn(a.low, b.low)), high = __fadd_rn(s.high, low);
    return {high, __fsub_rn(low, __fsub_rn(high, s.high))};
}
__device__ Double operator*(Double a, Double b)
{
    float p = __fmul_rn(a.high, b.high), e = __fmaf_rn(a.high, b.high, -p);
    e = __fmaf_rn(a.high, b.low, __fmaf_rn(a.low, b.high, e));
    float high = __fadd_rn(p, e);
    return {high, __fsub_rn(e, __fsub_rn(high, p))};
}
extern "C" __global__ void polynomial(const Double *x, Double *y, const Double *c, int degree, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Double sum = c[degree];
    for (int k = degree; k--;) sum = sum * x[i] + c[k];
    y[i] = sum;
}
extern "C" __global__ void mandelbrot(int *out, Double x0, Double y0, float step, int side, int limit)
{
    int px = threadIdx.x, py = blockIdx.x;
    Double cx = x0 + Double{step, 0} * Double{(float)px, 0}, cy = y0 + Double{step, 0} * Double{(float)py, 0};
    Double x = cx, y = cy;
    int i = 0;
    for (; i < limit; ++i) {
        Double xx = x * x, yy = y * y;
        if ((xx + yy).high > 4) break;
        Double xy = x * y;
        x = xx + Double{-yy.high, -yy.low} + cx;
        y = xy + xy + cy;
    }
    out[py * side + px] = i;
}
""",
    after="Dekker, A Floating-point Technique for Extending the Available Precision (1971); Knuth's TwoSum",
    against="numpy.float64",
)
def double_single(run: Run) -> None:
    """Numbers of two floats: a polynomial, and a Mandelbrot set that is too small for floats."""

    def split(values: object) -> np.ndarray:
        wide = np.asarray(values, f64)
        high = wide.astype(f32)
        return np.stack([high, (wide - high).astype(f32)], -1)

    x, c = floats(200, f64), floats(9, f64, seed=1)
    y = zeros((200, 2))
    run("polynomial", 2, 128, split(x), y, split(c), 8, 200)
    near(y.astype(f64).sum(1), np.polynomial.polynomial.polyval(x, c), 0, 2e-13)
    pair = np.dtype([("high", f32), ("low", f32)])
    corner = [split(v).view(pair)[0] for v in (-0.743643887037151, 0.131825904205330)]
    out, step, side = zeros((24, 24), i32), 2.0**-30, 24
    run("mandelbrot", side, side, out, *corner, step, side, 300)
    cx = -0.743643887037151 + step * np.arange(side)[None]
    c0 = cx + 1j * (0.131825904205330 + step * np.arange(side)[:, None])
    z, count, alive = c0.copy(), zeros((side, side), i32), np.ones((side, side), bool)
    for _ in range(300):
        alive &= (z * z.conj()).real <= 4
        count += alive
        z = np.where(alive, z * z + c0, z)
    assert np.mean(abs(out - count) > 1) < 0.05


@kernel(
    r"""
// how many eigenvalues of a symmetric tridiagonal matrix are less than x
__device__ int below(const float *d, const float *e2, int n, float x)
{
    int count = 0;
    float q = 1;
    for (int i = 0; i < n; ++i) {
        q = d[i] - x - (i ? e2[i - 1] / q : 0);
        if (fabsf(q) < 1e-30f) q = -1e-30f;
        count += q < 0;
    }
    return count;
}
extern "C" __global__ void bisect(const float *d, const float *e, float *values, int n, float low, float high)
{
    extern __shared__ float shared[];
    float *diagonal = shared, *square = shared + n;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        diagonal[i] = d[i];
        square[i] = i < n - 1 ? e[i] * e[i] : 0;
    }
    __syncthreads();
    for (int k = threadIdx.x; k < n; k += blockDim.x) {
        float a = low, b = high;
        for (;;) {
            float middle = a + 0.5f * (b - a);
            if (middle <= a || middle >= b) break;
            if (below(diagonal, square, n, middle) <= k) a = middle; else b = middle;
        }
        values[k] = b;
    }
}
""",
    after="Barth, Martin, Wilkinson, Calculation of the Eigenvalues of a Symmetric Tridiagonal Matrix (1967)",
    against="numpy.linalg.eigvalsh",
)
def eigenvalues_bisection(run: Run) -> None:
    """Sturm counts; each thread halves its interval until floats end."""
    n = 37
    d, e, got = floats(n), floats(n - 1, seed=1), zeros(n)
    run("bisect", 1, 32, d, e, got, n, -4.0, 4.0, shared=8 * n)
    matrix = np.diag(d.astype(f64)) + np.diag(e, 1) + np.diag(e, -1)
    near(got, np.linalg.eigvalsh(matrix), 0, 2e-6)


@kernel(
    r"""
struct Interval {
    double low, high;
    __device__ Interval operator+(Interval b) const { return {__dadd_rd(low, b.low), __dadd_ru(high,
        b.high)}; }
    __device__ Interval operator-(Interval b) const { return {__dsub_rd(low, b.high), __dsub_ru(high,
        b.low)}; }
    __device__ Interval operator*(Interval b) const
    {
        return {fmin(fmin(__dmul_rd(low, b.low), __dmul_rd(low, b.high)), fmin(__dmul_rd(high, b.low),
            __dmul_rd(high, b.high))),
                fmax(fmax(__dmul_ru(low, b.low), __dmul_ru(low, b.high)), fmax(__dmul_ru(high, b.low),
                    __dmul_ru(high, b.high)))};
    }
    __device__ Interval operator/(Interval b) const
    {
        Interval inverse{__ddiv_rd(1, b.high), __ddiv_ru(1, b.low)};
        return *this * inverse;
    }
    __device__ bool has_zero() const { return low <= 0 && high >= 0; }
};
struct Found { Interval *roots; int count, deepest; };
template <typename F, typename D> __device__ void newton(F f, D derivative, Interval x, Found &found,
    int depth)
{
    if (depth > found.deepest) found.deepest = depth;
    if (!f(x).has_zero()) return;
    double middle = 0.5 * (x.low + x.high);
    if (depth > 60 || middle <= x.low || middle >= x.high || x.high - x.low < 1e-13) {
        found.roots[found.count++] = x;
        return;
    }
    Interval slope = derivative(x), point{middle, middle};
    if (!slope.has_zero()) {
        Interval next = point - f(point) / slope;
        next = {fmax(next.low, x.low), fmin(next.high, x.high)};
        if (next.low > next.high) return;
        if (next.high - next.low < 0.6 * (x.high - x.low)) {
            newton(f, derivative, next, found, depth + 1); return; }
    }
    newton(f, derivative, Interval{x.low, middle}, found, depth + 1);
    newton(f, derivative, Interval{middle, x.high}, found, depth + 1);
}
extern "C" __global__ void roots(const double *shift, Interval *out, int *counts)
{
    double a = shift[threadIdx.x];
    auto f = [=](Interval x) { return x * x * x - Interval{4, 4} * x + Interval{a, a}; };
    auto d = [=](Interval x) { return Interval{3, 3} * x * x - Interval{4, 4}; };
    Found found{out + threadIdx.x * 16, 0, 0};
    newton(f, d, Interval{-5.1, 4.9}, found, 0);
    counts[2 * threadIdx.x] = found.count;
    counts[2 * threadIdx.x + 1] = found.deepest;
}
""",
    after="Moore, Interval Analysis (1966); Hansen, Interval Newton Methods (1978)",
    against="numpy.roots lie in the intervals",
)
def interval_newton(run: Run) -> None:
    """Recursion of templates over lambdas, arithmetic that rounds down and up."""
    shifts = np.linspace(-6, 6, 24)
    out, counts = zeros((24, 16, 2), f64), zeros((24, 2), i32)
    run("roots", 1, 24, shifts, out, counts)
    for a, found, (count, deepest) in zip(shifts, out, counts, strict=True):
        roots = np.roots([1, 0, -4, a])
        real = roots[abs(roots.imag) < 1e-9].real
        assert len(real) <= count <= 16 and deepest > 2
        for root in real:
            assert ((found[:count, 0] <= root + 1e-9) & (found[:count, 1] >= root - 1e-9)).any()
        for low, high in found[:count]:
            assert low <= high and high - low < 1e-12 and abs(real - low).min() < 1e-9


@kernel(
    r"""
template <typename F> __device__ double adaptive(const F &f, double a, double b, double fa, double fm,
    double fb,
                                                 double whole, double tolerance, int depth, int *calls)
{
    double m = (a + b) / 2, l = f((a + m) / 2), r = f((m + b) / 2), h = (b - a) / 12;
    *calls += 2;
    double left = h * (fa + 4 * l + fm), right = h * (fm + 4 * r + fb), delta = left + right - whole;
    if (depth <= 0 || fabs(delta) <= 15 * tolerance) return left + right + delta / 15;
    return adaptive(f, a, m, fa, l, fm, left, tolerance / 2, depth - 1, calls)
         + adaptive(f, m, b, fm, r, fb, right, tolerance / 2, depth - 1, calls);
}
template <typename F> __device__ double integrate(F f, double a, double b, int *calls)
{
    double fa = f(a), fm = f((a + b) / 2), fb = f(b);
    return adaptive(f, a, b, fa, fm, fb, (b - a) / 6 * (fa + 4 * fm + fb), 1e-10, 20, calls);
}
extern "C" __global__ void integrals(double *out, int *calls)
{
    int i = threadIdx.x, count = 3;
    double end = 1 + i * 0.25;
    switch (i % 4) {
    case 0: out[i] = integrate([](double x) { return sin(x); }, 0, end, &count); break;
    case 1: out[i] = integrate([](double x) { return exp(-x * x); }, 0, end, &count); break;
    case 2: out[i] = integrate([](double x) { return 1 / (1 + 25 * x * x); }, 0, end, &count); break;
    default: out[i] = integrate([end](double x) { return sqrt(x) * end; }, 0.01, end, &count);
    }
    calls[i] = count;
}
""",
    after="Kuncir, Algorithm 103: Simpson's Rule Integrator (1962)",
    against="the closed forms",
)
def quadrature_adaptive(run: Run) -> None:
    """Recursion whose depth differs from thread to thread, four integrands by a switch."""
    out, calls = zeros(16, f64), zeros(16, i32)
    checked.cuCtxSetLimit(CUlimit.CU_LIMIT_STACK_SIZE, 1 << 14)  # of a thread
    run("integrals", 1, 16, out, calls)
    for i in range(16):
        end = 1 + i * 0.25
        want = [
            1 - math.cos(end),
            math.sqrt(math.pi) / 2 * math.erf(end),
            math.atan(5 * end) / 5,
            end * 2 / 3 * (end**1.5 - 0.01**1.5),
        ][i % 4]
        assert abs(out[i] - want) < 1e-8
    assert calls.min() > 9 and calls.max() > 3 * calls.min()


@kernel(
    r"""
typedef double (*Right)(double, double);
__device__ double decay(double, double y) { return -2 * y; }
__device__ double grow(double t, double) { return cos(t); }
__device__ double logistic(double, double y) { return y * (1 - y); }
__device__ Right equations[] = {decay, grow, logistic};
extern "C" __global__ void runge_kutta(const int *which, double *y, double h, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Right f = equations[which[i]];
    double t = 0, v = y[i];
    for (int s = 0; s < steps; ++s, t += h) {
        double a = f(t, v), b = f(t + h / 2, v + h / 2 * a), c = f(t + h / 2, v + h / 2 * b), d = f(t
            + h, v + h * c);
        v += h / 6 * (a + 2 * b + 2 * c + d);
    }
    y[i] = v;
}
""",
    after="Kutta (1901): the classical method of fourth order",
    against="the closed forms",
)
def runge_kutta(run: Run) -> None:
    """Differential equations through function pointers in a table, another one in each thread."""
    which, y = integers(0, 3, 60), floats(60, f64, 0.1, 0.9)
    y0 = y.copy()
    run("runge_kutta", 2, 30, which, y, 1 / 64, 64)
    grown = y0 * math.e / (1 + y0 * (math.e - 1))
    near(y, np.choose(which, [y0 * math.exp(-2), y0 + math.sin(1), grown]), 1e-7)


@kernel(
    r"""
extern "C" __global__ void thomas(const float *a, const float *b, float *c, float *d, int n, int systems)
{
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= systems) return;
    c[s] /= b[s];
    d[s] /= b[s];
    for (int i = 1; i < n; ++i) {
        int at = i * systems + s;
        float m = 1 / (b[at] - a[at] * c[at - systems]);
        c[at] *= m;
        d[at] = (d[at] - a[at] * d[at - systems]) * m;
    }
    for (int i = n - 2; i >= 0; --i) d[i * systems + s] -= c[i * systems + s] * d[(i + 1) * systems + s];
}
extern "C" __global__ void pcr(const float *a, const float *b, const float *c, const float *d, float *x,
    int n)
{
    extern __shared__ float4 rows[];
    int i = threadIdx.x;
    rows[i] = make_float4(i ? a[i] : 0, b[i], i < n - 1 ? c[i] : 0, d[i]);
    for (int step = 1; step < n; step *= 2) {
        __syncthreads();
        float4 mine = rows[i], up = make_float4(0, 1, 0, 0), down = up;
        if (i >= step) up = rows[i - step];
        if (i + step < n) down = rows[i + step];
        __syncthreads();
        float k1 = mine.x / up.y, k2 = mine.z / down.y;
        rows[i] = make_float4(-up.x * k1, mine.y - up.z * k1 - down.x * k2, -down.z * k2,
                              mine.w - up.w * k1 - down.w * k2);
    }
    x[i] = rows[i].w / rows[i].y;
}
""",
    after="Thomas (1949); Hockney (1965), Zhang, Cohen, Owens, Fast Tridiagonal Solvers on the GPU (2010)",
    against="numpy.linalg.solve",
)
def tridiagonal(run: Run) -> None:
    """A system for each thread one after the other, and one system by parallel cyclic reduction."""
    n, systems = 21, 45
    a, c, d = (floats((n, systems), seed=k) for k in range(3))
    b = floats((n, systems), low=3, high=4, seed=4)
    want = np.empty((n, systems))
    for s in range(systems):
        matrix = np.diag(b[:, s].astype(f64)) + np.diag(a[1:, s], -1) + np.diag(c[:-1, s], 1)
        want[:, s] = np.linalg.solve(matrix, d[:, s])
    got = d.copy()
    run("thomas", 2, 32, a, b, c.copy(), got, n, systems)
    near(got, want, 1e-4, 1e-5)
    x = zeros(n)
    first = [np.ascontiguousarray(m[:, 0]) for m in (a, b, c, d)]
    run("pcr", 1, n, *first, x, n, shared=16 * n)
    near(x, want[:, 0], 1e-4, 1e-5)


@kernel(
    r"""
// one-sided Jacobi: columns in pairs are turned until they are orthogonal;
// eight threads for each pair
extern "C" __global__ void svd(double *a, double *sigma, int rows, int columns, int sweeps)
{
    extern __shared__ double m[];
    for (int i = threadIdx.x; i < rows * columns; i += blockDim.x) m[i] = a[i];
    __syncthreads();
    int half = columns / 2, pair = threadIdx.x / 8, lane = threadIdx.x % 8;
    unsigned mask = 0xffu << (threadIdx.x % 32 / 8 * 8);
    for (int round = 0; round < sweeps * (columns - 1); ++round) {
        auto at = [&](int i) { return i == 0 ? 0 : (i - 1 + round) % (columns - 1) + 1; };
        if (pair < half) {
            int p = at(pair), q = at(columns - 1 - pair);
            double alpha = 0, beta = 0, gamma = 0;
            for (int i = lane; i < rows; i += 8) {
                double x = m[i * columns + p], y = m[i * columns + q];
                alpha += x * x; beta += y * y; gamma += x * y;
            }
            for (int d = 4; d; d /= 2) {
                alpha += __shfl_xor_sync(mask, alpha, d);
                beta += __shfl_xor_sync(mask, beta, d);
                gamma += __shfl_xor_sync(mask, gamma, d);
            }
            if (fabs(gamma) > 1e-15 * sqrt(alpha * beta)) {
                double zeta = (beta - alpha) / (2 * gamma);
                double t = copysign(1.0, zeta) / (fabs(zeta) + sqrt(1 + zeta * zeta)), c = rsqrt(1
                    + t * t), s = c * t;
                for (int i = lane; i < rows; i += 8) {
                    double x = m[i * columns + p], y = m[i * columns + q];
                    m[i * columns + p] = c * x - s * y;
                    m[i * columns + q] = s * x + c * y;
                }
            }
        }
        __syncthreads();
    }
    for (int k = threadIdx.x; k < columns; k += blockDim.x) {
        double sum = 0;
        for (int i = 0; i < rows; ++i) sum += m[i * columns + k] * m[i * columns + k];
        sigma[k] = sqrt(sum);
    }
}
""",
    after="Hestenes (1958); Brent and Luk, Singular-Value Problems (1985): the order of pairs",
    against="numpy.linalg.svd",
)
def singular_values_jacobi(run: Run) -> None:
    """Pairs of columns go round; groups of eight threads add doubles by shuffles under masks."""
    a, sigma = floats((13, 8), f64), zeros(8, f64)
    run("svd", 1, 32, a, sigma, 13, 8, 7, shared=13 * 8 * 8)
    near(np.sort(sigma)[::-1], np.linalg.svd(a, compute_uv=False), 1e-9)


@kernel(
    r"""
// numbers of 32 limbs, a limb a lane: carries go round by ballots (carry lookahead)
__device__ unsigned add(unsigned a, unsigned b, unsigned &carry_out)
{
    unsigned sum = a + b, generate = __ballot_sync(~0u, sum < a), propagate = __ballot_sync(~0u, sum == ~0u);
    unsigned long long carries = ((unsigned long long)(generate << 1) + propagate);
    carries ^= propagate;
    unsigned in = (unsigned)carries >> threadIdx.x % 32 & 1;
    carry_out = generate >> 31 | (unsigned)(carries >> 32 & 1);
    return sum + in;
}
extern "C" __global__ void big_add(const unsigned *a, const unsigned *b, unsigned *c, unsigned *carry)
{
    int i = blockIdx.x * 32 + threadIdx.x;
    unsigned out;
    c[i] = add(a[i], b[i], out);
    if (!threadIdx.x) carry[blockIdx.x] = out;
}
// schoolbook product of 8 limbs by 8 in one thread, by chains of carries
extern "C" __global__ void big_multiply(const unsigned *a, const unsigned *b, unsigned *c)
{
    int t = threadIdx.x;
    unsigned r[16] = {};
    for (int i = 0; i < 8; ++i) {
        unsigned carry = 0;
        for (int j = 0; j < 8; ++j) {
            unsigned low, high;
            asm("{\n\t"
                "mad.lo.cc.u32 %0, %2, %3, %4;\n\t"
                "madc.hi.u32 %1, %2, %3, 0;\n\t"
                "add.cc.u32 %0, %0, %5;\n\t"
                "addc.u32 %1, %1, 0;\n\t"
                "}" : "=&r"(low), "=&r"(high) : "r"(a[t * 8 + i]), "r"(b[t * 8 + j]), "r"(r[i + j]),
                    "r"(carry));
            r[i + j] = low;
            carry = high;
        }
        r[i + 8] = carry;
    }
    for (int i = 0; i < 16; ++i) c[t * 16 + i] = r[i];
}
extern "C" __global__ void wide(const unsigned long long *a, const unsigned long long *b,
    unsigned __int128 *out)
{
    int t = threadIdx.x;
    unsigned __int128 x = (unsigned __int128)a[t] << 64 | b[t], y = b[t] | 1;
    __int128 s = -(__int128)(x >> 1);
    out[5 * t] = x / y;
    out[5 * t + 1] = x % y;
    out[5 * t + 2] = x * x;
    out[5 * t + 3] = (unsigned __int128)(s / (__int128)(y >> 3 | 1));
    out[5 * t + 4] = (unsigned __int128)(s >> (b[t] & 127));
}
""",
    after="Knuth, The Art of Computer Programming 2, 4.3.1; Emmart and Weems (2011): carries by ballots",
    against="Python integers",
    device_int128=True,
)
def big_integers(run: Run) -> None:
    """Carries across a warp, chains of mad.cc in inline PTX, 128-bit division, signed and unsigned."""
    random = np.random.default_rng(0)
    a, b = random.integers(0, 2**32, (9, 32), u32), random.integers(0, 2**32, (9, 32), u32)
    a[1], b[1], a[2], b[2] = 0xFFFFFFFF, 0, 0xFFFFFFFF, 0xFFFFFFFF
    b[1, 0], b[3] = 1, ~a[3]
    c, carry = zeros((9, 32), u32), zeros(9, u32)
    run("big_add", 9, 32, a, b, c, carry)

    def number(row: np.ndarray) -> int:
        return int.from_bytes(row.tobytes(), "little")

    for i in range(9):
        assert number(c[i]) + (int(carry[i]) << 1024) == number(a[i]) + number(b[i])
    x, y, z = a.reshape(36, 8), b.reshape(36, 8), zeros((36, 16), u32)
    run("big_multiply", 1, 36, x, y, z)
    for i in range(36):
        assert number(z[i]) == number(x[i]) * number(y[i])
    p, q, out = a.view(u64)[5], b.view(u64)[5] >> np.arange(16, dtype=u64) * u64(4), zeros((16, 5, 2), u64)
    run("wide", 1, 16, p, q, out)
    for i, (one, two) in enumerate(zip(p.tolist(), q.tolist(), strict=True)):
        wide, odd = one << 64 | two, two | 1
        s, divisor = -(wide >> 1), odd >> 3 | 1
        quotient = -(-s // divisor)
        want = [wide // odd, wide % odd, wide * wide, quotient, s >> (two & 127)]
        assert [number(v) for v in out[i]] == [v % 2**128 for v in want]


@kernel(
    r"""
typedef unsigned long long u64;
__device__ u64 reduce(u64 high, u64 low, u64 n, u64 inverse)
{
    u64 m = low * inverse, t = __umul64hi(m, n);
    return high < t ? high - t + n : high - t;
}
__device__ u64 multiply(u64 a, u64 b, u64 n, u64 inverse) { return reduce(__umul64hi(a, b), a * b, n,
    inverse); }
extern "C" __global__ void miller_rabin(const u64 *numbers, int *prime, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    u64 n = numbers[i];
    if (n < 4 || n % 2 == 0) { prime[i] = n == 2 || n == 3; return; }
    u64 inverse = n;
    for (int k = 0; k < 5; ++k) inverse *= 2 - n * inverse;
    u64 one = -n % n, minus = n - one, r2 = one;
    for (int k = 0; k < 64; ++k) r2 = r2 >= n - r2 ? r2 - (n - r2) : r2 + r2;  // 2^128 mod n
    int twos = __ffsll(n - 1) - 1;
    const unsigned char bases[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
    int found = 1;
    for (unsigned char base : bases) {
        if (base % n == 0) continue;
        u64 b = multiply(base % n, r2, n, inverse), x = one;
        for (u64 e = (n - 1) >> twos; e; e >>= 1) {
            if (e & 1) x = multiply(x, b, n, inverse);
            b = multiply(b, b, n, inverse);
        }
        if (x == one || x == minus) continue;
        int k = 1;
        for (; k < twos; ++k) if ((x = multiply(x, x, n, inverse)) == minus) break;
        if (k >= twos) { found = 0; break; }
    }
    prime[i] = found;
}
""",
    after="Montgomery (1985); Miller (1976), Rabin (1980); Sorenson and Webster (2015): twelve bases",
    against="Python's pow",
)
def miller_rabin(run: Run) -> None:
    """64-bit primes by products modulo n without division."""
    known = [2**61 - 1, 2**64 - 59, 2**64 - 57, 3215031751, 3825123056546413051]
    numbers = np.array([*range(60), *known], u64)
    more = np.random.default_rng(0).integers(2**40, 2**63, 80).astype(u64) | u64(1)
    numbers = np.r_[numbers, more]
    prime = zeros(len(numbers), i32)
    run("miller_rabin", 3, 64, numbers, prime, len(numbers))
    bases = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)

    def is_prime(n: int) -> bool:
        if n < 2 or any(n % p == 0 for p in bases):
            return n in bases
        d, s = n - 1, 0
        while d % 2 == 0:
            d, s = d // 2, s + 1
        return all(
            pow(a, d, n) in (1, n - 1) or any(pow(a, d << k, n) == n - 1 for k in range(1, s)) for a in bases
        )

    same(prime.astype(bool), [is_prime(n) for n in numbers.tolist()])


@kernel(
    r"""
extern "C" __global__ void sieve(unsigned *composite, int limit)
{
    int segment = blockIdx.x * 1024;
    __shared__ unsigned bits[32];
    if (threadIdx.x < 32) bits[threadIdx.x] = 0;
    __syncthreads();
    for (int p = 2 + threadIdx.x; p * p < segment + 1024; p += blockDim.x) {
        bool prime = p == 2 || p % 2;
        for (int q = 3; prime && q * q <= p; q += 2) prime = p % q;
        if (!prime) continue;
        for (int m = max(p * p, (segment + p - 1) / p * p); m < segment + 1024; m += p)
            atomicOr(bits + (m - segment) / 32, 1u << m % 32);
    }
    __syncthreads();
    if (threadIdx.x < 32) composite[blockIdx.x * 32 + threadIdx.x] = bits[threadIdx.x];
}
extern "C" __global__ void collatz(int *steps, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    long long x = i + 1;
    int count = 0;
    for (; x != 1; ++count) x = x & 1 ? 3 * x + 1 : x >> 1;
    steps[i] = count;
}
extern "C" __global__ void gcd(const int *a, const int *b, int *g)
{
    unsigned x = a[threadIdx.x], y = b[threadIdx.x];
    if (!x || !y) { g[threadIdx.x] = x | y; return; }
    int shift = __ffs(x | y) - 1;
    x >>= __ffs(x) - 1;
    do {
        y >>= __ffs(y) - 1;
        if (x > y) { unsigned t = x; x = y; y = t; }
        y -= x;
    } while (y);
    g[threadIdx.x] = x << shift;
}
""",
    after="Eratosthenes by segments: Bays and Hudson (1977); Stein, Binary gcd (1967)",
    against="Python loops, numpy.gcd",
)
def sieve_and_loops(run: Run) -> None:
    """Bits in shared memory, loops whose lengths differ, binary gcd."""
    words = zeros(4 * 32, u32)
    run("sieve", 4, 96, words, 4096)
    bits = np.unpackbits(words.view(np.uint8), bitorder="little").astype(bool)
    want = np.zeros(4096, bool)
    for p in range(2, 64):
        want[p * p :: p] = True
    same(bits, want)
    steps = zeros(500, i32)
    run("collatz", 4, 128, steps, 500)
    for i in range(500):
        x, count = i + 1, 0
        while x != 1:
            x, count = (3 * x + 1 if x % 2 else x // 2), count + 1
        assert steps[i] == count
    a, b, g = integers(0, 5000, 90), integers(0, 5000, 90, seed=1) * 6, zeros(90, i32)
    a[0] = 0
    run("gcd", 1, 90, a, b, g)
    same(g, np.gcd(a, b))


@kernel(
    r"""
__constant__ float angles[24];
extern "C" __global__ void cordic(const float *angle, float2 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = 0.607252935f, y = 0, z = angle[i], power = 1;
    for (int k = 0; k < 24; ++k, power *= 0.5f) {
        float sign = copysignf(1.0f, z), t = x - sign * y * power;
        y = fmaf(sign * x, power, y);
        x = t;
        z -= sign * angles[k];
    }
    out[i] = make_float2(x, y);
}
extern "C" __global__ void fast_inverse_root(const float *x, float *y)
{
    float v = x[threadIdx.x], half = 0.5f * v;
    v = __int_as_float(0x5f3759df - (__float_as_int(v) >> 1));
    for (int k = 0; k < 3; ++k) v = v * (1.5f - half * v * v);
    y[threadIdx.x] = v;
}
extern "C" __global__ void special(const double *x, double *y, int n)
{
    int i = threadIdx.x;
    if (i >= n) return;
    double v = x[i];
    double results[] = {erf(v), tgamma(v + 3), lgamma(v + 3), cbrt(v), expm1(v), log1p(v), sinh(v),
        atan2(v, 0.5),
                        hypot(v, 2.0), fmod(v * 7, 0.3), remainder(v * 7, 0.3), nearbyint(v * 10), j0(v),
                            normcdf(v),
                        scalbn(v, 5), ldexp(frexp(v, &n), n)};
    for (int k = 0; k < 16; ++k) y[k * blockDim.x + i] = results[k];
}
""",
    after="Volder, CORDIC (1959); Lomont, Fast Inverse Square Root (2003)",
    against="numpy and math",
)
def functions_by_hand(run: Run) -> None:
    """CORDIC with a table in constant memory, roots from bits, the mathematical functions of doubles."""
    run.assign("angles", np.arctan(2.0 ** -np.arange(24)).astype(f32))
    x, out = floats(100, low=-1.5, high=1.5), zeros((100, 2))
    run("cordic", 2, 64, x, out, 100)
    near(out, np.stack([np.cos(x), np.sin(x)], 1), 0, 2e-6)
    y, roots = floats(64, low=0.01, high=100), zeros(64)
    run("fast_inverse_root", 1, 64, y, roots)
    near(roots, 1 / np.sqrt(y.astype(f64)), 1e-6)
    v = floats(50, f64, low=-0.99, high=2)
    got = zeros((16, 50), f64)
    run("special", 1, 50, v, got, 50)
    bessel = [sum((-1) ** k * (a / 2) ** (2 * k) / math.factorial(k) ** 2 for k in range(25)) for a in v]
    want = [
        [math.erf(a) for a in v],
        [math.gamma(a + 3) for a in v],
        [math.lgamma(a + 3) for a in v],
        np.cbrt(v),
        np.expm1(v),
        np.log1p(v),
        np.sinh(v),
        np.arctan2(v, 0.5),
        np.hypot(v, 2),
        np.fmod(v * 7, 0.3),
        [math.remainder(a * 7, 0.3) for a in v],
        np.rint(v * 10),
        bessel,
        [math.erfc(-a / math.sqrt(2)) / 2 for a in v],
        v * 32,
        v,
    ]
    near(got, want, 1e-13, 1e-14)


@kernel(
    r"""
// greatest eigenvalue and its vector by powers, in one launch: a cooperative grid
#define _CG_LIMIT_INCLUDED_DEPENDENCIES  // without libcu++, which takes NVRTC more than a second
#include <cooperative_groups.h>
extern "C" __global__ void power(const double *a, double *x, double *y, double *norms, int n, int steps)
{
    auto grid = cooperative_groups::this_grid();
    for (int s = 0; s < steps; ++s) {
        const double *from = s % 2 ? y : x;
        double *to = s % 2 ? x : y, scale = s ? rsqrt(norms[s - 1]) : 1;
        for (int row = blockIdx.x; row < n; row += gridDim.x) {
            double sum = 0;
            for (int k = threadIdx.x; k < n; k += 32) sum += a[row * n + k] * from[k] * scale;
            for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(~0u, sum, d);
            if (!threadIdx.x) { to[row] = sum; atomicAdd(norms + s, sum * sum); }
        }
        grid.sync();
    }
}
""",
    after="von Mises and Pollaczek-Geiringer (1929): the power iteration",
    against="numpy.linalg.eigvalsh",
)
def power_iteration(run: Run) -> None:
    """Grid barriers and atomics of doubles in one cooperative launch."""
    n = 41
    m = floats((n, n), f64, 0, 1)
    a = m + m.T
    x, y, norms = np.ones(n), zeros(n, f64), zeros(40, f64)
    run("power", 5, 32, a, x, y, norms, n, 40, is_cooperative=True)
    near(math.sqrt(norms[-1]), np.linalg.eigvalsh(a)[-1], 1e-10)
