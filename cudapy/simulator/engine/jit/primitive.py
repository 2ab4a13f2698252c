"""The functions that expressions of the instruction tables name, as machine code makes them.

Each has the name and the parameters of the function of `arithmetic/` that NumPy runs, or is that function. An
instruction that needs another one runs on NumPy; so does one whose primitive raises `Unsupported` for the
types it is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

PRIMITIVES: dict[str, Callable[..., Any]] = {}
"""By name, as expressions have it: "multiply_high", "np.minimum"."""


def share(*functions: Callable[..., Any]) -> None:
    """Registers functions of `arithmetic/` that mean the same over terms: of operators, `astype`, `view`."""
    PRIMITIVES.update({function.__name__: function for function in functions})


def primitive(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a function, by its own name or by others."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for name in names or (function.__name__,):
            PRIMITIVES[name] = function
        return function

    return register
