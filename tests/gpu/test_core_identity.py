"""core on a real GPU: which object is which, and that references to it may be weak."""

from __future__ import annotations

import gc
import weakref

import pytest
from cudapy.core.graph import GraphDefinition, IfNode

from cudapy import driver
from cudapy.core import Device, LaunchConfig, Linker, LinkerOptions, Program, launch

from .core_graph import add as add
from .core_graph import kernels as kernels
from .core_graph import nothing_is_left as nothing_is_left
from .core_graph import zeros
from .kernels import needs_driver

pytestmark = pytest.mark.gpu

SINGLE = LaunchConfig(grid=1, block=1)


@pytest.fixture
def definition(device):
    return GraphDefinition()


def test_references_can_be_weak(device, stream, code) -> None:
    """They end with the object, and keep it as it is as long as it is there."""
    definition, kernel = GraphDefinition(), code.get_kernel("axpy")
    things = {
        "kernel": kernel,
        "attributes": kernel.attributes,
        "occupancy": kernel.occupancy,
        "code": Program('extern "C" __global__ void k() {}', "c++").compile("ptx"),
        "program": Program("", "c++"),
        "context": stream.context,
        "config": LaunchConfig(grid=1, block=1),
        "definition": definition,
        "node": definition.empty(),
        "graph": definition.instantiate(),
        "builder": device.create_graph_builder(),
        "stream": device.create_stream(),
        "event": stream.record(),
        "buffer": device.allocate(8, stream),
    }
    things["linker"] = Linker(things["code"], options=LinkerOptions(arch=f"sm_{device.arch}"))
    references = {name: weakref.ref(thing) for name, thing in things.items()}
    assert all(references[name]() is thing for name, thing in things.items())
    cache = weakref.WeakKeyDictionary({kernel: "mine"})
    assert cache[code.get_kernel("axpy")] == "mine"
    del definition, kernel
    things.clear()
    gc.collect()
    assert [name for name, reference in references.items() if reference() is not None] == []
    assert not cache


def the(nodes):
    """The single one of a set."""
    (node,) = nodes
    return node


def test_nodes_are_the_objects_that_were_added(definition, device, stream, add) -> None:
    buffer = zeros(device, stream, 4)
    top = definition.memset(buffer, 1, 16)
    middle = top.launch(SINGLE, add, buffer, 1)
    bottom = middle.join()
    added = [top, middle, bottom]
    assert sorted(map(id, definition.nodes())) == sorted(map(id, added))
    edges = {(id(tail), id(head)) for tail, head in definition.edges()}
    assert edges == {(id(top), id(middle)), (id(middle), id(bottom))}
    assert the(top.succ) is middle and the(middle.pred) is top and the(bottom.pred) is middle
    assert the(top.graph.nodes() - {middle, bottom}) is top


def test_a_node_that_nobody_has_is_another_object_and_the_same_node(definition) -> None:
    definition.empty().join()
    first = definition.nodes()
    identities = set(map(id, first))
    assert set(map(id, definition.nodes())) == identities, "as long as somebody has them"
    references = [weakref.ref(node) for node in first]
    handles = {int(node.handle) for node in first}
    first.clear()
    gc.collect()
    assert [reference() for reference in references] == [None, None]
    assert {int(node.handle) for node in definition.nodes()} == handles


def test_nodes_inside_nodes_are_the_same_too(definition) -> None:
    inner = GraphDefinition()
    inner.empty()
    node = definition.embed(inner)
    found = the(node.child_graph.nodes())
    assert the(node.child_graph.nodes()) is found
    more = found.join()
    assert the(found.succ) is more and the(definition.nodes()) is node


def test_a_conditional_node_is_the_same_object(definition) -> None:
    needs_driver(12, 4)
    node = definition.if_then(definition.create_condition(1))
    inside = node.then.empty()
    assert type(node) is IfNode and the(definition.nodes()) is node and the(node.then.nodes()) is inside


def test_nodes_of_a_builder_are_the_same(device, stream, add) -> None:
    buffer = zeros(device, stream, 4)
    builder = device.create_graph_builder().begin_building()
    launch(builder, SINGLE, add, buffer, 1)
    builder.callback(lambda: None)
    definition = builder.end_building().graph_definition
    nodes = definition.nodes()
    assert len(nodes) == 2 and set(map(id, nodes)) == set(map(id, builder.graph_definition.nodes()))


def test_a_destroyed_node_is_not_the_one_that_is_added_at_its_address(definition) -> None:
    """The driver uses addresses again."""
    for destroy in (lambda node: node.destroy(), lambda node: driver.checked.cuGraphDestroyNode(node.handle)):
        old = [definition.empty() for _ in range(20)]
        for node in old:
            destroy(node)
        new = [definition.empty() for _ in range(20)]
        assert not {id(node) for node in old} & {id(node) for node in new}
        assert all(node.is_valid for node in new) and len(set(new)) == 20
        assert set(map(id, definition.nodes())) == set(map(id, new))
        for node in new:
            node.destroy()


def test_devices_are_one_object_in_a_thread(device) -> None:
    assert Device(0) is device
