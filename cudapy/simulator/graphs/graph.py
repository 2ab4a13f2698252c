"""Graphs: nodes and edges, clones, what they keep alive."""

from __future__ import annotations

import os
from typing import Any

from ..._types.driver.enums import CUgraphInstantiateResult as Instantiated
from ..._types.driver.enums import CUgraphNodeType as Type
from ..._types.driver.structs import CUgraphEdgeData
from ..addresses import Pointer
from ..devices.context import owner
from ..handles import Object, find
from ..library import provides
from ..refused import Refused, invalid, unsupported
from ..streams.faults import go_on
from ..streams.operations import Operation
from ..streams.order import nodes_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .conditional import Conditional
    from .user_object import UserObject


PLAIN_EDGE = bytes(8)


class Impossible(Refused):
    """A graph that cannot be instantiated, and the reason as a CUgraphInstantiateResult."""

    def __init__(self, result: Instantiated, reason: str) -> None:
        super().__init__("CUDA_ERROR_INVALID_VALUE", reason)
        self.result = result


class Node(Object):
    """A node: an operation, and the nodes that it follows, each with the bytes of a CUgraphEdgeData."""

    noun = "graph node"

    def __init__(self, graph: Graph, operation: Operation, after: dict[Node, bytes] | None = None) -> None:
        super().__init__()
        self.graph = graph
        self.operation = operation
        self.after = dict(after or {})
        graph.nodes.append(self)

    @property
    def before(self) -> list[Node]:
        """The nodes that follow it."""
        return [node for node in self.graph.nodes if self in node.after]


class Graph(Object):
    """A graph; `origin` maps the nodes of the graph that it was cloned from to its own."""

    noun = "graph"

    def __init__(self, outer: Graph | None = None) -> None:
        super().__init__()
        self.outer = outer  # the graph with the conditional node of which this one is a body
        self.context = owner()
        self.nodes: list[Node] = []
        self.origin: dict[Node, Node] = {}
        self.kept: dict[UserObject, int] = {}
        self.conditionals: list[Conditional] = []

    @property
    def allocates(self) -> bool:
        """Whether it has nodes that allocate memory or free it: then none of its nodes and edges goes."""
        return any(node.operation.type in _OF_MEMORY for node in self.nodes)

    def ordered(self) -> list[Node]:
        """The nodes, each behind those that it follows. Raises Refused for a cycle."""
        left = {node: set(node.after) for node in self.nodes}
        order: list[Node] = []
        while left:
            ready = [node for node, after in left.items() if not after]
            if not ready:
                raise Impossible(
                    Instantiated.CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE, "the graph has a cycle"
                )
            for node in ready:
                del left[node]
            for after in left.values():
                after.difference_update(ready)
            order += ready
        return order

    def clone(self) -> Graph:
        """The same, with nodes of its own."""
        clone = Graph()
        for node in self.nodes:
            clone.origin[node] = Node(clone, node.operation.clone())
        for node, twin in clone.origin.items():
            twin.after = {clone.origin[other]: data for other, data in node.after.items()}
        for obj, count in self.kept.items():
            obj.retain(count)
            clone.kept[obj] = count
        return clone

    def forget(self) -> None:
        super().forget()
        for node in self.nodes:
            node.forget()
            node.operation.forget()
        for value in self.conditionals:
            value.forget()
        for obj, count in self.kept.items():
            obj.release(count)
        self.kept = {}


class ChildGraph(Operation):
    """A graph as a node of another."""

    type = Type.CU_GRAPH_NODE_TYPE_GRAPH
    soon = False

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def clone(self) -> Operation:
        return ChildGraph(self.graph.clone())

    def forget(self) -> None:
        self.graph.forget()

    def run(self) -> None:
        running = nodes_of({node: list(node.after) for node in self.graph.nodes})
        for node in self.graph.ordered():
            go_on("a graph")
            with running(node):
                node.operation.run()


def graph(handle: int) -> Graph:
    """The graph with this handle. Raises Refused."""
    return find(handle, Graph, "CUDA_ERROR_INVALID_VALUE")


