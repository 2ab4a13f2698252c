"""The routines that the code of all regions shares. `layout` says what they do; rbx has its address.

The entry is `int enter(void *memory)`, which goes on where RESUME says. A chunk begins at `next_chunk`, its
blocks are run by `schedule`, and `leave` returns to Python.
"""

from __future__ import annotations

import contextlib
import functools
from typing import TYPE_CHECKING, NamedTuple

from ..assembler.x86_64 import (
    GENERAL,
    R8,
    R9,
    R10,
    R11,
    RAX,
    RBX,
    RCX,
    RDI,
    RDX,
    RSI,
    RSP,
    YMM,
    Assembler,
    At,
)
from . import layout, race_bands, race_tables, races
from .layout import WIDE
from .processor import assembler, place_code

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..assembler.code import Register

_CHUNK_COST = 6
"""What a chunk takes of a turn besides its blocks."""
_MULTIPLIER = 0x9E3779B5
"""Of a linear congruential generator modulo 2**64, whose highest bits are used."""
_ALL = tuple(register for register in GENERAL if register not in (RBX, RSP)) + YMM
"""What a region's code keeps nothing in between its blocks."""
_BY_CHECKS = (RAX, RCX, RSI, R9, R10, R11, *YMM[:9])
"""What the routines that check addresses change."""
_PARTS = range(4)
"""Of an array of 32 times 4 bytes, in vectors."""
_WIDE_PARTS = range(8)
_MIDDLE = layout.ADDRESS + 8 * 16
"""The address of the second half's first lane."""


class Starts(NamedTuple):
    """Where the code begins: with the next chunk of any lanes, the next warp of whole blocks, one after the
    other, or the next block, all warps of which run by turns; and where another warp of that begins.
    """

    chunk: int
    warp: int
    block: int
    in_ring: int


class Routines(NamedTuple):
    """Addresses."""

    enter: int
    starts: Starts
    table: list[int]
    """Of those that regions know, by their numbers in `layout`."""
    exit_whole: int
    finish_warp: int
    finish_in_ring: int
    """What EXIT and FINISH are for the warps of whole blocks: one after the other, or by turns."""


@functools.cache
def routines() -> Routines:
    """Where they are."""
    out = assembler()
    names = ["leave", "schedule", "go_on", "diverge", "exit", "finish_chunk", "barrier", "give_up"]
    names += ["flush_least", "check_global", "check_shared", "check_local", "check_generic"]
    with out.routine("enter", takes=(RDI,)):
        out.begin_function()
        out.push(RBX)
        out.saves((RBX,))
        out.word("mov", RBX, RDI)
        out.jump_to(At(RBX, layout.RESUME))
    _chunks(out)
    _warps(out)
    _rings(out)
    _schedule(out)
    _flush_least(out)
    _rows(out)
    _check_global(out)
    for name, window, size, base in (
        ("check_shared", None, layout.SHARED_SIZE, layout.SHARED_BASE),
        ("check_local", None, layout.LOCAL_SIZE, layout.LOCAL_BASE),
        ("check_in_shared", layout.SHARED_WINDOW, layout.SHARED_SIZE, layout.SHARED_BASE),
        ("check_in_local", layout.LOCAL_WINDOW, layout.LOCAL_SIZE, layout.LOCAL_BASE),
    ):
        with out.routine(name, takes=(R8,), clobbers=_BY_CHECKS):
            _check_own(out, window, size, base)
    _check_generic(out)
    for size in (1, 2, 4, 8):
        names.append(f"load{size}")
        _load(out, size)
    for size in (1, 2, 4, 8):
        names.append(f"store{size}")
        _store(out, size)
    races.write_routines(out)
    names += [*race_bands.ROUTINES.values(), *map(race_bands.row_routine, race_bands.ROW_KINDS), "switch"]
    start = place_code(out.finish())

    def at(name: str) -> int:
        return start + out.labels[name]

    starts = Starts(at("next_chunk"), at("next_warp"), at("next_block"), at("begin_in_ring"))
    table = [at(name) for name in names]
    return Routines(at("enter"), starts, table, at("exit_whole"), at("finish_warp"), at("finish_in_ring"))


def routine(number: int) -> At:
    """Where regions find the address of one of the routines, by its number in `layout`."""
    return At(RBX, layout.ROUTINES + 8 * number)


def _take_time(out: Assembler, leader: Register) -> None:
    """Take the blocks that a chunk has run from the turn of `leader`: rdx is what is left of it."""
    out.word("mov", RDX, At(RBX, layout.BUDGET))  # less what it was at first: blocks that have run
    out.number("sub", RDX, layout.CHUNK_BLOCKS + _CHUNK_COST)
    out.word("add", RDX, At(leader, layout.TURN))
    out.keep(At(leader, layout.TURN), RDX)
    out.put(At(RBX, layout.BUDGET), layout.CHUNK_BLOCKS, wide=True)


def _begin_or_leave(out: Assembler, begin: str) -> None:
    """Go to `begin`, if there is another chunk, and time for it: rdx is not negative."""
    out.word("mov", RAX, At(RBX, layout.CHUNK))
    out.word("cmp", RAX, At(RBX, layout.END_CHUNK))
    out.jump_if("ae", "all")
    out.test(RDX, RDX)
    out.jump_if("ns", begin)
    out.load_label(RDX, begin)
    out.keep(At(RBX, layout.RESUME), RDX)
    out.set(RAX, layout.BETWEEN)
    out.jump("leave")
    out.label("all")
    out.set(RAX, layout.DONE)
    out.jump("leave")


