"""Barriers in shared memory.

Source: PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ptx.syntax import Address, PTXError, Sink
from .accesses import SHARED, space_of
from .rule import rule

if TYPE_CHECKING:
    from ..ptx.syntax import Instruction

_OWN = "[.space:shared::cta|shared].b64"
_TAIL = f"[.order:release|relaxed][.scope:cta|cluster][.space:{SHARED}].b64"
_WAIT_TAIL = f"[.order:acquire|relaxed][.scope:cta|cluster]{_OWN}"
_AT = "mbarriers.at(a, space, lanes, site)"


def _require_own(instruction: Instruction, groups: dict[str, str]) -> None:
    """Raises PTXError if a token of another block's barrier is wanted."""
    target = instruction.operands[0]
    if space_of(groups) == "cluster" and not isinstance(target, (Address, Sink)):
        raise PTXError("an mbarrier of another block gives no token: the first operand must be _")


RULES = [
    rule(
        f"mbarrier.init{_OWN}",
        "- [a] n:u32",
        "mbarriers.initialize(mbarriers.at(a, space, lanes, site, True), n, lanes, site)",
        has_effect=True,
    ),
    rule(f"mbarrier.inval{_OWN}", "- [a]", f"mbarriers.end({_AT})", has_effect=True),
    *(
        rule(
            f"mbarrier.<action:{actions}>{more}{_TAIL}",
            "d?:b64 [a] n?:u32",
            f"mbarriers.change({operation}, {_AT}, n, {completes}, lanes, site)",
            describe=_require_own,
            has_effect=True,
        )
        for actions, more, operation, completes in (
            ("arrive|arrive_drop", "", "action", True),
            ("arrive|arrive_drop", ".noComplete", "action", False),
            ("arrive|arrive_drop", ".expect_tx", "action + ' expect_tx'", True),
            ("expect_tx|complete_tx", "", "action", True),
        )
    ),
    *(
        rule(
            f"mbarrier.<how:test_wait|try_wait>{parity}{_WAIT_TAIL}",
            f"d:pred [a] {phase} ...",
            f"mbarriers.is_over({_AT}, {of_phase}, lanes, site)",
            has_effect=True,
            yields=True,
        )
        for parity, phase, of_phase in (
            ("", "p:b64", "mbarrier.phase(p)"),
            (".parity", "p:u32", "p & np.uint32(1)"),
        )
    ),
    rule("mbarrier.pending_count.b64", "d:u32 a:b64", "mbarrier.pending(a)"),
    rule(
        f"cp.async.mbarrier.arrive[.noinc]{_OWN}",
        "- [a]",
        f"mbarriers.arrive_after_copies({_AT}, bool(noinc), lanes, site)",
        has_effect=True,
    ),
]
