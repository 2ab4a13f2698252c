"""The check for undefined bytes in machine code: registers of a region have none.

A load whose bytes are all defined, and a store, which defines them, are made. Lanes of which one loads
undefined bytes leave the region before that: each load is a block of its own then.

Source: `run/undefined.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..access import READ, WRITE
from ..assembler.x86_64 import R9, R11, RAX, RBX, RCX, RDX, RSI, YMM, Assembler, At
from . import layout
from .library import each_active_lane

if TYPE_CHECKING:
    from ..instructions.accesses import MemoryAccess
    from .lanes import CodeContext

_DISTANCES = {"shared": layout.SHARED_UNDEFINED, "local": layout.LOCAL_UNDEFINED}


def check(context: CodeContext, access: MemoryAccess, size: int, failed: str) -> None:
    """Whether bytes that are read are defined, behind the check of bounds; a store defines its own."""
    if access.space == "const":
        return
    out, good = context.out, context.out.new_label()
    _find_distance(context, access.space)
    out.test(R9, R9)
    out.jump_if("z", good)
    if access.mode == WRITE:
        _define(out, size, good)
    else:
        undefined = context.leave_before() if access.mode == READ else None
        _require_defined(out, size, good, undefined or failed)
    out.label(good)


def _find_distance(context: CodeContext, space: str) -> None:
    """How far behind memory its shadow lies, into r9; 0 if it has none."""
    out = context.out
    of_allocation = At(RBX, context.found + layout.FOUND_UNDEFINED)
    if space != "generic":
        place = _DISTANCES.get(space)
        out.word("mov", R9, of_allocation if place is None else At(RBX, place))
        return
    known = out.new_label()
    out.fetch(RCX, At(RBX, layout.ACTIVE), 4)
    out.lowest_bit(RCX, RCX)
    out.word("mov", RCX, At(RBX, layout.ASKED, RCX, 8))
    out.word("mov", R9, At(RBX, layout.LOCAL_UNDEFINED))
    out.word("cmp", RCX, At(RBX, layout.LOCAL_WINDOW))
    out.jump_if("ae", known)
    out.word("mov", R9, At(RBX, layout.SHARED_UNDEFINED))
    out.word("cmp", RCX, At(RBX, layout.SHARED_WINDOW))
    out.jump_if("ae", known)
    out.word("mov", R9, of_allocation)
    out.label(known)


def _require_defined(out: Assembler, size: int, good: str, undefined: str) -> None:
    scattered, same = out.new_label(), out.new_label()
    bits, more = YMM[:2]
    out.number("cmp", At(RBX, layout.ROW), size, wide=False)
    out.jump_if("ne", scattered)
    out.word("mov", RSI, At(RBX, layout.ADDRESS))
    out.word("add", RSI, R9)
    out.unary("movups", bits, At(RSI, 0))
    for part in range(1, size):  # of 32 lanes
        out.unary("movups", more, At(RSI, 32 * part))
        out.vector("por", bits, bits, more)
    out.unary("ptest", bits, bits)
    out.jump_if("nz", undefined)
    out.jump(good)
    out.label(scattered)
    out.number("cmp", At(RBX, layout.ROW), layout.SAME, wide=False)
    out.jump_if("e", same)
    some, four = out.new_label(), out.new_label()
    out.number("cmp", At(RBX, layout.ACTIVE), -1, wide=False)
    out.jump_if("ne", some)
    out.set(RCX, 0)
    out.set(RDX, 0)
    out.label(four)
    for lane in range(4):
        out.word("mov", RSI, At(RBX, layout.ADDRESS + 8 * lane, RDX, 8))
        for offset in range(0, size, min(size, 8)):
            out.fetch(RAX, At(RSI, offset, R9, 1), min(size, 8))
            out.word("or", RCX, RAX)
    out.number("add", RDX, 4)
    out.number("cmp", RDX, layout.LANES)
    out.jump_if("ne", four)
    out.test(RCX, RCX)
    out.jump_if("nz", undefined)
    out.jump(good)
    out.label(some)
    with each_active_lane(out, RSI):
        out.word("add", RSI, R9)
        _require_lane(out, size, undefined)
    out.jump(good)
    out.label(same)
    out.word("mov", RSI, At(RBX, layout.ADDRESS))
    out.word("add", RSI, R9)
    _require_lane(out, size, undefined)


def _require_lane(out: Assembler, size: int, undefined: str) -> None:
    """The bytes of one lane, whose shadow is at rsi."""
    width = min(size, 8)
    for offset in range(0, size, width):
        out.fetch(RAX, At(RSI, offset), width)
        out.test(RAX, RAX)
        out.jump_if("nz", undefined)


def _define(out: Assembler, size: int, good: str) -> None:
    scattered, zero = out.new_label(), YMM[0]
    out.number("cmp", At(RBX, layout.ROW), size, wide=False)
    out.jump_if("ne", scattered)
    out.word("mov", RSI, At(RBX, layout.ADDRESS))
    out.word("add", RSI, R9)
    out.vector("pxor", zero, zero, zero)
    for part in range(size):
        out.store("movups", At(RSI, 32 * part), zero)
    out.jump(good)
    out.label(scattered)
    out.set(R11, 0)
    with each_active_lane(out, RSI):
        out.word("add", RSI, R9)
        width = min(size, 8)
        for offset in range(0, size, width):
            out.keep(At(RSI, offset), R11, width)