def _chunks(out: Assembler) -> None:
    with out.routine("next_chunk", clobbers=_ALL):
        _take_time(out, RBX)
        _begin_or_leave(out, "begin_chunk")
    with out.routine("leave", takes=(RAX,), clobbers=(RDX,)):
        out.word("mov", RDX, At(RBX, layout.LEADER))
        out.keep(At(RDX, layout.CURRENT), RBX)
        out.saves((RBX,))
        out.pop(RBX)
        out.end_function()
        out.ret()

    with out.routine("begin_chunk", clobbers=_ALL):
        _copies(out, layout.INS, layout.IN_COUNT, inward=True)
        out.word("mov", RAX, At(RBX, layout.OUT_COUNT))
        out.keep(At(RBX, layout.OUT_NOW), RAX)
        out.word("mov", RAX, At(RBX, layout.CHUNK))
        out.jump("enter_chunk")

    with out.routine("enter_chunk", takes=(RAX,), clobbers=_ALL):
        out.word("cmp", RAX, At(RBX, layout.LAST_CHUNK))
        out.jump_if("ne", "enter_whole")
        entry = YMM[0]
        out.set(RDX, 0)
        for part in _PARTS:  # NOWHERE has its sign set
            out.unary("movups", entry, At(RBX, layout.LAST_PLACE + 32 * part))
            out.store("movups", At(RBX, layout.PLACE + 32 * part), entry)
            out.unary("movmskps", RAX, entry)
            out.shift_word("shl", RAX, 8 * part, wide=False)
            out.word("or", RDX, RAX, wide=False)
        out.invert(RDX)
        out.keep(At(RBX, layout.UNFINISHED), RDX, 4)
        out.jump("schedule")

    with out.routine("finish_chunk", clobbers=_ALL):
        _copies(out, layout.OUTS, layout.OUT_NOW, inward=False)
        out.word("mov", RAX, At(RBX, layout.CHUNK))
        out.word("mov", RDX, RAX)
        out.shift_word("shl", RDX, 7)
        out.word("add", RDX, At(RBX, layout.PLACES))
        for part in _PARTS:
            out.unary("movups", YMM[0], At(RBX, layout.PLACE + 32 * part))
            out.store("movups", At(RDX, 32 * part), YMM[0])
        out.number("add", RAX, 1)
        out.keep(At(RBX, layout.CHUNK), RAX)
        out.jump("next_chunk")

    with out.routine("enter_whole", clobbers=_ALL):
        entry, ones = YMM[:2]
        out.unary("broadcastd", entry, At(RBX, layout.ENTRY))
        out.vector("pcmpeqd", ones, ones, ones)
        for part in _PARTS:
            out.store("movups", At(RBX, layout.PLACE + 32 * part), entry)
            out.store("movups", At(RBX, layout.MASK + 32 * part), ones)
        out.put(At(RBX, layout.UNFINISHED), -1)
        out.put(At(RBX, layout.ACTIVE), -1)
        out.word("mov", RAX, At(RBX, layout.ENTRY))
        out.word("mov", RDX, At(RBX, layout.TABLE))
        out.jump_to(At(RDX, 0, RAX, 8))


def _warps(out: Assembler) -> None:
    """Warps of whole blocks, one after the other."""
    with out.routine("next_warp", clobbers=_ALL):
        _take_time(out, RBX)
        _begin_or_leave(out, "begin_warp")

    with out.routine("begin_warp", clobbers=_ALL):
        out.number("cmp", At(RBX, layout.BLOCK_DUE), 0, wide=False)
        out.jump_if("e", "has_block")
        out.put(At(RBX, layout.BLOCK_DUE), 0)
        with out.scope():
            _copies(out, layout.BLOCK_INS, layout.BLOCK_IN_COUNT, inward=True)
        out.label("has_block")
        _copies(out, layout.INS, layout.IN_COUNT, inward=True)
        out.word("mov", RAX, At(RBX, layout.WARP))
        out.jump("enter_chunk")

    with out.routine("finish_warp", clobbers=_ALL):
        out.number("add", At(RBX, layout.CHUNK), 1)
        out.word("mov", RAX, At(RBX, layout.WARP))
        out.number("add", RAX, 1)
        out.word("cmp", RAX, At(RBX, layout.WARPS))
        out.jump_if("b", "same_block")
        out.set(RAX, 0)
        out.put(At(RBX, layout.BLOCK_DUE), 1)
        out.number("add", At(RBX, layout.BLOCK), 1)
        out.label("same_block")
        out.keep(At(RBX, layout.WARP), RAX)
        out.jump("next_warp")


