"""Record the names of the installed `cuda.core`, and of the parameters that its functions have:

    pip install cuda-core==1.2.2 cuda-bindings==13.3.1
    python tests/peers/record_core.py >tests/peers/core-1.2.2.json

For each public module: a name, and what it is. "(a b * c)" is a function, "c" being a parameter that can only
be named; "=" a value; "NAME=value ..." an enum; and a class is its members, "name" or "name(parameters)", the
constructor without a name, where the class tells its parameters.
"""

from __future__ import annotations

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


def parameters(function: Any) -> str:
    """The names of the parameters, without that of the object; "" where they are unknown."""
    try:
        found = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return ""
    names, named = [], False
    for parameter in found:
        if parameter.name in ("self", "cls"):
            continue
        stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        if parameter.kind is parameter.KEYWORD_ONLY and not named:
            names.append("*")
        named = named or stars == "*" or parameter.kind is parameter.KEYWORD_ONLY
        names.append(stars + parameter.name)
    return f"({' '.join(names)})"


def constructor(cls: type) -> str:
    """The parameters of `cls(...)`: its fields, its signature, or what its documentation begins with."""
    fields = getattr(cls, "__dataclass_fields__", None)
    if fields:
        return f"({' '.join(fields)})"
    for name in ("__init__", "__new__"):
        found = parameters(getattr(cls, name)) if name in cls.__dict__ else ""
        if found not in ("", "(*args **kwargs)"):
            return found
    text = re.match(rf"{cls.__name__}\((.*)\)", (cls.__doc__ or "").split("\n")[0])
    flat = text[1] if text else ""
    while "[" in flat:
        flat = re.sub(r"\[[^\[\]]*\]", "", flat)
    names = re.findall(r"(\*?\w+)(?:[:=][^,]*)?(?:,|$)", flat)
    names.sort(key=lambda name: "*" not in name)  # what follows *arguments comes before them in the text
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
