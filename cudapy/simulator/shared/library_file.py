"""Writes an ELF shared library whose functions jump through a table of pointers: no compiler, no linker.

    symbol      functions[i]    code: jumps through slots[i]
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
    symbol      cudapy_watchdog      the table of the thread that watches the GIL

glibc knows an open library by its DT_SONAME: once this one is open, `dlopen("libcuda.so.1")` finds it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..engine.assembler.code import Symbol
from .elf_image import (
    ALLOC,
    DT_NEEDED,
    DT_RUNPATH,
    EXECUTE,
    FUNCTION,
    OBJECT,
    PROGRAM,
    UNKNOWN,
    WRITE,
    ElfImage,
    Exported,
    Relocations,
    Section,
    Words,
)
from .machine_code import (
    BOOT,
    BOOT_CALLS,
    CALLED_BY_FORKS,
    CALLED_BY_GUARDS,
    ENTRIES,
    FORK_CALLS,
    GUARD_CALLS,
    GUARDS,
    NULL,
    ONCE,
    PYTHON,
    RESOLVER,
    RETURNS_TEXT,
    SLOTS,
    STORES_TEXT,
    TARGETS,
    TEXTS,
    THREAD_STEPS,
    WATCHDOG,
    WATCHDOG_TABLE,
    ZERO,
    ZEROS,
    LibraryCode,
    imported,
)
from .machine_code import PROGRAM as PYTHON_PROGRAM

if TYPE_CHECKING:
    from collections.abc import Mapping

RETURN, TEXT_CODE = "cudapy_return_", "cudapy_text_"


class Interpreter(NamedTuple):
    """The Python that a library starts by itself, in a program that has none."""

    library: str  # what the loader opens first, such as libpython3.12.so.1.0
    folder: str  # where it looks for it
    program: str  # what Python runs: it fills the slots


def build(
    machine: type[LibraryCode],
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
    code = _code(machine(), functions, structs or {}, interpreter is not None)
    words = _words(functions)
    imports = BOOT_CALLS if interpreter else ()
    symbols = _symbols(code, words, functions, imports)
    for name in imports:
        words.table(imported(name).name)
    words.table(ONCE)
    image = ElfImage(code.MACHINE, soname, symbols, version)
    for library in (*needed, *((interpreter.library,) if interpreter else ())):
        image.name(DT_NEEDED, library)
    if interpreter and interpreter.folder:
        image.name(DT_RUNPATH, interpreter.folder)
    program = f"{interpreter.program}\0".encode() if interpreter else b""
    texts = program + (f"{interpreter.library}\0".encode() if interpreter else b"")
    read = [
        Section(
            ".rodata", PROGRAM, ALLOC, len(texts), lambda: texts, 1,
            labels={PYTHON_PROGRAM: 0, PYTHON: len(program)},
        ),
        Section(
            ".text", PROGRAM, ALLOC | EXECUTE, len(code),
            lambda: code.finish(image.addresses[".text"], image.addresses), 16, labels=code.labels,
        ),
    ]  # fmt: skip
    written = [
        Section(".data", PROGRAM, ALLOC | WRITE, words.size, lambda: bytes(words.size), labels=words.labels)
    ]
    return image.build(_relocations(code, functions, imports), read, written)


def constant_name(number: int) -> str:
    """The symbol of the function that returns a number."""
    return f"{RETURN}{ {NULL: 'null', ZERO: 'zero', ZEROS: 'zeros'}.get(number, number) }"


def end_name(function: str, number: int) -> str:
    """The symbol of what a function is at the end. number: as `build` takes it."""
    return TEXT_CODE + function if number in (STORES_TEXT, RETURNS_TEXT) else constant_name(number)


def texts_of(functions: Mapping[str, int]) -> list[str]:
    """The functions that find texts: in this order they have addresses at TEXTS."""
    return [name for name, number in functions.items() if number in (STORES_TEXT, RETURNS_TEXT)]


def _numbers_of(functions: Mapping[str, int]) -> list[int]:
    """The numbers that functions return at the end."""
    return sorted({*functions.values()} - {STORES_TEXT, RETURNS_TEXT})


def _code(
    code: LibraryCode, functions: Mapping[str, int], structs: Mapping[str, int], has_boot: bool
) -> LibraryCode:
    """Write the code: first the entries of the functions, last the guards."""
    for index, name in enumerate(functions):
        code.entry(name, index, structs.get(name))
    code.lazy()
    for number in _numbers_of(functions):
        code.constant(constant_name(number), number)
    for index, name in enumerate(texts_of(functions)):
        code.text(TEXT_CODE + name, functions[name], Symbol(TEXTS, 8 * index))
    if functions.keys() >= {*THREAD_STEPS}:
        code.thread_end()
    code.forks()
    if has_boot:
        code.boot()
    code.watchdog()
    code.guards()
    code.label(GUARDS)
    for index in range(len(functions) + 1):  # and one for the resolver
        code.guard(Symbol(TARGETS, 8 * index))
    return code


def _words(functions: Mapping[str, int]) -> Words:
    """The tables that other libraries and Python fill."""
    words, count = Words(), len(functions)
    words.table(SLOTS, count)
    words.table(RESOLVER)
    words.table(TARGETS, count + 1)
    words.table(CALLED_BY_GUARDS, len(GUARD_CALLS) + 1)
    words.table(CALLED_BY_FORKS, len(FORK_CALLS) + 1)
    words.table(WATCHDOG_TABLE, len(WATCHDOG))
    if texts_of(functions):
        words.table(TEXTS, len(texts_of(functions)))
    return words


def _symbols(
    code: LibraryCode, words: Words, functions: Mapping[str, int], imports: tuple[str, ...]
) -> list[Exported]:
    """The symbols: those of other libraries first, whose numbers relocations have."""
    first = next(iter(functions))
    internal = [name for name in code.sizes if name.startswith("cudapy_")]
    guards = code.GUARD * (len(functions) + 1)
    return [
        *(Exported(name, UNKNOWN, "", "", 0) for name in imports),
        *(Exported(name, FUNCTION, ".text", name, code.ENTRY, versioned=True) for name in functions),
        Exported(ENTRIES, FUNCTION, ".text", first, code.ENTRY * len(functions)),
        Exported(GUARDS, FUNCTION, ".text", GUARDS, guards),
        *(Exported(name, OBJECT, ".data", name, size) for name, size in words.sizes.items()),
        *(Exported(name, FUNCTION, ".text", name, code.sizes[name]) for name in internal),
    ]


def _relocations(code: LibraryCode, functions: Mapping[str, int], imports: tuple[str, ...]) -> Relocations:
    """What the loader fills: slots with the second halves of functions, the resolver, and addresses."""
    relocations = Relocations(code.RELATIVE, code.GLOBAL)
    for index, name in enumerate(functions):
        relocations.address((SLOTS, 8 * index), name, code.LAZY_HALF)
    relocations.address((RESOLVER, 0), BOOT if imports else constant_name(_numbers_of(functions)[-1]))
    for number, name in enumerate(imports, 1):
        relocations.symbol((imported(name).name, 0), number)
    return relocations
