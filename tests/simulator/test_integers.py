"""Integer functions of CUDA C++, against Python's integers."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest

from .machine import Machine

u64 = np.uint64

WIDE = r"""
typedef unsigned __int128 wide;
extern "C" __global__ void divide(const unsigned long long *in, unsigned long long *out)
{
    const unsigned long long *a = in + 4 * threadIdx.x;
    wide x = (wide)a[0] << 64 | a[1], y = (wide)a[2] << 64 | a[3];
    wide results[] = {x / y, x % y, (wide)((__int128)x / (__int128)y), (wide)((__int128)x % (__int128)y)};
    for (int i = 0; i < 4; ++i) {
        out[8 * threadIdx.x + 2 * i] = (unsigned long long)(results[i] >> 64);
        out[8 * threadIdx.x + 2 * i + 1] = (unsigned long long)results[i];
    }
}
"""


def signed(value: int) -> int:
    return value - (1 << 128) if value >> 127 else value


def divided(x: int, y: int) -> tuple[int, int]:
    """As C divides: towards zero."""
    quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
    return quotient, x - quotient * y


def test_division_of_128_bits(nvrtc: ModuleType) -> None:
    a = np.random.default_rng(1).integers(0, 2**64, (64, 4), dtype=u64)
    a[::3, 2] = 0
    a[1::4, 2] >>= u64(50)
    a[2::8, 0] = 0
    a[5] = 1, 0, 0, 1
    a[7, 2:] = a[7, :2]
    machine = Machine()
    out = machine.zeros((64, 8), u64)
    machine.run(machine.load(WIDE, 90, "--device-int128"), "divide", 1, 64, machine.array(a), out)
    for given, found in zip(a.tolist(), out.get().tolist(), strict=True):
        x, y = given[0] << 64 | given[1], given[2] << 64 | given[3]
        expected = [*divided(x, y), *divided(signed(x), signed(y))]
        words = [found[2 * i] << 64 | found[2 * i + 1] for i in range(4)]
        assert words == [value % (1 << 128) for value in expected]


def lanes(word: int, bits: int, is_signed: bool) -> list[int]:
    """The parts of a word, from the lowest on."""
    parts = [word >> start & (1 << bits) - 1 for start in range(0, 32, bits)]
    return [part - (1 << bits) if is_signed and part >> bits - 1 else part for part in parts]


def joined(parts: list[int], bits: int) -> int:
    return sum((part & (1 << bits) - 1) << bits * place for place, part in enumerate(parts))


def wrapped(value: int, bits: int, is_signed: bool) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if is_signed and value >> bits - 1 else value


TYPES = {"s32": (32, True), "u32": (32, False), "s16x2": (16, True), "u16x2": (16, False)}
FUNCTIONS = [
    *(f"__vi{name}_{kind}" for name in ("addmax", "addmin", "max3", "min3") for kind in TYPES),
    *(
        f"__vi{name}_{kind}_relu"
        for name in ("addmax", "addmin", "max3", "min3")
        for kind in ("s32", "s16x2")
    ),
    *(f"__vi{name}_{kind}_relu" for name in ("max", "min") for kind in ("s32", "s16x2")),
]
"""Those that dynamic programming is made of (DPX)."""


def dpx(function: str, *words: int) -> int:
    name, kind, *rest = function[4:].split("_")
    bits, is_signed = TYPES[kind]
    result = []
    for a, b, c in zip(*(lanes(word, bits, is_signed) for word in words), strict=True):
        choose = max if "max" in name else min
        if name.startswith("add"):
            found = choose(wrapped(a + b, bits, is_signed), c)
        else:
            found = choose(a, b, c) if name.endswith("3") else choose(a, b)
        result.append(max(found, 0) if rest else found)
    return joined(result, bits)


@pytest.mark.parametrize("arch", [80, 90])
def test_dynamic_programming(nvrtc: ModuleType, arch: int) -> None:
    calls = [
        f"out[{n} * gridDim.x * 32 + i] = {name}(a, b{', c' * (name[4:8] not in ('max_', 'min_'))});"
        for n, name in enumerate(FUNCTIONS)
    ]
    source = 'extern "C" __global__ void k(const unsigned *in, unsigned *out)\n{'
    source += (
        " int i = blockIdx.x * 32 + threadIdx.x;\n"
        " unsigned a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2];\n" + "\n".join(calls) + "}\n"
    )
    special = [0, 1, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x80007FFF, 0x7FFF8000]
    generator = np.random.default_rng(5)
    words = np.concatenate((generator.choice(special, (96, 3)), generator.integers(0, 2**32, (32, 3))))
    machine = Machine()
    out = machine.zeros((len(FUNCTIONS), len(words)), np.uint32)
    machine.run(machine.load(source, arch), "k", 4, 32, machine.array(words.astype(np.uint32)), out)
    for name, found in zip(FUNCTIONS, out.get().tolist(), strict=True):
        assert (name, found) == (name, [dpx(name, *row) for row in words.tolist()])


INTRINSICS: dict[str, tuple[int, bool, Callable[[int, int], int]]] = {
    "__vadd2": (16, False, lambda a, b: a + b),
    "__vadd4": (8, False, lambda a, b: a + b),
    "__vaddss2": (16, True, lambda a, b: min(max(a + b, -(1 << 15)), (1 << 15) - 1)),
    "__vaddus4": (8, False, lambda a, b: min(a + b, 255)),
    "__vsub4": (8, False, lambda a, b: a - b),
    "__vsubss4": (8, True, lambda a, b: min(max(a - b, -128), 127)),
    "__vsubus2": (16, False, lambda a, b: max(a - b, 0)),
    "__vabsdiffs2": (16, True, lambda a, b: abs(a - b)),
    "__vabsdiffu4": (8, False, lambda a, b: abs(a - b)),
    "__vavgs2": (16, True, lambda a, b: a + b + (a + b >= 0) >> 1),
    "__vavgu4": (8, False, lambda a, b: a + b + 1 >> 1),
    "__vhaddu4": (8, False, lambda a, b: a + b >> 1),
    "__vmaxs4": (8, True, max),
    "__vminu2": (16, False, min),
    "__vcmpgts4": (8, True, lambda a, b: -(a > b)),
    "__vcmpleu2": (16, False, lambda a, b: -(a <= b)),
    "__vsetgtu4": (8, False, lambda a, b: int(a > b)),
    "__vseteq2": (16, False, lambda a, b: int(a == b)),
}
"""Of each how many bits a lane has, whether it has a sign, and what is done."""


def test_functions_of_bytes_and_halves(nvrtc: ModuleType) -> None:
    source = 'extern "C" __global__ void k(const unsigned *in, unsigned *out)\n{ int i = threadIdx.x;\n'
    source += "".join(
        f"out[{n} * blockDim.x + i] = {name}(in[2 * i], in[2 * i + 1]);\n"
        for n, name in enumerate(INTRINSICS)
    )
    special = [0, 0x7F80FF01, 0x80007FFF, 0xFFFFFFFF, 0x01020304, 0x80808080, 0x7F7F7F7F, 0xFFFE0001]
    words = np.array([(a, b) for a in special for b in special], np.uint32)
    machine = Machine()
    out = machine.zeros((len(INTRINSICS), 64), np.uint32)
    machine.run(machine.load(source + "}", 90), "k", 1, 64, machine.array(words), out)
    for (name, (bits, is_signed, function)), found in zip(
        INTRINSICS.items(), out.get().tolist(), strict=True
    ):
        expected = [
            joined(
                [function(x, y) for x, y in zip(*(lanes(w, bits, is_signed) for w in row), strict=True)], bits
            )
            for row in words.tolist()
        ]
        assert (name, found) == (name, expected)
