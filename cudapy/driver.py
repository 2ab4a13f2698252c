"""The CUDA Driver API: every function of cuda.h, in the header's order.

Functions return `(status, results...)`, and None for each result after a failure; the status is a CUresult.
`checked` has the same functions returning the results alone and raising CUDAError. The C line above a
function is its declaration: the parameters that Python names are inputs, the others are what it returns.

CUDA 12 and 13 are both served. Where a name changed its signature in CUDA 13 it takes the form of 13, and
that of 12 as well where the arguments tell them apart.
"""

from __future__ import annotations

import ctypes
import sys

from ._bindings.errors import DriverLog, Raiser
from ._bindings.launch_kernel import launch_kernel
from ._bindings.libraries import loader, meanings, recipes, suffixes
from ._ffi.lazy_types import on_demand
from ._ffi.library import Checked, Library, SymbolNotFound, either, padded, renamed, two_forms
from ._ffi.sizes import sizeof as sizeof

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ._checked import driver as _checked
    from ._ffi.scalars import void_p, void_pp
    from ._types.driver.attributes import *
    from ._types.driver.constants import *
    from ._types.driver.enums import *
    from ._types.driver.handles import *
    from ._types.driver.structs import *
else:
    __getattr__, __dir__ = on_demand(
        globals(), "._types.driver", "constants", "enums", "handles", "attributes", "structs"
    )


def _describe() -> str:
    if not hasattr(libcuda.load(), "cuDriverGetVersion"):
        return "this driver, which does not tell its version"
    version = cuDriverGetVersion()[1] or 0
    return f"this driver, which has CUDA {version // 1000}.{version % 1000 // 10}"


_raiser = Raiser(meanings("CURESULT"))
libcuda = Library(
    loader("cuda"), "CUresult", _describe, _raiser, suffixes, address="CUdeviceptr", recipes=recipes("DRIVER")
)
_raiser.log = DriverLog(libcuda)
if TYPE_CHECKING:
    checked = _checked
else:
    checked = Checked(globals(), libcuda)

# -- Error Handling --------------------------------------------------------------------------------------


@libcuda("CUresult cuGetErrorString(CUresult error, const char **pStr)")
def cuGetErrorString(error: CUresult | int) -> tuple[CUresult, bytes]:
    """Return the readable text that explains the driver status code `error`; an unknown code fails with
    CUDA_ERROR_INVALID_VALUE.
    """


@libcuda("CUresult cuGetErrorName(CUresult error, const char **pStr)")
def cuGetErrorName(error: CUresult | int) -> tuple[CUresult, bytes]:
    """Return the symbolic enum name of status code `error`, such as CUDA_ERROR_OUT_OF_MEMORY; an unknown
    code fails with CUDA_ERROR_INVALID_VALUE.
    """


# -- Initialization --------------------------------------------------------------------------------------


@libcuda("CUresult cuInit(unsigned int Flags)")
def cuInit(Flags: int) -> tuple[CUresult]:
    """Start up the driver API for this process; call it ahead of any other driver call, with `Flags` equal
    to 0.
    """


# -- Version Management ----------------------------------------------------------------------------------


@libcuda("CUresult cuDriverGetVersion(int *driverVersion)")
def cuDriverGetVersion() -> tuple[CUresult, int]:
    """Return the newest CUDA version that the installed driver supports, as 1000 * major + 10 * minor (13020
    is 13.2); needs no prior `cuInit`.
    """


# -- Device Management -----------------------------------------------------------------------------------


@libcuda("CUresult cuDeviceGet(CUdevice *device, int ordinal)")
def cuDeviceGet(ordinal: int) -> tuple[CUresult, CUdevice]:
    """Return the device handle for index `ordinal`, which lies between 0 and one less than
    `cuDeviceGetCount`.
    """


@libcuda("CUresult cuDeviceGetCount(int *count)")
def cuDeviceGetCount() -> tuple[CUresult, int]:
    """Return how many CUDA-capable devices this process can see; 0 when there are none."""


@libcuda("CUresult cuDeviceGetName(char *name, int len, CUdevice dev)", sizes={"name": "len"})
def cuDeviceGetName(length: int, dev: CUdevice | int) -> tuple[CUresult, bytes]:
    """Return the product name of device `dev` as text, cut to fit a buffer of `length` bytes that includes
    the closing NUL.
    """


@libcuda("CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice dev)")
def cuDeviceGetUuid(dev: CUdevice | int) -> tuple[CUresult, CUuuid]:
    """Return the 16-byte UUID of device `dev`; for a MIG device it is the UUID of the MIG instance."""


cuDeviceGetUuid_v2 = cuDeviceGetUuid


@libcuda(
    "CUresult cuDeviceGetLuid(char *luid, unsigned int *deviceNodeMask, CUdevice dev)",
    sizes={"luid": 8},
)
def cuDeviceGetLuid(dev: CUdevice | int) -> tuple[CUresult, bytes, int]:
    """Return the 8-byte locally unique identifier of device `dev` and its device node mask; meaningful on
    Windows only.
    """


@libcuda("CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev)")
def cuDeviceTotalMem(dev: CUdevice | int) -> tuple[CUresult, int]:
    """Return how much memory device `dev` has in total, in bytes."""


cuDeviceTotalMem_v2 = cuDeviceTotalMem


@libcuda(
    "CUresult cuDeviceGetTexture1DLinearMaxWidth(size_t *maxWidthInElements, CUarray_format format, "
    "unsigned numChannels, CUdevice dev)"
)
def cuDeviceGetTexture1DLinearMaxWidth(
    pformat: CUarray_format | int, numChannels: int, dev: CUdevice | int
) -> tuple[CUresult, int]:
    """Return the widest 1D linear texture on `dev`, counted in elements of `numChannels` channels whose
    channel format is `pformat`.
    """


@libcuda("CUresult cuDeviceGetAttribute(int *pi, CUdevice_attribute attrib, CUdevice dev)")
def cuDeviceGetAttribute(attrib: CUdevice_attribute | int, dev: CUdevice | int) -> tuple[CUresult, int]:
    """Return the integer value of the property `attrib` (a CUdevice_attribute) of device `dev`."""


@libcuda(
    "CUresult cuDeviceGetHostAtomicCapabilities(unsigned int *capabilities, "
    "const CUatomicOperation *operations, unsigned int count, CUdevice dev)",
    sizes={"capabilities": "count", "operations": "count"},
    since="13.0",
)
def cuDeviceGetHostAtomicCapabilities(
    operations: Sequence[CUatomicOperation | int] | None, count: int, dev: CUdevice | int
) -> tuple[CUresult, list[int]]:
    """Return, for each of the `count` entries of `operations`, a CUatomicOperationCapability bitmask of what
    the link between `dev` and the host does natively.
    """


@libcuda("CUresult cuDeviceGetNvSciSyncAttributes(void *nvSciSyncAttrList, CUdevice dev, int flags)")
def cuDeviceGetNvSciSyncAttributes(
    nvSciSyncAttrList: void_p, dev: CUdevice | int, flags: int
) -> tuple[CUresult]:
    """Fill the unreconciled NvSciSync attribute list `nvSciSyncAttrList` with what `dev` needs in order to
    signal and/or wait, as chosen by the CUDA_NVSCISYNC_ATTR_* bits in `flags` (at least one).
    """


@libcuda("CUresult cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool)")
def cuDeviceSetMemPool(dev: CUdevice | int, pool: CUmemoryPool | int | None) -> tuple[CUresult]:
    """Make `pool`, which must live on `dev`, the pool that `cuMemAllocAsync` draws from for streams of that
    device.
    """


@libcuda("CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice dev)")
def cuDeviceGetMemPool(dev: CUdevice | int) -> tuple[CUresult, CUmemoryPool]:
    """Return the memory pool now in use on `dev`: the one given to `cuDeviceSetMemPool`, or the default pool
    if none was set.
    """


@libcuda("CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool_out, CUdevice dev)")
def cuDeviceGetDefaultMemPool(dev: CUdevice | int) -> tuple[CUresult, CUmemoryPool]:
    """Return the memory pool that the driver itself created for device `dev`; it cannot be destroyed."""


@libcuda("CUresult cuDeviceGetExecAffinitySupport(int *pi, CUexecAffinityType type, CUdevice dev)")
def cuDeviceGetExecAffinitySupport(
    typename: CUexecAffinityType | int, dev: CUdevice | int
) -> tuple[CUresult, int]:
    """Return 1 if contexts on `dev` can be limited by the execution affinity kind `typename` (such as an SM
    count), else 0.
    """


@libcuda(
    "CUresult cuFlushGPUDirectRDMAWrites(CUflushGPUDirectRDMAWritesTarget target, "
    "CUflushGPUDirectRDMAWritesScope scope)"
)
def cuFlushGPUDirectRDMAWrites(
    target: CUflushGPUDirectRDMAWritesTarget | int, scope: CUflushGPUDirectRDMAWritesScope | int
) -> tuple[CUresult]:
    """Make pending GPUDirect RDMA writes to `target` (the device of the current context) visible to the
    readers named by `scope`, and block until they are.
    """


# -- Device Management [DEPRECATED] ----------------------------------------------------------------------


@libcuda("CUresult cuDeviceGetProperties(CUdevprop *prop, CUdevice dev)")
def cuDeviceGetProperties(dev: CUdevice | int) -> tuple[CUresult, CUdevprop]:
    """Return a CUdevprop record of the limits of `dev` (threads per block, shared memory bytes, clock rate
    and so on); use `cuDeviceGetAttribute` (deprecated).
    """


@libcuda("CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice dev)")
def cuDeviceComputeCapability(dev: CUdevice | int) -> tuple[CUresult, int, int]:
    """Return the major and minor compute capability numbers of `dev` (8 and 6 for sm_86); use
    `cuDeviceGetAttribute` (deprecated).
    """


# -- Primary Context Management --------------------------------------------------------------------------


@libcuda("CUresult cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev)")
def cuDevicePrimaryCtxRetain(dev: CUdevice | int) -> tuple[CUresult, CUcontext]:
    """Return the primary context of `dev`, creating it if needed, and add one reference; the context is not
    made current. Pair with `cuDevicePrimaryCtxRelease`.
    """


@libcuda("CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev)")
def cuDevicePrimaryCtxRelease(dev: CUdevice | int) -> tuple[CUresult]:
    """Drop one reference to the primary context of `dev`; the context is reset when the last reference
    goes.
    """


cuDevicePrimaryCtxRelease_v2 = cuDevicePrimaryCtxRelease


@libcuda("CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned int flags)")
def cuDevicePrimaryCtxSetFlags(dev: CUdevice | int, flags: int) -> tuple[CUresult]:
    """Choose the scheduling and other CU_CTX_* bits `flags` for the primary context of `dev`; a context that
    is active takes them on at once.
    """


cuDevicePrimaryCtxSetFlags_v2 = cuDevicePrimaryCtxSetFlags


@libcuda("CUresult cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags, int *active)")
def cuDevicePrimaryCtxGetState(dev: CUdevice | int) -> tuple[CUresult, int, int]:
    """Return the CU_CTX_* flags of the primary context of `dev` and whether it is active (1) or inactive
    (0).
    """


@libcuda("CUresult cuDevicePrimaryCtxReset_v2(CUdevice dev)")
def cuDevicePrimaryCtxReset(dev: CUdevice | int) -> tuple[CUresult]:
    """Tear down every allocation and all state in the primary context of `dev`, even while other holders
    still reference it.
    """


cuDevicePrimaryCtxReset_v2 = cuDevicePrimaryCtxReset

# -- Context Management ----------------------------------------------------------------------------------


@libcuda(
    "CUresult cuCtxCreate_v4(CUcontext *pctx, CUctxCreateParams *ctxCreateParams, unsigned int flags, "
    "CUdevice dev)",
    since="12.5",
)
def cuCtxCreate_v4(
    ctxCreateParams: CUctxCreateParams | None, flags: int, dev: CUdevice | int
) -> tuple[CUresult, CUcontext]:
    """Create a context on `dev` with CU_CTX_* `flags` and make it current: the CUDA 13 form, where
    `ctxCreateParams` carries affinity or graphics settings (NULL for a plain context). Return its handle.
    """


@libcuda("CUresult cuCtxCreate_v2(CUcontext *pctx, unsigned int flags, CUdevice dev)")
def cuCtxCreate_v2(flags: int, dev: CUdevice | int) -> tuple[CUresult, CUcontext]:
    """Create a context on `dev` with the scheduling bits in `flags` (0 for automatic), make it current and
    return it; the CUDA 3.2 form, without affinity or other creation options.
    """


@libcuda(
    "CUresult cuCtxCreate_v3(CUcontext *pctx, CUexecAffinityParam *paramsArray, int numParams, "
    "unsigned int flags, CUdevice dev)",
    sizes={"paramsArray": "numParams"},
)
def cuCtxCreate_v3(
    paramsArray: Sequence[CUexecAffinityParam] | None, numParams: int, flags: int, dev: CUdevice | int
) -> tuple[CUresult, CUcontext]:
    """As `cuCtxCreate_v2`, with a list of `numParams` execution affinity limits in `paramsArray` (None with
    0 for no limit); the CUDA 11.4 form.
    """


cuCtxCreate = either(cuCtxCreate_v4, cuCtxCreate_v2, "ctxCreateParams")


@libcuda("CUresult cuCtxDestroy_v2(CUcontext ctx)")
def cuCtxDestroy(ctx: CUcontext | int | None) -> tuple[CUresult]:
    """Destroy context `ctx` together with all that it owns, no matter how many threads have it current."""


cuCtxDestroy_v2 = cuCtxDestroy


@libcuda("CUresult cuCtxPushCurrent_v2(CUcontext ctx)")
def cuCtxPushCurrent(ctx: CUcontext | int | None) -> tuple[CUresult]:
    """Put `ctx` on top of the calling thread's context stack, which makes it the current context."""


cuCtxPushCurrent_v2 = cuCtxPushCurrent


@libcuda("CUresult cuCtxPopCurrent_v2(CUcontext *pctx)")
def cuCtxPopCurrent() -> tuple[CUresult, CUcontext]:
    """Take the current context off the calling thread's stack and return it; the one beneath, if any,
    becomes current.
    """


cuCtxPopCurrent_v2 = cuCtxPopCurrent


@libcuda("CUresult cuCtxSetCurrent(CUcontext ctx)")
def cuCtxSetCurrent(ctx: CUcontext | int | None) -> tuple[CUresult]:
    """Replace the top of the calling thread's context stack with `ctx`; NULL only pops the current one."""


@libcuda("CUresult cuCtxGetCurrent(CUcontext *pctx)")
def cuCtxGetCurrent() -> tuple[CUresult, CUcontext]:
    """Return the context bound to the calling thread, or a NULL handle if it has none."""


@libcuda("CUresult cuCtxGetDevice(CUdevice *device)")
def cuCtxGetDevice() -> tuple[CUresult, CUdevice]:
    """Return the handle of the device that the current context belongs to."""


@libcuda("CUresult cuCtxGetDevice_v2(CUdevice *device, CUcontext ctx)", since="13.0")
def cuCtxGetDevice_v2(ctx: CUcontext | int | None) -> tuple[CUresult, CUdevice]:
    """Return the device of `ctx`: unlike `cuCtxGetDevice` this form names its context, where NULL stands for
    the current one.
    """


@libcuda("CUresult cuCtxGetFlags(unsigned int *flags)")
def cuCtxGetFlags() -> tuple[CUresult, int]:
    """Return the CU_CTX_* flag bits in force for the current context."""


@libcuda("CUresult cuCtxSetFlags(unsigned int flags)", since="12.1")
def cuCtxSetFlags(flags: int) -> tuple[CUresult]:
    """Replace the CU_CTX_* flag bits of the current context with `flags`; the values are those that
    `cuDevicePrimaryCtxSetFlags` takes.
    """


@libcuda("CUresult cuCtxGetId(CUcontext ctx, unsigned long long *ctxId)")
def cuCtxGetId(ctx: CUcontext | int | None) -> tuple[CUresult, int]:
    """Return a number that identifies `ctx` and is never reused while the process runs; NULL asks about the
    current context.
    """


@libcuda("CUresult cuCtxSynchronize(void)")
def cuCtxSynchronize() -> tuple[CUresult]:
    """Wait on the host until all work issued so far to the current context is done; an error from that work
    is returned here.
    """


@libcuda("CUresult cuCtxSynchronize_v2(CUcontext ctx)", since="13.0")
def cuCtxSynchronize_v2(ctx: CUcontext | int | None) -> tuple[CUresult]:
    """Wait on the host until all work issued so far to `ctx` is done: as `cuCtxSynchronize`, with the
    context given (NULL for the current one).
    """


@libcuda("CUresult cuCtxSetLimit(CUlimit limit, size_t value)")
def cuCtxSetLimit(limit: CUlimit | int, value: int) -> tuple[CUresult]:
    """Ask for resource `limit` of the current context (such as stack bytes per thread or printf FIFO bytes)
    to be `value`; the driver may round or clamp it.
    """


@libcuda("CUresult cuCtxGetLimit(size_t *pvalue, CUlimit limit)")
def cuCtxGetLimit(limit: CUlimit | int) -> tuple[CUresult, int]:
    """Return the present value of resource `limit` in the current context, in bytes for size limits and as a
    count or depth for the others.
    """


@libcuda("CUresult cuCtxGetCacheConfig(CUfunc_cache *pconfig)")
def cuCtxGetCacheConfig() -> tuple[CUresult, CUfunc_cache]:
    """Return the L1 versus shared memory preference of the current context (a CUfunc_cache value)."""


@libcuda("CUresult cuCtxSetCacheConfig(CUfunc_cache config)")
def cuCtxSetCacheConfig(config: CUfunc_cache | int) -> tuple[CUresult]:
    """Set the default L1 versus shared memory preference of the current context to `config`; only a hint,
    which a per-function setting overrides.
    """


@libcuda("CUresult cuCtxGetApiVersion(CUcontext ctx, unsigned int *version)")
def cuCtxGetApiVersion(ctx: CUcontext | int | None) -> tuple[CUresult, int]:
    """Return the API version that `ctx` was created against (for example 3020); NULL asks about the current
    context.
    """


@libcuda("CUresult cuCtxGetStreamPriorityRange(int *leastPriority, int *greatestPriority)")
def cuCtxGetStreamPriorityRange() -> tuple[CUresult, int, int]:
    """Return the least and greatest stream priorities as integers, where a lower number is more urgent; both
    are 0 where priorities are unsupported.
    """


@libcuda("CUresult cuCtxResetPersistingL2Cache(void)")
def cuCtxResetPersistingL2Cache() -> tuple[CUresult]:
    """Turn every persisting L2 cache line of the current context back to normal; takes effect before the
    call returns.
    """


@libcuda("CUresult cuCtxGetExecAffinity(CUexecAffinityParam *pExecAffinity, CUexecAffinityType type)")
def cuCtxGetExecAffinity(typename: CUexecAffinityType | int) -> tuple[CUresult, CUexecAffinityParam]:
    """Return the execution affinity of kind `typename` (such as the SM count) that the current context was
    created with.
    """


@libcuda("CUresult cuCtxRecordEvent(CUcontext hCtx, CUevent hEvent)", since="12.5")
def cuCtxRecordEvent(hCtx: CUcontext | int | None, hEvent: CUevent | int | None) -> tuple[CUresult]:
    """Record into `hEvent` all work submitted to `hCtx` so far; for a primary context this also covers its
    green contexts. Both must be of the same context.
    """


@libcuda("CUresult cuCtxWaitEvent(CUcontext hCtx, CUevent hEvent)", since="12.5")
def cuCtxWaitEvent(hCtx: CUcontext | int | None, hEvent: CUevent | int | None) -> tuple[CUresult]:
    """Make work submitted to `hCtx` from now on wait, on the device, for what `hEvent` recorded; the host
    does not block and the event may come from another device.
    """


# -- Context Management [DEPRECATED] ---------------------------------------------------------------------


@libcuda("CUresult cuCtxAttach(CUcontext *pctx, unsigned int flags)")
def cuCtxAttach(flags: int) -> tuple[CUresult, CUcontext]:
    """Add one reference to the current context and return its handle; `flags` must be 0 (deprecated)."""


@libcuda("CUresult cuCtxDetach(CUcontext ctx)")
def cuCtxDetach(ctx: CUcontext | int | None) -> tuple[CUresult]:
    """Drop one reference to `ctx`, which must be current, and destroy it when none is left (deprecated)."""


@libcuda("CUresult cuCtxGetSharedMemConfig(CUsharedconfig *pConfig)")
def cuCtxGetSharedMemConfig() -> tuple[CUresult, CUsharedconfig]:
    """Return the shared memory bank width (a CUsharedconfig value) of the current context (deprecated)."""


@libcuda("CUresult cuCtxSetSharedMemConfig(CUsharedconfig config)")
def cuCtxSetSharedMemConfig(config: CUsharedconfig | int) -> tuple[CUresult]:
    """Choose the shared memory bank width `config` (default, 4 or 8 bytes) for kernels of the current
    context (deprecated).
    """


# -- Module Management -----------------------------------------------------------------------------------


@libcuda("CUresult cuModuleLoad(CUmodule *module, const char *fname)")
def cuModuleLoad(fname: bytes | None) -> tuple[CUresult, CUmodule]:
    """Load the cubin, PTX or fatbin file at path `fname` into the current context and return the module."""


@libcuda("CUresult cuModuleLoadData(CUmodule *module, const void *image)")
def cuModuleLoadData(image: void_p) -> tuple[CUresult, CUmodule]:
    """Load a module from `image`, a cubin or fatbin in memory or NUL-terminated PTX text, into the current
    context and return it.
    """


@libcuda(
    "CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int numOptions, "
    "CUjit_option *options, void **optionValues)",
    sizes={"options": "numOptions", "optionValues": "numOptions"},
)
def cuModuleLoadDataEx(
    image: void_p, numOptions: int, options: Sequence[CUjit_option | int] | None, optionValues: void_pp
) -> tuple[CUresult, CUmodule]:
    """Load a module from the in-memory `image` under `numOptions` JIT settings, the i-th key in `options`
    having its value in `optionValues`, and return the module.
    """


@libcuda("CUresult cuModuleLoadFatBinary(CUmodule *module, const void *fatCubin)")
def cuModuleLoadFatBinary(fatCubin: void_p) -> tuple[CUresult, CUmodule]:
    """Load a module from the fat binary `fatCubin` in memory, picking the code that suits the current
    device, and return it.
    """


@libcuda("CUresult cuModuleUnload(CUmodule hmod)")
def cuModuleUnload(hmod: CUmodule | int | None) -> tuple[CUresult]:
    """Unload module `hmod` from the current context; its function and global handles become invalid."""


@libcuda("CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)")
def cuModuleGetLoadingMode() -> tuple[CUresult, CUmoduleLoadingMode]:
    """Return how modules are loaded in this process: eagerly at load time, or lazily on first use
    (CUDA_MODULE_LOADING).
    """


@libcuda("CUresult cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod, const char *name)")
def cuModuleGetFunction(hmod: CUmodule | int | None, name: bytes | None) -> tuple[CUresult, CUfunction]:
    """Return the handle of the kernel called `name` in module `hmod`; a missing name fails with
    CUDA_ERROR_NOT_FOUND.
    """


@libcuda("CUresult cuModuleGetFunctionCount(unsigned int *count, CUmodule mod)", since="12.4")
def cuModuleGetFunctionCount(mod: CUmodule | int | None) -> tuple[CUresult, int]:
    """Return the number of functions that module `mod` holds."""


@libcuda(
    "CUresult cuModuleEnumerateFunctions(CUfunction *functions, unsigned int numFunctions, CUmodule mod)",
    sizes={"functions": "numFunctions"},
    since="12.4",
)
def cuModuleEnumerateFunctions(
    numFunctions: int, mod: CUmodule | int | None
) -> tuple[CUresult, list[CUfunction]]:
    """Return at most `numFunctions` handles of the functions inside module `mod`, as a list."""


@libcuda("CUresult cuModuleGetGlobal_v2(CUdeviceptr *dptr, size_t *bytes, CUmodule hmod, const char *name)")
def cuModuleGetGlobal(hmod: CUmodule | int | None, name: bytes | None) -> tuple[CUresult, CUdeviceptr, int]:
    """Return the device address and the size in bytes of the global variable `name` in module `hmod`."""


cuModuleGetGlobal_v2 = cuModuleGetGlobal


@libcuda(
    "CUresult cuLinkCreate_v2(unsigned int numOptions, CUjit_option *options, void **optionValues, "
    "CUlinkState *stateOut)",
    sizes={"options": "numOptions", "optionValues": "numOptions"},
    keeps=("optionValues",),
)
def cuLinkCreate(
    numOptions: int, options: Sequence[CUjit_option | int] | None, optionValues: void_pp
) -> tuple[CUresult, CUlinkState]:
    """Open a JIT linker session with `numOptions` settings (keys in `options`, values in `optionValues`)
    and return its state; what they point at is kept until `cuLinkDestroy`.
    """


cuLinkCreate_v2 = cuLinkCreate


@libcuda(
    "CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t size, "
    "const char *name, unsigned int numOptions, CUjit_option *options, void **optionValues)",
    sizes={"data": "size", "options": "numOptions", "optionValues": "numOptions"},
)
def cuLinkAddData(
    state: CUlinkState | int | None,
    typename: CUjitInputType | int,
    data: void_p,
    size: int,
    name: bytes | None,
    numOptions: int,
    options: Sequence[CUjit_option | int] | None,
    optionValues: void_pp,
) -> tuple[CUresult]:
    """Feed `size` bytes of input `data` of kind `typename` to linker `state`; `name` labels it in logs (may
    be NULL) and `numOptions` per-input settings sit in `options`/`optionValues`.
    """


cuLinkAddData_v2 = cuLinkAddData


@libcuda(
    "CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char *path, "
    "unsigned int numOptions, CUjit_option *options, void **optionValues)",
    sizes={"options": "numOptions", "optionValues": "numOptions"},
)
def cuLinkAddFile(
    state: CUlinkState | int | None,
    typename: CUjitInputType | int,
    path: bytes | None,
    numOptions: int,
    options: Sequence[CUjit_option | int] | None,
    optionValues: void_pp,
) -> tuple[CUresult]:
    """Feed the file at `path`, of input kind `typename`, to linker `state`, with `numOptions` per-input
    settings in `options` and `optionValues`.
    """


cuLinkAddFile_v2 = cuLinkAddFile


@libcuda("CUresult cuLinkComplete(CUlinkState state, void **cubinOut, size_t *sizeOut)")
def cuLinkComplete(state: CUlinkState | int | None) -> tuple[CUresult, int, int]:
    """Finish linking in `state` and return the address of the cubin and its size in bytes; that memory
    belongs to `state` and goes away with it.
    """


@libcuda("CUresult cuLinkDestroy(CUlinkState state)", frees="state")
def cuLinkDestroy(state: CUlinkState | int | None) -> tuple[CUresult]:
    """Destroy linker session `state` and free the cubin that it produced."""


# -- Module Management [DEPRECATED] ----------------------------------------------------------------------


@libcuda("CUresult cuModuleGetTexRef(CUtexref *pTexRef, CUmodule hmod, const char *name)")
def cuModuleGetTexRef(hmod: CUmodule | int | None, name: bytes | None) -> tuple[CUresult, CUtexref]:
    """Return the texture reference called `name` in module `hmod`; texture objects replace these
    (deprecated).
    """


@libcuda("CUresult cuModuleGetSurfRef(CUsurfref *pSurfRef, CUmodule hmod, const char *name)")
def cuModuleGetSurfRef(hmod: CUmodule | int | None, name: bytes | None) -> tuple[CUresult, CUsurfref]:
    """Return the surface reference called `name` in module `hmod`; surface objects replace these
    (deprecated).
    """


# -- Library Management ----------------------------------------------------------------------------------


@libcuda(
    "CUresult cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jitOptions, "
    "void **jitOptionsValues, unsigned int numJitOptions, CUlibraryOption *libraryOptions, "
    "void **libraryOptionValues, unsigned int numLibraryOptions)",
    sizes={
        "jitOptions": "numJitOptions",
        "jitOptionsValues": "numJitOptions",
        "libraryOptions": "numLibraryOptions",
        "libraryOptionValues": "numLibraryOptions",
    },
    keeps=("jitOptionsValues",),
)
def cuLibraryLoadData(
    code: void_p,
    jitOptions: Sequence[CUjit_option | int] | None,
    jitOptionsValues: void_pp,
    numJitOptions: int,
    libraryOptions: Sequence[CUlibraryOption | int] | None,
    libraryOptionValues: void_pp,
    numLibraryOptions: int,
) -> tuple[CUresult, CUlibrary]:
    """Load a context-independent library from in-memory `code` (cubin, fatbin or PTX), with `numJitOptions`
    JIT and `numLibraryOptions` load settings as key/value lists, and return it.
    """


@libcuda(
    "CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *fileName, CUjit_option *jitOptions, "
    "void **jitOptionsValues, unsigned int numJitOptions, CUlibraryOption *libraryOptions, "
    "void **libraryOptionValues, unsigned int numLibraryOptions)",
    sizes={
        "jitOptions": "numJitOptions",
        "jitOptionsValues": "numJitOptions",
        "libraryOptions": "numLibraryOptions",
        "libraryOptionValues": "numLibraryOptions",
    },
    keeps=("jitOptionsValues",),
)
def cuLibraryLoadFromFile(
    fileName: bytes | None,
    jitOptions: Sequence[CUjit_option | int] | None,
    jitOptionsValues: void_pp,
    numJitOptions: int,
    libraryOptions: Sequence[CUlibraryOption | int] | None,
    libraryOptionValues: void_pp,
    numLibraryOptions: int,
) -> tuple[CUresult, CUlibrary]:
    """Load a context-independent library from the file `fileName`, with `numJitOptions` JIT and
    `numLibraryOptions` load settings as key/value lists, and return it.
    """


@libcuda("CUresult cuLibraryUnload(CUlibrary library)", frees="library")
def cuLibraryUnload(library: CUlibrary | int | None) -> tuple[CUresult]:
    """Unload `library` from every context; kernels and globals taken from it become invalid."""


@libcuda("CUresult cuLibraryGetKernel(CUkernel *pKernel, CUlibrary library, const char *name)")
def cuLibraryGetKernel(library: CUlibrary | int | None, name: bytes | None) -> tuple[CUresult, CUkernel]:
    """Return the kernel called `name` in `library`; a missing name fails with CUDA_ERROR_NOT_FOUND."""


@libcuda("CUresult cuLibraryGetKernelCount(unsigned int *count, CUlibrary lib)", since="12.4")
def cuLibraryGetKernelCount(lib: CUlibrary | int | None) -> tuple[CUresult, int]:
    """Return the number of kernels that library `lib` holds."""


@libcuda(
    "CUresult cuLibraryEnumerateKernels(CUkernel *kernels, unsigned int numKernels, CUlibrary lib)",
    sizes={"kernels": "numKernels"},
    since="12.4",
)
def cuLibraryEnumerateKernels(
    numKernels: int, lib: CUlibrary | int | None
) -> tuple[CUresult, list[CUkernel]]:
    """Return at most `numKernels` handles of the kernels inside library `lib`, as a list."""


@libcuda("CUresult cuLibraryGetModule(CUmodule *pMod, CUlibrary library)")
def cuLibraryGetModule(library: CUlibrary | int | None) -> tuple[CUresult, CUmodule]:
    """Return the module that stands for `library` in the current context, loading it there if it is not
    loaded yet.
    """


