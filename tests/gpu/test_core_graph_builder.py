"""Graphs recorded by a GraphBuilder: what they do, and what happens when it is used wrongly."""

from __future__ import annotations

import ctypes
import gc
import threading
import weakref

import numpy as np
import pytest
from cudapy.core.graph import (
    EmptyNode,
    FreeNode,
    Graph,
    GraphBuilder,
    GraphCompleteOptions,
    GraphDebugPrintOptions,
    GraphDefinition,
    GraphUpdateError,
    IfElseNode,
    IfNode,
    KernelNode,
    MemcpyNode,
    MemsetNode,
    SwitchNode,
    WhileNode,
)

from cudapy import driver
from cudapy.core import (
    Buffer,
    CUDAError,
    Device,
    GraphMemoryResource,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Stream,
    StreamOptions,
    launch,
    prepare,
)

from .core_graph import ONE, content, words, zeros
from .core_graph import add as add
from .core_graph import kernels as kernels
from .core_graph import nothing_is_left as nothing_is_left
from .core_graph import times as times
from .kernels import needs_driver

pytestmark = pytest.mark.gpu


def is_capturing(stream):
    return driver.checked.cuStreamIsCapturing(stream.handle) != 0


# -- building ---------------------------------------------------------------------------------------------


def test_work_is_recorded_and_runs_at_each_launch(device, stream, add, times) -> None:
    buffer = zeros(device, stream, 32)
    builder = stream.create_graph_builder()
    assert not builder.is_building and builder.stream is stream
    assert builder.begin_building() is builder
    assert builder.is_building
    assert builder.__cuda_stream__() == (0, int(stream.handle))
    launch(builder, ONE, add, buffer, 3)
    launch(builder, ONE, times, buffer, 2)
    assert builder.end_building() is builder
    assert not builder.is_building and not is_capturing(stream)
    assert words(buffer, stream) == [0]
    graph = builder.complete()
    assert isinstance(graph, Graph) and int(graph.handle) and not graph.is_closed
    graph.upload(stream)
    graph.launch(stream)
    assert words(buffer, stream) == [6]
    graph.launch(stream)
    assert words(buffer, stream) == [18]
    kinds = [type(node) for node in builder.graph_definition.nodes()]
    assert kinds == [KernelNode, KernelNode]


def test_a_builder_of_a_device_has_a_stream_of_its_own(device, stream) -> None:
    buffer = zeros(device, stream, 32)
    builder = device.create_graph_builder().begin_building()
    assert builder.stream is not stream and not is_capturing(stream)
    assert builder.stream.device is device
    buffer.fill(b"\1\0\0\0", stream=builder)
    builder.end_building().complete().launch(stream)
    assert words(buffer, stream) == [1]


def test_copies_and_fills_are_recorded(device, stream) -> None:
    source, target = zeros(device, stream, 32), zeros(device, stream, 32)
    out = np.zeros(32, np.int32)
    builder = device.create_graph_builder().begin_building()
    source.fill(b"\5\0\0\0", stream=builder)
    target.copy_from(source, stream=builder)
    target.copy_to(out, stream=builder)
    graph = builder.end_building().complete()
    assert out.tolist() == [0] * 32
    graph.launch(stream)
    stream.sync()
    assert out.tolist() == [5] * 32
    kinds = {type(node) for node in builder.graph_definition.nodes()}
    assert kinds == {MemsetNode, MemcpyNode}
    assert len(builder.graph_definition.edges()) == 2


def test_a_prepared_launch_is_recorded(device, stream, add) -> None:
    buffer = zeros(device, stream, 32)
    builder = device.create_graph_builder().begin_building()
    run = prepare(builder, ONE, add, buffer, 1)
    for value in (1, 10, 100):
        run(buffer, value)
    graph = builder.end_building().complete()
    with pytest.raises(RuntimeError, match="has built its graph"):
        run(buffer, 1000)
    graph.launch(stream)
    assert words(buffer, stream) == [111]


@pytest.mark.parametrize("mode", ["global", "thread_local", "relaxed"])
def test_modes(device, stream, add, mode) -> None:
    buffer = zeros(device, stream, 32)
    builder = device.create_graph_builder().begin_building(mode)
    launch(builder, ONE, add, buffer, 1)
    builder.end_building().complete().launch(stream)
    assert words(buffer, stream) == [1]


def test_in_global_mode_memory_cannot_be_allocated(device, stream) -> None:
    builder = device.create_graph_builder().begin_building("global")
    with pytest.raises(CUDAError) as caught:
        driver.checked.cuMemAlloc(64)
    assert caught.value.name == "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"
    with pytest.raises(CUDAError) as caught:
        builder.end_building()
    assert caught.value.name == "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"
    assert "allocating" in str(caught.value)


@pytest.mark.parametrize("mode", [None, "", "Global", 1, ["relaxed"]])
def test_a_mode_that_is_none(device, mode) -> None:
    builder = device.create_graph_builder()
    with pytest.raises(ValueError, match="none of global, thread_local, relaxed"):
        builder.begin_building(mode)
    assert not builder.is_building
    builder.begin_building().end_building()


