"""What each status means, in a sentence of our own, and what to do about it where that is known."""

from __future__ import annotations

CURESULT = {
    "CUDA_SUCCESS": (
        "The call did what it was asked to do; for a query, the work it asks about has finished.",
        "",
    ),
    "CUDA_ERROR_INVALID_VALUE": (
        "An argument is out of range, null where it must not be, or does not fit the others.",
        "check sizes, pointers, flags and struct fields; the driver log may say which one",
    ),
    "CUDA_ERROR_OUT_OF_MEMORY": (
        "The driver could not get enough device or host memory for this call.",
        "free buffers, trim memory pools, or see what else is on the GPU with nvidia-smi",
    ),
    "CUDA_ERROR_NOT_INITIALIZED": (
        "The driver was used before cuInit, or cuInit failed.",
        "call cuInit(0) once before any other driver call",
    ),
    "CUDA_ERROR_DEINITIALIZED": (
        "The driver is shutting down, so no more calls can be served.",
        "do not call CUDA from atexit hooks or late finalizers; release objects earlier",
    ),
    "CUDA_ERROR_PROFILER_DISABLED": (
        "The profiler cannot run now, for example because another profiling tool is attached.",
        "run without the outer profiler, or let that tool do the profiling",
    ),
    "CUDA_ERROR_PROFILER_NOT_INITIALIZED": (
        "An old profiler code for starting or stopping before initializing; recent drivers do not return it.",
        "",
    ),
    "CUDA_ERROR_PROFILER_ALREADY_STARTED": (
        "An old profiler code for starting twice; recent drivers do not return it.",
        "",
    ),
    "CUDA_ERROR_PROFILER_ALREADY_STOPPED": (
        "An old profiler code for stopping twice; recent drivers do not return it.",
        "",
    ),
    "CUDA_ERROR_STUB_LIBRARY": (
        "The libcuda that was loaded is the toolkit's link-time stub, not a real driver.",
        "take the toolkit's stubs folder out of LD_LIBRARY_PATH so the driver's own libcuda.so.1 is found",
    ),
    "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER": (
        "The installed driver is too old for this call.",
        "update the NVIDIA driver, or compare cuDriverGetVersion() before using this call",
    ),
    "CUDA_ERROR_DEVICE_UNAVAILABLE": (
        "The device exists but cannot be used now: its compute mode is exclusive and it is taken, or prohibited.",
        "check the compute mode and the running processes with nvidia-smi",
    ),
    "CUDA_ERROR_MULTICAST_RESOURCE_FULL": (
        "The hardware has no room left to bind more memory to a multicast object.",
        "unbind or free other multicast memory first",
    ),
    "CUDA_ERROR_NO_DEVICE": (
        "The driver is loaded but sees no usable CUDA device.",
        "check nvidia-smi, CUDA_VISIBLE_DEVICES and the container's GPU settings",
    ),
    "CUDA_ERROR_INVALID_DEVICE": (
        "The device number does not name a visible device, or the device cannot do what was asked.",
        "use a number from 0 to cuDeviceGetCount() - 1",
    ),
    "CUDA_ERROR_DEVICE_NOT_LICENSED": (
        "The GPU has no valid license for compute work, as can happen with a virtual GPU.",
        "set up the vGPU or GRID license on this machine",
    ),
    "CUDA_ERROR_INVALID_IMAGE": (
        "The module's bytes are not a valid cubin, fat binary or PTX text.",
        "check that the data is complete and that PTX text ends with a null byte",
    ),
    "CUDA_ERROR_INVALID_CONTEXT": (
        "No usable context is current in this thread, or the one passed in is gone.",
        "call Device.set_current() in every thread, or cuDevicePrimaryCtxRetain and cuCtxSetCurrent",
    ),
    "CUDA_ERROR_CONTEXT_ALREADY_CURRENT": (
        "An old code for pushing a context that is already current; drivers since CUDA 3.2 do not return it.",
        "",
    ),
    "CUDA_ERROR_MAP_FAILED": (
        "A resource or memory range could not be mapped.",
        "check that the resource is registered and that the system has resources left",
    ),
    "CUDA_ERROR_UNMAP_FAILED": (
        "A mapped resource or memory range could not be unmapped.",
        "check that nothing still uses it; an earlier asynchronous error may be the cause",
    ),
    "CUDA_ERROR_ARRAY_IS_MAPPED": ("The array is mapped now, so it cannot be destroyed.", "unmap it first"),
    "CUDA_ERROR_ALREADY_MAPPED": ("The resource is mapped already.", "unmap it before mapping it again"),
    "CUDA_ERROR_NO_BINARY_FOR_GPU": (
        "The module has no code that this GPU can run, and no PTX it could be compiled from.",
        "compile for this device: arch=sm_XY, or to PTX",
    ),
    "CUDA_ERROR_ALREADY_ACQUIRED": (
        "The resource has been acquired already and not yet released.",
        "release it before acquiring it again",
    ),
    "CUDA_ERROR_NOT_MAPPED": (
        "The resource is not mapped, so it can be neither used nor unmapped.",
        "map it first",
    ),
    "CUDA_ERROR_NOT_MAPPED_AS_ARRAY": (
        "The mapped resource is a buffer and cannot be reached as an array.",
        "ask for its device pointer instead",
    ),
    "CUDA_ERROR_NOT_MAPPED_AS_POINTER": (
        "The mapped resource is an image and cannot be reached as a pointer.",
        "ask for its array instead",
    ),
    "CUDA_ERROR_ECC_UNCORRECTABLE": (
        "GPU memory had an error that ECC could not correct, and the data may be wrong.",
        "restart the process; look at nvidia-smi -q -d ECC, the GPU may need a reset or replacement",
    ),
    "CUDA_ERROR_UNSUPPORTED_LIMIT": (
        "This device does not have the limit that was asked about or set.",
        "leave this limit alone on this device",
    ),
    "CUDA_ERROR_CONTEXT_ALREADY_IN_USE": (
        "The context can be current in one thread only, and another thread has it.",
        "pop it from the other thread first",
    ),
    "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED": (
        "These two devices cannot reach each other's memory.",
        "ask cuDeviceCanAccessPeer first, and copy through the host where it says no",
    ),
    "CUDA_ERROR_INVALID_PTX": (
        "The driver's compiler rejected the PTX code.",
        "read the JIT error log; common causes are a syntax error or a target above this GPU",
    ),
    "CUDA_ERROR_INVALID_GRAPHICS_CONTEXT": (
        "The OpenGL or Direct3D context is missing or not valid in this thread.",
        "make the graphics context current before the interop call",
    ),
    "CUDA_ERROR_NVLINK_UNCORRECTABLE": (
        "NVLink had an error that it could not correct.",
        "restart the process and check the links with nvidia-smi nvlink -e",
    ),
    "CUDA_ERROR_JIT_COMPILER_NOT_FOUND": (
        "The driver's PTX compiler library could not be found.",
        "install libnvidia-ptxjitcompiler from the same driver version, or load a cubin",
    ),
    "CUDA_ERROR_UNSUPPORTED_PTX_VERSION": (
        "The PTX is of a newer version than this driver can compile.",
        "update the driver, use an older compiler, or compile to a cubin: arch=sm_XY",
    ),
    "CUDA_ERROR_JIT_COMPILATION_DISABLED": (
        "PTX needs compiling, but that is switched off.",
        "unset CUDA_DISABLE_PTX_JIT, or load a cubin for this GPU",
    ),
    "CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY": (
        "This device or setup cannot limit a context in the way that was asked for.",
        "check cuDeviceGetExecAffinitySupport; SM-count limits need MPS",
    ),
    "CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC": (
        "The PTX calls cudaDeviceSynchronize in device code, which is no longer supported.",
        "remove the device-side synchronize from the kernel",
    ),
    "CUDA_ERROR_CONTAINED": (
        "A hardware or peer memory fault was contained by the GPU, but this process's CUDA state is lost.",
        "restart the process; check NVLink and the system log for Xid messages",
    ),
    "CUDA_ERROR_INSUFFICIENT_LOADER_VERSION": (
        "The fat binary needs a newer loader than this driver has.",
        "update the driver, or build with a matching toolkit",
    ),
    "CUDA_ERROR_INVALID_SOURCE": (
        "The device code that was given is not valid, or it did not compile or link.",
        "read the JIT error log, and check what was passed to the module, library or linker call",
    ),
    "CUDA_ERROR_FILE_NOT_FOUND": (
        "The file to load does not exist or cannot be read.",
        "check the path; a relative one starts from the current folder",
    ),
    "CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND": (
        "A shared library was found, but a symbol needed from it was not.",
        "check for mixed driver or library versions",
    ),
    "CUDA_ERROR_SHARED_OBJECT_INIT_FAILED": (
        "A shared library that the driver needs could not be set up.",
        "check that all driver libraries are installed and of one version",
    ),
    "CUDA_ERROR_OPERATING_SYSTEM": (
        "A system call made by the driver failed.",
        "check permissions on /dev/nvidia*, ulimits, shared memory and file handles",
    ),
    "CUDA_ERROR_INVALID_HANDLE": (
        "A handle passed in is not valid: null, destroyed, or from another context.",
        "check that the object is still alive and belongs to the current context",
    ),
    "CUDA_ERROR_ILLEGAL_STATE": (
        "Something the call needs is not in a state that allows this operation.",
        "check the order of the calls, such as what must be finished or ended first",
    ),
    "CUDA_ERROR_LOSSY_QUERY": (
        "The query would leave out something important about the object.",
        "pass the optional outputs too, or use a newer version of the query",
    ),
    "CUDA_ERROR_NOT_FOUND": (
        "The named kernel, variable, symbol or other item does not exist.",
        "check the name; C++ names are mangled, so use extern 'C' or the lowered name",
    ),
    "CUDA_ERROR_NOT_READY": (
        "The work asked about is still running; this is a status and no failure.",
        "query again later, or synchronize to wait",
    ),
    "CUDA_ERROR_ILLEGAL_ADDRESS": (
        "A kernel or copy used a device address it may not use; the context is lost.",
        "run compute-sanitizer to find the access",
    ),
    "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES": (
        "The launch needs more registers, shared memory or threads than a block can have, or bad arguments.",
        "use a smaller block or fewer registers, and check the kernel's arguments",
    ),
    "CUDA_ERROR_LAUNCH_TIMEOUT": (
        "A kernel did not end, or not in the time that the device allows; the context is lost.",
        "a GPU that drives a display stops long kernels: split the work, or use another GPU",
    ),
    "CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING": (
        "The kernel's texture references do not match the way the textures were bound.",
        "rebind the textures, or use texture objects",
    ),
    "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED": ("This context can reach that peer already.", "safe to ignore"),
    "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED": (
        "Peer access cannot be disabled, for it was never enabled.",
        "call cuCtxEnablePeerAccess first",
    ),
    "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE": (
        "The device's primary context is in use, so its setup cannot change.",
        "set the flags before the first retain, or reset the primary context",
    ),
    "CUDA_ERROR_CONTEXT_IS_DESTROYED": (
        "The context current in this thread has been destroyed or not yet set up.",
        "make another context current",
    ),
    "CUDA_ERROR_ASSERT": (
        "An assert in a kernel failed; the context is lost.",
        "read the assert message on stderr",
    ),
    "CUDA_ERROR_TOO_MANY_PEERS": (
        "The hardware cannot give this context access to any more peers.",
        "disable peer access to devices no longer used",
    ),
    "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED": (
        "This host memory, or part of it, is page-locked already.",
        "register each range once, without overlap",
    ),
    "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED": (
        "This host memory is not registered, so it cannot be unregistered or used as such.",
        "pass the address that was given to cuMemHostRegister",
    ),
    "CUDA_ERROR_HARDWARE_STACK_ERROR": (
        "The call stack on the device is broken or overflowed; the context is lost.",
        "raise CU_LIMIT_STACK_SIZE or recurse less",
    ),
    "CUDA_ERROR_ILLEGAL_INSTRUCTION": (
        "A kernel met an instruction the GPU cannot run; the context is lost.",
        "check that the code was built for this GPU",
    ),
    "CUDA_ERROR_MISALIGNED_ADDRESS": (
        "A kernel used an address that is not a multiple of the access size; the context is lost.",
        "align pointers to the type's size, such as 16 bytes for float4",
    ),
    "CUDA_ERROR_INVALID_ADDRESS_SPACE": (
        "An instruction met an address from the wrong memory space; the context is lost.",
        "check casts between shared, local and global pointers",
    ),
    "CUDA_ERROR_INVALID_PC": (
        "The device jumped to an address that holds no code; the context is lost.",
        "check function pointers and stack overwrites",
    ),
    "CUDA_ERROR_LAUNCH_FAILED": (
        "A kernel failed on the device for a reason with no code of its own; the context is lost.",
        "run compute-sanitizer or cuda-gdb to find the cause",
    ),
    "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE": (
        "The cooperative grid has more blocks than the device can hold at once.",
        "use at most blocks per SM (from the occupancy call) times the number of SMs",
    ),
    "CUDA_ERROR_TENSOR_MEMORY_LEAK": (
        "A kernel ended without freeing all of its tensor memory; the process's CUDA state is lost.",
        "free all tensor memory in the kernel before it exits",
    ),
    "CUDA_ERROR_NOT_PERMITTED": (
        "The call is not allowed here: missing rights, a callback, or the object's current state.",
        "check privileges, and do not call CUDA from host functions or callbacks",
    ),
    "CUDA_ERROR_NOT_SUPPORTED": (
        "This device, driver or system cannot do what was asked.",
        "query the matching device attribute before using the feature",
    ),
    "CUDA_ERROR_SYSTEM_NOT_READY": (
        "The system is not set up to run CUDA work yet, as when its NVSwitch fabric is not up.",
        "check that the fabric manager (nvidia-fabricmanager) is running",
    ),
    "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH": (
        "The kernel driver and the user-mode libcuda are of different versions.",
        "reboot after a driver update, or match the container's libcuda to the host",
    ),
    "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE": (
        "The forward compatibility libcuda is in use, but this GPU does not support that.",
        "remove the cuda-compat folder from LD_LIBRARY_PATH, or update the driver",
    ),
    "CUDA_ERROR_MPS_CONNECTION_FAILED": (
        "This process could not connect to the MPS control daemon or server.",
        "check that nvidia-cuda-mps-control runs and CUDA_MPS_PIPE_DIRECTORY is right",
    ),
    "CUDA_ERROR_MPS_RPC_FAILURE": (
        "A request between this process and the MPS server failed.",
        "look at the MPS server's log and restart the daemon",
    ),
    "CUDA_ERROR_MPS_SERVER_NOT_READY": (
        "The MPS server takes no new clients now, as while it recovers from a fault.",
        "try again later",
    ),
    "CUDA_ERROR_MPS_MAX_CLIENTS_REACHED": (
        "The MPS server has as many clients as it can have.",
        "end another client first",
    ),
    "CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED": (
        "The device has no hardware connections left for another MPS client.",
        "end another client, or lower CUDA_DEVICE_MAX_CONNECTIONS",
    ),
    "CUDA_ERROR_MPS_CLIENT_TERMINATED": (
        "The MPS server ended this client, perhaps on an administrator's request.",
        "restart the process",
    ),
    "CUDA_ERROR_CDP_NOT_SUPPORTED": (
        "The module launches kernels from the device, which is not supported here.",
        "build without dynamic parallelism, or leave MPS where that is the cause",
    ),
    "CUDA_ERROR_CDP_VERSION_MISMATCH": (
        "The module mixes two versions of dynamic parallelism that do not work together.",
        "rebuild all device code with one toolkit",
    ),
    "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED": (
        "This call cannot be made while a stream is being captured.",
        "move the call out of the capture",
    ),
    "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED": (
        "An earlier error spoiled this capture, so it yields no graph.",
        "end the capture, then find the first call in it that failed",
    ),
    "CUDA_ERROR_STREAM_CAPTURE_MERGE": (
        "The call would join two separate captures into one.",
        "do not wait in one capture on an event of another",
    ),
    "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED": (
        "The capture was not begun in this stream.",
        "end the capture on the stream it was begun on",
    ),
    "CUDA_ERROR_STREAM_CAPTURE_UNJOINED": (
        "The capture forked into other streams that were never joined back.",
        "record an event in each forked stream and wait for it in the first stream",
    ),
    "CUDA_ERROR_STREAM_CAPTURE_ISOLATION": (
        "The captured work would depend on work outside the capture.",
        "wait only on events recorded within the same capture",
    ),
    "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT": (
        "The call would make the capture depend on the legacy default stream.",
        "create streams as non-blocking, and keep the default stream out of the capture",
    ),
    "CUDA_ERROR_CAPTURED_EVENT": (
        "The event was last recorded in a capture, so it cannot be used this way.",
        "use another event, recorded outside the capture",
    ),
    "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD": (
        "The capture was begun in another thread and must be ended there.",
        "end it in the same thread, or begin it in relaxed mode",
    ),
    "CUDA_ERROR_TIMEOUT": (
        "The wait went past the time that was allowed for it.",
        "allow more time, or find out why the other side is late",
    ),
    "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE": (
        "The new graph differs too much from the instantiated one to update it in place.",
        "read the update's result info, then instantiate the graph anew",
    ),
    "CUDA_ERROR_EXTERNAL_DEVICE": (
        "A device other than the GPU failed, and data it shares may be invalid.",
        "check the other device; after an asynchronous failure restart the process",
    ),
    "CUDA_ERROR_INVALID_CLUSTER_SIZE": (
        "The kernel cannot be launched with this cluster size.",
        "use a smaller cluster that divides the grid, or allow non-portable sizes",
    ),
    "CUDA_ERROR_FUNCTION_NOT_LOADED": (
        "The kernel is not loaded yet, and this call does not load it.",
        "call cuFuncLoad first, or set CUDA_MODULE_LOADING=EAGER",
    ),
    "CUDA_ERROR_INVALID_RESOURCE_TYPE": (
        "A device resource is not of a type that this operation takes.",
        "check the type field, such as CU_DEV_RESOURCE_TYPE_SM",
    ),
    "CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION": (
        "The device resources are too small for the operation or do not go together.",
        "ask for SM counts that fit the minimum and the alignment of the device",
    ),
    "CUDA_ERROR_KEY_ROTATION": (
        "Changing the encryption keys of confidential computing failed.",
        "restart the process, and check the GPU's confidential computing state",
    ),
    "CUDA_ERROR_STREAM_DETACHED": (
        "The stream has lost its green context, so it can do little more.",
        "destroy the stream, and keep the green context alive longer than its streams",
    ),
    "CUDA_ERROR_GRAPH_RECAPTURE_FAILURE": (
        "Capturing into an existing graph failed and was stopped.",
        "make the same nodes in the same order, or capture a new graph",
    ),
    "CUDA_ERROR_FABRIC_NOT_READY": (
        "The GPU's fabric did not come up within the time that the driver waits.",
        "try again later, check the fabric manager, or raise CUDA_FABRIC_INIT_TIMEOUT_MS",
    ),
    "CUDA_ERROR_UNKNOWN": (
        "Something failed inside the driver, for a reason it does not name.",
        "check the system log (dmesg) for Xid messages; a reboot or driver reload may help",
    ),
}

