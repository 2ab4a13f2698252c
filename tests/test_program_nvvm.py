"""Programs of NVVM IR and of PTX, with the real libNVVM and nvJitLink and no GPU."""

from __future__ import annotations

import io
import pickle
import warnings
from pathlib import Path

import pytest

from cudapy import pathfinder
from cudapy._core.compile import linker as linker_module
from cudapy.core import (
    CompileError,
    Linker,
    LinkerOptions,
    ObjectCode,
    Program,
    ProgramOptions,
)
from cudapy.nvjitlink import nvJitLinkError
from cudapy.nvvm import Result as NVVMResult
from cudapy.nvvm import nvvmError

LAYOUT = (
    "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-"
    "v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
)
HEAD = f'target triple = "nvptx64-nvidia-cuda"\ntarget datalayout = "{LAYOUT}"\n'
VERSION = "!nvvmir.version = !{!9}\n!9 = !{i32 2, i32 0}\n"
WAVE = f"""{HEAD}
declare float @__nv_sinf(float)
define void @wave(float* %p) {{
  %x = load float, float* %p
  %y = call float @__nv_sinf(float %x)
  store float %y, float* %p
  ret void
}}
!nvvm.annotations = !{{!0}}
!0 = !{{void (float*)* @wave, !"kernel", i32 1}}
{VERSION}"""
CALLER = f"""{HEAD}
declare i32 @answer()
define void @ask(i32* %p) {{
  %x = call i32 @answer()
  store i32 %x, i32* %p
  ret void
}}
!nvvm.annotations = !{{!0}}
!0 = !{{void (i32*)* @ask, !"kernel", i32 1}}
{VERSION}"""
CALLED = f"{HEAD}\ndefine i32 @answer() {{\n  ret i32 12345\n}}\n{VERSION}"
PTX = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p) {
  .reg .u64 %rd<3>;
  .reg .u32 %r<2>;
  ld.param.u64 %rd1, [p];
  cvta.to.global.u64 %rd2, %rd1;
  mov.u32 %r1, 7;
  st.global.u32 [%rd2], %r1;
  ret;
}
"""


def require(*names: str) -> None:
    for name in names:
        try:
            pathfinder.load(name)
        except pathfinder.LibraryNotFound as error:
            pytest.skip(str(error).splitlines()[0])


@pytest.fixture
def nvvm() -> None:
    require("nvvm")


@pytest.fixture
def nvjitlink() -> None:
    require("nvJitLink")


with_nvvm = pytest.mark.usefixtures("nvvm")
with_nvjitlink = pytest.mark.usefixtures("nvjitlink")


def options(**more) -> ProgramOptions:
    return ProgramOptions(arch="sm_90", **more)


# -- NVVM -------------------------------------------------------------------------------------------------


@with_nvvm
@pytest.mark.parametrize("form", [str, str.encode, lambda text: bytearray(text.encode())])
def test_text_to_ptx_with_libdevice(form) -> None:
    program = Program(form(WAVE), "nvvm", options(use_libdevice=True, name="wave.ll"))
    assert program.backend == "NVVM"
    made = program.compile("ptx")
    assert (made.code_type, made.name) == ("ptx", "wave.ll")
    assert b".visible .entry wave(" in made.code and b".target sm_90" in made.code
    assert b"call" not in made.code, "libdevice is in it"


@with_nvvm
def test_options_reach_the_compiler() -> None:
    def ptx(**more) -> bytes:
        return Program(WAVE, "nvvm", options(use_libdevice=True, **more)).compile("ptx").code

    plain = ptx()
    assert b".ftz." not in plain and b".ftz." in ptx(ftz=True)
    assert len(ptx(device_code_optimize=False)) > len(plain)


@with_nvvm
def test_to_lto_code_that_links_with_cxx() -> None:
    require("nvrtc", "nvJitLink")
    called = Program(CALLED, "nvvm", options(name="called")).compile("ltoir")
    source = 'extern "C" __device__ int answer(); extern "C" __global__ void k(int *p) { *p = answer(); }'
    caller = Program(source, "c++", options(relocatable_device_code=True)).compile("ltoir")
    how = LinkerOptions(arch="sm_90", link_time_optimization=True, ptx=True)
    linked = Linker(called, caller, options=how).link("ptx").code
    assert b"12345" in linked and b"call" not in linked


@with_nvvm
@with_nvjitlink
def test_a_kernel_in_lto_code_has_to_be_said_to_be_used() -> None:
    """Else nvJitLink drops it: an annotation is not enough."""
    used = "@llvm.used = appending global [1 x i8*] [i8* bitcast (void (float*)* @wave to i8*)]"
    text = WAVE.replace("!nvvm.annotations", f'{used}, section "llvm.metadata"\n!nvvm.annotations')
    code = Program(text, "nvvm", options(use_libdevice=True)).compile("ltoir")
    linked = Linker(code, options=LinkerOptions(arch="sm_90", link_time_optimization=True)).link("cubin")
    assert b".text.wave\0" in linked.code


@with_nvvm
@with_nvjitlink
def test_to_a_cubin() -> None:
    made = Program(WAVE, "nvvm", options(use_libdevice=True, max_register_count=32)).compile("cubin")
    assert made.code.startswith(b"\x7fELF") and b".text.wave\0" in made.code


@with_nvvm
@pytest.mark.parametrize("form", [str, str.encode, lambda text: bytearray(text.encode())])
def test_extra_sources(form) -> None:
    ptx = Program(CALLER, "nvvm", options(extra_sources=[("called", form(CALLED))])).compile("ptx").code
    assert b"12345" in ptx and b".entry ask(" in ptx


@with_nvvm
def test_bitcode() -> None:
    """libdevice, the one piece of bitcode that is always there, as the program itself."""
    if pathfinder.load("nvvm").major == 12:
        pytest.skip("nvvmVerifyProgram of CUDA 12 refuses the intrinsics that libdevice uses")
    bitcode = Path(pathfinder.find_bitcode_lib("device")).read_bytes()
    assert bitcode.startswith(b"BC\xc0\xde")
    ptx = Program(bitcode, "nvvm", options(extra_sources=(("wave", WAVE),))).compile("ptx").code
    assert b".visible .entry wave(" in ptx


@pytest.mark.parametrize(
    "wrong", [["called"], [("called",)], [("called", 1)], [(1, "text")], ["ab"], [["called", CALLED]]]
)
@with_nvvm
def test_extra_sources_that_are_none(wrong) -> None:
    with pytest.raises(TypeError, match="extra"):
        Program(CALLER, "nvvm", options(extra_sources=wrong)).compile("ptx")


@with_nvvm
def test_ptx_of_a_program_for_link_time_optimization() -> None:
    plain, made = (
        Program(WAVE, "nvvm", options(use_libdevice=True, link_time_optimization=lto)).compile("ptx").code
        for lto in (None, True)
    )
    assert made == plain and b".entry wave" in made


@with_nvvm
def test_a_program_compiles_again() -> None:
    program = Program(WAVE, "nvvm", options(use_libdevice=True))
    first = program.compile("ptx")
    assert program.compile("ltoir").code != first.code
    assert program.compile("ptx").code == first.code
    assert int(program.handle)


@with_nvvm
def test_ir_that_does_not_parse() -> None:
    with pytest.raises(CompileError) as caught:
        Program(HEAD + "nonsense", "nvvm", options(name="wrong.ll", ftz=True)).compile("ptx")
    error = caught.value
    assert isinstance(error, nvvmError) and isinstance(error.status, NVVMResult)
    again = pickle.loads(pickle.dumps(error))
    assert (again.status, again.code, str(again)) == (error.status, error.code, str(error))
    assert error.name == "NVVM_ERROR_INVALID_IR" and "wrong.ll" in error.log
    assert error.options == ("-arch=compute_90", "-ftz=1")
    assert error.library == pathfinder.load("nvvm").path
    for part in (error.log, error.library, "libNVVM 2.", "-ftz=1"):
        assert part in str(error)


@with_nvvm
@with_nvjitlink
def test_what_is_undefined_is_named() -> None:
    with pytest.raises(CompileError, match="__nv_sinf"):
        Program(WAVE, "nvvm", options()).compile("cubin")


@with_nvvm
def test_names_are_for_cxx() -> None:
    with pytest.raises(ValueError, match=r"for C\+\+"):
        Program(WAVE, "nvvm", options()).compile("ptx", name_expressions=["wave"])


def test_libdevice_is_beside_libnvvm() -> None:
    require("nvvm")
    path = pathfinder.find_bitcode_lib("device")
    assert path.endswith("libdevice.10.bc") and Path(path).is_absolute()
    with pytest.raises(ValueError, match="'device'"):
        pathfinder.find_bitcode_lib("other")


def test_no_libdevice(monkeypatch, tmp_path) -> None:
    library = pathfinder.Loaded("nvvm", None, str(tmp_path / "a/b/c/libnvvm.so"), "pip", 13)
    monkeypatch.setattr(pathfinder, "load", lambda name: library)
    with pytest.raises(
        pathfinder.LibraryNotFound, match=r"not near .*libnvvm.so[\s\S]*pip install nvidia-nvvm"
    ):
        pathfinder.find_bitcode_lib("device")


@pytest.mark.parametrize(
    ("library", "libdevice"),
    [
        ("nvidia/cuda_nvcc/nvvm/lib64/libnvvm.so", "nvidia/cuda_nvcc/nvvm/libdevice"),  # wheels of CUDA 12
        ("nvidia/cu13/lib/libnvvm.so.4", "nvidia/cu13/nvvm/libdevice"),  # and 13
        ("cuda/nvvm/lib64/libnvvm.so.4", "cuda/nvvm/libdevice"),  # a toolkit
        ("env/nvvm/lib64/libnvvm.so.4", "env/nvvm/libdevice"),  # conda
        ("CUDA/v13.0/nvvm/bin/x64/nvvm64_40_0.dll", "CUDA/v13.0/nvvm/libdevice"),  # Windows
    ],
)
def test_where_libdevice_is(monkeypatch, tmp_path, library, libdevice) -> None:
    folder = tmp_path / libdevice
    folder.mkdir(parents=True)
    (folder / "libdevice.10.bc").touch()
    loaded = pathfinder.Loaded("nvvm", None, str(tmp_path / library), "pip", 13)
    monkeypatch.setattr(pathfinder, "load", lambda name: loaded)
    assert Path(pathfinder.find_bitcode_lib("device")) == (folder / "libdevice.10.bc").resolve()


# -- PTX --------------------------------------------------------------------------------------------------


@with_nvjitlink
@pytest.mark.parametrize("verb", ["compile", "link"])
def test_ptx_to_a_cubin(verb) -> None:
    program = Program(PTX, "ptx", options(name="seven.ptx", max_register_count=24))
    assert program.backend == "nvJitLink" and program.handle is None
    made = getattr(program, verb)("cubin")
    assert (made.code_type, made.name) == ("cubin", "seven.ptx")
    assert made.code.startswith(b"\x7fELF") and b".text.k\0" in made.code


@with_nvjitlink
def test_what_the_linker_says_goes_to_logs() -> None:
    log = io.StringIO()
    fresh = options(ptxas_options="-v", no_cache=True)  # what it has in its cache it says nothing of
    Program(PTX, "ptx", fresh).compile("cubin", logs=log)
    assert "registers" in log.getvalue() and "\0" not in log.getvalue()


@with_nvjitlink
def test_ptx_that_does_not_compile() -> None:
    wrong = PTX.replace("ret;", "nonsense;")
    with pytest.raises(CompileError, match="nonsense") as caught:
        Program(wrong, "ptx", options(name="wrong.ptx")).compile("cubin")
    assert isinstance(caught.value, nvJitLinkError)
    assert caught.value.status == pickle.loads(pickle.dumps(caught.value)).status
    assert "wrong.ptx" in str(caught.value) and caught.value.library == pathfinder.load("nvJitLink").path


@with_nvjitlink
def test_options_without_effect_on_ptx_are_a_warning() -> None:
    with pytest.warns(UserWarning, match=r"define_macro, numba_debug, std: without effect on PTX") as caught:
        program = Program(PTX, "ptx", options(std="c++17", define_macro="A", numba_debug=True, ftz=False))
    assert caught[0].filename == __file__
    assert b".text.k\0" in program.compile("cubin").code
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Program(PTX, "ptx", options(ftz=True, prec_div=False, lineinfo=True, debug=False, no_cache=True))


def test_ptx_has_one_target() -> None:
    with pytest.raises(ValueError, match="ptx compiles to cubin, not 'ptx'"):
        Program(PTX, "ptx", options()).compile("ptx")


def test_ptx_by_the_driver_needs_one(monkeypatch) -> None:
    monkeypatch.setattr(linker_module, "_nvjitlink_is_missing", lambda: "this test wants the driver")
    program = Program(PTX, "ptx", options())
    assert program.backend == "driver"


@with_nvjitlink
def test_ptx_is_what_it_was(monkeypatch) -> None:
    """The same cubin from a Program as from a Linker."""
    linked = Linker(ObjectCode.from_ptx(PTX, name="k"), options=LinkerOptions(arch="sm_90")).link("cubin")
    assert Program(PTX, "ptx", options(name="k")).compile("cubin").code == linked.code
