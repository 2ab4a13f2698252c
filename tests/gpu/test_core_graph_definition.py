"""Graphs defined node by node, and what can be changed in them and in their executables."""

from __future__ import annotations

import ctypes
import gc

import numpy as np
import pytest
from cudapy.core.graph import (
    AllocNode,
    ChildGraphNode,
    ConditionalNode,
    EmptyNode,
    EventRecordNode,
    EventWaitNode,
    ExecutableGraphNode,
    ExecutableKernelNode,
    FreeNode,
    GraphCompleteOptions,
    GraphDebugPrintOptions,
    GraphDefinition,
    GraphNode,
    HostCallbackNode,
    IfElseNode,
    IfNode,
    KernelNode,
    MemcpyNode,
    MemsetNode,
    SwitchNode,
    WhileNode,
)

from cudapy import driver, simulator
from cudapy._ffi.library import SymbolNotFound
from cudapy.core import CUDAError, Device, EventOptions, LaunchConfig, LegacyPinnedMemoryResource
from cudapy.driver import CUgraphNodeType

from .core_graph import ONE, content, words, zeros
from .core_graph import add as add
from .core_graph import kernels as kernels
from .core_graph import nothing_is_left as nothing_is_left
from .core_graph import times as times
from .kernels import needs_capability, needs_driver

pytestmark = pytest.mark.gpu

SINGLE = LaunchConfig(grid=1, block=1)


@pytest.fixture
def definition(device):
    return GraphDefinition()


def run(definition, stream, count=1):
    graph = definition.instantiate()
    for _ in range(count):
        graph.launch(stream)
    stream.sync()


# -- nodes and edges --------------------------------------------------------------------------------------


def test_a_diamond(definition) -> None:
    top = definition.empty()
    left, right = top.join(), top.join()
    bottom = definition.join(left, right)
    assert all(isinstance(node, EmptyNode) for node in (top, bottom))
    assert definition.nodes() == {top, left, right, bottom}
    assert definition.edges() == {(top, left), (top, right), (left, bottom), (right, bottom)}
    assert top.succ == {left, right} and bottom.pred == {left, right} and not top.pred
    assert left.join(right).pred == {left, right}
    assert top.type == CUgraphNodeType.CU_GRAPH_NODE_TYPE_EMPTY
    assert top.graph == definition and hash(top.graph) == hash(definition)
    assert int(top.handle) and top.is_valid and top != left and top == next(iter(left.pred))


def test_edges_can_be_changed(definition) -> None:
    a, b, c, d = (definition.empty() for _ in range(4))
    a.succ.add(b)
    a.succ.add(b)
    b.pred.update([c], {d})
    assert b.pred == {a, c, d} and definition.edges() == {(a, b), (c, b), (d, b)}
    b.pred.discard(c)
    b.pred.discard(c)
    assert c not in b.pred and len(b.pred) == 2
    with pytest.raises(KeyError):
        b.pred.remove(c)
    d.succ.clear()
    assert definition.edges() == {(a, b)}
    b.pred = {c, d}
    assert b.pred == {c, d} and not a.succ
    a.succ = (c, d)
    assert definition.edges() == {(a, c), (a, d), (c, b), (d, b)}
    assert b.pred | {a} == {a, c, d} and b.pred & {c} == {c}
    with pytest.raises(TypeError, match="GraphNode"):
        a.succ.add(5)
    other = GraphDefinition().empty()
    with pytest.raises(ValueError, match="another graph"):
        a.succ.add(other)
    with pytest.raises(ValueError, match="another graph"):
        a.join(other)


def test_a_node_can_be_destroyed(definition, stream, device) -> None:
    buffer = zeros(device, stream, 4)
    first = definition.memset(buffer, 1, 16)
    second = first.memset(buffer, 2, 16)
    second.destroy()
    second.destroy()
    assert not second.is_valid and first.is_valid and "destroyed" in repr(second)
    assert definition.nodes() == {first}
    for use in (second.join, lambda: second.value, lambda: first.succ.add(second)):
        with pytest.raises(RuntimeError, match="was destroyed"):
            use()
    run(definition, stream)
    assert set(content(buffer, np.uint8, stream).tolist()) == {1}


