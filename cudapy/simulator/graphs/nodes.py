"""The nodes of graphs by their kinds: added, asked for their parameters, given new ones."""

import contextlib
import ctypes
from collections.abc import Iterator
from typing import Any

from ..._types.driver.enums import CUlaunchAttributeID as LaunchAttribute
from ..._types.driver.structs import (
    CUDA_BATCH_MEM_OP_NODE_PARAMS,
    CUDA_HOST_NODE_PARAMS,
    CUDA_KERNEL_NODE_PARAMS,
    CUDA_MEM_ALLOC_NODE_PARAMS,
    CUDA_MEMSET_NODE_PARAMS,
    CUDA_KERNEL_NODE_PARAMS_v1,
    CUlaunchAttributeValue,
    CUstreamBatchMemOpParams,
)
from ..addresses import Pointer, pointed
from ..code.launching import KernelLaunch
from ..devices.context import given
from ..handles import find
from ..library import provides
from ..memory.copies import Copy, boxed
from ..memory.fills import Fill
from ..memory.pool_memory import Alloc, Free
from ..refused import Refused, invalid
from ..streams.event import Event
from ..streams.operations import Empty, EventRecord, EventWait, HostCall, MemoryOperations, Operation, needed
from .conditional import Conditional
from .graph import ChildGraph, Node, copy_of, graph, list_of, node
from .instance import executable
from .memory import alloc_of
from .node_params import any_of, batch_of, fill_of, host_of, kernel_of


def added(hGraph: int, operation: Operation, dependencies: Any, count: int, data: Any = None) -> int:
    """A new node; its handle."""
    with unless_refused(operation):
        of = graph(hGraph)
        return Node(of, operation, list_of(dependencies, data, count, of)).handle


@contextlib.contextmanager
def unless_refused(operation: Operation) -> Iterator[None]:
    """Around what takes an operation: what it holds goes if nobody takes it."""
    try:
        if isinstance(operation, Copy):
            operation.check_access()
        yield
    except Refused:
        operation.forget()
        raise


def operation_of(hNode: int, cls: Any) -> Any:
    """The operation of a node, of this class. Raises Refused."""
    operation = node(hNode).operation
    if not isinstance(operation, cls):
        raise invalid(f"the node is not a {cls.__name__}")
    return operation


def put(hNode: int, operation: Operation) -> None:
    """New parameters for a node of a graph."""
    with unless_refused(operation):
        before = operation_of(hNode, type(operation))
        operation.inherit(before)
        node(hNode).operation = operation
    before.forget()


def put_exec(hGraphExec: int, hNode: int, operation: Operation) -> None:
    """New parameters for a node of an instance."""
    with unless_refused(operation):
        executable(hGraphExec).change(node(hNode), operation)


# -- Any node ----------------------------------------------------------------------------------------------


@provides("driver", "cuGraphAddNode_v2", "cuGraphAddNode_v3")
def cuGraphAddNode_v2(
    hGraph: int,
    dependencies: Pointer,
    dependencyData: Pointer | None,
    numDependencies: int,
    nodeParams: Pointer,
) -> int:
    params = needed(nodeParams, "nodeParams")
    operation = any_of(graph(hGraph), params)
    return added(hGraph, operation, dependencies, numDependencies, dependencyData)


@provides("driver")
def cuGraphAddNode(hGraph: int, dependencies: Pointer, numDependencies: int, nodeParams: Pointer) -> int:
    return cuGraphAddNode_v2(hGraph, dependencies, None, numDependencies, nodeParams)


@provides("driver", "cuGraphNodeSetParams", "cuGraphNodeSetParams_v2")
def cuGraphNodeSetParams(hNode: int, nodeParams: Pointer) -> None:
    put(hNode, any_of(node(hNode).graph, needed(nodeParams, "nodeParams")))


@provides("driver")
def cuGraphExecNodeSetParams(hGraphExec: int, hNode: int, nodeParams: Pointer) -> None:
    put_exec(hGraphExec, hNode, any_of(node(hNode).graph, needed(nodeParams, "nodeParams")))


# -- Kernels -----------------------------------------------------------------------------------------------


