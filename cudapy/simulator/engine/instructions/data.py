"""Moving, loading and storing.

Source: PTX ISA, "Data Movement and Conversion Instructions".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..address_spaces import SPACES
from ..ptx.syntax import Integer, PTXError, Register, Vector
from ..ptx.types import BITS, TYPES
from .accesses import load_of, space_of, store_of
from .rule import rule

if TYPE_CHECKING:
    from ..compile.block import BlockWriter
    from ..ptx.syntax import Instruction

_SCOPE = "[.order:weak|relaxed|acquire|release|volatile|mmio.relaxed][.scope:cta|cluster|gpu|sys]"
_FETCH = "[.hint:L2::cache_hint][.prefetch:L2::64B|L2::128B|L2::256B]"
_POLICIES = "L2::evict_last|L2::evict_normal|L2::evict_first|L2::evict_unchanged"
_HINTS = (
    "[.cop:ca|cg|cs|lu|cv|wb|wt]"
    "[.l1:L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate]"
    f"[.l2:L2::evict_normal|L2::evict_first|L2::evict_last]{_FETCH}"
    "[.vector:v2|v4]"
)
SHARED = "shared::cta|shared::cluster|shared"
_SPACES = f"global|local|{SHARED}"
_WIDE = f"{_SCOPE}[.space:{_SPACES}|const][.nc]{_HINTS.removesuffix('[.vector:v2|v4]')}"
_EIGHT = (
    f"{_SCOPE}[.space:global][.nc]{_HINTS.replace('[.vector:v2|v4]', '.<vector:v8>')}.<T:b32|u32|s32|f32>"
)


def _require_parts(size: int, count: int) -> None:
    """Whether a register of `size` bytes has `count` parts. Raises PTXError."""
    if not count or size % count or size // count not in BITS or (size == 16 and count != 2):
        raise PTXError(f"mov: {8 * size} bits do not have {count} parts")


def move(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    """mov: a register, an address, or parts of a register put together or taken apart."""
    target, source = instruction.operands
    kind = TYPES[groups["T"]]
    for operand in (target, source):
        if isinstance(operand, Vector):
            _require_parts(kind.size, len(operand.items))
    if kind.size == 16 and isinstance(target, Vector):
        low, high = writer.let_pair(f"halves128({writer.read(source, kind)})")
        for item, half in zip(target.items, (low, high), strict=True):
            writer.write(item, half, TYPES["b64"])
    elif kind.size == 16 and isinstance(source, Vector):
        low, high = (writer.read(item, TYPES["b64"]) for item in source.items)
        writer.write(target, f"join128({low}, {high})", kind)
    elif isinstance(target, Vector):
        part = TYPES[BITS[kind.size // len(target.items)]]
        whole = writer.read(source, TYPES[BITS[kind.size]])
        for place, item in enumerate(target.items):
            shift = writer.constant(8 * part.size * place, f"u{kind.size}")
            shifted = f"({whole} >> {shift})" if place else whole
            writer.write(item, f"{shifted}.astype({part.code})", part)
    elif isinstance(source, Vector):
        part = TYPES[BITS[kind.size // len(source.items)]]
        terms = []
        for place, item in enumerate(source.items):
            shift = writer.constant(8 * part.size * place, f"u{kind.size}")
            widened = f"{writer.read(item, part)}.astype(u{kind.size})"
            terms.append(f"({widened} << {shift})" if place else widened)
        writer.write(target, " | ".join(terms), TYPES[BITS[kind.size]])
    else:
        writer.move(target, source, kind)


def _convert_address(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    """cvta: between the generic window and a state space."""
    kind = TYPES["u64"]
    base = SPACES.get(space_of(groups), 0)
    target, source = instruction.operands
    if groups["space"] == "param" and not groups.get("to"):
        writer.write(target, f"L.whole_parameter_address({writer.read(source, kind)})", kind)
        return
    if not base:
        writer.move(target, source, kind)
        return
    sign = "-" if groups.get("to") else "+"
    writer.write(target, f"{writer.read(source, kind)} {sign} {writer.constant(base, 'u8')}", kind)


def _is_in_space(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    """isspacep."""
    address = writer.read(instruction.operands[1], TYPES["u64"])
    space = "param" if groups["space"] == "param::entry" else space_of(groups)
    writer.write(instruction.operands[0], f"L.spaces.is_in({address}, {space!r}, I)", TYPES["pred"])


def _commit_copies(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    writer.line("L.spaces.commit_copies(I)")


def _wait_for_copies(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    """cp.async.wait_group, and wait_all, which also waits for the open group."""
    max_pending = instruction.operands[0] if instruction.operands else Integer(0)
    if not isinstance(max_pending, Integer):
        raise PTXError("a number of groups is expected")
    if not instruction.operands:
        writer.line("L.spaces.commit_copies(I)")
    writer.line(f"L.spaces.wait_for_copies({max_pending.value}, I)")


def _copy_async(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    """cp.async: the copy is made at once; what is past the source's size becomes 0."""
    operands = instruction.operands
    target, source = writer.address(operands[0]), writer.address(operands[1])
    size = operands[2]
    if not isinstance(size, Integer) or size.value not in (4, 8, 16):
        raise PTXError("the size must be 4, 8 or 16")
    amount = "None"
    if len(operands) > 3 and not (groups.get("hint") and len(operands) == 4):
        operand = operands[3]
        is_flag = isinstance(operand, Register) and writer.function.registers[operand.name].kind == "p"
        if is_flag:
            amount = writer.let(f"np.where({writer.read(operand, TYPES['pred'])}, 0, {size.value})[()]")
        else:
            amount = writer.read(operand, TYPES["u32"])
    writer.line(f"L.spaces.copy_async({target}, {source}, {size.value}, {amount}, I, {writer.number})")


