"""The word of a barrier in shared memory.

From its lowest bit: arrivals that are missing (20 bits), arrivals of a phase (20 bits), bytes that are
missing (23 bits, two's complement), and whether the phase is odd. The hardware's layout is its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .arrays import u4, u8

if TYPE_CHECKING:
    from collections.abc import Callable

_COUNT = np.uint64((1 << 20) - 1)
_BYTES = np.uint64((1 << 23) - 1)
_EXPECTED = np.uint64(20)
_BYTES_AT = np.uint64(40)
_PHASE = np.uint64(63)
_ONE = np.uint64(1)


def fresh(count: Any) -> Any:
    """A barrier for `count` arrivals."""
    wide = count.astype(u8)
    return wide | wide << _EXPECTED


def phase(word: Any) -> Any:
    """0 or 1."""
    return (word >> _PHASE).astype(u4)


def pending(word: Any) -> Any:
    """The arrivals that were missing."""
    return (word & _COUNT).astype(u4)


def _next(missing: Any, expected: Any, octets: Any, odd: Any) -> Any:
    over = (missing == 0) & (octets == 0)
    missing = np.where(over, expected, missing)
    odd = np.where(over, odd ^ _ONE, odd)
    return missing | expected << _EXPECTED | octets << _BYTES_AT | odd << _PHASE


def _change(word: Any, arrivals: Any, dropped: Any, octets: Any) -> Any:
    missing = (word & _COUNT) - arrivals & _COUNT
    expected = (word >> _EXPECTED & _COUNT) - dropped & _COUNT
    return _next(missing, expected, (word >> _BYTES_AT & _BYTES) + octets & _BYTES, word >> _PHASE)


_ZERO = np.uint64(0)
CHANGES: dict[str, Callable[[Any, Any], Any]] = {
    "mbarrier.arrive": lambda word, n: _change(word, n, _ZERO, _ZERO),
    "mbarrier.arrive_drop": lambda word, n: _change(word, n, n, _ZERO),
    "mbarrier.expect_tx": lambda word, n: _change(word, _ZERO, _ZERO, n),
    "mbarrier.complete_tx": lambda word, n: _change(word, _ZERO, _ZERO, _ZERO - n),
    "mbarrier.arrive_expecting": lambda word, n: _change(word, _ONE, _ZERO, n),
    "mbarrier.arrive_drop_expecting": lambda word, n: _change(word, _ONE, _ONE, n),
}
"""What each operation with the number `n` makes of a word."""
