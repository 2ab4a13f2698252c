"""core on a real GPU: variables of object code."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
from cudapy.core.graph import GraphDefinition

from cudapy import driver, nvfatbin, pathfinder
from cudapy._core.kernels import object_code
from cudapy.core import (
    Buffer,
    CUDAError,
    Device,
    LaunchConfig,
    Linker,
    LinkerOptions,
    ManagedBuffer,
    ObjectCode,
    Program,
    ProgramOptions,
    launch,
)

from .core_kernels import content

pytestmark = pytest.mark.gpu

SOURCE = """
namespace limits { __constant__ float factor = 2; }
template <typename T> __device__ T offset = T(3);
__device__ int counter = 5;
__managed__ long long total = 7;
extern "C" __global__ void scale(float *x) {
    x[threadIdx.x] = limits::factor * x[threadIdx.x] + offset<int>;
    if (threadIdx.x == 0) { counter += 1; total += 10; }
}
"""
EXPRESSIONS = ("&limits::factor", "&offset<int>")
MANGLED = "_ZN6limits6factorE"


def fatbin(cubin: ObjectCode) -> ObjectCode:
    try:
        handle = nvfatbin.create(["-64"], 1)
    except pathfinder.LibraryNotFound as error:
        pytest.skip(str(error).splitlines()[0])
    nvfatbin.add_cubin(handle, cubin.code, len(cubin.code), Device(0).arch, "code")
    data = bytearray(nvfatbin.size(handle))
    nvfatbin.get(handle, data)
    nvfatbin.destroy(handle)
    return ObjectCode.from_fatbin(bytes(data), symbol_mapping=cubin.symbol_mapping)


@pytest.fixture(scope="module", params=["cubin", "ptx", "fatbin", "ltoir"])
def kind(request):
    """Code of each kind."""
    Device(0).set_current()
    if request.param == "ltoir":
        compiled = Program(SOURCE, "c++", ProgramOptions(link_time_optimization=True))
        code = compiled.compile("ltoir", name_expressions=EXPRESSIONS)
        try:
            linker = Linker(code, options=LinkerOptions(link_time_optimization=True))
        except pathfinder.LibraryNotFound as error:
            pytest.skip(str(error).splitlines()[0])
        linked = linker.link("cubin")
        return ObjectCode.from_cubin(linked.code, symbol_mapping=code.symbol_mapping)
    compiled = Program(SOURCE, "c++").compile(
        "ptx" if request.param == "ptx" else "cubin", name_expressions=EXPRESSIONS
    )
    return fatbin(compiled) if request.param == "fatbin" else compiled


def test_what_is_written_to_a_variable_is_what_kernels_read(device, stream, kind) -> None:
    factor, counter = kind.get_global("limits::factor"), kind.get_global("counter")
    assert (factor.size, counter.size) == (4, 4)
    assert type(counter) is Buffer and counter.device_id == 0 and not counter.is_host_accessible
    before = int(content(counter, np.int32, stream)[0])
    factor.copy_from(np.float32(10), stream=stream)
    array = device.allocate(128, stream)
    array.copy_from(np.arange(32, dtype="f4"), stream=stream)
    launch(stream, LaunchConfig(grid=1, block=32), kind.get_kernel("scale"), array)
    assert content(array, np.float32, stream).tolist() == [10 * i + 3 for i in range(32)]
    assert content(kind.get_global("counter"), np.int32, stream).tolist() == [before + 1]


@pytest.mark.parametrize("name", ["limits::factor", "&limits::factor", b"&limits::factor", MANGLED])
def test_a_variable_by_each_of_its_names(device, kind, name) -> None:
    assert kind.get_global(name).handle == kind.get_global(MANGLED.encode()).handle != 0
    assert kind.get_global("offset<int>").handle == kind.get_global("&offset<int>").handle


def test_a_managed_variable_is_read_where_it_is(device, stream, kind) -> None:
    total = kind.get_global("total")
    assert isinstance(total, ManagedBuffer) and total.is_managed and total.is_host_accessible
    values = np.from_dlpack(total.view(np.int64))
    before = int(values[0])
    array = device.allocate(4, stream)
    launch(stream, LaunchConfig(grid=1, block=1), kind.get_kernel("scale"), array)
    stream.sync()
    assert values.tolist() == [before + 10]


def test_a_name_that_is_not_there(device, kind) -> None:
    with pytest.raises(CUDAError, match=r"has no variable 'cuonter'") as raised:
        kind.get_global("cuonter")
    assert raised.value.code == driver.CUresult.CUDA_ERROR_NOT_FOUND
    if kind.code_type != "fatbin":  # it is packed, and the driver lists no variables
        message = str(raised.value)
        names = message.partition("It has: ")[2].partition(". ")[0].split(", ")
        assert names[:2] == list(EXPRESSIONS) and {MANGLED, "counter", "total"} < set(names)
        assert "Did you mean 'counter'?" in message
        assert "scale" not in message, "a kernel is no variable"
    with pytest.raises(CUDAError, match="has no variable 'scale'"):
        kind.get_global("scale")
    with pytest.raises(CUDAError, match="has no kernel 'counter'") as raised:
        kind.get_kernel("counter")
    assert "limits::factor" not in str(raised.value), "a variable is no kernel"


def test_what_is_no_name(device, kind) -> None:
    with pytest.raises(TypeError, match="get_global: name must be str or bytes, not int"):
        kind.get_global(3)
    with pytest.raises(ValueError, match="get_global: the name has a NUL character at 2"):
        kind.get_global("co\0unter")
    with pytest.raises(RuntimeError, match="link it to a cubin first"):
        ObjectCode.from_ltoir(b"code").get_global("counter")


def loaded(code: ObjectCode) -> bool:
    return any(each() is code for each in object_code.loaded.values())  # type: ignore[attr-defined]


def compiled() -> ObjectCode:
    return Program(SOURCE, "c++").compile("cubin")


def test_a_variable_keeps_its_code(device, stream) -> None:
    code = compiled()
    gone, counter = weakref.ref(code), code.get_global("counter")
    del code
    gc.collect()
    assert loaded(gone()) and content(counter, np.int32, stream).tolist() == [5]
    view = counter.view(np.int32)
    del counter
    gc.collect()
    assert gone() is not None, "a view keeps its Buffer"
    del view
    gc.collect()
    assert gone() is None


def test_closing_a_variable_frees_nothing(device, stream) -> None:
    code = compiled()
    gone, counter = weakref.ref(code), code.get_global("counter")
    counter.close()
    assert counter.is_closed and counter.handle == 0
    assert content(code.get_global("counter"), np.int32, stream).tolist() == [5]
    del code
    gc.collect()
    assert gone() is None, "what is closed keeps nothing"


def test_a_graph_keeps_the_code_of_its_variables(device, stream) -> None:
    code, array = compiled(), device.allocate(4, stream)
    gone, counter, graph = weakref.ref(code), code.get_global("counter"), GraphDefinition()
    graph.memcpy(array, counter, 4)
    executable = graph.instantiate()
    counter.close()
    del code, graph
    gc.collect()
    assert gone() is not None
    executable.launch(stream)
    assert content(array, np.int32, stream).tolist() == [5]


def test_each_device_has_a_variable_of_its_own(device) -> None:
    if len(Device.get_all_devices()) < 2:
        pytest.skip("needs two GPUs")
    code = compiled()
    here = code.get_global("counter")
    with Device(1):
        there = code.get_global("counter")
    assert (here.device_id, there.device_id) == (0, 1) and here.handle != there.handle