@libcuda("CUresult cuKernelGetFunction(CUfunction *pFunc, CUkernel kernel)")
def cuKernelGetFunction(kernel: CUkernel | int | None) -> tuple[CUresult, CUfunction]:
    """Return the function handle of `kernel` for the current context, loading it there if it is not loaded
    yet.
    """


@libcuda("CUresult cuKernelGetLibrary(CUlibrary *pLib, CUkernel kernel)", since="12.5")
def cuKernelGetLibrary(kernel: CUkernel | int | None) -> tuple[CUresult, CUlibrary]:
    """Return the library that `kernel` was taken from."""


@libcuda("CUresult cuLibraryGetGlobal(CUdeviceptr *dptr, size_t *bytes, CUlibrary library, const char *name)")
def cuLibraryGetGlobal(
    library: CUlibrary | int | None, name: bytes | None
) -> tuple[CUresult, CUdeviceptr, int]:
    """Return the device address, in the current context, and the size in bytes of the global variable `name`
    of `library`.
    """


@libcuda(
    "CUresult cuLibraryGetManaged(CUdeviceptr *dptr, size_t *bytes, CUlibrary library, const char *name)"
)
def cuLibraryGetManaged(
    library: CUlibrary | int | None, name: bytes | None
) -> tuple[CUresult, CUdeviceptr, int]:
    """Return the address and the size in bytes of the managed variable `name` of `library`; the address
    serves all devices.
    """


@libcuda("CUresult cuLibraryGetUnifiedFunction(void **fptr, CUlibrary library, const char *symbol)")
def cuLibraryGetUnifiedFunction(
    library: CUlibrary | int | None, symbol: bytes | None
) -> tuple[CUresult, int]:
    """Return the address of the unified function `symbol` of `library`; CUDA_ERROR_NOT_FOUND if it is
    missing or no device supports unified function pointers.
    """


@libcuda("CUresult cuKernelGetAttribute(int *pi, CUfunction_attribute attrib, CUkernel kernel, CUdevice dev)")
def cuKernelGetAttribute(
    attrib: CUfunction_attribute | int, kernel: CUkernel | int | None, dev: CUdevice | int
) -> tuple[CUresult, int]:
    """Return the value of property `attrib` (such as register count or shared memory bytes) of `kernel` on
    device `dev`.
    """


@libcuda("CUresult cuKernelSetAttribute(CUfunction_attribute attrib, int val, CUkernel kernel, CUdevice dev)")
def cuKernelSetAttribute(
    attrib: CUfunction_attribute | int, val: int, kernel: CUkernel | int | None, dev: CUdevice | int
) -> tuple[CUresult]:
    """Set the writable property `attrib` of `kernel` on device `dev` to `val`, for example its dynamic
    shared memory ceiling in bytes.
    """


@libcuda("CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice dev)")
def cuKernelSetCacheConfig(
    kernel: CUkernel | int | None, config: CUfunc_cache | int, dev: CUdevice | int
) -> tuple[CUresult]:
    """Set the L1 versus shared memory preference `config` of `kernel` on device `dev`, for all contexts
    there; the driver treats it as a hint.
    """


@libcuda("CUresult cuKernelGetName(const char **name, CUkernel hfunc)", since="12.3")
def cuKernelGetName(hfunc: CUkernel | int | None) -> tuple[CUresult, bytes]:
    """Return the name of kernel `hfunc`, mangled unless it was declared with C linkage; the text is good
    while its library stays loaded.
    """


@libcuda(
    "CUresult cuKernelGetParamInfo(CUkernel kernel, size_t paramIndex, size_t *paramOffset, "
    "size_t *paramSize)",
    since="12.4",
)
def cuKernelGetParamInfo(kernel: CUkernel | int | None, paramIndex: int) -> tuple[CUresult, int, int]:
    """Return the byte offset and the byte size of argument number `paramIndex` (from 0) in the parameter
    layout of `kernel`.
    """


@libcuda("CUresult cuKernelGetParamCount(CUkernel kernel, size_t *paramCount)", since="13.2")
def cuKernelGetParamCount(kernel: CUkernel | int | None) -> tuple[CUresult, int]:
    """Return the number of parameters that `kernel` takes."""


# -- Memory Management -----------------------------------------------------------------------------------


@libcuda("CUresult cuMemGetInfo_v2(size_t *free, size_t *total)")
def cuMemGetInfo() -> tuple[CUresult, int, int]:
    """Return the free and the total memory, both in bytes, of the device of the current context."""


cuMemGetInfo_v2 = cuMemGetInfo


@libcuda("CUresult cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize)")
def cuMemAlloc(bytesize: int) -> tuple[CUresult, CUdeviceptr]:
    """Allocate `bytesize` bytes of device memory and return the address; contents start undefined and a size
    of 0 is an error.
    """


cuMemAlloc_v2 = cuMemAlloc


@libcuda(
    "CUresult cuMemAllocPitch_v2(CUdeviceptr *dptr, size_t *pPitch, size_t WidthInBytes, size_t Height, "
    "unsigned int ElementSizeBytes)"
)
def cuMemAllocPitch(
    WidthInBytes: int, Height: int, ElementSizeBytes: int
) -> tuple[CUresult, CUdeviceptr, int]:
    """Allocate `Height` rows of at least `WidthInBytes` bytes each, padded for accesses of
    `ElementSizeBytes` (4, 8 or 16); return the address and the row pitch in bytes.
    """


cuMemAllocPitch_v2 = cuMemAllocPitch


@libcuda("CUresult cuMemFree_v2(CUdeviceptr dptr)")
def cuMemFree(dptr: CUdeviceptr | int) -> tuple[CUresult]:
    """Free the device memory at `dptr`, an address that `cuMemAlloc`, `cuMemAllocPitch`, `cuMemAllocManaged`
    or a stream-ordered allocation returned.
    """


cuMemFree_v2 = cuMemFree


@libcuda("CUresult cuMemGetAddressRange_v2(CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr)")
def cuMemGetAddressRange(dptr: CUdeviceptr | int) -> tuple[CUresult, CUdeviceptr, int]:
    """Return the start address and the size in bytes of the allocation in which `dptr` lies."""


cuMemGetAddressRange_v2 = cuMemGetAddressRange


@libcuda("CUresult cuMemAllocHost_v2(void **pp, size_t bytesize)")
def cuMemAllocHost(bytesize: int) -> tuple[CUresult, int]:
    """Allocate `bytesize` bytes of page-locked host memory that the device can reach, and return the
    address.
    """


cuMemAllocHost_v2 = cuMemAllocHost


@libcuda("CUresult cuMemFreeHost(void *p)")
def cuMemFreeHost(p: void_p) -> tuple[CUresult]:
    """Free the page-locked host memory at `p`, obtained from `cuMemAllocHost` or `cuMemHostAlloc`."""


@libcuda("CUresult cuMemHostAlloc(void **pp, size_t bytesize, unsigned int Flags)")
def cuMemHostAlloc(bytesize: int, Flags: int) -> tuple[CUresult, int]:
    """Allocate `bytesize` bytes of page-locked host memory and return the address; `Flags` combines
    CU_MEMHOSTALLOC_PORTABLE, _DEVICEMAP and _WRITECOMBINED, or is 0.
    """


@libcuda("CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *pdptr, void *p, unsigned int Flags)")
def cuMemHostGetDevicePointer(p: void_p, Flags: int) -> tuple[CUresult, CUdeviceptr]:
    """Return the device address at which the mapped, page-locked host memory `p` can be reached; `Flags`
    must be 0.
    """


cuMemHostGetDevicePointer_v2 = cuMemHostGetDevicePointer


@libcuda("CUresult cuMemHostGetFlags(unsigned int *pFlags, void *p)")
def cuMemHostGetFlags(p: void_p) -> tuple[CUresult, int]:
    """Return the flag bits with which the page-locked host memory at `p` was allocated."""


@libcuda("CUresult cuMemAllocManaged(CUdeviceptr *dptr, size_t bytesize, unsigned int flags)")
def cuMemAllocManaged(bytesize: int, flags: int) -> tuple[CUresult, CUdeviceptr]:
    """Allocate `bytesize` bytes of managed memory usable by host and device, and return the address; `flags`
    is CU_MEM_ATTACH_GLOBAL or CU_MEM_ATTACH_HOST.
    """


@libcuda(
    "CUresult cuDeviceRegisterAsyncNotification(CUdevice device, CUasyncCallback callbackFunc, "
    "void *userData, CUasyncCallbackHandle *callback)",
    since="12.4",
)
def cuDeviceRegisterAsyncNotification(
    device: CUdevice | int, callbackFunc: Any, userData: void_p
) -> tuple[CUresult, CUasyncCallbackHandle]:
    """Have the driver call `callbackFunc`, with `userData`, on asynchronous events of `device`, and return a
    handle for unregistering; the callback must return within milliseconds.
    """


@libcuda(
    "CUresult cuDeviceUnregisterAsyncNotification(CUdevice device, CUasyncCallbackHandle callback)",
    since="12.4",
)
def cuDeviceUnregisterAsyncNotification(
    device: CUdevice | int, callback: CUasyncCallbackHandle | int | None
) -> tuple[CUresult]:
    """Stop notifications of `device` from reaching the registration `callback`, a handle that
    `cuDeviceRegisterAsyncNotification` returned.
    """


@libcuda("CUresult cuDeviceGetByPCIBusId(CUdevice *dev, const char *pciBusId)")
def cuDeviceGetByPCIBusId(pciBusId: bytes | None) -> tuple[CUresult, CUdevice]:
    """Return the device at PCI address `pciBusId`, text of hexadecimal fields like
    domain:bus:device.function (domain and function may be left out).
    """


@libcuda("CUresult cuDeviceGetPCIBusId(char *pciBusId, int len, CUdevice dev)", sizes={"pciBusId": "len"})
def cuDeviceGetPCIBusId(length: int, dev: CUdevice | int) -> tuple[CUresult, bytes]:
    """Return the PCI address of `dev` as text like domain:bus:device.function; `length` is the buffer size
    in bytes and should be 13 or more.
    """


@libcuda("CUresult cuIpcGetEventHandle(CUipcEventHandle *pHandle, CUevent event)")
def cuIpcGetEventHandle(event: CUevent | int | None) -> tuple[CUresult, CUipcEventHandle]:
    """Return a 64-byte handle with which another process can open `event`, which must have been created for
    interprocess use with timing disabled.
    """


@libcuda("CUresult cuIpcOpenEventHandle(CUevent *phEvent, CUipcEventHandle handle)")
def cuIpcOpenEventHandle(handle: CUipcEventHandle) -> tuple[CUresult, CUevent]:
    """Return a local event for the `handle` that another process exported with `cuIpcGetEventHandle`; free
    it with `cuEventDestroy`.
    """


@libcuda("CUresult cuIpcGetMemHandle(CUipcMemHandle *pHandle, CUdeviceptr dptr)")
def cuIpcGetMemHandle(dptr: CUdeviceptr | int) -> tuple[CUresult, CUipcMemHandle]:
    """Return a 64-byte handle with which another process can map the device allocation that begins at
    `dptr`.
    """


@libcuda("CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int Flags)")
def cuIpcOpenMemHandle(handle: CUipcMemHandle, Flags: int) -> tuple[CUresult, CUdeviceptr]:
    """Map memory exported by another process through `handle` and return a local device address; `Flags` is
    CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS.
    """


cuIpcOpenMemHandle_v2 = cuIpcOpenMemHandle


@libcuda("CUresult cuIpcCloseMemHandle(CUdeviceptr dptr)")
def cuIpcCloseMemHandle(dptr: CUdeviceptr | int) -> tuple[CUresult]:
    """Drop one reference to the mapping at `dptr` made by `cuIpcOpenMemHandle`, unmapping at zero; the
    exporter's memory is not touched.
    """


@libcuda(
    "CUresult cuMemHostRegister_v2(void *p, size_t bytesize, unsigned int Flags)",
    sizes={"p": "bytesize"},
)
def cuMemHostRegister(p: void_p, bytesize: int, Flags: int) -> tuple[CUresult]:
    """Page-lock the `bytesize` bytes of existing host memory at `p`; `Flags` combines
    CU_MEMHOSTREGISTER_PORTABLE, _DEVICEMAP, _IOMEMORY and _READ_ONLY, or is 0.
    """


cuMemHostRegister_v2 = cuMemHostRegister


@libcuda("CUresult cuMemHostUnregister(void *p)")
def cuMemHostUnregister(p: void_p) -> tuple[CUresult]:
    """Undo `cuMemHostRegister` for the range starting at `p`, so that its pages can be swapped again."""


@libcuda("CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount)")
def cuMemcpy(dst: CUdeviceptr | int, src: CUdeviceptr | int, ByteCount: int) -> tuple[CUresult]:
    """Copy `ByteCount` bytes from `src` to `dst`, inferring from the unified addresses whether each is host
    or device memory.
    """


@libcuda(
    "CUresult cuMemcpyPeer(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, "
    "CUcontext srcContext, size_t ByteCount)"
)
def cuMemcpyPeer(
    dstDevice: CUdeviceptr | int,
    dstContext: CUcontext | int | None,
    srcDevice: CUdeviceptr | int,
    srcContext: CUcontext | int | None,
    ByteCount: int,
) -> tuple[CUresult]:
    """Copy `ByteCount` bytes from `srcDevice` in context `srcContext` to `dstDevice` in context
    `dstContext`.
    """


@libcuda(
    "CUresult cuMemcpyHtoD_v2(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount)",
    sizes={"srcHost": "ByteCount"},
)
def cuMemcpyHtoD(dstDevice: CUdeviceptr | int, srcHost: void_p, ByteCount: int) -> tuple[CUresult]:
    """Copy `ByteCount` bytes from host buffer `srcHost` to device address `dstDevice`."""


cuMemcpyHtoD_v2 = cuMemcpyHtoD


@libcuda(
    "CUresult cuMemcpyDtoH_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount)",
    sizes={"dstHost": "ByteCount"},
)
def cuMemcpyDtoH(dstHost: void_p, srcDevice: CUdeviceptr | int, ByteCount: int) -> tuple[CUresult]:
    """Copy `ByteCount` bytes from device address `srcDevice` into host buffer `dstHost`."""


cuMemcpyDtoH_v2 = cuMemcpyDtoH


@libcuda("CUresult cuMemcpyDtoD_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount)")
def cuMemcpyDtoD(
    dstDevice: CUdeviceptr | int, srcDevice: CUdeviceptr | int, ByteCount: int
) -> tuple[CUresult]:
    """Copy `ByteCount` bytes from device address `srcDevice` to device address `dstDevice` on the current
    device.
    """


cuMemcpyDtoD_v2 = cuMemcpyDtoD


@libcuda(
    "CUresult cuMemcpyDtoA_v2(CUarray dstArray, size_t dstOffset, CUdeviceptr srcDevice, size_t ByteCount)"
)
def cuMemcpyDtoA(
    dstArray: CUarray | int | None, dstOffset: int, srcDevice: CUdeviceptr | int, ByteCount: int
) -> tuple[CUresult]:
    """Copy `ByteCount` bytes from device address `srcDevice` into the 1D CUDA array `dstArray`, starting
    `dstOffset` bytes in.
    """


cuMemcpyDtoA_v2 = cuMemcpyDtoA


@libcuda(
    "CUresult cuMemcpyAtoD_v2(CUdeviceptr dstDevice, CUarray srcArray, size_t srcOffset, size_t ByteCount)"
)
def cuMemcpyAtoD(
    dstDevice: CUdeviceptr | int, srcArray: CUarray | int | None, srcOffset: int, ByteCount: int
) -> tuple[CUresult]:
    """Copy `ByteCount` bytes of the 1D CUDA array `srcArray`, starting `srcOffset` bytes in, to device
    address `dstDevice`.
    """


cuMemcpyAtoD_v2 = cuMemcpyAtoD


@libcuda(
    "CUresult cuMemcpyHtoA_v2(CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount)",
    sizes={"srcHost": "ByteCount"},
)
def cuMemcpyHtoA(
    dstArray: CUarray | int | None, dstOffset: int, srcHost: void_p, ByteCount: int
) -> tuple[CUresult]:
    """Copy `ByteCount` bytes from host buffer `srcHost` into the 1D CUDA array `dstArray`, starting
    `dstOffset` bytes in.
    """


cuMemcpyHtoA_v2 = cuMemcpyHtoA


@libcuda(
    "CUresult cuMemcpyAtoH_v2(void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount)",
    sizes={"dstHost": "ByteCount"},
)
def cuMemcpyAtoH(
    dstHost: void_p, srcArray: CUarray | int | None, srcOffset: int, ByteCount: int
) -> tuple[CUresult]:
    """Copy `ByteCount` bytes of the 1D CUDA array `srcArray`, starting `srcOffset` bytes in, to host buffer
    `dstHost`.
    """


cuMemcpyAtoH_v2 = cuMemcpyAtoH


@libcuda(
    "CUresult cuMemcpyAtoA_v2(CUarray dstArray, size_t dstOffset, CUarray srcArray, size_t srcOffset, "
    "size_t ByteCount)"
)
def cuMemcpyAtoA(
    dstArray: CUarray | int | None,
    dstOffset: int,
    srcArray: CUarray | int | None,
    srcOffset: int,
    ByteCount: int,
) -> tuple[CUresult]:
    """Copy `ByteCount` bytes between 1D CUDA arrays, from `srcOffset` bytes into `srcArray` to `dstOffset`
    bytes into `dstArray`; element sizes must match.
    """


cuMemcpyAtoA_v2 = cuMemcpyAtoA


@libcuda("CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *pCopy)")
def cuMemcpy2D(pCopy: CUDA_MEMCPY2D | None) -> tuple[CUresult]:
    """Copy the rectangle that `pCopy` describes (memory kinds, byte offsets, pitches, width in bytes, rows)
    between host, device and CUDA array memory.
    """


cuMemcpy2D_v2 = cuMemcpy2D


@libcuda("CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *pCopy)")
def cuMemcpy2DUnaligned(pCopy: CUDA_MEMCPY2D | None) -> tuple[CUresult]:
    """Copy a rectangle as `cuMemcpy2D` does with `pCopy`, but accept pitches that did not come from
    `cuMemAllocPitch`, maybe more slowly.
    """


cuMemcpy2DUnaligned_v2 = cuMemcpy2DUnaligned


@libcuda("CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D *pCopy)")
def cuMemcpy3D(pCopy: CUDA_MEMCPY3D | None) -> tuple[CUresult]:
    """Copy the box that `pCopy` describes (width in bytes, height in rows, depth in slices) between host,
    device and CUDA array memory.
    """


cuMemcpy3D_v2 = cuMemcpy3D


@libcuda("CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *pCopy)")
def cuMemcpy3DPeer(pCopy: CUDA_MEMCPY3D_PEER | None) -> tuple[CUresult]:
    """Copy the box that `pCopy` describes from memory of one context to memory of another."""


@libcuda("CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream)")
def cuMemcpyAsync(
    dst: CUdeviceptr | int, src: CUdeviceptr | int, ByteCount: int, hStream: CUstream | int | None
) -> tuple[CUresult]:
    """Queue in `hStream` a copy of `ByteCount` bytes from `src` to `dst`, inferring host or device from the
    addresses.
    """


@libcuda(
    "CUresult cuMemcpyPeerAsync(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, "
    "CUcontext srcContext, size_t ByteCount, CUstream hStream)"
)
def cuMemcpyPeerAsync(
    dstDevice: CUdeviceptr | int,
    dstContext: CUcontext | int | None,
    srcDevice: CUdeviceptr | int,
    srcContext: CUcontext | int | None,
    ByteCount: int,
    hStream: CUstream | int | None,
) -> tuple[CUresult]:
    """Queue in `hStream` a copy of `ByteCount` bytes from `srcDevice` in `srcContext` to `dstDevice` in
    `dstContext`.
    """


@libcuda(
    "CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount, "
    "CUstream hStream)",
    sizes={"srcHost": "ByteCount"},
)
def cuMemcpyHtoDAsync(
    dstDevice: CUdeviceptr | int, srcHost: void_p, ByteCount: int, hStream: CUstream | int | None
) -> tuple[CUresult]:
    """Queue in `hStream` a copy of `ByteCount` bytes from host buffer `srcHost` to device address
    `dstDevice`; keep the buffer valid until it has run.
    """


cuMemcpyHtoDAsync_v2 = cuMemcpyHtoDAsync


@libcuda(
    "CUresult cuMemcpyDtoHAsync_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream)",
    sizes={"dstHost": "ByteCount"},
)
def cuMemcpyDtoHAsync(
    dstHost: void_p, srcDevice: CUdeviceptr | int, ByteCount: int, hStream: CUstream | int | None
) -> tuple[CUresult]:
    """Queue in `hStream` a copy of `ByteCount` bytes from device address `srcDevice` into host buffer
    `dstHost`; the data is there only after the stream gets past it.
    """


cuMemcpyDtoHAsync_v2 = cuMemcpyDtoHAsync


@libcuda(
    "CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount, "
    "CUstream hStream)"
)
def cuMemcpyDtoDAsync(
    dstDevice: CUdeviceptr | int, srcDevice: CUdeviceptr | int, ByteCount: int, hStream: CUstream | int | None
) -> tuple[CUresult]:
    """Queue in `hStream` a copy of `ByteCount` bytes from device address `srcDevice` to device address
    `dstDevice`.
    """


cuMemcpyDtoDAsync_v2 = cuMemcpyDtoDAsync


@libcuda(
    "CUresult cuMemcpyHtoAAsync_v2(CUarray dstArray, size_t dstOffset, const void *srcHost, "
    "size_t ByteCount, CUstream hStream)",
    sizes={"srcHost": "ByteCount"},
)
def cuMemcpyHtoAAsync(
    dstArray: CUarray | int | None,
    dstOffset: int,
    srcHost: void_p,
    ByteCount: int,
    hStream: CUstream | int | None,
) -> tuple[CUresult]:
    """Queue in `hStream` a copy of `ByteCount` bytes from host buffer `srcHost` to `dstOffset` bytes into
    the 1D CUDA array `dstArray`.
    """


cuMemcpyHtoAAsync_v2 = cuMemcpyHtoAAsync


@libcuda(
    "CUresult cuMemcpyAtoHAsync_v2(void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount, "
    "CUstream hStream)",
    sizes={"dstHost": "ByteCount"},
)
def cuMemcpyAtoHAsync(
    dstHost: void_p,
    srcArray: CUarray | int | None,
    srcOffset: int,
    ByteCount: int,
    hStream: CUstream | int | None,
) -> tuple[CUresult]:
    """Queue in `hStream` a copy of `ByteCount` bytes from `srcOffset` bytes into the 1D CUDA array
    `srcArray` to host buffer `dstHost`.
    """


cuMemcpyAtoHAsync_v2 = cuMemcpyAtoHAsync


@libcuda("CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *pCopy, CUstream hStream)")
def cuMemcpy2DAsync(pCopy: CUDA_MEMCPY2D | None, hStream: CUstream | int | None) -> tuple[CUresult]:
    """Queue in `hStream` the rectangle copy that `pCopy` describes; its width and pitches are in bytes."""


cuMemcpy2DAsync_v2 = cuMemcpy2DAsync


@libcuda("CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *pCopy, CUstream hStream)")
def cuMemcpy3DAsync(pCopy: CUDA_MEMCPY3D | None, hStream: CUstream | int | None) -> tuple[CUresult]:
    """Queue in `hStream` the box copy that `pCopy` describes; width is in bytes, height in rows, depth in
    slices.
    """


cuMemcpy3DAsync_v2 = cuMemcpy3DAsync


@libcuda("CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *pCopy, CUstream hStream)")
def cuMemcpy3DPeerAsync(pCopy: CUDA_MEMCPY3D_PEER | None, hStream: CUstream | int | None) -> tuple[CUresult]:
    """Queue in `hStream` the box copy between two contexts that `pCopy` describes."""


@libcuda(
    "CUresult cuMemcpyBatchAsync(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count, "
    "CUmemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs, size_t *failIdx, CUstream hStream)",
    sizes={"dsts": "count", "srcs": "count", "sizes": "count", "attrs": "numAttrs", "attrsIdxs": "numAttrs"},
    since="12.8",
)
def _cuMemcpyBatchAsync_12(
    dsts: Sequence[CUdeviceptr | int] | None,
    srcs: Sequence[CUdeviceptr | int] | None,
    sizes: Sequence[int] | None,
    count: int,
    attrs: Sequence[CUmemcpyAttributes] | None,
    attrsIdxs: Sequence[int] | None,
    numAttrs: int,
    hStream: CUstream | int | None,
) -> tuple[CUresult, int]: ...


@libcuda(
    "CUresult cuMemcpyBatchAsync_v2(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count, "
    "CUmemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs, CUstream hStream)",
    sizes={"dsts": "count", "srcs": "count", "sizes": "count", "attrs": "numAttrs", "attrsIdxs": "numAttrs"},
    since="13.0",
)
def cuMemcpyBatchAsync_v2(
    dsts: Sequence[CUdeviceptr | int] | None,
    srcs: Sequence[CUdeviceptr | int] | None,
    sizes: Sequence[int] | None,
    count: int,
    attrs: Sequence[CUmemcpyAttributes] | None,
    attrsIdxs: Sequence[int] | None,
    numAttrs: int,
    hStream: CUstream | int | None,
) -> tuple[CUresult]:
    """Queue `count` copies of `sizes`[i] bytes from `srcs`[i] to `dsts`[i]; each of the `numAttrs` entries
    of `attrs` holds from copy `attrsIdxs`[k] on. `hStream` may not be the legacy default stream.
    """


def cuMemcpyBatchAsync(
    dsts: Sequence[CUdeviceptr | int] | None,
    srcs: Sequence[CUdeviceptr | int] | None,
    sizes: Sequence[int] | None,
    count: int,
    attrs: Sequence[CUmemcpyAttributes] | None,
    attrsIdxs: Sequence[int] | None,
    numAttrs: int,
    hStream: CUstream | int | None,
) -> tuple[CUresult]:
    """As `cuMemcpyBatchAsync_v2`, on drivers of CUDA 12.8 and 12.9 too."""
    try:
        return cuMemcpyBatchAsync_v2(dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, hStream)
    except SymbolNotFound:
        return _cuMemcpyBatchAsync_12(dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, hStream)[:1]


@libcuda(
    "CUresult cuMemcpy3DBatchAsync(size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList, size_t *failIdx, "
    "unsigned long long flags, CUstream hStream)",
    sizes={"opList": "numOps"},
    since="12.8",
)
def _cuMemcpy3DBatchAsync_12(
    numOps: int, opList: Sequence[CUDA_MEMCPY3D_BATCH_OP] | None, flags: int, hStream: CUstream | int | None
) -> tuple[CUresult, int]: ...


@libcuda(
    "CUresult cuMemcpy3DBatchAsync_v2(size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList, "
    "unsigned long long flags, CUstream hStream)",
    sizes={"opList": "numOps"},
    since="13.0",
)
def cuMemcpy3DBatchAsync_v2(
    numOps: int, opList: Sequence[CUDA_MEMCPY3D_BATCH_OP] | None, flags: int, hStream: CUstream | int | None
) -> tuple[CUresult]:
    """Queue the `numOps` box copies of `opList` in `hStream`, in no set order among them; `flags` must be 0
    and `hStream` may not be the default NULL stream.
    """


def cuMemcpy3DBatchAsync(
    numOps: int, opList: Sequence[CUDA_MEMCPY3D_BATCH_OP] | None, flags: int, hStream: CUstream | int | None
) -> tuple[CUresult]:
    """As `cuMemcpy3DBatchAsync_v2`, on drivers of CUDA 12.8 and 12.9 too."""
    try:
        return cuMemcpy3DBatchAsync_v2(numOps, opList, flags, hStream)
    except SymbolNotFound:
        return _cuMemcpy3DBatchAsync_12(numOps, opList, flags, hStream)[:1]


@libcuda(
    "CUresult cuMemcpyWithAttributesAsync(CUdeviceptr dst, CUdeviceptr src, size_t size, "
    "CUmemcpyAttributes *attr, CUstream hStream)",
    since="13.2",
)
def cuMemcpyWithAttributesAsync(
    dst: CUdeviceptr | int,
    src: CUdeviceptr | int,
    size: int,
    attr: CUmemcpyAttributes | None,
    hStream: CUstream | int | None,
) -> tuple[CUresult]:
    """Queue in `hStream` one copy of `size` bytes from `src` to `dst` under the source-access order,
    location hints and flags of `attr`.
    """


@libcuda(
    "CUresult cuMemcpy3DWithAttributesAsync(CUDA_MEMCPY3D_BATCH_OP *op, unsigned long long flags, "
    "CUstream hStream)",
    since="13.2",
)
def cuMemcpy3DWithAttributesAsync(
    op: CUDA_MEMCPY3D_BATCH_OP | None, flags: int, hStream: CUstream | int | None
) -> tuple[CUresult]:
    """Queue in `hStream` the single box copy `op`, which carries its own access order and copy flags;
    `flags` must be 0.
    """


@libcuda("CUresult cuMemsetD8_v2(CUdeviceptr dstDevice, unsigned char uc, size_t N)")
def cuMemsetD8(dstDevice: CUdeviceptr | int, uc: int, N: int) -> tuple[CUresult]:
    """Fill `N` bytes at device address `dstDevice` with the 8-bit value `uc`."""


cuMemsetD8_v2 = cuMemsetD8


@libcuda("CUresult cuMemsetD16_v2(CUdeviceptr dstDevice, unsigned short us, size_t N)")
def cuMemsetD16(dstDevice: CUdeviceptr | int, us: int, N: int) -> tuple[CUresult]:
    """Fill `N` 16-bit elements at device address `dstDevice`, which must be 2-byte aligned, with `us`."""


cuMemsetD16_v2 = cuMemsetD16


@libcuda("CUresult cuMemsetD32_v2(CUdeviceptr dstDevice, unsigned int ui, size_t N)")
def cuMemsetD32(dstDevice: CUdeviceptr | int, ui: int, N: int) -> tuple[CUresult]:
    """Fill `N` 32-bit elements at device address `dstDevice`, which must be 4-byte aligned, with `ui`."""


cuMemsetD32_v2 = cuMemsetD32


@libcuda(
    "CUresult cuMemsetD2D8_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width, "
    "size_t Height)"
)
def cuMemsetD2D8(
    dstDevice: CUdeviceptr | int, dstPitch: int, uc: int, Width: int, Height: int
) -> tuple[CUresult]:
    """Fill `Height` rows of `Width` bytes at `dstDevice`, the rows `dstPitch` bytes apart, with the 8-bit
    value `uc`.
    """


cuMemsetD2D8_v2 = cuMemsetD2D8


@libcuda(
    "CUresult cuMemsetD2D16_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width, "
    "size_t Height)"
)
def cuMemsetD2D16(
    dstDevice: CUdeviceptr | int, dstPitch: int, us: int, Width: int, Height: int
) -> tuple[CUresult]:
    """Fill `Height` rows of `Width` 16-bit elements at `dstDevice`, the rows `dstPitch` bytes apart, with
    `us`; address and pitch must be 2-byte aligned.
    """


cuMemsetD2D16_v2 = cuMemsetD2D16


@libcuda(
    "CUresult cuMemsetD2D32_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width, "
    "size_t Height)"
)
def cuMemsetD2D32(
    dstDevice: CUdeviceptr | int, dstPitch: int, ui: int, Width: int, Height: int
) -> tuple[CUresult]:
    """Fill `Height` rows of `Width` 32-bit elements at `dstDevice`, the rows `dstPitch` bytes apart, with
    `ui`; address and pitch must be 4-byte aligned.
    """


