"""What the simulator tells people, in the middle of a program that may have closed its standard error."""

from __future__ import annotations

import sys


def say(text: str) -> bool:
    """Print lines on stderr; whether that was possible, which is not a reason for a program to fail."""
    if sys.stderr is None:
        return False
    try:
        print(f"cudapy simulator: {text}", file=sys.stderr, flush=True)
    except (OSError, ValueError):  # it is closed, or nobody reads it
        return False
    return True
