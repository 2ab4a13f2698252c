"""Libraries: code that no context owns."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cudapy import driver
from cudapy.driver import (
    CUfunc_cache,
    CUfunction_attribute,
    CUjit_option,
    CUkernel,
    CUlibrary,
    CUlibraryOption,
    CUresult,
)

from .kernels import DEVICE, KERNELS, SOURCE, cubin, memory, needs_driver, no_context, ok, owned, ptx, read
from .kernels import context as context

pytestmark = pytest.mark.gpu

MANAGED = (
    '__managed__ int shared_by_all = 3;\nextern "C" __global__ void raise_it() { shared_by_all += 1; }\n'
)


def load(code: bytes) -> tuple[CUresult, CUlibrary]:
    return driver.cuLibraryLoadData(code, None, None, 0, None, None, 0)


@pytest.fixture(params=["cubin", "ptx"])
def library(request: pytest.FixtureRequest) -> Iterator[CUlibrary]:
    with owned(load(cubin() if request.param == "cubin" else ptx()), driver.cuLibraryUnload) as loaded:
        yield loaded


def test_kernels_are_counted_and_listed(library: CUlibrary) -> None:
    needs_driver(12, 4)
    count = ok(driver.cuLibraryGetKernelCount(library))
    kernels = ok(driver.cuLibraryEnumerateKernels(count, library))
    assert {ok(driver.cuKernelGetName(kernel)).decode() for kernel in kernels} == set(KERNELS)
    assert all(isinstance(kernel, CUkernel) for kernel in kernels)


def test_a_kernel_knows_where_it_is_from(library: CUlibrary) -> None:
    kernel = ok(driver.cuLibraryGetKernel(library, b"fill"))
    function = ok(driver.cuKernelGetFunction(kernel))
    assert ok(driver.cuFuncGetModule(function)) == ok(driver.cuLibraryGetModule(library))
    if ok(driver.cuDriverGetVersion()) >= 12050:
        assert ok(driver.cuKernelGetLibrary(kernel)) == library
    assert driver.cuLibraryGetKernel(library, b"missing") == (CUresult.CUDA_ERROR_NOT_FOUND, None)


def test_launch_by_function_and_by_kernel(library: CUlibrary) -> None:
    kernel = ok(driver.cuLibraryGetKernel(library, b"add"))
    function = ok(driver.cuKernelGetFunction(kernel))
    with memory(32) as pointer:
        arguments = ((int(pointer), 5), (ctypes.c_void_p, ctypes.c_int))
        ok(driver.cuLaunchKernel(function, 1, 1, 1, 4, 1, 1, 0, 0, arguments, 0))
        ok(driver.cuLaunchKernel(int(kernel), 1, 1, 1, 8, 1, 1, 0, 0, arguments, 0))
        assert read(pointer, 8) == [10] * 4 + [5] * 4


def test_globals(library: CUlibrary) -> None:
    pointer, size = ok(driver.cuLibraryGetGlobal(library, b"counter"))
    assert (size, read(pointer, 1)) == (4, [5])
    missing = (CUresult.CUDA_ERROR_NOT_FOUND, None, None)
    assert driver.cuLibraryGetGlobal(library, b"missing") == missing
    assert driver.cuLibraryGetManaged(library, b"missing") == missing
    function = driver.cuLibraryGetUnifiedFunction(library, b"missing")
    assert function == (CUresult.CUDA_ERROR_INVALID_VALUE, None)


def test_a_managed_variable() -> None:
    with owned(load(cubin(MANAGED)), driver.cuLibraryUnload) as library:
        pointer, size = ok(driver.cuLibraryGetManaged(library, b"shared_by_all"))
        kernel = ok(driver.cuKernelGetFunction(ok(driver.cuLibraryGetKernel(library, b"raise_it"))))
        ok(driver.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, 0, None, None))
        assert (size, read(pointer, 1)) == (4, [4])


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


def test_parameters_of_a_kernel(library: CUlibrary) -> None:
    needs_driver(12, 4)
    kernel = ok(driver.cuLibraryGetKernel(library, b"scalars"))
    layout = [ok(driver.cuKernelGetParamInfo(kernel, i)) for i in range(7)]
    assert layout == [(0, 1), (2, 2), (8, 8), (16, 4), (24, 8), (32, 1), (40, 8)]
    assert driver.cuKernelGetParamInfo(kernel, 7) == (CUresult.CUDA_ERROR_INVALID_VALUE, None, None)


def test_options(tmp_path: Path) -> None:
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
    code = cubin()
    preserved = [CUlibraryOption.CU_LIBRARY_BINARY_IS_PRESERVED]
    with owned(
        driver.cuLibraryLoadData(code, [], [], 0, preserved, [1], 1), driver.cuLibraryUnload
    ) as library:
        assert ok(driver.cuLibraryGetKernel(library, b"fill"))


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "test.cubin"
    path.write_bytes(cubin(SOURCE))
    with owned(
        driver.cuLibraryLoadFromFile(bytes(path), None, None, 0, None, None, 0), driver.cuLibraryUnload
    ) as library:
        assert ok(driver.cuLibraryGetKernel(library, b"fill"))
    missing = driver.cuLibraryLoadFromFile(bytes(tmp_path / "missing"), None, None, 0, None, None, 0)
    assert missing == (CUresult.CUDA_ERROR_FILE_NOT_FOUND, None)


def test_loading_and_asking_needs_no_context() -> None:
    needs_driver(12, 4)
    with no_context():
        loaded = ok(load(ptx()))
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


@pytest.mark.parametrize("ask", [driver.cuKernelGetName, driver.cuFuncGetName])
def test_null_has_no_name(ask: Callable[[int], tuple[CUresult, bytes]]) -> None:
    assert ask(0) == (CUresult.CUDA_ERROR_INVALID_VALUE, None)
