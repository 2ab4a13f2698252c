"""Warp operations: shuffles, votes and their like."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ptx.syntax import Instruction, Pair
from ..ptx.types import TYPES
from . import layout
from .lanes import PRED, Lanes, Unsupported, Value, require_operands

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..compile.graph import Step


_LEAST = {"shuffle": 4, "vote": 3, "active": 1, "synchronize": 0}
"""The effects that there is machine code for, and how many operands they take."""


def write_warp_operation(lanes: Lanes, step: Step, flush: Callable[[], Lanes] | None = None) -> Lanes:
    """Add an instruction of a warp, all lanes of which are active. Raises Unsupported.

    flush: ends the stretch of code before it, and begins another: what lanes give each other has to lie in
    memory.
    """
    instruction, groups = step.instruction, step.match.groups
    effect = step.match.rule.effect
    if effect not in _LEAST:
        raise Unsupported
    require_operands(instruction, _LEAST[effect])
    if effect == "shuffle":
        lanes.code.store(layout.VALUES, lanes.read(instruction.operands[1], TYPES["b32"])[0])
        lanes = flush() if flush is not None else lanes
        _shuffle(lanes, instruction, groups)
    elif effect == "vote":
        lanes.code.bits(lanes.read(instruction.operands[1], TYPES["pred"])[0])
        lanes = flush() if flush is not None else lanes
        _vote(lanes, instruction, groups)
    elif effect == "active":
        lanes.write(instruction.operands[0], lanes.all_ones(1), TYPES["b32"])
    return lanes


def _shuffle(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    """shfl, of what lies at VALUES. As in `run/warp.py`."""
    target, _, *operands = instruction.operands
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


def _vote(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    """vote, of the bits at VOTES."""
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
