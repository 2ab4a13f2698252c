"""Threads that poll a barrier: they test again and again whether its phase is complete."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..aliases import I64
    from ..compile.function import CompiledFunction
    from ..ptx.syntax import Instruction

    Site = tuple[CompiledFunction, Instruction]

_NOBODY = -1


class Polls:
    """The lanes of a batch whose last test of a barrier failed, with the instruction and the barrier."""

    def __init__(self) -> None:
        self.unproductive = 0
        """How many tests failed since a thread last did anything else."""
        self._asks: I64 | None = None  # the word that a lane tested
        self._asked_at: I64 | None = None  # with which of _sites
        self._sites: list[Site] = []

    def answered(self, lanes: I64) -> None:
        """The test of lanes succeeded."""
        if self._asks is not None:
            self._asks[lanes] = _NOBODY

    def failed(self, lanes: I64, index: I64, site: Site, count: int) -> None:
        """The test of lanes, in a batch of `count`, failed for the words at `index`."""
        if self._asks is None or self._asked_at is None:
            self._asks = np.full(count, _NOBODY, np.int64)
            self._asked_at = np.zeros(count, np.int64)
        if site not in self._sites:
            self._sites.append(site)
        self._asks[lanes] = index
        self._asked_at[lanes] = self._sites.index(site)
        self.unproductive += 1

    def something_happened(self) -> None:
        """Retry polls that have failed: a thread did something that they may wait for."""
        self.unproductive = 0
        if self._asks is not None:
            self._asks[:] = _NOBODY

    def lanes(self) -> I64:
        """The lanes whose test failed."""
        return np.flatnonzero(self._asks != _NOBODY)

    def groups(self) -> list[tuple[Site, int, I64]]:
        """The lanes whose test failed, by instruction and tested word."""
        if self._asks is None or self._asked_at is None:
            return []
        lanes = self.lanes()
        pairs = np.stack([self._asked_at[lanes], self._asks[lanes]], 1)
        return [
            (self._sites[site], index, lanes[(pairs == (site, index)).all(1)])
            for site, index in np.unique(pairs, axis=0).tolist()
        ]
