"""The routines that the code of all regions shares. `layout` says what they take; rbx has its address.

The entry is `int enter(void *memory)`, which goes on where RESUME says.
"""

from __future__ import annotations

import contextlib
import functools
from typing import TYPE_CHECKING

from ..assembler.x86_64 import R8, R9, R10, R11, RAX, RBX, RCX, RDI, RDX, RSI, Assembler, At
from . import layout
from .layout import WIDE
from .processor import place_code

if TYPE_CHECKING:
    from collections.abc import Iterator

_CHUNK_COST = 16
"""What a chunk takes of the budget besides its blocks."""


@functools.cache
def routines() -> tuple[int, int, list[int]]:
    """The addresses of the entry, of what starts with the first chunk, and of all routines."""
    out = Assembler()
    names = ["leave", "schedule", "go_on", "diverge", "exit", "settle"]
    names += ["check_global", "check_shared", "check_local", "check_generic"]
    out.label("enter")
    out.push(RBX)
    out.word("mov", RBX, RDI)
    out.jump_to(At(RBX, layout.RESUME))
    _chunks(out)
    _schedule(out)
    _settle(out)
    _rows(out)
    _check_global(out)
    for name, window, size, base in (
        ("check_shared", None, layout.SHARED_SIZE, layout.SHARED_BASE),
        ("check_local", None, layout.LOCAL_SIZE, layout.LOCAL_BASE),
        ("check_in_shared", layout.SHARED_WINDOW, layout.SHARED_SIZE, layout.SHARED_BASE),
        ("check_in_local", layout.LOCAL_WINDOW, layout.LOCAL_SIZE, layout.LOCAL_BASE),
    ):
        out.label(name)
        _check_own(out, window, size, base)
    _check_generic(out)
    for size in (1, 2, 4, 8):
        names.append(f"load{size}")
        _load(out, size)
    for size in (1, 2, 4, 8):
        names.append(f"store{size}")
        _store(out, size)
    start = place_code(out.finish())
    return start + out.labels["enter"], start + out.labels["next"], [start + out.labels[one] for one in names]


def _chunks(out: Assembler) -> None:
    out.label("next")
    out.word("mov", RAX, At(RBX, layout.CHUNK))
    out.word("cmp", RAX, At(RBX, layout.CHUNKS))
    out.jump_if("ae", "all")
    out.number("sub", At(RBX, layout.BUDGET), _CHUNK_COST)
    out.jump_if("ns", "copy")
    out.load_label(RDX, "copy")
    out.keep(At(RBX, layout.RESUME), RDX)
    out.set(RAX, layout.BETWEEN)
    out.jump("leave")
    out.label("all")
    out.set(RAX, 0)
    out.label("leave")
    out.zeroupper()
    out.pop(RBX)
    out.ret()

    out.label("copy")
    _copies(out, layout.INS, layout.IN_COUNT, inward=True)
    out.word("mov", RAX, At(RBX, layout.CHUNK))
    out.number("add", RAX, 1)
    out.word("cmp", RAX, At(RBX, layout.CHUNKS))
    out.jump_if("e", "last")
    out.unary("broadcastd", 0, At(RBX, layout.ENTRY))
    out.vector("pcmpeqd", 1, 1, 1)
    for part in range(4):
        out.store("movups", At(RBX, layout.PLACE + 32 * part), 0)
        out.store("movups", At(RBX, layout.MASK + 32 * part), 1)
    out.put(At(RBX, layout.UNFINISHED), -1)
    out.put(At(RBX, layout.ACTIVE), -1)
    out.word("mov", RAX, At(RBX, layout.ENTRY))
    out.word("mov", RDX, At(RBX, layout.TABLE))
    out.jump_to(At(RDX, 0, RAX, 8))
    out.label("last")
    out.set(RDX, 0)
    for part in range(4):  # NOWHERE has its sign set
        out.unary("movups", 0, At(RBX, layout.LAST_PLACE + 32 * part))
        out.store("movups", At(RBX, layout.PLACE + 32 * part), 0)
        out.unary("movmskps", RAX, 0)
        out.shift_word("shl", RAX, 8 * part, wide=False)
        out.word("or", RDX, RAX, wide=False)
    out.invert(RDX)
    out.keep(At(RBX, layout.UNFINISHED), RDX, 4)
    out.jump("schedule")

    out.label("done")
    _copies(out, layout.OUTS, layout.OUT_COUNT, inward=False)
    out.word("mov", RAX, At(RBX, layout.CHUNK))
    out.word("mov", RDX, RAX)
    out.shift_word("shl", RDX, 7)
    out.word("add", RDX, At(RBX, layout.PLACES))
    for part in range(4):
        out.unary("movups", 0, At(RBX, layout.PLACE + 32 * part))
        out.store("movups", At(RDX, 32 * part), 0)
    out.number("add", RAX, 1)
    out.keep(At(RBX, layout.CHUNK), RAX)
    out.jump("next")


