"""The linker in the driver: two units that call each other."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import pytest

from cudapy import driver
from cudapy.driver import CUjit_option, CUjitInputType, CUlinkState, CUresult

from .kernels import context as context
from .kernels import cubin, memory, ok, owned, ptx, read

pytestmark = pytest.mark.gpu

CALLER = """
extern __device__ int twice(int value);
extern "C" __global__ void call(int *out) { out[threadIdx.x] = twice(threadIdx.x); }
"""
CALLED = "__device__ int twice(int value) { return 2 * value; }"
RELOCATABLE = "--relocatable-device-code=true"
Kind = CUjitInputType
Option = CUjit_option


def add(state: CUlinkState, kind: CUjitInputType, code: bytes, name: bytes) -> tuple[CUresult]:
    return driver.cuLinkAddData(state, kind, code, len(code), name, 0, None, None)


def run(image: Any) -> list[int]:
    """What the linked kernel computes for 8 threads."""
    with owned(driver.cuModuleLoadData(image), driver.cuModuleUnload) as module, memory(32) as pointer:
        kernel = ok(driver.cuModuleGetFunction(module, b"call"))
        ok(driver.cuLaunchKernel(kernel, 1, 1, 1, 8, 1, 1, 0, 0, ((int(pointer),), (ctypes.c_void_p,)), 0))
        return read(pointer, 8)


@pytest.mark.parametrize(
    ("kind", "compile_unit"),
    [(Kind.CU_JIT_INPUT_PTX, ptx), (Kind.CU_JIT_INPUT_CUBIN, cubin)],
    ids=["ptx", "cubin"],
)
def test_two_units(kind: CUjitInputType, compile_unit: Any) -> None:
    with owned(driver.cuLinkCreate(0, None, None), driver.cuLinkDestroy) as state:
        ok(add(state, kind, compile_unit(CALLER, RELOCATABLE), b"caller"))
        ok(add(state, kind, compile_unit(CALLED, RELOCATABLE), b"called"))
        address, size = ok(driver.cuLinkComplete(state))
        assert ctypes.string_at(address, 4) == b"\x7fELF"
        assert size > 100
        copy = ctypes.string_at(address, size)
        assert run(address) == list(range(0, 16, 2))
    assert run(copy) == list(range(0, 16, 2))


def test_a_missing_unit_is_named_in_the_log() -> None:
    errors, messages = bytearray(8192), bytearray(8192)
    options = [
        Option.CU_JIT_ERROR_LOG_BUFFER,
        Option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        Option.CU_JIT_INFO_LOG_BUFFER,
        Option.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
    ]
    values = [errors, len(errors), messages, len(messages)]
    with owned(driver.cuLinkCreate(4, options, values), driver.cuLinkDestroy) as state:
        added = add(state, Kind.CU_JIT_INPUT_PTX, ptx(CALLER, RELOCATABLE), b"caller")
        status, address, size = driver.cuLinkComplete(state)
    assert added == (CUresult.CUDA_SUCCESS,)
    assert status != CUresult.CUDA_SUCCESS
    assert (address, size) == (None, None)
    assert b"twice" in errors.split(b"\0")[0]


def test_a_unit_that_does_not_compile() -> None:
    errors = bytearray(8192)
    options = [Option.CU_JIT_ERROR_LOG_BUFFER, Option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES]
    with owned(driver.cuLinkCreate(2, options, [errors, len(errors)]), driver.cuLinkDestroy) as state:
        broken = ptx(CALLED, RELOCATABLE).replace(b"ret;", b"return;", 1)
        status = add(state, Kind.CU_JIT_INPUT_PTX, broken, b"broken unit")
        assert status == (CUresult.CUDA_ERROR_INVALID_PTX,)
    assert b"return" in errors.split(b"\0")[0]


def test_files(tmp_path: Path) -> None:
    for name, source in [("caller.ptx", CALLER), ("called.ptx", CALLED)]:
        (tmp_path / name).write_bytes(ptx(source, RELOCATABLE).rstrip(b"\0"))
    with owned(driver.cuLinkCreate(0, [], []), driver.cuLinkDestroy) as state:
        for name in ("caller.ptx", "called.ptx"):
            ok(driver.cuLinkAddFile(state, Kind.CU_JIT_INPUT_PTX, bytes(tmp_path / name), 0, None, None))
        missing = driver.cuLinkAddFile(
            state, Kind.CU_JIT_INPUT_PTX, bytes(tmp_path / "missing"), 0, None, None
        )
        assert missing == (CUresult.CUDA_ERROR_FILE_NOT_FOUND,)
    with owned(driver.cuLinkCreate(0, [], []), driver.cuLinkDestroy) as state:
        for name in ("caller.ptx", "called.ptx"):
            ok(driver.cuLinkAddFile(state, Kind.CU_JIT_INPUT_PTX, bytes(tmp_path / name), 0, None, None))
        assert run(ok(driver.cuLinkComplete(state))[0]) == list(range(0, 16, 2))
