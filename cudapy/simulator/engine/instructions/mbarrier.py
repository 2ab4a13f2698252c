"""Barriers in shared memory.

Source: PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..ptx.syntax import Address, PTXError, Sink
from ..ptx.types import TYPES
from .accesses import space_of
from .data import SHARED
from .rule import rule

if TYPE_CHECKING:
    from ..compile.block import BlockWriter
    from ..ptx.syntax import Instruction, Operand

_WORD = TYPES["b64"]
_OWN = "[.space:shared::cta|shared].b64"
_TAIL = f"[.order:release|relaxed][.scope:cta|cluster][.space:{SHARED}].b64"
_WAIT_TAIL = f"[.order:acquire|relaxed][.scope:cta|cluster]{_OWN}"


def mbarrier_at(writer: BlockWriter, address: Operand, space: str, initializes: bool = False) -> str:
    """The name of the places of barriers."""
    where = writer.address(address)
    return writer.let(f"L.mbarriers.at({where}, {space!r}, I, {writer.number}, {initializes})")


def _initialize(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    count = writer.read(instruction.operands[1], TYPES["u32"])
    index = mbarrier_at(writer, instruction.operands[0], space_of(groups), initializes=True)
    writer.line(f"L.mbarriers.initialize({index}, {count}, I, {writer.number})")


def _end(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    index = mbarrier_at(writer, instruction.operands[0], space_of(groups))
    writer.line(f"L.mbarriers.end({index})")


def _change(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    """All that counts: the old word is the token that an arrival gives."""
    operands = list(instruction.operands)
    target = Sink() if isinstance(operands[0], Address) else operands.pop(0)
    if space_of(groups) == "cluster" and not isinstance(target, Sink):
        raise PTXError("an mbarrier of another block gives no token: the first operand must be _")
    index = mbarrier_at(writer, operands[0], space_of(groups))
    count = writer.read(operands[1], TYPES["u32"]) if len(operands) > 1 else writer.constant(1, "u4")
    operation = f"{groups['action']} {groups.get('expect', '')}".strip()
    arguments = f"{operation!r}, {index}, {count}, {not groups.get('never')}, I, {writer.number}"
    writer.write(target, f"L.mbarriers.change({arguments})", _WORD)


def _copied(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    """cp.async.mbarrier.arrive: without .noinc the arrival is one that was added for it."""
    index = mbarrier_at(writer, instruction.operands[0], space_of(groups))
    writer.line("L.spaces.commit_copies(I); L.spaces.wait_for_copies(0, I)")  # who waits is not followed
    if groups.get("noinc"):
        writer.line(
            f"L.mbarriers.change('arrive', {index}, {writer.constant(1, 'u4')}, True, I, {writer.number})"
        )


def _wait(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    """Whether the phase of a token, or of a parity, is over."""
    index = mbarrier_at(writer, instruction.operands[1], space_of(groups))
    if groups.get("parity"):
        phase = writer.let(f"{writer.read(instruction.operands[2], TYPES['u32'])} & np.uint32(1)")
    else:
        phase = writer.let(f"mbarrier.phase({writer.read(instruction.operands[2], _WORD)})")
    over = f"L.mbarriers.is_over({index}, {phase}, I, {writer.number})"
    writer.write(instruction.operands[0], over, TYPES["pred"])


_WAITS: dict[str, Any] = {"emit": _wait, "has_effect": True, "yields": True}

RULES = [
    rule(f"mbarrier.init{_OWN}", emit=_initialize, has_effect=True),
    rule(f"mbarrier.inval{_OWN}", emit=_end, has_effect=True),
    rule(f"mbarrier.<action:arrive|arrive_drop>{_TAIL}", emit=_change, has_effect=True),
    rule(f"mbarrier.<action:arrive|arrive_drop>.<never:noComplete>{_TAIL}", emit=_change, has_effect=True),
    rule(f"mbarrier.<action:arrive|arrive_drop>.<expect:expect_tx>{_TAIL}", emit=_change, has_effect=True),
    rule(f"mbarrier.<action:expect_tx|complete_tx>{_TAIL}", emit=_change, has_effect=True),
    rule(f"mbarrier.<how:test_wait|try_wait>[.parity]{_WAIT_TAIL}", **_WAITS),
    rule("mbarrier.pending_count.b64", "d:u32 a:b64", "mbarrier.pending(a)"),
    rule(f"cp.async.mbarrier.arrive[.noinc]{_OWN}", emit=_copied, has_effect=True),
]
