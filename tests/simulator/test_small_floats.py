"""Conversions of 8, 6 and 4 bits, against numbers that are compared with every one of their format."""

from __future__ import annotations

import functools
import itertools
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from cudapy.simulator.engine.arithmetic import half
from cudapy.simulator.engine.module import PTXError

from .machine import Machine, computed

u1, u2, u4, f2, f4 = np.uint8, np.uint16, np.uint32, np.float16, np.float32

FORMATS = {"e4m3": (4, 3), "e5m2": (5, 2), "e3m2": (3, 2), "e2m3": (2, 3), "e2m1": (2, 1)}
"""Bits of the exponent and of the fraction."""


def value(name: str, code: int) -> Fraction | str:
    """What a code without a sign stands for."""
    exponent_bits, fraction_bits = FORMATS[name]
    exponent, fraction = divmod(code, 1 << fraction_bits)
    if name == "e4m3" and code == 0x7F:
        return "nan"
    if name == "e5m2" and exponent == 31:
        return "nan" if fraction else "infinity"
    bias = 2 ** (exponent_bits - 1) - 1
    if not exponent:
        return Fraction(fraction, 2**fraction_bits) * Fraction(2) ** (1 - bias)
    return (1 + Fraction(fraction, 2**fraction_bits)) * Fraction(2) ** (exponent - bias)


@functools.cache
def finite(name: str) -> dict[int, float]:
    bits = sum(FORMATS[name])
    found = {code: value(name, code) for code in range(1 << bits)}
    return {code: float(number) for code, number in found.items() if isinstance(number, Fraction)}


def nearest(name: str, x: float, clips: bool) -> int:
    """The code of a number: the nearest, of two the even one; what is too large is the largest."""
    sign = 1 << sum(FORMATS[name])
    if np.isnan(x):
        return sign - 1
    if np.signbit(x):
        return 0 if clips else sign | nearest(name, -x, clips)
    if float(x) > 2 * max(finite(name).values()):
        return max(finite(name))
    # the differences are exact where they are close
    return min(finite(name).items(), key=lambda item: (abs(item[1] - float(x)), item[0] & 1))[0]


def interesting(name: str, dtype: Any) -> Any:
    """The numbers of a format, the middles between them, their neighbours, and what lies outside."""
    numbers = sorted(finite(name).values())
    middles = [(a + b) / 2 for a, b in itertools.pairwise(numbers)]
    found = np.array([*numbers, *middles, 1.05 * numbers[-1], numbers[-1] * 1.1], dtype)
    every = np.concatenate((found, np.nextafter(found, dtype(np.inf)), np.nextafter(found, dtype(0))))
    more = np.array([np.inf, np.nan, np.finfo(dtype).max, np.finfo(dtype).smallest_subnormal], dtype)
    every = np.concatenate((every, more))
    return np.concatenate((every, -every))


def joined(name: str, low: Any, high: Any) -> Any:
    return low | high << (4 if name == "e2m1" else 8)


def halves(low: Any, high: Any) -> Any:
    return low.view(u2).astype(u4) | high.view(u2).astype(u4) << 16


def piece(opcode: str, operands: str) -> str:
    """An instruction on pairs; those of 4 bits are in a byte."""
    if opcode.endswith("e2m1x2"):
        return f".reg .b8 %m, %n; mov.b16 {{%m, %n}}, %a; {opcode} %z, %m;"
    if "e2m1x2" in opcode:
        return f".reg .b8 %m; {opcode} %m, {operands}; mov.b16 %z, {{%m, 0}};"
    return f"{opcode} %z, {operands};"


@pytest.mark.parametrize("relu", ["", ".relu"])
@pytest.mark.parametrize("name", FORMATS)
def test_single_to_small(name: str, relu: str) -> None:
    high = interesting(name, f4)
    low = high[::-1].copy()
    codes = {x.tobytes(): nearest(name, x, bool(relu)) for x in high}
    expected = [joined(name, codes[a.tobytes()], codes[b.tobytes()]) for a, b in zip(low, high, strict=True)]
    body = piece(f"cvt.rn.satfinite{relu}.{name}x2.f32", "%a, %b")
    assert computed(body, "f32 f32", "b16", high, low, target="sm_100a").tolist() == expected


@pytest.mark.parametrize("relu", ["", ".relu"])
@pytest.mark.parametrize("name", FORMATS)
def test_half_to_small_and_back(name: str, relu: str) -> None:
    low = interesting(name, f2)
    high = np.roll(low, 7)
    codes = {x.tobytes(): nearest(name, x, bool(relu)) for x in low}
    expected = [joined(name, codes[a.tobytes()], codes[b.tobytes()]) for a, b in zip(low, high, strict=True)]
    body = piece(f"cvt.rn.satfinite{relu}.{name}x2.f16x2", "%a")
    assert computed(body, "b32", "b16", halves(low, high), target="sm_100a").tolist() == expected
    bits = sum(FORMATS[name])
    low_codes = np.arange(2 << bits)
    high_codes = low_codes[::-1]
    numbers = []
    for code in low_codes.tolist():
        number = value(name, code & (1 << bits) - 1)
        real = float("inf") if number == "infinity" else float("nan") if number == "nan" else float(number)
        negative = code >> bits
        half = 0x7FFF if number == "nan" else int(f2(-real if negative else real).view(u2))
        numbers.append(0 if relu and negative and number != "nan" else half)
    words = [a | b << 16 for a, b in zip(numbers, numbers[::-1], strict=True)]
    body = piece(f"cvt.rn{relu}.f16x2.{name}x2", "%a")
    assert (
        computed(
            body, "b16", "b32", joined(name, low_codes, high_codes).astype(u2), target="sm_100a"
        ).tolist()
        == words
    )