def _rings(out: Assembler) -> None:
    """The warps of a block by turns, each in a memory of its own, up to its end or to the next barrier: when
    the first one has its turn again, all that have not ended wait there.
    """
    with out.routine("next_block", clobbers=_ALL):
        out.word("mov", RDX, At(RBX, layout.TURN))
        _begin_or_leave(out, "begin_block")

    with out.routine("begin_block", clobbers=_ALL):
        out.word("mov", RAX, At(RBX, layout.WARPS))
        out.keep(At(RBX, layout.LEFT_IN_RING), RAX)
        out.put(At(RBX, layout.DEFINED), 0, wide=True)
        out.jump("begin_in_ring")

    with out.routine("begin_in_ring", clobbers=_ALL):
        out.put(At(RBX, layout.STATE), layout.RUNNING)
        out.put(At(RBX, layout.MARK), layout.CHUNK_BLOCKS, wide=True)
        out.word("mov", RAX, At(RBX, layout.FIRST_UNDEFINED))
        out.keep(At(RBX, layout.SHARED_UNDEFINED), RAX)
        with out.scope():
            _copies(out, layout.BLOCK_INS, layout.BLOCK_IN_COUNT, inward=True)
        _copies(out, layout.INS, layout.IN_COUNT, inward=True)
        out.word("mov", RAX, At(RBX, layout.WARP))
        out.jump("enter_chunk")

    with out.routine("barrier", takes=(RAX, RDX), clobbers=(RAX, RDX, RBX)):
        out.keep(At(RBX, layout.BARRIER_AT), RAX)
        out.keep(At(RBX, layout.AFTER), RDX)
        out.put(At(RBX, layout.STATE), layout.WAITING)
        out.load_label(RDX, "wake")
        out.keep(At(RBX, layout.RESUME), RDX)
        out.word("mov", RBX, At(RBX, layout.RING))
        out.jump_to(At(RBX, layout.RESUME))

    with out.routine("wake", clobbers=(RAX, RCX, RDX, RSI)):
        out.word("cmp", RBX, At(RBX, layout.LEADER))
        out.jump_if("ne", "awake")
        out.number("cmp", At(RBX, layout.RACE_TIME), 0)
        out.jump_if("e", "unordered")
        _look_at_barrier(out)
        out.label("unordered")
        out.number("cmp", At(RBX, layout.SHARED_UNDEFINED), 0)
        out.jump_if("e", "defined")
        out.call("look_for_undefined")
        out.label("defined")
        out.word("mov", RDX, At(RBX, layout.MARK))
        out.word("sub", RDX, At(RBX, layout.BUDGET))
        out.word("cmp", RDX, At(RBX, layout.PHASE_TURN))
        out.jump_if("le", "awake")
        out.word("mov", RDX, At(RBX, layout.BUDGET))
        out.keep(At(RBX, layout.MARK), RDX)
        out.set(RAX, layout.BETWEEN)
        out.jump("leave")
        out.label("awake")
        out.put(At(RBX, layout.STATE), layout.RUNNING)
        out.jump_to(At(RBX, layout.AFTER))

    with out.routine("look_for_undefined", clobbers=(RAX, RCX, RDX, RSI)):
        # again, from where the block's memory had some
        out.word("mov", RDX, At(RBX, layout.DEFINED))
        out.word("mov", RSI, At(RBX, layout.SHARED_BASE))
        out.word("add", RSI, At(RBX, layout.SHARED_UNDEFINED))
        out.label("next")
        out.word("cmp", RDX, At(RBX, layout.SHARED_SIZE))
        out.jump_if("ae", "all")
        out.number("cmp", At(RSI, 0, RDX, 1), 0)
        out.jump_if("ne", "some")
        out.number("add", RDX, 8)  # those behind the end are defined
        out.jump("next")
        out.label("all")
        out.word("mov", RCX, RBX)
        out.set(RAX, 0)
        out.label("tell")
        out.keep(At(RCX, layout.SHARED_UNDEFINED), RAX)
        out.word("mov", RCX, At(RCX, layout.RING))
        out.word("cmp", RCX, RBX)
        out.jump_if("ne", "tell")
        out.label("some")
        out.keep(At(RBX, layout.DEFINED), RDX)
        out.ret()

    with out.routine("finish_in_ring", clobbers=(*_ALL, RBX)):
        out.put(At(RBX, layout.STATE), layout.FINISHED)
        out.load_label(RDX, "over")
        out.keep(At(RBX, layout.RESUME), RDX)
        out.word("mov", RCX, At(RBX, layout.LEADER))
        _take_time(out, RCX)
        out.word("mov", RAX, At(RBX, layout.WARPS))
        out.add_to(At(RBX, layout.CHUNK), RAX)
        out.number("add", At(RBX, layout.BLOCK), 1)
        out.number("sub", At(RCX, layout.LEFT_IN_RING), 1)
        out.jump_if("nz", "skip")
        out.load_label(RDX, "begin_in_ring")
        out.label("each")
        out.word("mov", RBX, At(RBX, layout.RING))
        out.put(At(RBX, layout.STATE), layout.NOT_BEGUN)
        out.keep(At(RBX, layout.RESUME), RDX)
        out.number("sub", RAX, 1)
        out.jump_if("nz", "each")
        out.word("mov", RBX, RCX)
        out.jump("next_block")

    with out.routine("over", clobbers=(RAX, RDX, RBX)):  # the detector asks who is not at a barrier
        out.number("cmp", At(RBX, layout.RACE_TIME), 0)
        out.jump_if("e", "skip")
        out.word("cmp", RBX, At(RBX, layout.LEADER))
        out.jump_if("ne", "skip")
        out.label("next")
        out.word("mov", RBX, At(RBX, layout.RING))
        out.number("cmp", At(RBX, layout.STATE), layout.WAITING, wide=False)
        out.jump_if("ne", "next")
        out.jump("pause")

    with out.routine("skip", clobbers=(RBX,)):
        out.word("mov", RBX, At(RBX, layout.RING))
        out.jump_to(At(RBX, layout.RESUME))


