"""Stencils, images, transforms, particles."""

from __future__ import annotations

import numpy as np

from .kernel import Run, kernel
from .values import f32, f64, floats, i32, integers, near, same, u8, u32, u64, zeros

FFT = r"""
__device__ float2 times(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y
    + a.y * b.x); }
extern "C" __global__ void radix2(float2 *x, int n, int bits, float sign)
{
    extern __shared__ float2 s[];
    for (int i = threadIdx.x; i < n; i += blockDim.x) s[__brev(i) >> (32 - bits)] = x[blockIdx.x * n + i];
    for (int half = 1; half < n; half *= 2) {
        __syncthreads();
        for (int i = threadIdx.x; i < n / 2; i += blockDim.x) {
            int k = i & (half - 1), a = 2 * i - k;
            float2 w;
            sincospif(sign * k / half, &w.y, &w.x);
            float2 u = s[a], v = times(w, s[a + half]);
            s[a] = make_float2(u.x + v.x, u.y + v.y);
            s[a + half] = make_float2(u.x - v.x, u.y - v.y);
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) x[blockIdx.x * n + i] = s[i];
}
extern "C" __global__ void stockham(double2 *x, double2 *y, int n)
{
    // radix 4, no reversal: each pass reads one buffer and writes the other
    int t = threadIdx.x;
    for (int p = 1; p < n; p *= 4) {
        int k = t & (p - 1);
        double2 u[4];
        for (int i = 0; i < 4; ++i) {
            double s, c;
            sincospi(-2.0 * k * i / (4 * p), &s, &c);
            double2 v = x[t + i * (n / 4)];
            u[i] = make_double2(v.x * c - v.y * s, v.x * s + v.y * c);
        }
        double2 a = make_double2(u[0].x + u[2].x, u[0].y + u[2].y), b = make_double2(u[0].x - u[2].x,
            u[0].y - u[2].y);
        double2 c = make_double2(u[1].x + u[3].x, u[1].y + u[3].y), d = make_double2(u[1].y - u[3].y,
            u[3].x - u[1].x);
        double2 *to = y + (t - k) * 4 + k;
        to[0] = make_double2(a.x + c.x, a.y + c.y);
        to[p] = make_double2(b.x + d.x, b.y + d.y);
        to[2 * p] = make_double2(a.x - c.x, a.y - c.y);
        to[3 * p] = make_double2(b.x - d.x, b.y - d.y);
        __syncthreads();
        double2 *swap = x; x = y; y = swap;
    }
}
"""


@kernel(FFT, after="Cooley and Tukey (1965)", against="numpy.fft.fft, ifft")
def fft_radix_2(run: Run) -> None:
    """Reversed bits, forward and back, lengths from 2 to 256."""
    for bits in (1, 5, 8):
        n = 1 << bits
        x = (floats((3, n)) + 1j * floats((3, n), seed=1)).astype("c8")
        got = x.copy()
        run("radix2", 3, 48, got, n, bits, -1.0, shared=8 * n)
        near(got, np.fft.fft(x), 1e-4, 1e-4)
        run("radix2", 3, 48, got, n, bits, 1.0, shared=8 * n)
        near(got / n, x, 1e-4, 1e-5)


