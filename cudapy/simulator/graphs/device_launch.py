"""Graphs that kernels launch.

What is launched to run at once runs when the node has ended whose kernel launched it; as a sibling, when the
node of the launching graph's parent has, or the graph that the host launched. Tail launches run once their
graph has ended, and what it launched to run at once.

Source: CUDA Programming Guide, "Device Graph Launch".
"""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING

from ..handles import Object, find
from ..refused import Refused

if TYPE_CHECKING:
    from collections.abc import Callable

TAIL, AT_ONCE, SIBLING = 1 << 56, 2 << 56, 3 << 56
"""cudaStreamGraphTailLaunch and so on: the streams that kernels launch graphs in."""
MOST = {TAIL: 255, AT_ONCE: 120, SIBLING: 120}
"""Tail launches of a graph that wait, and others during one launch of it."""
SUCCESS, INVALID_VALUE, LAUNCH_PENDING_COUNT_EXCEEDED = 0, 1, 69  # cudaError_t


class Launchable(Object):
    """An executable graph, as the kernels that launch it see it."""

    noun = "executable graph"

    def __init__(self, for_kernels: bool) -> None:
        super().__init__()
        self.for_kernels = for_kernels
        self.is_queued = self.is_running = False
        self.uploaded: Callable[[], None] | None = None  # what kernels launch


class Environment:
    """Of a graph that runs, or, without a graph, of a launch by the host."""

    def __init__(self, of: Launchable | None = None, parent: Environment | None = None) -> None:
        self.of = of
        self.parent = parent
        self.children: deque[Launchable] = deque()
        self.tails: deque[Launchable] = deque()
        self.launched = 0

    def run_children(self) -> None:
        """What was launched to run at once."""
        while self.children:
            _run(self.children.popleft(), None, self)


class _Here(threading.local):
    """What this thread runs."""

    environment = Environment()


_here = _Here()


def run_from_host(of: Launchable, action: Callable[[], None]) -> None:
    """A launch by the host, with all that kernels launch meanwhile."""
    outermost = Environment()
    _run(of, action, outermost)
    outermost.run_children()


def run_children() -> None:
    """What the kernels of a node have launched to run at once."""
    _here.environment.run_children()


def _run(first: Launchable, action: Callable[[], None] | None, parent: Environment) -> None:
    """A graph, and the tail launches that follow it."""
    line = deque([first])
    before = _here.environment
    while line:
        of = line.popleft()
        of.is_queued, of.is_running = False, True
        environment = _here.environment = Environment(of, parent)
        try:
            (action or of.uploaded)()  # type: ignore[misc]  # what is not uploaded is not launched
            environment.run_children()
        finally:
            _here.environment = before
            of.is_running = False
        action = None
        line.extendleft(reversed(environment.tails))


def current() -> int:
    """cudaGetCurrentGraphExec: the graph that runs here, if kernels may launch it."""
    of = _here.environment.of
    return of.handle if of is not None and of.for_kernels else 0


def launch(handle: int, stream: int) -> int:
    """cudaGraphLaunch in a kernel; a cudaError_t."""
    environment = _here.environment
    try:
        of = find(handle, Launchable)
    except Refused:
        return INVALID_VALUE
    again = of is environment.of and stream == TAIL
    if environment.parent is None or stream not in MOST or of.uploaded is None:
        return INVALID_VALUE
    if of.is_queued or (of.is_running and not again):
        return INVALID_VALUE
    where = environment.parent if stream == SIBLING else environment
    if (len(where.tails) if stream == TAIL else where.launched) == MOST[stream]:
        return LAUNCH_PENDING_COUNT_EXCEEDED
    where.launched += stream != TAIL
    (where.tails if stream == TAIL else where.children).append(of)
    of.is_queued = True
    return SUCCESS
