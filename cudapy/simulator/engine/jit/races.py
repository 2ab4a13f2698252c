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

import numpy as np

from ..access import ATOMIC, READ, WRITE
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
from . import layout
from .layout import WIDE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..aliases import I64, U8, U64
    from ..instructions.accesses import MemoryAccess
    from ..memory import Snapshot
    from ..run.batch import Batch
    from ..run.shadow import Shadow
    from .lanes import CodeContext
    from .region import Region

_READ_ONLY = 3
"""A read of what the kernel does not write."""
ROUTINES = {READ: "race_read", WRITE: "race_write", ATOMIC: "race_atomic", _READ_ONLY: "race_read_only"}
_SAVED = (RBP, R12, R13, R14, R15)
_CHANGED = (RAX, RCX, RDX, RSI, RDI, R8, R9, R10, R11, *YMM[:12])

# Of a shadow, what `_described` lists: 8 bytes each.
_WRITE, _WRITE_SITE, _FIRST, _FIRST_SITE, _LAST, _LAST_SITE, _START, _SHIFT = range(0, 64, 8)
SHADOW = 64
"""Bytes of the description of a shadow."""
# Of a chunk, what `RaceTables` lists: the epoch of its first lane, the time of its block's last barrier, the
# number of its block's first thread and one, and the threads of a block.
_OWN, _TIME, _BLOCK, _COUNT = range(0, 32, 8)
_CHUNK = 32
_SHADOW, _LANES, _STEPS, _PLACE, _EPOCH, _SITE, _CHUNK_AT, _OWN_FIRST = R12, R13, R15, RSI, R11, R9, RBP, R14
_MOST_STEPS = 4
"""Parts of the memory that a store may write in each lane."""
_OLD, _OLD_SITES = layout.LOADED, layout.LOADED + _MOST_STEPS * WIDE
"""What a store has replaced: nothing is loaded meanwhile."""
_STOP = layout.MOVED


def check(context: CodeContext, access: MemoryAccess, size: int, failed: str) -> None:
    """Whether everything orders the access, behind that of bounds."""
    if access.space in ("local", "const"):
        return
    out, good = context.out, context.out.new_label()
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
        out.word("mov", RDX, At(RBX, context.found[-1] + layout.FOUND_SHADOW))
        out.jump(found)
        out.label(own)
        out.word("mov", RDX, At(RBX, layout.SHARED_SHADOW))
        out.label(found)
    else:
        is_shared = access.space == "shared"
        place = layout.SHARED_SHADOW if is_shared else context.found[-1] + layout.FOUND_SHADOW
        out.word("mov", RDX, At(RBX, place))
    out.set(R8, size)
    out.fetch(R9, At(RBX, context.room_for_site(access.mode)), 4)
    kind = _READ_ONLY if access.is_read_only else access.mode
    out.call_at(At(RBX, layout.ROUTINES + 8 * (layout.RACE_READ + kind)))
    out.test(RAX, RAX, wide=False)
    out.jump_if("nz", failed)
    out.label(good)


