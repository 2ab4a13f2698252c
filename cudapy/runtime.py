"""The CUDA Runtime API: every function of cuda_runtime_api.h, in the header's order.

Functions return `(status, results...)`, and None for each result after a failure; the status is a
cudaError_t. `checked` has the same functions returning the results alone and raising CUDAError. The C line
above a function is its declaration: the parameters that Python names are inputs, the others are what it
returns.

libcudart 12 and 13 are both served, with the symbols and layouts of the one that was loaded. Where a name
changed its signature in CUDA 13 it takes the form of 13, and that of 12 as well where the arguments tell them
apart. Handles are those of the driver: cudaStream_t and CUstream, and so on, are taken for one another. A
kernel (`func`) is an address, a cudaKernel_t, a cudaFunction_t or one of their twins in the driver API.
"""

from __future__ import annotations

import ctypes

from ._bindings.errors import DriverLog, Raiser
from ._bindings.libraries import loader, meanings, recipes, suffixes
from ._ffi.lazy_types import on_demand
from ._ffi.library import Checked, Library, SymbolNotFound, either, padded, two_forms
from ._ffi.sizes import sizeof as sizeof

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ._checked import runtime as _checked
    from ._ffi.scalars import void_p, void_pp
    from ._types.runtime.attributes import *
    from ._types.runtime.constants import *
    from ._types.runtime.enums import *
    from ._types.runtime.handles import *
    from ._types.runtime.structs import *
else:
    __getattr__, __dir__ = on_demand(
        globals(), "._types.runtime", "constants", "enums", "handles", "attributes", "structs"
    )


def _version() -> int:
    """The version of the loaded libcudart, as 1000 * major + 10 * minor."""
    version = ctypes.c_int()
    libcudart.load().cudaRuntimeGetVersion(ctypes.byref(version))
    return version.value


def _major() -> int:
    return _version() // 1000


def _describe() -> str:
    from . import pathfinder

    version = _version()
    return f"{pathfinder.load('cudart').path}, which is CUDA {version // 1000}.{version % 1000 // 10}"


def _forget(function: str, status: int) -> None:
    """Take what is raised from the last error: PyTorch, on the same library, would raise it again."""
    library = libcudart.load()
    if function != "cudaPeekAtLastError" and library.cudaPeekAtLastError() == status:
        library.cudaGetLastError()


_raiser = Raiser(meanings("CUDAERROR"), forget=_forget)
libcudart = Library(
    loader("cudart"), "cudaError_t", _describe, _raiser, suffixes, _major, recipes=recipes("RUNTIME")
)
_raiser.log = DriverLog(Library(loader("cuda"), "cudaError_t", _describe, _raiser))
if TYPE_CHECKING:
    checked = _checked
else:
    checked = Checked(globals(), libcudart)

# -- Device Management -----------------------------------------------------------------------------------


@libcudart("cudaError_t cudaDeviceReset(void)")
def cudaDeviceReset() -> tuple[cudaError_t]:
    """Destroy every allocation, stream and other resource this process holds on the current device and tear
    down its primary context.
    """


@libcudart("cudaError_t cudaDeviceSynchronize(void)")
def cudaDeviceSynchronize() -> tuple[cudaError_t]:
    """Block the calling thread until all work queued so far on the current device has finished, reporting
    any error from earlier tasks.
    """


@libcudart("cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value)")
def cudaDeviceSetLimit(limit: cudaLimit | int, value: int) -> tuple[cudaError_t]:
    """Request `value` as the current device's setting for resource `limit`, such as stack or heap bytes; the
    driver may clamp or round it.
    """


@libcudart("cudaError_t cudaDeviceGetLimit(size_t *pValue, cudaLimit limit)")
def cudaDeviceGetLimit(limit: cudaLimit | int) -> tuple[cudaError_t, int]:
    """Return the current device's actual setting for resource `limit`, in bytes or in counts depending on
    which limit is asked for.
    """


@libcudart(
    "cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t *maxWidthInElements, "
    "const cudaChannelFormatDesc *fmtDesc, int device)"
)
def cudaDeviceGetTexture1DLinearMaxWidth(
    fmtDesc: cudaChannelFormatDesc | None, device: int
) -> tuple[cudaError_t, int]:
    """Return how many elements of format `fmtDesc` at most fit in a 1D linear texture on `device`."""


@libcudart("cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache *pCacheConfig)")
def cudaDeviceGetCacheConfig() -> tuple[cudaError_t, cudaFuncCache]:
    """Return the current device's preferred split between L1 cache and shared memory as a cudaFuncCache
    value.
    """


@libcudart("cudaError_t cudaDeviceGetStreamPriorityRange(int *leastPriority, int *greatestPriority)")
def cudaDeviceGetStreamPriorityRange() -> tuple[cudaError_t, int, int]:
    """Return the lowest and highest usable stream priorities as a pair; smaller numbers mean more urgent,
    and both are 0 where priorities are unsupported.
    """


@libcudart("cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache cacheConfig)")
def cudaDeviceSetCacheConfig(cacheConfig: cudaFuncCache | int) -> tuple[cudaError_t]:
    """Set the current device's default preference between L1 cache and shared memory to `cacheConfig`; it is
    a hint that kernels may override.
    """


@libcudart("cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *pciBusId)")
def cudaDeviceGetByPCIBusId(pciBusId: bytes | None) -> tuple[cudaError_t, int]:
    """Return the ordinal of the device whose PCI address matches the string `pciBusId`, in
    domain:bus:device.function form.
    """


@libcudart(
    "cudaError_t cudaDeviceGetPCIBusId(char *pciBusId, int len, int device)",
    sizes={"pciBusId": "len"},
)
def cudaDeviceGetPCIBusId(length: int, device: int) -> tuple[cudaError_t, bytes]:
    """Return the PCI address of `device` as an ASCII string of hexadecimal fields, at most `length` bytes
    with its terminator (13 are needed).
    """


@libcudart("cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t *handle, cudaEvent_t event)")
def cudaIpcGetEventHandle(event: cudaEvent_t | int | None) -> tuple[cudaError_t, cudaIpcEventHandle_t]:
    """Return a handle that lets another process open `event`, which must have been made with the
    interprocess and disable-timing flags.
    """


@libcudart("cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *event, cudaIpcEventHandle_t handle)")
def cudaIpcOpenEventHandle(handle: cudaIpcEventHandle_t) -> tuple[cudaError_t, cudaEvent_t]:
    """Open an event exported by another process through `handle` and return it as a local event usable in
    streams of this process.
    """


@libcudart("cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *devPtr)")
def cudaIpcGetMemHandle(devPtr: void_p) -> tuple[cudaError_t, cudaIpcMemHandle_t]:
    """Return a handle through which other processes can map the whole device allocation containing
    `devPtr`.
    """


@libcudart("cudaError_t cudaIpcOpenMemHandle(void **devPtr, cudaIpcMemHandle_t handle, unsigned int flags)")
def cudaIpcOpenMemHandle(handle: cudaIpcMemHandle_t, flags: int) -> tuple[cudaError_t, int]:
    """Map device memory that another process exported as `handle` and return its local address; `flags` is
    cudaIpcMemLazyEnablePeerAccess.
    """


@libcudart("cudaError_t cudaIpcCloseMemHandle(void *devPtr)")
def cudaIpcCloseMemHandle(devPtr: void_p) -> tuple[cudaError_t]:
    """Drop one reference to the imported mapping at `devPtr`, unmapping it at the last; the exporter's
    allocation stays intact.
    """


@libcudart(
    "cudaError_t cudaDeviceFlushGPUDirectRDMAWrites(cudaFlushGPUDirectRDMAWritesTarget target, "
    "cudaFlushGPUDirectRDMAWritesScope scope)"
)
def cudaDeviceFlushGPUDirectRDMAWrites(
    target: cudaFlushGPUDirectRDMAWritesTarget | int, scope: cudaFlushGPUDirectRDMAWritesScope | int
) -> tuple[cudaError_t]:
    """Wait until writes made through GPUDirect RDMA to `target` are visible at `scope`, such as the owner
    device or all devices.
    """


@libcudart(
    "cudaError_t cudaDeviceRegisterAsyncNotification(int device, cudaAsyncCallback callbackFunc, "
    "void *userData, cudaAsyncCallbackHandle_t *callback)",
    since="12.4",
)
def cudaDeviceRegisterAsyncNotification(
    device: int, callbackFunc: Any, userData: void_p
) -> tuple[cudaError_t, cudaAsyncCallbackHandle_t]:
    """Register `callbackFunc` to get asynchronous events of `device`, passing it `userData`, and return a
    handle for unregistering.
    """


@libcudart(
    "cudaError_t cudaDeviceUnregisterAsyncNotification(int device, cudaAsyncCallbackHandle_t callback)",
    since="12.4",
)
def cudaDeviceUnregisterAsyncNotification(
    device: int, callback: cudaAsyncCallbackHandle_t | int | None
) -> tuple[cudaError_t]:
    """Stop sending asynchronous events of `device` to the registration identified by handle `callback`."""


# -- Device Management [DEPRECATED] ----------------------------------------------------------------------


@libcudart("cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig *pConfig)")
def cudaDeviceGetSharedMemConfig() -> tuple[cudaError_t, cudaSharedMemConfig]:
    """Return the width of the shared memory banks of the current device (deprecated)."""


@libcudart("cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config)")
def cudaDeviceSetSharedMemConfig(config: cudaSharedMemConfig | int) -> tuple[cudaError_t]:
    """Set the width of the shared memory banks of the current device; recent devices ignore it
    (deprecated).
    """


# -- Thread Management [DEPRECATED] ----------------------------------------------------------------------


@libcudart("cudaError_t cudaThreadExit(void)")
def cudaThreadExit() -> tuple[cudaError_t]:
    """As `cudaDeviceReset`; CUDA 13 no longer has it."""


@libcudart("cudaError_t cudaThreadSynchronize(void)")
def cudaThreadSynchronize() -> tuple[cudaError_t]:
    """As `cudaDeviceSynchronize`; CUDA 13 no longer has it."""


@libcudart("cudaError_t cudaThreadSetLimit(cudaLimit limit, size_t value)")
def cudaThreadSetLimit(limit: cudaLimit | int, value: int) -> tuple[cudaError_t]:
    """As `cudaDeviceSetLimit`; CUDA 13 no longer has it."""


@libcudart("cudaError_t cudaThreadGetLimit(size_t *pValue, cudaLimit limit)")
def cudaThreadGetLimit(limit: cudaLimit | int) -> tuple[cudaError_t, int]:
    """As `cudaDeviceGetLimit`; CUDA 13 no longer has it."""


@libcudart("cudaError_t cudaThreadGetCacheConfig(cudaFuncCache *pCacheConfig)")
def cudaThreadGetCacheConfig() -> tuple[cudaError_t, cudaFuncCache]:
    """As `cudaDeviceGetCacheConfig`; CUDA 13 no longer has it."""


@libcudart("cudaError_t cudaThreadSetCacheConfig(cudaFuncCache cacheConfig)")
def cudaThreadSetCacheConfig(cacheConfig: cudaFuncCache | int) -> tuple[cudaError_t]:
    """As `cudaDeviceSetCacheConfig`; CUDA 13 no longer has it."""


# -- Error Handling --------------------------------------------------------------------------------------


@libcudart("cudaError_t cudaGetLastError(void)")
def cudaGetLastError() -> tuple[cudaError_t]:
    """Report the most recent runtime error of the calling host thread and clear it back to cudaSuccess;
    sticky errors persist.
    """


@libcudart("cudaError_t cudaPeekAtLastError(void)")
def cudaPeekAtLastError() -> tuple[cudaError_t]:
    """Report the most recent runtime error of the calling host thread while leaving it recorded for later
    queries.
    """


@libcudart("const char *cudaGetErrorName(cudaError_t error)")
def cudaGetErrorName(error: cudaError_t | int) -> tuple[cudaError_t, bytes]:
    """Return the name of the status `error`, such as b"cudaErrorInvalidValue", or b"unrecognized error
    code".
    """


@libcudart("const char *cudaGetErrorString(cudaError_t error)")
def cudaGetErrorString(error: cudaError_t | int) -> tuple[cudaError_t, bytes]:
    """Return a sentence about the status `error`, such as b"invalid argument", or b"unrecognized error
    code".
    """


# -- Device Management -----------------------------------------------------------------------------------


@libcudart("cudaError_t cudaGetDeviceCount(int *count)")
def cudaGetDeviceCount() -> tuple[cudaError_t, int]:
    """Return the number of CUDA devices visible to this process."""


@libcudart(
    "cudaError_t cudaGetDeviceProperties(cudaDeviceProp *prop, int device)",
    sizes={"prop": 1},
    symbols={12: "cudaGetDeviceProperties_v2"},
)
def _cudaGetDeviceProperties(prop: Any, device: int) -> tuple[cudaError_t]: ...


def cudaGetDeviceProperties(device: int) -> tuple[cudaError_t, cudaDeviceProp]:
    """Return the name, memory sizes, limits and features of `device`: a cudaDeviceProp, or with CUDA 12 a
    cudaDeviceProp_12.
    """
    prop = (_device_prop() * 1)()
    (err,) = _cudaGetDeviceProperties(prop, device)
    return err, None if err else prop[0]  # type: ignore[return-value]


cudaGetDeviceProperties_v2 = cudaGetDeviceProperties


def _device_prop() -> Any:
    """The layout of device properties that the loaded libcudart has."""
    from ._types.runtime.structs import cudaDeviceProp, cudaDeviceProp_12

    return cudaDeviceProp_12 if _major() == 12 else cudaDeviceProp


@libcudart("cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attr, int device)")
def cudaDeviceGetAttribute(attr: cudaDeviceAttr | int, device: int) -> tuple[cudaError_t, int]:
    """Return the integer value of one attribute `attr` of `device`; far cheaper than fetching the full
    property structure.
    """


@libcudart(
    "cudaError_t cudaDeviceGetHostAtomicCapabilities(unsigned int *capabilities, "
    "const cudaAtomicOperation *operations, unsigned int count, int device)",
    sizes={"capabilities": "count", "operations": "count"},
    since="13.0",
)
def cudaDeviceGetHostAtomicCapabilities(
    operations: Sequence[cudaAtomicOperation | int] | None, count: int, device: int
) -> tuple[cudaError_t, list[int]]:
    """Return, for each of the `count` entries of `operations`, a bitmask of how the link from `device` to
    the host supports that atomic natively.
    """


@libcudart("cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *memPool, int device)")
def cudaDeviceGetDefaultMemPool(device: int) -> tuple[cudaError_t, cudaMemPool_t]:
    """Return the built-in stream-ordered memory pool that belongs to `device`."""


@libcudart("cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t memPool)")
def cudaDeviceSetMemPool(device: int, memPool: cudaMemPool_t | int | None) -> tuple[cudaError_t]:
    """Make `memPool` the pool that cudaMallocAsync draws from on `device`; the pool must reside on that same
    device.
    """


@libcudart("cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *memPool, int device)")
def cudaDeviceGetMemPool(device: int) -> tuple[cudaError_t, cudaMemPool_t]:
    """Return the pool currently serving stream-ordered allocations on `device`, which is its default pool
    unless one was set.
    """


@libcudart("cudaError_t cudaDeviceGetNvSciSyncAttributes(void *nvSciSyncAttrList, int device, int flags)")
def cudaDeviceGetNvSciSyncAttributes(
    nvSciSyncAttrList: void_p, device: int, flags: int
) -> tuple[cudaError_t]:
    """Fill the existing NvSciSync attribute list `nvSciSyncAttrList` with what `device` supports; `flags`
    asks for signal use, wait use or both.
    """


@libcudart(
    "cudaError_t cudaDeviceGetP2PAttribute(int *value, cudaDeviceP2PAttr attr, int srcDevice, int dstDevice)"
)
def cudaDeviceGetP2PAttribute(
    attr: cudaDeviceP2PAttr | int, srcDevice: int, dstDevice: int
) -> tuple[cudaError_t, int]:
    """Return the value of peer link attribute `attr`, such as performance rank or access support, for
    `srcDevice` towards `dstDevice`.
    """


@libcudart(
    "cudaError_t cudaDeviceGetP2PAtomicCapabilities(unsigned int *capabilities, "
    "const cudaAtomicOperation *operations, unsigned int count, int srcDevice, int dstDevice)",
    sizes={"capabilities": "count", "operations": "count"},
    since="13.0",
)
def cudaDeviceGetP2PAtomicCapabilities(
    operations: Sequence[cudaAtomicOperation | int] | None, count: int, srcDevice: int, dstDevice: int
) -> tuple[cudaError_t, list[int]]:
    """Return, for each of the `count` entries of `operations`, a bitmask of native support for that atomic
    on the link from `srcDevice` to `dstDevice`.
    """


@libcudart("cudaError_t cudaChooseDevice(int *device, const cudaDeviceProp *prop)", sizes={"prop": 1})
def _cudaChooseDevice(prop: Any) -> tuple[cudaError_t, int]: ...


def cudaChooseDevice(prop: cudaDeviceProp | cudaDeviceProp_12 | None) -> tuple[cudaError_t, int]:
    """Return the ordinal of the installed device whose properties come closest to those requested in
    `prop`.
    """
    from ._types.runtime.structs import cudaDeviceProp, cudaDeviceProp_12

    if prop is None:
        return _cudaChooseDevice(None)
    if not isinstance(prop, (cudaDeviceProp, cudaDeviceProp_12)):
        raise TypeError(f"cudaChooseDevice: prop must be a cudaDeviceProp, not {type(prop).__name__}")
    cls = _device_prop()
    if not isinstance(prop, cls):  # made for the other major: what both have
        names = [name for name, *_ in cls._fields_ if name != "reserved"]
        prop = cls(**{name: getattr(prop, name) for name in names if hasattr(prop, name)})
    return _cudaChooseDevice((cls * 1)(prop))


@libcudart("cudaError_t cudaInitDevice(int device, unsigned int deviceFlags, unsigned int flags)")
def cudaInitDevice(device: int, deviceFlags: int, flags: int) -> tuple[cudaError_t]:
    """Create the runtime state and primary context of `device` without making it current; `deviceFlags`
    count only if `flags` has cudaInitDeviceFlagsAreValid.
    """


@libcudart("cudaError_t cudaSetDevice(int device)")
def cudaSetDevice(device: int) -> tuple[cudaError_t]:
    """Make `device` current for the calling host thread, creating its primary context if that does not exist
    yet.
    """


@libcudart("cudaError_t cudaGetDevice(int *device)")
def cudaGetDevice() -> tuple[cudaError_t, int]:
    """Return the ordinal of the device that is current for the calling host thread."""


@libcudart("cudaError_t cudaSetValidDevices(int *device_arr, int len)", sizes={"device_arr": "len"})
def cudaSetValidDevices(device_arr: Sequence[int] | None, length: int) -> tuple[cudaError_t]:
    """Set the `length` device ordinals in `device_arr` as the candidates to try, in order of preference; a
    `length` of 0 restores the default list.
    """


@libcudart("cudaError_t cudaSetDeviceFlags(unsigned int flags)")
def cudaSetDeviceFlags(flags: int) -> tuple[cudaError_t]:
    """Set scheduling and memory-mapping `flags` (cudaDeviceSchedule* and the like) for the current device,
    or for the next one initialized.
    """


@libcudart("cudaError_t cudaGetDeviceFlags(unsigned int *flags)")
def cudaGetDeviceFlags() -> tuple[cudaError_t, int]:
    """Return the flag bits of the current device, or those a new context on it would receive if none
    exists.
    """


# -- Stream Management -----------------------------------------------------------------------------------


@libcudart("cudaError_t cudaStreamCreate(cudaStream_t *pStream)")
def cudaStreamCreate() -> tuple[cudaError_t, cudaStream_t]:
    """Create and return a new stream on the current device that synchronizes implicitly with the legacy
    default stream.
    """


@libcudart("cudaError_t cudaStreamCreateWithFlags(cudaStream_t *pStream, unsigned int flags)")
def cudaStreamCreateWithFlags(flags: int) -> tuple[cudaError_t, cudaStream_t]:
    """Create and return a stream with `flags`: cudaStreamDefault (0), or cudaStreamNonBlocking to skip
    implicit sync with the default stream.
    """


@libcudart(
    "cudaError_t cudaStreamCreateWithPriority(cudaStream_t *pStream, unsigned int flags, int priority)"
)
def cudaStreamCreateWithPriority(flags: int, priority: int) -> tuple[cudaError_t, cudaStream_t]:
    """Create and return a stream with `flags` and a scheduling `priority`; lower numbers run first and out-
    of-range values are clamped.
    """


@libcudart("cudaError_t cudaStreamGetPriority(cudaStream_t hStream, int *priority)")
def cudaStreamGetPriority(hStream: cudaStream_t | int | None) -> tuple[cudaError_t, int]:
    """Return the scheduling priority of `hStream`, already clamped to the device's range."""


@libcudart("cudaError_t cudaStreamGetFlags(cudaStream_t hStream, unsigned int *flags)")
def cudaStreamGetFlags(hStream: cudaStream_t | int | None) -> tuple[cudaError_t, int]:
    """Return the flag bits with which `hStream` was created, such as cudaStreamNonBlocking."""


@libcudart("cudaError_t cudaStreamGetId(cudaStream_t hStream, unsigned long long *streamId)")
def cudaStreamGetId(hStream: cudaStream_t | int | None) -> tuple[cudaError_t, int]:
    """Return the 64-bit identifier of `hStream`, unique for the life of the program; the default streams are
    accepted too.
    """


@libcudart("cudaError_t cudaStreamGetDevice(cudaStream_t hStream, int *device)", since="12.8")
def cudaStreamGetDevice(hStream: cudaStream_t | int | None) -> tuple[cudaError_t, int]:
    """Return the ordinal of the device on which `hStream` runs."""


@libcudart("cudaError_t cudaCtxResetPersistingL2Cache(void)")
def cudaCtxResetPersistingL2Cache() -> tuple[cudaError_t]:
    """Return all persisting L2 cache lines of the current context to normal eviction, effective on return."""


@libcudart("cudaError_t cudaStreamCopyAttributes(cudaStream_t dst, cudaStream_t src)")
def cudaStreamCopyAttributes(
    dst: cudaStream_t | int | None, src: cudaStream_t | int | None
) -> tuple[cudaError_t]:
    """Copy every settable attribute of stream `src` to stream `dst`; both must share one context."""


@libcudart(
    "cudaError_t cudaStreamGetAttribute(cudaStream_t hStream, cudaLaunchAttributeID attr, "
    "cudaLaunchAttributeValue *value_out)"
)
def cudaStreamGetAttribute(
    hStream: cudaStream_t | int | None, attr: cudaLaunchAttributeID | int
) -> tuple[cudaError_t, cudaLaunchAttributeValue]:
    """Return the value of attribute `attr` of `hStream` as a cudaStreamAttrValue union."""


@libcudart(
    "cudaError_t cudaStreamSetAttribute(cudaStream_t hStream, cudaLaunchAttributeID attr, "
    "const cudaLaunchAttributeValue *value)"
)
def cudaStreamSetAttribute(
    hStream: cudaStream_t | int | None,
    attr: cudaLaunchAttributeID | int,
    value: cudaLaunchAttributeValue | None,
) -> tuple[cudaError_t]:
    """Set attribute `attr` of `hStream` from the union `value`; work submitted afterwards uses it."""


@libcudart("cudaError_t cudaStreamDestroy(cudaStream_t stream)")
def cudaStreamDestroy(stream: cudaStream_t | int | None) -> tuple[cudaError_t]:
    """Release `stream` without waiting; its resources are freed once the work already queued in it
    completes.
    """


