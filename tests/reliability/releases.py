"""Stubs of the driver of one CUDA release, made of its own headers: its symbols, its prototypes, its structs.

Where tests/stub makes the types of a stub from cudapy's classes, gcc takes them here from cuda.h as it was
then: what the stub writes to an output is what a driver of that release would.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from tests.headers.check_declarations import STAND_INS, files, folders_of, header
from tests.headers.wheels import RELEASES
from tests.stub import module
from tests.stub.build import build, declared, symbol_of

driver = module("driver")


def functions() -> dict[str, Any]:
    """The driver's functions by their newest symbol, but for those with types of VDPAU's headers."""
    return {symbol: f for symbol, f in declared(driver).items() if "VDPAU" not in symbol}


@functools.cache
def symbols(release: str) -> frozenset[str]:
    """What a driver of the release exports, by its headers."""
    found = header("driver", release)
    return frozenset({*found.functions, *found.legacy})


def first(symbol: str) -> str:
    """The first of the known releases whose headers have the symbol."""
    return next(release for release in RELEASES if symbol in symbols(release))


def called_as(function: Any, release: str) -> str:
    """The symbol that a declared function has in the release; "" if it has none."""
    declaration = function.__declaration__
    names = (symbol_of(declaration.prototype), declaration.before)
    return next((name for name in names if name in symbols(release)), "")


def includes(release: str, folder: Path) -> tuple[str, list[Path]]:
    """C that includes the release's headers, and where they are; `folder` gets what they include."""
    for name, text in STAND_INS.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    names = ["vdpau/vdpau.h", *map(str, files("driver", release))]
    lines = ["#define __CUDA_API_VERSION_INTERNAL", *(f'#include "{name}"' for name in names)]
    return "\n".join(lines), [folder, *folders_of("driver", release)]


def stub_of_release(release: str, path: Path) -> Path:
    """Compile a stub of the release's driver to `path`."""
    text, folders = includes(release, path.parent)
    names = {symbol: called_as(function, release) for symbol, function in functions().items()}
    only = {symbol for symbol, name in names.items() if name == symbol}
    renamed = {symbol: name for symbol, name in names.items() if name and name != symbol}
    return build(driver, path, only=only, names=renamed, types=text, folders=folders)