@provides("driver")
def cuGraphAddKernelNode_v2(
    hGraph: int, dependencies: Pointer, numDependencies: int, nodeParams: Pointer
) -> int:
    return added(hGraph, kernel_of(needed(nodeParams, "nodeParams")), dependencies, numDependencies)


@provides("driver")
def cuGraphKernelNodeGetParams_v2(hNode: int) -> Any:
    return operation_of(hNode, KernelLaunch).node_params()


@provides("driver")
def cuGraphKernelNodeSetParams_v2(hNode: int, nodeParams: Pointer) -> None:
    put(hNode, kernel_of(needed(nodeParams, "nodeParams")))


@provides("driver")
def cuGraphExecKernelNodeSetParams_v2(hGraphExec: int, hNode: int, nodeParams: Pointer) -> None:
    put_exec(hGraphExec, hNode, kernel_of(needed(nodeParams, "nodeParams")))


def _newer(params: Any) -> Any:
    """The parameters of a kernel as CUDA 12 has them, in an array of one, of those that CUDA 11 has."""
    newer = CUDA_KERNEL_NODE_PARAMS()
    ctypes.memmove(newer.getPtr(), params, ctypes.sizeof(CUDA_KERNEL_NODE_PARAMS_v1))
    return [newer]


@provides(
    "driver",
    prototype="CUresult cuGraphAddKernelNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode "
    "*dependencies, size_t numDependencies, const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)",
)
def cuGraphAddKernelNode(
    hGraph: int, dependencies: Pointer, numDependencies: int, nodeParams: Pointer
) -> int:
    needed(nodeParams, "nodeParams")
    return cuGraphAddKernelNode_v2(hGraph, dependencies, numDependencies, _newer(nodeParams))


@provides(
    "driver",
    prototype="CUresult cuGraphKernelNodeGetParams(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS_v1 "
    "*nodeParams)",
)
def cuGraphKernelNodeGetParams(hNode: int, nodeParams: Pointer) -> None:
    needed(nodeParams, "nodeParams")
    params = cuGraphKernelNodeGetParams_v2(hNode)
    ctypes.memmove(pointed(nodeParams), params.getPtr(), ctypes.sizeof(CUDA_KERNEL_NODE_PARAMS_v1))


@provides(
    "driver",
    prototype="CUresult cuGraphKernelNodeSetParams(CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS_v1 "
    "*nodeParams)",
)
def cuGraphKernelNodeSetParams(hNode: int, nodeParams: Pointer) -> None:
    needed(nodeParams, "nodeParams")
    cuGraphKernelNodeSetParams_v2(hNode, _newer(nodeParams))


@provides(
    "driver",
    prototype="CUresult cuGraphExecKernelNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, const "
    "CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)",
)
def cuGraphExecKernelNodeSetParams(hGraphExec: int, hNode: int, nodeParams: Pointer) -> None:
    needed(nodeParams, "nodeParams")
    cuGraphExecKernelNodeSetParams_v2(hGraphExec, hNode, _newer(nodeParams))


@provides("driver")
def cuGraphKernelNodeCopyAttributes(dst: int, src: int) -> None:
    operation_of(dst, KernelLaunch).inherit(operation_of(src, KernelLaunch))


@provides("driver")
def cuGraphKernelNodeGetAttribute(hNode: int, attr: int) -> Any:
    attributes = operation_of(hNode, KernelLaunch).attributes
    return attributes.get(LaunchAttribute(attr)) or CUlaunchAttributeValue()


@provides("driver")
def cuGraphKernelNodeSetAttribute(hNode: int, attr: int, value: Pointer) -> None:
    operation = operation_of(hNode, KernelLaunch)
    operation.put(LaunchAttribute(attr), CUlaunchAttributeValue.from_buffer_copy(needed(value, "value")))


# -- Copies and fills --------------------------------------------------------------------------------------


@provides("driver")
def cuGraphAddMemcpyNode(
    hGraph: int, dependencies: Pointer, numDependencies: int, copyParams: Pointer, ctx: int
) -> int:
    given(ctx)
    return added(hGraph, boxed(needed(copyParams, "copyParams")), dependencies, numDependencies)


