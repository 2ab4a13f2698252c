"""Declarations with one type changed, and whether echo sees it.

    python -m tests.stub.mutants API LIBRARY PART PARTS

takes every PARTS-th function and prints, as JSON, the number of mutants and those that survived. A mutant may
let the stub read or write past the end of memory, so they run in child processes; the death of one counts as
being seen.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from types import FunctionType
from typing import Any, NamedTuple

from . import source
from .build import Parameter, asks_for_a_size, declared, is_aggregate, parameters
from .echo import cases, echo, refuses_unknown_attribute
from .record import Stub
from .values import enums, handles

NARROWER = {
    "size_t": "unsigned int",
    "unsigned long long": "unsigned int",
    "unsigned int": "unsigned short",
    "unsigned": "unsigned short",
    "int": "short",
    "unsigned short": "unsigned char",
}
WIDER = {
    "unsigned int": "size_t",
    "unsigned": "size_t",
    "int": "long long",
    "unsigned short": "unsigned int",
    "unsigned char": "unsigned int",
    "float": "double",
}


class Mutant(NamedTuple):
    """The prototype of `symbol` with another type for the parameter `name`."""

    symbol: str
    name: str
    prototype: str


def mutants(function: Any, symbol: str, table: dict[str, str]) -> Iterator[Mutant]:
    """The mutants of a function: one for every integer, handle, enum and `void *` that `table` can change."""
    prototype = function.__declaration__.prototype
    head, _, rest = prototype.partition("(")
    for p in parameters(function):
        other = _other(p, table)
        if not other:
            continue
        texts = re.split(r", (?![^()]*\))", rest[:-1])  # not within the parentheses of a function pointer
        old = r"(const )?void \*" if p.cls is None else rf"\b{p.c.type}\b"
        texts[p.index] = re.sub(old, other, texts[p.index], count=1)
        changed = f"{head}({', '.join(texts)})"
        assert changed != prototype, prototype
        yield Mutant(symbol, p.c.c_name, changed)


def _other(p: Parameter, table: dict[str, str]) -> str | None:
    """The type that takes the place of a parameter's own; None for what has no width to change."""
    if p.role == "address":  # the number behind it is not followed
        return None
    if p.c.type in table or is_aggregate(p.cls):
        return table.get(p.c.type)
    narrow = table is NARROWER
    if p.cls is None:
        return "unsigned int " if narrow and p.c.stars == 1 and p.role == "input" and not p.variants else None
    if issubclass(p.cls, enums.Enum):
        return "short" if narrow else "size_t"
    if not issubclass(p.cls, handles.Handle) or p.c.type == "(*)":
        return None
    if issubclass(p.cls, (handles.Int, handles.UInt)):
        return "unsigned short" if narrow else "size_t"
    return "unsigned int" if narrow else None


def survives(stub: Stub, function: Any, mutant: Mutant) -> bool:
    """Whether echo takes the mutant for the function."""
    declaration = function.__declaration__
    changed: Any = FunctionType(
        function.__wrapped__.__code__, function.__globals__, function.__name__, function.__defaults__
    )
    names = ("sizes", "variants", "in_place", "later", "before", "symbols")
    options = {name: getattr(declaration, name) for name in names}
    declaration.library(mutant.prototype, **options)(changed)
    try:
        for made in cases(function):
            echo(stub, made, changed)
        return refuses_unknown_attribute(changed)
    except Exception:
        return False


def survivors(stub: Stub, function: Any, made: list[Mutant]) -> Iterator[Mutant]:
    """Those that survive. They run in a child process: with half of an argument on the stack, C may read from
    anywhere. One that ends the child was seen; those behind it have another child.
    """
    while made:
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            for mutant in made:
                os.write(writer, b"1" if survives(stub, function, mutant) else b"0")
            os._exit(0)
        os.close(writer)
        with open(reader, "rb") as pipe:
            outcomes = pipe.read()
        os.waitpid(child, 0)
        for mutant, outcome in zip(made, outcomes, strict=False):
            if outcome == ord("1"):
                yield mutant
        made = made[len(outcomes) + 1 :]


def main(api: str, path: str, part: str, parts: str) -> None:
    stub = Stub(path, api)
    functions = declared(source(api))
    total, left = 0, []
    for symbol in list(functions)[int(part) :: int(parts)]:
        function = functions[symbol]
        if asks_for_a_size(function):
            continue
        unchanged = Mutant(symbol, "", function.__declaration__.prototype)
        assert survives(stub, function, unchanged), f"echo fails for {symbol} as it is"
        made = list(mutants(function, symbol, NARROWER))
        total += len(made)
        left += [f"{symbol}: {mutant.name}" for mutant in survivors(stub, function, made)]
    print(json.dumps({"total": total, "survivors": left}))


if __name__ == "__main__":
    main(*sys.argv[1:])