@libcudart("cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags)")
def cudaStreamWaitEvent(
    stream: cudaStream_t | int | None, event: cudaEvent_t | int | None, flags: int
) -> tuple[cudaError_t]:
    """Make later work in `stream` wait on the device for `event`; `flags` is cudaEventWaitDefault (0) or
    cudaEventWaitExternal during capture.
    """


@libcudart(
    "cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *userData, "
    "unsigned int flags)"
)
def cudaStreamAddCallback(
    stream: cudaStream_t | int | None, callback: Any, userData: void_p, flags: int
) -> tuple[cudaError_t]:
    """Queue `callback` to run on the host with `userData` and a status once prior work in `stream` ends;
    `flags` must be 0. Prefer cudaLaunchHostFunc.
    """


@libcudart("cudaError_t cudaStreamSynchronize(cudaStream_t stream)")
def cudaStreamSynchronize(stream: cudaStream_t | int | None) -> tuple[cudaError_t]:
    """Block the calling thread until everything queued in `stream` has completed."""


@libcudart("cudaError_t cudaStreamQuery(cudaStream_t stream)")
def cudaStreamQuery(stream: cudaStream_t | int | None) -> tuple[cudaError_t]:
    """Check whether `stream` is idle without blocking, yielding cudaSuccess if so and cudaErrorNotReady if
    work remains.
    """


@libcudart(
    "cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *devPtr, size_t length, "
    "unsigned int flags)"
)
def cudaStreamAttachMemAsync(
    stream: cudaStream_t | int | None, devPtr: void_p, length: int, flags: int
) -> tuple[cudaError_t]:
    """Tie managed or pageable memory at `devPtr` to `stream` in stream order; `length` is in bytes, 0
    meaning a whole managed allocation, and `flags` sets the visibility.
    """


@libcudart("cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode)")
def cudaStreamBeginCapture(
    stream: cudaStream_t | int | None, mode: cudaStreamCaptureMode | int
) -> tuple[cudaError_t]:
    """Start recording work submitted to `stream` into a new graph instead of running it; `mode` governs
    unsafe calls by other threads.
    """


@libcudart(
    "cudaError_t cudaStreamBeginRecaptureToGraph(cudaStream_t stream, cudaStreamCaptureMode mode, "
    "cudaGraph_t graph, cudaGraphRecaptureCallbackData *callbackData)",
    since="13.3",
)
def cudaStreamBeginRecaptureToGraph(
    stream: cudaStream_t | int | None,
    mode: cudaStreamCaptureMode | int,
    graph: cudaGraph_t | int | None,
    callbackData: cudaGraphRecaptureCallbackData | None,
) -> tuple[cudaError_t]:
    """Start recapturing `stream` into `graph`, repeating its node order and topology exactly; optional
    `callbackData` decides on parameter mismatches.
    """


@libcudart(
    "cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph, "
    "const cudaGraphNode_t *dependencies, const cudaGraphEdgeData *dependencyData, size_t numDependencies, "
    "cudaStreamCaptureMode mode)",
    sizes={"dependencies": "numDependencies", "dependencyData": "numDependencies"},
    since="12.3",
)
def cudaStreamBeginCaptureToGraph(
    stream: cudaStream_t | int | None,
    graph: cudaGraph_t | int | None,
    dependencies: Sequence[cudaGraphNode_t | int] | None,
    dependencyData: Sequence[cudaGraphEdgeData] | None,
    numDependencies: int,
    mode: cudaStreamCaptureMode | int,
) -> tuple[cudaError_t]:
    """Start capturing `stream` into existing `graph`, after the `numDependencies` nodes in `dependencies`
    with optional edge data `dependencyData`.
    """


@libcudart("cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *mode)")
def cudaThreadExchangeStreamCaptureMode(
    mode: cudaStreamCaptureMode | int,
) -> tuple[cudaError_t, cudaStreamCaptureMode]:
    """Swap the calling thread's capture interaction mode for `mode` and return the previous one, so it can
    be restored later.
    """


@libcudart("cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *pGraph)")
def cudaStreamEndCapture(stream: cudaStream_t | int | None) -> tuple[cudaError_t, cudaGraph_t]:
    """Finish capturing on `stream`, which must be the origin stream, and return the recorded graph."""


@libcudart("cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *pCaptureStatus)")
def cudaStreamIsCapturing(stream: cudaStream_t | int | None) -> tuple[cudaError_t, cudaStreamCaptureStatus]:
    """Return the capture status of `stream`: none, active or invalidated."""


@libcudart(
    "cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, "
    "cudaStreamCaptureStatus *captureStatus_out, unsigned long long *id_out, cudaGraph_t *graph_out, "
    "const cudaGraphNode_t **dependencies_out, size_t *numDependencies_out)",
    sizes={"dependencies_out": "numDependencies_out"},
)
def cudaStreamGetCaptureInfo_v2(
    stream: cudaStream_t | int | None,
) -> tuple[cudaError_t, cudaStreamCaptureStatus, int, cudaGraph_t, list[cudaGraphNode_t], int]:
    """As `cudaStreamGetCaptureInfo`, without the edge data; CUDA 13 no longer has it."""


@libcudart(
    "cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus *captureStatus_out, "
    "unsigned long long *id_out, cudaGraph_t *graph_out, const cudaGraphNode_t **dependencies_out, "
    "const cudaGraphEdgeData **edgeData_out, size_t *numDependencies_out)",
    sizes={"dependencies_out": "numDependencies_out", "edgeData_out": "numDependencies_out"},
    since="12.3",
    symbols={12: "cudaStreamGetCaptureInfo_v3"},
)
def cudaStreamGetCaptureInfo_v3(
    stream: cudaStream_t | int | None,
) -> tuple[
    cudaError_t,
    cudaStreamCaptureStatus,
    int,
    cudaGraph_t,
    list[cudaGraphNode_t],
    list[cudaGraphEdgeData],
    int,
]:
    """Return the capture status of `stream` along with the sequence id, graph, next-node dependencies, their
    edge data and their count.
    """


cudaStreamGetCaptureInfo = padded(
    cudaStreamGetCaptureInfo_v3, cudaStreamGetCaptureInfo_v2, "cudaGraphEdgeData"
)


@libcudart(
    "cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *dependencies, "
    "size_t numDependencies, unsigned int flags)",
    sizes={"dependencies": "numDependencies"},
    symbols={13: None},
)
def _cudaStreamUpdateCaptureDependencies_12(
    stream: cudaStream_t | int | None,
    dependencies: Sequence[cudaGraphNode_t | int] | None,
    numDependencies: int,
    flags: int,
) -> tuple[cudaError_t]: ...


@libcudart(
    "cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *dependencies, "
    "const cudaGraphEdgeData *dependencyData, size_t numDependencies, unsigned int flags)",
    sizes={"dependencies": "numDependencies", "dependencyData": "numDependencies"},
    since="12.3",
    symbols={12: "cudaStreamUpdateCaptureDependencies_v2"},
)
def cudaStreamUpdateCaptureDependencies_v2(
    stream: cudaStream_t | int | None,
    dependencies: Sequence[cudaGraphNode_t | int] | None,
    dependencyData: Sequence[cudaGraphEdgeData] | None,
    numDependencies: int,
    flags: int,
) -> tuple[cudaError_t]:
    """Add the `numDependencies` nodes in `dependencies` to what the next captured node of `stream` depends
    on, or replace that set, as `flags` says.
    """


cudaStreamUpdateCaptureDependencies = either(
    cudaStreamUpdateCaptureDependencies_v2, _cudaStreamUpdateCaptureDependencies_12, "dependencyData"
)

# -- Event Management ------------------------------------------------------------------------------------


@libcudart("cudaError_t cudaEventCreate(cudaEvent_t *event)")
def cudaEventCreate() -> tuple[cudaError_t, cudaEvent_t]:
    """Create and return an event on the current device with default settings, so timing is enabled."""


@libcudart("cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)")
def cudaEventCreateWithFlags(flags: int) -> tuple[cudaError_t, cudaEvent_t]:
    """Create and return an event with `flags` such as cudaEventBlockingSync, cudaEventDisableTiming or
    cudaEventInterprocess; 0 is the default.
    """


@libcudart("cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)")
def cudaEventRecord(event: cudaEvent_t | int | None, stream: cudaStream_t | int | None) -> tuple[cudaError_t]:
    """Record `event` after the work queued so far in `stream`; a `stream` of 0 means the default stream."""


@libcudart("cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags)")
def cudaEventRecordWithFlags(
    event: cudaEvent_t | int | None, stream: cudaStream_t | int | None, flags: int
) -> tuple[cudaError_t]:
    """Record `event` in `stream` with `flags`: cudaEventRecordDefault (0), or cudaEventRecordExternal to
    make an event node under capture.
    """


@libcudart("cudaError_t cudaEventQuery(cudaEvent_t event)")
def cudaEventQuery(event: cudaEvent_t | int | None) -> tuple[cudaError_t]:
    """Check without blocking whether the work captured by `event` is done: cudaSuccess if so,
    cudaErrorNotReady otherwise.
    """


@libcudart("cudaError_t cudaEventSynchronize(cudaEvent_t event)")
def cudaEventSynchronize(event: cudaEvent_t | int | None) -> tuple[cudaError_t]:
    """Block the calling thread until the most recent recording of `event` completes; an unrecorded event
    returns at once.
    """


@libcudart("cudaError_t cudaEventDestroy(cudaEvent_t event)")
def cudaEventDestroy(event: cudaEvent_t | int | None) -> tuple[cudaError_t]:
    """Destroy `event`; if it is still pending, its resources are released when it completes."""


@libcudart("cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)")
def cudaEventElapsedTime(
    start: cudaEvent_t | int | None, end: cudaEvent_t | int | None
) -> tuple[cudaError_t, float]:
    """Return the time in milliseconds (resolution about 0.5 us) between recorded events `start` and `end`,
    both created with timing.
    """


@libcudart(
    "cudaError_t cudaEventElapsedTime_v2(float *ms, cudaEvent_t start, cudaEvent_t end)",
    since="12.8",
    before="cudaEventElapsedTime",
)
def cudaEventElapsedTime_v2(
    start: cudaEvent_t | int | None, end: cudaEvent_t | int | None
) -> tuple[cudaError_t, float]:
    """As `cudaEventElapsedTime`, under the name that CUDA 12.8 and 12.9 have as well."""


# -- External Resource Interoperability ------------------------------------------------------------------


@libcudart(
    "cudaError_t cudaImportExternalMemory(cudaExternalMemory_t *extMem_out, "
    "const cudaExternalMemoryHandleDesc *memHandleDesc)"
)
def cudaImportExternalMemory(
    memHandleDesc: cudaExternalMemoryHandleDesc | None,
) -> tuple[cudaError_t, cudaExternalMemory_t]:
    """Import memory owned by another API, as described by `memHandleDesc`, and return an external memory
    object for it.
    """


@libcudart(
    "cudaError_t cudaExternalMemoryGetMappedBuffer(void **devPtr, cudaExternalMemory_t extMem, "
    "const cudaExternalMemoryBufferDesc *bufferDesc)"
)
def cudaExternalMemoryGetMappedBuffer(
    extMem: cudaExternalMemory_t | int | None, bufferDesc: cudaExternalMemoryBufferDesc | None
) -> tuple[cudaError_t, int]:
    """Map the byte range of `extMem` given in `bufferDesc` (offset and size) and return its device address,
    to be freed with cudaFree.
    """


@libcudart(
    "cudaError_t cudaExternalMemoryGetMappedMipmappedArray(cudaMipmappedArray_t *mipmap, "
    "cudaExternalMemory_t extMem, const cudaExternalMemoryMipmappedArrayDesc *mipmapDesc)"
)
def cudaExternalMemoryGetMappedMipmappedArray(
    extMem: cudaExternalMemory_t | int | None, mipmapDesc: cudaExternalMemoryMipmappedArrayDesc | None
) -> tuple[cudaError_t, cudaMipmappedArray_t]:
    """Map part of `extMem` as a mipmapped array with the offset, format, extent and level count in
    `mipmapDesc`, and return it.
    """


@libcudart("cudaError_t cudaDestroyExternalMemory(cudaExternalMemory_t extMem)")
def cudaDestroyExternalMemory(extMem: cudaExternalMemory_t | int | None) -> tuple[cudaError_t]:
    """Release the imported object `extMem`; buffers and arrays mapped from it must be freed separately."""


@libcudart(
    "cudaError_t cudaImportExternalSemaphore(cudaExternalSemaphore_t *extSem_out, "
    "const cudaExternalSemaphoreHandleDesc *semHandleDesc)"
)
def cudaImportExternalSemaphore(
    semHandleDesc: cudaExternalSemaphoreHandleDesc | None,
) -> tuple[cudaError_t, cudaExternalSemaphore_t]:
    """Import a synchronization object of another API, as described by `semHandleDesc`, and return an
    external semaphore.
    """


@libcudart(
    "cudaError_t cudaSignalExternalSemaphoresAsync(const cudaExternalSemaphore_t *extSemArray, "
    "const cudaExternalSemaphoreSignalParams *paramsArray, unsigned int numExtSems, cudaStream_t stream)",
    sizes={"extSemArray": "numExtSems", "paramsArray": "numExtSems"},
    symbols={12: "cudaSignalExternalSemaphoresAsync_v2"},
)
def cudaSignalExternalSemaphoresAsync(
    extSemArray: Sequence[cudaExternalSemaphore_t | int] | None,
    paramsArray: Sequence[cudaExternalSemaphoreSignalParams] | None,
    numExtSems: int,
    stream: cudaStream_t | int | None,
) -> tuple[cudaError_t]:
    """Queue in `stream` a signal on each of the `numExtSems` semaphores in `extSemArray`, using the matching
    entry of `paramsArray`.
    """


cudaSignalExternalSemaphoresAsync_v2 = cudaSignalExternalSemaphoresAsync


@libcudart(
    "cudaError_t cudaWaitExternalSemaphoresAsync(const cudaExternalSemaphore_t *extSemArray, "
    "const cudaExternalSemaphoreWaitParams *paramsArray, unsigned int numExtSems, cudaStream_t stream)",
    sizes={"extSemArray": "numExtSems", "paramsArray": "numExtSems"},
    symbols={12: "cudaWaitExternalSemaphoresAsync_v2"},
)
def cudaWaitExternalSemaphoresAsync(
    extSemArray: Sequence[cudaExternalSemaphore_t | int] | None,
    paramsArray: Sequence[cudaExternalSemaphoreWaitParams] | None,
    numExtSems: int,
    stream: cudaStream_t | int | None,
) -> tuple[cudaError_t]:
    """Make `stream` wait for each of the `numExtSems` semaphores in `extSemArray`, using the matching entry
    of `paramsArray`.
    """


cudaWaitExternalSemaphoresAsync_v2 = cudaWaitExternalSemaphoresAsync


@libcudart("cudaError_t cudaDestroyExternalSemaphore(cudaExternalSemaphore_t extSem)")
def cudaDestroyExternalSemaphore(extSem: cudaExternalSemaphore_t | int | None) -> tuple[cudaError_t]:
    """Release the imported semaphore `extSem`; signals and waits on it should have completed beforehand."""


# -- Execution Control -----------------------------------------------------------------------------------


@libcudart(
    "cudaError_t cudaLaunchKernel(const void *func, dim3 gridDim, dim3 blockDim, void **args, "
    "size_t sharedMem, cudaStream_t stream)"
)
def _cudaLaunchKernel(
    func: void_p,
    gridDim: dim3,
    blockDim: dim3,
    args: void_pp,
    sharedMem: int,
    stream: cudaStream_t | int | None,
) -> tuple[cudaError_t]: ...


def cudaLaunchKernel(
    func: void_p,
    gridDim: dim3 | Sequence[int] | int,
    blockDim: dim3 | Sequence[int] | int,
    args: void_pp,
    sharedMem: int,
    stream: cudaStream_t | int | None,
) -> tuple[cudaError_t]:
    """Launch kernel `func` in `stream` on a `gridDim` of `blockDim` blocks with `sharedMem` bytes of
    dynamic shared memory; `args` lists argument addresses.

    `gridDim` and `blockDim` may be ints and tuples as well: what they leave out is 1. `args` is what
    kernelParams is for `cuLaunchKernel`.
    """
    grid, block = _dim3(gridDim, "cudaLaunchKernel: gridDim"), _dim3(blockDim, "cudaLaunchKernel: blockDim")
    return _cudaLaunchKernel(func, grid, block, args, sharedMem, stream)


def _dim3(value: dim3 | Sequence[int] | int, what: str) -> dim3:
    from ._types.runtime.structs import dim3

    if isinstance(value, dim3):
        return value
    try:
        return dim3(*value) if isinstance(value, (tuple, list)) else dim3(value)  # type: ignore[arg-type]
    except (TypeError, OverflowError) as error:
        raise type(error)(f"{what}: {error}") from None


@libcudart("cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *func, void **args)")
def cudaLaunchKernelExC(config: cudaLaunchConfig_t | None, func: void_p, args: void_pp) -> tuple[cudaError_t]:
    """Launch kernel `func` with argument addresses `args`, taking grid, block, stream, shared bytes and
    launch attributes from `config`.
    """


@libcudart(
    "cudaError_t cudaLaunchCooperativeKernel(const void *func, dim3 gridDim, dim3 blockDim, void **args, "
    "size_t sharedMem, cudaStream_t stream)"
)
def _cudaLaunchCooperativeKernel(
    func: void_p,
    gridDim: dim3,
    blockDim: dim3,
    args: void_pp,
    sharedMem: int,
    stream: cudaStream_t | int | None,
) -> tuple[cudaError_t]: ...


def cudaLaunchCooperativeKernel(
    func: void_p,
    gridDim: dim3 | Sequence[int] | int,
    blockDim: dim3 | Sequence[int] | int,
    args: void_pp,
    sharedMem: int,
    stream: cudaStream_t | int | None,
) -> tuple[cudaError_t]:
    """Launch `func` so that all its blocks are co-resident and can sync grid-wide; `args` lists argument
    addresses and `sharedMem` is in bytes per block.

    `gridDim` and `blockDim` may be ints and tuples as well: what they leave out is 1. `args` is what
    kernelParams is for `cuLaunchKernel`.
    """
    grid = _dim3(gridDim, "cudaLaunchCooperativeKernel: gridDim")
    block = _dim3(blockDim, "cudaLaunchCooperativeKernel: blockDim")
    return _cudaLaunchCooperativeKernel(func, grid, block, args, sharedMem, stream)


@libcudart(
    "cudaError_t cudaLaunchCooperativeKernelMultiDevice(cudaLaunchParams *launchParamsList, "
    "unsigned int numDevices, unsigned int flags)",
    sizes={"launchParamsList": "numDevices"},
)
def cudaLaunchCooperativeKernelMultiDevice(
    launchParamsList: Sequence[cudaLaunchParams] | None, numDevices: int, flags: int
) -> tuple[cudaError_t]:
    """Launch a cooperative kernel on `numDevices` devices at once, as `launchParamsList` says; CUDA 13 no
    longer has it.
    """


@libcudart("cudaError_t cudaFuncSetCacheConfig(const void *func, cudaFuncCache cacheConfig)")
def cudaFuncSetCacheConfig(func: void_p, cacheConfig: cudaFuncCache | int) -> tuple[cudaError_t]:
    """Hint that kernel `func` prefers the L1 versus shared memory split given by `cacheConfig`, overriding
    the device-wide preference.
    """


@libcudart("cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attr, const void *func)")
def cudaFuncGetAttributes(func: void_p) -> tuple[cudaError_t, cudaFuncAttributes]:
    """Return a cudaFuncAttributes structure for kernel `func`, with register use, memory sizes in bytes and
    thread limits.
    """


@libcudart("cudaError_t cudaFuncSetAttribute(const void *func, cudaFuncAttribute attr, int value)")
def cudaFuncSetAttribute(func: void_p, attr: cudaFuncAttribute | int, value: int) -> tuple[cudaError_t]:
    """Set the attribute `attr` of kernel `func` to `value`, for instance its maximum dynamic shared memory
    in bytes.
    """


@libcudart("cudaError_t cudaFuncGetName(const char **name, const void *func)", since="12.3")
def cudaFuncGetName(func: void_p) -> tuple[cudaError_t, bytes]:
    """Return the symbol name of kernel `func` as a string, mangled unless it has C linkage."""


@libcudart(
    "cudaError_t cudaFuncGetParamInfo(const void *func, size_t paramIndex, size_t *paramOffset, "
    "size_t *paramSize)",
    since="12.4",
)
def cudaFuncGetParamInfo(func: void_p, paramIndex: int) -> tuple[cudaError_t, int, int]:
    """Return the byte offset and byte size of the kernel argument numbered `paramIndex` (from 0) in the
    device-side layout of `func`.
    """


@libcudart("cudaError_t cudaSetDoubleForDevice(double *d)", sizes={"d": 1})
def cudaSetDoubleForDevice(d: Sequence[float] | None) -> tuple[cudaError_t]:
    """Leave the one double in `d` as it is: devices have had doubles for long; CUDA 13 no longer has it."""


@libcudart("cudaError_t cudaSetDoubleForHost(double *d)", sizes={"d": 1})
def cudaSetDoubleForHost(d: Sequence[float] | None) -> tuple[cudaError_t]:
    """Leave the one double in `d` as it is: devices have had doubles for long; CUDA 13 no longer has it."""


@libcudart("cudaError_t cudaFuncGetParamCount(const void *func, size_t *paramCount)", since="13.2")
def cudaFuncGetParamCount(func: void_p) -> tuple[cudaError_t, int]:
    """Return the number of arguments that kernel `func` takes."""


@libcudart("cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void *userData)")
def cudaLaunchHostFunc(stream: cudaStream_t | int | None, fn: Any, userData: void_p) -> tuple[cudaError_t]:
    """Queue host function `fn`, called with `userData`, behind the work in `stream`; later work waits for it
    and it must not call CUDA.
    """


@libcudart(
    "cudaError_t cudaLaunchHostFunc_v2(cudaStream_t stream, cudaHostFn_t fn, void *userData, "
    "unsigned int syncMode)",
    since="13.2",
)
def cudaLaunchHostFunc_v2(
    stream: cudaStream_t | int | None, fn: Any, userData: void_p, syncMode: int
) -> tuple[cudaError_t]:
    """Queue host function `fn` with `userData` in `stream`; unlike the first form, `syncMode` selects
    blocking (0) or spin-wait (1) handover.
    """


# -- Execution Control [DEPRECATED] ----------------------------------------------------------------------


@libcudart("cudaError_t cudaFuncSetSharedMemConfig(const void *func, cudaSharedMemConfig config)")
def cudaFuncSetSharedMemConfig(func: void_p, config: cudaSharedMemConfig | int) -> tuple[cudaError_t]:
    """Set the shared memory bank width that kernel `func` prefers; recent devices ignore it (deprecated)."""


# -- Occupancy -------------------------------------------------------------------------------------------


@libcudart(
    "cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, const void *func, "
    "int blockSize, size_t dynamicSMemSize)"
)
def cudaOccupancyMaxActiveBlocksPerMultiprocessor(
    func: void_p, blockSize: int, dynamicSMemSize: int
) -> tuple[cudaError_t, int]:
    """Return how many blocks of `func` fit on one multiprocessor at `blockSize` threads and
    `dynamicSMemSize` bytes of dynamic shared memory each.
    """


@libcudart(
    "cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, const void *func, "
    "int numBlocks, int blockSize)"
)
def cudaOccupancyAvailableDynamicSMemPerBlock(
    func: void_p, numBlocks: int, blockSize: int
) -> tuple[cudaError_t, int]:
    """Return the most dynamic shared memory, in bytes per block, that still lets `numBlocks` blocks of
    `blockSize` threads of `func` share a multiprocessor.
    """