@provides("driver")
def cuGraphMemcpyNodeGetParams(hNode: int) -> Any:
    return operation_of(hNode, Copy).params()


@provides("driver")
def cuGraphMemcpyNodeSetParams(hNode: int, nodeParams: Pointer) -> None:
    put(hNode, boxed(needed(nodeParams, "nodeParams")))


@provides("driver")
def cuGraphExecMemcpyNodeSetParams(hGraphExec: int, hNode: int, copyParams: Pointer, ctx: int) -> None:
    given(ctx)
    put_exec(hGraphExec, hNode, boxed(needed(copyParams, "copyParams")))


@provides("driver")
def cuGraphAddMemsetNode(
    hGraph: int, dependencies: Pointer, numDependencies: int, memsetParams: Pointer, ctx: int
) -> int:
    given(ctx)
    return added(hGraph, fill_of(needed(memsetParams, "memsetParams")), dependencies, numDependencies)


@provides("driver")
def cuGraphMemsetNodeGetParams(hNode: int) -> CUDA_MEMSET_NODE_PARAMS:
    fill = operation_of(hNode, Fill)
    return CUDA_MEMSET_NODE_PARAMS(
        dst=fill.dst,
        pitch=fill.pitch,
        value=fill.value,
        elementSize=fill.element_size,
        width=fill.width,
        height=fill.height,
    )


@provides("driver")
def cuGraphMemsetNodeSetParams(hNode: int, nodeParams: Pointer) -> None:
    put(hNode, fill_of(needed(nodeParams, "nodeParams")))


@provides("driver")
def cuGraphExecMemsetNodeSetParams(hGraphExec: int, hNode: int, memsetParams: Pointer, ctx: int) -> None:
    given(ctx)
    put_exec(hGraphExec, hNode, fill_of(needed(memsetParams, "memsetParams")))


# -- Host functions ----------------------------------------------------------------------------------------


@provides("driver")
def cuGraphAddHostNode(hGraph: int, dependencies: Pointer, numDependencies: int, nodeParams: Pointer) -> int:
    return added(hGraph, host_of(needed(nodeParams, "nodeParams")), dependencies, numDependencies)


@provides("driver")
def cuGraphHostNodeGetParams(hNode: int) -> CUDA_HOST_NODE_PARAMS:
    call = operation_of(hNode, HostCall)
    return CUDA_HOST_NODE_PARAMS(fn=call.function, userData=call.data)


@provides("driver")
def cuGraphHostNodeSetParams(hNode: int, nodeParams: Pointer) -> None:
    put(hNode, host_of(needed(nodeParams, "nodeParams")))


@provides("driver")
def cuGraphExecHostNodeSetParams(hGraphExec: int, hNode: int, nodeParams: Pointer) -> None:
    put_exec(hGraphExec, hNode, host_of(needed(nodeParams, "nodeParams")))


# -- Graphs in graphs, and nothing -------------------------------------------------------------------------


@provides("driver")
def cuGraphAddEmptyNode(hGraph: int, dependencies: Pointer, numDependencies: int) -> int:
    return added(hGraph, Empty(), dependencies, numDependencies)


@provides("driver")
def cuGraphAddChildGraphNode(
    hGraph: int, dependencies: Pointer, numDependencies: int, childGraph: int
) -> int:
    return added(hGraph, ChildGraph(copy_of(childGraph)), dependencies, numDependencies)


@provides("driver")
def cuGraphChildGraphNodeGetGraph(hNode: int) -> int:
    return int(operation_of(hNode, ChildGraph).graph.handle)


@provides("driver")
def cuGraphExecChildGraphNodeSetParams(hGraphExec: int, hNode: int, childGraph: int) -> None:
    put_exec(hGraphExec, hNode, ChildGraph(copy_of(childGraph)))


@provides("driver")
def cuGraphConditionalHandleCreate(hGraph: int, ctx: int, defaultLaunchValue: int, flags: int) -> int:
    given(ctx)
    if flags not in (0, 1):
        raise invalid("flags must be 0 or CU_GRAPH_COND_ASSIGN_DEFAULT")
    return Conditional(graph(hGraph), defaultLaunchValue, flags).handle


# -- Events ------------------------------------------------------------------------------------------------


