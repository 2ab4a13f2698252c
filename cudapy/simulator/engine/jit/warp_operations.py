"""Warp operations: shuffles, votes and their like."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..assembler.x86_64 import RBX, RDX, At
from ..compile.operands import PRED
from ..ptx.syntax import Pair
from ..ptx.types import TYPES
from . import layout
from .lanes import Lanes, Value, require_operands

if TYPE_CHECKING:
    from ..ptx.syntax import Instruction


def active(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    """activemask."""
    require_operands(instruction, 1)
    lanes.write(instruction.operands[0], lanes.all_ones(1), TYPES["b32"])


def shuffle(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    """shfl: what lanes give each other lies in memory. As in `run/warp.py`."""
    require_operands(instruction, 4)
    target, given, *operands = instruction.operands
    lanes.code.store(layout.VALUES, lanes.read(given, TYPES["b32"])[0])
    lanes.context.end_stretch()
    b, c = (lanes.read(one, TYPES["b32"]) for one in operands[:2])
    low, lane = lanes.constant(31, 4), lanes.at(layout.LANE, False)
    b, clamp = lanes.each("pand", b, low), lanes.each("pand", c, low)
    segment = lanes.each("pand", lanes.shifted("psrld", c, 8), low)
    first = lanes.each("pand", lane, segment)
    last = lanes.each("por", first, lanes.each("pandn", segment, clamp))
    mode = groups["mode"]
    if mode == "up":
        source = lanes.each("psubd", lane, b)
        lost = lanes.each("pcmpgtd", last, source)
    else:
        if mode == "down":
            source = lanes.each("paddd", lane, b)
        elif mode == "bfly":
            source = lanes.each("pxor", lane, b)
        else:
            source = lanes.each("por", first, lanes.each("pandn", segment, b))
        lost = lanes.each("pcmpgtd", source, last)
    source = lanes.each("pand", lanes.choose(lost[0], lane, source), low)
    first_target, second = (target.first, target.second) if isinstance(target, Pair) else (target, None)
    valid = lanes.inverted(lost)
    lanes.write(first_target, _picked(lanes, layout.VALUES, source), TYPES["b32"])
    if second is not None:
        lanes.write(second, valid, PRED)
    lanes.context.end_stretch()  # before the next one puts there what lanes give


def _picked(lanes: Lanes, offset: int, source: Value) -> Value:
    """Of an array of 32 bits for each lane what is at `source`; gathering it takes longer."""
    part = lanes.shifted("psrld", source, 3)
    result: Value = ()
    for number in range(4):
        eight = lanes.code.load(offset + 32 * number, 0)
        found = (lanes.code.op("permd", source[0], eight),)  # by the lowest three bits
        is_there = lanes.each("pcmpeqd", part, lanes.constant(number, 4))
        result = lanes.choose(is_there[0], found, result) if result else found
    return result


def vote(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    require_operands(instruction, 3)
    lanes.code.bits(lanes.read(instruction.operands[1], PRED)[0])
    lanes.context.end_stretch()
    lanes.context.out.keep(At(RBX, layout.VOTES), RDX, 4)
    one = lanes.code.constant(layout.VOTES, 4)
    mask = lanes.read(instruction.operands[2], TYPES["b32"])
    yes = lanes.each("pand", (one,), mask)
    if groups["mode"] == "ballot":
        lanes.write(instruction.operands[0], yes, TYPES["b32"])
        return
    nobody = lanes.each("pcmpeqd", yes, lanes.constant(0, 4))
    everybody = lanes.each("pcmpeqd", yes, mask)
    result = {
        "any": lambda: lanes.inverted(nobody),
        "all": lambda: everybody,
        "uni": lambda: lanes.each("por", everybody, nobody),
    }[groups["mode"]]()
    lanes.write(instruction.operands[0], result, PRED)
