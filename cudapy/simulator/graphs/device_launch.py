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

from ..._types.driver.enums import CUgraphInstantiateResult as Instantiated
from ..code.launching import KernelLaunch
from ..handles import find
from ..memory.allocations import blocks
from ..memory.copies import ARRAY, Copy
from ..memory.fills import Fill
from ..refused import Refused
from .graph import ChildGraph, Graph, Impossible

if TYPE_CHECKING:
    from collections.abc import Callable

    from .instance import Exec

TAIL, AT_ONCE, SIBLING = 1 << 56, 2 << 56, 3 << 56
"""cudaStreamGraphTailLaunch and so on: the streams that kernels launch graphs in."""
MOST = {TAIL: 255, AT_ONCE: 120, SIBLING: 120}
"""Tail launches of a graph that wait, and others during one launch of it."""
SUCCESS, INVALID_VALUE, LAUNCH_PENDING_COUNT_EXCEEDED = 0, 1, 69  # cudaError_t


class Environment:
    """Of a graph that runs, or, without a graph, of a launch by the host."""

    def __init__(self, of: Exec | None = None, parent: Environment | None = None) -> None:
        self.of = of
        self.parent = parent
        self.children: deque[Exec] = deque()
        self.tails: deque[Exec] = deque()
        self.launched = 0

    def run_children(self) -> None:
        """What was launched to run at once."""
        while self.children:
            _run(self.children.popleft(), None, self)


class _Here(threading.local):
    """What this thread runs."""

    environment = Environment()


_here = _Here()


def run_from_host(of: Exec, action: Callable[[], None]) -> None:
    """A launch by the host, with all that kernels launch meanwhile."""
    outermost = Environment()
    _run(of, action, outermost)
    outermost.run_children()


def run_children() -> None:
    """What the kernels of a node have launched to run at once."""
    _here.environment.run_children()


def _run(first: Exec, action: Callable[[], None] | None, parent: Environment) -> None:
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
    from .instance import Exec

    environment = _here.environment
    try:
        of = find(handle, Exec)
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


def check(of: Graph) -> None:
    """Raise Impossible for a graph that kernels cannot launch."""
    operations = [node.operation for node in of.nodes]
    if not any(isinstance(one, (KernelLaunch, Copy, Fill, ChildGraph)) for one in operations):
        raise Impossible(
            Instantiated.CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE,
            "a graph for launches by kernels has a kernel, copy or fill",
        )
    for one in operations:
        if isinstance(one, ChildGraph):
            check(one.graph)
        elif isinstance(one, KernelLaunch) and one.context is not of.context:
            raise Impossible(
                Instantiated.CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED,
                "nodes of a graph for launches by kernels are of one context",
            )
        elif isinstance(one, Copy) and not _is_on_device(one):  # driver 580 calls this so
            raise Impossible(
                Instantiated.CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED,
                "copies of a graph for launches by kernels are of device memory or page-locked memory",
            )
        elif not isinstance(one, (KernelLaunch, Fill, Copy)):
            raise Impossible(
                Instantiated.CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED,
                "a graph for launches by kernels has kernels, fills, copies and child graphs",
            )


def _is_on_device(copy: Copy) -> bool:
    return all(side.kind != ARRAY and blocks.find(side.start) is not None for side in (copy.dst, copy.src))