def test_the_nodes_inside_a_node_go_with_it(definition, device, stream) -> None:
    needs_driver(12, 4)
    buffer = zeros(device, stream, 4)
    child = GraphDefinition()
    child.empty()
    outer = definition.if_then(definition.create_condition(1))
    inner = outer.then.if_then(outer.then.create_condition(1))
    deep, embedded = inner.then.memset(buffer, 1, 16), outer.then.embed(child)
    (copied,) = embedded.child_graph.nodes()
    other = GraphDefinition()
    other.empty()
    embedded.update(other)
    assert not copied.is_valid and embedded.is_valid
    (copied,) = embedded.child_graph.nodes()
    outer.destroy()
    for node in (outer, inner, deep, embedded, copied):
        assert not node.is_valid and "destroyed" in repr(node)
        with pytest.raises(RuntimeError, match="was destroyed"):
            node.join()
    assert definition.nodes() == set()


def test_what_is_no_node_and_no_graph(definition, stream) -> None:
    node = definition.embed(GraphDefinition())
    for wrong in (None, definition, stream):
        with pytest.raises(TypeError, match="join takes nodes, not "):
            node.join(wrong)
    for update in (node.update, definition.instantiate()[node].update):
        with pytest.raises(TypeError, match="update takes a GraphBuilder or a GraphDefinition, not int"):
            update(5)


def test_graphs_and_nodes_as_others_see_them(definition, device) -> None:
    assert definition.edges() == set()
    first = definition.empty()
    second = first.join()
    assert definition != 5 and first != 5 and first != second and definition == second.graph
    assert repr(first.succ) == repr({second})
    assert repr(second) in repr(definition.instantiate()[second])


def test_a_cycle_is_refused(definition) -> None:
    a = definition.empty()
    b = a.join()
    b.succ.add(a)
    with pytest.raises(CUDAError) as caught:
        definition.instantiate()
    assert caught.value.function == "cuGraphInstantiateWithParams"
    assert "CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE" in str(caught.value)


def test_nodes_are_not_made_by_hand() -> None:
    for cls in (GraphNode, KernelNode, ExecutableGraphNode, ExecutableKernelNode):
        with pytest.raises(TypeError, match="comes from"):
            cls()


def test_order(definition, device, stream, add, times) -> None:
    buffer = zeros(device, stream, 32)
    last = definition.launch(ONE, add, buffer, 1)
    for _ in range(5):
        last = last.launch(ONE, times, buffer, 2).launch(ONE, add, buffer, 1)
    assert len(definition.edges()) == 10
    run(definition, stream)
    value = 1
    for _ in range(5):
        value = value * 2 + 1
    assert words(buffer, stream) == [value]


# -- kernels ----------------------------------------------------------------------------------------------


def test_kernel(definition, device, stream, kernels, add, times) -> None:
    buffer = zeros(device, stream, 64)
    node = definition.launch(ONE, add, buffer, 3)
    assert isinstance(node, KernelNode) and node.kernel is add and node.config == ONE
    assert (node.grid, node.block, node.shmem_size) == ((1, 1, 1), (32, 1, 1), 0)
    older = definition.instantiate()
    node.update(config=LaunchConfig(grid=2, block=32, shmem_size=64), args=(buffer, 4))
    assert node.grid == (2, 1, 1) and node.shmem_size == 64
    run(definition, stream)
    assert words(buffer, stream) == [4]
    node.update(kernel=times, args=[buffer, 2])
    assert node.kernel is times and node.grid == (2, 1, 1)
    run(definition, stream)
    assert words(buffer, stream) == [8]
    older.launch(stream)
    assert words(buffer, stream) == [8, 11]
    with pytest.raises(ValueError, match="needs its args"):
        node.update(kernel=kernels.get_kernel("nothing"))
    with pytest.raises(TypeError, match="takes 2 arguments, not 1"):
        node.update(args=(buffer,))
    node.update(kernel=kernels.get_kernel("nothing"), args=())
    run(definition, stream)
    assert words(buffer, stream) == [8, 11]


def test_the_arguments_of_a_kernel_are_copied(definition, device, stream, add) -> None:
    needs_driver(12, 4)
    buffer = zeros(device, stream, 32)
    value = ctypes.c_int(5)
    node = definition.launch(ONE, add, buffer, value)
    value.value = 6
    run(definition, stream)
    assert words(buffer, stream) == [5]
    node.update(config=ONE)
    run(definition, stream)
    assert words(buffer, stream) == [10]


