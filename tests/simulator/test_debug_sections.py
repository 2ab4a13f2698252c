"""Cubins that were compiled with debug information, without the simulator: it finds their PTX."""

from __future__ import annotations

import random
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from .test_device import PREPARE, output, run

pytest.importorskip("numpy")
code = import_module("cudapy.simulator.code.images")
refused = import_module("cudapy.simulator.refused")

SOURCE = """\
__device__ int twice(int value);
extern "C" __global__ void fill(int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = twice(i);
}
"""
TWICE = "__device__ int twice(int value) { return 2 * value; }\n"

COMPILE = """
import sys
from cudapy.core import Linker, LinkerOptions, Program, ProgramOptions
path, kind, *sources = sys.argv[1:]
options = dict(arch="sm_90", lineinfo=kind != "plain", device_code_optimize=None)
if kind == "debug":
    options |= {"lineinfo": False, "debug": True}
if len(sources) == 1:
    made = Program(sources[0], "c++", ProgramOptions(**options)).compile("cubin")
else:
    options["relocatable_device_code"] = True
    units = [Program(source, "c++", ProgramOptions(**options)).compile("cubin") for source in sources]
    made = Linker(*units, options=LinkerOptions(arch="sm_90", lineinfo=True)).link("cubin")
with open(path, "wb") as file:
    file.write(made.code)
"""

RUN = (
    PREPARE
    + """
import sys
import ctypes
module = driver.checked.cuModuleLoad({path!r}.encode())
kernel = driver.checked.cuModuleGetFunction(module, b"fill")
size, room = 100, {room}
memory = driver.checked.cuMemAlloc(4 * room)
arguments = (memory, size), (ctypes.c_void_p, ctypes.c_int)
driver.checked.cuLaunchKernel(kernel, 4, 1, 1, 32, 1, 1, 0, 0, arguments, 0)
try:
    driver.checked.cuCtxSynchronize()
    out = (ctypes.c_int * 100)()
    driver.checked.cuMemcpyDtoH(out, memory, 400)
    print(list(out) == [2 * i for i in range(100)])
except RuntimeError as error:
    print(error)
"""
)


def compiled(tmp_path: Path, kind: str, *sources: str) -> Path:
    """A cubin of a process that has no simulator."""
    path = tmp_path / f"{kind}{len(sources)}.cubin"
    done = subprocess.run(
        [sys.executable, "-c", COMPILE, str(path), kind, *sources],
        capture_output=True,
        text=True,
        check=False,
    )
    if "nvJitLink" in done.stderr and "LibraryNotFound" in done.stderr:
        pytest.skip("there is no nvJitLink")
    assert done.returncode == 0, done.stderr
    return path


@pytest.mark.parametrize("kind", ["lines", "debug"])
def test_runs(nvrtc: ModuleType, tmp_path: Path, kind: str) -> None:
    path = compiled(tmp_path, kind, TWICE + SOURCE)
    assert output(RUN.format(path=str(path), room=100)) == "True\n"


def test_two_units_that_were_linked(nvrtc: ModuleType, tmp_path: Path) -> None:
    path = compiled(tmp_path, "lines", SOURCE, TWICE)
    assert output(RUN.format(path=str(path), room=100)) == "True\n"


def test_a_fault_names_the_line_of_the_source(nvrtc: ModuleType, tmp_path: Path) -> None:
    path = compiled(tmp_path, "lines", TWICE + SOURCE)
    said = output(RUN.format(path=str(path), room=50))
    assert "CUDA_ERROR_ILLEGAL_ADDRESS" in said
    assert "default_program:7" in said, said


def test_registers_are_those_of_the_machine_code(nvrtc: ModuleType, tmp_path: Path) -> None:
    cubin = compiled(tmp_path, "lines", TWICE + SOURCE).read_bytes()
    (count,) = code.registers(cubin).values()
    assert b"\n.registers %d" % count in code.of_cubin(cubin)


