"""Integer functions of CUDA C++, against Python's integers."""

from __future__ import annotations

from types import ModuleType

import numpy as np

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
