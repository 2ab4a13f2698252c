"""What C type stands behind the `void *` of an attribute or a shareable handle: structs by their names."""

import ctypes

from .enums import (
    cudaGraphMemAttributeType,
    cudaMemAllocationHandleType,
    cudaMemAllocationType,
    cudaMemLocationType,
    cudaMemPoolAttr,
    cudaMemRangeAttribute,
)

MEMPOOL_ATTRIBUTES = {
    cudaMemPoolAttr.cudaMemPoolReuseFollowEventDependencies: ctypes.c_int,
    cudaMemPoolAttr.cudaMemPoolReuseAllowOpportunistic: ctypes.c_int,
    cudaMemPoolAttr.cudaMemPoolReuseAllowInternalDependencies: ctypes.c_int,
    cudaMemPoolAttr.cudaMemPoolAttrReleaseThreshold: ctypes.c_ulonglong,
    cudaMemPoolAttr.cudaMemPoolAttrReservedMemCurrent: ctypes.c_ulonglong,
    cudaMemPoolAttr.cudaMemPoolAttrReservedMemHigh: ctypes.c_ulonglong,
    cudaMemPoolAttr.cudaMemPoolAttrUsedMemCurrent: ctypes.c_ulonglong,
    cudaMemPoolAttr.cudaMemPoolAttrUsedMemHigh: ctypes.c_ulonglong,
    cudaMemPoolAttr.cudaMemPoolAttrAllocationType: cudaMemAllocationType,
    cudaMemPoolAttr.cudaMemPoolAttrExportHandleTypes: cudaMemAllocationHandleType,
    cudaMemPoolAttr.cudaMemPoolAttrLocationId: ctypes.c_int,
    cudaMemPoolAttr.cudaMemPoolAttrLocationType: cudaMemLocationType,
    cudaMemPoolAttr.cudaMemPoolAttrMaxPoolSize: ctypes.c_ulonglong,
    cudaMemPoolAttr.cudaMemPoolAttrHwDecompressEnabled: ctypes.c_int,
    cudaMemPoolAttr.cudaMemPoolAttrLocalityDomainId: ctypes.c_int,
}

GRAPH_MEM_ATTRIBUTES = dict.fromkeys(cudaGraphMemAttributeType, ctypes.c_ulonglong)

MEM_RANGE_ATTRIBUTES = {
    cudaMemRangeAttribute.cudaMemRangeAttributeReadMostly: ctypes.c_int,
    cudaMemRangeAttribute.cudaMemRangeAttributePreferredLocation: ctypes.c_int,
    cudaMemRangeAttribute.cudaMemRangeAttributeLastPrefetchLocation: ctypes.c_int,
    cudaMemRangeAttribute.cudaMemRangeAttributePreferredLocationType: cudaMemLocationType,
    cudaMemRangeAttribute.cudaMemRangeAttributePreferredLocationId: ctypes.c_int,
    cudaMemRangeAttribute.cudaMemRangeAttributeLastPrefetchLocationType: cudaMemLocationType,
    cudaMemRangeAttribute.cudaMemRangeAttributeLastPrefetchLocationId: ctypes.c_int,
}
"""The attributes of one value; cudaMemRangeAttributeAccessedBy is a list of device ordinals."""

SHAREABLE_HANDLES = {
    cudaMemAllocationHandleType.cudaMemHandleTypePosixFileDescriptor: ctypes.c_int,
    cudaMemAllocationHandleType.cudaMemHandleTypeWin32: ctypes.c_size_t,
    cudaMemAllocationHandleType.cudaMemHandleTypeWin32Kmt: ctypes.c_uint,
    cudaMemAllocationHandleType.cudaMemHandleTypeFabric: "cudaMemFabricHandle_t",
}
