"""Who keeps alive what a graph uses: the driver, as long as the graph, a copy or a launch may use it."""

from __future__ import annotations

import ctypes
import gc
import os
import subprocess
import sys
import threading
import time
import weakref
from pathlib import Path

import numpy as np
import pytest
from cudapy.core.graph import GraphDefinition

from cudapy import driver
from cudapy.core import LaunchConfig, LegacyPinnedMemoryResource, Program, launch

from .core_graph import content, zeros
from .core_graph import kernels as kernels
from .core_graph import nothing_is_left as nothing_is_left
from .kernels import needs_driver

pytestmark = pytest.mark.gpu

ONE = LaunchConfig(grid=1, block=32)


class Thing:
    """Something that can be watched."""

    def __call__(self) -> None:
        pass


def gone(reference, device) -> bool:
    """Whether what `reference` leads to was dropped, which the driver tells some time later."""
    for _ in range(200):
        gc.collect()
        device.sync()
        if reference() is None:
            return True
        time.sleep(0.005)
    return False


def alive(reference, device) -> bool:
    """Whether it is there still, after the driver had some time."""
    for _ in range(5):
        gc.collect()
        device.sync()
        time.sleep(0.01)
    return reference() is not None


def watched():
    thing = Thing()
    return thing, weakref.ref(thing)


def test_a_definition_keeps_what_its_nodes_use(device) -> None:
    thing, reference = watched()
    definition = GraphDefinition()
    definition.callback(thing)
    del thing
    assert alive(reference, device)
    del definition
    assert gone(reference, device)


def test_an_executable_keeps_it_without_the_definition(device, stream) -> None:
    thing, reference = watched()
    definition = GraphDefinition()
    definition.callback(thing)
    graph = definition.instantiate()
    del thing, definition
    assert alive(reference, device)
    graph.launch(stream)
    stream.sync()
    graph.close()
    assert gone(reference, device)


def test_what_nodes_inside_a_node_use_goes_with_it(device) -> None:
    needs_driver(12, 4)
    thing, reference = watched()
    definition = GraphDefinition()
    node = definition.if_then(definition.create_condition(1))
    node.then.callback(thing)
    del thing
    assert alive(reference, device)
    node.destroy()
    assert gone(reference, device)


def test_a_copy_that_the_c_function_makes_keeps_it(device) -> None:
    thing, reference = watched()
    definition = GraphDefinition()
    definition.callback(thing)
    clone = driver.checked.cuGraphClone(definition.handle)
    del thing, definition
    assert alive(reference, device)
    driver.checked.cuGraphDestroy(clone)
    assert gone(reference, device)


def test_a_launch_under_way_keeps_it(device, stream) -> None:
    thing, reference = watched()
    gate = threading.Event()
    definition = GraphDefinition()
    definition.callback(lambda: gate.wait(60)).join().callback(thing)
    graph = definition.instantiate()
    graph.launch(stream)
    graph.close()
    del thing, definition, graph
    gc.collect()
    time.sleep(0.05)
    device.create_event()
    assert reference() is not None
    gate.set()
    stream.sync()
    assert gone(reference, device)


def test_an_embedded_graph_keeps_it(device, stream) -> None:
    thing, reference = watched()
    inner, outer = GraphDefinition(), GraphDefinition()
    inner.callback(thing)
    outer.embed(inner)
    del thing, inner
    assert alive(reference, device)
    graph = outer.instantiate()
    del outer
    assert alive(reference, device)
    graph.close()
    assert gone(reference, device)


def test_the_body_of_a_condition_keeps_it(device, stream) -> None:
    needs_driver(12, 4)
    thing, reference = watched()
    definition = GraphDefinition()
    node = definition.if_then(definition.create_condition(1))
    buffer = zeros(device, stream, 1)
    node.then.memset(buffer.handle, 1, 4, dst_owner=thing)
    graph = definition.instantiate()
    del thing, definition, node
    assert alive(reference, device)
    graph.close()
    assert gone(reference, device)