def test_a_cooperative_kernel(definition, device, stream, kernels) -> None:
    arrived, out = zeros(device, stream, 1), zeros(device, stream, 8)
    config = LaunchConfig(grid=8, block=1, is_cooperative=True)
    node = definition.launch(config, kernels.get_kernel("meet"), arrived, out)
    assert node.config.is_cooperative
    run(definition, stream)
    assert words(out, stream) == [1]


def test_a_kernel_in_clusters(definition, device, stream, kernels) -> None:
    needs_capability(9)
    out = zeros(device, stream, 4)
    config = LaunchConfig(grid=2, cluster=2, block=1)
    node = definition.launch(config, kernels.get_kernel("cluster_size"), out)
    assert node.config == config and node.grid == (2, 1, 1)
    graph = definition.instantiate()
    graph.launch(stream)
    assert words(out, stream) == [2]
    with pytest.raises(ValueError, match="cluster"):
        graph[node].update(config=SINGLE, kernel=node.kernel, args=(out,))


def test_what_is_no_launch(definition, add) -> None:
    with pytest.raises(TypeError, match="LaunchConfig first, not str"):
        definition.launch("1", add, None, 1)
    with pytest.raises(TypeError, match="Kernel second, not str"):
        definition.launch(ONE, "add", None, 1)
    with pytest.raises(TypeError, match="takes 2 arguments"):
        definition.launch(ONE, add, None)
    with pytest.raises(ValueError, match="GraphBuilder"):
        definition.launch(LaunchConfig(1, None, 1, programmatic_stream_serialization=True), add, None, 1)
    assert definition.nodes() == set()


# -- memory -----------------------------------------------------------------------------------------------


def test_memset(definition, device, stream) -> None:
    buffer = zeros(device, stream, 16)
    node = definition.memset(buffer, np.int16(-2), 4, height=2, pitch=16)
    assert isinstance(node, MemsetNode)
    found = (node.dptr, node.value, node.element_size, node.width, node.height, node.pitch)
    assert found == (buffer.handle, 0xFFFE, 2, 4, 2, 16)
    older = definition.instantiate()
    older.launch(stream)
    row = [-2] * 4 + [0] * 4
    assert content(buffer, np.int16, stream).tolist() == row + row + [0] * 16
    node.update(value=9, width=64, height=1)
    assert (node.value, node.element_size, node.dptr) == (9, 1, buffer.handle)
    run(definition, stream)
    assert set(content(buffer, np.uint8, stream).tolist()) == {9}
    other = zeros(device, stream, 16)
    node.update(dst=other.handle, dst_owner=other)
    run(definition, stream)
    assert set(content(other, np.uint8, stream).tolist()) == {9}


def test_what_is_no_memset(definition, device, stream) -> None:
    buffer = zeros(device, stream, 4)
    for arguments, error, words_ in (
        ((buffer, 256, 1), OverflowError, "not a byte"),
        ((buffer, b"123", 1), ValueError, "1, 2 or 4 bytes, not 3"),
        ((buffer, 1, 17), ValueError, "17 bytes do not fit the 16"),
        ((buffer, 1, 4, 2, 13), ValueError, "17 bytes do not fit the 16"),
        ((buffer, 1, 4, 2, 3), ValueError, "pitch"),
        ((buffer, 1, 0), ValueError, "not a piece of memory"),
        (("x", 1, 1), TypeError, "Buffer or an address"),
    ):
        with pytest.raises(error, match=words_):
            definition.memset(*arguments)
    with pytest.raises(ValueError, match="dst_owner"):
        definition.memset(buffer, 1, 1, dst_owner=buffer)
    assert definition.nodes() == set()


def test_memcpy_between_all_kinds_of_memory(definition, device, stream) -> None:
    buffer, other = zeros(device, stream, 4), zeros(device, stream, 4)
    pinned = LegacyPinnedMemoryResource().allocate(16)
    source, target = np.arange(4, dtype=np.int32), bytearray(16)
    node = definition.memcpy(buffer, source, 16)
    node = node.memcpy(other.handle, buffer.handle, 16, dst_owner=other, src_owner=buffer)
    assert (node.dst, node.src, node.size) == (other.handle, buffer.handle, 16)
    node = node.memcpy(pinned, other, 16)
    node = node.memcpy(target, pinned.handle, 16)
    copy = np.zeros(4, np.int32)
    last = node.memcpy(copy.ctypes.data, pinned.handle, 16, dst_owner=copy)
    assert isinstance(last, MemcpyNode) and last.src == pinned.handle
    graph = definition.instantiate()
    for values in ([0, 1, 2, 3], [7, 8, 9, 10]):
        source[:] = values
        graph.launch(stream)
        stream.sync()
        assert np.frombuffer(target, np.int32).tolist() == copy.tolist() == values