_OF_MEMORY = {Type.CU_GRAPH_NODE_TYPE_MEM_ALLOC, Type.CU_GRAPH_NODE_TYPE_MEM_FREE}
_ALONE = {*_OF_MEMORY, Type.CU_GRAPH_NODE_TYPE_CONDITIONAL}


def copy_of(handle: int) -> Graph:
    """A clone of the graph with this handle. Raises Refused for one with nodes that cannot be cloned."""
    of = graph(handle)
    if any(node.operation.type in _ALONE for node in of.nodes):
        raise invalid("a graph that allocates, frees or has conditions can be neither cloned nor a child")
    return of.clone()


def node(handle: int) -> Node:
    """The node with this handle. Raises Refused."""
    return find(handle, Node, "CUDA_ERROR_INVALID_VALUE")


def list_of(nodes: Any, data: Any, count: int, of: Graph) -> dict[Node, bytes]:
    """An array of nodes of a graph, each with the data of its edge. Raises Refused."""
    edges: dict[Node, bytes] = {}
    for i in range(count):
        one = node(nodes[i])
        if one.graph is not of:
            raise invalid("a dependency is a node of another graph")
        if one in edges:
            raise invalid("a dependency is named twice")
        edges[one] = bytes(data[i]) if data else PLAIN_EDGE
    return edges


# -- Graphs ------------------------------------------------------------------------------------------------


@provides("driver")
def cuGraphCreate(flags: int) -> int:
    if flags:
        raise invalid(f"flags must be 0, not {flags}")
    return Graph().handle


@provides("driver")
def cuGraphDestroy(hGraph: int) -> None:
    graph(hGraph).forget()


@provides("driver")
def cuGraphClone(originalGraph: int) -> int:
    return copy_of(originalGraph).handle


@provides("driver")
def cuGraphNodeFindInClone(hOriginalNode: int, hClonedGraph: int) -> int:
    twin = graph(hClonedGraph).origin.get(node(hOriginalNode))
    if twin is None:
        raise invalid("the graph is not a clone of the node's graph")
    return twin.handle


@provides("driver")
def cuGraphNodeGetType(hNode: int) -> int:
    return int(node(hNode).operation.type)


@provides("driver")
def cuGraphDestroyNode(hNode: int) -> None:
    gone = node(hNode)
    if gone.graph.allocates:
        raise unsupported("no node can be destroyed in a graph that allocates or frees memory")
    for other in gone.before:
        del other.after[gone]
    gone.graph.nodes.remove(gone)
    gone.forget()
    gone.operation.forget()


def _listed(nodes_listed: list[Node], nodes: Any, count: Any) -> None:
    """Write the handles of nodes to an array, as far as it goes; without one, tell their number."""
    if nodes:
        for i, one in enumerate(nodes_listed[: count[0]]):
            nodes[i] = one.handle
        for i in range(len(nodes_listed), count[0]):
            nodes[i] = 0
        count[0] = min(count[0], len(nodes_listed))
    else:
        count[0] = len(nodes_listed)


@provides("driver")
def cuGraphGetNodes(hGraph: int, nodes: Pointer, numNodes: Pointer) -> None:
    _listed(graph(hGraph).nodes, nodes, numNodes)


@provides("driver")
def cuGraphGetRootNodes(hGraph: int, rootNodes: Pointer, numRootNodes: Pointer) -> None:
    _listed([one for one in graph(hGraph).nodes if not one.after], rootNodes, numRootNodes)


def _data(all_data: list[bytes], data: Any, count: int) -> None:
    if data:
        for i, item in enumerate(all_data[:count]):
            data[i] = CUgraphEdgeData.from_buffer_copy(item)


@provides("driver")
def cuGraphGetEdges_v2(
    hGraph: int, from_: Pointer, to: Pointer, edgeData: Pointer | None, numEdges: Pointer
) -> None:
    edges = [(tail, head, data) for head in graph(hGraph).nodes for tail, data in head.after.items()]
    if not from_:
        numEdges[0] = len(edges)
        return
    numEdges[0] = min(numEdges[0], len(edges))
    for i, (tail, head, _) in enumerate(edges[: numEdges[0]]):
        from_[i], to[i] = tail.handle, head.handle
    _data([data for *_, data in edges], edgeData, numEdges[0])


