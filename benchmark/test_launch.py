"""What a kernel launch costs the host."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import pytest

import cudapy.driver
from turns.rounds import Contender, Loop, Threads

from . import peers
from .calls import (
    ARRAYS,
    EX,
    GRAPH,
    INSTANTIATE,
    LAUNCH,
    LAUNCH_CONFIG,
    LAUNCH_SYNC,
    POINTERS,
    ROUND_TRIP,
    TUPLES,
    TURNS,
    UPDATE,
    Call,
    scope_by_hand,
    scope_of,
    scope_of_core,
    with_arguments,
)
from .conftest import Race, Rivals
from .gpu import Gpu
from .kernels import MANY

pytestmark = pytest.mark.gpu

NAMES = {
    "empty": "no arguments",
    "saxpy": "5 arguments",
    "large": "2 KB struct",
    **{f"many{n}": f"{n} arguments" for n in MANY},
}
GROUP = "launch"


def with_driver(gpu: Gpu, driver: Any, kernel: str, call: Call) -> Loop:
    """`call` with a package that has the functions of the driver."""
    import numpy

    arguments = gpu.arguments(kernel)
    scope = scope_of(driver, gpu.handles(kernel)) | {
        "array": numpy.array,
        "uint64": numpy.uint64,
        "dtypes": [numpy.dtype("u8" if t is ctypes.c_void_p else t) for t in arguments.types if t],
    }
    return Loop(call.statement, scope, call.calls, gpu.drain)


def driver_rivals(gpu: Gpu, twin: Callable[..., Contender], kernel: str, call: Call, case: str) -> Rivals:
    """C++, cuda.bindings, and ctypes where the call can be made by hand."""
    rivals: dict[str, Callable[[], Contender]] = {
        "C++": lambda: twin(case, call.calls),
        "cuda.bindings": lambda: with_driver(gpu, import_module("cuda.bindings.driver"), kernel, call),
    }
    if by_hand := call.by_hand:
        scope = scope_by_hand(gpu.library, gpu.handles(kernel))
        rivals["plain ctypes"] = lambda: Loop(by_hand, scope, call.calls, gpu.drain)
    return rivals


@pytest.mark.parametrize(
    ("kernel", "call"),
    [
        ("empty", POINTERS),
        *(pytest.param("saxpy", call, marks=pytest.mark.gate) for call in (POINTERS, TURNS, TUPLES)),
        ("saxpy", ARRAYS),
        ("saxpy", EX),
        ("saxpy", ROUND_TRIP),
        *((f"many{n}", call) for n in MANY for call in (POINTERS, TUPLES)),
        ("large", POINTERS),
        ("large", TUPLES),
    ],
    ids=lambda value: value if isinstance(value, str) else value.name.replace(" ", "-"),
)
def test_driver(race: Race, gpu: Gpu, twin: Callable[..., Contender], kernel: str, call: Call) -> None:
    case = {EX: "saxpy_ex", ROUND_TRIP: "round trip", TURNS: "turns"}.get(call, kernel)
    race(
        GROUP,
        f"{NAMES[kernel]}: {call.name}",
        with_driver(gpu, cudapy.driver, kernel, call),
        driver_rivals(gpu, twin, kernel, call, case),
        rounds=51 if kernel == "many512" else 101,  # 512 arguments take a quarter of a millisecond
    )


def by_hand(gpu: Gpu, kernel: str, call: Call = EX) -> Contender:
    """The launch with everything made before, arguments included: the floor."""
    scope = scope_by_hand(gpu.library, gpu.handles(kernel))
    return Loop(call.by_hand or "", scope, call.calls, gpu.drain)


@pytest.mark.parametrize(
    ("kernel", "call", "buffers"),
    [
        ("empty", LAUNCH, False),
        *(pytest.param("saxpy", LAUNCH, buffers, marks=pytest.mark.gate) for buffers in (False, True)),
        ("saxpy", LAUNCH_CONFIG, True),
        ("saxpy", LAUNCH_SYNC, True),
        *((f"many{n}", LAUNCH, False) for n in MANY),
    ],
    ids=lambda value: value.name.replace(" ", "-") if isinstance(value, Call) else str(value),
)
def test_core(
    race: Race, gpu: Gpu, twin: Callable[..., Contender], kernel: str, call: Call, buffers: bool
) -> None:
    core = pytest.importorskip("cudapy.core", exc_type=ImportError)

    def loop(core: Any) -> Loop:
        scope = scope_of_core(core, gpu.cubin, kernel, gpu.handles(kernel), buffers)
        return Loop(with_arguments(call, scope), scope, call.calls, scope["stream"].sync)

    rivals: dict[str, Callable[[], Contender]] = {
        "C++": lambda: twin("round trip" if call is LAUNCH_SYNC else kernel, call.calls),
        "cuda.core": lambda: loop(import_module("cuda.core")),
        "plain ctypes": lambda: by_hand(gpu, kernel, ROUND_TRIP if call is LAUNCH_SYNC else EX),
    }
    if kernel == "empty" or (buffers and call is LAUNCH):
        rivals |= {who: partial(make, gpu, kernel) for who, make in peers.LAUNCHES.items()}
    what = ", buffers" if buffers else ", ints" if kernel != "empty" else ""
    race(GROUP, f"{NAMES[kernel]}: {call.name}{what}", loop(core), rivals)


@pytest.mark.parametrize(("kernel", "buffers"), [("empty", False), ("saxpy", False), ("saxpy", True)])
def test_prepared(race: Race, gpu: Gpu, twin: Callable[..., Contender], kernel: str, buffers: bool) -> None:
    """A launch made ready once: an executable graph of one kernel, which gets its arguments and runs.

    "C++, a graph" does the same, `cuGraphExecKernelNodeSetParams` (if there are arguments) and
    `cuGraphLaunch`; the others launch as they do elsewhere, and have nothing of the kind.
    """
    from cudapy import core

    scope = scope_of_core(core, gpu.cubin, kernel, gpu.handles(kernel), buffers)
    names = [name for name in scope if name[0] == "a" and name[1:].isdigit()]
    scope["run"] = core.prepare(scope["stream"], scope["config"], scope["kernel"], *map(scope.get, names))
    mine = Loop(f"run({', '.join(names)})", scope, LAUNCH.calls, scope["stream"].sync)

    def theirs() -> Loop:
        scope = scope_of_core(import_module("cuda.core"), gpu.cubin, kernel, gpu.handles(kernel), buffers)
        return Loop(with_arguments(LAUNCH, scope), scope, LAUNCH.calls, scope["stream"].sync)

    rivals: dict[str, Callable[[], Contender]] = {
        "C++": lambda: twin(kernel, LAUNCH.calls),
        "C++, a graph": lambda: twin(f"prepared {kernel}", LAUNCH.calls),
        "cuda.core": theirs,
        "plain ctypes": lambda: by_hand(gpu, kernel),
    }
    what = ", buffers" if buffers else ", ints" if kernel != "empty" else ""
    race(GROUP, f"{NAMES[kernel]}: prepared launch{what}", mine, rivals)


@pytest.mark.parametrize("nodes", [1, 20, 1000])
@pytest.mark.parametrize("call", [INSTANTIATE, UPDATE, GRAPH], ids=lambda call: call.name)
def test_graph(race: Race, gpu: Gpu, twin: Callable[..., Contender], call: Call, nodes: int) -> None:
    calls = max(1, call.calls // nodes) if nodes > 20 else call.calls
    handles = gpu.handles(nodes=nodes)

    def loop(driver: Any) -> Loop:
        return Loop(call.statement, scope_of(driver, handles), calls, gpu.drain)

    rivals: dict[str, Callable[[], Contender]] = {
        "C++": lambda: twin(f"{call.name} {nodes}", calls),
        "cuda.bindings": lambda: loop(import_module("cuda.bindings.driver")),
        "plain ctypes": lambda: Loop(
            call.by_hand or "", scope_by_hand(gpu.library, handles), calls, gpu.drain
        ),
    }
    name = f"graph of {nodes} kernel{'s' * (nodes > 1)}: {call.name}"
    race(GROUP, name, loop(cudapy.driver), rivals, rounds=101 if nodes <= 20 else 51)


@pytest.mark.parametrize("count", [1, 2, 4, 8])
def test_threads(race: Race, gpu: Gpu, twin: Callable[..., Contender], count: int) -> None:
    """Launches from several threads at once, each into a stream of its own: the time over their number."""
    streams = [int(cudapy.driver.checked.cuStreamCreate(1)) for _ in range(count)]
    context = int(cudapy.driver.checked.cuCtxGetCurrent())

    def threads(driver: Any) -> Threads:
        handles = gpu.handles("saxpy")
        scope = scope_of(driver, handles)
        loops = [
            Loop(POINTERS.statement, scope | {"stream": driver.CUstream(stream)}, 500, gpu.drain)
            for stream in streams
        ]
        return Threads(loops, lambda: driver.cuCtxSetCurrent(driver.CUcontext(context)))

    rivals: dict[str, Callable[[], Contender]] = {
        "C++": lambda: twin(f"threads {count}", 500),
        "cuda.bindings": lambda: threads(import_module("cuda.bindings.driver")),
    }
    name = f"{count} thread{'s' * (count > 1)}: {POINTERS.name}"
    race(GROUP, name, threads(cudapy.driver), rivals, rounds=51)
