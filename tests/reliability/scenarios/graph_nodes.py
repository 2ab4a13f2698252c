"""Nodes of graphs: what they say, how they are changed, in the definition and in an executable."""

from __future__ import annotations

import numpy as np

from ..world import World


def edges(w: World) -> None:
    definition = w.graph.GraphDefinition()
    a, b, c = (definition.empty() for _ in range(3))
    a.succ.add(b)
    b.pred.update([c])
    assert b.pred == {a, c} and len(a.succ) == 1 and a.graph == definition
    b.pred.discard(c)
    b.pred = {c}
    c.succ = [a]
    c.succ.clear()
    assert not a.pred and a.type.name == "CU_GRAPH_NODE_TYPE_EMPTY" and int(a.handle) and a.is_valid
    a.destroy()
    assert not a.is_valid and len(definition.nodes()) == 2


def every_kind_of_node(w: World) -> None:
    """Found by asking the graph, whatever class they then have."""
    definition = w.graph.GraphDefinition()
    event, buffer = w.device.create_event(), w.device.allocate(128)
    kinds = [
        definition.empty(),
        definition.launch(w.one, w.nothing),
        definition.memset(buffer, 1, 64),
        definition.memcpy(buffer, bytearray(64), 64),
        definition.record(event),
        definition.wait(event),
        definition.callback(len),
        definition.embed(w.graph.GraphDefinition()),
        definition.allocate(64),
        definition.if_then(definition.create_condition(0)),
    ]
    kinds.append(kinds[8].deallocate(kinds[8].dptr))
    assert definition.nodes() == set(kinds)
    assert kinds[4].event is event and kinds[5].event is event and kinds[6].callback is len
    for node in kinds:
        node.succ.add(definition.empty())
        node._record.event = node._record.kernel = None  # as if somebody else had added it
        assert getattr(node, "event", None) in (None, node.event if hasattr(node, "event") else None)
    assert kinds[1].kernel == w.nothing


def changed(w: World) -> None:
    """In the definition: executables that were made before stay as they are."""
    definition = w.graph.GraphDefinition()
    first, second = w.device.create_event(), w.device.create_event()
    buffer, host = w.device.allocate(128), bytearray(128)
    fill = definition.memset(buffer, 1, 64)
    copy = fill.memcpy(host, buffer, 64)
    record, wait = copy.record(first), copy.wait(first)
    call = copy.callback(len)
    assert (fill.value, fill.width, fill.height, fill.element_size) == (1, 64, 1, 1)
    assert fill.dptr == copy.src == buffer.handle and copy.dst and copy.size == 64 and fill.pitch >= 0
    fill.update(value=b"\1\0", width=16)
    fill.update(dst=buffer.handle, dst_owner=buffer)
    copy.update(size=32)
    copy.update(src=buffer.handle + 32, src_owner=buffer)
    record.update(second)
    wait.update(second)
    call.update(repr)
    assert record.event is second and wait.event is second and call.callback is repr


def changed_in_an_executable(w: World) -> None:
    stream = w.device.create_stream()
    definition, child = w.graph.GraphDefinition(), w.graph.GraphDefinition()
    first, second = w.device.create_event(), w.device.create_event()
    buffer, other = w.device.allocate(128, stream), w.device.allocate(128, stream)
    seen: list[int] = []
    inner = child.launch(w.one, w.add, buffer, 1)
    fill = definition.memset(buffer, 0, 32)
    embedded = fill.embed(child)
    kernel = embedded.launch(w.one, w.add, buffer, 1)
    copy = kernel.memcpy(other, buffer, 128)
    record = copy.record(first)
    waiting = record.wait(first)
    call = waiting.callback(lambda: seen.append(1))
    graph = definition.instantiate()
    graph.launch(stream)
    graph[kernel].update(config=w.one, kernel=w.add, args=(other, 3))
    graph[fill].update(dst=other, value=b"\0\0\0\0", width=32)
    graph[copy].update(dst=buffer, src=other, size=128)
    inner.update(args=(other, 2))
    graph[embedded].update(child)
    graph[record].update(second)
    graph[waiting].update(second)
    graph[call].update(lambda: seen.append(2))
    for node in (kernel, fill, copy):
        graph[node].disable()
        assert not graph[node].is_enabled
        graph[node].enable()
    graph.launch(stream)
    found = np.empty(32, np.int32)
    buffer.copy_to(found, stream=stream)
    stream.sync()
    assert set(found.tolist()) == {5} and seen == [1, 2]