cuMemsetD2D32_v2 = cuMemsetD2D32


@libcuda("CUresult cuMemsetD8Async(CUdeviceptr dstDevice, unsigned char uc, size_t N, CUstream hStream)")
def cuMemsetD8Async(
    dstDevice: CUdeviceptr | int, uc: int, N: int, hStream: CUstream | int | None
) -> tuple[CUresult]:
    """Queue in `hStream` a fill of `N` bytes at device address `dstDevice` with the 8-bit value `uc`."""


@libcuda("CUresult cuMemsetD16Async(CUdeviceptr dstDevice, unsigned short us, size_t N, CUstream hStream)")
def cuMemsetD16Async(
    dstDevice: CUdeviceptr | int, us: int, N: int, hStream: CUstream | int | None
) -> tuple[CUresult]:
    """Queue in `hStream` a fill of `N` 16-bit elements at `dstDevice`, which must be 2-byte aligned, with
    `us`.
    """


@libcuda("CUresult cuMemsetD32Async(CUdeviceptr dstDevice, unsigned int ui, size_t N, CUstream hStream)")
def cuMemsetD32Async(
    dstDevice: CUdeviceptr | int, ui: int, N: int, hStream: CUstream | int | None
) -> tuple[CUresult]:
    """Queue in `hStream` a fill of `N` 32-bit elements at `dstDevice`, which must be 4-byte aligned, with
    `ui`.
    """


@libcuda(
    "CUresult cuMemsetD2D8Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width, "
    "size_t Height, CUstream hStream)"
)
def cuMemsetD2D8Async(
    dstDevice: CUdeviceptr | int,
    dstPitch: int,
    uc: int,
    Width: int,
    Height: int,
    hStream: CUstream | int | None,
) -> tuple[CUresult]:
    """Queue in `hStream` a fill of `Height` rows of `Width` bytes at `dstDevice`, the rows `dstPitch` bytes
    apart, with `uc`.
    """


@libcuda(
    "CUresult cuMemsetD2D16Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width, "
    "size_t Height, CUstream hStream)"
)
def cuMemsetD2D16Async(
    dstDevice: CUdeviceptr | int,
    dstPitch: int,
    us: int,
    Width: int,
    Height: int,
    hStream: CUstream | int | None,
) -> tuple[CUresult]:
    """Queue in `hStream` a fill of `Height` rows of `Width` 16-bit elements at `dstDevice`, the rows
    `dstPitch` bytes apart, with `us`.
    """


@libcuda(
    "CUresult cuMemsetD2D32Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width, "
    "size_t Height, CUstream hStream)"
)
def cuMemsetD2D32Async(
    dstDevice: CUdeviceptr | int,
    dstPitch: int,
    ui: int,
    Width: int,
    Height: int,
    hStream: CUstream | int | None,
) -> tuple[CUresult]:
    """Queue in `hStream` a fill of `Height` rows of `Width` 32-bit elements at `dstDevice`, the rows
    `dstPitch` bytes apart, with `ui`.
    """


@libcuda("CUresult cuArrayCreate_v2(CUarray *pHandle, const CUDA_ARRAY_DESCRIPTOR *pAllocateArray)")
def cuArrayCreate(pAllocateArray: CUDA_ARRAY_DESCRIPTOR | None) -> tuple[CUresult, CUarray]:
    """Create a 1D or 2D CUDA array shaped by `pAllocateArray` (sizes in elements, height 0 for 1D; format;
    1, 2 or 4 channels) and return it.
    """


cuArrayCreate_v2 = cuArrayCreate


@libcuda("CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *pArrayDescriptor, CUarray hArray)")
def cuArrayGetDescriptor(hArray: CUarray | int | None) -> tuple[CUresult, CUDA_ARRAY_DESCRIPTOR]:
    """Return the width, height, element format and channel count with which CUDA array `hArray` was created;
    3D arrays need `cuArray3DGetDescriptor`.
    """


cuArrayGetDescriptor_v2 = cuArrayGetDescriptor


@libcuda("CUresult cuArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES *sparseProperties, CUarray array)")
def cuArrayGetSparseProperties(array: CUarray | int | None) -> tuple[CUresult, CUDA_ARRAY_SPARSE_PROPERTIES]:
    """Return the tile extent, mip tail and layout flags of sparse CUDA array `array`, which must be created
    with CUDA_ARRAY3D_SPARSE.
    """


@libcuda(
    "CUresult cuMipmappedArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES *sparseProperties, "
    "CUmipmappedArray mipmap)"
)
def cuMipmappedArrayGetSparseProperties(
    mipmap: CUmipmappedArray | int | None,
) -> tuple[CUresult, CUDA_ARRAY_SPARSE_PROPERTIES]:
    """Return the tile extent, first mip tail level, mip tail size in bytes and layout flags of the sparse
    mipmapped array `mipmap`.
    """


@libcuda(
    "CUresult cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *memoryRequirements, "
    "CUarray array, CUdevice device)"
)
def cuArrayGetMemoryRequirements(
    array: CUarray | int | None, device: CUdevice | int
) -> tuple[CUresult, CUDA_ARRAY_MEMORY_REQUIREMENTS]:
    """Return the size and alignment, in bytes, of the memory to map behind the deferred-mapping CUDA array
    `array` on `device`.
    """


@libcuda(
    "CUresult cuMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *memoryRequirements, "
    "CUmipmappedArray mipmap, CUdevice device)"
)
def cuMipmappedArrayGetMemoryRequirements(
    mipmap: CUmipmappedArray | int | None, device: CUdevice | int
) -> tuple[CUresult, CUDA_ARRAY_MEMORY_REQUIREMENTS]:
    """Return the size and alignment, in bytes, of the memory to map behind the deferred-mapping mipmapped
    array `mipmap` on `device`.
    """


@libcuda("CUresult cuArrayGetPlane(CUarray *pPlaneArray, CUarray hArray, unsigned int planeIdx)")
def cuArrayGetPlane(hArray: CUarray | int | None, planeIdx: int) -> tuple[CUresult, CUarray]:
    """Return plane number `planeIdx` (from 0) of the multi-planar CUDA array `hArray`, such as the Y or UV
    plane of NV12, as an array of its own.
    """


@libcuda("CUresult cuArrayDestroy(CUarray hArray)")
def cuArrayDestroy(hArray: CUarray | int | None) -> tuple[CUresult]:
    """Destroy the CUDA array `hArray` and free its memory."""


@libcuda("CUresult cuArray3DCreate_v2(CUarray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR *pAllocateArray)")
def cuArray3DCreate(pAllocateArray: CUDA_ARRAY3D_DESCRIPTOR | None) -> tuple[CUresult, CUarray]:
    """Create a CUDA array of up to 3 dimensions, or a layered or cubemap one, shaped by `pAllocateArray`
    (extents in elements, 0 for unused ones) and return it.
    """


cuArray3DCreate_v2 = cuArray3DCreate


@libcuda("CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *pArrayDescriptor, CUarray hArray)")
def cuArray3DGetDescriptor(hArray: CUarray | int | None) -> tuple[CUresult, CUDA_ARRAY3D_DESCRIPTOR]:
    """Return the extents in elements, format, channel count and flags of CUDA array `hArray`; serves 1D and
    2D arrays as well.
    """


cuArray3DGetDescriptor_v2 = cuArray3DGetDescriptor


@libcuda(
    "CUresult cuMipmappedArrayCreate(CUmipmappedArray *pHandle, "
    "const CUDA_ARRAY3D_DESCRIPTOR *pMipmappedArrayDesc, unsigned int numMipmapLevels)"
)
def cuMipmappedArrayCreate(
    pMipmappedArrayDesc: CUDA_ARRAY3D_DESCRIPTOR | None, numMipmapLevels: int
) -> tuple[CUresult, CUmipmappedArray]:
    """Create a mipmapped array whose base level has the shape `pMipmappedArrayDesc`, with `numMipmapLevels`
    levels (clamped to what the extents allow), and return it.
    """


@libcuda(
    "CUresult cuMipmappedArrayGetLevel(CUarray *pLevelArray, CUmipmappedArray hMipmappedArray, "
    "unsigned int level)"
)
def cuMipmappedArrayGetLevel(
    hMipmappedArray: CUmipmappedArray | int | None, level: int
) -> tuple[CUresult, CUarray]:
    """Return the CUDA array for mip level `level` of `hMipmappedArray`; level 0 is the largest."""


@libcuda("CUresult cuMipmappedArrayDestroy(CUmipmappedArray hMipmappedArray)")
def cuMipmappedArrayDestroy(hMipmappedArray: CUmipmappedArray | int | None) -> tuple[CUresult]:
    """Destroy the mipmapped array `hMipmappedArray` along with the arrays of all its levels."""


@libcuda(
    "CUresult cuMemGetHandleForAddressRange(void *handle, CUdeviceptr dptr, size_t size, "
    "CUmemRangeHandleType handleType, unsigned long long flags)",
    variants={"handle": ("handleType", "RANGE_HANDLES")},
)
def cuMemGetHandleForAddressRange(
    dptr: CUdeviceptr | int, size: int, handleType: CUmemRangeHandleType | int, flags: int
) -> tuple[CUresult, Any]:
    """Return a handle of kind `handleType`, a dma-buf file descriptor, for the `size` bytes at `dptr`."""


@libcuda(
    "CUresult cuMemBatchDecompressAsync(CUmemDecompressParams *paramsArray, size_t count, "
    "unsigned int flags, size_t *errorIndex, CUstream stream)",
    sizes={"paramsArray": "count"},
    since="12.6",
)
def cuMemBatchDecompressAsync(
    paramsArray: Sequence[CUmemDecompressParams] | None, count: int, flags: int, stream: CUstream | int | None
) -> tuple[CUresult, int]:
    """Queue in `stream` the `count` decompressions of `paramsArray`, with `flags` 0; return the index of the
    entry that an error concerns, SIZE_MAX for a general one.
    """


# -- Virtual Memory Management ---------------------------------------------------------------------------


@libcuda(
    "CUresult cuMemAddressReserve(CUdeviceptr *ptr, size_t size, size_t alignment, CUdeviceptr addr, "
    "unsigned long long flags)"
)
def cuMemAddressReserve(
    size: int, alignment: int, addr: CUdeviceptr | int, flags: int
) -> tuple[CUresult, CUdeviceptr]:
    """Reserve `size` bytes of virtual address space and return the start; `alignment` 0 takes the default,
    `addr` is a hint (0 for none) and `flags` must be 0.
    """


@libcuda("CUresult cuMemAddressFree(CUdeviceptr ptr, size_t size)")
def cuMemAddressFree(ptr: CUdeviceptr | int, size: int) -> tuple[CUresult]:
    """Free the `size` bytes of address space at `ptr`, exactly as `cuMemAddressReserve` handed them
    out; unmap them first.
    """


@libcuda(
    "CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size, "
    "const CUmemAllocationProp *prop, unsigned long long flags)"
)
def cuMemCreate(
    size: int, prop: CUmemAllocationProp | None, flags: int
) -> tuple[CUresult, CUmemGenericAllocationHandle]:
    """Create a physical allocation of `size` bytes with the location and kind in `prop`, and return its
    handle; `size` must be a multiple of the granularity and `flags` 0.
    """


@libcuda("CUresult cuMemRelease(CUmemGenericAllocationHandle handle)")
def cuMemRelease(handle: CUmemGenericAllocationHandle | int) -> tuple[CUresult]:
    """Release one reference to allocation `handle`; the memory itself goes when no mapping or reference is
    left.
    """


@libcuda(
    "CUresult cuMemMap(CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle, "
    "unsigned long long flags)"
)
def cuMemMap(
    ptr: CUdeviceptr | int, size: int, offset: int, handle: CUmemGenericAllocationHandle | int, flags: int
) -> tuple[CUresult]:
    """Map `size` bytes of allocation `handle` at the reserved address `ptr`; `offset` and `flags` must be 0.
    Call `cuMemSetAccess` before use.
    """


@libcuda(
    "CUresult cuMemMapArrayAsync(CUarrayMapInfo *mapInfoList, unsigned int count, CUstream hStream)",
    sizes={"mapInfoList": "count"},
)
def cuMemMapArrayAsync(
    mapInfoList: Sequence[CUarrayMapInfo] | None, count: int, hStream: CUstream | int | None
) -> tuple[CUresult]:
    """Queue in `hStream` the `count` map or unmap operations of `mapInfoList` on parts of sparse or
    deferred-mapping CUDA arrays.
    """


@libcuda("CUresult cuMemUnmap(CUdeviceptr ptr, size_t size)")
def cuMemUnmap(ptr: CUdeviceptr | int, size: int) -> tuple[CUresult]:
    """Unmap the `size` bytes at `ptr`, which must cover whole `cuMemMap` mappings; the address range stays
    reserved.
    """


@libcuda(
    "CUresult cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc, size_t count)",
    sizes={"desc": "count"},
)
def cuMemSetAccess(
    ptr: CUdeviceptr | int, size: int, desc: Sequence[CUmemAccessDesc] | None, count: int
) -> tuple[CUresult]:
    """Set who may read or write the mapped `size` bytes at `ptr`, from the `count` location and access pairs
    in `desc`.
    """


@libcuda("CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr ptr)")
def cuMemGetAccess(location: CUmemLocation | None, ptr: CUdeviceptr | int) -> tuple[CUresult, int]:
    """Return the CUmemAccess_flags value that `location` has for the mapping at `ptr`."""


@libcuda(
    "CUresult cuMemExportToShareableHandle(void *shareableHandle, CUmemGenericAllocationHandle handle, "
    "CUmemAllocationHandleType handleType, unsigned long long flags)",
    variants={"shareableHandle": ("handleType", "SHAREABLE_HANDLES")},
)
def cuMemExportToShareableHandle(
    handle: CUmemGenericAllocationHandle | int, handleType: CUmemAllocationHandleType | int, flags: int
) -> tuple[CUresult, Any]:
    """Return a handle of kind `handleType` for the allocation `handle`: a file descriptor, a
    CUmemFabricHandle. `flags` must be 0.
    """


@libcuda(
    "CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *osHandle, "
    "CUmemAllocationHandleType shHandleType)"
)
def cuMemImportFromShareableHandle(
    osHandle: void_p, shHandleType: CUmemAllocationHandleType | int
) -> tuple[CUresult, CUmemGenericAllocationHandle]:
    """Return an allocation handle for memory that another process shared as `osHandle`, an OS handle of kind
    `shHandleType` (a descriptor is passed as the pointer value).
    """


@libcuda(
    "CUresult cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop, "
    "CUmemAllocationGranularity_flags option)"
)
def cuMemGetAllocationGranularity(
    prop: CUmemAllocationProp | None, option: CUmemAllocationGranularity_flags | int
) -> tuple[CUresult, int]:
    """Return the minimum or recommended (per `option`) granularity, in bytes, of allocations made with
    properties `prop`.
    """


@libcuda(
    "CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop, "
    "CUmemGenericAllocationHandle handle)"
)
def cuMemGetAllocationPropertiesFromHandle(
    handle: CUmemGenericAllocationHandle | int,
) -> tuple[CUresult, CUmemAllocationProp]:
    """Return the properties (kind, location, shareable types) with which allocation `handle` was created."""


@libcuda("CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *addr)")
def cuMemRetainAllocationHandle(addr: void_p) -> tuple[CUresult, CUmemGenericAllocationHandle]:
    """Return the allocation handle behind the mapped address `addr`, which may be anywhere in the mapping,
    with one more reference to drop by `cuMemRelease`.
    """


# -- Stream Ordered Memory Allocator ---------------------------------------------------------------------


@libcuda("CUresult cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream)")
def cuMemFreeAsync(dptr: CUdeviceptr | int, hStream: CUstream | int | None) -> tuple[CUresult]:
    """Queue in `hStream` the freeing of the memory at `dptr`, which is given back to its pool once earlier
    work in the stream is done.
    """


@libcuda("CUresult cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream hStream)")
def cuMemAllocAsync(bytesize: int, hStream: CUstream | int | None) -> tuple[CUresult, CUdeviceptr]:
    """Queue in `hStream` an allocation of `bytesize` bytes from the current pool of the stream's device and
    return the address, usable in stream order.
    """


@libcuda("CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep)")
def cuMemPoolTrimTo(pool: CUmemoryPool | int | None, minBytesToKeep: int) -> tuple[CUresult]:
    """Give unused memory of `pool` back to the system, as far as can be done, keeping at least
    `minBytesToKeep` bytes reserved.
    """


@libcuda(
    "CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value)",
    variants={"value": ("attr", "MEMPOOL_ATTRIBUTES")},
)
def cuMemPoolSetAttribute(
    pool: CUmemoryPool | int | None, attr: CUmemPool_attribute | int, value: Any
) -> tuple[CUresult]:
    """Set property `attr` of `pool` from `value`: a 64-bit byte count for thresholds and high-water marks
    (reset with 0), an int flag for the reuse policies.
    """


@libcuda(
    "CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value)",
    variants={"value": ("attr", "MEMPOOL_ATTRIBUTES")},
)
def cuMemPoolGetAttribute(
    pool: CUmemoryPool | int | None, attr: CUmemPool_attribute | int
) -> tuple[CUresult, Any]:
    """Return attribute `attr` of memory pool `pool`: a flag as an int, a size in bytes, an enum."""


@libcuda(
    "CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map, size_t count)",
    sizes={"map": "count"},
)
def cuMemPoolSetAccess(
    pool: CUmemoryPool | int | None, map: Sequence[CUmemAccessDesc] | None, count: int
) -> tuple[CUresult]:
    """Set which locations may read or write memory of `pool`, from the `count` descriptors in `map`; each
    pairs a location with its access.
    """


@libcuda(
    "CUresult cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool memPool, CUmemLocation *location)"
)
def cuMemPoolGetAccess(
    memPool: CUmemoryPool | int | None, location: CUmemLocation | None
) -> tuple[CUresult, CUmemAccess_flags]:
    """Return the access (none, read, or read and write) that `location` has to memory of `memPool`."""


@libcuda("CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *poolProps)")
def cuMemPoolCreate(poolProps: CUmemPoolProps | None) -> tuple[CUresult, CUmemoryPool]:
    """Create a memory pool with the allocation kind, location and shareable handle types of `poolProps` and
    return it.
    """


@libcuda("CUresult cuMemPoolDestroy(CUmemoryPool pool)")
def cuMemPoolDestroy(pool: CUmemoryPool | int | None) -> tuple[CUresult]:
    """Destroy `pool`; allocations still live stay valid until freed, and a device that used it goes back to
    its default pool.
    """


@libcuda(
    "CUresult cuMemGetDefaultMemPool(CUmemoryPool *pool_out, CUmemLocation *location, "
    "CUmemAllocationType type)",
    since="13.0",
)
def cuMemGetDefaultMemPool(
    location: CUmemLocation | None, typename: CUmemAllocationType | int
) -> tuple[CUresult, CUmemoryPool]:
    """Return the built-in pool that serves `location` for allocations of kind `typename` (pinned or
    managed); a location of kind NONE is valid only for managed memory.
    """


@libcuda(
    "CUresult cuMemGetMemPool(CUmemoryPool *pool, CUmemLocation *location, CUmemAllocationType type)",
    since="13.0",
)
def cuMemGetMemPool(
    location: CUmemLocation | None, typename: CUmemAllocationType | int
) -> tuple[CUresult, CUmemoryPool]:
    """Return the pool now in use for `location` and allocation kind `typename`, which is the default pool
    unless another has been set.
    """


@libcuda(
    "CUresult cuMemSetMemPool(CUmemLocation *location, CUmemAllocationType type, CUmemoryPool pool)",
    since="13.0",
)
def cuMemSetMemPool(
    location: CUmemLocation | None, typename: CUmemAllocationType | int, pool: CUmemoryPool | int | None
) -> tuple[CUresult]:
    """Make `pool` the one in use for `location` and allocation kind `typename`; both must match what the
    pool was created with.
    """


@libcuda(
    "CUresult cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool, "
    "CUstream hStream)"
)
def cuMemAllocFromPoolAsync(
    bytesize: int, pool: CUmemoryPool | int | None, hStream: CUstream | int | None
) -> tuple[CUresult, CUdeviceptr]:
    """Return the device address of `bytesize` bytes taken from `pool`, usable in stream order on `hStream`;
    the pool need not be on the device of the stream.
    """


@libcuda(
    "CUresult cuMemPoolExportToShareableHandle(void *handle_out, CUmemoryPool pool, "
    "CUmemAllocationHandleType handleType, unsigned long long flags)",
    variants={"handle_out": ("handleType", "SHAREABLE_HANDLES")},
)
def cuMemPoolExportToShareableHandle(
    pool: CUmemoryPool | int | None, handleType: CUmemAllocationHandleType | int, flags: int
) -> tuple[CUresult, Any]:
    """Return a handle of kind `handleType` for memory pool `pool`, such as a file descriptor; `flags` must
    be 0.
    """


@libcuda(
    "CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool *pool_out, void *handle, "
    "CUmemAllocationHandleType handleType, unsigned long long flags)"
)
def cuMemPoolImportFromShareableHandle(
    handle: void_p, handleType: CUmemAllocationHandleType | int, flags: int
) -> tuple[CUresult, CUmemoryPool]:
    """Return a pool opened from the OS `handle` of kind `handleType` that another process exported; the pool
    cannot allocate, only import pointers, and `flags` must be 0.
    """


@libcuda("CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData *shareData_out, CUdeviceptr ptr)")
def cuMemPoolExportPointer(ptr: CUdeviceptr | int) -> tuple[CUresult, CUmemPoolPtrExportData]:
    """Return an export record for the pool allocation at `ptr`, to be sent to a process that has imported
    the pool.
    """


@libcuda(
    "CUresult cuMemPoolImportPointer(CUdeviceptr *ptr_out, CUmemoryPool pool, "
    "CUmemPoolPtrExportData *shareData)"
)
def cuMemPoolImportPointer(
    pool: CUmemoryPool | int | None, shareData: CUmemPoolPtrExportData | None
) -> tuple[CUresult, CUdeviceptr]:
    """Return the address in this process of the allocation that `shareData` describes, taken from the
    imported `pool`; free it here before the exporter frees its own.
    """


# -- Multicast Object Management -------------------------------------------------------------------------


@libcuda(
    "CUresult cuMulticastCreate(CUmemGenericAllocationHandle *mcHandle, const CUmulticastObjectProp *prop)",
    since="12.1",
)
def cuMulticastCreate(prop: CUmulticastObjectProp | None) -> tuple[CUresult, CUmemGenericAllocationHandle]:
    """Create a multicast object with the byte size, device count and handle types given in `prop` and return
    its handle; devices are added to it before memory is bound.
    """


@libcuda("CUresult cuMulticastAddDevice(CUmemGenericAllocationHandle mcHandle, CUdevice dev)", since="12.1")
def cuMulticastAddDevice(
    mcHandle: CUmemGenericAllocationHandle | int, dev: CUdevice | int
) -> tuple[CUresult]:
    """Add device `dev` to the team of multicast object `mcHandle`; every device must join before any memory
    is bound.
    """


@libcuda(
    "CUresult cuMulticastBindMem(CUmemGenericAllocationHandle mcHandle, size_t mcOffset, "
    "CUmemGenericAllocationHandle memHandle, size_t memOffset, size_t size, unsigned long long flags)",
    since="12.1",
)
def cuMulticastBindMem(
    mcHandle: CUmemGenericAllocationHandle | int,
    mcOffset: int,
    memHandle: CUmemGenericAllocationHandle | int,
    memOffset: int,
    size: int,
    flags: int,
) -> tuple[CUresult]:
    """Bind `size` bytes of allocation `memHandle`, from byte `memOffset`, at byte `mcOffset` of multicast
    object `mcHandle`; align to its granularity and pass 0 for `flags`.
    """


@libcuda(
    "CUresult cuMulticastBindMem_v2(CUmemGenericAllocationHandle mcHandle, CUdevice dev, size_t mcOffset, "
    "CUmemGenericAllocationHandle memHandle, size_t memOffset, size_t size, unsigned long long flags)",
    since="13.1",
)
def cuMulticastBindMem_v2(
    mcHandle: CUmemGenericAllocationHandle | int,
    dev: CUdevice | int,
    mcOffset: int,
    memHandle: CUmemGenericAllocationHandle | int,
    memOffset: int,
    size: int,
    flags: int,
) -> tuple[CUresult]:
    """As `cuMulticastBindMem`, with `dev` naming the team device the binding is for, so that host NUMA
    memory closest to that device can be bound too; `flags` must be 0.
    """


@libcuda(
    "CUresult cuMulticastBindAddr(CUmemGenericAllocationHandle mcHandle, size_t mcOffset, "
    "CUdeviceptr memptr, size_t size, unsigned long long flags)",
    since="12.1",
)
def cuMulticastBindAddr(
    mcHandle: CUmemGenericAllocationHandle | int,
    mcOffset: int,
    memptr: CUdeviceptr | int,
    size: int,
    flags: int,
) -> tuple[CUresult]:
    """Bind the `size` bytes mapped at `memptr` at byte `mcOffset` of multicast object `mcHandle`; align to
    its granularity and pass 0 for `flags`.
    """


@libcuda(
    "CUresult cuMulticastBindAddr_v2(CUmemGenericAllocationHandle mcHandle, CUdevice dev, size_t mcOffset, "
    "CUdeviceptr memptr, size_t size, unsigned long long flags)",
    since="13.1",
)
def cuMulticastBindAddr_v2(
    mcHandle: CUmemGenericAllocationHandle | int,
    dev: CUdevice | int,
    mcOffset: int,
    memptr: CUdeviceptr | int,
    size: int,
    flags: int,
) -> tuple[CUresult]:
    """As `cuMulticastBindAddr`, with `dev` naming the team device the binding is for, so that host NUMA
    memory closest to that device can be bound too; `flags` must be 0.
    """


@libcuda(
    "CUresult cuMulticastUnbind(CUmemGenericAllocationHandle mcHandle, CUdevice dev, size_t mcOffset, "
    "size_t size)",
    since="12.1",
)
def cuMulticastUnbind(
    mcHandle: CUmemGenericAllocationHandle | int, dev: CUdevice | int, mcOffset: int, size: int
) -> tuple[CUresult]:
    """Remove what device `dev` has bound in the `size` bytes from `mcOffset` of multicast object `mcHandle`;
    the range must cover whole bindings.
    """


@libcuda(
    "CUresult cuMulticastGetGranularity(size_t *granularity, const CUmulticastObjectProp *prop, "
    "CUmulticastGranularity_flags option)",
    since="12.1",
)
def cuMulticastGetGranularity(
    prop: CUmulticastObjectProp | None, option: CUmulticastGranularity_flags | int
) -> tuple[CUresult, int]:
    """Return the byte alignment for sizes and offsets of a multicast object with properties `prop`; `option`
    selects the minimum or the recommended value.
    """


# -- Fabric Clique Information ---------------------------------------------------------------------------


@libcuda("CUresult cuDeviceGetFabricClusterUuid(CUuuid *uuid, CUdevice dev)", since="13.4")
def cuDeviceGetFabricClusterUuid(dev: CUdevice | int) -> tuple[CUresult, CUuuid]:
    """Return the UUID of the fabric cluster that device `dev` belongs to."""


@libcuda("CUresult cuDeviceGetCliqueCount(size_t *count, CUdevice dev)", since="13.4")
def cuDeviceGetCliqueCount(dev: CUdevice | int) -> tuple[CUresult, int]:
    """Return how many fabric cliques device `dev` is a member of."""


@libcuda(
    "CUresult cuDeviceGetCliqueInfo(CUcliqueInfo *cliqueInfo, size_t *count, CUdevice dev)",
    sizes={"cliqueInfo": "count"},
    since="13.4",
)
def cuDeviceGetCliqueInfo(count: int, dev: CUdevice | int) -> tuple[CUresult, list[CUcliqueInfo], int]:
    """Return up to `count` fabric cliques of `dev`, and how many it is in; 0 only asks for the number."""


# -- Logical Endpoint ------------------------------------------------------------------------------------


@libcuda("CUresult cuLogicalEndpointIdReserve(CUlogicalEndpointId *baseLeId, cuuint32_t count)", since="13.3")
def cuLogicalEndpointIdReserve(count: cuuint32_t | int) -> tuple[CUresult, CUlogicalEndpointId]:
    """Reserve `count` consecutive logical endpoint ids and return the first; the ids may then be used to
    create or import endpoints.
    """


@libcuda("CUresult cuLogicalEndpointIdRelease(CUlogicalEndpointId baseLeId, cuuint32_t count)", since="13.3")
def cuLogicalEndpointIdRelease(
    baseLeId: CUlogicalEndpointId | int, count: cuuint32_t | int
) -> tuple[CUresult]:
    """Release the `count` reserved logical endpoint ids from `baseLeId` on; their endpoints must already
    be destroyed.
    """


@libcuda(
    "CUresult cuLogicalEndpointCreate(CUlogicalEndpointId leId, const CUlogicalEndpointProp *prop)",
    since="13.3",
)
def cuLogicalEndpointCreate(
    leId: CUlogicalEndpointId | int, prop: CUlogicalEndpointProp | None
) -> tuple[CUresult]:
    """Create a unicast or multicast logical endpoint of the kind and byte size in `prop` under the reserved
    id `leId`; query it for readiness before binding memory.
    """


@libcuda("CUresult cuLogicalEndpointAddDevice(CUlogicalEndpointId leId, CUdevice dev)", since="13.3")
def cuLogicalEndpointAddDevice(leId: CUlogicalEndpointId | int, dev: CUdevice | int) -> tuple[CUresult]:
    """Add device `dev` for good to the team of multicast logical endpoint `leId`; all devices must join
    before memory is bound.
    """


@libcuda("CUresult cuLogicalEndpointDestroy(CUlogicalEndpointId leId)", since="13.3")
def cuLogicalEndpointDestroy(leId: CUlogicalEndpointId | int) -> tuple[CUresult]:
    """Detach id `leId` from its logical endpoint and unbind the memory this process bound; the last
    reference frees the endpoint itself.
    """


@libcuda(
    "CUresult cuLogicalEndpointBindAddr(CUlogicalEndpointId leId, CUdevice dev, cuuint64_t offset, "
    "void *ptr, cuuint64_t size, unsigned long long flags)",
    since="13.3",
)
def cuLogicalEndpointBindAddr(
    leId: CUlogicalEndpointId | int,
    dev: CUdevice | int,
    offset: cuuint64_t | int,
    ptr: void_p,
    size: cuuint64_t | int,
    flags: int,
) -> tuple[CUresult]:
    """Bind the `size` bytes mapped at `ptr` for device `dev` at byte `offset` of logical endpoint `leId`;
    all three are multiples of its bind alignment and `flags` is 0.
    """


@libcuda(
    "CUresult cuLogicalEndpointBindMem(CUlogicalEndpointId leId, CUdevice dev, cuuint64_t offset, "
    "CUmemGenericAllocationHandle memHandle, cuuint64_t memOffset, cuuint64_t size, "
    "unsigned long long flags)",
    since="13.3",
)
def cuLogicalEndpointBindMem(
    leId: CUlogicalEndpointId | int,
    dev: CUdevice | int,
    offset: cuuint64_t | int,
    memHandle: CUmemGenericAllocationHandle | int,
    memOffset: cuuint64_t | int,
    size: cuuint64_t | int,
    flags: int,
) -> tuple[CUresult]:
    """Bind `size` bytes of allocation `memHandle`, from byte `memOffset`, for device `dev` at byte `offset`
    of logical endpoint `leId`; `flags` must be 0.
    """


