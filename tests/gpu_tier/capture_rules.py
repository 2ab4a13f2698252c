"""Which calls spoil a capture: what cudapy relies on, and whether the simulator has the driver's rules."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from cudapy import driver
from cudapy.driver import CUresult, checked
from cudapy.driver import CUstreamCaptureMode as Mode

from .bench import Bench
from .figures import Figure, judged, told
from .scale import Scale

GLOBAL = Mode.CU_STREAM_CAPTURE_MODE_GLOBAL
THREAD_LOCAL = Mode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
RELAXED = Mode.CU_STREAM_CAPTURE_MODE_RELAXED
SAFE, REFUSED, UNSAFE, CONFLICT = "safe", "refused", "unsafe", "conflict"
"""Calls that spoil no capture; that do not either, and return CUDA_ERROR_INVALID_VALUE; that do unless a mode
is relaxed; that always do.
"""

Prepare = Callable[["Scene"], Callable[[], Any]]


@dataclass
class Scene:
    """A stream that will be captured, another one, and what goes away at the end."""

    bench: Bench
    captured: Any
    other: Any
    undo: ExitStack


def _of_memory() -> dict[str, tuple[str, Prepare]]:
    pool = driver.CUmemPoolProps(allocType=driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED)
    pool.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE

    def free_async(scene: Scene) -> Callable[[], Any]:
        pointer = checked.cuMemAllocAsync(64, scene.other)
        checked.cuStreamSynchronize(scene.other)
        return lambda: driver.cuMemFreeAsync(pointer, scene.other)

    def alloc_async(scene: Scene) -> Callable[[], Any]:
        return lambda: driver.cuMemAllocAsync(64, scene.other)

    def free_into_the_capture(scene: Scene) -> Callable[[], Any]:
        pointer = checked.cuMemAllocAsync(64, scene.captured)
        checked.cuStreamSynchronize(scene.captured)
        return lambda: driver.cuMemFreeAsync(pointer, scene.captured)

    def free(scene: Scene) -> Callable[[], Any]:
        pointer = checked.cuMemAlloc(64)
        return lambda: driver.cuMemFree(pointer)

    def free_host(scene: Scene) -> Callable[[], Any]:
        pointer = checked.cuMemAllocHost(64)
        return lambda: driver.cuMemFreeHost(pointer)

    def attribute(scene: Scene) -> Callable[[], Any]:
        pointer = checked.cuMemAlloc(64)
        scene.undo.callback(driver.cuMemFree, pointer)
        kind = driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE
        return lambda: driver.cuPointerGetAttribute(kind, pointer)

    def pool_destroy(scene: Scene) -> Callable[[], Any]:
        made = checked.cuMemPoolCreate(pool)
        return lambda: driver.cuMemPoolDestroy(made)

    def trim(scene: Scene) -> Callable[[], Any]:
        made = checked.cuMemPoolCreate(pool)
        scene.undo.callback(driver.cuMemPoolDestroy, made)
        return lambda: driver.cuMemPoolTrimTo(made, 0)

    def copy(scene: Scene) -> Callable[[], Any]:
        pointer = checked.cuMemAlloc(64)
        scene.undo.callback(driver.cuMemFree, pointer)
        return lambda: driver.cuMemcpyHtoD(pointer, bytes(64), 64)

    return {
        "cuMemFreeAsync in another stream": (UNSAFE, free_async),
        "cuMemAllocAsync in another stream": (UNSAFE, alloc_async),
        "cuMemFreeAsync of other memory in the captured stream": (REFUSED, free_into_the_capture),
        "cuMemAlloc": (UNSAFE, lambda scene: lambda: driver.cuMemAlloc(64)),
        "cuMemFree": (UNSAFE, free),
        "cuMemAllocHost": (UNSAFE, lambda scene: lambda: driver.cuMemAllocHost(64)),
        "cuMemFreeHost": (UNSAFE, free_host),
        "cuPointerGetAttribute": (SAFE, attribute),
        "cuMemGetInfo": (SAFE, lambda scene: driver.cuMemGetInfo),
        "cuMemPoolCreate": (UNSAFE, lambda scene: lambda: driver.cuMemPoolCreate(pool)),
        "cuMemPoolDestroy": (UNSAFE, pool_destroy),
        "cuMemPoolTrimTo": (UNSAFE, trim),
        "cuMemcpyHtoD": (SAFE, copy),
    }


def _of_streams() -> dict[str, tuple[str, Prepare]]:
    def destroy(busy: bool) -> Prepare:
        def prepare(scene: Scene) -> Callable[[], Any]:
            made = checked.cuStreamCreate(1)
            if busy:
                pointer = checked.cuMemAllocAsync(64, made)
                checked.cuMemsetD8Async(pointer, 1, 64, made)
                checked.cuMemFreeAsync(pointer, made)
            return lambda: driver.cuStreamDestroy(made)

        return prepare

    def event(call: Callable[[Any], Any], keep: bool = True, captured: bool = False) -> Prepare:
        def prepare(scene: Scene) -> Callable[[], Any]:
            made = checked.cuEventCreate(2)
            checked.cuEventRecord(made, scene.other)
            checked.cuStreamSynchronize(scene.other)
            if keep:
                scene.undo.callback(driver.cuEventDestroy, made)
            if not captured:
                return lambda: call(made)

            def recorded() -> Any:
                driver.cuEventRecord(made, scene.captured)
                return call(made)

            return recorded

        return prepare

    return {
        "cuStreamCreate": (SAFE, lambda scene: lambda: driver.cuStreamCreate(1)),
        "cuStreamDestroy": (SAFE, destroy(False)),
        "cuStreamDestroy after work": (SAFE, destroy(True)),
        "cuStreamQuery of another stream": (UNSAFE, lambda scene: lambda: driver.cuStreamQuery(scene.other)),
        "cuStreamSynchronize of another stream": (
            UNSAFE,
            lambda scene: lambda: driver.cuStreamSynchronize(scene.other),
        ),
        "cuStreamSynchronize of the captured stream": (
            CONFLICT,
            lambda scene: lambda: driver.cuStreamSynchronize(scene.captured),
        ),
        "cuStreamIsCapturing": (SAFE, lambda scene: lambda: driver.cuStreamIsCapturing(scene.captured)),
        "cuCtxSynchronize": (CONFLICT, lambda scene: driver.cuCtxSynchronize),
        "cuEventCreate": (SAFE, lambda scene: lambda: driver.cuEventCreate(2)),
        "cuEventDestroy": (SAFE, event(driver.cuEventDestroy, keep=False)),
        "cuEventQuery": (UNSAFE, event(driver.cuEventQuery)),
        "cuEventSynchronize": (UNSAFE, event(driver.cuEventSynchronize)),
        "cuEventQuery of one recorded in the capture": (CONFLICT, event(driver.cuEventQuery, captured=True)),
        "cuEventRecord in another stream": (
            SAFE,
            lambda scene: event(lambda made: driver.cuEventRecord(made, scene.other))(scene),
        ),
        "cuStreamWaitEvent of another stream's": (
            SAFE,
            lambda scene: event(lambda made: driver.cuStreamWaitEvent(scene.other, made, 0))(scene),
        ),
        "cuStreamWaitEvent of one from outside": (
            CONFLICT,
            lambda scene: event(lambda made: driver.cuStreamWaitEvent(scene.captured, made, 0))(scene),
        ),
    }


def _of_modules() -> dict[str, tuple[str, Prepare]]:
    def unload(scene: Scene) -> Callable[[], Any]:
        made = checked.cuModuleLoadData(scene.bench.code.code)
        return lambda: driver.cuModuleUnload(made)

    def unload_library(scene: Scene) -> Callable[[], Any]:
        made = checked.cuLibraryLoadData(scene.bench.code.code, None, None, 0, None, None, 0)
        return lambda: driver.cuLibraryUnload(made)

    def executable(scene: Scene) -> Callable[[], Any]:
        made = checked.cuGraphCreate(0)
        scene.undo.callback(driver.cuGraphDestroy, made)
        instance = checked.cuGraphInstantiate(made, 0)
        return lambda: driver.cuGraphExecDestroy(instance)

    def destroy_graph(scene: Scene) -> Callable[[], Any]:
        made = checked.cuGraphCreate(0)
        return lambda: driver.cuGraphDestroy(made)

    def instantiate(scene: Scene) -> Callable[[], Any]:
        made = checked.cuGraphCreate(0)
        scene.undo.callback(driver.cuGraphDestroy, made)
        return lambda: driver.cuGraphInstantiate(made, 0)

    def destroy_array(scene: Scene) -> Callable[[], Any]:
        made = checked.cuArrayCreate(_flat())
        return lambda: driver.cuArrayDestroy(made)

    def graph_launch(captured: bool) -> Prepare:
        def prepare(scene: Scene) -> Callable[[], Any]:
            made = checked.cuGraphCreate(0)
            scene.undo.callback(driver.cuGraphDestroy, made)
            instance = checked.cuGraphInstantiate(made, 0)
            scene.undo.callback(driver.cuGraphExecDestroy, instance)
            return lambda: driver.cuGraphLaunch(instance, scene.captured if captured else scene.other)

        return prepare

    def set_arguments(scene: Scene) -> Callable[[], Any]:
        wanted = driver.CUDA_KERNEL_NODE_PARAMS(
            kern=scene.bench.kernel("add").handle, ctx=checked.cuCtxGetCurrent()
        )
        wanted.gridDimX = wanted.gridDimY = wanted.gridDimZ = 1
        wanted.blockDimX = wanted.blockDimY = wanted.blockDimZ = 1
        wanted.kernelParams = (0, 1), (ctypes.c_void_p, ctypes.c_int)
        made = checked.cuGraphCreate(0)
        scene.undo.callback(driver.cuGraphDestroy, made)
        node = checked.cuGraphAddKernelNode(made, None, 0, wanted)
        instance = checked.cuGraphInstantiate(made, 0)
        scene.undo.callback(driver.cuGraphExecDestroy, instance)
        return lambda: driver.cuGraphExecKernelNodeSetParams(instance, node, wanted)

    return {
        "cuModuleLoadData": (SAFE, lambda scene: lambda: driver.cuModuleLoadData(scene.bench.code.code)),
        "cuModuleUnload": (UNSAFE, unload),
        "cuLibraryUnload": (UNSAFE, unload_library),
        "cuGraphDestroy": (SAFE, destroy_graph),
        "cuGraphInstantiate": (UNSAFE, instantiate),
        "cuGraphExecDestroy": (UNSAFE, executable),
        "cuGraphExecKernelNodeSetParams": (SAFE, set_arguments),
        "cuGraphLaunch in another stream": (SAFE, graph_launch(False)),
        "cuGraphLaunch in the captured stream": (CONFLICT, graph_launch(True)),
        "cuArrayCreate": (UNSAFE, lambda scene: lambda: driver.cuArrayCreate(_flat())),
        "cuArrayDestroy": (UNSAFE, destroy_array),
    }


def _flat() -> driver.CUDA_ARRAY_DESCRIPTOR:
    float32 = driver.CUarray_format.CU_AD_FORMAT_FLOAT
    return driver.CUDA_ARRAY_DESCRIPTOR(Width=64, Height=64, Format=float32, NumChannels=1)


RELIED_ON = (
    "cuMemFreeAsync in another stream",
    "cuMemFree",
    "cuMemFreeHost",
    "cuPointerGetAttribute",
    "cuStreamDestroy",
    "cuStreamDestroy after work",
    "cuStreamIsCapturing",
    "cuStreamSynchronize of another stream",
    "cuEventDestroy",
    "cuEventQuery",
    "cuEventRecord in another stream",
    "cuMemPoolDestroy",
    "cuLibraryUnload",
    "cuGraphDestroy",
    "cuGraphExecDestroy",
)
"""What core calls in a relaxed thread for objects that nobody refers to any more, at any time."""


def rules() -> dict[str, tuple[str, Prepare]]:
    """By name: which kind the simulator takes a call for, and what makes one."""
    return {**_of_memory(), **_of_streams(), **_of_modules()}


def as_the_driver_has_them(scale: Scale) -> Iterator[Figure]:
    """Each call in captures of all modes, on the capturing thread and on another, relaxed and not."""
    bench, wrong, differing, asked = Bench(), [], [], 0
    harmless = 0
    for name, (kind, prepare) in rules().items():
        for mode in Mode:
            for elsewhere in (False, True):
                for relaxed in (False, True):
                    asked += 1
                    status, whole = _try(bench, prepare, mode, elsewhere, relaxed)
                    lawful = whole == _whole(kind, mode, elsewhere, relaxed)
                    if kind == REFUSED:
                        lawful = lawful and status == CUresult.CUDA_ERROR_INVALID_VALUE.name
                    where = "another thread" if elsewhere else "the capturing thread"
                    case = (
                        f"{name} ({mode.name.rpartition('MODE_')[2].lower()}, {where}{', relaxed' * relaxed})"
                    )
                    if not lawful:
                        differing.append(f"{case}: {status}, {'whole' if whole else 'spoilt'}")
                    if name in RELIED_ON and relaxed:
                        harmless += whole
                        if not whole:
                            wrong.append(f"{case}: {status}")
    of = 6 * len(RELIED_ON)
    what = "what relaxed threads call to give things back spoils no capture"
    yield judged(what, f"{of} of {of} cases", f"{harmless} whole", harmless == of, "; ".join(wrong))
    what, same = (
        "calls that spoil a capture, as in the simulator",
        f"{asked - len(differing)} of {asked} cases",
    )
    if scale.simulated:
        yield judged(what, f"{asked} of {asked} cases", same, not differing, "; ".join(differing))
    else:
        yield told(what, same, "; ".join(differing))


def _whole(kind: str, mode: Mode, elsewhere: bool, relaxed: bool) -> bool:
    """Whether a capture survives a call."""
    if kind == UNSAFE:
        return relaxed or mode == RELAXED or (elsewhere and mode == THREAD_LOCAL)
    return kind in (SAFE, REFUSED)


def _try(bench: Bench, prepare: Prepare, mode: Mode, elsewhere: bool, relaxed: bool) -> tuple[str, bool]:
    """What a call in a capture returns, and whether the capture survived."""
    context = bench.device.context.handle
    with ExitStack() as undo:
        captured, other = checked.cuStreamCreate(1), checked.cuStreamCreate(1)
        target = checked.cuMemAlloc(64)
        for destroy, handle in ((driver.cuMemFree, target), (driver.cuStreamDestroy, other)):
            undo.callback(destroy, handle)
        undo.callback(driver.cuStreamDestroy, captured)
        call = prepare(Scene(bench, captured, other, undo))
        seen: list[Any] = []

        def work() -> None:
            checked.cuCtxSetCurrent(context)
            before = checked.cuThreadExchangeStreamCaptureMode(RELAXED) if relaxed else None
            try:
                seen.extend(call())
            finally:
                if before is not None:
                    checked.cuThreadExchangeStreamCaptureMode(before)

        checked.cuStreamBeginCapture(captured, mode)
        checked.cuMemsetD8Async(target, 1, 64, captured)
        if elsewhere:
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
        else:
            work()
        ended, graph = driver.cuStreamEndCapture(captured)
        if not ended:
            checked.cuGraphDestroy(graph)
        checked.cuCtxSynchronize()
        return CUresult(seen[0]).name if seen else "no status", not ended
