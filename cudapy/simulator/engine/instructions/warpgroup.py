"""Products of matrices by four warps, of which shared memory holds one or both factors.

Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..ptx.syntax import Integer, PTXError, Vector, parts_of
from .forms import WarpgroupProduct
from .matrix import shape
from .rule import rule

_TRANSPOSABLE = ("f16", "bf16")
"""Types whose matrices may be stored the other way round."""

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..ptx.syntax import Instruction, Operand


def _immediate(operands: list[Operand], allowed: tuple[int, ...]) -> int:
    operand = operands.pop(0)
    if not isinstance(operand, Integer) or operand.value not in allowed:
        raise PTXError(f"one of {', '.join(map(str, allowed))} is expected")
    return operand.value


class Warpgroup(NamedTuple):
    """wgmma.mma_async: d = a * b + d, or a * b where the predicate is false."""

    form: WarpgroupProduct
    d: Operand
    a: Operand
    """Registers, or a descriptor of shared memory."""
    b: Operand
    keeps: Operand
    """The predicate."""


def _product(instruction: Instruction, groups: dict[str, str]) -> Warpgroup:
    d, a, b, keeps, *more = instruction.operands
    n = shape(groups)[1]
    if len(parts_of(d)) != (n // 4 if groups["D"] == "f16" else n // 2):
        raise PTXError("the number of registers of d does not fit the shape")
    in_registers = isinstance(a, Vector)
    if in_registers and len(parts_of(a)) != 4:
        raise PTXError("4 registers of a are expected")
    signs, transposed = (1, 1), (0, 0)
    if groups["D"] != "s32":
        signs = _immediate(more, (1, -1)), _immediate(more, (1, -1))
    if groups["A"] in _TRANSPOSABLE:
        transposed = 0 if in_registers else _immediate(more, (0, 1)), _immediate(more, (0, 1))
    if more:
        raise PTXError("more operands than expected")
    kinds = groups["D"], groups["A"], groups["B"]
    form = WarpgroupProduct(shape(groups), kinds, signs, transposed, bool(groups.get("satfinite")))
    return Warpgroup(form, d, a, b, keeps)


_WIDTHS = range(8, 257, 8)
_INTEGER_WIDTHS = (8, 16, 24, *range(32, 257, 16))


def _shapes(depth: int, widths: Iterable[int] = _WIDTHS) -> str:
    return f"wgmma.mma_async.sync.aligned.<shape:{'|'.join(f'm64n{n}k{depth}' for n in widths)}>"


_MORE: dict[str, Any] = {
    "effect": "multiply_by_warpgroup",
    "describe": _product,
    "has_effect": True,
    "copies": True,
    "convergence_mask": "all",
}

RULES = [
    rule(f"{_shapes(16)}.<D:f16|f32>.<A:f16>.<B:f16>", **_MORE),
    rule(f"{_shapes(16)}.<D:f32>.<A:bf16>.<B:bf16>", **_MORE),
    rule(f"{_shapes(8)}.<D:f32>.<A:tf32>.<B:tf32>", **_MORE),
    rule(f"{_shapes(32)}.<D:f16|f32>.<A:e4m3|e5m2>.<B:e4m3|e5m2>", **_MORE),
    rule(f"{_shapes(32, _INTEGER_WIDTHS)}[.satfinite].<D:s32>.<A:s8|u8>.<B:s8|u8>", **_MORE),
    rule("wgmma.fence.sync.aligned", effect="nothing"),
    rule("wgmma.commit_group.sync.aligned", "-", "warpgroups.commit(lanes)", has_effect=True),
    rule("wgmma.wait_group.sync.aligned", "- n:number", "warpgroups.wait(n, lanes)", has_effect=True),
]
