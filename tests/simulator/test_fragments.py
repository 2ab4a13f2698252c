"""mma of every small type, whose registers are filled after the figures of the manual, against NumPy."""

from __future__ import annotations

from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest

from cudapy.simulator.engine.module import Module, PTXError

from .machine import Machine

u4, f4, f8, i8 = np.uint32, np.float32, np.float64, np.int64

HALVES = {0x38: 1.0, 0x30: 0.5, 0x40: 2.0, 0x3C: 1.5, 0xB8: -1.0, 0x00: 0.0}
"""Some e4m3 numbers, and those of e5m2."""
QUARTERS = {0x3C: 1.0, 0x38: 0.5, 0x40: 2.0, 0x3E: 1.5, 0xBC: -1.0, 0x00: 0.0}


class Case(NamedTuple):
    opcode: str
    shape: tuple[int, int, int]
    bits: int
    """Of an element of a and b."""
    result: str


CASES = [
    Case("m16n8k32.row.col.f32.e4m3.e4m3.f32", (16, 8, 32), 8, "f32"),
    Case("m16n8k32.row.col.f32.e5m2.e4m3.f32", (16, 8, 32), 8, "f32"),
    Case("m16n8k16.row.col.f32.e4m3.e5m2.f32", (16, 8, 16), 8, "f32"),
    Case("m16n8k32.row.col.f16.e4m3.e4m3.f16", (16, 8, 32), 8, "f16"),
    Case("m16n8k4.row.col.f64.f64.f64.f64", (16, 8, 4), 64, "f64"),
    Case("m16n8k8.row.col.f64.f64.f64.f64", (16, 8, 8), 64, "f64"),
    Case("m16n8k16.row.col.f64.f64.f64.f64", (16, 8, 16), 64, "f64"),
    Case("m8n8k16.row.col.s32.s8.u8.s32", (8, 8, 16), 8, "s32"),
    Case("m8n8k32.row.col.s32.s4.s4.s32", (8, 8, 32), 4, "s32"),
    Case("m16n8k32.row.col.s32.u4.s4.s32", (16, 8, 32), 4, "s32"),
    Case("m16n8k64.row.col.satfinite.s32.s4.u4.s32", (16, 8, 64), 4, "s32"),
    Case("m8n8k128.row.col.s32.b1.b1.s32.xor.popc", (8, 8, 128), 1, "s32"),
    Case("m16n8k128.row.col.s32.b1.b1.s32.and.popc", (16, 8, 128), 1, "s32"),
    Case("m16n8k256.row.col.s32.b1.b1.s32.xor.popc", (16, 8, 256), 1, "s32"),
    Case("m16n8k256.row.col.s32.b1.b1.s32.and.popc", (16, 8, 256), 1, "s32"),
]


def element(kind: str, code: int) -> float:
    if kind in ("s8", "s4"):
        bits = int(kind[1])
        return code - (1 << bits) if code >> bits - 1 else code
    return {"e4m3": HALVES, "e5m2": QUARTERS}.get(kind, {}).get(code, code)


def codes(kind: str, shape: tuple[int, int], bits: int, seed: int) -> Any:
    generator = np.random.default_rng(seed)
    if bits == 64:
        return generator.integers(-9, 9, shape).astype(f8)
    if kind in ("e4m3", "e5m2"):
        return generator.choice(sorted(HALVES if kind == "e4m3" else QUARTERS), shape)
    return generator.integers(0, 1 << bits, shape)