@provides("driver")
def cuGraphAddEventRecordNode(hGraph: int, dependencies: Pointer, numDependencies: int, event: int) -> int:
    return added(hGraph, EventRecord(find(event, Event)), dependencies, numDependencies)


@provides("driver")
def cuGraphEventRecordNodeGetEvent(hNode: int) -> int:
    return int(operation_of(hNode, EventRecord).event.handle)


@provides("driver")
def cuGraphEventRecordNodeSetEvent(hNode: int, event: int) -> None:
    put(hNode, EventRecord(find(event, Event)))


@provides("driver")
def cuGraphExecEventRecordNodeSetEvent(hGraphExec: int, hNode: int, event: int) -> None:
    put_exec(hGraphExec, hNode, EventRecord(find(event, Event)))


@provides("driver")
def cuGraphAddEventWaitNode(hGraph: int, dependencies: Pointer, numDependencies: int, event: int) -> int:
    return added(hGraph, EventWait(find(event, Event)), dependencies, numDependencies)


@provides("driver")
def cuGraphEventWaitNodeGetEvent(hNode: int) -> int:
    return int(operation_of(hNode, EventWait).event.handle)


@provides("driver")
def cuGraphEventWaitNodeSetEvent(hNode: int, event: int) -> None:
    put(hNode, EventWait(find(event, Event)))


@provides("driver")
def cuGraphExecEventWaitNodeSetEvent(hGraphExec: int, hNode: int, event: int) -> None:
    put_exec(hGraphExec, hNode, EventWait(find(event, Event)))


# -- Words of memory ---------------------------------------------------------------------------------------


@provides("driver")
def cuGraphAddBatchMemOpNode(
    hGraph: int, dependencies: Pointer, numDependencies: int, nodeParams: Pointer
) -> int:
    return added(hGraph, batch_of(needed(nodeParams, "nodeParams")), dependencies, numDependencies)


@provides("driver")
def cuGraphBatchMemOpNodeGetParams(hNode: int) -> CUDA_BATCH_MEM_OP_NODE_PARAMS:
    operation = operation_of(hNode, MemoryOperations)
    operation.array = (CUstreamBatchMemOpParams * len(operation.items))(*operation.items)
    params = CUDA_BATCH_MEM_OP_NODE_PARAMS(ctx=operation.context.handle, count=len(operation.items))
    address = ctypes.addressof(params) + type(params).paramArray.raw.offset  # type: ignore[attr-defined]
    ctypes.c_void_p.from_address(address).value = ctypes.addressof(operation.array)
    return params


@provides("driver")
def cuGraphBatchMemOpNodeSetParams(hNode: int, nodeParams: Pointer) -> None:
    put(hNode, batch_of(needed(nodeParams, "nodeParams")))


@provides("driver")
def cuGraphExecBatchMemOpNodeSetParams(hGraphExec: int, hNode: int, nodeParams: Pointer) -> None:
    put_exec(hGraphExec, hNode, batch_of(needed(nodeParams, "nodeParams")))


# -- Memory of graphs --------------------------------------------------------------------------------------


@provides("driver")
def cuGraphAddMemAllocNode(
    hGraph: int, dependencies: Pointer, numDependencies: int, nodeParams: Pointer
) -> int:
    return added(
        hGraph, alloc_of(graph(hGraph), needed(nodeParams, "nodeParams")), dependencies, numDependencies
    )


@provides("driver")
def cuGraphMemAllocNodeGetParams(hNode: int) -> CUDA_MEM_ALLOC_NODE_PARAMS:
    alloc = operation_of(hNode, Alloc)
    params = CUDA_MEM_ALLOC_NODE_PARAMS(bytesize=alloc.size, dptr=alloc.storage.address)
    if alloc.props is not None:
        params.poolProps = alloc.props
    return params


@provides("driver")
def cuGraphAddMemFreeNode(hGraph: int, dependencies: Pointer, numDependencies: int, dptr: int) -> int:
    return added(hGraph, Free(dptr), dependencies, numDependencies)


@provides("driver")
def cuGraphMemFreeNodeGetParams(hNode: int) -> int:
    return int(operation_of(hNode, Free).address)
