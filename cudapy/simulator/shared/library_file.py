"""Writes an ELF shared library whose functions jump through a table of pointers: no compiler, no linker.

    symbol      functions[i]    code of machine_code: jumps through slots[i]
    symbol      cudapy_entries  the code of all functions, from the first on
    symbol      cudapy_slots    the table, in memory that can be written
    symbol      cudapy_resolver the address of `int resolver(int index)`, which fills a slot at the first call
    symbol      cudapy_return_4 a function that returns 4, for slots of functions that must not be run any
    more
    symbol      cudapy_text_cuGetErrorName  the same for a function that finds texts
    symbol      cudapy_texts    for each of those functions the address of its texts
    symbol      cudapy_guards   the code of all guards, for slots of functions that are Python's, and the
    resolver's
    symbol      cudapy_targets  the table of what the guards call
    symbol      cudapy_guard_calls  the table of what all guards call besides
    symbol      cudapy_thread_end   what threads call at their end, if the library has THREAD_STEPS
    symbol      cudapy_fork_prepare, _parent, _child    what pthread_atfork takes
    symbol      cudapy_fork_calls   the table of what these call
    symbol      cudapy_watch        the table of the thread that watches the GIL

glibc knows an open library by its DT_SONAME: once this one is open, `dlopen("libcuda.so.1")` finds it.

Source: System V ABI, chapters 4 and 5; for the relocations its supplements for AMD64 and for AArch64.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

from ..._ffi import elf
from ..._ffi.rounding import round_up
from .machine_code import (
    FORK_CALLS,
    GUARD_CALLS,
    NULL,
    RETURNS_TEXT,
    STORES_TEXT,
    WATCH,
    X86_64,
    ZERO,
    AArch64,
    Boot,
)

ENTRIES, SLOTS, RESOLVER, RETURN = "cudapy_entries", "cudapy_slots", "cudapy_resolver", "cudapy_return_"
GUARDS, TARGETS, CALLED_BY_GUARDS = "cudapy_guards", "cudapy_targets", "cudapy_guard_calls"
TEXT_CODE, TEXTS = "cudapy_text_", "cudapy_texts"
THREAD_END = "cudapy_thread_end"
THREAD_STEPS = ("cudapy_thread_clear", "cudapy_thread_attach", "cudapy_thread_delete")
"""The functions that THREAD_END calls: see `machine_code`."""
FORKS = ("cudapy_fork_prepare", "cudapy_fork_parent", "cudapy_fork_child")
CALLED_BY_FORKS = "cudapy_fork_calls"
WATCHED = "cudapy_watch"
PAGE = 0x10000  # the largest that a system for these machines has
IMPORTS = (
    "pthread_once",
    "dlopen",
    "Py_IsInitialized",
    "Py_InitializeEx",
    "PyEval_SaveThread",
    "PyGILState_Ensure",
    "PyRun_SimpleString",
    "PyGILState_Release",
)
"""What `boot` calls, in the order of machine_code.Boot."""

PROGRAM, HASH, DYNAMIC = 1, 5, 6  # kinds of sections
VERSIONS_DEFINED, VERSIONS = 0x6FFFFFFD, 0x6FFFFFFF
WRITE, ALLOC, EXECUTE = 1, 2, 4
TEXT, DATA = 6, 8  # the numbers of sections, in the order in which `build` has them
LOAD, DYNAMIC_SEGMENT, STACK = 1, 2, 0x6474E551  # kinds of segments
FUNCTION, OBJECT, UNKNOWN = 0x12, 0x11, 0x10  # global symbols of these types
DT_NULL, DT_NEEDED, DT_HASH, DT_STRTAB, DT_SYMTAB, DT_RELA, DT_RELASZ, DT_RELAENT = 0, 1, 4, 5, 6, 7, 8, 9
DT_STRSZ, DT_SYMENT, DT_SONAME, DT_RUNPATH = 10, 11, 14, 29
DT_VERSYM, DT_VERDEF, DT_VERDEFNUM = 0x6FFFFFF0, 0x6FFFFFFC, 0x6FFFFFFD


_NOWHERE = Boot(*[0] * len(Boot._fields))


class Interpreter(NamedTuple):
    """The Python that a library starts by itself, in a program that has none."""

    library: str  # what the loader opens first, such as libpython3.12.so.1.0
    folder: str  # where it looks for it
    program: str  # what Python runs: it fills the slots


class _Strings:
    """A table of strings, each there once."""

    def __init__(self) -> None:
        self.data = bytearray(b"\0")
        self._places: dict[str, int] = {"": 0}

    def place(self, text: str) -> int:
        if text not in self._places:
            self._places[text] = len(self.data)
            self.data += text.encode() + b"\0"
        return self._places[text]


def build(
    machine: type[X86_64] | type[AArch64],
    soname: str,
    functions: dict[str, int],
    interpreter: Interpreter | None = None,
    needed: tuple[str, ...] = (),
    structs: Mapping[str, int] | None = None,
    version: str = "",
) -> bytes:
    """The bytes of a library.

    functions: by name, the number that the function is to return at the end, or which other code it is then;
        in that order they have slots.
    interpreter: what resolves at first; without one, functions return the largest of these numbers.
    needed: sonames of libraries whose symbols are found in this one, too.
    structs: by the name of a function that returns a struct in memory, how many arguments it has.
    version: the version that the functions' symbols have, for programs that are linked with them.
    """
    names = list(functions)
    imports = IMPORTS if interpreter else ()
    libraries = (*needed, *((interpreter.library,) if interpreter else ()))
    strings = _Strings()
    tags = [(DT_NEEDED, strings.place(library)) for library in libraries]
    tags.append((DT_SONAME, strings.place(soname)))
    if interpreter and interpreter.folder:
        tags.append((DT_RUNPATH, strings.place(interpreter.folder)))
    finders = texts_of(functions)
    numbers = sorted({*functions.values()} - {STORES_TEXT, RETURNS_TEXT})
    ends = (THREAD_END,) if set(THREAD_STEPS) <= set(names) else ()
    tables = (
        SLOTS,
        RESOLVER,
        TARGETS,
        CALLED_BY_GUARDS,
        CALLED_BY_FORKS,
        WATCHED,
        *((TEXTS,) if finders else ()),
    )
    codes = [*map(constant_name, numbers), *(TEXT_CODE + name for name in finders)]
    symbols = [*imports, *names, ENTRIES, GUARDS, *tables, *codes, *ends, *FORKS]
    places = [strings.place(name) for name in symbols]
    hashes = _hash_table([name.encode() for name in symbols])
    defined = _versions(strings, soname, version) if version else b""
    version_of = (
        [0] + [1] * len(imports) + [2 if name in functions else 1 for name in symbols[len(imports) :]]
    )
    versions = struct.pack(f"<{len(version_of)}H", *version_of) if version else b""
    relocations = len(names) + 1 + len(imports)
    program = b"".join(
        text.encode() + b"\0" for text in ((interpreter.program, interpreter.library) if interpreter else ())
    )

    # Where everything is: first what is read or run, then what is written.
    at_symbols = 64 + elf.SEGMENT.size * 4
    at_hash = at_symbols + elf.SYMBOL.size * (1 + len(symbols))
    at_strings = at_hash + len(hashes)
    at_versions = round_up(at_strings + len(strings.data), 8)
    at_defined = round_up(at_versions + len(versions), 8)
    at_relocations = round_up(at_defined + len(defined), 8)
    at_program = at_relocations + 24 * relocations
    at_text = round_up(at_program + len(program), 16)
    at_lazy = at_text + machine.ENTRY * len(names)
    steps = [at_text + machine.ENTRY * names.index(name) for name in THREAD_STEPS] if ends else []
    count = len(names)
    kinds = [functions[name] for name in finders]
    nowhere = _Tables(count, *[0] * (len(_Tables._fields) - 1))
    tail = _tail(machine, at_lazy, numbers, kinds, steps, interpreter, _NOWHERE, nowhere)
    at_data = round_up(tail.code.here, PAGE)
    if version:
        tags += [(DT_VERSYM, at_versions), (DT_VERDEF, at_defined), (DT_VERDEFNUM, 2)]
    dynamic = 16 * (len(tags) + 9)
    at_slots = at_data + dynamic
    at_resolver = at_slots + 8 * len(names)
    at_targets = at_resolver + 8
    at_guard_table = at_targets + 8 * (count + 1)
    at_fork_table = at_guard_table + 8 * len(GUARD_CALLS)
    at_watch = at_fork_table + 8 * (len(FORK_CALLS) + 1)
    at_texts = at_watch + 8 * len(WATCH)
    at_imports = at_texts + 8 * len(finders)
    at_once = at_imports + 8 * len(imports)
    end = at_once + 8
    imported = range(at_imports, at_imports + 8 * len(IMPORTS), 8)
    at_library = at_program + program.find(b"\0") + 1
    addresses = Boot._make([*imported, at_once, at_program, at_library])

    text = machine(at_text)
    for i, name in enumerate(names):
        text.entry(i, at_slots + 8 * i, at_lazy, (structs or {}).get(name))
    places_of = _Tables(
        count, at_slots, at_resolver, at_targets, at_guard_table, at_fork_table, at_watch, at_texts
    )
    tail = _tail(machine, at_lazy, numbers, kinds, steps, interpreter, addresses, places_of)

    values = [(UNKNOWN, 0, 0, 0)] * len(imports)
    values += [(FUNCTION, TEXT, at_text + machine.ENTRY * i, machine.ENTRY) for i in range(len(names))]
    values += [(FUNCTION, TEXT, at_text, machine.ENTRY * len(names))]
    values += [(FUNCTION, TEXT, tail.guards, machine.GUARD * (count + 1))]
    values += [(OBJECT, DATA, at_slots, 8 * count), (OBJECT, DATA, at_resolver, 8)]
    values += [(OBJECT, DATA, at_targets, 8 * (count + 1))]
    values += [(OBJECT, DATA, at_guard_table, 8 * len(GUARD_CALLS))]
    values += [(OBJECT, DATA, at_fork_table, 8 * (len(FORK_CALLS) + 1))]
    values += [(OBJECT, DATA, at_watch, 8 * len(WATCH))]
    values += [(OBJECT, DATA, at_texts, 8 * len(finders))] if finders else []
    values += [(FUNCTION, TEXT, constant, 16) for constant in tail.constants]
    values += [(FUNCTION, TEXT, at, end_at - at) for at, end_at in pairwise([*tail.texts, tail.thread_end])]
    values += [(FUNCTION, TEXT, tail.thread_end, tail.forks[0] - tail.thread_end) for _ in ends]
    values += [(FUNCTION, TEXT, at, end_at - at) for at, end_at in pairwise([*tail.forks, tail.boot])]
    symbol_table = bytearray(elf.SYMBOL.size)
    for place, (kind, section, value, size) in zip(places, values, strict=True):
        symbol_table += elf.SYMBOL.pack(place, kind, 0, section, value, size)

    targets = [at_text + machine.ENTRY * i + machine.LAZY for i in range(len(names))]
    targets.append(tail.boot if interpreter else tail.constants[-1])
    rela = bytearray()
    for i, target in enumerate(targets):
        rela += struct.pack("<QQq", at_slots + 8 * i, machine.RELATIVE, target)
    for i in range(len(imports)):
        rela += struct.pack("<QQq", at_imports + 8 * i, (i + 1) << 32 | machine.GLOBAL, 0)

    tags += [
        (DT_HASH, at_hash), (DT_STRTAB, at_strings), (DT_SYMTAB, at_symbols), (DT_STRSZ, len(strings.data)),
        (DT_SYMENT, elf.SYMBOL.size), (DT_RELA, at_relocations), (DT_RELASZ, len(rela)), (DT_RELAENT, 24),
        (DT_NULL, 0),
    ]  # fmt: skip
    parts = [
        (at_symbols, bytes(symbol_table)), (at_hash, hashes), (at_strings, bytes(strings.data)),
        (at_versions, versions), (at_defined, defined), (at_relocations, bytes(rela)), (at_program, program),
        (at_text, bytes(text.code + tail.code.code)),
        (at_data, b"".join(struct.pack("<qQ", *tag) for tag in tags)),
    ]  # fmt: skip
    sections = [
        (".dynsym", elf.DYNAMIC_SYMBOLS, ALLOC, at_symbols, at_hash, 3, 1, 8, elf.SYMBOL.size),
        (".hash", HASH, ALLOC, at_hash, at_strings, 1, 0, 4, 4),
        (".dynstr", elf.STRINGS, ALLOC, at_strings, at_strings + len(strings.data), 0, 0, 1, 0),
        (".rela.dyn", elf.RELA, ALLOC, at_relocations, at_program, 1, 0, 8, 24),
        (".rodata", PROGRAM, ALLOC, at_program, at_program + len(program), 0, 0, 1, 0),
        (".text", PROGRAM, ALLOC | EXECUTE, at_text, tail.code.here, 0, 0, 16, 0),
        (".dynamic", DYNAMIC, ALLOC | WRITE, at_data, at_slots, 3, 0, 8, 16),
        (".data", PROGRAM, ALLOC | WRITE, at_slots, end, 0, 0, 8, 0),
    ]
    if version:
        sections += [
            (".gnu.version", VERSIONS, ALLOC, at_versions, at_versions + len(versions), 1, 0, 2, 2),
            (".gnu.version_d", VERSIONS_DEFINED, ALLOC, at_defined, at_defined + len(defined), 3, 2, 8, 0),
        ]
    segments = [
        elf.SEGMENT.pack(LOAD, 5, 0, 0, 0, tail.code.here, tail.code.here, PAGE),
        elf.SEGMENT.pack(LOAD, 6, at_data, at_data, at_data, end - at_data, end - at_data, PAGE),
        elf.SEGMENT.pack(DYNAMIC_SEGMENT, 6, at_data, at_data, at_data, dynamic, dynamic, 8),
        elf.SEGMENT.pack(STACK, 6, 0, 0, 0, 0, 0, 16),
    ]
    return _file(machine.MACHINE, segments, parts, end, sections)


def constant_name(number: int) -> str:
    """The symbol of the function that returns a number."""
    return f"{RETURN}{ {NULL: 'null', ZERO: 'zero'}.get(number, number) }"


def end_name(function: str, number: int) -> str:
    """The symbol of what a function is at the end. number: as `build` takes it."""
    return TEXT_CODE + function if number in (STORES_TEXT, RETURNS_TEXT) else constant_name(number)


def texts_of(functions: Mapping[str, int]) -> list[str]:
    """Those that find texts: in this order they have addresses at TEXTS."""
    return [name for name, number in functions.items() if number in (STORES_TEXT, RETURNS_TEXT)]


class _Tables(NamedTuple):
    """How many functions there are, and where what is written for them is."""

    functions: int
    slots: int
    resolver: int
    targets: int
    guard_calls: int
    fork_calls: int
    watch: int
    texts: int


class _Tail(NamedTuple):
    """What is behind the entries, and where in it the functions are that return numbers, those that find
    texts, and the others.
    """

    code: X86_64 | AArch64
    constants: list[int]
    texts: list[int]
    thread_end: int
    forks: tuple[int, int, int]
    boot: int
    guards: int


def _tail(
    machine: type[X86_64] | type[AArch64],
    address: int,
    numbers: list[int],
    kinds: list[int],
    steps: list[int],
    interpreter: Interpreter | None,
    addresses: Boot,
    tables: _Tables,
) -> _Tail:
    """What is behind the entries.

    kinds: of the functions that find texts. steps: the entries of THREAD_STEPS; without them there is no
    `thread_end`.
    """
    code = machine(address)
    code.lazy(tables.resolver, tables.slots)
    code.align()
    constants = []
    for number in numbers:
        constants.append(code.here)
        code.constant(number)
        code.align()
    texts = []
    for i, kind in enumerate(kinds):
        texts.append(code.here)
        code.text(kind, tables.texts + 8 * i)
        code.align()
    thread_end = code.here
    if steps:
        code.thread_end(*steps)
        code.align()
    forks = code.forks(tables.fork_calls)
    boot = code.here
    if interpreter:
        code.boot(addresses)
        code.align()
    watch = code.here
    code.watch(tables.watch)
    code.align()
    shared = code.here
    code.guards(tables.guard_calls, tables.watch, watch)
    code.align()
    guards = code.here
    for index in range(tables.functions + 1):  # and one for the resolver
        code.guard(tables.targets + 8 * index, shared)
    return _Tail(code, constants, texts, thread_end, forks, boot, guards)


def _file(
    machine: int,
    segments: list[bytes],
    parts: list[tuple[int, bytes]],
    end: int,
    sections: list[tuple[str, int, int, int, int, int, int, int, int]],
) -> bytes:
    """An ELF file; its sections, which the linker reads and the loader does not, are at the end."""
    names = _Strings()
    table = bytearray(elf.SECTION.size)
    for name, kind, flags, start, stop, link, info, alignment, entry in sections:
        place = names.place(name)
        table += elf.SECTION.pack(
            place, kind, flags, start, start, stop - start, link, info, alignment, entry
        )
    place = names.place(".shstrtab")
    table += elf.SECTION.pack(place, elf.STRINGS, 0, 0, end, len(names.data), 0, 0, 1, 0)
    at_table = round_up(end + len(names.data), 8)
    data = bytearray(at_table) + table
    data[end : end + len(names.data)] = names.data
    header = elf.MAGIC + bytes([2, 1, 1]) + bytes(9)
    count = len(sections) + 2
    header += struct.pack(
        "<HHIQQQIHHHHHH", 3, machine, 1, 0, 64, at_table, 0, 64, 56, 4, 64, count, count - 1
    )
    data[:64] = header
    data[64 : 64 + elf.SEGMENT.size * len(segments)] = b"".join(segments)
    for start, part in parts:
        data[start : start + len(part)] = part
    return bytes(data)


def _versions(strings: _Strings, soname: str, version: str) -> bytes:
    """The versions that a library defines: 1, which is the library itself, and 2, `version`."""
    data = b""
    for number, (name, is_base) in enumerate(((soname, 1), (version, 0)), 1):
        # version of the format, flags, number, names, hash, place of the name's entry, and of what is next
        following = 28 if is_base else 0
        data += struct.pack("<HHHHIII", 1, is_base, number, 1, symbol_hash(name.encode()), 20, following)
        data += struct.pack("<II", strings.place(name), 0)
    return data


def _hash_table(names: list[bytes]) -> bytes:
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
