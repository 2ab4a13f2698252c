"""Every function that a libcuda exports, in all its versions, and what cuGetProcAddress finds.

A name has a version for each change of its parameters or of what it does. The first is exported under the
bare name, the others as `_v2`, `_v3` and so on. Where the default stream matters, there is another form of
one or more versions in which it is the thread's own: `_ptds`, or `_ptsz` where the function takes a stream.

Source: cudaTypedefs.h of CUDA 13.5 and its kin for OpenGL, EGL, VDPAU and the profiler, where
PFN_cuMemAlloc_v3020 is cuMemAlloc as CUDA 3.2 introduced it.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from .._ffi.library import symbol_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

_TABLE = """\
2000: cuArrayDestroy cuCtxAttach cuCtxDetach cuDeviceComputeCapability cuDeviceGet cuDeviceGetAttribute
    cuDeviceGetCount cuDeviceGetName cuDeviceGetProperties cuEventCreate cuEventQuery cuEventSynchronize
    cuFuncSetBlockShape cuFuncSetSharedSize cuGLInit cuGLRegisterBufferObject cuGLUnmapBufferObject
    cuGLUnregisterBufferObject cuInit cuLaunch cuLaunchGrid cuLaunchGridAsync cuMemFreeHost
    cuModuleGetFunction cuModuleGetTexRef cuModuleLoad cuModuleLoadData cuModuleLoadFatBinary
    cuModuleUnload cuParamSetSize cuParamSetTexRef cuParamSetf cuParamSeti cuParamSetv cuStreamCreate
    cuTexRefCreate cuTexRefDestroy cuTexRefGetAddressMode cuTexRefGetArray cuTexRefGetFilterMode
    cuTexRefGetFlags cuTexRefGetFormat cuTexRefSetAddressMode cuTexRefSetArray cuTexRefSetFilterMode
    cuTexRefSetFlags cuTexRefSetFormat
2000 ptsz 7000: cuEventRecord cuStreamQuery cuStreamSynchronize
2000 3020: cuArray3DCreate cuArray3DGetDescriptor cuArrayCreate cuArrayGetDescriptor cuDeviceTotalMem
    cuGLCtxCreate cuMemAlloc cuMemAllocHost cuMemAllocPitch cuMemFree cuMemGetAddressRange cuMemGetInfo
    cuModuleGetGlobal cuTexRefGetAddress cuTexRefSetAddress
2000 3020 ptds 7000: cuGLMapBufferObject cuMemcpy2D cuMemcpy2DUnaligned cuMemcpy3D cuMemcpyAtoA
    cuMemcpyAtoD cuMemcpyAtoH cuMemcpyDtoA cuMemcpyDtoD cuMemcpyDtoH cuMemcpyHtoA cuMemcpyHtoD cuMemsetD16
    cuMemsetD2D16 cuMemsetD2D32 cuMemsetD2D8 cuMemsetD32 cuMemsetD8
2000 3020 ptsz 7000: cuMemcpy2DAsync cuMemcpy3DAsync cuMemcpyAtoHAsync cuMemcpyDtoHAsync cuMemcpyHtoAAsync
    cuMemcpyHtoDAsync
2000 3020 11040 12050: cuCtxCreate
2000 4000: cuCtxDestroy cuCtxPopCurrent cuCtxPushCurrent cuEventDestroy cuStreamDestroy
2000 12080: cuEventElapsedTime
2000 13000: cuCtxGetDevice cuCtxSynchronize
2010: cuModuleLoadDataEx
2020: cuDriverGetVersion cuFuncGetAttribute cuMemHostAlloc
2020 3020: cuMemHostGetDevicePointer
2020 3020 4010: cuTexRefSetAddress2D
2030: cuGLSetBufferObjectMapFlags cuGLUnmapBufferObjectAsync cuMemHostGetFlags
2030 3020 ptsz 7000: cuGLMapBufferObjectAsync
3000: cuFuncSetCacheConfig cuGetExportTable cuGraphicsGLRegisterBuffer cuGraphicsGLRegisterImage
    cuGraphicsSubResourceGetMappedArray cuGraphicsUnregisterResource cuModuleGetSurfRef cuSurfRefGetArray
    cuSurfRefSetArray
