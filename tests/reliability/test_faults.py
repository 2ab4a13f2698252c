"""Call k fails, for every k of every scenario: nothing leaks, the context stays, the error names it."""

from __future__ import annotations

import gc
import sys
import traceback
from collections.abc import Iterator
from typing import Any

import pytest

from .methods import public, watched
from .probes import probe_all
from .scenarios import SCENARIOS, Scenario
from .world import World, world

OUT_OF_MEMORY, INVALID_VALUE = "CUDA_ERROR_OUT_OF_MEMORY", "CUDA_ERROR_INVALID_VALUE"
LAUNCH_FAILED = "CUDA_ERROR_LAUNCH_FAILED"  # for good: all later calls in the context fail as well
RELEASES = (
    "Destroy",
    "EndCapture",
    "ExchangeStreamCaptureMode",
    "Free",
    "Release",
    "Unload",
    "Unmap",
)
"""In the names of functions that give something back, or are called for it: what they refuse stays."""
ASKED = ("cuPointerGetAttribute", "cuStreamGetCaptureInfo", "cuStreamIsCapturing")
"""Functions that are asked before something is given back: without an answer it may have to stay."""
FOR_A_GRAPH = (
    "cuCtxGetCurrent",
    "cuGraphAddKernelNode",
    "cuGraphCreate",
    "cuGraphExecKernelNodeSetParams",
    "cuGraphInstantiateWithFlags",
    "cuGraphLaunch",
)
"""Functions that a prepared launch can do without."""
IN_C = {"cuGraphInstantiate": "cuGraphInstantiateWithFlags"}
"""What cuda.h calls functions that the library has by another name."""
UNHEARD = {
    "cuCtxRecordEvent": "a wait for all of a device goes on, but Ctrl-C has to wait as well",
    "cuDriverGetVersion": "a driver that does not tell its version says nothing against nvJitLink",
    "cuEventDestroy": "it is tried again, where that does no harm to a capture",
    "cuEventQuery": "whether work is done is asked again, or waited for",
    "cuMemPoolGetAttribute": "a pool that does not tell whether it is in use goes with its last buffer",
    "nvrtcGetPCHCreateStatus": "what became of a precompiled header is 'failed' then",
    "cuStreamEndCapture": "what was recorded is dropped, and no matter if it was no graph",
    "cuStreamGetCaptureInfo": "a capture of which nothing is known is taken for one of somebody else",
    "cuStreamDestroy": "it is tried again, where that does no harm to a capture",
    "cuStreamIsCapturing": "no answer means no",
    "cuKernelGetLibrary": "a kernel whose library nobody tells is its owner's to keep",
    "cuKernelGetName": "a name is for messages; it may be empty",
    "cuStreamQuery": "whether work is done is told by an event then",
    "cuLogsDumpToMemory": "a message does without what the driver has to say",
    "cuMemFreeAsync": "it is tried again in the context of the stream",
    "cuThreadExchangeStreamCaptureMode": "a pool that cannot be asked goes with its last buffer",
    "cuPointerGetAttribute": "memory of which nothing is known is taken for some that is there",
    "devices.green: cuMemsetD8Async": "it is tried again in the context of the stream",
    "devices.stream_elsewhere: cuMemsetD8Async": "it is tried again in the context of the stream",
    **{f"kernels.prepared: {name}": "what has no graph is launched" for name in FOR_A_GRAPH},
    **{f"textures.prepared: {name}": "what has no graph is launched" for name in FOR_A_GRAPH},
    "sharing.device_pool: cuEventSynchronize": "whether the driver has seen a free is asked again",
    "sharing.pinned_pool: cuEventSynchronize": "whether the driver has seen a free is asked again",
}
"""Functions whose failure no exception need follow, in one scenario or in all, and why that is right."""
ANSWERS = {"cuDeviceGetAttribute", "cuKernelGetParamInfo", "cuMemRangeGetAttribute", "cuPointerGetAttribute"}
"""Functions that say CUDA_ERROR_INVALID_VALUE of what there is not, which is no failure."""
EXPLAINED = {
    "kernels.a_launch_that_is_too_large",
    "kernels.object_code",
    "kernels.variables",  # drivers call a name that is not there an invalid value
    "graph_builders.updated",
}
"""Scenarios that fail by themselves: what it takes to explain a failure is left out if it fails itself."""


@pytest.fixture(scope="module")
def w() -> Iterator[World]:
    with world() as made:
        yield made


