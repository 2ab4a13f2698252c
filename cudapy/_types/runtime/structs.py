"""The structs and unions of the Runtime API, as CUDA 13.5 lays them out.

A field that an older release lacks lies at the end of what that release knows, and is zero. The one struct
that changed otherwise, cudaDeviceProp, is here twice.
"""

from __future__ import annotations

from ..._ffi.scalars import (
    c_float,
    c_int,
    c_longlong,
    c_uchar,
    c_uint,
    c_ulonglong,
    c_ushort,
    size_t,
    void_p,
    void_pp,
)
from ..._ffi.structs import Struct, Union
from .enums import *
from .handles import *

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated, Any

    from ..._ffi.scalars import Bytes


class CUuuid(Struct):
    """A 16-byte identifier, unique to a device or to a GPU instance."""

    bytes: Annotated[Bytes, "char[16]"]


CUuuid_st = CUuuid
cudaUUID_t = CUuuid


class dim3(Struct):
    """Three sizes, those of a grid in blocks or of a block in threads: 1, unless they are given."""

    x: c_uint
    y: c_uint
    z: c_uint

    if not TYPE_CHECKING:

        def __new__(cls, x=1, y=1, z=1, _ptr=0):
            return super().__new__(cls, _ptr)

    def __init__(self, x: int = 1, y: int = 1, z: int = 1, _ptr: int = 0) -> None:
        if not _ptr:
            super().__init__(x=x, y=y, z=z)


class _Launch(Struct):
    """A struct whose gridDim and blockDim are 1 in every direction, unless they are given: as in C++."""

    def __init__(self, _ptr: int = 0, **values: Any) -> None:
        super().__init__(_ptr, **(values if _ptr else {"gridDim": dim3(), "blockDim": dim3(), **values}))


class cudaChannelFormatDesc(Struct):
    """The format of an array's elements: bits of the channels x, y, z and w, and how they are read."""

    x: c_int
    y: c_int
    z: c_int
    w: c_int
    f: cudaChannelFormatKind


class cudaArraySparseProperties(Struct):
    """A sparse array's layout: tile extents in elements and the mip tail's first level and size in bytes."""

    class _tileExtent(Struct):
        width: c_uint
        height: c_uint
        depth: c_uint

    tileExtent: _tileExtent
    miptailFirstLevel: c_uint
    miptailSize: c_ulonglong
    flags: c_uint
    reserved: Annotated[list[int], "unsigned int[4]"]


class cudaArrayMemoryRequirements(Struct):
    """How much memory an array needs, and its alignment, both in bytes."""

    size: size_t
    alignment: size_t
    reserved: Annotated[list[int], "unsigned int[4]"]


class cudaPitchedPtr(Struct):
    """2D memory: its address, the bytes from row to row, and the row length and row count in elements."""

    ptr: void_p
    pitch: size_t
    xsize: size_t
    ysize: size_t


class cudaExtent(Struct):
    """The size of a 3D region: width in elements of an array or else in bytes, height in rows, depth in slices."""

    width: size_t
    height: size_t
    depth: size_t


class cudaPos(Struct):
    """The position of a 3D region: x in elements of an array or else in bytes, y in rows, z in slices."""

    x: size_t
    y: size_t
    z: size_t


class cudaMemcpy3DParms(Struct):
    """A 3D copy: source and destination, each an array or a pitched pointer with a position; extent; kind."""

    srcArray: cudaArray_t
    srcPos: cudaPos
    srcPtr: cudaPitchedPtr
    dstArray: cudaArray_t
    dstPos: cudaPos
    dstPtr: cudaPitchedPtr
    extent: cudaExtent
    kind: cudaMemcpyKind


class cudaMemcpyNodeParams(Struct):
    """What a graph's copy node does: a 3D copy and the context to run it in."""

    flags: c_int
    reserved: c_int
    ctx: cudaExecutionContext_t
    copyParams: cudaMemcpy3DParms


class cudaMemcpy3DPeerParms(Struct):
    """A 3D copy between two devices: source and destination with their devices, and the extent."""

    srcArray: cudaArray_t
    srcPos: cudaPos
    srcPtr: cudaPitchedPtr
    srcDevice: c_int
    dstArray: cudaArray_t
    dstPos: cudaPos
    dstPtr: cudaPitchedPtr
    dstDevice: c_int
    extent: cudaExtent


class cudaMemsetParams(Struct):
    """A fill in a graph: address, value, element size in bytes, width in elements, rows and pitch."""

    dst: void_p
    pitch: size_t
    value: c_uint
    elementSize: c_uint
    width: size_t
    height: size_t


class cudaMemsetParamsV2(Struct):
    """A fill in a graph: address, value, element size in bytes, width in elements, rows, pitch, context."""

    dst: void_p
    pitch: size_t
    value: c_uint
    elementSize: c_uint
    width: size_t
    height: size_t
    ctx: cudaExecutionContext_t


