"""Program and ProgramOptions, with the real NVRTC and no GPU."""

from __future__ import annotations

import dataclasses
import io
import pickle
from pathlib import Path

import pytest
from cudapy.core.typing import CompilerBackendType, ObjectCodeFormatType, PCHStatusType

from cudapy import nvrtc, pathfinder
from cudapy.core import CompileError, CUDAError, Linker, ObjectCode, Program, ProgramOptions

with_nvrtc = pytest.mark.usefixtures("nvrtc")

SCALE = """
template <typename T> __global__ void scale(T *x, T factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= factor;
}
extern "C" __global__ void plain(float *x) { x[threadIdx.x] += SHIFT; }
"""


def options(**more):
    return ProgramOptions(**{"arch": "sm_90", "define_macro": ("SHIFT", "1.0f"), **more})


# -- options: no compiler needed --------------------------------------------------------------------------

FLAGS = {
    "relocatable_device_code": (True, ["--relocatable-device-code=true"]),
    "extensible_whole_program": (True, ["--extensible-whole-program"]),
    "debug": (True, ["--device-debug"]),
    "lineinfo": (True, ["--generate-line-info"]),
    "device_code_optimize": (True, ["--dopt=on"]),
    "ptxas_options": (["-v", "-O2"], ["--ptxas-options=-v", "--ptxas-options=-O2"]),
    "max_register_count": (32, ["--maxrregcount=32"]),
    "ftz": (False, ["--ftz=false"]),
    "prec_sqrt": (True, ["--prec-sqrt=true"]),
    "prec_div": (False, ["--prec-div=false"]),
    "fma": (True, ["--fmad=true"]),
    "use_fast_math": (True, ["--use_fast_math"]),
    "extra_device_vectorization": (True, ["--extra-device-vectorization"]),
    "link_time_optimization": (True, ["--dlink-time-opt"]),
    "gen_opt_lto": (True, ["--gen-opt-lto"]),
    "define_macro": (["A", ("B", "2")], ["--define-macro=A", "--define-macro=B=2"]),
    "undefine_macro": ("A", ["--undefine-macro=A"]),
    "include_path": (("/a", "/b"), ["--include-path=/a", "--include-path=/b"]),
    "use_bundled_headers": ("/a", ["--use-bundled-headers=/a"]),
    "pre_include": ("a.h", ["--pre-include=a.h"]),
    "no_source_include": (True, ["--no-source-include"]),
    "std": ("c++20", ["--std=c++20"]),
    "builtin_move_forward": (False, ["--builtin-move-forward=false"]),
    "builtin_initializer_list": (True, ["--builtin-initializer-list=true"]),
    "disable_warnings": (True, ["--disable-warnings"]),
    "restrict": (True, ["--restrict"]),
    "device_as_default_execution_space": (True, ["--device-as-default-execution-space"]),
    "device_int128": (True, ["--device-int128"]),
    "optimization_info": ("inline", ["--optimization-info=inline"]),
    "no_display_error_number": (True, ["--no-display-error-number"]),
    "diag_error": (177, ["--diag-error=177"]),
    "diag_suppress": ([177, 178], ["--diag-suppress=177", "--diag-suppress=178"]),
    "diag_warn": ((177,), ["--diag-warn=177"]),
    "brief_diagnostics": (True, ["--brief-diagnostics=true"]),
    "time": ("/tmp/t.csv", ["--time=/tmp/t.csv"]),
    "split_compile": (0, ["--split-compile=0"]),
    "fdevice_syntax_only": (True, ["--fdevice-syntax-only"]),
    "minimal": (True, ["--minimal"]),
    "no_cache": (True, ["--no-cache"]),
    "fdevice_time_trace": ("/tmp/t.json", ["--fdevice-time-trace=/tmp/t.json"]),
    "device_float128": (True, ["--device-float128"]),
    "frandom_seed": ("7", ["--frandom-seed=7"]),
    "ofast_compile": ("min", ["--Ofast-compile=min"]),
    "pch": (True, ["--pch"]),
    "create_pch": ("a.pch", ["--create-pch=a.pch"]),
    "use_pch": ("a.pch", ["--use-pch=a.pch"]),
    "pch_dir": ("/tmp", ["--pch-dir=/tmp"]),
    "pch_verbose": (False, ["--pch-verbose=false"]),
    "pch_messages": (True, ["--pch-messages=true"]),
    "instantiate_templates_in_pch": (True, ["--instantiate-templates-in-pch=true"]),
    "numba_debug": (True, ["--numba-debug"]),
}
NO_FLAG = {"name", "arch", "cuda_headers", "extra_sources", "use_libdevice"}