def test_memcpy_update(definition, device, stream) -> None:
    one, two, three = (zeros(device, stream, 4) for _ in range(3))
    one.fill(1, stream=stream)
    two.fill(2, stream=stream)
    stream.sync()
    node = definition.memcpy(three, one, 16)
    node.update(src=two, size=8)
    assert (node.dst, node.src, node.size) == (three.handle, two.handle, 8)
    run(definition, stream)
    assert content(three, np.uint8, stream).tolist() == [2] * 8 + [0] * 8
    node.update(src=one.handle, src_owner=one)
    node.update(size=16)
    run(definition, stream)
    assert content(three, np.uint8, stream).tolist() == [1] * 16


def test_what_is_no_memcpy(definition, device, stream) -> None:
    buffer = zeros(device, stream, 4)
    for arguments, error, words_ in (
        ((buffer, buffer, 17), ValueError, "dst has 16 bytes"),
        ((buffer, bytes(8), 16), ValueError, "src has 8 bytes"),
        ((bytes(16), buffer, 16), TypeError, "read-only"),
        ((buffer, buffer, 0), ValueError, "nothing to copy"),
        ((buffer, 1.5, 4), TypeError, "Buffer or an address, not float"),
    ):
        with pytest.raises(error, match=words_):
            definition.memcpy(*arguments)
    with pytest.raises(ValueError, match="src_owner"):
        definition.memcpy(buffer, buffer, 4, src_owner=buffer)
    assert definition.nodes() == set()
    copy, fill = definition.memcpy(buffer, buffer, 4), definition.memset(buffer, 0, 4)
    for side in ("dst_owner", "src_owner"):
        with pytest.raises(ValueError, match="an owner is for an address"):
            copy.update(**{side: buffer})
    with pytest.raises(ValueError, match="dst_owner is for a dst that is an address"):
        fill.update(dst_owner=buffer)


def test_a_copy_of_several_rows_cannot_be_changed(definition, device, stream) -> None:
    """Only somebody else can have added it."""
    buffer = zeros(device, stream, 4)
    unified = driver.CUmemorytype.CU_MEMORYTYPE_UNIFIED
    rows = driver.CUDA_MEMCPY3D(
        srcMemoryType=unified,
        dstMemoryType=unified,
        WidthInBytes=2,
        Height=2,
        Depth=1,
        srcPitch=4,
        dstPitch=2,
    )
    rows.srcDevice, rows.dstDevice = buffer.handle, int(buffer.handle) + 8  # type: ignore[assignment]
    context = driver.checked.cuCtxGetCurrent()
    driver.checked.cuGraphAddMemcpyNode(definition.handle, None, 0, rows, context)
    (node,) = definition.nodes()
    with pytest.raises(ValueError, match="more than one piece of memory"):
        node.update(size=1)


def test_allocation(definition, device, stream) -> None:
    out = np.zeros(256, np.uint8)
    node = definition.allocate(1024)
    assert isinstance(node, AllocNode) and node.bytesize == 1024 and node.dptr
    assert (node.device_id, node.memory_type, node.peer_access) == (0, "device", ())
    copy = node.memset(node.dptr, 6, 1024).memcpy(out, node.dptr + 512, 256)
    found = driver.checked.cuGraphMemcpyNodeGetParams(copy.handle)
    assert found.srcMemoryType == driver.CUmemorytype.CU_MEMORYTYPE_DEVICE
    free = copy.deallocate(node.dptr)
    assert isinstance(free, FreeNode) and free.dptr == node.dptr
    run(definition, stream, count=3)
    assert set(out.tolist()) == {6}


