"""Graphs that kernels launch: when each runs, and what is refused."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from cudapy import driver, pathfinder, simulator
from cudapy.core import Linker, ObjectCode, Program, ProgramOptions
from cudapy.driver import (
    CUDA_GRAPH_INSTANTIATE_PARAMS,
    CUDA_HOST_NODE_PARAMS,
    CUDA_KERNEL_NODE_PARAMS,
    CUDA_MEMCPY3D,
    CUdeviceptr,
    CUgraphExec,
    CUgraphInstantiateResult,
    CUgraphNode,
    CUmemorytype,
)

from .kernels import HOST_FUNCTION, memory, needs_driver, ok, owned, read
from .kernels import context as context

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("context")]

TAIL, AT_ONCE, SIBLING = 1 << 56, 2 << 56, 3 << 56
SELF = 1
DEVICE_LAUNCH, AUTO_FREE, UPLOAD = 4, 1, 2
SIZE, ERRORS = 4096, 2000
"""Bytes of a log, and the place of a count of errors in it: two words for each follow."""

SOURCE = """
extern "C" __global__ void act(int *log, int id, const unsigned long long *launches, int count, int times)
{
    log[1 + atomicAdd(log, 1)] = id < 0 ? cudaGetCurrentGraphExec() == 0 : id;
    if (atomicAdd(log + 1000 + (id & 63), 1) >= times) return;
    for (int i = 0; i < count; ++i) {
        cudaGraphExec_t graph = (cudaGraphExec_t)launches[2 * i];
        if (launches[2 * i] == 1) graph = cudaGetCurrentGraphExec();
        int status = cudaGraphLaunch(graph, (cudaStream_t)launches[2 * i + 1]);
        if (status) log[501 + atomicAdd(log + 500, 1)] = status;
    }
}
"""


class Graphs:
    """Graphs of one kernel each, which logs its number and launches graphs."""

    def __init__(self, log: CUdeviceptr, kernel: Any, stack: contextlib.ExitStack) -> None:
        self.log, self._kernel, self._stack = log, kernel, stack
        self.nodes: dict[int, CUgraphNode] = {}

    def parameters(self, number: int, *launches: tuple[Any, int], times: int = 1) -> CUDA_KERNEL_NODE_PARAMS:
        words = np.array([int(word) for pair in launches for word in pair] or [0], np.uint64)
        place = self._stack.enter_context(memory(words.nbytes))
        ok(driver.cuMemcpyHtoD(place, words, words.nbytes))
        values = (int(self.log), number, int(place), len(launches), times)
        kinds = (ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_int)
        return CUDA_KERNEL_NODE_PARAMS(
            func=self._kernel, gridDimX=1, gridDimY=1, gridDimZ=1, blockDimX=1, blockDimY=1, blockDimZ=1,
            kernelParams=(values, kinds),
        )  # fmt: skip

    def make(
        self, number: int, *launches: tuple[Any, int], flags: int = DEVICE_LAUNCH, times: int = 1
    ) -> CUgraphExec:
        """An instance, which is not uploaded."""
        graph = self._stack.enter_context(owned(driver.cuGraphCreate(0), driver.cuGraphDestroy))
        parameters = self.parameters(number, *launches, times=times)
        self.nodes[number] = ok(driver.cuGraphAddKernelNode(graph, [], 0, parameters))
        made = driver.cuGraphInstantiateWithFlags(graph, flags)
        return self._stack.enter_context(owned(made, driver.cuGraphExecDestroy))

    def uploaded(self, number: int, *launches: tuple[Any, int], times: int = 1) -> CUgraphExec:
        graph = self.make(number, *launches, times=times)
        ok(driver.cuGraphUpload(graph, 0))
        return graph

    def run(self, graph: CUgraphExec) -> list[int]:
        """The numbers of the kernels that ran, in order. The log is empty then."""
        ok(driver.cuGraphLaunch(graph, 0))
        count, *numbers = read(self.log, 500)
        self.errors = read(int(self.log) + ERRORS, 100)
        ok(driver.cuMemsetD8(self.log, 0, 2 * SIZE))
        self.errors = self.errors[1 : self.errors[0] + 1]
        return numbers[:count]


@pytest.fixture
def graphs() -> Iterator[Graphs]:
    needs_driver(12, 3)
    try:
        archive = pathfinder.find_static_lib("cudadevrt")
    except pathfinder.StaticLibNotFoundError as error:
        pytest.skip(str(error).splitlines()[0])
    text = Program(SOURCE, "c++", ProgramOptions(relocatable_device_code=True)).compile("ptx")
    code = Linker(text, ObjectCode.from_library(archive)).link("cubin")
    with contextlib.ExitStack() as stack:
        library = stack.enter_context(
            owned(driver.cuLibraryLoadData(bytes(code.code), [], [], 0, [], [], 0), driver.cuLibraryUnload)
        )
        kernel = ok(driver.cuKernelGetFunction(ok(driver.cuLibraryGetKernel(library, b"act"))))
        yield Graphs(stack.enter_context(memory(2 * SIZE)), kernel, stack)


def test_tails_run_in_order_and_those_of_tails_first(graphs: Graphs) -> None:
    x, y, third = (graphs.uploaded(number) for number in (21, 22, 3))
    second = graphs.uploaded(2, (x, TAIL), (y, TAIL))
    first = graphs.make(1, (second, TAIL), (third, TAIL), flags=0)
    for _ in range(2):
        assert graphs.run(first) == [1, 2, 21, 22, 3]
        assert graphs.errors == []


def test_a_tail_waits_for_what_was_launched_at_once(graphs: Graphs) -> None:
    inner, tail = graphs.uploaded(11), graphs.uploaded(3)
    child = graphs.uploaded(2, (inner, AT_ONCE))
    assert graphs.run(graphs.make(1, (tail, TAIL), (child, AT_ONCE), flags=0)) == [1, 2, 11, 3]
    assert graphs.errors == []


def test_siblings(graphs: Graphs) -> None:
    sibling, tail = graphs.uploaded(2), graphs.uploaded(3)
    child = graphs.uploaded(4, (sibling, SIBLING), (tail, TAIL))
    for parent in (child, graphs.make(1, (child, AT_ONCE), flags=0)):
        found = graphs.run(parent)
        assert sorted(found) == sorted([4, 2, 3] if parent is child else [1, 4, 2, 3])
        assert found.index(4) < found.index(3)
        assert graphs.errors == []


def test_a_graph_that_launches_itself_again(graphs: Graphs) -> None:
    assert graphs.run(graphs.make(5, (SELF, TAIL), times=400)) == [5] * 401
    other = graphs.uploaded(2)
    assert graphs.run(graphs.make(5, (other, TAIL), (SELF, TAIL), times=3)) == [5, 2, 5, 2, 5, 2, 5]
    assert graphs.errors == []


def test_the_current_graph(graphs: Graphs) -> None:
    assert graphs.run(graphs.make(-1, flags=0)) == [1], "none, in a graph for the host"
    assert graphs.run(graphs.make(-1)) == [0]


@pytest.mark.skipif(
    not simulator.is_enabled(), reason="on a GPU such a launch is a fault, and the context is lost"
)
def test_what_kernels_cannot_launch(graphs: Graphs) -> None:
    fine, plain, not_uploaded = graphs.uploaded(2), graphs.make(3, flags=0), graphs.make(4)
    wrong = [(plain, TAIL), (fine, 0), (fine, 3), (SELF, AT_ONCE)]
    if simulator.is_enabled():
        wrong += [(not_uploaded, TAIL), (12345, TAIL)]
    for one in wrong:
        assert graphs.run(graphs.make(1, one)) == [1]
        assert len(graphs.errors) == 1
        if simulator.is_enabled():
            assert graphs.errors == [1]
    found = graphs.run(graphs.make(1, (SELF, TAIL), (SELF, TAIL)))
    assert (found, len(graphs.errors)) == ([1, 1], 1), "once at a time"


@pytest.mark.skipif(not simulator.is_enabled(), reason="of the limits, CUDA does not say how they are told")
def test_limits(graphs: Graphs) -> None:
    for stream, most in ((TAIL, 255), (AT_ONCE, 120), (SIBLING, 120)):
        others = [graphs.uploaded(2) for _ in range(most + 1)]
        assert graphs.run(graphs.make(1, *((one, stream) for one in others), flags=0)) == [1] + [2] * most
        assert graphs.errors == [69]


@pytest.mark.skipif(not simulator.is_enabled(), reason="on a GPU a kernel must not call this outside a graph")
def test_outside_a_graph(graphs: Graphs) -> None:
    launched = graphs.uploaded(2)
    parameters = graphs.parameters(1, (launched, TAIL))
    kernel = parameters.func
    values = parameters.kernelParams
    ok(driver.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, 0, values, 0))
    assert read(graphs.log, 3) == [1, 1, 0]
    assert read(int(graphs.log) + ERRORS, 2) == [1, 1]


def test_changes_need_an_upload(graphs: Graphs) -> None:
    changed = graphs.uploaded(2)
    first = graphs.make(1, (changed, TAIL), flags=0)
    ok(driver.cuGraphExecKernelNodeSetParams(changed, graphs.nodes[2], graphs.parameters(7)))
    if simulator.is_enabled():
        assert graphs.run(first) == [1, 2]
    ok(driver.cuGraphUpload(changed, 0))
    assert graphs.run(first) == [1, 7]
    ok(driver.cuGraphExecKernelNodeSetParams(changed, graphs.nodes[2], graphs.parameters(8)))
    assert graphs.run(changed) == [8], "a launch by the host uploads it"
    assert graphs.run(first) == [1, 8]


def test_instances_for_kernels(graphs: Graphs) -> None:
    Result = CUgraphInstantiateResult
    unsupported = Result.CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED

    def instantiated(graph: Any, flags: int = DEVICE_LAUNCH) -> tuple[bool, CUgraphInstantiateResult]:
        parameters = CUDA_GRAPH_INSTANTIATE_PARAMS(flags=flags)
        status, made = driver.cuGraphInstantiateWithParams(graph, parameters)
        if not status:
            assert ok(driver.cuGraphExecGetFlags(made)) == DEVICE_LAUNCH
            ok(driver.cuGraphExecDestroy(made))
        return not status, parameters.result_out

    with memory(64) as pointer, owned(driver.cuGraphCreate(0), driver.cuGraphDestroy) as graph:
        assert not instantiated(graph)[0], "it is empty"
        ok(driver.cuGraphAddKernelNode(graph, [], 0, graphs.parameters(1)))
        assert instantiated(graph) == (True, Result.CUDA_GRAPH_INSTANTIATE_SUCCESS)
        assert instantiated(graph, DEVICE_LAUNCH | UPLOAD)[0]
        assert not instantiated(graph, DEVICE_LAUNCH | AUTO_FREE)[0]
        host = np.zeros(16, np.int32)
        copy = CUDA_MEMCPY3D(
            dstMemoryType=CUmemorytype.CU_MEMORYTYPE_HOST, dstHost=host.ctypes.data,
            srcMemoryType=CUmemorytype.CU_MEMORYTYPE_DEVICE, srcDevice=pointer,
            WidthInBytes=64, Height=1, Depth=1,
        )  # fmt: skip
        node = ok(driver.cuGraphAddMemcpyNode(graph, [], 0, copy, ok(driver.cuCtxGetCurrent())))
        assert instantiated(graph) == (False, Result.CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED)
        ok(driver.cuGraphDestroyNode(node))
        copy.dstMemoryType, copy.dstDevice = CUmemorytype.CU_MEMORYTYPE_DEVICE, int(pointer) + 32  # type: ignore[assignment]
        copy.WidthInBytes = 32
        ok(driver.cuGraphAddMemcpyNode(graph, [], 0, copy, ok(driver.cuCtxGetCurrent())))
        assert instantiated(graph)[0]
        with owned(driver.cuGraphCreate(0), driver.cuGraphDestroy) as outer:
            ok(driver.cuGraphAddChildGraphNode(outer, [], 0, graph))
            assert instantiated(outer)[0]
        function = HOST_FUNCTION(lambda _: None)
        node = CUDA_HOST_NODE_PARAMS(fn=ctypes.cast(function, ctypes.c_void_p).value, userData=0)
        ok(driver.cuGraphAddHostNode(graph, [], 0, node))
        assert instantiated(graph) == (False, unsupported)
        with owned(driver.cuGraphCreate(0), driver.cuGraphDestroy) as outer:
            ok(driver.cuGraphAddChildGraphNode(outer, [], 0, graph))
            assert instantiated(outer) == (False, unsupported)
