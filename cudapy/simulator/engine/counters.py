"""What a launch did, counted."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Counters:
    """Of one launch, with all that its kernel launched."""

    batches: int = 0
    """Batches of blocks that ran side by side."""
    numpy_runs: int = 0
    """How often NumPy ran a basic block for a group of threads."""
    region_runs: int = 0
    """How often another back end took over a group of threads, each time for one basic block or more."""
