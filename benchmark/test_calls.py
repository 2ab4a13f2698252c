"""What other calls cost the host."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

import cudapy.driver
import cudapy.nvrtc
from cudapy import pathfinder

from .calls import (
    CORE,
    GETTERS_AND_QUEUES,
    LOOKUPS,
    MAKERS,
    PAGE_LOCKED,
    Call,
    scope_by_hand,
    scope_of,
    scope_of_core_calls,
)
from .conftest import Race
from .gpu import Gpu
from .kernels import SAXPY
from .timing import Contender, Loop
from .twin import Twin

GROUP = "calls"

MODULE = Call(
    "cuModuleLoadData",
    "err, module = cuModuleLoadData(cubin); err, = cuModuleUnload(module)",
    "cuModuleLoadData(handle_at, cubin); cuModuleUnload(handle)",
    20,
)


@pytest.mark.gpu
@pytest.mark.parametrize(
    "call", [*GETTERS_AND_QUEUES, *PAGE_LOCKED, *LOOKUPS, *MAKERS, MODULE], ids=lambda call: call.name
)
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
@pytest.mark.parametrize("call", CORE, ids=lambda call: call.name)
def test_core(race: Race, gpu: Gpu, twin: Callable[..., Contender], call: Call) -> None:
    by_hand = {known.name: known.by_hand or "" for known in (*GETTERS_AND_QUEUES, *MAKERS)}

    def loop(package: str) -> Loop:
        scope = scope_of_core_calls(import_module(package))
        return Loop(call.statement, scope, call.calls, scope["stream"].sync)

    rivals: dict[str, Callable[[], Contender]] = {
        "C++": lambda: twin(call.name, call.calls),
        "cuda.core": lambda: loop("cuda.core"),
        "plain ctypes": lambda: Loop(
            by_hand[call.name], scope_by_hand(gpu.library, gpu.handles()), call.calls, gpu.drain
        ),
    }
    race(GROUP, f"core: {call.statement}", loop("cudapy.core"), rivals)


OPTION = "--gpu-architecture=compute_80"


def with_nvrtc(nvrtc: Any) -> Loop:
    """SAXPY from source to PTX with a package that has the functions of NVRTC."""

    def to_ptx(source: bytes, option: bytes) -> bytes:
        def check(result: Any) -> Any:
            if result[0].value:
                raise RuntimeError(f"{result[0]!r}")
            return result[-1]

        program = check(nvrtc.nvrtcCreateProgram(source, b"saxpy.cu", 0, None, None))
        check(nvrtc.nvrtcCompileProgram(program, 1, [option]))
        ptx: bytes = b" " * check(nvrtc.nvrtcGetPTXSize(program))
        check(nvrtc.nvrtcGetPTX(program, ptx))
        check(nvrtc.nvrtcDestroyProgram(program))
        return ptx

    scope = {"to_ptx": to_ptx, "source": SAXPY.encode(), "option": OPTION.encode()}
    return Loop("ptx = to_ptx(source, option)", scope, calls=1)


def test_nvrtc(race: Race) -> None:
    try:
        library = pathfinder.load("nvrtc").path
    except pathfinder.LibraryNotFound as error:
        pytest.skip(str(error).splitlines()[0])

    def twin() -> Contender:
        return Twin("compile.cpp", library, SAXPY, OPTION, libraries=()).contender("compile", 1)

    race(
        GROUP,
        "NVRTC: SAXPY to PTX",
        with_nvrtc(cudapy.nvrtc),
        {"C++": twin, "cuda.bindings": lambda: with_nvrtc(import_module("cuda.bindings.nvrtc"))},
        rounds=11,
    )
