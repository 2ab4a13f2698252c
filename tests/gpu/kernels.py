"""What the GPU tests share: kernels compiled once, a current context, work that waits, and `ok`."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cudapy import driver, nvrtc, simulator
from cudapy.driver import CUdevice_attribute, CUmemLocation, CUmemLocationType
from tests import warm

DEVICE = 0
HOST_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
REPOSITORY = Path(__file__).parents[2]

SOURCE = r"""
struct Pair { int first; double second; };

__device__ int counter = 5;
__constant__ float table[4] = {1, 2, 3, 4};

extern "C" __global__ void bump() { atomicAdd(&counter, 1); }

extern "C" __global__ void fill(int *out, int value, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = value;
}

extern "C" __global__ void add(int *out, int value)
{
    atomicAdd(out + blockIdx.x * blockDim.x + threadIdx.x, value);
}

extern "C" __global__ void axpy(float a, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}

extern "C" __global__ void scalars(
    signed char a, short b, long long c, float d, double e, bool f, double *out)
{
    double values[] = {(double)a, (double)b, (double)c, (double)d, e, (double)f};
    for (int i = 0; i < 6; i++) out[i] = values[i];
}

extern "C" __global__ void sum_pair(Pair pair, int scale, double *out)
{
    *out = scale * (pair.first + pair.second);
}

extern "C" __global__ void spin(long long nanoseconds)
{
    long long start, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)); while (now - start < nanoseconds);
}

extern "C" __global__ void shared_sum(int *out)  // of the dynamic shared memory, a word for each thread
{
    extern __shared__ int words[];
    words[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
        int sum = 0;
        for (int i = 0; i < blockDim.x; i++) sum += words[i];
        out[blockIdx.x] = sum;
    }
}

extern "C" __global__ void meet(int *arrived, int *out)  // every block waits for all others
{
    if (threadIdx.x == 0) {
        atomicAdd(arrived, 1);
        while (atomicAdd(arrived, 0) < (int)gridDim.x);
        out[blockIdx.x] = atomicAdd(arrived, 0);
    }
}

extern "C" __global__ void where(unsigned *out)  // the multiprocessor of each block
{
    unsigned sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    if (threadIdx.x == 0) out[blockIdx.x] = sm;
}
"""
"""One unit for everything that does not test compiling, loading or linking itself."""

KERNELS = ("bump", "fill", "add", "axpy", "scalars", "sum_pair", "spin", "shared_sum", "meet", "where")


def ok(result: tuple[Any, ...]) -> Any:
    """The results of a driver call that succeeded: nothing, one value, or a tuple."""
    status, *values = result
    assert status == 0, f"{status!r}"
    return values[0] if len(values) == 1 else tuple(values) or None


def compiled(source: str, *options: str, arch: str = "") -> nvrtc.nvrtcProgram:
    """An NVRTC program, compiled for `arch`, or else for the device."""
    flags = [
        f"--gpu-architecture={arch or architecture()}".encode(),
        *(option.encode() for option in options),
    ]
    program = ok(nvrtc.nvrtcCreateProgram(source.encode(), b"test.cu", 0, None, None))
    (status,) = nvrtc.nvrtcCompileProgram(program, len(flags), flags)
    log = ok(nvrtc.nvrtcGetProgramLog(program, ok(nvrtc.nvrtcGetProgramLogSize(program))))
    assert status == 0, log.decode()
    return program


@functools.cache
def cubin(source: str = SOURCE, *options: str, arch: str = "") -> bytes:
    """Machine code for the device."""
    program = compiled(source, *options, arch=arch)
    code: bytes = ok(nvrtc.nvrtcGetCUBIN(program, ok(nvrtc.nvrtcGetCUBINSize(program))))
    ok(nvrtc.nvrtcDestroyProgram(program))
    return code


@functools.cache
def ptx(source: str = SOURCE, *options: str, arch: str = "") -> bytes:
    """PTX for the device, its NUL included."""
    program = compiled(source, *options, arch=arch)
    code: bytes = ok(nvrtc.nvrtcGetPTX(program, ok(nvrtc.nvrtcGetPTXSize(program))))
    ok(nvrtc.nvrtcDestroyProgram(program))
    return code


@functools.cache
def architecture() -> str:
    """The target of NVRTC that the device is, such as sm_90."""
    major, minor = compute_capability()
    return f"sm_{major}{minor}"


def compute_capability() -> tuple[int, int]:
    """Of the device."""
    return (
        attribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
        attribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
    )


@functools.cache
def attribute(name: CUdevice_attribute) -> int:
    """A property of the device; 0 where the driver does not know it."""
    ok(driver.cuInit(0))
    return driver.cuDeviceGetAttribute(name, DEVICE)[1] or 0


def module(source: str = SOURCE) -> driver.CUmodule:
    """`source`, compiled and loaded in the primary context, for good."""
    return _loaded(source)


@functools.cache
def _loaded(source: str) -> driver.CUmodule:
    return ok(driver.cuModuleLoadData(cubin(source)))


def function(name: str, source: str = SOURCE) -> driver.CUfunction:
    """A kernel of `source`, in the primary context."""
    return ok(driver.cuModuleGetFunction(module(source), name.encode()))


@functools.cache
def primary_context() -> driver.CUcontext:
    """The primary context of the device, retained as long as the tests run."""
    ok(driver.cuInit(0))
    return ok(driver.cuDevicePrimaryCtxRetain(DEVICE))


@contextlib.contextmanager
def current() -> Iterator[driver.CUcontext]:
    """The primary context is current in here, which leaves the thread's stack as it found it."""
    context = primary_context()
    ok(driver.cuCtxPushCurrent(context))
    yield context
    ok(driver.cuCtxSynchronize())
    assert ok(driver.cuCtxPopCurrent()) == context, "the test left another context on the stack"


