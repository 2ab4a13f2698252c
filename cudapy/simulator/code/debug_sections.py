"""The PTX of cubins that were compiled with `-lineinfo` or `-G`: ptxas leaves its text there for debuggers.

The text has no lines of the source. Two tables have them: for addresses of machine code `.nv_debug_line_sass`
has the line of the text, `.debug_line` that of the source.

Source: DWARF 2, section 6.2, which both tables follow; the sections' contents as CUDA 12 and 13 write them.
"""

import struct
from bisect import bisect_right
from collections.abc import Iterator
from operator import attrgetter
from typing import NamedTuple

from ..._ffi import elf

TEXT, LINES_OF_TEXT, LINES_OF_SOURCE = b".nv_debug_ptx_txt", b".nv_debug_line_sass", b".debug_line"
_RELOCATION = struct.Struct("<QQq")
_END, _ADDRESS = 1, 2  # extended opcodes
_COPY, _ADVANCE, _LINE, _SOURCE_FILE, _CONSTANT, _FIXED = 1, 2, 3, 4, 8, 9
_ENDS = (";", "{", "}", ":")


class Row(NamedTuple):
    """From an address in a function on: a line of a file. `function` is the number of its symbol."""

    function: int
    address: int
    file: str
    line: int


_address = attrgetter("address")


def texts(cubin: bytes) -> list[bytes]:
    """The PTX of a cubin, that of each unit of which it was linked; none without debug information.

    Raises DamagedError.
    """
    found = elf.sections(cubin)
    names = elf.section_names(cubin, found)
    held = [s for s, name in zip(found, names, strict=True) if name.startswith(TEXT)]
    units = [cubin[section.offset : section.offset + section.size] for section in held]
    if len(units) == 1:
        try:
            units = [_with_lines(units[0], _rows(cubin, LINES_OF_TEXT), _rows(cubin, LINES_OF_SOURCE))]
        except (IndexError, struct.error) as error:
            raise elf.DamagedError(f"a table of lines ends too early: {error}") from None
    return [unit.rstrip(b"\0").replace(b"\0", b"\n") + b"\n\0" for unit in units]


def _with_lines(text: bytes, of_text: list[Row], of_source: list[Row]) -> bytes:
    """The text with `.file` and `.loc`, as far as the tables know the lines."""
    places: dict[int, tuple[str, int]] = {}
    for row, source in _together(of_text, of_source):
        places.setdefault(row.line, (source.file, source.line))
    files: dict[str, int] = {}
    for file, _ in places.values():
        files.setdefault(file, 1 + len(files))
    lines: list[bytes] = []
    place, ends = ("", 0), True
    for number, line in enumerate(text.split(b"\0"), start=1):
        now = places.get(number, place)
        if now != place and ends and now[1] > 0:
            lines.append(b".loc %d %d 0" % (files[now[0]], now[1]))
            place = now
        lines.append(line)
        if line.strip():
            ends = line.strip().decode(errors="replace").endswith(_ENDS)
    lines += [b'.file %d "%s"' % (number, file.encode()) for file, number in files.items()]
    return b"\0".join(lines)


def _together(of_text: list[Row], of_source: list[Row]) -> Iterator[tuple[Row, Row]]:
    """Each row of the text, and that of the source which holds at its address."""
    sources: dict[int, list[Row]] = {}
    for row in sorted(of_source, key=_address):
        sources.setdefault(row.function, []).append(row)
    for row in of_text:
        candidates = sources.get(row.function, [])
        number = bisect_right(candidates, row.address, key=_address)
        if number:
            yield row, candidates[number - 1]


def _rows(cubin: bytes, name: bytes) -> list[Row]:
    """The rows of the table in the section of this name; none if there is no such section."""
    found = elf.sections(cubin)
    for number, each in enumerate(elf.section_names(cubin, found)):
        if each == name:
            table = found[number]
            functions = {
                place: symbol >> 32
                for section in found
                if section.kind == elf.RELA and section.info == number
                for place, symbol, _ in _RELOCATION.iter_unpack(_body(cubin, section))
            }
            return list(_Program(_body(cubin, table), functions).rows())
    return []


