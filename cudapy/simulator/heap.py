"""What the C library does with memory that NumPy frees.

A kernel runs as operations on arrays of some 100 KiB to a few MiB, made and freed all the time. glibc gives
memory of that size back to the system, which hands it out again page by page, zeroed: half of the time of a
kernel that streams through memory.
"""

import ctypes
import sys

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # malloc.h
_KEPT = 256 << 20
"""Freed bytes at the end of the heap that stay with the process."""
_FROM_THE_HEAP = 32 << 20
"""Arrays of up to so many bytes come from the heap; glibc allows no more."""


def keep_freed_memory() -> None:
    """Let arrays use again what others freed. Does nothing where the C library is not glibc."""
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # musl has none
        if mallopt is not None:
            mallopt(_M_MMAP_THRESHOLD, _FROM_THE_HEAP)
            mallopt(_M_TRIM_THRESHOLD, _KEPT)
