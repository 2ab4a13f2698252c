"""The Runtime API beside the driver API: the same memory, streams, events and kernels; peers; threads."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

from cudapy import driver
from cudapy import runtime as rt
from cudapy.runtime import (
    cudaDeviceAttr,
    cudaDeviceP2PAttr,
    cudaDevResourceType,
    cudaError_t,
    cudaExternalMemoryHandleDesc,
    cudaExternalMemoryHandleType,
    cudaMemcpyKind,
)

from . import kernels
from .kernels import DEVICE, cubin, held, needs_driver, ok, owned, run_python
from .runtime_kernels import (
    FILL_TYPES,
    attribute,
    event,
    kernel,
    launch,
    library,
    memory,
    needs_function,
    read,
    stream,
    write,
)
from .runtime_kernels import device as device

pytestmark = pytest.mark.gpu

Kind = cudaMemcpyKind


class TestMemory:
    def test_of_the_runtime_in_the_driver(self) -> None:
        data, back = np.arange(16, dtype=np.int32), np.zeros(16, np.int32)
        with memory(64) as pointer:
            ok(driver.cuMemcpyHtoD(pointer, data, 64))
            ok(driver.cuMemsetD32(pointer, 7, 2))
            ok(driver.cuMemcpyDtoH(back, pointer, 64))
            assert back.tolist() == [7, 7, *range(2, 16)] == read(pointer, 16)
            assert ok(driver.cuMemGetAddressRange(pointer))[0] == pointer

    def test_of_the_driver_in_the_runtime(self) -> None:
        with kernels.memory(64) as pointer:
            assert isinstance(pointer, driver.CUdeviceptr)
            data, back = np.arange(16, dtype=np.int32), np.zeros(16, np.int32)
            ok(rt.cudaMemcpy(pointer, data, 64, Kind.cudaMemcpyHostToDevice))
            ok(rt.cudaMemset(pointer, 1, 8))
            ok(rt.cudaMemcpy(back, pointer, 64, Kind.cudaMemcpyDefault))
            assert back.tolist() == [0x01010101, 0x01010101, *range(2, 16)] == kernels.read(pointer, 16)
            assert ok(rt.cudaPointerGetAttributes(pointer)).devicePointer == pointer

    def test_allocated_by_one_and_freed_by_the_other(self) -> None:
        ok(driver.cuMemFree(ok(rt.cudaMalloc(64))))
        assert rt.cudaFree(ok(driver.cuMemAlloc(64))) == (cudaError_t.cudaSuccess,)

    def test_a_pool(self) -> None:
        pool = ok(rt.cudaDeviceGetDefaultMemPool(DEVICE))
        with stream() as queue:
            pointer = ok(driver.cuMemAllocFromPoolAsync(64, pool, queue))
            ok(rt.cudaFreeAsync(pointer, queue))
            assert rt.cudaStreamSynchronize(queue) == (cudaError_t.cudaSuccess,)


class TestHandles:
    def test_streams_and_events_of_the_driver(self) -> None:
        with kernels.stream() as queue, kernels.event() as start, kernels.event() as end, memory(64) as p:
            ok(rt.cudaEventRecord(start, queue))
            ok(rt.cudaMemsetAsync(p, 1, 64, queue))
            ok(rt.cudaEventRecord(end, queue))
            ok(rt.cudaStreamSynchronize(queue))
            assert ok(rt.cudaEventElapsedTime(start, end)) >= 0
            assert ok(rt.cudaStreamGetFlags(queue)) == rt.cudaStreamNonBlocking
            assert read(p, 1) == [0x01010101]

    def test_streams_and_events_of_the_runtime(self) -> None:
        with stream() as queue, event(rt.cudaEventDisableTiming) as done:
            with held(queue):
                ok(driver.cuEventRecord(done, queue))
                assert driver.cuEventQuery(done)[0] == driver.CUresult.CUDA_ERROR_NOT_READY
                assert rt.cudaEventQuery(done)[0] == cudaError_t.cudaErrorNotReady
            assert driver.cuStreamQuery(queue)[0] == driver.CUresult.CUDA_SUCCESS
            assert ok(driver.cuStreamGetCtx(queue)) == ok(driver.cuCtxGetCurrent())

    def test_a_graph_of_the_driver(self) -> None:
        with owned(driver.cuGraphCreate(0), driver.cuGraphDestroy) as graph, stream() as queue:
            ok(rt.cudaGraphAddEmptyNode(graph, None, 0))
            assert ok(rt.cudaGraphGetNodes(graph, 1))[1] == ok(driver.cuGraphGetNodes(graph))[1] == 1
            with owned(driver.cuGraphInstantiate(graph, 0), rt.cudaGraphExecDestroy) as executable:
                ok(rt.cudaGraphLaunch(executable, queue))
                ok(rt.cudaStreamSynchronize(queue))


LAUNCH_A_FUNCTION = """
import ctypes
import sys
from cudapy import driver, runtime as rt

