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
from cudapy._core.memory import virtual
from cudapy._core.ownership import user_objects
from cudapy.core import (
    Buffer,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Program,
    VirtualMemoryResource,
    launch,
)

from .core_graph import add as add
from .core_graph import content, wait_for, words, zeros
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


def in_use(device) -> int:
    """The bytes that buffers of the default pool have, as the driver counts them when it has waited."""
    device.sync()
    used = driver.CUmemPool_attribute.CU_MEMPOOL_ATTR_USED_MEM_CURRENT
    return int(driver.checked.cuMemPoolGetAttribute(device.memory_resource.handle, used))


class Counting(LegacyPinnedMemoryResource):
    """Tells what was freed."""

    def __init__(self) -> None:
        self.freed: list[int] = []

    def deallocate(self, ptr, size, stream=None) -> None:
        self.freed.append(int(ptr))
        super().deallocate(ptr, size, stream=stream)


def by_kernel(definition, add, target, source) -> None:
    definition.launch(ONE, add, source, 1).memcpy(target, source.handle, 128)


def by_operand(definition, add, target, source) -> None:
    definition.memcpy(target, source, 128)


def by_owner(definition, add, target, source) -> None:
    definition.memcpy(target, source.handle, 128, src_owner=source)


def by_memset(definition, add, target, source) -> None:
    definition.memset(source, 0, 128).memcpy(target, source.handle, 128)


def by_view(definition, add, target, source) -> None:
    definition.memcpy(target, Buffer.from_handle(source.handle, 128, owner=source), 128)


def by_child(definition, add, target, source) -> None:
    inner = GraphDefinition()
    inner.memcpy(target, source, 128)
    definition.embed(inner)


WAYS = by_kernel, by_operand, by_owner, by_memset, by_view, by_child


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("memory", ["device", "pinned"])
def test_a_closed_buffer_stays_while_a_graph_uses_it(device, stream, add, way, memory) -> None:
    out, other = zeros(device, stream, 32), zeros(device, stream, 32)
    resource = Counting() if memory == "pinned" else device.memory_resource
    buffer = resource.allocate(128, stream=stream)
    address = buffer.handle
    buffer.fill(b"\5\0\0\0", stream=stream)
    definition = GraphDefinition()
    way(definition, add, out, buffer)
    if memory == "pinned":
        kept = lambda: not resource.freed  # noqa: E731
    else:
        before = in_use(device)
        kept = lambda: in_use(device) == before  # noqa: E731
    buffer.close()
    assert buffer.is_closed and kept()
    with pytest.raises(RuntimeError, match="closed"):
        definition.memcpy(out, buffer, 128)
    del buffer
    graph, clone = definition.instantiate(), driver.checked.cuGraphClone(definition.handle)
    del definition
    rubbish = [device.allocate(128, stream=stream) for _ in range(16)]
    for each in rubbish:
        each.fill(255, stream=stream)
    for each in rubbish:
        each.close()
    graph.launch(stream)
    expected = 6 if way is by_kernel else 0 if way is by_memset else 5
    assert words(out, stream) == [expected]
    device.sync()
    gc.collect()
    assert kept()
    graph.close()
    time.sleep(0.05)
    assert kept()  # the clone needs it
    driver.checked.cuGraphDestroy(clone)
    assert wait_for(lambda: not kept())
    if memory == "pinned":
        assert resource.freed == [address]
    other.close()


def test_a_closed_buffer_that_was_captured_stays(device, stream, add) -> None:
    resource = Counting()
    source, target = resource.allocate(128, stream=stream), zeros(device, stream, 32)
    pinned = source.handle
    source.fill(b"\7\0\0\0", stream=stream)
    builder = device.create_graph_builder().begin_building()
    target.copy_from(source, stream=builder)
    launch(builder, ONE, add, target, 1)
    source.close()
    builder.end_building()
    graph = builder.complete()
    before = in_use(device)
    definition = GraphDefinition()
    out = zeros(device, stream, 32)
    definition.memcpy(out, target, 128)
    target.close()
    copy = definition.instantiate()
    builder.close()
    assert resource.freed == [] and in_use(device) >= before
    graph.launch(stream)
    copy.launch(stream)
    assert words(out, stream) == [8]
    graph.close()
    assert wait_for(lambda: resource.freed == [pinned])
    before = in_use(device)
    del definition
    copy.close()
    assert wait_for(lambda: in_use(device) < before)


def test_a_closed_buffer_stays_while_an_executable_was_given_it(device, stream) -> None:
    resource = Counting()
    first, second = (resource.allocate(128, stream=stream) for _ in range(2))
    addresses = [first.handle, second.handle]
    second.fill(9, stream=stream)
    out = zeros(device, stream, 32)
    definition = GraphDefinition()
    node = definition.memcpy(out, first, 128)
    graph = definition.instantiate()
    graph[node].update(dst=out, src=second, size=128)
    second.close()
    assert resource.freed == []
    graph.launch(stream)
    assert content(out, np.uint8, stream).tolist() == [9] * 128
    first.close()
    graph.close()
    assert resource.freed == addresses[1:]
    del definition, node
    assert wait_for(lambda: resource.freed == addresses[::-1])


