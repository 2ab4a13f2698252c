"""Nodes of a graph: what all kinds have."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ...driver import CUgraph, CUgraphNode, CUgraphNodeType, checked
from .edges import AdjacencySet
from .hierarchy import GraphHierarchy, Record
from .node_factory import NodeFactory, kinds

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
        from .definition import GraphDefinition

        return GraphDefinition._of(self._hierarchy, self._graph)

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
