"""Several units of PTX become one."""

import re
from typing import Any

from ..refused import Refused
from . import device_runtime

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