NVRTCRESULT = {
    "NVRTC_SUCCESS": ("The call did what it was asked to do.", ""),
    "NVRTC_ERROR_OUT_OF_MEMORY": (
        "The compiler could not get enough host memory.",
        "free memory, or compile fewer programs at once",
    ),
    "NVRTC_ERROR_PROGRAM_CREATION_FAILURE": (
        "The program object could not be made from the source and headers.",
        "check the source text, the header list and the program's name",
    ),
    "NVRTC_ERROR_INVALID_INPUT": (
        "An argument is not valid, such as a null pointer or a negative count.",
        "check the arguments, and that the result was asked for by the options used",
    ),
    "NVRTC_ERROR_INVALID_PROGRAM": (
        "The program handle is null, destroyed or not a program.",
        "create the program first, and use it only until it is destroyed",
    ),
    "NVRTC_ERROR_INVALID_OPTION": (
        "The compiler does not know one of the options, or its value is wrong.",
        "check spelling and arch; an older NVRTC may not know a newer GPU",
    ),
    "NVRTC_ERROR_COMPILATION": ("The source did not compile.", "read the program log for the errors"),
    "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE": (
        "The compiler could not load or use its own built-in code.",
        "put libnvrtc-builtins of the same version beside libnvrtc",
    ),
    "NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION": (
        "A name expression was added after the program had been compiled.",
        "add all name expressions before compiling",
    ),
    "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION": (
        "A lowered name was asked for before the program was compiled.",
        "compile the program first",
    ),
    "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID": (
        "This name expression was not added, or it names no kernel or variable of the program.",
        "pass exactly the text that was added before compiling",
    ),
    "NVRTC_ERROR_INTERNAL_ERROR": (
        "The compiler failed inside itself.",
        "read the program log, try simpler source or options, or another NVRTC version",
    ),
    "NVRTC_ERROR_TIME_FILE_WRITE_FAILED": (
        "The timing file named by the --time option could not be written.",
        "check that the path exists and can be written",
    ),
    "NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED": (
        "No precompiled header was tried, so there is no result or heap size to report.",
        "compile with --pch or --create-pch first",
    ),
    "NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED": (
        "The precompiled header did not fit in the heap set aside for it.",
        "ask for the needed size, set the PCH heap size to it and compile again",
    ),
    "NVRTC_ERROR_PCH_CREATE": (
        "The precompiled header could not be made.",
        "read the program log; the PCH folder must be writable",
    ),
    "NVRTC_ERROR_CANCELLED": (
        "The compilation was stopped by the flow callback.",
        "compile again if it was not meant to stop",
    ),
    "NVRTC_ERROR_TIME_TRACE_FILE_WRITE_FAILED": (
        "The trace file named by the time trace option could not be written.",
        "check that the path exists and can be written",
    ),
    "NVRTC_ERROR_BUSY": (
        "The program is in use by another call that has not finished.",
        "let the other thread's call end, or use one program per thread",
    ),
}

