"""What Program and Linker make by every way, run on a real GPU; and the compile cache between processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cudapy import nvfatbin, pathfinder
from cudapy._core.compile import linker as linker_module
from cudapy.core import (
    CompileError,
    Device,
    LaunchConfig,
    Linker,
    LinkerOptions,
    LinkError,
    ObjectCode,
    Program,
    ProgramOptions,
    launch,
)

pytestmark = pytest.mark.gpu

ROOT = Path(__file__).parents[2]
N = 256
CALLED = "__device__ float shifted(float x) { return 2.0f * x + 1.0f; }"
CALLER = """
extern __device__ float shifted(float x);
extern "C" __global__ void shift(float *x) { x[threadIdx.x] = shifted(x[threadIdx.x]); }
"""
WHOLE = 'extern "C" __global__ void shift(float *x) { x[threadIdx.x] = 2.0f * x[threadIdx.x] + 1.0f; }'


@pytest.fixture(autouse=True)
def device() -> Device:
    made = Device(0)
    made.set_current()
    return made


@pytest.fixture
def by_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linker_module, "_nvjitlink_is_missing", lambda: "this test wants the driver")


def require(name: str) -> None:
    try:
        pathfinder.load(name)
    except pathfinder.LibraryNotFound as error:
        pytest.skip(str(error).splitlines()[0])


def shifted(code: ObjectCode) -> None:
    """Run the kernel `shift`, and check what it computes."""
    assert run(code, "shift") == pytest.approx(2 * np.arange(N, dtype=np.float32) + 1, abs=0)


def run(code: ObjectCode, name: str) -> Any:
    device = Device()
    stream = device.create_stream()
    values = np.arange(N, dtype=np.float32)
    buffer = device.allocate(values.nbytes, stream=stream)
    buffer.copy_from(values, stream=stream)
    launch(stream, LaunchConfig(grid=1, block=N), code.get_kernel(name), buffer)
    buffer.copy_to(values, stream=stream)
    stream.sync()
    buffer.close(stream)
    return values


def units(target: str) -> list[ObjectCode]:
    options = [ProgramOptions(name=name, relocatable_device_code=True) for name in ("called", "caller")]
    sources = zip((CALLED, CALLER), options, strict=True)
    return [Program(source, "c++", how).compile(target, cache=False) for source, how in sources]


# -- linking ----------------------------------------------------------------------------------------------


def test_the_linker_is_nvjitlink_where_it_fits() -> None:
    require("nvJitLink")
    major = pathfinder.load("nvJitLink").major or 0
    fits = major <= (linker_module.driver_major() or 0)
    assert Linker.which_backend() == ("nvJitLink" if fits else "driver")


@pytest.mark.parametrize("target", ["cubin", "ptx", "ltoir"])
def test_two_units_by_nvjitlink(target: str) -> None:
    require("nvJitLink")
    with Linker(*units(target), options=LinkerOptions(link_time_optimization=target == "ltoir")) as linker:
        assert linker.backend == "nvJitLink"
        shifted(linker.link("cubin"))


@pytest.mark.parametrize(
    "called, caller", [("ptx", "ltoir"), ("cubin", "ltoir"), ("ltoir", "ptx"), ("ltoir", "cubin")]
)
def test_lto_of_some_units(called: str, caller: str) -> None:
    require("nvJitLink")
    parts = [units(called)[0], units(caller)[1]]
    shifted(Linker(*parts, options=LinkerOptions(link_time_optimization=True)).link("cubin"))


WEAK = """
.version 8.0
.target sm_50
.address_size 64
.weak .func (.param .b32 result) shifted(.param .b32 x);
.visible .entry shift(.param .u64 values)
{
    .reg .b32 %r<2>; .reg .f32 %f<3>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [values];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    ld.f32 %f1, [%rd3];
    { .param .b32 x; .param .b32 y; st.param.f32 [x], %f1; call (y), shifted, (x); ld.param.f32 %f2, [y]; }
    st.f32 [%rd3], %f2;
    ret;
}
.weak .func (.param .b32 result) shifted(.param .b32 x)
{
    .reg .f32 %f<3>;
    ld.param.f32 %f1, [x];
    fma.rn.f32 %f2, %f1, 0f40000000, 0f3F800000;
    st.param.f32 [result], %f2;
    ret;
}
"""


@pytest.mark.parametrize("backend", ["nvJitLink", "driver"])
def test_a_weak_function_that_is_declared_first(backend: str, request: pytest.FixtureRequest) -> None:
    if backend == "driver":
        request.getfixturevalue("by_driver")
    else:
        require("nvJitLink")
    code = ObjectCode.from_ptx(WEAK.replace("sm_50", f"sm_{Device().arch}"))
    other = Program(CALLED.replace("shifted", "unused"), "c++", ProgramOptions(relocatable_device_code=True))
    shifted(Linker(code, other.compile("ptx")).link("cubin"))


WAVE = """
extern "C" __global__ void wave(float *x, float *y)
{
    auto grid = cudaCGGetIntrinsicHandle(cudaCGScopeGrid);
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    for (int step = 0; step < 3; ++step) {
        y[i] = x[(i + 1) % n] + 1;
        cudaCGSynchronize(grid, 0);
        float *z = x; x = y; y = z;
    }
}
"""


@pytest.mark.parametrize("target", ["ptx", "ltoir"])
def test_a_grid_synchronizes_with_the_device_runtime(target: str) -> None:
    require("nvJitLink")
    try:
        archive = pathfinder.find_static_lib("cudadevrt")
    except pathfinder.StaticLibNotFoundError as error:
        pytest.skip(str(error).splitlines()[0])
    kernel = Program(WAVE, "c++", ProgramOptions(relocatable_device_code=True)).compile(target)
    options = LinkerOptions(link_time_optimization=target == "ltoir")
    code = Linker(kernel, ObjectCode.from_library(archive), options=options).link("cubin")
    device = Device()
    stream = device.create_stream()
    x, y = (device.allocate(4 * N, stream=stream) for _ in range(2))
    x.copy_from(np.arange(N, dtype=np.float32), stream=stream)
    config = LaunchConfig(grid=N // 32, block=32, is_cooperative=True)
    launch(stream, config, code.get_kernel("wave"), x, y)
    values = np.empty(N, np.float32)
    y.copy_to(values, stream=stream)
    stream.sync()
    assert np.array_equal(values, (np.arange(N) + 3) % N + 3)


SPLIT = """
__global__ void last(int *order, int *count) { *order = ++*count; }
__global__ void half(float *x, int n, float by) {
    if (n > 32) {
        half<<<1, 1, 0, cudaStreamFireAndForget>>>(x, n / 2, by);
        half<<<1, 1, 0, cudaStreamFireAndForget>>>(x + n / 2, n / 2, by);
    } else {
        for (int i = 0; i < n; ++i) x[i] *= by;
    }
}
extern "C" __global__ void whole(float *x, int n, int *order, int *count, int *told) {
    half<<<1, 1>>>(x, n, 3);
    last<<<1, 1>>>(order, count);
    last<<<1, 1>>>(order + 1, count);
    last<<<1, 1, 0, cudaStreamTailLaunch>>>(order + 2, count);
    last<<<1, 1, 0, cudaStreamTailLaunch>>>(order + 3, count);
    told[0] = cudaGetLastError();
    half<<<1, 4096>>>(x, n, 0);
    told[1] = cudaGetLastError();
    cudaDeviceGetAttribute(told + 2, cudaDevAttrMaxThreadsPerBlock, 0);
}
"""


@pytest.mark.parametrize("target", ["ptx", "ltoir"])
def test_kernels_that_launch_kernels(target: str) -> None:
    require("nvJitLink")
    try:
        archive = pathfinder.find_static_lib("cudadevrt")
    except pathfinder.StaticLibNotFoundError as error:
        pytest.skip(str(error).splitlines()[0])
    kernel = Program(SPLIT, "c++", ProgramOptions(relocatable_device_code=True)).compile(target)
    options = LinkerOptions(link_time_optimization=target == "ltoir")
    code = Linker(kernel, ObjectCode.from_library(archive), options=options).link("cubin")
    device = Device()
    stream = device.create_stream()
    x, order = device.allocate(4 * N, stream=stream), device.allocate(4 * 8, stream=stream)
    x.copy_from(np.arange(N, dtype=np.float32), stream=stream)
    order.copy_from(np.zeros(8, np.int32), stream=stream)
    places = (int(order.handle) + 4 * place for place in (0, 4, 5))
    launch(stream, LaunchConfig(grid=1, block=1), code.get_kernel("whole"), x, N, *places)
    values, told = np.empty(N, np.float32), np.empty(8, np.int32)
    x.copy_to(values, stream=stream)
    order.copy_to(told, stream=stream)
    stream.sync()
    assert np.array_equal(values, 3 * np.arange(N, dtype=np.float32))
    assert told.tolist() == [1, 2, 3, 4, 4, 0, 9, 1024], (
        "in order, the tail stream last; an invalid configuration"
    )


def test_lto_to_ptx_which_the_driver_compiles() -> None:
    require("nvJitLink")
    options = LinkerOptions(link_time_optimization=True, ptx=True)
    linked = Linker(*units("ltoir"), options=options).link("ptx")
    assert b"call" not in linked.code, "inlined across the units"
    if b".version 9." in linked.code and (linker_module.driver_major() or 0) < 13:
        pytest.skip("PTX of a newer release than the driver's")
    shifted(linked)


@pytest.mark.parametrize("target", ["cubin", "ptx"])
def test_two_units_by_the_driver(by_driver: None, target: str) -> None:
    with Linker(*units(target), options=LinkerOptions(verbose=True, max_register_count=40)) as linker:
        assert linker.backend == "driver" and int(linker.handle)
        linked = linker.link("cubin")
        assert linker.link("cubin") is linked
        shifted(linked)
        assert linker.get_error_log() == ""


def test_the_driver_says_what_is_unresolved(by_driver: None) -> None:
    with pytest.raises(LinkError) as caught, Linker(units("ptx")[1]) as linker:
        linker.link("cubin")
    error = caught.value
    assert "shifted" in error.log and error.log in str(error)
    assert error.library == pathfinder.load("cuda").path and error.library in str(error)
    assert any(flag.startswith("CU_JIT_TARGET=") for flag in error.options)


def test_what_the_driver_does_not_link(by_driver: None) -> None:
    with pytest.raises(ValueError, match="this test wants the driver"):
        Linker(*units("ltoir"), options=LinkerOptions(link_time_optimization=True))
    with pytest.raises(ValueError, match="ftz, kernels_used, and this test"):
        Linker(*units("ptx"), options=LinkerOptions(ftz=True, kernels_used="shift"))


def test_linking_leaves_the_context_current(by_driver: None) -> None:
    before = Device().context
    shifted(Linker(*units("ptx")).link("cubin"))
    assert Device().context == before


# -- programs ---------------------------------------------------------------------------------------------


def test_a_ptx_program_by_nvjitlink() -> None:
    require("nvJitLink")
    program = Program(Program(WHOLE, "c++").compile("ptx", cache=False).code, "ptx")
    assert program.backend == "nvJitLink"
    shifted(program.link("cubin"))


def test_a_ptx_program_by_the_driver(by_driver: None) -> None:
    ptx = Program(WHOLE, "c++").compile("ptx", cache=False).code
    program = Program(ptx, "ptx", ProgramOptions(max_register_count=32, lineinfo=True))
    assert program.backend == "driver"
    shifted(program.compile("cubin", cache=False))


def test_ptx_that_the_driver_does_not_compile(by_driver: None) -> None:
    ptx = ".version 7.0\n.target sm_52\n.address_size 64\n nonsense\n"
    with pytest.raises(CompileError, match="nonsense") as caught:
        Program(ptx, "ptx", ProgramOptions(name="wrong.ptx")).compile("cubin", cache=False)
    assert "wrong.ptx" in str(caught.value) and "the driver of CUDA" in str(caught.value)


LAYOUT = (
    "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-"
    "v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
)
IR = f"""
target triple = "nvptx64-nvidia-cuda"
target datalayout = "{LAYOUT}"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare float @__nv_sinf(float)
define void @wave(float* %p) {{
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %q = getelementptr float, float* %p, i32 %i
  %x = load float, float* %q
  %y = call float @__nv_sinf(float %x)
  store float %y, float* %q
  ret void
}}
@llvm.used = appending global [1 x i8*] [i8* bitcast (void (float*)* @wave to i8*)], section "llvm.metadata"
!nvvm.annotations = !{{!0}}
!0 = !{{void (float*)* @wave, !"kernel", i32 1}}
!nvvmir.version = !{{!1}}
!1 = !{{i32 2, i32 0}}
"""


@pytest.mark.parametrize("target", ["ptx", "cubin", "ltoir"])
def test_nvvm(device: Device, target: str) -> None:
    require("nvvm")
    text = IR
    if device.compute_capability[0] >= 10:  # whose libNVVM reads the IR of newer LLVM
        text = IR.replace("i8* bitcast (void (float*)* @wave to i8*)", "ptr @wave").replace("i8*", "ptr")
        text = text.replace("void (float*)*", "ptr").replace("float*", "ptr")
    code = Program(text, "nvvm", ProgramOptions(use_libdevice=True)).compile(target, cache=False)
    if target == "ltoir":
        require("nvJitLink")
        code = Linker(code, options=LinkerOptions(link_time_optimization=True)).link("cubin")
    assert run(code, "wave") == pytest.approx(np.sin(np.arange(N)), abs=1e-6)


def test_a_fat_binary(device: Device) -> None:
    require("nvfatbin")
    program = Program(WHOLE, "c++")
    handle = nvfatbin.create([], 0)
    for target, add in (("cubin", nvfatbin.add_cubin), ("ptx", nvfatbin.add_ptx)):
        code = program.compile(target, cache=False).code
        add(handle, code, len(code), device.arch, "shift", *([""] if target == "ptx" else []))
    image = bytearray(nvfatbin.size(handle))
    nvfatbin.get(handle, image)
    nvfatbin.destroy(handle)
    shifted(ObjectCode.from_fatbin(bytes(image)))


# -- the compile cache, between processes -----------------------------------------------------------------

JOB = """
import json, sys, time
start = time.perf_counter()
import numpy as np
from cudapy import pathfinder
from cudapy.core import Device, LaunchConfig, Program, ProgramOptions, launch
device = Device()
device.set_current()
stream = device.create_stream()
source = sys.argv[1] + '''
template <typename T> __global__ void twice(T *x) { x[threadIdx.x] *= 2; }
'''
began = time.perf_counter()
code = Program(source, "c++", ProgramOptions(std="c++17")).compile("cubin", name_expressions=["twice<float>"])
kernel = code.get_kernel("twice<float>")
values = np.arange(32, dtype=np.float32)
buffer = device.allocate(values.nbytes, stream=stream)
buffer.copy_from(values, stream=stream)
launch(stream, LaunchConfig(grid=1, block=32), kernel, buffer)
buffer.copy_to(values, stream=stream)
stream.sync()
print(json.dumps({
    "right": bool((values == 2 * np.arange(32)).all()),
    "compiled": ("nvrtc", None) in pathfinder._loaded,
    "first kernel": time.perf_counter() - began,
    "whole": time.perf_counter() - start,
}))
"""


def job(folder: Path, *arguments: str) -> dict[str, Any]:
    environ = {**os.environ, "CUDAPY_CACHE_DIR": str(folder), "CUDAPY_CACHE": "", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", JOB, *arguments]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_a_second_process_does_not_compile(tmp_path: Path) -> None:
    first, second = job(tmp_path, ""), job(tmp_path, "")
    assert first["right"] and first["compiled"]
    assert second["right"] and not second["compiled"], "NVRTC was not even loaded"
    (entry,) = (tmp_path / "programs").iterdir()
    entry.write_bytes(entry.read_bytes()[:-1])
    third = job(tmp_path, "")
    assert third["right"] and third["compiled"], "a torn entry is none"
