"""core on a real GPU: launches."""

from __future__ import annotations

import ctypes
import gc
import pickle
import threading
import weakref

import numpy as np
import pytest
from cudapy.core.graph import GraphDefinition

from cudapy import driver, pathfinder
from cudapy._core.kernels.arguments import MOST_KEPT
from cudapy._core.kernels.node_parameters import arguments
from cudapy.core import (
    CUDAError,
    Device,
    InMemoryProgramCache,
    LaunchConfig,
    Linker,
    ObjectCode,
    Program,
    launch,
    prepare,
)

from .core_kernels import content

pytestmark = pytest.mark.gpu


def test_kernels_run_right(device, code, stream) -> None:
    n = 100_000
    x, y = (np.random.default_rng(seed).random(n, dtype=np.float32) for seed in (1, 2))
    dx, dy = device.allocate(x.nbytes, stream), device.allocate(y.nbytes, stream)
    dx.copy_from(x, stream=stream)
    dy.copy_from(y, stream=stream)
    launch(stream, LaunchConfig(grid=(n + 255) // 256, block=256), code.get_kernel("axpy"), 2.0, dx, dy, n)
    assert np.allclose(content(dy, np.float32, stream), y + 2 * x)


def test_more_shared_memory_than_usual(device, code, stream) -> None:
    kernel = code.get_kernel("shared")
    room = device.properties.max_shared_memory_per_block_optin
    kernel.attributes.max_dynamic_shared_size_bytes = room
    assert kernel.attributes.max_dynamic_shared_size_bytes == room
    out = device.allocate(4 * 64, stream)
    launch(stream, LaunchConfig(grid=1, block=64, shmem_size=room), kernel, out)
    assert content(out, np.int32, stream).tolist() == list(range(63, -1, -1))


def test_threads_share_a_kernel(device, code) -> None:
    kernel, config = code.get_kernel("add_one<int>"), LaunchConfig(grid=1, block=32)
    results = []

    def work():
        mine = Device(0)
        mine.set_current()
        stream = mine.create_stream()
        x = mine.allocate(128, stream)
        x.fill(0, stream=stream)
        for _ in range(200):
            launch(stream, config, kernel, x)
        results.append(set(content(x, np.int32, stream).tolist()))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [{200}] * 8


SCALARS = """
struct Pair { int first; double second; };
extern "C" __global__ void scalars(
    signed char a, bool b, short c, int d, long long e, float f, double g, float2 h, double2 i, Pair p,
    void *q, double *out)
{
    double values[] = {
        (double)a, (double)b, (double)c, (double)d, (double)e, f, g, h.x, h.y, i.x, i.y, (double)p.first,
        p.second, (double)(q == nullptr)};
    for (int n = 0; n < 14; n++) out[n] = values[n];
}
extern "C" __global__ void clusters(int *out)
{
    unsigned int size, rank;
    asm volatile("mov.u32 %0, %cluster_nctaid.x;" : "=r"(size));
    asm volatile("mov.u32 %0, %cluster_ctarank;" : "=r"(rank));
    out[2 * blockIdx.x] = size;
    out[2 * blockIdx.x + 1] = rank;
}
extern "C" __global__ void meet(unsigned int *arrived, int *out)
{
    if (threadIdx.x == 0) {  // a barrier of all blocks, which takes that all of them run
        atomicAdd(arrived, 1);
        while (*(volatile unsigned int *)arrived < gridDim.x) { }
        out[blockIdx.x] = *(volatile unsigned int *)arrived;
    }
}
extern "C" __global__ void __launch_bounds__(64) small(int *out) { out[threadIdx.x] = threadIdx.x; }
"""


@pytest.fixture(scope="module")
def more():
    """The kernels above."""
    Device(0).set_current()
    return Program(SCALARS, "c++").compile("cubin")


class Pair(ctypes.Structure):
    _fields_ = [("first", ctypes.c_int), ("second", ctypes.c_double)]


def test_ever_new_types_of_arguments(device, stream, code) -> None:
    """What is written for types is kept for so many of them."""
    kernel, out = code.get_kernel("axpy"), device.allocate(128, stream=stream)
    for _ in range(MOST_KEPT + 10):
        one = type("Own", (ctypes.c_float,), {})(1)
        launch(stream, LaunchConfig(grid=1, block=1), kernel, one, out, out, 1)
        arguments(kernel, (one, out, out, 1))
    assert len(kernel._packers) <= MOST_KEPT
    stream.sync()


def test_kernels_of_many_names_leave_nothing(device, stream) -> None:
    ptx = Program('extern "C" __global__ void name_(int *x) { *x = 1; }', "c++").compile("ptx").code.decode()
    out, config = device.allocate(4, stream=stream), LaunchConfig(grid=1, block=1)
    kernels = []
    for i in range(20):
        kernel = ObjectCode.from_ptx(ptx.replace("name_", f"name_{i}").encode()).get_kernel(f"name_{i}")
        launch(stream, config, kernel, out)
        prepare(stream, config, kernel, out)(out)
        values = ((out.handle,), (ctypes.c_void_p,))
        driver.checked.cuLaunchKernel(int(kernel.handle), 1, 1, 1, 1, 1, 1, 0, stream.handle, values, 0)
        kernels.append(weakref.ref(kernel._launch))
    stream.sync()
    del kernel
    gc.collect()
    assert not any(written() for written in kernels)


EXPECTED = [-3, 1, -300, -70000, 2**40, 0.5, 0.25, 1, 2, 3, 4, 7, 0.125, 1]


@pytest.mark.parametrize(
    "values",
    [
        (-3, True, -300, -70000, 2**40, 0.5, 0.25, 1 + 2j, 3 + 4j, Pair(7, 0.125), None),
        (
            *(np.int8(-3), np.bool_(True), np.int16(-300), np.int32(-70000), np.int64(2**40)),
            *(np.float32(0.5), np.float64(0.25), np.complex64(1 + 2j), np.complex128(3 + 4j)),
            np.array([(7, 0.125)], np.dtype([("a", "i4"), ("b", "f8")], align=True))[0],
            0,
        ),
        (
            *(ctypes.c_int8(-3), ctypes.c_bool(True), ctypes.c_int16(-300), ctypes.c_int32(-70000)),
            *(ctypes.c_int64(2**40), ctypes.c_float(0.5), ctypes.c_double(0.25), 1 + 2j, 3 + 4j),
            *(Pair(7, 0.125), ctypes.c_void_p()),
        ),
    ],
    ids=["python", "numpy", "ctypes"],
)
def test_every_kind_of_argument(device, stream, more, values) -> None:
    kernel, config = more.get_kernel("scalars"), LaunchConfig(grid=1, block=1)
    out = device.allocate(8 * 14, stream)
    launch(stream, config, kernel, *values, out)
    assert content(out, np.float64, stream).tolist() == EXPECTED
    out.fill(0, stream=stream)
    prepare(stream, config, kernel, *values, out)(*values, out)
    assert content(out, np.float64, stream).tolist() == EXPECTED


def test_wrong_arguments_launch_nothing(device, stream, code) -> None:
    if driver.checked.cuDriverGetVersion() < 12040:
        pytest.skip("the driver cannot tell the parameters of a kernel before CUDA 12.4")
    x = device.allocate(64, stream)
    x.fill(1, stream=stream)
    kernel, config = code.get_kernel("axpy"), LaunchConfig(grid=1, block=16)
    for wrong, message in (
        ((1.0, x, x), "axpy takes 4 arguments, not 3"),
        ((np.float64(1), x, x, 16), "argument 0: float64 given, the kernel's parameter is a float"),
        ((1.0, np.zeros(16), x, 16), "argument 1: a NumPy array lies in host memory"),
    ):
        with pytest.raises(TypeError, match=message):
            launch(stream, config, kernel, *wrong)
    assert content(x, np.uint8, stream).tolist() == [1] * 64


def test_clusters_of_blocks(device, stream, more) -> None:
    if not device.properties.cluster_launch:
        pytest.skip("this device has no clusters")
    out = device.allocate(8 * 6, stream)
    launch(stream, LaunchConfig(grid=3, cluster=2, block=32), more.get_kernel("clusters"), out)
    assert content(out, np.int32, stream).tolist() == [2, 0, 2, 1] * 3
    with pytest.raises(CUDAError, match=r"A cluster of 64 blocks is too large: at most \d+"):
        launch(stream, LaunchConfig(grid=1, cluster=64, block=32), more.get_kernel("clusters"), out)


def test_cooperative_launches(device, stream, more) -> None:
    kernel = more.get_kernel("meet")
    block = device.properties.max_threads_per_multiprocessor // 2
    each = kernel.occupancy.max_active_blocks_per_multiprocessor(min(block, 1024))
    most = each * device.properties.multiprocessor_count
    arrived, out = device.allocate(4, stream), device.allocate(4 * most, stream)
    arrived.fill(0, stream=stream)
    config = LaunchConfig(grid=most, block=min(block, 1024), is_cooperative=True)
    launch(stream, config, kernel, arrived, out)
    assert content(out, np.int32, stream).tolist() == [most] * most
    config = LaunchConfig(grid=most + 1, block=min(block, 1024), cooperative_launch=True)
    with pytest.raises(CUDAError, match=f"the grid has {most + 1}, the device runs {most} ") as caught:
        launch(stream, config, kernel, arrived, out)
    assert caught.value.name == "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE"
    assert isinstance(caught.value, ValueError), "as in cuda.core"
    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again), str(again), again.code) == (type(caught.value), str(caught.value), caught.value.code)


