"""What modules do when `simulator.reset()` replaces the devices by fresh ones.

Each module that knows of something on the devices forgets it, by a function that it has given to `forgotten`.
Handles and addresses are not given out again: what a program still has of before is refused with the reason
`BEFORE`, and never means something new.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    F = TypeVar("F", bound=Callable[[], object])

BEFORE = "belongs to the devices before simulator.reset()"
"""What there is to say of handles and memory of before."""

_functions: list[Callable[[], object]] = []


def forgotten(function: F) -> F:
    """Have `function()` called in a reset, when no work runs any more, in the order of the definitions."""
    _functions.append(function)
    return function


def forget() -> None:
    """Call these functions."""
    for function in _functions:
        function()
