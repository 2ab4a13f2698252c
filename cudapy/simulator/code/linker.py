"""The linker in the driver: several units of PTX become one."""

from __future__ import annotations

import ctypes
import os
import re
from typing import Any

from ..._types.driver.enums import CUjitInputType as Kind
from ..addresses import Pointer, require
from ..devices.context import current
from ..engine import Memory, Module, PTXError
from ..handles import Object, find
from ..library import provides
from ..refused import Refused, invalid
from . import device_runtime
from .images import EMPTY_ELF, Options, attach, of_cubin, of_fatbin, with_directive
from .targets import check_target, check_version

COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.S)
STRING = re.compile(r'"(?:\\.|[^"\\])*"')
NAME = re.compile(r"\.(?:entry|func)\s*(?:\([^()]*\)\s*)?([\w$]+)|\.(?:global|const)\b([^=;{\[]*)")
WORD = re.compile(r"(?<![\w$%.])[\w$]+(?![\w$])")
DIRECTIVE = re.compile(r"\.(version|target|address_size|file|loc)\b[^\n]*\n")


class Unit:
    """One unit of PTX, taken apart: its first lines, and each of its declarations."""

    def __init__(self, text: str, name: str) -> None:
        self.name = name
        text = COMMENT.sub(" ", text.rstrip("\0"))
        version = re.search(r"\.version\s+(\d+)\.(\d+)", text)
        target = re.search(r"\.target\s+(\w+)", text)
        if version is None or target is None:
            raise Refused("CUDA_ERROR_INVALID_PTX", f"{name}: there is no .version or no .target")
        self.version = int(version[1]), int(version[2])
        self.target = target[1]
        self.declarations = list(_declarations(DIRECTIVE.sub("\n", text + "\n")))

    def rename(self, names: dict[str, str]) -> None:
        """Other names for what only this unit sees."""
        if names:
            self.declarations = [
                WORD.sub(lambda word: names.get(word[0], word[0]), text) for text in self.declarations
            ]


def _declarations(text: str) -> Any:
    """The statements outside of functions: up to a semicolon, or a body in braces and what is before it."""
    start = depth = i = 0
    body = has_values = False
    while i < len(text):
        string = STRING.match(text, i) if text[i] == '"' else None
        if string:
            i = string.end()
            continue
        if text[i] == "{":
            body = body or (depth == 0 and not has_values)
            depth += 1
        elif text[i] == "=":
            has_values = True
        elif text[i] == "}":
            depth -= 1
        if (text[i] == ";" and not depth) or (text[i] == "}" and not depth and body):
            yield text[start : i + 1].strip()
            start, body, has_values = i + 1, False, False
        i += 1
    rest = text[start:].split(maxsplit=1)
    if rest:
        raise Refused("CUDA_ERROR_INVALID_PTX", f"the statement that begins with {rest[0]!r} has no end")


def _name(declaration: str) -> str | None:
    match = NAME.search(declaration)
    if match is None or match[1]:
        return match and match[1]
    return (match[2].split() or [None])[-1]


def is_prototype(declaration: str) -> bool:
    """Whether it says that there is a function or kernel, here or in another unit."""
    return re.search(r"\.(?:func|entry)\b", declaration) is not None and not _has_body(declaration)


def merged(units: list[Unit]) -> str:
    """One unit from several. Raises Refused for a name that is defined twice, or not at all."""
    _tell_private_names_apart(units)
    kept, provided = _defined(units)
    version = max(unit.version for unit in units)
    target = max((unit.target for unit in units), key=lambda t: int(re.sub(r"\D", "", t) or 0))
    head = f".version {version[0]}.{version[1]}\n.target {target}\n.address_size 64\n"
    builtins = [
        text if _name(text) in PROVIDED else text.removeprefix(".extern ")
        for unit in units
        for text in unit.declarations
        if text.startswith(".extern") and _name(text) in provided
    ]
    forward = [f"{text.partition('{')[0].strip()};" for text in kept if ".func" in text and _has_body(text)]
    return "\n".join([head, *dict.fromkeys(builtins), *forward, *kept, ""])


def _tell_private_names_apart(units: list[Unit]) -> None:
    """Rename what a unit has for itself, where one before it has the same name for itself."""
    private: set[str] = set()
    for number, unit in enumerate(units):
        own = {
            name
            for text in unit.declarations
            if (name := _name(text)) and not re.match(r"\.(extern|visible|weak|common)\b", text)
        }
        unit.rename({name: f"{name}$unit{number}" for name in own & private})
        private |= own


