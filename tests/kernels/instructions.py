"""Intrinsic functions and inline PTX, a few to a kernel."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from .kernel import Run, kernel
from .values import f16, f32, f64, floats, i8, i32, i64, integers, same, to_bf16, u8, u16, u32, zeros

MATH_API = "CUDA Math API"
ISA = "PTX ISA"


@kernel(
    r"""
extern "C" __global__ void bits(const unsigned *a, const unsigned *b, unsigned *out)
{
    unsigned x = a[threadIdx.x], y = b[threadIdx.x], r[12], n = blockDim.x;
    asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(r[0]) : "r"(x), "r"(y), "r"(0x0ff00ff0));
    asm("lop3.b32 %0, %1, %2, %3, 0xe8;" : "=r"(r[1]) : "r"(x), "r"(y), "r"(x >> 3));
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(r[2]) : "r"(x), "r"(y & 31), "r"(y >> 8 & 31));
    asm("bfe.s32 %0, %1, %2, %3;" : "=r"(r[3]) : "r"(x), "r"(y & 31), "r"(y >> 8 & 31));
    asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(r[4]) : "r"(x), "r"(y), "r"(y & 31), "r"(x & 15));
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(r[5]) : "r"(x), "r"(y), "r"(y >> 3 & 0xffff));
    asm("bfind.shiftamt.u32 %0, %1;" : "=r"(r[6]) : "r"(x >> (y & 31)));
    asm("shf.l.clamp.b32 %0, %1, %2, %3;" : "=r"(r[7]) : "r"(x), "r"(y), "r"(x & 63));
    asm("szext.clamp.s32 %0, %1, %2;" : "=r"(r[8]) : "r"(x), "r"(y & 31));
    asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(r[9]) : "r"(x & 31), "r"(y & 31));
    asm("fns.b32 %0, %1, %2, %3;" : "=r"(r[10]) : "r"(x), "r"(5), "r"(2));
    r[11] = __popc(x) | __clz(y) << 8 | __ffs(x) << 16 | __popcll((unsigned long long)x << 7) << 24;
    for (int i = 0; i < 12; ++i) out[i * n + threadIdx.x] = r[i];
}
""",
    after=ISA + ", Logic and Shift Instructions, Integer Arithmetic",
    against="Python integers",
)
def bit_instructions(run: Run) -> None:
    """lop3, bfe, bfi, prmt, bfind, shf, szext, bmsk, fns, in inline PTX."""
    a = np.r_[integers(0, 2**32, 90, u32), 0, 1, 2**32 - 1, 2**31].astype(u32)
    b = integers(0, 2**32, 94, u32, seed=1)
    out, mask = zeros((12, 94), u32), 2**32 - 1
    run("bits", 1, 94, a, b, out)
    for x, y, got in zip(a.tolist(), b.tolist(), out.T.tolist(), strict=True):
        z, at, size = x >> 3, y & 31, y >> 8 & 31
        field = x >> at & (1 << size) - 1
        sign = x >> min(at + size - 1, 31) & 1 if size else 0
        signed = (field | (mask << max(0, min(size, 32 - at)) if sign else 0)) & mask if size else 0
        width = x & 15
        insert = ((1 << width) - 1 << at) & mask
        bytes_ = x.to_bytes(4, "little") + y.to_bytes(4, "little")
        selected = 0
        for i in range(4):
            s = y >> 3 + 4 * i & 15
            byte = bytes_[s & 7]
            selected |= (0xFF if s & 8 and byte & 128 else 0 if s & 8 else byte) << 8 * i
        shifted = x >> (y & 31)
        find = 32 - shifted.bit_length() if shifted else mask
        left = min(x & 63, 32)
        extended = x & (1 << at) - 1 | (mask << at & mask if at and x >> at - 1 & 1 else 0)
        ones = ((1 << at) - 1 << (x & 31)) & mask
        places = [i for i in range(5, 32) if x >> i & 1]
        ffs = (x & -x).bit_length()
        want = [x ^ y ^ 0x0FF00FF0, x & y | x & z | y & z, field, signed, y & ~insert | x << at & insert]
        want += [selected, find, ((y << 32 | x) << left >> 32) & mask, extended, ones]
        want += [places[1] if len(places) > 1 else mask]
        want += [x.bit_count() | 32 - y.bit_length() << 8 | ffs << 16 | (x.bit_count() << 24 & mask)]
        assert got == want


@kernel(
    r"""
