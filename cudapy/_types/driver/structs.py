"""The structs and unions of cuda.h, cudaGL.h and cudaEGL.h, as CUDA 13.5 lays them out.

A field that an older release lacks lies at the end of what that release knows, and is zero.
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
    from collections.abc import Sequence
    from typing import Annotated

    from ..._ffi.scalars import Bytes


class CUuuid(Struct):
    """A 16-byte identifier, unique to a device or to a GPU instance."""

    bytes: Annotated[Bytes, "char[16]"]


CUuuid_st = CUuuid


class CUmemFabricHandle(Struct):
    """An opaque handle that shares a memory allocation with other nodes over the fabric."""

    data: Annotated[bytes, "unsigned char[64]"]


CUmemFabricHandle_st = CUmemFabricHandle
CUmemFabricHandle_v1 = CUmemFabricHandle


class CUipcEventHandle(Struct):
    """An event as 64 opaque bytes that another process can open."""

    reserved: Annotated[bytes, "char[64]"]


CUipcEventHandle_st = CUipcEventHandle
CUipcEventHandle_v1 = CUipcEventHandle


class CUipcMemHandle(Struct):
    """A device allocation as 64 opaque bytes that another process can open."""

    reserved: Annotated[bytes, "char[64]"]


CUipcMemHandle_st = CUipcMemHandle
CUipcMemHandle_v1 = CUipcMemHandle


class CUstreamMemOpWaitValueParams_st(Struct):
    """A stream operation that waits until a 32 or 64 bit word in memory meets a condition."""

    operation: CUstreamBatchMemOpType
    address: CUdeviceptr
    value: Annotated[cuuint32_t, "cuuint32_t", "union"]
    value64: Annotated[cuuint64_t, "cuuint64_t", "union"]
    flags: c_uint
    alias: CUdeviceptr


class CUstreamMemOpWriteValueParams_st(Struct):
    """A stream operation that writes a 32 or 64 bit word to memory."""

    operation: CUstreamBatchMemOpType
    address: CUdeviceptr
    value: Annotated[cuuint32_t, "cuuint32_t", "union"]
    value64: Annotated[cuuint64_t, "cuuint64_t", "union"]
    flags: c_uint
    alias: CUdeviceptr


class CUstreamMemOpFlushRemoteWritesParams_st(Struct):
    """A stream operation that makes earlier remote writes to the device visible."""

    operation: CUstreamBatchMemOpType
    flags: c_uint


class CUstreamMemOpMemoryBarrierParams_st(Struct):
    """A stream operation that orders memory accesses, system-wide or on the GPU."""

    operation: CUstreamBatchMemOpType
    flags: c_uint


class CUstreamMemOpAtomicReductionParams_st(Struct):
    """A stream operation that reduces a value into memory: operator, data type, address and value."""

    operation: CUstreamBatchMemOpType
    flags: c_uint
    reductionOp: CUstreamAtomicReductionOpType
    dataType: CUstreamAtomicReductionDataType
    address: CUdeviceptr
    value: cuuint64_t
    alias: CUdeviceptr


class CUstreamBatchMemOpParams(Union):
    """One operation of a stream batch: wait, write, flush, barrier or atomic reduction."""

    class _waitValue(Struct):
        operation: CUstreamBatchMemOpType
        address: CUdeviceptr
        value: Annotated[cuuint32_t, "cuuint32_t", "union"]
        value64: Annotated[cuuint64_t, "cuuint64_t", "union"]
        flags: c_uint
        alias: CUdeviceptr

    class _writeValue(Struct):
        operation: CUstreamBatchMemOpType
        address: CUdeviceptr
        value: Annotated[cuuint32_t, "cuuint32_t", "union"]
        value64: Annotated[cuuint64_t, "cuuint64_t", "union"]
        flags: c_uint
        alias: CUdeviceptr

    class _flushRemoteWrites(Struct):
        operation: CUstreamBatchMemOpType
        flags: c_uint

    class _memoryBarrier(Struct):
        operation: CUstreamBatchMemOpType
        flags: c_uint

    class _atomicReduction(Struct):
        operation: CUstreamBatchMemOpType
        flags: c_uint
        reductionOp: CUstreamAtomicReductionOpType
        dataType: CUstreamAtomicReductionDataType
        address: CUdeviceptr
        value: cuuint64_t
        alias: CUdeviceptr

    operation: CUstreamBatchMemOpType
    waitValue: _waitValue
    writeValue: _writeValue
    flushRemoteWrites: _flushRemoteWrites
    memoryBarrier: _memoryBarrier
    atomicReduction: _atomicReduction
    pad: Annotated[list[cuuint64_t], "cuuint64_t[6]"]


CUstreamBatchMemOpParams_union = CUstreamBatchMemOpParams
CUstreamBatchMemOpParams_v1 = CUstreamBatchMemOpParams


class CUDA_BATCH_MEM_OP_NODE_PARAMS(Struct):
    """What a graph's batch memory-op node does: a context, a counted list of operations and flags."""

    ctx: CUcontext
    count: c_uint
    paramArray: Annotated[list[CUstreamBatchMemOpParams], "CUstreamBatchMemOpParams *", "count"]
    flags: c_uint


CUDA_BATCH_MEM_OP_NODE_PARAMS_v1_st = CUDA_BATCH_MEM_OP_NODE_PARAMS
CUDA_BATCH_MEM_OP_NODE_PARAMS_v1 = CUDA_BATCH_MEM_OP_NODE_PARAMS


class CUDA_BATCH_MEM_OP_NODE_PARAMS_v2(Struct):
    """What a graph's batch memory-op node does: a context, a counted list of operations and flags."""

    ctx: CUcontext
    count: c_uint
    paramArray: Annotated[list[CUstreamBatchMemOpParams], "CUstreamBatchMemOpParams *", "count"]
    flags: c_uint


CUDA_BATCH_MEM_OP_NODE_PARAMS_v2_st = CUDA_BATCH_MEM_OP_NODE_PARAMS_v2


class CUasyncNotificationInfo(Struct):
    """What an async callback is told: the notification's type and, over budget, how many bytes."""

    class _info(Union):
        class _overBudget(Struct):
            bytesOverBudget: c_ulonglong

        overBudget: _overBudget

    type: CUasyncNotificationType
    info: _info


CUasyncNotificationInfo_st = CUasyncNotificationInfo


class CUdevprop(Struct):
    """Legacy device properties: thread and grid limits, memory sizes in bytes and clock in kHz."""

    maxThreadsPerBlock: c_int
    maxThreadsDim: Annotated[list[int], "int[3]"]
    maxGridSize: Annotated[list[int], "int[3]"]
    sharedMemPerBlock: c_int
    totalConstantMemory: c_int
    SIMDWidth: c_int
    memPitch: c_int
    regsPerBlock: c_int
    clockRate: c_int
    textureAlign: c_int


