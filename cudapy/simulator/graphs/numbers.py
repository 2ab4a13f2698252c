"""The numbers by which tools know graphs and their nodes: since CUDA 13.1."""

from ..handles import FIRST
from ..library import provides
from .graph import graph, node
from .instance import executable


def _number(handle: int) -> int:
    """A number in place of a handle: handles are FIRST and every sixteenth after it."""
    return (handle - FIRST) // 0x10


@provides("driver")
def cuGraphGetId(hGraph: int) -> int:
    return _number(graph(hGraph).handle)


@provides("driver")
def cuGraphExecGetId(hGraphExec: int) -> int:
    return _number(executable(hGraphExec).handle)


@provides("driver")
def cuGraphNodeGetContainingGraph(hNode: int) -> int:
    return node(hNode).graph.handle


@provides("driver")
def cuGraphNodeGetLocalId(hNode: int) -> int:
    return _number(node(hNode).handle)


@provides("driver")
def cuGraphNodeGetToolsId(hNode: int) -> int:
    return _number(node(hNode).handle)