extern "C" __global__ void packed(const unsigned *a, const unsigned *b, unsigned *out)
{
    unsigned x = a[threadIdx.x], y = b[threadIdx.x];
    unsigned r[] = {__vadd4(x, y), __vaddus4(x, y), __vaddss4(x, y), __vsubus4(x, y), __vavgu4(x, y),
        __vabsdiffu4(x, y),
                    __vmaxs4(x, y), __vminu4(x, y), __vcmpgts4(x, y), __vsads4(x, y), __vadd2(x, y),
                        __vmaxs2(x, y),
                    __vabsss4(x), __vneg4(x), __vseteq4(x, y), __vsetltu2(x, y)};
    for (int i = 0; i < 16; ++i) out[i * blockDim.x + threadIdx.x] = r[i];
}
""",
    after=MATH_API + ", SIMD Intrinsics",
    against="NumPy bytes and shorts",
)
def packed_bytes(run: Run) -> None:
    """Four bytes or two shorts in a word: saturation, comparisons, differences."""
    a, b = integers(0, 2**32, 128, u32), integers(0, 2**32, 128, u32, seed=1)
    a[0], b[0], a[1], b[1], b[2] = 0x80808080, 0x80808080, 0x7F7F7F7F, 0x017F80FF, a[2]
    out = zeros((16, 128), u32)
    run("packed", 1, 128, a, b, out)
    ub, sb = (np.stack([v.view(k) for v in (a, b)]).astype(i32) for k in (u8, i8))
    us, ss = (np.stack([v.view(k) for v in (a, b)]).astype(i32) for k in (u16, np.int16))

    def words(v: np.ndarray, kind: type = u8) -> np.ndarray:
        return v.astype(kind).view(u32)

    want = [
        words(ub[0] + ub[1]),
        words(np.minimum(ub[0] + ub[1], 255)),
        words((sb[0] + sb[1]).clip(-128, 127)),
        words(np.maximum(ub[0] - ub[1], 0)),
        words((ub[0] + ub[1] + 1) // 2),
        words(abs(ub[0] - ub[1])),
        words(np.maximum(sb[0], sb[1])),
        words(np.minimum(ub[0], ub[1])),
        words(np.where(sb[0] > sb[1], 255, 0)),
        abs(sb[0] - sb[1]).reshape(128, 4).sum(1),
        words(us[0] + us[1], u16),
        words(np.maximum(ss[0], ss[1]), u16),
        words(np.minimum(abs(sb[0]), 127)),
        words(-sb[0]),
        words(ub[0] == ub[1]),
        words(us[0] < us[1], u16),
    ]
    same(out, want)


@kernel(
    r"""
