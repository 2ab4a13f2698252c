"""CUDA C++ programs: what nvcc's code registers, and programs that nvcc has made."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cudapy import simulator
from cudapy.runtime import dim3
from cudapy.simulator import library
from cudapy.simulator.runtime import registered
from cudapy.simulator.shared import runtime as shared_runtime
from tests.simulator.test_fatbin import fat_binary
from tests.simulator.test_shared import REPOSITORY, pytestmark

__all__ = ["pytestmark"]

PTX = b"""
.version 7.0
.target sm_70
.address_size 64
.global .u32 table[4];
.visible .entry add(.param .u64 p, .param .u32 n) {
    .reg .u64 %rd<3>; .reg .u32 %r<4>;
    ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x;
    mul.wide.u32 %rd2, %r2, 4; add.u64 %rd1, %rd1, %rd2;
    ld.global.u32 %r3, [%rd1]; add.u32 %r3, %r3, %r1; st.global.u32 [%rd1], %r3; ret;
}
\0"""
WRAPPER_MAGIC = 0x466243B1


class Wrapper(ctypes.Structure):
    """What nvcc puts into .nvFatBinSegment."""

    _fields_ = (
        ("magic", ctypes.c_int),
        ("version", ctypes.c_int),
        ("data", ctypes.c_void_p),
        ("unused", ctypes.c_void_p),
    )


def test_the_library_has_what_is_provided() -> None:
    """The library is written before the simulator, which provides them, is imported."""
    provided = {name for name in library.provided["runtime"] if name.startswith("__cuda")}
    assert {name.removesuffix("_ptsz") for name in shared_runtime.REGISTERED} == provided


@pytest.fixture
def runtime() -> Any:
    if not simulator.is_enabled():
        pytest.skip("this process has a GPU")
    return simulator.process.runtime_of(13)


@pytest.fixture
def binary(runtime: Any) -> Iterator[ctypes.c_void_p]:
    """The handle of a registered fat binary."""
    code = ctypes.create_string_buffer(PTX)
    wrapper = Wrapper(WRAPPER_MAGIC, 1, ctypes.addressof(code), None)
    register = runtime.callback("__cudaRegisterFatBinary")
    handle = ctypes.c_void_p(register(ctypes.addressof(wrapper)))
    assert handle.value and runtime.callback("__cudaRegisterFatBinaryEnd")(handle) == 0
    yield handle
    assert runtime.callback("__cudaUnregisterFatBinary")(handle) == 0


def test_kernels_are_launched_by_functions_of_the_host(runtime: Any, binary: ctypes.c_void_p) -> None:
    call = runtime.callback
    stub, other = ctypes.c_char(), ctypes.c_char()
    place = ctypes.addressof(stub)
    nothing = [None] * 5
    assert call("__cudaRegisterFunction")(binary, place, place, b"add", -1, *nothing) == 0
    kernel = ctypes.c_ulong()
    assert call("__cudaGetKernel")(ctypes.byref(kernel), ctypes.addressof(other)) == 98
    assert call("__cudaGetKernel")(ctypes.byref(kernel), place) == 0 and kernel.value
    assert call("__cudaPopCallConfiguration")(dim3(), dim3(), ctypes.c_size_t(), place) == 52
    pointer = ctypes.c_void_p()
    assert call("cudaMalloc")(ctypes.byref(pointer), 128) == 0
    assert call("cudaMemset")(pointer, 0, 128) == 0
    number = ctypes.c_int(5)
    arguments = (ctypes.c_void_p * 2)(ctypes.addressof(pointer), ctypes.addressof(number))
    for launch, function in (("__cudaLaunchKernel", kernel.value), ("cudaLaunchKernel", place)):
        assert call("__cudaPushCallConfiguration")(dim3(1, 1, 1), dim3(32, 1, 1), 0, None) == 0
        grid, block, shared, stream = dim3(), dim3(), ctypes.c_size_t(1), ctypes.c_void_p(1)
        popped = call("__cudaPopCallConfiguration")(
            ctypes.byref(grid), ctypes.byref(block), ctypes.byref(shared), ctypes.addressof(stream)
        )
        assert (popped, grid.x, block.x, shared.value, stream.value) == (0, 1, 32, 0, None)
        assert call(launch)(function, grid, block, arguments, shared.value, stream.value or 0) == 0
    assert call("cudaDeviceSynchronize")() == 0
    host = (ctypes.c_int * 32)()
    assert call("cudaMemcpy")(ctypes.addressof(host), pointer, 128, 2) == 0
    assert list(host) == [10] * 32
    assert call("cudaFree")(pointer.value) == 0


def test_a_program_without_fitting_ptx_is_told_so(
    runtime: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Once. Each launch fails with the reason, though nvcc's code ignores that there is no kernel."""
    monkeypatch.setattr(registered, "_told", set())
    call = runtime.callback
    code = ctypes.create_string_buffer(fat_binary([(2, 75), (2, 120), (1, 120)]))
    wrapper = Wrapper(WRAPPER_MAGIC, 1, ctypes.addressof(code), None)
    handle = ctypes.c_void_p(call("__cudaRegisterFatBinary")(ctypes.addressof(wrapper)))
    stub, unregistered = ctypes.c_char(), ctypes.c_char()
    place = ctypes.addressof(stub)
    assert call("__cudaRegisterFunction")(handle, place, place, b"k", -1, *[None] * 5) == 0
    kernel, none = ctypes.c_ulong(), ctypes.c_ulong()
    assert call("__cudaGetKernel")(ctypes.byref(kernel), place) == 209
    assert call("cudaPeekAtLastError")() == 209
    for _ in range(2):  # nvcc's code asks for the kernel once, and launches again and again
        assert call("__cudaLaunchKernel")(kernel, dim3(1, 1, 1), dim3(1, 1, 1), None, 0, 0) == 209
        assert call("cudaGetLastError")() == 209 and call("cudaGetLastError")() == 0
    assert call("__cudaGetKernel")(ctypes.byref(none), ctypes.addressof(unregistered)) == 98
    assert call("__cudaLaunchKernel")(none, dim3(1, 1, 1), dim3(1, 1, 1), None, 0, 0) == 98
    assert call("cudaGetLastError")() == 98
    assert call("__cudaUnregisterFatBinary")(handle) == 0
    assert capsys.readouterr().err == (
        "cudapy simulator: the fat binary has SASS for sm_75 to sm_120, PTX for compute_120; the simulator"
        " needs PTX for compute capability 9.0 or less: try --compute-capability 12.0\n"
    )