def _look_at_barrier(out: Assembler) -> None:
    """Count the time of the race detector, if all warps of the block are at one barrier, and nothing else
    orders threads; else NumPy goes on with the block.
    """
    out.word("mov", RDX, At(RBX, layout.BARRIER_AT))
    out.word("mov", RCX, RBX)
    out.label("look")
    out.word("mov", RCX, At(RCX, layout.RING))
    out.word("cmp", RDX, At(RCX, layout.BARRIER_AT))
    out.jump_if("ne", "pause")
    out.number("cmp", At(RCX, layout.STATE), layout.WAITING, wide=False)
    out.jump_if("ne", "pause")
    out.word("cmp", RCX, RBX)
    out.jump_if("ne", "look")
    races.require_order(out, "pause")
    out.number("add", At(RBX, layout.RACE_TIME), 1)
    race_bands.find_chunk(out, RAX)
    out.word("mov", RDX, At(RBX, layout.WARP))
    out.shift_word("shl", RDX, race_tables.CHUNK.bit_length() - 1)
    out.word("sub", RAX, RDX)
    out.word("mov", RDX, At(RBX, layout.RACE_TIME))
    out.word("mov", RCX, At(RBX, layout.WARPS))
    out.label("tell")
    out.keep(At(RAX, race_tables.OWN), RDX, 4)
    out.keep(At(RAX, race_tables.TIME), RDX)
    out.number("add", RAX, race_tables.CHUNK)
    out.number("sub", RCX, 1)
    out.jump_if("nz", "tell")


def _copies(out: Assembler, table: int, count: int, inward: bool) -> None:
    """Copy between arrays and locations. rsi: an entry of the table, rdx: memory, rdi: a location."""
    kinds = range(7)
    out.word("mov", RSI, At(RBX, table))
    out.word("mov", RCX, At(RBX, count))
    out.label("each")
    out.test(RCX, RCX)
    out.jump_if("z", "copied")
    out.word("mov", RDX, At(RSI, 32))
    out.word("mov", RDX, At(RBX, 0, RDX, 1))
    out.multiply(RDX, At(RSI, 8))
    out.word("add", RDX, At(RSI, 0))
    out.lea(RDI, At(RBX, 0))
    out.word("add", RDI, At(RSI, 16))
    out.word("mov", RAX, At(RSI, 24))
    for kind in kinds:
        out.number("cmp", RAX, kind)
        out.jump_if("e", f"kind {kind}")
    for kind in kinds:
        out.label(f"kind {kind}")
        with out.scope():
            _copy(out, kind, inward)
        out.jump("next")
    out.label("next")
    out.number("add", RSI, layout.COPY)
    out.number("sub", RCX, 1)
    out.jump("each")
    out.label("copied")


def _copy(out: Assembler, kind: int, inward: bool) -> None:
    if kind in (layout.AS_IT_IS, layout.AS_WIDE):
        source, target = (RDX, RDI) if inward else (RDI, RDX)
        parts = _WIDE_PARTS if kind == layout.AS_WIDE else _PARTS
        for part in parts:
            out.unary("movups", YMM[part], At(source, 32 * part))
        for part in parts:
            out.store("movups", At(target, 32 * part), YMM[part])
        return
    if kind in (layout.ALIKE, layout.ALIKE_WIDE):
        if inward:
            is_wide = kind == layout.ALIKE_WIDE
            out.unary("broadcastq" if is_wide else "broadcastd", YMM[0], At(RDX, 0))
            for part in _WIDE_PARTS if is_wide else _PARTS:
                out.store("movups", At(RDI, 32 * part), YMM[0])
        return
    size = 2 if kind == layout.AS_HALF else 1
    if inward:
        value, zero = YMM[0], YMM[2]
        out.vector("pxor", zero, zero, zero)
        for part in _PARTS:
            out.unary("pmovzxwd" if size == 2 else "pmovzxbd", value, At(RDX, 8 * size * part))
            if kind == layout.AS_BOOL:
                out.vector("psubd", value, zero, value)
            out.store("movups", At(RDI, 32 * part), value)
        return
    out.set(RAX, 0)
    out.label("lane")
    out.fetch(R9, At(RDI, 0, RAX, 4), 4)
    if kind == layout.AS_BOOL:
        out.number("and", R9, 1, wide=False)
    out.keep(At(RDX, 0, RAX, size), R9, size)
    out.number("add", RAX, 1)
    out.number("cmp", RAX, layout.LANES)
    out.jump_if("ne", "lane")