def _copies(out: Assembler, table: int, count: int, inward: bool) -> None:
    """Copy between arrays and homes: rsi is at an entry of the table, rdx at memory, rdi at a home."""
    loop, over, after = out.new_label(), out.new_label(), out.new_label()
    kinds = [out.new_label() for _ in range(5)]
    out.word("mov", RSI, At(RBX, table))
    out.word("mov", RCX, At(RBX, count))
    out.label(loop)
    out.test(RCX, RCX)
    out.jump_if("z", over)
    out.word("mov", RDX, At(RBX, layout.CHUNK))
    out.multiply(RDX, At(RSI, 8))
    out.word("add", RDX, At(RSI, 0))
    out.lea(RDI, At(RBX, 0))
    out.word("add", RDI, At(RSI, 16))
    out.word("mov", RAX, At(RSI, 24))
    for kind, label in enumerate(kinds):
        out.number("cmp", RAX, kind)
        out.jump_if("e", label)
    for kind, label in enumerate(kinds):
        out.label(label)
        _copy(out, kind, inward)
        out.jump(after)
    out.label(after)
    out.number("add", RSI, layout.COPY)
    out.number("sub", RCX, 1)
    out.jump(loop)
    out.label(over)


def _copy(out: Assembler, kind: int, inward: bool) -> None:
    if kind in (layout.AS_IT_IS, layout.AS_WIDE):
        source, target = (RDX, RDI) if inward else (RDI, RDX)
        for part in range(8 if kind == layout.AS_WIDE else 4):
            out.unary("movups", part, At(source, 32 * part))
        for part in range(8 if kind == layout.AS_WIDE else 4):
            out.store("movups", At(target, 32 * part), part)
        return
    size = 2 if kind == layout.AS_HALF else 1
    if inward:
        out.vector("pxor", 2, 2, 2)
        for part in range(4):
            out.unary("pmovzxwd" if size == 2 else "pmovzxbd", 0, At(RDX, 8 * size * part))
            if kind == layout.AS_BOOL:
                out.vector("psubd", 0, 2, 0)
            out.store("movups", At(RDI, 32 * part), 0)
        return
    loop = out.new_label()
    out.set(RAX, 0)
    out.label(loop)
    out.fetch(R9, At(RDI, 0, RAX, 4), 4)
    if kind == layout.AS_BOOL:
        out.number("and", R9, 1, wide=False)
    out.keep(At(RDX, 0, RAX, size), R9, size)
    out.number("add", RAX, 1)
    out.number("cmp", RAX, layout.LANES)
    out.jump_if("ne", loop)


def _schedule(out: Assembler) -> None:
    out.label("stop")
    out.load_label(RDX, "schedule")
    out.keep(At(RBX, layout.RESUME), RDX)
    out.set(RAX, layout.PAUSED)
    out.jump("leave")

    out.label("go_on")
    _move_lanes(out)
    out.jump("schedule")

    out.label("diverge")
    out.movd_in(0, RAX)
    out.unary("broadcastd", 0, 0)
    out.movd_in(1, RDX)
    out.unary("broadcastd", 1, 1)
    for part in range(4):
        out.unary("movups", 2, At(RBX, layout.CONDITION + 32 * part))
        out.vector("blendvps", 2, 1, 0, 2 << 4)
        _put_place(out, part, 2)
    out.jump("schedule")

    out.label("exit")
    _move_lanes(out)
    out.fetch(RAX, At(RBX, layout.ACTIVE), 4)
    out.invert(RAX)
    out.word("and", RAX, At(RBX, layout.UNFINISHED), wide=False)
    out.keep(At(RBX, layout.UNFINISHED), RAX, 4)

    out.label("schedule")
    out.fetch(RAX, At(RBX, layout.UNFINISHED), 4)
    out.test(RAX, RAX, wide=False)
    out.jump_if("z", "done")
    out.number("sub", At(RBX, layout.BUDGET), 1)
    out.jump_if("s", "stop")
    for part in range(4):
        out.unary("movups", part, At(RBX, layout.PLACE + 32 * part))
    out.vector("pminud", 4, 0, 1)
    out.vector("pminud", 5, 2, 3)
    out.vector("pminud", 4, 4, 5)
    out.unary("permq", 5, 4, 0x4E)
    out.vector("pminud", 4, 4, 5)
    out.unary("pshufd", 5, 4, 0x4E)
    out.vector("pminud", 4, 4, 5)
    out.unary("pshufd", 5, 4, 0xB1)
    out.vector("pminud", 4, 4, 5)
    out.movd(RAX, 4)
    out.set(RDX, 0)
    for part in range(4):
        out.vector("pcmpeqd", part, part, 4)
        out.store("movups", At(RBX, layout.MASK + 32 * part), part)
        out.unary("movmskps", RCX, part)
        if part:
            out.shift_word("shl", RCX, 8 * part, wide=False)
        out.word("or", RDX, RCX, wide=False)
    out.keep(At(RBX, layout.ACTIVE), RDX, 4)
    out.word("mov", RDX, At(RBX, layout.TABLE))
    out.jump_to(At(RDX, 0, RAX, 8))