@pytest.fixture
def reports(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What finalizers could not raise."""
    found: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda args: found.append(args.exc_value))
    monkeypatch.setattr(sys, "excepthook", lambda _, error, trace: found.append(error))  # of a thread of core
    return found


def calls_of(w: World, scenario: Scenario) -> list[str]:
    """The functions that a scenario calls once everything is made that is made once."""
    try:
        scenario(w)
    except w.module("pathfinder").LibraryNotFound as error:
        pytest.skip(str(error).splitlines()[0])
    w.settle()
    gc.freeze()  # what stays after it is no garbage, and there will be many collections
    with w.simulator.failing(call=0) as calls:
        scenario(w)
    return list(calls.names)


def faults(names: list[str]) -> Iterator[tuple[str, int]]:
    """Statuses and the numbers of the calls to return them.

    Every call runs out of memory. What else goes wrong does so at the first and last call of each function.
    """
    yield from ((OUT_OF_MEMORY, number) for number in range(1, len(names) + 1))
    first = {name: number for number, name in reversed(list(enumerate(names, 1)))}
    last = {name: number for number, name in enumerate(names, 1)}
    for status in (INVALID_VALUE, LAUNCH_FAILED):
        for number in sorted({*first.values(), *last.values()}):
            name = names[number - 1]
            if status == INVALID_VALUE and name not in ANSWERS:
                yield status, number
            if status == LAUNCH_FAILED and not name.startswith("nv"):
                yield status, number


def is_of_a_release(error: BaseException | None) -> bool:
    """Whether it was raised by what gives something back: then that was told, and is lost."""
    trace = None if error is None else error.__traceback__
    return any(frame.f_code.co_name in ("release", "deallocate") for frame, _ in traceback.walk_tb(trace))


@pytest.mark.thorough
@pytest.mark.parametrize("name", SCENARIOS)
def test_whatever_call_fails_nothing_is_lost(w: World, reports: list[Any], name: str) -> None:
    scenario, again = SCENARIOS[name], set()
    for status, number in faults(calls_of(w, scenario)):
        w.owned._reported.clear()
        before, stack, error = w.alive(), w.stack(), None
        with w.simulator.failing(call=number, status=status) as calls:
            try:
                scenario(w)
            except Exception as caught:
                error = caught
        failed = calls.failed
        where = f"{status} from {failed}, call {number}"
        is_release = any(part in failed for part in RELEASES)
        if failed:
            told(w, error, reports, failed, status, where, name)
        is_of_a_block = (name, failed) == ("devices.block", "cuCtxSetCurrent")
        assert w.stack() == stack or "CtxPop" in failed or is_of_a_block, where
        w.restore(stack)
        is_release |= failed in ASKED and error is None
        lost = is_release or any(map(is_of_a_release, [error, *reports]))
        if error is not None and status != LAUNCH_FAILED and "EndCapture" not in failed:
            probe_all(w, error.__traceback__)
        if error is not None:
            traceback.clear_frames(error.__traceback__)
        error = None
        reports.clear()
        if status == LAUNCH_FAILED or lost:
            w.end_captures()
            w.settle()
        else:
            assert not w.leak(before), where
        if failed not in again:
            again.add(failed)
            scenario(w)
    scenario(w)
    w.settle()
    assert reports == []


def measures(failed: str) -> bool:
    """Whether this asks a compiler for a size, which is done once more before a buffer is filled."""
    return failed.startswith("nv") and failed.endswith("Size")


def told(
    w: World,
    error: Exception | None,
    reports: list[Any],
    failed: str,
    status: str,
    where: str,
    name: str,
) -> None:
    """The failure was raised, or reported where nothing can be raised, and names itself."""
    is_unheard = failed in UNHEARD or f"{name}: {failed}" in UNHEARD
    of_driver = not failed.startswith("nv")  # threads may have changed places since the calls were counted
    if status == LAUNCH_FAILED and of_driver and "ExchangeStreamCaptureMode" not in failed:
        assert reports == [], where  # all is lost: nobody wants to read that of each thing
    found = [each for each in [error, *reports] if each is not None]
    assert len(found) <= 1, where
    if not found:
        is_lost = status == LAUNCH_FAILED and of_driver
        assert name in EXPLAINED or is_unheard or measures(failed) or is_lost, where
        return
    (said,) = found
    if not isinstance(said, w.core.CUDAError):
        assert is_unheard, f"{where}: {said!r}"
        return
    if "EndCapture" in failed:  # the stream is being captured on and on, and that was found out later
        return
    if failed.startswith("nv"):
        assert failed in str(said) or said.function.startswith("nv"), where
        return
    while said.__context__ is not None and said.name != status:  # what went wrong because of it
        said = said.__context__
    assert said.name == status and status in str(said) and said.function in str(said), where
    if status != LAUNCH_FAILED:  # which comes up wherever the next call is made
        function = IN_C.get(said.function, said.function)
        assert function.removesuffix("_v2") == failed, where


# -- every method -------------------------------------------------------------------------------------------

WITHOUT_CUDA = {
    "EventOptions": "numbers",
    "FileStreamProgramCache": "files",
    "GraphCompleteOptions": "numbers",
    "GraphDebugPrintOptions": "numbers",
    "Host": "a number",
    "InMemoryProgramCache": "a dict",
    "LaunchConfig": "numbers",
    "LinkerOptions": "text",
    "MemoryResource": "abstract",
    "ProgramCacheResource": "abstract",
    "ProgramOptions": "text",
    "StridedLayout": "numbers",
    "make_program_cache_key": "a hash",
}
"""Classes and functions that call nothing of CUDA's, and what they are instead."""
OF_BUFFERS = {"GraphMemoryResource.deallocate", "VirtualMemoryResource.deallocate"}
"""What buffers call: it takes the address of one, which frees it itself in the end."""
OF_NVML = {"Device.to_system_device"}
"""What asks NVML, which is no part of these scenarios."""
OF_MISTAKES = {"Kernel.__getitem__"}
"""What only raises, and says what to write instead."""
OF_GRAPHICS = {"GraphicsResource"}
"""What needs OpenGL: `tests/test_core_graphics.py` has its failures."""
OF_NCCL = {"Communicator", "ReductionOperator", "Registration", "CollectiveError", "group"}
"""What calls NCCL: `tests/simulator/test_collectives.py` has its failures."""


def test_every_public_method_is_in_a_scenario(w: World) -> None:
    """Called there, and not by core alone."""
    with watched() as called:
        for scenario in SCENARIOS.values():
            calls_of(w, scenario)
    found = dict(public(w.core, w.graph, w.texture, w.utils))
    assert len(found) > 400
    covered = OF_BUFFERS | OF_NVML | OF_MISTAKES
    missing = {name for name, code in found.items() if code not in called} - covered
    elsewhere = WITHOUT_CUDA.keys() | OF_NCCL | OF_GRAPHICS
    missing = {name for name in missing if name.partition(".")[0] not in elsewhere}
    assert sorted(missing) == []