extern "C" __global__ void dpx(const int *a, const int *b, const int *c, int *out)
{
    int i = threadIdx.x, x = a[i], y = b[i], z = c[i];
    bool high = false, low = false;
    int r[] = {__vimax3_s32(x, y, z), __vimin3_s32_relu(x, y, z), __viaddmax_s32(x, y, z),
        (int)__viaddmin_u32(x, y, z),
               __viaddmax_s32_relu(x, y, z), (int)__vimax3_s16x2(x, y, z), (int)__viaddmax_s16x2_relu(x,
                   y, z),
               (int)__viaddmin_u16x2(x, y, z), __vibmax_s32(x, y, &high), (int)__vibmin_u16x2(x, y, &low,
                   &low),
               __vimax_s32_relu(x, y), (int)__vimin_s16x2_relu(x, y)};
    for (int k = 0; k < 12; ++k) out[k * blockDim.x + i] = r[k];
    out[12 * blockDim.x + i] = high;
}
""",
    after="CUDA C++ Programming Guide, DPX",
    against="NumPy",
)
def dynamic_programming_instructions(run: Run) -> None:
    """Maxima and minima of sums and of three, of words and of pairs of 16 bits."""
    a, b, c = (np.random.default_rng(s).integers(-(2**31), 2**31, 100).astype(i32) for s in range(3))
    out = zeros((13, 100), i32)
    run("dpx", 1, 100, a, b, c, out)
    h = [v.view(np.int16) for v in (a, b, c)]
    w = [v.view(u16) for v in (a, b, c)]
    with np.errstate(over="ignore"):
        s, unsigned, pairs, halves = a + b, a.view(u32) + b.view(u32), h[0] + h[1], w[0] + w[1]
    want = [
        np.maximum(np.maximum(a, b), c),
        np.maximum(np.minimum(np.minimum(a, b), c), 0),
        np.maximum(s, c),
        np.minimum(unsigned, c.view(u32)).view(i32),
        np.maximum(np.maximum(s, c), 0),
        np.maximum(np.maximum(h[0], h[1]), h[2]).view(i32),
        np.maximum(np.maximum(pairs, h[2]), 0).view(i32),
        np.minimum(halves, w[2]).view(i32),
        np.maximum(a, b),
        np.minimum(w[0], w[1]).view(i32),
        np.maximum(np.maximum(a, b), 0),
        np.maximum(np.minimum(h[0], h[1]), 0).view(i32),
        a >= b,
    ]
    same(out, want)


@kernel(
    r"""
extern "C" __global__ void rounding(const double *x, double *d, float *f, long long *l)
{
    int i = threadIdx.x, n = blockDim.x;
    double v = x[i];
    float s = v;
    float floats[] = {__double2float_rn(v), __double2float_rz(v), __double2float_ru(v),
        __double2float_rd(v), __fadd_ru(s, 0.1f),
                      __fmul_rd(s, 1.1f), __fdiv_rz(s, 3.0f), __fsqrt_ru(fabsf(s)), __frcp_rd(s),
                          __fmaf_rz(s, s, 0.3f),
                      __saturatef(s), __ll2float_rn((long long)(v * 1e9)), truncf(s * 10), rintf(s * 10),
                          roundf(s * 10), ceilf(s * 10)};
    double doubles[] = {__dadd_ru(v, 0.1), __dmul_rz(v, 1.1), __ddiv_rd(v, 3), __dsqrt_rz(fabs(v)),
        __fma_ru(v, v, 0.1), __drcp_rn(v)};
    long long longs[] = {__double2int_rn(v * 1e3), __double2int_rd(v * 1e3), __double2ll_ru(v * 1e12),
        (long long)__double2uint_rz(fabs(v) * 1e9),
                         __float2int_ru(s * 1e12f), (long long)__float2ull_rn(s),
                             __double_as_longlong(v), __double2hiint(v)};
    for (int k = 0; k < 16; ++k) f[k * n + i] = floats[k];
    for (int k = 0; k < 6; ++k) d[k * n + i] = doubles[k];
    for (int k = 0; k < 8; ++k) l[k * n + i] = longs[k];
}
""",
    after=MATH_API + ", Type Casting, Single and Double Precision Intrinsics; IEEE 754",
    against="fractions.Fraction, rounded",
)
def directed_rounding(run: Run) -> None:
    """Arithmetic and conversions in all four directions, integers that saturate."""
    x = np.r_[floats(60, f64, -5, 5), 1.0, -1.0, 0.5, 4.0]
    n = len(x)
    d, f, longs = zeros((6, n), f64), zeros((16, n)), zeros((8, n), i64)
    run("rounding", 1, n, x, d, f, longs)

    def rounded(exact: Fraction, kind: type, way: str) -> float:
        near_ = kind(float(exact)) if kind is f64 else f32(float(exact))
        if kind is f32:  # the nearest of the neighbours: no double rounding
            around = [np.nextafter(near_, f32(-np.inf)), near_, np.nextafter(near_, f32(np.inf))]
            near_ = min(around, key=lambda v: (abs(Fraction(float(v)) - exact), int(v.view(u32)) & 1))
        value = Fraction(float(near_))
        if way == "z":
            way = "d" if exact > 0 else "u"
        if way == "u" and value < exact:
            near_ = np.nextafter(near_, kind(np.inf))
        if way == "d" and value > exact:
            near_ = np.nextafter(near_, kind(-np.inf))
        return float(near_)

    for i, v in enumerate(x.tolist()):
        e, s = Fraction(v), Fraction(float(f32(v)))
        tenth, eleven = Fraction(float(f32(0.1))), Fraction(float(f32(1.1)))
        want = [rounded(e, f32, way) for way in "nzud"]
        want += [rounded(s + tenth, f32, "u"), rounded(s * eleven, f32, "d"), rounded(s / 3, f32, "z")]
        assert f[:7, i].tolist() == want
        assert f[8, i] == rounded(1 / s, f32, "d")
        assert f[9, i] == rounded(s * s + Fraction(float(f32(0.3))), f32, "z")
        root = Fraction(float(f[7, i]))
        assert root * root >= abs(s) > Fraction(float(np.nextafter(f[7, i], f32(0)))) ** 2
        assert f[10, i] == min(max(float(s), 0), 1) and f[11, i] == rounded(Fraction(int(v * 1e9)), f32, "n")
        assert d[0, i] == rounded(e + Fraction(0.1), f64, "u")
        assert d[1, i] == rounded(e * Fraction(1.1), f64, "z") and d[2, i] == rounded(e / 3, f64, "d")
        assert d[4, i] == rounded(e * e + Fraction(0.1), f64, "u") and d[5, i] == rounded(1 / e, f64, "n")
        down = Fraction(d[3, i])
        assert down * down <= abs(e) < Fraction(float(np.nextafter(d[3, i], np.inf))) ** 2
    ten = x.astype(f32) * f32(10)
    same(f[12:], [np.trunc(ten), np.rint(ten), np.copysign(np.floor(abs(ten) + f32(0.5)), ten), np.ceil(ten)])
    want_longs = [
        np.rint(x * 1e3),
        np.floor(x * 1e3),
        np.ceil(x * 1e12),
        np.minimum(np.trunc(abs(x) * 1e9), 2**32 - 1),
    ]
    same(longs[:4], np.array(want_longs).astype(i64))
    same(longs[4], np.where(x > 0, 2**31 - 1, -(2**31)))
    same(longs[5], np.maximum(np.rint(x.astype(f32)), 0).astype(i64))
    same(longs[6:], [x.view(i64), x.view(i64) >> 32])


@kernel(
    r"""
