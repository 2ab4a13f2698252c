"""What the first call of a declared function does: it finds the C function, and writes the Python one."""

from __future__ import annotations

import ctypes
import itertools
import os
import sys
from functools import cache
from typing import TYPE_CHECKING, Any

from . import lanes
from .codegen import shared
from .functions import HELPERS, Writer
from .lazy_types import find
from .scalars import SCALARS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .library import Declaration

_RETURNED = {**SCALARS, "void": None, "char*": ctypes.c_char_p}
FEW = 4
"""How many functions take less time to compile than those of `shapes` to import."""
_written = itertools.count()


def _known(owning: bool) -> Iterator[Any]:
    """The modules with functions that are compiled, if they are worth an import.

    Core calls `owning` functions, and with them others of `core_shapes`. Of all others few are written where
    there are lanes.
    """
    if (owning or _OF_CORE in sys.modules) and _is_compiled("core_shapes"):
        from . import core_shapes

        yield core_shapes
    if (next(_written) >= FEW or lanes.why_not()) and _is_compiled("shapes"):
        from . import shapes

        yield shapes


@cache
def _is_compiled(name: str) -> bool:
    """Whether a module beside this one need not be compiled by each process."""
    byte_code = __spec__.cached
    if byte_code is None:  # in a zip file
        return False
    folder, file = os.path.split(byte_code)
    return not sys.dont_write_bytecode or os.path.exists(os.path.join(folder, file.replace(_NAME, name, 1)))


_NAME = __name__.rpartition(".")[2]
_OF_CORE = f"{__package__}.core_shapes"


def write(declaration: Declaration, raising: bool, owning: bool) -> Any:
    """The function of a declaration, its C symbol found, its text where tracebacks look for it.

    Raises SymbolNotFound, or what loading the library raises.
    """
    scope, library = declaration.stub.__globals__, declaration.library
    found_by = declaration.found_by
    function = library.symbol(*found_by)  # without which there is nothing to write
    status = library.status
    kind = find(scope, status)
    by_value = issubclass(kind, ctypes.Structure)  # several statuses: C returns a new one each time
    if "_released" not in scope:  # all at once: another thread takes one of these names for all of them
        ok = {} if by_value else {f"_{status}_ok": kind(0), f"_{status}_only": (kind(0),)}
        scope.update({**HELPERS, **ok, "_failed": library.error, "_negative": library.negative})
    writer = Writer(declaration)
    returns = writer.prototype.returns
    if returns != status:
        function.restype = _RETURNED[returns] if returns in _RETURNED else find(scope, returns)
    elif by_value:
        function.restype = kind
    source = writer.owning(status) if owning else writer.source(status, raising, library.short, by_value)
    if writer.argtypes:
        function.argtypes = writer.argtypes
    library.bind(function, writer.c_name, scope, *found_by)
    filename = f"<cudapy {'owning ' if owning else 'checked ' if raising else ''}{found_by[0]}>"
    return shared(source, filename, scope, writer.names, _known(owning))
