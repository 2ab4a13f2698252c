"""Executable graphs that take the parameters of another graph."""

from __future__ import annotations

from ..._types.driver.enums import CUgraphExecUpdateResult as Updated
from ..._types.driver.structs import CUgraphExecUpdateResultInfo
from ..addresses import Pointer
from ..library import provides
from ..refused import Refused
from ..streams.operations import Operation, needed
from .conditional import Condition
from .graph import ChildGraph, Graph, Node, graph
from .instance import executable, with_bodies

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@provides("driver")
def cuGraphExecUpdate_v2(hGraphExec: int, hGraph: int, resultInfo: Pointer) -> None:
    of, new = executable(hGraphExec), graph(hGraph)
    told = needed(resultInfo, "resultInfo")
    try:
        check_update(of.after, of.operations, new)
    except CannotUpdate as refused:
        told.result = refused.result
        told.errorNode = refused.node.handle if refused.node else 0
        raise
    for one, before in zip(new.nodes, list(of.after), strict=True):
        of.replace(before, one.operation.clone())
    of.conditionals = [value for inside in with_bodies(new) for value in inside.conditionals]
    of.keep(new.kept)
    told.result = Updated.CU_GRAPH_EXEC_UPDATE_SUCCESS


@provides(
    "driver",
    prototype="CUresult cuGraphExecUpdate(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphNode "
    "*hErrorNode_out, CUgraphExecUpdateResult *updateResult_out)",
)
def cuGraphExecUpdate(
    hGraphExec: int, hGraph: int, hErrorNode_out: Pointer, updateResult_out: Pointer
) -> None:
    told = CUgraphExecUpdateResultInfo()
    try:
        cuGraphExecUpdate_v2(hGraphExec, hGraph, [told])
    finally:
        if hErrorNode_out:
            hErrorNode_out[0] = int(told.errorNode)
        if updateResult_out:
            updateResult_out[0] = int(told.result)


class CannotUpdate(Refused):
    """An executable graph that cannot become another graph: the reason, and the node of that graph."""

    def __init__(self, result: Updated, node: Node | None = None) -> None:
        super().__init__("CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE", result.name)
        self.result = result
        self.node = node


def check_update(
    after: Mapping[Node, Iterable[Node]], operations: Mapping[Node, Operation], new: Graph
) -> None:
    """Raise CannotUpdate unless `new` has the same nodes, in the same order, with the same edges.

    Conditional nodes have the same kind and number of bodies. Bodies and child graphs have the same nodes.
    """
    if len(after) != len(new.nodes):
        raise CannotUpdate(Updated.CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED)
    twin = dict(zip(new.nodes, after, strict=True))
    for one, before in twin.items():
        if [twin[other] for other in one.after] != list(after[before]):
            raise CannotUpdate(Updated.CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, one)
        operation, old = one.operation, operations[before]
        if operation.type != old.type:
            raise CannotUpdate(Updated.CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, one)
        if isinstance(operation, Condition) and isinstance(old, Condition):
            if (operation.kind, len(operation.bodies)) != (old.kind, len(old.bodies)):
                raise CannotUpdate(Updated.CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED, one)
            for body, old_body in zip(operation.bodies, old.bodies, strict=True):
                _check_inner(old_body, body)
        elif isinstance(operation, ChildGraph) and isinstance(old, ChildGraph):
            _check_inner(old.graph, operation.graph)


def _check_inner(old: Graph, new: Graph) -> None:
    check_update({node: node.after for node in old.nodes}, {node: node.operation for node in old.nodes}, new)