3000 ptsz 7000: cuGraphicsMapResources cuGraphicsUnmapResources
3000 3020: cuGraphicsResourceGetMappedPointer
3000 3020 ptsz 7000: cuMemcpyDtoDAsync
3000 6050: cuGraphicsResourceSetMapFlags
3010: cuCtxGetLimit cuCtxSetLimit cuGraphicsVDPAURegisterOutputSurface cuGraphicsVDPAURegisterVideoSurface
    cuVDPAUGetDevice
3010 3020: cuVDPAUCtxCreate
3020: cuCtxGetApiVersion cuCtxGetCacheConfig cuCtxSetCacheConfig
3020 ptsz 7000: cuMemsetD16Async cuMemsetD2D16Async cuMemsetD2D32Async cuMemsetD2D8Async cuMemsetD32Async
    cuMemsetD8Async cuStreamWaitEvent
4000: cuCtxDisablePeerAccess cuCtxEnablePeerAccess cuCtxGetCurrent cuCtxSetCurrent cuDeviceCanAccessPeer
    cuMemHostUnregister cuPointerGetAttribute cuProfilerInitialize cuProfilerStart cuProfilerStop
4000 ptds 7000: cuMemcpy cuMemcpy3DPeer cuMemcpyPeer
4000 ptsz 7000: cuLaunchKernel cuMemcpy3DPeerAsync cuMemcpyAsync cuMemcpyPeerAsync
4000 6050: cuMemHostRegister
4010: cuDeviceGetByPCIBusId cuDeviceGetPCIBusId cuIpcCloseMemHandle cuIpcGetEventHandle cuIpcGetMemHandle
    cuIpcOpenEventHandle
4010 6050: cuGLGetDevices
4010 11000: cuIpcOpenMemHandle
4020: cuCtxGetSharedMemConfig cuCtxSetSharedMemConfig cuFuncSetSharedMemConfig
5000: cuGraphicsResourceGetMappedMipmappedArray cuMipmappedArrayCreate cuMipmappedArrayDestroy
    cuMipmappedArrayGetLevel cuSurfObjectCreate cuSurfObjectDestroy cuSurfObjectGetResourceDesc
    cuTexObjectCreate cuTexObjectDestroy cuTexObjectGetResourceDesc cuTexObjectGetResourceViewDesc
    cuTexObjectGetTextureDesc cuTexRefGetMaxAnisotropy cuTexRefGetMipmapFilterMode
    cuTexRefGetMipmapLevelBias cuTexRefGetMipmapLevelClamp cuTexRefGetMipmappedArray
    cuTexRefSetMaxAnisotropy cuTexRefSetMipmapFilterMode cuTexRefSetMipmapLevelBias
    cuTexRefSetMipmapLevelClamp cuTexRefSetMipmappedArray
5000 ptsz 7000: cuStreamAddCallback
5050: cuCtxGetStreamPriorityRange cuLinkComplete cuLinkDestroy cuStreamCreateWithPriority
5050 ptsz 7000: cuStreamGetFlags cuStreamGetPriority
5050 6050: cuLinkAddData cuLinkAddFile cuLinkCreate
6000: cuGetErrorName cuGetErrorString cuMemAllocManaged cuPointerSetAttribute
6000 ptsz 7000: cuStreamAttachMemAsync
6050: cuOccupancyMaxActiveBlocksPerMultiprocessor cuOccupancyMaxPotentialBlockSize
7000: cuCtxGetFlags cuDevicePrimaryCtxGetState cuDevicePrimaryCtxRetain cuEGLStreamConsumerAcquireFrame
    cuEGLStreamConsumerConnect cuEGLStreamConsumerDisconnect cuEGLStreamConsumerReleaseFrame
    cuEGLStreamProducerConnect cuEGLStreamProducerDisconnect cuEGLStreamProducerPresentFrame
    cuEGLStreamProducerReturnFrame cuGraphicsEGLRegisterImage cuGraphicsResourceGetMappedEglFrame
    cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags cuOccupancyMaxPotentialBlockSizeWithFlags
    cuPointerGetAttributes