def test_several_graphs_of_one_builder(device, stream, add) -> None:
    buffer = zeros(device, stream, 32)
    builder = device.create_graph_builder().begin_building()
    launch(builder, ONE, add, buffer, 1)
    builder.end_building()
    first, second = builder.complete(), builder.complete()
    builder.close()
    for graph in (first, second):
        graph.launch(stream)
    assert words(buffer, stream) == [2]


def test_memory_allocated_while_building(device, stream) -> None:
    """As in the examples of cuda.core: allocated by the graph at each launch, freed before the next."""
    out = zeros(device, stream, 256)
    builder = stream.create_graph_builder()
    builder.begin_building()
    buffer = device.allocate(1024, stream=builder)
    buffer.fill(3, stream=builder)
    out.copy_from(buffer, stream=builder)
    graph = builder.end_building().complete()
    graph.upload(stream)
    for _ in range(100):
        graph.launch(stream)
    stream.sync()
    assert set(content(out, np.uint8, stream).tolist()) == {3}
    buffer.close(stream)
    stream.sync()
    graph.close()
    builder.close()


@pytest.mark.parametrize("when", ["while building", "before a launch", "after a launch"])
def test_memory_allocated_while_building_and_dropped(device, stream, monkeypatch, when) -> None:
    said = []
    monkeypatch.setattr("sys.unraisablehook", lambda args: said.append(args.exc_value))
    out = zeros(device, stream, 256)
    builder = device.create_graph_builder().begin_building()
    buffer = device.allocate(1024, stream=builder)
    address = buffer.handle
    buffer.fill(3, stream=builder)
    out.copy_from(buffer, stream=builder)
    if when == "while building":
        del buffer
        gc.collect()
    graph = builder.end_building().complete()
    kinds = {type(node) for node in builder.graph_definition.nodes()}
    assert (FreeNode in kinds) == (when == "while building")
    if when == "before a launch":
        del buffer
        gc.collect()
    graph.launch(stream)
    graph.launch(stream)
    assert set(content(out, np.uint8, stream).tolist()) == {3}
    if when == "after a launch":
        del buffer
    elif when == "before a launch":  # nobody else does it any more
        driver.checked.cuMemFreeAsync(address, stream.handle)
    graph.close()
    builder.close()
    gc.collect()
    device.sync()
    assert said == []
    driver.checked.cuDeviceGraphMemTrim(0)


def test_without_auto_free_the_second_launch_fails(device, stream) -> None:
    builder = stream.create_graph_builder().begin_building()
    buffer = device.allocate(1024, stream=builder)
    graph = builder.end_building().complete(GraphCompleteOptions(auto_free_on_launch=False))
    graph.launch(stream)
    with pytest.raises(CUDAError) as caught:
        graph.launch(stream)
    assert caught.value.function == "cuGraphLaunch"
    buffer.close(stream)
    graph.launch(stream)
    driver.checked.cuMemFreeAsync(buffer_address(builder), stream.handle)
    stream.sync()


def buffer_address(builder):
    (node,) = builder.graph_definition.nodes()
    return node.dptr


def test_complete_options(device, stream, add) -> None:
    buffer = zeros(device, stream, 32)
    builder = device.create_graph_builder().begin_building()
    launch(builder, ONE, add, buffer, 1)
    builder.end_building()
    options = GraphCompleteOptions(auto_free_on_launch=True, upload_stream=stream, use_node_priority=True)
    graph = builder.complete(options)
    assert int(driver.checked.cuGraphExecGetFlags(graph.handle)) & 1
    graph.launch(stream)
    assert words(buffer, stream) == [1]
    device_graph = builder.complete({"device_launch": True})
    assert int(driver.checked.cuGraphExecGetFlags(device_graph.handle)) == 4


# -- split and join ---------------------------------------------------------------------------------------


def test_split_and_join(device, stream, add, times) -> None:
    first, second, third = (zeros(device, stream, 32) for _ in range(3))
    builder = device.create_graph_builder().begin_building()
    launch(builder, ONE, add, first, 1)
    same, left, right = builder.split(3)
    assert same is builder and not builder.is_join_required
    assert left.is_join_required and right.is_building
    second.copy_from(first, stream=left)
    third.copy_from(first, stream=right)
    launch(left, ONE, times, second, 10)
    launch(right, ONE, times, third, 100)
    assert GraphBuilder.join(left, builder, right) is builder
    first.copy_from(second, stream=builder)
    graph = builder.end_building().complete()
    graph.launch(stream)
    assert [words(b, stream) for b in (first, second, third)] == [[10], [10], [100]]
    definition = builder.graph_definition
    (root,) = [node for node in definition.nodes() if not node.pred]
    (last,) = [node for node in definition.nodes() if not node.succ]
    assert len(root.succ) == len(last.pred) == 3 and last in root.succ
    assert len(root.succ - {last}) == 2


