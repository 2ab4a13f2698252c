"""Graphs that decide while they run: if, else and while."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import pytest

from cudapy import driver
from cudapy.driver import (
    CU_GRAPH_COND_ASSIGN_DEFAULT,
    CUDA_KERNEL_NODE_PARAMS,
    CUDA_MEMSET_NODE_PARAMS,
    CUcontext,
    CUdeviceptr,
    CUgraph,
    CUgraphConditionalHandle,
    CUgraphConditionalNodeType,
    CUgraphExecUpdateResult,
    CUgraphNodeParams,
    CUgraphNodeType,
    CUresult,
)

from .kernels import context as context
from .kernels import function, memory, needs_driver, ok, owned, read, stream, write

pytestmark = pytest.mark.gpu

SOURCE = r"""
extern "C" __device__ __cudart_builtin__ void CUDARTAPI cudaGraphSetConditional(
    cudaGraphConditionalHandle handle, unsigned int value);

extern "C" __global__ void count_down(cudaGraphConditionalHandle handle, int *left, int *rounds)
{
    ++*rounds;
    cudaGraphSetConditional(handle, --*left > 0);
}
"""
Conditional = CUgraphConditionalNodeType


@pytest.fixture
def graph() -> Iterator[CUgraph]:
    needs_driver(12, 4)
    with owned(driver.cuGraphCreate(0), driver.cuGraphDestroy) as made:
        yield made


def run(graph: CUgraph) -> None:
    with (
        owned(driver.cuGraphInstantiate(graph, 0), driver.cuGraphExecDestroy) as executable,
        stream() as queue,
    ):
        ok(driver.cuGraphLaunch(executable, queue))
        ok(driver.cuStreamSynchronize(queue))


def add_conditional(
    graph: CUgraph, context: CUcontext, kind: CUgraphConditionalNodeType, default: int, bodies: int = 1
) -> tuple[CUgraphConditionalHandle, list[CUgraph]]:
    """A conditional node and its empty body graphs."""
    handle = ok(driver.cuGraphConditionalHandleCreate(graph, context, default, CU_GRAPH_COND_ASSIGN_DEFAULT))
    parameters = CUgraphNodeParams(type=CUgraphNodeType.CU_GRAPH_NODE_TYPE_CONDITIONAL)
    parameters.conditional.handle = handle
    parameters.conditional.type = kind
    parameters.conditional.size = bodies
    parameters.conditional.ctx = context
    node = ok(driver.cuGraphAddNode(graph, None, None, 0, parameters))
    assert ok(driver.cuGraphNodeGetType(node)) == CUgraphNodeType.CU_GRAPH_NODE_TYPE_CONDITIONAL
    graphs = [CUgraph(int(body)) for body in parameters.conditional.phGraph_out]
    assert len(graphs) == bodies and all(graphs)
    return handle, graphs


def add_fill(graph: CUgraph, context: CUcontext, pointer: CUdeviceptr, value: int) -> None:
    fill = CUDA_MEMSET_NODE_PARAMS(dst=pointer, value=value, elementSize=4, width=4, height=1)
    ok(driver.cuGraphAddMemsetNode(graph, None, 0, fill, context))


@pytest.mark.parametrize(("value", "filled"), [(1, 7), (0, 0)])
def test_if(graph: CUgraph, context: CUcontext, value: int, filled: int) -> None:
    with memory(16) as pointer:
        _, (body,) = add_conditional(graph, context, Conditional.CU_GRAPH_COND_TYPE_IF, value)
        add_fill(body, context, pointer, 7)
        run(graph)
        assert read(pointer, 4) == [filled] * 4


@pytest.mark.parametrize(("value", "filled"), [(1, 7), (0, 8)])
def test_else(graph: CUgraph, context: CUcontext, value: int, filled: int) -> None:
    needs_driver(12, 8)
    with memory(16) as pointer:
        _, (then, otherwise) = add_conditional(
            graph, context, Conditional.CU_GRAPH_COND_TYPE_IF, value, bodies=2
        )
        add_fill(then, context, pointer, 7)
        add_fill(otherwise, context, pointer, 8)
        run(graph)
        assert read(pointer, 4) == [filled] * 4


@pytest.mark.parametrize("value", [0, 2, 3])
def test_switch(graph: CUgraph, context: CUcontext, value: int) -> None:
    needs_driver(12, 8)
    with memory(16) as pointer:
        _, bodies = add_conditional(graph, context, Conditional.CU_GRAPH_COND_TYPE_SWITCH, value, bodies=3)
        for i, body in enumerate(bodies):
            add_fill(body, context, pointer, 10 + i)
        run(graph)
        assert read(pointer, 4) == [10 + value if value < 3 else 0] * 4


def test_while(graph: CUgraph, context: CUcontext) -> None:
    with memory(16) as pointer:
        write(pointer, [5, 0])
        handle, (body,) = add_conditional(graph, context, Conditional.CU_GRAPH_COND_TYPE_WHILE, 1)
        step = CUDA_KERNEL_NODE_PARAMS(
            func=function("count_down", SOURCE),
            gridDimX=1,
            gridDimY=1,
            gridDimZ=1,
            blockDimX=1,
            blockDimY=1,
            blockDimZ=1,
            kernelParams=(
                (handle, int(pointer), int(pointer) + 4),
                (None, ctypes.c_void_p, ctypes.c_void_p),
            ),
        )
        ok(driver.cuGraphAddKernelNode(body, None, 0, step))
        run(graph)
        assert read(pointer, 2) == [0, 5]


def launched(executable: driver.CUgraphExec, pointer: CUdeviceptr) -> int:
    """What a launch writes to memory that is 0."""
    write(pointer, [0] * 4)
    ok(driver.cuGraphLaunch(executable, 0))
    return int(read(pointer, 4)[0])


@pytest.mark.parametrize(("before", "after"), [(1, 0), (0, 1), (1, 1)])
def test_an_update_brings_the_default_value_of_the_new_graph(
    graph: CUgraph, context: CUcontext, before: int, after: int
) -> None:
    kind = Conditional.CU_GRAPH_COND_TYPE_IF
    with memory(16) as pointer:
        _, (body,) = add_conditional(graph, context, kind, before)
        add_fill(body, context, pointer, 7)
        with owned(driver.cuGraphInstantiate(graph, 0), driver.cuGraphExecDestroy) as executable:
            assert launched(executable, pointer) == 7 * before
            with owned(driver.cuGraphCreate(0), driver.cuGraphDestroy) as other:
                _, (body,) = add_conditional(other, context, kind, after)
                add_fill(body, context, pointer, 8)
                told = ok(driver.cuGraphExecUpdate(executable, other))
                assert told.result == CUgraphExecUpdateResult.CU_GRAPH_EXEC_UPDATE_SUCCESS
                assert [launched(executable, pointer) for _ in range(2)] == [8 * after] * 2
            assert launched(executable, pointer) == 8 * after


@pytest.mark.parametrize("bodies", [1, 2])
def test_an_update_changes_no_conditional_node(graph: CUgraph, context: CUcontext, bodies: int) -> None:
    """Another kind, another number of bodies, and other nodes in a body."""
    needs_driver(12, 8)
    add_conditional(graph, context, Conditional.CU_GRAPH_COND_TYPE_IF, 1, bodies)
    result = CUgraphExecUpdateResult
    with owned(driver.cuGraphInstantiate(graph, 0), driver.cuGraphExecDestroy) as executable:
        for kind, count, fills, why in (
            ("SWITCH", bodies, 0, result.CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED),
            ("IF", 3 - bodies, 0, result.CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED),
            ("IF", bodies, 1, result.CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED),
        ):
            with owned(driver.cuGraphCreate(0), driver.cuGraphDestroy) as other, memory(16) as pointer:
                cls = getattr(Conditional, f"CU_GRAPH_COND_TYPE_{kind}")
                _, (body, *_) = add_conditional(other, context, cls, 1, count)
                for _ in range(fills):
                    add_fill(body, context, pointer, 8)
                status, told = driver.cuGraphExecUpdate(executable, other)
                assert status == CUresult.CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE
                assert told is None or told.result == why


def test_a_condition_belongs_to_its_graph_and_the_bodies_in_it(graph: CUgraph, context: CUcontext) -> None:
    make = driver.cuGraphConditionalHandleCreate
    kind = Conditional.CU_GRAPH_COND_TYPE_IF
    parameters = CUgraphNodeParams(type=CUgraphNodeType.CU_GRAPH_NODE_TYPE_CONDITIONAL)
    parameters.conditional.type, parameters.conditional.size = kind, 1
    parameters.conditional.ctx = context
    with owned(driver.cuGraphCreate(0), driver.cuGraphDestroy) as other, memory(16) as pointer:
        parameters.conditional.handle = ok(make(other, context, 1, CU_GRAPH_COND_ASSIGN_DEFAULT))
        status, _ = driver.cuGraphAddNode(graph, None, None, 0, parameters)
        assert status == CUresult.CUDA_ERROR_INVALID_VALUE
        _, (body,) = add_conditional(graph, context, kind, 1)
        parameters.conditional.handle = ok(make(graph, context, 1, CU_GRAPH_COND_ASSIGN_DEFAULT))
        ok(driver.cuGraphAddNode(body, None, None, 0, parameters))
        add_fill(parameters.conditional.phGraph_out[0], context, pointer, 9)
        run(graph)
        assert read(pointer, 4) == [9] * 4
