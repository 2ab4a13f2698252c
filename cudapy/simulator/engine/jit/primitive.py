"""The functions that expressions of the instruction tables name, as machine code makes them.

Each has the name and the parameters of the function of `arithmetic/` that NumPy runs, or is that function. An
instruction that needs another one runs on NumPy; so does one whose primitive raises `Unsupported` for the
types it is given.
"""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PRIMITIVES: dict[str, Callable[..., Any]] = {}
"""By name, as expressions have it: "multiply_high", "np.minimum"."""


_SHARED: dict[str, dict[str, Any]] = {}
"""The names that shared functions see, by the module that they are from."""


def share(*functions: Callable[..., Any]) -> tuple[Callable[..., Any], ...]:
    """Registers functions of `arithmetic/` whose text means the same over terms: operators, `astype`, `view`,
    and other functions, which are the primitives of their names here (see `bind`). Returns these.
    """
    shared = []
    for function in cast("tuple[FunctionType, ...]", functions):
        name, names = function.__name__, _SHARED.setdefault(function.__module__, dict(function.__globals__))
        PRIMITIVES[name] = names[name] = FunctionType(function.__code__, names, name, function.__defaults__)
        shared.append(PRIMITIVES[name])
    return tuple(shared)


def bind(scope: Mapping[str, Any]) -> None:
    """Have shared functions see what is in `scope` instead of what NumPy's have of these names."""
    for names in _SHARED.values():
        names.update((name, value) for name, value in scope.items() if name in names)


def primitive(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a function, by its own name or by others."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for name in names or (function.__name__,):
            PRIMITIVES[name] = function
        return function

    return register