_DRIVERS_OWN = (
    "OUT_OF_MEMORY NOT_INITIALIZED DEINITIALIZED DEVICE_UNAVAILABLE MULTICAST_RESOURCE_FULL INVALID_IMAGE "
    "INVALID_CONTEXT CONTEXT_ALREADY_CURRENT MAP_FAILED UNMAP_FAILED NO_BINARY_FOR_GPU ECC_UNCORRECTABLE "
    "CONTEXT_ALREADY_IN_USE UNSUPPORTED_DEVSIDE_SYNC INVALID_HANDLE NOT_FOUND PRIMARY_CONTEXT_ACTIVE "
    "LAUNCH_FAILED KEY_ROTATION "
)
"""Those of which the Runtime API has none of this name."""


def _of_runtime(name: str) -> str:
    """CUDA_ERROR_INVALID_VALUE as cudaErrorInvalidValue."""
    return "cudaError" + "".join(map(str.capitalize, name.split("_")[2:]))


CUDAERROR = {
    _of_runtime(name): meaning
    for name, meaning in CURESULT.items()
    if name != "CUDA_SUCCESS" and name[11:] not in _DRIVERS_OWN.split()
} | {
    "cudaSuccess": CURESULT["CUDA_SUCCESS"],
    "cudaErrorMemoryAllocation": (
        "CUDA could not get enough device or host memory for this call.",
        "free buffers, trim memory pools, or see what else is on the GPU with nvidia-smi",
    ),
    "cudaErrorInitializationError": (
        "CUDA could not be set up in this process; a process forked after CUDA was used cannot use it.",
        "start worker processes with multiprocessing's 'spawn' method",
    ),
    "cudaErrorCudartUnloading": (
        "CUDA is shutting down, so no more calls can be served.",
        "do not call CUDA from atexit hooks or late finalizers; release objects earlier",
    ),
    "cudaErrorInvalidConfiguration": (
        "The grid or block sizes are 0 or beyond what the device allows.",
        "check gridDim, blockDim and shared memory against cudaGetDeviceProperties",
    ),
    "cudaErrorVersionTranslation": (
        "The driver speaks an older version of an internal interface than this libcudart.",
        "update the NVIDIA driver",
    ),
    "cudaErrorInvalidPitchValue": (
        "A pitch is smaller than the row it belongs to, or larger than the device allows.",
        "use the pitch that the allocation returned, in bytes",
    ),
    "cudaErrorInvalidSymbol": (
        "The symbol name or address is not that of a device variable.",
        "for code loaded as a library ask cudaLibraryGetGlobal for the address",
    ),
    "cudaErrorInvalidHostPointer": (
        "An old code for a host pointer that is not a valid one; recent releases do not return it.",
        "",
    ),
    "cudaErrorInvalidDevicePointer": (
        "A pointer is not a valid device pointer.",
        "check that it came from a CUDA allocation and was not freed",
    ),
    "cudaErrorInvalidTexture": (
        "The texture object or reference is not valid.",
        "check that it was created and not destroyed yet",
    ),
    "cudaErrorInvalidTextureBinding": (
        "The texture is not bound, which happens with texture references alone.",
        "use texture objects",
    ),
    "cudaErrorInvalidChannelDescriptor": (
        "The channel format is not one that an array or texture can have.",
        "see cudaCreateChannelDesc: 1, 2 or 4 channels of equal width",
    ),
    "cudaErrorInvalidMemcpyDirection": (
        "The copy direction is not one of cudaMemcpyKind, or does not fit the addresses.",
        "use cudaMemcpyDefault, or the direction that the two addresses have",
    ),
    "cudaErrorAddressOfConstant": (
        "An old code for taking the address of a constant; recent releases do not return it.",
        "",
    ),
    "cudaErrorTextureFetchFailed": (
        "An old code for a failed texture fetch; recent releases do not return it.",
        "",
    ),
    "cudaErrorTextureNotBound": (
        "An old code for a texture that is not bound; recent releases do not return it.",
        "",
    ),
    "cudaErrorSynchronizationError": (
        "An old code for a failed synchronization; recent releases do not return it.",
        "",
    ),
    "cudaErrorInvalidFilterSetting": (
        "A texture of integers cannot be filtered linearly unless it is read as normalized floats.",
        "use cudaFilterModePoint, or cudaReadModeNormalizedFloat",
    ),
    "cudaErrorInvalidNormSetting": (
        "A texture of this format cannot be read as normalized floats.",
        "use cudaReadModeElementType",
    ),
    "cudaErrorMixedDeviceExecution": (
        "An old code for mixing device and emulation; recent releases do not return it.",
        "",
    ),
    "cudaErrorNotYetImplemented": (
        "An old code for what was not implemented; recent releases do not return it.",
        "",
    ),
    "cudaErrorMemoryValueTooLarge": (
        "An old code for an emulated pointer that was too large; recent releases do not return it.",
        "",
    ),
    "cudaErrorInsufficientDriver": (
        "The NVIDIA driver is older than this libcudart, or there is no driver on this machine.",
        "install or update the NVIDIA driver, or use a libcudart of an older CUDA",
    ),
    "cudaErrorCallRequiresNewerDriver": (
        "The installed driver is too old for this call.",
        "update the NVIDIA driver, or compare cudaDriverGetVersion() before using this call",
    ),
    "cudaErrorInvalidSurface": (
        "The surface object or reference is not valid.",
        "check that it was created and not destroyed yet",
    ),
    "cudaErrorDuplicateVariableName": (
        "Several device variables have one name.",
        "give each a name of its own",
    ),
    "cudaErrorDuplicateTextureName": (
        "Several textures have one name.",
        "give each a name of its own",
    ),
    "cudaErrorDuplicateSurfaceName": (
        "Several surfaces have one name.",
        "give each a name of its own",
    ),
    "cudaErrorDevicesUnavailable": CURESULT["CUDA_ERROR_DEVICE_UNAVAILABLE"],
    "cudaErrorIncompatibleDriverContext": (
        "The driver context that is current cannot be used by the Runtime API.",
        "make the primary context current: cuDevicePrimaryCtxRetain, then cuCtxSetCurrent",
    ),
    "cudaErrorMissingConfiguration": (
        "A kernel was launched without its grid and block sizes.",
        "use cudaLaunchKernel",
    ),
    "cudaErrorPriorLaunchFailure": (
        "An old code for an earlier failed launch; recent releases do not return it.",
        "",
    ),
    "cudaErrorLaunchMaxDepthExceeded": (
        "Kernels launched from the device are nested too deeply.",
        "nest fewer launches",
    ),
    "cudaErrorLaunchFileScopedTex": (
        "A kernel launched from the device uses a texture reference at file scope.",
        "use texture objects",
    ),
    "cudaErrorLaunchFileScopedSurf": (
        "A kernel launched from the device uses a surface reference at file scope.",
        "use surface objects",
    ),
    "cudaErrorSyncDepthExceeded": (
        "A kernel waited for its child grids at a deeper level than was set aside for it.",
        "raise cudaLimitDevRuntimeSyncDepth, or wait at fewer levels",
    ),
    "cudaErrorLaunchPendingCountExceeded": (
        "Too many kernels launched from the device are waiting to run.",
        "raise cudaLimitDevRuntimePendingLaunchCount",
    ),
    "cudaErrorInvalidDeviceFunction": (
        "The kernel does not exist, or has no code for this device.",
        "pass a cudaKernel_t or cudaFunction_t, and compile for this device",
    ),
    "cudaErrorInvalidDevice": (
        "The device number does not name a visible device, or the device cannot do what was asked.",
        "use a number from 0 to cudaGetDeviceCount() - 1",
    ),
    "cudaErrorSoftwareValidityNotEstablished": (
        "The GPU or the system could not verify the software it runs.",
        "check that driver and firmware are those that the vendor released for this GPU",
    ),
    "cudaErrorStartupFailure": (
        "CUDA failed to start, for an internal reason.",
        "check the driver with nvidia-smi",
    ),
    "cudaErrorInvalidKernelImage": (
        "The library's bytes are not a valid cubin, fat binary or PTX text.",
        "check that the data is complete and that PTX text ends with a null byte",
    ),
    "cudaErrorDeviceUninitialized": (
        "No usable context is current in this thread.",
        "call cudaSetDevice or cudaInitDevice first, in every thread",
    ),
    "cudaErrorMapBufferObjectFailed": CURESULT["CUDA_ERROR_MAP_FAILED"],
    "cudaErrorUnmapBufferObjectFailed": CURESULT["CUDA_ERROR_UNMAP_FAILED"],
    "cudaErrorNoKernelImageForDevice": CURESULT["CUDA_ERROR_NO_BINARY_FOR_GPU"],
    "cudaErrorECCUncorrectable": CURESULT["CUDA_ERROR_ECC_UNCORRECTABLE"],
    "cudaErrorDeviceAlreadyInUse": CURESULT["CUDA_ERROR_CONTEXT_ALREADY_IN_USE"],
    "cudaErrorPeerAccessUnsupported": (
        "These two devices cannot reach each other's memory.",
        "ask cudaDeviceCanAccessPeer first, and copy through the host where it says no",
    ),
    "cudaErrorUnsupportedExecAffinity": (
        "This device or setup cannot limit a context in the way that was asked for.",
        "SM-count limits need MPS",
    ),
    "cudaErrorUnsupportedDevSideSync": CURESULT["CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC"],
    "cudaErrorInvalidResourceHandle": CURESULT["CUDA_ERROR_INVALID_HANDLE"],
    "cudaErrorSymbolNotFound": CURESULT["CUDA_ERROR_NOT_FOUND"],
    "cudaErrorPeerAccessNotEnabled": (
        "Peer access cannot be disabled, for it was never enabled.",
        "call cudaDeviceEnablePeerAccess first",
    ),
    "cudaErrorSetOnActiveProcess": (
        "The device is in use already, so this setting cannot change.",
        "set it before the first call that uses the device, or after cudaDeviceReset",
    ),
    "cudaErrorHostMemoryNotRegistered": (
        "This host memory is not registered, so it cannot be unregistered or used as such.",
        "pass the address that was given to cudaHostRegister",
    ),
    "cudaErrorHardwareStackError": (
        "The call stack on the device is broken or overflowed; the context is lost.",
        "raise cudaLimitStackSize or recurse less",
    ),
    "cudaErrorLaunchFailure": CURESULT["CUDA_ERROR_LAUNCH_FAILED"],
    "cudaErrorFunctionNotLoaded": (
        "The kernel is not loaded yet, and this call does not load it.",
        "set CUDA_MODULE_LOADING=EAGER",
    ),
    "cudaErrorInvalidResourceType": (
        "A device resource is not of a type that this operation takes.",
        "check the type field, such as cudaDevResourceTypeSm",
    ),
    "cudaErrorApiFailureBase": (
        "An old code for unhandled driver errors; recent releases do not return it.",
        "",
    ),
}

