"""Reads a C prototype as the headers have it."""

from __future__ import annotations

from typing import NamedTuple

FUNCTION_POINTER = "(*)"

PYTHON_NAMES = {
    "bytes": "numbytes",
    "format": "pformat",
    "from": "from_",
    "input": "input_",
    "len": "length",
    "type": "typename",
}
"""What a parameter is called in Python whose C name is a keyword or hides a builtin."""


class CParameter(NamedTuple):
    """One parameter: `const CUgraphNode *from` is type "CUgraphNode", 1 star, const, name "from_"."""

    type: str
    stars: int
    const: bool
    name: str
    c_name: str


class Prototype(NamedTuple):
    """A prototype taken apart. `returns` ends in "*" for a pointer."""

    returns: str
    symbol: str
    parameters: tuple[CParameter, ...]


def parse(text: str) -> Prototype:
    """Take a prototype apart. Raises ValueError for what is not one."""
    if "\n" in text or "  " in text:
        text = " ".join(text.split())
    head, _, parameters = text.partition("(")
    kind, stars, _, symbol = _declarator(head)
    if not symbol or not parameters.endswith(")"):
        raise ValueError(f"not a C prototype: {text!r}")
    items = _split(parameters[:-1]) if parameters != "void)" else []
    return Prototype(
        kind + "*" * stars, symbol, tuple([_read.get(item) or _parameter(item, text) for item in items])
    )


def symbol_of(text: str) -> str:
    """The name of the function in a prototype that is not taken apart."""
    return text[: text.index("(")].replace("*", " ").split()[-1]


def _split(parameters: str) -> list[str]:
    """Split at the commas that are not inside the parentheses of a function pointer."""
    if "(" not in parameters:
        return parameters.split(",")
    items: list[str] = []
    depth = 0
    for part in parameters.split(","):
        if depth:
            items[-1] += "," + part
        else:
            items.append(part)
        depth += part.count("(") - part.count(")")
    return items


_read: dict[str, CParameter] = {}  # by its text: a header has the same ones many times
_types: dict[str, tuple[str, bool]] = {}  # by what comes before a name: as little of it is read twice


def _parameter(text: str, prototype: str) -> CParameter:
    head, _, name = text.rpartition(" ")
    if head in _types and name.isidentifier():
        (kind, const), stars = _types[head], 0
    else:
        kind, stars, const, name = _declarator(text)
        if not stars and kind and text.endswith(f" {name}"):
            _types[head] = kind, const
    if "(" in text:  # int (*callback)(void *, void *)
        name = text.partition("(*")[2].partition(")")[0].strip()
        kind, stars, const = FUNCTION_POINTER, 0, False
    if not name.isidentifier():
        raise ValueError(f"not a C parameter: {text!r} in {prototype!r}")
    read = _read[text] = CParameter(kind, stars, const, PYTHON_NAMES.get(name, name), name)
    return read


def _declarator(text: str) -> tuple[str, int, bool, str]:
    """Type, stars (and brackets), whether it begins with const, and name; "" for that if it is none."""
    words = text.split()
    if len(words) == 2 and text[0] != "*" and words[0] != "const" and "[" not in text:  # "CUevent *event"
        base, starred = words
        bare = starred.lstrip("*")
        if base.isidentifier() and bare.isidentifier():
            return base, len(starred) - len(bare), False, bare
    words = text.replace("*", " * ").replace("[", " [").split()
    const = words[:1] == ["const"]
    words = [word for word in words if word != "const"]
    plain = [word for word in words if word != "*" and word[0] != "["]
    kind = plain[:-1]
    if not kind or words[: len(kind)] != kind or not all(word.isidentifier() for word in plain):
        return "", 0, False, ""
    return " ".join(kind), len(words) - len(plain), const, plain[-1]
