"""Modules: code in one context, and the compiler in the driver."""

from __future__ import annotations

import struct
import uuid
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from cudapy import driver
from cudapy.driver import (
    CUdevice_attribute,
    CUfunc_cache,
    CUfunction_attribute,
    CUfunctionLoadingState,
    CUjit_option,
    CUjit_target,
    CUmodule,
    CUmoduleLoadingMode,
    CUresult,
)

from .kernels import KERNELS, compute_capability, cubin, needs_driver, ok, owned, ptx, read, write
from .kernels import context as context

pytestmark = pytest.mark.gpu

Option = CUjit_option
Attribute = CUfunction_attribute
HUNGRY = """
extern "C" __global__ void hungry(float *x)  // keeps 64 values in registers
{
    float values[64];
    #pragma unroll
    for (int i = 0; i < 64; i++) values[i] = x[i * blockDim.x + threadIdx.x];
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < 64; i++) x[i * blockDim.x + threadIdx.x] = values[i] * values[63 - i];
}
"""


@pytest.fixture(params=["cubin", "ptx"])
def module(request: pytest.FixtureRequest) -> Iterator[CUmodule]:
    code = cubin() if request.param == "cubin" else ptx()
    with owned(driver.cuModuleLoadData(code), driver.cuModuleUnload) as loaded:
        yield loaded


def test_functions_have_names(module: CUmodule) -> None:
    function = ok(driver.cuModuleGetFunction(module, b"fill"))
    assert ok(driver.cuFuncGetModule(function)) == module
    assert driver.cuModuleGetFunction(module, b"fil") == (CUresult.CUDA_ERROR_NOT_FOUND, None)
    if ok(driver.cuDriverGetVersion()) >= 12030:
        assert ok(driver.cuFuncGetName(function)) == b"fill"


def test_functions_are_counted_and_listed(module: CUmodule) -> None:
    needs_driver(12, 4)
    count = ok(driver.cuModuleGetFunctionCount(module))
    functions = ok(driver.cuModuleEnumerateFunctions(count, module))
    assert {ok(driver.cuFuncGetName(function)).decode() for function in functions} == set(KERNELS)
    assert len(ok(driver.cuModuleEnumerateFunctions(2, module))) == 2


def test_globals(module: CUmodule) -> None:
    pointer, size = ok(driver.cuModuleGetGlobal(module, b"table"))
    assert size == 16
    assert read(pointer, 4, np.float32) == [1, 2, 3, 4]
    pointer, size = ok(driver.cuModuleGetGlobal(module, b"counter"))
    assert (size, read(pointer, 1)) == (4, [5])
    write(pointer, [10])
    bump = ok(driver.cuModuleGetFunction(module, b"bump"))
    ok(driver.cuLaunchKernel(bump, 2, 1, 1, 32, 1, 1, 0, 0, None, None))
    assert read(pointer, 1) == [74]
    assert driver.cuModuleGetGlobal(module, b"missing") == (CUresult.CUDA_ERROR_NOT_FOUND, None, None)


def test_missing_texture_and_surface_references(module: CUmodule) -> None:
    assert driver.cuModuleGetTexRef(module, b"missing") == (CUresult.CUDA_ERROR_NOT_FOUND, None)
    assert driver.cuModuleGetSurfRef(module, b"missing") == (CUresult.CUDA_ERROR_NOT_FOUND, None)


def test_attributes(module: CUmodule) -> None:
    fill = ok(driver.cuModuleGetFunction(module, b"fill"))
    major, minor = compute_capability()
    assert (
        ok(driver.cuFuncGetAttribute(Attribute.CU_FUNC_ATTRIBUTE_BINARY_VERSION, fill)) == 10 * major + minor
    )
    assert ok(driver.cuFuncGetAttribute(Attribute.CU_FUNC_ATTRIBUTE_NUM_REGS, fill)) > 0
    assert ok(driver.cuFuncGetAttribute(Attribute.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, fill)) >= 32
    assert ok(driver.cuFuncGetAttribute(Attribute.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, fill)) == 0
    carveout = Attribute.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT
    ok(driver.cuFuncSetAttribute(fill, carveout, 50))
    assert ok(driver.cuFuncGetAttribute(carveout, fill)) == 50
    ok(driver.cuFuncSetCacheConfig(fill, CUfunc_cache.CU_FUNC_CACHE_PREFER_L1))


def test_dynamic_shared_memory_has_a_ceiling(module: CUmodule) -> None:
    kernel = ok(driver.cuModuleGetFunction(module, b"shared_sum"))
    name = Attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    largest = ok(
        driver.cuDeviceGetAttribute(
            CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 0
        )
    )
    assert driver.cuFuncSetAttribute(kernel, name, largest + 1) == (CUresult.CUDA_ERROR_INVALID_VALUE,)
    ok(driver.cuFuncSetAttribute(kernel, name, largest))
    assert ok(driver.cuFuncGetAttribute(name, kernel)) == largest


def test_parameters(module: CUmodule) -> None:
    needs_driver(12, 4)
    pair = ok(driver.cuModuleGetFunction(module, b"sum_pair"))  # (struct {int; double}, int, double *)
    assert [ok(driver.cuFuncGetParamInfo(pair, i)) for i in range(3)] == [(0, 16), (16, 4), (24, 8)]
    assert driver.cuFuncGetParamInfo(pair, 3) == (CUresult.CUDA_ERROR_INVALID_VALUE, None, None)