CUdevprop_st = CUdevprop
CUdevprop_v1 = CUdevprop


class CUaccessPolicyWindow(Struct):
    """An L2 caching hint for an address range: base, size in bytes, hit ratio, hit and miss policies."""

    base_ptr: void_p
    num_bytes: size_t
    hitRatio: c_float
    hitProp: CUaccessProperty
    missProp: CUaccessProperty


CUaccessPolicyWindow_st = CUaccessPolicyWindow
CUaccessPolicyWindow_v1 = CUaccessPolicyWindow


class CUDA_KERNEL_NODE_PARAMS_v1(Struct):
    """A kernel launch in a graph: grid in blocks, block in threads, shared memory in bytes, arguments."""

    func: CUfunction
    gridDimX: c_uint
    gridDimY: c_uint
    gridDimZ: c_uint
    blockDimX: c_uint
    blockDimY: c_uint
    blockDimZ: c_uint
    sharedMemBytes: c_uint
    kernelParams: void_pp
    extra: void_pp


CUDA_KERNEL_NODE_PARAMS_st = CUDA_KERNEL_NODE_PARAMS_v1


class CUDA_KERNEL_NODE_PARAMS(Struct):
    """A kernel launch in a graph: grid in blocks, block in threads, shared memory in bytes, arguments."""

    func: CUfunction
    gridDimX: c_uint
    gridDimY: c_uint
    gridDimZ: c_uint
    blockDimX: c_uint
    blockDimY: c_uint
    blockDimZ: c_uint
    sharedMemBytes: c_uint
    kernelParams: void_pp
    extra: void_pp
    kern: CUkernel
    ctx: CUcontext


CUDA_KERNEL_NODE_PARAMS_v2_st = CUDA_KERNEL_NODE_PARAMS
CUDA_KERNEL_NODE_PARAMS_v2 = CUDA_KERNEL_NODE_PARAMS


class CUDA_KERNEL_NODE_PARAMS_v3(Struct):
    """A kernel launch in a graph: grid in blocks, block in threads, shared memory in bytes, arguments."""

    func: CUfunction
    gridDimX: c_uint
    gridDimY: c_uint
    gridDimZ: c_uint
    blockDimX: c_uint
    blockDimY: c_uint
    blockDimZ: c_uint
    sharedMemBytes: c_uint
    kernelParams: void_pp
    extra: void_pp
    kern: CUkernel
    ctx: CUcontext


CUDA_KERNEL_NODE_PARAMS_v3_st = CUDA_KERNEL_NODE_PARAMS_v3


class CUDA_MEMSET_NODE_PARAMS(Struct):
    """A fill in a graph: address, value, element size in bytes, width in elements, rows and pitch."""

    dst: CUdeviceptr
    pitch: size_t
    value: c_uint
    elementSize: c_uint
    width: size_t
    height: size_t


CUDA_MEMSET_NODE_PARAMS_st = CUDA_MEMSET_NODE_PARAMS
CUDA_MEMSET_NODE_PARAMS_v1 = CUDA_MEMSET_NODE_PARAMS


class CUDA_MEMSET_NODE_PARAMS_v2(Struct):
    """A fill in a graph: address, value, element size in bytes, width in elements, rows and pitch."""

    dst: CUdeviceptr
    pitch: size_t
    value: c_uint
    elementSize: c_uint
    width: size_t
    height: size_t
    ctx: CUcontext


CUDA_MEMSET_NODE_PARAMS_v2_st = CUDA_MEMSET_NODE_PARAMS_v2


class CUDA_HOST_NODE_PARAMS(Struct):
    """The host function that a graph node calls, and the pointer it passes to that function."""

    fn: CUhostFn
    userData: void_p


CUDA_HOST_NODE_PARAMS_st = CUDA_HOST_NODE_PARAMS
CUDA_HOST_NODE_PARAMS_v1 = CUDA_HOST_NODE_PARAMS


class CUDA_HOST_NODE_PARAMS_v2(Struct):
    """A graph node's host function, its argument, how the host thread waits and a preferred context."""

    fn: CUhostFn
    userData: void_p
    syncMode: c_uint
    ctx: Annotated[CUcontext, "CUcontext", "union"]
    gCtx: Annotated[CUgreenCtx, "CUgreenCtx", "union"]


CUDA_HOST_NODE_PARAMS_v2_st = CUDA_HOST_NODE_PARAMS_v2


class CUDA_CONDITIONAL_NODE_PARAMS(Struct):
    """A conditional node: its handle, its kind (if, while or switch) and its body graphs."""

    handle: CUgraphConditionalHandle
    type: CUgraphConditionalNodeType
    size: c_uint
    phGraph_out: Annotated[list[CUgraph], "CUgraph *", "size"]
    ctx: CUcontext


class CUgraphEdgeData(Struct):
    """How one graph node depends on another: the ports at both ends and the kind of edge."""

    from_port: c_uchar
    to_port: c_uchar
    type: c_uchar
    reserved: Annotated[bytes, "unsigned char[5]"]


CUgraphEdgeData_st = CUgraphEdgeData


class CUDA_GRAPH_INSTANTIATE_PARAMS(Struct):
    """Options for instantiating a graph, and the outcome: flags, upload stream, failing node, result."""

    flags: cuuint64_t
    hUploadStream: CUstream
    hErrNode_out: CUgraphNode
    result_out: CUgraphInstantiateResult


CUDA_GRAPH_INSTANTIATE_PARAMS_st = CUDA_GRAPH_INSTANTIATE_PARAMS


class CUlaunchMemSyncDomainMap(Struct):
    """Which physical memory sync domains stand for the default and the remote logical domain."""

    default_: c_uchar
    remote: c_uchar


CUlaunchMemSyncDomainMap_st = CUlaunchMemSyncDomainMap


class CUlaunchAttributeValue(Union):
    """The value of one launch attribute; which member counts depends on the attribute."""

    class _clusterDim(Struct):
        x: c_uint
        y: c_uint
        z: c_uint

    class _programmaticEvent(Struct):
        event: CUevent
        flags: c_int
        triggerAtBlockStart: c_int

    class _launchCompletionEvent(Struct):
        event: CUevent
        flags: c_int

    class _preferredClusterDim(Struct):
        x: c_uint
        y: c_uint
        z: c_uint

    class _deviceUpdatableKernelNode(Struct):
        deviceUpdatable: c_int
        devNode: CUgraphDeviceNode

    pad: Annotated[bytes, "char[64]"]
    accessPolicyWindow: CUaccessPolicyWindow
    cooperative: c_int
    syncPolicy: CUsynchronizationPolicy
    clusterDim: _clusterDim
    clusterSchedulingPolicyPreference: CUclusterSchedulingPolicy
    programmaticStreamSerializationAllowed: c_int
    programmaticEvent: _programmaticEvent
    launchCompletionEvent: _launchCompletionEvent
    priority: c_int
    memSyncDomainMap: CUlaunchMemSyncDomainMap
    memSyncDomain: CUlaunchMemSyncDomain
    preferredClusterDim: _preferredClusterDim
    deviceUpdatableKernelNode: _deviceUpdatableKernelNode
    sharedMemCarveout: c_uint
    nvlinkUtilCentricScheduling: c_uint
    portableClusterSizeMode: CUlaunchAttributePortableClusterMode
    sharedMemoryMode: CUsharedMemoryMode


