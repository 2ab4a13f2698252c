"""The annotations of every declared function say what its prototype says."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from .stub import module
from .stub.build import Parameter, declared, is_aggregate, number_of, parameters, returns_text
from .stub.values import enums, handles

SOURCES = [module("driver"), module("nvml"), module("nccl"), module("cufile"), module("cudla")]

PLAIN = {"float": "float", "double": "float", "bool": "bool"}
"""What numbers are in Python that are no int."""


def annotated(p: Parameter) -> str:
    """The annotation that a parameter must have, by its C type."""
    name, cls = p.c.type, p.cls
    number = PLAIN.get(name, "int")
    if p.variants or (cls and issubclass(cls, handles.Callback) and p.role != "in place"):
        return "Any"
    if p.role == "address":
        return "void_p"
    if cls is None:
        return "void_p" if p.c.stars == 1 else "void_pp"
    if name == "char":
        return "bytes | None" if p.c.const and not p.count else "void_p"
    typed = is_aggregate(cls) or issubclass(cls, (enums.Enum, handles.Handle))
    if p.count:
        item = number if not typed else name if is_aggregate(cls) else f"{name} | int"
        return f"Sequence[{item}] | None"
    if not typed:
        return number
    if p.role == "in place" or is_aggregate(cls):
        return f"{name} | None" if p.c.stars and p.role == "input" else name
    return f"{name} | int | None" if issubclass(cls, handles.Pointer) else f"{name} | int"


def annotated_result(p: Parameter) -> str:
    """The annotation that an output must have."""
    if p.variants:
        return "Any"
    if p.cls is None:
        return "int"
    if p.c.type == "char" and p.c.stars < 3:
        return "bytes"
    typed = is_aggregate(p.cls) or issubclass(p.cls, (enums.Enum, handles.Handle))
    if p.c.stars == 3:
        return "list[bytes]"
    item = p.c.type if typed else PLAIN.get(p.c.type, "int")
    return f"list[{item}]" if p.count else item


def expected(function: Any) -> dict[str, str]:
    """The annotations that a function must have."""
    found = parameters(function)
    expected = {p.c.name: annotated(p) for p in found if p.role != "output"}
    optional = [name for name, default in function.__declaration__.optional.items() if default is None]
    expected |= {name: f"{expected[name]} | None" for name in optional}
    results = [annotated_result(p) for p in found if p.role in ("output", "in out")]
    results += ["bytes"] * returns_text(function) + ["int"] * (number_of(function) is not None)
    return expected | {"return": f"tuple[{', '.join([function.__declaration__.library.status, *results])}]"}


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.__name__.partition(".")[2])
def test_annotations(source: ModuleType) -> None:
    functions = declared(source)
    found = {symbol: function.__annotations__ for symbol, function in functions.items()}
    assert found == {symbol: expected(function) for symbol, function in functions.items()}
