"""Each kernel of Triton: what goes in, and what NumPy makes of it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from math import erf
from typing import Any

import numpy as np

from tests.kernels.values import e4m3_values, e5m2_values, from_bf16, near, same, to_bf16

from . import kernels
from .compiled import run

R = np.random.default_rng(0)
CASES: dict[str, Callable[[], None]] = {}


def case(function: Callable[[], None]) -> Callable[[], None]:
    CASES[function.__name__] = function
    return function


def uniform(*shape: int) -> Any:
    return R.uniform(-2, 2, shape).astype("f4")


def philox(seed: int, count: int) -> Any:
    """The first word of Philox 4x32-10 (Salmon et al., 2011) for each of the first counters."""
    found = []
    for counter in range(count):
        x, keys = [counter, 0, 0, 0], [seed, 0]
        for _ in range(10):
            a, b = 0xD2511F53 * x[0], 0xCD9E8D57 * x[2]
            x = [b >> 32 ^ x[1] ^ keys[0], b & 0xFFFFFFFF, a >> 32 ^ x[3] ^ keys[1], a & 0xFFFFFFFF]
            keys = [keys[0] + 0x9E3779B9 & 0xFFFFFFFF, keys[1] + 0xBB67AE85 & 0xFFFFFFFF]
        found.append(x[0])
    return np.array(found, "u4")


@case
def add() -> None:
    x, y, o = uniform(1000), uniform(1000), uniform(1000)
    run(kernels.add, 8, x, y, o, 1000, BLOCK=128)
    same(o, x + y)


@case
def add_f16() -> None:
    x, y = uniform(1000).astype("f2"), uniform(1000).astype("f2")
    o = x * 0
    run(kernels.add, 8, x, y, o, 1000, BLOCK=128)
    same(o, x + y)


@case
def add_i64() -> None:
    x = R.integers(-(2**60), 2**60, 999)
    y = x[::-1].copy()
    o = x * 0
    run(kernels.add, 8, x, y, o, 999, BLOCK=128)
    same(o, x + y)


@case
def softmax() -> None:
    x = uniform(5, 300)
    o = x * 0
    run(kernels.softmax, 5, x, o, 300, 300, BLOCK=512)
    e = np.exp(x - x.max(1, keepdims=True))
    near(o, e / e.sum(1, keepdims=True))


def product(kind: str, arch: int, size: int = 64, tile: int = 64, num_warps: int = 4) -> None:
    """Of matrices of floats; the sums are in binary32."""
    types, near_ = {}, 2e-3
    if kind in ("e4m3", "e5m2"):
        table = e4m3_values() if kind == "e4m3" else e5m2_values()
        few = np.flatnonzero(np.abs(table) <= 4).astype("u1")
        a, b = (few[R.integers(0, len(few), (size, size))] for _ in range(2))
        exact = table[a], table[b]
        types = dict.fromkeys("ab", {"e4m3": "fp8e4nv", "e5m2": "fp8e5"}[kind])
        near_ = 2e-2  # tensor cores keep 13 fractional bits of the greatest product
    elif kind == "bf16":
        a, b = to_bf16(uniform(size, size)), to_bf16(uniform(size, size))
        exact = from_bf16(a), from_bf16(b)
    else:
        a, b = (uniform(size, size).astype(kind) for _ in range(2))
        exact, near_ = (a, b), 2e-2 if kind == "f4" else near_
    c = np.zeros((size, size), "f4")
    run(kernels.matmul, (size // tile, size // tile), a, b, c, size, size, size,
        BM=tile, BN=tile, BK=32, arch=arch, num_warps=num_warps, types=types)  # fmt: skip
    near(c, exact[0].astype("f8") @ exact[1].astype("f8"), near_, near_)


for kind, architectures in {
    "f2": (75, 80, 89, 90),
    "bf16": (80, 90),
    "f4": (80, 90),
    "e4m3": (89, 90),
    "e5m2": (90,),
}.items():
    for arch in architectures:
        named = {"f2": "f16", "f4": "tf32"}.get(kind, kind)
        CASES[f"matmul_{named}_{arch}"] = functools.partial(product, kind, arch)
CASES["matmul_f16_8_warps"] = functools.partial(product, "f2", 90, 128, 128, 8)


def product_of_bytes(arch: int) -> None:
    a, b = (R.integers(-128, 127, (64, 64)).astype("i1") for _ in range(2))
    c = np.zeros((64, 64), "i4")
    run(kernels.matmul_int8, (1, 1), a, b, c, 64, 64, 64, BM=64, BN=64, BK=32, arch=arch)
    same(c, a.astype("i4") @ b.astype("i4"))


CASES["matmul_int8_80"] = functools.partial(product_of_bytes, 80)
CASES["matmul_int8_90"] = functools.partial(product_of_bytes, 90)


@case
def layernorm() -> None:
    x, w, b = uniform(4, 200), uniform(200), uniform(200)
    y, m, r = x * 0, uniform(4), uniform(4)
    run(kernels.layernorm, 4, x, w, b, y, m, r, 200, 200, 1e-5, BLOCK=256)
    near(y, (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * w + b, 1e-4, 1e-4)


@case
def dropout() -> None:
    x = np.ones(1024, "f4")
    o = x * 0
    run(kernels.dropout, 4, x, o, 1024, 0.5, 123, BLOCK=256)
    want = philox(123, 1024).view("i4")
    want = np.where(want < 0, -want - 1, want) * np.float32(4.6566127342e-10)
    same(o != 0, want > 0.5)


@case
def randint() -> None:
    o = np.zeros(256, "i4")
    run(kernels.randint, 1, o, 7, BLOCK=256)
    same(o.view("u4"), philox(7, 256))


def attended(arch: int) -> None:
    q, k, v = (uniform(128, 64).astype("f2") for _ in range(3))
    o = np.zeros((128, 64), "f4")
    run(kernels.attention, 2, q, k, v, o, 128, 0.125 * 1.44269504, D=64, B=64, arch=arch)
    scores = q.astype("f8") @ k.T.astype("f8") * 0.125
    p = np.exp(scores - scores.max(1, keepdims=True))
    near(o, p / p.sum(1, keepdims=True) @ v.astype("f8"), 1e-2, 3e-3)


CASES["attention_80"] = functools.partial(attended, 80)
CASES["attention_90"] = functools.partial(attended, 90)


@case
def cumsum() -> None:
    x = R.integers(-99, 99, 1024).astype("i4")
    o = x * 0
    run(kernels.cumsum, 1, x, o, BLOCK=1024)
    same(o, x.cumsum())


@case
def cumprod() -> None:
    x = R.uniform(0.9, 1.1, 256).astype("f4")
    o = x * 0
    run(kernels.cumprod, 1, x, o, BLOCK=256)
    near(o, np.cumprod(x[::-1])[::-1], 1e-4)


@case
def sort() -> None:
    x = uniform(512)
    o = x * 0
    run(kernels.sort, 1, x, o, BLOCK=512)
    same(o, np.sort(x))


@case
def sort_in_a_warp() -> None:
    x = R.integers(-99, 99, 256).astype("i4")
    o = x * 0
    run(kernels.sort, 1, x, o, BLOCK=256, num_warps=1)
    same(o, np.sort(x))


@case
def histogram() -> None:
    x = R.integers(0, 64, 1024).astype("i4")
    o = np.zeros(64, "i4")
    run(kernels.histogram, 1, x, o, BLOCK=1024, BINS=64)
    same(o, np.bincount(x, minlength=64))


@case
def argmax() -> None:
    x = uniform(64, 32)
    o = np.zeros(64, "i4")
    run(kernels.argmax, 1, x, o, BLOCK=64, W=32)
    same(o, x.argmax(1))


@case
def transpose() -> None:
    x = uniform(64, 32)
    o = np.zeros((32, 64), "f4")
    run(kernels.transpose, 1, x, o, M=64, N=32)
    same(o, x.T)


@case
def gather() -> None:
    x = uniform(128)
    i = R.integers(0, 128, 128).astype("i4")
    o = x * 0
    run(kernels.gather, 1, x, i, o, BLOCK=128)
    same(o, x[i])


@case
def atomics() -> None:
    x = R.integers(0, 1 << 20, 512).astype("i4")
    o = np.zeros(8, "i4")
    o[2] = 1 << 30
    run(kernels.atomics, 4, o, x, BLOCK=128)
    want = [x.sum(dtype="i4"), x.max(), x.min(), np.bitwise_xor.reduce(x)] + [
        np.bitwise_or.reduce(x[x % 4 == j]) for j in range(4)
    ]
    same(o, want)


@case
def spin() -> None:
    lock, o = np.zeros(1, "i4"), np.zeros(64, "i4")
    run(kernels.spin, 6, lock, o, BLOCK=64)
    same(o, 6)


@case
def math_f32() -> None:
    x = uniform(256)
    o = np.zeros((13, 256), "f4")
    run(kernels.math_f32, 1, x, o, BLOCK=256)
    d = x.astype("f8")
    a = abs(d)
    for got, want in zip(
        o,
        [
            np.exp(d),
            np.log(a),
            np.sin(d),
            np.cos(d),
            np.sqrt(a),
            np.vectorize(erf)(d),
            np.floor(d),
            np.ceil(d),
            1 / np.sqrt(a),
            1 / (1 + np.exp(-d)),
            d * d + 1,
            x / np.float32(3),
            np.clip(d, -1, 1),
        ],
        strict=True,
    ):
        near(got, want, 2e-6, 2e-6)


def converted(arch: int) -> None:
    """Of values that e4m3 and e5m2 have, and of those between them for 16 bits and bytes."""
    e5, i, h, b = np.zeros(256, "u1"), np.zeros(256, "i1"), np.zeros(256, "f2"), np.zeros(256, "u2")
    back = np.zeros(256, "f4")
    for x in (e5m2_values(), e4m3_values(), uniform(256) * 50):
        x = np.where(np.isfinite(x), x, np.float32(1))
        run(kernels.casts, 1, x, h, b, e5, i, back, BLOCK=256, arch=arch)
        same(h, x.astype("f2"))
        same(b, to_bf16(x))
        inside = np.abs(x) < 100
        same(i[inside], x[inside].astype("i1"))
        if (x == e5m2_values()).any() and np.isin(x, e5m2_values()).all():
            same(e5m2_values()[e5], x)
        if np.isin(x, e4m3_values()).all():
            same(back, x)


CASES["casts_89"] = functools.partial(converted, 89)
CASES["casts_90"] = functools.partial(converted, 90)


@case
def int_ops() -> None:
    x, y = R.integers(-(2**31), 2**31, 256).astype("i4"), R.integers(1, 1000, 256).astype("i4")
    o = np.zeros((5, 256), "i4")
    run(kernels.int_ops, 1, x, y, o, BLOCK=256)
    X, Y = x.astype("i8"), y.astype("i8")
    q = (np.sign(X) * (abs(X) // Y)).astype("i4")
    for got, want in zip(
        o,
        [
            q,
            (X - q * Y).astype("i4"),
            (x << 3) ^ (y >> 2),
            ((X & 0xFFFFFFFF).astype("u8") * (Y & 0xFFFFFFFF).astype("u8") >> np.uint64(32))
            .astype("u4")
            .view("i4"),
            np.minimum(x, y) | np.maximum(x, y),
        ],
        strict=True,
    ):
        same(got, want)


@case
def scan2() -> None:
    a, b = R.uniform(0.5, 1, 128).astype("f4"), uniform(128)
    o = a * 0
    run(kernels.scan2, 1, a, b, o, BLOCK=128)
    r, w = 0.0, []
    for i in range(128):
        r = r * float(a[i]) + float(b[i])
        w.append(r)
    near(o, w, 1e-4, 1e-4)


@case
def persistent() -> None:
    a, b, c = uniform(128, 64).astype("f2"), uniform(64, 128).astype("f2"), np.zeros((128, 128), "f4")
    run(kernels.persistent, 3, a, b, c, 128, 128, 64, NP=3, B=64)
    near(c, a.astype("f8") @ b, 1e-3, 1e-3)


@case
def reduce3d() -> None:
    x = uniform(8, 16, 32)
    o = np.zeros((8, 32), "f4")
    run(kernels.reduce3d, 1, x, o, A=8, B=16, C=32)
    near(o, x.sum(1), 1e-5, 1e-5)


@case
def welford() -> None:
    x = uniform(200)
    o = np.zeros(2)
    run(kernels.welford, 1, x, o, 200, BLOCK=256)
    near(o, [x.astype("f8").mean(), x.astype("f8").var()], 1e-12)


@case
def flip_join() -> None:
    x, y = uniform(64), uniform(64)
    o = np.zeros(128, "f4")
    run(kernels.flip_join, 1, x, y, o, BLOCK=64)
    same(o, np.stack([x[::-1], y], 1).ravel())


@case
def conv1d() -> None:
    x, w = uniform(300), uniform(5)
    o = x * 0
    run(kernels.conv1d, 3, x, w, o, 300, W=5, BLOCK=128)
    near(o, np.correlate(x, w, "same"), 1e-4, 1e-5)


@case
def batched_dot() -> None:
    a, b, c = uniform(4, 16, 16), uniform(4, 16, 16), np.zeros((4, 16, 16), "f4")
    run(kernels.batched_dot, 1, a, b, c, B=4, S=16)
    near(c, a @ b, 1e-4, 1e-4)


@case
def cross_entropy() -> None:
    x, label, o = uniform(6, 100), R.integers(0, 100, 6).astype("i4"), np.zeros(6, "f4")
    run(kernels.cross_entropy, 6, x, label, o, 100, BLOCK=128)
    near(o, np.log(np.exp(x).sum(1)) - x[range(6), label], 1e-5)


@case
def topk() -> None:
    x = uniform(128)
    o = np.zeros(8, "f4")
    run(kernels.topk, 1, x, o, BLOCK=128, K=8)
    same(o, np.sort(x)[::-1][:8])


@case
def asserting() -> None:
    run(kernels.asserting, 1, np.ones(64, "i4"), BLOCK=64)