def test_an_update_of_one_side_leaves_the_other_its_closed_buffer(device, stream) -> None:
    resource = Counting()
    source, old, new = (resource.allocate(128, stream=stream) for _ in range(3))
    addresses = [source.handle, old.handle]
    source.fill(3, stream=stream)
    definition = GraphDefinition()
    node = definition.memcpy(old, source, 128)
    source.close()
    old.close()
    node.update(dst=new)
    assert wait_for(lambda: resource.freed == addresses[1:])
    definition.instantiate().launch(stream)
    stream.sync()
    assert bytes((ctypes.c_char * 128).from_address(new.handle)) == b"\3" * 128
    node.destroy()
    assert wait_for(lambda: set(resource.freed) == set(addresses))


def test_the_memory_of_a_closed_buffer_is_freed_in_the_stream_that_was_named(device, stream) -> None:
    freed = []

    class Mine(LegacyPinnedMemoryResource):
        def deallocate(self, ptr, size, stream=None) -> None:
            freed.append(stream)
            super().deallocate(ptr, size, stream=stream)

    streams = [device.create_stream() for _ in range(2)]
    buffers = [Mine().allocate(128, stream=stream) for _ in range(2)]
    definition = GraphDefinition()
    definition.memcpy(*buffers, 128)
    buffers[0].set_deallocation_stream(streams[0])
    buffers[0].close()
    buffers[1].close(streams[1])
    assert freed == []
    del definition
    assert wait_for(lambda: len(freed) == 2)
    assert {int(each.handle) for each in freed} == {int(each.handle) for each in streams}


def test_a_buffer_that_no_graph_uses_any_more_is_freed_when_it_is_closed(device, stream) -> None:
    resource = Counting()
    buffer = resource.allocate(128, stream=stream)
    address = buffer.handle
    definition = GraphDefinition()
    definition.memset(buffer, 0, 128)
    before = len(user_objects._objects)
    del definition
    assert wait_for(lambda: len(user_objects._objects) < before)
    assert resource.freed == []
    buffer.close()
    assert resource.freed == [address]


def test_a_closed_event_stays_while_a_graph_uses_it(device, stream) -> None:
    """It is not recorded again for others, as closed events are else."""
    event = stream.record()
    handle = int(event.handle)
    definition = GraphDefinition()
    node = definition.record(event)
    event.close()
    others = [stream.record() for _ in range(40)]
    assert handle not in [int(each.handle) for each in others]
    assert int(node.event.handle) == handle and not node.event.is_closed
    graph = definition.instantiate()
    graph.launch(stream)
    stream.sync()
    del definition, node
    graph.close()
    seen = []

    def again() -> bool:
        with stream.record() as other:
            seen.append(int(other.handle))
            return handle in seen

    assert wait_for(again)


def test_virtual_memory_that_moves_leaves_a_graph_its_addresses(device, stream, monkeypatch) -> None:
    reserve = virtual._reserve
    monkeypatch.setattr(  # the addresses behind a buffer are never free
        virtual,
        "_reserve",
        lambda undo, size, alignment, hint: reserve(undo, size, alignment, hint and hint + (1 << 30)),
    )
    resource = VirtualMemoryResource(device)
    buffer = resource.allocate(1 << 21)
    buffer.fill(4, stream=stream)
    stream.sync()
    out = zeros(device, stream, 32)
    definition = GraphDefinition()
    definition.memcpy(out, buffer, 128)
    before = buffer.handle
    resource.modify_allocation(buffer, 1 << 26)
    assert buffer.handle != before
    graph = definition.instantiate()
    graph.launch(stream)
    assert content(out, np.uint8, stream).tolist() == [4] * 128
    del definition
    graph.close()
    assert wait_for(lambda: before not in resource._mappings)
    assert buffer.handle in resource._mappings


@pytest.mark.parametrize("where", ["definition", "executable", "under way"])
def test_what_a_graph_had_goes_with_it(device, stream, where) -> None:
    """Soon, and without another call of CUDA's."""
    thing, reference = watched()
    gate = threading.Event()
    definition = GraphDefinition()
    definition.callback(lambda: gate.wait(60)).join().callback(thing)
    del thing
    if where == "definition":
        del definition
    else:
        graph = definition.instantiate()
        del definition
        graph.launch(stream)
        if where == "executable":
            gate.set()
            stream.sync()
        graph.close()
        gate.set()
    assert wait_for(lambda: reference() is None)
    device.sync()


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
    assert len(user_objects._objects) < 10


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
