"""Status codes, faults that stay, and what the driver says of a process."""

from __future__ import annotations

import ctypes
import os
import pickle
from pathlib import Path

import pytest

from cudapy import driver
from cudapy.driver import CUdriverProcAddress_flags, CUdriverProcAddressQueryResult, CUprocessState, CUresult

from .kernels import context as context
from .kernels import cubin, needs_driver, needs_no_sanitizer, ok, run_python

pytestmark = pytest.mark.gpu

FAULTS = r"""
extern "C" __global__ void illegal_address() { *(volatile int *)0x10 = 1; }
extern "C" __global__ void trap() { __trap(); }
extern "C" __global__ void misaligned()
{
    extern __shared__ int words[];
    *(volatile double *)(words + 1) = 1;
}
extern "C" __global__ void failed_assert() { assert(blockIdx.x > 0); }
"""

FAULT = """
import sys
from cudapy import driver

path, name = sys.argv[1:]
driver.cuInit(0)
driver.cuCtxCreate(0, 0)
_, module = driver.cuModuleLoad(path.encode())
_, kernel = driver.cuModuleGetFunction(module, name.encode())
launched = driver.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 64, 0, None, None)
calls = [
    launched,
    driver.cuCtxSynchronize(),
    driver.cuCtxSynchronize(),
    driver.cuMemAlloc(64),
    driver.cuStreamCreate(0),
    driver.cuMemGetInfo(),
]
print([int(call[0]) for call in calls], [value for call in calls for value in call[1:]])
try:
    driver.checked.cuMemAlloc(64)
except RuntimeError as error:
    print(error)
"""


class TestNames:
    def test_every_code_the_driver_knows_has_the_name_it_has_here(self) -> None:
        known = 0
        for code in CUresult:
            status, name = driver.cuGetErrorName(code)
            if status == CUresult.CUDA_SUCCESS:
                known += 1
                assert name == code.name.encode()
                assert ok(driver.cuGetErrorString(code)).strip()
            else:  # newer than this driver
                assert (status, name) == (CUresult.CUDA_ERROR_INVALID_VALUE, None)
        assert known > 80

    def test_an_unknown_code(self) -> None:
        assert driver.cuGetErrorName(12345) == (CUresult.CUDA_ERROR_INVALID_VALUE, None)
        assert driver.cuGetErrorString(CUresult.CUDA_SUCCESS) == (0, b"no error")
        assert driver.cuGetErrorString(12345) == (CUresult.CUDA_ERROR_INVALID_VALUE, None)
        assert driver.cuGetErrorName(CUresult(12345))[1] is None


class TestExceptions:
    def test_they_say_what_failed(self) -> None:
        with pytest.raises(RuntimeError) as caught:
            driver.checked.cuDeviceGet(4096)
        error = caught.value
        assert (error.code, error.name, error.function) == (101, "CUDA_ERROR_INVALID_DEVICE", "cuDeviceGet")  # type: ignore[attr-defined]
        assert "ordinal=4096" in str(error)
        again = pickle.loads(pickle.dumps(error))
        assert (str(again), again.code) == (str(error), error.code)  # type: ignore[attr-defined]

    def test_results_come_without_the_status(self) -> None:
        assert driver.checked.cuDeviceGet(0) == 0
        assert driver.checked.cuCtxSynchronize() is None
        assert len(driver.checked.cuMemGetInfo()) == 2


@pytest.mark.parametrize(
    ("kernel", "codes"),
    [
        ("illegal_address", {CUresult.CUDA_ERROR_ILLEGAL_ADDRESS}),
        ("trap", {CUresult.CUDA_ERROR_LAUNCH_FAILED, CUresult.CUDA_ERROR_ILLEGAL_INSTRUCTION}),
        ("misaligned", {CUresult.CUDA_ERROR_MISALIGNED_ADDRESS}),
        ("failed_assert", {CUresult.CUDA_ERROR_ASSERT}),
    ],
)
def test_a_fault_stays(kernel: str, codes: set[CUresult], tmp_path: Path) -> None:
    needs_no_sanitizer()
    path = tmp_path / "faults.cubin"
    path.write_bytes(cubin(FAULTS))
    done = run_python(FAULT, str(path), kernel)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "" or kernel == "failed_assert"
    results, message = done.stdout.partition("[")[2].split("\n", 1)  # behind what the kernel printed
    codes_seen, values = results.split("] [")
    launched, *later = [int(code) for code in codes_seen.split(",")]
    assert launched == CUresult.CUDA_SUCCESS
    assert set(later) <= codes and len(set(later)) == 1
    assert set(values.strip("]").split(", ")) == {"None"}
    assert CUresult(later[0]).name in message


