"""Filters, transforms, coding, and what is done to images."""

from __future__ import annotations

import itertools

import numpy as np

from .kernel import Run, kernel
from .values import f32, f64, floats, i32, integers, near, same, u8, u32, zeros


@kernel(
    r"""
extern "C" __global__ void haar(const float *in, float *out, int n)
{
    extern __shared__ float s[];
    for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = in[blockIdx.x * n + i];
    for (int half = n / 2; half; half /= 2) {
        __syncthreads();
        float low = 0, high = 0;
        if (threadIdx.x < half) {
            float a = s[2 * threadIdx.x], b = s[2 * threadIdx.x + 1];
            low = (a + b) * 0.5f;
            high = (a - b) * 0.5f;
        }
        __syncthreads();
        if (threadIdx.x < half) { s[threadIdx.x] = low; out[blockIdx.x * n + half + threadIdx.x] = high; }
    }
    if (!threadIdx.x) out[blockIdx.x * n] = s[0];
}
""",
    after="Haar (1910); Mallat, A Theory for Multiresolution Signal Decomposition (1989)",
    against="NumPy averages and differences",
)
def wavelet_haar(run: Run) -> None:
    """All levels in shared memory, fewer threads at each."""
    x = integers(-99, 99, (3, 128), f32)
    out = zeros((3, 128))
    run("haar", 3, 64, x, out, 128, shared=512)
    want, low = [], x
    while low.shape[1] > 1:
        want.insert(0, (low[:, ::2] - low[:, 1::2]) / 2)
        low = (low[:, ::2] + low[:, 1::2]) / 2
    same(out, np.concatenate([low, *want], 1))


@kernel(
    r"""
extern "C" __global__ void goertzel(const float *x, int n, double *power, int bins)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= bins) return;
    double c = 2 * cospi(2.0 * k / n), s1 = 0, s2 = 0;
    for (int i = 0; i < n; ++i) { double s = x[i] + c * s1 - s2; s2 = s1; s1 = s; }
    power[k] = s1 * s1 + s2 * s2 - c * s1 * s2;
}
""",
    after="Goertzel, An Algorithm for the Evaluation of Finite Trigonometric Series (1958)",
    against="numpy.fft.rfft",
)
def goertzel_bins(run: Run) -> None:
    """The power at each frequency, by a recurrence in binary64."""
    x, power = floats(200), zeros(101, f64)
    run("goertzel", 4, 32, x, 200, power, 101)
    near(power, np.abs(np.fft.rfft(x.astype(f64))) ** 2, 1e-7, 1e-8)


@kernel(
    r"""
extern "C" __global__ void fir(const float *x, const float *taps, float *y, int n, int count)
{
    extern __shared__ float window[];
    int first = blockIdx.x * blockDim.x - count + 1;
    for (int i = threadIdx.x; i < blockDim.x + count - 1; i += blockDim.x) {
        int at = first + i;
        window[i] = at >= 0 && at < n ? x[at] : 0;
    }
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < count; ++k) sum += taps[k] * window[threadIdx.x + count - 1 - k];
    if (i < n) y[i] = sum;
}
""",
    after="Oppenheim and Schafer, Discrete-Time Signal Processing: filters of finite response",
    against="numpy.convolve",
)
def filter_finite(run: Run) -> None:
    """A window of samples before those of the block, in dynamic shared memory."""
    x, taps, y = integers(-9, 9, 500, f32), integers(-9, 9, 17, f32), zeros(500)
    run("fir", 8, 64, x, taps, y, 500, 17, shared=4 * 80)
    same(y, np.convolve(x, taps)[:500])


@kernel(
    r"""
struct Affine { double a, b; };
__device__ Affine after(Affine first, Affine second)
{
    return {first.a * second.a, first.b * second.a + second.b};
}
extern "C" __global__ void smooth(const double *x, double *y, double alpha, int n)
{
    __shared__ Affine ends[8];
    int i = threadIdx.x, lane = i & 31, warp = i / 32;
    Affine mine = i < n ? Affine{1 - alpha, alpha * x[i]} : Affine{1, 0};
    for (int d = 1; d < 32; d *= 2) {
        Affine before = {__shfl_up_sync(~0u, mine.a, d), __shfl_up_sync(~0u, mine.b, d)};
        if (lane >= d) mine = after(before, mine);
    }
    if (lane == 31) ends[warp] = mine;
    __syncthreads();
    Affine all = {1, 0};
    for (int w = 0; w < warp; ++w) all = after(all, ends[w]);
    if (i < n) y[i] = after(all, mine).b;
}
""",
    after="Blelloch, Prefix Sums and Their Applications (1990): recurrences of the first order",
    against="the recurrence, one step after the other",
)
def filter_recursive(run: Run) -> None:
    """Exponential smoothing as a scan of affine maps, which do not commute; shuffles of doubles."""
    x, y = floats(250, f64), zeros(250, f64)
    run("smooth", 1, 256, x, y, 0.125, 250)
    want, value = [], 0.0
    for one in x:
        value += 0.125 * (one - value)
        want.append(value)
    near(y, want, 1e-12, 1e-13)