7000 11000: cuDevicePrimaryCtxRelease cuDevicePrimaryCtxReset cuDevicePrimaryCtxSetFlags
8000: cuDeviceGetP2PAttribute cuEGLStreamConsumerConnectWithFlags cuMemRangeGetAttribute
    cuMemRangeGetAttributes cuTexRefGetBorderColor cuTexRefSetBorderColor
8000 11070 ptsz 8000 11070: cuStreamBatchMemOp cuStreamWaitValue32 cuStreamWriteValue32
8000 12020: cuMemAdvise
8000 12020 ptsz 8000 12020: cuMemPrefetchAsync
9000: cuEventCreateFromEGLSync cuFuncSetAttribute cuLaunchCooperativeKernelMultiDevice
9000 ptsz 9000: cuLaunchCooperativeKernel
9000 11070 ptsz 9000 11070: cuStreamWaitValue64 cuStreamWriteValue64
9020 11040: cuDeviceGetUuid
9020 12050 ptsz 9020 12050: cuStreamGetCtx
10000: cuDestroyExternalMemory cuDestroyExternalSemaphore cuDeviceGetLuid cuExternalMemoryGetMappedBuffer
    cuExternalMemoryGetMappedMipmappedArray cuGraphAddChildGraphNode cuGraphAddEmptyNode
    cuGraphAddHostNode cuGraphAddMemcpyNode cuGraphAddMemsetNode cuGraphChildGraphNodeGetGraph
    cuGraphClone cuGraphCreate cuGraphDestroy cuGraphDestroyNode cuGraphExecDestroy cuGraphGetNodes
    cuGraphGetRootNodes cuGraphHostNodeGetParams cuGraphHostNodeSetParams cuGraphMemcpyNodeGetParams
    cuGraphMemcpyNodeSetParams cuGraphMemsetNodeGetParams cuGraphMemsetNodeSetParams
    cuGraphNodeFindInClone cuGraphNodeGetType cuImportExternalMemory cuImportExternalSemaphore
10000 ptsz 10000: cuGraphLaunch cuSignalExternalSemaphoresAsync cuStreamEndCapture cuStreamIsCapturing
    cuWaitExternalSemaphoresAsync
10000 10010 ptsz 10000 10010: cuStreamBeginCapture
10000 11000: cuGraphInstantiate
10000 12000: cuGraphAddKernelNode cuGraphKernelNodeGetParams cuGraphKernelNodeSetParams
10000 12030: cuGraphAddDependencies cuGraphGetEdges cuGraphNodeGetDependencies
    cuGraphNodeGetDependentNodes cuGraphRemoveDependencies
10000 13010 ptsz 10000 13010: cuLaunchHostFunc
10010: cuThreadExchangeStreamCaptureMode
10010 11030 12030 ptsz 10010 11030 12030: cuStreamGetCaptureInfo
10010 12000: cuGraphExecKernelNodeSetParams
10020: cuDeviceGetNvSciSyncAttributes cuGraphExecHostNodeSetParams cuGraphExecMemcpyNodeSetParams
    cuGraphExecMemsetNodeSetParams cuMemAddressFree cuMemAddressReserve cuMemCreate
    cuMemExportToShareableHandle cuMemGetAccess cuMemGetAllocationGranularity
    cuMemGetAllocationPropertiesFromHandle cuMemImportFromShareableHandle cuMemMap cuMemRelease
    cuMemSetAccess cuMemUnmap cuOccupancyAvailableDynamicSMemPerBlock
