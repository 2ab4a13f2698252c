"""cvt.rs against fractions, and against the sums of integers that the manual speaks of; .satfinite."""

from __future__ import annotations

import bisect
import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from cudapy.simulator.engine.module import PTXError

from .machine import computed
from .test_small_floats import FORMATS, finite, interesting

u2, u4, f2, f4, f8 = np.uint16, np.uint32, np.float16, np.float32, np.float64
WIDTHS = {"f16": 13, "bf16": 16, "e2m1": 8}
"""Random bits of a number; of the others 16."""


def grid(name: str) -> list[Fraction]:
    """The finite numbers of a format from 0 on, by their codes."""
    if name == "f16":
        return [Fraction(float(one)) for one in np.arange(0x7C00, dtype=u2).view(f2)]
    if name == "bf16":
        return [Fraction(float(one)) for one in (np.arange(0x7F80, dtype=u4) << 16).view(f4)]
    return [Fraction(one) for _, one in sorted(finite(name).items())]


def rounded(numbers: list[Fraction], name: str, x: Any, random: int, relu: bool, clamped: bool) -> int:
    """The code of a number: away from zero where what is cut off and the random bits make one."""
    sign = 1 << sum(FORMATS[name]) if name in FORMATS else 0x8000
    largest = len(numbers) - 1
    if np.isnan(x):
        return sign - 1
    if np.signbit(x):
        return 0 if relu else sign | rounded(numbers, name, -x, random, relu, clamped)
    if np.isinf(x):
        return largest + (not clamped)
    exact = Fraction(float(x))
    if exact >= numbers[-1]:
        step = numbers[-1] - numbers[-2]
        over = (exact - numbers[-1]) / step + Fraction(random, 2 ** WIDTHS.get(name, 16)) >= 1
        return largest + (over and not clamped)
    low = bisect.bisect_right(numbers, exact) - 1
    part = (exact - numbers[low]) / (numbers[low + 1] - numbers[low])
    return low + (part + Fraction(random, 2 ** WIDTHS.get(name, 16)) >= 1)


def sample(name: str, count: int = 400) -> tuple[Any, Any]:
    """Numbers, those next to what a format has among them, and random bits."""
    generator = np.random.default_rng(7)
    if name in FORMATS:
        near = interesting(name, f4)
    else:
        codes = np.array([0, 1, 2, 0x3FF, 0x400, 0x3C00, 0x3C01, 0x7BFE, 0x7BFF], u2)
        exact = codes.view(f2).astype(f4) if name == "f16" else (codes.astype(u4) << 16).view(f4)
        near = np.concatenate((exact, np.nextafter(exact, f4(np.inf)), np.nextafter(exact, f4(0))))
        near = np.concatenate((near, np.array([65519, 65520, 65535, 1e38, np.inf, np.nan, 3.4e38], f4)))
        near = np.concatenate((near, -near))
    spread = {"f16": 20, "bf16": 120, "e5m2": 18, "e4m3": 11}.get(name, 4)
    any_ = (generator.choice([-1, 1], count) * 2.0 ** generator.uniform(-spread, spread, count)).astype(f4)
    x = np.concatenate((near, any_))
    return x, generator.integers(0, 1 << 32, len(x), dtype=u4)


@pytest.mark.parametrize("satfinite", ["", ".satfinite"])
@pytest.mark.parametrize("relu", ["", ".relu"])
@pytest.mark.parametrize("name", ["f16", "bf16"])
def test_pairs(name: str, relu: str, satfinite: str) -> None:
    x, random = sample(name)
    y, numbers, mask = x[::-1].copy(), grid(name), (1 << WIDTHS[name]) - 1
    body = f"cvt.rs{relu}{satfinite}.{name}x2.f32 %z, %a, %b, %c;"
    found = computed(body, "f32 f32 b32", "b32", x, y, random, target="sm_100a")
    options = bool(relu), bool(satfinite)
    expected = [
        rounded(numbers, name, high, bits >> 16 & mask, *options) << 16
        | rounded(numbers, name, low, bits & mask, *options)
        for high, low, bits in zip(x, y, random.tolist(), strict=True)
    ]
    assert found.tolist() == expected