class TestEntryPoints:
    def test_a_function_by_name(self) -> None:
        address, status = ok(driver.cuGetProcAddress(b"cuDriverGetVersion", 12000, 0))
        assert status == CUdriverProcAddressQueryResult.CU_GET_PROC_ADDRESS_SUCCESS
        version = ctypes.c_int()
        found = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(address)
        assert found(ctypes.addressof(version)) == 0
        assert version.value == ok(driver.cuDriverGetVersion())

    def test_no_such_function(self) -> None:
        address, status = ok(driver.cuGetProcAddress(b"cuNoSuchFunction", 12000, 0))
        assert address == 0
        assert isinstance(status, CUdriverProcAddressQueryResult)
        assert status == CUdriverProcAddressQueryResult.CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND

    def test_a_function_newer_than_asked_for(self) -> None:
        address, status = ok(driver.cuGetProcAddress(b"cuLibraryLoadData", 11000, 0))
        assert address == 0
        assert status == CUdriverProcAddressQueryResult.CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT

    def test_default_streams_have_functions_of_their_own(self) -> None:
        flags = CUdriverProcAddress_flags
        legacy = ok(driver.cuGetProcAddress(b"cuMemsetD8", 12000, flags.CU_GET_PROC_ADDRESS_LEGACY_STREAM))
        own = ok(
            driver.cuGetProcAddress(b"cuMemsetD8", 12000, flags.CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)
        )
        assert legacy[0] and own[0] and legacy[0] != own[0]

    def test_a_version_the_driver_has_not_reached(self) -> None:
        status = driver.cuGetProcAddress(b"cuMemAlloc", 99000, 0)
        assert status == (CUresult.CUDA_ERROR_INVALID_VALUE, None, None)

    def test_a_function_this_driver_lacks(self) -> None:
        if ok(driver.cuDriverGetVersion()) >= 13050:
            pytest.skip("this driver lacks nothing that cudapy knows")
        with pytest.raises(RuntimeError, match=r'Function "cuFabricCpyBatchAsync" not found.*13.5'):
            driver.cuFabricCpyBatchAsync(0, None, 0, 0)


def test_core_dump_settings() -> None:
    needs_driver(12, 1)
    done = run_python(
        """
from cudapy import driver
from cudapy.driver import CUcoredumpSettings as Setting

driver.cuInit(0)
driver.cuCtxCreate(0, 0)
for get in (driver.cuCoredumpGetAttribute, driver.cuCoredumpGetAttributeGlobal):
    for name in ("ENABLE_ON_EXCEPTION", "LIGHTWEIGHT", "FILE"):
        setting = Setting["CU_COREDUMP_" + name]
        status, value = get(setting)
        print(status.name, type(value).__name__, value if isinstance(value, bool) else b"\\0" in value)
print(driver.cuCoredumpGetAttributeGlobal(999)[0].name)
"""
    )
    assert (done.returncode, done.stderr) == (0, "")
    booleans, path = "CUDA_SUCCESS bool False", "CUDA_SUCCESS bytes False"
    assert done.stdout.splitlines() == [booleans, booleans, path] * 2 + ["CUDA_ERROR_INVALID_VALUE"]


def test_a_process_that_is_not_checkpointed() -> None:
    needs_driver(12, 8)
    status, state = driver.cuCheckpointProcessGetState(os.getpid())
    if status == CUresult.CUDA_ERROR_NOT_SUPPORTED:
        pytest.skip("the driver has no checkpoints here")
    assert (status, state) == (CUresult.CUDA_SUCCESS, CUprocessState.CU_PROCESS_STATE_RUNNING)
    assert isinstance(state, CUprocessState)
    assert driver.cuCheckpointProcessGetState(2**22)[0] != CUresult.CUDA_SUCCESS
