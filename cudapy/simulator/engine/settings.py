"""What the simulator looks for while kernels run, and how it schedules them."""

import os
from dataclasses import dataclass, field
from typing import Any, TypeVar

from .classes import DEFAULT
from .schedule import Schedule

MACHINE_CODE = "CUDAPY_SIMULATOR_MACHINE_CODE"
WHEN = ("auto", "always", "never")
"""What that variable may be."""


def _machine_code() -> str:
    text = os.environ.get(MACHINE_CODE) or "auto"
    if text not in WHEN:
        raise ValueError(f"{MACHINE_CODE} is one of {', '.join(WHEN)}, not {text!r}")
    return text


T = TypeVar("T")


class Changeable:
    """Base of dataclasses whose objects are copied at each launch."""

    def changed(self: T, **values: Any) -> T:
        """A copy with other values, as `dataclasses.replace` makes one, in a fraction of the time."""
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__, **values)
        return copy


def processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass
class Settings(Changeable):
    """Those of a launch stay as they are while it runs."""

    seed: int | None = None
    """Varies the order in which groups of threads run; None: always the same order."""
    schedule: Schedule | None = None
    """Each warp runs alone, on the NumPy engine, in this order; between two accesses to memory others have
    their turn in modules that are loaded while it is set.
    """
    check_races: bool = False
    """Report accesses to shared memory by two threads, one of them a write, with no barrier between them."""
    check_uninitialized: bool = False
    """Report reads of memory that nobody wrote. Set it before the memory is allocated."""
    coverage: bool = False
    """Count how often each line and branch runs."""
    classes: frozenset[str] = DEFAULT
    """What the checks report, of `classes.CLASSES`."""
    timeout: float = 0.0
    """Seconds after which a launch fails; 0: never."""
    machine_code: str = field(default_factory=_machine_code)
    """Whether parts of functions run as machine code: "auto", once they have run for a while; "always";
    "never".
    """
    workers: int = field(default_factory=processors)
    """How many threads run a kernel's machine code at most."""
    batch: int = 32768
    """About how many threads run side by side."""


current = Settings()
"""Of launches that are given none."""
