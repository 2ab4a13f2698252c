"""Reads a C prototype as the headers have it."""

from __future__ import annotations

import re
from typing import NamedTuple

_PROTOTYPE = re.compile(r"(?:const )?(\w[\w ]*?) ?(\**)(\w+)\((.*)\)$")
_PARAMETER = re.compile(r"(.+?) ?(\**)(\w+)((?:\[\w*\])*)$")
_FUNCTION = re.compile(r"\w[\w ]* ?\**\(\*(\w+)\)\(.*\)$")
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
    text = " ".join(text.split())
    match = _PROTOTYPE.match(text)
    if match is None:
        raise ValueError(f"not a C prototype: {text!r}")
    returns, stars, symbol, parameters = match.groups()
    return Prototype(
        returns + stars,
        symbol,
        tuple(_parameter(item, text) for item in _split(parameters)) if parameters != "void" else (),
    )


def _split(parameters: str) -> list[str]:
    """Split at the commas that are not inside the parentheses of a function pointer."""
    return re.split(r",(?![^()]*\)(?!\())", parameters)


def _parameter(text: str, prototype: str) -> CParameter:
    function = _FUNCTION.match(text.strip())
    if function:
        return CParameter(FUNCTION_POINTER, 0, False, function[1], function[1])
    const = text.strip().startswith("const ")
    bare = re.sub(r"\bconst\b", " ", text)
    bare = re.sub(r"\s*\*\s*", "*", " ".join(bare.split())).replace("*", " *").replace("* *", "**")
    match = _PARAMETER.match(re.sub(r"(?<=\*) (?=\*)", "", bare))
    if match is None:
        raise ValueError(f"not a C parameter: {text!r} in {prototype!r}")
    kind, stars, name, array = match.groups()
    return CParameter(kind.strip(), len(stars) + array.count("["), const, PYTHON_NAMES.get(name, name), name)