@kernel(
    FFT,
    after="Stockham (1966); Govindaraju et al., High Performance Discrete Fourier Transforms (2008)",
    against="numpy.fft.fft",
)
def fft_stockham(run: Run) -> None:
    """Radix 4 in binary64, two buffers in global memory between barriers."""
    n = 256
    x = floats(n, f64) + 1j * floats(n, f64, seed=1)
    work, other = x.copy(), np.zeros_like(x)
    run("stockham", 1, n // 4, work, other, n)
    near(work, np.fft.fft(x), 1e-12, 1e-12)


@kernel(
    r"""
typedef unsigned long long u64;
#define P 0xffffffff00000001ull
__device__ u64 add(u64 a, u64 b) { u64 s = a + b; return s < a || s >= P ? s - P : s; }
__device__ u64 sub(u64 a, u64 b) { return a >= b ? a - b : a - b + P; }
__device__ u64 mul(u64 a, u64 b)
{
    u64 low = a * b, high = __umul64hi(a, b), t = low - (high >> 32);
    if (low < high >> 32) t -= 0xffffffffull;  // 2^96 = -1
    u64 u = (high & 0xffffffff) * 0xffffffffull, r = t + u;  // 2^64 = 2^32 - 1
    if (r < t) r += 0xffffffffull;
    return r >= P ? r - P : r;
}
extern "C" __global__ void ntt(u64 *x, int n, u64 root)
{
    __shared__ u64 s[128];
    int t = threadIdx.x;
    s[t] = x[t]; s[t + n / 2] = x[t + n / 2];
    for (int half = n / 2; half; half >>= 1, root = mul(root, root)) {
        __syncthreads();
        int k = t % half, a = 2 * t - k;
        u64 w = 1, base = root;
        for (int e = k; e; e >>= 1, base = mul(base, base)) if (e & 1) w = mul(w, base);
        u64 u = s[a], v = s[a + half];
        s[a] = add(u, v);
        s[a + half] = mul(sub(u, v), w);
    }
    __syncthreads();
    x[t] = s[t]; x[t + n / 2] = s[t + n / 2];
}
extern "C" __global__ void walsh(int *x, int n)
{
    extern __shared__ int w[];
    for (int i = threadIdx.x; i < n; i += blockDim.x) w[i] = x[i];
    for (int h = 1; h < n; h <<= 1) {
        __syncthreads();
        for (int i = threadIdx.x; i < n / 2; i += blockDim.x) {
            int a = i / h * 2 * h + i % h, u = w[a], v = w[a + h];
            w[a] = u + v;
            w[a + h] = u - v;
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = w[i];
}
""",
    after="Pollard (1971): finite fields; Solinas primes (1999); Fino and Algazi (1976): Walsh",
    against="the sums in Python integers; numpy.kron",
)
def transforms_of_integers(run: Run) -> None:
    """Modulo 2^64 - 2^32 + 1 with the reductions that this prime has; Walsh-Hadamard."""
    p, n = 2**64 - 2**32 + 1, 128
    root = pow(7, (p - 1) // n, p)
    x = np.random.default_rng(0).integers(0, 2**63, n).astype(u64)
    x[:3] = [p - 1, p - 2, 0]
    got = x.copy()
    run("ntt", 1, n // 2, got, n, root)
    values = x.tolist()
    for i in range(0, n, 5):
        want = sum(v * pow(root, i * k, p) for k, v in enumerate(values)) % p
        assert got[int(f"{i:07b}"[::-1], 2)] == want
    y, hadamard = integers(-99, 99, 64), np.ones((1, 1), i32)
    for _ in range(6):
        hadamard = np.kron(hadamard, np.array([[1, 1], [1, -1]], i32))
    run("walsh", 1, 20, y, 64, shared=256)
    same(y, hadamard @ integers(-99, 99, 64))


@kernel(
    r"""
__constant__ float taps[9];
template <int RADIUS, bool DOWN> __device__ void convolve(const float *in, float *out, int w, int h)
{
    __shared__ float tile[16 + (DOWN ? 2 * RADIUS : 0)][16 + (DOWN ? 0 : 2 * RADIUS)];
    int x0 = blockIdx.x * 16 - (DOWN ? 0 : RADIUS), y0 = blockIdx.y * 16 - (DOWN ? RADIUS : 0);
    const int W = DOWN ? 16 : 16 + 2 * RADIUS, H = DOWN ? 16 + 2 * RADIUS : 16;
    for (int i = threadIdx.y * 16 + threadIdx.x; i < W * H; i += 256) {
        int x = min(max(x0 + i % W, 0), w - 1), y = min(max(y0 + i / W, 0), h - 1);
        tile[i / W][i % W] = in[y * w + x];
    }
    __syncthreads();
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x >= w || y >= h) return;
    float sum = 0;
    #pragma unroll
    for (int k = 0; k <= 2 * RADIUS; ++k)
        sum += taps[k] * (DOWN ? tile[threadIdx.y + k][threadIdx.x] : tile[threadIdx.y][threadIdx.x + k]);
    out[y * w + x] = sum;
}
extern "C" __global__ void rows(const float *in, float *out, int w, int h) {
    convolve<4, false>(in, out, w, h); }
extern "C" __global__ void columns(const float *in, float *out, int w, int h) {
    convolve<4, true>(in, out, w, h); }
extern "C" __global__ void median(const unsigned char *in, unsigned char *out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= w) return;
    unsigned char v[9];
    for (int i = 0; i < 9; ++i) v[i] = in[min(max(y + i / 3 - 1, 0), h - 1) * w + min(max(x + i % 3 - 1,
        0), w - 1)];
    for (int i = 0; i < 5; ++i)
        for (int j = i + 1; j < 9; ++j)
            if (v[j] < v[i]) { unsigned char t = v[i]; v[i] = v[j]; v[j] = t; }
    out[y * w + x] = v[4];
}
extern "C" __global__ void sobel(const uchar4 *in, unsigned char *out, int w, int h)
{
    int x = threadIdx.x, y = blockIdx.x;
    auto grey = [&](int dx, int dy) {
        uchar4 p = in[min(max(y + dy, 0), h - 1) * w + min(max(x + dx, 0), w - 1)];
        return (77 * p.x + 150 * p.y + 29 * p.z) >> 8;
    };
    int gx = grey(1, -1) + 2 * grey(1, 0) + grey(1, 1) - grey(-1, -1) - 2 * grey(-1, 0) - grey(-1, 1);
    int gy = grey(-1, 1) + 2 * grey(0, 1) + grey(1, 1) - grey(-1, -1) - 2 * grey(0, -1) - grey(1, -1);
    out[y * w + x] = min(abs(gx) + abs(gy), 255);
}
""",
    after="Podlozhnyuk, Image Convolution with CUDA (2007); Huang (1979): medians; Sobel and Feldman (1968)",
    against="NumPy shifts of padded images",
)
def image_filters(run: Run) -> None:
    """Separable convolution with halos, medians of nine bytes, edges of colours."""
    w, h, taps = 37, 21, floats(9, seed=5)
    x, middle, out = floats((h, w)), zeros((h, w)), zeros((h, w))
    run.assign("taps", taps)
    run("rows", (3, 2), (16, 16), x, middle, w, h)
    run("columns", (3, 2), (16, 16), middle, out, w, h)
    padded = np.pad(x.astype(f64), 4, "edge")
    across = sum(t * padded[:, k : k + w] for k, t in enumerate(taps))
    near(out, sum(t * across[k : k + h] for k, t in enumerate(taps)), 1e-4, 1e-5)
    y, middles = integers(0, 256, (h, w), u8), zeros((h, w), u8)
    run("median", (2, h), 32, y, middles, w, h)
    nine = np.lib.stride_tricks.sliding_window_view(np.pad(y, 1, "edge"), (3, 3)).reshape(h, w, 9)
    same(middles, np.sort(nine, -1)[..., 4])
    colours, edges = integers(0, 256, (h, w, 4), u8), zeros((h, w), u8)
    run("sobel", h, w, colours, edges, w, h)
    grey = np.pad((colours[..., :3].astype(i32) @ np.array([77, 150, 29])) >> 8, 1, "edge")
    s = np.lib.stride_tricks.sliding_window_view(grey, (3, 3))
    gx = s[..., 0, 2] + 2 * s[..., 1, 2] + s[..., 2, 2] - s[..., 0, 0] - 2 * s[..., 1, 0] - s[..., 2, 0]
    gy = s[..., 2, 0] + 2 * s[..., 2, 1] + s[..., 2, 2] - s[..., 0, 0] - 2 * s[..., 0, 1] - s[..., 0, 2]
    same(edges, np.minimum(abs(gx) + abs(gy), 255))


@kernel(
    r"""
extern "C" __global__ void heat3d(const float *in, float *out, int nx, int ny, int nz, float c)
{
    __shared__ float plane[10][10];
    int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, tx = threadIdx.x + 1,
        ty = threadIdx.y + 1;
    bool inside = x < nx && y < ny;
    auto at = [=](int i, int j, int k) { return (k * ny + j) * nx + i; };
    float below = 0, here = inside ? in[at(x, y, 0)] : 0, above = inside && nz > 1 ? in[at(x, y, 1)] : 0;
    for (int z = 0; z < nz; ++z) {
        __syncthreads();
        plane[ty][tx] = here;
        if (inside) {
            if (tx == 1) plane[ty][0] = x ? in[at(x - 1, y, z)] : 0;
            if (tx == 8 || x == nx - 1) plane[ty][tx + 1] = x < nx - 1 ? in[at(x + 1, y, z)] : 0;
            if (ty == 1) plane[0][tx] = y ? in[at(x, y - 1, z)] : 0;
            if (ty == 8 || y == ny - 1) plane[ty + 1][tx] = y < ny - 1 ? in[at(x, y + 1, z)] : 0;
        }
        __syncthreads();
        if (inside)
            out[at(x, y, z)] = here + c * (plane[ty][tx - 1] + plane[ty][tx + 1] + plane[ty - 1][tx]
                + plane[ty + 1][tx]
                                           + below + above - 6 * here);
        below = here;
        here = above;
        above = inside && z + 2 < nz ? in[at(x, y, z + 2)] : 0;
    }
}
extern "C" __global__ void life(const unsigned *in, unsigned *out, int words, int height)
{
    // 32 cells in a word: sums of neighbours by bits
    int w = threadIdx.x, y = blockIdx.x;
    unsigned twos = 0, ones = 0, fours = 0, self = in[y * words + w];
    for (int dy = -1; dy <= 1; ++dy) {
        const unsigned *row = in + (y + dy + height) % height * words;
        unsigned c = row[w], l = row[(w + words - 1) % words], r = row[(w + 1) % words];
        unsigned parts[3] = {__funnelshift_l(l, c, 1), dy ? c : 0, __funnelshift_r(c, r, 1)};
        for (unsigned p : parts) {
            unsigned carry = ones & p;
            ones ^= p;
            fours |= twos & carry;
            twos ^= carry;
        }
    }
    out[y * words + w] = twos & ~fours & (ones | self);
}
""",
    after="Micikevicius, 3D Finite Difference Computation on GPUs (2009); Conway's Life, by bits",
    against="NumPy shifts",
)
def stencils(run: Run) -> None:
    """A heat equation that marches through planes, with edges; Life with 32 cells in a word."""
    nx, ny, nz = 19, 13, 7
    x, out = floats((nz, ny, nx)), zeros((nz, ny, nx))
    run("heat3d", (3, 2), (8, 8), x, out, nx, ny, nz, 0.1)
    p = np.pad(x.astype(f64), 1)
    around = p[1:-1, 1:-1, :-2] + p[1:-1, 1:-1, 2:] + p[1:-1, :-2, 1:-1] + p[1:-1, 2:, 1:-1]
    near(out, x + 0.1 * (around + p[:-2, 1:-1, 1:-1] + p[2:, 1:-1, 1:-1] - 6 * x), 1e-5, 1e-6)
    cells = integers(0, 2, (20, 96), u8)
    words = np.packbits(cells, axis=1, bitorder="little").view(u32)
    for _ in range(4):
        new = np.empty_like(words)
        run("life", 20, 3, words, new, 3, 20)
        words = new
        near8 = sum(np.roll(cells, (a, b), (0, 1)) for a in (-1, 0, 1) for b in (-1, 0, 1) if a or b)
        cells = ((near8 == 3) | ((cells == 1) & (near8 == 2))).astype(u8)
    same(np.unpackbits(words.view(u8), axis=1, bitorder="little"), cells)


@kernel(
    r"""
__device__ float3 interact(float3 a, float4 me, float4 other)
{
    float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
    float d = dx * dx + dy * dy + dz * dz + 0.01f, i = rsqrtf(d), s = other.w * i * i * i;
    a.x += dx * s; a.y += dy * s; a.z += dz * s;
    return a;
}
extern "C" __global__ void n_body(const float4 *bodies, float3 *out, int n)
{
    extern __shared__ float4 tile[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = i < n ? bodies[i] : make_float4(0, 0, 0, 0);
    float3 a = make_float3(0, 0, 0);
    for (int first = 0; first < n; first += blockDim.x) {
        tile[threadIdx.x] = first + threadIdx.x < n ? bodies[first + threadIdx.x] : make_float4(0, 0, 0, 0);
        __syncthreads();
        #pragma unroll 4
        for (int k = 0; k < blockDim.x; ++k) a = interact(a, me, tile[k]);
        __syncthreads();
    }
    if (i < n) out[i] = a;
}
// cells by counting: particles find neighbours in nine cells
extern "C" __global__ void cells(const float2 *x, int *counts, int *slots, int side, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int c = (int)(x[i].y * side) * side + (int)(x[i].x * side), at = atomicAdd(counts + c, 1);
        if (at < 16) slots[c * 16 + at] = i;
    }
}
extern "C" __global__ void neighbours(const float2 *x, const int *counts, const int *slots, int *found,
    float radius, int side, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, count = 0;
    if (i >= n) return;
    int cx = x[i].x * side, cy = x[i].y * side;
    for (int y = max(cy - 1, 0); y <= min(cy + 1, side - 1); ++y)
        for (int u = max(cx - 1, 0); u <= min(cx + 1, side - 1); ++u)
            for (int k = 0; k < min(counts[y * side + u], 16); ++k) {
                int j = slots[(y * side + u) * 16 + k];
                float dx = x[i].x - x[j].x, dy = x[i].y - x[j].y;
                count += j != i && __fadd_rn(__fmul_rn(dx, dx), __fmul_rn(dy, dy)) < radius * radius;
            }
    found[i] = count;
}
""",
    after="Nyland, Harris, Prins, Fast N-Body Simulation with CUDA (2007); Green, Particle Simulation (2010)",
    against="NumPy, all pairs",
)
def particles(run: Run) -> None:
    """Gravity by tiles, structs of three floats; neighbours by cells."""
    bodies, out = floats((75, 4), low=0), zeros((75, 3))
    run("n_body", 3, 32, bodies, out, 75, shared=512)
    wide = bodies.astype(f64)
    d = wide[None, :, :3] - wide[:, None, :3]
    near(out, (d * (wide[None, :, 3:] / ((d**2).sum(-1, keepdims=True) + 0.01) ** 1.5)).sum(1), 1e-4, 1e-4)
    x, counts, slots, found = floats((200, 2), low=0), zeros(100, i32), zeros((100, 16), i32), zeros(200, i32)
    run("cells", 4, 64, x, counts, slots, 10, 200)
    assert counts.max() <= 16
    run("neighbours", 4, 64, x, counts, slots, found, 0.1, 10, 200)
    e = x[:, None] - x
    same(found, (e[..., 0] * e[..., 0] + e[..., 1] * e[..., 1] < f32(0.1) * f32(0.1)).sum(1) - 1)


@kernel(
    r"""
// 8 x 8 blocks: cosine transform by a matrix in constant memory, quantized, zigzag, run lengths
__constant__ float cosines[8][8];
__constant__ unsigned char zigzag[64];
extern "C" __global__ void dct(const unsigned char *in, short *out, int *lengths, int width, float step)
{
    __shared__ float a[8][9], b[8][9];
    __shared__ short coded[64];
    int x = threadIdx.x, y = threadIdx.y, t = y * 8 + x;
    a[y][x] = in[(blockIdx.y * 8 + y) * width + blockIdx.x * 8 + x] - 128.0f;
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 8; ++k) sum += a[y][k] * cosines[x][k];
    b[y][x] = sum;
    __syncthreads();
    sum = 0;
    for (int k = 0; k < 8; ++k) sum += b[k][x] * cosines[y][k];
    a[y][x] = sum;
    __syncthreads();
    coded[t] = (short)lrintf(a[zigzag[t] / 8][zigzag[t] % 8] / step);
    int last = __syncthreads_count(coded[t] != 0);
    int block = blockIdx.y * gridDim.x + blockIdx.x;
    out[block * 64 + t] = coded[t];
    if (t == 0) lengths[block] = last;
}
""",
    after="Ahmed, Natarajan, Rao, Discrete Cosine Transform (1974); ITU-T T.81, zigzag",
    against="NumPy @ the matrix of cosines",
)
def cosine_transform(run: Run) -> None:
    """Blocks of 8 x 8 as JPEG has them; two-dimensional blocks of threads."""
    k, n = np.mgrid[:8, :8]
    matrix = np.where(k == 0, np.sqrt(1 / 8), 0.5) * np.cos(np.pi * (2 * n + 1) * k / 16)
    order = sorted(range(64), key=lambda i: (i // 8 + i % 8, i // 8 if (i // 8 + i % 8) % 2 else i % 8))
    run.assign("cosines", matrix.astype(f32))
    run.assign("zigzag", np.array(order, u8))
    image, out, lengths = integers(0, 256, (24, 40), u8), zeros((15, 64), np.int16), zeros(15, i32)
    run("dct", (5, 3), (8, 8), image, out, lengths, 40, 10.0)
    blocks = image.reshape(3, 8, 5, 8).transpose(0, 2, 1, 3).reshape(15, 8, 8) - 128.0
    want = (matrix @ blocks @ matrix.T).reshape(15, 64)[:, order] / 10
    assert abs(out - want).max() < 0.502
    same(lengths, np.count_nonzero(out, axis=1))


@kernel(
    r"""
struct Ray { float3 o, d; };
struct Sphere { float3 c; float r; int colour; };
__constant__ Sphere scene[5];
__device__ float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ float3 along(float3 o, float3 d, float t) { return make_float3(o.x + d.x * t, o.y + d.y * t,
    o.z + d.z * t); }
__device__ int trace(const Ray &ray, int depth, float &travelled)
{
    float nearest = 1e30f;
    int hit = -1;
    for (int i = 0; i < 5; ++i) {
        float3 oc = along(ray.o, scene[i].c, -1);
        float b = dot(oc, ray.d), disc = b * b - dot(oc, oc) + scene[i].r * scene[i].r;
        if (disc < 0) continue;
        float t = -b - sqrtf(disc);
        if (t > 1e-3f && t < nearest) { nearest = t; hit = i; }
    }
    if (hit < 0) return 0;
    travelled += nearest;
    if (depth == 3 || scene[hit].colour != 9) return scene[hit].colour;
    Ray next;
    next.o = along(ray.o, ray.d, nearest);
    float3 normal = along(next.o, scene[hit].c, -1);
    float s = -2 * dot(normal, ray.d) / dot(normal, normal);
    next.d = along(ray.d, normal, s);
    return 10 + trace(next, depth + 1, travelled);
}
extern "C" __global__ void render(int *image, float *distance, int side)
{
    int x = threadIdx.x, y = blockIdx.x;
    float3 d = make_float3((x - side / 2 + 0.5f) / side, (y - side / 2 + 0.5f) / side, 1);
    float n = rnorm3df(d.x, d.y, d.z), far = 0;
    Ray ray{make_float3(0, 0, -3), make_float3(d.x * n, d.y * n, d.z * n)};
    image[y * side + x] = trace(ray, 0, far);
    distance[y * side + x] = far;
}
""",
    after="Whitted, An Improved Illumination Model for Shaded Display (1980)",
    against="the same recursion in Python, binary64",
)
def ray_tracing(run: Run) -> None:
    """Spheres that mirror one another: recursion whose depth differs by pixel."""
    kind = np.dtype([("c", f32, 3), ("r", f32), ("colour", i32)])
    scene = zeros(5, kind)
    scene["c"] = [[0, 0, 0], [1, 0.5, 0], [-1, 0.3, -0.5], [0, -1.2, 0.5], [0.3, 1.1, -0.6]]
    scene["r"], scene["colour"] = [0.6, 0.5, 0.4, 0.7, 0.3], [9, 9, 3, 9, 5]
    run.assign("scene", scene.view(u8))
    side = 32
    image, distance = zeros((side, side), i32), zeros((side, side))
    run("render", side, side, image, distance, side)
    centres, radii = scene["c"].astype(f64), scene["r"].astype(f64)

    def trace(o: np.ndarray, d: np.ndarray, depth: int) -> tuple[int, float]:
        oc = o - centres
        b = oc @ d
        disc = b * b - (oc * oc).sum(1) + radii**2
        t = np.where(disc >= 0, -b - np.sqrt(np.maximum(disc, 0)), np.inf)
        t = np.where(t > 1e-3, t, np.inf)
        hit = int(t.argmin())
        if not np.isfinite(t[hit]):
            return 0, 0.0
        if depth == 3 or scene["colour"][hit] != 9:
            return int(scene["colour"][hit]), float(t[hit])
        p = o + d * t[hit]
        normal = p - centres[hit]
        colour, far = trace(p, d - 2 * (normal @ d) / (normal @ normal) * normal, depth + 1)
        return 10 + colour, float(t[hit]) + far

    wrong = 0
    for y in range(side):
        for x in range(side):
            d = np.array([(x - side / 2 + 0.5) / side, (y - side / 2 + 0.5) / side, 1])
            colour, far = trace(np.array([0, 0, -3.0]), d / np.linalg.norm(d), 0)
            wrong += colour != image[y, x] or abs(far - distance[y, x]) > 1e-2
    assert wrong < 8 and (image > 20).any()  # at edges rounding decides