def _move_lanes(out: Assembler) -> None:
    """The active lanes to place eax."""
    out.movd_in(0, RAX)
    out.unary("broadcastd", 0, 0)
    for part in range(4):
        _put_place(out, part, 0)


def _put_place(out: Assembler, part: int, place: int) -> None:
    """The place of those lanes of a part that are active."""
    out.unary("movups", 3, At(RBX, layout.PLACE + 32 * part))
    out.unary("movups", 4, At(RBX, layout.MASK + 32 * part))
    out.vector("blendvps", 3, 3, place, 4 << 4)
    out.store("movups", At(RBX, layout.PLACE + 32 * part), 3)


def _settle(out: Assembler) -> None:
    """The sign of a * b + (c - TINY) is exact: the difference is, as the sum nearly vanishes."""
    out.label("settle")
    saved = layout.VALUES + 7 * WIDE  # nothing is loaded or stored within straight-line code
    for register in range(8):
        out.store("movups", At(RBX, saved + 32 * register), register)
    result, a, b, c = (layout.MOVED + 32 * place for place in range(4))
    for half in (0, 16):
        out.unary("cvtps2pd", 0, At(RBX, result + half))
        out.unary("cvtps2pd", 1, At(RBX, a + half))
        out.unary("cvtps2pd", 2, At(RBX, b + half))
        out.unary("cvtps2pd", 3, At(RBX, c + half))
        out.vector("pcmpeqd", 4, 4, 4)
        out.shift("psllq", 4, 4, 63)
        out.vector("pand", 4, 4, 0)  # the sign of the result
        out.unary("broadcastq", 5, At(RBX, layout.TINY))
        out.vector("por", 5, 5, 4)
        out.vector("subpd", 3, 3, 5)
        out.vector("fmadd213pd", 1, 2, 3)
        out.vector("pxor", 1, 1, 4)
        out.vector("pxor", 5, 5, 5)
        out.vector("cmppd", 6 if half else 7, 1, 5, 0x11)  # less
    out.vector("shufps", 6, 7, 6, 0x88)
    out.unary("permq", 6, 6, 0xD8)
    out.unary("movups", 0, At(RBX, result))
    out.shift("pslld", 1, 0, 1)
    out.unary("broadcastd", 2, At(RBX, layout.LEAST))
    out.vector("pcmpeqd", 1, 1, 2)
    out.vector("pand", 6, 6, 1)
    out.vector("pcmpeqd", 1, 1, 1)
    out.shift("pslld", 1, 1, 31)
    out.vector("pand", 1, 1, 0)
    out.vector("blendvps", 0, 0, 1, 6 << 4)
    out.store("movups", At(RBX, result), 0)
    for register in range(8):
        out.unary("movups", register, At(RBX, saved + 32 * register))
    out.ret()