def test_the_carry_of_an_integer_sum() -> None:
    """What is cut off of bf16 is the lower half of a binary32 number."""
    generator = np.random.default_rng(3)
    x = (generator.choice([-1, 1], 500) * 2.0 ** generator.uniform(-100, 100, 500)).astype(f4)
    random = generator.integers(0, 1 << 16, 500, dtype=u4)
    found = computed(
        "cvt.rs.bf16x2.f32 %z, %a, %a, %b;", "f32 b32", "b32", x, random | random << 16, target="sm_100a"
    )
    upper = (x.view(u4) + random) >> 16
    assert found.tolist() == (upper << 16 | upper).tolist()
    small = generator.uniform(2**-6, 400, 500).astype(f4)  # normal numbers of e4m3: 20 bits are cut off
    found = computed(
        "cvt.rs.satfinite.e4m3x4.f32 %z, {%a, %a, %a, %a}, %b;",
        "f32 b32",
        "b32",
        small,
        random,
        target="sm_100a",
    )
    summed = ((small.view(u4) + (random << 4)) >> 20) - (120 << 3)
    assert (found & 0xFF).tolist() == summed.tolist()


@pytest.mark.parametrize("relu", ["", ".relu"])
@pytest.mark.parametrize("name", FORMATS)
def test_fours(name: str, relu: str) -> None:
    f, random = sample(name)
    e, b, a = f[::-1].copy(), np.roll(f, 11), np.roll(f, 5)
    numbers, options = grid(name), (bool(relu), True)
    body = f"cvt.rs{relu}.satfinite.{name}x4.f32 %z, {{%a, %b, %c, %e}}, %m;"
    result = "b16" if name == "e2m1" else "b32"
    found = computed(body, "f32 f32 f32 f32 b32", result, a, b, e, f, random, target="sm_100a")
    expected = []
    for *four, bits in zip(f, e, b, a, random.tolist(), strict=True):
        low, high = bits & 0xFFFF, bits >> 16
        turned = [int(f"{half:016b}"[::-1], 2) for half in (low, high)]
        own = [low, turned[0], high, turned[1]]
        if name == "e2m1":
            own = [bits >> 8 * place & 0xFF for place in range(4)]
        codes = [rounded(numbers, name, x, one, *options) for x, one in zip(four, own, strict=True)]
        width = 4 if name == "e2m1" else 8
        expected.append(sum(code << width * place for place, code in enumerate(codes)))
    assert found.tolist() == expected


def test_an_older_target_has_none() -> None:
    with pytest.raises(PTXError, match=r"it takes .target sm_100 or newer"):
        computed("cvt.rs.f16x2.f32 %z, %a, %a, %b;", "f32 b32", "b32", np.zeros(1, f4), np.zeros(1, u4))


LARGEST = {"f16": 65504.0, "bf16": 2.0**127 * (2 - 2**-7), "tf32": 2.0**127 * (2 - 2**-10)}


@pytest.mark.parametrize(
    "name, way, relu", [*itertools.product(LARGEST, ("rn", "rz"), ("", ".relu")), ("tf32", "rna", "")]
)
def test_what_is_too_large_is_the_largest(name: str, way: str, relu: str) -> None:
    x, _ = sample("f16" if name == "f16" else "bf16")
    x = np.concatenate((x, np.array([3.4028235e38, -3.4028235e38, 3.3960e38, 65504.5, 65505], f4)))
    x = x[~np.isnan(x)]
    plain, clamped = (f"cvt.{way}{relu}{satfinite}.{name}.f32" for satfinite in ("", ".satfinite"))
    target, result = "sm_100a", "f32" if name == "tf32" else "b16"
    before, after = (computed(f"{one} %z, %a;", "f32", result, x, target=target) for one in (plain, clamped))
    too_large = np.abs(x.astype(f8)) > LARGEST[name]
    assert np.array_equal(before[~too_large], after[~too_large]) and too_large.sum() > 3
    largest = np.where(np.signbit(x) & bool(relu), 0, np.copysign(LARGEST[name], x.astype(f8))).astype(f4)
    bits = largest.view(u4) if name == "tf32" else largest.astype(f2).view(u2) if name == "f16" else None
    bits = largest.view(u4) >> 16 if bits is None else bits
    assert after[too_large].tolist() == bits[too_large].tolist()
    if name != "tf32":  # two of them
        body = f"cvt.{way}{relu}.satfinite.{name}x2.f32 %z, %a, %b;"
        pairs = computed(body, "f32 f32", "b32", x, x[::-1].copy(), target=target)
        assert np.array_equal(pairs, after.astype(u4) << 16 | after[::-1])
