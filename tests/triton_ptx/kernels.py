"""Kernels in Triton, after its tutorials and the operations of its language. ImportError without Triton."""

import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    tl.store(out + i, tl.load(x + i, mask=m) + tl.load(y + i, mask=m), mask=m)


@triton.jit
def softmax(x, out, stride, n, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + r * stride + i, mask=i < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(out + r * stride + i, e / tl.sum(e, 0), mask=i < n)


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pm, pn = tl.program_id(0), tl.program_id(1)
    rm = pm * BM + tl.arange(0, BM)
    rn = pn * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + rm[:, None] * K + (k + rk)[None, :])
        y = tl.load(b + (k + rk)[:, None] * N + rn[None, :])
        acc = tl.dot(x, y, acc)
    tl.store(c + rm[:, None] * N + rn[None, :], acc)


@triton.jit
def matmul_int8(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pm, pn = tl.program_id(0), tl.program_id(1)
    rm = pm * BM + tl.arange(0, BM)
    rn = pn * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.int32)
    for k in range(0, K, BK):
        x = tl.load(a + rm[:, None] * K + (k + rk)[None, :])
        y = tl.load(b + (k + rk)[:, None] * N + rn[None, :])
        acc = tl.dot(x, y, acc)
    tl.store(c + rm[:, None] * N + rn[None, :], acc)


@triton.jit
def layernorm(x, w, b, y, mean, rstd, stride, n, eps, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + r * stride + i, mask=i < n, other=0.0)
    mu = tl.sum(v, 0) / n
    d = tl.where(i < n, v - mu, 0.0)
    rs = 1 / tl.sqrt(tl.sum(d * d, 0) / n + eps)
    tl.store(mean + r, mu)
    tl.store(rstd + r, rs)
    tl.store(y + r * stride + i, d * rs * tl.load(w + i, mask=i < n) + tl.load(b + i, mask=i < n), mask=i < n)


