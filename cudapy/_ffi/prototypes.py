"""Reads a C prototype as the headers have it, and what its parameters are."""

from __future__ import annotations

import ctypes
from typing import NamedTuple

from .handles import Callback
from .lazy_types import find
from .scalars import AGGREGATES, SCALARS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container
    from typing import Any

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
    head = text.partition("(")[0]
    kind, stars, _, symbol = _declared(head)
    if not symbol:
        raise ValueError(f"not a C prototype: {text!r}")
    return Prototype(kind + "*" * stars, symbol, tuple(parameters(text)))


def parameters(text: str) -> list[CParameter]:
    """The parameters of a prototype. Raises ValueError for what is not one."""
    if "\n" in text or "  " in text:
        text = " ".join(text.split())
    inside = text[text.find("(") + 1 : -1]
    if text[-1:] != ")" or inside == text[:-1]:
        raise ValueError(f"not a C prototype: {text!r}")
    if inside == "void":
        return []
    items = inside.split(",") if "(" not in inside else _split(inside)
    return [_read[item] if item in _read else _parameter(item, text) for item in items]


def _split(parameters: str) -> list[str]:
    """Split at the commas that are not inside the parentheses of a function pointer."""
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
_types: dict[str, tuple[str, bool]] = {}  # by what is before stars and a name; "": it is not plain
_new = tuple.__new__  # what a NamedTuple calls, without a step of Python


def _parameter(text: str, prototype: str) -> CParameter:
    kind, stars, const, name = _declared(text)
    if "(" in text:  # int (*callback)(void *, void *)
        name = text.partition("(*")[2].partition(")")[0].strip()
        kind, stars, const = FUNCTION_POINTER, 0, False
    if not name.isidentifier():
        raise ValueError(f"not a C parameter: {text!r} in {prototype!r}")
    read = _new(CParameter, (kind, stars, const, PYTHON_NAMES.get(name, name), name))
    _read[text] = read
    return read


def _declared(text: str) -> tuple[str, int, bool, str]:
    """Type, stars (and brackets), whether it begins with const, and name; "" for that if it is none."""
    head, _, starred = text.rpartition(" ")
    name = starred.lstrip("*")
    if head not in _types:
        _types[head] = _plain(head)
    kind, const = _types[head]
    if kind and name.isidentifier():
        return kind, len(starred) - len(name), const, name
    return _declarator(text)


def _plain(head: str) -> tuple[str, bool]:
    """A type of words alone, and whether "const" is before them; "" for another one."""
    kind = head.strip().removeprefix("const ")
    is_plain = kind.replace(" ", "_").isidentifier() and "const" not in kind.split()
    return kind if is_plain else "", kind != head.strip()


def _declarator(text: str) -> tuple[str, int, bool, str]:
    """What `_declared` returns, of any text."""
    words = text.replace("*", " * ").replace("[", " [").split()
    const = words[:1] == ["const"]
    words = [word for word in words if word != "const"]
    plain = [word for word in words if word != "*" and word[0] != "["]
    kind = plain[:-1]
    if not kind or words[: len(kind)] != kind or not all(word.isidentifier() for word in plain):
        return "", 0, False, ""
    return " ".join(kind), len(words) - len(plain), const, plain[-1]


def type_of(parameter: CParameter, scope: dict[str, Any]) -> Any:
    """The class of the parameter's base type: an enum, handle, struct or ctypes scalar; None for void."""
    if parameter.type == "void":
        return None
    if parameter.type == FUNCTION_POINTER:
        return Callback
    return SCALARS.get(parameter.type) or find(scope, parameter.type)


def is_in_out(parameter: CParameter, cls: Any, addresses: Container[str]) -> bool:
    """Whether C reads and writes one number, handle or enum of class `cls`, which Python names.

    addresses: the parameters that are arrays, or handles and numbers given by their address.
    """
    if parameter.stars != 1 or parameter.const or parameter.name in addresses:
        return False
    return cls is not None and cls is not ctypes.c_char and not issubclass(cls, AGGREGATES)


def public_name(real_name: str) -> str:
    """The name for messages: a private stub completes the public function of that name."""
    return real_name.lstrip("_").removesuffix("_12")


def c_name(real_name: str) -> str:
    """The global that holds the C function: one for each declaration, since two may share a symbol."""
    return f"_c_{real_name}"