class cudaAccessPolicyWindow(Struct):
    """An L2 caching hint for an address range: base, size in bytes, hit ratio, hit and miss policies."""

    base_ptr: void_p
    num_bytes: size_t
    hitRatio: c_float
    hitProp: cudaAccessProperty
    missProp: cudaAccessProperty


class cudaHostNodeParams(Struct):
    """The host function that a graph node calls, and the pointer it passes to that function."""

    fn: cudaHostFn_t
    userData: void_p


class cudaHostNodeParamsV2(Struct):
    """A graph node's host function, its argument, how the host thread waits and a preferred context."""

    fn: cudaHostFn_t
    userData: void_p
    syncMode: c_uint
    ctx: cudaExecutionContext_t


class cudaResourceDesc(Struct):
    """The memory behind a texture or surface object: array, mipmap, linear or pitched memory."""

    class _res(Union):
        class _array(Struct):
            array: cudaArray_t

        class _mipmap(Struct):
            mipmap: cudaMipmappedArray_t

        class _linear(Struct):
            devPtr: void_p
            desc: cudaChannelFormatDesc
            sizeInBytes: size_t

        class _pitch2D(Struct):
            devPtr: void_p
            desc: cudaChannelFormatDesc
            width: size_t
            height: size_t
            pitchInBytes: size_t

        class _reserved(Struct):
            reserved: Annotated[list[int], "int[32]"]

        array: _array
        mipmap: _mipmap
        linear: _linear
        pitch2D: _pitch2D
        reserved: _reserved

    resType: cudaResourceType
    res: _res
    flags: c_uint


class cudaResourceViewDesc(Struct):
    """How a texture reinterprets its array: element format, extents, mip levels and layers."""

    format: cudaResourceViewFormat
    width: size_t
    height: size_t
    depth: size_t
    firstMipmapLevel: c_uint
    lastMipmapLevel: c_uint
    firstLayer: c_uint
    lastLayer: c_uint
    reserved: Annotated[list[int], "unsigned int[16]"]


class cudaPointerAttributes(Struct):
    """What an address is: its kind of memory, its device, and what device and host call it (0: nothing)."""

    type: cudaMemoryType
    device: c_int
    devicePointer: void_p
    hostPointer: void_p
    localityDomainOrdinal: Annotated[int, "int", "union"]
    unused: Annotated[int, "long", "union"]
    reserved: Annotated[list[int], "long[7]"]


class cudaFuncAttributes(Struct):
    """What a kernel needs and may use: memory in bytes, registers, threads per block, versions, clusters."""

    sharedSizeBytes: size_t
    constSizeBytes: size_t
    localSizeBytes: size_t
    maxThreadsPerBlock: c_int
    numRegs: c_int
    ptxVersion: c_int
    binaryVersion: c_int
    cacheModeCA: c_int
    maxDynamicSharedSizeBytes: c_int
    preferredShmemCarveout: c_int
    clusterDimMustBeSet: c_int
    requiredClusterWidth: c_int
    requiredClusterHeight: c_int
    requiredClusterDepth: c_int
    clusterSchedulingPolicyPreference: c_int
    nonPortableClusterSizeAllowed: c_int
    deviceNodeUpdateStatus: c_int
    sharedMemoryMode: cudaSharedMemoryMode
    reserved: Annotated[list[int], "int[14]"]


class cudaMemLocation(Struct):
    """A place memory can live in: a kind of location and a device or NUMA node number."""

    class _localized(Struct):
        deviceId: c_uchar
        localityDomainId: c_uchar

    type: cudaMemLocationType
    id: Annotated[int, "int", "union"]
    localized: Annotated[_localized, "_localized", "union"]


class cudaMemAccessDesc(Struct):
    """Access rights for one location: who may access the memory and whether it may write."""

    location: cudaMemLocation
    flags: cudaMemAccessFlags


class cudaMemPoolProps(Struct):
    """The properties of a memory pool to create: location, shareable handle types, maximum size in bytes."""

    allocType: cudaMemAllocationType
    handleTypes: cudaMemAllocationHandleType
    location: cudaMemLocation
    win32SecurityAttributes: void_p
    maxSize: size_t
    usage: c_ushort
    reserved: Annotated[bytes, "unsigned char[53]"]
    reserved1: c_uchar


class cudaMemPoolPtrExportData(Struct):
    """An allocation of a shared memory pool as 64 opaque bytes that another process can import."""

    reserved: Annotated[bytes, "unsigned char[64]"]


class cudaMemAllocNodeParams(Struct):
    """An allocation in a graph: pool properties, peer access, size in bytes and the resulting address."""

    poolProps: cudaMemPoolProps
    accessDescs: Annotated[list[cudaMemAccessDesc], "cudaMemAccessDesc *", "accessDescCount"]
    accessDescCount: size_t
    bytesize: size_t
    dptr: void_p