def _body(cubin: bytes, section: elf.Section) -> bytes:
    return cubin[section.offset : section.offset + section.size]


class _Program:
    """The line number programs of a section. functions: the symbol that an address at a place is of."""

    def __init__(self, data: bytes, functions: dict[int, int]) -> None:
        self.data = data
        self.functions = functions
        self.at = 0

    def rows(self) -> Iterator[Row]:
        while self.at + 4 <= len(self.data):
            end = self.at + 4 + self._fixed("<I")
            version = self._fixed("<H")
            if 2 <= version <= 4:  # DWARF 5 has another head
                yield from self._unit(end, version)
            self.at = end

    def _unit_header(self, version: int) -> tuple[int, int, int, list[int], list[str]]:
        """Bytes of an instruction; the first line, and how many there are, of a special opcode; how many
        operands each standard opcode has; the files.
        """
        length = self._fixed("<I")
        begin = self.at + length
        step = self._fixed("B") if version < 4 else self._fixed("B") * self._fixed("B")
        _, base, span, opcodes = self._fixed("B"), self._fixed("b"), self._fixed("B"), self._fixed("B")
        if not span:
            raise elf.DamagedError("a table of lines has a range of 0 lines")
        operands = [self._fixed("B") for _ in range(opcodes - 1)]
        files = self._files()
        self.at = begin
        return step, base, span, operands, files

    def _unit(self, end: int, version: int) -> Iterator[Row]:
        step, base, span, operands, files = self._unit_header(version)
        opcodes = len(operands) + 1
        function, address, file, line = 0, 0, 1, 1

        def row() -> Row:
            return Row(function, address, files[file] if file < len(files) else "", line)

        while self.at < end:
            code = self._fixed("B")
            if code >= opcodes:
                address += (code - opcodes) // span * step
                line += base + (code - opcodes) % span
                yield row()
            elif code == 0:
                kind, place = self._extended()
                if kind == _ADDRESS:
                    function = self.functions.get(place, 0)
                    (address,) = struct.unpack_from("<Q", self.data, place)
                elif kind == _END:
                    function, address, file, line = 0, 0, 1, 1
            elif code == _COPY:
                yield row()
            elif code == _ADVANCE:
                address += self._number() * step
            elif code == _LINE:
                line += self._number(signed=True)
            elif code == _SOURCE_FILE:
                file = self._number()
            elif code == _CONSTANT:
                address += (255 - opcodes) // span * step
            elif code == _FIXED:
                address += self._fixed("<H")
            else:
                for _ in range(operands[code - 1]):
                    self._number()

    def _extended(self) -> tuple[int, int]:
        """An extended opcode, and where its operand is; the next opcode is behind it."""
        size, place = self._number(), self.at
        kind = self._fixed("B")
        self.at = place + size
        return kind, place + 1

    def _files(self) -> list[str]:
        """The files of a unit, whose numbers begin with 1."""
        folders = ["", *iter(self._string, "")]
        files = [""]
        while name := self._string():
            folder, _, _ = self._number(), self._number(), self._number()
            files.append("/".join(filter(None, [folders[folder], name])))
        return files

    def _fixed(self, kind: str) -> int:
        (value,) = struct.unpack_from(kind, self.data, self.at)
        self.at += struct.calcsize(kind)
        return int(value)

    def _string(self) -> str:
        end = self.data.find(b"\0", self.at)
        if end < 0:
            raise elf.DamagedError("a name in a table of lines has no end")
        start, self.at = self.at, end + 1
        return self.data[start:end].decode(errors="replace")

    def _number(self, *, signed: bool = False) -> int:
        """LEB128."""
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if not byte & 128:
                break
        return value - (1 << shift) if signed and byte & 64 else value