CUlaunchAttributeValue_union = CUlaunchAttributeValue
CUkernelNodeAttrValue_v1 = CUlaunchAttributeValue
CUkernelNodeAttrValue = CUlaunchAttributeValue
CUstreamAttrValue_v1 = CUlaunchAttributeValue
CUstreamAttrValue = CUlaunchAttributeValue


class CUlaunchAttribute(Struct):
    """One optional setting of a kernel launch: an attribute's name and its value."""

    id: CUlaunchAttributeID
    pad: Annotated[bytes, "char[4]"]
    value: CUlaunchAttributeValue


CUlaunchAttribute_st = CUlaunchAttribute


class CUlaunchConfig(Struct):
    """A kernel launch: grid in blocks, block in threads, shared memory in bytes, stream, attributes."""

    gridDimX: c_uint
    gridDimY: c_uint
    gridDimZ: c_uint
    blockDimX: c_uint
    blockDimY: c_uint
    blockDimZ: c_uint
    sharedMemBytes: c_uint
    hStream: CUstream
    attrs: Annotated[list[CUlaunchAttribute], "CUlaunchAttribute *", "numAttrs"]
    numAttrs: c_uint


CUlaunchConfig_st = CUlaunchConfig


class CUexecAffinitySmCount(Struct):
    """The number of SMs that a context is limited to using."""

    val: c_uint


CUexecAffinitySmCount_st = CUexecAffinitySmCount
CUexecAffinitySmCount_v1 = CUexecAffinitySmCount


class CUexecAffinityParam(Struct):
    """An execution affinity for a new context: its type and the value for that type."""

    class _param(Union):
        smCount: CUexecAffinitySmCount

    type: CUexecAffinityType
    param: _param


CUexecAffinityParam_st = CUexecAffinityParam
CUexecAffinityParam_v1 = CUexecAffinityParam


class CUctxCigParam(Struct):
    """The graphics queue or data blob that a CUDA-in-Graphics context shares."""

    sharedDataType: CUcigDataType
    sharedData: void_p


CUctxCigParam_st = CUctxCigParam


class CUctxCreateParams(Struct):
    """Extra settings for a new context: execution affinity or CUDA-in-Graphics sharing."""

    execAffinityParams: Annotated[list[CUexecAffinityParam], "CUexecAffinityParam *", "numExecAffinityParams"]
    numExecAffinityParams: c_int
    cigParams: Annotated[list[CUctxCigParam], "CUctxCigParam *"]


CUctxCreateParams_st = CUctxCreateParams


class CUstreamCigParam(Struct):
    """The graphics command list or command buffer that a captured stream is recorded into."""

    streamSharedDataType: CUstreamCigDataType
    streamSharedData: void_p


CUstreamCigParam_st = CUstreamCigParam


class CUstreamCigCaptureParams(Struct):
    """Options for capturing a stream into a graphics command list."""

    streamCigParams: Annotated[list[CUstreamCigParam], "CUstreamCigParam *"]


CUstreamCigCaptureParams_st = CUstreamCigCaptureParams


class CUlibraryHostUniversalFunctionAndDataTable(Struct):
    """Host function and data tables passed at library load, with their window sizes."""

    functionTable: void_p
    functionWindowSize: size_t
    dataTable: void_p
    dataWindowSize: size_t


CUlibraryHostUniversalFunctionAndDataTable_st = CUlibraryHostUniversalFunctionAndDataTable


class CUDA_MEMCPY2D(Struct):
    """A 2D copy: source, destination, width in bytes and height in rows."""

    srcXInBytes: size_t
    srcY: size_t
    srcMemoryType: CUmemorytype
    srcHost: void_p
    srcDevice: CUdeviceptr
    srcArray: CUarray
    srcPitch: size_t
    dstXInBytes: size_t
    dstY: size_t
    dstMemoryType: CUmemorytype
    dstHost: void_p
    dstDevice: CUdeviceptr
    dstArray: CUarray
    dstPitch: size_t
    WidthInBytes: size_t
    Height: size_t


CUDA_MEMCPY2D_st = CUDA_MEMCPY2D
CUDA_MEMCPY2D_v2 = CUDA_MEMCPY2D


class CUDA_MEMCPY3D(Struct):
    """A 3D copy: source, destination, width in bytes, height in rows and depth in slices."""

    srcXInBytes: size_t
    srcY: size_t
    srcZ: size_t
    srcLOD: size_t
    srcMemoryType: CUmemorytype
    srcHost: void_p
    srcDevice: CUdeviceptr
    srcArray: CUarray
    reserved0: void_p
    srcPitch: size_t
    srcHeight: size_t
    dstXInBytes: size_t
    dstY: size_t
    dstZ: size_t
    dstLOD: size_t
    dstMemoryType: CUmemorytype
    dstHost: void_p
    dstDevice: CUdeviceptr
    dstArray: CUarray
    reserved1: void_p
    dstPitch: size_t
    dstHeight: size_t
    WidthInBytes: size_t
    Height: size_t
    Depth: size_t


CUDA_MEMCPY3D_st = CUDA_MEMCPY3D
CUDA_MEMCPY3D_v2 = CUDA_MEMCPY3D


class CUDA_MEMCPY3D_PEER(Struct):
    """A 3D copy between two contexts: width in bytes, height in rows and depth in slices."""

    srcXInBytes: size_t
    srcY: size_t
    srcZ: size_t
    srcLOD: size_t
    srcMemoryType: CUmemorytype
    srcHost: void_p
    srcDevice: CUdeviceptr
    srcArray: CUarray
    srcContext: CUcontext
    srcPitch: size_t
    srcHeight: size_t
    dstXInBytes: size_t
    dstY: size_t
    dstZ: size_t
    dstLOD: size_t
    dstMemoryType: CUmemorytype
    dstHost: void_p
    dstDevice: CUdeviceptr
    dstArray: CUarray
    dstContext: CUcontext
    dstPitch: size_t
    dstHeight: size_t
    WidthInBytes: size_t
    Height: size_t
    Depth: size_t


