"""Graphs that are put together node by node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...driver import CUgraph, CUgraphNode, checked
from ..context.context import primary
from ..context.current import current_context, initialise, owning
from ..options import accepted
from ..ownership.graph_references import GraphOwnership
from ..upward import upward
from .condition import GraphCondition, create_condition
from .executable import Graph
from .hierarchy import GraphHierarchy
from .node import GraphNode
from .node_factory import NodeFactory, node_at
from .options import Drawn, GraphCompleteOptions

if TYPE_CHECKING:
    from .nodes import EmptyNode


_AUTO_FREE = GraphCompleteOptions(auto_free_on_launch=True)


class GraphDefinition(NodeFactory, Drawn):
    """A graph to which nodes are added: `launch`, `memcpy` and the others of its methods start with nothing
    before them, those of the nodes that they return follow these.

    `GraphDefinition()` is a new one, in the current context. Others stand for the graphs inside a node
    (`node.child_graph`, `node.body`), or for what a GraphBuilder has recorded. Source: cuGraphCreate.
    """

    __slots__ = ("_graph", "_hierarchy", "_inside")
    _graph: CUgraph
    _inside: GraphNode | None
    _hierarchy: GraphHierarchy

    def __init__(self) -> None:
        initialise()
        context = current_context() or int(primary(0)._handle)
        cell = CUgraph()
        ownership = GraphOwnership(cell)
        owning.cuGraphCreate(cell, 0)
        self._hierarchy = GraphHierarchy(CUgraph(cell.value), context, ownership)
        self._graph, self._inside = self._hierarchy.root, None

    @classmethod
    def _of(
        cls, hierarchy: GraphHierarchy, graph: CUgraph, inside: GraphNode | None = None
    ) -> GraphDefinition:
        """The graph `graph` of `hierarchy`, which is inside a node, or the outermost."""
        self = cls.__new__(cls)
        self._hierarchy, self._graph, self._inside = hierarchy, graph, inside
        return self

    def _checked(self) -> CUgraph:
        if not self.is_valid:
            raise RuntimeError(
                "this GraphDefinition is gone, with the node or the capture that it was a part of"
            )
        return self._graph

    def _place(self) -> tuple[GraphHierarchy, CUgraph, list[CUgraphNode]]:
        return self._hierarchy, self._checked(), []

    def _drawn(self) -> CUgraph:
        return self._checked()

    @property
    def is_valid(self) -> bool:
        """False for a graph inside a node that was destroyed or has another graph now."""
        node = self._inside
        if node is None:
            return self._hierarchy.is_alive
        if not (node.is_valid and node.graph.is_valid):
            return False
        inside = node._record.branches or (checked.cuGraphChildGraphNodeGetGraph(node._handle),)
        return self._graph in inside

    @property
    def handle(self) -> CUgraph:
        """The CUgraph. It goes with the last GraphDefinition, node or builder that stands for it."""
        graph = self._checked()
        self._hierarchy.references.expose()
        return graph

    def nodes(self) -> set[GraphNode]:
        """All its nodes. Source: cuGraphGetNodes."""
        graph = self._checked()
        count = checked.cuGraphGetNodes(graph)[1]
        handles = checked.cuGraphGetNodes(graph, count)[0] if count else ()
        return {node_at(self._hierarchy, graph, node) for node in handles}

    def edges(self) -> set[tuple[GraphNode, GraphNode]]:
        """All its edges, from a node to one that follows it. Source: cuGraphGetEdges."""
        graph, nodes = self._checked(), {int(node._handle): node for node in self.nodes()}
        count = checked.cuGraphGetEdges(graph)[3]
        if not count:
            return set()
        tails, heads, _, _ = checked.cuGraphGetEdges(graph, count)
        return {(nodes[int(tail)], nodes[int(head)]) for tail, head in zip(tails, heads, strict=True)}

    def empty(self) -> EmptyNode:
        """Add a node that does nothing."""
        return self.join()

    def create_condition(self, default_value: int | None = None) -> GraphCondition:
        """A condition for one conditional node of this graph. Needs CUDA 12.3.

        default_value: what it is at the start of every launch; None: what it was before.
        Source: cuGraphConditionalHandleCreate.
        """
        return create_condition(self._checked(), self._current(), default_value)

    def instantiate(self, options: GraphCompleteOptions | Mapping[str, Any] | None = None) -> Graph:
        """Make it executable. Later changes of the definition leave the Graph as it is.

        Without options, what a launch allocated and did not free is freed before the next one.
        Raises CUDAError that says which node is to blame. Source: cuGraphInstantiateWithParams.
        """
        chosen = _AUTO_FREE if options is None else accepted(GraphCompleteOptions, options)
        return Graph._of(self._hierarchy, self._checked(), chosen)

    def complete(self, options: GraphCompleteOptions | Mapping[str, Any] | None = None) -> Graph:
        """The same as `instantiate`."""
        return self.instantiate(options)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GraphDefinition):
            return NotImplemented
        return self._hierarchy is other._hierarchy and self._graph == other._graph

    def __hash__(self) -> int:
        return hash(self._graph)

    def __repr__(self) -> str:
        return f"<GraphDefinition {int(self._graph):#x}{'' if self.is_valid else ', gone'}>"


upward.graph_definition = GraphDefinition
