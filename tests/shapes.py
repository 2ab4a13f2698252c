"""Writes cudapy/_ffi/shapes.py, the functions that many declarations have in common, from the declarations:

python -m tests.shapes
"""

from __future__ import annotations

import ctypes
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import cudapy
from cudapy import driver, nvjitlink, nvrtc, runtime
from cudapy._ffi.codegen import shape_name
from cudapy._ffi.lazy_types import find

MODULES = (driver, runtime, nvrtc, nvjitlink)
PACKAGE = Path(cudapy.__file__).parent
PATH = PACKAGE / "_ffi" / "shapes.py"
OFTEN = 4
"""A shape that so many functions have is among those of the file."""

START = '''\
"""What many functions have in common, with neutral names, for Python to compile once and for all.

Each is the text of a declaration under a checksum of it: `codegen` looks here before it compiles. They are
the shapes that four functions or more have, and those of the functions that core or the samples call.
"""

# Written by `python -m tests.shapes`.
# mypy: ignore-errors
'''


def declared(module: ModuleType) -> Iterator[Any]:
    """The declarations of a module."""
    for function in [*vars(module).values()]:
        if declaration := getattr(function, "__declaration__", None):
            yield declaration


def texts(declaration: Any) -> dict[str, str]:
    """The text of a declaration by the face of its module."""
    library = declaration.library
    kind = find(declaration.stub.__globals__, library.status)
    by_value = issubclass(kind, ctypes.Structure)
    found = {
        face: declaration.writer().source(library.status, face == "checked", library.short, by_value)
        for face in ("driver", "checked")
    }
    inputs, outputs = declaration.inputs, declaration.writer().outputs
    if outputs == 1 or (not outputs and inputs):
        found["owning"] = declaration.writer().owning(library.status)
    return found


def called_by_core() -> set[tuple[str, str]]:
    """The functions that core calls: (face, name)."""
    sources = (path.read_text() for path in (PACKAGE / "_core").rglob("*.py"))
    return {call for source in sources for call in re.findall(r"\b(driver|checked|owning)\.(\w+)", source)}


def called_by_samples() -> set[str]:
    """The names in the samples, functions of the modules among them."""
    sources = (path.read_text() for path in (PACKAGE.parent / "samples").rglob("*.py"))
    return {name for source in sources for name in re.findall(r"\bcu\w+", source)}


def chosen() -> list[str]:
    """The texts that the file has."""
    often: Counter[str] = Counter()
    called: set[str] = set()
    by_core, by_samples = called_by_core(), called_by_samples()
    for module in MODULES:
        for declaration in declared(module):
            found = texts(declaration)
            often[found["driver"]] += 1
            name = declaration.stub.__name__.lstrip("_")
            called |= {text for face, text in found.items() if (face, name) in by_core}
            called |= {found["driver"]} if name in by_samples else set()
    return sorted({text for text, count in often.items() if count >= OFTEN} | called)


def written() -> str:
    """The text of the file."""
    return START + "".join(text.replace("def n0(", f"\n\ndef {shape_name(text)}(", 1) for text in chosen())


if __name__ == "__main__":
    PATH.write_text(written())
