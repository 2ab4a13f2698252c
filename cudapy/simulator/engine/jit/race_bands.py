"""Whole warps in memory that their blocks go through in order, for `races`: see `run.shadow.Record`, bands.

A band of the last reads is in use only where that of the first ones is open, so nobody has to look at it.
"""

from ..access import ATOMIC, READ, WRITE
from ..assembler.x86_64 import R8, R9, R10, R11, R12, RAX, RBX, RCX, RDI, RDX, RSI, Assembler, At
from ..run.shadow import BAND, ROW, STRETCH
from . import layout
from .race_tables import (
    BANDS,
    CHUNK,
    ENTRY,
    FIRST_READS,
    OF_BLOCKS,
    OWN,
    RECORDS,
    ROWS,
    SHIFT,
    START,
    TOUCHED,
    WRITES,
    WRITTEN,
)

READ_ONLY = 3
"""A read of what the kernel does not write."""
ROUTINES = {READ: "race_read", WRITE: "race_write", ATOMIC: "race_atomic", READ_ONLY: "race_read_only"}
"""What enters an access of each kind."""
ROW_KINDS = READ, WRITE, READ_ONLY
"""Those that `write_row` is for."""
SHADOW_AT, PLACE = R12, RSI
"""What `race_band` takes: a shadow, and the number of a part of its memory."""
_BAND_BITS = (ROW * BAND).bit_length() - 1
_ENTRY_BITS = ENTRY.bit_length() - 1
_SITE_AT, _COUNT_AT = 8, 12
"""Of a band: its site, and how many rows are used."""
_WANTED, _OWN, _BAND_AT, _ROW_AT, _ENTRY_AT = RDI, R11, RSI, RCX, R10
"""The epoch of a band's first lane, if those before are threads before; the epoch of this one; the offset of
the band, the number of the row in it, and the address of what a record has of the band.
"""


def find_chunk(out: Assembler, target: int) -> None:
    """The address of what is listed of the chunk at hand."""
    out.word("mov", target, At(RBX, layout.CHUNK))
    out.shift_word("shl", target, CHUNK.bit_length() - 1)
    out.word("add", target, At(RBX, layout.CHUNK_ORDERS))


def note_written(out: Assembler, shadow: int, target: int, epoch: int) -> None:
    """A shadow keeps the last epoch in which any thread wrote: 32 bits, for which `target` is free."""
    out.word("mov", RAX, At(shadow, WRITTEN))
    out.word("mov", target, epoch, wide=False)
    out.word("cmp", target, At(RAX, 0))
    out.jump_if("be", "kept")
    out.keep(At(RAX, 0), target)
    out.label("kept")


def row_routine(kind: int) -> str:
    """The name of what `write_row` writes."""
    return f"{ROUTINES[kind]}_row"


def write_row(out: Assembler, kind: int) -> None:
    """A routine that enters an access of r8 bytes of each lane of a warp, beside each other from address rsi
    on, into bands, and takes what others do. eax is not 0 if that cannot be, or takes rows: then nothing has
    changed.
    """
    changed = (RAX, _ROW_AT, _BAND_AT, _WANTED, _ENTRY_AT, _OWN)
    with out.routine(row_routine(kind), takes=(R8, R9, RDX, RSI), clobbers=changed):
        _find_row(out)
        if kind == WRITE:
            _require_own(out, FIRST_READS, kind)
            _enter(out, WRITES)
            note_written(out, RDX, _OWN, _OWN)
        else:
            out.word("mov", RAX, At(RDX, WRITTEN))
            out.number("cmp", At(RAX, 0), 0)
            out.jump_if("e", "unwritten")
            _require_own(out, WRITES, kind)
            out.label("unwritten")
            _enter(out, FIRST_READS)
        out.set(RAX, 0)
        out.ret()
        out.label("no")
        out.set(RAX, 1)
        out.ret()


def _find_row(out: Assembler) -> None:
    """Where two rows are, if a warp has them."""
    out.number("cmp", At(RBX, layout.ALIGNED), 1)
    out.jump_if("ne", "no")
    out.number("cmp", At(RBX, layout.CHUNK_ORDERS), 0)
    out.jump_if("e", "no")
    out.number("cmp", At(RDX, WRITES), 0)
    out.jump_if("e", "no")
    out.number("cmp", At(RDX, OF_BLOCKS), 0)  # each barrier gives the places to other threads
    out.jump_if("ne", "no")
    out.word("mov", RCX, At(RDX, SHIFT))
    out.word("mov", RAX, R8)
    out.shift_by_cl("shr", RAX)
    out.number("cmp", RAX, 1)
    out.jump_if("ne", "no")
    out.word("sub", RSI, At(RDX, START))
    out.shift_by_cl("shr", RSI)
    out.word("mov", _ROW_AT, RSI)
    out.number("and", RSI, layout.LANES - 1)
    out.jump_if("nz", "no")
    out.word("mov", _BAND_AT, _ROW_AT)
    out.shift_word("shr", _ROW_AT, ROW.bit_length() - 1)
    out.number("and", _ROW_AT, BAND - 1)
    out.shift_word("shr", _BAND_AT, _BAND_BITS)
    out.shift_word("shl", _BAND_AT, _ENTRY_BITS)
    find_chunk(out, _OWN)
    out.word("mov", _OWN, At(_OWN, OWN))
    out.word("mov", RAX, _ROW_AT)
    out.shift_word("shl", RAX, (ROW << 32).bit_length() - 1)
    out.word("mov", _WANTED, _OWN)
    out.word("sub", _WANTED, RAX)