def _schedule(out: Assembler) -> None:
    with out.routine("pause", clobbers=(RAX, RDX)):
        out.load_label(RDX, "schedule")
        out.keep(At(RBX, layout.RESUME), RDX)
        out.set(RAX, layout.PAUSED)
        out.jump("leave")

    with out.routine("give_up", takes=(RAX,), clobbers=_ALL):
        _move_lanes(out)
        out.jump("pause")

    with out.routine("go_on", takes=(RAX,), clobbers=_ALL):
        _move_lanes(out)
        out.jump("schedule")

    with out.routine("diverge", takes=(RAX, RDX), clobbers=_ALL):
        taken, other, place = YMM[:3]
        out.movd_in(taken, RAX)
        out.unary("broadcastd", taken, taken)
        out.movd_in(other, RDX)
        out.unary("broadcastd", other, other)
        for part in _PARTS:
            out.unary("movups", place, At(RBX, layout.CONDITION + 32 * part))
            out.vector("blendvps", place, other, taken, place << 4)
            _put_place(out, part, place)
        out.jump("schedule")

    with out.routine("switch", takes=(RDI, RDX), clobbers=_ALL):
        out.fetch(RCX, At(RBX, layout.ACTIVE), 4)
        out.label("lane")
        out.lowest_bit(R9, RCX)
        out.fetch(RAX, At(RBX, layout.CONDITION, R9, 4), 4)
        out.word("cmp", RAX, RDX, wide=False)
        out.jump_if("be", "chosen")
        out.word("mov", RAX, RDX, wide=False)
        out.label("chosen")
        out.fetch(RAX, At(RDI, 0, RAX, 4), 4)
        out.keep(At(RBX, layout.PLACE, R9, 4), RAX, 4)
        out.clear_lowest_bit(RCX, R10)
        out.jump_if("nz", "lane")
        out.jump("schedule")

    with out.routine("exit_whole", takes=(RAX,), clobbers=_ALL):
        out.fetch(RCX, At(RBX, layout.ACTIVE), 4)
        out.word("cmp", RCX, At(RBX, layout.UNFINISHED), wide=False)
        out.jump_if("ne", "exit")
        out.jump_to(routine(layout.FINISH))

    with out.routine("exit", takes=(RAX,), clobbers=_ALL):
        _move_lanes(out)
        out.fetch(RAX, At(RBX, layout.ACTIVE), 4)
        out.invert(RAX)
        out.word("and", RAX, At(RBX, layout.UNFINISHED), wide=False)
        out.keep(At(RBX, layout.UNFINISHED), RAX, 4)

    with out.routine("schedule", clobbers=_ALL):
        out.fetch(RAX, At(RBX, layout.UNFINISHED), 4)
        out.test(RAX, RAX, wide=False)
        out.jump_if("nz", "unfinished")
        out.jump_to(routine(layout.FINISH))
        out.label("unfinished")
        out.number("sub", At(RBX, layout.BUDGET), 1)
        out.jump_if("s", "pause")
        places, (least, other) = YMM[:4], YMM[4:6]
        for part in _PARTS:
            out.unary("movups", places[part], At(RBX, layout.PLACE + 32 * part))
        out.word("mov", RSI, At(RBX, layout.DRAWS))
        out.test(RSI, RSI)
        out.jump_if("z", "in_order")
        _draw(out, least)
        out.jump("chosen")
        out.label("in_order")
        out.vector("pminud", least, places[0], places[1])
        out.vector("pminud", other, places[2], places[3])
        out.vector("pminud", least, least, other)
        for shuffle, order in (("permq", 0x4E), ("pshufd", 0x4E), ("pshufd", 0xB1)):
            out.unary(shuffle, other, least, order)
            out.vector("pminud", least, least, other)
        out.movd(RAX, least)
        out.label("chosen")
        out.set(RDX, 0)
        for part in _PARTS:
            out.vector("pcmpeqd", places[part], places[part], least)
            out.store("movups", At(RBX, layout.MASK + 32 * part), places[part])
            out.unary("movmskps", RCX, places[part])
            if part:
                out.shift_word("shl", RCX, 8 * part, wide=False)
            out.word("or", RDX, RCX, wide=False)
        out.keep(At(RBX, layout.ACTIVE), RDX, 4)
        out.word("mov", RDX, At(RBX, layout.TABLE))
        out.jump_to(At(RDX, 0, RAX, 8))


def _draw(out: Assembler, place: Register) -> None:
    """The place of a lane that is drawn: eax, and in all of a vector. Half of the draws go to "in_order", and
    those of lanes that have left, or that wait for others to come along. rsi: DRAWS.
    """
    out.set(RDX, _MULTIPLIER)
    out.multiply(RDX, At(RBX, layout.DRAWN))
    out.number("add", RDX, 1)
    out.keep(At(RBX, layout.DRAWN), RDX)
    out.test(RDX, RDX)
    out.jump_if("s", "in_order")
    out.shift_word("shr", RDX, 58)
    out.fetch(RAX, At(RBX, layout.PLACE, RDX, 4), 4)
    out.number("cmp", RAX, layout.LEFT, wide=False)
    out.jump_if("ae", "in_order")
    out.fetch(RDX, At(RSI, 0, RAX, 1), 1)
    out.test(RDX, RDX, wide=False)
    out.jump_if("z", "in_order")
    out.movd_in(place, RAX)
    out.unary("broadcastd", place, place)


def _move_lanes(out: Assembler) -> None:
    """The active lanes to place eax."""
    place = YMM[0]
    out.movd_in(place, RAX)
    out.unary("broadcastd", place, place)
    for part in _PARTS:
        _put_place(out, part, place)


def _put_place(out: Assembler, part: int, place: Register) -> None:
    """The place of those lanes of a part that are active."""
    before, mask = YMM[3:5]
    out.unary("movups", before, At(RBX, layout.PLACE + 32 * part))
    out.unary("movups", mask, At(RBX, layout.MASK + 32 * part))
    out.vector("blendvps", before, before, place, mask << 4)
    out.store("movups", At(RBX, layout.PLACE + 32 * part), before)


def _flush_least(out: Assembler) -> None:
    """The sign of a * b + (c - TINY) is exact: the difference is, as the sum nearly vanishes."""
    with out.routine("flush_least"):
        saved = layout.VALUES + 7 * WIDE  # nothing is loaded or stored within straight-line code
        out.saves(YMM[:8])
        for register in YMM[:8]:
            out.store("movups", At(RBX, saved + 32 * register), register)
        result, a, b, c, sign, tiny, high, low = YMM[:8]
        for half in (0, 16):
            for number, register in enumerate((result, a, b, c)):
                out.unary("cvtps2pd", register, At(RBX, layout.MOVED + 32 * number + half))
            out.vector("pcmpeqd", sign, sign, sign)
            out.shift("psllq", sign, sign, 63)
            out.vector("pand", sign, sign, result)
            out.unary("broadcastq", tiny, At(RBX, layout.TINY))
            out.vector("por", tiny, tiny, sign)
            out.vector("subpd", c, c, tiny)
            out.vector("fmadd213pd", a, b, c)
            out.vector("pxor", a, a, sign)
            zero = tiny
            out.vector("pxor", zero, zero, zero)
            out.vector("cmppd", high if half else low, a, zero, 0x11)  # less
        is_less, is_least, sign = high, a, a
        out.vector("shufps", is_less, low, high, 0x88)
        out.unary("permq", is_less, is_less, 0xD8)
        out.unary("movups", result, At(RBX, layout.MOVED))
        out.shift("pslld", is_least, result, 1)
        out.unary("broadcastd", b, At(RBX, layout.LEAST))
        out.vector("pcmpeqd", is_least, is_least, b)
        out.vector("pand", is_less, is_less, is_least)
        out.vector("pcmpeqd", sign, sign, sign)
        out.shift("pslld", sign, sign, 31)
        out.vector("pand", sign, sign, result)
        out.vector("blendvps", result, result, sign, is_less << 4)
        out.store("movups", At(RBX, layout.MOVED), result)
        for register in YMM[:8]:
            out.unary("movups", register, At(RBX, saved + 32 * register))
        out.ret()