#include <cuda_fp16.h>
#include <cuda_bf16.h>
extern "C" __global__ void halves(const __half *x, const __half *y, __half *out, unsigned short *masks,
    const __nv_bfloat16 *b, __nv_bfloat16 *bout)
{
    int i = threadIdx.x, n = blockDim.x;
    __half a = x[i], c = y[i];
    __half r[] = {a + c, a * c, a / c, __hfma(a, c, a), __hsub_sat(a, c), __hmax_nan(a, c), __hmin(a, c),
        hrint(a), hsqrt(__habs(a)),
                  __float2half_rz(__half2float(a) / 3), __ushort2half_rn(i * 1001), __hneg(a), htrunc(c),
                      __hfma_relu(a, c, c)};
    for (int k = 0; k < 14; ++k) out[k * n + i] = r[k];
    __half2 p = __halves2half2(a, c), q = __halves2half2(c, c);
    masks[i] = (unsigned short)(__hlt2_mask(p, q) >> 1) ^ __hbeq2(p,
        q) ^ (__hisnan(a) << 4) ^ (__half2int_rd(c) << 5);
    __nv_bfloat16 u = b[i], w = b[(i + 1) % n];
    __nv_bfloat16 s[] = {u + w, u * w, __hfma(u, w, u), __hmax(u, w),
        __float2bfloat16_rd(__bfloat162float(u) / 3), __int2bfloat16_rn(i * 12345)};
    for (int k = 0; k < 6; ++k) bout[k * n + i] = s[k];
}
""",
    after=MATH_API + ", Half and Bfloat16 Precision Intrinsics",
    against="numpy.float16, numpy.float64 rounded to bfloat16",
)
def half_arithmetic(run: Run) -> None:
    """Sums, products, quotients, saturation, NaNs, masks of pairs, of two formats of 16 bits."""
    x, y = floats(96, f16, -4, 4), floats(96, f16, 0.1, 4, seed=1)
    x[0], x[1], x[2], x[3] = np.nan, np.inf, 6e-8, y[3]
    b = to_bf16(floats(96, low=-3, high=3))
    out, masks, bout = zeros((14, 96), f16), zeros(96, u16), zeros((6, 96), u16)
    run("halves", 1, 96, x, y, out, masks, b, bout)
    a, c = x.astype(f64), y.astype(f64)
    third = (x.astype(f32) / f32(3)).astype(f64)
    toward = third.astype(f16)
    with np.errstate(all="ignore"):
        toward = np.where(abs(toward.astype(f64)) > abs(third), np.nextafter(toward, f16(0)), toward)
        saturated = np.where(np.isnan(x), 0, (a - c).clip(0, 1))
        want = [
            a + c,
            a * c,
            a / c,
            a * c + a,
            saturated,
            np.maximum(x, y),
            np.fmin(x, y),
            np.rint(a),
            np.sqrt(abs(a)),
        ]
        counts = np.arange(96) * 1001 % 65536
        want += [toward, counts, -a, np.trunc(c), np.where(np.isnan(a), np.nan, np.maximum(a * c + c, 0))]
        same(out, np.array([np.asarray(v, f64).astype(f16) for v in want]))
    flags = (
        np.where(x < y, 0x7FFF, 0) ^ ((x == y) & True) ^ (np.isnan(x) << 4) ^ (np.floor(c).astype(int) << 5)
    )
    same(masks, flags.astype(u16))
    u = (b.astype(u32) << u32(16)).view(f32).astype(f64)
    w = np.roll(u, -1)
    exact = [u + w, u * w, u * w + u, np.maximum(u, w)]
    same(bout[:4], [to_bf16(v.astype(f32)) for v in exact])
    thirds = (u.astype(f32) / f32(3)).view(u32)
    down = (thirds >> u32(16)) + ((thirds & u32(0xFFFF) != 0) & (thirds >> u32(31) == 1))
    same(bout[4], down)
    same(bout[5], to_bf16((np.arange(96) * 12345).astype(f32)))


@kernel(
    r"""
