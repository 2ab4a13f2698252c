"""Atomics, lane after lane."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..assembler.x86_64 import R9, R10, R11, RAX, RBX, RDX, RSI, Assembler, At
from . import layout
from .library import each_active_lane

if TYPE_CHECKING:
    from ..ptx.types import Type
    from .lanes import CodeContext

_KEEPS_OLD = {"min": ("be", "le"), "max": ("ae", "ge")}
"""When what is there stays, of unsigned and of signed numbers."""
_AT_ONCE = 4
"""Lanes of one turn of a loop, where all are active."""
_EXPONENT, _SIGN, _NAN = 0x7F800000, -0x80000000, 0x7FFFFFFF


def write_atomic(
    out: Assembler, op: str, kind: Type, space: str, values: int, found: int, context: CodeContext
) -> None:
    """Combine what lies at ADDRESS with the array `values`; what was there goes to the array `found`."""
    with each_active_lane(out, RSI):
        _combine(out, op, kind, space, values, found, context)


def write_reduction(out: Assembler, op: str, kind: Type, values: int, is_own: bool) -> None:
    """Combine integers at ADDRESS, which are the block's `own`, or which other threads combine, too, with the
    array `values`.
    """
    wide, scattered, end = kind.size == 8, out.new_label(), out.new_label()
    if op not in _KEEPS_OLD:
        out.number("cmp", At(RBX, layout.ACTIVE), -1, wide=False)
        out.jump_if("ne", scattered)
        again = out.new_label()
        out.set(RDX, 0)
        out.label(again)
        for lane in range(_AT_ONCE):
            out.word("mov", RSI, At(RBX, layout.ADDRESS + 8 * lane, RDX, 8))
            out.fetch(R9, At(RBX, values + kind.size * lane, RDX, kind.size), kind.size)
            out.combine(op, At(RSI, 0), R9, wide, is_locked=not is_own)
        out.number("add", RDX, _AT_ONCE, wide=False)
        out.number("cmp", RDX, layout.LANES, wide=False)
        out.jump_if("ne", again)
        out.jump(end)
    out.label(scattered)
    with each_active_lane(out, RSI):
        out.fetch(R9, At(RBX, values, RDX, kind.size), kind.size)
        if op in _KEEPS_OLD:
            again, over = out.new_label(), out.new_label()
            out.fetch(RAX, At(RSI, 0), kind.size)
            out.label(again)
            out.word("cmp", RAX, R9, wide)
            out.jump_if(_KEEPS_OLD[op][kind.kind == "s"], over)
            out.exchange_if_equal(At(RSI, 0), R9, wide)
            out.jump_if("ne", again)
            out.label(over)
        else:
            out.combine(op, At(RSI, 0), R9, wide, is_locked=not is_own)
    out.label(end)


def _combine(
    out: Assembler, op: str, kind: Type, space: str, values: int, found: int, context: CodeContext
) -> None:
    """Combine the value of lane rdx, at rsi."""
    wide, scale = kind.size == 8, kind.size
    out.fetch(R9, At(RBX, values, RDX, scale), kind.size)
    out.fetch(RAX, At(RSI, 0), kind.size)
    out.keep(At(RBX, found, RDX, scale), RAX, kind.size)
    if kind.kind == "f":
        if wide:
            _add64(out, space == "global", context.constant(0x7FF << 53, 8))
        else:
            _add32(out, space == "global")
    elif op in _KEEPS_OLD:
        over = out.new_label()
        out.word("cmp", RAX, R9, wide)
        out.jump_if(_KEEPS_OLD[op][kind.kind == "s"], over)
        out.word("mov", RAX, R9, wide)
        out.label(over)
    else:
        out.word(op, RAX, R9, wide)
    out.keep(At(RSI, 0), RAX, kind.size)


def _add32(out: Assembler, flushes: bool) -> None:
    """Of rax and r9, into rax."""
    for register in (RAX, R9) if flushes else ():
        _flush(out, register)
    out.movd_in(0, RAX)
    out.movd_in(1, R9)
    out.vector("addps", 0, 0, 1)
    out.movd(RAX, 0)
    over = out.new_label()
    out.word("mov", R10, RAX, wide=False)
    out.number("and", R10, _NAN, wide=False)
    out.number("cmp", R10, _EXPONENT, wide=False)
    out.jump_if("be", over)
    out.set(RAX, _NAN)
    out.label(over)
    if flushes:
        _flush(out, RAX)


def _flush(out: Assembler, register: int) -> None:
    over = out.new_label()
    out.word("mov", R10, register, wide=False)
    out.number("and", R10, _EXPONENT, wide=False)
    out.jump_if("nz", over)
    out.number("and", register, _SIGN, wide=False)
    out.label(over)


def _add64(out: Assembler, keeps_nan: bool, infinity: int) -> None:
    """Of rax and r9, into rax. infinity: the offset of its bits without the sign, moved up by one."""
    out.word("mov", R11, RAX)
    out.movd_in(0, RAX, wide=True)
    out.movd_in(1, R9, wide=True)
    out.vector("addpd", 0, 0, 1)  # of two NaN the first, which was there
    out.movd(RAX, 0, wide=True)
    if keeps_nan:
        over, old = out.new_label(), out.new_label()
        for value, after in ((R9, old), (R11, over)):
            out.lea(R10, At(value, 0, value, 1))
            out.word("cmp", R10, At(RBX, infinity))
            out.jump_if("be", after)
            out.word("mov", RAX, value)
            out.jump(over)
            out.label(after)
