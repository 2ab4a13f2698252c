"""Products of matrices by four warps, whose factors lie in shared memory in all layouts, against NumPy."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from cudapy.simulator.engine import fault
from cudapy.simulator.engine.fault import Fault
from cudapy.simulator.engine.memory import Memory
from cudapy.simulator.engine.module import Module, PTXError

from .machine import Machine, ptx

N = 16  # columns of the results
SECOND = 16384  # bytes from one factor to the other

SOURCE = r"""
typedef unsigned long long Word;
#define HEAD(name, type)                                                                                  \
    extern "C" __global__ void name(const int4 *image, int parts, Word da, Word db, type *d, int keeps)   \
    {                                                                                                     \
        extern __shared__ __align__(1024) int4 s[];                                                       \
        for (int i = threadIdx.x; i < parts; i += blockDim.x) s[i] = image[i];                            \
        asm volatile("fence.proxy.async;" ::: "memory");                                                  \
        __syncthreads();                                                                                  \
        Word base = ((unsigned)__cvta_generic_to_shared(s) & 0x3FFFF) >> 4;                               \
        int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;             \
        da += base, db += base;                                                                           \
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#define PLACE(i) d[(row + i / 2 % 2 * 8) * 16 + column + i / 4 * 8 + i % 2]
#define TAIL                                                                                              \
        asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
#define EIGHT "{%0, %1, %2, %3, %4, %5, %6, %7}"
#define RESULT(c) c(v[0]), c(v[1]), c(v[2]), c(v[3]), c(v[4]), c(v[5]), c(v[6]), c(v[7])
#define MULTIPLY(name, type, letter, form, more)                                                          \
    HEAD(name, type)                                                                                      \
        type v[8];                                                                                        \
        for (int i = 0; i < 8; ++i) v[i] = PLACE(i);                                                      \
        asm volatile("{ .reg .pred p; setp.ne.b32 p, %10, 0; wgmma.mma_async.sync.aligned." form " " EIGHT \
                     ", %8, %9, p" more "; }" : RESULT(letter) : "l"(da), "l"(db), "r"(keeps) : "memory"); \
        TAIL                                                                                              \
        for (int i = 0; i < 8; ++i) PLACE(i) = v[i];                                                      \
    }
MULTIPLY(halves, float, "+f", "m64n16k16.f32.f16.f16", ", 1, 1, 0, 0")
MULTIPLY(turned, float, "+f", "m64n16k16.f32.f16.f16", ", 1, -1, 1, 1")
MULTIPLY(brains, float, "+f", "m64n16k16.f32.bf16.bf16", ", 1, 1, 0, 1")
MULTIPLY(singles, float, "+f", "m64n16k8.f32.tf32.tf32", ", 1, 1")
MULTIPLY(quarters, float, "+f", "m64n16k32.f32.e4m3.e5m2", ", -1, 1")
MULTIPLY(bytes, int, "+r", "m64n16k32.satfinite.s32.s8.u8", "")
HEAD(by_halves, unsigned short)
    unsigned v[4];
    for (int i = 0; i < 4; ++i) v[i] = PLACE((2 * i)) | PLACE((2 * i + 1)) << 16;
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %6, 0; wgmma.mma_async.sync.aligned.m64n16k16.f16.f16.f16"
                 " {%0, %1, %2, %3}, %4, %5, p, 1, 1, 0, 0; }"
                 : "+r"(v[0]), "+r"(v[1]), "+r"(v[2]), "+r"(v[3]) : "l"(da), "l"(db), "r"(keeps) : "memory");
    TAIL
    for (int i = 0; i < 8; ++i) PLACE(i) = v[i / 2] >> i % 2 * 16;
}
HEAD(of_registers, float)
    float v[8];
    unsigned a[4];
    const unsigned *rows = (const unsigned *)s;  // of 16 halves
    for (int i = 0; i < 4; ++i) a[i] = rows[(row + i % 2 * 8) * 8 + threadIdx.x % 4 + i / 2 * 4];
    for (int i = 0; i < 8; ++i) v[i] = PLACE(i);
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %13, 0; wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 "
                 EIGHT ", {%8, %9, %10, %11}, %12, p, 1, 1, 0; }"
                 : RESULT("+f") : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(db), "r"(keeps) : "memory");
    TAIL
    for (int i = 0; i < 8; ++i) PLACE(i) = v[i];
}
"""


def rows_in_memory(matrix: Any, swizzle: int, step: int) -> tuple[Any, int]:
    """The bytes of a matrix with rows along the sum, and its descriptor; `step` 32-byte steps of a wider row
    come before.
    """
    lines = matrix.shape[0]
    parts = np.ascontiguousarray(matrix).view(np.uint8).reshape(lines, 2, 16)
    image = np.zeros(SECOND, np.uint8)
    for line, part in np.ndindex(lines, 2):
        if not swizzle:  # eight rows of a part, one after the other; 256 bytes apart, parts 128
            at = line // 8 * 256 + part * 128 + line % 8 * 16
        else:
            place = (2 * step + part) ^ line % 8 // (128 // swizzle)
            at = line * swizzle + place * 16
        image[at : at + 16] = parts[line, part]
    kind = {0: 0, 128: 1, 64: 2, 32: 3}[swizzle]
    leading, stride = (128, 256) if not swizzle else (0, 8 * swizzle)
    return image, kind << 62 | stride // 16 << 32 | leading // 16 << 16 | step * 2


def columns_in_memory(matrix: Any, swizzle: int) -> tuple[Any, int]:
    """The same of a matrix of halves with the other dimension's elements side by side."""
    image = np.zeros(SECOND, np.uint8)
    bits = matrix.view(np.uint16)
    leading, stride = (2048, 128) if not swizzle else (4096, 8 * swizzle)
    for line, along in np.ndindex(*matrix.shape):
        if not swizzle:
            at = line // 8 * stride + along // 8 * leading + along % 8 * 16
        else:
            wide = swizzle // 16
            place = line // 8 % wide ^ along % 8 // (128 // swizzle)
            at = line // (8 * wide) * leading + along // 8 * stride + along % 8 * swizzle + place * 16
        image[at + line % 8 * 2 : at + line % 8 * 2 + 2] = bits[line, along : along + 1].view(np.uint8)
    kind = {0: 0, 128: 1, 64: 2, 32: 3}[swizzle]
    return image, kind << 62 | stride // 16 << 32 | leading // 16 << 16