10020 12000: cuGraphExecUpdate
11000: cuCtxResetPersistingL2Cache cuFuncGetModule cuGraphKernelNodeCopyAttributes
    cuGraphKernelNodeGetAttribute cuGraphKernelNodeSetAttribute cuMemRetainAllocationHandle
11000 ptsz 11000: cuStreamCopyAttributes cuStreamGetAttribute cuStreamSetAttribute
11010: cuArrayGetSparseProperties cuDeviceGetTexture1DLinearMaxWidth cuGraphAddEventRecordNode
    cuGraphAddEventWaitNode cuGraphEventRecordNodeGetEvent cuGraphEventRecordNodeSetEvent
    cuGraphEventWaitNodeGetEvent cuGraphEventWaitNodeSetEvent cuGraphExecChildGraphNodeSetParams
    cuGraphExecEventRecordNodeSetEvent cuGraphExecEventWaitNodeSetEvent
    cuMipmappedArrayGetSparseProperties
11010 ptsz 11010: cuEventRecordWithFlags cuGraphUpload cuMemMapArrayAsync
11020: cuArrayGetPlane cuDeviceGetDefaultMemPool cuDeviceGetMemPool cuDeviceSetMemPool
    cuGraphAddExternalSemaphoresSignalNode cuGraphAddExternalSemaphoresWaitNode
    cuGraphExecExternalSemaphoresSignalNodeSetParams cuGraphExecExternalSemaphoresWaitNodeSetParams
    cuGraphExternalSemaphoresSignalNodeGetParams cuGraphExternalSemaphoresSignalNodeSetParams
    cuGraphExternalSemaphoresWaitNodeGetParams cuGraphExternalSemaphoresWaitNodeSetParams cuMemPoolCreate
    cuMemPoolDestroy cuMemPoolExportPointer cuMemPoolExportToShareableHandle cuMemPoolGetAccess
    cuMemPoolGetAttribute cuMemPoolImportFromShareableHandle cuMemPoolImportPointer cuMemPoolSetAccess
    cuMemPoolSetAttribute cuMemPoolTrimTo
11020 ptsz 11020: cuMemAllocAsync cuMemAllocFromPoolAsync cuMemFreeAsync
11030: cuFlushGPUDirectRDMAWrites cuGraphDebugDotPrint cuGraphReleaseUserObject cuGraphRetainUserObject
    cuUserObjectCreate cuUserObjectRelease cuUserObjectRetain
11030 12000: cuGetProcAddress
11030 12030 ptsz 11030 12030: cuStreamUpdateCaptureDependencies
11040: cuCtxGetExecAffinity cuDeviceGetExecAffinitySupport cuDeviceGetGraphMemAttribute
    cuDeviceGraphMemTrim cuDeviceSetGraphMemAttribute cuGraphAddMemAllocNode cuGraphAddMemFreeNode
    cuGraphInstantiateWithFlags cuGraphMemAllocNodeGetParams cuGraphMemFreeNodeGetParams
11060: cuArrayGetMemoryRequirements cuGraphNodeGetEnabled cuGraphNodeSetEnabled
    cuMipmappedArrayGetMemoryRequirements
11060 ptsz 11060: cuLaunchKernelEx
11070: cuGraphAddBatchMemOpNode cuGraphBatchMemOpNodeGetParams cuGraphBatchMemOpNodeSetParams
    cuGraphExecBatchMemOpNodeSetParams cuMemGetHandleForAddressRange cuModuleGetLoadingMode
    cuOccupancyMaxActiveClusters cuOccupancyMaxPotentialClusterSize
12000: cuCtxGetId cuGraphExecGetFlags cuKernelGetAttribute cuKernelGetFunction cuKernelSetAttribute
    cuKernelSetCacheConfig cuLibraryGetGlobal cuLibraryGetKernel cuLibraryGetManaged cuLibraryGetModule
    cuLibraryGetUnifiedFunction cuLibraryLoadData cuLibraryLoadFromFile cuLibraryUnload
    cuTensorMapEncodeIm2col cuTensorMapEncodeTiled cuTensorMapReplaceAddress
