"""Barriers in shared memory: what is done to them, and who asks in vain whether one is over."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import fault
from ..arithmetic import mbarrier
from .access import ATOMIC, WRITE
from .cluster import Clusters
from .report import place_of

_WORD = np.dtype("u8")
_NOBODY = -1


class Mbarriers(Clusters):
    """The part of a batch that knows which words of shared memory are barriers."""

    def set_up_mbarriers(self) -> None:
        self._known: Any = None  # for each word whether it is a barrier
        self.rounds_in_vain = 0
        """How often lanes asked in vain since any thread did anything else."""
        self._asks: Any = None  # the word that a lane asked for in vain
        self._asked_at: Any = None  # where: a place in _sites
        self._sites: list[tuple[Any, Any]] = []

    def mbarrier_at(self, a: Any, space: str, lanes: Any, number: int, initializes: bool = False) -> Any:
        """The places of barriers among all words. Raises Fault where there is none."""
        mode = WRITE if initializes else ATOMIC
        array, index = getattr(self, f"at_{space}")(a, _WORD, 1, lanes, number, mode)
        if array is not self.shared_view(_WORD):
            text = "An mbarrier outside of shared memory"
            self.fail(fault.INVALID_ADDRESS_SPACE, text, number, lanes, True, a)
        if self._known is None:
            self._known = np.zeros(len(array), bool)
        if not initializes:
            none = ~self._known[index]
            if none.any():
                text = "What is no mbarrier: mbarrier.init did not come before"
                self.fail(fault.LAUNCH_FAILED, text, number, lanes, none, a, more=" in shared memory")
        return index

    def is_barrier(self, index: int) -> bool:
        """Whether a word is a barrier."""
        return self._known is not None and bool(self._known[index])

    def initialize_mbarriers(self, index: Any, count: Any, lanes: Any, number: int) -> None:
        bad = (count == 0) | (count > mbarrier.MOST)
        if np.any(bad):
            text = f"An mbarrier for 1 .. {mbarrier.MOST} arrivals is possible, not for others"
            self.fail(fault.LAUNCH_FAILED, text, number, lanes, bad)
        wide = count.astype(np.uint64)
        self._known[index] = True
        self.shared_view(_WORD)[index] = wide | wide << np.uint64(20)

    def end_mbarriers(self, index: Any) -> None:
        self._known[index] = False

    def change_mbarriers(
        self, operation: str, index: Any, n: Any, completes: bool, lanes: Any, number: int
    ) -> Any:
        """Lane after lane; returns the words that they found: the tokens of arrivals."""
        words = self.shared_view(_WORD)
        numbers = self.numbers(lanes)
        places = np.broadcast_to(index, numbers.shape)
        counts = np.broadcast_to(n, numbers.shape).tolist()
        change = mbarrier.CHANGES[operation]
        state = {place: int(words[place]) for place in np.unique(places).tolist()}
        found = []
        for position, place in enumerate(places.tolist()):
            word = state[place]
            found.append(word)
            try:
                state[place] = mbarrier.changed(word, change, counts[position], completes)
            except ValueError as error:
                text = f"An mbarrier operation that is not possible: {error}"
                self.fail(fault.LAUNCH_FAILED, text, number, numbers[position : position + 1], True)
        words[list(state)] = np.array(list(state.values()), np.uint64)
        return np.array(found, np.uint64)

    def is_over(self, index: Any, phase: Any, lanes: Any, number: int) -> Any:
        """test_wait and try_wait: whether the phase is no longer the barrier's."""
        word = self.shared_view(_WORD).take(index)
        over = mbarrier.phase(word) != phase
        numbers = self.numbers(lanes)
        over = np.broadcast_to(over, numbers.shape)
        done = numbers[over]
        if self.watch is not None and len(done):
            places, odd = np.broadcast_to(index, numbers.shape)[over], np.broadcast_to(phase, numbers.shape)
            self.watch.waited(
                np.unique(self.blocks[done]), np.unique(2 * places + odd[over].astype(np.int64))
            )
        if self._asks is not None:
            self._asks[done] = _NOBODY
        if len(done) < len(numbers):
            self._in_vain(numbers[~over], np.broadcast_to(index, numbers.shape)[~over], number)
        return over

    def _in_vain(self, numbers: Any, index: Any, number: int) -> None:
        if self._asks is None:
            self._asks = np.full(self.count, _NOBODY, np.int64)
            self._asked_at = np.zeros(self.count, np.int64)
        site = self.function, self.function.instructions[number]
        if site not in self._sites:
            self._sites.append(site)
        self._asks[numbers] = index
        self._asked_at[numbers] = self._sites.index(site)
        self.rounds_in_vain += 1

    def something_happened(self) -> None:
        """Those that asked in vain may have better luck now."""
        self.rounds_in_vain = 0
        self._asks[:] = _NOBODY

    def asking(self) -> Any:
        """The lanes that have asked in vain."""
        return np.flatnonzero(self._asks != _NOBODY)

    def who_asks(self) -> list[str]:
        """What to say of those that ask in vain."""
        lines = []
        lanes = self.asking()
        pairs = np.stack([self._asked_at[lanes], self._asks[lanes]], 1)
        for site, index in np.unique(pairs, axis=0).tolist():
            those = lanes[(pairs == (site, index)).all(1)]
            function, instruction = self._sites[site]
            arrivals, octets = mbarrier.missing(int(self.shared_view(_WORD)[index]))
            expected = int(self.shared_view(_WORD)[index]) >> 20 & mbarrier.MOST
            owner, offset = divmod(8 * index, self.shared_stride)
            lines.append(
                f"    {len(those)} threads wait for the mbarrier at {offset:#x} in the shared memory of "
                f"{self.block_name(owner)}, the first is {self.thread(int(those[0]))}\n"
                f"        {place_of(self.kernel_name, function, instruction)}\n"
                f"        {arrivals} of {expected} arrivals and {octets} bytes are missing"
            )
        return lines