@libcudart(
    "cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, const void *func, "
    "int blockSize, size_t dynamicSMemSize, unsigned int flags)"
)
def cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    func: void_p, blockSize: int, dynamicSMemSize: int, flags: int
) -> tuple[cudaError_t, int]:
    """Return the resident blocks of `func` per multiprocessor as the plain form does, with `flags` 0 or
    cudaOccupancyDisableCachingOverride.
    """


@libcudart(
    "cudaError_t cudaOccupancyMaxPotentialClusterSize(int *clusterSize, const void *func, "
    "const cudaLaunchConfig_t *launchConfig)"
)
def cudaOccupancyMaxPotentialClusterSize(
    func: void_p, launchConfig: cudaLaunchConfig_t | None
) -> tuple[cudaError_t, int]:
    """Return the largest cluster size, in blocks, with which `func` can launch under `launchConfig`, whose
    own cluster dimensions are ignored.
    """


@libcudart(
    "cudaError_t cudaOccupancyMaxActiveClusters(int *numClusters, const void *func, "
    "const cudaLaunchConfig_t *launchConfig)"
)
def cudaOccupancyMaxActiveClusters(
    func: void_p, launchConfig: cudaLaunchConfig_t | None
) -> tuple[cudaError_t, int]:
    """Return how many clusters of `func` can be resident on the device at once with the shape and resources
    in `launchConfig`.
    """


# -- Memory Management -----------------------------------------------------------------------------------


@libcudart("cudaError_t cudaMallocManaged(void **devPtr, size_t size, unsigned int flags)")
def cudaMallocManaged(size: int, flags: int) -> tuple[cudaError_t, int]:
    """Allocate `size` bytes of unified memory and return its address, valid on host and device; `flags` is
    cudaMemAttachGlobal or cudaMemAttachHost.
    """


@libcudart("cudaError_t cudaMalloc(void **devPtr, size_t size)")
def cudaMalloc(size: int) -> tuple[cudaError_t, int]:
    """Allocate `size` bytes of linear memory on the current device and return its address; the contents are
    uninitialized.
    """


@libcudart("cudaError_t cudaMallocHost(void **ptr, size_t size)")
def cudaMallocHost(size: int) -> tuple[cudaError_t, int]:
    """Allocate `size` bytes of page-locked host memory and return its address, usable for fast and
    asynchronous copies.
    """


@libcudart("cudaError_t cudaMallocPitch(void **devPtr, size_t *pitch, size_t width, size_t height)")
def cudaMallocPitch(width: int, height: int) -> tuple[cudaError_t, int, int]:
    """Allocate `height` rows of at least `width` bytes each, padded for alignment, and return the device
    address and the row pitch in bytes.
    """


@libcudart(
    "cudaError_t cudaMallocArray(cudaArray_t *array, const cudaChannelFormatDesc *desc, size_t width, "
    "size_t height, unsigned int flags)"
)
def cudaMallocArray(
    desc: cudaChannelFormatDesc | None, width: int, height: int, flags: int
) -> tuple[cudaError_t, cudaArray_t]:
    """Allocate and return a CUDA array of `width` by `height` elements of format `desc`; a `height` of 0
    makes it 1D, and `flags` may allow surface use.
    """


@libcudart("cudaError_t cudaFree(void *devPtr)")
def cudaFree(devPtr: void_p) -> tuple[cudaError_t]:
    """Release device or managed memory at `devPtr` obtained from the matching allocation calls; a null
    address is a no-op.
    """


@libcudart("cudaError_t cudaFreeHost(void *ptr)")
def cudaFreeHost(ptr: void_p) -> tuple[cudaError_t]:
    """Release page-locked host memory at `ptr` that came from cudaMallocHost or cudaHostAlloc."""


@libcudart("cudaError_t cudaFreeArray(cudaArray_t array)")
def cudaFreeArray(array: cudaArray_t | int | None) -> tuple[cudaError_t]:
    """Release the CUDA array `array`; a null handle is ignored."""


@libcudart("cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t mipmappedArray)")
def cudaFreeMipmappedArray(mipmappedArray: cudaMipmappedArray_t | int | None) -> tuple[cudaError_t]:
    """Release `mipmappedArray` together with all its levels; a null handle is ignored."""


@libcudart("cudaError_t cudaHostAlloc(void **pHost, size_t size, unsigned int flags)")
def cudaHostAlloc(size: int, flags: int) -> tuple[cudaError_t, int]:
    """Allocate `size` bytes of page-locked host memory and return its address; `flags` combines portable,
    mapped and write-combined, 0 being the default.
    """


@libcudart("cudaError_t cudaHostRegister(void *ptr, size_t size, unsigned int flags)", sizes={"ptr": "size"})
def cudaHostRegister(ptr: void_p, size: int, flags: int) -> tuple[cudaError_t]:
    """Page-lock the existing host range of `size` bytes at `ptr` for device use; `flags` selects portable,
    mapped, I/O memory or read-only.
    """


@libcudart("cudaError_t cudaHostUnregister(void *ptr)")
def cudaHostUnregister(ptr: void_p) -> tuple[cudaError_t]:
    """Undo the page-locking of the host range registered at base address `ptr`, making it pageable again."""


@libcudart("cudaError_t cudaHostGetDevicePointer(void **pDevice, void *pHost, unsigned int flags)")
def cudaHostGetDevicePointer(pHost: void_p, flags: int) -> tuple[cudaError_t, int]:
    """Return the device address through which kernels reach mapped page-locked host memory at `pHost`;
    `flags` must be 0.
    """


@libcudart("cudaError_t cudaHostGetFlags(unsigned int *pFlags, void *pHost)")
def cudaHostGetFlags(pHost: void_p) -> tuple[cudaError_t, int]:
    """Return the flag bits given when the page-locked host memory at `pHost` was allocated."""


@libcudart("cudaError_t cudaMalloc3D(cudaPitchedPtr *pitchedDevPtr, cudaExtent extent)")
def cudaMalloc3D(extent: cudaExtent) -> tuple[cudaError_t, cudaPitchedPtr]:
    """Allocate padded device memory for `extent` (width in bytes, height in rows, depth in slices) and
    return it as a cudaPitchedPtr.
    """


@libcudart(
    "cudaError_t cudaMalloc3DArray(cudaArray_t *array, const cudaChannelFormatDesc *desc, cudaExtent extent, "
    "unsigned int flags)"
)
def cudaMalloc3DArray(
    desc: cudaChannelFormatDesc | None, extent: cudaExtent, flags: int
) -> tuple[cudaError_t, cudaArray_t]:
    """Allocate and return a CUDA array of format `desc` and `extent` in elements, where zero height or depth
    lowers its rank; `flags` adds layers, cubemap or surface.
    """


@libcudart(
    "cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t *mipmappedArray, "
    "const cudaChannelFormatDesc *desc, cudaExtent extent, unsigned int numLevels, unsigned int flags)"
)
def cudaMallocMipmappedArray(
    desc: cudaChannelFormatDesc | None, extent: cudaExtent, numLevels: int, flags: int
) -> tuple[cudaError_t, cudaMipmappedArray_t]:
    """Allocate and return a mipmapped array of format `desc`, base `extent` in elements and `numLevels`
    levels (clamped to the maximum), with `flags`.
    """


@libcudart(
    "cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t *levelArray, "
    "cudaMipmappedArray_const_t mipmappedArray, unsigned int level)"
)
def cudaGetMipmappedArrayLevel(
    mipmappedArray: cudaMipmappedArray_const_t | int | None, level: int
) -> tuple[cudaError_t, cudaArray_t]:
    """Return the CUDA array for mip level `level` of `mipmappedArray`, where 0 is the finest."""


@libcudart("cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms *p)")
def cudaMemcpy3D(p: cudaMemcpy3DParms | None) -> tuple[cudaError_t]:
    """Copy a 3D box between arrays or pitched memory as described in `p`; extents are in elements if an
    array takes part, otherwise in bytes.
    """


@libcudart("cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms *p)")
def cudaMemcpy3DPeer(p: cudaMemcpy3DPeerParms | None) -> tuple[cudaError_t]:
    """Copy a 3D box between two devices as described in `p`, which names the device ordinal of each side."""


@libcudart("cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms *p, cudaStream_t stream)")
def cudaMemcpy3DAsync(p: cudaMemcpy3DParms | None, stream: cudaStream_t | int | None) -> tuple[cudaError_t]:
    """Queue in `stream` the 3D box copy described in `p`; host memory should be page-locked for the copy to
    overlap.
    """


@libcudart("cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms *p, cudaStream_t stream)")
def cudaMemcpy3DPeerAsync(
    p: cudaMemcpy3DPeerParms | None, stream: cudaStream_t | int | None
) -> tuple[cudaError_t]:
    """Queue in `stream` the 3D box copy between two devices that `p` describes."""


@libcudart("cudaError_t cudaMemGetInfo(size_t *free, size_t *total)")
def cudaMemGetInfo() -> tuple[cudaError_t, int, int]:
    """Return the free and the total memory of the current device, both in bytes."""


@libcudart(
    "cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc *desc, cudaExtent *extent, unsigned int *flags, "
    "cudaArray_t array)"
)
def cudaArrayGetInfo(
    array: cudaArray_t | int | None,
) -> tuple[cudaError_t, cudaChannelFormatDesc, cudaExtent, int]:
    """Return the channel format, the extent in elements and the creation flags of `array`."""


@libcudart(
    "cudaError_t cudaArrayGetPlane(cudaArray_t *pPlaneArray, cudaArray_t hArray, unsigned int planeIdx)"
)
def cudaArrayGetPlane(hArray: cudaArray_t | int | None, planeIdx: int) -> tuple[cudaError_t, cudaArray_t]:
    """Return the single-plane array numbered `planeIdx` (from 0) of the multi-planar array `hArray`."""


@libcudart(
    "cudaError_t cudaArrayGetMemoryRequirements(cudaArrayMemoryRequirements *memoryRequirements, "
    "cudaArray_t array, int device)"
)
def cudaArrayGetMemoryRequirements(
    array: cudaArray_t | int | None, device: int
) -> tuple[cudaError_t, cudaArrayMemoryRequirements]:
    """Return the size and alignment in bytes that backing memory for deferred-mapping array `array` needs on
    `device`.
    """


@libcudart(
    "cudaError_t cudaMipmappedArrayGetMemoryRequirements(cudaArrayMemoryRequirements *memoryRequirements, "
    "cudaMipmappedArray_t mipmap, int device)"
)
def cudaMipmappedArrayGetMemoryRequirements(
    mipmap: cudaMipmappedArray_t | int | None, device: int
) -> tuple[cudaError_t, cudaArrayMemoryRequirements]:
    """Return the size and alignment in bytes that backing memory for deferred-mapping `mipmap` needs on
    `device`.
    """


@libcudart(
    "cudaError_t cudaArrayGetSparseProperties(cudaArraySparseProperties *sparseProperties, cudaArray_t array)"
)
def cudaArrayGetSparseProperties(
    array: cudaArray_t | int | None,
) -> tuple[cudaError_t, cudaArraySparseProperties]:
    """Return the tile extent, mip tail and flags that describe the layout of the sparse array `array`."""


@libcudart(
    "cudaError_t cudaMipmappedArrayGetSparseProperties(cudaArraySparseProperties *sparseProperties, "
    "cudaMipmappedArray_t mipmap)"
)
def cudaMipmappedArrayGetSparseProperties(
    mipmap: cudaMipmappedArray_t | int | None,
) -> tuple[cudaError_t, cudaArraySparseProperties]:
    """Return the tile extent, mip tail start and size, and flags of the sparse mipmapped array `mipmap`."""


@libcudart(
    "cudaError_t cudaMemcpy(void *dst, const void *src, size_t count, cudaMemcpyKind kind)",
    sizes={"dst": "count", "src": "count"},
)
def cudaMemcpy(dst: void_p, src: void_p, count: int, kind: cudaMemcpyKind | int) -> tuple[cudaError_t]:
    """Copy `count` bytes from `src` to `dst` in the direction `kind`; cudaMemcpyDefault infers it from the
    addresses.
    """


@libcudart(
    "cudaError_t cudaMemcpyPeer(void *dst, int dstDevice, const void *src, int srcDevice, size_t count)"
)
def cudaMemcpyPeer(
    dst: void_p, dstDevice: int, src: void_p, srcDevice: int, count: int
) -> tuple[cudaError_t]:
    """Copy `count` bytes from `src` on `srcDevice` to `dst` on `dstDevice`, using a direct peer path where
    one is enabled.
    """


@libcudart(
    "cudaError_t cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, "
    "size_t height, cudaMemcpyKind kind)",
    sizes={
        "dst": "(height - 1) * dpitch + width if width and height else 0",
        "src": "(height - 1) * spitch + width if width and height else 0",
    },
)
def cudaMemcpy2D(
    dst: void_p, dpitch: int, src: void_p, spitch: int, width: int, height: int, kind: cudaMemcpyKind | int
) -> tuple[cudaError_t]:
    """Copy `height` rows of `width` bytes from `src` to `dst`, whose rows lie `spitch` and `dpitch` bytes
    apart, in direction `kind`.
    """


@libcudart(
    "cudaError_t cudaMemcpy2DToArray(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, "
    "size_t spitch, size_t width, size_t height, cudaMemcpyKind kind)",
    sizes={"src": "(height - 1) * spitch + width if width and height else 0"},
)
def cudaMemcpy2DToArray(
    dst: cudaArray_t | int | None,
    wOffset: int,
    hOffset: int,
    src: void_p,
    spitch: int,
    width: int,
    height: int,
    kind: cudaMemcpyKind | int,
) -> tuple[cudaError_t]:
    """Copy `height` rows of `width` bytes, `spitch` bytes apart at `src`, into array `dst` at byte column
    `wOffset` and row `hOffset`.
    """


@libcudart(
    "cudaError_t cudaMemcpy2DFromArray(void *dst, size_t dpitch, cudaArray_const_t src, size_t wOffset, "
    "size_t hOffset, size_t width, size_t height, cudaMemcpyKind kind)",
    sizes={"dst": "(height - 1) * dpitch + width if width and height else 0"},
)
def cudaMemcpy2DFromArray(
    dst: void_p,
    dpitch: int,
    src: cudaArray_const_t | int | None,
    wOffset: int,
    hOffset: int,
    width: int,
    height: int,
    kind: cudaMemcpyKind | int,
) -> tuple[cudaError_t]:
    """Copy `height` rows of `width` bytes out of array `src`, from byte column `wOffset` and row `hOffset`,
    to `dst` with pitch `dpitch` bytes.
    """


@libcudart(
    "cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst, "
    "cudaArray_const_t src, size_t wOffsetSrc, size_t hOffsetSrc, size_t width, size_t height, "
    "cudaMemcpyKind kind)"
)
def cudaMemcpy2DArrayToArray(
    dst: cudaArray_t | int | None,
    wOffsetDst: int,
    hOffsetDst: int,
    src: cudaArray_const_t | int | None,
    wOffsetSrc: int,
    hOffsetSrc: int,
    width: int,
    height: int,
    kind: cudaMemcpyKind | int,
) -> tuple[cudaError_t]:
    """Copy a block of `height` rows of `width` bytes between arrays `src` and `dst`, each side having a byte
    column and a row offset.
    """


@libcudart(
    "cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *src, size_t count, size_t offset, "
    "cudaMemcpyKind kind)",
    sizes={"src": "count"},
)
def cudaMemcpyToSymbol(
    symbol: void_p, src: void_p, count: int, offset: int, kind: cudaMemcpyKind | int
) -> tuple[cudaError_t]:
    """Copy `count` bytes from `src` into the device variable `symbol`, starting `offset` bytes into it;
    `kind` is normally host to device.
    """


@libcudart(
    "cudaError_t cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t count, size_t offset, "
    "cudaMemcpyKind kind)",
    sizes={"dst": "count"},
)
def cudaMemcpyFromSymbol(
    dst: void_p, symbol: void_p, count: int, offset: int, kind: cudaMemcpyKind | int
) -> tuple[cudaError_t]:
    """Copy `count` bytes to `dst` out of the device variable `symbol`, starting `offset` bytes into it;
    `kind` is normally device to host.
    """


@libcudart(
    "cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t count, cudaMemcpyKind kind, "
    "cudaStream_t stream)",
    sizes={"dst": "count", "src": "count"},
)
def cudaMemcpyAsync(
    dst: void_p, src: void_p, count: int, kind: cudaMemcpyKind | int, stream: cudaStream_t | int | None
) -> tuple[cudaError_t]:
    """Queue in `stream` a copy of `count` bytes from `src` to `dst`; keep both buffers alive, and page-lock
    host memory for real overlap.
    """


@libcudart(
    "cudaError_t cudaMemcpyPeerAsync(void *dst, int dstDevice, const void *src, int srcDevice, size_t count, "
    "cudaStream_t stream)"
)
def cudaMemcpyPeerAsync(
    dst: void_p, dstDevice: int, src: void_p, srcDevice: int, count: int, stream: cudaStream_t | int | None
) -> tuple[cudaError_t]:
    """Queue in `stream` a copy of `count` bytes from `src` on `srcDevice` to `dst` on `dstDevice`."""


@libcudart(
    "cudaError_t cudaMemcpyBatchAsync(void **dsts, void **srcs, size_t *sizes, size_t count, "
    "cudaMemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs, size_t *failIdx, cudaStream_t stream)",
    sizes={"dsts": "count", "srcs": "count", "sizes": "count", "attrs": "numAttrs", "attrsIdxs": "numAttrs"},
    since="12.8",
    symbols={13: None},
)
def _cudaMemcpyBatchAsync_12(
    dsts: void_pp,
    srcs: void_pp,
    sizes: Sequence[int] | None,
    count: int,
    attrs: Sequence[cudaMemcpyAttributes] | None,
    attrsIdxs: Sequence[int] | None,
    numAttrs: int,
    stream: cudaStream_t | int | None,
) -> tuple[cudaError_t, int]: ...


@libcudart(
    "cudaError_t cudaMemcpyBatchAsync(void *const *dsts, const void *const *srcs, const size_t *sizes, "
    "size_t count, cudaMemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs, cudaStream_t stream)",
    sizes={"dsts": "count", "srcs": "count", "sizes": "count", "attrs": "numAttrs", "attrsIdxs": "numAttrs"},
    since="13.0",
    symbols={12: None},
)
def _cudaMemcpyBatchAsync(
    dsts: void_pp,
    srcs: void_pp,
    sizes: Sequence[int] | None,
    count: int,
    attrs: Sequence[cudaMemcpyAttributes] | None,
    attrsIdxs: Sequence[int] | None,
    numAttrs: int,
    stream: cudaStream_t | int | None,
) -> tuple[cudaError_t]: ...


def cudaMemcpyBatchAsync(
    dsts: void_pp,
    srcs: void_pp,
    sizes: Sequence[int] | None,
    count: int,
    attrs: Sequence[cudaMemcpyAttributes] | None,
    attrsIdxs: Sequence[int] | None,
    numAttrs: int,
    stream: cudaStream_t | int | None,
) -> tuple[cudaError_t]:
    """Queue `count` unordered copies of `sizes` bytes from `srcs` to `dsts`; each of `numAttrs` `attrs`
    applies from copy index `attrsIdxs`, the first being 0.

    CUDA 12.8 and 12.9 also tell which copy failed: see `_cudaMemcpyBatchAsync_12`.
    """
    try:
        return _cudaMemcpyBatchAsync(dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, stream)
    except SymbolNotFound:
        return _cudaMemcpyBatchAsync_12(dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, stream)[:1]


@libcudart(
    "cudaError_t cudaMemcpy3DBatchAsync(size_t numOps, cudaMemcpy3DBatchOp *opList, size_t *failIdx, "
    "unsigned long long flags, cudaStream_t stream)",
    sizes={"opList": "numOps"},
    since="12.8",
    symbols={13: None},
)
def _cudaMemcpy3DBatchAsync_12(
    numOps: int, opList: Sequence[cudaMemcpy3DBatchOp] | None, flags: int, stream: cudaStream_t | int | None
) -> tuple[cudaError_t, int]: ...


@libcudart(
    "cudaError_t cudaMemcpy3DBatchAsync(size_t numOps, cudaMemcpy3DBatchOp *opList, "
    "unsigned long long flags, cudaStream_t stream)",
    sizes={"opList": "numOps"},
    since="13.0",
    symbols={12: None},
)
def _cudaMemcpy3DBatchAsync(
    numOps: int, opList: Sequence[cudaMemcpy3DBatchOp] | None, flags: int, stream: cudaStream_t | int | None
) -> tuple[cudaError_t]: ...


def cudaMemcpy3DBatchAsync(
    numOps: int, opList: Sequence[cudaMemcpy3DBatchOp] | None, flags: int, stream: cudaStream_t | int | None
) -> tuple[cudaError_t]:
    """Queue in `stream` the `numOps` 3D copies in `opList`, in no guaranteed mutual order; extents are in
    elements and `flags` must be 0.
    """
    try:
        return _cudaMemcpy3DBatchAsync(numOps, opList, flags, stream)
    except SymbolNotFound:
        return _cudaMemcpy3DBatchAsync_12(numOps, opList, flags, stream)[:1]


@libcudart(
    "cudaError_t cudaMemcpyWithAttributesAsync(void *dst, const void *src, size_t size, "
    "cudaMemcpyAttributes *attr, cudaStream_t stream)",
    sizes={"dst": "size", "src": "size"},
    since="13.2",
)
def cudaMemcpyWithAttributesAsync(
    dst: void_p, src: void_p, size: int, attr: cudaMemcpyAttributes | None, stream: cudaStream_t | int | None
) -> tuple[cudaError_t]:
    """Queue in `stream` a copy of `size` bytes from `src` to `dst`, honoring the source access order and
    location hints in `attr`.
    """


@libcudart(
    "cudaError_t cudaMemcpy3DWithAttributesAsync(cudaMemcpy3DBatchOp *op, unsigned long long flags, "
    "cudaStream_t stream)",
    since="13.2",
)
def cudaMemcpy3DWithAttributesAsync(
    op: cudaMemcpy3DBatchOp | None, flags: int, stream: cudaStream_t | int | None
) -> tuple[cudaError_t]:
    """Queue in `stream` the single 3D copy `op`, which carries its operands, extent in elements and access
    order; `flags` must be 0.
    """


@libcudart(
    "cudaError_t cudaMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, "
    "size_t height, cudaMemcpyKind kind, cudaStream_t stream)",
    sizes={
        "dst": "(height - 1) * dpitch + width if width and height else 0",
        "src": "(height - 1) * spitch + width if width and height else 0",
    },
)
def cudaMemcpy2DAsync(
    dst: void_p,
    dpitch: int,
    src: void_p,
    spitch: int,
    width: int,
    height: int,
    kind: cudaMemcpyKind | int,
    stream: cudaStream_t | int | None,
) -> tuple[cudaError_t]:
    """Queue in `stream` a copy of `height` rows of `width` bytes from `src` (pitch `spitch`) to `dst` (pitch
    `dpitch`), pitches in bytes.
    """


@libcudart(
    "cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, "
    "size_t spitch, size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream)",
    sizes={"src": "(height - 1) * spitch + width if width and height else 0"},
)
def cudaMemcpy2DToArrayAsync(
    dst: cudaArray_t | int | None,
    wOffset: int,
    hOffset: int,
    src: void_p,
    spitch: int,
    width: int,
    height: int,
    kind: cudaMemcpyKind | int,
    stream: cudaStream_t | int | None,
) -> tuple[cudaError_t]:
    """Queue in `stream` a copy of `height` rows of `width` bytes from `src`, pitch `spitch`, into array
    `dst` at byte `wOffset`, row `hOffset`.
    """