def write_routines(out: Assembler) -> None:
    """Routines that enter an access of r8 bytes at ADDRESS into the shadow described at rdx, with the number
    of its site in r9. eax is 0 if that is all; else nothing was entered that the detector would not enter.
    """
    for kind, name in ROUTINES.items():
        is_read_only = kind == _READ_ONLY
        mode = READ if is_read_only else kind
        with out.routine(name, takes=(R8, R9, RDX), clobbers=_CHANGED):
            out.number("cmp", At(RBX, layout.ALIGNED), 1, wide=False)
            out.jump_if("ne", "refused")
            out.word("mov", R10, At(RBX, layout.CHUNK_ORDERS))
            out.test(R10, R10)
            out.jump_if("z", "refused")
            out.number("cmp", At(RDX, _WRITE), 0)
            out.jump_if("e", "refused")
            for register in _SAVED:
                out.push(register)
            out.word("mov", RAX, At(RBX, layout.CHUNK))
            out.shift_word("shl", RAX, _CHUNK.bit_length() - 1)
            out.lea(_CHUNK_AT, At(R10, 0, RAX, 1))
            out.word("mov", _SHADOW, RDX)
            out.word("mov", _OWN_FIRST, At(_CHUNK_AT, _OWN))
            out.word("mov", RCX, At(_SHADOW, _SHIFT))
            out.word("mov", _STEPS, R8)
            out.shift_by_cl("shr", _STEPS)
            out.test(_STEPS, _STEPS)
            out.jump_if("z", "bad")
            if mode != ATOMIC:
                out.number("cmp", _STEPS, 1)
                out.jump_if("ne", "each")
                if mode == READ:
                    out.number("cmp", At(RBX, layout.ROW), layout.SAME, wide=False)
                    out.jump_if("e", "same")
                out.word("cmp", R8, At(RBX, layout.ROW), wide=False)
                out.jump_if("e", "row")
                out.label("each")
            if mode == READ:
                _read(out, is_read_only)
            else:
                _write(out, mode == ATOMIC)
            out.label("good")
            out.set(RAX, 0)
            out.jump("done")
            if mode == READ:
                out.label("same")
                _read_same(out, is_read_only)
            if mode != ATOMIC:
                out.label("row")
                _enter_row(out, mode, is_read_only)
            out.label("bad")
            out.set(RAX, 1)
            out.label("done")
            out.saves(_SAVED)
            for register in reversed(_SAVED):
                out.pop(register)
            out.ret()
            out.label("refused")
            out.set(RAX, 1)
            out.ret()


@contextlib.contextmanager
def _each_place(out: Assembler) -> Iterator[None]:
    """Each part of memory that active lanes access: PLACE, and the EPOCH of the lane, whose number is in rdx.
    In rdi is how many parts of the lane are left. Changes rax.
    """
    lane, step = out.new_label(), out.new_label()
    out.fetch(_LANES, At(RBX, layout.ACTIVE), 4)
    out.label(lane)
    out.lowest_bit(RDX, _LANES)
    out.word("mov", _EPOCH, RDX)
    out.shift_word("shl", _EPOCH, 32)
    out.word("add", _EPOCH, _OWN_FIRST)
    out.word("mov", _PLACE, At(RBX, layout.ADDRESS, RDX, 8))
    out.word("sub", _PLACE, At(_SHADOW, _START))
    out.shift_by_cl("shr", _PLACE)
    out.word("mov", RDI, _STEPS)
    out.label(step)
    yield
    out.number("add", _PLACE, 1)
    out.number("sub", RDI, 1)
    out.jump_if("nz", step)
    out.clear_lowest_bit(_LANES, RAX)
    out.jump_if("nz", lane)


def _require_order(
    out: Assembler, record: int, otherwise: str, sites: int | None = None, is_own: bool = True
) -> None:
    """Go on if what a record has is ordered before this access, or strong, if `sites` are given. Its epochs
    are at r10 then. Changes rax and r8. is_own: what the lane did itself is ordered.
    """
    good, other = out.new_label(), otherwise if sites is None else out.new_label()
    out.word("mov", R10, At(_SHADOW, record))
    out.word("mov", RAX, At(R10, 0, _PLACE, 8))
    out.test(RAX, RAX)
    out.jump_if("z", good)
    if is_own:
        out.word("mov", R8, RAX)
        out.word("xor", R8, _EPOCH)
        out.shift_word("shr", R8, 32)
        out.jump_if("z", good)
    out.word("mov", R8, RAX)
    out.shift_word("shr", R8, 32)
    out.word("sub", R8, At(_CHUNK_AT, _BLOCK))
    out.word("cmp", R8, At(_CHUNK_AT, _COUNT))
    out.jump_if("ae", other)
    out.word("mov", RAX, RAX, wide=False)
    out.word("cmp", RAX, At(_CHUNK_AT, _TIME))
    if sites is None:
        out.jump_if("ae", otherwise)
    else:
        out.jump_if("b", good)
        out.label(other)
        out.word("mov", R8, At(_SHADOW, sites))
        out.fetch(R8, At(R8, 0, _PLACE, 4), 4)
        out.word("add", R8, At(RBX, layout.STRONG))
        out.fetch(RAX, At(R8, 0), 1)
        out.test(RAX, RAX, wide=False)
        out.jump_if("z", otherwise)
    out.label(good)


