"""NVRTC's C-named functions: the real library, of either CUDA major. No GPU needed."""

from __future__ import annotations

import ctypes
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cudapy import nvrtc, pathfinder
from cudapy._bindings.errors import CUDAError
from cudapy.nvrtc import nvrtcResult

pytestmark = pytest.mark.usefixtures("nvrtc")

SUCCESS = nvrtcResult.NVRTC_SUCCESS
SOURCE = b'extern "C" __global__ void k(int *p) { *p = 7; }'
Flow = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)


def create(source: bytes = SOURCE, name: bytes = b"unit.cu") -> nvrtc.nvrtcProgram:
    status, program = nvrtc.nvrtcCreateProgram(source, name, 0, None, None)
    assert status == SUCCESS
    return program


def compiled(program: nvrtc.nvrtcProgram, *options: bytes) -> nvrtcResult:
    flags = [b"-arch=sm_90", *options]
    (status,) = nvrtc.nvrtcCompileProgram(program, len(flags), flags)
    return status


def ptx(program: nvrtc.nvrtcProgram) -> bytes:
    return nvrtc.checked.nvrtcGetPTX(program, nvrtc.checked.nvrtcGetPTXSize(program))


def log(program: nvrtc.nvrtcProgram) -> str:
    return nvrtc.checked.nvrtcGetProgramLog(program, nvrtc.checked.nvrtcGetProgramLogSize(program)).decode()


def test_buffers_and_sizes() -> None:
    program = create()
    assert compiled(program) == SUCCESS
    status, size = nvrtc.nvrtcGetPTXSize(program)
    assert status == SUCCESS
    buffer = b" " * size
    assert nvrtc.nvrtcGetPTX(program, buffer) == (SUCCESS,)
    assert nvrtc.nvrtcGetPTX(program, size) == (SUCCESS, buffer)
    assert buffer.endswith(b"\0") and b".entry k(" in buffer
    with pytest.raises(ValueError, match="ptx"):
        nvrtc.nvrtcGetPTX(program, bytearray(size - 1))
    assert nvrtc.nvrtcDestroyProgram(program) == (SUCCESS,)
    assert not int(program)


def test_headers_in_memory() -> None:
    source = b'#include "mine.h"\nextern "C" __global__ void k(int *p) { *p = MINE; }'
    program = nvrtc.checked.nvrtcCreateProgram(source, None, 1, [b"#define MINE 12345"], [b"mine.h"])
    assert compiled(program) == SUCCESS
    assert b"12345" in ptx(program)


def test_a_failure_is_a_status_and_a_log() -> None:
    program = create(b"nonsense", b"wrong.cu")
    assert compiled(program) == nvrtcResult.NVRTC_ERROR_COMPILATION
    assert "wrong.cu(1)" in log(program) and "nonsense" in log(program)
    with pytest.raises(CUDAError, match=r"nvrtcCompileProgram: NVRTC_ERROR_COMPILATION \(6\)"):
        nvrtc.checked.nvrtcCompileProgram(program, 0, None)


def test_name_expressions() -> None:
    program = create(b"template <typename T> __global__ void scale(T *p) { *p *= 2; }")
    names = [b"scale<int>", b"scale<double>"]
    for name in names:
        assert nvrtc.nvrtcAddNameExpression(program, name) == (SUCCESS,)
    status, nothing = nvrtc.nvrtcGetLoweredName(program, names[0])
    assert (status, nothing) == (nvrtcResult.NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION, None)
    assert compiled(program) == SUCCESS
    lowered = [nvrtc.checked.nvrtcGetLoweredName(program, name) for name in names]
    assert len(set(lowered)) == 2 and all(name in ptx(program) for name in lowered)
    late = nvrtc.nvrtcAddNameExpression(program, b"scale<float>")
    assert late == (nvrtcResult.NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION,)


def test_architectures() -> None:
    status, count = nvrtc.nvrtcGetNumSupportedArchs()
    assert status == SUCCESS
    status, found = nvrtc.nvrtcGetSupportedArchs()
    assert len(found) == count and found == sorted(found) and 90 in found


