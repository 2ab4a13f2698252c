"""Layers of neural networks, forward and backward."""

from __future__ import annotations

import numpy as np

from .kernel import Run, kernel
from .values import (
    e4m3_values,
    f16,
    f32,
    f64,
    floats,
    from_bf16,
    i8,
    i64,
    integers,
    near,
    same,
    to_bf16,
    u16,
    zeros,
)


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(-1, keepdims=True))
    return np.asarray(e / e.sum(-1, keepdims=True))


SOFTMAX = r"""
#define INFINITY __int_as_float(0x7f800000)
extern "C" __global__ void online(const float *x, float *y, int n)
{
    int lane = threadIdx.x;
    const float *row = x + blockIdx.x * n;
    float most = -INFINITY, sum = 0;
    for (int i = lane; i < n; i += 32) {
        float v = row[i], next = fmaxf(most, v);
        sum = sum * __expf(most - next) + __expf(v - next);
        most = next;
    }
    for (int d = 16; d; d /= 2) {
        float m = __shfl_xor_sync(~0u, most, d), s = __shfl_xor_sync(~0u, sum, d), next = fmaxf(most, m);
        sum = (most == -INFINITY ? 0 : sum * expf(most - next)) + (m == -INFINITY ? 0 : s * expf(m - next));
        most = next;
    }
    for (int i = lane; i < n; i += 32) y[blockIdx.x * n + i] = expf(row[i] - most) / sum;
}
extern "C" __global__ void backward(const float *y, const float *dy, float *dx, int n)
{
    float dot = 0;
    for (int i = threadIdx.x; i < n; i += 32) dot += y[blockIdx.x * n + i] * dy[blockIdx.x * n + i];
    for (int d = 16; d; d /= 2) dot += __shfl_xor_sync(~0u, dot, d);
    for (int i = threadIdx.x; i < n; i += 32) dx[blockIdx.x * n + i] = y[blockIdx.x * n
        + i] * (dy[blockIdx.x * n + i] - dot);
}
extern "C" __global__ void cross_entropy(const float *x, const long long *labels, float *loss, float *dx,
    int n)
{
    __shared__ float shared[4];
    const float *row = x + blockIdx.x * n;
    auto all = [&](float v, auto f) {
        for (int d = 16; d; d /= 2) v = f(v, __shfl_xor_sync(~0u, v, d));
        __syncthreads();
        if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = v;
        __syncthreads();
        return f(f(shared[0], shared[1]), f(shared[2], shared[3]));
    };
    float most = -INFINITY, sum = 0;
    for (int i = threadIdx.x; i < n; i += 128) most = fmaxf(most, row[i]);
    most = all(most, [](float a, float b) { return fmaxf(a, b); });
    for (int i = threadIdx.x; i < n; i += 128) sum += expf(row[i] - most);
    sum = all(sum, [](float a, float b) { return a + b; });
    long long label = labels[blockIdx.x];
    bool ignored = label < 0;
    for (int i = threadIdx.x; i < n; i += 128)
        dx[blockIdx.x * n + i] = ignored ? 0 : expf(row[i] - most) / sum - (i == label);
    if (threadIdx.x == 0) loss[blockIdx.x] = ignored ? 0 : logf(sum) + most - row[label];
}
"""


@kernel(
    SOFTMAX,
    after="Milakov and Gimelshein, Online Normalizer Calculation for Softmax (2018)",
    against="numpy.exp",
)
def softmax_online(run: Run) -> None:
    """Maximum and sum in one pass, rows shorter and longer than a warp."""
    for n in (1, 5, 32, 77):
        x, y = floats((6, n), low=-20, high=20), zeros((6, n))
        run("online", 6, 32, x, y, n)
        near(y, softmax(x.astype(f64)), 1e-4, 1e-7)


@kernel(SOFTMAX, after="Bridle (1990): the derivative of softmax", against="NumPy")
def softmax_backward(run: Run) -> None:
    """Gradients by a dot product in a warp."""
    y, dy, dx = softmax(floats((5, 50), f64)).astype(f32), floats((5, 50), seed=1), zeros((5, 50))
    run("backward", 5, 32, y, dy, dx, 50)
    near(dx, y * (dy - (y.astype(f64) * dy).sum(1, keepdims=True)), 1e-4, 1e-7)