def test_an_updated_node_lets_go_of_the_old(device) -> None:
    thing, reference = watched()
    definition = GraphDefinition()
    node = definition.callback(thing)
    del thing
    node.update(Thing())
    assert gone(reference, device)


def test_an_updated_node_leaves_older_executables_theirs(device) -> None:
    thing, reference = watched()
    definition = GraphDefinition()
    node = definition.callback(thing)
    graph = definition.instantiate()
    del thing
    node.update(Thing())
    assert alive(reference, device)
    graph.close()
    assert gone(reference, device)


def test_a_destroyed_node_lets_go(device) -> None:
    thing, reference = watched()
    definition = GraphDefinition()
    node = definition.callback(thing)
    del thing
    node.destroy()
    assert gone(reference, device)


def test_an_updated_executable_has_what_it_was_updated_with(device, stream) -> None:
    first, old = watched()
    second, new = watched()
    before, after = GraphDefinition(), GraphDefinition()
    before.callback(first)
    after.callback(second)
    graph = before.instantiate()
    graph.update(after)
    del first, second, before, after
    assert alive(new, device)
    assert gone(old, device)
    graph.launch(stream)
    stream.sync()
    graph.close()
    assert gone(new, device)


def test_a_node_of_an_executable_has_what_it_was_given(device, stream) -> None:
    first, old = watched()
    second, new = watched()
    gate = threading.Event()
    definition = GraphDefinition()
    node = definition.callback(lambda: gate.wait(60)).join().callback(Thing())
    graph = definition.instantiate()
    graph[node].update(first)
    del first
    assert alive(old, device)
    graph.launch(stream)
    graph[node].update(second)  # the launch under way calls the first
    gc.collect()
    device.create_event()
    assert old() is not None
    gate.set()
    stream.sync()
    assert gone(old, device)
    graph.launch(stream)
    del second, definition, node
    graph.close()
    del graph
    stream.sync()
    assert gone(new, device)


@pytest.mark.parametrize("then", ["updated", "closed", "dropped"])
def test_a_launch_in_a_closed_stream_has_what_its_node_was_given(device, then) -> None:
    thing, old = watched()
    gate = threading.Event()
    definition = GraphDefinition()
    node = definition.callback(lambda: gate.wait(60)).join().callback(Thing())
    graph = definition.instantiate()
    graph[node].update(thing)
    stream = device.create_stream()
    graph.launch(stream)
    stream.close()
    node.destroy()
    del thing, node, definition
    if then == "updated":
        other = GraphDefinition()
        other.callback(Thing()).join().callback(Thing())
        graph.update(other)
    elif then == "closed":
        graph.close()
    else:
        del graph
    gc.collect()
    device.create_event()
    assert old() is not None
    gate.set()
    device.sync()
    assert gone(old, device)


@pytest.mark.parametrize("where", ["in the stream of the buffer", "in another stream"])
def test_what_is_captured_is_kept(device, kernels, stream, where) -> None:
    code = kernels
    buffer, reference = (b := zeros(device, stream, 32)), weakref.ref(b)
    del b
    host = np.arange(32, dtype=np.int32)
    host_reference = weakref.ref(host)
    maker = stream if where == "in the stream of the buffer" else device
    builder = maker.create_graph_builder().begin_building()
    buffer.copy_from(host, stream=builder)
    launch(builder, ONE, code.get_kernel("add"), buffer, 1)
    graph = builder.end_building().complete()
    out = zeros(device, stream, 32)
    after = GraphDefinition()
    after.memcpy(out, buffer, 128)
    copy = after.instantiate()
    del buffer, host, builder, after
    assert alive(reference, device) and alive(host_reference, device)
    for _ in range(3):
        rubbish = [device.allocate(128, stream) for _ in range(16)]
        for each in rubbish:
            each.fill(255, stream=stream)
        graph.launch(stream)
    copy.launch(stream)
    assert content(out, np.int32, stream).tolist() == list(range(1, 33))
    graph.close()
    copy.close()
    assert gone(reference, device) and gone(host_reference, device)


