"""The machine code of a function: made once it has run often enough to be worth it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..checks import BOUNDS, ORDER, RACES
from .lanes import Unsupported
from .region import OF_BLOCKS, Region, only_ends
from .supported import is_supported

if TYPE_CHECKING:
    from ..compile.function import FunctionCompiler
    from ..compile.graph import Block

_LEAST_STEPS = 6
"""Of a region, unless there is a loop."""
_MAKING = 150.0
"""Microseconds for each step. Machine code is made once NumPy has taken twice as long as making it takes."""
_STEP, _LANE = 2.0, 0.001
"""Microseconds that NumPy takes for a step, and for each lane of it."""


class MachineCode:
    """Regions of a function's blocks, for lanes that enter it at `entries`."""

    def __init__(self, function: FunctionCompiler, blocks: list[Block]) -> None:
        self._function, self._blocks = function, blocks
        self._regions: dict[frozenset[str], Region | None] = {}
        """By what they check."""
        self._microseconds = 0.0
        """What NumPy has taken, about."""
        numbers = {block.index for block in blocks if block.is_fast}
        after = {number: set(blocks[number].successors()) & numbers for number in numbers}
        self.entries = frozenset(
            number
            for number in numbers
            if not (blocks[number].gathers or blocks[number].meets) and self._is_worth_it(number, after)
        )
        self._numbers = sorted(numbers)
        self._enough = _MAKING * sum(len(blocks[number].steps) for number in numbers)
        self._covers_all = all(
            block.is_fast or all(step.instruction.name in ("ret", "exit") for step in block.steps)
            for block in blocks
        )

    def runs_all(self, is_eager: bool) -> bool:
        """Whether next to nothing of the function runs on NumPy from now on."""
        return self._covers_all and (is_eager or self._is_warm or bool(self._regions))

    def _runs_blocks(self, numbers: list[int]) -> bool:
        """Whether a region of blocks is left where threads end alone, so that barriers may be in it."""
        following = {to for one in numbers for to in self._blocks[one].successors()}
        outside = following - {*numbers}
        return self._function.text.is_entry and all(only_ends(self._blocks[one]) for one in outside)

    @property
    def _is_warm(self) -> bool:
        return self._microseconds >= self._enough

    def region(self, block: int, lanes: int, checks: frozenset[str], is_eager: bool) -> Region | None:
        """The region to enter at a block; None if that is not worth it for so many lanes, or not yet."""
        if is_eager or self._is_warm:
            region = self._region(checks)
            return region if region is not None and region.has(block) else None
        self._microseconds += len(self._blocks[block].steps) * (_STEP + _LANE * lanes)
        return None

    def from_begin(self, checks: frozenset[str], is_eager: bool) -> Region | None:
        """The region to enter where the function begins; None if there is none, or not yet."""
        is_due = 0 in self.entries and (is_eager or self._is_warm)
        return self.region(0, 0, checks, is_eager) if is_due else None

    def whole_region(self) -> Region | None:
        """All blocks that there is machine code for, made now; None if there are none."""
        return self._region(frozenset({BOUNDS})) if self._numbers else None

    def _region(self, checks: frozenset[str]) -> Region | None:
        """None if an instruction turns out to be none that there is code for."""
        if checks not in self._regions and ORDER in checks:  # which is the same code
            self._regions[checks] = self._region(checks - {ORDER})
        elif checks not in self._regions:
            try:
                numbers = self._numbers
                if RACES in checks:
                    numbers = [one for one in numbers if self._is_supported(one, checks)]
                if not (checks <= OF_BLOCKS and self._runs_blocks(numbers)):
                    numbers = [one for one in numbers if not self._blocks[one].meets]
                self._regions[checks] = Region(self._function, self._blocks, numbers, checks)
            except Unsupported:
                self._regions[checks] = None
        return self._regions[checks]

    def _is_supported(self, number: int, checks: frozenset[str]) -> bool:
        return all(is_supported(step, self._function, checks) for step in self._blocks[number].steps)

    def _is_worth_it(self, start: int, after: dict[int, set[int]]) -> bool:
        """Whether so many steps can be taken from a block on."""
        reached, pending, steps = {start}, [start], 0
        while pending and steps < _LEAST_STEPS:
            number = pending.pop()
            steps += len(self._blocks[number].steps)
            for following in after[number]:
                if following <= number:
                    return True
                if following not in reached:
                    reached.add(following)
                    pending.append(following)
        return steps >= _LEAST_STEPS