CUDA_MEMCPY3D_PEER_st = CUDA_MEMCPY3D_PEER
CUDA_MEMCPY3D_PEER_v1 = CUDA_MEMCPY3D_PEER


class CUDA_MEMCPY_NODE_PARAMS(Struct):
    """What a graph's copy node does: a 3D copy and the context to run it in."""

    flags: c_int
    reserved: c_int
    copyCtx: CUcontext
    copyParams: CUDA_MEMCPY3D


CUDA_MEMCPY_NODE_PARAMS_st = CUDA_MEMCPY_NODE_PARAMS


class CUDA_ARRAY_DESCRIPTOR(Struct):
    """The shape of a 1D or 2D array: width and height in elements, format and channel count."""

    Width: size_t
    Height: size_t
    Format: CUarray_format
    NumChannels: c_uint


CUDA_ARRAY_DESCRIPTOR_st = CUDA_ARRAY_DESCRIPTOR
CUDA_ARRAY_DESCRIPTOR_v2 = CUDA_ARRAY_DESCRIPTOR


class CUDA_ARRAY3D_DESCRIPTOR(Struct):
    """The shape of a 1D, 2D or 3D array: sizes in elements, format, channels and creation flags."""

    Width: size_t
    Height: size_t
    Depth: size_t
    Format: CUarray_format
    NumChannels: c_uint
    Flags: c_uint


CUDA_ARRAY3D_DESCRIPTOR_st = CUDA_ARRAY3D_DESCRIPTOR
CUDA_ARRAY3D_DESCRIPTOR_v2 = CUDA_ARRAY3D_DESCRIPTOR


class CUDA_ARRAY_SPARSE_PROPERTIES(Struct):
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


CUDA_ARRAY_SPARSE_PROPERTIES_st = CUDA_ARRAY_SPARSE_PROPERTIES
CUDA_ARRAY_SPARSE_PROPERTIES_v1 = CUDA_ARRAY_SPARSE_PROPERTIES


class CUDA_ARRAY_MEMORY_REQUIREMENTS(Struct):
    """How much memory an array needs, and its alignment, both in bytes."""

    size: size_t
    alignment: size_t
    reserved: Annotated[list[int], "unsigned int[4]"]


CUDA_ARRAY_MEMORY_REQUIREMENTS_st = CUDA_ARRAY_MEMORY_REQUIREMENTS
CUDA_ARRAY_MEMORY_REQUIREMENTS_v1 = CUDA_ARRAY_MEMORY_REQUIREMENTS


class CUDA_RESOURCE_DESC(Struct):
    """The memory behind a texture or surface object: array, mipmap, linear or pitched memory."""

    class _res(Union):
        class _array(Struct):
            hArray: CUarray

        class _mipmap(Struct):
            hMipmappedArray: CUmipmappedArray

        class _linear(Struct):
            devPtr: CUdeviceptr
            format: CUarray_format
            numChannels: c_uint
            sizeInBytes: size_t

        class _pitch2D(Struct):
            devPtr: CUdeviceptr
            format: CUarray_format
            numChannels: c_uint
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

    resType: CUresourcetype
    res: _res
    flags: c_uint


CUDA_RESOURCE_DESC_st = CUDA_RESOURCE_DESC
CUDA_RESOURCE_DESC_v1 = CUDA_RESOURCE_DESC


class CUDA_TEXTURE_DESC(Struct):
    """How a texture object samples: addressing, filtering, mipmap limits, anisotropy and border color."""

    addressMode: Annotated[list[CUaddress_mode], "CUaddress_mode[3]"]
    filterMode: CUfilter_mode
    flags: c_uint
    maxAnisotropy: c_uint
    mipmapFilterMode: CUfilter_mode
    mipmapLevelBias: c_float
    minMipmapLevelClamp: c_float
    maxMipmapLevelClamp: c_float
    borderColor: Annotated[list[float], "float[4]"]
    reserved: Annotated[list[int], "int[12]"]


CUDA_TEXTURE_DESC_st = CUDA_TEXTURE_DESC
CUDA_TEXTURE_DESC_v1 = CUDA_TEXTURE_DESC


class CUDA_RESOURCE_VIEW_DESC(Struct):
    """How a texture reinterprets its array: element format, extents, mip levels and layers."""

    format: CUresourceViewFormat
    width: size_t
    height: size_t
    depth: size_t
    firstMipmapLevel: c_uint
    lastMipmapLevel: c_uint
    firstLayer: c_uint
    lastLayer: c_uint
    reserved: Annotated[list[int], "unsigned int[16]"]


CUDA_RESOURCE_VIEW_DESC_st = CUDA_RESOURCE_VIEW_DESC
CUDA_RESOURCE_VIEW_DESC_v1 = CUDA_RESOURCE_VIEW_DESC


class CUtensorMap(Struct, align=128):
    """An opaque 128-byte descriptor of a tensor for bulk copies by the Tensor Memory Accelerator."""

    opaque: Annotated[list[cuuint64_t], "cuuint64_t[16]"]


CUtensorMap_st = CUtensorMap


class CUDA_POINTER_ATTRIBUTE_P2P_TOKENS(Struct):
    """The two tokens by which a kernel driver can pin GPU memory for GPUDirect RDMA."""

    p2pToken: c_ulonglong
    vaSpaceToken: c_uint


CUDA_POINTER_ATTRIBUTE_P2P_TOKENS_st = CUDA_POINTER_ATTRIBUTE_P2P_TOKENS
CUDA_POINTER_ATTRIBUTE_P2P_TOKENS_v1 = CUDA_POINTER_ATTRIBUTE_P2P_TOKENS


class CUDA_LAUNCH_PARAMS(Struct):
    """One device's part of a multi-device cooperative launch: kernel, grid, block, stream, arguments."""

    function: CUfunction
    gridDimX: c_uint
    gridDimY: c_uint
    gridDimZ: c_uint
    blockDimX: c_uint
    blockDimY: c_uint
    blockDimZ: c_uint
    sharedMemBytes: c_uint
    hStream: CUstream
    kernelParams: void_pp


CUDA_LAUNCH_PARAMS_st = CUDA_LAUNCH_PARAMS
CUDA_LAUNCH_PARAMS_v1 = CUDA_LAUNCH_PARAMS


class CUDA_EXTERNAL_MEMORY_HANDLE_DESC(Struct):
    """A memory handle from another API to import: its kind, the handle itself and its size in bytes."""

    class _handle(Union):
        class _win32(Struct):
            handle: void_p
            name: void_p

        fd: c_int
        win32: _win32
        nvSciBufObject: void_p

    type: CUexternalMemoryHandleType
    handle: _handle
    size: c_ulonglong
    flags: c_uint
    reserved: Annotated[list[int], "unsigned int[16]"]


