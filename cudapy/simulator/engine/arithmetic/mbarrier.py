"""The word of a barrier in shared memory.

From its lowest bit: arrivals that are missing (20 bits), arrivals of a phase (20 bits), bytes that are
missing (23 bits, two's complement), and whether the phase is odd. The hardware's layout is its own.

Source: PTX ISA, "mbarrier", "Contents of the mbarrier object", "Phase of the mbarrier object".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .arrays import u4

if TYPE_CHECKING:
    from ..aliases import Array

MOST = (1 << 20) - 1
"""Arrivals of a phase, and bytes that may be missing, or come too early."""
_COUNT = np.uint64(MOST)
_PHASE = np.uint64(63)
_BYTES = (1 << 23) - 1


class Change(NamedTuple):
    """What an operation does with a count `n`."""

    arrivals: int
    """How many arrivals: a number, or -1 for `n`."""
    drops: bool
    """These are no longer expected in later phases."""
    tx_count: int
    """1 if `n` bytes more are awaited, -1 if they came."""


CHANGES = {
    "arrive": Change(-1, False, 0),
    "arrive_drop": Change(-1, True, 0),
    "arrive expect_tx": Change(1, False, 1),
    "arrive_drop expect_tx": Change(1, True, 1),
    "expect_tx": Change(0, False, 1),
    "complete_tx": Change(0, False, -1),
}


def phase(word: Array) -> Array:
    """0 or 1."""
    return (word >> _PHASE).astype(u4)


def pending(word: Array) -> Array:
    """The arrivals that were missing."""
    return (word & _COUNT).astype(u4)


def fresh(count: int) -> int:
    """A barrier for `count` arrivals."""
    return count | count << 20


def missing(word: int) -> tuple[int, int]:
    """The arrivals and the bytes that a phase still waits for."""
    tx_count = word >> 40 & _BYTES
    return word & MOST, tx_count - (_BYTES + 1 if tx_count > _BYTES // 2 else 0)


def changed(word: int, change: Change, n: int, completes: bool = True) -> int:
    """The word after an operation. Raises ValueError, which says why, where PTX does not define one."""
    arrivals = n if change.arrivals < 0 else change.arrivals
    missing_arrivals, tx_count = missing(word)
    expected, odd = word >> 20 & MOST, word >> 63
    if change.arrivals and not 0 < arrivals <= MOST:
        raise ValueError(f"{arrivals} arrivals: there must be 1 .. {MOST}")
    if arrivals > missing_arrivals:
        raise ValueError(f"{arrivals} arrivals where {missing_arrivals} of {expected} are missing")
    missing_arrivals -= arrivals
    tx_count += change.tx_count * n
    if abs(tx_count) > MOST or n > MOST:
        raise ValueError(f"{tx_count} bytes are awaited: at most {MOST} can be")
    if change.drops:
        expected -= arrivals
    if not missing_arrivals and not tx_count and (arrivals or n):
        if not completes:
            raise ValueError("noComplete, but the arrival completes the phase")
        missing_arrivals, odd = expected, odd ^ 1
    return missing_arrivals | expected << 20 | (tx_count & _BYTES) << 40 | odd << 63