def test_a_part_can_be_split_again_and_joined_first(device, stream, add) -> None:
    buffers = [zeros(device, stream, 32) for _ in range(3)]
    builder = device.create_graph_builder().begin_building()
    _, fork = builder.split(2)
    _, inner = fork.split(2)
    for value, (part, buffer) in enumerate(zip((builder, fork, inner), buffers, strict=True)):
        launch(part, ONE, add, buffer, value + 1)
    assert GraphBuilder.join(fork, inner) is fork
    GraphBuilder.join(builder, fork)
    builder.end_building().complete().launch(stream)
    assert [words(b, stream) for b in buffers] == [[1], [2], [3]]


def test_a_part_that_was_joined_is_done_with(device, stream, add) -> None:
    buffer = zeros(device, stream, 32)
    builder = device.create_graph_builder().begin_building()
    _, fork = builder.split(2)
    launch(fork, ONE, add, buffer, 1)
    GraphBuilder.join(builder, fork)
    with pytest.raises(RuntimeError, match="joined into another"):
        launch(fork, ONE, add, buffer, 1)
    with pytest.raises(RuntimeError, match="joined into another"):
        GraphBuilder.join(builder, fork)
    assert not fork.is_building
    fork.close()
    builder.end_building().complete().launch(stream)
    assert words(buffer, stream) == [1]


def test_a_part_that_is_not_joined_is_an_error(device, stream, add) -> None:
    buffer = zeros(device, stream, 32)
    builder = stream.create_graph_builder().begin_building()
    _, fork, other = builder.split(3)
    launch(fork, ONE, add, buffer, 1)
    launch(other, ONE, add, buffer, 1)
    with pytest.raises(TypeError, match="join takes GraphBuilders, not Stream"):
        GraphBuilder.join(builder, other.stream)
    GraphBuilder.join(builder, other)
    with pytest.raises(CUDAError, match=r"(?<!-)1 of the builders that split") as caught:
        builder.end_building()
    assert caught.value.name == "CUDA_ERROR_STREAM_CAPTURE_UNJOINED"
    assert not is_capturing(stream) and not is_capturing(fork.stream) and not builder.is_building
    with pytest.raises(RuntimeError, match="ended the building"):
        launch(fork, ONE, add, buffer, 1)
    assert not fork.is_building
    builder.begin_building()
    launch(builder, ONE, add, buffer, 5)
    builder.end_building().complete().launch(stream)
    assert words(buffer, stream) == [5]


def test_what_cannot_be_split_or_joined(device) -> None:
    one, two = (device.create_graph_builder().begin_building() for _ in range(2))
    _, fork = one.split(2)
    with pytest.raises(ValueError, match="count must be at least 2, not 1"):
        one.split(1)
    for wrong in ((one,), (one, one), ()):
        with pytest.raises(ValueError, match="two builders or more"):
            GraphBuilder.join(*wrong)
    with pytest.raises(ValueError, match="do not come from one"):
        GraphBuilder.join(one, two)
    with pytest.raises(RuntimeError, match="join it"):
        fork.end_building()
    with pytest.raises(RuntimeError, match="ask the one"):
        _ = fork.graph_definition
    GraphBuilder.join(one, fork)
    one.end_building()
    two.close()


# -- callbacks, child graphs, conditions ------------------------------------------------------------------


def test_python_functions_run_in_order(device, stream, add) -> None:
    seen = []
    out = np.zeros(32, np.int32)
    buffer = zeros(device, stream, 32)
    builder = device.create_graph_builder().begin_building()
    builder.callback(lambda: seen.append(("before", int(out[0]))))
    launch(builder, ONE, add, buffer, 4)
    buffer.copy_to(out, stream=builder)
    builder.callback(lambda: seen.append(("after", int(out[0]))))
    graph = builder.end_building().complete()
    gc.collect()
    for _ in range(2):
        graph.launch(stream)
    stream.sync()
    assert seen == [("before", 0), ("after", 4), ("before", 4), ("after", 8)]
    assert len(builder.graph_definition.edges()) == 3


def test_c_functions(device, stream) -> None:
    seen = []

    @ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    def note(address):
        seen.append(address if address == 7 else ctypes.string_at(address, 5))

    builder = device.create_graph_builder().begin_building()
    builder.callback(note, user_data=7)
    builder.callback(note, user_data=bytearray(b"hello"))
    builder.callback(note, user_data=np.uint64(7))
    builder.callback(note, user_data=np.frombuffer(b"w o r l d", np.uint8)[::2])
    graph = builder.end_building().complete()
    builder.close()
    gc.collect()
    graph.launch(stream)
    stream.sync()
    assert seen == [7, b"hello", 7, b"world"]


def test_callbacks_that_are_none(device) -> None:
    builder = device.create_graph_builder().begin_building()
    with pytest.raises(TypeError, match="int cannot be called"):
        builder.callback(5)
    with pytest.raises(ValueError, match="functools"):
        builder.callback(print, user_data=1)
    with pytest.raises(TypeError, match=r"void \(\*\)\(void \*\)"):
        builder.callback(ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(abs))
    builder.close()


