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


MAPS = "/proc/self/maps"


def is_code(address: int) -> bool:
    """Whether an address is in executable memory; False where nobody tells, which Linux does."""
    try:
        with open(MAPS, "rb") as file:
            for line in file:
                extent, access = line.split(None, 2)[:2]
                first, _, end = extent.partition(b"-")
                if int(first, 16) <= address < int(end, 16):
                    return b"x" in access
    except OSError:
        pass
    return False


MEMORY = "/proc/self/mem"
PIECE = 1 << 16  # bytes that are read at once


def read_mapped(address: int, size: int) -> bytes:
    """Read memory whose address may be wrong: Linux tells. Raises NotMappedError."""
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


def exported(address: int, size: int, owner: object) -> Any:
    """The same bytes where they are, as an object with the buffer protocol that keeps `owner` alive."""
    array: Any = (ctypes.c_ubyte * size).from_address(address)
    array.owner = owner
    return array


def block(data: bytes) -> tuple[Any, int]:
    """Memory that holds a copy of `data`, and its address, good as long as the memory is kept."""
    buffer = ctypes.create_string_buffer(data, len(data))
    return buffer, ctypes.addressof(buffer)
