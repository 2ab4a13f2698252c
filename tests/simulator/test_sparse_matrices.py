"""mma.sp: registers and metadata are filled after the figures of the manual, the products are NumPy's.

Source: PTX ISA, "Sparse matrix storage", "Matrix fragments for multiply-accumulate operation with sparse
matrix A".
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
import pytest

from cudapy.simulator.engine.module import Module, PTXError

from .machine import Machine

u4, f4, f8 = np.uint32, np.float32, np.float64
SMALL = {
    "f16": [1.0, 0.5, -2.0, 3.0, -1.0],
    "bf16": [1.0, 0.5, -2.0, 3.0, -1.0],
    "tf32": [1.0, 0.25, -2.0, 5.0, -1.0],
    "e4m3": {0x38: 1.0, 0x30: 0.5, 0x40: 2.0, 0x3C: 1.5, 0xB8: -1.0},
    "e5m2": {0x3C: 1.0, 0x38: 0.5, 0x40: 2.0, 0x3E: 1.5, 0xBC: -1.0},
    "s8": range(-128, 128),
    "u8": range(256),
    "s4": range(-8, 8),
    "u4": range(16),
}
"""Numbers of each type, those of 8 bits that are floats by their codes."""
BITS = {"f16": 16, "bf16": 16, "tf32": 32, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8, "s4": 4, "u4": 4}


class Case(NamedTuple):
    opcode: str
    selector: int = 0

    @property
    def depth(self) -> int:
        return int(self.opcode.split(".")[0].partition("k")[2])

    @property
    def kinds(self) -> list[str]:
        """Of d, a, b and c."""
        return [one for one in self.opcode.split(".")[3:] if one != "satfinite"]


CASES = [
    *(Case("m16n8k16.row.col.f32.f16.f16.f32", selector) for selector in range(4)),
    *(Case("m16n8k32.row.col.f16.f16.f16.f16", selector) for selector in range(2)),
    Case("m16n8k32.row.col.f32.f16.f16.f32", 1),
    Case("m16n8k16.row.col.f32.bf16.bf16.f32", 2),
    Case("m16n8k32.row.col.f32.bf16.bf16.f32", 1),
    Case("m16n8k8.row.col.f32.tf32.tf32.f32", 3),
    *(Case("m16n8k16.row.col.f32.tf32.tf32.f32", selector) for selector in range(2)),
    *(Case("m16n8k32.row.col.s32.s8.u8.s32", selector) for selector in range(2)),
    Case("m16n8k64.row.col.satfinite.s32.u8.s8.s32"),
    *(Case("m16n8k64.row.col.s32.s4.u4.s32", selector) for selector in range(2)),
    Case("m16n8k128.row.col.satfinite.s32.u4.s4.s32"),
    Case("m16n8k64.row.col.f32.e4m3.e5m2.f32"),
    Case("m16n8k64.row.col.f16.e5m2.e4m3.f16"),
]


def numbers(kind: str, shape: tuple[int, int], seed: int) -> tuple[Any, Any]:
    """A matrix, and the bits of its elements."""
    generator = np.random.default_rng(seed)
    known = SMALL[kind]
    if isinstance(known, dict):
        codes = generator.choice(list(known), shape)
        return np.vectorize(known.get)(codes), codes
    values = generator.choice(list(known), shape)
    if kind == "f16":
        return values, values.astype(np.float16).view(np.uint16)
    if kind == "bf16":
        return values, values.astype(f4).view(u4) >> 16
    if kind == "tf32":
        return values, values.astype(f4).view(u4)
    return values, values & (1 << BITS[kind]) - 1


def choices(kind: str) -> list[tuple[list[int], int]]:
    """Which columns of a chunk may be kept, and the four bits that say so."""
    if kind == "tf32":
        return [([0], 0b0100), ([1], 0b1110)]
    pairs = list(itertools.combinations(range(4), 2))
    if kind in ("s4", "u4"):
        return [([2 * i, 2 * i + 1, 2 * j, 2 * j + 1], j << 2 | i) for i, j in pairs]
    return [([i, j], j << 2 | i) for i, j in pairs]


def sparse(case: Case, seed: int) -> tuple[Any, Any, Any, Any]:
    """A sparse matrix, the bits of its elements, where it has some, and its metadata by lane."""
    kind, depth = case.kinds[1], case.depth
    values, codes = numbers(kind, (16, depth), seed)
    generator = np.random.default_rng(seed + 1)
    metadata = generator.integers(0, 1 << 32, 32)  # of the threads that are not asked, too
    chunk = {"tf32": 2, "s4": 8, "u4": 8}.get(kind, 4)
    kept = np.zeros((16, depth), bool)
    for row, number in itertools.product(range(16), range(depth // chunk)):
        allowed = choices(kind)
        columns, bits = allowed[generator.integers(len(allowed))]
        kept[row, [number * chunk + column for column in columns]] = True
        if kind in ("f16", "bf16", "tf32"):  # bits 0 .. 15 for a row, 16 .. 31 for that eight below
            threads = depth // chunk // 4
            lane = row % 8 * 4 + case.selector * threads + number // 4
            shift = row // 8 * 16 + number % 4 * 4
        else:  # a thread for a row, the next one for that eight below
            lane = row % 8 * 4 + case.selector * 2 + number // 8 * 2 + row // 8
            shift = number % 8 * 4
        metadata[lane] = metadata[lane] & ~(15 << shift) | bits << shift
    return values * kept, codes, kept, metadata.astype(u4)


def joined(codes: Any, bits: int) -> int:
    return sum(int(code) << bits * place for place, code in enumerate(codes))


def words_of_a(case: Case, codes: Any, kept: Any) -> Any:
    """Each register of a lane holds what is kept of a part of a row, twice as long."""
    each = 32 // BITS[case.kinds[1]]
    registers = case.depth // each // 4 // 2 * 2
    words = np.zeros((registers, 32), u4)
    for register, lane in itertools.product(range(registers), range(32)):
        row, first = lane // 4 + register % 2 * 8, (lane % 4 + register // 2 * 4) * 2 * each
        part = slice(first, first + 2 * each)
        words[register, lane] = joined(codes[row, part][kept[row, part]], 32 // each)
    return words


def words_of_b(case: Case, codes: Any) -> Any:
    each = 32 // BITS[case.kinds[2]]
    words = np.zeros((case.depth // each // 4, 32), u4)
    for register, lane in itertools.product(range(len(words)), range(32)):
        first = (lane % 4 + register * 4) * each
        words[register, lane] = joined(codes[first : first + each, lane // 4], 32 // each)
    return words


def program(case: Case, a: int, b: int, sparsity: str = "sp") -> str:
    kind = {"f16": "b32", "s32": "b32", "f32": "f32"}[case.kinds[0]]
    count = 2 if case.kinds[0] == "f16" else 4
    held = "f32" if case.kinds[1] == "tf32" else "b32"
    lines = [
        ".version 8.7\n.target sm_90a\n.address_size 64",
        ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 e)\n{",
        f".reg .{held} %a<{a}>, %b<{b}>; .reg .b32 %e<1>; .reg .{kind} %c<{count}>;",
        ".reg .b64 %p<4>; .reg .b32 %t; mov.u32 %t, %tid.x;",
    ]
    for number, (name, length) in enumerate((("a", a), ("b", b), ("c", count), ("e", 1))):
        lines.append(f"ld.param.u64 %p{number}, [{name}]; mad.wide.u32 %p{number}, %t, 4, %p{number};")
        lines += [f"ld.global.b32 %{name}{i}, [%p{number}+{128 * i}];" for i in range(length)]
    a_list, b_list, c_list = (
        "{" + ", ".join(f"%{name}{i}" for i in range(length)) + "}"
        for name, length in (("a", a), ("b", b), ("c", count))
    )
    opcode = f"mma.{sparsity}.sync.aligned.{case.opcode}"
    lines.append(f"{opcode} {c_list}, {a_list}, {b_list}, {c_list}, %e0, {case.selector};")
    lines += [f"st.global.b32 [%p2+{128 * i}], %c{i};" for i in range(count)]
    return "\n".join([*lines, "ret;\n}"])


def multiplied(case: Case, a: Any, b: Any, metadata: Any, sums: Any, sparsity: str = "sp") -> Any:
    """Registers of d, as numbers (number, lane)."""
    dtype = {"f32": f4, "f16": np.float16, "s32": np.int32}[case.kinds[0]]
    lane, held = np.arange(32)[None], np.arange(4)[:, None]
    c = sums[lane // 4 + held // 2 * 8, lane % 4 * 2 + held % 2].astype(dtype)
    if dtype == np.float16:  # two in a register
        c = np.ascontiguousarray(c.reshape(2, 2, 32).swapaxes(1, 2)).view(u4)[..., 0]
    machine = Machine()
    arrays = [machine.array(one) for one in (a, b, c, metadata)]
    module = Module(program(case, len(a), len(b), sparsity), machine.memory)
    machine.run(module, "k", 1, 32, *arrays)
    found = arrays[2].get()
    if dtype == np.float16:
        found = found[..., None].view(np.float16).swapaxes(1, 2).reshape(4, 32)
    result = np.zeros((16, 8), dtype)
    result[lane // 4 + held // 2 * 8, lane % 4 * 2 + held % 2] = found
    return result


@pytest.mark.parametrize("sparsity", ["sp", "sp::ordered_metadata"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.opcode}-{case.selector}")
def test_products(case: Case, sparsity: str) -> None:
    a, codes, kept, metadata = sparse(case, 1)
    b, b_codes = numbers(case.kinds[2], (case.depth, 8), 3)
    sums = np.arange(128).reshape(16, 8) % 17 - 5
    found = multiplied(
        case, words_of_a(case, codes, kept), words_of_b(case, b_codes), metadata, sums, sparsity
    )
    assert np.array_equal(found, (a @ b + sums).astype(found.dtype))


def test_what_is_left_out_is_not_multiplied() -> None:
    """An infinity in b where a has nothing: 0 times it would be NaN."""
    case = Case("m16n8k16.row.col.f32.f16.f16.f32")
    b, b_codes = numbers("f16", (16, 8), 3)
    a = np.full((2, 32), joined([0x3C00, 0x3C00], 16), u4)  # ones
    b_codes[3::4] = 0x7C00
    metadata = np.full(32, 0x44444444, u4)  # columns 0 and 1 of each 4
    found = multiplied(case, a, words_of_b(case, b_codes), metadata, np.zeros((16, 8)))
    assert np.array_equal(found, np.tile(b.reshape(4, 4, 8)[:, :2].sum((0, 1)), (16, 1)))


@pytest.mark.parametrize(
    "opcode, selector", [("m16n8k16.row.col.f32.f16.f16.f32", 4), ("m16n8k64.row.col.s32.s8.s8.s32", 1)]
)
def test_a_selector_of_no_thread(opcode: str, selector: int) -> None:
    case = Case(opcode, selector)
    with pytest.raises(PTXError, match=r"the last operand, which chooses threads, is a number below [14]"):
        Module(program(case, 4, 4), Machine().memory)


def test_an_older_target_has_none() -> None:
    text = program(CASES[0], 2, 2).replace("sm_90a", "sm_75")
    with pytest.raises(PTXError, match=r"it takes .target sm_80 or newer"):
        Module(text, Machine().memory)