def flags_of(**given):
    first, *rest = ProgramOptions(arch="sm_90", **given).as_bytes("NVRTC")
    assert first == b"-arch=sm_90"
    return [flag.decode() for flag in rest]


def test_every_option_is_in_the_table() -> None:
    names = [field.name for field in dataclasses.fields(ProgramOptions)]
    assert len(names) == 56
    assert set(names) == set(FLAGS) | NO_FLAG


@pytest.mark.parametrize("name", FLAGS)
def test_the_flag_of_an_option(name) -> None:
    value, flags = FLAGS[name]
    assert flags_of(**{name: value}) == flags


@pytest.mark.parametrize("name", [n for n, (v, f) in FLAGS.items() if v is True and "=" not in f[0]])
def test_a_plain_flag_is_absent_when_false(name) -> None:
    assert flags_of(**{name: False}) == []


def test_device_code_optimize_is_absent_when_false() -> None:
    assert flags_of(device_code_optimize=False) == []  # NVRTC knows --dopt=on alone


@pytest.mark.parametrize(
    ("macro", "flags"),
    [
        ("A", ["A"]),
        ("A=1", ["A=1"]),
        (("A", "1"), ["A=1"]),
        (["A", "B"], ["A", "B"]),
        (("A", "B", "C"), ["A", "B", "C"]),
        ((("A", "1"), ("B", "2")), ["A=1", "B=2"]),
        ((("A", 1),), ["A=1"]),
    ],
)
def test_macros(macro, flags) -> None:
    assert flags_of(define_macro=macro) == [f"--define-macro={flag}" for flag in flags]


@pytest.mark.parametrize("arch", ["sm_90a", "compute_90a", "90a"])
def test_the_architecture_follows_the_target(arch) -> None:
    made = ProgramOptions(arch=arch)
    assert made.as_bytes("NVRTC", "ptx") == [b"-arch=compute_90a"]
    assert made.as_bytes("NVRTC", "cubin") == [b"-arch=sm_90a"]
    assert made.as_bytes("NVRTC", "ltoir") == [b"-arch=sm_90a", b"--dlink-time-opt"]


@pytest.mark.parametrize("arch", ["sm90", "sm_9", "volta", "", "sm_90 -G"])
def test_what_is_no_architecture(arch) -> None:
    with pytest.raises(ValueError, match="sm_90"):
        ProgramOptions(arch=arch).as_bytes("NVRTC")


@pytest.mark.parametrize("wrong", [{"extra_sources": [("a", "b")]}, {"use_libdevice": True}])
def test_options_that_are_not_for_nvrtc(wrong) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        ProgramOptions(arch="sm_90", **wrong).as_bytes("NVRTC")


def test_lto_code_is_no_cubin() -> None:
    for backend in ("NVRTC", "NVVM"):
        with pytest.raises(ValueError, match="ltoir"):
            ProgramOptions(arch="sm_90", link_time_optimization=True).as_bytes(backend, "cubin")


def test_ptx_of_a_program_for_link_time_optimization_can_be_linked() -> None:
    options = ProgramOptions(arch="sm_90", link_time_optimization=True)
    assert options.as_bytes("NVRTC", "ptx") == [b"-arch=compute_90", b"--relocatable-device-code=true"]
    assert options.as_bytes("NVVM", "ptx") == [b"-arch=compute_90"]
    options.relocatable_device_code = False
    assert options.as_bytes("NVRTC", "ptx")[1:] == [b"--relocatable-device-code=false"]
    assert options.link_time_optimization


def test_a_backend_without_options() -> None:
    with pytest.raises(ValueError, match="'driver' has no command line"):
        ProgramOptions(arch="sm_90").as_bytes("driver")