@kernel(SOFTMAX, after="Goodfellow, Bengio, Courville, Deep Learning, 6.2.2", against="NumPy")
def cross_entropy(run: Run) -> None:
    """Loss and gradient at once, labels that are ignored; a generic lambda that has barriers."""
    x, labels, loss, dx = (
        floats((7, 300), low=-5, high=5),
        integers(0, 300, 7, i64),
        zeros(7),
        zeros((7, 300)),
    )
    labels[3] = -100
    run("cross_entropy", 7, 128, x, labels, loss, dx, 300)
    p, keep = softmax(x.astype(f64)), labels >= 0
    near(loss, np.where(keep, -np.log(p[np.arange(7), labels]), 0), 1e-5, 1e-6)
    near(dx, (p - (np.arange(300) == labels[:, None])) * keep[:, None], 1e-4, 1e-6)


LAYERNORM = r"""
#include <cuda_bf16.h>
#include <cuda_fp16.h>
__device__ float2 sum_of(float2 v)
{
    __shared__ float2 warps[32];
    for (int d = 16; d; d /= 2) { v.x += __shfl_xor_sync(~0u, v.x, d); v.y += __shfl_xor_sync(~0u, v.y, d); }
    __syncthreads();
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = v;
    __syncthreads();
    float2 all = warps[0];
    for (int w = 1; w < blockDim.x / 32; ++w) { all.x += warps[w].x; all.y += warps[w].y; }
    return all;
}
extern "C" __global__ void forward(const float *x, const float *w, const float *b, float *y,
    float2 *saved, int n)
{
    const float *row = x + blockIdx.x * n;
    float2 s = make_float2(0, 0);
    for (int i = threadIdx.x; i < n; i += blockDim.x) s.x += row[i];
    float mean = sum_of(s).x / n;
    s.x = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) { float d = row[i] - mean; s.y += d * d; }
    float scale = rsqrtf(sum_of(s).y / n + 1e-5f);
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[blockIdx.x * n
        + i] = (row[i] - mean) * scale * w[i] + b[i];
    if (threadIdx.x == 0) saved[blockIdx.x] = make_float2(mean, scale);
}
extern "C" __global__ void backward(const float *x, const float *w, const float *dy, const float2 *saved,
    float *dx, float *dw, float *db, int n)
{
    int row = blockIdx.x * n;
    float2 m = saved[blockIdx.x], s = make_float2(0, 0);
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float g = dy[row + i], h = (x[row + i] - m.x) * m.y;
        s.x += g * w[i];
        s.y += g * w[i] * h;
        atomicAdd(dw + i, g * h);
        atomicAdd(db + i, g);
    }
    s = sum_of(s);
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float h = (x[row + i] - m.x) * m.y;
        dx[row + i] = m.y * (dy[row + i] * w[i] - (s.x + h * s.y) / n);
    }
}
extern "C" __global__ void rms(const __nv_bfloat162 *x, const __nv_bfloat162 *w, __nv_bfloat162 *y, int pairs)
{
    float2 s = make_float2(0, 0);
    for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
        float2 v = __bfloat1622float2(x[blockIdx.x * pairs + i]);
        s.x += v.x * v.x + v.y * v.y;
    }
    float scale = rsqrtf(sum_of(s).x / (2 * pairs) + 1e-6f);
    for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
        float2 v = __bfloat1622float2(x[blockIdx.x * pairs + i]), f = __bfloat1622float2(w[i]);
        y[blockIdx.x * pairs + i] = __floats2bfloat162_rn(v.x * scale * f.x, v.y * scale * f.y);
    }
}
extern "C" __global__ void gelu(const __half2 *x, __half2 *y, float *dx, const float *dy, int pairs)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pairs) return;
    float2 v = __half22float2(x[i]), r;
    float *values = &v.x, *results = &r.x;
    for (int k = 0; k < 2; ++k) {
        float a = values[k], u = 0.79788456f * (a + 0.044715f * a * a * a), t = tanhf(u);
        results[k] = 0.5f * a * (1 + t);
        float slope = 0.5f * (1 + t) + 0.5f * a * (1 - t * t) * 0.79788456f * (1 + 3 * 0.044715f * a * a);
        dx[2 * i + k] = dy[2 * i + k] * slope;
    }
    y[i] = __float22half2_rn(r);
}
"""
BA = "Ba, Kiros, Hinton, Layer Normalization (2016)"


