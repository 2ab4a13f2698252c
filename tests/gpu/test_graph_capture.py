"""Graphs recorded from the work of streams."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from cudapy import driver

from .apis import Api
from .apis import api as api
from .kernels import needs_driver, ok, owned
from .runtime_kernels import FILL_TYPES

pytestmark = pytest.mark.gpu

ONE, TWO, THREE = 0x01010101, 0x02020202, 0x03030303


@pytest.fixture
def queue(api: Api) -> Iterator[Any]:
    with api.stream() as made:
        yield made


def run(api: Api, graph: Any, queue: Any) -> None:
    with api.executable(graph) as executable:
        ok(api.GraphLaunch(executable, queue))
        ok(api.StreamSynchronize(queue))


def test_work_is_recorded_and_runs_later(api: Api, queue: Any) -> None:
    fill = api.kernel("fill")
    with api.memory(64) as pointer:
        api.launch(fill, 1, (int(pointer), 0, 1), FILL_TYPES)  # loads it
        ok(api.CtxSynchronize())
        ok(api.StreamBeginCapture(queue, api.StreamCaptureModeGlobal))
        ok(api.MemsetAsync(pointer, 1, 64, queue))
        api.launch(fill, 4, (int(pointer), 2, 4), FILL_TYPES, queue)
        with owned(api.StreamEndCapture(queue), api.GraphDestroy) as graph:
            assert isinstance(graph, api.Graph)
            assert api.read(pointer, 16) == [0] * 16
            assert ok(api.GraphGetNodes(graph, 0))[1] == 2
            run(api, graph, queue)
            assert api.read(pointer, 16) == [2] * 4 + [ONE] * 12


def test_the_state_of_a_capture(api: Api, queue: Any) -> None:
    needs_driver(12, 3)
    none, active = api.StreamCaptureStatusNone, api.StreamCaptureStatusActive
    with api.memory(64) as pointer:
        assert ok(api.StreamIsCapturing(queue)) == none
        assert ok(api.StreamGetCaptureInfo(queue))[0] == none
        ok(api.StreamBeginCapture(queue, api.StreamCaptureModeRelaxed))
        assert ok(api.StreamIsCapturing(queue)) == active
        ok(api.MemsetAsync(pointer, 1, 64, queue))
        state, number, graph, follows, edges, count = ok(api.StreamGetCaptureInfo(queue))
        older = ok(driver.cuStreamGetCaptureInfo_v2(queue))
        nodes, _ = ok(api.GraphGetNodes(graph, 1))
        with owned(api.StreamEndCapture(queue), api.GraphDestroy) as result:
            assert result == graph
        assert state is active
        assert int(number) and (count, follows) == (1, nodes)
        assert all(edge.type == 0 for edge in edges)
        assert older == (state, number, graph, follows, count)


@pytest.mark.parametrize("mode", ["Global", "ThreadLocal"])
def test_a_fork_that_is_joined(api: Api, queue: Any, mode: str) -> None:
    with api.memory(64) as pointer, api.stream() as other, api.event() as fork, api.event() as join:
        ok(api.StreamBeginCapture(queue, getattr(api, f"StreamCaptureMode{mode}")))
        ok(api.EventRecord(fork, queue))
        ok(api.StreamWaitEvent(other, fork, 0))
        ok(api.MemsetAsync(pointer, 1, 16, queue))
        ok(api.MemsetAsync(int(pointer) + 16, 2, 16, other))
        assert ok(api.StreamIsCapturing(other)) == api.StreamCaptureStatusActive
        ok(api.EventRecord(join, other))
        ok(api.StreamWaitEvent(queue, join, 0))
        ok(api.MemsetAsync(int(pointer) + 32, 3, 16, queue))
        with owned(api.StreamEndCapture(queue), api.GraphDestroy) as graph:
            assert ok(api.GraphGetNodes(graph, 0))[1] == 3
            assert ok(api.GraphGetRootNodes(graph, 0))[1] == 2
            run(api, graph, queue)
        assert api.read(pointer, 16) == [ONE] * 4 + [TWO] * 4 + [THREE] * 4 + [0] * 4


def test_a_fork_that_is_not_joined(api: Api, queue: Any) -> None:
    with api.memory(64) as pointer, api.stream() as other, api.event() as fork:
        ok(api.StreamBeginCapture(queue, api.StreamCaptureModeGlobal))
        ok(api.EventRecord(fork, queue))
        ok(api.StreamWaitEvent(other, fork, 0))
        ok(api.MemsetAsync(pointer, 1, 16, other))
        assert api.StreamEndCapture(queue) == (api.ErrorStreamCaptureUnjoined, None)
        assert api.read(pointer, 4) == [0] * 4


def test_waiting_spoils_a_capture(api: Api, queue: Any) -> None:
    ok(api.StreamBeginCapture(queue, api.StreamCaptureModeGlobal))
    assert api.StreamSynchronize(queue) == (api.ErrorStreamCaptureUnsupported,)
    assert ok(api.StreamIsCapturing(queue)) == api.StreamCaptureStatusInvalidated
    assert api.StreamEndCapture(queue) == (api.ErrorStreamCaptureInvalidated, None)
    assert ok(api.StreamIsCapturing(queue)) == api.StreamCaptureStatusNone


def test_the_mode_of_a_thread_is_exchanged(api: Api) -> None:
    before = ok(api.ThreadExchangeStreamCaptureMode(api.StreamCaptureModeRelaxed))
    assert ok(api.ThreadExchangeStreamCaptureMode(before)) is api.StreamCaptureModeRelaxed
    assert before is api.StreamCaptureModeGlobal


def test_a_relaxed_thread_may_allocate_during_a_capture(api: Api, queue: Any) -> None:
    ok(api.StreamBeginCapture(queue, api.StreamCaptureModeRelaxed))
    with owned(api.Malloc(64), api.Free) as pointer:
        ok(api.MemsetAsync(pointer, 1, 64, queue))
        with owned(api.StreamEndCapture(queue), api.GraphDestroy) as graph:
            assert ok(api.GraphGetNodes(graph, 0))[1] == 1


def test_an_external_event_becomes_a_node(api: Api, queue: Any) -> None:
    with api.event() as done:
        ok(api.StreamBeginCapture(queue, api.StreamCaptureModeRelaxed))
        ok(api.EventRecordWithFlags(done, queue, api.EventRecordExternal))
        ok(api.StreamWaitEvent(queue, done, api.EventWaitExternal))
        with owned(api.StreamEndCapture(queue), api.GraphDestroy) as graph:
            nodes, count = ok(api.GraphGetNodes(graph, 2))
            assert count == 2
            kinds = {api.GraphNodeTypeEventRecord, api.GraphNodeTypeWaitEvent}
            assert {ok(api.GraphNodeGetType(node)) for node in nodes} == kinds


def test_capture_into_a_graph_that_has_nodes(api: Api, queue: Any) -> None:
    api.needs_function("StreamBeginCaptureToGraph")
    needs_driver(12, 3)
    with api.memory(64) as pointer, api.graph() as graph:
        first = api.add_fill(graph, pointer, 7)
        ok(api.StreamBeginCaptureToGraph(queue, graph, [first], None, 1, api.StreamCaptureModeRelaxed))
        ok(api.MemsetAsync(pointer, 2, 16, queue))
        assert ok(api.StreamEndCapture(queue)) == graph
        (second,), _, count = ok(api.GraphNodeGetDependentNodes(first, 1))
        assert count == 1
        assert ok(api.GraphNodeGetType(second)) is api.GraphNodeTypeMemset
        run(api, graph, queue)
        assert api.read(pointer, 16) == [TWO] * 4 + [7] * 12


@pytest.mark.parametrize("form", ["cuda12", "cuda13"])
def test_what_comes_next_may_follow_nothing(api: Api, queue: Any, form: str) -> None:
    if form == "cuda13":
        needs_driver(12, 3)
    data: tuple[Any, ...] = () if form == "cuda12" else (None,)
    with api.memory(48) as pointer:
        ok(api.StreamBeginCapture(queue, api.StreamCaptureModeRelaxed))
        ok(api.MemsetAsync(pointer, 1, 16, queue))
        follows = ok(api.StreamGetCaptureInfo(queue))[3]
        replace, add = api.StreamSetCaptureDependencies, api.StreamAddCaptureDependencies
        ok(api.StreamUpdateCaptureDependencies(queue, [], *data, 0, replace))
        ok(api.MemsetAsync(int(pointer) + 16, 2, 16, queue))
        ok(api.StreamUpdateCaptureDependencies(queue, follows, *data, 1, add))
        ok(api.MemsetAsync(int(pointer) + 32, 3, 16, queue))
        with owned(api.StreamEndCapture(queue), api.GraphDestroy) as graph:
            assert ok(api.GraphGetRootNodes(graph, 0))[1] == 2
            assert ok(api.GraphGetEdges(graph, 0))[3] == 2
            run(api, graph, queue)
        assert api.read(pointer, 12) == [ONE] * 4 + [TWO] * 4 + [THREE] * 4