def _require_unwritten(out: Assembler, otherwise: str) -> None:
    """Go on if the kernel has not written a place. Changes rax and r10."""
    out.word("mov", R10, At(_SHADOW, _WRITE))
    out.word("mov", RAX, At(R10, 0, _PLACE, 8))
    out.test(RAX, RAX)
    out.jump_if("nz", otherwise)


def _enter(out: Assembler, sites: int) -> None:
    """The access into a record whose epochs are at r10. Changes r8."""
    out.keep(At(R10, 0, _PLACE, 8), _EPOCH)
    out.word("mov", R8, At(_SHADOW, sites))
    out.keep(At(R8, 0, _PLACE, 4), _SITE, 4)


def _find_first(out: Assembler) -> None:
    """The place and the epoch of the first lane."""
    out.word("mov", _EPOCH, _OWN_FIRST)
    out.word("mov", _PLACE, At(RBX, layout.ADDRESS))
    out.word("sub", _PLACE, At(_SHADOW, _START))
    out.shift_by_cl("shr", _PLACE)


def _read_same(out: Assembler, is_read_only: bool) -> None:
    """A read of one place by a warp: only what the block's barrier orders is ordered before all lanes. The
    first read is the first lane's then; if it was made by one of the lanes, that one reads again.
    """
    _find_first(out)
    if is_read_only:
        _require_unwritten(out, "bad")
    else:
        _require_order(out, _WRITE, "bad", is_own=False)
    others, last = out.new_label(), out.new_label()
    _require_order(out, _FIRST, others, is_own=False)
    _enter(out, _FIRST_SITE)
    out.jump(last)
    out.label(others)
    out.word("mov", RAX, At(R10, 0, _PLACE, 8))
    out.word("mov", R8, RAX)
    out.shift_word("shr", R8, 32)
    out.word("mov", RDI, _EPOCH)
    out.shift_word("shr", RDI, 32)
    out.word("sub", R8, RDI)
    out.number("cmp", R8, layout.LANES)
    out.jump_if("ae", last)
    out.shift_word("shl", R8, 32)
    out.word("add", _EPOCH, R8)
    _enter(out, _FIRST_SITE)
    out.label(last)
    out.set(_EPOCH, layout.LANES - 1)
    out.shift_word("shl", _EPOCH, 32)
    out.word("add", _EPOCH, _OWN_FIRST)
    out.word("mov", R10, At(_SHADOW, _LAST))
    _enter(out, _LAST_SITE)
    out.jump("good")


_OWN_LANES, _TIMES, _BELOW, _BEYOND, _ZERO, _EPOCHS, _MINE, _GOOD, _FOUND, _MORE, _ALL, _ANY = YMM[:12]


def _enter_row(out: Assembler, mode: int, is_read_only: bool) -> None:
    """An access of a warp to places beside each other, four lanes at a time."""
    _find_first(out)
    out.unary("broadcastq", _OWN_LANES, At(_CHUNK_AT, _OWN))
    out.unary("broadcastd", _TIMES, At(_CHUNK_AT, _TIME))
    out.word("mov", RAX, At(_CHUNK_AT, _BLOCK))
    for register, distance in ((_BELOW, -1), (_BEYOND, None)):
        if distance is None:
            out.word("add", RAX, At(_CHUNK_AT, _COUNT))
            out.number("add", RAX, 1)
        else:
            out.number("add", RAX, distance)
        out.movd_in(register, RAX)
        out.unary("broadcastd", register, register)
    out.vector("pxor", _ZERO, _ZERO, _ZERO)
    if is_read_only:
        _find_unwritten_row(out)
    else:
        _order_row(out, _WRITE)
    out.jump_if("ne", "bad")
    if mode == WRITE:
        for record in (_FIRST, _LAST):
            _order_row(out, record)
            out.jump_if("ne", "bad")
        _enter_lanes(out, _WRITE, _WRITE_SITE)
        out.jump("good")
        return
    last, mixed = out.new_label(), out.new_label()
    _order_row(out, _FIRST)
    out.jump_if("ne", mixed)
    _enter_lanes(out, _FIRST, _FIRST_SITE)
    out.jump(last)
    out.label(mixed)  # all of them stay, or some
    out.unary("movmskpd", RAX, _ANY)
    out.test(RAX, RAX, wide=False)
    out.jump_if("nz", "each")
    out.label(last)
    _enter_lanes(out, _LAST, _LAST_SITE)
    out.jump("good")


