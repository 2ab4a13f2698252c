"""Graphs that allocate: the memory that they hold, and what may not be done to their nodes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cudapy import driver
from cudapy.driver import (
    CUDA_MEM_ALLOC_NODE_PARAMS,
    CUdevice_attribute,
    CUdeviceptr,
    CUgraph,
    CUgraphMem_attribute,
    CUgraphNode,
    CUmemAllocationType,
    CUresult,
)

from .kernels import DEVICE, device_location, needs, ok, owned, read, write
from .kernels import context as context

pytestmark = pytest.mark.gpu

MEGABYTE = 1 << 20
NOT_SUPPORTED = (CUresult.CUDA_ERROR_NOT_SUPPORTED,)


@pytest.fixture
def graph() -> Iterator[CUgraph]:
    """An empty graph, on a device on which no graph holds memory."""
    needs(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED)
    ok(driver.cuDeviceGraphMemTrim(DEVICE))
    for name in ("USED_MEM_HIGH", "RESERVED_MEM_HIGH"):
        ok(driver.cuDeviceSetGraphMemAttribute(DEVICE, CUgraphMem_attribute[f"CU_GRAPH_MEM_ATTR_{name}"], 0))
    with owned(driver.cuGraphCreate(0), driver.cuGraphDestroy) as made:
        yield made


def allocation(graph: CUgraph, size: int, *after: CUgraphNode) -> tuple[CUgraphNode, CUdeviceptr]:
    """A node that allocates, and the address."""
    parameters = CUDA_MEM_ALLOC_NODE_PARAMS(bytesize=size)
    parameters.poolProps.allocType = CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    parameters.poolProps.location = device_location()
    node = ok(driver.cuGraphAddMemAllocNode(graph, list(after), len(after), parameters))
    return node, CUdeviceptr(parameters.dptr)


def held() -> dict[str, int]:
    """All four attributes, once all work is done."""
    ok(driver.cuCtxSynchronize())
    return {
        name.name.removeprefix("CU_GRAPH_MEM_ATTR_"): ok(driver.cuDeviceGetGraphMemAttribute(DEVICE, name))
        for name in CUgraphMem_attribute
    }


def test_a_launch_reserves_what_the_graph_keeps(graph: CUgraph) -> None:
    """What a graph has freed stays reserved, and counts as used, until it is trimmed."""
    node, pointer = allocation(graph, 4 * MEGABYTE)
    ok(driver.cuGraphAddMemFreeNode(graph, [node], 1, pointer))
    with owned(driver.cuGraphInstantiate(graph, 0), driver.cuGraphExecDestroy) as executable:
        assert set(held().values()) == {0}
        ok(driver.cuGraphLaunch(executable, 0))
        first = held()
        assert first["RESERVED_MEM_CURRENT"] == first["RESERVED_MEM_HIGH"] >= first["USED_MEM_HIGH"]
        assert first["USED_MEM_CURRENT"] == first["USED_MEM_HIGH"] >= 4 * MEGABYTE
        ok(driver.cuGraphLaunch(executable, 0))
        assert held() == first
        ok(driver.cuDeviceGraphMemTrim(DEVICE))
        trimmed = held()
        assert trimmed == {**first, "USED_MEM_CURRENT": 0, "RESERVED_MEM_CURRENT": 0}
        ok(driver.cuGraphLaunch(executable, 0))
        assert held() == first
    assert held() == first
    ok(driver.cuDeviceGraphMemTrim(DEVICE))
    assert held() == trimmed


def test_graphs_that_free_their_memory_share_it(graph: CUgraph) -> None:
    with owned(driver.cuGraphCreate(0), driver.cuGraphDestroy) as other:
        for of in (graph, other):
            node, pointer = allocation(of, 64 * MEGABYTE)
            ok(driver.cuGraphAddMemFreeNode(of, [node], 1, pointer))
        with (
            owned(driver.cuGraphInstantiate(graph, 0), driver.cuGraphExecDestroy) as one,
            owned(driver.cuGraphInstantiate(other, 0), driver.cuGraphExecDestroy) as two,
        ):
            ok(driver.cuGraphLaunch(one, 0))
            reserved = held()["RESERVED_MEM_CURRENT"]
            assert 64 * MEGABYTE <= reserved < 128 * MEGABYTE
            ok(driver.cuGraphLaunch(two, 0))
            assert held()["RESERVED_MEM_CURRENT"] == reserved


def test_memory_that_a_graph_has_not_freed_cannot_be_trimmed(graph: CUgraph) -> None:
    _, pointer = allocation(graph, 64 * MEGABYTE)
    with owned(driver.cuGraphInstantiate(graph, 0), driver.cuGraphExecDestroy) as executable:
        ok(driver.cuGraphLaunch(executable, 0))
        before = held()
        ok(driver.cuDeviceGraphMemTrim(DEVICE))
        assert held() == before
        assert before["USED_MEM_CURRENT"] >= 64 * MEGABYTE
        ok(driver.cuMemFree(pointer))
        assert held() == before
        ok(driver.cuDeviceGraphMemTrim(DEVICE))
        assert (held()["USED_MEM_CURRENT"], held()["RESERVED_MEM_CURRENT"]) == (0, 0)


def test_memory_that_a_graph_has_not_freed_outlives_it() -> None:
    with owned(driver.cuGraphCreate(0), driver.cuGraphDestroy) as graph:
        _, pointer = allocation(graph, MEGABYTE)
        with owned(driver.cuGraphInstantiate(graph, 0), driver.cuGraphExecDestroy) as executable:
            ok(driver.cuGraphLaunch(executable, 0))
            write(pointer, [1, 2, 3])
    assert read(pointer, 3) == [1, 2, 3]
    ok(driver.cuMemFree(pointer))
    assert driver.cuMemFree(pointer) == (CUresult.CUDA_ERROR_INVALID_VALUE,)


def test_no_node_and_no_edge_leaves_a_graph_that_allocates(graph: CUgraph) -> None:
    first, second, aside = (ok(driver.cuGraphAddEmptyNode(graph, None, 0)) for _ in range(3))
    ok(driver.cuGraphAddDependencies(graph, [first], [second], None, 1))
    allocate, pointer = allocation(graph, MEGABYTE, second)
    free = ok(driver.cuGraphAddMemFreeNode(graph, [allocate], 1, pointer))
    for node in (first, second, aside, allocate, free):
        assert driver.cuGraphDestroyNode(node) == NOT_SUPPORTED
    for edge in ((first, second), (second, allocate), (allocate, free)):
        assert driver.cuGraphRemoveDependencies(graph, *([node] for node in edge), None, 1) == NOT_SUPPORTED
    assert len(ok(driver.cuGraphGetNodes(graph, 5))[0]) == 5