class cudaMemAllocNodeParamsV2(Struct):
    """An allocation in a graph: pool properties, peer access, size in bytes and the resulting address."""

    poolProps: cudaMemPoolProps
    accessDescs: Annotated[list[cudaMemAccessDesc], "cudaMemAccessDesc *", "accessDescCount"]
    accessDescCount: size_t
    bytesize: size_t
    dptr: void_p


class cudaMemFreeNodeParams(Struct):
    """The device address that a graph's free node releases when it runs."""

    dptr: void_p


class cudaMemcpyAttributes(Struct):
    """Hints for a batched copy: when the source is read, where both sides live, and flags."""

    srcAccessOrder: cudaMemcpySrcAccessOrder
    srcLocHint: cudaMemLocation
    dstLocHint: cudaMemLocation
    flags: c_uint


class cudaOffset3D(Struct):
    """The position where a 3D region starts in an array: x, y and z in elements."""

    x: size_t
    y: size_t
    z: size_t


class cudaMemcpy3DOperand(Struct):
    """One side of a batched 3D copy: a pointer with its layout, or an array with an offset."""

    class _op(Union):
        class _ptr(Struct):
            ptr: void_p
            rowLength: size_t
            layerHeight: size_t
            locHint: cudaMemLocation

        class _array(Struct):
            array: cudaArray_t
            offset: cudaOffset3D

        ptr: _ptr
        array: _array

    type: cudaMemcpy3DOperandType
    op: _op


class cudaMemcpy3DBatchOp(Struct):
    """One 3D copy of a batch: two operands, the extent between them, access order and flags."""

    src: cudaMemcpy3DOperand
    dst: cudaMemcpy3DOperand
    extent: cudaExtent
    srcAccessOrder: cudaMemcpySrcAccessOrder
    flags: c_uint


class cudaDeviceProp(Struct):
    """The properties of a device as CUDA 13 lays them out: name, sizes in bytes, limits and features."""

    name: Annotated[bytes, "char[256]", "text"]
    uuid: CUuuid
    luid: Annotated[bytes, "char[8]"]
    luidDeviceNodeMask: c_uint
    totalGlobalMem: size_t
    sharedMemPerBlock: size_t
    regsPerBlock: c_int
    warpSize: c_int
    memPitch: size_t
    maxThreadsPerBlock: c_int
    maxThreadsDim: Annotated[list[int], "int[3]"]
    maxGridSize: Annotated[list[int], "int[3]"]
    totalConstMem: size_t
    major: c_int
    minor: c_int
    textureAlignment: size_t
    texturePitchAlignment: size_t
    multiProcessorCount: c_int
    integrated: c_int
    canMapHostMemory: c_int
    maxTexture1D: c_int
    maxTexture1DMipmap: c_int
    maxTexture2D: Annotated[list[int], "int[2]"]
    maxTexture2DMipmap: Annotated[list[int], "int[2]"]
    maxTexture2DLinear: Annotated[list[int], "int[3]"]
    maxTexture2DGather: Annotated[list[int], "int[2]"]
    maxTexture3D: Annotated[list[int], "int[3]"]
    maxTexture3DAlt: Annotated[list[int], "int[3]"]
    maxTextureCubemap: c_int
    maxTexture1DLayered: Annotated[list[int], "int[2]"]
    maxTexture2DLayered: Annotated[list[int], "int[3]"]
    maxTextureCubemapLayered: Annotated[list[int], "int[2]"]
    maxSurface1D: c_int
    maxSurface2D: Annotated[list[int], "int[2]"]
    maxSurface3D: Annotated[list[int], "int[3]"]
    maxSurface1DLayered: Annotated[list[int], "int[2]"]
    maxSurface2DLayered: Annotated[list[int], "int[3]"]
    maxSurfaceCubemap: c_int
    maxSurfaceCubemapLayered: Annotated[list[int], "int[2]"]
    surfaceAlignment: size_t
    concurrentKernels: c_int
    ECCEnabled: c_int
    pciBusID: c_int
    pciDeviceID: c_int
    pciDomainID: c_int
    tccDriver: c_int
    asyncEngineCount: c_int
    unifiedAddressing: c_int
    memoryBusWidth: c_int
    l2CacheSize: c_int
    persistingL2CacheMaxSize: c_int
    maxThreadsPerMultiProcessor: c_int
    streamPrioritiesSupported: c_int
    globalL1CacheSupported: c_int
    localL1CacheSupported: c_int
    sharedMemPerMultiprocessor: size_t
    regsPerMultiprocessor: c_int
    managedMemory: c_int
    isMultiGpuBoard: c_int
    multiGpuBoardGroupID: c_int
    hostNativeAtomicSupported: c_int
    pageableMemoryAccess: c_int
    concurrentManagedAccess: c_int
    computePreemptionSupported: c_int
    canUseHostPointerForRegisteredMem: c_int
    cooperativeLaunch: c_int
    sharedMemPerBlockOptin: size_t
    pageableMemoryAccessUsesHostPageTables: c_int
    directManagedMemAccessFromHost: c_int
    maxBlocksPerMultiProcessor: c_int
    accessPolicyMaxWindowSize: c_int
    reservedSharedMemPerBlock: size_t
    hostRegisterSupported: c_int
    sparseCudaArraySupported: c_int
    hostRegisterReadOnlySupported: c_int
    timelineSemaphoreInteropSupported: c_int
    memoryPoolsSupported: c_int
    gpuDirectRDMASupported: c_int
    gpuDirectRDMAFlushWritesOptions: c_uint
    gpuDirectRDMAWritesOrdering: c_int
    memoryPoolSupportedHandleTypes: c_uint
    deferredMappingCudaArraySupported: c_int
    ipcEventSupported: c_int
    clusterLaunch: c_int
    unifiedFunctionPointers: c_int
    deviceNumaConfig: c_int
    deviceNumaId: c_int
    mpsEnabled: c_int
    hostNumaId: c_int
    gpuPciDeviceID: c_uint
    gpuPciSubsystemID: c_uint
    hostNumaMultinodeIpcSupported: c_int
    reserved: Annotated[list[int], "int[56]"]


