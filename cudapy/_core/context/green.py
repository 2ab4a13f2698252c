"""Which contexts are green ones of core's, and what keeps those.

The driver knows a context by a number. The number of a green context that a stream, an event, a buffer or
a graph keeps for later has the context's owner with it: the context is destroyed after the last of them.
"""

from typing import Any
from weakref import ref

green_contexts: dict[int, ref[Any]] = {}
"""The owner of each green context that core made and that is not destroyed, by the CUcontext's number.

Where most programs have none, hot paths ask `if green_contexts` before they ask for more.
"""


class GreenContextNumber(int):
    """The number of a green context, which keeps the context."""

    owner: Any


def add_green_context(context: int, owner: Any) -> None:
    """List a context until nothing refers to its owner."""

    def forget(reference: ref[Any]) -> None:
        if green_contexts.get(context) is reference:  # and no younger context has the number
            del green_contexts[context]

    green_contexts[context] = ref(owner, forget)


def green_number(context: int) -> int:
    """The number of a green context of core's, which keeps it; 0 for every other context."""
    owner = green_owner(context)
    if owner is None:
        return 0
    number = GreenContextNumber(context)
    number.owner = owner
    return number


def green_owner(context: int) -> Any:
    """What owns a green context of core's; None for every other context."""
    reference = green_contexts.get(context)
    return None if reference is None else reference()


def kept_number(context: int) -> int:
    """The number of a context, which keeps a green one of core's."""
    return (green_number(context) if green_contexts else 0) or context
