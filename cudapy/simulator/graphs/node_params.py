"""The parameters of graph nodes, made into operations."""

from __future__ import annotations

import ctypes
from typing import Any

from ..._types.driver.enums import CUgraphNodeType as Type
from ..._types.driver.structs import CUstreamBatchMemOpParams
from ..code.kernel_library import function
from ..code.launch_parameters import pack
from ..code.launching import KernelLaunch
from ..devices.context import given
from ..handles import find
from ..log import invalid, unsupported
from ..memory.copies import boxed
from ..memory.fills import Fill
from ..memory.pool_memory import Free
from ..streams.event import Event
from ..streams.operations import Empty, EventRecord, EventWait, HostCall, MemoryOperations, Operation
from ..streams.words import batch
from .conditional import Condition, Conditional
from .graph import ChildGraph, Graph, copy_of, graph
from .memory import alloc_of


def kernel_of(params: Any) -> KernelLaunch:
    context = given(int(params.ctx)) if not params.func else None
    kernel = function(int(params.func) or int(params.kern), context)
    made = KernelLaunch(
        kernel,
        (params.gridDimX, params.gridDimY, params.gridDimZ),
        (params.blockDimX, params.blockDimY, params.blockDimZ),
        params.sharedMemBytes,
        pack(kernel, pointers(params.kernelParams), pointers(params.extra)),
    )
    made.place = context or made.place
    return made


def pointers(address: int) -> Any:
    return ctypes.cast(address, ctypes.POINTER(ctypes.c_void_p)) if address else None


def fill_of(params: Any) -> Fill:
    return Fill(int(params.dst), params.value, params.elementSize, params.width, params.height, params.pitch)


def host_of(params: Any) -> HostCall:
    return HostCall(int(params.fn), params.userData)


def batch_of(params: Any) -> MemoryOperations:
    context = given(int(params.ctx))
    items = params.paramArray
    if len(items) < params.count:
        raise invalid("paramArray is NULL")
    made = MemoryOperations(context, batch(items, params.count))
    made.items = [CUstreamBatchMemOpParams.from_buffer_copy(item) for item in items]  # type: ignore[attr-defined]
    return made


def condition_of(of: Graph, params: Any) -> Condition:
    value = find(int(params.handle), Conditional, "CUDA_ERROR_INVALID_VALUE")
    inside = of
    while inside is not value.graph:
        if inside.outer is None:
            raise invalid("the conditional handle belongs to another graph")
        inside = inside.outer
    kind, count = int(params.type), params.size
    if kind not in (0, 1, 2) or not 1 <= count <= {0: 2, 1: 1}.get(kind, 2**31):
        raise invalid(f"{count} bodies for a conditional node of type {kind}")
    made = Condition(value, kind, [Graph(of) for _ in range(count)])
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
        child, moved = int(params.graph.graph), int(params.graph.ownership) == 1  # then it may allocate
        return ChildGraph(graph(child).clone() if moved else copy_of(child))
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
