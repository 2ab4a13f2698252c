"""What `launch_lane` is in a copy of this package that was made without the fast lane: no machine code."""

from __future__ import annotations


def install(launch: object, failed: object) -> bool:
    """Give `launch` no lane."""
    return False