def _look(out: Assembler, has_base: bool) -> None:
    """Not zero if active addresses are below register 0, if it counts, or rax or more above it (above 0), or
    no multiples of r8. Changes rax and registers 1 to 8.
    """
    base, limit, bad, bits, address, difference, beyond, mask, zero = YMM[:9]
    out.movd_in(limit, RAX, wide=True)
    out.unary("broadcastq", limit, limit)
    out.vector("pxor", bad, bad, bad)
    out.vector("pxor", bits, bits, bits)
    out.number("cmp", At(RBX, layout.ACTIVE), -1, wide=False)
    out.jump_if("ne", "masked")
    for is_masked in (False, True):
        if is_masked:
            out.label("masked")
        for part in _WIDE_PARTS:  # what is wrong has its sign set
            offset = difference if has_base else address
            out.unary("movups", address, At(RBX, layout.ADDRESS + 32 * part))
            if has_base:
                out.vector("psubq", offset, address, base)
            out.vector("psubq", beyond, limit, offset)
            out.vector("por", beyond, beyond, offset)
            if is_masked:
                out.unary("pmovsxdq", mask, At(RBX, layout.MASK + 16 * part))
                out.vector("pand", beyond, beyond, mask)
                out.vector("pand", address, address, mask)
            out.vector("por", bad, bad, beyond)
            out.vector("por", bits, bits, address)
        if not is_masked:
            out.jump("looked")
    out.label("looked")
    out.lea(RAX, At(R8, -1))
    out.movd_in(address, RAX, wide=True)
    out.unary("broadcastq", address, address)
    out.vector("pand", bits, bits, address)
    out.vector("pxor", zero, zero, zero)
    out.vector("psubq", bits, zero, bits)
    out.vector("por", bad, bad, bits)
    out.unary("movmskpd", RAX, bad)
    out.test(RAX, RAX)


def _look_at_row(out: Assembler, base: At | None, failed: str) -> None:
    """Go to `failed` where that is the case, if ROW is not 0: the first address and the last count. Changes
    rcx and rsi.
    """
    _look_at_lane(out, 0, base, failed)
    out.number("cmp", At(RBX, layout.ROW), layout.SAME, wide=False)
    out.jump_if("e", "same")
    for lane in (15, 16, 31):
        _look_at_lane(out, lane, base, failed)
    out.label("same")


def _look_at_lane(out: Assembler, lane: int, base: At | None, failed: str) -> None:
    out.word("mov", RCX, At(RBX, layout.ADDRESS + 8 * lane))
    if not lane % 16:
        out.lea(RSI, At(R8, -1))
        out.test(RSI, RCX)
        out.jump_if("nz", failed)
    if base is not None:
        out.word("sub", RCX, base)
        out.jump_if("b", failed)
    out.word("cmp", RCX, RAX)
    out.jump_if("a", failed)


def _check_global(out: Assembler) -> None:
    """rdx: where an allocation is remembered, its address and size, in which the addresses may lie."""
    start, size = At(RDX, 0), At(RDX, 8)
    with out.routine("check_global", takes=(R8, RDX), clobbers=_BY_CHECKS):
        out.set(R9, 0)
        out.call("rows")
        out.label("again")
        out.word("mov", RAX, size)
        out.word("sub", RAX, R8)
        out.jump_if("l", "find")
        out.number("cmp", At(RBX, layout.ROW), 0, wide=False)
        out.jump_if("e", "each")
        _look_at_row(out, start, "find")
        out.set(RAX, 0)
        out.ret()
        out.label("each")
        out.unary("broadcastq", YMM[0], start)
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
        low, high = R10, R11
        out.set(low, 0)
        out.word("mov", high, At(RBX, layout.ALLOCATIONS))
        out.label("halve")
        out.word("cmp", low, high)
        out.jump_if("ae", "halved")
        out.lea(RAX, At(low, 0, high, 1))
        out.shift_word("shr", RAX, 1)
        out.word("cmp", RCX, At(RSI, 0, RAX, 8))
        out.jump_if("b", "lower")
        out.lea(low, At(RAX, 1))
        out.jump("halve")
        out.label("lower")
        out.word("mov", high, RAX)
        out.jump("halve")
        out.label("halved")
        out.set(RAX, 1)
        out.number("sub", low, 1)
        out.jump_if("s", "found")
        out.word("mov", RSI, At(RSI, 0, low, 8))
        out.word("mov", R11, At(RBX, layout.ENDS))
        out.word("mov", R11, At(R11, 0, low, 8))
        out.word("cmp", RCX, R11)
        out.jump_if("ae", "found")
        out.word("sub", R11, RSI)
        out.keep(start, RSI)
        out.keep(size, R11)
        out.word("mov", R11, At(RBX, layout.UNDEFINED))
        out.word("mov", R11, At(R11, 0, low, 8))
        out.keep(At(RDX, layout.FOUND_UNDEFINED), R11)
        out.shift_word("shl", low, race_tables.SHADOW.bit_length() - 1)
        out.word("add", low, At(RBX, layout.SHADOWS))
        out.keep(At(RDX, layout.FOUND_SHADOW), low)
        out.word("mov", R11, RDX)
        out.word("sub", R11, RBX)
        out.word("mov", R10, At(RBX, layout.RING))
        out.label("tell")  # the other warps of the block
        out.word("cmp", R10, RBX)
        out.jump_if("e", "again")
        for offset in range(0, layout.FOUND, 8):
            out.word("mov", RAX, At(RDX, offset))
            out.keep(At(R10, offset, R11, 1), RAX)
        out.word("mov", R10, At(R10, layout.RING))
        out.jump("tell")
        out.label("found")
        out.ret()