@libcuda(
    "CUresult cuLogicalEndpointUnbind(CUlogicalEndpointId leId, CUdevice dev, cuuint64_t offset, "
    "cuuint64_t size)",
    since="13.3",
)
def cuLogicalEndpointUnbind(
    leId: CUlogicalEndpointId | int, dev: CUdevice | int, offset: cuuint64_t | int, size: cuuint64_t | int
) -> tuple[CUresult]:
    """Remove what device `dev` has bound in the `size` bytes from `offset` of logical endpoint `leId`; the
    range must cover whole bindings.
    """


@libcuda(
    "CUresult cuLogicalEndpointExport(void *handle, CUlogicalEndpointId leId, "
    "CUlogicalEndpointIpcHandleType handleType)",
    variants={"handle": ("handleType", "ENDPOINT_HANDLES")},
    since="13.3",
)
def cuLogicalEndpointExport(
    leId: CUlogicalEndpointId | int, handleType: CUlogicalEndpointIpcHandleType | int
) -> tuple[CUresult, Any]:
    """Return a handle of kind `handleType` by which other processes can import endpoint `leId`."""


@libcuda(
    "CUresult cuLogicalEndpointImport(CUlogicalEndpointId leId, const void *handle, "
    "CUlogicalEndpointIpcHandleType handleType)",
    since="13.3",
)
def cuLogicalEndpointImport(
    leId: CUlogicalEndpointId | int, handle: void_p, handleType: CUlogicalEndpointIpcHandleType | int
) -> tuple[CUresult]:
    """Open under the reserved id `leId` the logical endpoint that another process exported as `handle`, an
    IPC handle of kind `handleType`.
    """


@libcuda(
    "CUresult cuLogicalEndpointGetLimits(cuuint64_t *bindAlignment, cuuint64_t *maxSize, "
    "const CUlogicalEndpointProp *prop)",
    since="13.3",
)
def cuLogicalEndpointGetLimits(prop: CUlogicalEndpointProp | None) -> tuple[CUresult, cuuint64_t, cuuint64_t]:
    """Return the bind alignment and the largest size, both in bytes, of a logical endpoint with the
    properties in `prop`.
    """


@libcuda(
    "CUresult cuLogicalEndpointQuery(CUlogicalEndpointId leId, cuuint32_t count, int *queryStatus)",
    since="13.3",
)
def cuLogicalEndpointQuery(leId: CUlogicalEndpointId | int, count: cuuint32_t | int) -> tuple[CUresult, int]:
    """Return nonzero once all `count` logical endpoints from id `leId` on are ready for use, and 0 while any
    is not; does not block.
    """


# -- Fabric Copy -----------------------------------------------------------------------------------------


@libcuda(
    "CUresult cuFabricCpyBatchAsync(size_t numOps, CUDA_FABRIC_COPY_BATCH_OP *opList, "
    "unsigned long long flags, CUstream hStream)",
    sizes={"opList": "numOps"},
    since="13.5",
)
def cuFabricCpyBatchAsync(
    numOps: int,
    opList: Sequence[CUDA_FABRIC_COPY_BATCH_OP] | None,
    flags: int,
    hStream: CUstream | int | None,
) -> tuple[CUresult]:
    """Queue the `numOps` copies of `opList` on `hStream`, each between pointers or a pointer and a logical
    endpoint, in no set order; `flags` must be 0 and the legacy stream is refused.
    """


# -- Unified Addressing ----------------------------------------------------------------------------------


@libcuda(
    "CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr)",
    variants={"data": ("attribute", "POINTER_ATTRIBUTES")},
)
def cuPointerGetAttribute(
    attribute: CUpointer_attribute | int, ptr: CUdeviceptr | int
) -> tuple[CUresult, Any]:
    """Return the value of `attribute` of the memory at `ptr`, of the type that this attribute has."""


@libcuda(
    "CUresult cuMemPrefetchAsync(CUdeviceptr devPtr, size_t count, CUdevice dstDevice, CUstream hStream)"
)
def _cuMemPrefetchAsync_12(
    devPtr: CUdeviceptr | int, count: int, dstDevice: CUdevice | int, hStream: CUstream | int | None
) -> tuple[CUresult]: ...


@libcuda(
    "CUresult cuMemPrefetchAsync_v2(CUdeviceptr devPtr, size_t count, CUmemLocation location, "
    "unsigned int flags, CUstream hStream)",
    since="12.2",
)
def cuMemPrefetchAsync_v2(
    devPtr: CUdeviceptr | int, count: int, location: CUmemLocation, flags: int, hStream: CUstream | int | None
) -> tuple[CUresult]:
    """Queue on `hStream` a move of `count` bytes of managed or pageable memory at `devPtr` to `location`;
    `flags` must be 0.
    """


cuMemPrefetchAsync = either(cuMemPrefetchAsync_v2, _cuMemPrefetchAsync_12, None)


@libcuda("CUresult cuMemAdvise(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device)")
def _cuMemAdvise_12(
    devPtr: CUdeviceptr | int, count: int, advice: CUmem_advise | int, device: CUdevice | int
) -> tuple[CUresult]: ...


@libcuda(
    "CUresult cuMemAdvise_v2(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUmemLocation location)",
    since="12.2",
)
def cuMemAdvise_v2(
    devPtr: CUdeviceptr | int, count: int, advice: CUmem_advise | int, location: CUmemLocation
) -> tuple[CUresult]:
    """Tell the driver how `count` bytes of managed or pageable memory at `devPtr` will be used: `advice` is
    the hint and `location` the device or host NUMA node it concerns.
    """


def _advise(*args: Any, **kwargs: Any) -> tuple[CUresult]:
    """With a location, as CUDA 13 has it; with a device in its place, as CUDA 12 had it."""
    if isinstance(args[3] if len(args) > 3 else kwargs.get("location"), ctypes.Structure):
        return cuMemAdvise_v2(*args, **kwargs)
    if "location" in kwargs:
        kwargs["device"] = kwargs.pop("location")
    return _cuMemAdvise_12(*args, **kwargs)


cuMemAdvise = two_forms(cuMemAdvise_v2, _cuMemAdvise_12, _advise)


@libcuda(
    "CUresult cuMemPrefetchBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count, "
    "CUmemLocation *prefetchLocs, size_t *prefetchLocIdxs, size_t numPrefetchLocs, unsigned long long flags, "
    "CUstream hStream)",
    sizes={
        "dptrs": "count",
        "sizes": "count",
        "prefetchLocs": "numPrefetchLocs",
        "prefetchLocIdxs": "numPrefetchLocs",
    },
    since="13.0",
)
def cuMemPrefetchBatchAsync(
    dptrs: Sequence[CUdeviceptr | int] | None,
    sizes: Sequence[int] | None,
    count: int,
    prefetchLocs: Sequence[CUmemLocation] | None,
    prefetchLocIdxs: Sequence[int] | None,
    numPrefetchLocs: int,
    flags: int,
    hStream: CUstream | int | None,
) -> tuple[CUresult]:
    """Queue on `hStream` a prefetch of `count` ranges (`dptrs`, byte `sizes`); each of the `numPrefetchLocs`
    places in `prefetchLocs` serves ranges from its index in `prefetchLocIdxs` on. `flags` is 0.
    """


@libcuda(
    "CUresult cuMemDiscardBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count, "
    "unsigned long long flags, CUstream hStream)",
    sizes={"dptrs": "count", "sizes": "count"},
    since="13.0",
)
def cuMemDiscardBatchAsync(
    dptrs: Sequence[CUdeviceptr | int] | None,
    sizes: Sequence[int] | None,
    count: int,
    flags: int,
    hStream: CUstream | int | None,
) -> tuple[CUresult]:
    """Queue on `hStream` a discard of `count` managed ranges (`dptrs`, byte `sizes`), whose contents become
    undefined until rewritten; `flags` must be 0 and the legacy stream is refused.
    """


@libcuda(
    "CUresult cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count, "
    "CUmemLocation *prefetchLocs, size_t *prefetchLocIdxs, size_t numPrefetchLocs, unsigned long long flags, "
    "CUstream hStream)",
    sizes={
        "dptrs": "count",
        "sizes": "count",
        "prefetchLocs": "numPrefetchLocs",
        "prefetchLocIdxs": "numPrefetchLocs",
    },
    since="13.0",
)
def cuMemDiscardAndPrefetchBatchAsync(
    dptrs: Sequence[CUdeviceptr | int] | None,
    sizes: Sequence[int] | None,
    count: int,
    prefetchLocs: Sequence[CUmemLocation] | None,
    prefetchLocIdxs: Sequence[int] | None,
    numPrefetchLocs: int,
    flags: int,
    hStream: CUstream | int | None,
) -> tuple[CUresult]:
    """Queue on `hStream` a discard, then a prefetch, of `count` ranges (`dptrs`, byte `sizes`) to
    `prefetchLocs`, each from its start index in `prefetchLocIdxs` on. `flags` must be 0.
    """


@libcuda(
    "CUresult cuMemGetLocationInfo(CUdeviceptr ptr, size_t size, size_t summaryGranularity, "
    "size_t samplingGranularity, CUmemLocation *location_out)",
    sizes={"location_out": "-(-size // summaryGranularity) if summaryGranularity else 0"},
    since="13.4",
)
def _cuMemGetLocationInfo(
    ptr: CUdeviceptr | int,
    size: int,
    summaryGranularity: int,
    samplingGranularity: int,
    location_out: Sequence[CUmemLocation] | None,
) -> tuple[CUresult]: ...


def cuMemGetLocationInfo(
    ptr: CUdeviceptr | int,
    size: int,
    summaryGranularity: int,
    samplingGranularity: int,
    location_out: Sequence[CUmemLocation] | CUmemLocation,
) -> tuple[CUresult]:
    """Fill `location_out` with where most of each `summaryGranularity` bytes of the `size` bytes at `ptr`
    reside, sampled every `samplingGranularity` bytes (0: driver choice).
    """
    from ._ffi.convert import fill
    from ._types.driver.structs import CUmemLocation

    def call(filled: Any) -> tuple[CUresult]:
        return _cuMemGetLocationInfo(ptr, size, summaryGranularity, samplingGranularity, filled)

    return fill(call, location_out, CUmemLocation, "cuMemGetLocationInfo: location_out")


@libcuda(
    "CUresult cuMemRangeGetAttribute(void *data, size_t dataSize, CUmem_range_attribute attribute, "
    "CUdeviceptr devPtr, size_t count)",
    sizes={"data": "dataSize"},
)
def _cuMemRangeGetAttribute(
    data: void_p, dataSize: int, attribute: CUmem_range_attribute | int, devPtr: CUdeviceptr | int, count: int
) -> tuple[CUresult]: ...


def cuMemRangeGetAttribute(
    dataSize: int, attribute: CUmem_range_attribute | int, devPtr: CUdeviceptr | int, count: int
) -> tuple[CUresult, Any]:
    """Return `attribute` of the `count` bytes of managed memory at `devPtr`; `dataSize` is 4, or 4 for each
    device that CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY is to list.
    """
    from ._ffi.convert import range_storage

    data = range_storage(dataSize, "cuMemRangeGetAttribute: dataSize")
    (err,) = _cuMemRangeGetAttribute(data, dataSize, attribute, devPtr, count)
    return err, None if err else _range_value(attribute, data)


@libcuda(
    "CUresult cuMemRangeGetAttributes(void **data, size_t *dataSizes, CUmem_range_attribute *attributes, "
    "size_t numAttributes, CUdeviceptr devPtr, size_t count)",
    sizes={"data": "numAttributes", "dataSizes": "numAttributes", "attributes": "numAttributes"},
)
def _cuMemRangeGetAttributes(
    data: void_pp,
    dataSizes: Sequence[int] | None,
    attributes: Sequence[CUmem_range_attribute | int] | None,
    numAttributes: int,
    devPtr: CUdeviceptr | int,
    count: int,
) -> tuple[CUresult]: ...


def cuMemRangeGetAttributes(
    dataSizes: Sequence[int],
    attributes: Sequence[CUmem_range_attribute | int],
    numAttributes: int,
    devPtr: CUdeviceptr | int,
    count: int,
) -> tuple[CUresult, list[Any]]:
    """Return `numAttributes` attributes of the `count` bytes of managed memory at `devPtr`, with `dataSizes`
    as `cuMemRangeGetAttribute` has it.
    """
    from ._ffi.convert import listed, range_storage

    what = "cuMemRangeGetAttributes"
    attributes = listed(attributes, f"{what}: attributes")
    dataSizes = listed(dataSizes, f"{what}: dataSizes")
    data = [range_storage(size, f"{what}: dataSizes[{i}]") for i, size in enumerate(dataSizes)]
    (err,) = _cuMemRangeGetAttributes(data, dataSizes, attributes, numAttributes, devPtr, count)
    if err:
        return err, None  # type: ignore[return-value]
    return err, [
        _range_value(a, value) for a, value in zip(attributes[: int(numAttributes)], data, strict=False)
    ]


def _range_value(attribute: int, data: Any) -> Any:
    """What `range_storage` holds: one value, or the list of devices that access the range."""
    from ._types.driver.attributes import MEM_RANGE_ATTRIBUTES
    from ._types.driver.enums import CUmem_range_attribute, CUmemLocationType

    if attribute == CUmem_range_attribute.CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY:
        return list(data)
    cls = MEM_RANGE_ATTRIBUTES.get(attribute)  # type: ignore[call-overload]
    return CUmemLocationType(data[0]) if cls is CUmemLocationType else data[0]


@libcuda(
    "CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute, CUdeviceptr ptr)",
    variants={"value": ("attribute", "POINTER_ATTRIBUTES")},
)
def cuPointerSetAttribute(
    value: Any, attribute: CUpointer_attribute | int, ptr: CUdeviceptr | int
) -> tuple[CUresult]:
    """Set `attribute` of the allocation that holds `ptr` to what `value` holds; synchronous memory
    operations are one such setting.
    """


@libcuda(
    "CUresult cuPointerGetAttributes(unsigned int numAttributes, CUpointer_attribute *attributes, "
    "void **data, CUdeviceptr ptr)",
    sizes={"attributes": "numAttributes", "data": "numAttributes"},
)
def _cuPointerGetAttributes(
    numAttributes: int,
    attributes: Sequence[CUpointer_attribute | int] | None,
    data: void_pp,
    ptr: CUdeviceptr | int,
) -> tuple[CUresult]: ...


def cuPointerGetAttributes(
    numAttributes: int, attributes: Sequence[CUpointer_attribute | int], ptr: CUdeviceptr | int
) -> tuple[CUresult, list[Any]]:
    """Return the values of `numAttributes` attributes of the memory at `ptr`, each of the type it has."""
    from ._ffi.convert import listed
    from ._ffi.results import Variants
    from ._types.driver.attributes import POINTER_ATTRIBUTES

    what = "cuPointerGetAttributes: attributes"
    attributes = listed(attributes, what)
    named = [Variants(POINTER_ATTRIBUTES, f"{what}[{i}]", globals()) for i in range(len(attributes))]
    variants = [of[attribute] for of, attribute in zip(named, attributes, strict=True)]
    data = [new()[0] for _, _, new, *_ in variants]
    (err,) = _cuPointerGetAttributes(numAttributes, attributes, [ctypes.addressof(d) for d in data], ptr)
    if err:
        return err, None  # type: ignore[return-value]
    return err, [get(d) for (*_, get, _), d in zip(variants[: int(numAttributes)], data, strict=False)]


# -- Stream Management -----------------------------------------------------------------------------------


@libcuda("CUresult cuStreamCreate(CUstream *phStream, unsigned int Flags)")
def cuStreamCreate(Flags: int) -> tuple[CUresult, CUstream]:
    """Create a stream in the current context and return it; `Flags` is 0 for a stream that syncs with the
    legacy one, or CU_STREAM_NON_BLOCKING.
    """


@libcuda("CUresult cuStreamCreateWithPriority(CUstream *phStream, unsigned int flags, int priority)")
def cuStreamCreateWithPriority(flags: int, priority: int) -> tuple[CUresult, CUstream]:
    """Create a stream with `flags` and `priority` and return it; lower numbers run first and values out of
    range are clamped.
    """


@libcuda(
    "CUresult cuStreamBeginCaptureToCig(CUstream hStream, CUstreamCigCaptureParams *streamCigCaptureParams)",
    since="13.1",
)
def cuStreamBeginCaptureToCig(
    hStream: CUstream | int | None, streamCigCaptureParams: CUstreamCigCaptureParams | None
) -> tuple[CUresult]:
    """Start recording the work of `hStream` into the graphics command list named in `streamCigCaptureParams`
    instead of running it; the context must be a CIG one.
    """


@libcuda("CUresult cuStreamEndCaptureToCig(CUstream hStream)", since="13.1")
def cuStreamEndCaptureToCig(hStream: CUstream | int | None) -> tuple[CUresult]:
    """Stop recording `hStream` into a graphics command list and put the stream back to normal; the list may
    then be submitted.
    """


@libcuda("CUresult cuStreamGetPriority(CUstream hStream, int *priority)")
def cuStreamGetPriority(hStream: CUstream | int | None) -> tuple[CUresult, int]:
    """Return the priority of `hStream`, where lower numbers run first."""


@libcuda("CUresult cuStreamGetDevice(CUstream hStream, CUdevice *device)", since="12.8")
def cuStreamGetDevice(hStream: CUstream | int | None) -> tuple[CUresult, CUdevice]:
    """Return the device that `hStream` runs on."""


@libcuda("CUresult cuStreamGetFlags(CUstream hStream, unsigned int *flags)")
def cuStreamGetFlags(hStream: CUstream | int | None) -> tuple[CUresult, int]:
    """Return the creation flags of `hStream`, 0 or CU_STREAM_NON_BLOCKING."""


@libcuda("CUresult cuStreamGetId(CUstream hStream, unsigned long long *streamId)")
def cuStreamGetId(hStream: CUstream | int | None) -> tuple[CUresult, int]:
    """Return an id for `hStream` that no other stream has while the program lives."""


@libcuda("CUresult cuStreamGetCtx(CUstream hStream, CUcontext *pctx)")
def cuStreamGetCtx(hStream: CUstream | int | None) -> tuple[CUresult, CUcontext]:
    """Return the context `hStream` belongs to; for the NULL and other special streams it is the context
    current to the thread.
    """


@libcuda("CUresult cuStreamGetCtx_v2(CUstream hStream, CUcontext *pCtx, CUgreenCtx *pGreenCtx)", since="12.5")
def cuStreamGetCtx_v2(hStream: CUstream | int | None) -> tuple[CUresult, CUcontext, CUgreenCtx]:
    """As `cuStreamGetCtx`, and also return the green context of `hStream`, or NULL if it has none; the
    context is then the primary one of the device.
    """


@libcuda("CUresult cuStreamWaitEvent(CUstream hStream, CUevent hEvent, unsigned int Flags)")
def cuStreamWaitEvent(
    hStream: CUstream | int | None, hEvent: CUevent | int | None, Flags: int
) -> tuple[CUresult]:
    """Make later work on `hStream` wait until `hEvent`, as last recorded, is complete; `Flags` is 0, or
    CU_EVENT_WAIT_EXTERNAL to capture it as an event wait node.
    """


@libcuda(
    "CUresult cuStreamAddCallback(CUstream hStream, CUstreamCallback callback, void *userData, "
    "unsigned int flags)"
)
def cuStreamAddCallback(
    hStream: CUstream | int | None, callback: Any, userData: void_p, flags: int
) -> tuple[CUresult]:
    """Queue `callback` to be called on the host with the stream, its status and `userData` when earlier work
    on `hStream` is done; `flags` must be 0. Prefer `cuLaunchHostFunc`.
    """


@libcuda("CUresult cuStreamBeginCapture_v2(CUstream hStream, CUstreamCaptureMode mode)")
def cuStreamBeginCapture(hStream: CUstream | int | None, mode: CUstreamCaptureMode | int) -> tuple[CUresult]:
    """Start recording the work given to `hStream` into a new graph instead of running it; `mode` says which
    unsafe calls of which threads are barred meanwhile.
    """


cuStreamBeginCapture_v2 = cuStreamBeginCapture


@libcuda(
    "CUresult cuStreamBeginRecaptureToGraph(CUstream hStream, CUstreamCaptureMode mode, CUgraph hGraph, "
    "CUgraphRecaptureCallback callbackFunc, void *userData)",
    since="13.3",
)
def cuStreamBeginRecaptureToGraph(
    hStream: CUstream | int | None,
    mode: CUstreamCaptureMode | int,
    hGraph: CUgraph | int | None,
    callbackFunc: Any,
    userData: void_p,
) -> tuple[CUresult]:
    """Start recording `hStream` again over `hGraph`, whose nodes must come in the same order; `callbackFunc`
    gets `userData` at each changed parameter, and `mode` is as for a capture.
    """


@libcuda(
    "CUresult cuStreamBeginCaptureToGraph(CUstream hStream, CUgraph hGraph, const CUgraphNode *dependencies, "
    "const CUgraphEdgeData *dependencyData, size_t numDependencies, CUstreamCaptureMode mode)",
    sizes={"dependencies": "numDependencies", "dependencyData": "numDependencies"},
    since="12.3",
)
def cuStreamBeginCaptureToGraph(
    hStream: CUstream | int | None,
    hGraph: CUgraph | int | None,
    dependencies: Sequence[CUgraphNode | int] | None,
    dependencyData: Sequence[CUgraphEdgeData] | None,
    numDependencies: int,
    mode: CUstreamCaptureMode | int,
) -> tuple[CUresult]:
    """Start recording `hStream` into the existing `hGraph`, the first node following the `numDependencies`
    nodes of `dependencies` (edge data `dependencyData` or None), in capture `mode`.
    """


@libcuda("CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)")
def cuThreadExchangeStreamCaptureMode(
    mode: CUstreamCaptureMode | int,
) -> tuple[CUresult, CUstreamCaptureMode]:
    """Set the capture mode of the calling thread to `mode` and return the mode it had before."""


@libcuda("CUresult cuStreamEndCapture(CUstream hStream, CUgraph *phGraph)")
def cuStreamEndCapture(hStream: CUstream | int | None) -> tuple[CUresult, CUgraph]:
    """Stop recording `hStream` and return the captured graph; a capture that was invalidated gives an error
    and a NULL graph.
    """


@libcuda("CUresult cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus *captureStatus)")
def cuStreamIsCapturing(hStream: CUstream | int | None) -> tuple[CUresult, CUstreamCaptureStatus]:
    """Return whether `hStream` is not capturing, is capturing, or holds an invalidated capture."""


@libcuda(
    "CUresult cuStreamGetCaptureInfo_v3(CUstream hStream, CUstreamCaptureStatus *captureStatus_out, "
    "cuuint64_t *id_out, CUgraph *graph_out, const CUgraphNode **dependencies_out, "
    "const CUgraphEdgeData **edgeData_out, size_t *numDependencies_out)",
    sizes={"dependencies_out": "numDependencies_out", "edgeData_out": "numDependencies_out"},
    since="12.3",
)
def cuStreamGetCaptureInfo_v3(
    hStream: CUstream | int | None,
) -> tuple[
    CUresult, CUstreamCaptureStatus, cuuint64_t, CUgraph, list[CUgraphNode], list[CUgraphEdgeData], int
]:
    """Return the capture status of `hStream` and, while it captures, the capture id, the graph, and the
    list, edge data and count of nodes the next node will depend on.
    """


@libcuda(
    "CUresult cuStreamGetCaptureInfo_v2(CUstream hStream, CUstreamCaptureStatus *captureStatus_out, "
    "cuuint64_t *id_out, CUgraph *graph_out, const CUgraphNode **dependencies_out, "
    "size_t *numDependencies_out)",
    sizes={"dependencies_out": "numDependencies_out"},
)
def cuStreamGetCaptureInfo_v2(
    hStream: CUstream | int | None,
) -> tuple[CUresult, CUstreamCaptureStatus, cuuint64_t, CUgraph, list[CUgraphNode], int]:
    """Return the capture status of `hStream` and, while active, its sequence id, graph and current
    dependency nodes with their count; the CUDA 11.3 form, without edge data.
    """


cuStreamGetCaptureInfo = padded(cuStreamGetCaptureInfo_v3, cuStreamGetCaptureInfo_v2, "CUgraphEdgeData")


@libcuda(
    "CUresult cuStreamUpdateCaptureDependencies(CUstream hStream, CUgraphNode *dependencies, "
    "size_t numDependencies, unsigned int flags)",
    sizes={"dependencies": "numDependencies"},
)
def _cuStreamUpdateCaptureDependencies_12(
    hStream: CUstream | int | None,
    dependencies: Sequence[CUgraphNode | int] | None,
    numDependencies: int,
    flags: int,
) -> tuple[CUresult]: ...


@libcuda(
    "CUresult cuStreamUpdateCaptureDependencies_v2(CUstream hStream, CUgraphNode *dependencies, "
    "const CUgraphEdgeData *dependencyData, size_t numDependencies, unsigned int flags)",
    sizes={"dependencies": "numDependencies", "dependencyData": "numDependencies"},
    since="12.3",
)
def cuStreamUpdateCaptureDependencies_v2(
    hStream: CUstream | int | None,
    dependencies: Sequence[CUgraphNode | int] | None,
    dependencyData: Sequence[CUgraphEdgeData] | None,
    numDependencies: int,
    flags: int,
) -> tuple[CUresult]:
    """Add the `numDependencies` nodes of `dependencies`, with `dependencyData` or None, to those the next
    captured node of `hStream` follows; `flags` 1 replaces the set instead.
    """


cuStreamUpdateCaptureDependencies = either(
    cuStreamUpdateCaptureDependencies_v2,
    _cuStreamUpdateCaptureDependencies_12,
    "dependencyData",
)


@libcuda(
    "CUresult cuStreamAttachMemAsync(CUstream hStream, CUdeviceptr dptr, size_t length, unsigned int flags)"
)
def cuStreamAttachMemAsync(
    hStream: CUstream | int | None, dptr: CUdeviceptr | int, length: int, flags: int
) -> tuple[CUresult]:
    """Queue on `hStream` a change of the visibility of managed memory `dptr` as `flags` says (global, host
    or this stream); `length` is 0 for the whole allocation.
    """


@libcuda("CUresult cuStreamQuery(CUstream hStream)")
def cuStreamQuery(hStream: CUstream | int | None) -> tuple[CUresult]:
    """Check without blocking whether all work on `hStream` is done; CUDA_ERROR_NOT_READY means that some is
    still pending.
    """


@libcuda("CUresult cuStreamSynchronize(CUstream hStream)")
def cuStreamSynchronize(hStream: CUstream | int | None) -> tuple[CUresult]:
    """Block the calling thread until all work on `hStream` is done."""


@libcuda("CUresult cuStreamDestroy_v2(CUstream hStream)")
def cuStreamDestroy(hStream: CUstream | int | None) -> tuple[CUresult]:
    """Destroy `hStream`; returns at once, and pending work is finished before the resources are freed."""


cuStreamDestroy_v2 = cuStreamDestroy


@libcuda("CUresult cuStreamCopyAttributes(CUstream dst, CUstream src)")
def cuStreamCopyAttributes(dst: CUstream | int | None, src: CUstream | int | None) -> tuple[CUresult]:
    """Copy the attributes of stream `src` to stream `dst`; both must be of the same context."""


@libcuda("CUresult cuStreamGetAttribute(CUstream hStream, CUstreamAttrID attr, CUstreamAttrValue *value_out)")
def cuStreamGetAttribute(
    hStream: CUstream | int | None, attr: CUstreamAttrID | int
) -> tuple[CUresult, CUstreamAttrValue]:
    """Return the value of attribute `attr` of `hStream`."""


@libcuda(
    "CUresult cuStreamSetAttribute(CUstream hStream, CUstreamAttrID attr, const CUstreamAttrValue *value)"
)
def cuStreamSetAttribute(
    hStream: CUstream | int | None, attr: CUstreamAttrID | int, value: CUstreamAttrValue | None
) -> tuple[CUresult]:
    """Set attribute `attr` of `hStream` to `value`; it holds for work queued from now on."""


# -- Event Management ------------------------------------------------------------------------------------


@libcuda("CUresult cuEventCreate(CUevent *phEvent, unsigned int Flags)")
def cuEventCreate(Flags: int) -> tuple[CUresult, CUevent]:
    """Create an event in the current context and return it; `Flags` combines blocking sync, no timing and
    interprocess, or is 0.
    """


@libcuda("CUresult cuEventRecord(CUevent hEvent, CUstream hStream)")
def cuEventRecord(hEvent: CUevent | int | None, hStream: CUstream | int | None) -> tuple[CUresult]:
    """Record in `hEvent` the work queued so far on `hStream`; the event completes once that work does."""


@libcuda("CUresult cuEventRecordWithFlags(CUevent hEvent, CUstream hStream, unsigned int flags)")
def cuEventRecordWithFlags(
    hEvent: CUevent | int | None, hStream: CUstream | int | None, flags: int
) -> tuple[CUresult]:
    """Record `hEvent` on `hStream` as `cuEventRecord` does; CU_EVENT_RECORD_EXTERNAL in `flags` makes a
    capture add an event record node.
    """


@libcuda("CUresult cuEventQuery(CUevent hEvent)")
def cuEventQuery(hEvent: CUevent | int | None) -> tuple[CUresult]:
    """Check without blocking whether the work recorded in `hEvent` is done; CUDA_ERROR_NOT_READY means not
    yet, and an event never recorded counts as done.
    """


@libcuda("CUresult cuEventSynchronize(CUevent hEvent)")
def cuEventSynchronize(hEvent: CUevent | int | None) -> tuple[CUresult]:
    """Block the calling thread until the work last recorded in `hEvent` is done."""


@libcuda("CUresult cuEventDestroy_v2(CUevent hEvent)")
def cuEventDestroy(hEvent: CUevent | int | None) -> tuple[CUresult]:
    """Destroy `hEvent`; one that is still pending is released when it completes."""


cuEventDestroy_v2 = cuEventDestroy


@libcuda(
    "CUresult cuEventElapsedTime_v2(float *pMilliseconds, CUevent hStart, CUevent hEnd)",
    since="12.8",
    before="cuEventElapsedTime",
)
def cuEventElapsedTime(hStart: CUevent | int | None, hEnd: CUevent | int | None) -> tuple[CUresult, float]:
    """Return the milliseconds from `hStart` to `hEnd`, to about half a microsecond; both must have been
    recorded and completed with timing enabled.
    """


cuEventElapsedTime_v2 = cuEventElapsedTime

# -- External Resource Interoperability ------------------------------------------------------------------


@libcuda(
    "CUresult cuImportExternalMemory(CUexternalMemory *extMem_out, "
    "const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *memHandleDesc)"
)
def cuImportExternalMemory(
    memHandleDesc: CUDA_EXTERNAL_MEMORY_HANDLE_DESC | None,
) -> tuple[CUresult, CUexternalMemory]:
    """Import memory that another API (such as Vulkan or Direct3D) exported, as `memHandleDesc` describes it,
    and return a handle to it.
    """