__device__ int global_value[4];
__constant__ int constant_value[4] = {10, 11, 12, 13};
__device__ __noinline__ int any_space(const int *p, int i) {
    return p[i] + __isShared(p) * 100 + (__isGlobal(p) && !__isConstant(p)) * 200 + __isLocal(p) * 400
        + __isConstant(p) * 800; }
extern "C" __global__ void spaces(const int *in, int *out)
{
    __shared__ int shared_value[64];
    int local[8], t = threadIdx.x;
    for (int i = 0; i < 8; ++i) local[i] = in[i] * (t + 1);
    shared_value[t] = in[t % 8] + t;
    if (t < 4) global_value[t] = t * t;
    __syncthreads();
    const int *pointers[] = {local, shared_value, global_value, constant_value, in, local + 3};
    out[t] = any_space(pointers[t % 6], t % 4);
    // negative offsets, addresses that wrap in 32 bits, pointers that go round as integers
    unsigned base = __cvta_generic_to_shared(shared_value + 32);
    int v;
    asm volatile("ld.shared.s32 %0, [%1+-128];" : "=r"(v) : "r"(base + t * 4));
    out[64 + t] = v;
    asm volatile("{\n"
        ".reg .u32 a;\n"
        "add.u32 a, %1, 0xffffff80;\n"
        "ld.shared.s32 %0, [a];\n"
        "}" : "=r"(v) : "r"(base + t * 4));
    out[128 + t] = v;
    size_t raw = (size_t)(local + t % 8);
    out[192 + t] = *(int *)(raw ^ 0) + ((volatile int *)shared_value)[63 - t];
    extern __shared__ double dynamic[];
    dynamic[t] = t;
    __syncthreads();
    out[256 + t] = (int)dynamic[(t + 1) % 64] + (((size_t)dynamic & 7) == 0);
    short *halves = (short *)dynamic;
    __syncthreads();
    halves[4 * t + t % 4] = t - 30;
    __syncthreads();
    out[320 + t] = halves[4 * (63 - t) + (63 - t) % 4];
}
""",
    after=ISA + ", State Spaces; Generic Addressing",
    against="NumPy",
)
def address_spaces(run: Run) -> None:
    """Pointers into all spaces through one function; offsets below zero; shared memory as another type."""
    x, out, t = integers(1, 50, 8), zeros((6, 64), i32), np.arange(64)
    run("spaces", 1, 64, x, out, shared=512)
    s, k = x[t % 8] + t, t % 4
    scaled = x[k] * (t + 1)
    want = np.choose(
        t % 6,
        [scaled + 400, x[k] + k + 100, k * k + 200, k + 810, x[k] + 200, x[(k + 3) % 8] * (t + 1) + 400],
    )
    same(out[0], want)
    same(out[1:3], [s, s])
    same(out[3], x[t % 8] * (t + 1) + s[::-1])
    same(out[4], (t + 1) % 64 + 1)
    same(out[5], t[::-1] - 30)


@kernel(
    r"""
