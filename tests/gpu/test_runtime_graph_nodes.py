"""The Runtime API: graphs built node by node, every kind of node that one GPU can run."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from cudapy import driver
from cudapy import runtime as rt
from cudapy.runtime import (
    cudaDeviceAttr,
    cudaError_t,
    cudaGraph_t,
    cudaGraphMemAttributeType,
    cudaGraphNode_t,
    cudaGraphNodeParams,
    cudaGraphNodeType,
    cudaHostFn_t,
    cudaHostNodeParams,
    cudaKernelNodeAttrValue,
    cudaKernelNodeParams,
    cudaLaunchAttributeID,
    cudaMemAllocationType,
    cudaMemAllocNodeParams,
    cudaMemcpy3DParms,
    cudaMemcpyKind,
    cudaMemsetParams,
    dim3,
    make_cudaExtent,
    make_cudaPitchedPtr,
)

from .kernels import DEVICE, HOST_FUNCTION, ok, owned
from .runtime_kernels import FILL_TYPES, device_location, event, kernel, memory, needs, read, stream, write
from .runtime_kernels import device as device

pytestmark = pytest.mark.gpu

Kind = cudaGraphNodeType
HOME = cudaMemcpyKind.cudaMemcpyDeviceToHost


@pytest.fixture
def graph() -> Iterator[cudaGraph_t]:
    with owned(rt.cudaGraphCreate(0), rt.cudaGraphDestroy) as made:
        yield made


def run(graph: cudaGraph_t, times: int = 1) -> None:
    """Instantiate a graph and launch it."""
    with (
        owned(rt.cudaGraphInstantiate(graph, 0), rt.cudaGraphExecDestroy) as executable,
        stream() as queue,
    ):
        for _ in range(times):
            ok(rt.cudaGraphLaunch(executable, queue))
        ok(rt.cudaStreamSynchronize(queue))


def fill_parameters(pointer: int, value: int, count: int) -> cudaKernelNodeParams:
    return cudaKernelNodeParams(
        func=kernel("fill"),
        gridDim=dim3(1),
        blockDim=dim3(count),
        kernelParams=((pointer, value, count), FILL_TYPES),
    )


def memset_parameters(pointer: int, value: int, width: int) -> cudaMemsetParams:
    return cudaMemsetParams(dst=pointer, value=value, elementSize=4, width=width, height=1)


def copy_parameters(pointer: int, host: np.ndarray) -> cudaMemcpy3DParms:
    """From the device to the host."""
    size = host.nbytes
    return cudaMemcpy3DParms(
        srcPtr=make_cudaPitchedPtr(pointer, size, size, 1),
        dstPtr=make_cudaPitchedPtr(host.ctypes.data, size, size, 1),
        extent=make_cudaExtent(size, 1, 1),
        kind=HOME,
    )


class TestKernel:
    def test_it_runs(self, graph: cudaGraph_t) -> None:
        with memory(64) as pointer:
            node = ok(rt.cudaGraphAddKernelNode(graph, None, 0, fill_parameters(pointer, 3, 8)))
            assert ok(rt.cudaGraphNodeGetType(node)) is Kind.cudaGraphNodeTypeKernel
            run(graph)
            assert read(pointer, 16) == [3] * 8 + [0] * 8

    def test_parameters_are_copied_and_can_be_read(self, graph: cudaGraph_t) -> None:
        with memory(64) as pointer:
            node = ok(rt.cudaGraphAddKernelNode(graph, [], 0, fill_parameters(pointer, 3, 8)))
            found = ok(driver.cuGraphKernelNodeGetParams(node))  # the runtime's knows symbols of C++ only
            assert (found.gridDimX, found.blockDimX, found.sharedMemBytes) == (1, 8, 0)
            addresses = (ctypes.c_void_p * 3).from_address(found.kernelParams)
            assert ctypes.c_int.from_address(addresses[1]).value == 3
            assert ctypes.c_uint64.from_address(addresses[0]).value == pointer
            ok(rt.cudaGraphKernelNodeSetParams(node, fill_parameters(pointer, 4, 16)))
            assert ok(driver.cuGraphKernelNodeGetParams(node)).blockDimX == 16
            with owned(rt.cudaGraphInstantiate(graph, 0), rt.cudaGraphExecDestroy) as executable:
                new = fill_parameters(pointer, 5, 10)
                ok(rt.cudaGraphExecKernelNodeSetParams(executable, node, new))
                ok(rt.cudaGraphLaunch(executable, 0))
            assert read(pointer, 16) == [5] * 10 + [0] * 6
            run(graph)
            assert read(pointer, 16) == [4] * 16

    def test_attributes(self, graph: cudaGraph_t) -> None:
        name = cudaLaunchAttributeID.cudaLaunchAttributePriority
        _, greatest = ok(rt.cudaDeviceGetStreamPriorityRange())
        with memory(64) as pointer:
            first = ok(rt.cudaGraphAddKernelNode(graph, None, 0, fill_parameters(pointer, 1, 8)))
            second = ok(rt.cudaGraphAddKernelNode(graph, [first], 1, fill_parameters(pointer, 2, 8)))
            value = cudaKernelNodeAttrValue(priority=greatest)
            ok(rt.cudaGraphKernelNodeSetAttribute(first, name, value))
            assert ok(rt.cudaGraphKernelNodeGetAttribute(first, name)).priority == greatest
            assert ok(rt.cudaGraphKernelNodeGetAttribute(second, name)).priority == 0
            ok(rt.cudaGraphKernelNodeCopyAttributes(second, first))
            assert ok(rt.cudaGraphKernelNodeGetAttribute(second, name)).priority == greatest


class TestCopies:
    def test_memset_and_box(self, graph: cudaGraph_t) -> None:
        host, other = np.zeros(16, np.int32), np.zeros(16, np.int32)
        with memory(64) as pointer:
            fill = ok(rt.cudaGraphAddMemsetNode(graph, None, 0, memset_parameters(pointer, 6, 10)))
            copy = ok(rt.cudaGraphAddMemcpyNode(graph, [fill], 1, copy_parameters(pointer, host)))
            assert ok(rt.cudaGraphNodeGetType(fill)) is Kind.cudaGraphNodeTypeMemset
            assert ok(rt.cudaGraphNodeGetType(copy)) is Kind.cudaGraphNodeTypeMemcpy
            run(graph)
            assert host.tolist() == [6] * 10 + [0] * 6
            found = ok(rt.cudaGraphMemsetNodeGetParams(fill))
            assert (found.dst, found.value, found.elementSize, found.width) == (pointer, 6, 4, 10)
            ok(rt.cudaGraphMemsetNodeSetParams(fill, memset_parameters(pointer, 7, 12)))
            box = ok(rt.cudaGraphMemcpyNodeGetParams(copy))
            assert (box.srcPtr.ptr, box.extent.width, box.kind) == (pointer, 64, HOME)
            ok(rt.cudaGraphMemcpyNodeSetParams(copy, copy_parameters(pointer, other)))
            run(graph)
        assert other.tolist() == [7] * 12 + [0] * 4
        assert host[0] == 6

    def test_a_line(self, graph: cudaGraph_t) -> None:
        hosts = [np.zeros(16, np.int32) for _ in range(3)]
        with memory(64) as pointer:
            write(pointer, range(16))
            node = ok(rt.cudaGraphAddMemcpyNode1D(graph, None, 0, hosts[0], pointer, 64, HOME))
            run(graph)
            ok(rt.cudaGraphMemcpyNodeSetParams1D(node, hosts[1], pointer, 32, HOME))
            with owned(rt.cudaGraphInstantiate(graph, 0), rt.cudaGraphExecDestroy) as executable:
                ok(rt.cudaGraphLaunch(executable, 0))
                ok(rt.cudaDeviceSynchronize())
                new = (hosts[2], pointer + 32, 32, HOME)
                ok(rt.cudaGraphExecMemcpyNodeSetParams1D(executable, node, *new))
                ok(rt.cudaGraphLaunch(executable, 0))
                ok(rt.cudaDeviceSynchronize())
        assert [host[:2].tolist() for host in hosts] == [[0, 1], [0, 1], [8, 9]]
        assert (hosts[0][15], hosts[1][15]) == (15, 0)


def test_host(graph: cudaGraph_t) -> None:
    seen: list[Any] = []
    note, other = HOST_FUNCTION(seen.append), HOST_FUNCTION(lambda value: seen.append(-value))
    node = ok(rt.cudaGraphAddHostNode(graph, None, 0, cudaHostNodeParams(fn=note, userData=5)))
    assert ok(rt.cudaGraphNodeGetType(node)) is Kind.cudaGraphNodeTypeHost
    run(graph, times=2)
    found = ok(rt.cudaGraphHostNodeGetParams(node))
    assert (found.fn, found.userData) == (cudaHostFn_t(note), 5)
    ok(rt.cudaGraphHostNodeSetParams(node, cudaHostNodeParams(fn=cudaHostFn_t(other), userData=6)))
    run(graph)
    assert seen == [5, 5, -6]


def test_empty_and_child_graph(graph: cudaGraph_t) -> None:
    with memory(64) as pointer, owned(rt.cudaGraphCreate(0), rt.cudaGraphDestroy) as inner:
        ok(rt.cudaGraphAddMemsetNode(inner, None, 0, memset_parameters(pointer, 8, 16)))
        empty = ok(rt.cudaGraphAddEmptyNode(graph, None, 0))
        child = ok(rt.cudaGraphAddChildGraphNode(graph, [empty], 1, inner))
        assert ok(rt.cudaGraphNodeGetType(empty)) is Kind.cudaGraphNodeTypeEmpty
        assert ok(rt.cudaGraphNodeGetType(child)) is Kind.cudaGraphNodeTypeGraph
        embedded = ok(rt.cudaGraphChildGraphNodeGetGraph(child))
        assert embedded != inner  # it was cloned
        assert ok(rt.cudaGraphGetNodes(embedded, 0))[1] == 1
        run(graph)
        assert read(pointer, 16) == [8] * 16


def test_event_record_and_wait(graph: cudaGraph_t) -> None:
    with event() as first, event() as second:
        record = ok(rt.cudaGraphAddEventRecordNode(graph, None, 0, first))
        wait = ok(rt.cudaGraphAddEventWaitNode(graph, [record], 1, first))
        assert ok(rt.cudaGraphNodeGetType(record)) is Kind.cudaGraphNodeTypeEventRecord
        assert ok(rt.cudaGraphNodeGetType(wait)) is Kind.cudaGraphNodeTypeWaitEvent
        assert ok(rt.cudaGraphEventRecordNodeGetEvent(record)) == first
        ok(rt.cudaGraphEventRecordNodeSetEvent(record, second))
        ok(rt.cudaGraphEventWaitNodeSetEvent(wait, second))
        assert ok(rt.cudaGraphEventWaitNodeGetEvent(wait)) == second
        run(graph)
        assert ok(rt.cudaEventElapsedTime(second, second)) == 0  # recorded, unlike the first
        assert rt.cudaEventElapsedTime(first, first)[0] == cudaError_t.cudaErrorInvalidResourceHandle


def test_allocation_and_free(graph: cudaGraph_t) -> None:
    needs(cudaDeviceAttr.cudaDevAttrMemoryPoolsSupported)
    size, host = 1 << 20, np.zeros(16, np.int32)
    parameters = cudaMemAllocNodeParams(bytesize=size)
    parameters.poolProps.allocType = cudaMemAllocationType.cudaMemAllocationTypePinned
    parameters.poolProps.location = device_location()
    allocate = ok(rt.cudaGraphAddMemAllocNode(graph, None, 0, parameters))
    pointer = int(parameters.dptr)
    assert pointer
    fill = ok(rt.cudaGraphAddMemsetNode(graph, [allocate], 1, memset_parameters(pointer, 9, 16)))
    copy = ok(rt.cudaGraphAddMemcpyNode(graph, [fill], 1, copy_parameters(pointer, host)))
    free = ok(rt.cudaGraphAddMemFreeNode(graph, [copy], 1, pointer))
    assert ok(rt.cudaGraphNodeGetType(allocate)) is Kind.cudaGraphNodeTypeMemAlloc
    assert ok(rt.cudaGraphNodeGetType(free)) is Kind.cudaGraphNodeTypeMemFree
    found = ok(rt.cudaGraphMemAllocNodeGetParams(allocate))
    assert (found.bytesize, found.dptr) == (size, pointer)
    assert ok(rt.cudaGraphMemFreeNodeGetParams(free)) == pointer
    run(graph)
    assert host.tolist() == [9] * 16
    high = cudaGraphMemAttributeType.cudaGraphMemAttrReservedMemHigh
    assert ok(rt.cudaDeviceGetGraphMemAttribute(DEVICE, high)) >= size
    ok(rt.cudaDeviceGraphMemTrim(DEVICE))
    ok(rt.cudaDeviceSetGraphMemAttribute(DEVICE, high, 0))
    used = cudaGraphMemAttributeType.cudaGraphMemAttrUsedMemCurrent
    assert ok(rt.cudaDeviceGetGraphMemAttribute(DEVICE, used)) == 0


@pytest.mark.parametrize("form", ["cuda12", "cuda13"])
def test_any_node(graph: cudaGraph_t, form: str) -> None:
    """cudaGraphAddNode, with the parameters of any kind; and as CUDA 12 had it, with an argument less."""
    nodes: list[cudaGraphNode_t] = []
    kinds: list[cudaGraphNodeType] = []

    def add(parameters: cudaGraphNodeParams) -> None:
        after, data = nodes[-1:], () if form == "cuda12" else (None,)
        nodes.append(ok(rt.cudaGraphAddNode(graph, after, *data, len(after), parameters)))
        kinds.append(parameters.type)

    seen: list[Any] = []
    note = HOST_FUNCTION(seen.append)
    host = np.zeros(16, np.int32)
    with memory(64) as pointer, event() as done:
        compute = cudaGraphNodeParams(type=Kind.cudaGraphNodeTypeKernel)
        compute.kernel.func = kernel("fill")
        compute.kernel.gridDim, compute.kernel.blockDim = dim3(1), dim3(16)
        compute.kernel.kernelParams = ((pointer, 2, 16), FILL_TYPES)
        add(compute)

        memset = cudaGraphNodeParams(type=Kind.cudaGraphNodeTypeMemset)
        memset.memset.dst, memset.memset.value, memset.memset.elementSize = pointer, 5, 4
        memset.memset.width, memset.memset.height = 8, 1
        add(memset)

        copy = cudaGraphNodeParams(type=Kind.cudaGraphNodeTypeMemcpy)
        copy.memcpy.copyParams = copy_parameters(pointer, host)
        add(copy)

        call = cudaGraphNodeParams(type=Kind.cudaGraphNodeTypeHost)
        call.host.fn, call.host.userData = note, 3  # type: ignore[assignment]
        add(call)

        record = cudaGraphNodeParams(type=Kind.cudaGraphNodeTypeEventRecord)
        record.eventRecord.event = done
        add(record)
        add(cudaGraphNodeParams(type=Kind.cudaGraphNodeTypeEmpty))

        assert [ok(rt.cudaGraphNodeGetType(node)) for node in nodes] == kinds
        run(graph)
        assert host.tolist() == [5] * 8 + [2] * 8
        assert seen == [3]
        memset.memset.value = 6
        ok(rt.cudaGraphNodeSetParams(nodes[1], memset))
        with owned(rt.cudaGraphInstantiate(graph, 0), rt.cudaGraphExecDestroy) as executable:
            ok(rt.cudaGraphLaunch(executable, 0))
            ok(rt.cudaDeviceSynchronize())
            assert host.tolist() == [6] * 8 + [2] * 8
            memset.memset.value = 7
            ok(rt.cudaGraphExecNodeSetParams(executable, nodes[1], memset))
            ok(rt.cudaGraphLaunch(executable, 0))
            ok(rt.cudaDeviceSynchronize())
            assert host.tolist() == [7] * 8 + [2] * 8
