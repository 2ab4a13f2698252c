"""What the hot functions of the runtime cost the host."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

from cudapy import pathfinder, runtime
from turns.rounds import Contender, Loop
from turns.twin import Twin

from .calls import Call
from .conftest import Race
from .gpu import Gpu
from .machine import reason
from .runtime_calls import CALLS, Handles, scope_by_hand, scope_of
from .twin import opened

pytestmark = pytest.mark.gpu

GROUP = "runtime"


@pytest.fixture(scope="module")
def handles(gpu: Gpu) -> Handles:
    """What the calls are made with, or a skip that says why there is no runtime."""
    try:
        return Handles(gpu.cubin)
    except RuntimeError as error:
        pytest.skip(f"no runtime: {reason(error)}")


@pytest.fixture(scope="module")
def twin(gpu: Gpu) -> Callable[[str, int], Contender]:
    """What makes a C++ contender."""
    running: list[Twin] = []

    def contender(case: str, calls: int) -> Contender:
        if not running:
            running.append(opened("runtime.cpp", str(gpu.cubin_file), libraries=("cudart",)))
        return running[0].contender(case, calls)

    return contender


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.name)
def test_runtime(race: Race, handles: Handles, twin: Callable[..., Contender], call: Call) -> None:
    by_hand = call.by_hand or ""

    def loop(module: Any) -> Loop:
        scope = scope_of(module, handles, call.statement)
        return Loop(call.statement, scope, call.calls, handles.drain)

    def floor() -> Loop:
        scope = scope_by_hand(pathfinder.load("cudart").path, handles, by_hand)
        return Loop(by_hand, scope, call.calls, handles.drain)

    rivals: dict[str, Callable[[], Contender]] = {
        "C++": lambda: twin(call.name, call.calls),
        "cuda.bindings": lambda: loop(import_module("cuda.bindings.runtime")),
        "plain ctypes": floor,
    }
    race(GROUP, call.name, loop(runtime), rivals)