@kernel(
    r"""
extern "C" __global__ void rows(const unsigned char *in, unsigned *sums, int w)
{
    unsigned carry = 0;
    for (int start = 0; start < w; start += 32) {
        int x = start + threadIdx.x;
        unsigned v = x < w ? in[blockIdx.x * w + x] : 0;
        for (int d = 1; d < 32; d *= 2) {
            unsigned left = __shfl_up_sync(~0u, v, d);
            if (threadIdx.x >= d) v += left;
        }
        if (x < w) sums[blockIdx.x * w + x] = v + carry;
        carry += __shfl_sync(~0u, v, 31);
    }
}
extern "C" __global__ void columns(unsigned *sums, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x < w) for (int y = 1; y < h; ++y) sums[y * w + x] += sums[(y - 1) * w + x];
}
extern "C" __global__ void box(const unsigned *sums, float *out, int w, int h, int r)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= w) return;
    int x0 = max(x - r, 0) - 1, x1 = min(x + r, w - 1), y0 = max(y - r, 0) - 1, y1 = min(y + r, h - 1);
    auto at = [=](int i, int j) { return i < 0 || j < 0 ? 0u : sums[j * w + i]; };
    unsigned sum = at(x1, y1) - at(x0, y1) - at(x1, y0) + at(x0, y0);
    out[y * w + x] = (float)sum / ((x1 - x0) * (y1 - y0));
}
""",
    after="Crow, Summed-area Tables for Texture Mapping (1984)",
    against="NumPy means of slices",
)
def box_filter(run: Run) -> None:
    """Sums of all that is above and left, and means of boxes by four of them."""
    image, sums, out = integers(0, 256, (20, 45), u8), zeros((20, 45), u32), zeros((20, 45))
    run("rows", 20, 32, image, sums, 45)
    run("columns", 2, 32, sums, 45, 20)
    same(sums, image.cumsum(0).cumsum(1))
    run("box", (2, 20), 32, sums, out, 45, 20, 3)
    for y, x in itertools.product(range(20), range(45)):
        near(out[y, x], image[max(y - 3, 0) : y + 4, max(x - 3, 0) : x + 4].mean(), 1e-6)


@kernel(
    r"""
extern "C" __global__ void bilateral(const float *in, float *out, int w, int h, float space, float range)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float centre = in[y * w + x], sum = 0, weights = 0;
    for (int dy = -2; dy <= 2; ++dy)
        for (int dx = -2; dx <= 2; ++dx) {
            int i = x + dx, j = y + dy;
            if (i < 0 || i >= w || j < 0 || j >= h) continue;
            float d = in[j * w + i] - centre;
            float weight = expf(-(dx * dx + dy * dy) * space - d * d * range);
            sum += weight * in[j * w + i];
            weights += weight;
        }
    out[y * w + x] = sum / weights;
}
""",
    after="Tomasi and Manduchi, Bilateral Filtering for Gray and Color Images (1998)",
    against="NumPy, all shifts at once",
)
def bilateral_filter(run: Run) -> None:
    """Weights by distance and by difference; loops that skip what is outside."""
    image, out = floats((13, 21), low=0), zeros((13, 21))
    run("bilateral", (2, 2), (16, 8), image, out, 21, 13, 0.2, 3.0)
    padded = np.pad(image.astype(f64), 2, constant_values=np.nan)
    total = weights = np.zeros((13, 21))
    for dy, dx in itertools.product(range(-2, 3), repeat=2):
        other = padded[2 + dy : 15 + dy, 2 + dx : 23 + dx]
        weight = np.exp(-(dx * dx + dy * dy) * 0.2 - (other - image) ** 2 * 3)
        total = total + np.nan_to_num(weight * other)
        weights = weights + np.nan_to_num(weight)
    near(out, total / weights, 1e-5)


