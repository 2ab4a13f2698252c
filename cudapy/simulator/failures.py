"""Calls that fail because a test wants them to: who is asked before each call of a simulated library."""

from __future__ import annotations

from typing import Protocol


class Failing(Protocol):
    """What may have a call fail."""

    def before(self, symbol: str) -> None:
        """A function is called. Raises Refused if it is the one to fail."""


active: list[Failing] = []


def check(symbol: str) -> None:
    """Before each function of a simulated library. Raises Refused."""
    for each in tuple(active):
        each.before(symbol)