CUDA_EXTERNAL_MEMORY_HANDLE_DESC_st = CUDA_EXTERNAL_MEMORY_HANDLE_DESC
CUDA_EXTERNAL_MEMORY_HANDLE_DESC_v1 = CUDA_EXTERNAL_MEMORY_HANDLE_DESC


class CUDA_EXTERNAL_MEMORY_BUFFER_DESC(Struct):
    """The part of imported external memory to map as a buffer: offset and size in bytes."""

    offset: c_ulonglong
    size: c_ulonglong
    flags: c_uint
    reserved: Annotated[list[int], "unsigned int[16]"]


CUDA_EXTERNAL_MEMORY_BUFFER_DESC_st = CUDA_EXTERNAL_MEMORY_BUFFER_DESC
CUDA_EXTERNAL_MEMORY_BUFFER_DESC_v1 = CUDA_EXTERNAL_MEMORY_BUFFER_DESC


class CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC(Struct):
    """How to map external memory as a mipmapped array: byte offset, array shape and level count."""

    offset: c_ulonglong
    arrayDesc: CUDA_ARRAY3D_DESCRIPTOR
    numLevels: c_uint
    reserved: Annotated[list[int], "unsigned int[16]"]


CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC_st = CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC
CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC_v1 = CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC


class CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC(Struct):
    """A semaphore handle from another API to import: its kind and the handle itself."""

    class _handle(Union):
        class _win32(Struct):
            handle: void_p
            name: void_p

        fd: c_int
        win32: _win32
        nvSciSyncObj: void_p

    type: CUexternalSemaphoreHandleType
    handle: _handle
    flags: c_uint
    reserved: Annotated[list[int], "unsigned int[16]"]


CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC_st = CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC
CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC_v1 = CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC


class CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS(Struct):
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


CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_st = CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS
CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_v1 = CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS


class CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS(Struct):
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


CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_st = CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS
CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_v1 = CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS


class CUDA_EXT_SEM_SIGNAL_NODE_PARAMS(Struct):
    """The external semaphores a graph node signals, with one set of parameters for each."""

    extSemArray: Annotated[list[CUexternalSemaphore], "CUexternalSemaphore *", "numExtSems"]
    paramsArray: Annotated[
        list[CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS], "CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *", "numExtSems"
    ]
    numExtSems: c_uint


CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_st = CUDA_EXT_SEM_SIGNAL_NODE_PARAMS
CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v1 = CUDA_EXT_SEM_SIGNAL_NODE_PARAMS


class CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v2(Struct):
    """The external semaphores a graph node signals, with one set of parameters for each."""

    extSemArray: Annotated[list[CUexternalSemaphore], "CUexternalSemaphore *", "numExtSems"]
    paramsArray: Annotated[
        list[CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS], "CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *", "numExtSems"
    ]
    numExtSems: c_uint
    ctx: Annotated[CUcontext, "CUcontext", "union"]
    gCtx: Annotated[CUgreenCtx, "CUgreenCtx", "union"]


CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v2_st = CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v2


class CUDA_EXT_SEM_WAIT_NODE_PARAMS(Struct):
    """The external semaphores a graph node waits on, with one set of parameters for each."""

    extSemArray: Annotated[list[CUexternalSemaphore], "CUexternalSemaphore *", "numExtSems"]
    paramsArray: Annotated[
        list[CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS], "CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *", "numExtSems"
    ]
    numExtSems: c_uint


CUDA_EXT_SEM_WAIT_NODE_PARAMS_st = CUDA_EXT_SEM_WAIT_NODE_PARAMS
CUDA_EXT_SEM_WAIT_NODE_PARAMS_v1 = CUDA_EXT_SEM_WAIT_NODE_PARAMS


class CUDA_EXT_SEM_WAIT_NODE_PARAMS_v2(Struct):
    """The external semaphores a graph node waits on, with one set of parameters for each."""

    extSemArray: Annotated[list[CUexternalSemaphore], "CUexternalSemaphore *", "numExtSems"]
    paramsArray: Annotated[
        list[CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS], "CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *", "numExtSems"
    ]
    numExtSems: c_uint
    ctx: Annotated[CUcontext, "CUcontext", "union"]
    gCtx: Annotated[CUgreenCtx, "CUgreenCtx", "union"]


CUDA_EXT_SEM_WAIT_NODE_PARAMS_v2_st = CUDA_EXT_SEM_WAIT_NODE_PARAMS_v2


class CUarrayMapInfo(Struct):
    """One sparse array mapping or unmapping: the region in elements and the backing memory offset."""

    class _resource(Union):
        mipmap: CUmipmappedArray
        array: CUarray

    class _subresource(Union):
        class _sparseLevel(Struct):
            level: c_uint
            layer: c_uint
            offsetX: c_uint
            offsetY: c_uint
            offsetZ: c_uint
            extentWidth: c_uint
            extentHeight: c_uint
            extentDepth: c_uint

        class _miptail(Struct):
            layer: c_uint
            offset: c_ulonglong
            size: c_ulonglong

        sparseLevel: _sparseLevel
        miptail: _miptail

    class _memHandle(Union):
        memHandle: CUmemGenericAllocationHandle

    resourceType: CUresourcetype
    resource: _resource
    subresourceType: CUarraySparseSubresourceType
    subresource: _subresource
    memOperationType: CUmemOperationType
    memHandleType: CUmemHandleType
    memHandle: _memHandle
    offset: c_ulonglong
    deviceBitMask: c_uint
    flags: c_uint
    reserved: Annotated[list[int], "unsigned int[2]"]


CUarrayMapInfo_st = CUarrayMapInfo
CUarrayMapInfo_v1 = CUarrayMapInfo


class CUmemLocation(Struct):
    """A place memory can live in: a kind of location and a device or NUMA node number."""

    class _localized(Struct):
        deviceId: c_uchar
        localityDomainId: c_uchar

    type: CUmemLocationType
    id: Annotated[int, "int", "union"]
    localized: Annotated[_localized, "_localized", "union"]


CUmemLocation_st = CUmemLocation
CUmemLocation_v1 = CUmemLocation


class CUmemAllocationProp(Struct):
    """The kind of physical memory to create: type, location, shareable handle types and compression."""

    class _allocFlags(Struct):
        compressionType: c_uchar
        gpuDirectRDMACapable: c_uchar
        usage: c_ushort
        reserved: Annotated[bytes, "unsigned char[4]"]

    type: CUmemAllocationType
    requestedHandleTypes: CUmemAllocationHandleType
    location: CUmemLocation
    win32HandleMetaData: void_p
    allocFlags: _allocFlags


CUmemAllocationProp_st = CUmemAllocationProp
CUmemAllocationProp_v1 = CUmemAllocationProp