@libcudart(
    "cudaError_t cudaMemcpy2DFromArrayAsync(void *dst, size_t dpitch, cudaArray_const_t src, size_t wOffset, "
    "size_t hOffset, size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream)",
    sizes={"dst": "(height - 1) * dpitch + width if width and height else 0"},
)
def cudaMemcpy2DFromArrayAsync(
    dst: void_p,
    dpitch: int,
    src: cudaArray_const_t | int | None,
    wOffset: int,
    hOffset: int,
    width: int,
    height: int,
    kind: cudaMemcpyKind | int,
    stream: cudaStream_t | int | None,
) -> tuple[cudaError_t]:
    """Queue in `stream` a copy of `height` rows of `width` bytes from array `src` at byte `wOffset`, row
    `hOffset`, to `dst` with pitch `dpitch`.
    """


@libcudart(
    "cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t count, size_t offset, "
    "cudaMemcpyKind kind, cudaStream_t stream)",
    sizes={"src": "count"},
)
def cudaMemcpyToSymbolAsync(
    symbol: void_p,
    src: void_p,
    count: int,
    offset: int,
    kind: cudaMemcpyKind | int,
    stream: cudaStream_t | int | None,
) -> tuple[cudaError_t]:
    """Queue in `stream` a copy of `count` bytes from `src` into device variable `symbol` at byte `offset`,
    in direction `kind`.
    """


@libcudart(
    "cudaError_t cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t count, size_t offset, "
    "cudaMemcpyKind kind, cudaStream_t stream)",
    sizes={"dst": "count"},
)
def cudaMemcpyFromSymbolAsync(
    dst: void_p,
    symbol: void_p,
    count: int,
    offset: int,
    kind: cudaMemcpyKind | int,
    stream: cudaStream_t | int | None,
) -> tuple[cudaError_t]:
    """Queue in `stream` a copy of `count` bytes to `dst` from device variable `symbol` at byte `offset`, in
    direction `kind`.
    """


@libcudart("cudaError_t cudaMemset(void *devPtr, int value, size_t count)")
def cudaMemset(devPtr: void_p, value: int, count: int) -> tuple[cudaError_t]:
    """Set each of `count` bytes of device memory at `devPtr` to the low 8 bits of `value`."""


@libcudart("cudaError_t cudaMemset2D(void *devPtr, size_t pitch, int value, size_t width, size_t height)")
def cudaMemset2D(devPtr: void_p, pitch: int, value: int, width: int, height: int) -> tuple[cudaError_t]:
    """Set `width` bytes in each of `height` rows, spaced `pitch` bytes apart at `devPtr`, to the low 8 bits
    of `value`.
    """


@libcudart("cudaError_t cudaMemset3D(cudaPitchedPtr pitchedDevPtr, int value, cudaExtent extent)")
def cudaMemset3D(pitchedDevPtr: cudaPitchedPtr, value: int, extent: cudaExtent) -> tuple[cudaError_t]:
    """Set every byte of the box `extent` (width in bytes) inside `pitchedDevPtr` to the low 8 bits of
    `value`.
    """


@libcudart("cudaError_t cudaMemsetAsync(void *devPtr, int value, size_t count, cudaStream_t stream)")
def cudaMemsetAsync(
    devPtr: void_p, value: int, count: int, stream: cudaStream_t | int | None
) -> tuple[cudaError_t]:
    """Queue in `stream` a fill of `count` bytes of device memory at `devPtr` with the low 8 bits of
    `value`.
    """


@libcudart(
    "cudaError_t cudaMemset2DAsync(void *devPtr, size_t pitch, int value, size_t width, size_t height, "
    "cudaStream_t stream)"
)
def cudaMemset2DAsync(
    devPtr: void_p, pitch: int, value: int, width: int, height: int, stream: cudaStream_t | int | None
) -> tuple[cudaError_t]:
    """Queue in `stream` a fill of `height` rows of `width` bytes, `pitch` bytes apart at `devPtr`, with byte
    `value`.
    """


@libcudart(
    "cudaError_t cudaMemset3DAsync(cudaPitchedPtr pitchedDevPtr, int value, cudaExtent extent, "
    "cudaStream_t stream)"
)
def cudaMemset3DAsync(
    pitchedDevPtr: cudaPitchedPtr, value: int, extent: cudaExtent, stream: cudaStream_t | int | None
) -> tuple[cudaError_t]:
    """Queue in `stream` a fill of the box `extent` (width in bytes) inside `pitchedDevPtr` with byte
    `value`.
    """


@libcudart("cudaError_t cudaGetSymbolAddress(void **devPtr, const void *symbol)")
def cudaGetSymbolAddress(symbol: void_p) -> tuple[cudaError_t, int]:
    """Return the device address of the global or constant variable `symbol` on the current device."""


@libcudart("cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol)")
def cudaGetSymbolSize(symbol: void_p) -> tuple[cudaError_t, int]:
    """Return the size in bytes of the global or constant variable `symbol`."""


@libcudart(
    "cudaError_t cudaMemPrefetchAsync(const void *devPtr, size_t count, int dstDevice, cudaStream_t stream)",
    symbols={13: None},
)
def _cudaMemPrefetchAsync_12(
    devPtr: void_p, count: int, dstDevice: int, stream: cudaStream_t | int | None
) -> tuple[cudaError_t]: ...


@libcudart(
    "cudaError_t cudaMemPrefetchAsync(const void *devPtr, size_t count, cudaMemLocation location, "
    "unsigned int flags, cudaStream_t stream)",
    since="12.2",
    symbols={12: "cudaMemPrefetchAsync_v2"},
)
def cudaMemPrefetchAsync_v2(
    devPtr: void_p, count: int, location: cudaMemLocation, flags: int, stream: cudaStream_t | int | None
) -> tuple[cudaError_t]:
    """Queue in `stream` a migration of `count` bytes of managed or pageable memory at `devPtr` to
    `location`; `flags` must be 0.
    """


def _prefetch(*args: Any, **kwargs: Any) -> tuple[cudaError_t]:
    """With a location, as CUDA 13 has it; with a device in its place and no flags, as CUDA 12 had it."""
    from ._types.runtime.structs import cudaMemLocation

    values = (*args, *kwargs.values())
    if len(values) > 4 or any(isinstance(value, cudaMemLocation) for value in values):
        return cudaMemPrefetchAsync_v2(*args, **kwargs)
    try:
        return _cudaMemPrefetchAsync_12(*args, **kwargs)
    except SymbolNotFound:
        names = ("devPtr", "count", "dstDevice", "stream")
        arguments: dict[str, Any] = {**dict(zip(names, args, strict=False)), **kwargs}
        location = _location(arguments.pop("dstDevice"), "cudaMemPrefetchAsync: dstDevice")
        return cudaMemPrefetchAsync_v2(location=location, flags=0, **arguments)


cudaMemPrefetchAsync = two_forms(cudaMemPrefetchAsync_v2, _cudaMemPrefetchAsync_12, _prefetch)


def _location(device: int, what: str) -> cudaMemLocation:
    """What CUDA 13 has for the device ordinals of CUDA 12, cudaCpuDeviceId among them."""
    from ._ffi.convert import integer
    from ._types.runtime.constants import cudaCpuDeviceId
    from ._types.runtime.enums import cudaMemLocationType
    from ._types.runtime.structs import cudaMemLocation

    if integer(device, -(1 << 31), (1 << 31) - 1, what) == cudaCpuDeviceId:
        return cudaMemLocation(type=cudaMemLocationType.cudaMemLocationTypeHost)
    return cudaMemLocation(type=cudaMemLocationType.cudaMemLocationTypeDevice, id=device)


@libcudart(
    "cudaError_t cudaMemPrefetchBatchAsync(void **dptrs, size_t *sizes, size_t count, "
    "cudaMemLocation *prefetchLocs, size_t *prefetchLocIdxs, size_t numPrefetchLocs, "
    "unsigned long long flags, cudaStream_t stream)",
    sizes={
        "dptrs": "count",
        "sizes": "count",
        "prefetchLocs": "numPrefetchLocs",
        "prefetchLocIdxs": "numPrefetchLocs",
    },
    since="13.0",
)
def cudaMemPrefetchBatchAsync(
    dptrs: void_pp,
    sizes: Sequence[int] | None,
    count: int,
    prefetchLocs: Sequence[cudaMemLocation] | None,
    prefetchLocIdxs: Sequence[int] | None,
    numPrefetchLocs: int,
    flags: int,
    stream: cudaStream_t | int | None,
) -> tuple[cudaError_t]:
    """Queue `count` prefetches of `sizes` bytes at `dptrs`; each of `numPrefetchLocs` `prefetchLocs` applies
    from index `prefetchLocIdxs`, the first being 0. `flags` must be 0.
    """


@libcudart(
    "cudaError_t cudaMemDiscardBatchAsync(void **dptrs, size_t *sizes, size_t count, "
    "unsigned long long flags, cudaStream_t stream)",
    sizes={"dptrs": "count", "sizes": "count"},
    since="13.0",
)
def cudaMemDiscardBatchAsync(
    dptrs: void_pp, sizes: Sequence[int] | None, count: int, flags: int, stream: cudaStream_t | int | None
) -> tuple[cudaError_t]:
    """Queue in `stream` a discard of `count` ranges of `sizes` bytes at `dptrs`, leaving their contents
    undefined until rewritten; `flags` must be 0.
    """


@libcudart(
    "cudaError_t cudaMemDiscardAndPrefetchBatchAsync(void **dptrs, size_t *sizes, size_t count, "
    "cudaMemLocation *prefetchLocs, size_t *prefetchLocIdxs, size_t numPrefetchLocs, "
    "unsigned long long flags, cudaStream_t stream)",
    sizes={
        "dptrs": "count",
        "sizes": "count",
        "prefetchLocs": "numPrefetchLocs",
        "prefetchLocIdxs": "numPrefetchLocs",
    },
    since="13.0",
)
def cudaMemDiscardAndPrefetchBatchAsync(
    dptrs: void_pp,
    sizes: Sequence[int] | None,
    count: int,
    prefetchLocs: Sequence[cudaMemLocation] | None,
    prefetchLocIdxs: Sequence[int] | None,
    numPrefetchLocs: int,
    flags: int,
    stream: cudaStream_t | int | None,
) -> tuple[cudaError_t]:
    """Queue a discard then a prefetch of `count` ranges `dptrs` of `sizes` bytes; entry k of `prefetchLocs`
    applies from index `prefetchLocIdxs`[k]. `flags` must be 0.
    """


@libcudart(
    "cudaError_t cudaMemGetLocationInfo(void *devPtr, size_t size, size_t summaryGranularity, "
    "size_t samplingGranularity, cudaMemLocation *location_out)",
    sizes={"location_out": "-(-size // summaryGranularity) if summaryGranularity else 0"},
    since="13.4",
)
def _cudaMemGetLocationInfo(
    devPtr: void_p, size: int, summaryGranularity: int, samplingGranularity: int, location_out: Any
) -> tuple[cudaError_t]: ...


def cudaMemGetLocationInfo(
    devPtr: void_p,
    size: int,
    summaryGranularity: int,
    samplingGranularity: int,
    location_out: Sequence[cudaMemLocation] | cudaMemLocation,
) -> tuple[cudaError_t]:
    """Set the entries of `location_out` to the commonest location in each `summaryGranularity` bytes of the
    `size` bytes at `devPtr`, looked at every `samplingGranularity` bytes.
    """
    from ._ffi.convert import fill
    from ._types.runtime.structs import cudaMemLocation

    def call(filled: Any) -> tuple[cudaError_t]:
        return _cudaMemGetLocationInfo(devPtr, size, summaryGranularity, samplingGranularity, filled)

    return fill(call, location_out, cudaMemLocation, "cudaMemGetLocationInfo: location_out")


@libcudart(
    "cudaError_t cudaMemAdvise(const void *devPtr, size_t count, cudaMemoryAdvise advice, int device)",
    symbols={13: None},
)
def _cudaMemAdvise_12(
    devPtr: void_p, count: int, advice: cudaMemoryAdvise | int, device: int
) -> tuple[cudaError_t]: ...


@libcudart(
    "cudaError_t cudaMemAdvise(const void *devPtr, size_t count, cudaMemoryAdvise advice, "
    "cudaMemLocation location)",
    since="12.2",
    symbols={12: "cudaMemAdvise_v2"},
)
def cudaMemAdvise_v2(
    devPtr: void_p, count: int, advice: cudaMemoryAdvise | int, location: cudaMemLocation
) -> tuple[cudaError_t]:
    """Give usage hint `advice`, such as read-mostly or preferred location, for `count` bytes at `devPtr`
    with respect to `location`.
    """


def _advise(*args: Any, **kwargs: Any) -> tuple[cudaError_t]:
    """With a location, as CUDA 13 has it; with a device in its place, as CUDA 12 had it."""
    from ._types.runtime.structs import cudaMemLocation

    if any(isinstance(value, cudaMemLocation) for value in (*args, *kwargs.values())):
        return cudaMemAdvise_v2(*args, **kwargs)
    if "location" in kwargs:
        kwargs["device"] = kwargs.pop("location")
    try:
        return _cudaMemAdvise_12(*args, **kwargs)
    except SymbolNotFound:
        names = ("devPtr", "count", "advice", "device")
        arguments: dict[str, Any] = {**dict(zip(names, args, strict=False)), **kwargs}
        location = _location(arguments.pop("device"), "cudaMemAdvise: location")
        return cudaMemAdvise_v2(location=location, **arguments)


cudaMemAdvise = two_forms(cudaMemAdvise_v2, _cudaMemAdvise_12, _advise)


@libcudart(
    "cudaError_t cudaMemRangeGetAttribute(void *data, size_t dataSize, cudaMemRangeAttribute attribute, "
    "const void *devPtr, size_t count)",
    sizes={"data": "dataSize"},
)
def _cudaMemRangeGetAttribute(
    data: void_p, dataSize: int, attribute: cudaMemRangeAttribute | int, devPtr: void_p, count: int
) -> tuple[cudaError_t]: ...


def cudaMemRangeGetAttribute(
    dataSize: int, attribute: cudaMemRangeAttribute | int, devPtr: void_p, count: int
) -> tuple[cudaError_t, Any]:
    """Return `attribute` of the `count` bytes of managed or pageable memory at `devPtr`: one value
    (`dataSize` 4), or the list of devices that access it, as many as fit `dataSize` bytes.
    """
    from ._ffi.convert import range_storage

    data = range_storage(dataSize, "cudaMemRangeGetAttribute: dataSize")
    (err,) = _cudaMemRangeGetAttribute(data, dataSize, attribute, devPtr, count)
    return err, None if err else _range_value(attribute, data)


@libcudart(
    "cudaError_t cudaMemRangeGetAttributes(void **data, size_t *dataSizes, "
    "cudaMemRangeAttribute *attributes, size_t numAttributes, const void *devPtr, size_t count)",
    sizes={"data": "numAttributes", "dataSizes": "numAttributes", "attributes": "numAttributes"},
)
def _cudaMemRangeGetAttributes(
    data: void_pp,
    dataSizes: Sequence[int] | None,
    attributes: Sequence[cudaMemRangeAttribute | int] | None,
    numAttributes: int,
    devPtr: void_p,
    count: int,
) -> tuple[cudaError_t]: ...


def cudaMemRangeGetAttributes(
    dataSizes: Sequence[int],
    attributes: Sequence[cudaMemRangeAttribute | int],
    numAttributes: int,
    devPtr: void_p,
    count: int,
) -> tuple[cudaError_t, list[Any]]:
    """Return a list of the values that `cudaMemRangeGetAttribute` returns one at a time, for the first
    `numAttributes` of `attributes`, whose sizes in bytes are `dataSizes`.
    """
    from ._ffi.convert import listed, range_storage

    what = "cudaMemRangeGetAttributes"
    attributes = listed(attributes, f"{what}: attributes")
    dataSizes = listed(dataSizes, f"{what}: dataSizes")
    data = [range_storage(size, f"{what}: dataSizes[{i}]") for i, size in enumerate(dataSizes)]
    (err,) = _cudaMemRangeGetAttributes(data, dataSizes, attributes, numAttributes, devPtr, count)
    if err:
        return err, None  # type: ignore[return-value]
    pairs = zip(attributes[: int(numAttributes)], data[: int(numAttributes)], strict=True)
    return err, [_range_value(attribute, value) for attribute, value in pairs]


def _range_value(attribute: int, data: Any) -> Any:
    """What `range_storage` holds: one value, or the list of devices that access the range."""
    from ._types.runtime.attributes import MEM_RANGE_ATTRIBUTES
    from ._types.runtime.enums import cudaMemLocationType, cudaMemRangeAttribute

    if attribute == cudaMemRangeAttribute.cudaMemRangeAttributeAccessedBy:
        return list(data)
    cls = MEM_RANGE_ATTRIBUTES.get(attribute)  # type: ignore[call-overload]
    return cudaMemLocationType(data[0]) if cls is cudaMemLocationType else data[0]


# -- Memory Management [DEPRECATED] ----------------------------------------------------------------------


@libcudart(
    "cudaError_t cudaMemcpyToArray(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, "
    "size_t count, cudaMemcpyKind kind)",
    sizes={"src": "count"},
)
def cudaMemcpyToArray(
    dst: cudaArray_t | int | None,
    wOffset: int,
    hOffset: int,
    src: void_p,
    count: int,
    kind: cudaMemcpyKind | int,
) -> tuple[cudaError_t]:
    """Copy `count` bytes from `src` into CUDA array `dst`, starting `wOffset` bytes into row `hOffset`;
    `kind` gives the direction (deprecated).
    """


@libcudart(
    "cudaError_t cudaMemcpyFromArray(void *dst, cudaArray_const_t src, size_t wOffset, size_t hOffset, "
    "size_t count, cudaMemcpyKind kind)",
    sizes={"dst": "count"},
)
def cudaMemcpyFromArray(
    dst: void_p,
    src: cudaArray_const_t | int | None,
    wOffset: int,
    hOffset: int,
    count: int,
    kind: cudaMemcpyKind | int,
) -> tuple[cudaError_t]:
    """Copy `count` bytes to `dst` from CUDA array `src`, starting `wOffset` bytes into row `hOffset`; `kind`
    gives the direction (deprecated).
    """


@libcudart(
    "cudaError_t cudaMemcpyArrayToArray(cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst, "
    "cudaArray_const_t src, size_t wOffsetSrc, size_t hOffsetSrc, size_t count, cudaMemcpyKind kind)"
)
def cudaMemcpyArrayToArray(
    dst: cudaArray_t | int | None,
    wOffsetDst: int,
    hOffsetDst: int,
    src: cudaArray_const_t | int | None,
    wOffsetSrc: int,
    hOffsetSrc: int,
    count: int,
    kind: cudaMemcpyKind | int,
) -> tuple[cudaError_t]:
    """Copy `count` bytes between CUDA arrays, from byte `wOffsetSrc` of row `hOffsetSrc` in `src` to byte
    `wOffsetDst` of row `hOffsetDst` in `dst` (deprecated).
    """


@libcudart(
    "cudaError_t cudaMemcpyToArrayAsync(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, "
    "size_t count, cudaMemcpyKind kind, cudaStream_t stream)",
    sizes={"src": "count"},
)
def cudaMemcpyToArrayAsync(
    dst: cudaArray_t | int | None,
    wOffset: int,
    hOffset: int,
    src: void_p,
    count: int,
    kind: cudaMemcpyKind | int,
    stream: cudaStream_t | int | None,
) -> tuple[cudaError_t]:
    """Queue on `stream` a copy of `count` bytes from `src` into CUDA array `dst`, starting `wOffset` bytes
    into row `hOffset` (deprecated).
    """


@libcudart(
    "cudaError_t cudaMemcpyFromArrayAsync(void *dst, cudaArray_const_t src, size_t wOffset, size_t hOffset, "
    "size_t count, cudaMemcpyKind kind, cudaStream_t stream)",
    sizes={"dst": "count"},
)
def cudaMemcpyFromArrayAsync(
    dst: void_p,
    src: cudaArray_const_t | int | None,
    wOffset: int,
    hOffset: int,
    count: int,
    kind: cudaMemcpyKind | int,
    stream: cudaStream_t | int | None,
) -> tuple[cudaError_t]:
    """Queue on `stream` a copy of `count` bytes to `dst` from CUDA array `src`, starting `wOffset` bytes
    into row `hOffset` (deprecated).
    """


# -- Stream Ordered Memory Allocator ---------------------------------------------------------------------


@libcudart("cudaError_t cudaMallocAsync(void **devPtr, size_t size, cudaStream_t hStream)")
def cudaMallocAsync(size: int, hStream: cudaStream_t | int | None) -> tuple[cudaError_t, int]:
    """Allocate `size` bytes from the current pool of the device of `hStream`, in stream order, and return
    the address at once.
    """


@libcudart("cudaError_t cudaFreeAsync(void *devPtr, cudaStream_t hStream)")
def cudaFreeAsync(devPtr: void_p, hStream: cudaStream_t | int | None) -> tuple[cudaError_t]:
    """Release stream-ordered memory at `devPtr` once the work already queued in `hStream` is done."""


@libcudart("cudaError_t cudaMemPoolTrimTo(cudaMemPool_t memPool, size_t minBytesToKeep)")
def cudaMemPoolTrimTo(memPool: cudaMemPool_t | int | None, minBytesToKeep: int) -> tuple[cudaError_t]:
    """Give unused memory of `memPool` back to the system until at most `minBytesToKeep` bytes stay reserved,
    as far as live allocations allow.
    """


@libcudart(
    "cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t memPool, cudaMemPoolAttr attr, void *value)",
    variants={"value": ("attr", "MEMPOOL_ATTRIBUTES")},
)
def cudaMemPoolSetAttribute(
    memPool: cudaMemPool_t | int | None, attr: cudaMemPoolAttr | int, value: Any
) -> tuple[cudaError_t]:
    """Set the attribute `attr` of `memPool`, such as its release threshold in bytes, from the integer stored
    at `value`.
    """


@libcudart(
    "cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t memPool, cudaMemPoolAttr attr, void *value)",
    variants={"value": ("attr", "MEMPOOL_ATTRIBUTES")},
)
def cudaMemPoolGetAttribute(
    memPool: cudaMemPool_t | int | None, attr: cudaMemPoolAttr | int
) -> tuple[cudaError_t, Any]:
    """Return the attribute `attr` of `memPool`: 32-bit integers for reuse policies, 64-bit byte counts for
    usage figures.
    """


@libcudart(
    "cudaError_t cudaMemPoolSetAccess(cudaMemPool_t memPool, const cudaMemAccessDesc *descList, "
    "size_t count)",
    sizes={"descList": "count"},
)
def cudaMemPoolSetAccess(
    memPool: cudaMemPool_t | int | None, descList: Sequence[cudaMemAccessDesc] | None, count: int
) -> tuple[cudaError_t]:
    """Set who may access the memory of `memPool`, using the `count` location and permission descriptors in
    `descList`.
    """


@libcudart(
    "cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags *flags, cudaMemPool_t memPool, "
    "cudaMemLocation *location)"
)
def cudaMemPoolGetAccess(
    memPool: cudaMemPool_t | int | None, location: cudaMemLocation | None
) -> tuple[cudaError_t, cudaMemAccessFlags]:
    """Return the access flags (none, read or read-write) that `location` has on memory of `memPool`."""


