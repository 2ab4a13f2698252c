"""Libraries: code that no context owns, what it holds; the runtime's entry points and versions."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cudapy import driver, nvrtc, runtime
from cudapy.driver import CUfunc_cache, CUfunction_attribute, CUjit_option, CUlibrary, CUresult
from cudapy.runtime import cudaDriverEntryPointQueryResult

from .apis import DRIVER, RUNTIME, Api, only
from .apis import api as api
from .kernels import DEVICE, KERNELS, cubin, memory, needs_driver, no_context, ok, owned, ptx, read
from .runtime_kernels import FILL_TYPES, needs_function

pytestmark = pytest.mark.gpu

MANAGED = """
__managed__ int shared_by_all = 3;
extern "C" __global__ void raise_it() { shared_by_all += 1; }
"""
Query = cudaDriverEntryPointQueryResult


def load(api: Api, code: bytes, *options: Any) -> Any:
    api.needs_function("LibraryLoadData")
    return api.LibraryLoadData(code, None, None, 0, *(options or (None, None, 0)))


@pytest.fixture(params=["cubin", "ptx"])
def library(api: Api, request: pytest.FixtureRequest) -> Iterator[Any]:
    if request.param == "ptx":
        needs_driver(*ok(nvrtc.nvrtcVersion()))  # an older one does not read what this compiler writes
    code = cubin() if request.param == "cubin" else ptx()
    with owned(load(api, code), api.LibraryUnload) as loaded:
        yield loaded


def function_of(api: Api, library: Any, name: bytes) -> Any:
    """A kernel as a launch takes it."""
    kernel = ok(api.LibraryGetKernel(library, name))
    return ok(driver.cuKernelGetFunction(kernel)) if api.is_driver else kernel


def test_kernels_are_counted_and_listed(api: Api, library: Any) -> None:
    needs_driver(12, 4)
    count = ok(api.LibraryGetKernelCount(library))
    kernels = ok(api.LibraryEnumerateKernels(count, library))
    name = driver.cuKernelGetName if api.is_driver else runtime.cudaFuncGetName
    assert count == len(kernels) == len(KERNELS)
    assert {ok(name(kernel)).decode() for kernel in kernels} == set(KERNELS)
    assert all(isinstance(kernel, api.Kernel) for kernel in kernels)
    assert ok(api.LibraryGetKernel(library, b"fill")) in kernels
    assert api.LibraryGetKernel(library, b"missing") == (api.ErrorSymbolNotFound, None)


def test_globals(api: Api, library: Any) -> None:
    pointer, size = ok(api.LibraryGetGlobal(library, b"counter"))
    assert (size, api.read(pointer, 1)) == (4, [5])
    pointer, size = ok(api.LibraryGetGlobal(library, b"table"))
    assert (size, api.read(pointer, 4, "f4")) == (16, [1, 2, 3, 4])
    missing = (api.ErrorSymbolNotFound, None, None)
    assert api.LibraryGetGlobal(library, b"missing") == missing
    assert api.LibraryGetManaged(library, b"missing") == missing
    status, address = api.LibraryGetUnifiedFunction(library, b"missing")
    assert status != api.Success and address is None
    if api.is_driver:
        assert status == api.ErrorInvalidValue


def test_a_managed_variable(api: Api) -> None:
    with owned(load(api, cubin(MANAGED)), api.LibraryUnload) as library:
        pointer, size = ok(api.LibraryGetManaged(library, b"shared_by_all"))
        assert (size, api.read(pointer, 1)) == (4, [3])
        ok(api.launch_kernel(function_of(api, library, b"raise_it"), 1, 1, None))
        assert api.read(pointer, 1) == [4]


def test_a_file(api: Api, tmp_path: Path) -> None:
    api.needs_function("LibraryLoadFromFile")
    path = tmp_path / "test.cubin"
    path.write_bytes(cubin())
    loaded = api.LibraryLoadFromFile(bytes(path), None, None, 0, None, None, 0)
    with owned(loaded, api.LibraryUnload) as library, api.memory(16) as pointer:
        api.launch(function_of(api, library, b"fill"), 4, (int(pointer), 8, 4), FILL_TYPES)
        assert api.read(pointer, 4) == [8] * 4
    missing = bytes(tmp_path / "missing")
    missing = api.LibraryLoadFromFile(missing, None, None, 0, None, None, 0)
    assert missing == (api.ErrorFileNotFound, None)


def test_options(api: Api) -> None:
    code = cubin()  # has to stay, as it is not copied
    loaded = load(api, code, [api.LibraryBinaryIsPreserved], [1], 1)
    with owned(loaded, api.LibraryUnload) as library:
        assert ok(api.LibraryGetKernel(library, b"fill"))


@only(DRIVER)
def test_a_kernel_knows_where_it_is_from(library: CUlibrary) -> None:
    kernel = ok(driver.cuLibraryGetKernel(library, b"fill"))
    function = ok(driver.cuKernelGetFunction(kernel))
    assert ok(driver.cuFuncGetModule(function)) == ok(driver.cuLibraryGetModule(library))
    if ok(driver.cuDriverGetVersion()) >= 12050:
        assert ok(driver.cuKernelGetLibrary(kernel)) == library
    assert driver.cuLibraryGetKernel(library, b"missing") == (CUresult.CUDA_ERROR_NOT_FOUND, None)


@only(DRIVER)
def test_launch_by_function_and_by_kernel(library: CUlibrary) -> None:
    kernel = ok(driver.cuLibraryGetKernel(library, b"add"))
    function = ok(driver.cuKernelGetFunction(kernel))
    with memory(32) as pointer:
        arguments = ((int(pointer), 5), (ctypes.c_void_p, ctypes.c_int))
        ok(driver.cuLaunchKernel(function, 1, 1, 1, 4, 1, 1, 0, 0, arguments, 0))
        ok(driver.cuLaunchKernel(int(kernel), 1, 1, 1, 8, 1, 1, 0, 0, arguments, 0))
        assert read(pointer, 8) == [10] * 4 + [5] * 4


@only(DRIVER)
def test_attributes_of_a_kernel(library: CUlibrary) -> None:
    kernel = ok(driver.cuLibraryGetKernel(library, b"shared_sum"))
    registers = CUfunction_attribute.CU_FUNC_ATTRIBUTE_NUM_REGS
    assert ok(driver.cuKernelGetAttribute(registers, kernel, DEVICE)) > 0
    dynamic = CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    ok(driver.cuKernelSetAttribute(dynamic, 64 << 10, kernel, DEVICE))
    assert ok(driver.cuKernelGetAttribute(dynamic, kernel, DEVICE)) == 64 << 10
    status = driver.cuKernelSetAttribute(dynamic, 1 << 30, kernel, DEVICE)
    assert status == (CUresult.CUDA_ERROR_INVALID_VALUE,)
    ok(driver.cuKernelSetCacheConfig(kernel, CUfunc_cache.CU_FUNC_CACHE_PREFER_SHARED, DEVICE))


@only(DRIVER)
def test_parameters_of_a_kernel(library: CUlibrary) -> None:
    needs_driver(12, 4)
    kernel = ok(driver.cuLibraryGetKernel(library, b"scalars"))
    layout = [ok(driver.cuKernelGetParamInfo(kernel, i)) for i in range(7)]
    assert layout == [(0, 1), (2, 2), (8, 8), (16, 4), (24, 8), (32, 1), (40, 8)]
    assert driver.cuKernelGetParamInfo(kernel, 7) == (CUresult.CUDA_ERROR_INVALID_VALUE, None, None)


@only(DRIVER)
def test_what_the_compiler_says() -> None:
    log = bytearray(4096)
    broken = ptx().replace(b"ret;", b"return;", 1)
    jit = [CUjit_option.CU_JIT_ERROR_LOG_BUFFER, CUjit_option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES]
    eager = driver.cuLibraryLoadData(broken, jit, [log, len(log)], 2, None, None, 0)
    if eager[0] == CUresult.CUDA_SUCCESS:  # lazily loaded: the compiler runs when the module is needed
        status = driver.cuLibraryGetModule(eager[1])[0]
        ok(driver.cuLibraryUnload(eager[1]))
    else:
        status = eager[0]
        assert b"return" in log
    assert status == CUresult.CUDA_ERROR_INVALID_PTX


@only(RUNTIME)
def test_ptx_with_a_log() -> None:
    major, minor = ok(nvrtc.nvrtcVersion())
    needs_driver(major, minor)
    log = bytearray(4096)
    names = [
        runtime.cudaJitOption.cudaJitInfoLogBuffer,
        runtime.cudaJitOption.cudaJitInfoLogBufferSizeBytes,
        runtime.cudaJitOption.cudaJitLogVerbose,
    ]
    loaded = runtime.cudaLibraryLoadData(ptx(), names, [log, len(log), 1], 3, None, None, 0)
    with owned(loaded, runtime.cudaLibraryUnload) as code, RUNTIME.memory(16) as pointer:
        fill = ok(runtime.cudaLibraryGetKernel(code, b"fill"))
        RUNTIME.launch(fill, 4, (pointer, 8, 4), FILL_TYPES)
        assert RUNTIME.read(pointer, 4) == [8] * 4


@only(RUNTIME)
def test_what_is_no_code() -> None:
    status, code = runtime.cudaLibraryLoadData(b"no code" + bytes(64), None, None, 0, None, None, 0)
    if status == runtime.cudaError_t.cudaSuccess:  # then it is read when it is first used
        status = runtime.cudaLibraryGetKernel(code, b"bump")[0]
        ok(runtime.cudaLibraryUnload(code))
    assert status != runtime.cudaError_t.cudaSuccess


@only(DRIVER)
def test_loading_and_asking_needs_no_context() -> None:
    needs_driver(12, 4)
    with no_context():
        loaded = ok(load(DRIVER, ptx()))
        assert not int(ok(driver.cuCtxGetCurrent()))
        kernel = ok(driver.cuLibraryGetKernel(loaded, b"fill"))
        assert ok(driver.cuKernelGetName(kernel)) == b"fill"
        assert ok(driver.cuLibraryGetKernelCount(loaded)) == len(KERNELS)
        assert len(ok(driver.cuLibraryEnumerateKernels(len(KERNELS), loaded))) == len(KERNELS)
        assert ok(driver.cuKernelGetLibrary(kernel)) == loaded
        dynamic = CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        ok(driver.cuKernelSetAttribute(dynamic, 100, kernel, DEVICE))
        assert ok(driver.cuKernelGetAttribute(dynamic, kernel, DEVICE)) == 100
        assert driver.cuKernelGetParamInfo(kernel, 1)[0] == CUresult.CUDA_ERROR_INVALID_CONTEXT
        assert driver.cuLibraryGetKernel(loaded, b"nothing")[0] == CUresult.CUDA_ERROR_NOT_FOUND
        for status, _ in (driver.cuLibraryGetModule(loaded), driver.cuKernelGetFunction(kernel)):
            assert status == CUresult.CUDA_ERROR_INVALID_CONTEXT
    assert ok(driver.cuKernelGetParamInfo(kernel, 1)) == (8, 4)
    assert ok(driver.cuKernelGetAttribute(dynamic, kernel, DEVICE)) == 100, (
        "that of the device, in each context"
    )
    with memory(16) as pointer:
        arguments = (pointer, 5, 4), (None, ctypes.c_int, ctypes.c_int)
        ok(driver.cuLaunchKernel(int(kernel), 1, 1, 1, 4, 1, 1, 0, 0, arguments, 0))
        assert read(pointer, 4) == [5] * 4
    with no_context():
        ok(driver.cuLibraryUnload(loaded))


@only(DRIVER)
@pytest.mark.parametrize("ask", [driver.cuKernelGetName, driver.cuFuncGetName])
def test_null_has_no_name(ask: Callable[[int], tuple[CUresult, bytes]]) -> None:
    assert ask(0) == (CUresult.CUDA_ERROR_INVALID_VALUE, None)


@only(RUNTIME)
class TestEntryPoints:
    def version(self, address: int) -> int:
        """What the cuDriverGetVersion at this address says."""
        value = ctypes.c_int()
        get = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int))(address)
        assert get(ctypes.byref(value)) == 0
        return value.value

    def test_a_function_of_the_driver_can_be_called(self) -> None:
        needs_function("cudaGetDriverEntryPoint")
        address, found = ok(runtime.cudaGetDriverEntryPoint(b"cuDriverGetVersion", 0))
        assert found is Query.cudaDriverEntryPointSuccess
        assert self.version(address) == ok(driver.cuDriverGetVersion())

    def test_by_version(self) -> None:
        needs_function("cudaGetDriverEntryPointByVersion")
        version = ok(runtime.cudaRuntimeGetVersion())
        address, found = ok(runtime.cudaGetDriverEntryPointByVersion(b"cuDriverGetVersion", version, 0))
        assert found is Query.cudaDriverEntryPointSuccess
        assert self.version(address) == ok(driver.cuDriverGetVersion())
        status, _, found = runtime.cudaGetDriverEntryPointByVersion(b"cuMemAllocAsync", 10000, 0)
        if status == runtime.cudaError_t.cudaSuccess:
            assert found is Query.cudaDriverEntryPointVersionNotSufficent

    def test_each_default_stream_has_its_functions(self) -> None:
        needs_function("cudaGetDriverEntryPoint")
        flags = runtime.cudaGetDriverEntryPointFlags
        legacy, _ = ok(runtime.cudaGetDriverEntryPoint(b"cuStreamSynchronize", flags.cudaEnableLegacyStream))
        own, _ = ok(
            runtime.cudaGetDriverEntryPoint(b"cuStreamSynchronize", flags.cudaEnablePerThreadDefaultStream)
        )
        assert legacy and own and legacy != own

    def test_no_such_function(self) -> None:
        needs_function("cudaGetDriverEntryPoint")
        status, address, found = runtime.cudaGetDriverEntryPoint(b"cuNoSuchFunction", 0)
        if status == runtime.cudaError_t.cudaSuccess:
            assert not address and found is Query.cudaDriverEntryPointSymbolNotFound
        else:
            assert status == runtime.cudaError_t.cudaErrorSymbolNotFound


@only(RUNTIME)
def test_versions() -> None:
    version = ok(runtime.cudaRuntimeGetVersion())
    assert version // 1000 in (12, 13)
    assert ok(runtime.getLocalRuntimeVersion()) == version
    assert ok(runtime.cudaDriverGetVersion()) == ok(driver.cuDriverGetVersion())
    assert ok(runtime.cudaDriverGetVersion()) // 1000 >= version // 1000


@only(RUNTIME)
def test_the_profiler_is_switched() -> None:
    allowed = (runtime.cudaError_t.cudaSuccess, runtime.cudaError_t.cudaErrorNotSupported)
    assert runtime.cudaProfilerStart()[0] in allowed
    assert runtime.cudaProfilerStop()[0] in allowed
