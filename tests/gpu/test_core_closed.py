"""core on a real GPU: what closed objects say, as those of cuda.core do: a null handle, or a RuntimeError."""

from __future__ import annotations

import pytest
from cudapy.core.graph import GraphDefinition
from cudapy.core.utils import StridedMemoryView, copy_batch, prefetch_batch

from cudapy import driver
from cudapy.core import (
    Buffer,
    DeviceMemoryResource,
    DeviceMemoryResourceOptions,
    Event,
    Linker,
    LinkerOptions,
    Program,
    ProgramOptions,
)

pytestmark = pytest.mark.gpu

SOURCE = 'extern "C" __global__ void k(int *x) { *x = 1; }'
KINDS = ("stream", "event", "buffer", "pool", "default pool", "graph", "builder", "program", "linker")


@pytest.fixture
def closed(device, stream):
    """A function from a kind to a closed object of it."""

    def make(kind):
        thing = {
            "stream": device.create_stream,
            "event": stream.record,
            "buffer": lambda: device.allocate(64, stream),
            "pool": lambda: DeviceMemoryResource(0, DeviceMemoryResourceOptions(max_size=1 << 20)),
            "default pool": lambda: DeviceMemoryResource(0),
            "graph": lambda: GraphDefinition().instantiate(),
            "builder": device.create_graph_builder,
            "program": lambda: Program(SOURCE, "c++"),
            "linker": lambda: Linker(ptx(), options=LinkerOptions(arch=f"sm_{device.arch}")),
        }[kind]()
        thing.close()
        return thing

    return make


def ptx():
    return Program(SOURCE, "c++", ProgramOptions(arch="sm_90")).compile("ptx")


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_closed_once(closed, kind) -> None:
    thing = closed(kind)
    assert (thing.is_closed and "closed" in repr(thing)) or "pool" in kind
    thing.close()
    assert thing == thing and isinstance(hash(thing), int) and bool(thing)


@pytest.mark.parametrize("kind", sorted({*KINDS} - {"builder"}))
def test_the_handle_is_a_null_one(closed, kind) -> None:
    """Of the type that it had."""
    thing = closed(kind)
    expected = {
        "stream": driver.CUstream,
        "event": driver.CUevent,
        "buffer": int,
        "graph": driver.CUgraphExec,
    }
    assert int(thing.handle) == 0
    if kind in expected:
        assert type(thing.handle) is expected[kind]
    elif "pool" in kind:
        assert type(thing.handle) is driver.CUmemoryPool


@pytest.mark.parametrize("kind", ["stream", "event", "buffer"])
def test_all_that_are_closed_are_equal(closed, device, stream, kind) -> None:
    one, other = closed(kind), closed(kind)
    still = {"stream": device.create_stream, "event": stream.record}.get(
        kind, lambda: device.allocate(64, stream)
    )()
    assert one == other != still and hash(one) == hash(other)
    assert one in {other} and one not in {still}


USES = {
    "stream": {
        "context",
        "device",
        "is_nonblocking",
        "priority",
        "sync()",
        "record()",
        "create_graph_builder()",
        "__cuda_stream__()",
    },
    "event": {
        "context",
        "device",
        "is_blocking_sync",
        "is_timing_enabled",
        "is_ipc_enabled",
        "is_done",
        "ipc_descriptor",
        "sync()",
    },
    "buffer": {
        "device_id",
        "is_device_accessible",
        "is_host_accessible",
        "is_managed",
        "ipc_descriptor",
        "__dlpack__()",
        "__dlpack_device__()",
    },
    "pool": {"attributes.used_mem_current", "allocation_handle", "peer_accessible_by", "allocate(8)"},
    "default pool": {"attributes.used_mem_current", "peer_accessible_by", "allocate(8)"},
    "graph": {"launch(stream)", "upload(stream)", "update(definition)", "__getitem__(node)"},
    "builder": {
        "is_building",
        "stream",
        "graph_definition",
        "begin_building()",
        "end_building()",
        "complete()",
        "split(2)",
        "__cuda_stream__()",
    },
    "program": {"compile('ptx')"},
    "linker": {"link('cubin')", "get_error_log()", "get_info_log()"},
}


@pytest.mark.parametrize(("kind", "use"), [(kind, use) for kind in USES for use in sorted(USES[kind])])
def test_using_it_is_an_error(closed, stream, kind, use) -> None:
    definition = GraphDefinition()
    node = definition.empty()
    scope = {"thing": closed(kind), "stream": stream, "definition": definition, "node": node}
    with pytest.raises(RuntimeError, match=r"closed|for one process"):
        eval(f"thing.{use}", scope)