NVJITLINKRESULT = {
    "NVJITLINK_SUCCESS": ("The call did what it was asked to do.", ""),
    "NVJITLINK_ERROR_UNRECOGNIZED_OPTION": (
        "The linker does not know one of the options.",
        "check the spelling; an option starts with one dash, and its value follows '=' without a space",
    ),
    "NVJITLINK_ERROR_MISSING_ARCH": (
        "No architecture was given.",
        "add the option -arch=sm_XY, such as -arch=sm_90",
    ),
    "NVJITLINK_ERROR_INVALID_INPUT": (
        "An argument is not valid, or this result does not exist for the options used.",
        "check the handle, the input and its type; PTX can be had with -lto and -ptx only",
    ),
    "NVJITLINK_ERROR_PTX_COMPILE": (
        "A PTX input did not compile.",
        "read the error log; PTX may be newer than this library, or for a newer architecture",
    ),
    "NVJITLINK_ERROR_NVVM_COMPILE": (
        "An LTO-IR input did not compile.",
        "read the error log; LTO-IR must not come from a compiler newer than this library",
    ),
    "NVJITLINK_ERROR_INTERNAL": (
        "The linker failed inside itself, or could not use its input.",
        "read the error log",
    ),
    "NVJITLINK_ERROR_THREADPOOL": (
        "The linker's threads failed.",
        "try without -split-compile",
    ),
    "NVJITLINK_ERROR_UNRECOGNIZED_INPUT": (
        "The input is of no kind that the linker knows.",
        "check what the data is, and name its type",
    ),
    "NVJITLINK_ERROR_FINALIZE": (
        "The last step, from the linked code to the final cubin, failed.",
        "read the error log",
    ),
    "NVJITLINK_ERROR_NULL_INPUT": ("An argument is null or empty.", "check the handle, data and options"),
    "NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS": (
        "Two of the options exclude each other, or one needs another.",
        "-ptx needs -lto, for instance",
    ),
    "NVJITLINK_ERROR_INCORRECT_INPUT_TYPE": (
        "The data is not of the type that it was said to be.",
        "name the right input type, or ANY",
    ),
    "NVJITLINK_ERROR_ARCH_MISMATCH": (
        "An input was made for another architecture than the one linked for.",
        "compile all inputs for the architecture of -arch",
    ),
    "NVJITLINK_ERROR_OUTDATED_LIBRARY": (
        "An input was made by a newer CUDA release than this library.",
        "install an nvJitLink at least as new as the compiler of every input",
    ),
    "NVJITLINK_ERROR_MISSING_FATBIN": (
        "The host object or library holds no device code.",
        "compile it with nvcc -dc or -rdc=true",
    ),
    "NVJITLINK_ERROR_UNRECOGNIZED_ARCH": (
        "The value of -arch is not the name of an architecture.",
        "write sm_XY or, for PTX alone, compute_XY",
    ),
    "NVJITLINK_ERROR_UNSUPPORTED_ARCH": (
        "This library does not link for the architecture of -arch.",
        "newer GPUs need a newer nvJitLink, GPUs no longer supported an older one",
    ),
    "NVJITLINK_ERROR_LTO_NOT_ENABLED": (
        "There is an LTO-IR input, and the linker was made without -lto.",
        "add the option -lto",
    ),
}

