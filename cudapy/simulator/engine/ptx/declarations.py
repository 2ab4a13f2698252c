"""Declarations: variables, and the heads of functions."""

import re

from .operands import count, integer, literal, split
from .syntax import Float, FunctionText, Integer, Prototype, PTXError, Variable
from .types import TYPES

FUNCTION_HEAD = re.compile(r"(?:\.(?:visible|extern|weak|hidden)\s+)*\.(entry|func)\b")
_MOST_ALIGNED = 1 << 16
_MOST_BYTES = 1 << 40
LARGEST = {"local": 512 << 10, "shared": 228 << 10, "const": 64 << 10, "param": 32764}
"""The most bytes of variables of a space. Source: CUDA C++ Programming Guide, "Compute Capabilities"."""
_VARIABLE = re.compile(
    r"(?P<linkage>(?:\.(?:visible|extern|weak|common|hidden)\s+)*)"
    r"\.(?P<space>global|const|shared|local|param|tex)\s*"
    r"(?:\.attribute\((?P<attribute>[^)]*)\)\s*)?"
    r"(?:\.align\s+(?P<align>\d+)\s*)?"
    r"(?:\.v(?P<vector>[24])\s+)?"
    r"\.(?P<type>\w+)\b\s*"
    r"(?:\.ptr\b(?:\s*\.(?:const|global|local|shared))?(?:\s*\.align\s+\d+)?\s*)?"
    r"(?P<name>[%\w$]+)?"
    r"(?P<dimensions>(?:\s*\[[^\]]*\])*)"
    r"(?:\s*=\s*(?P<values>.+))?$",
    re.DOTALL,
)
_REFERENCES = {"texref": "texture", "surfref": "surface"}
_HEAD = re.compile(
    r"(?P<linkage>(?:\.(?:visible|extern|weak|hidden)\s+)*)\.(?P<kind>entry|func)\s*"
    r"(?:\.attribute\([^)]*\)\s*)?"
    r"(?:\((?P<results>[^)]*)\)\s*)?(?P<name>[%\w$]+)\s*(?:\((?P<parameters>[^)]*)\))?(?P<rest>.*)$",
    re.DOTALL,
)
_DIRECTIVE = re.compile(r"\.(\w+)((?:\s+|,|\d+)*)")
_WITH_NUMBERS = ("maxnreg", "maxntid", "reqntid", "minnctapersm", "maxclusterrank", "reqnctapercluster")
_REFERENCE = re.compile(r"(?:generic\()?\s*([A-Za-z_$%][\w$]*)\s*\)?\s*(?:\+\s*(\d+))?$")


def _alignment(text: str, line: int) -> int:
    align = count(text)
    if align & align - 1 or not 0 < align <= _MOST_ALIGNED:
        raise PTXError(f"line {line}: an alignment is a power of two up to {_MOST_ALIGNED}, not {align}")
    return align


def variable(statement: str, line: int) -> Variable:
    """A variable or parameter. Raises PTXError."""
    statement = " ".join(statement.split())  # of blanks side by side the pattern would try each division
    match = _VARIABLE.match(statement)
    if match is None:
        raise PTXError(f"line {line}: what does {statement[:60]!r} declare?")
    reference = _REFERENCES.get(match["type"], "")
    if reference:  # first values, of what it samples by, are ignored as by hardware
        if match["space"] != "global" or match["dimensions"] or match["vector"]:
            raise PTXError(f"line {line}: a .{match['type']} is one global variable")
        match = _VARIABLE.match(statement.partition("=")[0].strip())
        assert match is not None
    kind = TYPES["b64"] if reference else TYPES.get(match["type"])
    if kind is None or (kind.size == 16 and match["space"] != "param"):
        raise PTXError(f"line {line}: variables of type .{match['type']} are not supported")
    vector = int(match["vector"] or 1)
    values = _values(match["values"], line) if match["values"] else []
    length = _length(vector, match["dimensions"], line)
    length = len(values) if length is None and values else length
    if len(values) > (length or 0):
        raise PTXError(f"line {line}: {len(values)} values for {match['name']}, which has {length}")
    align = _alignment(match["align"], line) if match["align"] else kind.size * vector
    most = LARGEST.get(match["space"], _MOST_BYTES)
    if kind.size * (length or 0) > most:
        raise PTXError(
            f"line {line}: {match['name']} has more than {most} bytes, the most of .{match['space']}"
        )
    return Variable(
        match["name"] or "_",
        match["space"],
        kind,
        length,
        align,
        values,
        line,
        ".extern" in match["linkage"],
        ".managed" in (match["attribute"] or ""),
        reference,
        ".hidden" in match["linkage"],
    )


def _length(vector: int, dimensions: str, line: int) -> int | None:
    """How many elements `[2][3]` of vectors has; None for `[]`, which its values tell. Raises PTXError."""
    length: int | None = vector
    for dimension in re.findall(r"\[\s*([^\]]*?)\s*\]", dimensions):
        size = integer(dimension)
        if (size is None and dimension) or (size or 0) < 0:
            raise PTXError(f"line {line}: {dimension[:60]!r} is not a length")
        length = None if size is None or length is None else length * size
    return length


def _values(text: str, line: int) -> list[int | tuple[str, int]]:
    values: list[int | tuple[str, int]] = []
    for part in split(text.replace("{", "").replace("}", "").strip()):
        number = literal(part)
        if isinstance(number, Integer):
            values.append(number.value)
        elif isinstance(number, Float):
            values.append(number.bits)
        else:
            match = _REFERENCE.match(part)
            if match is None:
                raise PTXError(f"line {line}: the first value {part!r} is not supported")
            values.append((match[1], count(match[2] or "0")))
    return values


def prototype(results: str | None, parameters: str | None, line: int) -> Prototype:
    def read(text: str | None) -> list[Variable]:
        return [variable(part, line) for part in split((text or "").strip()) if part]

    return Prototype(read(results), read(parameters))


def function_head(text: str, line: int) -> FunctionText:
    """A function, up to its body. Raises PTXError."""
    match = _HEAD.match(text.strip())
    if match is None:
        raise PTXError(f"line {line}: what does {text.strip()[:60]!r} declare?")
    directives = {
        name: tuple(count(number) for number in re.findall(r"\d+", numbers))
        for name, numbers in _DIRECTIVE.findall(match["rest"])
    }
    for name in _WITH_NUMBERS:
        if directives.get(name) == ():
            raise PTXError(f"line {line}: .{name} needs a number")
    for name in ("maxntid", "reqntid"):
        if 0 in directives.get(name, ()):
            raise PTXError(f"line {line}: .{name} has sizes of at least 1, not 0")
    types = prototype(match["results"], match["parameters"], line)
    is_external = ".extern" in match["linkage"]
    return FunctionText(match["name"], match["kind"] == "entry", types, line, directives, is_external)


def call_prototype(text: str, line: int) -> Prototype:
    """`.callprototype (results) _ (parameters)`. Raises PTXError."""
    match = re.match(r"\.callprototype\s*(?:\(([^)]*)\)\s*)?_\s*(?:\(([^)]*)\))?", text, re.DOTALL)
    if match is None:
        raise PTXError(f"line {line}: what does {text[:200]!r} declare?")
    return prototype(match[1], match[2], line)


def alias(statement: str, line: int) -> tuple[str, str]:
    """`.alias new, old`. Raises PTXError."""
    names = split(statement.removeprefix(".alias").strip())
    if len(names) != 2:
        raise PTXError(f"line {line}: what does {statement!r} declare?")
    return names[0], names[1]
