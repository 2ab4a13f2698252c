"""Warp operations: shuffles and votes, of a warp all lanes of which are active.

What lanes give each other lies in memory, so that the code before such an operation is written first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..assembler.x86_64 import RBX, RDX, At
from ..checks import RACES
from ..ptx.types import TYPES
from . import layout, race_tables, races
from .terms import Term, primitive

if TYPE_CHECKING:
    from ..compile.graph import Block
    from .lanes import Lanes

_WORD = TYPES["b32"]


def require_whole_warp(lanes: Lanes, block: Block, alone: str) -> None:
    """Before the block that begins with a warp operation, go to `alone` unless all of a warp is active. With
    the check for races also unless all of the warp is in the mask, and only barriers order threads.
    """
    out = lanes.context.out
    out.number("cmp", At(RBX, layout.ACTIVE), -1, wide=False)
    out.jump_if("ne", alone)
    out.number("cmp", At(RBX, layout.ALIGNED), 1, wide=False)
    out.jump_if("ne", alone)
    if RACES not in lanes.context.checks or block.convergence_mask is None:
        return
    races.require_order(out, alone)
    if not isinstance(block.convergence_mask, int):
        step = block.steps[0]
        mask = step.instruction.operands[int(step.match.rule.convergence_mask)]
        is_whole = Term(lanes, lanes.read(mask, _WORD), _WORD) == 0xFFFFFFFF
        lanes.code.bits(is_whole.value[0])
        lanes.context.end_stretch()
        out.number("cmp", RDX, -1, wide=False)
        out.jump_if("ne", alone)
    elif block.convergence_mask != 0xFFFFFFFF:
        out.jump(alone)


def _note(lanes: Lanes, what: int) -> None:
    if RACES in lanes.context.checks:
        races.note(lanes.context.out, what)


@primitive("warps.active_mask")
def active_mask(lanes: Lanes) -> Term:
    return Term(lanes, lanes.all_ones(1), _WORD)


@primitive("warps.synchronize")
def synchronize(mask: Term, lanes: Lanes) -> None:
    """Those that the mask names are here."""
    _note(lanes, race_tables.MET)


@primitive("warps.shuffle")
def shuffle(mode: str, a: Term, b: Term, c: Term, lanes: Lanes) -> tuple[Term, Term]:
    """As in `run/warp.py`."""
    lanes.store(a.value, layout.GIVEN)
    lanes.context.end_stretch()
    _note(lanes, race_tables.EXCHANGED)
    b, c = (_again(a, one).view("i4") for one in (b, c))
    lane = Term(lanes, lanes.at(layout.LANE, False), TYPES["s32"])
    b, clamp, segment = b & 31, c & 31, c >> 8 & 31
    first = lane & segment
    last = first | clamp & ~segment
    if mode == "up":
        source = lane - b
        is_lost = last > source
    else:
        if mode == "down":
            source = lane + b
        elif mode == "bfly":
            source = lane ^ b
        else:
            source = first | b & ~segment
        is_lost = source > last
    source = is_lost.choose(lane, source) & 31
    picked, valid = _picked(lanes, layout.GIVEN, source), ~is_lost
    return picked, valid


def _again(beside: Term, x: Term | np.uint32) -> Term:
    """An operand in the stretch that has begun."""
    return x.again() if isinstance(x, Term) else beside.constant(x)


def _picked(lanes: Lanes, offset: int, source: Term) -> Term:
    """Of an array of 32 bits for each lane what is at `source`; gathering it takes longer."""
    part = source >> 3
    result: Term | None = None
    for number in range(4):
        eight = lanes.code.load(offset + 32 * number, 0)
        found = Term(lanes, (lanes.code.op("permd", source.value[0], eight),), _WORD)  # the lowest three bits
        result = found if result is None else (part == number).choose(found, result)
    assert result is not None
    return result


@primitive("warps.vote")
def vote(mode: str, p: Term, mask: Term, lanes: Lanes) -> Term:
    lanes.code.bits(p.value[0])
    lanes.context.end_stretch()
    lanes.context.out.keep(At(RBX, layout.VOTES), RDX, 4)
    _note(lanes, race_tables.EXCHANGED)
    mask = _again(p, mask)
    yes = Term(lanes, (lanes.code.constant(layout.VOTES, 4),), _WORD) & mask
    if mode == "ballot":
        return yes
    return {"any": yes != 0, "all": yes == mask, "uni": (yes == mask) | (yes == 0)}[mode]