def _look(out: Assembler, has_base: bool) -> None:
    """Not zero if active addresses are below register 0, if it counts, or rax or more above it (above 0), or
    no multiples of r8. Changes rax and registers 1 to 8.
    """
    limit, bad, bits = 1, 2, 3
    some, looked = out.new_label(), out.new_label()
    out.movd_in(limit, RAX, wide=True)
    out.unary("broadcastq", limit, limit)
    out.vector("pxor", bad, bad, bad)
    out.vector("pxor", bits, bits, bits)
    out.number("cmp", At(RBX, layout.ACTIVE), -1, wide=False)
    out.jump_if("ne", some)
    for is_masked in (False, True):
        if is_masked:
            out.label(some)
        for part in range(8):  # what is wrong has its sign set
            address, offset = 4, 5 if has_base else 4
            out.unary("movups", address, At(RBX, layout.ADDRESS + 32 * part))
            if has_base:
                out.vector("psubq", offset, address, 0)
            out.vector("psubq", 6, limit, offset)
            out.vector("por", 6, 6, offset)
            if is_masked:
                out.unary("pmovsxdq", 7, At(RBX, layout.MASK + 16 * part))
                out.vector("pand", 6, 6, 7)
                out.vector("pand", address, address, 7)
            out.vector("por", bad, bad, 6)
            out.vector("por", bits, bits, address)
        if not is_masked:
            out.jump(looked)
    out.label(looked)
    out.lea(RAX, At(R8, -1))
    out.movd_in(4, RAX, wide=True)
    out.unary("broadcastq", 4, 4)
    out.vector("pand", bits, bits, 4)
    out.vector("pxor", 8, 8, 8)
    out.vector("psubq", bits, 8, bits)
    out.vector("por", bad, bad, bits)
    out.unary("movmskpd", RAX, bad)
    out.test(RAX, RAX)


def _look_at_row(out: Assembler, base: At | None, failed: str) -> None:
    """Go to `failed` where that is the case, if ROW is not 0: the first address and the last count. Changes
    rcx and rsi.
    """
    same = out.new_label()
    out.word("mov", RCX, At(RBX, layout.ADDRESS))
    out.lea(RSI, At(R8, -1))
    out.test(RSI, RCX)
    out.jump_if("nz", failed)
    if base is not None:
        out.word("sub", RCX, base)
        out.jump_if("b", failed)
    out.word("cmp", RCX, RAX)
    out.jump_if("a", failed)
    out.number("cmp", At(RBX, layout.ROW), layout.SAME, wide=False)
    out.jump_if("e", same)
    out.word("mov", RSI, R8)
    out.shift_word("shl", RSI, 5)
    out.word("sub", RSI, R8)
    out.word("add", RCX, RSI)
    out.jump_if("b", failed)
    out.word("cmp", RCX, RAX)
    out.jump_if("a", failed)
    out.label(same)


def _check_global(out: Assembler) -> None:
    out.label("check_global")
    out.set(R9, 0)
    out.call("rows")
    out.label("again")
    out.word("mov", RAX, At(RDX, 8))
    out.word("sub", RAX, R8)
    out.jump_if("l", "find")
    out.number("cmp", At(RBX, layout.ROW), 0, wide=False)
    out.jump_if("e", "each")
    _look_at_row(out, At(RDX, 0), "find")
    out.set(RAX, 0)
    out.ret()
    out.label("each")
    out.unary("broadcastq", 0, At(RDX, 0))
    _look(out, has_base=True)
    out.jump_if("nz", "find")
    out.ret()
    # the allocation of the first active lane: the last one that does not start behind its address
    out.label("find")
    out.set(RAX, 1)
    out.test(R9, R9)
    out.jump_if("nz", "found")
    out.set(R9, 1)
    _first_address(out)
    out.word("mov", RSI, At(RBX, layout.STARTS))
    out.set(R10, 0)
    out.word("mov", R11, At(RBX, layout.ALLOCATIONS))
    out.label("halve")
    out.word("cmp", R10, R11)
    out.jump_if("ae", "halved")
    out.lea(RAX, At(R10, 0, R11, 1))
    out.shift_word("shr", RAX, 1)
    out.word("cmp", RCX, At(RSI, 0, RAX, 8))
    out.jump_if("b", "lower")
    out.lea(R10, At(RAX, 1))
    out.jump("halve")
    out.label("lower")
    out.word("mov", R11, RAX)
    out.jump("halve")
    out.label("halved")
    out.set(RAX, 1)
    out.number("sub", R10, 1)
    out.jump_if("s", "found")
    out.word("mov", RSI, At(RSI, 0, R10, 8))
    out.word("mov", R11, At(RBX, layout.ENDS))
    out.word("mov", R11, At(R11, 0, R10, 8))
    out.word("cmp", RCX, R11)
    out.jump_if("ae", "found")
    out.word("sub", R11, RSI)
    out.keep(At(RDX, 0), RSI)
    out.keep(At(RDX, 8), R11)
    out.jump("again")
    out.label("found")
    out.ret()


