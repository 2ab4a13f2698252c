"""Products of matrices: in shared memory, on tensor cores by wmma, mma and wgmma, sparse and batched ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from .kernel import Run, kernel
from .values import (
    Array,
    e4m3_values,
    e5m2_values,
    f16,
    f32,
    f64,
    floats,
    from_bf16,
    i8,
    i32,
    integers,
    near,
    same,
    to_bf16,
    u8,
    u16,
    u32,
    zeros,
)

GUIDE = "CUDA C++ Programming Guide, Warp Matrix Functions"
ISA = "PTX ISA, Warp Level Matrix Multiply-Accumulate Instructions"


def small(*shape: int, seed: int = 0) -> Array:
    """Whole numbers whose products and sums are exact in every format here."""
    return integers(-3, 4, shape, f32, seed)


@kernel(
    r"""
template <int SIDE, int EACH> __device__ void tiled(const float *a, const float *b, float *c, int m,
    int n, int k)
{
    __shared__ float left[SIDE][SIDE + 1], right[SIDE][SIDE + 1];
    int row = blockIdx.y * SIDE + threadIdx.y, column = blockIdx.x * SIDE + threadIdx.x;
    float sum[EACH] = {};
    for (int first = 0; first < k; first += SIDE) {
        #pragma unroll
        for (int e = 0; e < EACH; ++e) {
            int y = threadIdx.y + e * (SIDE / EACH), r = blockIdx.y * SIDE + y, x = threadIdx.x;
            left[y][x] = r < m && first + x < k ? a[r * k + first + x] : 0;
            right[y][x] = first + y < k && column < n ? b[(first + y) * n + column] : 0;
        }
        __syncthreads();
        for (int i = 0; i < SIDE; ++i)
            #pragma unroll
            for (int e = 0; e < EACH; ++e)
                sum[e] = fmaf(left[threadIdx.y + e * (SIDE / EACH)][i], right[i][threadIdx.x], sum[e]);
        __syncthreads();
    }
    for (int e = 0; e < EACH; ++e) {
        int r = row + e * (SIDE / EACH);
        if (r < m && column < n) c[r * n + column] = sum[e];
    }
}
extern "C" __global__ void tiled_8(const float *a, const float *b, float *c, int m, int n, int k)
{
    tiled<8, 1>(a, b, c, m, n, k);
}
extern "C" __global__ void tiled_16(const float *a, const float *b, float *c, int m, int n, int k)
{
    tiled<16, 4>(a, b, c, m, n, k);
}
""",
    after="CUDA C++ Programming Guide, Shared Memory; Volkov, Better Performance at Lower Occupancy (2010)",
    against="numpy @",
)
def product_tiled(run: Run) -> None:
    """Tiles in padded shared memory, edges that are no multiples, several results a thread in a template."""
    for m, n, k in ((17, 23, 9), (33, 16, 40)):
        a, b = small(m, k), small(k, n, seed=1)
        for name, side, rows in (("tiled_8", 8, 8), ("tiled_16", 16, 4)):
            c = np.full((m, n), 7, f32)
            run(name, (-(-n // side), -(-m // side)), (side, rows), a, b, c, m, n, k)
            same(c, a @ b)


@kernel(
    r"""
extern "C" __global__ void strassen(const double *a, const double *b, double *c, int n)
{
    // one block: seven products of half matrices, each by a group of warps, in dynamic shared memory
    extern __shared__ double products[];
    int h = n / 2, size = h * h, which = threadIdx.y;
    auto A = [&](int q, int i) { return a[(q / 2 * h + i / h) * n + q % 2 * h + i % h]; };
    auto B = [&](int q, int i) { return b[(q / 2 * h + i / h) * n + q % 2 * h + i % h]; };
    for (int e = threadIdx.x; e < size; e += blockDim.x) {
        double sum = 0;
        for (int k = 0; k < h; ++k) {
            int l = e / h * h + k, r = k * h + e % h;
            double x, y;
            switch (which) {
            case 0: x = A(0, l) + A(3, l); y = B(0, r) + B(3, r); break;
            case 1: x = A(2, l) + A(3, l); y = B(0, r); break;
            case 2: x = A(0, l); y = B(1, r) - B(3, r); break;
            case 3: x = A(3, l); y = B(2, r) - B(0, r); break;
            case 4: x = A(0, l) + A(1, l); y = B(3, r); break;
            case 5: x = A(2, l) - A(0, l); y = B(0, r) + B(1, r); break;
            default: x = A(1, l) - A(3, l); y = B(2, r) + B(3, r);
            }
            sum += x * y;
        }
        products[which * size + e] = sum;
    }
    __syncthreads();
    if (which < 4)
        for (int e = threadIdx.x; e < size; e += blockDim.x) {
            auto M = [&](int i) { return products[(i - 1) * size + e]; };
            double value = which == 0 ? M(1) + M(4) - M(5) + M(7) : which == 1 ? M(3) + M(5)
                         : which == 2 ? M(2) + M(4) : M(1) - M(2) + M(3) + M(6);
            c[(which / 2 * h + e / h) * n + which % 2 * h + e % h] = value;
        }
}
""",
    after="Strassen, Gaussian Elimination is not Optimal (1969)",
    against="numpy @",
)
def product_strassen(run: Run) -> None:
    """Seven products of half matrices, chosen by a switch and lambdas."""
    n = 22
    a, b, c = floats((n, n), f64), floats((n, n), f64, seed=1), zeros((n, n), f64)
    run("strassen", 1, (32, 7), a, b, c, n, shared=7 * (n // 2) ** 2 * 8)
    near(c, a @ b, 1e-12, 1e-12)


@kernel(
    r"""