12000 ptsz 12000: cuGraphInstantiateWithParams cuStreamGetId
12010: cuCoredumpGetAttribute cuCoredumpGetAttributeGlobal cuCoredumpSetAttribute
    cuCoredumpSetAttributeGlobal cuCtxSetFlags cuMulticastAddDevice cuMulticastCreate
    cuMulticastGetGranularity cuMulticastUnbind
12010 13010: cuMulticastBindAddr cuMulticastBindMem
12020: cuGraphExecNodeSetParams
12020 12030 13040: cuGraphAddNode
12020 13040: cuGraphNodeSetParams
12030: cuFuncGetName cuGraphConditionalHandleCreate cuKernelGetName
12030 ptsz 12030: cuStreamBeginCaptureToGraph
12040: cuCtxFromGreenCtx cuCtxGetDevResource cuDevResourceGenerateDesc cuDevSmResourceSplitByCount
    cuDeviceGetDevResource cuDeviceRegisterAsyncNotification cuDeviceUnregisterAsyncNotification
    cuFuncGetParamInfo cuFuncIsLoaded cuFuncLoad cuGreenCtxCreate cuGreenCtxDestroy
    cuGreenCtxGetDevResource cuGreenCtxRecordEvent cuGreenCtxWaitEvent cuKernelGetParamInfo
    cuLibraryEnumerateKernels cuLibraryGetKernelCount cuModuleEnumerateFunctions cuModuleGetFunctionCount
    cuStreamGetGreenCtx
12050: cuCtxRecordEvent cuCtxWaitEvent cuGreenCtxStreamCreate cuKernelGetLibrary
12060 ptsz 12060: cuMemBatchDecompressAsync
12080: cuCheckpointProcessCheckpoint cuCheckpointProcessGetRestoreThreadId cuCheckpointProcessGetState
    cuCheckpointProcessLock cuCheckpointProcessRestore cuCheckpointProcessUnlock
    cuTensorMapEncodeIm2colWide
12080 ptsz 12080: cuStreamGetDevice
12080 13000 ptsz 12080 13000: cuMemcpy3DBatchAsync cuMemcpyBatchAsync
12090: cuGreenCtxGetId cuLogsCurrent cuLogsDumpToFile cuLogsDumpToMemory cuLogsRegisterCallback
    cuLogsUnregisterCallback
13000: cuDeviceGetHostAtomicCapabilities cuDeviceGetP2PAtomicCapabilities cuMemGetDefaultMemPool
    cuMemGetMemPool cuMemSetMemPool
13000 ptsz 13000: cuMemDiscardAndPrefetchBatchAsync cuMemDiscardBatchAsync cuMemPrefetchBatchAsync
13010: cuDevSmResourceSplit cuGraphExecGetId cuGraphGetId cuGraphNodeGetContainingGraph
    cuGraphNodeGetLocalId cuGraphNodeGetToolsId
13010 ptsz 13010: cuStreamBeginCaptureToCig cuStreamEndCaptureToCig cuStreamGetDevResource
13020: cuCoredumpDeregisterCompleteCallback cuCoredumpDeregisterStartCallback
    cuCoredumpRegisterCompleteCallback cuCoredumpRegisterStartCallback cuFuncGetParamCount
    cuGraphNodeGetParams cuKernelGetParamCount
13020 ptsz 13020: cuMemcpy3DWithAttributesAsync cuMemcpyWithAttributesAsync
13030: cuLogicalEndpointAddDevice cuLogicalEndpointBindAddr cuLogicalEndpointBindMem
    cuLogicalEndpointCreate cuLogicalEndpointDestroy cuLogicalEndpointExport cuLogicalEndpointGetLimits
    cuLogicalEndpointIdRelease cuLogicalEndpointIdReserve cuLogicalEndpointImport cuLogicalEndpointQuery
    cuLogicalEndpointUnbind