@pytest.fixture(autouse=True)
def context() -> Iterator[driver.CUcontext]:
    """The primary context is current during a test."""
    with current() as context:
        yield context


@contextlib.contextmanager
def no_context() -> Iterator[None]:
    """No context is current in here: the thread's stack of them is empty."""
    popped = []
    while int(ok(driver.cuCtxGetCurrent())):
        popped.append(ok(driver.cuCtxPopCurrent()))
    try:
        yield
    finally:
        for context in reversed(popped):
            ok(driver.cuCtxPushCurrent(context))


# -- What a test needs ---------------------------------------------------------------------------------------


def needs(name: CUdevice_attribute) -> int:
    """Skip the test unless the device has this property; its value."""
    value = attribute(name)
    if not value:
        pytest.skip(f"{name.name} is 0")
    return value


def needs_driver(major: int, minor: int) -> None:
    """Skip the test on a driver of an older CUDA version."""
    version = ok(driver.cuDriverGetVersion())
    if version < 1000 * major + 10 * minor:
        pytest.skip(
            f"needs a driver of CUDA {major}.{minor}, this one has {version // 1000}.{version % 1000 // 10}"
        )


def needs_capability(major: int) -> None:
    """Skip the test on an older GPU."""
    if compute_capability()[0] < major:
        pytest.skip(f"needs compute capability {major}.0, this GPU is {architecture()}")


def needs_no_sanitizer(does: str = "provokes a fault") -> None:
    """Skip a test under compute-sanitizer, whose business faults are, and memory that is not freed."""
    injected = os.environ.get("CUDA_INJECTION64_PATH", "") + os.environ.get("LD_PRELOAD", "")
    if "sanitizer" in injected or any(name.startswith("NV_SANITIZER") for name in os.environ):
        pytest.skip(f"{does} on purpose, which compute-sanitizer would report")


# -- Handles, memory, waiting --------------------------------------------------------------------------------


@contextlib.contextmanager
def owned(result: tuple[Any, ...], destroy: Callable[[Any], tuple[Any, ...]]) -> Iterator[Any]:
    """The handle that a call returned, destroyed at the end."""
    handle = ok(result)
    try:
        yield handle
    finally:
        ok(destroy(handle))


def memory(size: int) -> contextlib.AbstractContextManager[driver.CUdeviceptr]:
    """`size` bytes of device memory, all 0."""

    def zeroed() -> tuple[Any, ...]:
        result = driver.cuMemAlloc(size)
        ok(driver.cuMemsetD8(ok(result), 0, size))
        ok(driver.cuCtxSynchronize())
        return result

    return owned(zeroed(), driver.cuMemFree)


def stream(
    flags: int = driver.CUstream_flags.CU_STREAM_NON_BLOCKING,
) -> contextlib.AbstractContextManager[driver.CUstream]:
    """A stream, by default one that the legacy default stream does not wait for."""
    return owned(driver.cuStreamCreate(flags), driver.cuStreamDestroy)


def event(flags: int = 0) -> contextlib.AbstractContextManager[driver.CUevent]:
    """An event."""
    return owned(driver.cuEventCreate(flags), driver.cuEventDestroy)


def write(pointer: Any, values: Any, dtype: Any = np.int32) -> None:
    """Copy numbers to device memory; they are there for all streams."""
    data = np.asarray(values, dtype)
    ok(driver.cuMemcpyHtoD(pointer, data, data.nbytes))
    ok(driver.cuCtxSynchronize())


def read(pointer: Any, count: int, dtype: Any = np.int32) -> list[Any]:
    """Copy `count` numbers from device memory, once all work is done."""
    data = np.empty(count, dtype)
    ok(driver.cuCtxSynchronize())
    ok(driver.cuMemcpyDtoH(data, pointer, data.nbytes))
    return data.tolist()


def launch(kernel: Any, threads: int, values: tuple[Any, ...], types: tuple[Any, ...], on: Any = 0) -> None:
    """Launch a kernel as one block of `threads`."""
    ok(driver.cuLaunchKernel(kernel, 1, 1, 1, threads, 1, 1, 0, on, (values, types), 0))


def device_location() -> CUmemLocation:
    """Memory on the device."""
    return CUmemLocation(type=CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE, id=DEVICE)


@contextlib.contextmanager
def held(queue: Any) -> Iterator[None]:
    """What is queued on a stream in here runs only at the end, which waits for it.

    Nothing in here may wait for the stream: after 20 seconds it is let go, and the test fails.
    """
    gate = threading.Event()
    in_time = []

    @HOST_FUNCTION
    def wait(_: Any) -> None:
        in_time.append(gate.wait(20))

    ok(driver.cuLaunchHostFunc(queue, wait, None))
    try:
        yield
    finally:
        gate.set()
        ok(driver.cuStreamSynchronize(queue))
    assert in_time == [True], "something waited for the stream that was held"


def run_python(code: str, *arguments: str) -> Any:
    """Run a program in a Python process that can import cudapy: a subprocess.CompletedProcess of text."""
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    if simulator.is_enabled():
        return warm.run(["-c", code, *arguments], env=environment)
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