def _check_own(out: Assembler, window: int | None, size: int, base: int) -> None:
    """Addresses in memory of which each lane, or its block, has some for itself."""
    each, good, again, failed = (out.new_label() for _ in range(4))
    out.word("mov", RAX, At(RBX, size))
    out.word("sub", RAX, R8)
    out.jump_if("l", failed)
    out.word("mov", R9, RAX)
    out.call("rows")
    out.word("mov", RAX, R9)
    if window is not None:
        out.unary("broadcastq", 0, At(RBX, window))
    out.number("cmp", At(RBX, layout.ROW), 0, wide=False)
    out.jump_if("e", each)
    _look_at_row(out, None if window is None else At(RBX, window), failed)
    out.jump(good)
    out.label(each)
    _look(out, has_base=window is not None)
    out.jump_if("nz", failed)
    out.label(good)
    for part in range(8):
        out.unary("movups", 4, At(RBX, layout.ADDRESS + 32 * part))
        if window is not None:
            out.vector("psubq", 4, 4, 0)
        out.vector("paddq", 4, 4, At(RBX, base + 32 * part))
        out.store("movups", At(RBX, layout.ADDRESS + 32 * part), 4)
    if base == layout.SHARED_BASE:  # a warp has one, so that its row stays one
        out.number("cmp", At(RBX, layout.ALIGNED), 1, wide=False)
        out.jump_if("ne", again)
        out.set(RAX, 0)
        out.ret()
    out.label(again)
    out.call("rows")
    out.set(RAX, 0)
    out.ret()
    out.label(failed)
    out.set(RAX, 1)
    out.ret()


def _first_address(out: Assembler) -> None:
    """That of the first active lane, into rcx."""
    out.fetch(RCX, At(RBX, layout.ACTIVE), 4)
    out.lowest_bit(RCX, RCX)
    out.word("mov", RCX, At(RBX, layout.ADDRESS, RCX, 8))


def _check_generic(out: Assembler) -> None:
    """The window of the first active lane says where to look."""
    out.label("check_generic")
    _first_address(out)
    out.word("cmp", RCX, At(RBX, layout.SHARED_WINDOW))
    out.jump_if("b", "check_global")
    out.word("cmp", RCX, At(RBX, layout.LOCAL_WINDOW))
    out.jump_if("b", "check_in_shared")
    out.jump("check_in_local")


@contextlib.contextmanager
def each_active_lane(out: Assembler, address: int) -> Iterator[None]:
    """A loop: the number of the lane is in rdx, its ADDRESS in `address`. Uses rcx and r10."""
    loop = out.new_label()
    out.fetch(RCX, At(RBX, layout.ACTIVE), 4)
    out.label(loop)
    out.lowest_bit(RDX, RCX)
    out.word("mov", address, At(RBX, layout.ADDRESS, RDX, 8))
    yield
    out.clear_lowest_bit(RCX, R10)
    out.jump_if("nz", loop)


def _rows(out: Assembler) -> None:
    """Set ROW if all lanes are active: to r8 if they lie so far apart, one after the other, to SAME if not at
    all; else to 0. Changes rax, rcx and registers 0 to 2.
    """
    near, verified = out.new_label(), out.new_label()
    out.label("rows")
    out.put(At(RBX, layout.ROW), 0)
    out.number("cmp", At(RBX, layout.ACTIVE), -1, wide=False)
    out.jump_if("ne", "scattered")
    out.unary("broadcastq", 0, At(RBX, layout.ADDRESS))
    out.vector("pcmpeqd", 2, 2, 2)
    out.word("mov", RCX, At(RBX, layout.ADDRESS + 8))
    out.word("sub", RCX, At(RBX, layout.ADDRESS))
    out.jump_if("nz", near)
    for part in range(8):
        out.vector("pcmpeqq", 1, 0, At(RBX, layout.ADDRESS + 32 * part))
        out.vector("pand", 2, 2, 1)
    out.set(RCX, layout.SAME & 0xFFFFFFFF)
    out.jump(verified)
    out.label(near)
    out.word("cmp", RCX, R8)
    out.jump_if("ne", "scattered")
    out.lowest_bit(RAX, R8)
    out.shift_word("shl", RAX, WIDE.bit_length() - 1)
    out.lea(RAX, At(RBX, layout.STEPS, RAX, 1))
    for part in range(8):
        out.vector("paddq", 1, 0, At(RAX, 32 * part))
        out.vector("pcmpeqq", 1, 1, At(RBX, layout.ADDRESS + 32 * part))
        out.vector("pand", 2, 2, 1)
    out.label(verified)
    out.unary("movmskpd", RAX, 2)
    out.number("cmp", RAX, 15, wide=False)
    out.jump_if("ne", "scattered")
    out.keep(At(RBX, layout.ROW), RCX, 4)
    out.label("scattered")
    out.ret()