#include <mma.h>
#include <cuda_bf16.h>
using namespace nvcuda::wmma;
// one warp a tile; a by rows, b by columns, with strides that are longer than the rows
template <int M, int N, int K, typename In, typename Sum>
__device__ void multiply(const In *a, const In *b, Sum *c, int inner, int lda, int ldb, int ldc)
{
    fragment<matrix_a, M, N, K, In, row_major> left;
    fragment<matrix_b, M, N, K, In, col_major> right;
    fragment<accumulator, M, N, K, Sum> sum;
    Sum *tile = c + blockIdx.y * M * ldc + blockIdx.x * N;
    load_matrix_sync(sum, tile, ldc, mem_row_major);
    for (int k = 0; k < inner; k += K) {
        load_matrix_sync(left, a + blockIdx.y * M * lda + k, lda);
        load_matrix_sync(right, b + blockIdx.x * N * ldb + k, ldb);
        mma_sync(sum, left, right, sum);
    }
    store_matrix_sync(tile, sum, ldc, mem_row_major);
}
#define SHAPE(name, M, N, K, In, Sum) extern "C" __global__ void name(const In *a, const In *b, Sum *c, \
    int inner, \
    int lda, int ldb, int ldc) { multiply<M, N, K>(a, b, c, inner, lda, ldb, ldc); }
SHAPE(half_16_float, 16, 16, 16, half, float)
SHAPE(half_32_half, 32, 8, 16, half, half)
SHAPE(half_8_float, 8, 32, 16, half, float)
SHAPE(bfloat_16, 16, 16, 16, __nv_bfloat16, float)
SHAPE(bfloat_32, 32, 8, 16, __nv_bfloat16, float)
SHAPE(signed_16, 16, 16, 16, signed char, int)
SHAPE(unsigned_8, 8, 32, 16, unsigned char, int)
SHAPE(doubles, 8, 8, 4, double, double)
""",
    after=GUIDE,
    against="numpy @",
)
def product_wmma(run: Run) -> None:
    """Fragments of half, bfloat16, bytes and double in all shapes, with strides longer than rows."""
    cases: list[tuple[str, tuple[int, int, int], Any, Any]] = [
        ("half_16_float", (16, 16, 16), lambda x: x.astype(f16), f32),
        ("half_32_half", (32, 8, 16), lambda x: x.astype(f16), f16),
        ("half_8_float", (8, 32, 16), lambda x: x.astype(f16), f32),
        ("bfloat_16", (16, 16, 16), to_bf16, f32),
        ("bfloat_32", (32, 8, 16), to_bf16, f32),
        ("signed_16", (16, 16, 16), lambda x: x.astype(i8), i32),
        ("unsigned_8", (8, 32, 16), lambda x: abs(x).astype(u8), i32),
        ("doubles", (8, 8, 4), lambda x: x.astype(f64), f64),
    ]
    for name, (m, n, k), convert, kind in cases:
        a, b, c = small(2 * m, 3 * k + 16), small(3 * n, 3 * k + 32, seed=1), small(2 * m, 3 * n + 16, seed=2)
        left, right = (abs(a), abs(b)) if name == "unsigned_8" else (a, b)
        got = c.astype(kind)
        want = got.copy()
        want[:, : 3 * n] += (left[:, : 3 * k] @ right[:, : 3 * k].T).astype(kind)
        run(name, (3, 2), 32, convert(a), convert(b), got, 3 * k, a.shape[1], b.shape[1], c.shape[1])
        same(got, want)


@kernel(
    r"""