@libcudart("cudaError_t cudaMemPoolCreate(cudaMemPool_t *memPool, const cudaMemPoolProps *poolProps)")
def cudaMemPoolCreate(poolProps: cudaMemPoolProps | None) -> tuple[cudaError_t, cudaMemPool_t]:
    """Create and return a memory pool with the location, allocation type, handle types and maximum size
    given in `poolProps`.
    """


@libcudart("cudaError_t cudaMemPoolDestroy(cudaMemPool_t memPool)")
def cudaMemPoolDestroy(memPool: cudaMemPool_t | int | None) -> tuple[cudaError_t]:
    """Destroy `memPool`; allocations still live keep their memory until freed, and default pools cannot be
    destroyed.
    """


@libcudart(
    "cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t *memPool, cudaMemLocation *location, "
    "cudaMemAllocationType type)",
    since="13.0",
)
def cudaMemGetDefaultMemPool(
    location: cudaMemLocation | None, typename: cudaMemAllocationType | int
) -> tuple[cudaError_t, cudaMemPool_t]:
    """Return the built-in memory pool for `location` and allocation type `typename` (pinned or managed)."""


@libcudart(
    "cudaError_t cudaMemGetMemPool(cudaMemPool_t *memPool, cudaMemLocation *location, "
    "cudaMemAllocationType type)",
    since="13.0",
)
def cudaMemGetMemPool(
    location: cudaMemLocation | None, typename: cudaMemAllocationType | int
) -> tuple[cudaError_t, cudaMemPool_t]:
    """Return the pool now in force for `location` and allocation type `typename`, the default one unless
    another was set.
    """


@libcudart(
    "cudaError_t cudaMemSetMemPool(cudaMemLocation *location, cudaMemAllocationType type, "
    "cudaMemPool_t memPool)",
    since="13.0",
)
def cudaMemSetMemPool(
    location: cudaMemLocation | None,
    typename: cudaMemAllocationType | int,
    memPool: cudaMemPool_t | int | None,
) -> tuple[cudaError_t]:
    """Make `memPool` the current pool for `location` and allocation type `typename`; the pool must have that
    same location.
    """


@libcudart(
    "cudaError_t cudaMallocFromPoolAsync(void **ptr, size_t size, cudaMemPool_t memPool, cudaStream_t stream)"
)
def cudaMallocFromPoolAsync(
    size: int, memPool: cudaMemPool_t | int | None, stream: cudaStream_t | int | None
) -> tuple[cudaError_t, int]:
    """Allocate `size` bytes from `memPool` in the order of `stream` and return the address; use it only in
    work that follows.
    """


@libcudart(
    "cudaError_t cudaMemPoolExportToShareableHandle(void *shareableHandle, cudaMemPool_t memPool, "
    "cudaMemAllocationHandleType handleType, unsigned int flags)",
    variants={"shareableHandle": ("handleType", "SHAREABLE_HANDLES")},
)
def cudaMemPoolExportToShareableHandle(
    memPool: cudaMemPool_t | int | None, handleType: cudaMemAllocationHandleType | int, flags: int
) -> tuple[cudaError_t, Any]:
    """Return an OS handle of `handleType`, such as a file descriptor, for sharing `memPool`; `flags` must
    be 0.
    """


@libcudart(
    "cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t *memPool, void *shareableHandle, "
    "cudaMemAllocationHandleType handleType, unsigned int flags)"
)
def cudaMemPoolImportFromShareableHandle(
    shareableHandle: void_p, handleType: cudaMemAllocationHandleType | int, flags: int
) -> tuple[cudaError_t, cudaMemPool_t]:
    """Open a pool shared by another process as OS handle `shareableHandle` of `handleType` and return it;
    `flags` must be 0.
    """


@libcudart("cudaError_t cudaMemPoolExportPointer(cudaMemPoolPtrExportData *exportData, void *ptr)")
def cudaMemPoolExportPointer(ptr: void_p) -> tuple[cudaError_t, cudaMemPoolPtrExportData]:
    """Return the data another process needs to import the single pool allocation at `ptr`."""


@libcudart(
    "cudaError_t cudaMemPoolImportPointer(void **ptr, cudaMemPool_t memPool, "
    "cudaMemPoolPtrExportData *exportData)"
)
def cudaMemPoolImportPointer(
    memPool: cudaMemPool_t | int | None, exportData: cudaMemPoolPtrExportData | None
) -> tuple[cudaError_t, int]:
    """Map one allocation of the imported pool `memPool` from its `exportData` and return the local
    address.
    """


# -- Unified Addressing ----------------------------------------------------------------------------------


@libcudart("cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *ptr)")
def cudaPointerGetAttributes(ptr: void_p) -> tuple[cudaError_t, cudaPointerAttributes]:
    """Return the memory type, owning device and host and device addresses known for the address `ptr`."""


# -- Peer Device Memory Access ---------------------------------------------------------------------------


@libcudart("cudaError_t cudaDeviceCanAccessPeer(int *canAccessPeer, int device, int peerDevice)")
def cudaDeviceCanAccessPeer(device: int, peerDevice: int) -> tuple[cudaError_t, int]:
    """Return 1 if `device` can directly address memory on `peerDevice`, otherwise 0."""


@libcudart("cudaError_t cudaDeviceEnablePeerAccess(int peerDevice, unsigned int flags)")
def cudaDeviceEnablePeerAccess(peerDevice: int, flags: int) -> tuple[cudaError_t]:
    """Let the current device directly reach memory on `peerDevice`, one way only; `flags` must be 0."""


@libcudart("cudaError_t cudaDeviceDisablePeerAccess(int peerDevice)")
def cudaDeviceDisablePeerAccess(peerDevice: int) -> tuple[cudaError_t]:
    """Revoke the current device's direct access to memory on `peerDevice`; fails when access was never
    enabled.
    """


# -- Graphics Interoperability ---------------------------------------------------------------------------


@libcudart("cudaError_t cudaGraphicsUnregisterResource(cudaGraphicsResource_t resource)")
def cudaGraphicsUnregisterResource(resource: cudaGraphicsResource_t | int | None) -> tuple[cudaError_t]:
    """Drop the CUDA registration of graphics `resource`; unmap it first, and register again before further
    use.
    """


@libcudart("cudaError_t cudaGraphicsResourceSetMapFlags(cudaGraphicsResource_t resource, unsigned int flags)")
def cudaGraphicsResourceSetMapFlags(
    resource: cudaGraphicsResource_t | int | None, flags: int
) -> tuple[cudaError_t]:
    """Set how `resource` will be used at its next mapping: `flags` 0 for read-write, 1 for read-only, 2 for
    write-discard.
    """


@libcudart(
    "cudaError_t cudaGraphicsMapResources(int count, cudaGraphicsResource_t *resources, cudaStream_t stream)",
    sizes={"resources": "count"},
)
def cudaGraphicsMapResources(
    count: int, resources: Sequence[cudaGraphicsResource_t | int] | None, stream: cudaStream_t | int | None
) -> tuple[cudaError_t]:
    """Map a list of `count` graphics `resources` for CUDA use, ordered on `stream`; the graphics API must
    leave them alone until unmapped.
    """


@libcudart(
    "cudaError_t cudaGraphicsUnmapResources(int count, cudaGraphicsResource_t *resources, "
    "cudaStream_t stream)",
    sizes={"resources": "count"},
)
def cudaGraphicsUnmapResources(
    count: int, resources: Sequence[cudaGraphicsResource_t | int] | None, stream: cudaStream_t | int | None
) -> tuple[cudaError_t]:
    """Hand a list of `count` mapped graphics `resources` back to the graphics API after prior work in
    `stream` completes.
    """


@libcudart(
    "cudaError_t cudaGraphicsResourceGetMappedPointer(void **devPtr, size_t *size, "
    "cudaGraphicsResource_t resource)"
)
def cudaGraphicsResourceGetMappedPointer(
    resource: cudaGraphicsResource_t | int | None,
) -> tuple[cudaError_t, int, int]:
    """Return the device address of a mapped buffer `resource` together with the accessible size in bytes;
    the address may change at each mapping.
    """


@libcudart(
    "cudaError_t cudaGraphicsSubResourceGetMappedArray(cudaArray_t *array, cudaGraphicsResource_t resource, "
    "unsigned int arrayIndex, unsigned int mipLevel)"
)
def cudaGraphicsSubResourceGetMappedArray(
    resource: cudaGraphicsResource_t | int | None, arrayIndex: int, mipLevel: int
) -> tuple[cudaError_t, cudaArray_t]:
    """Return the CUDA array behind one subresource of a mapped image `resource`, picked by array layer or
    cube face `arrayIndex` and mipmap level `mipLevel`, both 0-based.
    """


@libcudart(
    "cudaError_t cudaGraphicsResourceGetMappedMipmappedArray(cudaMipmappedArray_t *mipmappedArray, "
    "cudaGraphicsResource_t resource)"
)
def cudaGraphicsResourceGetMappedMipmappedArray(
    resource: cudaGraphicsResource_t | int | None,
) -> tuple[cudaError_t, cudaMipmappedArray_t]:
    """Return the CUDA mipmapped array that backs a mapped image `resource`; the handle may change at each
    mapping.
    """


# -- Texture Object Management ---------------------------------------------------------------------------


@libcudart("cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc *desc, cudaArray_const_t array)")
def cudaGetChannelDesc(array: cudaArray_const_t | int | None) -> tuple[cudaError_t, cudaChannelFormatDesc]:
    """Return the channel format (bits per component and kind) of the elements of `array`."""


@libcudart("cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind f)")
def cudaCreateChannelDesc(
    x: int, y: int, z: int, w: int, f: cudaChannelFormatKind | int
) -> tuple[cudaError_t, cudaChannelFormatDesc]:
    """Build a channel format from the bit widths `x`, `y`, `z`, `w` of its four components (0 for an absent
    one) and the component kind `f`.
    """


@libcudart(
    "cudaError_t cudaCreateTextureObject(cudaTextureObject_t *pTexObject, const cudaResourceDesc *pResDesc, "
    "const cudaTextureDesc *pTexDesc, const cudaResourceViewDesc *pResViewDesc)"
)
def cudaCreateTextureObject(
    pResDesc: cudaResourceDesc | None,
    pTexDesc: cudaTextureDesc | None,
    pResViewDesc: cudaResourceViewDesc | None,
) -> tuple[cudaError_t, cudaTextureObject_t]:
    """Create a texture object over the memory in `pResDesc`, sampled as set by `pTexDesc`, and return its
    handle; `pResViewDesc` may be None and applies only to CUDA arrays.
    """


@libcudart("cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texObject)")
def cudaDestroyTextureObject(texObject: cudaTextureObject_t | int) -> tuple[cudaError_t]:
    """Release the texture object handle `texObject`; the memory it sampled stays allocated."""


@libcudart(
    "cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc *pResDesc, cudaTextureObject_t texObject)"
)
def cudaGetTextureObjectResourceDesc(
    texObject: cudaTextureObject_t | int,
) -> tuple[cudaError_t, cudaResourceDesc]:
    """Return the resource descriptor with which `texObject` was created, naming the memory it samples."""


@libcudart(
    "cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc *pTexDesc, cudaTextureObject_t texObject)"
)
def cudaGetTextureObjectTextureDesc(
    texObject: cudaTextureObject_t | int,
) -> tuple[cudaError_t, cudaTextureDesc]:
    """Return the sampling settings of `texObject`, such as address modes, filter mode and read mode."""


@libcudart(
    "cudaError_t cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc *pResViewDesc, "
    "cudaTextureObject_t texObject)"
)
def cudaGetTextureObjectResourceViewDesc(
    texObject: cudaTextureObject_t | int,
) -> tuple[cudaError_t, cudaResourceViewDesc]:
    """Return the resource view descriptor of `texObject`; an error results when the object was created
    without one.
    """


# -- Surface Object Management ---------------------------------------------------------------------------


@libcudart(
    "cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *pSurfObject, const cudaResourceDesc *pResDesc)"
)
def cudaCreateSurfaceObject(pResDesc: cudaResourceDesc | None) -> tuple[cudaError_t, cudaSurfaceObject_t]:
    """Create a surface object for reading and writing the CUDA array named in `pResDesc`, which must be of
    array type, and return its handle.
    """


@libcudart("cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surfObject)")
def cudaDestroySurfaceObject(surfObject: cudaSurfaceObject_t | int) -> tuple[cudaError_t]:
    """Release the surface object handle `surfObject`; the CUDA array beneath it stays allocated."""


@libcudart(
    "cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc *pResDesc, cudaSurfaceObject_t surfObject)"
)
def cudaGetSurfaceObjectResourceDesc(
    surfObject: cudaSurfaceObject_t | int,
) -> tuple[cudaError_t, cudaResourceDesc]:
    """Return the resource descriptor with which `surfObject` was created, naming its CUDA array."""


# -- Version Management ----------------------------------------------------------------------------------


@libcudart("cudaError_t cudaDriverGetVersion(int *driverVersion)")
def cudaDriverGetVersion() -> tuple[cudaError_t, int]:
    """Return the newest CUDA version the installed driver supports as 1000 * major + 10 * minor, or 0 when
    no driver is present.
    """


@libcudart("cudaError_t cudaRuntimeGetVersion(int *runtimeVersion)")
def cudaRuntimeGetVersion() -> tuple[cudaError_t, int]:
    """Return the version of the CUDA runtime library in use as 1000 * major + 10 * minor, for example
    13000.
    """


def getLocalRuntimeVersion() -> tuple[cudaError_t, int]:
    """Return the version of the libcudart that was loaded: here, what `cudaRuntimeGetVersion` returns."""
    return cudaRuntimeGetVersion()


# -- Error Log Management Functions ----------------------------------------------------------------------


@libcudart(
    "cudaError_t cudaLogsRegisterCallback(cudaLogsCallback_t callbackFunc, void *userData, "
    "cudaLogsCallbackHandle *callback_out)",
    since="13.0",
)
def cudaLogsRegisterCallback(
    callbackFunc: Any, userData: void_p
) -> tuple[cudaError_t, cudaLogsCallbackHandle]:
    """Install `callbackFunc` to be called with `userData` for each error log message, and return a handle
    for removing it later.
    """


@libcudart("cudaError_t cudaLogsUnregisterCallback(cudaLogsCallbackHandle callback)", since="13.0")
def cudaLogsUnregisterCallback(callback: cudaLogsCallbackHandle | int | None) -> tuple[cudaError_t]:
    """Remove a log callback, given the handle `callback` obtained when it was registered."""


@libcudart("cudaError_t cudaLogsCurrent(cudaLogIterator *iterator_out, unsigned int flags)", since="13.0")
def cudaLogsCurrent(flags: int) -> tuple[cudaError_t, cudaLogIterator]:
    """Return an iterator at the tail of the log buffer, so later dumps start with the next message; `flags`
    must be 0.
    """


@libcudart(
    "cudaError_t cudaLogsDumpToFile(cudaLogIterator *iterator, const char *pathToFile, unsigned int flags)",
    since="13.0",
)
def cudaLogsDumpToFile(
    iterator: cudaLogIterator | int, pathToFile: bytes | None, flags: int
) -> tuple[cudaError_t, cudaLogIterator]:
    """Write driver log messages from `iterator` onward to the file `pathToFile` and advance the iterator;
    None dumps everything kept. `flags` must be 0.
    """


@libcudart(
    "cudaError_t cudaLogsDumpToMemory(cudaLogIterator *iterator, char *buffer, size_t *size, "
    "unsigned int flags)",
    sizes={"buffer": "size"},
    since="13.0",
)
def cudaLogsDumpToMemory(
    iterator: cudaLogIterator | int, buffer: void_p, size: int, flags: int
) -> tuple[cudaError_t, cudaLogIterator, int]:
    """Copy log messages from `iterator` (0 for all) into `buffer`, of `size` bytes, NUL-terminated. Return
    the position for the next call and the bytes written without the NUL; `flags` must be 0.
    """


# -- Graph Management ------------------------------------------------------------------------------------


@libcudart("cudaError_t cudaGraphCreate(cudaGraph_t *pGraph, unsigned int flags)")
def cudaGraphCreate(flags: int) -> tuple[cudaError_t, cudaGraph_t]:
    """Create an empty graph and return its handle; `flags` must be 0."""


@libcudart(
    "cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, "
    "const cudaGraphNode_t *pDependencies, size_t numDependencies, const cudaKernelNodeParams *pNodeParams)",
    sizes={"pDependencies": "numDependencies"},
)
def cudaGraphAddKernelNode(
    graph: cudaGraph_t | int | None,
    pDependencies: Sequence[cudaGraphNode_t | int] | None,
    numDependencies: int,
    pNodeParams: cudaKernelNodeParams | None,
) -> tuple[cudaError_t, cudaGraphNode_t]:
    """Add a node to `graph` that launches the kernel set out in `pNodeParams` after the `numDependencies`
    nodes in `pDependencies`, and return the node.
    """


@libcudart(
    "cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams *pNodeParams)"
)
def cudaGraphKernelNodeGetParams(
    node: cudaGraphNode_t | int | None,
) -> tuple[cudaError_t, cudaKernelNodeParams]:
    """Return the launch parameters of kernel `node`: function, grid and block shape, shared memory bytes and
    arguments (owned by the node).
    """


@libcudart(
    "cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams *pNodeParams)"
)
def cudaGraphKernelNodeSetParams(
    node: cudaGraphNode_t | int | None, pNodeParams: cudaKernelNodeParams | None
) -> tuple[cudaError_t]:
    """Replace the launch parameters of kernel `node` with `pNodeParams`; already instantiated graphs keep
    the old ones.
    """


@libcudart("cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t hDst, cudaGraphNode_t hSrc)")
def cudaGraphKernelNodeCopyAttributes(
    hDst: cudaGraphNode_t | int | None, hSrc: cudaGraphNode_t | int | None
) -> tuple[cudaError_t]:
    """Copy every launch attribute from kernel node `hSrc` to kernel node `hDst`; both must belong to the
    same context.
    """


@libcudart(
    "cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t hNode, cudaLaunchAttributeID attr, "
    "cudaLaunchAttributeValue *value_out)"
)
def cudaGraphKernelNodeGetAttribute(
    hNode: cudaGraphNode_t | int | None, attr: cudaLaunchAttributeID | int
) -> tuple[cudaError_t, cudaLaunchAttributeValue]:
    """Return the value of launch attribute `attr` of kernel node `hNode`, for example its priority or
    cluster shape.
    """


@libcudart(
    "cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t hNode, cudaLaunchAttributeID attr, "
    "const cudaLaunchAttributeValue *value)"
)
def cudaGraphKernelNodeSetAttribute(
    hNode: cudaGraphNode_t | int | None,
    attr: cudaLaunchAttributeID | int,
    value: cudaLaunchAttributeValue | None,
) -> tuple[cudaError_t]:
    """Set launch attribute `attr` of kernel node `hNode` to the matching member of `value`."""


@libcudart(
    "cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, "
    "const cudaGraphNode_t *pDependencies, size_t numDependencies, const cudaMemcpy3DParms *pCopyParams)",
    sizes={"pDependencies": "numDependencies"},
)
def cudaGraphAddMemcpyNode(
    graph: cudaGraph_t | int | None,
    pDependencies: Sequence[cudaGraphNode_t | int] | None,
    numDependencies: int,
    pCopyParams: cudaMemcpy3DParms | None,
) -> tuple[cudaError_t, cudaGraphNode_t]:
    """Add a node to `graph` that performs the 3D copy in `pCopyParams` after the `numDependencies` nodes in
    `pDependencies`, and return the node.
    """


@libcudart(
    "cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, "
    "const cudaGraphNode_t *pDependencies, size_t numDependencies, const void *symbol, const void *src, "
    "size_t count, size_t offset, cudaMemcpyKind kind)",
    sizes={"pDependencies": "numDependencies", "src": "count"},
)
def cudaGraphAddMemcpyNodeToSymbol(
    graph: cudaGraph_t | int | None,
    pDependencies: Sequence[cudaGraphNode_t | int] | None,
    numDependencies: int,
    symbol: void_p,
    src: void_p,
    count: int,
    offset: int,
    kind: cudaMemcpyKind | int,
) -> tuple[cudaError_t, cudaGraphNode_t]:
    """Add a node to `graph` that copies `count` bytes from `src` to `offset` bytes past the start of device
    variable `symbol`, after `pDependencies`, and return the node.
    """


@libcudart(
    "cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, "
    "const cudaGraphNode_t *pDependencies, size_t numDependencies, void *dst, const void *symbol, "
    "size_t count, size_t offset, cudaMemcpyKind kind)",
    sizes={"pDependencies": "numDependencies", "dst": "count"},
)
def cudaGraphAddMemcpyNodeFromSymbol(
    graph: cudaGraph_t | int | None,
    pDependencies: Sequence[cudaGraphNode_t | int] | None,
    numDependencies: int,
    dst: void_p,
    symbol: void_p,
    count: int,
    offset: int,
    kind: cudaMemcpyKind | int,
) -> tuple[cudaError_t, cudaGraphNode_t]:
    """Add a node to `graph` that copies `count` bytes to `dst` from `offset` bytes past the start of device
    variable `symbol`, after `pDependencies`, and return the node.
    """


@libcudart(
    "cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, "
    "const cudaGraphNode_t *pDependencies, size_t numDependencies, void *dst, const void *src, size_t count, "
    "cudaMemcpyKind kind)",
    sizes={"pDependencies": "numDependencies", "dst": "count", "src": "count"},
)
def cudaGraphAddMemcpyNode1D(
    graph: cudaGraph_t | int | None,
    pDependencies: Sequence[cudaGraphNode_t | int] | None,
    numDependencies: int,
    dst: void_p,
    src: void_p,
    count: int,
    kind: cudaMemcpyKind | int,
) -> tuple[cudaError_t, cudaGraphNode_t]:
    """Add a node to `graph` that copies `count` contiguous bytes from `src` to `dst` in direction `kind`,
    after `pDependencies`, and return the node.
    """


@libcudart("cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms *pNodeParams)")
def cudaGraphMemcpyNodeGetParams(node: cudaGraphNode_t | int | None) -> tuple[cudaError_t, cudaMemcpy3DParms]:
    """Return the 3D copy parameters (source, destination, extent, direction) held by memcpy `node`."""


@libcudart(
    "cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms *pNodeParams)"
)
def cudaGraphMemcpyNodeSetParams(
    node: cudaGraphNode_t | int | None, pNodeParams: cudaMemcpy3DParms | None
) -> tuple[cudaError_t]:
    """Replace the 3D copy parameters of memcpy `node` with `pNodeParams`; already instantiated graphs are
    untouched.
    """


@libcudart(
    "cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void *symbol, "
    "const void *src, size_t count, size_t offset, cudaMemcpyKind kind)",
    sizes={"src": "count"},
)
def cudaGraphMemcpyNodeSetParamsToSymbol(
    node: cudaGraphNode_t | int | None,
    symbol: void_p,
    src: void_p,
    count: int,
    offset: int,
    kind: cudaMemcpyKind | int,
) -> tuple[cudaError_t]:
    """Make memcpy `node` copy `count` bytes from `src` to `offset` bytes past the start of device variable
    `symbol`, in direction `kind`.
    """


@libcudart(
    "cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *dst, const void *symbol, "
    "size_t count, size_t offset, cudaMemcpyKind kind)",
    sizes={"dst": "count"},
)
def cudaGraphMemcpyNodeSetParamsFromSymbol(
    node: cudaGraphNode_t | int | None,
    dst: void_p,
    symbol: void_p,
    count: int,
    offset: int,
    kind: cudaMemcpyKind | int,
) -> tuple[cudaError_t]:
    """Make memcpy `node` copy `count` bytes to `dst` from `offset` bytes past the start of device variable
    `symbol`, in direction `kind`.
    """


