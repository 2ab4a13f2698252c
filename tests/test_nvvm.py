"""libNVVM: the real library, of either CUDA major, makes PTX of NVVM IR, with and without libdevice."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from cudapy import nvvm, pathfinder
from cudapy._bindings.errors import CUDAError
from cudapy._ffi.library import SymbolNotFound
from cudapy.nvvm import Result, nvvmError, nvvmResult

SUCCESS = nvvmResult.NVVM_SUCCESS
ARCH = "-arch=compute_90"
IR = b"""
target triple = "nvptx64-nvidia-cuda"
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-\
f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"

declare double @__nv_sin(double)

define void @k(double* %p) {
  %x = load double, double* %p
  %y = OPERATION
  store double %y, double* %p
  ret void
}

!nvvm.annotations = !{!0}
!0 = !{void (double*)* @k, !"kernel", i32 1}
!nvvmir.version = !{!1}
!1 = !{i32 2, i32 0, i32 3, i32 1}
"""
DOUBLED = IR.replace(b"OPERATION", b"fadd double %x, %x")
SINE = IR.replace(b"OPERATION", b"call double @__nv_sin(double %x)")


@pytest.fixture(autouse=True)
def _library() -> None:
    """Skip, with the reason, where the library is missing."""
    try:
        pathfinder.load("nvvm")
    except pathfinder.LibraryNotFound as error:
        pytest.skip(str(error).splitlines()[0])


@pytest.fixture
def program() -> Any:
    made = nvvm.create_program()
    yield made
    nvvm.destroy_program(made)


def filled(size: Any, get: Any, program: int) -> bytes:
    """A result or log, in a buffer with spare bytes, which must stay as they are."""
    length = size(program)
    buffer = bytearray(b"\xaa" * (length + 16))
    assert get(program, buffer) is None
    assert buffer[length:] == b"\xaa" * 16
    assert buffer.index(0) == length - 1
    return bytes(buffer[: length - 1])


def ptx(program: int) -> bytes:
    return filled(nvvm.get_compiled_result_size, nvvm.get_compiled_result, program)


def log(program: int) -> bytes:
    return filled(nvvm.get_program_log_size, nvvm.get_program_log, program)


def add(program: int, text: bytes, name: str = "some.ll") -> None:
    nvvm.add_module_to_program(program, text, len(text), name)


def libdevice() -> bytes:
    for folder in Path(pathfinder.load("nvvm").path).parents:
        for path in (folder / "libdevice/libdevice.10.bc", folder / "nvvm/libdevice/libdevice.10.bc"):
            if path.exists():
                return path.read_bytes()
    pytest.skip("there is no libdevice near libnvvm")


# -- compiling -------------------------------------------------------------------------------------------


def test_ptx(program: int) -> None:
    add(program, DOUBLED)
    nvvm.verify_program(program, 1, [ARCH])
    nvvm.compile_program(program, 1, [ARCH])
    text = ptx(program)
    assert b".visible .entry k(" in text
    assert b".target sm_90" in text
    assert b"add.rn.f64" in text or b"add.f64" in text
    assert log(program) == b""


def test_without_libdevice_a_call_stays_a_call(program: int) -> None:
    add(program, SINE)
    nvvm.compile_program(program, 1, [ARCH])
    text = ptx(program)
    assert b".extern .func" in text
    assert b"__nv_sin" in text


@pytest.mark.parametrize("lazy", [False, True])
def test_with_libdevice(program: int, lazy: bool) -> None:
    add(program, SINE)
    code = libdevice()
    bring = nvvm.lazy_add_module_to_program if lazy else nvvm.add_module_to_program
    bring(program, code, len(code), "libdevice")
    nvvm.compile_program(program, 1, [ARCH])
    text = ptx(program)
    assert b".extern .func" not in text
    assert b".visible .entry k(" in text
    assert b"fma.rn.f64" in text
    if lazy:
        assert b"__nv_cos" not in text


def test_lazy_modules_alone_are_none(program: int) -> None:
    code = libdevice()
    nvvm.lazy_add_module_to_program(program, code, len(code), None)
    with pytest.raises(nvvmError, match=r"^ERROR_NO_MODULE_IN_PROGRAM \(8\)$"):
        nvvm.compile_program(program, 0, None)


def test_threads_compile_at_once() -> None:
    def compiled(_: int) -> bytes:
        program = nvvm.create_program()
        try:
            add(program, DOUBLED)
            nvvm.compile_program(program, 1, [ARCH])
            return ptx(program)
        finally:
            nvvm.destroy_program(program)

    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(compiled, range(32)))
    assert len(found) == 1
    assert b".visible .entry k(" in found.pop()


# -- errors and logs -------------------------------------------------------------------------------------


def test_ir_that_does_not_parse(program: int) -> None:
    add(program, DOUBLED.replace(b"store double %y", b"store float %y"), "bad.ll")
    with pytest.raises(nvvmError, match=r"^ERROR_INVALID_IR \(6\)$") as caught:
        nvvm.verify_program(program, 0, [])
    assert caught.value.status is Result.ERROR_INVALID_IR
    text = log(program)
    assert text.startswith(b"bad.ll (10, ")  # line and column
    assert b"defined with type 'double'" in text
    with pytest.raises(nvvmError, match=r"^ERROR_COMPILATION \(9\)$"):
        nvvm.compile_program(program, 1, [ARCH])
    assert b"bad.ll" in log(program)


def test_ir_of_another_version(program: int) -> None:
    add(program, DOUBLED.replace(b"!{i32 2, i32 0, i32 3, i32 1}", b"!{i32 9, i32 0, i32 3, i32 1}"))
    with pytest.raises(nvvmError, match=r"^ERROR_IR_VERSION_MISMATCH \(3\)$") as caught:
        nvvm.verify_program(program, 0, [])
    assert "compare its !nvvmir.version with nvvmIRVersion()" in str(caught.value.__cause__)
    assert b"IR version 9.0 incompatible" in log(program)


@pytest.mark.parametrize("option", ["-nonsense", "-arch=compute_1", "-arch=sm_90a!"])
def test_bad_options_are_named(program: int, option: str) -> None:
    add(program, DOUBLED)
    with pytest.raises(nvvmError, match=r"^ERROR_INVALID_OPTION \(7\)$"):
        nvvm.compile_program(program, 1, [option])
    assert option.encode() in log(program)


def test_an_empty_program(program: int) -> None:
    assert nvvm.nvvmCompileProgram(program, 0, None) == (nvvmResult.NVVM_ERROR_NO_MODULE_IN_PROGRAM,)
    with pytest.raises(CUDAError, match=r"nvvmCompileProgram: NVVM_ERROR_NO_MODULE_IN_PROGRAM \(8\)"):
        nvvm.checked.nvvmCompileProgram(program, 0, None)


def test_no_program() -> None:
    assert nvvm.nvvmCompileProgram(None, 0, None) == (nvvmResult.NVVM_ERROR_INVALID_PROGRAM,)
    assert nvvm.nvvmGetProgramLogSize(0) == (nvvmResult.NVVM_ERROR_INVALID_PROGRAM, None)


# -- the rest --------------------------------------------------------------------------------------------


def test_versions() -> None:
    assert nvvm.version() >= (2, 0)
    assert nvvm.nvvmVersion() == (SUCCESS, *nvvm.version())
    assert nvvm.ir_version()[0] == 2
    assert nvvm.nvvmIRVersion() == (SUCCESS, *nvvm.ir_version())


def test_llvm_version() -> None:
    if hasattr(pathfinder.load("nvvm").handle, "nvvmLLVMVersion"):
        assert nvvm.llvm_version("compute_90") >= 7
        assert nvvm.nvvmLLVMVersion(b"compute_90") == (SUCCESS, nvvm.llvm_version(b"compute_90"))
        with pytest.raises(nvvmError, match=r"^ERROR_INVALID_INPUT \(4\)$"):
            nvvm.llvm_version("nonsense")
    else:
        with pytest.raises(
            SymbolNotFound, match=r'"nvvmLLVMVersion" not found in .*libnvvm.* CUDA 13\.1 or newer'
        ):
            nvvm.llvm_version("compute_90")


def test_error_strings() -> None:
    assert nvvm.get_error_string(Result.ERROR_INVALID_IR) == "NVVM_ERROR_INVALID_IR"
    assert nvvm.nvvmGetErrorString(nvvmResult.NVVM_ERROR_INVALID_IR) == (SUCCESS, b"NVVM_ERROR_INVALID_IR")
    for member in list(nvvmResult)[:10]:  # the library has no text for NVVM_ERROR_CANCELLED
        assert nvvm.get_error_string(member) == member.name


def test_the_c_face() -> None:
    status, program = nvvm.nvvmCreateProgram()
    assert (status, type(program)) == (SUCCESS, nvvm.nvvmProgram)
    assert nvvm.nvvmAddModuleToProgram(program, DOUBLED, len(DOUBLED), None) == (SUCCESS,)
    assert nvvm.nvvmVerifyProgram(program, 1, [ARCH.encode()]) == (SUCCESS,)
    assert nvvm.nvvmCompileProgram(program, 1, [ARCH.encode()]) == (SUCCESS,)
    status, size = nvvm.nvvmGetCompiledResultSize(program)
    text = b" " * size  # filled in place, as a port of a C program does
    assert nvvm.nvvmGetCompiledResult(program, text) == (SUCCESS,)
    assert text.startswith(b"//")
    assert text.endswith(b"\0")
    assert nvvm.nvvmGetProgramLogSize(program) == (SUCCESS, 1)
    assert nvvm.nvvmDestroyProgram(program) == (SUCCESS,)
    assert program == 0
    assert nvvm.nvvmDestroyProgram(program) == (nvvmResult.NVVM_ERROR_INVALID_PROGRAM,)


def test_bad_arguments(program: int) -> None:
    add(program, DOUBLED)
    nvvm.compile_program(program, 1, [ARCH])
    size = nvvm.get_compiled_result_size(program)
    with pytest.raises(
        ValueError, match=rf"nvvmGetCompiledResult: buffer holds {size - 1} bytes, the call needs {size}"
    ):
        nvvm.get_compiled_result(program, bytearray(size - 1))
    with pytest.raises(ValueError, match="nvvmGetProgramLog: buffer holds 0 bytes, the call needs 1"):
        nvvm.get_program_log(program, bytearray())
    with pytest.raises(
        ValueError, match=rf"buffer holds {len(DOUBLED)} bytes, the call needs {len(DOUBLED) + 1}"
    ):
        nvvm.add_module_to_program(program, DOUBLED, len(DOUBLED) + 1, "k")
    with pytest.raises(ValueError, match="INVALID_INPUT"):
        nvvm.add_module_to_program(program, None, 0, "k")
    with pytest.raises(
        TypeError, match="nvvmAddModuleToProgram: buffer must be an address or a buffer, not str"
    ):
        nvvm.add_module_to_program(program, DOUBLED.decode(), len(DOUBLED), "k")
    with pytest.raises(TypeError, match="nvvmAddModuleToProgram: name must be bytes, not str"):
        nvvm.nvvmAddModuleToProgram(program, DOUBLED, len(DOUBLED), "k")
    with pytest.raises(OverflowError, match="nvvmCompileProgram: numOptions = -1"):
        nvvm.compile_program(program, -1, [])
    with pytest.raises(ValueError, match="nvvmCompileProgram: options holds 1 item, the call needs 2"):
        nvvm.compile_program(program, 2, [ARCH])
    with pytest.raises(TypeError, match="nvvmCompileProgram: prog"):
        nvvm.compile_program("program", 0, [])