#include <mma.h>
using namespace nvcuda::wmma;
extern "C" __global__ void tf32(const float *a, const float *b, float *c)
{
    __shared__ float staged[16 * 24];
    fragment<matrix_a, 16, 16, 8, precision::tf32, col_major> left;
    fragment<matrix_b, 16, 16, 8, precision::tf32, row_major> right;
    fragment<accumulator, 16, 16, 8, float> sum;
    fill_fragment(sum, 0.5f);
    load_matrix_sync(left, a, 16);
    load_matrix_sync(right, b, 16);
    for (int i = 0; i < left.num_elements; ++i) left.x[i] = __float_to_tf32(left.x[i]);
    for (int i = 0; i < right.num_elements; ++i) right.x[i] = __float_to_tf32(right.x[i]);
    mma_sync(sum, left, right, sum);
    for (float &value : sum.x) value = value * 2 - 1;
    store_matrix_sync(staged, sum, 24, mem_col_major);
    __syncwarp();
    for (int i = threadIdx.x; i < 256; i += 32) c[i] = staged[i / 16 * 24 + i % 16];
}
""",
    after=GUIDE + ", Alternate Floating Point",
    against="numpy @ of operands that are rounded to 10 bits",
)
def product_wmma_tf32(run: Run) -> None:
    """Operands are rounded to tf32 first; results go through shared memory, by columns."""
    a, b, c = floats((8, 16)), small(8, 16), zeros((16, 16))
    run("tf32", 1, 32, a, b, c)
    rounded = ((a.view(u32) + u32(0x1000)) & u32(0xFFFFE000)).view(f32)  # cvt.rna: ties away from zero
    near(c.T, 2 * (rounded.T.astype(f64) @ b + 0.5) - 1, 1e-5, 1e-5)


@kernel(
    r"""