@provides("driver")
def cuGraphGetEdges(hGraph: int, from_: Pointer, to: Pointer, numEdges: Pointer) -> None:
    cuGraphGetEdges_v2(hGraph, from_, to, None, numEdges)


@provides("driver")
def cuGraphNodeGetDependencies_v2(
    hNode: int, dependencies: Pointer, edgeData: Pointer | None, numDependencies: Pointer
) -> None:
    after = node(hNode).after
    _listed(list(after), dependencies, numDependencies)
    _data(list(after.values()), edgeData, numDependencies[0])


@provides("driver")
def cuGraphNodeGetDependencies(hNode: int, dependencies: Pointer, numDependencies: Pointer) -> None:
    cuGraphNodeGetDependencies_v2(hNode, dependencies, None, numDependencies)


@provides("driver")
def cuGraphNodeGetDependentNodes_v2(
    hNode: int, dependentNodes: Pointer, edgeData: Pointer | None, numDependentNodes: Pointer
) -> None:
    of = node(hNode)
    _listed(of.before, dependentNodes, numDependentNodes)
    _data([one.after[of] for one in of.before], edgeData, numDependentNodes[0])


@provides("driver")
def cuGraphNodeGetDependentNodes(hNode: int, dependentNodes: Pointer, numDependentNodes: Pointer) -> None:
    cuGraphNodeGetDependentNodes_v2(hNode, dependentNodes, None, numDependentNodes)


@provides("driver")
def cuGraphAddDependencies_v2(
    hGraph: int, from_: Pointer, to: Pointer, edgeData: Pointer | None, numDependencies: int
) -> None:
    of = graph(hGraph)
    edges = [(node(from_[i]), node(to[i]), i) for i in range(numDependencies)]
    for tail, head, _ in edges:
        if tail is head or tail.graph is not of or head.graph is not of:
            raise invalid("an edge joins two nodes of the graph")
        if tail in head.after:
            raise invalid("the edge is there already")
    for tail, head, i in edges:
        head.after[tail] = bytes(edgeData[i]) if edgeData else PLAIN_EDGE


@provides("driver")
def cuGraphAddDependencies(hGraph: int, from_: Pointer, to: Pointer, numDependencies: int) -> None:
    cuGraphAddDependencies_v2(hGraph, from_, to, None, numDependencies)


@provides("driver")
def cuGraphRemoveDependencies_v2(
    hGraph: int, from_: Pointer, to: Pointer, edgeData: Pointer | None, numDependencies: int
) -> None:
    of = graph(hGraph)
    if numDependencies and of.allocates:
        raise unsupported("no edge can be removed in a graph that allocates or frees memory")
    edges = [(node(from_[i]), node(to[i])) for i in range(numDependencies)]
    if any(tail not in head.after for tail, head in edges):
        raise invalid("the graph has no such edge")
    for tail, head in edges:
        del head.after[tail]


@provides("driver")
def cuGraphRemoveDependencies(hGraph: int, from_: Pointer, to: Pointer, numDependencies: int) -> None:
    cuGraphRemoveDependencies_v2(hGraph, from_, to, None, numDependencies)


@provides("driver")
def cuGraphDebugDotPrint(hGraph: int, path: bytes | None, flags: int) -> None:
    of = graph(hGraph)
    lines = ["digraph dot {"]
    for one in of.nodes:
        label = one.operation.type.name.removeprefix("CU_GRAPH_NODE_TYPE_")
        if flags:
            label = "\\n".join([label, *one.operation.details()])
        lines.append(f'  "{one.handle:#x}" [label="{label}"];')
    lines += [f'  "{tail.handle:#x}" -> "{head.handle:#x}";' for head in of.nodes for tail in head.after]
    try:
        with open(os.fsdecode(path or b""), "w") as file:
            file.write("\n".join([*lines, "}", ""]))
    except OSError as error:
        raise Refused("CUDA_ERROR_OPERATING_SYSTEM", str(error)) from None
