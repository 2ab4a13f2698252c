"""Products of small matrices, whose parts the threads of a warp hold.

Source: PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ..arithmetic.fragments import elements
from ..ptx.syntax import Integer, PTXError, parts_of
from .accesses import space_of
from .forms import MatrixProduct, Tile
from .rule import Rule, rule

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..ptx.syntax import Instruction, Operand

_SPACE = "[.space:global|shared::cta|shared]"
_WIDE = {"f16": "m16n16k16|m32n8k16|m8n32k16", "tf32": "m16n16k8", "f64": "m8n8k4"}


def shape(groups: dict[str, str]) -> tuple[int, int, int]:
    """Rows and columns of the result, and the length of the sums."""
    m, n, k = map(int, re.findall(r"\d+", groups["shape"]))
    return m, n, k


def _require_registers(operand: Operand, kind: str, count: int, name: str = "") -> None:
    """Whether there are registers for a thread's part of `count` elements. Raises PTXError.

    Those of a and b of wmma have some elements of f16 twice.
    """
    wanted = 8 if name == "wmma" and kind == "f16" else max(count // 32 // elements(kind), 1)
    if len(parts_of(operand)) != wanted:
        raise PTXError(f"{wanted} registers are expected for {count} elements of {kind}")


def _kinds(groups: dict[str, str]) -> tuple[str, str, str, str]:
    """The types of elements of d, a, b and c."""
    a = groups.get("A") or "f16"
    return groups["D"], a, groups.get("B") or a, groups["C"]


def _product(instruction: Instruction, groups: dict[str, str]) -> MatrixProduct:
    """mma and wmma.mma: d = a * b + c."""
    d, a, b, c = instruction.operands
    m, n, k = shape(groups)
    kinds = _kinds(groups)
    _require_registers(a, kinds[1], m * k, instruction.name)
    _require_registers(b, kinds[2], k * n, instruction.name)
    _require_registers(c, kinds[3], m * n)
    _require_registers(d, kinds[0], m * n)
    return MatrixProduct(
        (m, n, k),
        kinds,
        registers=len(parts_of(d)),
        clamps=bool(groups.get("satfinite")),
        is_tiled=instruction.name == "wmma",
        bits=groups.get("bits", ""),
    )


_SPARSE_COLUMNS = {"tf32": 2, "s4": 8, "u4": 8}
"""Of how many columns four bits of metadata say which half is there; of other types 4."""


def _sparse_product(instruction: Instruction, groups: dict[str, str]) -> MatrixProduct:
    """mma.sp: of each row of a half is there, and metadata says which half."""
    d, a, b, c, _, selector = instruction.operands
    kinds, (m, n, depth) = _kinds(groups), shape(groups)
    choices = 16 * _SPARSE_COLUMNS.get(kinds[1], 4) // depth  # all threads of four have metadata of long sums
    if not isinstance(selector, Integer) or not 0 <= selector.value < choices:
        raise PTXError(f"the last operand, which chooses threads, is a number below {choices}")
    for one, kind, count in zip((d, a, b, c), kinds, (m * n, m * depth // 2, depth * n, m * n), strict=True):
        _require_registers(one, kind, count)
    return MatrixProduct(
        shape(groups),
        kinds,
        registers=len(parts_of(d)),
        clamps=bool(groups.get("satfinite")),
        selector=selector.value,
    )


def _row_count(instruction: Instruction, groups: dict[str, str]) -> int:
    """The matrices of ldmatrix and stmatrix, each of 8 x 8 16-bit elements: rows at addresses of threads."""
    count = int(groups["count"])
    data = instruction.operands[0 if instruction.name == "ldmatrix" else 1]
    if len(parts_of(data)) != count:
        raise PTXError(f"{count} registers are expected")
    return count


def _tile(instruction: Instruction, groups: dict[str, str]) -> Tile:
    """What wmma.load and wmma.store move."""
    data = instruction.operands[1 if groups["which"] == "d" else 0]
    rows, columns, _ = shape(groups)
    if groups["which"] == "d":
        _require_registers(data, groups["T"], rows * columns)
    is_row, count = groups["layout"] == "row", len(parts_of(data))
    return Tile(shape(groups), groups["which"], is_row, groups["T"], space_of(groups), count)


_MMA = "mma.sync.aligned.<shape:{}>.row.col"
_SPARSE = "mma.<sparse:sp|sp::ordered_metadata>.sync.aligned.<shape:{}>.row.col"
_WMMA = "wmma.mma.sync.aligned.<a:row|col>.<b:row|col>.<shape:{}>"
_WMMA_BITS = _WMMA.replace(".sync", ".<bits:xor|and>.popc.sync")
_PRODUCTS = (
    (_MMA, "m16n8k8|m16n8k16", ".<D:f16|f32>.<A:f16>.<B:f16>.<C:f16|f32>", 0),
    (_MMA, "m16n8k8|m16n8k16", ".<D:f32>.<A:bf16>.<B:bf16>.<C:f32>", 0),
    (_MMA, "m16n8k4|m16n8k8", ".<D:f32>.<A:tf32>.<B:tf32>.<C:f32>", 0),
    (_MMA, "m16n8k16|m16n8k32", "[.satfinite].<D:s32>.<A:s8|u8>.<B:s8|u8>.<C:s32>", 0),
    (_MMA, "m8n8k4", ".<D:f64>.<A:f64>.<B:f64>.<C:f64>", 0),
    (_MMA, "m16n8k4|m16n8k8|m16n8k16", ".<D:f64>.<A:f64>.<B:f64>.<C:f64>", 90),
    (_MMA, "m16n8k16|m16n8k32", ".<D:f16|f32>.<A:e4m3|e5m2>.<B:e4m3|e5m2>.<C:f16|f32>", 89),
    (_MMA, "m8n8k16", "[.satfinite].<D:s32>.<A:s8|u8>.<B:s8|u8>.<C:s32>", 0),
    (_MMA, "m8n8k32|m16n8k32|m16n8k64", "[.satfinite].<D:s32>.<A:s4|u4>.<B:s4|u4>.<C:s32>", 0),
    (_MMA, "m8n8k128|m16n8k128|m16n8k256", ".<D:s32>.<A:b1>.<B:b1>.<C:s32>.<bits:xor|and>.popc", 0),
    (_SPARSE, "m16n8k16|m16n8k32", ".<D:f16|f32>.<A:f16>.<B:f16>.<C:f16|f32>", 80),
    (_SPARSE, "m16n8k16|m16n8k32", ".<D:f32>.<A:bf16>.<B:bf16>.<C:f32>", 80),
    (_SPARSE, "m16n8k8|m16n8k16", ".<D:f32>.<A:tf32>.<B:tf32>.<C:f32>", 80),
    (_SPARSE, "m16n8k32|m16n8k64", "[.satfinite].<D:s32>.<A:s8|u8>.<B:s8|u8>.<C:s32>", 80),
    (_SPARSE, "m16n8k64|m16n8k128", "[.satfinite].<D:s32>.<A:s4|u4>.<B:s4|u4>.<C:s32>", 80),
    (_SPARSE, "m16n8k64", ".<D:f16|f32>.<A:e4m3|e5m2>.<B:e4m3|e5m2>.<C:f16|f32>", 89),
    (_WMMA, "m8n8k32", ".<D:s32>.<A:s4|u4>.<B:s4|u4>.<C:s32>[.satfinite]", 0),
    (_WMMA_BITS, "m8n8k128", ".<D:s32>.<A:b1>.<B:b1>.<C:s32>", 0),
    (_WMMA, _WIDE["f16"], ".<D:f16|f32>.<C:f16|f32>", 0),
    (_WMMA, _WIDE["f16"], ".<D:f32>.<A:bf16>.<B:bf16>.<C:f32>", 0),
    (_WMMA, _WIDE["tf32"], ".<D:f32>.<A:tf32>.<B:tf32>.<C:f32>", 0),
    (_WMMA, _WIDE["f16"], ".<D:s32>.<A:s8|u8>.<B:s8|u8>.<C:s32>[.satfinite]", 0),
    (_WMMA, _WIDE["f64"], "[.rnd:rn].<D:f64>.<A:f64>.<B:f64>.<C:f64>", 0),
)
"""Forms of products: shapes, what follows them, and the first architecture."""
_LOAD = "wmma.load.<which:{}>.sync.aligned.<layout:row|col>.<shape:{}>" + _SPACE + ".<T:{}>"
_STORE = "wmma.store.<which:d>.sync.aligned.<layout:row|col>.<shape:{}>" + _SPACE + ".<T:{}>"
_TILES = (
    (_WIDE["f16"], "f16|bf16|s8|u8", "f16|f32|s32"),
    (_WIDE["tf32"], "tf32", "f32"),
    (_WIDE["f64"], "f64", "f64"),
    ("m8n8k32", "s4|u4", "s32"),
    ("m8n8k128", "b1", "s32"),
)
"""Shapes, and the types of a and b, and of c and d."""
_WHOLE_WARP: dict[str, Any] = {"has_effect": True, "copies": True, "convergence_mask": "all"}


def _product_rule(form: str, shapes: str, rest: str, since: int) -> Rule:
    operands = "{d}:D.register {a}:A.register {b}:B.register {c}:C.register"
    expression = "matrices.multiply(form, (a, b, c), lanes, site)"
    describe: Callable[..., MatrixProduct] = _product
    if form == _SPARSE:
        operands += " m:b32 s:number"
        expression = "matrices.multiply_sparse(form, (a, b, c), m, lanes, site)"
        describe = _sparse_product
    pattern = form.format(shapes) + rest
    return rule(pattern, operands, expression, describe=describe, since=since, **_WHOLE_WARP)


def _tile_rules(shapes: str, inner: str, outer: str) -> list[Rule]:
    loads = (_LOAD.format("a|b", shapes, inner), _LOAD.format("c", shapes, outer))
    load = "{d}:T.register [a] s?:u32", "matrices.load_tile(form, a, s, lanes, site)"
    store = "- [a] {b}:T.register s?:u32", "matrices.store_tile(form, a, s, b, lanes, site)"
    return [
        *(rule(pattern, *load, describe=_tile, **_WHOLE_WARP) for pattern in loads),
        rule(_STORE.format(shapes, outer), *store, describe=_tile, **_WHOLE_WARP),
    ]


RULES = [
    rule(
        "ldmatrix.sync.aligned.m8n8.x<count:1|2|4>[.trans][.space:shared::cta|shared].b16",
        "{d}:b32 [a]",
        "matrices.load_rows(a, form, space, bool(trans), lanes, site)",
        describe=_row_count,
        **_WHOLE_WARP,
    ),
    rule(
        "stmatrix.sync.aligned.m8n8.x<count:1|2|4>[.trans][.space:shared::cta|shared].b16",
        "- [a] {b}:b32",
        "matrices.store_rows(a, b, space, bool(trans), lanes, site)",
        describe=_row_count,
        **_WHOLE_WARP,
    ),
    *(_product_rule(*product) for product in _PRODUCTS),
    *(one for tiles in _TILES for one in _tile_rules(*tiles)),
]
