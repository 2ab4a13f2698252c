"""Graphs recorded from the work of streams."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import pytest

from cudapy import driver
from cudapy.driver import (
    CUDA_MEMSET_NODE_PARAMS,
    CUcontext,
    CUgraph,
    CUgraphNodeType,
    CUresult,
    CUstream,
    CUstreamCaptureMode,
    CUstreamCaptureStatus,
    CUstreamUpdateCaptureDependencies_flags,
)

from .kernels import context as context
from .kernels import event, function, launch, memory, needs_driver, ok, owned, read, stream

pytestmark = pytest.mark.gpu

Mode = CUstreamCaptureMode
Status = CUstreamCaptureStatus
FILL_TYPES = (ctypes.c_void_p, ctypes.c_int, ctypes.c_int)


@pytest.fixture
def queue() -> Iterator[CUstream]:
    with stream() as made:
        yield made


def run(graph: CUgraph, queue: CUstream) -> None:
    with owned(driver.cuGraphInstantiate(graph, 0), driver.cuGraphExecDestroy) as executable:
        ok(driver.cuGraphLaunch(executable, queue))
        ok(driver.cuStreamSynchronize(queue))


def test_work_is_recorded_and_runs_later(queue: CUstream) -> None:
    fill = function("fill")
    with memory(64) as pointer:
        ok(driver.cuStreamBeginCapture(queue, Mode.CU_STREAM_CAPTURE_MODE_GLOBAL))
        ok(driver.cuMemsetD32Async(pointer, 1, 16, queue))
        launch(fill, 4, (int(pointer), 2, 4), FILL_TYPES, queue)
        with owned(driver.cuStreamEndCapture(queue), driver.cuGraphDestroy) as graph:
            assert read(pointer, 16) == [0] * 16
            assert ok(driver.cuGraphGetNodes(graph))[1] == 2
            run(graph, queue)
            assert read(pointer, 16) == [2] * 4 + [1] * 12


def test_the_state_of_a_capture(queue: CUstream) -> None:
    needs_driver(12, 3)
    with memory(64) as pointer:
        assert ok(driver.cuStreamIsCapturing(queue)) == Status.CU_STREAM_CAPTURE_STATUS_NONE
        assert ok(driver.cuStreamGetCaptureInfo(queue))[0] == Status.CU_STREAM_CAPTURE_STATUS_NONE
        ok(driver.cuStreamBeginCapture(queue, Mode.CU_STREAM_CAPTURE_MODE_RELAXED))
        assert ok(driver.cuStreamIsCapturing(queue)) == Status.CU_STREAM_CAPTURE_STATUS_ACTIVE
        ok(driver.cuMemsetD32Async(pointer, 1, 16, queue))
        state, number, graph, follows, edges, count = ok(driver.cuStreamGetCaptureInfo(queue))
        older = ok(driver.cuStreamGetCaptureInfo_v2(queue))
        nodes, _ = ok(driver.cuGraphGetNodes(graph, 1))
        with owned(driver.cuStreamEndCapture(queue), driver.cuGraphDestroy) as result:
            assert result == graph
        assert state == Status.CU_STREAM_CAPTURE_STATUS_ACTIVE
        assert isinstance(state, CUstreamCaptureStatus)
        assert int(number) and (count, follows) == (1, nodes)
        assert all(edge.type == 0 for edge in edges)
        assert older == (state, number, graph, follows, count)


def test_a_fork_that_is_joined(queue: CUstream) -> None:
    with memory(64) as pointer, stream() as other, event() as fork, event() as join:
        ok(driver.cuStreamBeginCapture(queue, Mode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL))
        ok(driver.cuEventRecord(fork, queue))
        ok(driver.cuStreamWaitEvent(other, fork, 0))
        ok(driver.cuMemsetD32Async(pointer, 1, 4, queue))
        ok(driver.cuMemsetD32Async(int(pointer) + 16, 2, 4, other))
        assert ok(driver.cuStreamIsCapturing(other)) == Status.CU_STREAM_CAPTURE_STATUS_ACTIVE
        ok(driver.cuEventRecord(join, other))
        ok(driver.cuStreamWaitEvent(queue, join, 0))
        ok(driver.cuMemsetD32Async(int(pointer) + 32, 3, 4, queue))
        with owned(driver.cuStreamEndCapture(queue), driver.cuGraphDestroy) as graph:
            assert ok(driver.cuGraphGetNodes(graph))[1] == 3
            assert ok(driver.cuGraphGetRootNodes(graph))[1] == 2
            run(graph, queue)
        assert read(pointer, 16) == [1] * 4 + [2] * 4 + [3] * 4 + [0] * 4


def test_a_fork_that_is_not_joined(queue: CUstream) -> None:
    with memory(64) as pointer, stream() as other, event() as fork:
        ok(driver.cuStreamBeginCapture(queue, Mode.CU_STREAM_CAPTURE_MODE_GLOBAL))
        ok(driver.cuEventRecord(fork, queue))
        ok(driver.cuStreamWaitEvent(other, fork, 0))
        ok(driver.cuMemsetD32Async(pointer, 1, 4, other))
        status, graph = driver.cuStreamEndCapture(queue)
        assert (status, graph) == (CUresult.CUDA_ERROR_STREAM_CAPTURE_UNJOINED, None)
        assert read(pointer, 4) == [0] * 4


def test_waiting_spoils_a_capture(queue: CUstream) -> None:
    ok(driver.cuStreamBeginCapture(queue, Mode.CU_STREAM_CAPTURE_MODE_GLOBAL))
    assert driver.cuStreamSynchronize(queue) == (CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,)
    assert ok(driver.cuStreamIsCapturing(queue)) == Status.CU_STREAM_CAPTURE_STATUS_INVALIDATED
    assert driver.cuStreamEndCapture(queue) == (CUresult.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, None)
    assert ok(driver.cuStreamIsCapturing(queue)) == Status.CU_STREAM_CAPTURE_STATUS_NONE


def test_the_mode_of_a_thread_is_exchanged() -> None:
    before = ok(driver.cuThreadExchangeStreamCaptureMode(Mode.CU_STREAM_CAPTURE_MODE_RELAXED))
    relaxed = ok(driver.cuThreadExchangeStreamCaptureMode(before))
    assert isinstance(before, CUstreamCaptureMode)
    assert relaxed == Mode.CU_STREAM_CAPTURE_MODE_RELAXED
    assert before == Mode.CU_STREAM_CAPTURE_MODE_GLOBAL


def test_a_relaxed_thread_may_allocate_during_a_capture(queue: CUstream) -> None:
    ok(driver.cuStreamBeginCapture(queue, Mode.CU_STREAM_CAPTURE_MODE_RELAXED))
    with owned(driver.cuMemAlloc(64), driver.cuMemFree) as pointer:
        ok(driver.cuMemsetD8Async(pointer, 1, 64, queue))
        with owned(driver.cuStreamEndCapture(queue), driver.cuGraphDestroy) as graph:
            assert ok(driver.cuGraphGetNodes(graph))[1] == 1


def test_capture_into_a_graph_that_has_nodes(queue: CUstream, context: CUcontext) -> None:
    needs_driver(12, 3)
    with memory(64) as pointer, owned(driver.cuGraphCreate(0), driver.cuGraphDestroy) as graph:
        fill = CUDA_MEMSET_NODE_PARAMS(dst=pointer, value=1, elementSize=4, width=16, height=1)
        first = ok(driver.cuGraphAddMemsetNode(graph, None, 0, fill, context))
        relaxed = Mode.CU_STREAM_CAPTURE_MODE_RELAXED
        ok(driver.cuStreamBeginCaptureToGraph(queue, graph, [first], None, 1, relaxed))
        ok(driver.cuMemsetD32Async(pointer, 2, 4, queue))
        assert ok(driver.cuStreamEndCapture(queue)) == graph
        (second,), _, count = ok(driver.cuGraphNodeGetDependentNodes(first, 1))
        assert count == 1
        assert ok(driver.cuGraphNodeGetType(second)) == CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEMSET
        run(graph, queue)
        assert read(pointer, 16) == [2] * 4 + [1] * 12


@pytest.mark.parametrize("form", ["cuda12", "cuda13"])
def test_what_comes_next_may_follow_nothing(queue: CUstream, form: str) -> None:
    if form == "cuda13":
        needs_driver(12, 3)
    replace = CUstreamUpdateCaptureDependencies_flags.CU_STREAM_SET_CAPTURE_DEPENDENCIES
    with memory(64) as pointer:
        ok(driver.cuStreamBeginCapture(queue, Mode.CU_STREAM_CAPTURE_MODE_RELAXED))
        ok(driver.cuMemsetD32Async(pointer, 1, 4, queue))
        follows = ok(driver.cuStreamGetCaptureInfo_v2(queue))[3]
        if form == "cuda12":
            ok(driver.cuStreamUpdateCaptureDependencies(queue, [], 0, replace))
        else:
            ok(driver.cuStreamUpdateCaptureDependencies(queue, [], None, 0, replace))
        ok(driver.cuMemsetD32Async(int(pointer) + 16, 2, 4, queue))
        add = CUstreamUpdateCaptureDependencies_flags.CU_STREAM_ADD_CAPTURE_DEPENDENCIES
        ok(driver.cuStreamUpdateCaptureDependencies(queue, follows, 1, add))
        ok(driver.cuMemsetD32Async(int(pointer) + 32, 3, 4, queue))
        with owned(driver.cuStreamEndCapture(queue), driver.cuGraphDestroy) as graph:
            assert ok(driver.cuGraphGetRootNodes(graph))[1] == 2
            assert ok(driver.cuGraphGetEdges(graph))[3] == 2
