"""Products of matrices by the threads of a warp, against NumPy."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from .machine import Machine

f16, f32, i32 = np.float16, np.float32, np.int32

TILES = r"""
#include <mma.h>
using namespace nvcuda;
template <typename A, typename C, int M, int N, int K, typename AL, typename BL>
__device__ void multiply(const A *a, const A *b, const C *c, C *d, int la, int lb)
{
    wmma::fragment<wmma::matrix_a, M, N, K, A, AL> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, A, BL> fb;
    wmma::fragment<wmma::accumulator, M, N, K, C> fc;
    wmma::load_matrix_sync(fa, a, la);
    wmma::load_matrix_sync(fb, b, lb);
    wmma::load_matrix_sync(fc, c, N, wmma::mem_row_major);
    wmma::mma_sync(fc, fa, fb, fc);
    for (int i = 0; i < fc.num_elements; ++i) fc.x[i] = fc.x[i] * C(2);
    wmma::store_matrix_sync(d, fc, N, wmma::mem_row_major);
}
using Row = wmma::row_major;
using Column = wmma::col_major;
extern "C" __global__ void halves(const half *a, const half *b, const float *c, float *d)
{ multiply<half, float, 16, 16, 16, Row, Row>(a, b, c, d, 16, 16); }
extern "C" __global__ void turned(const half *a, const half *b, const float *c, float *d)
{ multiply<half, float, 32, 8, 16, Column, Column>(a, b, c, d, 32, 16); }
extern "C" __global__ void narrow(const half *a, const half *b, const half *c, half *d)
{ multiply<half, half, 8, 32, 16, Row, Row>(a, b, c, d, 16, 32); }
extern "C" __global__ void bytes(const signed char *a, const signed char *b, const int *c, int *d)
{ multiply<signed char, int, 16, 16, 16, Row, Row>(a, b, c, d, 16, 16); }
"""

MMA = r"""
extern "C" __global__ void halves(const unsigned *a, const unsigned *b, const float *c, float *d)
{
    __shared__ alignas(16) unsigned s[16 * 8], t[16 * 4];
    int i = threadIdx.x;
    for (int k = i; k < 128; k += 32) s[k] = a[k];
    for (int k = i; k < 64; k += 32) t[k] = b[k];
    __syncwarp();
    unsigned at = __cvta_generic_to_shared(s) + (i % 16) * 32 + (i / 16) * 16;
    unsigned bt = __cvta_generic_to_shared(t) + (i % 16) * 16, x[4], y[2];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "r"(at));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                 : "=r"(y[0]), "=r"(y[1]) : "r"(bt));
    float z[4];
    int row = i / 4, column = i % 4 * 2;
    for (int k = 0; k < 4; ++k) z[k] = c[(row + k / 2 * 8) * 8 + column + k % 2];
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                 "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(z[0]), "+f"(z[1]), "+f"(z[2]), "+f"(z[3])
                 : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
    for (int k = 0; k < 4; ++k) d[(row + k / 2 * 8) * 8 + column + k % 2] = z[k];
}
"""


STORED = r"""
extern "C" __global__ void stored(const unsigned *in, unsigned *out, int how)
{
    __shared__ alignas(16) unsigned s[128];
    int i = threadIdx.x;
    unsigned at = __cvta_generic_to_shared(s + 4 * i), v[4];
    for (int k = 0; k < 4; ++k) v[k] = in[k * 32 + i];
    for (int k = 0; k < 4; ++k) s[k * 32 + i] = 0;
    __syncwarp();
    if (how == 0)
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
                     :: "r"(at), "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3]) : "memory");
    if (how == 1)
        asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16 [%0], {%1, %2};"
                     :: "r"(at), "r"(v[0]), "r"(v[1]) : "memory");
    if (how == 2)
        asm volatile("stmatrix.sync.aligned.m8n8.x1.b16 [%0], {%1};"
                     :: "l"(s + 4 * i), "r"(v[0]) : "memory");
    __syncwarp();
    for (int k = 0; k < 4; ++k) out[k * 32 + i] = s[k * 32 + i];
}
"""


@pytest.fixture
def machine(nvrtc: ModuleType) -> Machine:
    return Machine()


def whole(shape: tuple[int, int], dtype: Any, seed: int) -> Any:
    """Small whole numbers, whose products and sums are exact."""
    return np.random.default_rng(seed).integers(-8, 8, shape).astype(dtype)


@pytest.mark.parametrize(
    "name, shape, kind, result, is_turned",
    [
        ("halves", (16, 16, 16), f16, f32, False),
        ("turned", (32, 8, 16), f16, f32, True),
        ("narrow", (8, 32, 16), f16, f16, False),
        ("bytes", (16, 16, 16), np.int8, i32, False),
    ],
)
def test_tiles(
    machine: Machine, name: str, shape: tuple[int, int, int], kind: Any, result: Any, is_turned: bool
) -> None:
    m, n, k = shape
    a, b, c = whole((m, k), kind, 1), whole((k, n), kind, 2), whole((m, n), result, 3)
    d = machine.zeros((m, n), result)
    given = [one.T if is_turned else one for one in (a, b)]
    machine.run(machine.load(TILES), name, 1, 32, *map(machine.array, given), machine.array(c), d)
    expected = (a.astype(np.int64) @ b.astype(np.int64) + c.astype(np.int64)) * 2
    assert np.array_equal(d.get(), expected.astype(result))


def test_rows_loaded_and_multiplied(machine: Machine) -> None:
    a, b, c = whole((16, 16), f16, 1), whole((16, 8), f16, 2), whole((16, 8), f32, 3)
    d = machine.zeros((16, 8), f32)
    machine.run(machine.load(MMA), "halves", 1, 32, *map(machine.array, (a, b, c)), d)
    assert np.array_equal(d.get(), a.astype(f32) @ b.astype(f32) + c)


@pytest.mark.parametrize("how, count", [(0, 4), (1, 2), (2, 1)])
def test_rows_stored(machine: Machine, how: int, count: int) -> None:
    """Lane 4 * row + pair holds a pair of each matrix; row r of matrix m goes where lane 8 * m + r says."""
    halves = np.random.default_rng(1).integers(0, 1 << 16, (4, 8, 8)).astype(np.uint16)
    out = machine.zeros((4, 8, 8), np.uint16)
    machine.run(machine.load(STORED, 90), "stored", 1, 32, machine.array(halves), out, i32(how))
    expected = np.zeros_like(halves)
    expected[:count] = halves[:count].swapaxes(1, 2) if how == 1 else halves[:count]
    assert np.array_equal(out.get(), expected)
