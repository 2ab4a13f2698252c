"""Barriers in shared memory.

Source: PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ptx.syntax import Address, Sink
from ..ptx.types import TYPES
from .data import ATOMIC, WRITE, place, space_of
from .rule import rule

if TYPE_CHECKING:
    from ..compile.block import BlockWriter
    from ..ptx.syntax import Instruction

_WORD = TYPES["b64"]
_TAIL = "[.order:release|relaxed][.scope:cta|cluster][.space:shared::cta|shared].b64"
_WAIT_TAIL = "[.order:acquire|relaxed][.scope:cta|cluster][.space:shared::cta|shared].b64"


def _initialize(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    count = writer.read(instruction.operands[1], TYPES["u32"])
    word = writer.let(f"mbarrier.fresh({count})")
    array, index = place(writer, instruction.operands[0], space_of(groups), _WORD, 1, WRITE)
    writer.line(f"put({array}, {index}, {word})")


def _change(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    """All that counts: the old word is the token that an arrival gives."""
    operands = list(instruction.operands)
    target = Sink() if isinstance(operands[0], Address) else operands.pop(0)
    array, index = place(writer, operands[0], space_of(groups), _WORD, 1, ATOMIC)
    count = writer.read(operands[1], TYPES["u32"]) if len(operands) > 1 else writer.constant(1, "u4")
    operation = f"mbarrier.{groups['action'].partition('.')[0]}"
    if groups.get("expect"):
        operation += "_expecting"
    amount = writer.let(f"{count}.astype(u8)")
    old = writer.let(f"L.atomic({operation!r}, 'b64', {array}, {index}, {amount}, None, I, True)")
    writer.write(target, old, _WORD)


def _wait(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    """Whether the phase of a token, or of a parity, is over."""
    array, index = place(writer, instruction.operands[1], space_of(groups), _WORD, 1, ATOMIC)
    word = writer.let(f"{array}.take({index})")
    if groups.get("parity"):
        phase = writer.let(f"{writer.read(instruction.operands[2], TYPES['u32'])} & np.uint32(1)")
    else:
        phase = writer.let(f"mbarrier.phase({writer.read(instruction.operands[2], _WORD)})")
    over = writer.let(f"mbarrier.phase({word}) != {phase}")
    writer.line(f"L.waited({over}, I)")
    writer.write(instruction.operands[0], over, TYPES["pred"])


RULES = [
    rule("mbarrier.init[.space:shared::cta|shared].b64", emit=_initialize, has_effect=True),
    rule("mbarrier.inval[.space:shared::cta|shared].b64", emit=lambda w, i, g: None),
    rule(f"mbarrier.<action:arrive|arrive_drop>{_TAIL}", emit=_change, has_effect=True),
    rule(f"mbarrier.<action:arrive|arrive_drop>.noComplete{_TAIL}", emit=_change, has_effect=True),
    rule(f"mbarrier.<action:arrive|arrive_drop>.<expect:expect_tx>{_TAIL}", emit=_change, has_effect=True),
    rule(f"mbarrier.<action:expect_tx|complete_tx>{_TAIL}", emit=_change, has_effect=True),
    rule(f"mbarrier.<how:test_wait|try_wait>[.parity]{_WAIT_TAIL}", emit=_wait, has_effect=True, yields=True),
    rule("mbarrier.pending_count.b64", "d:u32 a:b64", "mbarrier.pending(a)"),
    rule(
        "cp.async.mbarrier.<action:arrive>.noinc[.space:shared::cta|shared].b64",
        emit=_change,
        has_effect=True,
    ),
    rule("cp.async.mbarrier.arrive[.space:shared::cta|shared].b64", emit=lambda w, i, g: None),
]
