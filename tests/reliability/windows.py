"""CUDA's headers as a compiler for Windows sees them, by libclang, and cudapy as it is laid out there.

Windows on x86-64 differs from Linux in one thing that matters here: `long` has 4 bytes. libclang judges the
headers for the target x86_64-pc-windows-msvc; cudapy is imported once more, with a ctypes whose `c_long` is
as there.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.headers.check_declarations import APIS, STAND_INS, files, folders_of
from tests.headers.wheels import RELEASES
from tests.stub import vendored

NEWEST = RELEASES[-1]
TARGET = ["--target=x86_64-pc-windows-msvc", "-nostdinc", "-D__CUDA_API_VERSION_INTERNAL"]
C_LIBRARY = {
    "stddef.h": "typedef unsigned long long size_t;",
    "stdint.h": "typedef signed char int8_t; typedef unsigned char uint8_t; typedef int int32_t;"
    "typedef unsigned int uint32_t; typedef long long int64_t; typedef unsigned long long uint64_t;"
    "typedef unsigned long long uintptr_t;",
    "stdlib.h": "#include <stddef.h>",
    "string.h": "",
    "limits.h": "",
    "windows.h": "",
}
"""What the headers need of Windows' own, which are not at hand."""


def cindex() -> Any:
    """The Python side of libclang."""
    return pytest.importorskip("clang.cindex", reason="libclang, of the extra `test`, is not installed")


@functools.cache
def cursors(name: str) -> dict[str, Any]:
    """What the headers of an API declare on Windows, by name: types, by tag and typedef, and functions."""
    clang = cindex()
    with tempfile.TemporaryDirectory() as folder:
        for path, text in {**STAND_INS, **C_LIBRARY}.items():
            (Path(folder) / path).parent.mkdir(exist_ok=True)
            (Path(folder) / path).write_text(text)
        lines = ["vdpau/vdpau.h", *map(str, files(name, NEWEST))]
        main = Path(folder) / "main.c"
        main.write_text("#include <stdint.h>\n" + "".join(f'#include "{line}"\n' for line in lines))
        arguments = [*TARGET, f"-I{folder}", *(f"-I{path}" for path in folders_of(name, NEWEST))]
        unit = clang.Index.create().parse(str(main), args=arguments)
        wrong = [str(note) for note in unit.diagnostics if note.severity >= clang.Diagnostic.Error]
        assert not wrong, wrong
        found = {cursor.spelling: cursor for cursor in unit.cursor.get_children()}
        return {**found, "": unit}  # which has to live as long


@functools.cache
def part(name: str) -> ModuleType:
    """A module of cudapy, with all of its names, as it would be on Windows: `part("driver")`."""
    real = ctypes.c_long, ctypes.c_ulong
    ctypes.c_long, ctypes.c_ulong = ctypes.c_int, ctypes.c_uint  # type: ignore[assignment, misc]
    try:
        made = importlib.import_module(f"{vendored('cudapy_windows').__name__}.{name}")
        dir(made)  # has the types made
    finally:
        ctypes.c_long, ctypes.c_ulong = real  # type: ignore[misc]
    return made


def module(name: str) -> ModuleType:
    """The module for an API."""
    return part(APIS[name].module.__name__.rpartition(".")[2])
