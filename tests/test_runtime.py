"""cudapy.runtime: what no rule can say, the two majors, and the real libcudart without a GPU.

Most tests call through a made-up libcudart of either major, whose functions are Python: they show what C
receives and say what it answers.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import inspect
import itertools
import os
import subprocess
import sys
import weakref
from collections.abc import Callable, Iterator
from ctypes import CFUNCTYPE, POINTER, c_int, c_size_t, c_uint, c_void_p, cast
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import cudapy.driver
import cudapy.runtime
from cudapy._ffi.handles import Handle, Thunk
from cudapy._types.driver import handles as driver_handles
from cudapy._types.meanings import CUDAERROR
from cudapy._types.runtime import handles as runtime_handles

from .stub import APIS, module, source, vendored
from .stub.build import by_hand

numbers = itertools.count()


class Library:
    """Stands for the CDLL of a libcudart: `library.add("cudaFree", function, c_void_p)`."""

    def __init__(self, version: int) -> None:
        self.functions: dict[str, Any] = {}
        self.calls: list[tuple[Any, ...]] = []
        self.thunks: list[Any] = []
        self.add("cudaRuntimeGetVersion", lambda out: self._version(out, version), POINTER(c_int))

    def add(self, symbol: str, function: Callable[..., int | None], *types: Any) -> None:
        """Have `function` answer the calls of `symbol`, whose parameters have these ctypes types."""

        def answer(*args: Any) -> int:
            self.calls.append((symbol, *args))
            return function(*args) or 0

        thunk = CFUNCTYPE(c_int, *types)(answer)
        self.thunks.append(thunk)
        self.functions[symbol] = CFUNCTYPE(c_int)(cast(thunk, c_void_p).value)  # no argtypes, as in a CDLL

    def accept(self, symbol: str, *types: Any) -> None:
        """Have calls of `symbol` succeed."""
        self.add(symbol, lambda *args: 0, *types)

    def last(self) -> tuple[Any, ...]:
        """The last call but those of cudaRuntimeGetVersion."""
        return [call for call in self.calls if call[0] != "cudaRuntimeGetVersion"][-1]

    def __getitem__(self, symbol: str) -> Any:
        try:
            return self.functions[symbol]
        except KeyError:
            raise AttributeError(symbol) from None

    __getattr__ = __getitem__

    @staticmethod
    def _version(out: Any, version: int) -> None:
        out[0] = version


def runtime_on(version: int) -> tuple[ModuleType, Library]:
    """A copy of cudapy.runtime of its own, on a libcudart of that version."""
    library = Library(version)
    name = f"cudapy_runtime_{next(numbers)}"
    vendored(name)
    module = importlib.import_module(f"{name}.runtime")
    module.libcudart.load = lambda: library
    module.libcudart.describe = lambda: f"the libcudart {version} of a test"
    return module, library


@pytest.fixture
def on13() -> Iterator[tuple[ModuleType, Library]]:
    yield runtime_on(13000)


@pytest.fixture
def on12() -> Iterator[tuple[ModuleType, Library]]:
    yield runtime_on(12090)


# -- Types -----------------------------------------------------------------------------------------------

TWINS = [
    (runtime, runtime.__bases__[0])
    for name, runtime in vars(runtime_handles).items()
    if isinstance(runtime, type)
    and issubclass(runtime, Handle)
    and runtime._twin_
    and runtime.__name__ == name
]


def test_there_are_twins_for_everything_both_apis_have() -> None:
    pairs = {runtime.__name__: driver.__name__ for runtime, driver in TWINS}
    assert len(pairs) == 24
    for runtime, driver in {
        "cudaStream_t": "CUstream",
        "cudaEvent_t": "CUevent",
        "cudaGraph_t": "CUgraph",
        "cudaGraphNode_t": "CUgraphNode",
        "cudaGraphExec_t": "CUgraphExec",
        "cudaFunction_t": "CUfunction",
        "cudaKernel_t": "CUkernel",
        "cudaLibrary_t": "CUlibrary",
        "cudaMemPool_t": "CUmemoryPool",
        "cudaArray_t": "CUarray",
        "cudaTextureObject_t": "CUtexObject",
    }.items():
        assert pairs[runtime] == driver


@pytest.mark.parametrize(("runtime", "driver"), TWINS)
def test_twins_are_taken_for_one_another(runtime: Any, driver: Any) -> None:
    assert runtime(driver(7)) == driver(runtime(7)) == driver(7) == runtime(7) == 7
    assert driver(7) == runtime(7) and hash(driver(7)) == hash(runtime(7))
    assert type(runtime(driver(7))) is runtime
    for list_of in (runtime * 2, driver * 2):
        items = [runtime(1), runtime(2)] if list_of is driver * 2 else [runtime(driver(1)), runtime(2)]
        assert [int(item) for item in list_of(*items)] == [1, 2]


def test_other_handles_are_refused() -> None:
    with pytest.raises(TypeError, match="a CUevent is not a cudaStream_t"):
        runtime_handles.cudaStream_t(driver_handles.CUevent(7))
    with pytest.raises(TypeError, match="a cudaStream_t is not a CUevent"):
        driver_handles.CUevent(runtime_handles.cudaStream_t(7))


def test_twins_in_calls(on13: tuple[ModuleType, Library]) -> None:
    rt, library = on13
    driver = importlib.import_module(rt.__name__.replace(".runtime", ".driver"))
    driver.libcuda.load = lambda: library
    library.accept("cudaStreamSynchronize", c_size_t)
    library.accept("cuStreamSynchronize", c_size_t)
    stream = rt.cudaStream_t(0x123)
    assert rt.cudaStreamSynchronize(driver.CUstream(stream)) == (0,)
    assert library.last() == ("cudaStreamSynchronize", 0x123)
    assert driver.cuStreamSynchronize(stream) == (0,)
    assert library.last() == ("cuStreamSynchronize", 0x123)
    with pytest.raises(TypeError, match=r"cudaStreamSynchronize: stream: a CUevent is not a cudaStream_t"):
        rt.cudaStreamSynchronize(driver.CUevent(1))


def test_makers_return_the_struct_alone() -> None:
    rt = cudapy.runtime
    extent, pos = rt.make_cudaExtent(1, 2, 3), rt.make_cudaPos(4, 5, 6)
    pitched = rt.make_cudaPitchedPtr(0x1000, 512, 7, 8)
    assert (extent.width, extent.height, extent.depth) == (1, 2, 3)
    assert (pos.x, pos.y, pos.z) == (4, 5, 6)
    assert (pitched.ptr, pitched.pitch, pitched.xsize, pitched.ysize) == (0x1000, 512, 7, 8)


def test_dim3_is_one_where_nothing_is_said() -> None:
    dim3 = cudapy.runtime.dim3
    assert [(d.x, d.y, d.z) for d in (dim3(), dim3(256), dim3(2, 3), dim3(z=4))] == [
        (1, 1, 1),
        (256, 1, 1),
        (2, 3, 1),
        (1, 1, 4),
    ]
    original = dim3(5, 6, 7)
    view = dim3(_ptr=original.getPtr())
    view.y = 8
    assert (original.x, original.y, original.z) == (5, 8, 7)
    for name in ("cudaKernelNodeParams", "cudaKernelNodeParamsV2", "cudaLaunchConfig_t", "cudaLaunchParams"):
        made = getattr(cudapy.runtime, name)(blockDim=dim3(128))
        assert (made.gridDim.x, made.gridDim.y, made.gridDim.z, made.blockDim.x, made.blockDim.y) == (
            1,
            1,
            1,
            128,
            1,
        )
        made.gridDim.x = 0
        assert getattr(cudapy.runtime, name)(_ptr=made.getPtr()).gridDim.x == 0  # a view is left as it is


def test_every_status_has_a_meaning() -> None:
    assert set(CUDAERROR) == set(cudapy.runtime.cudaError_t.__members__)
    assert all(len(meaning) == 2 and meaning[0].endswith(".") for meaning in CUDAERROR.values())


def test_unions_share_their_memory() -> None:
    rt = cudapy.runtime
    node = rt.cudaGraphNodeParams(type=rt.cudaGraphNodeType.cudaGraphNodeTypeKernel)
    node.kernel.kern = rt.cudaKernel_t(0x77)
    node.kernel.gridDim = rt.dim3(9)
    assert node.kernel.func == 0x77 and node.kernel.cuFunc == 0x77
    assert node.reserved1[0] == 0x77
    assert node.kernel.gridDim.x == 9
    location = rt.cudaMemLocation(type=rt.cudaMemLocationType.cudaMemLocationTypeDevice, id=0x0201)
    assert (location.localized.deviceId, location.localized.localityDomainId) == (1, 2)
    resource = rt.cudaResourceDesc(resType=rt.cudaResourceType.cudaResourceTypeLinear)
    resource.res.linear.devPtr = 0x1000
    assert resource.res.array.array == 0x1000


def test_aliases_of_types() -> None:
    rt = cudapy.runtime
    assert rt.cudaError is rt.cudaError_t
    assert rt.cudaStreamAttrID is rt.cudaKernelNodeAttrID is rt.cudaLaunchAttributeID
    assert rt.cudaUUID_t is rt.CUuuid
    assert rt.cudaArray_const_t is rt.cudaArray_t


# -- Device properties -----------------------------------------------------------------------------------


def test_properties_have_the_layout_of_13(on13: tuple[ModuleType, Library]) -> None:
    rt, library = on13
    assert ctypes.sizeof(rt.cudaDeviceProp) == 1008

    def fill(prop: int, device: int) -> None:
        view = rt.cudaDeviceProp(_ptr=prop)
        view.name, view.major, view.hostNumaId = b"a device", 9, device

    library.add("cudaGetDeviceProperties", fill, c_void_p, c_int)
    err, prop = rt.cudaGetDeviceProperties(3)
    assert (err, prop.name, prop.major, prop.hostNumaId) == (0, b"a device", 9, 3)
    assert type(prop) is rt.cudaDeviceProp
    assert not hasattr(prop, "clockRate")


def test_properties_have_the_layout_of_12(on12: tuple[ModuleType, Library]) -> None:
    rt, library = on12
    assert ctypes.sizeof(rt.cudaDeviceProp_12) == 1032

    def fill(prop: int, device: int) -> None:
        view = rt.cudaDeviceProp_12(_ptr=prop)
        view.name, view.clockRate, view.memoryClockRate = b"a device", 1980000, device

    library.accept("cudaGetDeviceProperties", c_void_p, c_int)  # the layout of CUDA 11
    library.add("cudaGetDeviceProperties_v2", fill, c_void_p, c_int)
    err, prop = rt.cudaGetDeviceProperties(3)
    assert (err, prop.name, prop.clockRate, prop.memoryClockRate) == (0, b"a device", 1980000, 3)
    assert type(prop) is rt.cudaDeviceProp_12
    assert library.last()[0] == "cudaGetDeviceProperties_v2"
    assert rt.cudaGetDeviceProperties_v2 is rt.cudaGetDeviceProperties


@pytest.mark.parametrize("version", [12090, 13000])
@pytest.mark.parametrize("made", ["cudaDeviceProp", "cudaDeviceProp_12"])
def test_choosing_takes_the_properties_of_either_major(version: int, made: str) -> None:
    rt, library = runtime_on(version)
    layout = rt.cudaDeviceProp_12 if version < 13000 else rt.cudaDeviceProp
    seen = []

    def choose(device: Any, prop: int) -> None:
        view = layout(_ptr=prop)
        seen.append((view.name, view.major, view.totalGlobalMem, bytes(view.uuid.bytes)))
        device[0] = 5

    library.add("cudaChooseDevice", choose, POINTER(c_int), c_void_p)
    wanted = getattr(rt, made)(name=b"gpu", major=9, totalGlobalMem=1 << 34)
    wanted.uuid.bytes = bytes(range(16))
    assert rt.cudaChooseDevice(wanted) == (0, 5)
    assert seen == [(b"gpu", 9, 1 << 34, bytes(range(16)))]
    with pytest.raises(TypeError, match="cudaChooseDevice: prop must be a cudaDeviceProp, not dict"):
        rt.cudaChooseDevice({})


# -- Forms of CUDA 12 and 13 -----------------------------------------------------------------------------

EDGES = (c_size_t, POINTER(c_size_t), POINTER(c_size_t), c_size_t, c_size_t)


@pytest.mark.parametrize("name", ["cudaGraphAddDependencies", "cudaGraphRemoveDependencies"])
def test_edges_in_both_forms_on_both_majors(
    name: str, on12: tuple[ModuleType, Library], on13: tuple[ModuleType, Library]
) -> None:
    rt, library = on13
    library.accept(name, *EDGES)
    data = rt.cudaGraphEdgeData(from_port=1)
    assert getattr(rt, name)(1, [2], [3], 1) == (0,)
    assert library.last()[4:] == (0, 1)
    assert getattr(rt, name)(1, [2], [3], [data], 1) == (0,)
    assert library.last()[4] != 0 and library.last()[5] == 1
    assert getattr(rt, name)(graph=1, from_=[2], to=[3], numDependencies=1) == (0,)
    assert library.last()[4:] == (0, 1)

    rt, library = on12
    library.accept(name, *EDGES[:3], c_size_t)
    assert getattr(rt, name)(1, [2], [3], 1) == (0,)
    assert library.last()[0] == name and library.last()[4] == 1
    assert getattr(rt, name)(1, [2], [3], None, 1) == (0,)  # 12.0 to 12.2 have no _v2
    assert library.last()[0] == name and library.last()[4] == 1
    with pytest.raises(RuntimeError, match=f'Function "{name}" not found'):
        getattr(rt, name)(1, [2], [3], [rt.cudaGraphEdgeData()], 1)
    library.accept(f"{name}_v2", *EDGES)
    assert getattr(rt, name)(1, [2], [3], [rt.cudaGraphEdgeData()], 1) == (0,)
    assert library.last()[0] == f"{name}_v2" and library.last()[5] == 1
    assert getattr(rt, f"{name}_v2")(1, [2], [3], None, 1) == (0,)
    assert library.last()[0] == f"{name}_v2"


def test_nodes_in_both_forms(on12: tuple[ModuleType, Library], on13: tuple[ModuleType, Library]) -> None:
    for (rt, library), symbol in ((on13, "cudaGraphAddNode"), (on12, "cudaGraphAddNode_v2")):

        def add(node: Any, *rest: Any) -> None:
            node[0] = 0xABC

        library.add(symbol, add, *[POINTER(c_size_t), c_size_t, c_void_p, c_void_p, c_size_t, c_void_p])
        if rt is on12[0]:
            library.add("cudaGraphAddNode", add, *[POINTER(c_size_t), c_size_t, c_void_p, c_size_t, c_void_p])
        params = rt.cudaGraphNodeParams()
        assert rt.cudaGraphAddNode(1, [2], None, 1, params) == (0, 0xABC)
        assert library.last()[0] == symbol and library.last()[5] == 1
        assert rt.cudaGraphAddNode(1, [2], 1, params) == (0, 0xABC)
        assert library.last()[0] == "cudaGraphAddNode"


def test_queries_of_edges_where_there_is_no_edge_data() -> None:
    rt, library = runtime_on(12000)

    def edges(graph: int, sources: Any, targets: Any, count: Any) -> None:
        if sources:
            sources[0], targets[0] = 0x10, 0x20
        count[0] = 1

    nodes = POINTER(c_size_t)
    library.add("cudaGraphGetEdges", edges, c_size_t, nodes, nodes, nodes)
    assert rt.cudaGraphGetEdges(1) == (0, [], [], [], 1)
    err, sources, targets, data, count = rt.cudaGraphGetEdges(1, 1)
    assert (err, sources, targets, count) == (0, [0x10], [0x20], 1)
    assert [type(item) for item in data] == [rt.cudaGraphEdgeData]

    nodes_there = (c_size_t * 2)(5, 6)

    def info(stream: int, status: Any, ident: Any, graph: Any, deps: Any, count: Any) -> int:
        status[0], ident[0], graph[0], count[0] = 1, 77, 0x99, 2
        deps[0] = ctypes.addressof(nodes_there)
        return 0 if stream else 400

    library.add("cudaStreamGetCaptureInfo_v2", info, c_size_t, POINTER(c_int), *[nodes] * 4)
    err, _, ident, graph, found, data, count = rt.cudaStreamGetCaptureInfo(1)
    assert (err, ident, graph, found, count) == (0, 77, 0x99, [5, 6], 2)
    assert [type(item) for item in data] == [rt.cudaGraphEdgeData] * 2
    failed = rt.cudaStreamGetCaptureInfo(0)
    assert failed == (rt.cudaError_t.cudaErrorInvalidResourceHandle, *[None] * 6)


@pytest.mark.parametrize("name", ["cudaGraphNodeGetDependencies", "cudaGraphNodeGetDependentNodes"])
def test_dependencies_in_both_forms(name: str) -> None:
    nodes = POINTER(c_size_t)

    def found(node: int, out: Any, *rest: Any) -> None:
        rest[-1][0] = 2
        if out:
            out[0], out[1] = node, 0x20

    for version, symbol, extra in (
        (13000, name, (c_void_p,)),
        (12090, f"{name}_v2", (c_void_p,)),
        (12000, name, ()),
    ):
        rt, library = runtime_on(version)
        library.add(symbol, found, c_size_t, nodes, *extra, nodes)
        err, *lists, count = getattr(rt, name)(0x30, 2)
        assert (err, count, library.last()[0]) == (0, 2, symbol)
        assert lists[0] == [0x30, 0x20]
        assert [type(item) for item in lists[1]] == [rt.cudaGraphEdgeData] * 2


def test_capture_dependencies_in_both_forms() -> None:
    name = "cudaStreamUpdateCaptureDependencies"
    types = (c_size_t, POINTER(c_size_t), c_size_t, c_uint)
    for version, newer in ((13000, name), (12090, f"{name}_v2")):
        rt, library = runtime_on(version)
        library.accept(newer, *types[:2], c_void_p, *types[2:])
        assert getattr(rt, name)(5, [7, 8], [rt.cudaGraphEdgeData()] * 2, 2, 1) == (0,)
        symbol, stream, _, data, count, flags = library.last()
        assert (symbol, stream, count, flags) == (newer, 5, 2, 1) and data
        if version < 13000:
            library.accept(name, *types)
        assert getattr(rt, name)(5, [7, 8], 2, 1) == (0,)
        symbol, stream, dependencies, *_, count, flags = library.last()
        assert (symbol, stream, dependencies[:2], count, flags) == (name, 5, [7, 8], 2, 1)


def test_capture_info_of_13(on13: tuple[ModuleType, Library]) -> None:
    rt, library = on13
    nodes, data = (c_size_t * 2)(5, 6), (rt.cudaGraphEdgeData * 2)()
    data[1].to_port = 3

    def info(stream: int, status: Any, ident: Any, graph: Any, deps: Any, edges: Any, count: Any) -> None:
        status[0], ident[0], graph[0], count[0] = 1, 77, 0x99, 2
        deps[0], edges[0] = ctypes.addressof(nodes), ctypes.addressof(data)

    words = POINTER(c_size_t)
    library.add("cudaStreamGetCaptureInfo", info, c_size_t, POINTER(c_int), *[words] * 5)
    err, status, ident, graph, found, edges, count = rt.cudaStreamGetCaptureInfo(1)
    assert (err, ident, graph, found, count) == (0, 77, 0x99, [5, 6], 2)
    assert status is rt.cudaStreamCaptureStatus.cudaStreamCaptureStatusActive
    assert [edge.to_port for edge in edges] == [0, 3]
    assert type(found[0]) is rt.cudaGraphNode_t


def test_advice_in_both_forms_on_both_majors() -> None:
    advice = (c_size_t, c_size_t, c_int)
    rt, library = runtime_on(13000)
    library.accept("cudaMemAdvise", *advice, rt.cudaMemLocation)
    kinds = rt.cudaMemLocationType
    location = rt.cudaMemLocation(type=kinds.cudaMemLocationTypeHostNuma, id=2)
    for given, kind, ident in (
        ((location,), kinds.cudaMemLocationTypeHostNuma, 2),
        ((1,), kinds.cudaMemLocationTypeDevice, 1),
        ((rt.cudaCpuDeviceId,), kinds.cudaMemLocationTypeHost, 0),
    ):
        assert rt.cudaMemAdvise(0x1000, 64, 1, *given) == (0,)
        sent = library.last()[4]
        assert (sent.type, sent.id) == (kind, ident)
    for name in ("device", "location"):
        assert rt.cudaMemAdvise(0x1000, 64, 1, **{name: 3}) == (0,)
        assert library.last()[4].id == 3

    rt, library = runtime_on(12090)
    library.accept("cudaMemAdvise", *advice, c_int)
    library.accept("cudaMemAdvise_v2", *advice, rt.cudaMemLocation)
    assert rt.cudaMemAdvise(0x1000, 64, 1, rt.cudaCpuDeviceId) == (0,)
    assert library.last() == ("cudaMemAdvise", 0x1000, 64, 1, -1)
    assert rt.cudaMemAdvise(0x1000, 64, 1, rt.cudaMemLocation(id=4)) == (0,)
    assert library.last()[0] == "cudaMemAdvise_v2" and library.last()[4].id == 4
    assert rt.cudaMemAdvise(0x1000, 64, 1, 3) == (0,)  # the forms do not get into each other's way
    assert library.last() == ("cudaMemAdvise", 0x1000, 64, 1, 3)


def test_prefetch_in_both_forms_on_both_majors() -> None:
    rt, library = runtime_on(13000)
    stream = rt.cudaStream_t(0x55)
    library.accept("cudaMemPrefetchAsync", c_size_t, c_size_t, rt.cudaMemLocation, c_uint, c_size_t)
    location = rt.cudaMemLocation(type=rt.cudaMemLocationType.cudaMemLocationTypeDevice, id=2)
    for arguments, names, ident in (
        ((location, 0, stream), {}, 2),
        ((1, stream), {}, 1),
        ((1,), {"stream": stream}, 1),
        ((), {"dstDevice": 3, "stream": stream}, 3),
    ):
        assert rt.cudaMemPrefetchAsync(0x1000, 64, *arguments, **names) == (0,)
        _, address, size, sent, flags, last = library.last()
        assert (address, size, sent.id, flags, last) == (0x1000, 64, ident, 0, 0x55)

    rt, library = runtime_on(12090)
    library.accept("cudaMemPrefetchAsync", c_size_t, c_size_t, c_int, c_size_t)
    library.accept("cudaMemPrefetchAsync_v2", c_size_t, c_size_t, rt.cudaMemLocation, c_uint, c_size_t)
    assert rt.cudaMemPrefetchAsync(0x1000, 64, 1, 0x55) == (0,)
    assert library.last() == ("cudaMemPrefetchAsync", 0x1000, 64, 1, 0x55)
    assert rt.cudaMemPrefetchAsync(0x1000, 64, rt.cudaMemLocation(id=4), 0, 0x55) == (0,)
    assert library.last()[0] == "cudaMemPrefetchAsync_v2" and library.last()[3].id == 4


def test_batches_on_both_majors(on12: tuple[ModuleType, Library], on13: tuple[ModuleType, Library]) -> None:
    words = POINTER(c_size_t)
    batch = (words, words, words, c_size_t, c_void_p, words, c_size_t)
    for (rt, library), extra in ((on13, ()), (on12, (words,))):
        library.accept("cudaMemcpyBatchAsync", *batch, *extra, c_size_t)
        library.accept("cudaMemcpy3DBatchAsync", c_size_t, c_void_p, *extra, ctypes.c_uint64, c_size_t)
        attributes = [rt.cudaMemcpyAttributes()]
        done = rt.cudaMemcpyBatchAsync([0x10, 0x20], [0x30, 0x40], [1, 2], 2, attributes, [0], 1, 0x55)
        assert done == (0,)
        _, dsts, srcs, sizes, count, _, _, numbers_, *last = library.last()
        assert (dsts[:2], srcs[:2], sizes[:2], count, numbers_) == ([16, 32], [48, 64], [1, 2], 2, 1)
        assert last[-1] == 0x55
        assert rt.cudaMemcpy3DBatchAsync(1, [rt.cudaMemcpy3DBatchOp()], 0, 0x55) == (0,)
        assert library.last()[-1] == 0x55
        with pytest.raises(ValueError, match="dsts holds 1 item, the call needs 2"):
            rt.cudaMemcpyBatchAsync([1], [1, 2], [1, 2], 2, attributes, [0], 1, 0)


def test_names_of_12_that_13_spells_without_version(on13: tuple[ModuleType, Library]) -> None:
    rt, library = on13
    library.accept("cudaSignalExternalSemaphoresAsync", c_void_p, c_void_p, c_uint, c_size_t)
    library.accept("cudaEventElapsedTime", c_void_p, c_size_t, c_size_t)
    params = rt.cudaExternalSemaphoreSignalParams()
    assert rt.cudaSignalExternalSemaphoresAsync_v2([1], [params], 1, 0) == (0,)
    assert rt.cudaEventElapsedTime_v2(1, 2) == (0, 0.0)
    with pytest.raises(RuntimeError, match='Function "cudaThreadExit" not found in the libcudart 13000'):
        rt.cudaThreadExit()


def test_semaphores_of_12_are_not_those_of_11(on12: tuple[ModuleType, Library]) -> None:
    rt, library = on12
    for name in ("cudaSignalExternalSemaphoresAsync", "cudaWaitExternalSemaphoresAsync"):
        library.accept(name, c_void_p, c_void_p, c_uint, c_size_t)
        library.accept(f"{name}_v2", c_void_p, c_void_p, c_uint, c_size_t)
        assert getattr(rt, name)([], [], 0, 0) == (0,)
        assert library.last()[0] == f"{name}_v2"


def test_a_function_of_the_other_major_is_never_called(on13: tuple[ModuleType, Library]) -> None:
    """The symbol is there, and is another function."""
    rt, library = on13
    for form in list(vars(rt).values()):
        declaration = getattr(form, "__declaration__", None)
        if declaration and declaration.symbols.get(13, "") is None:
            symbol = declaration.prototype.split("(")[0].split()[-1]
            library.accept(symbol)
            with pytest.raises(RuntimeError, match="where that name has other parameters"):
                declaration.write()
            assert form.__name__.startswith("_") and form.__name__.endswith("_12")


# -- Launches --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["cudaLaunchKernel", "cudaLaunchCooperativeKernel"])
def test_launches(name: str, on13: tuple[ModuleType, Library]) -> None:
    rt, library = on13
    driver = importlib.import_module(rt.__name__.replace(".runtime", ".driver"))
    seen: list[Any] = []

    def launch(func: int, grid: Any, block: Any, args: int, shared: int, stream: int) -> None:
        addresses = cast(args, POINTER(c_void_p))
        values = (
            cast(addresses[0], POINTER(c_int))[0],
            cast(addresses[1], POINTER(ctypes.c_float))[0],
            cast(addresses[2], POINTER(c_size_t))[0],
        )
        sizes = [(d.x, d.y, d.z) for d in (grid, block)]
        seen.append((func, *sizes, values, shared, stream))

    library.add(name, launch, c_size_t, rt.dim3, rt.dim3, c_void_p, c_size_t, c_size_t)
    texture = rt.cudaTextureObject_t(0x7000)
    args = ((5, 0.5, texture), (c_int, ctypes.c_float, None))
    for func in (0x42, rt.cudaKernel_t(0x42), rt.cudaFunction_t(0x42), driver.CUfunction(0x42)):
        assert getattr(rt, name)(func, rt.dim3(2, 3), (4, 5), args, 64, rt.cudaStream_t(0x55)) == (0,)
        assert seen.pop() == (0x42, (2, 3, 1), (4, 5, 1), (5, 0.5, 0x7000), 64, 0x55)
    one, two, three = c_int(5), ctypes.c_float(0.5), c_size_t(0x7000)
    pointers = (c_void_p * 3)(*map(ctypes.addressof, (one, two, three)))
    assert getattr(rt, name)(0x42, 2, 4, ctypes.addressof(pointers), 0, 0) == (0,)
    assert seen.pop() == (0x42, (2, 1, 1), (4, 1, 1), (5, 0.5, 0x7000), 0, 0)
    with pytest.raises(TypeError, match="must be an address or a buffer, not str"):
        getattr(rt, name)("kernel", 1, 1, args, 0, 0)


def test_launch_with_a_config(on13: tuple[ModuleType, Library]) -> None:
    rt, library = on13
    seen: list[Any] = []

    def launch(config: int, func: int, args: int) -> None:
        view = rt.cudaLaunchConfig_t(_ptr=config)
        first = cast(cast(args, POINTER(c_void_p))[0], POINTER(c_int))[0]
        clusters = [a.val.clusterDim.x for a in view.attrs]
        seen.append((view.gridDim.x, view.dynamicSmemBytes, view.stream, clusters, func, first))

    library.add("cudaLaunchKernelExC", launch, c_void_p, c_size_t, c_void_p)
    attribute = rt.cudaLaunchAttribute(id=rt.cudaLaunchAttributeID.cudaLaunchAttributeClusterDimension)
    attribute.val.clusterDim.x = 4
    config = rt.cudaLaunchConfig_t(
        gridDim=rt.dim3(8), blockDim=rt.dim3(32), dynamicSmemBytes=1024, stream=0x55, attrs=[attribute]
    )
    config.numAttrs = 1
    assert rt.cudaLaunchKernelExC(config, rt.cudaKernel_t(0x42), ((7,), (c_int,))) == (0,)
    assert seen == [(8, 1024, 0x55, [4], 0x42, 7)]


# -- Attributes, callbacks, handles ----------------------------------------------------------------------


def test_forms_that_share_a_symbol_stay_apart(on12: tuple[ModuleType, Library]) -> None:
    """In CUDA 13 cudaMemAdvise is the name of what CUDA 12 calls cudaMemAdvise_v2."""
    runtime, library = on12
    library.accept("cudaMemAdvise", *[c_void_p] * 3, c_int)
    library.accept("cudaMemAdvise_v2", *[c_void_p] * 4)
    location = runtime.cudaMemLocation(type=1, id=2)
    for last in (location, 2, location, 2):
        assert runtime.cudaMemAdvise(1, 1, 1, last) == (0,)
        assert library.last()[0] == ("cudaMemAdvise" if last == 2 else "cudaMemAdvise_v2")


def test_attributes_have_their_own_types(on13: tuple[ModuleType, Library]) -> None:
    rt, library = on13
    stored: dict[int, bytes] = {}
    sizes = {attribute: ctypes.sizeof(c_int) for attribute in rt.cudaMemPoolAttr}
    for name in (
        "ReleaseThreshold",
        "ReservedMemCurrent",
        "ReservedMemHigh",
        "UsedMemCurrent",
        "UsedMemHigh",
    ):
        sizes[rt.cudaMemPoolAttr[f"cudaMemPoolAttr{name}"]] = 8
    sizes[rt.cudaMemPoolAttr.cudaMemPoolAttrMaxPoolSize] = 8

    def put(pool: int, attribute: int, value: int) -> None:
        stored[attribute] = ctypes.string_at(value, sizes[attribute])

    def get(pool: int, attribute: int, value: int) -> None:
        ctypes.memmove(value, stored[attribute], sizes[attribute])

    library.add("cudaMemPoolSetAttribute", put, c_size_t, c_int, c_void_p)
    library.add("cudaMemPoolGetAttribute", get, c_size_t, c_int, c_void_p)
    for attribute in rt.cudaMemPoolAttr:
        value = (1 << 33) + 1 if sizes[attribute] == 8 else 1
        assert rt.cudaMemPoolSetAttribute(5, attribute, value) == (0,)
        assert rt.cudaMemPoolGetAttribute(5, attribute) == (0, value)
    kind = rt.cudaMemPoolGetAttribute(5, rt.cudaMemPoolAttr.cudaMemPoolAttrLocationType)[1]
    assert kind is rt.cudaMemLocationType.cudaMemLocationTypeDevice
    with pytest.raises(ValueError, match="the type of attribute 99 is not known"):
        rt.cudaMemPoolGetAttribute(5, 99)


def test_range_attributes(on13: tuple[ModuleType, Library]) -> None:
    rt, library = on13
    attributes = rt.cudaMemRangeAttribute
    values = {
        attributes.cudaMemRangeAttributeReadMostly: [1],
        attributes.cudaMemRangeAttributeAccessedBy: [0, 2, rt.cudaInvalidDeviceId],
        attributes.cudaMemRangeAttributePreferredLocationType: [2],
    }

    def one(data: Any, size: int, attribute: int, address: int, count: int) -> None:
        for i in range(size // 4):
            data[i] = values[attributes(attribute)][i]

    def many(data: Any, sizes: Any, kinds: Any, number: int, address: int, count: int) -> None:
        for i in range(number):
            one(cast(data[i], POINTER(c_int)), sizes[i], kinds[i], address, count)

    library.add("cudaMemRangeGetAttribute", one, POINTER(c_int), c_size_t, c_int, c_size_t, c_size_t)
    words = POINTER(c_size_t)
    library.add("cudaMemRangeGetAttributes", many, words, words, POINTER(c_int), c_size_t, c_size_t, c_size_t)
    for attribute, expected in values.items():
        result = rt.cudaMemRangeGetAttribute(4 * len(expected), attribute, 0x1000, 64)[1]
        assert result == (expected if len(expected) > 1 else expected[0])
    err, found = rt.cudaMemRangeGetAttributes([4, 12, 4], list(values), 3, 0x1000, 64)
    assert (err, found) == (0, [1, [0, 2, -2], 2])
    assert found[2] is rt.cudaMemLocationType.cudaMemLocationTypeHost


def test_locations_are_filled_in_place(on13: tuple[ModuleType, Library]) -> None:
    rt, library = on13

    def info(address: int, size: int, summary: int, sampling: int, out: int) -> None:
        for i in range(size // summary):
            view = rt.cudaMemLocation(_ptr=out + 8 * i)
            view.type, view.id = 1, i + 5

    library.add("cudaMemGetLocationInfo", info, c_size_t, c_size_t, c_size_t, c_size_t, c_size_t)
    places = [rt.cudaMemLocation(), rt.cudaMemLocation()]
    assert rt.cudaMemGetLocationInfo(0x1000, 128, 64, 4, places) == (0,)
    assert [place.id for place in places] == [5, 6]
    with pytest.raises(ValueError, match="location_out holds 8 bytes, the call needs 16"):
        rt.cudaMemGetLocationInfo(0x1000, 128, 64, 4, places[:1])


def test_the_address_a_free_node_frees(on13: tuple[ModuleType, Library]) -> None:
    rt, library = on13

    def get(node: int, out: Any) -> int:
        out[0] = 0x123456789AB
        return 0 if node else 400

    library.add("cudaGraphMemFreeNodeGetParams", get, c_size_t, POINTER(c_size_t))
    assert rt.cudaGraphMemFreeNodeGetParams(1) == (0, 0x123456789AB)
    assert rt.cudaGraphMemFreeNodeGetParams(0) == (400, None)


def test_graphics_resources_come_as_handles(on13: tuple[ModuleType, Library]) -> None:
    """C has a pointer to a pointer to the struct there, where other functions have the handle."""
    rt, library = on13

    def register(resource: Any, buffer: int, flags: int) -> None:
        resource[0] = 0x77

    library.add("cudaGraphicsGLRegisterBuffer", register, POINTER(c_size_t), c_uint, c_uint)
    err, resource = rt.cudaGraphicsGLRegisterBuffer(5, 0)
    assert (err, resource) == (0, 0x77)
    assert type(resource) is rt.cudaGraphicsResource_t


def test_callbacks(on13: tuple[ModuleType, Library]) -> None:
    rt, library = on13
    called = []

    def launch(stream: int, function: int, data: int) -> None:
        CFUNCTYPE(None, c_size_t)(function)(data)

    def host(data: int) -> None:
        called.append(data)

    library.add("cudaLaunchHostFunc", launch, c_size_t, c_size_t, c_size_t)
    function = CFUNCTYPE(None, c_size_t)(host)
    assert isinstance(function, Thunk)
    address = cast(function, c_void_p).value
    for given in (
        function,
        address,
        rt.cudaHostFn_t(address),
        rt.cudaHostFn_t(_ptr=ctypes.addressof(function)),
    ):
        assert rt.cudaLaunchHostFunc(0, given, 0x99) == (0,)
    assert called == [0x99] * 4
    with pytest.raises(TypeError, match="cudaLaunchHostFunc: fn"):
        rt.cudaLaunchHostFunc(0, host, 0)


@pytest.mark.parametrize("name", ["cudaLibraryLoadData", "cudaLibraryLoadFromFile"])
def test_options_of_a_library_live_as_long_as_it(on13: tuple[ModuleType, Library], name: str) -> None:
    """The driver compiles PTX when a kernel is first asked for, and writes to the log and the values then."""
    rt, library = on13

    class Log(bytearray):
        pass

    def load(out: Any, *others: Any) -> None:
        out[0] = 0x77

    options = c_void_p, c_void_p, c_uint
    library.add(name, load, POINTER(c_size_t), c_void_p, *options, *options)
    library.accept("cudaLibraryUnload", c_size_t)
    log = Log(16)
    names = [rt.cudaJitOption.cudaJitErrorLogBuffer, rt.cudaJitOption.cudaJitErrorLogBufferSizeBytes]
    err, made = getattr(rt, name)(b"code", names, [log, len(log)], 2, None, None, 0)
    assert (err, made) == (0, 0x77)
    kept = weakref.ref(log)
    del log
    gc.collect()
    assert kept() is not None
    assert rt.cudaLibraryUnload(made) == (0,)
    gc.collect()
    assert kept() is None


def test_logs(on13: tuple[ModuleType, Library]) -> None:
    rt, library = on13

    def dump(iterator: Any, buffer: int, size: Any, flags: int) -> None:
        assert iterator[0] == 3
        ctypes.memmove(buffer, b"a message\0", 10)
        iterator[0], size[0] = 4, 9

    library.add("cudaLogsDumpToMemory", dump, POINTER(c_uint), c_void_p, POINTER(c_size_t), c_uint)
    buffer = bytearray(32)
    assert rt.cudaLogsDumpToMemory(3, buffer, len(buffer), 0) == (0, 4, 9)
    assert buffer[:10] == b"a message\0"


def test_per_thread_default_stream(on13: tuple[ModuleType, Library], monkeypatch: pytest.MonkeyPatch) -> None:
    rt, library = on13
    environment = importlib.import_module("._process.environment", rt.__package__)
    monkeypatch.setattr(environment, "PER_THREAD_DEFAULT_STREAM", True)
    for symbol in ("cudaStreamSynchronize", "cudaStreamSynchronize_ptsz", "cudaFree"):
        library.accept(symbol, c_size_t)
    library.accept("cudaMemset_ptds", c_size_t, c_int, c_size_t)
    assert rt.cudaStreamSynchronize(0) == rt.cudaFree(0) == rt.cudaMemset(0, 0, 0) == (0,)
    assert [call[0] for call in library.calls] == [
        "cudaStreamSynchronize_ptsz",
        "cudaFree",
        "cudaMemset_ptds",
    ]


@pytest.mark.parametrize(("last", "left"), [(2, 0), (1, 1)], ids=["its own", "another"])
def test_the_raising_face(on13: tuple[ModuleType, Library], last: int, left: int) -> None:
    """What it raises is taken from the last error, if that is it; a look at the last error takes nothing."""
    rt, library = on13
    rt._raiser.log = None
    errors = [last]
    library.add("cudaMalloc", lambda out, size: 2, c_void_p, c_size_t)
    library.add("cudaPeekAtLastError", lambda: errors[-1])
    library.add("cudaGetLastError", lambda: errors.append(0) or errors[-2])
    with pytest.raises(RuntimeError):
        rt.checked.cudaPeekAtLastError()
    assert errors[-1] == last
    with pytest.raises(MemoryError, match=r"cudaMalloc: cudaErrorMemoryAllocation \(2\): .* size=16"):
        rt.checked.cudaMalloc(16)
    assert errors[-1] == left


# -- The library -----------------------------------------------------------------------------------------


def test_a_missing_library_says_what_to_install(tmp_path: Path) -> None:
    vendored(name := f"cudapy_runtime_{next(numbers)}")
    rt = importlib.import_module(f"{name}.runtime")
    finder = importlib.import_module(f"{name}.pathfinder")
    finder.this_host = lambda: finder.Host(paths=(), environ={}, root=str(tmp_path))  # type: ignore[attr-defined]
    finder.open_candidate = _refuse  # type: ignore[attr-defined]
    with pytest.raises(RuntimeError, match=r"cudart was (not )?found") as caught:
        rt.cudaMalloc(1)
    assert "pip install nvidia-cuda-runtime for CUDA 13, or nvidia-cuda-runtime-cu12" in str(caught.value)


def _refuse(*args: Any) -> Any:
    raise OSError("no such file")


libraries = module("pathfinder")
"""Of a copy that finds the real libcudart and the real driver, whatever this process runs on."""


def installed() -> Any:
    try:
        return libraries.load("cudart")
    except libraries.LibraryNotFound:
        return None


needs_libcudart = pytest.mark.skipif(
    installed() is None, reason="there is no libcudart: pip install nvidia-cuda-runtime"
)

SWEEP = """
import sys
from cudapy import runtime
from tests.test_runtime import benign, sweep
sweep(runtime, sys.argv[1:])
"""


def benign(declaration: Any, scope: ModuleType) -> list[Any]:
    """Arguments that do no harm: zeros, null handles, empty lists, zeroed structs, buffers."""
    from cudapy._ffi.prototypes import parse
    from cudapy._ffi.scalars import SCALARS

    def one(parameter: Any) -> Any:
        cls = SCALARS.get(parameter.type) or getattr(scope, parameter.type, None)
        if parameter.c_name in declaration.variants:
            return 0
        if parameter.c_name in declaration.sizes:
            is_list = (
                cls is not None and cls is not ctypes.c_char and declaration.sizes[parameter.c_name] != 1
            )
            return [] if is_list else bytearray(2048)
        if parameter.stars == 2 or cls is None:
            return None if parameter.stars == 2 else bytearray(64)
        if parameter.stars and cls is ctypes.c_char:
            return b"x" if parameter.const else bytearray(64)
        if parameter.c_name in declaration.in_place or issubclass(cls, (ctypes.Structure, ctypes.Union)):
            return cls()
        tables = [table for key, table in declaration.variants.values() if key == parameter.c_name]
        return next(iter(getattr(scope, tables[0]))) if tables else 0

    parameters = {p.name: p for p in parse(declaration.prototype).parameters}
    return [one(parameters[name]) for name in declaration.inputs]


def sweep(runtime: ModuleType, done: list[str]) -> None:
    """Call every function but those of `done`, saying which is next and what it returned."""
    for name, function in list(vars(runtime).items()):
        declaration = getattr(function, "__declaration__", None)
        if declaration is None or name in done:
            continue
        print("calls", name, flush=True)
        try:
            result = function(*benign(declaration, runtime))
        except RuntimeError as error:
            assert type(error).__name__ == "SymbolNotFound", error
            print("lacks", name)
            continue
        assert type(result) is tuple and type(result[0]) is runtime.cudaError_t, result
        print("returned", name, result[0].name)


@needs_libcudart
def test_every_function_answers_without_a_gpu() -> None:
    """The real libcudart, kept from any GPU: a status for every call, and no signal."""
    root = str(Path(cudapy.runtime.__file__).parents[1])
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "PYTHONPATH": root}
    done = subprocess.run(
        [sys.executable, "-c", SWEEP], capture_output=True, text=True, cwd=root, env=environment
    )
    lines = [line.split() for line in done.stdout.splitlines()]
    assert done.returncode == 0, f"{done.stdout.splitlines()[-1:]}, {done.stderr[-2000:]}"
    returned = {line[1]: line[2] for line in lines if line[0] == "returned"}
    assert len(returned) >= 300
    loaded = installed()
    assert loaded is not None
    for line in lines:
        if line[0] == "lacks":
            declaration = getattr(cudapy.runtime, line[1]).__declaration__
            symbol = declaration.prototype.split("(")[0].split()[-1]
            other = declaration.symbols.get(loaded.major, symbol) is None
            assert other or not hasattr(loaded.handle, symbol), line
    assert returned["cudaGetDeviceCount"] in (
        "cudaErrorInsufficientDriver",
        "cudaErrorNoDevice",
        "cudaErrorStubLibrary",
    )


PLAUSIBLE = """
import sys
from cudapy import pathfinder
from tests.stub import APIS, library_of, source
from tests.stub.build import attribute_types, by_hand, declared
from tests.stub.sweep import BY_HAND
from tests.stub.values import case

