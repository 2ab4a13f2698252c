"""Whole programs: CUDA C++, compiled by the real NVRTC, run by the engine, compared with NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

import numpy as np
import pytest

from cudapy.simulator.engine import settings

from .machine import ARCHITECTURES, Machine

f32, f64, i32, u32, u64 = np.float32, np.float64, np.int32, np.uint32, np.uint64

ENGINES = [(arch, "auto") for arch in ARCHITECTURES[:-1]] + [(ARCHITECTURES[-1], "never")]


@pytest.fixture(
    params=[
        *(pytest.param(one, marks=pytest.mark.thorough) for one in ENGINES),
        (ARCHITECTURES[-1], "always"),
    ],
    ids=lambda one: f"{one[0]}-{one[1]}",
)
def engine(request: pytest.FixtureRequest) -> tuple[int, str]:
    """An architecture, and when there is machine code: in the first tier from each first launch on."""
    return request.param


@pytest.fixture
def arch(engine: tuple[int, str]) -> int:
    return engine[0]


@pytest.fixture
def machine(nvrtc: ModuleType, engine: tuple[int, str]) -> Iterator[Machine]:
    """With all checks on for the newest architecture: these programs are right, and must be silent."""
    before = settings.current
    arch, machine_code = engine
    checks = arch == ARCHITECTURES[-1]
    settings.current = settings.Settings(
        check_races=checks, check_uninitialized=checks, machine_code=machine_code
    )
    yield Machine()
    settings.current = before


def random(*shape: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).random(shape, f32)


SAXPY = r"""
extern "C" __global__ void saxpy(float a, const float *x, const float *y, float *out, size_t n)
{
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a * x[i] + y[i];
}
"""


def test_saxpy(machine: Machine, arch: int) -> None:
    n = 100_003
    x, y, out = machine.array(random(n)), machine.array(random(n, seed=2)), machine.zeros(n, f32)
    machine.run(machine.load(SAXPY, arch), "saxpy", -(-n // 256), 256, f32(2.5), x, y, out, u64(n))
    assert np.array_equal(out.get(), (2.5 * x.get().astype(f64) + y.get()).astype(f32))


MATMUL = r"""
#define SIDE 16
extern "C" __global__ void matmul(const float *a, const float *b, float *c, int n)
{
    __shared__ float rows[SIDE][SIDE], columns[SIDE][SIDE];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * SIDE + y, column = blockIdx.x * SIDE + x;
    float sum = 0;
    for (int tile = 0; tile < n / SIDE; ++tile) {
        rows[y][x] = a[row * n + tile * SIDE + x];
        columns[y][x] = b[(tile * SIDE + y) * n + column];
        __syncthreads();
        for (int k = 0; k < SIDE; ++k) sum += rows[y][k] * columns[k][x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
"""


def test_tiled_matmul(machine: Machine, arch: int) -> None:
    n = 128
    a, b, c = machine.array(random(n, n)), machine.array(random(n, n, seed=2)), machine.zeros((n, n), f32)
    machine.run(machine.load(MATMUL, arch), "matmul", (n // 16, n // 16), (16, 16), a, b, c, i32(n))
    expected = np.zeros((n, n), f32)
    for k in range(n):  # one fused multiply-add after the other, as the kernel has them
        product = np.outer(a.get()[:, k].astype(f64), b.get()[k].astype(f64))
        expected = (product + expected).astype(f32)
    assert np.abs(c.get() - expected).max() < 1e-5
    assert np.mean(c.get() == expected) > 0.99  # the expected sums are rounded twice


REDUCE = r"""
extern "C" __global__ void reduce(const int *x, int *out, int n)
{
    __shared__ int sums[32];
    int sum = 0, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
    for (int offset = 16; offset; offset >>= 1) sum += __shfl_down_sync(~0u, sum, offset);
    if (!lane) sums[warp] = sum;
    __syncthreads();
    if (!warp) {
        sum = lane < (blockDim.x >> 5) ? sums[lane] : 0;
        for (int offset = 16; offset; offset >>= 1) sum += __shfl_xor_sync(~0u, sum, offset);
        if (!lane) atomicAdd(out, sum);
    }
}
"""


def test_reduction(machine: Machine, arch: int) -> None:
    x = machine.array(np.random.default_rng(1).integers(-1000, 1000, 70_001, i32))
    out = machine.zeros(1, i32)
    machine.run(machine.load(REDUCE, arch), "reduce", 12, 160, x, out, i32(70_001))
    assert out.get()[0] == x.get().sum()


SCAN = r"""
extern "C" __global__ void scan(const int *in, int *out, int n)
{
    extern __shared__ int values[];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    values[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int step = 1; step < blockDim.x; step <<= 1) {
        int left = t >= step ? values[t - step] : 0;
        __syncthreads();
        values[t] += left;
        __syncthreads();
    }
    if (i < n) out[i] = values[t];
}
"""


def test_scan(machine: Machine, arch: int) -> None:
    x = machine.array(np.arange(1000, dtype=i32))
    out = machine.zeros(1000, i32)
    machine.run(machine.load(SCAN, arch), "scan", 4, 256, x, out, i32(1000), shared=1024)
    blocks = np.pad(x.get(), (0, 24)).reshape(4, 256)
    assert np.array_equal(out.get(), blocks.cumsum(1).reshape(-1)[:1000])


HISTOGRAM = r"""
extern "C" __global__ void histogram(const unsigned char *data, unsigned *bins, int n)
{
    __shared__ unsigned mine[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) mine[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[data[i]], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x) if (mine[i]) atomicAdd(&bins[i], mine[i]);
}
"""


def test_histogram(machine: Machine, arch: int) -> None:
    data = np.random.default_rng(1).integers(0, 256, 100_000, np.uint8)
    bins = machine.zeros(256, u32)
    machine.run(machine.load(HISTOGRAM, arch), "histogram", 20, 128, machine.array(data), bins, i32(100_000))
    assert np.array_equal(bins.get(), np.bincount(data, minlength=256))


TRANSPOSE = r"""
extern "C" __global__ void transpose(float *out, const float *in, int width, int height)
{
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}
"""


def test_transpose(machine: Machine, arch: int) -> None:
    a, out = machine.array(random(64, 96)), machine.zeros((96, 64), f32)
    machine.run(machine.load(TRANSPOSE, arch), "transpose", (3, 2), (32, 8), out, a, i32(96), i32(64))
    assert np.array_equal(out.get(), a.get().T)


MANDELBROT = r"""
extern "C" __global__ void mandelbrot(int *out, int width, int height, int most)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= height) return;
    double cx = -2.0 + 3.0 * px / width, cy = -1.5 + 3.0 * py / height, x = 0, y = 0;
    int n = 0;
    while (n < most && x * x + y * y < 4.0) {
        double next = __dadd_rn(__dadd_rn(__dmul_rn(x, x), -__dmul_rn(y, y)), cx);
        y = __dadd_rn(__dmul_rn(2 * x, y), cy);
        x = next;
        ++n;
    }
    out[py * width + px] = n;
}
"""


def test_mandelbrot(machine: Machine, arch: int) -> None:
    width, height, most = 100, 70, 60
    out = machine.zeros((height, width), i32)
    source = MANDELBROT.replace("x * x + y * y < 4.0", "__dadd_rn(__dmul_rn(x, x), __dmul_rn(y, y)) < 4.0")
    module = machine.load(source, arch, "-fmad=false")
    machine.run(module, "mandelbrot", (7, 5), (16, 16), out, i32(width), i32(height), i32(most))
    cx = (-2.0 + 3.0 * np.arange(width) / width)[None, :].repeat(height, 0)
    cy = (-1.5 + 3.0 * np.arange(height) / height)[:, None].repeat(width, 1)
    x, y, expected = np.zeros_like(cx), np.zeros_like(cx), np.zeros((height, width), i32)
    inside = np.ones_like(cx, bool)
    for _ in range(most):
        inside &= x * x + y * y < 4.0
        expected += inside
        x, y = np.where(inside, x * x - y * y + cx, x), np.where(inside, 2 * x * y + cy, y)
    assert np.array_equal(out.get(), expected)


CONJUGATE_GRADIENT = r"""
#define _CG_LIMIT_INCLUDED_DEPENDENCIES  // without libcu++, which takes NVRTC more than a second
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

__device__ double dot(const double *a, const double *b, int n, cg::grid_group grid, double *total)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    double sum = 0;
    if (grid.thread_rank() == 0) *total = 0;
    grid.sync();
    for (int i = grid.thread_rank(); i < n; i += grid.size()) sum += a[i] * b[i];
    sum = cg::reduce(warp, sum, cg::plus<double>());
    if (warp.thread_rank() == 0) atomicAdd(total, sum);
    grid.sync();
    return *(volatile double *)total;
}

