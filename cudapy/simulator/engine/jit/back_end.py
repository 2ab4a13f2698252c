"""Machine code as a back end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..checks import COVERAGE
from . import processor, supported
from .accesses import CHECKS
from .function import MachineCode
from .run import MachineRuns

if TYPE_CHECKING:
    from ..compile.function import FunctionCompiler
    from ..compile.graph import Block, Step
    from ..run.batch import Batch


class AVX2:
    """Machine code for x86-64 with AVX2, FMA and BMI1."""

    name = "avx2"

    def is_available(self) -> bool:
        """Whether the processor has these, and memory may be executable."""
        return processor.is_supported()

    @property
    def checks(self) -> frozenset[str]:
        """What regions can check."""
        return frozenset({*CHECKS, COVERAGE})

    def supports(self, step: Step, function: FunctionCompiler) -> bool:
        """Whether a region may have an instruction."""
        return supported.is_supported(step, function)

    def compiled(self, function: FunctionCompiler, blocks: list[Block]) -> MachineCode:
        """The code of a function, which is made once it has run for a while."""
        return MachineCode(function, blocks)

    def runner(self, batch: Batch) -> MachineRuns:
        """What runs regions for a batch."""
        return MachineRuns(batch)