@pytest.mark.parametrize("kind", ["host", "managed"])
def test_memory_of_other_kinds(definition, device, stream, kind) -> None:
    needs_driver(12, 9 if kind == "host" else 13)
    try:
        node = definition.allocate(1024, memory_type=kind)
    except CUDAError as error:
        if simulator.is_enabled() or error.name != "CUDA_ERROR_NOT_SUPPORTED":
            raise
        pytest.skip("graphs of this driver allocate memory of devices alone")
    assert node.memory_type == kind and node.device_id == (-1 if kind == "host" else 0)
    node.memset(node.dptr, 5, 1024).deallocate(node.dptr)
    run(definition, stream)


def test_an_allocation_that_is_not_freed(definition, device, stream) -> None:
    definition.allocate(1024, device=device, memory_type="device")
    (node,) = definition.nodes()
    run(definition, stream, count=2)
    driver.checked.cuMemFreeAsync(node.dptr, stream.handle)
    graph = definition.instantiate(GraphCompleteOptions())
    graph.launch(stream)
    with pytest.raises(CUDAError):
        graph.launch(stream)
    driver.checked.cuMemFreeAsync(node.dptr, stream.handle)
    with pytest.raises(ValueError, match=r"'texture' is not a member of GraphMemoryType: .*'managed'"):
        definition.allocate(1024, memory_type="texture")


# -- events, callbacks, child graphs ----------------------------------------------------------------------


def test_events(definition, device, stream) -> None:
    options = EventOptions(timing_enabled=True)
    first, second, third = (device.create_event(options) for _ in range(3))
    for method in (definition.record, definition.wait):
        with pytest.raises(TypeError, match="an Event, not int"):
            method(5)
    record = definition.record(first)
    wait = record.wait(first)
    last = wait.record(second)
    assert isinstance(record, EventRecordNode) and isinstance(wait, EventWaitNode)
    assert record.event is first and wait.event is first
    run(definition, stream)
    assert second - first >= 0
    last.update(third)
    wait.update(second)
    assert last.event is third and wait.event is second
    graph = definition.instantiate()
    graph.launch(stream)
    stream.sync()
    assert third - first >= 0
    fourth = device.create_event(options)
    graph[last].update(fourth)
    graph[wait].update(first)
    graph.launch(stream)
    stream.sync()
    assert fourth - third > 0


def test_callbacks(definition, device, stream) -> None:
    seen = []
    c_function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda n: seen.append(n))

    def note():
        seen.append("note")

    node = definition.callback(note)
    after = node.join().callback(c_function, user_data=5)
    assert isinstance(node, HostCallbackNode) and node.callback is note and after.callback is None
    graph = definition.instantiate()
    node.update(lambda: seen.append("changed"))
    run(definition, stream)
    graph.launch(stream)
    stream.sync()
    assert seen == ["changed", 5, "note", 5]
    graph[after].update(c_function, user_data=6)
    graph[node].update(lambda: seen.append("third"))
    gc.collect()
    graph.launch(stream)
    stream.sync()
    assert seen[4:] == ["third", 6]


def test_an_exception_in_a_callback_is_reported(definition, stream, monkeypatch) -> None:
    said = []
    monkeypatch.setattr("sys.unraisablehook", lambda args: said.append(args.exc_value))
    definition.callback(lambda: 1 / 0)
    run(definition, stream)
    assert isinstance(said[0], ZeroDivisionError)


def test_child_graphs(definition, device, stream, add, times) -> None:
    buffer = zeros(device, stream, 32)
    inner = GraphDefinition()
    inner.launch(ONE, add, buffer, 2)
    node = definition.embed(inner)
    assert isinstance(node, ChildGraphNode)
    inner.launch(ONE, add, buffer, 100)
    child = node.child_graph
    assert child.is_valid and child != inner and len(child.nodes()) == 1
    (kernel,) = child.nodes()
    kernel.launch(ONE, times, buffer, 3)
    run(definition, stream)
    assert words(buffer, stream) == [6]
    other = GraphDefinition()
    other.launch(ONE, add, buffer, 1).launch(ONE, times, buffer, 2)
    with pytest.raises(ValueError, match="a part of the graph"):
        node.update(definition)


def test_a_child_graph_can_be_replaced(definition, device, stream, add, times) -> None:
    needs_driver(12, 2)
    buffer = zeros(device, stream, 32)
    inner, other = GraphDefinition(), GraphDefinition()
    inner.launch(ONE, add, buffer, 2)
    other.launch(ONE, add, buffer, 10).launch(ONE, times, buffer, 2)
    node = definition.embed(inner)
    before = node.child_graph
    graph = definition.instantiate()
    node.update(other)
    assert not before.is_valid and node.child_graph.is_valid and len(node.child_graph.nodes()) == 2
    with pytest.raises(RuntimeError, match="gone"):
        before.nodes()
    run(definition, stream)
    assert words(buffer, stream) == [20]
    same = GraphDefinition()
    same.launch(ONE, add, buffer, 5)
    graph[node].update(same)
    del same
    gc.collect()
    graph.launch(stream)
    assert words(buffer, stream) == [25]


