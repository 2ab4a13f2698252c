"""Devices that a process can replace by fresh ones, as a simulator's, and who has to forget the old ones.

Several copies of this package in a process share one driver, and so what is said here: it is kept in `sys`.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    F = TypeVar("F", bound=Callable[[], object])

_NAME = "_cudapy_resets"
RESTART = "restart the process"


class _Said:
    """What the copies tell each other. Older and newer ones read it, too: attributes keep their meaning.

    is_possible: whether the driver is a simulator. It looks for Ctrl-C in its waits by itself.
    functions: what is to be called when the devices are replaced.
    """

    def __init__(self) -> None:
        self.is_possible = False
        self.functions: list[Callable[[], object]] = []


resets: Any = vars(sys).setdefault(_NAME, _Said())


def in_reset(function: F) -> F:
    """Have `function()` called whenever the devices were replaced: nothing of the old ones is there any more.

    Functions are called in the order in which they were given.
    """
    resets.functions.append(function)
    return function


def advice() -> str:
    """What to do about a fault, after which the context is of no more use."""
    return f"call simulator.reset(), or {RESTART}" if resets.is_possible else RESTART
