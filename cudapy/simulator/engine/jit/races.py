"""The check for races in machine code, as far as barriers of whole blocks order threads.

An access is plainly good where what `run/shadow.py` has of its places is ordered before it: made by the
thread itself, or by its block before the block's last barrier. The code then enters the access there, as the
detector would. Everything else is the detector's: what it orders by warps, fences and clocks, and what it
reports.

Source: `run/race_detector.py`; FastTrack (Flanagan and Freund, 2009), "same epoch" and "ordered" cases.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from ..access import ATOMIC, READ
from ..assembler.x86_64 import (
    R8,
    R9,
    R10,
    R11,
    R12,
    R13,
    R14,
    R15,
    RAX,
    RBP,
    RBX,
    RCX,
    RDI,
    RDX,
    RSI,
    YMM,
    Assembler,
    At,
)
from ..run.shadow import ROW, STRETCH
from . import layout
from .layout import WIDE
from .race_bands import (
    PLACE,
    READ_ONLY,
    ROUTINES,
    ROW_KINDS,
    SHADOW_AT,
    find_chunk,
    note_written,
    row_routine,
    write_band,
    write_row,
)
from .race_tables import (
    BLOCK,
    COUNT,
    FIRST_READS,
    LAST_READS,
    MET,
    OF_BLOCKS,
    OWN,
    RECORDS,
    ROWS,
    SHIFT,
    SITES,
    START,
    TIME,
    TOUCHED,
    WRITES,
    WRITTEN,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..assembler.code import Register
    from ..instructions.accesses import MemoryAccess
    from .lanes import CodeContext

_SAVED = (RBP, R12, R13, R14, R15)
_CHANGED = (RAX, RCX, RDX, RSI, RDI, R8, R9, R10, R11, *YMM[:14])

LAST_TIME = 0x7FFFFFFF
"""Times are compared as numbers with a sign."""
_LANES, _STEPS, _EPOCH, _SITE, _CHUNK_AT, _OWN_FIRST = R13, R15, R11, R9, RBP, R14
_MOST_STEPS = 4
"""Parts of the memory that a store may write in each lane."""
_CELL = RDI
_PARTS = ROW // 4
"""Vectors of the epochs of a row."""
_ROW_BITS = ROW.bit_length() - 1
_OLD, _OLD_SITES = layout.LOADED, layout.LOADED + _MOST_STEPS * WIDE
"""What a store has replaced: nothing is loaded meanwhile."""
_STOP, _OPENED, _IS_BEFORE = layout.MOVED, layout.MOVED + 16, layout.MOVED + 24
"""The step of a lane, the row that was opened last, and a number below 0 if no write can race with a read."""


def check(context: CodeContext, access: MemoryAccess, size: int, failed: str) -> None:
    """Whether everything orders the access, behind that of bounds."""
    if access.space in ("local", "const"):
        return
    out, good = context.out, context.out.new_label()
    if is_calm(access, context.is_calm):
        out.number("cmp", At(RBX, layout.CALM), 0)
        out.jump_if("ne", good)
    if access.mode == ATOMIC and (access.order not in ("", "relaxed") or access.scope in ("cta", "cluster")):
        out.jump(failed)
        return
    if access.space == "generic":
        own, found = out.new_label(), out.new_label()
        out.fetch(RCX, At(RBX, layout.ACTIVE), 4)
        out.lowest_bit(RCX, RCX)
        out.word("mov", RCX, At(RBX, layout.ASKED, RCX, 8))
        out.word("cmp", RCX, At(RBX, layout.LOCAL_WINDOW))
        out.jump_if("ae", good)
        out.word("cmp", RCX, At(RBX, layout.SHARED_WINDOW))
        out.jump_if("ae", own)
        out.word("mov", RDX, At(RBX, context.found + layout.FOUND_SHADOW))
        out.jump(found)
        out.label(own)
        out.word("mov", RDX, At(RBX, layout.SHARED_SHADOW))
        out.label(found)
    else:
        is_shared = access.space == "shared"
        place = layout.SHARED_SHADOW if is_shared else context.found + layout.FOUND_SHADOW
        out.word("mov", RDX, At(RBX, place))
    out.set(R8, size)
    out.fetch(R9, At(RBX, context.room_for_site(access.mode)), 4)
    out.call_at(At(RBX, layout.ROUTINES + 8 * (layout.RACE_READ + _kind(access))))
    out.test(RAX, RAX, wide=False)
    out.jump_if("nz", failed)
    out.label(good)


def check_row(out: Assembler, access: MemoryAccess, shadow: At, site: int, failed: str) -> None:
    """Whether everything orders the access of a whole warp from address rsi on."""
    out.word("mov", RDX, shadow)
    out.set(R8, access.kind.size)
    out.fetch(R9, At(RBX, site), 4)
    out.call_at(At(RBX, layout.ROUTINES + 8 * (layout.RACE_ROW + ROW_KINDS.index(_kind(access)))))
    out.test(RAX, RAX, wide=False)
    out.jump_if("nz", failed)


def _kind(access: MemoryAccess) -> int:
    return READ_ONLY if access.is_read_only else access.mode


def note(out: Assembler, field: int) -> None:
    """Count the time of the detector, which is when the warp at hand did what `field` has."""
    find_chunk(out, RAX)
    out.word("mov", RCX, At(RBX, layout.LEADER))
    out.word("mov", RDX, At(RCX, layout.RACE_TIME))
    out.number("add", RDX, 1)
    out.keep(At(RCX, layout.RACE_TIME), RDX)
    out.keep(At(RAX, OWN), RDX, 4)
    out.keep(At(RAX, field), RDX)


def require_order(out: Assembler, otherwise: str) -> None:
    """Go to `otherwise` unless the detector can be told later what ordered threads."""
    out.number("cmp", At(RBX, layout.CHUNK_ORDERS), 0)
    out.jump_if("e", otherwise)
    out.word("mov", RAX, At(RBX, layout.LEADER))
    out.number("cmp", At(RAX, layout.RACE_TIME), LAST_TIME)
    out.jump_if("ge", otherwise)


def is_calm(access: MemoryAccess, block_is: bool) -> bool:
    """Whether an access reads shared memory in a block that is calm: see `phases`."""
    return block_is and access.space == "shared" and access.mode == READ


def write_routines(out: Assembler) -> None:
    """Routines that enter an access of r8 bytes at ADDRESS into the shadow described at rdx, with the number
    of its site in r9. eax is 0 if that is all; else nothing was entered that the detector would not enter.
    """
    write_band(out)
    _write_open(out)
    _write_parts(out)
    for kind in ROW_KINDS:
        write_row(out, kind)
    for kind, name in ROUTINES.items():
        is_read_only = kind == READ_ONLY
        mode = READ if is_read_only else kind
        with out.routine(name, takes=(R8, R9, RDX), clobbers=_CHANGED):
            if mode != ATOMIC:
                out.word("cmp", R8, At(RBX, layout.ROW), wide=False)
                out.jump_if("ne", "not a row")
                out.word("mov", RSI, At(RBX, layout.ADDRESS))
                out.call(row_routine(kind))
                out.test(RAX, RAX, wide=False)
                out.jump_if("z", "over")
                out.label("not a row")
            out.number("cmp", At(RBX, layout.ALIGNED), 1, wide=False)
            out.jump_if("ne", "refused")
            out.number("cmp", At(RBX, layout.CHUNK_ORDERS), 0)
            out.jump_if("e", "refused")
            out.number("cmp", At(RDX, WRITES), 0)
            out.jump_if("e", "refused")
            for register in _SAVED:
                out.push(register)
            find_chunk(out, _CHUNK_AT)
            out.word("mov", SHADOW_AT, RDX)
            out.word("mov", _OWN_FIRST, At(_CHUNK_AT, OWN))
            out.word("mov", RCX, At(SHADOW_AT, SHIFT))
            out.word("mov", _STEPS, R8)
            out.shift_by_cl("shr", _STEPS)
            out.test(_STEPS, _STEPS)
            out.jump_if("z", "bad")
            if mode == READ:
                _look_for_writes(out)
            out.number("cmp", _STEPS, 1)
            out.jump_if("ne", "each")
            if mode == ATOMIC:
                _write_strongly(out)
            else:
                out.word("mov", RAX, At(RBX, layout.ROW), wide=False)
                out.word("cmp", RAX, R8, wide=False)
                out.jump_if("e", "halves")
                out.number("sub", RAX, layout.HALVES, wide=False)
                out.word("cmp", RAX, R8, wide=False)
                out.jump_if("e", "halves")
            out.label("each")
            if mode == READ:
                _read(out, is_read_only)
            else:
                _write(out, mode == ATOMIC)
            out.label("good")
            if mode != READ:
                note_written(out, SHADOW_AT, R10, _OWN_FIRST)
            out.set(RAX, 0)
            out.jump("done")
            if mode != ATOMIC:
                out.label("halves")
                if mode == READ:
                    _read_halves(out, is_read_only)
                else:
                    _write_halves(out)
            out.label("bad")
            out.set(RAX, 1)
            out.label("done")
            out.saves(_SAVED)
            for register in reversed(_SAVED):
                out.pop(register)
            out.label("over")
            out.ret()
            out.label("refused")
            out.set(RAX, 1)
            out.ret()


def _look_for_writes(out: Assembler) -> None:
    """Note whether all writes of some memory are ordered before this read: there are none, or the memory is
    the block's own, and they came before its last barrier.
    """
    out.word("mov", RAX, At(SHADOW_AT, WRITTEN))
    out.word("mov", RAX, At(RAX, 0))
    out.set(R10, 1)
    out.number("cmp", At(SHADOW_AT, OF_BLOCKS), 0)
    out.jump_if("e", "of all")
    out.word("mov", R10, At(_CHUNK_AT, TIME))
    out.label("of all")
    out.word("sub", RAX, R10)
    out.keep(At(RBX, _IS_BEFORE), RAX)


@contextlib.contextmanager
def _unless_before(out: Assembler, mode: int = READ) -> Iterator[None]:
    """What a read needs only if some write may not be ordered before it."""
    over = out.new_label()
    if mode == READ:
        out.number("cmp", At(RBX, _IS_BEFORE), 0)
        out.jump_if("l", over)
    yield
    out.label(over)


def _next_lane(out: Assembler) -> None:
    """Put the lowest lane that is left into rdx, its EPOCH and the PLACE that it accesses first."""
    out.lowest_bit(RDX, _LANES)
    out.word("mov", _EPOCH, RDX)
    out.shift_word("shl", _EPOCH, 32)
    out.word("add", _EPOCH, _OWN_FIRST)
    out.word("mov", PLACE, At(RBX, layout.ADDRESS, RDX, 8))
    out.word("sub", PLACE, At(SHADOW_AT, START))
    out.shift_by_cl("shr", PLACE)


@contextlib.contextmanager
def _each_place(out: Assembler, by_runs: bool = False) -> Iterator[None]:
    """Each part of memory that active lanes access: PLACE, and the EPOCH of the lane, whose number is in rdx.
    In rdi is how many parts of the lane are left. Changes rax. by_runs: of lanes beside each other that
    access one place the first and the last alone.
    """
    lane, step, opened = out.new_label(), out.new_label(), out.new_label()
    out.put(At(RBX, _OPENED), -1, wide=True)
    out.fetch(_LANES, At(RBX, layout.ACTIVE), 4)
    if by_runs:
        out.number("cmp", _LANES, -1, wide=False)
        out.jump_if("ne", lane)
        for part in reversed(range(8)):
            out.shift_word("shl", _LANES, 4)
            out.unary("movups", YMM[0], At(RBX, layout.ADDRESS + 32 * part))
            out.vector("pcmpeqq", YMM[0], YMM[0], At(RBX, layout.ADDRESS + 32 * part + 8))
            out.unary("movmskpd", RAX, YMM[0])
            out.word("or", _LANES, RAX)
        out.number("and", _LANES, 0x7FFFFFFF, wide=False)  # those before a lane of the same place
        out.lea(RAX, At(_LANES, 0, _LANES, 1))
        out.word("and", _LANES, RAX, wide=False)
        out.invert(_LANES)
    out.label(lane)
    _next_lane(out)
    out.word("mov", RDI, _STEPS)
    out.label(step)
    out.word("mov", RAX, PLACE)
    out.shift_word("shr", RAX, _ROW_BITS)
    out.word("cmp", RAX, At(RBX, _OPENED))
    out.jump_if("e", opened)
    out.keep(At(RBX, _OPENED), RAX)
    out.call("race_open")
    out.label(opened)
    yield
    out.number("add", PLACE, 1)
    out.number("sub", RDI, 1)
    out.jump_if("nz", step)
    out.clear_lowest_bit(_LANES, RAX)
    out.jump_if("nz", lane)


def _require_order(out: Assembler, record: int, otherwise: str, may_be_strong: bool = False) -> None:
    """Go on if what a record has is ordered before this access, or strong. Its epochs are at r10 then.
    Changes rax and r8.
    """
    good, other = out.new_label(), out.new_label() if may_be_strong else otherwise
    out.word("mov", R10, At(SHADOW_AT, record))
    out.word("mov", RAX, At(R10, 0, PLACE, 8))
    out.test(RAX, RAX)
    out.jump_if("z", good)
    _require_block(out, good, other)
    if may_be_strong:
        out.jump(good)
        out.label(other)
        out.word("mov", R8, At(SHADOW_AT, record + SITES))
        out.fetch(R8, At(R8, 0, PLACE, 4), 4)
        out.word("add", R8, At(RBX, layout.STRONG))
        out.fetch(RAX, At(R8, 0), 1)
        out.test(RAX, RAX, wide=False)
        out.jump_if("z", otherwise)
    out.label(good)


def _require_unwritten(out: Assembler, otherwise: str) -> None:
    """Go on if the kernel has not written a place. Changes rax and r10."""
    out.word("mov", R10, At(SHADOW_AT, WRITES))
    out.word("mov", RAX, At(R10, 0, PLACE, 8))
    out.test(RAX, RAX)
    out.jump_if("nz", otherwise)


def _enter(out: Assembler, record: int) -> None:
    """The access into a record whose epochs are at r10. Changes r8."""
    out.keep(At(R10, 0, PLACE, 8), _EPOCH)
    out.word("mov", R8, At(SHADOW_AT, record + SITES))
    out.keep(At(R8, 0, PLACE, 4), _SITE, 4)


_OWN_LANES, _TIMES, _BELOW, _BEYOND, _ZERO, _EPOCHS, _MINE, _GOOD, _FOUND, _MORE, _ALL, _ANY = YMM[:12]


def _find_half(out: Assembler, half: int) -> None:
    """The PLACE and the EPOCH of the first lane of half a warp, and the CELL of its row; -1 if it accesses
    two rows: these have parts of their own then.
    """
    is_row, over = out.new_label(), out.new_label()
    out.word("mov", _EPOCH, _OWN_FIRST)
    if half:
        out.set(RAX, ROW)
        out.shift_word("shl", RAX, 32)
        out.word("add", _EPOCH, RAX)
    out.word("mov", PLACE, At(RBX, layout.ADDRESS + 8 * ROW * half))
    out.word("sub", PLACE, At(SHADOW_AT, START))
    out.shift_by_cl("shr", PLACE)
    out.word("mov", _CELL, PLACE)
    out.number("and", _CELL, ROW - 1)
    out.jump_if("z", is_row)
    for distance in (ROW - 1, 1 - ROW):
        out.call("race_open")
        out.number("add", PLACE, distance)
    out.number("or", _CELL, -1)
    out.jump(over)
    out.label(is_row)
    out.call("race_band")
    out.word("mov", _CELL, PLACE)
    out.shift_word("shr", _CELL, _ROW_BITS)
    out.shift_word("shl", _CELL, 4)
    out.label(over)


def _read_halves(out: Assembler, is_read_only: bool) -> None:
    """As `_read`, for one half after the other. The last read of a row is left out while it is the first."""
    for half in (0, 1):
        last, over = out.new_label(), out.new_label()
        _find_half(out, half)
        with _unless_before(out):
            _order_half(out, WRITES, "bad", "bad", is_read_only)
        _order_half(out, FIRST_READS, last, "each")
        _enter_half(out, FIRST_READS)
        out.test(_CELL, _CELL)
        out.jump_if("s", last)
        out.word("mov", R10, At(SHADOW_AT, LAST_READS + ROWS))
        out.number("cmp", At(R10, 0, _CELL, 1), 0)
        out.jump_if("e", over)
        out.label(last)
        _enter_half(out, LAST_READS)
        out.label(over)
    out.jump("good")


def _write_halves(out: Assembler) -> None:
    """As `_write`, unless both halves write to the same places."""
    far = out.new_label()
    out.word("mov", RAX, At(RBX, layout.ADDRESS + ROW * 8))
    out.word("sub", RAX, At(RBX, layout.ADDRESS))
    out.shift_word("shl", R8, _ROW_BITS)
    out.word("add", RAX, R8)
    out.word("add", R8, R8)
    out.word("cmp", RAX, R8)
    out.jump_if("ae", far)
    out.jump("each")
    out.label(far)
    for half in (1, 0):
        _find_half(out, half)
        for record in RECORDS:
            _order_half(out, record, "bad", "bad")
    _enter_half(out, WRITES)
    _find_half(out, 1)
    _enter_half(out, WRITES)
    out.jump("good")


def _order_half(out: Assembler, record: int, none: str, some: str, is_read_only: bool = False) -> None:
    """Go on if what a record has is ordered before this access in all lanes; to `none` or `some` if it is in
    those. Changes rax, r8 and r10.
    """
    ordered, alone = out.new_label(), out.new_label()
    out.test(_CELL, _CELL)
    out.jump_if("s", alone)
    out.word("mov", R10, At(SHADOW_AT, record + ROWS))
    out.word("mov", RAX, At(R10, 0, _CELL, 1))
    out.test(RAX, RAX)
    out.jump_if("z", ordered)
    out.number("cmp", RAX, -1)  # OPEN
    out.jump_if("e", alone)
    if is_read_only:
        out.jump(none)
    else:
        _require_block(out, ordered, none)
        out.jump(ordered)
    out.label(alone)
    out.word("mov", R10, At(SHADOW_AT, record))
    if is_read_only:
        _find_unwritten(out)
    else:
        out.call("race_parts")
    out.jump_if("e", ordered)
    if none != some:
        out.unary("movmskpd", RAX, _ANY)
        out.test(RAX, RAX, wide=False)
        out.jump_if("nz", some)
    out.jump(none)
    out.label(ordered)


def _require_block(out: Assembler, own: str, otherwise: str) -> None:
    """Go on if the epoch in rax is of the block and before its last barrier, or of the warp and before that
    met; to `own` if it is the lane's. Changes rax and r8.
    """
    before = out.new_label()
    out.word("mov", R8, RAX)
    out.word("xor", R8, _EPOCH)
    out.shift_word("shr", R8, 32)
    out.jump_if("z", own)
    out.word("mov", R8, RAX)
    out.shift_word("shr", R8, 32)
    out.word("sub", R8, At(_CHUNK_AT, BLOCK))
    out.word("cmp", R8, At(_CHUNK_AT, COUNT))
    out.jump_if("ae", otherwise)
    out.word("mov", RAX, RAX, wide=False)
    out.word("cmp", RAX, At(_CHUNK_AT, TIME))
    out.jump_if("b", before)
    out.word("cmp", RAX, At(_CHUNK_AT, MET))
    out.jump_if("ae", otherwise)
    out.word("add", R8, At(_CHUNK_AT, BLOCK))
    out.word("sub", R8, At(_CHUNK_AT, OWN + 4), wide=False)
    out.number("cmp", R8, layout.LANES)
    out.jump_if("ae", otherwise)
    out.label(before)


def _write_parts(out: Assembler) -> None:
    """The flags are those of equality if the epochs at r10, from PLACE on, are ordered before this access in
    all lanes of a half. ANY has its signs set if they are in any.
    """
    takes = R10, PLACE, _EPOCH, _CHUNK_AT, _OWN_FIRST
    with out.routine("race_parts", takes=takes, clobbers=(RAX, *YMM[:14])):
        out.movd_in(_OWN_LANES, _EPOCH, wide=True)
        out.unary("broadcastq", _OWN_LANES, _OWN_LANES)
        out.word("mov", RAX, At(_CHUNK_AT, BLOCK))
        _put_range(out, _OF_BLOCK, TIME, At(_CHUNK_AT, COUNT))
        _order_parts(out, _OF_BLOCK)
        out.jump_if("e", "done")
        out.word("mov", RAX, At(_CHUNK_AT, MET))
        out.word("cmp", RAX, At(_CHUNK_AT, TIME))
        out.jump_if("be", "some")
        out.word("mov", RAX, _OWN_FIRST)
        out.shift_word("shr", RAX, 32)
        _put_range(out, _OF_WARP, MET, layout.LANES)
        _order_parts(out, _OF_BLOCK, _OF_WARP)
        out.jump("done")
        out.label("some")
        out.number("or", RAX, -1)  # not equal
        out.label("done")
        out.ret()


_OF_BLOCK, _OF_WARP = (_TIMES, _BELOW, _BEYOND), (YMM[12], YMM[13], _ZERO)


def _put_range(out: Assembler, registers: tuple[Register, ...], time: int, count: At | int) -> None:
    """A time, and the numbers below and beyond those of `count` threads from rax on."""
    times, below, beyond = registers
    out.unary("broadcastd", times, At(_CHUNK_AT, time))
    for register in (below, beyond):
        if register is below:
            out.number("sub", RAX, 1)
        else:
            out.number("add", RAX, 1)
            if isinstance(count, At):
                out.word("add", RAX, count)
            else:
                out.number("add", RAX, count)
        out.movd_in(register, RAX)
        out.unary("broadcastd", register, register)


def _order_parts(out: Assembler, *orders: tuple[Register, ...]) -> None:
    """As `_write_parts`, for epochs of ranges of threads before a time each."""
    out.vector("pcmpeqd", _ALL, _ALL, _ALL)
    out.vector("pxor", _ANY, _ANY, _ANY)
    for part in range(_PARTS):
        out.unary("movups", _EPOCHS, At(R10, 32 * part, PLACE, 8))
        _find_mine(out, part)
        out.vector("pcmpeqd", _GOOD, _MINE, _EPOCHS)
        for times, below, beyond in orders:
            out.vector("pcmpgtd", _FOUND, times, _EPOCHS)
            out.shift("psllq", _FOUND, _FOUND, 32)
            out.vector("pcmpgtd", _MORE, _EPOCHS, below)
            out.vector("pand", _FOUND, _FOUND, _MORE)
            out.vector("pcmpgtd", _MORE, beyond, _EPOCHS)
            out.vector("pand", _FOUND, _FOUND, _MORE)
            out.vector("por", _GOOD, _GOOD, _FOUND)
        out.vector("pxor", _MORE, _MORE, _MORE)
        out.vector("pcmpeqq", _FOUND, _EPOCHS, _MORE)
        out.vector("por", _GOOD, _GOOD, _FOUND)
        out.vector("pand", _ALL, _ALL, _GOOD)
        out.vector("por", _ANY, _ANY, _GOOD)
    out.unary("movmskpd", RAX, _ALL)
    out.number("cmp", RAX, 15, wide=False)


def _touch(out: Assembler, record: int, cell: int) -> None:
    """Note that a row is used. Changes rax and r8."""
    out.word("mov", RAX, cell)
    out.shift_word("shr", RAX, (16 * STRETCH).bit_length() - 1)
    out.word("add", RAX, At(SHADOW_AT, record + TOUCHED))
    out.set(R8, 1)
    out.keep(At(RAX, 0), R8, 1)


def _write_open(out: Assembler) -> None:
    """Have parts in the row of PLACE: see `Record`."""
    with out.routine("race_open", takes=(SHADOW_AT, PLACE), clobbers=(RAX, R8, R10, *YMM[:3])):
        out.word("mov", R10, PLACE)
        out.shift_word("shr", R10, _ROW_BITS)
        out.shift_word("shl", R10, 4)
        for record in RECORDS:
            out.word("mov", R8, At(SHADOW_AT, record + ROWS))
            out.word("and" if record else "mov", RAX, At(R8, 0, R10, 1))
        out.number("cmp", RAX, -1)
        out.jump_if("e", "are_open")
        out.call("race_band")
        for record in RECORDS:
            is_open = out.new_label()
            out.word("mov", R10, PLACE)
            out.shift_word("shr", R10, _ROW_BITS)
            out.shift_word("shl", R10, 4)
            _touch(out, record, R10)
            out.word("mov", R8, R10)
            out.word("add", R8, At(SHADOW_AT, record + ROWS))
            out.number("cmp", At(R8, 0), -1)
            out.jump_if("e", is_open)
            out.shift_word("shr", R10, 4)
            out.shift_word("shl", R10, _ROW_BITS)
            out.word("mov", RAX, At(SHADOW_AT, record))
            out.lea(RAX, At(RAX, 0, R10, 8))
            epochs, first, none = YMM[:3]
            out.unary("broadcastq", first, At(R8, 0))
            out.vector("pxor", none, none, none)
            out.vector("pcmpeqq", none, none, first)
            for part in range(_PARTS):
                out.unary("movups", epochs, At(RBX, layout.STEPS + 32 * part))
                out.shift("psllq", epochs, epochs, 32)
                out.vector("paddq", epochs, epochs, first)
                out.vector("blendvps", epochs, epochs, first, none << 4)
                out.store("movups", At(RAX, 32 * part), epochs)
            out.word("mov", RAX, At(SHADOW_AT, record + SITES))
            out.unary("broadcastd", first, At(R8, 8))
            for part in range(_PARTS // 2):
                out.store("movups", At(RAX, 32 * part, R10, 4), first)
            out.put(At(R8, 0), -1, wide=True)
            out.label(is_open)
        out.label("are_open")
        out.ret()


def _find_unwritten(out: Assembler) -> None:
    """The flags are those of equality if the kernel has written none of the places."""
    out.word("mov", R10, At(SHADOW_AT, WRITES))
    out.vector("pxor", _ANY, _ANY, _ANY)
    out.vector("pxor", _ZERO, _ZERO, _ZERO)
    for part in range(_PARTS):
        out.unary("movups", _EPOCHS, At(R10, 32 * part, PLACE, 8))
        out.vector("por", _ANY, _ANY, _EPOCHS)
    out.vector("pcmpeqq", _ALL, _ANY, _ZERO)
    out.unary("movmskpd", RAX, _ALL)
    out.number("cmp", RAX, 15, wide=False)


def _find_mine(out: Assembler, part: int) -> None:
    """The epochs of four lanes."""
    out.unary("movups", _MINE, At(RBX, layout.STEPS + 32 * part))
    out.shift("psllq", _MINE, _MINE, 32)
    out.vector("paddq", _MINE, _MINE, _OWN_LANES)


def _enter_half(out: Assembler, record: int) -> None:
    alone, over = out.new_label(), out.new_label()
    out.test(_CELL, _CELL)
    out.jump_if("s", alone)
    out.word("mov", R10, At(SHADOW_AT, record + ROWS))
    out.keep(At(R10, 0, _CELL, 1), _EPOCH)
    out.keep(At(R10, 8, _CELL, 1), _SITE)
    _touch(out, record, _CELL)
    out.jump(over)
    out.label(alone)
    out.movd_in(_OWN_LANES, _EPOCH, wide=True)
    out.unary("broadcastq", _OWN_LANES, _OWN_LANES)
    out.word("mov", R10, At(SHADOW_AT, record))
    for part in range(_PARTS):
        _find_mine(out, part)
        out.store("movups", At(R10, 32 * part, PLACE, 8), _MINE)
    out.word("mov", R10, At(SHADOW_AT, record + SITES))
    out.movd_in(_GOOD, _SITE)
    out.unary("broadcastd", _GOOD, _GOOD)
    for part in range(_PARTS // 2):
        out.store("movups", At(R10, 32 * part, PLACE, 4), _GOOD)
    out.label(over)


def _read(out: Assembler, is_read_only: bool) -> None:
    """The first read stays, unless it is ordered before this one. If a later lane made it, that one reads
    again.
    """
    with _each_place(out, by_runs=True):
        with _unless_before(out):
            if is_read_only:
                _require_unwritten(out, "bad")
            else:
                _require_order(out, WRITES, "bad")
        other, last = out.new_label(), out.new_label()
        _require_order(out, FIRST_READS, other)
        _enter(out, FIRST_READS)
        out.jump(last)
        out.label(other)
        out.word("mov", R10, At(R10, 0, PLACE, 8))
        out.shift_word("shr", R10, 32)
        out.word("mov", RAX, _OWN_FIRST)
        out.shift_word("shr", RAX, 32)
        out.word("sub", R10, RAX)
        out.number("cmp", R10, layout.LANES)
        out.jump_if("ae", last)
        out.word("cmp", R10, RDX)
        out.jump_if("be", last)
        out.word("mov", RAX, RCX)
        out.word("mov", RCX, R10)
        out.set(R8, 1)
        out.shift_by_cl("shl", R8)
        out.word("mov", RCX, RAX)
        out.word("and", R8, At(RBX, layout.ACTIVE), wide=False)
        out.word("or", _LANES, R8)
        out.label(last)
        out.word("mov", R10, At(SHADOW_AT, LAST_READS))
        _enter(out, LAST_READS)


def _write(out: Assembler, is_atomic: bool) -> None:
    """All is looked at first: nothing may be entered of what the detector has to look at. Then lanes that
    store to one place find each other, and all is as it was for the detector.
    """
    if not is_atomic:
        out.number("cmp", _STEPS, _MOST_STEPS)
        out.jump_if("a", "bad")
    with _each_place(out):
        for record in RECORDS:
            _require_order(out, record, "bad", is_atomic)
    if is_atomic:
        with _each_place(out):
            out.word("mov", R10, At(SHADOW_AT, WRITES))
            _enter(out, WRITES)
        return
    with _each_place(out):
        _require_order(out, WRITES, "twice")
        _old_place(out)
        out.word("mov", RAX, At(R10, 0, PLACE, 8))
        out.keep(At(RBX, _OLD, R8, 8), RAX)
        out.word("mov", RAX, At(SHADOW_AT, WRITES + SITES))
        out.fetch(RAX, At(RAX, 0, PLACE, 4), 4)
        out.keep(At(RBX, _OLD_SITES, R8, 4), RAX, 4)
        _enter(out, WRITES)
    out.jump("entered")
    out.label("twice")
    out.keep(At(RBX, _STOP), RDX)
    out.keep(At(RBX, _STOP + 8), RDI)
    with _each_place(out):
        over = out.new_label()
        out.word("cmp", RDX, At(RBX, _STOP))
        out.jump_if("ne", over)
        out.word("cmp", RDI, At(RBX, _STOP + 8))
        out.jump_if("e", "bad")
        out.label(over)
        _old_place(out)
        out.word("mov", R10, At(SHADOW_AT, WRITES))
        out.word("mov", RAX, At(RBX, _OLD, R8, 8))
        out.keep(At(R10, 0, PLACE, 8), RAX)
        out.word("mov", R10, At(SHADOW_AT, WRITES + SITES))
        out.fetch(RAX, At(RBX, _OLD_SITES, R8, 4), 4)
        out.keep(At(R10, 0, PLACE, 4), RAX, 4)
    out.jump("bad")
    out.label("entered")


def _write_strongly(out: Assembler) -> None:
    """Enter atomics of lanes to places that this instruction was the last to access, and nobody has read: its
    accesses do not race with each other. Go on where there is another place, for `_write` to look at all.
    """
    lane = out.new_label()
    out.fetch(_LANES, At(RBX, layout.ACTIVE), 4)
    out.label(lane)
    _next_lane(out)
    out.word("mov", _CELL, PLACE)
    out.shift_word("shr", _CELL, _ROW_BITS)
    out.shift_word("shl", _CELL, 4)
    for record in (FIRST_READS, WRITES):
        out.word("mov", R10, At(SHADOW_AT, record + ROWS))
        out.number("cmp", At(R10, 0, _CELL, 1), -1)  # OPEN
        out.jump_if("ne", "each")
    out.word("mov", R10, At(SHADOW_AT, FIRST_READS))
    out.number("cmp", At(R10, 0, PLACE, 8), 0)
    out.jump_if("ne", "each")
    out.word("mov", R10, At(SHADOW_AT, WRITES + SITES))
    out.word("cmp", _SITE, At(R10, 0, PLACE, 4), wide=False)
    out.jump_if("ne", "each")
    out.word("mov", R10, At(SHADOW_AT, WRITES))
    out.keep(At(R10, 0, PLACE, 8), _EPOCH)
    out.clear_lowest_bit(_LANES, RAX)
    out.jump_if("nz", lane)
    out.jump("good")


def _old_place(out: Assembler) -> None:
    """The number of what a lane replaces, in r8."""
    out.word("mov", R8, RDI)
    out.number("sub", R8, 1)
    out.shift_word("shl", R8, layout.LANES.bit_length() - 1)
    out.word("add", R8, RDX)