class cudaIpcEventHandle_t(Struct):
    """An event as 64 opaque bytes that another process can open."""

    reserved: Annotated[bytes, "char[64]"]


cudaIpcEventHandle_st = cudaIpcEventHandle_t


class cudaIpcMemHandle_t(Struct):
    """A device allocation as 64 opaque bytes that another process can open."""

    reserved: Annotated[bytes, "char[64]"]


cudaIpcMemHandle_st = cudaIpcMemHandle_t


class cudaMemFabricHandle_t(Struct):
    """An opaque handle that shares a memory allocation with other nodes over the fabric."""

    reserved: Annotated[bytes, "char[64]"]


cudaMemFabricHandle_st = cudaMemFabricHandle_t


class cudaExternalMemoryHandleDesc(Struct):
    """A memory handle from another API to import: its kind, the handle itself and its size in bytes."""

    class _handle(Union):
        class _win32(Struct):
            handle: void_p
            name: void_p

        fd: c_int
        win32: _win32
        nvSciBufObject: void_p

    type: cudaExternalMemoryHandleType
    handle: _handle
    size: c_ulonglong
    flags: c_uint
    reserved: Annotated[list[int], "unsigned int[16]"]


class cudaExternalMemoryBufferDesc(Struct):
    """The part of imported external memory to map as a buffer: offset and size in bytes."""

    offset: c_ulonglong
    size: c_ulonglong
    flags: c_uint
    reserved: Annotated[list[int], "unsigned int[16]"]


class cudaExternalMemoryMipmappedArrayDesc(Struct):
    """How to map external memory as a mipmapped array: byte offset, element format, extent, level count."""

    offset: c_ulonglong
    formatDesc: cudaChannelFormatDesc
    extent: cudaExtent
    flags: c_uint
    numLevels: c_uint
    reserved: Annotated[list[int], "unsigned int[16]"]


class cudaExternalSemaphoreHandleDesc(Struct):
    """A semaphore handle from another API to import: its kind and the handle itself."""

    class _handle(Union):
        class _win32(Struct):
            handle: void_p
            name: void_p

        fd: c_int
        win32: _win32
        nvSciSyncObj: void_p

    type: cudaExternalSemaphoreHandleType
    handle: _handle
    flags: c_uint
    reserved: Annotated[list[int], "unsigned int[16]"]


class cudaExternalSemaphoreSignalParams(Struct):
    """How to signal an external semaphore: a fence value, sync object or keyed-mutex key."""

    class _params(Struct):
        class _fence(Struct):
            value: c_ulonglong

        class _nvSciSync(Union):
            fence: void_p
            reserved: c_ulonglong

        class _keyedMutex(Struct):
            key: c_ulonglong

        fence: _fence
        nvSciSync: _nvSciSync
        keyedMutex: _keyedMutex
        reserved: Annotated[list[int], "unsigned int[12]"]

    params: _params
    flags: c_uint
    reserved: Annotated[list[int], "unsigned int[16]"]


class cudaExternalSemaphoreWaitParams(Struct):
    """How to wait on an external semaphore: fence value, or mutex key with a timeout in milliseconds."""

    class _params(Struct):
        class _fence(Struct):
            value: c_ulonglong

        class _nvSciSync(Union):
            fence: void_p
            reserved: c_ulonglong

        class _keyedMutex(Struct):
            key: c_ulonglong
            timeoutMs: c_uint

        fence: _fence
        nvSciSync: _nvSciSync
        keyedMutex: _keyedMutex
        reserved: Annotated[list[int], "unsigned int[10]"]

    params: _params
    flags: c_uint
    reserved: Annotated[list[int], "unsigned int[16]"]


class cudaDevSmResource(Struct):
    """A set of multiprocessors: how many, the smallest partition, the coscheduling alignment and flags."""

    smCount: c_uint
    minSmPartitionSize: c_uint
    smCoscheduledAlignment: c_uint
    flags: c_uint
    localityDomainId: c_uint