extern "C" __global__ void loads(const char *in, char *out, int n)
{
    int t = threadIdx.x;
    int4 q = __ldcg((const int4 *)in + t);
    longlong2 l = __ldca((const longlong2 *)in + t);
    short4 s = ((const short4 *)in)[2 * t + 1];
    double2 d = __ldcv((const double2 *)in + t);
    unsigned char b = __ldg((const unsigned char *)in + t);
    __stwt((int4 *)out + t, make_int4(q.w, q.z, q.y, q.x));
    __stcg((longlong2 *)out + n + t, make_longlong2(l.y, l.x));
    ((short4 *)out)[2 * (2 * n + t)] = make_short4(s.w, s.z, s.y, s.x);
    ((uchar4 *)out)[4 * (2 * n + t) + 2] = make_uchar4(b, b + 1, b + 2, b + 3);
    ((char3 *)(out + 16 * (2 * n + t) + 12))->x = 7;
    *(double2 *)(out + 16 * (3 * n + t)) = make_double2(d.y, d.x);
    unsigned u0, u1, u2, u3;
    asm volatile("ld.global.nc.L1::no_allocate.v4.u32 "
                 "{%0, %1, %2, %3}, [%4];" : "=r"(u0), "=r"(u1), "=r"(u2), "=r"(u3) : "l"(in + 16 * t));
    asm volatile("st.global.cs.v2.u32 [%0], {%1, %2};\nst.global.v2.u16 [%0+8], {%3, %4};" ::
                 "l"(out + 16 * (4 * n + t)), "r"(u3), "r"(u0), "h"((short)u1), "h"((short)u2) : "memory");
}
""",
    after=ISA + ", ld, st: vectors and cache operators",
    against="NumPy views",
)
def vector_accesses(run: Run) -> None:
    """Vectors of 2 and 4 items of 1 to 8 bytes, cache operators, inline PTX."""
    n = 40
    x, out = integers(0, 256, (n, 16), u8), zeros((5, n, 16), u8)
    x[:, [7, 15]] = 0x40  # doubles are no NaNs
    run("loads", 1, n, x, out, n)
    same(out[0].view(i32), x.view(i32)[:, ::-1])
    same(out[1].view(i64), x.view(i64)[:, ::-1])
    same(out[2][:, :8].copy().view(np.int16), x.view(np.int16)[:, :3:-1])
    same(out[2][:, 8:12], x.ravel()[:n, None] + np.arange(4, dtype=u8))
    same(out[2][:, 12], 7)
    same(out[3].view(f64), x.view(f64)[:, ::-1])
    words = x.view(u32)
    same(out[4][:, :8].copy().view(u32), words[:, [3, 0]])
    same(out[4][:, 8:12].copy().view(u16), words[:, 1:3].astype(u16))


@kernel(
    r"""