def test_so_is_giving_it_to_another(closed, device, stream) -> None:
    event, other, buffer = closed("event"), closed("stream"), closed("buffer")
    good = device.allocate(64, stream)
    node = GraphDefinition().empty()
    for use in (
        lambda: stream.record(event),
        lambda: stream.wait(event),
        lambda: stream.wait(other),
        lambda: stream.record() - event,
        lambda: device.allocate(8, other),
        lambda: good.set_deallocation_stream(other),
        lambda: good.copy_from(buffer, stream=stream),
        lambda: buffer.copy_to(good, stream=stream),
        lambda: buffer.fill(1, stream=stream),
        lambda: buffer.set_deallocation_stream(stream),
        lambda: StridedMemoryView.from_buffer(buffer, (0,), itemsize=1),
        lambda: node.record(event),
        lambda: node.wait(event),
        lambda: node.memset(buffer, 1, 1),
        lambda: node.memcpy(good, buffer, 1),
        lambda: copy_batch(device.create_stream(), [buffer], [good]),
        lambda: prefetch_batch(stream, [buffer], device),
    ):
        with pytest.raises(RuntimeError, match="closed"):
            use()


def test_a_closed_buffer_is_of_nobody(device, stream) -> None:
    owner = bytearray(8)
    for buffer in (device.allocate(64, stream), Buffer.from_handle(0x1000, 8, owner=owner)):
        buffer.close()
        assert (buffer.handle, buffer.size, buffer.memory_resource, buffer.owner) == (0, 0, None, None)
        assert not buffer.is_mapped


def test_a_closed_pool_owns_nothing(closed) -> None:
    pool = closed("pool")
    assert not pool.is_handle_owned and not pool.is_mapped and pool.uuid is None
    assert (pool.device_id, pool.is_device_accessible, pool.is_host_accessible) == (0, True, False)


def test_default_streams_cannot_be_closed(device) -> None:
    stream = device.default_stream
    stream.close()
    assert not stream.is_closed and int(stream.handle) == 1
    stream.sync()


def test_contexts(device, stream) -> None:
    """Closing one lets go of the object alone: the context is that of the whole process."""
    current, context = device.context, stream.context
    with pytest.raises(RuntimeError, match="is the current context"):
        context.close()
    assert not context.is_closed and context.handle == current.handle
    number = int(context.handle)
    driver.checked.cuCtxSetCurrent(0)
    try:
        context.close()
        context.close()
        assert context.is_closed and context.handle is None and "closed" in repr(context)
        for use in (context.create_stream, lambda: context.device, lambda: device.set_current(context)):
            with pytest.raises(RuntimeError, match="this Context is closed"):
                use()
        assert not current.is_closed and context != current and int(device.context.handle) == number
        other = device.context
        other.close()
        assert other == context and hash(other) == hash(context)
    finally:
        device.set_current()
    stream.sync()


def test_a_device_does_not_need_the_context_that_it_was_given(device) -> None:
    given = device.context
    device.set_current(given)
    driver.checked.cuCtxSetCurrent(0)
    given.close()
    device.create_stream().close()
    device.set_current()


def test_a_destroyed_node() -> None:
    definition = GraphDefinition()
    top = definition.empty()
    node = top.join()
    node.destroy()
    node.destroy()
    assert (node.handle, node.type, node.is_valid) == (None, None, False)
    assert node.graph == definition and definition.nodes() == {top}
    assert list(node.pred) == list(node.succ) == [] and top not in node.pred and not top.succ
    for use in (
        node.join,
        lambda: node.succ.add(top),
        lambda: top.succ.add(node),
        lambda: definition.join(node),
    ):
        with pytest.raises(RuntimeError, match="this EmptyNode was destroyed"):
            use()


def test_the_logs_of_a_linker_stay(device) -> None:
    linker = Linker(ptx(), options=LinkerOptions(arch=f"sm_{device.arch}", verbose=True))
    linker.link("cubin")
    logs = linker.get_error_log(), linker.get_info_log()
    linker.close()
    assert (linker.get_error_log(), linker.get_info_log()) == logs
    with pytest.raises(RuntimeError, match="closed"):
        linker.link("cubin")


def test_an_event_of_a_graph_is_the_one_that_it_was_given(stream) -> None:
    event = stream.record()
    node = GraphDefinition().empty().record(event)
    assert node.event is event and node.event == event != Event()