#include <mma.h>
using namespace nvcuda::wmma;
extern "C" __global__ void nibbles(const unsigned *a, const unsigned *b, int *c)
{
    using experimental::precision::s4;
    fragment<matrix_a, 8, 8, 32, s4, row_major> left;
    fragment<matrix_b, 8, 8, 32, s4, col_major> right;
    fragment<accumulator, 8, 8, 32, int> sum;
    fill_fragment(sum, 0);
    load_matrix_sync(left, a, 32);
    load_matrix_sync(right, b, 32);
    mma_sync(sum, left, right, sum);
    store_matrix_sync(c, sum, 8, mem_row_major);
}
extern "C" __global__ void bits(const unsigned *a, const unsigned *b, int *c)
{
    using experimental::precision::b1;
    fragment<matrix_a, 8, 8, 128, b1, row_major> left;
    fragment<matrix_b, 8, 8, 128, b1, col_major> right;
    fragment<accumulator, 8, 8, 128, int> sum;
    fill_fragment(sum, 10);
    load_matrix_sync(left, a, 128);
    load_matrix_sync(right, b, 128);
    bmma_sync(sum, left, right, sum, experimental::bmmaBitOpAND, experimental::bmmaAccumulateOpPOPC);
    store_matrix_sync(c, sum, 8, mem_row_major);
}
""",
    after=GUIDE + ", Sub-byte Operations",
    against="numpy @ of unpacked integers and bits",
)
def product_wmma_sub_byte(run: Run) -> None:
    """Integers of 4 bits, and bits that are counted."""
    a, b = integers(-8, 8, (8, 32)), integers(-8, 8, (8, 32), seed=1)

    def packed(x: Array) -> Array:
        parts = (x & 15).astype(u32).reshape(8, 4, 8) << (4 * np.arange(8, dtype=u32))
        return np.bitwise_or.reduce(parts, axis=2)

    c = zeros((8, 8), i32)
    run("nibbles", 1, 32, packed(a), packed(b), c)
    same(c, a @ b.T)
    x, y = integers(0, 2, (8, 128), u8), integers(0, 2, (8, 128), u8, seed=1)
    words = [np.packbits(one, axis=1, bitorder="little").view(u32) for one in (x, y)]
    run("bits", 1, 32, *words, c)
    same(c, x.astype(i32) @ y.T.astype(i32) + 10)


MMA = r"""
// fragments of m16n8: g is the row of a, and the column of b, t the place in it
struct Lane { int g, t; __device__ Lane() : g((threadIdx.x & 31) >> 2), t(threadIdx.x & 3) {} };
extern "C" __global__ void half_k16(const unsigned *a, const unsigned *b, float *c)
{
    Lane l;
    unsigned r[4], s[2];
    for (int i = 0; i < 4; ++i) r[i] = a[(l.g + 8 * (i & 1)) * 8 + l.t + 4 * (i >> 1)];
    for (int i = 0; i < 2; ++i) s[i] = b[l.g * 8 + l.t + 4 * i];
    float d[4] = {1, 2, 3, 4};
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(s[0]), "r"(s[1]));
    for (int i = 0; i < 4; ++i) c[(l.g + 8 * (i / 2)) * 8 + 2 * l.t + i % 2] = d[i] - (i + 1);
}
extern "C" __global__ void bfloat_k8(const unsigned *a, const unsigned *b, float *c)
{
    Lane l;
    float d[4] = {};
    for (int k = 0; k < 2; ++k) {
        unsigned r0 = a[l.g * 8 + l.t + 4 * k], r1 = a[(l.g + 8) * 8 + l.t + 4 * k], s = b[l.g * 8 + l.t
            + 4 * k];
        asm("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
            "{%0, %1, %2, %3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(r0), "r"(r1), "r"(s));
    }
    for (int i = 0; i < 4; ++i) c[(l.g + 8 * (i / 2)) * 8 + 2 * l.t + i % 2] = d[i];
}
extern "C" __global__ void tf32_k4(const float *a, const float *b, float *c)
{
    Lane l;
    float d[4] = {};
    for (int k = 0; k < 16; k += 4) {
        unsigned r0, r1, s;
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r0) : "f"(a[l.g * 16 + k + l.t]));
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r1) : "f"(a[(l.g + 8) * 16 + k + l.t]));
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(s) : "f"(b[l.g * 16 + k + l.t]));
        asm("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
            "{%0, %1, %2, %3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(r0), "r"(r1), "r"(s));
    }
    for (int i = 0; i < 4; ++i) c[(l.g + 8 * (i / 2)) * 8 + 2 * l.t + i % 2] = d[i];
}
extern "C" __global__ void bytes_k16(const unsigned *a, const unsigned *b, int *c, int saturate)
{
    Lane l;
    int d[4] = {saturate, -saturate, saturate, -saturate};
    unsigned r0 = a[l.g * 4 + l.t], r1 = a[(l.g + 8) * 4 + l.t], s = b[l.g * 4 + l.t];
    asm("mma.sync.aligned.m16n8k16.row.col.satfinite.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
        "{%0, %1, %2, %3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "r"(r0), "r"(r1), "r"(s));
    for (int i = 0; i < 4; ++i) c[(l.g + 8 * (i / 2)) * 8 + 2 * l.t + i % 2] = d[i];
}
extern "C" __global__ void doubles_k16(const double *a, const double *b, double *c)
{
    Lane l;
    double d[4] = {}, r[8], s[4];
    for (int i = 0; i < 8; ++i) r[i] = a[(l.g + 8 * (i & 1)) * 16 + l.t + 4 * (i >> 1)];
    for (int i = 0; i < 4; ++i) s[i] = b[l.g * 16 + l.t + 4 * i];
    asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7, %8, %9, %10, %11},"
        " {%12, %13, %14, %15}, {%0, %1, %2, %3};"
        : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
        : "d"(r[0]), "d"(r[1]), "d"(r[2]), "d"(r[3]), "d"(r[4]), "d"(r[5]), "d"(r[6]), "d"(r[7]),
          "d"(s[0]), "d"(s[1]), "d"(s[2]), "d"(s[3]));
    for (int i = 0; i < 4; ++i) c[(l.g + 8 * (i / 2)) * 8 + 2 * l.t + i % 2] = d[i];
}
extern "C" __global__ void fp8_k32(const unsigned *a, const unsigned *b, float *c)
{
    Lane l;
    float d[4] = {};
    unsigned r[4], s[2];
    for (int i = 0; i < 4; ++i) r[i] = a[(l.g + 8 * (i & 1)) * 8 + l.t + 4 * (i >> 1)];
    for (int i = 0; i < 2; ++i) s[i] = b[l.g * 8 + l.t + 4 * i];
    asm("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(s[0]), "r"(s[1]));
    for (int i = 0; i < 4; ++i) c[(l.g + 8 * (i / 2)) * 8 + 2 * l.t + i % 2] = d[i];
}
"""


@kernel(MMA, after=ISA + ", m16n8k16", against="numpy @")
def mma_half(run: Run) -> None:
    """m16n8k16 of binary16 by the layout of fragments that the manual has."""
    a, b, c = small(16, 16), small(8, 16, seed=1), zeros((16, 8))
    run("half_k16", 1, 32, a.astype(f16), b.astype(f16), c)
    same(c, a @ b.T)


@kernel(MMA, after=ISA + ", m16n8k8", against="numpy @")
def mma_bfloat(run: Run) -> None:
    """Two m16n8k8 of bfloat16."""
    a, b, c = small(16, 16), small(8, 16, seed=1), zeros((16, 8))
    run("bfloat_k8", 1, 32, to_bf16(a), to_bf16(b), c)
    same(c, a @ b.T)


@kernel(MMA, after=ISA + ", m16n8k4", against="numpy @")
def mma_tf32(run: Run) -> None:
    """Four m16n8k4 of tf32."""
    a, b, c = small(16, 16), small(8, 16, seed=1), zeros((16, 8))
    run("tf32_k4", 1, 32, a, b, c)
    same(c, a @ b.T)


@kernel(MMA, after=ISA + ", m16n8k16 of integers", against="numpy @, clipped")
def mma_bytes(run: Run) -> None:
    """Unsigned by signed bytes; sums near both ends of the range saturate."""
    a, b, c = integers(0, 256, (16, 16), u8), integers(-128, 128, (8, 16), i8), zeros((16, 8), i32)
    for start in (0, 2**31 - 9000):
        run("bytes_k16", 1, 32, a, b, c, start)
        sums = a.astype(np.int64) @ b.T.astype(np.int64) + start * np.where(np.arange(8) % 2, -1, 1)
        same(c, sums.clip(-(2**31), 2**31 - 1))


@kernel(MMA, after=ISA + ", m16n8k16 of f64", against="numpy @")
def mma_double(run: Run) -> None:
    """m16n8k16 of binary64."""
    a, b, c = floats((16, 16), f64), floats((8, 16), f64, seed=1), zeros((16, 8), f64)
    run("doubles_k16", 1, 32, a, b, c)
    near(c, a @ b.T, 1e-13, 1e-14)


@kernel(
    MMA, after=ISA + ", m16n8k32; OCP 8-bit Floating Point Specification", against="numpy @ of decoded bytes"
)
def mma_fp8(run: Run) -> None:
    """e4m3 by e5m2, decoded by the formulas of the specification."""
    e4m3, e5m2 = e4m3_values(), e5m2_values()
    whole = [
        np.flatnonzero(np.isin(np.nan_to_num(table, nan=9), np.arange(-3.0, 4.0))).astype(u8)
        for table in (e4m3, e5m2)
    ]
    random = np.random.default_rng(0)
    a, b, c = random.choice(whole[0], (16, 32)), random.choice(whole[1], (8, 32)), zeros((16, 8))
    run("fp8_k32", 1, 32, a, b, c)
    same(c, e4m3[a] @ e5m2[b].T)


@kernel(
    r"""
#include <cuda_fp16.h>
// a tile of 16 x 16 of a, and of b by rows, lies in shared memory: ldmatrix turns b round
extern "C" __global__ void loaded(const uint4 *a, const uint4 *b, __half2 *c)
{
    __shared__ alignas(16) uint4 left[16][2], right[16][2];
    int lane = threadIdx.x;
    left[lane / 2][lane % 2 ^ (lane >> 3 & 1)] = a[lane];  // swizzled
    right[lane / 2][lane % 2] = b[lane];
    __syncwarp();
    unsigned r[4], s[4], d[4] = {};
    int row = lane % 16, half = lane / 16;
    unsigned where = __cvta_generic_to_shared(&left[row][half ^ (row >> 2 & 1)]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(where));
    where = __cvta_generic_to_shared(&right[row][half]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(s[0]), "=r"(s[1]), "=r"(s[2]), "=r"(s[3]) : "r"(where));
    for (int n = 0; n < 2; ++n)
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, "
                     "{%6, %7}, {%0, %1};"
                     : "+r"(d[2 * n]), "+r"(d[2 * n + 1])
                     : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(s[2 * n]), "r"(s[2 * n + 1]));
    for (int i = 0; i < 4; ++i)
        c[(lane / 4 + 8 * (i % 2)) * 8 + 4 * (i / 2) + lane % 4] = *(__half2 *)&d[i];
}
""",
    after="PTX ISA, ldmatrix; Thakkar et al., CUTLASS (swizzled shared memory)",
    against="numpy @",
)
def mma_ldmatrix(run: Run) -> None:
    """Fragments by ldmatrix, of a as it is from swizzled rows, of b transposed."""
    a, b, c = small(16, 16), small(16, 16, seed=1), zeros((16, 16), f16)
    run("loaded", 1, 32, a.astype(f16), b.astype(f16), c)
    same(c, a @ b)


WGMMA = r"""
// tiles without swizzle: core matrices of 8 rows of 16 bytes, those along the sum one after the other
__device__ unsigned long long descriptor(const void *tile, int along_sum, int along_rows)
{
    unsigned long long where = __cvta_generic_to_shared(tile);
    return (where & 0x3ffff) >> 4 | (unsigned long long)(along_sum >> 4) << 16
        | (unsigned long long)(along_rows >> 4) << 32;
}
template <typename T, int K> __device__ void stage(T *tile, const T *from, int rows)
{
    const int each = 16 / sizeof(T);
    for (int i = threadIdx.x; i < rows * K; i += 128) {
        int row = i / K, k = i % K;
        tile[(row / 8) * 8 * K + (k / each) * 8 * each + row % 8 * each + k % each] = from[i];
    }
}
#define BEGIN asm volatile("fence.proxy.async;\nwgmma.fence.sync.aligned;" ::: "memory")
#define END asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory")
template <typename D> __device__ void store(D *c, const D *d, int n)
{
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int i = 0; i < n / 2; ++i) {
        int row = warp * 16 + lane / 4 + 8 * (i / 2 % 2), column = i / 4 * 8 + lane % 4 * 2 + i % 2;
        c[row * n + column] = d[i];
    }
}
extern "C" __global__ void bfloat(const unsigned short *a, const unsigned short *b, float *c)
{
    __shared__ alignas(128) unsigned short left[64 * 16], right[16 * 16];
    stage<unsigned short, 16>(left, a, 64);
    stage<unsigned short, 16>(right, b, 16);
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    float d[8];
    for (int i = 0; i < 8; ++i) d[i] = 100;
    BEGIN;
    for (int step = 0; step < 2; ++step)  // the first overwrites, the second adds the negative of b
        if (step == 0)
            asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %10, 0;\n"
                "wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 "
                "{%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, p, 1, 1, 0, 0;\n}"
                : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
                    "+f"(d[7])
                : "l"(descriptor(left, 128, 256)), "l"(descriptor(right, 128, 256)), "r"(step));
        else
            asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %10, 0;\n"
                "wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 "
                "{%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, p, 1, -1, 0, 0;\n}"
                : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
                    "+f"(d[7])
                : "l"(descriptor(left, 128, 256)), "l"(descriptor(right + 0, 128, 256)), "r"(step));
    END;
    store(c + 64 * 16, d, 16);
    BEGIN;
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %10, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, p, 1, 1, 0, 0;\n}"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
        : "l"(descriptor(left, 128, 256)), "l"(descriptor(right, 128, 256)), "r"(1));
    END;
    store(c, d, 16);
}
extern "C" __global__ void fp8(const unsigned char *a, const unsigned char *b, float *c)
{
    __shared__ alignas(128) unsigned char left[64 * 32], right[8 * 32];
    stage<unsigned char, 32>(left, a, 64);
    stage<unsigned char, 32>(right, b, 8);
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    float d[4] = {1, 1, 1, 1};
    BEGIN;
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k32.f32.e5m2.e4m3 {%0, %1, %2, %3}, %4, %5, 1, 1, 1;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(descriptor(left, 128, 256)),
            "l"(descriptor(right, 128, 256)));
    END;
    store(c, d, 8);
}
extern "C" __global__ void bytes(const signed char *a, const signed char *b, int *c)
{
    __shared__ alignas(128) signed char left[64 * 32], right[8 * 32];
    stage<signed char, 32>(left, a, 64);
    stage<signed char, 32>(right, b, 8);
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    int d[4] = {-5, -5, -5, -5};
    BEGIN;
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%0, %1, %2, %3}, %4, %5, 1;"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "l"(descriptor(left, 128, 256)),
            "l"(descriptor(right, 128, 256)));
    END;
    store(c, d, 8);
}
"""


@kernel(
    WGMMA, after="PTX ISA, Asynchronous Warpgroup Level Matrix Instructions", against="numpy @", arch="sm_90a"
)
def wgmma_bfloat(run: Run) -> None:
    """m64n16k16: overwrites, subtracts (exactly zero), and adds."""
    a, b, c = small(64, 16), small(16, 16, seed=1), np.full((2, 64, 16), 9, f32)
    run("bfloat", 1, 128, to_bf16(a), to_bf16(b), c)
    same(c, [a @ b.T, zeros((64, 16))])


@kernel(
    WGMMA,
    after="PTX ISA, Asynchronous Warpgroup Level Matrix Instructions",
    against="numpy @ of decoded bytes",
    arch="sm_90a",
)
def wgmma_fp8(run: Run) -> None:
    """m64n8k32 of e5m2 by e4m3."""
    tables = e5m2_values(), e4m3_values()
    whole = [
        np.flatnonzero(np.isin(np.nan_to_num(table, nan=9), np.arange(-3.0, 4.0))).astype(u8)
        for table in tables
    ]
    random = np.random.default_rng(0)
    a, b, c = random.choice(whole[0], (64, 32)), random.choice(whole[1], (8, 32)), zeros((64, 8))
    run("fp8", 1, 128, a, b, c)
    same(c, tables[0][a] @ tables[1][b].T + 1)


@kernel(
    WGMMA, after="PTX ISA, Asynchronous Warpgroup Level Matrix Instructions", against="numpy @", arch="sm_90a"
)
def wgmma_bytes(run: Run) -> None:
    """m64n8k32 of signed bytes."""
    a, b, c = integers(-128, 128, (64, 32), i8), integers(-128, 128, (8, 32), i8, seed=1), zeros((64, 8), i32)
    run("bytes", 1, 128, a, b, c)
    same(c, a.astype(i32) @ b.T.astype(i32) - 5)


@kernel(
    r"""
