"""The Runtime API: graphs recorded from the work of streams."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from cudapy import runtime as rt
from cudapy.runtime import (
    cudaError_t,
    cudaGraph_t,
    cudaGraphNodeType,
    cudaMemsetParams,
    cudaStream_t,
    cudaStreamCaptureMode,
    cudaStreamCaptureStatus,
    cudaStreamUpdateCaptureDependenciesFlags,
)

from .kernels import needs_driver, ok, owned
from .runtime_kernels import FILL_TYPES, event, kernel, launch, memory, needs_function, read, stream
from .runtime_kernels import device as device

pytestmark = pytest.mark.gpu

GLOBAL = cudaStreamCaptureMode.cudaStreamCaptureModeGlobal
RELAXED = cudaStreamCaptureMode.cudaStreamCaptureModeRelaxed
ACTIVE = cudaStreamCaptureStatus.cudaStreamCaptureStatusActive
NONE = cudaStreamCaptureStatus.cudaStreamCaptureStatusNone
ONE, TWO, THREE = 0x01010101, 0x02020202, 0x03030303


@pytest.fixture
def queue() -> Iterator[cudaStream_t]:
    with stream() as made:
        yield made


def run(graph: cudaGraph_t, queue: cudaStream_t) -> None:
    with owned(rt.cudaGraphInstantiate(graph, 0), rt.cudaGraphExecDestroy) as executable:
        ok(rt.cudaGraphLaunch(executable, queue))
        ok(rt.cudaStreamSynchronize(queue))


def test_work_is_recorded_and_runs_later(queue: cudaStream_t) -> None:
    with memory(64) as pointer:
        func = kernel("fill")
        launch(func, 1, (pointer, 0, 1), FILL_TYPES)  # loads it
        ok(rt.cudaDeviceSynchronize())
        ok(rt.cudaStreamBeginCapture(queue, GLOBAL))
        ok(rt.cudaMemsetAsync(pointer, 1, 64, queue))
        launch(func, 4, (pointer, 2, 4), FILL_TYPES, queue)
        with owned(rt.cudaStreamEndCapture(queue), rt.cudaGraphDestroy) as graph:
            assert isinstance(graph, cudaGraph_t)
            assert read(pointer, 16) == [0] * 16
            assert ok(rt.cudaGraphGetNodes(graph, 0))[1] == 2
            run(graph, queue)
            assert read(pointer, 16) == [2] * 4 + [ONE] * 12


def test_the_state_of_a_capture(queue: cudaStream_t) -> None:
    with memory(64) as pointer:
        assert ok(rt.cudaStreamIsCapturing(queue)) == NONE
        assert ok(rt.cudaStreamGetCaptureInfo(queue))[0] == NONE
        ok(rt.cudaStreamBeginCapture(queue, RELAXED))
        assert ok(rt.cudaStreamIsCapturing(queue)) == ACTIVE
        ok(rt.cudaMemsetAsync(pointer, 1, 64, queue))
        state, number, graph, follows, edges, count = ok(rt.cudaStreamGetCaptureInfo(queue))
        nodes, _ = ok(rt.cudaGraphGetNodes(graph, 1))
        with owned(rt.cudaStreamEndCapture(queue), rt.cudaGraphDestroy) as result:
            assert result == graph
        assert state is ACTIVE
        assert number and (count, follows) == (1, nodes)
        assert all(edge.type == 0 for edge in edges)


def test_a_fork_that_is_joined(queue: cudaStream_t) -> None:
    with memory(48) as pointer, stream() as other, event() as fork, event() as join:
        ok(rt.cudaStreamBeginCapture(queue, GLOBAL))
        ok(rt.cudaEventRecord(fork, queue))
        ok(rt.cudaStreamWaitEvent(other, fork, 0))
        ok(rt.cudaMemsetAsync(pointer, 1, 16, queue))
        ok(rt.cudaMemsetAsync(pointer + 16, 2, 16, other))
        assert ok(rt.cudaStreamIsCapturing(other)) == ACTIVE
        ok(rt.cudaEventRecord(join, other))
        ok(rt.cudaStreamWaitEvent(queue, join, 0))
        ok(rt.cudaMemsetAsync(pointer + 32, 3, 16, queue))
        with owned(rt.cudaStreamEndCapture(queue), rt.cudaGraphDestroy) as graph:
            assert ok(rt.cudaGraphGetNodes(graph, 0))[1] == 3
            assert ok(rt.cudaGraphGetRootNodes(graph, 0))[1] == 2
            run(graph, queue)
        assert read(pointer, 12) == [ONE] * 4 + [TWO] * 4 + [THREE] * 4


def test_a_fork_that_is_not_joined(queue: cudaStream_t) -> None:
    with memory(64) as pointer, stream() as other, event() as fork:
        ok(rt.cudaStreamBeginCapture(queue, GLOBAL))
        ok(rt.cudaEventRecord(fork, queue))
        ok(rt.cudaStreamWaitEvent(other, fork, 0))
        ok(rt.cudaMemsetAsync(pointer, 1, 16, other))
        status, graph = rt.cudaStreamEndCapture(queue)
        assert (status, graph) == (cudaError_t.cudaErrorStreamCaptureUnjoined, None)
        assert read(pointer, 4) == [0] * 4


def test_waiting_spoils_a_capture(queue: cudaStream_t) -> None:
    ok(rt.cudaStreamBeginCapture(queue, GLOBAL))
    assert rt.cudaStreamSynchronize(queue) == (cudaError_t.cudaErrorStreamCaptureUnsupported,)
    invalid = cudaStreamCaptureStatus.cudaStreamCaptureStatusInvalidated
    assert ok(rt.cudaStreamIsCapturing(queue)) == invalid
    assert rt.cudaStreamEndCapture(queue) == (cudaError_t.cudaErrorStreamCaptureInvalidated, None)
    assert ok(rt.cudaStreamIsCapturing(queue)) == NONE


def test_the_mode_of_a_thread_is_exchanged() -> None:
    before = ok(rt.cudaThreadExchangeStreamCaptureMode(RELAXED))
    assert ok(rt.cudaThreadExchangeStreamCaptureMode(before)) is RELAXED
    assert before is GLOBAL


def test_an_external_event_becomes_a_node(queue: cudaStream_t) -> None:
    with event() as done:
        ok(rt.cudaStreamBeginCapture(queue, RELAXED))
        ok(rt.cudaEventRecordWithFlags(done, queue, rt.cudaEventRecordExternal))
        ok(rt.cudaStreamWaitEvent(queue, done, rt.cudaEventWaitExternal))
        with owned(rt.cudaStreamEndCapture(queue), rt.cudaGraphDestroy) as graph:
            nodes, count = ok(rt.cudaGraphGetNodes(graph, 2))
            assert count == 2
            assert {ok(rt.cudaGraphNodeGetType(node)) for node in nodes} == {
                cudaGraphNodeType.cudaGraphNodeTypeEventRecord,
                cudaGraphNodeType.cudaGraphNodeTypeWaitEvent,
            }


def test_capture_into_a_graph_that_has_nodes(queue: cudaStream_t) -> None:
    needs_function("cudaStreamBeginCaptureToGraph")
    needs_driver(12, 3)
    with memory(64) as pointer, owned(rt.cudaGraphCreate(0), rt.cudaGraphDestroy) as graph:
        whole = cudaMemsetParams(dst=pointer, value=7, elementSize=4, width=16, height=1)
        first = ok(rt.cudaGraphAddMemsetNode(graph, None, 0, whole))
        ok(rt.cudaStreamBeginCaptureToGraph(queue, graph, [first], None, 1, RELAXED))
        ok(rt.cudaMemsetAsync(pointer, 2, 16, queue))
        assert ok(rt.cudaStreamEndCapture(queue)) == graph
        assert ok(rt.cudaGraphNodeGetDependentNodes(first, 1))[2] == 1
        run(graph, queue)
        assert read(pointer, 16) == [TWO] * 4 + [7] * 12


@pytest.mark.parametrize("form", ["cuda12", "cuda13"])
def test_what_comes_next_may_follow_nothing(queue: cudaStream_t, form: str) -> None:
    kinds = cudaStreamUpdateCaptureDependenciesFlags
    data: tuple[Any, ...] = () if form == "cuda12" else (None,)
    with memory(48) as pointer:
        ok(rt.cudaStreamBeginCapture(queue, RELAXED))
        ok(rt.cudaMemsetAsync(pointer, 1, 16, queue))
        follows = ok(rt.cudaStreamGetCaptureInfo(queue))[3]
        replace, add = kinds.cudaStreamSetCaptureDependencies, kinds.cudaStreamAddCaptureDependencies
        ok(rt.cudaStreamUpdateCaptureDependencies(queue, [], *data, 0, replace))
        ok(rt.cudaMemsetAsync(pointer + 16, 2, 16, queue))
        ok(rt.cudaStreamUpdateCaptureDependencies(queue, follows, *data, 1, add))
        ok(rt.cudaMemsetAsync(pointer + 32, 3, 16, queue))
        with owned(rt.cudaStreamEndCapture(queue), rt.cudaGraphDestroy) as graph:
            assert ok(rt.cudaGraphGetRootNodes(graph, 0))[1] == 2
            assert ok(rt.cudaGraphGetEdges(graph, 0))[3] == 2
            run(graph, queue)
        assert read(pointer, 12) == [ONE] * 4 + [TWO] * 4 + [THREE] * 4
