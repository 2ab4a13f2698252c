"""Memory that is known by its address."""

from __future__ import annotations

import ctypes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def read(address: int, size: int) -> bytes:
    """The `size` bytes at an address."""
    return ctypes.string_at(address, size)


def view(address: int, size: int) -> memoryview:
    """The same bytes where they are, to be read and written as long as they exist."""
    return memoryview((ctypes.c_char * size).from_address(address)).cast("B")


def block(data: bytes) -> tuple[Any, int]:
    """Memory that holds a copy of `data`, and its address, good as long as the memory is kept."""
    made = ctypes.create_string_buffer(data, len(data))
    return made, ctypes.addressof(made)