@libcuda(
    "CUresult cuExternalMemoryGetMappedBuffer(CUdeviceptr *devPtr, CUexternalMemory extMem, "
    "const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *bufferDesc)"
)
def cuExternalMemoryGetMappedBuffer(
    extMem: CUexternalMemory | int | None, bufferDesc: CUDA_EXTERNAL_MEMORY_BUFFER_DESC | None
) -> tuple[CUresult, CUdeviceptr]:
    """Map the byte offset and size given in `bufferDesc` of imported memory `extMem` and return its device
    address, to be freed with `cuMemFree`.
    """


@libcuda(
    "CUresult cuExternalMemoryGetMappedMipmappedArray(CUmipmappedArray *mipmap, CUexternalMemory extMem, "
    "const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *mipmapDesc)"
)
def cuExternalMemoryGetMappedMipmappedArray(
    extMem: CUexternalMemory | int | None, mipmapDesc: CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC | None
) -> tuple[CUresult, CUmipmappedArray]:
    """Map part of imported memory `extMem` as the mipmapped array that `mipmapDesc` lays out and
    return it.
    """


@libcuda("CUresult cuDestroyExternalMemory(CUexternalMemory extMem)")
def cuDestroyExternalMemory(extMem: CUexternalMemory | int | None) -> tuple[CUresult]:
    """Release the imported memory handle `extMem`; buffers and arrays mapped from it must no longer be used
    and need freeing themselves.
    """


@libcuda(
    "CUresult cuImportExternalSemaphore(CUexternalSemaphore *extSem_out, "
    "const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *semHandleDesc)"
)
def cuImportExternalSemaphore(
    semHandleDesc: CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC | None,
) -> tuple[CUresult, CUexternalSemaphore]:
    """Import a semaphore or fence that another API exported, as `semHandleDesc` describes it, and return a
    handle to it.
    """


@libcuda(
    "CUresult cuSignalExternalSemaphoresAsync(const CUexternalSemaphore *extSemArray, "
    "const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *paramsArray, unsigned int numExtSems, CUstream stream)",
    sizes={"extSemArray": "numExtSems", "paramsArray": "numExtSems"},
)
def cuSignalExternalSemaphoresAsync(
    extSemArray: Sequence[CUexternalSemaphore | int] | None,
    paramsArray: Sequence[CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS] | None,
    numExtSems: int,
    stream: CUstream | int | None,
) -> tuple[CUresult]:
    """Queue on `stream` a signal of the `numExtSems` semaphores of `extSemArray`, each with the value in the
    same place of `paramsArray`.
    """


@libcuda(
    "CUresult cuWaitExternalSemaphoresAsync(const CUexternalSemaphore *extSemArray, "
    "const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *paramsArray, unsigned int numExtSems, CUstream stream)",
    sizes={"extSemArray": "numExtSems", "paramsArray": "numExtSems"},
)
def cuWaitExternalSemaphoresAsync(
    extSemArray: Sequence[CUexternalSemaphore | int] | None,
    paramsArray: Sequence[CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS] | None,
    numExtSems: int,
    stream: CUstream | int | None,
) -> tuple[CUresult]:
    """Queue on `stream` a wait for the `numExtSems` semaphores of `extSemArray`, each for the value in the
    same place of `paramsArray`.
    """


@libcuda("CUresult cuDestroyExternalSemaphore(CUexternalSemaphore extSem)")
def cuDestroyExternalSemaphore(extSem: CUexternalSemaphore | int | None) -> tuple[CUresult]:
    """Release the imported semaphore `extSem`; signals and waits that use it must have completed."""


# -- Stream Memory Operations ----------------------------------------------------------------------------


@libcuda(
    "CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned int flags)"
)
def cuStreamWaitValue32(
    stream: CUstream | int | None, addr: CUdeviceptr | int, value: cuuint32_t | int, flags: int
) -> tuple[CUresult]:
    """Make `stream` wait until the 32-bit word at `addr` compares with `value` as `flags` says: greater or
    equal (cyclic), equal, bitwise and, or nor.
    """


cuStreamWaitValue32_v2 = cuStreamWaitValue32


@libcuda(
    "CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned int flags)"
)
def cuStreamWaitValue64(
    stream: CUstream | int | None, addr: CUdeviceptr | int, value: cuuint64_t | int, flags: int
) -> tuple[CUresult]:
    """Make `stream` wait until the 64-bit word at `addr` compares with `value` as `flags` says: greater or
    equal (cyclic), equal, bitwise and, or nor.
    """


cuStreamWaitValue64_v2 = cuStreamWaitValue64


@libcuda(
    "CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr addr, cuuint32_t value, "
    "unsigned int flags)"
)
def cuStreamWriteValue32(
    stream: CUstream | int | None, addr: CUdeviceptr | int, value: cuuint32_t | int, flags: int
) -> tuple[CUresult]:
    """Queue on `stream` a write of the 32-bit `value` to `addr`; `flags` 0 orders it after earlier writes, 1
    drops that barrier.
    """


cuStreamWriteValue32_v2 = cuStreamWriteValue32


@libcuda(
    "CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr addr, cuuint64_t value, "
    "unsigned int flags)"
)
def cuStreamWriteValue64(
    stream: CUstream | int | None, addr: CUdeviceptr | int, value: cuuint64_t | int, flags: int
) -> tuple[CUresult]:
    """Queue on `stream` a write of the 64-bit `value` to `addr`; `flags` 0 orders it after earlier writes, 1
    drops that barrier.
    """


cuStreamWriteValue64_v2 = cuStreamWriteValue64


@libcuda(
    "CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned int count, "
    "CUstreamBatchMemOpParams *paramArray, unsigned int flags)",
    sizes={"paramArray": "count"},
)
def cuStreamBatchMemOp(
    stream: CUstream | int | None,
    count: int,
    paramArray: Sequence[CUstreamBatchMemOpParams] | None,
    flags: int,
) -> tuple[CUresult]:
    """Queue on `stream` the `count` wait, write and barrier operations of `paramArray` in order, as one
    batch; `flags` must be 0.
    """


cuStreamBatchMemOp_v2 = cuStreamBatchMemOp

# -- Execution Control -----------------------------------------------------------------------------------


@libcuda("CUresult cuFuncGetAttribute(int *pi, CUfunction_attribute attrib, CUfunction hfunc)")
def cuFuncGetAttribute(
    attrib: CUfunction_attribute | int, hfunc: CUfunction | int | None
) -> tuple[CUresult, int]:
    """Return the value of `attrib` of kernel `hfunc`, such as its register count, shared memory bytes or
    largest block size.
    """


@libcuda("CUresult cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value)")
def cuFuncSetAttribute(
    hfunc: CUfunction | int | None, attrib: CUfunction_attribute | int, value: int
) -> tuple[CUresult]:
    """Set `attrib` of kernel `hfunc` to `value`, such as the dynamic shared memory limit in bytes or the
    preferred shared memory share in percent.
    """


@libcuda("CUresult cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache config)")
def cuFuncSetCacheConfig(hfunc: CUfunction | int | None, config: CUfunc_cache | int) -> tuple[CUresult]:
    """Set by `config` whether kernel `hfunc` prefers more L1 cache or more shared memory; the driver may
    ignore it.
    """


@libcuda("CUresult cuFuncGetModule(CUmodule *hmod, CUfunction hfunc)")
def cuFuncGetModule(hfunc: CUfunction | int | None) -> tuple[CUresult, CUmodule]:
    """Return the module that kernel `hfunc` was taken from."""


@libcuda("CUresult cuFuncGetName(const char **name, CUfunction hfunc)", since="12.3")
def cuFuncGetName(hfunc: CUfunction | int | None) -> tuple[CUresult, bytes]:
    """Return the name of kernel `hfunc`, mangled unless it has C linkage; it is valid only while the module
    stays loaded.
    """


@libcuda(
    "CUresult cuFuncGetParamInfo(CUfunction func, size_t paramIndex, size_t *paramOffset, size_t *paramSize)",
    since="12.4",
)
def cuFuncGetParamInfo(func: CUfunction | int | None, paramIndex: int) -> tuple[CUresult, int, int]:
    """Return the byte offset and the byte size of parameter number `paramIndex` (from 0) of kernel `func`."""


@libcuda("CUresult cuFuncGetParamCount(CUfunction func, size_t *paramCount)", since="13.2")
def cuFuncGetParamCount(func: CUfunction | int | None) -> tuple[CUresult, int]:
    """Return the number of parameters that kernel `func` takes."""


@libcuda("CUresult cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction function)", since="12.4")
def cuFuncIsLoaded(function: CUfunction | int | None) -> tuple[CUresult, CUfunctionLoadingState]:
    """Return whether the code of kernel `function` has been loaded yet, as lazy loading may put it off."""


@libcuda("CUresult cuFuncLoad(CUfunction function)", since="12.4")
def cuFuncLoad(function: CUfunction | int | None) -> tuple[CUresult]:
    """Load the code of kernel `function` now instead of at its first launch."""


@libcuda(
    "CUresult cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, "
    "unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ, "
    "unsigned int sharedMemBytes, CUstream hStream, void **kernelParams, void **extra)"
)
def _cuLaunchKernel(
    f: CUfunction | int | None,
    gridDimX: int,
    gridDimY: int,
    gridDimZ: int,
    blockDimX: int,
    blockDimY: int,
    blockDimZ: int,
    sharedMemBytes: int,
    hStream: CUstream | int | None,
    kernelParams: void_pp,
    extra: void_pp,
) -> tuple[CUresult]:
    """Launch kernel `f` on `hStream` with a grid in blocks, a block in threads and `sharedMemBytes` of
    dynamic shared memory; pass arguments in `kernelParams` or packed in `extra`.

    Without a fast lane, launches after the first go through cuLaunchKernelEx: less to pass.
    """


cuLaunchKernel = launch_kernel(libcuda, _cuLaunchKernel)


@libcuda(
    "CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **kernelParams, void **extra)"
)
def cuLaunchKernelEx(
    config: CUlaunchConfig | None, f: CUfunction | int | None, kernelParams: void_pp, extra: void_pp
) -> tuple[CUresult]:
    """Launch kernel `f` with the grid, block, shared memory, stream and attributes in `config`; pass
    arguments as a list in `kernelParams` or packed in `extra`.
    """


@libcuda(
    "CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, "
    "unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ, "
    "unsigned int sharedMemBytes, CUstream hStream, void **kernelParams)"
)
def cuLaunchCooperativeKernel(
    f: CUfunction | int | None,
    gridDimX: int,
    gridDimY: int,
    gridDimZ: int,
    blockDimX: int,
    blockDimY: int,
    blockDimZ: int,
    sharedMemBytes: int,
    hStream: CUstream | int | None,
    kernelParams: void_pp,
) -> tuple[CUresult]:
    """Launch kernel `f` as `cuLaunchKernel` does but with all blocks resident at once, so that they can sync
    across the grid; the grid must fit the device.
    """


@libcuda("CUresult cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void *userData)")
def cuLaunchHostFunc(hStream: CUstream | int | None, fn: Any, userData: void_p) -> tuple[CUresult]:
    """Queue a host call of `fn` with `userData` on `hStream`, run after earlier work and before later work;
    it must not call CUDA.
    """


@libcuda(
    "CUresult cuLaunchHostFunc_v2(CUstream hStream, CUhostFn fn, void *userData, unsigned int syncMode)",
    since="13.1",
)
def cuLaunchHostFunc_v2(
    hStream: CUstream | int | None, fn: Any, userData: void_p, syncMode: int
) -> tuple[CUresult]:
    """As `cuLaunchHostFunc`, with `syncMode` to say how the host thread waits for its turn: 0 blocks, 1
    spins.
    """


# -- Execution Control [DEPRECATED] ----------------------------------------------------------------------


@libcuda("CUresult cuFuncSetBlockShape(CUfunction hfunc, int x, int y, int z)")
def cuFuncSetBlockShape(hfunc: CUfunction | int | None, x: int, y: int, z: int) -> tuple[CUresult]:
    """Set the block size of kernel `hfunc` to `x` by `y` by `z` threads for later `cuLaunch` calls
    (deprecated).
    """


@libcuda("CUresult cuFuncSetSharedSize(CUfunction hfunc, unsigned int bytes)")
def cuFuncSetSharedSize(hfunc: CUfunction | int | None, numbytes: int) -> tuple[CUresult]:
    """Set the dynamic shared memory of kernel `hfunc` to `numbytes` bytes per block for later `cuLaunch`
    calls (deprecated).
    """


@libcuda("CUresult cuParamSetSize(CUfunction hfunc, unsigned int numbytes)")
def cuParamSetSize(hfunc: CUfunction | int | None, numbytes: int) -> tuple[CUresult]:
    """Set the total size of the parameters of kernel `hfunc` to `numbytes` bytes (deprecated)."""


@libcuda("CUresult cuParamSeti(CUfunction hfunc, int offset, unsigned int value)")
def cuParamSeti(hfunc: CUfunction | int | None, offset: int, value: int) -> tuple[CUresult]:
    """Set the integer parameter of kernel `hfunc` at byte `offset` to `value` (deprecated)."""


@libcuda("CUresult cuParamSetf(CUfunction hfunc, int offset, float value)")
def cuParamSetf(hfunc: CUfunction | int | None, offset: int, value: float) -> tuple[CUresult]:
    """Set the float parameter of kernel `hfunc` at byte `offset` to `value` (deprecated)."""


@libcuda(
    "CUresult cuParamSetv(CUfunction hfunc, int offset, void *ptr, unsigned int numbytes)",
    sizes={"ptr": "numbytes"},
)
def cuParamSetv(hfunc: CUfunction | int | None, offset: int, ptr: void_p, numbytes: int) -> tuple[CUresult]:
    """Copy `numbytes` bytes from `ptr` into the parameters of kernel `hfunc` at byte `offset`
    (deprecated).
    """


@libcuda("CUresult cuLaunch(CUfunction f)")
def cuLaunch(f: CUfunction | int | None) -> tuple[CUresult]:
    """Launch kernel `f` as a single block of the shape and parameters set on it before (deprecated)."""


@libcuda("CUresult cuLaunchGrid(CUfunction f, int grid_width, int grid_height)")
def cuLaunchGrid(f: CUfunction | int | None, grid_width: int, grid_height: int) -> tuple[CUresult]:
    """Launch kernel `f` on a grid of `grid_width` by `grid_height` blocks with the shape and parameters set
    on it before (deprecated).
    """


@libcuda("CUresult cuLaunchGridAsync(CUfunction f, int grid_width, int grid_height, CUstream hStream)")
def cuLaunchGridAsync(
    f: CUfunction | int | None, grid_width: int, grid_height: int, hStream: CUstream | int | None
) -> tuple[CUresult]:
    """Launch kernel `f` on `hStream` with a grid of `grid_width` by `grid_height` blocks and the shape and
    parameters set on it before (deprecated).
    """


@libcuda(
    "CUresult cuLaunchCooperativeKernelMultiDevice(CUDA_LAUNCH_PARAMS *launchParamsList, "
    "unsigned int numDevices, unsigned int flags)",
    sizes={"launchParamsList": "numDevices"},
)
def cuLaunchCooperativeKernelMultiDevice(
    launchParamsList: Sequence[CUDA_LAUNCH_PARAMS] | None, numDevices: int, flags: int
) -> tuple[CUresult]:
    """Launch one kernel cooperatively on `numDevices` devices, one entry of `launchParamsList` each; `flags`
    may drop the syncs before and after (deprecated).
    """


@libcuda("CUresult cuParamSetTexRef(CUfunction hfunc, int texunit, CUtexref hTexRef)")
def cuParamSetTexRef(
    hfunc: CUfunction | int | None, texunit: int, hTexRef: CUtexref | int | None
) -> tuple[CUresult]:
    """Make texture reference `hTexRef` available to kernel `hfunc`; `texunit` must be CU_PARAM_TR_DEFAULT
    (deprecated).
    """


@libcuda("CUresult cuFuncSetSharedMemConfig(CUfunction hfunc, CUsharedconfig config)")
def cuFuncSetSharedMemConfig(hfunc: CUfunction | int | None, config: CUsharedconfig | int) -> tuple[CUresult]:
    """Set by `config` the shared memory bank width, 4 or 8 bytes, that kernel `hfunc` uses (deprecated)."""


# -- Graph Management ------------------------------------------------------------------------------------


@libcuda("CUresult cuGraphCreate(CUgraph *phGraph, unsigned int flags)")
def cuGraphCreate(flags: int) -> tuple[CUresult, CUgraph]:
    """Create an empty graph and return it; `flags` must be 0."""


@libcuda(
    "CUresult cuGraphAddKernelNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph, "
    "const CUgraphNode *dependencies, size_t numDependencies, const CUDA_KERNEL_NODE_PARAMS *nodeParams)",
    sizes={"dependencies": "numDependencies"},
)
def cuGraphAddKernelNode(
    hGraph: CUgraph | int | None,
    dependencies: Sequence[CUgraphNode | int] | None,
    numDependencies: int,
    nodeParams: CUDA_KERNEL_NODE_PARAMS | None,
) -> tuple[CUresult, CUgraphNode]:
    """Add to `hGraph` a node that launches the kernel in `nodeParams`, following the `numDependencies` nodes
    of `dependencies` (none: a root), and return it.
    """


cuGraphAddKernelNode_v2 = cuGraphAddKernelNode


@libcuda("CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS *nodeParams)")
def cuGraphKernelNodeGetParams(hNode: CUgraphNode | int | None) -> tuple[CUresult, CUDA_KERNEL_NODE_PARAMS]:
    """Return the launch parameters of kernel node `hNode`; argument arrays in them belong to the node and
    stay valid until it changes.
    """


cuGraphKernelNodeGetParams_v2 = cuGraphKernelNodeGetParams


@libcuda(
    "CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS *nodeParams)"
)
def cuGraphKernelNodeSetParams(
    hNode: CUgraphNode | int | None, nodeParams: CUDA_KERNEL_NODE_PARAMS | None
) -> tuple[CUresult]:
    """Set the launch parameters of kernel node `hNode` to `nodeParams`; graphs instantiated earlier are
    unaffected.
    """


cuGraphKernelNodeSetParams_v2 = cuGraphKernelNodeSetParams


@libcuda(
    "CUresult cuGraphAddMemcpyNode(CUgraphNode *phGraphNode, CUgraph hGraph, "
    "const CUgraphNode *dependencies, size_t numDependencies, const CUDA_MEMCPY3D *copyParams, "
    "CUcontext ctx)",
    sizes={"dependencies": "numDependencies"},
)
def cuGraphAddMemcpyNode(
    hGraph: CUgraph | int | None,
    dependencies: Sequence[CUgraphNode | int] | None,
    numDependencies: int,
    copyParams: CUDA_MEMCPY3D | None,
    ctx: CUcontext | int | None,
) -> tuple[CUresult, CUgraphNode]:
    """Add to `hGraph` a node that makes the 3D copy `copyParams` in context `ctx`, following the
    `numDependencies` nodes of `dependencies`, and return it.
    """


@libcuda("CUresult cuGraphMemcpyNodeGetParams(CUgraphNode hNode, CUDA_MEMCPY3D *nodeParams)")
def cuGraphMemcpyNodeGetParams(hNode: CUgraphNode | int | None) -> tuple[CUresult, CUDA_MEMCPY3D]:
    """Return the 3D copy description of memcpy node `hNode`."""


@libcuda("CUresult cuGraphMemcpyNodeSetParams(CUgraphNode hNode, const CUDA_MEMCPY3D *nodeParams)")
def cuGraphMemcpyNodeSetParams(
    hNode: CUgraphNode | int | None, nodeParams: CUDA_MEMCPY3D | None
) -> tuple[CUresult]:
    """Set the copy that memcpy node `hNode` makes to `nodeParams`; graphs instantiated earlier are
    unaffected.
    """


@libcuda(
    "CUresult cuGraphAddMemsetNode(CUgraphNode *phGraphNode, CUgraph hGraph, "
    "const CUgraphNode *dependencies, size_t numDependencies, const CUDA_MEMSET_NODE_PARAMS *memsetParams, "
    "CUcontext ctx)",
    sizes={"dependencies": "numDependencies"},
)
def cuGraphAddMemsetNode(
    hGraph: CUgraph | int | None,
    dependencies: Sequence[CUgraphNode | int] | None,
    numDependencies: int,
    memsetParams: CUDA_MEMSET_NODE_PARAMS | None,
    ctx: CUcontext | int | None,
) -> tuple[CUresult, CUgraphNode]:
    """Add to `hGraph` a node that fills memory as `memsetParams` says in context `ctx`, following the
    `numDependencies` nodes of `dependencies`, and return it.
    """


@libcuda("CUresult cuGraphMemsetNodeGetParams(CUgraphNode hNode, CUDA_MEMSET_NODE_PARAMS *nodeParams)")
def cuGraphMemsetNodeGetParams(hNode: CUgraphNode | int | None) -> tuple[CUresult, CUDA_MEMSET_NODE_PARAMS]:
    """Return the fill parameters of memset node `hNode`."""


@libcuda("CUresult cuGraphMemsetNodeSetParams(CUgraphNode hNode, const CUDA_MEMSET_NODE_PARAMS *nodeParams)")
def cuGraphMemsetNodeSetParams(
    hNode: CUgraphNode | int | None, nodeParams: CUDA_MEMSET_NODE_PARAMS | None
) -> tuple[CUresult]:
    """Set the fill that memset node `hNode` makes to `nodeParams`; graphs instantiated earlier are
    unaffected.
    """


@libcuda(
    "CUresult cuGraphAddHostNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies, "
    "size_t numDependencies, const CUDA_HOST_NODE_PARAMS *nodeParams)",
    sizes={"dependencies": "numDependencies"},
)
def cuGraphAddHostNode(
    hGraph: CUgraph | int | None,
    dependencies: Sequence[CUgraphNode | int] | None,
    numDependencies: int,
    nodeParams: CUDA_HOST_NODE_PARAMS | None,
) -> tuple[CUresult, CUgraphNode]:
    """Add to `hGraph` a node that calls the host function in `nodeParams`, following the `numDependencies`
    nodes of `dependencies`, and return it.
    """


@libcuda("CUresult cuGraphHostNodeGetParams(CUgraphNode hNode, CUDA_HOST_NODE_PARAMS *nodeParams)")
def cuGraphHostNodeGetParams(hNode: CUgraphNode | int | None) -> tuple[CUresult, CUDA_HOST_NODE_PARAMS]:
    """Return the function and user data of host node `hNode`."""


@libcuda("CUresult cuGraphHostNodeSetParams(CUgraphNode hNode, const CUDA_HOST_NODE_PARAMS *nodeParams)")
def cuGraphHostNodeSetParams(
    hNode: CUgraphNode | int | None, nodeParams: CUDA_HOST_NODE_PARAMS | None
) -> tuple[CUresult]:
    """Set the function and user data of host node `hNode` to `nodeParams`; graphs instantiated earlier are
    unaffected.
    """


@libcuda(
    "CUresult cuGraphAddChildGraphNode(CUgraphNode *phGraphNode, CUgraph hGraph, "
    "const CUgraphNode *dependencies, size_t numDependencies, CUgraph childGraph)",
    sizes={"dependencies": "numDependencies"},
)
def cuGraphAddChildGraphNode(
    hGraph: CUgraph | int | None,
    dependencies: Sequence[CUgraphNode | int] | None,
    numDependencies: int,
    childGraph: CUgraph | int | None,
) -> tuple[CUresult, CUgraphNode]:
    """Add to `hGraph` a node that runs a copy of `childGraph` made now, following the `numDependencies`
    nodes of `dependencies`, and return it.
    """


@libcuda("CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode hNode, CUgraph *phGraph)")
def cuGraphChildGraphNodeGetGraph(hNode: CUgraphNode | int | None) -> tuple[CUresult, CUgraph]:
    """Return the graph embedded in child graph node `hNode`; it is the copy the node owns, so changes to it
    change the node.
    """


@libcuda(
    "CUresult cuGraphAddEmptyNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies, "
    "size_t numDependencies)",
    sizes={"dependencies": "numDependencies"},
)
def cuGraphAddEmptyNode(
    hGraph: CUgraph | int | None, dependencies: Sequence[CUgraphNode | int] | None, numDependencies: int
) -> tuple[CUresult, CUgraphNode]:
    """Add to `hGraph` a node that does nothing but join edges, following the `numDependencies` nodes of
    `dependencies`, and return it.
    """


@libcuda(
    "CUresult cuGraphAddEventRecordNode(CUgraphNode *phGraphNode, CUgraph hGraph, "
    "const CUgraphNode *dependencies, size_t numDependencies, CUevent event)",
    sizes={"dependencies": "numDependencies"},
)
def cuGraphAddEventRecordNode(
    hGraph: CUgraph | int | None,
    dependencies: Sequence[CUgraphNode | int] | None,
    numDependencies: int,
    event: CUevent | int | None,
) -> tuple[CUresult, CUgraphNode]:
    """Add to `hGraph` a node that records `event`, following the `numDependencies` nodes of `dependencies`,
    and return it.
    """


@libcuda("CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode hNode, CUevent *event_out)")
def cuGraphEventRecordNodeGetEvent(hNode: CUgraphNode | int | None) -> tuple[CUresult, CUevent]:
    """Return the event that event record node `hNode` records."""


@libcuda("CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode hNode, CUevent event)")
def cuGraphEventRecordNodeSetEvent(
    hNode: CUgraphNode | int | None, event: CUevent | int | None
) -> tuple[CUresult]:
    """Set the event that event record node `hNode` records to `event`; graphs instantiated earlier are
    unaffected.
    """


@libcuda(
    "CUresult cuGraphAddEventWaitNode(CUgraphNode *phGraphNode, CUgraph hGraph, "
    "const CUgraphNode *dependencies, size_t numDependencies, CUevent event)",
    sizes={"dependencies": "numDependencies"},
)
def cuGraphAddEventWaitNode(
    hGraph: CUgraph | int | None,
    dependencies: Sequence[CUgraphNode | int] | None,
    numDependencies: int,
    event: CUevent | int | None,
) -> tuple[CUresult, CUgraphNode]:
    """Add to `hGraph` a node that waits for `event`, following the `numDependencies` nodes of
    `dependencies`, and return it.
    """


@libcuda("CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode hNode, CUevent *event_out)")
def cuGraphEventWaitNodeGetEvent(hNode: CUgraphNode | int | None) -> tuple[CUresult, CUevent]:
    """Return the event that event wait node `hNode` waits for."""


@libcuda("CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode hNode, CUevent event)")
def cuGraphEventWaitNodeSetEvent(
    hNode: CUgraphNode | int | None, event: CUevent | int | None
) -> tuple[CUresult]:
    """Set the event that event wait node `hNode` waits for to `event`; graphs instantiated earlier are
    unaffected.
    """


@libcuda(
    "CUresult cuGraphAddExternalSemaphoresSignalNode(CUgraphNode *phGraphNode, CUgraph hGraph, "
    "const CUgraphNode *dependencies, size_t numDependencies, "
    "const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *nodeParams)",
    sizes={"dependencies": "numDependencies"},
)
def cuGraphAddExternalSemaphoresSignalNode(
    hGraph: CUgraph | int | None,
    dependencies: Sequence[CUgraphNode | int] | None,
    numDependencies: int,
    nodeParams: CUDA_EXT_SEM_SIGNAL_NODE_PARAMS | None,
) -> tuple[CUresult, CUgraphNode]:
    """Add to `hGraph` a node that signals the external semaphores in `nodeParams`, following the
    `numDependencies` nodes of `dependencies`, and return it.
    """


@libcuda(
    "CUresult cuGraphExternalSemaphoresSignalNodeGetParams(CUgraphNode hNode, "
    "CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *params_out)"
)
def cuGraphExternalSemaphoresSignalNodeGetParams(
    hNode: CUgraphNode | int | None,
) -> tuple[CUresult, CUDA_EXT_SEM_SIGNAL_NODE_PARAMS]:
    """Return the semaphores and values of signal node `hNode`; arrays in them belong to the node and stay
    valid until it changes.
    """


@libcuda(
    "CUresult cuGraphExternalSemaphoresSignalNodeSetParams(CUgraphNode hNode, "
    "const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *nodeParams)"
)
def cuGraphExternalSemaphoresSignalNodeSetParams(
    hNode: CUgraphNode | int | None, nodeParams: CUDA_EXT_SEM_SIGNAL_NODE_PARAMS | None
) -> tuple[CUresult]:
    """Set the semaphores and values of signal node `hNode` to `nodeParams`; graphs instantiated earlier are
    unaffected.
    """


@libcuda(
    "CUresult cuGraphAddExternalSemaphoresWaitNode(CUgraphNode *phGraphNode, CUgraph hGraph, "
    "const CUgraphNode *dependencies, size_t numDependencies, "
    "const CUDA_EXT_SEM_WAIT_NODE_PARAMS *nodeParams)",
    sizes={"dependencies": "numDependencies"},
)
def cuGraphAddExternalSemaphoresWaitNode(
    hGraph: CUgraph | int | None,
    dependencies: Sequence[CUgraphNode | int] | None,
    numDependencies: int,
    nodeParams: CUDA_EXT_SEM_WAIT_NODE_PARAMS | None,
) -> tuple[CUresult, CUgraphNode]:
    """Add to `hGraph` a node that waits for the external semaphores in `nodeParams`, following the
    `numDependencies` nodes of `dependencies`, and return it.
    """


@libcuda(
    "CUresult cuGraphExternalSemaphoresWaitNodeGetParams(CUgraphNode hNode, "
    "CUDA_EXT_SEM_WAIT_NODE_PARAMS *params_out)"
)
def cuGraphExternalSemaphoresWaitNodeGetParams(
    hNode: CUgraphNode | int | None,
) -> tuple[CUresult, CUDA_EXT_SEM_WAIT_NODE_PARAMS]:
    """Return the semaphores and values of wait node `hNode`; arrays in them belong to the node and stay
    valid until it changes.
    """


@libcuda(
    "CUresult cuGraphExternalSemaphoresWaitNodeSetParams(CUgraphNode hNode, "
    "const CUDA_EXT_SEM_WAIT_NODE_PARAMS *nodeParams)"
)
def cuGraphExternalSemaphoresWaitNodeSetParams(
    hNode: CUgraphNode | int | None, nodeParams: CUDA_EXT_SEM_WAIT_NODE_PARAMS | None
) -> tuple[CUresult]:
    """Set the semaphores and values of wait node `hNode` to `nodeParams`; graphs instantiated earlier are
    unaffected.
    """


@libcuda(
    "CUresult cuGraphAddBatchMemOpNode(CUgraphNode *phGraphNode, CUgraph hGraph, "
    "const CUgraphNode *dependencies, size_t numDependencies, "
    "const CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams)",
    sizes={"dependencies": "numDependencies"},
)
def cuGraphAddBatchMemOpNode(
    hGraph: CUgraph | int | None,
    dependencies: Sequence[CUgraphNode | int] | None,
    numDependencies: int,
    nodeParams: CUDA_BATCH_MEM_OP_NODE_PARAMS | None,
) -> tuple[CUresult, CUgraphNode]:
    """Add to `hGraph` a node that runs the batch of memory waits and writes in `nodeParams`, following the
    `numDependencies` nodes of `dependencies`, and return it.
    """


@libcuda(
    "CUresult cuGraphBatchMemOpNodeGetParams(CUgraphNode hNode, "
    "CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams_out)"
)
def cuGraphBatchMemOpNodeGetParams(
    hNode: CUgraphNode | int | None,
) -> tuple[CUresult, CUDA_BATCH_MEM_OP_NODE_PARAMS]:
    """Return the memory operations of batch node `hNode`; the array in them belongs to the node and stays
    valid until it changes.
    """