def test_variables_are_found_by_their_twins(runtime: Any, binary: ctypes.c_void_p) -> None:
    call = runtime.callback
    twin = ctypes.c_char()
    place = ctypes.addressof(twin)
    size = ctypes.c_size_t()
    assert call("cudaGetSymbolSize")(ctypes.byref(size), place) == 13
    assert call("__cudaRegisterVar")(binary, place, place, b"table", 0, 16, 0, 0) == 0
    assert call("cudaGetSymbolSize")(ctypes.byref(size), place) == 0 and size.value == 16
    data, back = (ctypes.c_int * 2)(3, 4), (ctypes.c_int * 4)()
    assert call("cudaMemcpyToSymbol")(place, ctypes.addressof(data), 8, 8, 1) == 0
    assert call("cudaMemcpyToSymbol")(place, ctypes.addressof(data), 8, 9, 1) == 1
    assert call("cudaMemcpyFromSymbol")(ctypes.addressof(back), place, 16, 0, 2) == 0
    assert list(back) == [0, 0, 3, 4]


HEAD = b".version 7.0\n.target sm_70\n.address_size 64\n"
UNITS = (
    HEAD + b".visible .func (.param .u32 r) five() { .reg .u32 %r<2>; mov.u32 %r1, 5; "
    b"st.param.u32 [r], %r1; ret; }\n.visible .global .u32 there;\n\0",
    HEAD + b".extern .func (.param .u32 r) five();\n.extern .global .u32 there;\n"
    b".visible .entry put() { .reg .u32 %r<2>; { .param .u32 got; call (got), five, (); "
    b"ld.param.u32 %r1, [got]; } st.global.u32 [there], %r1; ret; }\n\0",
)


def test_relocatable_units_are_linked(runtime: Any) -> None:
    """The wrapper of such a program has machine code, and behind that a list of what it was linked of."""
    call = runtime.callback
    codes = [ctypes.create_string_buffer(unit) for unit in UNITS]
    units = (ctypes.c_void_p * 3)(*map(ctypes.addressof, codes), None)
    empty = ctypes.create_string_buffer(64)
    wrapper = Wrapper(WRAPPER_MAGIC, 2, ctypes.addressof(empty), ctypes.addressof(units))
    handle = ctypes.c_void_p(call("__cudaRegisterFatBinary")(ctypes.addressof(wrapper)))
    stub, twin = ctypes.c_char(), ctypes.c_char()
    place, symbol = ctypes.addressof(stub), ctypes.addressof(twin)
    assert call("__cudaRegisterFunction")(handle, place, place, b"put", -1, *[None] * 5) == 0
    assert call("__cudaRegisterVar")(handle, symbol, symbol, b"there", 0, 4, 0, 0) == 0
    assert call("cudaLaunchKernel")(place, dim3(1, 1, 1), dim3(1, 1, 1), None, 0, 0) == 0
    back = ctypes.c_int()
    assert call("cudaMemcpyFromSymbol")(ctypes.addressof(back), symbol, 4, 0, 2) == 0 and back.value == 5
    assert call("__cudaUnregisterFatBinary")(handle) == 0


