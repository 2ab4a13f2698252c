"""prepare: launches in a loop, as runs of a graph of one kernel."""

from __future__ import annotations

import gc
import os
import threading
from functools import partial

import numpy as np
import pytest

from cudapy import driver
from cudapy.core import (
    LEGACY_DEFAULT_STREAM,
    PER_THREAD_DEFAULT_STREAM,
    CUDAError,
    LaunchConfig,
    Program,
    Stream,
    StreamOptions,
    launch,
    prepare,
)
from cudapy.driver import CUgraphNodeType, CUresult, CUstreamCaptureMode, CUstreamCaptureStatus

from .core_kernels import content, run, spin
from .kernels import needs_driver

pytestmark = pytest.mark.gpu

ONE = LaunchConfig(grid=1, block=1)
ROW = LaunchConfig(grid=1, block=32)
KERNEL_NODE = CUgraphNodeType.CU_GRAPH_NODE_TYPE_KERNEL


class Calls(list):  # type: ignore[type-arg]
    """The launches that arrive at the driver, by the function."""

    def function(self, name):
        found = driver.libcuda.symbol(name)

        def call(*args):
            self.append(name)
            return found(*args)

        return call


@pytest.fixture
def calls(monkeypatch):
    seen = Calls()
    functions = {name: seen.function(name) for name in ("cuLaunchKernelEx", "cuGraphLaunch")}
    function = driver.libcuda.function
    monkeypatch.delenv("CUDA_LAUNCH_BLOCKING", raising=False)
    monkeypatch.setattr(driver.libcuda, "function", lambda name: functions.get(name) or function(name))
    return seen


@pytest.fixture(scope="module")
def kernels():
    """Code: a test gets kernels of its own from it, of which no launch was written before `calls` looked."""
    code = """
    extern "C" __global__ void put(int *x, int i, int v) { x[i] = v; }
    extern "C" __global__ void next(int *x) { x[1] = x[0] + 1; }
    extern "C" __global__ void nothing() { }
    extern "C" __global__ void where(unsigned *x) { asm("mov.u32 %0, %%smid;" : "=r"(x[blockIdx.x])); }
    extern "C" __global__ void ids(unsigned *x) {
        unsigned rank;
        asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
        x[blockIdx.x] = rank;
    }
    """
    return Program(code, "c++").compile("cubin")


def test_a_prepared_launch(device, stream, code) -> None:
    x, y = device.allocate(128, stream), device.allocate(128, stream)
    x.copy_from(np.arange(32, dtype=np.float32), stream=stream)
    y.fill(0, stream=stream)
    run = prepare(stream, ROW, code.get_kernel("axpy"), 1.0, x, y, 32)
    assert content(y, np.float32, stream).tolist() == [0] * 32, "prepare launches nothing"
    for a in (1.0, 2.0, np.float32(3)):
        run(a, x, y, 32)
    assert content(y, np.float32, stream).tolist() == [6.0 * i for i in range(32)]
    with pytest.raises(TypeError, match="argument 3"):
        run(1.0, x, y, "32")


def test_a_prepared_launch_keeps_what_it_needs(device) -> None:
    stream = device.create_stream()
    code = Program('extern "C" __global__ void set(int *x, int v) { *x = v; }', "c++").compile("cubin")
    x = device.allocate(4, stream)
    run = prepare(stream, ONE, code.get_kernel("set"), x, 1)
    del stream, code
    gc.collect()
    run(x, 77)
    device.sync()
    assert content(x, np.int32, device.create_stream()).tolist() == [77]


def test_it_is_a_run_of_a_graph(device, stream, kernels, calls) -> None:
    """Each with arguments of its own, though none has begun when the last one is queued."""
    x = device.allocate(4 * 300, stream)
    x.fill(0, stream=stream)
    put = prepare(stream, ONE, kernels.get_kernel("put"), x, 0, 0)
    nothing = prepare(stream, ONE, kernels.get_kernel("nothing"))
    for i in range(300):
        put(x, i, i + 1)
    nothing()
    assert calls == ["cuGraphLaunch"] * 301
    assert content(x, np.int32, stream).tolist() == list(range(1, 301))
    with pytest.raises(TypeError):
        nothing(1)


@pytest.mark.parametrize("prepared_for", [None, LEGACY_DEFAULT_STREAM, 0])
def test_the_default_stream_waits_and_is_waited_for(device, kernels, code, calls, prepared_for) -> None:
    class Zero:
        def __cuda_stream__(self):
            return 0, 0

    where = Zero() if prepared_for == 0 else prepared_for
    blocking = device.create_stream(options=StreamOptions(nonblocking=False))
    x = device.allocate(8, blocking)
    x.fill(0, stream=blocking)
    spin(code, blocking, 20)
    launch(blocking, ONE, kernels.get_kernel("put"), x, 0, 5)
    put = prepare(where, ONE, kernels.get_kernel("next"), x)
    after = prepare(blocking, ONE, kernels.get_kernel("put"), x, 0, 0)
    calls.clear()
    put(x)
    after(x, 0, 7)
    assert calls == ["cuGraphLaunch"] * 2
    assert content(x, np.int32, blocking).tolist() == [7, 6]