def test_programmatic_serialization(device, stream, code) -> None:
    if device.compute_capability < (9, 0):
        pytest.skip("this device starts no kernel before the one ahead has ended")
    x = device.allocate(128, stream)
    x.fill(0, stream=stream)
    config = LaunchConfig(grid=1, block=32, programmatic_stream_serialization=True)
    for _ in range(10):
        launch(stream, config, code.get_kernel("add_one<int>"), x)
    assert content(x, np.int32, stream).tolist() == [10] * 32


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"block": 2048}, "A block of 2048 threads is too large: the device takes 1024"),
        (
            {"block": 128},
            r"A block of 128 threads is too large: with its \d+ registers .* this kernel takes 64",
        ),
        ({"block": 1, "grid": (1, 70000)}, r"grid = \(1, 70000, 1\) is too large: the device takes"),
        ({"block": 1, "shmem_size": 50000}, "set kernel.attributes.max_dynamic_shared_size_bytes = 50000"),
        ({"block": 1, "shmem_size": 10**7}, r"the device has at most \d+ for it"),
    ],
)
def test_a_launch_that_is_too_large_says_which_limit_it_met(device, stream, more, config, message) -> None:
    out = device.allocate(4 * 64, stream)
    with pytest.raises(CUDAError, match=message) as caught:
        launch(stream, LaunchConfig(**{"grid": 1, **config}), more.get_kernel("small"), out)
    assert caught.value.function == "cuLaunchKernelEx"
    launch(stream, LaunchConfig(grid=1, block=64), more.get_kernel("small"), out)
    assert content(out, np.int32, stream).tolist() == list(range(64))


