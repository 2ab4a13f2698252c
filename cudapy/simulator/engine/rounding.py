"""Sizes and offsets that are multiples of a unit."""


def round_up(value: int, unit: int) -> int:
    """The least multiple of `unit` that is not less than `value`."""
    return -(-value // unit) * unit