class CUmulticastObjectProp(Struct):
    """A multicast object to create: device count, size in bytes, handle types and flags."""

    numDevices: c_uint
    size: size_t
    handleTypes: c_ulonglong
    flags: c_ulonglong


CUmulticastObjectProp_st = CUmulticastObjectProp
CUmulticastObjectProp_v1 = CUmulticastObjectProp


class CUmemAccessDesc(Struct):
    """Access rights for one location: who may access the memory and whether it may write."""

    location: CUmemLocation
    flags: CUmemAccess_flags


CUmemAccessDesc_st = CUmemAccessDesc
CUmemAccessDesc_v1 = CUmemAccessDesc


class CUgraphExecUpdateResultInfo(Struct):
    """Why a graph update succeeded or failed, and the nodes that stood in the way."""

    result: CUgraphExecUpdateResult
    errorNode: CUgraphNode
    errorFromNode: CUgraphNode


CUgraphExecUpdateResultInfo_st = CUgraphExecUpdateResultInfo
CUgraphExecUpdateResultInfo_v1 = CUgraphExecUpdateResultInfo


class CUmemPoolProps(Struct):
    """The properties of a memory pool to create: location, shareable handle types, maximum size in bytes."""

    allocType: CUmemAllocationType
    handleTypes: CUmemAllocationHandleType
    location: CUmemLocation
    win32SecurityAttributes: void_p
    maxSize: size_t
    usage: c_ushort
    gpuDirectRDMACapable: c_uchar
    reserved: Annotated[bytes, "unsigned char[53]"]


CUmemPoolProps_st = CUmemPoolProps
CUmemPoolProps_v1 = CUmemPoolProps


class CUmemPoolPtrExportData(Struct):
    """An allocation of a shared memory pool as 64 opaque bytes that another process can import."""

    reserved: Annotated[bytes, "unsigned char[64]"]


CUmemPoolPtrExportData_st = CUmemPoolPtrExportData
CUmemPoolPtrExportData_v1 = CUmemPoolPtrExportData


class CUmemcpyAttributes(Struct):
    """Hints for a batched copy: when the source is read, where both sides live, and flags."""

    srcAccessOrder: CUmemcpySrcAccessOrder
    srcLocHint: CUmemLocation
    dstLocHint: CUmemLocation
    flags: c_uint


CUmemcpyAttributes_st = CUmemcpyAttributes
CUmemcpyAttributes_v1 = CUmemcpyAttributes


class CUoffset3D(Struct):
    """The position where a 3D region starts in an array: x, y and z in elements."""

    x: size_t
    y: size_t
    z: size_t


CUoffset3D_st = CUoffset3D
CUoffset3D_v1 = CUoffset3D


class CUextent3D(Struct):
    """The size of a 3D region: width, height and depth in elements, or width in bytes for pointers."""

    width: size_t
    height: size_t
    depth: size_t


CUextent3D_st = CUextent3D
CUextent3D_v1 = CUextent3D


class CUmemcpy3DOperand(Struct):
    """One side of a batched 3D copy: a pointer with its layout, or an array with an offset."""

    class _op(Union):
        class _ptr(Struct):
            ptr: CUdeviceptr
            rowLength: size_t
            layerHeight: size_t
            locHint: CUmemLocation

        class _array(Struct):
            array: CUarray
            offset: CUoffset3D

        ptr: _ptr
        array: _array

    type: CUmemcpy3DOperandType
    op: _op


CUmemcpy3DOperand_st = CUmemcpy3DOperand
CUmemcpy3DOperand_v1 = CUmemcpy3DOperand


class CUDA_MEMCPY3D_BATCH_OP(Struct):
    """One 3D copy of a batch: two operands, the extent between them, access order and flags."""

    src: CUmemcpy3DOperand
    dst: CUmemcpy3DOperand
    extent: CUextent3D
    srcAccessOrder: CUmemcpySrcAccessOrder
    flags: c_uint


CUDA_MEMCPY3D_BATCH_OP_st = CUDA_MEMCPY3D_BATCH_OP
CUDA_MEMCPY3D_BATCH_OP_v1 = CUDA_MEMCPY3D_BATCH_OP


class CUDA_MEM_ALLOC_NODE_PARAMS(Struct):
    """An allocation in a graph: pool properties, peer access, size in bytes and the resulting address."""

    poolProps: CUmemPoolProps
    accessDescs: Annotated[list[CUmemAccessDesc], "CUmemAccessDesc *", "accessDescCount"]
    accessDescCount: size_t
    bytesize: size_t
    dptr: CUdeviceptr


CUDA_MEM_ALLOC_NODE_PARAMS_v1_st = CUDA_MEM_ALLOC_NODE_PARAMS
CUDA_MEM_ALLOC_NODE_PARAMS_v1 = CUDA_MEM_ALLOC_NODE_PARAMS


class CUDA_MEM_ALLOC_NODE_PARAMS_v2(Struct):
    """An allocation in a graph: pool properties, peer access, size in bytes and the resulting address."""

    poolProps: CUmemPoolProps
    accessDescs: Annotated[list[CUmemAccessDesc], "CUmemAccessDesc *", "accessDescCount"]
    accessDescCount: size_t
    bytesize: size_t
    dptr: CUdeviceptr


CUDA_MEM_ALLOC_NODE_PARAMS_v2_st = CUDA_MEM_ALLOC_NODE_PARAMS_v2


class CUDA_MEM_FREE_NODE_PARAMS(Struct):
    """The device address that a graph's free node releases when it runs."""

    dptr: CUdeviceptr


CUDA_MEM_FREE_NODE_PARAMS_st = CUDA_MEM_FREE_NODE_PARAMS


class CUDA_CHILD_GRAPH_NODE_PARAMS(Struct):
    """What a child graph node runs: the embedded graph and who owns it."""

    graph: CUgraph
    ownership: CUgraphChildGraphNodeOwnership


CUDA_CHILD_GRAPH_NODE_PARAMS_st = CUDA_CHILD_GRAPH_NODE_PARAMS


class CUDA_EVENT_RECORD_NODE_PARAMS(Struct):
    """The event that a graph's event record node records when it runs."""

    event: CUevent
    ctx: Annotated[CUcontext, "CUcontext", "union"]
    gCtx: Annotated[CUgreenCtx, "CUgreenCtx", "union"]


CUDA_EVENT_RECORD_NODE_PARAMS_st = CUDA_EVENT_RECORD_NODE_PARAMS


class CUDA_EVENT_WAIT_NODE_PARAMS(Struct):
    """The event that a graph's event wait node waits for before going on."""

    event: CUevent


CUDA_EVENT_WAIT_NODE_PARAMS_st = CUDA_EVENT_WAIT_NODE_PARAMS