def _order_row(out: Assembler, record: int) -> None:
    """The flags are those of equality if what a record has is ordered before this access in all lanes. ANY
    has its signs set if it is in any.
    """
    out.word("mov", R10, At(_SHADOW, record))
    out.vector("pcmpeqd", _ALL, _ALL, _ALL)
    out.vector("pxor", _ANY, _ANY, _ANY)
    for part in range(8):
        out.unary("movups", _EPOCHS, At(R10, 32 * part, _PLACE, 8))
        _find_mine(out, part)
        out.vector("pcmpeqd", _GOOD, _MINE, _EPOCHS)
        out.vector("pcmpgtd", _FOUND, _TIMES, _EPOCHS)
        out.shift("psllq", _FOUND, _FOUND, 32)
        out.vector("pcmpgtd", _MORE, _EPOCHS, _BELOW)
        out.vector("pand", _FOUND, _FOUND, _MORE)
        out.vector("pcmpgtd", _MORE, _BEYOND, _EPOCHS)
        out.vector("pand", _FOUND, _FOUND, _MORE)
        out.vector("por", _GOOD, _GOOD, _FOUND)
        out.vector("pcmpeqq", _FOUND, _EPOCHS, _ZERO)
        out.vector("por", _GOOD, _GOOD, _FOUND)
        out.vector("pand", _ALL, _ALL, _GOOD)
        out.vector("por", _ANY, _ANY, _GOOD)
    out.unary("movmskpd", RAX, _ALL)
    out.number("cmp", RAX, 15, wide=False)


def _find_unwritten_row(out: Assembler) -> None:
    """The flags are those of equality if the kernel has written none of the places."""
    out.word("mov", R10, At(_SHADOW, _WRITE))
    out.vector("pxor", _ANY, _ANY, _ANY)
    for part in range(8):
        out.unary("movups", _EPOCHS, At(R10, 32 * part, _PLACE, 8))
        out.vector("por", _ANY, _ANY, _EPOCHS)
    out.vector("pcmpeqq", _ALL, _ANY, _ZERO)
    out.unary("movmskpd", RAX, _ALL)
    out.number("cmp", RAX, 15, wide=False)


def _find_mine(out: Assembler, part: int) -> None:
    """The epochs of four lanes."""
    out.unary("movups", _MINE, At(RBX, layout.STEPS + 32 * part))
    out.shift("psllq", _MINE, _MINE, 32)
    out.vector("paddq", _MINE, _MINE, _OWN_LANES)


def _enter_lanes(out: Assembler, record: int, sites: int) -> None:
    out.word("mov", R10, At(_SHADOW, record))
    for part in range(8):
        _find_mine(out, part)
        out.store("movups", At(R10, 32 * part, _PLACE, 8), _MINE)
    out.word("mov", R10, At(_SHADOW, sites))
    out.movd_in(_GOOD, _SITE)
    out.unary("broadcastd", _GOOD, _GOOD)
    for part in range(4):
        out.store("movups", At(R10, 32 * part, _PLACE, 4), _GOOD)


def _read(out: Assembler, is_read_only: bool) -> None:
    """The first read stays, unless it is ordered before this one."""
    with _each_place(out):
        if is_read_only:
            _require_unwritten(out, "bad")
        else:
            _require_order(out, _WRITE, "bad")
        last = out.new_label()
        _require_order(out, _FIRST, last)
        _enter(out, _FIRST_SITE)
        out.label(last)
        out.word("mov", R10, At(_SHADOW, _LAST))
        _enter(out, _LAST_SITE)