NVVMRESULT = {
    "NVVM_SUCCESS": ("The call did what it was asked to do.", ""),
    "NVVM_ERROR_OUT_OF_MEMORY": (
        "The compiler could not get enough host memory.",
        "free memory, or compile fewer programs at once",
    ),
    "NVVM_ERROR_PROGRAM_CREATION_FAILURE": ("The program object could not be made.", ""),
    "NVVM_ERROR_IR_VERSION_MISMATCH": (
        "The module's NVVM IR is of a version that this library does not read.",
        "compare its !nvvmir.version with nvvmIRVersion()",
    ),
    "NVVM_ERROR_INVALID_INPUT": (
        "An argument is not valid, such as a null pointer or an empty module.",
        "check the arguments",
    ),
    "NVVM_ERROR_INVALID_PROGRAM": (
        "The program handle is null, destroyed or not a program.",
        "create the program first, and use it only until it is destroyed",
    ),
    "NVVM_ERROR_INVALID_IR": (
        "The module is not valid NVVM IR.",
        "read the program log, which names the line",
    ),
    "NVVM_ERROR_INVALID_OPTION": (
        "The compiler does not know one of the options, or its value is wrong.",
        "read the program log; an architecture is written compute_XY, as in -arch=compute_90",
    ),
    "NVVM_ERROR_NO_MODULE_IN_PROGRAM": (
        "The program holds no module, or only lazily added ones.",
        "add a module with nvvmAddModuleToProgram first",
    ),
    "NVVM_ERROR_COMPILATION": ("The program did not compile.", "read the program log for the errors"),
    "NVVM_ERROR_CANCELLED": ("The compilation was stopped from outside.", ""),
}

