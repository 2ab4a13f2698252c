"""What other calls cost the host."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import pytest

import cudapy.driver
import cudapy.nvrtc
from cudapy import pathfinder
from turns.rounds import Contender, Loop

from .calls import (
    CORE,
    GATE,
    GETTERS_AND_QUEUES,
    LOOKUPS,
    MAKERS,
    OTHERS,
    PAGE_LOCKED,
    Call,
    scope_by_hand,
    scope_of,
    scope_of_core_calls,
)
from .conftest import Race
from .gpu import Gpu
from .kernels import SAXPY
from .twin import opened

GROUP = "calls"

MODULE = Call(
    "cuModuleLoadData",
    "err, module = cuModuleLoadData(cubin); err, = cuModuleUnload(module)",
    "cuModuleLoadData(handle_at, cubin); cuModuleUnload(handle)",
    20,
)


def rows(*calls: Call) -> pytest.MarkDecorator:
    """The parameters of a test, those in GATE with its mark."""
    marked = [pytest.param(call, marks=[pytest.mark.gate] * (call in GATE), id=call.name) for call in calls]
    return pytest.mark.parametrize("call", marked)


@pytest.mark.gpu
@rows(*GETTERS_AND_QUEUES, *OTHERS, *PAGE_LOCKED, *LOOKUPS, *MAKERS, MODULE)
def test_driver(race: Race, gpu: Gpu, twin: Callable[..., Contender], call: Call) -> None:
    handles = gpu.handles()

    def loop(statement: str, scope: dict[str, Any]) -> Loop:
        return Loop(statement, scope | {"cubin": gpu.cubin}, call.calls, gpu.drain)

    rivals: dict[str, Callable[[], Contender]] = {
        "C++": lambda: twin(call.name, call.calls),
        "cuda.bindings": lambda: loop(
            call.statement, scope_of(import_module("cuda.bindings.driver"), handles)
        ),
    }
    if by_hand := call.by_hand:
        rivals["plain ctypes"] = lambda: loop(by_hand, scope_by_hand(gpu.library, handles))
    name = "cuModuleLoadData+cuModuleUnload" if call is MODULE else call.name
    race(GROUP, name, loop(call.statement, scope_of(cudapy.driver, handles)), rivals)


@pytest.mark.gpu
@rows(*CORE)
def test_core(race: Race, gpu: Gpu, twin: Callable[..., Contender], call: Call) -> None:
    by_hand = {known.name: known.by_hand or "" for known in (*GETTERS_AND_QUEUES, *OTHERS, *MAKERS)}

    def loop(package: str) -> Loop:
        scope = scope_of_core_calls(import_module(package))
        return Loop(call.statement, scope, call.calls, scope["stream"].sync)

    rivals: dict[str, Callable[[], Contender]] = {
        "C++": lambda: twin(call.name, call.calls),
        "cuda.core": lambda: loop("cuda.core"),
        "plain ctypes": lambda: Loop(
            call.by_hand or by_hand[call.name],
            scope_by_hand(gpu.library, gpu.handles()),
            call.calls,
            gpu.drain,
        ),
    }
    race(GROUP, f"core: {call.statement}", loop("cudapy.core"), rivals)


OPTION = "--gpu-architecture=compute_80"


HEADERS = 64


def headers(count: int) -> dict[str, str]:
    """So many headers by name, of ten short functions each."""
    functions = "".join(f"__device__ inline int NAME_{i}(int x) {{ return x + {i}; }}\n" for i in range(10))
    return {f"header{i}.h": functions.replace("NAME", f"f{i}") for i in range(count)}


def with_nvrtc(nvrtc: Any, source: str, included: Mapping[str, str]) -> Loop:
    """From source to PTX with a package that has the functions of NVRTC."""
    texts = [text.encode() for text in included.values()] or None
    names = [name.encode() for name in included] or None

    def to_ptx(source: bytes, option: bytes) -> bytes:
        def check(result: Any) -> Any:
            if result[0].value:
                raise RuntimeError(f"{result[0]!r}")
            return result[-1]

        program = check(nvrtc.nvrtcCreateProgram(source, b"saxpy.cu", len(included), texts, names))
        check(nvrtc.nvrtcCompileProgram(program, 1, [option]))
        ptx: bytes = b" " * check(nvrtc.nvrtcGetPTXSize(program))
        check(nvrtc.nvrtcGetPTX(program, ptx))
        check(nvrtc.nvrtcDestroyProgram(program))
        return ptx

    scope = {"to_ptx": to_ptx, "source": source.encode(), "option": OPTION.encode()}
    return Loop("ptx = to_ptx(source, option)", scope, calls=1)


@pytest.mark.parametrize("count", [0, HEADERS])
def test_nvrtc(race: Race, count: int) -> None:
    included = headers(count)
    source = "".join(f'#include "{name}"\n' for name in included) + SAXPY
    try:
        library = pathfinder.load("nvrtc").path
    except pathfinder.LibraryNotFound as error:
        pytest.skip(str(error).splitlines()[0])

    def twin() -> Contender:
        pairs = [part for name, text in included.items() for part in (text, name)]
        arguments = (library, source, OPTION, str(count), *pairs)
        return opened("compile.cpp", *arguments, libraries=()).contender("compile", 1)

    race(
        GROUP,
        "NVRTC: SAXPY to PTX" + (f", {count} headers" if count else ""),
        with_nvrtc(cudapy.nvrtc, source, included),
        {
            "C++": twin,
            "cuda.bindings": lambda: with_nvrtc(import_module("cuda.bindings.nvrtc"), source, included),
        },
        rounds=11,
    )
