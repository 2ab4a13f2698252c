"""A line on the terminal for launches that take long."""

import contextlib
import os
import time

VARIABLE = "CUDAPY_SIMULATOR_PROGRESS"
PATIENCE = 2.0
"""Seconds before anything is shown, and between two lines a tenth of it."""
_WIDTH = 79


class Progress:
    """How many blocks of a launch have run, on stderr where that is a terminal.

    Blocks that run side by side count when they have all ended. CUDAPY_SIMULATOR_PROGRESS=0 switches it off.
    """

    def __init__(self, name: str, blocks: int) -> None:
        self._name, self._blocks = name, blocks
        self._start = self._shown = time.monotonic()
        self._is_shown = False

    def done(self, blocks: int) -> None:
        """So many blocks of the launch have run."""
        now = time.monotonic()
        elapsed = now - self._start
        if elapsed < PATIENCE or now - self._shown < PATIENCE / 10 or not _is_wanted():
            return
        self._shown, self._is_shown = now, True
        left = elapsed * (self._blocks - blocks) / blocks
        numbers = f"{blocks:,} of {self._blocks:,} blocks, about {left:.0f} s left"
        name = self._name[: _WIDTH - len(numbers) - len("cudapy simulator: , ")]
        _write(f"cudapy simulator: {name}, {numbers}")

    def close(self) -> None:
        """The launch has ended: take the line away."""
        if self._is_shown:
            _write("")


def _is_wanted() -> bool:
    return os.environ.get(VARIABLE, "1") != "0" and os.isatty(2)


def _write(line: str) -> None:
    """Write over the line of the terminal that the cursor is in."""
    with contextlib.suppress(OSError):  # a terminal that is gone is no reason for a kernel to fail
        os.write(2, f"\r{line:{_WIDTH}}\r{line}".encode(errors="replace"))