@pytest.mark.parametrize("library", ["cupy", "torch"])
def test_streams_of_other_libraries(device, code, library, request) -> None:
    theirs = request.getfixturevalue(library).cuda.Stream()
    if not hasattr(theirs, "__cuda_stream__"):
        pytest.skip(f"the streams of this {library} have no __cuda_stream__")
    kernel, config = code.get_kernel("add_one<int>"), LaunchConfig(grid=1, block=32)
    x = device.allocate(128, theirs)
    x.fill(0, stream=theirs)
    for _ in range(3):
        launch(theirs, config, kernel, x)
    assert content(x, np.int32, device.create_stream(theirs)).tolist() == [3] * 32


def test_a_thread_that_has_no_context_is_told_what_to_do(device, stream, code) -> None:
    kernel, said = code.get_kernel("spin"), []

    def work():
        try:
            launch(stream, LaunchConfig(grid=1, block=1), kernel, 10)
            said.append("set_current()")  # a driver that does not mind
        except CUDAError as error:
            said.append(str(error))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert "set_current()" in said[0]


def test_a_stream_of_a_context_that_is_not_current(device, code) -> None:
    """It works, or the error says what to do."""
    x = device.allocate(128)
    x.fill(0)
    stream, kernel = device.create_stream(), code.get_kernel("add_one<int>")
    device.sync()
    other = driver.checked.cuCtxCreate(None, 0, 0)
    try:
        launch(stream, LaunchConfig(grid=1, block=32), kernel, x)
        stream.sync()  # before the context goes, in which the kernel's code may be
        done = 1
    except CUDAError as error:
        assert "set_current()" in str(error) and error.function == "cuLaunchKernelEx"
        done = 0
    finally:
        driver.checked.cuCtxDestroy(other)
        device.set_current()
    assert content(x, np.int32, stream).tolist() == [done] * 32


