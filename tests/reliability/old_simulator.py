"""The simulator as a driver of CUDA 12.0: what later releases added is not there. Import it before use."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from cudapy._ffi.prototypes import parse
from cudapy.simulator import library
from cudapy.simulator.devices import device

VERSION = 12000

newest = library.Table.__init__


def older(table: library.Table, name: str, module: ModuleType, *rest: Any, **named: Any) -> None:
    """A table of the functions that the version has, under the names that they have there."""
    newest(table, name, module, *rest, **named)
    for value in list(vars(module).values()):
        declaration = getattr(value, "__declaration__", None)
        if declaration is not None and declaration.before and library.number(declaration.since) > VERSION:
            prototype = parse(declaration.prototype)
            table._prototypes[declaration.before] = prototype
            if (function := library.provided[name].get(prototype.symbol)) is not None:
                library.provided[name][declaration.before] = function


library.VERSION = device.VERSION = VERSION
library.Table.__init__ = older  # type: ignore[method-assign]