def test_a_default_stream_of_another_context(device, kernels, calls) -> None:
    """It is that of the context which is current when the launch is made, as with `launch`."""
    x = driver.checked.cuMemAlloc(8)
    put = prepare(LEGACY_DEFAULT_STREAM, ONE, kernels.get_kernel("put"), x, 0, 0)
    other = driver.checked.cuCtxCreate(None, 0, 0)
    try:
        y = driver.checked.cuMemAlloc(8)
        put(y, 1, 9)
        driver.checked.cuCtxSynchronize()
        found = np.zeros(2, np.int32)
        driver.checked.cuMemcpyDtoH(found, y, 8)
        driver.checked.cuMemFree(y)
        assert found[1] == 9
    finally:
        driver.checked.cuCtxDestroy(other)
        device.set_current()
        driver.checked.cuMemFree(x)
    assert calls == ["cuLaunchKernelEx"]


def test_each_threads_own_stream_has_no_graph(device, kernels, calls) -> None:
    x = device.allocate(8, PER_THREAD_DEFAULT_STREAM)
    put = prepare(PER_THREAD_DEFAULT_STREAM, ONE, kernels.get_kernel("put"), x, 0, 0)
    put(x, 1, 3)
    assert content(x, np.int32, PER_THREAD_DEFAULT_STREAM)[1] == 3
    assert calls == ["cuLaunchKernelEx"]