def run(machine: Machine, name: str, a: tuple[Any, int], b: tuple[Any, int], c: Any, keeps: int = 1) -> Any:
    image = np.concatenate([a[0], b[0]])
    out = machine.array(c)
    second = b[1] + SECOND // 16
    machine.run(
        machine.load(SOURCE, "90a"), name, 1, 128, machine.array(image), np.int32(len(image) // 16),
        np.uint64(a[1]), np.uint64(second), out, np.int32(keeps), shared=len(image),
    )  # fmt: skip
    return out.get()


def whole(rows: int, columns: int, dtype: Any, seed: int, low: int = -8) -> Any:
    """Small whole numbers, whose products and sums are exact."""
    return np.random.default_rng(seed).integers(low, 8, (rows, columns)).astype(dtype)


@pytest.mark.parametrize("swizzle, step", [(0, 0), (32, 0), (64, 1), (128, 0), (128, 3)])
def test_rows_along_the_sum(machine: Machine, swizzle: int, step: int) -> None:
    a, b, c = whole(64, 16, np.float16, 1), whole(N, 16, np.float16, 2), whole(64, N, np.float32, 3)
    left, right = rows_in_memory(a, swizzle, step), rows_in_memory(b, swizzle, step)
    product = a.astype(np.float32) @ b.T.astype(np.float32)
    assert np.array_equal(run(machine, "halves", left, right, c), product + c)
    assert np.array_equal(run(machine, "halves", left, right, c, keeps=0), product)


@pytest.mark.parametrize("swizzle", [0, 32, 64, 128])
def test_the_other_way_round(machine: Machine, swizzle: int) -> None:
    a, b, c = whole(64, 16, np.float16, 1), whole(N, 16, np.float16, 2), whole(64, N, np.float32, 3)
    left, right = columns_in_memory(a, swizzle), columns_in_memory(b, swizzle if swizzle < 64 else 32)
    product = a.astype(np.float32) @ -b.T.astype(np.float32)
    assert np.array_equal(run(machine, "turned", left, right, c), product + c)


def test_bfloats(machine: Machine) -> None:
    a, b, c = whole(64, 16, np.float32, 1), whole(N, 16, np.float32, 2), whole(64, N, np.float32, 3)
    bits = [(one.view(np.uint32) >> 16).astype(np.uint16) for one in (a, b)]
    found = run(machine, "brains", rows_in_memory(bits[0], 128, 0), columns_in_memory(bits[1], 32), c)
    assert np.array_equal(found, a @ b.T + c)


def test_singles(machine: Machine) -> None:
    a, b, c = whole(64, 8, np.float32, 1), whole(N, 8, np.float32, 2), whole(64, N, np.float32, 3)
    found = run(machine, "singles", rows_in_memory(a, 64, 0), rows_in_memory(b, 0, 0), c)
    assert np.array_equal(found, a @ b.T + c)


def small(values: Any, fraction: int, bias: int) -> Any:
    """Floats of a byte: a sign, an exponent with this bias, and so many bits of a fraction."""
    half, exponent = np.frexp(np.abs(values))
    code = (exponent - 1 + bias << fraction) + ((2 * half - 1) * 2**fraction).astype(int)
    return np.where(values == 0, 0, code | np.signbit(values).astype(int) << 7).astype(np.uint8)


def test_floats_of_a_byte(machine: Machine) -> None:
    """Hopper's tensor cores add products of e4m3 and e5m2 with about 14 bits: these sums need 11."""
    random = np.random.default_rng(1)
    a, b = random.integers(-15, 16, (64, 32)) / 4, random.integers(-7, 8, (N, 32)) / 2
    c = whole(64, N, np.float32, 3)
    assert 8 * (np.abs(a) @ np.abs(b.T) + np.abs(c)).max() < 2**11
    left, right = rows_in_memory(small(a, 3, 7), 128, 2), rows_in_memory(small(b, 2, 15), 32, 0)
    expected = (-a @ b.T + c).astype(np.float32)
    assert np.array_equal(run(machine, "quarters", left, right, c), expected)


def test_bytes(machine: Machine) -> None:
    a, b = whole(64, 32, np.int8, 1, -100), whole(N, 32, np.uint8, 2, 0)
    c = whole(64, N, np.int32, 3)
    c[0, 0], c[1, 1] = 2**31 - 1, -(2**31)
    found = run(machine, "bytes", rows_in_memory(a, 128, 0), rows_in_memory(b, 64, 1), c)
    sums = a.astype(np.int64) @ b.T.astype(np.int64) + c
    assert np.array_equal(found, np.clip(sums, -(2**31), 2**31 - 1))


def test_sums_of_halves(machine: Machine) -> None:
    a, b, c = whole(64, 16, np.float16, 1), whole(N, 16, np.float16, 2), whole(64, N, np.float16, 3)
    found = run(machine, "by_halves", rows_in_memory(a, 128, 1), rows_in_memory(b, 128, 1), c.view(np.uint16))
    assert np.array_equal(found.view(np.float16), a @ b.T + c)


def test_a_factor_in_registers(machine: Machine) -> None:
    a, b, c = whole(64, 16, np.float16, 1), whole(N, 16, np.float16, 2), whole(64, N, np.float32, 3)
    image = np.zeros(SECOND, np.uint8)
    image[: a.nbytes] = a.view(np.uint8).ravel()
    found = run(machine, "of_registers", (image, 0), rows_in_memory(b, 64, 0), c)
    assert np.array_equal(found, a.astype(np.float32) @ b.T.astype(np.float32) + c)


@pytest.mark.parametrize(
    "change, text, status",
    [
        (lambda one: one + 2000, "Invalid __shared__ read of a matrix", fault.ILLEGAL_ADDRESS),
        (
            lambda one: one | 3 << 49,
            "with a base offset, which the simulator does not have",
            fault.ILLEGAL_INSTRUCTION,
        ),
    ],
)
def test_a_wrong_descriptor(machine: Machine, change: Any, text: str, status: int) -> None:
    a, b, c = whole(64, 16, np.float16, 1), whole(N, 16, np.float16, 2), whole(64, N, np.float32, 3)
    left, right = rows_in_memory(a, 128, 0), rows_in_memory(b, 128, 0)
    with pytest.raises(Fault) as found:
        run(machine, "halves", left, (right[0], change(right[1])), c)
    assert found.value.status == status
    assert text in found.value.report and "in halves" in found.value.report
    assert "by block (0,0,0) thread (0,0,0)" in found.value.report


@pytest.mark.parametrize(
    "old, new, reason",
    [
        (".m64n16k16.f32.f16.f16", ".m64n12k16.f32.f16.f16", "does not support this; it has wgmma"),
        (", 1, -1, 1, 1;", ", 1, 2, 1, 1;", "one of 1, -1 is expected"),
        (", 1, -1, 1, 1;", ", 1, -1;", "not as expected"),
        (".m64n16k32.satfinite.s32.s8.u8", ".m64n40k32.s32.s8.u8", "does not support this"),
    ],
)
def test_what_is_refused_when_a_module_is_loaded(nvrtc: ModuleType, old: str, new: str, reason: str) -> None:
    text = ptx(SOURCE, "90a")
    assert old in text
    with pytest.raises(PTXError, match=rf"line \d+: .*{reason}"):
        Module(text.replace(old, new), Memory())
