"""Blocks of a cluster: their barrier, and addresses of each other's shared memory.

Source: PTX ISA, "mapa", "getctarank", "barrier.cluster", "griddepcontrol", "setmaxnreg".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from .rule import rule

if TYPE_CHECKING:
    from ..compile.block import BlockWriter
    from ..ptx.syntax import Instruction


class ClusterInfo(NamedTuple):
    """The barrier of a cluster: "arrive" or "wait"."""

    action: str
    instruction: Instruction


def _barrier(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    writer.block.end = "cluster"
    writer.block.info = ClusterInfo(groups["action"], instruction)


_MEETS: dict[str, Any] = {"end": _barrier, "has_effect": True}

RULES = [
    rule(
        "mapa[.space:shared::cluster].<T:u32|u64>",
        "d a b:u32",
        "shared.map_to_rank(a, b, space == 'generic', lanes, site)",
        copies=True,
    ),
    rule(
        "getctarank[.space:shared::cluster].<A:u32|u64>",
        "d:u32 a:A",
        "shared.rank_of(a, space == 'generic', lanes, site)",
    ),
    rule("barrier.cluster.<action:arrive>[.order:release|relaxed][.aligned]", **_MEETS),
    rule("barrier.cluster.<action:wait>[.order:acquire][.aligned]", **_MEETS),
]
