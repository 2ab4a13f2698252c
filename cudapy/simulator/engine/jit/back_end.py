"""Machine code as a back end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..checks import COVERAGE, ORDER, RACES
from . import processor, supported
from .accesses import CHECKS
from .block_run import BlockRun
from .function import MachineCode
from .lane_run import LaneRun
from .layout import LANES

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..aliases import I64, Lanes
    from ..compile.function import FunctionCompiler
    from ..compile.graph import Block, Step
    from ..run.batch import Batch
    from ..run.frame import Frame
    from .region import Region
    from .run import Run


class Native:
    """Machine code for x86-64 with AVX2, FMA and BMI1, or for AArch64 with NEON and LSE."""

    def __init__(self) -> None:
        self.name = "neon" if processor.is_aarch64() else "avx2"

    def is_available(self) -> bool:
        """Whether the processor has these, memory may be executable, and the code is trusted."""
        return processor.is_supported()

    checks = frozenset({*CHECKS, COVERAGE, ORDER})
    """What regions can check."""

    def supports(self, step: Step, function: FunctionCompiler) -> bool:
        """Whether a region may have an instruction."""
        return supported.is_supported(step, function)

    def compiled(self, function: FunctionCompiler, blocks: list[Block]) -> MachineCode:
        """The code of a function, which is made once it has run for a while."""
        return MachineCode(function, blocks)

    def runner(self, batch: Batch) -> MachineRuns:
        """What runs regions for a batch."""
        return MachineRuns(batch)


_AT_REST = 4
"""Memories of a region that are kept for batches to come."""


class MachineRuns:
    """The regions of a batch's functions, with memory to run in."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        self._runs: dict[tuple[Region, int], Run] = {}
        self._first: Region | None = None
        """That where the kernel begins."""

    def may_run_all(self) -> bool:
        """See `Runner`."""
        launch = self._batch.launch
        code = launch.kernel.compiled.code
        if not isinstance(code, MachineCode) or self._batch.threads.cluster_size > 1:
            return False
        self._first = code.from_begin(launch.checks, launch.is_eager)
        return self._first is not None and self._are_whole_blocks(self._first, None)

    def run_all(self, frame: Frame, look: Callable[[int, Lanes], None]) -> I64 | None:
        """See `Runner`."""
        assert self._first is not None
        blocks, have_left = self._run_of(self._first, True).run(frame, None, 0, look)
        assert have_left or not isinstance(blocks, int)
        return None if isinstance(blocks, int) else blocks

    def run(
        self, region: Region, frame: Frame, lanes: Lanes, entry: int, look: Callable[[int, Lanes], None]
    ) -> tuple[I64 | int, bool, bool]:
        """See `Runner`."""
        run = self._run_of(region, self._are_whole_blocks(region, lanes))
        blocks, have_left = run.run(frame, lanes, entry, look)
        return blocks, have_left, run.has_effects

    def _run_of(self, region: Region, are_blocks: bool) -> Run:
        """What runs a region for lanes of the batch, which may be whole blocks."""
        warps = -(-self._batch.threads.per_block // LANES)
        memories = BlockRun.memories(region, warps) if are_blocks else 0
        run = self._runs.get((region, memories))
        if run is None:
            try:
                run = region.at_rest[memories].pop()  # by one thread alone
            except IndexError:
                run = BlockRun(region, memories) if memories else LaneRun(region)
            self._runs[region, memories] = run
            run.begin(self._batch)
        return run

    def end(self) -> None:
        """All threads of the batch have exited: others may have the memory."""
        for (region, memories), run in self._runs.items():
            run.end()
            if len(region.at_rest[memories]) < _AT_REST:
                region.at_rest[memories].append(run)
        self._runs.clear()

    def _are_whole_blocks(self, region: Region, lanes: Lanes) -> bool:
        """Whether lanes are all those of some blocks, which are to run as such."""
        batch, per_block = self._batch, self._batch.threads.per_block
        if not region.is_whole or region in batch.launch.by_lanes:
            return False
        is_checked = RACES in region.checks
        if is_checked and (batch.races is None or not batch.races.is_plain):
            return False
        if per_block % LANES and not (region.has_barriers or is_checked):
            return False  # chunks with lanes of several blocks have more of them
        if lanes is None:
            return True
        if len(lanes) % per_block:
            return False
        rows = lanes.reshape(-1, per_block)
        firsts = rows[:, 0]
        return bool(((firsts % per_block == 0) & (rows[:, -1] - firsts == per_block - 1)).all())
