"""Addresses: where the state spaces lie among generic ones, and multiples of an alignment.

What is in no window is global memory.
"""

SHARED = 1 << 60
LOCAL = 1 << 61
FUNCTIONS = 1 << 62
"""Where addresses of functions start; they are not memory."""
SPACES = {"shared": SHARED, "cluster": SHARED, "local": LOCAL}

RANK = 24
"""In an address of shared memory, from this bit on: 0 for the own block, else the rank in its cluster of the
block that it is of, plus one.
"""


def round_up(value: int, unit: int) -> int:
    """The least multiple of `unit` that is not less than `value`."""
    return -(-value // unit) * unit
