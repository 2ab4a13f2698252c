"""Instructions that the lanes of a warp run together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ptx.types import TYPES
from . import layout, semantics
from .semantics import Lanes, Unsupported

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..compile.graph import Step


def write_together(lanes: Lanes, step: Step, flush: Callable[[], Lanes] | None = None) -> Lanes:
    """Add an instruction of a warp, all lanes of which are active. Raises Unsupported.

    flush: ends the stretch of code before it, and begins another: what lanes give each other has to lie in
    memory.
    """
    instruction, groups = step.instruction, step.match.groups
    opcode = instruction.opcode
    if opcode.startswith("shfl.sync."):
        lanes.code.store(layout.VALUES, lanes.read(instruction.operands[1], TYPES["b32"])[0])
        lanes = flush() if flush is not None else lanes
        semantics.shuffle(lanes, instruction, groups)
    elif opcode.startswith("vote.sync."):
        lanes.code.bits(lanes.read(instruction.operands[1], TYPES["pred"])[0])
        lanes = flush() if flush is not None else lanes
        semantics.vote(lanes, instruction, groups)
    elif opcode in ("bar.warp.sync", "activemask.b32"):
        lanes.run(instruction, groups)
    else:
        raise Unsupported
    return lanes