@kernel(LAYERNORM, after=BA, against="numpy.mean, numpy.var")
def layernorm_forward(run: Run) -> None:
    """Mean and variance in two passes; what the backward pass needs is saved."""
    for n in (3, 100, 257):
        x, w, b = floats((4, n), low=2, high=9), floats(n, seed=1), floats(n, seed=2)
        y, saved = zeros((4, n)), zeros((4, 2))
        run("forward", 4, 96, x, w, b, y, saved, n)
        wide = x.astype(f64)
        scale = 1 / np.sqrt(wide.var(1) + 1e-5)
        near(y, (wide - wide.mean(1, keepdims=True)) * scale[:, None] * w + b, 1e-4, 1e-5)
        near(saved, np.stack([wide.mean(1), scale], 1), 1e-5)


@kernel(LAYERNORM, after=BA, against="derivatives by NumPy")
def layernorm_backward(run: Run) -> None:
    """Three gradients, two of them by atomics."""
    n = 90
    x, w, dy = floats((5, n), low=-3, high=3), floats(n, seed=1), floats((5, n), seed=2)
    mean, scale = x.mean(1), 1 / np.sqrt(x.var(1) + 1e-5)
    dx, dw, db = zeros((5, n)), zeros(n), zeros(n)
    run("backward", 5, 64, x, w, dy, np.stack([mean, scale], 1).astype(f32), dx, dw, db, n)
    h, g = (x - mean[:, None]) * scale[:, None], dy * w
    want = scale[:, None] * (g - g.mean(1, keepdims=True) - h * (g * h).mean(1, keepdims=True))
    near(dx, want, 1e-4, 1e-5)
    near(dw, (dy * h).sum(0), 1e-4, 1e-5)
    near(db, dy.sum(0), 1e-4, 1e-5)


@kernel(LAYERNORM, after="Zhang and Sennrich, Root Mean Square Layer Normalization (2019)", against="NumPy")
def rmsnorm_bfloat(run: Run) -> None:
    """Pairs of bfloat16, sums in binary32."""
    x, w = to_bf16(floats((3, 130))), to_bf16(floats(130, seed=1))
    y = zeros((3, 130), u16)
    run("rms", 3, 64, x, w, y, 65)
    wide = from_bf16(x).astype(f64)
    want = wide / np.sqrt((wide**2).mean(1, keepdims=True) + 1e-6) * from_bf16(w)
    near(from_bf16(y), want, 2**-8, 1e-6)


@kernel(
    LAYERNORM, after="Hendrycks and Gimpel, Gaussian Error Linear Units (2016)", against="NumPy, differences"
)
def gelu(run: Run) -> None:
    """The function of halves, and its derivative."""
    x, dy = floats(150, f16, -4, 4), floats(150, seed=1)
    y, dx = zeros(150, f16), zeros(150)
    run("gelu", 2, 64, x, y, dx, dy, 75)

    def function(v: np.ndarray) -> np.ndarray:
        return np.asarray(0.5 * v * (1 + np.tanh(np.sqrt(2 / np.pi) * (v + 0.044715 * v**3))))

    wide = x.astype(f64)
    near(y, function(wide), 2e-3, 1e-4)
    near(dx, dy * (function(wide + 1e-5) - function(wide - 1e-5)) / 2e-5, 1e-4, 1e-5)