def test_a_green_context_keeps_to_its_multiprocessors(device, kernels, calls) -> None:
    needs_driver(12, 5)
    resource = driver.CUdevResourceType.CU_DEV_RESOURCE_TYPE_SM
    everything = driver.checked.cuDeviceGetDevResource(int(device), resource)
    few = min(16, everything.sm.smCount // 2)
    (part,), *_ = driver.checked.cuDevSmResourceSplitByCount(1, everything, 0, few)
    description = driver.checked.cuDevResourceGenerateDesc([part], 1)
    flags = driver.CUgreenCtxCreate_flags.CU_GREEN_CTX_DEFAULT_STREAM
    green = driver.checked.cuGreenCtxCreate(description, int(device), flags)
    handle = driver.checked.cuGreenCtxStreamCreate(green, 1, 0)
    where = Stream.from_handle(handle), LaunchConfig(grid=1024, block=32), kernels.get_kernel("where")
    used = []
    x = device.allocate(4 * 1024, where[0])
    for start in (prepare(*where, x), partial(launch, *where)):
        start(x)
        used.append(len(set(content(x, np.uint32, where[0]).tolist())))
    x.close()
    device.sync()
    driver.checked.cuStreamDestroy(handle)
    driver.checked.cuGreenCtxDestroy(green)
    assert 0 < max(used) <= part.sm.smCount
    assert calls == ["cuGraphLaunch", "cuLaunchKernelEx"]


@pytest.mark.parametrize("mode", list(CUstreamCaptureMode), ids=lambda mode: mode.name.split("_")[-1].lower())
def test_in_a_capture(device, stream, kernels, mode) -> None:
    """Kernels are recorded in the stream that captures; others go on as ever; the capture survives both."""
    ready = device.create_stream()
    x, y = device.allocate(8, stream), device.allocate(8, ready)
    x.fill(0, stream=stream)
    y.fill(0, stream=ready)
    device.sync()
    kernel = kernels.get_kernel("put")
    put, elsewhere = prepare(stream, ONE, kernel, x, 0, 0), prepare(ready, ONE, kernel, y, 0, 0)
    put(x, 0, 1)
    device.sync()
    driver.checked.cuStreamBeginCapture(stream.handle, mode)
    put(x, 0, 10)
    elsewhere(y, 0, 20)
    made_meanwhile = prepare(ready, ONE, kernel, y, 0, 0)
    made_meanwhile(y, 1, 30)
    del made_meanwhile, elsewhere
    gc.collect()
    capturing = driver.checked.cuStreamIsCapturing(stream.handle)
    graph = driver.checked.cuStreamEndCapture(stream.handle)
    try:
        assert capturing == CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_ACTIVE
        nodes, count = driver.checked.cuGraphGetNodes(graph)
        nodes, count = driver.checked.cuGraphGetNodes(graph, count)
        assert [driver.checked.cuGraphNodeGetType(node) for node in nodes[:count]] == [KERNEL_NODE]
        assert content(x, np.int32, stream)[0] == 1
        assert content(y, np.int32, ready).tolist() == [20, 30]
        executable = driver.checked.cuGraphInstantiate(graph, 0)
        driver.checked.cuGraphLaunch(executable, stream.handle)
        assert content(x, np.int32, stream)[0] == 10
        driver.checked.cuGraphExecDestroy(executable)
    finally:
        driver.checked.cuGraphDestroy(graph)


def test_clusters_and_blocks_that_wait_for_each_other(device, stream, kernels, calls) -> None:
    if device.compute_capability < (9, 0):
        pytest.skip("clusters need compute capability 9.0")
    x = device.allocate(16, stream)
    for config, expected in (
        (LaunchConfig(grid=2, cluster=2, block=1), [0, 1, 0, 1]),
        (LaunchConfig(grid=4, block=1, is_cooperative=True), [0, 0, 0, 0]),
    ):
        x.fill(9, stream=stream)
        prepare(stream, config, kernels.get_kernel("ids"), x)(x)
        assert content(x, np.uint32, stream).tolist() == expected
    assert calls == ["cuGraphLaunch"] * 2


def test_what_cannot_run_says_so_when_it_is_to(device, stream, code) -> None:
    """And runs as soon as it can."""
    kernel = code.get_kernel("shared")
    x = device.allocate(4 * 64, stream)
    large = 64 << 10
    run = prepare(stream, LaunchConfig(grid=1, block=64, shmem_size=large), kernel, x)
    kernel.attributes.max_dynamic_shared_size_bytes = 0
    with pytest.raises(CUDAError, match="max_dynamic_shared_size_bytes = 65536") as caught:
        run(x)
    assert caught.value.function == "cuLaunchKernelEx"
    kernel.attributes.max_dynamic_shared_size_bytes = large
    run(x)
    assert content(x, np.int32, stream).tolist() == list(range(63, -1, -1))


def test_threads_without_a_context(device, stream, kernels) -> None:
    """The driver looks at the current one when arguments are set, unless they name theirs."""
    x = device.allocate(4 * 64, stream)
    x.fill(0, stream=stream)
    put, failed = prepare(stream, ONE, kernels.get_kernel("put"), x, 0, 0), []

    def work(number):
        try:
            for i in range(8):
                put(x, 8 * number + i, 100 * number + i)
        except CUDAError as error:
            failed.append(str(error))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        assert all("set_current()" in said for said in failed), "a driver that minds says what to do"
    else:
        expected = [100 * number + i for number in range(8) for i in range(8)]
        assert content(x, np.int32, stream).tolist() == expected


def test_dropped_while_it_runs(device, stream, code) -> None:
    x = device.allocate(4, stream)
    source = 'extern "C" __global__ void set(int *x, int v) { *x = v; }'
    spin(code, stream, 20)
    run = prepare(stream, ONE, Program(source, "c++").compile("cubin").get_kernel("set"), x, 1)
    run(x, 55)
    cycle = [run]
    cycle.append(cycle)
    del run, cycle
    gc.collect()
    assert content(x, np.int32, stream).tolist() == [55]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_in_a_forked_child_it_is_an_error() -> None:
    process = run(
        "import gc, os, sys\n"
        "kernel = Program('extern \"C\" __global__ void set(int *x) { *x = 1; }', 'c++')"
        ".compile('cubin').get_kernel('set')\n"
        "b = dev.allocate(64, s); step = prepare(s, LaunchConfig(grid=1, block=1), kernel, b)\n"
        "step(b)\n"
        "if not os.fork():\n"
        "    try: step(b)\n"
        "    except CUDAError as error: print(error.name)\n"
        "    del step; gc.collect(); sys.stdout.flush(); os._exit(0)\n"
        "os.wait(); step(b); s.sync(); print('parent goes on')\n"
    )
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert out == "CUDA_ERROR_NOT_INITIALIZED\nparent goes on\n"


def test_after_a_fault_it_is_an_error() -> None:
    process = run(
        "kernel = Program('extern \"C\" __global__ void set(int *x) { *x = 1; }', 'c++')"
        ".compile('cubin').get_kernel('set')\n"
        "b = dev.allocate(64, s); step = prepare(s, LaunchConfig(grid=1, block=1), kernel, b)\n"
        "step(b); s.sync()\n"
        "step(0xdead0000)\n"
        "try: s.sync()\n"
        "except CUDAError as error: print(error.name)\n"
        "try: step(b)\n"
        "except CUDAError as error: print(error.name)\n"
    )
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    fault = CUresult.CUDA_ERROR_ILLEGAL_ADDRESS.name
    assert out == f"{fault}\n{fault}\n"