def _write(out: Assembler, is_atomic: bool) -> None:
    """All is looked at first: nothing may be entered of what the detector has to look at. Then lanes that
    store to one place find each other, and all is as it was for the detector.
    """
    if not is_atomic:
        out.number("cmp", _STEPS, _MOST_STEPS)
        out.jump_if("a", "bad")
    with _each_place(out):
        for record, sites in ((_WRITE, _WRITE_SITE), (_FIRST, _FIRST_SITE), (_LAST, _LAST_SITE)):
            _require_order(out, record, "bad", sites if is_atomic else None)
    if is_atomic:
        with _each_place(out):
            out.word("mov", R10, At(_SHADOW, _WRITE))
            _enter(out, _WRITE_SITE)
        return
    with _each_place(out):
        _require_order(out, _WRITE, "twice")
        _old_place(out)
        out.word("mov", RAX, At(R10, 0, _PLACE, 8))
        out.keep(At(RBX, _OLD, R8, 8), RAX)
        out.word("mov", RAX, At(_SHADOW, _WRITE_SITE))
        out.fetch(RAX, At(RAX, 0, _PLACE, 4), 4)
        out.keep(At(RBX, _OLD_SITES, R8, 4), RAX, 4)
        _enter(out, _WRITE_SITE)
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
        out.word("mov", R10, At(_SHADOW, _WRITE))
        out.word("mov", RAX, At(RBX, _OLD, R8, 8))
        out.keep(At(R10, 0, _PLACE, 8), RAX)
        out.word("mov", R10, At(_SHADOW, _WRITE_SITE))
        out.fetch(RAX, At(RBX, _OLD_SITES, R8, 4), 4)
        out.keep(At(R10, 0, _PLACE, 4), RAX, 4)
    out.jump("bad")
    out.label("entered")


def _old_place(out: Assembler) -> None:
    """The number of what a lane replaces, in r8."""
    out.word("mov", R8, RDI)
    out.number("sub", R8, 1)
    out.shift_word("shl", R8, layout.LANES.bit_length() - 1)
    out.word("add", R8, RDX)


class RaceTables:
    """What the code of a region is told of a batch's race detector."""

    def __init__(self, region: Region, batch: Batch, fields: I64, memory: U8) -> None:
        assert batch.races is not None
        self._region, self._detector, self._fields = region, batch.races, fields
        self._function = region.function.compiled
        self._numbers: I64 = np.empty(0, np.int64)
        self._snapshot: Snapshot | None = None
        self._known: object = None
        self._chunks: U64 = np.empty((0, 4), np.uint64)
        self._shared: U64 = np.zeros(8, np.uint64)
        self._allocations: U64 = np.zeros((1, 8), np.uint64)
        self._strong = np.empty(0, np.uint8)
        start = batch.shared.data.__array_interface__["data"][0]
        self._shared_start = start
        for offset, number, mode in region.sites:
            memory[offset : offset + 4].view(np.int32)[0] = self._detector.site(self._function, number, mode)

    def begin(self, numbers: I64, snapshot: Snapshot | None) -> None:
        """Lanes begin to run; `numbers` are the first ones of their chunks."""
        self._numbers = numbers
        self._detector.refine_shared(self._region.least_shared)
        self._fields[layout.SHARED_SHADOW >> 3] = self._shared.ctypes.data
        self.update(snapshot, is_new=True)

    def update(self, snapshot: Snapshot | None, is_new: bool = False) -> None:
        """Python has made an access meanwhile."""
        detector = self._detector
        known = detector.state, snapshot
        if known == self._known and not is_new:
            return
        self._known = known
        self._chunks = detector.chunks(self._numbers)
        self._fields[layout.CHUNK_ORDERS >> 3] = self._chunks.ctypes.data if detector.is_plain else 0
        self._strong = detector.strong_sites()
        self._fields[layout.STRONG >> 3] = self._strong.ctypes.data
        self._shared[:] = _described(detector.shared_shadow, self._shared_start)
        if snapshot is None:
            return
        if snapshot is not self._snapshot:
            self._snapshot = snapshot
            self._allocations = np.zeros((len(snapshot.allocations), 8), np.uint64)
            self._fields[layout.SHADOWS >> 3] = self._allocations.ctypes.data
        for row, allocation in zip(self._allocations, snapshot.allocations, strict=True):
            shadow = detector.shadow(allocation)
            if shadow is not None:
                row[:] = _described(shadow, allocation.address)


def _described(shadow: Shadow, start: int) -> list[int]:
    """Where the parts of a shadow lie, of memory that starts at an address."""
    shift = shadow.granularity.bit_length() - 1
    return [*shadow.addresses(), start, shift]