def native(program: Path, *options: str, arguments: tuple[str, ...] = ()) -> tuple[int, str, str]:
    command = [sys.executable, "-m", "cudapy.simulator", *options, "--native", str(program), *arguments]
    given = {name: value for name, value in os.environ.items() if not name.startswith("CUDAPY")}
    given["PYTHONPATH"] = str(REPOSITORY)
    done = subprocess.run(command, env=given, capture_output=True, text=True, timeout=300, check=False)
    return done.returncode, done.stdout, done.stderr


def test_a_native_program_has_to_be_there(tmp_path: Path) -> None:
    code, out, err = native(tmp_path / "nothing")
    if "no shared libpython" in err:
        pytest.skip(err)
    assert (code, out) == (127, "") and "No such file" in err
    done = subprocess.run(
        [sys.executable, "-m", "cudapy.simulator", "--native"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2 and "--native needs a program" in done.stderr


SOURCES = Path(__file__).with_name("native")
PROGRAMS = {
    "kernels": ["kernels.cu"],
    "streams": ["streams.cu"],
    "textures": ["textures.cu"],
    "relocatable": ["-rdc=true", "relocatable_main.cu", "relocatable_part.cu"],
}
"""What nvcc is told of each program in tests/simulator/native, whose last line is "ok"."""
SAID = {"kernels": "thread 0 of say:  4.50\nthread 1 of say:  4.50\n"}
"""What else they print."""


def compiled(made: Path, *arguments: str) -> Path:
    """A program that nvcc makes with a shared libcudart, in tests/simulator/native."""
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        pytest.skip("there is no nvcc")
    try:
        from cudapy.simulator.shared.written import libpython

        libpython()
    except RuntimeError as error:
        pytest.skip(str(error))
    without = "-D_CG_LIMIT_INCLUDED_DEPENDENCIES"  # libcu++, which takes nvcc two seconds
    command = [nvcc, "-cudart", "shared", "-lineinfo", without, *arguments, "-o", str(made)]
    done = subprocess.run(command, cwd=SOURCES, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return made


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("native") / "program", "program.cu")


@pytest.mark.thorough
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_that_check_themselves(name: str, tmp_path: Path) -> None:
    made = compiled(tmp_path / name, *PROGRAMS[name])
    code, out, err = native(made, "--check=races,uninitialized")
    expected = "cudapy simulator: no errors (checked: faults, races, uninitialized)\n"
    assert (code, out, err) == (0, f"{SAID.get(name, '')}ok\n", expected)


@pytest.mark.thorough
def test_a_program_that_nvcc_has_compiled(program: Path) -> None:
    assert native(program) == (0, "0 bad, 8 blocks of 1024\n", "")


LAUNCHES = r"""
#include <cstdio>
__global__ void one() {}
__global__ void other() {}
int main() {
    for (int i = 0; i < 2; i++) {
        one<<<1, 1>>>();
        puts(cudaGetErrorName(cudaGetLastError()));
        other<<<1, 1>>>();
        puts(cudaGetErrorName(cudaDeviceSynchronize()));
        puts(cudaGetErrorName(cudaGetLastError()));
    }
}
"""


@pytest.mark.thorough
def test_a_program_that_nvcc_has_compiled_for_others(tmp_path: Path) -> None:
    source, codes = tmp_path / "launches.cu", "arch=compute_120,code=[sm_120,compute_120]"
    source.write_text(LAUNCHES)
    made = compiled(tmp_path / "launches", "-gencode", codes, str(source))
    code, out, err = native(made)
    failed = "cudaErrorNoKernelImageForDevice"
    assert (code, out.split()) == (0, 2 * [failed, "cudaSuccess", failed])
    assert err == (
        f"cudapy simulator: {made}: the fat binary has SASS for sm_120, PTX for compute_120; the simulator"
        " needs PTX for compute capability 9.0 or less: try --compute-capability 12.0\n"
    )
    assert native(made, "--compute-capability", "12.0") == (0, 6 * "cudaSuccess\n", "")


@pytest.mark.thorough
def test_what_is_found_in_a_native_program(program: Path, tmp_path: Path) -> None:
    found = tmp_path / "found.json"
    code, out, err = native(program, "--check", "all", "--json", str(found), arguments=("outside",))
    assert (code, out.splitlines()[-1]) == (1, "cudaErrorIllegalAddress")
    assert "program.cu:29" in err and err.endswith(
        "cudapy simulator: 1 fault (checked: faults, races, uninitialized, leaks)\n"
    )
    assert [one["kind"] for one in json.loads(found.read_text())] == ["fault"]
    code, out, err = native(program, "--check=leaks")
    assert code == 1 and err == ("cudapy simulator: 1 leak of 40000 bytes (checked: faults, leaks)\n")
