"""The variables of object code, by name: the driver finds one that it is asked for, and lists none.

Source: PTX ISA, "Module Scope Declarations"; System V ABI, "Symbol Table".
"""

from __future__ import annotations

import re

from ..._ffi import elf, fatbin

_DECLARATION = re.compile(
    rb"^[ \t]*(?:\.(?:visible|weak|common)\s+)?\.(?:global|const)\b[^;={]*?([\w$]+)\s*(?=[\[=;])",
    re.MULTILINE,
)
_OBJECT = 1  # STT_OBJECT


def variable_names(code: bytes) -> list[str]:
    """The names of the variables that PTX, a cubin, or what is not packed in a fat binary defines.

    Not those that the compiler made, for texts say. The code has to be intact: see `fatbin.check_object`.
    """
    if code.startswith(elf.MAGIC):
        names = _of_cubin(code)
    elif code.startswith(fatbin.MAGIC):
        names = [name for entry in fatbin.entries(code) if not entry.is_packed for name in _of_entry(entry)]
    else:
        names = _of_ptx(code)
    return sorted({name.decode(errors="replace") for name in names if not name.startswith(b"$")})


def _of_entry(entry: fatbin.Entry) -> list[bytes]:
    if entry.kind == fatbin.PTX:
        return _of_ptx(entry.data)
    return _of_cubin(entry.data) if entry.kind == fatbin.CUBIN else []


def _of_ptx(code: bytes) -> list[bytes]:
    return _DECLARATION.findall(code)


def _of_cubin(code: bytes) -> list[bytes]:
    sections, names = elf.sections(code), []
    for section in sections:
        if section.kind == elf.SYMBOLS:
            symbols = code[section.offset : section.offset + section.size]
            start = sections[section.link].offset
            for name, info, _, place, _, _ in elf.SYMBOL.iter_unpack(symbols):
                if info & 15 == _OBJECT and 0 < place < elf.RESERVED:
                    names.append(code[start + name : code.index(b"\0", start + name)])
    return names
