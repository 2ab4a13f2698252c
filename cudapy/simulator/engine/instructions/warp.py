"""What the threads of a warp do together. All that a mask names come together before such an instruction.

Source: PTX ISA, "Parallel Synchronization and Communication Instructions".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ptx.syntax import Pair, PTXError
from ..ptx.types import TYPES
from .rule import rule

if TYPE_CHECKING:
    from ..compile.block import BlockWriter
    from ..ptx.syntax import Instruction, Operand


def _both(target: Operand) -> tuple[Operand, Operand | None]:
    return (target.first, target.second) if isinstance(target, Pair) else (target, None)


def _shuffle(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    word = TYPES["b32"]
    a, b, c = (writer.read(operand, word) for operand in instruction.operands[1:4])
    value, valid = writer.let_pair(f"L.warps.shuffle({groups['mode']!r}, {a}, {b}, {c}, I)")
    first, second = _both(instruction.operands[0])
    writer.write(first, value, word)
    if second is not None:
        writer.write(second, valid, TYPES["pred"])


def _vote(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    p = writer.read(instruction.operands[1], TYPES["pred"])
    mask = writer.read(instruction.operands[2], TYPES["b32"])
    call = f"L.warps.vote({groups['mode']!r}, {p}, {mask}, I)"
    writer.write(instruction.operands[0], call, TYPES["b32" if groups["mode"] == "ballot" else "pred"])


def _match(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    a = writer.read(instruction.operands[1], TYPES[groups["T"]])
    mask = writer.read(instruction.operands[2], TYPES["b32"])
    matching, all_match = writer.let_pair(f"L.warps.match({groups['mode']!r}, {a}, {mask}, I)")
    first, second = _both(instruction.operands[0])
    writer.write(first, matching, TYPES["b32"])
    if second is not None:
        writer.write(second, all_match, TYPES["pred"])


def _redux(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    kind = TYPES[groups["T"]]
    a = writer.read(instruction.operands[1], kind)
    mask = writer.read(instruction.operands[2], TYPES["b32"])
    writer.write(instruction.operands[0], f"L.warps.redux({groups['op']!r}, {a}, {mask}, I)", kind)


def _redux_float(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    kind = TYPES["f32"]
    a = writer.canonicalized(instruction.operands[1], kind)
    mask = writer.read(instruction.operands[2], TYPES["b32"])
    options = f"is_size={bool(groups.get('size'))}, spreads={bool(groups.get('NaN'))}"
    writer.write(
        instruction.operands[0], f"L.warps.redux_float({groups['op']!r}, {a}, {mask}, I, {options})", kind
    )


def _elect(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    mask = writer.read(instruction.operands[1], TYPES["b32"])
    leader, is_leader = writer.let_pair(f"L.warps.elect({mask}, I)")
    first, second = _both(instruction.operands[0])
    writer.write(first, leader, TYPES["b32"])
    if second is not None:
        writer.write(second, is_leader, TYPES["pred"])


def _active(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    writer.write(instruction.operands[0], "L.warps.active_mask(I)", TYPES["b32"])


def _together(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    if len(instruction.operands) != 1:
        raise PTXError("an operand is expected, the mask")
    mask = writer.read(instruction.operands[0], TYPES["b32"])
    writer.line(f"L.warps.synchronize({mask}, I)")


RULES = [
    rule(
        "shfl.sync.<mode:up|down|bfly|idx>.<T:b32>",
        "d a b c m",
        emit=_shuffle,
        effect="shuffle",
        has_effect=True,
        convergence_mask="4",
    ),
    rule(
        "vote.sync.<mode:all|any|uni>.pred", emit=_vote, effect="vote", has_effect=True, convergence_mask="2"
    ),
    rule("vote.sync.<mode:ballot>.b32", emit=_vote, effect="vote", has_effect=True, convergence_mask="2"),
    rule("match.<mode:any|all>.sync.<T:b32|b64>", emit=_match, has_effect=True, convergence_mask="2"),
    rule("redux.sync.<op:add|min|max>.<T:u32|s32>", emit=_redux, has_effect=True, convergence_mask="2"),
    rule("redux.sync.<op:and|or|xor>.<T:b32>", emit=_redux, has_effect=True, convergence_mask="2"),
    rule(
        "redux.sync.<op:min|max>[.size:abs][.NaN].<T:f32>",
        emit=_redux_float,
        has_effect=True,
        convergence_mask="2",
        since=100,
    ),
    rule("elect.sync", emit=_elect, has_effect=True, convergence_mask="1"),
    rule(
        "activemask.b32", "d:b32", emit=_active, effect="active", has_effect=True, convergence_mask="present"
    ),
    rule("bar.warp.sync", emit=_together, effect="synchronize", has_effect=True, convergence_mask="0"),
    rule("griddepcontrol.<what:launch_dependents|wait>", effect="nothing"),
]