pointer = rt.checked.cudaMalloc(16)
module = driver.checked.cuModuleLoad(sys.argv[1].encode())
function = driver.checked.cuModuleGetFunction(module, b"fill")
arguments = ((pointer, 6, 4), (ctypes.c_void_p, ctypes.c_int, ctypes.c_int))
rt.checked.cudaLaunchKernel(function, 1, 4, arguments, 0, 0)
data = (ctypes.c_int * 4)()
rt.checked.cudaMemcpy(data, pointer, 16, rt.cudaMemcpyKind.cudaMemcpyDeviceToHost)
print(list(data))
"""


class TestKernels:
    def test_one_launched_through_both(self) -> None:
        x, y = np.arange(32, dtype=np.float32), np.full(32, 0.5, np.float32)
        types = (ctypes.c_float, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)
        axpy = kernel("axpy")
        results = []
        for api in ("runtime", "driver", "function"):
            with memory(128) as xs, memory(128) as ys, stream() as queue:
                write(xs, x, np.float32)
                write(ys, y, np.float32)
                values = (1.5, xs, ys, 32)
                if api == "runtime":
                    launch(axpy, 32, values, types, queue)
                else:
                    func: Any = axpy if api == "driver" else ok(driver.cuKernelGetFunction(axpy))
                    ok(driver.cuLaunchKernel(func, 1, 1, 1, 32, 1, 1, 0, queue, (values, types), 0))
                results.append(read(ys, 32, np.float32))
        assert results[0] == results[1] == results[2] == (y + np.float32(1.5) * x).tolist()

    def test_a_function_of_the_driver_launched_by_the_runtime(self, tmp_path: Any) -> None:
        path = tmp_path / "code.cubin"
        path.write_bytes(cubin())
        done = run_python(LAUNCH_A_FUNCTION, str(path))
        assert done.returncode == 0, done.stderr
        assert done.stdout.strip() == "[6, 6, 6, 6]"

    def test_libraries_are_the_same(self) -> None:
        code = library()
        assert ok(driver.cuLibraryGetKernel(code, b"fill")) == ok(rt.cudaLibraryGetKernel(code, b"fill"))
        loaded = driver.cuLibraryLoadData(cubin(), None, None, 0, None, None, 0)
        with owned(loaded, driver.cuLibraryUnload) as other, memory(16) as pointer:
            launch(ok(rt.cudaLibraryGetKernel(other, b"fill")), 4, (pointer, 5, 4), FILL_TYPES)
            assert read(pointer, 4) == [5] * 4


class TestPeers:
    def test_no_peer_of_itself(self) -> None:
        refused = (cudaError_t.cudaErrorInvalidDevice, cudaError_t.cudaErrorPeerAccessUnsupported)
        assert rt.cudaDeviceEnablePeerAccess(DEVICE, 0)[0] in refused
        assert rt.cudaDeviceCanAccessPeer(DEVICE, 4096) == (cudaError_t.cudaErrorInvalidDevice, None)

    def test_copies_and_access(self) -> None:
        if ok(rt.cudaGetDeviceCount()) < 2:
            pytest.skip("there is one GPU")
        if not ok(rt.cudaDeviceCanAccessPeer(0, 1)):
            pytest.skip("GPU 0 cannot reach the memory of GPU 1")
        supported = cudaDeviceP2PAttr.cudaDevP2PAttrAccessSupported
        assert ok(rt.cudaDeviceGetP2PAttribute(supported, 0, 1)) == 1
        twice = (cudaError_t.cudaErrorPeerAccessAlreadyEnabled,)
        try:
            ok(rt.cudaSetDevice(1))
            there = ok(rt.cudaMalloc(64))
            ok(rt.cudaMemset(there, 1, 64))
            ok(rt.cudaDeviceSynchronize())
            ok(rt.cudaSetDevice(DEVICE))
            ok(rt.cudaDeviceEnablePeerAccess(1, 0))
            assert rt.cudaDeviceEnablePeerAccess(1, 0) == twice
            with memory(64) as here:
                ok(rt.cudaMemcpyPeer(here, 0, there, 1, 64))
                assert read(here, 16) == [0x01010101] * 16
            launch(kernel("fill"), 16, (there, 4, 16), FILL_TYPES)
            assert read(there, 16) == [4] * 16
            ok(rt.cudaDeviceDisablePeerAccess(1))
            ok(rt.cudaFree(there))
        finally:
            ok(rt.cudaSetDevice(DEVICE))


def test_external_memory_needs_a_handle() -> None:
    desc = cudaExternalMemoryHandleDesc(size=4096)
    desc.type = cudaExternalMemoryHandleType.cudaExternalMemoryHandleTypeOpaqueFd
    desc.handle.fd = -1
    status, handle = rt.cudaImportExternalMemory(desc)
    assert status != cudaError_t.cudaSuccess and handle is None


THREADS = """
import threading
from cudapy import runtime as rt