@triton.jit
def dropout(x, out, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = tl.rand(seed, i) > p
    tl.store(out + i, tl.where(keep, tl.load(x + i, mask=i < n) / (1 - p), 0.0), mask=i < n)


@triton.jit
def randint(out, seed, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.randint(seed, i))


@triton.jit
def attention(q, k, v, o, N, scale, D: tl.constexpr, B: tl.constexpr):
    r = tl.program_id(0) * B + tl.arange(0, B)
    d = tl.arange(0, D)
    qq = tl.load(q + r[:, None] * D + d[None, :])
    m = tl.full((B,), -float("inf"), tl.float32)
    total = tl.zeros((B,), tl.float32)
    acc = tl.zeros((B, D), tl.float32)
    for s in range(0, N, B):
        c = s + tl.arange(0, B)
        kk = tl.load(k + c[None, :] * D + d[:, None])
        qk = tl.dot(qq, kk) * scale
        mm = tl.maximum(m, tl.max(qk, 1))
        p = tl.exp2(qk - mm[:, None])
        alpha = tl.exp2(m - mm)
        total = total * alpha + tl.sum(p, 1)
        vv = tl.load(v + c[:, None] * D + d[None, :])
        acc = tl.dot(p.to(tl.float16), vv, acc * alpha[:, None])
        m = mm
    tl.store(o + r[:, None] * D + d[None, :], acc / total[:, None])


@triton.jit
def cumsum(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.cumsum(tl.load(x + i), 0))


@triton.jit
def cumprod(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.cumprod(tl.load(x + i), 0, reverse=True))


@triton.jit
def sort(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.sort(tl.load(x + i)))


@triton.jit
def histogram(x, out, BLOCK: tl.constexpr, BINS: tl.constexpr):
    h = tl.histogram(tl.load(x + tl.arange(0, BLOCK)), BINS)
    tl.atomic_add(out + tl.arange(0, BINS), h)


@triton.jit
def argmax(x, out, BLOCK: tl.constexpr, W: tl.constexpr):
    i, j = tl.arange(0, BLOCK), tl.arange(0, W)
    tl.store(out + i, tl.argmax(tl.load(x + i[:, None] * W + j[None, :]), 1))


@triton.jit
def transpose(x, out, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    t = tl.trans(tl.load(x + i[:, None] * N + j[None, :]))
    tl.store(out + j[:, None] * M + i[None, :], t)


@triton.jit
def gather(x, idx, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.gather(tl.load(x + i), tl.load(idx + i), 0))


@triton.jit
def atomics(out, x, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i)
    tl.atomic_add(out, tl.sum(v, 0))
    tl.atomic_max(out + 1, tl.max(v, 0))
    tl.atomic_min(out + 2, tl.min(v, 0))
    tl.atomic_xor(out + 3, tl.xor_sum(v, 0))
    tl.atomic_or(out + 4 + v % 4, v)


@triton.jit
def spin(lock, out, BLOCK: tl.constexpr):
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(out + i) + 1)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def math_f32(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    tl.store(out + i, tl.exp(v))
    tl.store(out + BLOCK + i, tl.log(tl.abs(v)))
    tl.store(out + 2 * BLOCK + i, tl.sin(v))
    tl.store(out + 3 * BLOCK + i, tl.cos(v))
    tl.store(out + 4 * BLOCK + i, tl.sqrt_rn(tl.abs(v)))
    tl.store(out + 5 * BLOCK + i, tl.erf(v))
    tl.store(out + 6 * BLOCK + i, tl.floor(v))
    tl.store(out + 7 * BLOCK + i, tl.ceil(v))
    tl.store(out + 8 * BLOCK + i, tl.rsqrt(tl.abs(v)))
    tl.store(out + 9 * BLOCK + i, tl.sigmoid(v))
    tl.store(out + 10 * BLOCK + i, tl.fma(v, v, 1.0))
    tl.store(out + 11 * BLOCK + i, tl.div_rn(v, 3.0))
    tl.store(out + 12 * BLOCK + i, tl.clamp(v, -1.0, 1.0))


@triton.jit
def casts(x, h, b, f8, i8, back, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    tl.store(h + i, v.to(tl.float16))
    tl.store(b + i, v.to(tl.bfloat16))
    tl.store(f8 + i, v.to(tl.float8e5).to(tl.uint8, bitcast=True))
    tl.store(i8 + i, v.to(tl.int8))
    tl.store(back + i, v.to(tl.float8e4nv).to(tl.float32))


@triton.jit
def int_ops(x, y, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(out + i, a // b)
    tl.store(out + BLOCK + i, a % b)
    tl.store(out + 2 * BLOCK + i, (a << 3) ^ (b >> 2))
    tl.store(out + 3 * BLOCK + i, tl.umulhi(a, b))
    tl.store(out + 4 * BLOCK + i, tl.minimum(a, b) | tl.maximum(a, b))


@triton.jit
def combined(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@triton.jit
def scan2(a, b, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    _, r = tl.associative_scan((tl.load(a + i), tl.load(b + i)), 0, combined)
    tl.store(out + i, r)


@triton.jit
def persistent(a, b, c, M, N, K, NP: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    for t in range(pid, (M // B) * (N // B), NP):
        rm = (t // (N // B)) * B + tl.arange(0, B)
        rn = (t % (N // B)) * B + tl.arange(0, B)
        acc = tl.zeros((B, B), tl.float32)
        for k in tl.range(0, K, 32, num_stages=3):
            rk = k + tl.arange(0, 32)
            x = tl.load(a + rm[:, None] * K + rk[None, :])
            y = tl.load(b + rk[:, None] * N + rn[None, :])
            acc = tl.dot(x, y, acc)
        tl.store(c + rm[:, None] * N + rn[None, :], acc)


@triton.jit
def reduce3d(x, out, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    i, j, k = tl.arange(0, A), tl.arange(0, B), tl.arange(0, C)
    v = tl.load(x + i[:, None, None] * B * C + j[None, :, None] * C + k[None, None, :])
    tl.store(out + i[:, None] * C + k[None, :], tl.sum(v, 1))


@triton.jit
def welford(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0.0).to(tl.float64)
    mu = tl.sum(v, 0) / n
    tl.store(out, mu)
    tl.store(out + 1, tl.sum(tl.where(i < n, (v - mu) * (v - mu), 0.0), 0) / n)


@triton.jit
def flip_join(x, y, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    j = tl.interleave(tl.flip(tl.load(x + i)), tl.load(y + i))
    tl.store(out + tl.arange(0, 2 * BLOCK), j)


@triton.jit
def conv1d(x, w, out, n, W: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    s = tl.zeros((BLOCK,), tl.float32)
    for k in tl.static_range(W):
        at = i + k - W // 2
        s += tl.load(x + at, mask=(at >= 0) & (at < n), other=0.0) * tl.load(w + k)
    tl.store(out + i, s, mask=i < n)


@triton.jit
def batched_dot(a, b, c, B: tl.constexpr, S: tl.constexpr):
    g, i, j = tl.arange(0, B), tl.arange(0, S), tl.arange(0, S)
    p = g[:, None, None] * S * S + i[None, :, None] * S + j[None, None, :]
    tl.store(c + p, tl.dot(tl.load(a + p), tl.load(b + p), input_precision="ieee"))


@triton.jit
def cross_entropy(x, label, loss, n, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + r * n + i, mask=i < n, other=-float("inf"))
    m = tl.max(v, 0)
    tl.store(loss + r, m + tl.log(tl.sum(tl.exp(v - m), 0)) - tl.load(x + r * n + tl.load(label + r)))


@triton.jit
def topk(x, out, BLOCK: tl.constexpr, K: tl.constexpr):
    tl.store(out + tl.arange(0, K), tl.topk(tl.load(x + tl.arange(0, BLOCK)), K))


@triton.jit
def asserting(x, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.device_assert(tl.load(x + i) >= 0, "negative")