@kernel(
    r"""
extern "C" __global__ void erode(const unsigned *in, unsigned *out, int words, int h, int dilate)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= words) return;
    unsigned flip = dilate ? ~0u : 0, all = ~0u;
    for (int dy = -1; dy <= 1; ++dy) {
        int j = y + dy;
        if (j < 0 || j >= h) continue;
        unsigned c = in[j * words + x] ^ flip;
        unsigned l = x ? in[j * words + x - 1] ^ flip : ~0u;
        unsigned r = x + 1 < words ? in[j * words + x + 1] ^ flip : ~0u;
        all &= c & __funnelshift_l(l, c, 1) & __funnelshift_r(c, r, 1);
    }
    out[y * words + x] = all ^ flip;
}
""",
    after="Serra, Image Analysis and Mathematical Morphology (1982)",
    against="NumPy minima and maxima of shifted images",
)
def morphology(run: Run) -> None:
    """Binary images, 32 pixels in a word; funnel shifts bring the neighbours."""
    image = integers(0, 5, (17, 96)) > 0
    words = np.packbits(image, axis=1, bitorder="little").view(u32)
    for dilate, of in ((0, np.min), (1, np.max)):
        out = np.zeros_like(words)
        run("erode", (1, 17), 32, words, out, 3, 17, dilate)
        padded = np.pad(image, 1, constant_values=not dilate)
        shifted = [padded[j : j + 17, i : i + 96] for j in range(3) for i in range(3)]
        got = np.unpackbits(out.view(u8), axis=1, bitorder="little").astype(bool)
        same(got, of(shifted, axis=0))


@kernel(
    r"""
extern "C" __global__ void label(const unsigned char *image, int *labels, int w, int h, int *changed)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= w || !image[y * w + x]) return;
    int i = y * w + x, best = labels[i];
    if (x && image[i - 1]) best = min(best, labels[i - 1]);
    if (x + 1 < w && image[i + 1]) best = min(best, labels[i + 1]);
    if (y && image[i - w]) best = min(best, labels[i - w]);
    if (y + 1 < h && image[i + w]) best = min(best, labels[i + w]);
    while (best != labels[best]) best = labels[best];
    if (atomicMin(&labels[i], best) > best) *changed = 1;
}
""",
    after="Rosenfeld and Pfaltz, Sequential Operations in Digital Picture Processing (1966)",
    against="a flood fill in Python",
)
def connected_components(run: Run) -> None:
    """Labels spread until none changes, by shortcuts through the labels of labels."""
    image = (integers(0, 10, (24, 33)) < 6).astype(u8)
    labels = np.arange(24 * 33, dtype=i32).reshape(24, 33)
    changed = np.ones(1, i32)
    while changed[0]:
        changed[0] = 0
        run("label", (2, 24), 32, image, labels, 33, 24, changed)
    want = np.arange(24 * 33).reshape(24, 33)
    seen = np.zeros_like(image)
    for start in zip(*np.nonzero(image), strict=True):
        pending = [start]
        while pending:
            y, x = pending.pop()
            if 0 <= y < 24 and 0 <= x < 33 and image[y, x] and not seen[y, x]:
                seen[y, x] = 1
                want[y, x] = start[0] * 33 + start[1]
                pending += [(y + 1, x), (y - 1, x), (y, x + 1), (y, x - 1)]
    same(labels, want)


@kernel(
    r"""
extern "C" __global__ void hough(const short2 *points, int n, unsigned *votes, int angles, int radii)
{
    extern __shared__ unsigned line[];
    int a = blockIdx.x;
    for (int r = threadIdx.x; r < radii; r += blockDim.x) line[r] = 0;
    __syncthreads();
    double s, c;
    sincospi((double)a / angles, &s, &c);
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int r = (int)floor(points[i].x * c + points[i].y * s + 0.37) + radii / 2;
        if (r >= 0 && r < radii) atomicAdd(&line[r], 1u);
    }
    __syncthreads();
    for (int r = threadIdx.x; r < radii; r += blockDim.x) votes[a * radii + r] = line[r];
}
""",
    after="Duda and Hart, Use of the Hough Transformation to Detect Lines and Curves (1972)",
    against="numpy.histogram of distances",
)
def hough_lines(run: Run) -> None:
    """Votes for lines: a block for each angle, counters in shared memory."""
    points = integers(0, 40, (150, 2)).astype(np.int16)
    votes = zeros((12, 128), u32)
    run("hough", 12, 64, points, 150, votes, 12, 128, shared=512)
    for a in range(12):
        angle = np.pi * a / 12
        where = points[:, 0] * np.cos(angle) + points[:, 1] * np.sin(angle)
        same(votes[a], np.bincount(np.floor(where + 0.37).astype(int) + 64, minlength=128))


