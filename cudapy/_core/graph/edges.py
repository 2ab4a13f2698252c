"""The edges of a node, as the set of nodes at their other ends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableSet
from typing import TYPE_CHECKING, Any

from ..._ffi.shown import type_name
from ...driver import CUgraphNode, checked
from .node_factory import node_at

if TYPE_CHECKING:
    from .node import GraphNode


class AdjacencySet(MutableSet["GraphNode"]):
    """The predecessors or the successors of a node. NodeFactory and discarding nodes adds and removes edges.

    Source: cuGraphNodeGetDependencies, cuGraphNodeGetDependentNodes, cuGraphAddDependencies,
    cuGraphRemoveDependencies.
    """

    __slots__ = ("_forward", "_node")

    def __init__(self, node: GraphNode, forward: bool) -> None:
        self._node = node
        self._forward = forward

    @classmethod
    def _from_iterable(cls, iterable: Iterable[Any]) -> Any:  # the result of `a | b` and the like
        return set(iterable)

    def _handles(self) -> list[CUgraphNode]:
        if not self._node.is_valid:
            return []
        handle = self._node._handle
        ask = checked.cuGraphNodeGetDependentNodes if self._forward else checked.cuGraphNodeGetDependencies
        count = ask(handle)[2]
        handles: list[CUgraphNode] = ask(handle, count)[0] if count else []
        return handles

    def _change(self, function: Any, nodes: list[GraphNode]) -> None:
        here, there = [self._node._checked()] * len(nodes), [node._checked() for node in nodes]
        tails, heads = (here, there) if self._forward else (there, here)
        if nodes:
            function(self._node._graph, tails, heads, len(nodes))

    def __contains__(self, node: object) -> bool:
        from .node import GraphNode

        return isinstance(node, GraphNode) and node in set(self)

    def __iter__(self) -> Iterator[GraphNode]:
        node = self._node
        return iter([node_at(node._hierarchy, node._graph, handle) for handle in self._handles()])

    def __len__(self) -> int:
        return len(self._handles())

    def add(self, value: GraphNode) -> None:
        """Add an edge, unless there is one."""
        self.update([value])

    def discard(self, value: GraphNode) -> None:
        """Remove the edge, if there is one."""
        if value in self:
            self._change(checked.cuGraphRemoveDependencies, [value])

    def clear(self) -> None:
        """Remove all edges."""
        self._change(checked.cuGraphRemoveDependencies, list(self))

    def update(self, *others: Iterable[GraphNode] | GraphNode) -> None:
        """Add edges, those that are not there yet."""
        from .node import GraphNode

        wanted = [n for other in others for n in ([other] if isinstance(other, GraphNode) else other)]
        for node in wanted:
            if not isinstance(node, GraphNode):
                raise TypeError(f"an edge leads to a GraphNode, not to {type_name(node)}")
            if node._hierarchy is not self._node._hierarchy or node._graph != self._node._graph:
                raise ValueError(f"{node!r} is a node of another graph")
        there = set(self)
        self._change(checked.cuGraphAddDependencies, [n for n in dict.fromkeys(wanted) if n not in there])

    def replace(self, nodes: Iterable[GraphNode]) -> None:
        """Have edges to `nodes` alone."""
        wanted = list(nodes)
        self.update(wanted)
        self._change(checked.cuGraphRemoveDependencies, [node for node in self if node not in wanted])

    def __repr__(self) -> str:
        return repr(set(self))