def test_lazy_functions_can_be_loaded_at_once(module: CUmodule) -> None:
    needs_driver(12, 4)
    mode = ok(driver.cuModuleGetLoadingMode())
    function = ok(driver.cuModuleGetFunction(module, b"spin"))
    before = ok(driver.cuFuncIsLoaded(function))
    ok(driver.cuFuncLoad(function))
    loaded = CUfunctionLoadingState.CU_FUNCTION_LOADING_STATE_LOADED
    assert isinstance(mode, CUmoduleLoadingMode)
    assert isinstance(before, CUfunctionLoadingState)
    if mode == CUmoduleLoadingMode.CU_MODULE_EAGER_LOADING:
        assert before == loaded
    assert ok(driver.cuFuncIsLoaded(function)) == loaded


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "test.cubin"
    path.write_bytes(cubin())
    with owned(driver.cuModuleLoad(bytes(path)), driver.cuModuleUnload) as module:
        assert ok(driver.cuModuleGetFunction(module, b"fill"))
    missing = driver.cuModuleLoad(bytes(tmp_path / "missing.cubin"))
    assert missing == (CUresult.CUDA_ERROR_FILE_NOT_FOUND, None)


@pytest.mark.parametrize("code", [bytes(256), b"no code at all"])
def test_what_is_no_code(code: bytes) -> None:
    status, module = driver.cuModuleLoadData(code)
    assert status in (CUresult.CUDA_ERROR_INVALID_IMAGE, CUresult.CUDA_ERROR_INVALID_PTX)
    assert module is None


class TestCompiler:
    """PTX, with options. A comment of its own keeps each from being found in the driver's cache."""

    @pytest.fixture
    def source(self) -> bytes:
        return b"// %s\n" % uuid.uuid4().hex.encode() + ptx()

    def test_messages(self, source: bytes) -> None:
        log = bytearray(16384)
        options = [
            Option.CU_JIT_INFO_LOG_BUFFER,
            Option.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
            Option.CU_JIT_LOG_VERBOSE,
        ]
        with owned(
            driver.cuModuleLoadDataEx(source, 3, options, [log, len(log), 1]), driver.cuModuleUnload
        ) as module:
            assert ok(driver.cuModuleGetFunction(module, b"fill"))
        text = log.split(b"\0")[0]
        assert b"fill" in text and b"registers" in text

    def test_error_messages(self, source: bytes) -> None:
        log = bytearray(4096)
        options = [Option.CU_JIT_ERROR_LOG_BUFFER, Option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES]
        broken = source.replace(b"ret;", b"return;", 1)
        status, module = driver.cuModuleLoadDataEx(broken, 2, options, [log, len(log)])
        assert (status, module) == (CUresult.CUDA_ERROR_INVALID_PTX, None)
        assert b"return" in log.split(b"\0")[0]

    def test_answers_are_written_over_the_values(self, source: bytes) -> None:
        log = np.zeros(16384, np.uint8)
        values = np.array([0, log.ctypes.data, log.nbytes, 1], np.uint64)
        options = [
            Option.CU_JIT_WALL_TIME,
            Option.CU_JIT_INFO_LOG_BUFFER,
            Option.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
            Option.CU_JIT_LOG_VERBOSE,
        ]
        with owned(driver.cuModuleLoadDataEx(source, 4, options, values), driver.cuModuleUnload):
            (milliseconds,) = struct.unpack("f", values[:1].tobytes()[:4])
        assert 0 < milliseconds < 60_000
        written = int(values[2]) & 0xFFFF_FFFF
        assert 0 < written <= log.nbytes
        assert b"registers" in log.tobytes()[:written]

    def test_a_limit_on_registers(self) -> None:
        options = [Option.CU_JIT_MAX_REGISTERS, Option.CU_JIT_OPTIMIZATION_LEVEL]
        used = []
        for limit in (32, 128):
            with owned(
                driver.cuModuleLoadDataEx(ptx(HUNGRY), 2, options, [limit, 4]), driver.cuModuleUnload
            ) as module:
                function = ok(driver.cuModuleGetFunction(module, b"hungry"))
                used.append(ok(driver.cuFuncGetAttribute(Attribute.CU_FUNC_ATTRIBUTE_NUM_REGS, function)))
        assert used[0] <= 32 < used[1]

    def test_the_target_may_be_named(self, source: bytes) -> None:
        major, minor = compute_capability()
        target = CUjit_target(10 * major + minor)
        with owned(
            driver.cuModuleLoadDataEx(source, 1, [Option.CU_JIT_TARGET], [target]), driver.cuModuleUnload
        ) as module:
            assert ok(driver.cuModuleGetFunction(module, b"fill"))

    def test_fewer_values_than_options(self, source: bytes) -> None:
        with pytest.raises(ValueError, match="the call needs 2"):
            driver.cuModuleLoadDataEx(
                source, 2, [Option.CU_JIT_LOG_VERBOSE, Option.CU_JIT_MAX_REGISTERS], [1]
            )