# -- conditions -------------------------------------------------------------------------------------------


def test_conditions(definition, device, stream, kernels, add) -> None:
    needs_driver(12, 4)
    buffer, left = zeros(device, stream, 32), zeros(device, stream, 1)
    first, second = definition.create_condition(), definition.create_condition(default_value=1)
    decide = definition.launch(SINGLE, kernels.get_kernel("decide"), first, 1)
    node = decide.if_then(first)
    assert isinstance(node, IfNode) and node.cond_type == "if" and node.condition == first
    assert node.branches == (node.then,) and node.then.is_valid
    node.then.memset(left, b"\4\0\0\0", 1)
    loop = node.while_loop(second)
    assert isinstance(loop, WhileNode) and loop.cond_type == "while"
    body = loop.body.launch(ONE, add, buffer, 1)
    body.launch(SINGLE, kernels.get_kernel("count_down"), second, left)
    assert {type(n) for n in definition.nodes()} == {KernelNode, IfNode, WhileNode}
    run(definition, stream, count=2)
    assert words(buffer, stream) == [8]
    inside = node.then
    node.destroy()
    assert not inside.is_valid


@pytest.mark.parametrize("value", [0, 1, 2])
def test_else_and_switch(definition, device, stream, value) -> None:
    needs_driver(12, 8)
    buffer = zeros(device, stream, 2)
    choice = definition.if_else(definition.create_condition(value))
    assert isinstance(choice, IfElseNode) and len(choice.branches) == 2
    choice.then.memset(buffer, b"\1\0\0\0", 1)
    choice.else_.memset(buffer, b"\2\0\0\0", 1)
    switch = definition.switch(definition.create_condition(value), 2)
    assert isinstance(switch, SwitchNode)
    for number, branch in enumerate(switch.branches):
        branch.memset(buffer.handle + 4, bytes([10 + number, 0, 0, 0]), 1, dst_owner=buffer)
    run(definition, stream)
    expected = [1 if value else 2, 10 + value if value < 2 else 0]
    assert content(buffer, np.int32, stream).tolist() == expected


def conditional_of_somebody_else(definition, device, sort, bodies):
    """A conditional node that the driver was asked for, without core."""
    condition = definition.create_condition(1)
    wanted = driver.CUgraphNodeParams(type=CUgraphNodeType.CU_GRAPH_NODE_TYPE_CONDITIONAL)
    wanted.conditional.handle, wanted.conditional.type = condition, sort
    wanted.conditional.size, wanted.conditional.ctx = bodies, driver.checked.cuCtxGetCurrent()
    driver.checked.cuGraphAddNode(definition.handle, None, None, 0, wanted)
    return condition, wanted


@pytest.mark.parametrize(
    ("sort", "bodies", "kind"), [(0, 1, IfNode), (0, 2, IfElseNode), (1, 1, WhileNode), (2, 3, SwitchNode)]
)
def test_a_conditional_node_of_somebody_else(definition, device, monkeypatch, sort, bodies, kind) -> None:
    """What it is only the driver knows, since CUDA 13.2; what that says is here said by the test."""
    needs_driver(12, 8)
    condition, told = conditional_of_somebody_else(definition, device, sort, bodies)
    monkeypatch.setattr(driver.checked, "cuGraphNodeGetParams", lambda node: told)
    (node,) = definition.nodes()
    assert type(node) is kind and len(node.branches) == bodies
    assert node.condition == condition and repr(node.condition) == f"<GraphCondition {condition.value:#x}>"
    assert node.branches[0].handle == told.conditional.phGraph_out[0]


def test_a_conditional_node_that_an_older_driver_does_not_tell_about(definition, device, monkeypatch) -> None:
    def lacks(node):
        raise SymbolNotFound("cuGraphNodeGetParams", "the driver lacks it")

    needs_driver(12, 4)
    conditional_of_somebody_else(definition, device, 1, 1)
    monkeypatch.setattr(driver.checked, "cuGraphNodeGetParams", lacks)
    (node,) = definition.nodes()
    assert type(node) is ConditionalNode
    assert (node.condition, node.cond_type, node.branches) == (None, None, ())