class cudaDevWorkqueueConfigResource(Struct):
    """Work queue settings: the device, the expected number of concurrent streams and the sharing scope."""

    device: c_int
    wqConcurrencyLimit: c_uint
    sharingScope: cudaDevWorkqueueConfigScope


class cudaDevWorkqueueResource(Struct):
    """The work queues of a device as an opaque resource to hand to a green context."""

    reserved: Annotated[bytes, "unsigned char[40]"]


class cudaDevSmResourceGroupParams(Struct):
    """One group asked for when multiprocessors are split: their number, coscheduled counts and flags."""

    smCount: c_uint
    coscheduledSmCount: c_uint
    preferredCoscheduledSmCount: c_uint
    flags: c_uint
    localityDomainId: c_uint
    reserved: Annotated[list[int], "unsigned int[11]"]


cudaDevSmResourceGroupParams_st = cudaDevSmResourceGroupParams


class cudaDevResource(Struct):
    """A piece of a device, such as a set of multiprocessors or work queues, to give to a green context."""

    type: cudaDevResourceType
    _internal_padding: Annotated[bytes, "unsigned char[92]"]
    sm: Annotated[cudaDevSmResource, "cudaDevSmResource", "union"]
    wqConfig: Annotated[cudaDevWorkqueueConfigResource, "cudaDevWorkqueueConfigResource", "union"]
    wq: Annotated[cudaDevWorkqueueResource, "cudaDevWorkqueueResource", "union"]
    _oversize: Annotated[bytes, "unsigned char[40]", "union"]
    nextResource: Annotated[list[cudaDevResource], "cudaDevResource *"]


cudaDevResource_st = cudaDevResource


class cudalibraryHostUniversalFunctionAndDataTable(Struct):
    """Host function and data tables passed at library load, with their window sizes."""

    functionTable: void_p
    functionWindowSize: size_t
    dataTable: void_p
    dataWindowSize: size_t


class cudaKernelNodeParams(_Launch):
    """A kernel launch in a graph: kernel, grid in blocks, block in threads, shared memory, arguments."""

    func: void_p
    gridDim: dim3
    blockDim: dim3
    sharedMemBytes: c_uint
    kernelParams: void_pp
    extra: void_pp


class cudaKernelNodeParamsV2(_Launch):
    """A kernel launch in a graph, which also says what kind of handle names the kernel, and the context."""

    func: Annotated[void_p, "void_p", "union"]
    kern: Annotated[cudaKernel_t, "cudaKernel_t", "union"]
    cuFunc: Annotated[cudaFunction_t, "cudaFunction_t", "union"]
    gridDim: dim3
    blockDim: dim3
    sharedMemBytes: c_uint
    kernelParams: void_pp
    extra: void_pp
    ctx: cudaExecutionContext_t
    functionType: cudaKernelFunctionType


class cudaExternalSemaphoreSignalNodeParams(Struct):
    """The external semaphores a graph node signals, with one set of parameters for each."""

    extSemArray: Annotated[list[cudaExternalSemaphore_t], "cudaExternalSemaphore_t *", "numExtSems"]
    paramsArray: Annotated[
        list[cudaExternalSemaphoreSignalParams], "cudaExternalSemaphoreSignalParams *", "numExtSems"
    ]
    numExtSems: c_uint


class cudaExternalSemaphoreSignalNodeParamsV2(Struct):
    """The external semaphores a graph node signals, with one set of parameters for each, and a context."""

    extSemArray: Annotated[list[cudaExternalSemaphore_t], "cudaExternalSemaphore_t *", "numExtSems"]
    paramsArray: Annotated[
        list[cudaExternalSemaphoreSignalParams], "cudaExternalSemaphoreSignalParams *", "numExtSems"
    ]
    numExtSems: c_uint
    ctx: cudaExecutionContext_t


class cudaExternalSemaphoreWaitNodeParams(Struct):
    """The external semaphores a graph node waits on, with one set of parameters for each."""

    extSemArray: Annotated[list[cudaExternalSemaphore_t], "cudaExternalSemaphore_t *", "numExtSems"]
    paramsArray: Annotated[
        list[cudaExternalSemaphoreWaitParams], "cudaExternalSemaphoreWaitParams *", "numExtSems"
    ]
    numExtSems: c_uint


class cudaExternalSemaphoreWaitNodeParamsV2(Struct):
    """The external semaphores a graph node waits on, with one set of parameters for each, and a context."""

    extSemArray: Annotated[list[cudaExternalSemaphore_t], "cudaExternalSemaphore_t *", "numExtSems"]
    paramsArray: Annotated[
        list[cudaExternalSemaphoreWaitParams], "cudaExternalSemaphoreWaitParams *", "numExtSems"
    ]
    numExtSems: c_uint
    ctx: cudaExecutionContext_t