def _load(out: Assembler, size: int) -> None:
    out.label(f"load{size}")
    other, all_lanes, some = (out.new_label() for _ in range(3))
    wide = size == 8
    out.number("cmp", At(RBX, layout.ROW), size, wide=False)
    out.jump_if("ne", other)
    out.word("mov", RAX, At(RBX, layout.ADDRESS))
    out.word("add", RAX, R8)
    if size in (4, 8):
        for part in range(size):
            out.unary("movups", part, At(RAX, 32 * part))
    else:
        for part in range(4):
            out.unary("pmovzxwd" if size == 2 else "pmovzxbd", part, At(RAX, 8 * size * part))
    for line in range(max(size // 2, 1)):  # of the next warp: in a loop, that comes long after this one
        out.prefetch(At(RAX, 32 * size + 64 * line))
    for part in range(max(size, 4)):
        out.store("movups", At(RDI, 32 * part), part)
    out.ret()
    out.label(other)
    out.number("cmp", At(RBX, layout.ROW), layout.SAME, wide=False)
    out.jump_if("ne", all_lanes)
    out.word("mov", RAX, At(RBX, layout.ADDRESS))
    _spread(out, 0, At(RAX, 0, R8, 1), size)
    for part in range(max(size, 4)):
        out.store("movups", At(RDI, 32 * part), 0)
    out.ret()
    out.label(all_lanes)
    out.number("cmp", At(RBX, layout.ACTIVE), -1, wide=False)
    out.jump_if("ne", some)
    beside = 4 if wide else 8
    for part in range(32 // beside):
        for place in range(beside):
            out.word("mov", RAX, At(RBX, layout.ADDRESS + 8 * (beside * part + place)))
            _spread(out, 1 if place else 0, At(RAX, 0, R8, 1), size)
            if place:
                out.vector("pblendd", 0, 0, 1, 3 << 2 * place if wide else 1 << place)
        out.store("movups", At(RDI, 32 * part), 0)
    out.ret()
    out.label(some)
    with each_active_lane(out, RAX):
        out.fetch(RAX, At(RAX, 0, R8, 1), size)
        out.keep(At(RDI, 0, RDX, max(size, 4)), RAX, max(size, 4))
    out.ret()


def _spread(out: Assembler, target: int, source: At, size: int) -> None:
    """A number in memory to all places of a vector. Changes rax, if it is a small one."""
    if size < 4:
        out.fetch(RAX, source, size)
        out.movd_in(target, RAX)
        out.unary("broadcastd", target, target)
    else:
        out.unary("broadcastq" if size == 8 else "broadcastd", target, source)


def _store(out: Assembler, size: int) -> None:
    """Of several for one address the last lane's stays."""
    out.label(f"store{size}")
    several, some = out.new_label(), out.new_label()
    if size >= 4:
        out.number("cmp", At(RBX, layout.ROW), size, wide=False)
        out.jump_if("ne", several)
        out.word("mov", RAX, At(RBX, layout.ADDRESS))
        out.word("add", RAX, R8)
        for part in range(size):
            out.unary("movups", part, At(RDI, 32 * part))
        for part in range(size):
            out.store("movups", At(RAX, 32 * part), part)
        out.ret()
    out.label(several)
    out.number("cmp", At(RBX, layout.ACTIVE), -1, wide=False)
    out.jump_if("ne", some)
    for lane in range(layout.LANES):
        out.word("mov", RAX, At(RBX, layout.ADDRESS + 8 * lane))
        out.fetch(R9, At(RDI, max(size, 4) * lane), max(size, 4))
        out.keep(At(RAX, 0, R8, 1), R9, size)
    out.ret()
    out.label(some)
    with each_active_lane(out, RAX):
        out.fetch(R9, At(RDI, 0, RDX, max(size, 4)), max(size, 4))
        out.keep(At(RAX, 0, R8, 1), R9, size)
    out.ret()