def _require_own(out: Assembler, record: int, kind: int) -> None:
    """Go to `no` unless nobody has accessed the rows, or the same threads did."""
    unused = out.new_label()
    out.word("mov", _ENTRY_AT, At(RDX, record + BANDS))
    out.word("add", _ENTRY_AT, _BAND_AT)
    out.word("cmp", _ROW_AT, At(_ENTRY_AT, _COUNT_AT), wide=False)
    out.jump_if("ae", unused)
    if kind == READ_ONLY:
        out.jump("no")
    else:
        out.word("mov", RAX, At(_ENTRY_AT, 0))
        out.word("xor", RAX, _WANTED)
        out.shift_word("shr", RAX, 32)
        out.jump_if("nz", "no")
    out.label(unused)


def _enter(out: Assembler, record: int) -> None:
    """Have the rows in a record: as the band's next ones, unless they are there."""
    out.word("mov", _ENTRY_AT, At(RDX, record + BANDS))
    out.word("add", _ENTRY_AT, _BAND_AT)
    out.word("cmp", _ROW_AT, At(_ENTRY_AT, _COUNT_AT), wide=False)
    out.jump_if("a", "no")
    out.jump_if("b", "follow")
    out.test(_ROW_AT, _ROW_AT)
    out.jump_if("nz", "follow")
    out.keep(At(_ENTRY_AT, 0), _WANTED)
    out.keep(At(_ENTRY_AT, _SITE_AT), R9, 4)
    _touch(out, RDX, record, _BAND_AT, _BAND_AT)
    out.jump("count")
    out.label("follow")  # those that are open have another epoch
    out.word("cmp", _WANTED, At(_ENTRY_AT, 0))
    out.jump_if("ne", "no")
    out.word("cmp", R9, At(_ENTRY_AT, _SITE_AT), wide=False)
    out.jump_if("ne", "no")
    out.word("cmp", _ROW_AT, At(_ENTRY_AT, _COUNT_AT), wide=False)
    out.jump_if("ne", "entered")
    out.label("count")
    out.number("add", _ROW_AT, layout.LANES // ROW)
    out.keep(At(_ENTRY_AT, _COUNT_AT), _ROW_AT, 4)
    out.label("entered")


def write_band(out: Assembler) -> None:
    """A routine that has rows in the band of PLACE, in all records."""
    entry, band, row, epoch, count = R8, R10, RDI, RDX, RCX
    saved = row, epoch, count
    with out.routine("race_band", takes=(SHADOW_AT, PLACE), clobbers=(RAX, entry, band)):
        out.word("mov", band, PLACE)
        out.shift_word("shr", band, _BAND_BITS)
        out.shift_word("shl", band, _ENTRY_BITS)
        for record in RECORDS:
            out.word("mov", entry, At(SHADOW_AT, record + BANDS))
            out.word("and" if record else "mov", RAX, At(entry, 0, band, 1))
        out.number("cmp", RAX, -1)  # OPEN
        out.jump_if("e", "are open")
        for register in saved:
            out.push(register)
        for record in RECORDS:
            is_open, next_, over = (out.new_label() for _ in range(3))
            out.word("mov", entry, At(SHADOW_AT, record + BANDS))
            out.word("add", entry, band)
            out.word("mov", epoch, At(entry, 0))
            out.number("cmp", epoch, -1)
            out.jump_if("e", is_open)
            out.word("mov", row, band)
            out.shift_word("shl", row, BAND.bit_length() - 1)
            out.word("add", row, At(SHADOW_AT, record + ROWS))
            out.fetch(count, At(entry, _COUNT_AT), 4)
            out.label(next_)
            out.number("sub", count, 1)
            out.jump_if("s", over)
            out.keep(At(row, 0), epoch)
            out.fetch(RAX, At(entry, _SITE_AT), 4)
            out.keep(At(row, 8), RAX)
            out.number("add", row, ENTRY)
            out.set(RAX, ROW)
            out.shift_word("shl", RAX, 32)
            out.word("add", epoch, RAX)
            out.jump(next_)
            out.label(over)
            for half in (0, 8):
                out.put(At(entry, half), -1, wide=True)
            _touch(out, SHADOW_AT, record, band, count)
            out.label(is_open)
        out.saves(saved)
        for register in reversed(saved):
            out.pop(register)
        out.label("are open")
        out.ret()


def _touch(out: Assembler, shadow: int, record: int, band: int, spare: int) -> None:
    """Note that a band is used. Changes rax and `spare`."""
    out.word("mov", RAX, band)
    out.shift_word("shr", RAX, (ENTRY * STRETCH // BAND).bit_length() - 1)
    out.word("add", RAX, At(shadow, record + TOUCHED))
    out.set(spare, 1)
    out.keep(At(RAX, 0), spare, 1)
