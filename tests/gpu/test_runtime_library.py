"""The Runtime API: libraries of code, what they hold; functions of the driver by name; versions."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest

from cudapy import driver, nvrtc
from cudapy import runtime as rt
from cudapy.runtime import (
    cudaDriverEntryPointQueryResult,
    cudaError_t,
    cudaGetDriverEntryPointFlags,
    cudaJitOption,
    cudaLibraryOption,
)

from .kernels import KERNELS, cubin, needs_driver, ok, owned, ptx
from .runtime_kernels import device as device
from .runtime_kernels import launch, library, memory, needs_function, read, words

pytestmark = pytest.mark.gpu

MANAGED = r"""
__managed__ int shared = 3;
extern "C" __global__ void twice() { shared *= 2; }
"""
Query = cudaDriverEntryPointQueryResult


class TestLibraries:
    @pytest.fixture(autouse=True)
    def has_libraries(self) -> None:
        needs_function("cudaLibraryLoadData")

    def test_kernels_are_listed(self) -> None:
        code = library()
        count = ok(rt.cudaLibraryGetKernelCount(code))
        kernels = ok(rt.cudaLibraryEnumerateKernels(count, code))
        assert count == len(kernels) == len(KERNELS)
        assert {ok(rt.cudaFuncGetName(kernel)).decode() for kernel in kernels} == set(KERNELS)
        assert ok(rt.cudaLibraryGetKernel(code, b"fill")) in kernels
        status, kernel = rt.cudaLibraryGetKernel(code, b"no_kernel")
        assert (status, kernel) == (cudaError_t.cudaErrorSymbolNotFound, None)

    def test_variables(self) -> None:
        pointer, size = ok(rt.cudaLibraryGetGlobal(library(), b"table"))
        assert size == 16
        assert read(pointer, 4, "f4") == [1, 2, 3, 4]
        status, *nothing = rt.cudaLibraryGetGlobal(library(), b"no_variable")
        assert status == cudaError_t.cudaErrorSymbolNotFound and nothing == [None, None]

    def test_managed_variables(self) -> None:
        needs_function("cudaLibraryLoadData")
        loaded = rt.cudaLibraryLoadData(cubin(MANAGED), None, None, 0, None, None, 0)
        with owned(loaded, rt.cudaLibraryUnload) as code:
            pointer, size = ok(rt.cudaLibraryGetManaged(code, b"shared"))
            assert size == 4 and words(pointer, 1)[0] == 3
            launch(ok(rt.cudaLibraryGetKernel(code, b"twice")), 1, (), ())
            ok(rt.cudaDeviceSynchronize())
            assert words(pointer, 1)[0] == 6

    def test_from_a_file(self, tmp_path: Path) -> None:
        path = tmp_path / "code.cubin"
        path.write_bytes(cubin())
        loaded = rt.cudaLibraryLoadFromFile(bytes(path), None, None, 0, None, None, 0)
        with owned(loaded, rt.cudaLibraryUnload) as code, memory(16) as pointer:
            fill = ok(rt.cudaLibraryGetKernel(code, b"fill"))
            launch(fill, 4, (pointer, 8, 4), (ctypes.c_void_p, ctypes.c_int, ctypes.c_int))
            assert read(pointer, 4) == [8] * 4
        missing = bytes(tmp_path / "missing.cubin")
        status, code = rt.cudaLibraryLoadFromFile(missing, None, None, 0, None, None, 0)
        assert status == cudaError_t.cudaErrorFileNotFound and code is None

    def test_options(self) -> None:
        data = cubin()
        options = [cudaLibraryOption.cudaLibraryBinaryIsPreserved]
        loaded = rt.cudaLibraryLoadData(data, None, None, 0, options, [1], 1)
        with owned(loaded, rt.cudaLibraryUnload) as code:
            assert ok(rt.cudaLibraryGetKernelCount(code)) == len(KERNELS)

    def test_ptx_with_a_log(self) -> None:
        major, minor = ok(nvrtc.nvrtcVersion())
        needs_driver(major, minor)
        log = bytearray(4096)
        names = [
            cudaJitOption.cudaJitInfoLogBuffer,
            cudaJitOption.cudaJitInfoLogBufferSizeBytes,
            cudaJitOption.cudaJitLogVerbose,
        ]
        loaded = rt.cudaLibraryLoadData(ptx(), names, [log, len(log), 1], 3, None, None, 0)
        with owned(loaded, rt.cudaLibraryUnload) as code, memory(16) as pointer:
            fill = ok(rt.cudaLibraryGetKernel(code, b"fill"))
            launch(fill, 4, (pointer, 8, 4), (ctypes.c_void_p, ctypes.c_int, ctypes.c_int))
            assert read(pointer, 4) == [8] * 4

    def test_what_is_no_code(self) -> None:
        status, code = rt.cudaLibraryLoadData(b"no code" + bytes(64), None, None, 0, None, None, 0)
        if status == cudaError_t.cudaSuccess:  # then it is read when it is first used
            status = rt.cudaLibraryGetKernel(code, b"bump")[0]
            ok(rt.cudaLibraryUnload(code))
        assert status != cudaError_t.cudaSuccess

    def test_a_function_that_no_library_unifies(self) -> None:
        status, address = rt.cudaLibraryGetUnifiedFunction(library(), b"no_function")
        assert status != cudaError_t.cudaSuccess and address is None


class TestEntryPoints:
    def version(self, address: int) -> int:
        """What the cuDriverGetVersion at this address says."""
        value = ctypes.c_int()
        get = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int))(address)
        assert get(ctypes.byref(value)) == 0
        return value.value

    def test_a_function_of_the_driver_can_be_called(self) -> None:
        needs_function("cudaGetDriverEntryPoint")
        address, found = ok(rt.cudaGetDriverEntryPoint(b"cuDriverGetVersion", 0))
        assert found is Query.cudaDriverEntryPointSuccess
        assert self.version(address) == ok(driver.cuDriverGetVersion())

    def test_by_version(self) -> None:
        needs_function("cudaGetDriverEntryPointByVersion")
        version = ok(rt.cudaRuntimeGetVersion())
        address, found = ok(rt.cudaGetDriverEntryPointByVersion(b"cuDriverGetVersion", version, 0))
        assert found is Query.cudaDriverEntryPointSuccess
        assert self.version(address) == ok(driver.cuDriverGetVersion())
        status, _, found = rt.cudaGetDriverEntryPointByVersion(b"cuMemAllocAsync", 10000, 0)
        if status == cudaError_t.cudaSuccess:
            assert found is Query.cudaDriverEntryPointVersionNotSufficent

    def test_each_default_stream_has_its_functions(self) -> None:
        needs_function("cudaGetDriverEntryPoint")
        flags = cudaGetDriverEntryPointFlags
        legacy, _ = ok(rt.cudaGetDriverEntryPoint(b"cuStreamSynchronize", flags.cudaEnableLegacyStream))
        own, _ = ok(
            rt.cudaGetDriverEntryPoint(b"cuStreamSynchronize", flags.cudaEnablePerThreadDefaultStream)
        )
        assert legacy and own and legacy != own

    def test_no_such_function(self) -> None:
        needs_function("cudaGetDriverEntryPoint")
        status, address, found = rt.cudaGetDriverEntryPoint(b"cuNoSuchFunction", 0)
        if status == cudaError_t.cudaSuccess:
            assert not address and found is Query.cudaDriverEntryPointSymbolNotFound
        else:
            assert status == cudaError_t.cudaErrorSymbolNotFound


def test_versions() -> None:
    version = ok(rt.cudaRuntimeGetVersion())
    assert version // 1000 in (12, 13)
    assert ok(rt.getLocalRuntimeVersion()) == version
    assert ok(rt.cudaDriverGetVersion()) == ok(driver.cuDriverGetVersion())
    assert ok(rt.cudaDriverGetVersion()) // 1000 >= version // 1000


def test_the_profiler_is_switched() -> None:
    allowed = (cudaError_t.cudaSuccess, cudaError_t.cudaErrorNotSupported)
    assert rt.cudaProfilerStart()[0] in allowed
    assert rt.cudaProfilerStop()[0] in allowed
