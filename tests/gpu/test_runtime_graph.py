"""The Runtime API: graphs, their edges, their instances and what is recorded from streams."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cudapy import runtime as rt
from cudapy.runtime import (
    cudaError_t,
    cudaGraph_t,
    cudaGraphConditionalHandle,
    cudaGraphConditionalNodeType,
    cudaGraphDebugDotFlags,
    cudaGraphEdgeData,
    cudaGraphExec_t,
    cudaGraphExecUpdateResult,
    cudaGraphInstantiateFlags,
    cudaGraphInstantiateParams,
    cudaGraphInstantiateResult,
    cudaGraphNode_t,
    cudaGraphNodeParams,
    cudaGraphNodeType,
    cudaMemsetParams,
    cudaUserObjectFlags,
)

from .kernels import HOST_FUNCTION, needs_driver, ok, owned
from .runtime_kernels import device as device
from .runtime_kernels import memory, needs_function, read, stream

pytestmark = pytest.mark.gpu

Flags = cudaGraphInstantiateFlags


@pytest.fixture
def graph() -> Iterator[cudaGraph_t]:
    with owned(rt.cudaGraphCreate(0), rt.cudaGraphDestroy) as made:
        yield made


def fill(pointer: int, value: int) -> cudaMemsetParams:
    """Of 16 words."""
    return cudaMemsetParams(dst=pointer, value=value, elementSize=4, width=16, height=1)


def add_fill(graph: cudaGraph_t, pointer: int, value: int, *after: cudaGraphNode_t) -> cudaGraphNode_t:
    return ok(rt.cudaGraphAddMemsetNode(graph, after, len(after), fill(pointer, value)))


def launch(executable: cudaGraphExec_t) -> None:
    with stream() as queue:
        ok(rt.cudaGraphLaunch(executable, queue))
        ok(rt.cudaStreamSynchronize(queue))


class TestTopology:
    @pytest.fixture
    def diamond(self, graph: cudaGraph_t) -> list[cudaGraphNode_t]:
        top = ok(rt.cudaGraphAddEmptyNode(graph, None, 0))
        left, right = (ok(rt.cudaGraphAddEmptyNode(graph, [top], 1)) for _ in range(2))
        return [top, left, right, ok(rt.cudaGraphAddEmptyNode(graph, (left, right), 2))]

    def test_nodes_are_counted_then_listed(self, graph: Any, diamond: list[cudaGraphNode_t]) -> None:
        assert ok(rt.cudaGraphGetNodes(graph, 0)) == ([], 4)
        nodes, count = ok(rt.cudaGraphGetNodes(graph, 4))
        assert count == 4 and set(nodes) == set(diamond)
        assert all(isinstance(node, cudaGraphNode_t) for node in nodes)
        assert len(ok(rt.cudaGraphGetNodes(graph, 2))[0]) == 2
        assert ok(rt.cudaGraphGetRootNodes(graph, 9)) == (diamond[:1], 1)

    def test_edges(self, graph: Any, diamond: list[cudaGraphNode_t]) -> None:
        top, left, right, bottom = diamond
        tails, heads, data, count = ok(rt.cudaGraphGetEdges(graph, 4))
        assert count == 4 == ok(rt.cudaGraphGetEdges(graph, 0))[3]
        edges = {(top, left), (top, right), (left, bottom), (right, bottom)}
        assert set(zip(tails, heads, strict=True)) == edges
        assert all(bytes(edge) == bytes(8) for edge in data)
        assert ok(rt.cudaGraphNodeGetDependencies(bottom, 0))[2] == 2
        assert set(ok(rt.cudaGraphNodeGetDependencies(bottom, 2))[0]) == {left, right}
        assert set(ok(rt.cudaGraphNodeGetDependentNodes(top, 2))[0]) == {left, right}
        assert ok(rt.cudaGraphNodeGetDependentNodes(bottom, 0))[2] == 0

    @pytest.mark.parametrize("form", ["cuda12", "cuda13"])
    def test_edges_come_and_go(self, graph: Any, diamond: list[cudaGraphNode_t], form: str) -> None:
        top, left, right, bottom = diamond
        data: tuple[Any, ...] = () if form == "cuda12" else (None,)
        ok(rt.cudaGraphRemoveDependencies(graph, [left, right], [bottom, bottom], *data, 2))
        plain = () if form == "cuda12" else ([cudaGraphEdgeData()],)
        ok(rt.cudaGraphAddDependencies(graph, [top], [bottom], *plain, 1))
        assert ok(rt.cudaGraphNodeGetDependencies(bottom, 3))[0] == [top]
        refused = rt.cudaGraphAddDependencies(graph, [bottom], [bottom], *data, 1)
        assert refused == (cudaError_t.cudaErrorInvalidValue,)

    def test_a_node_can_be_destroyed(self, graph: Any, diamond: list[cudaGraphNode_t]) -> None:
        ok(rt.cudaGraphDestroyNode(diamond[1]))
        assert ok(rt.cudaGraphGetNodes(graph, 0))[1] == 3
        assert ok(rt.cudaGraphGetEdges(graph, 0))[3] == 2

    def test_a_clone_has_nodes_of_its_own(self, graph: Any, diamond: list[cudaGraphNode_t]) -> None:
        with owned(rt.cudaGraphClone(graph), rt.cudaGraphDestroy) as clone:
            twin = ok(rt.cudaGraphNodeFindInClone(diamond[0], clone))
            assert twin not in diamond
            assert ok(rt.cudaGraphGetRootNodes(clone, 1))[0] == [twin]
            ok(rt.cudaGraphDestroyNode(twin))
            assert ok(rt.cudaGraphGetNodes(clone, 0))[1] == 3
            assert ok(rt.cudaGraphGetNodes(graph, 0))[1] == 4

    def test_dot(self, graph: Any, diamond: list[cudaGraphNode_t], tmp_path: Path) -> None:
        path = tmp_path / "graph.dot"
        flags = cudaGraphDebugDotFlags.cudaGraphDebugDotFlagsVerbose
        ok(rt.cudaGraphDebugDotPrint(graph, bytes(path), flags))
        text = path.read_text()
        assert text.startswith("digraph") and text.count("->") == 4

    def test_no_cycles(self, graph: Any, diamond: list[cudaGraphNode_t]) -> None:
        ok(rt.cudaGraphAddDependencies(graph, [diamond[3]], [diamond[0]], None, 1))
        status, executable = rt.cudaGraphInstantiate(graph, 0)
        assert status != cudaError_t.cudaSuccess and executable is None

    def test_numbers(self, graph: Any, diamond: list[cudaGraphNode_t]) -> None:
        needs_function("cudaGraphGetId")
        needs_driver(13, 1)
        assert ok(rt.cudaGraphNodeGetContainingGraph(diamond[0])) == graph
        assert len({ok(rt.cudaGraphNodeGetLocalId(node)) for node in diamond}) == 4
        with owned(rt.cudaGraphCreate(0), rt.cudaGraphDestroy) as other:
            assert ok(rt.cudaGraphGetId(graph)) != ok(rt.cudaGraphGetId(other))


class TestInstances:
    def test_forms(self, graph: cudaGraph_t) -> None:
        free = Flags.cudaGraphInstantiateFlagAutoFreeOnLaunch
        with memory(64) as pointer, stream() as queue:
            add_fill(graph, pointer, 1)
            made = rt.cudaGraphInstantiateWithFlags(graph, free)
            with owned(made, rt.cudaGraphExecDestroy) as executable:
                assert ok(rt.cudaGraphExecGetFlags(executable)) == free
            parameters = cudaGraphInstantiateParams(
                flags=free | Flags.cudaGraphInstantiateFlagUpload, uploadStream=queue
            )
            made = rt.cudaGraphInstantiateWithParams(graph, parameters)
            with owned(made, rt.cudaGraphExecDestroy) as executable:
                success = cudaGraphInstantiateResult.cudaGraphInstantiateSuccess
                assert parameters.result_out == success
                ok(rt.cudaGraphUpload(executable, queue))
                ok(rt.cudaStreamSynchronize(queue))
                launch(executable)
            assert read(pointer, 1) == [1]

    def test_the_graph_may_go_before_the_instance(self) -> None:
        with memory(64) as pointer:
            graph = ok(rt.cudaGraphCreate(0))
            add_fill(graph, pointer, 2)
            executable = ok(rt.cudaGraphInstantiate(graph, 0))
            ok(rt.cudaGraphDestroy(graph))
            launch(executable)
            ok(rt.cudaGraphExecDestroy(executable))
            assert read(pointer, 16) == [2] * 16

    def test_update(self, graph: cudaGraph_t) -> None:
        with memory(64) as pointer, owned(rt.cudaGraphCreate(0), rt.cudaGraphDestroy) as other:
            add_fill(graph, pointer, 1)
            node = add_fill(other, pointer, 2)
            with owned(rt.cudaGraphInstantiate(graph, 0), rt.cudaGraphExecDestroy) as executable:
                information = ok(rt.cudaGraphExecUpdate(executable, other))
                assert information.result == cudaGraphExecUpdateResult.cudaGraphExecUpdateSuccess
                launch(executable)
                assert read(pointer, 16) == [2] * 16
                add_fill(other, pointer, 3, node)
                status = rt.cudaGraphExecUpdate(executable, other)[0]
                assert status == cudaError_t.cudaErrorGraphExecUpdateFailure
                launch(executable)
                assert read(pointer, 16) == [2] * 16

    def test_a_node_can_be_switched_off(self, graph: cudaGraph_t) -> None:
        with memory(64) as pointer:
            node = add_fill(graph, pointer, 1)
            with owned(rt.cudaGraphInstantiate(graph, 0), rt.cudaGraphExecDestroy) as executable:
                assert ok(rt.cudaGraphNodeGetEnabled(executable, node)) == 1
                ok(rt.cudaGraphNodeSetEnabled(executable, node, 0))
                assert ok(rt.cudaGraphNodeGetEnabled(executable, node)) == 0
                launch(executable)
                assert read(pointer, 1) == [0]
                ok(rt.cudaGraphNodeSetEnabled(executable, node, 1))
                launch(executable)
                assert read(pointer, 1) == [1]

    def test_new_parameters_leave_the_graph_as_it_is(self, graph: cudaGraph_t) -> None:
        with memory(64) as pointer:
            node = add_fill(graph, pointer, 1)
            with owned(rt.cudaGraphInstantiate(graph, 0), rt.cudaGraphExecDestroy) as executable:
                ok(rt.cudaGraphExecMemsetNodeSetParams(executable, node, fill(pointer, 2)))
                launch(executable)
            assert read(pointer, 16) == [2] * 16
            assert ok(rt.cudaGraphMemsetNodeGetParams(node)).value == 1
            assert ok(rt.cudaGraphNodeGetType(node)) is cudaGraphNodeType.cudaGraphNodeTypeMemset


def test_a_graph_keeps_what_it_uses_alive() -> None:
    gone = threading.Event()
    seen: list[Any] = []

    @HOST_FUNCTION
    def destroy(value: Any) -> None:
        seen.append(value)
        gone.set()

    graph = ok(rt.cudaGraphCreate(0))
    flags = cudaUserObjectFlags.cudaUserObjectNoDestructorSync
    thing = ok(rt.cudaUserObjectCreate(77, destroy, 1, flags))
    ok(rt.cudaUserObjectRetain(thing, 2))
    ok(rt.cudaUserObjectRelease(thing, 2))
    ok(rt.cudaGraphRetainUserObject(graph, thing, 2, 0))
    ok(rt.cudaGraphReleaseUserObject(graph, thing, 1))
    ok(rt.cudaUserObjectRelease(thing, 1))
    assert not gone.wait(0.05)
    ok(rt.cudaGraphDestroy(graph))
    assert gone.wait(60)
    assert seen == [77]


@pytest.mark.parametrize(("value", "filled"), [(1, 7), (0, 0)])
def test_conditional(graph: cudaGraph_t, value: int, filled: int) -> None:
    needs_function("cudaGraphConditionalHandleCreate")
    needs_driver(12, 4)
    handle = ok(rt.cudaGraphConditionalHandleCreate(graph, value, 1))  # cudaGraphCondAssignDefault
    assert isinstance(handle, cudaGraphConditionalHandle)
    parameters = cudaGraphNodeParams(type=cudaGraphNodeType.cudaGraphNodeTypeConditional)
    parameters.conditional.handle = handle
    parameters.conditional.type = cudaGraphConditionalNodeType.cudaGraphCondTypeIf
    parameters.conditional.size = 1
    node = ok(rt.cudaGraphAddNode(graph, None, None, 0, parameters))
    assert ok(rt.cudaGraphNodeGetType(node)) is cudaGraphNodeType.cudaGraphNodeTypeConditional
    (body,) = parameters.conditional.phGraph_out
    with memory(64) as pointer:
        ok(rt.cudaGraphAddMemsetNode(body, None, 0, fill(pointer, 7)))
        with owned(rt.cudaGraphInstantiate(graph, 0), rt.cudaGraphExecDestroy) as executable:
            launch(executable)
        assert read(pointer, 16) == [filled] * 16
