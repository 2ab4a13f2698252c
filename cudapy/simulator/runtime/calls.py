"""The Runtime API on top of the simulated driver: devices, errors, and the functions that are the driver's.

The real libcudart looks for the real libcuda. Here most functions are those of the driver under another name:
the same parameters, laid out the same way. The others are in the files beside this one.
"""

import ctypes
import threading
from typing import Any

from ..._bindings.errors import NEED_NO_CUDA
from ..._types.driver.enums import CUdriverProcAddress_flags
from ..addresses import Pointer
from ..callbacks import Binding, per_thread
from ..devices import context as contexts
from ..devices import device as devices
from ..devices.primary import retained
from ..entry_points import Release
from ..error_texts import UNRECOGNIZED, texts_of
from ..fresh_devices import forgotten
from ..immortal import text
from ..library import Table, provides
from ..refused import Refused

TWINS = {
    "cudaDestroySurfaceObject": "cuSurfObjectDestroy",
    "cudaDestroyTextureObject": "cuTexObjectDestroy",
    "cudaEventCreateWithFlags": "cuEventCreate",
    "cudaFree": "cuMemFree_v2",
    "cudaFreeArray": "cuArrayDestroy",
    "cudaFreeAsync": "cuMemFreeAsync",
    "cudaFreeHost": "cuMemFreeHost",
    "cudaFreeMipmappedArray": "cuMipmappedArrayDestroy",
    "cudaGetDeviceCount": "cuDeviceGetCount",
    "cudaGetMipmappedArrayLevel": "cuMipmappedArrayGetLevel",
    "cudaGetTextureObjectResourceViewDesc": "cuTexObjectGetResourceViewDesc",
    "cudaGraphInstantiate": "cuGraphInstantiateWithFlags",
    "cudaHostAlloc": "cuMemHostAlloc",
    "cudaHostGetDevicePointer": "cuMemHostGetDevicePointer_v2",
    "cudaHostGetFlags": "cuMemHostGetFlags",
    "cudaHostRegister": "cuMemHostRegister_v2",
    "cudaHostUnregister": "cuMemHostUnregister",
    "cudaMalloc": "cuMemAlloc_v2",
    "cudaMallocAsync": "cuMemAllocAsync",
    "cudaMallocFromPoolAsync": "cuMemAllocFromPoolAsync",
    "cudaMallocHost": "cuMemAllocHost_v2",
    "cudaMallocManaged": "cuMemAllocManaged",
    "cudaRuntimeGetVersion": "cuDriverGetVersion",
    "cudaStreamCreateWithFlags": "cuStreamCreate",
    "cudaThreadGetCacheConfig": "cuCtxGetCacheConfig",
    "cudaThreadGetLimit": "cuCtxGetLimit",
    "cudaThreadSetCacheConfig": "cuCtxSetCacheConfig",
    "cudaThreadSetLimit": "cuCtxSetLimit",
    "cudaThreadSynchronize": "cuCtxSynchronize",
}
"""What is another function of the driver than its name says."""

DIFFERENT = ("cudaMemcpy3DParms", "cudaMemcpy3DPeerParms", "cudaGraphNodeParams")
"""Structs that are laid out in another way than those of the driver."""

WITHOUT_INIT = NEED_NO_CUDA.union(
    {
        "__cudaRegisterFatBinary",
        "__cudaRegisterFatBinaryEnd",
        "__cudaUnregisterFatBinary",
        "__cudaRegisterFunction",
        "__cudaRegisterVar",
        "__cudaRegisterManagedVar",
    }
)
"""The functions that do not start CUDA: they work without a device."""
WITHOUT_CONTEXT = frozenset(
    {
        "cudaGetDeviceCount",
        "cudaSetDevice",
        "cudaInitDevice",
        "cudaSetValidDevices",
        "cudaDeviceReset",
        "cudaThreadExit",
        "cudaCreateChannelDesc",
    }
)
"""The functions that do not make the primary context of a device."""


class _Thread(threading.local):
    error = 0
    device = 0


class _OfThreads:
    """here: what the calling thread has."""

    here = _Thread()