extern "C" __global__ void dots(const int *a, const int *b, int *c, int words)
{
    int row = blockIdx.x, column = threadIdx.x, sum = 0;
    unsigned other = 0;
    for (int k = 0; k < words; ++k) {
        sum = __dp4a(a[row * words + k], b[column * words + k], sum);
        other = __dp2a_lo((unsigned)a[row * words + k], (unsigned)b[column * words + k], other);
    }
    c[row * blockDim.x + column] = sum;
    c[(gridDim.x + row) * blockDim.x + column] = other;
}
""",
    after="CUDA Math API, Integer Intrinsics: __dp4a, __dp2a_lo",
    against="numpy @",
)
def product_dp4a(run: Run) -> None:
    """Dot products of four bytes, and of two shorts with two bytes."""
    a, b, c = (
        integers(-128, 128, (5, 28), i8),
        integers(-128, 128, (9, 28), i8, seed=1),
        zeros((2, 5, 9), i32),
    )
    run("dots", 5, 9, a, b, c, 7)
    same(c[0], a.astype(i32) @ b.T.astype(i32))
    shorts, low = a.view(u16).astype(u32), b.view(u8).reshape(9, 7, 4)[:, :, :2].reshape(9, 14).astype(u32)
    same(c[1].view(u32), shorts @ low.T)


@kernel(
    r"""