NVVM_FLAGS = {
    "debug": ([True], ["-g"]),
    "device_code_optimize": ([True, False], ["-opt=3", "-opt=0"]),
    "ftz": ([True, False], ["-ftz=1", "-ftz=0"]),
    "prec_sqrt": ([True, False], ["-prec-sqrt=1", "-prec-sqrt=0"]),
    "prec_div": ([True, False], ["-prec-div=1", "-prec-div=0"]),
    "fma": ([True, False], ["-fma=1", "-fma=0"]),
    "numba_debug": ([True], ["-numba-debug"]),
}


@pytest.mark.parametrize("name", NVVM_FLAGS)
def test_the_flags_of_nvvm(name) -> None:
    for value, flag in zip(*NVVM_FLAGS[name], strict=True):
        made = ProgramOptions(arch="sm_90", **{name: value})
        assert made.as_bytes("NVVM", "ptx") == [b"-arch=compute_90", flag.encode()]
        assert made.as_bytes("NVVM", "ltoir") == [b"-arch=compute_90", b"-gen-lto", flag.encode()]


def test_options_that_nvvm_has_not() -> None:
    for name in set(FLAGS) - set(NVVM_FLAGS) - {"link_time_optimization", "no_cache"}:
        with pytest.raises(ValueError, match=f"{name}: NVVM programs have no such option"):
            ProgramOptions(arch="sm_90", **{name: FLAGS[name][0]}).as_bytes("NVVM", "ptx")


def test_nvvm_to_a_cubin_has_the_options_of_the_linker_too() -> None:
    made = ProgramOptions(arch="sm_90", max_register_count=32, ftz=True)
    assert made.as_bytes("NVVM", "cubin") == [b"-arch=compute_90", b"-ftz=1"]
    assert made.as_bytes("nvJitLink") == [b"-arch=sm_90", b"-maxrregcount=32", b"-ftz=1"]


@pytest.mark.parametrize(("code", "code_type", "error"), [(1, "c++", TypeError), ("", "fortran", ValueError)])
def test_what_is_no_program(code, code_type, error) -> None:
    with pytest.raises(error):
        Program(code, code_type)


# -- the compiler -----------------------------------------------------------------------------------------


@with_nvrtc
@pytest.mark.parametrize(
    ("target", "start"),
    [("ptx", b"//"), ("cubin", b"\x7fELF"), ("ltoir", b"\xedCN\x7f")],
)
@pytest.mark.parametrize("form", [str, str.encode, lambda text: bytearray(text.encode())])
def test_targets(target, start, form) -> None:
    made = Program(form(SCALE), "c++", options(name="scaling")).compile(target)
    assert isinstance(made, ObjectCode)
    assert made.code.startswith(start)
    assert (made.code_type, made.name, made.symbol_mapping) == (target, "scaling", {})


@with_nvrtc
def test_ptx_is_for_the_architecture_and_holds_the_kernel() -> None:
    ptx = Program(SCALE, "c++", options(arch="compute_90a")).compile("ptx").code
    assert b".target sm_90a" in ptx
    assert b".entry plain(" in ptx


@with_nvrtc
def test_options_reach_the_compiler() -> None:
    def ptx(**more):
        return Program(SCALE, "c++", options(**more)).compile("ptx").code

    assert b"0f40E00000" in ptx(define_macro=("SHIFT", "7.0f"))  # 7 in hexadecimal
    assert b".debug_info" not in ptx() and b".debug_info" in ptx(debug=True)
    assert b"add.f32" in ptx() and b"add.ftz.f32" in ptx(ftz=True)


@with_nvrtc
def test_include_path(tmp_path) -> None:
    (tmp_path / "shift.h").write_text("#define SHIFT 7.0f")
    code = '#include "shift.h"\n' + SCALE
    made = Program(code, "c++", ProgramOptions(arch="sm_90", include_path=str(tmp_path))).compile("ptx")
    assert b"0f40E00000" in made.code


@with_nvrtc
def test_name_expressions_become_mangled_names() -> None:
    names = ("scale<float>", "scale<double>", "scale<float>")
    made = Program(SCALE, "c++", options()).compile("ptx", name_expressions=names)
    assert set(made.symbol_mapping) == {"scale<float>", "scale<double>"}
    assert len(set(made.symbol_mapping.values())) == 2
    for mangled in made.symbol_mapping.values():
        assert b".entry %b(" % mangled in made.code
    made.symbol_mapping.clear()
    assert made.symbol_mapping, "a copy is handed out"


