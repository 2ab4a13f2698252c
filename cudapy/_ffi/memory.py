"""Memory that is known by its address."""

from __future__ import annotations

import ctypes
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def read(address: int, size: int) -> bytes:
    """The `size` bytes at an address."""
    return ctypes.string_at(address, size)


class NotMappedError(Exception):
    """An address at which there is no memory."""


MEMORY = "/proc/self/mem"
PIECE = 1 << 16  # bytes that are read at once


def read_mapped(address: int, size: int) -> bytes:
    """The same, where an address may be wrong: Linux tells. Raises NotMappedError."""
    try:
        file = os.open(MEMORY, os.O_RDONLY)
    except OSError:
        return ctypes.string_at(address, size)
    pieces, end = [], address + size
    try:
        while address < end:
            pieces.append(_piece(file, address, min(PIECE, end - address)))
            address += len(pieces[-1])
    finally:
        os.close(file)
    return b"".join(pieces)


def read_mapped_text(address: int, limit: int) -> bytes:
    """The bytes from an address up to a NUL, without it, `limit` at most. Raises NotMappedError."""
    try:
        file = os.open(MEMORY, os.O_RDONLY)
    except OSError:
        return ctypes.string_at(address)
    pieces, end, nul = [], address + limit, b""
    try:
        while address < end and not nul:
            piece, nul, _ = _piece(file, address, min(PIECE, end - address)).partition(b"\0")
            pieces.append(piece)
            address += len(piece)
    finally:
        os.close(file)
    return b"".join(pieces)


def _piece(file: int, address: int, size: int) -> bytes:
    try:
        piece = os.pread(file, size, address)
    except (OSError, OverflowError):  # EIO; an address that no process has
        piece = b""
    if not piece:
        raise NotMappedError(f"there is none at {address:#x}")
    return piece


def view(address: int, size: int) -> memoryview:
    """The same bytes where they are, to be read and written as long as they exist."""
    return memoryview((ctypes.c_char * size).from_address(address)).cast("B")


def block(data: bytes) -> tuple[Any, int]:
    """Memory that holds a copy of `data`, and its address, good as long as the memory is kept."""
    made = ctypes.create_string_buffer(data, len(data))
    return made, ctypes.addressof(made)
