"""Barriers in shared memory: what is done to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import fault
from ..access import ATOMIC, WRITE, accessed, put
from ..arithmetic import mbarrier
from .report import place_of, threads

if TYPE_CHECKING:
    from ..aliases import U32, U64, Bools, Index, Lanes
    from .polls import Polls
    from .race_detector import RaceDetector
    from .report import Reporter
    from .spaces import Spaces
    from .threads import Threads

_WORD = np.dtype("u8")


class Mbarriers:
    """The words of a batch's shared memory that are barriers."""

    def __init__(
        self, threads: Threads, report: Reporter, spaces: Spaces, races: RaceDetector | None, polls: Polls
    ) -> None:
        self._threads, self._report, self._spaces = threads, report, spaces
        self._races, self._polls = races, polls
        self._shared = spaces.shared
        self._known = np.zeros(len(self._shared.view(_WORD)), bool)  # for each word whether it is a barrier

    def at(self, a: U64, space: str, lanes: Lanes, number: int, initializes: bool = False) -> Index:
        """The places of barriers among all words. Raises Fault where there is none."""
        access = accessed(_WORD, 1, number, WRITE if initializes else ATOMIC)
        array, index = self._spaces.at(space, a, access, lanes)
        if array is not self._shared.view(_WORD):
            text = "An mbarrier outside of shared memory"
            self._report.fail(fault.INVALID_ADDRESS_SPACE, text, number, lanes, True, a)
        if not initializes:
            none = ~self._known[index]
            if none.any():
                text = "What is not an mbarrier: mbarrier.init did not come before"
                self._report.fail(fault.LAUNCH_FAILED, text, number, lanes, none, a, more=" in shared memory")
        return index

    def is_barrier(self, index: int) -> bool:
        """Whether a word is a barrier."""
        return bool(self._known[index])

    def initialize(self, index: Index, count: U32, lanes: Lanes, number: int) -> None:
        bad = (count == 0) | (count > mbarrier.MOST)
        if np.any(bad):
            text = f"An mbarrier for 1 .. {mbarrier.MOST} arrivals is possible, not for others"
            self._report.fail(fault.LAUNCH_FAILED, text, number, lanes, bad)
        wide = count.astype(np.uint64)
        self._known[index] = True
        put(self._shared.view(_WORD), index, wide | wide << np.uint64(20))

    def end(self, index: Index) -> None:
        self._known[index] = False

    def change(
        self, operation: str, index: Index, n: U32 | int | None, completes: bool, lanes: Lanes, number: int
    ) -> U64:
        """Lane after lane, by 1 if `n` is None; returns the words that they found: the tokens of arrivals."""
        words = self._shared.view(_WORD)
        numbers = self._threads.numbers(lanes)
        places = np.broadcast_to(index, numbers.shape)
        counts = np.broadcast_to(np.uint32(1) if n is None else n, numbers.shape).tolist()
        change = mbarrier.CHANGES[operation]
        state = {place: int(words[place]) for place in np.unique(places).tolist()}
        old_words = []
        for position, place in enumerate(places.tolist()):
            word = state[place]
            old_words.append(word)
            try:
                state[place] = mbarrier.changed(word, change, counts[position], completes)
            except ValueError as error:
                text = f"An mbarrier operation that is not possible: {error}"
                self._report.fail(fault.LAUNCH_FAILED, text, number, numbers[position : position + 1], True)
        if self._races is not None and operation != "expect_tx":
            odd = np.array(old_words, np.uint64) >> np.uint64(63)
            self._races.arrived(places, odd.astype(np.int64), numbers)
        words[list(state)] = np.array(list(state.values()), np.uint64)
        return np.array(old_words, np.uint64)

    def arrive_after_copies(self, index: Index, is_counted: bool, lanes: Lanes, number: int) -> None:
        """cp.async.mbarrier.arrive: who waits is not followed. is_counted: it is one of the arrivals that are
        expected, and not one that is added for it.
        """
        self._spaces.wait_for_all_copies(lanes)
        if is_counted:
            self.change("arrive", index, None, True, lanes, number)

    def is_over(self, index: Index, phase: U64 | U32, lanes: Lanes, number: int) -> Bools:
        """test_wait and try_wait: whether the phase is no longer the barrier's."""
        word = self._shared.view(_WORD).take(index)
        over = mbarrier.phase(word) != phase
        numbers = self._threads.numbers(lanes)
        over = np.broadcast_to(over, numbers.shape)
        done = numbers[over]
        if self._races is not None and len(done):
            places, odd = np.broadcast_to(index, numbers.shape)[over], np.broadcast_to(phase, numbers.shape)
            self._races.waited(places, odd[over].astype(np.int64), done)
        self._polls.answered(done)
        if len(done) < len(numbers):
            function = self._report.function
            site = function, function.instructions[number]
            words = np.broadcast_to(index, numbers.shape)[~over]
            self._polls.failed(numbers[~over], words, site, self._threads.count)
        return over

    def who_asks(self) -> list[str]:
        """The report of threads whose polls never succeed."""
        lines = []
        for (function, instruction), index, lanes in self._polls.groups():
            word = int(self._shared.view(_WORD)[index])
            arrivals, size = mbarrier.missing(word)
            owner, offset = divmod(8 * index, self._shared.stride)
            lines.append(
                f"    {threads(len(lanes), f'wait for the mbarrier at {offset:#x}')} in the shared memory of "
                f"{self._threads.block_name(owner)}, the first is {self._threads.name(int(lanes[0]))}\n"
                f"        {place_of(self._report.kernel_name, function, instruction)}\n"
                f"        {arrivals} of {word >> 20 & mbarrier.MOST} arrivals and {size} bytes are missing"
            )
        return lines