rt.checked.cudaFree(0)
default = rt.checked.cudaStreamGetId(0)
print(default == rt.checked.cudaStreamGetId(rt.cudaStreamLegacy))
print(default == rt.checked.cudaStreamGetId(rt.cudaStreamPerThread))
ids = [default]
thread = threading.Thread(target=lambda: ids.append(rt.checked.cudaStreamGetId(0)))
thread.start()
thread.join()
print(len(set(ids)))
mode = rt.cudaStreamCaptureMode.cudaStreamCaptureModeRelaxed
print(rt.cudaStreamBeginCapture(0, mode)[0].name)
"""


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("0", ["True", "False", "1", "cudaErrorStreamCaptureUnsupported"]),
        ("1", ["False", "True", "2", "cudaSuccess"]),
    ],
)
def test_the_default_stream_of_a_thread(
    setting: str, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM", setting)
    done = run_python(THREADS)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == expected


def test_a_part_of_the_device() -> None:
    """A green context as an execution context of the runtime."""
    needs_function("cudaGreenCtxCreate")
    needs_driver(13, 1)
    kind = cudaDevResourceType.cudaDevResourceTypeSm
    whole = ok(rt.cudaDeviceGetDevResource(DEVICE, kind))
    assert whole.sm.smCount == attribute(cudaDeviceAttr.cudaDevAttrMultiProcessorCount)
    parts, count, rest = ok(rt.cudaDevSmResourceSplitByCount(1, whole, 0, 16))
    assert count == 1 and parts[0].sm.smCount >= 16
    assert parts[0].sm.smCount + rest.sm.smCount <= whole.sm.smCount
    desc = ok(rt.cudaDevResourceGenerateDesc(parts, 1))
    with owned(rt.cudaGreenCtxCreate(desc, DEVICE, 0), rt.cudaExecutionCtxDestroy) as part:
        queue = ok(rt.cudaExecutionCtxStreamCreate(part, rt.cudaStreamNonBlocking, 0))
        with memory(64) as pointer:
            launch(kernel("fill"), 16, (pointer, 3, 16), FILL_TYPES, queue)
            ok(rt.cudaStreamSynchronize(queue))
            assert read(pointer, 16) == [3] * 16
        assert ok(rt.cudaStreamGetDevResource(queue, kind)).sm.smCount == parts[0].sm.smCount
        ok(rt.cudaStreamDestroy(queue))