def test_a_condition_that_no_node_uses(definition) -> None:
    needs_driver(12, 4)
    definition.create_condition(1)
    definition.empty()
    with pytest.raises(CUDAError, match="no conditional node uses it"):
        definition.instantiate()


# -- executables ------------------------------------------------------------------------------------------


def test_a_kernel_of_an_executable(definition, device, stream, add, times) -> None:
    buffer = zeros(device, stream, 64)
    node = definition.launch(ONE, add, buffer, 3)
    graph = definition.instantiate()
    view = graph[node]
    assert isinstance(view, ExecutableKernelNode)
    view.update(config=LaunchConfig(grid=2, block=32), kernel=add, args=(buffer, 4))
    graph.launch(stream)
    assert words(buffer, stream) == [4]
    assert node.config == ONE
    view.disable()
    assert not view.is_enabled
    graph.launch(stream)
    assert words(buffer, stream) == [4]
    view.enable()
    assert view.is_enabled
    view.update(config=ONE, kernel=times, args=(buffer, 2))
    graph.launch(stream)
    assert words(buffer, stream) == [4, 8]
    with pytest.raises(TypeError, match="takes 2 arguments"):
        view.update(config=ONE, kernel=times, args=())


def test_memory_nodes_of_an_executable(definition, device, stream) -> None:
    one, two, three = (zeros(device, stream, 4) for _ in range(3))
    fill = definition.memset(one, 1, 16)
    copy = fill.memcpy(two, one, 16)
    graph = definition.instantiate()
    graph[fill].update(dst=one, value=b"\5\0\0\0", width=4)
    graph[copy].update(dst=three, src=one, size=16)
    graph.launch(stream)
    assert words(two, stream) == [0] and words(three, stream) == [5]
    graph[copy].disable()
    graph[fill].update(dst=one, value=7, width=16)
    graph.launch(stream)
    assert set(content(one, np.uint8, stream).tolist()) == {7} and words(three, stream) == [5]
    assert not graph[copy].is_enabled and graph[fill].is_enabled


def test_a_view_of_a_node_that_is_not_there(definition, device, stream) -> None:
    graph = definition.instantiate()
    buffer = zeros(device, stream, 4)
    later = definition.memset(buffer, 1, 16)
    with pytest.raises(CUDAError):
        graph[later].disable()
    with pytest.raises(TypeError, match="not str"):
        graph["node"]
    assert type(graph[definition.empty()]) is ExecutableGraphNode


def test_a_failed_launch_of_arguments_leaves_no_node(definition, device, stream, kernels) -> None:
    config = LaunchConfig(grid=4, cluster=(3, 1, 1), block=1025)
    with pytest.raises(CUDAError):
        definition.launch(config, kernels.get_kernel("nothing"))
        definition.instantiate()


def test_dot(definition, device, stream, add) -> None:
    buffer = zeros(device, stream, 32)
    definition.launch(ONE, add, buffer, 1).memset(buffer, 0, 128).callback(print)
    text = definition.dot()
    assert text.startswith("digraph") and text.count("->") == 2
    everything = GraphDebugPrintOptions(**dict.fromkeys(GraphDebugPrintOptions.__dataclass_fields__, True))
    assert "add" in definition.dot(everything) and len(definition.dot(everything)) > len(text)


def test_the_context_is_left_as_found(device, stream, add) -> None:
    """A definition may be used where no context is current."""
    buffer = zeros(device, stream, 32)
    definition = GraphDefinition()
    stack = []
    while int(driver.checked.cuCtxGetCurrent()):
        stack.append(driver.checked.cuCtxPopCurrent())
    try:
        definition.launch(ONE, add, buffer, 1).memset(buffer.handle, 1, 4)
        definition.instantiate().launch(stream)
        assert int(driver.checked.cuCtxGetCurrent()) == 0
    finally:
        for context in reversed(stack):
            driver.checked.cuCtxPushCurrent(context)
    stream.sync()
    assert content(buffer, np.uint8, stream).tolist()[:8] == [1, 1, 1, 1, 1, 0, 0, 0]
    assert Device(0).context.handle == stack[0]
