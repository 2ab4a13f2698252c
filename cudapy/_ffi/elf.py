"""ELF files, checked against their length: C reads them by address, and follows every offset in them.

Cubins are ELF files with sections of their own kinds; so are the object files of a host.

Source: System V ABI, chapter 4 and 5 (64-bit, little-endian).
"""

import struct
from typing import NamedTuple

MAGIC = b"\x7fELF"
HEADER = struct.Struct("<16xHHIQQQIHHHHHH")
SECTION = struct.Struct("<IIQQQQIIQQ")
SEGMENT = struct.Struct("<IIQQQQQQ")
SYMBOL = struct.Struct("<IBBHQQ")
# What is checked of sections: name, kind, offset, size; of symbols: name, section; of relocations: symbol.
_ROW, _SYMBOL = struct.Struct("<II16xQQ24x"), struct.Struct("<I2xH16x")
_REL, _RELA = struct.Struct("<12xI"), struct.Struct("<12xI8x")
SYMBOLS, STRINGS, RELA, NOBITS, REL, DYNAMIC_SYMBOLS = 2, 3, 4, 8, 9, 11
RESERVED = 0xFF00  # the first of the section indices that are none
EXTENDED = 0xFFFF

WITHOUT_BYTES = frozenset({NOBITS, 0x70000007, 0x70000009, 0x7000000A, 0x70000015})
"""Kinds of sections that have a size, but no bytes in the file: NOBITS, and CUDA's for device memory."""
LAST_KIND = 0x700000FF
"""What has a kind beyond it, which no CUDA of today makes, is skipped by whoever reads the file."""
Row = tuple[int, ...]


class DamagedError(ValueError):
    """Object code whose tables reach outside of it, or contradict each other."""


class Section(NamedTuple):
    """Elf64_Shdr."""

    name: int
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int
    entry_size: int


def sections(data: bytes) -> list[Section]:
    """The sections of an ELF file. Raises DamagedError if the table, or what it lists, is not in `data`."""
    start, rows = _checked(data)
    return [Section(*fields) for fields in _table(data, start, len(rows), SECTION)]


def _checked(data: bytes) -> tuple[int, list[Row]]:
    """Where the table of sections is, and what is checked of each. Raises DamagedError as `sections` does."""
    if len(data) < 64 or data[:4] != MAGIC:
        raise DamagedError(f"an ELF file begins with a header of 64 bytes, this one has {len(data)}")
    if data[4] != 2 or data[5] != 1:
        raise DamagedError("the ELF file is not of 64 bits, little-endian")
    header = HEADER.unpack_from(data)
    segments_at, sections_at, segment_size, segment_count, entry, count = *header[4:6], *header[8:12]
    _inside(data, segments_at, segment_size * segment_count, "the table of segments")
    if segment_count and segment_size != SEGMENT.size:
        raise DamagedError(f"a segment's entry has {segment_size} bytes, not {SEGMENT.size}")
    for segment in _table(data, segments_at, segment_count, SEGMENT):
        _inside(data, segment[2], segment[5], "a segment")
    if not count and sections_at and sections_at + SECTION.size <= len(data):
        first = _section(data, sections_at, 0)
        count = 0 if first.kind else first.size  # more than a header can say
    if count and entry != SECTION.size:
        raise DamagedError(f"a section's entry has {entry} bytes, not {SECTION.size}")
    _inside(data, sections_at, SECTION.size * count, "the table of sections")
    rows = _table(data, sections_at, count, _ROW)
    end = len(data)
    for number, (_, kind, start, size) in enumerate(rows):
        if start + size > end and 0 < kind <= LAST_KIND and kind not in WITHOUT_BYTES:
            _inside(data, start, size, f"section {number}")
    names = header[12]
    if names == EXTENDED and rows:
        names = _section(data, sections_at, 0).link
    if names:
        _names(data, rows, names, _first(rows), "a section's name")
    return sections_at, rows


def compute_capability(cubin: bytes) -> int:
    """The compute capability that a cubin is for, 86 for 8.6; 0 where its header does not say.

    It is in the first byte of the flags; in cubins of CUDA 13, whose OS/ABI is 65 and not 51, in the second.
    """
    shift = {51: 0, 65: 8}.get(cubin[7])
    return 0 if shift is None else HEADER.unpack_from(cubin)[6] >> shift & 0xFF


def section_names(data: bytes, found: list[Section]) -> list[bytes]:
    """The names of the sections that `sections` found; empty ones if the file has none."""
    number = HEADER.unpack_from(data)[12]
    if number == EXTENDED and found:
        number = found[0].link
    if not number:
        return [b""] * len(found)
    starts = [found[number].offset + section.name for section in found]
    return [data[start : data.find(b"\0", start)] for start in starts]


def check(data: bytes) -> None:
    """Raise DamagedError unless sections, segments, names, symbols and relocations all lie within `data`."""
    at, rows = _checked(data)
    for number, (_, kind, _, _) in enumerate(rows):
        if kind == SYMBOLS:
            section = _section(data, at, number)
            symbols = _entries(data, section, _SYMBOL, number)
            _names(data, rows, section.link, _first(symbols), f"a symbol's name of section {number}")
            if [index for _, index in symbols if len(rows) <= index < RESERVED]:
                raise DamagedError(f"section {number} has a symbol in a section that there is not")
        elif kind in (REL, RELA):
            section = _section(data, at, number)
            entry = _REL if kind == REL else _RELA
            if section.info >= len(rows):
                raise DamagedError(f"section {number} relocates section {section.info}, which there is not")
            last = _first(_entries(data, section, entry, number))
            _, kind, _, size = _row(rows, section.link)
            if last and last >= size // SYMBOL.size * (kind in (SYMBOLS, DYNAMIC_SYMBOLS)):
                raise DamagedError(f"section {number} relocates to symbol {last}, which there is not")


def _row(rows: list[Row], number: int) -> Row:
    return rows[number] if number < len(rows) else (0, 0, 0, 0)


def _section(data: bytes, table: int, number: int) -> Section:
    return Section(*SECTION.unpack_from(data, table + SECTION.size * number))


def _first(entries: list[Row]) -> int:
    """The highest first field of entries."""
    return max(entries, default=(0,))[0]


def _inside(data: bytes, start: int, size: int, what: str) -> None:
    if size and start + size > len(data):
        raise DamagedError(f"{what} is at bytes {start} to {start + size} of {len(data)}")


def _table(data: bytes, start: int, count: int, entry: struct.Struct) -> list[Row]:
    return [*entry.iter_unpack(data[start : start + count * entry.size])] if count else []


def _entries(data: bytes, section: Section, entry: struct.Struct, number: int) -> list[Row]:
    if section.entry_size != entry.size or section.size % entry.size:
        raise DamagedError(
            f"section {number}: {section.size} bytes in entries of {section.entry_size}, not of {entry.size}"
        )
    return _table(data, section.offset, section.size // entry.size, entry)


def _names(data: bytes, rows: list[Row], number: int, last: int, what: str) -> None:
    """Whether section `number` has strings, and `last` is the offset of one that ends in it."""
    _, kind, start, size = _row(rows, number)
    if kind != STRINGS:
        raise DamagedError(f"{what} is in section {number}, which has no strings")
    if last >= size or data[start + size - 1]:
        raise DamagedError(f"{what} does not end in section {number}")