def test_what_is_not_embedded(device, stream) -> None:
    deciding, allocating = (device.create_graph_builder().begin_building() for _ in range(2))
    if driver.checked.cuDriverGetVersion() >= 12040:
        deciding.if_then(deciding.create_condition(1))
    else:
        device.allocate(64, stream=deciding)
    device.allocate(64, stream=allocating).close()
    builder = device.create_graph_builder().begin_building()
    for child in (deciding.end_building(), allocating.end_building()):
        with pytest.raises(CUDAError, match="cuGraphAddChildGraphNode"):
            builder.embed(child)
    for wrong in (None, stream):
        with pytest.raises(TypeError, match="embed takes a GraphBuilder or a GraphDefinition, not "):
            builder.embed(wrong)
    assert builder.end_building().graph_definition.nodes() == set()


def test_embed(device, stream, add, times) -> None:
    buffer = zeros(device, stream, 32)
    child = device.create_graph_builder().begin_building()
    launch(child, ONE, times, buffer, 10)
    builder = device.create_graph_builder().begin_building()
    launch(builder, ONE, add, buffer, 1)
    with pytest.raises(RuntimeError, match="still building"):
        builder.embed(child)
    child.end_building()
    builder.embed(child)
    launch(builder, ONE, add, buffer, 2)
    builder.embed(child.graph_definition)
    child.close()
    builder.end_building().complete().launch(stream)
    assert words(buffer, stream) == [120] and len(builder.graph_definition.edges()) == 3


@pytest.mark.parametrize(("value", "found"), [(1, 7), (0, 0)])
def test_if(device, stream, kernels, add, value, found) -> None:
    needs_driver(12, 4)
    buffer = zeros(device, stream, 32)
    builder = device.create_graph_builder().begin_building()
    condition = builder.create_condition()
    launch(builder, LaunchConfig(grid=1, block=1), kernels.get_kernel("decide"), condition, value)
    then = builder.if_then(condition)
    assert not then.is_building
    then.begin_building()
    launch(then, ONE, add, buffer, 7)
    then.end_building()
    with pytest.raises(RuntimeError, match="complete the outermost"):
        then.complete()
    builder.end_building().complete().launch(stream)
    assert words(buffer, stream) == [found]
    kinds = {type(node) for node in builder.graph_definition.nodes()}
    assert kinds == {KernelNode, IfNode}


@pytest.mark.parametrize(("value", "found"), [(1, 7), (0, 8)])
def test_if_else(device, stream, kernels, add, value, found) -> None:
    needs_driver(12, 8)
    buffer = zeros(device, stream, 32)
    builder = device.create_graph_builder().begin_building()
    condition = builder.create_condition(default_value=value)
    for number, body in zip((7, 8), builder.if_else(condition), strict=True):
        launch(body.begin_building(), ONE, add, buffer, number)
        body.end_building()
    builder.end_building().complete().launch(stream)
    assert words(buffer, stream) == [found]
    (node,) = builder.graph_definition.nodes()
    assert isinstance(node, IfElseNode) and len(node.else_.nodes()) == 1


@pytest.mark.parametrize("value", [0, 2, 3])
def test_switch(device, stream, add, value) -> None:
    needs_driver(12, 8)
    buffer = zeros(device, stream, 32)
    builder = device.create_graph_builder().begin_building()
    bodies = builder.switch(builder.create_condition(value), 3)
    for number, body in enumerate(bodies):
        launch(body.begin_building(), ONE, add, buffer, 10 + number)
        body.end_building()
    builder.end_building().complete().launch(stream)
    assert words(buffer, stream) == [10 + value if value < 3 else 0]
    (node,) = builder.graph_definition.nodes()
    assert isinstance(node, SwitchNode) and node.cond_type == "switch"


def test_while(device, stream, kernels, add) -> None:
    needs_driver(12, 4)
    buffer, left = zeros(device, stream, 32), zeros(device, stream, 1)
    left.fill(b"\5\0\0\0", stream=stream)
    builder = stream.create_graph_builder().begin_building()
    condition = builder.create_condition(1)
    body = builder.while_loop(condition)
    body.begin_building()
    launch(body, ONE, add, buffer, 1)
    launch(body, LaunchConfig(grid=1, block=1), kernels.get_kernel("count_down"), condition.handle, left)
    body.end_building()
    launch(builder, ONE, add, buffer, 100)
    builder.end_building().complete().launch(stream)
    assert words(buffer, stream) == [105] and words(left, stream) == [0]
    assert {type(node) for node in builder.graph_definition.nodes()} == {WhileNode, KernelNode}


