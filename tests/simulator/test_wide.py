"""128 bits in a register, pairs of binary32 numbers, and atomics on several places."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest

from cudapy.simulator.engine.module import PTXError

from .machine import Machine, computed

f4, u4, u8 = np.float32, np.uint32, np.uint64

WIDE = r"""
extern "C" __global__ void moved(unsigned long long *p)
{
    unsigned long long *q = p + 4 * threadIdx.x;
    asm volatile("{ .reg .b128 %%t, %%u; .reg .pred %%p; ld.global.b128 %%t, [%0]; mov.b128 %%u, {%2, %1};"
                 "setp.lt.u64 %%p, %1, 8; @%%p mov.b128 %%t, %%u; st.global.b128 [%0+16], %%t; }"
                 :: "l"(q), "l"((unsigned long long)threadIdx.x), "l"(~0ull - threadIdx.x) : "memory");
}
typedef unsigned __int128 wide;
extern "C" __global__ void swapped(wide *p, wide *old)
{
    wide mine = (wide)(threadIdx.x + 1) << 70 | threadIdx.x, expected = 0;
    __nv_atomic_compare_exchange(p, &expected, &mine, false, __NV_ATOMIC_SEQ_CST, __NV_ATOMIC_SEQ_CST,
                                 __NV_THREAD_SCOPE_SYSTEM);
    old[threadIdx.x] = expected;
    __nv_atomic_exchange(p + 1, &mine, old + 64 + threadIdx.x, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    wide now;
    __nv_atomic_load(p, &now, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_store(old + 128 + threadIdx.x, &now, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
}
"""


def test_128_bits_are_moved(nvrtc: ModuleType) -> None:
    machine = Machine()
    given = np.random.default_rng(1).integers(0, 2**64, (32, 4), dtype=u8)
    given[3, :2] = 0x7FF0000000000001, 0xFFF4000000000000  # signaling NaN, were they numbers
    memory = machine.array(given)
    machine.run(machine.load(WIDE, 90, "--device-int128"), "moved", 1, 32, memory)
    thread = np.arange(32, dtype=u8)
    changed = np.stack([~thread, thread], 1)
    expected = np.where((thread < 8)[:, None], changed, given[:, :2])
    assert np.array_equal(memory.get()[:, 2:], expected)


def test_atomics_of_128_bits(nvrtc: ModuleType) -> None:
    machine = Machine()
    places, old = machine.zeros((2, 2), u8), machine.zeros((192, 2), u8)
    machine.run(machine.load(WIDE, 90, "--device-int128"), "swapped", 1, 64, places, old)
    mine = np.stack([np.arange(64, dtype=u8), np.arange(1, 65, dtype=u8) << u8(6)], 1)
    found = old.get()
    winner = places.get()[0]
    assert np.array_equal(winner, mine[0])  # the first thread's turn is first
    assert not found[0].any() and (found[1:64] == winner).all() and (found[128:] == winner).all()
    assert sorted(map(tuple, [*found[64:128].tolist(), places.get()[1].tolist()])) == sorted(
        [(0, 0), *map(tuple, mine.tolist())]
    )


PAIRS = [0, 0x80000000, 1, 0x807FFFFF, 0x00800000, 0x3F800000, 0x3F800001, 0xBF7FFFFF, 0x7F7FFFFF]
PAIRS += [0x7F800000, 0xFF800000, 0x7FC00000, 0x7F812345, 0xFFC00001, 0x33800000, 0x40490FDB, 0x00400000]


@pytest.mark.parametrize("name", ["add", "sub", "mul", "fma"])
@pytest.mark.parametrize("way", ["rn", "rz", "rm", "rp", "rn.ftz", "rp.ftz"])
def test_pairs_of_singles_are_like_singles(name: str, way: str) -> None:
    words = np.array(PAIRS, u4)
    a, b = (one.ravel() for one in np.meshgrid(words, words))
    c = np.roll(a, 9) ^ u4(0x80000000)
    both = [one.astype(u8) | one[::-1].astype(u8) << u8(32) for one in (a, b, c)]
    count = 3 if name == "fma" else 2
    operands = ", ".join(["%a", "%b", "%c"][:count])
    kinds = " ".join(["b64"] * count)
    body = f"{name}.{way}.f32x2 %z, {operands};"
    pair = computed(body, kinds, "b64", *both[:count], target="sm_100")
    single = computed(f"{name}.{way}.f32 %z, {operands};", "f32 " * count, "f32", *(a, b, c)[:count])
    assert np.array_equal(pair & u8(0xFFFFFFFF), single)
    assert np.array_equal(pair >> u8(32), single[::-1])


VECTORS = r"""
#include <cuda_fp16.h>
extern "C" __global__ void k(float4 *sums, float2 *old, unsigned *halves)
{
    int i = threadIdx.x;
    atomicAdd(sums, make_float4(1, i, i * i, -i));
    old[i] = atomicAdd((float2 *)(sums + 1 + i % 2), make_float2(1, 2));
    asm volatile("red.global.max.noftz.v2.f16x2 [%0], {%1, %2};"
                 :: "l"(halves), "r"(i << 10), "r"(i << 26) : "memory");
    asm volatile("red.global.add.noftz.v8.f16 [%0], {%1, %1, %1, %1, %1, %1, %1, %1};"
                 :: "l"(halves + 4), "h"((unsigned short)0x3C00) : "memory");
}
"""


def test_atomics_on_vectors(nvrtc: ModuleType) -> None:
    machine = Machine()
    sums, old, halves = machine.zeros((3, 4), f4), machine.zeros((20, 2), f4), machine.zeros(8, u4)
    machine.run(machine.load(VECTORS, 90), "k", 1, 20, sums, old, halves)
    i = np.arange(20)
    assert sums.get().tolist() == [[20, 190, float((i * i).sum()), -190], [10, 20, 0, 0], [10, 20, 0, 0]]
    assert old.get().tolist() == [[float(n // 2), float(n // 2 * 2)] for n in i]
    assert halves.get().tolist() == [19 << 10, 19 << 26, 0, 0, *[0x4D004D00] * 4]


@pytest.mark.parametrize("size", ["", ".abs"])
@pytest.mark.parametrize("spreads", ["", ".NaN"])
@pytest.mark.parametrize("name", ["min", "max"])
def test_the_least_and_the_greatest_of_three(name: str, spreads: str, size: str) -> None:
    words = np.array(PAIRS, u4)
    a, b, c = (one.ravel() for one in np.meshgrid(words, words, words))
    found = computed(
        f"{name}{spreads}{size}.f32 %z, %a, %b, %c;", "f32 f32 f32", "f32", a, b, c, target="sm_100"
    ).view(f4)
    x, y, z = ((np.abs(one.view(f4)) if size else one.view(f4)) for one in (a, b, c))
    choose = {"min": (np.fmin, np.minimum), "max": (np.fmax, np.maximum)}[name][bool(spreads)]
    with np.errstate(invalid="ignore"):
        assert np.array_equal(found, choose(choose(x, y), z), equal_nan=True)
    with pytest.raises(PTXError, match="sm_100 or newer"):
        computed(f"{name}.f32 %z, %a, %b, %c;", "f32 f32 f32", "f32", a, b, c)


@pytest.mark.parametrize("size", ["", ".abs"])
@pytest.mark.parametrize("spreads", ["", ".NaN"])
@pytest.mark.parametrize("op", ["min", "max"])
def test_the_least_and_the_greatest_of_a_warp(op: str, spreads: str, size: str) -> None:
    generator = np.random.default_rng(6)
    x = generator.choice([-2.5, -1, -0.25, 1, 3, np.inf, -np.inf], (6, 32)).astype(f4)
    x[1, 5] = x[2] = np.nan
    x[3, :31] = np.nan
    body = f"redux.sync.{op}{size}{spreads}.f32 %z, %a, -1;"
    found = computed(body, "f32", "f32", x.ravel(), target="sm_100a").view(f4).reshape(6, 32)
    numbers = np.abs(x) if size else x
    choose = {"min": (np.fmin, np.minimum), "max": (np.fmax, np.maximum)}[op][bool(spreads)]
    expected = np.broadcast_to(choose.reduce(numbers, axis=1)[:, None], (6, 32))
    assert np.array_equal(found, expected, equal_nan=True)
