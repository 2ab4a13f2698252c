"""What a forked child has to mend: locks that other threads of its parent held, and what is the parent's."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    F = TypeVar("F", bound=Callable[[], object])


def in_child(function: F) -> F:
    """Have `function()` called in each child process that is forked, before the fork returns there.

    Functions are called in the order in which they were given. There is nothing to call on Windows, which has
    no fork. Source: os.register_at_fork.
    """
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=function)
    return function
