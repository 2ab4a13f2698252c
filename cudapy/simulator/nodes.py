"""The nodes of graphs by their kinds: added, asked for their parameters, given new ones."""

from __future__ import annotations

import ctypes
from typing import Any

from .._types.driver.enums import CUgraphMem_attribute
from .._types.driver.enums import CUgraphNodeType as Type
from .._types.driver.enums import CUlaunchAttributeID as LaunchAttribute
from .._types.driver.structs import (
    CUDA_BATCH_MEM_OP_NODE_PARAMS,
    CUDA_HOST_NODE_PARAMS,
    CUDA_MEM_ALLOC_NODE_PARAMS,
    CUDA_MEMSET_NODE_PARAMS,
    CUlaunchAttributeValue,
    CUmemPoolProps,
    CUstreamBatchMemOpParams,
)
from .context import given
from .copies import Copy, Fill, boxed
from .device import Device
from .event import Event
from .graph import ChildGraph, Condition, Conditional, Graph, Node, graph, list_of, node
from .handles import find
from .instance import executable
from .launching import KernelLaunch, pack
from .library import provides
from .log import Refused, invalid, unsupported
from .memory import Block, blocks
from .module import function
from .operations import Empty, EventRecord, EventWait, HostCall, MemoryOperations, Operation, needed
from .pool import Alloc, Free, Storage, graph_memory
from .stream import batch

# -- Parameters to operations, and back --------------------------------------------------------------------


def kernel_of(params: Any) -> KernelLaunch:
    context = given(int(params.ctx)) if not params.func and params.ctx else None
    kernel = function(int(params.func) or int(params.kern), context)
    return KernelLaunch(
        kernel,
        (params.gridDimX, params.gridDimY, params.gridDimZ),
        (params.blockDimX, params.blockDimY, params.blockDimZ),
        params.sharedMemBytes,
        pack(kernel, _pointers(params.kernelParams), _pointers(params.extra)),
    )


def _pointers(address: int) -> Any:
    return ctypes.cast(address, ctypes.POINTER(ctypes.c_void_p)) if address else None


def fill_of(params: Any) -> Fill:
    return Fill(int(params.dst), params.value, params.elementSize, params.width, params.height, params.pitch)


def host_of(params: Any) -> HostCall:
    return HostCall(int(params.fn), params.userData)


def batch_of(params: Any) -> MemoryOperations:
    context = given(int(params.ctx))
    items = params.paramArray
    made = MemoryOperations(context, batch(items, params.count))
    made.items = [CUstreamBatchMemOpParams.from_buffer_copy(item) for item in items]  # type: ignore[attr-defined]
    return made


