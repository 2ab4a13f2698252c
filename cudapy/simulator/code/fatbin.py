"""Fat binaries: the code in them that a simulated device can run.

A fat binary is a header and entries behind each other: PTX, cubins, LTO-IR, each for an architecture, plain
or packed by LZ4 or zstd. The layout is not documented; it is that of nvFatbin and nvcc of CUDA 12 and 13.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..log import Refused

MAGIC = b"\x50\xed\x55\xba"
WRAPPER = b"\xb1\x43\x62\x46"
HEADER = struct.Struct("<4sHHQ")  # magic, version, bytes of the header, bytes behind it
ENTRY = struct.Struct("<HHIQIIHHIIIQQQ")
"""Kind, version, bytes of the header, bytes behind it, bytes of packed code, place of options, minor and
major version of the code, architecture, place and length of the name, flags, unknown, bytes of unpacked code.
"""
PTX, CUBIN = 1, 2
LZ4, ZSTD = 0x2000, 0x8000
OLD = 0x1000  # packed as before CUDA 12


@dataclass
class Entry:
    """One piece of code; `data` is what the fat binary has of it."""

    kind: int
    architecture: int
    flags: int
    data: bytes
    size: int

    def unpacked(self) -> bytes:
        """The code. Raises Refused if it is packed in a way that is unknown here."""
        if self.flags & OLD:
            raise _packed("as before CUDA 12")
        if self.flags & LZ4:
            return unpacked_lz4(self.data, self.size)
        if self.flags & ZSTD:
            return _unpacked_zstd(self.data, self.size)
        return self.data


def _packed(how: str) -> Refused:
    return Refused(
        "CUDA_ERROR_NO_BINARY_FOR_GPU",
        f"the fat binary is packed {how}, which the simulator cannot unpack here: make it with"
        " -compress=false or -compress-mode=speed",
    )


def size(address: int) -> int:
    """The bytes of the fat binary at an address."""
    _, _, header, rest = HEADER.unpack(ctypes.string_at(address, HEADER.size))
    return int(header + rest)


def behind(address: int) -> int:
    """The address of the fat binary that a wrapper, as nvcc makes them, points to."""
    return int(struct.unpack_from("<Q", ctypes.string_at(address, 16), 8)[0])


def entries(data: bytes) -> Iterator[Entry]:
    """The entries of a fat binary. Raises Refused."""
    _, _, place, rest = HEADER.unpack_from(data)
    end = place + rest
    while place + ENTRY.size <= end:
        kind, _, header, body, packed, _, _, _, architecture, _, _, flags, _, whole = ENTRY.unpack_from(
            data, place
        )
        start = place + header
        if header < ENTRY.size or start + body > len(data):
            raise Refused("CUDA_ERROR_INVALID_IMAGE", "the fat binary ends in the middle of an entry")
        is_packed = flags & (OLD | LZ4 | ZSTD)
        code = data[start : start + (packed if is_packed else body)]
        yield Entry(kind, architecture, flags, code, whole)
        place = start + body


def unpacked_lz4(data: bytes, size: int) -> bytes:
    """What a block of LZ4 was made from. Raises Refused.

    Source: LZ4 Block Format Description, lz4.org.
    """
    found = bytearray()
    place = 0

    def length(start: int) -> int:
        nonlocal place
        if start == 15:
            more = 255
            while more == 255:
                more = data[place]
                place += 1
                start += more
        return start

    try:
        while True:
            token = data[place]
            place += 1
            count = length(token >> 4)
            found += data[place : place + count]
            place += count
            if place >= len(data):
                break
            distance = data[place] | data[place + 1] << 8
            place += 2
            count = length(token & 15) + 4
            start = len(found) - distance
            if not distance or start < 0:
                raise IndexError
            while count:  # what is copied may be what was just written
                piece = found[start : start + count]
                found += piece
                start, count = start + len(piece), count - len(piece)
    except IndexError:
        raise Refused("CUDA_ERROR_INVALID_IMAGE", "the packed code in the fat binary is damaged") from None
    if len(found) != size:
        raise Refused("CUDA_ERROR_INVALID_IMAGE", "the packed code in the fat binary is damaged")
    return bytes(found)


def _unpacked_zstd(data: bytes, size: int) -> bytes:
    """What zstd was given, by Python's module, since 3.14, or the system's library. Raises Refused."""
    try:
        from compression import zstd  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        found = _by_library(data, size)
    else:
        try:
            found = zstd.decompress(data)
        except zstd.ZstdError:
            found = b""
    if len(found) != size:
        raise Refused("CUDA_ERROR_INVALID_IMAGE", "the packed code in the fat binary is damaged")
    return found


def _by_library(data: bytes, size: int) -> bytes:
    name = ctypes.util.find_library("zstd")
    if name is None:
        raise _packed("by zstd, and there is neither Python's compression.zstd nor a libzstd")
    unpack: Any = ctypes.CDLL(name).ZSTD_decompress
    unpack.restype = ctypes.c_size_t
    unpack.argtypes = (ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t)
    room = ctypes.create_string_buffer(size)
    count = unpack(room, size, data, len(data))
    return room.raw if count == size else b""