ATTENTION = r"""
#define INFINITY __int_as_float(0x7f800000)
// a block has 16 queries of one head; keys and values go through shared memory, 16 at a time
template <int D, bool CAUSAL> __device__ void flash(const float *q, const float *k, const float *v,
    float *o, float *lse, int n, float scale)
{
    __shared__ float sq[16][D + 1], sk[16][D + 1], sv[16][D], scores[16][17];
    int head = blockIdx.y, t = threadIdx.x, row = t / 8, part = t % 8, first = blockIdx.x * 16;
    q += head * n * D; k += head * n * D; v += head * n * D; o += head * n * D;
    for (int i = t; i < 16 * D; i += 128) sq[i / D][i % D] = first + i / D < n ? q[first * D + i] * scale : 0;
    float most = -INFINITY, sum = 0, out[D / 8] = {};
    int keys = CAUSAL ? min(n, first + 16) : n;
    for (int base = 0; base < keys; base += 16) {
        __syncthreads();
        for (int i = t; i < 16 * D; i += 128) {
            bool there = base + i / D < n;
            sk[i / D][i % D] = there ? k[base * D + i] : 0;
            sv[i / D][i % D] = there ? v[base * D + i] : 0;
        }
        __syncthreads();
        for (int j = part; j < 16; j += 8) {
            float s = 0;
            for (int d = 0; d < D; ++d) s += sq[row][d] * sk[j][d];
            bool hidden = base + j >= n || (CAUSAL && base + j > first + row);
            scores[row][j] = hidden ? -INFINITY : s;
        }
        __syncwarp();
        float next = most;
        for (int j = 0; j < 16; ++j) next = fmaxf(next, scores[row][j]);
        float fade = most == -INFINITY ? 0 : expf(most - next);
        sum *= fade;
        for (int i = 0; i < D / 8; ++i) out[i] *= fade;
        for (int j = 0; j < 16; ++j) {
            float p = expf(scores[row][j] - next);
            sum += p;
            for (int i = 0; i < D / 8; ++i) out[i] = fmaf(p, sv[j][i * 8 + part], out[i]);
        }
        most = next;
    }
    if (first + row < n) {
        for (int i = 0; i < D / 8; ++i) o[(first + row) * D + i * 8 + part] = out[i] / sum;
        if (part == 0) lse[head * n + first + row] = most + logf(sum);
    }
}
extern "C" __global__ void plain(const float *q, const float *k, const float *v, float *o, float *lse,
    int n, float scale)
{
    flash<16, false>(q, k, v, o, lse, n, scale);
}
extern "C" __global__ void causal(const float *q, const float *k, const float *v, float *o, float *lse,
    int n, float scale)
{
    flash<32, true>(q, k, v, o, lse, n, scale);
}
// a warp for each query: probabilities are computed again from lse; gradients of keys and values by atomics
extern "C" __global__ void backward(const float *q, const float *k, const float *v, const float *o,
    const float *go,
                                    const float *lse, float *gq, float *gk, float *gv, int n, float scale)
{
    int row = blockIdx.x, lane = threadIdx.x;
    float query = q[row * 32 + lane], g = go[row * 32 + lane], delta = g * o[row * 32 + lane], sum = 0;
    auto all = [](float x) { for (int d = 16; d; d >>= 1) x += __shfl_xor_sync(~0u, x, d); return x; };
    delta = all(delta);
    for (int j = 0; j <= row; ++j) {
        float p = expf(all(query * k[j * 32 + lane]) * scale - lse[row]);
        float ds = p * (all(g * v[j * 32 + lane]) - delta) * scale;
        sum += ds * k[j * 32 + lane];
        atomicAdd(gk + j * 32 + lane, ds * query);
        atomicAdd(gv + j * 32 + lane, p * g);
    }
    gq[row * 32 + lane] = sum;
}
"""
DAO = "Dao et al., FlashAttention (2022)"


def attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, scale: float, causal: bool) -> np.ndarray:
    s = q.astype(f64) @ k.astype(f64).swapaxes(-1, -2) * scale
    if causal:
        s = np.where(np.tri(s.shape[-1], dtype=bool), s, -np.inf)
    return np.asarray(softmax(s))


@kernel(ATTENTION, after=DAO, against="softmax(Q K^T) V in numpy.float64")
def attention_forward(run: Run) -> None:
    """Tiles with running maxima and sums, two heads, a length that is no multiple."""
    q, k, v = (floats((2, 41, 16), seed=s) for s in range(3))
    o, lse = zeros((2, 41, 16)), zeros((2, 41))
    run("plain", (3, 2), 128, q, k, v, o, lse, 41, 0.25)
    near(o, attention(q, k, v, 0.25, False) @ v, 1e-4, 1e-6)


