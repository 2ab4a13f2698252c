"""Blocks of a cluster: their barrier, and addresses of each other's shared memory.

Source: PTX ISA, "mapa", "getctarank", "barrier.cluster", "griddepcontrol", "setmaxnreg".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..ptx.types import TYPES
from .rule import rule

if TYPE_CHECKING:
    from ..compile.block import BlockWriter
    from ..ptx.syntax import Instruction


class ClusterInfo(NamedTuple):
    """The barrier of a cluster: "arrive" or "wait"."""

    action: str
    instruction: Instruction


def _map(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    kind = TYPES[groups["T"]]
    address = writer.read(instruction.operands[1], kind)
    rank = writer.read(instruction.operands[2], TYPES["u32"])
    call = f"L.shared.map_to_rank({address}, {rank}, {not groups.get('space')}, I, {writer.number})"
    writer.write(instruction.operands[0], call, kind)


def _rank(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    address = writer.read(instruction.operands[1], TYPES[groups["A"]])
    call = f"L.shared.rank_of({address}, {not groups.get('space')}, I, {writer.number})"
    writer.write(instruction.operands[0], call, TYPES["u32"])


def _barrier(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    writer.block.end = "cluster"
    writer.block.info = ClusterInfo(groups["action"], instruction)


_MEETS: dict[str, Any] = {"emit": _barrier, "has_effect": True, "ends_block": True}

RULES = [
    rule("mapa[.space:shared::cluster].<T:u32|u64>", "d a b:u32", emit=_map, copies=True),
    rule("getctarank[.space:shared::cluster].<A:u32|u64>", "d:u32 a:A", emit=_rank),
    rule("barrier.cluster.<action:arrive>[.order:release|relaxed][.aligned]", **_MEETS),
    rule("barrier.cluster.<action:wait>[.order:acquire][.aligned]", **_MEETS),
]