library = pathfinder.load("cudart").handle
module = source(api := sys.argv[1])
library_of(module).load = lambda: library


def calls():
    for function in declared(module).values():
        types = attribute_types(function)
        for style in ("typical", "zero"):
            made = case(function, style, next(iter(types[1])) if types else None)
            yield function.__name__, function, made.arguments()
    for name in sorted(by_hand(module, APIS[api].names)):
        yield name, getattr(module, name), BY_HAND[name].values()


for name, function, arguments in calls():
    print("calls", name, flush=True)
    try:
        print("returned", name, function(*arguments)[0].name)
    except RuntimeError as error:
        assert type(error).__name__ == "SymbolNotFound", error
"""


@needs_libcudart
def test_every_function_takes_plausible_arguments_without_a_driver() -> None:
    """The real libcudart, arguments as on a GPU: it says that there is no driver, and lives."""
    try:
        libraries.load("cuda")
    except libraries.LibraryNotFound:
        pass
    else:
        pytest.skip("there is a driver, which would follow handles that lead nowhere")
    loaded = installed()
    assert loaded is not None
    command = [sys.executable, "-c", PLAUSIBLE, f"runtime-{loaded.major}"]
    root = Path(__file__).parents[1]
    done = subprocess.run(command, capture_output=True, text=True, cwd=root)
    lines = [line.split() for line in done.stdout.splitlines()]
    assert done.returncode == 0, f"{lines[-1:]}, {done.stderr[-2000:]}"
    returned = [line[2] for line in lines if line[0] == "returned"]
    assert returned.count("cudaErrorInsufficientDriver") > 0.95 * len(returned) > 600


@needs_libcudart
def test_what_needs_no_device() -> None:
    vendored(name := f"cudapy_runtime_{next(numbers)}")
    rt = importlib.import_module(f"{name}.runtime")
    kind = rt.cudaChannelFormatKind.cudaChannelFormatKindFloat
    err, desc = rt.cudaCreateChannelDesc(32, 16, 8, 0, kind)  # the first struct that this copy needs
    assert err == 0 and (desc.x, desc.y, desc.z, desc.w, desc.f) == (32, 16, 8, 0, kind)
    err, version = rt.getLocalRuntimeVersion()
    assert err == rt.cudaError_t.cudaSuccess and version // 1000 == rt._major() in (12, 13)
    assert rt.cudaGetErrorName(rt.cudaError_t.cudaErrorInvalidValue) == (0, b"cudaErrorInvalidValue")
    assert rt.cudaGetErrorString(1) == (0, b"invalid argument")


def test_what_a_function_says_about_itself() -> None:
    rt = cudapy.runtime
    assert list(inspect.signature(rt.cudaMemcpy).parameters) == ["dst", "src", "count", "kind"]
    assert rt.cudaGraphAddDependencies.__name__ == "cudaGraphAddDependencies"
    undocumented = [
        name
        for name, value in vars(rt).items()
        if name.startswith("cuda") and inspect.isfunction(value) and not value.__doc__
    ]
    assert not undocumented or sys.flags.optimize > 1


WRITTEN_BY_HAND = {
    test_properties_have_the_layout_of_12: "cudaGetDeviceProperties",
    test_choosing_takes_the_properties_of_either_major: "cudaChooseDevice",
    test_edges_in_both_forms_on_both_majors: "cudaGraphAddDependencies cudaGraphRemoveDependencies",
    test_nodes_in_both_forms: "cudaGraphAddNode",
    test_queries_of_edges_where_there_is_no_edge_data: "cudaGraphGetEdges",
    test_dependencies_in_both_forms: "cudaGraphNodeGetDependencies cudaGraphNodeGetDependentNodes",
    test_capture_info_of_13: "cudaStreamGetCaptureInfo",
    test_capture_dependencies_in_both_forms: "cudaStreamUpdateCaptureDependencies",
    test_advice_in_both_forms_on_both_majors: "cudaMemAdvise",
    test_prefetch_in_both_forms_on_both_majors: "cudaMemPrefetchAsync",
    test_batches_on_both_majors: "cudaMemcpyBatchAsync cudaMemcpy3DBatchAsync",
    test_launches: "cudaLaunchKernel cudaLaunchCooperativeKernel",
    test_range_attributes: "cudaMemRangeGetAttribute cudaMemRangeGetAttributes",
    test_locations_are_filled_in_place: "cudaMemGetLocationInfo",
    test_the_address_a_free_node_frees: "cudaGraphMemFreeNodeGetParams",
    test_what_needs_no_device: "getLocalRuntimeVersion",
}


@pytest.mark.parametrize("api", ["runtime-12", "runtime-13"])
def test_every_function_written_by_hand_is_tested(api: str) -> None:
    """Those without a declaration of their own are above, the others in test_echo.py."""
    assert by_hand(source(api), APIS[api].names) == set(" ".join(WRITTEN_BY_HAND.values()).split())