13030 ptsz 13030: cuStreamBeginRecaptureToGraph
13040: cuCheckpointOperationComplete cuDeviceGetCliqueCount cuDeviceGetCliqueInfo
    cuDeviceGetFabricClusterUuid cuMemGetLocationInfo
13050: cuTensorMapSetAllocationClass
13050 ptsz 13050: cuFabricCpyBatchAsync
"""
"""The CUDA versions that brought the versions of a function, and its per-thread forms if any: the names."""

NEWEST = 13050
"""The CUDA version of the headers that the table is of."""


NEWEST_OF = {12: 12090}
"""The CUDA version that the last release of a major is, if it is not the newest of all."""

IMPLICIT_STREAM = (
    "cudaGetDriverEntryPoint",
    "cudaGetDriverEntryPointByVersion",
    "cudaGraphInstantiateWithParams",
    "cudaLaunchKernelExC",
)
"""Functions of the runtime that come in the form `_ptsz` too, without a parameter that is a stream."""

NCCL_DEVICE_API = (
    "ncclCommQueryProperties",
    "ncclDevCommCreate",
    "ncclDevCommDestroy",
    "ncclGetLsaDevicePointer",
    "ncclGetLsaMultimemDevicePointer",
    "ncclGetMultimemDevicePointer",
    "ncclGetPeerDevicePointer",
    "ncclGinBarrierCreateRequirement",
    "ncclGinInboxA2ACreateRequirement",
    "ncclGinOutboxCreateRequirement",
    "ncclLLA2ACreateRequirement",
    "ncclLsaBarrierCreateRequirement",
)
"""Functions of nccl_device.h, which PyTorch is linked with. The simulator refuses them."""


class Release:
    """The CUDA version that the simulated driver and runtime say they are; they lack what came later."""

    number = NEWEST


def release_of(major: int) -> int:
    """The CUDA version of the libcudart of a major."""
    return min(Release.number, NEWEST_OF.get(major, Release.number))


class Entry(NamedTuple):
    """One version of a function, or its form for the per-thread default stream."""

    symbol: str
    since: int  # the CUDA version that brought it
    per_thread: bool


@cache
def entries() -> dict[str, list[Entry]]:
    """By name without a version, its versions from the oldest to the newest."""
    entries: dict[str, list[Entry]] = {}
    for line in _TABLE.replace("\n    ", " ").splitlines():
        head, _, names = line.partition(": ")
        versions, _, own = head.partition(" pt")
        suffix, *since_own = own.split() or [""]
        since = [int(version) for version in versions.split()]
        for name in names.split():
            symbols = [name, *(f"{name}_v{n}" for n in range(2, len(since) + 1))]
            entries[name] = [Entry(symbol, since[i], False) for i, symbol in enumerate(symbols)]
            for version in map(int, since_own):
                base = symbols[max(i for i, first in enumerate(since) if first <= version)]
                entries[name].append(Entry(f"{base}_pt{suffix}", version, True))
    return entries


def symbols(version: int) -> list[str]:
    """What a driver of this CUDA version exports."""
    every = (entry for versions in entries().values() for entry in versions)
    return [entry.symbol for entry in every if entry.since <= version]


def declared(module: ModuleType) -> list[str]:
    """The functions that a module such as `cudapy.nvml` declares, by their symbols."""
    declarations = (getattr(value, "__declaration__", None) for value in vars(module).values())
    return sorted({symbol_of(each.prototype) for each in declarations if each is not None})


def find(name: str, version: int, per_thread: bool) -> str | None:
    """What cuGetProcAddress finds for a name as of a CUDA version: "" if there is no such function at all,
    None if it came later.
    """
    versions = entries().get(name)
    if versions is None:
        return ""
    there = [entry for entry in versions if entry.since <= version]
    own = [entry for entry in there if entry.per_thread] if per_thread else []
    newest = max(own or [entry for entry in there if not entry.per_thread], key=_since, default=None)
    return newest and newest.symbol


def _since(entry: Entry) -> int:
    return entry.since
