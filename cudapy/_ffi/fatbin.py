"""Fat binaries, checked against their length: the code in them, each piece for an architecture.

A fat binary is a header and entries behind each other: PTX, cubins, LTO-IR, plain or packed by LZ4 or zstd.
The layout is not documented; it is that of nvFatbin and nvcc of CUDA 12 and 13.
"""

from __future__ import annotations

import struct

from . import elf
from .elf import DamagedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

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
LZ4_RATIO = 256  # no block of LZ4 is of more bytes for each of its own


class Entry:
    """One piece of code; `data` is what the fat binary has of it, `size` the bytes it was made from."""

    def __init__(self, kind: int, architecture: int, flags: int, data: bytes, size: int) -> None:
        self.kind = kind
        self.architecture = architecture
        self.flags = flags
        self.data = data
        self.size = size

    @property
    def is_packed(self) -> bool:
        """Whether `data` has to be unpacked."""
        return bool(self.flags & (OLD | LZ4 | ZSTD))


def entries(data: bytes) -> Iterator[Entry]:
    """The entries of a fat binary. Raises DamagedError if one of them is not in `data` as a whole."""
    if len(data) < HEADER.size or data[:4] != MAGIC:
        raise DamagedError(
            f"a fat binary begins with a header of {HEADER.size} bytes, this one has {len(data)}"
        )
    _, _, place, rest = HEADER.unpack_from(data)
    end = place + rest
    if place < HEADER.size or end > len(data):
        raise DamagedError(
            f"the fat binary has {len(data)} bytes of {end}: it ends in the middle of an entry"
        )
    while place < end:
        if place + ENTRY.size > end:
            raise DamagedError("the fat binary ends in the middle of an entry")
        fields = ENTRY.unpack_from(data, place)
        kind, _, header, body, packed, options, _, _, architecture, name, length, flags, _, size = fields
        start = place + header
        if header < ENTRY.size or start + body > end:
            raise DamagedError("the fat binary ends in the middle of an entry")
        if max(options, name + length) > header + body:
            raise DamagedError("a name or the options in the fat binary lie outside of their entry")
        entry = Entry(kind, architecture, flags, b"", size)
        if entry.is_packed and packed > body:
            raise DamagedError(f"packed code in the fat binary has {packed} bytes of {body}")
        if flags & LZ4 and size > LZ4_RATIO * packed:
            raise DamagedError(f"{packed} bytes of LZ4 in the fat binary cannot be {size} bytes")
        entry.data = data[start : start + (packed if entry.is_packed else body)]
        yield entry
        place = start + body


def check(data: bytes) -> None:
    """Raise DamagedError unless all entries lie within `data`, and plain cubins in theirs."""
    for entry in entries(data):
        if entry.kind == CUBIN and not entry.is_packed and entry.data.startswith(elf.MAGIC):
            elf.check(entry.data)


def check_object(data: bytes) -> None:
    """Raise DamagedError for object code that C would follow out of its bytes: an ELF file, a fat binary.

    What is neither, such as PTX, ends where its text does.
    """
    if data.startswith(elf.MAGIC):
        elf.check(data)
    elif data.startswith(MAGIC):
        check(data)
    elif data.startswith(WRAPPER):
        raise DamagedError(
            "this is the wrapper of a fat binary, which holds an address: take the binary itself"
        )