@libcudart(
    "cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *dst, const void *src, "
    "size_t count, cudaMemcpyKind kind)",
    sizes={"dst": "count", "src": "count"},
)
def cudaGraphMemcpyNodeSetParams1D(
    node: cudaGraphNode_t | int | None, dst: void_p, src: void_p, count: int, kind: cudaMemcpyKind | int
) -> tuple[cudaError_t]:
    """Make memcpy `node` copy `count` contiguous bytes from `src` to `dst` in direction `kind`."""


@libcudart(
    "cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, "
    "const cudaGraphNode_t *pDependencies, size_t numDependencies, const cudaMemsetParams *pMemsetParams)",
    sizes={"pDependencies": "numDependencies"},
)
def cudaGraphAddMemsetNode(
    graph: cudaGraph_t | int | None,
    pDependencies: Sequence[cudaGraphNode_t | int] | None,
    numDependencies: int,
    pMemsetParams: cudaMemsetParams | None,
) -> tuple[cudaError_t, cudaGraphNode_t]:
    """Add a node to `graph` that fills memory as set out in `pMemsetParams` (element size 1, 2 or 4 bytes)
    after the `numDependencies` nodes in `pDependencies`, and return the node.
    """


@libcudart("cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams *pNodeParams)")
def cudaGraphMemsetNodeGetParams(node: cudaGraphNode_t | int | None) -> tuple[cudaError_t, cudaMemsetParams]:
    """Return the fill parameters of memset `node`: destination, pitch in bytes, value, element size in
    bytes, width in elements and height in rows.
    """


@libcudart(
    "cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams *pNodeParams)"
)
def cudaGraphMemsetNodeSetParams(
    node: cudaGraphNode_t | int | None, pNodeParams: cudaMemsetParams | None
) -> tuple[cudaError_t]:
    """Replace the fill parameters of memset `node` with `pNodeParams`; already instantiated graphs are
    untouched.
    """


@libcudart(
    "cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, "
    "const cudaGraphNode_t *pDependencies, size_t numDependencies, const cudaHostNodeParams *pNodeParams)",
    sizes={"pDependencies": "numDependencies"},
)
def cudaGraphAddHostNode(
    graph: cudaGraph_t | int | None,
    pDependencies: Sequence[cudaGraphNode_t | int] | None,
    numDependencies: int,
    pNodeParams: cudaHostNodeParams | None,
) -> tuple[cudaError_t, cudaGraphNode_t]:
    """Add a node to `graph` that calls the host function in `pNodeParams` after the `numDependencies` nodes
    in `pDependencies`, and return the node; the function must not call CUDA.
    """


@libcudart("cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams *pNodeParams)")
def cudaGraphHostNodeGetParams(node: cudaGraphNode_t | int | None) -> tuple[cudaError_t, cudaHostNodeParams]:
    """Return the host function and user data pointer that host `node` is set to call."""


@libcudart(
    "cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams *pNodeParams)"
)
def cudaGraphHostNodeSetParams(
    node: cudaGraphNode_t | int | None, pNodeParams: cudaHostNodeParams | None
) -> tuple[cudaError_t]:
    """Replace the host function and user data of host `node` with those in `pNodeParams`."""


@libcudart(
    "cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, "
    "const cudaGraphNode_t *pDependencies, size_t numDependencies, cudaGraph_t childGraph)",
    sizes={"pDependencies": "numDependencies"},
)
def cudaGraphAddChildGraphNode(
    graph: cudaGraph_t | int | None,
    pDependencies: Sequence[cudaGraphNode_t | int] | None,
    numDependencies: int,
    childGraph: cudaGraph_t | int | None,
) -> tuple[cudaError_t, cudaGraphNode_t]:
    """Add a node to `graph` that runs a private copy of `childGraph` after the `numDependencies` nodes in
    `pDependencies`, and return the node.
    """


@libcudart("cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *pGraph)")
def cudaGraphChildGraphNodeGetGraph(node: cudaGraphNode_t | int | None) -> tuple[cudaError_t, cudaGraph_t]:
    """Return the graph embedded in child graph `node`; it is owned by the node, and edits to it change the
    node.
    """


@libcudart(
    "cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, "
    "const cudaGraphNode_t *pDependencies, size_t numDependencies)",
    sizes={"pDependencies": "numDependencies"},
)
def cudaGraphAddEmptyNode(
    graph: cudaGraph_t | int | None,
    pDependencies: Sequence[cudaGraphNode_t | int] | None,
    numDependencies: int,
) -> tuple[cudaError_t, cudaGraphNode_t]:
    """Add a node to `graph` that does no work, as a join point for the `numDependencies` nodes in
    `pDependencies`, and return the node.
    """


@libcudart(
    "cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, "
    "const cudaGraphNode_t *pDependencies, size_t numDependencies, cudaEvent_t event)",
    sizes={"pDependencies": "numDependencies"},
)
def cudaGraphAddEventRecordNode(
    graph: cudaGraph_t | int | None,
    pDependencies: Sequence[cudaGraphNode_t | int] | None,
    numDependencies: int,
    event: cudaEvent_t | int | None,
) -> tuple[cudaError_t, cudaGraphNode_t]:
    """Add a node to `graph` that records `event` once the `numDependencies` nodes in `pDependencies` finish,
    and return the node.
    """


@libcudart("cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event_out)")
def cudaGraphEventRecordNodeGetEvent(node: cudaGraphNode_t | int | None) -> tuple[cudaError_t, cudaEvent_t]:
    """Return the event that event record `node` will record each time it runs."""


@libcudart("cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event)")
def cudaGraphEventRecordNodeSetEvent(
    node: cudaGraphNode_t | int | None, event: cudaEvent_t | int | None
) -> tuple[cudaError_t]:
    """Make event record `node` record `event` from now on; already instantiated graphs keep the old event."""


@libcudart(
    "cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, "
    "const cudaGraphNode_t *pDependencies, size_t numDependencies, cudaEvent_t event)",
    sizes={"pDependencies": "numDependencies"},
)
def cudaGraphAddEventWaitNode(
    graph: cudaGraph_t | int | None,
    pDependencies: Sequence[cudaGraphNode_t | int] | None,
    numDependencies: int,
    event: cudaEvent_t | int | None,
) -> tuple[cudaError_t, cudaGraphNode_t]:
    """Add a node to `graph` that holds back its successors until work captured in `event` finishes, after
    the `numDependencies` nodes in `pDependencies`, and return the node.
    """


@libcudart("cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event_out)")
def cudaGraphEventWaitNodeGetEvent(node: cudaGraphNode_t | int | None) -> tuple[cudaError_t, cudaEvent_t]:
    """Return the event on which event wait `node` waits each time it runs."""


@libcudart("cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event)")
def cudaGraphEventWaitNodeSetEvent(
    node: cudaGraphNode_t | int | None, event: cudaEvent_t | int | None
) -> tuple[cudaError_t]:
    """Make event wait `node` wait on `event` from now on; already instantiated graphs keep the old event."""


@libcudart(
    "cudaError_t cudaGraphAddExternalSemaphoresSignalNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, "
    "const cudaGraphNode_t *pDependencies, size_t numDependencies, "
    "const cudaExternalSemaphoreSignalNodeParams *nodeParams)",
    sizes={"pDependencies": "numDependencies"},
)
def cudaGraphAddExternalSemaphoresSignalNode(
    graph: cudaGraph_t | int | None,
    pDependencies: Sequence[cudaGraphNode_t | int] | None,
    numDependencies: int,
    nodeParams: cudaExternalSemaphoreSignalNodeParams | None,
) -> tuple[cudaError_t, cudaGraphNode_t]:
    """Add a node to `graph` that signals the external semaphores listed in `nodeParams` after the
    `numDependencies` nodes in `pDependencies`, and return the node.
    """


@libcudart(
    "cudaError_t cudaGraphExternalSemaphoresSignalNodeGetParams(cudaGraphNode_t hNode, "
    "cudaExternalSemaphoreSignalNodeParams *params_out)"
)
def cudaGraphExternalSemaphoresSignalNodeGetParams(
    hNode: cudaGraphNode_t | int | None,
) -> tuple[cudaError_t, cudaExternalSemaphoreSignalNodeParams]:
    """Return the semaphore list and signal values of semaphore signal node `hNode`; the arrays inside belong
    to the node.
    """


@libcudart(
    "cudaError_t cudaGraphExternalSemaphoresSignalNodeSetParams(cudaGraphNode_t hNode, "
    "const cudaExternalSemaphoreSignalNodeParams *nodeParams)"
)
def cudaGraphExternalSemaphoresSignalNodeSetParams(
    hNode: cudaGraphNode_t | int | None, nodeParams: cudaExternalSemaphoreSignalNodeParams | None
) -> tuple[cudaError_t]:
    """Replace the semaphores and signal values of semaphore signal node `hNode` with those in
    `nodeParams`.
    """


@libcudart(
    "cudaError_t cudaGraphAddExternalSemaphoresWaitNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, "
    "const cudaGraphNode_t *pDependencies, size_t numDependencies, "
    "const cudaExternalSemaphoreWaitNodeParams *nodeParams)",
    sizes={"pDependencies": "numDependencies"},
)
def cudaGraphAddExternalSemaphoresWaitNode(
    graph: cudaGraph_t | int | None,
    pDependencies: Sequence[cudaGraphNode_t | int] | None,
    numDependencies: int,
    nodeParams: cudaExternalSemaphoreWaitNodeParams | None,
) -> tuple[cudaError_t, cudaGraphNode_t]:
    """Add a node to `graph` that waits on the external semaphores listed in `nodeParams` after the
    `numDependencies` nodes in `pDependencies`, and return the node.
    """


@libcudart(
    "cudaError_t cudaGraphExternalSemaphoresWaitNodeGetParams(cudaGraphNode_t hNode, "
    "cudaExternalSemaphoreWaitNodeParams *params_out)"
)
def cudaGraphExternalSemaphoresWaitNodeGetParams(
    hNode: cudaGraphNode_t | int | None,
) -> tuple[cudaError_t, cudaExternalSemaphoreWaitNodeParams]:
    """Return the semaphore list and wait values of semaphore wait node `hNode`; the arrays inside belong to
    the node.
    """


@libcudart(
    "cudaError_t cudaGraphExternalSemaphoresWaitNodeSetParams(cudaGraphNode_t hNode, "
    "const cudaExternalSemaphoreWaitNodeParams *nodeParams)"
)
def cudaGraphExternalSemaphoresWaitNodeSetParams(
    hNode: cudaGraphNode_t | int | None, nodeParams: cudaExternalSemaphoreWaitNodeParams | None
) -> tuple[cudaError_t]:
    """Replace the semaphores and wait values of semaphore wait node `hNode` with those in `nodeParams`."""


@libcudart(
    "cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, "
    "const cudaGraphNode_t *pDependencies, size_t numDependencies, cudaMemAllocNodeParams *nodeParams)",
    sizes={"pDependencies": "numDependencies"},
)
def cudaGraphAddMemAllocNode(
    graph: cudaGraph_t | int | None,
    pDependencies: Sequence[cudaGraphNode_t | int] | None,
    numDependencies: int,
    nodeParams: cudaMemAllocNodeParams | None,
) -> tuple[cudaError_t, cudaGraphNode_t]:
    """Add a node to `graph` that allocates device memory as set out in `nodeParams`, whose dptr field
    receives the address, and return the node; it runs after `pDependencies`.
    """


@libcudart(
    "cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, cudaMemAllocNodeParams *params_out)"
)
def cudaGraphMemAllocNodeGetParams(
    node: cudaGraphNode_t | int | None,
) -> tuple[cudaError_t, cudaMemAllocNodeParams]:
    """Return the parameters of allocation `node`: pool properties, access list, size in bytes and the
    assigned device address.
    """


@libcudart(
    "cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, "
    "const cudaGraphNode_t *pDependencies, size_t numDependencies, void *dptr)",
    sizes={"pDependencies": "numDependencies"},
)
def cudaGraphAddMemFreeNode(
    graph: cudaGraph_t | int | None,
    pDependencies: Sequence[cudaGraphNode_t | int] | None,
    numDependencies: int,
    dptr: void_p,
) -> tuple[cudaError_t, cudaGraphNode_t]:
    """Add a node to `graph` that frees graph-allocated memory at `dptr` after the `numDependencies` nodes in
    `pDependencies`, and return the node.
    """


@libcudart(
    "cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *dptr_out)", sizes={"dptr_out": 8}
)
def _cudaGraphMemFreeNodeGetParams(
    node: cudaGraphNode_t | int | None, dptr_out: void_p
) -> tuple[cudaError_t]: ...


def cudaGraphMemFreeNodeGetParams(node: cudaGraphNode_t | int | None) -> tuple[cudaError_t, int]:
    """Return the device address that memory free node `node` releases."""
    address = (ctypes.c_size_t * 1)()
    (err,) = _cudaGraphMemFreeNodeGetParams(node, address)
    return err, None if err else address[0]  # type: ignore[return-value]


@libcudart("cudaError_t cudaDeviceGraphMemTrim(int device)")
def cudaDeviceGraphMemTrim(device: int) -> tuple[cudaError_t]:
    """Give cached memory on `device` that graphs reserved but no longer use back to the operating system."""


@libcudart(
    "cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attr, void *value)",
    variants={"value": ("attr", "GRAPH_MEM_ATTRIBUTES")},
)
def cudaDeviceGetGraphMemAttribute(
    device: int, attr: cudaGraphMemAttributeType | int
) -> tuple[cudaError_t, Any]:
    """Return graph memory statistic `attr` of `device` in bytes: used or reserved, current or high-water
    mark.
    """


@libcudart(
    "cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType attr, void *value)",
    variants={"value": ("attr", "GRAPH_MEM_ATTRIBUTES")},
)
def cudaDeviceSetGraphMemAttribute(
    device: int, attr: cudaGraphMemAttributeType | int, value: Any
) -> tuple[cudaError_t]:
    """Reset a graph memory high-water mark of `device`: `attr` names a used or reserved peak and `value`
    must hold 0.
    """


@libcudart("cudaError_t cudaGraphClone(cudaGraph_t *pGraphClone, cudaGraph_t originalGraph)")
def cudaGraphClone(originalGraph: cudaGraph_t | int | None) -> tuple[cudaError_t, cudaGraph_t]:
    """Duplicate `originalGraph`, child graphs included, and return the copy, which then changes
    independently.
    """


@libcudart(
    "cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *pNode, cudaGraphNode_t originalNode, "
    "cudaGraph_t clonedGraph)"
)
def cudaGraphNodeFindInClone(
    originalNode: cudaGraphNode_t | int | None, clonedGraph: cudaGraph_t | int | None
) -> tuple[cudaError_t, cudaGraphNode_t]:
    """Return the node of `clonedGraph` that was copied from `originalNode`; it must not have been removed
    since.
    """


@libcudart("cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType *pType)")
def cudaGraphNodeGetType(node: cudaGraphNode_t | int | None) -> tuple[cudaError_t, cudaGraphNodeType]:
    """Return the kind of work that `node` stands for, such as kernel, memcpy, memset, host or child graph."""


@libcudart(
    "cudaError_t cudaGraphNodeGetContainingGraph(cudaGraphNode_t hNode, cudaGraph_t *phGraph)",
    since="13.1",
)
def cudaGraphNodeGetContainingGraph(hNode: cudaGraphNode_t | int | None) -> tuple[cudaError_t, cudaGraph_t]:
    """Return the graph that directly holds `hNode`, which is the child graph when the node sits inside
    one.
    """


@libcudart("cudaError_t cudaGraphNodeGetLocalId(cudaGraphNode_t hNode, unsigned int *nodeId)", since="13.1")
def cudaGraphNodeGetLocalId(hNode: cudaGraphNode_t | int | None) -> tuple[cudaError_t, int]:
    """Return the id of `hNode` within its graph, as printed in DOT dumps; paired with the graph id it is
    unique.
    """


@libcudart(
    "cudaError_t cudaGraphNodeGetToolsId(cudaGraphNode_t hNode, unsigned long long *toolsNodeId)",
    since="13.1",
)
def cudaGraphNodeGetToolsId(hNode: cudaGraphNode_t | int | None) -> tuple[cudaError_t, int]:
    """Return the 64-bit id by which profilers and other tools refer to `hNode`."""


@libcudart("cudaError_t cudaGraphGetId(cudaGraph_t hGraph, unsigned int *graphID)", since="13.1")
def cudaGraphGetId(hGraph: cudaGraph_t | int | None) -> tuple[cudaError_t, int]:
    """Return the numeric id of `hGraph`, the same one that DOT dumps show."""


@libcudart("cudaError_t cudaGraphExecGetId(cudaGraphExec_t hGraphExec, unsigned int *graphID)", since="13.1")
def cudaGraphExecGetId(hGraphExec: cudaGraphExec_t | int | None) -> tuple[cudaError_t, int]:
    """Return the numeric id of executable graph `hGraphExec`, the same one that DOT dumps show."""


@libcudart(
    "cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *numNodes)",
    sizes={"nodes": "numNodes"},
)
def cudaGraphGetNodes(
    graph: cudaGraph_t | int | None, numNodes: int = 0
) -> tuple[cudaError_t, list[cudaGraphNode_t], int]:
    """Return the nodes of `graph`, up to `numNodes` of them, with their count; without a list only the count
    is reported, and spare entries come back null.
    """


@libcudart(
    "cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *pRootNodes, "
    "size_t *pNumRootNodes)",
    sizes={"pRootNodes": "pNumRootNodes"},
)
def cudaGraphGetRootNodes(
    graph: cudaGraph_t | int | None, pNumRootNodes: int = 0
) -> tuple[cudaError_t, list[cudaGraphNode_t], int]:
    """Return the nodes of `graph` that depend on nothing, up to `pNumRootNodes` of them, with their count;
    without a list only the count is reported.
    """


@libcudart(
    "cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, "
    "size_t *numEdges)",
    sizes={"from": "numEdges", "to": "numEdges"},
    symbols={13: None},
)
def _cudaGraphGetEdges_12(
    graph: cudaGraph_t | int | None, numEdges: int = 0
) -> tuple[cudaError_t, list[cudaGraphNode_t], list[cudaGraphNode_t], int]: ...


@libcudart(
    "cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, "
    "cudaGraphEdgeData *edgeData, size_t *numEdges)",
    sizes={"from": "numEdges", "to": "numEdges", "edgeData": "numEdges"},
    since="12.3",
    symbols={12: "cudaGraphGetEdges_v2"},
)
def cudaGraphGetEdges_v2(
    graph: cudaGraph_t | int | None, numEdges: int = 0
) -> tuple[cudaError_t, list[cudaGraphNode_t], list[cudaGraphNode_t], list[cudaGraphEdgeData], int]:
    """Return the edges of `graph` as parallel lists of source nodes, target nodes and edge data, up to
    `numEdges` entries, with their count; 0 only asks for the count.
    """


cudaGraphGetEdges = padded(cudaGraphGetEdges_v2, _cudaGraphGetEdges_12, "cudaGraphEdgeData")


@libcudart(
    "cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *pDependencies, "
    "size_t *pNumDependencies)",
    sizes={"pDependencies": "pNumDependencies"},
    symbols={13: None},
)
def _cudaGraphNodeGetDependencies_12(
    node: cudaGraphNode_t | int | None, pNumDependencies: int = 0
) -> tuple[cudaError_t, list[cudaGraphNode_t], int]: ...


@libcudart(
    "cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *pDependencies, "
    "cudaGraphEdgeData *edgeData, size_t *pNumDependencies)",
    sizes={"pDependencies": "pNumDependencies", "edgeData": "pNumDependencies"},
    since="12.3",
    symbols={12: "cudaGraphNodeGetDependencies_v2"},
)
def cudaGraphNodeGetDependencies_v2(
    node: cudaGraphNode_t | int | None, pNumDependencies: int = 0
) -> tuple[cudaError_t, list[cudaGraphNode_t], list[cudaGraphEdgeData], int]:
    """Return the nodes that `node` waits for and the data of each edge, up to `pNumDependencies` entries,
    with their count; 0 only asks for the count.
    """


cudaGraphNodeGetDependencies = padded(
    cudaGraphNodeGetDependencies_v2, _cudaGraphNodeGetDependencies_12, "cudaGraphEdgeData"
)


@libcudart(
    "cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *pDependentNodes, "
    "size_t *pNumDependentNodes)",
    sizes={"pDependentNodes": "pNumDependentNodes"},
    symbols={13: None},
)
def _cudaGraphNodeGetDependentNodes_12(
    node: cudaGraphNode_t | int | None, pNumDependentNodes: int = 0
) -> tuple[cudaError_t, list[cudaGraphNode_t], int]: ...


@libcudart(
    "cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *pDependentNodes, "
    "cudaGraphEdgeData *edgeData, size_t *pNumDependentNodes)",
    sizes={"pDependentNodes": "pNumDependentNodes", "edgeData": "pNumDependentNodes"},
    since="12.3",
    symbols={12: "cudaGraphNodeGetDependentNodes_v2"},
)
def cudaGraphNodeGetDependentNodes_v2(
    node: cudaGraphNode_t | int | None, pNumDependentNodes: int = 0
) -> tuple[cudaError_t, list[cudaGraphNode_t], list[cudaGraphEdgeData], int]:
    """Return the nodes that wait for `node` and the data of each edge, up to `pNumDependentNodes` entries,
    with their count; 0 only asks for the count.
    """


cudaGraphNodeGetDependentNodes = padded(
    cudaGraphNodeGetDependentNodes_v2, _cudaGraphNodeGetDependentNodes_12, "cudaGraphEdgeData"
)


@libcudart(
    "cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, "
    "const cudaGraphNode_t *to, size_t numDependencies)",
    sizes={"from": "numDependencies", "to": "numDependencies"},
    symbols={13: None},
)
def _cudaGraphAddDependencies_12(
    graph: cudaGraph_t | int | None,
    from_: Sequence[cudaGraphNode_t | int] | None,
    to: Sequence[cudaGraphNode_t | int] | None,
    numDependencies: int,
) -> tuple[cudaError_t]: ...


@libcudart(
    "cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, "
    "const cudaGraphNode_t *to, const cudaGraphEdgeData *edgeData, size_t numDependencies)",
    sizes={"from": "numDependencies", "to": "numDependencies", "edgeData": "numDependencies"},
    since="12.3",
    symbols={12: "cudaGraphAddDependencies_v2"},
)
def cudaGraphAddDependencies_v2(
    graph: cudaGraph_t | int | None,
    from_: Sequence[cudaGraphNode_t | int] | None,
    to: Sequence[cudaGraphNode_t | int] | None,
    edgeData: Sequence[cudaGraphEdgeData] | None,
    numDependencies: int,
) -> tuple[cudaError_t]:
    """Add `numDependencies` edges to `graph`, each making `to[i]` wait for `from_[i]`; `edgeData` None gives
    every edge default data.
    """


cudaGraphAddDependencies = either(cudaGraphAddDependencies_v2, _cudaGraphAddDependencies_12, "edgeData")


@libcudart(
    "cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, "
    "const cudaGraphNode_t *to, size_t numDependencies)",
    sizes={"from": "numDependencies", "to": "numDependencies"},
    symbols={13: None},
)
def _cudaGraphRemoveDependencies_12(
    graph: cudaGraph_t | int | None,
    from_: Sequence[cudaGraphNode_t | int] | None,
    to: Sequence[cudaGraphNode_t | int] | None,
    numDependencies: int,
) -> tuple[cudaError_t]: ...


