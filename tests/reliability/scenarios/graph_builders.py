"""Graphs that are recorded, and graphs that are launched."""

from __future__ import annotations

import ctypes
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from ..world import World


def recorded(w: World) -> None:
    stream, host = w.device.create_stream(), np.zeros(32, np.int32)
    buffer = w.device.allocate(128, stream)
    pinned = w.core.LegacyPinnedMemoryResource().allocate(128)
    with stream.create_graph_builder() as builder:
        builder.begin_building()
        assert builder.is_building and not builder.is_join_required and builder.__cuda_stream__()[1]
        assert builder.stream is stream
        buffer.fill(0, stream=builder)
        w.core.launch(builder, w.one, w.add, buffer, 1)
        w.core.prepare(builder, w.one, w.add, buffer, 2)(buffer, 2)
        buffer.copy_to(pinned, stream=builder)
        buffer.copy_from(bytes(range(64)), stream=builder)
        builder.end_building()
        graph = builder.complete()
        assert len(builder.graph_definition.nodes()) == 5
    with graph:
        graph.upload(stream)
        graph.launch(stream)
        graph.launch(stream)
        stream.sync()
        assert int(graph.handle)
    host[:] = np.frombuffer(memoryview(np.asarray(pinned)), np.int32)
    assert set(host.tolist()) == {3} and graph.is_closed and builder.is_closed


def forks(w: World) -> None:
    builder = w.device.create_graph_builder().begin_building("thread_local")
    one, two, three = builder.split(3)
    for part in (one, two, three):
        w.core.launch(part, w.one, w.nothing)
    assert two.is_join_required
    joined = w.graph.GraphBuilder.join(three, two)
    w.core.launch(joined, w.one, w.nothing)
    assert w.graph.GraphBuilder.join(one, joined) is builder
    graph = builder.end_building().complete(w.graph.GraphCompleteOptions(use_node_priority=True))
    graph.launch(builder.stream)
    builder.stream.sync()


def left_unfinished(w: World) -> None:
    stream = w.device.create_stream()
    builder = stream.create_graph_builder().begin_building("global")
    builder.split(2)
    builder.close()
    again = stream.create_graph_builder().begin_building()
    again.split(2)
    try:
        again.end_building()
    except w.core.CUDAError as error:
        if error.name != "CUDA_ERROR_STREAM_CAPTURE_UNJOINED":
            raise
    w.device.create_graph_builder().begin_building()
    stream.sync()


def left_with_memory(w: World) -> None:
    """What was allocated in captures that are abandoned, or fail, and outlives them."""
    stream = w.device.create_stream()
    resources = w.device.memory_resource, w.core.GraphMemoryResource(0), w.core.LegacyPinnedMemoryResource()
    builder = stream.create_graph_builder().begin_building()
    left = {resource: resource.allocate(64, stream=builder) for resource in resources}  # soon of no use
    builder.callback(lambda: builder)
    part = builder.split(2)[1]
    builder.close()
    again = stream.create_graph_builder().begin_building("thread_local")
    left[None] = w.device.allocate(64, stream=again)
    left[None].fill(1, stream=again)
    again.close()
    assert not part.is_building
    left.clear()
    stream.sync()


def insertions(w: World) -> None:
    stream = w.device.create_stream()
    done: list[int] = []
    child = stream.create_graph_builder().begin_building()
    w.core.launch(child, w.one, w.nothing)
    child.end_building()
    builder = stream.create_graph_builder().begin_building()
    builder.callback(lambda: done.append(1))
    builder.embed(child)
    builder.embed(child.graph_definition)
    builder.callback(ctypes.CFUNCTYPE(None, ctypes.c_void_p)(done.append), user_data=5)
    graph = builder.end_building().complete()
    graph.launch(stream)
    stream.sync()
    assert done == [1, 5] and len(builder.graph_definition.edges()) == 3


def conditions(w: World) -> None:
    stream = w.device.create_stream()
    buffer = w.device.allocate(128, stream)
    buffer.fill(0, stream=stream)
    builder = stream.create_graph_builder().begin_building()
    bodies = [
        builder.if_then(builder.create_condition(1)),
        *builder.if_else(builder.create_condition(0)),
        builder.while_loop(builder.create_condition(0)),
        *builder.switch(builder.create_condition(1), 2),
    ]
    for body in bodies:
        body.begin_building()
        w.core.launch(body, w.one, w.add, buffer, 1)
        body.end_building()
    graph = builder.end_building().complete()
    graph.launch(stream)
    found = np.empty(32, np.int32)
    buffer.copy_to(found, stream=stream)
    stream.sync()
    assert set(found.tolist()) == {3}


def pictures(w: World) -> None:
    builder = w.device.create_graph_builder().begin_building()
    w.core.launch(builder, w.one, w.nothing)
    builder.end_building()
    with TemporaryDirectory() as folder:
        path = Path(folder, "graph.dot")
        for drawn in (builder, builder.graph_definition):
            drawn.debug_dot_print(path, {"verbose": True})
            assert "digraph" in path.read_text() and "digraph" in drawn.dot()
            drawn.debug_print(path)


def updated(w: World) -> None:
    stream = w.device.create_stream()
    buffer = w.device.allocate(128, stream)
    buffer.fill(0, stream=stream)

    def build(value: int) -> Any:
        builder = stream.create_graph_builder().begin_building()
        w.core.launch(builder, w.one, w.add, buffer, value)
        return builder.end_building()

    graph = build(1).complete(w.graph.GraphCompleteOptions(upload_stream=stream))
    graph.launch(stream)
    graph.update(build(10))
    graph.launch(stream)
    other = w.graph.GraphDefinition()
    other.empty().join()
    try:
        graph.update(other)
    except w.graph.GraphUpdateError as error:
        if error.result.name != "CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED":
            raise
    found = np.empty(32, np.int32)
    buffer.copy_to(found, stream=stream)
    stream.sync()
    assert set(found.tolist()) == {11}


def foreign_capture(w: World) -> None:
    """Somebody else captures a stream in which core copies."""
    stream = w.device.create_stream()
    pinned, buffer = w.core.LegacyPinnedMemoryResource().allocate(64), w.device.allocate(64)
    w.driver.checked.cuStreamBeginCapture(stream.handle, 2)
    try:
        buffer.copy_from(pinned, stream=stream)
        buffer.copy_from(bytes(64), stream=stream)
    except BaseException:
        w.driver.checked.cuGraphDestroy(w.driver.checked.cuStreamEndCapture(stream.handle))
        raise
    w.driver.checked.cuGraphDestroy(w.driver.checked.cuStreamEndCapture(stream.handle))
