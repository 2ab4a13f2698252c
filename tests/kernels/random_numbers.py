"""Generators of random numbers, and Monte Carlo methods."""

from __future__ import annotations

import math

import numpy as np

from .kernel import Run, kernel
from .values import Array, f32, f64, i32, near, same, u32, u64, zeros

PHILOX = r"""
struct Philox {
    uint4 counter; uint2 key;
    __device__ static uint4 round(uint4 c, uint2 k)
    {
        unsigned h0 = __umulhi(0xD2511F53u, c.x), l0 = 0xD2511F53u * c.x;
        unsigned h1 = __umulhi(0xCD9E8D57u, c.z), l1 = 0xCD9E8D57u * c.z;
        return make_uint4(h1 ^ c.y ^ k.x, l1, h0 ^ c.w ^ k.y, l0);
    }
    __device__ uint4 operator()() const
    {
        uint4 c = counter;
        uint2 k = key;
        for (int i = 0; i < 10; ++i) {
            c = round(c, k);
            k.x += 0x9E3779B9u;
            k.y += 0xBB67AE85u;
        }
        return c;
    }
};
extern "C" __global__ void generate(uint4 *out, uint2 key, unsigned high)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = Philox{make_uint4(i, 0, high, ~0u), key}();
}
extern "C" __global__ void pi(unsigned long long *inside, int draws)
{
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, count = 0;
    for (int i = 0; i < draws; ++i) {
        uint4 r = Philox{make_uint4(thread, i, 0, 0), make_uint2(1, 2)}();
        float x = (r.x >> 8) * 0x1p-24f, y = (r.y >> 8) * 0x1p-24f;
        count += __fadd_rn(__fmul_rn(x, x), __fmul_rn(y, y)) < 1.0f;
    }
    count = __reduce_add_sync(~0u, count);
    if (threadIdx.x % 32 == 0) atomicAdd(inside, (unsigned long long)count);
}
extern "C" __global__ void option(const float *spot, float *mean, float strike, float rate,
    float volatility, int draws)
{
    __shared__ float sums[64];
    float sum = 0;
    for (int i = threadIdx.x; i < draws; i += 64) {
        uint4 r = Philox{make_uint4(i, blockIdx.x, 0, 0), make_uint2(7, 9)}();
        float u = fmaf(r.x, 0x1p-32f, 0x1p-33f), v = r.y * 0x1p-32f, s, c;
        sincospif(2 * v, &s, &c);
        float radius = sqrtf(-2 * logf(u)), drift = rate - 0.5f * volatility * volatility;
        sum += fmaxf(spot[blockIdx.x] * expf(drift + volatility * radius * c) - strike, 0.0f);
        sum += fmaxf(spot[blockIdx.x] * expf(drift + volatility * radius * s) - strike, 0.0f);
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < 64; ++i) sum += sums[i];
        mean[blockIdx.x] = expf(-rate) * sum / (2 * draws);
    }
}
"""


def philox(counter: Array, key: tuple[int, int]) -> Array:
    """Philox4x32-10 of rows of four counters."""
    c, mask = counter.astype(u64), u64(0xFFFFFFFF)
    k0, k1 = key
    for _ in range(10):
        p0, p1 = c[:, 0] * u64(0xD2511F53), c[:, 2] * u64(0xCD9E8D57)
        c = np.stack(
            [p1 >> u64(32) ^ c[:, 1] ^ u64(k0), p1 & mask, p0 >> u64(32) ^ c[:, 3] ^ u64(k1), p0 & mask], 1
        )
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return c.astype(u32)


SALMON = "Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3 (2011)"


@kernel(PHILOX, after=SALMON, against="the published test vectors; numpy.random.Philox's algorithm in NumPy")
def philox_4x32(run: Run) -> None:
    """Ten rounds from counters and a key in a vector argument."""
    out, key = zeros((256, 4), u32), np.zeros((), np.dtype([("x", u32), ("y", u32)]))
    key["x"], key["y"] = 0x12345678, 0xFFFFFFFF
    run("generate", 2, 128, out, key[()], 5)
    counters = np.zeros((256, 4), u32)
    counters[:, 0], counters[:, 2], counters[:, 3] = np.arange(256), 5, 0xFFFFFFFF
    same(out, philox(counters, (0x12345678, 0xFFFFFFFF)))
    known = philox(zeros((1, 4), u32), (0, 0))  # of the authors' kat_vectors
    same(known[0], np.array([0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8], u32))


