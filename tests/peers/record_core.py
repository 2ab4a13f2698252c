"""Record the names of the installed `cuda.core`, and of the parameters that its functions have:

    pip install cuda-core==1.2.2 cuda-bindings==13.3.1
    python tests/peers/record_core.py >tests/peers/core-1.2.2.json

For each public module: a name, and what it is. "(a b=None * c)" is a function, "b" being a parameter with a
default, "c" one that can only be named; "=" a value; "NAME=value ..." an enum; and a class is its members,
"name" or "name(parameters)", the constructor without a name, where the class tells its parameters.
"""

from __future__ import annotations

import dataclasses
import enum
import importlib
import inspect
import json
import re
import sys
from typing import Any

MODULES = ("", "checkpoint", "graph", "system", "texture", "typing", "utils")
SPECIAL = ("__cuda_stream__", "__dlpack__", "__dlpack_device__", "__getitem__", "__int__", "__sub__")
REACHED = {"DeviceProperties": "_device", "KernelAttributes": "_module", "KernelOccupancy": "_module"}
"""Classes without a public name, that properties give objects of."""


def with_default(name: str, default: Any) -> str:
    """`name=default` without spaces, a choice as its text; `name` where there is no default."""
    if default in (inspect.Parameter.empty, dataclasses.MISSING):
        return name
    plain = default.value if isinstance(default, enum.Enum) else default
    return f"{name}={plain!r}".replace("()", "tuple").replace(" ", "_")


def parameters(function: Any) -> str:
    """The parameters with their defaults, without that of the object; "" where they are unknown."""
    try:
        found = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return ""
    names, named = [], False
    for parameter in found:
        if parameter.name in ("self", "cls"):
            continue
        stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")  # type: ignore[call-overload]
        if parameter.kind is parameter.KEYWORD_ONLY and not named:
            names.append("*")
        named = named or stars == "*" or parameter.kind is parameter.KEYWORD_ONLY
        names.append(with_default(stars + parameter.name, parameter.default))
    return f"({' '.join(names)})"


def constructor(cls: type) -> str:
    """The parameters of `cls(...)`: its fields, its signature, or what its documentation begins with."""
    fields = getattr(cls, "__dataclass_fields__", None)
    if fields:
        return f"({' '.join(with_default(name, field.default) for name, field in fields.items())})"
    for name in ("__init__", "__new__"):
        found = parameters(getattr(cls, name)) if name in cls.__dict__ else ""
        if found not in ("", "(*args **kwargs)"):
            return found
    text = re.match(rf"{cls.__name__}\((.*)\)", (cls.__doc__ or "").split("\n")[0])
    flat = text[1] if text else ""
    while "[" in flat:
        flat = re.sub(r"\[[^\[\]]*\]", "", flat)
    texts = re.findall(r"(\*\w*|\w+)(?:: [^,=]*)?(= ?[^,]*)?(?:,|$)", flat)
    names = [name + default.replace(" ", "") for name, default in texts]
    names.sort(key=lambda name: name[:1] != "*" or name == "*")  # what follows *arguments comes before them
    return f"({' '.join(names)})" if text and "*args" not in names else ""


def described(cls: type) -> str:
    if issubclass(cls, BaseException):
        return "="
    if issubclass(cls, enum.Enum):
        return " ".join(f"{member.name}={member.value}" for member in cls)
    found = [constructor(cls)]
    for name in sorted(dir(cls)):
        value = inspect.getattr_static(cls, name)
        is_function = callable(value) or isinstance(value, (staticmethod, classmethod))
        if name in SPECIAL or not name.startswith("_"):
            found.append(name + (parameters(getattr(cls, name)) or "()") * is_function)
    return " ".join(filter(None, found))


def module(name: str) -> dict[str, str]:
    peer = importlib.import_module(f"cuda.core.{name}".rstrip("."))
    found = {key: getattr(peer, key) for key in peer.__all__}
    if not name:
        for key, private in REACHED.items():
            found[key] = getattr(importlib.import_module(f"cuda.core.{private}"), key)
    return {
        key: described(value) if isinstance(value, type) else parameters(value) if callable(value) else "="
        for key, value in found.items()
    }


if __name__ == "__main__":
    json.dump({name: module(name) for name in MODULES}, sys.stdout, indent=0)
