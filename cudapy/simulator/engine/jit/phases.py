"""Where no thread of a block writes shared memory until all have come to the next barrier.

What threads read there nobody writes before that barrier, and it orders what comes behind it. So the race
detector need not know of such reads, as long as all threads of a block go on from one barrier, or begin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..access import READ

if TYPE_CHECKING:
    from ..compile.graph import Block, Step


def calm_blocks(blocks: list[Block]) -> frozenset[int]:
    """The blocks of a kernel from which threads that run beside them write no shared memory."""
    writing = {block.index for block in blocks if any(_may_write(step) for step in block.steps)}
    calm = {*range(len(blocks))}
    for start in (0, *(block.index + 1 for block in blocks if block.meets)):
        phase, pending = {start}, [start]
        while pending:
            block = blocks[pending.pop()]
            following = () if block.meets else {*block.successors()} - phase
            phase.update(following)
            pending.extend(following)
        if phase & writing:
            calm -= phase
    return frozenset(calm)


def _may_write(step: Step) -> bool:
    """Whether an instruction may write shared memory."""
    rule = step.match.rule
    if rule.effect in ("load", "nothing") or rule.ends_block or not rule.has_effect:
        return False
    if rule.effect not in ("store", "atomic"):
        return True
    access = rule.description(step.instruction, step.match.groups)
    return access.mode != READ and access.space not in ("global", "local", "param")