@kernel(
    PHILOX,
    after=SALMON + "; Metropolis and Ulam, The Monte Carlo Method (1949)",
    against="the same draws in NumPy",
)
def monte_carlo_pi(run: Run) -> None:
    """Points in a quarter of a circle, counted exactly."""
    inside = zeros(1, u64)
    run("pi", 4, 64, inside, 20)
    counters = zeros((256 * 20, 4), u32)
    counters[:, 0], counters[:, 1] = np.repeat(np.arange(256), 20), np.tile(np.arange(20), 256)
    x, y = ((philox(counters, (1, 2))[:, i] >> u32(8)).astype(f32) * f32(2**-24) for i in (0, 1))
    assert inside[0] == np.count_nonzero(x * x + y * y < 1)


@kernel(
    PHILOX,
    after=SALMON + "; Box and Muller (1958); Boyle, Options: A Monte Carlo Approach (1977)",
    against="the same draws in numpy.float64",
)
def monte_carlo_option(run: Run) -> None:
    """Prices of European calls from pairs of normal numbers."""
    spots, mean = np.array([80, 100, 130], f32), zeros(3)
    run("option", 3, 64, spots, mean, 100.0, 0.05, 0.2, 1000)
    want = []
    for block, spot in enumerate(spots):
        counters = zeros((1000, 4), u32)
        counters[:, 0], counters[:, 1] = np.arange(1000), block
        r = philox(counters, (7, 9)).astype(f64) / 2**32
        radius, angle = np.sqrt(-2 * np.log(r[:, 0] + 2**-33)), 2 * np.pi * r[:, 1]
        z = radius * np.stack([np.cos(angle), np.sin(angle)])
        want.append(np.exp(-0.05) * np.maximum(spot * np.exp(0.03 + 0.2 * z) - 100, 0).mean())
    near(mean, want, 2e-4)


@kernel(
    r"""
struct State { unsigned x[5], d; };
__device__ unsigned next(State &s)
{
    unsigned t = s.x[0] ^ s.x[0] >> 2;
    s.x[0] = s.x[1]; s.x[1] = s.x[2]; s.x[2] = s.x[3]; s.x[3] = s.x[4];
    s.x[4] = s.x[4] ^ s.x[4] << 4 ^ (t ^ t << 1);
    return (s.d += 362437) + s.x[4];
}
extern "C" __global__ void xorwow(State *states, unsigned *out, int draws)
{
    int i = threadIdx.x;
    State s = states[i];
    for (int k = 0; k < draws; ++k) out[k * blockDim.x + i] = next(s);
    states[i] = s;
}
""",
    after="Marsaglia, Xorshift RNGs (2003): xorwow",
    against="Python integers",
)
def xorwow(run: Run) -> None:
    """States of six words in structs, written back for the next launch."""
    states = np.tile(np.array([123456789, 362436069, 521288629, 88675123, 5783321, 6615241], u32), (40, 1))
    states[:, 0] += np.arange(40, dtype=u32)
    begun, out = states.tolist(), zeros((2, 30, 40), u32)
    for part in out:
        run("xorwow", 1, 40, states, part, 30)
    want = zeros((60, 40), u32)
    for i, (*x, d) in enumerate(begun):
        for k in range(60):
            t = x[0] ^ x[0] >> 2
            x = [*x[1:], (x[4] ^ x[4] << 4 ^ t ^ t << 1) & 0xFFFFFFFF]
            d = (d + 362437) & 0xFFFFFFFF
            want[k, i] = (d + x[4]) & 0xFFFFFFFF
    same(out.reshape(60, 40), want)


@kernel(
    r"""
#define N 624
#define M 397
// the block makes the next 624 words together: three parts, each of which needs only words that are there
extern "C" __global__ void twister(unsigned *out, unsigned seed, int rounds)
{
    __shared__ unsigned mt[N];
    int t = threadIdx.x;
    if (t == 0) {
        mt[0] = seed;
        for (int i = 1; i < N; ++i) mt[i] = 1812433253u * (mt[i - 1] ^ mt[i - 1] >> 30) + i;
    }
    __syncthreads();
    for (int round = 0; round < rounds; ++round) {
        auto update = [&](int from, int to) {
            int i = from + t;
            unsigned next = 0;
            if (i < to) {
                unsigned y = (mt[i] & 0x80000000u) | (mt[(i + 1) % N] & 0x7fffffffu);
                next = mt[(i + M) % N] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0);
            }
            __syncthreads();
            if (i < to) mt[i] = next;
            __syncthreads();
        };
        update(0, N - M);
        update(N - M, 2 * (N - M));
        update(2 * (N - M), N - 1);
        update(N - 1, N);
        for (int i = t; i < N; i += blockDim.x) {
            unsigned y = mt[i];
            y ^= y >> 11;
            y ^= y << 7 & 0x9d2c5680u;
            y ^= y << 15 & 0xefc60000u;
            out[round * N + i] = y ^ y >> 18;
        }
        __syncthreads();
    }
}
""",
    after="Matsumoto and Nishimura, Mersenne Twister (1998)",
    against="numpy.random.RandomState",
)
def mersenne_twister(run: Run) -> None:
    """A block makes 624 words at a time, by a lambda that has barriers in it."""
    out = zeros(3 * 624, u32)
    run("twister", 1, 256, out, 5489, 3)
    same(out, np.random.RandomState(5489).randint(0, 2**32, 3 * 624, u32))


