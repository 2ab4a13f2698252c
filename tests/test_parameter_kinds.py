"""What PTX declares of the parameters of kernels, and where that is known: with the real NVRTC."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cudapy import nvrtc, pathfinder
from cudapy._core.compile import compile_cache
from cudapy._core.kernels.parameter_kinds import Parameter, declared, noted, with_note, without_note
from cudapy.core import (
    InMemoryProgramCache,
    Linker,
    LinkerOptions,
    ObjectCode,
    Program,
    ProgramOptions,
)

PTX = b"""
// .visible .entry comment(.param .u64 a) { }
.version 8.0 .target sm_90 .address_size 64 /* .entry another(
.param .u64 a) */ .file 1 "// .entry /* quoted(.param .u64 a)"
.func (.param .b32 func_retval0) f(.param .b32 f_param_0) { ret; }
.visible .entry none() { ret; }
.weak .entry bare { .param .b32 inside; ret; }
.visible .entry k(
\t.param .u64 .ptr .global .align 16 k_param_0,
\t.param .u64 .ptr .align 1 k_param_1, // , .param .u8 x)
\t.param .f32 alpha,
\t.param .f64 k_param_3,
\t.param .f16 k_param_4,
\t.param .s8 k_param_5, .param .u16 k_param_6,
\t.param .b32 k_param_7,
\t.param .b16 k_param_8,
\t.param .align 8 .b8 k_param_9[16],
\t.param .align 2 .b8 %k$[ 2 ]
)
.maxntid 32, 1, 1
{ ret; }
.entry unreadable(.param .texref t, .param .f32 a) { ret; }
"""

KINDS = [("i", 8, ""), ("i", 8, ""), ("f", 4, "alpha"), ("f", 8, ""), ("f", 2, ""), ("i", 1, "")]
KINDS += [("i", 2, ""), ("b", 4, ""), ("b", 2, ""), ("b", 16, ""), ("b", 2, "%k$")]


def test_what_ptx_declares() -> None:
    assert declared(PTX) == {"none": [], "bare": [], "k": [Parameter(*one) for one in KINDS]}
    assert declared(b"") == {}


def test_a_note_stays_with_a_cubin() -> None:
    kernels = declared(PTX)
    code = with_note(b"\x7fELF...", kernels)
    assert code.startswith(b"\x7fELF...") and (noted(code), without_note(code)) == (kernels, b"\x7fELF...")
    assert with_note(b"\x7fELF", {}) == b"\x7fELF", "there is nothing to note"
    flipped = [code[:i] + bytes([code[i] ^ 1]) + code[i + 1 :] for i in range(7, len(code))]
    for other in (b"", b"\x7fELF", code[:-1], code[-16:], code[-24:], bytes(8) + code[-24:], *flipped):
        assert (noted(other), without_note(other)) == ({}, other), "this is none, or not whole"


# -- where the kinds are known ------------------------------------------------------------------------------

SOURCE = """
struct Pair { int a; double b; };
template <typename T> __global__ void scale(T *x, T a, int n) { x[0] = a * n; }
extern "C" __global__ void k(float *x, float a, double d, int n, bool b, Pair p) { *x = a + d + n + b + p.a; }
"""
EXPRESSIONS = ("scale<float>", "scale<int>")
KNOWN = {
    "k": [Parameter(*one) for one in (("i", 8), ("f", 4), ("f", 8), ("i", 4), ("i", 1), ("b", 16))],
    "_Z5scaleIfEvPT_S0_i": [Parameter("i", 8), Parameter("f", 4), Parameter("i", 4)],
    "_Z5scaleIiEvPT_S0_i": [Parameter("i", 8), Parameter("i", 4), Parameter("i", 4)],
}
PLAIN = {"k": KNOWN["k"]}

with_nvrtc = pytest.mark.usefixtures("nvrtc")


@pytest.fixture
def nvjitlink(nvrtc: None) -> None:
    try:
        pathfinder.load("nvJitLink")
    except pathfinder.LibraryNotFound as error:
        pytest.skip(str(error).splitlines()[0])


def program(**more: Any) -> Program:
    return Program(SOURCE, "c++", ProgramOptions(**{"arch": "sm_90", "cuda_headers": False, **more}))


@with_nvrtc
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"max_register_count": 32},
        {"relocatable_device_code": True},
        {"debug": True},
        {"lineinfo": True},
        {"extensible_whole_program": True},
        {"split_compile": 2},
        {"arch": "sm_90a"},
        {"arch": "sm_100"},  # another compiler, which says which parameters are pointers
    ],
    ids=lambda more: "-".join(map(str, more)) or "plain",
)
@pytest.mark.parametrize("target", ["cubin", "ptx"])
def test_of_programs(target: str, more: dict[str, Any]) -> None:
    code = program(**more).compile(target, name_expressions=EXPRESSIONS)
    assert code._kernels() == KNOWN


@with_nvrtc
def test_a_cubin_is_the_compilers_but_for_its_note() -> None:
    code = program().compile("cubin")
    with program() as same:
        handle = same.handle
        nvrtc.checked.nvrtcCompileProgram(handle, 1, [b"--gpu-architecture=sm_90"])
        size = nvrtc.checked.nvrtcGetCUBINSize(handle)
        assert without_note(code.code) == nvrtc.checked.nvrtcGetCUBIN(handle, size)


@with_nvrtc
def test_of_what_was_pickled_or_written() -> None:
    cubin, ptx = program().compile("cubin"), program().compile("ptx")
    for code in (
        pickle.loads(pickle.dumps(cubin)),
        ObjectCode.from_cubin(cubin.code),
        pickle.loads(pickle.dumps(ptx)),
        ObjectCode.from_ptx(ptx.code),
        ObjectCode.from_ptx(ptx.code.decode()),
    ):
        assert code._kernels() == PLAIN
    for other in (
        ObjectCode.from_cubin(without_note(cubin.code)),
        ObjectCode.from_fatbin(ptx.code),
        program(link_time_optimization=True).compile("ltoir"),
    ):
        assert other._kernels() == {}


@pytest.fixture
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    monkeypatch.setenv("CUDAPY_CACHE", "1")
    monkeypatch.setenv("CUDAPY_CACHE_DIR", str(tmp_path))
    compile_cache.clear()
    yield tmp_path / "programs"
    compile_cache.clear()


@with_nvrtc
def test_of_what_comes_from_a_cache(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = InMemoryProgramCache()
    first = program().compile("cubin"), program().compile("cubin", cache=mine)
    compiled = program()
    monkeypatch.setattr(Program, "_build", None)  # nothing is compiled from here on
    assert compiled.compile("cubin")._kernels() == PLAIN
    compile_cache.clear()
    assert compiled.compile("cubin")._kernels() == PLAIN, "from the disk"
    again = compiled.compile("cubin", cache=mine)
    assert again._kernels() == PLAIN and again.code == first[0].code == first[1].code and len(mine) == 1


@pytest.mark.usefixtures("nvjitlink")
def test_of_what_is_linked() -> None:
    other = Program('extern "C" __global__ void other(float a) { }', "c++", ProgramOptions(arch="sm_90"))
    inputs = program(relocatable_device_code=True).compile("cubin"), other.compile("ptx")
    linked = Linker(*inputs, options=LinkerOptions(arch="sm_90")).link("cubin")
    assert linked._kernels() == {**PLAIN, "other": [Parameter("f", 4)]}
    whole = Program(inputs[1].code, "ptx", ProgramOptions(arch="sm_90")).compile("cubin")
    assert whole._kernels() == {"other": [Parameter("f", 4)]}
    lto = program(link_time_optimization=True).compile("ltoir")
    options = {"arch": "sm_90", "link_time_optimization": True}
    assert Linker(lto, options=options).link("cubin")._kernels() == {}, "there was no PTX"
    assert Linker(lto, options={**options, "ptx": True}).link("ptx")._kernels() == PLAIN


def test_a_note_is_small(nvrtc: None) -> None:
    code = program().compile("cubin", name_expressions=EXPRESSIONS).code
    assert len(code) - len(without_note(code)) < 60 * len(KNOWN) + 20 * sum(map(len, KNOWN.values()))
    assert json.dumps(KNOWN).encode() in code