@pytest.mark.parametrize("way", ["rz", "rp"])
@pytest.mark.parametrize("satfinite", ["", ".satfinite"])
def test_powers_of_two(way: str, satfinite: str) -> None:
    powers = np.ldexp(f4(1), np.arange(-149, 128)).astype(f4)
    x = np.concatenate((powers, np.nextafter(powers, f4(np.inf)), np.nextafter(powers, f4(0)) + 0))
    x = np.concatenate((x, np.array([0, np.inf, np.nan, -3, -np.inf, 1e38], f4)))

    def code(one: float) -> int:
        if np.isnan(one):
            return 255
        if np.isinf(one):
            return 254 if satfinite else 255
        size = abs(float(one))
        below = [n for n in range(255) if 2.0 ** (n - 127) <= size]
        above = [n for n in range(255) if 2.0 ** (n - 127) >= size]
        return max(below, default=0) if way == "rz" else min(above, default=254 if satfinite else 255)

    codes = [code(one) for one in x]
    expected = [high << 8 | low for high, low in zip(codes, codes[::-1], strict=True)]
    body = f"cvt.{way}{satfinite}.ue8m0x2.f32 %z, %a, %b;"
    assert computed(body, "f32 f32", "b16", x, x[::-1].copy(), target="sm_100a").tolist() == expected
    exact = (x.view(u4) & 0xFFFF) == 0
    words = x[exact].view(u4) | x[exact].view(u4) >> 16
    expected = [code(one) * 257 for one in x[exact]]
    body = f"cvt.{way}{satfinite}.ue8m0x2.bf16x2 %z, %a;"
    assert computed(body, "b32", "b16", words, target="sm_100a").tolist() == expected


def test_powers_of_two_back() -> None:
    codes = np.arange(256, dtype=u2)
    words = computed(
        "cvt.rn.bf16x2.ue8m0x2 %z, %a;", "b16", "b32", codes | (255 - codes) << 8, target="sm_100a"
    )
    with np.errstate(over="ignore"):
        low = (words << 16).view(f4)
        high = (words & 0xFFFF0000).view(f4)
    assert np.array_equal(low, high[::-1], equal_nan=True)
    assert np.array_equal(low[:255], np.ldexp(1.0, np.arange(-127, 128)).astype(f4)) and np.isnan(low[255])


PROGRAM = r"""
#include <cuda_fp8.h>
extern "C" __global__ void k(const float2 *x, float4 *y, __nv_fp8x2_storage_t *bytes)
{
    int i = threadIdx.x;
    __nv_fp8x2_e4m3 a(x[i]);
    __nv_fp8x2_e5m2 b(x[i]);
    float2 p = float2(a), q = float2(b);
    y[i] = make_float4(p.x, p.y, q.x, q.y);
    bytes[i] = a.__x;
}
"""


def test_types_of_cuda_fp8(nvrtc: ModuleType) -> None:
    machine = Machine()
    x = np.linspace(-500, 500, 64).astype(f4).reshape(32, 2)
    y, codes = machine.zeros((32, 4), f4), machine.zeros(32, u2)
    machine.run(machine.load(PROGRAM, 90), "k", 1, 32, machine.array(x), y, codes)
    small = finite("e4m3")
    expected = [[nearest("e4m3", one, False) for one in pair] for pair in x]
    assert codes.get().tolist() == [low | high << 8 for low, high in expected]
    assert np.abs(y.get()[:, :2]).tolist() == [[small[code & 127] for code in pair] for pair in expected]
    assert np.allclose(y.get()[:, 2:], x, rtol=0.125)


def test_an_older_target_has_none() -> None:
    for opcode, target, name in (("e5m2x2", "sm_87", "sm_89"), ("e2m3x2", "sm_90a", "sm_100")):
        with pytest.raises(PTXError, match=f"line 18: cvt.*it takes .target {name} or newer"):
            computed(f"cvt.rn.f16x2.{opcode} %z, %a;", "b16", "b32", np.zeros(1, u2), target=target)


def test_a_signaling_nan_beside_a_number_is_the_number_for_any_count_of_lanes() -> None:
    nan, number = np.uint16(0x7C01), np.uint16(0x66E2)
    for name in ("min", "max"):
        for count in range(1, 40):
            for a, b in ((nan, number), (number, nan)):
                result = half.compute(name, "f16", np.full(count, a), np.full(count, b))
                assert (result == number).all(), (name, count)