@libcudart(
    "cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, "
    "const cudaGraphNode_t *to, const cudaGraphEdgeData *edgeData, size_t numDependencies)",
    sizes={"from": "numDependencies", "to": "numDependencies", "edgeData": "numDependencies"},
    since="12.3",
    symbols={12: "cudaGraphRemoveDependencies_v2"},
)
def cudaGraphRemoveDependencies_v2(
    graph: cudaGraph_t | int | None,
    from_: Sequence[cudaGraphNode_t | int] | None,
    to: Sequence[cudaGraphNode_t | int] | None,
    edgeData: Sequence[cudaGraphEdgeData] | None,
    numDependencies: int,
) -> tuple[cudaError_t]:
    """Delete `numDependencies` edges `from_[i]` to `to[i]` from `graph`; each must exist with matching
    `edgeData`, where None means default data.
    """


cudaGraphRemoveDependencies = either(
    cudaGraphRemoveDependencies_v2, _cudaGraphRemoveDependencies_12, "edgeData"
)


@libcudart("cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node)")
def cudaGraphDestroyNode(node: cudaGraphNode_t | int | None) -> tuple[cudaError_t]:
    """Remove `node` from its graph together with all edges in and out of it; not possible in a graph that
    holds memory alloc or free nodes.
    """


@libcudart(
    "cudaError_t cudaGraphInstantiate(cudaGraphExec_t *pGraphExec, cudaGraph_t graph, "
    "unsigned long long flags)"
)
def cudaGraphInstantiate(graph: cudaGraph_t | int | None, flags: int) -> tuple[cudaError_t, cudaGraphExec_t]:
    """Validate `graph` and return an executable graph built from it; `flags` is 0 or a mix of
    cudaGraphInstantiateFlag values such as auto free or device launch.
    """


@libcudart(
    "cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *pGraphExec, cudaGraph_t graph, "
    "unsigned long long flags)"
)
def cudaGraphInstantiateWithFlags(
    graph: cudaGraph_t | int | None, flags: int
) -> tuple[cudaError_t, cudaGraphExec_t]:
    """Build and return an executable graph from `graph` under the instantiation bits in `flags` (0 for
    none); an equivalent of cudaGraphInstantiate.
    """


@libcudart(
    "cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t *pGraphExec, cudaGraph_t graph, "
    "cudaGraphInstantiateParams *instantiateParams)"
)
def cudaGraphInstantiateWithParams(
    graph: cudaGraph_t | int | None, instantiateParams: cudaGraphInstantiateParams | None
) -> tuple[cudaError_t, cudaGraphExec_t]:
    """Build and return an executable graph from `graph` as set out in `instantiateParams`, which also
    receives the outcome code and any offending node.
    """


@libcudart("cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t graphExec, unsigned long long *flags)")
def cudaGraphExecGetFlags(graphExec: cudaGraphExec_t | int | None) -> tuple[cudaError_t, int]:
    """Return the instantiation flags with which `graphExec` was built, as a bit mask (0 for none); the
    upload flag is not reported.
    """


@libcudart(
    "cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node, "
    "const cudaKernelNodeParams *pNodeParams)"
)
def cudaGraphExecKernelNodeSetParams(
    hGraphExec: cudaGraphExec_t | int | None,
    node: cudaGraphNode_t | int | None,
    pNodeParams: cudaKernelNodeParams | None,
) -> tuple[cudaError_t]:
    """Change the launch parameters of kernel `node` inside executable `hGraphExec` to `pNodeParams`; later
    launches use them while the source graph keeps its own.
    """


@libcudart(
    "cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node, "
    "const cudaMemcpy3DParms *pNodeParams)"
)
def cudaGraphExecMemcpyNodeSetParams(
    hGraphExec: cudaGraphExec_t | int | None,
    node: cudaGraphNode_t | int | None,
    pNodeParams: cudaMemcpy3DParms | None,
) -> tuple[cudaError_t]:
    """Change the 3D copy of memcpy `node` inside executable `hGraphExec` to `pNodeParams`; memory kinds and
    contexts must match the original.
    """


@libcudart(
    "cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t hGraphExec, cudaGraphNode_t node, "
    "const void *symbol, const void *src, size_t count, size_t offset, cudaMemcpyKind kind)",
    sizes={"src": "count"},
)
def cudaGraphExecMemcpyNodeSetParamsToSymbol(
    hGraphExec: cudaGraphExec_t | int | None,
    node: cudaGraphNode_t | int | None,
    symbol: void_p,
    src: void_p,
    count: int,
    offset: int,
    kind: cudaMemcpyKind | int,
) -> tuple[cudaError_t]:
    """Make memcpy `node` inside executable `hGraphExec` copy `count` bytes from `src` to `offset` bytes past
    the start of device variable `symbol`.
    """


@libcudart(
    "cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t hGraphExec, "
    "cudaGraphNode_t node, void *dst, const void *symbol, size_t count, size_t offset, cudaMemcpyKind kind)",
    sizes={"dst": "count"},
)
def cudaGraphExecMemcpyNodeSetParamsFromSymbol(
    hGraphExec: cudaGraphExec_t | int | None,
    node: cudaGraphNode_t | int | None,
    dst: void_p,
    symbol: void_p,
    count: int,
    offset: int,
    kind: cudaMemcpyKind | int,
) -> tuple[cudaError_t]:
    """Make memcpy `node` inside executable `hGraphExec` copy `count` bytes to `dst` from `offset` bytes past
    the start of device variable `symbol`.
    """


@libcudart(
    "cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t hGraphExec, cudaGraphNode_t node, "
    "void *dst, const void *src, size_t count, cudaMemcpyKind kind)",
    sizes={"dst": "count", "src": "count"},
)
def cudaGraphExecMemcpyNodeSetParams1D(
    hGraphExec: cudaGraphExec_t | int | None,
    node: cudaGraphNode_t | int | None,
    dst: void_p,
    src: void_p,
    count: int,
    kind: cudaMemcpyKind | int,
) -> tuple[cudaError_t]:
    """Make memcpy `node` inside executable `hGraphExec` copy `count` contiguous bytes from `src` to `dst` in
    direction `kind`.
    """


@libcudart(
    "cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node, "
    "const cudaMemsetParams *pNodeParams)"
)
def cudaGraphExecMemsetNodeSetParams(
    hGraphExec: cudaGraphExec_t | int | None,
    node: cudaGraphNode_t | int | None,
    pNodeParams: cudaMemsetParams | None,
) -> tuple[cudaError_t]:
    """Change the fill of memset `node` inside executable `hGraphExec` to `pNodeParams`; it must target the
    same device as before.
    """


@libcudart(
    "cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node, "
    "const cudaHostNodeParams *pNodeParams)"
)
def cudaGraphExecHostNodeSetParams(
    hGraphExec: cudaGraphExec_t | int | None,
    node: cudaGraphNode_t | int | None,
    pNodeParams: cudaHostNodeParams | None,
) -> tuple[cudaError_t]:
    """Change the host function and user data of host `node` inside executable `hGraphExec` to those in
    `pNodeParams`.
    """


@libcudart(
    "cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node, "
    "cudaGraph_t childGraph)"
)
def cudaGraphExecChildGraphNodeSetParams(
    hGraphExec: cudaGraphExec_t | int | None,
    node: cudaGraphNode_t | int | None,
    childGraph: cudaGraph_t | int | None,
) -> tuple[cudaError_t]:
    """Update child graph `node` inside executable `hGraphExec` with the parameters of the nodes in
    `childGraph`, whose topology must match.
    """


@libcudart(
    "cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode, "
    "cudaEvent_t event)"
)
def cudaGraphExecEventRecordNodeSetEvent(
    hGraphExec: cudaGraphExec_t | int | None,
    hNode: cudaGraphNode_t | int | None,
    event: cudaEvent_t | int | None,
) -> tuple[cudaError_t]:
    """Make event record node `hNode` inside executable `hGraphExec` record `event` at later launches."""


@libcudart(
    "cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode, "
    "cudaEvent_t event)"
)
def cudaGraphExecEventWaitNodeSetEvent(
    hGraphExec: cudaGraphExec_t | int | None,
    hNode: cudaGraphNode_t | int | None,
    event: cudaEvent_t | int | None,
) -> tuple[cudaError_t]:
    """Make event wait node `hNode` inside executable `hGraphExec` wait on `event` at later launches."""


@libcudart(
    "cudaError_t cudaGraphExecExternalSemaphoresSignalNodeSetParams(cudaGraphExec_t hGraphExec, "
    "cudaGraphNode_t hNode, const cudaExternalSemaphoreSignalNodeParams *nodeParams)"
)
def cudaGraphExecExternalSemaphoresSignalNodeSetParams(
    hGraphExec: cudaGraphExec_t | int | None,
    hNode: cudaGraphNode_t | int | None,
    nodeParams: cudaExternalSemaphoreSignalNodeParams | None,
) -> tuple[cudaError_t]:
    """Change the semaphores and signal values of node `hNode` inside executable `hGraphExec` to those in
    `nodeParams`, keeping the semaphore count.
    """


@libcudart(
    "cudaError_t cudaGraphExecExternalSemaphoresWaitNodeSetParams(cudaGraphExec_t hGraphExec, "
    "cudaGraphNode_t hNode, const cudaExternalSemaphoreWaitNodeParams *nodeParams)"
)
def cudaGraphExecExternalSemaphoresWaitNodeSetParams(
    hGraphExec: cudaGraphExec_t | int | None,
    hNode: cudaGraphNode_t | int | None,
    nodeParams: cudaExternalSemaphoreWaitNodeParams | None,
) -> tuple[cudaError_t]:
    """Change the semaphores and wait values of node `hNode` inside executable `hGraphExec` to those in
    `nodeParams`, keeping the semaphore count.
    """


@libcudart(
    "cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode, "
    "unsigned int isEnabled)"
)
def cudaGraphNodeSetEnabled(
    hGraphExec: cudaGraphExec_t | int | None, hNode: cudaGraphNode_t | int | None, isEnabled: int
) -> tuple[cudaError_t]:
    """Switch kernel, memset or memcpy node `hNode` on (`isEnabled` nonzero) or off (0) in executable
    `hGraphExec`; a disabled node acts as an empty one.
    """


@libcudart(
    "cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode, "
    "unsigned int *isEnabled)"
)
def cudaGraphNodeGetEnabled(
    hGraphExec: cudaGraphExec_t | int | None, hNode: cudaGraphNode_t | int | None
) -> tuple[cudaError_t, int]:
    """Return 1 when node `hNode` is enabled in executable `hGraphExec` and 0 when it is disabled."""


@libcudart(
    "cudaError_t cudaGraphExecUpdate(cudaGraphExec_t hGraphExec, cudaGraph_t hGraph, "
    "cudaGraphExecUpdateResultInfo *resultInfo)"
)
def cudaGraphExecUpdate(
    hGraphExec: cudaGraphExec_t | int | None, hGraph: cudaGraph_t | int | None
) -> tuple[cudaError_t, cudaGraphExecUpdateResultInfo]:
    """Update executable `hGraphExec` in place with the node parameters of `hGraph`, whose topology must
    match, and return details of the outcome.
    """


@libcudart("cudaError_t cudaGraphUpload(cudaGraphExec_t graphExec, cudaStream_t stream)")
def cudaGraphUpload(
    graphExec: cudaGraphExec_t | int | None, stream: cudaStream_t | int | None
) -> tuple[cudaError_t]:
    """Copy `graphExec` to its device ahead of time in `stream` without running it, so that the first launch
    is cheaper.
    """


@libcudart("cudaError_t cudaGraphLaunch(cudaGraphExec_t graphExec, cudaStream_t stream)")
def cudaGraphLaunch(
    graphExec: cudaGraphExec_t | int | None, stream: cudaStream_t | int | None
) -> tuple[cudaError_t]:
    """Run executable graph `graphExec` in order on `stream`; launches of one executable graph never overlap
    each other.
    """


@libcudart("cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graphExec)")
def cudaGraphExecDestroy(graphExec: cudaGraphExec_t | int | None) -> tuple[cudaError_t]:
    """Free executable graph `graphExec`; a launch still in flight is allowed to finish."""


@libcudart("cudaError_t cudaGraphDestroy(cudaGraph_t graph)")
def cudaGraphDestroy(graph: cudaGraph_t | int | None) -> tuple[cudaError_t]:
    """Free `graph` and all the nodes in it; executable graphs already made from it stay valid."""


@libcudart("cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path, unsigned int flags)")
def cudaGraphDebugDotPrint(
    graph: cudaGraph_t | int | None, path: bytes | None, flags: int
) -> tuple[cudaError_t]:
    """Write a Graphviz DOT rendering of `graph` to the file `path`; bits in `flags` select extra detail,
    with 0 for the basics.
    """


@libcudart(
    "cudaError_t cudaUserObjectCreate(cudaUserObject_t *object_out, void *ptr, cudaHostFn_t destroy, "
    "unsigned int initialRefcount, unsigned int flags)"
)
def cudaUserObjectCreate(
    ptr: void_p, destroy: Any, initialRefcount: int, flags: int
) -> tuple[cudaError_t, cudaUserObject_t]:
    """Wrap `ptr` in a reference-counted object starting at `initialRefcount`, which calls `destroy` at zero,
    and return it; `flags` must be cudaUserObjectNoDestructorSync.
    """


@libcudart("cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned int count)")
def cudaUserObjectRetain(object: cudaUserObject_t | int | None, count: int) -> tuple[cudaError_t]:
    """Add `count` references (1 by default) to user object `object`; the caller owns them and must release
    them.
    """


@libcudart("cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned int count)")
def cudaUserObjectRelease(object: cudaUserObject_t | int | None, count: int) -> tuple[cudaError_t]:
    """Give up `count` references (1 by default) to user object `object`; its destructor runs once none
    remain.
    """


@libcudart(
    "cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned int count, "
    "unsigned int flags)"
)
def cudaGraphRetainUserObject(
    graph: cudaGraph_t | int | None, object: cudaUserObject_t | int | None, count: int, flags: int
) -> tuple[cudaError_t]:
    """Make `graph` hold `count` references to user object `object`; `flags` 0 adds new ones and
    cudaGraphUserObjectMove hands over the caller's.
    """


@libcudart(
    "cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned int count)"
)
def cudaGraphReleaseUserObject(
    graph: cudaGraph_t | int | None, object: cudaUserObject_t | int | None, count: int
) -> tuple[cudaError_t]:
    """Make `graph` give up `count` references (1 by default) that it holds to user object `object`."""


@libcudart(
    "cudaError_t cudaGraphAddNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, "
    "const cudaGraphNode_t *pDependencies, size_t numDependencies, cudaGraphNodeParams *nodeParams)",
    sizes={"pDependencies": "numDependencies"},
    since="12.2",
    symbols={13: None},
)
def _cudaGraphAddNode_12(
    graph: cudaGraph_t | int | None,
    pDependencies: Sequence[cudaGraphNode_t | int] | None,
    numDependencies: int,
    nodeParams: cudaGraphNodeParams | None,
) -> tuple[cudaError_t, cudaGraphNode_t]: ...


@libcudart(
    "cudaError_t cudaGraphAddNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, "
    "const cudaGraphNode_t *pDependencies, const cudaGraphEdgeData *dependencyData, size_t numDependencies, "
    "cudaGraphNodeParams *nodeParams)",
    sizes={"pDependencies": "numDependencies", "dependencyData": "numDependencies"},
    since="12.3",
    symbols={12: "cudaGraphAddNode_v2"},
)
def cudaGraphAddNode_v2(
    graph: cudaGraph_t | int | None,
    pDependencies: Sequence[cudaGraphNode_t | int] | None,
    dependencyData: Sequence[cudaGraphEdgeData] | None,
    numDependencies: int,
    nodeParams: cudaGraphNodeParams | None,
) -> tuple[cudaError_t, cudaGraphNode_t]:
    """Add a node of any kind, chosen by `nodeParams`, to `graph` after `numDependencies` nodes in
    `pDependencies` with per-edge `dependencyData` (or None), and return the node.
    """


cudaGraphAddNode = either(cudaGraphAddNode_v2, _cudaGraphAddNode_12, "dependencyData")


@libcudart(
    "cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams *nodeParams)",
    since="12.2",
)
def cudaGraphNodeSetParams(
    node: cudaGraphNode_t | int | None, nodeParams: cudaGraphNodeParams | None
) -> tuple[cudaError_t]:
    """Replace the parameters of `node` with `nodeParams`, whose type must match the kind of the node."""


@libcudart(
    "cudaError_t cudaGraphNodeGetParams(cudaGraphNode_t node, cudaGraphNodeParams *nodeParams)",
    since="13.2",
)
def cudaGraphNodeGetParams(node: cudaGraphNode_t | int | None) -> tuple[cudaError_t, cudaGraphNodeParams]:
    """Return the parameters of `node`, whatever its kind; pointers inside refer to memory that the node owns
    and are read-only.
    """


@libcudart(
    "cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t graphExec, cudaGraphNode_t node, "
    "cudaGraphNodeParams *nodeParams)",
    since="12.2",
)
def cudaGraphExecNodeSetParams(
    graphExec: cudaGraphExec_t | int | None,
    node: cudaGraphNode_t | int | None,
    nodeParams: cudaGraphNodeParams | None,
) -> tuple[cudaError_t]:
    """Replace the parameters of `node` inside executable `graphExec` with `nodeParams` of the same type; the
    source graph is left alone.
    """


@libcudart(
    "cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *pHandle_out, "
    "cudaGraph_t graph, unsigned int defaultLaunchValue, unsigned int flags)",
    since="12.3",
)
def cudaGraphConditionalHandleCreate(
    graph: cudaGraph_t | int | None, defaultLaunchValue: int, flags: int
) -> tuple[cudaError_t, cudaGraphConditionalHandle]:
    """Create and return a handle for a conditional node in `graph`; `defaultLaunchValue` is restored at each
    launch when `flags` is cudaGraphCondAssignDefault, not when 0.
    """


@libcudart(
    "cudaError_t cudaGraphConditionalHandleCreate_v2(cudaGraphConditionalHandle *pHandle_out, "
    "cudaGraph_t graph, cudaExecutionContext_t ctx, unsigned int defaultLaunchValue, unsigned int flags)",
    since="13.1",
)
def cudaGraphConditionalHandleCreate_v2(
    graph: cudaGraph_t | int | None,
    ctx: cudaExecutionContext_t | int | None,
    defaultLaunchValue: int,
    flags: int,
) -> tuple[cudaError_t, cudaGraphConditionalHandle]:
    """Create and return a conditional handle for `graph` like the first form, but bound to execution context
    `ctx`, where None means the current context.
    """


# -- Driver Entry Point Access ---------------------------------------------------------------------------


@libcudart(
    "cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **funcPtr, unsigned long long flags, "
    "cudaDriverEntryPointQueryResult *driverStatus)"
)
def cudaGetDriverEntryPoint(
    symbol: bytes | None, flags: int
) -> tuple[cudaError_t, int, cudaDriverEntryPointQueryResult]:
    """Return the address of driver function `symbol` at the runtime's own CUDA version and a lookup status;
    `flags` 0 picks the default stream flavor (deprecated).
    """


@libcudart(
    "cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **funcPtr, "
    "unsigned int cudaVersion, unsigned long long flags, cudaDriverEntryPointQueryResult *driverStatus)",
    since="12.5",
)
def cudaGetDriverEntryPointByVersion(
    symbol: bytes | None, cudaVersion: int, flags: int
) -> tuple[cudaError_t, int, cudaDriverEntryPointQueryResult]:
    """Return the address of driver function `symbol` as of `cudaVersion` (1000 * major + 10 * minor) and a
    lookup status; `flags` 0 picks the default stream flavor.
    """


# -- Library Management ----------------------------------------------------------------------------------


@libcudart(
    "cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code, cudaJitOption *jitOptions, "
    "void **jitOptionsValues, unsigned int numJitOptions, cudaLibraryOption *libraryOptions, "
    "void **libraryOptionValues, unsigned int numLibraryOptions)",
    sizes={
        "jitOptions": "numJitOptions",
        "jitOptionsValues": "numJitOptions",
        "libraryOptions": "numLibraryOptions",
        "libraryOptionValues": "numLibraryOptions",
    },
    keeps=("jitOptionsValues",),
    since="12.8",
)
def cudaLibraryLoadData(
    code: void_p,
    jitOptions: Sequence[cudaJitOption | int] | None,
    jitOptionsValues: void_pp,
    numJitOptions: int,
    libraryOptions: Sequence[cudaLibraryOption | int] | None,
    libraryOptionValues: void_pp,
    numLibraryOptions: int,
) -> tuple[cudaError_t, cudaLibrary_t]:
    """Load a library from the code image `code` (cubin, PTX or fatbin) using `numJitOptions` JIT and
    `numLibraryOptions` library options, and return it; unused lists may be None.
    """


@libcudart(
    "cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t *library, const char *fileName, "
    "cudaJitOption *jitOptions, void **jitOptionsValues, unsigned int numJitOptions, "
    "cudaLibraryOption *libraryOptions, void **libraryOptionValues, unsigned int numLibraryOptions)",
    sizes={
        "jitOptions": "numJitOptions",
        "jitOptionsValues": "numJitOptions",
        "libraryOptions": "numLibraryOptions",
        "libraryOptionValues": "numLibraryOptions",
    },
    keeps=("jitOptionsValues",),
    since="12.8",
)
def cudaLibraryLoadFromFile(
    fileName: bytes | None,
    jitOptions: Sequence[cudaJitOption | int] | None,
    jitOptionsValues: void_pp,
    numJitOptions: int,
    libraryOptions: Sequence[cudaLibraryOption | int] | None,
    libraryOptionValues: void_pp,
    numLibraryOptions: int,
) -> tuple[cudaError_t, cudaLibrary_t]:
    """Load a library from the cubin, PTX or fatbin file `fileName` using `numJitOptions` JIT and
    `numLibraryOptions` library options, and return it.
    """


@libcudart("cudaError_t cudaLibraryUnload(cudaLibrary_t library)", frees="library", since="12.8")
def cudaLibraryUnload(library: cudaLibrary_t | int | None) -> tuple[cudaError_t]:
    """Unload `library`; its kernels and variables must not be used afterwards."""


@libcudart(
    "cudaError_t cudaLibraryGetKernel(cudaKernel_t *pKernel, cudaLibrary_t library, const char *name)",
    since="12.8",
)
def cudaLibraryGetKernel(
    library: cudaLibrary_t | int | None, name: bytes | None
) -> tuple[cudaError_t, cudaKernel_t]:
    """Return the kernel handle called `name` (the mangled symbol, for C++ code) in `library`."""


@libcudart(
    "cudaError_t cudaLibraryGetGlobal(void **dptr, size_t *bytes, cudaLibrary_t library, const char *name)",
    since="12.8",
)
def cudaLibraryGetGlobal(
    library: cudaLibrary_t | int | None, name: bytes | None
) -> tuple[cudaError_t, int, int]:
    """Return the device address and size in bytes of the global variable `name` in `library`, for the
    current device.
    """


@libcudart(
    "cudaError_t cudaLibraryGetManaged(void **dptr, size_t *bytes, cudaLibrary_t library, const char *name)",
    since="12.8",
)
def cudaLibraryGetManaged(
    library: cudaLibrary_t | int | None, name: bytes | None
) -> tuple[cudaError_t, int, int]:
    """Return the address and size in bytes of the managed variable `name` in `library`, valid on the host
    and on every device.
    """


@libcudart(
    "cudaError_t cudaLibraryGetUnifiedFunction(void **fptr, cudaLibrary_t library, const char *symbol)",
    since="12.8",
)
def cudaLibraryGetUnifiedFunction(
    library: cudaLibrary_t | int | None, symbol: bytes | None
) -> tuple[cudaError_t, int]:
    """Return the address of the unified function `symbol` in `library`; fails when the library has none of
    that name.
    """


