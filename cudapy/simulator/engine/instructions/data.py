"""Moving, loading and storing.

Source: PTX ISA, "Data Movement and Conversion Instructions".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..addresses import SPACES
from ..ptx.syntax import Integer, PTXError, Vector
from ..ptx.types import BITS, TYPES, Type
from .accesses import SHARED, load_of, space_of, store_of
from .rule import rule

if TYPE_CHECKING:
    from ..ptx.syntax import Instruction, Operand

_SCOPE = "[.order:weak|relaxed|acquire|release|volatile|mmio.relaxed][.scope:cta|cluster|gpu|sys]"
_FETCH = "[.hint:L2::cache_hint][.prefetch:L2::64B|L2::128B|L2::256B]"
_POLICIES = "L2::evict_last|L2::evict_normal|L2::evict_first|L2::evict_unchanged"
_HINTS = (
    "[.cop:ca|cg|cs|lu|cv|wb|wt]"
    "[.l1:L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate]"
    f"[.l2:L2::evict_normal|L2::evict_first|L2::evict_last]{_FETCH}"
    "[.vector:v2|v4]"
)
_SPACES = f"global|local|{SHARED}"
_WIDE = f"{_SCOPE}[.space:{_SPACES}|const][.nc:nc]{_HINTS.removesuffix('[.vector:v2|v4]')}"
_EIGHT = (
    f"{_SCOPE}[.space:global][.nc:nc]{_HINTS.replace('[.vector:v2|v4]', '.<vector:v8>')}.<T:b32|u32|s32|f32>"
)


class Move(NamedTuple):
    """mov: a register, an address, or parts of a register put together or taken apart."""

    kind: Type
    target: Operand
    source: Operand
    part: Type | None
    """The type of the parts of the one that is a vector."""


def _move(instruction: Instruction, groups: dict[str, str]) -> Move:
    if len(instruction.operands) != 2:
        raise PTXError("two operands are expected")
    kind, part = TYPES[groups["T"]], None
    for operand in instruction.operands:
        if isinstance(operand, Vector):
            count = len(operand.items)
            size = kind.size // count if count and not kind.size % count else 0
            if size not in BITS or (kind.size == 16 and count != 2):
                raise PTXError(f"mov: {8 * kind.size} bits do not have {count} parts")
            part = TYPES[BITS[size]]
    return Move(kind, *instruction.operands, part)


def _window(instruction: Instruction, groups: dict[str, str]) -> np.uint64:
    """Where a state space lies among generic addresses."""
    return np.uint64(SPACES[space_of(groups)])


class AsyncCopy(NamedTuple):
    """cp.async."""

    target: Operand
    source: Operand
    size: int
    amount: Operand | None
    """How many bytes are copied, or a predicate: whether none are. What is behind them becomes 0."""


def _copy_async(instruction: Instruction, groups: dict[str, str]) -> AsyncCopy:
    target, source, size, *more = instruction.operands
    if not isinstance(size, Integer) or size.value not in (4, 8, 16):
        raise PTXError("the size must be 4, 8 or 16")
    is_policy = len(more) == 1 and bool(groups.get("hint"))
    return AsyncCopy(target, source, size.value, more[0] if more and not is_policy else None)


def _require_line(instruction: Instruction, groups: dict[str, str]) -> None:
    """applypriority and discard: of lines of the cache, which are not there. Raises PTXError."""
    size = instruction.operands[1]
    if not isinstance(size, Integer) or size.value != 128:
        raise PTXError("the size must be 128")


_POLICY = "u8.type(0)"
"""What createpolicy gives: accesses take it, and do nothing with it."""

RULES = [
    rule("mov.<T:pred|bits|integers|f32|f64|b128>", "d a", effect="move", describe=_move, copies=True),
    rule(
        f"ld{_SCOPE}[.space:{_SPACES}|const|param::entry|param::func|param][.nc:nc]{_HINTS}.<T:data>",
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
    rule("cvta[.to].<space:global|const>.<T:u64>", "d a", "a", copies=True),
    rule("cvta.to.<space:param>.<T:u64>", "d a", "a", copies=True),
    rule("cvta.<space:param>.<T:u64>", "d a", "batch.whole_parameter_address(a)", copies=True),
    rule(f"cvta.<space:local|{SHARED}>.<T:u64>", "d a", "a + form", describe=_window, copies=True),
    rule(f"cvta.to.<space:local|{SHARED}>.<T:u64>", "d a", "a - form", describe=_window, copies=True),
    rule(
        f"isspacep.<space:{_SPACES}|const|param|param::entry>",
        "d:pred a:u64",
        "spaces.is_in(a, space, lanes)",
    ),
    rule("prefetch[.space:global|local].<level:L1|L2>", effect="nothing"),
    rule("prefetch[.space:global].<level:L2::evict_last|L2::evict_normal>", effect="nothing"),
    rule("prefetchu.L1", effect="nothing"),
    rule("applypriority[.space:global].L2::evict_normal", effect="nothing", describe=_require_line),
    rule("discard[.space:global].L2", effect="nothing", describe=_require_line),
    rule(
        f"createpolicy.fractional.<level:{_POLICIES}>[.second:L2::evict_first|L2::evict_unchanged].<T:b64>",
        "d ...",
        _POLICY,
    ),
    rule(
        f"createpolicy.range[.space:global].<level:{_POLICIES}>[.second:L2::evict_first|L2::evict_unchanged]"
        ".<T:b64>",
        "d ...",
        _POLICY,
    ),
    rule("createpolicy.cvt.L2.<T:b64>", "d ...", _POLICY),
    rule(
        f"cp.async.<cop:ca|cg>.shared[.cta:cta].global{_FETCH}",
        effect="copy_async",
        describe=_copy_async,
        has_effect=True,
    ),
    rule("cp.async.commit_group", "-", "spaces.commit_copies(lanes)", has_effect=True),
    rule("cp.async.wait_group", "- n:number", "spaces.wait_for_copies(n, lanes)", has_effect=True),
    rule("cp.async.wait_all", "-", "spaces.wait_for_all_copies(lanes)", has_effect=True),
]