extern "C" __global__ void spmv(const int *starts, const int *columns, const float *values,
    const float *x, float *y, int rows)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 8, lane = threadIdx.x % 8;
    if (row >= rows) return;
    float sum = 0;
    for (int i = starts[row] + lane; i < starts[row + 1]; i += 8) sum += values[i] * __ldg(x + columns[i]);
    unsigned mask = 0xffu << (threadIdx.x & 24);
    for (int d = 4; d; d /= 2) sum += __shfl_down_sync(mask, sum, d, 8);
    if (lane == 0) y[row] = sum;
}
extern "C" __global__ void ell(const int *columns, const float *values, const float *x, float *y,
    int rows, int width)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (int i = 0; i < width; ++i) {
        int column = columns[i * rows + row];
        if (column < 0) break;
        sum += values[i * rows + row] * x[column];
    }
    y[row] = sum;
}
""",
    after="Bell and Garland, Implementing Sparse Matrix-Vector Multiplication (2009)",
    against="numpy @ of the dense matrix",
)
def product_sparse(run: Run) -> None:
    """CSR by groups of eight threads with masks of their own, and ELLPACK with rows that end early."""
    dense = small(45, 61) * (np.random.default_rng(5).random((45, 61)) < 0.2)
    dense[7] = 0
    x, rows = small(61, seed=2), 45
    starts = np.r_[0, np.count_nonzero(dense, axis=1).cumsum()].astype(i32)
    where, columns = np.nonzero(dense)
    y = zeros(rows)
    run("spmv", 3, 128, starts, columns.astype(i32), dense[where, columns].astype(f32), x, y, rows)
    same(y, dense @ x)
    width = int(np.diff(starts).max())
    places, values = np.full((width, rows), -1, i32), zeros((width, rows))
    for row in range(rows):
        found = np.flatnonzero(dense[row])
        places[: len(found), row], values[: len(found), row] = found, dense[row, found]
    y = zeros(rows)
    run("ell", 2, 32, places, values, x, y, rows, width)
    same(y, dense @ x)


@kernel(
    r"""