@with_nvrtc
@pytest.mark.parametrize("name", ["scale<int>", b"scale<int>"])
def test_one_name_is_one_name_expression(
    name: str | bytes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It is a key as it was given, also in what comes from the cache."""
    monkeypatch.setenv("CUDAPY_CACHE", "1")
    monkeypatch.setenv("CUDAPY_CACHE_DIR", str(tmp_path))
    for _ in range(2):
        made = Program(SCALE, "c++", options()).compile("ptx", name_expressions=name)
        assert made.symbol_mapping == {name: b"_Z5scaleIiEvPT_S0_i"}


@with_nvrtc
def test_what_a_program_says_of_itself_are_members_that_equal_their_texts(tmp_path: Path) -> None:
    program = Program(SCALE, "c++", options(pch=True, pch_dir=str(tmp_path)))
    assert program.backend is CompilerBackendType.NVRTC and program.backend == "NVRTC"
    assert Linker.which_backend() is CompilerBackendType(str(Linker.which_backend()))
    if nvrtc.checked.nvrtcVersion() >= (12, 8):
        program.compile("ptx")
        assert program.pch_status is PCHStatusType(str(program.pch_status))
    for target in ("ptx", ObjectCodeFormatType.CUBIN):
        made = Program(SCALE, "c++", options()).compile(target)
        for code in (made, pickle.loads(pickle.dumps(made))):
            assert code.code_type is ObjectCodeFormatType(target) and code.code_type == str(target)
            assert f"{code.code_type}" == str(target) and {str(target): 1}[code.code_type]


@with_nvrtc
def test_a_program_compiles_again_to_other_targets_and_names() -> None:
    program = Program(SCALE, "c++", options())
    first = program.compile("ptx", name_expressions=["scale<int>"])
    second = program.compile("cubin", name_expressions=["scale<float>"])
    third = program.compile("ptx")
    assert set(first.symbol_mapping) == {"scale<int>"}
    assert set(second.symbol_mapping) == {"scale<float>"}
    assert b".entry plain(" in third.code and not third.symbol_mapping


@with_nvrtc
def test_warnings_go_to_logs() -> None:
    code = SCALE + "__device__ int unfinished() { int unused = 1; }"
    log = io.StringIO()
    Program(code, "c++", options(name="warned.cu")).compile("ptx", logs=log)
    assert "warned.cu" in log.getvalue() and "warning" in log.getvalue()
    assert "\0" not in log.getvalue()
    log = io.StringIO()
    Program(SCALE, "c++", options()).compile("ptx", logs=log)
    assert log.getvalue() == ""


@with_nvrtc
def test_a_failure_tells_everything() -> None:
    code = "\n".join(f"__global__ void k{i}() {{ missing_{i}(); }}" for i in range(50))
    with pytest.raises(CompileError) as caught:
        Program(code, "c++", options(name="broken.cu", std="c++17")).compile("cubin")
    error = caught.value
    assert isinstance(error, CUDAError)
    assert (error.name, error.code, error.function) == ("NVRTC_ERROR_COMPILATION", 6, "nvrtcCompileProgram")
    assert error.options == ("-arch=sm_90", "--define-macro=SHIFT=1.0f", "--std=c++17")
    assert all(f"missing_{i}" in error.log for i in range(50)), "the log is whole"
    message = str(error)
    assert error.log in message and " ".join(error.options) in message
    assert pathfinder.load("nvrtc").path in message and "NVRTC 1" in message
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.log, again.options) == (message, error.log, error.options)
    assert again.code == error.code


@with_nvrtc
def test_an_unknown_option_value_is_a_compile_error() -> None:
    with pytest.raises(CompileError, match=r"NVRTC_ERROR_INVALID_OPTION[\s\S]*c\+\+99"):
        Program(SCALE, "c++", options(std="c++99")).compile("ptx")


@with_nvrtc
def test_a_name_that_does_not_exist() -> None:
    with pytest.raises(CompileError, match="nothing_like_it"):
        Program(SCALE, "c++", options()).compile("ptx", name_expressions=["nothing_like_it<int>"])


def test_a_name_that_is_no_str() -> None:
    """Whether the result is in a cache or not."""
    for names, kind in (([bytearray(b"scale<int>")], "bytearray"), ((None,), "NoneType")):
        with pytest.raises(TypeError, match=f"name_expressions has str or bytes, not {kind}"):
            Program(SCALE, "c++", options()).compile("ptx", name_expressions=names)


@with_nvrtc
@pytest.mark.parametrize(
    ("code", "wrong", "names"),
    [
        ("\0__global__ void k() {}", {}, ()),
        (b"__global__ void k() {}\0 }", {}, ()),
        ("", {"name": "a\0b"}, ()),
        ("", {"define_macro": "A=1\0B"}, ()),
        ("", {"std": "c++17\0, and more"}, ()),
        ("template <int> __global__ void k() {}", {}, ("k<1>\0<2>",)),
    ],
)
def test_what_c_would_cut_at_a_nul(code, wrong, names) -> None:
    with pytest.raises(ValueError, match=r"has a NUL character at \d+, where C would end it"):
        Program(code, "c++", ProgramOptions(arch="sm_90", **wrong)).compile("ptx", names, cache=False)


@with_nvrtc
def test_text_may_end_with_a_nul() -> None:
    code = b'extern "C" __global__ void k() {}\0'
    assert b".entry k(" in Program(code, "c++", ProgramOptions(arch="sm_90")).compile("ptx").code


@with_nvrtc
def test_options_are_a_dict_too() -> None:
    made = Program(SCALE, "c++", {"arch": "sm_80", "name": "by_dict", "define_macro": "SHIFT=1"}).compile(
        "ptx"
    )
    assert b".target sm_80" in made.code and made.name == "by_dict"
    with pytest.raises(TypeError, match="ProgramOptions or a dict of them, not str"):
        Program(SCALE, "c++", "-G")


@with_nvrtc
def test_a_target_that_does_not_exist() -> None:
    with pytest.raises(ValueError, match="ptx or cubin or ltoir"):
        Program(SCALE, "c++", options()).compile("exe")


@with_nvrtc
def test_a_closed_program() -> None:
    with Program(SCALE, "c++", options()) as program:
        assert program.backend == "NVRTC" and not program.is_closed and int(program.handle)
    assert program.is_closed and "closed" in repr(program)
    program.close()
    with pytest.raises(RuntimeError, match="this Program is closed"):
        program.compile("ptx")


@with_nvrtc
def test_object_code_is_pickled_whole() -> None:
    made = Program(SCALE, "c++", options(name="p")).compile("ptx", name_expressions=["scale<int>"])
    again = pickle.loads(pickle.dumps(made))
    for name in ("code", "code_type", "name", "symbol_mapping"):
        assert getattr(again, name) == getattr(made, name)


# -- object code, not loaded ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["cubin", "ptx", "ltoir", "fatbin", "object", "library"])
def test_object_code_from_bytes_and_files(kind, tmp_path) -> None:
    make = getattr(ObjectCode, f"from_{kind}")
    path = tmp_path / "code.bin"
    path.write_bytes(b"\0code")
    for module in (b"\0code", bytearray(b"\0code"), path, str(path)):
        made = make(module, name="n", symbol_mapping={"a": "b"})
        assert (made.code, made.code_type, made.name, made.symbol_mapping) == (
            b"\0code",
            kind,
            "n",
            {"a": "b"},
        )
    with pytest.raises(FileNotFoundError):
        make(tmp_path / "absent")


def test_ptx_may_be_its_own_text() -> None:
    assert ObjectCode.from_ptx(".version 8.0\n.target sm_90\n").code.startswith(b".version")


@pytest.mark.parametrize("kind", ["ltoir", "object", "library"])
def test_code_that_has_to_be_linked_first(kind) -> None:
    with pytest.raises(RuntimeError, match="link"):
        getattr(ObjectCode, f"from_{kind}")(b"code").get_kernel("k")


def test_object_code_has_no_constructor() -> None:
    with pytest.raises(TypeError, match="from_cubin"):
        ObjectCode()
