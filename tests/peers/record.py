"""Record the names and signatures of the installed `cuda.bindings`:

    pip install cuda-bindings==13.5.0 && python tests/peers/record.py >tests/peers/bindings-13.5.0.json

For each module that it has: functions as "parameters -> number of results", the status not counted, and the
names of types.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import json
import re
import sys
from typing import Any

MODULES = ("driver", "nvfatbin", "nvjitlink", "nvrtc", "nvvm", "runtime")
FACES = ("nvfatbin", "nvjitlink", "nvvm")  # functions return results alone


def results(function: Any) -> int:
    """How many values the documented return tuple has after the status."""
    found = re.search(r"Returns\n-------\n(.*?)(\n\n[A-Z]|$)", inspect.getdoc(function) or "", re.DOTALL)
    return len(re.findall(r"^\S", found[1], re.MULTILINE)) - 1 if found else 0


def results_alone(function: Any) -> int:
    """How many values a function returns that begins its documentation with `name(...) -> type`."""
    text = inspect.getdoc(function) or ""
    returns = re.match(r"\w+\(.*?\)(?: -> (\w+))?\n", text)[1]  # type: ignore[index]
    if returns == "tuple":
        return int(re.search(r"A (\d+)-tuple", text)[1])  # type: ignore[index]
    return 1 if returns else 0


def module(name: str) -> dict[str, Any]:
    peer = importlib.import_module(f"cuda.bindings.{name}")
    functions, types = {}, []
    for key, value in sorted(vars(peer).items()):
        if key.startswith(("_", "anon_", "nvrtcResult")) or getattr(value, "__module__", "") != peer.__name__:
            continue
        if isinstance(value, type):
            types.append(key)
        elif callable(value) and key != "sizeof":
            count = results_alone(value) if name in FACES else results(value)
            functions[key] = f"{' '.join(inspect.signature(value).parameters)} -> {count}"
    return {"functions": functions, "types": " ".join(types)}


if __name__ == "__main__":
    there = [name for name in MODULES if importlib.util.find_spec(f"cuda.bindings.{name}")]
    json.dump({name: module(name) for name in there}, sys.stdout, indent=0)
