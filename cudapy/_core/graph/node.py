"""Nodes of a graph: what all kinds have, and the edges between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableSet
from typing import TYPE_CHECKING, Any

from ..._ffi.shown import type_name
from ...driver import CUgraph, CUgraphNode, CUgraphNodeType, checked
from ..upward import upward
from .hierarchy import GraphHierarchy, Record
from .node_factory import NodeFactory, kinds, node_at

if TYPE_CHECKING:
    from .definition import GraphDefinition


class GraphNode(NodeFactory):
    """A step of a graph. Its methods, such as `launch` and `memcpy`, add nodes that follow it.

    A node is the same object wherever it comes from, as long as anybody has it: the methods that add nodes,
    `nodes`, `edges`, `pred` and `succ`.
    """

    __slots__ = ("_graph", "_handle", "_hierarchy", "_record")
    _graph: CUgraph
    _handle: CUgraphNode
    _record: Record
    _hierarchy: GraphHierarchy

    def __init__(self) -> None:
        raise TypeError(
            f"a {type(self).__name__} comes from the methods of a GraphDefinition or another node"
        )

    def __init_subclass__(cls, kind: str = "") -> None:
        """kind: that of the nodes which this class is for, without CU_GRAPH_NODE_TYPE_."""
        if kind:
            kinds[CUgraphNodeType[f"CU_GRAPH_NODE_TYPE_{kind}"]] = cls

    @classmethod
    def _for(cls, handle: CUgraphNode, record: Record) -> type[GraphNode]:
        """The class for a certain node of this kind."""
        return cls

    def _checked(self) -> CUgraphNode:
        """The handle, as long as the node is there."""
        if not self._record.is_alive:
            raise RuntimeError(f"this {type(self).__name__} was destroyed")
        return self._handle

    def _place(self) -> tuple[GraphHierarchy, CUgraph, list[CUgraphNode]]:
        return self._hierarchy, self._graph, [self._checked()]

    @property
    def type(self) -> CUgraphNodeType | None:
        """What kind of node it is; None once it was destroyed. Source: cuGraphNodeGetType."""
        return checked.cuGraphNodeGetType(self._handle) if self.is_valid else None

    @property
    def graph(self) -> GraphDefinition:
        """The graph that it is in."""
        return upward.graph_definition._of(self._hierarchy, self._graph)

    @property
    def handle(self) -> CUgraphNode | None:
        """The CUgraphNode; None once it was destroyed."""
        return self._handle if self.is_valid else None

    @property
    def is_valid(self) -> bool:
        """Whether it is still there: `destroy` was not called."""
        return self._record.is_alive

    def _inside(self) -> tuple[GraphDefinition, ...]:
        """The graphs inside it."""
        return ()

    def _contents(self) -> list[GraphNode]:
        """All nodes inside it, which go when it does."""
        nodes = [node for graph in self._inside() for node in graph.nodes()]
        return nodes + [inner for node in nodes for inner in node._contents()]

    def destroy(self) -> None:
        """Take the node and its edges out of the graph; again does nothing. Source: cuGraphDestroyNode."""
        if self._record.is_alive:
            lost = [self, *self._contents()]
            checked.cuGraphDestroyNode(self._handle)
            for node in lost:
                self._hierarchy.forget(node._handle)

    @property
    def pred(self) -> AdjacencySet:
        """The nodes that it follows: a set that can be changed, or replaced by another."""
        return AdjacencySet(self, forward=False)

    @pred.setter
    def pred(self, nodes: Iterable[GraphNode]) -> None:
        AdjacencySet(self, forward=False).replace(nodes)

    @property
    def succ(self) -> AdjacencySet:
        """The nodes that follow it: a set that can be changed, or replaced by another."""
        return AdjacencySet(self, forward=True)

    @succ.setter
    def succ(self, nodes: Iterable[GraphNode]) -> None:
        AdjacencySet(self, forward=True).replace(nodes)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GraphNode):
            return NotImplemented
        return self._handle == other._handle and self._record is other._record

    def __hash__(self) -> int:
        return hash(self._handle)

    def __repr__(self) -> str:
        state = "" if self._record.is_alive else ", destroyed"
        return f"<{type(self).__name__} {int(self._handle):#x}{state}>"


kinds[None] = GraphNode


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