// LU with partial pivots of a small matrix for each warp, a column for each lane, in registers
template <int N> __device__ void solve(const double *a, double *x)
{
    int lane = threadIdx.x;
    double column[N];
    for (int i = 0; i < N; ++i) column[i] = lane <= N ? a[blockIdx.x * N * (N + 1) + i * (N + 1) + lane] : 0;
    #pragma unroll
    for (int k = 0; k < N; ++k) {
        int pivot = k;
        double best = fabs(column[k]);
        #pragma unroll
        for (int i = k + 1; i < N; ++i) if (fabs(column[i]) > best) { best = fabs(column[i]); pivot = i; }
        pivot = __shfl_sync(~0u, pivot, k);
        #pragma unroll
        for (int i = k + 1; i < N; ++i) if (i == pivot) { double t = column[k]; column[k] = column[i];
            column[i] = t; }
        #pragma unroll
        for (int i = 0; i < N; ++i) if (i != k) {
            double factor = __shfl_sync(~0u, column[i] / column[k], k);
            column[i] = fma(-factor, column[k], column[i]);
        }
    }
    #pragma unroll
    for (int i = 0; i < N; ++i) {
        double diagonal = __shfl_sync(~0u, column[i], i);
        if (lane == N) x[blockIdx.x * N + i] = column[i] / diagonal;
    }
}
extern "C" __global__ void solve_7(const double *a, double *x) { solve<7>(a, x); }
""",
    after="Gauss-Jordan elimination with partial pivoting: Golub and Van Loan, Matrix Computations, 3.4",
    against="numpy.linalg.solve",
)
def solve_in_registers(run: Run) -> None:
    """Small systems, a matrix to a warp, a column to a lane: pivots go round by shuffles of doubles."""
    a, b, x = floats((6, 7, 7), f64), floats((6, 7, 1), f64, seed=1), zeros((6, 7), f64)
    run("solve_7", 6, 32, np.concatenate([a, b], axis=2), x)
    near(x, np.linalg.solve(a, b)[..., 0], 1e-9, 1e-11)


@kernel(
    r"""