class CUDA_MEMCPY_BATCH_NODE_PARAMS(Struct):
    """A graph node that makes a batch of copies: pointer lists, sizes in bytes and copy attributes."""

    count: size_t
    dsts: Annotated[list[CUdeviceptr], "CUdeviceptr *", "count"]
    srcs: Annotated[list[CUdeviceptr], "CUdeviceptr *", "count"]
    sizes: Annotated[list[int], "size_t *", "count"]
    attrs: Annotated[list[CUmemcpyAttributes], "CUmemcpyAttributes *", "numAttrs"]
    attrsIdxs: Annotated[list[int], "size_t *", "numAttrs"]
    numAttrs: size_t
    ctx: Annotated[CUcontext, "CUcontext", "union"]
    gCtx: Annotated[CUgreenCtx, "CUgreenCtx", "union"]

    def set_dsts_srcs(self, dsts: Sequence[CUdeviceptr | int], srcs: Sequence[CUdeviceptr | int]) -> None:
        """Set `dsts`, `srcs` and their `count`. Raises ValueError if one is longer than the other."""
        if len(dsts) != len(srcs):
            raise ValueError(f"dsts and srcs must have the same length, not {len(dsts)} and {len(srcs)}")
        made = type(self)(
            dsts=list(dsts), srcs=list(srcs)
        )  # whatever is no address is none before any is set
        self.dsts, self.srcs, self.count = made.dsts, made.srcs, len(dsts)


CUDA_MEMCPY_BATCH_NODE_PARAMS_V1_st = CUDA_MEMCPY_BATCH_NODE_PARAMS
CUDA_MEMCPY_BATCH_NODE_PARAMS_V1 = CUDA_MEMCPY_BATCH_NODE_PARAMS


class CUDA_FABRIC_CPY_BATCH_NODE_PARAMS(Struct):
    """A graph node that makes a batch of fabric copies: their list, count and preferred context."""

    numOps: size_t
    opList: Annotated[list[CUDA_FABRIC_COPY_BATCH_OP], "CUDA_FABRIC_COPY_BATCH_OP *", "numOps"]
    flags: c_ulonglong
    ctx: Annotated[CUcontext, "CUcontext", "union"]
    gCtx: Annotated[CUgreenCtx, "CUgreenCtx", "union"]


CUDA_FABRIC_CPY_BATCH_NODE_PARAMS_V1_st = CUDA_FABRIC_CPY_BATCH_NODE_PARAMS
CUDA_FABRIC_CPY_BATCH_NODE_PARAMS_V1 = CUDA_FABRIC_CPY_BATCH_NODE_PARAMS


class CUgraphNodeParams(Struct):
    """The parameters of a graph node of any type: a type tag and the data for that type."""

    type: CUgraphNodeType
    reserved0: Annotated[list[int], "int[3]"]
    reserved1: Annotated[list[int], "long long[29]", "union"]
    kernel: Annotated[CUDA_KERNEL_NODE_PARAMS_v3, "CUDA_KERNEL_NODE_PARAMS_v3", "union"]
    memcpy: Annotated[CUDA_MEMCPY_NODE_PARAMS, "CUDA_MEMCPY_NODE_PARAMS", "union"]
    memset: Annotated[CUDA_MEMSET_NODE_PARAMS_v2, "CUDA_MEMSET_NODE_PARAMS_v2", "union"]
    host: Annotated[CUDA_HOST_NODE_PARAMS_v2, "CUDA_HOST_NODE_PARAMS_v2", "union"]
    graph: Annotated[CUDA_CHILD_GRAPH_NODE_PARAMS, "CUDA_CHILD_GRAPH_NODE_PARAMS", "union"]
    eventWait: Annotated[CUDA_EVENT_WAIT_NODE_PARAMS, "CUDA_EVENT_WAIT_NODE_PARAMS", "union"]
    eventRecord: Annotated[CUDA_EVENT_RECORD_NODE_PARAMS, "CUDA_EVENT_RECORD_NODE_PARAMS", "union"]
    extSemSignal: Annotated[CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v2, "CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v2", "union"]
    extSemWait: Annotated[CUDA_EXT_SEM_WAIT_NODE_PARAMS_v2, "CUDA_EXT_SEM_WAIT_NODE_PARAMS_v2", "union"]
    alloc: Annotated[CUDA_MEM_ALLOC_NODE_PARAMS_v2, "CUDA_MEM_ALLOC_NODE_PARAMS_v2", "union"]
    free: Annotated[CUDA_MEM_FREE_NODE_PARAMS, "CUDA_MEM_FREE_NODE_PARAMS", "union"]
    memOp: Annotated[CUDA_BATCH_MEM_OP_NODE_PARAMS_v2, "CUDA_BATCH_MEM_OP_NODE_PARAMS_v2", "union"]
    conditional: Annotated[CUDA_CONDITIONAL_NODE_PARAMS, "CUDA_CONDITIONAL_NODE_PARAMS", "union"]
    memcpyBatch: Annotated[CUDA_MEMCPY_BATCH_NODE_PARAMS, "CUDA_MEMCPY_BATCH_NODE_PARAMS", "union"]
    fabricCpyBatch: Annotated[CUDA_FABRIC_CPY_BATCH_NODE_PARAMS, "CUDA_FABRIC_CPY_BATCH_NODE_PARAMS", "union"]
    asBytes: Annotated[bytes, "char[232]", "union"]
    reserved2: c_longlong


CUgraphNodeParams_st = CUgraphNodeParams


class CUcheckpointCustomStoragePerDeviceData(Struct):
    """One GPU's mapped memory in a custom checkpoint: address, size in bytes and a copy stream."""

    devPtr: CUdeviceptr
    size: size_t
    stream: CUstream


CUcheckpointCustomStoragePerDeviceData_st = CUcheckpointCustomStoragePerDeviceData


class CUcheckpointCustomStorageInfo(Struct):
    """What custom checkpoint storage needs: an operation handle and an entry for each device."""

    handle: CUcheckpointOperationHandle
    perDeviceData: Annotated[
        list[CUcheckpointCustomStoragePerDeviceData],
        "CUcheckpointCustomStoragePerDeviceData *",
        "deviceCount",
    ]
    deviceCount: c_uint


CUcheckpointCustomStorageInfo_st = CUcheckpointCustomStorageInfo


class CUcheckpointLockArgs(Struct):
    """Optional arguments of a process lock: a timeout in milliseconds, 0 for no limit."""

    timeoutMs: c_uint
    reserved0: c_uint
    reserved1: Annotated[list[cuuint64_t], "cuuint64_t[7]"]


CUcheckpointLockArgs_st = CUcheckpointLockArgs