SCALE = """
template <typename T> __global__ void scale_of(T *x, T a, int n) { if (threadIdx.x < n) x[threadIdx.x] *= a; }
extern "C" __global__ void scale(float *x, float a, int n) { if (threadIdx.x < n) x[threadIdx.x] *= a; }
extern "C" __global__ void scale_double(double *x, double a, int n) { x[threadIdx.x] *= a; }
"""
NAMES = {
    "scale_of<float>": np.float32,
    "scale": np.float32,
    "scale_double": np.float64,
    "scale_of<int>": np.int32,
}


def _scaling(target):
    return Program(SCALE, "c++").compile(target, name_expressions=[name for name in NAMES if "<" in name])


def _linked():
    code = _scaling("ptx")
    try:
        with Linker(code) as linker:
            return linker.link("cubin")
    except pathfinder.LibraryNotFound as error:
        pytest.skip(str(error).splitlines()[0])


def _from_a_cache():
    source, cache = Program(SCALE, "c++"), InMemoryProgramCache()
    source.compile("cubin", cache=cache)
    return source.compile("cubin", cache=cache)


ORIGINS = {
    "cubin": lambda: _scaling("cubin"),
    "ptx": lambda: _scaling("ptx"),
    "pickled": lambda: pickle.loads(pickle.dumps(_scaling("cubin"))),
    "from_cubin": lambda: ObjectCode.from_cubin(_scaling("cubin").code),
    "linked": _linked,
    "cached": _from_a_cache,
}


@pytest.mark.parametrize("origin", ORIGINS)
def test_an_int_for_a_float_is_its_value(device, stream, origin) -> None:
    made, config = ORIGINS[origin](), LaunchConfig(grid=1, block=8)
    for name, dtype in NAMES.items():
        if name not in made.symbol_mapping and "<" in name:
            continue  # bytes alone have no names
        kernel, x = made.get_kernel(name), device.allocate(8 * np.dtype(dtype).itemsize, stream)
        run = prepare(stream, config, kernel, x, 2, 8)
        graph = GraphDefinition()
        graph.launch(config, kernel, x, 2, 8)
        ready = graph.instantiate()
        for call in (
            lambda kernel=kernel, x=x: launch(stream, config, kernel, x, 2, 8),
            lambda run=run, x=x: run(x, 2, 8),
            lambda ready=ready: ready.launch(stream),
        ):
            x.copy_from(np.arange(8, dtype=dtype), stream=stream)
            call()
            assert content(x, dtype, stream).tolist() == list(range(0, 16, 2)), name
        launch(stream, config, kernel, x, True, 8)
        assert content(x, dtype, stream).tolist() == list(range(0, 16, 2)), name


def test_a_value_of_another_kind_launches_nothing(device, stream) -> None:
    kernel, config = _scaling("cubin").get_kernel("scale"), LaunchConfig(grid=1, block=8)
    x = device.allocate(32, stream)
    x.copy_from(np.arange(8, dtype=np.float32), stream=stream)
    for wrong, message in (
        ((x, 2.0, 8.0), "scale: argument 2: float given, the kernel's parameter is an integer of 4 bytes"),
        ((x, np.int32(2), 8), "scale: argument 1: int32 given, the kernel's parameter is a float"),
        ((1.5, 2.0, 8), "scale: argument 0: float given, .* is an integer of 8 bytes or a pointer"),
    ):
        with pytest.raises(TypeError, match=message):
            launch(stream, config, kernel, *wrong)
        with pytest.raises(TypeError, match=message):
            prepare(stream, config, kernel, *wrong)
        with pytest.raises(TypeError, match=message):
            GraphDefinition().launch(config, kernel, *wrong)
    assert content(x, np.float32, stream).tolist() == list(range(8))