@pytest.mark.parametrize("whose", ["of the body", "of the outermost graph"])
def test_a_condition_in_a_body_starts_with_its_default(device, stream, kernels, add, whose) -> None:
    needs_driver(12, 4)
    buffer, left = zeros(device, stream, 32), zeros(device, stream, 1)
    builder = device.create_graph_builder().begin_building()
    again = builder.create_condition(1)
    outer = builder.create_condition(1) if whose == "of the outermost graph" else None
    body = builder.while_loop(again).begin_building()
    then = body.if_then(body.create_condition(1) if outer is None else outer).begin_building()
    launch(then, ONE, add, buffer, 1)
    then.end_building()
    launch(body, LaunchConfig(grid=1, block=1), kernels.get_kernel("count_down"), again, left)
    body.end_building()
    graph = builder.end_building().complete()
    for steps in (3, 6):
        left.fill(b"\3\0\0\0", stream=stream)
        graph.launch(stream)
        assert words(buffer, stream) == [steps]


def test_a_body_can_be_defined_node_by_node(device, stream) -> None:
    needs_driver(12, 4)
    buffer = zeros(device, stream, 32)
    for value in (0, 1):
        builder = device.create_graph_builder().begin_building()
        body = builder.if_then(builder.create_condition(value))
        body.graph_definition.memset(buffer, b"\3\0\0\0", 32)
        builder.end_building().complete().launch(stream)
        assert words(buffer, stream) == [3 * value]


def test_a_body_of_a_capture_that_failed_is_gone(device) -> None:
    needs_driver(12, 4)
    builder = device.create_graph_builder().begin_building()
    body = builder.if_then(builder.create_condition(1))
    inner = body.graph_definition
    builder.close()
    assert not inner.is_valid
    with pytest.raises(RuntimeError, match="gone"):
        inner.empty()
    with pytest.raises(RuntimeError, match="gone"):
        body.begin_building()


# -- definitions of captured graphs, updates, pictures ----------------------------------------------------


def test_a_captured_graph_can_be_extended(device, stream, add, times) -> None:
    buffer = zeros(device, stream, 32)
    builder = device.create_graph_builder().begin_building()
    launch(builder, ONE, add, buffer, 3)
    builder.end_building()
    definition = builder.graph_definition
    (node,) = definition.nodes()
    assert node.kernel.name == "add" and node.config == ONE
    node.launch(ONE, times, buffer, 5)
    builder.complete().launch(stream)
    assert words(buffer, stream) == [15]
    node.update(args=(buffer, 4))
    builder.close()
    definition.instantiate().launch(stream)
    assert words(buffer, stream) == [95]


def test_a_captured_kernel_keeps_its_arguments_in_an_update(device, stream, add, times) -> None:
    needs_driver(12, 4)
    buffer = zeros(device, stream, 64)
    builder = device.create_graph_builder().begin_building()
    launch(builder, ONE, add, buffer, 3)
    builder.end_building()
    (node,) = builder.graph_definition.nodes()
    node.update(config=LaunchConfig(grid=2, block=32))
    builder.complete().launch(stream)
    assert words(buffer, stream) == [3]


def test_update(device, stream, add, times) -> None:
    buffer = zeros(device, stream, 32)

    def built(kernel, *values):
        builder = device.create_graph_builder().begin_building()
        for value in values:
            launch(builder, ONE, kernel, buffer, value)
        return builder.end_building()

    graph = built(add, 1).complete()
    graph.update(built(add, 10))
    graph.launch(stream)
    assert words(buffer, stream) == [10]
    graph.update(built(times, 3).graph_definition)
    graph.launch(stream)
    assert words(buffer, stream) == [30]
    with pytest.raises(GraphUpdateError, match="nodes or edges are not the same") as caught:
        graph.update(built(add, 1, 2))
    error = caught.value
    assert error.result.name == "CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED"
    assert error.name == "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE"
    graph.launch(stream)
    assert words(buffer, stream) == [90]
    other = device.create_graph_builder().begin_building()
    buffer.fill(0, stream=other)
    with pytest.raises(RuntimeError, match="still building"):
        graph.update(other)
    with pytest.raises(GraphUpdateError, match="a node is of another kind") as caught:
        graph.update(other.end_building())
    assert caught.value.node in [int(node.handle) for node in other.graph_definition.nodes()]
    with pytest.raises(TypeError, match="not Stream"):
        graph.update(stream)


def test_dot(device, stream, add, tmp_path, capsys) -> None:
    buffer = zeros(device, stream, 32)
    builder = device.create_graph_builder().begin_building()
    launch(builder, ONE, add, buffer, 1)
    launch(builder, ONE, add, buffer, 1)
    with pytest.raises(RuntimeError, match="still building"):
        builder.dot()
    builder.end_building()
    path = tmp_path / "graph.dot"
    builder.debug_dot_print(str(path))
    short = path.read_text()
    assert short.startswith("digraph") and short.count("->") == 1 and short.rstrip().endswith("}")
    builder.debug_dot_print(path, GraphDebugPrintOptions(verbose=True))
    assert len(path.read_text()) > len(short) and "add" in path.read_text()
    builder.debug_print(options={"verbose": True, "kernel_node_params": True})
    assert capsys.readouterr().out.startswith("digraph")
    with pytest.raises(CUDAError):
        builder.debug_dot_print(tmp_path / "nowhere" / "graph.dot")


