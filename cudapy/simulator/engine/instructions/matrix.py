"""Products of small matrices, whose parts the threads of a warp hold.

Source: PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ..arithmetic.fragments import elements
from ..ptx.syntax import Integer, PTXError, parts_of
from ..ptx.types import TYPES
from .accesses import space_of
from .forms import MatrixProduct, Tile
from .rule import Rule, rule

if TYPE_CHECKING:
    from ..compile.block import BlockWriter
    from ..ptx.syntax import Instruction, Operand

_SPACE = "[.space:global|shared::cta|shared]"
_REGISTER_TYPES = {"f32": "f32", "s32": "s32", "f64": "f64"}
"""The type of a register that holds elements; of all others b32."""
_WIDE = {"f16": "m16n16k16|m32n8k16|m8n32k16", "tf32": "m16n16k8", "f64": "m8n8k4"}


def registers(writer: BlockWriter, operand: Operand, kind: str) -> str:
    register_type = TYPES[_REGISTER_TYPES.get(kind, "b32")]
    names = [writer.canonicalized(item, register_type) for item in parts_of(operand)]
    return f"({', '.join(names)},)"


def give(writer: BlockWriter, target: Operand, call: str, kind: str) -> None:
    items = parts_of(target)
    values = writer.let(call)
    register_type = TYPES[_REGISTER_TYPES.get(kind, "b32")]
    for place, item in enumerate(items):
        writer.write(item, f"{values}[{place}]", register_type)


def _require_registers(writer: BlockWriter, operand: Operand, kind: str, count: int, name: str = "") -> None:
    """Whether there are registers for a thread's part of `count` elements. Raises PTXError.

    Those of a and b of wmma have some elements of f16 twice.
    """
    wanted = 8 if name == "wmma" and kind == "f16" else max(count // 32 // elements(kind), 1)
    if len(parts_of(operand)) != wanted:
        raise PTXError(f"{wanted} registers are expected for {count} elements of {kind}")


def shape(groups: dict[str, str]) -> tuple[int, int, int]:
    """Rows and columns of the result, and the length of the sums."""
    m, n, k = map(int, re.findall(r"\d+", groups["shape"]))
    return m, n, k


def _multiply(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    """mma and wmma.mma: d = a * b + c."""
    a_kind = groups.get("A") or "f16"
    b_kind = groups.get("B") or a_kind
    d, a, b, c = instruction.operands
    m, n, k = shape(groups)
    _require_registers(writer, a, a_kind, m * k, instruction.name)
    _require_registers(writer, b, b_kind, k * n, instruction.name)
    for one, kind in ((c, groups["C"]), (d, groups["D"])):
        _require_registers(writer, one, kind, m * n)
    parts = [registers(writer, *one) for one in ((a, a_kind), (b, b_kind), (c, groups["C"]))]
    kinds = (groups["D"], a_kind, b_kind, groups["C"])
    form = MatrixProduct(
        (m, n, k),
        kinds,
        registers=len(parts_of(d)),
        clamps=bool(groups.get("satfinite")),
        is_tiled=instruction.name == "wmma",
        bits=groups.get("bits", ""),
    )
    arguments = f"{writer.function.constant_object(form)}, ({', '.join(parts)}), I, {writer.number}"
    give(writer, d, f"L.matrices.multiply({arguments})", groups["D"])


_SPARSE_COLUMNS = {"tf32": 2, "s4": 8, "u4": 8}
"""Of how many columns four bits of metadata say which half is there; of other types 4."""


def _multiply_sparse(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    """mma.sp: of each row of a half is there, and metadata says which half."""
    d, a, b, c, metadata, selector = instruction.operands
    kinds = groups["D"], groups["A"], groups["B"], groups["C"]
    parts = ", ".join(registers(writer, *one) for one in ((a, kinds[1]), (b, kinds[2]), (c, kinds[3])))
    depth = shape(groups)[2]
    choices = 16 * _SPARSE_COLUMNS.get(kinds[1], 4) // depth  # all threads of four have metadata of long sums
    if not isinstance(selector, Integer) or not 0 <= selector.value < choices:
        raise PTXError(f"the last operand, which chooses threads, is a number below {choices}")
    words = writer.read(metadata, TYPES["b32"])
    form = MatrixProduct(
        shape(groups),
        kinds,
        registers=len(parts_of(d)),
        clamps=bool(groups.get("satfinite")),
        selector=selector.value,
    )
    arguments = f"{writer.function.constant_object(form)}, ({parts}), {words}, I, {writer.number}"
    give(writer, d, f"L.matrices.multiply_sparse({arguments})", groups["D"])


def _load_rows(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    """ldmatrix: matrices of 8 x 8 16-bit elements, each row at an address that one thread gives."""
    address = writer.address(instruction.operands[1])
    if len(parts_of(instruction.operands[0])) != int(groups["count"]):
        raise PTXError(f"{groups['count']} registers are expected")
    more = f"{space_of(groups)!r}, {bool(groups.get('trans'))}, I, {writer.number}"
    give(
        writer, instruction.operands[0], f"L.matrices.load_rows({address}, {groups['count']}, {more})", "b32"
    )


def _store_rows(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    """stmatrix: the reverse."""
    items = parts_of(instruction.operands[1])
    if len(items) != int(groups["count"]):
        raise PTXError(f"{groups['count']} registers are expected")
    values = ", ".join(writer.read(item, TYPES["b32"]) for item in items)
    address = writer.address(instruction.operands[0])
    more = f"{space_of(groups)!r}, {bool(groups.get('trans'))}, I, {writer.number}"
    writer.line(f"L.matrices.store_rows({address}, ({values},), {more})")


def _tile(
    writer: BlockWriter,
    groups: dict[str, str],
    address: Operand,
    more: tuple[Operand, ...],
    count: int,
) -> str:
    """What loads and stores of tiles of `count` registers begin with: the tile, its address and stride."""
    stride = writer.read(more[0], TYPES["u32"]) if more else "None"
    is_row = groups["layout"] == "row"
    form = Tile(shape(groups), groups["which"], is_row, groups["T"], space_of(groups), count)
    return f"{writer.function.constant_object(form)}, {writer.address(address)}, {stride}"


def _load_tile(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    operands = instruction.operands
    tile = _tile(writer, groups, operands[1], operands[2:], len(parts_of(operands[0])))
    give(writer, operands[0], f"L.matrices.load_tile({tile}, I, {writer.number})", groups["T"])


def _store_tile(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    operands = instruction.operands
    rows, columns, _ = shape(groups)
    _require_registers(writer, operands[1], groups["T"], rows * columns)
    values = registers(writer, operands[1], groups["T"])
    tile = _tile(writer, groups, operands[0], operands[2:], len(parts_of(operands[1])))
    writer.line(f"L.matrices.store_tile({tile}, {values}, I, {writer.number})")


def _rules() -> list[Rule]:
    more: dict[str, Any] = {"has_effect": True, "copies": True, "convergence_mask": "all"}
    mma = "mma.sync.aligned.<shape:{}>.row.col"
    sparse = "mma.<sparse:sp|sp::ordered_metadata>.sync.aligned.<shape:{}>.row.col"
    wmma = "wmma.mma.sync.aligned.<a:row|col>.<b:row|col>.<shape:{}>"
    load = "wmma.load.<which:{}>.sync.aligned.<layout:row|col>.<shape:{}>" + _SPACE + ".<T:{}>"
    rules = [
        rule(
            "ldmatrix.sync.aligned.m8n8.x<count:1|2|4>[.trans][.space:shared::cta|shared].b16",
            emit=_load_rows,
            **more,
        ),
        rule(
            "stmatrix.sync.aligned.m8n8.x<count:1|2|4>[.trans][.space:shared::cta|shared].b16",
            emit=_store_rows,
            **more,
        ),
        rule(
            mma.format("m16n8k8|m16n8k16") + ".<D:f16|f32>.<A:f16>.<B:f16>.<C:f16|f32>",
            emit=_multiply,
            **more,
        ),
        rule(mma.format("m16n8k8|m16n8k16") + ".<D:f32>.<A:bf16>.<B:bf16>.<C:f32>", emit=_multiply, **more),
        rule(mma.format("m16n8k4|m16n8k8") + ".<D:f32>.<A:tf32>.<B:tf32>.<C:f32>", emit=_multiply, **more),
        rule(
            mma.format("m16n8k16|m16n8k32") + "[.satfinite].<D:s32>.<A:s8|u8>.<B:s8|u8>.<C:s32>",
            emit=_multiply,
            **more,
        ),
        rule(mma.format("m8n8k4") + ".<D:f64>.<A:f64>.<B:f64>.<C:f64>", emit=_multiply, **more),
        rule(
            mma.format("m16n8k4|m16n8k8|m16n8k16") + ".<D:f64>.<A:f64>.<B:f64>.<C:f64>",
            emit=_multiply,
            since=90,
            **more,
        ),
        rule(
            mma.format("m16n8k16|m16n8k32") + ".<D:f16|f32>.<A:e4m3|e5m2>.<B:e4m3|e5m2>.<C:f16|f32>",
            emit=_multiply,
            since=89,
            **more,
        ),
        rule(
            mma.format("m8n8k16") + "[.satfinite].<D:s32>.<A:s8|u8>.<B:s8|u8>.<C:s32>", emit=_multiply, **more
        ),
        rule(
            mma.format("m8n8k32|m16n8k32|m16n8k64") + "[.satfinite].<D:s32>.<A:s4|u4>.<B:s4|u4>.<C:s32>",
            emit=_multiply,
            **more,
        ),
        rule(
            mma.format("m8n8k128|m16n8k128|m16n8k256") + ".<D:s32>.<A:b1>.<B:b1>.<C:s32>.<bits:xor|and>.popc",
            emit=_multiply,
            **more,
        ),
        rule(
            sparse.format("m16n8k16|m16n8k32") + ".<D:f16|f32>.<A:f16>.<B:f16>.<C:f16|f32>",
            emit=_multiply_sparse,
            since=80,
            **more,
        ),
        rule(
            sparse.format("m16n8k16|m16n8k32") + ".<D:f32>.<A:bf16>.<B:bf16>.<C:f32>",
            emit=_multiply_sparse,
            since=80,
            **more,
        ),
        rule(
            sparse.format("m16n8k8|m16n8k16") + ".<D:f32>.<A:tf32>.<B:tf32>.<C:f32>",
            emit=_multiply_sparse,
            since=80,
            **more,
        ),
        rule(
            sparse.format("m16n8k32|m16n8k64") + "[.satfinite].<D:s32>.<A:s8|u8>.<B:s8|u8>.<C:s32>",
            emit=_multiply_sparse,
            since=80,
            **more,
        ),
        rule(
            sparse.format("m16n8k64|m16n8k128") + "[.satfinite].<D:s32>.<A:s4|u4>.<B:s4|u4>.<C:s32>",
            emit=_multiply_sparse,
            since=80,
            **more,
        ),
        rule(
            sparse.format("m16n8k64") + ".<D:f16|f32>.<A:e4m3|e5m2>.<B:e4m3|e5m2>.<C:f16|f32>",
            emit=_multiply_sparse,
            since=89,
            **more,
        ),
        rule(
            wmma.format("m8n8k32") + ".<D:s32>.<A:s4|u4>.<B:s4|u4>.<C:s32>[.satfinite]",
            emit=_multiply,
            **more,
        ),
        rule(
            wmma.replace(".sync", ".<bits:xor|and>.popc.sync").format("m8n8k128")
            + ".<D:s32>.<A:b1>.<B:b1>.<C:s32>",
            emit=_multiply,
            **more,
        ),
        rule(wmma.format(_WIDE["f16"]) + ".<D:f16|f32>.<C:f16|f32>", emit=_multiply, **more),
        rule(wmma.format(_WIDE["f16"]) + ".<D:f32>.<A:bf16>.<B:bf16>.<C:f32>", emit=_multiply, **more),
        rule(wmma.format(_WIDE["tf32"]) + ".<D:f32>.<A:tf32>.<B:tf32>.<C:f32>", emit=_multiply, **more),
        rule(
            wmma.format(_WIDE["f16"]) + ".<D:s32>.<A:s8|u8>.<B:s8|u8>.<C:s32>[.satfinite]",
            emit=_multiply,
            **more,
        ),
        rule(wmma.format(_WIDE["f64"]) + "[.rnd:rn].<D:f64>.<A:f64>.<B:f64>.<C:f64>", emit=_multiply, **more),
    ]
    for shapes, inner, outer in (
        (_WIDE["f16"], "f16|bf16|s8|u8", "f16|f32|s32"),
        (_WIDE["tf32"], "tf32", "f32"),
        (_WIDE["f64"], "f64", "f64"),
        ("m8n8k32", "s4|u4", "s32"),
        ("m8n8k128", "b1", "s32"),
    ):
        rules.append(rule(load.format("a|b", shapes, inner), emit=_load_tile, **more))
        rules.append(rule(load.format("c", shapes, outer), emit=_load_tile, **more))
        store = "wmma.store.<which:d>.sync.aligned.<layout:row|col>.<shape:{}>" + _SPACE + ".<T:{}>"
        rules.append(rule(store.format(shapes, outer), emit=_store_tile, **more))
    return rules


RULES = _rules()
