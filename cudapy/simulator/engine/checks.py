"""What is checked while kernels run: each check by the name that back ends know it by.

NumPy makes all of them. Another back end says which ones it has, and runs a kernel if it has all that are
wanted. Each is asked for at one place: that of an access at every load, store and atomic, of which
`instructions.accesses` has the description.
"""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .settings import Settings

BOUNDS = "bounds"
"""Of an access: its addresses are multiples of its size, in memory that the thread may use. Always made."""
UNDEFINED = "undefined"
"""Of an access: somebody wrote the bytes that are read. `Settings.check_uninitialized`."""
RACES = "races"
"""Of an access: everything orders it with accesses of other threads. `Settings.check_races`."""
COVERAGE = "coverage"
"""Of a block and its branch: how many threads ran it, and went which way. `Settings.coverage`."""
ORDER = "order"
"""Of threads before they run: who is next is drawn, the same whenever a launch is made. `Settings.seed`."""


def wanted(settings: Settings) -> frozenset[str]:
    """The checks that a launch makes."""
    has_order = settings.seed is not None
    return _named(settings.check_uninitialized, settings.check_races, settings.coverage, has_order)


@functools.cache
def _named(*asked: bool) -> frozenset[str]:
    return frozenset({BOUNDS, *itertools.compress((UNDEFINED, RACES, COVERAGE, ORDER), asked)})