def test_a_capture_of_somebody_else_keeps_host_memory(device, stream) -> None:
    pinned = LegacyPinnedMemoryResource().allocate(128)
    ctypes.memset(pinned.handle, 7, 128)
    reference = weakref.ref(pinned)
    target = zeros(device, stream, 32)
    driver.checked.cuStreamBeginCapture(
        stream.handle, driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
    )
    target.copy_from(pinned, stream=stream)
    graph = driver.checked.cuStreamEndCapture(stream.handle)
    del pinned
    executable = driver.checked.cuGraphInstantiate(graph, 0)
    driver.checked.cuGraphDestroy(graph)
    assert alive(reference, device)
    driver.checked.cuGraphLaunch(executable, stream.handle)
    assert content(target, np.uint8, stream).tolist() == [7] * 128
    driver.checked.cuGraphExecDestroy(executable)
    assert gone(reference, device)


def test_kernels_are_kept(device, stream) -> None:
    out = zeros(device, stream, 32)
    definition = GraphDefinition()
    source = 'extern "C" __global__ void k(int *x) { x[threadIdx.x] = 5; }'
    definition.launch(ONE, Program(source, "c++").compile("cubin").get_kernel("k"), out)
    graph = definition.instantiate()
    del definition
    gc.collect()
    graph.launch(stream)
    assert content(out, np.int32, stream).tolist() == [5] * 32


@pytest.mark.parametrize("mode", ["global", "thread_local", "relaxed"])
def test_garbage_does_not_spoil_a_capture(device, stream, mode) -> None:
    kept = zeros(device, stream, 32)
    thing = GraphDefinition()
    thing.callback(Thing())
    executable = thing.instantiate()
    executable.launch(stream)
    stream.sync()
    cycle = [thing, executable, device.create_graph_builder(), device.create_graph_builder()]
    cycle[-1].begin_building().end_building()
    cycle.append(cycle)
    builder = device.create_graph_builder().begin_building(mode)
    kept.fill(1, stream=builder)
    del thing, executable, cycle
    gc.collect()
    kept.fill(2, stream=builder)
    graph = builder.end_building().complete()
    assert len(builder.graph_definition.nodes()) == 2
    graph.launch(stream)
    assert content(kept, np.uint8, stream).tolist() == [2] * 128


def test_nothing_is_lost_in_many_rounds(device, kernels, stream) -> None:
    buffer = zeros(device, stream, 32)
    add = kernels.get_kernel("add")

    def round_trip() -> None:
        builder = device.create_graph_builder().begin_building()
        launch(builder, ONE, add, buffer, 1)
        builder.callback(Thing())
        graph = builder.end_building().complete()
        graph.launch(stream)
        definition = GraphDefinition()
        node = definition.memset(buffer, 0, 32)
        node.launch(ONE, add, buffer, 1)
        definition.instantiate().launch(stream)
        abandoned = device.create_graph_builder().begin_building()
        abandoned.split(2)

    for _ in range(20):
        round_trip()
    stream.sync()
    pool = device.memory_resource.handle
    used = driver.CUmemPool_attribute.CU_MEMPOOL_ATTR_USED_MEM_CURRENT
    before = driver.checked.cuMemPoolGetAttribute(pool, used)
    for _ in range(300):
        round_trip()
    stream.sync()
    assert driver.checked.cuMemPoolGetAttribute(pool, used) <= before
    time.sleep(0.1)
    stream.sync()
    from cudapy._core.graph import held

    assert len(held._things) < 10


def test_exit_with_live_graphs_is_silent() -> None:
    code = (
        "from cudapy.core import *\n"
        "from cudapy.core.graph import GraphDefinition\n"
        "dev = Device(0); dev.set_current(); s = dev.create_stream()\n"
        "d = GraphDefinition(); n = d.callback(lambda: None); g = d.instantiate(); g.launch(s)\n"
        "b = dev.create_graph_builder().begin_building(); b.callback(print)\n"
        "dropped = GraphDefinition(); dropped.callback(lambda: None); dropped.instantiate(); del dropped\n"
        "c = [g, d]; c.append(c); s.sync()\n"
    )
    process = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[2],
        env={**os.environ},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (process.returncode, process.stdout, process.stderr) == (0, "", "")