def of_thread() -> _Thread:
    """What there is of the calling thread."""
    return _OfThreads.here


@forgotten
def _forget() -> None:
    """In every thread."""
    _OfThreads.here = _Thread()


def twin(driver: Table, table: Table, symbol: str) -> Binding | None:
    """The function of the driver that a function of the runtime is, if there is one."""
    own = table.prototype(symbol)
    if own is None:
        return None
    mine = own.parameters
    base = symbol.removeprefix("cuda")
    names = [f"cu{base}", f"cu{base}_v2", f"cu{base}_v3", f"cuCtx{base.removeprefix('Device')}"]
    for name in [TWINS[symbol]] if symbol in TWINS else names:
        binding = driver.bind(name)
        if binding is None or len(binding.types) != len(mine):
            continue
        same = [_width(cls) for cls in binding.types] == [_width(table.storage(p)) for p in mine]
        if same and not any(p.type in DIFFERENT for p in mine):
            return binding
    return None


def _width(cls: Any) -> int:
    """The bytes of a parameter: a pointer and a 64-bit number travel alike."""
    return ctypes.sizeof(cls)


def before(symbol: str) -> None:
    """What every function begins with: the device of the thread is there, and its primary context current."""
    if symbol in WITHOUT_INIT:
        return
    if not devices.devices:
        devices.cuInit(0)
    context = contexts.top()
    if symbol not in WITHOUT_CONTEXT and (context is None or contexts.find_or_none(context) is None):
        contexts.make_current(retained(of_thread().device))


def failed(refused: Refused) -> int:
    """The status of a failure: the codes of the driver and the runtime are the same numbers."""
    if refused.status != "CUDA_ERROR_NOT_READY":
        of_thread().error = refused.code
    return refused.code


# -- Errors ------------------------------------------------------------------------------------------------


@provides("runtime")
def cudaGetLastError() -> None:
    here = of_thread()
    code, here.error = here.error, 0
    _raise(code)


@provides("runtime")
def cudaPeekAtLastError() -> None:
    _raise(of_thread().error)


def _raise(code: int) -> None:
    context = contexts.top()
    error = context.root.error if context is not None else None
    if not code and error is not None:
        code = error.code
    if code:
        raise Status(code)


class Status(Refused):
    """A status that is told again: nothing new went wrong."""

    def __init__(self, code: int) -> None:
        super().__init__("CUDA_ERROR_NOT_READY")
        self._code = code

    @property
    def code(self) -> int:
        return self._code


@provides("runtime")
def cudaGetErrorName(error: int) -> int:
    return _text("cudaGetErrorName", error)


@provides("runtime")
def cudaGetErrorString(error: int) -> int:
    return _text("cudaGetErrorString", error)


def _text(symbol: str, error: int) -> int:
    return text(texts_of(symbol).get(error, UNRECOGNIZED[symbol]).encode())


# -- Streams and events: what has fewer parameters ---------------------------------------------------------


@provides("runtime")
def cudaStreamCreate() -> int:
    from ..streams.stream import cuStreamCreate

    return cuStreamCreate(0)


@provides("runtime")
def cudaEventCreate() -> int:
    from ..streams.event_calls import cuEventCreate

    return cuEventCreate(0)


# -- Entry points of the driver ----------------------------------------------------------------------------


@provides("runtime")
def cudaGetDriverEntryPointByVersion(
    symbol: bytes | None, funcPtr: Pointer, cudaVersion: int, flags: int, driverStatus: Pointer
) -> None:
    from ..devices.errors import cuGetProcAddress_v2

    if not flags and per_thread.default:
        flags = int(CUdriverProcAddress_flags.CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)
    cuGetProcAddress_v2(symbol, funcPtr, cudaVersion, flags, driverStatus)


@provides("runtime")
def cudaGetDriverEntryPoint(
    symbol: bytes | None, funcPtr: Pointer, flags: int, driverStatus: Pointer
) -> None:
    cudaGetDriverEntryPointByVersion(symbol, funcPtr, Release.number, flags, driverStatus)