class GraphMemory:
    """What the graphs of a device have allocated, and the most that it was."""

    def __init__(self) -> None:
        self.reserved = self.reserved_high = self.used_high = 0
        self.storages: dict[int, Storage] = {}

    def allocate(self, size: int, of: Graph) -> Storage:
        """Memory for a node: it has its address for good."""
        on = of.context.device
        if not size or size > on.total_memory - on.used_memory:
            raise Refused("CUDA_ERROR_OUT_OF_MEMORY" if size else "CUDA_ERROR_INVALID_VALUE", f"{size} bytes")
        storage = Storage(-(-size // 512) * 512)
        self.storages[storage.address] = graph_memory[storage.address] = storage
        self.reserved += storage.size
        self.reserved_high = max(self.reserved_high, self.reserved)
        blocks.add(Block(storage.address, size, "device", of.context, pool=GraphPool()))
        return storage

    def note(self) -> None:
        """Something was allocated: it may be more than ever."""
        self.used_high = max(self.used_high, self.used)

    @property
    def used(self) -> int:
        """Bytes that a launch has allocated and not freed."""
        from .memory import table

        return sum(s.size for s in self.storages.values() if table.find(s.address) is not None)


class GraphPool:
    """Stands for the pool of memory that a graph allocated: freed elsewhere, it waits for the next launch."""

    handle = 0

    def free(self, block: Block, on: Any) -> None:
        operation = Free(block.address)
        operation.announce()
        on.add(operation)


_memories: dict[int, GraphMemory] = {}


def memory_of(on: Device) -> GraphMemory:
    """The memory of graphs on a device."""
    return _memories.setdefault(on.ordinal, GraphMemory())


def alloc_of(of: Graph, params: Any) -> Alloc:
    storage = memory_of(of.context.device).allocate(params.bytesize, of)
    params.dptr = storage.address
    made = Alloc(storage, params.bytesize)
    made.props = CUmemPoolProps.from_buffer_copy(params.poolProps)
    return made


def condition_of(of: Graph, params: Any) -> Condition:
    value = find(int(params.handle), Conditional, "CUDA_ERROR_INVALID_VALUE")
    kind, count = int(params.type), params.size
    if kind not in (0, 1, 2) or not 1 <= count <= {0: 2, 1: 1}.get(kind, 2**31):
        raise invalid(f"{count} bodies for a conditional node of type {kind}")
    made = Condition(value, kind, [Graph() for _ in range(count)])
    address = ctypes.addressof(params) + type(params).phGraph_out.raw.offset
    ctypes.c_void_p.from_address(address).value = ctypes.addressof(made.handles)
    return made


def any_of(of: Graph, params: Any) -> Operation:
    """The operation that a CUgraphNodeParams describes."""
    kind = Type(int(params.type))
    if kind == Type.CU_GRAPH_NODE_TYPE_KERNEL:
        return kernel_of(params.kernel)
    if kind == Type.CU_GRAPH_NODE_TYPE_MEMCPY:
        return boxed(params.memcpy.copyParams)
    if kind == Type.CU_GRAPH_NODE_TYPE_MEMSET:
        return fill_of(params.memset)
    if kind == Type.CU_GRAPH_NODE_TYPE_HOST:
        return host_of(params.host)
    if kind == Type.CU_GRAPH_NODE_TYPE_GRAPH:
        return ChildGraph(graph(int(params.graph.graph)).clone())
    if kind == Type.CU_GRAPH_NODE_TYPE_EMPTY:
        return Empty()
    if kind == Type.CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return EventWait(find(int(params.eventWait.event), Event))
    if kind == Type.CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return EventRecord(find(int(params.eventRecord.event), Event))
    if kind == Type.CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        return alloc_of(of, params.alloc)
    if kind == Type.CU_GRAPH_NODE_TYPE_MEM_FREE:
        return Free(int(params.free.dptr))
    if kind == Type.CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        return batch_of(params.memOp)
    if kind == Type.CU_GRAPH_NODE_TYPE_CONDITIONAL:
        return condition_of(of, params.conditional)
    raise unsupported(f"the simulator has no graph nodes of the type {kind.name}")


def added(hGraph: int, operation: Operation, dependencies: Any, count: int, data: Any = None) -> int:
    """A new node; its handle."""
    of = graph(hGraph)
    return Node(of, operation, list_of(dependencies, data, count, of)).handle


def operation_of(hNode: int, cls: Any) -> Any:
    """The operation of a node, of this class. Raises Refused."""
    found = node(hNode).operation
    if not isinstance(found, cls):
        raise invalid(f"the node is no {cls.__name__}")
    return found


def put(hNode: int, operation: Operation) -> None:
    """New parameters for a node of a graph."""
    operation_of(hNode, type(operation))
    node(hNode).operation = operation


def put_exec(hGraphExec: int, hNode: int, operation: Operation) -> None:
    """New parameters for a node of an instance."""
    executable(hGraphExec).change(node(hNode), operation)


# -- Any node ----------------------------------------------------------------------------------------------


@provides("driver")
def cuGraphAddNode_v2(
    hGraph: int, dependencies: Any, dependencyData: Any, numDependencies: int, nodeParams: Any
) -> int:
    params = needed(nodeParams, "nodeParams")
    operation = any_of(graph(hGraph), params)
    return added(hGraph, operation, dependencies, numDependencies, dependencyData)


@provides("driver")
def cuGraphAddNode(hGraph: int, dependencies: Any, numDependencies: int, nodeParams: Any) -> int:
    return cuGraphAddNode_v2(hGraph, dependencies, None, numDependencies, nodeParams)


@provides("driver")
def cuGraphNodeSetParams(hNode: int, nodeParams: Any) -> None:
    put(hNode, any_of(node(hNode).graph, needed(nodeParams, "nodeParams")))


@provides("driver")
def cuGraphExecNodeSetParams(hGraphExec: int, hNode: int, nodeParams: Any) -> None:
    put_exec(hGraphExec, hNode, any_of(node(hNode).graph, needed(nodeParams, "nodeParams")))


# -- Kernels -----------------------------------------------------------------------------------------------


@provides("driver")
def cuGraphAddKernelNode_v2(hGraph: int, dependencies: Any, numDependencies: int, nodeParams: Any) -> int:
    return added(hGraph, kernel_of(needed(nodeParams, "nodeParams")), dependencies, numDependencies)


@provides("driver")
def cuGraphKernelNodeGetParams_v2(hNode: int) -> Any:
    return operation_of(hNode, KernelLaunch).node_params()


@provides("driver")
def cuGraphKernelNodeSetParams_v2(hNode: int, nodeParams: Any) -> None:
    put(hNode, kernel_of(needed(nodeParams, "nodeParams")))


@provides("driver")
def cuGraphExecKernelNodeSetParams_v2(hGraphExec: int, hNode: int, nodeParams: Any) -> None:
    put_exec(hGraphExec, hNode, kernel_of(needed(nodeParams, "nodeParams")))


@provides("driver")
def cuGraphKernelNodeCopyAttributes(dst: int, src: int) -> None:
    target, source = operation_of(dst, KernelLaunch), operation_of(src, KernelLaunch)
    target.attributes.update(source.attributes)
    target.cluster, target.is_cooperative = source.cluster, source.is_cooperative


@provides("driver")
def cuGraphKernelNodeGetAttribute(hNode: int, attr: int) -> Any:
    attributes = operation_of(hNode, KernelLaunch).attributes
    return attributes.get(LaunchAttribute(attr)) or CUlaunchAttributeValue()


@provides("driver")
def cuGraphKernelNodeSetAttribute(hNode: int, attr: int, value: Any) -> None:
    operation = operation_of(hNode, KernelLaunch)
    operation.put(LaunchAttribute(attr), CUlaunchAttributeValue.from_buffer_copy(needed(value, "value")))


# -- Copies and fills --------------------------------------------------------------------------------------


@provides("driver")
def cuGraphAddMemcpyNode(
    hGraph: int, dependencies: Any, numDependencies: int, copyParams: Any, ctx: int
) -> int:
    given(ctx)
    return added(hGraph, boxed(needed(copyParams, "copyParams")), dependencies, numDependencies)


@provides("driver")
def cuGraphMemcpyNodeGetParams(hNode: int) -> Any:
    return operation_of(hNode, Copy).params()


@provides("driver")
def cuGraphMemcpyNodeSetParams(hNode: int, nodeParams: Any) -> None:
    put(hNode, boxed(needed(nodeParams, "nodeParams")))


@provides("driver")
def cuGraphExecMemcpyNodeSetParams(hGraphExec: int, hNode: int, copyParams: Any, ctx: int) -> None:
    given(ctx)
    put_exec(hGraphExec, hNode, boxed(needed(copyParams, "copyParams")))


@provides("driver")
def cuGraphAddMemsetNode(
    hGraph: int, dependencies: Any, numDependencies: int, memsetParams: Any, ctx: int
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
def cuGraphMemsetNodeSetParams(hNode: int, nodeParams: Any) -> None:
    put(hNode, fill_of(needed(nodeParams, "nodeParams")))


@provides("driver")
def cuGraphExecMemsetNodeSetParams(hGraphExec: int, hNode: int, memsetParams: Any, ctx: int) -> None:
    given(ctx)
    put_exec(hGraphExec, hNode, fill_of(needed(memsetParams, "memsetParams")))


# -- Host functions ----------------------------------------------------------------------------------------


@provides("driver")
def cuGraphAddHostNode(hGraph: int, dependencies: Any, numDependencies: int, nodeParams: Any) -> int:
    return added(hGraph, host_of(needed(nodeParams, "nodeParams")), dependencies, numDependencies)


@provides("driver")
def cuGraphHostNodeGetParams(hNode: int) -> CUDA_HOST_NODE_PARAMS:
    call = operation_of(hNode, HostCall)
    return CUDA_HOST_NODE_PARAMS(fn=call.function, userData=call.data)


@provides("driver")
def cuGraphHostNodeSetParams(hNode: int, nodeParams: Any) -> None:
    put(hNode, host_of(needed(nodeParams, "nodeParams")))


@provides("driver")
def cuGraphExecHostNodeSetParams(hGraphExec: int, hNode: int, nodeParams: Any) -> None:
    put_exec(hGraphExec, hNode, host_of(needed(nodeParams, "nodeParams")))


# -- Graphs in graphs, and nothing -------------------------------------------------------------------------


@provides("driver")
def cuGraphAddEmptyNode(hGraph: int, dependencies: Any, numDependencies: int) -> int:
    return added(hGraph, Empty(), dependencies, numDependencies)


@provides("driver")
def cuGraphAddChildGraphNode(hGraph: int, dependencies: Any, numDependencies: int, childGraph: int) -> int:
    return added(hGraph, ChildGraph(graph(childGraph).clone()), dependencies, numDependencies)


@provides("driver")
def cuGraphChildGraphNodeGetGraph(hNode: int) -> int:
    return int(operation_of(hNode, ChildGraph).graph.handle)


@provides("driver")
def cuGraphExecChildGraphNodeSetParams(hGraphExec: int, hNode: int, childGraph: int) -> None:
    put_exec(hGraphExec, hNode, ChildGraph(graph(childGraph).clone()))


@provides("driver")
def cuGraphConditionalHandleCreate(hGraph: int, ctx: int, defaultLaunchValue: int, flags: int) -> int:
    given(ctx)
    if flags not in (0, 1):
        raise invalid("flags must be 0 or CU_GRAPH_COND_ASSIGN_DEFAULT")
    return Conditional(graph(hGraph), defaultLaunchValue, flags).handle


# -- Events ------------------------------------------------------------------------------------------------


@provides("driver")
def cuGraphAddEventRecordNode(hGraph: int, dependencies: Any, numDependencies: int, event: int) -> int:
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
def cuGraphAddEventWaitNode(hGraph: int, dependencies: Any, numDependencies: int, event: int) -> int:
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
def cuGraphAddBatchMemOpNode(hGraph: int, dependencies: Any, numDependencies: int, nodeParams: Any) -> int:
    return added(hGraph, batch_of(needed(nodeParams, "nodeParams")), dependencies, numDependencies)


@provides("driver")
def cuGraphBatchMemOpNodeGetParams(hNode: int) -> CUDA_BATCH_MEM_OP_NODE_PARAMS:
    operation = operation_of(hNode, MemoryOperations)
    operation.array = (CUstreamBatchMemOpParams * len(operation.items))(*operation.items)
    made = CUDA_BATCH_MEM_OP_NODE_PARAMS(ctx=operation.context.handle, count=len(operation.items))
    address = ctypes.addressof(made) + type(made).paramArray.raw.offset  # type: ignore[attr-defined]
    ctypes.c_void_p.from_address(address).value = ctypes.addressof(operation.array)
    return made


@provides("driver")
def cuGraphBatchMemOpNodeSetParams(hNode: int, nodeParams: Any) -> None:
    put(hNode, batch_of(needed(nodeParams, "nodeParams")))


@provides("driver")
def cuGraphExecBatchMemOpNodeSetParams(hGraphExec: int, hNode: int, nodeParams: Any) -> None:
    put_exec(hGraphExec, hNode, batch_of(needed(nodeParams, "nodeParams")))


# -- Memory of graphs --------------------------------------------------------------------------------------


@provides("driver")
def cuGraphAddMemAllocNode(hGraph: int, dependencies: Any, numDependencies: int, nodeParams: Any) -> int:
    return added(
        hGraph, alloc_of(graph(hGraph), needed(nodeParams, "nodeParams")), dependencies, numDependencies
    )


@provides("driver")
def cuGraphMemAllocNodeGetParams(hNode: int) -> CUDA_MEM_ALLOC_NODE_PARAMS:
    alloc = operation_of(hNode, Alloc)
    made = CUDA_MEM_ALLOC_NODE_PARAMS(bytesize=alloc.size, dptr=alloc.storage.address)
    if alloc.props is not None:
        made.poolProps = alloc.props
    return made


@provides("driver")
def cuGraphAddMemFreeNode(hGraph: int, dependencies: Any, numDependencies: int, dptr: int) -> int:
    return added(hGraph, Free(dptr), dependencies, numDependencies)


@provides("driver")
def cuGraphMemFreeNodeGetParams(hNode: int) -> int:
    return int(operation_of(hNode, Free).address)


@provides("driver")
def cuDeviceGraphMemTrim(device: int) -> None:
    from .device import device as find_device
    from .memory import table

    memory = memory_of(find_device(device))
    used = {address for address in memory.storages if table.find(address) is not None}
    memory.reserved = sum(s.size for a, s in memory.storages.items() if a in used)


@provides("driver")
def cuDeviceGetGraphMemAttribute(device: int, attr: int, value: int | None) -> None:
    from .device import device as find_device

    memory = memory_of(find_device(device))
    found = {
        CUgraphMem_attribute.CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT: memory.used,
        CUgraphMem_attribute.CU_GRAPH_MEM_ATTR_USED_MEM_HIGH: memory.used_high,
        CUgraphMem_attribute.CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT: memory.reserved,
        CUgraphMem_attribute.CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH: memory.reserved_high,
    }
    if attr not in found or not value:
        raise invalid(f"{attr} is no CUgraphMem_attribute, or there is no place for its value")
    ctypes.c_uint64.from_address(value).value = found[CUgraphMem_attribute(attr)]


@provides("driver")
def cuDeviceSetGraphMemAttribute(device: int, attr: int, value: int | None) -> None:
    from .device import device as find_device

    memory = memory_of(find_device(device))
    if not value or ctypes.c_uint64.from_address(value).value:
        raise invalid("the attributes of the memory of graphs can be set to 0 alone")
    if attr == CUgraphMem_attribute.CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
        memory.used_high = 0
    elif attr == CUgraphMem_attribute.CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
        memory.reserved_high = 0
    else:
        raise invalid(f"{attr} cannot be set")
