"""Branches, calls, barriers, and what stops a kernel.

Source: PTX ISA, "Control Flow Instructions", "Miscellaneous Instructions", "bar", "fence".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..ptx.syntax import Integer, PTXError, Register, Symbol, Vector
from ..ptx.types import TYPES
from .rule import rule

if TYPE_CHECKING:
    from ..compile.block import BlockWriter
    from ..ptx.syntax import Instruction


class CallInfo(NamedTuple):
    """A call: the function's name (None: its address is the block's result), and what goes along."""

    name: str | None
    arguments: tuple[str, ...]
    results: tuple[str, ...]
    prototype: str | None


class BarrierInfo(NamedTuple):
    """A barrier: "sync", "arrive" or "red"; what a reduction does, and where its result goes."""

    action: str
    operation: str
    slot: int | None
    instruction: Instruction


def _end(writer: BlockWriter, instruction: Instruction, kind: str) -> None:
    writer.block.end = kind
    writer.block.is_certain = instruction.guard is None
    writer.result = writer.truth(instruction) or "True"


def _branch(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    _end(writer, instruction, "branch")


def _switch(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    """brx.idx: the block's result is the place in its table."""
    writer.block.end = "switch"
    writer.result = writer.read(instruction.operands[0], TYPES["u32"])


def _return(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    _end(writer, instruction, "exit" if writer.function.text.is_entry else "return")


def _exit(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    _end(writer, instruction, "exit")


def _names(operand: object) -> tuple[str, ...]:
    if not isinstance(operand, Vector) or not all(isinstance(one, Symbol) for one in operand.items):
        raise PTXError("a list of .param variables is expected")
    return tuple(one.name for one in operand.items if isinstance(one, Symbol))


def _call(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    operands = list(instruction.operands)
    results = _names(operands.pop(0)) if isinstance(operands[0], Vector) else ()
    target = operands.pop(0)
    arguments = _names(operands.pop(0)) if operands and isinstance(operands[0], Vector) else ()
    prototype = operands[0].name if operands and isinstance(operands[0], Symbol) else None
    block, compiled = writer.block, writer.function.compiled
    block.end = "call"
    if isinstance(target, Symbol):
        compiled.calls.add(target.name)
        block.info = CallInfo(target.name, arguments, results, prototype)
    else:
        block.info = CallInfo(None, arguments, results, prototype)
        writer.result = writer.read(target, TYPES["u64"])
    writer.keep_stack()
    for name in arguments:
        block.uses_at_end |= {f"{name}+{offset}" for offset in compiled.param_slots.get(name, ())}
    for name in (*arguments, *results):
        for offset in compiled.param_slots.get(name, ()):
            writer.slot(f"{name}+{offset}")


def _barrier(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    operands = list(instruction.operands)
    slot, predicate, operation = None, "None", groups.get("op") or ""
    if operation:
        target = operands.pop(0)
        if not isinstance(target, Register):
            raise PTXError("a register is expected")
        slot = writer.slot(target.name)
        predicate = writer.read(operands.pop(), TYPES["pred"])
    number = writer.read(operands[0], TYPES["u32"]) if operands else writer.constant(0, "u4")
    count = writer.read(operands[1], TYPES["u32"]) if len(operands) > 1 else "None"
    writer.block.end = "barrier"
    writer.block.info = BarrierInfo(groups["action"], operation, slot, instruction)
    writer.result = f"({number}, {count}, {predicate})"


def _alignment(instruction: Instruction, groups: dict[str, str]) -> int:
    """That of `alloca`. Raises PTXError."""
    align = instruction.operands[2] if len(instruction.operands) > 2 else Integer(8)
    if not isinstance(align, Integer) or not 1 <= align.value <= 1 << 16 or align.value & align.value - 1:
        raise PTXError("the alignment is a power of two up to 65536")
    return align.value


def _require_registers(instruction: Instruction, groups: dict[str, str]) -> None:
    """setmaxnreg: there are always enough."""
    count = instruction.operands[0]
    if not isinstance(count, Integer) or count.value % 8 or not 24 <= count.value <= 256:
        raise PTXError("the number of registers must be a multiple of 8 from 24 to 256")


_BARRIER: dict[str, Any] = {"end": _barrier, "has_effect": True}

RULES = [
    rule("bra[.uni]", end=_branch),
    rule("brx.idx[.uni]", end=_switch, has_effect=True),
    rule("call[.uni]", end=_call, has_effect=True),
    rule("ret[.uni]", end=_return),
    rule("exit", end=_exit),
    rule("bar[.cta].<action:sync|arrive>", **_BARRIER),
    rule("barrier[.cta].<action:sync|arrive>[.aligned]", **_BARRIER),
    rule("bar[.cta].<action:red>.<op:popc>.u32", **_BARRIER),
    rule("bar[.cta].<action:red>.<op:and|or>.pred", **_BARRIER),
    rule("barrier[.cta].<action:red>.<op:popc>[.aligned].u32", **_BARRIER),
    rule("barrier[.cta].<action:red>.<op:and|or>[.aligned].pred", **_BARRIER),
    rule(
        "alloca.<T:u32|u64>",
        "d|s=%stack:u64 n a?:number s=%stack:u64 f=%frame:u64",
        "local.allocate(f + frame_size, s, n, form, T, lanes, site)",
        describe=_alignment,
        has_effect=True,
    ),
    rule("stacksave.<T:u32|u64>", "d s=%stack:u64", "s.astype(T)", has_effect=True),
    rule("stackrestore.<T:u32|u64>", "s=%stack:u64 a", "a.astype(u8)", has_effect=True),
    rule("trap", "-", "batch.trap('trap', lanes, site)", has_effect=True),
    rule("brkpt", "-", "batch.trap('brkpt', lanes, site)", has_effect=True),
    rule("membar.<scope:cta|gl|sys>", "-", "batch.fence(scope, lanes)", has_effect=True),
    rule(
        "fence[.order:sc|acq_rel|acquire|release].<scope:cta|cluster|gpu|sys>",
        "-",
        "batch.fence(scope, lanes)",
        has_effect=True,
    ),
    rule(
        "fence.<order:acquire|release>.sync_restrict::<what:shared::cta|shared::cluster>.cluster",
        effect="nothing",
    ),
    rule("fence.proxy.alias", effect="nothing"),
    rule(
        "fence.proxy.<scope:async|async.global|async.shared::cta|async.shared::cluster>",
        "-",
        "batch.fence(scope, lanes)",
        has_effect=True,
    ),
    rule(
        "fence.proxy.<scope:async::generic>.<order:acquire|release>"
        ".sync_restrict::<what:shared::cta|shared::cluster>.cluster",
        "-",
        "batch.fence(scope, lanes)",
        has_effect=True,
    ),
    rule(
        "fence.proxy.tensormap::generic.<order:acquire|release>.<scope:cta|cluster|gpu|sys>", effect="nothing"
    ),
    rule("fence.mbarrier_init.release.cluster", effect="nothing"),
    rule("nanosleep.u32", "- a:u32", "batch.sleep(a)", has_effect=True, yields=True),
    rule("pmevent[.mask]", effect="nothing"),
    rule("setmaxnreg.<way:inc|dec>.sync.aligned.u32", effect="nothing", describe=_require_registers),
]
