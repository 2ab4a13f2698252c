"""Record the names and signatures of the installed `cuda.bindings`:

    pip install cuda-bindings==13.5.0 && python tests/peers/record.py >tests/peers/bindings-13.5.0.json

For each module that it has: functions as "a b=0 -> number of results", the status not counted, -1 where
it is not documented; the names of types, and methods that not all of them have; constants that are numbers;
of WITH_TYPES also the values of enums, the names of fields, the structs of which programs make arrays, and
the types of NumPy. The headers say the rest.
"""

from __future__ import annotations

import enum
import importlib
import importlib.util
import inspect
import json
import re
import sys
from typing import Any

MODULES = ("cudla", "cufile", "driver", "nvfatbin", "nvjitlink", "nvml", "nvrtc", "nvvm", "runtime")
FACES = ("cudla", "cufile", "nvfatbin", "nvjitlink", "nvml", "nvvm")  # functions return results alone
WITH_TYPES = ("cudla", "cufile", "nvml")  # enums and structs have names of their own
INTERNAL = ("_", "anon_", "cudaBindings")
OF_ALL_STRUCTS = {"from_buffer", "from_data", "from_ptr", "ptr"}
OF_ALL_CLASSES = {"getPtr"}
PROTOCOLS = {"__cuda_stream__"}


def parameters(function: Any) -> str:
    """The names of the parameters, those that may be left out with their defaults."""
    return " ".join(
        p.name if p.default is p.empty else f"{p.name}={p.default!r}"
        for p in inspect.signature(function).parameters.values()
    )


MISDESCRIBED = {"cuCoredumpGetAttribute": 1, "cuCoredumpGetAttributeGlobal": 1}
"""Functions that return another number of values than their documentation says: their code decides."""


def results(function: Any) -> int:
    """How many values the documented return tuple has after the status."""
    if function.__name__ in MISDESCRIBED:
        return MISDESCRIBED[function.__name__]
    found = re.search(r"Returns\n-------\n(.*?)(\n\n[A-Z]|$)", inspect.getdoc(function) or "", re.DOTALL)
    return len(re.findall(r"^\S", found[1], re.MULTILINE)) - 1 if found else 0


def results_alone(function: Any) -> int:
    """How many values a function returns that begins its documentation with `name(...) -> type`."""
    text = inspect.getdoc(function) or ""
    returns = re.match(r"\w+\(.*?\)(?: -> ([\w ]+))?(?:\n|$)", text)[1]  # type: ignore[index]
    if returns == "tuple":
        count = re.search(r"A (\d+)-tuple", text)
        return int(count[1]) if count else -1
    if returns == "void":
        return 0
    if not returns and function.__module__.endswith(WITH_TYPES):
        return -1  # nothing, or a struct
    return 1 if returns else 0


def module(name: str) -> dict[str, Any]:
    peer = importlib.import_module(f"cuda.bindings.{name}")
    functions, types = {}, []
    enums, fields, methods, arrays, constants, dtypes = {}, {}, {}, [], [], []
    for key, value in sorted(vars(peer).items()):
        if isinstance(value, int) and not key.startswith(INTERNAL) and not isinstance(value, enum.Enum):
            constants.append(f"{key}={value}")
        elif key.endswith("_dtype") and not key.startswith(INTERNAL):
            dtypes.append(key)
        if key.startswith(INTERNAL) or getattr(value, "__module__", "") != peer.__name__:
            continue
        if isinstance(value, type):
            types.append(key)
            if name in WITH_TYPES and hasattr(value, "__members__"):
                enums[key] = " ".join(f"{m}={int(v)}" for m, v in value.__members__.items())
            elif not issubclass(value, (Exception, int)):
                names = {field for field in dir(value) if not field.startswith("_") or field in PROTOCOLS}
                if name in WITH_TYPES:
                    fields[key] = " ".join(sorted(names - OF_ALL_STRUCTS))
                elif own := [n for n in names - OF_ALL_CLASSES if callable(getattr(value, n))]:
                    methods[key] = " ".join(sorted(own))
                if (value.__doc__ or "").startswith(f"{key}(size=1)"):
                    arrays.append(key)
        elif callable(value) and key != "sizeof":
            count = results_alone(value) if name in FACES else results(value)
            functions[key] = f"{parameters(value)} -> {count}"
    found = {"functions": functions, "types": " ".join(types), "constants": " ".join(constants)}
    if methods:
        found["methods"] = methods
    if enums:
        found.update(enums=enums, fields=fields, arrays=" ".join(arrays), dtypes=" ".join(dtypes))
    return found


if __name__ == "__main__":
    there = [name for name in MODULES if importlib.util.find_spec(f"cuda.bindings.{name}")]
    json.dump({name: module(name) for name in there}, sys.stdout, indent=0)
