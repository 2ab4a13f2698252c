"""The machine code of a function: made once it has run often enough to be worth it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from .. import settings
from .lanes import Unsupported
from .region import Region

if TYPE_CHECKING:
    from ..compile.function import FunctionCompiler
    from ..compile.graph import Block

_LEAST_STEPS, _LEAST_FOR_FEW = 6, 24
"""Of a region that many or few lanes enter, unless there is a loop."""
_ENDLESS = _LEAST_FOR_FEW
_FEW = 2048
"""Lanes."""
_MAKING = 150.0
"""Microseconds for each step: machine code is made once the other code has taken so long, about twice as long
as it takes to make it.
"""
_STEP, _LANE = 2.0, 0.001
"""Microseconds that the other code takes for a step, and for each lane of it."""


class MachineCode:
    """That of the blocks of a function."""

    def __init__(self, function: FunctionCompiler, blocks: list[Block]) -> None:
        self._function, self._blocks = function, blocks
        self._microseconds = 0.0
        """What the other code has taken, about."""
        self._steps: dict[int, int] = {}
        """How many steps can be taken from a block on; of a loop very many."""
        numbers = {block.index for block in blocks if block.is_fast}
        after = {number: set(blocks[number].successors()) & numbers for number in numbers}
        for number in numbers:
            self._steps[number] = self._count(number, after)
            blocks[number].is_entry = self._steps[number] >= _LEAST_STEPS and not blocks[number].gathers
        self._numbers = sorted(numbers)
        self._enough = _MAKING * sum(len(blocks[number].steps) for number in numbers)
        self._covers_all = all(
            block.is_fast or all(step.instruction.name in ("ret", "exit") for step in block.steps)
            for block in blocks
        )

    @property
    def runs_all(self) -> bool:
        """Whether next to nothing of the function runs as other code from now on."""
        return self._covers_all and self._is_warm

    @property
    def _is_warm(self) -> bool:
        return self._microseconds >= self._enough

    def region(self, block: int, size: int) -> Region | None:
        """The region that a block for `size` lanes is in, if it is to be entered."""
        always = settings.current.machine_code == "always"
        if not always and size < _FEW and self._steps[block] < _LEAST_FOR_FEW:
            return None
        if always or self._is_warm:
            return self._region
        self._microseconds += len(self._blocks[block].steps) * (_STEP + _LANE * size)
        return None

    @cached_property
    def _region(self) -> Region | None:
        """None if an instruction turns out to be none that there is code for."""
        try:
            return Region(self._function, self._blocks, self._numbers)
        except Unsupported:
            return None

    def _count(self, start: int, after: dict[int, set[int]]) -> int:
        """The steps from a block on, counted up to the largest number that matters."""
        reached, pending, steps = {start}, [start], 0
        while pending and steps < _LEAST_FOR_FEW:
            number = pending.pop()
            steps += len(self._blocks[number].steps)
            for following in after[number]:
                if following <= number:
                    return _ENDLESS
                if following not in reached:
                    reached.add(following)
                    pending.append(following)
        return steps