@kernel(
    r"""
extern "C" __global__ void pcg(unsigned long long *states, unsigned *out, int draws)
{
    unsigned long long state = states[threadIdx.x], increment = 2 * threadIdx.x + 1;
    for (int i = 0; i < draws; ++i) {
        unsigned long long old = state;
        state = old * 6364136223846793005ull + increment;
        unsigned shifted = ((old >> 18) ^ old) >> 27, turn = old >> 59;
        out[i * blockDim.x + threadIdx.x] = __funnelshift_r(shifted, shifted, turn);
    }
    states[threadIdx.x] = state;
}
extern "C" __global__ void skip(unsigned long long *states, unsigned long long steps)
{
    unsigned long long a = 6364136223846793005ull, c = 2 * threadIdx.x + 1, all = 1, plus = 0;
    for (; steps; steps >>= 1, c *= a + 1, a *= a)
        if (steps & 1) { all *= a; plus = plus * a + c; }
    states[threadIdx.x] = all * states[threadIdx.x] + plus;
}
""",
    after="O'Neill, PCG (2014); Brown, Random Number Generation with Arbitrary Strides (1994)",
    against="Python integers",
)
def pcg_32(run: Run) -> None:
    """A linear congruence of 64 bits, rotations, and a jump ahead that gives the same as the steps."""
    states = np.arange(50, dtype=u64) * u64(0x123456789ABCDEF)
    jumped, begun, out = states.copy(), states.tolist(), zeros((17, 50), u32)
    run("pcg", 1, 50, states, out, 17)
    run("skip", 1, 50, jumped, 17)
    same(jumped, states)
    for i, state in enumerate(begun):
        for k in range(17):
            word, turn = ((state >> 18 ^ state) >> 27) & 0xFFFFFFFF, state >> 59
            assert out[k, i] == (word >> turn | word << (-turn & 31)) & 0xFFFFFFFF
            state = (state * 6364136223846793005 + 2 * i + 1) % 2**64


@kernel(
    r"""
extern "C" __global__ void xoshiro(ulonglong4 *states, double *out, int draws)
{
    ulonglong4 s = states[threadIdx.x];
    auto turn = [](unsigned long long x, int k) { return x << k | x >> (64 - k); };
    for (int i = 0; i < draws; ++i) {
        unsigned long long result = turn(s.y * 5, 7) * 9, t = s.y << 17;
        s.z ^= s.x; s.w ^= s.y; s.y ^= s.z; s.x ^= s.w; s.z ^= t;
        s.w = turn(s.w, 45);
        out[i * blockDim.x + threadIdx.x] = (result >> 11) * 0x1p-53;
    }
    states[threadIdx.x] = s;
}
""",
    after="Blackman and Vigna, Scrambled Linear Pseudorandom Number Generators (2018): xoshiro256**",
    against="Python integers",
)
def xoshiro_256(run: Run) -> None:
    """Vectors of four 64-bit words, rotations of 64 bits, doubles between 0 and 1."""
    states = np.random.default_rng(0).integers(1, 2**63, (33, 4)).astype(u64)
    begun, out = states.tolist(), zeros((9, 33), f64)
    run("xoshiro", 1, 33, states, out, 9)
    mask = 2**64 - 1

    def turn(x: int, k: int) -> int:
        return (x << k | x >> (64 - k)) & mask

    for i, (x, y, z, w) in enumerate(begun):
        for k in range(9):
            assert out[k, i] == (turn(y * 5 & mask, 7) * 9 & mask) // 2**11 / 2**53
            t = y << 17 & mask
            z, w = z ^ x, w ^ y
            y, x, z, w = y ^ z, x ^ w, z ^ t, turn(w, 45)