@kernel(
    r"""
extern "C" __global__ void encode(const unsigned char *data, unsigned *code, int words)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= words) return;
    unsigned d = data[i], p = 0, spread = 0;
    const int places[8] = {3, 5, 6, 7, 9, 10, 11, 12};
    for (int k = 0; k < 8; ++k) if (d >> k & 1) { spread |= 1u << places[k]; p ^= places[k]; }
    for (int k = 0; k < 4; ++k) if (p >> k & 1) spread |= 1u << (1 << k);
    code[i] = spread | (__popc(spread) & 1);
}
extern "C" __global__ void decode(const unsigned *code, unsigned char *data, int *state, int words)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= words) return;
    unsigned c = code[i], p = 0;
    for (unsigned rest = c >> 1 << 1; rest; rest &= rest - 1) p ^= __ffs(rest) - 1;
    bool odd = __popc(c) & 1;
    state[i] = odd ? 1 : p ? 2 : 0;
    if (odd && p) c ^= 1u << p;
    const int places[8] = {3, 5, 6, 7, 9, 10, 11, 12};
    unsigned d = 0;
    #pragma unroll
    for (int k = 0; k < 8; ++k) d |= (c >> places[k] & 1) << k;
    data[i] = d;
}
""",
    after="Hamming, Error Detecting and Error Correcting Codes (1950), with a bit of parity for all",
    against="the bytes that were encoded",
)
def code_hamming(run: Run) -> None:
    """One wrong bit of 13 is mended, two are told."""
    data = np.arange(256, dtype=u8)
    code = zeros(256, u32)
    run("encode", 4, 64, data, code, 256)
    assert len(np.unique(code)) == 256
    weights = [bin(int(a) ^ int(b)).count("1") for a, b in itertools.combinations(code[::9], 2)]
    assert min(weights) >= 4
    for first, second in ((None, None), (0, None), (7, None), (12, None), (3, 9)):
        broken = code.copy()
        for place in (first, second):
            broken ^= u32(0 if place is None else 1 << place)
        out, state = zeros(256, u8), zeros(256, i32)
        run("decode", 4, 64, broken, out, state, 256)
        same(state, 0 if first is None else 1 if second is None else 2)
        if second is None:
            same(out, data)


@kernel(
    r"""
__constant__ unsigned char logs[256], powers[512];
__device__ unsigned char times(unsigned char a, unsigned char b)
{
    return a && b ? powers[logs[a] + logs[b]] : 0;
}
extern "C" __global__ void parity(const unsigned char *data, const unsigned char *matrix, unsigned char *out,
    int k, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned char sum = 0;
    for (int j = 0; j < k; ++j) sum ^= times(matrix[blockIdx.y * k + j], data[j * n + i]);
    out[blockIdx.y * n + i] = sum;
}
""",
    after="Reed and Solomon, Polynomial Codes over Certain Finite Fields (1960); Plank (1997)",
    against="products of polynomials modulo x^8 + x^4 + x^3 + x^2 + 1, bit by bit",
)
def code_reed_solomon(run: Run) -> None:
    """Parity by a matrix over the field of 256 elements; logarithms in constant memory."""
    powers, logs, value = np.zeros(512, u8), np.zeros(256, u8), 1
    for i in range(255):
        powers[i] = powers[i + 255] = value
        logs[value] = i
        value = value << 1 ^ (0x11D if value & 128 else 0)
    run.assign("powers", powers)
    run.assign("logs", logs)

    def times(a: int, b: int) -> int:
        product = 0
        for bit in range(8):
            product ^= (a << bit) * (b >> bit & 1)
        for bit in range(14, 7, -1):
            product ^= (0x11D << bit - 8) * (product >> bit & 1)
        return product

    data, matrix, out = (
        integers(0, 256, (5, 70), u8),
        integers(0, 256, (3, 5), u8, seed=1),
        zeros((3, 70), u8),
    )
    run("parity", (2, 3), 64, data, matrix, out, 5, 70)
    for row, i in itertools.product(range(3), range(70)):
        want = 0
        for j in range(5):
            want ^= times(int(matrix[row, j]), int(data[j, i]))
        assert out[row, i] == want


