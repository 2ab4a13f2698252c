"""Graphs as a whole: edges, clones, instances and what can be changed in them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cudapy import driver, runtime
from cudapy.driver import (
    CUDA_BATCH_MEM_OP_NODE_PARAMS,
    CUDA_MEMCPY3D,
    CUmemorytype,
    CUstreamBatchMemOpParams,
    CUstreamBatchMemOpType,
)

from .apis import DRIVER, RUNTIME, Api, only
from .apis import api as api
from .kernels import HOST_FUNCTION, needs_driver, ok, owned, primary_context

pytestmark = pytest.mark.gpu


@pytest.fixture
def graph(api: Api) -> Iterator[Any]:
    with api.graph() as made:
        yield made


def fill(api: Api, pointer: Any, value: int) -> Any:
    """Of 16 words."""
    return api.MemsetParams(dst=pointer, value=value, elementSize=4, width=16, height=1)


def launch(api: Api, executable: Any) -> None:
    with api.stream() as queue:
        ok(api.GraphLaunch(executable, queue))
        ok(api.StreamSynchronize(queue))


class TestTopology:
    @pytest.fixture
    def diamond(self, api: Api, graph: Any) -> list[Any]:
        top = ok(api.GraphAddEmptyNode(graph, None, 0))
        left, right = (ok(api.GraphAddEmptyNode(graph, [top], 1)) for _ in range(2))
        return [top, left, right, ok(api.GraphAddEmptyNode(graph, (left, right), 2))]

    def test_nodes_are_counted_then_listed(self, api: Api, graph: Any, diamond: list[Any]) -> None:
        assert ok(api.GraphGetNodes(graph, 0)) == ([], 4)
        nodes, count = ok(api.GraphGetNodes(graph, 4))
        assert count == 4 and set(nodes) == set(diamond)
        assert all(isinstance(node, api.GraphNode) for node in nodes)
        assert len(ok(api.GraphGetNodes(graph, 2))[0]) == 2
        assert len(ok(api.GraphGetNodes(graph, 9))[0]) == 4
        assert ok(api.GraphGetRootNodes(graph, 9)) == (diamond[:1], 1)

    def test_edges(self, api: Api, graph: Any, diamond: list[Any]) -> None:
        top, left, right, bottom = diamond
        tails, heads, data, count = ok(api.GraphGetEdges(graph, 4))
        assert count == 4 == ok(api.GraphGetEdges(graph, 0))[3]
        edges = {(top, left), (top, right), (left, bottom), (right, bottom)}
        assert set(zip(tails, heads, strict=True)) == edges
        assert all(bytes(edge) == bytes(8) for edge in data)
        assert ok(api.GraphNodeGetDependencies(bottom, 0))[2] == 2
        assert set(ok(api.GraphNodeGetDependencies(bottom, 2))[0]) == {left, right}
        assert set(ok(api.GraphNodeGetDependentNodes(top, 2))[0]) == {left, right}
        assert ok(api.GraphNodeGetDependentNodes(bottom, 0))[2] == 0

    @pytest.mark.parametrize("form", ["cuda12", "cuda13"])
    def test_edges_come_and_go(self, api: Api, graph: Any, diamond: list[Any], form: str) -> None:
        top, left, right, bottom = diamond
        if form == "cuda13":
            needs_driver(12, 3)
        data: tuple[Any, ...] = () if form == "cuda12" else (None,)
        ok(api.GraphRemoveDependencies(graph, [left, right], [bottom, bottom], *data, 2))
        plain = () if form == "cuda12" else ([api.GraphEdgeData()],)
        ok(api.GraphAddDependencies(graph, [top], [bottom], *plain, 1))
        assert ok(api.GraphNodeGetDependencies(bottom, 3))[0] == [top]
        refused = api.GraphAddDependencies(graph, [bottom], [bottom], *data, 1)
        assert refused == (api.ErrorInvalidValue,)

    def test_a_node_can_be_destroyed(self, api: Api, graph: Any, diamond: list[Any]) -> None:
        ok(api.GraphDestroyNode(diamond[1]))
        assert ok(api.GraphGetNodes(graph, 0))[1] == 3
        assert ok(api.GraphGetEdges(graph, 0))[3] == 2

    def test_a_clone_has_nodes_of_its_own(self, api: Api, graph: Any, diamond: list[Any]) -> None:
        with owned(api.GraphClone(graph), api.GraphDestroy) as clone:
            twin = ok(api.GraphNodeFindInClone(diamond[0], clone))
            assert twin not in diamond
            assert ok(api.GraphGetRootNodes(clone, 1))[0] == [twin]
            ok(api.GraphDestroyNode(twin))
            assert ok(api.GraphGetNodes(clone, 0))[1] == 3
            assert ok(api.GraphGetNodes(graph, 0))[1] == 4

    def test_dot(self, api: Api, graph: Any, diamond: list[Any], tmp_path: Path) -> None:
        path = tmp_path / "graph.dot"
        ok(api.GraphDebugDotPrint(graph, bytes(path), api.GraphDebugDotFlagsVerbose))
        text = path.read_text()
        assert text.startswith("digraph") and text.count("->") == 4

    def test_no_cycles(self, api: Api, graph: Any, diamond: list[Any]) -> None:
        ok(api.GraphAddDependencies(graph, [diamond[3]], [diamond[0]], None, 1))
        status, executable = api.GraphInstantiate(graph, 0)
        assert status != api.Success and executable is None

    def test_numbers(self, api: Api, graph: Any, diamond: list[Any]) -> None:
        api.needs_function("GraphGetId")
        needs_driver(13, 1)
        assert ok(api.GraphNodeGetContainingGraph(diamond[0])) == graph
        assert len({ok(api.GraphNodeGetLocalId(node)) for node in diamond}) == 4
        with api.graph() as other:
            assert ok(api.GraphGetId(graph)) != ok(api.GraphGetId(other))


class TestInstances:
    def test_forms(self, api: Api, graph: Any) -> None:
        free = api.GraphInstantiateFlagAutoFreeOnLaunch
        with api.memory(64) as pointer, api.stream() as queue:
            api.add_fill(graph, pointer, 1)
            for flags in (0, free):
                made = api.GraphInstantiateWithFlags(graph, flags)
                with owned(made, api.GraphExecDestroy) as executable:
                    assert ok(api.GraphExecGetFlags(executable)) == flags
            parameters = api.GraphInstantiateParams(flags=free | api.GraphInstantiateFlagUpload)
            setattr(parameters, "hUploadStream" if api.is_driver else "uploadStream", queue)
            made = api.GraphInstantiateWithParams(graph, parameters)
            with owned(made, api.GraphExecDestroy) as executable:
                assert parameters.result_out == api.GraphInstantiateSuccess
                assert ok(api.GraphExecGetFlags(executable)) == free
                ok(api.GraphUpload(executable, queue))
                ok(api.StreamSynchronize(queue))
                launch(api, executable)
            assert api.read(pointer, 1) == [1]

    @only(DRIVER)
    def test_the_form_with_a_log(self, api: Api, graph: Any) -> None:
        with api.memory(64) as pointer:
            api.add_fill(graph, pointer, 1)
            older, culprit = ok(driver.cuGraphInstantiate_v2(graph, bytearray(100), 100))
            launch(api, older)
            ok(driver.cuGraphExecDestroy(older))
            assert culprit == 0
            assert api.read(pointer, 1) == [1]

    def test_the_graph_may_go_before_the_instance(self, api: Api) -> None:
        with api.memory(64) as pointer:
            graph = ok(api.GraphCreate(0))
            api.add_fill(graph, pointer, 2)
            executable = ok(api.GraphInstantiate(graph, 0))
            ok(api.GraphDestroy(graph))
            launch(api, executable)
            ok(api.GraphExecDestroy(executable))
            assert api.read(pointer, 16) == [2] * 16

    def test_update(self, api: Api, graph: Any) -> None:
        with api.memory(64) as pointer, api.graph() as other:
            api.add_fill(graph, pointer, 1)
            node = api.add_fill(other, pointer, 2)
            with api.executable(graph) as executable:
                assert ok(api.GraphExecUpdate(executable, other)).result == api.GraphExecUpdateSuccess
                launch(api, executable)
                assert api.read(pointer, 16) == [2] * 16
                api.add_fill(other, pointer, 3, after=[node])
                status = api.GraphExecUpdate(executable, other)[0]
                assert status == api.ErrorGraphExecUpdateFailure
                launch(api, executable)
                assert api.read(pointer, 16) == [2] * 16

    def test_a_node_can_be_switched_off(self, api: Api, graph: Any) -> None:
        with api.memory(64) as pointer:
            node = api.add_fill(graph, pointer, 1)
            with api.executable(graph) as executable:
                assert ok(api.GraphNodeGetEnabled(executable, node)) == 1
                ok(api.GraphNodeSetEnabled(executable, node, 0))
                assert ok(api.GraphNodeGetEnabled(executable, node)) == 0
                launch(api, executable)
                assert api.read(pointer, 1) == [0]
                ok(api.GraphNodeSetEnabled(executable, node, 1))
                launch(api, executable)
                assert api.read(pointer, 1) == [1]


class TestNodesOfAnInstance:
    """New parameters for the instance leave the graph as it is."""

    def test_memset(self, api: Api, graph: Any) -> None:
        with api.memory(64) as pointer:
            node = api.add_fill(graph, pointer, 1)
            with api.executable(graph) as executable:
                new = fill(api, pointer, 2)
                ok(api.GraphExecMemsetNodeSetParams(executable, node, new, *api.context()))
                launch(api, executable)
                assert api.read(pointer, 16) == [2] * 16
                any_kind = api.GraphNodeParams(type=api.GraphNodeTypeMemset)
                new = any_kind.memset
                new.dst, new.value, new.elementSize, new.width, new.height = pointer, 3, 4, 16, 1
                if api.is_driver:
                    new.ctx = primary_context()
                ok(api.GraphExecNodeSetParams(executable, node, any_kind))
                launch(api, executable)
                assert api.read(pointer, 16) == [3] * 16
            assert ok(api.GraphMemsetNodeGetParams(node)).value == 1
            assert ok(api.GraphNodeGetType(node)) is api.GraphNodeTypeMemset

    @only(DRIVER)
    def test_memcpy(self, api: Api, graph: Any) -> None:
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
        with api.memory(64) as pointer:
            api.write(pointer, [4] * 16)
            node = ok(driver.cuGraphAddMemcpyNode(graph, None, 0, copy(first), primary_context()))
            with api.executable(graph) as executable:
                new = copy(second)
                ok(driver.cuGraphExecMemcpyNodeSetParams(executable, node, new, primary_context()))
                launch(api, executable)
        assert (first[0], second.tolist()) == (0, [4] * 16)

    def test_host(self, api: Api, graph: Any) -> None:
        seen: list[Any] = []
        note = HOST_FUNCTION(seen.append)
        node = ok(api.GraphAddHostNode(graph, None, 0, api.HostNodeParams(fn=note, userData=1)))
        with api.executable(graph) as executable:
            new = api.HostNodeParams(fn=note, userData=2)
            ok(api.GraphExecHostNodeSetParams(executable, node, new))
            launch(api, executable)
        assert seen == [2]

    def test_child_graph(self, api: Api, graph: Any) -> None:
        with api.memory(64) as pointer, api.graph() as first, api.graph() as second:
            api.add_fill(first, pointer, 1)
            api.add_fill(second, pointer, 2)
            node = ok(api.GraphAddChildGraphNode(graph, None, 0, first))
            with api.executable(graph) as executable:
                ok(api.GraphExecChildGraphNodeSetParams(executable, node, second))
                launch(api, executable)
            assert api.read(pointer, 16) == [2] * 16

    def test_events(self, api: Api, graph: Any) -> None:
        with api.event() as first, api.event() as second:
            record = ok(api.GraphAddEventRecordNode(graph, None, 0, first))
            wait = ok(api.GraphAddEventWaitNode(graph, [record], 1, first))
            with api.executable(graph) as executable:
                ok(api.GraphExecEventRecordNodeSetEvent(executable, record, second))
                ok(api.GraphExecEventWaitNodeSetEvent(executable, wait, second))
                launch(api, executable)
            assert api.EventElapsedTime(first, first)[0] == api.ErrorInvalidHandle
            assert ok(api.EventElapsedTime(second, second)) == 0

    @only(DRIVER)
    def test_memory_operations(self, api: Api, graph: Any) -> None:
        def write(value: int) -> CUDA_BATCH_MEM_OP_NODE_PARAMS:
            operation = CUstreamBatchMemOpParams(
                operation=CUstreamBatchMemOpType.CU_STREAM_MEM_OP_WRITE_VALUE_32
            )
            operation.writeValue.address = pointer
            operation.writeValue.value = value  # type: ignore[assignment]
            return CUDA_BATCH_MEM_OP_NODE_PARAMS(ctx=primary_context(), count=1, paramArray=[operation])

        with api.memory(64) as pointer:
            node = ok(driver.cuGraphAddBatchMemOpNode(graph, None, 0, write(1)))
            with api.executable(graph) as executable:
                ok(driver.cuGraphExecBatchMemOpNodeSetParams(executable, node, write(2)))
                launch(api, executable)
            assert api.read(pointer, 1) == [2]


def test_a_graph_keeps_what_it_uses_alive(api: Api) -> None:
    gone = threading.Event()
    seen: list[Any] = []

    @HOST_FUNCTION
    def destroy(value: Any) -> None:
        seen.append(value)
        gone.set()

    graph = ok(api.GraphCreate(0))
    thing = ok(api.UserObjectCreate(77, destroy, 1, api.UserObjectNoDestructorSync))
    ok(api.UserObjectRetain(thing, 2))
    ok(api.UserObjectRelease(thing, 2))
    ok(api.GraphRetainUserObject(graph, thing, 2, 0))
    ok(api.GraphReleaseUserObject(graph, thing, 1))
    ok(api.UserObjectRelease(thing, 1))
    assert not gone.wait(0.05)
    ok(api.GraphDestroy(graph))
    assert gone.wait(60)
    assert seen == [77]


@only(RUNTIME)
@pytest.mark.parametrize(("value", "filled"), [(1, 7), (0, 0)])
def test_conditional(api: Api, graph: Any, value: int, filled: int) -> None:
    """The driver's are in test_driver_graph_conditional."""
    api.needs_function("GraphConditionalHandleCreate")
    needs_driver(12, 4)
    handle = ok(runtime.cudaGraphConditionalHandleCreate(graph, value, 1))  # cudaGraphCondAssignDefault
    assert isinstance(handle, runtime.cudaGraphConditionalHandle)
    parameters = api.GraphNodeParams(type=api.GraphNodeTypeConditional)
    parameters.conditional.handle = handle
    parameters.conditional.type = api.GraphCondTypeIf
    parameters.conditional.size = 1
    node = ok(api.GraphAddNode(graph, None, None, 0, parameters))
    assert ok(api.GraphNodeGetType(node)) is api.GraphNodeTypeConditional
    (body,) = parameters.conditional.phGraph_out
    with api.memory(64) as pointer:
        api.add_fill(body, pointer, 7)
        with api.executable(graph) as executable:
            launch(api, executable)
        assert api.read(pointer, 16) == [filled] * 16