def test_without_debug_information_it_is_refused(nvrtc: ModuleType, tmp_path: Path) -> None:
    cubin = compiled(tmp_path, "plain", TWICE + SOURCE).read_bytes()
    with pytest.raises(refused.Refused, match="compile with -lineinfo"):
        code.of_cubin(cubin)


def test_damaged_tables(nvrtc: ModuleType, tmp_path: Path) -> None:
    """Whatever is written over them, there is PTX or a refusal."""
    cubin = compiled(tmp_path, "lines", TWICE + SOURCE).read_bytes()
    elf = import_module("cudapy._ffi.elf")
    found = elf.sections(cubin)
    names = elf.section_names(cubin, found)
    tables = [s for s, name in zip(found, names, strict=True) if b"debug_line" in name]
    assert len(tables) == 4  # two, with their relocations
    chance = random.Random(1)
    outcomes = set()
    for _ in range(300):
        damaged = bytearray(cubin)
        table = chance.choice(tables)
        for _ in range(chance.randint(1, 4)):
            damaged[table.offset + chance.randrange(table.size)] = chance.randrange(256)
        try:
            outcomes.add(b".entry fill" in code.of_cubin(bytes(damaged)))
        except refused.Refused as error:
            outcomes.add(error.status)
    assert outcomes == {True, "CUDA_ERROR_INVALID_IMAGE"}


HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
SOURCES = (
    HEAD
    + """
.hidden .global .u32 values[] = {3, 4};
.hidden .func helper() { ret; }
.visible .entry k() { call helper; ret; }
.nv_intermediate_source_section {
.code_block {
.ir_name: "tile {ir"
.sourceFileName: 1
.source_begin
entry @k(%arg0: tile<i32>) { %0 = { "as it likes; }
.source_end
}
}
.file 1 "k.py"
.section .debug_abbrev { .b8 1, 2 }
.visible .entry last() { ret; }
"""
)


def test_the_source_of_tile_kernels_is_skipped() -> None:
    program = f"""
from cudapy.driver import checked
checked.cuInit(0)
checked.cuCtxCreate(0, 0)
module = checked.cuModuleLoadData({SOURCES!r}.encode() + b"\\0")
print(*(bool(checked.cuModuleGetFunction(module, name)) for name in (b"k", b"last")))
print(checked.cuModuleGetGlobal(module, b"values")[1])
"""
    assert output(program) == "True True\n8\n"


def test_a_section_without_an_end_is_refused() -> None:
    program = f"""
from cudapy import driver
driver.checked.cuInit(0)
driver.checked.cuCtxCreate(0, 0)
text = {SOURCES!r}.replace(".source_end", "")
try:
    driver.checked.cuModuleLoadData(text.encode() + b"\\0")
except Exception as error:
    print(error)
"""
    assert "line 8: the section has no end" in output(program)


def test_hidden_parameters_are_refused_by_name() -> None:
    """The driver makes them; nothing says from what."""
    text = f"{HEAD}.entry k(.param .u64 p, .hidden .param .align 64 .b8 map[128]) {{ ret; }}"
    program = f"""
import ctypes
from cudapy.driver import checked as call
call.cuInit(0)
call.cuCtxCreate(0, 0)
kernel = call.cuModuleGetFunction(call.cuModuleLoadData({text!r}.encode() + b"\\0"), b"k")
try:
    call.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, 0, ((1,), (ctypes.c_void_p,)), 0)
except Exception as error:
    print(error)
"""
    printed = output(program)
    assert "CUDA_ERROR_NOT_SUPPORTED" in printed and "k has hidden parameters" in printed
    by_status = program.replace("import checked as call", "import checked as call, cuLaunchKernel")
    done = run(by_status.replace("call.cuLaunchKernel", "cuLaunchKernel"))
    assert done.stderr.count("k has hidden parameters") == 1  # the program looks at the status alone
