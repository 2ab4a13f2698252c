"""Graphs that are put together node by node."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from ..world import World


def _run(w: World, definition: Any, stream: Any) -> None:
    graph = definition.instantiate()
    graph.launch(stream)
    stream.sync()


def nodes(w: World) -> None:
    stream, event = w.device.create_stream(), w.device.create_event()
    definition, done = w.graph.GraphDefinition(), []
    buffer, host = w.device.allocate(128, stream), np.zeros(32, np.int32)
    child = w.graph.GraphDefinition()
    child.launch(w.one, w.add, buffer, 5)
    last = definition.memset(buffer, 0, 128)
    last = last.launch(w.one, w.add, buffer, 1).embed(child).record(event)
    last = last.callback(lambda: done.append(1)).memcpy(host, buffer, 128)
    definition.join(definition.empty(), last)
    assert len(definition.nodes()) == 8 and len(definition.edges()) == 7 and definition.is_valid
    _run(w, definition, stream)
    assert done == [1] and set(host.tolist()) == {6}
    waits = w.graph.GraphDefinition()
    waits.wait(event).wait(event)
    waits.record(event)
    waits.callback(lambda: done.append(2))
    waits.embed(child)
    waits.memcpy(buffer, host, 128)
    waits.launch(w.one, w.nothing)
    _run(w, waits, stream)
    assert waits.complete() and int(waits.handle)


def kernels(w: World) -> None:
    definition = w.graph.GraphDefinition()
    cooperative = w.core.LaunchConfig(grid=1, block=32, is_cooperative=True)
    clusters = w.core.LaunchConfig(grid=2, cluster=1, block=32)
    first = definition.launch(cooperative, w.nothing)
    second = first.launch(clusters, w.nothing)
    assert first.config == cooperative and second.config == clusters
    assert (first.grid, first.block, first.shmem_size, first.kernel) == ((1, 1, 1), (32, 1, 1), 0, w.nothing)
    buffer = w.device.allocate(128)
    first.update(kernel=w.add, args=(buffer, 1))
    first.update(config=w.core.LaunchConfig(grid=1, block=16, is_cooperative=True))
    assert first.block == (16, 1, 1)


def allocations(w: World) -> None:
    stream = w.device.create_stream()
    definition = w.graph.GraphDefinition()
    first = definition.allocate(64, peer_access=[1])
    assert (first.bytesize, first.device_id, first.memory_type) == (64, 0, "device")
    assert isinstance(first.peer_access, tuple)
    second = first.allocate(64)
    filled = second.memset(first.dptr, 1, 64).memcpy(second.dptr, first.dptr, 64)
    assert filled.deallocate(first.dptr).dptr == first.dptr
    filled.deallocate(second.dptr)
    graph = definition.instantiate()
    graph.launch(stream)
    stream.sync()


def conditions(w: World) -> None:
    definition = w.graph.GraphDefinition()
    one = definition.create_condition(1)
    then = definition.if_then(one)
    both = then.if_else(definition.create_condition(0))
    loop = both.while_loop(definition.create_condition(0))
    last = loop.switch(definition.create_condition(1), 2)
    for body in (then.then, both.then, both.else_, loop.body, *last.branches):
        body.launch(w.one, w.nothing)
        assert body.is_valid
    assert then.condition == one and last.cond_type == "switch" and int(one.handle) == int(one)
    for make in ("if_then", "if_else", "while_loop"):
        getattr(definition, make)(definition.create_condition(0))
    definition.switch(definition.create_condition(), 1)
    then.if_then(definition.create_condition(0))
    _run(w, definition, w.device.create_stream())


def children(w: World) -> None:
    child, definition = w.graph.GraphDefinition(), w.graph.GraphDefinition()
    child.launch(w.one, w.nothing)
    node = definition.embed(child)
    inner = node.child_graph
    inner.empty()
    assert inner.is_valid and len(inner.nodes()) == 2
    other = w.graph.GraphDefinition()
    other.memset(w.device.allocate(64), 1, 64)
    try:
        node.update(other)
    except w.core.CUDAError as error:
        if error.name != "CUDA_ERROR_NOT_SUPPORTED" or "a test wants" in str(error):
            raise


def a_graph_that_is_none(w: World) -> None:
    definition = w.graph.GraphDefinition()
    first = definition.empty()
    second = first.join()
    second.succ.add(first)
    try:
        definition.instantiate()
    except w.core.CUDAError as error:
        if "CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE" not in str(error):
            raise


def c_functions(w: World) -> None:
    seen: list[int] = []
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(seen.append)
    definition = w.graph.GraphDefinition()
    definition.callback(function, user_data=5).join().callback(function, user_data=6)
    _run(w, definition, w.device.create_stream())
    assert seen == [5, 6]