@libcuda(
    "CUresult cuGraphBatchMemOpNodeSetParams(CUgraphNode hNode, "
    "const CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams)"
)
def cuGraphBatchMemOpNodeSetParams(
    hNode: CUgraphNode | int | None, nodeParams: CUDA_BATCH_MEM_OP_NODE_PARAMS | None
) -> tuple[CUresult]:
    """Set the memory operations of batch node `hNode` to `nodeParams`; graphs instantiated earlier are
    unaffected.
    """


@libcuda(
    "CUresult cuGraphExecBatchMemOpNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, "
    "const CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams)"
)
def cuGraphExecBatchMemOpNodeSetParams(
    hGraphExec: CUgraphExec | int | None,
    hNode: CUgraphNode | int | None,
    nodeParams: CUDA_BATCH_MEM_OP_NODE_PARAMS | None,
) -> tuple[CUresult]:
    """Set the memory operations of the node in `hGraphExec` that came from batch node `hNode` to
    `nodeParams`, for later launches only.
    """


@libcuda(
    "CUresult cuGraphAddMemAllocNode(CUgraphNode *phGraphNode, CUgraph hGraph, "
    "const CUgraphNode *dependencies, size_t numDependencies, CUDA_MEM_ALLOC_NODE_PARAMS *nodeParams)",
    sizes={"dependencies": "numDependencies"},
)
def cuGraphAddMemAllocNode(
    hGraph: CUgraph | int | None,
    dependencies: Sequence[CUgraphNode | int] | None,
    numDependencies: int,
    nodeParams: CUDA_MEM_ALLOC_NODE_PARAMS | None,
) -> tuple[CUresult, CUgraphNode]:
    """Add to `hGraph` a node that allocates memory as `nodeParams` says, following the `numDependencies`
    nodes of `dependencies`, and return it; the address is stored in the dptr field of `nodeParams`.
    """


@libcuda("CUresult cuGraphMemAllocNodeGetParams(CUgraphNode hNode, CUDA_MEM_ALLOC_NODE_PARAMS *params_out)")
def cuGraphMemAllocNodeGetParams(
    hNode: CUgraphNode | int | None,
) -> tuple[CUresult, CUDA_MEM_ALLOC_NODE_PARAMS]:
    """Return the parameters of allocation node `hNode`, with the address it allocates in the dptr field."""


@libcuda(
    "CUresult cuGraphAddMemFreeNode(CUgraphNode *phGraphNode, CUgraph hGraph, "
    "const CUgraphNode *dependencies, size_t numDependencies, CUdeviceptr dptr)",
    sizes={"dependencies": "numDependencies"},
)
def cuGraphAddMemFreeNode(
    hGraph: CUgraph | int | None,
    dependencies: Sequence[CUgraphNode | int] | None,
    numDependencies: int,
    dptr: CUdeviceptr | int,
) -> tuple[CUresult, CUgraphNode]:
    """Add to `hGraph` a node that frees `dptr`, an address from an allocation node, following the
    `numDependencies` nodes of `dependencies`, and return it.
    """


@libcuda("CUresult cuGraphMemFreeNodeGetParams(CUgraphNode hNode, CUdeviceptr *dptr_out)")
def cuGraphMemFreeNodeGetParams(hNode: CUgraphNode | int | None) -> tuple[CUresult, CUdeviceptr]:
    """Return the device address that free node `hNode` frees."""


@libcuda("CUresult cuDeviceGraphMemTrim(CUdevice device)")
def cuDeviceGraphMemTrim(device: CUdevice | int) -> tuple[CUresult]:
    """Give memory that graphs hold in reserve on `device`, but do not use, back to the system."""


@libcuda(
    "CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr, void *value)",
    variants={"value": ("attr", "GRAPH_MEM_ATTRIBUTES")},
)
def cuDeviceGetGraphMemAttribute(
    device: CUdevice | int, attr: CUgraphMem_attribute | int
) -> tuple[CUresult, Any]:
    """Return attribute `attr` of the memory that graphs use on `device`: current or highest bytes."""


@libcuda(
    "CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr, void *value)",
    variants={"value": ("attr", "GRAPH_MEM_ATTRIBUTES")},
)
def cuDeviceSetGraphMemAttribute(
    device: CUdevice | int, attr: CUgraphMem_attribute | int, value: Any
) -> tuple[CUresult]:
    """Set graph memory attribute `attr` of `device` from the 64-bit `value`; only the high-water marks can
    be set, and only to 0.
    """


@libcuda("CUresult cuGraphClone(CUgraph *phGraphClone, CUgraph originalGraph)")
def cuGraphClone(originalGraph: CUgraph | int | None) -> tuple[CUresult, CUgraph]:
    """Return a copy of `originalGraph` as it is now, child graphs included; later changes to either leave
    the other alone.
    """


@libcuda(
    "CUresult cuGraphNodeFindInClone(CUgraphNode *phNode, CUgraphNode hOriginalNode, CUgraph hClonedGraph)"
)
def cuGraphNodeFindInClone(
    hOriginalNode: CUgraphNode | int | None, hClonedGraph: CUgraph | int | None
) -> tuple[CUresult, CUgraphNode]:
    """Return the node of `hClonedGraph` that was copied from `hOriginalNode`; the graph must be a clone of
    the one with that node.
    """


@libcuda("CUresult cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType *type)")
def cuGraphNodeGetType(hNode: CUgraphNode | int | None) -> tuple[CUresult, CUgraphNodeType]:
    """Return the kind of node `hNode`, such as kernel, memcpy or host."""


@libcuda("CUresult cuGraphNodeGetContainingGraph(CUgraphNode hNode, CUgraph *phGraph)", since="13.1")
def cuGraphNodeGetContainingGraph(hNode: CUgraphNode | int | None) -> tuple[CUresult, CUgraph]:
    """Return the graph that node `hNode` is in, which is the child graph for a node inside one."""


@libcuda("CUresult cuGraphNodeGetLocalId(CUgraphNode hNode, unsigned int *nodeId)", since="13.1")
def cuGraphNodeGetLocalId(hNode: CUgraphNode | int | None) -> tuple[CUresult, int]:
    """Return the id of node `hNode` within its graph; with the graph id it tells the node from all others."""


@libcuda("CUresult cuGraphNodeGetToolsId(CUgraphNode hNode, unsigned long long *toolsNodeId)", since="13.1")
def cuGraphNodeGetToolsId(hNode: CUgraphNode | int | None) -> tuple[CUresult, int]:
    """Return the 64-bit id by which profilers and other tools know node `hNode`."""


@libcuda("CUresult cuGraphGetId(CUgraph hGraph, unsigned int *graphId)", since="13.1")
def cuGraphGetId(hGraph: CUgraph | int | None) -> tuple[CUresult, int]:
    """Return the integer id number of graph `hGraph`."""


@libcuda("CUresult cuGraphExecGetId(CUgraphExec hGraphExec, unsigned int *graphId)", since="13.1")
def cuGraphExecGetId(hGraphExec: CUgraphExec | int | None) -> tuple[CUresult, int]:
    """Return the integer id of executable graph `hGraphExec`."""


@libcuda(
    "CUresult cuGraphGetNodes(CUgraph hGraph, CUgraphNode *nodes, size_t *numNodes)",
    sizes={"nodes": "numNodes"},
)
def cuGraphGetNodes(
    hGraph: CUgraph | int | None, numNodes: int = 0
) -> tuple[CUresult, list[CUgraphNode], int]:
    """Return up to `numNodes` nodes of `hGraph`, and how many it has; 0 only asks for the number."""


@libcuda(
    "CUresult cuGraphGetRootNodes(CUgraph hGraph, CUgraphNode *rootNodes, size_t *numRootNodes)",
    sizes={"rootNodes": "numRootNodes"},
)
def cuGraphGetRootNodes(
    hGraph: CUgraph | int | None, numRootNodes: int = 0
) -> tuple[CUresult, list[CUgraphNode], int]:
    """Return up to `numRootNodes` nodes of `hGraph` that wait for no other, and how many there are; 0 only
    asks for the number.
    """


@libcuda(
    "CUresult cuGraphGetEdges(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to, size_t *numEdges)",
    sizes={"from": "numEdges", "to": "numEdges"},
)
def _cuGraphGetEdges_12(
    hGraph: CUgraph | int | None, numEdges: int = 0
) -> tuple[CUresult, list[CUgraphNode], list[CUgraphNode], int]: ...


@libcuda(
    "CUresult cuGraphGetEdges_v2(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to, "
    "CUgraphEdgeData *edgeData, size_t *numEdges)",
    sizes={"from": "numEdges", "to": "numEdges", "edgeData": "numEdges"},
    since="12.3",
)
def cuGraphGetEdges_v2(
    hGraph: CUgraph | int | None, numEdges: int = 0
) -> tuple[CUresult, list[CUgraphNode], list[CUgraphNode], list[CUgraphEdgeData], int]:
    """Return the edges of `hGraph` as lists of the nodes they leave, the nodes they enter and their data,
    up to `numEdges` of each, and how many there are; 0 only asks for the number.
    """


cuGraphGetEdges = padded(cuGraphGetEdges_v2, _cuGraphGetEdges_12, "CUgraphEdgeData")


@libcuda(
    "CUresult cuGraphNodeGetDependencies(CUgraphNode hNode, CUgraphNode *dependencies, "
    "size_t *numDependencies)",
    sizes={"dependencies": "numDependencies"},
)
def _cuGraphNodeGetDependencies_12(
    hNode: CUgraphNode | int | None, numDependencies: int = 0
) -> tuple[CUresult, list[CUgraphNode], int]: ...


@libcuda(
    "CUresult cuGraphNodeGetDependencies_v2(CUgraphNode hNode, CUgraphNode *dependencies, "
    "CUgraphEdgeData *edgeData, size_t *numDependencies)",
    sizes={"dependencies": "numDependencies", "edgeData": "numDependencies"},
    since="12.3",
)
def cuGraphNodeGetDependencies_v2(
    hNode: CUgraphNode | int | None, numDependencies: int = 0
) -> tuple[CUresult, list[CUgraphNode], list[CUgraphEdgeData], int]:
    """Return up to `numDependencies` nodes that `hNode` waits for, the data of those edges, and how many
    there are; 0 only asks for the number.
    """


cuGraphNodeGetDependencies = padded(
    cuGraphNodeGetDependencies_v2, _cuGraphNodeGetDependencies_12, "CUgraphEdgeData"
)


@libcuda(
    "CUresult cuGraphNodeGetDependentNodes(CUgraphNode hNode, CUgraphNode *dependentNodes, "
    "size_t *numDependentNodes)",
    sizes={"dependentNodes": "numDependentNodes"},
)
def _cuGraphNodeGetDependentNodes_12(
    hNode: CUgraphNode | int | None, numDependentNodes: int = 0
) -> tuple[CUresult, list[CUgraphNode], int]: ...


@libcuda(
    "CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode hNode, CUgraphNode *dependentNodes, "
    "CUgraphEdgeData *edgeData, size_t *numDependentNodes)",
    sizes={"dependentNodes": "numDependentNodes", "edgeData": "numDependentNodes"},
    since="12.3",
)
def cuGraphNodeGetDependentNodes_v2(
    hNode: CUgraphNode | int | None, numDependentNodes: int = 0
) -> tuple[CUresult, list[CUgraphNode], list[CUgraphEdgeData], int]:
    """Return up to `numDependentNodes` nodes that wait for `hNode`, the data of those edges, and how many
    there are; 0 only asks for the number.
    """


cuGraphNodeGetDependentNodes = padded(
    cuGraphNodeGetDependentNodes_v2, _cuGraphNodeGetDependentNodes_12, "CUgraphEdgeData"
)


@libcuda(
    "CUresult cuGraphAddDependencies(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to, "
    "size_t numDependencies)",
    sizes={"from": "numDependencies", "to": "numDependencies"},
)
def _cuGraphAddDependencies_12(
    hGraph: CUgraph | int | None,
    from_: Sequence[CUgraphNode | int] | None,
    to: Sequence[CUgraphNode | int] | None,
    numDependencies: int,
) -> tuple[CUresult]: ...


@libcuda(
    "CUresult cuGraphAddDependencies_v2(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to, "
    "const CUgraphEdgeData *edgeData, size_t numDependencies)",
    sizes={"from": "numDependencies", "to": "numDependencies", "edgeData": "numDependencies"},
    since="12.3",
)
def cuGraphAddDependencies_v2(
    hGraph: CUgraph | int | None,
    from_: Sequence[CUgraphNode | int] | None,
    to: Sequence[CUgraphNode | int] | None,
    edgeData: Sequence[CUgraphEdgeData] | None,
    numDependencies: int,
) -> tuple[CUresult]:
    """Add `numDependencies` edges to `hGraph`, each making a node of `to` follow the one in the same place
    of `from_`; `edgeData` is None for plain edges.
    """


cuGraphAddDependencies = either(cuGraphAddDependencies_v2, _cuGraphAddDependencies_12, "edgeData")


@libcuda(
    "CUresult cuGraphRemoveDependencies(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to, "
    "size_t numDependencies)",
    sizes={"from": "numDependencies", "to": "numDependencies"},
)
def _cuGraphRemoveDependencies_12(
    hGraph: CUgraph | int | None,
    from_: Sequence[CUgraphNode | int] | None,
    to: Sequence[CUgraphNode | int] | None,
    numDependencies: int,
) -> tuple[CUresult]: ...


@libcuda(
    "CUresult cuGraphRemoveDependencies_v2(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to, "
    "const CUgraphEdgeData *edgeData, size_t numDependencies)",
    sizes={"from": "numDependencies", "to": "numDependencies", "edgeData": "numDependencies"},
    since="12.3",
)
def cuGraphRemoveDependencies_v2(
    hGraph: CUgraph | int | None,
    from_: Sequence[CUgraphNode | int] | None,
    to: Sequence[CUgraphNode | int] | None,
    edgeData: Sequence[CUgraphEdgeData] | None,
    numDependencies: int,
) -> tuple[CUresult]:
    """Remove `numDependencies` edges of `hGraph`, each from a node of `from_` to the one in the same place
    of `to`; `edgeData` is None for plain edges.
    """


cuGraphRemoveDependencies = either(cuGraphRemoveDependencies_v2, _cuGraphRemoveDependencies_12, "edgeData")


@libcuda("CUresult cuGraphDestroyNode(CUgraphNode hNode)")
def cuGraphDestroyNode(hNode: CUgraphNode | int | None) -> tuple[CUresult]:
    """Remove node `hNode` and its edges from its graph; allocation and free nodes cannot be removed."""


@libcuda(
    "CUresult cuGraphInstantiateWithFlags(CUgraphExec *phGraphExec, CUgraph hGraph, unsigned long long flags)"
)
def cuGraphInstantiate(hGraph: CUgraph | int | None, flags: int) -> tuple[CUresult, CUgraphExec]:
    """Return an executable form of `hGraph`, checked and ready to launch; `flags` selects auto free, device
    launch, node priority, or 0.
    """


cuGraphInstantiateWithFlags = cuGraphInstantiate


@libcuda(
    "CUresult cuGraphInstantiate_v2(CUgraphExec *phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode, "
    "char *logBuffer, size_t bufferSize)",
    sizes={"logBuffer": "bufferSize"},
)
def cuGraphInstantiate_v2(
    hGraph: CUgraph | int | None, logBuffer: void_p, bufferSize: int
) -> tuple[CUresult, CUgraphExec, CUgraphNode]:
    """Return an executable graph made from `hGraph`, with the node that caused a failure if any; messages go
    to `logBuffer`, of `bufferSize` bytes. The CUDA 11.0 form, without flags.
    """


@libcuda(
    "CUresult cuGraphInstantiateWithParams(CUgraphExec *phGraphExec, CUgraph hGraph, "
    "CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams)"
)
def cuGraphInstantiateWithParams(
    hGraph: CUgraph | int | None, instantiateParams: CUDA_GRAPH_INSTANTIATE_PARAMS | None
) -> tuple[CUresult, CUgraphExec]:
    """Return an executable form of `hGraph`, with the flags and upload stream in `instantiateParams`, which
    also receives the result code and the node at fault.
    """


@libcuda("CUresult cuGraphExecGetFlags(CUgraphExec hGraphExec, cuuint64_t *flags)")
def cuGraphExecGetFlags(hGraphExec: CUgraphExec | int | None) -> tuple[CUresult, cuuint64_t]:
    """Return the flags that `hGraphExec` was instantiated with, apart from the upload flag."""


@libcuda(
    "CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec hGraphExec, CUgraphNode hNode, "
    "const CUDA_KERNEL_NODE_PARAMS *nodeParams)"
)
def cuGraphExecKernelNodeSetParams(
    hGraphExec: CUgraphExec | int | None,
    hNode: CUgraphNode | int | None,
    nodeParams: CUDA_KERNEL_NODE_PARAMS | None,
) -> tuple[CUresult]:
    """Set the launch parameters of the node in `hGraphExec` that came from kernel node `hNode` to
    `nodeParams`, for later launches only.
    """


cuGraphExecKernelNodeSetParams_v2 = cuGraphExecKernelNodeSetParams


@libcuda(
    "CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, "
    "const CUDA_MEMCPY3D *copyParams, CUcontext ctx)"
)
def cuGraphExecMemcpyNodeSetParams(
    hGraphExec: CUgraphExec | int | None,
    hNode: CUgraphNode | int | None,
    copyParams: CUDA_MEMCPY3D | None,
    ctx: CUcontext | int | None,
) -> tuple[CUresult]:
    """Set the copy of the node in `hGraphExec` that came from memcpy node `hNode` to `copyParams` in context
    `ctx`, for later launches only; memory types must not change.
    """


@libcuda(
    "CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, "
    "const CUDA_MEMSET_NODE_PARAMS *memsetParams, CUcontext ctx)"
)
def cuGraphExecMemsetNodeSetParams(
    hGraphExec: CUgraphExec | int | None,
    hNode: CUgraphNode | int | None,
    memsetParams: CUDA_MEMSET_NODE_PARAMS | None,
    ctx: CUcontext | int | None,
) -> tuple[CUresult]:
    """Set the fill of the node in `hGraphExec` that came from memset node `hNode` to `memsetParams` in
    context `ctx`, for later launches only.
    """


@libcuda(
    "CUresult cuGraphExecHostNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, "
    "const CUDA_HOST_NODE_PARAMS *nodeParams)"
)
def cuGraphExecHostNodeSetParams(
    hGraphExec: CUgraphExec | int | None,
    hNode: CUgraphNode | int | None,
    nodeParams: CUDA_HOST_NODE_PARAMS | None,
) -> tuple[CUresult]:
    """Set the function and user data of the node in `hGraphExec` that came from host node `hNode` to
    `nodeParams`, for later launches only.
    """


@libcuda(
    "CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, "
    "CUgraph childGraph)"
)
def cuGraphExecChildGraphNodeSetParams(
    hGraphExec: CUgraphExec | int | None, hNode: CUgraphNode | int | None, childGraph: CUgraph | int | None
) -> tuple[CUresult]:
    """Update the node in `hGraphExec` that came from child graph node `hNode` with the parameters in
    `childGraph`, whose topology must match, for later launches only.
    """


@libcuda(
    "CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode, CUevent event)"
)
def cuGraphExecEventRecordNodeSetEvent(
    hGraphExec: CUgraphExec | int | None, hNode: CUgraphNode | int | None, event: CUevent | int | None
) -> tuple[CUresult]:
    """Set the event that the node in `hGraphExec` from event record node `hNode` records to `event`, for
    later launches only.
    """


@libcuda(
    "CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode, CUevent event)"
)
def cuGraphExecEventWaitNodeSetEvent(
    hGraphExec: CUgraphExec | int | None, hNode: CUgraphNode | int | None, event: CUevent | int | None
) -> tuple[CUresult]:
    """Set the event that the node in `hGraphExec` from event wait node `hNode` waits for to `event`, for
    later launches only.
    """


@libcuda(
    "CUresult cuGraphExecExternalSemaphoresSignalNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, "
    "const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *nodeParams)"
)
def cuGraphExecExternalSemaphoresSignalNodeSetParams(
    hGraphExec: CUgraphExec | int | None,
    hNode: CUgraphNode | int | None,
    nodeParams: CUDA_EXT_SEM_SIGNAL_NODE_PARAMS | None,
) -> tuple[CUresult]:
    """Set the semaphores and values of the node in `hGraphExec` that came from signal node `hNode` to
    `nodeParams`, for later launches only.
    """


@libcuda(
    "CUresult cuGraphExecExternalSemaphoresWaitNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, "
    "const CUDA_EXT_SEM_WAIT_NODE_PARAMS *nodeParams)"
)
def cuGraphExecExternalSemaphoresWaitNodeSetParams(
    hGraphExec: CUgraphExec | int | None,
    hNode: CUgraphNode | int | None,
    nodeParams: CUDA_EXT_SEM_WAIT_NODE_PARAMS | None,
) -> tuple[CUresult]:
    """Set the semaphores and values of the node in `hGraphExec` that came from wait node `hNode` to
    `nodeParams`, for later launches only.
    """


@libcuda("CUresult cuGraphNodeSetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int isEnabled)")
def cuGraphNodeSetEnabled(
    hGraphExec: CUgraphExec | int | None, hNode: CUgraphNode | int | None, isEnabled: int
) -> tuple[CUresult]:
    """Turn the kernel, memset or memcpy node in `hGraphExec` from `hNode` on (`isEnabled` 1) or into a no-op
    (0), for later launches only.
    """


@libcuda("CUresult cuGraphNodeGetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int *isEnabled)")
def cuGraphNodeGetEnabled(
    hGraphExec: CUgraphExec | int | None, hNode: CUgraphNode | int | None
) -> tuple[CUresult, int]:
    """Return 1 if the node in `hGraphExec` that came from `hNode` is enabled, or 0 if it is a no-op."""


@libcuda("CUresult cuGraphUpload(CUgraphExec hGraphExec, CUstream hStream)")
def cuGraphUpload(hGraphExec: CUgraphExec | int | None, hStream: CUstream | int | None) -> tuple[CUresult]:
    """Prepare `hGraphExec` on the device in the order of `hStream` without running it, so that its first
    launch is quicker.
    """


@libcuda("CUresult cuGraphLaunch(CUgraphExec hGraphExec, CUstream hStream)")
def cuGraphLaunch(hGraphExec: CUgraphExec | int | None, hStream: CUstream | int | None) -> tuple[CUresult]:
    """Queue one run of `hGraphExec` on `hStream`; runs of the same executable graph never overlap."""


@libcuda("CUresult cuGraphExecDestroy(CUgraphExec hGraphExec)")
def cuGraphExecDestroy(hGraphExec: CUgraphExec | int | None) -> tuple[CUresult]:
    """Destroy executable graph `hGraphExec`; a run already under way is left to finish."""


@libcuda("CUresult cuGraphDestroy(CUgraph hGraph)")
def cuGraphDestroy(hGraph: CUgraph | int | None) -> tuple[CUresult]:
    """Free the graph `hGraph` together with every node it owns; executable graphs already instantiated from
    it keep working.
    """


@libcuda(
    "CUresult cuGraphExecUpdate_v2(CUgraphExec hGraphExec, CUgraph hGraph, "
    "CUgraphExecUpdateResultInfo *resultInfo)"
)
def cuGraphExecUpdate(
    hGraphExec: CUgraphExec | int | None, hGraph: CUgraph | int | None
) -> tuple[CUresult, CUgraphExecUpdateResultInfo]:
    """Change executable `hGraphExec` to do what `hGraph`, of the same shape, does. Return what the result
    is; a failure returns None for it, as everywhere.
    """


cuGraphExecUpdate_v2 = cuGraphExecUpdate


@libcuda("CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode dst, CUgraphNode src)")
def cuGraphKernelNodeCopyAttributes(
    dst: CUgraphNode | int | None, src: CUgraphNode | int | None
) -> tuple[CUresult]:
    """Give the kernel node `dst` all launch attributes that the kernel node `src` has; both must live in the
    same context.
    """


@libcuda(
    "CUresult cuGraphKernelNodeGetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr, "
    "CUkernelNodeAttrValue *value_out)"
)
def cuGraphKernelNodeGetAttribute(
    hNode: CUgraphNode | int | None, attr: CUkernelNodeAttrID | int
) -> tuple[CUresult, CUkernelNodeAttrValue]:
    """Return the value of the launch attribute `attr` held by the kernel node `hNode`."""


@libcuda(
    "CUresult cuGraphKernelNodeSetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr, "
    "const CUkernelNodeAttrValue *value)"
)
def cuGraphKernelNodeSetAttribute(
    hNode: CUgraphNode | int | None, attr: CUkernelNodeAttrID | int, value: CUkernelNodeAttrValue | None
) -> tuple[CUresult]:
    """Set the launch attribute `attr` of the kernel node `hNode` to the matching member of the union
    `value`.
    """


@libcuda("CUresult cuGraphDebugDotPrint(CUgraph hGraph, const char *path, unsigned int flags)")
def cuGraphDebugDotPrint(hGraph: CUgraph | int | None, path: bytes | None, flags: int) -> tuple[CUresult]:
    """Write the graph `hGraph` as a Graphviz DOT file at `path`; bits of `flags` (CUgraphDebugDot_flags, 0
    for the short form) choose how much detail appears.
    """


@libcuda(
    "CUresult cuUserObjectCreate(CUuserObject *object_out, void *ptr, CUhostFn destroy, "
    "unsigned int initialRefcount, unsigned int flags)"
)
def cuUserObjectCreate(
    ptr: void_p, destroy: Any, initialRefcount: int, flags: int
) -> tuple[CUresult, CUuserObject]:
    """Return a reference-counted object wrapping `ptr` that starts with `initialRefcount` references and
    calls `destroy` when the last goes; `flags` must be CU_USER_OBJECT_NO_DESTRUCTOR_SYNC.
    """


@libcuda("CUresult cuUserObjectRetain(CUuserObject object, unsigned int count)")
def cuUserObjectRetain(object: CUuserObject | int | None, count: int) -> tuple[CUresult]:
    """Add `count` references (at least 1, normally 1) to the user object `object`, on behalf of the
    caller.
    """


@libcuda("CUresult cuUserObjectRelease(CUuserObject object, unsigned int count)")
def cuUserObjectRelease(object: CUuserObject | int | None, count: int) -> tuple[CUresult]:
    """Drop `count` caller-owned references from the user object `object`; its destructor is queued once none
    remain.
    """


@libcuda(
    "CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned int count, "
    "unsigned int flags)"
)
def cuGraphRetainUserObject(
    graph: CUgraph | int | None, object: CUuserObject | int | None, count: int, flags: int
) -> tuple[CUresult]:
    """Make `graph` hold `count` references to `object`; with `flags` CU_GRAPH_USER_OBJECT_MOVE they are
    taken over from the caller, with 0 new ones are created.
    """


@libcuda("CUresult cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned int count)")
def cuGraphReleaseUserObject(
    graph: CUgraph | int | None, object: CUuserObject | int | None, count: int
) -> tuple[CUresult]:
    """Make `graph` let go of `count` of the references it holds to the user object `object`."""


@libcuda(
    "CUresult cuGraphAddNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies, "
    "size_t numDependencies, CUgraphNodeParams *nodeParams)",
    sizes={"dependencies": "numDependencies"},
    since="12.2",
)
def _cuGraphAddNode_12(
    hGraph: CUgraph | int | None,
    dependencies: Sequence[CUgraphNode | int] | None,
    numDependencies: int,
    nodeParams: CUgraphNodeParams | None,
) -> tuple[CUresult, CUgraphNode]: ...


@libcuda(
    "CUresult cuGraphAddNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies, "
    "const CUgraphEdgeData *dependencyData, size_t numDependencies, CUgraphNodeParams *nodeParams)",
    sizes={"dependencies": "numDependencies", "dependencyData": "numDependencies"},
    since="12.3",
)
def cuGraphAddNode_v2(
    hGraph: CUgraph | int | None,
    dependencies: Sequence[CUgraphNode | int] | None,
    dependencyData: Sequence[CUgraphEdgeData] | None,
    numDependencies: int,
    nodeParams: CUgraphNodeParams | None,
) -> tuple[CUresult, CUgraphNode]:
    """Insert into `hGraph` a node of the type tagged in `nodeParams`, after `numDependencies` predecessor
    nodes, and return it; `dependencyData` None means plain edges. Outputs such as an address land in
    `nodeParams`.
    """


cuGraphAddNode = either(cuGraphAddNode_v2, _cuGraphAddNode_12, "dependencyData")


@libcuda(
    "CUresult cuGraphAddNode_v3(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies, "
    "const CUgraphEdgeData *dependencyData, size_t numDependencies, CUgraphNodeParams *nodeParams)",
    sizes={"dependencies": "numDependencies", "dependencyData": "numDependencies"},
    since="13.4",
)
def cuGraphAddNode_v3(
    hGraph: CUgraph | int | None,
    dependencies: Sequence[CUgraphNode | int] | None,
    dependencyData: Sequence[CUgraphEdgeData] | None,
    numDependencies: int,
    nodeParams: CUgraphNodeParams | None,
) -> tuple[CUresult, CUgraphNode]:
    """As `cuGraphAddNode`, in the CUDA 13.4 form: a kernel node whose function and context are both given
    must have them agree on the device context, or CUDA_ERROR_INVALID_CONTEXT is returned.
    """


@libcuda("CUresult cuGraphNodeSetParams(CUgraphNode hNode, CUgraphNodeParams *nodeParams)", since="12.2")
def cuGraphNodeSetParams(
    hNode: CUgraphNode | int | None, nodeParams: CUgraphNodeParams | None
) -> tuple[CUresult]:
    """Replace the parameters of `hNode` by those in `nodeParams`, whose type tag must match the node; memory
    allocation and free nodes cannot be changed.
    """


@libcuda("CUresult cuGraphNodeSetParams_v2(CUgraphNode hNode, CUgraphNodeParams *nodeParams)", since="13.4")
def cuGraphNodeSetParams_v2(
    hNode: CUgraphNode | int | None, nodeParams: CUgraphNodeParams | None
) -> tuple[CUresult]:
    """As `cuGraphNodeSetParams`, in the CUDA 13.4 form: kernel nodes also have their function checked
    against the given context, raising CUDA_ERROR_INVALID_CONTEXT on a mismatch.
    """


@libcuda("CUresult cuGraphNodeGetParams(CUgraphNode hNode, CUgraphNodeParams *nodeParams)", since="13.2")
def cuGraphNodeGetParams(hNode: CUgraphNode | int | None) -> tuple[CUresult, CUgraphNodeParams]:
    """Return the parameters of `hNode` as a tagged union; addresses inside refer to driver-owned memory that
    is read-only and lives as long as the node.
    """


@libcuda(
    "CUresult cuGraphExecNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, "
    "CUgraphNodeParams *nodeParams)",
    since="12.2",
)
def cuGraphExecNodeSetParams(
    hGraphExec: CUgraphExec | int | None,
    hNode: CUgraphNode | int | None,
    nodeParams: CUgraphNodeParams | None,
) -> tuple[CUresult]:
    """Change the parameters of the node in `hGraphExec` that stems from `hNode` to those in `nodeParams`,
    leaving the source graph alone; only later launches see the change.
    """


@libcuda(
    "CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle *pHandle_out, CUgraph hGraph, "
    "CUcontext ctx, unsigned int defaultLaunchValue, unsigned int flags)",
    since="12.3",
)
def cuGraphConditionalHandleCreate(
    hGraph: CUgraph | int | None, ctx: CUcontext | int | None, defaultLaunchValue: int, flags: int
) -> tuple[CUresult, CUgraphConditionalHandle]:
    """Return a handle for a conditional node of `hGraph` in context `ctx`; with `flags`
    CU_GRAPH_COND_ASSIGN_DEFAULT it is reset to `defaultLaunchValue` at every launch.
    """


