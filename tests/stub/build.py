"""Writes the C source of a stub library from cudapy's declarations, and compiles it.

Every function records the bytes of each argument as C received it and, where the size is known, the memory
that it points to; fills its outputs with a pattern that tells them apart; and returns a status that the test
chooses. gcc reads the prototypes as they stand in the declarations, so what the stub sees is what a library
with these prototypes would see.
"""

from __future__ import annotations

import ctypes
import functools
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from . import module

symbol_of = module("_ffi.library").symbol_of

COPIED = 4
"""How many items there are in an array of the library's own (`CUgraphNode **`)."""
RETURNED = 1234567
"""What a function returns whose result is a number, unless it fails: then less the status."""
BENEATH = 3
"""The second number of a status that is a struct of two, after a failure."""
REMEMBERED = 4096
"""How many bytes of the memory behind a pointer are recorded."""
FILLED = 1 << 24
"""How many bytes of an output are written at most."""

_C_TYPES = {
    "?": "_Bool", "c": "char", "b": "signed char", "B": "unsigned char", "h": "short", "H": "unsigned short",
    "i": "int", "I": "unsigned int", "l": "long", "L": "unsigned long", "q": "long long",
    "Q": "unsigned long long", "f": "float", "d": "double", "P": "void *", "z": "char *",
}  # fmt: skip
_IN_C = {
    "-(-size // summaryGranularity) if summaryGranularity else 0": (
        "(summaryGranularity ? (size + summaryGranularity - 1) / summaryGranularity : 0)"
    ),
    **{
        f"(height - 1) * {pitch} + width if width and height else 0": (
            f"(width && height ? (height - 1) * {pitch} + width : 0)"
        )
        for pitch in ("dpitch", "spitch")
    },
    "size // 4": "size / 4",
}
"""Sizes that Python and C do not spell alike."""

_PREAMBLE = """
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

int stub_status, stub_peek = 1, stub_wide_counts, stub_overrun;
char stub_log[1 << 22];
size_t stub_used;
void (*stub_hook)(void);
static int stub_lock;

static void stub_note(char kind, const void *data, size_t size)
{
    unsigned int length = size;
    if (stub_used + 5 + size > sizeof stub_log)
        return;
    stub_log[stub_used] = kind;
    memcpy(stub_log + stub_used + 1, &length, 4);
    memcpy(stub_log + stub_used + 5, data, size);
    stub_used += 5 + size;
}
static void stub_begin(const char *symbol)
{
    if (stub_hook)
        stub_hook();
    while (__sync_lock_test_and_set(&stub_lock, 1))
        ;
    stub_note('F', symbol, strlen(symbol));
}
static int stub_end(void)
{
    int status = stub_status;
    __sync_lock_release(&stub_lock);
    return status;
}
static void stub_value(const char *name, const void *argument, size_t size)
{
    stub_note('N', name, strlen(name));
    stub_note('A', argument, size);
}
static void stub_memory(const void *pointer, size_t size)
{
    if (pointer && size)
        stub_note('M', pointer, size < REMEMBERED ? size : REMEMBERED);
}
static void stub_fill(void *pointer, size_t size, int which)
{
    if (pointer && size)
        for (size_t i = 0; i < (size < FILLED ? size : FILLED) + stub_overrun; i++)
            ((unsigned char *)pointer)[i] = ((which + 1) * 16 + i) % 113 + 1;
}
#define OWN(pointer, which) \\
    do { \\
        static char own[COPIED * sizeof **(pointer)]; \\
        stub_fill(own, sizeof own, which); \\
        *(pointer) = (void *)own; \\
    } while (0)
#define COUNT(pointer, which) \\
    do { \\
        if (stub_wide_counts) \\
            stub_fill(pointer, sizeof *(pointer), which); \\
        else if (*(pointer)) \\
            --*(pointer); \\
    } while (0)
"""