@kernel(
    r"""
#define M1 4294967087.0
#define M2 4294944443.0
extern "C" __global__ void mrg(double *states, double *out, int draws)
{
    double s[6];
    for (int i = 0; i < 6; ++i) s[i] = states[threadIdx.x * 6 + i];
    for (int k = 0; k < draws; ++k) {
        double p = 1403580.0 * s[1] - 810728.0 * s[0];
        p -= trunc(p / M1) * M1;
        if (p < 0) p += M1;
        s[0] = s[1]; s[1] = s[2]; s[2] = p;
        double q = 527612.0 * s[5] - 1370589.0 * s[3];
        q -= trunc(q / M2) * M2;
        if (q < 0) q += M2;
        s[3] = s[4]; s[4] = s[5]; s[5] = q;
        out[k * blockDim.x + threadIdx.x] = p > q ? p - q : p - q + M1;
    }
}
""",
    after="L'Ecuyer, Combined Multiple Recursive Random Number Generators (1999): MRG32k3a",
    against="Python integers",
)
def mrg_32k3a(run: Run) -> None:
    """Recurrences modulo two primes, in doubles that stay exact."""
    states, out = np.full((20, 6), 12345.0) + np.arange(20)[:, None], zeros((50, 20), f64)
    run("mrg", 1, 20, states, out, 50)
    for i in range(20):
        a, b, m1, m2 = [12345 + i] * 3, [12345 + i] * 3, 4294967087, 4294944443
        for k in range(50):
            a = [a[1], a[2], (1403580 * a[1] - 810728 * a[0]) % m1]
            b = [b[1], b[2], (527612 * b[2] - 1370589 * b[0]) % m2]
            assert out[k, i] == ((a[2] - b[2]) % m1 or m1)


@kernel(
    r"""
__constant__ unsigned directions[3][32];
extern "C" __global__ void sobol(float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, d = blockIdx.y;
    if (i >= n) return;
    unsigned gray = i ^ i >> 1, x = 0;
    while (gray) {
        int bit = __ffs(gray) - 1;
        x ^= directions[d][bit];
        gray &= gray - 1;
    }
    out[d * n + i] = x * 0x1p-32f;
}
extern "C" __global__ void halton(double *out, int base, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double f = 1, r = 0;
    for (int k = i + 1; k > 0; k /= base) { f /= base; r += f * (k % base); }
    out[i] = r;
}
extern "C" __global__ void corput(unsigned *out) { out[threadIdx.x] = __brev(threadIdx.x); }
""",
    after="Bratley and Fox, Algorithm 659 (1988); Antonov and Saleev (1979); Halton (1960)",
    against="the recurrences in Python integers",
)
def quasi_random(run: Run) -> None:
    """Sobol points by Gray codes and constant memory, Halton points, reversed bits."""
    directions = zeros((3, 32), u32)
    directions[0] = [1 << (31 - i) for i in range(32)]
    for d, (degree, a, m) in enumerate([(1, 0, [1]), (2, 1, [1, 3])], 1):
        v = [one << (31 - i) for i, one in enumerate(m)]
        for i in range(degree, 32):
            value = v[i - degree] ^ v[i - degree] >> degree
            for k in range(1, degree):
                value ^= (a >> (degree - 1 - k) & 1) * v[i - k]
            v.append(value)
        directions[d] = v
    run.assign("directions", directions)
    out = zeros((3, 200))
    run("sobol", (2, 3), 128, out, 200)
    for d in range(3):
        x = 0
        for i in range(200):
            assert out[d, i] == f32(u32(x)) * f32(2**-32)
            x ^= int(directions[d, (~i & i + 1).bit_length() - 1])
    for base in (2, 3, 7):
        points, want = zeros(100, f64), zeros(100, f64)
        run("halton", 1, 128, points, base, 100)
        for i in range(100):
            k, scale = i + 1, 1.0
            while k:
                scale /= base
                want[i] += scale * (k % base)
                k //= base
        near(points, want, 1e-14)
    bits = zeros(77, u32)
    run("corput", 1, 77, bits)
    same(bits, [int(f"{i:032b}"[::-1], 2) for i in range(77)])


