"""Graphs built node by node: every kind of node that one GPU can run."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from cudapy import driver, runtime
from cudapy.driver import (
    CUDA_BATCH_MEM_OP_NODE_PARAMS,
    CUDA_MEMCPY3D,
    CUdevice_attribute,
    CUgraphNodeType,
    CUmemorytype,
    CUstreamBatchMemOpParams,
    CUstreamBatchMemOpType,
)
from cudapy.runtime import cudaMemcpy3DParms, cudaMemcpyKind, make_cudaExtent, make_cudaPitchedPtr

from .apis import DRIVER, RUNTIME, Api, only
from .apis import api as api
from .kernels import DEVICE, HOST_FUNCTION, needs, ok, primary_context
from .runtime_kernels import FILL_TYPES

pytestmark = pytest.mark.gpu

HOME = cudaMemcpyKind.cudaMemcpyDeviceToHost


@pytest.fixture
def graph(api: Api) -> Iterator[Any]:
    with api.graph() as made:
        yield made


def run(api: Api, graph: Any, times: int = 1) -> None:
    """Instantiate a graph and launch it."""
    with api.executable(graph) as executable, api.stream() as queue:
        for _ in range(times):
            ok(api.GraphLaunch(executable, queue))
        ok(api.StreamSynchronize(queue))


def fill_parameters(api: Api, pointer: Any, value: int, count: int) -> Any:
    parameters = api.KernelNodeParams(func=api.kernel("fill"))
    set_shape(api, parameters, count)
    parameters.kernelParams = ((int(pointer), value, count), FILL_TYPES)
    return parameters


def set_shape(api: Api, parameters: Any, threads: int) -> None:
    """One block."""
    if api.is_driver:
        parameters.gridDimX = parameters.gridDimY = parameters.gridDimZ = 1
        parameters.blockDimX, parameters.blockDimY, parameters.blockDimZ = threads, 1, 1
    else:
        parameters.gridDim, parameters.blockDim = runtime.dim3(1), runtime.dim3(threads)


def memset_parameters(api: Api, pointer: Any, value: int, width: int) -> Any:
    return api.MemsetParams(dst=pointer, value=value, elementSize=4, width=width, height=1)


def copy_parameters(api: Api, pointer: Any, host: np.ndarray) -> Any:
    """From the device to the host."""
    size = host.nbytes
    if api.is_driver:
        return CUDA_MEMCPY3D(
            srcMemoryType=CUmemorytype.CU_MEMORYTYPE_DEVICE,
            srcDevice=pointer,
            srcPitch=size,
            dstMemoryType=CUmemorytype.CU_MEMORYTYPE_HOST,
            dstHost=host,
            dstPitch=size,
            WidthInBytes=size,
            Height=1,
            Depth=1,
        )
    return cudaMemcpy3DParms(
        srcPtr=make_cudaPitchedPtr(pointer, size, size, 1),
        dstPtr=make_cudaPitchedPtr(host.ctypes.data, size, size, 1),
        extent=make_cudaExtent(size, 1, 1),
        kind=HOME,
    )


class TestKernel:
    def test_it_runs(self, api: Api, graph: Any) -> None:
        with api.memory(64) as pointer:
            node = ok(api.GraphAddKernelNode(graph, None, 0, fill_parameters(api, pointer, 3, 8)))
            assert ok(api.GraphNodeGetType(node)) is api.GraphNodeTypeKernel
            run(api, graph)
            assert api.read(pointer, 16) == [3] * 8 + [0] * 8

    def test_parameters_are_copied_and_can_be_read(self, api: Api, graph: Any) -> None:
        with api.memory(64) as pointer:
            node = ok(api.GraphAddKernelNode(graph, [], 0, fill_parameters(api, pointer, 3, 8)))
            found = ok(driver.cuGraphKernelNodeGetParams(node))  # the runtime's knows symbols of C++ only
            assert (found.gridDimX, found.blockDimX, found.sharedMemBytes) == (1, 8, 0)
            if api.is_driver:
                assert found.func == api.kernel("fill") or found.kern
            addresses = (ctypes.c_void_p * 3).from_address(found.kernelParams)
            assert ctypes.c_int.from_address(addresses[1]).value == 3
            assert ctypes.c_uint64.from_address(addresses[0]).value == int(pointer)
            ok(api.GraphKernelNodeSetParams(node, fill_parameters(api, pointer, 4, 16)))
            assert ok(driver.cuGraphKernelNodeGetParams(node)).blockDimX == 16
            with api.executable(graph) as executable:
                new = fill_parameters(api, pointer, 5, 10)
                ok(api.GraphExecKernelNodeSetParams(executable, node, new))
                ok(api.GraphLaunch(executable, 0))
            assert api.read(pointer, 16) == [5] * 10 + [0] * 6
            run(api, graph)
            assert api.read(pointer, 16) == [4] * 16

    def test_attributes(self, api: Api, graph: Any) -> None:
        name = api.LaunchAttributePriority
        _, greatest = ok(api.StreamPriorityRange())
        with api.memory(64) as pointer:
            first = ok(api.GraphAddKernelNode(graph, None, 0, fill_parameters(api, pointer, 1, 8)))
            second = ok(api.GraphAddKernelNode(graph, [first], 1, fill_parameters(api, pointer, 2, 8)))
            value = api.KernelNodeAttrValue(priority=greatest)
            ok(api.GraphKernelNodeSetAttribute(first, name, value))
            assert ok(api.GraphKernelNodeGetAttribute(first, name)).priority == greatest
            assert ok(api.GraphKernelNodeGetAttribute(second, name)).priority == 0
            ok(api.GraphKernelNodeCopyAttributes(second, first))
            assert ok(api.GraphKernelNodeGetAttribute(second, name)).priority == greatest
            ok(api.GraphKernelNodeSetParams(first, fill_parameters(api, pointer, 3, 16)))
            assert ok(api.GraphKernelNodeGetAttribute(first, name)).priority == greatest


def test_memset_and_memcpy(api: Api, graph: Any) -> None:
    host, other = np.zeros(16, np.int32), np.zeros(16, np.int32)
    with api.memory(64) as pointer:
        fill = api.add_fill(graph, pointer, 6, 10)
        copy = ok(
            api.GraphAddMemcpyNode(graph, [fill], 1, copy_parameters(api, pointer, host), *api.context())
        )
        assert ok(api.GraphNodeGetType(fill)) is api.GraphNodeTypeMemset
        assert ok(api.GraphNodeGetType(copy)) is api.GraphNodeTypeMemcpy
        run(api, graph)
        assert host.tolist() == [6] * 10 + [0] * 6
        found = ok(api.GraphMemsetNodeGetParams(fill))
        assert (found.dst, found.value, found.elementSize, found.width) == (pointer, 6, 4, 10)
        ok(api.GraphMemsetNodeSetParams(fill, memset_parameters(api, pointer, 7, 12)))
        box = ok(api.GraphMemcpyNodeGetParams(copy))
        if api.is_driver:
            assert (box.srcDevice, box.WidthInBytes) == (pointer, 64)
        else:
            assert (box.srcPtr.ptr, box.extent.width, box.kind) == (pointer, 64, HOME)
        ok(api.GraphMemcpyNodeSetParams(copy, copy_parameters(api, pointer, other)))
        run(api, graph)
    assert other.tolist() == [7] * 12 + [0] * 4
    assert host[0] == 6


@only(RUNTIME)
def test_a_copy_of_a_line(api: Api, graph: Any) -> None:
    hosts = [np.zeros(16, np.int32) for _ in range(3)]
    with api.memory(64) as pointer:
        api.write(pointer, range(16))
        node = ok(runtime.cudaGraphAddMemcpyNode1D(graph, None, 0, hosts[0], pointer, 64, HOME))
        run(api, graph)
        ok(runtime.cudaGraphMemcpyNodeSetParams1D(node, hosts[1], pointer, 32, HOME))
        with api.executable(graph) as executable:
            ok(runtime.cudaGraphLaunch(executable, 0))
            ok(runtime.cudaDeviceSynchronize())
            new = (hosts[2], pointer + 32, 32, HOME)
            ok(runtime.cudaGraphExecMemcpyNodeSetParams1D(executable, node, *new))
            ok(runtime.cudaGraphLaunch(executable, 0))
            ok(runtime.cudaDeviceSynchronize())
    assert [host[:2].tolist() for host in hosts] == [[0, 1], [0, 1], [8, 9]]
    assert (hosts[0][15], hosts[1][15]) == (15, 0)


def test_host(api: Api, graph: Any) -> None:
    seen: list[Any] = []
    note, other = HOST_FUNCTION(seen.append), HOST_FUNCTION(lambda value: seen.append(-value))
    node = ok(api.GraphAddHostNode(graph, None, 0, api.HostNodeParams(fn=note, userData=5)))
    assert ok(api.GraphNodeGetType(node)) is api.GraphNodeTypeHost
    run(api, graph, times=2)
    found = ok(api.GraphHostNodeGetParams(node))
    assert (found.fn, found.userData) == (api.HostFn(note), 5)
    ok(api.GraphHostNodeSetParams(node, api.HostNodeParams(fn=api.HostFn(other), userData=6)))
    run(api, graph)
    assert seen == [5, 5, -6]


def test_empty_and_child_graph(api: Api, graph: Any) -> None:
    with api.memory(64) as pointer, api.graph() as inner:
        api.add_fill(inner, pointer, 8)
        empty = ok(api.GraphAddEmptyNode(graph, None, 0))
        child = ok(api.GraphAddChildGraphNode(graph, [empty], 1, inner))
        assert ok(api.GraphNodeGetType(empty)) is api.GraphNodeTypeEmpty
        assert ok(api.GraphNodeGetType(child)) is api.GraphNodeTypeGraph
        embedded = ok(api.GraphChildGraphNodeGetGraph(child))
        assert embedded != inner  # it was cloned
        assert ok(api.GraphGetNodes(embedded, 0))[1] == 1
        run(api, graph)
        assert api.read(pointer, 16) == [8] * 16


def test_event_record_and_wait(api: Api, graph: Any) -> None:
    with api.event() as first, api.event() as second:
        record = ok(api.GraphAddEventRecordNode(graph, None, 0, first))
        wait = ok(api.GraphAddEventWaitNode(graph, [record], 1, first))
        assert ok(api.GraphNodeGetType(record)) is api.GraphNodeTypeEventRecord
        assert ok(api.GraphNodeGetType(wait)) is api.GraphNodeTypeWaitEvent

        def events() -> tuple[Any, ...]:
            return ok(api.GraphEventRecordNodeGetEvent(record)), ok(api.GraphEventWaitNodeGetEvent(wait))

        assert events() == (first, first)
        ok(api.GraphEventRecordNodeSetEvent(record, second))
        ok(api.GraphEventWaitNodeSetEvent(wait, second))
        assert events() == (second, second)
        run(api, graph)
        assert api.EventQuery(second) == (api.Success,)
        assert ok(api.EventElapsedTime(second, second)) == 0  # recorded, unlike the first
        assert api.EventElapsedTime(first, first)[0] == api.ErrorInvalidHandle


def test_allocation_and_free(api: Api, graph: Any) -> None:
    needs(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED)
    size, host = 1 << 20, np.zeros(16, np.int32)
    parameters = api.MemAllocNodeParams(bytesize=size)
    parameters.poolProps.allocType = api.MemAllocationTypePinned
    parameters.poolProps.location = api.device_location()
    allocate = ok(api.GraphAddMemAllocNode(graph, None, 0, parameters))
    pointer = int(parameters.dptr)
    assert pointer
    fill = api.add_fill(graph, pointer, 9, after=[allocate])
    copy = ok(api.GraphAddMemcpyNode(graph, [fill], 1, copy_parameters(api, pointer, host), *api.context()))
    free = ok(api.GraphAddMemFreeNode(graph, [copy], 1, pointer))
    assert ok(api.GraphNodeGetType(allocate)) is api.GraphNodeTypeMemAlloc
    assert ok(api.GraphNodeGetType(free)) is api.GraphNodeTypeMemFree
    found = ok(api.GraphMemAllocNodeGetParams(allocate))
    assert (found.bytesize, found.dptr) == (size, pointer)
    assert ok(api.GraphMemFreeNodeGetParams(free)) == pointer
    run(api, graph)
    assert host.tolist() == [9] * 16
    high, used = api.GraphMemAttrReservedMemHigh, api.GraphMemAttrUsedMemCurrent
    assert ok(api.DeviceGetGraphMemAttribute(DEVICE, high)) >= size
    ok(api.DeviceGraphMemTrim(DEVICE))
    ok(api.DeviceSetGraphMemAttribute(DEVICE, high, 0))
    assert ok(api.DeviceGetGraphMemAttribute(DEVICE, used)) == 0


@only(DRIVER)
def test_batch_of_memory_operations(api: Api, graph: Any) -> None:
    def writes(*values: int) -> CUDA_BATCH_MEM_OP_NODE_PARAMS:
        operations = []
        for i, value in enumerate(values):
            write = CUstreamBatchMemOpParams(operation=CUstreamBatchMemOpType.CU_STREAM_MEM_OP_WRITE_VALUE_32)
            write.writeValue.address = int(pointer) + 4 * i  # type: ignore[assignment]
            write.writeValue.value = value  # type: ignore[assignment]
            operations.append(write)
        return CUDA_BATCH_MEM_OP_NODE_PARAMS(ctx=primary_context(), count=len(values), paramArray=operations)

    with api.memory(64) as pointer:
        node = ok(driver.cuGraphAddBatchMemOpNode(graph, None, 0, writes(1, 2)))
        assert ok(driver.cuGraphNodeGetType(node)) == CUgraphNodeType.CU_GRAPH_NODE_TYPE_BATCH_MEM_OP
        found = ok(driver.cuGraphBatchMemOpNodeGetParams(node))
        assert [operation.writeValue.value for operation in found.paramArray] == [1, 2]
        run(api, graph)
        assert api.read(pointer, 3) == [1, 2, 0]
        ok(driver.cuGraphBatchMemOpNodeSetParams(node, writes(3, 4)))
        run(api, graph)
        assert api.read(pointer, 3) == [3, 4, 0]


class TestAnyNode:
    """GraphAddNode, with the parameters of any kind; and as CUDA 12 had it, with an argument less."""

    def add(self, api: Api, graph: Any, form: str, after: list[Any], parameters: Any) -> Any:
        data = () if form == "cuda12" else (None,)
        return ok(api.GraphAddNode(graph, after, *data, len(after), parameters))

    @pytest.mark.parametrize("form", ["cuda12", "cuda13"])
    def test_each_kind(self, api: Api, graph: Any, form: str) -> None:
        nodes: list[Any] = []
        kinds: list[Any] = []

        def add(parameters: Any) -> None:
            nodes.append(self.add(api, graph, form, nodes[-1:], parameters))
            kinds.append(parameters.type)

        seen: list[Any] = []
        note = HOST_FUNCTION(seen.append)
        host = np.zeros(16, np.int32)
        with api.memory(64) as pointer, api.event() as done:
            compute = api.GraphNodeParams(type=api.GraphNodeTypeKernel)
            compute.kernel.func = api.kernel("fill")
            set_shape(api, compute.kernel, 16)
            compute.kernel.kernelParams = ((int(pointer), 2, 16), FILL_TYPES)
            add(compute)

            memset = api.GraphNodeParams(type=api.GraphNodeTypeMemset)
            memset.memset.dst, memset.memset.value, memset.memset.elementSize = pointer, 5, 4
            memset.memset.width, memset.memset.height = 8, 1
            if api.is_driver:
                memset.memset.ctx = primary_context()
            add(memset)

            copy = api.GraphNodeParams(type=api.GraphNodeTypeMemcpy)
            copy.memcpy.copyParams = copy_parameters(api, pointer, host)
            if api.is_driver:
                copy.memcpy.copyCtx = primary_context()
            add(copy)

            call = api.GraphNodeParams(type=api.GraphNodeTypeHost)
            call.host.fn, call.host.userData = note, 3
            add(call)

            record = api.GraphNodeParams(type=api.GraphNodeTypeEventRecord)
            record.eventRecord.event = done
            add(record)
            add(api.GraphNodeParams(type=api.GraphNodeTypeEmpty))

            assert [ok(api.GraphNodeGetType(node)) for node in nodes] == kinds
            run(api, graph)
            assert host.tolist() == [5] * 8 + [2] * 8
            assert seen == [3]
            memset.memset.value = 6
            ok(api.GraphNodeSetParams(nodes[1], memset))
            with api.executable(graph) as executable:
                ok(api.GraphLaunch(executable, 0))
                ok(api.CtxSynchronize())
                assert host.tolist() == [6] * 8 + [2] * 8
                memset.memset.value = 7
                ok(api.GraphExecNodeSetParams(executable, nodes[1], memset))
                ok(api.GraphLaunch(executable, 0))
                ok(api.CtxSynchronize())
                assert host.tolist() == [7] * 8 + [2] * 8

    def test_an_allocation_has_its_address_in_the_parameters(self, api: Api, graph: Any) -> None:
        needs(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED)
        parameters = api.GraphNodeParams(type=api.GraphNodeTypeMemAlloc)
        parameters.alloc.bytesize = 4096
        parameters.alloc.poolProps.allocType = api.MemAllocationTypePinned
        parameters.alloc.poolProps.location = api.device_location()
        node = self.add(api, graph, "cuda13", [], parameters)
        assert int(parameters.alloc.dptr)
        free = api.GraphNodeParams(type=api.GraphNodeTypeMemFree)
        free.free.dptr = parameters.alloc.dptr
        self.add(api, graph, "cuda13", [node], free)
        run(api, graph)
        assert ok(api.GraphMemAllocNodeGetParams(node)).dptr == parameters.alloc.dptr
        ok(api.DeviceGraphMemTrim(DEVICE))