def _check_own(out: Assembler, window: int | None, size: int, base: int) -> None:
    """Addresses in memory of which each lane, or its block, has some for itself."""
    out.word("mov", RAX, At(RBX, size))
    out.word("sub", RAX, R8)
    out.jump_if("l", "failed")
    out.word("mov", R9, RAX)
    out.call("rows")
    out.word("mov", RAX, R9)
    start, address = YMM[0], YMM[4]
    if window is not None:
        out.unary("broadcastq", start, At(RBX, window))
    out.number("cmp", At(RBX, layout.ROW), 0, wide=False)
    out.jump_if("e", "each")
    _look_at_row(out, None if window is None else At(RBX, window), "failed")
    out.jump("good")
    out.label("each")
    _look(out, has_base=window is not None)
    out.jump_if("nz", "failed")
    out.label("good")
    for part in _WIDE_PARTS:
        out.unary("movups", address, At(RBX, layout.ADDRESS + 32 * part))
        if window is not None:
            out.vector("psubq", address, address, start)
        out.vector("paddq", address, address, At(RBX, base + 32 * part))
        out.store("movups", At(RBX, layout.ADDRESS + 32 * part), address)
    if base == layout.SHARED_BASE:  # a warp has one, so that its row stays one
        out.number("cmp", At(RBX, layout.ALIGNED), 1, wide=False)
        out.jump_if("ne", "again")
        out.set(RAX, 0)
        out.ret()
    out.label("again")
    out.call("rows")
    out.set(RAX, 0)
    out.ret()
    out.label("failed")
    out.set(RAX, 1)
    out.ret()


def _first_address(out: Assembler) -> None:
    """The address of the first active lane, into rcx."""
    out.fetch(RCX, At(RBX, layout.ACTIVE), 4)
    out.lowest_bit(RCX, RCX)
    out.word("mov", RCX, At(RBX, layout.ADDRESS, RCX, 8))


def _check_generic(out: Assembler) -> None:
    """The window of the first active lane says where to look."""
    with out.routine("check_generic", takes=(R8, RDX), clobbers=_BY_CHECKS):
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
    """Set ROW if all lanes are active: to r8 if they lie so far apart, one after the other, with HALVES added
    if those of each half do, to SAME if not at all; else to 0.
    """
    with out.routine("rows", takes=(R8,), clobbers=(RAX, RCX, *YMM[:3])):
        first, expected, equal = YMM[:3]
        out.put(At(RBX, layout.ROW), 0)
        out.number("cmp", At(RBX, layout.ACTIVE), -1, wide=False)
        out.jump_if("ne", "scattered")
        out.unary("broadcastq", first, At(RBX, layout.ADDRESS))
        out.vector("pcmpeqd", equal, equal, equal)
        out.word("mov", RCX, At(RBX, layout.ADDRESS + 8))
        out.word("sub", RCX, At(RBX, layout.ADDRESS))
        out.jump_if("nz", "apart")
        for part in _WIDE_PARTS:
            out.vector("pcmpeqq", expected, first, At(RBX, layout.ADDRESS + 32 * part))
            out.vector("pand", equal, equal, expected)
        out.set(RCX, layout.SAME & 0xFFFFFFFF)
        out.jump("compared")
        out.label("apart")
        out.word("cmp", RCX, R8)
        out.jump_if("ne", "scattered")
        out.lowest_bit(RAX, R8)
        out.shift_word("shl", RAX, WIDE.bit_length() - 1)
        out.lea(RAX, At(RBX, layout.STEPS, RAX, 1))
        for part in _WIDE_PARTS:
            if part == 4:
                out.unary("broadcastq", first, At(RBX, _MIDDLE))
            out.vector("paddq", expected, first, At(RAX, 32 * (part % 4)))
            out.vector("pcmpeqq", expected, expected, At(RBX, layout.ADDRESS + 32 * part))
            out.vector("pand", equal, equal, expected)
        out.word("mov", RAX, At(RBX, _MIDDLE))
        out.word("sub", RAX, At(RBX, layout.ADDRESS + 8 * 15))
        out.word("cmp", RAX, RCX)
        out.jump_if("e", "compared")
        out.number("add", RCX, layout.HALVES)
        out.label("compared")
        out.unary("movmskpd", RAX, equal)
        out.number("cmp", RAX, 15, wide=False)
        out.jump_if("ne", "scattered")
        out.keep(At(RBX, layout.ROW), RCX, 4)
        out.label("scattered")
        out.ret()


