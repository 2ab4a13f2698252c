"""Graphs built node by node: every kind of node that one GPU can run."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from cudapy import driver
from cudapy.driver import (
    CUDA_BATCH_MEM_OP_NODE_PARAMS,
    CUDA_HOST_NODE_PARAMS,
    CUDA_KERNEL_NODE_PARAMS,
    CUDA_MEM_ALLOC_NODE_PARAMS,
    CUDA_MEMCPY3D,
    CUDA_MEMSET_NODE_PARAMS,
    CUcontext,
    CUdevice_attribute,
    CUdeviceptr,
    CUgraph,
    CUgraphMem_attribute,
    CUgraphNode,
    CUgraphNodeParams,
    CUgraphNodeType,
    CUhostFn,
    CUkernelNodeAttrValue,
    CUlaunchAttributeID,
    CUmemAllocationType,
    CUmemorytype,
    CUresult,
    CUstreamBatchMemOpParams,
    CUstreamBatchMemOpType,
)

from .kernels import (
    DEVICE,
    HOST_FUNCTION,
    device_location,
    event,
    function,
    memory,
    needs,
    ok,
    owned,
    read,
    stream,
)
from .kernels import context as context

pytestmark = pytest.mark.gpu

Kind = CUgraphNodeType
FILL_TYPES = (ctypes.c_void_p, ctypes.c_int, ctypes.c_int)


@pytest.fixture
def graph() -> Iterator[CUgraph]:
    with owned(driver.cuGraphCreate(0), driver.cuGraphDestroy) as made:
        yield made


def run(graph: CUgraph, times: int = 1) -> None:
    """Instantiate a graph and launch it."""
    with (
        owned(driver.cuGraphInstantiate(graph, 0), driver.cuGraphExecDestroy) as executable,
        stream() as queue,
    ):
        for _ in range(times):
            ok(driver.cuGraphLaunch(executable, queue))
        ok(driver.cuStreamSynchronize(queue))


def fill_parameters(pointer: CUdeviceptr, value: int, count: int) -> CUDA_KERNEL_NODE_PARAMS:
    return CUDA_KERNEL_NODE_PARAMS(
        func=function("fill"),
        gridDimX=1,
        gridDimY=1,
        gridDimZ=1,
        blockDimX=count,
        blockDimY=1,
        blockDimZ=1,
        kernelParams=((int(pointer), value, count), FILL_TYPES),
    )


def memset_parameters(pointer: CUdeviceptr | int, value: int, width: int) -> CUDA_MEMSET_NODE_PARAMS:
    return CUDA_MEMSET_NODE_PARAMS(dst=pointer, value=value, elementSize=4, width=width, height=1)


def copy_parameters(pointer: CUdeviceptr | int, host: np.ndarray) -> CUDA_MEMCPY3D:
    """From the device to the host."""
    return CUDA_MEMCPY3D(
        srcMemoryType=CUmemorytype.CU_MEMORYTYPE_DEVICE,
        srcDevice=pointer,
        srcPitch=host.nbytes,
        dstMemoryType=CUmemorytype.CU_MEMORYTYPE_HOST,
        dstHost=host,
        dstPitch=host.nbytes,
        WidthInBytes=host.nbytes,
        Height=1,
        Depth=1,
    )


def test_kernel(graph: CUgraph) -> None:
    with memory(64) as pointer:
        node = ok(driver.cuGraphAddKernelNode(graph, None, 0, fill_parameters(pointer, 3, 8)))
        assert ok(driver.cuGraphNodeGetType(node)) == Kind.CU_GRAPH_NODE_TYPE_KERNEL
        run(graph)
        assert read(pointer, 16) == [3] * 8 + [0] * 8


def test_kernel_parameters_are_copied_and_can_be_read(graph: CUgraph) -> None:
    with memory(64) as pointer:
        node = ok(driver.cuGraphAddKernelNode(graph, [], 0, fill_parameters(pointer, 3, 8)))
        found = ok(driver.cuGraphKernelNodeGetParams(node))
        assert (found.gridDimX, found.blockDimX, found.sharedMemBytes) == (1, 8, 0)
        assert found.func == function("fill") or found.kern
        addresses = (ctypes.c_void_p * 3).from_address(found.kernelParams)
        assert ctypes.c_int.from_address(addresses[1]).value == 3
        assert ctypes.c_uint64.from_address(addresses[0]).value == pointer
        ok(driver.cuGraphKernelNodeSetParams(node, fill_parameters(pointer, 4, 16)))
        assert ok(driver.cuGraphKernelNodeGetParams(node)).blockDimX == 16
        run(graph)
        assert read(pointer, 16) == [4] * 16


def test_kernel_attributes(graph: CUgraph) -> None:
    name = CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PRIORITY
    _, greatest = ok(driver.cuCtxGetStreamPriorityRange())
    with memory(64) as pointer:
        first = ok(driver.cuGraphAddKernelNode(graph, None, 0, fill_parameters(pointer, 1, 8)))
        second = ok(driver.cuGraphAddKernelNode(graph, [first], 1, fill_parameters(pointer, 2, 8)))
        ok(driver.cuGraphKernelNodeSetAttribute(first, name, CUkernelNodeAttrValue(priority=greatest)))
        assert ok(driver.cuGraphKernelNodeGetAttribute(first, name)).priority == greatest
        assert ok(driver.cuGraphKernelNodeGetAttribute(second, name)).priority == 0
        ok(driver.cuGraphKernelNodeCopyAttributes(second, first))
        assert ok(driver.cuGraphKernelNodeGetAttribute(second, name)).priority == greatest
        ok(driver.cuGraphKernelNodeSetParams(first, fill_parameters(pointer, 3, 16)))
        assert ok(driver.cuGraphKernelNodeGetAttribute(first, name)).priority == greatest


def test_memset_and_memcpy(graph: CUgraph, context: CUcontext) -> None:
    host = np.zeros(16, np.int32)
    with memory(64) as pointer:
        fill = ok(driver.cuGraphAddMemsetNode(graph, None, 0, memset_parameters(pointer, 6, 10), context))
        copy = ok(driver.cuGraphAddMemcpyNode(graph, [fill], 1, copy_parameters(pointer, host), context))
        assert ok(driver.cuGraphNodeGetType(fill)) == Kind.CU_GRAPH_NODE_TYPE_MEMSET
        assert ok(driver.cuGraphNodeGetType(copy)) == Kind.CU_GRAPH_NODE_TYPE_MEMCPY
        run(graph)
        assert host.tolist() == [6] * 10 + [0] * 6
        found = ok(driver.cuGraphMemsetNodeGetParams(fill))
        assert (found.dst, found.value, found.elementSize, found.width) == (pointer, 6, 4, 10)
        ok(driver.cuGraphMemsetNodeSetParams(fill, memset_parameters(pointer, 7, 12)))
        other = np.zeros(16, np.int32)
        box = ok(driver.cuGraphMemcpyNodeGetParams(copy))
        assert (box.srcDevice, box.WidthInBytes) == (pointer, 64)
        ok(driver.cuGraphMemcpyNodeSetParams(copy, copy_parameters(pointer, other)))
        run(graph)
        assert other.tolist() == [7] * 12 + [0] * 4
        assert host[0] == 6


def test_host(graph: CUgraph) -> None:
    seen: list[Any] = []
    note, other = HOST_FUNCTION(seen.append), HOST_FUNCTION(lambda value: seen.append(-value))
    node = ok(driver.cuGraphAddHostNode(graph, None, 0, CUDA_HOST_NODE_PARAMS(fn=note, userData=5)))
    assert ok(driver.cuGraphNodeGetType(node)) == Kind.CU_GRAPH_NODE_TYPE_HOST
    run(graph, times=2)
    found = ok(driver.cuGraphHostNodeGetParams(node))
    assert (found.fn, found.userData) == (CUhostFn(note), 5)
    ok(driver.cuGraphHostNodeSetParams(node, CUDA_HOST_NODE_PARAMS(fn=CUhostFn(other), userData=6)))
    run(graph)
    assert seen == [5, 5, -6]


def test_empty_and_child_graph(graph: CUgraph, context: CUcontext) -> None:
    with memory(64) as pointer, owned(driver.cuGraphCreate(0), driver.cuGraphDestroy) as inner:
        ok(driver.cuGraphAddMemsetNode(inner, None, 0, memset_parameters(pointer, 8, 16), context))
        empty = ok(driver.cuGraphAddEmptyNode(graph, None, 0))
        child = ok(driver.cuGraphAddChildGraphNode(graph, [empty], 1, inner))
        assert ok(driver.cuGraphNodeGetType(empty)) == Kind.CU_GRAPH_NODE_TYPE_EMPTY
        assert ok(driver.cuGraphNodeGetType(child)) == Kind.CU_GRAPH_NODE_TYPE_GRAPH
        embedded = ok(driver.cuGraphChildGraphNodeGetGraph(child))
        assert embedded != inner  # it was cloned
        assert ok(driver.cuGraphGetNodes(embedded))[1] == 1
        run(graph)
        assert read(pointer, 16) == [8] * 16


def test_event_record_and_wait(graph: CUgraph) -> None:
    with event() as first, event() as second:
        record = ok(driver.cuGraphAddEventRecordNode(graph, None, 0, first))
        wait = ok(driver.cuGraphAddEventWaitNode(graph, [record], 1, first))
        assert ok(driver.cuGraphNodeGetType(record)) == Kind.CU_GRAPH_NODE_TYPE_EVENT_RECORD
        assert ok(driver.cuGraphNodeGetType(wait)) == Kind.CU_GRAPH_NODE_TYPE_WAIT_EVENT
        assert (
            ok(driver.cuGraphEventRecordNodeGetEvent(record))
            == ok(driver.cuGraphEventWaitNodeGetEvent(wait))
            == first
        )
        ok(driver.cuGraphEventRecordNodeSetEvent(record, second))
        ok(driver.cuGraphEventWaitNodeSetEvent(wait, second))
        assert (
            ok(driver.cuGraphEventRecordNodeGetEvent(record))
            == ok(driver.cuGraphEventWaitNodeGetEvent(wait))
            == second
        )
        run(graph)
        assert driver.cuEventQuery(second) == (CUresult.CUDA_SUCCESS,)
        ok(driver.cuEventElapsedTime(second, second))  # recorded, unlike the first
        assert driver.cuEventElapsedTime(first, first)[0] == CUresult.CUDA_ERROR_INVALID_HANDLE


def test_allocation_and_free(graph: CUgraph, context: CUcontext) -> None:
    needs(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED)
    size = 1 << 20
    host = np.zeros(16, np.int32)
    parameters = CUDA_MEM_ALLOC_NODE_PARAMS(bytesize=size)
    parameters.poolProps.allocType = CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    parameters.poolProps.location = device_location()
    allocate = ok(driver.cuGraphAddMemAllocNode(graph, None, 0, parameters))
    pointer = int(parameters.dptr)
    assert pointer
    fill = ok(driver.cuGraphAddMemsetNode(graph, [allocate], 1, memset_parameters(pointer, 9, 16), context))
    copy = ok(driver.cuGraphAddMemcpyNode(graph, [fill], 1, copy_parameters(pointer, host), context))
    free = ok(driver.cuGraphAddMemFreeNode(graph, [copy], 1, pointer))
    assert ok(driver.cuGraphNodeGetType(allocate)) == Kind.CU_GRAPH_NODE_TYPE_MEM_ALLOC
    assert ok(driver.cuGraphNodeGetType(free)) == Kind.CU_GRAPH_NODE_TYPE_MEM_FREE
    found = ok(driver.cuGraphMemAllocNodeGetParams(allocate))
    assert (found.bytesize, found.dptr) == (size, pointer)
    assert ok(driver.cuGraphMemFreeNodeGetParams(free)) == pointer
    run(graph)
    assert host.tolist() == [9] * 16
    high = CUgraphMem_attribute.CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH
    assert ok(driver.cuDeviceGetGraphMemAttribute(DEVICE, high)) >= size
    ok(driver.cuDeviceGraphMemTrim(DEVICE))
    ok(driver.cuDeviceSetGraphMemAttribute(DEVICE, high, 0))
    assert (
        ok(
            driver.cuDeviceGetGraphMemAttribute(
                DEVICE, CUgraphMem_attribute.CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT
            )
        )
        == 0
    )


def test_batch_of_memory_operations(graph: CUgraph, context: CUcontext) -> None:
    def writes(*values: int) -> CUDA_BATCH_MEM_OP_NODE_PARAMS:
        operations = []
        for i, value in enumerate(values):
            write = CUstreamBatchMemOpParams(operation=CUstreamBatchMemOpType.CU_STREAM_MEM_OP_WRITE_VALUE_32)
            write.writeValue.address = int(pointer) + 4 * i  # type: ignore[assignment]
            write.writeValue.value = value  # type: ignore[assignment]
            operations.append(write)
        return CUDA_BATCH_MEM_OP_NODE_PARAMS(ctx=context, count=len(values), paramArray=operations)

    with memory(64) as pointer:
        node = ok(driver.cuGraphAddBatchMemOpNode(graph, None, 0, writes(1, 2)))
        assert ok(driver.cuGraphNodeGetType(node)) == Kind.CU_GRAPH_NODE_TYPE_BATCH_MEM_OP
        found = ok(driver.cuGraphBatchMemOpNodeGetParams(node))
        assert [operation.writeValue.value for operation in found.paramArray] == [1, 2]
        run(graph)
        assert read(pointer, 3) == [1, 2, 0]
        ok(driver.cuGraphBatchMemOpNodeSetParams(node, writes(3, 4)))
        run(graph)
        assert read(pointer, 3) == [3, 4, 0]


class TestAnyNode:
    """cuGraphAddNode, with the parameters of any kind; and as CUDA 12 had it, with an argument less."""

    def add(self, graph: CUgraph, form: str, after: list[CUgraphNode], parameters: CUgraphNodeParams) -> Any:
        if form == "cuda12":
            return ok(driver.cuGraphAddNode(graph, after, len(after), parameters))
        return ok(driver.cuGraphAddNode(graph, after, None, len(after), parameters))

    @pytest.mark.parametrize("form", ["cuda12", "cuda13"])
    def test_each_kind(self, graph: CUgraph, context: CUcontext, form: str) -> None:
        seen: list[Any] = []
        note = HOST_FUNCTION(seen.append)
        host = np.zeros(16, np.int32)
        with memory(64) as pointer, event() as done:
            kernel = CUgraphNodeParams(type=Kind.CU_GRAPH_NODE_TYPE_KERNEL)
            kernel.kernel.func = function("fill")
            kernel.kernel.gridDimX = kernel.kernel.gridDimY = kernel.kernel.gridDimZ = 1
            kernel.kernel.blockDimX, kernel.kernel.blockDimY, kernel.kernel.blockDimZ = 16, 1, 1
            kernel.kernel.kernelParams = ((int(pointer), 2, 16), FILL_TYPES)
            nodes = [self.add(graph, form, [], kernel)]

            memset = CUgraphNodeParams(type=Kind.CU_GRAPH_NODE_TYPE_MEMSET)
            memset.memset.dst = pointer
            memset.memset.value = 5
            memset.memset.elementSize = 4
            memset.memset.width = 8
            memset.memset.height = 1
            memset.memset.ctx = context
            nodes.append(self.add(graph, form, nodes[-1:], memset))

            copy = CUgraphNodeParams(type=Kind.CU_GRAPH_NODE_TYPE_MEMCPY)
            copy.memcpy.copyCtx = context
            copy.memcpy.copyParams = copy_parameters(pointer, host)
            nodes.append(self.add(graph, form, nodes[-1:], copy))

            call = CUgraphNodeParams(type=Kind.CU_GRAPH_NODE_TYPE_HOST)
            call.host.fn = note  # type: ignore[assignment]
            call.host.userData = 3
            nodes.append(self.add(graph, form, nodes[-1:], call))

            record = CUgraphNodeParams(type=Kind.CU_GRAPH_NODE_TYPE_EVENT_RECORD)
            record.eventRecord.event = done
            nodes.append(self.add(graph, form, nodes[-1:], record))
            nodes.append(
                self.add(graph, form, nodes[-1:], CUgraphNodeParams(type=Kind.CU_GRAPH_NODE_TYPE_EMPTY))
            )

            kinds = [
                kernel.type,
                memset.type,
                copy.type,
                call.type,
                record.type,
                Kind.CU_GRAPH_NODE_TYPE_EMPTY,
            ]
            assert [ok(driver.cuGraphNodeGetType(node)) for node in nodes] == kinds
            run(graph)
            assert host.tolist() == [5] * 8 + [2] * 8
            assert seen == [3]
            memset.memset.value = 6
            ok(driver.cuGraphNodeSetParams(nodes[1], memset))
            run(graph)
            assert host.tolist() == [6] * 8 + [2] * 8

    def test_an_allocation_has_its_address_in_the_parameters(self, graph: CUgraph) -> None:
        needs(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED)
        parameters = CUgraphNodeParams(type=Kind.CU_GRAPH_NODE_TYPE_MEM_ALLOC)
        parameters.alloc.bytesize = 4096
        parameters.alloc.poolProps.allocType = CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
        parameters.alloc.poolProps.location = device_location()
        node = self.add(graph, "cuda13", [], parameters)
        assert int(parameters.alloc.dptr)
        free = CUgraphNodeParams(type=Kind.CU_GRAPH_NODE_TYPE_MEM_FREE)
        free.free.dptr = parameters.alloc.dptr
        self.add(graph, "cuda13", [node], free)
        run(graph)
        assert ok(driver.cuGraphMemAllocNodeGetParams(node)).dptr == parameters.alloc.dptr
        ok(driver.cuDeviceGraphMemTrim(DEVICE))
