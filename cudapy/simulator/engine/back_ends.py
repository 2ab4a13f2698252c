"""Back ends: what runs parts of functions in the place of NumPy.

NumPy runs every block of every function. A back end names the instructions that it supports while a function
is compiled, and is asked before each block that it declared an entry whether it takes over there. So what
it lacks runs on NumPy, and nothing that compiles or schedules knows which back ends there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from .aliases import I64, Lanes
    from .compile.function import FunctionCompiler
    from .compile.graph import Block, Step
    from .run.batch import Batch
    from .run.frame import Frame

NUMPY = "numpy"


class BackEnd(Protocol):
    """One way to run blocks, such as machine code for a kind of processor."""

    @property
    def name(self) -> str: ...

    def is_available(self) -> bool:
        """Whether this machine can run it."""

    @property
    def checks(self) -> frozenset[str]:
        """The checks that it makes, of those in `checks`. A launch that wants others runs on NumPy alone."""

    def supports(self, step: Step, function: FunctionCompiler) -> bool:
        """Whether it can run an instruction."""

    def compiled(self, function: FunctionCompiler, blocks: list[Block]) -> Code:
        """Its code of a function. `is_fast` blocks are those of which it supports every instruction."""

    def runner(self, batch: Batch) -> Runner:
        """What runs the code for the threads of a batch."""


class Code(Protocol):
    """A back end's code of one function."""

    @property
    def entries(self) -> frozenset[int]:
        """The blocks from which on it may take over."""

    def runs_all(self, is_eager: bool) -> bool:
        """Whether next to nothing of the function runs on NumPy from now on."""

    def region(self, block: int, lanes: int, checks: frozenset[str], is_eager: bool) -> Hashable | None:
        """The region to run from a block on for so many lanes; None if NumPy is to run the block.

        checks: what it has to check, of what the back end can.
        is_eager: do not wait until the function has run for a while.
        """


class Runner(Protocol):
    """Runs regions for the threads of one batch."""

    def may_run_all(self) -> bool:
        """Whether all threads of the batch may run from the beginning of the kernel to their ends, with
        nobody to schedule them.
        """

    def run_all(self, frame: Frame, look: Callable[[int, Lanes], None]) -> I64 | None:
        """Run them so, from the frame of the kernel. Returns None if all have ended, or else the blocks that
        each is at. See `run`.
        """

    def run(
        self, region: Any, frame: Frame, lanes: Lanes, entry: int, look: Callable[[int, Lanes], None]
    ) -> tuple[I64 | int, bool, bool]:
        """Run lanes from a block on until they have left the region, or for a while. Returns the block that
        each or all are at, whether all have left it, and whether they did anything that others may wait for.

        look: to be called now and then, with the block at hand, so that others run. Raises Fault.
        """

    def end(self) -> None:
        """All threads of the batch have exited. It is not called where one failed."""


_registered: dict[str, BackEnd] = {}


def register(back_end: BackEnd) -> None:
    """Have modules that are loaded from now on use a back end, where this machine can run it."""
    _registered[back_end.name] = back_end


def unregister(name: str) -> None:
    """Have modules that are loaded from now on do without a back end. Raises KeyError."""
    del _registered[name]


def names() -> tuple[str, ...]:
    """The back ends that this machine can run, NumPy first."""
    return NUMPY, *(name for name, one in _registered.items() if one.is_available())


def chosen() -> BackEnd | None:
    """The one that modules are compiled for besides NumPy: the last registered that this machine can run."""
    return next((one for one in reversed(_registered.values()) if one.is_available()), None)
