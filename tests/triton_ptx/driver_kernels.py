"""Kernels for what a driver of Triton is asked for besides plain arguments. ImportError without Triton."""

import triton
import triton.language as tl


@triton.jit
def grid(out):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    tl.store(out + x + tl.num_programs(0) * (y + tl.num_programs(1) * z), 100 * z + 10 * y + x)


@triton.jit
def count(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out + tl.load(x + i, i < n, other=0), 1, i < n)


@triton.jit
def locked(x, lock, out, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + tl.program_id(0) * N + i)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(out + i, tl.load(out + i) + v)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def scalars(
    out,
    a,
    b: tl.int64,
    c: tl.float16,
    d: tl.bfloat16,
    e: tl.float64,
    f: tl.int8,
    g: tl.uint16,
    h,
    i,
    ONE: tl.constexpr,
):
    tl.store(out, a)
    tl.store(out + 1, b.to(tl.float64))
    tl.store(out + 2, c.to(tl.float64))
    tl.store(out + 3, d.to(tl.float64))
    tl.store(out + 4, e)
    tl.store(out + 5, f.to(tl.float64))
    tl.store(out + 6, g.to(tl.float64))
    tl.store(out + 7, h.to(tl.float64))
    tl.store(out + 8, i.to(tl.float64))
    tl.store(out + 9, ONE)


@triton.jit
def of_tuples(pair, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.load(pair[0] + i) * pair[1] + pair[2][0])


@triton.jit
def product_of_descriptors(a, b, c, K, M: tl.constexpr, N: tl.constexpr, STEP: tl.constexpr):
    m, n = tl.program_id(0) * M, tl.program_id(1) * N
    total = tl.zeros((M, N), tl.float32)
    for k in range(0, K, STEP):
        total = tl.dot(a.load([m, k]), b.load([k, n]), total)
    c.store([m, n], total.to(tl.float16))


@triton.jit
def increment(a, out, M, N, TILE: tl.constexpr):
    """By tensor descriptors that the kernel makes, for which it needs scratch memory."""
    source = tl.make_tensor_descriptor(a, [M, N], [N, 1], [TILE, TILE])
    target = tl.make_tensor_descriptor(out, [M, N], [N, 1], [TILE, TILE])
    for n in range(0, N, TILE):
        target.store([tl.program_id(0) * TILE, n], source.load([tl.program_id(0) * TILE, n]) + 1)


@triton.jit
def plus_one(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, i < n) + 1, i < n)


@triton.jit
def dependent(x, out, BLOCK: tl.constexpr):
    tl.extra.cuda.gdc_wait()
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i) + 1)
    tl.extra.cuda.gdc_launch_dependents()


@triton.jit
def neighbours(arrived, x, out, COUNT: tl.constexpr, BLOCK: tl.constexpr):
    """Blocks wait for each other, so all must run at once."""
    p, i = tl.program_id(0), tl.arange(0, BLOCK)
    tl.store(x + p * BLOCK + i, (p + i).to(tl.float32))
    tl.atomic_add(arrived, 1, sem="acq_rel")
    while tl.atomic_add(arrived, 0, sem="acquire") < COUNT:
        pass
    tl.store(out + p * BLOCK + i, tl.load(x + (p + 1) % COUNT * BLOCK + i))


@triton.autotune([triton.Config({"BLOCK": 64}, num_warps=2), triton.Config({"BLOCK": 128})], key=["n"])
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def twice(x, out, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        tl.store(out + i, 2 * tl.load(x + i))
    else:
        tl.store(out + i, 2 * tl.load(x + i, i < n), i < n)


@triton.jit
def attention(q, k, v, out, N, scale, D: tl.constexpr, M: tl.constexpr):
    """Causal, of tensor descriptors."""
    start, head = tl.program_id(0) * M, tl.program_id(1) * N
    rows, query = start + tl.arange(0, M), q.load([head + start, 0])
    top = tl.full((M,), -float("inf"), tl.float32)
    total, result = tl.zeros((M,), tl.float32), tl.zeros((M, D), tl.float32)
    for s in range(0, start + M, M):
        scores = tl.dot(query, k.load([head + s, 0]).T) * scale
        scores = tl.where(rows[:, None] >= (s + tl.arange(0, M))[None, :], scores, -1e6)
        higher = tl.maximum(top, tl.max(scores, 1))
        p, less = tl.exp2(scores - higher[:, None]), tl.exp2(top - higher)
        total = total * less + tl.sum(p, 1)
        result = tl.dot(p.to(tl.float16), v.load([head + s, 0]), result * less[:, None])
        top = higher
    out.store([head + start, 0], (result / total[:, None]).to(tl.float16))


@triton.jit
def layernorm_backward(dy, x, w, mean, rstd, dx, dw, n, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    inside, scale = i < n, tl.load(rstd + tl.program_id(0))
    normal = tl.where(inside, (tl.load(x + row * n + i, inside, 0.0) - tl.load(mean + row)) * scale, 0.0)
    given = tl.load(dy + row * n + i, inside, 0.0)
    weighted = tl.load(w + i, inside, 0.0) * given
    along, middle = tl.sum(normal * weighted, 0) / n, tl.sum(weighted, 0) / n
    tl.store(dx + row * n + i, (weighted - normal * along - middle) * scale, inside)
    tl.atomic_add(dw + i, given * normal, inside)


@triton.jit
def split_product(a, b, c, K, M: tl.constexpr, N: tl.constexpr, STEP: tl.constexpr, PARTS: tl.constexpr):
    m, n = tl.arange(0, M), tl.arange(0, N)
    total = tl.zeros((M, N), tl.float32)
    for k in range(tl.program_id(0) * STEP, K, STEP * PARTS):
        s = k + tl.arange(0, STEP)
        total += tl.dot(tl.load(a + m[:, None] * K + s[None, :]), tl.load(b + s[:, None] * N + n[None, :]))
    tl.atomic_add(c + m[:, None] * N + n[None, :], total)


@triton.jit
def outside(x, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, i, i <= n)


@triton.jit
def show(x, N: tl.constexpr):
    tl.device_print("value ", tl.load(x + tl.arange(0, N)))