def _whole_line(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    """applypriority and discard: of lines of the cache, which are not there."""
    size = instruction.operands[1]
    if not isinstance(size, Integer) or size.value != 128:
        raise PTXError("the size must be 128")


def _policy(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    """createpolicy: what is made is taken by accesses, and does nothing."""
    writer.write(instruction.operands[0], writer.constant(0, "u8"), TYPES["b64"])


RULES = [
    rule("mov.<T:pred|bits|integers|f32|f64|b128>", "d a", emit=move, effect="move", copies=True),
    rule(
        f"ld{_SCOPE}[.space:{_SPACES}|const|param::entry|param::func|param][.nc]{_HINTS}.<T:data>",
        "d a",
        effect="load",
        describe=load_of,
        has_effect=True,
        copies=True,
    ),
    rule(f"ld{_WIDE}.<T:b128>", "d a", effect="load", describe=load_of, has_effect=True, copies=True),
    rule(f"st{_WIDE}.<T:b128>", "a", effect="store", describe=store_of, has_effect=True),
    rule(f"ld{_EIGHT}", "d a", effect="load", describe=load_of, has_effect=True, copies=True, since=100),
    rule(f"st{_EIGHT}", "a", effect="store", describe=store_of, has_effect=True, since=100),
    rule(
        "ldu[.space:global][.vector:v2|v4].<T:data>",
        "d a",
        effect="load",
        describe=load_of,
        has_effect=True,
        copies=True,
    ),
    rule(
        f"st{_SCOPE}[.space:{_SPACES}|param::func|param]{_HINTS}.<T:data>",
        "a",
        effect="store",
        describe=store_of,
        has_effect=True,
    ),
    rule(
        f"cvta[.to].<space:{_SPACES}|const|param>.<T:u64>",
        "d a",
        emit=_convert_address,
        effect="convert_address",
        copies=True,
    ),
    rule(f"isspacep.<space:{_SPACES}|const|param|param::entry>", "d:pred a:u64", emit=_is_in_space),
    rule("prefetch[.space:global|local].<level:L1|L2>", effect="nothing"),
    rule("prefetch[.space:global].<level:L2::evict_last|L2::evict_normal>", effect="nothing"),
    rule("prefetchu.L1", effect="nothing"),
    rule("applypriority[.space:global].L2::evict_normal", emit=_whole_line),
    rule("discard[.space:global].L2", emit=_whole_line),
    rule(
        f"createpolicy.fractional.<level:{_POLICIES}>[.second:L2::evict_first|L2::evict_unchanged].<T:b64>",
        emit=_policy,
    ),
    rule(
        f"createpolicy.range[.space:global].<level:{_POLICIES}>[.second:L2::evict_first|L2::evict_unchanged]"
        ".<T:b64>",
        emit=_policy,
    ),
    rule("createpolicy.cvt.L2.<T:b64>", emit=_policy),
    rule(
        f"cp.async.<cop:ca|cg>.shared[.cta:cta].global{_FETCH}",
        emit=_copy_async,
        has_effect=True,
    ),
    rule("cp.async.commit_group", emit=_commit_copies, has_effect=True),
    rule("cp.async.wait_group", emit=_wait_for_copies, has_effect=True),
    rule("cp.async.wait_all", emit=_wait_for_copies, has_effect=True),
]