# -- misuse -----------------------------------------------------------------------------------------------


def test_a_builder_is_not_made_by_hand() -> None:
    for cls in (GraphBuilder, Graph):
        with pytest.raises(TypeError, match="comes from"):
            cls()


def test_before_and_after_building(device, stream, add) -> None:
    buffer = zeros(device, stream, 32)
    builder = device.create_graph_builder()
    for use in (
        builder.end_building,
        lambda: launch(builder, ONE, add, buffer, 1),
        lambda: buffer.fill(0, stream=builder),
        lambda: builder.callback(print),
        lambda: builder.split(2),
        builder.create_condition,
        builder.complete,
        builder.dot,
    ):
        with pytest.raises(RuntimeError, match="begin_building"):
            use()
    builder.begin_building()
    with pytest.raises(RuntimeError, match="building already"):
        builder.begin_building()
    with pytest.raises(RuntimeError, match="still building"):
        builder.complete()
    builder.end_building()
    for use in (builder.end_building, builder.begin_building, lambda: launch(builder, ONE, add, buffer, 1)):
        with pytest.raises(RuntimeError, match="has built its graph"):
            use()
    assert words(buffer, stream) == [0]


def test_wrong_mode(device) -> None:
    builder = device.create_graph_builder()
    with pytest.raises(ValueError, match="'strict' is none of global, thread_local, relaxed"):
        builder.begin_building("strict")
    assert not builder.is_building and not is_capturing(builder.stream)


def test_a_closed_builder(device, stream, add) -> None:
    builder = stream.create_graph_builder().begin_building()
    builder.close()
    builder.close()
    assert builder.is_closed and not is_capturing(stream)
    for use in (builder.begin_building, builder.end_building, builder.complete, lambda: builder.stream):
        with pytest.raises(RuntimeError, match="this GraphBuilder is closed"):
            use()
    with pytest.raises(RuntimeError, match="this GraphBuilder is closed"):
        launch(builder, ONE, add, None, 1)
    with stream.create_graph_builder() as other:
        other.begin_building()
    assert not is_capturing(stream)
    stream.sync()


def test_a_dropped_builder_leaves_no_capture(device, stream, add) -> None:
    builder = stream.create_graph_builder().begin_building()
    launch(builder, ONE, add, zeros(device, device.create_stream(), 32), 1)
    parts = builder.split(3)
    assert is_capturing(stream)
    del builder, parts
    gc.collect()
    assert not is_capturing(stream)
    stream.sync()


def allocated(builder, add):
    """Memory that the graph allocates."""
    return Device().allocate(128, stream=builder)


def allocated_in_the_stream(builder, add):
    return Device().allocate(128, stream=builder.stream)


def allocated_by_graph_memory(builder, add):
    return GraphMemoryResource(0).allocate(128, stream=builder)


def pinned(builder, add):
    """Memory that is there, whatever becomes of the graph."""
    return LegacyPinnedMemoryResource().allocate(128, stream=builder)


def of_another_library(builder, add):
    memory = LegacyPinnedMemoryResource().allocate(128)
    return memory, Buffer.from_handle(memory.handle, 128, LeavesItAlone(), stream=builder)


class LeavesItAlone(LegacyPinnedMemoryResource):
    def deallocate(self, ptr, size, stream=None) -> None:
        pass


def freed_in_it(builder, add):
    buffer = LegacyPinnedMemoryResource().allocate(128)
    buffer.set_deallocation_stream(builder)
    return buffer


def argument(builder, add):
    buffer = Device().allocate(128, stream=builder)
    launch(builder, ONE, add, buffer, 1)
    return buffer


def copied(builder, add):
    buffer, host = Device().allocate(128, stream=builder), np.zeros(32, np.int32)
    buffer.copy_from(host, stream=builder)
    buffer.fill(1, stream=builder)
    return buffer, host


def view(builder, add):
    one, other = (Device().allocate(128, stream=builder).view("i4") for _ in range(2))
    one.copy_from(other, stream=builder)
    return one


def argument_of_the_programs_own(builder, add):
    memory = Device().allocate(128, stream=builder)
    launch(builder, ONE, add, Array(memory, builder), 1)


class Array:
    def __init__(self, memory, builder) -> None:
        self.memory, self.builder = memory, builder

    @property
    def __cuda_array_interface__(self):
        return self.memory.__cuda_array_interface__


def event(builder, add):
    return Stream._accept(builder).record()


def part(builder, add):
    return builder.split(3)[1:]


def callback(builder, add):
    """A method of an object that has the builder, as in a class that records its work."""
    builder.callback(lambda: builder)


def body(builder, add):
    needs_driver(12, 4)
    return builder.if_then(builder.create_condition(1))


def body_of_a_callback(builder, add):
    needs_driver(12, 4)
    inside = builder.if_then(builder.create_condition(1)).begin_building()
    inside.callback(lambda: (builder, inside))


