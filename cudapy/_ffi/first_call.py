"""What the first call of a declared function does: it finds the C function, and writes the Python one."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from .codegen import function as generated
from .functions import HELPERS, Writer
from .lazy_types import find
from .scalars import SCALARS

if TYPE_CHECKING:
    from .library import Declaration

_RETURNED = {**SCALARS, "void": None, "char*": ctypes.c_char_p}


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
    return generated(writer.name, source, filename, scope)
