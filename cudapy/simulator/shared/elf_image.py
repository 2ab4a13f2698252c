"""An ELF shared library: sections that know their bytes, and symbols that are bound when all have addresses.

Source: System V ABI, chapters 4 and 5.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

from ..._ffi import elf
from ..._ffi.sizes import round_up

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PAGE = 0x10000  # the largest that a system for these machines has
PROGRAM, HASH, DYNAMIC = 1, 5, 6  # kinds of sections
VERSIONS_DEFINED, VERSIONS = 0x6FFFFFFD, 0x6FFFFFFF
WRITE, ALLOC, EXECUTE = 1, 2, 4
LOAD, DYNAMIC_SEGMENT, STACK = 1, 2, 0x6474E551  # kinds of segments
FUNCTION, OBJECT, UNKNOWN = 0x12, 0x11, 0x10  # global symbols of these types
DT_NULL, DT_NEEDED, DT_HASH, DT_STRTAB, DT_SYMTAB, DT_RELA, DT_RELASZ, DT_RELAENT = 0, 1, 4, 5, 6, 7, 8, 9
DT_STRSZ, DT_SYMENT, DT_SONAME, DT_RUNPATH = 10, 11, 14, 29
DT_VERSYM, DT_VERDEF, DT_VERDEFNUM = 0x6FFFFFF0, 0x6FFFFFFC, 0x6FFFFFFD
_HEADER, _RELOCATION, _TAG = 64, struct.Struct("<QQq"), struct.Struct("<qQ")
_SEGMENTS = 4


class Strings:
    """A table of strings, each there once."""

    def __init__(self) -> None:
        self.data = bytearray(b"\0")
        self._places: dict[str, int] = {"": 0}

    def place(self, text: str) -> int:
        """The offset of a string."""
        if text not in self._places:
            self._places[text] = len(self.data)
            self.data += text.encode() + b"\0"
        return self._places[text]


class Section:
    """A section of known size, whose bytes may depend on addresses.

    contents: called when every section has its address; returns the bytes.
    labels: offsets in it, by name, which become symbols.
    """

    def __init__(
        self,
        name: str,
        kind: int,
        flags: int,
        size: int,
        contents: Callable[[], bytes],
        alignment: int = 8,
        entry: int = 0,
        labels: Mapping[str, int] | None = None,
        link: str = "",
        info: int = 0,
    ) -> None:
        self.name, self.kind, self.flags = name, kind, flags
        self.size, self.contents = size, contents
        self.alignment, self.entry = alignment, entry
        self.labels = labels or {}
        self.link, self.info = link, info
        self.address = 0


class Exported(NamedTuple):
    """A symbol for other libraries, at a label; of another library, if `section` is ""."""

    name: str
    kind: int
    section: str
    label: str
    size: int
    versioned: bool = False


class Words:
    """Writable memory: tables of 8 bytes each, which begin as zeros."""

    def __init__(self) -> None:
        self.labels: dict[str, int] = {}
        self.sizes: dict[str, int] = {}
        self.size = 0

    def table(self, name: str, count: int = 1) -> None:
        """Add a table."""
        self.labels[name], self.sizes[name] = self.size, 8 * count
        self.size += 8 * count


class Relocations:
    """What the loader writes to `.data`, by the places there."""

    def __init__(self, relative: int, symbolic: int) -> None:
        self._kinds = relative, symbolic
        self._entries: list[tuple[tuple[str, int], str, int]] = []

    def address(self, place: tuple[str, int], label: str, offset: int = 0) -> None:
        """The address of a label, or `offset` bytes behind it. place: a label of `.data`, and an offset."""
        self._entries.append((place, label, offset))

    def symbol(self, place: tuple[str, int], number: int) -> None:
        """The address of the symbol with that number, counted from 1."""
        self._entries.append((place, "", number))

    @property
    def size(self) -> int:
        return _RELOCATION.size * len(self._entries)

    def data(self, addresses: Mapping[str, int]) -> bytes:
        """Their bytes."""
        relative, symbolic = self._kinds
        return b"".join(
            _RELOCATION.pack(addresses[table] + offset, relative, addresses[label] + number)
            if label
            else _RELOCATION.pack(addresses[table] + offset, number << 32 | symbolic, 0)
            for (table, offset), label, number in self._entries
        )


class ElfImage:
    """A library. Add to `read` and `written`, then take `bytes`."""

    def __init__(self, machine: int, soname: str, symbols: list[Exported], version: str = "") -> None:
        self._machine = machine
        self._symbols = symbols
        self._strings = Strings()
        self._tags: list[tuple[int, int | str]] = []
        self.addresses: dict[str, int] = {}
        """The addresses of labels, once all sections have one."""
        self.read: list[Section] = []
        """The sections that are read or run, in the order in which they are in memory."""
        self.written: list[Section] = []
        self._soname, self._version = soname, version

    def name(self, tag: int, text: str) -> None:
        """Tell the loader a name, such as that of a library that this one needs."""
        self._tags.append((tag, self._strings.place(text)))

    def build(self, relocations: Relocations, read: list[Section], written: list[Section]) -> bytes:
        """The file. read: the sections behind the loader's tables. written: those behind `.dynamic`."""
        self.name(DT_SONAME, self._soname)
        symbols, strings = self._symbols, self._strings
        names = [strings.place(symbol.name) for symbol in symbols]
        hashes = hash_table([symbol.name.encode() for symbol in symbols])
        defined = self._versions() if self._version else b""
        numbers = [0, *(2 if one.versioned else 1 for one in symbols)]
        versions = struct.pack(f"<{len(numbers)}H", *numbers)
        text = bytes(strings.data)
        entries = elf.SYMBOL.size
        self.read = [
            Section(
                ".dynsym", elf.DYNAMIC_SYMBOLS, ALLOC, entries * (1 + len(symbols)),
                lambda: self._symbol_table(names), 8, entries, link=".dynstr", info=1,
            ),
            Section(".hash", HASH, ALLOC, len(hashes), lambda: hashes, 4, 4, link=".dynsym"),
            Section(".dynstr", elf.STRINGS, ALLOC, len(text), lambda: text, 1),
        ]  # fmt: skip
        self._tags += [(DT_HASH, ".hash"), (DT_STRTAB, ".dynstr"), (DT_SYMTAB, ".dynsym")]
        self._tags += [(DT_STRSZ, len(text)), (DT_SYMENT, entries), (DT_RELA, ".rela.dyn")]
        self._tags += [(DT_RELASZ, relocations.size), (DT_RELAENT, _RELOCATION.size)]
        if self._version:
            self.read += [
                Section(
                    ".gnu.version", VERSIONS, ALLOC, len(versions), lambda: versions, 8, 2, link=".dynsym"
                ),
                Section(
                    ".gnu.version_d", VERSIONS_DEFINED, ALLOC, len(defined), lambda: defined,
                    link=".dynstr", info=2,
                ),
            ]  # fmt: skip
            self._tags += [(DT_VERSYM, ".gnu.version"), (DT_VERDEF, ".gnu.version_d"), (DT_VERDEFNUM, 2)]
        self._tags.append((DT_NULL, 0))
        self.read += [
            Section(
                ".rela.dyn", elf.RELA, ALLOC, relocations.size,
                lambda: relocations.data(self.addresses), 8, _RELOCATION.size, link=".dynsym",
            ),
            *read,
        ]  # fmt: skip
        size = _TAG.size * len(self._tags)
        dynamic = Section(
            ".dynamic", DYNAMIC, ALLOC | WRITE, size, self._dynamic, 8, _TAG.size, link=".dynstr"
        )
        self.written = [dynamic, *written]
        return self._file(dynamic)

    def _headers(
        self, data: bytearray, at_sections: int, sections: int, segments: list[tuple[int, ...]]
    ) -> None:
        """The file's header, and those of its segments."""
        elf.HEADER.pack_into(
            data, 0, 3, self._machine, 1, 0, _HEADER, at_sections, 0, _HEADER, elf.SEGMENT.size, _SEGMENTS,
            elf.SECTION.size, sections, sections - 1,
        )  # fmt: skip
        data[:7] = elf.MAGIC + bytes([2, 1, 1])
        for number, segment in enumerate(segments):
            elf.SEGMENT.pack_into(data, _HEADER + elf.SEGMENT.size * number, *segment)

    def _file(self, dynamic: Section) -> bytes:
        """The bytes, when all addresses are known. An address is a place in the file, too."""
        end = self._place(_HEADER + elf.SEGMENT.size * _SEGMENTS, self.read)
        start = round_up(end, PAGE)
        last = self._place(start, self.written)
        for section in (*self.read, *self.written):
            self.addresses[section.name] = section.address
            for label, offset in section.labels.items():
                self.addresses[label] = section.address + offset
        sections = [*self.read, *self.written]
        names = Strings()
        table = bytearray(elf.SECTION.size)
        numbers = {section.name: number for number, section in enumerate(sections, 1)}
        for one in sections:
            table += elf.SECTION.pack(
                names.place(one.name), one.kind, one.flags, one.address, one.address, one.size,
                numbers.get(one.link, 0), one.info, one.alignment, one.entry,
            )  # fmt: skip
        place = names.place(".shstrtab")
        table += elf.SECTION.pack(place, elf.STRINGS, 0, 0, last, len(names.data), 0, 0, 1, 0)
        at_table = round_up(last + len(names.data), 8)
        data = bytearray(at_table) + table
        data[last : last + len(names.data)] = names.data
        self._headers(data, at_table, len(sections) + 2, [
            (LOAD, 5, 0, 0, 0, end, end, PAGE),
            (LOAD, 6, start, start, start, last - start, last - start, PAGE),
            (DYNAMIC_SEGMENT, 6, start, start, start, dynamic.size, dynamic.size, 8),
            (STACK, 6, 0, 0, 0, 0, 0, 16),
        ])  # fmt: skip
        for section in sections:
            contents = section.contents()
            if len(contents) != section.size:
                raise ValueError(f"{section.name} has {len(contents)} bytes, not {section.size}")
            data[section.address : section.address + section.size] = contents
        return bytes(data)

    def _place(self, start: int, sections: list[Section]) -> int:
        """Give sections addresses from `start` on. Returns the end of the last one."""
        for section in sections:
            section.address = round_up(start, section.alignment)
            start = section.address + section.size
        return start

    def _symbol_table(self, names: list[int]) -> bytes:
        numbers = {one.name: number for number, one in enumerate((*self.read, *self.written), 1)}
        table = bytes(elf.SYMBOL.size)
        for place, symbol in zip(names, self._symbols, strict=True):
            value = self.addresses[symbol.label] if symbol.section else 0
            table += elf.SYMBOL.pack(
                place, symbol.kind, 0, numbers.get(symbol.section, 0), value, symbol.size
            )
        return table

    def _dynamic(self) -> bytes:
        """What the loader reads first: numbers, and addresses of sections."""
        return b"".join(
            _TAG.pack(tag, self.addresses[value] if isinstance(value, str) else value)
            for tag, value in self._tags
        )

    def _versions(self) -> bytes:
        """The versions that the library defines: 1, which is the library itself, and 2."""
        data = b""
        for number, (name, is_base) in enumerate(((self._soname, 1), (self._version, 0)), 1):
            # version of the format, flags, number, names, hash, offsets of the name's entry and of the next
            following = 28 if is_base else 0
            data += struct.pack("<HHHHIII", 1, is_base, number, 1, symbol_hash(name.encode()), 20, following)
            data += struct.pack("<II", self._strings.place(name), 0)
        return data


def hash_table(names: list[bytes]) -> bytes:
    """DT_HASH of the symbols `names`, which are numbered from 1."""
    buckets = max(1, len(names) // 2)
    heads, chain = [0] * buckets, [0] * (len(names) + 1)
    for number, name in enumerate(names, 1):
        bucket = symbol_hash(name) % buckets
        chain[number], heads[bucket] = heads[bucket], number
    return struct.pack(f"<{2 + buckets + len(chain)}I", buckets, len(chain), *heads, *chain)


def symbol_hash(name: bytes) -> int:
    """The hash of a symbol's name, as DT_HASH has it."""
    value = 0
    for byte in name:
        value = (value << 4) + byte
        high = value & 0xF0000000
        value = (value ^ high >> 24) & ~high & 0xFFFFFFFF
    return value