LEFT = (
    allocated,
    allocated_in_the_stream,
    allocated_by_graph_memory,
    pinned,
    of_another_library,
    freed_in_it,
    argument,
    copied,
    view,
    argument_of_the_programs_own,
    event,
    part,
    callback,
    body,
    body_of_a_callback,
)


LEFT_RELAXED = pinned, of_another_library, freed_in_it  # which other modes do not allow
MODES = "relaxed", "thread_local", "global"


@pytest.mark.parametrize("is_failed", [False, True], ids=["abandoned", "failed"])
@pytest.mark.parametrize(
    ("mode", "what"),
    [(mode, what) for mode in MODES for what in LEFT if mode == "relaxed" or what not in LEFT_RELAXED],
)
def test_the_last_reference_ends_a_recording(device, stream, add, what, is_failed, mode) -> None:
    """Nothing that was recorded, is waiting to be released, or is still in use keeps it going."""
    builders = []

    def record():
        builder = stream.create_graph_builder().begin_building(mode)
        builders.append(weakref.ref(builder))
        left = what(builder, add)
        if is_failed:
            with pytest.raises(CUDAError):
                stream.sync()  # which no graph can have
        return left

    left = [record()]
    gc.collect()
    assert not is_capturing(stream) and builders[0]() is None
    for _ in range(2):  # while what is left is there, and afterwards
        memory = device.allocate(64, stream=stream)
        LegacyPinnedMemoryResource().allocate(64).close()
        stream.sync()
        memory.close(stream)
        left.clear()
        gc.collect()


@pytest.mark.parametrize("what", [allocated, argument, allocated_by_graph_memory])
def test_a_recording_whose_function_raises_is_over(device, stream, add, what) -> None:
    for mode in ("global", "thread_local"):
        with pytest.raises(CUDAError):
            builder = stream.create_graph_builder().begin_building(mode)
            buffer = what(builder, add)
            LegacyPinnedMemoryResource().allocate(64)
        del builder, buffer
        gc.collect()
        assert not is_capturing(stream)
        LegacyPinnedMemoryResource().allocate(64).close()


@pytest.mark.parametrize("how", ["failed", "closed", "dropped"])
def test_memory_of_a_graph_that_never_was_is_not_freed(device, stream, how) -> None:
    """Its address may be another's by then."""
    builder = stream.create_graph_builder().begin_building()
    never, moved = (device.allocate(4096, stream=builder) for _ in range(2))
    if how == "failed":
        with pytest.raises(CUDAError):
            stream.sync()
        with pytest.raises(CUDAError, match="INVALIDATED"):
            builder.end_building()
    elif how == "closed":
        builder.close()
    del builder
    gc.collect()
    others = [device.allocate(4096, stream=stream) for _ in range(64)]
    used = device.memory_resource.attributes.used_mem_current
    moved.set_deallocation_stream(device.create_stream())
    never.close()
    del never, moved
    gc.collect()
    device.sync()
    assert device.memory_resource.attributes.used_mem_current == used
    for other in others:
        other.close()


def test_parts_of_a_builder_that_was_dropped(device, stream) -> None:
    builder = stream.create_graph_builder().begin_building()
    _, left, right = builder.split(3)
    del builder, _
    gc.collect()
    assert not is_capturing(stream) and not left.is_building and left.is_join_required
    for use in (lambda: GraphBuilder.join(left, right), lambda: left.split(2), left.__cuda_stream__):
        with pytest.raises(RuntimeError, match="has ended the building, or was dropped"):
            use()


def test_a_body_of_a_builder_that_was_dropped(device) -> None:
    needs_driver(12, 4)
    builder = device.create_graph_builder().begin_building()
    one, two = (builder.if_then(builder.create_condition(1)) for _ in range(2))
    two.begin_building()
    inner = one.graph_definition
    del builder
    gc.collect()
    assert not inner.is_valid
    with pytest.raises(RuntimeError, match="gone"):
        one.begin_building()
    two.callback(print)  # into a graph that is there until this builder goes
    two.close()


@pytest.mark.parametrize("fails", ["by a wait", "by a fork"])
@pytest.mark.parametrize("ends", ["dropped", "ended"])
def test_a_body_is_ended_before_the_failure_that_destroys_its_graph(device, stream, add, ends, fails) -> None:
    """In the other order driver 580 is killed by a segmentation fault."""
    needs_driver(12, 4)
    builder = stream.create_graph_builder().begin_building("relaxed")
    inside = builder.if_then(builder.create_condition(1)).begin_building()
    inside.callback(print)
    recorded_in = inside.stream
    if fails == "by a wait":
        with pytest.raises(CUDAError):
            stream.sync()
    else:
        buffer = zeros(device, device.create_stream(), 32)
        for part in builder.split(2)[1:]:
            launch(part, ONE, add, buffer, 1)
            del part
    if ends == "ended":
        with pytest.raises(CUDAError):
            builder.end_building()
    del builder
    gc.collect()
    assert not is_capturing(stream) and not is_capturing(recorded_in)
    with pytest.raises(RuntimeError):
        inside.callback(print)
    inside.close()