class cudaConditionalNodeParams(Struct):
    """A conditional node: its handle, its kind (if, while or switch) and its body graphs."""

    handle: cudaGraphConditionalHandle
    type: cudaGraphConditionalNodeType
    size: c_uint
    phGraph_out: Annotated[list[cudaGraph_t], "cudaGraph_t *", "size"]
    ctx: cudaExecutionContext_t


class cudaMemcpyBatchNodeParams(Struct):
    """A graph node that makes a batch of copies: pointer lists, sizes in bytes and copy attributes."""

    count: size_t
    dsts: void_pp
    srcs: void_pp
    sizes: Annotated[list[int], "size_t *", "count"]
    attrs: Annotated[list[cudaMemcpyAttributes], "cudaMemcpyAttributes *", "numAttrs"]
    attrsIdxs: Annotated[list[int], "size_t *", "numAttrs"]
    numAttrs: size_t
    ctx: cudaExecutionContext_t


class cudaChildGraphNodeParams(Struct):
    """What a child graph node runs: the embedded graph and who owns it."""

    graph: cudaGraph_t
    ownership: cudaGraphChildGraphNodeOwnership


class cudaEventRecordNodeParams(Struct):
    """The event that a graph's event record node records when it runs."""

    event: cudaEvent_t
    ctx: cudaExecutionContext_t


class cudaEventWaitNodeParams(Struct):
    """The event that a graph's event wait node waits for before going on."""

    event: cudaEvent_t


class cudaGraphNodeParams(Struct):
    """The parameters of a graph node of any type: a type tag and the data for that type."""

    type: cudaGraphNodeType
    reserved0: Annotated[list[int], "int[3]"]
    reserved1: Annotated[list[int], "long long[29]", "union"]
    kernel: Annotated[cudaKernelNodeParamsV2, "cudaKernelNodeParamsV2", "union"]
    memcpy: Annotated[cudaMemcpyNodeParams, "cudaMemcpyNodeParams", "union"]
    memset: Annotated[cudaMemsetParamsV2, "cudaMemsetParamsV2", "union"]
    host: Annotated[cudaHostNodeParamsV2, "cudaHostNodeParamsV2", "union"]
    graph: Annotated[cudaChildGraphNodeParams, "cudaChildGraphNodeParams", "union"]
    eventWait: Annotated[cudaEventWaitNodeParams, "cudaEventWaitNodeParams", "union"]
    eventRecord: Annotated[cudaEventRecordNodeParams, "cudaEventRecordNodeParams", "union"]
    extSemSignal: Annotated[
        cudaExternalSemaphoreSignalNodeParamsV2, "cudaExternalSemaphoreSignalNodeParamsV2", "union"
    ]
    extSemWait: Annotated[
        cudaExternalSemaphoreWaitNodeParamsV2, "cudaExternalSemaphoreWaitNodeParamsV2", "union"
    ]
    alloc: Annotated[cudaMemAllocNodeParamsV2, "cudaMemAllocNodeParamsV2", "union"]
    free: Annotated[cudaMemFreeNodeParams, "cudaMemFreeNodeParams", "union"]
    conditional: Annotated[cudaConditionalNodeParams, "cudaConditionalNodeParams", "union"]
    memcpyBatch: Annotated[cudaMemcpyBatchNodeParams, "cudaMemcpyBatchNodeParams", "union"]
    reserved2: c_longlong


class cudaGraphEdgeData(Struct):
    """What kind of dependency a graph edge is, and which ports of its nodes it joins."""

    from_port: c_uchar
    to_port: c_uchar
    type: c_uchar
    reserved: Annotated[bytes, "unsigned char[5]"]


cudaGraphEdgeData_st = cudaGraphEdgeData


class cudaGraphInstantiateParams(Struct):
    """Options for instantiating a graph, and the outcome: flags, upload stream, failing node, result."""

    flags: c_ulonglong
    uploadStream: cudaStream_t
    errNode_out: cudaGraphNode_t
    result_out: cudaGraphInstantiateResult


cudaGraphInstantiateParams_st = cudaGraphInstantiateParams


class cudaGraphExecUpdateResultInfo(Struct):
    """How updating an executable graph went, and which node or edge stood in its way."""

    result: cudaGraphExecUpdateResult
    errorNode: cudaGraphNode_t
    errorFromNode: cudaGraphNode_t


cudaGraphExecUpdateResultInfo_st = cudaGraphExecUpdateResultInfo


class cudaGraphKernelNodeUpdate(Struct):
    """One device-side update of a kernel node: the node, the field and its new value."""

    class _updateData(Union):
        class _param(Struct):
            pValue: void_p
            offset: size_t
            size: size_t

        gridDim: dim3
        param: _param
        isEnabled: c_uint

    node: cudaGraphDeviceNode_t
    field: cudaGraphKernelNodeField
    updateData: _updateData


class cudaLaunchMemSyncDomainMap(Struct):
    """Which physical memory sync domains stand for the default and the remote logical domain."""

    default_: c_uchar
    remote: c_uchar


