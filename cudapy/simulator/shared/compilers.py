"""NVIDIA's compilers, as every library of this process finds them that opens them by name.

They are the real ones, but for the functions that give out cubins: the simulator runs PTX, so a cubin has to
carry its own, as those do that cudapy asks for. The library that is opened has the names of the real one and
leads to it.
"""

import ctypes
import mmap
import os
import struct
from typing import Any, NamedTuple

from ... import pathfinder
from ..._ffi import elf
from ..._pathfinder.libraries import MAJORS
from . import elf_image
from .loaded import SharedLibrary, opened
from .shutdown import answer

NAMES = {"nvrtc": 11, "nvJitLink": 6}
"""Libraries, and the code that means an internal error, which they return when Python has ended."""

_DYNAMIC, _SONAME, _FUNCTION = 6, 14, 2


class Exported(NamedTuple):
    """What a shared library has for others."""

    soname: str
    functions: tuple[str, ...]
    version: str = ""
    """The version of its symbols, which what is linked with it asks for; "" if they have none."""


def exported(data: Any) -> Exported:
    """What the bytes of an ELF file say of it. Raises DamagedError."""
    sections = elf.sections(data)
    soname, version, functions = "", "", []

    def name(section: elf.Section, place: int) -> str:
        start = sections[section.link].offset + place
        return bytes(data[start : data.find(b"\0", start)]).decode()

    for section in sections:
        if section.kind not in (_DYNAMIC, elf_image.VERSIONS_DEFINED, elf.DYNAMIC_SYMBOLS):
            continue  # the code, which is nearly all of it, need not be read
        body = data[section.offset : section.offset + section.size]
        if section.kind == _DYNAMIC:
            tags = dict(struct.iter_unpack("<qQ", body))
            soname = name(section, tags[_SONAME]) if _SONAME in tags else ""
        elif section.kind == elf_image.VERSIONS_DEFINED:
            version = name(section, _last_version(body))
        else:
            symbols = elf.SYMBOL.iter_unpack(body)
            functions = [
                name(section, s[0]) for s in symbols if s[1] & 15 == _FUNCTION and s[3] and s[1] >> 4
            ]
    return Exported(soname, tuple(functions), version)


def _last_version(definitions: bytes) -> int:
    """Where the name of the last version in a section .gnu.version_d is: the first is the library itself."""
    place = 0
    while following := struct.unpack_from("<I", definitions, place + 16)[0]:
        place += following
    (entry,) = struct.unpack_from("<I", definitions, place + 12)
    name: int = struct.unpack_from("<I", definitions, place + entry)[0]
    return name


def exported_by(path: str) -> Exported:
    """What the file of a shared library has. Raises OSError or DamagedError."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return exported(data)


class Compiler:
    """One compiler. It is opened at the first call of a function."""

    def __init__(self, name: str, candidate: pathfinder.Candidate, exports: Exported) -> None:
        self._name = name
        self._candidate = candidate
        self._real: Any = None
        self._watched: Any = None
        code = NAMES[name]
        functions = {symbol: answer(symbol, code) for symbol in exports.functions}
        self.library = SharedLibrary(exports.soname, functions, self._resolve, code, version=exports.version)

    def _resolve(self, symbol: str) -> Any:
        """The address of the real function, or the one that watches it."""
        if self._real is None:
            from ..code.compiler import watched

            library, host = pathfinder.LIBRARIES[self._name], pathfinder.this_host()
            real = pathfinder.open_candidate(library, self._candidate, host)
            self._watched = watched(self._name, real)
            self._real = real
        own = self._watched.watched(symbol)
        return own if own is not None else ctypes.cast(self._real[symbol], ctypes.c_void_p).value or 0


def open_compilers() -> list[Compiler]:
    """Open what there is of both majors of CUDA, but for those that this process has opened already."""
    compilers = []
    for name in NAMES:
        for major in MAJORS:
            candidate = next((c for c in pathfinder.find(name, major) if not c.refused), None)
            if candidate is None or not os.path.isabs(candidate.path):
                continue
            exports = exported_by(candidate.path)
            if opened(exports.soname) is None:
                compilers.append(Compiler(name, candidate, exports))
    return compilers
