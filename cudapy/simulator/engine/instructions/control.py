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


def _fence(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    """fence and membar."""
    writer.line(f"L.fence({groups['scope']!r}, I)")


def _sleep(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    writer.line(f"L.sleep({writer.read(instruction.operands[0], TYPES['u32'])})")


def _trap(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    writer.line(f"L.trap({instruction.name!r}, I, {writer.number})")


def _alloca(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    """alloca: bytes behind the frame, by their address in local memory; they go when the function returns."""
    kind = TYPES[groups["T"]]
    target, count, *more = instruction.operands
    align = more[0].value if more and isinstance(more[0], Integer) else 8
    if len(more) > 1 or align < 1 or align & align - 1 or align > 1 << 16:
        raise PTXError("the alignment is a power of two up to 65536")
    size = writer.read(count, kind)
    base = writer.frame_end()
    mask = writer.constant(-align, "u8")
    free = f"{base} + {writer.stack()} + {writer.constant(align - 1, 'u8')}"
    start = writer.let(f"({free}) & {mask}")
    end = writer.let(f"L.local.grow({start}, {size}.astype(u8), I, {writer.number})")
    writer.set_stack(f"{end} - {base}")
    writer.write(target, start if kind.size == 8 else f"{start}.astype({kind.code})", kind)


def _save_stack(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    kind = TYPES[groups["T"]]
    writer.write(instruction.operands[0], f"{writer.stack()}.astype({kind.code})", kind)


def _restore_stack(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    saved = writer.read(instruction.operands[0], TYPES[groups["T"]])
    writer.set_stack(f"{saved}.astype(u8)")


def _registers(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    """setmaxnreg: there are always enough."""
    count = instruction.operands[0]
    if not isinstance(count, Integer) or count.value % 8 or not 24 <= count.value <= 256:
        raise PTXError("the number of registers must be a multiple of 8 from 24 to 256")


_BARRIER: dict[str, Any] = {"emit": _barrier, "has_effect": True, "ends_block": True}

RULES = [
    rule("bra[.uni]", emit=_branch, effect="branch", ends_block=True),
    rule("brx.idx[.uni]", emit=_switch, has_effect=True, ends_block=True),
    rule("call[.uni]", emit=_call, has_effect=True, ends_block=True),
    rule("ret[.uni]", emit=_return, ends_block=True),
    rule("exit", emit=_exit, ends_block=True),
    rule("bar[.cta].<action:sync|arrive>", **_BARRIER),
    rule("barrier[.cta].<action:sync|arrive>[.aligned]", **_BARRIER),
    rule("bar[.cta].<action:red>.<op:popc>.u32", **_BARRIER),
    rule("bar[.cta].<action:red>.<op:and|or>.pred", **_BARRIER),
    rule("barrier[.cta].<action:red>.<op:popc>[.aligned].u32", **_BARRIER),
    rule("barrier[.cta].<action:red>.<op:and|or>[.aligned].pred", **_BARRIER),
    rule("alloca.<T:u32|u64>", emit=_alloca, has_effect=True),
    rule("stacksave.<T:u32|u64>", emit=_save_stack, has_effect=True),
    rule("stackrestore.<T:u32|u64>", emit=_restore_stack, has_effect=True),
    rule("trap", emit=_trap, has_effect=True),
    rule("brkpt", emit=_trap, has_effect=True),
    rule("membar.<scope:cta|gl|sys>", emit=_fence, effect="nothing", has_effect=True),
    rule(
        "fence[.order:sc|acq_rel|acquire|release].<scope:cta|cluster|gpu|sys>",
        emit=_fence,
        effect="nothing",
        has_effect=True,
    ),
    rule(
        "fence.<order:acquire|release>.sync_restrict::<what:shared::cta|shared::cluster>.cluster",
        effect="nothing",
    ),
    rule(
        "fence.proxy.<what:alias|async|async.global|async.shared::cta|async.shared::cluster>",
        effect="nothing",
    ),
    rule(
        "fence.proxy.async::generic.<order:acquire|release>.sync_restrict::<what:shared::cta|shared::cluster>"
        ".cluster",
        effect="nothing",
    ),
    rule(
        "fence.proxy.tensormap::generic.<order:acquire|release>.<scope:cta|cluster|gpu|sys>", effect="nothing"
    ),
    rule("fence.mbarrier_init.release.cluster", effect="nothing"),
    rule("nanosleep.u32", emit=_sleep, has_effect=True, yields=True),
    rule("pmevent[.mask]", effect="nothing"),
    rule("setmaxnreg.<way:inc|dec>.sync.aligned.u32", emit=_registers),
]