# -- the flow callback: CUDA 12.8 -------------------------------------------------------------------------


def test_the_flow_callback_is_asked_with_its_payload() -> None:
    payload = ctypes.c_int(0)

    @Flow
    def go_on(address: int, reserved: int) -> int:
        ctypes.c_int.from_address(address).value += 1
        return 0

    program = create()
    assert nvrtc.nvrtcSetFlowCallback(program, go_on, ctypes.addressof(payload)) == (SUCCESS,)
    assert compiled(program) == SUCCESS
    assert payload.value > 0
    assert b".entry k(" in ptx(program)


def test_the_flow_callback_cancels() -> None:
    asked = []

    def cancel(address: int, reserved: int) -> int:
        asked.append(address)
        return 1

    program = create()
    callback = Flow(cancel)
    assert nvrtc.nvrtcSetFlowCallback(program, callback, 0) == (SUCCESS,)
    assert compiled(program) == nvrtcResult.NVRTC_ERROR_CANCELLED
    assert asked


def test_the_flow_callback_lives_as_long_as_it_may_be_called() -> None:
    import gc

    program = create()
    asked = []
    nvrtc.checked.nvrtcSetFlowCallback(program, Flow(lambda address, reserved: asked.append(1) or 0), 0)
    gc.collect()
    assert compiled(program) == SUCCESS
    assert asked


# -- precompiled headers: CUDA 12.8 -----------------------------------------------------------------------


def test_a_precompiled_header_is_made_and_used(tmp_path: Path) -> None:
    (tmp_path / "mine.h").write_text("#define MINE 12345\n__device__ inline int mine() { return MINE; }\n")
    source = b'#include "mine.h"\nextern "C" __global__ void k(int *p) { *p = mine(); }'
    options = [f"--include-path={tmp_path}".encode(), f"--pch-dir={tmp_path}".encode()]
    first = create(source)
    assert compiled(first, *options, b"--create-pch=mine.pch") == SUCCESS, log(first)
    assert nvrtc.nvrtcGetPCHCreateStatus(first) == (SUCCESS,)
    assert (tmp_path / "mine.pch").stat().st_size > 0
    second = create(source)
    assert compiled(second, *options, b"--use-pch=mine.pch", b"--pch-messages=true") == SUCCESS, log(second)
    assert "mine.pch" in log(second)
    assert ptx(second) == ptx(first)
    not_attempted = nvrtcResult.NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED
    assert nvrtc.nvrtcGetPCHCreateStatus(second) == (not_attempted,)


def test_the_heap_of_precompiled_headers() -> None:
    size = nvrtc.checked.nvrtcGetPCHHeapSize()
    assert size > 0
    assert nvrtc.nvrtcSetPCHHeapSize(size + 1) == (SUCCESS,)
    assert size < nvrtc.checked.nvrtcGetPCHHeapSize() <= size + (1 << 20)
    nvrtc.checked.nvrtcSetPCHHeapSize(size)


# -- threads ----------------------------------------------------------------------------------------------


def test_threads_compile_at_once() -> None:
    def one(number: int) -> bytes:
        source = b'extern "C" __global__ void k%d(int *p) { *p = %d; }' % (number, number + 1000)
        program = create(source, b"unit%d.cu" % number)
        assert compiled(program) == SUCCESS
        code = ptx(program)
        nvrtc.checked.nvrtcDestroyProgram(program)
        return code

    with ThreadPoolExecutor(16) as pool:
        for number, code in enumerate(pool.map(one, range(64))):
            assert b".entry k%d(" % number in code and b"%d;" % (number + 1000) in code


# -- where the library is ---------------------------------------------------------------------------------


def test_the_version_is_that_of_the_library() -> None:
    status, major, minor = nvrtc.nvrtcVersion()
    assert status == SUCCESS
    assert major == pathfinder.load("nvrtc").major and 0 <= minor < 20