@kernel(
    r"""
extern "C" __global__ void lengths(const unsigned *x, int *size, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) size[i] = max(1, (38 - __clz(x[i] | 1)) / 7);
}
extern "C" __global__ void write(const unsigned *x, const int *start, unsigned char *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned v = x[i];
    unsigned char *p = out + start[i];
    for (; v >= 128; v >>= 7) *p++ = v | 128;
    *p = v;
}
""",
    after="DWARF Debugging Information Format, 7.6: LEB128",
    against="the numbers, read again in Python",
)
def code_variable_length(run: Run) -> None:
    """Numbers of one to five bytes, whose places come from a scan of their lengths."""
    x = integers(0, 1 << 32, 300, u32) >> integers(0, 32, 300, u32, seed=1)
    x[:3] = 0, 127, 0xFFFFFFFF
    size = zeros(300, i32)
    run("lengths", 3, 128, x, size, 300)
    start = (np.cumsum(size) - size).astype(i32)
    out = zeros(int(size.sum()), u8)
    run("write", 3, 128, x, start, out, 300)
    found, value, shift = [], 0, 0
    for byte in out.tolist():
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            found.append(value)
            value = shift = 0
    same(np.array(found, u32), x)


@kernel(
    r"""
extern "C" __global__ void dither(const unsigned char *in, unsigned char *out, int w, int h)
{
    __shared__ int error[2][128];
    for (int i = threadIdx.x; i < 128; i += blockDim.x) error[0][i] = error[1][i] = 0;
    __syncthreads();
    for (int y = 0; y < h; ++y) {
        int *here = error[y & 1], *next = error[~y & 1];
        if (!threadIdx.x) {
            int right = 0;
            for (int x = 0; x < w; ++x) {
                int v = in[y * w + x] * 16 + here[x + 1] + right;
                int o = v >= 2040;
                out[y * w + x] = o;
                int e = (v - o * 4080) / 16;
                right = e * 7;
                next[x] += e * 3; next[x + 1] += e * 5; next[x + 2] += e;
            }
        }
        __syncthreads();
        for (int i = threadIdx.x; i < 128; i += blockDim.x) here[i] = 0;
        __syncthreads();
    }
}
""",
    after="Floyd and Steinberg, An Adaptive Algorithm for Spatial Grey Scale (1976)",
    against="the same in plain Python",
)
def dithering(run: Run) -> None:
    """Errors that go on to the neighbours: one thread computes, the others clear the rows."""
    image, out = integers(0, 256, (9, 30), u8), zeros((9, 30), u8)
    run("dither", 1, 64, image, out, 30, 9)
    errors = np.zeros((10, 32), int)
    for y, x in itertools.product(range(9), range(30)):
        value = int(image[y, x]) * 16 + int(errors[y, x + 1])
        on = value >= 2040
        left = int((value - on * 4080) / 16)
        for dy, dx, weight in ((0, 1, 7), (1, -1, 3), (1, 0, 5), (1, 1, 1)):
            errors[y + dy, x + 1 + dx] += left * weight
        assert out[y, x] == on


@kernel(
    r"""
extern "C" __global__ void lanczos(const float *in, float *out, int n, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m) return;
    double at = (i + 0.5) * n / m - 0.5, sum = 0, weights = 0;
    int first = (int)floor(at) - 2;
    for (int k = first; k < first + 6; ++k) {
        double d = at - k, w = d == 0 ? 1 : 3 * sinpi(d) * sinpi(d / 3) / (9.869604401089358 * d * d);
        sum += w * in[min(max(k, 0), n - 1)];
        weights += w;
    }
    out[i] = sum / weights;
}
""",
    after="Duchon, Lanczos Filtering in One and Two Dimensions (1979)",
    against="numpy.sinc",
)
def resampling(run: Run) -> None:
    """Six weighted samples for each result, edges repeated."""
    x, out = floats(50), zeros(120)
    run("lanczos", 2, 64, x, out, 50, 120)
    at = (np.arange(120) + 0.5) * 50 / 120 - 0.5
    k = np.floor(at).astype(int)[:, None] - 2 + np.arange(6)
    d = at[:, None] - k
    weights = np.sinc(d) * np.sinc(d / 3)
    want = (weights * x[np.clip(k, 0, 49)]).sum(1) / weights.sum(1)
    near(out, want, 1e-5, 1e-6)
