"""Conditions, by which a graph decides while it runs."""

from ..._bindings.errors import CUDAError
from ...driver import (
    CU_GRAPH_COND_ASSIGN_DEFAULT,
    CUcontext,
    CUgraph,
    CUgraphConditionalHandle,
    CUgraphConditionalNodeType,
    CUgraphNode,
    CUgraphNodeParams,
    CUgraphNodeType,
    CUresult,
    checked,
)
from ..context.current import owning
from ..options import Choice

IF = CUgraphConditionalNodeType.CU_GRAPH_COND_TYPE_IF
WHILE = CUgraphConditionalNodeType.CU_GRAPH_COND_TYPE_WHILE
SWITCH = CUgraphConditionalNodeType.CU_GRAPH_COND_TYPE_SWITCH


class GraphConditionalType(Choice):
    """What a conditional node does with its condition."""

    IF = "if"
    WHILE = "while"
    SWITCH = "switch"


class GraphCondition(CUgraphConditionalHandle):
    """A number that kernels of a graph set with `cudaGraphSetConditional`, and conditional nodes look at.

    A GraphCondition is passed to such a kernel as it is, for a parameter of type
    `cudaGraphConditionalHandle`. It belongs to one graph, and to one conditional node in it.
    """

    @property
    def handle(self) -> CUgraphConditionalHandle:
        """The CUgraphConditionalHandle."""
        return CUgraphConditionalHandle(self.value)

    def __repr__(self) -> str:
        return f"<GraphCondition {self.value:#x}>"


def create_condition(graph: CUgraph, context: int, default_value: int | None) -> GraphCondition:
    """A condition for a node of `graph`; at every launch it starts as `default_value`, if there is one.

    Source: cuGraphConditionalHandleCreate, CUDA 12.3.
    """
    flags = 0 if default_value is None else CU_GRAPH_COND_ASSIGN_DEFAULT
    handle = checked.cuGraphConditionalHandleCreate(graph, context, default_value or 0, flags)
    return GraphCondition(int(handle))


def conditional(
    condition: GraphCondition | CUgraphConditionalHandle | int,
    kind: CUgraphConditionalNodeType,
    count: int,
    context: int,
) -> CUgraphNodeParams:
    """The parameters of a conditional node with `count` bodies."""
    if kind == SWITCH or count > 1:
        needs_driver("if_else" if kind == IF else "switch", 12, 8)
    parameters = CUgraphNodeParams(type=CUgraphNodeType.CU_GRAPH_NODE_TYPE_CONDITIONAL)
    wanted = parameters.conditional
    wanted.handle = CUgraphConditionalHandle(int(condition))
    wanted.type = kind
    wanted.size = count
    wanted.ctx = CUcontext(context)
    return parameters


def add_conditional(
    cell: CUgraphNode,
    graph: CUgraph,
    before: list[CUgraphNode] | None,
    count: int,
    wanted: CUgraphNodeParams,
) -> None:
    """Add a conditional node, and write it to `cell`. Source: cuGraphAddNode."""
    owning.cuGraphAddNode_v2(cell, graph, before, None, count, wanted)


def bodies(parameters: CUgraphNodeParams) -> tuple[CUgraph, ...]:
    """The graphs inside a conditional node, once it was added."""
    return tuple(CUgraph(int(body)) for body in parameters.conditional.phGraph_out)


def needs_driver(what: str, major: int, minor: int) -> None:
    """Raise CUDAError on a driver of an older CUDA version."""
    version = checked.cuDriverGetVersion()
    if version < 1000 * major + 10 * minor:
        raise CUDAError(
            f"cuGraphAddNode: {what} needs a driver of CUDA {major}.{minor} or newer, and this one has CUDA "
            f"{version // 1000}.{version % 1000 // 10}",
            CUresult.CUDA_ERROR_NOT_SUPPORTED,
            "cuGraphAddNode",
        )