@kernel(ATTENTION, after=DAO, against="softmax(Q K^T) V in numpy.float64, masked")
def attention_causal(run: Run) -> None:
    """Later keys are hidden; tiles beyond the diagonal are left out; the logarithms of sums."""
    q, k, v = (floats((2, 37, 32), low=-2, high=2, seed=s) for s in range(3))
    o, lse = zeros((2, 37, 32)), zeros((2, 37))
    run("causal", (3, 2), 128, q, k, v, o, lse, 37, 0.2)
    near(o, attention(q, k, v, 0.2, True) @ v, 1e-4, 1e-5)
    scores = np.where(np.tri(37, dtype=bool), q.astype(f64) @ k.swapaxes(1, 2) * 0.2, -np.inf)
    near(lse, np.log(np.exp(scores).sum(2)), 1e-5, 1e-5)


@kernel(ATTENTION, after=DAO + ", the backward pass", against="derivatives by NumPy")
def attention_backward(run: Run) -> None:
    """Probabilities from saved logarithms; three gradients, two by atomics."""
    q, k, v, go = (floats((21, 32), seed=s) for s in range(4))
    p = attention(q, k, v, 0.2, True)
    scores = np.where(np.tri(21, dtype=bool), q.astype(f64) @ k.T * 0.2, -np.inf)
    lse, o = np.log(np.exp(scores).sum(1)).astype(f32), (p @ v).astype(f32)
    gq, gk, gv = (zeros((21, 32)) for _ in range(3))
    run("backward", 21, 32, q, k, v, o, go, lse, gq, gk, gv, 21, 0.2)
    dp = go.astype(f64) @ v.T
    ds = p * (dp - (dp * p).sum(1, keepdims=True)) * 0.2
    near(gq, ds @ k, 1e-4, 1e-5)
    near(gk, ds.T @ q, 1e-4, 1e-5)
    near(gv, p.T @ go, 1e-4, 1e-5)