def words(matrix: Any, bits: int, is_a: bool) -> Any:
    """The registers (register, lane): those of a hold parts of a row, the lower eight rows by turns with the
    upper ones; those of b parts of a column.
    """
    each = max(32 // bits, 1)
    lines, depth = matrix.shape if is_a else matrix.T.shape
    along = matrix if is_a else matrix.T
    registers = []
    for start in range(0, depth, 4 * each):
        for half in range(0, lines, 8):
            lanes = []
            for lane in range(32):
                at = start + lane % 4 * each
                part = along[half + lane // 4, at : at + each]
                if bits == 64:
                    lanes.append(part[0])
                else:
                    lanes.append(sum(int(code) << bits * place for place, code in enumerate(part)))
            registers.append(lanes)
    return np.array(registers, f8 if bits == 64 else u4)


def program(case: Case, a: int, b: int) -> str:
    wide = case.bits == 64
    size, kind = (8, "f64") if wide else (4, "b32")
    inner = {"f16": "b32", "s32": "b32"}.get(case.result, case.result)
    count = (2 if case.result == "f16" else 4) if case.shape[0] == 16 else 2
    out = 8 if inner == "f64" else 4
    lines = [
        ".version 8.7\n.target sm_90a\n.address_size 64",
        ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c)\n{",
        f".reg .{kind} %a<{a}>, %b<{b}>; .reg .{inner} %c<{count}>; .reg .b64 %p<4>; .reg .b32 %t;",
        "mov.u32 %t, %tid.x;",
    ]
    for number, (name, length, width, step) in enumerate(
        (("a", a, kind, size), ("b", b, kind, size), ("c", count, inner, out))
    ):
        lines.append(f"ld.param.u64 %p{number}, [{name}]; mad.wide.u32 %p{number}, %t, {step}, %p{number};")
        lines += [f"ld.global.{width} %{name}{i}, [%p{number}+{32 * step * i}];" for i in range(length)]
    a_list, b_list, c_list = (
        "{" + ", ".join(f"%{name}{i}" for i in range(length)) + "}"
        for name, length in (("a", a), ("b", b), ("c", count))
    )
    lines.append(f"mma.sync.aligned.{case.opcode} {c_list}, {a_list}, {b_list}, {c_list};")
    lines += [f"st.global.{inner} [%p2+{32 * out * i}], %c{i};" for i in range(count)]
    return "\n".join([*lines, "ret;\n}"])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.opcode)
def test_products(case: Case) -> None:
    m, n, k = case.shape
    kinds = [one for one in case.opcode.split(".") if one[0] in "usefb" and one[1:2].isdigit()]
    a, b = codes(kinds[1], (m, k), case.bits, 1), codes(kinds[2], (k, n), case.bits, 2)
    registers = words(a, case.bits, True), words(b, case.bits, False)
    machine = Machine()
    values = np.arange(m * n).reshape(m, n) % 17 - 5
    dtype = {"f32": f4, "f64": f8, "f16": np.float16, "s32": np.int32}[case.result]
    lane, held = np.arange(32)[None], np.arange(m * n // 32)[:, None]
    row, column = lane // 4 + held // 2 * 8, lane % 4 * 2 + held % 2
    c = values[row, column].astype(dtype)
    if case.result == "f16":  # two in a register
        c = np.ascontiguousarray(c.reshape(2, 2, 32).swapaxes(1, 2)).view(u4)[..., 0]
    arrays = [machine.array(one) for one in (*registers, c)]
    machine.run(Module(program(case, *map(len, registers)), machine.memory), "k", 1, 32, *arrays)
    found = arrays[2].get()
    if case.result == "f16":
        found = found[..., None].view(np.float16).swapaxes(1, 2).reshape(4, 32)
    if case.opcode.endswith("popc"):
        mix = np.bitwise_xor if "xor" in case.opcode else np.bitwise_and
        product = mix(a[:, :, None], b[None]).sum(1)
    else:
        x, y = (
            np.array([[element(kind, one) for one in line] for line in matrix.tolist()])
            for kind, matrix in zip(kinds[1:3], (a, b), strict=True)
        )
        product = x @ y
    assert np.array_equal(found, (product + values)[row, column].astype(dtype))


TILES = r"""
#include <mma.h>
using namespace nvcuda;
using namespace nvcuda::wmma::experimental;
template <typename T, int K, typename F>
__device__ void tile(const unsigned *a, const unsigned *b, int *c, int la, int lb, F multiply)
{
    wmma::fragment<wmma::matrix_a, 8, 8, K, T, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 8, 8, K, T, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 8, 8, K, int> fc;
    wmma::load_matrix_sync(fa, a, la);
    wmma::load_matrix_sync(fb, b, lb);
    wmma::load_matrix_sync(fc, c, 8, wmma::mem_row_major);
    multiply(fc, fa, fb);
    wmma::store_matrix_sync(c, fc, 8, wmma::mem_row_major);
}
extern "C" __global__ void small(const unsigned *a, const unsigned *b, int *c)
{
    tile<precision::s4, 32>(a, b, c, 64, 32, [](auto &c, auto &a, auto &b) { wmma::mma_sync(c, a, b, c); });
}
extern "C" __global__ void bits(const unsigned *a, const unsigned *b, int *c)
{
    tile<precision::b1, 128>(a, b, c, 128, 256,
        [](auto &c, auto &a, auto &b) { wmma::bmma_sync(c, a, b, c, bmmaBitOpXOR); });
}
extern "C" __global__ void doubles(const double *a, const double *b, double *c)
{
    wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 8, 8, 4, double> fc;
    wmma::fill_fragment(fc, 1.0);
    wmma::load_matrix_sync(fa, a, 4);
    wmma::load_matrix_sync(fb, b, 4);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, 8, wmma::mem_row_major);
}
"""


def test_tiles_of_small_integers_bits_and_doubles(nvrtc: ModuleType) -> None:
    machine = Machine()
    module = machine.load(TILES, 90)
    generator = np.random.default_rng(3)
    for name, bits, depth, lines in (("small", 4, 32, (64, 32)), ("bits", 1, 128, (128, 256))):
        a, b = (generator.integers(0, 1 << bits, (8, line)) for line in lines)
        packed = [(one.reshape(-1, 32 // bits) << np.arange(0, 32, bits)).sum(1).astype(u4) for one in (a, b)]
        c = machine.array(np.arange(64, dtype=np.int32))
        machine.run(module, name, 1, 32, *map(machine.array, packed), c)
        x, y = a[:, :depth], b[:, :depth]
        if bits == 4:
            x, y = ((one ^ 8) - 8 for one in (x, y))
            product = x @ y.T
        else:
            product = (x[:, None] ^ y[None]).sum(2)
        assert np.array_equal(c.get().reshape(8, 8), product + np.arange(64).reshape(8, 8))
    a, b = (generator.integers(-50, 50, (8, 4)).astype(f8) for _ in range(2))
    d = machine.zeros((8, 8), f8)
    machine.run(module, "doubles", 1, 32, machine.array(a), machine.array(b), d)
    assert np.array_equal(d.get(), a @ b.T + 1)


def test_an_older_target_has_no_bytes_of_floating_point() -> None:
    case = CASES[0]
    with pytest.raises(PTXError, match=r"it takes .target sm_89 or newer"):
        Module(program(case, 4, 2).replace("sm_90a", "sm_86"), Machine().memory)