extern "C" __global__ void solve(double *x, double *r, double *p, double *q, int n, int steps, double *totals)
{
    cg::grid_group grid = cg::this_grid();
    double rr = dot(r, r, n, grid, totals);
    for (int step = 0; step < steps; ++step) {
        for (int i = grid.thread_rank(); i < n; i += grid.size())
            q[i] = 2 * p[i] - (i ? p[i - 1] : 0) - (i + 1 < n ? p[i + 1] : 0) + 0.5 * p[i];
        double pq = dot(p, q, n, grid, totals + 1), alpha = rr / pq;
        for (int i = grid.thread_rank(); i < n; i += grid.size()) {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
        }
        double next = dot(r, r, n, grid, totals + 2), beta = next / rr;
        for (int i = grid.thread_rank(); i < n; i += grid.size()) p[i] = r[i] + beta * p[i];
        rr = next;
        grid.sync();
    }
}
"""


@pytest.mark.thorough
def test_conjugate_gradient_with_grid_sync(machine: Machine, arch: int) -> None:
    n = 200
    b = np.random.default_rng(1).random(n)
    x, r, p, q = machine.zeros(n, f64), machine.array(b), machine.array(b), machine.zeros(n, f64)
    module = machine.load(CONJUGATE_GRADIENT, arch)
    machine.run(module, "solve", 3, 64, x, r, p, q, i32(n), i32(40), machine.zeros(3, f64), cooperative=True)
    matrix = np.diag(np.full(n, 2.5)) - np.diag(np.ones(n - 1), 1) - np.diag(np.ones(n - 1), -1)
    assert np.abs(matrix @ x.get() - b).max() < 1e-9


RECURSION = r"""
__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__device__ __noinline__ int depth(int n)
{
    int here[4];
    here[n & 3] = n;
    return n ? depth(n - 1) + here[n & 3] : 0;
}
extern "C" __global__ void recurse(int *out) { int i = threadIdx.x; out[i] = fibonacci(i % 11) + depth(i); }
"""


def test_recursion(machine: Machine, arch: int) -> None:
    out = machine.zeros(64, i32)
    machine.run(machine.load(RECURSION, arch), "recurse", 1, 64, out)
    fibonacci = [0, 1]
    while len(fibonacci) < 11:
        fibonacci.append(fibonacci[-1] + fibonacci[-2])
    assert out.get().tolist() == [fibonacci[i % 11] + i * (i + 1) // 2 for i in range(64)]


VIRTUAL = r"""
struct Shape { __device__ virtual float area() const = 0; };
struct Square : Shape {
    float s;
    __device__ Square(float s) : s(s) {}
    __device__ float area() const override { return s * s; }
};
struct Box : Shape {
    float a, b;
    __device__ Box(float a, float b) : a(a), b(b) {}
    __device__ float area() const override { return a * b; }
};
template <typename T, int N> __device__ T twice(T x) { return x * N; }
typedef float (*Function)(float);
__device__ __noinline__ float half_of(float x) { return x / 2; }
__device__ __noinline__ float third_of(float x) { return x / 4; }
__device__ Function table[2] = {half_of, third_of};
extern "C" __global__ void areas(float *out)
{
    int i = threadIdx.x;
    Square square(i);
    Box box(i, 2);
    Shape *shape = i % 3 ? (Shape *)&square : (Shape *)&box;
    out[i] = table[i & 1](twice<float, 2>(shape->area()));
}
"""


def test_virtual_functions_templates_and_function_pointers(machine: Machine, arch: int) -> None:
    out = machine.zeros(64, f32)
    machine.run(machine.load(VIRTUAL, arch), "areas", 1, 64, out)
    i = np.arange(64)
    assert np.array_equal(out.get(), np.where(i % 3, i * i, i * 2) * 2 / np.where(i & 1, 4, 2))


PRINTF = r"""
extern "C" __global__ void say(int n)
{
    if (threadIdx.x < 2)
        printf("%d of %d: %s %5.2f %c %llx %%|%-4d|%u\n",
               threadIdx.x, n, "text", 1.5 * n, 'x', 1ull << 40, 7, 3u);
}
"""


def test_printf(machine: Machine, arch: int, capfd: pytest.CaptureFixture[str]) -> None:
    machine.run(machine.load(PRINTF, arch), "say", 1, 32, i32(3))
    line = "{} of 3: text  4.50 x 10000000000 %|7   |3\n"
    assert capfd.readouterr().out == line.format(0) + line.format(1)


WARPS = r"""
extern "C" __global__ void warps(const int *in, unsigned *out)
{
    int i = threadIdx.x, x = in[i];
    unsigned *mine = out + i * 12;
    mine[0] = __ballot_sync(~0u, x > 0);
    mine[1] = __any_sync(~0u, x == 7);
    mine[2] = __all_sync(~0u, x > -100);
    mine[3] = __match_any_sync(~0u, x & 3);
    int all;
    mine[4] = __match_all_sync(~0u, x >> 31, &all) + all;
    mine[5] = __shfl_sync(~0u, x, i + 1, 8);
    unsigned here;
    if (x & 1) { here = __activemask(); mine[7] = __shfl_sync(here, x, __ffs(here) - 1); }
    else { here = __activemask(); mine[7] = __ballot_sync(here, x > 3); }
    mine[6] = here;
    __syncwarp();
    mine[8] = __popc(mine[6]);
#if __CUDA_ARCH__ >= 800
    mine[9] = __reduce_add_sync(~0u, x);
    mine[10] = __reduce_max_sync(~0u, x);
#endif
    mine[11] = __syncthreads_count(x > 0);
    mine[11] += __syncthreads_or(x == 5) * 1000 + __syncthreads_and(x < 50) * 10000;
}
"""


def test_warps(machine: Machine, arch: int) -> None:
    x = np.random.default_rng(3).integers(-20, 20, 64, i32)
    out = machine.zeros((64, 12), u32)
    machine.run(machine.load(WARPS, arch), "warps", 1, 64, machine.array(x), out)

    def mask(lanes: np.ndarray) -> int:
        return sum(1 << int(lane) for lane in np.flatnonzero(lanes))

    block = (x > 0).sum() + (x == 5).any() * 1000 + (x < 50).all() * 10000
    for i in range(64):
        warp, lane = x[i // 32 * 32 :][:32], i % 32
        odd = mask(warp & 1 == x[i] & 1)
        first = warp[(odd & -odd).bit_length() - 1]
        same = warp >> 31 == warp[0] >> 31
        expected = [
            mask(warp > 0),
            (warp == 7).any(),
            (warp > -100).all(),
            mask(warp & 3 == x[i] & 3),
            (0xFFFFFFFF + 1) % 2**32 if same.all() else 0,
            int(warp[lane // 8 * 8 + (lane + 1) % 8]) % 2**32,
            odd,
            int(first) % 2**32 if x[i] & 1 else mask(warp > 3) & odd,
            bin(odd).count("1"),
            int(warp.sum()) % 2**32 if arch >= 80 else 0,
            int(warp.max()) % 2**32 if arch >= 80 else 0,
            block,
        ]
        assert out.get()[i].tolist() == [int(value) for value in expected], i


HEAP = r"""
struct Node { int value; Node *next; };
extern "C" __global__ void list(int *out)
{
    Node *head = nullptr;
    for (int k = 0; k <= threadIdx.x; ++k) {
        Node *node = (Node *)malloc(sizeof(Node));
        node->value = k; node->next = head; head = node;
    }
    int sum = 0;
    while (head) { Node *next = head->next; sum += head->value; free(head); head = next; }
    out[threadIdx.x] = sum;
}
"""


def test_malloc_and_free(machine: Machine, arch: int) -> None:
    out = machine.zeros(20, i32)
    machine.run(machine.load(HEAP, arch), "list", 1, 20, out)
    assert out.get().tolist() == [i * (i + 1) // 2 for i in range(20)]
    assert not machine.device.heap


SPIN = r"""
extern "C" __global__ void locked(int *lock, int *counter)
{
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            *(volatile int *)counter += 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}
"""


def test_spin_lock(machine: Machine, arch: int) -> None:
    lock, counter = machine.zeros(1, i32), machine.zeros(1, i32)
    machine.run(machine.load(SPIN, arch), "locked", 2, 64, lock, counter)
    assert counter.get()[0] == 128


MIXED = r"""
#include <cuda_fp16.h>
struct Pair { char tag; double weight; int n[3]; };
__constant__ int constants[4] = {10, 20, 30, 40};
__device__ int counter = 5;
__device__ __noinline__ Pair change(Pair p) { p.n[1] += p.n[0]; p.weight *= 2; return p; }
extern "C" __global__ void mixed(Pair p, int *out, const float4 *in, unsigned long long *big, half *h)
{
    int i = threadIdx.x;
    Pair q = change(p);
    int local[8];
    for (int k = 0; k < 8; ++k) local[(k * 3 + i) & 7] = k * i;
    int chosen;
    switch (i % 7) { case 0: chosen = 3; break; case 1: chosen = i * 5; break; case 2: chosen = -i; break;
                     case 3: chosen = i << 3; break; case 4: chosen = i ^ 77; break; default: chosen = 1; }
    float4 v = in[i];
    out[i] = q.n[1] + (int)q.weight + local[i & 7] + constants[i & 3] + chosen + (int)(v.x + v.y + v.z + v.w);
    big[i] = __umul64hi(0x123456789abcdefull * i, ~0ull) + (unsigned long long)((__int128)i * -5 >> 64);
    h[i] = __hfma(__float2half(i), __float2half(0.5f), __float2half(0.25f));
    atomicAdd(&counter, 1);
    if (p.n[i % 3] == 1) atomicMax(&out[64], i);
}
"""


def test_structs_switches_local_and_constant_memory(machine: Machine, arch: int) -> None:
    pair = np.zeros(1, [("tag", "i1"), ("pad", "V7"), ("weight", f64), ("n", i32, 3), ("tail", "V4")])
    pair["weight"], pair["n"] = 2.25, [1, 2, 3]
    values = np.arange(64 * 4, dtype=f32).reshape(64, 4)
    out, big, half = machine.zeros(65, i32), machine.zeros(64, u64), machine.zeros(64, np.float16)
    module = machine.load(MIXED, arch, "--device-int128")
    machine.run(module, "mixed", 1, 64, pair.tobytes(), out, machine.array(values), big, half)
    for i in range(64):
        local = [0] * 8
        for k in range(8):
            local[(k * 3 + i) & 7] = k * i
        chosen = {0: 3, 1: i * 5, 2: -i, 3: i << 3, 4: i ^ 77}.get(i % 7, 1)
        expected = 3 + 4 + local[i & 7] + (10, 20, 30, 40)[i & 3] + chosen + int(values[i].sum())
        assert out.get()[i] == expected, i
        product = 0x123456789ABCDEF * i % 2**64
        assert big.get()[i] == (product * (2**64 - 1) >> 64) + ((i * -5 >> 64) % 2**64) - (
            2**64 if i and product else 0
        )
    assert np.array_equal(half.get(), (np.arange(64) * 0.5 + 0.25).astype(np.float16))
    assert out.get()[64] == 63
    address = module.globals["counter"].address
    found = machine.memory.find(address)
    assert found is not None
    assert found.data.view(i32)[0] == 5 + 64


LIBRARY = r"""
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/std/array>
extern "C" __global__ void library(int *out)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    __shared__ int values[64];
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    for (int round = 0; round < 3; ++round) {
        values[threadIdx.x] = threadIdx.x + round;
        barrier.arrive_and_wait();
        cuda::atomic_ref<int, cuda::thread_scope_device>(out[round]).fetch_add(values[63 - threadIdx.x]);
        barrier.arrive_and_wait();
    }
    cuda::std::array<int, 2> pair{1, 2};
    out[4 + threadIdx.x] = pair[threadIdx.x & 1];
}
"""


@pytest.mark.thorough
def test_barriers_and_atomics_of_the_library(machine: Machine, arch: int) -> None:
    out = machine.zeros(68, i32)
    machine.run(machine.load(LIBRARY, arch), "library", 1, 64, out)
    assert out.get()[:3].tolist() == [64 * 63 // 2 + 64 * turn for turn in range(3)]
    assert out.get()[4:].tolist() == [1, 2] * 32


MATH = r"""
extern "C" __global__ void math(const double *x, double *d, const float *y, float *f, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double v = x[i];
    d[i * 6] = exp(v); d[i * 6 + 1] = sin(v); d[i * 6 + 2] = v / (v * v + 1.0); d[i * 6 + 3] = sqrt(fabs(v));
    d[i * 6 + 4] = log(fabs(v)); d[i * 6 + 5] = pow(fabs(v), 1.7);
    float w = y[i];
    f[i * 5] = sinf(w); f[i * 5 + 1] = expf(w); f[i * 5 + 2] = logf(fabsf(w));
    f[i * 5 + 3] = powf(fabsf(w), 1.7f); f[i * 5 + 4] = atan2f(w, 2.f);
}
"""


def test_mathematical_functions(machine: Machine, arch: int) -> None:
    n = 1000
    x = np.random.default_rng(1).normal(0, 5, n)
    y = x.astype(f32)
    d, f = machine.zeros((n, 6), f64), machine.zeros((n, 5), f32)
    machine.run(machine.load(MATH, arch), "math", 4, 256, machine.array(x), d, machine.array(y), f, i32(n))
    a, b = np.abs(x), np.abs(y).astype(f64)
    exact = np.stack([np.exp(x), np.sin(x), x / (x * x + 1), np.sqrt(a), np.log(a), a**1.7], 1)
    assert np.allclose(d.get(), exact, rtol=1e-14, atol=1e-16)
    w = y.astype(f64)
    single = np.stack([np.sin(w), np.exp(w), np.log(b), b ** np.float64(f32(1.7)), np.arctan2(w, 2)], 1)
    assert np.allclose(f.get(), single, rtol=1e-6, atol=1e-7)


COPIES = r"""
#include <cuda_pipeline.h>
extern "C" __global__ void copies(const float4 *in, float4 *out)
{
    __shared__ float4 stage[128];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&stage[t], &in[blockIdx.x * 128 + t], 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[blockIdx.x * 128 + t] = stage[127 - t];
}
"""


def test_asynchronous_copies(machine: Machine, arch: int) -> None:
    values, out = machine.array(random(256, 4)), machine.zeros((256, 4), f32)
    machine.run(machine.load(COPIES, arch), "copies", 2, 128, values, out)
    assert np.array_equal(out.get().reshape(2, 128, 4), values.get().reshape(2, 128, 4)[:, ::-1])


NAMED = r"""
extern "C" __global__ void named(int *out)
{
    __shared__ int box[128];
    int t = threadIdx.x;
    if (t < 64) {          // producers: fill, and go on
        box[t] = t * 3;
        asm volatile("bar.arrive 1, 128;" ::: "memory");
    } else {               // consumers: wait for them
        asm volatile("bar.sync 1, 128;" ::: "memory");
        out[t - 64] = box[127 - t];
    }
    if (t & 1) return;     // barriers do not wait for threads that are gone
    __syncthreads();
    box[t] = t;
    __syncthreads();
    if (t < 62) atomicAdd(&out[64], box[t + 2]);
}
"""


def test_named_barriers_and_threads_that_are_gone(machine: Machine, arch: int) -> None:
    out = machine.zeros(65, i32)
    machine.run(machine.load(NAMED, arch), "named", 1, 128, out)
    assert out.get()[:64].tolist() == [3 * (63 - t) for t in range(64)]
    assert out.get()[64] == sum(t + 2 for t in range(0, 62, 2))