cudaLaunchMemSyncDomainMap_st = cudaLaunchMemSyncDomainMap


class cudaLaunchAttributeValue(Union):
    """The value of one launch attribute; which member counts depends on the attribute."""

    class _clusterDim(Struct):
        x: c_uint
        y: c_uint
        z: c_uint

    class _programmaticEvent(Struct):
        event: cudaEvent_t
        flags: c_int
        triggerAtBlockStart: c_int

    class _preferredClusterDim(Struct):
        x: c_uint
        y: c_uint
        z: c_uint

    class _launchCompletionEvent(Struct):
        event: cudaEvent_t
        flags: c_int

    class _deviceUpdatableKernelNode(Struct):
        deviceUpdatable: c_int
        devNode: cudaGraphDeviceNode_t

    pad: Annotated[bytes, "char[64]"]
    accessPolicyWindow: cudaAccessPolicyWindow
    cooperative: c_int
    syncPolicy: cudaSynchronizationPolicy
    clusterDim: _clusterDim
    clusterSchedulingPolicyPreference: cudaClusterSchedulingPolicy
    programmaticStreamSerializationAllowed: c_int
    programmaticEvent: _programmaticEvent
    priority: c_int
    memSyncDomainMap: cudaLaunchMemSyncDomainMap
    memSyncDomain: cudaLaunchMemSyncDomain
    preferredClusterDim: _preferredClusterDim
    launchCompletionEvent: _launchCompletionEvent
    deviceUpdatableKernelNode: _deviceUpdatableKernelNode
    sharedMemCarveout: c_uint
    nvlinkUtilCentricScheduling: c_uint
    portableClusterSizeMode: cudaLaunchAttributePortableClusterMode
    sharedMemoryMode: cudaSharedMemoryMode


cudaStreamAttrValue = cudaLaunchAttributeValue
cudaKernelNodeAttrValue = cudaLaunchAttributeValue


class cudaLaunchAttribute(Struct):
    """One optional setting of a kernel launch: an attribute's name and its value."""

    id: cudaLaunchAttributeID
    pad: Annotated[bytes, "char[4]"]
    val: cudaLaunchAttributeValue


cudaLaunchAttribute_st = cudaLaunchAttribute


class cudaLaunchConfig_t(_Launch):
    """A kernel launch: grid in blocks, block in threads, shared memory in bytes, stream, attributes."""

    gridDim: dim3
    blockDim: dim3
    dynamicSmemBytes: size_t
    stream: cudaStream_t
    attrs: Annotated[list[cudaLaunchAttribute], "cudaLaunchAttribute *", "numAttrs"]
    numAttrs: c_uint


cudaLaunchConfig_st = cudaLaunchConfig_t


class cudaAsyncNotificationInfo(Struct):
    """What an async callback is told: the notification's type and, over budget, how many bytes."""

    class _info(Union):
        class _overBudget(Struct):
            bytesOverBudget: c_ulonglong

        overBudget: _overBudget

    type: cudaAsyncNotificationType
    info: _info


cudaAsyncNotificationInfo_t = cudaAsyncNotificationInfo


class cudaTextureDesc(Struct):
    """How a texture object samples: addressing, filtering, mipmap limits, anisotropy and border color."""

    addressMode: Annotated[list[cudaTextureAddressMode], "cudaTextureAddressMode[3]"]
    filterMode: cudaTextureFilterMode
    readMode: cudaTextureReadMode
    sRGB: c_int
    borderColor: Annotated[list[float], "float[4]"]
    normalizedCoords: c_int
    maxAnisotropy: c_uint
    mipmapFilterMode: cudaTextureFilterMode
    mipmapLevelBias: c_float
    minMipmapLevelClamp: c_float
    maxMipmapLevelClamp: c_float
    disableTrilinearOptimization: c_int
    seamlessCubemap: c_int


class cudaGraphRecaptureCallbackData(Struct):
    """A recapture callback and the pointer that it is called with."""

    callbackFunc: cudaGraphRecaptureCallback_t
    userData: void_p


class cudaEglPlaneDesc(Struct):
    """One plane of an EGL frame: sizes in pixels, pitch in bytes, channels and element format."""

    width: c_uint
    height: c_uint
    depth: c_uint
    pitch: c_uint
    numChannels: c_uint
    channelDesc: cudaChannelFormatDesc
    reserved: Annotated[list[int], "unsigned int[4]"]


cudaEglPlaneDesc_st = cudaEglPlaneDesc


class cudaEglFrame(Struct):
    """An EGL frame: its planes as arrays or pitched pointers, their descriptions, and the color format."""

    class _frame(Union):
        pArray: Annotated[list[cudaArray_t], "cudaArray_t[3]"]
        pPitch: Annotated[list[cudaPitchedPtr], "cudaPitchedPtr[3]"]

    frame: _frame
    planeDesc: Annotated[list[cudaEglPlaneDesc], "cudaEglPlaneDesc[3]"]
    planeCount: c_uint
    frameType: cudaEglFrameType
    eglColorFormat: cudaEglColorFormat