extern "C" __global__ void cholesky(float *a, int n)
{
    extern __shared__ float tile[];
    for (int i = threadIdx.x; i < n * n; i += blockDim.x) tile[i] = a[blockIdx.x * n * n + i];
    for (int k = 0; k < n; ++k) {
        __syncthreads();
        if (threadIdx.x == 0) tile[k * n + k] = sqrtf(tile[k * n + k]);
        __syncthreads();
        for (int i = k + 1 + threadIdx.x; i < n; i += blockDim.x) tile[i * n + k] = __fdividef(tile[i * n
            + k], tile[k * n + k]);
        __syncthreads();
        for (int e = threadIdx.x; e < (n - k - 1) * (n - k - 1); e += blockDim.x) {
            int i = k + 1 + e / (n - k - 1), j = k + 1 + e % (n - k - 1);
            if (j <= i) tile[i * n + j] -= tile[i * n + k] * tile[j * n + k];
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n * n; i += blockDim.x) a[blockIdx.x * n * n + i] = i % n <= i / n
        ? tile[i] : 0;
}
""",
    after="Golub and Van Loan, Matrix Computations, 4.2 (right-looking Cholesky)",
    against="numpy.linalg.cholesky",
)
def cholesky(run: Run) -> None:
    """L L^T in shared memory, triangles of changing size."""
    for n in (1, 13, 24):
        m = floats((3, n, n))
        a = (m @ m.transpose(0, 2, 1) + n * np.eye(n)).astype(f32)
        got = a.copy()
        run("cholesky", 3, 64, got, n, shared=4 * n * n)
        near(got, np.linalg.cholesky(a.astype(f64)), 1e-4, 1e-5)


@kernel(
    r"""
#define TILE 32
#define ROWS 8
template <typename T> __device__ void transpose(const T *in, T *out, int width, int height)
{
    __shared__ T tile[TILE][TILE + 1];
    int swapped_y = blockIdx.x, swapped_x = (blockIdx.x + blockIdx.y) % gridDim.x;  // diagonal order
    int x = swapped_x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = in[(size_t)(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = swapped_x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < height && y + j < width) out[(size_t)(y + j) * height
            + x] = tile[threadIdx.x][threadIdx.y + j];
}
struct alignas(16) Quad { int v[4]; };
struct Three { unsigned char r, g, b; };
extern "C" __global__ void quads(const Quad *in, Quad *out, int w, int h) { transpose(in, out, w, h); }
extern "C" __global__ void threes(const Three *in, Three *out, int w, int h) { transpose(in, out, w, h); }
""",
    after="Ruetsch and Micikevicius, Optimizing Matrix Transpose in CUDA (2009)",
    against="numpy.transpose",
)
def transpose_of_structs(run: Run) -> None:
    """Items of 16 aligned bytes and of 3, tiles in diagonal order, edges."""
    x = integers(0, 2**31, (45, 70, 4))
    out = zeros((70, 45, 4), i32)
    run("quads", (3, 2), (32, 8), x, out, 70, 45)
    same(out, x.transpose(1, 0, 2))
    y = integers(0, 256, (33, 31, 3), u8)
    pixels = zeros((31, 33, 3), u8)
    run("threes", (1, 2), (32, 8), y, pixels, 31, 33)
    same(pixels, y.transpose(1, 0, 2))


@kernel(
    r"""
#include <cuda_fp16.h>
#include <cuda_bf16.h>
extern "C" __global__ void gemv(const __half2 *a, const __half2 *x, __half *y, int pairs)
{
    __half2 sum = __float2half2_rn(0.f);
    for (int i = threadIdx.x; i < pairs; i += 32) sum = __hfma2(a[blockIdx.x * pairs + i], x[i], sum);
    for (int d = 16; d; d /= 2) sum = __hadd2(sum, __shfl_xor_sync(~0u, sum, d));
    if (!threadIdx.x) y[blockIdx.x] = __hadd(__low2half(sum), __high2half(sum));
}
extern "C" __global__ void outer(const __nv_bfloat16 *x, const __nv_bfloat162 *y, __nv_bfloat162 *z,
    int pairs)
{
    __nv_bfloat162 both = __bfloat162bfloat162(x[blockIdx.x]);
    if (threadIdx.x < pairs) atomicAdd(z + blockIdx.x * pairs + threadIdx.x, __hmul2(both, y[threadIdx.x]));
}
""",
    after="CUDA Math API, half2 and bfloat162 arithmetic",
    against="numpy @ and outer",
)
def product_packed_halves(run: Run) -> None:
    """Pairs of halves in one register, shuffles of them, atomic addition of pairs of bfloat16."""
    a, x, y = small(9, 86), small(86, seed=1), zeros(9, f16)
    run("gemv", 9, 32, a.astype(f16), x.astype(f16), y, 43)
    same(y, a @ x)
    left, right, z = small(5), small(20, seed=1), np.ones((5, 20), f32)
    bits = to_bf16(z)
    run("outer", 5, 32, to_bf16(left), to_bf16(right), bits, 10)
    same(from_bf16(bits), z + np.outer(left, right))
