"""What could not be finished is not there: no node runs without what it uses, or in no order."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from .world import World, world


@pytest.fixture(scope="module")
def w() -> Iterator[World]:
    with world() as made:
        yield made


@pytest.fixture(autouse=True)
def only_calls_of_its_own(w: World) -> Iterator[None]:
    """Calls are counted, and what is garbage would be given back in the middle of them."""
    w.settle()
    gc.disable()
    yield
    gc.enable()


def nodes(w: World, graph: Any) -> int:
    """How many the graph has."""
    return int(w.driver.checked.cuGraphGetNodes(graph)[1])


ADDED: dict[str, Callable[[World, Any, Any], object]] = {
    "launch": lambda w, g, buffer: g.launch(w.one, w.add, buffer, 1),
    "memset": lambda w, g, buffer: g.memset(buffer, 1, 64),
    "memcpy": lambda w, g, buffer: g.memcpy(buffer, bytearray(64), 64),
    "callback": lambda w, g, buffer: g.callback(len),
    "record": lambda w, g, buffer: g.record(w.device.create_event()),
    "wait": lambda w, g, buffer: g.wait(w.device.create_event()),
    "embed": lambda w, g, buffer: g.embed(w.graph.GraphDefinition()),
    "allocate": lambda w, g, buffer: g.allocate(64),
}


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of releases that fail
@pytest.mark.parametrize("name", ADDED)
def test_a_node_that_was_not_finished_is_not_in_the_graph(w: World, name: str) -> None:
    buffer = w.device.allocate(128)
    for number in range(1, 40):
        definition = w.graph.GraphDefinition()
        with w.simulator.failing(call=number) as calls:
            try:
                ADDED[name](w, definition, buffer)
                failed = False
            except w.core.CUDAError:
                failed = True
        assert nodes(w, definition._graph) == (not failed), f"{calls.failed}, call {number}"
        if not calls.failed:
            return
    raise AssertionError("it makes calls without an end")


INSERTED: dict[str, Callable[[World, Any], object]] = {
    "callback": lambda w, builder: builder.callback(len),
    "embed": lambda w, builder: builder.embed(w.graph.GraphDefinition()),
}


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", INSERTED)
def test_nor_in_one_that_is_recorded(w: World, name: str) -> None:
    for number in range(1, 40):
        with w.device.create_graph_builder() as builder:
            builder.begin_building()
            w.core.launch(builder, w.one, w.nothing)
            with w.simulator.failing(call=number) as calls:
                try:
                    INSERTED[name](w, builder)
                    failed = False
                except w.core.CUDAError:
                    failed = True
            builder.end_building()
            found = nodes(w, builder.graph_definition._graph)
        assert found == 2 - failed, f"{calls.failed}, call {number}"
        if not calls.failed:
            return
    raise AssertionError("it makes calls without an end")


def test_a_copy_that_nothing_tells_the_end_of_is_waited_for(w: World) -> None:
    """What it uses may go when the exception is caught."""
    stream, buffer = w.device.create_stream(), w.device.allocate(64)
    with w.simulator.failing("cuEventRecord") as calls, pytest.raises(MemoryError, match="cuEventRecord"):
        buffer.copy_from(bytes(64), stream=stream)
    assert calls.failed
    with w.simulator.failing(call=0) as calls:
        buffer.copy_from(bytes(64), stream=stream)
    number = calls.names.index("cuEventRecord") + 1
    with w.simulator.failing(call=number) as calls, pytest.raises(MemoryError):
        buffer.copy_from(bytes(64), stream=stream)
    assert calls.names[number:].count("cuStreamSynchronize") == 1


def test_what_a_copy_uses_stays_while_its_end_is_not_known(w: World) -> None:
    stream, buffer = w.device.create_stream(), w.device.allocate(64)
    source = np.zeros(64, np.uint8)
    gone = weakref.ref(source)
    buffer.copy_from(source, stream=stream)
    del source
    for status in ("CUDA_ERROR_OUT_OF_MEMORY", "CUDA_ERROR_UNKNOWN"):
        with w.simulator.failing("cuEventQuery", status=status) as calls:
            w.owned.deferred.drain()
        gc.collect()
        assert calls.failed and gone() is not None
    w.owned.deferred.drain()
    gc.collect()
    assert gone() is None


def test_what_a_callback_drops_is_given_back_later(w: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a function that a stream calls CUDA must not be called: freeing page-locked memory waits for it."""
    reports: list[Any] = []
    monkeypatch.setattr("sys.unraisablehook", lambda args: reports.append(args.exc_value))
    before = w.alive()
    kept = [w.core.LegacyPinnedMemoryResource().allocate(64)]
    definition = w.graph.GraphDefinition()
    definition.callback(kept.clear)
    stream = w.device.create_stream()
    definition.instantiate().launch(stream)
    stream.sync()
    stream.close()
    del definition, stream
    assert not w.leak(before)
    assert (kept, reports) == ([], [])