LAYERS = r"""
#include <cuda_fp8.h>
template <int K> __device__ void conv(const float *x, const float *w, float *y, int channels, int h,
    int wd, int stride, int pad)
{
    int oh = (h + 2 * pad - K) / stride + 1, ow = (wd + 2 * pad - K) / stride + 1;
    int i = blockIdx.x * blockDim.x + threadIdx.x, out = blockIdx.y;
    if (i >= oh * ow) return;
    float sum = 0;
    for (int c = 0; c < channels; ++c)
        #pragma unroll
        for (int a = 0; a < K; ++a)
            #pragma unroll
            for (int b = 0; b < K; ++b) {
                int r = i / ow * stride + a - pad, s = i % ow * stride + b - pad;
                if ((unsigned)r < h && (unsigned)s < wd) sum += x[(c * h + r) * wd
                    + s] * w[((out * channels + c) * K + a) * K + b];
            }
    y[out * oh * ow + i] = sum;
}
extern "C" __global__ void conv3(const float *x, const float *w, float *y, int c, int h, int wd, int s,
    int p) { conv<3>(x, w, y, c, h, wd, s, p); }
extern "C" __global__ void pool(const float *x, float *y, unsigned char *which, int h, int w)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, ow = w / 2;
    if (i >= h / 2 * ow) return;
    const float2 *top = (const float2 *)(x + blockIdx.y * h * w + i / ow * 2 * w) + i % ow;
    float2 a = top[0], b = *(const float2 *)((const float *)top + w);
    float values[4] = {a.x, a.y, b.x, b.y};
    int best = 0;
    for (int k = 1; k < 4; ++k) if (values[k] > values[best]) best = k;
    y[blockIdx.y * (h / 2 * ow) + i] = values[best];
    which[blockIdx.y * (h / 2 * ow) + i] = best;
}
extern "C" __global__ void adamw(float *w, const float *g, float *m, float *v, float rate, int step, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    m[i] = 0.9f * m[i] + 0.1f * g[i];
    v[i] = 0.999f * v[i] + 0.001f * g[i] * g[i];
    float a = m[i] / (1 - powf(0.9f, step)), b = v[i] / (1 - powf(0.999f, step));
    w[i] -= rate * (a / (sqrtf(b) + 1e-8f) + 0.01f * w[i]);
}
extern "C" __global__ void embed(const int *tokens, const float4 *table, const float4 *places,
    float4 *out, int width)
{
    int at = blockIdx.x, token = tokens[at];
    for (int i = threadIdx.x; i < width; i += blockDim.x) {
        float4 a = __ldg(table + token * width + i), b = __ldcs(places + at * width + i);
        __stcs(out + at * width + i, make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w));
    }
}
extern "C" __global__ void rotary(float2 *x, int pairs, float base)
{
    int at = blockIdx.x, i = threadIdx.x;
    if (i >= pairs) return;
    float angle = at * powf(base, -(float)i / pairs), s, c;
    sincosf(angle, &s, &c);
    float2 v = x[at * pairs + i];
    x[at * pairs + i] = make_float2(v.x * c - v.y * s, v.x * s + v.y * c);
}
extern "C" __global__ void quantize(const float *x, signed char *q, __nv_fp8_e4m3 *f, float *scales,
    float *back, int n)
{
    float most = 0;
    for (int i = threadIdx.x; i < n; i += 32) most = fmaxf(most, fabsf(x[blockIdx.x * n + i]));
    // not negative: in the order of integers
    most = __uint_as_float(__reduce_max_sync(~0u, __float_as_uint(most)));
    float scale = most > 0 ? most / 127 : 1;
    if (threadIdx.x == 0) scales[blockIdx.x] = scale;
    for (int i = threadIdx.x; i < n; i += 32) {
        float v = x[blockIdx.x * n + i];
        q[blockIdx.x * n + i] = max(-127, min(127, __float2int_rn(v / scale)));
        f[blockIdx.x * n + i] = __nv_fp8_e4m3(v * 100);
        back[blockIdx.x * n + i] = float(f[blockIdx.x * n + i]);
    }
}
extern "C" __global__ void dropout(const float *x, float *y, float keep, unsigned seed, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned h = (i + seed) * 0x9E3779B1u;
    h ^= h >> 15; h *= 0x85EBCA77u; h ^= h >> 13;
    y[i] = h * 0x1p-32f < keep ? __fdiv_rn(x[i], keep) : 0;
}
extern "C" __global__ void lstm(const float *gates, float *c, float *h, int n)
{
    int i = threadIdx.x;
    if (i >= n) return;
    auto sigmoid = [](float v) { return 1 / (1 + expf(-v)); };
    float in = sigmoid(gates[i]), forget = sigmoid(gates[n + i]), cell = tanhf(gates[2 * n + i]),
        out = sigmoid(gates[3 * n + i]);
    c[i] = forget * c[i] + in * cell;
    h[i] = out * tanhf(c[i]);
}
"""