def _load(out: Assembler, size: int) -> None:
    with out.routine(f"load{size}", takes=(R8, RDI), clobbers=(RAX, RCX, RDX, R10, *YMM[: max(size, 4)])):
        value, other = YMM[:2]
        parts, wide = range(max(size, 4)), size == 8
        out.number("cmp", At(RBX, layout.ROW), size, wide=False)
        out.jump_if("ne", "not_a_row")
        out.word("mov", RAX, At(RBX, layout.ADDRESS))
        out.word("add", RAX, R8)
        for part in parts:
            if size in (4, 8):
                out.unary("movups", YMM[part], At(RAX, 32 * part))
            else:
                extend = "pmovzxwd" if size == 2 else "pmovzxbd"
                out.unary(extend, YMM[part], At(RAX, 8 * size * part))
        for line in range(max(size // 2, 1)):  # of the next warp: in a loop, that comes long after this one
            out.prefetch(At(RAX, 32 * size + 64 * line))
        for part in parts:
            out.store("movups", At(RDI, 32 * part), YMM[part])
        out.ret()
        out.label("not_a_row")
        out.number("cmp", At(RBX, layout.ROW), layout.HALVES + size, wide=False)
        out.jump_if("ne", "not_halves")
        for half in (0, 1):
            out.word("mov", RAX, At(RBX, _MIDDLE if half else layout.ADDRESS))
            out.word("add", RAX, R8)
            for part in range(len(parts) // 2):
                if size in (4, 8):
                    out.unary("movups", value, At(RAX, 32 * part))
                else:
                    out.unary("pmovzxwd" if size == 2 else "pmovzxbd", value, At(RAX, 8 * size * part))
                out.store("movups", At(RDI, 16 * len(parts) * half + 32 * part), value)
        out.ret()
        out.label("not_halves")
        out.number("cmp", At(RBX, layout.ROW), layout.SAME, wide=False)
        out.jump_if("ne", "scattered")
        out.word("mov", RAX, At(RBX, layout.ADDRESS))
        _spread(out, value, At(RAX, 0, R8, 1), size)
        for part in parts:
            out.store("movups", At(RDI, 32 * part), value)
        out.ret()
        out.label("scattered")
        out.number("cmp", At(RBX, layout.ACTIVE), -1, wide=False)
        out.jump_if("ne", "masked")
        beside = 4 if wide else 8
        for part in range(32 // beside):
            near = out.new_label()
            if size >= 4:
                _load_beside(out, size, part, beside, near)
            for place in range(beside):
                out.word("mov", RAX, At(RBX, layout.ADDRESS + 8 * (beside * part + place)))
                _spread(out, other if place else value, At(RAX, 0, R8, 1), size)
                if place:
                    out.vector("pblendd", value, value, other, 3 << 2 * place if wide else 1 << place)
            out.label(near)
            out.store("movups", At(RDI, 32 * part), value)
        out.ret()
        out.label("masked")
        with each_active_lane(out, RAX):
            out.fetch(RAX, At(RAX, 0, R8, 1), size)
            out.keep(At(RDI, 0, RDX, max(size, 4)), RAX, max(size, 4))
        out.ret()


def _load_beside(out: Assembler, size: int, part: int, beside: int, near: str) -> None:
    """Load the lanes of a part into register 0, and go to `near`, if they have one address or consecutive
    ones: as those of the rows of a block that is narrower than a warp.
    """
    value, first, different, apart = YMM[:4]
    address = layout.ADDRESS + 8 * beside * part
    steps = layout.STEPS + (size.bit_length() - 1) * WIDE
    out.unary("broadcastq", first, At(RBX, address))
    out.word("mov", RAX, At(RBX, address))
    for is_row in (False, True):
        unlike = out.new_label()
        out.vector("pxor", different, different, different)
        for offset in range(0, 8 * beside, 32):
            if is_row:
                out.vector("paddq", apart, first, At(RBX, steps + offset))
            out.vector("pxor", apart, apart if is_row else first, At(RBX, address + offset))
            out.vector("por", different, different, apart)
        out.unary("ptest", different, different)
        out.jump_if("nz", unlike)
        if is_row:
            out.unary("movups", value, At(RAX, 0, R8, 1))
        else:
            _spread(out, value, At(RAX, 0, R8, 1), size)
        out.jump(near)
        out.label(unlike)


def _spread(out: Assembler, target: Register, source: At, size: int) -> None:
    """A number in memory to all places of a vector. Changes rax, if it is a small one."""
    if size < 4:
        out.fetch(RAX, source, size)
        out.movd_in(target, RAX)
        out.unary("broadcastd", target, target)
    else:
        out.unary("broadcastq" if size == 8 else "broadcastd", target, source)


def _store(out: Assembler, size: int) -> None:
    """Of several for one address the last lane's stays."""
    vectors = YMM[:size] if size >= 4 else ()
    with out.routine(f"store{size}", takes=(R8, RDI), clobbers=(RAX, RCX, RDX, R9, R10, *vectors)):
        if vectors:
            out.number("cmp", At(RBX, layout.ROW), size, wide=False)
            out.jump_if("ne", "scattered")
            out.word("mov", RAX, At(RBX, layout.ADDRESS))
            out.word("add", RAX, R8)
            for part, vector in enumerate(vectors):
                out.unary("movups", vector, At(RDI, 32 * part))
            for part, vector in enumerate(vectors):
                out.store("movups", At(RAX, 32 * part), vector)
            out.ret()
        out.label("scattered")
        out.number("cmp", At(RBX, layout.ACTIVE), -1, wide=False)
        out.jump_if("ne", "masked")
        for lane in range(layout.LANES):
            out.word("mov", RAX, At(RBX, layout.ADDRESS + 8 * lane))
            out.fetch(R9, At(RDI, max(size, 4) * lane), max(size, 4))
            out.keep(At(RAX, 0, R8, 1), R9, size)
        out.ret()
        out.label("masked")
        with each_active_lane(out, RAX):
            out.fetch(R9, At(RDI, 0, RDX, max(size, 4)), max(size, 4))
            out.keep(At(RAX, 0, R8, 1), R9, size)
        out.ret()