#include <cuda_fp16.h>
extern "C" __global__ void warps(const int *in, int *out, unsigned *masks, double *d)
{
    int t = threadIdx.x, lane = t % 32, v = in[t];
    unsigned even = __ballot_sync(~0u, v % 2 == 0);
    int r = 0;
    if (v % 2 == 0) {
        r = __reduce_min_sync(even, v) + __shfl_sync(even, v, __ffs(even) - 1);
        if (lane % 3) r += __popc(__activemask() & ~even) + __any_sync(__activemask(), v > 90) * 0;
    } else {
        unsigned odd = ~even;
        r = (int)__reduce_or_sync(odd, v) + __reduce_max_sync(odd, v);
        __syncwarp(odd);
    }
    out[t] = r;
    out[64 + t] = __shfl_up_sync(~0u, v, 3, 8) * 1000 + __shfl_down_sync(~0u, v, 5, 16);
    out[128 + t] = __shfl_sync(~0u, v, lane * 7 + 40, 16);
    int ok;
    asm volatile("{\n"
        ".reg .pred p;\n"
        "shfl.sync.bfly.b32 %0|p, %2, 17, 0x0c1f, -1;\n"
        "selp.s32 %1, 1, 0, p;\n"
        "}" : "=r"(v), "=r"(ok) : "r"(v));
    out[192 + t] = v * 2 + ok;
    unsigned gt, le;
    asm("mov.u32 %0, %%lanemask_gt;\nmov.u32 %1, %%lanemask_le;" : "=r"(gt), "=r"(le));
    masks[t] = gt ^ le;
    masks[64 + t] = __match_any_sync(~0u, in[t] & 3);
    bool leader;
    asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.s32 %0, 1, 0, p;\n}" : "=r"(ok));
    leader = ok;
    masks[128 + t] = leader;
    d[t] = __shfl_xor_sync(~0u, (double)in[t] / 3, 9);
    __half2 h = __shfl_down_sync(~0u, __floats2half2_rn(lane, -lane), 1);
    d[64 + t] = __low2float(h) - __high2float(h);
}
""",
    after="CUDA C++ Programming Guide, Warp Functions; " + ISA + ", shfl.sync, elect.sync",
    against="NumPy of lanes",
    arch="sm_90",
)
def warp_instructions(run: Run) -> None:
    """Reductions and shuffles under masks in divergent code, parts of warps, doubles, pairs of halves."""
    v = integers(0, 100, 64)
    out, masks, d = zeros((4, 64), i32), zeros((3, 64), u32), zeros((2, 64), f64)
    run("warps", 1, 64, v, out, masks, d)
    lane = np.arange(32)
    for w in (0, 1):
        row, part = v[32 * w :][:32], slice(32 * w, 32 * w + 32)
        even = row % 2 == 0
        odds = row[~even]
        want = np.where(even, row[even].min() + row[even][0], np.bitwise_or.reduce(odds) + odds.max())
        same(out[0, part], want)
        up = np.where(lane % 8 >= 3, row[np.maximum(lane - 3, 0)], row)
        down = np.where(lane % 16 + 5 < 16, row[np.minimum(lane + 5, 31)], row)
        same(out[1, part], up * 1000 + down)
        same(out[2, part], row[lane // 16 * 16 + (lane * 7 + 40) % 16])
        # segments of 32 - 12 = mask 0x0c: bits 2 and 3 of the lane stay, and the end is 31 with them
        other = lane ^ 17
        limit = (lane & 12) | (31 & ~12)
        inside = other <= limit
        same(out[3, part], np.where(inside, row[other], row) * 2 + inside)
        same(masks[1, part], [int(((row & 3) == (one & 3)) @ (1 << lane.astype(i64))) for one in row])
        assert masks[2, part].sum() == 1
        same(d[0, part], (row / 3)[lane ^ 9])
        same(d[1, part], 2.0 * np.r_[lane[1:], 31])
    assert (masks[0] == 0xFFFFFFFF).all()
