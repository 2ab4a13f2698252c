"""Record the names and signatures of the installed `cuda.bindings`:

    pip install cuda-bindings==13.5.0 && python tests/peers/record.py >tests/peers/bindings-13.5.0.json

For each module: functions as "parameters -> number of results after the status", and the names of types.
"""

from __future__ import annotations

import importlib
import inspect
import json
import re
import sys
from typing import Any

MODULES = ("driver", "nvrtc", "runtime")


def results(function: Any) -> int:
    """How many values the documented return tuple has after the status."""
    found = re.search(r"Returns\n-------\n(.*?)(\n\n[A-Z]|$)", inspect.getdoc(function) or "", re.DOTALL)
    return len(re.findall(r"^\S", found[1], re.MULTILINE)) - 1 if found else 0


def module(name: str) -> dict[str, Any]:
    peer = importlib.import_module(f"cuda.bindings.{name}")
    functions, types = {}, []
    for key, value in sorted(vars(peer).items()):
        if key.startswith(("_", "anon_", "nvrtcResult")) or getattr(value, "__module__", "") != peer.__name__:
            continue
        if isinstance(value, type):
            types.append(key)
        elif callable(value) and key != "sizeof":
            functions[key] = f"{' '.join(inspect.signature(value).parameters)} -> {results(value)}"
    return {"functions": functions, "types": " ".join(types)}


if __name__ == "__main__":
    json.dump({name: module(name) for name in MODULES}, sys.stdout, indent=0)