NVFATBINRESULT = {
    "NVFATBIN_SUCCESS": ("The call did what it was asked to do.", ""),
    "NVFATBIN_ERROR_INTERNAL": ("The library failed inside itself, or could not read an input.", ""),
    "NVFATBIN_ERROR_ELF_ARCH_MISMATCH": (
        "The cubin was made for another architecture than the one named.",
        "give the number of the architecture that the cubin was compiled for",
    ),
    "NVFATBIN_ERROR_ELF_SIZE_MISMATCH": (
        "The cubin is longer or shorter than the size given.",
        "give the number of bytes that the cubin has",
    ),
    "NVFATBIN_ERROR_MISSING_PTX_VERSION": (
        "The PTX has no .version line.",
        "check that the text is PTX and is complete",
    ),
    "NVFATBIN_ERROR_NULL_POINTER": ("An argument is null that must not be.", "check the handle and data"),
    "NVFATBIN_ERROR_COMPRESSION_FAILED": ("An entry could not be compressed.", "try -compress=false"),
    "NVFATBIN_ERROR_COMPRESSED_SIZE_EXCEEDED": (
        "The compressed entry is too large for the format.",
        "try -compress=false",
    ),
    "NVFATBIN_ERROR_UNRECOGNIZED_OPTION": (
        "The library does not know one of the options.",
        "check the spelling; an option starts with one dash, and its value follows '=' without a space",
    ),
    "NVFATBIN_ERROR_INVALID_ARCH": (
        "The architecture is not one that the library knows.",
        "write its number alone, such as 90 for sm_90",
    ),
    "NVFATBIN_ERROR_INVALID_NVVM": ("The data is not LTO-IR.", "check what the data is"),
    "NVFATBIN_ERROR_EMPTY_INPUT": ("The input has no bytes.", "check the data and its size"),
    "NVFATBIN_ERROR_MISSING_PTX_ARCH": (
        "The PTX has no .target line.",
        "check that the text is PTX and is complete",
    ),
    "NVFATBIN_ERROR_PTX_ARCH_MISMATCH": (
        "The PTX was made for another architecture than the one named.",
        "give the number of its .target line",
    ),
    "NVFATBIN_ERROR_MISSING_FATBIN": (
        "The host object holds no device code.",
        "compile it with nvcc, and not for the host alone",
    ),
    "NVFATBIN_ERROR_INVALID_INDEX": ("The data is not an index file.", "check what the data is"),
    "NVFATBIN_ERROR_IDENTIFIER_REUSE": (
        "Two entries for the same architecture have the same identifier.",
        "give each entry an identifier of its own",
    ),
    "NVFATBIN_ERROR_INTERNAL_PTX_OPTION": (
        "The options for compiling the PTX later are not valid.",
        "check them against those of ptxas",
    ),
}