@kernel(
    r"""
__device__ unsigned hash(unsigned x)
{
    x = (x ^ 61) ^ x >> 16; x *= 9; x ^= x >> 4; x *= 0x27d4eb2d; return x ^ x >> 15;
}
extern "C" __global__ void ising(signed char *spins, int side, int colour, int step, unsigned threshold4,
    unsigned threshold8)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= side * side / 2) return;
    int y = i / (side / 2), x = 2 * (i % (side / 2)) + ((y ^ colour) & 1);
    auto at = [=](int dy, int dx) { return (int)spins[(y + dy + side) % side * side + (x + dx
        + side) % side]; };
    int energy = 2 * at(0, 0) * (at(0, 1) + at(0, -1) + at(1, 0) + at(-1, 0));
    unsigned r = hash(step * 40503u + y * side + x);
    if (energy <= 0 || r < (energy == 4 ? threshold4 : threshold8)) spins[y * side + x] = -spins[y * side
        + x];
}
""",
    after="Preis et al., GPU Accelerated Monte Carlo Simulation of the 2D and 3D Ising Model (2009)",
    against="the same draws in NumPy",
)
def monte_carlo_ising(run: Run) -> None:
    """Metropolis steps on a board of two colours, in place, with a hash for random numbers."""
    side, spins = 24, np.ones((24, 24), np.int8)
    want = spins.astype(i32)
    y, x = np.mgrid[:side, :side]
    limits = {4: int(math.exp(-4 / 2.2) * 2**32), 8: int(math.exp(-8 / 2.2) * 2**32)}
    for step in range(8):
        for colour in (0, 1):
            number = 2 * step + colour
            run("ising", 5, 64, spins, side, colour, number, limits[4], limits[8])
            h = (u64(number * 40503) + (y * side + x).astype(u64)).astype(u32)
            h = h ^ u32(61) ^ h >> u32(16)
            h = h * u32(9)
            h ^= h >> u32(4)
            h *= u32(0x27D4EB2D)
            h ^= h >> u32(15)
            near4 = sum(np.roll(want, shift, axis) for shift in (1, -1) for axis in (0, 1))
            energy = 2 * want * near4
            chosen = (energy <= 0) | (h < np.where(energy == 4, limits[4], limits[8]))
            want = np.where(chosen & ((x + y) % 2 == colour), -want, want)
    same(spins, want)


@kernel(
    r"""
// alias tables: two draws give an item of any distribution
extern "C" __global__ void draw(const float *cut, const int *alias, const uint2 *random, int *out,
    int items, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int item = __umulhi(random[i].x, items);
        float u = __uint2float_rz(random[i].y) * 0x1p-32f;
        out[i] = u < cut[item] ? item : alias[item];
    }
}
// the same by rejection, where threads need different numbers of tries
extern "C" __global__ void reject(const float *weights, unsigned *states, int *out, int *tries, int items)
{
    unsigned s = states[threadIdx.x];
    for (int count = 1;; ++count) {
        s ^= s << 13; s ^= s >> 17; s ^= s << 5;
        int item = s % items;
        s ^= s << 13; s ^= s >> 17; s ^= s << 5;
        if ((s >> 8) * 0x1p-24f < weights[item]) { out[threadIdx.x] = item; tries[threadIdx.x] = count;
            break; }
    }
}
""",
    after="Vose (1991): the alias method; von Neumann (1951): rejection; Marsaglia (2003): xorshift",
    against="the same draws in NumPy",
)
def sampling_discrete(run: Run) -> None:
    """Alias tables, and rejection with loops of different lengths."""
    random = np.random.default_rng(0)
    cut, alias = random.random(9).astype(f32), random.integers(0, 9, 9).astype(i32)
    words, out = random.integers(0, 2**32, (500, 2), u32), zeros(500, i32)
    run("draw", 2, 96, cut, alias, words, out, 9, 500)
    item = (words[:, 0].astype(u64) * u64(9) >> u64(32)).astype(i32)
    same(out, np.where(words[:, 1] / 2.0**32 < cut[item], item, alias[item]))
    weights, states = np.array([0.5, 0.03, 0.1, 0.9, 0.01], f32), random.integers(1, 2**32, 64, u32)
    got, tries = zeros(64, i32), zeros(64, i32)
    run("reject", 1, 64, weights, states, got, tries, 5)
    for i, s in enumerate(states.tolist()):

        def step(s: int) -> int:
            s ^= s << 13 & 0xFFFFFFFF
            s ^= s >> 17
            return s ^ s << 5 & 0xFFFFFFFF

        count = 0
        while True:
            count, s = count + 1, step(s)
            chosen = s % 5
            s = step(s)
            if f32((s >> 8) * 2.0**-24) < weights[chosen]:
                break
        assert (got[i], tries[i]) == (chosen, count)