class CUcheckpointCheckpointArgs(Struct):
    """Optional arguments of a process checkpoint, such as where to return custom storage details."""

    customStorageInfo_out: void_pp
    reserved: Annotated[bytes, "char[56]"]


CUcheckpointCheckpointArgs_st = CUcheckpointCheckpointArgs


class CUcheckpointGpuPair(Struct):
    """A GPU remapping at restore: the UUID at checkpoint time and the UUID to use instead."""

    oldUuid: CUuuid
    newUuid: CUuuid


CUcheckpointGpuPair_st = CUcheckpointGpuPair


class CUcheckpointRestoreArgs(Struct):
    """Optional arguments of a process restore: GPU remapping pairs and custom storage details."""

    gpuPairs: Annotated[list[CUcheckpointGpuPair], "CUcheckpointGpuPair *", "gpuPairsCount"]
    gpuPairsCount: c_uint
    padding0: c_uint
    customStorageInfo_out: void_pp
    reserved: Annotated[bytes, "char[40]"]


CUcheckpointRestoreArgs_st = CUcheckpointRestoreArgs


class CUcheckpointUnlockArgs(Struct):
    """Options for unlocking a process; nothing but reserved space."""

    reserved: Annotated[list[cuuint64_t], "cuuint64_t[8]"]


CUcheckpointUnlockArgs_st = CUcheckpointUnlockArgs


class CUmemDecompressParams(Struct):
    """One decompression: source and destination buffers, their sizes in bytes and the algorithm."""

    srcNumBytes: size_t
    dstNumBytes: size_t
    dstActBytes: void_p
    src: void_p
    dst: void_p
    algo: CUmemDecompressAlgorithm
    padding: Annotated[bytes, "unsigned char[20]"]


CUmemDecompressParams_st = CUmemDecompressParams


class CUcliqueInfo(Struct):
    """A fabric clique that a device belongs to: the clique's type and its number."""

    type: CUcliqueType
    id: c_uint


CUcliqueInfo_st = CUcliqueInfo


class CUlogicalEndpointFabricHandle(Struct):
    """An opaque handle that lets other processes or nodes import a logical endpoint."""

    data: Annotated[bytes, "unsigned char[64]"]


CUlogicalEndpointFabricHandle_st = CUlogicalEndpointFabricHandle


class CUlogicalEndpointProp(Struct):
    """A logical endpoint to create: type, owning device or device count, size, handle types and flags."""

    class _unicast(Struct):
        device: CUdevice

    class _multicast(Struct):
        numDevices: c_uint

    type: CUlogicalEndpointType
    unicast: Annotated[_unicast, "_unicast", "union"]
    multicast: Annotated[_multicast, "_multicast", "union"]
    size: c_ulonglong
    ipcHandleTypes: c_uint
    flags: c_uint


CUlogicalEndpointProp_struct = CUlogicalEndpointProp


class CUfabricCpyOperand(Struct):
    """One side of a fabric copy: a pointer with a location hint, or an endpoint and byte offset."""

    class _op(Union):
        class _ptr(Struct):
            ptr: CUdeviceptr
            locHint: CUmemLocation

        class _le(Struct):
            id: CUlogicalEndpointId
            offset: cuuint64_t

        ptr: _ptr
        le: _le

    type: CUfabricCpyOperandType
    op: _op


CUfabricCpyOperand_st = CUfabricCpyOperand


class CUDA_FABRIC_COPY_BATCH_OP(Struct):
    """One copy of a fabric batch: source and destination operands and a size in bytes."""

    src: CUfabricCpyOperand
    dst: CUfabricCpyOperand
    size: size_t
    flags: c_uint


CUDA_FABRIC_COPY_BATCH_OP_st = CUDA_FABRIC_COPY_BATCH_OP
CUDA_FABRIC_COPY_BATCH_OP_v1 = CUDA_FABRIC_COPY_BATCH_OP


class CUdevSmResource(Struct):
    """A set of SMs: how many, the smallest partition, the coscheduling alignment and flags."""

    smCount: c_uint
    minSmPartitionSize: c_uint
    smCoscheduledAlignment: c_uint
    flags: c_uint
    localityDomainId: c_uint


CUdevSmResource_st = CUdevSmResource


class CUdevWorkqueueConfigResource(Struct):
    """Work queue settings: the device, the expected number of concurrent streams and the sharing scope."""

    device: CUdevice
    wqConcurrencyLimit: c_uint
    sharingScope: CUdevWorkqueueConfigScope


CUdevWorkqueueConfigResource_st = CUdevWorkqueueConfigResource


class CUdevWorkqueueResource(Struct):
    """The workqueues of a device as an opaque resource to split or to hand to a green context."""

    reserved: Annotated[bytes, "unsigned char[40]"]


CUdevWorkqueueResource_st = CUdevWorkqueueResource


class CU_DEV_SM_RESOURCE_GROUP_PARAMS(Struct):
    """One group asked for when SMs are split: SM count, coscheduled counts and flags."""

    smCount: c_uint
    coscheduledSmCount: c_uint
    preferredCoscheduledSmCount: c_uint
    flags: c_uint
    localityDomainId: c_uint
    reserved: Annotated[list[int], "unsigned int[11]"]


CU_DEV_SM_RESOURCE_GROUP_PARAMS_st = CU_DEV_SM_RESOURCE_GROUP_PARAMS


class CUdevResource(Struct):
    """A piece of a device, such as a set of SMs or work queues, to give to a green context."""

    type: CUdevResourceType
    _internal_padding: Annotated[bytes, "unsigned char[92]"]
    sm: Annotated[CUdevSmResource, "CUdevSmResource", "union"]
    wqConfig: Annotated[CUdevWorkqueueConfigResource, "CUdevWorkqueueConfigResource", "union"]
    wq: Annotated[CUdevWorkqueueResource, "CUdevWorkqueueResource", "union"]
    _oversize: Annotated[bytes, "unsigned char[40]", "union"]
    nextResource: Annotated[list[CUdevResource], "CUdevResource *"]


CUdevResource_st = CUdevResource
CUdevResource_v1 = CUdevResource


class CUeglFrame(Struct):
    """An EGL frame: its planes as arrays or pointers, sizes in pixels, pitch in bytes, color format."""

    class _frame(Union):
        pArray: Annotated[list[CUarray], "CUarray[3]"]
        pPitch: Annotated[list[int], "void *[3]"]

    frame: _frame
    width: c_uint
    height: c_uint
    depth: c_uint
    pitch: c_uint
    planeCount: c_uint
    numChannels: c_uint
    frameType: CUeglFrameType
    eglColorFormat: CUeglColorFormat
    cuFormat: CUarray_format


CUeglFrame_st = CUeglFrame
CUeglFrame_v1 = CUeglFrame