@libcudart("cudaError_t cudaLibraryGetKernelCount(unsigned int *count, cudaLibrary_t lib)", since="12.8")
def cudaLibraryGetKernelCount(lib: cudaLibrary_t | int | None) -> tuple[cudaError_t, int]:
    """Return how many kernels `lib` contains, for sizing a later enumeration."""


@libcudart(
    "cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t *kernels, unsigned int numKernels, "
    "cudaLibrary_t lib)",
    sizes={"kernels": "numKernels"},
    since="12.8",
)
def cudaLibraryEnumerateKernels(
    numKernels: int, lib: cudaLibrary_t | int | None
) -> tuple[cudaError_t, list[cudaKernel_t]]:
    """Return up to `numKernels` kernel handles found in `lib`, as a list."""


@libcudart(
    "cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attr, int value, "
    "int device)",
    since="12.8",
)
def cudaKernelSetAttributeForDevice(
    kernel: cudaKernel_t | int | None, attr: cudaFuncAttribute | int, value: int, device: int
) -> tuple[cudaError_t]:
    """Set attribute `attr` of `kernel` to `value` on one `device` only, for example the limit on dynamic
    shared memory in bytes.
    """


# -- Execution Context Management ------------------------------------------------------------------------


@libcudart(
    "cudaError_t cudaDeviceGetDevResource(int device, cudaDevResource *resource, cudaDevResourceType type)",
    since="13.1",
)
def cudaDeviceGetDevResource(
    device: int, typename: cudaDevResourceType | int
) -> tuple[cudaError_t, cudaDevResource]:
    """Return the resource of kind `typename` that `device` offers, such as its SMs, as a basis for
    partitioning.
    """


@libcudart(
    "cudaError_t cudaDevSmResourceSplitByCount(cudaDevResource *result, unsigned int *nbGroups, "
    "const cudaDevResource *input, cudaDevResource *remaining, unsigned int flags, unsigned int minCount)",
    sizes={"result": "nbGroups"},
    since="13.1",
)
def cudaDevSmResourceSplitByCount(
    nbGroups: int, input_: cudaDevResource | None, flags: int, minCount: int
) -> tuple[cudaError_t, list[cudaDevResource], int, cudaDevResource]:
    """Split SM resource `input_` into up to `nbGroups` equal groups of at least `minCount` SMs, and return
    the groups, their number and the leftover; `flags` 0 is the default.
    """


@libcudart(
    "cudaError_t cudaDevSmResourceSplit(cudaDevResource *result, unsigned int nbGroups, "
    "const cudaDevResource *input, cudaDevResource *remainder, unsigned int flags, "
    "cudaDevSmResourceGroupParams *groupParams)",
    sizes={"result": "nbGroups", "groupParams": "nbGroups"},
    since="13.1",
)
def cudaDevSmResourceSplit(
    nbGroups: int,
    input_: cudaDevResource | None,
    flags: int,
    groupParams: Sequence[cudaDevSmResourceGroupParams] | None,
) -> tuple[cudaError_t, list[cudaDevResource], cudaDevResource]:
    """Split SM resource `input_` into `nbGroups` groups, each shaped by its entry in `groupParams` (an
    smCount of 0 is filled in), and return groups and leftover; `flags` must be 0.
    """


@libcudart(
    "cudaError_t cudaDevResourceGenerateDesc(cudaDevResourceDesc_t *phDesc, cudaDevResource *resources, "
    "unsigned int nbResources)",
    sizes={"resources": "nbResources"},
    since="13.1",
)
def cudaDevResourceGenerateDesc(
    resources: Sequence[cudaDevResource] | None, nbResources: int
) -> tuple[cudaError_t, cudaDevResourceDesc_t]:
    """Combine a list of `nbResources` device `resources`, all from one device, into a descriptor for
    creating a green context, and return it.
    """


@libcudart(
    "cudaError_t cudaGreenCtxCreate(cudaExecutionContext_t *phCtx, cudaDevResourceDesc_t desc, int device, "
    "unsigned int flags)",
    since="13.1",
)
def cudaGreenCtxCreate(
    desc: cudaDevResourceDesc_t | int | None, device: int, flags: int
) -> tuple[cudaError_t, cudaExecutionContext_t]:
    """Create and return a green context on `device` limited to the resources in `desc`; `flags` must be 0
    and no stream is created with it.
    """


@libcudart("cudaError_t cudaExecutionCtxDestroy(cudaExecutionContext_t ctx)", since="13.1")
def cudaExecutionCtxDestroy(ctx: cudaExecutionContext_t | int | None) -> tuple[cudaError_t]:
    """Destroy execution context `ctx` and release its resources; its streams stay behind and must be
    destroyed separately.
    """


@libcudart(
    "cudaError_t cudaExecutionCtxGetDevResource(cudaExecutionContext_t ctx, cudaDevResource *resource, "
    "cudaDevResourceType type)",
    since="13.1",
)
def cudaExecutionCtxGetDevResource(
    ctx: cudaExecutionContext_t | int | None, typename: cudaDevResourceType | int
) -> tuple[cudaError_t, cudaDevResource]:
    """Return the resource of kind `typename` that is available to execution context `ctx`."""


@libcudart("cudaError_t cudaExecutionCtxGetDevice(int *device, cudaExecutionContext_t ctx)", since="13.1")
def cudaExecutionCtxGetDevice(ctx: cudaExecutionContext_t | int | None) -> tuple[cudaError_t, int]:
    """Return the ordinal of the device to which execution context `ctx` belongs."""


@libcudart(
    "cudaError_t cudaExecutionCtxGetId(cudaExecutionContext_t ctx, unsigned long long *ctxId)",
    since="13.1",
)
def cudaExecutionCtxGetId(ctx: cudaExecutionContext_t | int | None) -> tuple[cudaError_t, int]:
    """Return the 64-bit id of execution context `ctx`, never reused while the program runs."""


@libcudart(
    "cudaError_t cudaExecutionCtxStreamCreate(cudaStream_t *phStream, cudaExecutionContext_t ctx, "
    "unsigned int flags, int priority)",
    since="13.1",
)
def cudaExecutionCtxStreamCreate(
    ctx: cudaExecutionContext_t | int | None, flags: int, priority: int
) -> tuple[cudaError_t, cudaStream_t]:
    """Create and return a stream that runs on the resources of `ctx`; `flags` is 0 or cudaStreamNonBlocking,
    and a lower `priority` number ranks higher, 0 being the default.
    """


@libcudart("cudaError_t cudaExecutionCtxSynchronize(cudaExecutionContext_t ctx)", since="13.1")
def cudaExecutionCtxSynchronize(ctx: cudaExecutionContext_t | int | None) -> tuple[cudaError_t]:
    """Block the calling thread until all work submitted to execution context `ctx` has finished."""


@libcudart(
    "cudaError_t cudaStreamGetDevResource(cudaStream_t hStream, cudaDevResource *resource, "
    "cudaDevResourceType type)",
    since="13.1",
)
def cudaStreamGetDevResource(
    hStream: cudaStream_t | int | None, typename: cudaDevResourceType | int
) -> tuple[cudaError_t, cudaDevResource]:
    """Return the resource of kind `typename` that is available to work submitted to `hStream`."""


@libcudart(
    "cudaError_t cudaExecutionCtxRecordEvent(cudaExecutionContext_t ctx, cudaEvent_t event)",
    since="13.1",
)
def cudaExecutionCtxRecordEvent(
    ctx: cudaExecutionContext_t | int | None, event: cudaEvent_t | int | None
) -> tuple[cudaError_t]:
    """Record in `event` all work outstanding in execution context `ctx`; both must belong to one device."""


@libcudart(
    "cudaError_t cudaExecutionCtxWaitEvent(cudaExecutionContext_t ctx, cudaEvent_t event)",
    since="13.1",
)
def cudaExecutionCtxWaitEvent(
    ctx: cudaExecutionContext_t | int | None, event: cudaEvent_t | int | None
) -> tuple[cudaError_t]:
    """Make work submitted later to execution context `ctx` wait on the device for `event`, without blocking
    the host.
    """


@libcudart("cudaError_t cudaDeviceGetExecutionCtx(cudaExecutionContext_t *ctx, int device)", since="13.1")
def cudaDeviceGetExecutionCtx(device: int) -> tuple[cudaError_t, cudaExecutionContext_t]:
    """Return the primary execution context of `device`; it must not be passed to cudaExecutionCtxDestroy."""


@libcudart("cudaError_t cudaGetExportTable(const void **ppExportTable, const cudaUUID_t *pExportTableId)")
def cudaGetExportTable(pExportTableId: cudaUUID_t | None) -> tuple[cudaError_t, int]:
    """Return the address of the internal function table that the 16-byte UUID `pExportTableId` identifies."""


# -- Interactions with the CUDA Driver API ---------------------------------------------------------------


@libcudart("cudaError_t cudaGetFuncBySymbol(cudaFunction_t *functionPtr, const void *symbolPtr)")
def cudaGetFuncBySymbol(symbolPtr: void_p) -> tuple[cudaError_t, cudaFunction_t]:
    """Return the device function handle that corresponds to the host-side kernel symbol `symbolPtr`."""


@libcudart("cudaError_t cudaGetKernel(cudaKernel_t *kernelPtr, const void *entryFuncAddr)", since="12.1")
def cudaGetKernel(entryFuncAddr: void_p) -> tuple[cudaError_t, cudaKernel_t]:
    """Return the kernel handle that corresponds to the host-side entry function address `entryFuncAddr`."""


# -- OpenGL Interoperability -----------------------------------------------------------------------------


@libcudart(
    "cudaError_t cudaGLGetDevices(unsigned int *pCudaDeviceCount, int *pCudaDevices, "
    "unsigned int cudaDeviceCount, cudaGLDeviceList deviceList)",
    sizes={"pCudaDevices": "cudaDeviceCount"},
)
def cudaGLGetDevices(
    cudaDeviceCount: int, deviceList: cudaGLDeviceList | int
) -> tuple[cudaError_t, int, list[int]]:
    """Return the number of CUDA devices driving the current OpenGL context and a list of at most
    `cudaDeviceCount` of them, chosen by `deviceList`.
    """


@libcudart(
    "cudaError_t cudaGraphicsGLRegisterImage(cudaGraphicsResource **resource, GLuint image, GLenum target, "
    "unsigned int flags)"
)
def cudaGraphicsGLRegisterImage(
    image: GLuint | int, target: GLenum | int, flags: int
) -> tuple[cudaError_t, cudaGraphicsResource_t]:
    """Register the OpenGL texture or renderbuffer `image` of type `target` for CUDA access and return the
    resource; `flags` 0 means read and write.
    """


@libcudart(
    "cudaError_t cudaGraphicsGLRegisterBuffer(cudaGraphicsResource **resource, GLuint buffer, "
    "unsigned int flags)"
)
def cudaGraphicsGLRegisterBuffer(
    buffer: GLuint | int, flags: int
) -> tuple[cudaError_t, cudaGraphicsResource_t]:
    """Register the OpenGL buffer object `buffer` for CUDA access and return the resource; `flags` 0 means
    read and write.
    """


# -- OpenGL Interoperability [DEPRECATED] ----------------------------------------------------------------


@libcudart("cudaError_t cudaGLSetGLDevice(int device)")
def cudaGLSetGLDevice(device: int) -> tuple[cudaError_t]:
    """Do nothing but what `cudaSetDevice` does: OpenGL devices need no announcement any more (deprecated)."""


@libcudart("cudaError_t cudaGLRegisterBufferObject(GLuint bufObj)")
def cudaGLRegisterBufferObject(bufObj: GLuint | int) -> tuple[cudaError_t]:
    """Register the OpenGL buffer `bufObj` for use by CUDA (deprecated: `cudaGraphicsGLRegisterBuffer`)."""


@libcudart("cudaError_t cudaGLMapBufferObject(void **devPtr, GLuint bufObj)")
def cudaGLMapBufferObject(bufObj: GLuint | int) -> tuple[cudaError_t, int]:
    """Map the registered OpenGL buffer `bufObj` and return its device address (deprecated:
    `cudaGraphicsMapResources`).
    """


@libcudart("cudaError_t cudaGLUnmapBufferObject(GLuint bufObj)")
def cudaGLUnmapBufferObject(bufObj: GLuint | int) -> tuple[cudaError_t]:
    """Give the mapped OpenGL buffer `bufObj` back to OpenGL (deprecated: `cudaGraphicsUnmapResources`)."""


@libcudart("cudaError_t cudaGLUnregisterBufferObject(GLuint bufObj)")
def cudaGLUnregisterBufferObject(bufObj: GLuint | int) -> tuple[cudaError_t]:
    """Undo `cudaGLRegisterBufferObject` for `bufObj` (deprecated: `cudaGraphicsUnregisterResource`)."""


@libcudart("cudaError_t cudaGLSetBufferObjectMapFlags(GLuint bufObj, unsigned int flags)")
def cudaGLSetBufferObjectMapFlags(bufObj: GLuint | int, flags: int) -> tuple[cudaError_t]:
    """Set how CUDA will use the OpenGL buffer `bufObj` when mapped: `flags` is a cudaGLMapFlags
    (deprecated).
    """


@libcudart("cudaError_t cudaGLMapBufferObjectAsync(void **devPtr, GLuint bufObj, cudaStream_t stream)")
def cudaGLMapBufferObjectAsync(
    bufObj: GLuint | int, stream: cudaStream_t | int | None
) -> tuple[cudaError_t, int]:
    """As `cudaGLMapBufferObject`, in the order of `stream` (deprecated)."""


@libcudart("cudaError_t cudaGLUnmapBufferObjectAsync(GLuint bufObj, cudaStream_t stream)")
def cudaGLUnmapBufferObjectAsync(
    bufObj: GLuint | int, stream: cudaStream_t | int | None
) -> tuple[cudaError_t]:
    """As `cudaGLUnmapBufferObject`, in the order of `stream` (deprecated)."""


# -- EGL Interoperability --------------------------------------------------------------------------------


@libcudart(
    "cudaError_t cudaGraphicsEGLRegisterImage(cudaGraphicsResource **pCudaResource, EGLImageKHR image, "
    "unsigned int flags)"
)
def cudaGraphicsEGLRegisterImage(
    image: EGLImageKHR | int | None, flags: int
) -> tuple[cudaError_t, cudaGraphicsResource_t]:
    """Register the EGL `image` for CUDA access and return the resource, usable without mapping; `flags` 0
    means read and write.
    """


@libcudart("cudaError_t cudaEGLStreamConsumerConnect(cudaEglStreamConnection *conn, EGLStreamKHR eglStream)")
def cudaEGLStreamConsumerConnect(
    eglStream: EGLStreamKHR | int | None,
) -> tuple[cudaError_t, cudaEglStreamConnection]:
    """Attach CUDA to `eglStream` as its frame consumer and return the connection; frames are delivered in
    video memory.
    """


@libcudart(
    "cudaError_t cudaEGLStreamConsumerConnectWithFlags(cudaEglStreamConnection *conn, "
    "EGLStreamKHR eglStream, unsigned int flags)"
)
def cudaEGLStreamConsumerConnectWithFlags(
    eglStream: EGLStreamKHR | int | None, flags: int
) -> tuple[cudaError_t, cudaEglStreamConnection]:
    """Attach CUDA to `eglStream` as its frame consumer and return the connection; `flags` picks system
    memory or video memory for frames.
    """


@libcudart("cudaError_t cudaEGLStreamConsumerDisconnect(cudaEglStreamConnection *conn)", in_place=("conn",))
def cudaEGLStreamConsumerDisconnect(conn: cudaEglStreamConnection) -> tuple[cudaError_t]:
    """Detach CUDA as consumer from the EGL stream behind connection `conn`."""


@libcudart(
    "cudaError_t cudaEGLStreamConsumerAcquireFrame(cudaEglStreamConnection *conn, "
    "cudaGraphicsResource_t *pCudaResource, cudaStream_t *pStream, unsigned int timeout)",
    in_place=("conn", "pCudaResource", "pStream"),
)
def cudaEGLStreamConsumerAcquireFrame(
    conn: cudaEglStreamConnection, pCudaResource: cudaGraphicsResource_t, pStream: cudaStream_t, timeout: int
) -> tuple[cudaError_t]:
    """Take the next frame from consumer connection `conn`, waiting up to `timeout` microseconds, and return
    its resource; `pStream` orders the access.
    """


@libcudart(
    "cudaError_t cudaEGLStreamConsumerReleaseFrame(cudaEglStreamConnection *conn, "
    "cudaGraphicsResource_t pCudaResource, cudaStream_t *pStream)",
    in_place=("conn", "pStream"),
)
def cudaEGLStreamConsumerReleaseFrame(
    conn: cudaEglStreamConnection, pCudaResource: cudaGraphicsResource_t | int | None, pStream: cudaStream_t
) -> tuple[cudaError_t]:
    """Give the acquired frame `pCudaResource` back to the EGL stream behind `conn`, once prior work in
    `pStream` is done.
    """


@libcudart(
    "cudaError_t cudaEGLStreamProducerConnect(cudaEglStreamConnection *conn, EGLStreamKHR eglStream, "
    "EGLint width, EGLint height)"
)
def cudaEGLStreamProducerConnect(
    eglStream: EGLStreamKHR | int | None, width: EGLint | int, height: EGLint | int
) -> tuple[cudaError_t, cudaEglStreamConnection]:
    """Attach CUDA to `eglStream` as its frame producer, with frames of `width` by `height` pixels, and
    return the connection.
    """


@libcudart("cudaError_t cudaEGLStreamProducerDisconnect(cudaEglStreamConnection *conn)", in_place=("conn",))
def cudaEGLStreamProducerDisconnect(conn: cudaEglStreamConnection) -> tuple[cudaError_t]:
    """Detach CUDA as producer from the EGL stream behind connection `conn`."""


@libcudart(
    "cudaError_t cudaEGLStreamProducerPresentFrame(cudaEglStreamConnection *conn, cudaEglFrame eglframe, "
    "cudaStream_t *pStream)",
    in_place=("conn", "pStream"),
)
def cudaEGLStreamProducerPresentFrame(
    conn: cudaEglStreamConnection, eglframe: cudaEglFrame, pStream: cudaStream_t
) -> tuple[cudaError_t]:
    """Hand the frame `eglframe` to the consumer through producer connection `conn`, once prior work in
    `pStream` is done.
    """


@libcudart(
    "cudaError_t cudaEGLStreamProducerReturnFrame(cudaEglStreamConnection *conn, cudaEglFrame *eglframe, "
    "cudaStream_t *pStream)",
    in_place=("conn", "pStream"),
)
def cudaEGLStreamProducerReturnFrame(
    conn: cudaEglStreamConnection, eglframe: cudaEglFrame | None, pStream: cudaStream_t
) -> tuple[cudaError_t]:
    """Take back from producer connection `conn` the frame `eglframe` last released by the consumer; retry
    when it reports a launch timeout.
    """


@libcudart(
    "cudaError_t cudaGraphicsResourceGetMappedEglFrame(cudaEglFrame *eglFrame, "
    "cudaGraphicsResource_t resource, unsigned int index, unsigned int mipLevel)"
)
def cudaGraphicsResourceGetMappedEglFrame(
    resource: cudaGraphicsResource_t | int | None, index: int, mipLevel: int
) -> tuple[cudaError_t, cudaEglFrame]:
    """Return the EGL frame (plane arrays or pitched pointers) of `resource` for cubemap face `index` and
    mipmap level `mipLevel`.
    """


@libcudart(
    "cudaError_t cudaEventCreateFromEGLSync(cudaEvent_t *phEvent, EGLSyncKHR eglSync, unsigned int flags)"
)
def cudaEventCreateFromEGLSync(
    eglSync: EGLSyncKHR | int | None, flags: int
) -> tuple[cudaError_t, cudaEvent_t]:
    """Create and return an event tied to EGL sync object `eglSync`; `flags` is 0 or cudaEventBlockingSync,
    and it can be neither recorded nor timed.
    """


# -- VDPAU Interoperability ------------------------------------------------------------------------------


@libcudart(
    "cudaError_t cudaVDPAUGetDevice(int *device, VdpDevice vdpDevice, VdpGetProcAddress *vdpGetProcAddress)",
    in_place=("vdpGetProcAddress",),
)
def cudaVDPAUGetDevice(
    vdpDevice: VdpDevice | int, vdpGetProcAddress: VdpGetProcAddress
) -> tuple[cudaError_t, int]:
    """Return the CUDA device ordinal that matches `vdpDevice`; `vdpGetProcAddress` is the VDPAU function
    lookup callback.
    """


@libcudart(
    "cudaError_t cudaVDPAUSetVDPAUDevice(int device, VdpDevice vdpDevice, "
    "VdpGetProcAddress *vdpGetProcAddress)",
    in_place=("vdpGetProcAddress",),
)
def cudaVDPAUSetVDPAUDevice(
    device: int, vdpDevice: VdpDevice | int, vdpGetProcAddress: VdpGetProcAddress
) -> tuple[cudaError_t]:
    """Make the calling thread use CUDA `device` with VDPAU interop through `vdpDevice` and its lookup
    callback `vdpGetProcAddress`; call it before the device is initialized.
    """


@libcudart(
    "cudaError_t cudaGraphicsVDPAURegisterVideoSurface(cudaGraphicsResource **resource, "
    "VdpVideoSurface vdpSurface, unsigned int flags)"
)
def cudaGraphicsVDPAURegisterVideoSurface(
    vdpSurface: VdpVideoSurface | int, flags: int
) -> tuple[cudaError_t, cudaGraphicsResource_t]:
    """Register the VDPAU video surface `vdpSurface` for CUDA access and return the resource; `flags` 0 means
    read and write.
    """


@libcudart(
    "cudaError_t cudaGraphicsVDPAURegisterOutputSurface(cudaGraphicsResource **resource, "
    "VdpOutputSurface vdpSurface, unsigned int flags)"
)
def cudaGraphicsVDPAURegisterOutputSurface(
    vdpSurface: VdpOutputSurface | int, flags: int
) -> tuple[cudaError_t, cudaGraphicsResource_t]:
    """Register the VDPAU output surface `vdpSurface` for CUDA access and return the resource; `flags` 0
    means read and write.
    """


# -- Profiler Control ------------------------------------------------------------------------------------


@libcudart("cudaError_t cudaProfilerStart(void)")
def cudaProfilerStart() -> tuple[cudaError_t]:
    """Turn on data collection by an attached profiler for the current context; no effect when it is already
    on.
    """


@libcudart("cudaError_t cudaProfilerStop(void)")
def cudaProfilerStop() -> tuple[cudaError_t]:
    """Turn off data collection by an attached profiler for the current context; no effect when it is already
    off.
    """


# -- C++ API Routines ------------------------------------------------------------------------------------


def make_cudaPitchedPtr(d: void_p, p: int, xsz: int, ysz: int) -> cudaPitchedPtr:
    """A cudaPitchedPtr: the address `d`, rows `p` bytes apart, `xsz` by `ysz` elements. No status."""
    from ._types.runtime.structs import cudaPitchedPtr

    return cudaPitchedPtr(ptr=d, pitch=p, xsize=xsz, ysize=ysz)


def make_cudaPos(x: int, y: int, z: int) -> cudaPos:
    """A cudaPos. No status."""
    from ._types.runtime.structs import cudaPos

    return cudaPos(x=x, y=y, z=z)


def make_cudaExtent(w: int, h: int, d: int) -> cudaExtent:
    """A cudaExtent of width `w`, height `h` and depth `d`. No status."""
    from ._types.runtime.structs import cudaExtent

    return cudaExtent(width=w, height=h, depth=d)
