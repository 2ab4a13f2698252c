"""Graphs as a whole: edges, clones, instances and what can be changed in them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cudapy import driver
from cudapy.driver import (
    CUDA_BATCH_MEM_OP_NODE_PARAMS,
    CUDA_GRAPH_INSTANTIATE_PARAMS,
    CUDA_HOST_NODE_PARAMS,
    CUDA_MEMCPY3D,
    CUDA_MEMSET_NODE_PARAMS,
    CUcontext,
    CUdeviceptr,
    CUgraph,
    CUgraphDebugDot_flags,
    CUgraphEdgeData,
    CUgraphExec,
    CUgraphExecUpdateResult,
    CUgraphInstantiate_flags,
    CUgraphInstantiateResult,
    CUgraphNode,
    CUgraphNodeParams,
    CUgraphNodeType,
    CUmemorytype,
    CUresult,
    CUstreamBatchMemOpParams,
    CUstreamBatchMemOpType,
    CUuserObject_flags,
)

from .kernels import HOST_FUNCTION, event, memory, needs_driver, ok, owned, read, stream, write
from .kernels import context as context

pytestmark = pytest.mark.gpu

Result = CUgraphExecUpdateResult


@pytest.fixture
def graph() -> Iterator[CUgraph]:
    with owned(driver.cuGraphCreate(0), driver.cuGraphDestroy) as made:
        yield made


def fill(pointer: CUdeviceptr | int, value: int) -> CUDA_MEMSET_NODE_PARAMS:
    """Of 16 words."""
    return CUDA_MEMSET_NODE_PARAMS(dst=pointer, value=value, elementSize=4, width=16, height=1)


def add_fill(graph: CUgraph, pointer: CUdeviceptr | int, value: int, *after: CUgraphNode) -> CUgraphNode:
    return ok(
        driver.cuGraphAddMemsetNode(
            graph, after, len(after), fill(pointer, value), ok(driver.cuCtxGetCurrent())
        )
    )


def launch(executable: CUgraphExec) -> None:
    with stream() as queue:
        ok(driver.cuGraphLaunch(executable, queue))
        ok(driver.cuStreamSynchronize(queue))


class TestTopology:
    @pytest.fixture
    def diamond(self, graph: CUgraph) -> list[CUgraphNode]:
        top = ok(driver.cuGraphAddEmptyNode(graph, None, 0))
        left, right = (ok(driver.cuGraphAddEmptyNode(graph, [top], 1)) for _ in range(2))
        return [top, left, right, ok(driver.cuGraphAddEmptyNode(graph, (left, right), 2))]

    def test_nodes_are_counted_then_listed(self, graph: CUgraph, diamond: list[CUgraphNode]) -> None:
        assert ok(driver.cuGraphGetNodes(graph)) == ([], 4)
        nodes, count = ok(driver.cuGraphGetNodes(graph, 4))
        assert count == 4 and set(nodes) == set(diamond)
        assert len(ok(driver.cuGraphGetNodes(graph, 2))[0]) == 2
        assert len(ok(driver.cuGraphGetNodes(graph, 9))[0]) == 4
        assert ok(driver.cuGraphGetRootNodes(graph, 9)) == (diamond[:1], 1)

    def test_edges(self, graph: CUgraph, diamond: list[CUgraphNode]) -> None:
        top, left, right, bottom = diamond
        assert ok(driver.cuGraphGetEdges(graph))[3] == 4
        tails, heads, data, count = ok(driver.cuGraphGetEdges(graph, numEdges=4))
        assert count == 4
        assert set(zip(tails, heads, strict=True)) == {
            (top, left),
            (top, right),
            (left, bottom),
            (right, bottom),
        }
        assert all(bytes(edge) == bytes(8) for edge in data)
        assert ok(driver.cuGraphNodeGetDependencies(bottom))[2] == 2
        assert set(ok(driver.cuGraphNodeGetDependencies(bottom, 2))[0]) == {left, right}
        assert set(ok(driver.cuGraphNodeGetDependentNodes(top, 2))[0]) == {left, right}
        assert ok(driver.cuGraphNodeGetDependentNodes(bottom, 0))[2] == 0

    @pytest.mark.parametrize("form", ["cuda12", "cuda13"])
    def test_edges_come_and_go(self, graph: CUgraph, diamond: list[CUgraphNode], form: str) -> None:
        top, left, right, bottom = diamond
        if form == "cuda12":
            ok(driver.cuGraphRemoveDependencies(graph, [left, right], [bottom, bottom], 2))
            ok(driver.cuGraphAddDependencies(graph, [top], [bottom], 1))
        else:
            needs_driver(12, 3)
            ok(driver.cuGraphRemoveDependencies(graph, [left, right], [bottom, bottom], None, 2))
            ok(driver.cuGraphAddDependencies(graph, [top], [bottom], [CUgraphEdgeData()], 1))
        assert ok(driver.cuGraphNodeGetDependencies(bottom, 3))[0] == [top]
        refused = (
            driver.cuGraphAddDependencies(graph, [bottom], [bottom], 1)
            if form == "cuda12"
            else driver.cuGraphAddDependencies(graph, [bottom], [bottom], None, 1)
        )
        assert refused == (CUresult.CUDA_ERROR_INVALID_VALUE,)

    def test_a_node_can_be_destroyed(self, graph: CUgraph, diamond: list[CUgraphNode]) -> None:
        ok(driver.cuGraphDestroyNode(diamond[1]))
        assert ok(driver.cuGraphGetNodes(graph))[1] == 3
        assert ok(driver.cuGraphGetEdges(graph))[3] == 2

    def test_a_clone_has_nodes_of_its_own(self, graph: CUgraph, diamond: list[CUgraphNode]) -> None:
        with owned(driver.cuGraphClone(graph), driver.cuGraphDestroy) as clone:
            twin = ok(driver.cuGraphNodeFindInClone(diamond[0], clone))
            assert twin not in diamond
            assert ok(driver.cuGraphGetRootNodes(clone, 1))[0] == [twin]
            ok(driver.cuGraphDestroyNode(twin))
            assert ok(driver.cuGraphGetNodes(clone))[1] == 3
            assert ok(driver.cuGraphGetNodes(graph))[1] == 4

    def test_dot(self, graph: CUgraph, diamond: list[CUgraphNode], tmp_path: Path) -> None:
        path = tmp_path / "graph.dot"
        ok(
            driver.cuGraphDebugDotPrint(
                graph, bytes(path), CUgraphDebugDot_flags.CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE
            )
        )
        text = path.read_text()
        assert text.startswith("digraph")
        assert text.count("->") == 4

    def test_no_cycles(self, graph: CUgraph, diamond: list[CUgraphNode]) -> None:
        ok(driver.cuGraphAddDependencies(graph, [diamond[3]], [diamond[0]], 1))
        status, executable = driver.cuGraphInstantiate(graph, 0)
        assert status != CUresult.CUDA_SUCCESS and executable is None


class TestInstances:
    def test_forms(self, graph: CUgraph) -> None:
        with memory(64) as pointer, stream() as queue:
            add_fill(graph, pointer, 1)
            with owned(driver.cuGraphInstantiateWithFlags(graph, 0), driver.cuGraphExecDestroy) as executable:
                assert ok(driver.cuGraphExecGetFlags(executable)) == 0
            older, culprit = ok(driver.cuGraphInstantiate_v2(graph, bytearray(100), 100))
            launch(older)
            ok(driver.cuGraphExecDestroy(older))
            assert culprit == 0
            assert read(pointer, 1) == [1]
            flags = CUgraphInstantiate_flags
            parameters = CUDA_GRAPH_INSTANTIATE_PARAMS(
                flags=flags.CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD
                | flags.CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH,
                hUploadStream=queue,
            )
            with owned(
                driver.cuGraphInstantiateWithParams(graph, parameters), driver.cuGraphExecDestroy
            ) as executable:
                assert parameters.result_out == CUgraphInstantiateResult.CUDA_GRAPH_INSTANTIATE_SUCCESS
                found = ok(driver.cuGraphExecGetFlags(executable))
                assert found == flags.CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH
                ok(driver.cuGraphUpload(executable, queue))
                ok(driver.cuStreamSynchronize(queue))

    def test_the_graph_may_go_before_the_instance(self) -> None:
        with memory(64) as pointer:
            graph = ok(driver.cuGraphCreate(0))
            add_fill(graph, pointer, 2)
            executable = ok(driver.cuGraphInstantiate(graph, 0))
            ok(driver.cuGraphDestroy(graph))
            launch(executable)
            ok(driver.cuGraphExecDestroy(executable))
            assert read(pointer, 16) == [2] * 16

    def test_update(self, graph: CUgraph) -> None:
        with memory(64) as pointer, owned(driver.cuGraphCreate(0), driver.cuGraphDestroy) as other:
            add_fill(graph, pointer, 1)
            node = add_fill(other, pointer, 2)
            with owned(driver.cuGraphInstantiate(graph, 0), driver.cuGraphExecDestroy) as executable:
                information = ok(driver.cuGraphExecUpdate(executable, other))
                assert information.result == Result.CU_GRAPH_EXEC_UPDATE_SUCCESS
                launch(executable)
                assert read(pointer, 16) == [2] * 16
                add_fill(other, pointer, 3, node)
                status = driver.cuGraphExecUpdate(executable, other)[0]
                assert status == CUresult.CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE
                launch(executable)
                assert read(pointer, 16) == [2] * 16

    def test_a_node_can_be_switched_off(self, graph: CUgraph) -> None:
        with memory(64) as pointer:
            node = add_fill(graph, pointer, 1)
            with owned(driver.cuGraphInstantiate(graph, 0), driver.cuGraphExecDestroy) as executable:
                assert ok(driver.cuGraphNodeGetEnabled(executable, node)) == 1
                ok(driver.cuGraphNodeSetEnabled(executable, node, 0))
                assert ok(driver.cuGraphNodeGetEnabled(executable, node)) == 0
                launch(executable)
                assert read(pointer, 1) == [0]
                ok(driver.cuGraphNodeSetEnabled(executable, node, 1))
                launch(executable)
                assert read(pointer, 1) == [1]


class TestNodesOfAnInstance:
    """New parameters for the instance leave the graph as it is."""

    def test_memset(self, graph: CUgraph, context: CUcontext) -> None:
        with memory(64) as pointer:
            node = add_fill(graph, pointer, 1)
            with owned(driver.cuGraphInstantiate(graph, 0), driver.cuGraphExecDestroy) as executable:
                ok(driver.cuGraphExecMemsetNodeSetParams(executable, node, fill(pointer, 2), context))
                launch(executable)
                assert read(pointer, 16) == [2] * 16
                parameters = CUgraphNodeParams(type=CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEMSET)
                new = parameters.memset
                new.dst, new.value, new.elementSize, new.width, new.height = pointer, 3, 4, 16, 1
                new.ctx = context
                ok(driver.cuGraphExecNodeSetParams(executable, node, parameters))
                launch(executable)
                assert read(pointer, 16) == [3] * 16
                assert ok(driver.cuGraphMemsetNodeGetParams(node)).value == 1

    def test_memcpy(self, graph: CUgraph, context: CUcontext) -> None:
        def copy(host: np.ndarray) -> CUDA_MEMCPY3D:
            return CUDA_MEMCPY3D(
                srcMemoryType=CUmemorytype.CU_MEMORYTYPE_DEVICE,
                srcDevice=pointer,
                dstMemoryType=CUmemorytype.CU_MEMORYTYPE_HOST,
                dstHost=host,
                WidthInBytes=64,
                Height=1,
                Depth=1,
            )

        first, second = np.zeros(16, np.int32), np.zeros(16, np.int32)
        with memory(64) as pointer:
            write(pointer, [4] * 16)
            node = ok(driver.cuGraphAddMemcpyNode(graph, None, 0, copy(first), context))
            with owned(driver.cuGraphInstantiate(graph, 0), driver.cuGraphExecDestroy) as executable:
                ok(driver.cuGraphExecMemcpyNodeSetParams(executable, node, copy(second), context))
                launch(executable)
        assert (first[0], second.tolist()) == (0, [4] * 16)

    def test_host(self, graph: CUgraph) -> None:
        seen: list[Any] = []
        note = HOST_FUNCTION(seen.append)
        node = ok(driver.cuGraphAddHostNode(graph, None, 0, CUDA_HOST_NODE_PARAMS(fn=note, userData=1)))
        with owned(driver.cuGraphInstantiate(graph, 0), driver.cuGraphExecDestroy) as executable:
            ok(
                driver.cuGraphExecHostNodeSetParams(
                    executable, node, CUDA_HOST_NODE_PARAMS(fn=note, userData=2)
                )
            )
            launch(executable)
        assert seen == [2]

    def test_child_graph(self, graph: CUgraph) -> None:
        with (
            memory(64) as pointer,
            owned(driver.cuGraphCreate(0), driver.cuGraphDestroy) as first,
            owned(driver.cuGraphCreate(0), driver.cuGraphDestroy) as second,
        ):
            add_fill(first, pointer, 1)
            add_fill(second, pointer, 2)
            node = ok(driver.cuGraphAddChildGraphNode(graph, None, 0, first))
            with owned(driver.cuGraphInstantiate(graph, 0), driver.cuGraphExecDestroy) as executable:
                ok(driver.cuGraphExecChildGraphNodeSetParams(executable, node, second))
                launch(executable)
            assert read(pointer, 16) == [2] * 16

    def test_events(self, graph: CUgraph) -> None:
        with event() as first, event() as second:
            record = ok(driver.cuGraphAddEventRecordNode(graph, None, 0, first))
            wait = ok(driver.cuGraphAddEventWaitNode(graph, [record], 1, first))
            with owned(driver.cuGraphInstantiate(graph, 0), driver.cuGraphExecDestroy) as executable:
                ok(driver.cuGraphExecEventRecordNodeSetEvent(executable, record, second))
                ok(driver.cuGraphExecEventWaitNodeSetEvent(executable, wait, second))
                launch(executable)
            assert driver.cuEventElapsedTime(first, first)[0] == CUresult.CUDA_ERROR_INVALID_HANDLE
            assert ok(driver.cuEventElapsedTime(second, second)) == 0

    def test_memory_operations(self, graph: CUgraph, context: CUcontext) -> None:
        def write(value: int) -> CUDA_BATCH_MEM_OP_NODE_PARAMS:
            operation = CUstreamBatchMemOpParams(
                operation=CUstreamBatchMemOpType.CU_STREAM_MEM_OP_WRITE_VALUE_32
            )
            operation.writeValue.address = pointer
            operation.writeValue.value = value  # type: ignore[assignment]
            return CUDA_BATCH_MEM_OP_NODE_PARAMS(ctx=context, count=1, paramArray=[operation])

        with memory(64) as pointer:
            node = ok(driver.cuGraphAddBatchMemOpNode(graph, None, 0, write(1)))
            with owned(driver.cuGraphInstantiate(graph, 0), driver.cuGraphExecDestroy) as executable:
                ok(driver.cuGraphExecBatchMemOpNodeSetParams(executable, node, write(2)))
                launch(executable)
            assert read(pointer, 1) == [2]


def test_a_graph_keeps_what_it_uses_alive() -> None:
    gone = threading.Event()
    seen: list[Any] = []

    @HOST_FUNCTION
    def destroy(value: Any) -> None:
        seen.append(value)
        gone.set()

    graph = ok(driver.cuGraphCreate(0))
    thing = ok(
        driver.cuUserObjectCreate(77, destroy, 1, CUuserObject_flags.CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
    )
    ok(driver.cuUserObjectRetain(thing, 2))
    ok(driver.cuUserObjectRelease(thing, 2))
    ok(driver.cuGraphRetainUserObject(graph, thing, 2, 0))
    ok(driver.cuGraphReleaseUserObject(graph, thing, 1))
    ok(driver.cuUserObjectRelease(thing, 1))
    assert not gone.wait(0.05)
    ok(driver.cuGraphDestroy(graph))
    assert gone.wait(60)
    assert seen == [77]