def test_a_capture_that_somebody_else_ends_leaves_its_graph_what_it_uses(device, stream) -> None:
    called = []
    builder = stream.create_graph_builder().begin_building()
    builder.callback(lambda: called.append(1))
    graph = driver.checked.cuStreamEndCapture(stream.handle)
    del builder
    gc.collect()
    executable = driver.checked.cuGraphInstantiate(graph, 0)
    driver.checked.cuGraphLaunch(executable, stream.handle)
    stream.sync()
    driver.checked.cuGraphExecDestroy(executable)
    driver.checked.cuGraphDestroy(graph)
    assert called == [1]


def test_an_invalid_capture_is_ended_and_explained(device, stream, add) -> None:
    buffer = zeros(device, stream, 32)
    builder = stream.create_graph_builder().begin_building()
    launch(builder, ONE, add, buffer, 1)
    with pytest.raises(CUDAError):
        stream.sync()
    with pytest.raises(CUDAError, match="waiting for the stream") as caught:
        builder.end_building()
    assert caught.value.name == "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"
    assert not is_capturing(stream)
    stream.sync()
    builder.begin_building()
    launch(builder, ONE, add, buffer, 2)
    builder.end_building().complete().launch(stream)
    assert words(buffer, stream) == [2]


def test_a_capture_of_another_thread(device, stream) -> None:
    builder = stream.create_graph_builder().begin_building("thread_local")
    said = []

    def end():
        Device(0).set_current()
        try:
            builder.end_building()
        except CUDAError as error:
            said.append(error.name)

    thread = threading.Thread(target=end)
    thread.start()
    thread.join()
    assert said == ["CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD"]
    assert not builder.is_building and not is_capturing(stream)
    device.sync()
    assert builder.begin_building().end_building().graph_definition.nodes() == set()


def test_a_builder_dropped_in_another_thread(device, stream) -> None:
    builders = [stream.create_graph_builder().begin_building("thread_local")]

    def drop():
        builders.clear()
        gc.collect()

    thread = threading.Thread(target=drop)
    thread.start()
    thread.join()
    assert not is_capturing(stream)
    device.sync()


def test_two_captures_cannot_be_mixed(device, stream) -> None:
    one, two = (device.create_graph_builder().begin_building() for _ in range(2))
    with pytest.raises(CUDAError):
        one.stream.wait(two.stream)
    for builder in (one, two):
        builder.close()
        assert builder.is_closed
    device.sync()


def test_a_closed_graph(device, stream) -> None:
    graph = GraphDefinition().instantiate()
    graph.close()
    graph.close()
    assert graph.is_closed and "closed" in repr(graph)
    for use in (lambda: graph.launch(stream), lambda: graph.upload(stream)):
        with pytest.raises(RuntimeError, match="this Graph is closed"):
            use()


def test_a_graph_is_not_launched_in_a_builder(device, stream, add) -> None:
    buffer = zeros(device, stream, 32)
    inner = device.create_graph_builder().begin_building()
    launch(inner, ONE, add, buffer, 5)
    graph = inner.end_building().complete()
    builder = device.create_graph_builder().begin_building()
    with pytest.raises(TypeError, match="embed"):
        graph.launch(builder)
    builder.embed(inner)
    builder.end_building().complete().launch(stream)
    assert words(buffer, stream) == [5]


def test_a_stream_with_priority(device) -> None:
    high = device.create_stream(options=StreamOptions(priority=-1))
    builder = high.create_graph_builder().begin_building()
    _, fork = builder.split(2)
    assert fork.stream.priority == -1 and isinstance(fork.stream, Stream)
    GraphBuilder.join(builder, fork)
    builder.end_building()
    assert isinstance(builder.graph_definition.empty(), EmptyNode)


def test_a_stream_that_is_closed_while_building(device, add) -> None:
    stream = device.create_stream()
    builder = stream.create_graph_builder().begin_building()
    other = device.create_stream().create_graph_builder().begin_building()
    other.stream.close()
    stream.close()
    with pytest.raises(RuntimeError, match="this Stream is closed"):
        launch(builder, ONE, add, None, 1)
    assert builder.end_building().graph_definition.nodes() == set()
    other.close()
    device.sync()


def test_a_closed_stream_has_no_builder(device) -> None:
    stream = device.create_stream()
    stream.close()
    with pytest.raises(RuntimeError, match="this Stream is closed"):
        stream.create_graph_builder()


def test_buffers_of_another_library(device, stream, add) -> None:
    owned = zeros(device, stream, 32)
    foreign = Buffer.from_handle(owned.handle, owned.size, owner=owned)
    builder = device.create_graph_builder().begin_building()
    launch(builder, ONE, add, foreign, 1)
    graph = builder.end_building().complete()
    del foreign
    graph.launch(stream)
    assert words(owned, stream) == [1]
