"""Parameters of kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ptx.types import Type
from .lanes import Unsupported

if TYPE_CHECKING:
    from ..compile.function import FunctionCompiler


def parameter(function: FunctionCompiler, name: str, offset: int, kind: Type) -> str | None:
    """The expression of a kernel's parameter; None if its parts are registers. Raises Unsupported."""
    if name in function.compiled.param_slots:
        return None
    sizes = {one.name: one.size for one in function.text.prototype.parameters}
    if name not in sizes or not 0 <= offset <= sizes[name] - kind.size or kind.size > 8:
        raise Unsupported
    return f"L.parameter({name!r}, {offset}, {kind.code})"