# -- Occupancy -------------------------------------------------------------------------------------------


@libcuda(
    "CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, CUfunction func, int blockSize, "
    "size_t dynamicSMemSize)"
)
def cuOccupancyMaxActiveBlocksPerMultiprocessor(
    func: CUfunction | int | None, blockSize: int, dynamicSMemSize: int
) -> tuple[CUresult, int]:
    """Return how many blocks of `func` can be resident on one multiprocessor at once, given `blockSize`
    threads and `dynamicSMemSize` bytes of dynamic shared memory per block.
    """


@libcuda(
    "CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, CUfunction func, "
    "int blockSize, size_t dynamicSMemSize, unsigned int flags)"
)
def cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    func: CUfunction | int | None, blockSize: int, dynamicSMemSize: int, flags: int
) -> tuple[CUresult, int]:
    """As `cuOccupancyMaxActiveBlocksPerMultiprocessor`, with `flags` either CU_OCCUPANCY_DEFAULT or
    CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE to pick how caching is taken into account.
    """


@libcuda(
    "CUresult cuOccupancyMaxPotentialBlockSize(int *minGridSize, int *blockSize, CUfunction func, "
    "CUoccupancyB2DSize blockSizeToDynamicSMemSize, size_t dynamicSMemSize, int blockSizeLimit)"
)
def cuOccupancyMaxPotentialBlockSize(
    func: CUfunction | int | None, blockSizeToDynamicSMemSize: Any, dynamicSMemSize: int, blockSizeLimit: int
) -> tuple[CUresult, int, int]:
    """Return the smallest grid size and the block size that fill the device best with `func`; shared bytes
    per block come from `blockSizeToDynamicSMemSize`, or `dynamicSMemSize` if it is NULL. `blockSizeLimit`
    0 means no cap.
    """


@libcuda(
    "CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *minGridSize, int *blockSize, CUfunction func, "
    "CUoccupancyB2DSize blockSizeToDynamicSMemSize, size_t dynamicSMemSize, int blockSizeLimit, "
    "unsigned int flags)"
)
def cuOccupancyMaxPotentialBlockSizeWithFlags(
    func: CUfunction | int | None,
    blockSizeToDynamicSMemSize: Any,
    dynamicSMemSize: int,
    blockSizeLimit: int,
    flags: int,
) -> tuple[CUresult, int, int]:
    """As `cuOccupancyMaxPotentialBlockSize`, with `flags` either CU_OCCUPANCY_DEFAULT or
    CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE to pick how caching is taken into account.
    """


@libcuda(
    "CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, CUfunction func, "
    "int numBlocks, int blockSize)"
)
def cuOccupancyAvailableDynamicSMemPerBlock(
    func: CUfunction | int | None, numBlocks: int, blockSize: int
) -> tuple[CUresult, int]:
    """Return the most dynamic shared memory, in bytes per block, that still lets `numBlocks` blocks of
    `blockSize` threads of `func` share a multiprocessor.
    """


@libcuda(
    "CUresult cuOccupancyMaxPotentialClusterSize(int *clusterSize, CUfunction func, "
    "const CUlaunchConfig *config)"
)
def cuOccupancyMaxPotentialClusterSize(
    func: CUfunction | int | None, config: CUlaunchConfig | None
) -> tuple[CUresult, int]:
    """Return the largest cluster size, in blocks, with which `func` could be launched under `config`; any
    cluster dimension set in `config` is ignored.
    """


@libcuda(
    "CUresult cuOccupancyMaxActiveClusters(int *numClusters, CUfunction func, const CUlaunchConfig *config)"
)
def cuOccupancyMaxActiveClusters(
    func: CUfunction | int | None, config: CUlaunchConfig | None
) -> tuple[CUresult, int]:
    """Return how many clusters of `func` launched with `config` could be resident on the device together;
    the cluster size must be fixed by the kernel or by `config`.
    """


# -- Texture Reference Management [DEPRECATED] -----------------------------------------------------------


@libcuda("CUresult cuTexRefSetArray(CUtexref hTexRef, CUarray hArray, unsigned int Flags)")
def cuTexRefSetArray(
    hTexRef: CUtexref | int | None, hArray: CUarray | int | None, Flags: int
) -> tuple[CUresult]:
    """Bind the CUDA array `hArray` to the texture reference `hTexRef`, taking its format; `Flags` must be
    CU_TRSA_OVERRIDE_FORMAT (deprecated).
    """


@libcuda(
    "CUresult cuTexRefSetMipmappedArray(CUtexref hTexRef, CUmipmappedArray hMipmappedArray, "
    "unsigned int Flags)"
)
def cuTexRefSetMipmappedArray(
    hTexRef: CUtexref | int | None, hMipmappedArray: CUmipmappedArray | int | None, Flags: int
) -> tuple[CUresult]:
    """Bind all levels of `hMipmappedArray` to the texture reference `hTexRef`; `Flags` must be
    CU_TRSA_OVERRIDE_FORMAT (deprecated).
    """


@libcuda(
    "CUresult cuTexRefSetAddress_v2(size_t *ByteOffset, CUtexref hTexRef, CUdeviceptr dptr, size_t bytes)"
)
def cuTexRefSetAddress(
    hTexRef: CUtexref | int | None, dptr: CUdeviceptr | int, numbytes: int
) -> tuple[CUresult, int]:
    """Bind `numbytes` bytes of linear memory at `dptr` to `hTexRef` and return the byte offset that fetches
    must add because of alignment (deprecated).
    """


cuTexRefSetAddress_v2 = cuTexRefSetAddress


@libcuda(
    "CUresult cuTexRefSetAddress2D_v3(CUtexref hTexRef, const CUDA_ARRAY_DESCRIPTOR *desc, CUdeviceptr dptr, "
    "size_t Pitch)"
)
def cuTexRefSetAddress2D(
    hTexRef: CUtexref | int | None, desc: CUDA_ARRAY_DESCRIPTOR | None, dptr: CUdeviceptr | int, Pitch: int
) -> tuple[CUresult]:
    """Bind the pitched 2D memory at `dptr`, with the size and format in `desc` and rows `Pitch` bytes apart,
    to the texture reference `hTexRef` (deprecated).
    """


cuTexRefSetAddress2D_v3 = cuTexRefSetAddress2D


@libcuda(
    "CUresult cuTexRefSetAddress2D_v2(CUtexref hTexRef, const CUDA_ARRAY_DESCRIPTOR *desc, CUdeviceptr dptr, "
    "size_t Pitch)"
)
def cuTexRefSetAddress2D_v2(
    hTexRef: CUtexref | int | None, desc: CUDA_ARRAY_DESCRIPTOR | None, dptr: CUdeviceptr | int, Pitch: int
) -> tuple[CUresult]:
    """As `cuTexRefSetAddress2D`, in the CUDA 3.2 form that predates the CUDA 4.1 one: bind pitched 2D memory
    at `dptr`, rows `Pitch` bytes apart, to `hTexRef` (deprecated).
    """


@libcuda("CUresult cuTexRefSetFormat(CUtexref hTexRef, CUarray_format fmt, int NumPackedComponents)")
def cuTexRefSetFormat(
    hTexRef: CUtexref | int | None, fmt: CUarray_format | int, NumPackedComponents: int
) -> tuple[CUresult]:
    """Declare that texels read through `hTexRef` have `NumPackedComponents` channels (1, 2 or 4), each of
    format `fmt` (deprecated).
    """


@libcuda("CUresult cuTexRefSetAddressMode(CUtexref hTexRef, int dim, CUaddress_mode am)")
def cuTexRefSetAddressMode(
    hTexRef: CUtexref | int | None, dim: int, am: CUaddress_mode | int
) -> tuple[CUresult]:
    """Set to `am` how `hTexRef` handles out-of-range coordinates along dimension `dim`: 0, 1 or 2 for the
    first, second or third coordinate (deprecated).
    """


@libcuda("CUresult cuTexRefSetFilterMode(CUtexref hTexRef, CUfilter_mode fm)")
def cuTexRefSetFilterMode(hTexRef: CUtexref | int | None, fm: CUfilter_mode | int) -> tuple[CUresult]:
    """Set the filtering of reads through the texture reference `hTexRef` to `fm`, point or linear
    (deprecated).
    """


@libcuda("CUresult cuTexRefSetMipmapFilterMode(CUtexref hTexRef, CUfilter_mode fm)")
def cuTexRefSetMipmapFilterMode(hTexRef: CUtexref | int | None, fm: CUfilter_mode | int) -> tuple[CUresult]:
    """Set the filtering between mipmap levels for `hTexRef` to `fm`; it matters only while a mipmapped array
    is bound (deprecated).
    """


@libcuda("CUresult cuTexRefSetMipmapLevelBias(CUtexref hTexRef, float bias)")
def cuTexRefSetMipmapLevelBias(hTexRef: CUtexref | int | None, bias: float) -> tuple[CUresult]:
    """Add `bias` to each mipmap level computed for reads through the texture reference `hTexRef`
    (deprecated).
    """


@libcuda(
    "CUresult cuTexRefSetMipmapLevelClamp(CUtexref hTexRef, float minMipmapLevelClamp, "
    "float maxMipmapLevelClamp)"
)
def cuTexRefSetMipmapLevelClamp(
    hTexRef: CUtexref | int | None, minMipmapLevelClamp: float, maxMipmapLevelClamp: float
) -> tuple[CUresult]:
    """Restrict the mipmap levels that `hTexRef` may sample to the range from `minMipmapLevelClamp` to
    `maxMipmapLevelClamp` (deprecated).
    """


@libcuda("CUresult cuTexRefSetMaxAnisotropy(CUtexref hTexRef, unsigned int maxAniso)")
def cuTexRefSetMaxAnisotropy(hTexRef: CUtexref | int | None, maxAniso: int) -> tuple[CUresult]:
    """Cap the anisotropy that reads through the texture reference `hTexRef` may use at `maxAniso`
    (deprecated).
    """


@libcuda("CUresult cuTexRefSetBorderColor(CUtexref hTexRef, float *pBorderColor)", sizes={"pBorderColor": 4})
def cuTexRefSetBorderColor(
    hTexRef: CUtexref | int | None, pBorderColor: Sequence[float] | None
) -> tuple[CUresult]:
    """Set the color that `hTexRef` yields outside the texture in border addressing mode to `pBorderColor`, a
    list of 4 floats in RGBA order (deprecated).
    """


@libcuda("CUresult cuTexRefSetFlags(CUtexref hTexRef, unsigned int Flags)")
def cuTexRefSetFlags(hTexRef: CUtexref | int | None, Flags: int) -> tuple[CUresult]:
    """Set the read behavior of `hTexRef` to `Flags`, an OR of CU_TRSF bits such as integer reads or
    normalized coordinates (deprecated).
    """


@libcuda("CUresult cuTexRefGetAddress_v2(CUdeviceptr *pdptr, CUtexref hTexRef)")
def cuTexRefGetAddress(hTexRef: CUtexref | int | None) -> tuple[CUresult, CUdeviceptr]:
    """Return the device address bound to the texture reference `hTexRef`; an error follows if no linear
    memory is bound (deprecated).
    """


cuTexRefGetAddress_v2 = cuTexRefGetAddress


@libcuda("CUresult cuTexRefGetArray(CUarray *phArray, CUtexref hTexRef)")
def cuTexRefGetArray(hTexRef: CUtexref | int | None) -> tuple[CUresult, CUarray]:
    """Return the CUDA array bound to the texture reference `hTexRef`; an error follows if none is bound
    (deprecated).
    """


@libcuda("CUresult cuTexRefGetMipmappedArray(CUmipmappedArray *phMipmappedArray, CUtexref hTexRef)")
def cuTexRefGetMipmappedArray(hTexRef: CUtexref | int | None) -> tuple[CUresult, CUmipmappedArray]:
    """Return the mipmapped array bound to the texture reference `hTexRef`; an error follows if none is bound
    (deprecated).
    """


@libcuda("CUresult cuTexRefGetAddressMode(CUaddress_mode *pam, CUtexref hTexRef, int dim)")
def cuTexRefGetAddressMode(hTexRef: CUtexref | int | None, dim: int) -> tuple[CUresult, CUaddress_mode]:
    """Return how `hTexRef` treats out-of-range coordinates along dimension `dim` (0, 1 or 2) (deprecated)."""


@libcuda("CUresult cuTexRefGetFilterMode(CUfilter_mode *pfm, CUtexref hTexRef)")
def cuTexRefGetFilterMode(hTexRef: CUtexref | int | None) -> tuple[CUresult, CUfilter_mode]:
    """Return the filtering mode, point or linear, in use by the texture reference `hTexRef` (deprecated)."""


@libcuda("CUresult cuTexRefGetFormat(CUarray_format *pFormat, int *pNumChannels, CUtexref hTexRef)")
def cuTexRefGetFormat(hTexRef: CUtexref | int | None) -> tuple[CUresult, CUarray_format, int]:
    """Return the channel format and the number of channels of the texels read through `hTexRef`
    (deprecated).
    """


@libcuda("CUresult cuTexRefGetMipmapFilterMode(CUfilter_mode *pfm, CUtexref hTexRef)")
def cuTexRefGetMipmapFilterMode(hTexRef: CUtexref | int | None) -> tuple[CUresult, CUfilter_mode]:
    """Return the filtering that the texture reference `hTexRef` uses between mipmap levels (deprecated)."""


@libcuda("CUresult cuTexRefGetMipmapLevelBias(float *pbias, CUtexref hTexRef)")
def cuTexRefGetMipmapLevelBias(hTexRef: CUtexref | int | None) -> tuple[CUresult, float]:
    """Return the offset that `hTexRef` adds to the mipmap level it computes, as a float (deprecated)."""


@libcuda(
    "CUresult cuTexRefGetMipmapLevelClamp(float *pminMipmapLevelClamp, float *pmaxMipmapLevelClamp, "
    "CUtexref hTexRef)"
)
def cuTexRefGetMipmapLevelClamp(hTexRef: CUtexref | int | None) -> tuple[CUresult, float, float]:
    """Return the lowest and the highest mipmap level that the texture reference `hTexRef` may sample, as
    floats (deprecated).
    """


@libcuda("CUresult cuTexRefGetMaxAnisotropy(int *pmaxAniso, CUtexref hTexRef)")
def cuTexRefGetMaxAnisotropy(hTexRef: CUtexref | int | None) -> tuple[CUresult, int]:
    """Return the highest anisotropy allowed for reads through the texture reference `hTexRef`
    (deprecated).
    """


@libcuda("CUresult cuTexRefGetBorderColor(float *pBorderColor, CUtexref hTexRef)", sizes={"pBorderColor": 4})
def cuTexRefGetBorderColor(hTexRef: CUtexref | int | None) -> tuple[CUresult, list[float]]:
    """Return the border color of the texture reference `hTexRef` as a list of 4 floats in RGBA order
    (deprecated).
    """


@libcuda("CUresult cuTexRefGetFlags(unsigned int *pFlags, CUtexref hTexRef)")
def cuTexRefGetFlags(hTexRef: CUtexref | int | None) -> tuple[CUresult, int]:
    """Return the CU_TRSF bits that govern reads through the texture reference `hTexRef` (deprecated)."""


@libcuda("CUresult cuTexRefCreate(CUtexref *pTexRef)")
def cuTexRefCreate() -> tuple[CUresult, CUtexref]:
    """Return a new texture reference with no memory bound, to be configured by the cuTexRefSet calls
    (deprecated).
    """


@libcuda("CUresult cuTexRefDestroy(CUtexref hTexRef)")
def cuTexRefDestroy(hTexRef: CUtexref | int | None) -> tuple[CUresult]:
    """Free the texture reference `hTexRef`, which must have come from `cuTexRefCreate` (deprecated)."""


# -- Surface Reference Management [DEPRECATED] -----------------------------------------------------------


@libcuda("CUresult cuSurfRefSetArray(CUsurfref hSurfRef, CUarray hArray, unsigned int Flags)")
def cuSurfRefSetArray(
    hSurfRef: CUsurfref | int | None, hArray: CUarray | int | None, Flags: int
) -> tuple[CUresult]:
    """Bind the CUDA array `hArray` to the surface reference `hSurfRef` for loads and stores; `Flags` must be
    0 (deprecated).
    """


@libcuda("CUresult cuSurfRefGetArray(CUarray *phArray, CUsurfref hSurfRef)")
def cuSurfRefGetArray(hSurfRef: CUsurfref | int | None) -> tuple[CUresult, CUarray]:
    """Return the CUDA array bound to the surface reference `hSurfRef`; an error follows if none is bound
    (deprecated).
    """


# -- Texture Object Management ---------------------------------------------------------------------------


@libcuda(
    "CUresult cuTexObjectCreate(CUtexObject *pTexObject, const CUDA_RESOURCE_DESC *pResDesc, "
    "const CUDA_TEXTURE_DESC *pTexDesc, const CUDA_RESOURCE_VIEW_DESC *pResViewDesc)"
)
def cuTexObjectCreate(
    pResDesc: CUDA_RESOURCE_DESC | None,
    pTexDesc: CUDA_TEXTURE_DESC | None,
    pResViewDesc: CUDA_RESOURCE_VIEW_DESC | None,
) -> tuple[CUresult, CUtexObject]:
    """Return a texture object reading the memory in `pResDesc` with the sampling rules in `pTexDesc`;
    `pResViewDesc`, None allowed, reinterprets the format of an array.
    """


@libcuda("CUresult cuTexObjectDestroy(CUtexObject texObject)")
def cuTexObjectDestroy(texObject: CUtexObject | int) -> tuple[CUresult]:
    """Free the texture object `texObject`; the memory that it reads is left untouched."""


@libcuda("CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *pResDesc, CUtexObject texObject)")
def cuTexObjectGetResourceDesc(texObject: CUtexObject | int) -> tuple[CUresult, CUDA_RESOURCE_DESC]:
    """Return the descriptor of the memory (array, mipmapped array, linear or pitched 2D) that `texObject`
    reads.
    """


@libcuda("CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC *pTexDesc, CUtexObject texObject)")
def cuTexObjectGetTextureDesc(texObject: CUtexObject | int) -> tuple[CUresult, CUDA_TEXTURE_DESC]:
    """Return the sampling rules of `texObject`: its addressing, filtering, flags, anisotropy and mipmap
    settings.
    """


@libcuda(
    "CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC *pResViewDesc, CUtexObject texObject)"
)
def cuTexObjectGetResourceViewDesc(texObject: CUtexObject | int) -> tuple[CUresult, CUDA_RESOURCE_VIEW_DESC]:
    """Return the format and extent under which `texObject` views its array; an error follows if it was made
    without such a view.
    """


# -- Surface Object Management ---------------------------------------------------------------------------


@libcuda("CUresult cuSurfObjectCreate(CUsurfObject *pSurfObject, const CUDA_RESOURCE_DESC *pResDesc)")
def cuSurfObjectCreate(pResDesc: CUDA_RESOURCE_DESC | None) -> tuple[CUresult, CUsurfObject]:
    """Return a surface object for loads and stores in the CUDA array that `pResDesc` names; only the array
    resource type is accepted.
    """


@libcuda("CUresult cuSurfObjectDestroy(CUsurfObject surfObject)")
def cuSurfObjectDestroy(surfObject: CUsurfObject | int) -> tuple[CUresult]:
    """Free the surface object `surfObject`; the array that it refers to is left untouched."""


@libcuda("CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC *pResDesc, CUsurfObject surfObject)")
def cuSurfObjectGetResourceDesc(surfObject: CUsurfObject | int) -> tuple[CUresult, CUDA_RESOURCE_DESC]:
    """Return the descriptor of the CUDA array on which `surfObject` does its loads and stores."""


# -- Tensor Map Object Management ------------------------------------------------------------------------


@libcuda(
    "CUresult cuTensorMapEncodeTiled(CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType, "
    "cuuint32_t tensorRank, void *globalAddress, const cuuint64_t *globalDim, "
    "const cuuint64_t *globalStrides, const cuuint32_t *boxDim, const cuuint32_t *elementStrides, "
    "CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2Promotion, "
    "CUtensorMapFloatOOBfill oobFill)",
    sizes={
        "globalDim": "tensorRank",
        "globalStrides": "tensorRank - 1",
        "boxDim": "tensorRank",
        "elementStrides": "tensorRank",
    },
)
def cuTensorMapEncodeTiled(
    tensorDataType: CUtensorMapDataType | int,
    tensorRank: cuuint32_t | int,
    globalAddress: void_p,
    globalDim: Sequence[cuuint64_t | int] | None,
    globalStrides: Sequence[cuuint64_t | int] | None,
    boxDim: Sequence[cuuint32_t | int] | None,
    elementStrides: Sequence[cuuint32_t | int] | None,
    interleave: CUtensorMapInterleave | int,
    swizzle: CUtensorMapSwizzle | int,
    l2Promotion: CUtensorMapL2promotion | int,
    oobFill: CUtensorMapFloatOOBfill | int,
) -> tuple[CUresult, CUtensorMap]:
    """Return a TMA descriptor for moving boxes of `boxDim` elements of a `tensorRank`-dimensional tensor at
    `globalAddress`. `globalDim` counts elements; `globalStrides` holds `tensorRank` - 1 strides in bytes. For
    rank 1 an empty list is null, which the driver refuses: pass a multiple of 16.
    """


@libcuda(
    "CUresult cuTensorMapEncodeIm2col(CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType, "
    "cuuint32_t tensorRank, void *globalAddress, const cuuint64_t *globalDim, "
    "const cuuint64_t *globalStrides, const int *pixelBoxLowerCorner, const int *pixelBoxUpperCorner, "
    "cuuint32_t channelsPerPixel, cuuint32_t pixelsPerColumn, const cuuint32_t *elementStrides, "
    "CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2Promotion, "
    "CUtensorMapFloatOOBfill oobFill)",
    sizes={
        "globalDim": "tensorRank",
        "globalStrides": "tensorRank - 1",
        "pixelBoxLowerCorner": "tensorRank - 2",
        "pixelBoxUpperCorner": "tensorRank - 2",
        "elementStrides": "tensorRank",
    },
)
def cuTensorMapEncodeIm2col(
    tensorDataType: CUtensorMapDataType | int,
    tensorRank: cuuint32_t | int,
    globalAddress: void_p,
    globalDim: Sequence[cuuint64_t | int] | None,
    globalStrides: Sequence[cuuint64_t | int] | None,
    pixelBoxLowerCorner: Sequence[int] | None,
    pixelBoxUpperCorner: Sequence[int] | None,
    channelsPerPixel: cuuint32_t | int,
    pixelsPerColumn: cuuint32_t | int,
    elementStrides: Sequence[cuuint32_t | int] | None,
    interleave: CUtensorMapInterleave | int,
    swizzle: CUtensorMapSwizzle | int,
    l2Promotion: CUtensorMapL2promotion | int,
    oobFill: CUtensorMapFloatOOBfill | int,
) -> tuple[CUresult, CUtensorMap]:
    """Return a TMA descriptor for im2col loads from a tensor of rank 3 to 5; the corner lists hold
    `tensorRank` - 2 pixel offsets and `globalStrides` holds `tensorRank` - 1 strides in bytes.
    """


@libcuda(
    "CUresult cuTensorMapEncodeIm2colWide(CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType, "
    "cuuint32_t tensorRank, void *globalAddress, const cuuint64_t *globalDim, "
    "const cuuint64_t *globalStrides, int pixelBoxLowerCornerWidth, int pixelBoxUpperCornerWidth, "
    "cuuint32_t channelsPerPixel, cuuint32_t pixelsPerColumn, const cuuint32_t *elementStrides, "
    "CUtensorMapInterleave interleave, CUtensorMapIm2ColWideMode mode, CUtensorMapSwizzle swizzle, "
    "CUtensorMapL2promotion l2Promotion, CUtensorMapFloatOOBfill oobFill)",
    sizes={"globalDim": "tensorRank", "globalStrides": "tensorRank - 1", "elementStrides": "tensorRank"},
    since="12.8",
)
def cuTensorMapEncodeIm2colWide(
    tensorDataType: CUtensorMapDataType | int,
    tensorRank: cuuint32_t | int,
    globalAddress: void_p,
    globalDim: Sequence[cuuint64_t | int] | None,
    globalStrides: Sequence[cuuint64_t | int] | None,
    pixelBoxLowerCornerWidth: int,
    pixelBoxUpperCornerWidth: int,
    channelsPerPixel: cuuint32_t | int,
    pixelsPerColumn: cuuint32_t | int,
    elementStrides: Sequence[cuuint32_t | int] | None,
    interleave: CUtensorMapInterleave | int,
    mode: CUtensorMapIm2ColWideMode | int,
    swizzle: CUtensorMapSwizzle | int,
    l2Promotion: CUtensorMapL2promotion | int,
    oobFill: CUtensorMapFloatOOBfill | int,
) -> tuple[CUresult, CUtensorMap]:
    """Return a TMA descriptor for im2col loads that advance only along the W dimension, between the two
    corner widths; `mode` picks the W variant. It needs compute capability 10.0 or later.
    """


@libcuda("CUresult cuTensorMapReplaceAddress(CUtensorMap *tensorMap, void *globalAddress)")
def cuTensorMapReplaceAddress(tensorMap: CUtensorMap | None, globalAddress: void_p) -> tuple[CUresult]:
    """Point the existing descriptor `tensorMap` at `globalAddress`, in place and with all else kept; the new
    address must meet the alignment demanded at encoding.
    """


@libcuda(
    "CUresult cuTensorMapSetAllocationClass(CUtensorMap *tensorMap, CUtensorMapAllocClass allocClass, "
    "CUtensorMapAllocClass *outAllocClass)",
    since="13.5",
)
def cuTensorMapSetAllocationClass(
    tensorMap: CUtensorMap | None, allocClass: CUtensorMapAllocClass | int
) -> tuple[CUresult, CUtensorMapAllocClass]:
    """Switch the encoded `tensorMap` in place to the allocation class `allocClass`: SMALL (4 KiB window),
    LARGE (128 KiB window) or AUTO. Return the class now in force, never AUTO.
    """


# -- Peer Context Memory Access --------------------------------------------------------------------------


@libcuda("CUresult cuDeviceCanAccessPeer(int *canAccessPeer, CUdevice dev, CUdevice peerDev)")
def cuDeviceCanAccessPeer(dev: CUdevice | int, peerDev: CUdevice | int) -> tuple[CUresult, int]:
    """Return 1 if contexts on `dev` could reach memory on `peerDev` directly once peer access is enabled,
    else 0.
    """


@libcuda("CUresult cuCtxEnablePeerAccess(CUcontext peerContext, unsigned int Flags)")
def cuCtxEnablePeerAccess(peerContext: CUcontext | int | None, Flags: int) -> tuple[CUresult]:
    """Let the current context reach allocations of `peerContext` directly, in that direction only; `Flags`
    must be 0.
    """


@libcuda("CUresult cuCtxDisablePeerAccess(CUcontext peerContext)")
def cuCtxDisablePeerAccess(peerContext: CUcontext | int | None) -> tuple[CUresult]:
    """Take back the direct access that the current context has to memory of `peerContext`."""


@libcuda(
    "CUresult cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attrib, CUdevice srcDevice, "
    "CUdevice dstDevice)"
)
def cuDeviceGetP2PAttribute(
    attrib: CUdevice_P2PAttribute | int, srcDevice: CUdevice | int, dstDevice: CUdevice | int
) -> tuple[CUresult, int]:
    """Return the attribute `attrib` of the link from `srcDevice` to `dstDevice`, such as its performance
    rank or whether access or native atomics work.
    """


@libcuda(
    "CUresult cuDeviceGetP2PAtomicCapabilities(unsigned int *capabilities, "
    "const CUatomicOperation *operations, unsigned int count, CUdevice srcDevice, CUdevice dstDevice)",
    sizes={"capabilities": "count", "operations": "count"},
    since="13.0",
)
def cuDeviceGetP2PAtomicCapabilities(
    operations: Sequence[CUatomicOperation | int] | None,
    count: int,
    srcDevice: CUdevice | int,
    dstDevice: CUdevice | int,
) -> tuple[CUresult, list[int]]:
    """Return, for each of the `count` atomic operations in `operations`, a mask of the operand capabilities
    that the link from `srcDevice` to `dstDevice` supports natively.
    """


# -- Graphics Interoperability ---------------------------------------------------------------------------


@libcuda("CUresult cuGraphicsUnregisterResource(CUgraphicsResource resource)")
def cuGraphicsUnregisterResource(resource: CUgraphicsResource | int | None) -> tuple[CUresult]:
    """End CUDA's access to the graphics object behind `resource`; the handle is invalid afterwards."""


@libcuda(
    "CUresult cuGraphicsSubResourceGetMappedArray(CUarray *pArray, CUgraphicsResource resource, "
    "unsigned int arrayIndex, unsigned int mipLevel)"
)
def cuGraphicsSubResourceGetMappedArray(
    resource: CUgraphicsResource | int | None, arrayIndex: int, mipLevel: int
) -> tuple[CUresult, CUarray]:
    """Return the CUDA array for one piece of the mapped `resource`: array index or cube face `arrayIndex`,
    at mipmap level `mipLevel`.
    """


@libcuda(
    "CUresult cuGraphicsResourceGetMappedMipmappedArray(CUmipmappedArray *pMipmappedArray, "
    "CUgraphicsResource resource)"
)
def cuGraphicsResourceGetMappedMipmappedArray(
    resource: CUgraphicsResource | int | None,
) -> tuple[CUresult, CUmipmappedArray]:
    """Return the mipmapped array through which the currently mapped `resource` can be used; it may differ at
    each mapping.
    """


@libcuda(
    "CUresult cuGraphicsResourceGetMappedPointer_v2(CUdeviceptr *pDevPtr, size_t *pSize, "
    "CUgraphicsResource resource)"
)
def cuGraphicsResourceGetMappedPointer(
    resource: CUgraphicsResource | int | None,
) -> tuple[CUresult, CUdeviceptr, int]:
    """Return the device address and size in bytes of the currently mapped buffer `resource`; both may differ
    at each mapping.
    """


cuGraphicsResourceGetMappedPointer_v2 = cuGraphicsResourceGetMappedPointer


@libcuda("CUresult cuGraphicsResourceSetMapFlags_v2(CUgraphicsResource resource, unsigned int flags)")
def cuGraphicsResourceSetMapFlags(resource: CUgraphicsResource | int | None, flags: int) -> tuple[CUresult]:
    """Set how CUDA will use `resource` at later mappings: `flags` is 0 for read and write, or the read-only
    or write-discard value. It must not be mapped now.
    """


cuGraphicsResourceSetMapFlags_v2 = cuGraphicsResourceSetMapFlags


@libcuda(
    "CUresult cuGraphicsMapResources(unsigned int count, CUgraphicsResource *resources, CUstream hStream)",
    sizes={"resources": "count"},
)
def cuGraphicsMapResources(
    count: int, resources: Sequence[CUgraphicsResource | int] | None, hStream: CUstream | int | None
) -> tuple[CUresult]:
    """Map the `count` graphics objects in the list `resources` for use by CUDA; earlier graphics work ends
    before later work in `hStream` begins.
    """


