"""What could not be finished is not there: no node runs without what it uses, or in no order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from .world import World, world


@pytest.fixture(scope="module")
def w() -> Iterator[World]:
    with world() as made:
        yield made


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