def pattern(which: int, size: int) -> bytes:
    """What the stub writes to `size` bytes behind parameter number `which`: no byte is 0 or above 0x7f."""
    period = bytes(((which + 1) * 16 + i) % 113 + 1 for i in range(113))
    return (period * (size // 113 + 1))[:size]


class Parameter(NamedTuple):
    """A parameter of a declared function, and what the declaration says about it."""

    index: int  # type: ignore[assignment]
    c: Any  # the CParameter of cudapy._ffi.prototypes
    role: str  # "input", "output", "in out", "in place", "address" of a number that is not followed
    cls: Any  # the ctypes class of the base type; None for void
    count: str  # type: ignore[assignment]  # the C name or expression of how many items there are; "" for one
    counts: str  # "" or the role of the array that this parameter counts; "own" for the library's array
    variants: tuple[str, Mapping[int, Any]] | None


def declared(source: ModuleType) -> dict[str, Any]:
    """The functions that a module declares, private ones among them, by C symbol."""
    found: dict[str, Any] = {}
    for value in vars(source).values():
        declaration = getattr(value, "__declaration__", None)
        if declaration is not None:
            newest = symbol_of(declaration.prototype)
            major = declaration.library.major() if declaration.symbols else None
            symbol = declaration.symbols.get(major, newest)
            if symbol is not None:
                found.setdefault(symbol, value)
    return found


def by_hand(source: ModuleType, names: str = "cu") -> set[str]:
    """The public functions that have no declaration of their own. `names`: what theirs begin with."""
    functions = [value for name, value in vars(source).items() if re.match(names, name) and callable(value)]
    plain = [f for f in functions if not isinstance(f, type) and not hasattr(f, "__declaration__")]
    return {function.__name__ for function in plain}


@functools.lru_cache(maxsize=64)
def parameters(function: Any) -> list[Parameter]:
    """The parameters of a declared function, in C's order."""
    declaration, names = function.__declaration__, sys.modules[function.__module__]
    parsed = module("_ffi.prototypes").parse(declaration.prototype).parameters
    types = {**module("_ffi.scalars").SCALARS, "void": None, "(*)": module("_ffi.handles").Callback}
    found = []
    for index, c in enumerate(parsed):
        cls = types[c.type] if c.type in types else getattr(names, c.type)
        count = str(declaration.sizes.get(c.c_name, ""))
        variants = attribute_types(function) if c.name in declaration.variants else None
        scalar = c.stars == 1 and cls not in (None, ctypes.c_char) and not is_aggregate(cls)
        if c.name not in declaration.inputs:
            role = "output"
        elif c.name in declaration.in_place:
            role = "in place"
        elif c.name in declaration.later:
            role = "address"
        else:
            role = "in out" if scalar and not c.const and not count and not variants else "input"
        found.append(Parameter(index, c, role, cls, count, "", variants))
    for i, p in enumerate(found):
        counted = [a for a in found if re.search(rf"\b{p.c.c_name}\b", a.count)]
        roles = {"own" if a.role == "output" and a.c.stars > 1 else a.role for a in counted}
        counts = next((role for role in ("output", "own", "input") if role in roles), "")
        found[i] = p._replace(counts=counts)
    return found


def asks(count: str) -> bool:
    """Whether a size is asked of the library, by a call of its own."""
    return "(" in count and count not in _IN_C


def asks_for_a_size(function: Any) -> bool:
    return any(asks(str(count)) for count in function.__declaration__.sizes.values())


def returns_text(function: Any) -> bool:
    """Whether a function returns a C string instead of a status."""
    return bool(module("_ffi.prototypes").parse(function.__declaration__.prototype).returns == "char*")


def returns_nothing(function: Any) -> bool:
    """Whether a function has no status to return."""
    return bool(module("_ffi.prototypes").parse(function.__declaration__.prototype).returns == "void")


def number_of(function: Any) -> Any:
    """The class of the number that a function returns instead of a status; None for most."""
    returns = module("_ffi.prototypes").parse(function.__declaration__.prototype).returns
    return module("_ffi.scalars").SCALARS.get(returns)


def never_fails(function: Any) -> bool:
    """Whether a function returns what is neither a status nor a number of bytes, negative for one."""
    declaration = function.__declaration__
    returns = module("_ffi.prototypes").parse(declaration.prototype).returns
    return returns not in (declaration.library.status, "ssize_t")


def struct_of(function: Any) -> Any:
    """The struct that a function returns by value instead of a status; None for most."""
    declaration = function.__declaration__
    returns = module("_ffi.prototypes").parse(declaration.prototype).returns
    if returns == declaration.library.status or returns_text(function) or returns_nothing(function):
        return None
    if returns in module("_ffi.scalars").SCALARS:
        return None
    return getattr(sys.modules[function.__module__], returns)


def status_of(function: Any) -> Any:
    """The class of the status codes that a function returns: an enum, or a struct of two."""
    return getattr(sys.modules[function.__module__], function.__declaration__.library.status)


def attribute_types(function: Any) -> tuple[str, Mapping[int, Any]] | None:
    """Which parameter decides the type behind a `void *`, and the type for each of its values."""
    scope = sys.modules[function.__module__]
    for key, name in function.__declaration__.variants.values():
        table: dict[int, Any] = getattr(scope, name)  # which has structs by their names
        return key, {k: getattr(scope, cls) if isinstance(cls, str) else cls for k, cls in table.items()}
    return None


def is_aggregate(cls: Any) -> bool:
    return cls is not None and issubclass(cls, (ctypes.Structure, ctypes.Union))


def build(
    source: ModuleType,
    path: Path,
    without: Iterable[str] = (),
    names: Mapping[str, str] | None = None,
    only: Iterable[str] | None = None,
    extra: str = "",
    types: str = "",
    folders: Iterable[Path] = (),
) -> Path:
    """Compile a stub of the library whose functions `source` declares to `path`.

    without: symbols to leave out, as an older library does. names: functions that exist under another name
    as well, such as {"cuLaunchKernel": "cuLaunchKernel_ptsz"}. only: the symbols to have; all if None.
    extra: C for the end. types: C that has the types, such as #include lines of the real headers in
    `folders`, instead of types made from cudapy's classes.
    """
    functions = declared(source)
    chosen = set(functions if only is None else only) - set(without)
    exported = [(symbol, symbol) for symbol in functions if symbol in chosen]
    exported += (names or {}).items()
    text = [
        f"#define REMEMBERED {REMEMBERED}",
        f"#define FILLED {FILLED}",
        f"#define COPIED {COPIED}",
        _PREAMBLE,
    ]
    text += [types] if types else _types(functions.values())
    for symbol, name in exported:
        text += _function(functions[symbol], symbol, name)
    c = path.with_suffix(".c")
    c.write_text("\n".join([*text, extra]) + "\n")
    gcc = shutil.which("gcc")
    assert gcc is not None, "the fixtures skip where there is no gcc"
    includes = [f"-I{folder}" for folder in folders]
    command = [gcc, "-shared", "-fPIC", "-O0", "-w", *includes, "-o", str(path), str(c)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:4000]
    return path


# -- C source --------------------------------------------------------------------------------------------


def _types(functions: Iterable[Any]) -> Iterator[str]:
    """A typedef for every type that the prototypes use."""
    made: dict[Any, str] = {}
    named: set[str] = set()
    enum = module("_ffi.enums").Enum
    for function in functions:
        for p in parameters(function):
            scalar = p.c.type in module("_ffi.scalars").SCALARS or p.cls is None
            if scalar or p.c.type in named or p.c.type == "(*)":
                continue
            named.add(p.c.type)
            if is_aggregate(p.cls):
                yield from _struct(p.cls, made)
                yield f"typedef {made[p.cls]} {p.c.type};"
                yield f'_Static_assert(sizeof({p.c.type}) == {ctypes.sizeof(p.cls)}, "{p.c.type}");'
            elif issubclass(p.cls, enum):
                signed = max(p.cls._by_value, default=0) < 1 << 31
                yield f"typedef {'int' if signed else 'unsigned int'} {p.c.type};"
            else:
                pointer = issubclass(p.cls, module("_ffi.handles").Pointer)
                yield f"typedef {'void *' if pointer else _C_TYPES[p.cls._type_]} {p.c.type};"
    for function in functions:
        returned = struct_of(function)
        if returned is not None and returned.__name__ not in named:
            named.add(returned.__name__)
            yield from _struct(returned, made)
            yield f"typedef {made[returned]} {returned.__name__};"
    for status, cls in {status_of(function).__name__: status_of(function) for function in functions}.items():
        if is_aggregate(cls):
            yield from _struct(cls, made)
            yield f"typedef {made[cls]} {status};"
        elif status not in named:
            yield f"typedef int {status};"


def _struct(cls: Any, made: dict[Any, str]) -> Iterator[str]:
    """The definitions of a struct and of those inside it."""
    if cls in made:
        return
    members = []
    for name, storage, *_ in cls._fields_:
        dimensions = ""
        while issubclass(storage, ctypes.Array):
            dimensions += f"[{storage._length_}]"
            storage = storage._type_
        if is_aggregate(storage):
            yield from _struct(storage, made)
        members.append(f"{made.get(storage) or _C_TYPES[storage._type_]} {name}{dimensions};")
    kind = "union" if issubclass(cls, ctypes.Union) else "struct"
    made[cls] = f"{kind} s{len(made)}"
    yield f"{made[cls]} {{ {' '.join(members)} }};"


def _function(function: Any, symbol: str, name: str) -> Iterator[str]:
    prototype = function.__declaration__.prototype
    found = parameters(function)
    yield re.sub(rf"\b{symbol_of(prototype)}\(", f"{name}(", prototype)
    yield "{"
    for p in found:
        if p.variants:
            yield from _variant_size(p)
    yield f'    stub_begin("{name}");'
    for p in found:
        yield f'    stub_value("{p.c.c_name}", &{p.c.c_name}, sizeof {p.c.c_name});'
        size = memory_in_c(p, found)
        if size:
            peek = "if (stub_peek) " if p.role == "input" else ""
            yield f"    {peek}stub_memory({p.c.c_name}, {size});"
    for p in sorted(found, key=lambda p: bool(p.counts)):  # an array is filled before its count changes
        yield from _fill(p, found)
    returned = struct_of(function)
    if returned is not None:
        yield f"    {returned.__name__} value;"
        yield f"    stub_fill(&value, sizeof value, {len(found)});"
        yield "    stub_end();"
        yield "    return value;"
    elif returns_text(function):
        yield "    stub_end();"
        yield '    return "returned as text";'
    elif returns_nothing(function):
        yield "    stub_end();"
    elif number_of(function) is not None:
        yield "    int status = stub_end();"
        failed = RETURNED if never_fails(function) else "-status"
        yield f"    return status ? {failed} : {RETURNED};"
    elif is_aggregate(status_of(function)):
        (first, *_), (second, *_) = status_of(function)._fields_
        status = function.__declaration__.library.status
        yield "    int status = stub_end();"
        yield f"    return ({status}){{.{first} = status, .{second} = status ? {BENEATH} : 0}};"
    else:
        yield "    return stub_end();"
    yield "}"


def _fill(p: Parameter, found: list[Parameter]) -> Iterator[str]:
    name = p.c.c_name
    if p.role == "input" and not is_writable(p):
        return
    if p.role == "output" and p.c.stars == 2 and p.cls is ctypes.c_char:
        yield f'    *{name} = "{name} as text";'
    elif p.role == "output" and p.c.stars == 3:  # an array of texts
        texts = ", ".join([f'"{name} as text"'] * COPIED)
        yield f"    static const char *texts[COPIED] = {{{texts}}};"
        yield f"    *{name} = texts;"
    elif p.role == "output" and p.c.stars == 2 and p.count:
        yield f"    OWN({name}, {p.index});"
    elif p.counts == "own":
        yield f"    *{name} = COPIED;"
    elif p.counts and p.c.stars:
        yield f"    COUNT({name}, {p.index});"
    elif size := memory_in_c(p, found):
        peek = "if (stub_peek == 1) " if p.role == "input" else ""
        yield f"    {peek}stub_fill({name}, {size}, {p.index});"


def is_writable(p: Parameter) -> bool:
    """Whether a parameter is the caller's memory, of known size, for the library to write to."""
    return bool(p.c.stars == 1 and not p.c.const and p.count and p.cls in (None, ctypes.c_char))


def memory_in_c(p: Parameter, found: list[Parameter]) -> str:
    """The C expression of how many bytes a pointer points to; "" for no pointer, or nobody knows."""
    name = p.c.c_name
    if not p.c.stars or p.role == "address":
        return ""
    if p.variants:
        return f"size_of_{name}"
    if p.role == "output" and p.c.stars > 1:
        return f"sizeof *{name}"
    if asks(p.count):
        return ""
    if p.count:
        count = _IN_C.get(p.count, p.count)
        counter = next((c for c in found if c.c.c_name == count), None)
        if counter is not None and counter.c.stars:
            count = f"({count} ? *{count} : 0)"
        item = "1" if p.cls in (None, ctypes.c_char) and p.c.stars == 1 else f"sizeof *{name}"
        return f"({count}) * {item}"
    if p.cls is ctypes.c_char and p.c.const:
        return f"({name} ? strlen({name}) + 1 : 0)"
    return "" if p.cls is None else f"sizeof *{name}"


def _variant_size(p: Parameter) -> Iterator[str]:
    key, table = p.variants  # type: ignore[misc]
    cases = [f"{key} == {int(k)} ? {variant_size(cls)} : " for k, cls in table.items()]
    yield f"    size_t size_of_{p.c.c_name} = {''.join(cases)}0;"


def variant_size(cls: Any) -> int:
    """How many bytes C reads or writes for an attribute of type `cls`."""
    if cls is bool:
        return 1
    return 4 if issubclass(cls, module("_ffi.enums").Enum) else ctypes.sizeof(cls)