NVMLRETURN = {
    "NVML_SUCCESS": ("The call did what it was asked to do.", ""),
    "NVML_ERROR_UNINITIALIZED": ("NVML is not initialised.", "call nvmlInit first"),
    "NVML_ERROR_INVALID_ARGUMENT": ("An argument is not valid.", ""),
    "NVML_ERROR_NOT_SUPPORTED": ("The device or the system does not support what was asked.", ""),
    "NVML_ERROR_NO_PERMISSION": (
        "This user may not do what was asked.",
        "it needs root, or an administrator",
    ),
    "NVML_ERROR_ALREADY_INITIALIZED": ("NVML is initialised already.", ""),
    "NVML_ERROR_NOT_FOUND": ("What was asked for is not there.", ""),
    "NVML_ERROR_INSUFFICIENT_SIZE": (
        "There is too little room for the answer.",
        "give more, or leave the count out",
    ),
    "NVML_ERROR_INSUFFICIENT_POWER": ("External power cables of the board are not plugged in well.", ""),
    "NVML_ERROR_DRIVER_NOT_LOADED": (
        "The kernel module of the NVIDIA driver is not loaded.",
        "load it, or install the driver",
    ),
    "NVML_ERROR_TIMEOUT": ("Nothing happened in the time that was given.", ""),
    "NVML_ERROR_IRQ_ISSUE": ("The kernel has a problem with the interrupt of a GPU.", ""),
    "NVML_ERROR_LIBRARY_NOT_FOUND": (
        "NVML did not find or could not load a library that it needs.",
        "install the driver again",
    ),
    "NVML_ERROR_FUNCTION_NOT_FOUND": ("The library of the driver lacks this function.", "use a newer driver"),
    "NVML_ERROR_CORRUPTED_INFOROM": ("The infoROM of the board is corrupted.", ""),
    "NVML_ERROR_GPU_IS_LOST": (
        "The GPU is no longer on the bus, or cannot be reached.",
        "see the log of the kernel for Xid errors",
    ),
    "NVML_ERROR_RESET_REQUIRED": ("The GPU has to be reset before it can be used.", ""),
    "NVML_ERROR_OPERATING_SYSTEM": (
        "The operating system refused access to the GPU.",
        "see whether a container has its device files",
    ),
    "NVML_ERROR_LIB_RM_VERSION_MISMATCH": (
        "The library and the kernel module of the driver are of different versions.",
        "reboot, or reload the kernel module",
    ),
    "NVML_ERROR_IN_USE": ("The GPU is in use.", "end the processes that use it"),
    "NVML_ERROR_MEMORY": ("There is not enough memory.", ""),
    "NVML_ERROR_NO_DATA": ("There is no data yet.", ""),
    "NVML_ERROR_VGPU_ECC_NOT_SUPPORTED": ("The vGPU cannot be used while ECC is on.", ""),
    "NVML_ERROR_INSUFFICIENT_RESOURCES": (
        "The device has too little left of something other than memory.",
        "",
    ),
    "NVML_ERROR_FREQ_NOT_SUPPORTED": ("The frequency is not supported.", "ask for the supported clocks"),
    "NVML_ERROR_ARGUMENT_VERSION_MISMATCH": (
        "The version in a struct is not one that this driver knows.",
        "use the struct of an earlier version, or a newer driver",
    ),
    "NVML_ERROR_DEPRECATED": ("The function is deprecated, and does nothing.", ""),
    "NVML_ERROR_NOT_READY": ("The system is not ready.", "try again later"),
    "NVML_ERROR_GPU_NOT_FOUND": ("There is no GPU.", ""),
    "NVML_ERROR_INVALID_STATE": ("The resource is not in the right state.", ""),
    "NVML_ERROR_RESET_TYPE_NOT_SUPPORTED": ("This kind of reset is not supported.", ""),
    "NVML_ERROR_UNKNOWN": ("An error inside the driver.", ""),
}

NCCLRESULT = {
    "ncclSuccess": ("The call did what it was asked to do.", ""),
    "ncclUnhandledCudaError": (
        "A call of CUDA's failed.",
        "set NCCL_DEBUG=WARN, which tells the call, and look for an earlier fault on the device",
    ),
    "ncclSystemError": (
        "A call of the system failed: of the network, of shared memory, of a file.",
        "set NCCL_DEBUG=WARN, which tells the call; containers often have too little /dev/shm",
    ),
    "ncclInternalError": (
        "An error inside NCCL, or a broken driver or network.",
        "set NCCL_DEBUG=WARN, which tells the place",
    ),
    "ncclInvalidArgument": ("An argument is not valid.", "set NCCL_DEBUG=WARN, which tells the argument"),
    "ncclInvalidUsage": (
        "The calls do not go together: a device is there twice, for instance, or a group is not ended.",
        "set NCCL_DEBUG=WARN, which tells why",
    ),
    "ncclRemoteError": (
        "Another rank failed, or the connection to it was lost.",
        "look for the first error of the other ranks",
    ),
    "ncclInProgress": (
        "The call goes on: the communicator is not blocking.",
        "ask ncclCommGetAsyncError until it has ended",
    ),
    "ncclTimeout": ("It took too long.", "look for a rank that has ended or makes other calls"),
    "ncclNumResults": ("This is how many statuses there are, and none itself.", ""),
}