def _defined(units: list[Unit]) -> tuple[list[str], set[str]]:
    """What the units define, each thing once, and the functions that the device has. Raises Refused."""
    kept: list[str] = []
    defined: dict[str, Unit] = {}
    wanted: dict[str, Unit] = {}
    for unit in units:
        for text in unit.declarations:
            name = _name(text)
            if name is None:
                kept.append(text)
            elif is_prototype(text) or (text.startswith(".extern") and ".shared" not in text):
                wanted.setdefault(name, unit)
            elif name not in defined or not text.startswith((".weak", ".common")):
                other = defined.get(name, unit)
                if other is not unit and text.startswith(".visible") and _has_body(text):
                    twice = f"{name} is defined in {other.name} and in {unit.name}"
                    raise Refused("CUDA_ERROR_INVALID_PTX", twice)
                defined[name] = unit
                kept.append(text)
    provided = {*PROVIDED}
    if device_runtime.MARK in defined:
        provided |= device_runtime.functions()
    missing = [
        f"{name}, which {unit.name} uses"
        for name, unit in wanted.items()
        if name not in defined and name not in provided
    ]
    if missing:
        raise Refused("CUDA_ERROR_INVALID_PTX", "undefined: " + "; ".join(missing))
    return kept, provided


def _has_body(declaration: str) -> bool:
    return declaration.endswith("}")


PROVIDED = ("vprintf", "malloc", "free", "__assertfail", "cudaGraphSetConditional")
"""Functions that every device has."""


def together(units: list[tuple[bytes, str]], has_runtime: bool) -> bytes:
    """Units, each its PTX and its name, as one unit. Raises Refused.

    has_runtime: libcudadevrt is linked, too, if one of them needs it.
    """
    if has_runtime and any(device_runtime.is_wanted(text) for text, _ in units):
        units = [*units, (device_runtime.PTX.encode(), "cudadevrt")]
    if len(units) == 1:
        return units[0][0]
    return merged([Unit(text.decode(errors="replace"), name) for text, name in units]).encode()


class Link(Object):
    """A linker and what it was given."""

    noun = "linker"

    def __init__(self, options: Options) -> None:
        super().__init__()
        self.options = options
        self.units: list[Unit] = []
        self.image: Any = None

    def add(self, kind: int, data: bytes, name: str) -> None:
        """One unit more. Raises Refused."""
        if kind == Kind.CU_JIT_INPUT_PTX:
            text = data
        elif kind == Kind.CU_JIT_INPUT_CUBIN:
            text = of_cubin(data)
        elif kind == Kind.CU_JIT_INPUT_FATBINARY:
            text = of_fatbin(data)
        elif device_runtime.is_archive(data):
            text = device_runtime.PTX.encode()
        else:
            raise Refused(
                "CUDA_ERROR_NOT_SUPPORTED",
                "the simulator's linker takes PTX, cubins and fat binaries with PTX, and libcudadevrt",
            )
        try:
            if kind == Kind.CU_JIT_INPUT_PTX:
                check_version(text)
            check_target(text)
            unit = Unit(text.decode(errors="replace"), name)
            if not any(d.startswith(".extern") for d in unit.declarations):
                Module(text, Memory()).close()
        except MemoryError as error:
            raise Refused("CUDA_ERROR_OUT_OF_MEMORY", f"{name}: {error}") from None
        except (PTXError, Refused) as error:
            self.options.say(f"{name}: {error}", error=True)
            code = error.status if isinstance(error, Refused) else "CUDA_ERROR_INVALID_PTX"
            raise Refused(code, f"{name}: {error}") from None
        self.units.append(unit)


@provides("driver", "cuLinkCreate", "cuLinkCreate_v2")
def cuLinkCreate_v2(numOptions: int, options: Pointer, optionValues: Pointer) -> int:
    current()
    return Link(Options(numOptions, options, optionValues)).handle


@provides("driver", "cuLinkAddData", "cuLinkAddData_v2")
def cuLinkAddData_v2(
    state: int,
    typename: int,
    data: int | None,
    size: int,
    name: bytes | None,
    numOptions: int,
    options: Pointer,
    optionValues: Pointer,
) -> None:
    if not size:
        raise invalid("there is no data")
    link = find(state, Link)
    link.add(
        typename,
        ctypes.string_at(require(data, size, "data"), size),
        (name or b"a unit").decode(errors="replace"),
    )


@provides("driver", "cuLinkAddFile", "cuLinkAddFile_v2")
def cuLinkAddFile_v2(
    state: int, typename: int, path: bytes | None, numOptions: int, options: Pointer, optionValues: Pointer
) -> None:
    link = find(state, Link)
    try:
        with open(os.fsdecode(path or b""), "rb") as file:
            data = file.read()
    except OSError as error:
        raise Refused("CUDA_ERROR_FILE_NOT_FOUND", str(error)) from None
    link.add(typename, data, os.fsdecode(path or b""))


@provides("driver")
def cuLinkComplete(state: int, cubinOut: Pointer, sizeOut: Pointer) -> None:
    link = find(state, Link)
    try:
        if not link.units:
            raise invalid("nothing was added")
        most = link.options.registers
        image = attach(EMPTY_ELF, with_directive(merged(link.units).encode(), b"maxnreg", lambda name: most))
    except Refused as refused:
        link.options.say(refused.reason, error=True)
        raise
    link.image = ctypes.create_string_buffer(image, len(image))
    cubinOut[0] = ctypes.addressof(link.image)
    if sizeOut:
        sizeOut[0] = len(image)


@provides("driver")
def cuLinkDestroy(state: int) -> None:
    find(state, Link).forget()