@libcuda(
    "CUresult cuGraphicsUnmapResources(unsigned int count, CUgraphicsResource *resources, CUstream hStream)",
    sizes={"resources": "count"},
)
def cuGraphicsUnmapResources(
    count: int, resources: Sequence[CUgraphicsResource | int] | None, hStream: CUstream | int | None
) -> tuple[CUresult]:
    """Hand the `count` mapped objects in the list `resources` back to the graphics API; work queued earlier
    in `hStream` ends before later graphics work begins.
    """


# -- Driver Entry Point Access ---------------------------------------------------------------------------


@libcuda(
    "CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags, "
    "CUdriverProcAddressQueryResult *symbolStatus)"
)
def cuGetProcAddress(
    symbol: bytes | None, cudaVersion: int, flags: cuuint64_t | int
) -> tuple[CUresult, int, CUdriverProcAddressQueryResult]:
    """Return the address of the driver entry point `symbol` as of `cudaVersion` (1000 * major + 10 * minor),
    NULL if there is none, and a status telling why; `flags` picks the default stream kind.
    """


cuGetProcAddress_v2 = cuGetProcAddress

# -- Coredump Attributes Control API ---------------------------------------------------------------------


@libcuda(
    "CUresult cuCoredumpGetAttribute(CUcoredumpSettings attrib, void *value, size_t *size)",
    since="12.1",
)
def _cuCoredumpGetAttribute(
    attrib: CUcoredumpSettings | int, value: void_p, size: int
) -> tuple[CUresult, int]: ...


def cuCoredumpGetAttribute(attrib: CUcoredumpSettings | int) -> tuple[CUresult, Any]:
    """Return core dump setting `attrib` of the current context: a path, the generation flags, or a bool."""
    return _coredump_value(_cuCoredumpGetAttribute, attrib)


def _coredump_value(function: Any, attrib: int) -> tuple[CUresult, Any]:
    """A core dump setting: a path is bytes without a NUL, anything else a bool or the generation flags."""
    from ._ffi.convert import integer
    from ._types.driver.enums import CUcoredumpSettings

    attrib = integer(attrib, 0, 1 << 31, f"{function.__name__.lstrip('_')}: attrib")
    value = bytearray(_coredump_size(attrib))
    err, size = function(attrib, value, len(value))
    if err:
        return err, None
    if _is_coredump_path(attrib):
        return err, bytes(value[:size]).split(b"\0")[0]
    number = int.from_bytes(value[:size], sys.byteorder)
    return err, number if attrib == CUcoredumpSettings.CU_COREDUMP_GENERATION_FLAGS else bool(number)


def _coredump_size(attrib: int) -> int:
    """How many bytes a setting takes; for a path, the longest that the driver stores."""
    from ._types.driver.enums import CUcoredumpSettings

    if _is_coredump_path(attrib):
        return 1024
    return 4 if attrib == CUcoredumpSettings.CU_COREDUMP_GENERATION_FLAGS else 1


def _is_coredump_path(attrib: int) -> bool:
    from ._types.driver.enums import CUcoredumpSettings

    return attrib in (CUcoredumpSettings.CU_COREDUMP_FILE, CUcoredumpSettings.CU_COREDUMP_PIPE)


@libcuda(
    "CUresult cuCoredumpGetAttributeGlobal(CUcoredumpSettings attrib, void *value, size_t *size)",
    since="12.1",
)
def _cuCoredumpGetAttributeGlobal(
    attrib: CUcoredumpSettings | int, value: void_p, size: int
) -> tuple[CUresult, int]: ...


def cuCoredumpGetAttributeGlobal(attrib: CUcoredumpSettings | int) -> tuple[CUresult, Any]:
    """Return core dump setting `attrib` of this process: a path, the generation flags, or a bool."""
    return _coredump_value(_cuCoredumpGetAttributeGlobal, attrib)


@libcuda(
    "CUresult cuCoredumpSetAttribute(CUcoredumpSettings attrib, void *value, size_t *size)",
    since="12.1",
)
def _cuCoredumpSetAttribute(
    attrib: CUcoredumpSettings | int, value: void_p, size: int
) -> tuple[CUresult, int]: ...


def cuCoredumpSetAttribute(attrib: CUcoredumpSettings | int, value: bytes | int) -> tuple[CUresult]:
    """Set the coredump setting `attrib` of the current context to `value`, a path as bytes or a number;
    environment variables set before initialization still win.
    """
    return _set_coredump(_cuCoredumpSetAttribute, attrib, value)


def _known_flags(flags: int) -> int:
    """`flags` less the one that CUDA 13.1 added to CU_COREDUMP_LIGHTWEIGHT_FLAGS, for a driver before it."""
    from ._types.driver.enums import CUCoredumpGenerationFlags as Flags

    lightweight = int(Flags.CU_COREDUMP_LIGHTWEIGHT_FLAGS)
    if flags & lightweight == lightweight and (cuDriverGetVersion()[1] or 0) < 13010:
        return flags & ~int(Flags.CU_COREDUMP_SKIP_TENSOR_MEMORY)
    return flags


def _set_coredump(function: Any, attrib: int, value: bytes | int) -> tuple[CUresult]:
    """Pass a core dump setting as the bytes that C reads, and their number."""
    from ._ffi.convert import integer

    what = function.__name__.lstrip("_")
    attrib = integer(attrib, 0, 1 << 31, f"{what}: attrib")
    if _is_coredump_path(attrib):
        if not isinstance(value, (bytes, bytearray)):
            raise TypeError(
                f"{what}: value, a path, must be bytes, not {type(value).__name__}: use .encode()"
            )
        data = value.rstrip(b"\0") + b"\0"
    else:
        size = _coredump_size(attrib)
        number = integer(value, 0, (1 << 8 * size) - 1, f"{what}: value")
        data = _known_flags(number).to_bytes(size, sys.byteorder)
    status, _ = function(attrib, bytearray(data), len(data))
    return (status,)


@libcuda(
    "CUresult cuCoredumpSetAttributeGlobal(CUcoredumpSettings attrib, void *value, size_t *size)",
    since="12.1",
)
def _cuCoredumpSetAttributeGlobal(
    attrib: CUcoredumpSettings | int, value: void_p, size: int
) -> tuple[CUresult, int]: ...


def cuCoredumpSetAttributeGlobal(attrib: CUcoredumpSettings | int, value: bytes | int) -> tuple[CUresult]:
    """Set the coredump setting `attrib` for the whole process to `value`, a path as bytes or a number;
    environment variables set before initialization still win.
    """
    return _set_coredump(_cuCoredumpSetAttributeGlobal, attrib, value)


@libcuda(
    "CUresult cuCoredumpRegisterStartCallback(CUcoredumpStatusCallback callback, void *userData, "
    "CUcoredumpCallbackHandle *callbackOut)",
    since="13.2",
)
def cuCoredumpRegisterStartCallback(
    callback: Any, userData: void_p
) -> tuple[CUresult, CUcoredumpCallbackHandle]:
    """Have `callback` called with `userData` when a GPU coredump starts, before data is gathered, and return
    a handle for it; the dump waits while it runs.
    """


@libcuda(
    "CUresult cuCoredumpRegisterCompleteCallback(CUcoredumpStatusCallback callback, void *userData, "
    "CUcoredumpCallbackHandle *callbackOut)",
    since="13.2",
)
def cuCoredumpRegisterCompleteCallback(
    callback: Any, userData: void_p
) -> tuple[CUresult, CUcoredumpCallbackHandle]:
    """Have `callback` called with `userData` once a GPU coredump is finished, and return a handle for it."""


@libcuda("CUresult cuCoredumpDeregisterStartCallback(CUcoredumpCallbackHandle callback)", since="13.2")
def cuCoredumpDeregisterStartCallback(callback: CUcoredumpCallbackHandle | int | None) -> tuple[CUresult]:
    """Remove the coredump start callback whose registration handle is `callback`; the handle is invalid
    afterwards.
    """


@libcuda("CUresult cuCoredumpDeregisterCompleteCallback(CUcoredumpCallbackHandle callback)", since="13.2")
def cuCoredumpDeregisterCompleteCallback(callback: CUcoredumpCallbackHandle | int | None) -> tuple[CUresult]:
    """Remove the coredump completion callback whose registration handle is `callback`; the handle is invalid
    afterwards.
    """


@libcuda("CUresult cuGetExportTable(const void **ppExportTable, const CUuuid *pExportTableId)")
def cuGetExportTable(pExportTableId: CUuuid | None) -> tuple[CUresult, int]:
    """Return the address of the driver's internal function table named by the UUID `pExportTableId`; its
    layout is not public.
    """


# -- Green Contexts --------------------------------------------------------------------------------------


@libcuda(
    "CUresult cuGreenCtxCreate(CUgreenCtx *phCtx, CUdevResourceDesc desc, CUdevice dev, unsigned int flags)",
    since="12.4",
)
def cuGreenCtxCreate(
    desc: CUdevResourceDesc | int | None, dev: CUdevice | int, flags: int
) -> tuple[CUresult, CUgreenCtx]:
    """Return a green context on `dev` limited to the resources in `desc`, holding on to the primary context;
    it is not made current. `flags` CU_GREEN_CTX_DEFAULT_STREAM adds a default stream.
    """


@libcuda("CUresult cuGreenCtxDestroy(CUgreenCtx hCtx)", since="12.4")
def cuGreenCtxDestroy(hCtx: CUgreenCtx | int | None) -> tuple[CUresult]:
    """Free the green context `hCtx`, giving up its hold on the primary context; no other thread may be using
    it.
    """


@libcuda("CUresult cuCtxFromGreenCtx(CUcontext *pContext, CUgreenCtx hCtx)", since="12.4")
def cuCtxFromGreenCtx(hCtx: CUgreenCtx | int | None) -> tuple[CUresult, CUcontext]:
    """Return an ordinary context handle for the green context `hCtx`, so that it can be made current; it
    lives as long as `hCtx`.
    """


@libcuda(
    "CUresult cuDeviceGetDevResource(CUdevice device, CUdevResource *resource, CUdevResourceType type)",
    since="12.4",
)
def cuDeviceGetDevResource(
    device: CUdevice | int, typename: CUdevResourceType | int
) -> tuple[CUresult, CUdevResource]:
    """Return a descriptor of everything `device` has of the resource kind `typename`, such as its
    multiprocessors, ready to be split.
    """


@libcuda(
    "CUresult cuCtxGetDevResource(CUcontext hCtx, CUdevResource *resource, CUdevResourceType type)",
    since="12.4",
)
def cuCtxGetDevResource(
    hCtx: CUcontext | int | None, typename: CUdevResourceType | int
) -> tuple[CUresult, CUdevResource]:
    """Return a descriptor of the resources of kind `typename`, such as multiprocessors, that context `hCtx`
    may use.
    """


@libcuda(
    "CUresult cuGreenCtxGetDevResource(CUgreenCtx hCtx, CUdevResource *resource, CUdevResourceType type)",
    since="12.4",
)
def cuGreenCtxGetDevResource(
    hCtx: CUgreenCtx | int | None, typename: CUdevResourceType | int
) -> tuple[CUresult, CUdevResource]:
    """Return a descriptor of the resources of kind `typename` that the green context `hCtx` was given."""


@libcuda(
    "CUresult cuDevSmResourceSplitByCount(CUdevResource *result, unsigned int *nbGroups, "
    "const CUdevResource *input, CUdevResource *remainder, unsigned int flags, unsigned int minCount)",
    sizes={"result": "nbGroups"},
    since="12.4",
)
def _cuDevSmResourceSplitByCount(
    nbGroups: int, input_: CUdevResource | None, flags: int, minCount: int
) -> tuple[CUresult, list[CUdevResource], int, CUdevResource]:
    """Split the multiprocessors in `input_` into up to `nbGroups` equal groups of at least `minCount` each.
    Return the groups, how many were made and the remainder; 0 groups only count; `flags`, up to CUDA 13.0
    useFlags, tune the layout.
    """


cuDevSmResourceSplitByCount = renamed(_cuDevSmResourceSplitByCount, useFlags="flags")


@libcuda(
    "CUresult cuDevSmResourceSplit(CUdevResource *result, unsigned int nbGroups, const CUdevResource *input, "
    "CUdevResource *remainder, unsigned int flags, CU_DEV_SM_RESOURCE_GROUP_PARAMS *groupParams)",
    sizes={"result": "nbGroups", "groupParams": "nbGroups"},
    since="13.1",
)
def cuDevSmResourceSplit(
    nbGroups: int,
    input_: CUdevResource | None,
    flags: int,
    groupParams: Sequence[CU_DEV_SM_RESOURCE_GROUP_PARAMS] | None,
) -> tuple[CUresult, list[CUdevResource], CUdevResource]:
    """Split the multiprocessors in `input_` into `nbGroups` groups, one per `groupParams` entry. Return the
    groups and the remainder; an smCount of 0 is worked out and filled in. `flags` must be 0.
    """


@libcuda(
    "CUresult cuDevResourceGenerateDesc(CUdevResourceDesc *phDesc, CUdevResource *resources, "
    "unsigned int nbResources)",
    sizes={"resources": "nbResources"},
    since="12.4",
)
def cuDevResourceGenerateDesc(
    resources: Sequence[CUdevResource] | None, nbResources: int
) -> tuple[CUresult, CUdevResourceDesc]:
    """Return one descriptor covering the `nbResources` items in `resources`, all of one device, to be passed
    to `cuGreenCtxCreate`; it stays valid for the life of the process.
    """


@libcuda("CUresult cuGreenCtxRecordEvent(CUgreenCtx hCtx, CUevent hEvent)", since="12.4")
def cuGreenCtxRecordEvent(hCtx: CUgreenCtx | int | None, hEvent: CUevent | int | None) -> tuple[CUresult]:
    """Make `hEvent` mark all work submitted so far to the green context `hCtx`; no stream of it may be
    capturing.
    """


@libcuda("CUresult cuGreenCtxWaitEvent(CUgreenCtx hCtx, CUevent hEvent)", since="12.4")
def cuGreenCtxWaitEvent(hCtx: CUgreenCtx | int | None, hEvent: CUevent | int | None) -> tuple[CUresult]:
    """Make all work submitted later to the green context `hCtx` wait until `hEvent` completes; the event may
    come from another device.
    """


@libcuda("CUresult cuStreamGetGreenCtx(CUstream hStream, CUgreenCtx *phCtx)", since="12.4")
def cuStreamGetGreenCtx(hStream: CUstream | int | None) -> tuple[CUresult, CUgreenCtx]:
    """Return the green context that the stream `hStream` belongs to, or NULL if it belongs to none."""


@libcuda(
    "CUresult cuGreenCtxStreamCreate(CUstream *phStream, CUgreenCtx greenCtx, unsigned int flags, "
    "int priority)",
    since="12.5",
)
def cuGreenCtxStreamCreate(
    greenCtx: CUgreenCtx | int | None, flags: int, priority: int
) -> tuple[CUresult, CUstream]:
    """Return a new stream inside `greenCtx`, whichever context is current; `flags` must be
    CU_STREAM_NON_BLOCKING, and a lower `priority` number runs sooner (0 is the default, values out of
    range are clamped).
    """


@libcuda("CUresult cuGreenCtxGetId(CUgreenCtx greenCtx, unsigned long long *greenCtxId)", since="13.0")
def cuGreenCtxGetId(greenCtx: CUgreenCtx | int | None) -> tuple[CUresult, int]:
    """Return the number that identifies `greenCtx` throughout the process; NULL stands for the current
    context if that is a green one.
    """


@libcuda(
    "CUresult cuStreamGetDevResource(CUstream hStream, CUdevResource *resource, CUdevResourceType type)",
    since="13.1",
)
def cuStreamGetDevResource(
    hStream: CUstream | int | None, typename: CUdevResourceType | int
) -> tuple[CUresult, CUdevResource]:
    """Return a descriptor of the resources of kind `typename` that work in `hStream` may use; workqueue
    kinds are refused.
    """


# -- Error Log Management Functions ----------------------------------------------------------------------


@libcuda(
    "CUresult cuLogsRegisterCallback(CUlogsCallback callbackFunc, void *userData, "
    "CUlogsCallbackHandle *callback_out)",
    since="12.9",
)
def cuLogsRegisterCallback(callbackFunc: Any, userData: void_p) -> tuple[CUresult, CUlogsCallbackHandle]:
    """Have `callbackFunc` called with `userData` for each error message the driver logs, and return a handle
    for it.
    """


@libcuda("CUresult cuLogsUnregisterCallback(CUlogsCallbackHandle callback)", since="12.9")
def cuLogsUnregisterCallback(callback: CUlogsCallbackHandle | int | None) -> tuple[CUresult]:
    """Stop delivering driver log messages to the callback whose registration handle is `callback`."""


@libcuda("CUresult cuLogsCurrent(CUlogIterator *iterator_out, unsigned int flags)", since="12.9")
def cuLogsCurrent(flags: int) -> tuple[CUresult, CUlogIterator]:
    """Return an iterator at the end of the driver's log, so that a later dump shows only messages that come
    after now; `flags` must be 0.
    """


@libcuda(
    "CUresult cuLogsDumpToFile(CUlogIterator *iterator, const char *pathToFile, unsigned int flags)",
    since="12.9",
)
def cuLogsDumpToFile(
    iterator: CUlogIterator | int, pathToFile: bytes | None, flags: int
) -> tuple[CUresult, CUlogIterator]:
    """Write the driver's log messages from `iterator` onward to the file `pathToFile` and move the iterator
    past them; NULL writes all that are kept, and `flags` must be 0.
    """


@libcuda(
    "CUresult cuLogsDumpToMemory(CUlogIterator *iterator, char *buffer, size_t *size, unsigned int flags)",
    sizes={"buffer": "size"},
    since="12.9",
)
def cuLogsDumpToMemory(
    iterator: CUlogIterator | int, buffer: void_p, size: int, flags: int
) -> tuple[CUresult, CUlogIterator, int]:
    """Copy the driver's log messages from `iterator` (NULL for all) into `buffer`, of `size` bytes and at
    most 25600. Return the bytes written less the final NUL; `flags` must be 0.
    """


# -- CUDA Checkpointing ----------------------------------------------------------------------------------


@libcuda("CUresult cuCheckpointProcessGetRestoreThreadId(int pid, int *tid)", since="12.8")
def cuCheckpointProcessGetRestoreThreadId(pid: int) -> tuple[CUresult, int]:
    """Return the id of the thread that CUDA uses for restoring in the process `pid` (Linux only)."""


@libcuda("CUresult cuCheckpointProcessGetState(int pid, CUprocessState *state)", since="12.8")
def cuCheckpointProcessGetState(pid: int) -> tuple[CUresult, CUprocessState]:
    """Return the checkpoint state of the CUDA process `pid`: running, locked, checkpointed and so on (Linux
    only).
    """


@libcuda("CUresult cuCheckpointProcessLock(int pid, CUcheckpointLockArgs *args)", since="12.8")
def cuCheckpointProcessLock(pid: int, args: CUcheckpointLockArgs | None) -> tuple[CUresult]:
    """Block further CUDA calls in the running process `pid`, moving it to the locked state; `args`, None
    allowed, may give a timeout in milliseconds, after which it stays running.
    """


@libcuda("CUresult cuCheckpointProcessCheckpoint(int pid, CUcheckpointCheckpointArgs *args)", since="12.8")
def cuCheckpointProcessCheckpoint(pid: int, args: CUcheckpointCheckpointArgs | None) -> tuple[CUresult]:
    """Save the GPU memory of the locked process `pid` to host memory and release its GPUs; `args` (None
    allowed) can ask to have it mapped for custom storage instead.
    """


@libcuda("CUresult cuCheckpointProcessRestore(int pid, CUcheckpointRestoreArgs *args)", since="12.8")
def cuCheckpointProcessRestore(pid: int, args: CUcheckpointRestoreArgs | None) -> tuple[CUresult]:
    """Bring back the GPU memory of the checkpointed process `pid`, leaving it locked; `args` (None allowed)
    can map old GPU UUIDs to new ones or restore from custom storage.
    """


@libcuda("CUresult cuCheckpointOperationComplete(CUcheckpointOperationHandle handle)", since="13.4")
def cuCheckpointOperationComplete(handle: CUcheckpointOperationHandle | int | None) -> tuple[CUresult]:
    """Finish the custom-storage checkpoint or restore behind `handle`: wait for its streams, then unmap the
    memory. The process ends up checkpointed or locked.
    """


@libcuda("CUresult cuCheckpointProcessUnlock(int pid, CUcheckpointUnlockArgs *args)", since="12.8")
def cuCheckpointProcessUnlock(pid: int, args: CUcheckpointUnlockArgs | None) -> tuple[CUresult]:
    """Let the locked process `pid` make CUDA calls again, moving it to the running state; `args` may be
    None.
    """


# -- OpenGL Interoperability -----------------------------------------------------------------------------


@libcuda(
    "CUresult cuGraphicsGLRegisterBuffer(CUgraphicsResource *pCudaResource, GLuint buffer, "
    "unsigned int Flags)"
)
def cuGraphicsGLRegisterBuffer(buffer: GLuint | int, Flags: int) -> tuple[CUresult, CUgraphicsResource]:
    """Return a CUDA resource for the OpenGL buffer object `buffer`; `Flags` is 0 for read and write, or
    hints that CUDA will only read or will overwrite it.
    """


@libcuda(
    "CUresult cuGraphicsGLRegisterImage(CUgraphicsResource *pCudaResource, GLuint image, GLenum target, "
    "unsigned int Flags)"
)
def cuGraphicsGLRegisterImage(
    image: GLuint | int, target: GLenum | int, Flags: int
) -> tuple[CUresult, CUgraphicsResource]:
    """Return a CUDA resource for the OpenGL texture or renderbuffer `image`, whose kind is `target`; `Flags`
    is 0 or hints at reading, overwriting, surface use or texture gather.
    """


@libcuda(
    "CUresult cuGLGetDevices_v2(unsigned int *pCudaDeviceCount, CUdevice *pCudaDevices, "
    "unsigned int cudaDeviceCount, CUGLDeviceList deviceList)",
    sizes={"pCudaDevices": "cudaDeviceCount"},
)
def cuGLGetDevices(
    cudaDeviceCount: int, deviceList: CUGLDeviceList | int
) -> tuple[CUresult, int, list[CUdevice]]:
    """Return the number of CUDA devices behind the current OpenGL context and at most `cudaDeviceCount` of
    them; `deviceList` selects all, or those of the current or next frame.
    """


cuGLGetDevices_v2 = cuGLGetDevices

# -- EGL Interoperability --------------------------------------------------------------------------------


@libcuda(
    "CUresult cuGraphicsEGLRegisterImage(CUgraphicsResource *pCudaResource, EGLImageKHR image, "
    "unsigned int flags)"
)
def cuGraphicsEGLRegisterImage(
    image: EGLImageKHR | int | None, flags: int
) -> tuple[CUresult, CUgraphicsResource]:
    """Return a CUDA resource for the EGL image `image`; `flags` is 0 for read and write, or hints that CUDA
    will only read or will overwrite it.
    """


@libcuda("CUresult cuEGLStreamConsumerConnect(CUeglStreamConnection *conn, EGLStreamKHR stream)")
def cuEGLStreamConsumerConnect(stream: EGLStreamKHR | int | None) -> tuple[CUresult, CUeglStreamConnection]:
    """Attach CUDA to the EGL stream `stream` as its consumer of frames and return the connection."""


@libcuda(
    "CUresult cuEGLStreamConsumerConnectWithFlags(CUeglStreamConnection *conn, EGLStreamKHR stream, "
    "unsigned int flags)"
)
def cuEGLStreamConsumerConnectWithFlags(
    stream: EGLStreamKHR | int | None, flags: int
) -> tuple[CUresult, CUeglStreamConnection]:
    """As `cuEGLStreamConsumerConnect`, with `flags` choosing whether frames are wanted in system or in video
    memory (the default).
    """


@libcuda("CUresult cuEGLStreamConsumerDisconnect(CUeglStreamConnection *conn)", in_place=("conn",))
def cuEGLStreamConsumerDisconnect(conn: CUeglStreamConnection) -> tuple[CUresult]:
    """Detach CUDA as the consumer of the EGL stream behind the connection `conn`."""


@libcuda(
    "CUresult cuEGLStreamConsumerAcquireFrame(CUeglStreamConnection *conn, "
    "CUgraphicsResource *pCudaResource, CUstream *pStream, unsigned int timeout)",
    in_place=("conn", "pCudaResource", "pStream"),
)
def cuEGLStreamConsumerAcquireFrame(
    conn: CUeglStreamConnection, pCudaResource: CUgraphicsResource, pStream: CUstream, timeout: int
) -> tuple[CUresult]:
    """Take a frame from the EGL stream of `conn` within `timeout` microseconds (or without limit) and return
    its resource; ordering and any data move use the stream `pStream`.
    """


@libcuda(
    "CUresult cuEGLStreamConsumerReleaseFrame(CUeglStreamConnection *conn, CUgraphicsResource pCudaResource, "
    "CUstream *pStream)",
    in_place=("conn", "pStream"),
)
def cuEGLStreamConsumerReleaseFrame(
    conn: CUeglStreamConnection, pCudaResource: CUgraphicsResource | int | None, pStream: CUstream
) -> tuple[CUresult]:
    """Give the acquired frame `pCudaResource` back to the EGL stream of `conn`, ordered in the CUDA stream
    `pStream`.
    """


@libcuda(
    "CUresult cuEGLStreamProducerConnect(CUeglStreamConnection *conn, EGLStreamKHR stream, EGLint width, "
    "EGLint height)"
)
def cuEGLStreamProducerConnect(
    stream: EGLStreamKHR | int | None, width: EGLint | int, height: EGLint | int
) -> tuple[CUresult, CUeglStreamConnection]:
    """Attach CUDA to the EGL stream `stream` as its producer of frames of `width` by `height` pixels and
    return the connection.
    """


@libcuda("CUresult cuEGLStreamProducerDisconnect(CUeglStreamConnection *conn)", in_place=("conn",))
def cuEGLStreamProducerDisconnect(conn: CUeglStreamConnection) -> tuple[CUresult]:
    """Detach CUDA as the producer of the EGL stream behind the connection `conn`; presented frames may be
    freed after that.
    """


@libcuda(
    "CUresult cuEGLStreamProducerPresentFrame(CUeglStreamConnection *conn, CUeglFrame eglframe, "
    "CUstream *pStream)",
    in_place=("conn", "pStream"),
)
def cuEGLStreamProducerPresentFrame(
    conn: CUeglStreamConnection, eglframe: CUeglFrame, pStream: CUstream
) -> tuple[CUresult]:
    """Show `eglframe` to the consumer of the EGL stream behind `conn`, ordered in the CUDA stream `pStream`;
    its memory must stay alive until disconnection.
    """


@libcuda(
    "CUresult cuEGLStreamProducerReturnFrame(CUeglStreamConnection *conn, CUeglFrame *eglframe, "
    "CUstream *pStream)",
    in_place=("conn", "pStream"),
)
def cuEGLStreamProducerReturnFrame(
    conn: CUeglStreamConnection, eglframe: CUeglFrame | None, pStream: CUstream
) -> tuple[CUresult]:
    """Take back in `eglframe` a frame that the consumer of `conn` is done with, ordered in the CUDA stream
    `pStream`; CUDA_ERROR_LAUNCH_TIMEOUT means that none is free yet, so retry.
    """


@libcuda(
    "CUresult cuGraphicsResourceGetMappedEglFrame(CUeglFrame *eglFrame, CUgraphicsResource resource, "
    "unsigned int index, unsigned int mipLevel)"
)
def cuGraphicsResourceGetMappedEglFrame(
    resource: CUgraphicsResource | int | None, index: int, mipLevel: int
) -> tuple[CUresult, CUeglFrame]:
    """Return a frame record giving access to the registered EGL `resource`; `index` is the cube face and
    `mipLevel` the mipmap level.
    """


@libcuda("CUresult cuEventCreateFromEGLSync(CUevent *phEvent, EGLSyncKHR eglSync, unsigned int flags)")
def cuEventCreateFromEGLSync(eglSync: EGLSyncKHR | int | None, flags: int) -> tuple[CUresult, CUevent]:
    """Return an event that follows the EGL sync object `eglSync`; `flags` is default or blocking-sync. It
    cannot be recorded or timed.
    """


# -- VDPAU Interoperability ------------------------------------------------------------------------------


@libcuda(
    "CUresult cuVDPAUGetDevice(CUdevice *pDevice, VdpDevice vdpDevice, VdpGetProcAddress *vdpGetProcAddress)",
    in_place=("vdpGetProcAddress",),
)
def cuVDPAUGetDevice(
    vdpDevice: VdpDevice | int, vdpGetProcAddress: VdpGetProcAddress
) -> tuple[CUresult, CUdevice]:
    """Return the CUDA device that belongs to the VDPAU device `vdpDevice`, looking up entry points through
    `vdpGetProcAddress`.
    """


@libcuda(
    "CUresult cuVDPAUCtxCreate_v2(CUcontext *pCtx, unsigned int flags, CUdevice device, VdpDevice vdpDevice, "
    "VdpGetProcAddress *vdpGetProcAddress)",
    in_place=("vdpGetProcAddress",),
)
def cuVDPAUCtxCreate(
    flags: int, device: CUdevice | int, vdpDevice: VdpDevice | int, vdpGetProcAddress: VdpGetProcAddress
) -> tuple[CUresult, CUcontext]:
    """Create and return a context on `device` that can exchange surfaces with `vdpDevice`; `flags` holds the
    usual context bits and `vdpGetProcAddress` finds VDPAU entry points.
    """


cuVDPAUCtxCreate_v2 = cuVDPAUCtxCreate


@libcuda(
    "CUresult cuGraphicsVDPAURegisterVideoSurface(CUgraphicsResource *pCudaResource, "
    "VdpVideoSurface vdpSurface, unsigned int flags)"
)
def cuGraphicsVDPAURegisterVideoSurface(
    vdpSurface: VdpVideoSurface | int, flags: int
) -> tuple[CUresult, CUgraphicsResource]:
    """Return a CUDA resource for the VDPAU video surface `vdpSurface`; `flags` is 0 for read and write, or
    hints at reading only or overwriting.
    """


@libcuda(
    "CUresult cuGraphicsVDPAURegisterOutputSurface(CUgraphicsResource *pCudaResource, "
    "VdpOutputSurface vdpSurface, unsigned int flags)"
)
def cuGraphicsVDPAURegisterOutputSurface(
    vdpSurface: VdpOutputSurface | int, flags: int
) -> tuple[CUresult, CUgraphicsResource]:
    """Return a CUDA resource for the VDPAU output surface `vdpSurface`; `flags` is 0 for read and write, or
    hints at reading only or overwriting.
    """


# -- Profiler Control --------------------------------------------------------------------------------


@libcuda(
    "CUresult cuProfilerInitialize(const char *configFile, const char *outputFile, CUoutput_mode outputMode)"
)
def cuProfilerInitialize(
    configFile: bytes | None, outputFile: bytes | None, outputMode: CUoutput_mode | int
) -> tuple[CUresult]:
    """Set up the driver's profiler from the file `configFile`, writing results to `outputFile` in the format
    `outputMode` (key-value pairs or CSV) (deprecated).
    """


@libcuda("CUresult cuProfilerStart(void)")
def cuProfilerStart() -> tuple[CUresult]:
    """Resume collection of profiling data for the current context by an attached tool; without effect if it
    is already on.
    """


@libcuda("CUresult cuProfilerStop(void)")
def cuProfilerStop() -> tuple[CUresult]:
    """Pause collection of profiling data for the current context by an attached tool; without effect if it
    is already off.
    """