cudaEglFrame_st = cudaEglFrame


class cudaLaunchParams(_Launch):
    """One device's part of a multi-device cooperative launch (CUDA 12): kernel, sizes, arguments, stream."""

    func: void_p
    gridDim: dim3
    blockDim: dim3
    args: void_pp
    sharedMem: size_t
    stream: cudaStream_t


class cudaDeviceProp_12(Struct):
    """The properties of a device as CUDA 12 lays them out: clocks in kHz too, and what else 13 dropped."""

    name: Annotated[bytes, "char[256]", "text"]
    uuid: CUuuid
    luid: Annotated[bytes, "char[8]"]
    luidDeviceNodeMask: c_uint
    totalGlobalMem: size_t
    sharedMemPerBlock: size_t
    regsPerBlock: c_int
    warpSize: c_int
    memPitch: size_t
    maxThreadsPerBlock: c_int
    maxThreadsDim: Annotated[list[int], "int[3]"]
    maxGridSize: Annotated[list[int], "int[3]"]
    clockRate: c_int
    totalConstMem: size_t
    major: c_int
    minor: c_int
    textureAlignment: size_t
    texturePitchAlignment: size_t
    deviceOverlap: c_int
    multiProcessorCount: c_int
    kernelExecTimeoutEnabled: c_int
    integrated: c_int
    canMapHostMemory: c_int
    computeMode: c_int
    maxTexture1D: c_int
    maxTexture1DMipmap: c_int
    maxTexture1DLinear: c_int
    maxTexture2D: Annotated[list[int], "int[2]"]
    maxTexture2DMipmap: Annotated[list[int], "int[2]"]
    maxTexture2DLinear: Annotated[list[int], "int[3]"]
    maxTexture2DGather: Annotated[list[int], "int[2]"]
    maxTexture3D: Annotated[list[int], "int[3]"]
    maxTexture3DAlt: Annotated[list[int], "int[3]"]
    maxTextureCubemap: c_int
    maxTexture1DLayered: Annotated[list[int], "int[2]"]
    maxTexture2DLayered: Annotated[list[int], "int[3]"]
    maxTextureCubemapLayered: Annotated[list[int], "int[2]"]
    maxSurface1D: c_int
    maxSurface2D: Annotated[list[int], "int[2]"]
    maxSurface3D: Annotated[list[int], "int[3]"]
    maxSurface1DLayered: Annotated[list[int], "int[2]"]
    maxSurface2DLayered: Annotated[list[int], "int[3]"]
    maxSurfaceCubemap: c_int
    maxSurfaceCubemapLayered: Annotated[list[int], "int[2]"]
    surfaceAlignment: size_t
    concurrentKernels: c_int
    ECCEnabled: c_int
    pciBusID: c_int
    pciDeviceID: c_int
    pciDomainID: c_int
    tccDriver: c_int
    asyncEngineCount: c_int
    unifiedAddressing: c_int
    memoryClockRate: c_int
    memoryBusWidth: c_int
    l2CacheSize: c_int
    persistingL2CacheMaxSize: c_int
    maxThreadsPerMultiProcessor: c_int
    streamPrioritiesSupported: c_int
    globalL1CacheSupported: c_int
    localL1CacheSupported: c_int
    sharedMemPerMultiprocessor: size_t
    regsPerMultiprocessor: c_int
    managedMemory: c_int
    isMultiGpuBoard: c_int
    multiGpuBoardGroupID: c_int
    hostNativeAtomicSupported: c_int
    singleToDoublePrecisionPerfRatio: c_int
    pageableMemoryAccess: c_int
    concurrentManagedAccess: c_int
    computePreemptionSupported: c_int
    canUseHostPointerForRegisteredMem: c_int
    cooperativeLaunch: c_int
    cooperativeMultiDeviceLaunch: c_int
    sharedMemPerBlockOptin: size_t
    pageableMemoryAccessUsesHostPageTables: c_int
    directManagedMemAccessFromHost: c_int
    maxBlocksPerMultiProcessor: c_int
    accessPolicyMaxWindowSize: c_int
    reservedSharedMemPerBlock: size_t
    hostRegisterSupported: c_int
    sparseCudaArraySupported: c_int
    hostRegisterReadOnlySupported: c_int
    timelineSemaphoreInteropSupported: c_int
    memoryPoolsSupported: c_int
    gpuDirectRDMASupported: c_int
    gpuDirectRDMAFlushWritesOptions: c_uint
    gpuDirectRDMAWritesOrdering: c_int
    memoryPoolSupportedHandleTypes: c_uint
    deferredMappingCudaArraySupported: c_int
    ipcEventSupported: c_int
    clusterLaunch: c_int
    unifiedFunctionPointers: c_int
    reserved: Annotated[list[int], "int[63]"]