@kernel(
    LAYERS,
    after="LeCun et al. (1989); Dumoulin and Visin, A Guide to Convolution Arithmetic (2016)",
    against="NumPy windows",
)
def convolution_layer(run: Run) -> None:
    """Channels, strides, padding; 3 x 3 unrolled."""
    for stride, pad in ((1, 1), (2, 0), (3, 2)):
        x, w = integers(-3, 4, (2, 11, 9), f32), integers(-3, 4, (4, 2, 3, 3), f32)
        padded = np.pad(x, ((0, 0), (pad, pad), (pad, pad)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (1, 2))[:, ::stride, ::stride]
        want = np.einsum("chwab,ocab->ohw", windows, w)
        y = zeros(want.shape)
        run("conv3", (-(-want[0].size // 32), 4), 32, x, w, y, 2, 11, 9, stride, pad)
        same(y, want)


@kernel(LAYERS, after="Ranzato et al. (2007): maximum pooling", against="numpy.max, argmax")
def pooling_layer(run: Run) -> None:
    """Loads of pairs through cast pointers; the first of equal values."""
    x = integers(-5, 5, (3, 8, 12), f32)
    y, which = zeros((3, 4, 6)), zeros((3, 4, 6), np.uint8)
    run("pool", (1, 3), 32, x, y, which, 8, 12)
    squares = x.reshape(3, 4, 2, 6, 2).transpose(0, 1, 3, 2, 4).reshape(3, 4, 6, 4)
    same(y, squares.max(-1))
    same(which, squares.argmax(-1))


@kernel(
    LAYERS,
    after="Loshchilov and Hutter, Decoupled Weight Decay Regularization (2019)",
    against="numpy.float64",
)
def optimizer_adamw(run: Run) -> None:
    """Three steps, states that are kept."""
    w, m, v = floats(100), zeros(100), zeros(100)
    wide, first, second = w.astype(f64), np.zeros(100), np.zeros(100)
    for step in (1, 2, 3):
        g = floats(100, seed=step)
        run("adamw", 1, 128, w, g, m, v, 0.01, step, 100)
        first, second = 0.9 * first + 0.1 * g, 0.999 * second + 0.001 * g.astype(f64) ** 2
        a, b = first / (1 - 0.9**step), second / (1 - 0.999**step)
        wide = wide - 0.01 * (a / (np.sqrt(b) + 1e-8) + 0.01 * wide)
    near(w, wide, 1e-4, 1e-6)


@kernel(
    LAYERS,
    after="Vaswani et al., Attention Is All You Need (2017); Su et al., RoFormer (2021)",
    against="NumPy",
)
def embeddings(run: Run) -> None:
    """Rows by index with cached and streaming loads; rotations of pairs by angles."""
    tokens, table, places = integers(0, 20, 9), floats((20, 24)), floats((9, 24), seed=1)
    out = zeros((9, 24))
    run("embed", 9, 4, tokens, table, places, out, 6)
    same(out, table[tokens] + places)
    turned, z = out.copy(), out.astype(f64).view("c16")
    run("rotary", 9, 32, turned, 12, 100.0)
    angle = np.arange(9)[:, None] * 100.0 ** (-np.arange(12) / 12)
    near(turned.astype(f64).view("c16"), z * np.exp(1j * angle), 1e-4, 1e-5)


@kernel(
    LAYERS,
    after="Jacob et al. (2018): integers; Micikevicius et al., FP8 Formats for Deep Learning (2022)",
    against="NumPy",
)
def quantization(run: Run) -> None:
    """Rows to bytes by their greatest value, and to e4m3 that saturates."""
    x = floats((4, 50), low=-9, high=9)
    x[2] = 0
    q, f, scales, back = zeros((4, 50), i8), zeros((4, 50), np.uint8), zeros(4), zeros((4, 50))
    run("quantize", 4, 32, x, q, f, scales, back, 50)
    most = abs(x).max(1)
    same(scales, np.where(most > 0, most / f32(127), 1))
    assert abs(q - x / scales[:, None]).max() <= 0.5001
    table = e4m3_values()
    same(back, table[f])
    finite = table[~np.isnan(table)]
    best = abs(finite[None, None] - (x * f32(100)).clip(-448, 448)[..., None]).min(-1)
    near(abs(back - (x * f32(100)).clip(-448, 448)), best, 1e-6, 1e-6)


@kernel(
    LAYERS,
    after="Srivastava et al., Dropout (2014); Hochreiter and Schmidhuber, Long Short-Term Memory (1997)",
    against="NumPy",
)
def dropout_and_lstm(run: Run) -> None:
    """Masks by a hash; gates by a lambda."""
    x, y = floats(500), zeros(500)
    run("dropout", 4, 128, x, y, 0.75, 12345, 500)
    h = (np.arange(500, dtype=np.uint32) + np.uint32(12345)) * np.uint32(0x9E3779B1)
    h = (h ^ h >> np.uint32(15)) * np.uint32(0x85EBCA77)
    h ^= h >> np.uint32(13)
    same(y, np.where(h.astype(f32) * f32(2**-32) < 0.75, x / f32(0.75), 0))
    gates, c, hidden = floats((4, 40), low=-3, high=3), floats(40, seed=1), zeros(40)
    before = c.astype(f64)
    run("lstm", 1, 64, gates, c, hidden, 40)
    sigmoid = 1 / (1 + np.exp(-gates.astype(f64)))
    cell = sigmoid[1] * before + sigmoid[0] * np.tanh(gates[2].astype(f64))
    near(c, cell, 1e-5, 1e-6)
    near(hidden, sigmoid[3] * np.tanh(cell), 1e-5, 1e-6)
