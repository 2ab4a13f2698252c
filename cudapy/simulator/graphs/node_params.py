"""The parameters of graph nodes, made into operations."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from ..._types.driver.enums import CUgraphNodeType as Type
from ..._types.driver.structs import CUstreamBatchMemOpParams
from ..addresses import require_lists
from ..code.kernel_library import function
from ..code.launch_parameters import pack, pointers
from ..code.launching import KernelLaunch
from ..devices.context import given
from ..handles import find
from ..memory.copies import boxed
from ..memory.fills import Fill
from ..memory.pool_memory import Free
from ..refused import invalid, unsupported
from ..streams.event import Event
from ..streams.operations import Empty, EventRecord, EventWait, HostCall, MemoryOperations, Operation
from ..streams.stream_mem_ops import batch
from .conditional import Condition, Conditional
from .graph import ChildGraph, Graph, copy_of, graph
from .memory import alloc_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from ..._types.driver.structs import (
        CUDA_BATCH_MEM_OP_NODE_PARAMS,
        CUDA_CHILD_GRAPH_NODE_PARAMS,
        CUDA_CONDITIONAL_NODE_PARAMS,
        CUDA_EVENT_RECORD_NODE_PARAMS,
        CUDA_EVENT_WAIT_NODE_PARAMS,
        CUDA_HOST_NODE_PARAMS,
        CUDA_KERNEL_NODE_PARAMS,
        CUDA_MEMSET_NODE_PARAMS,
        CUDA_BATCH_MEM_OP_NODE_PARAMS_v2,
        CUDA_HOST_NODE_PARAMS_v2,
        CUDA_KERNEL_NODE_PARAMS_v3,
        CUDA_MEMSET_NODE_PARAMS_v2,
        CUgraphNodeParams,
    )

    KernelParams: TypeAlias = CUDA_KERNEL_NODE_PARAMS | CUDA_KERNEL_NODE_PARAMS_v3
    FillParams: TypeAlias = CUDA_MEMSET_NODE_PARAMS | CUDA_MEMSET_NODE_PARAMS_v2
    HostParams: TypeAlias = CUDA_HOST_NODE_PARAMS | CUDA_HOST_NODE_PARAMS_v2
    BatchParams: TypeAlias = CUDA_BATCH_MEM_OP_NODE_PARAMS | CUDA_BATCH_MEM_OP_NODE_PARAMS_v2


def kernel_of(params: KernelParams) -> KernelLaunch:
    context = given(int(params.ctx)) if not params.func else None
    kernel = function(int(params.func) or int(params.kern), context)
    launch = KernelLaunch(
        kernel,
        (params.gridDimX, params.gridDimY, params.gridDimZ),
        (params.blockDimX, params.blockDimY, params.blockDimZ),
        params.sharedMemBytes,
        pack(kernel, pointers(params.kernelParams), pointers(params.extra)),
    )
    launch.place = context or launch.place
    return launch


def fill_of(params: FillParams) -> Fill:
    return Fill(int(params.dst), params.value, params.elementSize, params.width, params.height, params.pitch)


def host_of(params: HostParams) -> HostCall:
    return HostCall(int(params.fn), params.userData)


def batch_of(params: BatchParams) -> MemoryOperations:
    context = given(int(params.ctx))
    require_lists(params)
    items = params.paramArray
    if len(items) < params.count:
        raise invalid("paramArray is NULL")
    operations = MemoryOperations(context, batch(items, params.count))
    operations.items = [CUstreamBatchMemOpParams.from_buffer_copy(item) for item in items]  # type: ignore[attr-defined]
    return operations


MOST_BODIES = 1 << 16
"""Of a node that chooses one of several graphs."""


def condition_of(of: Graph, params: CUDA_CONDITIONAL_NODE_PARAMS) -> Condition:
    value = find(int(params.handle), Conditional, "CUDA_ERROR_INVALID_VALUE")
    inside = of
    while inside is not value.graph:
        if inside.outer is None:
            raise invalid("the conditional handle belongs to another graph")
        inside = inside.outer
    kind, count = int(params.type), params.size
    if kind not in (0, 1, 2) or not 1 <= count <= {0: 2, 1: 1}.get(kind, MOST_BODIES):
        raise invalid(f"{count} bodies for a conditional node of type {kind}")
    condition = Condition(value, kind, [Graph(of) for _ in range(count)])
    field: Any = type(params).phGraph_out
    address = ctypes.addressof(params) + field.raw.offset
    ctypes.c_void_p.from_address(address).value = ctypes.addressof(condition.handles)
    return condition


def any_of(of: Graph, params: CUgraphNodeParams) -> Operation:
    """The operation that a CUgraphNodeParams describes."""
    kind = Type(int(params.type))
    read = _READERS.get(kind)
    if read is None:
        raise unsupported(f"the simulator has no graph nodes of the type {kind.name}")
    return read(of, params)


def _child(params: CUDA_CHILD_GRAPH_NODE_PARAMS) -> ChildGraph:
    """A child graph that moves into its parent may allocate."""
    handle, is_moved = int(params.graph), int(params.ownership) == 1
    return ChildGraph(graph(handle).clone() if is_moved else copy_of(handle))


def _event(params: CUDA_EVENT_RECORD_NODE_PARAMS | CUDA_EVENT_WAIT_NODE_PARAMS) -> Event:
    return find(int(params.event), Event)


_READERS: dict[Type, Callable[[Graph, CUgraphNodeParams], Operation]] = {
    Type.CU_GRAPH_NODE_TYPE_KERNEL: lambda of, params: kernel_of(params.kernel),
    Type.CU_GRAPH_NODE_TYPE_MEMCPY: lambda of, params: boxed(params.memcpy.copyParams),
    Type.CU_GRAPH_NODE_TYPE_MEMSET: lambda of, params: fill_of(params.memset),
    Type.CU_GRAPH_NODE_TYPE_HOST: lambda of, params: host_of(params.host),
    Type.CU_GRAPH_NODE_TYPE_GRAPH: lambda of, params: _child(params.graph),
    Type.CU_GRAPH_NODE_TYPE_EMPTY: lambda of, params: Empty(),
    Type.CU_GRAPH_NODE_TYPE_WAIT_EVENT: lambda of, params: EventWait(
        find(int(params.eventWait.event), Event)
    ),
    Type.CU_GRAPH_NODE_TYPE_EVENT_RECORD: lambda of, params: EventRecord(
        find(int(params.eventRecord.event), Event)
    ),
    Type.CU_GRAPH_NODE_TYPE_MEM_ALLOC: lambda of, params: alloc_of(of, params.alloc),
    Type.CU_GRAPH_NODE_TYPE_MEM_FREE: lambda of, params: Free(int(params.free.dptr)),
    Type.CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: lambda of, params: batch_of(params.memOp),
    Type.CU_GRAPH_NODE_TYPE_CONDITIONAL: lambda of, params: condition_of(of, params.conditional),
}
"""What makes the operation of each type of node that there is, of the graph that it goes into."""