CUFILEOPERROR = {
    "CU_FILE_SUCCESS": ("The call did what it was asked to do.", ""),
    "CU_FILE_DRIVER_NOT_INITIALIZED": (
        "The driver of GPUDirect Storage is not open, or nvidia-fs is not loaded and compatibility mode is off.",
        "call cuFileDriverOpen, and leave allow_compat_mode on in cufile.json",
    ),
    "CU_FILE_DRIVER_INVALID_PROPS": ("A property has a value that it cannot have.", ""),
    "CU_FILE_DRIVER_UNSUPPORTED_LIMIT": ("A property is out of its range.", ""),
    "CU_FILE_DRIVER_VERSION_MISMATCH": (
        "The nvidia-fs driver and the library do not go together.",
        "install both from one release of CUDA",
    ),
    "CU_FILE_DRIVER_VERSION_READ_ERROR": ("The version of the nvidia-fs driver could not be read.", ""),
    "CU_FILE_DRIVER_CLOSING": ("The driver of GPUDirect Storage is being closed.", ""),
    "CU_FILE_PLATFORM_NOT_SUPPORTED": (
        "GPUDirect Storage does not know this machine, and compatibility mode is off.",
        "leave allow_compat_mode on in cufile.json",
    ),
    "CU_FILE_IO_NOT_SUPPORTED": (
        "GPUDirect Storage does not work with this file, and compatibility mode is off.",
        "leave allow_compat_mode on in cufile.json",
    ),
    "CU_FILE_DEVICE_NOT_SUPPORTED": ("GPUDirect Storage does not work with this GPU.", ""),
    "CU_FILE_NVFS_DRIVER_ERROR": ("A request to the nvidia-fs driver failed.", "see cufile.log"),
    "CU_FILE_CUDA_DRIVER_ERROR": (
        "A call of the CUDA driver failed.",
        "make a context current in this thread before cuFile is called",
    ),
    "CU_FILE_CUDA_POINTER_INVALID": ("The address is not one of device memory.", ""),
    "CU_FILE_CUDA_MEMORY_TYPE_INVALID": ("cuFile cannot use memory of this kind.", ""),
    "CU_FILE_CUDA_POINTER_RANGE_ERROR": ("The memory ends before the transfer does.", ""),
    "CU_FILE_CUDA_CONTEXT_MISMATCH": (
        "The memory is of another context.",
        "make the context current that the memory was allocated in",
    ),
    "CU_FILE_INVALID_MAPPING_SIZE": ("The transfer is larger than the memory that can be pinned.", ""),
    "CU_FILE_INVALID_MAPPING_RANGE": ("The transfer ends behind the memory that is registered.", ""),
    "CU_FILE_INVALID_FILE_TYPE": ("The file is not a regular one.", ""),
    "CU_FILE_INVALID_FILE_OPEN_FLAG": ("The file was opened with flags that cuFile cannot use.", ""),
    "CU_FILE_DIO_NOT_SET": ("The file was not opened with O_DIRECT.", "open it with os.O_DIRECT"),
    "CU_FILE_INVALID_VALUE": (
        "An argument is not valid.",
        "check the handle, sizes and offsets; a parameter is set before the driver is opened",
    ),
    "CU_FILE_MEMORY_ALREADY_REGISTERED": ("The memory is registered already.", ""),
    "CU_FILE_MEMORY_NOT_REGISTERED": ("The memory is not registered.", ""),
    "CU_FILE_PERMISSION_DENIED": ("The file or the nvidia-fs driver may not be accessed.", ""),
    "CU_FILE_DRIVER_ALREADY_OPEN": (
        "The driver of GPUDirect Storage is open already.",
        "set parameters before cuFileDriverOpen and before any file is registered",
    ),
    "CU_FILE_HANDLE_NOT_REGISTERED": (
        "The file is not registered, or could not be.",
        "see cufile.log: in containers libcufile needs /run/udev to know the file system",
    ),
    "CU_FILE_HANDLE_ALREADY_REGISTERED": ("The file is registered already.", ""),
    "CU_FILE_DEVICE_NOT_FOUND": ("There is no such GPU.", ""),
    "CU_FILE_INTERNAL_ERROR": ("An error inside libcufile.", "see cufile.log"),
    "CU_FILE_GETNEWFD_FAILED": ("No new file descriptor could be had.", "see ulimit -n"),
    "CU_FILE_NVFS_SETUP_ERROR": ("The nvidia-fs driver could not be set up.", "see cufile.log"),
    "CU_FILE_IO_DISABLED": ("cufile.json switches GPUDirect Storage off for this file.", ""),
    "CU_FILE_BATCH_SUBMIT_FAILED": ("The batch could not be submitted.", "see cufile.log"),
    "CU_FILE_GPU_MEMORY_PINNING_FAILED": (
        "The device memory could not be pinned.",
        "register less memory at a time: BAR1 limits it, see cuFileGetBARSizeInKB",
    ),
    "CU_FILE_BATCH_FULL": ("The batch holds no more operations.", "wait for some of them to end"),
    "CU_FILE_ASYNC_NOT_SUPPORTED": ("Reads and writes in a stream do not work here.", ""),
    "CU_FILE_INTERNAL_BATCH_SETUP_ERROR": ("The batch could not be made.", "try again later"),
    "CU_FILE_INTERNAL_BATCH_SUBMIT_ERROR": ("The batch could not be submitted.", "try again later"),
    "CU_FILE_INTERNAL_BATCH_GETSTATUS_ERROR": ("The batch could not be asked.", "try again later"),
    "CU_FILE_INTERNAL_BATCH_CANCEL_ERROR": ("The batch could not be cancelled.", "try again later"),
    "CU_FILE_NOMEM_ERROR": ("cuFile has not enough memory.", "try again later"),
    "CU_FILE_IO_ERROR": ("Reading or writing failed.", "see cufile.log"),
    "CU_FILE_INTERNAL_BUF_REGISTER_ERROR": ("The memory could not be registered.", "see cufile.log"),
    "CU_FILE_HASH_OPR_ERROR": ("A table inside libcufile could not be changed.", "see cufile.log"),
    "CU_FILE_INVALID_CONTEXT_ERROR": ("The context is not valid.", "make one current in this thread"),
    "CU_FILE_NVFS_INTERNAL_DRIVER_ERROR": ("An error inside the nvidia-fs driver.", "see the kernel's log"),
    "CU_FILE_BATCH_NOCOMPAT_ERROR": ("The batch needs compatibility mode, which is off.", ""),
    "CU_FILE_IO_MAX_ERROR": ("This is the last of the statuses, and none itself.", ""),
}

CUDLASTATUS = {
    "cudlaSuccess": ("The call did what it was asked to do.", ""),
    "cudlaErrorInvalidParam": ("An argument is not valid.", ""),
    "cudlaErrorOutOfResources": ("There is not enough memory, or another resource is used up.", ""),
    "cudlaErrorCreationFailed": ("What the library makes for itself could not be made.", ""),
    "cudlaErrorInvalidAddress": (
        "The memory is not registered, or is not valid.",
        "call cudlaMemRegister first",
    ),
    "cudlaErrorOs": ("A call of the operating system failed.", ""),
    "cudlaErrorCuda": ("A call of CUDA's failed.", "look for an earlier fault on the device"),
    "cudlaErrorUmd": ("The accelerator's driver in user space failed.", ""),
    "cudlaErrorInvalidDevice": ("There is no such device, or its handle is not valid.", ""),
    "cudlaErrorInvalidAttribute": ("There is no such attribute.", ""),
    "cudlaErrorIncompatibleDlaSWVersion": ("The driver of the accelerator is too old for the library.", ""),
    "cudlaErrorMemoryRegistered": ("The memory is registered already.", ""),
    "cudlaErrorInvalidModule": ("The network is not valid, or was made for another release.", ""),
    "cudlaErrorUnsupportedOperation": ("The library does not do this here.", ""),
    "cudlaErrorNvSci": ("A call of NvSci failed.", ""),
    "cudlaErrorDriverNotFound": ("The driver of the accelerator was not found.", ""),
    "cudlaErrorDlaErrInvalidInput": ("The accelerator was given an input that is not valid.", ""),
    "cudlaErrorDlaErrInvalidPreAction": ("What the task does first failed on the accelerator.", ""),
    "cudlaErrorDlaErrNoMem": ("The accelerator has not enough memory.", ""),
    "cudlaErrorDlaErrProcessorBusy": ("The accelerator is busy.", "try again later"),
    "cudlaErrorDlaErrTaskStatusMismatch": (
        "The accelerator's task ended in another state than was expected.",
        "",
    ),
    "cudlaErrorDlaErrEngineTimeout": ("The accelerator took too long.", "see cudlaSetTaskTimeoutInMs"),
    "cudlaErrorDlaErrDataMismatch": ("The accelerator found data other than was expected.", ""),
    "cudlaErrorUnknown": ("An error that the library does not know.", ""),
}
